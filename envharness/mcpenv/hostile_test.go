package mcpenv_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// fake is a server that says what a server of the SDK would not: list is the result of tools/list, and answers are the members that
// answer a call, by the name of the tool.
func fake(t testing.TB, list string, answers map[string]string) func(string) mcpenv.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer := map[string]string{
			"initialize": `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`,
			"tools/list": `"result":` + list,
			"tools/call": answers[m.Params.Name],
		}[m.Method]
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}))
	t.Cleanup(srv.Close)
	return func(string) mcpenv.Server { return mcpenv.Server{URL: srv.URL} }
}

// A list of tools that none can be made of makes the episode invalid, with a word on why.
func TestBadToolList(t *testing.T) {
	many := []byte(`{"name":"t0"}`)
	for i := range 10_000 {
		many = fmt.Appendf(many, `,{"name":"t%d"}`, i+1)
	}
	for _, c := range []struct{ list, want, reason string }{
		{`{"tools":[{"name":""}]}`, "tool 0 has no name", "nameless"},
		{`{"tools":[{"name":"a"},{}]}`, "tool 1 has no name", "nameless too"},
		{`{"tools":[{"name":"a"},{"name":"a"}]}`, `"a" is there twice`, "one name for two"},
		{`{"tools":[{"name":"a","inputSchema":[1]}]}`, `the schema of "a" is no JSON object`, "a list for a schema"},
		{`{"tools":{"name":"a"}}`, "list of tools", "an object for a list"},
		{`{"tools":[{"name":"a","description":7}]}`, "list of tools", "a number for a text"},
		{`{"tools":[` + string(many) + `]}`, "more than 10000", "more than anybody has"},
	} {
		tr := play(t, world(t, judged(fake(t, c.list, nil))), nil)
		if tr.Verdict.Status != envharness.Invalid || !strings.Contains(tr.Cause, c.want) {
			t.Errorf("%s: %s: %s, want %s", c.reason, tr.Verdict.Status, tr.Cause, c.want)
		}
	}
}

// A list within the bound on a message may still be more than is kept.
func TestLongToolList(t *testing.T) {
	server := fake(t, `{"tools":[{"name":"a","description":"`+strings.Repeat("x", 33<<20)+`"}]}`, nil)
	c := judged(func(dir string) mcpenv.Server {
		s := server(dir)
		s.MaxMessage = 64 << 20
		return s
	})
	if tr := play(t, world(t, c), nil); tr.Verdict.Status != envharness.Invalid || !strings.Contains(tr.Cause, "longer than 33554432 bytes") {
		t.Errorf("%s: %s", tr.Verdict.Status, tr.Cause)
	}
}

// The answers of a server, and what they do to an episode.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		answer string
		want   string // text, class and data, or part of the error
		reason string
	}{
		{`"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb||null", "parts are joined"},
		{`"result":{"content":[],"structuredContent":{"n":1}}`, `||{"n":1}`, "an object"},
		{`"result":{"content":[],"structuredContent":[1,"x"]}`, `||{"result":[1,"x"]}`, "another value"},
		{`"result":{"content":[{"type":"text","text":"no"}],"isError":true}`, "no|other|null", "a refusal"},
		{`"result":{"content":[{"type":"text","text":"MCP error -32602: bad"}],"isError":true}`,
			"MCP error -32602: bad|bad_args|null", "of arguments"},
		{`"error":{"code":-32602,"message":"bad"}`, "bad|bad_args|null", "as an error of the protocol"},
		{`"error":{"code":-32603,"message":"broken"}`, "error: code -32603: broken", "any other is a failure"},
		{`"result":{"content":"text"}`, "error: content is not a list", "no result"},
		{`"result":[]`, "error: ", "no result either"},
	} {
		w := world(t, judged(fake(t, `{"tools":[{"name":"go"}]}`, map[string]string{"go": c.answer})))
		tr := play(t, w, nil, act("go", ""))
		got := "error: " + tr.Cause
		if tr.Cause == "" {
			shown, class := tr.Turns[0].Shown, ""
			if shown.Error != nil {
				class = string(shown.Error.Class)
			}
			got = shown.Observation.Text + "|" + class + "|" + string(must(json.Marshal(shown.Observation.Data)))
		}
		want, failed := strings.CutPrefix(c.want, "error: ")
		if failed != (tr.Verdict.Status == envharness.Invalid) || failed && !strings.Contains(got, want) || !failed && got != want {
			t.Errorf("%s: %s, want %s: %s", c.answer, got, c.want, c.reason)
		}
	}
}

// The state is what is structured, or else the text; a read that is refused says nothing of the policy.
func TestReads(t *testing.T) {
	for _, c := range []struct {
		answer, goal string
		want         envharness.Status
		reason       string
	}{
		{`"result":{"content":[{"type":"text","text":"[]"}],"structuredContent":{"a":1}}`, `{"a":1}`, envharness.Pass,
			"structured content goes first"},
		{`"result":{"content":[{"type":"text","text":" {\"a\": 1}"}]}`, `{"a":1}`, envharness.Pass, "a text that is JSON"},
		{`"result":{"content":[{"type":"text","text":"all is well"}]}`, `"all is well"`, envharness.Pass, "a text that is none"},
		{`"result":{"content":[]}`, `""`, envharness.Pass, "nothing"},
		{`"result":{"content":[{"type":"text","text":"no"}],"isError":true}`, `"no"`, envharness.Invalid, "refused"},
		{`"error":{"code":-32602,"message":"no"}`, `"no"`, envharness.Invalid, "refused too"},
	} {
		cfg := goal(c.goal, nil)
		cfg.Server = fake(t, `{"tools":[{"name":"read"}]}`, map[string]string{"read": c.answer})
		if tr := play(t, world(t, cfg), nil); tr.Verdict.Status != c.want {
			t.Errorf("%s: %s: %s: %s", c.answer, tr.Verdict.Status, tr.Cause, c.reason)
		}
	}
}

// The folder of an episode goes, whatever is in it and whoever panics; what a link in it points to stays.
func TestFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	check := leaks(t)
	server := stockroom(mcptest.Options{})
	var dirs []string
	c := restock(func(dir string) mcpenv.Server {
		dirs = append(dirs, dir)
		if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "link")); err != nil {
			t.Skip(err)
		}
		return server(dir)
	})
	for range 2 {
		if tr := play(t, world(t, c), nil, solution()...); tr.Verdict.Status != envharness.Pass {
			t.Error(tr.Cause)
		}
	}
	if len(dirs) != 2 || dirs[0] == dirs[1] {
		t.Errorf("%v", dirs)
	}
	c.Server = func(string) mcpenv.Server { panic("no server") }
	if tr := play(t, world(t, c), nil); tr.Verdict.Status != envharness.Invalid || !strings.Contains(tr.Cause, "no server") {
		t.Errorf("%s: %s", tr.Verdict.Status, tr.Cause)
	}
	check()
	if raw, err := os.ReadFile(outside); err != nil || string(raw) != "kept" {
		t.Errorf("%q, %v", raw, err)
	}
}

package mcpsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/midtool"
)

// What the server states comes through, sorted by name, with where it comes from and without secrets.
func TestSource(t *testing.T) {
	noLeaks(t)
	server := program(t, "notebook")
	tools, err := midtool.ReadTools(t.Context(), Source{Server: server, License: "MIT"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	if want := []string{"add_line", "count_reads", "exit", "fail", "read", "say"}; !slices.Equal(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	self := filepath.Base(server.Command[0])
	got := tools[4]
	if len(got.Origin.SHA256) != 64 || got.Origin.Line == 0 {
		t.Errorf("origin %+v", got.Origin)
	}
	got.Origin.SHA256, got.Origin.Line = "", 0
	want := midtool.Tool{
		Name: "read", Title: "Read", Description: "Does read.", ReadOnly: true, Hints: midtool.Hints{Idempotent: new(false), OpenWorld: new(false)},
		Parameters: []byte(`{"properties":{"line":{"type":"string"}},"type":"object"}`), Returns: []byte(`{"type":"object"}`),
		Group: "notebook", License: "MIT", LicenseFrom: "server", Origin: midtool.Origin{Kind: "mcp", Locator: self, Revision: "1.4"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := (midtool.Hints{Destructive: new(false), Idempotent: new(false)}); !cmp.Equal(want, tools[0].Hints) || tools[0].ReadOnly {
		t.Errorf("add_line: %+v", tools[0])
	}
	text, err := json.Marshal(tools)
	if err != nil || strings.Contains(string(text), marker) {
		t.Errorf("the tools hold a secret: %s, %v", text, err)
	}
}

func TestSourceOfManyTools(t *testing.T) {
	noLeaks(t)
	for _, tt := range []struct {
		tools, page string
		want, pages int
	}{{"0", "1", 0, 0}, {"3", "1", 3, 3}, {"2500", "1000", 2500, 3}} {
		s := Source{Server: program(t, "more", "MCPSOURCE_TEST_SIZE="+tt.tools+" "+tt.page), Group: "g"}
		for range 2 { // each range lists anew
			tools, err := midtool.ReadTools(t.Context(), s)
			if err != nil || len(tools) != tt.want {
				t.Fatalf("%d tools, %v, want %d", len(tools), err, tt.want)
			}
			if n := len(tools); n > 0 && (tools[n-1].Origin.Line != tt.pages || tools[n-1].Group != "g" || tools[n-1].License != "") {
				t.Errorf("the last tool: %+v", tools[n-1])
			}
		}
	}
}

// answers is a server over HTTP whose pages are written by hand.
func answers(t *testing.T, pages ...string) string {
	t.Helper()
	page := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"protocolVersion":"2025-06-18",`+
				`"capabilities":{},"serverInfo":{"name":"","version":""}}}`)
		case "tools/list":
			io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+pages[page]+`}`)
			page++
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A page is read as if it had been saved: by the byte, also over several lines.
func TestSourceIsExact(t *testing.T) {
	const schema = `{"type":"object","properties":{"z":{"maximum":9007199254740993},"a":{"const":12345678901234567890}}}`
	page := "{\n \"tools\": [{\"name\":\"b\",\"license\":\"ISC\",\"inputSchema\":" + schema + "},\n {\"name\":\"a\",\"inputSchema\":" + schema + "}]\n}"
	address := answers(t, page)
	s := Source{Server: Server{URL: strings.Replace(address, "http://", "http://me:"+marker+"@", 1) + "/mcp?key=" + marker + "#part"}, License: "MIT"}
	tools, err := midtool.ReadTools(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(page))
	origin := midtool.Origin{Kind: "mcp", Locator: address + "/mcp", Line: 1, SHA256: hex.EncodeToString(sum[:])}
	want := []midtool.Tool{
		{Name: "a", Parameters: []byte(schema), Group: address + "/mcp", License: "MIT", LicenseFrom: "server", Origin: origin},
		{Name: "b", Parameters: []byte(schema), Group: address + "/mcp", License: "ISC", LicenseFrom: "tool", Origin: origin},
	}
	if diff := cmp.Diff(want, tools); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSourceFails(t *testing.T) {
	for _, tt := range []struct {
		name   string
		source Source
		want   string
	}{
		{"no server", Source{}, "want one of Command and URL"},
		{"no address", Source{Server: Server{URL: "http://me:" + marker + "@[x"}}, "URL is not an address"},
		{"no tools", Source{Server: Server{URL: answers(t, `{"name":"x"}`)}}, `page 1: no answer: the result has no "tools"`},
		{"tools of another kind", Source{Server: Server{URL: answers(t, `{"tools":{}}`)}}, `"tools": want list, got object`},
		{"second page", Source{Server: Server{URL: answers(t, `{"tools":[],"nextCursor":"2"}`, `[]`)}}, "list tools, page 2: no answer"},
	} {
		tools, err := midtool.ReadTools(t.Context(), tt.source)
		if len(tools) > 0 || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), marker) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := midtool.ReadTools(ctx, Source{Server: program(t, "notebook")}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// The Node servers, as measured.
func TestSourceOfNodeServers(t *testing.T) {
	noLeaks(t)
	for _, tt := range []struct {
		program string
		tools   int
	}{{"mcp-server-everything", 13}, {"mcp-server-memory", 9}} {
		if _, err := exec.LookPath(tt.program); err != nil {
			t.Skipf("%s is not installed: npm's server is only used where it is on PATH", tt.program)
		}
		tools, err := midtool.ReadTools(t.Context(), Source{Server: Server{Command: []string{tt.program}, Dir: t.TempDir()}})
		if err != nil || len(tools) != tt.tools {
			t.Errorf("%s: %d tools, %v, want %d", tt.program, len(tools), err, tt.tools)
		}
		for _, tool := range tools {
			if _, err := midtool.Normalize(tool); err != nil {
				t.Errorf("%s: %v", tt.program, err)
			}
		}
	}
}

func processes(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(b)
}

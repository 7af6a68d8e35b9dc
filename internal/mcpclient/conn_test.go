package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustURL(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestReadResult(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     *Result
		err      string
		reason   string
	}{
		{"empty", `{}`, &Result{}, "", "a result may say nothing"},
		{"texts", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\n"}]}`, &Result{Text: "a\nb\n"}, "", "joined with a line break"},
		{"parts", `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"audio","data":"","mimeType":"audio/wav"},` +
			`{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"x"}},` +
			`{"type":"resource_link","uri":"demo://1","name":"n"},{"type":"new"}]}`,
			&Result{Text: "[image image/png]\n[audio audio/wav]\n[resource text/plain file:///a]\n[resource_link demo://1]\n[new]"}, "", "named, not shown"},
		{"long name", `{"content":[{"type":"resource_link","uri":"data:` + strings.Repeat("x", 500) + `\n"}]}`,
			&Result{Text: "[resource_link data:" + strings.Repeat("x", 195) + "...]"}, "", "an address may hold the data itself"},
		{"structured", `{"structuredContent": {"b":1.0, "a":9007199254740993} }`,
			&Result{Structured: []byte(`{"b":1.0, "a":9007199254740993}`)}, "", "byte for byte"},
		{"null", `{"structuredContent":null,"content":null,"isError":null}`, &Result{}, "", "null is nothing"},
		{"failure", `{"isError":true,"content":[{"type":"text","text":"disk full"}]}`, &Result{Text: "disk full", IsError: true}, "", "of the tool"},
		{"bad arguments", `{"isError":true,"content":[{"type":"text","text":"MCP error -32602: Tool x not found"}]}`,
			&Result{Text: "MCP error -32602: Tool x not found", IsError: true, BadArguments: true}, "", "as the Node servers say it"},
		{"words alone", `{"content":[{"type":"text","text":"MCP error -32602: quoted"}]}`,
			&Result{Text: "MCP error -32602: quoted"}, "", "no failure"},
		{"list", `[]`, nil, "the result is not an object", "a result is an object"},
		{"flag", `{"isError":"yes"}`, nil, "isError is not a boolean", "a text is no flag"},
		{"content", `{"content":{}}`, nil, "content is not a list of objects", "content is a list"},
		{"part", `{"content":["x"]}`, nil, "content is not a list of objects", "of objects"},
		{"type", `{"content":[{"text":"x"}]}`, nil, "content 0: type is not a string", "a part has a type"},
		{"text", `{"content":[{"type":"text","text":5}]}`, nil, "content 0: text is not a string", "text is text"},
		{"resource", `{"content":[{"type":"resource","resource":5}]}`, nil, "content 0: resource is not an object", "a resource is an object"},
		{"address", `{"content":[{"type":"image","mimeType":{}}]}`, nil, "content 0: mimeType is not a string", "a media type is text"},
	} {
		got, err := readResult(json.RawMessage(tt.in))
		if diff := cmp.Diff(tt.want, got); diff != "" || !says(err, tt.err) {
			t.Errorf("%s: %v, want %q (%s)\n%s", tt.name, err, tt.err, tt.reason, diff)
		}
	}
}

// No form of a secret stays in a text, wherever it came from; what is no secret does.
func TestRedactor(t *testing.T) {
	const secret = `p"a\ss word&é`
	u := mustURL(t, "https://bob1:"+url.QueryEscape("pa/ss=9")+"@host.example/path?token="+url.QueryEscape(secret)+"&page=2")
	r := newRedactor(&Server{
		Header: http.Header{"Authorization": {"Bearer tok-12345", "Basic Ym9iMTpodW50ZXIy"}, "X-Version": {"1"}},
		Env: []string{
			"API_KEY=abcd-env", "HOME=/home/bob", "EMPTY_TOKEN=", "DATABASE_URL=postgres://ann:pw-of-ann@db/main", "MYSQL_PWD=pw-of-mysql",
			"SETTINGS=host=db password=pw-of-libpq",
		},
		Command: []string{"serve", "--api-key=arg-key-1", "--token", "arg-token-2", "--dir", "/srv/data", "--port=8080", "redis://x:pw-of-redis@r"},
	}, u)
	quoted, _ := json.Marshal(secret)
	for _, tt := range []struct{ in, want string }{
		{"sent Bearer tok-12345", "sent [redacted]"},
		{"token tok-12345, version 1", "token [redacted], version 1"},
		{"hunter2 by bob1:hunter2", "[redacted] by [redacted]"},
		{"pa/ss=9 as pa%2Fss%3D9", "[redacted] as [redacted]"},
		{"Basic Ym9iMTpwYS9zcz05", "Basic [redacted]"},
		{secret + " " + string(quoted) + " " + url.QueryEscape(secret), `[redacted] "[redacted]" [redacted]`},
		{"abcd-env in /home/bob at host.example/path", "[redacted] in /home/bob at host.example/path"},
		{"postgres://ann:pw-of-ann@db/main, pw-of-ann, pw-of-mysql", "[redacted], [redacted], [redacted]"},
		{"host=db password=pw-of-libpq", "[redacted]"},
		{"arg-key-1 arg-token-2 redis://x:pw-of-redis@r", "[redacted] [redacted] [redacted]"},
		{"pw-of-redis in /srv/data at 8080", "[redacted] in /srv/data at 8080"},
		{"\x1b[31mred\n\x00line", " [31mred  line"},
		{strings.Repeat("é", 600), strings.Repeat("é", 500) + "..."},
	} {
		if got := r.text(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

// What a server says to a call being canceled does not hide that it was: whether that comes in time is chance. Arguments at fault neither.
func TestCanceledBeforeRefused(t *testing.T) {
	for _, code := range []int64{-32603, -32602} {
		c := newConn(1<<20, newRedactor(&Server{}, nil))
		ctx, cancel := context.WithCancel(t.Context())
		session := Session{link: &stdio{conn: c}}
		ask := func() error {
			_, err := session.ask(ctx, "call", func(ctx context.Context) error {
				a := ctx.Value(answerKey{}).(*answer)
				a.refused = &Error{Code: code, Message: "request canceled"}
				return errors.New("request canceled")
			})
			return err
		}
		if e, ok := errors.AsType[*Error](ask()); !ok || e.Code != code {
			t.Errorf("before the end of the context: %v", e)
		}
		cancel()
		err := ask()
		if _, ok := errors.AsType[*Error](err); ok || !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of the context: %v", err)
		}
	}
}

// Nesting is counted as by walking the decoded value.
func TestTooDeepAgainstDecoder(t *testing.T) {
	var depth func(v any) int
	depth = func(v any) int {
		deepest := 0
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				deepest = max(deepest, depth(e))
			}
		case map[string]any:
			for _, e := range v {
				deepest = max(deepest, depth(e))
			}
		default:
			return 0
		}
		return deepest + 1
	}
	value := func() *rapid.Generator[any] {
		var of func(levels int) *rapid.Generator[any]
		of = func(levels int) *rapid.Generator[any] {
			text := rapid.StringOf(rapid.RuneFrom([]rune(`[]{}"\é,`)))
			leaf := rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Just[any](nil))
			if levels == 0 {
				return leaf
			}
			inner, keys := of(levels-1), rapid.SampledFrom([]string{`"`, `\`, "{", "a"})
			list := rapid.Map(rapid.SliceOfN(inner, 0, 3), func(l []any) any { return l })
			object := rapid.Map(rapid.MapOfN(keys, inner, 0, 3), func(m map[string]any) any { return m })
			return rapid.OneOf(leaf, list, object)
		}
		return of(4)
	}()
	rapid.Check(t, func(t *rapid.T) {
		v := value.Draw(t, "value")
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back any
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		most := rapid.IntRange(0, 5).Draw(t, "most")
		if got, want := tooDeep(text, most), depth(back) > most; got != want {
			t.Fatalf("%s: more than %d: %v, want %v", text, most, got, want)
		}
	})
}

// Whatever a server sends, it is either a message, and then at most one answer comes of it for a request, or a fault whose words are ours.
func FuzzReceive(f *testing.F) {
	for _, seed := range []string{
		result(json.RawMessage("1"), said("x")), `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"` + marker + `"}}`, `[{"jsonrpc":"2.0"}]`,
		`{"jsonrpc":"2.0","method":"x"}`, `{"jsonrpc":"2.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":1.0,"result":{}}`, `{`, "\xff", "",
		`{"jsonrpc":"2.0","id":[],"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":null}`, strings.Repeat("[", 200),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := newConn(1<<20, newRedactor(&Server{Header: http.Header{"X": {marker}}}, nil))
		a := &answer{id: 1, method: "tools/call"}
		c.pending[1], c.last = a, 1
		close(c.done) // so that nothing waits for the SDK
		err := c.receive(raw, func(m []byte) error {
			if !json.Valid(m) {
				t.Errorf("the reply %q is not JSON", m)
			}
			return nil
		})
		if err != nil && (strings.Contains(err.Error(), marker) || len(err.Error()) > 1200 || !utf8.ValidString(err.Error())) {
			t.Errorf("the fault %q", err)
		}
		if a.raw != nil && a.refused == nil {
			if _, err := readResult(a.raw); err != nil && len(err.Error()) > 200 {
				t.Errorf("the fault %q", err)
			}
			if _, err := nextCursor(a.raw); err != nil && len(err.Error()) > 200 {
				t.Errorf("the fault %q", err)
			}
		}
	})
}

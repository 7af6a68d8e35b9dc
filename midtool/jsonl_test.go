package midtool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func source(content string) ToolsJSONL {
	return ToolsJSONL{Locator: "t.jsonl", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

func TestToolsJSONLShapes(t *testing.T) {
	at := func(kind string, line int) Origin {
		return Origin{Kind: kind, Locator: "t.jsonl", Line: line, Revision: "v1"}
	}
	tool := func(name, group, license, from, kind string, line int) Tool {
		return Tool{Name: name, Description: "d", Parameters: []byte(`{"type":"object"}`), Group: group, License: license, LicenseFrom: from,
			Origin: at(kind, line)}
	}
	const schema = `"description":"d","parameters":{"type":"object"}`
	for _, tt := range []struct {
		name, in string
		want     []Tool
		reason   string
	}{
		{"tools/list", `{"tools":[{"name":"a","description":"d","inputSchema":{"type":"object"}},{"name":"b","description":"d","inputSchema":{"type":"object"}}]}`,
			[]Tool{tool("a", "", "", "", "mcp", 1), tool("b", "", "", "", "mcp", 1)}, "MCP tools/list result"},
		{"JSON-RPC", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","description":"d","inputSchema":{"type":"object"}}]}}`,
			[]Tool{tool("a", "", "", "", "mcp", 1)}, "as it came over the wire"},
		{"MCP tool", `{"name":"a","title":"T","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
			[]Tool{{Name: "a", Title: "T", Description: "d", Parameters: []byte(`{"type":"object"}`), Returns: []byte(`{"type":"object"}`), ReadOnly: true,
				Origin: at("mcp", 1)}}, "title, output schema and annotations are kept"},
		{"MCP annotations", `{"name":"a","description":"d","inputSchema":{"type":"object"},` +
			`"annotations":{"destructiveHint":false,"idempotentHint":true,"openWorldHint":"no","title":"x"}}`,
			[]Tool{{Name: "a", Description: "d", Parameters: []byte(`{"type":"object"}`), Hints: Hints{Destructive: new(false), Idempotent: new(true)},
				Origin: at("mcp", 1)}}, "said, not said, and no boolean"},
		{"function", `{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"}}}`,
			[]Tool{tool("a", "", "", "", "openai", 1)}, "OpenAI shape"},
		{"bare function", `{"name":"a","description":"d","parameters":{"type":"object"},"license":"MIT"}`,
			[]Tool{tool("a", "", "MIT", "tool", "openai", 1)}, "inner object alone, with its license"},
		{"function with a license", `{"license":"ISC","type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"},"license":"MIT"}}`,
			[]Tool{tool("a", "", "MIT", "function", "openai", 1)}, "the innermost license counts"},
		{"function in a wrapper with a license", `{"licence":"ISC","type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"}}}`,
			[]Tool{tool("a", "", "ISC", "tool", "openai", 1)}, "the British key"},
		{"server", `{"server":"s","licence":"MIT","tools":[{"name":"a","description":"d","input_schema":{"type":"object"}}]}`,
			[]Tool{tool("a", "s", "MIT", "server", "server", 1)}, "one line per server"},
		{"layout", "\ufeff\n \t\r\n{\"name\":\"a\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"}}\r\n\n{\"name\":\"x\",\"name\":\"b\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"}}",
			[]Tool{tool("a", "", "", "", "openai", 3), tool("b", "", "", "", "openai", 5)}, "BOM, blank lines, CR, no last newline, last duplicate key"},
		{"unusable tools", `{"tools":[5,{"name":7,"inputSchema":"x"}]}`,
			[]Tool{{Origin: at("mcp", 1)}, {Parameters: []byte(`"x"`), Origin: at("mcp", 1)}}, "rejected later, not here"},
		{"list", `[{"name":"a",` + schema + `},{"type":"function","function":{"name":"b",` + schema + `}}]` + "\n" + `[]`,
			[]Tool{tool("a", "", "", "", "openai", 1), tool("b", "", "", "", "openai", 1)}, "a list on one line"},
		{"pretty list", "\ufeff\n[\r\n  {\n \"name\": \"a\", " + schema + "\n  },\n\n  {\"name\":\"b\"," + schema + "}\n]\n\n",
			[]Tool{tool("a", "", "", "", "openai", 0), tool("b", "", "", "", "openai", 0)}, "a document over many lines"},
		{"pretty object", "{\"license\": \"ISC\",\n\"tools\": [\n{\"name\":\"a\"," + schema + "}\n]}",
			[]Tool{tool("a", "", "ISC", "list", "openai", 0)}, "a document over many lines"},
		{"Responses function", `{"type":"function","name":"a","strict":true,` + schema + `}`, []Tool{tool("a", "", "", "", "openai", 1)}, "the type beside the name"},
		{"legacy functions", `{"model":"m","functions":[{"name":"a",` + schema + `}]}`, []Tool{tool("a", "", "", "", "openai", 1)}, "a request"},
		{"row", `{"id":"x","question":[],"function":[{"name":"a",` + schema + `}]}`, []Tool{tool("a", "", "", "", "openai", 1)}, "a row of a benchmark"},
		{"result schema", `{"name":"a",` + schema + `,"response":{"type":"dict"}}`, []Tool{{Name: "a", Description: "d", Parameters: []byte(`{"type":"object"}`),
			Returns: []byte(`{"type":"dict"}`), Origin: at("openai", 1)}}, "beside the parameters"},
		{"Anthropic", `{"name":"a","description":"d","input_schema":{"type":"object"}}`, []Tool{tool("a", "", "", "", "anthropic", 1)}, "the key of its schema"},
		{"Gemini", `{"functionDeclarations":[{"name":"a",` + schema + `}]}` + "\n" + `{"tools":[{"functionDeclarations":[{"name":"b",` + schema + `}]}]}`,
			[]Tool{tool("a", "", "", "", "gemini", 1), tool("b", "", "", "", "gemini", 2)}, "alone and in a request"},
		{"two functions keys", `{"functions":[{"name":"a",` + schema + `}],"function":[5]}`, []Tool{tool("a", "", "", "", "openai", 1)}, "the first known key counts"},
		{"long integer", `{"name":"a","description":"d","parameters":{"maximum":123456789012345678901234567890,"minimum":5.0,"const":5}}`,
			[]Tool{{Name: "a", Description: "d", Parameters: []byte(`{"maximum":123456789012345678901234567890,"minimum":5.0,"const":5}`), Origin: at("openai", 1)}},
			"integers are exact, and 5 is not 5.0"},
		{"NUL", `{"name":"a","description":"d","parameters":{"title":"\u0000"}}`,
			[]Tool{{Name: "a", Description: "d", Parameters: []byte(`{"title":"\u0000"}`), Origin: at("openai", 1)}}, "an escaped NUL is text"},
		{"empty", "", nil, "no lines, no tools"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := source(tt.in)
			s.Revision = "v1"
			for range 2 { // a source can be ranged over again
				got, err := ReadTools(context.Background(), s)
				for i := range got {
					if len(got[i].Origin.SHA256) != 64 {
						t.Errorf("SHA256 %q", got[i].Origin.SHA256)
					}
					got[i].Origin.SHA256 = ""
				}
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || tt.reason == "" {
					t.Errorf("(-want +got):\n%s%v", diff, err)
				}
			}
		})
	}
}

func TestToolsJSONLErrors(t *testing.T) {
	const good = `{"name":"a"}` + "\n"
	for _, tt := range []struct {
		in   string
		want SyntaxError
	}{
		{good + `{"name":"b"` + "\n" + good, SyntaxError{"t.jsonl", 2, 11, "expected ',' or '}'"}},
		{good + "\n{\"name\":\"\xff\"}", SyntaxError{"t.jsonl", 3, 9, "invalid UTF-8"}},
		{"\ufeff{\"name\":}", SyntaxError{"t.jsonl", 1, 11, "expected a value"}},
		{"\ufeff" + good + "{]", SyntaxError{"t.jsonl", 2, 1, "expected a key"}},
		{"\ufeff{\"\xff\"}", SyntaxError{"t.jsonl", 1, 5, "invalid UTF-8"}},
		{good + `[1]`, SyntaxError{"t.jsonl", 2, 0, "item 0: want a JSON object, got number"}},
		{good + `[[]]`, SyntaxError{"t.jsonl", 2, 0, "item 0: want a JSON object, got list"}},
		{good + `5`, SyntaxError{"t.jsonl", 2, 0, "want a JSON object, got number"}},
		{good + "[\n{\"name\":\"b\"}\n]", SyntaxError{"t.jsonl", 2, 1, "unexpected end"}},
		{"{\"name\":\n" + good, SyntaxError{"t.jsonl", 1, 8, "unexpected end"}},
		{"[\n{\"name\":\"b\"},\n\n{\"name\":NaN}\n]\n", SyntaxError{"t.jsonl", 4, 8, "expected a value"}},
		{"\n[\n5]", SyntaxError{"t.jsonl", 1, 0, "item 0: want a JSON object, got number"}},
		{"[\n" + strings.Repeat(" \n", 200) + "]", SyntaxError{"t.jsonl", 101, 0, "document longer than 200 bytes"}},
		{good + `{"name":"\ud800"}`, SyntaxError{"t.jsonl", 2, 9, "lone surrogate escape"}},
		{good + "{\"name\":\"\x00\"}", SyntaxError{"t.jsonl", 2, 9, "control character in a string"}},
		{good + `{"name":NaN}`, SyntaxError{"t.jsonl", 2, 8, "expected a value"}},
		{good + `{"name":1e999}`, SyntaxError{"t.jsonl", 2, 8, "number out of range"}},
		{good + `{"nom":"b"}`, SyntaxError{"t.jsonl", 2, 0, `no tool shape: want "tools", "function" or "name"`}},
		{`{"tools":{}}`, SyntaxError{"t.jsonl", 1, 0, `"tools": want list, got object`}},
		{good + `{"name":` + strings.Repeat("[", 100), SyntaxError{"t.jsonl", 2, 79, "nested deeper than 72"}},
		{good + strings.Repeat(" ", 300) + "\n", SyntaxError{"t.jsonl", 2, 200, "line longer than 200 bytes"}},
	} {
		s := source(tt.in)
		s.MaxLine = 200
		tools, err := ReadTools(context.Background(), s)
		var got *SyntaxError
		if !errors.As(err, &got) {
			t.Errorf("%q: %v is no SyntaxError", tt.in, err)
			continue
		}
		if diff := cmp.Diff(tt.want, *got); diff != "" || !strings.Contains(err.Error(), "t.jsonl:") {
			t.Errorf("%q: %v (-want +got):\n%s", tt.in, err, diff)
		}
		if strings.HasPrefix(strings.TrimPrefix(tt.in, "\ufeff"), good) && len(tools) != 1 {
			t.Errorf("%q: %d tools before the error, want 1", tt.in, len(tools))
		}
	}
	if _, err := ReadTools(context.Background(), ToolsJSONL{Locator: "no/such/file"}); err == nil || !strings.Contains(err.Error(), "no/such/file") {
		t.Errorf("missing file: %v", err)
	}
	broken := ToolsJSONL{Locator: "b", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(good+`{"na`), errReader{})), nil
	}}
	if tools, err := ReadTools(context.Background(), broken); !errors.Is(err, io.ErrUnexpectedEOF) || len(tools) != 1 {
		t.Errorf("broken reader: %v after %d tools", err, len(tools))
	}
}

// With BadLine, bad lines are reported and passed over, whatever is wrong with them, and all other tools come.
func TestToolsJSONLBadLine(t *testing.T) {
	const limit = 1000
	parts := []struct{ text, rule string }{
		{`{"name":"a"}`, ""}, {`{"name":`, "unexpected end"}, {`{"name":"b"}`, ""}, {strings.Repeat("x", limit+1), "line longer than 1000 bytes"},
		{strings.Repeat("[", limit), "nested deeper than 72"}, {strings.Repeat("y", 500_000), "line longer than 1000 bytes"}, {`{"name":"c"}`, ""},
		{"\xff", "invalid UTF-8"}, {`{"x":1}`, `no tool shape: want "tools", "function" or "name"`}, {strings.Repeat(" ", limit), ""}, {`{"name":"d"}`, ""},
		{strings.Repeat("z", 200_000), "line longer than 1000 bytes"},
	}
	var text strings.Builder
	var want []SyntaxError
	for i, p := range parts {
		text.WriteString(p.text + "\n")
		if p.rule != "" {
			want = append(want, SyntaxError{"t.jsonl", i + 1, 0, p.rule})
		}
	}
	for _, wrap := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		s := source("")
		s.Open = func() (io.ReadCloser, error) { return io.NopCloser(wrap(strings.NewReader(text.String()))), nil }
		s.MaxLine = limit
		var got []SyntaxError
		s.BadLine = func(e *SyntaxError) {
			e.Offset = 0 // of each rule, elsewhere
			got = append(got, *e)
		}
		tools, err := ReadTools(context.Background(), s)
		var names strings.Builder
		for _, tool := range tools {
			names.WriteString(tool.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" || names.String() != "abcd" || err != nil {
			t.Errorf("tools %q, %v (-want +got):\n%s", names.String(), err, diff)
		}
	}
}

// A line of 100 MB without an end is reported, and no more than the limit of it is held.
func TestToolsJSONLHugeLine(t *testing.T) {
	s := source("")
	s.MaxLine = 1 << 16
	s.Open = func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(io.LimitReader(repeated('['), 100<<20), strings.NewReader("\n{\"name\":\"a\"}"))), nil
	}
	var bad []string
	s.BadLine = func(e *SyntaxError) { bad = append(bad, e.Error()) }
	tools, err := ReadTools(context.Background(), s)
	if diff := cmp.Diff([]string{"midtool: t.jsonl:1: byte 65536: line longer than 65536 bytes"}, bad); diff != "" || err != nil || len(tools) != 1 {
		t.Errorf("%d tools, %v (-want +got):\n%s", len(tools), err, diff)
	}
}

// repeated reads as an endless run of one byte.
type repeated byte

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// The digest can be computed from the file alone.
func TestToolsJSONLDigest(t *testing.T) {
	const record = `{"server": "s", "tools": [{"name": "a"}, {"name": "b"}]}`
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	for _, tt := range []struct{ in, want, reason string }{
		{"\ufeff" + record + "\r\n", digest(record), "one line, without its mark and break"},
		{"\n[\n" + record + "\n]\n\n", digest("[\n" + record + "\n]"), "one document"},
	} {
		tools, err := ReadTools(context.Background(), source(tt.in))
		if err != nil || len(tools) != 2 || tools[0].Origin.SHA256 != tt.want || tools[1].Origin.SHA256 != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.reason, tools, err, tt.want)
		}
	}
}

func TestReadTools(t *testing.T) {
	a, b := source(`{"name":"a"}`), source(`{"name":"b"}`+"\n"+`{"name":"c"}`)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		ctx     context.Context
		sources []Source
		want    []string
		err     string
		reason  string
	}{
		{context.Background(), nil, nil, "", "no sources, no tools"},
		{context.Background(), []Source{b, a}, []string{"b", "c", "a"}, "", "in the order of the sources"},
		{context.Background(), []Source{a, source("{"), b}, []string{"a"}, "t.jsonl:1", "stops at the first error"},
		{context.Background(), []Source{a, nil}, []string{"a"}, "source 1 is nil", "named, no panic"},
		{canceled, []Source{SourceFunc(nil)}, nil, "source 0: context canceled", "checked before a source is asked"},
	} {
		tools, err := ReadTools(tt.ctx, tt.sources...)
		var got []string
		for _, tool := range tools {
			got = append(got, tool.Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %q (-want +got):\n%s", tt.reason, err, tt.err, diff)
		}
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type closeCounter struct {
	io.Reader
	closed *int
}

func (c closeCounter) Close() error { *c.closed++; return nil }

func TestToolsJSONLReleases(t *testing.T) {
	closed := 0
	s := ToolsJSONL{Open: func() (io.ReadCloser, error) {
		return closeCounter{strings.NewReader(`{"name":"a"}` + "\n" + `{"name":"b"}`), &closed}, nil
	}}
	for range s.Tools(context.Background()) {
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for _, err := range s.Tools(ctx) {
		if cancel(); err != nil {
			if !errors.Is(err, context.Canceled) || n != 1 {
				t.Errorf("%v after %d tools", err, n)
			}
			break
		}
		n++
	}
	if closed != 2 {
		t.Errorf("closed %d times, want 2", closed)
	}
	inLine, stop := context.WithCancel(context.Background())
	defer stop()
	var got error
	for _, got = range source(`{"tools":[{"name":"a"},{"name":"b"}]}`).Tools(inLine) {
		stop()
	}
	if !errors.Is(got, context.Canceled) {
		t.Errorf("canceled between two tools of a line: %v", got)
	}
}

// FuzzToolsJSONL: any bytes give tools and at most one error; every tool is normalized or rejected, and normalizing again changes nothing.
func FuzzToolsJSONL(f *testing.F) {
	for _, s := range []string{
		`{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"List[int]"}},"required":["x"]}}]}`,
		`{"server":"s","licence":"MIT","tools":[{"name":"b","input_schema":null}]}`,
		`{"type":"function","function":{"name":"c","parameters":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}` + "\n\n{", "\ufeff{}", "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := ToolsJSONL{Locator: "f", MaxLine: 1 << 16, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
		ended := false
		for tool, err := range s.Tools(context.Background()) {
			if ended {
				t.Fatal("the sequence went on after an error")
			}
			if err != nil {
				ended = true
				continue
			}
			checkNormalize(t, tool)
		}
	})
}

// What the file does not say, its reader can; what it says counts.
func TestToolsJSONLGroupAndLicense(t *testing.T) {
	j := source(`{"tools":[{"name":"a","inputSchema":{}}]}` + "\n" + `{"server":"s","license":"MIT","tools":[{"name":"b","inputSchema":{}}]}`)
	j.Group, j.License = "mine", "ISC"
	tools, err := ReadTools(context.Background(), j)
	if err != nil || len(tools) != 2 {
		t.Fatal(tools, err)
	}
	for i, want := range []Tool{{Group: "mine", License: "ISC", LicenseFrom: "file"}, {Group: "s", License: "MIT", LicenseFrom: "server"}} {
		if got := tools[i]; got.Group != want.Group || got.License != want.License || got.LicenseFrom != want.LicenseFrom {
			t.Errorf("%s: group %q, license %q from %q", got.Name, got.Group, got.License, got.LicenseFrom)
		}
	}
	if _, err := ReadTools(context.Background(), ToolsJSONL{}); err == nil || !strings.Contains(err.Error(), "Locator") {
		t.Errorf("error %v does not name the empty field", err)
	}
}

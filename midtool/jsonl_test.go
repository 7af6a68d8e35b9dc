package midtool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func source(content string) ToolsJSONL {
	return ToolsJSONL{Locator: "t.jsonl", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

func TestToolsJSONLShapes(t *testing.T) {
	tool := func(name, group, license, kind string, line int) Tool {
		return Tool{Name: name, Description: "d", Parameters: []byte(`{"type":"object"}`), Group: group, License: license,
			Origin: Origin{kind, "t.jsonl", line}}
	}
	for _, tt := range []struct {
		name, in string
		want     []Tool
		reason   string
	}{
		{"tools/list", `{"tools":[{"name":"a","description":"d","inputSchema":{"type":"object"}},{"name":"b","description":"d","inputSchema":{"type":"object"}}]}`,
			[]Tool{tool("a", "", "", "mcp", 1), tool("b", "", "", "mcp", 1)}, "MCP tools/list result"},
		{"MCP tool", `{"name":"a","title":"T","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
			[]Tool{{Name: "a", Title: "T", Description: "d", Parameters: []byte(`{"type":"object"}`), Returns: []byte(`{"type":"object"}`), ReadOnly: true,
				Origin: Origin{"mcp", "t.jsonl", 1}}}, "title, output schema and annotations are kept"},
		{"function", `{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"}}}`,
			[]Tool{tool("a", "", "", "openai", 1)}, "OpenAI shape"},
		{"bare function", `{"name":"a","description":"d","parameters":{"type":"object"},"license":"MIT"}`,
			[]Tool{tool("a", "", "MIT", "openai", 1)}, "inner object alone, with its license"},
		{"function with a license", `{"license":"ISC","type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"},"license":"MIT"}}`,
			[]Tool{tool("a", "", "MIT", "openai", 1)}, "the innermost license counts"},
		{"function in a wrapper with a license", `{"licence":"ISC","type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"}}}`,
			[]Tool{tool("a", "", "ISC", "openai", 1)}, "the British key"},
		{"server", `{"server":"s","licence":"MIT","tools":[{"name":"a","description":"d","input_schema":{"type":"object"}}]}`,
			[]Tool{tool("a", "s", "MIT", "server", 1)}, "one line per server"},
		{"layout", "\ufeff\n \t\r\n{\"name\":\"a\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"}}\r\n\n{\"name\":\"x\",\"name\":\"b\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"}}",
			[]Tool{tool("a", "", "", "openai", 3), tool("b", "", "", "openai", 5)}, "BOM, blank lines, CR, no last newline, last duplicate key"},
		{"unusable tools", `{"tools":[5,{"name":7,"inputSchema":"x"}]}`,
			[]Tool{{Origin: Origin{"mcp", "t.jsonl", 1}}, {Parameters: []byte(`"x"`), Origin: Origin{"mcp", "t.jsonl", 1}}}, "rejected later, not here"},
		{"empty", "", nil, "no lines, no tools"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := source(tt.in)
			for range 2 { // a source can be ranged over again
				got, err := ReadTools(context.Background(), s)
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
		{good + `[1]`, SyntaxError{"t.jsonl", 2, 0, "want a JSON object, got list"}},
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
		if tt.want.Line > 1 && len(tools) != 1 {
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

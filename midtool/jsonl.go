package midtool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A SyntaxError reports a line that cannot be read.
type SyntaxError struct {
	Locator string // file name or address, as the caller gave it
	Line    int    // 1-based
	Offset  int    // 0-based byte in the line where reading stopped; a byte order mark counts
	Rule    string // the rule broken
}

// Error names the file, the line, the byte and the rule.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("midtool: %s:%d: byte %d: %s", e.Locator, e.Line, e.Offset, e.Rule)
}

// ToolsJSONL is a [Source] of tool definitions, one JSON object a line, in any mix of these shapes:
//
//   - a saved MCP tools/list result {"tools": [{"name", "description", "inputSchema", ...}]}, or one tool of it;
//   - the OpenAI function {"type": "function", "function": {"name", "description", "parameters"}}, or the bare inner
//     object;
//   - one server {"server", "license", "tools": [{"name", "description", "input_schema"}]}.
//
// A tool takes the "license" (or "licence") of the innermost object that has one: "function", its own, the line's. A
// byte order mark, blank lines and a missing last newline are accepted. The first line that is not a JSON object of one
// of these shapes ends the sequence with a [*SyntaxError]. A tool that is JSON but unusable (no name, a schema that is
// no object) is yielded as far as it could be read: [Normalize] rejects it with a reason.
//
// The zero value is not useful: set Locator.
type ToolsJSONL struct {
	Locator string                        // names the file in errors and in [Origin]
	Open    func() (io.ReadCloser, error) // called for every range; nil opens the file named Locator
	MaxLine int                           // longest line in bytes; zero means 64 MiB
}

// Tools yields the tools in the order of the file. It opens the file anew each time, closes it at the end, and stops
// with the error of ctx when that is done.
func (j ToolsJSONL) Tools(ctx context.Context) iter.Seq2[Tool, error] {
	return func(yield func(Tool, error) bool) {
		open := j.Open
		if open == nil {
			open = func() (io.ReadCloser, error) { return os.Open(j.Locator) }
		}
		f, err := open()
		if err != nil {
			yield(Tool{}, fmt.Errorf("midtool: %w", err))
			return
		}
		defer f.Close()
		for l, err := range lines(f, j.Locator, j.MaxLine) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Tool{}, err)
				return
			}
			tools, rule := toolsOf(&l.value)
			if rule != "" {
				yield(Tool{}, &SyntaxError{j.Locator, l.number, 0, rule})
				return
			}
			for _, t := range tools {
				if err := ctx.Err(); err != nil {
					yield(Tool{}, err)
					return
				}
				t.Origin.Locator, t.Origin.Line = j.Locator, l.number
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

type line struct {
	number int
	value  jsonval.Value
}

// lines yields the values of the lines that are not blank; it ends after the first error.
func lines(r io.Reader, locator string, maxLine int) iter.Seq2[line, error] {
	if maxLine <= 0 {
		maxLine = jsonval.MaxBytes
	}
	return func(yield func(line, error) bool) {
		number := 0
		for text, err := range jsonl.Lines(r, maxLine) {
			number++
			switch {
			case errors.Is(err, jsonl.ErrTooLong):
				rule := fmt.Sprintf("line longer than %d bytes", maxLine)
				yield(line{}, &SyntaxError{locator, number, maxLine, rule})
				return
			case err != nil:
				yield(line{}, fmt.Errorf("midtool: %s:%d: %w", locator, number, err))
				return
			}
			mark := 0
			if number == 1 && bytes.HasPrefix(text, []byte("\ufeff")) {
				mark = len("\ufeff")
				text = text[mark:]
			}
			if len(bytes.Trim(text, " \t\r\n")) == 0 {
				continue
			}
			v, err := jsonval.ParseNested(text, jsonval.LineDepth)
			if je, ok := errors.AsType[*jsonval.Error](err); ok {
				yield(line{}, &SyntaxError{locator, number, mark + je.Offset, je.Rule})
				return
			}
			if !yield(line{number, v}, nil) {
				return
			}
		}
	}
}

// toolsOf reads the tools of one line, or names the rule that the line breaks.
func toolsOf(v *jsonval.Value) ([]Tool, string) {
	if v.Kind != jsonval.Object {
		return nil, "want a JSON object, got " + v.Kind.String()
	}
	list := v.Get("tools")
	if list == nil {
		if v.Get("name") == nil && v.Get("function") == nil {
			return nil, `no tool shape: want "tools", "function" or "name"`
		}
		return []Tool{toolOf(v, "", licenseOf(v), "")}, ""
	}
	if list.Kind != jsonval.List {
		return nil, `"tools": want list, got ` + list.Kind.String()
	}
	origin := ""
	if v.Get("server") != nil {
		origin = "server"
	}
	tools := make([]Tool, len(list.List))
	for i := range list.List {
		tools[i] = toolOf(&list.List[i], jsonval.StringOf(v.Get("server")), licenseOf(v), origin)
	}
	return tools, ""
}

// toolOf reads what it can of one definition.
func toolOf(v *jsonval.Value, group, license, origin string) Tool {
	license = cmp.Or(licenseOf(v), license)
	if f := v.Get("function"); f != nil {
		v = f
		license = cmp.Or(licenseOf(v), license)
		origin = cmp.Or(origin, "openai")
	}
	t := Tool{
		Name:        jsonval.StringOf(v.Get("name")),
		Title:       jsonval.StringOf(v.Get("title")),
		Description: jsonval.StringOf(v.Get("description")),
		Group:       group,
		License:     license,
	}
	for _, k := range []struct{ key, origin string }{{"inputSchema", "mcp"}, {"input_schema", "mcp"}, {"parameters", "openai"}} {
		if s := v.Get(k.key); s != nil {
			t.Parameters = s.Bytes(jsonval.Compact)
			origin = cmp.Or(origin, k.origin)
			break
		}
	}
	if s := v.Get("outputSchema"); s != nil {
		t.Returns = s.Bytes(jsonval.Compact)
	}
	if a := v.Get("annotations"); a != nil {
		hint := a.Get("readOnlyHint")
		t.ReadOnly = hint != nil && hint.Kind == jsonval.Bool && hint.Text == "true"
	}
	t.Origin.Kind = cmp.Or(origin, "mcp")
	return t
}

func licenseOf(n *jsonval.Value) string {
	return cmp.Or(jsonval.StringOf(n.Get("license")), jsonval.StringOf(n.Get("licence")))
}

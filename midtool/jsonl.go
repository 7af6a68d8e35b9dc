package midtool

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

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

// ToolsJSONL is a [Source] of tool definitions: JSON Lines with one of these shapes a line, in any mix, or one JSON
// document over many lines. A list stands for the shapes in it.
//
//   - a saved MCP tools/list result {"tools": [{"name", "description", "inputSchema", "outputSchema", ...}]}, with or
//     without the JSON-RPC message around it, or one tool of it;
//   - the OpenAI function {"type": "function", "function": {"name", "description", "parameters"}}, the inner object
//     alone or with the type beside its name, or a row or request with a list of them below "tools", "functions" or
//     "function"; a "response" beside the parameters is the schema of the result;
//   - the Anthropic tool {"name", "description", "input_schema"};
//   - the Gemini tool {"functionDeclarations": [{"name", "description", "parameters", "response"}]};
//   - one server {"server", "license", "tools": [{"name", "description", "input_schema"}]}.
//
// A tool takes the "license" (or "licence") of the innermost object that has one: LicenseFrom is "function", "tool",
// "server", "list" or "file". Origin has the file, the line (0 in a document over many lines), the Revision given here, and the
// SHA-256 of the record: of the line, or of the document, without the white space around it and a byte order mark. Of
// equal keys the last counts; integers are kept exactly. The "annotations" of a tool give ReadOnly and Hints.
//
// A byte order mark, blank lines and a missing last newline are accepted. The file is one document if its first line
// ends inside a JSON value, after a bracket, a brace or a comma. The first line that is not of these shapes ends the
// sequence with a [*SyntaxError], unless BadLine is set. A tool that is JSON but unusable (no name, a schema that is no
// object) is yielded as far as it could be read: [Normalize] rejects it with a reason.
//
// The zero value is not useful: set Locator. A file without tools gives none, and no error.
type ToolsJSONL struct {
	Locator  string                        // names the file in errors and in [Origin]
	Revision string                        // version or commit of the file, for [Origin]; empty means unknown
	Group    string                        // of tools whose record names no server
	License  string                        // of tools that state none; LicenseFrom is then "file"
	Open     func() (io.ReadCloser, error) // called for every range; nil opens the file named Locator
	MaxLine  int                           // longest line or document in bytes; zero means 64 MiB
	BadLine  func(*SyntaxError)            // gets each line that cannot be read, and reading goes on; nil ends it there
}

// Tools yields the tools in the order of the file. It opens the file anew each time, closes it at the end, and stops
// with the error of ctx when that is done.
func (j ToolsJSONL) Tools(ctx context.Context) iter.Seq2[Tool, error] {
	return func(yield func(Tool, error) bool) {
		open := j.Open
		if open == nil {
			if j.Locator == "" {
				yield(Tool{}, errors.New("midtool: ToolsJSONL: Locator is empty"))
				return
			}
			open = func() (io.ReadCloser, error) { return os.Open(j.Locator) }
		}
		f, err := open()
		if err != nil {
			yield(Tool{}, fmt.Errorf("midtool: %w", err))
			return
		}
		defer f.Close()
		for l, err := range records(f, j.Locator, j.MaxLine, true) {
			var tools []Tool
			if err == nil {
				var rule string
				if tools, rule = toolsOf(&l.value); rule != "" {
					err = &SyntaxError{j.Locator, max(l.number, 1), 0, rule}
				}
			}
			if bad, ok := errors.AsType[*SyntaxError](err); ok && j.BadLine != nil && ctx.Err() == nil {
				j.BadLine(bad)
				continue
			}
			if err := cmp.Or(ctx.Err(), err); err != nil {
				yield(Tool{}, err)
				return
			}
			sum := sha256.Sum256(bytes.TrimSpace(l.text))
			origin := Origin{Locator: j.Locator, Line: l.number, Revision: j.Revision, SHA256: hex.EncodeToString(sum[:])}
			for _, t := range tools {
				if err := ctx.Err(); err != nil {
					yield(Tool{}, err)
					return
				}
				origin.Kind = t.Origin.Kind
				t.Origin = origin
				t.Group = cmp.Or(t.Group, j.Group)
				if t.License == "" && j.License != "" {
					t.License, t.LicenseFrom = j.License, "file"
				}
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// A line is one JSON value of a file.
type line struct {
	number int // 1-based; 0 for a document over many lines
	value  jsonval.Value
	text   []byte // without a byte order mark; valid until the next line
}

// lines yields the values of the lines that are not blank; it ends after the first error.
func lines(r io.Reader, locator string, maxLine int) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for l, err := range records(r, locator, maxLine, false) {
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// records yields the values of the lines that are not blank, or that of the whole where documents are allowed and the
// first line looks like the start of one. It goes on after a [*SyntaxError] and ends after any other error. It holds one
// line or document at a time, and of a line that is too long the first maxLine bytes.
func records(r io.Reader, locator string, maxLine int, documents bool) iter.Seq2[line, error] {
	if maxLine <= 0 {
		maxLine = jsonval.MaxBytes
	}
	return func(yield func(line, error) bool) {
		var document []byte // not nil inside one
		number, first, blank := 0, 0, true
		for text, err := range jsonl.Lines(&clipper{r: r, most: maxLine + 1}, maxLine+1) {
			number++
			if err != nil {
				yield(line{}, fmt.Errorf("midtool: %s:%d: %w", locator, number, err))
				return
			}
			if document != nil {
				if len(document)+len(text) >= maxLine {
					yield(line{}, &SyntaxError{locator, number, 0, fmt.Sprintf("document longer than %d bytes", maxLine)})
					return
				}
				document = append(append(document, '\n'), text...)
				continue
			}
			if len(text) > maxLine {
				if blank = false; !yield(line{}, &SyntaxError{locator, number, maxLine, fmt.Sprintf("line longer than %d bytes", maxLine)}) {
					return
				}
				continue
			}
			mark := 0
			if number == 1 && bytes.HasPrefix(text, []byte(byteOrderMark)) {
				mark = len(byteOrderMark)
				text = text[mark:]
			}
			trimmed := bytes.Trim(text, " \t\r\n")
			if len(trimmed) == 0 {
				continue
			}
			v, err := jsonval.ParseNested(text, jsonval.LineDepth)
			je, bad := errors.AsType[*jsonval.Error](err)
			switch {
			case bad && documents && blank && je.Offset == len(text) && bytes.IndexByte([]byte("[{,"), trimmed[len(trimmed)-1]) >= 0:
				document, first = slices.Clone(text), number
			case bad && !yield(line{}, &SyntaxError{locator, number, mark + je.Offset, je.Rule}), !bad && !yield(line{number, v, text}, nil):
				return
			}
			blank = false
		}
		if document == nil {
			return
		}
		v, err := jsonval.ParseNested(document, jsonval.LineDepth)
		if je, ok := errors.AsType[*jsonval.Error](err); ok {
			before := document[:je.Offset]
			at := &SyntaxError{locator, first + bytes.Count(before, []byte("\n")), je.Offset - 1 - bytes.LastIndexByte(before, '\n'), je.Rule}
			yield(line{}, at)
			return
		}
		yield(line{0, v, document}, nil)
	}
}

const byteOrderMark = "\ufeff"

// A clipper cuts each line of a reader after most bytes.
type clipper struct {
	r    io.Reader
	most int
	n    int // bytes of the line so far
}

// Read fills p with what is kept. It goes on while all that it reads is cut off, for its caller takes many empty reads for
// a reader that is stuck.
func (c *clipper) Read(p []byte) (int, error) {
	for {
		n, err := c.r.Read(p)
		if kept := c.clip(p[:n]); kept > 0 || n == 0 || err != nil {
			return kept, err
		}
	}
}

// clip moves the bytes that are kept to the front and counts them.
func (c *clipper) clip(p []byte) int {
	kept := 0
	for rest := p; len(rest) > 0; {
		part, _, ended := bytes.Cut(rest, []byte("\n"))
		rest = rest[len(part):]
		part = part[:min(len(part), c.most-c.n)]
		kept += copy(p[kept:], part)
		c.n += len(part)
		if ended {
			p[kept] = '\n'
			kept++
			rest, c.n = rest[1:], 0
		}
	}
	return kept
}

// toolsOf reads the tools of one record, or names the rule that the record breaks.
func toolsOf(v *jsonval.Value) ([]Tool, string) {
	if v.Kind != jsonval.List {
		return toolsOfObject(v)
	}
	var tools []Tool
	for i := range v.List {
		some, rule := toolsOfObject(&v.List[i])
		if rule != "" {
			return nil, fmt.Sprintf("item %d: %s", i, rule)
		}
		tools = append(tools, some...)
	}
	return tools, ""
}

func toolsOfObject(v *jsonval.Value) ([]Tool, string) {
	if v.Kind != jsonval.Object {
		return nil, "want a JSON object, got " + v.Kind.String()
	}
	if r := v.Get("result"); r != nil && r.Kind == jsonval.Object && v.Get("jsonrpc") != nil {
		v = r // as it came over the wire
	}
	var from outer
	from.license, from.licenseFrom = licenseOf(v), "list"
	if v.Get("server") != nil {
		from.group, from.kind, from.licenseFrom = jsonval.StringOf(v.Get("server")), "server", "server"
	}
	for _, key := range []string{"tools", "functions", "functionDeclarations", "function_declarations", "function"} {
		list := v.Get(key)
		switch {
		case list == nil || key == "function" && list.Kind == jsonval.Object:
			continue
		case list.Kind != jsonval.List:
			return nil, fmt.Sprintf("%q: want list, got %s", key, list.Kind)
		}
		if strings.HasSuffix(key, "eclarations") {
			from.kind = cmp.Or(from.kind, "gemini")
		}
		var tools []Tool
		for i := range list.List {
			t := &list.List[i]
			if inner := t.Get("functionDeclarations"); key == "tools" && inner != nil && inner.Kind == jsonval.List {
				for j := range inner.List {
					tools = append(tools, toolOf(&inner.List[j], outer{from.group, from.license, from.licenseFrom, cmp.Or(from.kind, "gemini")}))
				}
				continue
			}
			tools = append(tools, toolOf(t, from))
		}
		return tools, ""
	}
	if v.Get("name") == nil && v.Get("function") == nil {
		return nil, `no tool shape: want "tools", "function" or "name"`
	}
	return []Tool{toolOf(v, outer{})}, ""
}

// outer is what a tool takes from the record around it.
type outer struct{ group, license, licenseFrom, kind string }

// toolOf reads what it can of one definition.
func toolOf(v *jsonval.Value, from outer) Tool {
	if l := licenseOf(v); l != "" {
		from.license, from.licenseFrom = l, "tool"
	}
	if f := v.Get("function"); f != nil {
		v = f
		from.kind = cmp.Or(from.kind, "openai")
		if l := licenseOf(v); l != "" {
			from.license, from.licenseFrom = l, "function"
		}
	}
	t := Tool{
		Name:        jsonval.StringOf(v.Get("name")),
		Title:       jsonval.StringOf(v.Get("title")),
		Description: jsonval.StringOf(v.Get("description")),
		Group:       from.group,
		License:     from.license,
	}
	if t.License != "" {
		t.LicenseFrom = from.licenseFrom
	}
	for _, k := range []struct{ key, kind string }{
		{"inputSchema", "mcp"}, {"input_schema", "anthropic"}, {"parameters", "openai"}, {"parametersJsonSchema", "gemini"},
	} {
		if s := v.Get(k.key); s != nil {
			t.Parameters = s.Bytes(jsonval.Compact)
			from.kind = cmp.Or(from.kind, k.kind)
			break
		}
	}
	for _, key := range []string{"outputSchema", "response", "responseJsonSchema"} {
		if s := v.Get(key); s != nil && (key == "outputSchema" || s.Kind == jsonval.Object) {
			t.Returns = s.Bytes(jsonval.Compact)
			break
		}
	}
	if a := v.Get("annotations"); a != nil {
		readOnly := hintOf(a, "readOnlyHint")
		t.ReadOnly = readOnly != nil && *readOnly
		t.Hints = Hints{hintOf(a, "destructiveHint"), hintOf(a, "idempotentHint"), hintOf(a, "openWorldHint")}
	}
	t.Origin.Kind = cmp.Or(from.kind, "mcp")
	return t
}

// hintOf reads one annotation; one that is no boolean is none.
func hintOf(annotations *jsonval.Value, key string) *bool {
	hint := annotations.Get(key)
	if hint == nil || hint.Kind != jsonval.Bool {
		return nil
	}
	return new(hint.Text == "true")
}

func licenseOf(n *jsonval.Value) string {
	return cmp.Or(jsonval.StringOf(n.Get("license")), jsonval.StringOf(n.Get("licence")))
}

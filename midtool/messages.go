package midtool

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// MessageOptions adjusts [WriteMessages]. A nil *MessageOptions equals &MessageOptions{}.
type MessageOptions struct {
	// StringArguments writes call arguments as a JSON string, as the OpenAI API does; false writes the object, as TRL and
	// LLaMA-Factory expect.
	StringArguments bool

	// Meta adds "id" and "meta" with family, ability, licenses and evidence; false writes messages and tools only.
	Meta bool
}

// WriteMessages writes samples as JSON Lines in the OpenAI form, one object a line with a newline after each:
//
//	{"messages": [{"role", "content", "tool_calls": [{"id", "type", "function": {"name", "arguments"}}], "tool_call_id", "name"}, ...],
//	 "tools": [{"type": "function", "function": {"name", "description", "parameters"}}, ...]}
//
// in this order, without spaces, in raw UTF-8: '<', '&' and non-ASCII characters are never escaped, at any depth. A
// key without a value is left out, except "content"; a sample without tools has no "tools". The same samples give the
// same bytes.
//
// It stops with an error at the first sample that holds invalid UTF-8 or arguments or parameters that are no JSON
// object, naming it; the lines before it are then written. Errors of w are returned.
func WriteMessages(w io.Writer, samples []Sample, o *MessageOptions) error {
	if o == nil {
		o = &MessageOptions{}
	}
	bw := bufio.NewWriter(w)
	mw := messageWriter{MessageOptions: *o}
	var buf []byte
	for i := range samples {
		if err := writable(&samples[i]); err != nil {
			return joinFlush(bw, fmt.Errorf("midtool: sample %d (%s): %w", i, samples[i].ID, err))
		}
		buf = append(mw.sample(buf[:0], &samples[i]), '\n')
		if _, err := bw.Write(buf); err != nil {
			return fmt.Errorf("midtool: write messages: %w", err)
		}
	}
	return joinFlush(bw, nil)
}

// joinFlush flushes and returns the first error.
func joinFlush(bw *bufio.Writer, err error) error {
	if flush := bw.Flush(); flush != nil && err == nil {
		return fmt.Errorf("midtool: write messages: %w", flush)
	}
	return err
}

// writable names the first part of a sample that has no place in a JSON text.
func writable(s *Sample) error {
	text := func(what, s string) error {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%s %q is not UTF-8", what, s)
		}
		return nil
	}
	object := func(what string, raw []byte) error {
		if n, err := jsonval.Parse(raw); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		} else if n.Kind != jsonval.Object {
			return fmt.Errorf("%s: want a JSON object, got %s", what, n.Kind)
		}
		return nil
	}
	var errs []error
	for _, t := range s.Tools {
		errs = append(errs, text("tool name", t.Name), text("description", t.Description), object("parameters of "+t.Name, t.Parameters))
	}
	for _, m := range s.Messages {
		errs = append(errs, text("role", string(m.Role)), text("content", m.Content), text("call id", m.CallID), text("name", m.Name))
		for _, c := range m.Calls {
			errs = append(errs, text("call id", c.ID), text("tool name", c.Name), object("arguments of "+c.Name, c.Arguments))
		}
	}
	errs = append(errs, text("id", s.ID), text("family", string(s.Family)), text("ability", string(s.Ability)))
	for _, e := range s.Evidence {
		errs = append(errs, text("evidence", e.CallID+e.Path+string(e.Class)+e.Text))
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// A messageWriter appends the parts of a line.
type messageWriter struct {
	MessageOptions
	clean bool // arguments and parameters are in our compact form already
}

// sample appends a sample that passed writable, without a newline.
func (w *messageWriter) sample(dst []byte, s *Sample) []byte {
	dst = append(dst, '{')
	if w.Meta {
		dst = appendKey(dst, "id", s.ID)
		dst = append(dst, ',')
	}
	dst = append(dst, `"messages":[`...)
	for i := range s.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.message(dst, &s.Messages[i])
	}
	dst = append(dst, ']')
	if len(s.Tools) > 0 {
		dst = append(dst, `,"tools":[`...)
		for i, t := range s.Tools {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = w.tool(dst, t)
		}
		dst = append(dst, ']')
	}
	if w.Meta {
		dst = append(dst, `,"meta":`...)
		m := meta(s)
		dst = m.Append(dst, jsonval.Compact)
	}
	return append(dst, '}')
}

func appendKey(dst []byte, key, value string) []byte {
	dst = append(jsonval.AppendString(dst, key), ':')
	return jsonval.AppendString(dst, value)
}

func (w *messageWriter) message(dst []byte, m *Message) []byte {
	dst = appendKey(append(dst, '{'), "role", string(m.Role))
	dst = appendKey(append(dst, ','), "content", m.Content)
	if len(m.Calls) > 0 {
		dst = append(dst, `,"tool_calls":[`...)
		for i, c := range m.Calls {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendKey(append(dst, '{'), "id", c.ID)
			dst = append(dst, `,"type":"function","function":{`...)
			dst = appendKey(dst, "name", c.Name)
			dst = append(dst, `,"arguments":`...)
			if w.StringArguments {
				dst = jsonval.AppendString(dst, string(w.raw(nil, c.Arguments, jsonval.Display)))
			} else {
				dst = w.raw(dst, c.Arguments, jsonval.Compact)
			}
			dst = append(dst, "}}"...)
		}
		dst = append(dst, ']')
	}
	if m.CallID != "" {
		dst = appendKey(append(dst, ','), "tool_call_id", m.CallID)
	}
	if m.Name != "" {
		dst = appendKey(append(dst, ','), "name", m.Name)
	}
	return append(dst, '}')
}

func (w *messageWriter) tool(dst []byte, t Tool) []byte {
	dst = append(dst, `{"type":"function","function":{`...)
	dst = appendKey(dst, "name", t.Name)
	dst = appendKey(append(dst, ','), "description", t.Description)
	dst = append(dst, `,"parameters":`...)
	dst = w.raw(dst, t.Parameters, jsonval.Compact)
	return append(dst, "}}"...)
}

// raw rewrites a JSON text with our escaping: what came through encoding/json may hold \u003c for '<'.
func (w *messageWriter) raw(dst, raw []byte, f jsonval.Form) []byte {
	if w.clean && f == jsonval.Compact {
		return append(dst, raw...)
	}
	n, err := jsonval.Parse(raw)
	if err != nil {
		return append(dst, "null"...) // writable has excluded it
	}
	return n.Append(dst, f)
}

func meta(s *Sample) jsonval.Value {
	var licenses []string
	for _, t := range s.Tools {
		if t.License != "" && !slices.Contains(licenses, t.License) {
			licenses = append(licenses, t.License)
		}
	}
	slices.Sort(licenses)
	list, evidence := jsonval.NewList(), jsonval.NewList()
	for _, l := range licenses {
		list.List = append(list.List, jsonval.NewString(l))
	}
	for _, e := range s.Evidence {
		evidence.List = append(evidence.List, jsonval.NewObject(jsonval.Pair("call_id", jsonval.NewString(e.CallID)), jsonval.Pair("path", jsonval.NewString(e.Path)),
			jsonval.Pair("class", jsonval.NewString(string(e.Class))), jsonval.Pair("text", jsonval.NewString(e.Text))))
	}
	return jsonval.NewObject(jsonval.Pair("family", jsonval.NewString(string(s.Family))), jsonval.Pair("ability", jsonval.NewString(string(s.Ability))),
		jsonval.Pair("licenses", list), jsonval.Pair("evidence", evidence))
}

// ReadMessages reads what [WriteMessages] writes, with any of its options: the same messages, calls and tools (name,
// description, parameters, and an ID made of them), and with Meta also id, family, ability and evidence. Arguments
// come back as JSON without spaces. Keys it does not know are passed over; a null content is the empty text. Blank
// lines, a byte order mark and a missing last newline are accepted. The first bad line ends the sequence with a
// [*SyntaxError] that names locator and line. The sequence can be ranged over once.
func ReadMessages(r io.Reader, locator string) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		for l, err := range lines(r, locator, 0) {
			var s Sample
			if err == nil {
				var rule string
				if s, rule = readSample(&l.value); rule != "" {
					err = &SyntaxError{locator, l.number, 0, rule}
				}
			}
			if err != nil {
				yield(Sample{}, err)
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// A fields reads members of JSON objects and keeps the first rule broken.
type fields struct{ rule string }

func (f *fields) fail(format string, args ...any) {
	if f.rule == "" {
		f.rule = fmt.Sprintf(format, args...)
	}
}

// of returns the member of an object if it has the kind, the zero value where it is absent or null.
func (f *fields) of(n *jsonval.Value, key string, k jsonval.Kind) *jsonval.Value {
	v := n.Get(key)
	switch {
	case v == nil || v.Kind == jsonval.Null:
		return &jsonval.Value{Kind: k}
	case v.Kind != k:
		f.fail("%q: want %s, got %s", key, k, v.Kind)
		return &jsonval.Value{Kind: k}
	}
	return v
}

func (f *fields) text(n *jsonval.Value, key string) string { return f.of(n, key, jsonval.String).Text }

func readSample(n *jsonval.Value) (Sample, string) {
	var f fields
	if n.Get("messages") == nil {
		f.fail(`no "messages"`)
	}
	s := Sample{ID: f.text(n, "id")}
	for _, m := range f.of(n, "messages", jsonval.List).List {
		s.Messages = append(s.Messages, f.message(&m))
	}
	for _, t := range f.of(n, "tools", jsonval.List).List {
		fn := f.of(&t, "function", jsonval.Object)
		params := f.of(fn, "parameters", jsonval.Object)
		tool := Tool{Name: f.text(fn, "name"), Description: f.text(fn, "description"), Parameters: params.Bytes(jsonval.Compact)}
		if tool.Name == "" {
			f.fail("a tool has no name")
		}
		tool.ID = toolID(tool.Name, tool.Description, *params)
		s.Tools = append(s.Tools, tool)
	}
	m := f.of(n, "meta", jsonval.Object)
	s.Family, s.Ability = Family(f.text(m, "family")), Ability(f.text(m, "ability"))
	for _, e := range f.of(m, "evidence", jsonval.List).List {
		s.Evidence = append(s.Evidence, Evidence{f.text(&e, "call_id"), f.text(&e, "path"), EvidenceClass(f.text(&e, "class")), f.text(&e, "text")})
	}
	return s, f.rule
}

func (f *fields) message(n *jsonval.Value) Message {
	m := Message{Role: Role(f.text(n, "role")), Content: f.text(n, "content"), CallID: f.text(n, "tool_call_id"), Name: f.text(n, "name")}
	switch m.Role {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
	default:
		f.fail("unknown role %q", m.Role)
	}
	for _, c := range f.of(n, "tool_calls", jsonval.List).List {
		fn := f.of(&c, "function", jsonval.Object)
		call := Call{ID: f.text(&c, "id"), Name: f.text(fn, "name")}
		args := fn.Get("arguments")
		if args != nil && args.Kind == jsonval.String {
			inner, err := jsonval.Parse([]byte(args.Text))
			if err != nil {
				f.fail("arguments of %q: %v", call.Name, err)
			}
			args = &inner
		}
		if args == nil || args.Kind != jsonval.Object {
			f.fail("arguments of %q: want an object", call.Name)
			args = &jsonval.Value{Kind: jsonval.Object}
		}
		call.Arguments = args.Bytes(jsonval.Compact)
		m.Calls = append(m.Calls, call)
	}
	return m
}

// OfferText is the content of a system message that offers more tools in the middle of a conversation: one line of
// prose, then one line of JSON a tool with name, description and parameters. [ReadMessages] finds the tools again in it.
func OfferText(tools []Tool) string {
	w := messageWriter{}
	dst := []byte(offerLine)
	for _, t := range tools {
		dst = append(dst, '\n')
		dst = w.tool(dst, t)
	}
	return string(dst)
}

const offerLine = "From now on these tools can be called as well:"

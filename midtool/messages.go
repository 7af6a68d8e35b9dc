package midtool

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// MessageOptions adjusts [WriteMessages]. A nil *MessageOptions equals &MessageOptions{}.
type MessageOptions struct {
	// StringArguments writes call arguments as a JSON string, as the OpenAI API does; false writes the object, as TRL and
	// LLaMA-Factory expect.
	StringArguments bool

	// Meta adds "id" and "meta", which has what a trainer does not read: family, ability, licenses and evidence, and
	// where they are set second_ability, source, document, generator, plan, templates (one a message), and groups, originals and
	// returns (one a tool, those that messages offer last; a result schema as a JSON string); false writes messages and
	// tools only.
	Meta bool
}

// WriteMessages writes samples as JSON Lines in the OpenAI form, one object a line with a newline after each:
//
//	{"messages": [{"role", "content", "tool_calls": [{"id", "type", "function": {"name", "arguments"}}], "tool_call_id", "name",
//	  "train"}, ...],
//	 "tools": [{"type": "function", "function": {"name", "description", "parameters"}}, ...]}
//
// in this order, without spaces, in raw UTF-8: '<', '&' and non-ASCII characters are never escaped, at any depth. A
// key without a value is left out, except "content"; a sample without tools has no "tools". "train" is false in a
// message that is a mistake and must not be learned, as Axolotl reads it, and left out in others; leave such samples out where a
// trainer passes over the key. Tools that a message offers are not written beside its content. The same samples give the
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
		buf = append(mw.sample(buf[:0], &samples[i]), '\n')
		if mw.broken || !utf8.Valid(buf) {
			return joinFlush(bw, fmt.Errorf("midtool: sample %d (%s): %w", i, samples[i].ID, mw.fault(&samples[i])))
		}
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

// A messageWriter appends the parts of a line.
type messageWriter struct {
	MessageOptions
	broken bool // something had no place in a JSON text, and null stands for it
}

// sample appends a sample without a newline.
func (w *messageWriter) sample(dst []byte, s *Sample) []byte {
	dst = append(dst, '{')
	if w.Meta {
		dst = appendKey(dst, "id", s.ID)
		dst = append(dst, ',')
	}
	dst = append(dst, messagesKey...)
	for i := range s.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.message(dst, &s.Messages[i], nil)
	}
	dst = append(dst, ']')
	if len(s.Tools) > 0 {
		dst = append(dst, toolsKey...)
		for i := range s.Tools {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = w.tool(dst, &s.Tools[i])
		}
		dst = append(dst, ']')
	}
	if w.Meta {
		dst = append(dst, `,"meta":`...)
		m := w.meta(s)
		dst = m.Append(dst, jsonval.Compact)
	}
	return append(dst, '}')
}

const (
	messagesKey = `"messages":[`
	toolsKey    = `,"tools":[`
)

func appendKey(dst []byte, key, value string) []byte {
	dst = append(jsonval.AppendString(dst, key), ':')
	return jsonval.AppendString(dst, value)
}

// message appends a message. Parsed are the arguments of its calls; nil lets it parse them.
func (w *messageWriter) message(dst []byte, m *Message, parsed []call) []byte {
	dst = appendKey(append(dst, '{'), "role", string(m.Role))
	dst = appendKey(append(dst, ','), "content", m.Content)
	if len(m.Calls) > 0 {
		dst = append(dst, `,"tool_calls":[`...)
		for i := range m.Calls {
			c := &m.Calls[i]
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendKey(append(dst, '{'), "id", c.ID)
			dst = append(dst, `,"type":"function","function":{`...)
			dst = appendKey(dst, "name", c.Name)
			dst = append(dst, `,"arguments":`...)
			switch {
			case parsed != nil:
				dst = parsed[i].args.Append(dst, jsonval.Compact)
			case w.StringArguments:
				dst = jsonval.AppendString(dst, string(w.object(nil, c.Arguments, jsonval.Display)))
			default:
				dst = w.object(dst, c.Arguments, jsonval.Compact)
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
	if m.Untrained {
		dst = append(dst, `,"train":false`...)
	}
	return append(dst, '}')
}

func (w *messageWriter) tool(dst []byte, t *Tool) []byte {
	dst = append(dst, `{"type":"function","function":{`...)
	dst = appendKey(dst, "name", t.Name)
	dst = appendKey(append(dst, ','), "description", t.Description)
	dst = append(dst, `,"parameters":`...)
	dst = w.object(dst, t.Parameters, jsonval.Compact)
	return append(dst, "}}"...)
}

// object rewrites a JSON object with our escaping: what came through encoding/json may hold \u003c for '<'.
func (w *messageWriter) object(dst, raw []byte, f jsonval.Form) []byte {
	n, err := jsonval.Parse(raw)
	w.broken = w.broken || err != nil || n.Kind != jsonval.Object
	return n.Append(dst, f)
}

// meta is the value of "meta".
func (w *messageWriter) meta(s *Sample) jsonval.Value {
	pair, str := jsonval.Pair, jsonval.NewString
	m := jsonval.NewObject(pair("family", str(string(s.Family))), pair("ability", str(string(s.Ability))))
	add := func(key string, v jsonval.Value, there bool) {
		if there {
			m.Members = append(m.Members, pair(key, v))
		}
	}
	add("second_ability", str(string(s.SecondAbility)), s.SecondAbility != "")
	add("source", str(s.Source), s.Source != "")
	add("document", str(s.Document), s.Document != "")
	add("generator", str(s.Generator), s.Generator != "")
	licenses, evidence := jsonval.NewList(), jsonval.NewList()
	for _, l := range licensesOf(s) {
		licenses.List = append(licenses.List, str(l))
	}
	for _, e := range s.Evidence {
		evidence.List = append(evidence.List, jsonval.NewObject(pair("call_id", str(e.CallID)), pair("path", str(e.Path)),
			pair("class", str(string(e.Class))), pair("text", str(e.Text))))
	}
	add("licenses", licenses, true)
	add("evidence", evidence, true)
	if s.Plan != nil {
		add("plan", w.plan(s.Plan), true)
	}
	templates, last := jsonval.NewList(), 0
	for i := range s.Messages {
		if templates.List = append(templates.List, str(s.Messages[i].Template)); s.Messages[i].Template != "" {
			last = i + 1
		}
	}
	templates.List = templates.List[:last]
	add("templates", templates, last > 0)
	groups, originals, returns := jsonval.NewList(), jsonval.NewList(), jsonval.NewList()
	lastGroup, lastOriginal, lastReturns := 0, 0, 0
	tool := func(t *Tool) {
		schema := str("")
		if v, err := jsonval.Parse(t.Returns); err == nil {
			schema = str(v.Encode(jsonval.Compact))
			lastReturns = len(returns.List) + 1
		}
		returns.List = append(returns.List, schema)
		if groups.List = append(groups.List, str(t.Group)); t.Group != "" {
			lastGroup = len(groups.List)
		}
		if originals.List = append(originals.List, str(t.Original)); t.Original != "" {
			lastOriginal = len(originals.List)
		}
	}
	for i := range s.Tools {
		tool(&s.Tools[i])
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.Role != RoleSystem {
			continue
		}
		shown := offersIn(m.Content) // those that are read back
		for j := range shown {
			if len(shown) == len(m.Offers) {
				shown[j] = m.Offers[j]
			}
			tool(&shown[j])
		}
	}
	groups.List, originals.List, returns.List = groups.List[:lastGroup], originals.List[:lastOriginal], returns.List[:lastReturns]
	add("groups", groups, lastGroup > 0)
	add("originals", originals, lastOriginal > 0)
	add("returns", returns, lastReturns > 0)
	return m
}

// licensesOf lists the licenses of all tools of a sample, sorted.
func licensesOf(s *Sample) []string {
	var out []string
	add := func(tools []Tool) {
		for i := range tools {
			if l := tools[i].License; l != "" && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	add(s.Tools)
	for i := range s.Messages {
		add(s.Messages[i].Offers)
	}
	slices.Sort(out)
	return out
}

// plan writes a plan with the keys of [Plan].
func (w *messageWriter) plan(p *Plan) jsonval.Value {
	pair, str := jsonval.Pair, jsonval.NewString
	calls := jsonval.NewList()
	for i := range p.Calls {
		c := &p.Calls[i]
		args, err := jsonval.Parse(c.Arguments)
		w.broken = w.broken || err != nil || args.Kind != jsonval.Object
		calls.List = append(calls.List, jsonval.NewObject(pair("id", str(c.ID)), pair("name", str(c.Name)), pair("arguments", args)))
	}
	out := jsonval.NewObject(pair("calls", calls))
	texts := func(key string, list []string) {
		if len(list) > 0 {
			out.Members = append(out.Members, pair(key, textList(list)))
		}
	}
	texts("withheld", p.Withheld)
	if p.Absent != nil {
		// All fields of a Tool: encoding/json knows them, and parsing what it writes takes its escapes off. It would replace
		// invalid UTF-8.
		raw, err := json.Marshal(p.Absent)
		n, bad := jsonval.ParseNested(raw, jsonval.LineDepth)
		w.broken = w.broken || err != nil || bad != nil || toolFault(p.Absent) != nil
		out.Members = append(out.Members, pair("absent", n))
	}
	if p.Fault != "" {
		out.Members = append(out.Members, pair("fault", str(p.Fault)))
	}
	texts("answer", p.Answer)
	return out
}

// textList is a list of strings.
func textList(texts []string) jsonval.Value {
	out := jsonval.NewList()
	for _, t := range texts {
		out.List = append(out.List, jsonval.NewString(t))
	}
	return out
}

// fault names the first part of a broken sample that has no place in a JSON text.
func (w *messageWriter) fault(s *Sample) error {
	var errs []error
	for i := range s.Tools {
		errs = append(errs, toolFault(&s.Tools[i]))
	}
	calls := func(list []Call) {
		for _, c := range list {
			errs = append(errs, textFault("call id", c.ID), textFault("tool name", c.Name), objectFault("arguments of "+c.Name, c.Arguments))
		}
	}
	for _, m := range s.Messages {
		errs = append(errs, textFault("role", string(m.Role)), textFault("content", m.Content), textFault("call id", m.CallID),
			textFault("name", m.Name), textFault("template", m.Template))
		calls(m.Calls)
	}
	errs = append(errs, textFault("id", s.ID), textFault("family", string(s.Family)),
		textFault("ability", string(s.Ability)+string(s.SecondAbility)), textFault("source", s.Source), textFault("document", s.Document),
		textFault("generator", s.Generator), textFault("license", strings.Join(licensesOf(s), " ")))
	for _, e := range s.Evidence {
		errs = append(errs, textFault("evidence", e.CallID+e.Path+string(e.Class)+e.Text))
	}
	if p := s.Plan; p != nil {
		calls(p.Calls)
		errs = append(errs, textFault("plan", strings.Join(p.Withheld, " ")+p.Fault),
			textFault("answer", strings.Join(p.Answer, " ")))
		if p.Absent != nil {
			errs = append(errs, toolFault(p.Absent))
		}
	}
	for _, m := range s.Messages {
		for i := range m.Offers {
			errs = append(errs, toolFault(&m.Offers[i]))
		}
	}
	return cmp.Or(append(errs, errors.New("a text is not UTF-8"))...)
}

func textFault(what, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s %q is not UTF-8", what, s)
	}
	return nil
}

func objectFault(what string, raw []byte) error {
	if n, err := jsonval.Parse(raw); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	} else if n.Kind != jsonval.Object {
		return fmt.Errorf("%s: want a JSON object, got %s", what, n.Kind)
	}
	return nil
}

func toolFault(t *Tool) error {
	texts := strings.Join(append([]string{t.ID, t.Original, t.Title, t.Group, t.License, t.Origin.Kind, t.Origin.Locator}, t.Lossy...), " ")
	err := cmp.Or(textFault("tool name", t.Name), textFault("description", t.Description), objectFault("parameters of "+t.Name, t.Parameters),
		textFault("tool "+t.Name, texts))
	if err == nil && len(t.Returns) > 0 {
		_, err = jsonval.Parse(t.Returns)
	}
	return err
}

// OfferText is the content of a system message that offers more tools in the middle of a conversation: one line of
// prose, then one line of JSON a tool with name, description and parameters. [ReadMessages] finds the tools again in it.
func OfferText(tools []Tool) string {
	w := messageWriter{}
	return string(w.offer(nil, tools))
}

const offerLine = "From now on these tools can be called as well:"

func (w *messageWriter) offer(dst []byte, tools []Tool) []byte {
	dst = append(dst, offerLine...)
	for i := range tools {
		dst = w.tool(append(dst, '\n'), &tools[i])
	}
	return dst
}

package midtool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// ReadMessages reads what [WriteMessages] writes, with any of its options: the same messages, calls and tools (name,
// description, parameters, and an ID made of them), tools that a system message offers as [OfferText] does, and with
// Meta also the rest of a sample, of its tools the group and the original name. Licenses, result schemas and origins of
// tools do not come back. Arguments come back as JSON without spaces.
//
// It also reads what agents record in the wild: a content that is null or a list of text parts (joined with a line
// break), arguments as a JSON string, where the empty one stands for none, the role "developer" for system, tools
// without the "function" around them, and the older "function_call" with results of role "function", which have no
// call ids.
//
// Keys it does not know are passed over; a key with a value of another kind is an error. Blank lines, a byte order mark
// and a missing last newline are accepted. The first bad line ends the sequence with a [*SyntaxError] that names
// locator and line. The sequence can be ranged over once.
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
	messages := f.of(n, "messages", jsonval.List).List
	for i := range messages {
		s.Messages = append(s.Messages, f.message(&messages[i]))
	}
	tools := f.of(n, "tools", jsonval.List).List
	for i := range tools {
		s.Tools = append(s.Tools, f.tool(&tools[i]))
	}
	f.meta(f.of(n, "meta", jsonval.Object), &s)
	return s, f.rule
}

func (f *fields) tool(n *jsonval.Value) Tool {
	if n.Get("function") != nil || n.Get("name") == nil {
		n = f.of(n, "function", jsonval.Object)
	}
	params := f.of(n, "parameters", jsonval.Object)
	t := Tool{Name: f.text(n, "name"), Description: f.text(n, "description"), Parameters: params.Bytes(jsonval.Compact)}
	if t.Name == "" {
		f.fail("a tool has no name")
	}
	t.ID = toolID(t.Name, t.Description, *params)
	return t
}

func (f *fields) message(n *jsonval.Value) Message {
	m := Message{Role: Role(f.text(n, "role")), Content: f.content(n), CallID: f.text(n, "tool_call_id"), Name: f.text(n, "name")}
	switch m.Role {
	case "developer":
		m.Role = RoleSystem
	case "function":
		m.Role = RoleTool
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
	default:
		f.fail("unknown role %q", m.Role)
	}
	calls := f.of(n, "tool_calls", jsonval.List).List
	for i := range calls {
		m.Calls = append(m.Calls, f.call(f.text(&calls[i], "id"), f.of(&calls[i], "function", jsonval.Object)))
	}
	if old := f.of(n, "function_call", jsonval.Object); len(old.Members) > 0 {
		m.Calls = append(m.Calls, f.call("", old))
	}
	if m.Role == RoleSystem {
		m.Offers = offersIn(m.Content)
	}
	if train := f.of(n, "train", jsonval.Bool); m.Role == RoleAssistant { // others are never trained
		m.Untrained = train.Text == "false"
	}
	return m
}

// content joins the parts of a content that is a list.
func (f *fields) content(n *jsonval.Value) string {
	v := n.Get("content")
	if v == nil || v.Kind != jsonval.List {
		return f.text(n, "content")
	}
	var texts []string
	for i := range v.List {
		switch part := &v.List[i]; {
		case part.Kind != jsonval.Object:
			f.fail(`"content": part %d: want object, got %s`, i, part.Kind)
		case f.text(part, "type") != "text":
			f.fail(`"content": part %d is of type %q, want "text"`, i, f.text(part, "type"))
		default:
			texts = append(texts, f.text(part, "text"))
		}
	}
	return strings.Join(texts, "\n")
}

func (f *fields) call(id string, n *jsonval.Value) Call {
	c := Call{ID: id, Name: f.text(n, "name")}
	args := n.Get("arguments")
	if args != nil && args.Kind == jsonval.String && args.Text != "" {
		inner, err := jsonval.Parse([]byte(args.Text))
		if err != nil {
			f.fail("arguments of %q: %v", c.Name, err)
		}
		args = &inner
	} else if args == nil || args.Kind == jsonval.Null || args.Kind == jsonval.String {
		args = &jsonval.Value{Kind: jsonval.Object}
	}
	if args.Kind != jsonval.Object {
		f.fail("arguments of %q: want an object", c.Name)
		args = &jsonval.Value{Kind: jsonval.Object}
	}
	c.Arguments = args.Bytes(jsonval.Compact)
	return c
}

// offersIn finds the tools of a text that [OfferText] wrote, nil in any other.
func offersIn(text string) []Tool {
	rest, ok := strings.CutPrefix(text, offerLine+"\n")
	if !ok {
		return nil
	}
	var f fields
	var tools []Tool
	for line := range strings.SplitSeq(rest, "\n") {
		n, err := jsonval.ParseNested([]byte(line), jsonval.LineDepth)
		if err != nil {
			return nil
		}
		if tools = append(tools, f.tool(&n)); f.rule != "" {
			return nil
		}
	}
	if OfferText(tools) != text {
		return nil
	}
	return tools
}

// meta fills a sample with what stands beside its messages.
func (f *fields) meta(n *jsonval.Value, s *Sample) {
	s.Family, s.Ability, s.SecondAbility = Family(f.text(n, "family")), Ability(f.text(n, "ability")), Ability(f.text(n, "second_ability"))
	s.Source, s.Document, s.Generator = f.text(n, "source"), f.text(n, "document"), f.text(n, "generator")
	evidence := f.of(n, "evidence", jsonval.List).List
	for i := range evidence {
		e := &evidence[i]
		s.Evidence = append(s.Evidence, Evidence{f.text(e, "call_id"), f.text(e, "path"), EvidenceClass(f.text(e, "class")), f.text(e, "text")})
	}
	if p := f.of(n, "plan", jsonval.Object); len(p.Members) > 0 {
		s.Plan = f.plan(p)
	}
	templates := f.of(n, "templates", jsonval.List).List
	if len(templates) > len(s.Messages) || slices.ContainsFunc(templates, func(v jsonval.Value) bool { return v.Kind != jsonval.String }) {
		f.fail(`"templates": want one string a message`)
		return
	}
	for i := range templates {
		s.Messages[i].Template = templates[i].Text
	}
	f.tools(n, "groups", s, func(t *Tool, text string) { t.Group = text })
	f.tools(n, "originals", s, func(t *Tool, text string) { t.Original = text })
	f.tools(n, "returns", s, func(t *Tool, text string) {
		if text == "" {
			return
		}
		if _, err := jsonval.Parse([]byte(text)); err != nil {
			f.fail(`"returns": %v`, err)
		}
		t.Returns = json.RawMessage(text)
	})
}

// tools reads a list of one string a tool.
func (f *fields) tools(n *jsonval.Value, key string, s *Sample, set func(*Tool, string)) {
	list := f.of(n, key, jsonval.List).List
	next := func(tools []Tool) {
		for i := range tools {
			if len(list) == 0 {
				return
			}
			if list[0].Kind != jsonval.String {
				f.fail("%q: want one string a tool", key)
			}
			set(&tools[i], list[0].Text)
			list = list[1:]
		}
	}
	next(s.Tools)
	for i := range s.Messages {
		next(s.Messages[i].Offers)
	}
	if len(list) > 0 {
		f.fail("%q: want one string a tool", key)
	}
}

// texts reads a list of strings.
func (f *fields) texts(n *jsonval.Value, key string) []string {
	var out []string
	for _, v := range f.of(n, key, jsonval.List).List {
		if v.Kind != jsonval.String {
			f.fail("%q: want strings", key)
		}
		out = append(out, v.Text)
	}
	return out
}

func (f *fields) plan(n *jsonval.Value) *Plan {
	p := &Plan{Fault: f.text(n, "fault")}
	calls := f.of(n, "calls", jsonval.List).List
	for i := range calls {
		p.Calls = append(p.Calls, f.call(f.text(&calls[i], "id"), &calls[i]))
	}
	p.Withheld, p.Answer = f.texts(n, "withheld"), f.texts(n, "answer")
	if v := f.of(n, "absent", jsonval.Object); len(v.Members) > 0 {
		p.Absent = new(Tool)
		err := json.Unmarshal(v.Bytes(jsonval.Compact), p.Absent)
		if err = cmp.Or(err, toolFault(p.Absent)); err != nil {
			f.fail(`"absent": %v`, err)
		}
		if len(p.Absent.Lossy) == 0 {
			p.Absent.Lossy = nil // written back, an empty list is left out
		}
	}
	return p
}

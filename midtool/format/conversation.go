package format

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A conversation is what all forms write of a sample, and what is read back from each: calls are numbered call_0001 and
// on, and results stand in the order of their calls, so that a form without ids loses nothing.
type conversation struct {
	tools    []tool
	messages []message
}

type tool struct {
	name, description string
	parameters        jsonval.Value
}

type message struct {
	role      midtool.Role
	content   string
	calls     []call
	untrained bool
	id, name  string // of a result: the call that it answers and its tool
}

type call struct {
	id, name  string
	arguments jsonval.Value
}

// trained reports whether the message is learned in a form of conversations.
func (m *message) trained() bool { return m.role == midtool.RoleAssistant && !m.untrained }

// callID is the id of the n-th call of a conversation, from 1.
func callID(n int) string {
	digits := strconv.Itoa(n)
	return "call_" + "0000"[min(len(digits), 4):] + digits
}

func skip(reason, detail string, args ...any) *SkipError {
	return &SkipError{Reason: reason, Detail: fmt.Sprintf(detail, args...)}
}

// conversationOf checks a record and returns its conversation, nil for a document.
func conversationOf(r *Record) (*conversation, *SkipError) {
	if err := checkTexts(r); err != nil {
		return nil, err
	}
	s := r.Sample
	switch {
	case s == nil && r.Text == "", s != nil && len(s.Messages) == 0:
		return nil, skip("empty", "no text")
	case s == nil:
		return nil, nil
	case r.Text != "":
		return nil, skip("text_and_sample", "a record is a text or a sample")
	}
	c := &conversation{messages: make([]message, 0, len(s.Messages))}
	for i := range s.Tools {
		t, err := toolOf(&s.Tools[i])
		if err != nil {
			return nil, err
		}
		c.tools = append(c.tools, t)
	}
	calls := 0
	for i := 0; i < len(s.Messages); {
		m, err := messageOf(&s.Messages[i], calls)
		if err != nil {
			err.Detail = fmt.Sprintf("message %d: %s", i, err.Detail)
			return nil, err
		}
		c.messages = append(c.messages, m)
		calls += len(m.calls)
		i++
		n := 0
		for i+n < len(s.Messages) && s.Messages[i+n].Role == midtool.RoleTool {
			n++
		}
		if n == 0 && (len(m.calls) == 0 || i == len(s.Messages)) {
			continue
		}
		results, err := resultsOf(s.Messages[i-1].Calls, m.calls, s.Messages[i:i+n])
		if err != nil {
			err.Detail = fmt.Sprintf("after message %d: %s", i-1, err.Detail)
			return nil, err
		}
		c.messages = append(c.messages, results...)
		i += n
	}
	return c, nil
}

// checkTexts finds a text that is not UTF-8. Arguments and schemas are checked where they are parsed.
func checkTexts(r *Record) *SkipError {
	switch {
	case invalid(r.ID):
		return skip("invalid_utf8", "id")
	case invalid(r.Source):
		return skip("invalid_utf8", "source")
	case invalid(r.Text):
		return skip("invalid_utf8", "text")
	}
	if slices.ContainsFunc(r.Licenses, invalid) {
		return skip("invalid_utf8", "license")
	}
	for key, value := range r.Meta {
		if invalid(key) || invalid(value) {
			return skip("invalid_utf8", "meta") // the same whichever comes first
		}
	}
	s := r.Sample
	if s == nil {
		return nil
	}
	kinds := [...]string{string(s.Family), string(s.Ability), string(s.SecondAbility)}
	if slices.ContainsFunc(kinds[:], invalid) || invalid(s.ID) || invalid(s.Source) || invalid(s.Document) || invalid(s.Generator) {
		return skip("invalid_utf8", "what describes the sample")
	}
	for _, e := range s.Evidence {
		if invalid(string(e.Class)) {
			return skip("invalid_utf8", "class of evidence")
		}
	}
	for i := range s.Tools {
		if t := &s.Tools[i]; invalid(t.Name) || invalid(t.Description) || invalid(t.License) {
			return skip("invalid_utf8", "tool %d", i)
		}
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		bad := invalid(m.Content) || invalid(m.Name)
		for j := range m.Calls {
			bad = bad || invalid(m.Calls[j].Name)
		}
		for j := range m.Offers {
			bad = bad || invalid(m.Offers[j].License)
		}
		if bad {
			return skip("invalid_utf8", "message %d", i)
		}
	}
	return nil
}

func invalid(s string) bool { return !utf8.ValidString(s) }

// named reports whether a name fits into a line.
func named(name string) bool { return name != "" && !strings.ContainsRune(name, '\n') }

func toolOf(t *midtool.Tool) (tool, *SkipError) {
	if !named(t.Name) {
		return tool{}, skip("tool_name", "of a tool: %q", t.Name)
	}
	v, err := jsonval.Parse(t.Parameters)
	switch {
	case err != nil:
		return tool{}, skip("bad_json", "parameters of %q: %v", t.Name, err)
	case v.Kind != jsonval.Object:
		return tool{}, skip("bad_json", "parameters of %q: want object, got %s", t.Name, v.Kind)
	}
	return tool{t.Name, t.Description, v}, nil
}

// messageOf reads a message that is no result. Calls have been made before it.
func messageOf(m *midtool.Message, calls int) (message, *SkipError) {
	out := message{role: m.Role, content: m.Content}
	switch m.Role {
	case midtool.RoleSystem:
		if len(m.Offers) > 0 && m.Content != midtool.OfferText(m.Offers) {
			return out, skip("offer", "the content does not show the %d tools that it offers", len(m.Offers))
		}
	case midtool.RoleUser:
	case midtool.RoleAssistant:
		out.untrained = m.Untrained
	case midtool.RoleTool:
		return out, skip("results", "a result without a call")
	default:
		return out, skip("role", "%q", m.Role)
	}
	if len(m.Calls) > 0 && m.Role != midtool.RoleAssistant {
		return out, skip("role", "%q calls", m.Role)
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		if !named(c.Name) {
			return out, skip("tool_name", "of a call: %q", c.Name)
		}
		v, err := jsonval.Parse(c.Arguments)
		switch {
		case err != nil:
			return out, skip("bad_json", "arguments of %q: %v", c.Name, err)
		case v.Kind != jsonval.Object:
			return out, skip("bad_json", "arguments of %q: want object, got %s", c.Name, v.Kind)
		}
		out.calls = append(out.calls, call{callID(calls + i + 1), c.Name, v})
	}
	return out, nil
}

// resultsOf puts results in the order of the calls that they answer: by id, or by position where none has one.
func resultsOf(given []midtool.Call, calls []call, results []midtool.Message) ([]message, *SkipError) {
	if len(results) != len(calls) {
		return nil, skip("results", "%d for %d calls", len(results), len(calls))
	}
	out := make([]message, len(calls))
	var place map[string]int
	if slices.ContainsFunc(results, func(m midtool.Message) bool { return m.CallID != "" }) {
		place = make(map[string]int, len(given))
		for i := range given {
			place[given[i].ID] = i
		}
	}
	for i := range results {
		m, at := &results[i], i
		if place != nil {
			var ok bool
			if at, ok = place[m.CallID]; !ok || out[at].role != "" {
				return nil, skip("results", "id %q answers no call, or one that has its result", m.CallID)
			}
		}
		if m.Name != "" && m.Name != calls[at].name {
			return nil, skip("results", "%q answers a call of %q", m.Name, calls[at].name)
		}
		if len(m.Calls) > 0 {
			return nil, skip("role", "%q calls", m.Role)
		}
		out[at] = message{role: midtool.RoleTool, content: m.Content, id: calls[at].id, name: calls[at].name}
	}
	return out, nil
}

// answered numbers the calls and gives each result that is read from a form without ids the call that it answers.
func (c *conversation) answered() error {
	n := 0
	var open []call
	for i := range c.messages {
		m := &c.messages[i]
		if m.role == midtool.RoleTool {
			if len(open) == 0 {
				return fmt.Errorf("message %d: a result without a call", i)
			}
			m.id, m.name = open[0].id, cmp.Or(m.name, open[0].name)
			open = open[1:]
			continue
		}
		for j := range m.calls {
			n++
			m.calls[j].id = callID(n)
		}
		open = m.calls
	}
	return nil
}

// appendCall writes {"name": ..., "arguments": ...} as training text does.
func appendCall(dst []byte, c *call) []byte {
	dst = append(dst, `{"name": `...)
	dst = jsonval.AppendString(dst, c.name)
	dst = append(dst, `, "arguments": `...)
	return append(c.arguments.Append(dst, jsonval.Display), '}')
}

// appendTool writes {"name": ..., "description": ..., "parameters": ...} as training text does.
func appendTool(dst []byte, t *tool) []byte {
	dst = append(dst, `{"name": `...)
	dst = jsonval.AppendString(dst, t.name)
	dst = append(dst, `, "description": `...)
	dst = jsonval.AppendString(dst, t.description)
	dst = append(dst, `, "parameters": `...)
	return append(t.parameters.Append(dst, jsonval.Display), '}')
}

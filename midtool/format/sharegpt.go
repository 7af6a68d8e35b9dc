package format

import (
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// appendShareGPT writes {"id", "conversations": [{"from", "value"}], "system", "tools"}.
func appendShareGPT(dst []byte, id string, c *conversation) ([]byte, *SkipError) {
	if err := checkTurns(c); err != nil {
		return dst, err
	}
	dst = append(appendPair(append(dst, '{'), "id", id), `,"conversations":[`...)
	system, first := "", true
	for i := 0; i < len(c.messages); i++ {
		m := &c.messages[i]
		from, value := "human", m.content
		switch {
		case m.role == midtool.RoleSystem:
			system = m.content
			continue
		case len(m.calls) > 0 && m.content != "":
			return dst, skip("text_with_calls", "message %d", i)
		case len(m.calls) > 0:
			from, value = "function_call", callList(m.calls)
		case m.role == midtool.RoleAssistant:
			from = "gpt"
		case m.role == midtool.RoleTool:
			from = "observation"
			results := 1
			for i+results < len(c.messages) && c.messages[i+results].role == midtool.RoleTool {
				results++
			}
			if results > 1 {
				value = resultList(c.messages[i : i+results])
				i += results - 1
			}
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendPair(append(dst, '{'), "from", from)
		dst = append(appendPair(append(dst, ','), "value", value), '}')
	}
	tools := ""
	if len(c.tools) > 0 {
		b := []byte{'['}
		for i := range c.tools {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendTool(b, &c.tools[i])
		}
		tools = string(append(b, ']'))
	}
	dst = appendPair(append(dst, "],"...), "system", system)
	return append(appendPair(append(dst, ','), "tools", tools), '}'), nil
}

func callList(calls []call) string {
	b := []byte{'['}
	for i := range calls {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendCall(b, &calls[i])
	}
	return string(append(b, ']'))
}

// resultList writes several results as one list. A result that is JSON in the form of training text stands in it as it
// is, and any other as a string, strings too: so a string in the list is always a text.
func resultList(results []message) string {
	b := []byte{'['}
	for i := range results {
		if i > 0 {
			b = append(b, ", "...)
		}
		content := results[i].content
		if v, err := jsonval.ParseText(content); err == nil && v.Kind != jsonval.String && v.Encode(jsonval.Display) == content {
			b = append(b, content...)
		} else {
			b = jsonval.AppendString(b, content)
		}
	}
	return string(append(b, ']'))
}

// readShareGPT reads a line.
func readShareGPT(v *jsonval.Value) (Record, error) {
	id, turns := jsonval.StringOf(v.Get("id")), v.Get("conversations")
	if turns == nil || turns.Kind != jsonval.List {
		return Record{}, errors.New(`"conversations": want a list`)
	}
	c := new(conversation)
	if system := jsonval.StringOf(v.Get("system")); system != "" {
		c.messages = append(c.messages, message{role: midtool.RoleSystem, content: system})
	}
	if tools := jsonval.StringOf(v.Get("tools")); tools != "" {
		list, err := jsonval.ParseNested([]byte(tools), jsonval.LineDepth)
		if err != nil {
			return Record{}, fmt.Errorf("tools: %w", err)
		}
		if list.Kind != jsonval.List {
			return Record{}, fmt.Errorf("tools: want a list, got %s", list.Kind)
		}
		for i := range list.List {
			t, err := toolFrom(&list.List[i])
			if err != nil {
				return Record{}, err
			}
			c.tools = append(c.tools, t)
		}
	}
	for i := range turns.List {
		from, value := turns.List[i].Get("from"), turns.List[i].Get("value")
		if from == nil || value == nil || value.Kind != jsonval.String {
			return Record{}, fmt.Errorf(`turn %d: want "from" and "value"`, i)
		}
		if err := c.addShared(jsonval.StringOf(from), value.Text); err != nil {
			return Record{}, fmt.Errorf("turn %d: %w", i, err)
		}
	}
	if err := c.answered(); err != nil {
		return Record{}, err
	}
	s, err := c.sample()
	if err != nil {
		return Record{}, err
	}
	s.ID = id
	return Record{ID: id, Sample: s}, nil
}

func (c *conversation) addShared(from, value string) error {
	said := func(role midtool.Role) {
		c.messages = append(c.messages, message{role: role, content: value})
	}
	switch from {
	case "system":
		said(midtool.RoleSystem)
	case "human":
		said(midtool.RoleUser)
	case "gpt":
		said(midtool.RoleAssistant)
	case "function_call":
		v, err := jsonval.ParseNested([]byte(value), jsonval.LineDepth)
		if err != nil {
			return fmt.Errorf("calls: %w", err)
		}
		if v.Kind != jsonval.List {
			v = jsonval.NewList(v)
		}
		m := message{role: midtool.RoleAssistant}
		for i := range v.List {
			one, err := callFrom(&v.List[i])
			if err != nil {
				return err
			}
			m.calls = append(m.calls, one)
		}
		c.messages = append(c.messages, m)
	case "observation":
		calls := 0
		if n := len(c.messages); n > 0 {
			calls = len(c.messages[n-1].calls)
		}
		if calls < 2 {
			said(midtool.RoleTool)
			return nil
		}
		v, err := jsonval.ParseNested([]byte(value), jsonval.LineDepth)
		if err != nil {
			return fmt.Errorf("results: %w", err)
		}
		if v.Kind != jsonval.List || len(v.List) != calls {
			return fmt.Errorf("results: want a list of %d", calls)
		}
		for i := range v.List {
			text := v.List[i].Text
			if v.List[i].Kind != jsonval.String {
				text = v.List[i].Encode(jsonval.Display)
			}
			c.messages = append(c.messages, message{role: midtool.RoleTool, content: text})
		}
	default:
		return fmt.Errorf("unknown speaker %.40q", from)
	}
	return nil
}

package format

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A flavor is how one trainer wants the form of OpenAI.
type flavor struct {
	id         bool // "id" of the record
	strings    bool // arguments as a JSON string
	parameters bool // parameters of a tool as a JSON string
	tools      bool // the list of tools as a JSON string, empty for none
	train      bool // "train" in every message
	weight     bool // "weight": 0 in what is not learned
	calls      bool // "tool_calls" in every message
	names      bool // "name" of a result
	unmasked   bool // no way to say that a message is not learned
	alternates bool // requests and answers take turns
}

// full is the form in which a conversation that was read is handed to midtool.
var full = flavor{train: true, names: true}

// append writes a conversation as one JSON object.
func (f *flavor) append(dst []byte, id string, c *conversation) []byte {
	dst = append(dst, '{')
	if f.id {
		dst = append(appendPair(dst, "id", id), ',')
	}
	dst = append(dst, `"messages":[`...)
	for i := range c.messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.appendMessage(dst, &c.messages[i])
	}
	dst = append(dst, ']')
	switch {
	case f.tools && len(c.tools) == 0:
		dst = appendPair(append(dst, ','), "tools", "")
	case f.tools:
		dst = appendPair(append(dst, ','), "tools", string(f.appendTools(nil, c.tools, jsonval.Display)))
	case len(c.tools) > 0:
		dst = f.appendTools(append(dst, `,"tools":`...), c.tools, jsonval.Compact)
	}
	return append(dst, '}')
}

func appendPair(dst []byte, key, value string) []byte {
	return jsonval.AppendString(append(jsonval.AppendString(dst, key), ':'), value)
}

func (f *flavor) appendMessage(dst []byte, m *message) []byte {
	dst = appendPair(append(dst, '{'), "role", string(m.role))
	dst = appendPair(append(dst, ','), "content", m.content)
	if len(m.calls) > 0 || f.calls {
		dst = append(dst, `,"tool_calls":[`...)
		for i := range m.calls {
			c := &m.calls[i]
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPair(append(dst, '{'), "id", c.id)
			dst = append(dst, `,"type":"function","function":{`...)
			dst = append(appendPair(dst, "name", c.name), `,"arguments":`...)
			if f.strings {
				dst = jsonval.AppendString(dst, c.arguments.Encode(jsonval.Display))
			} else {
				dst = c.arguments.Append(dst, jsonval.Compact)
			}
			dst = append(dst, "}}"...)
		}
		dst = append(dst, ']')
	}
	if m.role == midtool.RoleTool {
		dst = appendPair(append(dst, ','), "tool_call_id", m.id)
		if f.names {
			dst = appendPair(append(dst, ','), "name", m.name)
		}
	}
	switch {
	case f.train && m.trained():
		dst = append(dst, `,"train":true`...)
	case f.train:
		dst = append(dst, `,"train":false`...)
	case f.weight && m.untrained:
		dst = append(dst, `,"weight":0`...)
	}
	return append(dst, '}')
}

func (f *flavor) appendTools(dst []byte, tools []tool, form jsonval.Form) []byte {
	list := jsonval.NewList()
	for i := range tools {
		t := &tools[i]
		parameters := t.parameters
		if f.parameters {
			parameters = jsonval.NewString(parameters.Encode(jsonval.Display))
		}
		list.List = append(list.List, jsonval.NewObject(
			jsonval.Pair("type", jsonval.NewString("function")),
			jsonval.Pair("function", jsonval.NewObject(jsonval.Pair("name", jsonval.NewString(t.name)),
				jsonval.Pair("description", jsonval.NewString(t.description)), jsonval.Pair("parameters", parameters)))))
	}
	return list.Append(dst, form)
}

// checkTurns says why a form in which requests and answers take turns has no place for a conversation.
func checkTurns(c *conversation) *SkipError {
	place := 0
	for i := range c.messages {
		m := &c.messages[i]
		switch m.role {
		case midtool.RoleSystem:
			if i > 0 || m.content == "" {
				return skip("system", "message %d: %.40q", i, m.content)
			}
			continue
		case midtool.RoleTool:
			if c.messages[i-1].role == midtool.RoleTool {
				continue // in one turn with the result before it
			}
		}
		if answer := m.role == midtool.RoleAssistant; answer != (place%2 == 1) {
			return skip("alternation", "message %d of %s stands at place %d of a row of requests and answers", i, m.role, place+1)
		}
		place++
	}
	if place == 0 || place%2 == 1 {
		return skip("alternation", "the last message is not an answer")
	}
	return nil
}

// readOpenAI reads a line of any flavor. It changes v.
func readOpenAI(v *jsonval.Value) (Record, error) {
	if err := plainFlavor(v); err != nil {
		return Record{}, err
	}
	s, err := readMessages(v.Bytes(jsonval.Compact))
	if err != nil {
		return Record{}, err
	}
	return Record{ID: s.ID, Source: s.Source, Sample: s}, nil
}

// plainFlavor turns what single flavors write as strings into objects, and a weight into what midtool reads.
func plainFlavor(v *jsonval.Value) error {
	if tools := v.Get("tools"); tools != nil {
		if err := unquote("tools", tools); err != nil {
			return err
		}
		for i := range tools.List {
			t := &tools.List[i]
			if f := t.Get("function"); f != nil {
				t = f
			}
			if p := t.Get("parameters"); p != nil {
				if err := unquote("parameters", p); err != nil {
					return err
				}
			}
		}
	}
	if messages := v.Get("messages"); messages != nil {
		for i := range messages.List {
			m := &messages.List[i]
			if w := m.Get("weight"); w != nil && w.Kind == jsonval.Number && jsonval.Sign(w.Text) == 0 {
				m.Set("train", jsonval.NewBool(false))
			}
		}
	}
	return nil
}

// unquote replaces a string by the JSON value in it, the empty one by null.
func unquote(key string, v *jsonval.Value) error {
	if v.Kind != jsonval.String {
		return nil
	}
	if v.Text == "" {
		*v = jsonval.Value{}
		return nil
	}
	inner, err := jsonval.ParseNested([]byte(v.Text), jsonval.LineDepth)
	if err != nil {
		return fmt.Errorf("%q: %w", key, err)
	}
	*v = inner
	return nil
}

// readMessages lets midtool read one line: it finds offers and makes the IDs of tools.
func readMessages(line []byte) (*midtool.Sample, error) {
	for s, err := range midtool.ReadMessages(bytes.NewReader(line), "") {
		if bad, ok := errors.AsType[*midtool.SyntaxError](err); ok {
			return nil, errors.New(bad.Rule)
		} else if err != nil {
			return nil, err
		}
		nameResults(&s)
		return &s, nil
	}
	return nil, errors.New("no conversation")
}

// nameResults gives each result without a name that of the tool that was called.
func nameResults(s *midtool.Sample) {
	var open []midtool.Call
	var names map[string]string // of open, by id
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.Role != midtool.RoleTool {
			open, names = m.Calls, nil
			continue
		}
		if m.Name != "" {
			continue
		}
		if names == nil {
			names = make(map[string]string, len(open))
			for _, c := range open {
				names[c.ID] = c.Name
			}
		}
		m.Name = names[m.CallID]
	}
}

// sample hands a conversation that was read to midtool.
func (c *conversation) sample() (*midtool.Sample, error) {
	return readMessages(full.append(nil, "", c))
}

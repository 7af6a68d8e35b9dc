package main

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
)

// clone copies all that a fault may change. Raw messages are shared: a fault puts new ones in their place.
func clone(s midtool.Sample) midtool.Sample {
	s.Tools = slices.Clone(s.Tools)
	s.Evidence = slices.Clone(s.Evidence)
	s.Messages = slices.Clone(s.Messages)
	for i := range s.Messages {
		s.Messages[i].Calls = slices.Clone(s.Messages[i].Calls)
		s.Messages[i].Offers = slices.Clone(s.Messages[i].Offers)
	}
	if s.Plan != nil {
		p := *s.Plan
		p.Calls, p.Withheld = slices.Clone(p.Calls), slices.Clone(p.Withheld)
		s.Plan = &p
	}
	return s
}

// A property is what the faults look at in the schema of an argument.
type property struct {
	Type     any   `json:"type"`
	Enum     []any `json:"enum"`
	Const    any   `json:"const"`
	Default  any   `json:"default"`
	Examples []any `json:"examples"`
}

// free says whether the schema names no values that a call may take without any support.
func (p *property) free() bool {
	return p.Enum == nil && p.Const == nil && p.Default == nil && p.Examples == nil
}

// A parameters is the top level of a tool's schema. A property that is more than a type and values (a union, a reference) is absent.
type parameters struct {
	Properties map[string]property
	Required   []string
	Closed     bool // other names are refused
}

func parametersOf(t *midtool.Tool) parameters {
	var raw struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional json.RawMessage            `json:"additionalProperties"`
	}
	out := parameters{Properties: make(map[string]property)}
	if json.Unmarshal(t.Parameters, &raw) != nil {
		return out
	}
	out.Required = raw.Required
	out.Closed = raw.Additional == nil || string(raw.Additional) == "false"
	for name, text := range raw.Properties {
		var p property
		if json.Unmarshal(text, &p) == nil && !bytes.Contains(text, []byte(`"$ref"`)) && !bytes.Contains(text, []byte(`Of"`)) {
			out.Properties[name] = p
		}
	}
	return out
}

// A place is one call of a sample.
type place struct {
	message, call int
	tool          *midtool.Tool
	parameters    parameters
	arguments     map[string]json.RawMessage
}

// names gives the arguments in a fixed order.
func (p *place) names() []string { return slices.Sorted(maps.Keys(p.arguments)) }

// trained yields the calls that are learned from and that answer to an offered tool.
func trained(s *midtool.Sample) iter.Seq[place] {
	return func(yield func(place) bool) {
		offered := make(map[string]*midtool.Tool)
		offer := func(tools []midtool.Tool) {
			for i := range tools {
				offered[tools[i].Name] = &tools[i]
			}
		}
		offer(s.Tools)
		for i, m := range s.Messages {
			offer(m.Offers)
			if m.Untrained {
				continue
			}
			for j, c := range m.Calls {
				p := place{message: i, call: j, tool: offered[c.Name]}
				if p.tool == nil || json.Unmarshal(c.Arguments, &p.arguments) != nil {
					continue
				}
				p.parameters = parametersOf(p.tool)
				if !yield(p) {
					return
				}
			}
		}
	}
}

// first is the first trained call.
func first(s *midtool.Sample) (place, bool) {
	for p := range trained(s) {
		return p, true
	}
	return place{}, false
}

// rewrite puts the arguments back, with one change.
func rewrite(s *midtool.Sample, p place, change func(arguments map[string]json.RawMessage)) {
	arguments := maps.Clone(p.arguments)
	change(arguments)
	s.Messages[p.message].Calls[p.call].Arguments = encode(arguments)
}

// argument picks an argument that fits among all of a sample.
func argument(r *rand.Rand, s *midtool.Sample, fits func(p *place, name string) bool) (place, string, bool) {
	type found struct {
		place
		name string
	}
	var all []found
	for p := range trained(s) {
		for _, name := range p.names() {
			if fits(&p, name) {
				all = append(all, found{p, name})
			}
		}
	}
	if len(all) == 0 {
		return place{}, "", false
	}
	f := all[r.IntN(len(all))]
	return f.place, f.name, true
}

// encode is JSON with raw '<', '>' and '&'.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // what is encoded here came from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

// say inserts a sentence before the end of a text, so that the text still ends as one.
func say(text, sentence string) string { return sentence + " " + text }

// text of a scalar as a sentence shows it.
func plain(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// scalars lists the strings and numbers in a value.
func scalars(value json.RawMessage) []string {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case len(value) == 0:
		return nil
	case value[0] == '[' && json.Unmarshal(value, &list) == nil:
	case value[0] == '{' && json.Unmarshal(value, &object) == nil:
		for _, key := range slices.Sorted(maps.Keys(object)) {
			list = append(list, object[key])
		}
	case value[0] == 't' || value[0] == 'f' || value[0] == 'n':
		return nil
	default:
		return []string{plain(value)}
	}
	var out []string
	for _, v := range list {
		out = append(out, scalars(v)...)
	}
	return out
}

// coin makes a word that no text has.
func coin(r *rand.Rand) string {
	var b strings.Builder
	for range 4 {
		b.WriteByte("bdfgklmnprstvz"[r.IntN(14)])
		b.WriteByte("aeiou"[r.IntN(5)])
	}
	b.WriteByte("kmnrtx"[r.IntN(6)])
	return b.String()
}

// toolWords splits a name as the checks do.
func toolWords(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' || r == ' ' })
}

// indexOf finds a message, or -1.
func indexOf(s *midtool.Sample, fits func(m *midtool.Message) bool) int {
	for i := range s.Messages {
		if fits(&s.Messages[i]) {
			return i
		}
	}
	return -1
}

func isUser(m *midtool.Message) bool   { return m.Role == midtool.RoleUser }
func isResult(m *midtool.Message) bool { return m.Role == midtool.RoleTool }

package components

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// A dataPath is a JSON pointer (RFC 6901) into what an observation shows: its Data and, where its Text is one JSON object or list, the
// value written there. The token "*" stands for every field of an object and every item of a list.
type dataPath []string

var pathEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// parsePath reads a pointer to something inside the data, so that the empty pointer is none.
func parsePath(pointer string) (dataPath, error) {
	if !strings.HasPrefix(pointer, "/") {
		return nil, fmt.Errorf("%q is no JSON pointer: it must begin with a slash", pointer)
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(t, "~0", ""), "~1", ""), "~") {
			return nil, fmt.Errorf("%q is no JSON pointer: a tilde must be written ~0", pointer)
		}
		tokens[i] = pathEscapes.Replace(t)
	}
	return tokens, nil
}

func parsePaths(pointers []string) ([]dataPath, error) {
	var errs []error
	paths := make([]dataPath, len(pointers))
	for i, p := range pointers {
		var err error
		paths[i], err = parsePath(p)
		errs = append(errs, err)
	}
	return paths, errors.Join(errs...)
}

// members is a JSON object that remembers the order of its fields, so that an edited text differs in nothing but the edit.
type members struct {
	keys   []string
	values map[string]any
}

func (m *members) set(key string, v any) {
	if _, ok := m.values[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.values[key] = v
}

func (m *members) remove(key string) {
	delete(m.values, key)
	m.keys = slices.DeleteFunc(m.keys, func(k string) bool { return k == key })
}

// readText decodes a text that is one JSON object or list, and what the harness put above it if a component further inside blocked the
// action.
func readText(text string) (above string, doc any, ok bool) {
	rest := text
	if strings.HasPrefix(text, "[blocked] ") {
		above, rest, _ = strings.Cut(text, "\n\n")
		above += "\n\n"
	}
	doc, ok = readDocument(rest)
	return above, doc, ok
}

// readDocument decodes one JSON object or list: objects become members and numbers keep their spelling.
func readDocument(text string) (any, bool) {
	if t := strings.TrimLeft(text, " \t\r\n"); t == "" || t[0] != '{' && t[0] != '[' {
		return nil, false
	}
	raw := []byte(text)
	if !json.Valid(raw) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return readValue(dec)
}

// readValue recurses no deeper than json.Valid does.
func readValue(dec *json.Decoder) (any, bool) {
	token, err := dec.Token()
	if err != nil {
		return nil, false
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, ok := readValue(dec)
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err == nil
	case json.Delim('{'):
		object := &members{values: map[string]any{}}
		for dec.More() {
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok {
				return nil, false
			}
			v, ok := readValue(dec)
			if !ok {
				return nil, false
			}
			object.set(name, v)
		}
		_, err = dec.Token()
		return object, err == nil
	}
	return token, true
}

func writeDocument(b []byte, v any) []byte {
	switch v := v.(type) {
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = writeDocument(b, e)
		}
		return append(b, ']')
	case *members:
		b = append(b, '{')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(writeDocument(b, k), ':')
			b = writeDocument(b, v.values[k])
		}
		return append(b, '}')
	case json.Number:
		return append(b, v...)
	}
	raw, _ := envharness.CanonicalJSON(v) // JSON values all
	return append(b, raw...)
}

type outcome uint8

const (
	kept outcome = iota
	replaced
	removed // an item of a list becomes null, so that the places of the others stay
)

// A visit decides about the value at a place. Numbers arrive as float64; objects as map[string]any or members.
type visit func(pointer string, v any) (any, outcome)

// editFields applies f at every place of the paths, in order, to Data and to a Text that is JSON. It changes no container in place.
func editFields(o *envharness.Observation, paths []dataPath, f visit) {
	for _, p := range paths {
		if data, changed := p.edit(o.Data, "", f); changed {
			o.Data, _ = data.(map[string]any)
		}
	}
	if len(paths) == 0 {
		return
	}
	above, doc, ok := readText(o.Text)
	if !ok {
		return
	}
	dirty := false
	for _, p := range paths {
		var changed bool
		doc, changed = p.edit(doc, "", f)
		dirty = dirty || changed
	}
	if dirty {
		o.Text = above + string(writeDocument(nil, doc))
	}
}

// edit returns v, which must be a container, with the edits of f below it, and whether there were any.
func (p dataPath) edit(v any, at string, f visit) (any, bool) {
	changed := false
	switch v := v.(type) {
	case map[string]any:
		out := v
		for _, key := range p.fields(slices.Sorted(maps.Keys(v))) {
			child, o := p.child(v[key], at, key, f)
			if o == kept {
				continue
			}
			if !changed {
				out, changed = maps.Clone(v), true
			}
			if out[key] = child; o == removed {
				delete(out, key)
			}
		}
		return out, changed
	case *members:
		out := v
		for _, key := range p.fields(v.keys) {
			child, o := p.child(v.values[key], at, key, f)
			if o == kept {
				continue
			}
			if !changed {
				out, changed = &members{slices.Clone(v.keys), maps.Clone(v.values)}, true
			}
			if out.set(key, child); o == removed {
				out.remove(key)
			}
		}
		return out, changed
	case []any:
		out := v
		for _, i := range p.items(len(v)) {
			child, o := p.child(v[i], at, strconv.Itoa(i), f)
			if o == kept || o == removed && v[i] == nil {
				continue
			}
			if !changed {
				out, changed = slices.Clone(v), true
			}
			if out[i] = child; o == removed {
				out[i] = nil
			}
		}
		return out, changed
	}
	return v, false
}

// child applies the rest of the path to the value of a field or item.
func (p dataPath) child(v any, at, key string, f visit) (any, outcome) {
	at += "/" + pointerEscapes.Replace(key)
	if len(p) > 1 {
		child, changed := p[1:].edit(v, at, f)
		if changed {
			return child, replaced
		}
		return v, kept
	}
	if n, ok := v.(json.Number); ok {
		x, err := n.Float64()
		if err != nil {
			return v, kept // out of range
		}
		v = x
	}
	return f(at, v)
}

func (p dataPath) fields(keys []string) []string {
	switch {
	case p[0] == "*":
		return slices.Clone(keys)
	case slices.Contains(keys, p[0]):
		return p[:1]
	}
	return nil
}

func (p dataPath) items(n int) []int {
	if p[0] == "*" {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	i, err := strconv.Atoi(p[0])
	if err != nil || i < 0 || i >= n || strconv.Itoa(i) != p[0] {
		return nil
	}
	return []int{i}
}

func ladder(rungs ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(rungs))
	for i, r := range rungs {
		out[i] = json.RawMessage(r)
	}
	return out
}

package openapisource

import (
	"slices"
	"strconv"
	"strings"
)

// maxDefs bounds the definitions that go with one schema, in bytes. The whole of an API is often reachable from one of its
// schemas.
const maxDefs = 64 << 10

// A bundle writes schemas of a document so that they stand alone: what they refer to comes along under "$defs".
type bundle struct {
	doc   *document
	names map[*node]string // in "$defs"
	taken map[string]int   // names, and how many were derived from each
	queue []*node          // definitions, in the order in which they are first referred to
	lossy []string
	work  int // bytes written in all
}

func newBundle(d *document) *bundle {
	return &bundle{doc: d, names: make(map[*node]string), taken: make(map[string]int)}
}

// schema appends a schema. The members of extra, which are whole JSON members with their keys, take the place of its own
// with these keys.
func (b *bundle) schema(dst []byte, n *node, extra ...member) ([]byte, *fault) {
	switch {
	case n.is(boolean) && n.text == "true" && len(extra) > 0 || n == nil:
		n = &node{kind: object}
	case n.kind != object:
		return n.appendJSON(dst), nil // Normalize knows what to do with it
	}
	dst = append(dst, '{')
	start := len(dst)
	next := func(key string) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, key), ':')
	}
	for i, key := range n.keys {
		if slices.ContainsFunc(extra, func(m member) bool { return m.key == key }) || leftOut(key) {
			continue
		}
		value := n.items[i]
		var f *fault
		switch {
		case key == "$ref":
			if !value.is(text) {
				continue
			}
			var name string
			if name, f = b.define(n); f == nil {
				next(key)
				dst = appendString(dst, "#/$defs/"+name)
			}
		case key == "example":
			if n.get("examples") == nil && !slices.ContainsFunc(extra, func(m member) bool { return m.key == "examples" }) {
				next("examples")
				dst = append(value.appendJSON(append(dst, '[')), ']')
			}
		case isMap(key) && value.kind == object:
			next(key)
			dst, f = b.named(dst, value)
		case isList(key) && value.kind == list:
			next(key)
			dst = append(dst, '[')
			for j := 0; j < len(value.items) && f == nil; j++ {
				if j > 0 {
					dst = append(dst, ',')
				}
				dst, f = b.schema(dst, value.items[j])
			}
			dst = append(dst, ']')
		case isSchema(key) && value.kind == object:
			next(key)
			dst, f = b.schema(dst, value)
		default:
			next(key)
			dst = value.appendJSON(dst)
		}
		if f != nil {
			return dst, f
		}
	}
	for _, m := range extra {
		next(m.key)
		dst = append(dst, m.value...)
	}
	return append(dst, '}'), nil
}

// A member is a key with a value in JSON.
type member struct {
	key   string
	value []byte
}

// named appends a map of names to schemas.
func (b *bundle) named(dst []byte, n *node) ([]byte, *fault) {
	dst = append(dst, '{')
	for i, key := range n.keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		var f *fault
		if dst, f = b.schema(append(appendString(dst, key), ':'), n.items[i]); f != nil {
			return dst, f
		}
	}
	return append(dst, '}'), nil
}

// leftOut holds for what says nothing to JSON Schema, and for definitions, which are found by the references to them.
func leftOut(key string) bool {
	switch key {
	case "discriminator", "xml", "externalDocs", "collectionFormat", "$defs", "definitions", "$schema", "$id", "id", "$comment":
		return true
	}
	return strings.HasPrefix(key, "x-")
}

func isMap(key string) bool {
	return key == "properties" || key == "patternProperties" || key == "dependentSchemas"
}

func isList(key string) bool {
	return key == "allOf" || key == "anyOf" || key == "oneOf" || key == "prefixItems" || key == "items"
}

func isSchema(key string) bool {
	switch key {
	case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties",
		"unevaluatedItems", "additionalItems", "contentSchema":
		return true
	}
	return false
}

// define names the definition that a reference leads to.
func (b *bundle) define(n *node) (string, *fault) {
	target, ref, f := b.doc.follow(n)
	if f != nil {
		return "", f
	}
	if target.kind != object && target.kind != boolean {
		return "", &fault{"bad_ref", ref + " is no schema"}
	}
	name, known := b.names[target]
	if known {
		return name, nil
	}
	base := plain(ref[strings.LastIndexByte(ref, '/')+1:])
	if base == "" {
		base = "schema"
	}
	name = base
	for b.taken[name] > 0 {
		b.taken[base]++
		name = base + "_" + strconv.Itoa(b.taken[base])
	}
	b.taken[name], b.names[target] = 1, name
	b.queue = append(b.queue, target)
	return name, nil
}

// plain keeps the letters, digits and marks that need no escape in a pointer.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, s)
}

// defs appends the definitions that are referred to, as a member behind others, and nothing if there are none. Those
// beyond [maxDefs] accept everything: the nearest come first, so what is lost is what is far away.
func (b *bundle) defs(dst []byte) ([]byte, *fault) {
	first := len(dst)
	for at := 0; at < len(b.queue); at++ {
		if at == 0 {
			dst = append(dst, `,"$defs":{`...)
		} else {
			dst = append(dst, ',')
		}
		target := b.queue[at]
		dst = append(appendString(dst, b.names[target]), ':')
		start, known := len(dst), len(b.queue)
		var f *fault
		if dst, f = b.schema(dst, target); f != nil {
			return dst, f
		}
		b.work += len(dst) - start
		if len(dst)-first > maxDefs {
			dst = append(dst[:start], "{}"...)
			for _, n := range b.queue[known:] { // only what was cut refers to them
				delete(b.names, n)
			}
			b.queue = b.queue[:known]
			b.lossy = append(b.lossy, "reference_cut:"+b.names[target])
		}
	}
	if len(b.queue) > 0 {
		dst = append(dst, '}')
	}
	return dst, nil
}

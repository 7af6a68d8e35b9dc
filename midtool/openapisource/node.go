package openapisource

import (
	"encoding/json"
	"slices"
	"strings"
)

// kind is what a node holds.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

// A node is one value of a document, of JSON and of YAML alike. It is not changed once it is made.
type node struct {
	kind  kind
	line  int            // 1-based, where the value starts
	text  string         // of a scalar: a number as it is written, in JSON; "true" or "false"
	items []*node        // of a list, and the values of an object
	keys  []string       // of an object, one for each of items
	index map[string]int // of keys, for a large object
}

// indexedFrom is the number of keys from which a map is faster than a search.
const indexedFrom = 16

// add appends a member to an object. Of equal keys the last value counts, in the place of the first.
func (n *node) add(key string, value *node) {
	at, known := n.index[key]
	if n.index == nil {
		at = slices.Index(n.keys, key)
		known = at >= 0
	}
	if known {
		n.items[at] = value
		return
	}
	n.keys, n.items = append(n.keys, key), append(n.items, value)
	switch {
	case n.index != nil:
		n.index[key] = len(n.keys) - 1
	case len(n.keys) == indexedFrom:
		n.index = make(map[string]int, 2*indexedFrom)
		for i, k := range n.keys {
			n.index[k] = i
		}
	}
}

// get returns the value of a key, nil for none and for what is no object.
func (n *node) get(key string) *node {
	if n == nil || n.kind != object {
		return nil
	}
	i, ok := n.index[key]
	if n.index == nil {
		i = slices.Index(n.keys, key)
		ok = i >= 0
	}
	if !ok {
		return nil
	}
	return n.items[i]
}

// is holds for a value of the kind; nil is none.
func (n *node) is(k kind) bool { return n != nil && n.kind == k }

// isTrue holds for the boolean, and for the word that some write in its place.
func (n *node) isTrue() bool {
	return n != nil && (n.kind == boolean || n.kind == text) && n.text == "true"
}

// string returns the text of a scalar without the space around it, empty for anything else. Versions and names that look
// like numbers come without quotes in YAML.
func (n *node) string() string {
	if n.is(text) || n.is(number) {
		return strings.TrimSpace(n.text)
	}
	return ""
}

// appendJSON writes the value.
func (n *node) appendJSON(dst []byte) []byte {
	switch n.kind {
	case null:
		return append(dst, "null"...)
	case boolean, number:
		return append(dst, n.text...)
	case text:
		return appendString(dst, n.text)
	case list:
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, item := range n.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item.appendJSON(append(appendString(dst, n.keys[i]), ':'))
	}
	return append(dst, '}')
}

func appendString(dst []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		return append(dst, `""`...) // of a string there is no error
	}
	return append(dst, quoted...)
}

// Package jsonpointer reads places in JSON values named by pointers (RFC 6901), and sets them.
package jsonpointer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Below reports whether a pointer is the other one or points into what that points to.
func Below(pointer, parent string) bool {
	_, ok := Cut(pointer, parent)
	return ok
}

// Cut returns what a pointer goes on with after another one.
func Cut(pointer, parent string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(pointer, parent)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// badEscape finds a tilde that escapes nothing (RFC 6901 has ~0 and ~1).
var badEscape = regexp.MustCompile(`~([^01]|$)`)

// BadEscape returns the first escape in a pointer that is none, or nothing.
func BadEscape(pointer string) string { return badEscape.FindString(pointer) }

// Escape writes a key as a token of a pointer.
func Escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// Unescape reads a token of a pointer.
func Unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Index reads a token as the index of one of n items, in the one form that there is.
func Index(token string, n int) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && i < n && strconv.Itoa(i) == token
}

// Patch sets values in a decoded document and returns it, the pointers in ascending order. What a pointer names must exist. The document is
// written to, after an error as well.
func Patch(doc any, set map[string]json.RawMessage) (any, error) {
	for _, p := range slices.Sorted(maps.Keys(set)) {
		value, err := Decode(set[p])
		if err != nil {
			return nil, fmt.Errorf("value of %q: %w", p, err)
		}
		if doc, err = setAt(doc, p, value); err != nil {
			return nil, fmt.Errorf("%q: %w", p, err)
		}
	}
	return doc, nil
}

// Decode decodes one JSON value and keeps numbers as they are written.
func Decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if !json.Valid(raw) {
		return nil, errors.New("there is more after the JSON value")
	}
	return v, nil
}

// setAt replaces what is at a pointer.
func setAt(doc any, pointer string, v any) (any, error) {
	if pointer == "" {
		return v, nil
	}
	if pointer[0] != '/' {
		return nil, errors.New("a JSON pointer begins with a slash")
	}
	token, rest, more := strings.Cut(pointer[1:], "/")
	if more {
		rest = "/" + rest
	}
	if bad := BadEscape(token); bad != "" {
		return nil, fmt.Errorf("%q is no escape of a JSON pointer", bad)
	}
	token = Unescape(token)
	switch d := doc.(type) {
	case map[string]any:
		child, ok := d[token]
		if !ok {
			return nil, fmt.Errorf("there is no field %q", token)
		}
		child, err := setAt(child, rest, v)
		if err != nil {
			return nil, err
		}
		d[token] = child
		return d, nil
	case []any:
		i, ok := Index(token, len(d))
		if !ok {
			return nil, fmt.Errorf("there is no item %q among %d", token, len(d))
		}
		child, err := setAt(d[i], rest, v)
		if err != nil {
			return nil, err
		}
		d[i] = child
		return d, nil
	}
	return nil, fmt.Errorf("there is nothing below a value at %q", token)
}

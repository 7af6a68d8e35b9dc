package envharness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// patch sets values in the base's state at the start: it takes a snapshot, edits it and restores it.
func (h *Harness) patch(ctx context.Context, set map[string]json.RawMessage) error {
	args, err := CanonicalJSON(set)
	if err != nil {
		return err
	}
	if err := h.desc.allows(set); err != nil {
		return err
	}
	if h.snapshotter == nil || h.observer == nil {
		return errors.New("setting values needs an environment that is a Snapshotter and an Observer")
	}
	h.public = nil
	err = h.callBase("patch", func() error { return applyPatch(ctx, h.snapshotter, set) })
	if err != nil {
		return err
	}
	obs, err := h.observe(ctx)
	if err != nil {
		return err
	}
	_, err = h.record(LogPatch, Action{Name: string(LogPatch), Args: args}, Transition{Observation: obs})
	return err
}

// allows refuses to set what the environment does not declare mutable, and what it declares graded.
func (d Description) allows(set map[string]json.RawMessage) error {
	for _, p := range slices.Sorted(maps.Keys(set)) {
		if !slices.ContainsFunc(d.Mutable, func(m string) bool { return below(p, m) }) {
			return fmt.Errorf("%q is not declared mutable", p)
		}
		for _, g := range d.Graded {
			if path := "/" + escapeToken(g); below(p, path) || below(path, p) {
				return fmt.Errorf("%q is graded", p)
			}
		}
	}
	return nil
}

// below reports whether a JSON pointer is the other one or points into what that points to.
func below(pointer, parent string) bool {
	_, ok := cutPointer(pointer, parent)
	return ok
}

// cutPointer returns what a JSON pointer goes on with after another one.
func cutPointer(pointer, parent string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(pointer, parent)
	return rest, ok && (rest == "" || rest[0] == '/')
}

func applyPatch(ctx context.Context, s Snapshotter, set map[string]json.RawMessage) error {
	snap, err := s.Snapshot(ctx)
	if err != nil {
		return baseFailed(fmt.Errorf("snapshot: %w", err))
	}
	doc, err := decodeNumbers(snap)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	for _, p := range slices.Sorted(maps.Keys(set)) {
		v, err := decodeNumbers(set[p])
		if err != nil {
			return fmt.Errorf("value of %q: %w", p, err)
		}
		if doc, err = setAt(doc, p, v); err != nil {
			return fmt.Errorf("%q: %w", p, err)
		}
	}
	if snap, err = CanonicalJSON(doc); err != nil {
		return err
	}
	if err := s.Restore(ctx, snap); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// decodeNumbers decodes JSON and keeps numbers as they are written.
func decodeNumbers(raw []byte) (any, error) {
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

// setAt replaces what is at a JSON pointer (RFC 6901), which must exist.
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
	if bad := badEscape.FindString(token); bad != "" {
		return nil, fmt.Errorf("%q is no escape of a JSON pointer", bad)
	}
	token = unescapeToken(token)
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
		i, ok := index(token, len(d))
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

// index reads a token as the index of one of n items, in the one form that there is.
func index(token string, n int) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && i < n && strconv.Itoa(i) == token
}

// badEscape finds a tilde that escapes nothing (RFC 6901 has ~0 and ~1).
var badEscape = regexp.MustCompile(`~([^01]|$)`)

func escapeToken(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

func unescapeToken(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}

package mcpenv

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/jsonpointer"
	"github.com/throughline-go/throughline/internal/mcpclient"
)

// graded is the one field of a state, below which is what the read tool shows: so it can be declared graded, whatever fields that has.
const graded = "world"

// readState makes a state of a result: the structured content, or else the text if it is JSON, or else a string with the text.
func (w *world) readState(r *mcpclient.Result) (envharness.State, error) {
	shown := r.Structured
	if shown == nil {
		if shown = json.RawMessage(r.Text); !json.Valid(shown) {
			shown, _ = json.Marshal(r.Text) // a string always has a JSON form
		}
	}
	canonical, err := w.canonical(shown)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"`+graded+`":`), canonical, []byte("}")), nil
}

// stateOf returns what the read tool showed, of the evidence.
func (w *world) stateOf(s envharness.State) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(s, &fields); err != nil {
		return nil, err
	}
	if fields[graded] == nil {
		return nil, errors.New("the evidence holds no state")
	}
	return w.canonical(fields[graded])
}

// canonical returns the one form of a state that is compared: canonical JSON with unordered lists sorted.
func (w *world) canonical(raw json.RawMessage) (json.RawMessage, error) {
	v, err := jsonpointer.Decode(raw)
	if err != nil {
		return nil, err
	}
	if err := w.unordered.sort(v); err != nil {
		return nil, err
	}
	return envharness.CanonicalJSON(v)
}

// unordered knows the lists whose order means nothing, as paths whose tokens may be any.
type unordered struct {
	objects bool // all that hold objects alone, whatever their path
	paths   [][]string
}

// anyToken stands for each key or index.
const anyToken = "*"

func newUnordered(pointers []string) unordered {
	u := unordered{objects: pointers == nil}
	for _, p := range pointers {
		tokens := strings.Split(p, "/")[1:] // nothing is before the first slash; the empty pointer has no token
		for i, t := range tokens {
			tokens[i] = jsonpointer.Unescape(t)
		}
		u.paths = append(u.paths, tokens)
	}
	return u
}

// sort sorts in place. Lists are sorted by the canonical form of their elements, in which the lists within are sorted before.
func (u unordered) sort(v any) error { return u.sortBelow(v, u.paths) }

// sortBelow sorts v, to which the rest of each path leads.
func (u unordered) sortBelow(v any, paths [][]string) error {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			if err := u.sortBelow(e, below(paths, func(token string) bool { return token == key })); err != nil {
				return err
			}
		}
	case []any:
		objects := u.objects
		for i, e := range v {
			here := below(paths, func(token string) bool { at, ok := jsonpointer.Index(token, len(v)); return ok && at == i })
			if err := u.sortBelow(e, here); err != nil {
				return err
			}
			_, isObject := e.(map[string]any)
			objects = objects && isObject
		}
		if objects || slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 }) {
			return sortList(v)
		}
	}
	return nil
}

// below returns the rest of the paths whose first token is one of an element.
func below(paths [][]string, is func(token string) bool) [][]string {
	var rest [][]string
	for _, p := range paths {
		if len(p) > 0 && (p[0] == anyToken || is(p[0])) {
			rest = append(rest, p[1:])
		}
	}
	return rest
}

func sortList(list []any) error {
	type keyed struct {
		key string
		v   any
	}
	all := make([]keyed, len(list))
	for i, v := range list {
		key, err := envharness.CanonicalJSON(v)
		if err != nil {
			return err
		}
		all[i] = keyed{string(key), v}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	for i, k := range all {
		list[i] = k.v
	}
	return nil
}

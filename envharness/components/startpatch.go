package components

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// StartPatch sets values in the state of the base before the first turn. The base must be a Snapshotter and an Observer, and every place
// must exist, be declared mutable and not be graded, else the reset fails.
//
// Tag start_patch, axis S0; the params are the struct. It is sound if the state that results is one that the base could be in and a
// solution from there exists.
type StartPatch struct {
	Set map[string]json.RawMessage `json:"set,omitempty"` // new values by JSON pointer into the snapshot; empty changes nothing
}

// Spec implements [envharness.Component].
func (s StartPatch) Spec() envharness.ComponentSpec {
	return spec("start_patch", envharness.AxisStart, s)
}

// Check reports a pointer that cannot be read, one that is below another one, and values that are not JSON.
func (s StartPatch) Check() error {
	var errs []error
	for _, p := range slices.Sorted(maps.Keys(s.Set)) {
		_, err := parsePath(p)
		errs = append(errs, err)
		if !json.Valid(s.Set[p]) {
			errs = append(errs, fmt.Errorf("value of %q is not JSON", p))
		}
		for other := range s.Set {
			if strings.HasPrefix(p, other+"/") {
				errs = append(errs, fmt.Errorf("%q is set as a part of %q", p, other))
			}
		}
	}
	return errors.Join(errs...)
}

// Begin implements [envharness.Component]. It refuses a place that the base does not declare mutable, or declares graded.
func (s StartPatch) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	if len(s.Set) == 0 {
		return envharness.Hooks{}, nil
	}
	for _, p := range slices.Sorted(maps.Keys(s.Set)) {
		if !slices.ContainsFunc(e.Base().Mutable, func(m string) bool { return atOrBelow(p, m) }) {
			return envharness.Hooks{}, fmt.Errorf("%q is not declared mutable", p)
		}
		for _, g := range e.Base().Graded {
			if atOrBelow(p, "/"+pointerEscapes.Replace(g)) {
				return envharness.Hooks{}, fmt.Errorf("%q is graded", p)
			}
		}
	}
	return envharness.Hooks{Start: func(context.Context, envharness.View) ([]envharness.StartEdit, error) {
		set := make(map[string]json.RawMessage, len(s.Set))
		for p, v := range s.Set {
			set[p] = bytes.Clone(v)
		}
		return []envharness.StartEdit{{Set: set}}, nil
	}}, nil
}

func atOrBelow(pointer, parent string) bool {
	rest, ok := strings.CutPrefix(pointer, parent)
	return ok && (rest == "" || rest[0] == '/')
}

func startPatchKind() Kind {
	return Kind{
		Tag:       "start_patch",
		Version:   1,
		Axis:      envharness.AxisStart,
		Direction: Harder | Easier,
		Sound:     "The patched state is one that the base could be in, no graded place is set, and a solution from there exists.",
		Schema:    objectSchema("", `"set":{"type":"object","propertyNames":{"pattern":"^/"}}`),
		New:       build[StartPatch],
	}
}

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

// String says in words what the component does with its parameters.
func (s StartPatch) String() string {
	if len(s.Set) == 0 {
		return unchanged
	}
	var changes []string
	for i, p := range slices.Sorted(maps.Keys(s.Set)) {
		is := ""
		if i == 0 {
			is = " is set"
		}
		changes = append(changes, word(p)+is+" to "+shorten(string(s.Set[p])))
	}
	return "before the first turn " + list("and", changes)
}

// Begin implements [envharness.Component]. The harness refuses a place that the base does not declare mutable, or declares graded.
func (s StartPatch) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	if len(s.Set) == 0 {
		return envharness.Hooks{}, nil
	}
	return envharness.Hooks{Start: func(context.Context, envharness.View) ([]envharness.StartEdit, error) {
		set := make(map[string]json.RawMessage, len(s.Set))
		for p, v := range s.Set {
			set[p] = bytes.Clone(v)
		}
		return []envharness.StartEdit{{Set: set}}, nil
	}}, nil
}

func startPatchKind() Kind {
	return Kind{
		Tag:       "start_patch",
		Version:   1,
		Axis:      envharness.AxisStart,
		Direction: Harder | Easier,
		About:     "sets values in the state before the first turn",
		Sound:     "The patched state is one that the base could be in, no graded place is set, and a solution from there exists.",
		Schema:    objectSchema("", `"set":{"type":"object","propertyNames":{"pattern":"^/"}}`),
		New:       build[StartPatch],
	}
}

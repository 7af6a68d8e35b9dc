package envharness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// The copies below are deep and share nothing with what they were made from. Copying an environment's answer checks it as well, so that
// all the harness keeps is made of JSON values.

// copyValue reports whether v is a JSON value; see jsonFault for what is wrong with it.
func copyValue(v any, depth int) (any, bool) {
	if depth > maxDepth {
		return nil, false
	}
	switch v := v.(type) {
	case nil, bool, string:
		return v, true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case []any:
		if v == nil {
			return nil, true
		}
		out := make([]any, len(v))
		for i, e := range v {
			var ok bool
			if out[i], ok = copyValue(e, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	case map[string]any:
		if v == nil {
			return nil, true
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			c, ok := copyValue(e, depth+1)
			if !ok {
				return nil, false
			}
			out[k] = c
		}
		return out, true
	}
	return nil, false
}

// jsonFault says why copyValue refuses v. It goes through objects in the order of their keys, so that the same fault is always the one
// reported.
func jsonFault(v any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil, bool, string:
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is not a JSON number", v)
		}
	case []any:
		for i, e := range v {
			if err := jsonFault(e, depth+1); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err := jsonFault(v[k], depth+1); err != nil {
				return fmt.Errorf("field %q: %w", k, err)
			}
		}
	default:
		return fmt.Errorf("type %T is not a JSON value", v)
	}
	return nil
}

func copyObject(m map[string]any) (map[string]any, error) {
	c, ok := copyValue(m, 0)
	if !ok {
		return nil, jsonFault(m, 0)
	}
	return c.(map[string]any), nil
}

func copyObservation(o Observation) (Observation, error) {
	err := ownObservation(&o)
	return o, err
}

func copyTransition(t Transition) (Transition, error) {
	err := ownTransition(&t)
	return t, err
}

// ownObservation replaces all that o shares with others by copies.
func ownObservation(o *Observation) error {
	if o.Data != nil {
		data, err := copyObject(o.Data)
		if err != nil {
			return fmt.Errorf("observation data: %w", err)
		}
		o.Data = data
	}
	if o.Actions != nil {
		o.Actions = copyActions(o.Actions)
	}
	return nil
}

// ownTransition replaces all that t shares with others by copies.
func ownTransition(t *Transition) error {
	if err := ownObservation(&t.Observation); err != nil {
		return err
	}
	if t.Info != nil {
		info, err := copyObject(t.Info)
		if err != nil {
			return fmt.Errorf("info: %w", err)
		}
		t.Info = info
	}
	if math.IsNaN(t.Reward) || math.IsInf(t.Reward, 0) {
		return fmt.Errorf("reward %v is not finite", t.Reward)
	}
	if t.Error != nil {
		t.Error = copyError(t.Error)
	}
	return nil
}

func copyError(e *ActionError) *ActionError {
	if e == nil {
		return nil
	}
	return new(*e)
}

func copyAction(a Action) Action { return Action{Name: a.Name, Args: bytes.Clone(a.Args)} }

// copyActions takes two allocations, however long the list: worlds that enumerate what is admissible show dozens each turn.
func copyActions(as []Action) []Action {
	size := 0
	for i := range as {
		size += len(as[i].Args)
	}
	as = slices.Clone(as)
	buf := make([]byte, 0, size)
	for i, a := range as {
		if a.Args == nil {
			continue
		}
		at := len(buf)
		buf = append(buf, a.Args...)
		as[i].Args = json.RawMessage(buf[at:len(buf):len(buf)])
	}
	return as
}

// copyTools takes two allocations as well.
func copyTools(ts []Tool) []Tool {
	size := 0
	for i := range ts {
		size += len(ts[i].Schema)
	}
	ts = slices.Clone(ts)
	buf := make([]byte, 0, size)
	for i, t := range ts {
		if t.Schema == nil {
			continue
		}
		at := len(buf)
		buf = append(buf, t.Schema...)
		ts[i].Schema = json.RawMessage(buf[at:len(buf):len(buf)])
	}
	return ts
}

func copyDescription(d Description) Description {
	d.Tools = copyTools(d.Tools)
	d.Graded, d.Mutable, d.Volatile = slices.Clone(d.Graded), slices.Clone(d.Mutable), slices.Clone(d.Volatile)
	d.Refusals, d.Vocabulary = slices.Clone(d.Refusals), slices.Clone(d.Vocabulary)
	return d
}

func copyEntry(e LogEntry) LogEntry {
	e.Action = copyAction(e.Action)
	e.Transition, _ = copyTransition(e.Transition) // checked when it was logged
	return e
}

func copyTask(t Task) Task {
	t.Options = bytes.Clone(t.Options)
	if t.Seed != nil {
		t.Seed = new(*t.Seed)
	}
	return t
}

func sameObservation(a, b Observation) bool {
	return a.Text == b.Text && sameObject(a.Data, b.Data) &&
		(a.Actions == nil) == (b.Actions == nil) && slices.EqualFunc(a.Actions, b.Actions, sameAction)
}

func sameAction(a, b Action) bool { return a.Name == b.Name && bytes.Equal(a.Args, b.Args) }

// sameObject compares JSON objects; one that is nil is the same as an empty one.
func sameObject(a, b map[string]any) bool { return maps.EqualFunc(a, b, sameValue) }

// sameValue compares JSON values. Null, which is also what a nil list or map becomes, is the same as an empty one: Go programs clear a list
// for its second use where they found none at the first.
func sameValue(a, b any) bool {
	if a == nil {
		a, b = b, a
	}
	if b == nil {
		return isNone(a)
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sameObject(a, b)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false // neither can be compared with ==
	}
	return a == b
}

func isNone(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func sameTool(a, b Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && a.ReadOnly == b.ReadOnly && a.Submits == b.Submits &&
		bytes.Equal(a.Schema, b.Schema)
}

package envharness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A cloner makes deep copies and checks on the way that they are JSON values. A recording one also brings them into the form that
// survives writing and reading as JSON.
type cloner struct{ record bool }

func (c cloner) text(s string) string {
	if c.record {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

func (c cloner) value(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case string:
		return c.text(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is not a JSON number", v)
		}
		return v, nil
	case []any:
		if v == nil {
			return nil, nil
		}
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = c.value(e, depth+1); err != nil {
				return nil, fmt.Errorf("item %d: %w", i, err)
			}
		}
		return out, nil
	case map[string]any:
		if v == nil {
			return nil, nil
		}
		return c.object(v, depth)
	}
	return nil, fmt.Errorf("type %T is not a JSON value", v)
}

func (c cloner) object(m map[string]any, depth int) (map[string]any, error) {
	if m == nil {
		return nil, nil
	}
	out := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) { // sorted, so that the same fault is always the one reported
		var err error
		if out[c.text(k)], err = c.value(m[k], depth+1); err != nil {
			return nil, fmt.Errorf("field %q: %w", k, err)
		}
	}
	return out, nil
}

func (c cloner) observation(o Observation) (Observation, error) {
	data, err := c.object(o.Data, 0)
	if err != nil {
		return Observation{}, fmt.Errorf("observation data: %w", err)
	}
	return Observation{Text: c.text(o.Text), Data: data, Actions: c.actions(o.Actions)}, nil
}

func (c cloner) transition(t Transition) (Transition, error) {
	var err error
	if t.Observation, err = c.observation(t.Observation); err != nil {
		return Transition{}, err
	}
	if t.Info, err = c.object(t.Info, 0); err != nil {
		return Transition{}, fmt.Errorf("info: %w", err)
	}
	if math.IsNaN(t.Reward) || math.IsInf(t.Reward, 0) {
		return Transition{}, fmt.Errorf("reward %v is not finite", t.Reward)
	}
	t.Error = c.actionError(t.Error)
	t.Reason = c.text(t.Reason)
	return t, nil
}

func (c cloner) actionError(e *ActionError) *ActionError {
	if e == nil {
		return nil
	}
	return &ActionError{Class: ErrorClass(c.text(string(e.Class))), Message: c.text(e.Message), Retryable: e.Retryable}
}

func (c cloner) action(a Action) Action {
	return Action{Name: c.text(a.Name), Args: c.raw(a.Args)}
}

func (c cloner) raw(doc json.RawMessage) json.RawMessage {
	if !c.record {
		return bytes.Clone(doc)
	}
	if len(doc) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, doc) != nil || !utf8.Valid(b.Bytes()) {
		return appendString(nil, string(doc)) // not JSON: the text is all that can be kept
	}
	return b.Bytes()
}

func (c cloner) actions(as []Action) []Action {
	as = slices.Clone(as)
	for i := range as {
		as[i] = c.action(as[i])
	}
	return as
}

func cloneTools(ts []Tool) []Tool {
	ts = slices.Clone(ts)
	for i := range ts {
		ts[i].Schema = bytes.Clone(ts[i].Schema)
	}
	return ts
}

func (c cloner) entry(e LogEntry) LogEntry {
	e.Action = c.action(e.Action)
	e.Transition, _ = c.transition(e.Transition) // checked when it was logged
	return e
}

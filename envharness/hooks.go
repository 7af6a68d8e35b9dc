package envharness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// view shows the present situation to a hook.
func (h *Harness) view(ctx context.Context) View {
	turn := max(h.turn-1, 0) // the running turn is already counted; there is none during a reset
	return View{Turn: turn, Left: h.left(turn), Stepped: h.stepped, ctx: ctx, h: h, shown: &h.shown}
}

// publicState returns a copy of the base's state without the graded fields.
func (h *Harness) publicState(ctx context.Context) (State, error) {
	if h.stater == nil {
		return nil, nil
	}
	if h.public == nil {
		st, err := h.readPublic(ctx)
		if err != nil {
			if h.stateErr == nil {
				h.stateErr = err
			}
			return nil, err
		}
		h.public = st
	}
	return bytes.Clone(h.public), nil
}

// readPublic returns the base's state without the graded fields.
func (h *Harness) readPublic(ctx context.Context) (State, error) {
	if h.chain != nil {
		s, err := h.chain.public(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(s)
	}
	st, err := h.readState(ctx)
	if err != nil || len(h.desc.Graded) == 0 {
		return st, err
	}
	return withoutFields(st, h.desc.Graded)
}

func withoutFields(st State, names []string) (State, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(st, &fields); err != nil {
		return nil, err
	}
	for _, n := range names {
		delete(fields, n)
	}
	return json.Marshal(fields)
}

// readState returns a copy of the base's full state, nil without a [Stater].
func (h *Harness) readState(ctx context.Context) (State, error) {
	st, err := h.peekState(ctx)
	return bytes.Clone(st), err // the environment may write its buffer again
}

// peekState is readState without the copy.
func (h *Harness) peekState(ctx context.Context) (State, error) {
	if h.stater == nil {
		return nil, nil
	}
	st, err := watched(h.watch, site{kind: siteBase, call: "state"}, func() (State, error) { return h.stater.State(ctx) })
	if err != nil {
		return nil, err
	}
	if t := bytes.TrimSpace(st); len(t) < 2 || t[0] != '{' || t[len(t)-1] != '}' { // the rest is for whoever decodes it to check
		return nil, errors.New("state is not a JSON object")
	}
	return st, nil
}

// observe returns the raw present observation, which is not to be changed.
func (h *Harness) observe(ctx context.Context) (Observation, error) {
	if h.observer != nil {
		o, err := watched(h.watch, site{kind: siteBase, call: "observe"}, func() (Observation, error) { return h.observer.Observe(ctx) })
		if err == nil {
			o, err = copyObservation(o)
		}
		if err != nil {
			return Observation{}, h.fault(ctx, EndEnvError, "observe", err)
		}
		return o, nil
	}
	for _, e := range slices.Backward(h.log) {
		if e.Kind != LogRewind {
			return e.Transition.Observation, nil
		}
	}
	return Observation{}, nil
}

// decide asks level i about an action.
func (h *Harness) decide(ctx context.Context, i int, a Action) (ActionEdit, error) {
	l := &h.levels[i]
	v := h.view(ctx)
	e, err := watched(h.watch, site{siteHook, l.spec.ID, "action"}, func() (ActionEdit, error) {
		return l.hooks.Action(ctx, v, copyAction(a))
	})
	if err != nil || h.stateErr != nil {
		return ActionEdit{}, h.hookFault(ctx, i, "action", err)
	}
	if h.recording && e.kind != editPass {
		c := h.change(i)
		c.Edit, c.Reason, c.ActionIn = e.kind.String(), e.reason, new(a)
		if e.kind == editReplace {
			c.ActionOut = new(copyAction(e.action))
		}
	}
	return e, nil
}

// resultHook tells level i how the action fared.
func (h *Harness) resultHook(ctx context.Context, i int, refusal *ActionError) error {
	l := &h.levels[i]
	v := h.view(ctx)
	_, err := watched(h.watch, site{siteHook, l.spec.ID, "result"}, func() (struct{}, error) {
		return struct{}{}, l.hooks.Result(ctx, v, copyError(refusal))
	})
	if err != nil || h.stateErr != nil {
		return h.hookFault(ctx, i, "result", err)
	}
	return nil
}

// transitionHook lets level i change t.Observation and t.Error and returns the reason if it truncates the episode.
func (h *Harness) transitionHook(ctx context.Context, i int, t *Transition) (truncate string, err error) {
	l := &h.levels[i]
	v := h.view(ctx)
	in, _ := copyTransition(*t) // checked where it came from
	e, err := watched(h.watch, site{siteHook, l.spec.ID, "transition"}, func() (TransitionEdit, error) {
		return l.hooks.Transition(ctx, v, in)
	})
	if err != nil || h.stateErr != nil {
		return "", h.hookFault(ctx, i, "transition", err)
	}
	if h.recording && e.Truncate != "" {
		c := h.change(i)
		c.Edit, c.Reason = "truncate", e.Truncate
	}
	if e.Truncate != "" {
		return e.Truncate, nil // takes back the edits
	}
	if e.Error != nil {
		if t.Error == nil {
			return "", h.hookFault(ctx, i, "transition", fmt.Errorf("refusal %q for an action that was carried out", e.Error.Message))
		}
		out := copyError(e.Error)
		if h.recording && *out != *t.Error {
			c := h.change(i)
			c.ErrorIn, c.ErrorOut = t.Error, out
		}
		t.Error = out
	}
	if e.Observation != nil {
		out, err := copyObservation(*e.Observation)
		if err != nil {
			return "", h.hookFault(ctx, i, "transition", err)
		}
		h.noteObservation(i, t.Observation, out)
		t.Observation = out
	}
	return "", nil
}

// observeHook passes o through the Observe hook of level i, if it has one.
func (h *Harness) observeHook(ctx context.Context, i int, o Observation) (Observation, error) {
	l := &h.levels[i]
	if l.hooks.Observe == nil {
		return o, nil
	}
	v := h.view(ctx)
	in, _ := copyObservation(o) // checked where it came from
	out, err := watched(h.watch, site{siteHook, l.spec.ID, "observe"}, func() (Observation, error) { return l.hooks.Observe(ctx, v, in) })
	if err == nil {
		out, err = copyObservation(out)
	}
	if err != nil || h.stateErr != nil {
		return Observation{}, h.hookFault(ctx, i, "observe", err)
	}
	h.noteObservation(i, o, out)
	return out, nil
}

// hookFault ends the episode after a hook of level i failed, or after the base failed to show the hook its state.
func (h *Harness) hookFault(ctx context.Context, i int, hook string, err error) error {
	if h.stateErr != nil {
		return h.fault(ctx, EndEnvError, "state", h.stateErr)
	}
	return h.fault(ctx, EndComponentError, fmt.Sprintf("%s: %s", h.levels[i].spec.ID, hook), err)
}

// change returns the record of what level i changes in the running turn.
func (h *Harness) change(i int) *Layer {
	if h.changes == nil {
		h.changes = make([]*Layer, len(h.levels))
	}
	if h.changes[i] == nil {
		h.changes[i] = &Layer{Component: h.levels[i].spec.ID}
	}
	return h.changes[i]
}

func (h *Harness) noteObservation(i int, in, out Observation) {
	if !h.recording || sameObservation(in, out) {
		return
	}
	c := h.change(i)
	if c.ObservationIn == nil { // else the Transition hook changed it before the Observe hook did
		c.ObservationIn = new(in)
	}
	c.ObservationOut = new(out)
}

// takeLayers returns the changes of the running turn, innermost first.
func (h *Harness) takeLayers() []Layer {
	var out []Layer
	for _, c := range h.changes {
		if c != nil {
			out = append(out, *c)
		}
	}
	return out
}

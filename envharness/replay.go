package envharness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/internal/jsonpointer"
)

// replay carries out the log of e on a fresh environment and returns the evidence of that. A result that differs from the logged one,
// or an end state or a limit on turns that does, is an [ErrTamper].
func (h *Harness) replay(ctx context.Context, e Evidence) (fresh Evidence, err error) {
	env, err := watched(h.watch, site{kind: siteBase, call: "replay: open"}, func() (Environment, error) { return h.world.New(ctx) })
	if err != nil {
		return Evidence{}, fmt.Errorf("replay: open: %w", err)
	}
	if env == nil {
		return Evidence{}, errors.New("replay: World.New returned no environment")
	}
	if sameInstance(env, h.base) {
		return Evidence{}, errors.New("replay: World.New returned the environment in use, not a fresh one")
	}
	if !h.hold(&h.fresh, env) {
		return Evidence{}, fmt.Errorf("replay: %w", errors.Join(ErrClosed, closeBase(h.watch, env)))
	}
	defer func() {
		if h.takeFresh() == nil {
			return // Close has it
		}
		if cerr := closeBase(h.watch, env); cerr != nil && err == nil {
			err = fmt.Errorf("replay: close: %w", cerr)
		}
	}()
	r := Harness{world: h.world, base: env, desc: h.desc, watch: h.watch}
	if err := r.callBase("replay: describe", func() error { r.abilities(env); return nil }); err != nil {
		return Evidence{}, fmt.Errorf("replay: describe: %w", err)
	}
	if r.chain != nil {
		r.chain.watch(h.watch)
	}
	r.volatile = h.volatile
	turns := slices.IndexFunc(e.Log, func(l LogEntry) bool { return l.Kind == LogStep })
	if turns < 0 {
		turns = len(e.Log)
	}
	fresh = e
	if err := r.redo(ctx, e, 0, turns); err != nil {
		return Evidence{}, err
	}
	if fresh.Start, err = r.confirm(ctx, "start", e.Start); err != nil {
		return Evidence{}, err
	}
	if err := r.redo(ctx, e, turns, len(e.Log)); err != nil {
		return Evidence{}, err
	}
	if fresh.End, err = r.confirm(ctx, "end", e.End); err != nil {
		return Evidence{}, err
	}
	if r.turnLimiter != nil {
		if r.turnLimit, err = r.askTurnLimit("replay: turn limit"); err != nil {
			return Evidence{}, fmt.Errorf("replay: turn limit: %w", err)
		}
	}
	if r.turnLimit != h.turnLimit { // blocked turns have been held to it, of which the base knows nothing
		return Evidence{}, fmt.Errorf("%w: the limit is %d turns, and was %d", ErrTamper, r.turnLimit, h.turnLimit)
	}
	fresh.Log, fresh.Options = r.log, bytes.Clone(e.Options)
	return fresh, nil
}

// redo carries out the entries from..to-1 of a log and compares the results.
func (h *Harness) redo(ctx context.Context, e Evidence, from, to int) error {
	for i := from; i < to; i++ {
		want := &e.Log[i]
		err := ctx.Err()
		var got *Transition
		if err == nil {
			got, err = h.redoEntry(ctx, want, e)
		}
		if err != nil {
			return fmt.Errorf("replay: entry %d (%s %s): %w", i, want.Kind, want.Action.Name, err)
		}
		if d := h.volatile.diff(&want.Transition, got); d != "" {
			return fmt.Errorf("%w: entry %d (%s %s): %s", ErrTamper, i, want.Kind, want.Action.Name, d)
		}
	}
	return nil
}

// confirm compares the present state with a recorded one and returns it.
func (h *Harness) confirm(ctx context.Context, name string, want State) (State, error) {
	got, err := h.peekState(ctx)
	if err != nil {
		return nil, fmt.Errorf("replay: state: %w", err)
	}
	if bytes.Equal(got, want) {
		return want, nil
	}
	same, err := h.volatile.sameState(want, got)
	if err != nil {
		return nil, fmt.Errorf("replay: %s state: %w", name, err)
	}
	if !same {
		return nil, fmt.Errorf("%w: the %s state", ErrTamper, name)
	}
	return bytes.Clone(got), nil
}

// takeFresh hands the environment of a replay to the one who closes it.
func (h *Harness) takeFresh() Environment {
	h.mu.Lock()
	defer h.mu.Unlock()
	env := h.fresh
	h.fresh = nil
	return env
}

// sameInstance reports whether two environments share their memory. Those without any are never the same.
func sameInstance(a, b Environment) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Kind() == reflect.Pointer && x.Type() == y.Type() && x.Type().Elem().Size() > 0 && x.Pointer() == y.Pointer()
}

// redoEntry carries out one entry of a log and logs it.
func (h *Harness) redoEntry(ctx context.Context, e *LogEntry, from Evidence) (*Transition, error) {
	switch a := copyAction(e.Action); e.Kind {
	case LogReset:
		obs, err := h.resetBase(ctx, from.Task, from.Seed, from.Options)
		if err != nil {
			return nil, err
		}
		return h.record(LogReset, a, Transition{Observation: obs})
	case LogReplay, LogStep:
		return h.stepLogged(ctx, e.Kind, a)
	case LogRewind:
		if h.rewinder == nil {
			return nil, errors.New("the fresh environment is no Rewinder")
		}
		if err := h.callBase("rewind", func() error { return h.rewinder.RewindCounters(ctx) }); err != nil {
			return nil, err
		}
		return h.record(LogRewind, a, Transition{})
	case LogPatch:
		var set map[string]json.RawMessage
		if err := json.Unmarshal(a.Args, &set); err != nil {
			return nil, err
		}
		if err := h.patch(ctx, set); err != nil {
			return nil, err
		}
		return &h.log[len(h.log)-1].Transition, nil
	}
	return nil, fmt.Errorf("kind %q", e.Kind)
}

// A volatile is what may differ between an episode and its replay.
type volatile struct{ transition, state []string }

// volatilePointers are the places that [Description].Volatile can name, and whether it can go on below.
var volatilePointers = map[string]bool{
	"/observation": false, "/observation/text": false, "/observation/data": true, "/observation/actions": false,
	"/reward": false, "/reason": false, "/info": true, "/state": true,
	"/error": false, "/error/class": false, "/error/message": false, "/error/retryable": false,
}

func newVolatile(d Description) (volatile, error) {
	var v volatile
	for _, p := range d.Volatile {
		_, known := volatilePointers[p]
		for place, goesOn := range volatilePointers {
			known = known || goesOn && jsonpointer.Below(p, place)
		}
		if !known || jsonpointer.BadEscape(p) != "" {
			return v, fmt.Errorf("volatile %q points to nothing that is compared", p)
		}
		if rest, ok := jsonpointer.Cut(p, "/state"); ok {
			v.state = append(v.state, rest)
		} else {
			v.transition = append(v.transition, p)
		}
	}
	return v, nil
}

// diff names the first part of a transition in which the replay differs, or nothing.
func (v volatile) diff(want, got *Transition) string {
	want, got = v.mask(want), v.mask(got)
	switch {
	case want.Observation.Text != got.Observation.Text:
		return fmt.Sprintf("text %.60q, recorded %.60q", got.Observation.Text, want.Observation.Text)
	case !sameObject(want.Observation.Data, got.Observation.Data):
		return firstDifference("/observation/data", want.Observation.Data, got.Observation.Data)
	case !sameObservation(want.Observation, got.Observation):
		return "admissible actions"
	case want.Reward != got.Reward:
		return fmt.Sprintf("reward %v, recorded %v", got.Reward, want.Reward)
	case want.Terminated != got.Terminated || want.Truncated != got.Truncated || want.Reason != got.Reason:
		return fmt.Sprintf("terminated %v, truncated %v %q, recorded %v, %v %q",
			got.Terminated, got.Truncated, got.Reason, want.Terminated, want.Truncated, want.Reason)
	case (want.Error == nil) != (got.Error == nil) || want.Error != nil && *want.Error != *got.Error:
		return fmt.Sprintf("refusal %v, recorded %v", got.Error, want.Error)
	case !sameObject(want.Info, got.Info):
		return firstDifference("/info", want.Info, got.Info)
	}
	return ""
}

// firstDifference names the first place, in the order of keys and items, in which two values that are not the same differ.
func firstDifference(at string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := make(map[string]bool)
		for _, m := range []map[string]any{want, got} {
			for k := range m {
				keys[k] = true
			}
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			w, recorded := want[k]
			g, replayed := got[k]
			switch below := at + "/" + jsonpointer.Escape(k); {
			case !recorded:
				return below + " was not there"
			case !replayed:
				return below + " is not there"
			case !sameValue(w, g):
				return firstDifference(below, w, g)
			}
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			break
		}
		for i := range want {
			if !sameValue(want[i], got[i]) {
				return firstDifference(fmt.Sprintf("%s/%d", at, i), want[i], got[i])
			}
		}
	}
	return fmt.Sprintf("%s is %.60v, recorded %.60v", at, got, want)
}

// mask returns a transition without its volatile parts.
func (v volatile) mask(logged *Transition) *Transition {
	if len(v.transition) == 0 {
		return logged
	}
	t, _ := copyTransition(*logged) // checked when it was logged
	for _, p := range v.transition {
		switch field, rest := splitPointer(p); field {
		case "observation":
			t.Observation.forget(rest)
		case "info":
			t.Info, _ = without(t.Info, rest).(map[string]any)
		case "reward":
			if rest == "" {
				t.Reward = 0
			}
		case "reason":
			if rest == "" {
				t.Reason = ""
			}
		case "error":
			t.Error = t.Error.without(rest)
		}
	}
	return &t
}

// forget removes what a JSON pointer into the observation points to.
func (o *Observation) forget(pointer string) {
	switch field, rest := splitPointer(pointer); {
	case pointer == "":
		*o = Observation{}
	case field == "text" && rest == "":
		o.Text = ""
	case field == "data":
		o.Data, _ = without(o.Data, rest).(map[string]any)
	case field == "actions" && rest == "":
		o.Actions = nil
	}
}

// without removes what a JSON pointer into the refusal points to.
func (e *ActionError) without(pointer string) *ActionError {
	if e == nil || pointer == "" {
		return nil
	}
	switch pointer {
	case "/class":
		e.Class = ""
	case "/message":
		e.Message = ""
	case "/retryable":
		e.Retryable = false
	}
	return e
}

// splitPointer cuts the first token off a JSON pointer.
func splitPointer(p string) (token, rest string) {
	token, rest, more := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	if more {
		rest = "/" + rest
	}
	return jsonpointer.Unescape(token), rest
}

// without removes what a JSON pointer points to; what does not exist needs no removal. An item of a list becomes null, so that the
// others keep their places.
func without(doc any, pointer string) any {
	if pointer == "" {
		return nil
	}
	token, rest := splitPointer(pointer)
	switch d := doc.(type) {
	case map[string]any:
		child, ok := d[token]
		switch {
		case ok && rest == "":
			d = maps.Clone(d)
			delete(d, token)
		case ok:
			d = maps.Clone(d)
			d[token] = without(child, rest)
		}
		return d
	case []any:
		if i, ok := jsonpointer.Index(token, len(d)); ok {
			d = slices.Clone(d)
			d[i] = without(d[i], rest)
		}
		return d
	}
	return doc
}

// sameState compares states as JSON, without the volatile parts.
func (v volatile) sameState(a, b State) (bool, error) {
	if bytes.Equal(a, b) {
		return true, nil
	}
	if (a == nil) != (b == nil) {
		return false, nil
	}
	var canon [2][]byte
	for i, s := range []State{a, b} {
		doc, err := jsonpointer.Decode(s)
		if err != nil {
			return false, err
		}
		for _, p := range v.state {
			doc = without(doc, p)
		}
		if canon[i], err = CanonicalJSON(doc); err != nil {
			return false, err
		}
	}
	return bytes.Equal(canon[0], canon[1]), nil
}

// sameVerdict reports whether two verdicts agree on all that counts.
func sameVerdict(a, b Verdict) bool {
	return a.Status == b.Status && a.Score == b.Score && maps.Equal(a.Parts, b.Parts)
}

package envharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	eh "github.com/throughline-go/throughline/envharness"
)

// toy is a small arithmetic game: numbers are multiplied or added pairwise until one is left; "stop" ends, and the verifier passes
// when a single 24 is left. It is correct; tests plug faults in through onStep and the other funcs.
type toy struct {
	start   []int
	limit   int
	numbers []int
	stopped bool
	steps   int
	ready   bool
	shared  bool // one toy for all of a world, so that no replay of an episode is possible

	calls struct{ reset, step, close, state, rewind int }

	onReset func() error
	onStep  func(ctx context.Context, t *toy, a eh.Action) (*eh.Transition, error) // nil, nil: go on as usual
	onState func() error
	onClose func() error
}

type combineArgs struct {
	I  int    `json:"i"`
	J  int    `json:"j"`
	Op string `json:"op"`
}

func combine(i, j int, op string) eh.Action {
	args, _ := json.Marshal(combineArgs{i, j, op})
	return eh.Action{Name: "combine", Args: args}
}

var stop = eh.Action{Name: "stop"}

func (t *toy) observation() eh.Observation {
	nums := make([]any, len(t.numbers))
	for i, n := range t.numbers {
		nums[i] = float64(n)
	}
	return eh.Observation{Text: "numbers " + strings.Trim(fmt.Sprint(t.numbers), "[]"), Data: map[string]any{"numbers": nums}}
}

func (t *toy) Reset(_ context.Context, o eh.ResetOptions) (eh.Observation, error) {
	t.calls.reset++
	if t.onReset != nil {
		if err := t.onReset(); err != nil {
			return eh.Observation{}, err
		}
	}
	t.numbers, t.stopped, t.steps, t.ready = slices.Clone(t.start), false, 0, true
	if o.Task != "" {
		if err := json.Unmarshal([]byte(o.Task), &t.numbers); err != nil {
			return eh.Observation{}, eh.ErrNoTask
		}
	}
	return t.observation(), nil
}

func (t *toy) Step(ctx context.Context, a eh.Action) (eh.Transition, error) {
	t.calls.step++
	if t.onStep != nil {
		if tr, err := t.onStep(ctx, t, a); tr != nil || err != nil {
			if tr == nil {
				tr = &eh.Transition{}
			}
			return *tr, err
		}
	}
	t.steps++
	var refused *eh.ActionError
	switch a.Name {
	case "stop":
		t.stopped = true
	case "combine":
		var c combineArgs
		if err := json.Unmarshal(a.Args, &c); err != nil || c.I == c.J || min(c.I, c.J) < 0 || max(c.I, c.J) >= len(t.numbers) ||
			(c.Op != "mul" && c.Op != "add") {
			refused = &eh.ActionError{Class: eh.ClassBadArgs, Message: "bad combine"}
			break
		}
		v := t.numbers[c.I] + t.numbers[c.J]
		if c.Op == "mul" {
			v = t.numbers[c.I] * t.numbers[c.J]
		}
		rest := t.numbers[:0:0]
		for k, n := range t.numbers {
			if k != c.I && k != c.J {
				rest = append(rest, n)
			}
		}
		t.numbers = append(rest, v)
	default:
		refused = &eh.ActionError{Class: eh.ClassUnknownTool, Message: "no tool " + a.Name}
	}
	tr := eh.Transition{Observation: t.observation(), Error: refused, Terminated: t.stopped}
	if t.solved() {
		tr.Reward = 1
	}
	if t.limit > 0 && t.steps >= t.limit && !t.stopped {
		tr.Truncated, tr.Reason = true, "limit"
	}
	return tr, nil
}

func (t *toy) solved() bool { return t.stopped && len(t.numbers) == 1 && t.numbers[0] == 24 }

func (t *toy) Close() error {
	t.calls.close++
	if t.onClose != nil {
		return t.onClose()
	}
	return nil
}

func (t *toy) State(context.Context) (eh.State, error) {
	t.calls.state++
	if t.onState != nil {
		if err := t.onState(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(map[string]any{"numbers": t.numbers, "stopped": t.stopped, "success": t.solved()})
}

func (t *toy) RewindCounters(context.Context) error {
	t.calls.rewind++
	t.steps = 0
	return nil
}

func (t *toy) Describe() eh.Description {
	return eh.Description{
		Name:          "toy",
		Tools:         []eh.Tool{{Name: "combine", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "stop", Submits: true}},
		Graded:        []string{"success"},
		MaxTurns:      t.limit,
		Deterministic: !t.shared,
	}
}

func (t *toy) Tasks(_ context.Context, split string) ([]eh.Task, error) {
	if split != "train" {
		return nil, fmt.Errorf("toy: no split %q", split)
	}
	return []eh.Task{{ID: "[4,6]", Split: split}, {ID: "[2,12]", Split: split}}, nil
}

// bare hides the optional abilities.
type bare struct{ eh.Environment }

// toyVerifier reads the end state, or the log where there is none.
var toyVerifier = eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
	if e.End != nil {
		var st struct{ Success bool }
		if err := json.Unmarshal(e.End, &st); err != nil {
			return eh.Verdict{}, err
		}
		if st.Success {
			return eh.Verdict{Status: eh.Pass}, nil
		}
		return eh.Verdict{Status: eh.Fail}, nil
	}
	if last := e.Log[len(e.Log)-1].Transition; last.Terminated && last.Observation.Text == "numbers 24" {
		return eh.Verdict{Status: eh.Pass}, nil
	}
	return eh.Verdict{Status: eh.Fail}, nil
})

// worldOf is a world whose only environment is env.
func worldOf(env eh.Environment) eh.World {
	if t, ok := env.(*toy); ok {
		t.shared = true
	}
	return eh.World{New: func(context.Context) (eh.Environment, error) { return env, nil }, Verifier: toyVerifier}
}

// toyWorld makes fresh toys and counts those that are open.
func toyWorld(open *atomic.Int64, change func(*toy)) eh.World {
	return eh.World{
		New: func(context.Context) (eh.Environment, error) {
			if open != nil {
				open.Add(1)
			}
			t := &toy{start: []int{4, 6}}
			closed := false
			t.onClose = func() error {
				if open != nil && !closed {
					open.Add(-1)
				}
				closed = true
				return nil
			}
			if change != nil {
				change(t)
			}
			return t, nil
		},
		Verifier: toyVerifier,
	}
}

// rule is a component with the given hooks.
func rule(axis eh.Axis, hooks eh.Hooks) eh.Component { return ruleID("rule", axis, hooks) }

func ruleID(id string, axis eh.Axis, hooks eh.Hooks) eh.Component {
	return eh.Rules(eh.ComponentSpec{Tag: "rule", ID: id, Axis: axis}, func(context.Context, eh.EpisodeInfo) (eh.Hooks, error) { return hooks, nil })
}

func blockOp(op string) eh.Component {
	return rule(eh.AxisAction, eh.Hooks{Action: func(_ context.Context, _ eh.View, a eh.Action) (eh.ActionEdit, error) {
		var c combineArgs
		if json.Unmarshal(a.Args, &c) == nil && c.Op == op {
			return eh.BlockAction("no " + op), nil
		}
		return eh.PassAction(), nil
	}})
}

// script plays actions in order and then stops the episode.
func script(actions ...eh.Action) eh.Policy {
	return eh.PolicyFunc(func(_ context.Context, t eh.Turn) (eh.Action, error) {
		if t.Index >= len(actions) {
			return eh.Action{}, eh.ErrStop
		}
		return actions[t.Index], nil
	})
}

func mustNew(t testing.TB, w eh.World, cs ...eh.Component) *eh.Harness {
	t.Helper()
	h, err := eh.New(w, cs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func mustReset(t testing.TB, h eh.Environment) eh.Observation {
	t.Helper()
	o, err := h.Reset(t.Context(), eh.ResetOptions{Seed: new(uint64(7))})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func mustStep(t testing.TB, h eh.Environment, a eh.Action) eh.Transition {
	t.Helper()
	tr, err := h.Step(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func mustEvidence(t testing.TB, h *eh.Harness) eh.Evidence {
	t.Helper()
	e, err := h.Evidence(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustVerdict(t testing.TB, h *eh.Harness) eh.Verdict {
	t.Helper()
	v, err := h.Verdict(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var errBoom = errors.New("boom")

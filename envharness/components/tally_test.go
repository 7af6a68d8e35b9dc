package components_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// tally is a deterministic world with a counter: "add" adds n to it, "get" shows it and "stop" ends the episode, with success at Goal.
type tally struct {
	Goal  int `json:"goal"`
	total int
	turn  int
	ready bool
}

type tallyState struct {
	Total int  `json:"total"`
	Turn  int  `json:"turn"`
	Over  bool `json:"over"`
}

const tallyTurns = 12

func (w *tally) show() envharness.Observation {
	return envharness.Observation{Text: fmt.Sprintf("total %d", w.total), Data: map[string]any{
		"total": float64(w.total), "items": []any{"a", "b", "c", "d"}, "note": "naïve",
	}}
}

func (w *tally) Reset(_ context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	w.total, w.turn, w.ready = len(o.Task), 0, true
	if o.Seed != nil {
		w.total += int(*o.Seed % 3)
	}
	return w.show(), nil
}

func (w *tally) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	if !w.ready {
		return envharness.Transition{}, envharness.ErrNeedReset
	}
	w.turn++
	t := envharness.Transition{Truncated: w.turn >= tallyTurns, Reason: "max_turns"}
	if !t.Truncated {
		t.Reason = ""
	}
	switch a.Name {
	case "add":
		var args struct{ N int }
		if json.Unmarshal(a.Args, &args) != nil {
			t.Error = &envharness.ActionError{Class: envharness.ClassBadArgs, Message: "n is a number"}
		}
		w.total += args.N
	case "get":
	case "stop":
		t.Terminated, t.Truncated, t.Reason = true, false, ""
	default:
		t.Error = &envharness.ActionError{Class: envharness.ClassUnknownTool, Message: "no tool " + a.Name}
	}
	t.Observation = w.show()
	return t, nil
}

func (w *tally) Close() error { return nil }

func (w *tally) State(context.Context) (envharness.State, error) {
	return json.Marshal(tallyState{Total: w.total, Turn: w.turn})
}

func (w *tally) Snapshot(ctx context.Context) (envharness.State, error) { return w.State(ctx) }

func (w *tally) Restore(_ context.Context, raw envharness.State) error {
	var s tallyState
	err := json.Unmarshal(raw, &s)
	w.total, w.turn = s.Total, s.Turn
	return err
}

func (w *tally) RewindCounters(context.Context) error { w.turn = 0; return nil }

func (w *tally) Describe() envharness.Description {
	d := envharness.Description{Name: "tally", MaxTurns: tallyTurns, Deterministic: true, Mutable: []string{"/total"}}
	d.Tools = []envharness.Tool{
		{Name: "add", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
		{Name: "get", ReadOnly: true},
		{Name: "stop", Submits: true},
	}
	return d
}

func tallyWorld(goal int) envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return &tally{Goal: goal}, nil },
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			var s tallyState
			if err := json.Unmarshal(e.End, &s); err != nil || s.Total != goal || e.EndReason != envharness.EndTerminated {
				return envharness.Verdict{Status: envharness.Fail}, err
			}
			return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
		}),
	}
}

// withTally adds the world "tally", whose one parameter is its goal.
func withTally(t testing.TB, r *components.Registry) *components.Registry {
	t.Helper()
	err := r.AddWorld("tally", 1, func(params json.RawMessage) (envharness.World, error) {
		own := tally{Goal: 6}
		dec := json.NewDecoder(bytes.NewReader(params))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&own); err != nil {
			return envharness.World{}, fmt.Errorf("%w: %w", components.ErrUnknownParam, err)
		}
		return tallyWorld(own.Goal), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tracesOf plays what a specification builds.
func tracesOf(t testing.TB, r *components.Registry, s components.Spec) string {
	t.Helper()
	w, stack, task, err := r.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return tracesIn(t, w, stack, task)
}

// tracesIn plays three episodes with a policy that draws among the tools, and returns the traces as bytes.
func tracesIn(t testing.TB, w envharness.World, stack []envharness.Component, task envharness.Task) string {
	t.Helper()
	traces, err := envharness.Rollouts(t.Context(), w, stack, func(slot int) (envharness.Policy, error) {
		draw := rand.New(rand.NewPCG(uint64(slot), 1))
		return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
			name := []string{"add", "add", "get", "get", "other", "stop"}[draw.IntN(6)]
			return envharness.Action{Name: name, Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, 1+draw.IntN(3)))}, nil
		}), nil
	}, []envharness.Task{task, task, task}, &envharness.RolloutOptions{MaxTurns: 10, Reruns: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := envharness.WriteTraces(&out, traces); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

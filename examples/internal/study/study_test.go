package study_test

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/examples/internal/study"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// In a small world, whose text holds the whole state, routes meet: states are keyed by what is shown, unless the caller has keys of their own.
func TestStates(t *testing.T) {
	own := func(tr envharness.Trace) []string { return make([]string, len(tr.Turns)+1) }
	for _, tt := range []struct {
		name, world  string
		states, want func(envharness.Trace) []string
		reason       string
	}{
		{"small", "keydoor_small", nil, rollout.ShownTexts, "the text holds the whole state"},
		{"caller's", "keydoor_small", own, own, "it was asked for"},
		{"full", "keydoor", nil, rollout.AcceptedCalls, "its text does not"},
	} {
		s, err := study.New(t.Context(), study.Config{World: tt.world, Algorithm: "gigpo", Model: "gru", Dim: 8, Options: train.Options{
			Tasks: 1, Rollouts: 2, EvalEvery: -1, Iterations: 1, Agent: rollout.AgentOptions{Candidates: true, MaxLen: 256},
			Rollout: rollout.Options{MaxTurns: 3, States: tt.states},
		}})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		for it, err := range s.Trainer.Run(t.Context()) {
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			for i, trajectory := range it.Trajectories {
				want := tt.want(it.Traces[i])
				for k, turn := range trajectory.Turns {
					if turn.State != want[k] || tt.reason == "" {
						t.Errorf("%s: state %q, want %q", tt.name, turn.State, want[k])
					}
				}
			}
		}
	}
}

// The pool has every task as it is once, and what was accepted as often as the share allows.
func TestPool(t *testing.T) {
	tasks := make([]envharness.Task, 100)
	for i := range tasks {
		tasks[i].ID = strconv.Itoa(i)
	}
	item := func(id string) rigger.Item {
		return rigger.Item{Task: envharness.Task{ID: id}, Stack: []components.Entry{{Tag: "step_budget", Params: json.RawMessage(`{"turns":3}`)}}}
	}
	for _, tt := range []struct {
		accepted, copies int
		share            float64
		reason           string
	}{
		{0, 0, .3, "nothing was accepted"},
		{1, 42, .3, "42 of 142 are at most 0.3, 43 of 143 are more"},
		{20, 2, .3, "42.9 in all"},
		{60, 1, .3, "each at least once"},
	} {
		var accepted []rigger.Item
		for i := range tt.accepted {
			accepted = append(accepted, item(strconv.Itoa(i)))
		}
		items, share, err := study.Pool(tasks, accepted, tt.share)
		if err != nil {
			t.Fatal(err)
		}
		behind := 0
		for _, it := range items {
			behind += len(it.Components)
		}
		if want := tt.copies * tt.accepted; len(items) != 100+want || behind != want || math.Abs(share-float64(want)/float64(100+want)) > 1e-12 {
			t.Errorf("%d accepted: %d items, %d behind components, a share of %v (%s)", tt.accepted, len(items), behind, share, tt.reason)
		}
	}
	bad := item("0")
	bad.Stack[0].Tag = "magic"
	if _, _, err := study.Pool(tasks, []rigger.Item{bad}, .3); err == nil {
		t.Error("a tag that there is not was taken")
	}
}

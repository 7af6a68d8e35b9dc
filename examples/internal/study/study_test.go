package study_test

import (
	"testing"

	"github.com/throughline-go/throughline/envharness"
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

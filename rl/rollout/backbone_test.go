package rollout

import (
	"math"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
)

// A small model that imitates the oracle's demonstrations passes those tasks itself, in both ways to act; what a player notes is what a model
// takes, and the lists of tokens are those that were drawn from: the action taken has the same score both ways.
func TestImitation(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	w := smallWorlds()["tooldesk"]
	tok, err := WorldTokenizer(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	tasks := tasksOf(t, w, 4)
	for _, candidates := range []bool{true, false} {
		m, err := backbone.NewGRU(backbone.Config{Vocab: tok.Vocab(), Dim: 32, Seed: 1, Workers: 2, Head: loss.Head{Plus: ValuePlus, Minus: ValueMinus}})
		if err != nil {
			t.Fatal(err)
		}
		a := agent(t, m, tok, &AgentOptions{Candidates: candidates, History: new(1), Temperature: new(0.0)})
		demos, err := Demonstrations(t.Context(), w, a, tasks, nil)
		if err != nil {
			t.Fatal(err)
		}
		batch := rl.Sequences(nil, Trajectories(demos))
		weight := make([][]float64, len(batch))
		for i, s := range batch {
			weight[i] = slices.Repeat([]float64{-1 / float64(len(batch))}, len(s.Tokens)-s.Start) // the mean of -log p
		}
		for range 120 {
			if err := m.AddGrad(t.Context(), batch, weight); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Step(t.Context(), 0.02); err != nil {
				t.Fatal(err)
			}
		}
		for i := range tasks {
			tasks[i].Seed = demos[i].Trace.Task.Seed
		}
		es, err := Collect(t.Context(), w, nil, playing(a, 1), tasks, &Options{Parallel: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			if !*e.Trajectory.Success {
				t.Errorf("candidates %v: task %s does not pass: %s", candidates, e.Trace.Task.ID, e.Trace.End)
			}
			scores, err := a.Scores(t.Context(), m, e.Trace)
			if err != nil {
				t.Fatal(err)
			}
			logp, err := m.LogProbs(t.Context(), rl.Sequences(nil, []rl.Trajectory{e.Trajectory}))
			if err != nil {
				t.Fatal(err)
			}
			shown := e.Trace.Shown
			for k, turn := range e.Trace.Turns {
				sum := 0.0
				for _, l := range logp[k] {
					sum += l
				}
				for i, action := range shown.Actions {
					if turn.Proposed != nil && same(action, *turn.Proposed) && math.Abs(scores[k][i]-sum) > 1e-9 {
						t.Errorf("candidates %v, turn %d: score %v, noted tokens have %v", candidates, k, scores[k][i], sum)
					}
				}
				shown = turn.Shown.Observation
			}
		}
	}
}

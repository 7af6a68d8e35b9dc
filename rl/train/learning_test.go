package train

import (
	"context"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl/rollout"
)

// learn trains on all chains for a number of steps in the world and returns the share of 80 episodes that then succeed, ten of each chain, drawn
// at the temperature of training. A policy that knows nothing succeeds in an eighth of those in which it does not wait too often.
func learn(t *testing.T, name string, seed uint64, steps int) float64 {
	t.Helper()
	p, o := tiny(t, name)
	p.Model = tinyModel(t, p.Tokenizer.Vocab(), 16, seed)
	p.Tasks = func(_ context.Context, split string) ([]envharness.Task, error) {
		var tasks []envharness.Task
		for _, id := range []string{"rrr", "rrb", "rbr", "rbb", "brr", "brb", "bbr", "bbb"} {
			tasks = append(tasks, envharness.Task{ID: id, Split: split})
		}
		if split == "validation" {
			tasks = rollout.Repeat(tasks, 10)
		}
		return tasks, nil
	}
	*o = Options{
		Seed: seed, Tasks: 8, Rollouts: 8, Rate: 1e-2, Epochs: 2, MaxEnvSteps: steps, EvalEvery: -1, EvalTemperature: new(1.0), Agent: o.Agent,
	}
	if p.Algorithm.Values == SharedValues {
		o.Tasks, o.Rollouts = 64, 1
	}
	tr := newTrainer(t, p, o)
	run(t, tr, 0)
	e, err := tr.Evaluate(t.Context(), "validation")
	if err != nil {
		t.Fatal(err)
	}
	return e.Success
}

// Three methods learn the chain within 4000 steps in at least four of five seeds. The number was found once, as that at which all fifteen runs did
// by a margin of some 800 steps, and is kept.
func TestLearning(t *testing.T) {
	if testing.Short() {
		t.Skip("fifteen runs")
	}
	for _, name := range []string{"sapo", "grpo", "gigpo"} {
		t.Run(name, func(t *testing.T) {
			var shares []float64
			learnt := 0
			for seed := range uint64(5) {
				share := learn(t, name, seed, 4000)
				if shares = append(shares, share); share >= .95 {
					learnt++
				}
			}
			if learnt < 4 {
				t.Errorf("success in the end, by seed: %v, want 0.95 or more in four of five", shares)
			}
		})
	}
}

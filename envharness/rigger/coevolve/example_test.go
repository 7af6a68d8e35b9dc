package coevolve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/coevolve"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// calm is a policy for the game of 24 that keeps calm with the given chance when it does not have all of its turns.
func calm(world envharness.World, chance float64) coevolve.Policy {
	return coevolve.Policy{
		Fingerprint: fmt.Sprint("calm ", chance),
		New: func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			oracle := yardstick.Oracle(world, task)
			cool := rng.Float64() < chance
			return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
				if !cool && t.Index+t.Left < game24.MaxTurns {
					return envharness.Action{}, envharness.ErrStop
				}
				return oracle.Act(ctx, t)
			}), nil
		},
	}
}

// A policy that cannot stand to have its turns cut is made to, and gets used to it. What it has mastered is taken out again.
func ExampleRun() {
	world := game24.World(nil)
	chance := 0.5
	first := calm(world, chance)
	p := coevolve.Problem{
		Rig: rigger.Problem{
			World: world, NewPolicy: first.New, Fingerprint: first.Fingerprint, Tasks: []envharness.Task{{ID: "1,1,1,8"}, {ID: "1,1,2,6"}},
		},
		HeldOut: []envharness.Task{{ID: "3,3,8,8"}, {ID: "6,6,6,6"}},
		Train: func(_ context.Context, b coevolve.Batch) (coevolve.Policy, error) {
			for i, trace := range b.Traces {
				if !b.Draws[i].Unmodified() && trace.Verdict.Status == envharness.Pass {
					chance += 0.1 * (1 - chance)
				}
			}
			return calm(world, chance), nil
		},
	}
	// The designer of this example always proposes the same; nil is the rigger's own.
	cut := rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
		budget := components.Entry{Tag: "step_budget", Params: json.RawMessage(`{"turns":6}`)}
		return rigger.Candidate{Stack: []components.Entry{budget}, Direction: b.Direction}, nil
	})
	o := &coevolve.Options{Rig: &rigger.Options{Designer: cut, NullEpisodes: 2}, Rounds: 5, Draws: 20, Play: true}
	for r, err := range coevolve.Run(context.Background(), p, o) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("round %d: held out %v\n", r.Number, r.HeldOut)
		for _, m := range r.Measured {
			fmt.Printf("  %s again: %v\n", m.Task, m.Counts)
		}
		for _, item := range r.Retired {
			fmt.Printf("  %s retired\n", item.Task.ID)
		}
		if r.Report != nil {
			for _, item := range r.Report.Items {
				fmt.Printf("  %s accepted at %v: %s\n", item.Task.ID, item.Counts, item.Words[0])
			}
		}
		if r.Explored != nil {
			fmt.Printf("  explored: unmodified %v, items %v\n", r.Explored.Unmodified, r.Explored.Items)
		}
	}
	// Output:
	// round 0: held out 2 of 2
	// round 1: held out 2 of 2
	//   1,1,1,8 accepted at 5 of 16: the episode ends after 6 turns
	//   1,1,2,6 accepted at 8 of 16: the episode ends after 6 turns
	//   explored: unmodified 6 of 6, items 11 of 14
	// round 2: held out 2 of 2
	//   1,1,1,8 again: 5 of 5
	//   1,1,2,6 again: 4 of 5
	//   explored: unmodified 6 of 6, items 12 of 14
	// round 3: held out 2 of 2
	//   1,1,1,8 again: 5 of 5
	//   1,1,2,6 again: 4 of 5
	//   1,1,1,8 retired
	//   explored: unmodified 6 of 6, items 13 of 14
	// round 4: held out 2 of 2
	//   1,1,2,6 again: 5 of 5
	//   explored: unmodified 6 of 6, items 14 of 14
	// round 5: held out 2 of 2
	//   1,1,2,6 again: 5 of 5
	//   1,1,2,6 retired
	//   explored: unmodified 20 of 20, items 0 of 0
}

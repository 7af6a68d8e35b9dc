// Command harness is the second program of the README: a fixed world made harder by two components, and judged as before.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
)

// planner returns a policy that looks up a solution beforehand and plays it, whatever it is shown.
func planner(ctx context.Context, hand string) (envharness.Policy, error) {
	game := game24.New(nil)
	defer game.Close()
	_, err := game.Reset(ctx, envharness.ResetOptions{Task: hand})
	plan, planErr := game.Plan(ctx)
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index >= len(plan) {
			return envharness.Action{}, envharness.ErrStop
		}
		return plan[t.Index], nil
	}), errors.Join(err, planErr)
}

func main() {
	ctx := context.Background()
	hands := []envharness.Task{{ID: "1,5,5,5"}, {ID: "2,4,4,8"}, {ID: "3,3,8,8"}, {ID: "6,6,6,6"}}
	policy := func(slot int) (envharness.Policy, error) { return planner(ctx, hands[slot].ID) }
	noDivision := components.Block{Args: map[string]any{"op": "div"}, Reason: "no division today"}
	for _, stack := range [][]envharness.Component{nil, {noDivision, components.StepBudget{Turns: 6}}} {
		traces, err := envharness.Rollouts(ctx, game24.World(nil), stack, policy, hands, nil)
		if err != nil {
			log.Fatal(err)
		}
		rate, err := envharness.SuccessRate(traces, len(traces))
		if err != nil {
			log.Fatal(err)
		}
		first := traces[0].Turns[0]
		fmt.Printf("%.0f %% pass; after its first move the first policy saw %q\n", 100*rate, first.Shown.Observation.Text)
	}
}

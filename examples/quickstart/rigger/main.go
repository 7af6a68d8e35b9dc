// Command rigger is a program of the README: a policy is watched, and its tasks are made harder where it is weak, behind a gate.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

var game = game24.World(nil)

// player plays a solution that it looks up beforehand. When a move fails it tries again two times in three, and else gives up.
func player(hand envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
	plan, err := yardstick.Plan(context.Background(), game, hand)
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Error != nil && rng.IntN(3) == 0 {
			return envharness.Action{}, envharness.ErrStop
		}
		if t.Index > 0 && t.Error == nil {
			plan = plan[1:]
		}
		if len(plan) == 0 {
			return envharness.Action{}, errors.New("the game goes on after the solution")
		}
		return plan[0], nil
	}), err
}

func main() {
	hands := []envharness.Task{{ID: "3,3,8,8"}, {ID: "6,6,6,6"}}
	report, err := rigger.Rig(context.Background(), rigger.Problem{World: game, Tasks: hands, NewPolicy: player}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, hand := range report.Tasks {
		fmt.Printf("%s is passed %v times\n", hand.Task.ID, hand.Baseline.Tally)
		for _, a := range hand.Attempts {
			fmt.Printf("  %s: %s; %v, then %v\n", a.Decision, strings.Join(a.Words, "; "), a.Screen, a.Confirm)
		}
	}
}

package yardstick_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// A task in which a policy that knows nothing passes teaches nothing.
func ExampleNulls() {
	w := game24.World(nil)
	tasks := []envharness.Task{{ID: "3,3,8,8", Seed: new(uint64(7))}}
	for _, n := range yardstick.Nulls() {
		traces, err := envharness.Rollouts(context.Background(), w, nil, func(slot int) (envharness.Policy, error) {
			return n.New(envharness.RandStream(1, "null/"+n.Name, uint64(slot))), nil
		}, tasks, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n.Name, n.Draws, traces[0].Verdict.Status)
	}
	// Output:
	// noop false fail
	// random true fail
	// submit false fail
	// repeat true fail
}

// The world's own oracle plans, and the policy does as planned.
func ExampleOracle() {
	w := game24.World(nil)
	tasks := []envharness.Task{{ID: "3,3,8,8", Seed: new(uint64(7))}}
	traces, err := envharness.Rollouts(context.Background(), w, nil, func(slot int) (envharness.Policy, error) {
		return yardstick.Oracle(w, tasks[slot]), nil
	}, tasks, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(traces[0].Verdict.Status, len(traces[0].Turns))
	// Output:
	// pass 4
}

func ExamplePlan() {
	w := game24.World(nil)
	plan, err := yardstick.Plan(context.Background(), w, envharness.Task{ID: "3,3,8,8"})
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range plan {
		fmt.Println(a)
	}
	_, err = yardstick.Plan(context.Background(), w, envharness.Task{ID: "1,1,1,1"})
	fmt.Println(errors.Is(err, envharness.ErrNoPlan))
	// Output:
	// combine {"i":2,"j":0,"op":"div"}
	// combine {"i":0,"j":2,"op":"sub"}
	// combine {"i":0,"j":1,"op":"div"}
	// stop
	// true
}

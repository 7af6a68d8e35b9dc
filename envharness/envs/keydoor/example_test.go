package keydoor_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
)

// One room of two cells, and its key in the second.
func ExampleNew() {
	ctx := context.Background()
	env := keydoor.New(nil)
	defer env.Close()
	first, err := env.Reset(ctx, envharness.ResetOptions{Task: "1,2,0,0"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Text)
	for _, name := range []string{"right", "use", "pickup", "use", "right"} {
		t, err := env.Step(ctx, envharness.Action{Name: name})
		if err != nil {
			log.Fatal(err)
		}
		if t.Error != nil {
			fmt.Println(t.Error.Class+":", t.Error.Message)
			continue
		}
		fmt.Println(t.Observation.Text, t.Reward)
	}
	// Output:
	// Room 0, cell 0. Door closed. Keys held: none. Keys here: none.
	// Room 0, cell 1. Door closed. Keys held: none. Keys here: 0. 0
	// precondition: the key of this door is not held
	// Room 0, cell 1. Door closed. Keys held: 0. Keys here: none. 0
	// Room 0, cell 1. Door open. Keys held: none. Keys here: none. 0
	// You are out. 1
}

// In the small preset things have colours, and the text is all that a policy needs.
func ExampleOptions() {
	ctx := context.Background()
	env := keydoor.New(&keydoor.Options{Small: true})
	defer env.Close()
	first, err := env.Reset(ctx, envharness.ResetOptions{Task: "small-2,2,0,0"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Text)
	plan, err := env.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range plan[:3] {
		t, err := env.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(a, "->", t.Observation.Text)
	}
	// Output:
	// Goal: leave room 1. Doors green, pink. Room 0, cell 0. Door green closed. Keys held: none. Keys here: blue.
	// right -> Goal: leave room 1. Doors green, pink. Room 0, cell 1. Door green closed. Keys held: none. Keys here: green.
	// pickup -> Goal: leave room 1. Doors green, pink. Room 0, cell 1. Door green closed. Keys held: green. Keys here: none.
	// use -> Goal: leave room 1. Doors green, pink. Room 0, cell 1. Door green open. Keys held: none. Keys here: none.
}

// The harness plays the oracle's plan and asks the verifier.
func ExampleWorld() {
	ctx := context.Background()
	h, err := envharness.New(keydoor.World(nil))
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{Task: "3,5,1,0"}); err != nil {
		log.Fatal(err)
	}
	env := keydoor.New(nil)
	defer env.Close()
	if _, err := env.Reset(ctx, envharness.ResetOptions{Task: "3,5,1,0"}); err != nil {
		log.Fatal(err)
	}
	plan, err := env.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range plan {
		if _, err := h.Step(ctx, a); err != nil {
			log.Fatal(err)
		}
	}
	v, err := h.Verdict(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(plan), "turns:", v.Status)
	// Output:
	// 21 turns: pass
}

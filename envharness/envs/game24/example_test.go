package game24_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
)

// The game shows the numbers, and tells why it refuses a call.
func ExampleNew() {
	ctx := context.Background()
	game := game24.New(nil)
	defer game.Close()
	first, err := game.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Text)
	for _, args := range []string{
		`{"i":2,"j":0,"op":"div"}`, `{"i":0,"j":3,"op":"sub"}`, `{"i":0,"j":2,"op":"sub"}`, `{"i":0,"j":1,"op":"div"}`,
	} {
		t, err := game.Step(ctx, envharness.Action{Name: "combine", Args: []byte(args)})
		if err != nil {
			log.Fatal(err)
		}
		if t.Error != nil {
			fmt.Println(t.Error.Class+":", t.Error.Message)
		}
		fmt.Println(t.Observation.Text)
	}
	t, err := game.Step(ctx, envharness.Action{Name: "stop"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("reward", t.Reward)
	// Output:
	// target=24, numbers=[3, 3, 8, 8]
	// target=24, numbers=[3, 8, 8/3]
	// bad_args: argument j must be a position from 0 to 2
	// target=24, numbers=[3, 8, 8/3]
	// target=24, numbers=[8, 1/3]
	// target=24, numbers=[24]
	// reward 1
}

// The oracle finds a plan, or proves that there is none.
func ExampleNew_plan() {
	ctx := context.Background()
	game := game24.New(nil)
	defer game.Close()
	for _, hand := range []string{"1,5,5,5", "4,4,6,6"} {
		if _, err := game.Reset(ctx, envharness.ResetOptions{Task: hand}); err != nil {
			log.Fatal(err)
		}
		plan, err := game.Plan(ctx)
		if errors.Is(err, envharness.ErrNoPlan) {
			fmt.Println(err)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		for _, a := range plan {
			fmt.Printf("%s%s\n", a.Name, a.Args)
		}
	}
	// Output:
	// combine{"i":0,"j":1,"op":"div"}
	// combine{"i":0,"j":2,"op":"sub"}
	// combine{"i":0,"j":1,"op":"mul"}
	// stop
	// game24: envharness: proved unsolvable: 4,4,6,6 cannot make 24
}

// A setup moves the start of every episode; the verifier judges what reached the game. Only in the loose game does a stop
// with 24 among several numbers pass.
func ExampleWorld() {
	ctx := context.Background()
	setup := envharness.Setup{Actions: []envharness.Action{{Name: "combine", Args: []byte(`{"i":0,"j":1,"op":"mul"}`)}}}
	for _, o := range []*game24.Options{nil, {LooseStop: true}} {
		h, err := envharness.New(game24.World(o), setup)
		if err != nil {
			log.Fatal(err)
		}
		defer h.Close()
		first, err := h.Reset(ctx, envharness.ResetOptions{Task: "3,7,12,12"})
		if err != nil {
			log.Fatal(err)
		}
		for _, a := range []envharness.Action{{Name: "combine", Args: []byte(`{"i":0,"j":1,"op":"add"}`)}, {Name: "stop"}} {
			if _, err := h.Step(ctx, a); err != nil {
				log.Fatal(err)
			}
		}
		v, err := h.Verdict(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(first.Text, v.Status, v.Reason)
	}
	// Output:
	// target=24, numbers=[12, 12, 21] fail 2 numbers are left
	// target=24, numbers=[12, 12, 21] pass
}

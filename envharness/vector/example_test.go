package vector_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/vector"
)

// Two games are played at once. The first stops too early; the next call begins its next game and is marked.
func ExampleNew() {
	ctx := context.Background()
	v, err := vector.New(game24.World(nil), nil, 2, &vector.Options{Mode: vector.NextStep, Parallel: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer v.Close()
	if _, err := v.Reset(ctx, []envharness.ResetOptions{{Task: "1,2,3,4"}, {Task: "1,1,4,6"}}); err != nil {
		log.Fatal(err)
	}
	mul := func(i, j int) envharness.Action {
		return envharness.Action{Name: "combine", Args: fmt.Appendf(nil, `{"i":%d,"j":%d,"op":"mul"}`, i, j)}
	}
	stop := envharness.Action{Name: "stop"}
	for _, actions := range [][]envharness.Action{
		{mul(0, 1), mul(2, 3)}, {stop, mul(0, 1)}, {stop, mul(0, 1)}, {mul(0, 1), stop},
	} {
		results, err := v.Step(ctx, actions)
		if err != nil {
			log.Fatal(err)
		}
		for slot, r := range results {
			switch {
			case r.Err != nil:
				fmt.Println(slot, "failed:", r.Err)
			case r.Episode != nil:
				fmt.Println(slot, r.Episode.Verdict.Status, "return", r.Episode.Return, "turns", r.Episode.Turns)
			case r.AutoReset:
				fmt.Println(slot, "begins", r.Observation.Text)
			}
		}
	}
	// Output:
	// 0 fail return 0 turns 2
	// 0 begins target=24, numbers=[1, 2, 3, 4]
	// 1 pass return 1 turns 4
}

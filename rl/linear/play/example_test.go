package play_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/linear"
	"github.com/throughline-go/throughline/rl/linear/play"
	"github.com/throughline-go/throughline/rl/rollout"
)

// Imitate the desk's own solutions of a few tasks, then play another one four times and compare.
func ExampleCollect() {
	ctx := context.Background()
	desk := tooldesk.New(nil)
	train, err := desk.Tasks(ctx, "train")
	if err != nil {
		log.Fatal(err)
	}
	policy, err := linear.New(1 << 16)
	if err != nil {
		log.Fatal(err)
	}
	_, demos, err := play.Collect(ctx, tooldesk.World(nil), nil, policy, train[:30], &play.Options{
		Plan: func(ctx context.Context, t envharness.Task) ([]envharness.Action, error) {
			if _, err := desk.Reset(ctx, envharness.ResetOptions{Task: t.ID}); err != nil {
				return nil, err
			}
			return desk.Plan(ctx)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, episode := range demos {
		for _, c := range episode {
			if err := policy.AddGrad(c.Candidates, c.Chosen, -1/float64(len(episode)), 1); err != nil {
				log.Fatal(err)
			}
		}
		if _, err := policy.Step(nil); err != nil {
			log.Fatal(err)
		}
	}

	group := slices.Repeat(train[65:66], 4)
	episodes, choices, err := play.Collect(ctx, tooldesk.World(nil), nil, policy, group, &play.Options{
		Rollout: &rollout.Options{Seed: 1, Parallel: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	batch := rollout.Trajectories(episodes)
	credit, err := rl.GRPO(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d choices, %d advantages\n", len(slices.Concat(choices...)), len(credit.TokenAdvantages(nil, batch)))
	for i, t := range batch {
		fmt.Printf("success %v, advantage %.2f\n", *t.Success, credit.Advantage[credit.Start[i]])
	}
	// Output:
	// 16 choices, 16 advantages
	// success true, advantage 0.50
	// success false, advantage -1.50
	// success true, advantage 0.50
	// success true, advantage 0.50
}

// A player is a policy like any other and can be used without Collect.
func ExampleNewPlayer() {
	policy, err := linear.New(1 << 10)
	if err != nil {
		log.Fatal(err)
	}
	player := play.NewPlayer(policy, play.CallFeatures(policy.Dim()), 0, nil, nil)
	a, err := player.Act(context.Background(), envharness.Turn{Shown: envharness.Observation{
		Text:    "Two doors.",
		Actions: []envharness.Action{{Name: "left"}, {Name: "right"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Name)
	// Output: left
}

package rollout_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/linear"
	"github.com/throughline-go/throughline/rl/rollout"
)

// Imitate the desk's own solutions of a few tasks, then play other ones.
func ExampleCollect() {
	ctx := context.Background()
	desk := tooldesk.New()
	train, err := desk.Tasks(ctx, "train")
	if err != nil {
		log.Fatal(err)
	}
	policy := linear.New(1 << 16)
	demos, err := rollout.Collect(ctx, tooldesk.World(), nil, policy, train[:30], &rollout.Options{
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
	for _, e := range demos {
		for _, c := range e.Choices {
			if err := policy.AddGrad(c.Candidates, c.Chosen, -1/float64(len(e.Choices)), 1); err != nil {
				log.Fatal(err)
			}
		}
		if _, err := policy.Step(nil); err != nil {
			log.Fatal(err)
		}
	}

	group := []envharness.Task{train[65], train[65], train[65], train[65]}
	episodes, err := rollout.Collect(ctx, tooldesk.World(), nil, policy, group, &rollout.Options{Seed: 1, Parallel: 2})
	if err != nil {
		log.Fatal(err)
	}
	batch, choices := rollout.Batch(episodes)
	credit, err := rl.GRPO(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d episodes, %d choices\n", len(batch), len(choices))
	for i, t := range batch {
		fmt.Printf("success %v, advantage %.2f\n", *t.Success, credit.Advantage[credit.Start[i]])
	}
	// Output:
	// 4 episodes, 16 choices
	// success true, advantage 0.50
	// success false, advantage -1.50
	// success true, advantage 0.50
	// success true, advantage 0.50
}

// A player is a policy like any other and can be used without Collect.
func ExampleNewPlayer() {
	player := rollout.NewPlayer(linear.New(1<<10), rollout.CallFeatures(1<<10), 0, nil, nil)
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

package loop_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/loop"
	"github.com/throughline-go/throughline/skill/memory"
)

// A planner with a fixed list and an executor that always succeeds stand for the language models.
func ExampleRun() {
	ctx := context.Background()
	m, err := memory.New(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	plan := []string{"Log in to the shop", "Order a kettle in the shop"}
	agent := loop.Agent{
		Planner: loop.PlannerFunc(func(_ context.Context, p loop.Progress) (string, bool, error) {
			if p.Number > len(plan) {
				return "", true, nil
			}
			return plan[p.Number-1], false, nil
		}),
		Executor: loop.ExecutorFunc(func(_ context.Context, a loop.Assignment) ([]skill.Step, error) {
			fmt.Printf("%s: %d skills, %d steps left\n", a.Subtask, len(a.Skills), a.Left)
			call := func(name string, args map[string]any) skill.Step {
				return skill.Step{Name: name, Args: args, Observation: "ok"}
			}
			if a.Number == 1 {
				return []skill.Step{
					call("shop.open", map[string]any{"url": "https://shop.example"}),
					call("shop.login", map[string]any{"user": "amy"}),
				}, nil
			}
			return []skill.Step{
				call("shop.search", map[string]any{"text": "kettle"}),
				call("shop.buy", map[string]any{"item": 17}),
			}, nil
		}),
	}
	task := skill.Task{ID: "order-1", Text: "Buy a kettle"}
	r, err := loop.Run(ctx, task, agent, m, &loop.Options{Episode: "run-1"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Stop)
	fmt.Println(r.Summary)
	for e := range m.All() {
		fmt.Print(e.Name(), "\n", e.Body())
	}
	// Output:
	// Log in to the shop: 0 skills, 50 steps left
	// Order a kettle in the shop: 1 skills, 48 steps left
	// done
	// 1. Log in to the shop (2 steps)
	// 2. Order a kettle in the shop (2 steps)
	// log-in-to-the-shop
	// - Procedure: shop.open(url) → shop.login(user)
	// order-a-kettle-in-the-shop
	// - Procedure: shop.search(text) → shop.buy(item)
}

package rigtest_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
)

// rate plays a task a hundred times and returns the share that passes.
func rate(w envharness.World, stack []envharness.Component, newPolicy rigtest.Maker) float64 {
	const n = 100
	tasks := make([]envharness.Task, n)
	for i := range tasks {
		tasks[i] = envharness.Task{ID: "small-T1-0000"}
	}
	traces, err := envharness.Rollouts(context.Background(), w, stack, func(slot int) (envharness.Policy, error) {
		return newPolicy(tasks[slot], envharness.RandStream(1, "rigtest/example", uint64(slot)))
	}, tasks, nil)
	if err != nil {
		fmt.Println(err)
		return 0
	}
	r, err := envharness.SuccessRate(traces, n)
	if err != nil {
		fmt.Println(err)
	}
	return r
}

// A policy that never tries again fails where a clean one does not.
func Example() {
	w := tooldesk.World(&tooldesk.Options{Small: true})
	flawed, err := rigtest.Flawed(w, diagnosis.IgnoredError, &rigtest.Options{Rate: new(1.0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	failing := []envharness.Component{components.ToolFail{Tools: []string{"cancel_order"}}}
	fmt.Println("no component:", rate(w, nil, rigtest.Clean(w)), rate(w, nil, flawed))
	fmt.Println("cancel_order fails once:", rate(w, failing, rigtest.Clean(w)), rate(w, failing, flawed))
	// Output:
	// no component: 1 1
	// cancel_order fails once: 1 0
}

func ExamplePlants() {
	w := keydoor.World(&keydoor.Options{Small: true})
	plants, err := rigtest.Plants(context.Background(), w, envharness.Task{ID: "small-2,2,0,0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range plants[:3] {
		fmt.Println(p.Flaw, p.About, "- entails", p.Entails)
		for _, c := range p.Stack {
			fmt.Println("   ", c.Spec().Tag, string(c.Spec().Params))
		}
	}
	// Output:
	// F01 after its first action makes one call that changes nothing for the rest of the episode - entails [F08 F16 F17]
	// F02 submits before it wrote anything, or stops after its first action - entails []
	// F04 never calls again a tool that failed for the moment: does without, or gives up - entails []
	//     tool_fail {"tools":["right"],"nth":4,"count":1}
}

// A diagnosis of a planted flaw.
func ExampleFlawed() {
	w := tooldesk.World(&tooldesk.Options{Small: true})
	newPolicy, err := rigtest.Flawed(w, diagnosis.BudgetExhausted, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tasks := make([]envharness.Task, 8)
	for i := range tasks {
		tasks[i] = envharness.Task{ID: "small-T5-0024"}
	}
	traces, err := envharness.Rollouts(context.Background(), w, nil, func(slot int) (envharness.Policy, error) {
		return newPolicy(tasks[slot], envharness.RandStream(1, "rigtest/example", uint64(slot)))
	}, tasks, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	flaws, err := diagnosis.Diagnose(traces, diagnosis.Context{}, nil)
	for _, f := range flaws {
		fmt.Printf("%s in %.0f of 8\n", f.ID, 8*f.Support)
	}
	fmt.Println(err)
	// Output:
	// F08 in 5 of 8
	// <nil>
}

func ExampleClean() {
	w := tooldesk.World(&tooldesk.Options{Small: true})
	limited := []envharness.Component{components.RateLimit{Tools: []string{"get_order"}, Calls: 1, Per: 5}}
	fmt.Println(rate(w, limited, rigtest.Clean(w)))
	// Output: 1
}

func ExamplePatience() {
	w := tooldesk.World(&tooldesk.Options{Small: true})
	patience, err := rigtest.Patience(w, 0.7)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, turns := range []int{4, 6, 8} { // the plan has four
		stack := []envharness.Component{components.StepBudget{Turns: turns}}
		fmt.Printf("%d turns: %.2f of 100, %.3f\n", turns, rate(w, stack, patience), rigtest.PatienceRate(0.7, 4, turns))
	}
	// Output:
	// 4 turns: 0.27 of 100, 0.300
	// 6 turns: 0.69 of 100, 0.657
	// 8 turns: 0.82 of 100, 0.832
}

func ExamplePatienceRate() {
	fmt.Println(rigtest.PatienceRate(0.5, 4, 3), rigtest.PatienceRate(0.5, 4, 4), rigtest.PatienceRate(0.5, 4, 5))
	// Output: 0 0.5 0.75
}

func ExampleRetry() {
	w := tooldesk.World(&tooldesk.Options{Small: true})
	retry, err := rigtest.Retry(w, 0.8)
	if err != nil {
		fmt.Println(err)
		return
	}
	for count := 1; count <= 3; count++ {
		stack := []envharness.Component{components.ToolFail{Count: count}}
		fmt.Printf("%d failures: %.2f of 100, %.3f\n", count, rate(w, stack, retry), rigtest.RetryRate(0.8, count))
	}
	// Output:
	// 1 failures: 0.81 of 100, 0.800
	// 2 failures: 0.60 of 100, 0.640
	// 3 failures: 0.48 of 100, 0.512
}

func ExampleRetryRate() {
	fmt.Println(rigtest.RetryRate(0.5, 0), rigtest.RetryRate(0.5, 1), rigtest.RetryRate(0.5, 3))
	// Output: 1 0.5 0.125
}

func ExampleCoin() {
	w := tooldesk.World(&tooldesk.Options{Small: true})
	coin, err := rigtest.Coin(w, 0.25)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", rate(w, nil, coin))
	// Output:
	// 0.32
}

// A component that gets hold of the environment, and what the harness makes of it.
func ExampleTap() {
	w, tap := rigtest.Tap(tooldesk.World(&tooldesk.Options{Small: true}))
	registry := components.Catalogue()
	for _, h := range rigtest.Hostiles(tap) {
		if err := registry.Add(h.Kind); err != nil {
			fmt.Println(err)
			return
		}
	}
	stack, err := registry.Stack(components.Entry{Tag: "hostile_head"})
	if err != nil {
		fmt.Println(err)
		return
	}
	traces, err := envharness.Rollouts(context.Background(), w, stack, func(int) (envharness.Policy, error) {
		return rigtest.Clean(w)(envharness.Task{ID: "small-T1-0000"}, nil)
	}, []envharness.Task{{ID: "small-T1-0000"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(traces[0].Verdict.Status)
	// Output: invalid
}

func ExampleTapped_Live() {
	ctx := context.Background()
	w, tap := rigtest.Tap(keydoor.World(nil))
	env, err := w.New(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer env.Close()
	if _, err := env.Reset(ctx, envharness.ResetOptions{Task: "2,5,0,0", Seed: new(uint64(9))}); err != nil {
		fmt.Println(err)
		return
	}
	live, ok := tap.Live("2,5,0,0", 9)
	_, other := tap.Live("2,5,0,0", 8)
	fmt.Println(live != nil, ok, other)
	// Output: true true false
}

func ExampleHostiles() {
	for _, h := range rigtest.Hostiles(nil) {
		fmt.Printf("%s: %s %s\n", h.Step, h.Kind.Tag, h.Kind.About)
	}
	// Output:
	// static: hostile_dead has all hooks, and none changes anything
	// static: hostile_scribble writes into the copies that its hooks are handed, and passes on what was in them
	// integrity: hostile_panic panics at the first action
	// integrity: hostile_error fails at the first result
	// integrity: hostile_false answers every write as carried out, and carries none out
	// integrity: hostile_swallow answers what the world would refuse as carried out
	// integrity: hostile_state prints parts of the state that the world does not show
	// integrity: hostile_moody refuses the first action in every other episode, whatever its seed
	// integrity: hostile_sleeper refuses the first action, and from its episode 41 on answers every call of every other episode as carried out
	// oracle: hostile_end ends the episode after one turn
	// oracle: hostile_cut truncates the episode with the first action that is carried out
	// oracle: hostile_wall refuses all actions
}

func ExampleHostile_Entry() {
	h := rigtest.Hostiles(nil)[0]
	fmt.Printf("%q\n", h.Entry().Tag)
	// Output: "hostile_dead"
}

// A maker is a function of the task and a stream alone.
func ExampleMaker() {
	w := keydoor.World(&keydoor.Options{Small: true})
	var newPolicy rigtest.Maker = rigtest.Clean(w)
	policy, err := newPolicy(envharness.Task{ID: "small-2,2,0,0"}, rand.New(rand.NewPCG(1, 2)))
	fmt.Println(policy != nil, err)
	// Output: true <nil>
}

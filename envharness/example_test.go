package envharness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A guess is all that a custom environment needs inside a harness, which gives it seeds, guards its life cycle and counts its turns: find a
// number from 1 to 8. One to be used by itself has to see to that as well; package envtest says to what.
type guess struct{ secret int }

func (g *guess) Reset(_ context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	g.secret = 1 + envharness.RandStream(*o.Seed, "env", 0).IntN(8)
	return envharness.Observation{Text: "guess a number from 1 to 8"}, nil
}

func (g *guess) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	var args struct{ Number int }
	if err := json.Unmarshal(a.Args, &args); err != nil {
		bad := envharness.ActionError{Class: envharness.ClassBadArgs, Message: "number missing"}
		return envharness.Transition{Observation: envharness.Observation{Text: bad.Message}, Error: &bad}, nil
	}
	switch {
	case args.Number < g.secret:
		return envharness.Transition{Observation: envharness.Observation{Text: "higher"}}, nil
	case args.Number > g.secret:
		return envharness.Transition{Observation: envharness.Observation{Text: "lower"}}, nil
	}
	return envharness.Transition{Observation: envharness.Observation{Text: "right"}, Reward: 1, Terminated: true}, nil
}

func (g *guess) Close() error { return nil }

var guessing = envharness.World{
	New: func(context.Context) (envharness.Environment, error) { return &guess{}, nil },
	Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
		if e.Log[len(e.Log)-1].Transition.Terminated { // only the right number ends the game
			return envharness.Verdict{Status: envharness.Pass}, nil
		}
		return envharness.Verdict{Status: envharness.Fail}, nil
	}),
}

func number(n int) envharness.Action {
	return envharness.Action{Name: "guess", Args: json.RawMessage(fmt.Sprintf(`{"number":%d}`, n))}
}

// bisect halves the interval after each answer and repeats a guess that got none.
func bisect(int) (envharness.Policy, error) {
	lo, hi, last := 1, 8, 0
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		switch t.Shown.Text {
		case "higher":
			lo = last + 1
		case "lower":
			hi = last - 1
		}
		last = (lo + hi) / 2
		return number(last), nil
	}), nil
}

// A custom environment with its verifier, played as it is and with components around it.
func Example() {
	ctx := context.Background()
	tasks := make([]envharness.Task, 8)
	for i := range tasks {
		tasks[i].Seed = new(uint64(i))
	}
	for _, stack := range [][]envharness.Component{
		nil,
		{components.ToolFail{}}, // the first call fails: one turn more
		{components.ToolFail{}, components.StepBudget{Turns: 3}}, // too few turns for some numbers
	} {
		traces, err := envharness.Rollouts(ctx, guessing, stack, bisect, tasks, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		rate, err := envharness.SuccessRate(traces, len(traces))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d components: %.2f of %d\n", len(stack), rate, len(traces))
	}
	// Output:
	// 0 components: 1.00 of 8
	// 1 components: 1.00 of 8
	// 2 components: 0.50 of 8
}

// The loop that [Rollouts] runs, by hand.
func ExampleNew() {
	ctx := context.Background()
	h, err := envharness.New(guessing, components.Block{Tools: []string{"shout"}, Reason: "quiet, please"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	obs, err := h.Reset(ctx, envharness.ResetOptions{Seed: new(uint64(6))})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(obs.Text)
	for _, a := range []envharness.Action{{Name: "shout"}, number(3), number(5)} {
		t, err := h.Step(ctx, a)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q ended=%v\n", t.Observation.Text, t.Ended())
	}
	v, err := h.Verdict(ctx)
	fmt.Println(v.Status, v.Score, err)
	// Output:
	// guess a number from 1 to 8
	// "[blocked] quiet, please\n\nguess a number from 1 to 8" ended=false
	// "higher" ended=false
	// "right" ended=true
	// pass 1 <nil>
}

// Rules make a component of plain functions: one hides half of what the environment says, the other decides about actions.
func ExampleRules() {
	terse := envharness.Rules(envharness.ComponentSpec{Tag: "terse", Axis: envharness.AxisObservation},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
				o.Text = o.Text[:len(o.Text)/2]
				return o, nil
			}}, nil
		})
	clerk := envharness.Rules(envharness.ComponentSpec{Tag: "clerk", Axis: envharness.AxisAction},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Action: func(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
				switch v.Turn {
				case 0:
					return envharness.BlockAction("not yet"), nil
				case 1:
					return envharness.AnswerAction("line busy", &envharness.ActionError{Class: envharness.ClassTransient, Retryable: true}), nil
				case 2:
					return envharness.ReplaceAction(number(1)), nil
				case 3:
					return envharness.PassAction(), nil
				}
				return envharness.EndEpisode("closing time"), nil
			}}, nil
		})
	ctx := context.Background()
	h, err := envharness.New(guessing, terse, clerk)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{Seed: new(uint64(6))}); err != nil {
		fmt.Println(err)
		return
	}
	for range 5 {
		t, err := h.Step(ctx, number(8))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q", t.Observation.Text)
		if t.Ended() {
			fmt.Print(" ", t.Reason)
		}
		fmt.Println()
	}
	// Output:
	// "[blocked] not yet\n\nguess a numbe"
	// "line busy"
	// "hig"
	// "lo"
	// "lower" budget:clerk:closing time
}

// As finds an optional ability of an environment.
func ExampleAs() {
	_, ok := envharness.As[envharness.Stater](&guess{})
	fmt.Println(ok)
	// Output: false
}

// A setup must leave something to do.
func ExampleSetup() {
	for _, n := range []int{3, 5} {
		h, err := envharness.New(guessing, envharness.Setup{Actions: []envharness.Action{number(n)}})
		if err != nil {
			fmt.Println(err)
			return
		}
		obs, err := h.Reset(context.Background(), envharness.ResetOptions{Seed: new(uint64(6))})
		fmt.Printf("%q %v\n", obs.Text, err)
		if err := h.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// "higher" <nil>
	// "" envharness: component_error: start_replay: envharness: setup failed: action 0 (guess {"number":5}): it ended the episode
}

// Traces are stored as JSON lines and hold both what the base did and what the policy was shown.
func ExampleRollouts() {
	ctx := context.Background()
	traces, err := envharness.Rollouts(ctx, guessing, []envharness.Component{components.ToolFail{Tools: []string{"guess"}}}, bisect,
		[]envharness.Task{{ID: "a"}, {ID: "a"}}, &envharness.RolloutOptions{Parallel: 2, Seed: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := envharness.WriteTraces(&file, traces); err != nil {
		fmt.Println(err)
		return
	}
	for t, err := range envharness.ReadTraces(strings.NewReader(file.String())) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t.Slot, t.Verdict.Status, t.End, len(t.Turns), "turns")
		first := t.Turns[0]
		fmt.Println("applied:", first.Applied != nil, "edit:", first.Layers[0].Edit, "shown:", first.Shown.Observation.Text)
	}
	// Output:
	// 0 pass terminated 2 turns
	// applied: false edit: answer shown: Error: guess is temporarily unavailable, try again
	// 1 pass terminated 2 turns
	// applied: false edit: answer shown: Error: guess is temporarily unavailable, try again
}

func ExampleCanonicalJSON() {
	b, err := envharness.CanonicalJSON(map[string]any{"b": 1.0, "a": []any{2.5, "é<"}})
	fmt.Println(string(b), err)
	// Output: {"a":[2.5,"é<"],"b":1} <nil>
}

func ExampleRandStream() {
	fmt.Println(envharness.RandStream(42, "env", 0).Float64())
	// Output: 0.1608613399637847
}

// Tasks may come one by one; traces are yielded in their order, and leaving the loop stops everything.
func ExampleStream() {
	ctx := context.Background()
	endless := func(yield func(envharness.Task) bool) {
		for seed := uint64(0); yield(envharness.Task{Seed: &seed}); seed++ {
		}
	}
	for t, err := range envharness.Stream(ctx, guessing, nil, bisect, endless, &envharness.RolloutOptions{Parallel: 4}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t.Slot, t.Verdict.Status, len(t.Turns), "turns")
		if t.Slot == 2 {
			break
		}
	}
	// Output:
	// 0 pass 4 turns
	// 1 pass 2 turns
	// 2 pass 3 turns
}

// Two worlds one after the other: both must be passed. The turn that ends the first shows the beginning of the second.
func ExampleLink() {
	ctx := context.Background()
	twice, err := envharness.Link([]envharness.Leg{{World: guessing}, {World: guessing}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := envharness.New(twice)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{Seed: new(uint64(2))}); err != nil {
		fmt.Println(err)
		return
	}
	for n := 1; ; n++ {
		t, err := h.Step(ctx, number(1+(n-1)%8))
		if err != nil {
			fmt.Println(err)
			return
		}
		if t.Ended() || strings.Contains(t.Observation.Text, "switched") {
			fmt.Printf("turn %d: %q\n", n, t.Observation.Text)
		}
		if t.Ended() {
			break
		}
	}
	v, err := h.Verdict(ctx)
	fmt.Println(v.Status, v.Parts, err)
	// Output:
	// turn 8: "[switched to new task]\n\nright\n\nguess a number from 1 to 8"
	// turn 11: "right"
	// pass map[leg0:1 leg1:1] <nil>
}

// A budget comes last, whatever the order in which the components were found.
func ExampleCanonical() {
	for _, c := range envharness.Canonical([]envharness.Component{
		components.StepBudget{Turns: 5}, components.Block{}, envharness.Setup{Actions: []envharness.Action{number(1)}},
	}) {
		fmt.Println(c.Spec().Axis, c.Spec().Tag)
	}
	// Output:
	// S0 start_replay
	// A block
	// B step_budget
}

func ExampleReservedTool() {
	fmt.Println(envharness.ReservedTool("reset"), envharness.ReservedTool("restart"))
	// Output: true false
}

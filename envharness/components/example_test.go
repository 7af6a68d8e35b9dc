package components_test

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// show plays calls against an environment that repeats their names.
func show(c envharness.Component, calls ...string) {
	ctx := context.Background()
	h, err := envharness.New(worldOf(&echo{}), c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range calls {
		t, err := h.Step(ctx, envharness.Action{Name: name})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %q", name, t.Observation.Text)
		if t.Ended() {
			fmt.Print(" ended by ", t.Reason)
		}
		fmt.Println()
	}
}

func ExampleBlock() {
	show(components.Block{Tools: []string{"delete_*"}, Reason: "read only today"}, "delete_order", "get_order")
	// Output:
	// delete_order: "[blocked] read only today\n\nstart"
	// get_order: "get_order"
}

func ExampleToolFail() {
	show(components.ToolFail{Tools: []string{"get_*"}}, "get_order", "get_order")
	// Output:
	// get_order: "Error: get_order is temporarily unavailable, try again"
	// get_order: "get_order"
}

func ExampleStepBudget() {
	show(components.StepBudget{Turns: 2}, "a", "b", "c")
	// Output:
	// a: "a"
	// b: "b" ended by budget:step_budget
	// envharness: episode is over
}

package components_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

func ExampleRename() {
	ctx := context.Background()
	world := worldOf(&echo{})
	rename := components.Rename{
		Tools: map[string]string{"get_order": "fetch"},
		Args:  map[string]map[string]string{"get_order": {"id": "key"}},
	}
	h, err := envharness.New(world, rename)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"fetch", "get_order"} {
		t, err := h.Step(ctx, envharness.Action{Name: name, Args: json.RawMessage(`{"key":7}`)})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t.Observation.Text)
	}
	// Output:
	// get_order
	// Error: no tool named "get_order"
}

func ExampleSticky() {
	show(components.Sticky{P: new(1.0), Exempt: []string{"submit"}}, "left", "right", "submit")
	// Output:
	// left: "left"
	// right: "left"
	// submit: "submit"
}

func ExampleToolDown() {
	show(components.ToolDown{Tools: []string{"search"}, Window: components.Window{From: 1}}, "search", "search", "list")
	// Output:
	// search: "search"
	// search: "Error: search is out of service"
	// list: "list"
}

func ExampleRateLimit() {
	show(components.RateLimit{Tools: []string{"get_*"}, Calls: 2, Per: 4}, "get_a", "get_b", "get_c", "wait", "get_c")
	// Output:
	// get_a: "get_a"
	// get_b: "get_b"
	// get_c: "Error: too many calls of get_c, retry_after 2"
	// wait: "wait"
	// get_c: "get_c"
}

func ExamplePermission() {
	show(components.Permission{Tools: []string{"delete_*"}, Grant: components.Match{Tool: "log_in"}, Expires: 1},
		"delete_a", "log_in", "delete_a", "delete_b")
	// Output:
	// delete_a: "[blocked] permission needed, first call log_in\n\nstart"
	// log_in: "log_in"
	// delete_a: "delete_a"
	// delete_b: "[blocked] permission needed, first call log_in\n\ndelete_a"
}

func ExampleCallCap() {
	show(components.CallCap{Tools: []string{"hint"}, Max: 1}, "hint", "hint", "guess")
	// Output:
	// hint: "hint"
	// hint: "[blocked] too many calls of hint\n\nhint"
	// guess: "guess"
}

func ExampleSubmitGate() {
	gate := components.SubmitGate{Submit: []string{"submit"}, Require: []components.Match{{Tool: "run_tests"}}, MaxBlocks: new(1)}
	show(gate, "run_tests", "edit", "submit", "submit")
	// Output:
	// run_tests: "run_tests"
	// edit: "edit"
	// submit: "[blocked] before submit first call run_tests\n\nedit"
	// submit: "submit"
}

func ExampleOrderLock() {
	test := components.Match{Tool: "run_tests"}
	lock := components.OrderLock{Edges: []components.Edge{{Before: test, After: components.Match{Tool: "deploy"}}}}
	show(lock, "deploy", "run_tests", "deploy")
	// Output:
	// deploy: "[blocked] before deploy first call run_tests\n\nstart"
	// run_tests: "run_tests"
	// deploy: "deploy"
}

// Patterns of actions and ranges of turns narrow what a component does.
func ExampleEdge() {
	open := components.Match{Tool: "open", Args: map[string]any{"door": "red"}}
	lock := components.OrderLock{
		Edges:  []components.Edge{{Before: open, After: components.Match{Tool: "enter_*"}}},
		Window: components.Window{Until: 1},
	}
	show(lock, "enter_hall", "enter_hall")
	// Output:
	// enter_hall: "[blocked] before enter_hall first call open {\"door\":\"red\"}\n\nstart"
	// enter_hall: "enter_hall"
}

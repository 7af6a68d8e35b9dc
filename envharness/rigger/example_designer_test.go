package rigger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// What the rules propose follows from the brief: here a policy passes in 20 turns what takes 14.
func ExampleRules() {
	b := rigger.Brief{
		Direction: components.Harder,
		Baseline:  rigger.Snapshot{Optimal: 14, Limit: 42},
		Plan:      slices.Repeat([]envharness.Action{{Name: "right"}}, 14),
		Flaws:     []diagnosis.Flaw{{ID: diagnosis.OverLong, Support: 0.8}},
	}
	for range 3 {
		c, err := rigger.Rules{}.Design(context.Background(), b)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %s: %s\n", c.Stack[0].Tag, c.Stack[0].Params, c.Rationale)
		b.Attempts = append(b.Attempts, rigger.Attempt{Candidate: c, Decision: rigger.Refine})
		b.Refine = &rigger.Refinement{Harder: true}
	}
	// Output:
	// step_budget {"turns":21}: F07 in 80 % of the episodes: step_budget, rung 1 of 2
	// step_budget {"turns":17}: F07 in 80 % of the episodes: step_budget, rung 2 of 2
	// tool_fail {"count":1,"nth":1,"tools":["right"]}: no flaw stands out: tool_fail, rung 1 of 3
}

// A language model is a function from a prompt to a reply. This one is a fixed text.
func ExampleModel() {
	m := &rigger.Model{Generate: func(context.Context, string) (string, error) {
		return `{"components":[{"tag":"tool_fail","params":{"count":2}}],"direction":"harder","target_flaw":"F04","rationale":"never retries"}`, nil
	}}
	c, err := m.Design(context.Background(), rigger.Brief{Direction: components.Harder})
	fmt.Println(c.Stack[0].Tag, string(c.Stack[0].Params), c.Flaw.Name(), err)
	// Output:
	// tool_fail {"count":2} no retry <nil>
}

// A decision that cannot be read is a rejection.
func ExampleModel_Decide() {
	m := &rigger.Model{Name: "talker", Repairs: new(0), Generate: func(context.Context, string) (string, error) {
		return "I would accept it.", nil
	}}
	d, err := m.Decide(context.Background(), rigger.Brief{Direction: components.Harder}, rigger.Attempt{Number: 1})
	fmt.Println(m, d)
	fmt.Println(err)
	// Output:
	// model:talker, 0 repairs reject
	// rigger: model: decide: reply 1: it does not begin with a JSON object
}

// The explorer finds a first move that makes a hand longer to solve.
func ExampleExplorer() {
	e := rigger.Explorer{World: game24.World(nil)}
	c, err := e.Design(context.Background(), rigger.Brief{Task: envharness.Task{ID: "1,1,1,8", Seed: new(uint64(1))}, Direction: components.Harder})
	fmt.Println(string(c.Stack[0].Params), err)
	fmt.Println(c.Rationale)
	// Output:
	// {"actions":[{"args":{"i":3,"j":1,"op":"mul"},"name":"combine"}]} <nil>
	// actions before the first turn: 1; turns of a solution from there: 5, not 4
}

// A designer of one's own is a function.
func ExampleDesignerFunc() {
	blind := rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
		c := rigger.Candidate{Direction: b.Direction}
		if len(b.Attempts) == 0 {
			c.Stack = []components.Entry{{Tag: "hide_keys", Params: json.RawMessage(`{"actions":true}`)}}
		}
		return c, nil
	})
	world := keydoor.World(nil)
	c, err := blind.Design(context.Background(), rigger.Brief{Direction: components.Harder})
	if err != nil {
		fmt.Println(err)
		return
	}
	stack, err := components.Catalogue().Stack(c.Stack...)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := envharness.New(world, stack...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	o, err := h.Reset(context.Background(), envharness.ResetOptions{Task: "2,5,0,0", Seed: new(uint64(1))})
	fmt.Println(o.Text, len(o.Actions), err)
	// Output:
	// Room 0, cell 0. Door closed. Keys held: none. Keys here: none. 0 <nil>
}

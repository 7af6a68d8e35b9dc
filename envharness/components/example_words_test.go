package components_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// Data becomes a stack, and a stack becomes data.
func ExampleRegistry_Stack() {
	r := components.Catalogue()
	stack, err := r.Stack(
		components.Entry{Tag: "tool_fail", Params: json.RawMessage(`{"tools":["get_order"]}`)},
		components.Entry{Tag: "step_budget", ID: "hurry", Params: json.RawMessage(`{"turns":9}`)},
	)
	if err != nil {
		log.Fatal(err)
	}
	entries, err := r.Entries(stack...)
	fmt.Println(entries[0].ID, entries[1].ID, err)
	_, err = r.Stack(components.Entry{Tag: "tool_fail", Params: json.RawMessage(`{"tool":"get_order"}`)})
	fmt.Println(err)
	// Output:
	// tool_fail hurry <nil>
	// components: stack: /0/params/tool: components: unknown parameter
}

// An entry in words.
func ExampleRegistry_Words() {
	r := components.Catalogue()
	fmt.Println(r.Words(components.Entry{Tag: "tool_fail", Params: json.RawMessage(`{"tools":["get_order"]}`)}))
	fmt.Println(r.Words(components.Entry{Tag: "block", Params: json.RawMessage(`{"tools":["delete_*"],"from":3}`)}))
	// Output:
	// the first call of get_order fails once, and can be retried
	// from turn 3 on, calls of "delete_*" are refused with "not available"
}

func ExampleDirection() {
	fmt.Println(components.Harder, components.Harder|components.Easier)
	var d components.Direction
	err := json.Unmarshal([]byte(`"easier"`), &d)
	fmt.Println(d == components.Easier, err)
	// Output:
	// harder harder|easier
	// true <nil>
}

// A plan for the world as it is, said under the names that are shown.
func ExampleRename_Outward() {
	r := components.Rename{Tools: map[string]string{"get_order": "show_order"}, Args: map[string]map[string]string{"get_order": {"id": "number"}}}
	fmt.Println(r.Outward(envharness.Action{Name: "get_order", Args: json.RawMessage(`{"id":"O1"}`)}))
	// Output:
	// show_order {"number":"O1"}
}

func ExampleSchemaDrift_Outward() {
	s := components.SchemaDrift{Tools: map[string]components.Drift{"get_order": {
		Rename: map[string]string{"order_id": "id"}, Enum: map[string]map[string]string{"part": {"all": "ALL"}},
	}}}
	fmt.Println(s.Outward(envharness.Action{Name: "get_order", Args: json.RawMessage(`{"order_id":"O1","part":"all"}`)}))
	// Output:
	// get_order {"id":"O1","part":"ALL"}
}

// What has to be done first, in its order.
func ExampleOrderLock_Requires() {
	l := components.OrderLock{Edges: []components.Edge{
		{Before: components.Match{Tool: "get_order"}, After: components.Match{Tool: "cancel_order"}},
		{Before: components.Match{Tool: "login"}, After: components.Match{Tool: "get_order"}},
	}}
	for _, m := range l.Requires(envharness.Action{Name: "cancel_order"}) {
		fmt.Println(m.Tool)
	}
	fmt.Println(len(l.Requires(envharness.Action{Name: "login"})))
	// Output:
	// login
	// get_order
	// 0
}

func ExamplePermission_Requires() {
	p := components.Permission{Tools: []string{"set_*"}, Grant: components.Match{Tool: "login"}}
	fmt.Println(p.Requires(envharness.Action{Name: "set_address"})[0].Tool, len(p.Requires(envharness.Action{Name: "get_order"})))
	// Output:
	// login 0
}

func ExampleSubmitGate_Requires() {
	g := components.SubmitGate{Submit: []string{"submit"}, Require: []components.Match{{Tool: "get_order"}}}
	fmt.Println(g.Requires(envharness.Action{Name: "submit"})[0].Tool)
	// Output:
	// get_order
}

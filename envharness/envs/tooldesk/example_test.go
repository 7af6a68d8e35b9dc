package tooldesk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
)

// A desk answers calls as an API does, and tells what it knows about a refusal.
func ExampleNew() {
	ctx := context.Background()
	desk := tooldesk.New(nil)
	defer desk.Close()
	first, err := desk.Reset(ctx, envharness.ResetOptions{Task: "T4-0000"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Data["task"])
	for _, a := range []envharness.Action{
		{Name: "get_order", Args: []byte(`{"order_id":"O-6923"}`)},
		{Name: "refund", Args: []byte(`{"order_id":"O-6923","amount_cents":4159}`)},
	} {
		t, err := desk.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(t.Observation.Text)
	}
	// Output: Hello, this is Ada Weber, my e-mail address is ada.weber@example.com. You promised me 4159 cents back for the late delivery of order O-6923.
	// {"order_id":"O-6923","customer_id":"C-641","status":"delivered","paid_cents":13865,"refunded_cents":0,"address":"36 Church Street, Westerham","lines":[{"sku":"BLE-388","name":"Juniper blender","price_cents":13865}],"refundable_cents":13865,"delivered_day":368,"refund_window":"open"}
	// {"error":{"class":"permission","message":"customer C-641 has not been looked up with find_customer"}}
}

// The oracle of the desk solves a task; every call that it makes is among the candidates that a policy is offered.
func ExampleNew_oracle() {
	ctx := context.Background()
	desk := tooldesk.New(nil)
	defer desk.Close()
	tasks, err := desk.Tasks(ctx, "ood")
	if err != nil {
		log.Fatal(err)
	}
	o, err := desk.Reset(ctx, envharness.ResetOptions{Task: tasks[0].ID})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := desk.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range plan {
		t, err := desk.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("one of %d: %s %s\n", len(o.Actions), a.Name, a.Args)
		o = t.Observation
		if t.Ended() {
			fmt.Println("reward", t.Reward)
		}
	}
	// Output:
	// one of 13: find_customer {"email":"isolde.etxeberria@example.com"}
	// one of 18: get_order {"order_id":"O-2137"}
	// one of 20: set_address {"address":"155 Vineyard Street, Pradovia","order_id":"O-2137"}
	// one of 20: get_order {"order_id":"O-9459"}
	// one of 25: cancel_order {"order_id":"O-9459","reason":"no longer needed"}
	// one of 26: submit {"answer":"O-2137, O-9459"}
	// reward 1
}

// The verifier judges the calls, whoever made them, by the tables that they lead to and by the answer.
func ExampleWorld() {
	ctx := context.Background()
	world := tooldesk.World(nil)
	desk, err := world.New(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer desk.Close()
	if _, err := desk.Reset(ctx, envharness.ResetOptions{Task: "T1-0000"}); err != nil {
		log.Fatal(err)
	}
	evidence := envharness.Evidence{Task: "T1-0000", Log: []envharness.LogEntry{{Kind: envharness.LogReset}}}
	for _, a := range []envharness.Action{
		{Name: "find_customer", Args: []byte(`{"email":"katya.castillo@example.com"}`)},
		{Name: "cancel_order", Args: []byte(`{"order_id":"O-7012","reason":"no longer needed"}`)},
		{Name: "submit", Args: []byte(`{"answer":"all done"}`)},
	} {
		t, err := desk.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		evidence.Log = append(evidence.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: a, Transition: t})
	}
	verdict, err := world.Verifier.Verify(ctx, evidence)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.Status, verdict.Parts)
	fmt.Println(verdict.Reason)
	// Output:
	// fail map[comm:0 db:1]
	// the answer does not name all of ["O-7012"]
}

// The text of the small desk tells all that is known.
func ExampleOptions() {
	ctx := context.Background()
	desk := tooldesk.New(&tooldesk.Options{Small: true})
	defer desk.Close()
	if _, err := desk.Reset(ctx, envharness.ResetOptions{Task: "small-T3-0002"}); err != nil {
		log.Fatal(err)
	}
	plan, err := desk.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for i, a := range plan {
		t, err := desk.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(a.Text())
		if i == 2 {
			fmt.Println(t.Observation.Text)
		}
	}
	// Output:
	// find_customer ann
	// get_order o1
	// get_product kettle1
	// ann: swap o1 kettle2 for kettle1
	// c2
	// o1 c2 delivered kettle2 20 left 20
	// kettle1 stocked
	// exchange_item kettle1 o1 kettle2
	// submit o1
}

package grounded_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/grounded"
)

const text = `## Orders

- ` + "`POST /orders`" + ` - Creates an order.
- ` + "`GET /orders/{order_id}`" + ` - Returns an order with its items.
- ` + "`DELETE /orders/{order_id}`" + ` - Cancels an order.

The id is like ORD-0042. Waiting takes 30 seconds at most.

- ` + "`404`" + `: There is no such order.
`

func ExampleRead() {
	p := grounded.Read(&document.Document{ID: "orders", Kind: document.Markdown, Text: text})
	fmt.Println(p.Score, p.Counts)
	for _, t := range p.Tools {
		fmt.Println(t.Name, "-", t.Description)
	}
	for _, s := range p.Values {
		fmt.Println(text[s.Start:s.End])
	}
	// Output:
	// 6416 map[endpoint:3 error:1 value:2]
	// post_orders - Creates an order.
	// get_order - Returns an order with its items.
	// delete_order - Cancels an order.
	// ORD-0042
	// 30 seconds
}

func ExamplePlan() {
	p := &grounded.Profile{Score: 7600, Tools: []midtool.Tool{{Name: "get_time", Parameters: []byte(`{"type":"object","properties":{}}`)}},
		Counts: map[grounded.Feature]int{grounded.Endpoint: 3, grounded.Param: 6}}
	plan, err := grounded.Plan(p, 1000, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Tier, plan.Budget)
	for _, it := range plan.Items {
		fmt.Println(it.Kind, it.Cost)
	}
	// Output:
	// traj 780
	// single 350
	// tool_selection 160
	// argument_extraction 160
}

func ExampleGenerator() {
	g, err := grounded.New(&grounded.Options{Seed: 4, CostQA: 60})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	r, err := g.Generate(context.Background(), &document.Document{ID: "orders", Kind: document.Markdown, Text: strings.Repeat("Long ago.\n\n", 200) + text, License: "MIT"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Tokens <= r.Outline.Budget)
	for _, s := range r.Samples[:1] {
		fmt.Println(s.ID, s.Family, s.Ability)
		for _, m := range s.Messages[1:] {
			fmt.Printf("%s: %s\n", m.Role, m.Content)
		}
	}
	// Output:
	// true
	// orders#prerequisite1 qa composition
	// user: Help me with this: which arguments must I have before I can call `GET /orders/{order_id}`?
	// assistant: It needs order_id.
}

package budget_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/budget"
)

// schema is that of one string.
func schema(name, description string) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"object","properties":{%q:{"type":"string","description":%q}},"required":[%q]}`, name, description, name)
}

var tools = []envharness.Tool{
	{Name: "find_customer", Description: "Look a customer up.", Schema: schema("email", "e-mail address of the account"), ReadOnly: true},
	{Name: "get_weather", Description: "Forecast for a city.", Schema: schema("city", "name of a city"), ReadOnly: true},
	{Name: "cancel_order", Description: "Cancel a pending order.", Schema: schema("order_id", "order id")},
	{Name: "play_music", Description: "Play a song.", Schema: schema("title", "title of the song")},
	{Name: "refund", Description: "Pay back a delivered order.", Schema: schema("order_id", "order id")},
	{Name: "submit", Description: "End with a final answer.", Schema: schema("answer", "what was done"), Submits: true},
}

var skills = []bps.Text{
	{Name: "cancel-politely", Description: "How to cancel an order", Body: "Look the customer up first.\nSay what was cancelled."},
	{Name: "mixtape", Description: "How to pick songs", Body: "Start slowly."},
}

// names lists tools.
func names(tools []envharness.Tool) string {
	var b strings.Builder
	for i, t := range tools {
		b.WriteString(" "[:min(i, 1)] + t.Name)
	}
	return b.String()
}

func Example() {
	ctx := context.Background()
	chooser, err := budget.New(400, skills, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i, shown := range []string{
		"Please cancel the order of amy@example.com: find the customer, then cancel.",
		`{"customer":"c-17","orders":["O-4"]}`,
	} {
		instructions, offered, err := chooser.Offer(ctx, envharness.Turn{Index: i, Shown: envharness.Observation{Text: shown}, Tools: tools})
		if err != nil {
			log.Fatal(err)
		}
		// A loop of one's own puts the instructions and the offered tools into its request here, and calls chooser.Called with the
		// name of the tool that the model answers with.
		if i == 0 {
			fmt.Print(instructions)
		}
		choice := chooser.Last()
		fmt.Printf("%s\n%d of %d tokens, factor %.3f, stayed: %v\n",
			names(offered), choice.Tokens, choice.All, choice.Selection.Guarantee.Factor, choice.Stayed)
	}
	// Output:
	// The skills below may help with the task. Use what fits, leave the rest, and trust what you observe over them.
	// <skill name="cancel-politely">
	// How to cancel an order
	// Look the customer up first.
	// Say what was cancelled.
	// </skill>
	// find_customer cancel_order submit
	// 358 of 659 tokens, factor 0.632, stayed: false
	// find_customer cancel_order submit
	// 358 of 659 tokens, factor 0.632, stayed: false
}

// A tool that was called stays while there is room, whatever the next turns are about.
func ExampleChooser_Called() {
	ctx := context.Background()
	for _, called := range []bool{false, true} {
		chooser, err := budget.New(290, nil, &budget.Options{Stay: new(1.0)})
		if err != nil {
			log.Fatal(err)
		}
		for i, shown := range []string{"Help Amy.", "What is the forecast for Oslo?", "Play a song, cancel a pending order."} {
			turn := envharness.Turn{Index: i, Shown: envharness.Observation{Text: shown}, Tools: tools}
			_, offered, err := chooser.Offer(ctx, turn)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(names(offered))
			if called && i == 1 {
				chooser.Called("get_weather")
			}
		}
	}
	// Output:
	// find_customer get_weather submit
	// find_customer get_weather submit
	// cancel_order play_music submit
	// find_customer get_weather submit
	// find_customer get_weather submit
	// get_weather cancel_order submit
}

func ExampleChooser_Policy() {
	chooser, err := budget.New(300, skills, &budget.Options{Pinned: []string{"refund"}})
	if err != nil {
		log.Fatal(err)
	}
	first := envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		fmt.Println(t.Shown.Text)
		for _, tool := range t.Tools {
			fmt.Println("-", tool.Name)
		}
		return envharness.Action{Name: t.Tools[0].Name}, nil
	})
	turn := envharness.Turn{Shown: envharness.Observation{Text: "Which songs does Amy like?"}, Tools: tools}
	action, err := chooser.Policy(first).Act(context.Background(), turn)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("calls", action)
	// Output:
	// The skills below may help with the task. Use what fits, leave the rest, and trust what you observe over them.
	// <skill name="mixtape">
	// How to pick songs
	// Start slowly.
	// </skill>
	//
	// Which songs does Amy like?
	// - refund
	// - submit
	// calls refund
}

// All that has to be offered must fit.
func ExampleNew() {
	chooser, err := budget.New(60, nil, &budget.Options{Pinned: []string{"find_customer"}})
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = chooser.Offer(context.Background(), envharness.Turn{Tools: tools})
	fmt.Println(err)
	// Output:
	// budget: bps: invalid budget: 60 tokens, but what has to be offered counts 188: tool "find_customer", tool "submit"
}

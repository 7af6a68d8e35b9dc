package bps_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/bps"
)

// Texts and a query are enough.
func Example() {
	tools := []bps.Text{
		{Name: "get_order", Description: "Look up an order and its delivery status"},
		{Name: "find_order", Description: "Find an order of a customer and its status"},
		{Name: "send_email", Description: "Send a message to a customer"},
		{Name: "weather", Description: "Forecast for a city"},
	}
	sel, err := bps.FromTexts(context.Background(), "look up the order status and email the customer", tools, 40, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range sel.Items {
		fmt.Println(tools[i].Name)
	}
	fmt.Printf("%d tokens, factor %.3f\n", sel.Tokens, sel.Guarantee.Factor)
	// Output:
	// send_email
	// get_order
	// 31 tokens, factor 0.632
}

func ExampleFromTexts() {
	skills := []bps.Text{
		{Name: "pdf-forms", Description: "Fill in PDF forms", Body: "Read the field names first."},
		{Name: "pdf-merge", Description: "Merge PDF files"},
		{Name: "spreadsheets", Description: "Edit spreadsheets and charts"},
	}
	sel, err := bps.FromTexts(context.Background(), "fill in this PDF form", skills, 30, &bps.TextOptions{PenaltyPerToken: 0.02})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("chosen:", sel.Items)
	for _, d := range sel.Dropped {
		fmt.Printf("dropped: %s (%s)\n", skills[d.Item].Name, d.Reason)
	}
	// Output:
	// chosen: [0]
	// dropped: spreadsheets (no match)
}

// Any set function will do; this one counts the topics that a set of documents covers.
func ExampleSelect() {
	topics := [][]string{{"tax", "law"}, {"tax"}, {"travel"}, {"law", "travel", "visa"}}
	benefit := bps.BenefitFunc(func(set []int) float64 {
		covered := map[string]bool{}
		for _, i := range set {
			for _, topic := range topics[i] {
				covered[topic] = true
			}
		}
		return float64(len(covered))
	})
	sel, err := bps.Select(context.Background(), bps.Problem{
		Tokens:          []int{300, 100, 150, 500},
		Budget:          800,
		Benefit:         benefit,
		PenaltyPerToken: 0.001,
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: %d tokens, benefit %g, objective %.2f\n", sel.Items, sel.Tokens, sel.Benefit, sel.Objective)
	for _, p := range sel.Frontier {
		fmt.Println(p.Tokens, p.Benefit, p.Items)
	}
	// Output:
	// [1 3]: 600 tokens, benefit 4, objective 3.40
	// 0 0 []
	// 100 1 [1]
	// 250 2 [1 2]
	// 450 3 [0 2]
	// 600 4 [1 3]
}

// Two capabilities are demanded, the first twice as much. Candidate 0 supplies only the first one.
func ExampleNewCapability() {
	benefit, err := bps.NewCapability([]float64{2, 1}, [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}})
	if err != nil {
		log.Fatal(err)
	}
	sel, err := bps.Select(context.Background(), bps.Problem{Tokens: []int{100, 50, 120}, Budget: 250, Benefit: benefit}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v %.3f\n", sel.Items, sel.Benefit)
	// Output: [0 2] 2.229
}

func ExampleNewClauses() {
	// Relevance of three candidates for two clauses of a query, and for the whole query.
	clauses := [][]float64{{1, 0}, {0.5, 0.5}, {0, 1}}
	whole := []float64{1, 0.8, 0.6}
	benefit, err := bps.NewClauses(clauses, whole, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %.3f\n", benefit.Value([]int{0, 1}), benefit.Value([]int{0, 2}))
	// Output: 1.656 2.209
}

func ExampleEstimateTokens() {
	fmt.Println(bps.EstimateTokens("Refund the order."))
	fmt.Println(bps.EstimateTokens(`{"a":1,"b":2}`))
	// Output:
	// 6
	// 13
}

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
	// get_order
	// send_email
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

// A penalty of any shape, here a higher price above 300 tokens, makes Level2 the default mode.
func ExampleSelect_penalty() {
	benefit, err := bps.NewCapability([]float64{2, 1}, [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}, {2, 2}})
	if err != nil {
		log.Fatal(err)
	}
	sel, err := bps.Select(context.Background(), bps.Problem{
		Tokens:  []int{100, 50, 120, 310},
		Budget:  500,
		Benefit: benefit,
		Penalty: func(tokens int) float64 {
			if tokens <= 300 {
				return 0
			}
			return 0.5
		},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v, %.3f; %v guarantees a factor of %.3f for %s penalties\n",
		sel.Items, sel.Objective, sel.Guarantee.Mode, sel.Guarantee.Factor, sel.Guarantee.Penalty)
	fmt.Printf("at least %.1f %% of the optimum\n", 100*sel.Certificate.Ratio)
	// Output:
	// [0 1 2], 2.613; level2 guarantees a factor of 0.617 for any penalties
	// at least 88.6 % of the optimum
}

func ExampleSelection_Explain() {
	benefit, err := bps.NewCapability([]float64{2, 1}, [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}, {2, 2}})
	if err != nil {
		log.Fatal(err)
	}
	sel, err := bps.Select(context.Background(), bps.Problem{Tokens: []int{100, 50, 120, 310}, Budget: 250, Benefit: benefit}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range sel.Explain() {
		fmt.Printf("%d %s\n", r.Item, r.Why)
		for _, part := range r.Serves {
			fmt.Printf("  %.2f for capability %d\n", part.Gain, part.Index)
		}
	}
	// Output:
	// 0 adds 1.554 for 100 tokens
	//   1.55 for capability 0
	// 2 adds 0.6756 for 120 tokens
	//   0.39 for capability 1
	//   0.28 for capability 0
	// 1 would add 0.3834, but has 50 tokens where 30 are left
	//   0.38 for capability 1
	// 3 dropped: over budget
}

// Branch and bound proves the optimum for the budget. The frontier has the best sets that were met on the way to it.
func ExampleSelect_exact() {
	benefit, err := bps.NewCapability([]float64{2, 1}, [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}, {2, 2}})
	if err != nil {
		log.Fatal(err)
	}
	sel, err := bps.Select(context.Background(), bps.Problem{Tokens: []int{100, 50, 120, 310}, Budget: 450, Benefit: benefit},
		&bps.Options{Mode: bps.Exact})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v, factor %g\n", sel.Items, sel.Guarantee.Factor)
	for _, pt := range sel.Frontier {
		fmt.Printf("%3d tokens: %.3f of at most %.3f, %v\n", pt.Tokens, pt.Benefit, pt.UpperBound, pt.Items)
	}
	// Output:
	// [2 3], factor 1
	//   0 tokens: 0.000 of at most 0.632, []
	//  50 tokens: 0.632 of at most 1.579, [1]
	// 100 tokens: 1.554 of at most 1.858, [0]
	// 120 tokens: 1.658 of at most 2.244, [2]
	// 150 tokens: 2.186 of at most 2.613, [0 1]
	// 220 tokens: 2.229 of at most 2.613, [0 2]
	// 270 tokens: 2.613 of at most 2.948, [0 1 2]
	// 360 tokens: 2.680 of at most 2.948, [1 3]
	// 410 tokens: 2.804 of at most 2.948, [0 3]
	// 430 tokens: 2.818 of at most 2.948, [2 3]
}

// Start grows a set by hand, here by the largest gain.
func ExampleStart() {
	benefit, err := bps.NewCapability([]float64{2, 1}, [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}})
	if err != nil {
		log.Fatal(err)
	}
	st := bps.Start(benefit)
	st.Add(2)
	fmt.Printf("%.3f %.3f\n", st.Gain(0), st.Gain(1))
	// Output: 0.572 0.383
}

// Three ways to a price of a token: what context costs, what logs show (see package bps/learn), and, here, a look at the frontier. One
// search without a penalty serves all prices; the knee is where the tokens fall and the benefit hardly does.
func ExampleSelection_At() {
	benefit, err := bps.NewCapability([]float64{2, 1}, [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}, {2, 2}})
	if err != nil {
		log.Fatal(err)
	}
	sel, err := bps.Select(context.Background(), bps.Problem{Tokens: []int{100, 50, 120, 310}, Budget: 500, Benefit: benefit}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, kappa := range []float64{0, 0.002, 0.005, 0.013, 0.02} {
		pt, _ := sel.At(500, func(tokens int) float64 { return kappa * float64(tokens) })
		fmt.Printf("kappa %-5g %3d tokens, benefit %.2f, %v\n", kappa, pt.Tokens, pt.Benefit, pt.Items)
	}

	// From a price: a solved task is worth 2 dollars, a million tokens of context cost 3, and about half of the tasks are solved. The
	// benefit is a log probability of success.
	worth, token, success := 2.0, 3e-6, 0.5
	fmt.Printf("from the price: kappa = %.0e\n", token/(worth*success))
	// Output:
	// kappa 0     460 tokens, benefit 2.89, [0 1 3]
	// kappa 0.002 270 tokens, benefit 2.61, [0 1 2]
	// kappa 0.005 150 tokens, benefit 2.19, [0 1]
	// kappa 0.013 100 tokens, benefit 1.55, [0]
	// kappa 0.02    0 tokens, benefit 0.00, []
	// from the price: kappa = 3e-06
}

func ExampleSplitClauses() {
	for _, clause := range bps.SplitClauses("Look up the order, refund the payment and email the customer.") {
		fmt.Println(clause)
	}
	// Output:
	// Look up the order
	// refund the payment
	// email the customer
	// Look up the order, refund the payment and email the customer
}

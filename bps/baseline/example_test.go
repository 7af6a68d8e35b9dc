package baseline_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/bps/baseline"
)

// Three tools supply two capabilities, of which the first is demanded twice as much. A fourth one is too large.
var supply = [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}, {2, 0}}

func problem() bps.Problem {
	benefit, err := bps.NewCapability([]float64{2, 1}, supply)
	if err != nil {
		log.Fatal(err)
	}
	return bps.Problem{Tokens: []int{100, 50, 120, 300}, Budget: 250, Benefit: benefit}
}

func show(r *baseline.Result, err error) {
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: %d tokens, objective %.3f\n", r.Items, r.Tokens, r.Objective)
}

// How do the usual rules compare with Select? Here a price of 0.002 per token is set.
func Example() {
	ctx := context.Background()
	p := problem()
	p.PenaltyPerToken = 0.002
	fmt.Print("top-k     ")
	show(baseline.TopK(ctx, p, nil))
	fmt.Print("density   ")
	show(baseline.DensityGreedy(ctx, p, nil))
	sel, err := bps.Select(ctx, p, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("bps       %v: %d tokens, objective %.3f\n", sel.Items, sel.Tokens, sel.Objective)
	// Output:
	// top-k     [2 0]: 220 tokens, objective 1.789
	// density   [0 1]: 150 tokens, objective 1.886
	// bps       [0 1]: 150 tokens, objective 1.886
}

func ExampleTopK() {
	show(baseline.TopK(context.Background(), problem(), nil))
	// The caller's own relevance, and one tool only.
	show(baseline.TopK(context.Background(), problem(), &baseline.RankOptions{Relevance: []float64{0.2, 0.9, 0.4, 1}, K: 1}))
	// Output:
	// [2 0]: 220 tokens, objective 2.229
	// [1]: 50 tokens, objective 0.632
}

func ExampleMMR() {
	similarity, err := baseline.Cosine(supply)
	if err != nil {
		log.Fatal(err)
	}
	show(baseline.MMR(context.Background(), problem(), similarity, 0.5, nil))
	show(baseline.MMR(context.Background(), problem(), similarity, 0.2, nil))
	// Output:
	// [2 0]: 220 tokens, objective 2.229
	// [2 1]: 170 tokens, objective 2.041
}

func ExampleDPPMAP() {
	similarity, err := baseline.Cosine(supply)
	if err != nil {
		log.Fatal(err)
	}
	show(baseline.DPPMAP(context.Background(), problem(), similarity, nil))
	// Output: [2 0]: 220 tokens, objective 2.229
}

func ExampleCosine() {
	similarity, err := baseline.Cosine(supply)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %.3f %.3f\n", similarity(0, 2), similarity(1, 2), similarity(0, 1))
	// Output: 0.894 0.447 0.000
}

func ExampleDensityGreedy() {
	p := problem()
	p.PenaltyPerToken = 0.013
	show(baseline.DensityGreedy(context.Background(), p, nil))
	show(baseline.DensityGreedy(context.Background(), p, &baseline.GreedyOptions{Stop: true}))
	// Output:
	// [0 1]: 150 tokens, objective 0.236
	// [0]: 100 tokens, objective 0.254
}

func ExampleGainGreedy() {
	show(baseline.GainGreedy(context.Background(), problem(), nil))
	// Output: [2 0]: 220 tokens, objective 2.229
}

func ExampleGreedyMax() {
	show(baseline.GreedyMax(context.Background(), problem()))
	// Output: [0 2]: 220 tokens, objective 2.229
}

func ExampleRandomBest() {
	show(baseline.RandomBest(context.Background(), problem(), 100, nil))
	// Output: [2 0]: 220 tokens, objective 2.229
}

// Three tools for the two clauses of "look up the order and email the customer".
func ExampleRoundRobin() {
	p := problem()
	p.Tokens = p.Tokens[:3]
	clauses := [][]float64{{1, 0}, {0.2, 0.9}, {0.8, 0.1}}
	p.Benefit, _ = bps.NewClauses(clauses, []float64{1, 0.6, 0.7}, nil)
	show(baseline.RoundRobin(context.Background(), p, clauses))
	// Output: [0 1]: 150 tokens, objective 2.114
}

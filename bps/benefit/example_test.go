package benefit_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/bps/benefit"
)

// A representative set: two tools that together are similar to all past queries, with a bonus for a tool that is often used.
func Example() {
	similarity := [][]float64{ // of three tools to four past queries
		{0.9, 0.8, 0.1, 0.2},
		{0.8, 0.9, 0.2, 0.1},
		{0.1, 0.1, 0.7, 0.9},
	}
	represents, err := benefit.NewFacilityLocation(similarity, nil)
	if err != nil {
		log.Fatal(err)
	}
	used, err := benefit.NewModular([]float64{0.1, 0.6, 0.2})
	if err != nil {
		log.Fatal(err)
	}
	both, err := benefit.NewMixture([]bps.Benefit{represents, used}, []float64{1, 0.5})
	if err != nil {
		log.Fatal(err)
	}
	sel, err := bps.Select(context.Background(), bps.Problem{Tokens: []int{80, 90, 100}, Budget: 200, Benefit: both}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: %.2f in %d tokens\n", sel.Items, sel.Benefit, sel.Tokens)
	// Output: [1 2]: 3.70 in 190 tokens
}

func ExampleNewFacilityLocation() {
	b, err := benefit.NewFacilityLocation([][]float64{{1, 0.2}, {0.4, 0.9}}, []float64{1, 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f %.1f %.1f\n", b.Value([]int{0}), b.Value([]int{1}), b.Value([]int{0, 1}))
	// Output: 3.0 9.4 10.0
}

// Four embeddings, two of one direction: one of these two and the others stand for all.
func ExampleNewCosineFacilityLocation() {
	vectors := [][]float64{{1, 0}, {2, 0}, {0, 1}, {1, 1}}
	b, err := benefit.NewCosineFacilityLocation(vectors, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %.3f %.3f\n", b.Value([]int{0}), b.Value([]int{0, 1}), b.Value([]int{0, 2, 3}))
	// Output: 2.707 2.707 4.000
}

// Every point keeps its most similar candidate alone.
func ExampleNearest() {
	candidates := [][]float64{{1, 0}, {0, 1}}
	points := [][]float64{{2, 1}, {3, 0}, {1, 3}}
	neighbors, err := benefit.Nearest(candidates, points, 1)
	if err != nil {
		log.Fatal(err)
	}
	for i, list := range neighbors {
		for _, n := range list {
			fmt.Printf("candidate %d stands for point %d: %.3f\n", i, n.Point, n.Similarity)
		}
	}
	// Output:
	// candidate 0 stands for point 0: 0.894
	// candidate 0 stands for point 1: 1.000
	// candidate 1 stands for point 2: 0.949
}

// The lists of candidates, here by hand, would come from an index of embeddings.
func ExampleNewNearestFacilityLocation() {
	neighbors := [][]benefit.Neighbor{
		{{Point: 0, Similarity: 1}, {Point: 1, Similarity: 0.5}},
		{{Point: 1, Similarity: 1}, {Point: 2, Similarity: 0.5}},
	}
	b, err := benefit.NewNearestFacilityLocation(neighbors, []float64{1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Value([]int{0}), b.Value([]int{0, 1}))
	// Output: 1.5 2.5
}

// Documents cover topics; the second topic counts three times as much.
func ExampleNewWeightedCoverage() {
	b, err := benefit.NewWeightedCoverage([][]int{{0, 1}, {1}, {2}}, []float64{1, 3, 1})
	if err != nil {
		log.Fatal(err)
	}
	state := b.Start()
	state.Add(1)
	fmt.Println(state.Value(), state.Gain(0), state.Gain(2))
	// Output: 3 1 1
}

// Two tools solve a task with probability one half each, independently.
func ExampleNewProbabilisticCoverage() {
	b, err := benefit.NewProbabilisticCoverage([][]float64{{0.5}, {0.5}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Value([]int{0}), b.Value([]int{0, 1}))
	// Output: 0.5 0.75
}

// Two features: how many examples a document has, and how many words about the task.
func ExampleNewFeatureBased() {
	amounts := [][]float64{{4, 0}, {5, 1}, {0, 3}}
	features := []benefit.Feature{{Weight: 2, Concave: math.Sqrt}, {Weight: 1, Concave: math.Log1p}}
	b, err := benefit.NewFeatureBased(amounts, features)
	if err != nil {
		log.Fatal(err)
	}
	parts := b.(interface{ Parts(set []int) []float64 }).Parts([]int{0, 1})
	fmt.Printf("%.3f: %.3f\n", b.Value([]int{0, 1}), parts)
	// Output: 6.693: [6.000 0.693]
}

// Saturated coverage: similarities to each of two points count up to a quarter of what all candidates have.
func ExampleCap() {
	similarity := [][]float64{{1, 0.5}, {1, 0.5}, {0, 1}}
	features := []benefit.Feature{
		{Weight: 1, Concave: benefit.Cap(2.0 / 4)},
		{Weight: 1, Concave: benefit.Cap(2.0 / 4)},
	}
	b, err := benefit.NewFeatureBased(similarity, features)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Value([]int{0}), b.Value([]int{2}), b.Value([]int{0, 1, 2}))
	// Output: 1 0.5 1
}

func ExampleRatio() {
	fmt.Println(benefit.Ratio(0), benefit.Ratio(1), benefit.Ratio(3))
	// Output: 0 0.5 0.75
}

func ExampleSaturation() {
	fmt.Printf("%.3f %.3f\n", benefit.Saturation(1), benefit.Saturation(5))
	// Output: 0.632 0.993
}

func ExampleNewModular() {
	b, err := benefit.NewModular([]float64{1, 2, 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Value([]int{0, 2}))
	// Output: 5
}

// A part may be a plain function; here every candidate after the second adds nothing to it.
func ExampleNewMixture() {
	relevance, err := benefit.NewModular([]float64{1, 2, 4})
	if err != nil {
		log.Fatal(err)
	}
	some := bps.BenefitFunc(func(set []int) float64 { return min(2, float64(len(set))) })
	b, err := benefit.NewMixture([]bps.Benefit{relevance, some}, []float64{1, 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Value([]int{2}), b.Value([]int{0, 1, 2}))
	// Output: 14 27
}

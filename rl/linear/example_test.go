package linear_test

import (
	"bytes"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/throughline-go/throughline/rl/linear"
)

// A policy learns from demonstrations which of two actions fits the state: a warm start by cross-entropy.
func ExamplePolicy() {
	p, err := linear.New(1 << 12)
	if err != nil {
		log.Fatal(err)
	}
	candidates := func(state string) (out [][]linear.Feature) {
		for _, action := range []string{"refund", "ship"} {
			out = append(out, linear.Cross(nil, p.Dim(), []string{state}, []string{action}))
		}
		return out
	}
	demonstrations := map[string]int{"order paid": 1, "order returned": 0}
	states := []string{"order paid", "order returned"}
	for range 50 {
		for _, s := range states {
			if err := p.AddGrad(candidates(s), demonstrations[s], -1/float64(len(states)), 1); err != nil {
				log.Fatal(err)
			}
		}
		if _, err := p.Step(nil); err != nil {
			log.Fatal(err)
		}
	}
	for _, s := range states {
		logp := p.LogProbs(nil, candidates(s), 1)
		fmt.Printf("%s: action %d with probability %.2f\n", s, linear.Greedy(logp), math.Exp(logp[linear.Greedy(logp)]))
	}
	// Output:
	// order paid: action 1 with probability 0.96
	// order returned: action 0 with probability 0.96
}

func ExamplePolicy_Save() {
	p, err := linear.New(16)
	if err != nil {
		log.Fatal(err)
	}
	if err := p.AddValueGrad([]linear.Feature{{Index: 3, Value: 1}}, -1); err != nil {
		log.Fatal(err)
	}
	if _, err := p.Step(nil); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := p.Save(&file); err != nil {
		log.Fatal(err)
	}
	q, err := linear.New(16)
	if err != nil {
		log.Fatal(err)
	}
	if err := q.Load(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", q.Value([]linear.Feature{{Index: 3, Value: 2}}))
	// Output: 0.100
}

func ExampleHash() {
	fmt.Println(linear.Hash(nil, 1000, "ticket open", "customer gold"))
	// Output: [{503 1} {225 1}]
}

func ExampleCross() {
	state, action := []string{"ticket open", "customer gold"}, []string{"refund"}
	fmt.Println(len(linear.Cross(nil, 1000, state, action)), "features, one per pair")
	// Output: 2 features, one per pair
}

func ExampleSample() {
	rng := rand.New(rand.NewPCG(1, 2))
	logp := []float64{math.Log(0.1), math.Log(0.9)}
	var count [2]int
	for range 1000 {
		count[linear.Sample(rng, logp)]++
	}
	fmt.Println(count)
	// Output: [91 909]
}

func ExampleGreedy() {
	fmt.Println(linear.Greedy([]float64{-1.2, -0.8, -0.8}))
	// Output: 1
}

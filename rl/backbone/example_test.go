package backbone_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
)

// A model learns by REINFORCE to answer a word with itself: samples that are right get advantage 1, others -0.2.
func Example() {
	ctx := context.Background()
	m, err := backbone.NewTransformer(backbone.Config{Vocab: 6, MaxLen: 4, Dim: 16, Heads: 2, Layers: 1})
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var batch []rl.Sequence
		var weight [][]float64
		for k := range 32 {
			word := k % 6
			tokens, err := m.Sample(ctx, []int{word}, []int{word}, rl.SampleOptions{Temperature: 1, Limit: 1, Rand: rng})
			if err != nil {
				log.Fatal(err)
			}
			advantage := -0.2
			if tokens[1] == word {
				advantage = 1
			}
			batch = append(batch, rl.Sequence{Tokens: tokens, Start: 1})
			weight = append(weight, []float64{-advantage / 32}) // the derivative of the loss -A l
		}
		if err := m.AddGrad(ctx, batch, weight); err != nil {
			log.Fatal(err)
		}
		if _, err := m.Step(ctx, 0.01); err != nil {
			log.Fatal(err)
		}
	}
	l, err := m.LogProbs(ctx, []rl.Sequence{{Tokens: []int{4, 4}, Start: 1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("probability of 4 after 4: %.1f\n", math.Exp(l[0][0]))
	// Output:
	// probability of 4 after 4: 1.0
}

// One step on policy, value and entropy in a single pass. Entries 6 and 7 hold the value.
func ExampleModel_ForwardBackward() {
	ctx := context.Background()
	head := loss.Head{Plus: 6, Minus: 7}
	m, err := backbone.NewTransformer(backbone.Config{Vocab: 8, Dim: 16, Layers: 1, Head: head})
	if err != nil {
		log.Fatal(err)
	}
	batch := []rl.Sequence{{Tokens: []int{1, 2, 3, 5}, Start: 2}}
	pass := func() (total float64, err error) {
		err = m.ForwardBackward(ctx, batch, func(i int, grad, out [][]float64) error {
			for j, action := range batch[i].Tokens[batch[i].Start:] {
				l, err := head.LogProb(grad[j], out[j], action, -1)
				if err != nil {
					return err
				}
				h, err := head.Entropy(grad[j], out[j], -0.01)
				if err != nil {
					return err
				}
				total -= l + 0.01*h // of one sequence: calls for several may run at the same time
			}
			v, _, err := head.Value(nil, out[0], 0)
			if err != nil {
				return err
			}
			total += (v - 0.5) * (v - 0.5) / 2
			_, _, err = head.Value(grad[0], out[0], v-0.5)
			return err
		})
		return total, err
	}
	for step := range 61 {
		total, err := pass()
		if err != nil {
			log.Fatal(err)
		}
		if step%30 == 0 {
			fmt.Printf("step %2d: loss below %.1f\n", step, math.Ceil(total*2)/2)
		}
		if _, err := m.Step(ctx, 0.01); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// step  0: loss below 4.0
	// step 30: loss below 0.5
	// step 60: loss below 0.5
}

// The head says which entries are no words, and how log-probabilities are meant: a loss takes it from the model.
func ExampleModel_Head() {
	m, err := backbone.NewGRU(backbone.Config{Vocab: 6, Dim: 8, Head: loss.Head{Plus: 4, Minus: 5, Temperature: 2}})
	if err != nil {
		log.Fatal(err)
	}
	head := m.Head()
	fmt.Println(head.Plus, head.Minus, head.Temperature)
	// Output:
	// 4 5 2
}

// A critic learns the value of two contexts.
func ExampleModel_NewCritic() {
	ctx := context.Background()
	m, err := backbone.NewGRU(backbone.Config{Vocab: 4, Dim: 8})
	if err != nil {
		log.Fatal(err)
	}
	critic, err := m.NewCritic(1)
	if err != nil {
		log.Fatal(err)
	}
	batch := []rl.Sequence{{Tokens: []int{1, 2}, Start: 2}, {Tokens: []int{1, 3}, Start: 2}}
	target := []float64{2, -1}
	value := make([]float64, 2)
	for range 300 {
		err := critic.ForwardBackward(ctx, batch, func(i int, grad, out [][]float64) error {
			value[i] = out[0][0]
			grad[0][0] = value[i] - target[i]
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := critic.Step(ctx, 0.02); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%.1f\n", value)
	// Output:
	// [2.0 -1.0]
}

// A session reads tokens one by one. Forks share what was read.
func ExampleModel_NewSession() {
	m, err := backbone.NewTransformer(backbone.Config{Vocab: 5, Dim: 8, Heads: 2})
	if err != nil {
		log.Fatal(err)
	}
	s := m.NewSession()
	if err := s.Append(1, 2, 3); err != nil {
		log.Fatal(err)
	}
	fork := s.Fork()
	if err := fork.Append(4); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Len(), fork.Len(), len(fork.Logits()))
	// Output:
	// 3 4 5
}

// Among the tokens allowed, here 2 and then anything up to the stop 0.
func ExampleModel_Sample() {
	m, err := backbone.NewGRU(backbone.Config{Vocab: 5, Dim: 8})
	if err != nil {
		log.Fatal(err)
	}
	response, err := m.Sample(context.Background(), nil, []int{1}, rl.SampleOptions{
		Temperature: 1, Stop: 0, Limit: 20, Rand: rand.New(rand.NewPCG(3, 4)),
		Allowed: func(response []int) []int {
			if len(response) == 0 {
				return []int{2}
			}
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response[0], response[len(response)-1])
	// Output:
	// 2 0
}

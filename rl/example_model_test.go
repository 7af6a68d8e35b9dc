package rl_test

import (
	"fmt"

	"github.com/throughline-go/throughline/rl"
)

// A turn of a model is a row of its own: what it read, then what it wrote. What follows the last trained token, here the answer of a tool,
// is left out.
func ExampleSequences() {
	batch := []rl.Trajectory{{Turns: []rl.Turn{{
		Tokens: []rl.Token{{ID: 1}, {ID: 40}, {ID: 12, Trainable: true}, {ID: 6, Trainable: true}, {ID: 77}},
		End:    rl.Terminated,
	}}}}
	for _, s := range rl.Sequences(nil, batch) {
		fmt.Println("context", s.Tokens[:s.Start], "response", s.Tokens[s.Start:])
	}
	// Output: context [1 40] response [12 6]
}

// What a model says of the rows of a batch goes back to its tokens.
func ExampleSetLogProbs() {
	batch := []rl.Trajectory{{Turns: []rl.Turn{{Tokens: []rl.Token{{ID: 1}, {ID: 12, Trainable: true}, {ID: 6, Trainable: true}}, End: rl.Terminated}}}}
	if err := rl.SetLogProbs(batch, [][]float64{{-0.5, -0.1}}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(batch[0].Turns[0].Tokens[1].LogProb, batch[0].Turns[0].Tokens[2].LogProb)
	fmt.Println(rl.SetLogProbs(batch, [][]float64{{-0.5}}))
	// Output:
	// -0.5 -0.1
	// rl: trajectory 0, turn 0: logProb is 1 numbers, want one for each of 2 tokens of the response
}

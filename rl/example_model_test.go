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

package rl_test

import (
	"fmt"
	"log"

	"github.com/throughline-go/throughline/rl"
)

// visit returns a trajectory of one-token turns in the given states, with a reward on the last turn.
func visit(group string, reward float64, states ...string) rl.Trajectory {
	t := rl.Trajectory{Group: group}
	for _, s := range states {
		t.Turns = append(t.Turns, rl.Turn{State: s, Tokens: []rl.Token{{Trainable: true}}})
	}
	t.Turns[len(states)-1].Reward = reward
	t.Turns[len(states)-1].End = rl.Terminated
	return t
}

// Each score is compared with the mean of the others.
func ExampleRLOO() {
	batch := []rl.Trajectory{visit("a", 1, "s"), visit("a", 1, "s"), visit("a", 0, "s"), visit("b", 4, "s")}
	credit, err := rl.RLOO(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f, %d group of one\n", credit.Advantage, credit.Singletons)
	// Output: [0.50 0.50 -1.00 0.00], 1 group of one
}

// Both rollouts begin in the hall and come to the kitchen, where one knows what to do.
func ExampleGiGPO() {
	batch := []rl.Trajectory{
		visit("tea", 10, "hall", "kitchen", "kettle"),
		visit("tea", 0, "hall", "kitchen", "kitchen"),
	}
	credit, err := rl.GiGPO(nil, batch, &rl.GiGPOOptions{Norm: rl.Norm{Std: rl.StdNone}})
	if err != nil {
		log.Fatal(err)
	}
	for i := range batch {
		fmt.Printf("%.4f\n", credit.Advantage[credit.Start[i]:credit.Start[i+1]])
	}
	// Output:
	// [9.5125 11.3333 5.0000]
	// [-9.5125 -8.1667 -8.1667]
}

// The first turn decides: what follows is worth what the group makes of those states.
func ExampleGAGPO() {
	batch := []rl.Trajectory{visit("tea", 10, "hall", "kitchen"), visit("tea", 0, "hall", "cellar")}
	credit, err := rl.GAGPO(nil, batch, &rl.GAGPOOptions{Norm: rl.Norm{Std: rl.StdOff}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", credit.Advantage)
	// Output: [4.75 0.00 -4.75 0.00]
}

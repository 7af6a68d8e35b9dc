// Command credit is the second program of the README: which turns of three rollouts were good.
package main

import (
	"fmt"
	"log"

	"github.com/throughline-go/throughline/rl"
)

// play returns a rollout through states, with one token a turn. The reward comes at the end.
func play(reward float64, states ...string) rl.Trajectory {
	t := rl.Trajectory{Group: "send the report", FinalState: states[len(states)-1]}
	for _, s := range states[:len(states)-1] {
		t.Turns = append(t.Turns, rl.Turn{State: s, Tokens: []rl.Token{{Trainable: true, LogProb: -0.7}}})
	}
	last := &t.Turns[len(t.Turns)-1]
	last.Reward, last.End = reward, rl.Terminated
	return t
}

func main() {
	batch := []rl.Trajectory{
		play(10, "inbox", "draft", "attached", "sent"),
		play(0, "inbox", "draft", "sent empty"),
		play(0, "inbox", "calendar", "inbox", "calendar"),
	}
	credit, err := rl.MileGPO(nil, batch, nil) // or GRPO, GiGPO, SAPO with a critic, ...
	if err != nil {
		log.Fatal(err)
	}
	for i := range batch {
		fmt.Printf("advantages %+.2f\n", credit.Advantage[credit.Start[i]:credit.Start[i+1]])
	}
}

package rollout_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rollout"
)

// first picks the first admissible action and notes what rl needs to know about it.
type first struct{ turns []rl.Turn }

func (p *first) Act(_ context.Context, t envharness.Turn) (envharness.Action, error) {
	p.turns = append(p.turns, rl.Turn{Tokens: []rl.Token{{ID: 0, Trainable: true, LogProb: -math.Log(float64(len(t.Shown.Actions)))}}})
	return t.Shown.Actions[0], nil
}

func (p *first) Turns() []rl.Turn { return p.turns }

func ExampleCollect() {
	tasks := []envharness.Task{{ID: "T1-0000"}, {ID: "T1-0000"}}
	episodes, err := rollout.Collect(context.Background(), tooldesk.World(nil), nil,
		func(int) (rollout.Player, error) { return new(first), nil }, tasks, &rollout.Options{MaxTurns: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range rollout.Trajectories(episodes) {
		fmt.Printf("%s: %d turns, %v, success %v\n", t.ID, len(t.Turns), t.Turns[len(t.Turns)-1].End, *t.Success)
	}
	// Output:
	// T1-0000/0: 3 turns, truncated, success false
	// T1-0000/1: 3 turns, truncated, success false
}

// Two episodes that did the same so far are in the same state.
func ExampleAcceptedCalls() {
	lookup := &envharness.Action{Name: "lookup", Args: []byte(`{"id": 7}`)}
	done, refused := &envharness.Transition{}, &envharness.Transition{Error: &envharness.ActionError{Message: "no such id"}}
	a := rollout.AcceptedCalls(envharness.Trace{Turns: []envharness.TurnTrace{{Applied: lookup, Raw: done}}})
	b := rollout.AcceptedCalls(envharness.Trace{Turns: []envharness.TurnTrace{{Applied: lookup, Raw: refused}, {Applied: lookup, Raw: done}}})
	fmt.Println(a[0] == b[0], b[0] == b[1], a[1] == b[2], a[0] == a[1])
	// Output: true true true false
}

// Where the text tells the whole state, two ways to one place lead to one state.
func ExampleShownTexts() {
	shows := func(texts ...string) envharness.Trace {
		t := envharness.Trace{Shown: envharness.Observation{Text: "hall"}}
		for _, text := range texts {
			shown := envharness.Transition{Observation: envharness.Observation{Text: text}}
			t.Turns = append(t.Turns, envharness.TurnTrace{Raw: &shown, Shown: shown})
		}
		return t
	}
	a := rollout.ShownTexts(shows("kitchen", "cellar"))
	b := rollout.ShownTexts(shows("stairs", "cellar"))
	fmt.Println(a[0] == b[0], a[1] == b[1], a[2] == b[2])
	// Output: true false true
}

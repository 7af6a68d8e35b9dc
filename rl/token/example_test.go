package token_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/token"
)

// From rows as a Python trainer writes them to the same rows with advantages. The first has two turns with an observation
// between them, the second is padded.
func Example() {
	file := strings.NewReader(`{"id": "a", "mask": [1, 1, 0, 0, 1, 1], "values": [0.5, 0.6, 0, 0, 0.7, 0.8], "rewards": [0, 0, 0, 0, 0, 1], "seed": 7}
{"id": "b", "mask": [1, 1, 0, 0, 0, 0], "values": [0.5, 0.4, 0, 0, 0, 0], "seed": 8}
`)
	var rows []token.Row
	for row, err := range token.ReadRows(file) {
		if err != nil {
			log.Fatal(err)
		}
		rows = append(rows, row)
	}
	batch, err := token.FromRows(rows)
	if err != nil {
		log.Fatal(err)
	}
	credit, err := token.GAE(nil, batch, &token.GAEOptions{Lambda: new(0.95)})
	if err != nil {
		log.Fatal(err)
	}
	if err := token.SetCredit(rows, batch, credit); err != nil {
		log.Fatal(err)
	}
	for _, r := range rows {
		fmt.Printf("%s advantages %.3f\n  returns    %.3f\n", r.ID, r.Advantages, r.Returns)
	}
	// Output:
	// a advantages [0.939 0.740 0.000 0.000 0.530 0.310]
	//   returns    [0.957 0.976 0.000 0.000 0.990 1.000]
	// b advantages [-1.358 -1.162 0.000 0.000 0.000 0.000]
	//   returns    [0.020 0.000 0.000 0.000 0.000 0.000]
}

// rollout returns a trajectory of turns of two tokens each, with their values.
func rollout(group string, reward float64, values ...float64) rl.Trajectory {
	t := rl.Trajectory{Group: group}
	for ; len(values) > 1; values = values[2:] {
		t.Turns = append(t.Turns, rl.Turn{Tokens: []rl.Token{{Trainable: true, Value: values[0]}, {Trainable: true, Value: values[1]}}})
	}
	t.Turns[len(t.Turns)-1].Reward = reward
	t.Turns[len(t.Turns)-1].End = rl.Terminated
	return t
}

func ExampleGAE() {
	batch := []rl.Trajectory{rollout("", 1, 0.5, 0.6, 0.7, 0.8)}
	credit, err := token.GAE(nil, batch, &token.GAEOptions{Lambda: new(0.95), Norm: rl.Norm{Std: rl.StdOff}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("tokens %.4f\n", credit.TokenAdvantage)
	fmt.Printf("turns  %.4f\n", credit.Advantage)
	// Output:
	// tokens [0.4567 0.3755 0.2900 0.2000]
	// turns  [0.4161 0.2450]
}

func ExampleReinforcePP() {
	batch := []rl.Trajectory{rollout("a", 1, 0, 0), rollout("a", 0, 0, 0, 0, 0), rollout("b", 3, 0, 0)}
	returns, err := token.ReinforcePP(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", returns.TokenAdvantage)
	compared, err := token.ReinforcePP(nil, batch, &token.ReinforcePPOptions{GroupBaseline: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f, %d alone\n", compared.TokenAdvantage, compared.Singletons)
	// Output:
	// [0.000 0.000 -0.764 -0.764 -0.764 -0.764 1.528 1.528]
	// [1.410 1.410 -0.846 -0.846 -0.846 -0.846 0.282 0.282], 1 alone
}

func ExamplePPOPublished() {
	batch := []rl.Trajectory{rollout("", 10, 2, 4, 6, 8), rollout("", 0, 1, 3)}
	batch[0].Turns[1].Invalid = true
	credit, err := token.PPOPublished(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("advantages %.3f\n", credit.TokenAdvantage)
	fmt.Printf("returns    %.1f\n", credit.TokenTarget)
	// Output:
	// advantages [1.285 0.806 0.303 -0.176 -0.870 -1.349]
	// returns    [10.0 10.0 9.9 9.9 0.0 0.0]
}

// Each turn a row, as verl-agent has them, here in any order.
func ExampleFromRows() {
	batch, err := token.FromRows([]token.Row{
		{ID: "x", Step: new(1), Mask: []bool{false, true}, TurnRewards: []float64{1}},
		{ID: "x", Step: new(0), Mask: []bool{false, false, true}, TurnRewards: []float64{0}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, turn := range batch[0].Turns {
		fmt.Println(len(turn.Tokens), "tokens, reward", turn.Reward, turn.End)
	}
	// Output:
	// 3 tokens, reward 0 continue
	// 2 tokens, reward 1 terminated
}

func ExampleReadRows() {
	file := strings.NewReader(`{"mask": [0, 1], "values": [0.5, NaN]}`)
	for _, err := range token.ReadRows(file) {
		fmt.Println(err)
	}
	// Output: token: line 1: token: row 0: values[1] is NaN, want a finite number, as JSON has no other (json.dumps with allow_nan=False finds it)
}

// Any estimator of package rl fills in rows.
func ExampleSetCredit() {
	rows := []token.Row{
		{Group: "a", Mask: []bool{false, true, true}, TurnRewards: []float64{1}},
		{Group: "a", Mask: []bool{false, true, false}, TurnRewards: []float64{0}},
	}
	batch, err := token.FromRows(rows)
	if err != nil {
		log.Fatal(err)
	}
	credit, err := rl.GRPO(nil, batch, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}})
	if err != nil {
		log.Fatal(err)
	}
	if err := token.SetCredit(rows, batch, credit); err != nil {
		log.Fatal(err)
	}
	if err := token.WriteRows(os.Stdout, rows); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"group":"a","mask":[0,1,1],"turn_rewards":[1.0],"advantages":[0.0,0.5,0.5],"turn_advantages":[0.5]}
	// {"group":"a","mask":[0,1,0],"turn_rewards":[0.0],"advantages":[0.0,-0.5,0.0],"turn_advantages":[-0.5]}
}

func ExampleToRows() {
	rows := token.ToRows([]rl.Trajectory{rollout("a", 1, 0.5, 0.5)})
	if err := token.WriteRows(os.Stdout, rows); err != nil {
		log.Fatal(err)
	}
	// Output: {"group":"a","end":"terminated","mask":[1,1],"values":[0.5,0.5],"turns":[0,0],"turn_rewards":[1.0]}
}

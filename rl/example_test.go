package rl_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// rollout returns a trajectory of one-token turns with the given rewards.
func rollout(group string, rewards ...float64) rl.Trajectory {
	t := rl.Trajectory{Group: group}
	for _, r := range rewards {
		t.Turns = append(t.Turns, rl.Turn{Reward: r, Tokens: []rl.Token{{Trainable: true, LogProb: -0.7}}})
	}
	t.Turns[len(t.Turns)-1].End = rl.Terminated
	return t
}

// From rollouts to the gradient of the loss with respect to the log-probability of each token.
func Example() {
	batch := []rl.Trajectory{rollout("task 1", 0, 1), rollout("task 1", 0, 0, 0)}
	credit, err := rl.GRPO(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	b, err := loss.NewBatch(nil, batch, credit, nil)
	if err != nil {
		log.Fatal(err)
	}
	// Here b.LogProb gets the log-probabilities under the policy being trained. It has not moved yet, so they are the old ones.
	grad := make([]float64, len(b.LogProb))
	value, stats, err := loss.PPO(grad, *b, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f over %d tokens\n", value, stats.Tokens)
	fmt.Printf("gradient %.4f\n", grad)
	// Output:
	// loss 0.1414 over 5 tokens
	// gradient [-0.1414 -0.1414 0.1414 0.1414 0.1414]
}

func ExampleTurnGAE() {
	t := rollout("", 0, 0, 0, 10)
	for k, v := range []float64{2, 3, 5, 8} {
		t.Turns[k].Value = v
	}
	credit, err := rl.TurnGAE(nil, []rl.Trajectory{t}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("advantage %.4f\n", credit.Advantage)
	fmt.Printf("target    %.4f\n", credit.ValueTarget)
	// Output:
	// advantage [0.9336 0.7496 -0.0832 -1.5999]
	// target    [8.0173 8.7255 9.4050 10.0000]
}

func ExampleGRPO() {
	batch := []rl.Trajectory{rollout("a", 1), rollout("a", 0), rollout("a", 0), rollout("b", 5), rollout("b", 5)}
	credit, err := rl.GRPO(nil, batch, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", credit.Advantage)
	fmt.Printf("%d groups, %d without variance\n", credit.Groups, credit.ZeroVariance)
	// Output:
	// [0.667 -0.333 -0.333 0.000 0.000]
	// 2 groups, 1 without variance
}

// Each trainable token has the advantage of its turn; those of excluded turns have 0 and want weight 0.
func ExampleCredit_TokenAdvantages() {
	batch := []rl.Trajectory{rollout("a", 0, 1), rollout("a", 0)}
	batch[0].Turns[0].Tokens = []rl.Token{{ID: 7}, {Trainable: true}, {Trainable: true}}
	batch[0].Turns[1].Excluded = true
	credit, err := rl.GRPO(nil, batch, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("turns ", credit.Advantage, credit.Vote)
	fmt.Println("tokens", credit.TokenAdvantages(nil, batch))
	// Output:
	// turns  [0.5 0 -0.5] [true false true]
	// tokens [0.5 0.5 0 -0.5]
}

func ExampleValidate() {
	batch := []rl.Trajectory{rollout("a", 1), rollout("a", 0, 2)}
	batch[1].Turns[1].End = rl.Continue
	fmt.Println(rl.Validate(batch))
	// Output: rl: trajectory 1, turn 1: End is continue, want terminated or truncated on the last turn
}

func ExampleWriteTrajectories() {
	if err := rl.WriteTrajectories(os.Stdout, []rl.Trajectory{rollout("a", 1)}); err != nil {
		log.Fatal(err)
	}
	// Output: {"group":"a","turns":[{"end":"terminated","tokens":[{"id":0,"trainable":true,"logprob":-0.7}],"reward":1}]}
}

func ExampleReadTrajectories() {
	file := strings.NewReader(`{"id":"first","turns":[{"reward":0.5},{"reward":1,"end":"terminated"}]}
{"id":"second","turns":[{"rewrad":1,"end":"terminated"}]}
`)
	for t, err := range rl.ReadTrajectories(file) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(t.ID, t.Score())
	}
	// Output:
	// first 1.5
	// rl: line 2: unknown field "rewrad" at byte 26
}

// Advantages move the policy, the two targets the two read-outs of the critic.
func ExampleSAPO() {
	t := rollout("", 0, 0, 0, 10)
	for k, v := range []float64{2, 3, 5, 8} {
		t.Turns[k].Value = v
		t.Turns[k].QValue = []float64{2.5, 4, 6, 9}[k]
	}
	credit, err := rl.SAPO(nil, []rl.Trajectory{t}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("advantage %.4f\n", credit.Advantage)
	fmt.Printf("V target  %.4f\n", credit.ValueTarget)
	fmt.Printf("Q target  %.4f\n", credit.QTarget)
	// Output:
	// advantage [0.9336 0.7496 -0.0832 -1.5999]
	// V target  [8.0173 8.7255 9.4050 10.0000]
	// Q target  [3.8000 5.7000 8.5500 10.0000]
}

// An estimator of one's own: returns of turns, normalised over the batch. Package rltest checks such estimators.
func ExampleNewCredit() {
	returns := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		if err := rl.Validate(batch); err != nil {
			return nil, err
		}
		c, err := rl.NewCredit(dst, batch)
		if err != nil {
			return nil, err
		}
		for i := range batch {
			for k, g := range batch[i].MonteCarlo(nil, 0.95, 0) {
				if turn := c.Start[i] + k; c.Vote[turn] {
					c.Advantage[turn] = g
				}
			}
		}
		return c, c.Normalize(rl.Norm{})
	}
	var estimator rl.Estimator = returns
	c, err := estimator(nil, []rl.Trajectory{rollout("", 0, 1), rollout("", 0)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", c.Advantage)
	// Output: [0.652 0.761 -1.413]
}

func ExampleExplainedVariance() {
	share, ok := rl.ExplainedVariance([]float64{1, 2, 3, 4}, []float64{1, 2, 2, 5})
	fmt.Printf("%.1f %v\n", share, ok)
	_, ok = rl.ExplainedVariance([]float64{1, 1}, []float64{0, 3})
	fmt.Println(ok)
	// Output:
	// 0.6 true
	// false
}

// What a credit can teach: here half of the groups, and half of the voting turns.
func ExampleCredit_Diagnose() {
	batch := []rl.Trajectory{rollout("a", 1), rollout("a", 0), rollout("b", 5), rollout("b", 5)}
	credit, err := rl.GRPO(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	d, err := credit.Diagnose(batch)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d voters, zero-variance share %.1f, effective share %.1f\n", d.Voters, d.ZeroVarianceShare, d.EffectiveShare)
	// Output: 4 voters, zero-variance share 0.5, effective share 0.5
}

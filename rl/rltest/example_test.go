package rltest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rltest"
)

// A test of an estimator is one call: say what it promises.
func ExampleRun() {
	testGRPO := func(t *testing.T) {
		grpo := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
			return rl.GRPO(dst, batch, nil)
		}
		rltest.Run(t, grpo, rltest.Promises{
			TurnLevel: true, ShiftFree: true, Renamable: true, ApartByGroup: true, SingletonZero: true,
			Centred: rltest.GroupTrajectories,
		})
	}
	_ = testGRPO // in a test file: func TestGRPO(t *testing.T)
	// Output:
}

// Laws can be checked without a test, too. This estimator forgets that excluded trajectories have no say.
func ExampleLaws() {
	leave := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		c, err := rl.NewCredit(dst, batch)
		if err != nil {
			return nil, err
		}
		best := math.Inf(-1)
		for i := range batch {
			score := batch[i].Score()
			if c.NoVote[i] == "" && score-score != 0 {
				return nil, fmt.Errorf("trajectory %d: score %v: %w", i, score, rl.ErrNonFinite)
			}
			best = max(best, score)
		}
		for i := range batch {
			for k := c.Start[i]; k < c.Start[i+1]; k++ {
				if c.Vote[k] {
					c.Advantage[k] = batch[i].Score() - best
				}
			}
		}
		return c, nil
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, law := range rltest.Laws(rltest.Promises{}) {
		for range 100 {
			if err := law.Check(leave, rng); err != nil {
				fmt.Printf("%s: %v\n", law.Name, err)
				break
			}
		}
	}
	// Output:
	// non-voters: after a change of trajectories without a vote: turn 0 of trajectory 0 has Advantage -0.75, and then NaN
}

func ExampleRandomBatch() {
	batch := rltest.RandomBatch(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(rl.Validate(batch))
	for _, t := range batch {
		fmt.Printf("group %q, %d turns, score %g, %v\n", t.Group, len(t.Turns), t.Score(), t.Turns[len(t.Turns)-1].End)
	}
	// Output:
	// <nil>
	// group "", 2 turns, score 1.625, terminated
	// group "a", 3 turns, score 0.375, truncated
	// group "b", 4 turns, score 2.25, truncated
	// group "c", 4 turns, score -0.125, terminated
	// group "b", 2 turns, score 4, terminated
}

// The squared error of one prediction, with a gradient that forgets the factor 2.
func ExampleGradient() {
	loss := func(factor float64) func(grad, x []float64) (float64, error) {
		return func(grad, x []float64) (float64, error) {
			d := x[0] - 3*x[1]
			grad[0], grad[1] = factor*d, -3*factor*d
			return d * d, nil
		}
	}
	for _, factor := range []float64{2, 1} {
		worst, at, err := rltest.Gradient(loss(factor), []float64{1, 2})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(worst <= 1e-6, at, math.Round(worst*100)/100)
	}
	// Output:
	// true 0 0
	// false 0 0.5
}

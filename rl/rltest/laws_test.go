package rltest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/rl"
)

func turnGAE(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
	return rl.TurnGAE(dst, batch, nil)
}

func sapo(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return rl.SAPO(dst, batch, nil) }
func grpo(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return rl.GRPO(dst, batch, nil) }

// start lays out a credit and checks the rewards of voters.
func start(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
	c, err := rl.NewCredit(dst, batch)
	if err != nil {
		return nil, err
	}
	for i := range batch {
		if s := batch[i].Score(); c.NoVote[i] == "" && s-s != 0 {
			return nil, fmt.Errorf("trajectory %d: %w", i, rl.ErrNonFinite)
		}
	}
	return c, nil
}

// give sets the advantage of each voting turn.
func give(c *rl.Credit, batch []rl.Trajectory, advantage func(i, k int) float64) *rl.Credit {
	for i := range batch {
		for k := range batch[i].Turns {
			if at := c.Start[i] + k; c.Vote[at] {
				c.Advantage[at] = advantage(i, k)
			}
		}
	}
	return c
}

func anyone(int) bool { return true }

// mate tells who is compared with trajectory i: the others of its group for which ok is true.
func mate(batch []rl.Trajectory, i, j int, ok func(j int) bool) bool {
	return batch[i].Group == batch[j].Group && ok(j)
}

// meanScore returns the mean score of those for whom ok is true.
func meanScore(batch []rl.Trajectory, ok func(j int) bool) float64 {
	sum, n := 0.0, 0.0
	for j := range batch {
		if ok(j) {
			sum += batch[j].Score()
			n++
		}
	}
	return sum / n
}

// baseline is a correct estimator that the doubles below are made of: the score less the mean of the voters of the group.
func baseline(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
	c, err := start(dst, batch)
	if err != nil {
		return nil, err
	}
	return give(c, batch, func(i, _ int) float64 {
		return batch[i].Score() - meanScore(batch, func(j int) bool { return mate(batch, i, j, anyone) && c.NoVote[j] == "" })
	}), nil
}

// with is baseline and then a change.
func with(change func(c *rl.Credit, batch []rl.Trajectory)) func() rl.Estimator {
	return func() rl.Estimator {
		return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
			c, err := baseline(dst, batch)
			if err == nil {
				change(c, batch)
			}
			return c, err
		}
	}
}

// scored gives each voting turn a number.
func scored(advantage func(c *rl.Credit, batch []rl.Trajectory, i, k int) float64) func() rl.Estimator {
	return func() rl.Estimator {
		return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
			c, err := start(dst, batch)
			if err != nil {
				return nil, err
			}
			return give(c, batch, func(i, k int) float64 { return advantage(c, batch, i, k) }), nil
		}
	}
}

// seeing is baseline for another batch.
func seeing(change func(batch []rl.Trajectory) []rl.Trajectory) func() rl.Estimator {
	return func() rl.Estimator {
		return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
			return baseline(dst, change(clone(batch)))
		}
	}
}

func plain(e rl.Estimator) func() rl.Estimator { return func() rl.Estimator { return e } }

// tokenReturns is a correct estimator over tokens: the score discounted by the trainable tokens that follow, less the value.
// step tells whether a token is a time step, and value reads one.
func tokenReturns(step func(x *rl.Token) bool, value func(x *rl.Token) float64) rl.Estimator {
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		c, err := start(dst, batch)
		if err != nil {
			return nil, err
		}
		c.TokenAdvantage = []float64{}
		for i := range batch {
			t := &batch[i]
			a, from := batch[i].Score(), len(c.TokenAdvantage)
			for k := range t.Turns {
				for j := range t.Turns[k].Tokens {
					if t.Turns[k].Tokens[j].Trainable {
						c.TokenAdvantage = append(c.TokenAdvantage, 0)
					}
				}
			}
			at := len(c.TokenAdvantage)
			for k, u := range slices.Backward(t.Turns) {
				vote := c.Vote[c.Start[i]+k]
				sum, n := 0.0, 0.0
				for j := range slices.Backward(u.Tokens) {
					x := &u.Tokens[j]
					if x.Trainable {
						at--
					}
					if !vote || !step(x) {
						continue
					}
					if x.Trainable {
						c.TokenAdvantage[at] = a - value(x)
						sum += a - value(x)
						n++
					} else if v := value(x); v != v {
						a = v
					}
					a *= 0.9
				}
				if n > 0 {
					c.Advantage[c.Start[i]+k] = sum / n
				}
			}
			if at != from {
				panic("tokens were miscounted")
			}
		}
		return c, nil
	}
}

func trainable(x *rl.Token) bool     { return x.Trainable }
func tokenValue(x *rl.Token) float64 { return x.Value }

// anchored compares the turns of a group that start in one state, as the step part of GiGPO does.
func anchored(c *rl.Credit, batch []rl.Trajectory, i, k int) float64 {
	state := batch[i].Turns[k].State
	if state == "" {
		return 0
	}
	sum, n := 0.0, 0.0
	for j := range batch {
		for l, u := range batch[j].Turns {
			if batch[j].Group == batch[i].Group && u.State == state && c.Vote[c.Start[j]+l] {
				sum += u.Reward
				n++
			}
		}
	}
	return batch[i].Turns[k].Reward - sum/n
}

// standard divides by the deviation of the group without looking at it.
func standard(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
	ok := func(j int) bool { return mate(batch, i, j, anyone) && c.NoVote[j] == "" }
	m := meanScore(batch, ok)
	sum, n := 0.0, 0.0
	for j := range batch {
		if ok(j) {
			sum += math.Pow(batch[j].Score()-m, 2)
			n++
		}
	}
	if n == 1 {
		return 0
	}
	return (batch[i].Score() - m) / math.Sqrt(sum/(n-1))
}

// entered is wrong while another goroutine is in it, for which it waits a little.
func entered() rl.Estimator {
	var inside atomic.Int64
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		inside.Add(1)
		defer inside.Add(-1)
		for range 100 {
			if inside.Load() > 1 {
				return with(func(c *rl.Credit, batch []rl.Trajectory) {
					give(c, batch, func(i, k int) float64 { return 7 })
				})()(dst, batch)
			}
			runtime.Gosched()
		}
		return baseline(dst, batch)
	}
}

// shared returns the same credit to all who bring none.
func shared() rl.Estimator {
	var mu sync.Mutex
	own := new(rl.Credit)
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		mu.Lock()
		defer mu.Unlock()
		if dst == nil {
			dst = own
		}
		return baseline(dst, batch)
	}
}

// limps is wrong once after an error.
func limps() rl.Estimator {
	var failed atomic.Bool
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		c, err := baseline(dst, batch)
		if err != nil {
			failed.Store(true)
			return nil, err
		}
		if failed.Swap(false) {
			give(c, batch, func(i, k int) float64 { return 7 })
		}
		return c, nil
	}
}

func drifting() rl.Estimator {
	var calls atomic.Int64
	return with(func(c *rl.Credit, batch []rl.Trajectory) {
		odd := float64(calls.Add(1) % 2)
		give(c, batch, func(i, k int) float64 { return c.Advantage[c.Start[i]+k] + 1e-14*odd })
	})()
}

// crossing sweeps over the batch as if it were one trajectory.
func crossing(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
	c, err := start(dst, batch)
	if err != nil {
		return nil, err
	}
	carry := 0.0
	for i, t := range slices.Backward(batch) {
		if c.NoVote[i] != "" {
			continue
		}
		for k, u := range slices.Backward(t.Turns) {
			carry = u.Reward + 0.9*carry
			if at := c.Start[i] + k; c.Vote[at] {
				c.Advantage[at] = carry
			}
		}
	}
	return c, nil
}

// centredOver is the score and the position of the turn, less the mean over rows.
func centredOver(rows Rows) rl.Estimator {
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		c, err := start(dst, batch)
		if err != nil {
			return nil, err
		}
		give(c, batch, func(i, k int) float64 { return batch[i].Score() + float64(k) })
		means := make([]float64, len(batch))
		for i := range batch {
			sum, n := 0.0, 0.0
			for j := range batch {
				if (rows == GroupTrajectories || rows == GroupTurns) && batch[i].Group != batch[j].Group {
					continue
				}
				tsum, tn := 0.0, 0.0
				for k := range batch[j].Turns {
					at := c.Start[j] + k
					if !c.Vote[at] {
						continue
					}
					w := 1.0
					if rows == BatchTokens {
						w = 0
						for _, x := range batch[j].Turns[k].Tokens {
							if x.Trainable {
								w++
							}
						}
					}
					tsum, tn = tsum+w*c.Advantage[at], tn+w
				}
				if (rows == GroupTrajectories || rows == BatchTrajectories) && tn > 0 {
					tsum, tn = tsum/tn, 1
				}
				sum, n = sum+tsum, n+tn
			}
			means[i] = sum / n
		}
		return give(c, batch, func(i, k int) float64 { return c.Advantage[c.Start[i]+k] - means[i] }), nil
	}
}

// ofGroup is what baseline promises.
var ofGroup = Promises{TurnLevel: true, ShiftFree: true, Renamable: true, ApartByGroup: true, SingletonZero: true, Centred: GroupTrajectories}

// Correct estimators keep all laws that they promise, and each double has one defect, which exactly the laws for it report.
func TestLawsFindDefects(t *testing.T) {
	turns := Promises{TurnLevel: true, Renamable: true, Centred: BatchTurns}
	dropping := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		return rl.TurnGAE(dst, batch, &rl.TurnGAEOptions{Truncation: rl.TruncationDrop, ExcludeNonFinite: true, Norm: rl.Norm{Std: rl.StdOff}})
	}
	raw := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		return rl.GRPO(dst, batch, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone, Singleton: rl.SingletonRaw}, ExcludeNonFinite: true})
	}
	for _, tt := range []struct {
		name     string
		double   func() rl.Estimator
		promises Promises
		want     []string
		reason   string
	}{
		{"TurnGAE", plain(turnGAE), turns, nil, "correct"},
		{"SAPO", plain(sapo), turns, nil, "correct"},
		{"TurnGAE, each alone", plain(dropping), Promises{TurnLevel: true, Renamable: true, ApartByGroup: true, Apart: true, ExcludesNonFinite: true},
			nil, "correct: what is not normalised is apart; truncated trajectories have no vote"},
		{"GRPO", plain(grpo), ofGroup, nil, "correct"},
		{"GRPO, raw", plain(raw), Promises{TurnLevel: true, Renamable: true, ApartByGroup: true, Centred: GroupTrajectories, ExcludesNonFinite: true},
			nil, "correct: a group of one has its score, which is not to be centred"},
		{"baseline", plain(baseline), ofGroup, nil, "correct"},
		{"anchors", scored(anchored), Promises{TurnLevel: true, Renamable: true, ApartByGroup: true, SingletonZero: true}, nil, "correct"},
		{"tokens", plain(tokenReturns(trainable, tokenValue)), Promises{Renamable: true, ApartByGroup: true, Apart: true}, nil, "correct"},
		{"verdicts", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
			if s := batch[i].Success; s != nil && *s || s == nil && batch[i].Score() > 0 {
				return 1
			}
			return 0
		}), Promises{ShiftFree: true}, nil, "correct: the verdict is one thing and the score another"},

		{"fails", plain(func(*rl.Credit, []rl.Trajectory) (*rl.Credit, error) { return nil, errors.New("no") }), ofGroup,
			[]string{"shape", "no voter"}, "nothing else can be said of it"},
		{"needs a voter", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				if !slices.ContainsFunc(batch, func(t rl.Trajectory) bool { return voter(&t) }) {
					return nil, errors.New("nobody votes")
				}
				return baseline(dst, batch)
			}
		}, ofGroup, []string{"shape", "no voter"}, "a valid batch may have none"},
		{"nil", plain(func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
			if len(batch) == 0 {
				return new(rl.Credit), nil
			}
			return nil, nil
		}), ofGroup, []string{"shape", "no voter"}, "neither a credit nor an error; and a new Credit does not fit an empty batch"},
		{"short NoVote", with(func(c *rl.Credit, batch []rl.Trajectory) {
			if slices.Contains(c.Vote, true) {
				c.NoVote = c.NoVote[1:]
			}
		}), ofGroup, []string{"shape"}, "one entry for each trajectory"},
		{"short Flat", with(func(c *rl.Credit, batch []rl.Trajectory) { c.Flat = make([]bool, len(batch)/2) }), Promises{},
			[]string{"shape", "no voter"}, "nil or complete, also where nobody votes"},
		{"masked tokens have credit", plain(func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
			c, err := baseline(dst, batch)
			if err == nil && slices.Contains(c.Vote, true) {
				for i := range batch {
					for _, u := range batch[i].Turns {
						c.TokenAdvantage = append(c.TokenAdvantage, make([]float64, len(u.Tokens)+1)...)
					}
				}
			}
			return c, err
		}), ofGroup, []string{"shape"}, "one entry for each trainable token"},
		{"other layout", with(func(c *rl.Credit, batch []rl.Trajectory) {
			if slices.Contains(c.Vote, true) {
				c.Start = c.Start[:len(batch)]
			}
		}), ofGroup, []string{"shape"}, "Start has an end"},

		{"no floor", scored(standard), ofGroup, []string{"finite"}, "0/0 where all scores are equal"},
		{"fourth power", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 { return math.Pow(batch[i].Score(), 4) }), Promises{},
			[]string{"finite"}, "overflows at 1e100"},
		{"target", with(func(c *rl.Credit, batch []rl.Trajectory) {
			c.QTarget = make([]float64, len(c.Advantage))
			for k := range c.QTarget {
				if c.Vote[k] {
					c.QTarget[k] = math.NaN()
				}
			}
		}), ofGroup, []string{"finite"}, "targets are finite, too"},

		{"penalises in place", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				for i := range batch {
					for k := range batch[i].Turns {
						if u := &batch[i].Turns[k]; u.Invalid {
							u.Reward, u.Invalid = u.Reward-0.1, false
						}
					}
				}
				return baseline(dst, batch)
			}
		}, ofGroup, []string{"input"}, "right once, then with the penalty twice if Invalid stayed"},
		{"writes through a pointer", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				for i := range batch {
					if v := batch[i].FinalValue; v != nil && *v != 0 {
						*v = 0
					}
				}
				return baseline(dst, batch)
			}
		}, ofGroup, []string{"input"}, "a copy of the slice of trajectories does not help"},

		{"drift", drifting, ofGroup, []string{"deterministic"}, "below every tolerance, but not the same"},
		{"order of a map", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
			scores := map[int]float64{}
			for j := range batch {
				if c.NoVote[j] == "" {
					scores[j] = batch[j].Score()
				}
			}
			sum := 0.0
			for _, s := range scores {
				sum += s
			}
			return batch[i].Score() - sum/float64(len(scores))
		}), Promises{}, []string{"deterministic"}, "a sum in random order"},

		{"adds to dst", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				left := 0.0
				if dst != nil && len(dst.Advantage) > 0 {
					left = dst.Advantage[0]
				}
				c, err := baseline(dst, batch)
				if err == nil {
					give(c, batch, func(i, k int) float64 { return c.Advantage[c.Start[i]+k] + left })
				}
				return c, err
			}
		}, ofGroup, []string{"reuse"}, "memory that was not cleared"},
		{"leaves tokens in dst", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				var left []float64
				if dst != nil {
					left = dst.TokenAdvantage
				}
				c, err := baseline(dst, batch)
				if err == nil {
					c.TokenAdvantage = left
				}
				return c, err
			}
		}, ofGroup, []string{"reuse"}, "a dst from an estimator over tokens"},
		{"counts on", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				left := 0
				if dst != nil {
					left = dst.Groups
				}
				c, err := baseline(dst, batch)
				if err == nil {
					c.Groups = left + 1
				}
				return c, err
			}
		}, ofGroup, []string{"reuse"}, "counts of an earlier batch"},
		{"limps", limps, ofGroup, []string{"reuse"}, "wrong after a failed call"},

		{"shared", shared, ofGroup, []string{"own memory"}, "the next call overwrites the result"},
		{"shared scratch", entered, ofGroup, []string{"concurrent"}, "wrong only while two goroutines are in it"},

		{"excluded turns vote", with(func(c *rl.Credit, batch []rl.Trajectory) {
			for i := range batch {
				for k, u := range batch[i].Turns {
					if u.Excluded && batch[i].Excluded == "" {
						c.Vote[c.Start[i]+k] = true
					}
				}
			}
		}), Promises{}, []string{"vote"}, "they have weight 0"},
		{"invalid turns do not vote", with(func(c *rl.Credit, batch []rl.Trajectory) {
			for i := range batch {
				for k, u := range batch[i].Turns {
					if u.Invalid {
						c.Vote[c.Start[i]+k] = false
					}
				}
			}
		}), Promises{}, []string{"vote"}, "they are to learn from it"},
		{"no reason", with(func(c *rl.Credit, batch []rl.Trajectory) {
			for i := range batch {
				if batch[i].Excluded == "" {
					c.NoVote[i] = ""
				}
			}
		}), ofGroup, []string{"vote"}, "a trajectory without a trainable token is none of the voters"},
		{"excluded turns learn", with(func(c *rl.Credit, batch []rl.Trajectory) {
			for i := range batch {
				for k, u := range batch[i].Turns {
					if u.Excluded && batch[i].Excluded == "" {
						c.Advantage[c.Start[i]+k] = batch[i].Score()
					}
				}
			}
		}), Promises{}, []string{"zero"}, "advantage 0, whatever the weight in the loss"},
		{"excluded tokens learn", func() rl.Estimator {
			right := tokenReturns(trainable, tokenValue)
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				c, err := right(dst, batch)
				if err != nil {
					return nil, err
				}
				v, err := look(c, batch)
				for k, vote := range c.Vote {
					for j := v.first[k]; !vote && j < v.first[k+1]; j++ {
						c.TokenAdvantage[j] = 1
					}
				}
				return c, err
			}
		}, Promises{}, []string{"zero"}, "where tokens have numbers, too"},
		{"targets of excluded", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				c, err := turnGAE(dst, batch)
				for i := range batch {
					if err == nil && batch[i].Excluded != "" {
						for k := range batch[i].Turns {
							c.ValueTarget[c.Start[i]+k] = 1
						}
					}
				}
				return c, err
			}
		}, turns, []string{"zero"}, "nothing of them may be read"},
		{"sum of tokens", func() rl.Estimator {
			right := tokenReturns(trainable, tokenValue)
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				c, err := right(dst, batch)
				if err == nil {
					give(c, batch, func(i, k int) float64 { return 2 * c.Advantage[c.Start[i]+k] })
				}
				return c, err
			}
		}, Promises{}, []string{"token mean"}, "Credit says that it is the mean"},

		{"excluded vote", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
			return batch[i].Score() - meanScore(batch, func(j int) bool {
				return mate(batch, i, j, func(j int) bool { return c.NoVote[j] == "" || batch[j].Excluded != "" })
			})
		}), Promises{}, []string{"non-voters"}, "NaN in an excluded trajectory is in the mean"},
		{"untrained vote", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
			return batch[i].Score() - meanScore(batch, func(j int) bool {
				return mate(batch, i, j, func(j int) bool { return batch[j].Excluded == "" })
			})
		}), Promises{}, []string{"non-voters"}, "OpenRLHF PR#1239: a row without trainable tokens votes"},
		{"masked tokens are steps", plain(tokenReturns(func(*rl.Token) bool { return true }, func(x *rl.Token) float64 {
			if x.Trainable {
				return x.Value
			}
			return 0
		})), Promises{}, []string{"masked tokens"}, "they cost no discount"},
		{"values times mask", plain(tokenReturns(func(*rl.Token) bool { return true }, func(x *rl.Token) float64 {
			m := 0.0
			if x.Trainable {
				m = 1
			}
			return x.Value * m
		})), Promises{}, []string{"masked tokens"}, "NaN times 0"},
		{"per token", scored(func(c *rl.Credit, batch []rl.Trajectory, i, k int) float64 {
			return batch[i].Score() / float64(len(batch[i].Turns[k].Tokens))
		}), Promises{}, []string{"masked tokens"}, "a mean over masked positions"},
		{"first is the baseline", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
			return batch[i].Score() - batch[slices.Index(c.NoVote, "")].Score()
		}), Promises{}, []string{"order"}, "the place in the batch means nothing"},
		{"one long sweep", plain(crossing), Promises{}, []string{"order"}, "the carry crosses the end of a trajectory"},
		{"one long sweep, apart", plain(crossing), Promises{Renamable: true, ApartByGroup: true, Apart: true},
			[]string{"order", "other groups", "other trajectories"}, "and then others have an influence"},
		{"goes on after the end", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				c, err := start(dst, batch)
				if err != nil {
					return nil, err
				}
				return give(c, batch, func(i, _ int) float64 {
					if v := batch[i].FinalValue; v != nil {
						return batch[i].Score() + *v
					}
					return batch[i].Score()
				}), nil
			}
		}, Promises{}, []string{"final value"}, "tianshou#869: the value after a termination"},

		{"NaN is 0", seeing(func(batch []rl.Trajectory) []rl.Trajectory {
			for i := range batch {
				for k := range batch[i].Turns {
					if u := &batch[i].Turns[k]; u.Reward-u.Reward != 0 {
						u.Reward = 0
					}
				}
			}
			return batch
		}), ofGroup, []string{"non-finite"}, "a fault that nobody sees"},
		{"other error", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				c, err := baseline(dst, batch)
				if errors.Is(err, rl.ErrNonFinite) {
					err = errors.New("NaN")
				}
				return c, err
			}
		}, ofGroup, []string{"non-finite"}, "a caller cannot tell it from others"},
		{"does not exclude", plain(grpo), Promises{ExcludesNonFinite: true}, []string{"non-finite"}, "promised, but an error"},
		{"excludes half", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				seen := clone(batch)
				for i := range seen {
					if s := seen[i].Score(); s-s != 0 && seen[i].Excluded == "" {
						for k := range seen[i].Turns {
							seen[i].Turns[k].Reward = 0
						}
					}
				}
				c, err := baseline(dst, seen)
				for i := range batch {
					if s := batch[i].Score(); err == nil && s-s != 0 {
						c.Exclude(i, "non-finite")
					}
				}
				return c, err
			}
		}, Promises{ExcludesNonFinite: true}, []string{"non-finite"}, "no vote of its own, but in the mean"},
		{"closes", seeing(func(batch []rl.Trajectory) []rl.Trajectory {
			for i := range batch {
				for k := range batch[i].Turns {
					u := &batch[i].Turns[k]
					u.End = rl.Continue
					if k == len(batch[i].Turns)-1 {
						u.End = rl.Terminated
					}
				}
			}
			return batch
		}), ofGroup, []string{"open"}, "takes what is not finished for an episode"},
		{"other error for open", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				c, err := baseline(dst, batch)
				if errors.Is(err, rl.ErrOpenTrajectory) {
					err = errors.New("open")
				}
				return c, err
			}
		}, ofGroup, []string{"open"}, "a caller cannot tell it from others"},
		{"no empty batch", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				if len(batch) == 0 {
					return nil, errors.New("empty")
				}
				return baseline(dst, batch)
			}
		}, ofGroup, []string{"no voter"}, "an empty batch is no fault"},
		{"reads the excluded", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				for i := range batch {
					if s := batch[i].Score(); s-s != 0 {
						return nil, fmt.Errorf("trajectory %d: %w", i, rl.ErrNonFinite)
					}
				}
				return baseline(dst, batch)
			}
		}, ofGroup, []string{"non-voters", "no voter"}, "whatever is in them"},

		{"by tokens", scored(func(c *rl.Credit, batch []rl.Trajectory, i, k int) float64 {
			n := 0.0
			for _, x := range batch[i].Turns[k].Tokens {
				if x.Trainable {
					n++
				}
			}
			return batch[i].Score() * n
		}), Promises{TurnLevel: true}, []string{"repeated tokens"}, "long answers weigh more"},
		{"tokens of a turn", plain(tokenReturns(trainable, tokenValue)), Promises{TurnLevel: true}, []string{"repeated tokens"},
			"tokens are steps"},
		{"tokens around the mean", func() rl.Estimator {
			return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
				c, err := baseline(dst, batch)
				if err != nil {
					return nil, err
				}
				c.TokenAdvantage = c.TokenAdvantages([]float64{}, batch)
				v, err := look(c, batch)
				for k := range c.Advantage {
					if from, to := v.first[k], v.first[k+1]; c.Vote[k] && to-from > 1 {
						c.TokenAdvantage[from]++
						c.TokenAdvantage[to-1]--
					}
				}
				return c, err
			}
		}, Promises{TurnLevel: true}, []string{"repeated tokens"}, "the mean is right, the tokens are not"},
		{"half a baseline", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
			return batch[i].Score() - 0.999*meanScore(batch, func(j int) bool { return mate(batch, i, j, anyone) && c.NoVote[j] == "" })
		}), Promises{ShiftFree: true}, []string{"shifted scores"}, "something of the score is left"},
		{"alphabet", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
			for j := range batch {
				if c.NoVote[j] == "" && batch[j].Group > batch[i].Group {
					return batch[i].Score()
				}
			}
			return 0
		}), Promises{Renamable: true}, []string{"names"}, "the last group by name is another one then"},
		{"letters of states", scored(func(c *rl.Credit, batch []rl.Trajectory, i, k int) float64 {
			return float64(len(batch[i].Turns[k].State))
		}), Promises{Renamable: true}, []string{"names"}, "a key says nothing"},
		{"whole batch", scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 {
			return batch[i].Score() - meanScore(batch, func(j int) bool { return c.NoVote[j] == "" })
		}), Promises{ApartByGroup: true}, []string{"other groups"}, "slime#1414: the mean over the whole batch"},
		{"compares", plain(baseline), Promises{Apart: true, ApartByGroup: true}, []string{"other trajectories"}, "members of a group are not apart"},
		{"raw alone", plain(raw), Promises{SingletonZero: true, ExcludesNonFinite: true}, []string{"group of one"}, "verl: the score itself"},
		{"tokens alone", plain(tokenReturns(trainable, tokenValue)), Promises{SingletonZero: true}, []string{"group of one"}, "no comparison at all"},
		{"turns weigh", plain(centredOver(GroupTurns)), Promises{Centred: GroupTrajectories}, []string{"centred"},
			"agent-lightning PR#444: the mean over turns"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		var got []string
		for _, law := range Laws(tt.promises) {
			e, rng := tt.double(), rand.New(rand.NewPCG(3, 4))
			for range 60 {
				if err := law.Check(e, rng); err != nil {
					got = append(got, law.Name)
					break
				}
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (%s): laws that report it, -want +got:\n%s", tt.name, tt.reason, diff)
		}
	}
}

// What is centred over some rows is so over these, and over no others but the batch that groups make up.
func TestCentred(t *testing.T) {
	for made := GroupTrajectories; made <= BatchTokens; made++ {
		for promised := GroupTrajectories; promised <= BatchTokens; promised++ {
			laws := Laws(Promises{Centred: promised})
			law := laws[len(laws)-1]
			rng := rand.New(rand.NewPCG(7, 8))
			var err error
			for n := 0; n < 200 && err == nil; n++ {
				err = law.Check(centredOver(made), rng)
			}
			if law.Name != "centred" || (err == nil) != (made == promised || made == GroupTrajectories && promised == BatchTrajectories || made == GroupTurns && promised == BatchTurns) {
				t.Errorf("centred over rows %d, law %s for rows %d: %v", made, law.Name, promised, err)
			}
		}
	}
}

// Laws come in one order, those that are promised last.
func TestLawNames(t *testing.T) {
	always := []string{"shape", "finite", "input", "deterministic", "reuse", "own memory", "concurrent", "vote", "zero", "token mean",
		"non-voters", "masked tokens", "order", "final value", "non-finite", "open", "no voter"}
	whole := ofGroup
	whole.Apart, whole.ExcludesNonFinite = true, true
	for _, tt := range []struct {
		name     string
		promises Promises
		want     []string
		reason   string
	}{
		{"nothing", Promises{}, always, "laws of every estimator"},
		{"everything", whole, append(slices.Clip(always), "repeated tokens", "shifted scores", "names", "other groups",
			"other trajectories", "group of one", "centred"), "one law for each promise"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		var got []string
		for _, law := range Laws(tt.promises) {
			got = append(got, law.Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (%s): -want +got:\n%s", tt.name, tt.reason, diff)
		}
	}
}

// A law without a generator has the batch of seed (1, 2), and repeats its report word for word.
func TestCheckRepeats(t *testing.T) {
	law := Laws(Promises{})[12]
	e := scored(func(c *rl.Credit, batch []rl.Trajectory, i, _ int) float64 { return float64(i + 1) })()
	a, b, c := law.Check(e, nil), law.Check(e, nil), law.Check(e, rand.New(rand.NewPCG(1, 2)))
	if a == nil || b == nil || c == nil || a.Error() != b.Error() || a.Error() != c.Error() {
		t.Errorf("law %s: %v; %v; %v", law.Name, a, b, c)
	}
}

// An estimator that is only for some batches brings them.
func TestOwnBatches(t *testing.T) {
	picky := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		for i := range batch {
			if n := len(batch[i].Turns); batch[i].Excluded == "" && n > 0 && batch[i].Turns[n-1].End == rl.Truncated {
				return nil, rl.ErrNoFinalValue
			}
		}
		return baseline(dst, batch)
	}
	p := ofGroup
	p.Batch = func(rng *rand.Rand) []rl.Trajectory {
		batch := RandomBatch(rng)
		for i := range batch {
			batch[i].Turns[len(batch[i].Turns)-1].End = rl.Terminated
		}
		return batch
	}
	Run(t, picky, p)
	rng := rand.New(rand.NewPCG(1, 2))
	fails := 0
	for range 100 {
		if Laws(Promises{})[0].Check(picky, rng) != nil {
			fails++
		}
	}
	if fails == 0 {
		t.Error("without batches of its own the estimator passes, too")
	}
}

// Run fails in the subtest of the broken law and in no other. The test runs itself again, since a failure cannot be taken back.
func TestRunFails(t *testing.T) {
	const variable = "RLTEST_BROKEN"
	if os.Getenv(variable) != "" {
		Run(t, limps(), Promises{TurnLevel: true})
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestRunFails$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the test of a broken estimator passes")
	}
	var got []string
	for _, m := range regexp.MustCompile(`--- FAIL: TestRunFails/(\S+)`).FindAllSubmatch(out, -1) {
		got = append(got, string(m[1]))
	}
	if diff := cmp.Diff([]string{"reuse"}, got); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, out)
	}
	if n := len(regexp.MustCompile(`--- PASS: TestRunFails/`).FindAll(out, -1)); n != 17 {
		t.Errorf("%d laws pass, want 17:\n%s", n, out)
	}
}

// A pass over all laws, and each law.
func BenchmarkLaws(b *testing.B) {
	laws := Laws(ofGroup)
	rng := rand.New(rand.NewPCG(1, 2))
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, law := range laws {
				if err := law.Check(grpo, rng); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	for _, law := range laws {
		b.Run(law.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := law.Check(grpo, rng); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

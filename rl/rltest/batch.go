package rltest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/rl"
)

// RandomBatch draws a batch that passes [rl.Validate], small and full of special cases: 1 to 8 trajectories in up to 4 groups (one
// with the empty key), each of 1 to 5 turns over few states that trajectories share, visit twice and sometimes do not
// know; turns that are invalid, excluded, without tokens or without a trainable one; up to 4 tokens a turn, some masked, each
// with log-probabilities and a value; both ends, FinalValue after each truncation and after some terminations; Success or
// none; trajectories excluded as a whole. Rewards are 0 half of the time. In every second batch all rewards and values are
// multiples of 1/8 in [-2, 2], so that scores tie; in the others they are normally distributed.
//
// The same state of rng gives the same batch; nil means rand.New(rand.NewPCG(1, 2)), made anew for each call. The batch
// shares no memory with anything. O(tokens) time.
func RandomBatch(rng *rand.Rand) []rl.Trajectory {
	rng = seeded(rng)
	d := draw{rng, rng.IntN(2) == 0}
	batch := make([]rl.Trajectory, 1+rng.IntN(8))
	for i := range batch {
		batch[i] = d.trajectory(i)
	}
	return batch
}

func seeded(rng *rand.Rand) *rand.Rand {
	if rng == nil {
		return rand.New(rand.NewPCG(1, 2))
	}
	return rng
}

// draw draws the parts of a batch.
type draw struct {
	*rand.Rand
	grid bool
}

// The empty key comes often enough to be seen in most batches.
var (
	groups = []string{"", "a", "b", "c"}
	states = []string{"", "s0", "s0", "s1", "s1", "s2", "s3", "goal"}
)

func (d draw) oneIn(n int) bool         { return d.IntN(n) == 0 }
func (d draw) of(names []string) string { return names[d.IntN(len(names))] }
func (d draw) number() float64 {
	if d.grid {
		return float64(d.IntN(33)-16) / 8
	}
	return d.NormFloat64()
}

func (d draw) trajectory(i int) rl.Trajectory {
	t := rl.Trajectory{ID: strconv.Itoa(i), Group: d.of(groups), Split: "train", FinalState: d.of(states)}
	t.Task = "task " + t.Group
	t.Turns = make([]rl.Turn, 1+d.IntN(5))
	for k := range t.Turns {
		t.Turns[k] = d.turn()
	}
	last := &t.Turns[len(t.Turns)-1]
	last.End = rl.Terminated
	if d.oneIn(3) {
		last.End = rl.Truncated
	}
	if last.End == rl.Truncated || d.oneIn(2) {
		t.FinalValue = new(d.number())
	}
	if !d.oneIn(3) {
		t.Success = new(d.oneIn(2))
	}
	if d.oneIn(7) {
		t.Excluded = "by the environment"
	}
	return t
}

func (d draw) turn() rl.Turn {
	u := rl.Turn{State: d.of(states), Value: d.number(), QValue: d.number(), Invalid: d.oneIn(5), Excluded: d.oneIn(7)}
	if d.oneIn(2) {
		u.Reward = d.number()
	}
	if d.oneIn(12) {
		return u
	}
	u.Tokens = make([]rl.Token, 1+d.IntN(4))
	for j := range u.Tokens {
		u.Tokens[j] = d.token(!d.oneIn(4))
	}
	return u
}

func (d draw) token(trainable bool) rl.Token {
	l := -4 * d.Float64()
	return rl.Token{ID: d.IntN(100), Trainable: trainable, LogProb: l, RefLogProb: l * d.Float64(), Value: d.number()}
}

// junk returns a number for a place that must not be read.
func (d draw) junk() float64 {
	return [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, d.NormFloat64()}[d.IntN(5)]
}

// clone copies a batch and all it points to.
func clone(batch []rl.Trajectory) []rl.Trajectory {
	turns, tokens := 0, 0
	for i := range batch {
		turns += len(batch[i].Turns)
		for k := range batch[i].Turns {
			tokens += len(batch[i].Turns[k].Tokens)
		}
	}
	allTurns, allTokens := make([]rl.Turn, 0, turns), make([]rl.Token, 0, tokens)
	out := slices.Clone(batch)
	for i := range out {
		t := &out[i]
		from := len(allTurns)
		allTurns = append(allTurns, t.Turns...)
		t.Turns = slices.Clip(allTurns[from:])
		for k := range t.Turns {
			from := len(allTokens)
			allTokens = append(allTokens, t.Turns[k].Tokens...)
			t.Turns[k].Tokens = slices.Clip(allTokens[from:])
		}
		if t.FinalValue != nil {
			t.FinalValue = new(*t.FinalValue)
		}
		if t.Success != nil {
			t.Success = new(*t.Success)
		}
	}
	return out
}

// votes reports whether a turn of a trajectory can have a vote.
func votes(t *rl.Trajectory, u *rl.Turn) bool {
	return t.Excluded == "" && !u.Excluded && slices.ContainsFunc(u.Tokens, func(x rl.Token) bool { return x.Trainable })
}

// voter reports whether a trajectory can have a vote.
func voter(t *rl.Trajectory) bool {
	for k := range t.Turns {
		if votes(t, &t.Turns[k]) {
			return true
		}
	}
	return false
}

// pick returns the position of one trajectory of batch for which ok is true, or -1 if there is none.
func pick(rng *rand.Rand, batch []rl.Trajectory, ok func(t *rl.Trajectory) bool) int {
	chosen, seen := -1, 0
	for i := range batch {
		if !ok(&batch[i]) {
			continue
		}
		seen++
		if rng.IntN(seen) == 0 {
			chosen = i
		}
	}
	return chosen
}

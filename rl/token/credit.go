package token

import (
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/rl"
)

// The reasons in rl.Credit.NoVote of the estimators here.
const (
	reasonTruncated = "truncated"
	reasonNonFinite = "non-finite"
)

// memory returns the token slices of dst, empty and not nil. Laying dst out for a batch forgets them.
func memory(dst *rl.Credit) (advantage, target []float64) {
	if dst != nil {
		advantage, target = dst.TokenAdvantage[:0], dst.TokenTarget[:0]
	}
	if advantage == nil {
		advantage = []float64{}
	}
	if target == nil {
		target = []float64{}
	}
	return advantage, target
}

// trainable counts the tokens that have a place in Credit.TokenAdvantage.
func trainable(tokens []rl.Token) int {
	n := 0
	for j := range tokens {
		if tokens[j].Trainable {
			n++
		}
	}
	return n
}

// trainableOf counts those of a trajectory.
func trainableOf(t *rl.Trajectory) int {
	n := 0
	for k := range t.Turns {
		n += trainable(t.Turns[k].Tokens)
	}
	return n
}

// backwards calls visit for each turn of t that votes, from the last to the first, with the positions of its tokens among
// the trainable ones of t and with its reward, less penalty where it is invalid. A turn without a vote hands its reward to
// the voting turn before it, or to the first one where none is before it: no reward is lost.
func backwards(t *rl.Trajectory, vote []bool, penalty float64, visit func(k, from, to int, reward float64)) {
	reward := func(k int) float64 {
		if t.Turns[k].Invalid && !t.Turns[k].Excluded {
			return t.Turns[k].Reward - penalty
		}
		return t.Turns[k].Reward
	}
	first, early := 0, 0.0
	for ; !vote[first]; first++ {
		early += reward(first)
	}
	to, late := trainableOf(t), 0.0
	for k := len(t.Turns) - 1; k >= first; k-- {
		from := to - trainable(t.Turns[k].Tokens)
		late += reward(k)
		if k == first {
			late += early
		}
		if vote[k] {
			visit(k, from, to, late)
			late = 0
		}
		to = from
	}
}

// each fills in the numbers of each trajectory that votes and then normalises them. Run gets the trajectory, the votes of its
// turns and room for one number per trainable token, zeros at first; target is nil unless c.TokenTarget is not. It returns
// what it found not to be finite.
func each(c *rl.Credit, batch []rl.Trajectory, n rl.Norm, exclude bool,
	run func(i int, t *rl.Trajectory, vote []bool, advantage, target []float64) error) (*rl.Credit, error) {
	for i := range batch {
		t := &batch[i]
		from, size := len(c.TokenAdvantage), trainableOf(t)
		c.TokenAdvantage = append(c.TokenAdvantage, make([]float64, size)...)
		var target []float64
		if c.TokenTarget != nil {
			c.TokenTarget = append(c.TokenTarget, make([]float64, size)...)
			target = c.TokenTarget[from:]
		}
		if c.NoVote[i] != "" {
			continue
		}
		advantage := c.TokenAdvantage[from:]
		err := run(i, t, c.Vote[c.Start[i]:c.Start[i+1]], advantage, target)
		switch {
		case err == nil && c.NoVote[i] == "":
			continue
		case err == nil: // run took the vote
		case exclude && errors.Is(err, rl.ErrNonFinite):
			c.Exclude(i, reasonNonFinite)
		default:
			return nil, err
		}
		clear(advantage)
		clear(target)
	}
	if err := whiten(c, batch, n); err != nil {
		return nil, err
	}
	if err := average(c, batch); err != nil {
		return nil, err
	}
	return c, nil
}

// whiten applies n to the tokens of all voting turns together.
func whiten(c *rl.Credit, batch []rl.Trajectory, n rl.Norm) error {
	if n.Std == rl.StdOff {
		return nil
	}
	x := c.TokenAdvantage
	from, to := 0, 0
	walk(batch, func(turn, size int) {
		if c.Vote[turn] {
			copy(x[to:], x[from:from+size])
			to += size
		}
		from += size
	})
	policy := x[:to]
	if to == 1 && n.Singleton == rl.SingletonError {
		return &rl.FieldError{Trajectory: -1, Turn: -1, Field: "the batch", Got: "one token of the policy", Want: "two or more to compare"}
	}
	flat, err := n.Apply(policy)
	if err != nil {
		return err
	}
	if flat || n.Std == rl.StdNone { // huge numbers that are centred only can overflow
		for _, v := range policy {
			if v-v != 0 {
				return nonFinite(-1, -1, "a centred advantage", v)
			}
		}
	}
	if to == len(x) {
		return nil
	}
	for i := len(batch) - 1; i >= 0; i-- { // back to their places, from the end so that nothing is written over
		for k := len(batch[i].Turns) - 1; k >= 0; k-- {
			size := trainable(batch[i].Turns[k].Tokens)
			from -= size
			if c.Vote[c.Start[i]+k] {
				to -= size
				copy(x[from:], x[to:to+size])
			} else {
				clear(x[from : from+size])
			}
		}
	}
	return nil
}

// average gives each voting turn the mean over its tokens.
func average(c *rl.Credit, batch []rl.Trajectory) error {
	from, bad := 0, -1
	walk(batch, func(turn, size int) {
		x := c.TokenAdvantage[from : from+size]
		from += size
		if !c.Vote[turn] {
			return
		}
		var sum float64
		for _, v := range x[1:] {
			sum += v/2 - x[0]/2 // so that equal numbers have exactly themselves as their mean, and no difference overflows
		}
		mean := x[0] + 2*(sum/float64(size))
		if mean-mean != 0 && bad < 0 {
			bad = turn
		}
		c.Advantage[turn] = mean
	})
	if bad < 0 {
		return nil
	}
	i := 0
	for c.Start[i+1] <= bad {
		i++
	}
	return nonFinite(i, bad-c.Start[i], "the mean of its advantages", c.Advantage[bad])
}

// walk calls f for each turn of batch with its number of trainable tokens.
func walk(batch []rl.Trajectory, f func(turn, trainable int)) {
	turn := 0
	for i := range batch {
		for k := range batch[i].Turns {
			f(turn, trainable(batch[i].Turns[k].Tokens))
			turn++
		}
	}
}

// nonFinite returns the error for the value x of a field.
func nonFinite(trajectory, turn int, field string, x float64) error {
	return &rl.FieldError{Trajectory: trajectory, Turn: turn, Field: field, Got: fmt.Sprint(x), Want: "a finite number", Err: rl.ErrNonFinite}
}

// reads is the set of fields of policy tokens that an estimator reads.
type reads uint8

const (
	readValue    reads = 1 << iota
	readLogProbs       // of the policy and the reference
)

const maxLogProb = 1e-3 // rounding of 0 in low precision, as in rl.Validate

// checkLogProbs returns an error for a number of a policy token that is read as a log-probability and is above 0 by more than
// rounding.
func checkLogProbs(i int, t *rl.Trajectory, vote []bool) error {
	for k := range t.Turns {
		if !vote[k] {
			continue
		}
		for j, tok := range t.Turns[k].Tokens {
			name, v := "LogProb", tok.LogProb
			if !(v > maxLogProb) {
				name, v = "RefLogProb", tok.RefLogProb
			}
			if d := tok.LogProb - tok.RefLogProb; tok.Trainable && v > maxLogProb && d-d == 0 { // what is not finite is another fault
				return &rl.FieldError{Trajectory: i, Turn: k, Field: fmt.Sprintf("Tokens[%d].%s", j, name), Got: fmt.Sprint(v), Want: "a log-probability, at most 0"}
			}
		}
	}
	return nil
}

// check returns an error unless all numbers of the trainable tokens of a trajectory are finite. It looks at the results and,
// where one is not finite, for the number that made it so: one of those read, or else the result itself.
func check(i int, t *rl.Trajectory, vote []bool, r reads, advantage, target []float64) error {
	var sum float64 // 0 if all are finite, else NaN
	for _, v := range advantage {
		sum += v - v
	}
	for _, v := range target {
		sum += v - v
	}
	if sum == 0 {
		return nil
	}
	for k := range t.Turns {
		turn := &t.Turns[k]
		if v := turn.Reward; v-v != 0 {
			return nonFinite(i, k, "Reward", v)
		}
		if !vote[k] {
			continue
		}
		for j := range turn.Tokens {
			tok := &turn.Tokens[j]
			if !tok.Trainable {
				continue
			}
			for _, f := range [...]struct {
				by   reads
				name string
				v    float64
			}{{readValue, "Value", tok.Value}, {readLogProbs, "LogProb", tok.LogProb}, {readLogProbs, "RefLogProb", tok.RefLogProb}} {
				if r&f.by != 0 && f.v-f.v != 0 {
					return nonFinite(i, k, fmt.Sprintf("Tokens[%d].%s", j, f.name), f.v)
				}
			}
		}
	}
	for j, v := range advantage { // finite numbers that overflow
		if v-v != 0 {
			return nonFinite(i, -1, fmt.Sprintf("the advantage of trainable token %d", j), v)
		}
	}
	for j, v := range target {
		if v-v != 0 {
			return nonFinite(i, -1, fmt.Sprintf("the target of trainable token %d", j), v)
		}
	}
	return nil
}

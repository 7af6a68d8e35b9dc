package rl

import (
	"fmt"
	"math"
	"slices"
)

// GRPOOptions adjusts [GRPO]. A nil *GRPOOptions equals &GRPOOptions{}.
type GRPOOptions struct {
	InvalidPenalty *float64 // subtracted from the score for each invalid turn, >= 0; nil means 0.1 (reference code of GiGPO)

	// Norm is that of the scores of a group. Std zero means StdSample and Eps nil means 1e-6 (both verl); StdNone gives
	// the advantage of Dr.GRPO, and StdOff each trajectory its own score, compared with none. Singleton is about a group
	// of one voter (SingletonZero is ours; verl returns the raw score).
	Norm Norm

	// ExcludeNonFinite takes the vote from a trajectory whose score is not finite, instead of returning an error.
	ExcludeNonFinite bool
}

// GRPO computes group-relative advantages (arXiv:2402.03300; with StdNone those of Dr.GRPO, arXiv:2503.20783). Each
// trajectory that votes has the penalised score
//
//	Z = sum_t r_t - penalty * number of invalid turns (excluded turns are not penalised)
//
// and its advantage (Z - mean)/(std + eps), over the voters with the same Group key, goes to all of its turns. Equal
// scores give exact zeros. Every trajectory counts once, however many turns it has; groups may differ in size and lie
// scattered in the batch. Trajectories with an empty Group form one group together, as with any other key.
//
// A trajectory votes if it is not excluded and has a trainable token in a turn that is not excluded. Others get 0 and
// influence nothing; neither do turns without a vote, but their rewards belong to the score. NoVote of the result tells why:
// in a batch whose tokens are not marked trainable nobody votes, and all advantages are 0.
//
// GRPO reads the rewards, ends and flags of trajectories that are not excluded, and whether a token is trainable. It
// returns a [*FieldError] around [ErrOpenTrajectory] or [ErrNonFinite] for the first fault, one for a group of one
// under [SingletonError], and an error for options out of range. It sets Groups, ZeroVariance and Singletons of the
// result. It is deterministic, groups are processed in order of first appearance, and takes O(turns + tokens) time;
// with dst from a batch of at least this size and as many groups it allocates nothing.
func GRPO(dst *Credit, batch []Trajectory, o *GRPOOptions) (*Credit, error) {
	if o == nil {
		o = &GRPOOptions{}
	}
	penalty := orDefault(o.InvalidPenalty, 0.1)
	if err := inRange("GRPOOptions", "InvalidPenalty", penalty, 0, math.Inf(1)); err != nil {
		return nil, err
	}
	n, err := o.Norm.fill("GRPOOptions.Norm", StdSample, 1e-6)
	if err != nil {
		return nil, err
	}
	c, err := prepare(dst, batch, false)
	if err != nil {
		return nil, err
	}

	// Scores, by trajectory first.
	c.scratch = resize(c.scratch, 2*len(batch))
	score, packed := c.scratch[:len(batch)], c.scratch[len(batch):]
	for i := range batch {
		t := &batch[i]
		if c.NoVote[i] != "" {
			continue
		}
		score[i] = t.Score()
		for k := range t.Turns {
			if t.Turns[k].Invalid && !t.Turns[k].Excluded {
				score[i] -= penalty
			}
		}
		if finite(score[i]) {
			continue
		}
		if o.ExcludeNonFinite {
			c.exclude(i, reasonNonFinite)
			continue
		}
		if err := checkFinite(i, t, 0); err != nil {
			return nil, err
		}
		return nil, nonFinite(i, -1, "the score", score[i]) // finite rewards that overflow
	}

	// Then packed by group, which is a counting sort.
	c.groupBy(batch)
	end := c.offset // next free place of each group, and its end once filled
	for i, g := range c.group {
		if g >= 0 {
			packed[end[g]] = score[i]
			end[g]++
		}
	}
	from := 0
	for g, to := range end {
		flat := n.apply(packed[from:to])
		switch {
		case to-from > 1:
			c.Groups++
			if flat {
				c.ZeroVariance++
			}
		case n.refuses(to - from):
			i := slices.Index(c.group, g)
			return nil, &FieldError{i, -1, "Group", fmt.Sprintf("%.40q with one voter", batch[i].Group), "two voters or more", nil}
		default:
			c.Singletons++
		}
		from = to
	}
	for i := len(batch) - 1; i >= 0; i-- { // takes places out of a group in the reverse of the order they were filled in
		g := c.group[i]
		if g < 0 {
			continue
		}
		end[g]--
		if !finite(packed[end[g]]) {
			return nil, nonFinite(i, -1, "the centred score", packed[end[g]])
		}
		for k := c.Start[i]; k < c.Start[i+1]; k++ {
			if c.Vote[k] {
				c.Advantage[k] = packed[end[g]]
			}
		}
	}
	return c, nil
}

// groupBy numbers the groups of voters in order of first appearance and sets c.offset to where each starts when packed.
func (c *Credit) groupBy(batch []Trajectory) {
	if c.keys == nil {
		c.keys = make(map[string]int)
	}
	clear(c.keys)
	c.group = resize(c.group, len(batch))
	c.offset = c.offset[:0]
	for i := range batch {
		if c.NoVote[i] != "" {
			c.group[i] = -1
			continue
		}
		g, ok := c.keys[batch[i].Group]
		if !ok {
			g = len(c.offset)
			c.keys[batch[i].Group] = g
			c.offset = append(c.offset, 0)
		}
		c.group[i] = g
		c.offset[g]++
	}
	sum := 0
	for g, size := range c.offset {
		c.offset[g] = sum
		sum += size
	}
}

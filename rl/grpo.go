package rl

import (
	"fmt"
	"math"
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
	n, err := o.Norm.fill("GRPOOptions.Norm", groupNorm)
	if err != nil {
		return nil, err
	}
	c, err := NewCredit(dst, batch)
	if err != nil {
		return nil, err
	}
	if err := c.scores(batch, penalty, o.ExcludeNonFinite); err != nil {
		return nil, err
	}
	if err := c.compareScores(batch, n); err != nil {
		return nil, err
	}
	for i := range batch {
		c.broadcast(i, c.score[i])
	}
	return c, nil
}

// groupNorm has the defaults of a norm over the scores of a group.
var groupNorm = norm{std: StdSample, eps: 1e-6}

// scores sets c.score to the penalised score of each voter.
func (c *Credit) scores(batch []Trajectory, penalty float64, exclude bool) error {
	c.score = resize(c.score, len(batch))
	for i := range batch {
		if c.NoVote[i] != "" {
			continue
		}
		t := &batch[i]
		c.score[i] = t.Score()
		for k := range t.Turns {
			if t.Turns[k].Invalid && !t.Turns[k].Excluded {
				c.score[i] -= penalty
			}
		}
		switch {
		case finite(c.score[i]):
		case exclude:
			c.Exclude(i, reasonNonFinite)
		default:
			if err := checkFinite(i, t, 0); err != nil {
				return err
			}
			return nonFinite(i, -1, "the score", c.score[i]) // finite rewards that overflow
		}
	}
	return nil
}

// groupBy numbers the groups of voters in c.groups.
func (c *Credit) groupBy(batch []Trajectory) {
	if c.keys == nil {
		c.keys = make(map[string]int)
	}
	clear(c.keys)
	c.groups.reset(len(batch))
	for i := range batch {
		if c.NoVote[i] != "" {
			continue
		}
		g, ok := c.keys[batch[i].Group]
		if !ok {
			g = len(c.keys)
			c.keys[batch[i].Group] = g
		}
		c.groups.put(i, g)
	}
}

// compareScores groups the voters, replaces c.score by n of it within each group, and counts the groups.
func (c *Credit) compareScores(batch []Trajectory, n norm) error {
	c.groupBy(batch)
	c.kept.flat = resize(c.kept.flat, len(batch))
	c.Flat = c.kept.flat
	flat := resize(c.flatGroup, len(c.groups.size))
	c.flatGroup = flat
	refused, overflowed := c.groups.normalise(n, c.score, nil, func(g, size int, f bool) {
		switch {
		case size == 1:
			c.Singletons++
		case f:
			flat[g] = true
			c.Groups++
			c.ZeroVariance++
		default:
			c.Groups++
		}
	})
	switch {
	case refused >= 0:
		return &FieldError{refused, -1, "Group", fmt.Sprintf("%.40q with one voter", batch[refused].Group), "two voters or more", nil}
	case overflowed >= 0:
		return nonFinite(overflowed, -1, "the centred score", c.score[overflowed])
	}
	for i, g := range c.groups.group {
		c.Flat[i] = g >= 0 && flat[g]
	}
	return nil
}

// broadcast gives x to the voting turns of trajectory i.
func (c *Credit) broadcast(i int, x float64) {
	for k := c.Start[i]; k < c.Start[i+1]; k++ {
		if c.Vote[k] {
			c.Advantage[k] = x
		}
	}
}

package rl

import (
	"errors"
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

	Scope Scope // which scores are compared; zero means those of a group

	// PerTurn counts the score of a trajectory once for each of its voting turns in means and deviations, as verl-agent
	// does, so that long trajectories weigh more; else once. One voter is a group of one, however many turns it has.
	PerTurn bool

	// ExcludeNonFinite takes the vote from a trajectory whose score is not finite, instead of returning an error.
	ExcludeNonFinite bool
}

// Scope says which scores [GRPO] compares.
type Scope uint8

// The scopes.
const (
	ScopeGroup             Scope = iota // those of a group
	ScopeBatch                          // those of all voters of the batch, as if they were one group
	ScopeGroupMeanBatchStd              // the mean is that of the group, the standard deviation that of all voters of the batch
)

// GRPO computes group-relative advantages (arXiv:2402.03300; with StdNone those of Dr.GRPO, arXiv:2503.20783). Each
// trajectory that votes has the penalised score
//
//	Z = sum_t r_t - penalty * number of invalid turns (excluded turns are not penalised)
//
// and its advantage (Z - mean)/(std + eps), over the voters with the same Group key, goes to all of its turns. Equal
// scores give exact zeros. Every trajectory counts once unless PerTurn is set; groups may differ in size and lie
// scattered in the batch. Trajectories with an empty Group form one group together, as with any other key.
//
// Under ScopeBatch all voters are one group, of which Singleton, Flat and the counts of the result then speak. Under
// ScopeGroupMeanBatchStd, which AReaL and TRL offer as well, Norm.StdFloor is held against the deviation of the batch, but
// a group whose own scores are equal gives exact zeros, a group of one voter follows Singleton, and Flat and ZeroVariance
// are about the deviation of the group itself.
//
// A trajectory votes if it is not excluded and has a trainable token in a turn that is not excluded. Others get 0 and
// influence nothing; neither do turns without a vote, but their rewards belong to the score. NoVote of the result tells why:
// in a batch whose tokens are not marked trainable nobody votes, and all advantages are 0.
//
// GRPO reads the rewards, ends and flags of trajectories that are not excluded, and whether a token is trainable. It
// returns a [*FieldError] around [ErrOpenTrajectory] or [ErrNonFinite] for the first fault, one for a group of one
// under [SingletonError], and an error for options out of range. It sets Flat, Groups, ZeroVariance and Singletons of the
// result. It is deterministic, groups are processed in order of first appearance, and takes O(turns + tokens) time;
// with dst from a batch of at least this size and as many groups it allocates nothing.
func GRPO(dst *Credit, batch []Trajectory, o *GRPOOptions) (*Credit, error) {
	if o == nil {
		o = &GRPOOptions{}
	}
	penalty := orDefault(o.InvalidPenalty, 0.1)
	n, err := o.Norm.fill("GRPOOptions.Norm", groupNorm)
	if err := errors.Join(
		inRange("GRPOOptions", "InvalidPenalty", penalty, 0, math.Inf(1)),
		known("GRPOOptions", "Scope", uint8(o.Scope), 3),
		err,
	); err != nil {
		return nil, err
	}
	c, err := NewCredit(dst, batch)
	if err != nil {
		return nil, err
	}
	if err := c.scores(batch, penalty, o.ExcludeNonFinite); err != nil {
		return nil, err
	}
	if err := c.compareScoped(batch, n, o.Scope, o.PerTurn); err != nil {
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
	c.keys.reset(len(batch))
	c.groups.reset(len(batch))
	for i := range batch {
		if c.NoVote[i] == "" {
			g, _ := c.keys.number(0, batch[i].Group)
			c.groups.put(i, g)
		}
	}
}

// compareScores groups the voters, replaces c.score by n of it within each group, and counts the groups.
func (c *Credit) compareScores(batch []Trajectory, n norm) error {
	return c.compareScoped(batch, n, ScopeGroup, false)
}

// compareScoped is compareScores with a scope, where a trajectory counts once for each of its voting turns if perTurn is set.
func (c *Credit) compareScoped(batch []Trajectory, n norm, scope Scope, perTurn bool) error {
	var rows []float64
	if perTurn {
		rows = resize(c.rows, len(batch))
		c.rows = rows
		for i := range batch {
			for _, v := range c.Vote[c.Start[i]:c.Start[i+1]] {
				if v {
					rows[i]++
				}
			}
		}
	}
	if scope == ScopeBatch {
		c.groups.reset(len(batch))
		for i := range batch {
			if c.NoVote[i] == "" {
				c.groups.put(i, 0)
			}
		}
	} else {
		c.groupBy(batch)
	}
	c.startCounts()
	count := func(g, voters int, flat bool) { c.count(g, voters, flat) }
	var refused, overflowed int
	if scope == ScopeGroupMeanBatchStd {
		refused, overflowed = c.groups.normaliseJointly(n, c.score, rows, count)
	} else {
		refused, overflowed = c.groups.normalise(n, c.score, rows, count)
	}
	if refused >= 0 && scope == ScopeBatch {
		return &FieldError{-1, -1, "the batch", "one voter", "two or more to compare", nil}
	}
	return c.compared(batch, refused, overflowed)
}

// startCounts prepares the counts of groups, once voters are grouped in c.groups.
func (c *Credit) startCounts() {
	c.flatGroup = resize(c.flatGroup, len(c.groups.size))
}

// count counts group g.
func (c *Credit) count(g, voters int, flat bool) {
	switch {
	case voters == 1:
		c.Singletons++
	case flat:
		c.flatGroup[g] = true
		c.Groups++
		c.ZeroVariance++
	default:
		c.Groups++
	}
}

// compared sets c.Flat, or returns the error where comparing scores refused a trajectory or overflowed.
func (c *Credit) compared(batch []Trajectory, refused, overflowed int) error {
	switch {
	case refused >= 0:
		return oneVoter(batch, refused)
	case overflowed >= 0:
		return nonFinite(overflowed, -1, "the centred score", c.score[overflowed])
	}
	c.setFlat()
	return nil
}

// oneVoter is the error for trajectory i, which is alone in its group.
func oneVoter(batch []Trajectory, i int) error {
	return &FieldError{i, -1, "Group", fmt.Sprintf("%.40q with one voter", batch[i].Group), "two voters or more", nil}
}

// setFlat sets c.Flat once the groups are counted.
func (c *Credit) setFlat() {
	c.Flat = resize(c.kept.flat, len(c.groups.group))
	c.kept.flat = c.Flat
	for i, g := range c.groups.group {
		c.Flat[i] = g >= 0 && c.flatGroup[g]
	}
}

// broadcast gives x to the voting turns of trajectory i.
func (c *Credit) broadcast(i int, x float64) {
	for k := c.Start[i]; k < c.Start[i+1]; k++ {
		if c.Vote[k] {
			c.Advantage[k] = x
		}
	}
}

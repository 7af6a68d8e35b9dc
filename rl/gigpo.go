package rl

import (
	"errors"
	"math"
)

// GiGPOOptions adjusts [GiGPO]. A nil *GiGPOOptions equals &GiGPOOptions{}.
type GiGPOOptions struct {
	Gamma          *float64 // discount per turn of the step returns, in [0, 1]; nil means 0.95 (reference code)
	StepWeight     *float64 // omega, the weight of the step advantage, >= 0; nil means 1 (reference code)
	InvalidPenalty *float64 // subtracted from the score, and from the reward, for each invalid turn, >= 0; nil means 0.1 (reference code)

	// Norm is that of scores in a group and that of step returns in a state. Std zero means StdSample and Eps nil means
	// 1e-6 (both reference code, "with std"); StdNone is the paper's "w/o std", and StdOff compares nothing. Singleton is
	// about a group of one voter (SingletonZero is ours).
	Norm Norm

	// StepSingleton is about a state in which one turn starts; nil means Norm.Singleton. SingletonError stands for
	// SingletonZero, since such states are ordinary. The reference code has SingletonRaw in Norm and SingletonZero here.
	StepSingleton *Singleton

	// PerTurn counts the score of a trajectory once for each of its voting turns in the mean and the deviation of its
	// group, as the reference code does; else once (ours).
	PerTurn bool

	// FirstVisit lets only the first voting turn of a trajectory in a state take part in the step comparison; later ones
	// get step advantage 0. Else all take part, and a trajectory that loops over a state is compared with itself, too.
	FirstVisit bool

	// ExcludeNonFinite takes the vote from a trajectory whose score or step returns are not finite, instead of returning
	// an error.
	ExcludeNonFinite bool
}

// GiGPO computes group-in-group advantages (arXiv:2505.10978). With the penalised score Z of [GRPO] and the step return
//
//	G_t = r_t - penalty if turn t is invalid + gamma*G_{t+1}, 0 after the end, whether terminated or truncated
//
// the advantage of turn t of trajectory i is
//
//	A_t = Norm(Z_i over the group) + omega * Norm(G_t over all voting turns of the group with the same State)
//
// States are equal if their keys are, byte by byte, within a group and never across groups; a turn whose State is empty is
// alone. Text that is merely similar belongs under one key by the caller's choice (ours; the reference code clusters, and
// the order of rows matters).
//
// Votes are as in GRPO. Turns without a vote influence no state and get 0, but their rewards belong to the score and to the
// returns of earlier turns; an excluded turn is not penalised. Flat and the counts of the result are about the scores of
// groups: a flat trajectory may still learn from its steps.
//
// GiGPO reads the rewards, states, ends and flags of trajectories that are not excluded, and whether a token is trainable.
// Errors are those of GRPO, and a [*FieldError] around [ErrNonFinite] for finite numbers whose return or advantage
// overflows. It is deterministic, groups and states are processed in order of first appearance, and takes expected
// O(turns + tokens + bytes of keys) time; with dst from a batch of at least this size, groups and states counted, it
// allocates nothing.
func GiGPO(dst *Credit, batch []Trajectory, o *GiGPOOptions) (*Credit, error) {
	if o == nil {
		o = &GiGPOOptions{}
	}
	gamma, weight, penalty := orDefault(o.Gamma, 0.95), orDefault(o.StepWeight, 1), orDefault(o.InvalidPenalty, 0.1)
	n, err := o.Norm.fill("GiGPOOptions.Norm", groupNorm)
	step := o.Norm.Singleton
	if o.StepSingleton != nil {
		step = *o.StepSingleton
	}
	if err := errors.Join(
		inRange("GiGPOOptions", "Gamma", gamma, 0, 1),
		inRange("GiGPOOptions", "StepWeight", weight, 0, math.Inf(1)),
		inRange("GiGPOOptions", "InvalidPenalty", penalty, 0, math.Inf(1)),
		known("GiGPOOptions", "StepSingleton", uint8(step), 3),
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
	if err := c.stepReturns(batch, gamma, penalty, o.ExcludeNonFinite); err != nil {
		return nil, err
	}
	if err := c.compareScoped(batch, n, ScopeGroup, o.PerTurn); err != nil {
		return nil, err
	}
	n.singleton = step
	if err := c.compareSteps(batch, n, o.FirstVisit); err != nil {
		return nil, err
	}
	for i := range batch {
		for k := c.Start[i]; k < c.Start[i+1]; k++ {
			if !c.Vote[k] {
				continue
			}
			c.Advantage[k] = c.score[i]
			if c.steps.group[k] >= 0 {
				c.Advantage[k] += weight * c.step[k]
			}
			if !finite(c.Advantage[k]) {
				return nil, nonFinite(i, k-c.Start[i], "the advantage", c.Advantage[k])
			}
		}
	}
	return c, nil
}

// stepReturns sets c.step to the discounted return of each turn of the voters.
func (c *Credit) stepReturns(batch []Trajectory, gamma, penalty float64, exclude bool) error {
	c.step = resize(c.step, len(c.Advantage))
	for i := range batch {
		if c.NoVote[i] != "" {
			continue
		}
		t := &batch[i]
		step := c.step[c.Start[i]:c.Start[i+1]]
		after := 0.0
		for k := len(step) - 1; k >= 0; k-- {
			after = t.Turns[k].penalised(penalty) + gamma*after
			step[k] = after
		}
		switch {
		case finite(after): // one number that is not makes all before it so
		case exclude:
			c.Exclude(i, reasonNonFinite)
		default:
			if err := checkFinite(i, t, 0); err != nil {
				return err
			}
			for k := len(step) - 1; k >= 0; k-- { // finite rewards that overflow: backwards, as they were summed
				if !finite(step[k]) {
					return nonFinite(i, k, "the step return", step[k])
				}
			}
		}
	}
	return nil
}

// penalised returns the reward, less the penalty if the turn is invalid.
func (t *Turn) penalised(penalty float64) float64 {
	if t.Invalid && !t.Excluded {
		return t.Reward - penalty
	}
	return t.Reward
}

// compareSteps replaces c.step by n of it within each state, once voters are grouped in c.groups; a state with one turn is no
// error. A turn in no group of c.steps takes no part.
func (c *Credit) compareSteps(batch []Trajectory, n norm, firstVisit bool) error {
	c.keys.reset(len(c.step))
	c.steps.reset(len(c.step))
	c.visitor = c.visitor[:0]
	for i := range batch {
		for k := range batch[i].Turns {
			at := c.Start[i] + k
			if !c.Vote[at] {
				continue
			}
			s, added := c.keys.numberState(c.groups.group[i], batch[i].Turns[k].State)
			switch {
			case added:
				c.visitor = append(c.visitor, i)
			case firstVisit && c.visitor[s] == i:
				continue
			}
			c.visitor[s] = i
			c.steps.put(at, s)
		}
	}
	if n.singleton == SingletonError {
		n.singleton = SingletonZero
	}
	if _, at := c.steps.normalise(n, c.step, nil, nil); at >= 0 {
		i, k := c.locate(at)
		return nonFinite(i, k, "the centred step return", c.step[at])
	}
	return nil
}

// locate returns the trajectory and the turn of position at in c.Advantage.
func (c *Credit) locate(at int) (i, k int) {
	for c.Start[i+1] <= at {
		i++
	}
	return i, at - c.Start[i]
}

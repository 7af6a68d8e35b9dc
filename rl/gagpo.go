package rl

import (
	"errors"
	"math"
)

// GAGPOOptions adjusts [GAGPO]. A nil *GAGPOOptions equals &GAGPOOptions{}.
type GAGPOOptions struct {
	Gamma          *float64 // discount per turn, in [0, 1]; nil means 0.95 (ours)
	Lambda         *float64 // decay of the trace per turn, in [0, 1]; nil means 0.95 (ours)
	InvalidPenalty *float64 // subtracted from the reward of each invalid turn, >= 0; nil means 0.1 (ours, as in GiGPO)

	// Norm is that of the advantages of all voting turns of a group. Std zero means StdSample and Eps nil means 1e-6
	// (ours); StdOff leaves the advantages as they are. Singleton is about a group with one voting turn, but
	// SingletonError about a group of one voter, however many turns that has.
	Norm Norm

	// ExcludeNonFinite takes the vote from a trajectory whose returns are not finite, instead of returning an error.
	ExcludeNonFinite bool
}

// GAGPO computes the advantages of GAGPO (arXiv:2605.13217): those of [TurnGAE] with a critic that is read off the group
// instead of learnt. It follows secondary descriptions of the method; no code was found. With the reward r_t, less the
// penalty if the turn is invalid, and its return G_t = r_t + gamma*G_{t+1}, 0 after the end, the value V(s) is the mean of G
// over all voting turns of the group whose State is s. That of the state after the last turn is 0, whether terminated or
// truncated. Backwards over the turns of each trajectory
//
//	delta_t = r_t + gamma*V(s_{t+1}) - V(s_t)
//	A_t     = delta_t + gamma*lambda*A_{t+1}
//
// Then the advantages of all voting turns of each group are normalised together; there is no term for the episode. The loss
// for it takes one ratio a turn: TurnRatio in package loss.
//
// A turn whose State is empty is alone in its state, so its value is its own return, and its reward teaches it nothing.
// Turns without a vote influence no value, but stay in the sweep, with their rewards (an excluded turn is not penalised) and
// the value that voters give their state, or their own return if no voter was there (ours).
//
// Votes are as in [GRPO]. The result counts groups by their voters, and a group of two or more is flat if the advantages of
// its turns do not differ. GAGPO reads the rewards, states, ends and flags of trajectories that are not excluded, and
// whether a token is trainable. Errors, determinism, cost and memory are those of [GiGPO].
func GAGPO(dst *Credit, batch []Trajectory, o *GAGPOOptions) (*Credit, error) {
	if o == nil {
		o = &GAGPOOptions{}
	}
	gamma, lambda, penalty := orDefault(o.Gamma, 0.95), orDefault(o.Lambda, 0.95), orDefault(o.InvalidPenalty, 0.1)
	n, err := o.Norm.fill("GAGPOOptions.Norm", groupNorm)
	if err := errors.Join(
		inRange("GAGPOOptions", "Gamma", gamma, 0, 1),
		inRange("GAGPOOptions", "Lambda", lambda, 0, 1),
		inRange("GAGPOOptions", "InvalidPenalty", penalty, 0, math.Inf(1)),
		err,
	); err != nil {
		return nil, err
	}
	c, err := NewCredit(dst, batch)
	if err != nil {
		return nil, err
	}
	if err := c.stepReturns(batch, gamma, penalty, o.ExcludeNonFinite); err != nil {
		return nil, err
	}
	c.groupBy(batch)
	c.valueStates(batch)
	for i := range batch {
		if c.NoVote[i] != "" {
			continue
		}
		t := &batch[i]
		next, carry := 0.0, 0.0
		for k := len(t.Turns) - 1; k >= 0; k-- {
			at := c.Start[i] + k
			value := c.value[c.state[at]].mean(c.step[at])
			carry = t.Turns[k].penalised(penalty) + gamma*next - value + gamma*lambda*carry
			next = value
			if c.Vote[at] {
				c.Advantage[at] = carry
			}
			if !finite(carry) {
				return nil, nonFinite(i, k, "the advantage", carry)
			}
		}
	}
	if err := c.normaliseTurns(batch, n); err != nil {
		return nil, err
	}
	return c, nil
}

// stateValue is the mean return of a state, as the first return and the distances from it, so that equal returns have
// exactly themselves as mean.
type stateValue struct {
	first, distance float64
	n               int
}

func (v *stateValue) add(x float64) {
	if v.n == 0 {
		v.first = x
	}
	v.distance += x - v.first
	v.n++
}

// mean returns the mean, or none if there is no return.
func (v *stateValue) mean(none float64) float64 {
	if v.n == 0 {
		return none
	}
	return v.first + v.distance/float64(v.n)
}

// valueStates numbers the states of all turns of voters, once those are grouped in c.groups, and takes the mean of c.step
// over the voting turns of each.
func (c *Credit) valueStates(batch []Trajectory) {
	c.keys.reset(len(c.step))
	c.state = resize(c.state, len(c.step))
	c.value = c.value[:0]
	for i := range batch {
		if c.NoVote[i] != "" {
			continue
		}
		for k := range batch[i].Turns {
			at := c.Start[i] + k
			s, added := c.keys.numberState(c.groups.group[i], batch[i].Turns[k].State)
			if added {
				c.value = append(c.value, stateValue{})
			}
			c.state[at] = s
			if c.Vote[at] {
				c.value[s].add(c.step[at])
			}
		}
	}
}

// normaliseTurns applies n to the advantages of voting turns within each group of c.groups, and counts the groups.
func (c *Credit) normaliseTurns(batch []Trajectory, n norm) error {
	c.steps.reset(len(c.Advantage))
	for i, g := range c.groups.group {
		if g < 0 {
			continue
		}
		if n.refuses(c.groups.size[g]) {
			return oneVoter(batch, i)
		}
		for k := c.Start[i]; k < c.Start[i+1]; k++ {
			if c.Vote[k] {
				c.steps.put(k, g)
			}
		}
	}
	c.startCounts()
	_, at := c.steps.normalise(n, c.Advantage, nil, func(g, _ int, flat bool) { c.count(g, c.groups.size[g], flat) })
	if at >= 0 {
		i, k := c.locate(at)
		return nonFinite(i, k, "the centred advantage", c.Advantage[at])
	}
	c.setFlat()
	return nil
}

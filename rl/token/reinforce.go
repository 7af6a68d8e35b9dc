package token

import (
	"errors"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/rl"
)

// ReinforcePPOptions adjusts [ReinforcePP]. A nil *ReinforcePPOptions equals &ReinforcePPOptions{}.
type ReinforcePPOptions struct {
	Gamma *float64 // discount per policy token, in [0, 1]; nil means 1; with GroupBaseline there is none, and it must be nil or 1

	// InvalidPenalty is subtracted from the reward of an invalid turn that is not excluded; >= 0; nil means 0.1 (reference
	// code of GiGPO), as in the estimators of package rl that compare scores.
	InvalidPenalty *float64

	// KLPenalty is beta of the reward -beta*(LogProb - RefLogProb) that each policy token gets; >= 0, and zero means
	// none (ours; the paper has one), so that the log-probabilities are not read. One above 0 by more than rounding is an
	// error. It must be 0 with GroupBaseline, where
	// the divergence belongs into the loss.
	KLPenalty float64

	// GroupBaseline compares trajectories with their group, REINFORCE++-baseline, instead of giving each token its return.
	// Singleton is what the score of a group of one voter becomes (SingletonZero is ours; verl keeps the raw score).
	GroupBaseline bool
	Singleton     rl.Singleton

	// Norm is that of all policy tokens of the batch, whitening. Std zero means StdSample, Eps nil 1e-8 and EpsPlace zero
	// EpsInsideSqrt (all verl); StdOff leaves the advantages as they are. Norm.Singleton is about a batch with one
	// policy token.
	Norm rl.Norm

	// ExcludeNonFinite takes the vote from a trajectory with a number that is not finite, instead of returning an
	// error.
	ExcludeNonFinite bool
}

// ReinforcePP computes the advantages of REINFORCE++ (arXiv:2501.03262): the return of each policy token,
//
//	G_j = r_j + gamma*G_{j+1}
//
// over the policy tokens of its trajectory, which are chosen and rewarded as in [GAE], whitened over all policy tokens of the
// batch. There is no critic: nothing follows a trajectory, truncated or not, and TokenTarget is nil.
//
// With GroupBaseline, REINFORCE++-baseline, each token has the score of its trajectory, sum of rewards less penalties, minus
// the mean score of the voters of its Group, each once; then the same whitening. Groups, ZeroVariance, Singletons and Flat
// are set as by [rl.GRPO] then.
//
// TokenAdvantage has one number per trainable token, and Advantage the mean over the tokens of each turn; both are 0 where
// there is no vote. Values are not read, and log-probabilities under KLPenalty only. Errors are a [*rl.FieldError] around
// [rl.ErrOpenTrajectory] or [rl.ErrNonFinite] for the first fault, one where a [rl.SingletonError] applies, and those of
// options out of range. It is deterministic, takes O(turns + tokens) time and allocates nothing if dst comes from a
// ReinforcePP of a batch of at least this size and as many groups.
func ReinforcePP(dst *rl.Credit, batch []rl.Trajectory, o *ReinforcePPOptions) (*rl.Credit, error) {
	if o == nil {
		o = &ReinforcePPOptions{}
	}
	gamma, penalty := orDefault(o.Gamma, 1), orDefault(o.InvalidPenalty, 0.1)
	if err := errors.Join(
		checkRange("ReinforcePPOptions.Gamma", gamma, 0, 1),
		checkRange("ReinforcePPOptions.InvalidPenalty", penalty, 0, math.Inf(1)),
		checkRange("ReinforcePPOptions.KLPenalty", o.KLPenalty, 0, math.Inf(1)),
	); err != nil {
		return nil, err
	}
	n, err := whitening("ReinforcePPOptions.Norm", o.Norm)
	switch {
	case err != nil:
		return nil, err
	case o.Singleton > rl.SingletonError:
		return nil, fmt.Errorf("token: ReinforcePPOptions.Singleton is %d, want a named value", o.Singleton)
	case o.GroupBaseline && gamma != 1:
		return nil, fmt.Errorf("token: ReinforcePPOptions.Gamma is %v, want 1 with GroupBaseline", gamma)
	case o.GroupBaseline && o.KLPenalty != 0:
		return nil, fmt.Errorf("token: ReinforcePPOptions.KLPenalty is %v, want 0 with GroupBaseline", o.KLPenalty)
	}
	advantage, _ := memory(dst)
	var c *rl.Credit
	if o.GroupBaseline {
		c, err = rl.GRPO(dst, batch, &rl.GRPOOptions{
			InvalidPenalty:   &penalty,
			Norm:             rl.Norm{Std: rl.StdNone, Singleton: o.Singleton},
			ExcludeNonFinite: o.ExcludeNonFinite,
		})
	} else {
		c, err = rl.NewCredit(dst, batch)
	}
	if err != nil {
		return nil, err
	}
	c.TokenAdvantage = advantage
	r := reads(0)
	if o.KLPenalty != 0 {
		r |= readLogProbs
	}
	return each(c, batch, n, o.ExcludeNonFinite, func(i int, t *rl.Trajectory, vote []bool, advantage, _ []float64) error {
		if r != 0 {
			if err := checkLogProbs(i, t, vote); err != nil {
				return err
			}
		}
		g := 0.0
		backwards(t, vote, penalty, func(k, from, to int, reward float64) {
			if o.GroupBaseline {
				for j := from; j < to; j++ {
					advantage[j] = c.Advantage[c.Start[i]+k]
				}
				return
			}
			tokens := t.Turns[k].Tokens
			for j := len(tokens) - 1; j >= 0; j-- {
				if !tokens[j].Trainable {
					continue
				}
				if o.KLPenalty != 0 {
					reward -= o.KLPenalty * (tokens[j].LogProb - tokens[j].RefLogProb)
				}
				to--
				g = reward + gamma*g
				advantage[to] = g
				reward = 0
			}
		})
		return check(i, t, vote, r, advantage, nil)
	})
}

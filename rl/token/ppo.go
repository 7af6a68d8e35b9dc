package token

import (
	"math"

	"github.com/throughline-go/throughline/rl"
)

// PPOPublishedOptions adjusts [PPOPublished]. A nil *PPOPublishedOptions equals &PPOPublishedOptions{}.
type PPOPublishedOptions struct {
	InvalidPenalty *float64 // subtracted from the score of the row of an invalid turn, >= 0; nil means 0.1 (verl-agent)

	// Norm is that of all policy tokens of the batch, whitening. Std zero means StdSample, Eps nil 1e-8 and EpsPlace zero
	// EpsInsideSqrt (all verl); StdOff leaves the advantages as they are. Singleton is about a batch with one
	// policy token.
	Norm rl.Norm

	// ExcludeNonFinite takes the vote from a trajectory with a number that is not finite, instead of returning an
	// error.
	ExcludeNonFinite bool
}

// PPOPublished computes the credit of the rows called PPO in the tables of GiGPO (arXiv:2505.10978) and of the papers that
// reuse them, as verl-agent does. Each turn is a row of its own, and the last token of every row is rewarded with the score
// of the whole episode, the sum of all its rewards, less the penalty if that very turn is invalid. Within the row follows GAE
// with gamma and lambda 1 and nothing after it, which is
//
//	A_j = score - V_j
//
// for each policy token; no value flows between turns. TokenAdvantage has A whitened over all policy tokens of the batch,
// TokenTarget the score of the row, and Advantage the mean of TokenAdvantage over the tokens of each turn. All are 0 where
// there is no vote. Truncated episodes score what they earned. Rewards of turns without a vote are in the score.
//
// This is not GAE over turns: that is [rl.TurnGAE]. Say which one ran. Nor is it [GAE] with TurnRows, where a row has the
// reward of its own turn.
//
// PPOPublished reads rewards, ends and flags of trajectories that vote and the values of their policy tokens, which are
// those of [GAE]. Errors are a [*rl.FieldError] around [rl.ErrOpenTrajectory] or [rl.ErrNonFinite] for the first fault, one for
// a batch with one policy token under [rl.SingletonError], and those of options out of range. It is deterministic, takes
// O(turns + tokens) time and allocates nothing if dst comes from a PPOPublished of a batch of at least this size.
func PPOPublished(dst *rl.Credit, batch []rl.Trajectory, o *PPOPublishedOptions) (*rl.Credit, error) {
	if o == nil {
		o = &PPOPublishedOptions{}
	}
	penalty := orDefault(o.InvalidPenalty, 0.1)
	if err := checkRange("PPOPublishedOptions.InvalidPenalty", penalty, 0, math.Inf(1)); err != nil {
		return nil, err
	}
	n, err := whitening("PPOPublishedOptions.Norm", o.Norm)
	if err != nil {
		return nil, err
	}
	advantage, target := memory(dst)
	c, err := rl.NewCredit(dst, batch)
	if err != nil {
		return nil, err
	}
	c.TokenAdvantage, c.TokenTarget = advantage, target
	return each(c, batch, n, o.ExcludeNonFinite, func(i int, t *rl.Trajectory, vote []bool, advantage, target []float64) error {
		score, at := t.Score(), 0
		for k := range t.Turns {
			turn := &t.Turns[k]
			row := score
			if turn.Invalid {
				row -= penalty
			}
			for j := range turn.Tokens {
				switch {
				case !turn.Tokens[j].Trainable:
					continue
				case vote[k]:
					advantage[at], target[at] = row-turn.Tokens[j].Value, row
				}
				at++
			}
		}
		return check(i, t, vote, readValue, advantage, target)
	})
}

package token

import (
	"errors"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/rl"
)

// GAEOptions adjusts [GAE]. A nil *GAEOptions equals &GAEOptions{}.
type GAEOptions struct {
	Gamma  *float64 // discount per token, in [0, 1]; nil means 1 (verl)
	Lambda *float64 // decay of the trace per token, in [0, 1]; nil means 1 (verl)

	// TurnGamma is the discount of the step that leaves a turn, to the first token of the next turn or to FinalValue, in
	// [0, 1]; nil means Gamma. With Gamma and Lambda 1 the targets are those of the bi-level GAE of RAGEN
	// (arXiv:2504.20073). Turns end where the data say so, not where a reward differs from 0.
	TurnGamma *float64

	Truncation rl.Truncation // zero means TruncationBootstrap (ours: a limit is no failure; verl and OpenRLHF: terminal)

	// InvalidPenalty is subtracted from the reward of an invalid turn that is not excluded, so that it is in the target
	// as well, unlike in rl.TurnGAE. >= 0; nil means 0, as published for token GAE.
	InvalidPenalty *float64

	// KLPenalty is beta of the reward -beta*(LogProb - RefLogProb) that each policy token gets; >= 0, and zero means
	// none, so that the log-probabilities are not read. One above 0 by more than rounding is an error.
	KLPenalty float64

	// TurnRows makes each turn a row of its own, as verl-agent holds them: the sweep starts anew at the end of each turn
	// with 0 after it, also after a truncation, and no value flows between turns. TurnGamma has no use then.
	TurnRows bool

	// Norm is that of all policy tokens of the batch, whitening. Std zero means StdSample, Eps nil 1e-8 and EpsPlace zero
	// EpsInsideSqrt (all verl); StdOff leaves the advantages as they are. Singleton is about a batch with one
	// policy token.
	Norm rl.Norm

	// ExcludeNonFinite takes the vote from a trajectory with a number that is not finite, instead of returning an
	// error.
	ExcludeNonFinite bool
}

// GAE computes generalised advantage estimates (arXiv:1506.02438, as in the token-level PPO of verl) with the policy tokens
// of a trajectory as time steps. Those are the trainable tokens of turns that vote, see [rl.NewCredit]; any others are no
// steps: they cost neither gamma nor lambda, and nothing of them is read. Backwards over the policy tokens,
//
//	delta_j = r_j + gamma*V_{j+1} - V_j
//	A_j     = delta_j + gamma*lambda*A_{j+1}
//
// where after the last token stands 0 after [rl.Terminated], or what Truncation says after [rl.Truncated]. The reward of a
// turn lies on its last policy token. A turn without policy tokens hands it to the one before that has some, or else to the
// first that has: rewards are not lost. Only a trajectory without any policy token has no vote, which NoVote says.
//
// TokenAdvantage has A, whitened over all policy tokens of the batch, so call GAE once per collected batch and not per
// mini-batch; TokenTarget has V + A from before that; Advantage has the mean over the tokens of each turn. All are 0 where
// there is no vote.
//
// GAE reads rewards, ends and flags of trajectories that vote, and of policy tokens the value, and the log-probabilities
// under KLPenalty. It returns a [*rl.FieldError] around [rl.ErrOpenTrajectory], [rl.ErrNoFinalValue] or [rl.ErrNonFinite]
// for the first fault, one for a batch with one policy token under [rl.SingletonError], and an error for options out of
// range. It is deterministic, takes O(turns + tokens) time and allocates nothing if dst comes from a GAE of a batch of at
// least this size.
func GAE(dst *rl.Credit, batch []rl.Trajectory, o *GAEOptions) (*rl.Credit, error) {
	if o == nil {
		o = &GAEOptions{}
	}
	s, err := newSweep(o)
	if err != nil {
		return nil, err
	}
	advantage, target := memory(dst)
	c, err := rl.NewCredit(dst, batch)
	if err != nil {
		return nil, err
	}
	c.TokenAdvantage, c.TokenTarget = advantage, target
	return each(c, batch, s.norm, o.ExcludeNonFinite, func(i int, t *rl.Trajectory, vote []bool, advantage, target []float64) error {
		if s.truncation == rl.TruncationDrop && t.Turns[len(t.Turns)-1].End == rl.Truncated {
			c.Exclude(i, reasonTruncated)
			return nil
		}
		return s.run(i, t, vote, advantage, target)
	})
}

// sweep is the recursion of GAE with its options read.
type sweep struct {
	gamma, lambda, turnGamma, penalty, beta float64
	truncation                              rl.Truncation
	perTurn                                 bool
	norm                                    rl.Norm
}

func newSweep(o *GAEOptions) (sweep, error) {
	s := sweep{
		gamma:      orDefault(o.Gamma, 1),
		lambda:     orDefault(o.Lambda, 1),
		penalty:    orDefault(o.InvalidPenalty, 0),
		beta:       o.KLPenalty,
		truncation: o.Truncation,
		perTurn:    o.TurnRows,
	}
	s.turnGamma = orDefault(o.TurnGamma, s.gamma)
	if err := errors.Join(
		checkRange("GAEOptions.Gamma", s.gamma, 0, 1),
		checkRange("GAEOptions.Lambda", s.lambda, 0, 1),
		checkRange("GAEOptions.TurnGamma", s.turnGamma, 0, 1),
		checkRange("GAEOptions.InvalidPenalty", s.penalty, 0, math.Inf(1)),
		checkRange("GAEOptions.KLPenalty", s.beta, 0, math.Inf(1)),
	); err != nil {
		return sweep{}, err
	}
	if s.truncation > rl.TruncationDrop {
		return sweep{}, fmt.Errorf("token: GAEOptions.Truncation is %d, want a named value", s.truncation)
	}
	if s.truncation == rl.TruncationDefault {
		s.truncation = rl.TruncationBootstrap
	}
	var err error
	s.norm, err = whitening("GAEOptions.Norm", o.Norm)
	return s, err
}

// run sweeps trajectory i.
func (s *sweep) run(i int, t *rl.Trajectory, vote []bool, advantage, target []float64) error {
	next, carry, r := 0.0, 0.0, readValue
	if s.beta != 0 {
		r |= readLogProbs
		if err := checkLogProbs(i, t, vote); err != nil {
			return err
		}
	}
	if !s.perTurn {
		var err error
		if next, err = t.Bootstrap(s.truncation); err != nil {
			return &rl.FieldError{Trajectory: i, Turn: -1, Field: "FinalValue", Got: "nil", Want: "the value after a truncation", Err: err}
		}
		if next-next != 0 {
			return nonFinite(i, -1, "FinalValue", next)
		}
	}
	backwards(t, vote, s.penalty, func(k, _, to int, reward float64) {
		gamma := s.turnGamma
		if s.perTurn {
			next, carry = 0, 0 // and so gamma has no effect
		}
		tokens := t.Turns[k].Tokens
		for j := len(tokens) - 1; j >= 0; j-- {
			tok := &tokens[j]
			if !tok.Trainable {
				continue
			}
			if s.beta != 0 {
				reward -= s.beta * (tok.LogProb - tok.RefLogProb)
			}
			to--
			carry = reward + gamma*next - tok.Value + gamma*s.lambda*carry
			advantage[to], target[to] = carry, tok.Value+carry
			reward, gamma, next = 0, s.gamma, tok.Value
		}
	})
	return check(i, t, vote, r, advantage, target)
}

package rl

import (
	"errors"
	"math"
)

// Truncation says what follows a trajectory that a limit cut off.
type Truncation uint8

// The treatments of a truncated trajectory. The zero value leaves the choice to the estimator, which names its own.
const (
	TruncationDefault   Truncation = iota
	TruncationBootstrap            // the value of the state after it, Trajectory.FinalValue
	TruncationTerminal             // nothing, as if the environment had ended the episode
	TruncationDrop                 // the trajectory has no vote
)

// TurnGAEOptions adjusts [TurnGAE] and [SAPO]. A nil *TurnGAEOptions equals &TurnGAEOptions{}.
type TurnGAEOptions struct {
	Gamma          *float64   // discount per turn, in [0, 1]; nil means 0.95 (GiGPO's reference code)
	Lambda         *float64   // decay of the trace per turn, in [0, 1]; nil means 0.95 (ours)
	Truncation     Truncation // zero means TruncationBootstrap in TurnGAE (ours: a limit is no failure), TruncationTerminal in SAPO
	InvalidPenalty *float64   // subtracted from the advantage of an invalid turn, >= 0; nil means 0.1 (reference code of GiGPO)

	// Norm is that of the advantages of all voting turns of the batch, penalties included. Std zero means StdPopulation
	// and Eps nil means 1e-8, added (all ours); StdOff leaves the advantages as they are. Singleton is about a batch with one
	// voting turn.
	Norm Norm

	// ExcludeNonFinite takes the vote from a trajectory with a number that is not finite, instead of returning an
	// error. A final value that is missing is an error all the same.
	ExcludeNonFinite bool
}

// TurnGAE computes turn-level generalised advantage estimates (arXiv:1506.02438 with turns as time steps, as in SAPO, arXiv
// 2608.19842). Backwards over the turns of each trajectory, with next the value after turn t,
//
//	delta_t = r_t + gamma*next - V_t
//	A_t     = delta_t + gamma*lambda*A_{t+1}
//
// where next is V_{t+1}, or 0 after [Terminated], or what Truncation says after [Truncated]; nothing passes from one
// trajectory to another. The value target is V_t + A_t, the lambda-return. Only then the penalty of invalid turns is
// subtracted, and the advantages of all voting turns of the batch are normalised together, turn by turn, so that long
// answers do not dominate: call it once per collected batch, not per mini-batch.
//
// A turn votes if it has a trainable token and neither it nor its trajectory is excluded; other turns get advantage 0.
// An excluded turn of a trajectory that is not excluded stays in the sweep, and so do its reward and value.
//
// TurnGAE reads the rewards, values, ends and flags of trajectories that are not excluded, and whether a token is
// trainable. It returns a [*FieldError] around [ErrOpenTrajectory], [ErrNoFinalValue] or [ErrNonFinite] for the first
// fault, one for a batch with one voting turn under [SingletonError], and an error for options out of range. An empty
// batch gives an empty result. It is deterministic, takes O(turns + tokens) time and allocates nothing if dst comes from
// a batch of at least this size.
func TurnGAE(dst *Credit, batch []Trajectory, o *TurnGAEOptions) (*Credit, error) {
	return turnGAE(dst, batch, o, TruncationBootstrap, false)
}

func turnGAE(dst *Credit, batch []Trajectory, o *TurnGAEOptions, tr Truncation, q bool) (*Credit, error) {
	if o == nil {
		o = &TurnGAEOptions{}
	}
	s, err := newSweep(o, tr)
	if err != nil {
		return nil, err
	}
	c := layOut(dst, batch)
	c.ValueTarget = resize(c.kept.value, len(c.Advantage))
	c.kept.value = c.ValueTarget
	if q {
		c.QTarget = resize(c.kept.q, len(c.Advantage))
		c.kept.q = c.QTarget
	}
	for i := range batch {
		t := &batch[i]
		if t.Excluded != "" {
			continue
		}
		if err := c.vote(i, t); err != nil {
			return nil, err
		}
		if s.truncation == TruncationDrop && t.Turns[len(t.Turns)-1].End == Truncated {
			c.Exclude(i, reasonTruncated)
			continue
		}
		if err := s.run(c, i, t); err != nil {
			if !o.ExcludeNonFinite || !errors.Is(err, ErrNonFinite) {
				return nil, err
			}
			c.Exclude(i, reasonNonFinite)
		}
	}
	if err := c.normalise(s.norm); err != nil {
		return nil, err
	}
	return c, nil
}

// sweep is the recursion of TurnGAE with its options read.
type sweep struct {
	gamma, lambda, penalty float64
	truncation             Truncation
	norm                   norm
}

func newSweep(o *TurnGAEOptions, tr Truncation) (sweep, error) {
	s := sweep{
		gamma:      orDefault(o.Gamma, 0.95),
		lambda:     orDefault(o.Lambda, 0.95),
		penalty:    orDefault(o.InvalidPenalty, 0.1),
		truncation: o.Truncation,
	}
	if s.truncation == TruncationDefault {
		s.truncation = tr
	}
	n, err := o.Norm.fill("TurnGAEOptions.Norm", batchNorm)
	if err := errors.Join(
		inRange("TurnGAEOptions", "Gamma", s.gamma, 0, 1),
		inRange("TurnGAEOptions", "Lambda", s.lambda, 0, 1),
		inRange("TurnGAEOptions", "InvalidPenalty", s.penalty, 0, math.Inf(1)),
		known("TurnGAEOptions", "Truncation", uint8(o.Truncation), 4),
		err,
	); err != nil {
		return sweep{}, err
	}
	s.norm = n
	return s, nil
}

// batchNorm has the defaults of a norm over all turns of a batch.
var batchNorm = norm{std: StdPopulation, eps: 1e-8}

// run sweeps trajectory i. The advantages are penalised, the targets are not.
func (s *sweep) run(c *Credit, i int, t *Trajectory) error {
	next, err := t.Bootstrap(s.truncation)
	if err != nil {
		return &FieldError{i, -1, "FinalValue", "nil", "the value after a truncation", err}
	}
	from, to := c.Start[i], c.Start[i+1]
	advantage, target, vote := c.Advantage[from:to], c.ValueTarget[from:to], c.Vote[from:to]
	var qTarget []float64
	if c.QTarget != nil {
		qTarget = c.QTarget[from:to]
	}
	gamma, decay, carry, nextQ := s.gamma, s.gamma*s.lambda, 0.0, next
	for k := len(t.Turns) - 1; k >= 0; k-- {
		turn := &t.Turns[k]
		carry = turn.Reward + gamma*next - turn.Value + decay*carry
		a := carry
		if vote[k] {
			if turn.Invalid {
				a -= s.penalty
			}
			advantage[k] = a
		}
		target[k] = turn.Value + carry
		next = turn.Value
		check := a - a + (target[k] - target[k]) // 0 if both are finite, else NaN
		if qTarget != nil {
			qTarget[k] = turn.Reward + gamma*nextQ
			nextQ = turn.QValue
			check += qTarget[k] - qTarget[k]
		}
		// One number that is not finite makes every sum with it so: looking at the sums finds it.
		if check != 0 {
			return s.fault(c, i, k, t, a)
		}
	}
	if qTarget != nil && !finite(nextQ) { // the first Q is in no sum, but an estimate all the same
		return nonFinite(i, 0, "QValue", nextQ)
	}
	return nil
}

// fault says which number of trajectory i made a sum at turn k that is not finite.
func (s *sweep) fault(c *Credit, i, k int, t *Trajectory, advantage float64) error {
	r := readValue
	if s.truncation == TruncationBootstrap {
		r |= readFinal
	}
	if c.QTarget != nil {
		r |= readQ
	}
	if err := checkFinite(i, t, r); err != nil {
		return err
	}
	switch at := c.Start[i] + k; { // finite numbers that overflow
	case !finite(advantage):
		return nonFinite(i, k, "the advantage", advantage)
	case !finite(c.ValueTarget[at]):
		return nonFinite(i, k, "the value target", c.ValueTarget[at])
	default:
		return nonFinite(i, k, "the Q target", c.QTarget[at])
	}
}

package rl

import (
	"errors"
	"math"
)

// Truncation says what follows a trajectory that a limit cut off.
type Truncation uint8

// The treatments of a truncated trajectory.
const (
	TruncationBootstrap Truncation = iota // the value of the state after it, Trajectory.FinalValue
	TruncationTerminal                    // nothing, as if the environment had ended the episode
	TruncationDrop                        // the trajectory has no vote
)

// TurnGAEOptions adjusts [TurnGAE]. A nil *TurnGAEOptions equals &TurnGAEOptions{}.
type TurnGAEOptions struct {
	Gamma          *float64   // discount per turn, in [0, 1]; nil means 0.95 (GiGPO's reference code)
	Lambda         *float64   // decay of the trace per turn, in [0, 1]; nil means 0.95 (ours)
	Truncation     Truncation // zero means TruncationBootstrap (ours: a limit is no failure); SAPO has TruncationTerminal
	InvalidPenalty *float64   // subtracted from the advantage of an invalid turn, >= 0; nil means 0.1 (reference code of GiGPO)

	// Norm is that of the advantages of all voting turns of the batch, penalties included. Std zero means StdPopulation
	// and Eps nil means 1e-8 (both ours); StdOff leaves the advantages as they are. Singleton is about a batch with one
	// voting turn.
	Norm Norm

	// ExcludeNonFinite takes the vote from a trajectory with a number that is not finite, instead of returning an
	// error.
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
	if o == nil {
		o = &TurnGAEOptions{}
	}
	s, err := newSweep(o)
	if err != nil {
		return nil, err
	}
	c, err := prepare(dst, batch, true)
	if err != nil {
		return nil, err
	}
	c.scratch = resize(c.scratch, len(c.Advantage))
	packed := c.scratch[:0]
	for i := range batch {
		t := &batch[i]
		if t.Excluded != "" {
			continue
		}
		from, to := c.Start[i], c.Start[i+1]
		if s.truncation == TruncationDrop && t.Turns[len(t.Turns)-1].End == Truncated {
			c.exclude(i, reasonTruncated)
			continue
		}
		if err := s.run(i, t, c.Advantage[from:to], c.ValueTarget[from:to]); err != nil {
			if !o.ExcludeNonFinite || !errors.Is(err, ErrNonFinite) {
				return nil, err
			}
			c.exclude(i, reasonNonFinite)
			continue
		}
		for k := from; k < to; k++ {
			if !c.Vote[k] {
				c.Advantage[k] = 0
				continue
			}
			packed = append(packed, c.Advantage[k])
		}
	}
	if s.norm.refuses(len(packed)) {
		return nil, &FieldError{-1, -1, "the batch", "one voting turn", "two or more to compare", nil}
	}
	s.norm.apply(packed)
	for k, at := 0, 0; k < len(c.Advantage); k++ {
		if !c.Vote[k] {
			continue
		}
		if !finite(packed[at]) {
			return nil, nonFinite(-1, -1, "a centred advantage", packed[at])
		}
		c.Advantage[k] = packed[at]
		at++
	}
	return c, nil
}

// sweep is the recursion of TurnGAE with its options read.
type sweep struct {
	gamma, lambda, penalty float64
	truncation             Truncation
	norm                   norm
}

func newSweep(o *TurnGAEOptions) (sweep, error) {
	s := sweep{
		gamma:      orDefault(o.Gamma, 0.95),
		lambda:     orDefault(o.Lambda, 0.95),
		penalty:    orDefault(o.InvalidPenalty, 0.1),
		truncation: o.Truncation,
	}
	for _, err := range [...]error{
		inRange("TurnGAEOptions", "Gamma", s.gamma, 0, 1),
		inRange("TurnGAEOptions", "Lambda", s.lambda, 0, 1),
		inRange("TurnGAEOptions", "InvalidPenalty", s.penalty, 0, math.Inf(1)),
		known("TurnGAEOptions", "Truncation", uint8(o.Truncation), 3),
	} {
		if err != nil {
			return sweep{}, err
		}
	}
	var err error
	s.norm, err = o.Norm.fill("TurnGAEOptions.Norm", StdPopulation, 1e-8)
	return s, err
}

// run sweeps trajectory i. The advantages are penalised, the targets are not.
func (s *sweep) run(i int, t *Trajectory, advantage, target []float64) error {
	last := len(t.Turns) - 1
	var next, carry float64
	if t.Turns[last].End == Truncated && s.truncation == TruncationBootstrap {
		if t.FinalValue == nil {
			return &FieldError{i, -1, "FinalValue", "nil", "the value after a truncation", ErrNoFinalValue}
		}
		next = *t.FinalValue
	}
	for k := last; k >= 0; k-- {
		turn := &t.Turns[k]
		carry = turn.Reward + s.gamma*next - turn.Value + s.gamma*s.lambda*carry
		advantage[k] = carry
		if turn.Invalid {
			advantage[k] -= s.penalty
		}
		target[k] = turn.Value + carry
		next = turn.Value
		// One number that is not finite makes every sum with it so: looking at the sums finds it.
		if !finite(advantage[k]) || !finite(target[k]) {
			if err := checkFinite(i, t, readValue); err != nil {
				return err
			}
			if finite(advantage[k]) { // finite numbers that overflow
				return nonFinite(i, k, "the value target", target[k])
			}
			return nonFinite(i, k, "the advantage", advantage[k])
		}
	}
	return nil
}

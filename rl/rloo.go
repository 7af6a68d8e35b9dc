package rl

import (
	"errors"
	"math"
)

// RLOOOptions adjusts [RLOO]. A nil *RLOOOptions equals &RLOOOptions{}.
type RLOOOptions struct {
	InvalidPenalty *float64 // subtracted from the score for each invalid turn, >= 0; nil means 0.1 (reference code of GiGPO)

	// OthersStd divides the advantage by the sample standard deviation of the other scores of the group. Where there are
	// fewer than two others, or their deviation is not above the floor, nothing is divided.
	OthersStd bool

	// StdFloor tells rounding residue from a deviation: one up to StdFloor*max(1, largest magnitude of the scores it is
	// that of). >= 0; nil means 1e-8 (ours). It decides about Flat and ZeroVariance of the result, too.
	StdFloor *float64

	Singleton Singleton // what the score of a group of one voter becomes; zero means SingletonZero (ours)

	// ExcludeNonFinite takes the vote from a trajectory whose score is not finite, instead of returning an error.
	ExcludeNonFinite bool
}

// RLOO computes leave-one-out advantages (arXiv:2402.14740): the score of a trajectory, less the mean score of the other
// voters of its group,
//
//	A_i = Z_i - mean_{j != i} Z_j = n/(n-1) * (Z_i - mean)
//
// where Z is the penalised score of [GRPO] and n the number of voters with the same Group key. It goes to all voting turns
// of the trajectory. Every trajectory counts once, however many turns it has. Equal scores give exact zeros, and the
// advantages of the voters of a group sum to 0 unless OthersStd is set, which divides each by a deviation of its own (as
// an option of NeMo-RL does).
//
// Votes, errors, determinism, the fields that are read and those that are set are as in GRPO with ScopeGroup. It takes
// O(turns + tokens) time, also with OthersStd, and with dst from a batch of at least this size and as many groups it
// allocates nothing.
func RLOO(dst *Credit, batch []Trajectory, o *RLOOOptions) (*Credit, error) {
	if o == nil {
		o = &RLOOOptions{}
	}
	penalty, floor := orDefault(o.InvalidPenalty, 0.1), orDefault(o.StdFloor, 1e-8)
	if err := errors.Join(
		inRange("RLOOOptions", "InvalidPenalty", penalty, 0, math.Inf(1)),
		inRange("RLOOOptions", "StdFloor", floor, 0, math.Inf(1)),
		known("RLOOOptions", "Singleton", uint8(o.Singleton), 3),
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
	c.groupBy(batch)
	c.startCounts()
	c.groups.load(c.score, nil)
	n := norm{std: StdNone, floor: floor, singleton: o.Singleton}
	refused, overflowed := c.groups.replace(n, c.score,
		func(g, voters int, flat bool) { c.count(g, voters, flat) },
		func(x, _ []float64) bool {
			c.packed = append(c.packed[:0], x...)
			return n.leaveOneOut(x, c.packed, o.OthersStd)
		})
	if err := c.compared(batch, refused, overflowed); err != nil {
		return nil, err
	}
	for i := range batch {
		c.broadcast(i, c.score[i])
	}
	return c, nil
}

// leaveOneOut replaces each number of x by its distance from the mean of the others, over their sample standard deviation
// if scaled is set and that is above the floor; others is a copy of x. flat reports whether the numbers do not differ by more
// than rounding.
func (o norm) leaveOneOut(x, others []float64, scaled bool) (flat bool) {
	if len(x) < 2 {
		return o.apply(x, nil)
	}
	s := measure(x, nil, StdSample)
	if s.equal {
		clear(x)
		return true
	}
	n := float64(len(x))
	flat = s.sigma <= o.floor*max(1, s.largest)
	if !scaled || len(x) == 2 {
		for i, v := range x {
			x[i] = (v/s.scale - s.mean) * (n / (n - 1)) * s.scale
		}
		return flat
	}
	total := s.sigma * s.sigma * (n - 1)
	largest, at, second := 0.0, 0, 0.0 // of the magnitudes, for that of the others
	for i, v := range x {
		switch v := math.Abs(v / s.scale); {
		case v > largest:
			largest, at, second = v, i, largest
		case v > second:
			second = v
		}
	}
	for i, v := range others {
		c := v/s.scale - s.mean
		a := c * (n / (n - 1))
		// The squared sum of the others about their own mean. Where it is a small part of the total the difference is
		// mostly rounding, and it is summed up instead; that concerns the largest |c|, of three numbers at most.
		sq := total - c*a
		if 2*sq >= total {
			top := largest
			if i == at {
				top = second
			}
			if sigma := math.Sqrt(sq / (n - 2)); sigma > o.floor*max(1/s.scale, top) {
				x[i] = a / sigma
			} else {
				x[i] = a * s.scale
			}
			continue
		}
		others[i], others[len(others)-1] = others[len(others)-1], v
		rest := measure(others[:len(others)-1], nil, StdSample)
		others[i], others[len(others)-1] = v, others[i]
		if rest.sigma > o.floor*max(1, rest.largest) {
			x[i] = a / rest.sigma * (s.scale / rest.scale)
		} else {
			x[i] = a * s.scale
		}
	}
	return flat
}

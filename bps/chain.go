package bps

import (
	"fmt"
	"math"
	"slices"
)

// A search is one run of [Select]: what it may choose from and what it has found. Candidates are positions in tokens.
type search struct {
	benefit  Benefit
	base     float64 // Value(nil)
	tokens   []int
	budget   int // for candidates; the overhead is already taken off
	overhead int

	free        []int // candidates without tokens that gain something, in the order they were added; in every set but the empty one
	pool        pool
	evaluations int

	// The set of a chain and what may still join it. They are kept so that a chain allocates nothing but its state.
	chosen []int // s.free, the seed, and what was added, in this order
	open   []candidate
	sorted []int // scratch of record
}

// A candidate may still be added to a chain. Its gain may be stale, computed at a part of the current set: then it is an upper bound.
type candidate struct {
	item   int
	tokens int
	gain   float64
	key    float64 // gain per token
}

func newCandidate(item, tokens int, gain float64) candidate {
	return candidate{item: item, tokens: tokens, gain: gain, key: gain / float64(tokens)}
}

// better is the total order in which chains pick: gain per token, then gain, then index; no tolerance.
func (c *candidate) better(d *candidate) bool {
	if c.key != d.key {
		return c.key > d.key
	}
	if c.gain != d.gain {
		return c.gain > d.gain
	}
	return c.item < d.item
}

// unbounded is the stale gain of a candidate that has none yet.
const unbounded = math.MaxFloat64

// gain returns what item adds to s.chosen, whose state is st. It must not be above stale, the gain at a part of the set.
func (s *search) gain(st Gains, item int, stale float64) (float64, error) {
	s.evaluations++
	g := st.Gain(item)
	if g >= 0 && g <= stale {
		return g, nil
	}
	switch {
	case !finite(g):
		return 0, fmt.Errorf("%w: the gain of candidate %d at %s is %v", ErrBenefit, item, show(s.chosen), g)
	case g < -1e-9*max(1, math.Abs(st.Value()), math.Abs(s.base)):
		return 0, fmt.Errorf("%w: the gain of candidate %d at %s is %v", ErrNotMonotone, item, show(s.chosen), g)
	case g > stale+1e-6*max(1, stale, math.Abs(st.Value()), math.Abs(s.base)):
		return 0, fmt.Errorf("%w: candidate %d gains %v at %s, but only %v at a part of it", ErrNotSubmodular, item, g, show(s.chosen), stale)
	}
	return max(g, 0), nil // rounding
}

// show prints a set for an error.
func show(set []int) string {
	const most = 20
	sorted := slices.Sorted(slices.Values(set))
	if len(sorted) > most {
		return fmt.Sprintf("a set of %d candidates that starts %v", len(sorted), sorted[:most])
	}
	return fmt.Sprintf("the set %v", sorted)
}

// chain grows s.chosen, which is recorded, by the best candidate of s.open that fits, and records it, until none fits or none
// gains. st is the state of the set, value its benefit and used its tokens. It changes all of them.
//
// Gains are computed lazily. Since a stale gain is an upper bound, a candidate whose stale key is below the best fresh one cannot be
// the best; the slack of 1e-9 covers the rounding of gains, unless they are tiny differences of large values.
func (s *search) chain(st Gains, value float64, used int) error {
	open := s.open
	for {
		left := s.budget - used
		top, topKey, fit := 0, -1.0, 0
		for j := range open {
			c := &open[j]
			if c.tokens > left {
				continue
			}
			if c.key > topKey {
				top, topKey = fit, c.key
			}
			if fit < j {
				open[fit] = *c
			}
			fit++
		}
		open = open[:fit]
		if fit == 0 {
			return nil
		}
		// The best stale one first, so that few others can still beat it.
		open[0], open[top] = open[top], open[0]
		best, enough := 0, -1.0
		for j := range open {
			c := &open[j]
			if c.key < enough {
				continue
			}
			g, err := s.gain(st, c.item, c.gain)
			if err != nil {
				return err
			}
			c.gain, c.key = g, g/float64(c.tokens)
			if j == 0 || c.better(&open[best]) {
				best, enough = j, c.key*(1-1e-9)
			}
		}
		pick := open[best]
		if pick.gain == 0 {
			return nil // longer sets would have the same benefit and more tokens
		}
		open[best] = open[fit-1]
		open = open[:fit-1]
		st.Add(pick.item)
		s.chosen = append(s.chosen, pick.item)
		value += pick.gain
		used += pick.tokens
		if err := s.record(used, value); err != nil {
			return err
		}
	}
}

// record shows the pool the set s.chosen, which has used tokens without the overhead and about the given benefit. Value is asked only
// where the sum of the gains leaves open whether the pool wants the set.
func (s *search) record(used int, about float64) error {
	total := used + s.overhead
	if s.pool.hopeless(total, about) {
		return nil
	}
	s.sorted = append(s.sorted[:0], s.chosen...)
	slices.Sort(s.sorted)
	if s.pool.has(total, s.sorted) {
		return nil
	}
	s.evaluations++
	v := s.benefit.Value(s.sorted) - s.base
	if !finite(v) {
		return fmt.Errorf("%w: the value of %s is %v", ErrBenefit, show(s.sorted), v+s.base)
	}
	if math.Abs(v-about) > 1e-6*max(1, math.Abs(v), math.Abs(s.base)) {
		return fmt.Errorf("%w: the gains of %s add up to %v, but its value is %v", ErrBenefit, show(s.sorted), about, v)
	}
	s.pool.add(total, v, s.sorted)
	return nil
}

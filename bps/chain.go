package bps

import (
	"fmt"
	"math"
	"slices"
)

// A candidate may be added to a set. Its gain may be stale, computed at a part of the set: then it is an upper bound.
type candidate struct {
	key  float64 // what chains pick by: gain per token, or gain
	gain float64
	at   int32 // position in search.items
	step int32 // of a lazy chain at which the gain was computed
}

// better is the total order in which chains pick: key, then gain, then index; no tolerance.
func (c *candidate) better(d *candidate) bool {
	if c.key != d.key {
		return c.key > d.key
	}
	if c.gain != d.gain {
		return c.gain > d.gain
	}
	return c.at < d.at
}

// A walker grows chains, one at a time, and keeps the best sets it meets. Its scratch is reused, so that a chain allocates nothing
// but its state.
type walker struct {
	*search
	pool        pool
	bound       *bound // nil if no certificate is asked for
	evaluations int

	chosen []int   // the set of the chain: s.always, the seed, and what was added, in this order
	in     []bool  // by position in s.items: whether it is among chosen
	hash   uint64  // of chosen
	shared bool    // the pool has a prefix of chosen, which must not be written over
	value  float64 // benefit of chosen over s.always
	used   int     // tokens of chosen without those of s.always

	sorted []int       // scratch of record
	open   []candidate // scratch of lazy and tracing chains
	near   []int       // scratch of settle
	stale  []float64   // by position: the smallest key seen in a following chain
	row    []float64   // gains at a seed, by position
	traces []trace     // of newTrace
	best   []int32     // of newStep, as the next two
	keys   []float64
	above  []float32
	barred []bool // what a seed prunes, by position
}

// unbounded is the stale gain or key of a candidate that has none yet.
const unbounded = math.MaxFloat64

// slack covers the rounding of gains where stale ones are compared with fresh ones, unless they are tiny differences of large values.
const slack = 1 - 1e-9

// key is what chains pick the candidate at position j by.
func (s *search) key(j int32, gain float64, o order) float64 {
	if o == byGain {
		return gain
	}
	return gain / float64(s.sizes[j])
}

// fits reports whether there are tokens left for the candidate at position j.
func (w *walker) fits(j int32) bool { return w.sizes[j] <= w.budget-w.used }

// gain returns what item adds to w.chosen, whose state is st. It must not be above stale, the gain at a part of the set.
func (w *walker) gain(st Gains, item int, stale float64) (float64, error) {
	w.evaluations++
	g := st.Gain(item)
	if g >= 0 && g <= stale {
		return g, nil
	}
	return w.oddGain(st, item, g, stale)
}

// fresh returns the candidate at position j with the gain at w.chosen, whose key must not be above stale.
func (w *walker) fresh(st Gains, j int32, stale float64, o order) (candidate, error) {
	w.evaluations++
	g := st.Gain(w.items[j])
	c := candidate{key: w.key(j, g, o), gain: g, at: j}
	if g >= 0 && c.key <= stale {
		return c, nil
	}
	if o == byDensity {
		stale *= float64(w.sizes[j])
	}
	g, err := w.oddGain(st, w.items[j], g, stale)
	return candidate{key: w.key(j, g, o), gain: g, at: j}, err
}

// oddGain tells rounding from a fault.
func (w *walker) oddGain(st Gains, item int, g, stale float64) (float64, error) {
	size := max(1, math.Abs(st.Value()), math.Abs(w.base))
	switch {
	case !finite(g):
		return 0, fmt.Errorf("%w: the gain of candidate %d at %s is %v", ErrBenefit, item, show(w.chosen), g)
	case g < -1e-9*size:
		return 0, fmt.Errorf("%w: the gain of candidate %d at %s is %v", ErrNotMonotone, item, show(w.chosen), g)
	case g > stale+1e-6*max(stale, size):
		return 0, fmt.Errorf("%w: candidate %d gains %v at %s, but only %v at a part of it", ErrNotSubmodular, item, g, show(w.chosen), stale)
	}
	return max(g, 0), nil
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

// add makes c, whose gain is fresh, a member of w.chosen and of its state, and records the set.
func (w *walker) add(st Gains, c *candidate) error {
	i := w.items[c.at]
	st.Add(i)
	w.chosen = append(w.chosen, i)
	w.hash += hash(i)
	w.in[c.at] = true
	w.value += c.gain
	w.used += w.sizes[c.at]
	return w.record(st)
}

// record shows the pool and the bound the set w.chosen, whose state is st. Value is asked only where the sum of the gains leaves open
// whether the pool wants the set.
func (w *walker) record(st Gains) error {
	if w.bound != nil {
		if err := w.bound.see(w, st); err != nil {
			return err
		}
	}
	total, about := w.used+w.offset, w.search.value+w.value
	if len(w.chosen) == 0 {
		total = 0
	}
	if w.pool.hopeless(total, about) {
		return nil
	}
	r := record{tokens: total, items: w.chosen[:len(w.chosen):len(w.chosen)], hash: w.hash}
	if w.pool.has(r) {
		return nil
	}
	w.sorted = append(w.sorted[:0], w.chosen...)
	slices.Sort(w.sorted)
	v := w.benefit.Value(w.sorted) - w.base
	if !finite(v) {
		return fmt.Errorf("%w: the value of %s is %v", ErrBenefit, show(w.sorted), v+w.base)
	}
	if math.Abs(v-about) > 1e-6*max(1, math.Abs(v), math.Abs(w.base)) {
		return fmt.Errorf("%w: the gains of %s add up to %v, but its value is %v", ErrBenefit, show(w.sorted), about, v)
	}
	r.benefit, r.sorted = v, w.sorted
	if w.pool.add(r) {
		w.shared = true
	}
	return nil
}

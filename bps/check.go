package bps

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A Counterexample is the error of [CheckSubmodular]: a set and one or two candidates outside it for which a benefit breaks a rule.
// [errors.Is] finds its Rule.
type Counterexample struct {
	Rule error // ErrNotMonotone, ErrNotSubmodular, or ErrBenefit for one that is not a function, not finite, or wrong in its gains
	Set  []int // ascending
	I, J int   // candidates outside Set; -1 where there is none
	// Got is what was seen, and Bound what it was compared with:
	//   - ErrNotMonotone: Value(Set+I) is below Value(Set).
	//   - ErrNotSubmodular: the gain of J at Set+I is above its gain at Set.
	//   - ErrBenefit: Got is not finite, and Bound is 0; or it differs from Bound. The text says what they are.
	Got, Bound float64

	text string
}

// Error describes the counterexample.
func (c *Counterexample) Error() string { return c.Rule.Error() + ": " + c.text }

// Unwrap returns the rule.
func (c *Counterexample) Unwrap() error { return c.Rule }

// exhaustive is the largest number of candidates of which CheckSubmodular looks at all sets.
const exhaustive = 10

// CheckSubmodular looks for a set where b is not finite, not the same when asked again, not monotone or not submodular: for sets A
// and candidates i and j outside A,
//
//	Value(A+i) >= Value(A)    and    Value(A+i) - Value(A) >= Value(A+i+j) - Value(A+j)
//
// within 1e-9 of the largest of these values, or of 1. Value(nil) must be finite but need not be 0, as [Select] subtracts it. If b is
// [Incremental], the gains and values of its states must agree with Value within the same tolerance, whatever the order of additions.
//
// Up to 10 candidates, it looks at all A, i and j. For more, it draws samples of them at random, with A of any size and each size as
// likely; zero means 200. Rng is not used otherwise; nil means a generator with a fixed seed. The first failure is made smaller: candidates
// are taken out of A, in ascending order, first many at a time and in the end one by one, as long as the same rule is still broken. The
// error is then a [*Counterexample]. A missing benefit or one for another number of candidates is [ErrBenefit], and negative n or samples
// are other errors.
//
// Nil proves nothing beyond the sets that were looked at. It costs two calls of Value a set: at most 2,048 calls up to 10 candidates, else
// 8 a sample. A state of an incremental benefit is grown to A for every pair of i and j, which is at most 11,531 times up to 10
// candidates, else once a sample. To make a failure smaller takes more, but few where few of A play a part.
func CheckSubmodular(b Benefit, n int, rng *rand.Rand, samples int) error {
	switch {
	case n < 0:
		return fmt.Errorf("bps: CheckSubmodular: n is %d, want >= 0", n)
	case samples < 0:
		return fmt.Errorf("bps: CheckSubmodular: samples is %d, want >= 0", samples)
	case missing(b):
		return fmt.Errorf("%w: none given", ErrBenefit)
	}
	if b, ok := b.(interface{ Len() int }); ok && b.Len() != n {
		return fmt.Errorf("%w: made for %d candidates, want %d", ErrBenefit, b.Len(), n)
	}
	if samples == 0 {
		samples = 200
	}
	if rng == nil {
		rng = rand.New(rand.NewPCG(1, 2))
	}

	c := &checker{benefit: b}
	if n <= exhaustive {
		c.known = make([]float64, 1<<n)
		for m := range c.known {
			c.known[m] = math.NaN()
		}
	}
	var bad *Counterexample
	if c.base, bad = c.value(nil); bad != nil {
		return bad
	}
	if n <= exhaustive {
		for m := range 1 << n {
			var in, out []int
			for i := range n {
				if m&(1<<i) != 0 {
					in = append(in, i)
				} else {
					out = append(out, i)
				}
			}
			for len(out) < 2 {
				out = append(out, -1) // with no pair left, there is still the set
			}
			for k, j := range out {
				for _, i := range out[:k] {
					if bad := c.try(in, i, j); bad != nil {
						return bad
					}
				}
			}
		}
		return nil
	}
	for range samples {
		order := rng.Perm(n)
		k := rng.IntN(n - 1)
		if bad := c.try(order[:k], order[k], order[k+1]); bad != nil {
			return bad
		}
	}
	return nil
}

type checker struct {
	benefit Benefit
	base    float64
	known   []float64 // finite values of sets by bit mask, NaN where not asked yet; nil for many candidates
}

// try checks i and j, or -1, at the set of order and makes a failure smaller.
func (c *checker) try(order []int, i, j int) error {
	bad := c.pair(order, i, j)
	if bad == nil {
		return nil
	}
	order = slices.Sorted(slices.Values(order))
	if b := c.pair(order, i, j); b != nil && b.Rule == bad.Rule {
		bad = b
	} else {
		return bad // it depends on the order, or on chance
	}
	for size := len(order); size > 0; size /= 2 {
		for k := 0; k < len(order); {
			fewer := slices.Delete(slices.Clone(order), k, min(k+size, len(order)))
			if b := c.pair(fewer, i, j); b != nil && b.Rule == bad.Rule {
				bad, order = b, fewer
			} else {
				k += size
			}
		}
	}
	return bad
}

// pair checks i and j at the set of order, which is also the order of additions. Without i there is no j.
func (c *checker) pair(order []int, i, j int) *Counterexample {
	a := slices.Sorted(slices.Values(order))
	with := func(more ...int) []int { return slices.Sorted(slices.Values(slices.Concat(a, more))) }
	none, bad := c.value(a)
	if bad != nil {
		return bad
	}
	if i < 0 {
		return c.gains(order, none, nil, nil)
	}
	one, bad := c.value(with(i))
	if bad != nil {
		return bad
	}
	if bad := monotone(a, i, none, one); bad != nil {
		return bad
	}
	if j < 0 {
		return c.gains(order, none, []int{i}, []float64{one})
	}
	other, bad := c.value(with(j))
	if bad != nil {
		return bad
	}
	both, bad := c.value(with(i, j))
	if bad != nil {
		return bad
	}
	// A fall from A to A+j is a fall from A+i to A+i+j too, or not submodular.
	if bad := monotone(with(i), j, one, both); bad != nil {
		return bad
	}
	if bad := monotone(with(j), i, other, both); bad != nil {
		return bad
	}
	if early, late := other-none, both-one; late > early+tolerance(none, one, other, both) {
		return &Counterexample{Rule: ErrNotSubmodular, Set: a, I: i, J: j, Got: late, Bound: early,
			text: fmt.Sprintf("candidate %d gains %v at %s, but %v with candidate %d in it", j, early, show(a), late, i)}
	}
	return c.gains(order, none, []int{i, j}, []float64{one, other})
}

func tolerance(values ...float64) float64 {
	size := 1.0
	for _, v := range values {
		size = max(size, math.Abs(v))
	}
	return 1e-9 * size
}

// value asks twice, unless the value is known.
func (c *checker) value(set []int) (float64, *Counterexample) {
	m := 0
	if c.known != nil {
		for _, i := range set {
			m |= 1 << i
		}
		if v := c.known[m]; !math.IsNaN(v) {
			return v, nil
		}
	}
	v, again := c.benefit.Value(slices.Clone(set)), c.benefit.Value(slices.Clone(set))
	switch {
	case !finite(v):
		return 0, &Counterexample{Rule: ErrBenefit, Set: set, I: -1, J: -1, Got: v, text: fmt.Sprintf("the value of %s is %v", show(set), v)}
	case v != again:
		return 0, &Counterexample{Rule: ErrBenefit, Set: set, I: -1, J: -1, Got: again, Bound: v,
			text: fmt.Sprintf("the value of %s is %v, and %v when asked again", show(set), v, again)}
	}
	if c.known != nil {
		c.known[m] = v
	}
	return v, nil
}

func monotone(a []int, i int, without, with float64) *Counterexample {
	if with >= without-tolerance(without, with) {
		return nil
	}
	return &Counterexample{Rule: ErrNotMonotone, Set: a, I: i, J: -1, Got: with, Bound: without,
		text: fmt.Sprintf("candidate %d lowers the value of %s from %v to %v", i, show(a), without, with)}
}

// gains compares a state of the set of order, whose value is none, with values: items[k] makes it with[k].
func (c *checker) gains(order []int, none float64, items []int, with []float64) *Counterexample {
	inc, ok := c.benefit.(Incremental)
	if !ok {
		return nil
	}
	set := slices.Sorted(slices.Values(order))
	wrong := func(i int, got, want float64, what string) *Counterexample {
		return &Counterexample{Rule: ErrBenefit, Set: set, I: i, J: -1, Got: got, Bound: want,
			text: fmt.Sprintf("%s is %v, but values differ by %v", what, got, want)}
	}
	st := inc.Start()
	if st == nil {
		return &Counterexample{Rule: ErrBenefit, I: -1, J: -1, text: "Start returns nil"}
	}
	for _, i := range order {
		st.Add(i)
	}
	// Not > so that NaN is wrong too.
	if got, want := st.Value(), none-c.base; !(math.Abs(got-want) <= tolerance(c.base, none)) {
		return wrong(-1, got, want, "the value of the state of "+show(set))
	}
	for k, i := range items {
		if got, want := st.Gain(i), with[k]-none; !(math.Abs(got-want) <= tolerance(none, with[k])) {
			return wrong(i, got, want, fmt.Sprintf("the gain of candidate %d at %s", i, show(set)))
		}
	}
	return nil
}

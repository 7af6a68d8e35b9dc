// Package bpstest checks whether a benefit keeps the rules of [bps.Benefit] and [bps.Incremental], on which the results of [bps.Select]
// rest. A test of a benefit calls [Run]; [Rules] lists what it checks.
//
// Up to 8 candidates all sets are tried, else 200 random ones from a fixed seed, with 4 candidates outside each. Passing proves nothing
// about other sets, and nothing about other data that a benefit may be made of: run the rules for several. For one benefit at run time
// there is [bps.CheckSubmodular].
//
// Values and gains must agree within 1e-9 of the largest value involved, or of 1; calls of Value for one set must agree exactly.
package bpstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/throughline-go/throughline/bps"
)

// A Rule is one thing that Select takes for granted, or checks.
type Rule struct {
	Name string
	// Check returns an error that names the set and the values if b, for candidates 0..n-1, breaks the rule. A rule about gains holds
	// for a benefit that is not [bps.Incremental].
	Check func(b bps.Benefit, n int) error
}

// Rules returns the rules in the order in which [Run] checks them.
func Rules() []Rule {
	return []Rule{
		{"len", length},
		{"finite", finite},
		{"pure", pure},
		{"monotone", monotone},
		{"submodular", submodular},
		{"slice", slice},
		{"concurrent", concurrent},
		{"gains", gains},
		{"state value", stateValue},
		{"gain changes nothing", gainChangesNothing},
		{"clone", clone},
	}
}

// Run checks every rule in a subtest of its own, on a new benefit for candidates 0..n-1. NewBenefit returns the same benefit each time,
// made anew. Where the rule "len" is broken, the others are not tried. The rule "concurrent" finds more with the race detector.
func Run(t *testing.T, n int, newBenefit func() bps.Benefit) {
	t.Helper()
	for _, r := range Rules() {
		ok := t.Run(r.Name, func(t *testing.T) {
			if err := r.Check(newBenefit(), n); err != nil {
				t.Error(err)
			}
		})
		if !ok && r.Name == "len" {
			return // to ask about candidates that do not exist may panic
		}
	}
}

// A walk is a set in an order of additions, which is then to be grown by next. For all candidates there is no next.
type walk struct{ order, next []int }

// walks returns all sets of few candidates, or random ones, smaller ones first.
func walks(n int) []walk {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []walk
	add := func(size int, order []int) { all = append(all, walk{order[:size:size], order[size:]}) }
	if n <= 8 {
		for m := range 1 << n {
			var in, out []int
			for _, i := range rng.Perm(n) {
				if m&(1<<i) != 0 {
					in = append(in, i)
				} else {
					out = append(out, i)
				}
			}
			add(len(in), slices.Concat(in, out))
		}
	} else {
		const most = 4 // candidates outside a set that are looked at
		add(0, rng.Perm(n)[:min(n, most)])
		add(n, rng.Perm(n))
		for range 198 {
			size := rng.IntN(n)
			add(size, rng.Perm(n)[:min(n, size+most)])
		}
	}
	slices.SortStableFunc(all, func(a, b walk) int { return len(a.order) - len(b.order) })
	return all
}

// set returns the candidates of a walk and more, ascending, in a slice of its own.
func (w walk) set(more ...int) []int {
	return slices.Sorted(slices.Values(slices.Concat(w.order, more)))
}

// tolerance is what Select allows for rounding in values of this size.
func tolerance(values ...float64) float64 {
	size := 1.0
	for _, v := range values {
		size = max(size, math.Abs(v))
	}
	return 1e-9 * size
}

// agree reports whether a gain is the difference of two values. Where that is not finite, it is for another rule to report.
func agree(gain, with, without float64) bool {
	d := with - without
	return math.IsNaN(d) || math.IsInf(d, 0) || math.Abs(gain-d) <= tolerance(with, without)
}

// near reports whether got is want within rounding.
func near(got, want float64) bool { return agree(got, want, 0) }

// length looks at the optional method Len, for which Select refuses a benefit made for another number of candidates.
func length(b bps.Benefit, n int) error {
	if b, ok := b.(interface{ Len() int }); ok && b.Len() != n {
		return fmt.Errorf("the method Len returns %d, want %d, the number of candidates", b.Len(), n)
	}
	return nil
}

func finite(b bps.Benefit, n int) error {
	for _, w := range walks(n) {
		if v := b.Value(w.set()); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the value of %v is %v, want a finite number", w.set(), v)
		}
	}
	return nil
}

// pure asks for all values in one order and then in the other.
func pure(b bps.Benefit, n int) error {
	all := walks(n)
	values := make([]float64, len(all))
	for k, w := range all {
		values[k] = b.Value(w.set())
	}
	for k, w := range slices.Backward(all) {
		if v := b.Value(w.set()); v != values[k] && !(math.IsNaN(v) && math.IsNaN(values[k])) {
			return fmt.Errorf("the value of %v was %v and is now %v, want the same", w.set(), values[k], v)
		}
	}
	return nil
}

func monotone(b bps.Benefit, n int) error {
	for _, w := range walks(n) {
		without := b.Value(w.set())
		for _, i := range w.next {
			if with := b.Value(w.set(i)); with < without-tolerance(with, without) {
				return fmt.Errorf("candidate %d lowers the value of %v from %v to %v", i, w.set(), without, with)
			}
		}
	}
	return nil
}

func submodular(b bps.Benefit, n int) error {
	for _, w := range walks(n) {
		none := b.Value(w.set())
		for k, i := range w.next {
			for _, j := range w.next[:k] {
				one, other, both := b.Value(w.set(i)), b.Value(w.set(j)), b.Value(w.set(i, j))
				if both-one > other-none+tolerance(none, one, other, both) {
					return fmt.Errorf("candidate %d gains %v at %v, but %v with candidate %d in it", j, other-none, w.set(), both-one, i)
				}
			}
		}
	}
	return nil
}

// slice passes slices, compares them afterwards, and overwrites them with other sets of the same size.
func slice(b bps.Benefit, n int) error {
	all := walks(n)
	values := make([]float64, len(all))
	for k, w := range all {
		set := w.set()
		values[k] = b.Value(set)
		if !slices.Equal(set, w.set()) {
			return fmt.Errorf("Value(%v) changed its argument to %v", w.set(), set)
		}
	}
	for k := 1; k < len(all); k++ {
		earlier, later := all[k-1], all[k]
		if len(earlier.order) != len(later.order) {
			continue
		}
		set := earlier.set()
		b.Value(set)
		copy(set, later.set())
		if v := b.Value(later.set()); !near(v, values[k]) {
			return fmt.Errorf("the value of %v is %v, and %v after the slice of an earlier call, for %v, was overwritten with it: "+
				"Value must not keep its argument", later.set(), values[k], v, earlier.set())
		}
	}
	return nil
}

// concurrent asks for values and grows states in several goroutines at once.
func concurrent(b bps.Benefit, n int) error {
	const goroutines = 4
	all := walks(n)
	values := make([]float64, len(all))
	for k, w := range all {
		values[k] = b.Value(w.set())
	}
	var whole float64 // value of the state of all candidates
	grow := func() float64 { return 0 }
	if inc, ok := b.(bps.Incremental); ok {
		grow = func() float64 {
			st := inc.Start()
			for i := range n {
				st.Add(i)
			}
			return st.Value()
		}
		whole = grow()
	}
	faults := make([]error, goroutines)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			<-begin
			for k := range all {
				k = (k + g*len(all)/goroutines) % len(all) // not all the same set
				if v := b.Value(all[k].set()); !near(v, values[k]) {
					faults[g] = fmt.Errorf("the value of %v is %v, and %v while other goroutines ask too", all[k].set(), values[k], v)
					return
				}
			}
			if v := grow(); !near(v, whole) {
				faults[g] = fmt.Errorf("a state of all candidates has value %v, and %v while other goroutines grow states too", whole, v)
			}
		})
	}
	close(begin)
	wg.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// grown returns a state of a walk.
func grown(b bps.Incremental, w walk) bps.Gains {
	st := b.Start()
	for _, i := range w.order {
		st.Add(i)
	}
	return st
}

func gains(b bps.Benefit, n int) error {
	inc, ok := b.(bps.Incremental)
	if !ok {
		return nil
	}
	for _, w := range walks(n) {
		without := b.Value(w.set())
		for _, i := range w.next {
			// A state of its own for every gain: whether one changes it is another rule.
			if gain, with := grown(inc, w).Gain(i), b.Value(w.set(i)); !agree(gain, with, without) {
				return fmt.Errorf("the gain of candidate %d at %v is %v, but values differ by %v", i, w.set(), gain, with-without)
			}
		}
	}
	return nil
}

func stateValue(b bps.Benefit, n int) error {
	inc, ok := b.(bps.Incremental)
	if !ok {
		return nil
	}
	base := b.Value(nil)
	for _, w := range walks(n) {
		if got, value := grown(inc, w).Value(), b.Value(w.set()); !agree(got, value, base) {
			return fmt.Errorf("the state of %v, added in the order %v, has value %v, want Value less that of the empty set, %v",
				w.set(), w.order, got, value-base)
		}
	}
	return nil
}

// gainChangesNothing compares a state that was asked for gains with one that was not.
func gainChangesNothing(b bps.Benefit, n int) error {
	inc, ok := b.(bps.Incremental)
	if !ok {
		return nil
	}
	for _, w := range walks(n) {
		asked := inc.Start()
		for k, i := range w.order {
			for _, j := range slices.Concat(w.order[k:], w.next) {
				asked.Gain(j)
			}
			asked.Add(i)
		}
		for _, i := range w.next {
			asked.Gain(i)
		}
		if err := equal(asked, grown(inc, w), w); err != nil {
			return fmt.Errorf("after calls of Gain, %w", err)
		}
	}
	return nil
}

// clone checks copies by Clone and, where states have it, by CopyFrom.
func clone(b bps.Benefit, n int) error {
	inc, ok := b.(bps.Incremental)
	if !ok {
		return nil
	}
	for _, w := range walks(n) {
		if err := copies(inc, w, "a clone", bps.Gains.Clone); err != nil {
			return err
		}
		if _, ok := inc.Start().(interface{ CopyFrom(src bps.Gains) }); !ok {
			continue
		}
		err := copies(inc, w, "a copy by CopyFrom", func(st bps.Gains) bps.Gains {
			used := grown(inc, walk{order: slices.Concat(w.order, w.next)}) // what it had is to be forgotten
			used.(interface{ CopyFrom(src bps.Gains) }).CopyFrom(st)
			return used
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copies changes a state and then its copy, and compares each with one that was never copied.
func copies(inc bps.Incremental, w walk, what string, copyOf func(st bps.Gains) bps.Gains) error {
	if err := equal(copyOf(grown(inc, w)), grown(inc, w), w); err != nil {
		return fmt.Errorf("in %s, %w", what, err)
	}
	if len(w.next) == 0 {
		return nil
	}
	add := w.next[0]
	larger := walk{slices.Concat(w.order, []int{add}), w.next[1:]}

	st := grown(inc, w)
	copied := copyOf(st)
	copied.Add(add)
	if err := equal(st, grown(inc, w), w); err != nil {
		return fmt.Errorf("after candidate %d was added to %s, %w", add, what, err)
	}
	if err := equal(copied, grown(inc, larger), larger); err != nil {
		return fmt.Errorf("in %s that candidate %d was added to, %w", what, add, err)
	}

	st = grown(inc, w)
	copied = copyOf(st)
	st.Add(add)
	if err := equal(copied, grown(inc, w), w); err != nil {
		return fmt.Errorf("after candidate %d was added to the original of %s, %w", add, what, err)
	}
	return nil
}

// equal compares two states of w that must not differ but by rounding.
func equal(got, want bps.Gains, w walk) error {
	if a, b := got.Value(), want.Value(); !near(a, b) {
		return fmt.Errorf("the state of %v has value %v, want %v", w.set(), a, b)
	}
	for _, i := range w.next {
		if a, b := got.Gain(i), want.Gain(i); !near(a, b) {
			return fmt.Errorf("the gain of candidate %d at %v is %v, want %v", i, w.set(), a, b)
		}
	}
	return nil
}

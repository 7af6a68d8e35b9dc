package stat

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// PermutationOptions adjusts [Permutation]. A nil *PermutationOptions equals &PermutationOptions{}.
type PermutationOptions struct {
	Draws  int        // random permutations where there are too many to try all; zero means 9999
	Strata []int      // sizes of consecutive runs of items, each permuted in itself; nil means one run of all items
	Rand   *rand.Rand // nil means a fixed seed
}

// A PValue is the result of [Permutation].
type PValue struct {
	P     float64 // in (0, 1]
	Exact bool    // all permutations were tried; otherwise a sample was
	Tried int     // permutations
}

// maxExact is the largest number of permutations that are all tried: 7!.
const maxExact = 5040

// permutationTolerance is how much nearer to 0 a permuted statistic may be and still count as equal to the observed one: the same sum in
// another order.
const permutationTolerance = 1e-12

// Permutation returns the two-sided p-value of a statistic s of n items under the hypothesis that a permutation of one of its sides is as
// likely as any other (Pitman 1937). Statistic gets a permutation of 0..n-1, valid during the call, and is observed at the identity.
//
// Up to 5,040 permutations, which are all of 7 items, are tried one and all: p is the share with |s*| >= |s| - 1e-12. Of more a random
// sample of Draws is: p = (1 + their number) / (Draws + 1), which is never 0 and keeps the level of the test exactly.
//
// No items, draws below 1, strata that are negative or do not add up to n, and a statistic that is not finite are errors. It takes up to
// max(5040, Draws) calls and O(n) time and memory besides.
func Permutation(n int, statistic func(perm []int) float64, o *PermutationOptions) (PValue, error) {
	draws, r, strata := 9999, (*rand.Rand)(nil), []int{n}
	if o != nil {
		r = o.Rand
		if o.Draws != 0 {
			draws = o.Draws
		}
		if o.Strata != nil {
			strata = o.Strata
		}
	}
	if r == nil {
		r = rand.New(rand.NewPCG(1, 2))
	}
	const fn = "permutation"
	var faults []error
	if n < 1 {
		faults = append(faults, fmt.Errorf("stat: %s: %d items, want at least 1", fn, n))
	}
	if draws < 1 {
		faults = append(faults, fmt.Errorf("stat: %s: %d draws, want at least 1", fn, draws))
	}
	if n >= 1 {
		faults = append(faults, checkStrata(fn, n, strata))
	}
	if err := errors.Join(faults...); err != nil {
		return PValue{}, err
	}

	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	observed := statistic(perm)
	if math.IsNaN(observed) || math.IsInf(observed, 0) {
		return PValue{}, fmt.Errorf("stat: %s: the statistic is %g, want a finite number", fn, observed)
	}
	bar := math.Abs(observed) - permutationTolerance
	extreme, tried := 0, 0
	var err error
	try := func() bool {
		v := math.Abs(statistic(perm))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			err = fmt.Errorf("stat: %s: the statistic of a permutation is %g, want a finite number", fn, v)
			return false
		}
		tried++
		if v >= bar {
			extreme++
		}
		return true
	}
	if few(strata) {
		if arrange(perm, slices.Clone(strata), try); err != nil {
			return PValue{}, err
		}
		return PValue{P: float64(extreme) / float64(tried), Exact: true, Tried: tried}, nil
	}
	for range draws {
		lo := 0
		for _, size := range strata {
			run := perm[lo : lo+size]
			for i := size - 1; i > 0; i-- {
				j := r.IntN(i + 1)
				run[i], run[j] = run[j], run[i]
			}
			lo += size
		}
		if !try() {
			return PValue{}, err
		}
	}
	return PValue{P: float64(1+extreme) / float64(draws+1), Tried: tried}, nil
}

// checkStrata reports sizes that do not divide n items.
func checkStrata(fn string, n int, strata []int) error {
	left := n
	for i, size := range strata {
		if size < 0 || size > left {
			return fmt.Errorf("stat: %s: stratum %d has size %d, want 0 to the %d items that are left", fn, i, size, left)
		}
		left -= size
	}
	if left > 0 {
		return fmt.Errorf("stat: %s: the strata have %d items, want %d", fn, n-left, n)
	}
	return nil
}

// few tells whether the runs together have at most maxExact permutations.
func few(strata []int) bool {
	count := 1
	for _, size := range strata {
		for k := 2; k <= size; k++ {
			if count *= k; count > maxExact {
				return false
			}
		}
	}
	return true
}

// arrange calls visit for every permutation of perm within its runs until visit returns false. Afterwards perm and strata are as they
// were.
func arrange(perm, strata []int, visit func() bool) bool {
	if len(strata) == 0 {
		return visit()
	}
	size := strata[0]
	if size < 2 {
		return arrange(perm[size:], strata[1:], visit)
	}
	for j := range size {
		perm[0], perm[j] = perm[j], perm[0]
		strata[0]-- // the first place is settled
		more := arrange(perm[1:], strata, visit)
		strata[0]++
		perm[0], perm[j] = perm[j], perm[0]
		if !more {
			return false
		}
	}
	return true
}

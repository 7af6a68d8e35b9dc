package stat

import (
	"cmp"
	"math"
	"slices"
)

// Spearman returns the rank correlation of the pairs (x[i], y[i]): Pearson's coefficient of the ranks, where equal values share the
// average of their ranks. It takes O(n log n) time. Infinities count as the largest and smallest values, and -0 equals +0. Unequal
// lengths and NaN are errors.
func Spearman(x, y []float64) (Correlation, error) {
	if err := checkPairs("spearman", x, y); err != nil {
		return Correlation{}, err
	}
	// Twice a rank less n+1 is an integer, and its sum over the sample is 0: up to 100,000 pairs the three sums are exact, so the
	// result does not depend on the order of the pairs and an equal order of both sides gives exactly 1.
	a, b := centredRanks(x), centredRanks(y)
	var ab, aa, bb float64
	for i := range a {
		ab += a[i] * b[i]
		aa += a[i] * a[i]
		bb += b[i] * b[i]
	}
	return correlation(ab, aa, bb), nil
}

// correlation returns ab/sqrt(aa*bb) where that is defined.
func correlation(ab, aa, bb float64) Correlation {
	if aa == 0 || bb == 0 {
		return Correlation{}
	}
	r := ab / math.Sqrt(aa*bb)
	return Correlation{Value: max(-1, min(1, r)), Defined: true}
}

// centredRanks returns twice the average rank of each value less n+1, for ranks from 1 to n.
func centredRanks(x []float64) []float64 {
	n := len(x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	r := make([]float64, n)
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && x[order[hi]] == x[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			r[i] = float64(lo + hi - n) // positions lo..hi-1 have the ranks lo+1..hi, on average (lo+1+hi)/2
		}
		lo = hi
	}
	return r
}

package stat

import (
	"fmt"
	"math"
	"slices"
)

// Median returns the middle value of x, for an even count the mean of the middle two. It fails as [Quantile] does.
func Median(x []float64) (float64, error) { return Quantile(x, 0.5) }

// Quantile returns the value at position (n-1)q of the sorted x, with q in [0, 1], linearly interpolated between its neighbours (type 7
// of Hyndman and Fan 1996). No values, one that is not finite, and a q outside its range are errors.
func Quantile(x []float64, q float64) (float64, error) {
	if len(x) == 0 {
		return 0, fmt.Errorf("stat: quantile: no values")
	}
	if !(q >= 0 && q <= 1) {
		return 0, fmt.Errorf("stat: quantile: q is %g, want it in [0, 1]", q)
	}
	if err := checkFinite("quantile", x); err != nil {
		return 0, err
	}
	return sortedQuantile(slices.Sorted(slices.Values(x)), q), nil
}

// sortedQuantile is Quantile of sorted, finite values.
func sortedQuantile(x []float64, q float64) float64 {
	pos := float64(len(x)-1) * q
	i := int(pos)
	f := pos - float64(i)
	if f == 0 {
		return x[i]
	}
	lo, hi := x[i], x[i+1]
	if math.IsInf(hi-lo, 0) {
		return lo*(1-f) + hi*f
	}
	return lo + f*(hi-lo) // at most hi, since f is at most 1-2⁻⁵³
}

// InterquartileMean returns the mean of the middle half of x: floor(n/4) of the smallest values and as many of the largest are left
// out, as in the reliable-evaluation protocol of arXiv:2108.13264. It is less noisy than the median and less bent by outliers than the
// mean. No values, one that is not finite, and a sum that overflows are errors.
func InterquartileMean(x []float64) (float64, error) {
	if len(x) == 0 {
		return 0, fmt.Errorf("stat: interquartile mean: no values")
	}
	if err := checkFinite("interquartile mean", x); err != nil {
		return 0, err
	}
	s := slices.Sorted(slices.Values(x))
	cut := len(s) / 4
	return mean("interquartile mean", s[cut:len(s)-cut])
}

// mean returns the mean of at least one finite value, summed in index order.
func mean(fn string, x []float64) (float64, error) {
	var sum float64
	for _, v := range x {
		sum += v
	}
	if math.IsInf(sum, 0) {
		return 0, fmt.Errorf("stat: %s: the sum of %d values overflows", fn, len(x))
	}
	return sum / float64(len(x)), nil
}

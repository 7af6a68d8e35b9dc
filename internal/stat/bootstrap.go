package stat

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// BootstrapOptions adjusts [Bootstrap] and [PairedDifference]. A nil *BootstrapOptions equals &BootstrapOptions{}.
type BootstrapOptions struct {
	Draws int        // resamples; zero means 2000
	Level float64    // confidence level in (0, 1); zero means 0.95
	Rand  *rand.Rand // nil means a fixed seed

	// Strata are the sizes of consecutive runs of items; a draw takes as many items of each run as it has. Nil means one run of all items.
	Strata []int
}

// Bootstrap returns the percentile interval of a statistic of n items under resampling with replacement (Efron 1979): its quantiles at
// (1-level)/2 and (1+level)/2 over all draws, as [Quantile] has them. Each draw calls statistic with n indices below n, some of them
// repeated; the slice is only valid during the call. To keep pairs or groups together, let an index stand for one; to draw within
// groups, set Strata.
//
// A draw whose statistic is NaN is left out, for example a correlation of a resample with a constant side. No items, draws below 1, a
// level outside its range, strata that are negative or do not add up to n, an infinite statistic, and nothing but NaN are errors. It
// takes Draws calls and O(n + Draws) memory. Below some twenty items the interval is too narrow.
func Bootstrap(n int, statistic func(sample []int) float64, o *BootstrapOptions) (Interval, error) {
	draws, level, r, strata := 2000, 0.95, (*rand.Rand)(nil), []int{n}
	if o != nil {
		r = o.Rand
		if o.Strata != nil {
			strata = o.Strata
		}
		if o.Draws != 0 {
			draws = o.Draws
		}
		if o.Level != 0 {
			level = o.Level
		}
	}
	if r == nil {
		r = rand.New(rand.NewPCG(1, 2))
	}
	var faults []error
	if n < 1 {
		faults = append(faults, fmt.Errorf("stat: bootstrap: %d items, want at least 1", n))
	}
	if draws < 1 {
		faults = append(faults, fmt.Errorf("stat: bootstrap: %d draws, want at least 1", draws))
	}
	if n >= 1 {
		faults = append(faults, checkStrata("bootstrap", n, strata))
	}
	faults = append(faults, checkLevel("bootstrap", level))
	if err := errors.Join(faults...); err != nil {
		return Interval{}, err
	}

	sample := make([]int, n)
	var values []float64
	for range draws {
		lo := 0
		for _, size := range strata {
			for i := range size {
				sample[lo+i] = lo + r.IntN(size)
			}
			lo += size
		}
		v := statistic(sample)
		switch {
		case math.IsInf(v, 0):
			return Interval{}, fmt.Errorf("stat: bootstrap: the statistic of a draw is %g, want a finite number or NaN", v)
		case !math.IsNaN(v):
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return Interval{}, fmt.Errorf("stat: bootstrap: the statistic is NaN in all %d draws", draws)
	}
	slices.Sort(values)
	tail := (1 - level) / 2
	return Interval{Lo: sortedQuantile(values, tail), Hi: sortedQuantile(values, 1-tail)}, nil
}

// A Difference is the mean of paired differences and its interval.
type Difference struct {
	Mean     float64
	Interval Interval
}

// PairedDifference returns the mean of a[i] - b[i] with the [Bootstrap] interval over pairs, for results of two methods on the same
// seeds or tasks: what a pair shares cancels out. No pairs, unequal lengths, values that are not finite and overflow are errors, as
// well as what Bootstrap refuses.
func PairedDifference(a, b []float64, o *BootstrapOptions) (Difference, error) {
	const fn = "paired difference"
	if len(a) != len(b) {
		return Difference{}, fmt.Errorf("stat: %s: %d values of a but %d of b, want equal lengths", fn, len(a), len(b))
	}
	if len(a) == 0 {
		return Difference{}, fmt.Errorf("stat: %s: no pairs", fn)
	}
	if err := errors.Join(checkFinite(fn+" of a", a), checkFinite(fn+" of b", b)); err != nil {
		return Difference{}, err
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	if err := checkFinite(fn, d); err != nil {
		return Difference{}, err
	}
	m, err := mean(fn, d)
	if err != nil {
		return Difference{}, err
	}
	iv, err := Bootstrap(len(d), func(sample []int) float64 {
		var sum float64
		for _, i := range sample {
			sum += d[i]
		}
		return sum / float64(len(sample))
	}, o)
	if err != nil {
		return Difference{}, err
	}
	return Difference{Mean: m, Interval: iv}, nil
}

// Package stat holds the few statistics that several packages report: rank correlations that are right under ties, quantiles, a robust
// mean, intervals for rates, for any statistic and for paired differences, and p-values of permutation tests.
//
// Gonum is used where it is right: the normal quantile comes from it. It has no Spearman coefficient, its Kendall coefficient is
// tau-a and depends on the order of the rows under ties, and its quantiles do not interpolate at (n-1)q.
//
// Everything is deterministic: equal arguments, and a generator in an equal state, give equal bytes. Inputs are never changed.
package stat

import (
	"fmt"
	"math"
)

// An Interval is a closed range of plausible values.
type Interval struct {
	Lo, Hi float64
}

// A Correlation is a rank correlation in [-1, 1]. It is not Defined, and its Value is 0, where there are fewer than two pairs or one
// side is constant: such data say nothing about an association, which is not the same as none.
type Correlation struct {
	Value   float64
	Defined bool
}

// checkFinite reports the first entry of x that is NaN or infinite.
func checkFinite(fn string, x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("stat: %s: value %d is %g, want a finite number", fn, i, v)
		}
	}
	return nil
}

// checkPairs reports unequal lengths and the first NaN. Infinities have ranks, so they pass.
func checkPairs(fn string, x, y []float64) error {
	if len(x) != len(y) {
		return fmt.Errorf("stat: %s: %d values of x but %d of y, want equal lengths", fn, len(x), len(y))
	}
	for i := range x {
		if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
			return fmt.Errorf("stat: %s: pair %d is (%g, %g), want no NaN", fn, i, x[i], y[i])
		}
	}
	return nil
}

// checkLevel reports a confidence level outside (0, 1).
func checkLevel(fn string, level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("stat: %s: level is %g, want it in (0, 1)", fn, level)
	}
	return nil
}

package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Wilson returns Wilson's score interval (1927) for the probability of success after successes out of trials, at a confidence level in
// (0, 1) such as 0.95. With p = successes/n and z the normal quantile at (1+level)/2 it is c-h to c+h, where
//
//	c = (p + z²/2n) / (1 + z²/n),  h = z sqrt(p(1-p)/n + z²/4n²) / (1 + z²/n)
//
// It lies in [0, 1], contains p and is not degenerate at p = 0 or 1, unlike the usual normal interval. For the simultaneous level of m
// intervals pass 1 - alpha/m. It assumes independent trials with one probability. No trials, a negative count and more successes
// than trials are errors.
func Wilson(successes, trials int, level float64) (Interval, error) {
	if trials < 1 {
		return Interval{}, fmt.Errorf("stat: wilson: %d trials, want at least 1", trials)
	}
	if successes < 0 || successes > trials {
		return Interval{}, fmt.Errorf("stat: wilson: %d successes, want 0 to %d", successes, trials)
	}
	if err := checkLevel("wilson", level); err != nil {
		return Interval{}, err
	}
	z := -mathext.NormalQuantile((1 - level) / 2) // the lower tail keeps its digits when level is close to 1
	n := float64(trials)
	p := float64(successes) / n
	d := 1 + z*z/n
	c := (p + z*z/(2*n)) / d
	h := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n)) / d
	iv := Interval{Lo: max(0, c-h), Hi: min(1, c+h)}
	// At the ends c and h are equal but for rounding.
	if successes == 0 {
		iv.Lo = 0
	}
	if successes == trials {
		iv.Hi = 1
	}
	return iv, nil
}

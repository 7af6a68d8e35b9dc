package rl

import (
	"errors"
	"math"
)

// Norm says how an estimator normalises numbers that it compares with each other, such as the scores of a group: to
// (x - mean)/(std + Eps). The estimator says which numbers these are and what the zero value means to it. Equal numbers
// give exact zeros unless Std is [StdOff].
type Norm struct {
	Std      Std      // zero means the choice of the estimator
	Eps      *float64 // keeps the divisor away from 0, >= 0; nil means the choice of the estimator
	EpsPlace EpsPlace // zero means the choice of the estimator
	// StdFloor tells rounding residue: a deviation up to StdFloor*max(1, largest magnitude) only centres. >= 0; nil
	// means 1e-8 (ours).
	StdFloor  *float64
	Singleton Singleton // what a number with none to compare with becomes; zero means SingletonZero. Unused with StdOff
}

// Std says by which standard deviation centred numbers are divided.
type Std uint8

// The standard deviations. The zero value leaves the choice to the estimator, which names its own in its options.
const (
	StdDefault    Std = iota
	StdSample         // of n numbers, the squared sum over n-1
	StdPopulation     // of n numbers, the squared sum over n
	StdNone           // no deviation: x - mean, centred but not scaled
	StdOff            // no normalisation: x itself, neither centred nor scaled
)

// EpsPlace says where Norm.Eps is added.
type EpsPlace uint8

// The places. The zero value leaves the choice to the estimator, which names its own in its options.
const (
	EpsDefault    EpsPlace = iota
	EpsAdded               // (x - mean)/(std + eps)
	EpsInsideSqrt          // (x - mean)/sqrt(std² + eps)
)

// Singleton says what the advantage of a group of one is.
type Singleton uint8

// The policies for a group of one.
const (
	SingletonZero  Singleton = iota // 0: there is nothing to compare with
	SingletonRaw                    // the number itself, as if the mean were 0 and the deviation 1
	SingletonError                  // an error
)

// Apply normalises the finite numbers x in place, for estimators of one's own. Std zero means StdSample, Eps nil 1e-6 and
// EpsPlace zero EpsAdded. It reports whether the numbers do not differ, by more than rounding; then they became zeros, or
// were centred only, and a single number followed Singleton. With StdOff nothing happens and flat is false. The error is a
// [*FieldError] for the first number that is not finite, one for a single number under [SingletonError], or about an
// option out of range; x is unchanged then. With StdFloor and Eps 0 numbers that differ by less than about 1e-154 count as
// equal. O(len(x)) time, no allocation.
func (o Norm) Apply(x []float64) (flat bool, err error) {
	n, err := o.fill("Norm", norm{std: StdSample, eps: 1e-6})
	if err != nil {
		return false, err
	}
	for i, v := range x {
		if !finite(v) {
			return false, nonFinite(-1, -1, at("x", i), v)
		}
	}
	if n.refuses(len(x)) {
		return false, &FieldError{-1, -1, "x", "one number", "two or more to compare", nil}
	}
	return n.apply(x, nil), nil
}

// norm is a Norm with its defaults filled in.
type norm struct {
	std       Std // not StdDefault
	inside    bool
	eps       float64
	floor     float64
	singleton Singleton
}

// fill fills in the defaults, those of the estimator from def. The error names the field as that of options.
func (o Norm) fill(options string, def norm) (norm, error) {
	n := norm{o.Std, def.inside, orDefault(o.Eps, def.eps), orDefault(o.StdFloor, 1e-8), o.Singleton}
	if o.Std == StdDefault {
		n.std = def.std
	}
	if o.EpsPlace != EpsDefault {
		n.inside = o.EpsPlace == EpsInsideSqrt
	}
	if err := errors.Join(
		known(options, "Std", uint8(o.Std), 5),
		inRange(options, "Eps", n.eps, 0, math.Inf(1)),
		known(options, "EpsPlace", uint8(o.EpsPlace), 3),
		inRange(options, "StdFloor", n.floor, 0, math.Inf(1)),
		known(options, "Singleton", uint8(o.Singleton), 3),
	); err != nil {
		return norm{}, err
	}
	return n, nil
}

// refuses reports whether n numbers are a group of one that is an error.
func (o norm) refuses(n int) bool { return n == 1 && o.singleton == SingletonError && o.std != StdOff }

// apply replaces the finite numbers x by (x - mean)/(std + eps), each counted rows times, or once where rows is nil. Where
// the deviation is not above floor*max(1, max|x|) it is rounding residue, and x is centred only; equal numbers give exact
// zeros. flat reports either of these two. A single number follows the singleton policy, whose error is the caller's to
// give. StdOff does nothing and reports false. The result is finite unless numbers beyond 1e307 are centred only.
func (o norm) apply(x, rows []float64) (flat bool) {
	switch {
	case o.std == StdOff:
		return false
	case len(x) == 0:
		return true
	case len(x) == 1:
		if o.singleton != SingletonRaw {
			x[0] = 0
		}
		return true
	}
	s := measure(x, rows, o.std)
	if s.equal {
		clear(x)
		return true
	}
	flat = s.sigma <= o.floor*max(1, s.largest)
	if flat || o.std == StdNone {
		for i, v := range x {
			x[i] = (v/s.scale - s.mean) * s.scale
		}
		return flat
	}
	divisor := o.divisor(s)
	if s.scale != 1 {
		for i, v := range x {
			x[i] = (v/s.scale - s.mean) / divisor
		}
		return false
	}
	for i, v := range x {
		x[i] = (v - s.mean) / divisor
	}
	return false
}

// spread is the mean and the standard deviation of numbers in units of scale.
type spread struct {
	mean, sigma, largest, scale float64
	equal                       bool // all are the mean, and sigma is exactly 0
}

// measure returns the spread of x, each counted rows times. The variance takes two passes, since E[x²]-E[x]² can be negative.
func measure(x, rows []float64, std Std) spread {
	lo, hi, sum, n := x[0], x[0], 0.0, float64(len(x))
	for _, v := range x {
		if v < lo { // min and max take three times as long: they are ready for NaN
			lo = v
		} else if v > hi {
			hi = v
		}
		sum += v
	}
	s := spread{mean: lo, largest: max(-lo, hi), scale: 1, equal: lo == hi}
	if s.equal {
		return s
	}
	if s.largest > 1e150 { // squares and sums of such numbers overflow: take them relative to the largest
		s.scale, s.largest = s.largest, 1
		sum = 0
		for _, v := range x {
			sum += v / s.scale
		}
	}
	if rows != nil {
		sum, n = 0, 0
		for i, v := range x {
			sum += rows[i] * (v / s.scale)
			n += rows[i]
		}
	}
	s.mean = sum / n
	var sq float64
	switch {
	case rows != nil:
		for i, v := range x {
			c := v/s.scale - s.mean
			sq += rows[i] * c * c
		}
	case s.scale != 1:
		for _, v := range x {
			c := v/s.scale - s.mean
			sq += c * c
		}
	default:
		for _, v := range x {
			c := v - s.mean
			sq += c * c
		}
	}
	if std != StdPopulation {
		n--
	}
	s.sigma = math.Sqrt(sq / n)
	return s
}

// divisor returns what centred numbers in units of s.scale are divided by.
func (o norm) divisor(s spread) float64 {
	if o.inside {
		return math.Sqrt(s.sigma*s.sigma + o.eps/s.scale/s.scale)
	}
	return s.sigma + o.eps/s.scale
}

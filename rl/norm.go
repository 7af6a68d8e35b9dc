package rl

import "math"

// Norm says how an estimator normalises numbers that it compares with each other, such as the scores of a group: to
// (x - mean)/(std + Eps). The estimator says which numbers these are and what the zero value means to it. Equal numbers
// give exact zeros unless Std is [StdOff].
type Norm struct {
	Std Std      // zero means the choice of the estimator
	Eps *float64 // added to the standard deviation, >= 0; nil means the choice of the estimator
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

// Singleton says what the advantage of a group of one is.
type Singleton uint8

// The policies for a group of one.
const (
	SingletonZero  Singleton = iota // 0: there is nothing to compare with
	SingletonRaw                    // the number itself, as if the mean were 0 and the deviation 1
	SingletonError                  // an error
)

// norm is a Norm with its defaults filled in.
type norm struct {
	std       Std // not StdDefault
	eps       float64
	floor     float64
	singleton Singleton
}

// fill fills in the defaults, of which Std and Eps are the estimator's. The error names the field as that of options.
func (o Norm) fill(options string, std Std, eps float64) (norm, error) {
	n := norm{o.Std, orDefault(o.Eps, eps), orDefault(o.StdFloor, 1e-8), o.Singleton}
	if o.Std == StdDefault {
		n.std = std
	}
	for _, err := range [...]error{
		known(options, "Std", uint8(o.Std), 5),
		inRange(options, "Eps", n.eps, 0, math.Inf(1)),
		inRange(options, "StdFloor", n.floor, 0, math.Inf(1)),
		known(options, "Singleton", uint8(o.Singleton), 3),
	} {
		if err != nil {
			return norm{}, err
		}
	}
	return n, nil
}

// refuses reports whether n numbers are a group of one that is an error.
func (o norm) refuses(n int) bool { return n == 1 && o.singleton == SingletonError && o.std != StdOff }

// apply replaces the finite numbers x by (x - mean)/(std + eps). Where the deviation is not above floor*max(1, max|x|)
// it is rounding residue, and x is centred only; equal numbers give exact zeros. flat reports either of these two. A
// single number follows the singleton policy, whose error is the caller's to give. StdOff does nothing and reports
// false. The variance takes two passes, since E[x²]-E[x]² can be negative. The result is finite unless numbers beyond
// 1e307 are centred only.
func (o norm) apply(x []float64) (flat bool) {
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
	n := float64(len(x))
	lo, hi, sum := x[0], x[0], 0.0
	for _, v := range x {
		if v < lo {
			lo = v
		} else if v > hi {
			hi = v
		}
		sum += v
	}
	if lo == hi {
		clear(x)
		return true
	}
	largest := max(-lo, hi)
	scale := 1.0
	if largest > 1e150 { // squares and sums of such numbers overflow: take them relative to the largest
		scale = largest
		sum = 0
		for i, v := range x {
			x[i] = v / scale
			sum += x[i]
		}
	}
	mean := sum / n
	var sq float64
	for i, v := range x {
		x[i] = v - mean
		sq += x[i] * x[i]
	}
	if o.std != StdPopulation {
		n--
	}
	sigma := math.Sqrt(sq / n)
	flat = sigma <= o.floor*max(1, largest/scale)
	if flat || o.std == StdNone {
		for i := range x {
			x[i] *= scale
		}
		return flat
	}
	divisor := sigma + o.eps/scale
	for i := range x {
		x[i] /= divisor
	}
	return false
}

package rltest

import (
	"fmt"
	"math"
	"slices"
)

// Gradient compares the gradient that f writes with finite differences of its value at x. It returns the largest relative
// error |g - d|/max(1, |g|, |d|) and the component that has it, the first of several; 0 and -1 where x is empty.
//
// F returns its value at x and writes all of the gradient to grad, which has the length of x and is never nil. It may be a
// closure over everything that is held fixed. It is called once, and up to 40 times for each component.
//
// The differences are central, of steps from max(1, |x_i|)/64 down by halves, extrapolated to step 0 (Ridders 1982), and end
// where three estimates agree; for a smooth function they are exact to about 1e-10 of the larger of 1 and |f|. Steps at
// which f gives an error or a value that is not finite, as on the far side of the edge of its domain, are left out. Where
// the central differences contradict the gradient, those to either side are tried too, and the best of the three counts: at
// a kink, or close to one, the derivative of either side is right, and a number between them is not. Which one f should
// return on the kink itself is for a test of one's own. A bump that is narrower than the first step and after which f goes
// on as before may not be seen.
//
// Errors: f's own at x; a value or a component of the gradient that is not finite, such as one that f has not written or has
// added to; f changing x; and no usable step. worst is then 0, and at the component or -1. f must be deterministic. x is
// not changed.
func Gradient(f func(grad, x []float64) (float64, error), x []float64) (worst float64, at int, err error) {
	n := len(x)
	point := slices.Clone(x)
	grad := make([]float64, n)
	for i := range grad {
		grad[i] = math.NaN() // so that what f does not write is seen
	}
	value, err := f(grad, point)
	if err != nil {
		return 0, -1, fmt.Errorf("rltest: the function at x: %w", err)
	}
	if !isFinite(value) {
		return 0, -1, fmt.Errorf("rltest: the value at x is %v, want a finite number", value)
	}
	for i, g := range grad {
		if !isFinite(g) {
			return 0, i, fmt.Errorf("rltest: component %d of the gradient is %v, want a finite number that does not depend on what was there before", i, g)
		}
		if !bits(point[i], x[i]) {
			return 0, i, fmt.Errorf("rltest: the function changed x[%d] from %v to %v", i, x[i], point[i])
		}
	}
	d := differences{f: f, x: point, scratch: make([]float64, n), value: value}
	at = -1
	for i, g := range grad {
		e, err := d.check(i, g)
		if err != nil {
			return 0, i, err
		}
		if at < 0 || e > worst {
			worst, at = e, i
		}
	}
	return worst, at, nil
}

func isFinite(x float64) bool { return x-x == 0 }

// steps is the number of steps: the last one is 2^-25 of the larger of 1 and |x_i|, where rounding costs as many digits as it
// leaves, so that a kink must be closer than that to be taken for one at x itself.
const steps = 20

const (
	agreement = 1e-11 // of estimates ends the extrapolation
	bend      = 1e-3  // between the slopes of both sides makes a kink
)

// differences takes differences of f at x.
type differences struct {
	f          func(grad, x []float64) (float64, error)
	x, scratch []float64
	value      float64 // at x
	err        error   // why a step was left out
}

// check returns the relative error of g, the derivative by x[i].
func (d *differences) check(i int, g float64) (float64, error) {
	var left, right, centre extrapolation
	centre.order, left.order, right.order = 2, 1, 1
	x := d.x[i]
	h := max(1, math.Abs(x)) / 64
	for range steps {
		up, down := x+h, x-h // with rounding: the differences divide by what the steps really are
		h /= 2
		above, okAbove := d.at(i, up)
		below, okBelow := d.at(i, down)
		if okAbove {
			right.add((above - d.value) / (up - x))
		}
		if okBelow {
			left.add((d.value - below) / (x - down))
		}
		if okAbove && okBelow {
			centre.add((above - below) / (up - down))
		}
		if centre.within(agreement) && relative(g, centre.best) <= 1e-9 && relative(left.best, right.best) <= bend {
			break
		}
	}
	worst := math.Inf(1)
	for _, e := range [...]*extrapolation{&centre, &left, &right} {
		if e.within(math.Inf(1)) {
			worst = min(worst, relative(g, e.best))
		}
	}
	if left.within(1e-6) && right.within(1e-6) && relative(left.best, right.best) > bend {
		worst = min(relative(g, left.best), relative(g, right.best)) // the centre is the mean of two slopes
	}
	if math.IsInf(worst, 1) {
		if d.err == nil {
			d.err = fmt.Errorf("x[%d] is not finite, or too large to step from", i)
		}
		return 0, fmt.Errorf("rltest: near x[%d] = %v there are no two steps at which the function has a finite value: %w", i, x, d.err)
	}
	return worst, nil
}

// at returns the value of the function where x[i] is replaced.
func (d *differences) at(i int, xi float64) (value float64, ok bool) {
	keep := d.x[i]
	d.x[i] = xi
	value, err := d.f(d.scratch, d.x)
	d.x[i] = keep
	switch {
	case err != nil:
		d.err = err
	case !isFinite(value):
		d.err = fmt.Errorf("the value is %v", value)
	default:
		return value, true
	}
	return 0, false
}

// relative returns the difference of two derivatives relative to the larger, or to 1.
func relative(g, d float64) float64 {
	return math.Abs(g-d) / max(1, math.Abs(g), math.Abs(d))
}

// An extrapolation is Neville's tableau of numbers at steps that are halved, to step 0.
type extrapolation struct {
	order int       // powers of the step in the error are multiples of this
	row   []float64 // the last row of the tableau
	best  float64   // the estimate with the smallest fault
	fault float64   // how much it differs from the two that it comes from
}

// within reports whether there are two steps and the best estimate is that good.
func (e *extrapolation) within(tolerance float64) bool {
	return len(e.row) > 1 && e.fault <= tolerance*max(1, math.Abs(e.best))
}

// add adds the number of the next step.
func (e *extrapolation) add(number float64) {
	if len(e.row) == 0 {
		e.row, e.best, e.fault = append(e.row, number), number, math.Inf(1)
		return
	}
	power := 1.0
	above := e.row[0]
	e.row[0] = number
	for k := 1; ; k++ {
		power *= float64(int(1) << e.order)
		next := e.row[k-1] + (e.row[k-1]-above)/(power-1)
		if fault := max(math.Abs(next-e.row[k-1]), math.Abs(next-above)); fault < e.fault {
			e.best, e.fault = next, fault
		}
		if k == len(e.row) {
			e.row = append(e.row, next)
			return
		}
		above, e.row[k] = e.row[k], next
	}
}

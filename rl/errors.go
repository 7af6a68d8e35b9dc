package rl

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Faults that a caller may want to tell apart with errors.Is. Where the fault sits in a batch they come wrapped in a
// [FieldError].
var (
	ErrOpenTrajectory = errors.New("rl: a trajectory must end on its last turn and on no other")
	ErrNoFinalValue   = errors.New("rl: a truncated trajectory has no final value to continue from")
	ErrNonFinite      = errors.New("rl: not a finite number")
	ErrShape          = errors.New("rl: slices differ in length")
)

// A FieldError reports one unusable field of a batch of trajectories, or of the numbers given to a loss.
type FieldError struct {
	Trajectory int    // position in the batch; -1 if the fault is not in a trajectory
	Turn       int    // position in Trajectory.Turns; -1 if the fault is not in a turn
	Field      string // offending field, with its index where it is an element of a slice
	Got        string // value found
	Want       string // condition broken
	Err        error  // ErrOpenTrajectory, ErrNoFinalValue, ErrNonFinite or ErrShape where one of them applies, else nil
}

// Error names the trajectory, the turn, the field, the value and the rule.
func (e *FieldError) Error() string {
	var b strings.Builder
	b.WriteString("rl: ")
	if e.Trajectory >= 0 {
		fmt.Fprintf(&b, "trajectory %d", e.Trajectory)
		if e.Turn >= 0 {
			fmt.Fprintf(&b, ", turn %d", e.Turn)
		}
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s is %s, want %s", e.Field, e.Got, e.Want)
	return b.String()
}

// Unwrap returns e.Err.
func (e *FieldError) Unwrap() error { return e.Err }

// finite reports whether x is neither NaN nor infinite: only then does it cancel itself.
func finite(x float64) bool { return x-x == 0 }

// nonFinite returns the error for the value x of a field.
func nonFinite(trajectory, turn int, field string, x float64) error {
	return &FieldError{trajectory, turn, field, fmt.Sprint(x), "a finite number", ErrNonFinite}
}

// at names element i of a slice.
func at(slice string, i int) string { return fmt.Sprintf("%s[%d]", slice, i) }

// orDefault reads an option whose nil means def.
func orDefault(p *float64, def float64) float64 {
	if p == nil {
		return def
	}
	return *p
}

// inRange returns an error unless the option has lo <= x <= hi and x is finite.
func inRange(options, field string, x, lo, hi float64) error {
	if finite(x) && x >= lo && x <= hi {
		return nil
	}
	if math.IsInf(hi, 1) {
		return fmt.Errorf("rl: %s.%s is %v, want a finite number >= %v", options, field, x, lo)
	}
	return fmt.Errorf("rl: %s.%s is %v, want a number in [%v, %v]", options, field, x, lo, hi)
}

// known returns an error unless the enumerated option is one of its n values.
func known(options, field string, x uint8, n int) error {
	if int(x) < n {
		return nil
	}
	return fmt.Errorf("rl: %s.%s is %d, want a named value below %d", options, field, x, n)
}

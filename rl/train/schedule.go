package train

import (
	"errors"
	"fmt"
	"math"
)

// A ScheduleKind says how the learning rate goes on after the warm-up of a [Schedule].
type ScheduleKind uint8

// The kinds of schedules.
const (
	Constant ScheduleKind = iota // stays at 1
	Linear                       // falls along a line to Floor at Steps
	Cosine                       // falls along half a cosine to Floor at Steps (arXiv:1608.03983, without restarts)
)

var scheduleNames = [...]string{Constant: "constant", Linear: "linear", Cosine: "cosine"}

// String returns "constant", "linear" or "cosine", and "ScheduleKind(n)" for a value that is none of them.
func (k ScheduleKind) String() string {
	if int(k) < len(scheduleNames) {
		return scheduleNames[k]
	}
	return fmt.Sprintf("ScheduleKind(%d)", uint8(k))
}

// MarshalText returns the name that [ScheduleKind.String] gives, or an error for a value without a name.
func (k ScheduleKind) MarshalText() ([]byte, error) {
	if int(k) >= len(scheduleNames) {
		return nil, fmt.Errorf("train: %v has no name, want one of %q", k, scheduleNames)
	}
	return []byte(scheduleNames[k]), nil
}

// UnmarshalText accepts exactly the names of [ScheduleKind.String].
func (k *ScheduleKind) UnmarshalText(text []byte) error {
	for i, name := range scheduleNames {
		if string(text) == name {
			*k = ScheduleKind(i)
			return nil
		}
	}
	return fmt.Errorf("train: a schedule named %.50q, want one of %q", text, scheduleNames)
}

// A Schedule is the factor of the learning rate at each step of an optimiser, the same for all parameters. The zero Schedule warms up for 10
// steps and then stays at 1.
type Schedule struct {
	Kind   ScheduleKind
	Warmup *int     // steps W of the warm-up, >= 0; nil means 10
	Steps  int      // step S of the last fall, > W; needed by Linear and Cosine, not read by Constant
	Floor  *float64 // the factor f from step S on, in [0, 1]; nil means 0.1; not read by Constant
}

// Factor returns the factor at a step, which counts from 1; smaller ones count as 1. It is in [0, 1]:
//
//	step/W                                  up to step W
//	1                                       after that, Constant
//	f + (1-f) (S-step)/(S-W)                Linear
//	f + (1-f) (1+cos(pi (step-W)/(S-W)))/2  Cosine
//	f                                       Linear and Cosine from step S on
//
// The error for a Schedule with a field out of range is that of [New]; Factor is then of no use, and does not panic. Defaults are ours.
func (s Schedule) Factor(step int) float64 {
	step = max(step, 1)
	warmup := s.warmup()
	if step <= warmup {
		return float64(step) / float64(warmup)
	}
	if s.Kind == Constant {
		return 1
	}
	floor := orDefault(s.Floor, 0.1)
	if step >= s.Steps {
		return floor
	}
	// The part of the fall that is over; no difference of two ints, which could overflow in a Schedule that was not checked.
	w := float64(warmup)
	done := (float64(step) - w) / (float64(s.Steps) - w)
	left := 1 - done
	if s.Kind == Cosine {
		left = (1 + math.Cos(math.Pi*done)) / 2
	}
	return floor + (1-floor)*left
}

func (s Schedule) warmup() int {
	if s.Warmup == nil {
		return 10
	}
	return *s.Warmup
}

// check reports all fields out of range.
func (s Schedule) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("train: "+format, args...)) }
	if int(s.Kind) >= len(scheduleNames) {
		fault("Schedule.Kind is %d, want Constant, Linear or Cosine", uint8(s.Kind))
	}
	warmup := s.warmup()
	if warmup < 0 {
		fault("Schedule.Warmup is %d, want at least 0", warmup)
	}
	if s.Kind == Constant {
		return errors.Join(faults...)
	}
	if s.Steps <= warmup {
		fault("Schedule.Steps is %d, want more than Warmup, %d, for the %v schedule", s.Steps, warmup, s.Kind)
	}
	if f := orDefault(s.Floor, 0.1); !(f >= 0 && f <= 1) {
		fault("Schedule.Floor is %v, want a number in [0, 1]", f)
	}
	return errors.Join(faults...)
}

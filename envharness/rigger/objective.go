package rigger

import (
	"fmt"
	"math"
	"strconv"

	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/internal/stat"
)

// An Objective says what a reshaped task is good for. [Difficulty] is the default; [RedTeam], [Learnability] and [Regret] are others.
//
// It may have further methods, which one that embeds another has from there:
//
//	Check() error         // it makes no sense, for example a bound is out of range: Rig fails at once
//	UsesReference() bool  // whether Place or Score looks at Measure.Reference: without it Problem.NewReference is never played
//	SeeksFailures() bool  // whether items are marked in Item.RedTeam
type Objective interface {
	// Place says where a candidate stands. It must depend on the measure alone.
	Place(m Measure) Placement
	// Score orders accepted candidates, the larger the better.
	Score(m Measure) float64
	// String is the objective in words, for designers and records.
	String() string
}

// A Measure is what is known of a candidate: counts of rollouts, those of infrastructure left out.
type Measure struct {
	Confirmed bool    // the counts are those of a confirmation, not of a screening
	Level     float64 // of the interval that a confirmation is to use: 1 - alpha/attempts; outside (0, 1) it means 0.99
	// Direction is Harder or Easier. It is zero where the unmodified task itself is placed, to find out; the counts are the baseline then.
	Direction components.Direction
	Baseline  Tally // the policy on the unmodified task
	Counts    Tally // the policy behind the candidate
	Reference Tally // the reference policy behind the candidate; zero without one, or if the objective does not say that it uses it
}

// level returns the level, or its default.
func (m Measure) level() float64 {
	if m.Level > 0 && m.Level < 1 {
		return m.Level
	}
	return 1 - defaultAlpha/defaultAttempts
}

// seeksFailures reports whether the objective says so of itself.
func seeksFailures(o Objective) bool {
	f, ok := o.(interface{ SeeksFailures() bool })
	return ok && f.SeeksFailures()
}

// A Placement is where a candidate stands.
type Placement int8

// The placements.
const (
	TooHard Placement = iota - 1
	Within
	TooEasy
)

// String returns "too hard", "within" or "too easy".
func (p Placement) String() string {
	switch p {
	case TooHard:
		return "too hard"
	case Within:
		return "within"
	case TooEasy:
		return "too easy"
	}
	return "placement " + strconv.Itoa(int(p))
}

// A Tally counts rollouts that could be judged.
type Tally struct {
	Pass  int `json:"pass"`
	Valid int `json:"valid"`
}

// Rate returns the share that passed, in [0, 1], and NaN without any.
func (t Tally) Rate() float64 {
	if t.Valid < 1 {
		return math.NaN()
	}
	return float64(t.Pass) / float64(t.Valid)
}

// Interval returns Wilson's interval for the success rate at a level in (0, 1), which rests on the rollouts being independent and of one
// probability. Without any rollout, and with counts that are none, it is an error.
func (t Tally) Interval(level float64) (Band, error) {
	interval, err := stat.Wilson(t.Pass, t.Valid, level)
	if err != nil {
		return Band{}, fmt.Errorf("rigger: %d of %d passed: %w", t.Pass, t.Valid, err)
	}
	return Band(interval), nil
}

// newcombe is the lower end of the interval for the rate of high less that of low, made of the two Wilson intervals (Newcombe 1998, method
// 10). It is -Inf without rollouts of both.
func newcombe(high, low Tally, level float64) float64 {
	h, err := high.Interval(level)
	if err != nil {
		return math.Inf(-1)
	}
	l, err := low.Interval(level)
	if err != nil {
		return math.Inf(-1)
	}
	return high.Rate() - low.Rate() - math.Hypot(high.Rate()-h.Lo, l.Hi-low.Rate())
}

// Learnability returns x(n-x)/(n(n-1)) for x passed out of n, the estimate of p(1-p) without bias, in [0, 0.5]; with fewer than two it is
// 0. See [Learnability].
func (t Tally) Learnability() float64 {
	if t.Valid < 2 {
		return 0
	}
	x, n := float64(t.Pass), float64(t.Valid)
	return x * (n - x) / (n * (n - 1))
}

// String returns the counts as "2 of 5".
func (t Tally) String() string { return fmt.Sprintf("%d of %d", t.Pass, t.Valid) }

// check reports a band that is none.
func (b Band) check(name string) error {
	if !(b.Lo >= 0 && b.Lo <= b.Hi && b.Hi <= 1) {
		return fmt.Errorf("rigger: %s [%v, %v] is not in [0, 1]", name, b.Lo, b.Hi)
	}
	return nil
}

// or returns the band, or another one for the zero value.
func (b Band) or(fallback Band) Band {
	if b == (Band{}) {
		return fallback
	}
	return b
}

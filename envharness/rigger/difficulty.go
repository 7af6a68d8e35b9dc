package rigger

import (
	"errors"
	"fmt"
	"math"
)

// Difficulty asks for a success rate in a band. A screening must come out in one band, as the paper has it; a confirmation in another,
// which is as wide as so few rollouts need, with the whole interval for the rate inside a third (ours), so that what is accepted is neither
// dead nor trivial at that level.
//
// With the defaults 2 or 3 of 5 pass a screening, and 4 to 12 of 16 a confirmation of a task that has 5 attempts.
type Difficulty struct {
	Screen  Band // of rates in a screening; the zero Band means [0.4, 0.6]
	Confirm Band // of rates in a confirmation; the zero Band means [0.25, 0.75]
	Inside  Band // in which Wilson's interval of a confirmation must lie, bounds included; the zero Band means [0.05, 0.95]
}

// defaults fills in the bands: the screening's is the paper's, the others are ours.
func (d Difficulty) defaults() Difficulty {
	return Difficulty{d.Screen.or(Band{.4, .6}), d.Confirm.or(Band{.25, .75}), d.Inside.or(Band{.05, .95})}
}

// Check reports bands that are none.
func (d Difficulty) Check() error {
	d = d.defaults()
	return errors.Join(d.Screen.check("Difficulty.Screen"), d.Confirm.check("Difficulty.Confirm"), d.Inside.check("Difficulty.Inside"))
}

// Place compares the rate with the band. Without rollouts it is TooHard.
func (d Difficulty) Place(m Measure) Placement {
	d = d.defaults()
	band := d.Screen
	if m.Confirmed {
		band = d.Confirm
	}
	rate := m.Counts.Rate()
	switch {
	case m.Counts.Valid < 1, rate < band.Lo-bandTolerance:
		return TooHard
	case rate > band.Hi+bandTolerance:
		return TooEasy
	case !m.Confirmed:
		return Within
	}
	interval, err := m.Counts.Interval(m.level())
	low, high := err != nil || interval.Lo < d.Inside.Lo-bandTolerance, err != nil || interval.Hi > d.Inside.Hi+bandTolerance
	switch {
	case !low && !high:
		return Within
	case low && high && rate > .5, !low:
		return TooEasy
	}
	return TooHard
}

// Score is max(0, 1 - |rate - centre| / half the width) of the screening band: 1 in its middle, 0 at its bounds and beyond.
func (d Difficulty) Score(m Measure) float64 {
	band := d.defaults().Screen
	centre, half := (band.Lo+band.Hi)/2, (band.Hi-band.Lo)/2
	off := math.Abs(m.Counts.Rate() - centre)
	switch {
	case m.Counts.Valid < 1:
		return 0
	case off <= bandTolerance:
		return 1
	case half <= bandTolerance:
		return 0
	}
	return max(0, 1-off/half)
}

// String implements [Objective].
func (d Difficulty) String() string {
	d = d.defaults()
	return fmt.Sprintf("a success rate from %v to %v; in a confirmation from %v to %v, with its interval inside %v to %v",
		d.Screen.Lo, d.Screen.Hi, d.Confirm.Lo, d.Confirm.Hi, d.Inside.Lo, d.Inside.Hi)
}

package rigger

import (
	"fmt"

	"github.com/throughline-go/throughline/envharness/components"
)

// directionTolerance keeps equal rates equal.
const directionTolerance = 1e-9

// accepts reports whether the counts would be accepted: they are within the objective, and those of a confirmation have not moved the
// policy the wrong way.
func (s *settings) accepts(m Measure) bool {
	if s.Objective.Place(m) != Within {
		return false
	}
	if !m.Confirmed {
		return true
	}
	rate, before := m.Counts.Rate(), m.Baseline.Rate()
	if m.Direction == components.Easier {
		return rate >= before-directionTolerance
	}
	return rate <= before+directionTolerance
}

// measure returns a measure without counts.
func (s *settings) measure(confirmed bool, d components.Direction, baseline Tally) Measure {
	return Measure{Confirmed: confirmed, Level: s.level(), Direction: d, Baseline: baseline}
}

// reaches reports whether any counts of a screening, and any of a confirmation, would be accepted.
func (s *settings) reaches(d components.Direction, baseline Tally) (screen, confirm bool) {
	screen = s.some(s.measure(false, d, baseline), s.Screen)
	confirm = s.Preset != Gated || s.some(s.measure(true, d, baseline), s.Confirm)
	return screen, confirm
}

// some reports whether any count of passes out of n would be accepted, with any outcome of the reference if there is one.
func (s *settings) some(m Measure, n int) bool {
	references := []Tally{{}}
	if s.reference {
		references = references[:0]
		for x := range n + 1 {
			references = append(references, Tally{x, n})
		}
	}
	for _, m.Reference = range references {
		for x := range n + 1 {
			m.Counts = Tally{x, n}
			if s.accepts(m) {
				return true
			}
		}
	}
	return false
}

// mostPlaced is how often an objective may be asked to see that nothing would be accepted. Only with a reference and hundreds of rollouts
// is that not enough.
const mostPlaced = 1 << 23

// checkObjective reports an objective that makes no sense, and one that no outcome of a screening or a confirmation could meet, whatever the
// baseline is; where there are too many outcomes the tasks find that out, each for its own baseline. It finds out whether the objective uses
// the reference policy of the problem.
func (s *settings) checkObjective(p Problem) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("rigger: objective: panic: %v", p)
		}
	}()
	if c, ok := s.Objective.(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return err
		}
	}
	if s.Preset == Unchecked {
		return nil
	}
	if u, ok := s.Objective.(interface{ UsesReference() bool }); ok && u.UsesReference() {
		if p.NewReference == nil {
			return fmt.Errorf("rigger: Problem.NewReference is nil, and the objective uses it: %v", s.Objective)
		}
		s.reference = true
	}
	outcomes := func(n int) int { return n + 1 }
	if s.reference {
		outcomes = func(n int) int { return (n + 1) * (n + 1) }
	}
	if (s.Baseline+1)*2*(outcomes(s.Screen)+outcomes(s.Confirm)) > mostPlaced {
		return nil
	}
	var screen, confirm bool
	for x := range s.Baseline + 1 {
		for _, d := range []components.Direction{components.Harder, components.Easier} {
			a, b := s.reaches(d, Tally{x, s.Baseline})
			screen, confirm = screen || a, confirm || b
			if a && b {
				return nil
			}
		}
	}
	switch {
	case !screen:
		return fmt.Errorf("%w: %d rollouts of a screening, objective: %v", ErrBandUnreachable, s.Screen, s.Objective)
	case !confirm:
		return fmt.Errorf("%w: %d rollouts of a confirmation, objective: %v", ErrBandUnreachable, s.Confirm, s.Objective)
	}
	return fmt.Errorf("%w: screening and confirmation, objective: %v", ErrBandUnreachable, s.Objective)
}

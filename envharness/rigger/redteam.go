package rigger

import "fmt"

// RedTeam asks for failures of a task that can be solved: it finds what a policy cannot cope with. It is ours.
//
// A screening must fail at the least rate. A confirmation must as well, and be no lucky streak: the lower end of Wilson's interval for the
// failure rate, at the level of the attempt, must be above the failure rate of the baseline. So with 16 rollouts and 5 attempts at least 8
// must fail, and at least 12 where the baseline passed 3 of 5. That the task can still be solved is for the oracle step of the gate, which no
// harder candidate passes without a proof.
//
// Such tasks are marked in [Item].RedTeam, and training leaves them out unless told otherwise. What was found is no certificate that there is
// nothing else.
type RedTeam struct {
	Least *float64 // failure rate, in (0, 1]; nil means 0.5
}

func (r RedTeam) least() float64 {
	if r.Least == nil {
		return .5
	}
	return *r.Least
}

// Check reports a rate out of range.
func (r RedTeam) Check() error {
	if l := r.least(); !(l > 0 && l <= 1) {
		return fmt.Errorf("rigger: RedTeam.Least is %v, want above 0 and at most 1", l)
	}
	return nil
}

// Place is Within or TooEasy; without rollouts it is TooEasy.
func (r RedTeam) Place(m Measure) Placement {
	if m.Counts.Valid < 1 || 1-m.Counts.Rate() < r.least()-bandTolerance {
		return TooEasy
	}
	if !m.Confirmed {
		return Within
	}
	fails := Tally{m.Counts.Valid - m.Counts.Pass, m.Counts.Valid}
	interval, err := fails.Interval(m.level())
	if err != nil || m.Baseline.Valid < 1 || !(interval.Lo > 1-m.Baseline.Rate()+bandTolerance) {
		return TooEasy
	}
	return Within
}

// Score is the failure rate.
func (r RedTeam) Score(m Measure) float64 {
	if m.Counts.Valid < 1 {
		return 0
	}
	return 1 - m.Counts.Rate()
}

// String implements [Objective].
func (r RedTeam) String() string {
	return fmt.Sprintf("failures of a task that can be solved, in at least %v of the episodes and more than without the change", r.least())
}

// isRedTeam finds a RedTeam, given as a value or by its address.
func isRedTeam(o Objective) bool {
	switch o.(type) {
	case RedTeam, *RedTeam:
		return true
	}
	return false
}

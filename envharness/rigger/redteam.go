package rigger

import "fmt"

// RedTeam asks for failures of a task that can be solved: it finds what a policy cannot cope with. It is ours.
//
// A screening must fail at the least rate. A confirmation must as well, and be no lucky streak: the lower end of Newcombe's interval for the
// failure rate less that of the baseline, as of [Regret], must be above 0 at the level of the attempt. So with 16 rollouts and 5 attempts at
// least 11 must fail where the baseline passed 5 of 5, 13 where it passed 4, and 15 where it passed 3; a longer baseline makes that less, 8
// where it passed 16 of 16. That the task can still be solved is for the oracle step of the gate, which no
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
	if !(newcombe(m.Baseline, m.Counts, m.level()) > 0) {
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

// SeeksFailures returns true: [Rig] marks what it accepts.
func (RedTeam) SeeksFailures() bool { return true }

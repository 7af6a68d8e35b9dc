package rigger

import "github.com/throughline-go/throughline/envharness/components"

// uplift is the objective of the released configuration of the paper for ALFWorld: an easier task, on which the policy is better by a fifth.
type uplift struct{}

const (
	upliftLeast = .2
	upliftSkip  = .8 // a policy this good is left alone
)

// Place compares the rate with that of the baseline.
func (uplift) Place(m Measure) Placement {
	good := m.Counts.Rate() >= m.Baseline.Rate()+upliftLeast-bandTolerance
	if m.Direction == components.Direction(0) {
		good = m.Counts.Rate() >= upliftSkip-bandTolerance
	}
	if good {
		return Within
	}
	return TooHard
}

// Score is the gain over the baseline.
func (uplift) Score(m Measure) float64 {
	if m.Counts.Valid < 1 || m.Baseline.Valid < 1 {
		return 0
	}
	return m.Counts.Rate() - m.Baseline.Rate()
}

// String implements [Objective].
func (uplift) String() string {
	return "a success rate that is at least 0.2 above that of the unmodified task"
}

package rigger

import "fmt"

// Learnability asks for a task that a policy passes now and then: p(1-p), the variance of its success, is at least Tau, which is where there
// is most to learn from ("No Regrets", arXiv:2408.15099). The default is met by rates from 0.2 to 0.8.
//
// The rule uses the plug-in rate. A confirmation must also have both ends of Wilson's interval inside (0, 1), ends excluded. The score is
// the estimate without bias, [Tally.Learnability].
type Learnability struct {
	Tau *float64 // least p(1-p), in (0, 0.25]; nil means 0.16 (ours)
}

func (l Learnability) tau() float64 {
	if l.Tau == nil {
		return .16
	}
	return *l.Tau
}

// Check reports a threshold out of range.
func (l Learnability) Check() error {
	if tau := l.tau(); !(tau > 0 && tau <= .25) {
		return fmt.Errorf("rigger: Learnability.Tau is %v, want above 0 and at most 0.25", tau)
	}
	return nil
}

// Place compares p(1-p) with Tau. Below it, a rate above one half is TooEasy and any other TooHard.
func (l Learnability) Place(m Measure) Placement {
	rate := m.Counts.Rate()
	learnable := m.Counts.Valid > 0 && rate*(1-rate) >= l.tau()-bandTolerance
	if learnable && m.Confirmed {
		interval, err := m.Counts.Interval(m.level())
		learnable = err == nil && interval.Lo > 0 && interval.Hi < 1
	}
	switch {
	case learnable:
		return Within
	case rate > .5:
		return TooEasy
	}
	return TooHard
}

// Score is [Tally.Learnability].
func (l Learnability) Score(m Measure) float64 { return m.Counts.Learnability() }

// String implements [Objective].
func (l Learnability) String() string {
	return fmt.Sprintf("a success rate p with p(1-p) of at least %v", l.tau())
}

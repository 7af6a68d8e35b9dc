package rigger

import "fmt"

// Regret asks for a task that a reference policy passes more often than the policy does: it can be done, and there is something to learn.
// It needs [Problem].NewReference.
//
// Regret is the mean of the reference less that of the policy, over equally many rollouts. PAIRED (arXiv:2012.02096) takes the best rollout
// of the antagonist instead; where rollouts pass or fail the best of sixteen is 1 as soon as one of them was lucky, so the mean is taken
// here (ours). A confirmation must also have the lower end of Newcombe's interval for the difference of the rates above 0, which is made of
// the two Wilson intervals (1998, method 10), at the level of the attempt.
type Regret struct {
	Least *float64 // in (0, 1]; nil means 0.2 (ours)
}

func (r Regret) least() float64 {
	if r.Least == nil {
		return .2
	}
	return *r.Least
}

// Check reports a difference out of range.
func (r Regret) Check() error {
	if l := r.least(); !(l > 0 && l <= 1) {
		return fmt.Errorf("rigger: Regret.Least is %v, want above 0 and at most 1", l)
	}
	return nil
}

// Place compares the regret with the least. Below it, a task that the reference fails more often than not is TooHard, and any other
// TooEasy. Without rollouts of both it is TooHard.
func (r Regret) Place(m Measure) Placement {
	if m.Counts.Valid < 1 || m.Reference.Valid < 1 {
		return TooHard
	}
	within := r.Score(m) >= r.least()-bandTolerance
	if within && m.Confirmed {
		within = newcombe(m.Reference, m.Counts, m.level()) > 0
	}
	switch {
	case within:
		return Within
	case m.Reference.Rate() < .5:
		return TooHard
	}
	return TooEasy
}

// Score is the regret, in [-1, 1]; 0 without rollouts of both.
func (r Regret) Score(m Measure) float64 {
	if m.Counts.Valid < 1 || m.Reference.Valid < 1 {
		return 0
	}
	return m.Reference.Rate() - m.Counts.Rate()
}

// String implements [Objective].
func (r Regret) String() string {
	return fmt.Sprintf("a success rate of a reference policy that is at least %v above that of the policy", r.least())
}

// UsesReference returns true: [Rig] plays the reference policy.
func (Regret) UsesReference() bool { return true }

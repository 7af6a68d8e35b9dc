package baseline

import (
	"fmt"
	"math"

	"github.com/throughline-go/throughline/envharness/rigger"
)

// NearHalf is the objective of GenEnv (arXiv:2512.19682): a task is of use if the policy passes about half of the time.
//
// Text and code of GenEnv differ. By the text what is kept has a success rate p with |p - 0.5| <= 0.1. The code sorts by p and drops the
// easiest and the hardest tenth, wherever they lie. This is the text, in bounds that are met up to 1e-9. The score is the reward of both,
// exp(-Beta (p-0.5)^2).
//
// There is no confirmation in GenEnv: counts of a confirmation are placed as those of a screening are.
type NearHalf struct {
	Tolerance *float64 // in [0, 0.5]; nil means 0.1
	Beta      *float64 // > 0; nil means 2, as in the code
}

// Check reports a field out of range.
func (n NearHalf) Check() error {
	if t := n.tolerance(); !(t >= 0 && t <= 0.5) {
		return fmt.Errorf("baseline: NearHalf: Tolerance %v, want 0 to 0.5", t)
	}
	if b := n.beta(); !(b > 0) || math.IsInf(b, 1) {
		return fmt.Errorf("baseline: NearHalf: Beta %v, want a number > 0", b)
	}
	return nil
}

func (n NearHalf) tolerance() float64 {
	if n.Tolerance == nil {
		return 0.1
	}
	return *n.Tolerance
}

func (n NearHalf) beta() float64 {
	if n.Beta == nil {
		return 2
	}
	return *n.Beta
}

// Place implements [rigger.Objective]. Without a rollout a task counts as too hard.
func (n NearHalf) Place(m rigger.Measure) rigger.Placement {
	p := m.Counts.Rate()
	switch {
	case math.Abs(p-0.5) <= n.tolerance()+1e-9:
		return rigger.Within
	case p > 0.5:
		return rigger.TooEasy
	}
	return rigger.TooHard
}

// Score implements [rigger.Objective]. It is in (0, 1], and 0 without a rollout.
func (n NearHalf) Score(m rigger.Measure) float64 {
	if m.Counts.Valid < 1 {
		return 0
	}
	p := m.Counts.Rate()
	return math.Exp(-n.beta() * (p - 0.5) * (p - 0.5))
}

// String implements [rigger.Objective].
func (n NearHalf) String() string {
	return fmt.Sprintf("a success rate within %v of one half", n.tolerance())
}

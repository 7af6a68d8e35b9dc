package rigger

import (
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// budgetShare is the share of episodes ended by a budget above which a milder candidate has to relax it.
const budgetShare = .4

// byBudget reports whether a limit on turns or tokens ended the episode, and neither the task nor the policy.
func byBudget(end envharness.EndReason) bool {
	switch end {
	case envharness.EndTruncated, envharness.EndMaxTurns, envharness.EndTokenBudget:
		return true
	}
	return strings.HasPrefix(string(end), "budget:")
}

// A ruling is what becomes of a candidate.
type ruling struct {
	decision Decision
	refine   *Refinement // of a Refine
	reason   string
}

// rule decides on a screening in which all rollouts could be judged. A candidate that nobody is known to pass is never too hard: it is
// rejected, for it may be unsolvable. Whether there is a milder or stronger one to refine it to is the designer's to know.
func (s *settings) rule(m Measure, traces []envharness.Trace, proven bool) ruling {
	place := s.Objective.Place(m)
	switch {
	case place == Within && m.Direction != components.Easier && !proven && s.Preset == Gated:
		return ruling{Reject, nil, "nobody is known to pass it"} // no harder candidate comes here unproven
	case place == Within:
		return ruling{Accept, nil, ""}
	case place == TooEasy:
		return ruling{Refine, &Refinement{Harder: true}, fmt.Sprintf("%v passed: too easy", m.Counts)}
	case m.Counts.Pass == 0 && !proven:
		return ruling{Reject, nil, fmt.Sprintf("%v passed, and nobody else is known to", m.Counts)}
	}
	ended := 0
	for i := range traces {
		if m.Counts.Pass == 0 && traces[i].Verdict.Status != envharness.Invalid && byBudget(traces[i].End) {
			ended++
		}
	}
	r := ruling{Refine, &Refinement{}, fmt.Sprintf("%v passed: too hard", m.Counts)}
	if float64(ended) > budgetShare*float64(m.Counts.Valid) {
		r.refine.RelaxBudgets = true
		r.reason += fmt.Sprintf("; %d ended by a budget", ended)
	}
	return r
}

// heed joins the ruling with the decision of a Decider: in the paper's preset that is final, behind the gate both must accept, and none is
// asked about what is rejected.
func (s *settings) heed(r ruling, decided Decision, m Measure) ruling {
	switch decided {
	case Accept:
		if s.Preset == Gated {
			return r
		}
		return ruling{Accept, nil, "the designer accepts"}
	case Refine:
		if r.decision == Refine {
			return r
		}
		// It is in its place, or hopeless by the rule: away from the nearer end.
		return ruling{Refine, &Refinement{Harder: m.Counts.Rate() > .5}, "the designer refines"}
	case Reject:
		return ruling{Reject, nil, "the designer rejects"}
	}
	return ruling{Reject, nil, fmt.Sprintf("the designer decides %.40q, which is no decision", string(decided))}
}

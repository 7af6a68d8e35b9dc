package rigger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// A confirmation is what fresh rollouts say.
type confirmation struct {
	counts    Tally
	reference Tally
	accepted  bool
	interval  *Band // of a complete one
	reason    string
	passed    []envharness.Trace // kept on request
}

// confirm plays K2 rollouts, and no more once none of the outcomes that are left would be accepted: the same decisions with fewer rollouts.
// What is accepted rests on all of them. They are played in groups as large as can be without one rollout too many: each ends at the first
// point at which the confirmation could be lost.
//
// Play is called for n slots from a number on; reference, which may be nil, for n at once.
func (s *settings) confirm(
	ctx context.Context, m Measure, keep bool, play func(ctx context.Context, from, n int) ([]envharness.Trace, error),
	reference func(ctx context.Context, n int) ([]envharness.Trace, error),
) (confirmation, error) {
	var c confirmation
	if reference != nil {
		traces, err := reference(ctx, s.Confirm)
		if err != nil {
			return c, err
		}
		if c.reference = tally(traces); c.reference.Valid < s.Confirm {
			c.reason = insufficient("the reference", c.reference, s.Confirm, traces...)
			return c, nil
		}
	}
	m.Reference = c.reference
	good := make([]bool, s.Confirm+1) // by passes
	for x := range good {
		m.Counts = Tally{x, s.Confirm}
		good[x] = s.accepts(m)
	}
	for played := 0; played < s.Confirm; {
		traces, err := play(ctx, played, untilLost(good, c.counts.Pass, s.Confirm-played))
		if err != nil {
			return c, err
		}
		got := tally(traces)
		c.counts.Pass += got.Pass
		c.counts.Valid += got.Valid
		played += len(traces)
		if keep {
			for i := range traces {
				if traces[i].Verdict.Status == envharness.Pass {
					c.passed = append(c.passed, traces[i])
				}
			}
		}
		if c.counts.Valid < played {
			c.reason = insufficient("the policy", c.counts, played, traces...)
			return c, nil
		}
		if left := s.Confirm - played; left > 0 && lost(good, c.counts.Pass, left) {
			c.reason = fmt.Sprintf("%v passed, %s: no outcome of the other %d would be accepted", c.counts, s.wanted(good), left)
			return c, nil
		}
	}
	m.Counts = c.counts
	interval, err := c.counts.Interval(m.Level)
	if err != nil {
		return c, err
	}
	c.interval = &interval
	if c.accepted = s.accepts(m); c.accepted {
		return c, nil
	}
	c.reason = fmt.Sprintf("%v passed, %s: ", c.counts, s.wanted(good))
	if place := s.Objective.Place(m); place != Within {
		c.reason += place.String()
	} else {
		c.reason += fmt.Sprintf("the baseline was %v, and %v was asked for", m.Baseline, m.Direction)
	}
	return c, nil
}

// lost reports whether none of the outcomes of the rollouts that are left is good.
func lost(good []bool, passed, left int) bool {
	return !slices.Contains(good[passed:passed+left+1], true)
}

// untilLost returns the least number of rollouts after which it could be lost, of those left.
func untilLost(good []bool, passed, left int) int {
	for n := 1; n < left; n++ {
		for x := range n + 1 {
			if lost(good, passed+x, left-n) {
				return n
			}
		}
	}
	return left
}

// wanted says how many of all rollouts are to pass, or to fail where failures are sought.
func (s *settings) wanted(good []bool) string {
	if !slices.Contains(good, true) {
		return "none of the outcomes would do"
	}
	n := len(good) - 1
	lo, hi := slices.Index(good, true), n
	for !good[hi] {
		hi--
	}
	what := "passes"
	if seeksFailures(s.Objective) {
		what, lo, hi = "failures", n-hi, n-lo
	}
	return fmt.Sprintf("where %d to %d %s of %d are wanted", lo, hi, what, n)
}

// insufficient says that infrastructure left too few rollouts to judge, and how it failed first.
func insufficient(who string, c Tally, n int, traces ...envharness.Trace) string {
	const most = 300 // characters
	s := fmt.Sprintf("infrastructure failed: %d of %d rollouts of %s could be judged", c.Valid, n, who)
	if i := slices.IndexFunc(traces, func(t envharness.Trace) bool { return t.Verdict.Status == envharness.Invalid }); i >= 0 {
		if cause := cmp.Or(traces[i].Cause, traces[i].Verdict.Reason, string(traces[i].End)); cause != "" {
			s += ": " + cut(cause, most)
		}
	}
	return s
}

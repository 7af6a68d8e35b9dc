package diagnosis

import "github.com/throughline-go/throughline/envharness"

// prematureStop is F02: Fail, ended by the policy, turns <= 0.5 of the limit, and with a plan fewer writes tried than it has. Where writes
// cannot be told all calls count. Without the last condition every wrong answer that comes fast would be one.
func prematureStop(e *episode) sign {
	n, limit := len(e.turns), e.limit()
	if !e.failed || !e.stopped || limit == 0 || 2*n > limit {
		return sign{}
	}
	var last []int
	if n > 0 {
		last = []int{n - 1}
	}
	if len(e.plan) == 0 || !e.fits {
		return e.at(last, "ended after %d of %d turns", n, limit)
	}
	tried, planned, what := 0, 0, "calls"
	if e.split {
		what = "writes"
	}
	effort := func(c *call) int {
		if e.split && c.role != writes {
			return 0
		}
		return 1
	}
	for i := range e.turns {
		if c := e.callOf(i); c != nil {
			tried += effort(c)
		}
	}
	for _, id := range e.plan {
		planned += effort(&e.calls[id])
	}
	if tried >= planned {
		return sign{}
	}
	return e.at(last, "ended after %d of %d turns with %d %s of the %d that a solution takes", n, limit, tried, what, planned)
}

// limit returns the limit on turns, 0 if none is known.
func (e *episode) limit() int {
	if len(e.trace.Turns) > 0 && e.trace.Turns[0].Left > 0 {
		return e.trace.Turns[0].Left
	}
	return max(e.World.MaxTurns, 0)
}

// budgetExhausted is F08: the reason for the end is of class budget.
func budgetExhausted(e *episode) sign {
	if !budget(e.trace.End) {
		return sign{}
	}
	var last []int
	if n := len(e.turns); n > 0 {
		last = []int{n - 1}
	}
	return e.at(last, "ended by %s after %d turns", clip(string(e.trace.End)), len(e.turns))
}

func budget(r envharness.EndReason) bool {
	switch r {
	case envharness.EndTruncated, envharness.EndMaxTurns, envharness.EndTokenBudget:
		return true
	}
	return len(r) >= len(budgetPrefix) && r[:len(budgetPrefix)] == budgetPrefix
}

const budgetPrefix = "budget:"

// overLong is F07: Pass with turns > 1.5 L, L the length of the plan or else the median of the passed episodes.
func overLong(e *episode) sign {
	best := float64(len(e.plan))
	if best == 0 {
		best = e.median
	}
	if n := e.length(); !e.failed && float64(n) > 1.5*best {
		return e.at(nil, "%d turns where %g do", n, best)
	}
	return sign{}
}

// littleExploration is F17: Fail, and different things shown <= 0.3 of the turns that count.
func littleExploration(e *episode) sign {
	if !e.failed {
		return sign{}
	}
	different := make(map[int]bool)
	for i, u := range e.turns {
		if e.counts(i) {
			different[u.shown] = true
		}
	}
	n := e.length()
	if n == 0 || 10*len(different) > 3*n {
		return sign{}
	}
	return e.at(nil, "%d different results in %d turns", len(different), n)
}

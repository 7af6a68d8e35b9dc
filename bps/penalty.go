package bps

import (
	"fmt"
	"math"
	"slices"
)

// penalty returns the penalty as a function of the tokens.
func (p *Problem) penalty() func(tokens int) float64 {
	if p.Penalty != nil {
		return p.Penalty
	}
	kappa := p.PenaltyPerToken
	return func(tokens int) float64 { return kappa * float64(tokens) }
}

// checkPenalty reports a penalty that is NaN or -Inf, forbids everything, or falls, as far as 65 totals up to the budget and those
// of the frontier show it.
func checkPenalty(penalty func(tokens int) float64, budget int, frontier []record) error {
	const parts = 64
	totals := []int{0, budget}
	for k := 1; k < parts; k++ {
		totals = append(totals, budget/parts*k+budget%parts*k/parts) // budget*k/parts without overflow
	}
	for _, r := range frontier {
		totals = append(totals, r.tokens)
	}
	slices.Sort(totals)
	last, lastTokens := math.Inf(-1), 0
	for _, t := range slices.Compact(totals) {
		g := penalty(t)
		switch {
		case math.IsNaN(g) || math.IsInf(g, -1):
			return fmt.Errorf("%w: Penalty(%d) is %v", ErrPenalty, t, g)
		case t == 0 && math.IsInf(g, 1):
			return fmt.Errorf("%w: Penalty(0) is %v, which forbids every length", ErrPenalty, g)
		case last-g > 1e-12*math.Abs(g):
			return fmt.Errorf("%w: Penalty falls from %v at %d tokens to %v at %d, want nondecreasing", ErrPenalty, last, lastTokens, g, t)
		}
		last, lastTokens = g, t
	}
	return nil
}

package bps

import (
	"math"
	"slices"
)

// points makes the points of a frontier. Only a budget for thousands of candidates makes so many that some are left out.
func points(frontier []record, chosen int) []Point {
	const most = 1 << 22 // members of all sets
	members := 0
	for _, r := range frontier {
		members += len(r.items)
	}
	var all []Point
	for k, every := 0, members/most+1; k < len(frontier); k++ {
		if r := frontier[k]; k%every == 0 || k == chosen || k == len(frontier)-1 {
			all = append(all, Point{Tokens: r.tokens, Benefit: r.benefit, Items: slices.Sorted(slices.Values(r.items))})
		}
	}
	return all
}

// At returns the point of the frontier with at most budget tokens that has the largest benefit less penalty; of equal ones, up to
// rounding, the one with the fewest tokens. A nil penalty is none. It reports false if no point has so few tokens, which takes pinned
// candidates.
//
// So one search serves many prices. For the budget of the search it is what Select chooses with that penalty in the same mode, except
// for Exact, which looks for one penalty alone. What the mode proves for a kind of penalty holds here too: within smaller budgets that
// is any nondecreasing one, hence no more than the last column in the table of the package comment.
func (s *Selection) At(budget int, penalty func(tokens int) float64) (Point, bool) {
	points := s.Frontier
	for len(points) > 0 && points[len(points)-1].Tokens > budget {
		points = points[:len(points)-1]
	}
	if len(points) == 0 {
		return Point{}, false
	}
	if penalty == nil {
		return points[len(points)-1], true
	}
	objective := func(pt Point) float64 { return pt.Benefit - penalty(pt.Tokens) }
	best := math.Inf(-1)
	for _, pt := range points {
		best = max(best, objective(pt))
	}
	least := best - 1e-12*max(s.Frontier[len(s.Frontier)-1].Benefit, math.Abs(s.Base))
	k := slices.IndexFunc(points, func(pt Point) bool { return objective(pt) >= least })
	return points[max(k, 0)], true // a penalty that is NaN or -Inf leaves none
}

package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Bin is one of the parts that [Bins] makes.
type Bin struct {
	Outcomes []int   // indices of its outcomes, by score from low to high; at least one
	Min, Max float64 // smallest and largest score
	Score    float64 // mean of the scores
	Success  float64 // mean of the successes
}

// Bins cuts outcomes into n consecutive parts by score, from low to high: equal-size bins as in arXiv:2608.20274. By is
// the number that counts; nil means the utility. Outcomes without a score are left out.
//
// Ours: n = 0 means 10, since the paper does not state it; equal scores are ordered by task ID, then as given; sizes differ
// by at most 1 and the larger come first; fewer outcomes than n make one bin each, and none make no bin. So equal scores
// can fall into two bins.
//
// A negative n, unusable outcomes (see [Relate]) and a number that is NaN or infinite are errors. The cost is O(m log m) for
// m outcomes.
func Bins(outcomes []TaskOutcome, n int, by func(TaskScore) float64) ([]Bin, error) {
	var faults []error
	if n < 0 {
		faults = append(faults, fmt.Errorf("analysis: bins: n is %d, want at least 0", n))
	}
	n = cmp.Or(n, 10)
	if by == nil {
		by = func(s TaskScore) float64 { return s.Utility }
	}
	var order []int
	score := make([]float64, len(outcomes))
	for i, o := range outcomes {
		if err := o.check(); err != nil {
			faults = append(faults, fmt.Errorf("analysis: bins: outcome %d of task %q: %w", i, o.TaskID, err))
			continue
		}
		if o.Score.Skills == 0 {
			continue
		}
		order = append(order, i)
		score[i] = by(o.Score)
		if math.IsNaN(score[i]) || math.IsInf(score[i], 0) {
			faults = append(faults, fmt.Errorf("analysis: bins: the number of outcome %d of task %q is %g, want it finite", i, o.TaskID, score[i]))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(score[i], score[j]), cmp.Compare(outcomes[i].TaskID, outcomes[j].TaskID))
	})
	n = min(n, len(order))
	bins := make([]Bin, n)
	for b := range bins {
		size := len(order) / (n - b)
		if len(order)%(n-b) > 0 {
			size++
		}
		part := order[:size:size]
		order = order[size:]
		bin := Bin{Outcomes: part, Min: score[part[0]], Max: score[part[size-1]]}
		for _, i := range part {
			bin.Score += score[i]
			bin.Success += outcomes[i].Success
		}
		bin.Score /= float64(size)
		if math.IsInf(bin.Score, 0) { // the sum is too large, the mean is not
			bin.Score = 0
			for _, i := range part {
				bin.Score += score[i] / float64(size)
			}
			bin.Score = max(bin.Min, min(bin.Max, bin.Score))
		}
		bin.Success /= float64(size)
		bins[b] = bin
	}
	return bins, nil
}

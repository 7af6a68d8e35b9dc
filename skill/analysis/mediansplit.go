package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/skill"
)

// A Split is the result of [MedianSplit]: indices of skills.
type Split struct {
	Low, High []int // by utility from low to high
	LeftOut   []int // in the order given
}

// MedianSplit cuts a memory at its median utility, to run an agent with either half, as arXiv:2608.20274 does. Skills are
// ordered by utility, then name, then as given; of n of them Low gets the first n/2, rounded down (the order and the
// rounding are ours). Skills whose utility is not defined or whose text is empty are left out. A utility that is NaN or infinite is an
// error. The cost is O(n log n).
func MedianSplit(scores []skill.SkillScore) (Split, error) {
	var order, leftOut []int
	var faults []error
	for i, s := range scores {
		if err := finite(s.Utility); err != nil {
			faults = append(faults, fmt.Errorf("analysis: median split: score %d of %q: %w", i, s.Name, err))
		}
		if s.Defined && !s.EmptyText {
			order = append(order, i)
		} else {
			leftOut = append(leftOut, i)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return Split{}, err
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(scores[i].Utility, scores[j].Utility), cmp.Compare(scores[i].Name, scores[j].Name))
	})
	half := len(order) / 2
	return Split{Low: order[:half:half], High: order[half:], LeftOut: leftOut}, nil
}

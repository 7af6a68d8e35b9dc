package analysis

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A SourceMatch says how like one skill is to the text that it comes from, of its subtask or of its task if it was made of a whole one, and
// how like the skills were that were retrieved for that text. Of several sources of a skill take the first.
type SourceMatch struct {
	Similarity float64   // of the skill's description and the text, as [Similarities] has it; in [-1, 1]
	Retrieved  []float64 // similarities of the skills that were selected for the text when it was run; empty means none
}

// A Rate is a share of items.
type Rate struct {
	Value   float64 // Hits / Items; 0 where it is not defined
	Defined bool    // false without items
	Hits    int
	Items   int
	Hit     []bool // by item
}

// SelfRetrieval returns the share of skills that would be found for what they come from: whose similarity to their source
// is above the smallest similarity of the skills that were retrieved for it then (appendix E.6 of arXiv:2608.20274).
// Where nothing was retrieved the bar is minSim, nil meaning 0.30 (ours).
//
// It measures how well descriptions name what they are for, not whether skills help: in the paper code skills are found
// more often and help less. A similarity or minSim that is not in [-1, 1], within 1e-9, is an error. The cost is linear.
func SelfRetrieval(sources []SourceMatch, minSim *float64) (Rate, error) {
	var faults []error
	check := func(x float64, format string, args ...any) {
		if !(math.Abs(x) <= 1+1e-9) {
			faults = append(faults, fmt.Errorf("analysis: self-retrieval: "+format+" is %g, want it in [-1, 1]", append(args, x)...))
		}
	}
	bar := 0.30
	if minSim != nil {
		bar = *minSim
	}
	check(bar, "minSim")
	r := Rate{Items: len(sources), Hit: make([]bool, len(sources))}
	for i, s := range sources {
		check(s.Similarity, "the similarity of source %d", i)
		for k, x := range s.Retrieved {
			check(x, "the similarity of skill %d that source %d retrieved", k, i)
		}
		least := bar
		if len(s.Retrieved) > 0 {
			least = slices.Min(s.Retrieved)
		}
		if s.Similarity > least {
			r.Hit[i] = true
			r.Hits++
		}
	}
	if err := errors.Join(faults...); err != nil {
		return Rate{}, err
	}
	if r.Items > 0 {
		r.Defined = true
		r.Value = float64(r.Hits) / float64(r.Items)
	}
	return r, nil
}

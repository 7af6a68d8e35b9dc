package baseline

import (
	"context"
	"math"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// GreedyMax follows [DensityGreedy] and looks at every set on the way, and at each of these sets with any one more candidate that fits
// beside it. It returns the best of all by objective, with the ties of [bps.Select]. The pinned candidates are in each, and the first
// set is them alone.
//
// It is the rule of Yaroslavtsev, Zhou and Avdiukhin, arXiv:1910.05646, who prove the factor 1/2 without a penalty. With one, nothing
// is proven.
//
// Errors are those of DensityGreedy.
func GreedyMax(ctx context.Context, p bps.Problem) (*Result, error) {
	r, err := newRun("GreedyMax", p)
	if err != nil {
		return nil, err
	}
	st := bps.Start(r.benefit)
	for _, i := range p.Pinned {
		st.Add(i)
	}
	best, err := r.result(r.chosen)
	if err != nil {
		return nil, err
	}
	var about []float64 // objective of the chosen set with each of r.open, from summed gains
	for len(r.open) > 0 {
		if err := r.alive(ctx); err != nil {
			return nil, err
		}
		value, most := st.Value(), best.Objective
		size := max(value, math.Abs(r.base)) // of what gains are differences of
		about = about[:0]
		for _, i := range r.open {
			g, err := r.gain(st, i)
			if err != nil {
				return nil, err
			}
			fine, err := r.fine(r.total(len(r.chosen)+1, r.used+r.tokens[i]))
			if err != nil {
				return nil, err
			}
			about = append(about, value+g-fine)
			most = max(most, value+g-fine)
			size = max(size, value+g)
		}
		// Only what may be the best is rated exactly: sums of gains are good to 1e-9 of the benefit.
		for at, i := range r.open {
			if about[at] < most-1e-9*size {
				continue
			}
			one, err := r.result(append(slices.Clip(r.chosen), i))
			if err != nil {
				return nil, err
			}
			if r.better(one, best) {
				best = one
			}
		}
		at, _, err := r.best(st, density)
		if err != nil {
			return nil, err
		}
		st.Add(r.open[at]) // rated already: it is one of those that fit
		r.take(at)
	}
	return best, nil
}

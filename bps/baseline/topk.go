package baseline

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// RankOptions adjusts the rules that rank. A nil *RankOptions equals &RankOptions{}.
type RankOptions struct {
	// Relevance of each candidate, finite and not negative; nil means the benefit of the candidate alone.
	Relevance []float64
	// K is the most candidates to choose, pinned ones not counted; more than there are means all that fit. Zero means no limit.
	K int
}

// TopK chooses the most relevant candidates: it fills the budget in descending order of relevance, that of 0 included, up to
// RankOptions.K of them. This is what most tool and skill routers do. It knows nothing of redundancy, and nothing is proven about it.
//
// Errors are those of [bps.Select] about the problem, and [ErrScore]; that a penalty falls, or forbids every length, is not noticed.
// When ctx ends, its error is returned, wrapped, and no result.
func TopK(ctx context.Context, p bps.Problem, o *RankOptions) (*Result, error) {
	r, relevance, most, err := rank(ctx, "TopK", p, o)
	if err != nil {
		return nil, err
	}
	r.fill(descending(r.open, relevance), most)
	return r.result(r.chosen)
}

// rank starts a rule that ranks. The relevance is by candidate; where it comes from the benefit, it is 0 for those that are not open.
func rank(ctx context.Context, rule string, p bps.Problem, o *RankOptions) (r *run, relevance []float64, most int, err error) {
	if o == nil {
		o = &RankOptions{}
	}
	if r, err = newRun(rule, p); err != nil {
		return nil, nil, 0, err
	}
	if err := r.alive(ctx); err != nil {
		return nil, nil, 0, err
	}
	if o.K < 0 {
		return nil, nil, 0, fmt.Errorf("baseline: %s: RankOptions.K is %d, want >= 0", rule, o.K)
	}
	if o.Relevance != nil {
		if len(o.Relevance) != len(p.Tokens) {
			return nil, nil, 0, invalid(rule, "%d relevances for %d candidates", len(o.Relevance), len(p.Tokens))
		}
		for i, q := range o.Relevance {
			if !finite(q) || q < 0 {
				return nil, nil, 0, invalid(rule, "the relevance of candidate %d is %v, want a finite number >= 0", i, q)
			}
		}
		return r, o.Relevance, o.K, nil
	}
	relevance = make([]float64, len(p.Tokens))
	st := bps.Start(r.benefit)
	for _, i := range slices.Concat(p.Pinned, r.open) {
		g, err := r.gain(st, i)
		if err != nil {
			return nil, nil, 0, err
		}
		relevance[i] = max(g, 0) // below 0 by rounding only, in a benefit that is monotone
	}
	return r, relevance, o.K, nil
}

// descending returns items, which are ascending, by score; of equal ones the lower index first.
func descending(items []int, score []float64) []int {
	order := slices.Clone(items)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
	return order
}

// shares returns relevance as shares of the largest one among the candidates that may be chosen or are pinned; all 0 if that is 0.
func (r *run) shares(relevance []float64) []float64 {
	most := 0.0
	for _, i := range slices.Concat(r.chosen, r.open) {
		most = max(most, relevance[i])
	}
	q := make([]float64, len(relevance))
	if most > 0 {
		for i := range q {
			q[i] = relevance[i] / most
		}
	}
	return q
}

// A Similarity compares candidates i and j. It must be finite, symmetric and pure.
type Similarity func(i, j int) float64

// of checks what s says.
func (s Similarity) of(rule string, i, j int) (float64, error) {
	v := s(i, j)
	if !finite(v) {
		return 0, invalid(rule, "the similarity of candidates %d and %d is %v, want a finite number", i, j, v)
	}
	return v, nil
}

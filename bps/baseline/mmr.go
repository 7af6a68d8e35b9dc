package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/bps"
)

// MMR chooses by maximal marginal relevance (Carbonell and Goldstein 1998): again and again the candidate, of those that fit, with the
// largest
//
//	lambda*q[i]/max(q) - (1-lambda)*max over j in S of similarity(i, j)
//
// where q is the relevance and S what is chosen so far, pinned candidates included; the second term is 0 while S is empty. It goes
// on until nothing fits or RankOptions.K are chosen. lambda = 1 is pure relevance, the same as [TopK]; lambda = 0 is pure
// diversity; 0.5 is usual. The largest relevance is that of the candidates that are pinned or fit into the budget. Nothing is proven
// about it.
//
// A lambda outside [0, 1] and a missing similarity are errors; else see TopK.
func MMR(ctx context.Context, p bps.Problem, similarity Similarity, lambda float64, o *RankOptions) (*Result, error) {
	if !(lambda >= 0 && lambda <= 1) {
		return nil, fmt.Errorf("baseline: MMR: lambda is %v, want a number in [0, 1]", lambda)
	}
	if similarity == nil {
		return nil, invalid("MMR", "no similarity")
	}
	r, relevance, most, err := rank(ctx, "MMR", p, o)
	if err != nil {
		return nil, err
	}
	q := r.shares(relevance)
	nearest := make([]float64, len(q)) // similarity to the nearest chosen candidate
	for i := range nearest {
		nearest[i] = math.Inf(-1)
	}
	compare := func(chosen int) error {
		for _, i := range r.open {
			s, err := similarity.of(r.rule, i, chosen)
			if err != nil {
				return err
			}
			nearest[i] = max(nearest[i], s)
		}
		return nil
	}
	for _, j := range p.Pinned {
		if err := compare(j); err != nil {
			return nil, err
		}
	}
	for taken := 0; len(r.open) > 0 && (most == 0 || taken < most); taken++ {
		if err := r.alive(ctx); err != nil {
			return nil, err
		}
		best, bestScore := -1, 0.0
		for at, i := range r.open {
			score := lambda * q[i]
			if len(r.chosen) > 0 {
				score -= (1 - lambda) * nearest[i]
			}
			if best < 0 || score > bestScore {
				best, bestScore = at, score
			}
		}
		i := r.open[best]
		r.take(best)
		if err := compare(i); err != nil {
			return nil, err
		}
	}
	return r.result(r.chosen)
}

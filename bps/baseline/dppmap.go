package baseline

import (
	"context"
	"math"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// tiny is the residual from which on what is left is taken for rounding errors.
const tiny = 1e-10

// DPPMAP chooses greedily the most probable set of a determinantal point process with the kernel
//
//	L[i][j] = q[i]/max(q) * q[j]/max(q) * similarity(i, j)
//
// where q is the relevance: again and again the candidate, of those that fit, that multiplies the determinant of the kernel of the
// chosen set by most. That factor is below 1 for most similarities, and the rule goes on all the same until the largest is 1e-10 or
// less, nothing fits, or RankOptions.K are chosen. Pinned candidates come first. The kernel should be positive semidefinite, as it
// is with [Cosine]; else the factors mean little, but the rule still ends. A candidate of relevance 0, or with no similarity to
// itself, is never chosen.
//
// The incremental Cholesky factorization is that of Chen, Zhang and Zhou, arXiv:1709.05135. Greedy maximization of a log-determinant
// has the factor 1-1/e for a number of items where it is monotone, which it is not here, and none under a budget: nothing is proven.
//
// A missing similarity is an error; else see [TopK].
func DPPMAP(ctx context.Context, p bps.Problem, similarity Similarity, o *RankOptions) (*Result, error) {
	if similarity == nil {
		return nil, invalid("DPPMAP", "no similarity")
	}
	r, relevance, most, err := rank(ctx, "DPPMAP", p, o)
	if err != nil {
		return nil, err
	}
	q := r.shares(relevance)
	rows := make([][]float64, len(q))   // of the Cholesky factor of the kernel
	residual := make([]float64, len(q)) // by what the candidate would multiply the determinant
	for _, i := range slices.Concat(p.Pinned, r.open) {
		s, err := similarity.of(r.rule, i, i)
		if err != nil {
			return nil, err
		}
		residual[i] = q[i] * q[i] * s
	}
	// join puts j into the chosen set as far as others are concerned.
	join := func(j int, others []int) error {
		if residual[j] <= tiny { // only a pinned candidate: it adds nothing to those before it but rounding errors
			return nil
		}
		root := math.Sqrt(residual[j])
		for _, i := range others {
			s, err := similarity.of(r.rule, i, j)
			if err != nil {
				return err
			}
			e := q[i] * q[j] * s
			for t, x := range rows[j] {
				e -= x * rows[i][t]
			}
			e /= root
			rows[i] = append(rows[i], e)
			residual[i] -= e * e
		}
		return nil
	}
	for a, j := range p.Pinned {
		if err := join(j, slices.Concat(p.Pinned[a+1:], r.open)); err != nil {
			return nil, err
		}
	}
	for taken := 0; len(r.open) > 0 && (most == 0 || taken < most); taken++ {
		if err := r.alive(ctx); err != nil {
			return nil, err
		}
		best := 0
		for at, i := range r.open {
			if residual[i] > residual[r.open[best]] {
				best = at
			}
		}
		i := r.open[best]
		if residual[i] <= tiny {
			break
		}
		r.take(best)
		if err := join(i, r.open); err != nil {
			return nil, err
		}
	}
	return r.result(r.chosen)
}

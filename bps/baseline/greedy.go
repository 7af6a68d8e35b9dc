package baseline

import (
	"context"

	"github.com/throughline-go/throughline/bps"
)

// GreedyOptions adjusts [DensityGreedy] and [GainGreedy]. A nil *GreedyOptions equals &GreedyOptions{}.
type GreedyOptions struct {
	// Stop ends the rule before the first candidate that would not raise the objective. Otherwise it fills the budget, whatever the
	// penalty and even where nothing gains anything.
	Stop bool
}

// DensityGreedy chooses again and again the candidate, of those that fit, with the largest marginal gain per token, as the chains of
// [bps.Select] do, but once, from the pinned candidates alone. Equal gains per token go to the larger gain, then to the lower index;
// a gain without tokens comes before all others.
//
// Alone it has no guarantee, penalty or not: one short candidate of little benefit can keep out the only good one (candidates of 1 and
// 100 tokens with benefits 2 and 100, budget 100). The better of it and the best single candidate has at least 0.427 of the optimum
// without a penalty (Feldman, Nutov and Shoham 2023).
//
// Errors are those of [bps.Select] about the problem; that a penalty falls, or forbids every length, is not noticed. When ctx ends, its
// error is returned, wrapped, and no result.
func DensityGreedy(ctx context.Context, p bps.Problem, o *GreedyOptions) (*Result, error) {
	return greedy(ctx, "DensityGreedy", p, o, density)
}

// GainGreedy chooses again and again the candidate, of those that fit, with the largest marginal gain, whatever its tokens; equal
// gains go to the lower index. It suits noisy benefits that favor short candidates, but one large candidate can keep out many small
// ones that are worth more together, so it has no guarantee either. If all candidates have equally many tokens and there is no
// penalty, it has the factor 1-1/e (Nemhauser, Wolsey and Fisher 1978).
//
// Errors are those of [DensityGreedy].
func GainGreedy(ctx context.Context, p bps.Problem, o *GreedyOptions) (*Result, error) {
	return greedy(ctx, "GainGreedy", p, o, func(gain float64, _ int) float64 { return gain })
}

// density is the gain per token; no gain for no tokens is 0.
func density(gain float64, tokens int) float64 {
	if gain == 0 {
		return 0
	}
	return gain / float64(tokens)
}

// A key ranks what a greedy rule may choose next; the largest is chosen.
type key func(gain float64, tokens int) float64

func greedy(ctx context.Context, rule string, p bps.Problem, o *GreedyOptions, by key) (*Result, error) {
	if o == nil {
		o = &GreedyOptions{}
	}
	r, err := newRun(rule, p)
	if err != nil {
		return nil, err
	}
	st := bps.Start(r.benefit)
	for _, i := range p.Pinned {
		st.Add(i)
	}
	for len(r.open) > 0 {
		if err := r.alive(ctx); err != nil {
			return nil, err
		}
		best, gain, err := r.best(st, by)
		if err != nil {
			return nil, err
		}
		i := r.open[best]
		if o.Stop {
			before, err := r.fine(r.total(len(r.chosen), r.used))
			if err != nil {
				return nil, err
			}
			after, err := r.fine(r.total(len(r.chosen)+1, r.used+r.tokens[i]))
			if err != nil {
				return nil, err
			}
			if !(gain-(after-before) > 0) { // also if both are +Inf
				break
			}
		}
		st.Add(i)
		r.take(best)
	}
	return r.result(r.chosen)
}

// best returns the position in r.open of the candidate with the largest key, and its gain. There must be one.
func (r *run) best(st bps.Gains, by key) (at int, gain float64, err error) {
	at = -1
	var bestKey float64
	for a, i := range r.open {
		g, err := r.gain(st, i)
		if err != nil {
			return 0, 0, err
		}
		if k := by(g, r.tokens[i]); at < 0 || k > bestKey || k == bestKey && g > gain {
			at, gain, bestKey = a, g, k
		}
	}
	return at, gain, nil
}

package bps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// prefilter keeps as many of s.items as o allows for the mode, ascending: three quarters by gain, the rest by gain per token. Before, it
// grows the chains of Level0 over all of them: where many candidates fit together, few cannot make up for many. It also sets the
// scope of the guarantee.
func (s *search) prefilter(ctx context.Context, sel *Selection, p Problem, o *Options, mode Mode) error {
	n, m := len(s.items), cmp.Or(o.MaxPool, defaultMaxPool)
	if mode == Level3 {
		m = cmp.Or(o.MaxPool, defaultMaxPool3)
	}
	if mode == Level0 || n <= m {
		s.scope = fmt.Sprintf("all %d candidates", len(p.Tokens)-len(p.Excluded))
		if len(p.Excluded) > 0 {
			s.scope += " that are not excluded"
		}
		return nil
	}
	s.prepare()
	for _, by := range s.distinct([]order{byDensity, byGain}) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("bps: stopped before the first seed: %w", err)
		}
		w := s.walkers[0]
		w.choose(seed{})
		if err := w.lazy(s.start.Clone(), by); err != nil {
			return err
		}
	}
	rank := make([]int, n)
	for j := range rank {
		rank[j] = j
	}
	slices.SortFunc(rank, func(a, b int) int { return cmp.Or(cmp.Compare(s.gains[b], s.gains[a]), cmp.Compare(a, b)) })
	rest := rank[(3*m+3)/4:]
	density := func(j int) float64 { return s.key(int32(j), s.gains[j], byDensity) }
	slices.SortFunc(rest, func(a, b int) int { return cmp.Or(cmp.Compare(density(b), density(a)), cmp.Compare(a, b)) })
	slices.Sort(rank[:m])
	var kept []int
	var gains []float64
	for _, j := range rank[:m] {
		kept = append(kept, s.items[j])
		gains = append(gains, s.gains[j])
	}
	for _, j := range rank[m:] {
		sel.Dropped = append(sel.Dropped, Drop{s.items[j], DropPrefilter})
	}
	slices.SortFunc(sel.Dropped, func(a, b Drop) int { return cmp.Compare(a.Item, b.Item) })
	s.items, s.gains = kept, gains
	s.scope = fmt.Sprintf("within the prefiltered %d of %d candidates that fit", m, n)
	return nil
}

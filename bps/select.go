package bps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

const (
	defaultMaxPool  = 128
	defaultMaxPool3 = 48 // Level3 grows chains from n*n*n/6 seeds
	defaultCertify  = 64 // candidates
	defaultReruns   = 3
)

// Select returns the feasible set with the largest objective that the search of o.Mode finds; by default that is Algorithm 1 of
// arXiv:2608.19993. See the package comment for the steps and the guarantee. Feasible means that the pinned candidates are in, the
// excluded ones are not, and overhead and candidates together have at most p.Budget tokens; the empty set has 0 tokens.
//
//   - Candidates larger than what the overhead and the pinned ones leave of the budget, and those a prefilter leaves out
//     (Options.MaxPool), are in Dropped.
//   - Candidates without tokens are taken, in the order of their indices, wherever they gain something.
//   - Of sets whose objectives are equal up to rounding, 1e-12 of the largest benefit or the base, the one with the fewest tokens is
//     returned, then the one with the fewest candidates, then the one whose ascending list is smallest. Equal gains per token within
//     a chain go to the larger gain, then to the lower index.
//
// Errors are [ErrTokens], [ErrBudget], [ErrPenalty], [ErrIndex], [ErrBenefit], [ErrNotMonotone] and [ErrNotSubmodular], and another
// for an option outside its range; the selection is then nil. When ctx ends, its error is returned, wrapped, together with the best
// selection so far, which has no guarantee and no certificate. The context is checked once a candidate at first, then once a seed,
// and once every 256 nodes of branch and bound. The result depends on nothing but the arguments, and Options.Workers does not change
// it.
//
// If p.Benefit has a method Len() int, it must return len(p.Tokens).
func Select(ctx context.Context, p Problem, o *Options) (*Selection, error) {
	if o == nil {
		o = &Options{}
	}
	if err := errors.Join(p.Validate(), o.validate()); err != nil {
		return nil, err
	}
	if missing(p.Benefit) { // no candidates, else Validate has found it
		p.Benefit = BenefitFunc(func([]int) float64 { return 0 })
	}
	if o.Recheck != nil {
		return selectRendered(ctx, p, o)
	}
	return selectOnce(ctx, p, o)
}

// selectOnce is Select for valid arguments, without a recheck.
func selectOnce(ctx context.Context, p Problem, o *Options) (*Selection, error) {
	mode := o.Mode
	if mode == Auto {
		mode = Paper
		if p.Penalty != nil {
			mode = Level2
		}
	}
	sel := &Selection{Base: p.Benefit.Value(nil)}
	s := &search{benefit: p.Benefit, base: sel.Base, tokens: p.Tokens, full: o.fullChains, budget: p.Budget - p.Overhead, offset: p.Overhead}
	if !finite(s.base) {
		return nil, fmt.Errorf("%w: the value of the empty set is %v", ErrBenefit, s.base)
	}
	if p.Penalty != nil { // now, as a search may take long; choose looks at the totals that it finds
		if err := checkPenalty(p.Penalty, p.Budget, nil); err != nil {
			return nil, err
		}
	}
	for range max(1, min(o.Workers, len(p.Tokens))) {
		s.walkers = append(s.walkers, &walker{search: s, pool: newPool(p.Budget, math.Abs(s.base))})
	}

	free := s.sort(sel, p)
	stopped := s.alone(ctx, p.Pinned, free)
	if stopped == nil {
		if stopped = s.prefilter(ctx, sel, p, o, mode); stopped == nil {
			sel.Guarantee = guarantee(p, o, mode, s.scope)
			if certify(o, mode, len(s.items)) {
				s.newBounds(p)
			}
			stopped = s.grow(ctx, plans(o, mode))
		}
		if stopped == nil && mode == Exact {
			stopped = s.exact(ctx, sel, p, o)
		}
	}
	if stopped != nil {
		if ctx.Err() == nil || !errors.Is(stopped, ctx.Err()) {
			return nil, stopped
		}
		sel.Guarantee = Guarantee{Penalty: PenaltyNone, Mode: mode, Scope: "none: the search was stopped"}
	}
	if err := s.choose(sel, p); err != nil {
		return nil, err
	}
	if stopped == nil {
		s.certificate(sel, p)
	}
	sel.explain = &explanation{problem: p}
	return sel, stopped
}

// sort sets s.items, takes the tokens of the pinned candidates off the budget, drops what can never be chosen, and returns the
// candidates without tokens.
func (s *search) sort(sel *Selection, p Problem) (free []int) {
	const (
		pinned   = 1
		excluded = 2
	)
	marks := make([]byte, len(p.Tokens))
	for _, i := range p.Excluded {
		marks[i] = excluded
	}
	for _, i := range p.Pinned {
		marks[i] = pinned
		s.budget -= p.Tokens[i]
		s.offset += p.Tokens[i]
	}
	for i, t := range p.Tokens {
		switch {
		case marks[i] == pinned:
		case marks[i] == excluded:
			sel.Dropped = append(sel.Dropped, Drop{i, DropExcluded})
		case s.budget < 0:
			sel.Dropped = append(sel.Dropped, Drop{i, DropOverhead})
		case t > s.budget:
			sel.Dropped = append(sel.Dropped, Drop{i, DropOverBudget})
		case t == 0:
			free = append(free, i)
		default:
			s.items = append(s.items, i)
		}
	}
	return free
}

// alone sets s.start to the pinned candidates and the free ones that gain something, records the set, and finds what each of
// s.items gains there.
func (s *search) alone(ctx context.Context, pinned, free []int) error {
	w := s.walkers[0]
	s.start = Start(s.benefit)
	defer func() { w.chosen = nil }() // it was s.always
	gain := func(i int) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("bps: stopped before the first seed: %w", err)
		}
		return w.gain(s.start, i, unbounded)
	}
	add := func(i int, gain float64) {
		s.start.Add(i)
		s.value += gain
		s.always = append(s.always, i)
		s.mixed += hash(i)
		w.chosen, w.hash = s.always, s.mixed
	}
	if len(pinned) == 0 {
		w.pool.add(record{})
	}
	for _, i := range pinned { // without a look at the context: there is no selection without them
		g, err := w.gain(s.start, i, unbounded)
		if err != nil {
			return err
		}
		add(i, g)
	}
	if len(pinned) > 0 {
		if err := w.record(s.start); err != nil {
			return err
		}
	}
	for _, i := range free {
		g, err := gain(i)
		if err != nil {
			return err
		}
		if g > 0 {
			add(i, g)
		}
	}
	if len(s.always) > len(pinned) {
		if err := w.record(s.start); err != nil {
			return err
		}
	}
	s.gains = make([]float64, len(s.items))
	for j, i := range s.items {
		g, err := gain(i)
		if err != nil {
			return err
		}
		s.gains[j] = g
	}
	return nil
}

// choose completes sel with the best set of the frontier.
func (s *search) choose(sel *Selection, p Problem) error {
	pool := &s.walkers[0].pool
	for _, w := range s.walkers[1:] {
		pool.merge(&w.pool)
	}
	frontier, penalty := pool.frontier(), p.penalty()
	if p.Penalty != nil {
		if err := checkPenalty(penalty, p.Budget, frontier); err != nil {
			return err
		}
	}
	best := math.Inf(-1)
	for _, r := range frontier {
		best = max(best, r.benefit-penalty(r.tokens))
	}
	if math.IsInf(best, -1) {
		return fmt.Errorf("%w: Penalty(%d) is +Inf, which forbids the pinned candidates", ErrPenalty, frontier[0].tokens)
	}
	// The last set has the largest benefit, which gives the size of rounding errors.
	tie := pool.tie(frontier[len(frontier)-1].benefit)
	chosen := slices.IndexFunc(frontier, func(r record) bool { return r.benefit-penalty(r.tokens) >= best-tie })
	chosen = max(chosen, 0) // below only if the penalty has changed since
	r := frontier[chosen]
	sel.Tokens, sel.Benefit, sel.Penalty = r.tokens, r.benefit, penalty(r.tokens)
	sel.Objective = sel.Benefit - sel.Penalty
	if err := s.inOrder(sel, r.items); err != nil {
		return err
	}
	// A chain of Level0 may have brought in what the prefilter then left out.
	sel.Dropped = slices.DeleteFunc(sel.Dropped, func(d Drop) bool { return slices.Contains(sel.Items, d.Item) })
	sel.Frontier = points(frontier, chosen)
	for _, w := range s.walkers {
		sel.Evaluations += w.evaluations
	}
	return nil
}

// inOrder sets sel.Items to the chosen set, in the order of a chain, and notes the gains.
func (s *search) inOrder(sel *Selection, set []int) error {
	if len(set) == 0 {
		return nil
	}
	w := s.walkers[0]
	left := slices.Sorted(slices.Values(set))
	st := Start(s.benefit)
	w.chosen = nil
	for len(left) > 0 {
		var best candidate
		at := -1
		for j, i := range left {
			g, err := w.gain(st, i, unbounded)
			if err != nil {
				return err
			}
			c := candidate{key: g / float64(s.tokens[i]), gain: g, at: int32(i)}
			if math.IsNaN(c.key) {
				c.key = 0 // no gain for no tokens
			}
			if at < 0 || c.better(&best) {
				best, at = c, j
			}
		}
		left = slices.Delete(left, at, at+1)
		st.Add(int(best.at))
		w.chosen = append(w.chosen, int(best.at))
		sel.Gains = append(sel.Gains, best.gain)
	}
	sel.Items = w.chosen
	w.chosen = nil
	return nil
}

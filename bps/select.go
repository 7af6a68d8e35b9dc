package bps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
)

const (
	factor         = 1 - 1/math.E // Theorem 1
	defaultMaxPool = 128
)

// Select returns the feasible set with the largest objective that Algorithm 1 of arXiv:2608.19993 finds: see the package comment for
// the steps and the guarantee. Feasible means that overhead and candidates together have at most p.Budget tokens; the empty set
// always is and has 0 tokens.
//
//   - Candidates larger than the budget, and those a prefilter leaves out (Options.MaxPool), are in Dropped.
//   - Candidates without tokens are taken, in the order of their indices, wherever they gain something.
//   - Of sets whose objectives are equal up to rounding, 1e-12 of the largest benefit or the base, the one with the fewest tokens is
//     returned, then the one with the fewest candidates, then the one whose ascending list is smallest. Equal gains per token within
//     a chain go to the larger gain, then to the lower index.
//
// Errors are [ErrTokens], [ErrBudget], [ErrPenalty], [ErrBenefit], [ErrNotMonotone] and [ErrNotSubmodular], and another for an
// option outside its range; the selection is then nil. When ctx ends, its error is returned, wrapped, together with the best
// selection so far, which has no guarantee. The context is checked once a candidate at first, then once a seed. The result depends
// on nothing but the arguments.
//
// If p.Benefit has a method Len() int, it must return len(p.Tokens).
func Select(ctx context.Context, p Problem, o *Options) (*Selection, error) {
	if o == nil {
		o = &Options{}
	}
	if err := check(p, o); err != nil {
		return nil, err
	}
	if missing(p.Benefit) { // no candidates, else check has found it
		p.Benefit = BenefitFunc(func([]int) float64 { return 0 })
	}
	s := &search{
		benefit:     p.Benefit,
		base:        p.Benefit.Value(nil),
		tokens:      p.Tokens,
		budget:      p.Budget - p.Overhead,
		overhead:    p.Overhead,
		evaluations: 1,
	}
	if !finite(s.base) {
		return nil, fmt.Errorf("%w: the value of the empty set is %v", ErrBenefit, s.base)
	}
	s.pool.noise = math.Abs(s.base)
	s.pool.add(0, 0, nil)
	sel := &Selection{Base: s.base, Guarantee: Guarantee{Factor: factor, Penalty: PenaltyLinear}}
	if p.Penalty != nil {
		sel.Guarantee.Penalty = PenaltyConcave
		if !o.PenaltyConcave {
			sel.Guarantee = Guarantee{Penalty: PenaltyNone, Scope: "none: the penalty may not be concave"}
		}
	}

	// Which candidates are there?
	var free, items []int
	for i, t := range p.Tokens {
		switch {
		case s.budget < 0:
			sel.Dropped = append(sel.Dropped, Drop{i, DropOverhead})
		case t > s.budget:
			sel.Dropped = append(sel.Dropped, Drop{i, DropOverBudget})
		case t == 0:
			free = append(free, i)
		default:
			items = append(items, i)
		}
	}
	st := start(p.Benefit, s.base)
	gains, stopped := s.alone(ctx, st, free, items)
	if stopped == nil {
		scope := fmt.Sprintf("all %d candidates", len(p.Tokens))
		if m := cmp.Or(o.MaxPool, defaultMaxPool); len(items) > m {
			scope = fmt.Sprintf("within the prefiltered %d of %d candidates that fit", m, len(items))
			var out []int
			items, gains, out = prefilter(items, gains, p.Tokens, m)
			for _, i := range out {
				sel.Dropped = append(sel.Dropped, Drop{i, DropPrefilter})
			}
			slices.SortFunc(sel.Dropped, func(a, b Drop) int { return cmp.Compare(a.Item, b.Item) })
		}
		if sel.Guarantee.Factor > 0 {
			sel.Guarantee.Scope = scope
		}
		stopped = s.algorithm1(ctx, st, items, gains)
	}
	if stopped != nil {
		if ctx.Err() == nil || !errors.Is(stopped, ctx.Err()) {
			return nil, stopped
		}
		sel.Guarantee = Guarantee{Penalty: PenaltyNone, Scope: "none: the search was stopped"}
	}
	if err := s.choose(sel, p); err != nil {
		return nil, err
	}
	return sel, stopped
}

// missing also finds a nil function or pointer inside the interface.
func missing(b Benefit) bool {
	v := reflect.ValueOf(b)
	return b == nil || (v.Kind() == reflect.Func || v.Kind() == reflect.Pointer) && v.IsNil()
}

// check reports every fault of the arguments that shows before the benefit is asked.
func check(p Problem, o *Options) error {
	var faults []error
	fault := func(kind error, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...)))
	}
	if i := slices.IndexFunc(p.Tokens, func(t int) bool { return t < 0 }); i >= 0 {
		fault(ErrTokens, "candidate %d has %d tokens, want >= 0", i, p.Tokens[i])
	}
	if p.Overhead < 0 {
		fault(ErrTokens, "the overhead is %d tokens, want >= 0", p.Overhead)
	}
	if p.Budget < 0 {
		fault(ErrBudget, "%d tokens, want >= 0", p.Budget)
	}
	if k := p.PenaltyPerToken; !finite(k) || k < 0 {
		fault(ErrPenalty, "PenaltyPerToken is %v, want a finite number >= 0", k)
	}
	if p.Penalty != nil && p.PenaltyPerToken != 0 {
		fault(ErrPenalty, "both Penalty and PenaltyPerToken are set")
	}
	if o.MaxPool < 0 {
		faults = append(faults, fmt.Errorf("bps: Options.MaxPool is %d, want >= 0", o.MaxPool))
	}
	if missing(p.Benefit) {
		if len(p.Tokens) > 0 {
			fault(ErrBenefit, "none given for %d candidates", len(p.Tokens))
		}
	} else if b, ok := p.Benefit.(interface{ Len() int }); ok && b.Len() != len(p.Tokens) {
		fault(ErrBenefit, "made for %d candidates, want %d", b.Len(), len(p.Tokens))
	}
	return errors.Join(faults...)
}

// alone adds the free candidates that gain something to the set of st, records it, and returns what each of items gains there.
func (s *search) alone(ctx context.Context, st Gains, free, items []int) ([]float64, error) {
	gain := func(i int) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("bps: stopped before the first seed: %w", err)
		}
		return s.gain(st, i, unbounded)
	}
	for _, i := range free {
		g, err := gain(i)
		if err != nil {
			return nil, err
		}
		if g > 0 {
			st.Add(i)
			s.free = append(s.free, i)
			s.chosen = append(s.chosen, i)
		}
	}
	if len(s.free) > 0 {
		if err := s.record(0, st.Value()); err != nil {
			return nil, err
		}
	}
	gains := make([]float64, len(items))
	for j, i := range items {
		g, err := gain(i)
		if err != nil {
			return nil, err
		}
		gains[j] = g
	}
	return gains, nil
}

// prefilter keeps m of the items, ascending: three quarters by gain, the rest by gain per token. It returns them with their gains,
// and the others.
func prefilter(items []int, gains []float64, tokens []int, m int) (kept []int, keptGains []float64, out []int) {
	rank := make([]int, len(items))
	for j := range rank {
		rank[j] = j
	}
	slices.SortFunc(rank, func(a, b int) int { return cmp.Or(cmp.Compare(gains[b], gains[a]), cmp.Compare(a, b)) })
	rest := rank[(3*m+3)/4:]
	key := func(j int) float64 { return gains[j] / float64(tokens[items[j]]) }
	slices.SortFunc(rest, func(a, b int) int { return cmp.Or(cmp.Compare(key(b), key(a)), cmp.Compare(a, b)) })
	slices.Sort(rank[:m])
	for _, j := range rank[:m] {
		kept = append(kept, items[j])
		keptGains = append(keptGains, gains[j])
	}
	for _, j := range rank[m:] {
		out = append(out, items[j])
	}
	return kept, keptGains, out
}

// choose completes sel with the best set of the frontier.
func (s *search) choose(sel *Selection, p Problem) error {
	sel.Frontier = s.pool.frontier()
	penalty := p.Penalty
	if penalty == nil {
		penalty = func(tokens int) float64 { return p.PenaltyPerToken * float64(tokens) }
	} else if err := checkPenalty(penalty, p.Budget, sel.Frontier); err != nil {
		return err
	}
	best := math.Inf(-1)
	for _, pt := range sel.Frontier {
		best = max(best, pt.Benefit-penalty(pt.Tokens))
	}
	// The last point has the largest benefit, which sets the size of rounding errors.
	tie := s.pool.tie(sel.Frontier[len(sel.Frontier)-1].Benefit)
	for _, pt := range sel.Frontier {
		g := penalty(pt.Tokens)
		if pt.Benefit-g < best-tie {
			continue
		}
		sel.Tokens, sel.Benefit, sel.Penalty, sel.Objective = pt.Tokens, pt.Benefit, g, pt.Benefit-g
		if err := s.explain(sel, pt.Items); err != nil {
			return err
		}
		break
	}
	sel.Evaluations = s.evaluations
	return nil
}

// explain puts the chosen set into the order of a chain and notes the gains.
func (s *search) explain(sel *Selection, set []int) error {
	if len(set) == 0 {
		return nil
	}
	left := slices.Clone(set)
	st := start(s.benefit, s.base)
	s.chosen = s.chosen[:0]
	for len(left) > 0 {
		var best candidate
		at := -1
		for j, i := range left {
			g, err := s.gain(st, i, unbounded)
			if err != nil {
				return err
			}
			c := newCandidate(i, s.tokens[i], g)
			if math.IsNaN(c.key) {
				c.key = 0 // no gain for no tokens
			}
			if at < 0 || c.better(&best) {
				best, at = c, j
			}
		}
		left = slices.Delete(left, at, at+1)
		st.Add(best.item)
		s.chosen = append(s.chosen, best.item)
		sel.Gains = append(sel.Gains, best.gain)
	}
	sel.Items = s.chosen
	return nil
}

// checkPenalty reports a penalty that is NaN or -Inf, forbids everything, or falls, as far as 65 totals up to the budget and those
// of the frontier show it.
func checkPenalty(penalty func(tokens int) float64, budget int, frontier []Point) error {
	const parts = 64
	totals := []int{0, budget}
	for k := 1; k < parts; k++ {
		totals = append(totals, budget/parts*k+budget%parts*k/parts) // budget*k/parts without overflow
	}
	for _, pt := range frontier {
		totals = append(totals, pt.Tokens)
	}
	slices.Sort(totals)
	last, lastTokens := math.Inf(-1), 0
	for _, t := range slices.Compact(totals) {
		g := penalty(t)
		switch {
		case math.IsNaN(g) || math.IsInf(g, -1):
			return fmt.Errorf("%w: Penalty(%d) is %v", ErrPenalty, t, g)
		case t == 0 && math.IsInf(g, 1):
			return fmt.Errorf("%w: Penalty(0) is %v, which forbids every length", ErrPenalty, g)
		case last-g > 1e-12*math.Abs(g):
			return fmt.Errorf("%w: Penalty falls from %v at %d tokens to %v at %d, want nondecreasing", ErrPenalty, last, lastTokens, g, t)
		}
		last, lastTokens = g, t
	}
	return nil
}

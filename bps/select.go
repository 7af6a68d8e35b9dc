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
	factor          = 1 - 1/math.E // Theorem 1
	defaultMaxPool  = 128
	defaultMaxPool3 = 48 // Level3 grows chains from n*n*n/6 seeds
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
	s := &search{benefit: p.Benefit, base: sel.Base, tokens: p.Tokens, full: o.FullChains, budget: p.Budget - p.Overhead, offset: p.Overhead}
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
		s.prefilter(sel, p, o, mode)
		sel.Guarantee = guarantee(p, o, mode, s.scope)
		if certify(o, mode, len(s.items)) {
			s.newBounds(p)
		}
		if stopped = s.grow(ctx, plans(o, mode)); stopped == nil && mode == Exact {
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

// plans returns the chains of a mode.
func plans(o *Options, mode Mode) plan {
	p := plan{size: 2, orders: []order{byDensity}}
	if o.BothOrders || mode == Level0 {
		p.orders = []order{byDensity, byGain}
	}
	switch mode {
	case Level0:
		p.size = 0
	case Level1, Level2, Level3:
		p.size, p.prune = int(mode-Level0), true
	}
	return p
}

// guarantee returns what is proven about the best set of a mode.
func guarantee(p Problem, o *Options, mode Mode, scope string) Guarantee {
	const (
		greedy  = 0.427        // Feldman, Nutov and Shoham 2023: density greedy or the best single candidate
		pairs   = 0.6174       // seeds of two, pruned: see the package comment
		theorem = 1 - 1/math.E // Theorem 1
	)
	class := PenaltyLinear
	switch {
	case p.Penalty != nil && o.PenaltyConcave:
		class = PenaltyConcave
	case p.Penalty != nil:
		class = PenaltyAny
	}
	g := Guarantee{Penalty: class, Mode: mode, Scope: scope}
	switch {
	case mode == Level0 && p.Penalty == nil && p.PenaltyPerToken == 0:
		g.Factor, g.Penalty = greedy, PenaltyZero
	case mode == Level0:
		return Guarantee{Penalty: PenaltyNone, Mode: mode, Scope: "none: Level0 with a penalty"}
	case mode == Level1:
		g.Factor = 1. / 2
	case mode == Level3 || class != PenaltyAny:
		g.Factor = factor
	case mode == Level2:
		g.Factor = pairs
	default:
		return Guarantee{Penalty: PenaltyNone, Mode: mode, Scope: "none: the penalty may not be concave"}
	}
	return g
}

func certify(o *Options, mode Mode, n int) bool {
	if o.Certify != nil {
		return *o.Certify
	}
	return n <= defaultMaxPool && mode != Level0 && mode != Level3
}

// missing also finds a nil function or pointer inside the interface.
func missing(b Benefit) bool {
	v := reflect.ValueOf(b)
	return b == nil || (v.Kind() == reflect.Func || v.Kind() == reflect.Pointer) && v.IsNil()
}

// Validate reports every fault of p that shows before the benefit is asked, as [Select] does.
func (p Problem) Validate() error {
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
	if missing(p.Benefit) {
		if len(p.Tokens) > 0 {
			fault(ErrBenefit, "none given for %d candidates", len(p.Tokens))
		}
	} else if b, ok := p.Benefit.(interface{ Len() int }); ok && b.Len() != len(p.Tokens) {
		fault(ErrBenefit, "made for %d candidates, want %d", b.Len(), len(p.Tokens))
	}

	lists := map[int]string{}
	for _, list := range []struct {
		name string
		set  []int
	}{{"Pinned", p.Pinned}, {"Excluded", p.Excluded}} {
		for _, i := range list.set {
			switch other := lists[i]; {
			case i < 0 || i >= len(p.Tokens):
				fault(ErrIndex, "%s has candidate %d, want one of 0..%d", list.name, i, len(p.Tokens)-1)
			case other == list.name:
				fault(ErrIndex, "%s has candidate %d twice", list.name, i)
			case other != "":
				fault(ErrIndex, "candidate %d is in Pinned and in Excluded", i)
			default:
				lists[i] = list.name
			}
		}
	}
	if len(faults) == 0 && len(p.Pinned) > 0 {
		left := p.Budget - p.Overhead
		for _, i := range p.Pinned {
			if left -= p.Tokens[i]; left < 0 { // at once: a sum of all might overflow
				fault(ErrBudget, "%d tokens, but the overhead and the pinned candidates up to %d need %d more", p.Budget, i, -left)
				break
			}
		}
	}
	return errors.Join(faults...)
}

func (o *Options) validate() error {
	var faults []error
	option := func(name string, v any, rule string) {
		faults = append(faults, fmt.Errorf("bps: Options.%s is %v, want %s", name, v, rule))
	}
	if o.Mode < Auto || o.Mode > Exact {
		option("Mode", int(o.Mode), "one of the modes")
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"MaxPool", o.MaxPool}, {"NodeLimit", o.NodeLimit}, {"Workers", o.Workers}, {"MaxReruns", o.MaxReruns}} {
		if f.value < 0 {
			option(f.name, f.value, ">= 0")
		}
	}
	return errors.Join(faults...)
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

// prefilter keeps as many of s.items as o allows for the mode, ascending: three quarters by gain, the rest by gain per token. It
// also sets the scope of the guarantee.
func (s *search) prefilter(sel *Selection, p Problem, o *Options, mode Mode) {
	n, m := len(s.items), cmp.Or(o.MaxPool, defaultMaxPool)
	if mode == Level3 {
		m = cmp.Or(o.MaxPool, defaultMaxPool3)
	}
	if mode == Level0 || n <= m {
		s.scope = fmt.Sprintf("all %d candidates", len(p.Tokens)-len(p.Excluded))
		if len(p.Excluded) > 0 {
			s.scope += " that are not excluded"
		}
		return
	}
	rank := make([]int, n)
	for j := range rank {
		rank[j] = j
	}
	slices.SortFunc(rank, func(a, b int) int { return cmp.Or(cmp.Compare(s.gains[b], s.gains[a]), cmp.Compare(a, b)) })
	rest := rank[(3*m+3)/4:]
	density := func(j int) float64 { return s.gains[j] / float64(s.tokens[s.items[j]]) }
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
	sel.Frontier = points(frontier, chosen)
	for _, w := range s.walkers {
		sel.Evaluations += w.evaluations
	}
	return nil
}

// points makes the points of a frontier. Only a budget for thousands of candidates makes so many that some are left out.
func points(frontier []record, chosen int) []Point {
	const most = 1 << 22 // members of all sets
	members := 0
	for _, r := range frontier {
		members += len(r.items)
	}
	var all []Point
	for k, every := 0, members/most+1; k < len(frontier); k++ {
		if r := frontier[k]; k%every == 0 || k == chosen || k == len(frontier)-1 {
			all = append(all, Point{Tokens: r.tokens, Benefit: r.benefit, Items: ascending(r.items)})
		}
	}
	return all
}

// penalty returns the penalty as a function of the tokens.
func (p *Problem) penalty() func(tokens int) float64 {
	if p.Penalty != nil {
		return p.Penalty
	}
	kappa := p.PenaltyPerToken
	return func(tokens int) float64 { return kappa * float64(tokens) }
}

// inOrder sets sel.Items to the chosen set, in the order of a chain, and notes the gains.
func (s *search) inOrder(sel *Selection, set []int) error {
	if len(set) == 0 {
		return nil
	}
	w := s.walkers[0]
	left := ascending(set)
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

// checkPenalty reports a penalty that is NaN or -Inf, forbids everything, or falls, as far as 65 totals up to the budget and those
// of the frontier show it.
func checkPenalty(penalty func(tokens int) float64, budget int, frontier []record) error {
	const parts = 64
	totals := []int{0, budget}
	for k := 1; k < parts; k++ {
		totals = append(totals, budget/parts*k+budget%parts*k/parts) // budget*k/parts without overflow
	}
	for _, r := range frontier {
		totals = append(totals, r.tokens)
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

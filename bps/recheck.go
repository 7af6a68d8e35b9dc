package bps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// selectRendered is Select with o.Recheck: it searches again with a smaller budget while the selection, counted as a whole, is too
// large, and takes candidates out in the end.
func selectRendered(ctx context.Context, p Problem, o *Options) (*Selection, error) {
	count := func(items []int) (int, error) {
		if len(items) == 0 {
			return 0, nil
		}
		n := o.Recheck(slices.Sorted(slices.Values(items)))
		if n < 0 {
			return 0, fmt.Errorf("%w: Options.Recheck gives %d for %s, want >= 0", ErrTokens, n, show(items))
		}
		return n, nil
	}
	least := p.Overhead // for the pinned candidates
	for _, i := range p.Pinned {
		least += p.Tokens[i]
	}
	r := &Recheck{Budget: p.Budget}
	var first *Certificate // which is about the whole budget
	evaluations, nodes := 0, 0
	for {
		q := p
		q.Budget = r.Budget
		sel, stopped := selectOnce(ctx, q, o)
		if sel == nil {
			return nil, stopped
		}
		switch {
		case stopped != nil:
			first = nil // no certificate then
		case r.Reruns == 0:
			first = sel.Certificate
		default:
			sel.aboutWhole(first)
			sel.Guarantee.Scope += fmt.Sprintf(", and a budget of %d tokens", r.Budget)
		}
		sel.Rechecked = r
		evaluations, nodes = evaluations+sel.Evaluations, nodes+sel.Nodes
		sel.Evaluations, sel.Nodes = evaluations, nodes
		var err error
		if r.Tokens, err = count(sel.Items); err != nil {
			return nil, err
		}
		excess := r.Tokens - p.Budget
		if excess <= 0 {
			return sel, stopped
		}
		if smaller := r.Budget - excess; stopped == nil && r.Reruns < cmp.Or(o.MaxReruns, defaultReruns) && smaller >= least {
			r.Budget = smaller
			r.Reruns++
			continue
		}
		for len(sel.Items) > 0 && r.Tokens > p.Budget {
			at := len(sel.Items) - 1
			for at >= 0 && slices.Contains(p.Pinned, sel.Items[at]) {
				at--
			}
			if at < 0 {
				return nil, fmt.Errorf("%w: %d tokens, but Options.Recheck counts %d for the pinned candidates", ErrBudget, p.Budget, r.Tokens)
			}
			r.Removed = append(r.Removed, sel.Items[at])
			sel.Items = slices.Delete(sel.Items, at, at+1)
			if r.Tokens, err = count(sel.Items); err != nil {
				return nil, err
			}
		}
		if err := sel.shrunk(p); err != nil {
			return nil, err
		}
		sel.aboutWhole(first)
		return sel, stopped
	}
}

// aboutWhole makes sel say what the certificate of a search with the whole budget says about it.
func (sel *Selection) aboutWhole(c *Certificate) {
	for k := range sel.Frontier {
		sel.Frontier[k].UpperBound = 0
	}
	if sel.Certificate = nil; c != nil {
		sel.Certificate = newCertificate(max(c.UpperBound, sel.Objective), sel.Objective)
	}
}

// shrunk computes again what follows from sel.Items after some were taken out.
func (sel *Selection) shrunk(p Problem) error {
	set := slices.Sorted(slices.Values(sel.Items))
	s := &search{benefit: p.Benefit, base: sel.Base, tokens: p.Tokens}
	s.walkers = []*walker{{search: s}}
	sel.Items, sel.Gains, sel.Tokens = nil, nil, 0
	if err := s.inOrder(sel, set); err != nil {
		return err
	}
	for _, i := range set {
		sel.Tokens += p.Tokens[i]
	}
	if len(set) > 0 {
		sel.Tokens += p.Overhead
	}
	sel.Benefit = p.Benefit.Value(set) - sel.Base
	sel.Penalty = p.penalty()(sel.Tokens)
	sel.Objective = sel.Benefit - sel.Penalty
	sel.Evaluations += s.walkers[0].evaluations
	sel.Guarantee = Guarantee{Penalty: PenaltyNone, Mode: sel.Guarantee.Mode, Scope: "none: candidates were removed after the recheck"}
	return nil
}

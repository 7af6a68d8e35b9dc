package bps

import (
	"cmp"
	"context"
	"errors"
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
	// fit takes candidates out of a selection, the last in order first, until it is counted as small enough.
	fit := func(sel *Selection, r *Recheck) error {
		for len(sel.Items) > 0 && r.Tokens > p.Budget {
			at := len(sel.Items) - 1
			for at >= 0 && slices.Contains(p.Pinned, sel.Items[at]) {
				at--
			}
			if at < 0 {
				return fmt.Errorf("%w: %d tokens, but Options.Recheck counts %d for the pinned candidates", ErrBudget, p.Budget, r.Tokens)
			}
			r.Removed = append(r.Removed, sel.Items[at])
			sel.Items = slices.Delete(sel.Items, at, at+1)
			var err error
			if r.Tokens, err = count(sel.Items); err != nil {
				return err
			}
		}
		return sel.shrunk(p)
	}
	r := Recheck{Budget: p.Budget}
	var (
		first              *Certificate // which is about the whole budget
		before             *Selection   // too large
		evaluations, nodes int
	)
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
			sel.Guarantee.Scope += fmt.Sprintf(", and a budget of %d tokens", r.Budget)
		}
		evaluations, nodes = evaluations+sel.Evaluations, nodes+sel.Nodes
		sel.Rechecked = new(r)
		var err error
		if sel.Rechecked.Tokens, err = count(sel.Items); err != nil {
			return nil, err
		}
		excess := sel.Rechecked.Tokens - p.Budget
		if smaller := r.Budget - excess; excess > 0 && stopped == nil && r.Reruns < cmp.Or(o.MaxReruns, defaultReruns) && smaller >= least {
			before = sel
			r.Budget = smaller
			r.Reruns++
			continue
		}
		if excess > 0 {
			if err := fit(sel, sel.Rechecked); err != nil {
				return nil, err
			}
		} else if before != nil && stopped == nil && len(sel.Items) == len(p.Pinned) {
			// The budget was lowered so far that nothing is left. Some of the selection before may do better.
			before.Rechecked.Reruns = r.Reruns
			switch err := fit(before, before.Rechecked); {
			case err == nil && before.Objective > sel.Objective:
				sel = before
			case err != nil && !errors.Is(err, ErrBudget): // of a counter that contradicts itself
				return nil, err
			}
		}
		if r.Reruns > 0 || len(sel.Rechecked.Removed) > 0 {
			sel.aboutWhole(first)
		}
		sel.Evaluations, sel.Nodes = evaluations, nodes
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
	sel.Guarantee = Guarantee{Penalty: PenaltyNone, Mode: sel.Guarantee.Mode, Scope: "none: candidates were removed after the recheck"}
	return nil
}

package bps

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

const defaultNodeLimit = 2_000_000

// A brancher runs branch and bound, depth first, over all sets of search.items. A node has a set S and the candidates that may
// still join it; no set below it has an objective above
//
//	G(S) - penalty(S) + fractional knapsack of the positive G(i|S) - kappa*tokens(i), capacity: what S leaves of the budget
//
// with kappa = 0 if the penalty is not linear.
type brancher struct {
	*walker
	penalty   func(tokens int) float64
	kappa     float64
	incumbent float64 // the best objective so far
	limit     int
	nodes     int
	open      [][]candidate // scratch by depth; hides that of the walker
}

// exact adds to the pool what is better than all that the other modes found. The factor of sel.Guarantee is 1 afterwards, unless
// the node limit was reached.
func (s *search) exact(ctx context.Context, sel *Selection, p Problem, o *Options) error {
	b := &brancher{walker: s.walkers[0], penalty: p.penalty(), kappa: p.PenaltyPerToken, limit: cmp.Or(o.NodeLimit, defaultNodeLimit)}
	b.incumbent = math.Inf(-1)
	for _, w := range s.walkers[1:] { // else ties within a pool would show in what is searched
		b.pool.merge(&w.pool)
	}
	for _, pt := range b.pool.frontier() {
		b.incumbent = max(b.incumbent, pt.benefit-b.penalty(pt.tokens))
	}
	free := make([]candidate, len(s.items))
	for a, j := range s.order {
		free[a] = candidate{gain: s.gains[j], at: j}
	}
	bounds := b.bound
	b.bound = nil // the sets that follow give no better ones than those that the chains met, and are many
	b.choose(seed{})
	err := b.visit(ctx, s.start.Clone(), free, 0)
	b.bound = bounds
	sel.Nodes = b.nodes
	if err != nil {
		return err
	}
	if b.nodes < b.limit {
		sel.Guarantee.Factor = 1
		if p.Penalty != nil {
			sel.Guarantee.Penalty = PenaltyAny
		}
		sel.Guarantee.Scope = s.scope
	}
	return nil
}

// visit looks at the set b.chosen, whose state is st, and at all larger ones with candidates of free, whose gains are upper bounds.
func (b *brancher) visit(ctx context.Context, st Gains, free []candidate, depth int) error {
	if b.nodes >= b.limit {
		return nil
	}
	b.nodes++
	if b.nodes%256 == 0 && ctx.Err() != nil {
		return fmt.Errorf("bps: stopped after %d nodes: %w", b.nodes, ctx.Err())
	}
	if err := b.record(st); err != nil {
		return err
	}
	total := b.used + b.offset
	if len(b.chosen) == 0 {
		total = 0
	}
	benefit := b.search.value + b.value
	objective := benefit - b.penalty(total)
	b.incumbent = max(b.incumbent, objective)

	if depth == len(b.open) {
		b.open = append(b.open, nil)
	}
	open := b.open[depth][:0]
	for _, c := range free {
		if !b.fits(c.at) {
			continue
		}
		g, err := b.gain(st, b.items[c.at], c.gain)
		if err != nil {
			return err
		}
		c.gain, c.key = g, b.key(c.at, g, byDensity)
		if c.key > b.kappa { // others lower the objective, now and later
			open = append(open, c)
		}
	}
	slices.SortFunc(open, func(x, y candidate) int {
		if x.better(&y) {
			return -1
		}
		return 1
	})
	b.open[depth] = open

	// First all sets with the best candidate, then those without it but with the next one, and so on.
	tie, value, used := b.pool.tie(benefit), b.value, b.used
	for j := range open {
		most, left := objective, b.budget-used
		for _, d := range open[j:] {
			t := min(b.tokens[b.items[d.at]], left)
			most += (d.key - b.kappa) * float64(t)
			if left -= t; left == 0 {
				break
			}
		}
		if most <= b.incumbent+tie {
			return nil
		}
		i, with := b.items[open[j].at], st.Clone()
		with.Add(i)
		if b.shared {
			b.chosen, b.shared = slices.Clip(b.chosen), false
		}
		b.chosen = append(b.chosen, i)
		b.hash += hash(i)
		b.value, b.used = value+open[j].gain, used+b.tokens[i]
		if err := b.visit(ctx, with, open[j+1:], depth+1); err != nil {
			return err
		}
		b.chosen = b.chosen[:len(b.chosen)-1]
		b.hash -= hash(i)
		b.value, b.used = value, used
	}
	return nil
}

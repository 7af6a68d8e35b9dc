package native

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// An item is one planned sample.
type item struct {
	group  *group
	family midtool.Family
	n      int // 1-based number among the samples of group and family
}

func (it item) id() string {
	return string(it.family) + "/" + it.group.name + "/" + strconv.Itoa(it.n)
}

// plan shares the samples out over groups and families. Groups of a low quality are left out, with their tools among
// the rejected.
func (g *generator) plan() []item {
	var usable []*group
	total := 0
	for _, gr := range g.groups {
		q := gr.quality()
		if q < *g.opts.MinQuality {
			for _, t := range gr.tools {
				g.corpus.Rejected = append(g.corpus.Rejected,
					t.rejection("group_quality", fmt.Sprintf("%.2f of group %q is below %.2f", q, gr.name, *g.opts.MinQuality)))
			}
			g.corpus.Tools -= len(gr.tools)
			continue
		}
		gr.budget = budget(q, len(gr.tools), gr.meanParameters(), g.opts.BudgetCap)
		usable = append(usable, gr)
		total += gr.budget
	}
	slices.SortFunc(usable, func(a, b *group) int { return cmp.Compare(a.name, b.name) })
	if g.opts.Samples > 0 && total > 0 {
		weights := make([]int, len(usable))
		for i, gr := range usable {
			weights[i] = gr.budget
		}
		for i, n := range largestRemainder(g.opts.Samples, weights) {
			usable[i].budget = n
		}
	}
	order := sortedFamilies(g.opts.Shares) // ties between remainders go by name
	weights := make([]int, len(order))
	for i, f := range order {
		weights[i] = g.opts.Shares[f]
	}
	var items []item
	for _, gr := range usable {
		g.cast(gr)
		counts := make(map[midtool.Family]int)
		for i, n := range largestRemainder(gr.budget, weights) {
			f := order[i]
			if len(gr.byFamily[f]) == 0 {
				f = midtool.Single
			}
			counts[f] += n
		}
		for _, f := range families {
			for n := range counts[f] {
				items = append(items, item{gr, f, n + 1})
			}
		}
	}
	return items
}

// largestRemainder shares n out in proportion to weights, which must have a positive sum: each gets the floor of its
// part, and the largest remainders one more, the first of equal ones.
func largestRemainder(n int, weights []int) []int {
	sum := uint64(0)
	for _, w := range weights {
		sum += uint64(w)
	}
	out := make([]int, len(weights))
	remainder := make([]uint64, len(weights))
	left := n
	for i, w := range weights {
		hi, lo := bits.Mul64(uint64(n), uint64(w))
		q, r := bits.Div64(hi, lo, sum)
		out[i], remainder[i] = int(q), r
		left -= int(q)
	}
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainder[b], remainder[a]) })
	for _, i := range order[:left] {
		out[i]++
	}
	return out
}

// cast lists for each family the tools of the group that a sample can be built around, in an order of its own, so that
// small budgets do not favor small IDs. Any tool will do for single.
func (g *generator) cast(gr *group) {
	gr.byFamily = make(map[midtool.Family][]*tool, len(families))
	for _, f := range families {
		var out []*tool
		for _, t := range gr.tools {
			if g.suits(t, f) {
				out = append(out, t)
			}
		}
		gr.byFamily[f] = keyed(draw.New(g.opts.Seed, "tool", string(f), gr.name), out)
	}
}

// center is the tool that a planned sample is built around: the candidates take turns.
func (g *generator) center(it item) *tool {
	c := it.group.byFamily[it.family]
	return c[(it.n-1)%len(c)]
}

func (g *generator) suits(t *tool, f midtool.Family) bool {
	switch f {
	case midtool.Parallel: // equal calls are no two calls
		return len(t.params) > 0 || len(t.group.tools) > 1
	case midtool.Sequential:
		return t.startsChain()
	case midtool.MultiTurn:
		return t.startsChain() || len(t.shares) > 0
	case midtool.MissingInfo:
		return len(t.withheld()) > 0
	case midtool.MissingFunction, midtool.Irrelevance: // something else must be there to be offered
		return len(g.groups) > 1 || len(t.group.tools) > 1
	}
	return true
}

// withheld lists the parameters that a request can leave out, so that nothing but an answer of the user can supply
// them.
func (t *tool) withheld() []string {
	var out []string
	for _, p := range t.params {
		if p.required && p.askable && !t.produced[p.name] {
			out = append(out, p.name)
		}
	}
	return out
}

// startsChain holds for a tool that feeds another and needs no other to be fed.
func (t *tool) startsChain() bool {
	if len(t.feeds) == 0 {
		return false
	}
	for _, p := range t.params {
		if p.required && t.produced[p.name] {
			return false
		}
	}
	return true
}

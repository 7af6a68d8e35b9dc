package native

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/apportion"
	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// A Plan is what [Generate] makes, sample by sample, so that a large corpus can be made in runs, at any time and by
// several processes: equal tools and options give equal plans, and a run does not depend on those before it. It keeps what
// it has learned of the tools from run to run, and takes some 30 bytes a sample. It is not safe for concurrent use.
type Plan struct {
	g       *generator
	items   []item
	workers []*worker
}

// NewPlan decides which samples [Generate] makes of the tools, and looks at no more than the tools for that. The error is
// that of ctx or names bad options.
func NewPlan(ctx context.Context, tools []midtool.Tool, o *Options) (*Plan, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &generator{opts: opts}
	if err := g.prepare(ctx, tools); err != nil {
		return nil, err
	}
	p := &Plan{g: g, items: g.plan()}
	sortRejected(g.rejected)
	for range opts.Workers {
		w := &worker{g: g, check: midtool.Checker{MaxTokens: opts.MaxTokens}}
		if opts.Replay {
			w.check.Replay = opts.Executor
		}
		p.workers = append(p.workers, w)
	}
	return p, nil
}

// Len is the number of planned samples.
func (p *Plan) Len() int { return len(p.items) }

// Tools is the number of distinct usable tools.
func (p *Plan) Tools() int { return p.g.tools }

// Rejected returns the tools that are left out, in the order of [midtool.Corpus] Rejected. The slice is the caller's own.
func (p *Plan) Rejected() []midtool.Rejection { return slices.Clone(p.g.rejected) }

// Generate makes the samples from one number up to another, 0 <= from <= to <= Len, in the order of the plan. Planned counts
// these samples, and Rejected holds those of them that are not kept; the tools that are left out are not among them. Samples that say the
// same are all kept, for a run knows nothing of the others: that is the difference to the function [Generate], whose other
// rules hold. The file Answers is open, and locked, during a run.
func (p *Plan) Generate(ctx context.Context, from, to int) (*midtool.Corpus, error) {
	if from < 0 || to < from || to > len(p.items) {
		return nil, fmt.Errorf("native: Plan.Generate: [%d, %d) is no part of the %d planned samples", from, to, len(p.items))
	}
	return p.generate(ctx, from, to, nil)
}

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
				g.rejected = append(g.rejected,
					t.rejection("group_quality", fmt.Sprintf("%.2f of group %q is below %.2f", q, gr.name, *g.opts.MinQuality)))
			}
			g.tools -= len(gr.tools)
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
		for i, n := range apportion.LargestRemainder(g.opts.Samples, weights) {
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
		for i, n := range apportion.LargestRemainder(gr.budget, weights) {
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

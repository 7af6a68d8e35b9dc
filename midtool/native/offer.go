package native

import (
	"cmp"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// Sizes of the offered set and their weights in percent (ours): how many distractors stand beside the called tools.
var offerSizes = []struct{ percent, lo, hi int }{{5, 0, 0}, {10, 1, 1}, {50, 2, 4}, {25, 5, 8}, {10, 9, 36}}

// offer chooses the tools offered from the start and their order: the needed ones and distractors, half of which share
// the group of the first, the odd one too; where a kind runs short the other fills in. No distractor
// is confusable with a needed or late tool, or alike an absent one. All fit in 3/4 of MaxTokens.
func (g *generator) offer(d *draw.Draws, gold, late []*tool, absent *tool) []*tool {
	size, x := 0, d.Pick(100)
	for _, o := range offerSizes {
		if x -= o.percent; x < 0 {
			size = d.Between(o.lo, o.hi)
			break
		}
	}
	if len(gold) == 0 {
		size = max(size, 1)
	}
	needed := slices.Concat(gold, late)
	home := absent
	if len(needed) > 0 {
		home = needed[0]
	}
	own := home.group
	out := slices.Clone(gold)
	tokens := 0
	for _, t := range needed {
		tokens += t.tokens
	}
	var refused []*tool // they come up again in small groups
	try := func(o *tool) bool {
		if slices.Contains(out, o) || slices.Contains(refused, o) || slices.Contains(late, o) ||
			tokens+o.tokens > g.opts.MaxTokens*3/4 || absent != nil && (o == absent || alike(absent, o)) ||
			slices.ContainsFunc(needed, func(t *tool) bool { return confusable(t, o) }) {
			refused = append(refused, o)
			return false
		}
		tokens += o.tokens
		out = append(out, o)
		return true
	}
	fill := func(want int, candidate func() *tool) {
		for tries := 4*want + 8; want > 0 && tries > 0; tries-- {
			if try(candidate()) {
				want--
			}
		}
	}
	hard := func() *tool { return draw.One(d, own.tools) }
	easy := func() *tool { return draw.One(d, g.groups[g.otherGroup(d, own.rank)].tools) }
	left := func() int { return size + len(gold) - len(out) }
	if len(own.tools) > 1 {
		fill((size+1)/2, hard)
	}
	if len(g.groups) > 1 {
		fill(left(), easy)
	}
	if len(own.tools) > 1 {
		fill(left(), hard)
	}
	return keyed(d, out)
}

// otherGroup draws a group by weight; the few draws that hit the excluded one go to its neighbor.
func (g *generator) otherGroup(d *draw.Draws, not int) int {
	i, _ := slices.BinarySearch(g.weight, unit(d)*g.weight[len(g.weight)-1])
	if i = min(i, len(g.groups)-1); i == not {
		return (i + 1) % len(g.groups)
	}
	return i
}

// keyed returns the tools in a drawn order.
func keyed(d *draw.Draws, tools []*tool) []*tool {
	type drawn struct {
		key  uint64
		tool *tool
	}
	order := make([]drawn, len(tools))
	for i, t := range tools {
		order[i] = drawn{d.Key(), t}
	}
	slices.SortFunc(order, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(a.key, b.key), strings.Compare(a.tool.ID, b.tool.ID))
	})
	out := make([]*tool, len(tools))
	for i := range order {
		out[i] = order[i].tool
	}
	return out
}

// some draws up to 16 different tools of a list, in a drawn order.
func some(d *draw.Draws, tools []*tool) []*tool {
	if len(tools) <= 16 {
		return keyed(d, tools)
	}
	var out []*tool
	for len(out) < 16 {
		if t := draw.One(d, tools); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// unit draws from [0, 1).
func unit(d *draw.Draws) float64 { return float64(d.Key()>>11) / (1 << 53) }

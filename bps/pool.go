package bps

import (
	"cmp"
	"slices"
)

// A pool keeps, of all sets it is shown, those that can be on the frontier of tokens against benefit or tie with one that is. What
// it ends up with does not depend on the order in which it sees them.
type pool struct {
	levels []level // by tokens
	noise  float64 // size of the numbers that a benefit is the difference of
}

// A level holds the sets of one token total that have its largest benefit, up to rounding.
type level struct {
	tokens  int
	benefit float64
	sets    []record // different benefits
}

type record struct {
	benefit float64
	items   []int // ascending
}

// tie is the largest difference between benefits near v that counts as none: mathematically equal sums come out differently. It
// is relative, so that the unit of the benefit does not matter.
func (p *pool) tie(v float64) float64 { return 1e-12 * max(v, p.noise) }

// find returns the position of the last level with at most the given tokens; -1 if there is none.
func (p *pool) find(tokens int) int {
	lo, hi := 0, len(p.levels)
	for lo < hi {
		if mid := (lo + hi) / 2; p.levels[mid].tokens <= tokens {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// hopeless reports whether a set of the given tokens and about the given benefit is no match for one the pool has. Gains that were
// summed may be off by 1e-9.
func (p *pool) hopeless(tokens int, benefit float64) bool {
	at := p.find(tokens)
	return at >= 0 && benefit < p.levels[at].benefit-1e-9*max(benefit, p.noise)
}

// has reports whether the pool keeps the very set, ascending, at the given tokens.
func (p *pool) has(tokens int, items []int) bool {
	at := p.find(tokens)
	if at < 0 || p.levels[at].tokens != tokens {
		return false
	}
	return slices.ContainsFunc(p.levels[at].sets, func(r record) bool { return slices.Equal(r.items, items) })
}

// add shows the pool a set, ascending, with its exact benefit. The slice is copied if it is kept.
func (p *pool) add(tokens int, benefit float64, items []int) {
	at := p.find(tokens)
	if at >= 0 && benefit < p.levels[at].benefit-p.tie(benefit) {
		return
	}
	if at < 0 || p.levels[at].tokens != tokens {
		at++
		p.levels = slices.Insert(p.levels, at, level{tokens: tokens, benefit: benefit})
	}
	lv := &p.levels[at]
	lv.benefit = max(lv.benefit, benefit)
	lv.sets = slices.DeleteFunc(lv.sets, func(r record) bool { return r.benefit < lv.benefit-p.tie(lv.benefit) })
	same := slices.IndexFunc(lv.sets, func(r record) bool { return r.benefit == benefit })
	switch {
	case same < 0:
		lv.sets = append(lv.sets, record{benefit, slices.Clone(items)})
	case compareSets(items, lv.sets[same].items) < 0:
		lv.sets[same].items = slices.Clone(items)
	}
	end := at + 1
	for end < len(p.levels) && p.levels[end].benefit < benefit-p.tie(benefit) {
		end++
	}
	p.levels = slices.Delete(p.levels, at+1, end)
}

// frontier returns the sets that no other one beats in tokens and benefit, both strictly increasing. A rise that may be rounding
// is none.
func (p *pool) frontier() []Point {
	var points []Point
	for _, lv := range p.levels {
		best := slices.MinFunc(lv.sets, func(a, b record) int { return compareSets(a.items, b.items) })
		if n := len(points); n == 0 || best.benefit > points[n-1].Benefit+p.tie(best.benefit) {
			points = append(points, Point{Tokens: lv.tokens, Benefit: best.benefit, Items: best.items})
		}
	}
	return points
}

// compareSets orders sets with equal tokens and benefit: fewer candidates first, then the smaller list.
func compareSets(a, b []int) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
}

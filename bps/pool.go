package bps

import (
	"cmp"
	"math"
	"slices"
)

// A pool keeps, of all sets it is shown, those that can be on the frontier of tokens against benefit or tie with one that is. What
// it ends up with does not depend on the order in which it sees them.
type pool struct {
	sets  []record  // by tokens; several of one total differ in benefit, by rounding alone
	noise float64   // size of the numbers that a benefit is the difference of
	best  []float64 // by tokens, the largest benefit with at most as many; nil if the budget is large
}

// A record is a set with its benefit. The slice of items belongs to the chain that found it, in whose order it is, and is shared by the
// prefixes of that chain: a chain of k candidates would need k*k/2 numbers otherwise.
type record struct {
	tokens  int
	benefit float64
	items   []int
	sorted  []int // items, ascending, where ties have asked for it and they are few
	hash    uint64
}

// ascending returns the members in order.
func (r *record) ascending() []int {
	const few = 128
	if r.sorted != nil || len(r.items) == 0 {
		return r.sorted
	}
	sorted := slices.Clone(r.items)
	slices.Sort(sorted)
	if len(sorted) <= few {
		r.sorted = sorted
	}
	return sorted
}

// hash mixes a candidate; the hash of a set is the sum of those of its members, whatever their order.
func hash(i int) uint64 {
	x := uint64(i) + 0x9e3779b97f4a7c15 // the finalizer of SplitMix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func newPool(budget int, noise float64) pool {
	const largest = 1 << 14 // bounds the memory of best
	p := pool{noise: noise}
	if budget < largest {
		p.best = make([]float64, budget+1)
		for t := range p.best {
			p.best[t] = math.Inf(-1)
		}
	}
	return p
}

// tie is the largest difference between benefits near v that counts as none: mathematically equal sums come out differently. It
// is relative, so that the unit of the benefit does not matter.
func (p *pool) tie(v float64) float64 { return 1e-12 * max(v, p.noise) }

// at returns the sets of the largest total that is not above the given tokens, as a range of p.sets, and their largest benefit.
func (p *pool) at(tokens int) (from, to int, benefit float64) {
	to, _ = slices.BinarySearchFunc(p.sets, tokens, func(r record, tokens int) int {
		if r.tokens <= tokens {
			return -1
		}
		return 1
	})
	benefit = math.Inf(-1)
	for from = to; from > 0 && p.sets[from-1].tokens == p.sets[to-1].tokens; from-- {
		benefit = max(benefit, p.sets[from-1].benefit)
	}
	return from, to, benefit
}

// hopeless reports whether a set of the given tokens and about the given benefit is no match for one the pool has. Gains that were
// summed may be off by 1e-9.
func (p *pool) hopeless(tokens int, benefit float64) bool {
	var best float64
	if p.best != nil {
		best = p.best[tokens]
	} else {
		_, _, best = p.at(tokens)
	}
	return benefit < best-1e-9*max(benefit, p.noise)
}

// has reports whether the pool keeps the very set. It goes by tokens, size and hash: two sets would have to agree in 64 bits to be
// taken for one.
func (p *pool) has(r record) bool {
	from, to, _ := p.at(r.tokens)
	return slices.ContainsFunc(p.sets[from:to], func(q record) bool {
		return q.hash == r.hash && q.tokens == r.tokens && len(q.items) == len(r.items)
	})
}

// add shows the pool a set with its exact benefit and reports whether it is kept. It does not keep r.sorted.
func (p *pool) add(r record) bool {
	from, to, best := p.at(r.tokens)
	if r.benefit < best-p.tie(r.benefit) {
		return false
	}
	if from < to && p.sets[from].tokens < r.tokens {
		from = to
	}
	best = r.benefit
	for k := from; k < to; k++ {
		best = max(best, p.sets[k].benefit)
		if p.sets[k].benefit != r.benefit {
			continue
		}
		if compareSets(r.ascending(), p.sets[k].ascending()) >= 0 {
			return false
		}
		r.sorted = nil
		p.sets[k] = r
		return true
	}
	r.sorted = nil
	p.sets = slices.Insert(p.sets, to, r)
	for t := r.tokens; t < len(p.best) && p.best[t] < r.benefit; t++ {
		p.best[t] = r.benefit
	}
	// It may beat others of the same total, and those of larger totals.
	end := to + 1
	for end < len(p.sets) && p.sets[end].benefit < r.benefit-p.tie(r.benefit) {
		end++
	}
	p.sets = slices.Delete(p.sets, to+1, end)
	for k := to - 1; k >= from; k-- {
		if p.sets[k].benefit < best-p.tie(best) {
			p.sets = slices.Delete(p.sets, k, k+1)
		}
	}
	return true
}

// merge shows the pool all sets of another one.
func (p *pool) merge(q *pool) {
	for _, r := range q.sets {
		p.add(r)
	}
}

// frontier returns the sets that no other one beats in tokens and benefit, both strictly increasing. A rise that may be rounding
// is none.
func (p *pool) frontier() []record {
	var points []record
	for from, to := 0, 0; from < len(p.sets); from = to {
		best := &p.sets[from]
		for to = from + 1; to < len(p.sets) && p.sets[to].tokens == best.tokens; to++ {
			if compareSets(p.sets[to].ascending(), best.ascending()) < 0 {
				best = &p.sets[to]
			}
		}
		if n := len(points); n == 0 || best.benefit > points[n-1].benefit+p.tie(best.benefit) {
			points = append(points, *best)
		}
	}
	return points
}

// compareSets orders sets with equal tokens and benefit, ascending: fewer candidates first, then the smaller list.
func compareSets(a, b []int) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
}

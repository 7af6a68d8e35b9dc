package skill

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/skill/internal/vector"
)

// pairTolerance makes equal what two computations of the same cosine return.
const pairTolerance = 1e-12

// A tally counts, for each of a few limits, the values of a stream that are at most the limit, within the tolerance. It
// holds no value, so millions of pairs need no memory and no sorting.
type tally struct {
	limits []float64 // ascending, with the tolerance; of equal ones the first counts
	counts []int     // counts[i]: values above limits[i-1] and at most limits[i], in the end all up to limits[i]; one more for those above all
	cells  []int32   // cells[k]: how many limits lie in cells before k
	total  int
}

// tallyCells is a power of 2, as many as there are limits in common memories: few limits share one.
const tallyCells = 4096

// cellOf returns the cell of x, at least -1. It never falls as x grows.
func cellOf(x float64) int { return min(tallyCells-1, int((x+1)*(tallyCells/2))) }

func newTally(limits []float64) *tally {
	t := &tally{cells: make([]int32, tallyCells+1)}
	for _, x := range limits {
		t.limits = append(t.limits, x+pairTolerance)
	}
	slices.Sort(t.limits)
	t.counts = make([]int, len(t.limits)+1)
	for _, x := range t.limits {
		t.cells[cellOf(x)+1]++
	}
	for k := range tallyCells {
		t.cells[k+1] += t.cells[k]
	}
	return t
}

// add counts values, clamped to [-1, 1].
func (t *tally) add(values []float64) {
	for _, x := range values {
		x = clamp(x)
		k := cellOf(x)
		lo, hi := int(t.cells[k]), int(t.cells[k+1])
		for lo < hi {
			if mid := int(uint(lo+hi) >> 1); t.limits[mid] < x {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		t.counts[lo]++
	}
	t.total += len(values)
}

// sum turns the counts into those of all values up to each limit. It ends the counting.
func (t *tally) sum() {
	for i := range t.limits {
		t.counts[i+1] += t.counts[i]
	}
}

// share returns the share of the values that are at most x, which is one of the limits.
func (t *tally) share(x float64) float64 {
	i, _ := slices.BinarySearch(t.limits, x+pairTolerance)
	return float64(t.counts[i]) / float64(t.total)
}

// postings is an index from entries to vectors: a product takes the entries that are not 0 on both sides alone. A sum has
// its terms in the order of the entries, as that of [vector.Vector.Cosines] has.
type postings struct {
	start []int     // of dimension d: its entries are start[d] to start[d+1]
	at    []int32   // vector, ascending in a dimension
	val   []float64 // of the entry
}

// newPostings indexes at least one vector.
func newPostings(vs []vector.Vector) *postings {
	p := &postings{start: make([]int, vs[0].Dim+1)}
	for _, v := range vs {
		for _, d := range v.At {
			p.start[d+1]++
		}
	}
	for d := range vs[0].Dim {
		p.start[d+1] += p.start[d]
	}
	p.at, p.val = make([]int32, p.start[vs[0].Dim]), make([]float64, p.start[vs[0].Dim])
	next := slices.Clone(p.start)
	for i, v := range vs {
		for n, d := range v.At {
			p.at[next[d]], p.val[next[d]] = int32(i), v.Val[n]
			next[d]++
		}
	}
	return p
}

// cosines writes the cosines of u and every vector into dst.
func (p *postings) cosines(dst []float64, u vector.Vector) {
	clear(dst)
	for n, d := range u.At {
		from, to := p.start[d], p.start[d+1]
		accumulate(dst, u.Val[n], p.at[from:to], p.val[from:to])
	}
	for i, x := range dst {
		dst[i] = clamp(x)
	}
}

// pairs calls add with the products of all pairs of the vectors, which are those of the index, one vector with those after
// it at a time.
func (p *postings) pairs(ctx context.Context, vs []vector.Vector, add func([]float64)) error {
	next := slices.Clone(p.start) // of each dimension, the first entry of a vector after the present one
	buf := make([]float64, len(vs))
	for i, v := range vs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("skill: score: %w", err)
		}
		after := buf[i+1:]
		clear(after)
		for n, d := range v.At {
			next[d]++
			from, to := next[d], p.start[d+1]
			accumulate(buf, v.Val[n], p.at[from:to], p.val[from:to])
		}
		add(after)
	}
	return nil
}

// accumulate adds u times each entry to the sum of its vector.
func accumulate(sums []float64, u float64, at []int32, val []float64) {
	val = val[:len(at)]
	for k, j := range at {
		sums[j] += u * val[k]
	}
}

// samplePairs calls add with the cosines of o.PairSamples pairs of at least two vectors, drawn with replacement.
func samplePairs(ctx context.Context, vs []vector.Vector, o *ScoreOptions, add func([]float64)) error {
	n := len(vs)
	first, second := make([]int32, o.PairSamples), make([]int32, o.PairSamples)
	start := make([]int, n+1)
	for s := range first {
		i, k := o.Rand.IntN(n), o.Rand.IntN(n-1)
		if k >= i {
			k++ // every ordered pair of two is as likely, hence every unordered one
		}
		first[s], second[s] = int32(i), int32(k)
		start[i+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	// The partners of one vector together: its entries are spread out once.
	partners, next := make([]int32, o.PairSamples), slices.Clone(start)
	for s, i := range first {
		partners[next[i]] = second[s]
		next[i]++
	}
	spread := make([]float64, vs[0].Dim)
	var group []vector.Vector
	var cosines []float64
	for i, v := range vs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("skill: score: %w", err)
		}
		group = group[:0]
		for _, k := range partners[start[i]:start[i+1]] {
			group = append(group, vs[k])
		}
		cosines = slices.Grow(cosines[:0], len(group))[:len(group)]
		v.Cosines(cosines, group, spread)
		add(cosines)
	}
	return nil
}

// isCosine reports whether x lies in [-1, 1] but for rounding; NaN does not.
func isCosine(x float64) bool { return math.Abs(x) <= 1+1e-9 }

func clamp(x float64) float64 { return max(-1, min(1, x)) }

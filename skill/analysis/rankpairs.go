package analysis

import (
	"math"
	"slices"

	"github.com/throughline-go/throughline/internal/stat"
)

// rankPairs computes rank correlations of many rearrangements of the same pairs. Sorting is done once: afterwards every
// value is a small code, so that a coefficient takes O(n log k) time with k distinct values of y and allocates nothing.
type rankPairs struct {
	x, y   []int32 // code of each value in its stratum, from 0 in ascending order
	strata []int   // sizes of consecutive runs; pairs of two of them do not count
	kx, ky []int   // number of codes of each stratum

	hx, hy []int64   // pairs of each code
	cx, cy []float64 // twice the average rank of each code less n+1
	start  []int     // of each code of x in sorted
	sorted []int32   // codes of y by the code of x
	tree   []int64   // Fenwick tree over the codes of y
}

func newRankPairs(x, y []float64, strata []int) *rankPairs {
	n := len(x)
	p := &rankPairs{
		x: make([]int32, n), y: make([]int32, n), strata: strata,
		kx: make([]int, len(strata)), ky: make([]int, len(strata)),
		hx: make([]int64, n), hy: make([]int64, n), cx: make([]float64, n), cy: make([]float64, n),
		start: make([]int, n), sorted: make([]int32, n), tree: make([]int64, n+1),
	}
	lo := 0
	for g, size := range strata {
		p.kx[g] = encode(p.x[lo:lo+size], x[lo:lo+size])
		p.ky[g] = encode(p.y[lo:lo+size], y[lo:lo+size])
		lo += size
	}
	return p
}

// encode writes the codes of values into dst and returns their number. -0 has the code of +0.
func encode(dst []int32, values []float64) int {
	s := slices.Compact(slices.Sorted(slices.Values(values)))
	for i, v := range values {
		k, _ := slices.BinarySearch(s, v)
		dst[i] = int32(k)
	}
	return len(s)
}

// count fills the histograms of the pairs (x[xs[i]], y[ys[i]]) of stratum g, which starts at lo.
func (p *rankPairs) count(g, lo int, xs, ys []int) (hx, hy []int64) {
	hx, hy = p.hx[:p.kx[g]], p.hy[:p.ky[g]]
	clear(hx)
	clear(hy)
	for i := lo; i < lo+p.strata[g]; i++ {
		hx[p.x[xs[i]]]++
		hy[p.y[ys[i]]]++
	}
	return hx, hy
}

// spearman returns Spearman's coefficient of the pairs (x[xs[i]], y[ys[i]]). An index never leaves its stratum.
func (p *rankPairs) spearman(xs, ys []int) stat.Correlation {
	var ab, aa, bb float64
	lo := 0
	for g, size := range p.strata {
		hx, hy := p.count(g, lo, xs, ys)
		a, b := centre(p.cx, hx, size), centre(p.cy, hy, size)
		var sum float64
		for i := lo; i < lo+size; i++ {
			sum += p.cx[p.x[xs[i]]] * p.cy[p.y[ys[i]]]
		}
		// Ranks over the size of their stratum, so that a task counts as much in a small one as in a large one.
		w := float64(size) * float64(size)
		if size > 0 {
			ab, aa, bb = ab+sum/w, aa+a/w, bb+b/w
		}
		lo += size
	}
	return correlation(ab, aa, bb)
}

// centre writes twice the average rank of each code less n+1 and returns the sum of its squares over all n values.
func centre(dst []float64, histogram []int64, n int) float64 {
	var sum float64
	var below int64
	for k, h := range histogram {
		c := float64(2*below + h - int64(n)) // positions below..below+h-1 have the ranks below+1..below+h
		below += h
		dst[k] = c
		sum += float64(h) * c * c
	}
	return sum
}

// kendall returns Kendall's tau-b of the pairs (x[xs[i]], y[ys[i]]). An index never leaves its stratum.
func (p *rankPairs) kendall(xs, ys []int) stat.Correlation {
	var s, nx, ny int64 // concordant less discordant pairs; pairs that are not tied in x, and in y
	lo := 0
	for g, size := range p.strata {
		hx, hy := p.count(g, lo, xs, ys)
		n0 := pairs(int64(size))
		nx, ny = nx+n0, ny+n0
		at := 0
		for k, h := range hx {
			nx -= pairs(h)
			p.start[k] = at
			at += int(h)
		}
		for _, h := range hy {
			ny -= pairs(h)
		}
		for i := lo; i < lo+size; i++ {
			k := p.x[xs[i]]
			p.sorted[p.start[k]] = p.y[ys[i]]
			p.start[k]++
		}
		tree := p.tree[:p.ky[g]+1]
		clear(tree)
		var seen int64 // values of y at smaller codes of x
		rest := p.sorted[:size]
		for _, h := range hx {
			tied := rest[:h]
			rest = rest[h:]
			for _, y := range tied {
				s += prefix(tree, int(y)) + prefix(tree, int(y)+1) - seen // below, less above
			}
			for _, y := range tied {
				for k := int(y) + 1; k < len(tree); k += k & -k {
					tree[k]++
				}
			}
			seen += h
		}
		lo += size
	}
	return correlation(float64(s), float64(nx), float64(ny))
}

// prefix returns the sum of the first k counts of a Fenwick tree.
func prefix(tree []int64, k int) int64 {
	var sum int64
	for ; k > 0; k -= k & -k {
		sum += tree[k]
	}
	return sum
}

// pairs returns the number of pairs among n items.
func pairs(n int64) int64 { return n * (n - 1) / 2 }

// correlation returns ab/sqrt(aa·bb) where that is defined.
func correlation(ab, aa, bb float64) stat.Correlation {
	if aa == 0 || bb == 0 {
		return stat.Correlation{}
	}
	return stat.Correlation{Value: max(-1, min(1, ab/math.Sqrt(aa*bb))), Defined: true}
}

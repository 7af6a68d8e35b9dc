package benefit

import (
	"math"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// facility keeps similarities as whole multiples of unit. Integers are faster to compare and add than floats, and sums of them are
// exact: equal candidates have equal gains, and the gain of a candidate that improves nothing is 0. The narrow type halves the memory
// that a gain has to read, which is what takes the time.
type facility[T uint32 | uint64] struct {
	n, points int
	rows      []T      // n rows of weighted similarities
	alone     []uint64 // sums of the rows: gains at the empty set
	unit      float64
}

// NewFacilityLocation returns the facility location benefit:
//
//	G(S) = sum over points v of weights[v] * max(0, the largest similarity[i][v] of i in S)
//
// Row similarity[i] holds the similarity of candidate i to every point; points may be the candidates themselves, or what they are to
// stand for, such as past queries. A negative similarity counts as 0. weights has one entry a point; nil means 1 for each.
//
// Similarities must be finite, weights finite and not negative, and the rows of one length; otherwise, and if the benefit of all
// candidates overflows, the error is [bps.ErrBenefit]. They are copied, and rounded down to a multiple of 2^-61 of the benefit of
// all candidates, or of 2^-1022. Memory is 8 bytes a similarity. A gain reads one row, but at the empty set it is a look-up.
func NewFacilityLocation(similarity [][]float64, weights []float64) (bps.Incremental, error) {
	points, err := width("similarity", similarity, weights)
	if err != nil {
		return nil, err
	}
	if err := checkWeights(weights); err != nil {
		return nil, err
	}
	// The benefit of all candidates bounds every sum of integers.
	top := make([]float64, points)
	for i, row := range similarity {
		for v, s := range row {
			if !finite(s) {
				return nil, invalid("similarity[%d][%d] is %v, want a finite number", i, v, s)
			}
			if s > top[v] {
				top[v] = s
			}
		}
	}
	all := 0.0
	for v, s := range top {
		if weights != nil {
			s *= weights[v]
		}
		all += s
	}
	if !finite(all) {
		return nil, invalid("the similarities add up to %v, want a finite number", all)
	}
	_, exp := math.Frexp(all)     // all < 2^exp
	shift := min(62-exp, 1022)    // then the unit is not subnormal
	scale := math.Ldexp(1, shift) // all*scale < 2^62
	f := newFacility[uint64](len(similarity), points, math.Ldexp(1, -shift))
	for i, row := range similarity {
		out := f.row(i)
		for v, s := range row {
			if weights != nil {
				s *= weights[v]
			}
			if s > 0 {
				out[v] = uint64(int64(s * scale))
			}
		}
	}
	f.sum()
	return f, nil
}

func newFacility[T uint32 | uint64](n, points int, unit float64) *facility[T] {
	return &facility[T]{n: n, points: points, rows: make([]T, n*points), unit: unit}
}

func (f *facility[T]) row(i int) []T { return f.rows[i*f.points : (i+1)*f.points : (i+1)*f.points] }

// sum completes f when its rows are filled.
func (f *facility[T]) sum() {
	f.alone = make([]uint64, f.n)
	for i := range f.alone {
		for _, s := range f.row(i) {
			f.alone[i] += uint64(s)
		}
	}
}

func (f *facility[T]) float(x uint64) float64 { return float64(x) * f.unit }

// Len returns the number of candidates, which Select checks.
func (f *facility[T]) Len() int { return f.n }

// blockSize is the number of points that Value looks at together, so that their best similarities stay in the fastest cache.
const blockSize = 256

// fill sets best to the largest similarities of set to the points from first on.
func (f *facility[T]) fill(best []T, set []int, first int) {
	clear(best)
	for _, i := range set {
		for v, s := range f.row(i)[first:][:len(best)] {
			best[v] = max(best[v], s)
		}
	}
}

func (f *facility[T]) Value(set []int) float64 {
	var block [blockSize]T
	value := uint64(0)
	for first := 0; first < f.points; first += blockSize {
		best := block[:min(blockSize, f.points-first)]
		f.fill(best, set, first)
		for _, s := range best {
			value += uint64(s)
		}
	}
	return f.float(value)
}

// Parts returns the value of every point.
func (f *facility[T]) Parts(set []int) []float64 {
	best := make([]T, f.points)
	f.fill(best, set, 0)
	parts := make([]float64, f.points)
	for v, s := range best {
		parts[v] = f.float(uint64(s))
	}
	return parts
}

func (f *facility[T]) Start() bps.Gains {
	return &facilityGains[T]{f: f, best: make([]T, f.points)}
}

type facilityGains[T uint32 | uint64] struct {
	f     *facility[T]
	best  []T    // largest similarity to each point
	value uint64 // their sum
}

func (g *facilityGains[T]) Gain(i int) float64 {
	if g.value == 0 { // then all of best is 0
		return g.f.float(g.f.alone[i])
	}
	return g.f.float(sumMax(g.f.row(i), g.best) - g.value)
}

// sumMax returns the sum of the larger entries of two slices of one length. It is written for a compiler that does not vectorize: four
// independent comparisons without a branch, and two sums.
func sumMax[T uint32 | uint64](a, b []T) uint64 {
	b = b[:len(a)]
	var s, t uint64
	j := 0
	for ; j+4 <= len(a); j += 4 {
		p, q := a[j:j+4:j+4], b[j:j+4:j+4]
		s += uint64(max(p[0], q[0])) + uint64(max(p[1], q[1]))
		t += uint64(max(p[2], q[2])) + uint64(max(p[3], q[3]))
	}
	for ; j < len(a); j++ {
		s += uint64(max(a[j], b[j]))
	}
	return s + t
}

func (g *facilityGains[T]) Add(i int) {
	for v, s := range g.f.row(i) {
		if s > g.best[v] {
			g.value += uint64(s - g.best[v])
			g.best[v] = s
		}
	}
}

func (g *facilityGains[T]) Value() float64 { return g.f.float(g.value) }

func (g *facilityGains[T]) Clone() bps.Gains {
	return &facilityGains[T]{f: g.f, best: slices.Clone(g.best), value: g.value}
}

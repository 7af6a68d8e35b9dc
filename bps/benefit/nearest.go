package benefit

import (
	"cmp"
	"math"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// A Neighbor is one similarity of a candidate that is not 0.
type Neighbor struct {
	Point      int
	Similarity float64 // not positive counts as 0
}

type nearest struct {
	start   []int // neighbors of candidate i are start[i] to start[i+1]
	point   []uint32
	value   []float64 // weighted and positive
	alone   []float64 // gains at the empty set
	scratch scratch
}

// NewNearestFacilityLocation returns [NewFacilityLocation] for many candidates, where each is similar to few points: neighbors[i] lists
// them for candidate i, in any order, and every other similarity is 0. [Nearest] makes the lists from vectors; for very many vectors an
// approximate index does.
//
// There are len(neighbors) candidates and len(weights) points. Nil weights mean 1 for each point up to the largest that a list names, of
// at most 2^28. A point outside 0..len(weights)-1, one that is twice in a list, a similarity that is not finite, a weight that is
// negative or not finite, and products that overflow make the error [bps.ErrBenefit]. The slices are copied. Memory is 12 bytes a
// neighbor. A gain reads the neighbors of one candidate, but at the empty set it is a look-up; a clone copies 8 bytes a point.
func NewNearestFacilityLocation(neighbors [][]Neighbor, weights []float64) (bps.Incremental, error) {
	if err := checkWeights(weights); err != nil {
		return nil, err
	}
	if weights == nil {
		points := 0
		for i, list := range neighbors {
			for _, nb := range list {
				if nb.Point < 0 || nb.Point >= maxUnweighted {
					return nil, invalid("neighbors[%d] has point %d, want one of 0..%d, as there are no weights", i, nb.Point, maxUnweighted-1)
				}
				points = max(points, nb.Point+1)
			}
		}
		weights = slices.Repeat([]float64{1}, points)
	}
	if uint64(len(weights)) > math.MaxUint32 {
		return nil, invalid("%d points, want at most 2^32-1", len(weights))
	}
	total := 0
	for _, list := range neighbors {
		total += len(list)
	}
	f := &nearest{
		start:   make([]int, 1, len(neighbors)+1),
		point:   make([]uint32, 0, total),
		value:   make([]float64, 0, total),
		alone:   make([]float64, len(neighbors)),
		scratch: scratch{size: len(weights)},
	}
	byPoint := func(a, b Neighbor) int { return cmp.Compare(a.Point, b.Point) }
	var sorted []Neighbor
	for i, list := range neighbors {
		if !slices.IsSortedFunc(list, byPoint) {
			sorted = append(sorted[:0], list...)
			slices.SortFunc(sorted, byPoint)
			list = sorted
		}
		for j, nb := range list {
			switch {
			case nb.Point < 0 || nb.Point >= len(weights):
				return nil, invalid("neighbors[%d] has point %d, want one of %d", i, nb.Point, len(weights))
			case j > 0 && nb.Point == list[j-1].Point:
				return nil, invalid("neighbors[%d] has point %d twice", i, nb.Point)
			case !finite(nb.Similarity):
				return nil, invalid("neighbors[%d] has similarity %v to point %d, want a finite number", i, nb.Similarity, nb.Point)
			}
			if s := nb.Similarity * weights[nb.Point]; s > 0 {
				f.point = append(f.point, uint32(nb.Point))
				f.value = append(f.value, s)
				f.alone[i] += s
			}
		}
		f.start = append(f.start, len(f.point))
	}
	all := make([]int, len(neighbors))
	for i := range all {
		all[i] = i
		if !finite(f.alone[i]) {
			return nil, invalid("the similarities of candidate %d add up to %v, want a finite number", i, f.alone[i])
		}
	}
	if v := f.Value(all); !finite(v) {
		return nil, invalid("the similarities add up to %v, want a finite number", v)
	}
	return f, nil
}

// Nearest returns the neighbors of candidates for [NewNearestFacilityLocation]: those pairs of a candidate and a point where the
// candidate is among the k with the largest cosine to the point, and the cosine is positive. So every point is represented that can be.
// Equal cosines go to the lower candidate. Nil points mean the candidates themselves. Lists are in ascending order of points.
//
// It compares every candidate with every point, which takes their numbers and the length of the vectors multiplied. Vectors must be
// finite and of one length, and k positive; otherwise the error is [bps.ErrBenefit].
func Nearest(candidates, points [][]float64, k int) ([][]Neighbor, error) {
	if k < 1 {
		return nil, invalid("k is %d, want >= 1", k)
	}
	a, b, err := unit(candidates, points)
	if err != nil {
		return nil, err
	}
	lists := make([][]Neighbor, len(a))
	cosines := make([]float64, len(a))
	order := make([]int, 0, len(a))
	larger := func(i, j int) int { return cmp.Or(cmp.Compare(cosines[j], cosines[i]), cmp.Compare(i, j)) }
	for v := range b {
		dots(cosines, b[v], a)
		order = order[:0]
		least := 0.0 // of the first k as far as they are sorted: those that follow must be above it, being higher candidates
		for i, c := range cosines {
			if c <= least {
				continue
			}
			if order = append(order, i); len(order)/2 >= k { // at times, as to sort all would take most of the time
				slices.SortFunc(order, larger)
				order = order[:k]
				least = cosines[order[k-1]]
			}
		}
		slices.SortFunc(order, larger)
		for _, i := range order[:min(k, len(order))] {
			lists[i] = append(lists[i], Neighbor{Point: v, Similarity: min(cosines[i], 1)})
		}
	}
	return lists, nil
}

// Len returns the number of candidates, which Select checks.
func (f *nearest) Len() int { return len(f.alone) }

func (f *nearest) list(i int) (points []uint32, values []float64) {
	from, to := f.start[i], f.start[i+1]
	return f.point[from:to], f.value[from:to]
}

func (f *nearest) Value(set []int) float64 {
	x := f.scratch.get()
	best, value := *x, 0.0
	for _, i := range set {
		value += f.add(best, i)
	}
	for _, i := range set {
		points, _ := f.list(i)
		for _, v := range points {
			best[v] = 0
		}
	}
	f.scratch.put(x)
	return value
}

// add improves best by candidate i and returns by how much.
func (f *nearest) add(best []float64, i int) float64 {
	points, values := f.list(i)
	gain := 0.0
	for j, v := range points {
		if s := values[j]; s > best[v] {
			gain += s - best[v]
			best[v] = s
		}
	}
	return gain
}

// Parts returns the value of every point.
func (f *nearest) Parts(set []int) []float64 {
	parts := make([]float64, f.scratch.size)
	for _, i := range set {
		f.add(parts, i)
	}
	return parts
}

func (f *nearest) Start() bps.Gains {
	return &nearestGains{f: f, best: make([]float64, f.scratch.size)}
}

type nearestGains struct {
	f     *nearest
	best  []float64 // largest similarity to each point
	value float64
}

func (g *nearestGains) Gain(i int) float64 {
	if g.value == 0 { // then all of best is 0
		return g.f.alone[i]
	}
	points, values := g.f.list(i)
	values = values[:len(points)]
	gain := 0.0
	for j, v := range points {
		s := values[j]
		gain += s - min(s, g.best[v]) // no branch, and exactly 0 where nothing improves
	}
	return gain
}

func (g *nearestGains) Add(i int) { g.value += g.f.add(g.best, i) }

func (g *nearestGains) Value() float64 { return g.value }

func (g *nearestGains) Clone() bps.Gains {
	return &nearestGains{f: g.f, best: slices.Clone(g.best), value: g.value}
}

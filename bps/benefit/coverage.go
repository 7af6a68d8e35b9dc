package benefit

import (
	"slices"

	"github.com/throughline-go/throughline/bps"
)

type coverage struct {
	weights []float64
	start   []int // elements of candidate i are start[i] to start[i+1]
	element []int // ascending within a candidate
	scratch scratch
}

// NewWeightedCoverage returns the weighted coverage benefit:
//
//	G(S) = sum of weights[e] over the elements e that are in covers[i] for some i in S
//
// Row covers[i] lists the elements of candidate i, such as topics, fields or tests, in any order; one that is listed twice counts once.
//
// There are len(covers) candidates and len(weights) elements. Nil weights mean 1 for each element up to the largest that a row names, of
// at most 2^28. An element outside 0..len(weights)-1, a weight that is negative or not finite, and weights that add up to more than the
// largest number make the error [bps.ErrBenefit]. The slices are copied. A gain reads the elements of one candidate.
func NewWeightedCoverage(covers [][]int, weights []float64) (bps.Incremental, error) {
	if err := checkWeights(weights); err != nil {
		return nil, err
	}
	if weights == nil {
		elements := 0
		for i, row := range covers {
			for _, e := range row {
				if e < 0 || e >= maxUnweighted {
					return nil, invalid("covers[%d] has element %d, want one of 0..%d, as there are no weights", i, e, maxUnweighted-1)
				}
				elements = max(elements, e+1)
			}
		}
		weights = slices.Repeat([]float64{1}, elements)
	}
	all := 0.0
	for _, w := range weights {
		all += w
	}
	if !finite(all) {
		return nil, invalid("the weights add up to %v, want a finite number", all)
	}
	c := &coverage{weights: slices.Clone(weights), start: make([]int, 1, len(covers)+1), scratch: scratch{size: len(weights)}}
	for i, row := range covers {
		from := len(c.element)
		for _, e := range row {
			if e < 0 || e >= len(weights) {
				return nil, invalid("covers[%d] has element %d, want one of %d", i, e, len(weights))
			}
			c.element = append(c.element, e)
		}
		own := c.element[from:]
		slices.Sort(own)
		c.element = c.element[:from+len(slices.Compact(own))]
		c.start = append(c.start, len(c.element))
	}
	return c, nil
}

// Len returns the number of candidates, which Select checks.
func (c *coverage) Len() int { return len(c.start) - 1 }

func (c *coverage) list(i int) []int { return c.element[c.start[i]:c.start[i+1]] }

func (c *coverage) Value(set []int) float64 {
	x := c.scratch.get()
	covered, value := *x, 0.0
	for _, i := range set {
		for _, e := range c.list(i) {
			if covered[e] == 0 {
				covered[e] = 1
				value += c.weights[e]
			}
		}
	}
	for _, i := range set {
		for _, e := range c.list(i) {
			covered[e] = 0
		}
	}
	c.scratch.put(x)
	return value
}

// Parts returns the value of every element: its weight if it is covered, else 0.
func (c *coverage) Parts(set []int) []float64 {
	parts := make([]float64, len(c.weights))
	for _, i := range set {
		for _, e := range c.list(i) {
			parts[e] = c.weights[e]
		}
	}
	return parts
}

func (c *coverage) Start() bps.Gains { return &coverageGains{c: c, missing: slices.Clone(c.weights)} }

type coverageGains struct {
	c       *coverage
	missing []float64 // weights of the elements, 0 once they are covered
	value   float64
}

func (g *coverageGains) Gain(i int) float64 {
	gain := 0.0
	for _, e := range g.c.list(i) {
		gain += g.missing[e]
	}
	return gain
}

func (g *coverageGains) Add(i int) {
	for _, e := range g.c.list(i) {
		g.value += g.missing[e]
		g.missing[e] = 0
	}
}

func (g *coverageGains) Value() float64 { return g.value }

func (g *coverageGains) Clone() bps.Gains {
	return &coverageGains{c: g.c, missing: slices.Clone(g.missing), value: g.value}
}

package bps

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

type capability struct {
	n      int
	all    int   // capabilities
	index  []int // those with a positive demand, which alone are kept
	demand []float64
	supply []float64 // n rows of len(demand)
	covers []float64 // 1-exp(-supply): the share of what is still missing that a candidate covers
}

// NewCapability returns the benefit of arXiv:2608.19993, equation 3, with h(x) = 1-exp(-x):
//
//	G(S) = sum over k of w[k] * (1 - exp(-sum over i in S of u[i][k]))
//
// w[k] = demand[k] is the demand of the task for capability k and u[i][k] = supply[i][k] the supply of it by candidate i, both with
// the calibrations of the executor already multiplied in (equation 8). G is monotone and submodular, and G(empty) = 0. A gain
// costs one multiplication a demanded capability.
//
// There are len(supply) candidates and len(demand) capabilities; supply has one row a candidate and one column a capability. Entries
// must be finite and not negative, the demands together too, and rows as long as demand; otherwise the error is [ErrBenefit]. The slices are copied. Any
// number of goroutines may use the benefit. Like an index into a slice, Value panics if set holds a number outside
// 0..len(supply)-1; [Select] refuses the benefit for another number of candidates.
func NewCapability(demand []float64, supply [][]float64) (Incremental, error) {
	c := &capability{n: len(supply)}
	c.all = len(demand)
	sum := 0.0
	for k, w := range demand {
		if !finite(w) || w < 0 {
			return nil, fmt.Errorf("%w: demand[%d] is %v, want a finite number >= 0", ErrBenefit, k, w)
		}
		if w > 0 {
			sum += w
			c.index = append(c.index, k)
			c.demand = append(c.demand, w)
		}
	}
	if !finite(sum) {
		return nil, fmt.Errorf("%w: the demands add up to %v, want a finite number", ErrBenefit, sum)
	}
	c.supply = make([]float64, 0, c.n*len(c.demand))
	for i, row := range supply {
		if len(row) != len(demand) {
			return nil, fmt.Errorf("%w: supply[%d] has %d entries, want %d", ErrBenefit, i, len(row), len(demand))
		}
		for k, u := range row {
			if !finite(u) || u < 0 {
				return nil, fmt.Errorf("%w: supply[%d][%d] is %v, want a finite number >= 0", ErrBenefit, i, k, u)
			}
			if demand[k] > 0 {
				c.supply = append(c.supply, u)
			}
		}
	}
	c.covers = make([]float64, len(c.supply))
	for j, u := range c.supply {
		c.covers[j] = -math.Expm1(-u)
	}
	return c, nil
}

// Len returns the number of candidates, which Select checks.
func (c *capability) Len() int { return c.n }

func (c *capability) Value(set []int) float64 {
	value := 0.0
	for k := range c.demand {
		value += c.part(set, k)
	}
	return value
}

// part returns the term of a demanded capability.
func (c *capability) part(set []int, k int) float64 {
	x := 0.0
	for _, i := range set {
		x += c.supply[i*len(c.demand)+k]
	}
	return -c.demand[k] * math.Expm1(-x)
}

// Parts returns the term of every capability, which Explain asks for.
func (c *capability) Parts(set []int) []float64 {
	parts := make([]float64, c.all)
	for k, at := range c.index {
		parts[at] = c.part(set, k)
	}
	return parts
}

func (c *capability) Start() Gains {
	return &capabilityGains{c: c, missing: append([]float64(nil), c.demand...)}
}

type capabilityGains struct {
	c       *capability
	missing []float64 // w[k]*exp(-sum of u[i][k]): what is left to gain in dimension k
	value   float64
}

func (g *capabilityGains) Gain(i int) float64 {
	d := len(g.missing)
	return floats.Dot(g.missing, g.c.covers[i*d:(i+1)*d])
}

func (g *capabilityGains) Add(i int) {
	d := len(g.missing)
	covers := g.c.covers[i*d:][:d]
	g.value += floats.Dot(g.missing, covers)
	for k, m := range g.missing {
		g.missing[k] = m - m*covers[k]
	}
}

func (g *capabilityGains) Value() float64 { return g.value }

func (g *capabilityGains) Clone() Gains {
	return &capabilityGains{c: g.c, missing: append([]float64(nil), g.missing...), value: g.value}
}

// CopyFrom makes g a copy of another state of the same benefit.
func (g *capabilityGains) CopyFrom(src Gains) {
	from := src.(*capabilityGains)
	copy(g.missing, from.missing)
	g.value = from.value
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

package benefit

import (
	"slices"

	"github.com/throughline-go/throughline/bps"
)

type probabilistic struct {
	n       int
	weights []float64
	p       []float64 // n rows of len(weights)
}

// NewProbabilisticCoverage returns the weight of the elements that a set covers on average, if candidates cover them independently:
//
//	G(S) = sum over elements e of weights[e] * (1 - product over i in S of 1-p[i][e])
//
// p[i][e] is the probability that candidate i covers element e. weights has one entry an element; nil means 1 for each.
//
// Probabilities must be in [0, 1], weights finite and not negative with a finite sum, and the rows of one length; otherwise the error is
// [bps.ErrBenefit]. The slices are copied. A gain costs one multiplication an element.
func NewProbabilisticCoverage(p [][]float64, weights []float64) (bps.Incremental, error) {
	d, err := width("p", p, weights)
	if err != nil {
		return nil, err
	}
	if err := checkWeights(weights); err != nil {
		return nil, err
	}
	c := &probabilistic{n: len(p), weights: slices.Clone(weights), p: make([]float64, 0, len(p)*d)}
	if weights == nil {
		c.weights = slices.Repeat([]float64{1}, d)
	}
	all := 0.0
	for _, w := range c.weights {
		all += w
	}
	if !finite(all) {
		return nil, invalid("the weights add up to %v, want a finite number", all)
	}
	for i, row := range p {
		for e, q := range row {
			if !(q >= 0 && q <= 1) {
				return nil, invalid("p[%d][%d] is %v, want a number in [0, 1]", i, e, q)
			}
		}
		c.p = append(c.p, row...)
	}
	return c, nil
}

// Len returns the number of candidates, which Select checks.
func (c *probabilistic) Len() int { return c.n }

// part returns the value of element e.
func (c *probabilistic) part(set []int, e int) float64 {
	missing, value := c.weights[e], 0.0
	for _, i := range set {
		gain := missing * c.p[i*len(c.weights)+e]
		value += gain // not 1 less a product, which would lose small probabilities
		missing -= gain
	}
	return value
}

func (c *probabilistic) Value(set []int) float64 {
	value := 0.0
	for e := range c.weights {
		value += c.part(set, e)
	}
	return value
}

// Parts returns the value of every element.
func (c *probabilistic) Parts(set []int) []float64 {
	parts := make([]float64, len(c.weights))
	for e := range parts {
		parts[e] = c.part(set, e)
	}
	return parts
}

func (c *probabilistic) Start() bps.Gains {
	return &probabilisticGains{c: c, missing: slices.Clone(c.weights)}
}

type probabilisticGains struct {
	c       *probabilistic
	missing []float64 // weight of an element times the probability that nothing covers it
	value   float64
}

func (g *probabilisticGains) Gain(i int) float64 {
	missing := g.missing
	p := g.c.p[i*len(missing):][:len(missing)]
	gain := 0.0
	for e, m := range missing {
		gain += m * p[e]
	}
	return gain
}

func (g *probabilisticGains) Add(i int) {
	missing := g.missing
	p := g.c.p[i*len(missing):][:len(missing)]
	for e, m := range missing {
		gain := m * p[e]
		g.value += gain
		missing[e] = m - gain
	}
}

func (g *probabilisticGains) Value() float64 { return g.value }

func (g *probabilisticGains) Clone() bps.Gains {
	return &probabilisticGains{c: g.c, missing: slices.Clone(g.missing), value: g.value}
}

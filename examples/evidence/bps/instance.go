package main

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/throughline-go/throughline/bps"
)

const (
	slack = 1e-9 // of an inequality

	smallest = 2 // candidates of an instance
	largest  = 9
)

// An instance is a small problem with the value and the tokens of every set of candidates, by bit mask.
type instance struct {
	family  string
	tokens  []int
	budget  int
	benefit bps.Benefit
	values  []float64
	lengths []int
}

func (in *instance) String() string {
	return fmt.Sprintf("%s, tokens %v, budget %d, benefits alone %v", in.family, in.tokens, in.budget, in.alone())
}

// measure sets in.lengths.
func (in *instance) measure() {
	in.lengths = make([]int, 1<<len(in.tokens))
	for m := 1; m < len(in.lengths); m++ {
		in.lengths[m] = in.lengths[m&(m-1)] + in.tokens[bits.TrailingZeros(uint(m))]
	}
}

// additive returns an instance in which a set is worth the sum of what its candidates are worth.
func additive(family string, budget int, tokens []int, worth []float64) *instance {
	in := &instance{family: family, tokens: tokens, budget: budget, values: make([]float64, 1<<len(tokens))}
	for i, v := range worth {
		for m := range 1 << i {
			in.values[1<<i|m] = in.values[m] + v
		}
	}
	in.benefit = table(in.values)
	in.measure()
	return in
}

func (in *instance) alone() []float64 {
	v := make([]float64, len(in.tokens))
	for i := range v {
		v[i] = in.values[1<<i]
	}
	return v
}

func (in *instance) all() float64 { return in.values[len(in.values)-1] }

func (in *instance) problem() bps.Problem {
	return bps.Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit}
}

// A table is a benefit that is given by the value of every set, by bit mask.
type table []float64

func maskOf(set []int) int {
	m := 0
	for _, i := range set {
		m |= 1 << i
	}
	return m
}

func (t table) Value(set []int) float64 { return t[maskOf(set)] }
func (t table) Start() bps.Gains        { return &tableGains{table: t} }

type tableGains struct {
	table table
	mask  int
}

func (g *tableGains) Gain(i int) float64 { return g.table[g.mask|1<<i] - g.table[g.mask] }
func (g *tableGains) Add(i int)          { g.mask |= 1 << i }
func (g *tableGains) Value() float64     { return g.table[g.mask] - g.table[0] }
func (g *tableGains) Clone() bps.Gains   { c := *g; return &c }

// families are those of the instances, in turn.
var families = []string{"weighted coverage", "capped additive", "capability"}

// drawInstance draws the instance of a number. Some have whole weights and short candidates, and so many ties; others have neither.
func drawInstance(rng *rand.Rand, number int) (*instance, error) {
	n := smallest + rng.IntN(largest-smallest+1)
	in := &instance{family: families[number%len(families)], tokens: make([]int, n)}
	shape := rng.IntN(3)
	for i := range in.tokens {
		switch shape {
		case 0:
			in.tokens[i] = 1 + rng.IntN(6)
		case 1:
			in.tokens[i] = 1 + rng.IntN(60)
		default: // short and long ones
			in.tokens[i] = int(math.Exp(rng.Float64() * math.Log(100)))
		}
	}
	in.measure()
	in.budget = 1 + rng.IntN(in.lengths[len(in.lengths)-1])
	switch in.family {
	case "weighted coverage":
		in.values = coverageValues(rng, n)
	case "capped additive":
		in.values = cappedValues(rng, in.tokens)
	default:
		b, values, err := drawCapability(rng, n)
		in.benefit, in.values = b, values
		return in, err
	}
	in.benefit = table(in.values)
	return in, nil
}

// weight draws a weight: a whole number or not.
func weight(rng *rand.Rand, whole bool) float64 {
	if whole {
		return float64(rng.IntN(7))
	}
	return rng.ExpFloat64()
}

// coverageValues: elements with weights, and a set is worth the elements that its candidates cover.
func coverageValues(rng *rand.Rand, n int) []float64 {
	whole := rng.IntN(2) == 0
	weights := make([]float64, 1+rng.IntN(12))
	for e := range weights {
		weights[e] = weight(rng, whole)
	}
	share := 0.1 + 0.5*rng.Float64()
	covers := make([]int, 1<<n)
	for i := range n {
		for e := range weights {
			if rng.Float64() < share {
				covers[1<<i] |= 1 << e
			}
		}
	}
	values := make([]float64, 1<<n)
	for m := 1; m < len(values); m++ {
		covers[m] = covers[m&(m-1)] | covers[m&-m]
		for c := covers[m]; c != 0; c &= c - 1 {
			values[m] += weights[bits.TrailingZeros(uint(c))]
		}
	}
	return values
}

// cappedValues: every candidate has a worth, and a set is worth the sum up to a limit. In half of them worth goes with tokens: there a
// choice by gain per token is hardest.
func cappedValues(rng *rand.Rand, tokens []int) []float64 {
	whole, alike := rng.IntN(2) == 0, rng.IntN(2) == 0
	values := make([]float64, 1<<len(tokens))
	for i, t := range tokens {
		worth := weight(rng, whole)
		if alike {
			worth = float64(t) * (0.9 + 0.2*rng.Float64())
			if whole {
				worth = math.Round(worth)
			}
		}
		for m := range 1 << i {
			values[1<<i|m] = values[m] + worth
		}
	}
	limit := values[len(values)-1] * (0.2 + rng.Float64())
	for m, v := range values {
		values[m] = min(v, limit)
	}
	return values
}

// drawCapability draws a benefit of the capability form, and computes its values by the formula.
func drawCapability(rng *rand.Rand, n int) (bps.Benefit, []float64, error) {
	demand := make([]float64, 1+rng.IntN(4))
	for k := range demand {
		demand[k] = 4 * rng.Float64()
	}
	supply := make([][]float64, n)
	for i := range supply {
		supply[i] = make([]float64, len(demand))
		for k := range demand {
			if rng.IntN(2) == 0 {
				supply[i][k] = 3 * rng.Float64()
			}
		}
	}
	values := make([]float64, 1<<n)
	sums := make([]float64, 1<<n)
	for k, w := range demand {
		for m := 1; m < len(sums); m++ {
			sums[m] = sums[m&(m-1)] + supply[bits.TrailingZeros(uint(m))][k]
			values[m] += w * (1 - math.Exp(-sums[m]))
		}
	}
	b, err := bps.NewCapability(demand, supply)
	return b, values, err
}

// prices are 0 and 16 from 1e-4 to 10 times the benefit of everything spread over the budget.
func (in *instance) prices() []float64 {
	unit := in.all() / float64(in.budget)
	prices := []float64{0}
	for j := range 16 {
		prices = append(prices, unit*math.Pow(10, -4+float64(j)/3))
	}
	return prices
}

// optima returns by b the largest benefit of a set with at most b tokens, up to the budget.
func (in *instance) optima() []float64 {
	best := make([]float64, in.budget+1)
	for m, l := range in.lengths {
		if l <= in.budget {
			best[l] = max(best[l], in.values[m])
		}
	}
	for b := 1; b < len(best); b++ {
		best[b] = max(best[b], best[b-1])
	}
	return best
}

// A corner is a point of a frontier.
type corner struct {
	tokens  int
	benefit float64
}

// frontier computes the points of a selection anew, from the sets alone. It reports whether the selection tells the truth about them.
func (in *instance) frontier(sel *bps.Selection) (points []corner, truth bool) {
	truth = len(sel.Frontier) > 0 && len(sel.Frontier[0].Items) == 0
	for _, pt := range sel.Frontier {
		m := maskOf(pt.Items)
		c := corner{in.lengths[m], in.values[m]}
		truth = truth && bits.OnesCount(uint(m)) == len(pt.Items) && c.tokens == pt.Tokens && c.tokens <= in.budget && near(c.benefit, pt.Benefit)
		points = append(points, c)
	}
	return points, truth
}

// near compares numbers that may differ by rounding.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= slack*max(1, math.Abs(a), math.Abs(b))
}

// choose returns the largest objective of a frontier.
func choose(points []corner, penalty func(tokens int) float64) float64 {
	best := math.Inf(-1)
	for _, c := range points {
		best = max(best, c.benefit-penalty(c.tokens))
	}
	return best
}

// hull returns those points of a frontier that its upper concave envelope has corners at, up to the largest benefit.
func hull(points []corner) []corner {
	var h []corner
	slope := func(a, b corner) float64 { return (b.benefit - a.benefit) / float64(b.tokens-a.tokens) }
	for _, c := range points {
		for len(h) > 1 && slope(h[len(h)-2], h[len(h)-1]) <= slope(h[len(h)-2], c) {
			h = h[:len(h)-1]
		}
		h = append(h, c)
	}
	return h
}

// steps returns by b the largest benefit of a frontier with at most b tokens, and that of its envelope at b.
func steps(points []corner, budget int) (step, envelope []float64) {
	step, envelope = make([]float64, budget+1), make([]float64, budget+1)
	h, at, on := hull(points), 0, 0
	for b := range step {
		for at+1 < len(points) && points[at+1].tokens <= b {
			at++
		}
		for on+1 < len(h) && h[on+1].tokens <= b {
			on++
		}
		step[b], envelope[b] = points[at].benefit, h[on].benefit
		if on+1 < len(h) {
			part := float64(b-h[on].tokens) / float64(h[on+1].tokens-h[on].tokens)
			envelope[b] += part * (h[on+1].benefit - h[on].benefit)
		}
	}
	return step, envelope
}

// worst compares got with factor*want at every b: how often it is less, and the least got/want.
func worst(got, want []float64, factor float64) (below int, ratio float64) {
	ratio = 1
	for b, w := range want {
		if got[b] < factor*w-slack {
			below++
		}
		if w > slack {
			ratio = min(ratio, got[b]/w)
		}
	}
	return below, ratio
}

// stream returns the generator of one number of one part, so that no result depends on who computes what.
func stream(seed, part uint64, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, part<<32|uint64(number)))
}

// The parts that draw.
const (
	theoremPart uint64 = iota + 1
	penaltyPart
	gridPart
	drawPart
	poolPart
	exactPart
	densePart
)

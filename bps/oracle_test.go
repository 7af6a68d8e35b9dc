package bps

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// An instance is a small problem with the value of every subset, indexed by bit mask.
type instance struct {
	tokens  []int
	budget  int
	benefit Benefit
	values  []float64
}

func newInstance(tokens []int, budget int, b Benefit) *instance {
	in := &instance{tokens: tokens, budget: budget, benefit: b, values: make([]float64, 1<<len(tokens))}
	for m := range in.values {
		in.values[m] = b.Value(members(m))
	}
	return in
}

// plain is the benefit without its fast path.
func (in *instance) plain() Benefit { return BenefitFunc(in.benefit.Value) }

func (in *instance) all() float64 { return in.values[len(in.values)-1] }

func (in *instance) String() string {
	return fmt.Sprintf("tokens %v, budget %d, values by mask %v", in.tokens, in.budget, in.values)
}

func members(mask int) []int {
	var set []int
	for ; mask != 0; mask &= mask - 1 {
		set = append(set, bits.TrailingZeros(uint(mask)))
	}
	return set
}

func mask(set []int) int {
	m := 0
	for _, i := range set {
		m |= 1 << i
	}
	return m
}

func (in *instance) length(m int) int {
	l := 0
	for _, i := range members(m) {
		l += in.tokens[i]
	}
	return l
}

// The three families of the preparation: weighted coverage, capped additive, capability form. Weights are multiples of 1/8 or whole,
// so that the first two are exact and full of ties.
func instances(maxN, minTokens int) map[string]*rapid.Generator[*instance] {
	base := func(t *rapid.T) (tokens []int, budget int) {
		tokens = rapid.SliceOfN(rapid.IntRange(minTokens, 12), 1, maxN).Draw(t, "tokens")
		return tokens, rapid.IntRange(0, 40).Draw(t, "budget")
	}
	return map[string]*rapid.Generator[*instance]{
		"coverage": rapid.Custom(func(t *rapid.T) *instance {
			tokens, budget := base(t)
			weights := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 8).Draw(t, "weights")
			covers := rapid.SliceOfN(rapid.IntRange(0, 1<<len(weights)-1), len(tokens), len(tokens)).Draw(t, "covers")
			return newInstance(tokens, budget, BenefitFunc(func(set []int) float64 {
				union, sum := 0, 0
				for _, i := range set {
					union |= covers[i]
				}
				for _, e := range members(union) {
					sum += weights[e]
				}
				return float64(sum)
			}))
		}),
		"capped": rapid.Custom(func(t *rapid.T) *instance {
			tokens, budget := base(t)
			gains := rapid.SliceOfN(rapid.IntRange(0, 12), len(tokens), len(tokens)).Draw(t, "gains")
			limit := rapid.IntRange(0, 40).Draw(t, "cap")
			return newInstance(tokens, budget, BenefitFunc(func(set []int) float64 {
				sum := 0
				for _, i := range set {
					sum += gains[i]
				}
				return float64(min(sum, limit))
			}))
		}),
		"capability": rapid.Custom(func(t *rapid.T) *instance {
			tokens, budget := base(t)
			eighths := rapid.Map(rapid.IntRange(0, 24), func(x int) float64 { return float64(x) / 8 })
			demand := rapid.SliceOfN(eighths, 1, 4).Draw(t, "demand")
			supply := make([][]float64, len(tokens))
			for i := range supply {
				supply[i] = rapid.SliceOfN(eighths, len(demand), len(demand)).Draw(t, "supply")
			}
			c, err := NewCapability(demand, supply)
			if err != nil {
				t.Fatal(err)
			}
			return newInstance(tokens, budget, c)
		}),
	}
}

// smooth draws capability instances from a continuous distribution: they have no ties.
func smooth(maxN int) *rapid.Generator[*instance] {
	return rapid.Custom(func(t *rapid.T) *instance {
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		n := rapid.IntRange(1, maxN).Draw(t, "n")
		c, tokens := randomCapability(rng, n, rapid.IntRange(1, 6).Draw(t, "d"), 1, 60)
		in := &instance{tokens: tokens, budget: rapid.IntRange(0, 200).Draw(t, "budget"), benefit: c}
		in.values = []float64{c.Value(members(1<<n - 1))}
		return in
	})
}

// eachFamily checks a law on 7 instances of each family a check: 2,100 of n <= 9 with the usual 100 checks.
func eachFamily(t *testing.T, minTokens int, law func(t *rapid.T, in *instance)) {
	for name, family := range instances(9, minTokens) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				for range 7 {
					law(t, family.Draw(t, "instance"))
				}
			})
		})
	}
}

// slowPaper is Algorithm 1 as it is written: full scans, no shortcut, every set kept. It returns the recorded sets.
func slowPaper(in *instance) map[int]bool {
	n := len(in.tokens)
	pool := map[int]bool{}
	grow := func(s int) {
		if in.length(s) > in.budget {
			return
		}
		pool[s] = true
		for {
			best, bestGain, bestKey := -1, 0.0, 0.0
			for i := range n {
				if s&(1<<i) != 0 || in.length(s|1<<i) > in.budget {
					continue
				}
				gain := in.values[s|1<<i] - in.values[s]
				if gain < 0 {
					gain = 0 // rounding
				}
				key := gain / float64(in.tokens[i])
				if best < 0 || key > bestKey || key == bestKey && gain > bestGain {
					best, bestGain, bestKey = i, gain, key
				}
			}
			if best < 0 {
				return
			}
			s |= 1 << best
			pool[s] = true
		}
	}
	grow(0)
	for i := range n {
		grow(1 << i)
		for j := range i {
			grow(1<<i | 1<<j)
		}
	}
	return pool
}

// slowFrontier sorts the pool by the rules of the documentation.
func slowFrontier(in *instance, pool map[int]bool) []Point {
	best := map[int]float64{}
	for s := range pool {
		best[in.length(s)] = max(best[in.length(s)], in.values[s])
	}
	var points []Point
	for tokens := range in.budget + 1 {
		var sets [][]int
		for s := range pool {
			if in.length(s) == tokens && in.values[s] >= best[tokens]*(1-1e-12) {
				sets = append(sets, members(s))
			}
		}
		if len(sets) == 0 {
			continue
		}
		set := slices.MinFunc(sets, compareSets)
		v := in.values[mask(set)]
		if n := len(points); n == 0 || v > points[n-1].Benefit+1e-12*v {
			points = append(points, Point{Tokens: tokens, Benefit: v, Items: set})
		}
	}
	return points
}

// slowChoice applies a penalty to every set of the pool.
func slowChoice(in *instance, pool map[int]bool, penalty func(int) float64) []int {
	best := math.Inf(-1)
	objective := func(s int) float64 { return in.values[s] - penalty(in.length(s)) }
	for s := range pool {
		best = max(best, objective(s))
	}
	var choice []int
	first := true
	for s := range pool {
		if objective(s) < best-1e-12*max(1, math.Abs(best)) {
			continue
		}
		set := members(s)
		l, m := in.length(s), in.length(mask(choice))
		if first || l < m || l == m && compareSets(set, choice) < 0 {
			choice, first = set, false
		}
	}
	return choice
}

func mustSelect(t interface{ Fatalf(string, ...any) }, p Problem, o *Options) *Selection {
	sel, err := Select(context.Background(), p, o)
	if err != nil {
		t.Fatalf("Select: %v", err)
	}
	return sel
}

package bps

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A point of the frontier for a price is what a search with that price chooses, and one for a smaller budget is no worse than any other
// point that fits.
func TestAt(t *testing.T) {
	eachFamily(t, 0, func(t *rapid.T, in *instance) {
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit}
		sel := mustSelect(t, p, &Options{Certify: new(false)})
		p.PenaltyPerToken = rapid.SampledFrom(kappas(in)).Draw(t, "kappa")
		price := func(tokens int) float64 { return p.PenaltyPerToken * float64(tokens) }
		priced := mustSelect(t, p, &Options{Certify: new(false)})
		pt, ok := sel.At(in.budget, price)
		if diff := cmp.Diff(slices.Sorted(slices.Values(priced.Items)), pt.Items); !ok || diff != "" {
			t.Fatalf("%v\nat %v (-search +frontier):\n%s", in, p.PenaltyPerToken, diff)
		}
		budget := rapid.IntRange(0, in.budget).Draw(t, "budget")
		pt, ok = sel.At(budget, price)
		for _, other := range sel.Frontier {
			if !ok || pt.Tokens > budget ||
				other.Tokens <= budget && other.Benefit-price(other.Tokens) > pt.Benefit-price(pt.Tokens)+1e-9 {
				t.Fatalf("%v\nwithin %d tokens: %+v, %t; %+v is better", in, budget, pt, ok, other)
			}
		}
		if pt, _ := sel.At(budget, nil); pt.Tokens > budget || pt.Benefit < in.values[mask(pt.Items)]-1e-9 {
			t.Fatalf("%v\nwithin %d tokens, without a penalty: %+v", in, budget, pt)
		}
	})
}

func TestAtNothing(t *testing.T) {
	p := Problem{Tokens: []int{5, 3}, Budget: 9, Benefit: modular(1, 1), Pinned: []int{0}}
	sel := mustSelect(t, p, nil)
	if pt, ok := sel.At(4, nil); ok {
		t.Errorf("%+v within 4 tokens, 5 are pinned", pt)
	}
	if pt, ok := (&Selection{}).At(4, nil); ok {
		t.Errorf("%+v of an empty frontier", pt)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, ok := sel.At(9, func(int) float64 { return bad }); !ok {
			t.Errorf("a penalty of %v leaves no point", bad)
		}
	}
}

// Points that differ by rounding alone are equal, also where a large base makes the rounding large: the one with the fewest tokens is it,
// as in a search with that price.
func TestAtTies(t *testing.T) {
	for _, base := range []float64{0, -1e6} {
		tokens := []int{3, 5, 6, 7}
		b := BenefitFunc(func(set []int) float64 {
			sum := base
			for _, i := range set {
				sum += 0.1 * float64(tokens[i])
			}
			return sum
		})
		p := Problem{Tokens: tokens, Budget: 20, Benefit: b}
		sel := mustSelect(t, p, nil)
		p.PenaltyPerToken = 0.1
		pt, ok := sel.At(20, func(tokens int) float64 { return 0.1 * float64(tokens) })
		if priced := mustSelect(t, p, nil); !ok || pt.Tokens != 0 || priced.Tokens != 0 {
			t.Errorf("base %v: a point of %d tokens and a search of %d, want 0", base, pt.Tokens, priced.Tokens)
		}
	}
}

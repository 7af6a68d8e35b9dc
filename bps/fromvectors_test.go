package bps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestFromVectors(t *testing.T) {
	items := [][]float64{{1, 0, 0}, {2, 0.2, 0}, {0, 3, 0}, {0, 0, 1}, {0, 0, 0}, {-1, -1, 0}}
	for _, tt := range []struct {
		name   string
		query  [][]float64
		tokens []int
		budget int
		o      *TextOptions
		items  []int
		drops  []Drop
		reason string
	}{
		{"two clauses", [][]float64{{1, 1, 0}, {1, 0, 0}, {0, 1, 0}}, []int{10, 10, 10, 10, 10, 10}, 20, nil, []int{1, 2},
			[]Drop{{3, DropNoMatch}, {4, DropNoMatch}, {5, DropNoMatch}}, "items 0 and 1 are alike, so one of them and 2"},
		{"one vector", [][]float64{{1, 1, 0}}, []int{10, 10, 10, 10, 10, 10}, 10, nil, []int{1},
			[]Drop{{3, DropNoMatch}, {4, DropNoMatch}, {5, DropNoMatch}}, "2.2/sqrt(4.04) beats 1"},
		{"keep", [][]float64{{1, 0.1, 0}}, []int{10, 10, 10, 10, 10, 10}, 99, &TextOptions{Keep: 1}, []int{1},
			[]Drop{{0, DropRelevance}, {2, DropRelevance}, {3, DropNoMatch}, {4, DropNoMatch}, {5, DropNoMatch}},
			"item 1 has the direction of the query"},
		{"pinned and excluded", [][]float64{{1, 1, 0}}, []int{10, 10, 10, 10, 10, 10}, 20, &TextOptions{Pinned: []int{5}, Excluded: []int{1}},
			[]int{0, 5},
			[]Drop{{1, DropExcluded}, {3, DropNoMatch}, {4, DropNoMatch}}, "like items 0 and 2; the first of equal ones"},
		{"tokens", [][]float64{{0, 0, 1}}, []int{10, 10, 10, 11, 10, 10}, 10, nil, nil,
			[]Drop{{0, DropNoMatch}, {1, DropNoMatch}, {2, DropNoMatch}, {3, DropOverBudget}, {4, DropNoMatch}, {5, DropNoMatch}},
			"the one that is like it is too large"},
		{"zero query", [][]float64{{0, 0, 0}, {1, 0, 0}}, []int{1, 1, 1, 1, 1, 1}, 10, nil, nil,
			[]Drop{{0, DropNoMatch}, {1, DropNoMatch}, {2, DropNoMatch}, {3, DropNoMatch}, {4, DropNoMatch}, {5, DropNoMatch}}, "like nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sel, err := FromVectors(context.Background(), tt.query, items, tt.tokens, tt.budget, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.items, slices.Sorted(slices.Values(sel.Items))); diff != "" {
				t.Errorf("items, %s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.drops, sel.Dropped); diff != "" {
				t.Errorf("dropped, %s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
	sel, err := FromVectors(context.Background(), [][]float64{{1}}, nil, nil, 10, nil)
	if err != nil || len(sel.Items) != 0 || sel.Guarantee.Scope != "none: no item is like the query" {
		t.Errorf("no items: %+v, %v", sel, err)
	}
	// A sum in another order than that of the true 0 leaves 3e-17.
	sel, err = FromVectors(context.Background(), [][]float64{{0.5, -1, 0.5, -1}}, [][]float64{{-1, 1, 1, -1}}, []int{1}, 10, nil)
	if err != nil || len(sel.Items) != 0 {
		t.Errorf("rounding counts as relevance: %+v, %v", sel, err)
	}
	sel, err = FromVectors(context.Background(), [][]float64{{}}, [][]float64{{}}, []int{1}, 10, nil)
	if err != nil || len(sel.Items) != 0 {
		t.Errorf("no dimensions: %+v, %v", sel, err)
	}
}

// The benefit of a vector does not depend on its length, however large or small: the items and values are those of unit vectors.
func TestFromVectorsScale(t *testing.T) {
	query, items := [][]float64{{1, 1}, {1, 0}, {0, 1}}, [][]float64{{1, 0}, {0.6, 0.8}, {0, 1}}
	tokens := []int{10, 12, 14}
	want, err := FromVectors(context.Background(), query, items, tokens, 26, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{1e-300, 1e-3, 1e300} {
		scaled := func(vectors [][]float64) (out [][]float64) {
			for _, v := range vectors {
				w := slices.Clone(v)
				for j := range w {
					w[j] *= scale
				}
				out = append(out, w)
			}
			return out
		}
		got, err := FromVectors(context.Background(), scaled(query), scaled(items), tokens, 26, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Selection{}), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
			t.Errorf("times %g (-want +got):\n%s", scale, diff)
		}
	}
}

// The benefit is that of NewClauses for cosines cut at 0 and divided by the largest: recomputed for what was chosen.
func TestFromVectorsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 4).Draw(t, "d")
		vector := rapid.SliceOfN(rapid.SampledFrom([]float64{-1, 0, 0.5, 1, 2}), d, d)
		query := rapid.SliceOfN(vector, 1, 3).Draw(t, "query")
		items := rapid.SliceOfN(vector, 1, 6).Draw(t, "items")
		tokens := rapid.SliceOfN(rapid.IntRange(1, 9), len(items), len(items)).Draw(t, "tokens")
		sel, err := FromVectors(context.Background(), query, items, tokens, rapid.IntRange(0, 30).Draw(t, "budget"), nil)
		if err != nil {
			t.Fatal(err)
		}
		shares := func(q []float64) []float64 {
			out := make([]float64, len(items))
			for i, v := range items {
				dot, a, b := 0.0, 0.0, 0.0
				for j := range v {
					dot, a, b = dot+v[j]*q[j], a+v[j]*v[j], b+q[j]*q[j]
				}
				if dot > 1e-9*math.Sqrt(a*b) {
					out[i] = dot / math.Sqrt(a*b)
				}
			}
			if best := slices.Max(out); best > 0 {
				for i := range out {
					out[i] /= best
				}
			}
			return out
		}
		clauses := query[1:]
		if len(clauses) == 0 {
			clauses = query
		}
		want := 0.0
		for _, q := range clauses {
			x := 0.0
			for _, i := range sel.Items {
				x += 2 * math.Pow(shares(q)[i], 3)
			}
			want += 1 - math.Exp(-x)
		}
		for _, i := range sel.Items {
			want += 0.3 * shares(query[0])[i]
		}
		if math.Abs(sel.Benefit-want) > 1e-9 {
			t.Fatalf("benefit %v of %v, want %v", sel.Benefit, sel.Items, want)
		}
	})
}

func TestFromVectorsErrors(t *testing.T) {
	one, query := [][]float64{{1, 0}}, [][]float64{{1, 0}}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		name         string
		ctx          context.Context
		query, items [][]float64
		tokens       []int
		o            *TextOptions
		want         error
		text         string
	}{
		{"no query", context.Background(), nil, one, []int{1}, nil, ErrBenefit, "no query vector"},
		{"ragged query", context.Background(), [][]float64{{1, 0}, {1}}, one, []int{1}, nil, ErrBenefit, "query vector 1 has 1 entries, want 2"},
		{"NaN query", context.Background(), [][]float64{{1, math.NaN()}}, one, []int{1}, nil, ErrBenefit, "query vector 0 has entry 1 = NaN"},
		{"ragged item", context.Background(), query, [][]float64{{1, 0}, {1, 0, 0}}, []int{1, 1}, nil, ErrBenefit,
			"item 1 has 3 entries, want 2"},
		{"infinite item", context.Background(), query, [][]float64{{math.Inf(-1), 0}}, []int{1}, nil, ErrBenefit, "item 0 has entry 0 = -Inf"},
		{"token counts", context.Background(), query, one, []int{1, 2}, nil, ErrTokens, "2 token counts for 1 items"},
		{"negative tokens", context.Background(), query, one, []int{-1}, nil, ErrTokens, "item 0 has -1 tokens"},
		{"count", context.Background(), query, one, []int{1}, &TextOptions{Count: words}, nil, "TextOptions.Count is set"},
		{"names", context.Background(), query, one, []int{1}, &TextOptions{PinNamed: true}, nil, "TextOptions.PinNamed is set"},
		{"index", context.Background(), query, one, []int{1}, &TextOptions{Pinned: []int{1}}, ErrIndex, "Pinned has item 1"},
		{"context", ended, query, one, []int{1}, nil, context.Canceled, "after 0 of 1 items"},
	} {
		sel, err := FromVectors(tt.ctx, tt.query, tt.items, tt.tokens, 9, tt.o)
		if sel != nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) {
			t.Errorf("%s: got %v, %v; want nil, %v with %q", tt.name, sel, err, tt.want, tt.text)
		}
	}
}

func BenchmarkFromVectors(b *testing.B) {
	rng := newRand(1)
	vectors := func(n int) [][]float64 {
		out := make([][]float64, n)
		for i := range out {
			out[i] = make([]float64, 256)
			for j := range out[i] {
				out[i][j] = rng.NormFloat64()
			}
		}
		return out
	}
	query, items, tokens := vectors(4), vectors(1000), make([]int, 1000)
	for i := range tokens {
		tokens[i] = 50 + rng.IntN(200)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FromVectors(context.Background(), query, items, tokens, 2000,
			&TextOptions{Search: &Options{Certify: new(false)}}); err != nil {
			b.Fatal(err)
		}
	}
}

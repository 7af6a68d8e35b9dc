package stat

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var approx = cmpopts.EquateApprox(1e-12, 1e-12)

// wantError fails the test unless err has the package prefix and names all the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range append(parts, "stat: ") {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not contain %q", err, p)
		}
	}
}

func TestRankCorrelations(t *testing.T) {
	inf := math.Inf(1)
	negZero := math.Copysign(0, -1)
	for _, tt := range []struct {
		name    string
		x, y    []float64
		rho     float64
		tau     float64
		defined bool
		reason  string
	}{
		{"ties in x", []float64{1, 1, 2}, []float64{1, 2, 3}, math.Sqrt(3) / 2, 2 / math.Sqrt(6), true,
			"ranks (1.5,1.5,3) and (1,2,3): 1.5/sqrt(1.5*2) = 0.866025; C=2, D=0, n0=3, n1=1, n2=0: 2/sqrt(2*3) = 0.816497"},
		{"tied rows swapped", []float64{1, 1, 2}, []float64{2, 1, 3}, math.Sqrt(3) / 2, 2 / math.Sqrt(6), true,
			"the same pairs in another order; a tau that walks the rows in order gives 1/3 here and 1 above"},
		{"ties in both", []float64{1, 1, 2, 2}, []float64{1, 1, 2, 2}, 1, 1, true, "C=4, n1=n2=2: 4/sqrt(4*4)"},
		{"joint and single ties", []float64{1, 1, 1, 2}, []float64{1, 1, 2, 2}, 1 / math.Sqrt(3), 1 / math.Sqrt(3), true,
			"ranks (2,2,2,4), (1.5,1.5,3.5,3.5): 2/sqrt(3*4); C=2, D=0, n0=6, n1=3, n2=2: 2/sqrt(3*4)"},
		{"one discordant pair", []float64{1, 2, 3, 4}, []float64{1, 2, 4, 3}, 0.8, 2.0 / 3, true,
			"1 - 6*2/(4*15) = 0.8; (5-1)/6"},
		{"reversed", []float64{1, 2, 3}, []float64{9, 5, 1}, -1, -1, true, "all pairs are discordant"},
		{"monotone, not linear", []float64{1, 2, 3}, []float64{0, 1, 1e300}, 1, 1, true, "ranks alone count"},
		{"infinities", []float64{-inf, 0, inf}, []float64{1, 2, 3}, 1, 1, true, "infinities are the extreme ranks"},
		{"signed zeros", []float64{negZero, 0, 1}, []float64{1, 2, 3}, math.Sqrt(3) / 2, 2 / math.Sqrt(6), true, "-0 ties with +0"},
		{"two pairs", []float64{1, 2}, []float64{5, 3}, -1, -1, true, "the smallest defined sample"},
		{"constant x", []float64{1, 1, 1}, []float64{3, 2, 1}, 0, 0, false, "a constant side has no order"},
		{"constant y", []float64{3, 2, 1}, []float64{1, 1, 1}, 0, 0, false, "a constant side has no order"},
		{"one pair", []float64{1}, []float64{2}, 0, 0, false, "one pair has no order"},
		{"none", nil, nil, 0, 0, false, "no pair has no order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			rho, err := Spearman(tt.x, tt.y)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(Correlation{tt.rho, tt.defined}, rho, approx); diff != "" {
				t.Errorf("spearman (-want +got):\n%s", diff)
			}
			tau, err := KendallB(tt.x, tt.y)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(Correlation{tt.tau, tt.defined}, tau, approx); diff != "" {
				t.Errorf("kendall (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRankCorrelationErrors(t *testing.T) {
	nan := math.NaN()
	for name, f := range map[string]func(x, y []float64) (Correlation, error){"spearman": Spearman, "kendall": KendallB} {
		_, err := f([]float64{1, 2}, []float64{1})
		wantError(t, err, name, "2 values of x", "1 of y")
		_, err = f([]float64{1, nan}, []float64{1, 2})
		wantError(t, err, name, "pair 1", "NaN")
		_, err = f([]float64{1, 2}, []float64{nan, 2})
		wantError(t, err, name, "pair 0", "NaN")
	}
}

// spearmanOracle is Pearson's coefficient of ranks that are counted pair by pair.
func spearmanOracle(x, y []float64) (r float64, defined bool) {
	ranks := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			out[i] = 0.5 // a value ties with itself
			for j := range v {
				if v[j] < v[i] {
					out[i]++
				} else if v[j] == v[i] {
					out[i] += 0.5
				}
			}
		}
		return out
	}
	mean := func(v []float64) float64 {
		var s float64
		for _, e := range v {
			s += e
		}
		return s / float64(len(v))
	}
	a, b := ranks(x), ranks(y)
	ma, mb := mean(a), mean(b)
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	if len(x) < 2 || aa == 0 || bb == 0 {
		return 0, false
	}
	return ab / math.Sqrt(aa*bb), true
}

// kendallOracle looks at every pair of rows.
func kendallOracle(x, y []float64) (tau float64, defined bool) {
	var c, d, n0, n1, n2 float64
	for i := range x {
		for j := range i {
			n0++
			s := cmp.Compare(x[i], x[j]) * cmp.Compare(y[i], y[j])
			switch {
			case s > 0:
				c++
			case s < 0:
				d++
			}
			if x[i] == x[j] {
				n1++
			}
			if y[i] == y[j] {
				n2++
			}
		}
	}
	if n0 == n1 || n0 == n2 {
		return 0, false
	}
	return (c - d) / math.Sqrt((n0-n1)*(n0-n2)), true
}

// sample draws values with many ties, signed zeros and infinities, or few ties.
func sample(t *rapid.T, n int, name string) []float64 {
	value := rapid.Float64()
	if rapid.Bool().Draw(t, name+" with ties") {
		value = rapid.SampledFrom([]float64{math.Inf(-1), -2, math.Copysign(0, -1), 0, 1, 2, 1e300, math.Inf(1)})
	}
	return rapid.SliceOfN(value, n, n).Draw(t, name)
}

// Both coefficients equal their quadratic oracles, are symmetric and in [-1, 1], change sign exactly with -y, and stay the same to the
// bit under a strictly increasing map of one side and under one permutation of both.
func TestRankCorrelationLaws(t *testing.T) {
	for _, tt := range []struct {
		name   string
		f      func(x, y []float64) (Correlation, error)
		oracle func(x, y []float64) (float64, bool)
	}{
		{"spearman", Spearman, spearmanOracle},
		{"kendall", KendallB, kendallOracle},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(0, 40).Draw(t, "n")
				x, y := sample(t, n, "x"), sample(t, n, "y")
				x0, y0 := slices.Clone(x), slices.Clone(y)
				call := func(x, y []float64) Correlation {
					c, err := tt.f(x, y)
					if err != nil {
						t.Fatal(err)
					}
					return c
				}
				got := call(x, y)
				if !slices.Equal(x, x0) || !slices.Equal(y, y0) {
					t.Fatal("an input was changed")
				}
				want, defined := tt.oracle(x, y)
				if diff := gocmp.Diff(Correlation{want, defined}, got, approx); diff != "" {
					t.Fatalf("oracle (-want +got):\n%s", diff)
				}
				if got.Value < -1 || got.Value > 1 {
					t.Fatalf("%v is outside [-1, 1]", got.Value)
				}
				if c := call(y, x); c != got {
					t.Fatalf("not symmetric: %v and %v", got, c)
				}
				negative := make([]float64, n)
				for i := range y {
					negative[i] = -y[i]
				}
				if c := call(x, negative); c.Value != -got.Value || c.Defined != got.Defined {
					t.Fatalf("sign does not flip: %v and %v", got, c)
				}
				perm := rapid.Permutation(rangeTo(n)).Draw(t, "perm")
				px, py := make([]float64, n), make([]float64, n)
				for i, j := range perm {
					px[i], py[i] = x[j], y[j]
				}
				if c := call(px, py); c != got {
					t.Fatalf("depends on the order of rows: %v and %v", got, c)
				}
				if c := call(denseRanks(x), y); c != got {
					t.Fatalf("depends on more than the order of x: %v and %v", got, c)
				}
			})
		})
	}
}

func rangeTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// denseRanks is a strictly increasing map that no rounding can spoil.
func denseRanks(x []float64) []float64 {
	s := slices.Compact(slices.Sorted(slices.Values(x)))
	out := make([]float64, len(x))
	for i, v := range x {
		k, _ := slices.BinarySearch(s, v)
		out[i] = float64(k)
	}
	return out
}

func BenchmarkRankCorrelation(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		r := rand.New(rand.NewPCG(1, 2))
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = r.Float64(), float64(r.IntN(n/10))
		}
		b.Run(fmt.Sprintf("spearman/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Spearman(x, y)
			}
		})
		b.Run(fmt.Sprintf("kendall/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				KendallB(x, y)
			}
		})
	}
}

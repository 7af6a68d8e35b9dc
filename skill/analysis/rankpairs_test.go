package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/internal/stat"
)

var approx = cmpopts.EquateApprox(1e-12, 1e-12)

// spearmanOracle is Pearson's coefficient of shares of ranks that are counted pair by pair, less the mean of the stratum.
func spearmanOracle(x, y []float64, stratum []int) stat.Correlation {
	share := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			below, equal, size := 0., 0., 0.
			for j := range v {
				if stratum[j] == stratum[i] {
					size++
					switch cmp.Compare(v[j], v[i]) {
					case -1:
						below++
					case 0:
						equal++
					}
				}
			}
			out[i] = (below+equal/2)/size - 0.5
		}
		return out
	}
	a, b := share(x), share(y)
	var ab, aa, bb float64
	for i := range a {
		ab += a[i] * b[i]
		aa += a[i] * a[i]
		bb += b[i] * b[i]
	}
	if aa == 0 || bb == 0 {
		return stat.Correlation{}
	}
	return stat.Correlation{Value: ab / math.Sqrt(aa*bb), Defined: true}
}

// kendallOracle looks at every pair of rows.
func kendallOracle(x, y []float64, stratum []int) stat.Correlation {
	var s, nx, ny float64
	for i := range x {
		for j := range i {
			if stratum[i] == stratum[j] {
				a, b := cmp.Compare(x[i], x[j]), cmp.Compare(y[i], y[j])
				s += float64(a * b)
				nx += float64(a * a)
				ny += float64(b * b)
			}
		}
	}
	if nx == 0 || ny == 0 {
		return stat.Correlation{}
	}
	return stat.Correlation{Value: s / math.Sqrt(nx*ny), Defined: true}
}

// Coefficients of any rearrangement equal those that quadratic oracles count, with one stratum those of package stat too; all
// the laws of these carry over.
func TestRankPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strata := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 4).Draw(t, "strata")
		value := rapid.Float64()
		if rapid.Bool().Draw(t, "ties") {
			value = rapid.SampledFrom([]float64{-2, math.Copysign(0, -1), 0, 1, 1e300})
		}
		var x, y []float64
		var stratum []int
		for g, size := range strata {
			for range size {
				x, y, stratum = append(x, value.Draw(t, "x")), append(y, value.Draw(t, "y")), append(stratum, g)
			}
		}
		p := newRankPairs(x, y, strata)
		for range 3 { // one after another, so that what is left of the one before would show
			xs, ys := make([]int, len(x)), make([]int, len(x))
			u, v := make([]float64, len(x)), make([]float64, len(x))
			lo := 0
			for _, size := range strata {
				for i := lo; i < lo+size; i++ {
					xs[i] = rapid.IntRange(lo, lo+size-1).Draw(t, "i")
					ys[i] = rapid.IntRange(lo, lo+size-1).Draw(t, "j")
					u[i], v[i] = x[xs[i]], y[ys[i]]
				}
				lo += size
			}
			rho, tau := p.spearman(xs, ys), p.kendall(xs, ys)
			if diff := gocmp.Diff(spearmanOracle(u, v, stratum), rho, approx); diff != "" {
				t.Fatalf("spearman (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(kendallOracle(u, v, stratum), tau, approx); diff != "" {
				t.Fatalf("kendall (-want +got):\n%s", diff)
			}
			if len(strata) > 1 {
				continue
			}
			want, err := stat.Spearman(u, v)
			if diff := gocmp.Diff(want, rho, approx); diff != "" || err != nil {
				t.Fatalf("stat.Spearman, %v (-want +got):\n%s", err, diff)
			}
			want, err = stat.KendallB(u, v)
			if diff := gocmp.Diff(want, tau, approx); diff != "" || err != nil {
				t.Fatalf("stat.KendallB, %v (-want +got):\n%s", err, diff)
			}
		}
	})
}

func BenchmarkRankPairs(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		for _, k := range []int{2, 100} {
			r := rand.New(rand.NewPCG(1, 2))
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = r.Float64(), float64(r.IntN(k))
			}
			perm := r.Perm(n)
			p := newRankPairs(x, y, []int{n})
			b.Run(fmt.Sprintf("spearman/n=%d/k=%d", n, k), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.spearman(perm, perm)
				}
			})
			b.Run(fmt.Sprintf("kendall/n=%d/k=%d", n, k), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.kendall(perm, perm)
				}
			})
		}
	}
}

package benefit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/bps/bpstest"
)

// oracle is a benefit as its formula reads.
type oracle func(set []int) float64

// A drawn benefit, and its formula.
type drawn struct {
	n       int
	benefit bps.Incremental
	want    oracle
	tol     float64 // of the benefit against the formula
}

// exact is the tolerance for benefits that round like floats. Cosines are rounded to 2^-31 of the largest weight, which is 10 here.
const exact, rounded = 1e-9, 5e-8

func (d drawn) String() string { return fmt.Sprintf("%T of %d candidates", d.benefit, d.n) }

func must(t interface{ Fatal(...any) }, b bps.Incremental, err error) bps.Incremental {
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// weight is often 0, whole, or the same as another.
var weight = rapid.OneOf(rapid.Just(0.0), rapid.SampledFrom([]float64{1, 2, 3}), rapid.Float64Range(0, 10))

func drawRows(t *rapid.T, n, d int, entry *rapid.Generator[float64]) [][]float64 {
	return rapid.SliceOfN(rapid.SliceOfN(entry, d, d), n, n).Draw(t, "rows")
}

func drawWeights(t *rapid.T, d int) []float64 {
	if rapid.Bool().Draw(t, "no weights") {
		return nil
	}
	return rapid.SliceOfN(weight, d, d).Draw(t, "weights")
}

func weightOf(weights []float64, k int) float64 {
	if weights == nil {
		return 1
	}
	return weights[k]
}

func locate(sim [][]float64, weights []float64) oracle {
	return func(set []int) float64 {
		sum := 0.0
		if len(set) == 0 {
			return 0
		}
		for v := range sim[0] {
			best := 0.0
			for _, i := range set {
				best = max(best, sim[i][v])
			}
			sum += weightOf(weights, v) * best
		}
		return sum
	}
}

func cosine(a, b []float64) float64 {
	// Multiples of the largest entry: squares of tiny ones would be 0.
	shrink := func(x []float64) []float64 {
		largest := 0.0
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
		y := slices.Clone(x)
		for k := range y {
			y[k] /= largest
		}
		return y
	}
	a, b = shrink(a), shrink(b)
	var ab, aa, bb float64
	for k := range a {
		ab += a[k] * b[k]
		aa += a[k] * a[k]
		bb += b[k] * b[k]
	}
	if math.IsNaN(ab) { // a vector of zeros
		return 0
	}
	return ab / math.Sqrt(aa) / math.Sqrt(bb)
}

func cosines(a, b [][]float64) [][]float64 {
	rows := make([][]float64, len(a))
	for i := range a {
		for j := range b {
			rows[i] = append(rows[i], cosine(a[i], b[j]))
		}
	}
	return rows
}

var concaves = []func(float64) float64{math.Sqrt, math.Log1p, Ratio, Saturation, Cap(2.5), Cap(0), func(x float64) float64 { return 3 * x }}

// families draws every benefit for at most maxN candidates.
func families(maxN int) map[string]*rapid.Generator[drawn] {
	sim := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{0.25, 0.5, 1}))
	families := map[string]func(t *rapid.T, n, d int) drawn{
		"FacilityLocation": func(t *rapid.T, n, d int) drawn {
			rows, weights := drawRows(t, n, d, sim), drawWeights(t, d)
			b, err := NewFacilityLocation(rows, weights)
			return drawn{n, must(t, b, err), locate(rows, weights), exact}
		},
		"CosineFacilityLocation": func(t *rapid.T, n, d int) drawn {
			candidates, points := drawRows(t, n, 3, sim), drawRows(t, d, 3, sim)
			if rapid.Bool().Draw(t, "own points") {
				points, d = nil, n
			}
			weights := drawWeights(t, d)
			b, err := NewCosineFacilityLocation(candidates, points, weights)
			if points == nil {
				points = candidates
			}
			return drawn{n, must(t, b, err), locate(cosines(candidates, points), weights), rounded}
		},
		"NearestFacilityLocation": func(t *rapid.T, n, d int) drawn {
			rows, weights := drawRows(t, n, d, sim), drawWeights(t, d)
			lists := make([][]Neighbor, n)
			for i, row := range rows {
				for v, s := range row {
					if s != 0 {
						lists[i] = append(lists[i], Neighbor{v, s})
					}
				}
				if rapid.Bool().Draw(t, "reversed") {
					slices.Reverse(lists[i])
				}
			}
			b, err := NewNearestFacilityLocation(lists, weights)
			return drawn{n, must(t, b, err), locate(rows, weights), exact}
		},
		"WeightedCoverage": func(t *rapid.T, n, d int) drawn {
			weights := drawWeights(t, d)
			covers := make([][]int, n)
			for i := range covers {
				if d > 0 {
					covers[i] = rapid.SliceOfN(rapid.IntRange(0, d-1), 0, 6).Draw(t, "elements")
				}
			}
			b, err := NewWeightedCoverage(covers, weights)
			return drawn{n, must(t, b, err), func(set []int) float64 {
				sum := 0.0
				for e := range d {
					if slices.ContainsFunc(set, func(i int) bool { return slices.Contains(covers[i], e) }) {
						sum += weightOf(weights, e)
					}
				}
				return sum
			}, exact}
		},
		"ProbabilisticCoverage": func(t *rapid.T, n, d int) drawn {
			p, weights := drawRows(t, n, d, rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(0, 1))), drawWeights(t, d)
			b, err := NewProbabilisticCoverage(p, weights)
			return drawn{n, must(t, b, err), func(set []int) float64 {
				sum := 0.0
				for e := range d {
					missed := 1.0
					for _, i := range set {
						missed *= 1 - p[i][e]
					}
					sum += weightOf(weights, e) * (1 - missed)
				}
				return sum
			}, exact}
		},
		"FeatureBased": func(t *rapid.T, n, d int) drawn {
			amounts, features := drawRows(t, n, d, weight), make([]Feature, d)
			for k := range features {
				features[k] = Feature{weight.Draw(t, "weight"), concaves[rapid.IntRange(0, len(concaves)-1).Draw(t, "function")]}
			}
			b, err := NewFeatureBased(amounts, features)
			return drawn{n, must(t, b, err), func(set []int) float64 {
				sum := 0.0
				for k, f := range features {
					x := 0.0
					for _, i := range set {
						x += amounts[i][k]
					}
					sum += f.Weight * f.Concave(x)
				}
				return sum
			}, exact}
		},
		"Modular": func(t *rapid.T, n, d int) drawn {
			values := rapid.SliceOfN(weight, n, n).Draw(t, "values")
			b, err := NewModular(values)
			return drawn{n, must(t, b, err), func(set []int) float64 {
				sum := 0.0
				for _, i := range set {
					sum += values[i]
				}
				return sum
			}, exact}
		},
	}
	families["Mixture"] = func(t *rapid.T, n, d int) drawn {
		var parts []bps.Benefit
		var wants []oracle
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			name := rapid.SampledFrom([]string{"FacilityLocation", "WeightedCoverage", "FeatureBased", "Modular"}).Draw(t, "part")
			p := families[name](t, n, d)
			parts, wants = append(parts, p.benefit), append(wants, p.want)
			if rapid.Bool().Draw(t, "plain") {
				parts[len(parts)-1] = bps.BenefitFunc(func(set []int) float64 { return 7 + p.want(set) })
				wants[len(wants)-1] = func(set []int) float64 { return 7 + p.want(set) }
			}
		}
		weights := rapid.SliceOfN(weight, len(parts), len(parts)).Draw(t, "part weights")
		b, err := NewMixture(parts, weights)
		return drawn{n, must(t, b, err), func(set []int) float64 {
			sum := 0.0
			for j, w := range weights {
				sum += w * wants[j](set)
			}
			return sum
		}, exact}
	}
	gens := map[string]*rapid.Generator[drawn]{}
	for name, draw := range families {
		gens[name] = rapid.Custom(func(t *rapid.T) drawn {
			return draw(t, rapid.IntRange(0, maxN).Draw(t, "n"), rapid.IntRange(0, 5).Draw(t, "d"))
		})
	}
	return gens
}

func forEachFamily(t *testing.T, maxN int, law func(t *rapid.T, d drawn)) {
	for name, gen := range families(maxN) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { law(t, gen.Draw(t, "benefit")) })
		})
	}
}

func members(mask int) []int {
	var set []int
	for ; mask != 0; mask &= mask - 1 {
		set = append(set, bits.TrailingZeros(uint(mask)))
	}
	return set
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b)) }

// Value is the formula, and the parts, where there are any, add up to it: all sets of up to 6 candidates.
func TestValueIsFormula(t *testing.T) {
	forEachFamily(t, 6, func(t *rapid.T, d drawn) {
		for m := range 1 << d.n {
			set := members(m)
			value := d.benefit.Value(set)
			if want := d.want(set); !near(value, want, d.tol) {
				t.Fatalf("%v: value of %v is %v, formula says %v", d, set, value, want)
			}
			if p, ok := d.benefit.(interface{ Parts([]int) []float64 }); ok {
				sum := 0.0
				for _, part := range p.Parts(set) {
					sum += part
				}
				if !near(sum, value, exact) {
					t.Fatalf("%v: parts of %v add up to %v, want %v", d, set, sum, value)
				}
			}
		}
	})
}

// Every benefit is monotone, submodular and consistent with its gains: all sets and pairs of up to 6 candidates.
func TestSubmodular(t *testing.T) {
	forEachFamily(t, 6, func(t *rapid.T, d drawn) {
		if err := bps.CheckSubmodular(d.benefit, d.n, nil, 0); err != nil {
			t.Fatalf("%v: %v", d, err)
		}
	})
}

// Every benefit passes the conformance kit; run with the race detector, this also shows that Value and Start may be called at once.
func TestConformance(t *testing.T) {
	for name, gen := range families(7) {
		t.Run(name, func(t *testing.T) {
			for seed := range 4 {
				d := gen.Example(seed)
				bpstest.Run(t, d.n, func() bps.Benefit { return d.benefit })
			}
		})
	}
}

// Gains are differences of values along every order of additions, and a clone is independent of its original.
func TestGainsAgree(t *testing.T) {
	forEachFamily(t, 12, func(t *rapid.T, d drawn) {
		st, set := d.benefit.Start(), 0
		base := d.want(nil)
		for _, i := range rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Perm(d.n) {
			now, then := d.want(members(set)), d.want(members(set|1<<i))
			if got := st.Gain(i); math.Abs(got-(then-now)) > d.tol*max(1, then) {
				t.Fatalf("%v: gain of %d at %v is %v, formula says %v", d, i, members(set), got, then-now)
			}
			if got := st.Value(); !near(got, now-base, d.tol) {
				t.Fatalf("%v: state of %v has value %v, formula says %v", d, members(set), got, now-base)
			}
			old := st
			st = st.Clone()
			st.Add(i)
			if got := old.Gain(i); math.Abs(got-(then-now)) > d.tol*max(1, then) {
				t.Fatalf("%v: the clone changed its original: gain of %d at %v is %v, want %v", d, i, members(set), got, then-now)
			}
			set |= 1 << i
		}
	})
}

// With integers and with the order of sums fixed, a second copy of a candidate gains exactly 0, and the first as much as the other.
func TestEqualCandidates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 40).Draw(t, "d")
		rows := drawRows(t, 3, d, rapid.Float64Range(-1, 1))
		rows = append(rows, rows[0])
		lists := make([][]Neighbor, len(rows))
		for i, row := range rows {
			for v, s := range row {
				lists[i] = append(lists[i], Neighbor{v, s})
			}
		}
		dense, err := NewFacilityLocation(rows, nil)
		must(t, dense, err)
		narrow, err := NewCosineFacilityLocation(rows, nil, nil)
		must(t, narrow, err)
		sparse, err := NewNearestFacilityLocation(lists, ones(d))
		must(t, sparse, err)
		for _, b := range []bps.Incremental{dense, narrow, sparse} {
			st := b.Start()
			for _, i := range []int{1, 2} {
				if st.Gain(0) != st.Gain(3) {
					t.Fatalf("%T: equal candidates gain %v and %v", b, st.Gain(0), st.Gain(3))
				}
				st.Add(i)
			}
			st.Add(0)
			if g := st.Gain(3); g != 0 {
				t.Fatalf("%T: a copy gains %v", b, g)
			}
		}
	})
}

func repeat(n, k int, x float64) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = slices.Repeat([]float64{x}, k)
	}
	return rows
}

func TestWorked(t *testing.T) {
	sims := [][]float64{{1, .2, .5}, {.1, .9, .4}, {0, .3, .8}, {.6, .6, .6}}
	location, err := NewFacilityLocation(sims, nil)
	must(t, location, err)
	lists := make([][]Neighbor, len(sims))
	for i, row := range sims {
		for v, s := range row {
			lists[i] = append(lists[i], Neighbor{v, s})
		}
	}
	nearest, err := NewNearestFacilityLocation(lists, ones(3))
	must(t, nearest, err)
	probabilistic, err := NewProbabilisticCoverage([][]float64{{.5, .2}, {.5, 0}, {0, .9}}, []float64{2, 1})
	must(t, probabilistic, err)
	features, err := NewFeatureBased([][]float64{{4, 0}, {5, 1}, {0, 3}}, []Feature{{2, math.Sqrt}, {1, math.Log1p}})
	must(t, features, err)
	capped, err := NewFeatureBased([][]float64{{6}, {6}, {3}}, []Feature{{1, Cap(10)}})
	must(t, capped, err)
	saturated, err := NewFeatureBased([][]float64{{1, .5}, {1, .5}, {0, 1}}, []Feature{{1, Cap(2 * .6)}, {1, Cap(2 * .6)}})
	must(t, saturated, err)
	ratio, err := NewFeatureBased([][]float64{{1}, {2}}, []Feature{{8, Ratio}})
	must(t, ratio, err)
	saturation, err := NewFeatureBased([][]float64{{1.5, 0}, {0, 1}, {1, .5}}, []Feature{{2, Saturation}, {1, Saturation}})
	must(t, saturation, err)
	covers, err := NewWeightedCoverage([][]int{{0, 1}, {2, 1, 2}, {}}, []float64{1, 2, 4})
	must(t, covers, err)
	cosine, err := NewCosineFacilityLocation([][]float64{{2, 0}, {1, 1}, {0, 0}}, [][]float64{{1, 0}, {0, 3}, {-1, 0}}, nil)
	must(t, cosine, err)
	weighted, err := NewCosineFacilityLocation([][]float64{{2, 0}, {0, 1}}, nil, []float64{3, 0.5})
	must(t, weighted, err)
	huge, err := NewCosineFacilityLocation([][]float64{{1e300, 1e300}, {1e-300, 0}}, nil, nil)
	must(t, huge, err)
	far, err := NewFacilityLocation([][]float64{{1e300, 1}, {0, 2e300}}, nil)
	must(t, far, err)
	tiny, err := NewFacilityLocation([][]float64{{1e-300, 1e-301}, {0, 2e-300}}, nil)
	must(t, tiny, err)
	rare, err := NewProbabilisticCoverage([][]float64{{1e-18}, {1e-18}}, nil)
	must(t, rare, err)
	size := bps.BenefitFunc(func(set []int) float64 { return 1 + float64(len(set)) })
	mixed, err := NewMixture([]bps.Benefit{location, size}, []float64{2, .5})
	must(t, mixed, err)
	for _, tt := range []struct {
		name    string
		benefit bps.Benefit
		set     []int
		want    float64
		reason  string
	}{
		{"location", location, []int{0}, 1.7, "specification X9"},
		{"location", location, []int{1}, 1.4, "X9"},
		{"location", location, []int{2}, 1.1, "X9"},
		{"location", location, []int{3}, 1.8, "X9"},
		{"location", location, []int{0, 1}, 2.4, "X9"},
		{"location", location, []int{0, 3}, 2.2, "X9"},
		{"location", location, []int{0, 1, 2}, 2.7, "X9"},
		{"nearest", nearest, []int{3}, 1.8, "X9"},
		{"nearest", nearest, []int{0, 1, 2}, 2.7, "X9"},
		{"probabilistic", probabilistic, []int{0}, 1.2, "X9"},
		{"probabilistic", probabilistic, []int{1}, 1, "X9"},
		{"probabilistic", probabilistic, []int{2}, .9, "X9"},
		{"probabilistic", probabilistic, []int{0, 1}, 1.7, "X9"},
		{"probabilistic", probabilistic, []int{0, 2}, 1.92, "X9"},
		{"probabilistic", probabilistic, []int{0, 1, 2}, 2.42, "X9"},
		{"rare", rare, []int{0, 1}, 2e-18, "1 - (1-p)^2 would be 0"},
		{"features", features, []int{0}, 4, "X9"},
		{"features", features, []int{1}, 5.165283136, "X9"},
		{"features", features, []int{2}, 1.386294361, "X9"},
		{"features", features, []int{0, 1}, 6.693147181, "X9"},
		{"features", features, []int{0, 1, 2}, 7.609437912, "X9"},
		{"capped", capped, []int{0}, 6, "X9"},
		{"capped", capped, []int{0, 1}, 10, "X9"},
		{"capped", capped, []int{0, 2}, 9, "X9"},
		{"saturated", saturated, []int{0, 1}, 2.2, "both points have similarities of 2 in all, limited to 0.6 of that: 1.2 + 1"},
		{"ratio", ratio, []int{0, 1}, 6, "8*3/4"},
		{"saturation", saturation, []int{0, 2}, 2.229299343, "X1: the capability form"},
		{"covers", covers, []int{0}, 3, "1+2"},
		{"covers", covers, []int{1}, 6, "2+4, the second 2 does not count"},
		{"covers", covers, []int{0, 1, 2}, 7, "all"},
		{"cosine", cosine, []int{0}, 1, "1, 0 and -1, which counts as 0"},
		{"cosine", cosine, []int{1}, math.Sqrt2, "half a right angle to both"},
		{"cosine", cosine, []int{2}, 0, "a vector of zeros is similar to nothing"},
		{"weighted cosine", weighted, []int{1}, .5, "only to itself"},
		{"weighted cosine", weighted, []int{0, 1}, 3.5, "each to itself"},
		{"huge and tiny vectors", huge, []int{1}, 1 + math.Sqrt2/2, "squares would overflow and vanish"},
		{"far", far, []int{0, 1}, 3e300, "squares or sums of 2^62 would overflow"},
		{"mixed", mixed, nil, .5, "the base of the second part"},
		{"mixed", mixed, []int{0, 1}, 2*2.4 + .5*3, "by hand"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		if got := tt.benefit.Value(tt.set); math.Abs(got-tt.want) > 5e-10*max(1, tt.want) {
			t.Errorf("%s of %v is %.9f, want %.9f (%s)", tt.name, tt.set, got, tt.want, tt.reason)
		}
	}
	if got := rare.Value([]int{0, 1}); math.Abs(got-2e-18) > 1e-27 {
		t.Errorf("rare coverage is %v, want 2e-18", got)
	}
	third, err := NewFacilityLocation([][]float64{{1. / 3}, {1. / 7}}, nil)
	must(t, third, err)
	if got := []float64{third.Value([]int{0}), third.Value([]int{1})}; !slices.Equal(got, []float64{1. / 3, 1. / 7}) {
		t.Errorf("similarities of 1/3 and 1/7 are %v, want all their digits", got)
	}
	worthless, err := NewCosineFacilityLocation(repeat(2, 2, 1), nil, []float64{0, 0})
	must(t, worthless, err)
	if got := worthless.Value([]int{0, 1}); got != 0 {
		t.Errorf("weights of 0 give %v, want 0", got)
	}
	if got := tiny.Value([]int{0, 1}); math.Abs(got-3e-300) > 1e-307 {
		t.Errorf("tiny similarities add up to %v, want 3e-300", got)
	}
	if got := nearest.Value([]int{0, 1, 2}); math.Abs(got-2.7) > 1e-12 {
		t.Errorf("nearest is %v, want 2.7 to the last digits", got)
	}
	if got := location.Value([]int{0, 1, 2}); math.Abs(got-2.7) > 1e-12 {
		t.Errorf("location is %v, want 2.7 to the last digits", got)
	}
}

// The parts are what the documentation says.
func TestParts(t *testing.T) {
	location, err := NewFacilityLocation([][]float64{{1, .25}, {.5, .75}}, []float64{2, 4})
	must(t, location, err)
	sparse, err := NewNearestFacilityLocation([][]Neighbor{{{1, .25}, {0, 1}}, {{0, .5}, {1, .75}}}, []float64{2, 4})
	must(t, sparse, err)
	covers, err := NewWeightedCoverage([][]int{{0, 1}, {1, 2}}, []float64{1, 2, 4})
	must(t, covers, err)
	plainSparse, err := NewNearestFacilityLocation([][]Neighbor{{{3, .25}}, {{0, .5}, {1, -1}}}, nil)
	must(t, plainSparse, err)
	plainCovers, err := NewWeightedCoverage([][]int{{3}, {1, 0}}, nil)
	must(t, plainCovers, err)
	probabilistic, err := NewProbabilisticCoverage([][]float64{{.5, 0}, {.5, 1}}, []float64{8, 2})
	must(t, probabilistic, err)
	features, err := NewFeatureBased([][]float64{{4, 0, 1}, {5, 1, 1}}, []Feature{{2, math.Sqrt}, {0, Ratio}, {1, Cap(1.5)}})
	must(t, features, err)
	mixed, err := NewMixture([]bps.Benefit{covers, location}, []float64{.5, 2})
	must(t, mixed, err)
	for _, tt := range []struct {
		benefit bps.Benefit
		one     []float64 // parts of {1}
		both    []float64
		reason  string
	}{
		{location, []float64{1, 3}, []float64{2, 3}, "points, weighted"},
		{sparse, []float64{1, 3}, []float64{2, 3}, "points, weighted"},
		{covers, []float64{0, 2, 4}, []float64{1, 2, 4}, "elements"},
		{plainSparse, []float64{.5, 0, 0, 0}, []float64{.5, 0, 0, .25}, "no weights: points up to the largest index"},
		{plainCovers, []float64{1, 1, 0, 0}, []float64{1, 1, 0, 1}, "no weights: elements up to the largest index"},
		{probabilistic, []float64{4, 2}, []float64{6, 2}, "elements: 8*(1-.25)"},
		{features, []float64{2 * math.Sqrt(5), 0, 1}, []float64{6, 0, 1.5}, "features; one has weight 0"},
		{mixed, []float64{3, 8}, []float64{3.5, 10}, "parts, weighted"},
	} {
		if tt.reason == "" {
			t.Errorf("%T: case without a reason", tt.benefit)
		}
		parts := tt.benefit.(interface{ Parts([]int) []float64 }).Parts
		got := [][]float64{parts([]int{1}), parts([]int{0, 1})}
		if diff := cmp.Diff([][]float64{tt.one, tt.both}, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
			t.Errorf("%T (%s), -want +got:\n%s", tt.benefit, tt.reason, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	err := func(b bps.Incremental, err error) error {
		if (b == nil) != (err != nil) {
			t.Errorf("%v, %v", b, err)
		}
		return err
	}
	listErr := func(l [][]Neighbor, err error) error {
		if (l == nil) != (err != nil) {
			t.Errorf("%v, %v", l, err)
		}
		return err
	}
	neighbors := func(s ...Neighbor) [][]Neighbor { return [][]Neighbor{nil, s} }
	feature := func(weight float64, f func(float64) float64, amounts ...float64) error {
		var rows [][]float64
		for _, x := range amounts {
			rows = append(rows, []float64{x})
		}
		return err(NewFeatureBased(rows, []Feature{{weight, f}}))
	}
	two, three := must2(t)(NewModular([]float64{1, 2})), must2(t)(NewModular([]float64{1, 2, 3}))
	var null *nullBenefit
	for _, tt := range []struct {
		name string
		err  error
		text string // "" for no error
	}{
		{"location: NaN", err(NewFacilityLocation([][]float64{{1, nan}}, nil)), "similarity[0][1] is NaN, want a finite number"},
		{"location: infinite", err(NewFacilityLocation([][]float64{{1}, {-inf}}, nil)), "similarity[1][0] is -Inf"},
		{"location: ragged", err(NewFacilityLocation([][]float64{{1}, {1, 2}}, nil)), "similarity[1] has 2 entries, want 1"},
		{"location: weights", err(NewFacilityLocation([][]float64{{1}}, []float64{1, 1})), "similarity[0] has 1 entries, want 2"},
		{"location: no weights", err(NewFacilityLocation([][]float64{{1}}, []float64{})), "similarity[0] has 1 entries, want 0"},
		{"location: negative weight", err(NewFacilityLocation([][]float64{{1}}, []float64{-1})), "weights[0] is -1, want a finite number >= 0"},
		{"location: overflow", err(NewFacilityLocation(repeat(1, 2, 1e308), nil)), "add up to +Inf"},
		{"location: product", err(NewFacilityLocation(repeat(1, 1, 1e300), []float64{1e300})), "add up to +Inf"},
		{"location: nothing", err(NewFacilityLocation(nil, nil)), ""},
		{"location: no points", err(NewFacilityLocation([][]float64{{}, {}}, nil)), ""},
		{"location: negative similarity", err(NewFacilityLocation(repeat(2, 2, -1), nil)), ""},
		{"location: zeros", err(NewFacilityLocation(repeat(2, 2, 0), []float64{0, 0})), ""},
		{"cosine: NaN", err(NewCosineFacilityLocation([][]float64{{1}, {nan}}, nil, nil)), "candidates[1][0] is NaN"},
		{"cosine: infinite point", err(NewCosineFacilityLocation([][]float64{{1}}, [][]float64{{inf}}, nil)), "points[0][0] is +Inf"},
		{"cosine: ragged", err(NewCosineFacilityLocation([][]float64{{1}, {1, 2}}, nil, nil)), "candidates[1] has 2 entries, want 1"},
		{"cosine: points", err(NewCosineFacilityLocation([][]float64{{1}}, [][]float64{{1, 2}}, nil)), "points[0] has 2 entries, want 1"},
		{"cosine: weights", err(NewCosineFacilityLocation([][]float64{{1}}, nil, []float64{1, 2})), "2 weights for 1 points"},
		{"cosine: negative weight", err(NewCosineFacilityLocation([][]float64{{1}}, nil, []float64{-2})), "weights[0] is -2"},
		{"cosine: one huge weight", err(NewCosineFacilityLocation(repeat(3, 1, 1), nil, []float64{1e308, 0, 0})), ""},
		{"cosine: overflow", err(NewCosineFacilityLocation(repeat(2, 1, 1), nil, []float64{1e308, 1e308})), "weights add up"},
		// apricot #1: raw data may be negative.
		{"cosine: negative cosine", err(NewCosineFacilityLocation([][]float64{{1}}, [][]float64{{-1}}, nil)), ""},
		{"cosine: no weight", err(NewCosineFacilityLocation([][]float64{{1}}, nil, []float64{0})), ""},
		{"cosine: nothing", err(NewCosineFacilityLocation(nil, nil, nil)), ""},
		{"cosine: no candidates", err(NewCosineFacilityLocation(nil, [][]float64{{1, 2}}, nil)), ""},
		{"cosine: no points", err(NewCosineFacilityLocation([][]float64{{1}}, [][]float64{}, nil)), ""},
		{"nearest: point", err(NewNearestFacilityLocation(neighbors(Neighbor{2, 1}), ones(2))), "neighbors[1] has point 2, want one of 2"},
		{"nearest: negative point", err(NewNearestFacilityLocation(neighbors(Neighbor{-1, 1}), ones(2))), "neighbors[1] has point -1"},
		{"nearest: twice", err(NewNearestFacilityLocation(neighbors(Neighbor{1, 1}, Neighbor{0, 1}, Neighbor{1, 2}), ones(2))), "point 1 twice"},
		{"nearest: NaN", err(NewNearestFacilityLocation(neighbors(Neighbor{1, nan}), ones(2))), "neighbors[1] has similarity NaN to point 1"},
		{"nearest: weight", err(NewNearestFacilityLocation(nil, []float64{1, nan})), "weights[1] is NaN"},
		{"nearest: product", err(NewNearestFacilityLocation(neighbors(Neighbor{0, 1e300}), []float64{1e300})), "candidate 1 add up to +Inf"},
		{"nearest: overflow", err(NewNearestFacilityLocation([][]Neighbor{{{0, 1e308}}, {{1, 1e308}}}, ones(2))), "similarities add up to +Inf"},
		{"nearest: empty weights", err(NewNearestFacilityLocation(neighbors(Neighbor{0, 1}), []float64{})),
			"neighbors[1] has point 0, want one of 0"},
		{"nearest: nil weights", err(NewNearestFacilityLocation(neighbors(Neighbor{0, 1}, Neighbor{3, 1}), nil)), ""},
		{"nearest: nil weights, negative", err(NewNearestFacilityLocation(neighbors(Neighbor{-1, 1}), nil)),
			"neighbors[1] has point -1, want one of 0..268435455, as there are no weights"},
		{"nearest: nil weights, huge", err(NewNearestFacilityLocation(neighbors(Neighbor{math.MaxInt, 1}), nil)),
			"want one of 0..268435455"},
		{"nearest: nil weights, too many", err(NewNearestFacilityLocation(neighbors(Neighbor{1 << 28, 1}), nil)), "has point 268435456, want"},
		{"nearest: nil weights, overflow", err(NewNearestFacilityLocation([][]Neighbor{{{0, 1e308}}, {{1, 1e308}}}, nil)), "add up to +Inf"},
		{"nearest: nothing", err(NewNearestFacilityLocation(nil, nil)), ""},
		{"nearest: negative similarity", err(NewNearestFacilityLocation(neighbors(Neighbor{0, -1}), ones(1))), ""},
		{"Nearest: k", listErr(Nearest(repeat(1, 1, 1), nil, 0)), "k is 0, want >= 1"},
		{"Nearest: NaN", listErr(Nearest(repeat(1, 1, nan), nil, 1)), "candidates[0][0] is NaN"},
		{"coverage: element", err(NewWeightedCoverage([][]int{{0}, {0, 3}}, ones(3))), "covers[1] has element 3, want one of 3"},
		{"coverage: negative element", err(NewWeightedCoverage([][]int{{-1}}, ones(3))), "covers[0] has element -1"},
		{"coverage: weight", err(NewWeightedCoverage(nil, []float64{-1})), "weights[0] is -1"},
		{"coverage: overflow", err(NewWeightedCoverage(nil, []float64{1e308, 1e308})), "weights add up to +Inf"},
		{"coverage: empty weights", err(NewWeightedCoverage([][]int{{0}}, []float64{})), "covers[0] has element 0, want one of 0"},
		{"coverage: nil weights", err(NewWeightedCoverage([][]int{{0}, {2, 5}}, nil)), ""},
		{"coverage: nil weights, negative", err(NewWeightedCoverage([][]int{{0}, {-2}}, nil)),
			"covers[1] has element -2, want one of 0..268435455, as there are no weights"},
		{"coverage: nil weights, huge", err(NewWeightedCoverage([][]int{{math.MaxInt}}, nil)),
			"want one of 0..268435455"},
		{"coverage: nil weights, too many", err(NewWeightedCoverage([][]int{{1 << 28}}, nil)), "has element 268435456, want"},
		{"coverage: nothing", err(NewWeightedCoverage(nil, nil)), ""},
		{"probability: above 1", err(NewProbabilisticCoverage([][]float64{{.5, 1.5}}, nil)), "p[0][1] is 1.5, want a number in [0, 1]"},
		{"probability: negative", err(NewProbabilisticCoverage([][]float64{{-.5}}, nil)), "p[0][0] is -0.5"},
		{"probability: NaN", err(NewProbabilisticCoverage([][]float64{{nan}}, nil)), "p[0][0] is NaN"},
		{"probability: ragged", err(NewProbabilisticCoverage([][]float64{{1}, {}}, nil)), "p[1] has 0 entries, want 1"},
		{"probability: weight", err(NewProbabilisticCoverage([][]float64{{1}}, []float64{inf})), "weights[0] is +Inf"},
		{"probability: overflow", err(NewProbabilisticCoverage(nil, []float64{1e308, 1e308})), "weights add up to +Inf"},
		{"probability: nothing", err(NewProbabilisticCoverage(nil, nil)), ""},
		{"features: amount", feature(1, math.Sqrt, 1, -1), "amounts[1][0] is -1"},
		{"features: NaN", feature(1, math.Sqrt, nan), "amounts[0][0] is NaN"},
		{"features: amounts", feature(1, math.Sqrt, 1e308, 1e308), "amounts of feature 0 add up to +Inf"},
		{"features: ragged", err(NewFeatureBased([][]float64{{1, 2}}, []Feature{{1, math.Sqrt}})), "amounts[0] has 2 entries, want 1"},
		{"features: weight", feature(nan, math.Sqrt, 1), "weight of feature 0 is NaN"},
		{"features: value", feature(1e308, math.Sqrt, 1e308), "features add up to +Inf"},
		{"features: no function", feature(1, nil, 1), "feature 0 has no function"},
		{"features: not 0 at 0", feature(1, math.Exp, 1), "is 1 at 0, want 0"},
		{"features: NaN at 0", feature(1, func(float64) float64 { return nan }, 1), "is NaN at 0, want 0"},
		{"features: negative cap", feature(1, Cap(-1), 1), "is -1 at 0, want 0"},
		{"features: NaN later", feature(1, func(x float64) float64 { return math.Sqrt(x) * math.Sqrt(1-x) }, 1, 1), "is NaN at 1.0625, want"},
		{"features: falling", feature(1, math.Sin, 6), "falls from"},
		{"features: convex", feature(1, func(x float64) float64 { return x * x }, 6), "is not concave below"},
		{"features: convex but unused", feature(1, func(x float64) float64 { return x * x }, 0), ""},
		{"features: tiny", feature(1, math.Sqrt, 5e-324), ""},
		{"features: tiny and falling", feature(1, func(x float64) float64 { return -x }, 5e-324), "falls from"},
		{"features: infinite cap", feature(1, Cap(inf), 5), ""},
		{"features: nothing", err(NewFeatureBased(nil, nil)), ""},
		{"modular: negative", err(NewModular([]float64{1, -2})), "values[1] is -2"},
		{"modular: overflow", err(NewModular([]float64{1e308, 1e308})), "values add up to +Inf"},
		{"modular: nothing", err(NewModular(nil)), ""},
		{"mixture: weights", err(NewMixture([]bps.Benefit{two}, nil)), "0 weights for 1 parts"},
		{"mixture: negative", err(NewMixture([]bps.Benefit{two}, []float64{-1})), "weights[0] is -1"},
		{"mixture: nil", err(NewMixture([]bps.Benefit{two, nil}, ones(2))), "parts[1] is nil"},
		{"mixture: nil function", err(NewMixture([]bps.Benefit{bps.BenefitFunc(nil)}, ones(1))), "parts[0] is nil"},
		{"mixture: nil pointer", err(NewMixture([]bps.Benefit{null}, ones(1))), "parts[0] is nil"},
		{"mixture: sizes", err(NewMixture([]bps.Benefit{two, three}, ones(2))), "parts[0] is for 2 candidates, parts[1] for 3"},
		{"mixture: nothing", err(NewMixture(nil, nil)), ""},
	} {
		switch {
		case tt.text == "" && tt.err != nil:
			t.Errorf("%s: %v", tt.name, tt.err)
		case tt.text != "" && (!errors.Is(tt.err, bps.ErrBenefit) || !strings.Contains(tt.err.Error(), tt.text) ||
			!strings.HasPrefix(tt.err.Error(), "benefit: ")):
			t.Errorf("%s: got %v, want bps.ErrBenefit with %q", tt.name, tt.err, tt.text)
		}
	}
}

type nullBenefit struct{}

func (*nullBenefit) Value([]int) float64 { return 0 }

func must2(t *testing.T) func(bps.Incremental, error) bps.Incremental {
	return func(b bps.Incremental, err error) bps.Incremental { return must(t, b, err) }
}

// A benefit keeps its own copy of what it was made of.
func TestCopies(t *testing.T) {
	rows, lists, covers := [][]float64{{.5, .25}}, [][]Neighbor{{{1, 1}, {0, 1}}}, [][]int{{1, 0}}
	weights, features, parts := []float64{2, 3}, []Feature{{1, math.Sqrt}, {2, Ratio}}, []bps.Benefit{nil}
	var all []bps.Incremental
	add := must2(t)
	all = append(all, add(NewFacilityLocation(rows, weights)), add(NewCosineFacilityLocation(rows, repeat(2, 2, 1), weights)),
		add(NewNearestFacilityLocation(lists, weights)), add(NewWeightedCoverage(covers, weights)),
		add(NewProbabilisticCoverage(rows, weights)), add(NewFeatureBased(rows, features)), add(NewModular(weights)))
	parts[0] = all[0]
	all = append(all, add(NewMixture(parts, weights[:1])))
	var want, got []float64
	for _, b := range all {
		want = append(want, b.Value([]int{0}), b.Start().Gain(0))
	}
	if lists[0][0].Point != 1 || covers[0][0] != 1 {
		t.Error("an argument was changed")
	}
	rows[0][0], lists[0][0], covers[0][0], weights[0], features[0].Weight, parts[0] = .9, Neighbor{0, 9}, 0, 9, 9, nil
	for _, b := range all {
		got = append(got, b.Value([]int{0}), b.Start().Gain(0))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a change of the input, -want +got:\n%s", diff)
	}
}

// Nearest finds what sorting all cosines finds, for all points, and the lists make the same benefit as all cosines if k is large.
func TestNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, p, k := rapid.IntRange(1, 8).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "p"), rapid.IntRange(1, 9).Draw(t, "k")
		whole := rapid.Map(rapid.IntRange(-2, 2), func(x int) float64 { return float64(x) })
		a, b := drawRows(t, n, 3, whole), drawRows(t, p, 3, whole)
		lists, err := Nearest(a, b, k)
		if err != nil {
			t.Fatal(err)
		}
		kept := make([]int, p)
		for i, list := range lists {
			for j, nb := range list {
				if j > 0 && list[j-1].Point >= nb.Point {
					t.Fatalf("list %d is not ascending: %v", i, list)
				}
				kept[nb.Point]++
				if c := cosine(a[i], b[nb.Point]); !(c > 0) || math.Abs(c-nb.Similarity) > 1e-12 {
					t.Fatalf("similarity of %d and %d is %v, want %v", i, nb.Point, nb.Similarity, c)
				}
				// Whoever is not in the list of the point is not better.
				for o := range a {
					has := slices.ContainsFunc(lists[o], func(x Neighbor) bool { return x.Point == nb.Point })
					c, own := cosine(a[o], b[nb.Point]), nb.Similarity
					if !has && (c > own+1e-12 || o < i && slices.Equal(a[o], a[i])) {
						t.Fatalf("point %d has candidate %d (%v) and not %d (%v)", nb.Point, i, own, o, c)
					}
				}
			}
		}
		for v := range b {
			positive := 0
			for i := range a {
				if cosine(a[i], b[v]) > 1e-12 {
					positive++
				}
			}
			if kept[v] != min(k, positive) {
				t.Fatalf("point %d has %d candidates, want %d", v, kept[v], min(k, positive))
			}
		}
		if k >= n {
			sparse, err := NewNearestFacilityLocation(lists, ones(p))
			must(t, sparse, err)
			dense, err := NewCosineFacilityLocation(a, b, nil)
			must(t, dense, err)
			for m := range 1 << n {
				if x, y := sparse.Value(members(m)), dense.Value(members(m)); math.Abs(x-y) > 1e-8 {
					t.Fatalf("%v: %v with lists, %v with all cosines", members(m), x, y)
				}
			}
		}
	})
}

// For many candidates, with many ties, the lists are those of a full sort, in whatever order the cosines come.
func TestNearestMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 60).Draw(t, "n"), rapid.SampledFrom([]int{1, 2, 3, 10, math.MaxInt}).Draw(t, "k")
		angle := rapid.IntRange(-4, 9)
		candidates := make([][]float64, n)
		for i := range candidates {
			candidates[i] = []float64{1, float64(angle.Draw(t, "angle"))}
		}
		points := [][]float64{{0, 1}, {1, 0}, {0, -3}}
		got, err := Nearest(candidates, points, k)
		if err != nil {
			t.Fatal(err)
		}
		want := make([][]Neighbor, n)
		for v, point := range points {
			var order []int
			for i, c := range candidates {
				if cosine(c, point) > 1e-12 {
					order = append(order, i)
				}
			}
			slices.SortStableFunc(order, func(i, j int) int {
				if a, b := cosine(candidates[i], point), cosine(candidates[j], point); a != b {
					return int(math.Copysign(1, b-a))
				}
				return 0
			})
			for _, i := range order[:min(k, len(order))] {
				want[i] = append(want[i], Neighbor{v, cosine(candidates[i], point)})
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Fatalf("k=%d of %v (-want +got):\n%s", k, candidates, diff)
		}
	})
}

// Of candidates with one direction, the first are kept.
func TestNearestTies(t *testing.T) {
	got, err := Nearest([][]float64{{0, 1}, {1, 1}, {2, 2}, {4, 4}}, [][]float64{{3, 3}}, 2)
	want := [][]Neighbor{nil, {{0, 1}}, {{0, 1}}, nil}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

// Nil points are the candidates: the same bits as when they are given.
func TestOwnPoints(t *testing.T) {
	vectors := randomVectors(rand.New(rand.NewPCG(1, 2)), 50, 7, 3)
	a, err := NewCosineFacilityLocation(vectors, nil, nil)
	must(t, a, err)
	b, err := NewCosineFacilityLocation(vectors, vectors, nil)
	must(t, b, err)
	if diff := cmp.Diff(a.(*facility[uint32]).rows, b.(*facility[uint32]).rows); diff != "" {
		t.Error(diff)
	}
	own, err := Nearest(vectors, nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	given, err := Nearest(vectors, vectors, 5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(own, given); diff != "" {
		t.Error(diff)
	}
}

// Lazy greedy, the fast path and integers pick what a full scan of the formula picks, on more points than Value takes at once.
func TestLazyGreedyIsFullScan(t *testing.T) {
	for _, clusters := range []int{0, 5} {
		const n, picks = 300, 20
		vectors := randomVectors(rand.New(rand.NewPCG(3, 4)), n, 16, clusters)
		f, err := NewCosineFacilityLocation(vectors, nil, nil)
		must(t, f, err)
		got, _ := lazyGreedy(f, n, picks)

		sims := cosines(vectors, vectors)
		best := make([]float64, n)
		var want []int
		value := 0.0
		for range picks {
			pick, most := -1, -1.0
			for i, row := range sims {
				gain := 0.0
				for v, s := range row {
					gain += max(0, s-best[v])
				}
				if gain > most {
					pick, most = i, gain
				}
			}
			for v, s := range sims[pick] {
				best[v] = max(best[v], s)
			}
			want = append(want, pick)
			value += most
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d clusters, -want +got:\n%s", clusters, diff)
		}
		slices.Sort(got)
		if v := f.Value(got); math.Abs(v-value) > 1e-7 {
			t.Errorf("%d clusters: value %v, want %v", clusters, v, value)
		}
	}
}

// Select with the fast path and lazy gains finds what Algorithm 1 as it is written, with full scans of the formula, finds.
func TestSelectIsFullScan(t *testing.T) {
	forEachFamily(t, 7, func(t *rapid.T, d drawn) {
		tokens := rapid.SliceOfN(rapid.IntRange(1, 12), d.n, d.n).Draw(t, "tokens")
		budget := rapid.IntRange(0, 40).Draw(t, "budget")
		kappa := rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "kappa")
		p := bps.Problem{Tokens: tokens, Budget: budget, Benefit: d.benefit, PenaltyPerToken: kappa}
		sel, err := bps.Select(context.Background(), p, nil)
		if err != nil {
			t.Fatalf("%v: %v", d, err)
		}
		value := make([]float64, 1<<d.n)
		length := make([]int, 1<<d.n)
		for m := range value {
			value[m] = d.benefit.Value(members(m)) - d.benefit.Value(nil)
			for _, i := range members(m) {
				length[m] += tokens[i]
			}
		}
		want := math.Inf(-1)
		grow := func(s int) {
			for length[s] <= budget {
				want = max(want, value[s]-kappa*float64(length[s]))
				next, key := -1, math.Inf(-1)
				for i := range d.n {
					if t := s | 1<<i; t != s && length[t] <= budget && (value[t]-value[s])/float64(tokens[i]) > key+1e-12 {
						next, key = i, (value[t]-value[s])/float64(tokens[i])
					}
				}
				if next < 0 {
					return
				}
				s |= 1 << next
			}
		}
		grow(0)
		for i := range d.n {
			grow(1 << i)
			for j := range i {
				grow(1<<i | 1<<j)
			}
		}
		plain, err := bps.Select(context.Background(), bps.Problem{Tokens: tokens, Budget: budget,
			Benefit: bps.BenefitFunc(d.benefit.Value), PenaltyPerToken: kappa}, nil)
		if err != nil {
			t.Fatalf("%v without the fast path: %v", d, err)
		}
		if !near(plain.Objective, sel.Objective, exact) || !near(want, sel.Objective, exact) {
			t.Fatalf("%v: objective %v, %v without the fast path, %v with full scans", d, sel.Objective, plain.Objective, want)
		}
	})
}

// What peers get wrong, from section 7 of the specification.
func TestKnownFaults(t *testing.T) {
	run := func(b bps.Benefit, budget int, tokens ...int) (*bps.Selection, error) {
		return bps.Select(context.Background(), bps.Problem{Tokens: tokens, Budget: budget, Benefit: b}, nil)
	}
	small, err := NewModular(slices.Repeat([]float64{0.04}, 5))
	must(t, small, err)
	if sel, err := run(small, 25_000, 5000, 5000, 5000, 5000, 5000); err != nil || len(sel.Items) != 5 {
		t.Errorf("submodlib: five gains of 0.04 for 5,000 tokens each are all worth it, got %v, %v", sel, err)
	}
	six, err := NewModular([]float64{6})
	must(t, six, err)
	if sel, err := run(six, 2, 2); err != nil || sel.Gains[0] != 6 {
		t.Errorf("submodlib: a gain of 6 for 2 tokens is reported as 6, got %v, %v", sel, err)
	}
	short, err := NewModular([]float64{2, 100})
	must(t, short, err)
	if sel, err := run(short, 100, 1, 100); err != nil || !slices.Equal(sel.Items, []int{1}) {
		t.Errorf("lean-ctx: the large candidate is the better one, got %v, %v", sel, err)
	}
	alike, err := NewFacilityLocation(repeat(3, 2, 1), nil)
	must(t, alike, err)
	if sel, err := run(alike, 3, 1, 1, 1); err != nil || !slices.Equal(sel.Items, []int{0}) {
		t.Errorf("equal gains: the first is enough, got %v, %v", sel, err)
	}
	nan, err := NewMixture([]bps.Benefit{alike, bps.BenefitFunc(func(set []int) float64 { return math.NaN() })}, []float64{1, 1})
	must(t, nan, err)
	if _, err := run(nan, 3, 1, 1, 1); !errors.Is(err, bps.ErrBenefit) {
		t.Errorf("submodlib #8: a NaN of a user's part is an error, got %v", err)
	}
	later, err := NewMixture([]bps.Benefit{alike, bps.BenefitFunc(func(set []int) float64 {
		if len(set) == 2 {
			return math.NaN()
		}
		return 0
	})}, []float64{1, 1})
	must(t, later, err)
	if _, err := run(later, 3, 1, 1, 1); !errors.Is(err, bps.ErrBenefit) {
		t.Errorf("submodlib #8: a NaN gain is an error, got %v", err)
	}
	if _, err := run(small, 1, 1, 1); !errors.Is(err, bps.ErrBenefit) || !strings.Contains(err.Error(), "made for 5 candidates, want 2") {
		t.Errorf("a benefit of another size is an error, got %v", err)
	}
	if _, err := run(nan, 1, 1); !errors.Is(err, bps.ErrBenefit) || !strings.Contains(err.Error(), "made for 3 candidates, want 1") {
		t.Errorf("a mixture knows its size from one part, got %v", err)
	}
	free, err := NewMixture([]bps.Benefit{bps.BenefitFunc(func(set []int) float64 { return float64(len(set)) })}, []float64{2})
	must(t, free, err)
	if sel, err := run(free, 3, 1, 1, 1); err != nil || sel.Benefit != 6 {
		t.Errorf("a mixture of functions is for any number of candidates, got %v, %v", sel, err)
	}
}

// A part of weight 0 is never asked: it may be one that cannot answer.
func TestMixtureLeavesOutWeightZero(t *testing.T) {
	b, err := NewMixture([]bps.Benefit{bps.BenefitFunc(func([]int) float64 { panic("asked") })}, []float64{0})
	must(t, b, err)
	st := b.Start()
	st.Add(1)
	parts := b.(interface{ Parts([]int) []float64 }).Parts([]int{0})
	if b.Value([]int{0}) != 0 || st.Gain(0) != 0 || st.Value() != 0 || !slices.Equal(parts, []float64{0}) {
		t.Error("not 0")
	}
}

// Gain allocates nothing, and Value nothing on average: the race detector makes its memory forget now and then.
func TestAllocations(t *testing.T) {
	for name, gen := range families(6) {
		if name == "Mixture" {
			continue // its parts may be functions
		}
		tried := 0
		for seed := range 10 {
			d := gen.Example(seed)
			if d.n < 3 {
				continue
			}
			tried++
			st, set := d.benefit.Start(), []int{0, 1}
			st.Add(0)
			gain := testing.AllocsPerRun(10, func() { st.Gain(1); st.Gain(2) })
			value := testing.AllocsPerRun(1000, func() { d.benefit.Value(set) })
			if gain > 0 || value > 0 {
				t.Errorf("%s: %v allocations of Gain and %v of Value", name, gain, value)
			}
		}
		if tried == 0 {
			t.Errorf("%s: nothing was tried", name)
		}
	}
}

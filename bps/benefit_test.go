package bps

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// shipped draws the benefits of the package for up to 6 candidates.
func shipped() map[string]*rapid.Generator[Incremental] {
	matrix := func(t *rapid.T, entry *rapid.Generator[float64]) [][]float64 {
		n, d := rapid.IntRange(0, 6).Draw(t, "n"), rapid.IntRange(0, 4).Draw(t, "d")
		return rapid.SliceOfN(rapid.SliceOfN(entry, d, d), n, n).Draw(t, "rows")
	}
	return map[string]*rapid.Generator[Incremental]{
		"Capability": rapid.Custom(func(t *rapid.T) Incremental {
			supply := matrix(t, rapid.Float64Range(0, 50))
			d := 0
			if len(supply) > 0 {
				d = len(supply[0])
			}
			c, err := NewCapability(rapid.SliceOfN(rapid.Float64Range(0, 100), d, d).Draw(t, "demand"), supply)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}),
		"Clauses": rapid.Custom(func(t *rapid.T) Incremental {
			rows := matrix(t, rapid.Float64Range(0, 1))
			whole := rapid.SliceOfN(rapid.Float64Range(0, 1), len(rows), len(rows)).Draw(t, "whole")
			l, err := NewClauses(rows, whole, &ClauseOptions{
				Scale:       rapid.Float64Range(0, 10).Draw(t, "scale"),
				Power:       rapid.Float64Range(1, 9).Draw(t, "power"),
				WholeWeight: new(rapid.Float64Range(0, 2).Draw(t, "weight")),
			})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}),
	}
}

func size(b Incremental) int { return b.(interface{ Len() int }).Len() }

// Gains, values and clones agree along every path: Value(S+i)-Value(S) is the gain, and a clone does not see what is added to its
// original.
func TestGainsAgree(t *testing.T) {
	for name, gen := range shipped() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := gen.Draw(t, "benefit")
				st, set := b.Start(), 0
				for _, i := range newRand(rapid.Uint64().Draw(t, "order")).Perm(size(b)) {
					now := b.Value(members(set))
					want := b.Value(members(set|1<<i)) - now
					tol := 1e-9 * max(1, math.Abs(now))
					if got := st.Gain(i); math.Abs(got-want) > tol {
						t.Fatalf("gain of %d at %v is %v, values say %v", i, members(set), got, want)
					}
					if got := st.Value(); math.Abs(got-now) > tol {
						t.Fatalf("state of %v has value %v, want %v", members(set), got, now)
					}
					old := st
					st = st.Clone()
					st.Add(i)
					if got := old.Gain(i); math.Abs(got-want) > tol {
						t.Fatalf("the clone changed its original: gain of %d at %v is %v, want %v", i, members(set), got, want)
					}
					set |= 1 << i
				}
			})
		})
	}
}

// The benefits are 0 for the empty set, monotone and submodular: all sets and pairs of up to 6 candidates.
func TestSubmodular(t *testing.T) {
	for name, gen := range shipped() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := gen.Draw(t, "benefit")
				n := size(b)
				if v := b.Value(nil); v != 0 {
					t.Fatalf("the empty set has value %v", v)
				}
				value := func(m int) float64 { return b.Value(members(m)) }
				for a := range 1 << n {
					for i := range n {
						for j := range n {
							if i == j || a&(1<<i) != 0 || a&(1<<j) != 0 {
								continue
							}
							tol := 1e-9 * max(1, value(a))
							if value(a|1<<i) < value(a)-tol {
								t.Fatalf("%d lowers %v", i, members(a))
							}
							if value(a|1<<i)+value(a|1<<j) < value(a|1<<i|1<<j)+value(a)-tol {
								t.Fatalf("%d and %d at %v are not submodular", i, j, members(a))
							}
						}
					}
				}
			})
		})
	}
}

func TestBenefitsWorked(t *testing.T) {
	relevance, err := NewClauses([][]float64{{1, 0}, {0.5, 0.5}, {0, 1}}, []float64{1, 0.8, 0.6}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		benefit Benefit
		set     []int
		want    float64
		reason  string
	}{
		{"capability", poolX1(t), []int{0}, 1.553739680, "specification X1"},
		{"capability", poolX1(t), []int{1}, 0.632120559, "X1"},
		{"capability", poolX1(t), []int{2}, 1.657710458, "X1"},
		{"capability", poolX1(t), []int{0, 1}, 2.185860239, "X1"},
		{"capability", poolX1(t), []int{0, 2}, 2.229299343, "X1"},
		{"capability", poolX1(t), []int{1, 2}, 2.041110958, "X1"},
		{"clauses", relevance, []int{0}, 1.164664717, "X9"},
		{"clauses", relevance, []int{1}, 0.682398434, "X9"},
		{"clauses", relevance, []int{2}, 1.044664717, "X9"},
		{"clauses", relevance, []int{0, 1}, 1.655799992, "X9"},
		{"clauses", relevance, []int{0, 2}, 2.209329434, "X9"},
		{"clauses", relevance, []int{0, 1, 2}, 2.509201551, "X9"},
	} {
		if got := tt.benefit.Value(tt.set); math.Abs(got-tt.want) > 5e-10 {
			t.Errorf("%s of %v is %.9f, want %.9f (%s)", tt.name, tt.set, got, tt.want, tt.reason)
		}
	}
}

func TestClauseOptions(t *testing.T) {
	rows, whole := [][]float64{{0.5}}, []float64{1}
	for _, tt := range []struct {
		o      *ClauseOptions
		want   float64
		reason string
	}{
		{nil, 1 - math.Exp(-2*0.125) + 0.3, "defaults: 2, 3, 0.3"},
		{&ClauseOptions{}, 1 - math.Exp(-2*0.125) + 0.3, "zero means the defaults"},
		{&ClauseOptions{WholeWeight: new(0.0)}, 1 - math.Exp(-2*0.125), "a pointer to 0 is 0"},
		{&ClauseOptions{Scale: 4, Power: 1, WholeWeight: new(1.0)}, 1 - math.Exp(-2) + 1, "by hand"},
	} {
		l, err := NewClauses(rows, whole, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, l.Value([]int{0}), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

func TestBenefitErrors(t *testing.T) {
	capability := func(demand []float64, supply ...[]float64) error {
		c, err := NewCapability(demand, supply)
		if (c == nil) != (err != nil) {
			t.Errorf("%v, %v", c, err)
		}
		return err
	}
	relevance := func(rows [][]float64, whole []float64, o *ClauseOptions) error {
		l, err := NewClauses(rows, whole, o)
		if (l == nil) != (err != nil) {
			t.Errorf("%v, %v", l, err)
		}
		return err
	}
	for _, tt := range []struct {
		name string
		err  error
		want error
		text string
	}{
		{"negative demand", capability([]float64{1, -1}), ErrBenefit, "demand[1] is -1"},
		{"NaN demand", capability([]float64{math.NaN()}), ErrBenefit, "demand[0] is NaN"},
		{"infinite supply", capability([]float64{1}, []float64{math.Inf(1)}), ErrBenefit, "supply[0][0] is +Inf"},
		{"negative supply without demand", capability([]float64{0}, []float64{-2}), ErrBenefit, "supply[0][0] is -2"},
		{"ragged supply", capability([]float64{1, 1}, []float64{1, 1}, []float64{1}), ErrBenefit, "supply[1] has 1 entries, want 2"},
		{"empty", capability(nil), nil, ""},
		{"no demand", capability(nil, nil, nil), nil, ""},
		{"above 1", relevance([][]float64{{1.5}}, []float64{1}, nil), ErrBenefit, "relevance 1.5 of candidate 0 for clause 0"},
		{"NaN", relevance([][]float64{{1}, {math.NaN()}}, []float64{1, 1}, nil), ErrBenefit, "candidate 1"},
		{"whole below 0", relevance([][]float64{{1}}, []float64{-1}, nil), ErrBenefit, "relevance -1 of candidate 0 for the whole query"},
		{"ragged", relevance([][]float64{{1}, {1, 1}}, []float64{1, 1}, nil), ErrBenefit, "2 clauses for candidate 1, want 1"},
		{"overflow", relevance([][]float64{{1}, {1}}, []float64{1, 1}, &ClauseOptions{WholeWeight: new(1e308)}), ErrBenefit, "add up to +Inf"},
		{"rows", relevance([][]float64{{1}}, []float64{1, 1}, nil), ErrBenefit, "1 rows"},
		{"scale", relevance(nil, nil, &ClauseOptions{Scale: -1}), nil, "bps: ClauseOptions.Scale is -1"},
		{"power", relevance(nil, nil, &ClauseOptions{Power: 0.5}), nil, "bps: ClauseOptions.Power is 0.5"},
		{"weight", relevance(nil, nil, &ClauseOptions{WholeWeight: new(math.Inf(1))}), nil, "bps: ClauseOptions.WholeWeight is +Inf"},
		{"nothing", relevance(nil, nil, nil), nil, ""},
		{"no clauses", relevance([][]float64{{}, {}}, []float64{1, 0}, nil), nil, ""},
	} {
		switch {
		case tt.text == "" && tt.err != nil:
			t.Errorf("%s: %v", tt.name, tt.err)
		case tt.text != "" && (tt.want != nil && !errors.Is(tt.err, tt.want) || !strings.Contains(fmt.Sprint(tt.err), tt.text)):
			t.Errorf("%s: got %v, want %v with %q", tt.name, tt.err, tt.want, tt.text)
		}
	}
}

// A benefit keeps its own copy of what it was made of.
func TestBenefitCopies(t *testing.T) {
	demand, supply := []float64{2, 1}, [][]float64{{1, 1}}
	c, err := NewCapability(demand, supply)
	if err != nil {
		t.Fatal(err)
	}
	want := c.Value([]int{0})
	demand[0], supply[0][0] = 9, 9
	if got := c.Value([]int{0}); got != want {
		t.Errorf("%v after a change of the input, want %v", got, want)
	}
}

func BenchmarkCapabilityGain(b *testing.B) {
	c, _ := randomCapability(newRand(1), 31, 64, 80, 600)
	st := c.Start()
	b.ReportAllocs()
	for b.Loop() {
		st.Gain(7)
	}
}

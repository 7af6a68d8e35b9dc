package bps

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// faultyFastPath is the number of members, 16 at most, with a fast path that a test breaks.
type faultyFastPath struct {
	base  float64
	gain  func(set []int, i int) float64
	value func(set []int) float64
}

func (w faultyFastPath) Value(set []int) float64 { return w.base + min(16, float64(len(set))) }
func (w faultyFastPath) Start() Gains            { return &faultyState{w: w} }

type faultyState struct {
	w   faultyFastPath
	set []int
}

func (s *faultyState) Gain(i int) float64 {
	if s.w.gain != nil {
		return s.w.gain(s.set, i)
	}
	return s.w.Value(append(slices.Clone(s.set), i)) - s.w.Value(s.set)
}

func (s *faultyState) Value() float64 {
	if s.w.value != nil {
		return s.w.value(s.set)
	}
	return s.w.Value(s.set) - s.w.base
}

func (s *faultyState) Add(i int)    { s.set = append(s.set, i) }
func (s *faultyState) Clone() Gains { return &faultyState{s.w, slices.Clone(s.set)} }

func TestCheckSubmodularFinds(t *testing.T) {
	size := func(set []int) float64 { return float64(len(set)) }
	asked := 0
	for _, tt := range []struct {
		name    string
		benefit Benefit
		n       int
		want    Counterexample
		left    int // members of a set that is random, if there are any
		text    string
		reason  string
	}{
		{"square, few", BenefitFunc(func(s []int) float64 { return size(s) * size(s) }), 4,
			Counterexample{Rule: ErrNotSubmodular, I: 0, J: 1, Got: 3, Bound: 1}, 0,
			"candidate 1 gains 1 at the set [], but 3 with candidate 0 in it", "property 12: 1-0 < 4-1"},
		{"square, many", BenefitFunc(func(s []int) float64 { return size(s) * size(s) }), 30,
			Counterexample{Rule: ErrNotSubmodular, Got: 3, Bound: 1}, 0, "", "property 12, shrunk to the empty set"},
		{"falling, few", BenefitFunc(func(s []int) float64 { return 0 - size(s) }), 3,
			Counterexample{Rule: ErrNotMonotone, I: 0, J: -1, Got: -1, Bound: 0}, 0,
			"candidate 0 lowers the value of the set [] from 0 to -1", "property 12"},
		{"falling, many", BenefitFunc(func(s []int) float64 { return 0 - size(s) }), 1000,
			Counterexample{Rule: ErrNotMonotone, J: -1, Got: -1, Bound: 0}, 0, "", "property 12"},
		{"falling at the end, many", BenefitFunc(func(s []int) float64 { return min(size(s), 58-size(s)) }), 30,
			Counterexample{Rule: ErrNotMonotone, J: -1, Got: 28, Bound: 29}, 29, "", "1, 2, .. 29, 28: one set in 29 samples or so"},
		{"one candidate", BenefitFunc(func(s []int) float64 { return 0 - size(s) }), 1,
			Counterexample{Rule: ErrNotMonotone, I: 0, J: -1, Got: -1, Bound: 0}, 0, "", "there is no pair"},
		{"last set", BenefitFunc(func(s []int) float64 { return max(size(s), 3*(size(s)-2)) }), 4,
			Counterexample{Rule: ErrNotSubmodular, Set: []int{0, 1}, I: 2, J: 3, Got: 3, Bound: 1}, 0, "",
			"0 1 2 3 6: only the fourth gains more, so no smaller set fails"},
		{"base", BenefitFunc(func(s []int) float64 { return math.NaN() }), 0,
			Counterexample{Rule: ErrBenefit, I: -1, J: -1, Got: math.NaN()}, 0, "the value of the set [] is NaN", "no candidates"},
		{"infinite", BenefitFunc(func(s []int) float64 {
			if slices.Contains(s, 7) {
				return math.Inf(1)
			}
			return size(s)
		}), 30, Counterexample{Rule: ErrBenefit, Set: []int{7}, I: -1, J: -1, Got: math.Inf(1)}, 0, "", "only with candidate 7"},
		{"memory", BenefitFunc(func(s []int) float64 { asked++; return float64(asked) }), 2,
			Counterexample{Rule: ErrBenefit, I: -1, J: -1, Got: 2, Bound: 1}, 0, "the value of the set [] is 1, and 2 when asked again",
			"not a function of the set"},
		{"gain", faultyFastPath{gain: func(s []int, i int) float64 { return 1 }}, 30,
			Counterexample{Rule: ErrBenefit, J: -1, Got: 1, Bound: 0}, 16, "", "above 16 members a gain is 0; shrinking ends at 16"},
		{"NaN gain", faultyFastPath{gain: func(s []int, i int) float64 { return math.NaN() }}, 2,
			Counterexample{Rule: ErrBenefit, I: 0, J: -1, Got: math.NaN(), Bound: 1}, 0,
			"the gain of candidate 0 at the set [] is NaN, but values differ by 1", "submodlib #8"},
		{"state", faultyFastPath{value: func(s []int) float64 { return 1 + size(s) }}, 2,
			Counterexample{Rule: ErrBenefit, I: -1, J: -1, Got: 1, Bound: 0}, 0,
			"the value of the state of the set [] is 1, but values differ by 0", "Value of a state starts at 0"},
		{"full state", faultyFastPath{value: func(s []int) float64 { return size(s) - float64(len(s)/2) }}, 2,
			Counterexample{Rule: ErrBenefit, Set: []int{0, 1}, I: -1, J: -1, Got: 1, Bound: 2}, 0, "", "wrong only for all candidates"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		err := CheckSubmodular(tt.benefit, tt.n, nil, 0)
		var got *Counterexample
		if !errors.As(err, &got) || !errors.Is(err, tt.want.Rule) || !strings.HasSuffix(err.Error(), tt.text) {
			t.Errorf("%s: got %v, want %v with %q (%s)", tt.name, err, tt.want.Rule, tt.text, tt.reason)
			continue
		}
		opts := cmp.Options{cmpopts.IgnoreUnexported(Counterexample{}), cmpopts.EquateErrors(), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()}
		if tt.n > exhaustive && tt.want.I >= 0 { // random candidates
			opts = append(opts, cmpopts.IgnoreFields(Counterexample{}, "I", "J"))
		}
		if tt.left > 0 {
			if len(got.Set) != tt.left {
				t.Errorf("%s: %d members are left, want %d (%s)", tt.name, len(got.Set), tt.left, tt.reason)
			}
			opts = append(opts, cmpopts.IgnoreFields(Counterexample{}, "Set"))
		}
		if diff := cmp.Diff(tt.want, *got, opts); diff != "" {
			t.Errorf("%s (%s), -want +got:\n%s", tt.name, tt.reason, diff)
		}
	}
}

func TestCheckSubmodularArguments(t *testing.T) {
	capability, err := NewCapability([]float64{1}, [][]float64{{1}, {2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		benefit Benefit
		n       int
		samples int
		want    string
		reason  string
	}{
		{"right", capability, 2, 0, "", "the capability benefit is submodular"},
		{"base", BenefitFunc(func(s []int) float64 { return 5 + float64(len(s)) }), 12, 50, "", "Select subtracts the base"},
		{"base with gains", faultyFastPath{base: 9}, 20, 0, "", "states start at 0"},
		{"no candidates", BenefitFunc(func(s []int) float64 { return 1 }), 0, 0, "", "nothing can be wrong"},
		{"nil", nil, 2, 0, "bps: invalid benefit: none given", "there is nothing to check"},
		{"nil function", BenefitFunc(nil), 2, 0, "bps: invalid benefit: none given", "it would panic"},
		{"size", capability, 3, 0, "bps: invalid benefit: made for 2 candidates, want 3", "it would panic"},
		{"negative n", capability, -1, 0, "bps: CheckSubmodular: n is -1", "out of range"},
		{"negative samples", capability, 2, -1, "bps: CheckSubmodular: samples is -1", "out of range"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		err := CheckSubmodular(tt.benefit, tt.n, nil, tt.samples)
		if (err != nil) != (tt.want != "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
	}
}

// The cost is as documented: two calls a set up to 10 candidates, else 8 a sample and two for the empty set.
func TestCheckSubmodularCost(t *testing.T) {
	for _, tt := range []struct{ n, samples, want int }{{3, 0, 16}, {10, 1, 2048}, {11, 0, 1602}, {50, 7, 58}} {
		calls := 0
		f := BenefitFunc(func(s []int) float64 { calls++; return float64(len(s)) })
		if err := CheckSubmodular(f, tt.n, nil, tt.samples); err != nil || calls != tt.want {
			t.Errorf("n=%d, samples=%d: %d calls (%v), want %d", tt.n, tt.samples, calls, err, tt.want)
		}
	}
}

// A failure at a set of thousands is made small in few calls, where one candidate at a time would take as many calls as there are.
func TestCheckSubmodularManyCandidates(t *testing.T) {
	for _, need := range []int{0, 3} {
		calls := 0
		f := BenefitFunc(func(s []int) float64 {
			calls++
			even, size := 0, float64(len(s))
			for _, i := range s {
				even += 1 - i%2
			}
			if even < need {
				return size
			}
			return size * size
		})
		var bad *Counterexample
		err := CheckSubmodular(f, 20_000, nil, 0)
		if !errors.As(err, &bad) || bad.Rule != ErrNotSubmodular || len(bad.Set) > need || calls > 1000 {
			t.Errorf("%d even ones needed: %v after %d calls, want %v at a set of at most %d", need, err, calls, ErrNotSubmodular, need)
		}
	}
}

// For up to 10 candidates, CheckSubmodular finds a fault in any table of values exactly if brute force over all pairs of sets does, and
// the set it names breaks the rule.
func TestCheckSubmodularIsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 4).Draw(t, "n")
		values := rapid.SliceOfN(rapid.Float64Range(0, 3), 1<<n, 1<<n).Draw(t, "values")
		if rapid.Bool().Draw(t, "mostly right") { // a concave function of the size, one value of which is changed by a little
			at, by := rapid.IntRange(0, 1<<n-1).Draw(t, "at"), rapid.Float64Range(-1, 1).Draw(t, "by")
			for m := range values {
				values[m] = math.Sqrt(float64(len(members(m))))
			}
			values[at] += by
		}
		monotone, submodular := true, true
		for a := range values {
			for b := range values {
				if a&b == a && values[b] < values[a]-1e-9*max(1, values[a]) {
					monotone = false
				}
				if values[a]+values[b] < values[a|b]+values[a&b]-1e-9*10 {
					submodular = false
				}
			}
		}
		err := CheckSubmodular(BenefitFunc(func(s []int) float64 { return values[mask(s)] }), n, nil, 0)
		var bad *Counterexample
		switch {
		case err == nil && !(monotone && submodular):
			t.Fatalf("nothing found: monotone %v, submodular %v", monotone, submodular)
		case err == nil:
		case !errors.As(err, &bad):
			t.Fatal(err)
		case bad.Rule == ErrNotMonotone:
			got, bound := values[mask(bad.Set)|1<<bad.I], values[mask(bad.Set)]
			if monotone || got != bad.Got || bound != bad.Bound || got >= bound {
				t.Fatalf("%v: brute force says monotone %v, values %v and %v", err, monotone, got, bound)
			}
		default:
			a, i, j := mask(bad.Set), 1<<bad.I, 1<<bad.J
			got, bound := values[a|i|j]-values[a|i], values[a|j]-values[a]
			if math.Abs(got-bad.Got) > 1e-12 || math.Abs(bound-bad.Bound) > 1e-12 || got <= bound {
				t.Fatalf("%v: brute force says submodular %v, gains %v and %v", err, submodular, got, bound)
			}
		}
	})
}

// The same generator gives the same counterexample; no generator is a fixed one.
func TestCheckSubmodularIsDeterministic(t *testing.T) {
	f := BenefitFunc(func(s []int) float64 { return float64(len(s) * len(s)) })
	run := func(rng *rand.Rand) string { return CheckSubmodular(f, 100, rng, 0).Error() }
	if a, b := run(nil), run(rand.New(rand.NewPCG(1, 2))); a != b {
		t.Errorf("%q without a generator, %q with the documented one", a, b)
	}
	if a, b := run(nil), run(rand.New(rand.NewPCG(3, 4))); a == b {
		t.Errorf("%q with two generators", a)
	}
}

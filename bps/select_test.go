package bps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// randomCapability returns n candidates with up to d capabilities and minTokens..maxTokens tokens.
func randomCapability(rng *rand.Rand, n, d, minTokens, maxTokens int) (Incremental, []int) {
	demand := make([]float64, d)
	for k := range demand {
		demand[k] = 0.5 + 3*rng.Float64()
	}
	supply := make([][]float64, n)
	tokens := make([]int, n)
	for i := range supply {
		supply[i] = make([]float64, d)
		for k := range supply[i] {
			if rng.Float64() < 0.4 {
				supply[i][k] = rng.Float64()
			}
		}
		tokens[i] = minTokens + rng.IntN(maxTokens-minTokens+1)
	}
	c, err := NewCapability(demand, supply)
	if err != nil {
		panic(err)
	}
	return c, tokens
}

// kappas is 0 and 16 prices from 1e-4 to 10 times the benefit of everything spread over the budget.
func kappas(in *instance) []float64 {
	unit := in.all() / float64(max(in.budget, 1))
	list := []float64{0}
	for j := range 16 {
		list = append(list, unit*1e-4*math.Pow(10, float64(j)/3))
	}
	return list
}

// Theorem 1: F(answer) >= (1-1/e)*G(T) - kappa*l(T) for every feasible T.
func TestTheorem1(t *testing.T) {
	eachFamily(t, 1, func(t *rapid.T, in *instance) {
		lengths := make([]int, len(in.values))
		for m := range lengths {
			lengths[m] = in.length(m)
		}
		for _, kappa := range kappas(in) {
			sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: kappa},
				&Options{Certify: new(false)})
			got := in.values[mask(sel.Items)] - kappa*float64(in.length(mask(sel.Items)))
			for m, v := range in.values {
				if lengths[m] <= in.budget && got < factor*v-kappa*float64(lengths[m])-1e-9 {
					t.Fatalf("%v\nkappa %v: F(%v) = %v, but T = %v has G = %v and %d tokens",
						in, kappa, sel.Items, got, members(m), v, lengths[m])
				}
			}
		}
	})
}

// Envelope property: the concave envelope of the recorded sets is at least (1-1/e)*OPT(b) at every b. It is Theorem 1 for all
// prices at once.
func TestEnvelope(t *testing.T) {
	eachFamily(t, 1, func(t *rapid.T, in *instance) {
		sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit}, &Options{Certify: new(false)})
		for b := range in.budget + 1 {
			opt := 0.0
			for m, v := range in.values {
				if in.length(m) <= b {
					opt = max(opt, v)
				}
			}
			if got := envelope(sel.Frontier, b); got < factor*opt-1e-9 {
				t.Fatalf("%v\nenvelope at %d is %v, OPT is %v", in, b, got, opt)
			}
		}
	})
}

// envelope is the upper concave envelope of the points at b, continued flat to the right.
func envelope(points []Point, b int) float64 {
	best := 0.0
	for _, p := range points {
		if p.Tokens <= b {
			best = max(best, p.Benefit)
			continue
		}
		for _, q := range points {
			if q.Tokens <= b {
				share := float64(b-q.Tokens) / float64(p.Tokens-q.Tokens)
				best = max(best, q.Benefit+share*(p.Benefit-q.Benefit))
			}
		}
	}
	return best
}

// The bound of Theorem 1 also holds for concave nondecreasing penalties.
func TestConcavePenalty(t *testing.T) {
	eachFamily(t, 1, func(t *rapid.T, in *instance) {
		unit := in.all() * rapid.Float64Range(0, 2).Draw(t, "unit")
		c := float64(rapid.IntRange(1, 40).Draw(t, "c"))
		for name, g := range map[string]func(float64) float64{
			"sqrt": func(l float64) float64 { return unit / 6 * math.Sqrt(l) },
			"log":  func(l float64) float64 { return unit / 4 * math.Log1p(l) },
			"cap":  func(l float64) float64 { return unit / 20 * min(l, c) },
		} {
			penalty := func(tokens int) float64 { return g(float64(tokens)) }
			sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, Penalty: penalty},
				&Options{PenaltyConcave: true})
			if diff := cmp.Diff(Guarantee{Factor: factor, Penalty: PenaltyConcave, Mode: Level2, Scope: fmt.Sprintf("all %d candidates", len(in.tokens))}, sel.Guarantee); diff != "" {
				t.Fatalf("guarantee (-want +got):\n%s", diff)
			}
			for m, v := range in.values {
				if l := in.length(m); l <= in.budget && sel.Objective < factor*v-penalty(l)-1e-9 {
					t.Fatalf("%v\n%s: F(%v) = %v, but T = %v has G = %v and penalty %v", in, name, sel.Items, sel.Objective, members(m), v, penalty(l))
				}
			}
		}
	})
}

// With an overhead the bound holds with the overhead in the tokens of every set that is not empty. Candidates without tokens
// join every such set.
func TestOverheadAndFreeBound(t *testing.T) {
	eachFamily(t, 0, func(t *rapid.T, in *instance) {
		h := rapid.IntRange(0, 12).Draw(t, "overhead")
		total := func(m int) int {
			if m == 0 {
				return 0
			}
			return in.length(m) + h
		}
		kappa := rapid.SampledFrom(kappas(in)).Draw(t, "kappa")
		sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: kappa, Overhead: h}, nil)
		if sel.Tokens != total(mask(sel.Items)) {
			t.Fatalf("%v\n%d tokens for %v with overhead %d", in, sel.Tokens, sel.Items, h)
		}
		for m, v := range in.values {
			if l := total(m); l <= in.budget && sel.Objective < factor*v-kappa*float64(l)-1e-9 {
				t.Fatalf("%v\noverhead %d, kappa %v: F(%v) = %v, but T = %v has G = %v", in, h, kappa, sel.Items, sel.Objective, members(m), v)
			}
		}
	})
}

// Lazy gains, the zero-gain end and the thinned pool change nothing: the answer, the frontier and the order are those of Algorithm 1
// as it is written.
func TestSelectOracle(t *testing.T) {
	eachFamily(t, 1, func(t *rapid.T, in *instance) {
		pool := slowPaper(in)
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.plain()}
		frontier := slowFrontier(in, pool)
		for _, kappa := range kappas(in)[:9] {
			p.PenaltyPerToken = kappa
			sel := mustSelect(t, p, &Options{Certify: new(false)})
			want := slowChoice(in, pool, func(l int) float64 { return kappa * float64(l) })
			if diff := cmp.Diff(want, slices.Sorted(slices.Values(sel.Items))); diff != "" {
				t.Fatalf("%v\nkappa %v (-want +got):\n%s", in, kappa, diff)
			}
			if diff := cmp.Diff(frontier, sel.Frontier, noBounds); diff != "" {
				t.Fatalf("%v\nfrontier (-want +got):\n%s", in, diff)
			}
		}
		step := rapid.IntRange(0, 40).Draw(t, "step")
		p.PenaltyPerToken, p.Penalty = 0, func(l int) float64 {
			if l > step {
				return math.Inf(1)
			}
			return 0
		}
		sel := mustSelect(t, p, &Options{Mode: Paper}) // the levels, the default for such a penalty, may record better sets
		if diff := cmp.Diff(slowChoice(in, pool, p.Penalty), slices.Sorted(slices.Values(sel.Items))); diff != "" {
			t.Fatalf("%v\nforbidden above %d (-want +got):\n%s", in, step, diff)
		}
	})
}

// The fast path and plain values give the same selection.
func TestIncrementalIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := smooth(16).Draw(t, "instance")
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: rapid.Float64Range(0, 0.05).Draw(t, "kappa")}
		fast := mustSelect(t, p, nil)
		p.Benefit = in.plain()
		slow := mustSelect(t, p, nil)
		ignore := cmp.Options{cmpopts.IgnoreFields(Selection{}, "Evaluations"), cmpopts.IgnoreUnexported(Selection{})}
		if diff := cmp.Diff(slow, fast, ignore, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
			t.Fatalf("(-plain +incremental):\n%s", diff)
		}
	})
}

// Every number of a selection can be computed again from scratch, and every candidate is accounted for.
func TestSelectionAdds(t *testing.T) {
	eachFamily(t, 0, func(t *rapid.T, in *instance) {
		kappa := rapid.SampledFrom(kappas(in)).Draw(t, "kappa")
		h := rapid.IntRange(0, 50).Draw(t, "overhead")
		base := rapid.SampledFrom([]float64{0, -3, 1e3}).Draw(t, "base")
		p := Problem{Tokens: in.tokens, Budget: in.budget, PenaltyPerToken: kappa, Overhead: h}
		p.Benefit = BenefitFunc(func(set []int) float64 {
			if !slices.IsSorted(set) || len(slices.Compact(slices.Clone(set))) != len(set) {
				t.Fatalf("Value was given %v", set)
			}
			return base + in.benefit.Value(set)
		})
		sel := mustSelect(t, p, nil)

		tokens := 0
		for _, i := range sel.Items {
			tokens += in.tokens[i]
		}
		if len(sel.Items) > 0 {
			tokens += h
		}
		want := &Selection{Tokens: tokens, Benefit: in.values[mask(sel.Items)], Penalty: kappa * float64(tokens), Base: base}
		want.Objective = want.Benefit - want.Penalty
		ignore := cmp.Options{cmpopts.IgnoreFields(Selection{}, "Items", "Gains", "Frontier", "Dropped", "Guarantee", "Certificate", "Evaluations"), cmpopts.IgnoreUnexported(Selection{})}
		if diff := cmp.Diff(want, sel, ignore, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
			t.Fatalf("%v\n(-want +got):\n%s", in, diff)
		}
		if sel.Tokens > in.budget {
			t.Fatalf("%v\n%d tokens", in, sel.Tokens)
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(sel.Items))); len(unique) != len(sel.Items) {
			t.Fatalf("%v\nduplicates in %v", in, sel.Items)
		}
		sum := 0.0
		for _, g := range sel.Gains {
			sum += g
		}
		if len(sel.Gains) != len(sel.Items) || math.Abs(sum-sel.Benefit) > 1e-9 {
			t.Fatalf("%v\ngains %v of %v add up to %v, want %v", in, sel.Gains, sel.Items, sum, sel.Benefit)
		}
		for i, l := range in.tokens {
			reason := DropReason("")
			switch {
			case h > in.budget:
				reason = DropOverhead
			case l > in.budget-h:
				reason = DropOverBudget
			}
			at := slices.IndexFunc(sel.Dropped, func(d Drop) bool { return d.Item == i })
			if at < 0 != (reason == "") || at >= 0 && sel.Dropped[at].Reason != reason {
				t.Fatalf("%v\noverhead %d: dropped %v, want candidate %d for %q", in, h, sel.Dropped, i, reason)
			}
		}
		for j, pt := range sel.Frontier {
			if j > 0 && (pt.Tokens <= sel.Frontier[j-1].Tokens || pt.Benefit <= sel.Frontier[j-1].Benefit) {
				t.Fatalf("%v\nfrontier %v is not increasing", in, sel.Frontier)
			}
			l := in.length(mask(pt.Items))
			if len(pt.Items) > 0 {
				l += h
			}
			if pt.Tokens != l || math.Abs(pt.Benefit-in.values[mask(pt.Items)]) > 1e-9 || !slices.IsSorted(pt.Items) {
				t.Fatalf("%v\nfrontier point %v", in, pt)
			}
		}
	})
}

// A higher price never buys more tokens.
func TestPriceMonotone(t *testing.T) {
	eachFamily(t, 1, func(t *rapid.T, in *instance) {
		last := math.MaxInt
		for _, kappa := range kappas(in) {
			sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: kappa}, &Options{Certify: new(false)})
			if sel.Tokens > last {
				t.Fatalf("%v\nkappa %v takes %d tokens, a lower one %d", in, kappa, sel.Tokens, last)
			}
			last = sel.Tokens
		}
	})
}

// Renaming the candidates renames the answer, and nothing else.
func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := smooth(12).Draw(t, "instance")
		o := &Options{Mode: rapid.SampledFrom(allModes).Draw(t, "mode")}
		n := len(in.tokens)
		name := newRand(rapid.Uint64().Draw(t, "order")).Perm(n) // new index to old
		tokens := make([]int, n)
		for i, old := range name {
			tokens[i] = in.tokens[old]
		}
		renamed := BenefitFunc(func(set []int) float64 {
			var olds []int
			for _, i := range set {
				olds = append(olds, name[i])
			}
			slices.Sort(olds)
			return in.benefit.Value(olds)
		})
		kappa := rapid.Float64Range(0, 0.05).Draw(t, "kappa")
		want := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.plain(), PenaltyPerToken: kappa}, o)
		got := mustSelect(t, Problem{Tokens: tokens, Budget: in.budget, Benefit: renamed, PenaltyPerToken: kappa}, o)
		for j, i := range got.Items {
			got.Items[j] = name[i]
		}
		if diff := cmp.Diff(want.Items, got.Items); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// The unit of the benefit does not matter.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := smooth(12).Draw(t, "instance")
		o := &Options{Mode: rapid.SampledFrom(allModes).Draw(t, "mode")}
		kappa := rapid.Float64Range(0, 0.05).Draw(t, "kappa")
		scale := math.Ldexp(1, rapid.IntRange(-60, 60).Draw(t, "exponent"))
		scaled := BenefitFunc(func(set []int) float64 { return scale * in.benefit.Value(set) })
		want := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.plain(), PenaltyPerToken: kappa}, o)
		got := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: scaled, PenaltyPerToken: scale * kappa}, o)
		if diff := cmp.Diff(want.Items, got.Items); diff != "" {
			t.Fatalf("scale %v (-want +got):\n%s", scale, diff)
		}
	})
}

// A candidate without tokens that gains something by itself is taken and changes nothing else.
func TestFreeCandidate(t *testing.T) {
	eachFamily(t, 1, func(t *rapid.T, in *instance) {
		n := len(in.tokens)
		bonus := rapid.IntRange(1, 8).Draw(t, "bonus")
		with := BenefitFunc(func(set []int) float64 {
			if k := len(set); k > 0 && set[k-1] == n {
				return in.benefit.Value(set[:k-1]) + float64(bonus)
			}
			return in.benefit.Value(set)
		})
		want := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.plain()}, nil)
		got := mustSelect(t, Problem{Tokens: append(slices.Clone(in.tokens), 0), Budget: in.budget, Benefit: with}, nil)
		if diff := cmp.Diff(append([]int{n}, want.Items...), got.Items); diff != "" {
			t.Fatalf("%v\n(-want +got):\n%s", in, diff)
		}
		if got.Tokens != want.Tokens || math.Abs(got.Benefit-want.Benefit-float64(bonus)) > 1e-9 {
			t.Fatalf("%v\n%d tokens and benefit %v, want %d and %v", in, got.Tokens, got.Benefit, want.Tokens, want.Benefit+float64(bonus))
		}
	})
}

// modular is the sum of the values of the set.
func modular(values ...float64) Benefit {
	return BenefitFunc(func(set []int) float64 {
		sum := 0.0
		for _, i := range set {
			sum += values[i]
		}
		return sum
	})
}

// coverage counts the letters that the words of the set have.
func coverage(words ...string) Benefit {
	return BenefitFunc(func(set []int) float64 {
		letters := map[rune]bool{}
		for _, i := range set {
			for _, r := range words[i] {
				letters[r] = true
			}
		}
		return float64(len(letters))
	})
}

func repeat[T any](x T, n int) []T { return slices.Repeat([]T{x}, n) }

func poolX1(t testing.TB) Incremental {
	c, err := NewCapability([]float64{2, 1}, [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}, {2, 0}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSelectWorked(t *testing.T) {
	x1, x1Tokens := poolX1(t), []int{100, 50, 120, 300}
	step := func(at int, g float64) func(int) float64 {
		return func(tokens int) float64 {
			if tokens <= at {
				return 0
			}
			return g
		}
	}
	family := Problem{Tokens: []int{1, 1, 1, 1, 5}, Budget: 10, Benefit: modular(1, 1, 1, 1, 5.01)}
	with := func(p Problem, kappa float64) Problem {
		p.PenaltyPerToken = kappa
		return p
	}
	xp := func(kappa float64, overhead int) Problem {
		return Problem{Tokens: x1Tokens, Budget: 250, Benefit: x1, PenaltyPerToken: kappa, Overhead: overhead}
	}
	two := func(kappa float64) Problem {
		return Problem{Tokens: []int{1, 100}, Budget: 100, Benefit: modular(2, 100), PenaltyPerToken: kappa}
	}
	for _, tt := range []struct {
		name      string
		p         Problem
		items     []int
		tokens    int
		objective float64
		reason    string
	}{
		{"X1 0", xp(0, 0), []int{0, 2}, 220, 2.229299343, "specification X1, equal to brute force"},
		{"X1 0.002", xp(0.002, 0), []int{0, 1}, 150, 1.885860239, "X1"},
		{"X1 0.01", xp(0.01, 0), []int{0, 1}, 150, 0.685860239, "X1"},
		{"X1 0.013", xp(0.013, 0), []int{0}, 100, 0.253739680, "X1"},
		{"X1 0.0155", xp(0.0155, 0), []int{0}, 100, 0.003739680, "X1"},
		{"X1 0.016", xp(0.016, 0), nil, 0, 0, "X1: no candidate is worth its tokens"},
		{"X2", Problem{Tokens: x1Tokens, Budget: 250, Benefit: x1, Penalty: step(120, 2)}, []int{2}, 120, 1.657710458, "X2"},
		{"X3 step", Problem{Tokens: family.Tokens, Budget: 10, Benefit: family.Benefit, Penalty: step(4, 100)}, []int{0, 1, 2, 3}, 4, 4,
			"X3: pruned seeds find the optimum; for mode paper see TestPaperStep"},
		{"X3 0", with(family, 0), []int{4, 0, 1, 2, 3}, 9, 9.01, "X3"},
		{"X3 0.5", with(family, 0.5), []int{4, 0, 1, 2, 3}, 9, 4.51, "X3"},
		{"X3 1", with(family, 1), []int{4}, 5, 0.01, "X3"},
		{"X3 2", with(family, 2), nil, 0, 0, "X3"},
		{"X5 0", two(0), []int{1}, 100, 100, "X5: gain per token alone stops at 2 of 100 (submodlib, lean-ctx)"},
		{"X5 0.5", two(0.5), []int{1}, 100, 50, "X5"},
		{"X5 1.5", two(1.5), []int{0}, 1, 0.5, "X5"},
		{"X5 3", two(3), nil, 0, 0, "X5"},
		{"X7 30", xp(0.002, 30), []int{0, 1}, 180, 1.825860239, "X7"},
		{"X7 100", xp(0.002, 100), []int{0, 1}, 250, 1.685860239, "X7"},
		{"X7 101", xp(0.002, 101), []int{2}, 221, 1.215710458, "X7"},
		{"X7 200", xp(0.002, 200), []int{1}, 250, 0.132120559, "X7"},
		{"X7 201", xp(0.002, 201), nil, 0, 0, "X7"},
		{"X7 kappa 0, 30", xp(0, 30), []int{0, 2}, 250, 2.229299343, "X7"},
		{"X7 kappa 0, 31", xp(0, 31), []int{0, 1}, 181, 2.185860239, "X7"},
		{"X11 order", Problem{Tokens: []int{10, 20, 5}, Budget: 35, Benefit: modular(2, 4, 1)}, []int{1, 0, 2}, 35, 7,
			"X11: all 0.2 a token; the larger gain comes first"},
		{"X11 lists", Problem{Tokens: []int{10, 10, 20, 10}, Budget: 20, Benefit: coverage("a", "b", "c", "a"), PenaltyPerToken: 0.01},
			[]int{0, 1}, 20, 1.8, "X11: {1,3} is as good, but a larger list"},
		{"tie of sets", Problem{Tokens: []int{1, 1, 2}, Budget: 2, Benefit: modular(0.1, 0.2, 0.3)}, []int{2}, 2, 0.3,
			"0.1+0.2 is 0.30000000000000004, which is rounding: one candidate is fewer than two"},
		{"tie of totals", Problem{Tokens: []int{1, 1}, Budget: 2, Benefit: modular(1, 0.1), PenaltyPerToken: 0.1}, []int{0}, 1, 0.9,
			"1.1-0.2 is 0.9000000000000001, which is rounding: one token is fewer than two"},
		{"X12 nothing there", Problem{Budget: 10}, nil, 0, 0, "X12"},
		{"X12 no budget", Problem{Tokens: []int{1, 2}, Benefit: modular(1, 1)}, nil, 0, 0, "X12"},
		{"X12 penalty of nothing", Problem{Budget: 10, Penalty: func(int) float64 { return 3 }}, nil, 0, -3, "X12: F = -g(0)"},
		{"X12 no gains", Problem{Tokens: []int{1, 2}, Budget: 9, Benefit: modular(0, 0)}, nil, 0, 0, "X12: fewest tokens"},
		{"X12 free", Problem{Tokens: []int{0}, Benefit: modular(0.3)}, []int{0}, 0, 0.3, "X12"},
		{"free and useless", Problem{Tokens: []int{0, 0}, Benefit: modular(0, 1)}, []int{1}, 0, 1, "only candidates that gain are taken"},
		{"free with overhead", Problem{Tokens: []int{0, 4}, Budget: 9, Overhead: 5, Benefit: modular(1, 1), PenaltyPerToken: 0.25}, nil, 0, 0,
			"a free candidate still needs the header: 1 - 1.25 and 2 - 2.25 are below 0"},
		{"whole budget", Problem{Tokens: repeat(1, 10), Budget: 10, Benefit: modular(repeat(1.0, 10)...)}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10, 10,
			"submodlib: budget 1.0 and ten costs of 0.1 gave 9 of 10"},
		{"seven tenths", Problem{Tokens: repeat(1, 7), Budget: 7, Benefit: modular(repeat(1.0, 7)...)}, []int{0, 1, 2, 3, 4, 5, 6}, 7, 7,
			"submodlib: budget 0.7 gave 6 of 7"},
		{"small gains", Problem{Tokens: repeat(5000, 5), Budget: 25000, Benefit: modular(repeat(0.04, 5)...)}, []int{0, 1, 2, 3, 4}, 25000, 0.2,
			"submodlib: an absolute 1e-5 against gain per token gave none"},
		{"tiny gains", Problem{Tokens: repeat(5000, 5), Budget: 25000, Benefit: modular(repeat(4e-20, 5)...)}, []int{0, 1, 2, 3, 4}, 25000, 2e-19,
			"no threshold has a unit"},
		{"gain, not gain per token", Problem{Tokens: []int{2}, Budget: 2, Benefit: modular(6)}, []int{0}, 2, 6, "submodlib reported 3"},
		{"twins", Problem{Tokens: repeat(3, 4), Budget: 6, Benefit: coverage("ab", "ab", "ab", "cd")}, []int{0, 3}, 6, 4,
			"equal texts stay apart, the first one is taken"},
		{"huge", Problem{Tokens: []int{math.MaxInt, math.MaxInt - 1, 1}, Budget: math.MaxInt, Benefit: modular(1, 1, 1)}, []int{2, 1}, math.MaxInt, 2,
			"sums of tokens must not overflow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			sel := mustSelect(t, tt.p, nil)
			if diff := cmp.Diff(tt.items, sel.Items); diff != "" {
				t.Errorf("items, %s (-want +got):\n%s", tt.reason, diff)
			}
			if sel.Tokens != tt.tokens {
				t.Errorf("%d tokens, want %d", sel.Tokens, tt.tokens)
			}
			// The specification prints 9 decimals.
			if math.Abs(sel.Objective-tt.objective) > 5e-10 {
				t.Errorf("objective %.9f, want %.9f", sel.Objective, tt.objective)
			}
			want := Guarantee{Factor: factor, Penalty: PenaltyLinear, Mode: Paper, Scope: sel.Guarantee.Scope}
			if tt.p.Penalty != nil {
				want.Factor, want.Penalty, want.Mode = 0.6174, PenaltyAny, Level2
			}
			if diff := cmp.Diff(want, sel.Guarantee); diff != "" {
				t.Errorf("guarantee (-want +got):\n%s", diff)
			}
		})
	}
}

// The paper's mode has no guarantee for a step (specification X3): it stops at 2, where the optimum is 4 and 1-1/e of it 2.528.
func TestPaperStep(t *testing.T) {
	p := Problem{Tokens: []int{1, 1, 1, 1, 5}, Budget: 10, Benefit: modular(1, 1, 1, 1, 5.01), Penalty: func(tokens int) float64 {
		if tokens <= 4 {
			return 0
		}
		return 100
	}}
	sel := mustSelect(t, p, &Options{Mode: Paper})
	if diff := cmp.Diff([]int{0, 1}, sel.Items); diff != "" || sel.Guarantee.Factor != 0 {
		t.Errorf("guarantee %+v, items (-want +got):\n%s", sel.Guarantee, diff)
	}
}

func TestFrontierWorked(t *testing.T) {
	sel := mustSelect(t, Problem{Tokens: []int{100, 50, 120, 300}, Budget: 250, Benefit: poolX1(t), PenaltyPerToken: 0.016}, nil)
	want := []Point{ // specification X2
		{Tokens: 0, Benefit: 0}, {Tokens: 50, Benefit: 0.632120559, Items: []int{1}},
		{Tokens: 100, Benefit: 1.553739680, Items: []int{0}}, {Tokens: 120, Benefit: 1.657710458, Items: []int{2}},
		{Tokens: 150, Benefit: 2.185860239, Items: []int{0, 1}}, {Tokens: 220, Benefit: 2.229299343, Items: []int{0, 2}},
	}
	if diff := cmp.Diff(want, sel.Frontier, noBounds, cmpopts.EquateApprox(0, 5e-10)); diff != "" {
		t.Errorf("frontier (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Drop{{3, DropOverBudget}}, sel.Dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

// wrong claims gains that its values do not have.
type wrong struct{ Benefit }

func (w wrong) Start() Gains { return wrongGains{} }

type wrongGains struct{}

func (wrongGains) Gain(int) float64 { return 7 }
func (wrongGains) Add(int)          {}
func (wrongGains) Value() float64   { return 0 }
func (g wrongGains) Clone() Gains   { return g }

func TestSelectErrors(t *testing.T) {
	ok := func(change func(p *Problem, o *Options)) func() (Problem, *Options) {
		return func() (Problem, *Options) {
			p, o := Problem{Tokens: []int{1, 2, 3}, Budget: 6, Benefit: modular(3, 2, 1)}, &Options{}
			change(&p, o)
			return p, o
		}
	}
	size := func(f func(n float64) float64) Benefit {
		return BenefitFunc(func(set []int) float64 { return f(float64(len(set))) })
	}
	for _, tt := range []struct {
		name   string
		call   func() (Problem, *Options)
		want   error
		text   string
		reason string
	}{
		{"tokens", ok(func(p *Problem, o *Options) { p.Tokens[1] = -5 }), ErrTokens, "candidate 1 has -5 tokens", "negative"},
		{"overhead", ok(func(p *Problem, o *Options) { p.Overhead = math.MinInt }), ErrTokens, "overhead", "negative"},
		{"budget", ok(func(p *Problem, o *Options) { p.Budget = -1 }), ErrBudget, "-1", "negative"},
		{"price", ok(func(p *Problem, o *Options) { p.PenaltyPerToken = -0.5 }), ErrPenalty, "-0.5", "negative"},
		{"price NaN", ok(func(p *Problem, o *Options) { p.PenaltyPerToken = math.NaN() }), ErrPenalty, "NaN", "no number"},
		{"price Inf", ok(func(p *Problem, o *Options) { p.PenaltyPerToken = math.Inf(1) }), ErrPenalty, "Inf", "infinite"},
		{"two penalties", ok(func(p *Problem, o *Options) {
			p.PenaltyPerToken, p.Penalty = 1, func(int) float64 { return 0 }
		}), ErrPenalty, "both", "one or the other"},
		{"penalty NaN", ok(func(p *Problem, o *Options) { p.Penalty = func(int) float64 { return math.NaN() } }), ErrPenalty, "Penalty(0)", "no number"},
		{"penalty -Inf", ok(func(p *Problem, o *Options) { p.Penalty = func(int) float64 { return math.Inf(-1) } }), ErrPenalty, "-Inf", "infinite"},
		{"penalty forbids all", ok(func(p *Problem, o *Options) { p.Penalty = func(int) float64 { return math.Inf(1) } }), ErrPenalty, "forbids", "nothing is left"},
		{"penalty falls", ok(func(p *Problem, o *Options) { p.Penalty = func(l int) float64 { return -float64(l) } }), ErrPenalty, "falls", "must not fall"},
		{"penalty falls from Inf", ok(func(p *Problem, o *Options) {
			p.Penalty = func(l int) float64 {
				if l == 3 {
					return math.Inf(1)
				}
				return 0
			}
		}), ErrPenalty, "falls from +Inf at 3", "must not fall"},
		{"pool", ok(func(p *Problem, o *Options) { o.MaxPool = -1 }), nil, "bps: Options.MaxPool is -1", "negative"},
		{"no benefit", ok(func(p *Problem, o *Options) { p.Benefit = nil }), ErrBenefit, "none given", "nil"},
		{"nil function", ok(func(p *Problem, o *Options) { p.Benefit = BenefitFunc(nil) }), ErrBenefit, "none given", "nil inside the interface"},
		{"nil pointer", ok(func(p *Problem, o *Options) { p.Benefit = (*capability)(nil) }), ErrBenefit, "none given", "nil inside the interface"},
		{"size of clauses", ok(func(p *Problem, o *Options) { p.Benefit, _ = NewClauses(nil, nil, nil) }), ErrBenefit, "made for 0 candidates, want 3", "as below"},
		{"size", ok(func(p *Problem, o *Options) { p.Benefit = poolX1(t) }), ErrBenefit, "made for 4 candidates, want 3", "would index out of range"},
		{"base NaN", ok(func(p *Problem, o *Options) { p.Benefit = size(func(float64) float64 { return math.NaN() }) }), ErrBenefit, "empty set", "no number"},
		{"gain NaN", ok(func(p *Problem, o *Options) { p.Benefit = modular(1, math.NaN(), 1) }), ErrBenefit, "candidate 1",
			"X12; an endless loop in submodlib issue 8"},
		{"NaN later", ok(func(p *Problem, o *Options) {
			p.Benefit = size(func(n float64) float64 { return math.Sqrt(2-n) - math.Sqrt2 + 2*n })
		}), ErrBenefit, "candidate 2 at the set [0 1] is NaN", "named with the set"},
		{"gain Inf", ok(func(p *Problem, o *Options) { p.Benefit = modular(1, 1, math.Inf(1)) }), ErrBenefit, "candidate 2", "infinite"},
		{"falling", ok(func(p *Problem, o *Options) { p.Benefit = size(func(n float64) float64 { return -n }) }), ErrNotMonotone, "candidate 0", "-|S|"},
		{"square", ok(func(p *Problem, o *Options) { p.Benefit = size(func(n float64) float64 { return n * n }) }), ErrNotSubmodular, "gains 3", "|S|^2"},
		{"gains and values", ok(func(p *Problem, o *Options) { p.Benefit = wrong{modular(3, 2, 1)} }), ErrBenefit, "add up to 7", "the fast path is wrong"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			p, o := tt.call()
			sel, err := Select(context.Background(), p, o)
			if sel != nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) || !strings.HasPrefix(fmt.Sprint(err), "bps: ") {
				t.Errorf("%s: got %v, %v; want nil, %v with %q", tt.reason, sel, err, tt.want, tt.text)
			}
		})
	}
	none, err1 := NewCapability(nil, nil)
	noClauses, err2 := NewClauses(nil, nil, nil)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, b := range []Benefit{nil, BenefitFunc(nil), (*capability)(nil), none, noClauses} {
		if sel, err := Select(context.Background(), Problem{Benefit: b}, nil); err != nil || len(sel.Items) > 0 {
			t.Errorf("no candidates, benefit %#v: %v, %v", b, sel, err)
		}
	}
	_, err := Select(context.Background(), Problem{Tokens: []int{-1}, Budget: -1, PenaltyPerToken: -1}, nil)
	for _, want := range []error{ErrTokens, ErrBudget, ErrPenalty, ErrBenefit} {
		if !errors.Is(err, want) {
			t.Errorf("all faults at once: %v lacks %v", err, want)
		}
	}
}

// The scope says why there is no guarantee.
func TestNoGuarantee(t *testing.T) {
	p := Problem{Tokens: []int{1, 2}, Budget: 3, Benefit: modular(1, 1), Penalty: func(n int) float64 { return float64(n * n) }}
	want := Guarantee{Penalty: PenaltyNone, Mode: Paper, Scope: "none: the penalty may not be concave"}
	if diff := cmp.Diff(want, mustSelect(t, p, &Options{Mode: Paper}).Guarantee); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Rounding that makes a gain a little negative or a little larger than before is no fault.
func TestRoundingIsNoFault(t *testing.T) {
	noise := BenefitFunc(func(set []int) float64 { return 1e3 + float64(len(set)) + 1e-12*float64(len(set)%2) })
	sel := mustSelect(t, Problem{Tokens: []int{1, 1, 1, 0}, Budget: 3, Benefit: noise}, nil)
	if diff := cmp.Diff([]int{3, 0, 1, 2}, sel.Items); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A gain of 0.1 is off by 2e-5 where it is the difference of two values near 1e12.
	if sel := mustSelect(t, Problem{Tokens: []int{5, 3, 2, 4}, Budget: 14, Benefit: modular(1e12, 0.1, 0.3, 2e12)}, nil); len(sel.Items) != 2 {
		t.Errorf("large values: got %+v, want the two large ones", sel)
	}
	flat := BenefitFunc(func(set []int) float64 { return -1e-12 * float64(len(set)) })
	if sel := mustSelect(t, Problem{Tokens: []int{1, 1, 0}, Budget: 3, Benefit: flat}, nil); len(sel.Items) != 0 || sel.Benefit != 0 {
		t.Errorf("got %+v, want the empty set", sel)
	}
}

func TestPrefilter(t *testing.T) {
	values := []float64{0, 10, 9, 8, 7, 6, 1, 5}
	p := Problem{Tokens: []int{0, 100, 100, 100, 100, 100, 1, 1000}, Budget: 500, Benefit: modular(values...)}
	kept := func(m int) []int {
		sel := &Selection{}
		s := &search{benefit: p.Benefit, tokens: p.Tokens, budget: p.Budget}
		s.walkers = []*walker{{search: s, pool: newPool(p.Budget, 0)}}
		if err := s.alone(context.Background(), nil, s.sort(sel, p)); err != nil {
			t.Fatal(err)
		}
		if err := s.prefilter(context.Background(), sel, p, &Options{MaxPool: m}, Paper); err != nil {
			t.Fatal(err)
		}
		if len(s.items)+len(sel.Dropped)+1 != len(p.Tokens) {
			t.Errorf("kept %v, dropped %v, and 0 has no tokens", s.items, sel.Dropped)
		}
		return s.items
	}
	for _, tt := range []struct {
		most   int
		want   []int
		reason string
	}{
		{1, []int{1}, "one place goes to the largest gain"},
		{4, []int{1, 2, 3, 6}, "three by gain and one by gain per token"},
		{5, []int{1, 2, 3, 4, 6}, "four by gain and one by gain per token"},
		{6, []int{1, 2, 3, 4, 5, 6}, "all that fit"},
	} {
		if diff := cmp.Diff(tt.want, kept(tt.most)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}

	sel := mustSelect(t, p, &Options{MaxPool: 4})
	if diff := cmp.Diff(Guarantee{Factor: factor, Penalty: PenaltyLinear, Mode: Paper, Scope: "within the prefiltered 4 of 6 candidates that fit"}, sel.Guarantee); diff != "" {
		t.Errorf("guarantee (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5}, sel.Items); diff != "" {
		t.Errorf("the chains of Level0 look at all of them (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Drop{{7, DropOverBudget}}, sel.Dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	p.Budget = 100
	sel = mustSelect(t, p, &Options{MaxPool: 4})
	if diff := cmp.Diff([]int{1}, sel.Items); diff != "" {
		t.Errorf("a hundred tokens (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Drop{{4, DropPrefilter}, {5, DropPrefilter}, {7, DropOverBudget}}, sel.Dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	p.Budget = 500
	for _, o := range []*Options{nil, {MaxPool: 6}, {MaxPool: 1000}} {
		sel := mustSelect(t, p, o)
		if len(sel.Dropped) != 1 || sel.Guarantee.Scope != "all 8 candidates" {
			t.Errorf("%+v: %+v", o, sel)
		}
	}
	c, tokens := randomCapability(newRand(1), 300, 4, 80, 600)
	sel = mustSelect(t, Problem{Tokens: tokens, Budget: 2000, Benefit: c}, nil)
	if len(sel.Dropped) != 300-128 || sel.Guarantee.Scope != "within the prefiltered 128 of 300 candidates that fit" {
		t.Errorf("default: %d dropped, scope %q", len(sel.Dropped), sel.Guarantee.Scope)
	}
}

// However few candidates a prefilter leaves, the answer is no worse than that of Level0, and what it drops is not in it.
func TestPrefilterLevel0(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := smooth(16).Draw(t, "instance")
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: rapid.SampledFrom([]float64{0, 1e-3}).Draw(t, "kappa")}
		all := mustSelect(t, p, &Options{Mode: Level0})
		some := mustSelect(t, p, &Options{MaxPool: rapid.IntRange(1, 6).Draw(t, "pool")})
		if some.Objective < all.Objective-1e-9 && len(all.Items) > 1 {
			t.Fatalf("%v has %v, Level0 finds %v with %v", some.Items, some.Objective, all.Items, all.Objective)
		}
		for _, d := range some.Dropped {
			if slices.Contains(some.Items, d.Item) {
				t.Fatalf("%d is dropped and chosen: %+v", d.Item, some)
			}
		}
	})
}

// noBounds leaves out what the oracle does not know.
var noBounds = cmpopts.IgnoreFields(Point{}, "UpperBound")

// A cancelled search returns the best set so far, and it is the better the later it is cancelled.
func TestCancel(t *testing.T) {
	c, tokens := randomCapability(newRand(7), 12, 4, 5, 40)
	last, distinct := -1.0, 0
	for limit := range 12 {
		sel, err := Select(&countdown{Context: context.Background(), left: limit}, Problem{Tokens: tokens, Budget: 100, Benefit: c}, nil)
		if !errors.Is(err, context.Canceled) || !strings.Contains(fmt.Sprint(err), "before the first seed") || len(sel.Items) > 0 {
			t.Fatalf("after %d candidates: %v, %v", limit, sel, err)
		}
	}
	for limit := range 79 + 1 {
		ctx := &countdown{Context: context.Background(), left: 12 + limit}
		sel, err := Select(ctx, Problem{Tokens: tokens, Budget: 100, Benefit: c}, nil)
		if limit == 79 { // 1 + 12 + 66 seeds, all of which fit
			if err != nil || sel.Guarantee.Factor != factor {
				t.Fatalf("complete: %v, %v", sel, err)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || sel == nil {
			t.Fatalf("after %d seeds: %v, %v", limit, sel, err)
		}
		if want := fmt.Sprintf("after %d of at most 79 seeds", limit); !strings.Contains(err.Error(), want) {
			t.Fatalf("error %q lacks %q", err, want)
		}
		if diff := cmp.Diff(Guarantee{Penalty: PenaltyNone, Mode: Paper, Scope: "none: the search was stopped"}, sel.Guarantee); diff != "" {
			t.Fatalf("guarantee (-want +got):\n%s", diff)
		}
		if sel.Tokens > 100 || sel.Objective < last {
			t.Fatalf("after %d seeds: %+v, before %v", limit, sel, last)
		}
		if sel.Objective > last {
			distinct++
		}
		last = sel.Objective
	}
	if distinct < 2 {
		t.Errorf("the first seed gave all; the test shows nothing")
	}
}

// countdown is a context that ends when it has been asked left times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Select changes nothing in its problem, and gives the same bytes again.
func TestSelectRepeats(t *testing.T) {
	c, tokens := randomCapability(newRand(3), 20, 5, 0, 600)
	before := slices.Clone(tokens)
	p := Problem{Tokens: tokens, Budget: 1500, Benefit: c, PenaltyPerToken: 1e-4}
	first := mustSelect(t, p, nil)
	if diff := cmp.Diff(first, mustSelect(t, p, nil), cmpopts.IgnoreUnexported(Selection{})); diff != "" {
		t.Errorf("second run (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(before, tokens); diff != "" {
		t.Errorf("tokens changed:\n%s", diff)
	}
}

// What the pool ends up with does not depend on the order in which it sees the sets, rounding noise included.
func TestPoolOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.IntRange(0, 5), 32, 32).Draw(t, "tokens")
		benefits := rapid.SliceOfN(rapid.IntRange(0, 5), 32, 32).Draw(t, "benefits")
		noise := rapid.SliceOfN(rapid.IntRange(0, 9), 32, 32).Draw(t, "noise")
		sets := rapid.SliceOfN(rapid.IntRange(0, 31), 1, 20).Draw(t, "sets")
		var frontiers [2][]Point
		for k := range frontiers {
			var p pool
			for _, s := range sets {
				p.add(record{tokens: tokens[s], benefit: float64(benefits[s]) + 1e-13*float64(noise[s]), items: members(s)})
			}
			frontiers[k] = points(p.frontier(), 0)
			sets = rapid.Permutation(sets).Draw(t, "order")
		}
		if diff := cmp.Diff(frontiers[0], frontiers[1]); diff != "" {
			t.Fatalf("(-one order +another):\n%s", diff)
		}
	})
}

// Sums of gains may be off by 1e-9, so a set that close is not hopeless.
func TestPoolHopeless(t *testing.T) {
	var p pool
	p.add(record{tokens: 10, benefit: 1, items: []int{0}})
	for _, tt := range []struct {
		tokens  int
		benefit float64
		want    bool
	}{{9, 0, false}, {10, 1, false}, {10, 1 - 5e-10, false}, {12, 1 - 5e-10, false}, {10, 1 - 2e-9, true}, {12, 0.5, true}} {
		if got := p.hopeless(tt.tokens, tt.benefit); got != tt.want {
			t.Errorf("hopeless(%d, %v) = %v, want %v", tt.tokens, tt.benefit, got, tt.want)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, certify := range []bool{false, true} {
		for _, size := range []struct{ n, d int }{{10, 5}, {31, 5}, {60, 5}, {100, 5}, {100, 64}, {128, 5}, {200, 64}} {
			c, tokens := randomCapability(newRand(1), size.n, size.d, 80, 600)
			p := Problem{Tokens: tokens, Budget: 2000, Benefit: c}
			b.Run(fmt.Sprintf("certify=%t/n=%d/d=%d", certify, size.n, size.d), func(b *testing.B) {
				evaluations := 0
				b.ReportAllocs()
				for b.Loop() {
					evaluations = mustSelect(b, p, &Options{MaxPool: size.n, Certify: &certify}).Evaluations
				}
				b.ReportMetric(float64(evaluations), "evaluations")
			})
		}
	}
	c, tokens := randomCapability(newRand(1), 31, 5, 80, 600)
	p := Problem{Tokens: tokens, Budget: 2000, Benefit: BenefitFunc(c.Value)}
	b.Run("n=31/d=5/plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mustSelect(b, p, &Options{Certify: new(false)})
		}
	})
}

package bps

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// slowLevel is what a level looks at, as the specification has it: full scans, no shortcut, nothing shared between chains, every
// set kept. Size is of the largest seeds; without the prune it is the paper's algorithm for seeds of any size. It returns
// the recorded sets.
func slowLevel(in *instance, size int, prune bool, orders ...order) map[int]bool {
	n := len(in.tokens)
	lengths := in.lengths()
	pool := map[int]bool{}
	grow := func(s, eligible int, o order) {
		for pool[s] = true; ; pool[s] = true {
			best, bestGain, bestKey := -1, 0.0, 0.0
			for i := range n {
				if s&(1<<i) != 0 || eligible&(1<<i) == 0 || lengths[s|1<<i] > in.budget {
					continue
				}
				gain := max(0, in.values[s|1<<i]-in.values[s]) // below 0 it is rounding
				key := gain
				if o == byDensity {
					key /= float64(in.tokens[i])
				}
				if best < 0 || key > bestKey || key == bestKey && gain > bestGain {
					best, bestGain, bestKey = i, gain, key
				}
			}
			if best < 0 {
				return
			}
			s |= 1 << best
		}
	}
	all := len(in.values) - 1
	for s := range in.values {
		k := len(members(s))
		if k > size || lengths[s] > in.budget {
			continue
		}
		eligible := all
		if prune && k > 0 {
			for i := range n {
				if float64(k)*(in.values[s|1<<i]-in.values[s]) > in.values[s]*(1+1e-12) {
					eligible &^= 1 << i
				}
			}
		}
		for _, o := range orders {
			grow(s, all, o)
			grow(s, eligible, o)
		}
	}
	return pool
}

// slowLevel0 is a density chain, a gain chain, and every single candidate.
func slowLevel0(in *instance) map[int]bool {
	pool := slowLevel(in, 0, false, byDensity, byGain)
	for i, l := range in.tokens {
		if l <= in.budget {
			pool[1<<i] = true
		}
	}
	return pool
}

func (in *instance) lengths() []int {
	lengths := make([]int, len(in.values))
	for m := range lengths {
		lengths[m] = in.length(m)
	}
	return lengths
}

// optima returns OPT(b) for every b up to the budget.
func (in *instance) optima() []float64 {
	opt := make([]float64, in.budget+1)
	for m, l := range in.lengths() {
		if l <= in.budget {
			opt[l] = max(opt[l], in.values[m])
		}
	}
	for b := 1; b < len(opt); b++ {
		opt[b] = max(opt[b], opt[b-1])
	}
	return opt
}

// phi is the largest benefit of a frontier within b tokens.
func phi(points []Point, b int) float64 {
	best := math.Inf(-1)
	for _, p := range points {
		if p.Tokens <= b {
			best = max(best, p.Benefit)
		}
	}
	return best
}

// Frontier property: what a level finds within b tokens is at least its factor of OPT(b), for every b at once; so the factor holds for
// every nondecreasing penalty. Levels of pairs and triples contain the paper's sets, and with them its envelope property.
func TestLevelFrontier(t *testing.T) {
	eachFamily(t, 1, func(t *rapid.T, in *instance) {
		opt := in.optima()
		both := rapid.Bool().Draw(t, "both orders")
		for mode, factor := range map[Mode]float64{Level1: 0.5, Level2: 0.6174, Level3: 1 - 1/math.E} {
			sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit}, &Options{Mode: mode, BothOrders: both})
			for b := range opt {
				if got := phi(sel.Frontier, b); got < factor*opt[b]-1e-9 {
					t.Fatalf("%v\n%v within %d tokens has %v of %v", in, mode, b, got, opt[b])
				}
				if got := envelope(sel.Frontier, b); mode != Level1 && got < (1-1/math.E)*opt[b]-1e-9 {
					t.Fatalf("%v\n%v: envelope at %d is %v, OPT is %v", in, mode, b, got, opt[b])
				}
			}
		}
	})
}

// Bounds inherited from other chains, early ends, lazy gains and skipped prunes change nothing: the frontier of every mode is that of
// the same sets found by full scans.
func TestLevelOracle(t *testing.T) {
	eachFamily(t, 1, func(t *rapid.T, in *instance) {
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.plain()}
		full := rapid.Bool().Draw(t, "full chains")
		orders := []order{byDensity}
		both := rapid.Bool().Draw(t, "both orders")
		if both {
			orders = append(orders, byGain)
		}
		slow := []struct {
			mode Mode
			pool func() map[int]bool
		}{
			{Paper, func() map[int]bool { return slowLevel(in, 2, false, orders...) }},
			{Level0, func() map[int]bool { return slowLevel0(in) }},
			{Level1, func() map[int]bool { return slowLevel(in, 1, true, orders...) }},
			{Level2, func() map[int]bool { return slowLevel(in, 2, true, orders...) }},
			{Level3, func() map[int]bool { return slowLevel(in, 3, true, orders...) }},
		}
		first := rapid.IntRange(0, 4).Draw(t, "mode")
		for _, s := range []int{first, (first + 2) % 5} { // two of them, for time
			sel := mustSelect(t, p, &Options{Mode: slow[s].mode, BothOrders: both, fullChains: full})
			if diff := cmp.Diff(slowFrontier(in, slow[s].pool()), sel.Frontier, noBounds); diff != "" {
				t.Fatalf("%v\n%v, both orders %v, full chains %v (-want +got):\n%s", in, slow[s].mode, both, full, diff)
			}
		}
	})
}

// The chains of many candidates, whose bounds come from long traces, are those of full scans too.
func TestLevelOracleLarger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(10, 13).Draw(t, "n")
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		c, tokens := randomCapability(rng, n, 1+rng.IntN(3), 1, 1+rng.IntN(12))
		in := newInstance(tokens, 8+rng.IntN(40), c)
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.plain()}
		mode := rapid.SampledFrom([]Mode{Paper, Level1, Level2, Level3}).Draw(t, "mode")
		size := map[Mode]int{Paper: 2, Level1: 1, Level2: 2, Level3: 3}[mode]
		sel := mustSelect(t, p, &Options{Mode: mode, BothOrders: true})
		want := slowFrontier(in, slowLevel(in, size, mode != Paper, byDensity, byGain))
		if diff := cmp.Diff(want, sel.Frontier, noBounds); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", mode, diff)
		}
	})
}

// Where gains do not depend on the set, the chains of the two orders and those with and without the prune differ most.
func TestLevelOracleModular(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		for range 10 {
			n, ties := 4+rng.IntN(4), rng.IntN(3) == 0
			tokens, values := make([]int, n), make([]float64, n)
			for i := range tokens {
				tokens[i], values[i] = 1+rng.IntN(8), float64(1+rng.IntN(12))
				if ties {
					values[i] = 0.1 * float64(tokens[i]) // up to rounding
				}
			}
			in := newInstance(tokens, 8+rng.IntN(16), modular(values...))
			size := 1 + rng.IntN(3)
			orders := []order{byDensity, byGain}[:1+rng.IntN(2)]
			p := Problem{Tokens: tokens, Budget: in.budget, Benefit: in.benefit}
			sel := mustSelect(t, p, &Options{Mode: Level0 + Mode(size), BothOrders: len(orders) > 1, Certify: new(false)})
			if diff := cmp.Diff(slowFrontier(in, slowLevel(in, size, true, orders...)), sel.Frontier); diff != "" {
				t.Fatalf("tokens %v, values %v, budget %d, level %d, %d orders (-want +got):\n%s", tokens, values, in.budget, size, len(orders), diff)
			}
		}
	})
}

// The two lazy chains of Level0 make the picks of full scans where nearly all keys are equal up to rounding and many candidates do not
// fit any more: each set of the scans has one on the frontier that is as good, and the frontier has no others.
func TestLevel0FullScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		n := 5 + rng.IntN(56)
		tokens, values, group := make([]int, n), make([]float64, n), make([]int, n)
		total := 0
		for i := range tokens {
			tokens[i] = 1 + rng.IntN(9)
			values[i] = 0.1 * float64(tokens[i])
			group[i] = rng.IntN(3)
			total += tokens[i]
		}
		limit := 0.1 * float64(5+rng.IntN(total))
		b := BenefitFunc(func(set []int) float64 {
			var sums [3]float64
			for _, i := range set {
				sums[group[i]] += values[i]
			}
			return min(sums[0], limit) + min(sums[1], limit) + min(sums[2], 2*limit)
		})
		budget := 1 + rng.IntN(total)
		frontier := mustSelect(t, Problem{Tokens: tokens, Budget: budget, Benefit: b}, &Options{Mode: Level0}).Frontier

		found := map[string]bool{"[]": true}
		see := func(set []int, used int) {
			found[fmt.Sprint(set)] = true
			if v := b.Value(set); phi(frontier, used) < v*(1-1e-11) {
				t.Fatalf("tokens %v, groups %v, limit %v, budget %d: %v has %v in %d tokens, the frontier %v",
					tokens, group, limit, budget, set, v, used, phi(frontier, used))
			}
		}
		for i, l := range tokens {
			if l <= budget {
				see([]int{i}, l)
			}
		}
		for _, o := range []order{byDensity, byGain} {
			var set []int
			for used := 0; ; {
				best := candidate{key: -1}
				for i, l := range tokens {
					at, in := slices.BinarySearch(set, i)
					if in || l > budget-used {
						continue
					}
					c := candidate{gain: max(0, b.Value(slices.Insert(slices.Clone(set), at, i))-b.Value(set)), at: int32(i)}
					c.key = c.gain
					if o == byDensity {
						c.key /= float64(l)
					}
					if c.better(&best) {
						best = c
					}
				}
				if best.key < 0 {
					break
				}
				set = slices.Sorted(slices.Values(append(set, int(best.at))))
				used += tokens[best.at]
				see(set, used)
			}
		}
		for _, pt := range frontier {
			if !found[fmt.Sprint(pt.Items)] {
				t.Fatalf("tokens %v, groups %v, limit %v, budget %d: no scan found %v", tokens, group, limit, budget, pt)
			}
		}
	})
}

// familyA is k small candidates and a decoy that is a little better per token, in a budget for all (specification X3).
func familyA(k int) *instance {
	return newInstance(append(repeat(1, k), k+1), 2*k+2, modular(append(repeat(1.0, k), float64(k)+1.01)...))
}

// Family A (specification X3): without the prune, seeds of at most s candidates find s of k within k tokens; with it, all. So the
// pruned chains carry the proof for any penalty, and the paper's mode has none.
func TestFamilyA(t *testing.T) {
	for _, k := range []int{4, 9} {
		in := familyA(k)
		for size := 1; size <= 3; size++ {
			unpruned := slowFrontier(in, slowLevel(in, size, false, byDensity))
			if got := phi(unpruned, k); got != float64(size) {
				t.Errorf("k = %d: without the prune, seeds of %d find %v within %d tokens, want %d", k, size, got, k, size)
			}
		}
		for mode, want := range map[Mode]int{Level0: 1, Paper: 2, Level1: k, Level2: k, Level3: k} {
			step := func(tokens int) float64 {
				if tokens <= k {
					return 0
				}
				return 100
			}
			sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, Penalty: step}, &Options{Mode: mode})
			if got := phi(sel.Frontier, k); got != float64(want) || sel.Objective != float64(want) {
				t.Errorf("k = %d, %v: %v within %d tokens and objective %v, want %d", k, mode, got, k, sel.Objective, want)
			}
			if factor := sel.Guarantee.Factor; (mode == Paper || mode == Level0) && factor != 0 || sel.Objective < factor*float64(k) {
				t.Errorf("k = %d, %v: factor %v, objective %v of %d", k, mode, factor, sel.Objective, k)
			}
		}
	}
}

// The prune is at the average gain of the seed, not above: k candidates of 10 tokens and 1 fill a budget of 10k, and a decoy of 11 tokens
// that is worth a little more, and a little more a token, would leave room for k-2 of them only.
func TestPruneAtAverage(t *testing.T) {
	const k = 8
	in := newInstance(append(repeat(10, k), 11), 10*k+11, modular(append(repeat(1.0, k), 1.2)...))
	for mode, want := range map[Mode]float64{Paper: k - 2 + 1.2, Level1: k, Level2: k, Level3: k} {
		sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit}, &Options{Mode: mode})
		if got := phi(sel.Frontier, 10*k); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: %v within %d tokens, want %v", mode, got, 10*k, want)
		}
	}
}

// Family B (specification X4) is where the factors of the levels are tight: a small candidate that is best per token makes the
// last of m large ones too large.
func TestFamilyB(t *testing.T) {
	for _, tt := range []struct {
		m    int
		mode Mode
		want float64
	}{
		{2, Level1, 11.1}, {2, Paper, 20}, {2, Level2, 20},
		{3, Paper, 21.1}, {3, Level2, 21.1}, {3, Level3, 30},
		{4, Level3, 31.1},
	} {
		p := Problem{Tokens: append([]int{1}, repeat(10, tt.m)...), Budget: 10 * tt.m}
		p.Benefit = modular(append([]float64{1.1}, repeat(10.0, tt.m)...)...)
		sel := mustSelect(t, p, &Options{Mode: tt.mode})
		if math.Abs(sel.Objective-tt.want) > 1e-9 || sel.Tokens > p.Budget {
			t.Errorf("m = %d, %v: %v in %d tokens, want %v", tt.m, tt.mode, sel.Objective, sel.Tokens, tt.want)
		}
		if least := sel.Guarantee.Factor * 10 * float64(tt.m); sel.Objective < least {
			t.Errorf("m = %d, %v: %v is below the guarantee %v", tt.m, tt.mode, sel.Objective, least)
		}
	}
}

// Tokens are whole numbers of any size: none is lost in a sum of floating point numbers.
func TestLargeTokensAreExact(t *testing.T) {
	for _, tt := range []struct {
		tokens []int
		budget int
		want   []int
		reason string
	}{
		{[]int{1 << 53, 1}, 1 << 53, []int{0}, "2^53+1 is 2^53 in floating point"},
		{[]int{1 << 53, 1}, 1<<53 + 1, []int{1, 0}, "both fit"},
		{[]int{math.MaxInt, 1}, math.MaxInt, []int{0}, "the sum overflows"},
		{[]int{math.MaxInt - 1, 1, 1}, math.MaxInt, []int{1, 0}, "the sum of all overflows, and of 0 and 1 does not"},
		{[]int{1 << 24, 1}, 1 << 24, []int{0}, "submodlib sums in 32 bits: 2^24+1 is 2^24 there"},
	} {
		for _, mode := range []Mode{Paper, Level0, Level1, Level2, Level3, Exact} {
			b := modular(5, 3, 1)
			sel := mustSelect(t, Problem{Tokens: tt.tokens, Budget: tt.budget, Benefit: b}, &Options{Mode: mode, Certify: new(true)})
			if diff := cmp.Diff(tt.want, sel.Items); diff != "" || sel.Tokens < 0 || sel.Tokens > tt.budget {
				t.Errorf("%v, %s: %d tokens of %d (-want +got):\n%s", mode, tt.reason, sel.Tokens, tt.budget, diff)
			}
		}
	}
}

// Never more than what is proven for what ran is claimed.
func TestGuaranteeClaims(t *testing.T) {
	const any, linear, concave, zero = "any", "linear", "concave", "zero"
	alpha := 1 - 1/math.E
	none := Guarantee{Penalty: PenaltyNone}
	for mode, row := range map[Mode]map[string]Guarantee{
		Paper: {zero: {Factor: alpha, Penalty: PenaltyLinear}, linear: {Factor: alpha, Penalty: PenaltyLinear},
			concave: {Factor: alpha, Penalty: PenaltyConcave}, any: none},
		Level0: {zero: {Factor: 0.427, Penalty: PenaltyZero}, linear: none, concave: none, any: none},
		Level1: {zero: {Factor: 0.5, Penalty: PenaltyLinear}, linear: {Factor: 0.5, Penalty: PenaltyLinear},
			concave: {Factor: 0.5, Penalty: PenaltyConcave}, any: {Factor: 0.5, Penalty: PenaltyAny}},
		Level2: {zero: {Factor: alpha, Penalty: PenaltyLinear}, linear: {Factor: alpha, Penalty: PenaltyLinear},
			concave: {Factor: alpha, Penalty: PenaltyConcave}, any: {Factor: 0.6174, Penalty: PenaltyAny}},
		Level3: {zero: {Factor: alpha, Penalty: PenaltyLinear}, linear: {Factor: alpha, Penalty: PenaltyLinear},
			concave: {Factor: alpha, Penalty: PenaltyConcave}, any: {Factor: alpha, Penalty: PenaltyAny}},
		Exact: {zero: {Factor: 1, Penalty: PenaltyLinear}, linear: {Factor: 1, Penalty: PenaltyLinear},
			concave: {Factor: 1, Penalty: PenaltyAny}, any: {Factor: 1, Penalty: PenaltyAny}},
	} {
		for class, want := range row {
			p := Problem{Tokens: []int{1, 2, 3}, Budget: 4, Benefit: modular(3, 2, 1)}
			o := &Options{Mode: mode, PenaltyConcave: class == concave}
			switch class {
			case linear:
				p.PenaltyPerToken = 0.5
			case concave, any:
				p.Penalty = func(tokens int) float64 { return math.Sqrt(float64(tokens)) }
			}
			want.Mode = mode
			for _, tt := range []struct{ pool, excluded int }{{0, 0}, {0, 1}, {2, 0}} {
				o.MaxPool, p.Excluded = tt.pool, members(1<<tt.excluded-1)
				got := mustSelect(t, p, o).Guarantee
				switch {
				case want.Factor == 0:
					if len(got.Scope) < 5 || got.Scope[:5] != "none:" {
						t.Errorf("%v, %s: scope %q", mode, class, got.Scope)
					}
				case tt.pool == 2 && mode != Level0:
					if got.Scope != "within the prefiltered 2 of 3 candidates that fit" {
						t.Errorf("%v, %s: scope %q", mode, class, got.Scope)
					}
				case tt.excluded > 0:
					if got.Scope != "all 2 candidates that are not excluded" {
						t.Errorf("%v, %s: scope %q", mode, class, got.Scope)
					}
				default:
					if got.Scope != "all 3 candidates" {
						t.Errorf("%v, %s: scope %q", mode, class, got.Scope)
					}
				}
				got.Scope = ""
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%v, %s penalty (-want +got):\n%s", mode, class, diff)
				}
			}
		}
	}
	auto := Problem{Tokens: []int{1}, Budget: 1, Benefit: modular(1)}
	if got := mustSelect(t, auto, nil).Guarantee.Mode; got != Paper {
		t.Errorf("no penalty function: mode %v", got)
	}
	auto.Penalty = func(int) float64 { return 0 }
	if got := mustSelect(t, auto, nil).Guarantee.Mode; got != Level2 {
		t.Errorf("a penalty function: mode %v", got)
	}
}

// Chains by gain only add sets: the objective is never below that without them, and the sets of both chains are there.
func TestBothOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := smooth(14).Draw(t, "instance")
		kappa := rapid.Float64Range(0, 0.05).Draw(t, "kappa")
		for _, mode := range []Mode{Paper, Level1, Level2} {
			p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: kappa}
			one := mustSelect(t, p, &Options{Mode: mode})
			two := mustSelect(t, p, &Options{Mode: mode, BothOrders: true})
			if two.Objective < one.Objective-1e-12 {
				t.Fatalf("%v: %v with both orders, %v by density alone", mode, two.Objective, one.Objective)
			}
			for _, pt := range one.Frontier {
				if phi(two.Frontier, pt.Tokens) < pt.Benefit-1e-12 {
					t.Fatalf("%v: %v within %d tokens, %v by density alone", mode, phi(two.Frontier, pt.Tokens), pt.Tokens, pt.Benefit)
				}
			}
			if diff := cmp.Diff(one.Guarantee, two.Guarantee); diff != "" {
				t.Fatalf("%v: the order by gain proves nothing (-density +both):\n%s", mode, diff)
			}
		}
	})
	// Two candidates of 6 are best, and short junk is better per token.
	p := Problem{Tokens: []int{6, 6, 1, 1, 1, 1, 1, 1}, Budget: 12, Benefit: modular(6, 6, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1)}
	if got := mustSelect(t, p, &Options{Mode: Level0}).Benefit; math.Abs(got-12.6) > 1e-9 {
		t.Errorf("Level0 found %v", got)
	}
	// The pruned chain of candidate 1 by gain takes 4, then 3.
	p = Problem{Tokens: []int{1, 3, 2, 2, 4, 6}, Budget: 18, Benefit: modular(4, 11, 1, 8, 9, 12)}
	for both, want := range map[bool]float64{false: 24, true: 28} {
		if got := phi(mustSelect(t, p, &Options{Mode: Level1, BothOrders: both}).Frontier, 9); got != want {
			t.Errorf("both orders %v: %v within 9 tokens, want %v", both, got, want)
		}
	}
	// With equal tokens both orders are one.
	p = Problem{Tokens: repeat(3, 6), Budget: 10, Benefit: coverage("ab", "bcd", "de", "efg", "a", "g")}
	one, two := mustSelect(t, p, nil), mustSelect(t, p, &Options{BothOrders: true})
	if diff := cmp.Diff(one.Frontier, two.Frontier, noBounds); diff != "" {
		t.Errorf("equal tokens (-density +both):\n%s", diff)
	}
}

// Gains of 0 end a chain, which cannot change anything.
func TestFullChains(t *testing.T) {
	eachFamily(t, 0, func(t *rapid.T, in *instance) {
		mode := rapid.SampledFrom([]Mode{Paper, Level0, Level1, Level2, Level3, Exact}).Draw(t, "mode")
		kappa := rapid.SampledFrom(kappas(in)).Draw(t, "kappa")
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: kappa}
		short := mustSelect(t, p, &Options{Mode: mode, Certify: new(false)})
		full := mustSelect(t, p, &Options{Mode: mode, Certify: new(false), fullChains: true})
		if diff := cmp.Diff(short.Items, full.Items); diff != "" {
			t.Fatalf("%v\n%v, items (-short +full):\n%s", in, mode, diff)
		}
		if diff := cmp.Diff(short.Frontier, full.Frontier); diff != "" {
			t.Fatalf("%v\n%v, frontier (-short +full):\n%s", in, mode, diff)
		}
	})
}

// Where nothing gains any more, short chains end: the counts were measured, and are 2 to 33 times as large where they go on.
func TestShortChains(t *testing.T) {
	for _, tt := range []struct {
		name    string
		benefit Benefit
		most    map[Mode]int
	}{
		{"one is enough", coverage(repeat("a", 20)...), map[Mode]int{Paper: 610, Level0: 59, Level1: 420, Level2: 4030}},
		{"four are enough", coverage(slices.Repeat([]string{"a", "b", "c", "d"}, 5)...),
			map[Mode]int{Paper: 5540, Level0: 124, Level1: 1477, Level2: 8960}},
		{"any two are enough", BenefitFunc(func(set []int) float64 { return float64(min(len(set), 2)) }),
			map[Mode]int{Paper: 4068, Level0: 97, Level1: 800, Level2: 7488}},
	} {
		p := Problem{Tokens: repeat(1, 20), Budget: 20, Benefit: tt.benefit}
		for mode, most := range tt.most {
			short := mustSelect(t, p, &Options{Mode: mode, Certify: new(false)}).Evaluations
			full := mustSelect(t, p, &Options{Mode: mode, Certify: new(false), fullChains: true}).Evaluations
			if short > most || full < 2*short {
				t.Errorf("%v, %s: %d gains computed, at most %d wanted; %d in full chains", mode, tt.name, short, most, full)
			}
		}
	}
}

// A penalty that is applied to the frontier afterwards chooses what a fresh run with it chooses in the same level.
func TestPenaltyAfterwards(t *testing.T) {
	eachFamily(t, 0, func(t *rapid.T, in *instance) {
		mode := rapid.SampledFrom([]Mode{Paper, Level0, Level1, Level2, Level3}).Draw(t, "mode")
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit}
		before := mustSelect(t, p, &Options{Mode: mode})
		steps := rapid.SliceOfN(rapid.IntRange(0, 3), in.budget+1, in.budget+1).Draw(t, "rises")
		p.Penalty = func(tokens int) float64 {
			sum := 0
			for _, s := range steps[:tokens+1] {
				sum += s
			}
			return float64(sum) * in.all() / 64
		}
		best, at := math.Inf(-1), 0
		for k, pt := range before.Frontier {
			if f := pt.Benefit - p.Penalty(pt.Tokens); f > best+1e-12*in.all() {
				best, at = f, k
			}
		}
		after := mustSelect(t, p, &Options{Mode: mode})
		if diff := cmp.Diff(before.Frontier, after.Frontier, noBounds); diff != "" {
			t.Fatalf("%v\n%v, frontier (-before +after):\n%s", in, mode, diff)
		}
		if got, want := mask(after.Items), mask(before.Frontier[at].Items); got != want {
			t.Fatalf("%v\n%v chose %v, want %v", in, mode, members(got), members(want))
		}
	})
}

// A higher price never buys more tokens, in any level: it changes nothing but the choice from one frontier.
func TestPriceMonotoneLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := smooth(12).Draw(t, "instance")
		mode := rapid.SampledFrom([]Mode{Level0, Level1, Level2, Level3}).Draw(t, "mode")
		last := math.MaxInt
		for _, kappa := range kappas(in) {
			sel := mustSelect(t, Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: kappa}, &Options{Mode: mode})
			if sel.Tokens > last {
				t.Fatalf("%v: price %v takes %d tokens, a lower one %d", mode, kappa, sel.Tokens, last)
			}
			last = sel.Tokens
		}
	})
}

// tally is a modular benefit, or one that is capped, with a fast path that counts its calls.
type tally struct {
	values      []float64
	limit       float64
	gains, adds atomic.Int64
}

func (c *tally) Value(set []int) float64 {
	sum := 0.0
	for _, i := range set {
		sum += c.values[i]
	}
	return min(sum, c.limit)
}

func (c *tally) Start() Gains { return &tallyGains{c: c} }

type tallyGains struct {
	c   *tally
	sum float64
}

func (g *tallyGains) Gain(i int) float64 {
	g.c.gains.Add(1)
	return min(g.sum+g.c.values[i], g.c.limit) - min(g.sum, g.c.limit)
}

func (g *tallyGains) Add(i int) {
	g.c.adds.Add(1)
	g.sum += g.c.values[i]
}

func (g *tallyGains) Value() float64 { return min(g.sum, g.c.limit) }

func (g *tallyGains) Clone() Gains {
	clone := *g
	return &clone
}

// Level0 takes a million candidates, computes few gains a pick, and does not slow down where thousands or all of them are equal.
func TestLevel0Large(t *testing.T) {
	const n, fewer = 1_000_000, 100_000
	rng := newRand(5)
	varied := &tally{values: make([]float64, n), limit: 1e18}
	tokens := make([]int, n)
	for i := range tokens {
		varied.values[i] = float64(1 + rng.IntN(1000))
		tokens[i] = 1 + rng.IntN(1000)
	}
	for _, tt := range []struct {
		name     string
		tokens   []int
		benefit  *tally
		budget   int
		picks    int
		reason   string
		evalsFor int // most gains computed, in n
	}{
		{"varied", tokens, varied, 150, 0, "the ordinary case", 3},
		{"all equal", repeat(5, n), &tally{values: repeat(1.0, n), limit: 1e18}, 500, 100, "ties everywhere", 3},
		{"equal per token", tokens[:fewer], &tally{values: asFloats(tokens[:fewer]), limit: 1e18}, 2000, 2,
			"ties of the key, not of the gain", 3},
		{"capped", repeat(5, fewer), &tally{values: repeat(1.0, fewer), limit: 50}, 500, 50, "everything gains nothing at once", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			sel := mustSelect(t, Problem{Tokens: tt.tokens, Budget: tt.budget, Benefit: tt.benefit}, &Options{Mode: Level0})
			if tt.picks > 0 && len(sel.Items) != tt.picks || sel.Tokens > tt.budget {
				t.Errorf("%d candidates in %d tokens, want %d", len(sel.Items), sel.Tokens, tt.picks)
			}
			if got := tt.benefit.gains.Load(); got > int64(tt.evalsFor*len(tt.tokens)) {
				t.Errorf("%d gains computed for %d candidates", got, len(tt.tokens))
			}
			if adds := tt.benefit.adds.Load(); adds > 20_000 {
				t.Errorf("%d candidates added to states", adds)
			}
			if tt.name == "all equal" {
				for k, i := range sel.Items {
					if k != i {
						t.Fatalf("candidate %d is number %d of equals", i, k)
					}
				}
			}
		})
	}
}

func asFloats(list []int) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = float64(x)
	}
	return out
}

// Tiny problems, and huge budgets, are answered in every mode.
func TestModesDegenerate(t *testing.T) {
	for _, mode := range []Mode{Auto, Paper, Level0, Level1, Level2, Level3, Exact} {
		for _, tt := range []struct {
			name   string
			p      Problem
			want   []int
			reason string
		}{
			{"none", Problem{Budget: 5}, nil, "X12"},
			{"no budget", Problem{Tokens: []int{1}, Benefit: modular(1)}, nil, "X12"},
			{"one", Problem{Tokens: []int{5}, Budget: 5, Benefit: modular(1)}, []int{0}, "fits to the token"},
			{"too large", Problem{Tokens: []int{6}, Budget: 5, Benefit: modular(1)}, nil, "one token too many"},
			{"useless", Problem{Tokens: []int{1, 1, 1}, Budget: 5, Benefit: modular(0, 0, 0)}, nil, "X12: fewest tokens"},
			{"free", Problem{Tokens: []int{0}, Benefit: modular(0.3)}, []int{0}, "X12"},
			{"no end", Problem{Tokens: []int{3, math.MaxInt / 2, math.MaxInt}, Budget: math.MaxInt, Benefit: modular(1, 1, 1)}, []int{0, 1},
				"the largest budget there is"},
			{"overhead", Problem{Tokens: []int{1}, Budget: math.MaxInt, Overhead: math.MaxInt, Benefit: modular(1)}, nil, "the header takes all"},
			{"small gains", Problem{Tokens: repeat(5000, 5), Budget: 25000, Benefit: modular(repeat(0.04, 5)...)}, []int{0, 1, 2, 3, 4},
				"submodlib: an absolute 1e-5 against gain per token gave none"},
			{"best single", Problem{Tokens: []int{1, 100}, Budget: 100, Benefit: modular(2, 100)}, []int{1},
				"submodlib, lean-ctx: gain per token alone takes the first, 2 % of the value"},
			{"last heap entry", Problem{Tokens: []int{1, 1, 9}, Budget: 3, Benefit: modular(3, 2, 1)}, []int{0, 1},
				"submodlib reads the top of an empty heap after the last candidate"},
		} {
			t.Run(fmt.Sprint(mode, " ", tt.name), func(t *testing.T) {
				if tt.reason == "" {
					t.Fatal("no reason given")
				}
				for _, workers := range []int{1, 3} {
					sel := mustSelect(t, tt.p, &Options{Mode: mode, BothOrders: true, Certify: new(true), Workers: workers})
					if diff := cmp.Diff(tt.want, sel.Items); diff != "" {
						t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
					}
					if c := sel.Certificate; c == nil || c.UpperBound < sel.Objective || math.IsNaN(c.Ratio) {
						t.Errorf("certificate %+v for %v", c, sel.Objective)
					}
				}
			})
		}
	}
}

// A benefit that breaks the rules gives an error or a feasible answer in every mode, and never a panic or an endless loop. What it
// breaks shows late, or only in a part of the sets.
func TestUnlawfulBenefits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		n := rapid.IntRange(1, 9).Draw(t, "n")
		tokens := make([]int, n)
		for i := range tokens {
			tokens[i] = rng.IntN(12)
		}
		values := make([]float64, 1<<n)
		odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300, 5e-324}
		for m := range values {
			values[m] = 3 * rng.Float64() // neither monotone nor submodular
			if rng.IntN(200) == 0 {
				values[m] = odd[rng.IntN(len(odd))]
			}
		}
		if rapid.Bool().Draw(t, "nearly lawful") {
			for m := range values {
				values[m] = math.Sqrt(float64(len(members(m))))
			}
			values[rng.IntN(len(values))] = odd[rng.IntN(len(odd))]
		}
		var b Benefit = BenefitFunc(func(set []int) float64 { return values[mask(set)] })
		if rapid.Bool().Draw(t, "wrong gains") {
			b = wrongTable{Benefit: b, gains: values}
		}
		o := &Options{Mode: Mode(rapid.IntRange(0, 6).Draw(t, "mode")), BothOrders: rapid.Bool().Draw(t, "both"),
			fullChains: rapid.Bool().Draw(t, "full"), Certify: new(rapid.Bool().Draw(t, "certify"))}
		p := Problem{Tokens: tokens, Budget: 30, Benefit: b, PenaltyPerToken: 0.01 * rng.Float64()}
		sel, err := Select(context.Background(), p, o)
		if (sel == nil) == (err == nil) {
			t.Fatalf("selection %v and error %v", sel, err)
		}
		if err != nil {
			return
		}
		total := 0
		for _, i := range sel.Items {
			total += tokens[i]
		}
		if total > 30 || total != sel.Tokens || len(slices.Compact(slices.Sorted(slices.Values(sel.Items)))) != len(sel.Items) {
			t.Fatalf("%v has %d tokens, said to be %d", sel.Items, total, sel.Tokens)
		}
		if v := b.Value(slices.Sorted(slices.Values(sel.Items))) - b.Value(nil); math.Abs(v-sel.Benefit) > 1e-9*max(1, v) {
			t.Fatalf("%v is worth %v, said to be %v", sel.Items, v, sel.Benefit)
		}
	})
}

// A penalty that is not a function of the tokens gives an error or some feasible answer too.
func TestUnsteadyPenalty(t *testing.T) {
	for _, step := range []float64{1, -1} {
		for _, mode := range allModes {
			calls := 0.0
			p := Problem{Tokens: []int{1, 2, 3, 4}, Budget: 6, Benefit: modular(4, 3, 2, 1), Penalty: func(int) float64 {
				calls++
				return step * calls
			}}
			sel, err := Select(context.Background(), p, &Options{Mode: mode, NodeLimit: 100, Certify: new(true)})
			if (sel == nil) == (err == nil) || err == nil && sel.Tokens > 6 {
				t.Errorf("%v, step %v: %+v, %v", mode, step, sel, err)
			}
		}
	}
}

// wrongTable has gains that do not depend on the set in the way that its values do.
type wrongTable struct {
	Benefit
	gains []float64
}

func (w wrongTable) Start() Gains { return &wrongTableGains{w: w} }

type wrongTableGains struct {
	w   wrongTable
	set int
}

func (g *wrongTableGains) Gain(i int) float64 { return g.w.gains[(g.set*7+1<<i)%len(g.w.gains)] }
func (g *wrongTableGains) Add(i int)          { g.set |= 1 << i }
func (g *wrongTableGains) Value() float64     { return g.w.gains[g.set] }
func (g *wrongTableGains) Clone() Gains {
	clone := *g
	return &clone
}

// A lone chain allocates nothing for a pick: twice as many picks cost a few allocations more, for slices that double.
func TestLazyAllocations(t *testing.T) {
	c, _ := randomCapability(newRand(1), 2000, 3, 1, 1)
	allocations := func(picks int) float64 {
		sel, p := &Selection{}, Problem{Tokens: repeat(1, 2000), Budget: picks, Benefit: c}
		s := &search{benefit: c, tokens: p.Tokens, budget: picks}
		w := &walker{search: s}
		s.walkers = []*walker{w}
		if err := s.alone(context.Background(), nil, s.sort(sel, p)); err != nil {
			t.Fatal(err)
		}
		s.prepare()
		return testing.AllocsPerRun(3, func() {
			w.pool = newPool(picks, 0)
			w.choose(seed{})
			if err := w.lazy(s.start.Clone(), byDensity); err != nil || len(w.chosen) != picks {
				t.Fatal(err, len(w.chosen))
			}
		})
	}
	if few, many := allocations(200), allocations(400); many > few+8 {
		t.Errorf("%v allocations for 200 picks, %v for 400", few, many)
	}
}

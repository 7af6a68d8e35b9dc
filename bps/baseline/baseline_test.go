package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/bps"
)

var ctx = context.Background()

// A rule is any of the package under one signature; the clauses are the supplies.
type rule struct {
	name string
	run  func(ctx context.Context, p bps.Problem, supply [][]float64) (*Result, error)
}

func cosine(t interface{ Fatal(...any) }, supply [][]float64) Similarity {
	s, err := Cosine(supply)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rules(t interface{ Fatal(...any) }) []rule {
	return []rule{
		{"TopK", func(ctx context.Context, p bps.Problem, _ [][]float64) (*Result, error) { return TopK(ctx, p, nil) }},
		{"MMR", func(ctx context.Context, p bps.Problem, supply [][]float64) (*Result, error) {
			return MMR(ctx, p, cosine(t, supply), 0.5, nil)
		}},
		{"DPPMAP", func(ctx context.Context, p bps.Problem, supply [][]float64) (*Result, error) {
			return DPPMAP(ctx, p, cosine(t, supply), nil)
		}},
		{"DensityGreedy", func(ctx context.Context, p bps.Problem, _ [][]float64) (*Result, error) {
			return DensityGreedy(ctx, p, nil)
		}},
		{"DensityGreedy, Stop", func(ctx context.Context, p bps.Problem, _ [][]float64) (*Result, error) {
			return DensityGreedy(ctx, p, &GreedyOptions{Stop: true})
		}},
		{"GainGreedy", func(ctx context.Context, p bps.Problem, _ [][]float64) (*Result, error) {
			return GainGreedy(ctx, p, nil)
		}},
		{"GainGreedy, Stop", func(ctx context.Context, p bps.Problem, _ [][]float64) (*Result, error) {
			return GainGreedy(ctx, p, &GreedyOptions{Stop: true})
		}},
		{"GreedyMax", func(ctx context.Context, p bps.Problem, _ [][]float64) (*Result, error) { return GreedyMax(ctx, p) }},
		{"RandomBest", func(ctx context.Context, p bps.Problem, _ [][]float64) (*Result, error) {
			return RandomBest(ctx, p, 20, nil)
		}},
		{"RoundRobin", func(ctx context.Context, p bps.Problem, supply [][]float64) (*Result, error) {
			return RoundRobin(ctx, p, supply)
		}},
	}
}

// additive is the sum of values: gains are exact and never change.
func additive(values ...float64) bps.Benefit {
	return bps.BenefitFunc(func(set []int) float64 {
		sum := 0.0
		for _, i := range set {
			sum += values[i]
		}
		return sum
	})
}

func capability(t interface{ Fatal(...any) }, demand []float64, supply [][]float64) bps.Benefit {
	b, err := bps.NewCapability(demand, supply)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var x1Supply = [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}, {2, 0}}

func x1(t interface{ Fatal(...any) }) bps.Problem {
	return bps.Problem{Tokens: []int{100, 50, 120, 300}, Budget: 250, Benefit: capability(t, []float64{2, 1}, x1Supply)}
}

func TestWorkedExample(t *testing.T) {
	const g01, g02, g12 = 2.185860239, 2.229299343, 2.041110958
	for _, tt := range []struct {
		name    string
		rule    func(p bps.Problem) (*Result, error)
		kappa   float64
		items   []int
		tokens  int
		benefit float64
		reason  string
	}{
		{"TopK", func(p bps.Problem) (*Result, error) { return TopK(ctx, p, nil) }, 0, []int{2, 0}, 220, g02,
			"singles 1.553739680, 0.632120559, 1.657710458; 1 does not fit beside 2 and 0"},
		{"TopK", func(p bps.Problem) (*Result, error) { return TopK(ctx, p, nil) }, 0.002, []int{2, 0}, 220, g02,
			"ranking ignores the penalty, which counts in the objective"},
		{"MMR", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, cosine(t, x1Supply), 0.5, nil) }, 0, []int{2, 0}, 220, g02,
			"after 2 the scores are 0.021426652 and -0.032946072"},
		{"MMR 0", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, cosine(t, x1Supply), 0, nil) }, 0, []int{0, 1}, 150, g01,
			"all scores 0 at first: the lowest index; then similarities 0 and 0.894427191"},
		{"MMR 1", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, cosine(t, x1Supply), 1, nil) }, 0, []int{2, 0}, 220, g02,
			"langchain #39052: lambda 1 is pure relevance"},
		{"DPPMAP", func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, cosine(t, x1Supply), nil) }, 0, []int{2, 0}, 220, g02,
			"residuals after 2: 0.175698946, 0.116324840"},
		{"DensityGreedy", func(p bps.Problem) (*Result, error) { return DensityGreedy(ctx, p, nil) }, 0, []int{0, 1}, 150, g01,
			"0.015537397 a token, then 0.012642411 against 0.005629664"},
		{"DensityGreedy", func(p bps.Problem) (*Result, error) { return DensityGreedy(ctx, p, &GreedyOptions{Stop: true}) }, 0.013,
			[]int{0}, 100, 1.553739680, "0.632120559 < 0.013*50"},
		{"DensityGreedy", func(p bps.Problem) (*Result, error) { return DensityGreedy(ctx, p, &GreedyOptions{Stop: true}) }, 0.016,
			nil, 0, 0, "1.553739680 < 0.016*100"},
		{"GainGreedy", func(p bps.Problem) (*Result, error) { return GainGreedy(ctx, p, nil) }, 0, []int{2, 0}, 220, g02,
			"1.657710458, then 0.571588885 against 0.383400500"},
		{"GreedyMax", func(p bps.Problem) (*Result, error) { return GreedyMax(ctx, p) }, 0, []int{0, 2}, 220, g02, "{0} and 2"},
		{"GreedyMax", func(p bps.Problem) (*Result, error) { return GreedyMax(ctx, p) }, 0.002, []int{0, 1}, 150, g01, "1.885860239"},
		{"GreedyMax", func(p bps.Problem) (*Result, error) { return GreedyMax(ctx, p) }, 0.016, nil, 0, 0, "no set is worth its tokens"},
		{"RandomBest", func(p bps.Problem) (*Result, error) { return RandomBest(ctx, p, 0, nil) }, 0, []int{2, 0}, 220, g02,
			"there are three full sets, and the best is met in 100 draws"},
		{"RoundRobin", func(p bps.Problem) (*Result, error) { return RoundRobin(ctx, p, x1Supply) }, 0, []int{0, 1}, 150, g01,
			"3 does not fit; 0 is the best of the first capability, 1 of the second"},
		{"RoundRobin", func(p bps.Problem) (*Result, error) {
			return RoundRobin(ctx, p, [][]float64{{0, 1}, {0, 2}, {0, 3}, {0, 4}})
		}, 0, []int{2, 1}, 170, g12, "the first clause is served by nobody and passed over"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			p := x1(t)
			p.PenaltyPerToken = tt.kappa
			got, err := tt.rule(p)
			if err != nil {
				t.Fatal(err)
			}
			fine := tt.kappa * float64(tt.tokens)
			want := &Result{Items: tt.items, Tokens: tt.tokens, Benefit: tt.benefit, Penalty: fine, Objective: tt.benefit - fine}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// Cases where the rules are known to be poor, to tie, or to be wrong in other libraries.
func TestItems(t *testing.T) {
	same := func(i, j int) float64 { return 1 }
	apart := func(i, j int) float64 {
		if i == j {
			return 1
		}
		return 0
	}
	tenths := make([]int, 10)
	for i := range tenths {
		tenths[i] = 1
	}
	for _, tt := range []struct {
		name   string
		p      bps.Problem
		rule   func(p bps.Problem) (*Result, error)
		want   []int
		reason string
	}{
		{"density alone", bps.Problem{Tokens: []int{1, 100}, Budget: 100, Benefit: additive(2, 100)},
			func(p bps.Problem) (*Result, error) { return DensityGreedy(ctx, p, nil) }, []int{0}, "2 % of the optimum (X5)"},
		{"density and one more", bps.Problem{Tokens: []int{1, 100}, Budget: 100, Benefit: additive(2, 100)},
			func(p bps.Problem) (*Result, error) { return GreedyMax(ctx, p) }, []int{1}, "the empty set and 1"},
		{"density ties", bps.Problem{Tokens: []int{10, 20, 5}, Budget: 35, Benefit: additive(2, 4, 1)},
			func(p bps.Problem) (*Result, error) { return DensityGreedy(ctx, p, nil) }, []int{1, 0, 2},
			"0.2 a token each: the larger gain first (X11)"},
		{"gain ties", bps.Problem{Tokens: []int{30, 20, 5}, Budget: 60, Benefit: additive(2, 2, 2)},
			func(p bps.Problem) (*Result, error) { return GainGreedy(ctx, p, nil) }, []int{0, 1, 2}, "the lower index first"},
		{"tie of sets", bps.Problem{Tokens: []int{20, 10, 10}, Budget: 20, Benefit: additive(2, 1, 1)},
			func(p bps.Problem) (*Result, error) { return GreedyMax(ctx, p) }, []int{0}, "{0} and {1, 2}: fewer candidates"},
		{"no tokens", bps.Problem{Tokens: []int{5, 0, 0}, Budget: 5, Benefit: additive(9, 0.1, 0)},
			func(p bps.Problem) (*Result, error) { return DensityGreedy(ctx, p, &GreedyOptions{Stop: true}) }, []int{1, 0},
			"a gain for nothing comes first, no gain for nothing raises no objective"},
		{"budget 0", bps.Problem{Tokens: []int{0, 3}, Budget: 0, Benefit: additive(0.3, 1)},
			func(p bps.Problem) (*Result, error) { return GreedyMax(ctx, p) }, []int{0}, "X12"},
		{"ten of one", bps.Problem{Tokens: tenths, Budget: 10, Benefit: additive(make([]float64, 10)...)},
			func(p bps.Problem) (*Result, error) { return DensityGreedy(ctx, p, nil) }, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
			"submodlib 72ae33a picks 9 of ten costs of 0.1 under 1.0; fill takes what gains nothing"},
		{"small gains per token", bps.Problem{Tokens: slices.Repeat([]int{5000}, 5), Budget: 25000, Benefit: additive(.04, .04, .04, .04, .04)},
			func(p bps.Problem) (*Result, error) { return DensityGreedy(ctx, p, &GreedyOptions{Stop: true}) }, []int{0, 1, 2, 3, 4},
			"submodlib picks none: an absolute 1e-5 on gain per cost"},
		{"K larger than the pool", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 9, Benefit: additive(1, 3, 2)},
			func(p bps.Problem) (*Result, error) { return TopK(ctx, p, &RankOptions{K: 50}) }, []int{1, 2, 0}, "langchain #1186: KeyError"},
		{"K larger than the pool", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 9, Benefit: additive(1, 3, 2)},
			func(p bps.Problem) (*Result, error) { return MMR(ctx, p, same, 0.5, &RankOptions{K: 50}) }, []int{1, 2, 0}, "langchain #1186"},
		{"K larger than the pool", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 9, Benefit: additive(1, 3, 2)},
			func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, apart, &RankOptions{K: 50}) }, []int{1, 2, 0}, "langchain #1186"},
		{"K", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 9, Benefit: additive(1, 3, 2), Pinned: []int{0}},
			func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, apart, &RankOptions{K: 1}) }, []int{0, 1}, "pinned ones do not count"},
		{"K", bps.Problem{Tokens: []int{1, 9, 1, 1}, Budget: 4, Benefit: additive(1, 5, 3, 2)},
			func(p bps.Problem) (*Result, error) { return TopK(ctx, p, &RankOptions{K: 2}) }, []int{2, 3}, "what does not fit does not count"},
		{"duplicates", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 9, Benefit: additive(1, 1, 1)},
			func(p bps.Problem) (*Result, error) { return MMR(ctx, p, same, 0.5, nil) }, []int{0, 1, 2}, "langchainjs PR #2059: each once"},
		{"duplicates", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 9, Benefit: additive(1, 1, 1)},
			func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, same, nil) }, []int{0}, "a copy has residual 0"},
		{"duplicates pinned", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 9, Benefit: additive(1, 1, 1), Pinned: []int{2, 0}},
			func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, same, nil) }, []int{2, 0}, "pinned copies are kept and do no harm"},
		{"no self-similarity", bps.Problem{Tokens: []int{1, 1}, Budget: 9, Benefit: additive(1, 1)},
			func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, cosine(t, [][]float64{{0}, {2}}), nil) }, []int{1}, "a vector of zeros"},
		{"pinned", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 2, Benefit: additive(1, 1, 0.9), Pinned: []int{0}},
			func(p bps.Problem) (*Result, error) {
				return MMR(ctx, p, func(i, j int) float64 { return []float64{1, 0.9, 0}[i] }, 0.5, nil)
			}, []int{0, 2}, "scores 0.05 and 0.45: a pinned candidate counts as chosen"},
		{"pinned", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 2, Benefit: additive(1, 1, 0.9), Pinned: []int{0}},
			func(p bps.Problem) (*Result, error) {
				return DPPMAP(ctx, p, cosine(t, [][]float64{{1, 0}, {0.9, 0.1}, {0, 1}}), nil)
			}, []int{0, 2}, "1 is nearly the pinned one"},
		{"pinned", bps.Problem{Tokens: []int{1, 1, 1}, Budget: 2, Benefit: additive(10, 1, 0.8), Pinned: []int{0}},
			func(p bps.Problem) (*Result, error) {
				return MMR(ctx, p, func(i, j int) float64 { return []float64{1, 0.1, 0}[i] }, 0.5, nil)
			}, []int{0, 2}, "scores 0 and 0.04: the largest relevance is that of a pinned candidate"},
		{"negative base", bps.Problem{Tokens: []int{1, 100}, Budget: 100, Benefit: bps.BenefitFunc(func(set []int) float64 {
			return additive(2, 100).Value(set) - 1000
		})}, func(p bps.Problem) (*Result, error) { return GreedyMax(ctx, p) }, []int{1}, "the value of the empty set is no loss"},
		{"overhead", bps.Problem{Tokens: []int{1, 0}, Budget: 2, Overhead: 3, Benefit: additive(1, 1)},
			func(p bps.Problem) (*Result, error) { return TopK(ctx, p, nil) }, nil, "not even the header fits"},
		{"step penalty", bps.Problem{Tokens: []int{3, 3}, Budget: 9, Benefit: additive(2, 1), Penalty: func(t int) float64 {
			if t > 3 {
				return math.Inf(1)
			}
			return 0
		}}, func(p bps.Problem) (*Result, error) { return GreedyMax(ctx, p) }, []int{0}, "a forbidden length"},
		{"step penalty", bps.Problem{Tokens: []int{3, 3}, Budget: 9, Benefit: additive(2, 1), Penalty: func(t int) float64 {
			if t > 3 {
				return math.Inf(1)
			}
			return 0
		}}, func(p bps.Problem) (*Result, error) { return GainGreedy(ctx, p, &GreedyOptions{Stop: true}) }, []int{0}, "a forbidden length"},
		{"nothing", bps.Problem{Budget: 9}, func(p bps.Problem) (*Result, error) { return RoundRobin(ctx, p, nil) }, nil,
			"no candidates, no benefit"},
		{"more draws than orders", bps.Problem{Tokens: []int{1}, Budget: 1, Benefit: additive(1)},
			func(p bps.Problem) (*Result, error) { return RandomBest(ctx, p, 1000, nil) }, []int{0}, "submodlib PR #54 loops for ever"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			got, err := tt.rule(tt.p)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Items, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// Of two results with one objective the one with fewer tokens is better, then with fewer candidates, then with the smaller list.
func TestBetter(t *testing.T) {
	set := func(benefit, penalty float64, tokens int, items ...int) Result {
		return Result{Items: items, Tokens: tokens, Benefit: benefit, Penalty: penalty, Objective: benefit - penalty}
	}
	inf := math.Inf(1)
	for _, tt := range []struct {
		base   float64
		a, b   Result
		reason string
	}{
		{0, set(2, 0, 9), set(1, 0, 1), "objective"},
		{0, set(1, 0, 1), set(1+1e-13, 0, 2), "tokens, as the objectives differ by rounding"},
		{0, set(3e-13, 0, 9), set(1e-13, 0, 1), "objective, whatever the unit of the benefit"},
		{-1, set(1e-13, 0, 1), set(3e-13, 0, 9), "tokens, as benefits are differences of numbers around 1"},
		{0, set(1000, 999, 1), set(1000, 999-1e-10, 9), "tokens, as the benefits are good to 1e-9"},
		{0, set(1, 0, 9), set(1, inf, 1), "objective, against a forbidden length"},
		{0, set(2, inf, 3), set(3, inf, 4), "tokens, both forbidden"},
		{0, set(0, 0, 2, 3), set(0, 0, 2, 0, 1), "candidates"},
		{0, set(0, 0, 0, 4, 0), set(0, 0, 0, 1, 2), "lists, ascending"},
	} {
		r := &run{base: tt.base}
		if !r.better(&tt.a, &tt.b) || r.better(&tt.b, &tt.a) {
			t.Errorf("%+v is not better than %+v (%s)", tt.a, tt.b, tt.reason)
		}
	}
}

// Another unit of the benefit and the penalty, a power of two, changes neither what a rule chooses nor how often it asks for a value.
func TestUnit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := instances.Draw(rt, "instance")
		for _, rule := range rules(t) {
			var chosen [][]int
			var calls []int
			for _, unit := range []float64{1, 0x1p-60, 0x1p60} {
				asked := 0
				p := in.Problem
				p.Benefit = bps.BenefitFunc(func(set []int) float64 { asked++; return in.Benefit.Value(set) * unit })
				p.PenaltyPerToken *= unit
				got, err := rule.run(ctx, p, in.supply)
				if err != nil {
					rt.Fatalf("%s: %v", rule.name, err)
				}
				chosen, calls = append(chosen, got.Items), append(calls, asked)
			}
			for k := range chosen {
				if !slices.Equal(chosen[k], chosen[0]) || calls[k] != calls[0] {
					rt.Fatalf("%s: sets %v and calls %v differ between units", rule.name, chosen, calls)
				}
			}
		}
	})
}

// rough is the number of candidates, with gains that are too small by less than the 1e-9 that they may be.
type rough struct{}

func (rough) Value(set []int) float64 { return float64(len(set)) }
func (rough) Start() bps.Gains        { return new(roughGains(0)) }

type roughGains float64

func (g *roughGains) Gain(i int) float64 { return 1 - 1e-10*float64(i) }
func (g *roughGains) Add(i int)          { *g += roughGains(g.Gain(i)) }
func (g *roughGains) Value() float64     { return float64(*g) }
func (g *roughGains) Clone() bps.Gains   { return new(*g) }

// GreedyMax rates by values what is about the best by gains.
func TestRoughGains(t *testing.T) {
	got, err := GreedyMax(ctx, bps.Problem{Tokens: []int{2, 1}, Budget: 2, Benefit: rough{}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1}, got.Items); diff != "" {
		t.Errorf("one of two equal candidates, that with fewer tokens (-want +got):\n%s", diff)
	}
}

// Tiny benefits: what Select chooses, GreedyMax and RandomBest choose.
func TestTinyBenefits(t *testing.T) {
	p := bps.Problem{Tokens: []int{2, 1}, Budget: 2, Benefit: additive(3e-13, 1e-13)}
	sel, err := bps.Select(ctx, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	greedy, err := GreedyMax(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	random, err := RandomBest(ctx, p, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int{{0}, {0}, {0}}, [][]int{sel.Items, greedy.Items, random.Items}); diff != "" {
		t.Errorf("Select, GreedyMax, RandomBest (-want +got):\n%s", diff)
	}
}

// Every rule refuses a faulty problem with the error of package bps.
func TestFaultyProblems(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name   string
		change func(p *bps.Problem)
		want   error
		part   string // of the text
	}{
		{"tokens", func(p *bps.Problem) { p.Tokens = []int{1, 2, 3, -4} }, bps.ErrTokens, "candidate 3 has -4"},
		{"overhead", func(p *bps.Problem) { p.Overhead = -1 }, bps.ErrTokens, "overhead is -1"},
		{"budget", func(p *bps.Problem) { p.Budget = -1 }, bps.ErrBudget, "-1 tokens"},
		{"kappa", func(p *bps.Problem) { p.PenaltyPerToken = nan }, bps.ErrPenalty, "NaN"},
		{"negative kappa", func(p *bps.Problem) { p.PenaltyPerToken = -1 }, bps.ErrPenalty, "-1"},
		{"two penalties", func(p *bps.Problem) { p.PenaltyPerToken, p.Penalty = 1, func(int) float64 { return 0 } }, bps.ErrPenalty, "both"},
		{"penalty", func(p *bps.Problem) { p.Penalty = func(int) float64 { return nan } }, bps.ErrPenalty, "NaN"},
		{"no benefit", func(p *bps.Problem) { p.Benefit = nil }, bps.ErrBenefit, "none given"},
		{"nil function", func(p *bps.Problem) { p.Benefit = bps.BenefitFunc(nil) }, bps.ErrBenefit, "none given"},
		{"other benefit", func(p *bps.Problem) { p.Benefit = capability(t, []float64{1}, [][]float64{{1}}) }, bps.ErrBenefit, "made for 1"},
		{"infinite base", func(p *bps.Problem) { p.Benefit = bps.BenefitFunc(func([]int) float64 { return math.Inf(1) }) },
			bps.ErrBenefit, "empty set"},
		{"NaN value", func(p *bps.Problem) {
			p.Benefit = bps.BenefitFunc(func(set []int) float64 {
				if len(set) > 0 {
					return nan
				}
				return 0
			})
		}, bps.ErrBenefit, "NaN"},
		{"pinned", func(p *bps.Problem) { p.Pinned = []int{4} }, bps.ErrIndex, "Pinned has candidate 4"},
		{"pinned twice", func(p *bps.Problem) { p.Pinned = []int{1, 1} }, bps.ErrIndex,
			"Pinned has candidate 1 twice"},
		{"excluded", func(p *bps.Problem) { p.Excluded = []int{-1} }, bps.ErrIndex, "Excluded has candidate -1"},
		{"pinned and excluded", func(p *bps.Problem) { p.Pinned, p.Excluded = []int{0}, []int{0} }, bps.ErrIndex,
			"candidate 0 is in Pinned and in Excluded"},
		{"pinned too large", func(p *bps.Problem) { p.Pinned = []int{0, 2, 1} }, bps.ErrBudget, "250 tokens, but"},
	} {
		for _, rule := range rules(t) {
			p := x1(t)
			tt.change(&p)
			got, err := rule.run(ctx, p, x1Supply)
			if got != nil || err == nil || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.part) ||
				!strings.HasPrefix(err.Error(), "baseline: ") {
				t.Errorf("%s, %s: got %v and error %v, want %v with %q", rule.name, tt.name, got, err, tt.want, tt.part)
			}
		}
	}
}

func TestFaultyScores(t *testing.T) {
	named := regexp.MustCompile(`^baseline: (TopK|MMR|DPPMAP|RandomBest|RoundRobin|Cosine): `)
	one := func(i, j int) float64 { return 1 }
	nan := func(i, j int) float64 { return math.NaN() }
	for _, tt := range []struct {
		name  string
		rule  func(p bps.Problem) (*Result, error)
		score bool // want ErrScore
		part  string
	}{
		{"NaN relevance", func(p bps.Problem) (*Result, error) {
			return TopK(ctx, p, &RankOptions{Relevance: []float64{0, math.NaN(), 0, 0}})
		}, true, "relevance of candidate 1 is NaN"},
		{"negative relevance", func(p bps.Problem) (*Result, error) {
			return MMR(ctx, p, one, 0.5, &RankOptions{Relevance: []float64{0, 0, 0, -1}})
		}, true, "relevance of candidate 3 is -1"},
		{"few relevances", func(p bps.Problem) (*Result, error) {
			return DPPMAP(ctx, p, one, &RankOptions{Relevance: []float64{1}})
		},
			true, "1 relevances for 4"},
		{"negative K", func(p bps.Problem) (*Result, error) { return TopK(ctx, p, &RankOptions{K: -1}) }, false, "K is -1"},
		{"lambda", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, one, 1.1, nil) }, false, "lambda is 1.1"},
		{"negative lambda", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, one, -0.1, nil) }, false, "lambda is -0.1"},
		{"NaN lambda", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, one, math.NaN(), nil) }, false, "lambda is NaN"},
		{"no similarity", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, nil, 0.5, nil) }, true, "no similarity"},
		{"no similarity", func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, nil, nil) }, true, "no similarity"},
		{"NaN similarity", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, nan, 0.5, nil) }, true,
			"similarity of candidates 0 and 2 is NaN"},
		{"NaN similarity", func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, nan, nil) }, true,
			"similarity of candidates 0 and 0 is NaN"},
		{"few vectors", func(p bps.Problem) (*Result, error) { return MMR(ctx, p, cosine(t, x1Supply[:2]), 0.5, nil) }, true,
			"similarity of candidates 0 and 2 is NaN"},
		{"few vectors", func(p bps.Problem) (*Result, error) { return DPPMAP(ctx, p, cosine(t, x1Supply[:2]), nil) }, true,
			"similarity of candidates 2 and 2 is NaN"},
		{"draws", func(p bps.Problem) (*Result, error) { return RandomBest(ctx, p, -1, nil) }, false, "-1 draws"},
		{"few rows", func(p bps.Problem) (*Result, error) { return RoundRobin(ctx, p, x1Supply[:2]) }, true, "2 rows"},
		{"ragged", func(p bps.Problem) (*Result, error) { return RoundRobin(ctx, p, [][]float64{{1}, {1}, {1, 2}, {1}}) }, true,
			"2 clauses for candidate 2"},
		{"NaN clause", func(p bps.Problem) (*Result, error) {
			return RoundRobin(ctx, p, [][]float64{{1}, {math.Inf(1)}, {1}, {1}})
		}, true, "candidate 1 for clause 0 is +Inf"},
	} {
		got, err := tt.rule(x1(t))
		if got != nil || err == nil || errors.Is(err, ErrScore) != tt.score || !strings.Contains(err.Error(), tt.part) {
			t.Errorf("%s: got %v and error %v, want one with %q, ErrScore %v", tt.name, got, err, tt.part, tt.score)
		}
		if err != nil && (!named.MatchString(err.Error()) || strings.Count(err.Error(), "baseline") != 1) {
			t.Errorf("%s: error %v, want it to start with the package and the rule, once", tt.name, err)
		}
	}
	for _, vectors := range [][][]float64{{{1, 2}, {1}}, {{1}, {math.Inf(-1)}}} {
		if s, err := Cosine(vectors); s != nil || !errors.Is(err, ErrScore) || !named.MatchString(err.Error()) {
			t.Errorf("Cosine(%v): error %v, want %v", vectors, err, ErrScore)
		}
	}
}

// Every rule returns the error of a context that has ended, and no result.
func TestContext(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, rule := range rules(t) {
		if got, err := rule.run(done, x1(t), x1Supply); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v and error %v, want %v", rule.name, got, err, context.Canceled)
		}
	}
}

func TestCosine(t *testing.T) {
	s := cosine(t, [][]float64{{1e200, 0}, {1e-200, 1e-200}, {0, 0}, {-3, 0}})
	for _, tt := range []struct {
		i, j   int
		want   float64
		reason string
	}{
		{0, 1, math.Sqrt(0.5), "45 degrees, whatever the lengths"},
		{1, 1, 1, "itself"},
		{2, 2, 0, "zeros have no direction"},
		{0, 3, -1, "opposite"},
	} {
		if got := s(tt.i, tt.j); !(math.Abs(got-tt.want) <= 1e-15) {
			t.Errorf("%d, %d: got %v, want %v (%s)", tt.i, tt.j, got, tt.want, tt.reason)
		}
	}
}

// An instance is a small problem of the capability form without ties.
type instance struct {
	bps.Problem
	supply [][]float64
}

var instances = rapid.Custom(func(t *rapid.T) instance {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	n, d := rapid.IntRange(1, 9).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
	in := instance{supply: make([][]float64, n)}
	demand := make([]float64, d)
	for k := range demand {
		demand[k] = 4 * rng.Float64()
	}
	for i := range in.supply {
		in.supply[i] = make([]float64, d)
		for k := range d {
			in.supply[i][k] = 3 * rng.Float64()
		}
		in.Tokens = append(in.Tokens, 1+rng.IntN(60))
	}
	in.Benefit = capability(t, demand, in.supply)
	in.Budget = rapid.IntRange(0, 200).Draw(t, "budget")
	in.Overhead = rapid.SampledFrom([]int{0, 0, 15}).Draw(t, "overhead")
	in.PenaltyPerToken = rapid.SampledFrom([]float64{0, 0, 0.01, 0.05}).Draw(t, "kappa")
	order := rng.Perm(n)
	if n > 2 && rapid.Bool().Draw(t, "pin") && in.Tokens[order[0]]+in.Overhead <= in.Budget {
		in.Pinned = order[:1]
	}
	if n > 2 && rapid.Bool().Draw(t, "exclude") {
		in.Excluded = order[1:2]
	}
	return in
})

func (in *instance) total(set []int) int {
	if len(set) == 0 {
		return 0
	}
	sum := in.Overhead
	for _, i := range set {
		sum += in.Tokens[i]
	}
	return sum
}

func (in *instance) objective(set []int) float64 {
	return in.Benefit.Value(slices.Sorted(slices.Values(set))) - in.PenaltyPerToken*float64(in.total(set))
}

// free returns what may join set and fits.
func (in *instance) free(set []int) []int {
	var free []int
	for i := range in.Tokens {
		if !slices.Contains(set, i) && !slices.Contains(in.Excluded, i) && in.total(append(slices.Clone(set), i)) <= in.Budget {
			free = append(free, i)
		}
	}
	return free
}

// grow is any rule that adds the candidate of the largest score until none fits or stop says so.
func (in *instance) grow(score func(set []int, i int) float64, stop func(set []int, i int) bool) []int {
	set := slices.Clone(in.Pinned)
	for {
		best, bestScore := -1, 0.0
		for _, i := range in.free(set) {
			if s := score(set, i); best < 0 || s > bestScore {
				best, bestScore = i, s
			}
		}
		if best < 0 || stop != nil && stop(set, best) {
			return set
		}
		set = append(set, best)
	}
}

func (in *instance) gain(set []int, i int) float64 {
	return in.Benefit.Value(slices.Sorted(slices.Values(append(slices.Clone(set), i)))) - in.Benefit.Value(slices.Sorted(slices.Values(set)))
}

// quality is the benefit alone as a share of the largest of those pinned or fitting.
func (in *instance) quality() []float64 {
	most := 0.0
	q := make([]float64, len(in.Tokens))
	for _, i := range slices.Concat(in.Pinned, in.free(in.Pinned)) {
		q[i] = in.Benefit.Value([]int{i})
		most = max(most, q[i])
	}
	for i := range q {
		if most > 0 {
			q[i] /= most
		}
	}
	return q
}

func expect(t *rapid.T, name string, want []int, got *Result, err error) {
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if diff := cmp.Diff(want, got.Items, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", name, diff)
	}
}

// Whatever the rule, the set fits, holds the pinned and no excluded or repeated candidate, and the result describes it; a benefit
// without gains gives the same set, and so does the same call again.
func TestEveryRuleKeepsTheProblem(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := instances.Draw(rt, "instance")
		for _, rule := range rules(t) {
			got, err := rule.run(ctx, in.Problem, in.supply)
			if err != nil {
				rt.Fatalf("%s: %v", rule.name, err)
			}
			set := slices.Sorted(slices.Values(got.Items))
			if len(slices.Compact(slices.Clone(set))) != len(set) {
				rt.Fatalf("%s: a candidate is repeated in %v", rule.name, set)
			}
			if !slices.Equal(got.Items[:len(in.Pinned)], in.Pinned) {
				rt.Fatalf("%s: %v does not start with the pinned %v", rule.name, got.Items, in.Pinned)
			}
			for _, i := range in.Excluded {
				if slices.Contains(set, i) {
					rt.Fatalf("%s: %d is excluded", rule.name, i)
				}
			}
			want := &Result{Items: got.Items, Tokens: in.total(set), Benefit: in.Benefit.Value(set),
				Penalty: in.PenaltyPerToken * float64(in.total(set)), Objective: in.objective(set)}
			if want.Tokens > in.Budget {
				rt.Fatalf("%s: %d tokens, budget %d", rule.name, want.Tokens, in.Budget)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				rt.Fatalf("%s (-want +got):\n%s", rule.name, diff)
			}
			plain := in.Problem
			plain.Benefit = bps.BenefitFunc(func(set []int) float64 { return in.Benefit.Value(set) + 7 })
			again, err := rule.run(ctx, plain, in.supply)
			expect(rt, rule.name+" without gains, base 7", got.Items, again, err)
		}
	})
}

// Each rule chooses what its definition, computed afresh at every step, chooses.
func TestRulesAgainstDefinitions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := instances.Draw(rt, "instance")
		q := in.quality()
		sim := func(i, j int) float64 {
			dot, a, b := 0.0, 0.0, 0.0
			for k, x := range in.supply[i] {
				y := in.supply[j][k]
				dot, a, b = dot+x*y, a+x*x, b+y*y
			}
			return dot / math.Sqrt(a*b)
		}
		byRelevance := in.grow(func(_ []int, i int) float64 { return q[i] }, nil)
		got, err := TopK(ctx, in.Problem, nil)
		expect(rt, "TopK", byRelevance, got, err)
		got, err = MMR(ctx, in.Problem, cosine(t, in.supply), 1, nil)
		expect(rt, "MMR with lambda 1", byRelevance, got, err)

		lambda := rapid.Float64Range(0, 0.99).Draw(rt, "lambda")
		got, err = MMR(ctx, in.Problem, sim, lambda, nil)
		expect(rt, "MMR", in.grow(func(set []int, i int) float64 {
			if len(set) == 0 {
				return lambda * q[i]
			}
			nearest := math.Inf(-1)
			for _, j := range set {
				nearest = max(nearest, sim(i, j))
			}
			return lambda*q[i] - (1-lambda)*nearest
		}, nil), got, err)

		gains := func(set []int, i int) float64 { return in.gain(set, i) }
		perToken := func(set []int, i int) float64 { return in.gain(set, i) / float64(in.Tokens[i]) }
		stop := func(set []int, i int) bool {
			return in.objective(append(slices.Clone(set), i))-in.objective(set) <= 0
		}
		got, err = DensityGreedy(ctx, in.Problem, nil)
		expect(rt, "DensityGreedy", in.grow(perToken, nil), got, err)
		got, err = DensityGreedy(ctx, in.Problem, &GreedyOptions{Stop: true})
		expect(rt, "DensityGreedy with Stop", in.grow(perToken, stop), got, err)
		got, err = GainGreedy(ctx, in.Problem, nil)
		expect(rt, "GainGreedy", in.grow(gains, nil), got, err)
		got, err = GainGreedy(ctx, in.Problem, &GreedyOptions{Stop: true})
		expect(rt, "GainGreedy with Stop", in.grow(gains, stop), got, err)

		// GreedyMax over all its sets.
		full := in.grow(perToken, nil)
		best := full[:len(in.Pinned)]
		for k := len(in.Pinned); k <= len(full); k++ {
			for _, i := range in.free(full[:k]) {
				if set := append(slices.Clone(full[:k]), i); in.objective(set) > in.objective(best) {
					best = set
				}
			}
		}
		got, err = GreedyMax(ctx, in.Problem)
		if err != nil || math.Abs(got.Objective-in.objective(best)) > 1e-9 {
			rt.Fatalf("GreedyMax: %v, objective of %v: %v, want %v of %v", err, got.Items, got.Objective, in.objective(best), best)
		}

		// Round robin, one turn at a time.
		set := slices.Clone(in.Pinned)
		for turn, passed := 0, 0; passed < len(in.supply[0]); turn++ {
			k := turn % len(in.supply[0])
			next := -1
			for _, i := range in.free(set) {
				if in.supply[i][k] > 0 && (next < 0 || in.supply[i][k] > in.supply[next][k]) {
					next = i
				}
			}
			if passed++; next >= 0 {
				set, passed = append(set, next), 0
			}
		}
		got, err = RoundRobin(ctx, in.Problem, in.supply)
		expect(rt, "RoundRobin", set, got, err)
	})
}

// DPPMAP multiplies, at every step, the determinant of the kernel of the chosen set by as much as any fitting candidate could, and it
// ends only where none could or none fits.
func TestDPPMAPAgainstDeterminants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := instances.Draw(rt, "instance")
		q := in.quality()
		sim := cosine(t, in.supply)
		det := func(set []int) float64 {
			if len(set) == 0 {
				return 1
			}
			m := mat.NewDense(len(set), len(set), nil)
			for a, i := range set {
				for b, j := range set {
					m.Set(a, b, q[i]*q[j]*sim(i, j))
				}
			}
			return mat.Det(m)
		}
		got, err := DPPMAP(ctx, in.Problem, sim, nil)
		if err != nil {
			rt.Fatal(err)
		}
		for k := len(in.Pinned); k <= len(got.Items); k++ {
			set := got.Items[:k]
			before := det(set)
			if before < 1e-7 { // differences of determinants are rounding from here on
				return
			}
			most := 0.0
			for _, i := range in.free(set) {
				most = max(most, det(append(slices.Clone(set), i))/before)
			}
			if k == len(got.Items) {
				if most > 1e-7 {
					rt.Fatalf("ended at %v, but a candidate multiplies the determinant by %v", set, most)
				}
			} else if own := det(got.Items[:k+1]) / before; own < most-1e-7 {
				rt.Fatalf("at %v candidate %d multiplies the determinant by %v, another by %v", set, got.Items[k], own, most)
			}
		}
	})
}

// No rule beats the optimum; GreedyMax has half of it without a penalty; more draws are never worse.
func TestRulesAgainstOptimum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := instances.Draw(rt, "instance")
		in.Pinned, in.Excluded = nil, nil
		best := 0.0
		for mask := range 1 << len(in.Tokens) {
			var set []int
			for i := range in.Tokens {
				if mask>>i&1 == 1 {
					set = append(set, i)
				}
			}
			if in.total(set) <= in.Budget {
				best = max(best, in.objective(set))
			}
		}
		for _, rule := range rules(t) {
			got, err := rule.run(ctx, in.Problem, in.supply)
			if err != nil || got.Objective > best+1e-9 {
				rt.Fatalf("%s: %v, objective %v above the optimum %v", rule.name, err, got.Objective, best)
			}
			if rule.name == "GreedyMax" && (in.PenaltyPerToken == 0 && got.Objective < best/2-1e-9 || got.Objective < 0) {
				rt.Fatalf("GreedyMax: %v of %v", got.Objective, best)
			}
		}
		seed := rapid.Uint64().Draw(rt, "draws")
		last := math.Inf(-1)
		for _, draws := range []int{1, 5, 25} {
			got, err := RandomBest(ctx, in.Problem, draws, rand.New(rand.NewPCG(seed, 0)))
			if err != nil || got.Objective < last-1e-12 {
				rt.Fatalf("RandomBest: %v, %v after %d draws, %v with fewer", err, got.Objective, draws, last)
			}
			last = got.Objective
		}
	})
}

// Another order of a tie-free instance gives the same set under other names.
func TestOrderOfCandidates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := instances.Draw(rt, "instance")
		n := len(in.Tokens)
		perm := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})).Draw(rt, "perm")
		at := make([]int, n) // where a candidate went
		other := in
		other.Tokens, other.supply = make([]int, n), make([][]float64, n)
		for to, from := range perm {
			at[from] = to
			other.Tokens[to], other.supply[to] = in.Tokens[from], in.supply[from]
		}
		rename := func(set []int) []int {
			var out []int
			for _, i := range set {
				out = append(out, at[i])
			}
			return out
		}
		other.Pinned, other.Excluded = rename(in.Pinned), rename(in.Excluded)
		other.Benefit = bps.BenefitFunc(func(set []int) float64 {
			var back []int
			for _, i := range set {
				back = append(back, perm[i])
			}
			slices.Sort(back)
			return in.Benefit.Value(back)
		})
		for _, rule := range rules(t) {
			if rule.name == "RandomBest" || rule.name == "DPPMAP" { // draws depend on the order; determinants may be rounding
				continue
			}
			a, err := rule.run(ctx, in.Problem, in.supply)
			if err != nil {
				rt.Fatal(err)
			}
			b, err := rule.run(ctx, other.Problem, other.supply)
			expect(rt, rule.name, rename(a.Items), b, err)
		}
	})
}

func BenchmarkRules(b *testing.B) {
	for _, n := range []int{100, 1000} {
		rng := rand.New(rand.NewPCG(1, 2))
		const d = 16
		supply := make([][]float64, n)
		tokens := make([]int, n)
		demand := make([]float64, d)
		for k := range demand {
			demand[k] = 4 * rng.Float64()
		}
		for i := range supply {
			supply[i] = make([]float64, d)
			for k := range d {
				supply[i][k] = rng.ExpFloat64() / 40 // far from saturation, where all gains tie
			}
			tokens[i] = 80 + rng.IntN(520)
		}
		p := bps.Problem{Tokens: tokens, Budget: 8000, Benefit: capability(b, demand, supply)}
		for _, rule := range rules(b) {
			b.Run(fmt.Sprintf("%s/n=%d", strings.ReplaceAll(rule.name, ", ", ""), n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := rule.run(ctx, p, supply); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

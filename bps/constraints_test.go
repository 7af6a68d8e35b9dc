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

// total is the tokens of a set in p, the overhead included.
func (in *instance) total(p Problem, m int) int {
	if m == 0 {
		return 0
	}
	return in.length(m) + p.Overhead
}

// feasible lists the sets that p allows.
func (in *instance) feasible(p Problem) []int {
	var sets []int
	pinned, excluded := mask(p.Pinned), mask(p.Excluded)
	for m := range in.values {
		if m&pinned == pinned && m&excluded == 0 && in.total(p, m) <= p.Budget {
			sets = append(sets, m)
		}
	}
	return sets
}

// optimum is the largest objective of all sets.
func (in *instance) optimum(p Problem) float64 {
	best := math.Inf(-1)
	for _, m := range in.feasible(p) {
		best = max(best, in.objective(p, m))
	}
	return best
}

func (in *instance) objective(p Problem, m int) float64 {
	return in.values[m] - p.penalty()(in.total(p, m))
}

// constrained draws the rest of a problem: overhead, pinned and excluded candidates, and a penalty, of which it says whether it is
// concave.
func constrained(t *rapid.T, in *instance) (p Problem, concave bool) {
	p = Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit}
	if rapid.Bool().Draw(t, "plain") {
		p.Benefit = in.plain()
	}
	p.Overhead = rapid.SampledFrom([]int{0, 0, 1, 5, 50}).Draw(t, "overhead")
	left := p.Budget - p.Overhead
	for i, role := range rapid.SliceOfN(rapid.IntRange(0, 9), len(in.tokens), len(in.tokens)).Draw(t, "roles") {
		switch {
		case role == 8 && in.tokens[i] <= left:
			p.Pinned = append(p.Pinned, i)
			left -= in.tokens[i]
		case role == 9:
			p.Excluded = append(p.Excluded, i)
		}
	}
	slices.Reverse(p.Pinned)
	unit := in.all() / float64(max(in.budget, 1)) * rapid.SampledFrom([]float64{0.01, 0.3, 1, 3}).Draw(t, "unit")
	step := rapid.IntRange(0, 40).Draw(t, "step")
	switch rapid.SampledFrom([]string{"none", "linear", "sqrt", "square", "step", "forbidden"}).Draw(t, "penalty") {
	case "linear":
		p.PenaltyPerToken = unit
	case "sqrt":
		concave = true
		p.Penalty = func(tokens int) float64 { return 1 + 5*unit*math.Sqrt(float64(tokens)) }
	case "square":
		p.Penalty = func(tokens int) float64 { return unit / 20 * float64(tokens) * float64(tokens) }
	case "step":
		p.Penalty = func(tokens int) float64 {
			if tokens <= step {
				return -2
			}
			return 20 * unit
		}
	case "forbidden":
		step = max(step, in.total(p, mask(p.Pinned))) // what is pinned must be allowed
		p.Penalty = func(tokens int) float64 {
			if tokens <= step {
				return 0
			}
			return math.Inf(1)
		}
	}
	return p, concave
}

// Whatever is pinned, excluded, free or charged once: the answer obeys it, its numbers can be computed again, it is in the scope of the
// bound of its guarantee, and so is every point of the frontier.
func TestConstraints(t *testing.T) {
	eachFamily(t, 0, func(t *rapid.T, in *instance) {
		p, concave := constrained(t, in)
		o := &Options{Mode: Mode(rapid.IntRange(0, 6).Draw(t, "mode")), PenaltyConcave: concave, BothOrders: rapid.Bool().Draw(t, "both orders")}
		sel := mustSelect(t, p, o)
		penalty := p.penalty()
		m := mask(sel.Items)
		feasible := in.feasible(p)
		if !slices.Contains(feasible, m) || len(members(m)) != len(sel.Items) {
			t.Fatalf("%v\npinned %v, excluded %v, overhead %d: chose %v", in, p.Pinned, p.Excluded, p.Overhead, sel.Items)
		}
		want := Selection{Tokens: in.total(p, m), Benefit: in.values[m], Penalty: penalty(in.total(p, m))}
		want.Objective = want.Benefit - want.Penalty
		off := math.Abs(sel.Benefit-want.Benefit) + math.Abs(sel.Penalty-want.Penalty) + math.Abs(sel.Objective-want.Objective)
		if off > 1e-9 || sel.Tokens != want.Tokens {
			t.Fatalf("%v\n%d tokens, %v - %v = %v, want %+v", in, sel.Tokens, sel.Benefit, sel.Penalty, sel.Objective, want)
		}
		pinned := in.values[mask(p.Pinned)]
		for _, m := range feasible {
			least := pinned + sel.Guarantee.Factor*(in.values[m]-pinned) - penalty(in.total(p, m))
			if sel.Guarantee.Penalty != PenaltyNone && sel.Objective < least-1e-9 {
				t.Fatalf("%v\npinned %v, excluded %v, overhead %d, %v: F(%v) = %v, but T = %v asks for %v",
					in, p.Pinned, p.Excluded, p.Overhead, sel.Guarantee, sel.Items, sel.Objective, members(m), least)
			}
		}
		last := Point{Tokens: -1, Benefit: math.Inf(-1)}
		for _, pt := range sel.Frontier {
			m := mask(pt.Items)
			if !slices.Contains(feasible, m) || pt.Tokens != in.total(p, m) || math.Abs(pt.Benefit-in.values[m]) > 1e-9 ||
				pt.Tokens <= last.Tokens || pt.Benefit <= last.Benefit || !slices.IsSorted(pt.Items) {
				t.Fatalf("%v\npinned %v, excluded %v, overhead %d: point %v of %v", in, p.Pinned, p.Excluded, p.Overhead, pt, sel.Frontier)
			}
			last = pt
		}
		factor := map[Mode]float64{Level1: 0.5, Level2: 0.6174, Level3: 1 - 1/math.E, Exact: 0}[sel.Guarantee.Mode]
		for _, m := range feasible {
			if got, least := phi(sel.Frontier, in.total(p, m)), pinned+factor*(in.values[m]-pinned); factor > 0 && got < least-1e-9 {
				t.Fatalf("%v\npinned %v, excluded %v, overhead %d, %v: %v within %d tokens, but T = %v asks for %v",
					in, p.Pinned, p.Excluded, p.Overhead, sel.Guarantee.Mode, got, in.total(p, m), members(m), least)
			}
		}
		for i := range in.tokens {
			reason := DropReason("")
			left := p.Budget - in.total(p, mask(p.Pinned)|1<<i) + in.tokens[i]
			switch {
			case slices.Contains(p.Excluded, i):
				reason = DropExcluded
			case slices.Contains(p.Pinned, i):
			case left < 0:
				reason = DropOverhead
			case in.tokens[i] > left:
				reason = DropOverBudget
			}
			at := slices.IndexFunc(sel.Dropped, func(d Drop) bool { return d.Item == i })
			if at < 0 != (reason == "") || at >= 0 && sel.Dropped[at].Reason != reason {
				t.Fatalf("%v\npinned %v, excluded %v, overhead %d: dropped %v, want candidate %d for %q",
					in, p.Pinned, p.Excluded, p.Overhead, sel.Dropped, i, reason)
			}
		}
	})
}

// Candidates that are excluded might as well not be there.
func TestExcludedIsAbsent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := smooth(12).Draw(t, "instance")
		n := len(in.tokens)
		var kept, excluded []int
		for i := range n {
			if rapid.Bool().Draw(t, "excluded") {
				excluded = append(excluded, i)
			} else {
				kept = append(kept, i)
			}
		}
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.plain(), PenaltyPerToken: rapid.Float64Range(0, 0.05).Draw(t, "kappa")}
		mode := rapid.SampledFrom([]Mode{Paper, Level0, Level1, Level2, Exact}).Draw(t, "mode")
		absent := p
		absent.Tokens = nil
		for _, i := range kept {
			absent.Tokens = append(absent.Tokens, in.tokens[i])
		}
		rename := func(set []int) []int {
			var names []int
			for _, j := range set {
				names = append(names, kept[j])
			}
			return names
		}
		absent.Benefit = BenefitFunc(func(set []int) float64 { return in.benefit.Value(rename(set)) })
		p.Excluded = excluded
		with, without := mustSelect(t, p, &Options{Mode: mode}), mustSelect(t, absent, &Options{Mode: mode})
		without.Items = rename(without.Items)
		for k := range without.Frontier {
			without.Frontier[k].Items = rename(without.Frontier[k].Items)
		}
		ignore := cmp.Options{cmpopts.IgnoreFields(Selection{}, "Dropped"), cmpopts.IgnoreFields(Guarantee{}, "Scope"),
			cmpopts.IgnoreUnexported(Selection{})}
		if diff := cmp.Diff(without, with, ignore); diff != "" {
			t.Fatalf("%v, excluded %v (-absent +excluded):\n%s", mode, excluded, diff)
		}
	})
}

// Pinning candidates is selecting by what the others gain beside them, with what they leave of the budget.
func TestPinnedIsContraction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := smooth(12).Draw(t, "instance")
		n := len(in.tokens)
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.plain()}
		var rest []int
		used := 0
		for i := range n {
			if len(p.Pinned) < 3 && used+in.tokens[i] <= in.budget && rapid.IntRange(0, 3).Draw(t, "pinned") == 0 {
				p.Pinned = append(p.Pinned, i)
				used += in.tokens[i]
			} else {
				rest = append(rest, i)
			}
		}
		mode := rapid.SampledFrom([]Mode{Paper, Level0, Level1, Level2, Level3}).Draw(t, "mode")
		rename := func(set []int) []int {
			names := slices.Clone(p.Pinned)
			for _, j := range set {
				names = append(names, rest[j])
			}
			slices.Sort(names)
			return names
		}
		others := Problem{Budget: in.budget - used, Benefit: BenefitFunc(func(set []int) float64 { return in.benefit.Value(rename(set)) })}
		for _, i := range rest {
			others.Tokens = append(others.Tokens, in.tokens[i])
		}
		want := mustSelect(t, others, &Options{Mode: mode}).Frontier
		for k := range want {
			want[k].Items = rename(want[k].Items)
			want[k].Tokens += used
			want[k].Benefit += in.benefit.Value(p.Pinned)
		}
		if len(p.Pinned) == 0 {
			want[0].Items = nil
		}
		got := mustSelect(t, p, &Options{Mode: mode}).Frontier
		if diff := cmp.Diff(want, got, noBounds, cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
			t.Fatalf("%v, pinned %v (-contracted +pinned):\n%s", mode, p.Pinned, diff)
		}
	})
}

func TestConstraintErrors(t *testing.T) {
	p := Problem{Tokens: []int{1, 2, 3, math.MaxInt}, Budget: 4, Benefit: modular(1, 1, 1, 1)}
	for _, tt := range []struct {
		pinned, excluded []int
		overhead         int
		want             error
		text             string
		reason           string
	}{
		{[]int{4}, nil, 0, ErrIndex, "Pinned has candidate 4, want one of 0..3", "out of range"},
		{[]int{-1}, nil, 0, ErrIndex, "Pinned has candidate -1", "out of range"},
		{nil, []int{9}, 0, ErrIndex, "Excluded has candidate 9", "out of range"},
		{[]int{1, 0, 1}, nil, 0, ErrIndex, "Pinned has candidate 1 twice", "a duplicate"},
		{nil, []int{2, 2}, 0, ErrIndex, "Excluded has candidate 2 twice", "a duplicate"},
		{[]int{1}, []int{1}, 0, ErrIndex, "candidate 1 is in Pinned and in Excluded", "both"},
		{[]int{1, 2}, nil, 0, ErrBudget, "has 3, and the overhead and those before it leave 2", "2+3 of 4 tokens"},
		{[]int{0}, nil, 4, ErrBudget, "leave 0", "the overhead counts"},
		{[]int{0}, nil, 5, ErrBudget, "leave -1", "the overhead alone is too large for what is pinned"},
		{[]int{0, 3}, nil, 0, ErrBudget, "leave 3", "a sum that overflows"},
		{[]int{1, 0}, []int{2, 3}, 1, nil, "", "all of the budget"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			p.Pinned, p.Excluded, p.Overhead = tt.pinned, tt.excluded, tt.overhead
			sel, err := Select(context.Background(), p, nil)
			if !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) || (sel == nil) != (err != nil) {
				t.Errorf("%s: got %v, %v; want %v with %q", tt.reason, sel, err, tt.want, tt.text)
			}
			if err == nil {
				if diff := cmp.Diff([]int{0, 1}, sel.Items); diff != "" || sel.Tokens != 4 {
					t.Errorf("%d tokens (-want +got):\n%s", sel.Tokens, diff)
				}
			}
		})
	}
	none := Problem{Budget: 1, Pinned: []int{0}}
	if _, err := Select(context.Background(), none, nil); !errors.Is(err, ErrIndex) {
		t.Errorf("no candidates, one pinned: %v", err)
	}
	// A penalty that forbids what is pinned.
	p = Problem{Tokens: []int{3, 1}, Budget: 9, Benefit: modular(1, 1), Pinned: []int{0}, Penalty: func(tokens int) float64 {
		if tokens > 2 {
			return math.Inf(1)
		}
		return 0
	}}
	for _, mode := range []Mode{Paper, Level0, Level2, Exact} {
		sel, err := Select(context.Background(), p, &Options{Mode: mode})
		if !errors.Is(err, ErrPenalty) || !strings.Contains(err.Error(), "Penalty(3) is +Inf") {
			t.Errorf("%v: %v, %v", mode, sel, err)
		}
	}
}

func TestRecheck(t *testing.T) {
	x1 := Problem{Tokens: []int{100, 50, 120, 300}, Budget: 250, Benefit: poolX1(t)}
	with := func(change func(p *Problem)) Problem {
		p := x1
		change(&p)
		return p
	}
	sum := func(factor, offset int) func([]int) int {
		return func(set []int) int {
			n := offset
			for _, i := range set {
				n += factor * x1.Tokens[i]
			}
			return n
		}
	}
	for _, tt := range []struct {
		name   string
		p      Problem
		o      Options
		count  func(set []int) int
		items  []int
		want   Recheck
		reason string
	}{
		{"fits", x1, Options{}, sum(1, 0), []int{0, 2}, Recheck{Tokens: 220, Budget: 250}, "nothing to do"},
		{"to the token", x1, Options{}, sum(1, 30), []int{0, 2}, Recheck{Tokens: 250, Budget: 250}, "250 of 250 is not too large"},
		{"less", x1, Options{}, sum(0, 1), []int{0, 2}, Recheck{Tokens: 1, Budget: 250}, "counting less changes nothing"},
		{"X7", x1, Options{}, func(set []int) int {
			if slices.Equal(set, []int{0, 2}) {
				return 330
			}
			return sum(1, 0)(set)
		}, []int{0, 1}, Recheck{Tokens: 150, Budget: 170, Reruns: 1}, "specification X7: 330 is 80 more than 250, so the budget becomes 170"},
		{"twice", x1, Options{}, sum(2, 0), []int{1}, Recheck{Tokens: 100, Budget: 60, Reruns: 1},
			"440 are 190 too many, so the budget becomes 60"},
		{"always larger", x1, Options{}, func([]int) int { return 1000 }, nil, Recheck{Budget: 250, Removed: []int{2, 0}},
			"an excess of 750 leaves no budget for a rerun; the last in order goes first, and the empty set is not counted"},
		{"always one more", x1, Options{}, func([]int) int { return 251 }, nil, Recheck{Budget: 247, Reruns: 3, Removed: []int{2, 0}},
			"three reruns by default"},
		{"one rerun", x1, Options{MaxReruns: 1}, func([]int) int { return 251 }, nil, Recheck{Budget: 249, Reruns: 1, Removed: []int{2, 0}},
			"as many as allowed"},
		{"nine reruns", x1, Options{MaxReruns: 9}, func([]int) int { return 251 }, nil, Recheck{Budget: 241, Reruns: 9, Removed: []int{2, 0}},
			"as many as allowed"},
		{"huge", x1, Options{}, func([]int) int { return math.MaxInt }, nil, Recheck{Budget: 250, Removed: []int{2, 0}},
			"the excess must not overflow"},
		{"one goes", x1, Options{}, func(set []int) int { return 200 * len(set) }, []int{0}, Recheck{Tokens: 200, Budget: 100, Reruns: 1},
			"400: a rerun with 100 tokens"},
		{"removal", x1, Options{MaxReruns: 1}, func(set []int) int { return 100*len(set)*len(set) - 100*(len(set)-1) }, []int{0},
			Recheck{Tokens: 100, Budget: 200, Reruns: 1, Removed: []int{1}}, "{0,2} and {0,1} count 300"},
		{"pinned stays", with(func(p *Problem) { p.Pinned = []int{2} }), Options{}, func(set []int) int { return 251*len(set) - 1 }, []int{2},
			Recheck{Tokens: 250, Budget: 250, Removed: []int{0}}, "2 comes last in order and must stay: no smaller budget has room for it"},
		{"free goes", Problem{Tokens: []int{0, 5}, Budget: 5, Benefit: modular(1, 4)}, Options{},
			func(set []int) int { return 5 * len(set) }, []int{0},
			Recheck{Tokens: 5, Budget: 0, Reruns: 1},
			"a free candidate may have tokens after all"},
		{"overhead", with(func(p *Problem) { p.Overhead = 100 }), Options{}, sum(1, 150), []int{0},
			Recheck{Tokens: 250, Budget: 200, Reruns: 1}, "the overhead was too low by 50"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			tt.o.Recheck = func(set []int) int {
				if len(set) == 0 || !slices.IsSorted(set) {
					t.Errorf("counted %v, want a sorted set that is not empty", set)
				}
				return tt.count(set)
			}
			sel := mustSelect(t, tt.p, &tt.o)
			if diff := cmp.Diff(tt.items, sel.Items); diff != "" {
				t.Errorf("items, %s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(&tt.want, sel.Rechecked); diff != "" {
				t.Errorf("recheck, %s (-want +got):\n%s", tt.reason, diff)
			}
			checkRechecked(t, tt.p, sel, tt.count)
		})
	}

	for _, n := range []int{-1, math.MinInt} {
		sel, err := Select(context.Background(), x1, &Options{Recheck: func([]int) int { return n }})
		if sel != nil || !errors.Is(err, ErrTokens) || !strings.Contains(err.Error(), "[0 2]") {
			t.Errorf("count %d: %v, %v", n, sel, err)
		}
	}
	pinned := with(func(p *Problem) { p.Pinned = []int{0} })
	sel, err := Select(context.Background(), pinned, &Options{Recheck: func(set []int) int { return 300 }})
	if sel != nil || !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), "counts 300 for the pinned candidates") {
		t.Errorf("pinned candidates that are too large: %v, %v", sel, err)
	}
}

// checkRechecked checks what holds after every recheck.
func checkRechecked(t interface {
	Helper()
	Errorf(string, ...any)
}, p Problem, sel *Selection, count func([]int) int) {
	t.Helper()
	r := sel.Rechecked
	set := slices.Sorted(slices.Values(sel.Items))
	if len(set) == 0 {
		set = nil
	}
	tokens := 0
	for _, i := range set {
		tokens += p.Tokens[i]
	}
	counted := 0
	if len(set) > 0 {
		tokens += p.Overhead
		counted = count(set)
	}
	if sel.Tokens != tokens || tokens > r.Budget || r.Tokens != counted || counted > p.Budget {
		t.Errorf("%v has %d tokens, said to be %d, of %d; counted %d, said to be %d, of %d",
			set, tokens, sel.Tokens, r.Budget, counted, r.Tokens, p.Budget)
	}
	benefit := p.Benefit.Value(set) - p.Benefit.Value(nil)
	sum := 0.0
	for _, g := range sel.Gains {
		sum += g
	}
	if math.Abs(sel.Benefit-benefit) > 1e-9 || math.Abs(sum-benefit) > 1e-9 || len(sel.Gains) != len(sel.Items) ||
		sel.Penalty != p.penalty()(tokens) || sel.Objective != sel.Benefit-sel.Penalty {
		t.Errorf("%v: gains %v, benefit %v of %v, penalty %v, objective %v", set, sel.Gains, sel.Benefit, benefit, sel.Penalty, sel.Objective)
	}
	for _, i := range p.Pinned {
		if !slices.Contains(set, i) {
			t.Errorf("%v lacks the pinned candidate %d", set, i)
		}
	}
	if len(r.Removed) > 0 {
		want := Guarantee{Penalty: PenaltyNone, Mode: sel.Guarantee.Mode, Scope: "none: candidates were removed after the recheck"}
		if diff := cmp.Diff(want, sel.Guarantee); diff != "" {
			t.Errorf("guarantee (-want +got):\n%s", diff)
		}
	}
	if len(r.Removed) > 0 || r.Reruns > 0 {
		for _, pt := range sel.Frontier {
			if pt.UpperBound != 0 {
				t.Errorf("after %+v, point %v has an upper bound", r, pt)
			}
		}
	}
}

// Whatever a counter says, the answer obeys it; where nothing was removed, it is that of a search with the smaller budget, which the
// guarantee is about. The certificate is about all sets that fit.
func TestRecheckLaws(t *testing.T) {
	eachFamily(t, 0, func(t *rapid.T, in *instance) {
		p, concave := constrained(t, in)
		mode := rapid.SampledFrom(allModes).Draw(t, "mode")
		o := &Options{Mode: mode, PenaltyConcave: concave, MaxReruns: rapid.IntRange(0, 4).Draw(t, "reruns")}
		seed := rapid.Uint64().Draw(t, "seed")
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		count := func(set []int) int {
			honest := in.total(p, mask(set))
			switch kind {
			case 0:
				return honest + len(set)
			case 1:
				return honest + int(newRand(seed+uint64(mask(set))).IntN(20))
			}
			return newRand(seed + uint64(mask(set))).IntN(2*in.budget + 2)
		}
		calls := 0
		o.Recheck = func(set []int) int { calls++; return count(set) }
		sel, err := Select(context.Background(), p, o)
		if err != nil {
			if !errors.Is(err, ErrBudget) || len(p.Pinned) == 0 || sel != nil {
				t.Fatalf("%v\n%v, %v", in, sel, err)
			}
			return
		}
		checkRechecked(t, p, sel, count)
		r := sel.Rechecked
		limit := o.MaxReruns
		if limit == 0 {
			limit = 3
		}
		most := r.Reruns + 1 + len(r.Removed)
		if r.Reruns > 0 && len(sel.Items) == len(p.Pinned) {
			most += len(in.tokens) // to find out that the selection before does no better
		}
		if r.Reruns > limit || calls > most {
			t.Fatalf("%v\n%d calls, %+v", in, calls, r)
		}
		if c := sel.Certificate; c != nil {
			for _, m := range in.feasible(p) {
				if f := in.objective(p, m); (m == 0 || count(members(m)) <= p.Budget) && f > c.UpperBound+1e-9 || c.Gap != c.UpperBound-sel.Objective {
					t.Fatalf("%v\n%+v: %+v, but F(%v) = %v, answer %v", in, r, c, members(m), f, sel.Objective)
				}
			}
		}
		if len(r.Removed) > 0 {
			return
		}
		plain := *o
		plain.Recheck = nil
		q := p
		q.Budget = r.Budget
		want := mustSelect(t, q, &plain)
		if r.Reruns > 0 {
			want.Guarantee.Scope += fmt.Sprintf(", and a budget of %d tokens", r.Budget)
			want.Certificate = sel.Certificate // is about the whole budget
			for k := range want.Frontier {
				want.Frontier[k].UpperBound = 0
			}
		}
		if diff := cmp.Diff(want, sel, cmpopts.IgnoreFields(Selection{}, "Rechecked", "Evaluations", "Nodes"), cmpopts.IgnoreUnexported(Selection{})); diff != "" {
			t.Fatalf("%v\n%+v (-search +recheck):\n%s", in, r, diff)
		}
		if more := sel.Evaluations - want.Evaluations; more < 0 || r.Reruns == 0 && more != 0 {
			t.Fatalf("%v\n%+v: %d evaluations, of which %d in the last search", in, r, sel.Evaluations, want.Evaluations)
		}
	})
}

// A search that is stopped is counted too, and made to fit without another search.
func TestRecheckStopped(t *testing.T) {
	c, tokens := randomCapability(newRand(7), 12, 4, 5, 40)
	ctx := &countdown{Context: context.Background(), left: 20}
	sel, err := Select(ctx, Problem{Tokens: tokens, Budget: 100, Benefit: c}, &Options{Recheck: func(set []int) int { return 40 * len(set) }})
	if !errors.Is(err, context.Canceled) || sel == nil || len(sel.Items) != 2 || sel.Rechecked.Reruns != 0 || sel.Rechecked.Tokens != 80 {
		t.Fatalf("%+v, %v", sel, err)
	}
	if sel.Guarantee.Factor != 0 || sel.Certificate != nil {
		t.Errorf("guarantee %+v, certificate %v", sel.Guarantee, sel.Certificate)
	}
}

// A penalty is looked at where it matters: 7 of 1000 tokens is not among the totals that are tried before the search.
func TestPenaltyAtFrontier(t *testing.T) {
	p := Problem{Tokens: []int{7, 20}, Budget: 1000, Benefit: modular(1, 1), Penalty: func(tokens int) float64 {
		if tokens == 7 {
			return math.NaN()
		}
		return 0
	}}
	for _, mode := range allModes {
		if sel, err := Select(context.Background(), p, &Options{Mode: mode}); !errors.Is(err, ErrPenalty) || !strings.Contains(err.Error(), "Penalty(7)") {
			t.Errorf("%v: %v, %v", mode, sel, err)
		}
	}
}

// Sums of pinned tokens that overflow do not fit.
func TestPinnedOverflow(t *testing.T) {
	p := Problem{Tokens: []int{math.MaxInt, math.MaxInt, 1, 0}, Overhead: 2, Pinned: []int{0, 1}, Benefit: modular(1, 1, 1, 1)}
	for _, p.Budget = range []int{0, 5, math.MaxInt} {
		if sel, err := Select(context.Background(), p, nil); sel != nil || !errors.Is(err, ErrBudget) {
			t.Errorf("budget %d: %+v, %v", p.Budget, sel, err)
		}
	}
}

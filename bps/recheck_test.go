package bps

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A search that is stopped after another one for a larger budget has no guarantee and no certificate, like any that is stopped.
func TestRecheckStoppedLater(t *testing.T) {
	for _, tt := range []struct {
		fits   bool // what the second search finds
		reason string
	}{{true, "the answer of the second search"}, {false, "candidates are taken out"}} {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		p := Problem{Tokens: []int{5, 5, 5, 0}, Budget: 15, Benefit: modular(3, 2, 1, 1), Pinned: []int{3, 0}}
		sel, err := Select(ctx, p, &Options{Recheck: func(set []int) int {
			cancel()
			if calls++; calls == 1 || !tt.fits && len(set) > 2 {
				return 16
			}
			return 10
		}})
		if !errors.Is(err, context.Canceled) || sel == nil || sel.Rechecked.Reruns != 1 {
			t.Fatalf("%s: %+v, %v", tt.reason, sel, err)
		}
		if sel.Certificate != nil {
			t.Errorf("%s: certificate %+v", tt.reason, sel.Certificate)
		}
		want := Guarantee{Penalty: PenaltyNone, Mode: Paper, Scope: "none: the search was stopped"}
		if diff := cmp.Diff(want, sel.Guarantee); diff != "" {
			t.Errorf("%s: guarantee (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// The work of all searches is counted.
func TestRecheckAddsUp(t *testing.T) {
	for _, mode := range []Mode{Paper, Level0, Exact} {
		p := Problem{Tokens: []int{5, 4, 3, 3, 2}, Budget: 9, Benefit: coverage("abc", "ad", "bde", "cf", "a"), PenaltyPerToken: 0.01}
		evaluations, nodes := 0, 0
		for _, p.Budget = range []int{8, 9} {
			sel := mustSelect(t, p, &Options{Mode: mode})
			evaluations, nodes = evaluations+sel.Evaluations, nodes+sel.Nodes
		}
		calls := 0
		sel := mustSelect(t, p, &Options{Mode: mode, Recheck: func([]int) int {
			if calls++; calls == 1 {
				return p.Budget + 1
			}
			return p.Budget
		}})
		if sel.Rechecked.Reruns != 1 || sel.Evaluations != evaluations || sel.Nodes != nodes {
			t.Errorf("%v: %d evaluations and %d nodes in %d reruns, want %d and %d in 1",
				mode, sel.Evaluations, sel.Nodes, sel.Rechecked.Reruns, evaluations, nodes)
		}
	}
}

// A counter that gives twice the tokens that the problem has lowers the budget far below what still fits: 100 tokens count 200, of which 110
// are allowed, so that a search with 20 finds nothing. One candidate of 30 does fit.
func TestRecheckLeavesSomething(t *testing.T) {
	p := Problem{Tokens: []int{30, 30, 40}, Budget: 110, Benefit: modular(3, 2, 1)}
	tokens := func(set []int) int {
		sum := 0
		for _, i := range set {
			sum += p.Tokens[i]
		}
		return sum
	}
	sel := mustSelect(t, p, &Options{Recheck: func(set []int) int { return 2 * tokens(set) }})
	if diff := cmp.Diff([]int{0}, sel.Items); diff != "" {
		t.Errorf("%+v (-want +got):\n%s", sel.Rechecked, diff)
	}
	if r := sel.Rechecked; r.Tokens != 60 || len(r.Removed) != 2 || sel.Guarantee.Factor != 0 || sel.Objective != 3 || sel.Certificate.UpperBound < 3 {
		t.Errorf("%+v, rechecked %+v, certificate %+v", sel, r, sel.Certificate)
	}
}

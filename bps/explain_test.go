package bps

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestExplain(t *testing.T) {
	// Two capabilities: 0 has the first, 1 the second, 2 a little of both, 3 nothing, 4 too much text, 5 is a bad deal.
	c, err := NewCapability([]float64{2, 0, 1}, [][]float64{{1, 0, 0}, {0, 5, 1}, {0.1, 0, 0.1}, {0, 9, 0}, {3, 0, 3}, {0.01, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Tokens: []int{10, 10, 90, 10, 101, 10}, Budget: 100, Benefit: c, PenaltyPerToken: 0.001, Excluded: []int{}}
	sel := mustSelect(t, p, nil)
	type row struct {
		Item   int
		Chosen bool
		Serves []int
		Why    string
	}
	var got []row
	for _, r := range sel.Explain() {
		var parts []int
		for _, part := range r.Serves {
			parts = append(parts, part.Index)
		}
		got = append(got, row{r.Item, r.Chosen, parts, r.Why})
	}
	want := []row{
		{0, true, []int{0}, "adds 1.264 for 10 tokens"},
		{1, true, []int{2}, "adds 0.6321 for 10 tokens"},
		{2, false, []int{0, 2}, "would add 0.105, but has 90 tokens where 80 are left"},
		{3, false, nil, "adds nothing to those chosen"},
		{4, false, nil, "dropped: over budget"},
		{5, false, []int{0}, "would add 0.007321, but its tokens cost 0.01"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	p.Pinned, p.Excluded, p.Budget = []int{3}, []int{0}, 20
	reasons := mustSelect(t, p, nil).Explain()
	for i, want := range map[int]string{3: "pinned: adds 0 for 10 tokens", 0: "dropped: excluded"} {
		k := slices.IndexFunc(reasons, func(r Reason) bool { return r.Item == i })
		if reasons[k].Why != want {
			t.Errorf("candidate %d: %q, want %q", i, reasons[k].Why, want)
		}
	}
	if (&Selection{Items: []int{1}}).Explain() != nil {
		t.Error("a selection from elsewhere has reasons")
	}
}

// Every candidate has one reason, gains are those of the values, and the parts of a gain add up to it.
func TestExplainAdds(t *testing.T) {
	eachFamily(t, 0, func(t *rapid.T, in *instance) {
		p := Problem{Tokens: in.tokens, Budget: in.budget, Benefit: in.benefit, PenaltyPerToken: rapid.Float64Range(0, 0.1).Draw(t, "kappa")}
		sel := mustSelect(t, p, nil)
		reasons := sel.Explain()
		seen := make([]int, len(in.tokens))
		before := 0
		for k, r := range reasons {
			seen[r.Item]++
			if r.Chosen != (k < len(sel.Items)) || r.Chosen && r.Item != sel.Items[k] || r.Why == "" || r.Tokens != in.tokens[r.Item] {
				t.Fatalf("%v\nreason %d is %+v", in, k, r)
			}
			if strings.HasPrefix(r.Why, "dropped") {
				continue
			}
			if want := in.values[before|1<<r.Item] - in.values[before]; math.Abs(r.Gain-want) > 1e-9 {
				t.Fatalf("%v\n%+v, want a gain of %v", in, r, want)
			}
			if r.Serves != nil {
				sum := 0.0
				for _, part := range r.Serves {
					sum += part.Gain
				}
				if diff := cmp.Diff(r.Gain, sum, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
					t.Fatalf("%v\nparts of %+v (-gain +sum):\n%s", in, r, diff)
				}
			}
			if r.Chosen {
				before |= 1 << r.Item
			}
		}
		if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
			t.Fatalf("%v\nreasons %+v", in, reasons)
		}
	})
}

// A selection whose items the caller has put into another order is explained in that order.
func TestExplainSorted(t *testing.T) {
	c, err := NewCapability([]float64{1}, [][]float64{{1}, {2}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	sel := mustSelect(t, Problem{Tokens: []int{5, 1, 2}, Budget: 8, Benefit: c}, nil)
	slices.Reverse(sel.Items)
	set := []int{}
	for k, r := range sel.Explain() {
		larger := slices.Sorted(slices.Values(append(set, r.Item)))
		if want := c.Value(larger) - c.Value(set); r.Item != sel.Items[k] || math.Abs(r.Gain-want) > 1e-12 {
			t.Errorf("%+v is reason %d for %v, want a gain of %v", r, k, sel.Items, want)
		}
		set = larger
	}
	if len(set) != 3 {
		t.Errorf("reasons for %v", set)
	}
}

// After the last search and what was removed, nothing is said about a better set.
func TestExplainRemoved(t *testing.T) {
	texts := []Text{{Name: "refund money"}, {Name: "order money"}, {Name: "refund order"}}
	sel, err := FromTexts(context.Background(), "refund the order, refund the money", texts, 4,
		&TextOptions{Count: words, Search: &Options{Recheck: func(set []int) int { return 100 * len(set) }}})
	if err != nil || len(sel.Items) != 0 || len(sel.Rechecked.Removed) != 2 {
		t.Fatalf("%+v, %v", sel, err)
	}
	for _, r := range sel.Explain() {
		want := "removed, as the selection as a whole had too many tokens"
		if !slices.Contains(sel.Rechecked.Removed, r.Item) {
			want = "others were removed after the search"
		}
		if !strings.Contains(r.Why, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// countedParts counts calls of Parts, whose results it overwrites with the next.
type countedParts struct {
	Benefit
	calls   *int
	scratch []float64
}

func (c countedParts) Parts(set []int) []float64 {
	*c.calls++
	clear(c.scratch)
	for _, i := range set {
		c.scratch[i] = 1
	}
	return c.scratch
}

// The parts of each set are asked for once, and results may be scratch.
func TestExplainCost(t *testing.T) {
	const n = 50
	calls := 0
	b := countedParts{BenefitFunc(func(set []int) float64 { return float64(len(set)) }), &calls, make([]float64, n)}
	sel := mustSelect(t, Problem{Tokens: slices.Repeat([]int{1}, n), Budget: 20, Benefit: b}, &Options{Mode: Level0})
	for _, r := range sel.Explain() {
		if len(r.Serves) != 1 || r.Serves[0].Index != r.Item {
			t.Errorf("%+v", r)
		}
	}
	if calls > n+1 {
		t.Errorf("%d calls of Parts for %d candidates", calls, n)
	}
}

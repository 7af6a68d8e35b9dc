package bps

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// The parts of the clause benefit are its clauses and the whole query, and add up to its value.
func TestClauseParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := shipped()["Clauses"].Draw(t, "benefit").(*clauseBenefit)
		set := members(rapid.IntRange(0, 1<<b.Len()-1).Draw(t, "set"))
		parts, sum := b.Parts(set), 0.0
		for _, v := range parts {
			sum += v
		}
		if len(parts) != b.clauses+1 || math.Abs(sum-b.Value(set)) > 1e-12*max(1, sum) {
			t.Fatalf("%d parts of %d clauses add up to %v, want %v", len(parts), b.clauses, sum, b.Value(set))
		}
	})
	b, err := newClauses([][]float64{{1, 0}, {0.5, 0.5}}, []float64{1, 0.8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1 - math.Exp(-2.25), 1 - math.Exp(-0.25), 0.3 * 1.8}
	if diff := cmp.Diff(want, b.Parts([]int{0, 1}), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Errorf("by hand (-want +got):\n%s", diff)
	}
}

// A copy into a used state is as good as a clone: same gains and value, and independent of its source.
func TestClauseCopyFrom(t *testing.T) {
	b, err := newClauses([][]float64{{1, 0}, {0.5, 0.5}, {0, 1}}, []float64{1, 0.8, 0.6}, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, spare := b.Start().(*clauseGains), b.Start().(*clauseGains)
	src.Add(0)
	spare.Add(2)
	spare.CopyFrom(src)
	want := src.Clone()
	src.Add(1)
	for i := 1; i < 3; i++ {
		if spare.Gain(i) != want.Gain(i) {
			t.Errorf("gain of %d is %v, want %v", i, spare.Gain(i), want.Gain(i))
		}
	}
	if spare.Value() != want.Value() {
		t.Errorf("value %v, want %v", spare.Value(), want.Value())
	}
}

// The options of a benefit made of relevance reach it, and a faulty one is an error.
func TestTextOptionsClauses(t *testing.T) {
	const query = "look up the order status"
	o := TextOptions{Count: words}
	value := func(c *ClauseOptions) float64 {
		t.Helper()
		o.Clauses = c
		sel, err := FromTexts(context.Background(), query, desk[:1], 100, &o)
		if err != nil || len(sel.Items) != 1 {
			t.Fatalf("%+v, %v", sel, err)
		}
		return sel.Benefit
	}
	for _, tt := range []struct {
		options *ClauseOptions
		want    float64
		reason  string
	}{
		{nil, 1 - math.Exp(-2) + 0.3, "the defaults"},
		{&ClauseOptions{}, 1 - math.Exp(-2) + 0.3, "zeros mean the defaults"},
		{&ClauseOptions{Scale: 1, WholeWeight: new(0.0)}, 1 - math.Exp(-1), "a smaller scale and no whole query"},
	} {
		if got := value(tt.options); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
	o.Clauses = &ClauseOptions{Power: 0.5}
	sel, err := FromTexts(context.Background(), query, desk, 100, &o)
	if sel != nil || err == nil || !strings.HasPrefix(err.Error(), "bps: ") {
		t.Errorf("a power of 0.5: %v, %v", sel, err)
	}
}

// A query of one clause has none to embed apart.
func TestSplitClausesOfOne(t *testing.T) {
	for _, query := range []string{"", "order", "and, then!"} {
		if got := SplitClauses(query); got != nil {
			t.Errorf("SplitClauses(%q) = %q, want nil", query, got)
		}
	}
	if got := SplitClauses("find the order and send mail"); len(got) != 3 {
		t.Errorf("two clauses and the sentence, got %q", got)
	}
}

package judge

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/examples/evidence/bps/internal/forkbench"
)

// A small run is the same every time and holds together: the oracle always passes, nothing never does, no rule is above its budget,
// intervals hold their values, look-alikes are gone where they were taken out, and learning from executions beats words alone.
func TestRun(t *testing.T) {
	s := setup{firstSeed: 9, seeds: 1, records: 1500, sizes: []float64{1}}
	r, err := s.run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.run(t.Context(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("two runs differ (-first +second):\n%s", diff)
	}
	rows := r.Executed[strconv.Itoa(r.Testbed.Tightest)]
	if len(rows) != len(rules()) || len(rows) != 23 {
		t.Fatalf("%d rules, want 23", len(rows))
	}
	for name, row := range rows {
		if !(row.Low <= row.Success && row.Success <= row.High) || row.Tokens > float64(r.Testbed.Tightest) || row.Redundant > row.Tokens {
			t.Errorf("%s: %+v is out of range", name, row)
		}
	}
	if rows["oracle"].Success != 1 || rows["none"].Success != 0 || rows["none"].Tokens != 0 || rows["oracle"].LookAlike != 0 {
		t.Errorf("oracle %+v, none %+v; want success 1 and 0", rows["oracle"], rows["none"])
	}
	if rows["top_k"].LookAlike == 0 || r.Harm[strconv.Itoa(r.Testbed.Tightest)]["top_k"].Loss <= 0 {
		t.Error("look-alikes do no harm to top_k")
	}
	if c := r.Best; c.Above < 0.4 {
		t.Errorf("bps_fitted is %.2f above %s, want 0.4 or more", c.Above, c.ModelFree)
	}
	var text bytes.Buffer
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules() {
		if !strings.Contains(text.String(), rule.name) {
			t.Errorf("the tables have no %s", rule.name)
		}
	}
}

// The budget holds task by task, for every rule at every price.
func TestRulesKeepBudget(t *testing.T) {
	b, err := forkbench.New(10)
	if err != nil {
		t.Fatal(err)
	}
	m, err := fit(t.Context(), b, b.Records(rand.New(rand.NewPCG(1, 1)), 1000), 1)
	if err != nil {
		t.Fatal(err)
	}
	sh, err := newShelf(b.Unseen, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range b.UnseenTasks[:4] {
		q, err := newQuestion(sh, task, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range rules() {
			for _, budget := range []int{0, 150, 500} {
				items, err := rule.choose(t.Context(), q, budget, rule.kappa)
				if err != nil || b.Unseen.Tokens(items) > budget {
					t.Errorf("%s within %d: %v has %d tokens, %v", rule.name, budget, items, b.Unseen.Tokens(items), err)
				}
			}
		}
	}
}

func TestSavings(t *testing.T) {
	r := &Result{Executed: map[string]map[string]Row{
		"100": {ours: {Success: 0.5, Tokens: 80}, "top_k": {Success: 0.2, Tokens: 90}, "mmr": {Success: 0.3, Tokens: 95}},
		"200": {ours: {Success: 0.8, Tokens: 160}, "top_k": {Success: 0.6, Tokens: 190}, "mmr": {Success: 0.9, Tokens: 180}},
		"400": {ours: {Success: 0.8, Tokens: 150}, "top_k": {Success: 0.6, Tokens: 390}, "mmr": {Success: 0.95, Tokens: 360}},
	}}
	r.savings([]int{100, 200, 400})
	for _, tt := range []struct {
		rule   string
		want   Saving
		reason string
	}{
		{"top_k", Saving{0.6, 0.6, 190, 150, 1 - 150.0/190}, "top_k never exceeds 0.6; bps_fitted exceeds it with 150 tokens at the least"},
		{"mmr", Saving{0.95, 0.8, 180, 150, 1 - 150.0/180}, "mmr is better, so 0.8 is what both reach"},
		{"dpp_map", Saving{0, 0, 0, 80, 0}, "never passes and costs nothing: there is nothing to save"},
	} {
		if diff := cmp.Diff(tt.want, r.Saving[tt.rule], cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
			t.Errorf("%s (-want +got):\n%s(%s)", tt.rule, diff, tt.reason)
		}
	}
}

// An interval over seeds and tasks is wider when seeds differ, and a point when all outcomes are the same.
func TestResample(t *testing.T) {
	seeds := func(rates ...int) [][]outcome {
		var list [][]outcome
		for _, passes := range rates {
			tasks := make([]outcome, 20)
			for i := range passes {
				tasks[i].pass = true
			}
			list = append(list, tasks)
		}
		return list
	}
	width := func(s [][]outcome) float64 {
		row, err := summarize(s)
		if err != nil {
			t.Fatal(err)
		}
		return row.High - row.Low
	}
	if equal, different := width(seeds(10, 10, 10, 10)), width(seeds(0, 20, 0, 20)); !(0.1 < equal && equal < different) {
		t.Errorf("width %v with equal seeds, %v with different ones", equal, different)
	}
	if w := width(seeds(20, 20)); w != 0 {
		t.Errorf("width %v where everything passes, want 0", w)
	}
	h, err := compareLibraries(seeds(5, 5), seeds(15, 15))
	if err != nil || math.Abs(h.Loss-0.5) > 1e-12 || h.Low > 0.5 || h.High < 0.5 || h.Low <= 0 {
		t.Errorf("got %+v, %v, want a loss of 0.5 inside its interval, above 0", h, err)
	}
}

func TestCapabilities(t *testing.T) {
	got := capabilities([]float64{1, 20, 0, 4}, [][]float64{{9, math.Ln2, 9, 0}, {0, 0, 0, math.Log(4)}})
	want := [][]float64{{0.5, 0}, {0, 0.75}} // 1 is less than a tenth of 20; the others are 20 and 4
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A run that is stopped says so and returns nothing.
func TestCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r, err := setup{firstSeed: 1, seeds: 1, records: 500, sizes: []float64{1}}.run(ctx, nil)
	if r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v, want nil and the error of the context", r, err)
	}
}

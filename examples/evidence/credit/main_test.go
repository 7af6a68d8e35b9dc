package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/examples/internal/method"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// tiny is a run of a few seconds: 20 inputs for each property and loss, and few batches for each law and estimator.
func tiny() settings {
	s := newSettings()
	s.quick, s.share, s.batches = true, 0, 3
	return s
}

func outputs(t *testing.T, s settings) (e *evidence, js, text []byte) {
	t.Helper()
	e, err := run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := errors.Join(e.write(&a, true), e.write(&b, false)); err != nil {
		t.Fatal(err)
	}
	return e, a.Bytes(), b.Bytes()
}

// Nothing fails, the keys are there, and the same seed gives the same bytes for any number of workers.
func TestEvidence(t *testing.T) {
	s := tiny()
	s.workers = 1
	e, js, text := outputs(t, s)
	if err := e.failure(); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
	s.workers = 5
	_, again, textAgain := outputs(t, s)
	if diff := cmp.Diff(string(js), string(again)); diff != "" {
		t.Errorf("JSON (-1 worker +5 workers):\n%s", diff)
	}
	if diff := cmp.Diff(string(text), string(textAgain)); diff != "" {
		t.Errorf("tables (-1 worker +5 workers):\n%s", diff)
	}
	s.seed = 2
	if _, other, _ := outputs(t, s); bytes.Equal(js, other) {
		t.Error("another seed gives the same")
	}

	var got map[string]json.RawMessage
	if err := json.Unmarshal(js, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"worked", "properties", "gradients", "not_here"} {
		if got[key] == nil {
			t.Errorf("no key %q", key)
		}
	}
	for _, key := range []string{"graphgpo_equals_milegpo_eta0", "bounds_hold", "micro_batch_invariant"} {
		if string(got[key]) != "true" {
			t.Errorf("%s is %s", key, got[key])
		}
	}
	if got["timing"] != nil || strings.Contains(string(text), "target") {
		t.Error("there are timings without -timing")
	}
	var counts struct {
		Worked struct {
			Cases, Numbers, Failed int
			Failures               []any
		}
		Properties struct{ Runs, Failed int }
		Gradients  struct {
			Checked int
			Worst   float64 `json:"max_relative_error"`
		}
	}
	if err := json.Unmarshal(js, &counts); err != nil {
		t.Fatal(err)
	}
	c := counts
	if c.Worked.Cases < 160 || c.Worked.Numbers < 4*c.Worked.Cases || c.Worked.Failures == nil || c.Properties.Runs < 2000 || c.Gradients.Checked < 1000 ||
		!(c.Gradients.Worst > 0 && c.Gradients.Worst <= mostError) {
		t.Errorf("%+v", c)
	}
}

// Every worked example and peer case is there or said to be elsewhere, each under a name of its own.
func TestNothingForgotten(t *testing.T) {
	var ids []string
	for _, g := range groups() {
		for _, w := range g.cases {
			ids = append(ids, w.id)
			if len(w.want) == 0 {
				t.Errorf("%s wants nothing", w.id)
			}
		}
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			t.Errorf("%q is there twice", id)
		}
	}
	for _, a := range notHere() {
		ids = append(ids, a.Item)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(ids, func(id string) bool {
			rest, ok := strings.CutPrefix(id, name)
			return ok && (rest == "" || strings.ContainsAny(rest[:1], " ,"))
		})
	}
	var missing []string
	for n := 1; n <= 33; n++ {
		name := "case " + strconv.Itoa(n)
		if !has(name) {
			missing = append(missing, name)
		}
		if name := "E" + strconv.Itoa(n); n <= 22 && !has(name) {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		t.Errorf("missing: %q", missing)
	}
	rows := estimators()
	for _, m := range method.All() {
		if !slices.ContainsFunc(rows, func(p promised) bool { return p.method == m.Name && p.options == "" }) {
			t.Errorf("no laws for %q with its defaults", m.Name)
		}
	}
}

// A check that cannot fail shows nothing: faults that are put in are reported, in both forms of the output.
func TestFaults(t *testing.T) {
	s := tiny()
	e1 := s.worked[0].cases[slices.IndexFunc(s.worked[0].cases, func(w worked) bool { return w.id == "E1 batch norm, population" })]
	s.worked = []group{{"broken", []worked{
		{"the last digit", []float64{.933559}, 6, pick(e1.got, 0)},
		{"a number too few", []float64{1, 2}, exact, func() ([]float64, error) { return []float64{1}, nil }},
		{"not a number", []float64{1}, exact, func() ([]float64, error) { return []float64{math.NaN()}, nil }},
		{"an error", []float64{1}, exact, func() ([]float64, error) { return nil, errors.New("no numbers") }},
		{"no error", []float64{1}, exact, refused(func() ([]float64, error) { return []float64{3}, nil }, func(error) bool { return true })},
		{"another error", []float64{1}, exact, refused(func() ([]float64, error) { return nil, errors.New("what") }, func(error) bool { return false })},
		{"too few to pick from", []float64{1}, exact, pick(func() ([]float64, error) { return nil, nil }, 2)},
		{"right", []float64{1}, exact, func() ([]float64, error) { return []float64{1}, nil }},
	}}}
	overBatch := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		return rl.GRPO(dst, batch, &rl.GRPOOptions{Scope: rl.ScopeBatch})
	}
	s.estimators = []promised{{"grpo over the batch", "", ofGroup, overBatch}, {"grpo", "", ofGroup, nil}}
	s.batches = 60
	s.gradients = []gradientCheck{
		{"off by 1e-5", 20, func(rng *rand.Rand) differentiable {
			d := drawReinforce(rng)
			return differentiable{func(grad, x []float64) (float64, error) {
				v, err := d.f(grad, x)
				grad[0] += 1e-5
				return v, err
			}, d.x}
		}},
		{"no value", 20, func(*rand.Rand) differentiable {
			return differentiable{func(_, _ []float64) (float64, error) { return 0, errors.New("broken") }, []float64{1}}
		}},
	}
	e, js, text := outputs(t, s)
	if e.Worked.Cases != 8 || e.Worked.Failed != 7 || len(e.Worked.Failures) != 7 {
		t.Errorf("worked: %+v", e.Worked)
	}
	laws := e.Properties.Laws
	if laws.Failed == 0 || laws.ByEstimator[0].Failed != laws.Failed || laws.ByEstimator[1].Failed != 0 || e.Properties.Failed != laws.Failed {
		t.Errorf("laws: %+v", laws)
	}
	var broken []string
	for _, f := range laws.Failures {
		broken = append(broken, f.Law)
	}
	if diff := cmp.Diff([]string{"shifted scores", "other groups", "group of one", "centred"}, broken); diff != "" {
		t.Errorf("broken laws (-want +got):\n%s", diff)
	}
	if g := e.Gradients; g.Failed != 40 || g.Losses[0].Failed != 20 || g.Losses[1].Failed != 20 || g.Worst < 9e-6 {
		t.Errorf("gradients: %+v", g)
	}
	err := e.failure()
	if err == nil {
		t.Fatal("no failure")
	}
	for _, want := range []string{"7 of 8 worked examples", "checks of properties failed", "40 of 40 gradients"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, want := range []string{"the last digit", "number 0 is 0.9335", "no numbers", "other groups", "grpo over the batch", "has a relative error", "broken"} {
		if !strings.Contains(string(js), want) || !strings.Contains(string(text), want) {
			t.Errorf("%q is not in the output:\n%s", want, text)
		}
	}
	for _, flag := range []*bool{&e.ZeroMix, &e.Bounds, &e.MicroBatch} {
		*flag = false
		if now := e.failure(); now == nil || len(now.Error()) <= len(err.Error()) {
			t.Errorf("%v after another failure", now)
		} else {
			err = now
		}
	}
}

// The rules that compare two results see differences.
func TestPropertiesFail(t *testing.T) {
	rows, err := runProperties(t.Context(), tiny(), 0, []property{
		{"never", 1, func(*rand.Rand) error { return errors.New("broken") }},
		{"half", 1000, func(rng *rand.Rand) error {
			if rng.IntN(2) == 0 {
				return errors.New("sometimes")
			}
			return nil
		}},
	})
	if err != nil || rows[0].Failed != 20 || rows[0].First != "input 0: broken" || rows[1].Failed == 0 || rows[1].Failed == rows[1].Runs {
		t.Errorf("%+v, %v", rows, err)
	}

	batch := []rl.Trajectory{walk("", 1, "a", "b", "c"), walk("", 0, "a", "a")}
	longer := []rl.Trajectory{walk("", 1, "a", "b", "b2", "c"), batch[1]}
	weightless := step{loss.Batch{LogProb: []float64{-1, -2, -3}, OldLogProb: []float64{-1, -2, -3}, Advantage: []float64{1, 2, 3}}, []int{0, 1, 2}, make([]float64, 3)}
	perPart := func(grad []float64, p step) (float64, error) { // the mean of each micro-batch
		return loss.Reinforce(grad, loss.Batch{LogProb: p.LogProb, Advantage: p.Advantage})
	}
	weightless.Weight = []float64{1, 1, 1}
	wide := &rl.MileGPOOptions{PositiveWeight: new(2.0)}
	for _, tt := range []struct {
		name   string
		err    error
		reason string
	}{
		{"longer", lengthened(batch, longer, false), "a is three steps away instead of two"},
		{"gone", lengthened(batch, batch[1:], false), "no goal is left, nor the state b"},
		{"shorter", lengthened(longer, batch, true), "another distance, where it should be the same"},
		{"split", weightless.split([]int{1, 3}, perPart), "means of micro-batches do not add up"},
		{"numbers", differ("x", []float64{1, 2}, []float64{1, 2 + 1e-9}, 1e-12), "1e-9 is more than 1e-12"},
		{"NaN", differ("x", []float64{math.NaN()}, []float64{0}, 1e-12), "NaN is near nothing"},
		{"lengths", differ("x", []float64{1}, nil, 1e-12), "a number too many"},
	} {
		if tt.err == nil {
			t.Errorf("%s: no error, but %s", tt.name, tt.reason)
		}
	}
	for name, err := range map[string]error{
		"grows":  lengthened(longer, append(slices.Clone(longer), batch...), false),
		"same":   lengthened(batch, append(slices.Clone(batch), batch[0]), true),
		"split":  weightless.split([]int{1, 1, 3}, func(grad []float64, p step) (float64, error) { return loss.Reinforce(grad, p.Batch) }),
		"bounds": checkShaping(batch, wide),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTimings(t *testing.T) {
	s := tiny()
	batch := explorers(s.seed, 0, 2, 3, 4)
	row, err := measure(t.Context(), s, sapo, batch)
	if err != nil || row.Trajectories != 6 || row.Turns != 24 || row.Repeats < 10 || row.Nanoseconds <= 0 {
		t.Errorf("%+v, %v", row, err)
	}
	e := &evidence{Timing: &timings{Rows: []timingRow{row}}}
	var js, text bytes.Buffer
	if err := errors.Join(e.write(&js, true), e.write(&text, false)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(js.String(), `"turns": 24`) || !strings.Contains(text.String(), "timing on this machine") {
		t.Errorf("%s\n%s", &js, &text)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, tiny()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := runTimings(ctx, tiny()); !errors.Is(err, context.Canceled) {
		t.Errorf("timings: %v", err)
	}
}

package analysis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// wantError fails the test unless err has the package prefix and names all the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range append(parts, "analysis: ") {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not contain %q", err, p)
		}
	}
}

// outcomes have the utility x and the success y; the factors are other columns.
func outcomes(x, y []float64) []TaskOutcome {
	out := make([]TaskOutcome, len(x))
	for i := range x {
		out[i] = TaskOutcome{TaskID: fmt.Sprint(i), Success: y[i], Score: TaskScore{Skills: 1, Utility: x[i], Specificity: -x[i], Abstractness: 0.5}}
	}
	return out
}

func TestRelate(t *testing.T) {
	ctx := t.Context()
	for _, tt := range []struct {
		name             string
		x, y             []float64
		rho, tau, pr, pt float64
		defined          bool
		reason           string
	}{
		{"ties in the score", []float64{1, 1, 2}, []float64{0, .5, 1}, 0.866025, 0.816497, 4. / 6, 4. / 6, true,
			"ranks (1.5,1.5,3) and (1,2,3); C=2, D=0, n1=1; of six orders 2 have the value and 2 its negative"},
		{"tied rows swapped", []float64{1, 1, 2}, []float64{.5, 0, 1}, 0.866025, 0.816497, 4. / 6, 4. / 6, true,
			"the same pairs; a tau that walks the rows in order gives 1/3 here and 1 above"},
		{"five tasks", []float64{.1, .2, .2, .4, .5}, []float64{0, 0, 1, 1, 1}, 0.740436, 0.680414, 0.3, 0.3, true,
			"C=5, D=0, n1=1, n2=4; 36 of 120 orders"},
		{"constant score", []float64{1, 1, 1}, []float64{1, .5, 0}, 0, 0, 0, 0, false, "a constant side has no order"},
		{"constant success", []float64{3, 2, 1}, []float64{1, 1, 1}, 0, 0, 0, 0, false, "a constant side has no order"},
		{"one task", []float64{1}, []float64{1}, 0, 0, 0, 0, false, "one pair has no order"},
		{"no task", nil, nil, 0, 0, 0, 0, false, "no pair has no order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			rel, err := Relate(ctx, outcomes(tt.x, tt.y), nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]struct {
				got     Coefficient
				want, p float64
			}{
				"spearman": {rel.Overall.Utility.Spearman, tt.rho, tt.pr},
				"kendall":  {rel.Overall.Utility.Kendall, tt.tau, tt.pt},
				"factor":   {rel.Overall.Specificity.Spearman, -tt.rho, tt.pr},
			} {
				g := c.got
				if math.Abs(g.Value-c.want) > 5e-7 || g.Defined != tt.defined || g.Exact != tt.defined || math.Abs(g.P-c.p) > 1e-12 {
					t.Errorf("%s: %+v, want value %g, p %g, defined and exact %v", name, g, c.want, c.p, tt.defined)
				}
				if g.Lo > g.Value || g.Hi < g.Value || g.Lo < -1 || g.Hi > 1 {
					t.Errorf("%s: interval of %+v does not hold the value within [-1, 1]", name, g)
				}
			}
			if got := rel.Overall.Abstractness; got != (Association{}) {
				t.Errorf("a constant factor gives %+v, want it undefined", got)
			}
			if rel.Tasks != len(tt.x) || rel.LeftOut != 0 || rel.Within != nil || rel.Groups != min(1, len(tt.x)) {
				t.Errorf("%+v, want %d tasks in one group", rel, len(tt.x))
			}
		})
	}
}

// Within groups the difference between groups is gone: a score that tells easy tasks from hard ones, and nothing else, goes with success
// over all tasks and against it within groups.
func TestRelateWithin(t *testing.T) {
	var rows []TaskOutcome
	add := func(group string, x, y float64) {
		rows = append(rows, TaskOutcome{TaskID: fmt.Sprint(len(rows)), Group: group, Success: y, Score: TaskScore{Skills: 2, Utility: x}})
	}
	for i := range 4 {
		add("easy", 0.8-float64(i)/100, 0.9+float64(i)/100)
		add("hard", 0.2-float64(i)/100, 0.1+float64(i)/100)
	}
	add("alone", 0.5, 0.5)
	rows = append(rows, TaskOutcome{TaskID: "no skill", Group: "other", Success: 1})
	rel, err := Relate(t.Context(), rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rel.Tasks != 9 || rel.LeftOut != 1 || rel.Groups != 3 {
		t.Errorf("%d tasks, %d left out, %d groups, want 9, 1 and 3", rel.Tasks, rel.LeftOut, rel.Groups)
	}
	// Pairs: 12 within the groups all discordant, 24 between them all concordant: (24-12)/36.
	if got := rel.Overall.Utility.Kendall.Value; math.Abs(got-1./3) > 1e-12 {
		t.Errorf("overall tau is %g, want 1/3", got)
	}
	// Of the 24·24 orders within the groups one has -1 and one +1.
	want := Coefficient{Value: -1, Defined: true, P: 2. / 576, Exact: true, Lo: -1, Hi: -1}
	for name, got := range map[string]Coefficient{"spearman": rel.Within.Utility.Spearman, "kendall": rel.Within.Utility.Kendall} {
		if diff := gocmp.Diff(want, got, approx); diff != "" {
			t.Errorf("within, %s (-want +got):\n%s", name, diff)
		}
	}
}

// The order of the outcomes does not matter; strictly increasing maps of scores and of successes change nothing, and a falling one
// turns the signs of the values alone. Every p-value is in (0, 1], and the bounds of an interval are in [-1, 1] and in order.
func TestRelateLaws(t *testing.T) {
	opts := func() *RelateOptions {
		return &RelateOptions{Permutations: 99, Resamples: 99, Rand: rand.New(rand.NewPCG(7, 8))}
	}
	all := func(r *Relation) (cs []*Coefficient) {
		for _, as := range []*Associations{&r.Overall, r.Within} {
			if as != nil {
				for _, a := range []*Association{&as.Specificity, &as.Abstractness, &as.Utility} {
					cs = append(cs, &a.Spearman, &a.Kendall)
				}
			}
		}
		return cs
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) TaskOutcome {
			number := rapid.Float64Range(0, 1)
			if rapid.Bool().Draw(t, "ties") {
				number = rapid.Map(rapid.IntRange(0, 4), func(k int) float64 { return float64(k) / 4 })
			}
			return TaskOutcome{
				TaskID: rapid.StringMatching("[ab]").Draw(t, "task"), Group: rapid.StringMatching("[xy]?").Draw(t, "group"),
				Score:   TaskScore{rapid.IntRange(1, 2).Draw(t, "skills"), number.Draw(t, "s"), number.Draw(t, "a"), number.Draw(t, "u")},
				Success: number.Draw(t, "success"),
			}
		}), 0, 25).Draw(t, "outcomes")
		rows0 := slices.Clone(rows)
		call := func(rows []TaskOutcome) *Relation {
			rel, err := Relate(context.Background(), rows, opts())
			if err != nil {
				t.Fatal(err)
			}
			return rel
		}
		want := call(rows)
		if !slices.Equal(rows, rows0) {
			t.Fatal("the outcomes were changed")
		}
		for _, c := range all(want) {
			if !c.Defined {
				if *c != (Coefficient{}) {
					t.Fatalf("%+v is not defined, want only zeros", *c)
				}
			} else if !(c.P > 0 && c.P <= 1 && c.Lo >= -1 && c.Lo <= c.Hi && c.Hi <= 1 && math.Abs(c.Value) <= 1) {
				t.Fatalf("%+v is out of range", *c)
			}
		}
		if diff := gocmp.Diff(want, call(rapid.Permutation(rows).Draw(t, "order"))); diff != "" {
			t.Fatalf("another order (-want +got):\n%s", diff)
		}
		// Outcomes of one task and group are told apart by their numbers, so here every task needs its own ID.
		for i := range rows {
			rows[i].TaskID = fmt.Sprint(i)
		}
		want = call(rows)
		up, down := slices.Clone(rows), slices.Clone(rows)
		for i, r := range rows {
			s := r.Score
			// Halving is exact, so no two values become equal.
			up[i].Score = TaskScore{s.Skills, s.Specificity / 2, s.Abstractness / 2, s.Utility / 2}
			up[i].Success = r.Success / 2
			down[i].Score = TaskScore{s.Skills, -s.Specificity, -s.Abstractness, -s.Utility}
		}
		if diff := gocmp.Diff(want, call(up), approx); diff != "" {
			t.Fatalf("half (-want +got):\n%s", diff)
		}
		got := call(down)
		for _, c := range all(got) {
			c.Value, c.Lo, c.Hi = 0-c.Value, 0-c.Hi, 0-c.Lo
		}
		if diff := gocmp.Diff(want, got, approx); diff != "" {
			t.Fatalf("negative (-want +got):\n%s", diff)
		}
	})
}

// Outcomes that differ in one field alone stand in one order too.
func TestRelateOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for field := range 4 {
		var rows []TaskOutcome
		for i := range 40 {
			// Everything is equal within ten, except the field.
			o := TaskOutcome{Success: float64(i/10) / 4, Score: TaskScore{1, float64(i/10) / 4, float64(i/10) / 4, float64(i/10) / 4}}
			*[]*float64{&o.Success, &o.Score.Specificity, &o.Score.Abstractness, &o.Score.Utility}[field] = r.Float64()
			rows = append(rows, o)
		}
		opts := &RelateOptions{Permutations: 199, Resamples: 199}
		want, err := Relate(t.Context(), rows, opts)
		if err != nil {
			t.Fatal(err)
		}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		got, err := Relate(t.Context(), rows, opts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("field %d (-want +got):\n%s", field, diff)
		}
	}
}

// With scores that say nothing, p-values below 0.05 come up about once in twenty times; with scores that say all, always.
func TestRelateLevel(t *testing.T) {
	if testing.Short() {
		t.Skip("computes 300 p-values")
	}
	r := rand.New(rand.NewPCG(3, 4))
	const runs, n = 300, 20
	low := 0
	for range runs {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = r.Float64(), float64(r.IntN(2))
		}
		rel, err := Relate(t.Context(), outcomes(x, y), &RelateOptions{Permutations: 199, Resamples: 99, Rand: r})
		if err != nil {
			t.Fatal(err)
		}
		if rel.Overall.Utility.Spearman.P <= 0.05 {
			low++
		}
	}
	if low < 3 || low > 30 { // 15 expected, sd 3.8; fewer than 3 would be a test without power against noise
		t.Errorf("%d of %d p-values of noise are at most 0.05, want about 15", low, runs)
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) / n
	}
	rel, err := Relate(t.Context(), outcomes(x, x), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := rel.Overall.Utility.Kendall; got != (Coefficient{Value: 1, Defined: true, P: 1e-4, Lo: 1, Hi: 1}) {
		t.Errorf("equal orders give %+v, want 1 with p = 1/10000", got)
	}
}

func TestRelateDefaultsAndSeed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x, y := make([]float64, 12), make([]float64, 12)
	for i := range x {
		x[i], y[i] = r.Float64(), r.Float64()
	}
	run := func(o *RelateOptions) *Relation {
		rel, err := Relate(t.Context(), outcomes(x, y), o)
		if err != nil {
			t.Fatal(err)
		}
		return rel
	}
	want := run(nil)
	for i, o := range []*RelateOptions{{}, {Permutations: 9999, Resamples: 2000, Level: .95}, {Rand: rand.New(rand.NewPCG(1, 2))}} {
		if diff := gocmp.Diff(want, run(o)); diff != "" {
			t.Errorf("options %d (-want as without options +got):\n%s", i, diff)
		}
	}
	for name, o := range map[string]*RelateOptions{
		"seed": {Rand: rand.New(rand.NewPCG(5, 6))}, "permutations": {Permutations: 500}, "resamples": {Resamples: 500}, "level": {Level: .5},
	} {
		got := run(o)
		a, b := want.Overall.Utility.Kendall, got.Overall.Utility.Kendall
		if (a.P != b.P) != (name == "seed" || name == "permutations") || (a.Hi != b.Hi || a.Lo != b.Lo) != (name != "permutations") {
			t.Errorf("%s: %+v against %+v", name, b, a)
		}
	}
	// All coefficients see the same draws: the opposite number has the opposite interval and the same p-value.
	u, s := want.Overall.Utility.Spearman, want.Overall.Specificity.Spearman
	if u.P != s.P || math.Abs(u.Lo+s.Hi) > 1e-12 || math.Abs(u.Hi+s.Lo) > 1e-12 {
		t.Errorf("utility has %+v and its negative %+v", u, s)
	}
}

func TestRelateErrors(t *testing.T) {
	ctx := t.Context()
	nan := math.NaN()
	_, err := Relate(ctx, nil, &RelateOptions{Permutations: 98, Resamples: 1, Level: 1})
	wantError(t, err, "Permutations is 98", "Resamples is 1", "Level is 1")
	_, err = Relate(ctx, nil, &RelateOptions{Level: nan})
	wantError(t, err, "Level is NaN")
	for _, tt := range []struct {
		o      TaskOutcome
		want   string
		reason string
	}{
		{TaskOutcome{Success: nan}, "success is NaN", "no number"},
		{TaskOutcome{Success: 1.5}, "success is 1.5", "above 1"},
		{TaskOutcome{Success: -1}, "success is -1", "below 0"},
		{TaskOutcome{Score: TaskScore{Skills: -1}}, "-1 skills", "negative count"},
		{TaskOutcome{Score: TaskScore{Utility: .5}}, "0 skills", "a score over nothing would be left out in silence"},
		{TaskOutcome{Score: TaskScore{Skills: 1, Utility: nan}}, "NaN", "utility"},
		{TaskOutcome{Score: TaskScore{Skills: 1, Specificity: math.Inf(1)}}, "+Inf", "specificity"},
		{TaskOutcome{Score: TaskScore{Skills: 1, Abstractness: math.Inf(-1)}}, "-Inf", "abstractness"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		tt.o.TaskID = "t7"
		rows := []TaskOutcome{{}, tt.o}
		_, err := Relate(ctx, rows, nil)
		wantError(t, err, "relate", `outcome 1 of task "t7"`, tt.want)
		_, err = Bins(rows, 0, nil)
		wantError(t, err, "bins", `outcome 1 of task "t7"`, tt.want)
	}

	done, cancel := context.WithCancel(ctx)
	cancel()
	x := []float64{0, .1, .2}
	for _, rows := range [][]TaskOutcome{nil, outcomes(x, x)} {
		if _, err := Relate(done, rows, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a done context gives %v for %d outcomes", err, len(rows))
		}
	}
}

// endsAfter is a context that is done after some looks at it.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// However many draws are asked for, a context that ends in their midst ends them: this test would not end otherwise.
func TestRelateStops(t *testing.T) {
	x := make([]float64, 30)
	for i := range x {
		x[i] = float64(i*7%11) / 11
	}
	for _, o := range []*RelateOptions{{Permutations: math.MaxInt}, {Permutations: 99, Resamples: math.MaxInt}} {
		if _, err := Relate(&endsAfter{t.Context(), 1000}, outcomes(x, x), o); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v, want it canceled", o, err)
		}
	}
}

func BenchmarkRelate(b *testing.B) {
	for _, n := range []int{100, 1_000} {
		r := rand.New(rand.NewPCG(1, 2))
		rows := make([]TaskOutcome, n)
		for i := range rows {
			rows[i] = TaskOutcome{TaskID: fmt.Sprint(i), Success: float64(r.IntN(2)),
				Score: TaskScore{1, r.Float64(), r.Float64(), r.Float64()}}
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Relate(b.Context(), rows, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill"
)

func TestBins(t *testing.T) {
	rows := outcomes([]float64{.3, .1, .2, .2, .9, .5, .4}, []float64{0, 0, 1, .5, 1, 1, 0})
	rows = append(rows, TaskOutcome{TaskID: "none", Success: 1})
	for _, tt := range []struct {
		n      int
		by     func(TaskScore) float64
		want   []Bin
		reason string
	}{
		{3, nil, []Bin{
			{[]int{1, 2, 3}, .1, .2, .5 / 3, .5}, {[]int{0, 6}, .3, .4, .35, 0}, {[]int{5, 4}, .5, .9, .7, 1},
		}, "7 = 3+2+2, the larger first; the equal scores by task ID; the outcome without a score is in none"},
		{2, func(s TaskScore) float64 { return s.Specificity }, []Bin{
			{[]int{4, 5, 6, 0}, -.9, -.3, -.525, .5}, {[]int{2, 3, 1}, -.2, -.1, -.5 / 3, .5},
		}, "by another number, which falls as the utility rises"},
		{1, nil, []Bin{{[]int{1, 2, 3, 0, 6, 5, 4}, .1, .9, 2.6 / 7, .5}}, "all"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		got, err := Bins(rows, tt.n, tt.by)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tt.want, got, approx); diff != "" {
			t.Errorf("%d bins (-want +got):\n%s", tt.n, diff)
		}
	}
	for n, want := range map[int]int{0: 7, 5: 5, 100: 7} {
		if got, err := Bins(rows, n, nil); err != nil || len(got) != want {
			t.Errorf("n = %d: %d bins (%v), want %d", n, len(got), err, want)
		}
	}
	if got, err := Bins(outcomes(make([]float64, 30), make([]float64, 30)), 0, nil); err != nil || len(got) != 10 {
		t.Errorf("%d bins (%v) of 30, want 10", len(got), err)
	}
	if got, err := Bins(rows[7:], 3, nil); err != nil || len(got) != 0 {
		t.Errorf("%d bins (%v) of nothing, want none", len(got), err)
	}
	huge := outcomes([]float64{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, math.MaxFloat64}, make([]float64, 5))
	if got, err := Bins(huge, 2, nil); err != nil || got[0].Score != math.MaxFloat64 || got[1].Score != math.MaxFloat64 {
		t.Errorf("%+v (%v): a mean lies between the numbers", got, err)
	}
	_, err := Bins(rows, -1, nil)
	wantError(t, err, "bins", "n is -1")
	_, err = Bins(rows, 2, func(TaskScore) float64 { return math.NaN() })
	wantError(t, err, "bins", `outcome 0 of task "0"`, "NaN")
}

// Bins hold every outcome once in the order of score and task ID; their sizes fall and differ by at most 1.
func TestBinsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]float64{0, .25, .5, 1}), 0, 40).Draw(t, "scores")
		rows := outcomes(values, values)
		for i := range rows {
			rows[i].TaskID = rapid.StringMatching("[a-c]").Draw(t, "task")
		}
		n := rapid.IntRange(1, 50).Draw(t, "n")
		bins, err := Bins(rows, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(bins) != min(n, len(rows)) {
			t.Fatalf("%d bins of %d outcomes, want %d", len(bins), len(rows), n)
		}
		var got []int
		for b, bin := range bins {
			got = append(got, bin.Outcomes...)
			if size, next := len(bin.Outcomes), len(bins[min(b+1, len(bins)-1)].Outcomes); size < next || size-len(bins[len(bins)-1].Outcomes) > 1 {
				t.Fatalf("bin %d has %d outcomes, the next %d, the last %d", b, size, next, len(bins[len(bins)-1].Outcomes))
			}
		}
		// Selection of the least that is left, by score, task ID and place.
		left := make([]int, len(rows))
		for i := range left {
			left[i] = i
		}
		var want []int
		for len(left) > 0 {
			best := slices.MinFunc(left, func(i, j int) int {
				return cmp.Or(cmp.Compare(values[i], values[j]), cmp.Compare(rows[i].TaskID, rows[j].TaskID), i-j)
			})
			want = append(want, best)
			left = slices.DeleteFunc(left, func(i int) bool { return i == best })
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func score(name string, u float64) skill.SkillScore {
	return skill.SkillScore{Name: name, Utility: u, Specificity: u / 2, Abstractness: u / 4, Defined: true}
}

func TestMedianSplit(t *testing.T) {
	empty := score("e", .1)
	empty.EmptyText = true
	for _, tt := range []struct {
		scores []skill.SkillScore
		want   Split
		reason string
	}{
		{[]skill.SkillScore{score("c", .3), score("a", .1), score("b", .2)}, Split{Low: []int{1}, High: []int{2, 0}},
			"of three the low half has one"},
		{[]skill.SkillScore{score("d", .2), score("c", .2), score("b", .2), score("a", .2)}, Split{Low: []int{3, 2}, High: []int{1, 0}},
			"equal utilities by name"},
		{[]skill.SkillScore{score("b", .3), {Name: "u"}, empty, score("a", .2)}, Split{Low: []int{3}, High: []int{0}, LeftOut: []int{1, 2}},
			"an undefined utility and an empty text are in no half"},
		{[]skill.SkillScore{score("a", .3)}, Split{High: []int{0}}, "one skill is in the high half"},
		{nil, Split{}, "no skills"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		got, err := MedianSplit(tt.scores)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Low) == 0 {
			got.Low = nil
		}
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
	_, err := MedianSplit([]skill.SkillScore{score("a", math.NaN()), score("b", math.Inf(1))})
	wantError(t, err, "median split", `score 0 of "a"`, `score 1 of "b"`)
}

func TestTaskScores(t *testing.T) {
	empty := score("empty", .9)
	empty.EmptyText = true
	scores := []skill.SkillScore{score("a", .2), score("b", .6), {Name: "undefined", Abstractness: 1}, empty}
	got, err := TaskScores(scores, [][]string{{"a", "b"}, {"b", "a", "b"}, {"undefined", "empty"}, {"b", "empty"}, nil, {"b"}})
	if err != nil {
		t.Fatal(err)
	}
	both, b := TaskScore{2, .2, .1, .4}, TaskScore{1, .3, .15, .6}
	want := []TaskScore{both, both, {}, b, {}, b}
	if diff := gocmp.Diff(want, got, approx); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = TaskScores(append(scores, score("a", 1)), [][]string{{"a"}, {"c"}})
	wantError(t, err, "task scores", `0 and 4 are both of "a"`, `task 1 selects "c"`)
	_, err = TaskScores([]skill.SkillScore{score("a", math.NaN())}, nil)
	wantError(t, err, "task scores", `score 0 of "a"`, "NaN")
}

func TestTransferDensity(t *testing.T) {
	to := func(to int, from ...int) Transfer { return Transfer{From: from, To: to} }
	for _, tt := range []struct {
		tasks     int
		transfers []Transfer
		n         int
		want      Density
		reason    string
	}{
		{6, []Transfer{to(3, 0), to(2, 1), to(1, 0), to(5, 2)}, 3, Density{2. / 3, true, 3, 2},
			"bins 0 0 1 1 2 2: 0 to 1 twice, within 0, and 1 to 2; of three pairs"},
		{7, []Transfer{to(6, 0)}, 3, Density{1. / 3, true, 3, 1}, "bins 0 0 0 1 1 2 2: 0 to 2"},
		{7, []Transfer{to(2, 0), to(4, 3), to(6, 5)}, 3, Density{0, true, 3, 0}, "bins 0 0 0 1 1 2 2: all within"},
		{6, []Transfer{to(5, 0, 2, 5)}, 3, Density{2. / 3, true, 3, 2}, "each origin of the version links"},
		{6, []Transfer{to(0, 5)}, 3, Density{0, true, 3, 0}, "backwards is no transfer"},
		{3, []Transfer{to(1, 0), to(2, 0), to(2, 1)}, 0, Density{1, true, 3, 3}, "50 bins, but three tasks"},
		{100, []Transfer{to(1, 0), to(2, 1)}, 0, Density{1. / 1225, true, 50, 1}, "50 bins of two tasks, C(50,2) = 1225"},
		{2, nil, 0, Density{0, true, 2, 0}, "nothing was retrieved"},
		{1, []Transfer{to(0, 0)}, 0, Density{Bins: 1}, "one task has no later one"},
		{0, nil, 0, Density{}, "no tasks"},
		{math.MaxInt, []Transfer{to(math.MaxInt-1, 0)}, 3, Density{1. / 3, true, 3, 1}, "task times bins overflows an int"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		got, err := TransferDensity(tt.tasks, tt.transfers, tt.n)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tt.want, got, approx); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
	_, err := TransferDensity(-1, nil, 1)
	wantError(t, err, "transfer density", "-1 tasks", "n is 1")
	_, err = TransferDensity(3, []Transfer{to(3, 0), to(1, -1, 4)}, -2)
	wantError(t, err, "transfer density", "transfer 0 goes to task 3", "transfer 1 comes from task -1", "from task 4", "n is -2")
}

// The density is in [0, 1], is the share of linked cells of a full matrix, and another transfer never lowers it.
func TestTransferDensityLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.IntRange(2, 30).Draw(t, "tasks")
		n := rapid.IntRange(2, 40).Draw(t, "n")
		task := rapid.IntRange(0, tasks-1)
		transfers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Transfer {
			return Transfer{From: rapid.SliceOfN(task, 0, 3).Draw(t, "from"), To: task.Draw(t, "to")}
		}), 0, 40).Draw(t, "transfers")
		bins := min(n, tasks)
		last := 0.
		for k := range len(transfers) + 1 {
			d, err := TransferDensity(tasks, transfers[:k], n)
			if err != nil {
				t.Fatal(err)
			}
			cells, linked := 0, 0
			for i := range bins {
				for j := range bins {
					if j <= i {
						continue
					}
					cells++
					if slices.ContainsFunc(transfers[:k], func(u Transfer) bool {
						return u.To*bins/tasks == j && slices.ContainsFunc(u.From, func(f int) bool { return f*bins/tasks == i })
					}) {
						linked++
					}
				}
			}
			want := Density{float64(linked) / float64(cells), true, bins, linked}
			if diff := gocmp.Diff(want, d, approx); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if d.Value < last || d.Value > 1 {
				t.Fatalf("the density goes from %g to %g", last, d.Value)
			}
			last = d.Value
		}
	})
}

func TestDependencyCost(t *testing.T) {
	for _, tt := range []struct {
		calls  []Call
		want   Dependency
		reason string
	}{
		{[]Call{{1000, 100}, {2000, 50}}, Dependency{206_250, 0.00020625}, "2100·100/2 = 105,000 and 4050·50/2 = 101,250"},
		{[]Call{{3, 1}}, Dependency{3.5, 3.5e-9}, "7·1/2"},
		{[]Call{{0, 4}}, Dependency{8, 8e-9}, "4·4/2: output alone depends on itself"},
		{[]Call{{1000, 0}}, Dependency{}, "no output"},
		{nil, Dependency{}, "no calls"},
		{[]Call{{math.MaxInt, 2}}, Dependency{2 * 0x1p63, 2 * 0x1p63 / 1e9}, "no overflow"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		got, err := DependencyCost(tt.calls)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tt.want, got, approx); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
	_, err := DependencyCost([]Call{{1, 1}, {-1, 0}, {0, -2}})
	wantError(t, err, "dependency cost", "call 1 has -1 tokens in", "call 2 has 0 tokens in and -2 out")
}

func TestSelfRetrieval(t *testing.T) {
	retrieved := []float64{.52, .41, .38}
	for _, tt := range []struct {
		similarity float64
		retrieved  []float64
		minSim     *float64
		want       bool
		reason     string
	}{
		{.39, retrieved, nil, true, "above the least of them"},
		{.38, retrieved, nil, false, "equal to it is not above"},
		{.31, nil, nil, true, "nothing was retrieved: above 0.30"},
		{.30, nil, nil, false, "not above 0.30"},
		{.20, []float64{.1}, nil, true, "the bar is what was retrieved, not 0.30"},
		{.20, nil, new(.1), true, "another bar"},
		{.0, nil, new(.0), false, "a bar of 0"},
		{.39, []float64{.38, .41, .52}, nil, true, "the order does not matter"},
		{1, []float64{1 + 5e-10}, nil, false, "rounding of a cosine"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		got, err := SelfRetrieval([]SourceMatch{{tt.similarity, tt.retrieved}}, tt.minSim)
		if err != nil {
			t.Fatal(err)
		}
		want := Rate{Defined: true, Items: 1, Hit: []bool{tt.want}}
		if tt.want {
			want.Value, want.Hits = 1, 1
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
	got, err := SelfRetrieval([]SourceMatch{{.9, nil}, {.1, nil}, {.5, nil}, {.2, nil}, {.7, nil}}, nil)
	if want := (Rate{.6, true, 3, 5, []bool{true, false, true, false, true}}); err != nil || gocmp.Diff(want, got, approx) != "" {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	if got, err := SelfRetrieval(nil, nil); err != nil || got.Defined || got.Value != 0 {
		t.Errorf("%+v (%v) for nothing, want it undefined", got, err)
	}
	nan := math.NaN()
	_, err = SelfRetrieval([]SourceMatch{{Similarity: nan}, {Similarity: .1, Retrieved: []float64{.1, 1.1}}}, new(-2.))
	wantError(t, err, "self-retrieval", "minSim is -2", "of source 0 is NaN", "skill 1 that source 1 retrieved is 1.1")
}

func TestSimilarities(t *testing.T) {
	ctx := t.Context()
	got, err := Similarities(ctx, nil, []string{"Place an order", "git", "showCart", "the of and"},
		[]string{"Place orders", "digit", "show cart", "order"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.537665, 0.100125, 1, 0} {
		if math.Abs(got[i]-want) > 5e-7 {
			t.Errorf("pair %d: %.6f, want %.6f", i, got[i], want)
		}
	}
	if got, err := Similarities(ctx, nil, nil, nil); err != nil || len(got) != 0 {
		t.Errorf("%v (%v) for nothing, want nothing", got, err)
	}
	_, err = Similarities(ctx, nil, []string{"a"}, nil)
	wantError(t, err, "1 texts of a but 0 of b")

	// Every pair by itself, over more texts than one call of an embedder may have.
	a, b := make([]string, 300), make([]string, 300)
	for i := range a {
		a[i], b[i] = fmt.Sprintf("open drawer %d", 10+i), fmt.Sprintf("close drawer %d", 10+i%7)
	}
	all, err := Similarities(ctx, skill.HashEmbedder{Dim: 512}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 255, 256, 299} {
		one, err := Similarities(ctx, skill.HashEmbedder{Dim: 512}, a[i:i+1], b[i:i+1])
		if err != nil || one[0] != all[i] {
			t.Errorf("pair %d: %v alone (%v), %v among all", i, one, err, all[i])
		}
	}
}

// named is an embedder with an ID.
type named struct{ skill.EmbedderFunc }

func (named) ID() string { return "fake-7" }

func TestSimilaritiesEmbedder(t *testing.T) {
	down := errors.New("service is down")
	for _, tt := range []struct {
		name   string
		e      skill.EmbedderFunc
		check  func(error) bool
		reason string
	}{
		{"fails", func(context.Context, []string) ([][]float64, error) { return nil, down },
			func(err error) bool { return errors.Is(err, down) }, "the cause is kept"},
		{"too few", func(context.Context, []string) ([][]float64, error) { return [][]float64{{1}}, nil },
			func(err error) bool {
				v, ok := errors.AsType[*skill.VectorError](err)
				return ok && v.Index == -1 && v.Embedder == "fake-7"
			}, "one vector for two texts"},
		{"not a number", func(context.Context, []string) ([][]float64, error) { return [][]float64{{1}, {math.NaN()}}, nil },
			func(err error) bool { v, ok := errors.AsType[*skill.VectorError](err); return ok && v.Index == 1 }, "the first text of b has index 1"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		_, err := Similarities(t.Context(), named{tt.e}, []string{"x"}, []string{"y"})
		wantError(t, err, "similarities")
		if err == nil || !tt.check(err) {
			t.Errorf("%s: %v (%s)", tt.name, err, tt.reason)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Similarities(done, nil, []string{"x"}, []string{"y"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a done context gives %v", err)
	}
}

func TestTaskOutcomes(t *testing.T) {
	tasks := []skill.Task{{ID: "a", Group: "g"}, {ID: "b"}}
	scores := []skill.SkillScore{score("s", .4), score("u", .2)}
	got, err := TaskOutcomes(tasks, scores, [][]string{{"s", "u", "s"}, nil}, []float64{1, .5})
	if err != nil {
		t.Fatal(err)
	}
	of, err := TaskScores(scores, [][]string{{"s", "u", "s"}, nil})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]TaskOutcome{{"a", "g", of[0], 1}, {"b", "", of[1], .5}}, got); diff != "" || of[0].Skills != 2 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = TaskOutcomes(tasks, scores, [][]string{nil}, []float64{1, 0})
	wantError(t, err, "task outcomes: 2 tasks, names selected for 1 and successes of 2")
	_, err = TaskOutcomes(tasks, scores, [][]string{nil, nil}, []float64{1})
	wantError(t, err, "successes of 1")
	_, err = TaskOutcomes(tasks, scores, [][]string{nil, {"x"}}, []float64{1, 0})
	wantError(t, err, `task 1 selects "x"`)
	_, err = TaskOutcomes(tasks, scores, [][]string{nil, nil}, []float64{2, math.NaN()})
	wantError(t, err, `task 0, "a": the success is 2`, `task 1, "b": the success is NaN`)
}

// An embedder that appends to its argument must not change the texts of the next call.
func TestSimilaritiesAppending(t *testing.T) {
	e := skill.EmbedderFunc(func(ctx context.Context, texts []string) ([][]float64, error) {
		vs, err := skill.HashEmbedder{Dim: 256}.Embed(ctx, append(texts, "z y"))
		return vs[:len(texts)], err
	})
	a := make([]string, 200)
	for i := range a {
		a[i] = fmt.Sprintf("word%d topic%d", i, i)
	}
	sims, err := Similarities(t.Context(), e, a, a)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range sims {
		if x < 0.999 {
			t.Fatalf("text %d is %g like itself", i, x)
		}
	}
}

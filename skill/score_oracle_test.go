package skill

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// oracle scores as the formulas are written: every pair counted, entropies and differences summed.
type oracle struct {
	sims, pairs [][]float64 // skill by task; pairs[0] holds those of tasks
	excluded    func(i, j int) bool
	heldOut     func(i, j int) bool
	kind        ScoreKind
	temperature float64
	floor       *float64
	minSim      float64
	offTopic    [][]float64 // text by task; nil if they are not known
}

// left returns the similarities that count for skill i.
func (o oracle) left(i int) (c []float64) {
	for j, x := range o.sims[i] {
		if !o.excluded(i, j) {
			c = append(c, x)
		}
	}
	return c
}

func positive(c []float64) []float64 {
	s := slices.Clone(c)
	for j := range s {
		s[j] = math.Max(0, s[j])
	}
	return s
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// entropyShare is exp(H(p))/n for weights p, which it divides by their sum.
func entropyShare(w []float64) float64 {
	z, h := total(w), 0.0
	if z == 0 {
		return 0
	}
	for _, v := range w {
		if p := v / z; p > 0 {
			h -= p * math.Log(p)
		}
	}
	return math.Exp(h) / float64(len(w))
}

// giniShare is 1 - Gini with the index as half the relative mean absolute difference.
func giniShare(x []float64) float64 {
	if total(x) == 0 {
		return 0
	}
	var d float64
	for _, a := range x {
		for _, b := range x {
			d += math.Abs(a - b)
		}
	}
	return 1 - d/(2*float64(len(x))*total(x))
}

func (o oracle) noiseFloor() float64 {
	if o.kind != KindNoiseFloored {
		return 0
	}
	if o.floor != nil {
		return *o.floor
	}
	var all []float64
	for i := range o.sims {
		all = append(all, positive(o.left(i))...)
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func (o oracle) score(i int) SkillScore {
	s := SkillScore{Nearest: -1}
	c := o.left(i)
	if len(c) == 0 {
		return s
	}
	s.MaxSim = slices.Max(c)
	for j, x := range o.sims[i] {
		if s.Nearest < 0 && x == s.MaxSim && !o.excluded(i, j) {
			s.Nearest = j
		}
	}
	s.Retrievable = s.MaxSim > o.minSim
	s.AbstractnessDefined = len(c) > 1
	s.Defined = true
	switch o.kind {
	case KindPaper:
		w := slices.Clone(c)
		for j := range w {
			w[j] = math.Exp((c[j] - s.MaxSim) / o.temperature)
		}
		s.Abstractness = entropyShare(w)
		n := 0.0
		for _, p := range o.pairs[0] {
			if p <= s.MaxSim+1e-12 {
				n++
			}
		}
		if len(o.pairs[0]) == 0 {
			s.Defined = false
			return s
		}
		s.Specificity = n / float64(len(o.pairs[0]))
	case KindSimple:
		s.Specificity, s.Abstractness = math.Max(0, s.MaxSim), entropyShare(positive(c))
	case KindNoiseFloored:
		f := o.noiseFloor()
		above := slices.Clone(c)
		for j := range above {
			if above[j] = c[j] - f; above[j] <= 1e-12*f { // more than rounding
				above[j] = 0
			}
		}
		s.Specificity, s.Abstractness = math.Max(0, s.MaxSim), giniShare(above)
	}
	s.Utility = s.Specificity * s.Abstractness
	if s.Retrievable {
		s.Gated = s.Utility
	}
	return s
}

func (o oracle) memory(tasks int) MemoryScore {
	m := MemoryScore{Best: make([]float64, tasks), AbstractnessDefined: tasks > 1}
	for j := range tasks {
		for i := range o.sims {
			if !o.excluded(i, j) && !o.heldOut(i, j) {
				m.Best[j] = math.Max(m.Best[j], o.sims[i][j])
			}
		}
	}
	m.Specificity, m.Abstractness = total(m.Best)/float64(tasks), giniShare(m.Best)
	m.Utility = m.Specificity * m.Abstractness
	for j := range tasks {
		found := false
		for i := range o.sims {
			if o.excluded(i, j) || o.heldOut(i, j) {
				m.HeldOut++
			} else {
				found = found || o.sims[i][j] > o.minSim
			}
		}
		if found {
			m.Covered += 1 / float64(tasks)
		}
	}
	if o.offTopic != nil {
		m.Placebo = oracle{sims: o.offTopic, excluded: no, heldOut: no}.memory(tasks).Utility
	}
	return m
}

// check compares a report with the oracle.
func (o oracle) check(t *rapid.T, rep *Report) {
	var want []SkillScore
	for i := range o.sims {
		want = append(want, o.score(i))
	}
	opts := []gocmp.Option{cmpopts.EquateApprox(1e-9, 1e-9), cmpopts.IgnoreFields(SkillScore{}, "Name", "EmptyText", "Nearest")}
	if diff := gocmp.Diff(want, rep.Skills, opts...); diff != "" {
		t.Fatalf("%v (-want +got):\n%s", o.kind, diff)
	}
	if diff := gocmp.Diff(o.memory(rep.Tasks), rep.Memory, opts...); diff != "" {
		t.Fatalf("memory (-want +got):\n%s", diff)
	}
	zero := 0.0
	for _, p := range o.pairs[0] {
		if p <= 1e-12 {
			zero++
		}
	}
	if rep.Kind != o.kind || rep.Pairs != len(o.pairs[0]) || !near(rep.NoiseFloor, o.noiseFloor(), 1e-12) ||
		rep.Pairs > 0 && !near(rep.ZeroPairs, zero/float64(rep.Pairs), 1e-12) {
		t.Fatalf("report %+v, want %d pairs, %g of them 0, floor %g", rep, len(o.pairs[0]), zero, o.noiseFloor())
	}
	for i, s := range rep.Skills {
		left := float64(len(o.left(i)))
		if s.Nearest < 0 {
			continue
		}
		if s.Specificity < 0 || s.Specificity > 1 || s.Abstractness > 1 || s.Abstractness < 1/left && s.Abstractness != 0 ||
			s.Utility > min(s.Specificity, s.Abstractness) || s.Gated != 0 && s.Gated != s.Utility {
			t.Fatalf("skill %d is out of range: %+v", i, s)
		}
	}
	m := rep.Memory
	if m.Specificity < 0 || m.Specificity > 1 || m.Abstractness < 0 || m.Abstractness > 1 || m.Utility > min(m.Specificity, m.Abstractness) {
		t.Fatalf("memory is out of range: %+v", m)
	}
}

var kinds = []ScoreKind{KindPaper, KindSimple, KindNoiseFloored}

// genCosine draws ties and negative values often.
func genCosine() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{-1, -0.25, 0, 0, 0, 0.25, 0.3, 0.5, 0.5, 1}))
}

// genMatrix draws similarities of 1 to 6 skills and 1 to 8 tasks, and of the pairs of tasks.
func genMatrix(t *rapid.T) (sims [][]float64, pairs []float64) {
	n := rapid.IntRange(1, 8).Draw(t, "tasks")
	sims = rapid.SliceOfN(rapid.SliceOfN(genCosine(), n, n), 1, 6).Draw(t, "sims")
	p := n * (n - 1) / 2
	return sims, rapid.SliceOfN(genCosine(), p, p).Draw(t, "pairs")
}

// mask draws cells of a matrix.
func mask(t *rapid.T, label string, rows, columns int) func(i, j int) bool {
	cells := rapid.SliceOfN(rapid.SampledFrom([]bool{false, false, true}), rows*columns, rows*columns).Draw(t, label)
	return func(i, j int) bool { return cells[i*columns+j] }
}

func no(int, int) bool { return false }

func TestScoreMatrixMatchesOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sims, pairs := genMatrix(t)
		o := oracle{sims: sims, pairs: [][]float64{pairs}, excluded: no, heldOut: no, minSim: rapid.SampledFrom([]float64{-1, -0.25, 0, 0.3, 1}).Draw(t, "min sim"),
			kind: rapid.SampledFrom(kinds).Draw(t, "kind"), temperature: rapid.Float64Range(0.01, 2).Draw(t, "temperature")}
		if rapid.Bool().Draw(t, "given floor") {
			o.floor = new(rapid.Float64Range(0, 1).Draw(t, "floor"))
		}
		if rapid.Bool().Draw(t, "exclude") {
			o.excluded = mask(t, "excluded", len(sims), len(sims[0]))
		}
		before := fmt.Sprint(sims, pairs)
		rep, err := ScoreMatrix(sims, pairs, &ScoreOptions{
			Kind: o.kind, Temperature: o.temperature, NoiseFloor: o.floor, Exclude: o.excluded, MinSim: &o.minSim,
		})
		if err != nil {
			t.Fatal(err)
		}
		o.check(t, rep)
		for i, s := range rep.Skills {
			if want := o.score(i).Nearest; s.Nearest != want {
				t.Fatalf("skill %d: nearest task %d, want %d", i, s.Nearest, want)
			}
		}
		if rep.Sampled || before != fmt.Sprint(sims, pairs) {
			t.Fatal("the arguments changed, or all pairs count as a sample")
		}
	})
}

func genTexts(t *rapid.T, label string, least, most int) []string {
	word := rapid.SampledFrom([]string{"place", "order", "orders", "refund", "the", "ticket", "customer", "ship", "stock", "git", "邮件", ""})
	return rapid.SliceOfN(rapid.Map(rapid.SliceOfN(word, 0, 5), func(w []string) string { return strings.Join(w, " ") }), least, most).Draw(t, label)
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// Score is ScoreMatrix of the cosines of texts, whatever is excluded and held out; another embedding batch changes nothing, and a
// description that is a task text has the largest specificity.
func TestScoreMatchesOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts, desc := genTexts(t, "tasks", 1, 10), genTexts(t, "skills", 0, 5)
		desc = append(desc, texts[0])
		id := rapid.SampledFrom([]string{"", "t1", "t2", "t3"})
		group := rapid.SampledFrom([]string{"", "g1", "g2"})
		tasks := Tasks(texts...)
		for j := range tasks {
			tasks[j].ID, tasks[j].Group = id.Draw(t, "ID"), group.Draw(t, "group")
		}
		skills := documents(desc...)
		var from [][]Origin
		for _, s := range skills {
			var o []Origin
			for range rapid.IntRange(0, 2).Draw(t, "origins") {
				o = append(o, Origin{Task: id.Draw(t, "origin"), Group: group.Draw(t, "group of origin")})
			}
			from = append(from, o)
			withOrigins(s, o...)
		}
		so := ScoreOptions{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Temperature: rapid.Float64Range(0.01, 2).Draw(t, "temperature"), Embedder: HashEmbedder{Dim: 128},
			HoldOut: rapid.SampledFrom([]HoldOut{HoldOutTask, HoldOutGroup, HoldOutNone}).Draw(t, "hold out"), ExcludeSources: rapid.Bool().Draw(t, "sources"),
			DedupTasks: rapid.Bool().Draw(t, "dedup"), Exclude: mask(t, "excluded", len(skills), len(tasks)),
		}
		rep, err := Score(context.Background(), skills, tasks, &so)
		if err != nil {
			t.Fatal(err)
		}

		// The tasks scored against, as sets of places in the argument.
		var sets [][]int
		for j, x := range texts {
			k := slices.IndexFunc(sets, func(set []int) bool { return texts[set[0]] == x })
			if k < 0 || !so.DedupTasks {
				sets = append(sets, []int{j})
			} else {
				sets[k] = append(sets[k], j)
			}
		}
		source := func(i, j int, groups bool) bool {
			for _, o := range from[i] {
				if o.Task != "" && o.Task == tasks[j].ID || groups && o.Group != "" && o.Group == tasks[j].Group {
					return true
				}
				for _, other := range tasks { // of the group of a task that it was made from
					if groups && o.Task != "" && other.ID == o.Task && other.Group != "" && other.Group == tasks[j].Group {
						return true
					}
				}
			}
			return false
		}
		anyOf := func(k int, f func(j int) bool) bool { return slices.ContainsFunc(sets[k], f) }
		o := oracle{kind: so.Kind, temperature: so.Temperature, minSim: 0.3,
			excluded: func(i, k int) bool {
				return anyOf(k, func(j int) bool { return so.Exclude(i, j) || so.ExcludeSources && source(i, j, false) })
			},
			heldOut: func(i, k int) bool {
				return so.HoldOut != HoldOutNone && anyOf(k, func(j int) bool { return source(i, j, so.HoldOut == HoldOutGroup) })
			}}
		tv, _ := so.Embedder.Embed(context.Background(), texts)
		sv, _ := so.Embedder.Embed(context.Background(), desc)
		for i := range skills {
			var row []float64
			for _, set := range sets {
				row = append(row, dot(sv[i], tv[set[0]]))
			}
			o.sims = append(o.sims, row)
		}
		pv, _ := so.Embedder.Embed(context.Background(), placeboTexts[:])
		for _, v := range pv {
			var row []float64
			for _, set := range sets {
				row = append(row, dot(v, tv[set[0]]))
			}
			o.offTopic = append(o.offTopic, row)
		}
		o.pairs = [][]float64{nil}
		for a := range sets {
			for _, b := range sets[a+1:] {
				o.pairs[0] = append(o.pairs[0], dot(tv[sets[a][0]], tv[b[0]]))
			}
		}
		o.check(t, rep)
		for i, s := range rep.Skills {
			if s.EmptyText != (dot(sv[i], sv[i]) == 0) || s.Name != skills[i].Name() {
				t.Fatalf("skill %d: %+v", i, s)
			}
			if s.Nearest >= 0 && (!near(dot(sv[i], tv[s.Nearest]), s.MaxSim, 1e-12) || so.DedupTasks && slices.Index(texts, texts[s.Nearest]) != s.Nearest) {
				t.Fatalf("skill %d: the nearest task is not %d: %+v", i, s.Nearest, s)
			}
		}

		plain := ScoreOptions{Kind: KindPaper, Embedder: so.Embedder}
		rep, err = Score(context.Background(), skills, tasks, &plain)
		if err != nil {
			t.Fatal(err)
		}
		if last := rep.Skills[len(desc)-1]; last.Specificity != 1 && !last.EmptyText && last.Defined {
			t.Fatalf("a copy of a task has specificity %g", last.Specificity)
		}
		// Alone, and with the tasks in another order.
		order := rand.New(rand.NewPCG(1, uint64(len(tasks)))).Perm(len(tasks))
		shuffled := make([]Task, len(tasks))
		for i, j := range order {
			shuffled[i] = tasks[j]
		}
		one, err := Score(context.Background(), skills[:1], shuffled, &plain)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(rep.Skills[0], one.Skills[0], approx, cmpopts.IgnoreFields(SkillScore{}, "Nearest")); diff != "" {
			t.Fatalf("alone and with shuffled tasks (-want +got):\n%s", diff)
		}
	})
}

// mustScore scores a matrix that is known to be right.
func mustScore(t *rapid.T, sims [][]float64, pairs []float64, o ScoreOptions) *Report {
	rep, err := ScoreMatrix(sims, pairs, &o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// replicate copies every task k times: the copies of a task have a cosine of 1.
func replicate(sims [][]float64, pairs []float64, k int) ([][]float64, []float64) {
	n := len(sims[0])
	var rows [][]float64
	for _, r := range sims {
		rows = append(rows, slices.Repeat(r, k))
	}
	var all []float64
	for _, p := range pairs {
		all = append(all, slices.Repeat([]float64{p}, k*k)...)
	}
	return rows, append(all, slices.Repeat([]float64{1}, n*k*(k-1)/2)...)
}

// Adding a constant keeps the paper's abstractness, equal similarities make it 1, a higher temperature never lowers it, and a larger
// maximum never lowers specificity.
func TestPaperLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "n")
		c := rapid.SliceOfN(rapid.Float64Range(-0.5, 0.5), n, n).Draw(t, "c")
		pairs := rapid.SliceOfN(genCosine(), n*(n-1)/2, n*(n-1)/2).Draw(t, "pairs")
		shift := rapid.Float64Range(0, 0.5).Draw(t, "shift")
		t1 := rapid.Float64Range(0.001, 1).Draw(t, "temperature")
		t2 := t1 * rapid.Float64Range(1, 10).Draw(t, "factor")
		score := func(c []float64, temp float64) SkillScore {
			return mustScore(t, [][]float64{c}, pairs, ScoreOptions{Temperature: temp}).Skills[0]
		}
		up := slices.Clone(c)
		for i := range up {
			up[i] += shift
		}
		a, b, w := score(c, t1), score(up, t1), score(c, t2)
		if !near(a.Abstractness, b.Abstractness, 1e-9) {
			t.Fatalf("abstractness %g, shifted %g", a.Abstractness, b.Abstractness)
		}
		if b.Specificity < a.Specificity {
			t.Fatalf("specificity fell from %g to %g", a.Specificity, b.Specificity)
		}
		if w.Abstractness < a.Abstractness-1e-9 {
			t.Fatalf("abstractness fell from %g to %g as the temperature rose", a.Abstractness, w.Abstractness)
		}
		if e := score(slices.Repeat(c[:1], n), t1); !near(e.Abstractness, 1, 1e-12) {
			t.Fatalf("equal similarities: abstractness %g", e.Abstractness)
		}
	})
}

// Copying all N tasks k times keeps every number but the paper's specificity, which, if below 1 and no two tasks are the same, becomes
// old·k(N-1)/(kN-1).
func TestReplicationLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(2, 7).Draw(t, "tasks"), rapid.IntRange(2, 4).Draw(t, "copies")
		below := rapid.Map(genCosine(), func(x float64) float64 { return min(x, 0.99) })
		sims := rapid.SliceOfN(rapid.SliceOfN(below, n, n), 1, 4).Draw(t, "sims")
		pairs := rapid.SliceOfN(below, n*(n-1)/2, n*(n-1)/2).Draw(t, "pairs")
		rows, all := replicate(sims, pairs, k)
		for _, kind := range kinds {
			old, now := mustScore(t, sims, pairs, ScoreOptions{Kind: kind}), mustScore(t, rows, all, ScoreOptions{Kind: kind})
			want := slices.Clone(old.Skills)
			if kind == KindPaper {
				for i := range want {
					want[i].Specificity *= float64(k*(n-1)) / float64(k*n-1)
					want[i].finish()
				}
			}
			if diff := gocmp.Diff(want, now.Skills, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
				t.Fatalf("%v, %d copies (-want +got):\n%s", kind, k, diff)
			}
			ignore := cmpopts.IgnoreFields(MemoryScore{}, "Best")
			if diff := gocmp.Diff(old.Memory, now.Memory, cmpopts.EquateApprox(1e-9, 1e-9), ignore); diff != "" {
				t.Fatalf("memory, %d copies (-want +got):\n%s", k, diff)
			}
		}
	})
}

// Scaling the similarities and the floor scales the specificity of our kinds and of the memory and keeps abstractness.
func TestScalingLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sims, pairs := genMatrix(t)
		a := math.Ldexp(1, -rapid.IntRange(1, 10).Draw(t, "exponent")) // a power of 2: products are exact
		floor := rapid.Float64Range(0, 0.5).Draw(t, "floor")
		scaled := make([][]float64, len(sims))
		for i, r := range sims {
			for _, x := range r {
				scaled[i] = append(scaled[i], a*x)
			}
		}
		for _, o := range []ScoreOptions{{Kind: KindSimple}, {Kind: KindNoiseFloored}, {Kind: KindNoiseFloored, NoiseFloor: &floor}} {
			small := o
			if o.NoiseFloor != nil {
				small.NoiseFloor = new(a * floor)
			}
			want, got := mustScore(t, sims, pairs, o), mustScore(t, scaled, pairs, small)
			for i := range want.Skills {
				s := &want.Skills[i]
				s.MaxSim, s.Specificity, s.Utility = a*s.MaxSim, a*s.Specificity, a*s.Utility
			}
			m := &want.Memory
			m.Specificity, m.Utility = a*m.Specificity, a*m.Utility
			if diff := gocmp.Diff(want.Skills, got.Skills, approx, cmpopts.IgnoreFields(SkillScore{}, "Retrievable", "Gated")); diff != "" {
				t.Fatalf("%v, scaled by %g (-want +got):\n%s", o.Kind, a, diff)
			}
			if diff := gocmp.Diff(want.Memory, got.Memory, approx, cmpopts.IgnoreFields(MemoryScore{}, "Best", "Covered")); diff != "" {
				t.Fatalf("memory, scaled by %g (-want +got):\n%s", a, diff)
			}
		}
	})
}

// The specificity of a memory never falls as a skill is added, adds less to a larger memory, and is that of the set: a copy of a skill
// changes nothing.
func TestMemoryLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "tasks")
		sims := rapid.SliceOfN(rapid.SliceOfN(genCosine(), n, n), 3, 7).Draw(t, "sims")
		small := rapid.IntRange(1, len(sims)-2).Draw(t, "size of the small memory")
		added := sims[len(sims)-1]
		pairs := make([]float64, n*(n-1)/2)
		spec := func(sims [][]float64) float64 { return mustScore(t, sims, pairs, ScoreOptions{}).Memory.Specificity }
		with := func(k int) [][]float64 { return append(slices.Clone(sims[:k]), added) }
		large := len(sims) - 1
		gain, later := spec(with(small))-spec(sims[:small]), spec(with(large))-spec(sims[:large])
		if later < -1e-12 || gain < later-1e-12 {
			t.Fatalf("a skill adds %g to %d skills and %g to %d", gain, small, later, large)
		}
		twice := append(slices.Clone(sims), sims[rapid.IntRange(0, large).Draw(t, "copied")])
		if diff := gocmp.Diff(mustScore(t, sims, pairs, ScoreOptions{}).Memory, mustScore(t, twice, pairs, ScoreOptions{}).Memory); diff != "" {
			t.Fatalf("a copy of a skill changed the memory (-without +with):\n%s", diff)
		}
	})
}

// Adding a task never lowers the largest similarity; adding a skill changes no other under the paper's kind, the simple one and a given
// floor; permuting skills permutes the scores.
func TestAddingAndPermuting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks, desc := genTexts(t, "tasks", 3, 8), genTexts(t, "skills", 2, 6)
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		o := &ScoreOptions{Kind: kind, NoiseFloor: new(0.1), Embedder: HashEmbedder{Dim: 128}}
		score := func(desc, tasks []string) []SkillScore {
			skills := make([]Skill, len(desc))
			for i, d := range desc {
				skills[i] = &Document{Frontmatter: Frontmatter{Name: "same", Description: d}}
			}
			rep, err := Score(context.Background(), skills, Tasks(tasks...), o)
			if err != nil {
				t.Fatal(err)
			}
			return rep.Skills
		}
		all := score(desc, tasks)
		for i, s := range score(desc, tasks[1:]) {
			if s.MaxSim > all[i].MaxSim {
				t.Fatalf("a task more lowered the largest similarity from %g to %g", s.MaxSim, all[i].MaxSim)
			}
		}
		if diff := gocmp.Diff(all[1:], score(desc[1:], tasks)); diff != "" {
			t.Fatalf("a skill more changed others (-with +without):\n%s", diff)
		}
		order := rapid.Permutation(seq(len(desc))).Draw(t, "order")
		var moved []string
		var want []SkillScore
		for _, i := range order {
			moved, want = append(moved, desc[i]), append(want, all[i])
		}
		if diff := gocmp.Diff(want, score(moved, tasks)); diff != "" {
			t.Fatalf("permuted skills (-want +got):\n%s", diff)
		}
	})
}

func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

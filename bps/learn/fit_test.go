package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// x8 is the pool of worked example X1 with the ceiling of X8: skill i is named by its digit.
func x8(form Form, base float64) *Model {
	return &Model{
		form: form, dim: 2, base: []float64{base},
		skills: rows{
			kind: "skill", names: []string{"0", "1", "2", "3"}, number: index([]string{"0", "1", "2", "3"}),
			row: [][]float64{{1.5, 0}, {0, 1}, {1, 0.5}, {2, 0}},
		},
		queries: rows{kind: "query", names: []string{"q"}, number: map[string]int{"q": 0}, row: [][]float64{{2, 1}}},
	}
}

func TestWorkedProbabilities(t *testing.T) {
	ceiling, offset := x8(Ceiling, math.Log(0.9)), x8(Offset, -3.105360516)
	for _, tt := range []struct {
		name   string
		m      *Model
		set    []string
		z, p   float64
		reason string
	}{
		{"nothing", ceiling, nil, -3.105360516, 0.044808362, "X8"},
		{"one", ceiling, []string{"0"}, -1.551620836, 0.211904233, "X8"},
		{"both", ceiling, []string{"0", "1"}, -0.919500277, 0.398718240, "X8"},
		{"offset form", offset, []string{"1", "0"}, -0.919500277, 0.398718240, "X8: -3.105360516 + 2.185860239"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		p, err := tt.m.Predict("q", tt.set, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]float64{tt.z, tt.p}, []float64{math.Log(p), p}, cmpopts.EquateApprox(0, 2e-9)); diff != "" {
			t.Errorf("%s: z, p (-want +got):\n%s", tt.name, diff)
		}
	}
}

// X8, for the set {0,1}: losses, and the derivatives of the loss of a failure.
func TestWorkedDerivatives(t *testing.T) {
	const z = -0.919500277
	got := []float64{passLoss(z), passSlope(z), failLoss(z), failSlope(z)}
	if diff := cmp.Diff([]float64{0.919500277, -1, 0.508691636, 0.663113812}, got, cmpopts.EquateApprox(0, 2e-9)); diff != "" {
		t.Errorf("losses and slopes (-want +got):\n%s", diff)
	}

	p := &point{dim: 2, demand: []float64{2, 1}, base: []float64{math.Log(0.9)}}
	for _, u := range []float64{1.5, 0, 0, 1} {
		p.remain = append(p.remain, math.Exp(-u))
	}
	s := newSlope(p)
	p.sum(group([]run{{0, []int32{0, 1}, 100, false}}), 0, 1, want{true, true}, s)
	unit := 0.663113812
	got = []float64{s.loss, s.base[0] / unit, s.demand[0] / unit, s.demand[1] / unit, s.supply[0] / unit, s.supply[1] / unit,
		s.supply[2] / unit, s.supply[3] / unit, s.kappa / unit}
	expected := []float64{0.508691636, 1, -0.223130160, -0.367879441, 0.446260320, 0.367879441, 0.446260320, 0.367879441, -100}
	if diff := cmp.Diff(expected, got, cmpopts.EquateApprox(1e-8, 1e-9)); diff != "" {
		t.Errorf("loss and dz (-want +got):\n%s", diff)
	}
}

// The loss of a failure is continuous with a continuous slope where it becomes a line, and that of a pass is constant where z is cut off.
func TestLossesAtTheEdge(t *testing.T) {
	below := steepZ * (1 + 1e-12)
	if diff := cmp.Diff([]float64{failLoss(steepZ), failSlope(steepZ)}, []float64{failLoss(below), failSlope(below)},
		cmpopts.EquateApprox(1e-8, 0)); diff != "" {
		t.Errorf("at steepZ (-line +curve):\n%s", diff)
	}
	for _, tt := range []struct {
		name      string
		got, want float64
		reason    string
	}{
		{"loss of a pass at 3", passLoss(3), 1e-6, "cut off at -1e-6"},
		{"slope of a pass at 3", passSlope(3), 0, "constant"},
		{"slope of a failure at 3", failSlope(3), 1e3, "the line"},
		{"loss of a failure at -800", failLoss(-800), 0, "e^-800 underflows"},
		{"slope of a failure at -800", failSlope(-800), 0, "e^-800 underflows"},
		{"slope of a failure at ln 0.5", failSlope(-math.Ln2), 1, "p/(1-p)"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		if math.Abs(tt.got-tt.want) > 1e-12 {
			t.Errorf("%s is %v, want %v (%s)", tt.name, tt.got, tt.want, tt.reason)
		}
	}
}

// sparse returns random features of n names.
func sparse(rng *rand.Rand, n, width int) Features {
	rows := map[string][]float64{}
	for i := range n {
		row := make([]float64, width)
		for j := range row {
			if rng.Float64() < 0.5 {
				row[j] = 5 * rng.Float64()
			}
		}
		rows[fmt.Sprint(i)] = row
	}
	return func(name string) []float64 { return rows[name] }
}

func randomRecords(rng *rand.Rand, n, skills, queries int) []Record {
	records := make([]Record, n)
	for i := range records {
		var set []string
		for _, s := range rng.Perm(skills)[:rng.IntN(min(4, skills+1))] {
			set = append(set, fmt.Sprint(s))
		}
		records[i] = Record{fmt.Sprint(rng.IntN(queries)), set, rng.IntN(2000), rng.Float64() < 0.5}
	}
	records[0].Pass, records[1].Pass = true, false
	return records
}

// The gradient is that of the objective: equal to central differences, for all parameters of both forms, with rows and with maps, also
// where z is cut off. The seeds are fixed, since no gradient exists in the single points where it is.
func TestGradient(t *testing.T) {
	cut, groups := 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		form := Form(seed % 2)
		records := randomRecords(rng, 30, 4, 3)
		runs, skills, queries, err := enumerate(records)
		if err != nil {
			t.Fatal(err)
		}
		var skillFeatures, queryFeatures *features
		if seed/2%2 == 1 {
			skillFeatures, _ = tabulate("skill", skills, sparse(rng, 4, 6))
		}
		if seed/4%2 == 1 {
			queryFeatures, _ = tabulate("query", queries, sparse(rng, 3, 5))
		}
		o, err := (&Options{Form: form, Dim: 3, L1: new(0.01)}).fill()
		if err != nil {
			t.Fatal(err)
		}
		tr := newTrainer(o, len(skills), len(queries), skillFeatures, queryFeatures, rng)
		for i := range tr.theta {
			tr.theta[i] += rng.NormFloat64()
		}
		for i := range tr.baseParam {
			tr.baseParam[i] = 3 * rng.NormFloat64()
		}
		tr.kappaParam[0] = 2 * rng.NormFloat64()
		data := group(runs)
		objective := func() float64 {
			tr.forward()
			s := newSlope(&tr.p)
			tr.p.sum(data, 0, len(data.query), want{loss: true}, s)
			return s.loss/data.records + tr.l1Skill*tr.skill.l1() + tr.l1Query*tr.query.l1()
		}
		objective()
		s := newSlope(&tr.p)
		tr.p.sum(data, 0, len(data.query), want{slope: true}, s)
		tr.backward(s, data.records)
		for i, x := range tr.theta {
			const h = 1e-6
			tr.theta[i] = x + h
			up := objective()
			tr.theta[i] = x - h
			down := objective()
			tr.theta[i] = x
			want := (up - down) / (2 * h)
			if got := tr.der[i]; math.Abs(got-want) > 1e-5*max(1, math.Abs(want)) {
				t.Errorf("seed %d, parameter %d of %d: derivative %v, want %v", seed, i, len(tr.theta), got, want)
			}
		}
		objective()
		for g, q := range data.query {
			z := tr.p.base[q] - tr.p.kappa*data.tokens[g]
			for k := range 3 {
				left := tr.p.demand[int(q)*3+k]
				for _, i := range data.member[data.start[g]:data.start[g+1]] {
					left *= tr.p.remain[int(i)*3+k]
				}
				z -= left
			}
			if groups++; z > maxZ {
				cut++
			}
		}
	}
	if cut == 0 || cut == groups {
		t.Errorf("z is cut off in %d of %d groups: want some and not all", cut, groups)
	}
}

// slowLoss is the definition of the mean loss of a model, record by record.
func slowLoss(t *testing.T, m *Model, records []Record) float64 {
	sum := 0.0
	for _, r := range records {
		p, err := m.Predict(r.Query, r.Skills, r.Tokens)
		if err != nil {
			t.Fatal(err)
		}
		if r.Pass {
			sum -= math.Log(p)
		} else {
			sum -= math.Log1p(-p)
		}
	}
	return sum / float64(len(records))
}

// The training loss does not rise: its mean over each tenth of the steps is not above that over the tenth before, up to 1e-3, which leaves
// room for what L1 asks for and for the noise of large steps. Its last value agrees with the predictions of the model.
func TestLossDoesNotRise(t *testing.T) {
	for _, form := range []Form{Ceiling, Offset} {
		for seed := range uint64(3) {
			records := newWorld(seed + 1).records(1000)
			var losses []float64
			m, err := Fit(context.Background(), records, &Options{Form: form, Seed: seed, Progress: func(p Progress) {
				if p.Epoch != len(losses) || p.Epochs != 600 || p.Validation != 0 {
					t.Errorf("progress %+v after %d others", p, len(losses))
				}
				losses = append(losses, p.Loss)
			}})
			if err != nil {
				t.Fatal(err)
			}
			before := math.Inf(1)
			for part := range slices.Chunk(losses, 60) {
				mean := 0.0
				for _, l := range part {
					mean += l / float64(len(part))
				}
				if mean > before+1e-3 {
					t.Errorf("form %d, seed %d: the mean loss rises from %v to %v", form, seed, before, mean)
				}
				before = mean
			}
			if got, want := losses[len(losses)-1], slowLoss(t, m, records); math.Abs(got-want) > 1e-3 {
				t.Errorf("form %d, seed %d: the last loss is %v, that of the model %v", form, seed, got, want)
			}
		}
	}
}

func save(t testing.TB, m *Model) string {
	t.Helper()
	var buf bytes.Buffer
	if err := m.Save(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// Equal arguments give equal bytes for any number of workers, and other seeds other bytes. Without a validation part the order of the
// records and that of the skills in them do not matter.
func TestDeterminism(t *testing.T) {
	w := newWorld(1)
	records := w.records(7000) // more than two chunks
	fit := func(records []Record, o Options) string {
		o.Epochs = 10
		m, err := Fit(context.Background(), records, &o)
		if err != nil {
			t.Fatal(err)
		}
		return save(t, m)
	}
	want := fit(records, Options{Seed: 1, Validation: 0.3})
	for workers := range 6 {
		if fit(records, Options{Seed: 1, Validation: 0.3, Workers: workers}) != want {
			t.Errorf("%d workers change the model", workers)
		}
	}
	if fit(records, Options{Seed: 2, Validation: 0.3}) == want {
		t.Error("another seed gives the same model")
	}
	plain := fit(records, Options{Seed: 1})
	if plain == want {
		t.Error("a validation part does not change the model")
	}
	shuffled := slices.Clone(records)
	w.rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for i, r := range shuffled {
		set := slices.Clone(r.Skills)
		slices.Reverse(set)
		shuffled[i].Skills = set
	}
	if fit(shuffled, Options{Seed: 1}) != plain {
		t.Error("the order of the records changes the model")
	}
}

// A fit with a validation part keeps the step of the smallest validation loss, and ends early when that does not fall.
func TestValidation(t *testing.T) {
	records := newWorld(1).records(500)
	best, steps := math.Inf(1), 0
	m, err := Fit(context.Background(), records, &Options{Seed: 3, Validation: 0.2, Patience: 20, Progress: func(p Progress) {
		best = min(best, p.Validation)
		steps++
	}})
	if err != nil {
		t.Fatal(err)
	}
	if steps >= 600 || steps < 40 {
		t.Errorf("%d steps, want less than 600: 500 records are soon learned by heart", steps)
	}
	runs, _, _, err := enumerate(records)
	if err != nil {
		t.Fatal(err)
	}
	_, held := split(runs, 0.2, rand.New(rand.NewPCG(3, 0)))
	var part []Record
	for _, r := range held {
		var set []string
		for _, i := range r.skills {
			set = append(set, m.skills.names[i])
		}
		part = append(part, Record{m.queries.names[r.query], set, r.tokens, r.pass})
	}
	if got := slowLoss(t, m, part); math.Abs(got-best) > 1e-9 {
		t.Errorf("the model has a validation loss of %v, the best step had %v", got, best)
	}
	if _, other := split(runs, 0.2, rand.New(rand.NewPCG(4, 0))); cmp.Equal(held, other, cmp.AllowUnexported(run{})) {
		t.Error("another seed holds out the same records")
	}
	passes := 0
	for _, r := range held {
		if r.pass {
			passes++
		}
	}
	all := 0
	for _, r := range records {
		if r.Pass {
			all++
		}
	}
	if want := all / 5; passes != want || len(held)-passes != (500-all)/5 {
		t.Errorf("%d passes of %d are held out, want %d of %d", passes, len(held), want, all/5+(500-all)/5)
	}
}

func TestKappa(t *testing.T) {
	records := newWorld(1).records(300)
	m, err := Fit(context.Background(), records, &Options{Epochs: 5, Kappa: new(0.25)})
	if err != nil || m.PenaltyPerToken() != 0.25 {
		t.Errorf("PenaltyPerToken = %v, %v, want what was fixed, 0.25", m.PenaltyPerToken(), err)
	}
	m, err = Fit(context.Background(), records, &Options{Epochs: 5})
	if k := m.PenaltyPerToken(); err != nil || !(k > 0 && k < 1e-3) {
		t.Errorf("PenaltyPerToken = %v, %v, want a small positive number", k, err)
	}
	// Runs that differ in their tokens only, at a true price of ln(2)/1000.
	records = nil
	for range 20 {
		records = append(records, Record{"q", nil, 0, true}, Record{"q", nil, 1000, true}, Record{"q", nil, 1000, false})
	}
	if m, err = Fit(context.Background(), records, &Options{Dim: 1, L1: new(0.0)}); err != nil {
		t.Fatal(err)
	}
	if k := m.PenaltyPerToken(); math.Abs(k-math.Ln2/1000) > 2e-5 {
		t.Errorf("PenaltyPerToken = %v, want %v", k, math.Ln2/1000)
	}
}

func TestFitRefuses(t *testing.T) {
	pass := Record{"q", []string{"a", "b"}, 10, true}
	fail := Record{"q", []string{"a"}, 5, false}
	good := []Record{pass, fail}
	row := func(x ...float64) Features { return func(string) []float64 { return x } }
	for _, tt := range []struct {
		name    string
		records []Record
		o       *Options
		want    error
		text    string
		reason  string
	}{
		{"empty", nil, nil, ErrRecords, "0 of 0", "nothing to learn from"},
		{"only passes", []Record{pass, pass}, nil, ErrRecords, "2 of 2", "any z near 0 explains them"},
		{"only failures", []Record{fail}, nil, ErrRecords, "0 of 1", "any low z explains them"},
		{"duplicate", []Record{fail, {"q", []string{"a", "b", "a"}, 1, true}}, nil, ErrRecords, `records[1] has skill "a" twice`, "a set"},
		{"negative tokens", []Record{pass, {"q", nil, -1, false}}, nil, ErrRecords, "records[1] has -1 tokens", "a count"},
		{"query bytes", []Record{pass, {"\xff", nil, 1, false}}, nil, ErrRecords, `query "\xff"`, "JSON cannot hold it"},
		{"skill bytes", []Record{pass, {"q", []string{"\xff"}, 1, false}}, nil, ErrRecords, `skill "\xff"`, "JSON cannot hold it"},
		{"NaN feature", good, &Options{SkillFeatures: row(1, math.NaN())}, ErrFeatures, `feature 1 of skill "a" is NaN`, "no number"},
		{"negative feature", good, &Options{QueryFeatures: row(-1)}, ErrFeatures, `feature 0 of query "q" is -1`, "so would supplies be"},
		{"infinite feature", good, &Options{QueryFeatures: row(math.Inf(1))}, ErrFeatures, "is +Inf", "no number"},
		{"no features", good, &Options{QueryFeatures: row()}, ErrFeatures, `query "q" is in the records and has none`, "the map needs some"},
		{"ragged", good, &Options{SkillFeatures: func(n string) []float64 { return make([]float64, 2+len(n)*int(n[0]-'a')) }}, ErrFeatures,
			`skill "b" has 3, want 2`, "one map for all"},
		{"dim", good, &Options{Dim: 65}, nil, "Options.Dim is 65", "limit"},
		{"negative", good, &Options{Epochs: -1, Patience: -1, Workers: -1}, nil, "Options.Workers is -1", "all faults are joined"},
		{"rate", good, &Options{LearningRate: math.NaN()}, nil, "LearningRate is NaN", "no number"},
		{"validation", good, &Options{Validation: 1}, nil, "Validation is 1", "nothing would be left"},
		{"L1", good, &Options{L1: new(-1.0)}, nil, "L1 is -1", "the objective would have no minimum"},
		{"kappa", good, &Options{Kappa: new(math.Inf(1))}, nil, "Kappa is +Inf", "no number"},
		{"form", good, &Options{Form: 2}, nil, "Form is 2", "there are two"},
		{"rows", good, &Options{SkillRows: true}, nil, "SkillRows is true", "it would change nothing"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		m, err := Fit(context.Background(), tt.records, tt.o)
		if m != nil || err == nil || !strings.Contains(err.Error(), tt.text) || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: Fit = %v, %v, want an error with %q", tt.name, m, err, tt.text)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "learn: ") {
			t.Errorf("%s: error %q does not start with the package", tt.name, err)
		}
	}
}

func TestFitCancelled(t *testing.T) {
	records := newWorld(1).records(100)
	ctx, cancel := context.WithCancelCause(context.Background())
	steps := 0
	m, err := Fit(ctx, records, &Options{Workers: 2, Progress: func(Progress) {
		if steps++; steps == 7 {
			cancel(nil)
		}
	}})
	if m != nil || !errors.Is(err, context.Canceled) || steps != 7 || !strings.Contains(err.Error(), "after 7 of at most 600 steps") {
		t.Errorf("Fit = %v, %v after %d steps, want no model, and the error of the context after 7", m, err, steps)
	}
}

// Numbers at their limits lead to finite models.
func TestFitExtremes(t *testing.T) {
	const most = math.MaxFloat64
	tiny := math.SmallestNonzeroFloat64
	row := func(name string) []float64 {
		return map[string][]float64{"a": {most, 0, tiny, 0}, "b": {tiny, most, 0, 0}, "q": {most, tiny, 0, 0}, "zero": {0, 0, 0, 0}}[name]
	}
	records := []Record{
		{"q", []string{"a", "b"}, math.MaxInt, true}, {"q", nil, math.MaxInt, true}, {"q", []string{"a"}, 0, false},
		{"zero", []string{"zero"}, 0, true}, {"zero", nil, 3, false},
	}
	for _, form := range []Form{Ceiling, Offset} {
		for _, rows := range []bool{false, true} {
			m, err := Fit(context.Background(), records, &Options{
				Form: form, LearningRate: 1, Epochs: 2000, Dim: 64, SkillFeatures: row, QueryFeatures: row, SkillRows: rows, Validation: 0.4,
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Load(strings.NewReader(save(t, m))); err != nil {
				t.Errorf("form %d, rows %t: the model cannot be loaded: %v", form, rows, err)
			}
			for _, r := range records {
				if p, err := m.Predict(r.Query, r.Skills, r.Tokens); err != nil || !(p > 0 && p < 1) {
					t.Errorf("form %d, rows %t: Predict(%v) = %v, %v", form, rows, r, p, err)
				}
			}
		}
	}
	// The smallest log there is, without skills.
	m, err := Fit(context.Background(), []Record{{"", nil, 0, true}, {"", nil, 0, false}}, &Options{SkillFeatures: row, SkillRows: true})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := m.Predict("", nil, 0); err != nil || math.Abs(p-0.5) > 0.02 {
		t.Errorf("Predict = %v, %v, want 0.5: one of two passed", p, err)
	}
	if _, err := m.Supply("a"); !errors.Is(err, ErrUnknown) {
		t.Errorf("Supply = %v, want ErrUnknown: there were no skills to learn a map from", err)
	}
}

// The benefit is the predicted gain in the logarithm of the probability, with zero price and below the cut-off.
func TestBenefitAgreesWithPredict(t *testing.T) {
	records := newWorld(2).records(500)
	for _, form := range []Form{Ceiling, Offset} {
		m, err := Fit(context.Background(), records, &Options{Form: form, Epochs: 50, Kappa: new(0.0)})
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			all := m.skills.names
			set := rapid.SliceOfNDistinct(rapid.IntRange(0, len(all)-1), 0, 5, rapid.ID).Draw(t, "set")
			slices.Sort(set)
			query := rapid.SampledFrom(m.queries.names).Draw(t, "query")
			b, err := m.Benefit(query, all)
			if err != nil {
				t.Fatal(err)
			}
			var chosen []string
			for _, i := range set {
				chosen = append(chosen, all[i])
			}
			with, err := m.Predict(query, chosen, 100)
			if err != nil {
				t.Fatal(err)
			}
			without, err := m.Predict(query, nil, 100)
			if err != nil {
				t.Fatal(err)
			}
			if !(with > 0 && with < 1) {
				t.Fatalf("p = %v, want it in (0, 1)", with)
			}
			if with == math.Exp(maxZ) {
				return
			}
			if got, want := b.Value(set), math.Log(with/without); math.Abs(got-want) > 1e-9*max(1, want) {
				t.Fatalf("benefit %v, want ln(%v/%v) = %v", got, with, without, want)
			}
		})
	}
}

func TestUnknownNames(t *testing.T) {
	records := []Record{{"q", []string{"a"}, 1, true}, {"q", nil, 0, false}}
	feature := func(name string) []float64 {
		return map[string][]float64{"a": {1, 0}, "q": {1, 1}, "new": {2, 5}, "bad": {1}, "negative": {1, -1}}[name]
	}
	plain, err := Fit(context.Background(), records, &Options{Epochs: 5})
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := Fit(context.Background(), records, &Options{Epochs: 5, SkillFeatures: feature, QueryFeatures: feature})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(strings.NewReader(save(t, mapped)))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		m      *Model
		arg    string
		want   error
		reason string
	}{
		{"no map", plain, "new", ErrUnknown, "a zero vector would say that it is useless"},
		{"features without a map", plain.WithFeatures(feature, feature), "new", ErrUnknown, "the fit had none"},
		{"map", mapped, "new", nil, "it has features"},
		{"no features", mapped, "other", ErrUnknown, "nil features"},
		{"short", mapped, "bad", ErrFeatures, "one feature of two"},
		{"negative", mapped, "negative", ErrFeatures, "features are not negative"},
		{"loaded", loaded, "new", ErrUnknown, "functions are not in the file"},
		{"loaded, with features", loaded.WithFeatures(feature, feature), "new", nil, "as before saving"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		_, e1 := tt.m.Supply(tt.arg)
		_, e2 := tt.m.Demand(tt.arg)
		_, e3 := tt.m.Predict("q", []string{tt.arg}, 0)
		_, e4 := tt.m.Predict(tt.arg, nil, 0)
		_, e5 := tt.m.Benefit("q", []string{tt.arg})
		_, e6 := tt.m.Benefit(tt.arg, nil)
		for i, err := range []error{e1, e2, e3, e4, e5, e6} {
			if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%q", tt.arg)) {
				t.Errorf("%s: call %d: %v, want %v", tt.name, i, err, tt.want)
			}
		}
	}
	// A name without a row reads differently for want of a map, of functions and of features.
	for _, tt := range []struct {
		name string
		err  func() error
		want string
	}{
		{"no map", func() error { _, err := plain.Supply("new"); return err }, `learn: unknown name: skill "new" was in no record`},
		{"no features", func() error { _, err := mapped.Supply("other"); return err },
			`learn: unknown name: skill "other" was in no record and has no features`},
		{"loaded", func() error { _, err := loaded.Predict("q", []string{"new"}, 0); return err },
			`learn: unknown name: skill "new" was in no record and the model has no skill features: WithFeatures gives it some`},
		{"loaded", func() error { _, err := loaded.Benefit("new", nil); return err },
			`learn: unknown name: query "new" was in no record and the model has no query features: WithFeatures gives it some`},
	} {
		if err := tt.err(); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	u, err := mapped.Supply("new")
	if err != nil {
		t.Fatal(err)
	}
	a, err := mapped.Supply("a")
	if err != nil {
		t.Fatal(err)
	}
	for k := range a {
		a[k] *= 2
	}
	if diff := cmp.Diff(a, u, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("supply of twice the only feature that the records have (-want +got):\n%s", diff)
	}
	if _, err := mapped.Predict("q", nil, -1); err == nil {
		t.Error("Predict with -1 tokens: no error")
	}
	got, err := loaded.Supply("a")
	if err != nil {
		t.Fatal(err)
	}
	got[0] = -1
	if again, _ := loaded.Supply("a"); again[0] == -1 {
		t.Error("Supply returns the row of the model itself")
	}
}

// A step allocates nothing with one worker.
func TestStepsDoNotAllocate(t *testing.T) {
	l := newLibrary(1)
	docs, tasks := l.add("", 20)
	records := l.records(300, docs, tasks)
	count := func(epochs int) float64 {
		return testing.AllocsPerRun(1, func() {
			if _, err := Fit(context.Background(), records, &Options{Epochs: epochs, QueryFeatures: l.features, Validation: 0.2}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := count(2), count(50); many > few+5 {
		t.Errorf("%v allocations in 2 steps, %v in 50", few, many)
	}
}

func TestRunsAreGrouped(t *testing.T) {
	got := group([]run{
		{1, []int32{0, 2}, 7, true}, {0, nil, 0, false}, {1, []int32{0, 2}, 7, false}, {1, []int32{0, 2}, 8, true}, {1, []int32{0, 2}, 7, true},
	})
	want := &outcomes{
		query: []int32{0, 1, 1}, start: []int{0, 0, 2, 4}, member: []int32{0, 2, 0, 2}, tokens: []float64{0, 7, 8},
		passes: []float64{0, 2, 1}, failed: []float64{1, 1, 0}, records: 5,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcomes{})); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// The chunks together are the whole, for any number of workers.
func TestChunksAddUp(t *testing.T) {
	runs, skills, queries, err := enumerate(newWorld(1).records(8000))
	if err != nil {
		t.Fatal(err)
	}
	o, err := (*Options)(nil).fill()
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrainer(o, len(skills), len(queries), nil, nil, rand.New(rand.NewPCG(1, 0)))
	tr.forward()
	data := group(runs)
	whole := newSlope(&tr.p)
	tr.p.sum(data, 0, len(data.query), want{true, true}, whole)
	for workers := range 4 {
		sums := newSummer(&tr.p, data, want{true, true}, workers)
		if len(sums.chunks) < 2 {
			t.Fatalf("%d chunks: the test needs more records", len(sums.chunks))
		}
		sums.sum()
		got := *sums.sum() // a second call starts from 0 again
		sums.stop()
		got.left = whole.left // scratch
		if diff := cmp.Diff(whole, &got, cmp.AllowUnexported(slope{}), cmpopts.EquateApprox(1e-10, 1e-9)); diff != "" {
			t.Errorf("%d workers (-whole +chunks):\n%s", workers, diff)
		}
	}
}

// By hand: the first step has the size of the rate whatever the derivative; a derivative that changes its sign slows the second one:
// (0.9*-0.2 + 0.1*2)/0.19 / 2 = 0.0526 of the rate.
func TestAdam(t *testing.T) {
	a := newAdam(2)
	param := []float64{1, 1}
	a.step(param, []float64{0.5, -2}, 0.1)
	first := slices.Clone(param)
	a.step(param, []float64{0.5, 2}, 0.1)
	want := [][]float64{{0.9, 1.1}, {0.8, 1.094736842}}
	if diff := cmp.Diff(want, [][]float64{first, param}, cmpopts.EquateApprox(0, 1e-7)); diff != "" {
		t.Errorf("parameters after each step (-want +got):\n%s", diff)
	}
}

// The last 30 % of the steps are smaller: a fit of 20 steps goes as one of 40 up to the fifteenth.
func TestLastStepsAreSmaller(t *testing.T) {
	losses := func(epochs int) (l []float64) {
		_, err := Fit(context.Background(), newWorld(1).records(200), &Options{Epochs: epochs, Progress: func(p Progress) {
			l = append(l, p.Loss)
		}})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	short, long := losses(20), losses(40)
	if !slices.Equal(short[:15], long[:15]) {
		t.Errorf("the first losses differ:\n%v\n%v", short[:15], long[:15])
	}
	if falls := (short[14] - short[15]) / (long[14] - long[15]); !(falls > 0 && falls < 0.5) {
		t.Errorf("the fifteenth step lowers the loss by %v of what a full step does, want about a fifth", falls)
	}
}

// The map of SkillRows is fitted to the demands, the ceilings and the price of the rows, which stay as they were.
func TestMapSkillsFixesTheRest(t *testing.T) {
	l := newLibrary(1)
	docs, tasks := l.add("", 20)
	runs, skills, queries, err := enumerate(l.records(200, docs, tasks))
	if err != nil {
		t.Fatal(err)
	}
	o, err := (&Options{Epochs: 5}).fill()
	if err != nil {
		t.Fatal(err)
	}
	f, err := tabulate("skill", skills, l.features)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	tr := newTrainer(o, len(skills), len(queries), nil, nil, rng)
	data, none := group(runs), group(nil)
	if err := tr.fit(context.Background(), data, none, o); err != nil {
		t.Fatal(err)
	}
	next := tr.mapSkills(o, f, rng)
	before := slices.Clone(next.theta)
	if err := next.fit(context.Background(), data, none, o); err != nil {
		t.Fatal(err)
	}
	n := next.skill.size()
	if slices.Equal(next.theta[:n], before[:n]) {
		t.Error("the map has not moved")
	}
	if !slices.Equal(next.theta[n:], before[n:]) || !slices.Equal(next.theta[n:], tr.theta[tr.skill.size():]) {
		t.Error("more than the map has moved")
	}
}

// The unit of a feature does not matter.
func TestFeatureUnits(t *testing.T) {
	l := newLibrary(1)
	docs, tasks := l.add("", 20)
	records := l.records(300, docs, tasks)
	scaled := func(name string) []float64 {
		x := l.features(name)
		for j := range x {
			x[j] = math.Ldexp(x[j], j%40-20)
		}
		return x
	}
	var p [2]float64
	for i, f := range []Features{l.features, scaled} {
		m, err := Fit(context.Background(), records, &Options{Epochs: 20, SkillFeatures: f, QueryFeatures: f})
		if err != nil {
			t.Fatal(err)
		}
		l.texts["task"], l.texts["doc"] = l.texts[tasks[3]]+" filler1", l.texts[docs[2]]+" rule1-1"
		if p[i], err = m.Predict("task", []string{docs[1], "doc"}, 10); err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(p[0]-p[1]) > 1e-12 {
		t.Errorf("probability %v in one unit, %v in others", p[0], p[1])
	}
}

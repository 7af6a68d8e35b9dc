package coevolve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/plr"
)

// Items that are mastered or hopeless twice in a row are retired, and what is retired makes room for others.
func TestRetire(t *testing.T) {
	for _, tt := range []struct {
		cut    []float64 // chance on the item in each round
		want   []string  // in each round from 1: "+" accepted, "-" retired, with the misses of what was measured
		reason string
	}{
		{[]float64{0.5, 1, 1, 1}, []string{"+", "1", "2-+", "1"}, "mastered: measured in rounds 2 and 3"},
		{[]float64{0.5, 0, 0, 0}, []string{"+", "1", "2-+", "1"}, "hopeless"},
		{[]float64{1, 1, 1}, []string{"+", "1", "2-+"}, "the round in which it was accepted does not count"},
		{[]float64{0.5, 1, 0, 0}, []string{"+", "1", "2-+", "1"}, "mastered and then forgotten is outside twice as well"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		var s []skills
		for _, c := range tt.cut {
			s = append(s, skills{Plain: 1, Cut: c})
		}
		rounds := collect(t, toy(1, 1, s...), &Options{Rig: cutting(), Rounds: len(tt.want), Draws: 2})
		for i, want := range tt.want {
			r := rounds[i+1]
			var got strings.Builder
			for _, m := range r.Measured {
				got.WriteString(fmt.Sprint(m.Misses))
			}
			got.WriteString(strings.Repeat("-", len(r.Retired)))
			if r.Report != nil {
				got.WriteString(strings.Repeat("+", len(r.Report.Items)))
			}
			if got.String() != want {
				t.Errorf("%s: round %d: %s, want %s", tt.reason, i+1, got.String(), want)
			}
			if len(r.Items) != 1 {
				t.Errorf("%s: round %d: %d items in the pool", tt.reason, i+1, len(r.Items))
			}
		}
	}
}

// One that comes back between two misses is kept. Rates that are drawn are read off the measurements.
func TestMissesInARow(t *testing.T) {
	p := toy(3, 1, skills{1, 0.8, 0})
	var misses = map[string]int{}
	back, retired := 0, 0
	for _, r := range collect(t, p, &Options{Rig: cutting(), Rounds: 12, Draws: 1, Measure: 3}) {
		for _, m := range r.Measured {
			key := m.Task + m.Hash
			if rate := m.Counts.Rate(); rate < 0.1 || rate > 0.9 {
				misses[key]++
			} else {
				if misses[key] == 1 {
					back++
				}
				misses[key] = 0
			}
			if m.Misses != misses[key] || m.Counts.Valid != 3 {
				t.Fatalf("round %d: %+v, want %d misses", r.Number, m, misses[key])
			}
			isRetired := slices.ContainsFunc(r.Retired, func(i rigger.Item) bool { return i.Task.ID == m.Task })
			if isRetired != (misses[key] == 2) {
				t.Fatalf("round %d: retired %v after %d misses", r.Number, isRetired, misses[key])
			}
			if isRetired {
				retired++
				misses[key] = 0
			}
		}
	}
	if back == 0 || retired == 0 {
		t.Fatalf("the seed shows nothing: %d came back, %d were retired", back, retired)
	}
}

// Measurements that say too little change nothing.
func TestInvalidMeasurements(t *testing.T) {
	p := toy(1, 1, skills{1, 1, 0})
	fine := p.Rig.NewPolicy
	broken := Policy{Fingerprint: "broken", New: func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		if task.ID == p.Rig.Tasks[0].ID {
			return nil, errors.New("out of service")
		}
		return fine(task, rng)
	}}
	p.Train = func(_ context.Context, b Batch) (Policy, error) {
		next := broken
		next.Fingerprint += fmt.Sprint(b.Round)
		return next, nil
	}
	o := &Options{Rig: cutting(), Rounds: 4, Draws: 1}
	o.Rig.Rollout.Reruns = new(0)
	for _, r := range collect(t, p, o) {
		for _, m := range r.Measured {
			if m.Counts.Valid != 0 || m.Misses != 0 || len(r.Retired) != 0 {
				t.Errorf("round %d: %+v: rollouts that could not be judged count for nothing", r.Number, m)
			}
		}
	}
}

// At least the share asked for is unmodified, and no more than the rounding up to a whole draw needs.
func TestMix(t *testing.T) {
	for _, tt := range []struct {
		draws  int
		mix    *float64
		items  bool
		want   int // unmodified
		reason string
	}{
		{10, nil, true, 3, "0.3 of 10"},
		{64, nil, true, 20, "0.3 of 64 is 19.2: 20"},
		{1, nil, true, 1, "rounded up"},
		{100, new(0.07), true, 7, "0.07*100 is 7.000000000000001"},
		{10, new(0.0), true, 0, "none"},
		{10, new(1.0), true, 10, "all"},
		{10, new(0.0), false, 10, "there is nothing else"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		p := toy(3, 1, skills{1, 0.5, 0})
		o := &Options{Rig: cutting(), Rounds: 1, Draws: tt.draws, Mix: tt.mix}
		if !tt.items {
			o.Rig = unchecked(func(envharness.Task) []components.Entry { return nil })
		}
		train := p.Train
		var batch Batch
		p.Train = func(ctx context.Context, b Batch) (Policy, error) {
			batch = b
			return train(ctx, b)
		}
		r := collect(t, p, o)[1]
		unmodified := 0
		for _, m := range batch.Draws {
			if m.Unmodified() {
				unmodified++
			}
			if m.Unmodified() != (m.Components == nil) || len(m.Components) != len(m.Stack) || m.Task.Seed == nil {
				t.Errorf("%s: member %+v", tt.reason, m)
			}
		}
		if unmodified != tt.want || len(batch.Draws) != tt.draws || r.Drawn.Unmodified != tt.want || r.Drawn.Items != tt.draws-tt.want {
			t.Errorf("%s: %d of %d unmodified, want %d; told %+v", tt.reason, unmodified, len(batch.Draws), tt.want, r.Drawn)
		}
		if 1 < tt.want && tt.want < tt.draws {
			first := batch.Draws[:tt.want]
			if !slices.ContainsFunc(first, func(m Member) bool { return !m.Unmodified() }) {
				t.Errorf("%s: all unmodified ones come first", tt.reason)
			}
		}
		total, share := 0.0, 0.0
		for _, m := range batch.Pool {
			total += m.Weight
			if m.Unmodified() {
				share += m.Weight
			}
		}
		if math.Abs(total-1) > 1e-12 || math.Abs(share-float64(tt.want)/float64(tt.draws)) > 1e-12 {
			t.Errorf("%s: weights add up to %v, those of unmodified tasks to %v", tt.reason, total, share)
		}
		if batch.Traces != nil || r.Explored != nil {
			t.Errorf("%s: episodes were played that nobody asked for", tt.reason)
		}
	}
}

// Unmodified tasks are drawn equally often, up to one.
func TestUnmodifiedInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.IntRange(1, 5).Draw(t, "tasks")
		draws := rapid.IntRange(1, 30).Draw(t, "draws")
		l, err := newLoop(toy(tasks, 1, skills{1, 1, 1}), &Options{Draws: draws})
		if err != nil {
			t.Fatal(err)
		}
		_, drawn, err := l.draw(rapid.IntRange(1, 99).Draw(t, "round"))
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, tasks)
		for _, i := range drawn {
			counts[i]++
		}
		if len(drawn) != draws || slices.Max(counts)-slices.Min(counts) > 1 {
			t.Fatalf("%d draws of %d tasks: %v", draws, tasks, counts)
		}
	})
}

// An item weighs p(1-p)+0.01 for its latest rate.
func TestWeights(t *testing.T) {
	p := toy(4, 1, skills{1, 0.6, 0})
	var batch Batch
	train := p.Train
	p.Train = func(ctx context.Context, b Batch) (Policy, error) {
		batch = b
		return train(ctx, b)
	}
	o := &Options{Rig: cutting(), Rounds: 3, Draws: 10, Replay: &plr.Options{Proportional: true, Beta: new(1.0), Rho: new(0.0)}}
	rates := make(map[float64]bool)
	for r, err := range Run(ctx, p, o) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Number == 0 {
			continue
		}
		total := 0.0
		for _, m := range batch.Pool[4:] {
			total += m.Counts.Rate()*(1-m.Counts.Rate()) + 0.01
		}
		for i, m := range batch.Pool[4:] {
			rate := m.Counts.Rate()
			rates[rate] = true
			if want := 0.7 * (rate*(1-rate) + 0.01) / total; math.Abs(m.Weight-want) > 1e-12 {
				t.Errorf("round %d, item %d at %v: weight %v, want %v", r.Number, i, m.Counts, m.Weight, want)
			}
			if r.Number > 1 && r.Measured[i].Counts != m.Counts {
				t.Errorf("round %d, item %d: %v was measured last, not %v", r.Number, i, r.Measured[i].Counts, m.Counts)
			}
		}
	}
	if len(rates) < 3 {
		t.Fatalf("the seed shows nothing: rates %v", rates)
	}
}

func TestStop(t *testing.T) {
	for _, tt := range []struct {
		plain  []float64 // chance on unmodified tasks, from before any training on
		last   int       // round
		stop   bool
		reason string
	}{
		{[]float64{1, 0.6, 0.1, 1}, 2, true, "two falls in a row"},
		{[]float64{1, 0.5, 0.5, 0.5}, 3, false, "a single one"},
		{[]float64{1, 0.5, 1, 0.5}, 3, false, "two that are not in a row"},
		{[]float64{0.1, 0.5, 1, 1}, 3, false, "it rises"},
		{[]float64{1, 1, 0.5, 0}, 3, true, "in the last two rounds"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		var s []skills
		for _, c := range tt.plain {
			s = append(s, skills{Plain: c})
		}
		rounds := collect(t, toy(1, 8, s...), &Options{Rig: cutting(), Rounds: 3, Draws: 1, Evaluate: 5})
		end := rounds[len(rounds)-1]
		if end.Number != tt.last || (end.Stop != "") != tt.stop {
			t.Errorf("%s: ended with round %d, %q; want %d, %v", tt.reason, end.Number, end.Stop, tt.last, tt.stop)
		}
		for i, r := range rounds {
			interval, err := r.HeldOut.Interval(0.95)
			if err != nil || r.HeldOut.Valid != 40 || math.Abs(r.HalfWidth-(interval.Hi-interval.Lo)/2) > 1e-12 {
				t.Errorf("%s: round %d: %v, half width %v, %v", tt.reason, i, r.HeldOut, r.HalfWidth, err)
			}
			if fell := i > 0 && rounds[i-1].HeldOut.Rate()-r.HeldOut.Rate() > r.HalfWidth; r.Fell != fell {
				t.Errorf("%s: round %d: %v after %v: fell %v", tt.reason, i, r.HeldOut, rounds[max(i-1, 0)].HeldOut, r.Fell)
			}
		}
	}
}

// What is given to Train is fresh, of the kind of exploration, in the order of the draws, and nothing that anybody was accepted on.
func TestTraces(t *testing.T) {
	p := toy(2, 2, skills{0.9, 0.5, 0})
	var batches []Batch
	train := p.Train
	p.Train = func(ctx context.Context, b Batch) (Policy, error) {
		batches = append(batches, b)
		return train(ctx, b)
	}
	rounds := collect(t, p, &Options{Rig: cutting(), Rounds: 3, Draws: 20, Play: true})
	for i, b := range batches {
		r := rounds[i+1]
		if b.Round != r.Number || b.Policy.Fingerprint != rounds[i].Fingerprint || len(b.Traces) != len(b.Draws) {
			t.Fatalf("round %d: batch of round %d, policy %s, %d traces of %d draws", r.Number, b.Round, b.Policy.Fingerprint, len(b.Traces), len(b.Draws))
		}
		var unmodified, items rigger.Tally
		for at, trace := range b.Traces {
			m := b.Draws[at]
			if trace.Kind != envharness.KindExploration || trace.Slot != at || trace.Task.ID != m.Task.ID || len(trace.Components) != len(m.Stack) {
				t.Errorf("round %d: trace %d is %q of %s behind %d components, want one of %s behind %d", r.Number, at, trace.Kind, trace.Task.ID,
					len(trace.Components), m.Task.ID, len(m.Stack))
			}
			into := &items
			if m.Unmodified() {
				into = &unmodified
			}
			into.Valid++
			if trace.Verdict.Status == envharness.Pass {
				into.Pass++
			}
		}
		if want := (Explored{Unmodified: unmodified, Items: items}); *r.Explored != want || r.Cost.Explore != 20 {
			t.Errorf("round %d: explored %+v, want %+v; cost %+v", r.Number, *r.Explored, want, r.Cost)
		}
		if i > 0 && batches[i-1].Seed == b.Seed {
			t.Error("two rounds have one seed")
		}
	}
	outcomes := func(b Batch) string {
		var s strings.Builder
		for _, trace := range b.Traces {
			s.WriteString(trace.Verdict.Status.String()[:1])
		}
		return s.String()
	}
	if outcomes(batches[1]) == outcomes(batches[2]) {
		t.Errorf("two rounds have the same episodes: %s", outcomes(batches[1]))
	}
}

// Success with an aid is told apart.
func TestAided(t *testing.T) {
	p := toy(5, 1, skills{0, 0, 0.5})
	rig := &rigger.Options{
		Preset: rigger.Paper, Attempts: 4,
		Designer: rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
			return rigger.Candidate{Stack: []components.Entry{aided(b.Task)}, Direction: b.Direction}, nil
		}),
	}
	r := collect(t, p, &Options{Rig: rig, Rounds: 1, Draws: 30, Play: true})[1]
	if len(r.Items) == 0 {
		t.Fatal("the seed shows nothing")
	}
	if r.Drawn.Items != 0 || r.Drawn.Aided != 21 || r.Explored.Items.Valid != 0 || r.Explored.Aided.Valid != 21 || r.Explored.Aided.Pass == 0 {
		t.Errorf("drawn %+v, explored %+v", r.Drawn, *r.Explored)
	}
	if r.Explored.Unmodified.Pass != 0 || r.HeldOut.Pass != 0 {
		t.Errorf("a success with an aid counts as one without: %+v, held out %v", *r.Explored, r.HeldOut)
	}
}

// What was made to find failures is no training set, unless one says so.
func TestRedTeam(t *testing.T) {
	for _, want := range []bool{false, true} {
		o := &Options{Rig: cutting(), Rounds: 2, Draws: 10, RedTeam: want}
		o.Rig.Objective = rigger.RedTeam{}
		rounds := collect(t, toy(1, 1, skills{1, 0.5, 0}), o)
		if len(rounds[1].Report.Items) != 1 || !rounds[1].Report.Items[0].RedTeam {
			t.Fatalf("the rigger accepted %+v", rounds[1].Report.Items)
		}
		for _, r := range rounds[1:] {
			if got := len(r.Items) == 1 && r.Drawn.Items == 7; got != want {
				t.Errorf("RedTeam %v: round %d: %d items, drawn %+v", want, r.Number, len(r.Items), r.Drawn)
			}
		}
	}
}

// Tasks are rigged in turn, those that have their items not again, and a drawing designer does not repeat itself.
func TestSelection(t *testing.T) {
	var asked []string
	p := toy(3, 1, skills{1, 0.5, 0})
	o := &Options{Rounds: 6, Tasks: 1, Draws: 1, Rig: &rigger.Options{Preset: rigger.Unchecked}}
	budgets := make(map[string]bool)
	seeds := make(map[string]map[uint64]bool)
	o.Rig.Designer = rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
		asked = append(asked, b.Task.ID)
		if seeds[b.Task.ID] == nil {
			seeds[b.Task.ID] = make(map[uint64]bool)
		}
		seeds[b.Task.ID][*b.Task.Seed] = true
		budgets[fmt.Sprint(b.Rand.Uint64())] = true
		if len(asked) > 3 && b.Task.ID == p.Rig.Tasks[1].ID {
			return rigger.Candidate{Stack: []components.Entry{cut}, Direction: b.Direction}, nil
		}
		return rigger.Candidate{Direction: b.Direction}, nil
	})
	collect(t, p, o)
	id := func(i int) string { return p.Rig.Tasks[i].ID }
	if want := []string{id(0), id(1), id(2), id(0), id(1), id(2)}; !slices.Equal(asked, want) {
		t.Errorf("rigged %q, want %q", asked, want)
	}
	if len(budgets) != 6 {
		t.Errorf("six designs drew %d different numbers", len(budgets))
	}
	for task, s := range seeds {
		if len(s) != 1 {
			t.Errorf("task %s has %d seeds", task, len(s))
		}
	}

	asked = nil
	o.Rounds, o.Rig.Designer = 8, rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
		asked = append(asked, b.Task.ID)
		return rigger.Candidate{Stack: []components.Entry{cut}, Direction: b.Direction}, nil
	})
	o.Keep, o.Rounds = rigger.Band{Lo: 0, Hi: 1}, 5
	rounds := collect(t, p, o)
	if want := []string{id(0), id(1), id(2)}; !slices.Equal(asked, want) {
		t.Errorf("rigged %q, want %q and nothing else: all have their items", asked, want)
	}
	if rounds[4].Report != nil || len(rounds[4].Items) != 3 {
		t.Errorf("round 4 rigged, or has %d items", len(rounds[4].Items))
	}
}

// A tabular learner that is taught by what it meets gets better on what it was weak at, and what it has mastered is retired.
func TestLearner(t *testing.T) {
	p := toy(3, 10, skills{0.5, 0.4, 0})
	s := skills{0.5, 0.4, 0}
	p.Train = func(_ context.Context, b Batch) (Policy, error) {
		for i, trace := range b.Traces { // a step towards 1 for each success
			if trace.Verdict.Status != envharness.Pass {
				continue
			}
			if b.Draws[i].Unmodified() {
				s.Plain += 0.05 * (1 - s.Plain)
			} else {
				s.Cut += 0.05 * (1 - s.Cut)
			}
		}
		return s.policy(p.Rig.World), nil
	}
	rounds := collect(t, p, &Options{Rig: cutting(), Rounds: 8, Draws: 20, Play: true, Evaluate: 4})
	first, last := rounds[0].HeldOut, rounds[len(rounds)-1].HeldOut
	if last.Rate()-first.Rate() < 0.2 {
		t.Errorf("held-out success went from %v to %v", first, last)
	}
	retired := 0
	for _, r := range rounds {
		retired += len(r.Retired)
	}
	if s.Cut < 0.9 || retired == 0 {
		t.Errorf("skill %v on the items, of which %d were retired", s.Cut, retired)
	}
}

// One seed gives one run, whatever is played at once, and one that was broken off goes on without paying again.
func TestRepeatable(t *testing.T) {
	encoded := func(rounds []Round) []byte {
		out, err := json.Marshal(rounds)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	path := filepath.Join(t.TempDir(), "journal")
	var want []byte
	total, paid := 0, 0
	for _, tt := range []struct {
		parallel, stop int // cancelled when so many rollouts were made; 0 for never
		journal        bool
		reason         string
	}{
		{1, 0, false, "one at once, no journal"},
		{3, 0, false, "three at once"},
		{1, 9, true, "broken off early"},
		{1, 40, true, "broken off later"},
		{1, 0, true, "gone on"},
		{1, 0, true, "all is there"},
	} {
		p := toy(2, 3, skills{0.9, 0.5, 0}, skills{0.8, 0.7, 0}, skills{0.9, 0.9, 0})
		stopped, cancel := context.WithCancel(ctx)
		made := 0
		counted := func(p Policy) Policy {
			return Policy{Fingerprint: p.Fingerprint, New: func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
				if tt.parallel == 1 {
					if made++; made == tt.stop {
						cancel()
					}
				}
				return p.New(task, rng)
			}}
		}
		p.Rig.NewPolicy = counted(Policy{New: p.Rig.NewPolicy}).New
		train := p.Train
		p.Train = func(ctx context.Context, b Batch) (Policy, error) {
			next, err := train(ctx, b)
			return counted(next), err
		}
		o := &Options{Rig: cutting(), Rounds: 3, Draws: 12, Play: true}
		o.Rig.Seed, o.Rig.Rollout.Parallel = 3, tt.parallel
		if tt.journal {
			var err error
			if o.Rig.Journal, err = rigger.OpenJournal(path); err != nil {
				t.Fatal(err)
			}
		}
		var rounds []Round
		var failed error
		for r, err := range Run(stopped, p, o) {
			if err != nil {
				failed = err
				break
			}
			rounds = append(rounds, r)
		}
		cancel()
		if o.Rig.Journal != nil {
			if err := o.Rig.Journal.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if tt.journal {
			paid += made
		}
		if tt.stop > 0 {
			if !errors.Is(failed, context.Canceled) || made != tt.stop {
				t.Fatalf("%s: %v after %d rollouts", tt.reason, failed, made)
			}
			paid-- // the one in which it was broken off is not there
			continue
		}
		if failed != nil {
			t.Fatal(failed)
		}
		got := encoded(rounds)
		if want == nil {
			want, total = got, made
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: another run:\n%s\nnot\n%s", tt.reason, got, want)
		}
	}
	if paid != total {
		t.Errorf("%d rollouts were paid in all, want %d", paid, total)
	}
}

// Another seed gives another run.
func TestSeed(t *testing.T) {
	run := func(seed uint64) []Round {
		o := &Options{Rig: cutting(), Rounds: 2, Draws: 12, Play: true}
		o.Rig.Seed = seed
		rounds := collect(t, toy(2, 3, skills{0.7, 0.5, 0}), o)
		for i := range rounds {
			rounds[i].Policy, rounds[i].Report = Policy{}, nil
		}
		return rounds
	}
	if a, b := run(1), run(2); reflect.DeepEqual(a[1].Explored, b[1].Explored) && reflect.DeepEqual(a[2].Explored, b[2].Explored) {
		t.Error("two seeds give one run")
	}
}

func TestLeaving(t *testing.T) {
	p := toy(1, 1, skills{1, 0.5, 0})
	calls := 0
	train := p.Train
	p.Train = func(ctx context.Context, b Batch) (Policy, error) {
		calls++
		return train(ctx, b)
	}
	seq := Run(ctx, p, &Options{Rig: cutting(), Rounds: 3, Draws: 1})
	for range seq {
		break
	}
	if calls != 0 {
		t.Errorf("%d rounds of training before round 0 was taken", calls)
	}
	for range 2 { // a run from the beginning each time
		calls = 0
		for r, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
			if r.Number != calls {
				t.Fatalf("round %d after %d trainings", r.Number, calls)
			}
			if r.Number == 2 {
				break
			}
		}
	}
}

func TestProgress(t *testing.T) {
	var phases []string
	o := &Options{Rig: cutting(), Rounds: 2, Draws: 2, Play: true, Progress: func(p Progress) {
		if p.Done > p.Total || p.Rounds != 2 {
			t.Errorf("progress %+v", p)
		}
		if s := fmt.Sprint(p.Round, " ", p.Phase); len(phases) == 0 || phases[len(phases)-1] != s {
			phases = append(phases, s)
		}
	}}
	collect(t, toy(1, 1, skills{1, 0.5, 0}), o)
	want := []string{"0 evaluate", "1 rig", "1 explore", "1 train", "1 evaluate", "2 measure", "2 rig", "2 explore", "2 train", "2 evaluate"}
	if !slices.Equal(phases, want) {
		t.Errorf("phases %q, want %q", phases, want)
	}
}

// The parts of the cost are what was played.
func TestCost(t *testing.T) {
	p := toy(2, 3, skills{1, 0.5, 0})
	for _, r := range collect(t, p, &Options{Rig: cutting(), Rounds: 3, Draws: 7, Play: true, Measure: 4, Evaluate: 2}) {
		want := Cost{HeldOut: 6, Measure: 4 * len(r.Measured), Turns: r.Cost.Turns}
		if r.Number > 0 {
			want.Explore = 7
		}
		if r.Report != nil {
			want.Rigging = r.Report.Cost
		}
		if r.Cost != want || r.Cost.Turns == 0 {
			t.Errorf("round %d: %+v, want %+v", r.Number, r.Cost, want)
		}
	}
}

func TestErrors(t *testing.T) {
	good := func() Problem { return toy(2, 1, skills{1, 1, 1}) }
	fail := errors.New("out of memory")
	answer := func(p Policy, err error) func(p *Problem, o *Options) {
		return func(problem *Problem, _ *Options) {
			problem.Train = func(context.Context, Batch) (Policy, error) { return p, err }
		}
	}
	some := good().Rig.NewPolicy
	for _, tt := range []struct {
		set    func(p *Problem, o *Options)
		is     error
		want   string
		reason string
	}{
		{func(p *Problem, _ *Options) { p.HeldOut = append(p.HeldOut, p.Rig.Tasks[1]) }, ErrOverlap, `held-out task 1, "1,1,2,6"`, "seen in training"},
		{func(p *Problem, _ *Options) {
			p.HeldOut[0].ID, p.HeldOut[0].Seed = p.Rig.Tasks[0].ID, new(uint64(9))
		}, ErrOverlap, `"1,1,1,8"`, "another seed is no other task"},
		{func(p *Problem, _ *Options) { p.HeldOut = nil }, nil, "no held-out tasks", "nothing tells whether it helps"},
		{func(p *Problem, _ *Options) { p.HeldOut = append(p.HeldOut, p.HeldOut[0]) }, nil, "held-out task 1 has the id", "counted twice"},
		{func(p *Problem, _ *Options) { p.Rig.Tasks = append(p.Rig.Tasks, p.Rig.Tasks[0]) }, nil, "task 2 has the id", "items are kept by id"},
		{func(p *Problem, _ *Options) { p.Rig.Tasks, p.Train = nil, nil }, nil, "no tasks", "nothing to rig"},
		{func(p *Problem, _ *Options) { p.Rig.Tasks, p.Train = nil, nil }, nil, "no Train", "all faults are told"},
		{func(p *Problem, _ *Options) { p.Rig.NewPolicy = nil }, nil, "no Rig.NewPolicy", "nobody to train"},
		{func(p *Problem, _ *Options) { p.Rig.Fingerprint = "" }, ErrFingerprint, "empty", "policies cannot be told apart"},
		{func(_ *Problem, o *Options) { o.Mix = new(1.1) }, nil, "Mix 1.1", "more than all"},
		{func(_ *Problem, o *Options) { o.Mix = new(math.NaN()) }, nil, "Mix NaN", "not a number"},
		{func(_ *Problem, o *Options) { o.Rounds, o.Draws = -1, -2 }, nil, "Rounds -1", "less than none"},
		{func(_ *Problem, o *Options) { o.Rounds, o.Draws = -1, -2 }, nil, "Draws -2", "all faults are told"},
		{func(_ *Problem, o *Options) { o.Tasks, o.Measure, o.Evaluate = -3, -4, -5 }, nil, "Tasks -3", "less than none"},
		{func(_ *Problem, o *Options) { o.Tasks, o.Measure, o.Evaluate = -3, -4, -5 }, nil, "Measure -4", "less than none"},
		{func(_ *Problem, o *Options) { o.Tasks, o.Measure, o.Evaluate = -3, -4, -5 }, nil, "Evaluate -5", "less than none"},
		{func(_ *Problem, o *Options) { o.Keep = rigger.Band{Lo: 0.9, Hi: 0.1} }, nil, "Keep [0.9, 0.1]", "no band"},
		{func(_ *Problem, o *Options) { o.Replay = &plr.Options{Capacity: 1} }, nil, "Replay.Capacity 1", "items are retired, not pushed out"},
		{func(_ *Problem, o *Options) { o.Replay = &plr.Options{Beta: new(-1.0)} }, nil, "Beta -1", "an option of the replay"},
		{func(_ *Problem, o *Options) { o.Rig = &rigger.Options{Screen: -1} }, nil, "Screen", "an option of the rigger"},
		{func(p *Problem, _ *Options) { p.HeldOut[0].ID = "nonsense" }, envharness.ErrInsufficient, "held-out", "a task that there is not"},
		{answer(Policy{}, fail), fail, "round 1: train:", "training fails"},
		{answer(Policy{Fingerprint: "x"}, nil), nil, "without New", "no policy"},
		{answer(Policy{New: some}, nil), ErrFingerprint, "empty", "a policy without a name"},
		{func(p *Problem, _ *Options) {
			p.Train = func(_ context.Context, b Batch) (Policy, error) {
				return Policy{New: some, Fingerprint: []string{"", "x", "{1 1 1}"}[b.Round]}, nil
			}
		}, ErrFingerprint, `round 2: coevolve: the fingerprint is not a new one: "{1 1 1}" is that of round 0`, "the first policy again"},
		{func(p *Problem, _ *Options) {
			p.Train = func(_ context.Context, b Batch) (Policy, error) {
				return Policy{New: some, Fingerprint: []string{"", "x", "y", "x"}[b.Round]}, nil
			}
		}, ErrFingerprint, `round 3: coevolve: the fingerprint is not a new one: "x" is that of round 1`, "a later policy again"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		p, o := good(), &Options{Rig: cutting(), Rounds: 3, Draws: 1}
		tt.set(&p, o)
		var last error
		for r, err := range Run(ctx, p, o) {
			if last != nil {
				t.Errorf("%s: something comes after the error", tt.reason)
			}
			if last = err; err != nil && !reflect.DeepEqual(r, Round{}) {
				t.Errorf("%s: a round comes with the error", tt.reason)
			}
		}
		if last == nil || !strings.Contains(last.Error(), tt.want) || tt.is != nil && !errors.Is(last, tt.is) {
			t.Errorf("%s: got %v, want an error with %q", tt.reason, last, tt.want)
		}
	}
}

// Faults of the rigging are found before a rollout is paid, whether they are in the options or come of both.
func TestRiggingFaultsCostNothing(t *testing.T) {
	for _, tt := range []struct {
		set    func(p *Problem, o *rigger.Options)
		want   string
		reason string
	}{
		{func(_ *Problem, o *rigger.Options) { o.Attempts = 99 }, "Options.Attempts is 99", "out of range"},
		{func(_ *Problem, o *rigger.Options) { o.Objective = rigger.Regret{} }, "Problem.NewReference is nil", "goes with the problem"},
		{func(_ *Problem, o *rigger.Options) {
			o.Objective = rigger.Difficulty{Screen: rigger.Band{Lo: 0.51, Hi: 0.52}}
		}, rigger.ErrBandUnreachable.Error(), "no count of a screening is in the band"},
		{func(p *Problem, _ *rigger.Options) { p.Rig.World.Verifier = nil }, "World.Verifier is nil", "a fault of the problem"},
		{func(p *Problem, _ *rigger.Options) { p.Rig.Edges = make([]components.Edge, 1) }, "Edges[0]", "a fault of the problem"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		p, paid := toy(1, 1, skills{1, 1, 1}), 0
		play := p.Rig.NewPolicy
		p.Rig.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			paid++
			return play(task, rng)
		}
		o := &rigger.Options{}
		tt.set(&p, o)
		rounds := 0
		var last error
		for _, err := range Run(ctx, p, &Options{Rig: o, Rounds: 1, Draws: 1}) {
			rounds++
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), tt.want) || rounds != 1 || paid > 0 {
			t.Errorf("%s: %v, want an error with %q; %d rounds, %d rollouts", tt.reason, last, tt.want, rounds, paid)
		}
	}
}

// A context that ends while Train works ends the run, whatever Train makes of it.
func TestCancelledInTrain(t *testing.T) {
	p := toy(1, 1, skills{1, 1, 1})
	ended, cancel := context.WithCancel(ctx)
	defer cancel()
	p.Train = func(ctx context.Context, b Batch) (Policy, error) {
		cancel()
		return Policy{}, nil
	}
	var last error
	for _, err := range Run(ended, p, &Options{Rig: cutting(), Draws: 1}) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v", last)
	}
}

// A trainer that had nothing to learn may return what it was given.
func TestUnchangedPolicy(t *testing.T) {
	p := toy(1, 1, skills{1, 0.5, 1})
	p.Train = func(_ context.Context, b Batch) (Policy, error) { return b.Policy, nil }
	rounds := collect(t, p, &Options{Rig: cutting(), Rounds: 2, Draws: 1})
	if len(rounds) != 3 || rounds[2].Fingerprint != p.Rig.Fingerprint {
		t.Errorf("%d rounds", len(rounds))
	}
}

// What was retired is drawn no more, and if nothing follows all is unmodified again.
func TestRetiredIsGone(t *testing.T) {
	p := toy(2, 1, skills{1, 1, 0})
	var batch Batch
	train := p.Train
	p.Train = func(ctx context.Context, b Batch) (Policy, error) {
		batch = b
		return train(ctx, b)
	}
	designs := 0
	o := &Options{Rounds: 4, Draws: 10, Rig: unchecked(func(envharness.Task) []components.Entry {
		if designs++; designs > 2 {
			return nil
		}
		return []components.Entry{cut}
	})}
	for r, err := range Run(ctx, p, o) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Number == 0 {
			continue
		}
		items := 0
		if r.Number < 3 {
			items = 2
		}
		total := 0.0
		for _, m := range batch.Pool {
			total += m.Weight
		}
		if len(r.Items) != items || len(batch.Pool) != 2+items || math.Abs(total-1) > 1e-12 || (r.Drawn.Unmodified == 10) != (items == 0) {
			t.Errorf("round %d: %d items, a pool of %d with weight %v, drawn %+v", r.Number, len(r.Items), len(batch.Pool), total, r.Drawn)
		}
	}
}

// Each round has draws of its own.
func TestDrawsOfRounds(t *testing.T) {
	l, err := newLoop(toy(5, 1, skills{1, 1, 1}), &Options{Draws: 20})
	if err != nil {
		t.Fatal(err)
	}
	_, a, _ := l.draw(1)
	_, b, _ := l.draw(2)
	_, again, _ := l.draw(1)
	if slices.Equal(a, b) || !slices.Equal(a, again) {
		t.Errorf("round 1 draws %v and %v, round 2 %v", a, again, b)
	}
}

// The policy draws anew for each member of the pool: a coin does not fall alike on a task with and without components.
func TestMembersHaveTheirOwnStreams(t *testing.T) {
	p := toy(1, 1, skills{0.5, 0.5, 0})
	var batch Batch
	train := p.Train
	p.Train = func(ctx context.Context, b Batch) (Policy, error) {
		batch = b
		return train(ctx, b)
	}
	collect(t, p, &Options{Rig: cutting(), Rounds: 1, Draws: 40, Mix: new(0.5), Play: true})
	var plain, behind string
	for i, trace := range batch.Traces {
		if batch.Draws[i].Unmodified() {
			plain += trace.Verdict.Status.String()[:1]
		} else {
			behind += trace.Verdict.Status.String()[:1]
		}
	}
	if plain == behind {
		t.Errorf("%s both times", plain)
	}
}

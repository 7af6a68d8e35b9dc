package rigger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// reportJSON writes a report.
func reportJSON(t testing.TB, r *rigger.Report) string {
	t.Helper()
	doc, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// faulty is an environment that fails in one of its methods.
type faulty struct {
	envharness.Environment
	reset, step func(o string) error
	task        string
}

func (f *faulty) Unwrap() envharness.Environment { return f.Environment }

func (f *faulty) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	f.task = o.Task
	if f.reset != nil {
		if err := f.reset(o.Task); err != nil {
			return envharness.Observation{}, err
		}
	}
	return f.Environment.Reset(ctx, o)
}

func (f *faulty) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if f.step != nil {
		if err := f.step(f.task); err != nil {
			return envharness.Transition{}, err
		}
	}
	return f.Environment.Step(ctx, a)
}

// worldOf wraps the environments of game24.
func worldOf(wrap func(envharness.Environment) envharness.Environment) envharness.World {
	w := game24.World(nil)
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return wrap(env), nil
	}
	return w
}

// broken is a component whose hooks fail as its parameter says.
type broken struct {
	How string `json:"how"`
}

func (b broken) Spec() envharness.ComponentSpec {
	return envharness.ComponentSpec{Tag: "broken", Axis: envharness.AxisObservation, Params: fmt.Appendf(nil, `{"how":%q}`, b.How)}
}

func (b broken) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	switch b.How {
	case "begin":
		return envharness.Hooks{}, errors.New("begin fails")
	case "panic":
		panic("begin panics")
	}
	return envharness.Hooks{Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
		if v.Turn >= 2 && b.How == "late" {
			panic("observe panics")
		}
		o.Text += " (" + b.How + ")"
		return o, nil
	}}, nil
}

// withBroken is the catalogue with that component.
func withBroken(t testing.TB) *components.Registry {
	t.Helper()
	r := components.Catalogue()
	if err := r.Add(components.Kind{
		Tag: "broken", Version: 1, Axis: envharness.AxisObservation, Direction: components.Harder, Sound: "never",
		New: func(params json.RawMessage) (envharness.Component, error) {
			var b broken
			if err := json.Unmarshal(params, &b); err != nil {
				return nil, err
			}
			if b.How == "build" {
				panic("the kind panics")
			}
			return b, nil
		},
	}); err != nil {
		t.Fatal(err)
	}
	return r
}

// Foreign code that fails or panics ends the work on its task at most, and the other task is worked on as if alone.
func TestRigIsolatesTasks(t *testing.T) {
	good := rig(t, problem(t, 7), quick(proposes(budget(7)))).Tasks[0]
	bad := envharness.Task{ID: "6,6,6,6"}
	only := func(task string, err error) func(string) error {
		return func(now string) error {
			if now == task && err == nil {
				panic("the environment panics")
			}
			if now == task {
				return err
			}
			return nil
		}
	}
	plain := game24.World(nil)
	for _, tt := range []struct {
		name    string
		bad     envharness.Task
		world   envharness.World
		outcome rigger.Outcome
		paid    bool
		want    string // in the reason
		reason  string
	}{
		{"unknown task", envharness.Task{ID: "1,2"}, plain, rigger.Broken, false, "no such task", "nothing is paid for a task that is not there"},
		{"reset fails", bad, worldOf(func(e envharness.Environment) envharness.Environment {
			return &faulty{Environment: e, reset: only(bad.ID, errors.New("the disk is full"))}
		}), rigger.Broken, false, "the disk is full", "found before the baseline"},
		{"reset panics", bad, worldOf(func(e envharness.Environment) envharness.Environment {
			return &faulty{Environment: e, reset: only(bad.ID, nil)}
		}), rigger.Broken, false, "the environment panics", "a panic is an error"},
		{"step fails", bad, worldOf(func(e envharness.Environment) envharness.Environment {
			return &faulty{Environment: e, step: only(bad.ID, errors.New("the disk is full"))}
		}), rigger.Infra, true, "0 of 5", "no rollout could be judged, which is not a rate of 0"},
		{"step panics", bad, worldOf(func(e envharness.Environment) envharness.Environment {
			return &faulty{Environment: e, step: only(bad.ID, nil)}
		}), rigger.Infra, true, "0 of 5", "a panic is infrastructure"},
		{"verifier panics", bad, envharness.World{New: plain.New, Verifier: envharness.VerifierFunc(
			func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
				if e.Task == bad.ID {
					panic("the verifier panics")
				}
				return plain.Verifier.Verify(ctx, e)
			})}, rigger.Broken, false, "the verifier panics", "an episode without a turn cannot be judged either"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.reason == "" {
				t.Fatal("a row without a reason")
			}
			if testing.Short() && strings.HasSuffix(tt.name, "panics") {
				t.Skip("as an error does")
			}
			p := problem(t, 7)
			p.World, p.Tasks = tt.world, []envharness.Task{tt.bad, hand}
			o := quick(proposes(budget(7)))
			o.Rollout.Reruns = new(0)
			r := rig(t, p, o)
			first := r.Tasks[0]
			if first.Outcome != tt.outcome || !strings.Contains(first.Reason, tt.want) || (first.Cost.Baseline > 0) != tt.paid || len(first.Attempts) > 0 {
				t.Errorf("%s: %s, cost %+v, want %s: %s (%s)", first.Outcome, first.Reason, first.Cost, tt.outcome, tt.want, tt.reason)
			}
			if d := cmp.Diff(good.Attempts, r.Tasks[1].Attempts); d != "" {
				t.Errorf("the other task (-alone +beside)\n%s", d)
			}
		})
	}
}

// A component that fails is the candidate's fault and no difficulty; so is a kind that panics, and a designer.
func TestRigIsolatesCandidates(t *testing.T) {
	made := func(how string) rigger.Candidate {
		return rigger.Candidate{Stack: []components.Entry{{Tag: "broken", Params: fmt.Appendf(nil, `{"how":%q}`, how)}}}
	}
	failing := func(f func() (rigger.Candidate, error)) rigger.Designer {
		return rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
			if len(b.Attempts)%2 == 1 {
				return rigger.Candidate{}, errors.New("no reply")
			}
			return f()
		})
	}
	for _, tt := range []struct {
		name     string
		designer rigger.Designer
		outcome  rigger.Outcome
		want     string // in the reason of the first attempt
		reason   string
	}{
		{"begin fails", proposes(made("begin")), rigger.NoCandidate, "begin fails", "a component that cannot begin"},
		{"begin panics", proposes(made("panic")), rigger.NoCandidate, "begin panics", "a panic is an error"},
		{"observe panics", proposes(made("late")), rigger.NoCandidate, "observe panics", "a panic after two turns"},
		{"kind panics", proposes(made("build")), rigger.NoCandidate, "the kind panics", "a kind that cannot build"},
		{"designer fails twice", failing(func() (rigger.Candidate, error) { return rigger.Candidate{}, errors.New("no idea") }), rigger.DesignerError,
			"no idea", "two errors in a row end the task"},
		{"designer panics", failing(func() (rigger.Candidate, error) { panic("the designer panics") }), rigger.DesignerError, "the designer panics",
			"a panic is an error"},
		{"designer fails now and then", failing(func() (rigger.Candidate, error) { return made("begin"), nil }), rigger.Exhausted, "begin fails",
			"errors that are not in a row end nothing"},
		{"params are not JSON", proposes(rigger.Candidate{Stack: []components.Entry{{Tag: "broken", Params: []byte(`{"how`)}}}), rigger.NoCandidate,
			"params of component 0 are not JSON", "a reply that cannot be kept"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.reason == "" {
				t.Fatal("a row without a reason")
			}
			p := problem(t, 7)
			p.Registry = withBroken(t)
			r := rig(t, p, quick(tt.designer))
			task := r.Tasks[0]
			if task.Outcome != tt.outcome || len(r.Items) > 0 || len(task.Attempts) == 0 || !strings.Contains(task.Attempts[0].Reason, tt.want) {
				t.Errorf("%s: %s, %+v, want %s: %s (%s)", task.Outcome, task.Reason, task.Attempts, tt.outcome, tt.want, tt.reason)
			}
			if task.Outcome == rigger.DesignerError && len(task.Attempts) != 2 {
				t.Errorf("%d attempts, want 2", len(task.Attempts))
			}
			for _, a := range task.Attempts {
				if a.Decision != rigger.Reject || a.Screen.Valid > 0 {
					t.Errorf("%+v", a)
				}
			}
		})
	}
}

// A base that fails now and then is played again, and the report is that of one that never does, but for what that cost.
func TestRigReruns(t *testing.T) {
	want := rig(t, problem(t, 7), quick(proposes(budget(7))))
	p := problem(t, 7)
	var calls atomic.Int64
	p.World = worldOf(func(e envharness.Environment) envharness.Environment {
		return &faulty{Environment: e, step: func(string) error {
			if calls.Add(1)%211 == 7 {
				return errors.New("a network error")
			}
			return nil
		}}
	})
	got := rig(t, p, quick(proposes(budget(7))))
	if calls.Load() < 211 {
		t.Fatalf("%d steps", calls.Load())
	}
	if got.Cost.Rollouts() <= want.Cost.Rollouts() {
		t.Errorf("%d rollouts, %d without a failure", got.Cost.Rollouts(), want.Cost.Rollouts())
	}
	for _, r := range []*rigger.Report{want, got} {
		r.Cost, r.Tasks[0].Cost, r.Tasks[0].Attempts[0].Cost = rigger.Cost{}, rigger.Cost{}, rigger.Cost{}
	}
	if d := cmp.Diff(reportJSON(t, want), reportJSON(t, got)); d != "" {
		t.Errorf("(-sound +flaky)\n%s", d)
	}
}

// The same seed and designer give the same bytes, however many rollouts are played at once.
func TestRigDeterministic(t *testing.T) {
	play := func(parallel int, seed uint64) string {
		p := problem(t, 7)
		p.Tasks = append(p.Tasks, envharness.Task{ID: "1,5,5,5", Seed: new(uint64(3))})
		o := quick(proposes(budget(8), budget(6), budget(7)))
		o.Rollout.Parallel, o.Seed = parallel, seed
		return reportJSON(t, rig(t, p, o))
	}
	one := play(1, 5)
	if d := cmp.Diff(one, play(4, 5)); d != "" {
		t.Errorf("(-1 at once +4 at once)\n%s", d)
	}
	if one == play(1, 6) {
		t.Error("the seed changes nothing")
	}
}

// All rollouts of a run draw from streams of their own: none is used for two purposes.
func TestRigStreams(t *testing.T) {
	p := problem(t, 7)
	p.Tasks = append(p.Tasks, envharness.Task{ID: "1,5,5,5"})
	var (
		mu    sync.Mutex
		draws = make(map[uint64]int)
		made  int
	)
	inner := p.NewPolicy
	p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		policy, err := inner(task, rng)
		mu.Lock()
		defer mu.Unlock()
		draws[rng.Uint64()]++
		made++
		return policy, err
	}
	r := rig(t, p, quick(proposes(budget(9), budget(6), budget(7))))
	if r.Cost.Screen < 10 || r.Cost.Confirm < 16 {
		t.Fatalf("cost %+v", r.Cost)
	}
	if made != r.Cost.Rollouts() || len(draws) != made {
		t.Errorf("%d policies for %d rollouts drew %d different numbers", made, r.Cost.Rollouts(), len(draws))
	}
}

// A cancelled run is an error, and what was paid is not paid again by the next one, which reports what a run would that was not interrupted.
func TestRigResumes(t *testing.T) {
	want := rig(t, problem(t, 7), quick(proposes(budget(9), budget(7))))
	whole, total := reportJSON(t, want), want.Cost.Rollouts()
	points := []int{1, 7, total - 1}
	if testing.Short() {
		points = points[1:2]
	}
	for _, at := range points {
		made := 0
		p := problem(t, 7)
		inner := p.NewPolicy
		ctx, cancel := context.WithCancel(t.Context())
		p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			if made++; made == at {
				cancel()
			}
			return inner(task, rng)
		}
		o := quick(proposes(budget(9), budget(7)))
		o.Journal = rigger.NewMemoryJournal(t)
		if r, err := rigger.Rig(ctx, p, o); !errors.Is(err, context.Canceled) || r != nil {
			t.Fatalf("cancelled at %d: %v %v", at, r, err)
		}
		got := rig(t, p, o)
		if d := cmp.Diff(whole, reportJSON(t, got)); d != "" {
			t.Errorf("cancelled at %d (-whole +resumed)\n%s", at, d)
		}
		if made != total+1 {
			t.Errorf("cancelled at %d: %d rollouts were begun, want %d and the one that was cut short", at, made, total)
		}
		before := made
		if again := rig(t, p, o); made != before || reportJSON(t, again) != whole {
			t.Errorf("a third run played %d more", made-before)
		}
	}
}

// What a confirmation showed never gets into a brief.
func TestBriefs(t *testing.T) {
	var briefs []rigger.Brief
	scriptedDesigner := rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
		briefs = append(briefs, b)
		return budget(12 - len(b.Attempts)), nil // 12 is no change
	})
	p := problem(t, 0)
	p.NewPolicy = scripted(t, "11111"+"00000"+"10101"+"0000000000000"+"11111")
	o := quick(scriptedDesigner)
	o.Attempts = 5
	r := rig(t, p, o)
	var decisions []string
	for _, a := range r.Tasks[0].Attempts {
		decisions = append(decisions, fmt.Sprint(a.Decision, " ", a.Steps[len(a.Steps)-1].Step))
	}
	if want := []string{"reject static", "refine screen", "reject confirm", "refine screen", "refine screen"}; !cmp.Equal(want, decisions) {
		t.Fatalf("%q, want %q", decisions, want)
	}
	if a := r.Tasks[0].Attempts[2]; a.Confirm.Valid != 13 {
		t.Fatalf("%+v", a)
	}
	for i, b := range briefs {
		if len(b.Attempts) != i || b.Direction != components.Harder || b.Baseline.Pass != 5 || b.Success == nil || b.Failure != nil || len(b.Plan) != 4 ||
			b.Text == "" || b.Registry == nil || b.Rand == nil || b.World.Name != "game24" {
			t.Errorf("brief %d: %+v", i+1, b)
		}
		for _, a := range b.Attempts {
			if a.Confirm != (rigger.Tally{}) || a.Interval != nil || a.Cost != (rigger.Cost{}) {
				t.Errorf("brief %d tells of the confirmation of attempt %d", i+1, a.Number)
			}
			for _, trace := range a.Traces {
				if want := fmt.Sprintf("%d/screen", a.Number); trace.Kind != want {
					t.Errorf("brief %d shows a trace of %s", i+1, trace.Kind)
				}
			}
			doc, err := json.Marshal(a)
			if err != nil || bytes.Contains(doc, []byte("13")) {
				t.Errorf("brief %d: %s %v", i+1, doc, err)
			}
		}
	}
	for i, want := range []*rigger.Refinement{nil, nil, {RelaxBudgets: true}, nil, {Harder: true}} {
		if d := cmp.Diff(want, briefs[i].Refine); d != "" {
			t.Errorf("refinement of brief %d (-want +got)\n%s", i+1, d)
		}
	}
}

// moody is an objective that fails once it is armed.
type moody struct {
	rigger.Difficulty
	armed *bool
}

func (m moody) Place(at rigger.Measure) rigger.Placement {
	if *m.armed {
		panic("no idea any more")
	}
	return m.Difficulty.Place(at)
}

// What an attempt has cost is told also where it broke the work on its task.
func TestRigCountsWhatBroke(t *testing.T) {
	armed := false
	o := quick(rigger.DesignerFunc(func(context.Context, rigger.Brief) (rigger.Candidate, error) {
		armed = true
		return budget(7), nil
	}))
	o.Objective = moody{armed: &armed}
	r := rig(t, problem(t, 7), o)
	task := r.Tasks[0]
	if task.Outcome != rigger.Broken || !strings.Contains(task.Reason, "no idea any more") || len(task.Attempts) != 1 ||
		task.Attempts[0].Decision != rigger.Reject || r.Cost.Screen != 5 || r.Cost.Designs != 1 {
		t.Errorf("%+v, cost %+v", task, r.Cost)
	}
}

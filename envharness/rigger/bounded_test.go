package rigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// hanging is an environment that may hang where it is described or closed, and says how often it was closed.
type hanging struct {
	envharness.Environment
	describe, close func()
	closed          *int
}

func (h hanging) Describe() envharness.Description {
	h.describe()
	e, _ := envharness.As[envharness.Describer](h.Environment)
	return e.Describe()
}

func (h hanging) Close() error {
	*h.closed++
	h.close()
	return h.Environment.Close()
}

// A world that hangs before the first rollout is given up after StepTimeout, or when the context is done.
func TestWorldHangs(t *testing.T) {
	for _, tt := range []struct {
		at      string
		returns bool // in the end
		cancel  bool
		want    string
		took    time.Duration
		reason  string
	}{
		{"open", false, false, "rigger: the world: open: given up: no answer within 3s; it did not return and was left behind", 4 * time.Second,
			"no environment at all"},
		{"describe", false, false, "rigger: the world: describe: given up: no answer within 3s; it did not return and was left behind", 4 * time.Second,
			"a slow service behind it"},
		{"close", false, false, "rigger: the world: close: given up: no answer within 3s; it did not return and was left behind", 4 * time.Second,
			"every rollout would wait for that"},
		{"obeys", true, false, "rigger: the world: open: given up: no answer within 3s", 3 * time.Second, "late, though it came back when asked to"},
		{"open", false, true, "context canceled", 2 * time.Second, "nobody waits for it any more"},
		{"describe", false, true, "context canceled", 2 * time.Second, "nobody waits for it any more"},
		{"close", false, true, "context canceled", 2 * time.Second, "nobody waits for it any more"},
		{"obeys", true, true, "context canceled", time.Second, "it came back at once"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		for name, call := range map[string]func(context.Context, rigger.Problem, *rigger.Options) error{
			"Rig": func(ctx context.Context, p rigger.Problem, o *rigger.Options) error {
				_, err := rigger.Rig(ctx, p, o)
				return err
			},
			"Rollouts": func(ctx context.Context, p rigger.Problem, o *rigger.Options) error {
				_, err := rigger.Rollouts(ctx, p, o, rigger.Play{Name: "x", Task: hand, N: 1})
				return err
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				hang := func(at string) func() {
					return func() {
						if at == tt.at {
							<-release
						}
					}
				}
				opened, closed := 0, 0
				p, o := problem(t, 7), quick(proposes())
				o.Rollout.StepTimeout, o.Rollout.Reruns = 3*time.Second, new(0)
				p.World.New = func(ctx context.Context) (envharness.Environment, error) {
					hang("open")()
					if tt.at == "obeys" {
						<-ctx.Done()
					}
					opened++
					env, err := game24.World(nil).New(context.WithoutCancel(ctx))
					return hanging{env, hang("describe"), hang("close"), &closed}, err
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel {
					time.AfterFunc(time.Second, cancel)
				}
				began := time.Now()
				err := call(ctx, p, o)
				if err == nil || !strings.Contains(err.Error(), tt.want) || tt.cancel && !errors.Is(err, context.Canceled) ||
					tt.returns == strings.Contains(err.Error(), "left behind") {
					t.Errorf("%s: %s hangs: %v, want %s (%s)", name, tt.at, err, tt.want, tt.reason)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("%s: %s hangs: after %v, want %v (%s)", name, tt.at, took, tt.took, tt.reason)
				}
				close(release)
				synctest.Wait()
				if opened != 1 || closed != 1 {
					t.Errorf("%s: %s hangs: %d opened, %d closed (%s)", name, tt.at, opened, closed, tt.reason)
				}
			})
		}
	}
}

// describing is an environment that says something else of itself, and fails to close.
type describing struct {
	envharness.Environment
	about func(d *envharness.Description)
	close error
}

func (d describing) Unwrap() envharness.Environment { return d.Environment }

func (d describing) Describe() envharness.Description {
	e, _ := envharness.As[envharness.Describer](d.Environment)
	about := e.Describe()
	d.about(&about)
	return about
}

func (d describing) Close() error { return errors.Join(d.Environment.Close(), d.close) }

// What a world says of itself is checked, and a panic where it does is an error.
func TestWorldDescribesItself(t *testing.T) {
	for _, tt := range []struct {
		about  func(d *envharness.Description)
		want   string
		reason string
	}{
		{func(d *envharness.Description) { d.Chance = math.NaN() }, "rigger: the world: describe: Description.Chance is NaN, want 0 to 1", "no rate"},
		{func(d *envharness.Description) { d.Chance = -.1 }, "Description.Chance is -0.1", "less than never"},
		{func(d *envharness.Description) { d.Chance = 1.5 }, "Description.Chance is 1.5", "more than always"},
		{func(*envharness.Description) { panic("no words") }, "rigger: the world: describe: panic: no words", "a panic is an error"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p := problem(t, 7)
		p.World = worldOf(func(e envharness.Environment) envharness.Environment { return describing{e, tt.about, nil} })
		if _, err := rigger.Rig(t.Context(), p, quick(proposes())); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s (%s)", err, tt.want, tt.reason)
		}
	}
}

// A world whose environments do not close well is worked on all the same.
func TestWorldClosesBadly(t *testing.T) {
	p := problem(t, 7)
	p.World = worldOf(func(e envharness.Environment) envharness.Environment {
		return describing{e, func(*envharness.Description) {}, errors.New("a file is busy")}
	})
	if _, err := rigger.Rig(t.Context(), p, quick(proposes())); err != nil {
		t.Error(err)
	}
}

func TestRolloutsAreBounded(t *testing.T) {
	for _, n := range []int{10_001, math.MaxInt} {
		_, err := rigger.Rollouts(t.Context(), problem(t, 7), nil, rigger.Play{Name: "x", Task: hand, N: n})
		if err == nil || !strings.Contains(err.Error(), "want at most 10000") {
			t.Errorf("%d rollouts: %v", n, err)
		}
	}
}

// scribbler is a designer that notes what it is told, and writes over all of that if it is wild.
type scribbler struct {
	designer rigger.Designer
	wild     bool
	told     []string
	draws    []uint64 // of Decide
	flaws    int
}

func (s *scribbler) note(b rigger.Brief) {
	s.flaws += len(b.Flaws)
	b.Registry, b.Rand = nil, nil
	doc, err := json.MarshalIndent(b, "", " ")
	s.told = append(s.told, fmt.Sprintf("%s %v", doc, err))
}

func (s *scribbler) Design(ctx context.Context, b rigger.Brief) (rigger.Candidate, error) {
	s.note(b)
	c, err := s.designer.Design(ctx, b)
	if s.wild {
		b.Rand.Uint64()
		scribble(b)
	}
	return c, err
}

func (s *scribbler) Decide(_ context.Context, b rigger.Brief, a rigger.Attempt) (rigger.Decision, error) {
	s.note(b)
	s.draws = append(s.draws, b.Rand.Uint64())
	if s.wild {
		scribble(b)
		scribbleAttempt(a)
	}
	return rigger.Accept, nil
}

func scribble(b rigger.Brief) {
	*b.Task.Seed ^= 1
	for i := range b.Plan {
		copy(b.Plan[i].Args, "[]")
		b.Plan[i] = envharness.Action{}
	}
	for i := range b.Flaws {
		for k := range b.Flaws[i].Found {
			b.Flaws[i].Found[k].Note = ""
			clear(b.Flaws[i].Found[k].Turns)
		}
		b.Flaws[i].ID = "F99"
	}
	for i := range b.World.Tools {
		copy(b.World.Tools[i].Schema, "[]")
	}
	clear(b.World.Tools)
	clear(b.World.Vocabulary)
	clear(b.World.Graded)
	for i := range b.Edges {
		clear(b.Edges[i].After.Args)
	}
	clear(b.Edges)
	if b.Refine != nil {
		b.Refine.Harder = !b.Refine.Harder
	}
	clear(b.Axes)
	for _, a := range b.Attempts {
		scribbleAttempt(a)
	}
}

func scribbleAttempt(a rigger.Attempt) {
	for i := range a.Candidate.Stack {
		copy(a.Candidate.Stack[i].Params, "[]")
	}
	clear(a.Candidate.Stack)
	clear(a.Words)
	clear(a.Steps)
	clear(a.Traces)
}

// What a designer does to its brief changes nothing of the run, nor of the problem.
func TestBriefsShareNothing(t *testing.T) {
	run := func(wild bool) (string, []components.Edge, *scribbler) {
		p := problem(t, 0)
		p.NewPolicy = scripted(t, "00000"+"00000"+"10101"+"0101010101010101")
		p.Edges = []components.Edge{{
			Before: components.Match{Tool: "restart"}, After: components.Match{Tool: "combine", Args: map[string]any{"op": "+"}},
		}}
		s := &scribbler{designer: proposes(aid(t), aid(t)), wild: wild}
		o := quick(s)
		o.Attempts = 3
		return reportJSON(t, rig(t, p, o)), p.Edges, s
	}
	want, edges, clean := run(false)
	got, scribbled, wild := run(true)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the report (-looked at +written over)\n%s", d)
	}
	if d := cmp.Diff(edges, scribbled); d != "" {
		t.Errorf("the caller's edges (-before +after)\n%s", d)
	}
	if d := cmp.Diff(clean.told, wild.told); d != "" {
		t.Errorf("later briefs (-looked at +written over)\n%s", d)
	}
	if !slices.Equal(clean.draws, wild.draws) {
		t.Errorf("what Design draws changes what Decide does: %v, %v", clean.draws, wild.draws)
	}
	if clean.flaws == 0 || len(clean.draws) == 0 || len(clean.told) < 3 || !strings.Contains(clean.told[0], "combine") {
		t.Errorf("there was little to write over: %d flaws, %d decisions, %q", clean.flaws, len(clean.draws), clean.told)
	}
}

// What is played again is paid for, with the reference as with the policy.
func TestRigCountsRerunsOfReference(t *testing.T) {
	p := problem(t, 0)
	p.NewPolicy, p.NewReference = scripted(t, "11111"), scripted(t, "11i1i11")
	o := quick(proposes())
	o.Objective = rigger.Regret{}
	if r := rig(t, p, o); r.Cost.Reference != 7 || r.Cost.Baseline != 5 {
		t.Errorf("%v%+v", r, r.Cost)
	}
}

// planless is an environment whose oracle waits until it is released, whatever its context says.
type planless struct {
	envharness.Environment
	release <-chan struct{}
}

func (p planless) Plan(context.Context) ([]envharness.Action, error) {
	<-p.release
	return nil, envharness.ErrNotProven
}

// A task whose oracle hangs is given up, and the others go on.
func TestPlanHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := game24.World(nil)
		open := w.New
		w.New = func(ctx context.Context) (envharness.Environment, error) {
			env, err := open(ctx)
			return planless{env, release}, err
		}
		report, err := rigger.Rig(t.Context(), rigger.Problem{
			World: w, Tasks: []envharness.Task{{ID: "3,3,8,8"}},
			NewPolicy: func(envharness.Task, *rand.Rand) (envharness.Policy, error) { return nil, errors.New("nobody plays") },
		}, &rigger.Options{Rollout: envharness.RolloutOptions{StepTimeout: 3 * time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Tasks[0]; got.Outcome != rigger.Broken || !strings.Contains(got.Reason, "given up") {
			t.Errorf("%s: %s, want it broken and given up", got.Outcome, got.Reason)
		}
		close(release)
		synctest.Wait()
	})
}

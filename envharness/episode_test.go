package envharness_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// Nothing of an episode is left in the next one of the same harness.
func TestResetForgets(t *testing.T) {
	var states []string
	var stepped []bool
	fails := false
	base := &toy{onState: func() error {
		if fails {
			return errBoom
		}
		return nil
	}}
	looks := rule(eh.AxisObservation, eh.Hooks{Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
		st, err := v.State()
		states, stepped = append(states, string(st)), append(stepped, v.Stepped)
		return o, err
	}})
	h := mustNew(t, worldOf(base), looks)
	reset := func(task string) {
		t.Helper()
		if _, err := h.Reset(t.Context(), eh.ResetOptions{Task: task}); err != nil {
			t.Fatal(err)
		}
	}
	reset("[4,6]")
	mustStep(t, h, combine(0, 1, "mul"))
	reset("[2,3]")
	if d := cmp.Diff([]string{`{"numbers":[4,6],"stopped":false}`, `{"numbers":[24],"stopped":false}`, `{"numbers":[2,3],"stopped":false}`},
		states); d != "" {
		t.Errorf("public states: %s", d)
	}
	if d := cmp.Diff([]bool{false, true, false}, stepped); d != "" {
		t.Errorf("View.Stepped: %s", d)
	}
	fails = true
	if _, err := h.Step(t.Context(), combine(0, 1, "add")); err == nil {
		t.Error("no error of the state")
	}
	fails = false
	reset("[4,6]")
	mustStep(t, h, stop)

	var during [][]eh.Tool
	base.onReset = func() error {
		during = append(during, h.Tools())
		return errBoom
	}
	if _, err := h.Reset(t.Context(), eh.ResetOptions{}); err == nil || during[0] != nil {
		t.Errorf("%v; tools during a reset %v", err, during)
	}
	if _, err := h.Evidence(t.Context()); !errors.Is(err, eh.ErrNeedReset) {
		t.Errorf("evidence after a failed reset: %v", err)
	}
	bad := mustNew(t, worldOf(&toy{}), eh.Setup{Actions: []eh.Action{{Name: "fly"}}})
	if _, err := bad.Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, eh.ErrStart) || bad.Tools() != nil {
		t.Errorf("%v; tools after a failed reset %v", err, bad.Tools())
	}
}

// Without a seed from the caller it goes on as if seed 1 had been given.
func TestFirstSeed(t *testing.T) {
	var seeds [2]uint64
	for i, h := range []*eh.Harness{mustNew(t, toyWorld(nil, nil)), mustNew(t, toyWorld(nil, nil))} {
		if i == 1 {
			if _, err := h.Reset(t.Context(), eh.ResetOptions{Seed: new(uint64(1))}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.Reset(t.Context(), eh.ResetOptions{}); err != nil {
			t.Fatal(err)
		}
		seeds[i] = mustEvidence(t, h).Seed
	}
	if seeds[0] != seeds[1] {
		t.Errorf("seed %d without any, %d after seed 1", seeds[0], seeds[1])
	}
}

// Whether a replay is possible is a matter of the episode, not of the instance; and only the one error means that seeds are not supported.
func TestSeedlessEpisode(t *testing.T) {
	w := eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		return &seedlessTask{toy: &toy{start: []int{4, 6}}}, nil
	}}
	h := mustNew(t, w)
	for _, tt := range []struct {
		task string
		want bool
	}{{"[1]", true}, {"[2]", false}} {
		if _, err := h.Reset(t.Context(), eh.ResetOptions{Task: tt.task}); err != nil {
			t.Fatal(err)
		}
		mustStep(t, h, stop)
		if v := mustVerdict(t, h); v.Unreplayed != tt.want {
			t.Errorf("task %s: %+v", tt.task, v)
		}
	}
	calls := 0
	bad := mustNew(t, toyWorld(nil, func(t *toy) {
		t.onReset = func() error {
			calls++
			return errBoom
		}
	}))
	if _, err := bad.Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, errBoom) || calls != 1 {
		t.Errorf("%d resets, %v", calls, err)
	}
}

// A seedlessTask has no use for the seed of task [1].
type seedlessTask struct{ *toy }

func (s *seedlessTask) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	if o.Task == "[1]" && o.Seed != nil {
		return eh.Observation{}, eh.ErrSeedUnsupported
	}
	clear(o.Options)
	return s.toy.Reset(ctx, o)
}

// An environment that writes into what it was given, or hands out what it keeps, spoils nothing.
func TestBaseCannotTouchTheRecord(t *testing.T) {
	h := mustNew(t, eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		return &seedlessTask{toy: &toy{}},
			nil
	}})
	if _, err := h.Reset(t.Context(), eh.ResetOptions{Options: raw(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	if e := mustEvidence(t, h); string(e.Options) != `{"a":1}` {
		t.Errorf("options %s", e.Options)
	}
	desc := eh.Description{Tools: []eh.Tool{{Name: "a", Schema: raw(`{}`)}}, Graded: []string{"g"}, Mutable: []string{"/m"},
		Volatile: []string{"/info"}}
	spoiler := rule(eh.AxisAction, eh.Hooks{})
	spoiler = eh.Rules(spoiler.Spec(), func(_ context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
		if e.Base().Graded[0] != "g" || e.Base().Mutable[0] != "/m" || e.Base().Volatile[0] != "/info" {
			return eh.Hooks{}, errors.New("spoilt")
		}
		e.Base().Graded[0], e.Base().Mutable[0], e.Base().Volatile[0] = "x", "x", "x"
		return eh.Hooks{}, nil
	})
	h = mustNew(t, eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		return describer{&toy{}, desc},
			nil
	}}, spoiler)
	mustReset(t, h)
	mustReset(t, h)
	got := rollOne(t, eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		return describer{&toy{}, desc},
			nil
	}}, func() eh.Policy {
		return eh.PolicyFunc(func(_ context.Context, turn eh.Turn) (eh.Action, error) {
			clear(turn.Tools[0].Schema)
			return stop, nil
		})
	}, eh.Task{}, &noReruns)
	if got.Verdict.Status != eh.Fail || string(desc.Tools[0].Schema) != `{}` {
		t.Errorf("%+v; the environment's schema is %q", got.Verdict, desc.Tools[0].Schema)
	}
}

// An opener that gives nothing, and descriptions that nobody can use.
func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name   string
		env    eh.Environment
		says   string
		reason string
	}{
		{"nothing", nil, "no environment", "a nil environment is said so"},
		{"described", describer{&toy{}, eh.Description{Tools: []eh.Tool{{Name: "reset"}}}}, "reserved tool name",
			"calls of the harness are no tools"},
		{"twice", describer{&toy{}, eh.Description{Tools: []eh.Tool{{Name: "a"}, {Name: "a"}}}}, "used twice", "names are unique"},
		{"listed", &lister{toy: &toy{}, tools: []eh.Tool{{Name: "verify"}}}, "reserved tool name", "those of a ToolLister as well"},
	}
	for _, tt := range tests {
		h := mustNew(t, eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) { return tt.env, nil }})
		if _, err := h.Reset(t.Context(), eh.ResetOptions{}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q (%s)", tt.name, err, tt.says, tt.reason)
		}
	}
	h := mustNew(t, worldOf(bare{&toy{}}))
	if _, err := h.Tasks(t.Context(), "train"); err == nil || !strings.Contains(err.Error(), "lists no tasks") {
		t.Errorf("tasks of an environment without any: %v", err)
	}
}

// A lister changes its tools in place.
type lister struct {
	*toy
	tools []eh.Tool
}

func (l *lister) Tools() []eh.Tool { return l.tools }

// Every field of a tool counts as a change, and the hooks hear of a change, in their order, and of nothing else.
func TestToolChanges(t *testing.T) {
	tests := []struct {
		name   string
		change func(*eh.Tool)
		calls  int
	}{
		{"nothing", func(*eh.Tool) {}, 1},
		{"name", func(t *eh.Tool) { t.Name = "b" }, 2},
		{"description", func(t *eh.Tool) { t.Description = "new" }, 2},
		{"schema", func(t *eh.Tool) { t.Schema = raw(`{"a":1}`) }, 2},
		{"bytes of the schema", func(t *eh.Tool) { t.Schema[0] = '[' }, 2},
		{"read only", func(t *eh.Tool) { t.ReadOnly = true }, 2},
		{"submits", func(t *eh.Tool) { t.Submits = true }, 2},
	}
	for _, tt := range tests {
		base := &lister{toy: &toy{start: []int{1, 2, 3, 4}}, tools: []eh.Tool{{Name: "a", Schema: raw(`{}`)}}}
		var calls []string
		var kept []eh.Tool
		naming := func(id string) eh.Component {
			return ruleID(id, eh.AxisAction, eh.Hooks{Tools: func(_ context.Context, tools []eh.Tool) ([]eh.Tool, error) {
				calls = append(calls, id)
				tools[0].Description += id
				kept = tools
				return tools, nil
			}})
		}
		h := mustNew(t, worldOf(base), naming("x"), naming("y"))
		mustReset(t, h)
		kept[0].Name = "spoilt"
		clear(kept[0].Schema)
		if got := h.Tools()[0]; got.Name != "a" || got.Description != "xy" || string(got.Schema) != `{}` {
			t.Fatalf("tools %+v", got)
		}
		mustStep(t, h, combine(0, 1, "add"))
		tt.change(&base.tools[0])
		mustStep(t, h, combine(0, 1, "add"))
		got := h.Tools()[0]
		mustStep(t, h, combine(0, 1, "add"))
		if want := slices.Repeat([]string{"x", "y"}, tt.calls); !slices.Equal(calls, want) {
			t.Errorf("%s: the hooks were called as %v, want %v", tt.name, calls, want)
		}
		if tt.calls > 1 && (got.Name != base.tools[0].Name || got.Description != base.tools[0].Description+"xy" || !bytes.Equal(got.Schema,
			base.tools[0].Schema)) {
			t.Errorf("%s: shown %+v of %+v", tt.name, got, base.tools[0])
		}
		base.tools[0].Description = "again"
		if mustStep(t, h, eh.Action{Name: "fly"}); h.Tools()[0].Description != "againxy" {
			t.Errorf("%s: after another change %+v", tt.name, h.Tools()[0])
		}
	}
}

// The tools that Begin sees are those from its place, and the random stream goes by the id.
func TestBeginInfo(t *testing.T) {
	var names []string
	var draws []uint64
	begins := eh.Rules(eh.ComponentSpec{Tag: "rule", Axis: eh.AxisAction}, func(_ context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
		names, draws = append(names, e.Base().Tools[0].Name), append(draws, e.Rand.Uint64())
		return eh.Hooks{Tools: func(_ context.Context, tools []eh.Tool) ([]eh.Tool, error) {
			tools[0].Name += "'"
			return tools, nil
		}}, nil
	})
	mustReset(t, mustNew(t, worldOf(&toy{}), begins, begins))
	if d := cmp.Diff([]string{"combine", "combine'"}, names); d != "" {
		t.Error(d)
	}
	if want := []uint64{eh.RandStream(7, "c/rule", 0).Uint64(), eh.RandStream(7, "c/rule#2", 0).Uint64()}; !slices.Equal(draws, want) {
		t.Errorf("drew %v, want %v", draws, want)
	}
}

// A component without hooks, or with one for actions alone, takes nothing away from the others.
func TestHooksOfOneKind(t *testing.T) {
	marks := ruleID("marks", eh.AxisTransition, eh.Hooks{Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation,
		error) {
		o.Text += "!"
		o.Data["spoilt"] = true
		return o, nil
	}})
	h := mustNew(t, worldOf(&toy{start: []int{1, 2, 3}}), marks, ruleID("idle", eh.AxisTransition, eh.Hooks{}))
	mustReset(t, h)
	if tr := mustStep(t, h, combine(0, 1, "add")); tr.Observation.Text != "numbers 3 3!" {
		t.Errorf("shown %q", tr.Observation.Text)
	}
	if data := mustEvidence(t, h).Log[1].Transition.Observation.Data; data["spoilt"] != nil {
		t.Errorf("the log has %v", data)
	}
	var shown []string
	var lefts []int
	asks := func(limit int) eh.Component {
		return ruleID("asks", eh.AxisBudget, eh.Hooks{MaxTurns: limit, Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit,
			error) {
			shown, lefts = append(shown, v.Shown().Text), append(lefts, v.Left)
			return eh.PassAction(), nil
		}})
	}
	h = mustNew(t, worldOf(&toy{start: []int{1, 2, 3}}), asks(4), ruleID("wide", eh.AxisBudget, eh.Hooks{MaxTurns: 9}))
	mustReset(t, h)
	mustStep(t, h, combine(0, 1, "add"))
	mustStep(t, h, combine(0, 1, "add"))
	if d := cmp.Diff([]string{"numbers 1 2 3", "numbers 3 3"}, shown); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{4, 3}, lefts); d != "" {
		t.Errorf("View.Left: %s", d)
	}
	lefts = nil
	h = mustNew(t, eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		return describer{&toy{start: []int{1, 2, 3}}, eh.Description{MaxTurns: -5}}, nil
	}}, asks(0))
	mustReset(t, h)
	mustStep(t, h, combine(0, 1, "add"))
	if d := cmp.Diff([]int{0}, lefts); d != "" {
		t.Errorf("View.Left of an environment with a negative limit: %s", d)
	}
}

// A failure to read the state is the base's fault, even where the hook that asked keeps it to itself.
func TestStateErrorIsNotHidden(t *testing.T) {
	asking := false
	asks := func(v eh.View) {
		asking = true
		_, _ = v.State()
		asking = false
	}
	for name, hooks := range map[string]eh.Hooks{
		"start": {Start: func(_ context.Context, v eh.View) ([]eh.StartEdit, error) {
			asks(v)
			return nil, nil
		}},
		"action": {Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
			asks(v)
			return eh.PassAction(), nil
		}},
		"transition": {Transition: func(_ context.Context, v eh.View, _ eh.Transition) (eh.TransitionEdit, error) {
			asks(v)
			return eh.TransitionEdit{}, nil
		}},
		"observe": {Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
			asks(v)
			return o, nil
		}},
	} {
		w := toyWorld(nil, func(b *toy) {
			b.onState = func() error {
				if asking {
					return errBoom
				}
				return nil
			}
		})
		got := rollOne(t, w, func() eh.Policy { return script(combine(0, 1, "add"), stop) }, eh.Task{}, &noReruns, rule(eh.AxisAction, hooks))
		if got.End != eh.EndEnvError || !strings.Contains(got.Cause, "state: boom") {
			t.Errorf("%s: end %s, cause %q", name, got.End, got.Cause)
		}
	}
}

// What is no state is an error; what an environment without a state has graded is no matter.
func TestOddStates(t *testing.T) {
	for _, bad := range []string{``, `[]`, `null`, `"{}"`, `{`, `7`} {
		h := mustNew(t, worldOf(&oddState{toy: &toy{}, st: raw(bad)}))
		if _, err := h.Reset(t.Context(), eh.ResetOptions{}); err == nil || !strings.Contains(err.Error(), "not a JSON object") {
			t.Errorf("state %q: %v", bad, err)
		}
	}
	asked := false
	asks := rule(eh.AxisObservation, eh.Hooks{Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
		st, err := v.State()
		asked = st == nil
		return o, err
	}})
	mustReset(t, mustNew(t, worldOf(stateHidden{bare{&toy{}}}), asks))
	if !asked {
		t.Error("there is a state")
	}
}

type oddState struct {
	*toy
	st eh.State
}

func (o *oddState) State(context.Context) (eh.State, error) { return o.st, nil }

// stateHidden declares graded fields of a state that it does not show.
type stateHidden struct{ bare }

func (stateHidden) Describe() eh.Description { return eh.Description{Graded: []string{"success"}} }

// Whether a context ran out, was cancelled, or ran out in a hook.
func TestEndOfTheContext(t *testing.T) {
	slow := func(ctx context.Context, _ *toy, _ eh.Action) (*eh.Transition, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	hook := rule(eh.AxisAction, eh.Hooks{Action: func(ctx context.Context, _ eh.View, _ eh.Action) (eh.ActionEdit, error) {
		<-ctx.Done()
		return eh.PassAction(), ctx.Err()
	}})
	tests := []struct {
		name   string
		cancel bool
		stack  []eh.Component
		want   eh.EndReason
		reason string
	}{
		{"deadline in the base", false, nil, eh.EndTimeout, "a real deadline"},
		{"deadline in a hook", false, []eh.Component{hook}, eh.EndComponentError, "a hook that takes too long is at fault itself"},
		{"cancelled", true, nil, eh.EndCanceled, "nobody is at fault"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if tt.cancel {
				time.AfterFunc(time.Second, cancel)
			}
			h := mustNew(t, worldOf(&toy{onStep: slow}), tt.stack...)
			mustReset(t, h)
			_, err := h.Step(ctx, stop)
			if e := mustEvidence(t, h); err == nil || e.EndReason != tt.want || len(e.Log) != 1 {
				t.Errorf("%s: end %s, log of %d, %v (%s)", tt.name, e.EndReason, len(e.Log), err, tt.reason)
			}
		})
	}
}

// A step whose result nobody may give is in no log.
func TestBadStepIsNotLogged(t *testing.T) {
	h := mustNew(t, worldOf(&toy{onStep: func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
		return &eh.Transition{Reward: math.NaN()}, nil
	}}))
	mustReset(t, h)
	if _, err := h.Step(t.Context(), stop); err == nil {
		t.Error("a reward that is no number is accepted")
	}
	if n := len(mustEvidence(t, h).Log); n != 1 {
		t.Errorf("%d entries in the log, want the reset alone", n)
	}
	o := &nanObserver{toy: &toy{}}
	h = mustNew(t, worldOf(o), blockOp("add"))
	mustReset(t, h)
	o.bad = true
	if _, err := h.Step(t.Context(), combine(0, 1, "add")); err == nil || mustEvidence(t, h).EndReason != eh.EndEnvError {
		t.Errorf("an observation with what is no number: %v", err)
	}
}

type nanObserver struct {
	*toy
	bad bool
}

func (n *nanObserver) Observe(context.Context) (eh.Observation, error) {
	if n.bad {
		return eh.Observation{Data: map[string]any{"x": math.NaN()}}, nil
	}
	return n.observation(), nil
}

// The list of tasks is the caller's.
func TestTasksAreCopies(t *testing.T) {
	base := &taskKeeper{toy: &toy{}, tasks: []eh.Task{{ID: "a", Options: raw(`{}`)}}}
	h := mustNew(t, worldOf(base))
	got, err := h.Tasks(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	clear(got[0].Options)
	got[0].ID = "spoilt"
	if base.tasks[0].ID != "a" || string(base.tasks[0].Options) != `{}` {
		t.Errorf("the environment's own list is %+v", base.tasks)
	}
}

type taskKeeper struct {
	*toy
	tasks []eh.Task
}

func (k *taskKeeper) Tasks(context.Context, string) ([]eh.Task, error) { return k.tasks, nil }

// Errors whose methods panic stay inside, whichever call they come from.
func TestErrorsThatPanic(t *testing.T) {
	for name, bad := range map[string]error{"Error": panics{err: true}, "Is": panics{is: true}, "As": panics{as: true},
		"nil": (*brokenError)(nil)} {
		h := mustNew(t, worldOf(&toy{onReset: func() error { return bad }}))
		if _, err := h.Reset(t.Context(), eh.ResetOptions{}); err == nil || !strings.Contains(err.Error(), "panic") {
			t.Errorf("%s at the reset: %v", name, err)
		}
		h = mustNew(t, worldOf(&toy{onStep: func(context.Context, *toy, eh.Action) (*eh.Transition, error) { return nil, bad }}))
		mustReset(t, h)
		if _, err := h.Step(t.Context(), stop); err == nil || !strings.Contains(err.Error(), "panic") {
			t.Errorf("%s at a step: %v", name, err)
		}
	}
}

// panics is an error with a method that panics.
type panics struct{ err, is, as bool }

func (p panics) Error() string {
	if p.err {
		panic("Error")
	}
	return "bad"
}

func (p panics) Is(error) bool {
	if p.is {
		panic("Is")
	}
	return false
}

func (p panics) As(any) bool {
	if p.as {
		panic("As")
	}
	return false
}

// Time that the base takes to show its state is not the hook's, and after it the hook is watched again.
func TestHookTimeAfterState(t *testing.T) {
	for _, tt := range []struct {
		name  string
		think time.Duration
		end   eh.EndReason
	}{{"slow state", 0, eh.EndAgentStop}, {"slow hook", time.Hour, eh.EndComponentError}} {
		synctest.Test(t, func(t *testing.T) {
			w := toyWorld(nil, func(b *toy) {
				b.onState = func() error { time.Sleep(30 * time.Second); return nil }
			})
			asks := rule(eh.AxisObservation, eh.Hooks{Observe: func(ctx context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
				_, err := v.State()
				select {
				case <-ctx.Done():
				case <-time.After(tt.think + 9*time.Second):
				}
				return o, err
			}})
			got := rollOne(t, w, func() eh.Policy { return script() }, eh.Task{}, &noReruns, asks)
			if got.End != tt.end {
				t.Errorf("%s: end %s, %s", tt.name, got.End, got.Cause)
			}
		})
	}
}

// What Canonical is given stays as it is, and within a class so does the order; an id that was given counts as a use of its tag.
func TestCanonicalKeepsItsInput(t *testing.T) {
	var given []eh.Component
	for i := range 60 {
		axis := []eh.Axis{eh.AxisBudget, eh.AxisAction, eh.AxisStart}[i%3]
		given = append(given, ruleID(string(axis)+string(rune('A'+i)), axis, eh.Hooks{}))
	}
	ids := func(cs []eh.Component) (out []string) {
		for _, c := range cs {
			out = append(out, c.Spec().ID)
		}
		return out
	}
	before := ids(given)
	got := ids(eh.Canonical(given))
	if !slices.Equal(before, ids(given)) {
		t.Error("the components given were sorted in place")
	}
	var want []string
	for _, start := range []int{2, 1, 0} {
		for i := start; i < 60; i += 3 {
			want = append(want, before[i])
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	tr := rollOne(t, toyWorld(nil, nil), func() eh.Policy { return script() }, eh.Task{}, &noReruns, ruleID("mine", eh.AxisAction,
		eh.Hooks{}), ruleID("", eh.AxisAction, eh.Hooks{}))
	if id := tr.Components[1].ID; id != "rule#2" {
		t.Errorf("id %q of the second rule", id)
	}
}

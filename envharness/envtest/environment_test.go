package envtest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/sim"
)

// The environments of this module keep all rules.
func TestEnvironments(t *testing.T) {
	for _, tt := range []struct {
		name   string
		e      envtest.Environment
		reason string
	}{
		{"game24", envtest.Environment{New: game24.World(nil).New, SeedBlind: true}, "a hand has no chance in it"},
		{"game24 loose", envtest.Environment{New: game24.World(&game24.Options{LooseStop: true}).New, SeedBlind: true,
			Tasks: []envharness.Task{{ID: "3,3,8,8"}, {ID: "4,4,6,6"}}}, "with a hand that has no solution"},
		{"tooldesk", envtest.Environment{New: tooldesk.World(nil).New, SeedBlind: true,
			Tasks:    []envharness.Task{{ID: "T1-0000"}, {ID: "T5-0001"}, {ID: "T6-0002"}},
			Refusals: []envharness.ErrorClass{envharness.ClassPrecondition, envharness.ClassPermission}}, "the desk's rules may refuse candidates"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			tt.e.Run(t)
		})
	}
}

// A panicking game panics in Step, so many calls deep.
type panicking struct {
	*sim.Env
	deep  int
	plays map[any]int // with something in it
}

func (p panicking) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if p.deep--; p.deep > 0 {
		return p.Step(ctx, a)
	}
	delete(p.plays, any(a.Args)) // a slice is no key
	return envharness.Transition{}, nil
}

// A panic is reported on one line, with the places outside of the kit that led to it, or those in the kit if it panicked there.
func TestPanics(t *testing.T) {
	const step = `envtest_test\.panicking\.Step \(environment_test\.go:\d+\)`
	for _, tt := range []struct {
		name   string
		deep   int
		source envtest.Source
		want   string
		reason string
	}{
		{"one call", 1, nil, step, "neither the calls of the runtime above nor those of the kit and of testing below"},
		{"two calls", 2, nil, step + ", called at " + step, "what called it"},
		{"many calls", 20, nil, step + ", called at " + step + ", called at " + step, "three are enough"},
		{"source", 1, func(*rand.Rand, envharness.Observation, []envharness.Tool) envharness.Action { panic("no idea") },
			`envtest_test\.TestPanics\.func\d+ \(environment_test\.go:\d+\)`, "what the kit was given is outside of it too"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			e := envtest.Environment{Actions: tt.source, SeedBlind: true, New: func(context.Context) (envharness.Environment, error) {
				return panicking{Env: game24.New(nil), deep: tt.deep, plays: map[any]int{1: 1}}, nil
			}}
			err := e.Check(t.Context())
			want := regexp.MustCompile(`(?m)^E05: panic: (no idea|runtime error: hash of unhashable type json.RawMessage), at ` + tt.want + "$")
			if err == nil || !want.MatchString(err.Error()) {
				t.Errorf("%v, want a match of %q (%s)", err, want, tt.reason)
			}
		})
	}
}

// Where nothing can be done, nothing is kept: the kit says so and nothing else.
func TestNoActions(t *testing.T) {
	world := func(listed func(task string) bool) envharness.World {
		return envharness.World{
			New: func(context.Context) (envharness.Environment, error) { return &mute{listed: listed}, nil },
			Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
				return envharness.Verdict{Status: envharness.Fail}, nil
			}),
		}
	}
	never, always := func(string) bool { return false }, func(string) bool { return true }
	ifTask := func(task string) bool { return task == "a" }
	nod := func(*rand.Rand, envharness.Observation, []envharness.Tool) envharness.Action {
		return envharness.Action{Name: "nod"}
	}
	tasks := []envharness.Task{{ID: "a"}, {ID: "b"}}
	observed := func() envharness.Component { return new(greeting) }
	for _, tt := range []struct {
		name   string
		check  func(ctx context.Context) error
		want   bool
		reason string
	}{
		{"environment", envtest.Environment{New: world(never).New}.Check, true, "it shows a text alone"},
		{"environment with a source", envtest.Environment{New: world(never).New, Actions: nod}.Check, false, "the caller knows better"},
		{"environment with actions", envtest.Environment{New: world(always).New}.Check, false, "one is listed"},
		{"one task of two", envtest.Environment{New: world(ifTask).New, Tasks: tasks}.Check, true, "episodes of the other would all be equal"},
		{"verifier", envtest.Verifier{World: world(never)}.Check, true, "random play would play nothing"},
		{"verifier with a source", envtest.Verifier{World: world(never), Actions: nod}.Check, false, "the caller knows better"},
		{"verifier with actions", envtest.Verifier{World: world(always)}.Check, false, "one is listed"},
		{"component", envtest.Component{World: world(never), New: observed}.Check, true, "no turn would reach the base"},
		{"component with a source", envtest.Component{World: world(never), New: observed, Actions: nod}.Check, false, "the caller knows better"},
		{"component with a script", envtest.Component{World: world(never), New: observed, Script: []envharness.Action{{Name: "nod"}}}.Check,
			false, "that is played"},
		{"component with actions", envtest.Component{World: world(always), New: observed}.Check, false, "one is listed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			err := tt.check(t.Context())
			_, violation := errors.AsType[envtest.Violation](err)
			said := err != nil && strings.Contains(err.Error(), "no actions can be made")
			if said != tt.want || said && violation {
				t.Errorf("%v, want that no actions can be made: %v (%s)", err, tt.want, tt.reason)
			}
		})
	}
}

// A mute environment has no tools, and lists an action only for some tasks.
type mute struct {
	listed func(task string) bool
	task   string
}

func (m *mute) Reset(_ context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	m.task = o.Task
	return m.observation(), nil
}

func (m *mute) observation() envharness.Observation {
	o := envharness.Observation{Text: "yes?"}
	if m.listed(m.task) {
		o.Actions = []envharness.Action{{Name: "nod"}}
	}
	return o
}

func (m *mute) Step(context.Context, envharness.Action) (envharness.Transition, error) {
	return envharness.Transition{Observation: m.observation()}, nil
}

func (m *mute) Close() error { return nil }

func BenchmarkCheck(b *testing.B) {
	for _, bb := range []struct {
		name string
		e    envtest.Environment
	}{
		{"game24", envtest.Environment{New: game24.World(nil).New, SeedBlind: true}},
		{"tooldesk", envtest.Environment{New: tooldesk.World(nil).New, SeedBlind: true,
			Refusals: []envharness.ErrorClass{envharness.ClassPrecondition, envharness.ClassPermission}}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bb.e.Check(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

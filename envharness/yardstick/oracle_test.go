package yardstick_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// A stage is a world of a plan: its oracle says the plan, and it accepts whatever is done.
type stage struct {
	plan      []envharness.Action
	err       error // of the plan
	seedless  bool  // seeds are not supported
	resetWith *envharness.ResetOptions
	closed    *int
}

func (s stage) Reset(_ context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if s.seedless && o.Seed != nil {
		return envharness.Observation{}, envharness.ErrSeedUnsupported
	}
	if o.Task == "none" {
		return envharness.Observation{}, envharness.ErrNoTask
	}
	*s.resetWith = o
	return envharness.Observation{}, nil
}

func (s stage) Step(context.Context, envharness.Action) (envharness.Transition, error) {
	return envharness.Transition{}, nil
}

func (s stage) Close() error { *s.closed++; return nil }

func (s stage) Plan(context.Context) ([]envharness.Action, error) { return s.plan, s.err }

func (s stage) Describe() envharness.Description { return envharness.Description{Name: "stage"} }

// mute is a world without an oracle.
type mute struct{ envharness.Environment }

func open(env envharness.Environment, err error) envharness.World {
	return envharness.World{New: func(context.Context) (envharness.Environment, error) { return env, err }}
}

func TestPlan(t *testing.T) {
	broken := errors.New("out of stock")
	walk := []envharness.Action{act("go", `{"to":"a"}`), act("end", `{}`)}
	seed := new(uint64(7))
	for _, tt := range []struct {
		name   string
		stage  stage
		world  envharness.World // that of the stage if it has no New
		task   envharness.Task
		is     []error // what the error is
		not    []error // and what it is not
		want   string  // in its text
		seed   *uint64 // that the world was reset with
		reason string
	}{
		{name: "plan", stage: stage{plan: walk}, task: envharness.Task{ID: "t", Seed: seed, Options: []byte(`{"n":1}`)}, seed: seed,
			reason: "as the oracle says"},
		{name: "seedless", stage: stage{plan: walk, seedless: true}, task: envharness.Task{ID: "t", Seed: seed}, reason: "as a harness resets it"},
		{name: "no oracle", world: open(mute{}, nil), task: envharness.Task{ID: "t"}, is: []error{envharness.ErrNotProven},
			not: []error{envharness.ErrNoPlan, envharness.ErrInfra}, want: `yardstick: the world, task "t": plan: `, reason: "nothing is known of the task"},
		{name: "unsolvable", stage: stage{err: envharness.ErrNoPlan}, task: envharness.Task{ID: "t"}, is: []error{envharness.ErrNoPlan},
			not: []error{envharness.ErrNotProven, envharness.ErrInfra}, want: `yardstick: world "stage", task "t": plan: `, reason: "it was proved"},
		{name: "not found", stage: stage{err: envharness.ErrNotProven}, is: []error{envharness.ErrNotProven}, want: `task ""`, reason: "passed on"},
		{name: "no task", stage: stage{}, task: envharness.Task{ID: "none"}, is: []error{envharness.ErrNoTask, envharness.ErrInfra},
			want: `yardstick: world "stage", task "none": reset: `, reason: "no episode, so nobody failed it"},
		{name: "closed", world: open(nil, broken), is: []error{broken, envharness.ErrInfra}, want: "open: out of stock", reason: "it cannot be opened"},
		{name: "no world", world: envharness.World{Verifier: envharness.VerifierFunc(nil)}, want: "open: the world has no New", reason: "no panic"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			closed, with := 0, envharness.ResetOptions{}
			tt.stage.closed, tt.stage.resetWith = &closed, &with
			opened := tt.world.New == nil && tt.world.Verifier == nil
			if opened {
				tt.world = open(tt.stage, nil)
			}
			if tt.name == "no oracle" {
				tt.world = open(struct{ mute }{mute{quiet{&closed}}}, nil)
				opened = true
			}
			got, err := yardstick.Plan(t.Context(), tt.world, tt.task)
			if opened && closed != 1 {
				t.Errorf("closed %d times", closed)
			}
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || got != nil) {
				t.Fatalf("%v, %v, want %q (%s)", got, err, tt.want, tt.reason)
			}
			for _, is := range tt.is {
				if !errors.Is(err, is) {
					t.Errorf("%v is no %v (%s)", err, is, tt.reason)
				}
			}
			for _, not := range tt.not {
				if errors.Is(err, not) {
					t.Errorf("%v is a %v (%s)", err, not, tt.reason)
				}
			}
			if err == nil && (fmt.Sprint(got) != fmt.Sprint(walk) || with.Task != tt.task.ID || string(with.Options) != string(tt.task.Options) ||
				(with.Seed == nil) != (tt.seed == nil)) {
				t.Errorf("%v of %+v (%s)", got, with, tt.reason)
			}
			if tt.reason == "" {
				t.Error("no reason")
			}
		})
	}
}

// quiet is an environment that can be closed, and no more.
type quiet struct{ closed *int }

func (quiet) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return envharness.Observation{}, nil
}

func (quiet) Step(context.Context, envharness.Action) (envharness.Transition, error) {
	return envharness.Transition{}, nil
}

func (q quiet) Close() error { *q.closed++; return nil }

// The oracle passes the tasks of worlds that have one, also where some calls fail for the moment; fails an episode without a plan; and does
// not blame itself for a world that is broken.
func TestOracle(t *testing.T) {
	for _, tt := range []struct {
		name   string
		world  envharness.World
		task   string
		stack  []envharness.Component
		status envharness.Status
		end    envharness.EndReason
		cause  string
		reason string
	}{
		{"game24", game24.World(nil), "3,3,8,8", nil, envharness.Pass, envharness.EndTerminated, "", "it has a solution"},
		{"desk", tooldesk.World(nil), "T6-0000", nil, envharness.Pass, envharness.EndTerminated, "", "it has a solution"},
		{"flaky desk", tooldesk.World(nil), "T6-0000", []envharness.Component{components.ToolFail{Nth: 2, Count: 2}}, envharness.Pass,
			envharness.EndTerminated, "", "asked again, twice"},
		{"closed desk", tooldesk.World(nil), "T6-0000", []envharness.Component{components.Block{Reason: "closed"}}, envharness.Fail,
			envharness.EndAgentError, `yardstick: task "T6-0000", turn 1: planned action `, "refused for good"},
		{"unsolvable", game24.World(nil), "1,1,1,1", nil, envharness.Fail, envharness.EndAgentError, "unsolvable", "nothing to do"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			task := envharness.Task{ID: tt.task, Seed: new(uint64(7))}
			traces, err := envharness.Rollouts(t.Context(), tt.world, tt.stack, func(int) (envharness.Policy, error) {
				return yardstick.Oracle(tt.world, task), nil
			}, []envharness.Task{task}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := traces[0]
			if got.Verdict.Status != tt.status || got.End != tt.end || !strings.Contains(got.Cause, tt.cause) {
				t.Errorf("%s, %s, %q after %d turns (%s)", got.Verdict.Status, got.End, got.Cause, len(got.Turns), tt.reason)
			}
		})
	}
}

// The policy plays one episode after the other, and has nothing to do after its plan.
func TestOracleByHand(t *testing.T) {
	w := open(stage{plan: []envharness.Action{act("a", ``), act("b", ``)}, resetWith: new(envharness.ResetOptions), closed: new(0)}, nil)
	p := yardstick.Oracle(w, envharness.Task{ID: "t"})
	later := &envharness.ActionError{Class: envharness.ClassTransient, Message: "later", Retryable: true}
	never := &envharness.ActionError{Class: envharness.ClassPermission, Message: "never"}
	for _, tt := range []struct {
		turn   envharness.Turn
		want   string // the action, or else in the error
		fails  bool
		reason string
	}{
		{envharness.Turn{}, "a", false, "first"},
		{envharness.Turn{Index: 1, Error: later}, "a", false, "again"},
		{envharness.Turn{Index: 2}, "b", false, "carried out"},
		{envharness.Turn{Index: 3}, `yardstick: task "t", turn 3: the plan of 2 actions did not end the episode`, true, "none is left"},
		{envharness.Turn{Index: 4, Error: never}, `task "t", turn 4: no action was refused: never`, true, "no panic beyond the plan"},
		{envharness.Turn{}, "a", false, "a new episode"},
		{envharness.Turn{Index: 1, Error: never}, "planned action a was refused: never", true, "for good"},
	} {
		a, err := p.Act(t.Context(), tt.turn)
		if (err != nil) != tt.fails || !tt.fails && a.Text() != tt.want || tt.fails && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("turn %d: %s, %v, want %q (%s)", tt.turn.Index, a, err, tt.want, tt.reason)
		}
		if tt.reason == "" {
			t.Error("no reason")
		}
	}
}

// Every world here is solved by its own oracle, for several tasks, in no more turns than it has.
func TestOraclePasses(t *testing.T) {
	for name, w := range map[string]envharness.World{
		"game24": game24.World(nil), "tooldesk": tooldesk.World(&tooldesk.Options{Small: true}), "keydoor": keydoor.World(nil),
		"household": household.World(&household.Options{Small: true}),
	} {
		env, err := w.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lister, _ := envharness.As[envharness.TaskLister](env)
		tasks, err := lister.Tasks(t.Context(), "train")
		if err != nil || len(tasks) < 4 {
			t.Fatalf("%s: %d tasks, %v", name, len(tasks), err)
		}
		tasks = tasks[:4]
		for i := range tasks {
			if tasks[i].Seed == nil {
				tasks[i].Seed = new(uint64(i))
			}
		}
		policy := func(slot int) (envharness.Policy, error) { return yardstick.Oracle(w, tasks[slot]), nil }
		traces, err := envharness.Rollouts(t.Context(), w, nil, policy, tasks, nil)
		if err != nil {
			t.Fatal(err)
		}
		if rate, err := envharness.SuccessRate(traces, len(traces)); err != nil || rate != 1 {
			t.Errorf("%s: %v, %v", name, rate, err)
		}
	}
}

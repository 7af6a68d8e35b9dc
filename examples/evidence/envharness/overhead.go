package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
)

// overheadResult says what the harness costs on this machine, now. It differs between machines and runs, and fails nothing.
type overheadResult struct {
	Machine        string  `json:"machine"`
	Step           float64 `json:"step_ns"`                  // a step of a harness without components around an environment that does nothing
	OneNil         float64 `json:"step_1_nil_component_ns"`  // with one component without hooks
	TenNil         float64 `json:"step_10_nil_component_ns"` // with ten
	PerComponent   float64 `json:"ns_per_component"`         // what each of the ten adds
	PerWorking     float64 `json:"ns_per_working_component"` // with an Action, a Transition and an Observe hook that change nothing
	NilAllocations float64 `json:"allocations_per_step"`     // with ten components without hooks
	Recorded       float64 `json:"recorded_turn_ns"`         // a turn of a rollout of this environment, recorded and judged
	Desk           struct {
		Episodes   int     `json:"episodes"`
		Turns      int     `json:"turns"`
		Components int     `json:"components"`
		Parallel   int     `json:"parallel"`
		Seconds    float64 `json:"seconds"`
	} `json:"tooldesk"`
}

// An idle environment does nothing, so that what is measured is the harness.
type idle struct{}

func (idle) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return envharness.Observation{Text: "hello"}, nil
}

func (idle) Step(context.Context, envharness.Action) (envharness.Transition, error) {
	return envharness.Transition{Observation: envharness.Observation{Text: "hello"}}, nil
}

func (idle) Close() error { return nil }

func idleWorld() envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return idle{}, nil },
		Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

// plainHooks are of a component that looks at everything and changes nothing.
var plainHooks = envharness.Hooks{
	Action: func(context.Context, envharness.View, envharness.Action) (envharness.ActionEdit, error) {
		return envharness.PassAction(), nil
	},
	Transition: func(context.Context, envharness.View, envharness.Transition) (envharness.TransitionEdit, error) {
		return envharness.TransitionEdit{}, nil
	},
	Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
		return o, nil
	},
}

func runOverhead(ctx context.Context, quick bool) (overheadResult, error) {
	r := overheadResult{Machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())}
	for _, m := range []struct {
		to    *float64
		n     int
		hooks envharness.Hooks
	}{{&r.Step, 0, envharness.Hooks{}}, {&r.OneNil, 1, envharness.Hooks{}}, {&r.TenNil, 10, envharness.Hooks{}}, {&r.PerWorking, 10, plainHooks}} {
		ns, err := stepTime(ctx, m.n, m.hooks)
		if err != nil {
			return r, err
		}
		*m.to = ns
	}
	r.PerComponent = max(0, r.TenNil-r.Step) / 10
	r.PerWorking = (r.PerWorking - r.Step) / 10
	if err := r.allocations(ctx); err != nil {
		return r, err
	}
	if err := r.recorded(ctx); err != nil {
		return r, err
	}
	r.Desk.Episodes = 10_000
	if quick {
		r.Desk.Episodes = 1000
	}
	return r, r.desk(ctx)
}

const turnsTimed = 64 // of each episode, so that a reset has a small share

// stepTime returns the shortest mean time of a step among several runs.
func stepTime(ctx context.Context, n int, hooks envharness.Hooks) (float64, error) {
	h, err := openIdle(n, hooks)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	best := time.Duration(1<<63 - 1)
	const episodes = 300
	for range 7 {
		var steps time.Duration
		for range episodes {
			if _, err := h.Reset(ctx, envharness.ResetOptions{}); err != nil {
				return 0, err
			}
			start := time.Now()
			if err := takeSteps(ctx, h); err != nil {
				return 0, err
			}
			steps += time.Since(start)
		}
		best = min(best, steps)
	}
	return float64(best.Nanoseconds()) / (episodes * turnsTimed), nil
}

func openIdle(n int, hooks envharness.Hooks) (*envharness.Harness, error) {
	var stack []envharness.Component
	for i := range n {
		stack = append(stack, rule(fmt.Sprint("c", i), envharness.AxisAction, hooks))
	}
	return envharness.New(idleWorld(), stack...)
}

var look = envharness.Action{Name: "look", Args: []byte(`{"at":"the clock"}`)}

func takeSteps(ctx context.Context, h *envharness.Harness) error {
	for range turnsTimed {
		if _, err := h.Step(ctx, look); err != nil {
			return err
		}
	}
	return nil
}

// allocations counts what a step with ten components without hooks allocates, once the log has grown to its size.
func (r *overheadResult) allocations(ctx context.Context) error {
	h, err := openIdle(10, envharness.Hooks{})
	if err != nil {
		return err
	}
	defer h.Close()
	least := ^uint64(0)
	for range 5 { // the least of several, as the runtime allocates as well
		if _, err := h.Reset(ctx, envharness.ResetOptions{}); err != nil {
			return err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := takeSteps(ctx, h)
		runtime.ReadMemStats(&after)
		if err != nil {
			return err
		}
		least = min(least, after.Mallocs-before.Mallocs)
	}
	r.NilAllocations = float64(least) / turnsTimed
	return nil
}

func (r *overheadResult) recorded(ctx context.Context) error {
	tasks := make([]envharness.Task, 200)
	best := time.Duration(1<<63 - 1)
	for range 5 {
		start := time.Now()
		_, err := envharness.Rollouts(ctx, idleWorld(), nil, func(int) (envharness.Policy, error) {
			return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
				return envharness.Action{Name: "look"}, nil
			}), nil
		}, tasks, &envharness.RolloutOptions{MaxTurns: turnsTimed})
		if err != nil {
			return err
		}
		best = min(best, time.Since(start))
	}
	r.Recorded = float64(best.Nanoseconds()) / float64(len(tasks)*turnsTimed)
	return nil
}

// desk times recorded, judged and replayed episodes of ten turns on the service desk behind five components.
func (r *overheadResult) desk(ctx context.Context) error {
	stack := []envharness.Component{
		components.Block{Tools: []string{"transfer"}},
		components.ToolFail{Tools: []string{"get_order"}},
		components.RateLimit{Tools: []string{"find_customer"}},
		components.CallCap{Tools: []string{"refund"}},
		components.StepBudget{Turns: 10},
	}
	desk := tooldesk.New(nil)
	all, err := desk.Tasks(ctx, "train")
	if err != nil {
		return err
	}
	if err := desk.Close(); err != nil {
		return err
	}
	tasks := make([]envharness.Task, r.Desk.Episodes)
	for i := range tasks {
		tasks[i] = all[i%len(all)]
	}
	start := time.Now()
	r.Desk.Components, r.Desk.Parallel = len(stack), 2
	for t, err := range envharness.Stream(ctx, tooldesk.World(nil), stack, func(int) (envharness.Policy, error) {
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
			return t.Shown.Actions[t.Index%len(t.Shown.Actions)], nil
		}), nil
	}, slices.Values(tasks), &envharness.RolloutOptions{Parallel: r.Desk.Parallel, MaxTurns: 10}) {
		if err != nil {
			return err
		}
		if t.Verdict.Status == envharness.Invalid {
			return fmt.Errorf("episode %d of the desk: %s", t.Slot, t.Cause)
		}
		r.Desk.Turns += len(t.Turns)
	}
	r.Desk.Seconds = time.Since(start).Seconds()
	return nil
}

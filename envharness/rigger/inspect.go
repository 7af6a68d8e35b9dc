package rigger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// inspector runs the steps of the gate that need no rollout of the policy on one task. It is made once a task and keeps what does not
// change from candidate to candidate: the plan, what the base does with the scripts, how often a policy that acts at random passes.
type inspector struct {
	world    envharness.World
	task     envharness.Task // with its seed
	about    envharness.Description
	registry *components.Registry
	plans    bool                // the base has an oracle
	plan     []envharness.Action // of it, from the unmodified start; nil without one
	baseline []envharness.Trace  // of the policy, unmodified; set before the first inspection
	checks
	play player

	between func(c Candidate) []StepResult // steps that follow static and cost nothing; nil means none

	bare   map[string]envharness.Trace // what scripts do on the unmodified base, by their calls
	random *Tally                      // of the null policy that draws, on the unmodified base; nil until it is measured
	states []envharness.State          // of the base in those scripts; nil until they are asked for

	results   map[string]StepResult // of integrity and start, by step and stack: a stack that is proposed again is not played again
	solutions map[string]solution   // by stack
}

// checks adjusts an inspector. All fields are as in [Options], with the defaults filled in.
type checks struct {
	nullEpisodes  int
	searchLimit   int
	maxComponents int
	rollout       envharness.RolloutOptions // limits on turns and times; the rest is not used
}

// inspection is what the inspector found.
type inspection struct {
	steps   []StepResult // up to the first that failed
	stack   []envharness.Component
	key     string // of the stack
	proven  bool   // somebody passed
	checked int    // rollouts of policies that know nothing
}

// newInspector opens the world to see what it says of itself and of the task. The error is one of the context or of the world.
func newInspector(
	ctx context.Context, w envharness.World, task envharness.Task, r *components.Registry, baseline []envharness.Trace, c checks, play player,
) (*inspector, error) {
	in := &inspector{world: w, task: task, registry: r, baseline: baseline, checks: c, play: play, bare: make(map[string]envharness.Trace),
		results: make(map[string]StepResult), solutions: make(map[string]solution)}
	if err := in.look(ctx); err != nil {
		return nil, fmt.Errorf("rigger: task %q: %w", task.ID, err)
	}
	plan, err := bounded(ctx, stepTimeout(c.rollout), func(ctx context.Context) ([]envharness.Action, error) { return yardstick.Plan(ctx, w, task) }, nil)
	in.plan = plan
	if err != nil && !errors.Is(err, envharness.ErrNotProven) && !errors.Is(err, envharness.ErrNoPlan) {
		return nil, fmt.Errorf("rigger: %w", err)
	}
	return in, nil
}

// look learns what the world says of itself and can do. An error of Close is nothing that an episode would fail for.
func (in *inspector) look(ctx context.Context) error {
	type sight struct {
		about envharness.Description
		plans bool
	}
	seen, err := bounded(ctx, stepTimeout(in.rollout), func(ctx context.Context) (sight, error) {
		env, err := in.world.New(ctx)
		if err != nil {
			return sight{}, fmt.Errorf("open: %w", err)
		}
		var s sight
		if d, ok := envharness.As[envharness.Describer](env); ok {
			s.about = d.Describe()
		}
		_, s.plans = envharness.As[envharness.Oracle](env)
		_ = env.Close()
		return s, nil
	}, nil)
	in.about, in.plans = seen.about, seen.plans
	return err
}

// inspect runs static, integrity, start, oracle and null, in this order, the cheap ones first. The error is one of the context or of the
// base, and says nothing about the candidate. The same candidate gets the same inspection: only null plays it again.
func (in *inspector) inspect(ctx context.Context, attempt int, c Candidate) (inspection, error) {
	var found inspection
	steps := []func() (StepResult, error){
		func() (StepResult, error) {
			return contained(StepStatic, func() (StepResult, error) { return in.static(ctx, c, &found) })
		},
		func() (StepResult, error) {
			return once(in.results, "integrity "+found.key, func() (StepResult, error) {
				return contained(StepIntegrity, func() (StepResult, error) { return in.integrity(ctx, &found) })
			})
		},
		func() (StepResult, error) { return in.startOnce(ctx, &found) },
		func() (StepResult, error) { return in.oracle(ctx, c.Direction, &found) },
		func() (StepResult, error) { return in.null(ctx, attempt, &found) },
	}
	for i, step := range steps {
		result, err := step()
		if err != nil {
			return found, err
		}
		found.steps = append(found.steps, result)
		if i == 0 && result.Result != Failed && in.between != nil {
			found.steps = append(found.steps, in.between(c)...)
		}
		for _, s := range found.steps {
			if s.Result == Failed {
				return found, nil
			}
		}
	}
	return found, nil
}

// build makes the components of a candidate, innermost first.
func (in *inspector) build(c Candidate) ([]envharness.Component, error) {
	return in.registry.Stack(c.Stack...)
}

// script makes policies that make the calls of a fixed list and stop.
func script(calls []envharness.Action) func() envharness.Policy {
	return func() envharness.Policy {
		next := 0
		return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
			if next == len(calls) {
				return envharness.Action{}, envharness.ErrStop
			}
			next++
			return calls[next-1], nil
		})
	}
}

// contained makes a failed step of a panic of components in what is no hook, such as Spec or Outward. Of the world nothing runs on this
// goroutine in the steps that it is for.
func contained(step Step, f func() (StepResult, error)) (r StepResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = StepResult{step, Failed, fmt.Sprintf("panic: %v", p)}, nil
		}
	}()
	return f()
}

// once returns what a function returned for the key before, if that was no error.
func once[T any](known map[string]T, key string, f func() (T, error)) (T, error) {
	if v, ok := known[key]; ok {
		return v, nil
	}
	v, err := f()
	if err == nil {
		known[key] = v
	}
	return v, err
}

// trial plays one episode of the task for a check. It is not journalled, since it costs the world alone. The error is one of the context or
// of the base. What is put down to the base is its fault only if it fails at the same calls without the components, too; if it does not, the
// episode is played once more, and what spoils that is put down to the components. A replay that differs is put down to them at once: a base
// that is down does not do that, and components that play on it themselves may do so in one episode alone.
func (in *inspector) trial(
	ctx context.Context, stack []envharness.Component, w envharness.World, newPolicy func() envharness.Policy,
) (envharness.Trace, error) {
	t, err := in.episode(ctx, stack, w, newPolicy)
	if err != nil || !broke(&t) && !differed(&t) {
		return t, err
	}
	if len(stack) == 0 {
		return t, in.outageError(&t)
	}
	if err := in.outage(ctx, &t); err != nil || differed(&t) {
		return t, err
	}
	return in.episode(ctx, stack, w, newPolicy)
}

// outage plays what reached the base in an episode without the components. The error is one of the context, or tells that the base fails.
func (in *inspector) outage(ctx context.Context, t *envharness.Trace) error {
	var calls []envharness.Action
	for i := range t.Turns {
		if a := t.Turns[i].Applied; a != nil {
			calls = append(calls, *a)
		}
	}
	bare, err := in.episode(ctx, nil, in.world, script(calls))
	if err == nil && (broke(&bare) || differed(&bare)) {
		err = in.outageError(&bare)
	}
	return err
}

func (in *inspector) outageError(t *envharness.Trace) error {
	return fmt.Errorf("rigger: task %q: %w: the unmodified world failed: %s", in.task.ID, envharness.ErrInfra, t.Cause)
}

// broke reports whether infrastructure spoilt an episode, and not a component. That a replay differs is no matter of infrastructure.
func broke(t *envharness.Trace) bool {
	return t.End.Infra() && t.End != envharness.EndComponentError && !differed(t)
}

// differed reports whether the replay of an episode did.
func differed(t *envharness.Trace) bool {
	return t.End.Infra() && t.End != envharness.EndComponentError && strings.Contains(t.Cause, envharness.ErrTamper.Error())
}

// reruns is how often an episode that infrastructure spoilt is played again.
func (in *inspector) reruns() int { return *cmp.Or(in.rollout.Reruns, new(defaultReruns)) }

// episode plays one episode of the task. The error is one of the context.
func (in *inspector) episode(
	ctx context.Context, stack []envharness.Component, w envharness.World, newPolicy func() envharness.Policy,
) (envharness.Trace, error) {
	o := in.rollout
	o.Parallel, o.Kind, o.Progress = 1, "check", nil
	policy := func(int) (envharness.Policy, error) { return newPolicy(), nil }
	traces, err := envharness.Rollouts(ctx, w, stack, policy, []envharness.Task{in.task}, &o)
	if err != nil {
		return envharness.Trace{}, fmt.Errorf("rigger: task %q: %w", in.task.ID, err)
	}
	return traces[0], nil
}

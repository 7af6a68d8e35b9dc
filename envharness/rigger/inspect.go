package rigger

import (
	"context"
	"errors"
	"fmt"

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
	proven  bool                // somebody passed
	least   int                 // turns of the shortest pass that is known; 0 without one
	proof   []envharness.Action // the calls of that pass, as a policy behind the stack makes them
	checked int                 // rollouts of policies that know nothing
}

// newInspector opens the world to see what it says of itself and of the task. The error is one of the context or of the world.
func newInspector(
	ctx context.Context, w envharness.World, task envharness.Task, r *components.Registry, baseline []envharness.Trace, c checks, play player,
) (*inspector, error) {
	in := &inspector{world: w, task: task, registry: r, baseline: baseline, checks: c, play: play, bare: make(map[string]envharness.Trace)}
	if err := in.look(ctx); err != nil {
		return nil, fmt.Errorf("rigger: task %q: %w", task.ID, err)
	}
	var err error
	in.plan, err = yardstick.Plan(ctx, w, task)
	if err != nil && !errors.Is(err, envharness.ErrNotProven) && !errors.Is(err, envharness.ErrNoPlan) {
		return nil, fmt.Errorf("rigger: %w", err)
	}
	return in, nil
}

// look learns what the world says of itself and can do.
func (in *inspector) look(ctx context.Context) error {
	env, err := in.world.New(ctx)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if d, ok := envharness.As[envharness.Describer](env); ok {
		in.about = d.Describe()
	}
	_, in.plans = envharness.As[envharness.Oracle](env)
	if err := env.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// inspect runs static, integrity, start, oracle and null, in this order, the cheap ones first. The error is one of the context or of the
// base, and says nothing about the candidate. The same candidate gets the same inspection.
func (in *inspector) inspect(ctx context.Context, attempt int, c Candidate) (inspection, error) {
	var found inspection
	steps := []func() (StepResult, error){
		func() (StepResult, error) { return in.static(ctx, c, &found) },
		func() (StepResult, error) { return in.integrity(ctx, &found) },
		func() (StepResult, error) { return in.start(ctx, &found) },
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

// trial plays one episode of the task for a check. It is not journalled, since it costs the world alone. The error is one of the context.
func (in *inspector) trial(
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

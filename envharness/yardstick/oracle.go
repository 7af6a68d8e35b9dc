package yardstick

import (
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// Oracle returns a policy that plans on an environment of its own when an episode of the task begins, and does as planned. An action that
// was refused for the moment ([envharness.ActionError].Retryable) is asked for again. Its Act fails without a plan, as [Plan] does; when an
// action is refused for good; and where the episode goes on after the plan.
//
// The task needs the seed of the episode that is played where the world takes seeds, or the plan is for another one. The policy knows of no
// components: behind some the plan may not be what is needed.
func Oracle(w envharness.World, task envharness.Task) envharness.Policy {
	var plan []envharness.Action
	done := 0 // actions that were carried out
	return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
		switch {
		case t.Index == 0:
			var err error
			if plan, err = Plan(ctx, w, task); err != nil {
				return envharness.Action{}, err
			}
			done = 0
		case t.Error == nil:
			done++
		case !t.Error.Retryable:
			action := "no action"
			if done < len(plan) {
				action = "planned action " + plan[done].String()
			}
			return envharness.Action{}, fmt.Errorf("yardstick: task %q, turn %d: %s was refused: %s", task.ID, t.Index, action, t.Error.Message)
		}
		if done >= len(plan) {
			return envharness.Action{}, fmt.Errorf("yardstick: task %q, turn %d: the plan of %d actions did not end the episode",
				task.ID, t.Index, len(plan))
		}
		return plan[done], nil
	})
}

// Plan returns the actions of the world's own oracle ([envharness.Oracle]) from the start of a task, on an environment of its own, which is
// closed again. A seed is left out for a world that takes none.
//
// A world without an oracle is an [envharness.ErrNotProven], as is an oracle that found nothing; one that proved that there is no plan says
// [envharness.ErrNoPlan]. A world that cannot be opened or reset is an [envharness.ErrInfra], next to what it says itself, such as
// [envharness.ErrNoTask]. The error names the world, as it describes itself, and the task.
func Plan(ctx context.Context, w envharness.World, task envharness.Task) ([]envharness.Action, error) {
	name := "the world"
	fault := func(what string, err error) error {
		return fmt.Errorf("yardstick: %s, task %q: %s: %w", name, task.ID, what, err)
	}
	if w.New == nil {
		return nil, fault("open", errors.New("the world has no New"))
	}
	env, err := w.New(ctx)
	if err != nil {
		return nil, fault("open", infra{err})
	}
	defer env.Close()
	if d, ok := envharness.As[envharness.Describer](env); ok {
		name = fmt.Sprintf("world %q", d.Describe().Name)
	}
	oracle, ok := envharness.As[envharness.Oracle](env)
	if !ok {
		return nil, fault("plan", fmt.Errorf("%w: the world has no oracle", envharness.ErrNotProven))
	}
	o := envharness.ResetOptions{Task: task.ID, Seed: task.Seed, Options: task.Options}
	if _, err = env.Reset(ctx, o); errors.Is(err, envharness.ErrSeedUnsupported) {
		o.Seed = nil
		_, err = env.Reset(ctx, o)
	}
	if err != nil {
		return nil, fault("reset", infra{err})
	}
	plan, err := oracle.Plan(ctx)
	if err != nil {
		return nil, fault("plan", err)
	}
	return plan, nil
}

// An infra is what a world failed with: no failure of the policy that asked it.
type infra struct{ err error }

func (i infra) Error() string   { return i.err.Error() }
func (i infra) Unwrap() []error { return []error{envharness.ErrInfra, i.err} }

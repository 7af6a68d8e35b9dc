package worlds

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// Oracle returns a policy that plans on an environment of its own when the episode of the task begins, and does as planned. Without a plan
// its first action is an error.
func (w World) Oracle(task envharness.Task) envharness.Policy {
	var plan []envharness.Action
	return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index == 0 {
			var err error
			if plan, err = w.Plan(ctx, task); err != nil {
				return envharness.Action{}, err
			}
		}
		if t.Index >= len(plan) {
			return envharness.Action{}, fmt.Errorf("%s: task %s goes on after the %d actions of its plan", w.Name, task.ID, len(plan))
		}
		return plan[t.Index], nil
	})
}

// Plan returns the oracle's actions from the start of a task.
func (w World) Plan(ctx context.Context, task envharness.Task) ([]envharness.Action, error) {
	env, err := w.New(ctx)
	if err != nil {
		return nil, err
	}
	defer env.Close()
	oracle, ok := envharness.As[envharness.Oracle](env)
	if !ok {
		return nil, fmt.Errorf("%s has no oracle", w.Name)
	}
	if _, err := env.Reset(ctx, envharness.ResetOptions{Task: task.ID, Seed: task.Seed, Options: task.Options}); err != nil {
		return nil, err
	}
	return oracle.Plan(ctx)
}

package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// Demonstrations plays one episode of every task as the world's own oracle plans it ([envharness.Oracle]), and notes it as [Agent.Follow] does:
// episodes to imitate. A retryable refusal is tried again. A task without a plan, one whose plan does not end the episode, and one with an
// action that the agent could not take is an error, that of the first such task; see [Collect] for other errors and failures.
//
// Oracles know the episode that they plan for, so tasks without a seed get one, which follows from o.Seed and the task's id: they are
// other episodes than Collect makes of the same Options. The traces have the seeds in their tasks.
func Demonstrations(ctx context.Context, w envharness.World, a *Agent, tasks []envharness.Task, o *Options) ([]Episode, error) {
	if a == nil {
		return nil, errors.New("rollout: the agent is nil")
	}
	if o == nil {
		o = &Options{}
	}
	tasks = slices.Clone(tasks)
	for i := range tasks {
		if tasks[i].Seed == nil {
			tasks[i].Seed = new(envharness.RandStream(o.Seed, "demonstration/"+tasks[i].ID, 0).Uint64())
		}
	}
	players := make([]*player, len(tasks))
	episodes, err := Collect(ctx, w, nil, func(slot int) (Player, error) {
		agent := a
		if o.Notes != nil {
			agent = a.Given(o.Notes(tasks[slot]))
		}
		players[slot] = agent.player(nil, &planner{world: w, task: tasks[slot]})
		return players[slot], nil
	}, tasks, o)
	if err != nil {
		return nil, err
	}
	for i := range episodes {
		if episodes[i].Trace.End == envharness.EndAgentError {
			return nil, fmt.Errorf("rollout: demonstration of task %d (%s): %w", i, tasks[i].ID, players[i].err)
		}
	}
	return episodes, nil
}

// A planner does as the oracle of its world plans.
type planner struct {
	world envharness.World
	task  envharness.Task
	plan  []envharness.Action
	done  int
}

func (p *planner) Act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	switch {
	case t.Index == 0:
		var err error
		if p.plan, err = p.ask(ctx); err != nil {
			return envharness.Action{}, err
		}
	case t.Error == nil:
		p.done++
	case !t.Error.Retryable:
		return envharness.Action{}, fmt.Errorf("rollout: turn %d: planned action %s was refused: %s", t.Index, p.plan[p.done], t.Error.Message)
	}
	if p.done >= len(p.plan) {
		return envharness.Action{}, fmt.Errorf("rollout: turn %d: the plan of %d actions did not end the episode", t.Index, len(p.plan))
	}
	return p.plan[p.done], nil
}

// ask plans in an environment of its own.
func (p *planner) ask(ctx context.Context) ([]envharness.Action, error) {
	env, err := p.world.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: opening a world to plan in: %w", envharness.ErrInfra, err)
	}
	defer env.Close()
	oracle, ok := envharness.As[envharness.Oracle](env)
	if !ok {
		return nil, errors.New("rollout: the world has no oracle")
	}
	r := envharness.ResetOptions{Task: p.task.ID, Seed: p.task.Seed, Options: p.task.Options}
	if _, err = env.Reset(ctx, r); errors.Is(err, envharness.ErrSeedUnsupported) {
		r.Seed = nil
		_, err = env.Reset(ctx, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a start to plan from: %w", envharness.ErrInfra, err)
	}
	return oracle.Plan(ctx)
}

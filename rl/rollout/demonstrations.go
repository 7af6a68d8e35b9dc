package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// Demonstrations plays one episode of every task as the world's own oracle plans it ([yardstick.Oracle]), and notes it as [Agent.Follow] does:
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
		players[slot] = agent.player(nil, yardstick.Oracle(w, tasks[slot]))
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

package rollout

import (
	"context"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/linear"
)

// Options adjusts [Collect]. A nil *Options equals &Options{}.
type Options struct {
	Features      Features // nil means CallFeatures of the policy's dimension
	Temperature   *float64 // not negative; nil means 1, 0 is greedy
	Seed          uint64   // of the players' draws and of tasks without a seed
	Parallel      int      // episodes at once; zero means 1
	MaxTurns      int      // zero means the environment's own limit
	SuccessReward float64  // reward of the last turn of a passed episode, and the only reward; zero means 10
	// Procedures returns the skills given to the player of a task. It is called once for each entry of tasks, in order; nil means none.
	Procedures func(t envharness.Task) [][]string
	// Plan makes the player follow a plan instead of sampling: supervised data. Log-probabilities are those of the policy all the same.
	Plan func(ctx context.Context, t envharness.Task) ([]envharness.Action, error)
	// Progress, if not nil, is called after each episode with the number done so far; calls do not overlap.
	Progress func(done, total int)
}

// An Episode is one rollout, seen from both sides. Choices and Trajectory.Turns have the same length, and a turn holds one token.
type Episode struct {
	Trace      envharness.Trace
	Trajectory rl.Trajectory // Group and Task are the task's id; Excluded when the verdict is Invalid
	Choices    []Choice
}

// Batch returns what to train on: the trajectories of the episodes, for an estimator, and their choices, one after another as the turns
// are in the Credit that it returns.
func Batch(episodes []Episode) (trajectories []rl.Trajectory, choices []Choice) {
	for _, e := range episodes {
		trajectories = append(trajectories, e.Trajectory)
		choices = append(choices, e.Choices...)
	}
	return trajectories, choices
}

// Collect plays one episode of every task, in the order of tasks: repeat a task to make a group. The only reward is SuccessReward, on the last turn of an
// episode that the world's verifier passed, so that no component can earn any.
//
// Episodes that end by an infrastructure failure are returned with Trajectory.Excluded set. When ctx ends Collect returns its error and no
// episodes. The result does not depend on Parallel.
func Collect(ctx context.Context, w envharness.World, components []envharness.Component, p *linear.Policy, tasks []envharness.Task, o *Options) ([]Episode, error) {
	if o == nil {
		o = &Options{}
	}
	temperature := 1.0
	if o.Temperature != nil {
		temperature = *o.Temperature
	}
	if !(temperature >= 0) || math.IsInf(temperature, 1) {
		return nil, fmt.Errorf("rollout: temperature %v is not a finite number of at least 0", temperature)
	}
	reward := o.SuccessReward
	if reward == 0 {
		reward = 10
	}
	if math.IsNaN(reward) || math.IsInf(reward, 0) {
		return nil, fmt.Errorf("rollout: success reward %v is not finite", reward)
	}
	plans := make([][]envharness.Action, len(tasks))
	if o.Plan != nil {
		for i, t := range tasks {
			var err error
			if plans[i], err = o.Plan(ctx, t); err != nil {
				return nil, fmt.Errorf("rollout: plan of task %d (%s): %w", i, t.ID, err)
			}
		}
	}
	players := make([]*Player, len(tasks))
	for i, t := range tasks {
		var procedures [][]string
		if o.Procedures != nil {
			procedures = o.Procedures(t)
		}
		players[i] = NewPlayer(p, o.Features, temperature, envharness.Stream(o.Seed, "policy", uint64(i)), procedures)
		players[i].plan, players[i].planned = plans[i], o.Plan != nil
	}
	traces, err := envharness.Rollouts(ctx, w, components, func(slot int) envharness.Policy { return players[slot] }, tasks,
		&envharness.RolloutOptions{Seed: o.Seed, Parallel: o.Parallel, MaxTurns: o.MaxTurns, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	out := make([]Episode, len(tasks))
	for i, tr := range traces {
		t := players[i].trajectory(tr)
		t.ID = fmt.Sprintf("%s/%d", tr.Task.ID, i)
		if n := len(t.Turns); n > 0 {
			last := &t.Turns[n-1]
			last.End = rl.Truncated
			if tr.End == envharness.EndTerminated {
				last.End = rl.Terminated
			}
			if tr.Verdict.Status == envharness.Pass {
				last.Reward = reward
			}
		}
		if tr.Verdict.Status == envharness.Invalid {
			t.Excluded = string(tr.End)
		} else {
			ok := tr.Verdict.Status == envharness.Pass
			t.Success = &ok
		}
		if len(t.Turns) == 0 && t.Excluded == "" {
			t.Excluded = "no turns"
		}
		out[i] = Episode{Trace: tr, Trajectory: t, Choices: players[i].choices}
	}
	return out, nil
}

package rollout

import (
	"context"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
)

// A Player is the policy of one episode. It notes what training needs of every turn.
type Player interface {
	envharness.Policy
	// Turns returns one turn for each call of Act that did not end the episode by an error, in order: Tokens, Value and QValue. The
	// rest is filled in from the record of the episode. It is called once, after the episode.
	Turns() []rl.Turn
}

// Options adjusts [Collect]. A nil *Options equals &Options{}.
type Options struct {
	Seed          uint64  // fixes the episodes of tasks without a seed of their own
	Parallel      int     // episodes at once; zero means 1
	MaxTurns      int     // zero means the environment's own limit
	SuccessReward float64 // reward of the last turn of a passed episode, and the only reward; zero means 10
	// Group gives the group of the episode in a slot: episodes that are compared with each other. Nil means the id of the task, with
	// its seed where it has one, which makes one group of all episodes of a task, however often it was drawn.
	Group func(slot int, t envharness.Task) string
	// States gives the state keys of an episode for estimators that compare turns: one for the start of each turn, one for the state after
	// the last. Nil means AcceptedCalls.
	States func(t envharness.Trace) []string
	// Progress, if not nil, is called after each episode with the number done so far; calls do not overlap.
	Progress func(done, total int)
}

// An Episode is one rollout, seen from both sides. The trajectory has the turns of the trace, in order.
type Episode struct {
	Trace      envharness.Trace
	Trajectory rl.Trajectory // ID is the task's id and the slot, Task is the task's id; Excluded when the verdict is Invalid
}

// Trajectories returns the trajectories of the episodes, for an estimator.
func Trajectories(episodes []Episode) []rl.Trajectory {
	out := make([]rl.Trajectory, len(episodes))
	for i, e := range episodes {
		out[i] = e.Trajectory
	}
	return out
}

// Collect plays one episode of every task, each with the player newPlayer(slot), where slot is the index in tasks: repeat a task to make a group.
// newPlayer must be safe for concurrent use. The only reward is SuccessReward, on the last turn of an episode that the world's verifier passed.
//
// Episodes that end by an infrastructure failure, and those without a turn, are returned with Trajectory.Excluded set. When ctx ends Collect
// returns its error and no episodes. A player that noted fewer turns than it played is an error. The result does not depend on Parallel.
func Collect(ctx context.Context, w envharness.World, components []envharness.Component, newPlayer func(slot int) (Player, error),
	tasks []envharness.Task, o *Options) ([]Episode, error) {
	if o == nil {
		o = &Options{}
	}
	reward := o.SuccessReward
	if reward == 0 {
		reward = 10
	}
	if math.IsNaN(reward) || math.IsInf(reward, 0) {
		return nil, fmt.Errorf("rollout: success reward %v is not finite", reward)
	}
	states := o.States
	if states == nil {
		states = AcceptedCalls
	}
	players := make([]Player, len(tasks))
	traces, err := envharness.Rollouts(ctx, w, components, func(slot int) (envharness.Policy, error) {
		p, err := newPlayer(slot)
		if err != nil {
			return nil, err // p may be a nil pointer in a Player that is not nil
		}
		players[slot] = p
		return p, nil
	}, tasks, &envharness.RolloutOptions{Seed: o.Seed, Parallel: o.Parallel, MaxTurns: o.MaxTurns, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	episodes := make([]Episode, len(traces))
	for i, trace := range traces {
		var turns []rl.Turn
		if players[i] != nil {
			turns = players[i].Turns()
		}
		t, err := trajectory(trace, turns, reward)
		if err != nil {
			return nil, err
		}
		switch seed := trace.Task.Seed; {
		case o.Group != nil:
			t.Group = o.Group(i, trace.Task)
		case seed != nil: // another seed is another first state
			t.Group = fmt.Sprintf("%s#%d", t.Group, *seed)
		}
		keys := states(trace)
		if len(keys) != len(trace.Turns)+1 {
			return nil, fmt.Errorf("rollout: episode %s has %d turns and %d state keys, want one more than turns", t.ID, len(trace.Turns), len(keys))
		}
		for k := range t.Turns {
			t.Turns[k].State = keys[k]
		}
		t.FinalState = keys[len(t.Turns)]
		episodes[i] = Episode{Trace: trace, Trajectory: t}
	}
	return episodes, nil
}

// trajectory joins the record of an episode with what its player noted.
func trajectory(trace envharness.Trace, noted []rl.Turn, reward float64) (rl.Trajectory, error) {
	t := rl.Trajectory{
		ID: fmt.Sprintf("%s/%d", trace.Task.ID, trace.Slot), Group: trace.Task.ID, Task: trace.Task.ID, Split: trace.Task.Split,
	}
	if trace.Verdict.Status == envharness.Invalid {
		t.Excluded = string(trace.End)
	} else {
		if len(noted) < len(trace.Turns) {
			return t, fmt.Errorf("rollout: episode %s: the player noted %d of %d turns", t.ID, len(noted), len(trace.Turns))
		}
		t.Success = new(trace.Verdict.Status == envharness.Pass)
	}
	for i := range min(len(noted), len(trace.Turns)) {
		turn := noted[i]
		turn.Reward, turn.End, turn.Invalid = 0, rl.Continue, trace.Turns[i].Shown.Error != nil
		t.Turns = append(t.Turns, turn)
	}
	if len(t.Turns) == 0 {
		if t.Excluded == "" {
			t.Excluded = "no turns"
		}
		return t, nil
	}
	last := &t.Turns[len(t.Turns)-1]
	last.End = rl.Truncated
	if trace.End == envharness.EndTerminated {
		last.End = rl.Terminated
	}
	if trace.Verdict.Status == envharness.Pass {
		last.Reward = reward
	}
	return t, nil
}

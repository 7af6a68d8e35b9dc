package rollout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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

// Rewards says where the rewards of turns come from.
type Rewards uint8

// The sources of rewards.
const (
	RewardVerdict Rewards = iota // the verdict alone: SuccessReward on the last turn of an episode that passed
	RewardWorld                  // the world itself: what the base gave for the action of each turn, 0 where none reached it
)

var rewardNames = []string{RewardVerdict: "verdict", RewardWorld: "world"}

// String returns "verdict", "world", or "Rewards(n)" for a value that is neither.
func (r Rewards) String() string {
	if int(r) < len(rewardNames) {
		return rewardNames[r]
	}
	return fmt.Sprintf("Rewards(%d)", uint8(r))
}

// MarshalText returns the name that [Rewards.String] gives, or an error for a value without a name.
func (r Rewards) MarshalText() ([]byte, error) {
	if int(r) >= len(rewardNames) {
		return nil, fmt.Errorf("rollout: %v has no name", r)
	}
	return []byte(rewardNames[r]), nil
}

// UnmarshalText accepts exactly the names of [Rewards.String].
func (r *Rewards) UnmarshalText(text []byte) error {
	i := slices.Index(rewardNames, string(text))
	if i < 0 {
		return fmt.Errorf("rollout: no source of rewards is called %q, want one of %q", text, rewardNames)
	}
	*r = Rewards(i)
	return nil
}

// Options adjusts [Collect]. A nil *Options equals &Options{}.
type Options struct {
	Seed          uint64  // fixes the episodes of tasks without a seed of their own
	Parallel      int     // episodes at once; zero means 1
	MaxTurns      int     // zero means the environment's own limit
	Rewards       Rewards // where the rewards of turns come from; zero means RewardVerdict
	SuccessReward float64 // with RewardVerdict the reward of the last turn of a passed episode, and the only reward; zero means 10
	// GroupSize k > 0 makes groups of the episodes in slots [i*k, (i+1)*k), which must be of one task, as [Repeat] lists them: a task that is
	// drawn twice has two groups. The number of tasks is a multiple of k. Zero means that Group decides.
	GroupSize int
	// Group gives the group of the episode in a slot: episodes that are compared with each other. Nil means the id of the task, with
	// its seed where it has one, which makes one group of all episodes of a task, however often it was drawn. With GroupSize it must be nil.
	Group func(slot int, t envharness.Task) string
	// States gives the state keys of an episode for estimators that compare turns: one for the start of each turn, one for the state after
	// the last. Nil means AcceptedCalls.
	States func(t envharness.Trace) []string
	// Notes are what the agent of a demonstration is given for its task ([Agent.Given]); nil means nothing. It must be safe for concurrent use.
	// Collect does not read it.
	Notes func(t envharness.Task) string
	// Progress, if not nil, is called after each episode with the number done so far; calls do not overlap.
	Progress func(done, total int)
}

// An Episode is one rollout, seen from both sides. The trajectory has the turns of the trace, in order.
type Episode struct {
	Trace      envharness.Trace
	Trajectory rl.Trajectory // ID is the task's id and the slot, Task is the task's id; Excluded when the verdict is Invalid
	// Final is the context of the turn that would follow the last one, where a limit cut the episode off and the player is a [Finisher]: what
	// the value of the state after the episode is read from. Otherwise it is nil.
	Final []int
}

// Repeat lists every task k times, one after the other: groups of k episodes for [Collect]. It is empty for k < 1.
func Repeat(tasks []envharness.Task, k int) []envharness.Task {
	out := make([]envharness.Task, 0, len(tasks)*max(k, 0))
	for _, t := range tasks {
		for range k {
			out = append(out, t)
		}
	}
	return out
}

// Trajectories returns the trajectories of the episodes, for an estimator.
func Trajectories(episodes []Episode) []rl.Trajectory {
	out := make([]rl.Trajectory, len(episodes))
	for i, e := range episodes {
		out[i] = e.Trajectory
	}
	return out
}

// Collect plays one episode of every task, each with the player newPlayer(slot), where slot is the index in tasks: repeat a task to make a
// group. newPlayer must be safe for concurrent use. Unless o.Rewards says otherwise, the only reward is SuccessReward, on the last turn of an
// episode that the world's verifier passed.
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
	if o.Rewards > RewardWorld {
		return nil, fmt.Errorf("rollout: Options.Rewards is %v, want a named value", o.Rewards)
	}
	if err := checkGroups(tasks, o); err != nil {
		return nil, err
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
		t, err := trajectory(trace, turns, o.Rewards, reward)
		if err != nil {
			return nil, err
		}
		if seed := trace.Task.Seed; seed != nil { // another seed is another first state
			t.Group = fmt.Sprintf("%s#%d", t.Group, *seed)
		}
		switch {
		case o.Group != nil:
			t.Group = o.Group(i, trace.Task)
		case o.GroupSize > 0:
			t.Group = fmt.Sprintf("%s@%d", t.Group, i/o.GroupSize)
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
		if n := len(t.Turns); n > 0 && t.Excluded == "" && t.Turns[n-1].End == rl.Truncated {
			if f, ok := players[i].(Finisher); ok {
				episodes[i].Final = f.Finish(following(&trace, n))
			}
		}
	}
	return episodes, nil
}

// checkGroups reports groups of slots that are no groups.
func checkGroups(tasks []envharness.Task, o *Options) error {
	k := o.GroupSize
	switch {
	case k < 0:
		return fmt.Errorf("rollout: Options.GroupSize is %d, want at least 0", k)
	case k == 0:
		return nil
	case o.Group != nil:
		return errors.New("rollout: Options.GroupSize and Group are both set")
	case len(tasks)%k != 0:
		return fmt.Errorf("rollout: %d tasks, want a multiple of Options.GroupSize, %d", len(tasks), k)
	}
	for i := range tasks {
		first, t := &tasks[i-i%k], &tasks[i]
		seeds := t.Seed == first.Seed || t.Seed != nil && first.Seed != nil && *t.Seed == *first.Seed
		if t.ID != first.ID || !seeds || !bytes.Equal(t.Options, first.Options) {
			return fmt.Errorf("rollout: slot %d has task %q and slot %d, of the same group, another task, seed or options: %q",
				i-i%k, first.ID, i, t.ID)
		}
	}
	return nil
}

// played returns the turns that the policy used up. What it said when it ended the episode is none.
func played(t *envharness.Trace) []envharness.TurnTrace {
	n := len(t.Turns)
	if n > 0 {
		if last := &t.Turns[n-1]; last.Proposed == nil && last.Raw == nil && last.Shown.Error == nil && t.Verdict.Status != envharness.Invalid {
			n--
		}
	}
	return t.Turns[:n]
}

// following returns what the turn after the first n would show.
func following(t *envharness.Trace, n int) envharness.Turn {
	last := &t.Turns[n-1].Shown
	turn := envharness.Turn{Index: n, Shown: last.Observation, Error: last.Error, Tools: t.Tools}
	for i := range n {
		if t.Turns[i].Tools != nil {
			turn.Tools = t.Turns[i].Tools
		}
	}
	return turn
}

// trajectory joins the record of an episode with what its player noted.
func trajectory(trace envharness.Trace, noted []rl.Turn, rewards Rewards, success float64) (rl.Trajectory, error) {
	t := rl.Trajectory{
		ID: fmt.Sprintf("%s/%d", trace.Task.ID, trace.Slot), Group: trace.Task.ID, Task: trace.Task.ID, Split: trace.Task.Split,
	}
	turns := played(&trace)
	if trace.Verdict.Status == envharness.Invalid {
		t.Excluded = string(trace.End)
	} else {
		if len(noted) < len(turns) {
			return t, fmt.Errorf("rollout: episode %s: the player noted %d of %d turns", t.ID, len(noted), len(turns))
		}
		t.Success = new(trace.Verdict.Status == envharness.Pass)
	}
	for i := range min(len(noted), len(turns)) {
		turn := noted[i]
		turn.Reward, turn.End, turn.Invalid = 0, rl.Continue, turns[i].Shown.Error != nil
		if raw := turns[i].Raw; rewards == RewardWorld && raw != nil {
			turn.Reward = raw.Reward
		}
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
	if rewards == RewardVerdict && trace.Verdict.Status == envharness.Pass {
		last.Reward = success
	}
	return t, nil
}

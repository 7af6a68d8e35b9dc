package train

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl/rollout"
)

// An Evaluation is one episode of each task of a split, in the bare world.
type Evaluation struct {
	Split   string  `json:"split"`
	Tasks   int     `json:"tasks"`
	Success float64 `json:"success"`          // share that the verifier passed, of those it could judge
	Score   float64 `json:"score"`            // mean sum of rewards
	Turns   float64 `json:"turns"`            // mean
	Tokens  float64 `json:"tokens"`           // of responses, mean
	Invalid float64 `json:"invalid"`          // share of turns whose action could not be carried out
	Failed  int     `json:"failed,omitempty"` // episodes that could not be judged

	Traces []envharness.Trace `json:"-"` // what was played
}

// Evaluate plays the tasks of a split with the model as it is, at Options.EvalTemperature. Its streams are its own and it changes nothing, so
// that it may be called at any time between iterations; equal models get equal episodes. Select by validation, never by test or
// out-of-distribution tasks. It is an error if fewer than four fifths of the episodes can be judged.
func (t *Trainer) Evaluate(ctx context.Context, split string) (Evaluation, error) {
	tasks, err := t.tasks(ctx, split, t.s.EvalTasks)
	if err != nil {
		return Evaluation{}, err
	}
	agent, err := t.agent(t.s.evalTemperature)
	if err != nil {
		return Evaluation{}, err
	}
	o := t.s.Rollout
	o.Seed, o.Parallel, o.Group, o.GroupSize = t.stream("evaluate/"+split, 0), t.s.Workers, nil, 0
	o.Progress = t.stage("evaluate " + split)
	episodes, err := rollout.Collect(ctx, t.problem.World, nil, func(slot int) (rollout.Player, error) {
		return t.given(agent, tasks[slot]).Play(envharness.RandStream(t.s.Seed, "train/evaluate/"+split+"/policy", uint64(slot))), nil
	}, tasks, &o)
	if err != nil {
		return Evaluation{}, err
	}
	exclude(episodes)
	if err := spoilt(episodes); err != nil {
		return Evaluation{}, fmt.Errorf("train: evaluation on %s: %w", split, err)
	}
	var it Iteration
	it.describe(newBatch(episodes))
	n := float64(len(episodes))
	return Evaluation{Split: split, Tasks: len(tasks), Success: it.Success, Score: it.Score, Turns: float64(it.Turns) / n, Tokens: float64(it.Tokens) / n,
		Invalid: it.Invalid, Failed: it.Excluded, Traces: traces(episodes)}, nil
}

// exclude takes the vote from episodes that the agent ended by an error, such as a turn without admissible actions or a Parse that gave up: they
// say nothing of the model.
func exclude(episodes []rollout.Episode) {
	for i := range episodes {
		if e := &episodes[i]; e.Trace.End == envharness.EndAgentError && e.Trajectory.Excluded == "" {
			e.Trajectory.Excluded = string(envharness.EndAgentError)
		}
	}
}

func traces(episodes []rollout.Episode) []envharness.Trace {
	out := make([]envharness.Trace, len(episodes))
	for i, e := range episodes {
		out[i] = e.Trace
	}
	return out
}

// spoilt returns an error if more than a fifth of the episodes could not be judged or have no turns.
func spoilt(episodes []rollout.Episode) error {
	trajectories := rollout.Trajectories(episodes)
	n := 0
	for i := range trajectories {
		if trajectories[i].Excluded != "" {
			n++
		}
	}
	if n*5 <= len(episodes) {
		return nil
	}
	var cause string
	for _, e := range episodes {
		if e.Trajectory.Excluded != "" && e.Trace.Cause != "" {
			cause = ": " + e.Trace.Cause
			break
		}
	}
	return fmt.Errorf("%d of %d episodes are of no use (%q), want at most a fifth%s", n, len(episodes), reasons(trajectories), cause)
}

// tasks returns the first tasks of a split, all of them if limit is 0.
func (t *Trainer) tasks(ctx context.Context, split string, limit int) ([]envharness.Task, error) {
	all, ok := t.lists[split]
	if !ok {
		var err error
		if t.problem.Tasks != nil {
			all, err = t.problem.Tasks(ctx, split)
		} else {
			all, err = list(ctx, t.problem.World, split)
		}
		if err != nil {
			return nil, fmt.Errorf("train: tasks of split %q: %w", split, err)
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("train: split %q has no tasks", split)
		}
		t.lists[split] = all
	}
	if limit > 0 && limit < len(all) {
		all = all[:limit]
	}
	return all, nil
}

// list asks a world for its tasks.
func list(ctx context.Context, w envharness.World, split string) (tasks []envharness.Task, err error) {
	env, err := w.New(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := env.Close(); err == nil {
			err = e
		}
	}()
	lister, ok := envharness.As[envharness.TaskLister](env)
	if !ok {
		return nil, fmt.Errorf("the world does not list its tasks; set Problem.Tasks")
	}
	return lister.Tasks(ctx, split)
}

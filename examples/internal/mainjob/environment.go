package mainjob

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// deskName is the world of the run: the compact preset of the service desk, whose texts are short enough for a small language model.
const deskName = "tooldesk_small"

// riggedShare is the share of training episodes that are drawn from accepted tasks, where there are enough of them.
const riggedShare = 0.3

// splits returns the tasks that the run uses.
func (j *job) splits(ctx context.Context) (train, validation, test, ood []envharness.Task, err error) {
	for _, s := range []struct {
		name  string
		tasks *[]envharness.Task
		limit int
	}{{"train", &train, j.train}, {"validation", &validation, j.eval}, {"test", &test, j.eval}, {"ood", &ood, j.eval}} {
		all, err := j.desk.Tasks(ctx, s.name)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		*s.tasks = all[:min(s.limit, len(all))]
	}
	return train, validation, test, ood, nil
}

// rig lets the rigger bring training tasks that were not demonstrated into reach of the policy as it is: harder for those that it can do, easier for
// those that it cannot. The tasks, the verifier and what counts as success stay.
func (l *learner) rig(ctx context.Context, tasks []envharness.Task) error {
	j := l.job
	o := l.agent()
	agent, err := rollout.NewAgent(l.Model, l.Problem.Tokenizer, &o)
	if err != nil {
		return err
	}
	j.result.Rigged, err = rigger.Rig(ctx, rigger.Problem{
		World: j.desk.World, Tasks: tasks,
		NewPolicy: func(t envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			return agent.Given(l.notes(t)).Play(rng), nil
		},
	}, &rigger.Options{
		Seed: j.Seed, Rollout: envharness.RolloutOptions{Parallel: j.Workers},
		Progress: func(p rigger.Progress) { j.Progress("rig tasks", p.Task, p.Tasks) },
	})
	if err != nil {
		return err
	}
	env := &j.result.Report.Environment
	env.Tasks, env.Accepted = len(tasks), len(j.result.Rigged.Items)
	for _, t := range j.result.Rigged.Tasks {
		env.Candidates += len(t.Attempts)
	}
	env.Rollouts = j.result.Rigged.Cost.Rollouts()
	for _, it := range j.result.Rigged.Items {
		env.SuccessBase += it.Baseline.Rate() / float64(env.Accepted)
		env.SuccessWrapped += it.Counts.Rate() / float64(env.Accepted)
	}
	return nil
}

// pool is what training draws from: all training tasks as they are and, so that they have their share, those that the rigger accepted, behind
// their components.
func (j *job) pool(tasks []envharness.Task) ([]train.Item, error) {
	items := make([]train.Item, len(tasks))
	for i, t := range tasks {
		items[i].Task = t
	}
	var rigged []train.Item
	for _, it := range j.result.Rigged.Items {
		stack, err := it.Components(nil)
		if err != nil {
			return nil, err
		}
		rigged = append(rigged, train.Item{Task: it.Task, Components: stack})
	}
	if len(rigged) == 0 {
		return items, nil
	}
	copies := riggedShare / (1 - riggedShare) * float64(len(items)) / float64(len(rigged))
	return append(items, slices.Repeat(rigged, max(int(copies), 1))...), nil
}

// onAccepted is the success of the policy as it is on the accepted tasks, behind their components.
func (l *learner) onAccepted(ctx context.Context, stage string) (float64, error) {
	items := l.job.result.Rigged.Items
	sum := 0.0
	for _, it := range items {
		stack, err := it.Components(nil)
		if err != nil {
			return 0, err
		}
		rate, err := l.behind(ctx, stage, stack, slices.Repeat([]envharness.Task{it.Task}, 4))
		if err != nil {
			return 0, err
		}
		sum += rate / float64(len(items))
	}
	return sum, nil
}

// Accepted prints what the rigger did to tasks, in words, a line each and at most so many.
func (r *Result) Accepted(w io.Writer, most int) error {
	var b strings.Builder
	items := r.Rigged.Items
	fmt.Fprintf(&b, "Of %d tasks the rigger changed %d for this policy, for example:\n", len(r.Rigged.Tasks), len(items))
	for _, it := range items[:min(most, len(items))] {
		fmt.Fprintf(&b, "  %s, %v: %s (passed %v as it was, %v now)\n", it.Task.ID, it.Direction, strings.Join(it.Words, "; "), it.Baseline, it.Counts)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

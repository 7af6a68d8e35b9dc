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
)

// deskName is the world of the run: the compact preset of the service desk, whose texts are short enough for a small language model.
const deskName = "tooldesk_small"

const (
	riggedShare = 0.3 // of training episodes, that are drawn from accepted tasks; a little less where it does not come out even
	perAccepted = 4   // rollouts of each accepted task in an evaluation
)

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
	base, err := l.onAccepted(ctx, "play accepted", false)
	if err != nil {
		return err
	}
	wrapped, err := l.onAccepted(ctx, "play accepted", true)
	env.SuccessBase, env.SuccessWrapped = &base, &wrapped
	return err
}

// onAccepted is the success of the policy as it is on the accepted tasks, behind their components or as they were, in rollouts that nothing
// was chosen by.
func (l *learner) onAccepted(ctx context.Context, stage string, behind bool) (float64, error) {
	items := l.job.result.Rigged.Items
	sum := 0.0
	for _, it := range items {
		var stack []envharness.Component
		var err error
		if behind {
			if stack, err = it.Components(nil); err != nil {
				return 0, err
			}
		}
		rate, err := l.behind(ctx, stage, stack, slices.Repeat([]envharness.Task{it.Task}, perAccepted))
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

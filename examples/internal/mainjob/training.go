package mainjob

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/study"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// The numbers of training, chosen on validation tasks of seeds 1 and 2.
const (
	dim, heads, layers = 32, 2, 2
	warmRate           = 3e-3 // learning rates
	policyRate         = 3e-3
	miniBatch          = 128 // turns in an optimiser step
	epochs             = 2
	temperature        = 0.4 // of evaluations
)

// A learner is a language model as a policy of the desk, with what trains it.
type learner struct {
	*study.Study
	job   *job
	notes func(envharness.Task) string // skills that the policy is given in the episodes of a task
	stage string                       // that is shown as the trainer's progress; empty: none

	imitates string // what the warm start was made of
}

// learner returns an untrained policy. It is given the skills that were selected for a task, or none. It trains on the items, or on the
// training tasks as they are.
func (j *job) learner(ctx context.Context, skills bool, items []train.Item) (*learner, error) {
	l := &learner{job: j, notes: func(envharness.Task) string { return "" }}
	if skills {
		l.notes = func(t envharness.Task) string { return j.notes[t.ID] }
	}
	var err error
	l.Study, err = study.New(ctx, study.Config{
		World: deskName, Algorithm: j.algorithm.Name, Dim: dim, Heads: heads, Layers: layers, Items: items, Notes: l.notes,
		Options: train.Options{
			Seed: j.Seed, Workers: j.Workers, Iterations: j.iterations, Tasks: j.episodes / j.algorithm.Rollouts, TrainTasks: j.train,
			EvalTasks: j.eval, EvalEvery: j.evalEvery,
			Agent: l.agent(), EvalTemperature: new(temperature), Rollout: rollout.Options{States: rollout.ShownTexts},
			Rate: policyRate, MiniBatch: miniBatch, Epochs: epochs,
			Progress: func(_ string, done, total int) {
				if l.stage != "" {
					j.Progress(l.stage, done, total)
				}
			},
		},
	})
	return l, err
}

// agent is how the policy plays: the texts of the small desk are states, so that no history is needed, and its calls are too many words to
// find one by free sampling.
func (l *learner) agent() rollout.AgentOptions {
	return rollout.AgentOptions{History: new(0), Candidates: true}
}

// warmStart imitates what the mix holds: first everything that can be played, conversations that were made and recorded plans alike, then the
// plans alone, which are what the policy is to do. Without the others, plans are imitated as often.
func (l *learner) warmStart(ctx context.Context, mixed bool) error {
	recorded, heard, err := l.demonstrations(ctx, l.job.imitated)
	if err != nil {
		return err
	}
	l.imitates = fmt.Sprintf("%d recorded plans, %d other conversations", len(recorded), len(heard))
	l.stage = "warm start"
	defer func() { l.stage = "" }()
	epochs := l.job.mixedEpochs + l.job.warmEpochs
	if mixed && len(heard) > 0 {
		epochs = l.job.warmEpochs
		o := &train.WarmStartOptions{Epochs: l.job.mixedEpochs, Rate: warmRate}
		if _, err := l.WarmStart(ctx, slices.Concat(recorded, heard), o); err != nil {
			return err
		}
	}
	_, err = l.WarmStart(ctx, recorded, &train.WarmStartOptions{Epochs: epochs, Rate: warmRate})
	return err
}

// success is the share of the tasks of a split that the verifier passes, in the unmodified environment.
func (l *learner) success(ctx context.Context, stage, split string) (float64, error) {
	l.stage = stage
	e, err := l.Evaluate(ctx, split)
	l.stage = ""
	return e.Success, err
}

// behind is the share of tasks that the verifier passes behind components.
func (l *learner) behind(ctx context.Context, stage string, components []envharness.Component, tasks []envharness.Task) (float64, error) {
	o := l.agent()
	o.Temperature = new(temperature)
	agent, err := rollout.NewAgent(l.Model, l.Problem.Tokenizer, &o)
	if err != nil {
		return 0, err
	}
	return l.job.rate(ctx, stage, components, func(slot int) (envharness.Policy, error) {
		return agent.Given(l.notes(tasks[slot])).Play(envharness.RandStream(l.job.Seed, "policy/behind", uint64(slot))), nil
	}, tasks)
}

// rate is the share of tasks that policies pass, of those that could be judged.
func (j *job) rate(ctx context.Context, stage string, components []envharness.Component, policy func(slot int) (envharness.Policy, error),
	tasks []envharness.Task) (float64, error) {
	traces, err := envharness.Rollouts(ctx, j.desk.World, components, policy, tasks,
		&envharness.RolloutOptions{Seed: j.Seed, Parallel: j.Workers, Progress: j.stage(stage)})
	if err != nil {
		return 0, err
	}
	rate, err := envharness.SuccessRate(traces, len(traces))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", stage, err)
	}
	return rate, nil
}

// A Point is one evaluation of the learning curve. Validation is the success on validation tasks in the unmodified environment, Train that
// of the training episodes since the point before, some of them behind the components of accepted tasks, nil before there are any.
type Point struct {
	Iteration  int      `json:"iteration"`
	EnvSteps   int      `json:"env_steps"` // turns of training episodes so far
	Train      *float64 `json:"train,omitempty"`
	Validation float64  `json:"validation"`
}

// training warm-starts a language model from the mix, measures what the mix and the skills do to it, lets the rigger adapt training tasks
// to it, trains it on these and the unmodified ones, and evaluates it on held-out tasks of the unmodified environment.
func (j *job) training(ctx context.Context) error {
	tasks, validation, test, ood, err := j.splits(ctx)
	if err != nil {
		return err
	}
	r := &j.result.Report
	warm, err := j.learner(ctx, true, nil)
	if err != nil {
		return err
	}
	if r.Training.SuccessBefore, err = warm.success(ctx, "evaluate untrained", "test"); err != nil {
		return err
	}
	if err := warm.warmStart(ctx, true); err != nil {
		return err
	}
	if j.result.WarmStart, err = warm.success(ctx, "evaluate warm start", "test"); err != nil {
		return err
	}
	warmOOD, err := warm.success(ctx, "evaluate new family", "ood")
	if err != nil {
		return err
	}
	if j.result.NoSkills, err = j.otherwise(ctx, "evaluate without skills", false, true); err != nil {
		return err
	}
	if j.result.PlansAlone, err = j.otherwise(ctx, "evaluate plans alone", true, false); err != nil {
		return err
	}
	if err := warm.rig(ctx, tasks[min(j.demos, len(tasks)):min(j.demos+j.rigged, len(tasks))]); err != nil {
		return err
	}
	policy, share, err := j.trained(ctx, warm, tasks)
	if err != nil {
		return err
	}
	if j.result.Wrapped, err = policy.onAccepted(ctx, "play accepted", true); err != nil {
		return err
	}
	if r.Training.SuccessAfter, err = policy.success(ctx, "evaluate trained", "test"); err != nil {
		return err
	}
	trainedOOD, err := policy.success(ctx, "evaluate new family", "ood")
	if err != nil {
		return err
	}
	if err := j.yardsticks(ctx, test); err != nil {
		return err
	}

	onTest, env := fmt.Sprintf("success on %d test tasks", len(test)), r.Environment
	accepted := fmt.Sprintf("success on the %d accepted", env.Accepted)
	onValidation := fmt.Sprintf("success on %d validation tasks", len(validation))
	j.row("warm start", "imitate what the mix holds: "+warm.imitates, onTest, percent(r.Training.SuccessBefore), percent(j.result.WarmStart))
	j.row("", "the same without and with skills", onValidation, percent(j.result.NoSkills), percent(j.result.Curve[0].Validation))
	j.row("", "the recorded plans alone, imitated as often, and the mix", onValidation, percent(j.result.PlansAlone),
		percent(j.result.Curve[0].Validation))
	j.row("environment", fmt.Sprintf("rig %d training tasks for this policy; the verifier stays", env.Tasks), "candidates, accepted",
		fmt.Sprint(env.Candidates), fmt.Sprint(env.Accepted))
	j.row("", "play them as they were, and behind their components", accepted, percent(*env.SuccessBase), percent(*env.SuccessWrapped))
	j.row("training", fmt.Sprintf("%d iterations of %s, %.0f %% of it on accepted tasks; play these", r.Training.Iterations, j.algorithm.Name,
		100*share),
		accepted, percent(*env.SuccessWrapped), percent(j.result.Wrapped))
	j.row("evaluation", "play test tasks, environment unmodified: warm start and trained", onTest,
		percent(j.result.WarmStart), percent(r.Training.SuccessAfter))
	j.row("", "play a held-out family: two requests at once", fmt.Sprintf("success on %d such tasks", len(ood)), percent(warmOOD), percent(trainedOOD))
	j.row("", "for comparison: the best policy that knows nothing, and the oracle", onTest, percent(j.result.Null), percent(j.result.Oracle))
	return nil
}

// trained returns a policy that starts where another one is and was trained on the accepted and the unmodified tasks, and the share of the
// former.
func (j *job) trained(ctx context.Context, from *learner, tasks []envharness.Task) (*learner, float64, error) {
	items, share, err := study.Pool(tasks, j.result.Rigged.Items, riggedShare)
	if err != nil {
		return nil, 0, err
	}
	policy, err := j.learner(ctx, true, items)
	if err != nil {
		return nil, 0, err
	}
	parameters, err := from.Model.MarshalBinary()
	if err != nil {
		return nil, 0, err
	}
	if err := policy.Model.UnmarshalBinary(parameters); err != nil {
		return nil, 0, err
	}
	return policy, share, policy.train(ctx)
}

// otherwise is the success on validation tasks of a policy that is warm-started in another way: without skills, or from the recorded plans
// alone.
func (j *job) otherwise(ctx context.Context, stage string, skills, mixed bool) (float64, error) {
	l, err := j.learner(ctx, skills, nil)
	if err != nil {
		return 0, err
	}
	if err := l.warmStart(ctx, mixed); err != nil {
		return 0, err
	}
	return l.success(ctx, stage, "validation")
}

// train runs the iterations and goes back to the parameters of the best evaluation on the way, which chooses by validation tasks alone.
func (l *learner) train(ctx context.Context) error {
	j := l.job
	var success float64
	n := 0
	for it, err := range l.Run(ctx) {
		if err != nil {
			return err
		}
		if it.Number > 0 {
			success, n = success+it.Success, n+1
			j.result.Trajectories, j.result.Report.Training.Iterations = it.Trajectories, it.Number
			j.Progress("train", it.Number, j.iterations)
		}
		if it.Evaluation == nil {
			continue
		}
		p := Point{Iteration: it.Number, EnvSteps: it.EnvSteps, Validation: it.Evaluation.Success}
		if n > 0 {
			p.Train = new(success / float64(n))
		}
		j.result.Curve = append(j.result.Curve, p)
		success, n = 0, 0
	}
	return l.RestoreBest()
}

// yardsticks plays the tasks with policies that learn nothing: those that know nothing of the world, and the one that sees all of it.
func (j *job) yardsticks(ctx context.Context, tasks []envharness.Task) error {
	for _, n := range j.desk.Nulls() {
		got, err := j.rate(ctx, "evaluate "+n.Name, nil, func(slot int) (envharness.Policy, error) {
			return n.New(envharness.RandStream(j.Seed, "policy/"+n.Name, uint64(slot))), nil
		}, tasks)
		if err != nil {
			return err
		}
		j.result.Null = max(j.result.Null, got)
	}
	var err error
	j.result.Oracle, err = j.rate(ctx, "evaluate oracle", nil, func(slot int) (envharness.Policy, error) {
		return j.desk.Oracle(tasks[slot]),
			nil
	}, tasks)
	return err
}

func (j *job) stage(name string) func(done, total int) {
	return func(done, total int) { j.Progress(name, done, total) }
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// note is a skill in few words: the tools of its procedure, in order. The underscore would be a word of its own.
func note(procedure []string) string {
	return strings.ReplaceAll(strings.Join(procedure, " "), "_", " ")
}

package mainjob

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/method"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/rl/linear"
	"github.com/throughline-go/throughline/rl/linear/play"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
)

const (
	dim         = 1 << 18
	warmRate    = 0.05 // learning rates, chosen once on the validation split of seeds 1 to 3
	policyRate  = 0.02
	batchTurns  = 64
	epochs      = 2
	temperature = 0.4 // of evaluations
)

// training warm-starts a policy from the recorded plans, measures what the components and the skills do to it, trains it and evaluates it on held-out
// tasks of the unmodified environment.
func (j *job) training(ctx context.Context) error {
	train, validation, test, ood, err := j.splits(ctx)
	if err != nil {
		return err
	}
	r, wrapped := &j.result.Report, wrapping()
	policy, err := linear.New(dim)
	if err != nil {
		return err
	}
	if r.Training.SuccessBefore, err = j.success(ctx, "evaluate untrained", policy, nil, test); err != nil {
		return err
	}
	if err := j.warmStart(ctx, policy, train[:j.demos]); err != nil {
		return err
	}
	if j.result.WarmStart, err = j.success(ctx, "evaluate warm start", policy, nil, test); err != nil {
		return err
	}
	warmOOD, err := j.success(ctx, "evaluate new family", policy, nil, ood)
	if err != nil {
		return err
	}
	j.row("warm start", fmt.Sprintf("imitate %d recorded plans", j.demos), fmt.Sprintf("success on %d test tasks", len(test)),
		percent(r.Training.SuccessBefore), percent(j.result.WarmStart))

	if r.Environment.SuccessBase, err = j.success(ctx, "evaluate unmodified", policy, nil, validation); err != nil {
		return err
	}
	if r.Environment.SuccessWrapped, err = j.success(ctx, "evaluate wrapped", policy, wrapped, validation); err != nil {
		return err
	}
	onValidation := fmt.Sprintf("success on %d validation tasks", len(validation))
	j.row("environment", "wrap the desk in two components; the verifier stays", onValidation,
		percent(r.Environment.SuccessBase), percent(r.Environment.SuccessWrapped))
	withoutSkills, err := j.withoutSkills(ctx, train[:j.demos], wrapped, validation)
	if err != nil {
		return err
	}
	j.row("", "the same behind the components, without and with skills", onValidation,
		percent(withoutSkills), percent(r.Environment.SuccessWrapped))

	rng := rand.New(rand.NewPCG(j.Seed, 3))
	for i := range j.iterations {
		if err := j.iterate(ctx, policy, wrapped, train, i, rng); err != nil {
			return err
		}
		j.Progress("train", i+1, j.iterations)
	}
	r.Training.Iterations = j.iterations
	if j.result.Wrapped, err = j.success(ctx, "evaluate wrapped", policy, wrapped, validation); err != nil {
		return err
	}
	j.row("training", fmt.Sprintf("%d iterations of %s, half of it behind the components; play there", j.iterations, j.Credit),
		onValidation, percent(r.Environment.SuccessWrapped), percent(j.result.Wrapped))
	scores, miles, err := j.effective()
	if err != nil {
		return err
	}
	j.row("", "compare rollouts by their scores (grpo), then by states as well (milegpo)", "turns with an advantage, last iteration", percent(scores), percent(miles))

	if r.Training.SuccessAfter, err = j.success(ctx, "evaluate trained", policy, nil, test); err != nil {
		return err
	}
	trainedOOD, err := j.success(ctx, "evaluate new family", policy, nil, ood)
	if err != nil {
		return err
	}
	j.row("evaluation", "play test tasks, environment unmodified: warm start and trained", fmt.Sprintf("success on %d test tasks", len(test)),
		percent(j.result.WarmStart), percent(r.Training.SuccessAfter))
	j.row("", "play a held-out family: two requests at once, new names", fmt.Sprintf("success on %d such tasks", len(ood)),
		percent(warmOOD), percent(trainedOOD))
	if err := j.yardsticks(ctx, test); err != nil {
		return err
	}
	j.row("", "for comparison: the best policy that knows nothing, and the oracle", fmt.Sprintf("success on %d test tasks", len(test)),
		percent(j.result.Null), percent(j.result.Oracle))
	return nil
}

// yardsticks plays the tasks with policies that learn nothing: those that know nothing of the world, and the one that sees all of it.
func (j *job) yardsticks(ctx context.Context, tasks []envharness.Task) error {
	desk, err := worlds.Find("tooldesk")
	if err != nil {
		return err
	}
	rate := func(stage string, policy func(slot int) (envharness.Policy, error)) (float64, error) {
		traces, err := envharness.Rollouts(ctx, j.world, nil, policy, tasks,
			&envharness.RolloutOptions{Seed: j.Seed, Parallel: j.Workers, Progress: j.stage(stage)})
		if err != nil {
			return 0, err
		}
		return envharness.SuccessRate(traces, len(traces))
	}
	for _, n := range desk.Nulls() {
		got, err := rate("evaluate "+n.Name, func(slot int) (envharness.Policy, error) {
			return n.New(envharness.RandStream(j.Seed, "policy/"+n.Name, uint64(slot))), nil
		})
		if err != nil {
			return err
		}
		j.result.Null = max(j.result.Null, got)
	}
	j.result.Oracle, err = rate("evaluate oracle", func(slot int) (envharness.Policy, error) { return desk.Oracle(tasks[slot]), nil })
	return err
}

// withoutSkills is the success behind the components of a policy that is warm-started in the same way but is given no skills.
func (j *job) withoutSkills(ctx context.Context, demos []envharness.Task, wrapped []envharness.Component, validation []envharness.Task) (float64, error) {
	bare := *j
	bare.procedures = nil
	policy, err := linear.New(dim)
	if err != nil {
		return 0, err
	}
	if err := bare.warmStart(ctx, policy, demos); err != nil {
		return 0, err
	}
	return bare.success(ctx, "evaluate without skills", policy, wrapped, validation)
}

// warmStart fits the policy to the desk's own plans by minimising the mean negative log-probability of the planned action.
func (j *job) warmStart(ctx context.Context, policy *linear.Policy, tasks []envharness.Task) error {
	_, demos, err := play.Collect(ctx, j.world, nil, policy, tasks, &play.Options{
		Plan: plan, Procedures: j.proceduresOf,
		Rollout: &rollout.Options{Seed: j.Seed, Parallel: j.Workers, Progress: j.stage("record plans")},
	})
	if err != nil {
		return err
	}
	choices := slices.Concat(demos...)
	rng := rand.New(rand.NewPCG(j.Seed, 2))
	for epoch := range j.warmEpochs {
		rng.Shuffle(len(choices), func(a, b int) { choices[a], choices[b] = choices[b], choices[a] })
		for at := 0; at < len(choices); at += batchTurns {
			batch := choices[at:min(at+batchTurns, len(choices))]
			for _, c := range batch {
				if err := policy.AddGrad(c.Candidates, c.Chosen, -1/float64(len(batch)), 1); err != nil {
					return err
				}
			}
			if _, err := policy.Step(&linear.AdamW{LearningRate: warmRate}); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		j.Progress("warm start", epoch+1, j.warmEpochs)
	}
	return nil
}

// iterate is one iteration of the training loop: collect groups of rollouts, half of them behind the components, compare each rollout with its
// group, update the policy.
func (j *job) iterate(ctx context.Context, policy *linear.Policy, wrapped []envharness.Component, train []envharness.Task, i int, rng *rand.Rand) error {
	var episodes []rollout.Episode
	var choices []play.Choice
	for k, stack := range [][]envharness.Component{wrapped, nil} {
		var tasks []envharness.Task
		for range j.groups / 2 {
			t := train[rng.IntN(len(train))]
			for range j.group {
				tasks = append(tasks, t)
			}
		}
		es, cs, err := play.Collect(ctx, j.world, stack, policy, tasks, &play.Options{
			Procedures: j.proceduresOf, Rollout: &rollout.Options{
				Seed: j.Seed<<16 + uint64(2*i+k) + 1, Parallel: j.Workers,
				Group: func(slot int, t envharness.Task) string { // a task drawn twice makes two groups
					return fmt.Sprintf("%d/%d/%s", k, slot/j.group, t.ID)
				},
			},
		})
		if err != nil {
			return err
		}
		episodes, choices = append(episodes, es...), append(choices, slices.Concat(cs...)...)
	}
	batch := rollout.Trajectories(episodes)
	credit, err := j.estimator(nil, batch)
	if err != nil {
		return err
	}
	b, err := loss.NewBatch(nil, batch, credit, nil) // of weight 0 for episodes that could not be judged
	if err != nil {
		return err
	}
	j.result.Trajectories = batch
	grad := make([]float64, len(choices))
	for range epochs {
		var scratch []float64
		for k, c := range choices {
			scratch = policy.LogProbs(scratch, c.Candidates, 1)
			b.LogProb[k] = scratch[c.Chosen]
		}
		if _, _, err := loss.PPO(grad, *b, nil); err != nil {
			return err
		}
		for k, c := range choices {
			if err := policy.AddGrad(c.Candidates, c.Chosen, grad[k], 1); err != nil {
				return err
			}
		}
		if _, err := policy.Step(&linear.AdamW{LearningRate: policyRate}); err != nil {
			return err
		}
	}
	return nil
}

// effective is the share of turns of the last iteration that get an advantage by GRPO, which compares whole rollouts, and by MileGPO, which
// compares what they did in the same state as well.
func (j *job) effective() (scores, miles float64, err error) {
	var share [2]float64
	for i, name := range [...]string{"grpo", "milegpo"} {
		estimator, err := method.New(name, "")
		if err != nil {
			return 0, 0, err
		}
		credit, err := estimator(nil, j.result.Trajectories)
		if err != nil {
			return 0, 0, err
		}
		d, err := credit.Diagnose(j.result.Trajectories)
		if err != nil {
			return 0, 0, err
		}
		share[i] = d.EffectiveShare
	}
	return share[0], share[1], nil
}

// success is the share of tasks that the verifier passes.
func (j *job) success(ctx context.Context, stage string, policy *linear.Policy, wrapped []envharness.Component, tasks []envharness.Task) (float64, error) {
	episodes, _, err := play.Collect(ctx, j.world, wrapped, policy, tasks, &play.Options{
		Temperature: new(temperature), Procedures: j.proceduresOf,
		Rollout: &rollout.Options{Seed: j.Seed, Parallel: j.Workers, Progress: j.stage(stage)},
	})
	if err != nil {
		return 0, err
	}
	traces := make([]envharness.Trace, len(episodes))
	for i, e := range episodes {
		traces[i] = e.Trace
	}
	rate, err := envharness.SuccessRate(traces, len(traces))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", stage, err)
	}
	return rate, nil
}

func (j *job) stage(name string) func(done, total int) {
	return func(done, total int) { j.Progress(name, done, total) }
}

func (j *job) proceduresOf(t envharness.Task) [][]string { return j.procedures[t.ID] }

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

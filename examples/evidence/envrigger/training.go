package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/examples/internal/study"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/internal/stat"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// trainingResult is one world with one flaw.
type trainingResult struct {
	World string        `json:"world"`
	Flaw  diagnosis.ID  `json:"flaw"`
	Seeds []trainingRow `json:"seeds"`
	// Differences of the success on test tasks, rigged less original, with 95 % intervals of a bootstrap over the tasks within each seed, which knows
	// the noise of the evaluation and not that of training: the rows show that.
	Gain      interval `json:"gain"`
	GainEqual interval `json:"gain_all_steps_counted"` // less the original that got the steps of rigging on top
}

type interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

type trainingRow struct {
	Seed         uint64  `json:"seed"`
	Rigged       int     `json:"rigged_tasks"`
	Accepted     int     `json:"accepted"`
	Share        float64 `json:"share_of_accepted"` // of the tasks that the rigged run draws
	RiggingTurns int     `json:"rigging_turns"`
	EnvSteps     int     `json:"env_steps"`
	Before       float64 `json:"success_before"` // test tasks, unmodified, as all below
	Original     float64 `json:"success_original"`
	OriginalMore float64 `json:"success_original_with_rigging_steps"`
	After        float64 `json:"success_rigged"`
}

// course is one world of the experiment.
type course struct {
	world    string
	flaw     diagnosis.ID // of the teacher
	demos    int
	rigged   int // training tasks that are rigged
	envSteps int
	algo     string
}

// courses were chosen with seed 11, among a few. With a teacher that submits too early, tasks came into reach of the policy too seldom:
// what it is told when it is refused is in words that so small a model does not know. With this one seed 11 gained far more than the seeds
// that are reported.
var courses = []course{
	{"tooldesk_small", diagnosis.Loop, 300, 48, 10000, "sapo"},
	{"household_small", diagnosis.Loop, 1500, 48, 16000, "sapo"},
}

const (
	riggedShare = 0.3 // of the training episodes of the rigged run, at most
	testTasks   = 200
	flawRate    = 0.8 // of the teacher's episodes
	temperature = 0.4
)

func (e *evidence) training(ctx context.Context, s size) error {
	for _, c := range courses {
		r := trainingResult{World: c.world, Flaw: c.flaw}
		var gains, equal []float64
		var strata []int
		for seed := range uint64(s.seeds) {
			row, more, less, err := c.run(ctx, seed+1)
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", c.world, seed+1, err)
			}
			r.Seeds = append(r.Seeds, row)
			gains, equal, strata = append(gains, more...), append(equal, less...), append(strata, len(more))
		}
		var err error
		if r.Gain, err = mean(gains, strata); err != nil {
			return err
		}
		if r.GainEqual, err = mean(equal, strata); err != nil {
			return err
		}
		e.Training = append(e.Training, r)
	}
	return nil
}

// mean returns the mean of x with its interval.
func mean(x []float64, strata []int) (interval, error) {
	of := func(sample []int) float64 {
		sum := 0.0
		for _, i := range sample {
			sum += x[i]
		}
		return sum / float64(len(sample))
	}
	all := make([]int, len(x))
	for i := range all {
		all[i] = i
	}
	ci, err := stat.Bootstrap(len(x), of, &stat.BootstrapOptions{Strata: strata})
	return interval{of(all), ci.Lo, ci.Hi}, err
}

// run trains all ways from the same start, and returns for each test task what the rigged run passed more than the original, and than the one with
// more steps.
func (c course) run(ctx context.Context, seed uint64) (row trainingRow, gain, equal []float64, err error) {
	row = trainingRow{Seed: seed, Rigged: c.rigged}
	first, err := c.study(ctx, seed, c.envSteps, nil)
	if err != nil {
		return row, nil, nil, err
	}
	if err := c.teach(ctx, first, seed); err != nil {
		return row, nil, nil, err
	}
	start, err := first.Model.MarshalBinary()
	if err != nil {
		return row, nil, nil, err
	}
	before, err := first.Evaluate(ctx, "test")
	if err != nil {
		return row, nil, nil, err
	}
	row.Before = before.Success

	report, err := c.rig(ctx, first, seed)
	if err != nil {
		return row, nil, nil, err
	}
	row.Accepted, row.RiggingTurns = len(report.Items), report.Cost.Turns
	tasks, err := c.tasks(ctx)
	if err != nil {
		return row, nil, nil, err
	}
	items, share, err := study.Pool(tasks, report.Items, riggedShare)
	if err != nil {
		return row, nil, nil, err
	}
	row.Share = share
	passes := make([][]float64, 3)
	for i, arm := range []struct {
		steps int
		items []train.Item
		rate  *float64
	}{{c.envSteps, nil, &row.Original}, {c.envSteps + row.RiggingTurns, nil, &row.OriginalMore}, {c.envSteps, items, &row.After}} {
		st, err := c.study(ctx, seed, arm.steps, arm.items)
		if err != nil {
			return row, nil, nil, err
		}
		if err := st.Model.UnmarshalBinary(start); err != nil {
			return row, nil, nil, err
		}
		for it, err := range st.Run(ctx) {
			if err != nil {
				return row, nil, nil, err
			}
			if i == 0 {
				row.EnvSteps = it.EnvSteps
			}
		}
		if err := st.RestoreBest(); err != nil {
			return row, nil, nil, err
		}
		after, err := st.Evaluate(ctx, "test")
		if err != nil {
			return row, nil, nil, err
		}
		*arm.rate = after.Success
		for _, t := range after.Traces {
			pass := 0.0
			if t.Verdict.Status == envharness.Pass {
				pass = 1
			}
			passes[i] = append(passes[i], pass)
		}
	}
	for i, rigged := range passes[2] {
		gain, equal = append(gain, rigged-passes[0][i]), append(equal, rigged-passes[1][i])
	}
	return row, gain, equal, nil
}

func (c course) tasks(ctx context.Context) ([]envharness.Task, error) {
	w, err := worlds.Find(c.world)
	if err != nil {
		return nil, err
	}
	return w.Tasks(ctx, "train")
}

func (c course) agent() rollout.AgentOptions {
	return rollout.AgentOptions{History: new(0), Candidates: true}
}

func (c course) study(ctx context.Context, seed uint64, steps int, items []train.Item) (*study.Study, error) {
	return study.New(ctx, study.Config{
		World: c.world, Algorithm: c.algo, Dim: 32, Heads: 2, Layers: 2, Items: items,
		Options: train.Options{
			Seed: seed, Workers: runtime.NumCPU(), MaxEnvSteps: steps, Agent: c.agent(), EvalTemperature: new(temperature),
			InvalidPenalty: new(0.0), Rate: 2e-3, Epochs: 2, MiniBatch: 128, EvalEvery: 3, EvalTasks: testTasks,
		},
	})
}

// teach imitates the teacher, in the episodes that it fails as well.
func (c course) teach(ctx context.Context, s *study.Study, seed uint64) error {
	tasks, err := c.tasks(ctx)
	if err != nil {
		return err
	}
	tasks = tasks[:min(c.demos, len(tasks))]
	teacher, err := rigtest.Flawed(s.Problem.World, c.flaw, &rigtest.Options{Rate: new(flawRate)})
	if err != nil {
		return err
	}
	o := c.agent()
	agent, err := rollout.NewAgent(s.Model, s.Problem.Tokenizer, &o)
	if err != nil {
		return err
	}
	episodes, err := rollout.Collect(ctx, s.Problem.World, nil, func(slot int) (rollout.Player, error) {
		p, err := teacher(tasks[slot], rand.New(rand.NewPCG(seed, uint64(slot))))
		return agent.Follow(p), err
	}, tasks, &rollout.Options{Seed: seed, Parallel: runtime.NumCPU()})
	if err != nil {
		return err
	}
	for i := range episodes { // a demonstration that did not pass would be left out
		episodes[i].Trajectory.Success = new(true)
	}
	_, err = s.WarmStart(ctx, episodes, &train.WarmStartOptions{Epochs: 10, Rate: 2e-3})
	return err
}

// rig rigs the first training tasks for the policy as it is.
func (c course) rig(ctx context.Context, s *study.Study, seed uint64) (*rigger.Report, error) {
	tasks, err := c.tasks(ctx)
	if err != nil {
		return nil, err
	}
	o := c.agent()
	agent, err := rollout.NewAgent(s.Model, s.Problem.Tokenizer, &o)
	if err != nil {
		return nil, err
	}
	return rigger.Rig(ctx, rigger.Problem{
		World: s.Problem.World, Tasks: tasks[:min(c.rigged, len(tasks))],
		NewPolicy: func(_ envharness.Task, rng *rand.Rand) (envharness.Policy, error) { return agent.Play(rng), nil },
	}, &rigger.Options{Seed: seed, Rollout: envharness.RolloutOptions{Parallel: runtime.NumCPU()}})
}

func (e *evidence) writeTraining(line func(string, ...any)) {
	for _, r := range e.Training {
		line("\ntraining: %s, a teacher with %s\nseed\trigged\taccepted\tturns\tsteps\tbefore\toriginal\toriginal, with the turns\trigged", r.World, r.Flaw)
		for _, s := range r.Seeds {
			line("%d\t%d\t%d\t%d\t%d\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%", s.Seed, s.Rigged, s.Accepted, s.RiggingTurns, s.EnvSteps, 100*s.Before,
				100*s.Original, 100*s.OriginalMore, 100*s.After)
		}
		line("gain %+.1f points [%+.1f, %+.1f], with all steps counted %+.1f [%+.1f, %+.1f]", 100*r.Gain.Mean, 100*r.Gain.Low, 100*r.Gain.High,
			100*r.GainEqual.Mean, 100*r.GainEqual.Low, 100*r.GainEqual.High)
	}
}

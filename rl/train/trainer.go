package train

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A Trainer trains the model of a [Problem]. Make one with [New]. Its methods must not be called at the same time.
type Trainer struct {
	problem   Problem
	algorithm Algorithm
	s         settings
	model     Model
	critic    rl.Critic
	reference rl.Backbone // nil until the first iteration begins, or without a divergence
	lists     map[string][]envharness.Task
	counters
	kl   loss.KLController
	owns bool   // the checkpoints in Options.Dir are of this run
	best []byte // the model at the best evaluation; nil before the first one, or if it cannot be saved
}

// counters are the state of a run beside the parameters.
type counters struct {
	iteration, envSteps int
	drawn               int // tasks so far
	steps               int // optimiser steps
	skipped             int // in a row
	evaluated           int // evaluations so far,
	bestSuccess         float64
	stale               int // of them since the best one
	done                string
}

// New returns a trainer, or an error that names all that is wrong with the problem and its options. It runs nothing.
func New(p Problem, o *Options) (*Trainer, error) {
	s, err := o.read(p.Algorithm, p.Model)
	if err := errors.Join(err, p.check(&s)); err != nil {
		return nil, err
	}
	if s.InvalidPenalty != nil {
		p.Algorithm.Credit = p.Algorithm.penalised(s.InvalidPenalty)
	}
	t := &Trainer{problem: p, algorithm: p.Algorithm, s: s, model: p.Model, critic: p.Critic, reference: s.Reference, lists: map[string][]envharness.Task{},
		kl: loss.KLController{Beta: s.klWeight, Adaptive: s.KLTarget > 0, Target: s.KLTarget, Horizon: s.KLHorizon}}
	if _, err := t.agent(s.temperature); err != nil {
		return nil, err
	}
	// Estimators and losses check their options also when there is nothing to do.
	c, errCredit := p.Algorithm.Credit(nil, nil)
	var errWeights, errShared, errLoss error
	if errCredit == nil {
		_, errWeights = loss.NewBatch(nil, nil, c, t.weights())
	}
	if p.Algorithm.Loss != nil {
		_, _, errLoss = p.Algorithm.Loss(nil, loss.Batch{})
	}
	_, _, errPPO := loss.PPO(nil, loss.Batch{}, &s.PPO)
	_, _, errTurn := loss.TurnRatio(nil, loss.Batch{}, nil, &s.TurnRatio)
	_, errKL := loss.KL(nil, loss.Batch{}, s.KL)
	_, errHead := s.Head.LogProb(nil, make([]float64, p.Tokenizer.Vocab()), rollout.EndAct, 0)
	if p.Algorithm.Values == SharedValues {
		_, _, errShared = loss.SAPO(nil, nil, s.sapo(s.klWeight, p.Algorithm.NoQ))
	}
	if errHead != nil {
		errHead = fmt.Errorf("Options.Head: %w", errHead)
	}
	var errBeta error
	if beta := t.kl; beta.Adaptive {
		if errBeta = beta.Update(0, s.Tasks*s.Rollouts); errBeta != nil {
			errBeta = fmt.Errorf("Options.KLHorizon: %w", errBeta)
		}
	}
	if err := errors.Join(errCredit, errWeights, errLoss, errPPO, errTurn, errKL, errHead, errShared, errBeta); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return t, nil
}

// agent returns the agent that plays at a temperature.
func (t *Trainer) agent(temperature float64) (*rollout.Agent, error) {
	o := t.s.Agent
	o.Temperature = &temperature
	return rollout.NewAgent(t.model, t.problem.Tokenizer, &o)
}

// given returns the agent with the notes for a task.
func (t *Trainer) given(a *rollout.Agent, task envharness.Task) *rollout.Agent {
	if t.problem.Notes == nil {
		return a
	}
	return a.Given(t.problem.Notes(task))
}

// Run trains, from where the last call or [Trainer.Load] ended, and yields what each iteration did; the first item of a new run is the
// evaluation before training, number 0. It ends by Options.Iterations, MaxEnvSteps or Patience, when its caller stops ranging, or with an
// error, ctx.Err() among them, as its last item; the iteration that failed has left no trace then but for a line in Options.Metrics, if the
// model can be restored (see [Model]).
func (t *Trainer) Run(ctx context.Context) iter.Seq2[Iteration, error] {
	return func(yield func(Iteration, error) bool) {
		for t.done == "" {
			it, err := t.next(ctx)
			if !yield(it, err) || err != nil {
				return
			}
		}
	}
}

// next runs one iteration, or the evaluation before the first one.
func (t *Trainer) next(ctx context.Context) (_ Iteration, err error) {
	if err := ctx.Err(); err != nil {
		return Iteration{}, err
	}
	undo, err := t.snapshot()
	if err != nil {
		return Iteration{}, err
	}
	it := Iteration{Algorithm: t.algorithm.Name, EnvSteps: t.envSteps}
	start := t.iteration == 0 && t.evaluated == 0 && t.s.EvalEvery > 0
	if !start {
		it.Number = t.iteration + 1
	}
	times := &Seconds{}
	if t.s.Clock != nil {
		it.Seconds = times
	}
	if start {
		err = t.evaluate(ctx, &it, times)
	} else {
		err = t.iterate(ctx, &it, times)
	}
	it.Done = t.done
	if err == nil && t.s.Metrics != nil { // before the checkpoint: a run that is killed in between does the iteration again
		err = writeLine(t.s.Metrics, it)
	}
	if err == nil && t.s.Dir != "" && !start && (it.Number%t.s.CheckpointEvery == 0 || t.done != "") {
		err = t.checkpoint()
	}
	if err != nil {
		return Iteration{}, t.undone(err, undo)
	}
	return it, nil
}

// iterate is one iteration; the caller undoes it after an error.
func (t *Trainer) iterate(ctx context.Context, it *Iteration, times *Seconds) error {
	if t.reference == nil && (t.s.klWeight > 0 || t.s.KLTarget > 0) {
		t.reference = t.model.(freezer).Freeze()
	}
	done := t.timer()
	episodes, err := t.collect(ctx, it.Number)
	if err != nil {
		return err
	}
	done(&times.Generation)
	b := newBatch(episodes)
	it.describe(b)
	if err := t.readOld(ctx, b, times); err != nil {
		return err
	}
	done = t.timer()
	c, err := t.algorithm.Credit(nil, b.trajectories)
	if err != nil {
		return err
	}
	d, err := c.Diagnose(b.trajectories)
	if err != nil {
		return err
	}
	it.Credit, it.Trajectories, it.Traces = &d, b.trajectories, traces(episodes)
	it.Beta = t.kl.Beta
	if err := t.update(ctx, b, c, it); err != nil {
		return err
	}
	if it.Steps > 0 && t.kl.Adaptive { // without a step there was nothing to measure
		if err := t.kl.Update(it.KL, len(episodes)); err != nil {
			return err
		}
	}
	done(&times.Update)
	t.iteration = it.Number
	t.envSteps += it.Turns
	it.EnvSteps = t.envSteps
	switch {
	case t.s.MaxEnvSteps > 0 && t.envSteps >= t.s.MaxEnvSteps:
		t.done = "env_steps"
		it.Overshoot = t.envSteps - t.s.MaxEnvSteps
	case t.s.Iterations > 0 && t.iteration >= t.s.Iterations:
		t.done = "iterations"
	}
	if t.s.EvalEvery > 0 && (it.Number%t.s.EvalEvery == 0 || t.done != "") {
		return t.evaluate(ctx, it, times)
	}
	return nil
}

// evaluate plays the split that training is steered by.
func (t *Trainer) evaluate(ctx context.Context, it *Iteration, times *Seconds) error {
	done := t.timer()
	e, err := t.Evaluate(ctx, t.s.EvalSplit)
	if err != nil {
		return err
	}
	done(&times.Evaluation)
	it.Evaluation = &e
	if t.evaluated == 0 || e.Success > t.bestSuccess+t.s.MinDelta {
		t.stale = 0
	} else if t.stale++; t.s.Patience > 0 && t.stale >= t.s.Patience && t.done == "" {
		t.done = "patience"
	}
	if t.evaluated == 0 || e.Success > t.bestSuccess {
		if t.best, err = saved(t.model); err != nil {
			return err
		}
		it.Best, t.bestSuccess = true, e.Success
	}
	t.evaluated++
	return nil
}

// A lane is a part of an iteration's episodes that is played behind the same components.
type lane struct {
	components []envharness.Component
	tasks      []envharness.Task // each as often as it is played
	groups     []int             // of the iteration, for each of tasks
}

// draw draws the groups of an iteration: n of them after the ones that earlier iterations drew. Each pass over the tasks or items takes them
// in an order of its own.
func (t *Trainer) draw(ctx context.Context, n int) ([]lane, error) {
	all, stacks, items := []envharness.Task(nil), t.problem.Stacks, t.problem.Items
	if len(items) == 0 {
		var err error
		if all, err = t.tasks(ctx, t.s.TrainSplit, t.s.TrainTasks); err != nil {
			return nil, err
		}
	}
	lanes := make([]lane, max(len(stacks), 1)) // without Stacks one lane, without components
	for k, s := range stacks {
		lanes[k].components = s
	}
	of := make(map[int]int) // lane of an item with components
	var order []int
	for g := range n {
		drawn, size := t.drawn+g, max(len(all), len(items))
		pass, at := drawn/size, drawn%size
		if order == nil || at == 0 {
			order = rand.New(rand.NewPCG(t.stream("tasks", uint64(pass)), 1)).Perm(size)
		}
		i, k := order[at], g%len(lanes)
		var task envharness.Task
		if len(items) == 0 {
			task = all[i]
		} else {
			task, k = items[i].Task, 0
			if len(items[i].Components) > 0 {
				var met bool
				if k, met = of[i]; !met {
					k, of[i] = len(lanes), len(lanes)
					lanes = append(lanes, lane{components: items[i].Components})
				}
			}
		}
		for range t.s.Rollouts {
			lanes[k].tasks = append(lanes[k].tasks, task)
			lanes[k].groups = append(lanes[k].groups, g)
		}
	}
	return lanes, nil
}

// collect draws the tasks of an iteration and plays them.
func (t *Trainer) collect(ctx context.Context, number int) ([]rollout.Episode, error) {
	lanes, err := t.draw(ctx, t.s.Tasks)
	if err != nil {
		return nil, err
	}
	agent, err := t.agent(t.s.temperature)
	if err != nil {
		return nil, err
	}
	var episodes []rollout.Episode
	total := t.s.Tasks * t.s.Rollouts
	for k, l := range lanes {
		if len(l.tasks) == 0 {
			continue
		}
		purpose := fmt.Sprintf("collect/%d", k)
		o := t.s.Rollout
		o.Seed, o.Parallel = t.stream(purpose, uint64(number)), t.s.Workers
		o.Group = func(slot int, task envharness.Task) string { return fmt.Sprintf("%d/%s", l.groups[slot], task.ID) }
		before := len(episodes)
		o.Progress = func(done, _ int) { t.progress("play", before+done, total) }
		seed := t.stream(purpose+"/policy", uint64(number))
		es, err := rollout.Collect(ctx, t.problem.World, l.components, func(slot int) (rollout.Player, error) {
			return t.given(agent, l.tasks[slot]).Play(envharness.RandStream(seed, "policy", uint64(slot))), nil
		}, l.tasks, &o)
		if err != nil {
			return nil, err
		}
		exclude(es)
		episodes = append(episodes, es...)
	}
	if err := spoilt(episodes); err != nil {
		return nil, fmt.Errorf("train: iteration %d: %w", number, err)
	}
	t.drawn += t.s.Tasks
	return episodes, nil
}

// RestoreBest puts the parameters of the best evaluation so far into the model, and the optimiser's state with them; a critic apart stays as it
// is. That before training takes part, and of equal ones the earliest is the best: with few tasks in the split it may well be that one.
// Iteration.Best tells which it was. The run can go on from there.
func (t *Trainer) RestoreBest() error {
	if t.best == nil {
		return errors.New("train: there is no best evaluation to go back to")
	}
	return t.model.(encoding.BinaryUnmarshaler).UnmarshalBinary(t.best)
}

// saved returns the state of a model, or nil if it cannot be saved.
func saved(model any) ([]byte, error) {
	m, ok := model.(encoding.BinaryMarshaler)
	if _, back := model.(encoding.BinaryUnmarshaler); !ok || !back {
		return nil, nil
	}
	return m.MarshalBinary()
}

// A snapshot is what an iteration that fails goes back to.
type snapshot struct {
	counters
	kl            loss.KLController
	best          []byte
	reference     rl.Backbone
	model, critic []byte
}

func (t *Trainer) snapshot() (snapshot, error) {
	model, err := saved(t.model)
	if err != nil {
		return snapshot{}, err
	}
	critic, err := saved(t.critic)
	return snapshot{t.counters, t.kl, t.best, t.reference, model, critic}, err
}

// undone goes back to a snapshot and returns err.
func (t *Trainer) undone(err error, s snapshot) error {
	t.counters, t.kl, t.best, t.reference = s.counters, s.kl, s.best, s.reference
	for _, m := range []struct {
		model any
		state []byte
	}{{t.model, s.model}, {t.critic, s.critic}} {
		if m.state != nil {
			err = errors.Join(err, m.model.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.state))
		}
	}
	return err
}

// timer starts a measurement; the function that it returns adds the time to a sum.
func (t *Trainer) timer() func(*float64) {
	if t.s.Clock == nil {
		return func(*float64) {}
	}
	start := t.s.Clock()
	return func(to *float64) { *to += t.s.Clock().Sub(start).Seconds() }
}

func (t *Trainer) progress(stage string, done, total int) {
	if t.s.Progress != nil {
		t.s.Progress(stage, done, total)
	}
}

func (t *Trainer) stage(name string) func(done, total int) {
	return func(done, total int) { t.progress(name, done, total) }
}

// writeLine writes one line of metrics.
func writeLine(w interface{ Write([]byte) (int, error) }, it Iteration) error {
	line, err := json.Marshal(it)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

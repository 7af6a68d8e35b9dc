package mainjob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// Endpoint is what a model behind an endpoint did and used.
type Endpoint struct {
	endpoint.Usage
	Tasks    int    `json:"tasks"`           // of each split
	Episodes int    `json:"episodes"`        // played, those of the rigger too
	Invalid  int    `json:"invalid"`         // spoilt by infrastructure, but for those of the rigger; no rate counts them
	Cause    string `json:"cause,omitempty"` // of the first invalid one
	// Splits has what was evaluated: validation, test and ood.
	Splits map[string]Split `json:"splits,omitempty"`
}

// A Split is how the episodes on one split ended, without the selected skills and with them.
type Split struct {
	Without Score `json:"without_skills"`
	With    Score `json:"with_skills"`
}

// A Score is how episodes ended. The invalid ones are not among those that were judged.
type Score struct {
	Passed  int `json:"passed"`
	Judged  int `json:"judged"`
	Invalid int `json:"invalid"`
}

func score(t endpoint.Tally) Score { return Score{t.Passed, t.Played, t.Invalid} }

// add counts episodes.
func (e *Endpoint) add(t endpoint.Tally) {
	e.Episodes, e.Invalid, e.Cause = e.Episodes+t.Played+t.Invalid, e.Invalid+t.Invalid, cmp.Or(e.Cause, t.Cause)
}

// String tells it in one line.
func (e *Endpoint) String() string {
	s := fmt.Sprintf("%s; %d episodes, %d of them invalid", e.Usage, e.Episodes, e.Invalid)
	if e.Cause != "" {
		s += ", the first: " + e.Cause
	}
	return s
}

// Modelled is how a model did in place of the policy. The first of two numbers is without the selected skills as instructions, the second
// with them; accepted tasks are played with them, as they were and behind their components.
type Modelled struct {
	Validation, Test, OOD, Accepted [2]endpoint.Tally
	Recorded                        endpoint.Tally
	Credit                          string // method of the recorded episodes' credit
	Turns, Credited                 int    // of these episodes, with a vote, and those of them whose credit is not 0
}

// Each rollout of a model takes time and money.
const (
	shareRigged    = 5 // one in so many of the tasks that it plays is rigged, and one recorded
	modelAttempts  = 2 // of the rigger on one task: no more than 47 rollouts
	recordedAtOnce = 4 // rollouts of a recorded task, which credit compares
)

// modelled does what training does without the training: the model that acts cannot be trained from here. It is measured without and with
// the selected skills, the rigger adapts training tasks to it, and some of its episodes are recorded and given credit.
func (j *job) modelled(ctx context.Context) error {
	tasks, validation, test, ood, err := j.splits(ctx)
	if err != nil {
		return err
	}
	n, some := j.Model.Tasks, max(1, j.Model.Tasks/shareRigged)
	validation, test, ood = validation[:min(n, len(validation))], test[:min(n, len(test))], ood[:min(n, len(ood))]
	tasks = tasks[min(j.demos, len(tasks)-1):]
	tasks = tasks[:min(some, len(tasks))]

	m, r := &Modelled{}, &j.result.Report
	j.result.Model, r.Endpoint, j.result.Curve = m, &Endpoint{Tasks: n, Splits: make(map[string]Split)}, []Point{}
	for _, on := range []struct {
		key, split string
		tasks      []envharness.Task
		got        *[2]endpoint.Tally
	}{{"validation", "validation", validation, &m.Validation}, {"test", "test", test, &m.Test}, {"ood", "new family", ood, &m.OOD}} {
		for i, told := range []func(envharness.Task) string{nil, j.told} {
			stage := "model on " + on.split
			if told != nil {
				stage += ", skills"
			}
			traces, err := j.play(ctx, stage, nil, on.tasks, told)
			if err != nil {
				return err
			}
			on.got[i] = endpoint.Count(traces)
			if err := on.got[i].Err(); err != nil { // a rate of 0 would be wrong
				return fmt.Errorf("%s: %w", stage, err)
			}
			j.Model.Finished(stage, on.got[i])
		}
		r.Endpoint.Splits[on.key] = Split{Without: score(on.got[0]), With: score(on.got[1])}
	}
	if err := j.rigModel(ctx, tasks); err != nil {
		return err
	}
	if err := j.recordModel(ctx, tasks); err != nil {
		return err
	}
	if err := j.yardsticks(ctx, test); err != nil {
		return err
	}
	r.Training.SuccessBefore, r.Training.SuccessAfter = m.Test[0].Rate, m.Test[1].Rate
	if r.Environment.Accepted > 0 {
		r.Environment.SuccessBase, r.Environment.SuccessWrapped = &m.Accepted[0].Rate, &m.Accepted[1].Rate
	}
	r.Endpoint.Usage = j.Model.Usage()

	env := r.Environment
	on := func(n int, what string) string { return fmt.Sprintf("success on %d %s", n, what) }
	row := func(stage, did, number string, got [2]endpoint.Tally) {
		j.row(stage, did, number, got[0].String(), got[1].String())
	}
	row("model", fmt.Sprintf("%s acts in place of the policy, without and with the chosen skills", j.Model.Name),
		on(len(validation), "validation tasks"), m.Validation)
	j.row("environment", fmt.Sprintf("rig %d training tasks for this model; the verifier stays", env.Tasks), "candidates, accepted",
		fmt.Sprint(env.Candidates), fmt.Sprint(env.Accepted))
	if env.Accepted > 0 {
		row("", "play them as they were, and behind their components", on(env.Accepted, "accepted tasks"), m.Accepted)
	}
	j.row("training", fmt.Sprintf("not trained: there are no weights behind an endpoint; record %d episodes of rigged tasks as they were",
		len(j.result.Trajectories)), "success on these", "-", m.Recorded.String())
	if m.Recorded.Passed > 0 { // else calls that were refused are all that tells the episodes apart
		j.row("", fmt.Sprintf("give their turns %s credit, for what differs within a group; refused calls cost", m.Credit),
			"turns with credit other than 0", "-", fmt.Sprintf("%d of %d", m.Credited, m.Turns))
	}
	row("evaluation", "play test tasks, environment unmodified: without and with skills", on(len(test), "test tasks"), m.Test)
	row("", "play a held-out family likewise: two requests at once", on(len(ood), "such tasks"), m.OOD)
	j.row("", "for comparison: the best policy that knows nothing, and the oracle", on(len(test), "test tasks"),
		percent(j.result.Null), percent(j.result.Oracle))
	return nil
}

// told is what the model is told of the skills that were selected for a task.
func (j *job) told(t envharness.Task) string { return j.prompts[t.ID] }

// play lets the model play, and notes how much.
func (j *job) play(ctx context.Context, stage string, components []envharness.Component, tasks []envharness.Task,
	told func(envharness.Task) string) ([]envharness.Trace, error) {
	traces, err := j.Model.Play(ctx, endpoint.Play{
		World: j.desk, Components: components, Tasks: tasks, Instructions: told, Seed: j.Seed, Progress: j.stage(stage),
	})
	if err != nil {
		return nil, err
	}
	j.result.Report.Endpoint.add(endpoint.Count(traces))
	return traces, nil
}

// rigModel lets the rigger adapt training tasks to the model, and plays what was accepted.
func (j *job) rigModel(ctx context.Context, tasks []envharness.Task) error {
	d, err := j.desk.Describe(ctx)
	if err != nil {
		return err
	}
	o := j.Model.Rollouts()
	o.Reruns = new(1)
	rigged, err := rigger.Rig(ctx, rigger.Problem{
		World: j.desk.World, Tasks: tasks,
		NewPolicy: func(t envharness.Task, _ *rand.Rand) (envharness.Policy, error) {
			return j.Model.Policy(d, j.told(t)), nil
		},
	}, &rigger.Options{
		Seed: j.Seed, Attempts: modelAttempts, Rollout: o,
		Progress: func(p rigger.Progress) { j.Progress("rig tasks", p.Task, p.Tasks) },
	})
	if err != nil {
		return err
	}
	j.result.Rigged = rigged
	env := &j.result.Report.Environment
	env.Tasks, env.Accepted, env.Rollouts = len(tasks), len(rigged.Items), rigged.Cost.Rollouts()
	for _, t := range rigged.Tasks {
		env.Candidates += len(t.Attempts)
	}
	j.result.Report.Endpoint.Episodes += env.Rollouts
	if !slices.ContainsFunc(rigged.Tasks, func(t rigger.TaskReport) bool { return t.Outcome != rigger.Infra }) {
		return fmt.Errorf("rig tasks: none of %d could be judged; the first: %s", len(tasks), rigged.Tasks[0].Reason)
	}
	j.Model.Finished("rig tasks", fmt.Sprintf("%d of %d accepted", len(rigged.Items), len(tasks)))
	var played [2][]envharness.Trace
	for _, it := range rigged.Items {
		stack, err := it.Components(nil)
		if err != nil {
			return err
		}
		again := slices.Repeat([]envharness.Task{it.Task}, perAccepted)
		for i, components := range [][]envharness.Component{nil, stack} {
			traces, err := j.play(ctx, "play accepted", components, again, j.told)
			if err != nil {
				return err
			}
			played[i] = append(played[i], traces...)
		}
	}
	for i, traces := range played {
		t := endpoint.Count(traces)
		if err := t.Err(); err != nil {
			return fmt.Errorf("play accepted: %w", err)
		}
		j.result.Model.Accepted[i] = t
		j.Model.Finished([...]string{"accepted tasks as they were", "accepted tasks behind components"}[i], t)
	}
	return nil
}

// recordModel records episodes of the model on the tasks as they are, in groups, and gives their turns credit: by the method of the run, or
// by gigpo where that needs values of a critic, which nobody trains here.
func (j *job) recordModel(ctx context.Context, tasks []envharness.Task) error {
	d, err := j.desk.Describe(ctx)
	if err != nil {
		return err
	}
	method := j.algorithm
	if method.Values != train.NoValues {
		if method, err = train.Find("gigpo"); err != nil {
			return err
		}
	}
	tasks = rollout.Repeat(tasks, recordedAtOnce)
	episodes, err := rollout.Collect(ctx, j.desk.World, nil, func(slot int) (rollout.Player, error) {
		return &chooser{Policy: j.Model.Policy(d, j.told(tasks[slot]))}, nil
	}, tasks, &rollout.Options{Seed: j.Seed, Parallel: j.Model.AtOnce, States: rollout.ShownTexts, Progress: j.stage("record model")})
	if err != nil {
		return err
	}
	traces := make([]envharness.Trace, len(episodes))
	for i, ep := range episodes {
		traces[i] = ep.Trace
	}
	got := endpoint.Count(traces)
	j.result.Report.Endpoint.add(got)
	if err := got.Err(); err != nil {
		return fmt.Errorf("record model: %w", err)
	}
	j.Model.Finished("record model", got)
	j.result.Trajectories = rollout.Trajectories(episodes)
	credit, err := method.Credit(nil, j.result.Trajectories)
	if err != nil {
		return fmt.Errorf("%s credit: %w", method.Name, err)
	}
	m := j.result.Model
	m.Credit, m.Recorded = method.Name, got
	for i, votes := range credit.Vote {
		if !votes {
			continue
		}
		m.Turns++
		if credit.Advantage[i] != 0 {
			m.Credited++
		}
	}
	return nil
}

// A chooser is a player of a policy whose tokens are not known: a turn is one token, which says the place of the action in the list of the
// admissible ones, or the length of the list where it is not in it.
type chooser struct {
	envharness.Policy
	turns []rl.Turn
}

func (c *chooser) Act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	a, err := c.Policy.Act(ctx, t)
	if err == nil || errors.Is(err, envharness.ErrBadAction) { // others end the episode
		place := len(t.Shown.Actions)
		if i := slices.IndexFunc(t.Shown.Actions, func(b envharness.Action) bool { return err == nil && same(a, b) }); i >= 0 {
			place = i
		}
		c.turns = append(c.turns, rl.Turn{Tokens: []rl.Token{{ID: place, Trainable: true}}})
	}
	return a, err
}

// same says whether two actions are one, however a model writes the arguments.
func same(a, b envharness.Action) bool {
	one, errA := arguments(a)
	other, errB := arguments(b)
	return a.Name == b.Name && errA == nil && errB == nil && bytes.Equal(one, other)
}

func arguments(a envharness.Action) ([]byte, error) {
	if len(a.Args) == 0 {
		return []byte("{}"), nil
	}
	return envharness.CanonicalJSON(a.Args)
}

func (c *chooser) Turns() []rl.Turn { return c.turns }

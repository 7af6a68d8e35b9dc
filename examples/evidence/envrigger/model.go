package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// modelResult is what the rigger did for a model behind an endpoint.
type modelResult struct {
	Endpoint endpoint.Usage `json:"endpoint"` // as policy, and as designer if it is one
	Designer string         `json:"designer"`
	Tasks    []modelTask    `json:"tasks"`
	Accepted int            `json:"accepted"`
	Rollouts int            `json:"rollouts"` // of the model
	Turns    int            `json:"turns"`    // in these
}

// modelTask is one task that was rigged for the model.
type modelTask struct {
	World      string         `json:"world"`
	Task       string         `json:"task"`
	Baseline   rigger.Tally   `json:"baseline"` // on the task as it is, of the rollouts that could be judged
	Flaws      []diagnosis.ID `json:"flaws,omitempty"`
	Candidates int            `json:"candidates"`
	Outcome    rigger.Outcome `json:"outcome"`
	Reason     string         `json:"reason,omitempty"`
	Words      []string       `json:"words,omitempty"`  // of what was accepted
	Behind     *rigger.Tally  `json:"behind,omitempty"` // and that it was accepted on
}

var modelWorlds = []string{"tooldesk_small", "household_small", "keydoor_small"}

// modelAttempts keeps a task within 5 + 3*(5+16) = 68 rollouts.
const modelAttempts = 3

// A rigged is a model that the rigger works for.
type rigged struct {
	*endpoint.Model
	design bool // it designs too
}

// model rigs tasks for the model.
func (e *evidence) model(ctx context.Context, m rigged, progress func(string)) error {
	if err := m.Reach(ctx); err != nil {
		return err
	}
	r := &modelResult{Designer: "rules"}
	e.Model = r
	var designer rigger.Designer // nil are the rules
	if m.design {
		designer = &rigger.Model{Generate: m.Generate, Name: m.Name}
		r.Designer = "the model"
	}
	judged := false
	for _, name := range modelWorlds {
		progress(name)
		w, err := worlds.Find(name)
		if err != nil {
			return err
		}
		d, err := w.Describe(ctx)
		if err != nil {
			return err
		}
		tasks, err := w.Tasks(ctx, "train")
		if err != nil {
			return err
		}
		some := make([]envharness.Task, min(m.Tasks, len(tasks)))
		for i := range some {
			some[i] = tasks[i*len(tasks)/len(some)]
			some[i].Seed = new(uint64(1))
		}
		o := m.Rollouts()
		o.Reruns = new(1)
		report, err := rigger.Rig(ctx, rigger.Problem{
			World: w.World, Tasks: some,
			NewPolicy: func(envharness.Task, *rand.Rand) (envharness.Policy, error) { return m.Policy(d, ""), nil },
		}, &rigger.Options{Seed: 1, Designer: designer, Attempts: modelAttempts, Rollout: o})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		spoilt := 0
		for _, t := range report.Tasks {
			row := modelTask{
				World: name, Task: t.Task.ID, Baseline: t.Baseline.Tally, Candidates: len(t.Attempts), Outcome: t.Outcome, Reason: t.Reason,
			}
			for _, f := range t.Flaws {
				row.Flaws = append(row.Flaws, f.ID)
			}
			for _, it := range report.Items {
				if it.Task.ID == t.Task.ID {
					row.Words, row.Behind = it.Words, new(it.Counts)
				}
			}
			r.Tasks = append(r.Tasks, row)
			if t.Outcome == rigger.Infra {
				spoilt++
			}
		}
		judged = judged || spoilt < len(report.Tasks)
		m.Finished(name, fmt.Sprintf("%d of %d tasks changed, %d not judged", len(report.Items), len(some), spoilt))
		r.Accepted += len(report.Items)
		r.Rollouts, r.Turns = r.Rollouts+report.Cost.Rollouts(), r.Turns+report.Cost.Turns
	}
	r.Endpoint = m.Usage()
	e.claim(judged, "model: no task could be judged, the first: %s", r.Tasks[0].Reason)
	return nil
}

func (e *evidence) writeModel(line func(string, ...any)) {
	r := e.Model
	if r == nil {
		return
	}
	line("rigged for %s, designed by %s", r.Endpoint.Model, r.Designer)
	line("world\ttask\tpassed as it was\tflaws\tcandidates\toutcome\tpassed behind\tcomponents, or why there are none")
	for _, t := range r.Tasks {
		flaws := make([]string, len(t.Flaws))
		for i, f := range t.Flaws {
			flaws[i] = string(f)
		}
		behind, why := "", t.Reason
		if t.Behind != nil {
			behind, why = t.Behind.String(), strings.Join(t.Words, "; ")
		}
		line("%s\t%s\t%v\t%s\t%d\t%s\t%s\t%s", t.World, t.Task, t.Baseline, strings.Join(flaws, " "), t.Candidates, t.Outcome, behind, why)
	}
	line("\n%d of %d tasks were changed, by %d episodes of %d turns\n%v", r.Accepted, len(r.Tasks), r.Rollouts, r.Turns, r.Endpoint)
}

// open returns the model that the flags name and what else is said of it, nil if there is none.
func open(f *endpoint.Flags, design bool, only string, getenv func(string) string) (*rigged, error) {
	m, err := f.Open(getenv)
	switch {
	case err != nil:
		return nil, err
	case m == nil && design:
		return nil, errors.New("-design is about a model: it needs -endpoint and -model")
	case m == nil:
		return nil, nil
	case only != "":
		return nil, fmt.Errorf("-only %s: the policies of the parts are made for what is measured there, and -endpoint has none of them", only)
	}
	return &rigged{m, design}, nil
}

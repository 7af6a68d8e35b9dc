package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// hostileResult is a component that cheats, and the step of the gate that refused it.
type hostileResult struct {
	World  string `json:"world"`
	Name   string `json:"name"`
	Does   string `json:"does"`
	Want   string `json:"want"`
	Step   string `json:"step"` // empty: it was accepted
	Reason string `json:"reason"`
}

func (e *evidence) hostile(ctx context.Context, _ size) error {
	for _, name := range []string{"tooldesk_small", "household_small", "keydoor_small"} {
		w, err := worlds.Find(name)
		if err != nil {
			return err
		}
		tasks, err := w.Tasks(ctx, "train")
		if err != nil {
			return err
		}
		task := tasks[0]
		task.Seed = new(uint64(1))
		tapped, tap := rigtest.Tap(w.World)
		for _, h := range rigtest.Hostiles(tap) {
			r, err := refused(ctx, tapped, task, h)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", name, h.Kind.Tag, err)
			}
			r.World = name
			e.Hostile = append(e.Hostile, r)
			e.claim(r.Step == r.Want, "hostile: %s in %s was refused by %q, want %q: %s", r.Name, name, r.Step, r.Want, r.Reason)
		}
	}
	band, err := unreachable(ctx)
	e.Hostile = append(e.Hostile, band)
	e.claim(band.Step == band.Want, "hostile: the unreachable band: %s", band.Reason)
	return err
}

// refused proposes the hostile component for a policy that plays as well as the oracle, so that it is to be harder.
func refused(ctx context.Context, w envharness.World, task envharness.Task, h rigtest.Hostile) (hostileResult, error) {
	r := hostileResult{Name: h.Kind.Tag, Does: h.Kind.About, Want: h.Step}
	registry := components.Catalogue()
	if err := registry.Add(h.Kind); err != nil {
		return r, err
	}
	report, err := rigger.Rig(ctx, rigger.Problem{World: w, Tasks: []envharness.Task{task}, NewPolicy: rigtest.Clean(w), Registry: registry},
		&rigger.Options{
			Attempts: 1, RigInBand: true,
			Designer: rigger.DesignerFunc(func(context.Context, rigger.Brief) (rigger.Candidate, error) {
				return rigger.Candidate{Stack: []components.Entry{h.Entry()}}, nil
			}),
		})
	if err != nil {
		return r, err
	}
	t := report.Tasks[0]
	if len(t.Attempts) != 1 {
		return r, fmt.Errorf("%d attempts, outcome %s: %s", len(t.Attempts), t.Outcome, t.Reason)
	}
	a := t.Attempts[0]
	if n := len(a.Steps); a.Decision != rigger.Accept && n > 0 {
		r.Step, r.Reason = string(a.Steps[n-1].Step), a.Steps[n-1].Reason
	}
	return r, nil
}

// unreachable asks for a band that three rollouts cannot be in.
func unreachable(ctx context.Context) (hostileResult, error) {
	r := hostileResult{World: "keydoor_small", Name: "band [0.4, 0.6] of 3 rollouts", Does: "asks for a rate that no count has",
		Want: string(rigger.StepBand)}
	w, err := worlds.Find(r.World)
	if err != nil {
		return r, err
	}
	tasks, err := w.Tasks(ctx, "train")
	if err != nil {
		return r, err
	}
	_, err = rigger.Rig(ctx, rigger.Problem{World: w.World, Tasks: tasks[:1], NewPolicy: rigtest.Clean(w.World)}, &rigger.Options{Screen: 3})
	if errors.Is(err, rigger.ErrBandUnreachable) {
		r.Step, r.Reason = r.Want, err.Error()
		return r, nil
	}
	return r, err
}

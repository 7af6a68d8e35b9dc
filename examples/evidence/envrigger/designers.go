package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/baseline"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// designerResult is what one way to choose components gave, and took, on the same tasks and policies.
type designerResult struct {
	Accepted     int     `json:"accepted"`
	CostRollouts int     `json:"cost_rollouts"`
	InBand       int     `json:"in_band"`  // of the accepted, with a true rate in [.25, .75]
	Dead         int     `json:"dead"`     // of the accepted, with a true rate outside [.05, .95]
	Unproven     int     `json:"unproven"` // of the accepted, that neither the policy nor the gate's own solver passed
	TrueRate     float64 `json:"mean_true_rate"`
	Learnability float64 `json:"mean_learnability"` // true p(1-p)
	PerRollout   float64 `json:"in_band_per_100_rollouts"`
}

// A riggedPolicy is one that components are looked for.
type riggedPolicy struct {
	world string
	about string
	maker func(w envharness.World) (rigtest.Maker, error)
}

func riggedPolicies() []riggedPolicy {
	patient := func(w envharness.World) (rigtest.Maker, error) { return rigtest.Patience(w, .6) }
	retry := func(w envharness.World) (rigtest.Maker, error) { return rigtest.Retry(w, .5) }
	coin := func(p float64) func(w envharness.World) (rigtest.Maker, error) {
		return func(w envharness.World) (rigtest.Maker, error) { return rigtest.Coin(w, p) }
	}
	flawed := func(flaw diagnosis.ID) func(w envharness.World) (rigtest.Maker, error) {
		return func(w envharness.World) (rigtest.Maker, error) {
			return rigtest.Flawed(w, flaw, &rigtest.Options{Rate: new(.95)})
		}
	}
	return []riggedPolicy{
		{"tooldesk_small", "wastes turns", patient},
		{"tooldesk_small", "hardly tries again", retry},
		{"tooldesk_small", "submits too early", flawed(diagnosis.PrematureStop)},
		{"household_small", "hardly tries again", retry},
		{"household_small", "runs in circles", flawed(diagnosis.Loop)},
		{"keydoor_small", "wastes turns", patient},
		{"keydoor_small", "passes 19 times in 20", coin(.95)},
	}
}

func (e *evidence) designers(ctx context.Context, s size) error {
	e.Designers = make(map[string]*designerResult)
	for _, proc := range baseline.Procedures() {
		r := &designerResult{}
		e.Designers[proc.Name] = r
		rates, learn := 0.0, 0.0
		for k, p := range riggedPolicies() {
			w, err := worlds.Find(p.world)
			if err != nil {
				return err
			}
			tasks, err := w.Tasks(ctx, "train")
			if err != nil {
				return err
			}
			some := make([]envharness.Task, s.tasks)
			for i := range some {
				some[i] = tasks[i*len(tasks)/s.tasks]
				some[i].Seed = new(uint64(1))
			}
			maker, err := p.maker(w.World)
			if err != nil {
				return err
			}
			report, err := proc.Run(ctx, rigger.Problem{World: w.World, Tasks: some, NewPolicy: maker}, &rigger.Options{
				Seed: uint64(k + 1), Rollout: envharness.RolloutOptions{Parallel: runtime.NumCPU()},
			})
			if err != nil {
				return fmt.Errorf("%s: %s, %s: %w", proc.Name, p.world, p.about, err)
			}
			r.Accepted += len(report.Items)
			r.CostRollouts += report.Cost.Rollouts()
			for i, it := range report.Items {
				c := &candidate{world: w, task: it.Task, stack: it.Stack, policy: maker}
				if err := c.measure(ctx, max(s.truth/5, 40), uint64(1000*k+i)); err != nil {
					return err
				}
				rates, learn = rates+c.truth, learn+c.truth*(1-c.truth)
				if c.truth >= .25 && c.truth <= .75 {
					r.InBand++
				}
				if c.truth < .05 || c.truth > .95 {
					r.Dead++
				}
				if c.truth > 0 {
					continue
				}
				solved, err := solvable(ctx, w, it)
				if err != nil {
					return err
				}
				if !solved {
					r.Unproven++
				}
			}
		}
		if r.Accepted > 0 {
			r.TrueRate, r.Learnability = rates/float64(r.Accepted), learn/float64(r.Accepted)
		}
		if r.CostRollouts > 0 {
			r.PerRollout = 100 * float64(r.InBand) / float64(r.CostRollouts)
		}
	}
	rigged := e.Designers["rigged"]
	e.claim(rigged.Accepted > 0 && rigged.Unproven == 0, "designers: of %d accepted by the gate %d were passed by nobody", rigged.Accepted,
		rigged.Unproven)
	return nil
}

// solvable asks the gate about an item, whoever accepted it: it is if the gate's solver passes, or finds no change worth a look.
func solvable(ctx context.Context, w worlds.World, it rigger.Item) (bool, error) {
	same := rigger.DesignerFunc(func(context.Context, rigger.Brief) (rigger.Candidate, error) {
		return rigger.Candidate{Stack: it.Stack}, nil
	})
	report, err := rigger.Rig(ctx, rigger.Problem{World: w.World, Tasks: []envharness.Task{it.Task}, NewPolicy: rigtest.Clean(w.World)},
		&rigger.Options{Designer: same, Attempts: 1, RigInBand: true})
	if err != nil || len(report.Tasks[0].Attempts) == 0 {
		return false, err
	}
	for _, s := range report.Tasks[0].Attempts[0].Steps {
		if s.Step == rigger.StepOracle {
			return s.Result == rigger.Passed, nil
		}
	}
	return true, nil
}

func (e *evidence) writeDesigners(line func(string, ...any)) {
	for i, proc := range baseline.Procedures() {
		r := e.Designers[proc.Name]
		if r == nil {
			return
		}
		if i == 0 {
			line("\ncomponents by\taccepted\tof these in the band\toutside [.05, .95]\tpassed by nobody\tmean rate\tmean p(1-p)\trollouts\tin the band per 100")
		}
		line("%s\t%d\t%d\t%d\t%d\t%.2f\t%.3f\t%d\t%.1f", proc.Name, r.Accepted, r.InBand, r.Dead, r.Unproven, r.TrueRate, r.Learnability,
			r.CostRollouts, r.PerRollout)
	}
}

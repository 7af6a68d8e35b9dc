// Package judge runs rules for choosing documents on the testbed of package forkbench and compares what they achieve.
//
// Rules without a model see the texts of tasks and documents. Rules on the fitted benefit see what package learn makes of passed and
// failed executions of other tasks with other documents. The package that is judged and the baselines get the same benefit, budget and
// documents; the order of the prompt is the order in which a rule names its documents.
package judge

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/throughline-go/throughline/bps/learn"
	"github.com/throughline-go/throughline/examples/evidence/bps/internal/forkbench"
)

// A setup is how much is run.
type setup struct {
	firstSeed uint64
	seeds     int
	records   int
	sizes     []float64 // budgets, as multiples of the tightest one; 1 is among them
}

// Run judges all rules: five seeds, or with quick one seed and fewer budgets. Equal calls give equal results. Progress may be nil.
func Run(ctx context.Context, quick bool, progress func(string)) (*Result, error) {
	// The options of the fit and the prices of a token were chosen while looking at seeds 1 to 8; these are others.
	s := setup{firstSeed: 21, seeds: 5, records: 6000, sizes: []float64{0.5, 0.75, 1, 1.5, 2, 4}}
	if quick {
		s.seeds, s.sizes = 1, []float64{1, 2}
	}
	return s.run(ctx, progress)
}

func (s setup) run(ctx context.Context, progress func(string)) (*Result, error) {
	r := &Result{Testbed: Testbed{Seeds: s.seeds, Documents: forkbench.Documents, TrainTasks: forkbench.TrainTasks,
		UnseenTasks: forkbench.UnseenTasks, Records: s.records}}
	var benches []*forkbench.Bench
	for i := range uint64(s.seeds) {
		b, err := forkbench.New(s.firstSeed + i)
		if err != nil {
			return nil, err
		}
		benches = append(benches, b)
		r.Testbed.Drawn += b.Drawn
		for _, t := range b.UnseenTasks {
			n := b.Unseen.Tokens(b.Unseen.Oracle(t))
			r.Testbed.Tightest = max(r.Testbed.Tightest, n)
			r.Testbed.Oracle += float64(n) / float64(s.seeds*len(b.UnseenTasks))
		}
	}
	tightest := r.Testbed.Tightest
	var budgets []int
	for _, size := range s.sizes {
		budgets = append(budgets, int(size*float64(tightest)))
	}
	all := outcomes{}
	for i, b := range benches {
		if progress != nil {
			progress(fmt.Sprintf("executed testbed, seed %d of %d", i+1, s.seeds))
		}
		seed := s.firstSeed + uint64(i)
		records := b.Records(rand.New(rand.NewPCG(seed, 1)), s.records)
		for _, rec := range records {
			if rec.Pass {
				r.Testbed.PassRate += 1 / float64(s.seeds*s.records)
			}
		}
		m, err := fit(ctx, b, records, seed)
		if err != nil {
			return nil, err
		}
		if err := all.judge(ctx, b, m, budgets, tightest); err != nil {
			return nil, err
		}
	}
	if err := r.fill(all, budgets); err != nil {
		return nil, err
	}
	return r, nil
}

// fit learns the benefit.
func fit(ctx context.Context, b *forkbench.Bench, records []learn.Record, seed uint64) (*learn.Model, error) {
	f := forkbench.NewFeatures(b)
	return learn.Fit(ctx, records, &learn.Options{
		Dim:           8,         // as if the number of capabilities were not known; with none to spare a fit may merge two of them
		L1:            new(1e-4), // less than the default for maps, as the words here are few
		LearningRate:  0.05,
		SkillFeatures: f.Document,
		QueryFeatures: f.Task,
		Seed:          seed,
		Workers:       runtime.NumCPU(), // does not change the result
	})
}

// An outcome is one selection, executed.
type outcome struct {
	pass, lookAlike, harmed bool
	tokens, redundant       int
}

func execute(l *forkbench.Library, t *forkbench.Task, items []int) outcome {
	o := outcome{pass: l.Passes(t, items), tokens: l.Tokens(items), redundant: l.Redundant(items)}
	good := slices.DeleteFunc(slices.Clone(items), func(i int) bool { return l.Documents[i].LookAlike })
	o.lookAlike = len(good) < len(items)
	o.harmed = !o.pass && o.lookAlike && l.Passes(t, good)
	return o
}

// A place is the library that a rule chooses from.
type place int

const (
	unseen  place = iota // other documents than those learned from
	without              // these without look-alikes
	known                // those learned from
)

// A cell names what is averaged over tasks and seeds.
type cell struct {
	place  place
	budget int
	rule   string
	kappa  float64
}

// outcomes holds, for every cell, the outcomes of the tasks of each seed.
type outcomes map[cell][][]outcome

// judge runs every rule on the unseen tasks of one bench, the next seed.
func (all outcomes) judge(ctx context.Context, b *forkbench.Bench, m *learn.Model, budgets []int, tightest int) error {
	libraries := [...]*forkbench.Library{unseen: b.Unseen, without: b.Unseen.WithoutLookAlikes(), known: b.Train}
	within := [...][]int{unseen: budgets, without: slices.Compact([]int{tightest, slices.Max(budgets)}), known: {tightest}}
	here := map[cell][]outcome{}
	for p, l := range libraries {
		s, err := newShelf(l, m)
		if err != nil {
			return err
		}
		for _, t := range b.UnseenTasks {
			q, err := newQuestion(s, t, m)
			if err != nil {
				return err
			}
			for _, budget := range within[p] {
				for _, rule := range rules() {
					kappas := []float64{rule.kappa}
					if place(p) == unseen && rule.varied(budget, tightest) {
						kappas = kappaGrid()
					}
					for _, kappa := range kappas {
						items, err := rule.choose(ctx, q, budget, kappa)
						if err != nil {
							return fmt.Errorf("judge: %s: %w", rule.name, err)
						}
						c := cell{place(p), budget, rule.name, kappa}
						here[c] = append(here[c], execute(l, t, items))
					}
				}
			}
		}
	}
	for c, tasks := range here {
		all[c] = append(all[c], tasks)
	}
	return nil
}

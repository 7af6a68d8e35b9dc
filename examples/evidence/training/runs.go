package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/throughline-go/throughline/examples/internal/study"
	"github.com/throughline-go/throughline/rl/train"
)

// job is a run that is to be done.
type job struct {
	world     worldSetting
	algorithm string
	seed      uint64
}

// run does what is not done yet, and sums up.
func run(ctx context.Context, s settings, jobs int, out string, measure, quick bool) (*evidence, error) {
	e := &evidence{Command: command(s, measure, quick), Quick: quick, Settings: s}
	var done []result
	if out != "" {
		var err error
		if done, e.Speed, err = load(out, s); err != nil {
			return nil, err
		}
	}
	for _, r := range done {
		if r.Seed > uint64(s.Seeds) {
			return nil, fmt.Errorf("%s has runs of seed %d: -seeds %d would drop them", out, r.Seed, s.Seeds)
		}
	}
	results := map[job]*result{}
	for i := range done {
		for _, w := range s.Worlds {
			if w.Name == done[i].World {
				results[job{w, done[i].Algorithm, done[i].Seed}] = &done[i]
			}
		}
	}
	if measure && e.Speed == nil {
		var err error
		if e.Speed, err = measureSpeed(ctx); err != nil {
			return nil, err
		}
	}
	var order []job
	var open [][]job // those that are left of each world and seed, which share a start
	for _, w := range s.Worlds {
		for seed := range uint64(s.Seeds) {
			var left []job
			for _, a := range s.Algorithms {
				j := job{w, a, seed + 1}
				order = append(order, j)
				if results[j] == nil {
					left = append(left, j)
				}
			}
			if len(left) > 0 {
				open = append(open, left)
			}
		}
	}
	sumUp := func() {
		e.Runs = nil
		for _, j := range order {
			if r := results[j]; r != nil {
				e.Runs = append(e.Runs, *r)
			}
		}
		e.sum(s, len(e.Runs) == len(order))
	}
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		next  int
		first error
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range min(jobs, len(open)) {
		wg.Go(func() {
			for {
				mu.Lock()
				if next == len(open) || first != nil {
					mu.Unlock()
					return
				}
				left := open[next]
				next++
				mu.Unlock()
				start, err := left[0].warm(ctx, &s)
				for _, j := range left {
					var r *result
					if err == nil {
						r, err = j.do(ctx, &s, start)
					}
					mu.Lock()
					if err == nil {
						results[j] = r
						sumUp()
						if out != "" {
							err = e.save(out)
						}
						fmt.Fprintf(os.Stderr, "%d of %d: %s %s seed %d: %.3f to %.3f, %d steps, %.1f s\n", len(e.Runs), len(order), r.World, r.Algorithm, r.Seed,
							r.SuccessBefore, r.SuccessAfter, r.EnvSteps, r.SecondsPerIteration.Training()*float64(r.Iterations))
					}
					if err != nil && first == nil {
						first = fmt.Errorf("%s, %s, seed %d: %w", j.world.Name, j.algorithm, j.seed, err)
						cancel()
					}
					stop := first != nil
					mu.Unlock()
					if stop {
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if first != nil {
		return nil, first
	}
	sumUp()
	if out != "" {
		if err := e.save(out); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// command is the command line that gives these results.
func command(s settings, measure, quick bool) string {
	words := []string{"go run ./examples/evidence/training"}
	if quick {
		words = append(words, "-quick")
	} else {
		words = append(words, fmt.Sprintf("-seeds %d", s.Seeds))
	}
	if measure {
		words = append(words, "-speed")
	}
	return strings.Join(words, " ")
}

// A start is the model after the demonstrations, from which all methods go on.
type start struct {
	model     []byte
	test, ood float64
}

// warm makes the start of a world and a seed; the method does not matter.
func (j job) warm(ctx context.Context, s *settings) (*start, error) {
	c := s.study(j.world, "grpo", j.seed)
	t, err := study.New(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := t.Prepare(ctx); err != nil {
		return nil, err
	}
	var w start
	if w.model, err = t.Model.MarshalBinary(); err != nil {
		return nil, err
	}
	w.test, w.ood, err = heldOut(ctx, t)
	return &w, err
}

// heldOut returns the success on test and out-of-distribution tasks.
func heldOut(ctx context.Context, t *study.Study) (test, ood float64, err error) {
	a, err := t.Evaluate(ctx, "test")
	if err != nil {
		return 0, 0, err
	}
	b, err := t.Evaluate(ctx, "ood")
	return a.Success, b.Success, err
}

// do trains once.
func (j job) do(ctx context.Context, s *settings, start *start) (*result, error) {
	c := s.study(j.world, j.algorithm, j.seed)
	c.Options.Clock = time.Now
	t, err := study.New(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := t.Model.UnmarshalBinary(start.model); err != nil {
		return nil, err
	}
	r := &result{World: j.world.Name, Algorithm: j.algorithm, Seed: j.seed, TestBefore: start.test, OODBefore: start.ood}
	var total train.Seconds
	for it, err := range t.Run(ctx) {
		if err != nil {
			return nil, err
		}
		if e := it.Evaluation; e != nil {
			r.Curve = append(r.Curve, point{it.EnvSteps, e.Success})
			if it.Number == 0 {
				r.SuccessBefore = e.Success
			}
			if it.Best {
				r.SuccessAfter = e.Success
			}
			r.SuccessLast = e.Success
		}
		if it.Number == 0 {
			continue
		}
		r.EnvSteps, r.Iterations = it.EnvSteps, it.Number
		total.Generation += it.Seconds.Generation
		total.LogProbs += it.Seconds.LogProbs
		total.Values += it.Seconds.Values
		total.Update += it.Seconds.Update
	}
	n := float64(max(1, r.Iterations))
	r.SecondsPerIteration = train.Seconds{Generation: total.Generation / n, LogProbs: total.LogProbs / n, Values: total.Values / n,
		Update: total.Update / n}
	if err := t.RestoreBest(); err != nil {
		return nil, err
	}
	r.TestAfter, r.OODAfter, err = heldOut(ctx, t)
	return r, err
}

// sum works out the gains, and checks the claim if all runs are there.
func (e *evidence) sum(s settings, complete bool) {
	e.Gains, e.Claims = nil, nil
	worlds := map[string]int{} // of each algorithm, those with a gain of 20 points
	for _, w := range s.Worlds {
		for _, a := range s.Algorithms {
			g := gain{World: w.Name, Algorithm: a, Worst: 1}
			for _, r := range e.Runs {
				if r.World != w.Name || r.Algorithm != a {
					continue
				}
				g.Seeds++
				g.Before += r.SuccessBefore
				g.After += r.SuccessAfter
				g.Worst = min(g.Worst, r.SuccessAfter-r.SuccessBefore)
				g.Test += r.TestAfter - r.TestBefore
				g.OOD += r.OODAfter - r.OODBefore
			}
			if g.Seeds == 0 {
				continue
			}
			n := float64(g.Seeds)
			g.Before, g.After, g.Test, g.OOD = g.Before/n, g.After/n, g.Test/n, g.OOD/n
			g.Gain = g.After - g.Before
			if g.Gain >= 0.2 {
				worlds[a]++
			}
			e.Gains = append(e.Gains, g)
		}
	}
	if complete && !e.Quick {
		for _, a := range s.Algorithms {
			e.Claims = append(e.Claims, claim{a + " gains at least 20 points on validation in at least two worlds", worlds[a] >= 2,
				fmt.Sprintf("in %d of %d", worlds[a], len(s.Worlds))})
		}
	}
	if e.Speed != nil {
		e.Claims = append(e.Claims, e.Speed.claims()...)
	}
}

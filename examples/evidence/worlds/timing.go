package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

const (
	timedTasks = 64 // that the timed episodes go through
	spells     = 5  // of timing, the fastest of which counts, as the machine may be busy with something else
	probed     = 50 // episodes whose allocations are counted and whose calls are timed one by one
)

// time measures the bare environment under random admissible actions, on this goroutine.
func (r *worldResult) time(ctx context.Context, w worlds.World, s effort, tasks []envharness.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	env, err := w.New(ctx)
	if err != nil {
		return err
	}
	defer env.Close()
	tasks = sample(tasks, timedTasks, false)
	rng := rand.New(rand.NewPCG(1, 2))
	r.ResetMicros = math.Inf(1)
	for range spells {
		var (
			steps, resets    int
			stepped, resetIn time.Duration
		)
		for limit := s.timed / spells; stepped < limit && resetIn < limit; { // whichever is the slow part
			before := time.Now()
			o, err := env.Reset(ctx, envharness.ResetOptions{Task: tasks[resets%len(tasks)].ID})
			if err != nil {
				return err
			}
			began := time.Now()
			n, err := randomly(ctx, env, o, rng, nil)
			if err != nil {
				return err
			}
			steps, resets = steps+n, resets+1
			stepped, resetIn = stepped+time.Since(began), resetIn+began.Sub(before)
		}
		r.StepsPerSecond = max(r.StepsPerSecond, float64(steps)/stepped.Seconds())
		r.ResetMicros = min(r.ResetMicros, micros(resetIn, resets))
	}
	return r.probe(ctx, env, tasks, rng)
}

// probe counts allocations, and times calls by tool.
func (r *worldResult) probe(ctx context.Context, env envharness.Environment, tasks []envharness.Task, rng *rand.Rand) error {
	var before, after runtime.MemStats
	var allocations uint64
	steps := 0
	for i := range probed {
		o, err := env.Reset(ctx, envharness.ResetOptions{Task: tasks[i%len(tasks)].ID})
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&before)
		n, err := randomly(ctx, env, o, rng, nil)
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		allocations += after.Mallocs - before.Mallocs
		steps += n
	}
	r.Allocations = float64(allocations) / float64(max(steps, 1))
	spent, calls := make(map[string]time.Duration), make(map[string]int)
	for i := range probed {
		o, err := env.Reset(ctx, envharness.ResetOptions{Task: tasks[i%len(tasks)].ID})
		if err != nil {
			return err
		}
		note := func(tool string, d time.Duration) { spent[tool] += d; calls[tool]++ }
		if _, err := randomly(ctx, env, o, rng, note); err != nil {
			return err
		}
	}
	r.ToolMicros = make(map[string]float64)
	for tool, d := range spent {
		r.ToolMicros[tool] = micros(d, calls[tool])
	}
	return nil
}

// randomly plays an episode to its end. Note is told what each call took, unless it is nil.
func randomly(
	ctx context.Context, env envharness.Environment, o envharness.Observation, rng *rand.Rand, note func(tool string, d time.Duration),
) (int, error) {
	for steps := 0; ; steps++ {
		if len(o.Actions) == 0 {
			return steps, errors.New("there is no admissible action")
		}
		a := o.Actions[rng.IntN(len(o.Actions))]
		var began time.Time
		if note != nil {
			began = time.Now()
		}
		t, err := env.Step(ctx, a)
		if err != nil {
			return steps, err
		}
		if note != nil {
			note(a.Name, time.Since(began))
		}
		if t.Ended() {
			return steps + 1, nil
		}
		o = t.Observation
	}
}

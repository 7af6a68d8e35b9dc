package envtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
)

func resetShows(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
			return err
		}
		if o := b.shown; o.Text == "" && len(o.Data) == 0 && len(o.Actions) == 0 {
			return fmt.Errorf("task %q: the first observation is empty", t.ID)
		}
		return nil
	})
}

func resetTakes(ctx context.Context, e Environment) error {
	cases := []struct {
		what string
		o    envharness.ResetOptions
	}{
		{"no seed", envharness.ResetOptions{}},
		{"seed 0", envharness.ResetOptions{Seed: new(uint64(0))}},
		{"the highest seed", envharness.ResetOptions{Seed: new(uint64(math.MaxUint64))}},
		{"options {}", envharness.ResetOptions{Options: []byte("{}")}},
	}
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		for _, c := range cases {
			c.o.Task = t.ID
			_, err := b.env.Reset(ctx, c.o)
			if err != nil && (c.o.Seed == nil || !errors.Is(err, envharness.ErrSeedUnsupported)) {
				return fmt.Errorf("reset of task %q with %s: %w", t.ID, c.what, err)
			}
		}
		return nil
	})
}

func seedRepeats(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		var first, next [2]turn
		for i := range 2 {
			var err error
			if first[i], err = b.reset(ctx, t, seedOf(t, 1)); err != nil {
				return err
			}
			if b.seedless {
				return skip("the environment has no use for a seed")
			}
			if next[i], err = b.reset(ctx, t, nil); err != nil {
				return err
			}
		}
		if d := b.diff(first[0].got, first[1].got); d != "" {
			return fmt.Errorf("task %q, the second reset with the same seed: %s", t.ID, d)
		}
		if d := b.diff(next[0].got, next[1].got); d != "" {
			return fmt.Errorf("task %q, the reset without a seed after the second one with the same seed: %s", t.ID, d)
		}
		return nil
	})
}

// glance is the number of turns in which another seed has to show.
const glance = 20

func seedMatters(ctx context.Context, e Environment) error {
	if e.SeedBlind {
		return skip("SeedBlind is declared")
	}
	return e.with(ctx, func(b *bench) error {
		same, err := b.allSame(ctx, e.tasks()[0], func(i uint64) *uint64 { return new(i + 1) })
		switch {
		case err != nil:
			return err
		case b.seedless:
			return skip("the environment has no use for a seed")
		case same:
			return fmt.Errorf("seeds 1 to %d give equal episodes of %d turns", manySeeds, glance)
		}
		return nil
	})
}

func unseededGoesOn(ctx context.Context, e Environment) error {
	if e.SeedBlind {
		return skip("SeedBlind is declared")
	}
	return e.with(ctx, func(b *bench) error {
		same, err := b.allSame(ctx, e.tasks()[0], func(uint64) *uint64 { return nil })
		if err == nil && same {
			err = fmt.Errorf("%d resets without a seed give equal episodes of %d turns", manySeeds, glance)
		}
		return err
	})
}

// manySeeds are so many that a world with two equally likely episodes shows both but once in 128 times.
const manySeeds = 8

// allSame reports whether the episodes with many seeds are equal.
func (b *bench) allSame(ctx context.Context, t envharness.Task, seed func(i uint64) *uint64) (bool, error) {
	first, err := b.play(ctx, t, seed(0), glance)
	for i := uint64(1); err == nil && i < manySeeds; i++ {
		err = b.replay(ctx, t, seed(i), first)
	}
	if _, ok := differed(err); ok {
		return false, nil
	}
	return true, err
}

// Both episodes are the third of their instance, so that one is not clean where the other is by accident.
func resetClean(ctx context.Context, e Environment) error {
	for _, t := range e.tasks() {
		for _, turns := range []int{1, 5} {
			if err := e.cleanAfter(ctx, t, turns); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e Environment) cleanAfter(ctx context.Context, t envharness.Task, turns int) error {
	seed := seedOf(t, 1)
	var want trace
	idle := func(b *bench, f func() error) error {
		if _, err := b.reset(ctx, t, seed); err != nil {
			return err
		}
		if err := b.repeatable(); err != nil {
			return err
		}
		return f()
	}
	err := e.with(ctx, func(b *bench) error {
		return idle(b, func() (err error) {
			want, err = b.play(ctx, t, seed, e.short())
			return err
		})
	})
	if err != nil {
		return err
	}
	err = e.with(ctx, func(b *bench) error { return idle(b, func() error { return b.replay(ctx, t, seed, want) }) })
	if d, ok := differed(err); ok {
		return blame("E06", "two instances, same seed: %w", d)
	}
	if err != nil {
		return err
	}
	err = e.with(ctx, func(b *bench) error {
		if _, err := b.play(ctx, t, seed, turns); err != nil {
			return err
		}
		return b.replay(ctx, t, seed, want)
	})
	if d, ok := differed(err); ok {
		return fmt.Errorf("task %q, Reset after %d turns: %w", t.ID, turns, d)
	}
	return err
}

func playsTwice(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		for range 2 {
			if err := b.finish(ctx, t, seedOf(t, 1), e.Actions); err != nil {
				return err
			}
		}
		if _, err := b.play(ctx, t, seedOf(t, 1), 1); err != nil {
			return fmt.Errorf("task %q, after two full episodes: %w", t.ID, err)
		}
		return nil
	})
}

// finish plays to the end of an episode, or returns a skip.
func (b *bench) finish(ctx context.Context, t envharness.Task, seed *uint64, actions Source) error {
	if _, err := b.reset(ctx, t, seed); err != nil {
		return err
	}
	most := b.c.steps()
	if limit := b.limit(); limit > 0 {
		most = limit
	}
	r := generator()
	for range most {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := b.step(ctx, actions.draw(r, b.shown, b.tools())); err != nil || b.stage == ended {
			return err
		}
	}
	if b.limit() > 0 {
		return blame("E21", "task %q has not ended after %d turns", t.ID, most)
	}
	return skip("task %q has not ended after %d turns, and no limit is known", t.ID, most)
}

// refuseAll plays what no environment knows.
func refuseAll(*rand.Rand, envharness.Observation, []envharness.Tool) envharness.Action {
	return noTool
}

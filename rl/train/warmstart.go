package train

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/throughline-go/throughline/rl/rollout"
)

// WarmStartOptions adjusts [Trainer.WarmStart]. A nil *WarmStartOptions equals &WarmStartOptions{}.
type WarmStartOptions struct {
	Epochs    int     // passes over the demonstrations; zero means 10
	Rate      float64 // learning rate, > 0; zero means 1e-3 (ours)
	MiniBatch int     // turns in an optimiser step; zero means 32
}

// Demonstrate plays the world's own plans for the first n tasks of the training split, all of them if n is 0, for [Trainer.WarmStart].
func (t *Trainer) Demonstrate(ctx context.Context, n int) ([]rollout.Episode, error) {
	tasks, err := t.tasks(ctx, t.s.TrainSplit, n)
	if err != nil {
		return nil, err
	}
	agent, err := t.agent(t.s.temperature)
	if err != nil {
		return nil, err
	}
	o := t.s.Rollout
	o.Seed, o.Parallel, o.Group, o.GroupSize = t.stream("demonstrate", 0), t.s.Workers, nil, 0
	o.Progress, o.Notes = t.stage("demonstrate"), t.problem.Notes
	return rollout.Demonstrations(ctx, t.problem.World, agent, tasks, &o)
}

// WarmStart imitates demonstrations, episodes with the tokens of a teacher as [rollout.Demonstrations] makes them: it minimises the mean negative
// log-probability of their tokens by the model's own optimiser. Call it before Run. It returns that mean over the last epoch, in nats. The rate
// rises over the first ten steps. The optimiser goes on from there in Run, with the moments that it has. Episodes that did not pass are left out.
// An error, that of ctx among them, leaves the model as it was, if it can be restored (see [Model]).
func (t *Trainer) WarmStart(ctx context.Context, demonstrations []rollout.Episode, o *WarmStartOptions) (nats float64, err error) {
	if o == nil {
		o = &WarmStartOptions{}
	}
	s := *o
	for _, d := range []struct {
		p   *int
		def int
	}{{&s.Epochs, 10}, {&s.MiniBatch, 32}} {
		if *d.p == 0 {
			*d.p = d.def
		}
	}
	if s.Rate == 0 {
		s.Rate = 1e-3
	}
	if s.Epochs < 0 || s.MiniBatch < 0 || !(s.Rate > 0) || s.Rate-s.Rate != 0 {
		return 0, fmt.Errorf("train: WarmStartOptions are %d epochs, rate %v, mini-batches of %d, want positive, finite numbers", s.Epochs, s.Rate, s.MiniBatch)
	}
	var passed []rollout.Episode
	for _, e := range demonstrations {
		if e.Trajectory.Success != nil && *e.Trajectory.Success {
			passed = append(passed, e)
		}
	}
	b := newBatch(passed)
	at := b.readable()
	if len(at) == 0 || len(b.place) == 0 {
		return 0, fmt.Errorf("train: none of %d demonstrations passed with trainable tokens", len(demonstrations))
	}
	undo, err := t.snapshot()
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = t.undone(err, undo)
		}
	}()
	rng := rand.New(rand.NewPCG(t.stream("warm start", 0), 1))
	steps := 0
	for range s.Epochs {
		rng.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
		var total float64
		tokens := 0
		for lo := 0; lo < len(at); lo += s.MiniBatch {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			mine := at[lo:min(lo+s.MiniBatch, len(at))]
			l, n, err := t.imitate(ctx, b, mine)
			if err != nil {
				return 0, err
			}
			total, tokens = total+l, tokens+n
			if _, err := t.model.Step(ctx, s.Rate*t.warmFactor(steps+1)); err != nil {
				return 0, err
			}
			steps++
			t.progress("warm start", steps, s.Epochs*((len(at)+s.MiniBatch-1)/s.MiniBatch))
		}
		nats = total / float64(tokens)
	}
	return nats, nil
}

// warmFactor raises the rate over the first ten steps.
func (t *Trainer) warmFactor(step int) float64 { return min(1, float64(step)/10) }

package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"text/tabwriter"
	"time"

	"github.com/throughline-go/throughline/examples/internal/study"
	"github.com/throughline-go/throughline/internal/stat"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// speed compares an iteration of sapo with one of ppo, whose critic is a network of its own and of equal size.
type speed struct {
	World      string      `json:"world"`
	Parameters int         `json:"parameters"` // of the policy
	Own        speedRatio  `json:"own_rollouts"`
	Equal      speedRatio  `json:"equal_rollouts"`
	Memory     memoryRatio `json:"memory"`
}

// speedRatio has the medians over iterations; Ratio is that of the ratios of pairs.
type speedRatio struct {
	SAPORollouts int           `json:"sapo_rollouts"`
	PPORollouts  int           `json:"ppo_rollouts"`
	SAPO         train.Seconds `json:"sapo"`
	PPO          train.Seconds `json:"ppo"`
	SAPOTotal    float64       `json:"sapo_total"`
	PPOTotal     float64       `json:"ppo_total"`
	Ratio        float64       `json:"ratio"`
}

// memoryRatio counts parameters and the two moments of the optimiser for each, the reference left out.
type memoryRatio struct {
	SAPO  int     `json:"sapo"`
	PPO   int     `json:"ppo"`
	Ratio float64 `json:"ratio"`
}

// Limits of what is claimed.
const (
	speedLimit  = 0.668
	memoryLimit = 0.55
)

// measured is the number of iterations of each that are measured, in turn, after one that is not.
const measured = 5

// measureSpeed runs the two by turns, so that a change in the machine's speed meets both.
func measureSpeed(ctx context.Context) (*speed, error) {
	const world = "keydoor_small"
	s := &speed{World: world}
	var err error
	if s.Own, err = s.compare(ctx, 0); err != nil {
		return nil, err
	}
	s.Equal, err = s.compare(ctx, 64)
	return s, err
}

// compare measures with as many rollouts, 0 meaning each method's own number.
func (s *speed) compare(ctx context.Context, rollouts int) (speedRatio, error) {
	var r speedRatio
	var times [2][]train.Seconds
	var next [2]func() (train.Iteration, error, bool)
	for k, algorithm := range []string{"sapo", "ppo"} {
		c := study.Config{World: s.World, Algorithm: algorithm, Demos: 60, Warm: train.WarmStartOptions{Epochs: 10, Rate: 3e-3}, Options: train.Options{
			Seed: 1, Workers: 1, Tasks: rollouts, EvalEvery: -1, Clock: time.Now, Agent: rollout.AgentOptions{History: new(0)},
		}}
		if rollouts > 0 {
			c.Options.Rollouts = 1
		}
		t, err := study.New(ctx, c)
		if err != nil {
			return r, err
		}
		if err := t.Prepare(ctx); err != nil {
			return r, err
		}
		s.Parameters = t.Model.NumParams()
		if k == 0 {
			s.Memory.SAPO = 3 * s.Parameters
		} else {
			s.Memory.PPO = 3 * (s.Parameters + t.Problem.Critic.(*backbone.Critic).NumParams())
			s.Memory.Ratio = float64(s.Memory.SAPO) / float64(s.Memory.PPO)
		}
		var stop func()
		next[k], stop = iter.Pull2(t.Run(ctx))
		defer stop()
	}
	for i := range measured + 1 {
		for k := range next {
			it, err, ok := next[k]()
			if err != nil {
				return r, err
			}
			if !ok {
				return r, fmt.Errorf("training ended after %d iterations", i)
			}
			if i > 0 {
				times[k] = append(times[k], *it.Seconds)
			}
			if k == 0 {
				r.SAPORollouts = it.Episodes
			} else {
				r.PPORollouts = it.Episodes
			}
		}
	}
	var err error
	if r.SAPO, r.SAPOTotal, err = medians(times[0]); err != nil {
		return r, err
	}
	if r.PPO, r.PPOTotal, err = medians(times[1]); err != nil {
		return r, err
	}
	var ratios []float64 // of iterations that were measured one after the other, when the machine was as fast for both
	for i := range times[0] {
		ratios = append(ratios, times[0][i].Training()/times[1][i].Training())
	}
	r.Ratio, err = stat.Median(ratios)
	return r, err
}

// medians returns the median of each phase, and that of the whole.
func medians(times []train.Seconds) (train.Seconds, float64, error) {
	var out [5]float64
	for k := range out {
		var x []float64
		for _, t := range times {
			x = append(x, [...]float64{t.Generation, t.LogProbs, t.Values, t.Update, t.Training()}[k])
		}
		var err error
		if out[k], err = stat.Median(x); err != nil {
			return train.Seconds{}, 0, err
		}
	}
	return train.Seconds{Generation: out[0], LogProbs: out[1], Values: out[2], Update: out[3]}, out[4], nil
}

func (s *speed) claims() []claim {
	return []claim{
		{fmt.Sprintf("an iteration of sapo takes at most %v of one of ppo, each with its own rollouts", speedLimit), s.Own.Ratio <= speedLimit,
			fmt.Sprintf("%.3f", s.Own.Ratio)},
		{fmt.Sprintf("and at most %v with equal ones", speedLimit), s.Equal.Ratio <= speedLimit, fmt.Sprintf("%.3f", s.Equal.Ratio)},
		{fmt.Sprintf("parameters and optimiser state of sapo are at most %v of those of ppo", memoryLimit), s.Memory.Ratio <= memoryLimit,
			fmt.Sprintf("%.3f", s.Memory.Ratio)},
	}
}

func (s *speed) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "seconds per iteration, %s, %d parameters\trollouts\tgeneration\tlog-probabilities\tvalues\tupdate\ttotal\tratio\t\n",
		s.World, s.Parameters)
	for _, r := range []speedRatio{s.Own, s.Equal} {
		fmt.Fprintf(t, "sapo\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", r.SAPORollouts, r.SAPO.Generation, r.SAPO.LogProbs, r.SAPO.Values,
			r.SAPO.Update, r.SAPOTotal, r.Ratio)
		fmt.Fprintf(t, "ppo\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\t\n", r.PPORollouts, r.PPO.Generation, r.PPO.LogProbs, r.PPO.Values, r.PPO.Update,
			r.PPOTotal)
	}
	return t.Flush()
}

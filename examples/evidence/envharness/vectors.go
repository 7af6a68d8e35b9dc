package main

import (
	"context"
	"errors"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/vector"
)

// vectorFaults are reported faults of vector runners, each met with the right behaviour.
func vectorFaults() []weakness {
	return []weakness{
		{"sail-sg/envpool#33, #194", "an autoreset in the next step swallows an action", autoResetIsMarked},
		{"Gymnasium#1451", "running statistics count the autoreset", statisticsAreThoseOfOne},
		{"Gymnasium#760", "the return is not cleared by a reset", returnStartsAnew},
	}
}

// corridorTask resets the slot to the corridor that begins in cell 0.
func corridorTask(int, int) envharness.ResetOptions {
	for seed := uint64(0); ; seed++ {
		if envharness.RandStream(seed, "env", 0).IntN(3) == 0 {
			return envharness.ResetOptions{Seed: &seed}
		}
	}
}

// drive plays actions in one slot and returns all results after the reset.
func drive(ctx context.Context, n *calls, mode vector.Mode, names ...string) ([]vector.Result, error) {
	v, err := vector.New(corridors(n, nil), nil, 1, &vector.Options{Mode: mode, Next: corridorTask})
	if err != nil {
		return nil, err
	}
	defer v.Close()
	if _, err := v.Reset(ctx, nil); err != nil {
		return nil, err
	}
	var out []vector.Result
	for _, name := range names {
		rs, err := v.Step(ctx, []envharness.Action{{Name: name}})
		if err != nil {
			return nil, err
		}
		out = append(out, rs[0])
	}
	return out, nil
}

func autoResetIsMarked(ctx context.Context) error {
	var n calls
	rs, err := drive(ctx, &n, vector.NextStep, "done", "right", "right")
	if err != nil {
		return err
	}
	return errors.Join(want("the end is an autoreset", rs[0].AutoReset, false), want("the call after it", rs[1].AutoReset, true),
		want("its observation", rs[1].Observation.Text, "cell 0 after 0 turns"), want("the next action counts", rs[2].Observation.Text, "cell 1 after 1 turns"))
}

func statisticsAreThoseOfOne(ctx context.Context) error {
	var n calls
	walk := []string{"right", "right", "right", "done"}
	for _, mode := range []vector.Mode{vector.NextStep, vector.SameStep} {
		names := append([]string{}, walk...)
		if mode == vector.NextStep {
			names = append(names, "ignored")
		}
		rs, err := drive(ctx, &n, mode, append(names, walk...)...)
		if err != nil {
			return err
		}
		ended := 0
		for _, r := range rs {
			if r.Episode == nil {
				continue
			}
			ended++
			err = errors.Join(err, want(mode.String()+": turns", r.Episode.Turns, len(walk)), want(mode.String()+": return", r.Episode.Return, 1),
				want(mode.String()+": verdict", r.Episode.Verdict.Status, envharness.Pass))
		}
		if err := errors.Join(err, want(mode.String()+": episodes", ended, 2)); err != nil {
			return err
		}
	}
	return nil
}

func returnStartsAnew(ctx context.Context) error {
	var n calls
	v, err := vector.New(corridors(&n, nil), nil, 1, &vector.Options{Mode: vector.Disabled, Next: corridorTask})
	if err != nil {
		return err
	}
	defer v.Close()
	for range 2 {
		if _, err := v.Reset(ctx, nil); err != nil {
			return err
		}
		var last vector.Result
		for _, name := range []string{"right", "right", "right", "done"} {
			rs, err := v.Step(ctx, []envharness.Action{{Name: name}})
			if err != nil {
				return err
			}
			last = rs[0]
		}
		if last.Episode == nil {
			return errors.New("no summary of an episode that ended")
		}
		if err := want("return", last.Episode.Return, 1); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/throughline-go/throughline/rl"
)

// timings are how long estimators take. They differ between machines and between runs, so they fail nothing.
type timings struct {
	MachineDependent bool        `json:"machine_dependent"` // always true
	Go               string      `json:"go"`
	Machine          string      `json:"machine"`
	Rows             []timingRow `json:"rows"`
}

type timingRow struct {
	Name         string `json:"name"`
	Trajectories int    `json:"trajectories"`
	Turns        int    `json:"turns"`
	Nanoseconds  int64  `json:"ns"`        // the shortest of all repeats, on one core, with a reused result
	Target       int64  `json:"target_ns"` // what it should stay below on an ordinary core
	Repeats      int    `json:"repeats"`
	Allocations  uint64 `json:"allocations"` // in the last repeat
}

// runTimings measures each estimator for about two seconds, and for less where quick.
func runTimings(ctx context.Context, s settings) (*timings, error) {
	r := &timings{MachineDependent: true, Go: runtime.Version(), Machine: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	for i, x := range []struct {
		name               string
		group, groups, len int
		target             time.Duration
		f                  rl.Estimator
	}{
		{"SAPO", 1, 128, 50, 100 * time.Microsecond, sapo},
		{"SAPO", 1, 20_000, 50, 40 * time.Millisecond, sapo},
		{"GRPO", 10, 1250, 8, 60 * time.Millisecond, func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return rl.GRPO(dst, b, nil) }},
		{"GiGPO", 10, 1250, 8, 60 * time.Millisecond, func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return rl.GiGPO(dst, b, nil) }},
		{"MileGPO", 8, 16, 50, 20 * time.Millisecond, func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return rl.MileGPO(dst, b, nil) }},
	} {
		batch := explorers(s.seed, i, x.groups, x.group, x.len)
		row, err := measure(ctx, s, x.f, batch)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
		row.Name, row.Target = x.name, x.target.Nanoseconds()
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}

func sapo(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return rl.SAPO(dst, batch, nil) }

// explorers draws groups of walks through a line of states, with critics.
func explorers(seed uint64, row, groups, size, turns int) []rl.Trajectory {
	rng := stream(seed, timingPurpose, row, 0)
	names := make([]string, turns)
	for i := range names {
		names[i] = fmt.Sprintf("state %d", i)
	}
	var batch []rl.Trajectory
	for g := range groups {
		for range size {
			t := rl.Trajectory{Group: fmt.Sprint(g), Turns: make([]rl.Turn, turns), Success: new(rng.IntN(3) == 0)}
			at := 0
			for k := range t.Turns {
				t.Turns[k] = rl.Turn{State: names[at], Tokens: trained(0), Value: rng.Float64(), QValue: rng.Float64(), Invalid: rng.IntN(10) == 0}
				at = min(max(at+rng.IntN(4)-1, 0), turns-1)
			}
			last := &t.Turns[turns-1]
			last.Reward, last.End, t.FinalState = rng.Float64(), rl.Terminated, names[at]
			batch = append(batch, t)
		}
	}
	return batch
}

// measure calls an estimator again and again.
func measure(ctx context.Context, s settings, f rl.Estimator, batch []rl.Trajectory) (timingRow, error) {
	c, err := f(nil, batch)
	if err != nil {
		return timingRow{}, err
	}
	row := timingRow{Trajectories: len(batch), Turns: len(c.Advantage)}
	until := time.Now().Add(max(50*time.Millisecond, time.Duration(2*s.share*float64(time.Second))))
	var before, after runtime.MemStats
	for row.Repeats < 10 || time.Now().Before(until) {
		if err := ctx.Err(); err != nil {
			return row, err
		}
		start := time.Now()
		if c, err = f(c, batch); err != nil {
			return row, err
		}
		if took := time.Since(start).Nanoseconds(); row.Repeats == 0 || took < row.Nanoseconds {
			row.Nanoseconds = took
		}
		row.Repeats++
	}
	runtime.ReadMemStats(&before)
	_, err = f(c, batch)
	runtime.ReadMemStats(&after)
	row.Allocations = after.Mallocs - before.Mallocs
	return row, err
}

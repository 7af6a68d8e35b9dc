package envharness_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	eh "github.com/throughline-go/throughline/envharness"
)

// plain costs next to nothing itself, so that what is measured is the harness.
type plain struct{}

func (plain) Reset(context.Context, eh.ResetOptions) (eh.Observation, error) {
	return eh.Observation{Text: "hello"}, nil
}
func (plain) Step(context.Context, eh.Action) (eh.Transition, error) {
	return eh.Transition{Observation: eh.Observation{Text: "hello"}}, nil
}
func (plain) Close() error { return nil }

func stackOf(n int, hooks eh.Hooks) []eh.Component {
	var cs []eh.Component
	for i := range n {
		cs = append(cs, ruleID(fmt.Sprint("r", i), eh.AxisAction, hooks))
	}
	return cs
}

var working = eh.Hooks{
	Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) { return eh.PassAction(), nil },
	Transition: func(context.Context, eh.View, eh.Transition) (eh.TransitionEdit, error) {
		return eh.TransitionEdit{}, nil
	},
	Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) {
		o.Text = strings.TrimSpace(o.Text)
		return o, nil
	},
}

const benchTurns = 64

// steps plays benchTurns turns after a reset.
func steps(tb testing.TB, env eh.Environment, a eh.Action) {
	for range benchTurns {
		if _, err := env.Step(tb.Context(), a); err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	a := combine(0, 1, "add")
	for _, bm := range []struct {
		name  string
		stack []eh.Component
	}{
		{"none", nil}, {"nil=1", stackOf(1, eh.Hooks{})}, {"nil=10", stackOf(10, eh.Hooks{})},
		{"working=1", stackOf(1, working)}, {"working=10", stackOf(10, working)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			h := mustNew(b, worldOf(plain{}), bm.stack...)
			b.ReportAllocs()
			ctx, n := b.Context(), 0
			for b.Loop() {
				if n%benchTurns == 0 { // an episode has an end; the reset's share is small
					b.StopTimer()
					mustReset(b, h)
					b.StartTimer()
				}
				n++
				if _, err := h.Step(ctx, a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRollouts(b *testing.B) {
	for _, parallel := range []int{1, 2} {
		b.Run(fmt.Sprint("parallel=", parallel), func(b *testing.B) {
			b.ReportAllocs()
			w, p := worldOf(plain{}), func(int) (eh.Policy, error) {
				return eh.PolicyFunc(func(_ context.Context, t eh.Turn) (eh.Action, error) { return stop, nil }), nil
			}
			ts := make([]eh.Task, 100)
			for b.Loop() {
				if _, err := eh.Rollouts(b.Context(), w, stackOf(2, working), p, ts, &eh.RolloutOptions{Parallel: parallel, MaxTurns: 20}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*100*20)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// A stack without hooks allocates nothing in a step.
func TestNilStackAllocatesNothing(t *testing.T) {
	a := combine(0, 1, "add")
	for _, n := range []int{0, 1, 10} {
		h := mustNew(t, worldOf(plain{}), stackOf(n, eh.Hooks{})...)
		run := func() {
			mustReset(t, h)
			steps(t, h, a)
		}
		run() // lets the log grow to its size
		whole := testing.AllocsPerRun(50, run)
		reset := testing.AllocsPerRun(50, func() { mustReset(t, h) })
		if whole > reset {
			t.Errorf("%d components: %v allocations in %d steps", n, whole-reset, benchTurns)
		}
	}
}

package rigger_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// Rollouts gives the same traces whatever is played at once, and plays what a journal has not again.
func TestRollouts(t *testing.T) {
	p := problem(t, 7)
	var made atomic.Int64
	inner := p.NewPolicy
	p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		made.Add(1)
		return inner(task, rng)
	}
	g := rigger.Play{Name: "held out", Task: hand, Stack: budget(6).Stack, N: 8}
	want, err := rigger.Rollouts(t.Context(), p, nil, g)
	if err != nil || len(want) != 8 {
		t.Fatal(err)
	}
	counts, cost := rigger.Count(want)
	if counts.Valid != 8 || counts.Pass == 0 || counts.Pass == 8 || cost.Turns < 32 || cost.Rollouts() != 0 {
		t.Errorf("%v %+v", counts, cost)
	}
	for i, trace := range want {
		if trace.Slot != i || trace.Kind != envharness.KindExploration || trace.Seed != want[0].Seed {
			t.Errorf("trace %d: %+v", i, trace)
		}
	}
	o := &rigger.Options{Journal: rigger.NewMemoryJournal(t), Rollout: envharness.RolloutOptions{Parallel: 4}}
	for i, begun := range []int64{8, 0} {
		before := made.Load()
		got, err := rigger.Rollouts(t.Context(), p, o, g)
		if err != nil || made.Load()-before != begun {
			t.Errorf("run %d: %d rollouts, want %d: %v", i, made.Load()-before, begun, err)
		}
		if !reflect.DeepEqual(want, got) { // for which cmp takes longer than for all else here
			t.Errorf("run %d (-plain +journalled)\n%s", i, cmp.Diff(want, got))
		}
	}
	p.NewReference = p.NewPolicy
	for _, tt := range []struct {
		change func(p *rigger.Problem, o *rigger.Options, g *rigger.Play)
		reason string
	}{
		{func(_ *rigger.Problem, _ *rigger.Options, g *rigger.Play) { g.Name = "other" }, "the name"},
		{func(_ *rigger.Problem, _ *rigger.Options, g *rigger.Play) { g.Stack = budget(8).Stack }, "the stack"},
		{func(_ *rigger.Problem, _ *rigger.Options, g *rigger.Play) { g.Task.Seed = new(uint64(7)) }, "the seed of the task"},
		{func(_ *rigger.Problem, _ *rigger.Options, g *rigger.Play) { g.Task.ID = "1,5,5,5" }, "the task"},
		{func(_ *rigger.Problem, _ *rigger.Options, g *rigger.Play) { g.Reference = true }, "whose policy"},
		{func(p *rigger.Problem, _ *rigger.Options, _ *rigger.Play) { p.Fingerprint = "another" }, "its version"},
		{func(_ *rigger.Problem, o *rigger.Options, _ *rigger.Play) { o.Seed = 9 }, "the seed of the run"},
		{func(_ *rigger.Problem, o *rigger.Options, _ *rigger.Play) { o.Rollout.MaxTurns = 11 }, "the limit on turns"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p, o, g := p, *o, g
		g.N = 1
		tt.change(&p, &o, &g)
		before := made.Load()
		if _, err := rigger.Rollouts(t.Context(), p, &o, g); err != nil || made.Load()-before != 1 {
			t.Errorf("another value of %s: %d rollouts were played: %v", tt.reason, made.Load()-before, err)
		}
	}
}

func TestRolloutsFaults(t *testing.T) {
	p := problem(t, 7)
	_, err := rigger.Rollouts(t.Context(), p, &rigger.Options{Rollout: envharness.RolloutOptions{Parallel: -1}},
		rigger.Play{Reference: true, N: 0, Stack: []components.Entry{{Tag: "no_such"}}})
	if _, err := rigger.Rollouts(t.Context(), rigger.Problem{World: p.World, NewPolicy: p.NewPolicy}, &rigger.Options{Journal: &rigger.Journal{}},
		rigger.Play{Name: "x", Task: hand, N: 1}); err == nil || !strings.Contains(err.Error(), "Problem.Fingerprint is empty") {
		t.Errorf("a journal that cannot tell policies apart: %v", err)
	}
	for _, want := range []string{"there is no policy", "Name is empty", "N is 0", "no_such", "must not be negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if traces, err := rigger.Rollouts(ctx, p, nil, rigger.Play{Name: "x", Task: hand, N: 3}); !errors.Is(err, context.Canceled) || traces != nil {
		t.Errorf("%v %v", traces, err)
	}
	traces, err := rigger.Rollouts(t.Context(), p, nil, rigger.Play{Name: "x", Task: envharness.Task{ID: "no such"}, N: 2})
	if counts, _ := rigger.Count(traces); err != nil || len(traces) != 2 || counts.Valid != 0 {
		t.Errorf("an unknown task: %v %v", counts, err)
	}
}

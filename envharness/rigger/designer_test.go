package rigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/chain"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/shop"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// flawIDs are F01 to F20.
func flawIDs() []diagnosis.ID {
	ids := make([]diagnosis.ID, 20)
	for i := range ids {
		ids[i] = diagnosis.ID(fmt.Sprintf("F%02d", i+1))
	}
	return ids
}

// referenceWorlds are those that come with the library.
func referenceWorlds(tb testing.TB) map[string]envharness.World {
	tb.Helper()
	sea, err := chain.World(chain.Experiment("deep_sea_short"))
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]envharness.World{
		"chain":     sea,
		"game24":    game24.World(nil),
		"household": household.World(nil),
		"keydoor":   keydoor.World(nil),
		"shop":      shop.World(nil),
		"tooldesk":  tooldesk.World(nil),
	}
}

// playback does as planned, and stops.
func playback(plan []envharness.Action) envharness.Policy {
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index >= len(plan) {
			return envharness.Action{}, envharness.ErrStop
		}
		return plan[t.Index], nil
	})
}

// randomPolicy draws admissible actions, now and then one that there is not, and does some of them three times.
func randomPolicy(r *rand.Rand) envharness.Policy {
	var again envharness.Action
	left := 0
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		switch {
		case left > 0:
			left--
		case r.IntN(10) == 0 || len(t.Shown.Actions) == 0:
			again = envharness.Action{Name: "nonsense", Args: json.RawMessage(`{"x":1}`)}
		default:
			again = t.Shown.Actions[r.IntN(len(t.Shown.Actions))]
			left = 2 * r.IntN(2)
		}
		return again, nil
	})
}

// newBrief is a brief for the n-th training task of a world, with the oracle's rollout as the passed one, and a random one as the failed one.
func newBrief(tb testing.TB, w envharness.World, n int) rigger.Brief {
	tb.Helper()
	ctx := context.Background()
	env, err := w.New(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := env.Close(); err != nil {
			tb.Error(err)
		}
	}()
	lister, _ := envharness.As[envharness.TaskLister](env)
	tasks, err := lister.Tasks(ctx, "train")
	if err != nil {
		tb.Fatal(err)
	}
	task := tasks[n%len(tasks)]
	task.Seed = new(uint64(7))
	first, err := env.Reset(ctx, envharness.ResetOptions{Task: task.ID, Seed: task.Seed, Options: task.Options})
	if err != nil {
		tb.Fatal(err)
	}
	b := rigger.Brief{Task: task, Text: first.Text, Registry: components.Catalogue(), Direction: components.Harder, Objective: "a success rate of 0.4 to 0.6"}
	if d, ok := envharness.As[envharness.Describer](env); ok {
		b.World = d.Describe()
	}
	b.Baseline.Limit = b.World.MaxTurns
	if l, ok := envharness.As[envharness.TurnLimiter](env); ok {
		b.Baseline.Limit = l.TurnLimit()
	}
	if oracle, ok := envharness.As[envharness.Oracle](env); ok {
		b.Plan, err = oracle.Plan(ctx)
		if err != nil && !errors.Is(err, envharness.ErrNotProven) {
			tb.Fatal(err)
		}
	}
	b.Baseline.Optimal = len(b.Plan)
	traces, err := envharness.Rollouts(ctx, w, nil, func(slot int) (envharness.Policy, error) {
		if slot == 0 {
			return playback(b.Plan), nil
		}
		return randomPolicy(envharness.RandStream(5, "policy", uint64(slot))), nil
	}, []envharness.Task{task, task, task}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range traces {
		t := &traces[i]
		switch t.Verdict.Status {
		case envharness.Pass:
			b.Baseline.Pass++
			if b.Success == nil || len(t.Turns) < len(b.Success.Turns) {
				b.Success = t
				b.Baseline.Turns = 2 * float64(len(t.Turns)) // a slow one, which meets limits
			}
		case envharness.Fail:
			if b.Failure == nil || len(t.Turns) > len(b.Failure.Turns) {
				b.Failure = t
			}
		}
		if t.Verdict.Status != envharness.Invalid {
			b.Baseline.Valid++
		}
	}
	return b
}

// flaw is one that points at some turns of the traces of a brief.
func flaw(b rigger.Brief, id diagnosis.ID, turns ...int) diagnosis.Flaw {
	f := diagnosis.Flaw{ID: id, Support: 0.6, Lift: 0.5}
	for _, t := range []*envharness.Trace{b.Failure, b.Success} {
		if t != nil {
			f.Found = append(f.Found, diagnosis.Finding{Slot: t.Slot, Turns: turns, Note: "seen"})
		}
	}
	return f
}

// attempt records a candidate with what became of it.
func attempt(b rigger.Brief, c rigger.Candidate, d rigger.Decision, steps ...rigger.StepResult) rigger.Brief {
	a := rigger.Attempt{Number: len(b.Attempts) + 1, Candidate: c, Steps: steps, Decision: d}
	b.Attempts = append(slices.Clip(b.Attempts), a)
	b.Refine = nil
	return b
}

// tags are the tags of a candidate, innermost first.
func tags(c rigger.Candidate) []string {
	out := []string{}
	for _, e := range c.Stack {
		out = append(out, e.Tag)
	}
	return out
}

// checkCandidate reports what makes a candidate unfit for the gate.
func checkCandidate(b rigger.Brief, c rigger.Candidate) error {
	r := b.Registry
	if r == nil {
		r = components.Catalogue()
	}
	stack, err := r.Stack(c.Stack...)
	if err != nil {
		return err
	}
	var errs []error
	for i, s := range stack {
		if k, ok := s.(interface{ Check() error }); ok {
			errs = append(errs, k.Check())
		}
		canonical, err := envharness.CanonicalJSON(c.Stack[i].Params)
		if errs = append(errs, err); string(canonical) != string(c.Stack[i].Params) {
			errs = append(errs, fmt.Errorf("params of %s are not canonical", c.Stack[i].Tag))
		}
		if c.Stack[i].Version < 1 || c.Stack[i].ID == "" {
			errs = append(errs, fmt.Errorf("%s has no version or no id", c.Stack[i].Tag))
		}
	}
	if c.Direction != b.Direction {
		errs = append(errs, fmt.Errorf("direction %v, not %v", c.Direction, b.Direction))
	}
	if len(c.Stack) > 4 || len(c.Rationale) > 1000 {
		errs = append(errs, errors.New("too much"))
	}
	return errors.Join(errs...)
}

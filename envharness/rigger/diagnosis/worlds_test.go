package diagnosis_test

import (
	"context"
	"errors"
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
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

type namedWorld struct {
	name  string
	world envharness.World
}

func worlds(t testing.TB) []namedWorld {
	t.Helper()
	out := []namedWorld{
		{"household", household.World(nil)},
		{"household small", household.World(&household.Options{Small: true})},
		{"tooldesk", tooldesk.World(nil)},
		{"tooldesk small", tooldesk.World(&tooldesk.Options{Small: true})},
		{"shop", shop.World(nil)},
		{"shop small", shop.World(&shop.Options{Small: true})},
		{"keydoor", keydoor.World(nil)},
		{"keydoor small", keydoor.World(&keydoor.Options{Small: true})},
		{"game24", game24.World(nil)},
	}
	for _, e := range chain.Experiments() {
		w, err := chain.World(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, namedWorld{"chain", w})
	}
	return out
}

// A scene is a task of a world with what is known of it.
type scene struct {
	world   envharness.World
	task    envharness.Task
	context diagnosis.Context
}

// scenes returns n tasks of the split, spread over it.
func scenes(t testing.TB, w envharness.World, n int) []scene {
	t.Helper()
	env, err := w.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	lister, _ := envharness.As[envharness.TaskLister](env)
	all, err := lister.Tasks(t.Context(), "train")
	if err != nil {
		t.Fatal(err)
	}
	describer, _ := envharness.As[envharness.Describer](env)
	oracle, _ := envharness.As[envharness.Oracle](env)
	var out []scene
	for i := range n {
		task := all[i*37%len(all)]
		task.Seed = new(uint64(7))
		if _, err := env.Reset(t.Context(), envharness.ResetOptions{Task: task.ID, Seed: task.Seed}); err != nil {
			t.Fatal(err)
		}
		plan, err := oracle.Plan(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", task.ID, err)
		}
		out = append(out, scene{w, task, diagnosis.Context{World: describer.Describe(), Plan: slices.Clone(plan)}})
	}
	return out
}

// readsBack puts the last read in front of the submit, so that it is seen what was written.
func (s scene) readsBack() []envharness.Action {
	reads := make(map[string]bool)
	for _, t := range s.context.World.Tools {
		reads[t.Name] = t.ReadOnly
	}
	plan := slices.Clone(s.context.Plan)
	for i := len(plan) - 1; i >= 0; i-- {
		if reads[plan[i].Name] {
			return slices.Insert(plan, len(plan)-1, plan[i])
		}
	}
	return plan
}

// A player makes calls in order, and tries again what failed for the moment.
type player struct {
	calls  []envharness.Action
	breaks int // it breaks down in front of this call; never if negative
	at     int
}

var errBroken = errors.New("out of order")

func (p *player) Act(_ context.Context, t envharness.Turn) (envharness.Action, error) {
	if t.Error != nil && t.Error.Retryable {
		p.at--
	}
	if p.at == p.breaks || p.at >= len(p.calls) {
		return envharness.Action{}, errBroken
	}
	p.at++
	return p.calls[p.at-1], nil
}

func (s scene) rollouts(t testing.TB, n int, stack []envharness.Component, policy func(slot int) envharness.Policy) []envharness.Trace {
	t.Helper()
	traces, err := envharness.Rollouts(t.Context(), s.world, stack, func(slot int) (envharness.Policy, error) { return policy(slot), nil },
		slices.Repeat([]envharness.Task{s.task}, n), nil)
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

// all reports whatever any episode shows.
func all() *diagnosis.Options { return &diagnosis.Options{Support: new(1e-9), Most: -1} }

// A policy that does what a solution does shows no flaw on any world: not as it is, not when it tries again what fails for the moment,
// and not when it fails for a reason of its own.
func TestCleanPolicies(t *testing.T) {
	tests := []struct {
		name   string
		stack  func() []envharness.Component
		breaks bool
		reason string
	}{
		{"plan", func() []envharness.Component { return nil }, false, "a solution"},
		{"retries", func() []envharness.Component {
			return []envharness.Component{components.ToolFail{Mode: "rate", P: new(0.3), Count: 2}}
		}, false, "a call that fails for the moment is made again, once or twice"},
		{"retries long", func() []envharness.Component {
			return []envharness.Component{components.ToolFail{Nth: 2, Count: 3}}
		}, false, "the same failure three times is no loop: it is what trying again looks like"},
		{"breaks down", func() []envharness.Component { return nil }, true, "what breaks at a random turn did nothing wrong until then"},
		{"retries and breaks down", func() []envharness.Component {
			return []envharness.Component{components.ToolFail{Mode: "rate", P: new(0.3)}}
		}, true, "both"},
	}
	n := 5
	if testing.Short() {
		n = 2
	}
	for _, w := range worlds(t) {
		for _, s := range scenes(t, w.world, n) {
			calls := s.readsBack()
			for _, tt := range tests {
				if tt.reason == "" {
					t.Errorf("%s has no reason", tt.name)
				}
				rng := rand.New(rand.NewPCG(1, 2))
				traces := s.rollouts(t, 4, tt.stack(), func(slot int) envharness.Policy {
					p := &player{calls: calls, breaks: -1}
					if tt.breaks && slot%2 == 0 {
						p.breaks = rng.IntN(len(calls))
					}
					return p
				})
				for _, with := range []string{"plan", "no plan"} {
					c := s.context
					if with == "no plan" {
						c.Plan = nil
					}
					flaws, err := diagnosis.Diagnose(traces, c, all())
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range flaws {
						if f.ID == diagnosis.BudgetExhausted && len(tt.stack()) > 0 {
							continue // the limit of some tasks leaves no room for failures
						}
						t.Errorf("%s %s, %s, %s: %s %+v", w.name, s.task.ID, tt.name, with, f.ID, f.Found[0])
					}
				}
			}
		}
	}
}

// Who does all that a solution takes and then answers wrongly has none of the flaws: there is no rule for a wrong answer.
func TestWrongAnswers(t *testing.T) {
	tests := []struct {
		name   string
		world  envharness.World
		last   func(plan []envharness.Action) []envharness.Action
		reason string
	}{
		{"tooldesk", tooldesk.World(nil), func(plan []envharness.Action) []envharness.Action {
			return append(plan[:len(plan)-1:len(plan)-1], action(`submit {"answer":"nothing"}`))
		}, "the writes are right, the words are not"},
		{"game24", game24.World(nil), func(plan []envharness.Action) []envharness.Action {
			return append(plan[:len(plan)-2:len(plan)-2], action(`combine {"i":0,"j":1,"op":"sub"}`), plan[len(plan)-1])
		}, "the last sum is wrong, and 4 turns are less than half of the limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("no reason")
			}
			failures := 0
			for _, s := range scenes(t, tt.world, 3) {
				right := s.readsBack()
				traces := s.rollouts(t, 4, nil, func(slot int) envharness.Policy {
					if slot%2 == 0 {
						return &player{calls: tt.last(right), breaks: -1}
					}
					return &player{calls: right, breaks: -1}
				})
				for _, tr := range traces {
					if tr.Verdict.Status == failed {
						failures++
					}
				}
				if flaws := diagnose(t, traces, s.context, all()); len(flaws) > 0 {
					t.Errorf("%s: %s %+v", s.task.ID, flaws[0].ID, flaws[0].Found[0])
				}
			}
			if failures == 0 {
				t.Error("nothing failed")
			}
		})
	}
}

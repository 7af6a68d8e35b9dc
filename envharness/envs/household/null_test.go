package household

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// passes plays the first tasks of a split n times each with the choices of next, which is asked for a new policy every time, and counts the
// passes by kind.
func passes(t *testing.T, o *Options, split string, tasks, n int, policy func(r *rand.Rand) func(list []envharness.Action) envharness.Action) (passed, total map[string]int) {
	t.Helper()
	ctx := t.Context()
	env := New(o)
	list, err := env.Tasks(ctx, split)
	if err != nil {
		t.Fatal(err)
	}
	passed, total = map[string]int{}, map[string]int{}
	for i, task := range list[:tasks] {
		for k := range n {
			next := policy(envharness.RandStream(uint64(i), "policy/null", uint64(k)))
			obs, err := env.Reset(ctx, envharness.ResetOptions{Task: task.ID})
			if err != nil {
				t.Fatal(err)
			}
			total[task.Family]++
			for len(obs.Actions) > 0 {
				tr, err := env.Step(ctx, next(obs.Actions))
				if err != nil {
					t.Fatal(err)
				}
				obs = tr.Observation
				if tr.Reward == 1 {
					passed[task.Family]++
				}
			}
		}
	}
	return passed, total
}

// Policies that know nothing pass less than 1 % of the tasks, and of those of a kind at most 2 %.
func TestNullPolicies(t *testing.T) {
	t.Parallel()
	policies := []struct {
		name string
		n    int
		make func(r *rand.Rand) func(list []envharness.Action) envharness.Action
	}{
		{"no-op", 1, func(*rand.Rand) func([]envharness.Action) envharness.Action {
			return func([]envharness.Action) envharness.Action { return envharness.Action{Name: "noop"} }
		}},
		{"random", 4, func(r *rand.Rand) func([]envharness.Action) envharness.Action {
			return func(list []envharness.Action) envharness.Action { return list[r.IntN(len(list))] }
		}},
		{"submit", 1, func(r *rand.Rand) func([]envharness.Action) envharness.Action {
			return func([]envharness.Action) envharness.Action { return act("") } // the one tool, which may end the episode
		}},
		{"repeat", 2, func(r *rand.Rand) func([]envharness.Action) envharness.Action {
			var first envharness.Action
			return func(list []envharness.Action) envharness.Action {
				if first.Name == "" {
					first = list[r.IntN(len(list))]
				}
				return first
			}
		}},
	}
	for _, small := range []bool{false, true} {
		for _, split := range []string{"train", "ood"} {
			for _, p := range policies {
				passed, total := passes(t, &Options{Small: small}, split, 336, p.n, p.make)
				all, n := 0, 0
				for kind := range total {
					all, n = all+passed[kind], n+total[kind]
					// A kind with few episodes may exceed its rate by chance, hardly by three standard deviations.
					if most := .02 * float64(total[kind]); float64(passed[kind]) > most+3*math.Sqrt(most) {
						t.Errorf("small %v, %s, %s: %s passes %d of %d", small, split, p.name, kind, passed[kind], total[kind])
					}
				}
				t.Logf("small %v, %s, %s: %d of %d, by kind %v", small, split, p.name, all, n, passed)
				if float64(all) >= .01*float64(n) {
					t.Errorf("small %v, %s: %s passes %d of %d", small, split, p.name, all, n)
				}
			}
		}
	}
}

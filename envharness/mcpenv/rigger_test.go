package mcpenv_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// EnvRigger works on a server as on any world: here it finds the budget of turns that a policy which looks around first, for a while,
// keeps to about half of the time. The proof that the task can still be solved is an episode of the policy, played again.
func TestRig(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a few hundred episodes")
	}
	c := restock(farm(t, mcptest.Options{}))
	c.MaxTurns, c.Deterministic = 12, true
	tighter := rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
		turns := 7 - len(b.Attempts)
		return rigger.Candidate{
			Stack:     []components.Entry{{Tag: "step_budget", Params: fmt.Appendf(nil, `{"turns":%d}`, turns)}},
			Direction: b.Direction,
		}, nil
	})
	report, err := rigger.Rig(t.Context(), rigger.Problem{
		World: world(t, c), Tasks: []envharness.Task{{ID: "restock"}},
		NewPolicy: func(_ envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			var calls []envharness.Action
			for range rng.IntN(8) {
				calls = append(calls, act("list_items", `{}`))
			}
			return script(append(calls, solution()...)...)(0)
		},
	}, &rigger.Options{Designer: tighter, Seed: 1, NullEpisodes: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Items) != 1 || report.Tasks[0].Outcome != rigger.Accepted {
		t.Errorf("%s", report)
	}
}

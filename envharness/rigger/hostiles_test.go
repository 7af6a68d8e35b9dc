package rigger

import (
	"maps"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
)

// TestGateRefusesHostiles puts every hostile component of package rigtest around every small world, for a policy that plays the plan.
func TestGateRefusesHostiles(t *testing.T) {
	// What is broken in a turn is found where episodes are played for integrity, and so is a call that is sent in place of another one.
	other := map[string]Step{"hostile_panic": StepIntegrity, "hostile_error": StepIntegrity, "hostile_pilot": StepIntegrity}
	for _, name := range slices.Sorted(maps.Keys(gateWorlds)) {
		w, tapped := rigtest.Tap(gateWorlds[name]())
		for _, h := range rigtest.Hostiles(tapped) {
			in := newTestInspector(t, w, gateTasks[name], registryWith(t, h.Kind))
			in.searchLimit = 100
			trace, err := in.trial(t.Context(), nil, w, script(in.plan))
			if err != nil {
				t.Fatal(err)
			}
			in.baseline = []envharness.Trace{trace}
			found, err := in.inspect(t.Context(), 1, Candidate{Stack: []components.Entry{h.Entry()}, Direction: components.Harder})
			if err != nil {
				t.Fatal(err)
			}
			want := Step(h.Step)
			if s, ok := other[h.Kind.Tag]; ok {
				want = s
			}
			if last := found.steps[len(found.steps)-1]; last.Result != Failed || last.Step != want {
				t.Errorf("%s, %s: %v, want %s", name, h.Kind.Tag, found.steps, want)
			}
		}
	}
}

package rigger

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
)

// TestGateRefusesHostiles puts every hostile component of package rigtest around every small world, for a policy that plays the plan.
func TestGateRefusesHostiles(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(gateWorlds)) {
		w, tapped := rigtest.Tap(gateWorlds[name]())
		for _, h := range rigtest.Hostiles(tapped) {
			in := newTestInspector(t, w, gateTasks[name], registryWith(t, h.Kind))
			in.searchLimit = 100
			in.play = untracked(w, in.task, 1) // a tapped environment is that of one episode at a time
			trace, err := in.trial(t.Context(), nil, w, script(in.plan))
			if err != nil {
				t.Fatal(err)
			}
			in.baseline = []envharness.Trace{trace}
			found, err := in.inspect(t.Context(), 1, Candidate{Stack: []components.Entry{h.Entry()}, Direction: components.Harder})
			if err != nil {
				t.Fatal(err)
			}
			if h.Kind.Tag == "hostile_sleeper" { // it behaves in episodes that are only for checks
				if last := lastStep(found); last != "null pass" {
					t.Errorf("%s, %s: %v", name, h.Kind.Tag, found.steps)
				}
				traces, err := in.play(t.Context(), "screen", found.stack, rigtest.Clean(w), 0, 5)
				if err != nil {
					t.Fatal(err)
				}
				review, err := in.review(t.Context(), "screening", found.stack, traces)
				if err != nil {
					t.Fatal(err)
				}
				found.steps = append(found.steps, review)
			}
			want := Step(h.Step)
			if last := found.steps[len(found.steps)-1]; last.Result != Failed || last.Step != want {
				t.Errorf("%s, %s: %v, want %s", name, h.Kind.Tag, found.steps, want)
			}
		}
	}
}

// TestRigNilParams proposes an entry without parameters, which JSON writes as null on its way into a journal.
func TestRigNilParams(t *testing.T) {
	const name = "keydoor"
	bare := DesignerFunc(func(context.Context, Brief) (Candidate, error) {
		return Candidate{Stack: []components.Entry{{Tag: "tool_fail"}}}, nil
	})
	w := gateWorlds[name]()
	report, err := Rig(t.Context(), Problem{World: w, Tasks: []envharness.Task{{ID: gateTasks[name]}}, NewPolicy: rigtest.Clean(w)},
		&Options{Preset: Unchecked, Designer: bare})
	if err != nil || len(report.Items) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
}

package household

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness/sim"
)

// shared counts the tasks of a split that have something in common with a train task.
type shared struct{ tasks, state, text, plan int }

// No task starts in the state of a task of another split. What splits do share is told in the package documentation: texts of starts, which do not
// say what lies where, and shortest plans for one and the same sentence.
func TestWhatSplitsShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		options Options
		preset  *preset
		starts  int // in different states, of all splits
		want    map[string]shared
	}{
		{Options{}, &fullPreset, 13440 + 3*672, map[string]shared{"validation": {672, 0, 576, 429}, "test": {672, 0, 591, 414}, "ood": {672, 0, 0, 404}}},
		{Options{Small: true}, &smallPreset, 8823, map[string]shared{"validation": {384, 0, 383, 342}, "test": {384, 0, 383, 350}, "ood": {384, 0, 0, 335}}},
	} {
		if testing.Short() && !tt.options.Small {
			continue // 15,456 plans
		}
		split := map[string]string{}                         // of the state of a start
		texts, plans := map[string]bool{}, map[string]bool{} // of train
		got := map[string]shared{}
		everyTask(t, tt.preset, 1, func(id string, k task, s Scene) {
			e, err := tt.options.start(s)
			if err != nil {
				t.Fatal(id, err)
			}
			steps, err := e.(sim.Planner).Plan()
			if err != nil {
				t.Fatal(id, err)
			}
			state, text, plan := string(e.AppendState(nil)), e.Text(), s.Goal.sentence()
			for _, a := range steps {
				plan += "\n" + a.Text()
			}
			name := k.split()
			if other, ok := split[state]; !ok {
				split[state] = name
			} else if other != name {
				t.Errorf("%s, in %s, has the start of a task in %s", id, name, other)
			}
			if name == "train" {
				texts[text], plans[plan] = true, true
				return
			}
			n := got[name]
			n.tasks++
			if split[state] == "train" {
				n.state++
			}
			if texts[text] {
				n.text++
			}
			if plans[plan] {
				n.plan++
			}
			got[name] = n
		})
		if len(split) != tt.starts {
			t.Errorf("%+v: %d different starts, want %d", tt.options, len(split), tt.starts)
		}
		if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(shared{})); d != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.options, d)
		}
	}
}

package doubles

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/throughline-go/throughline/envharness/envtest"
)

// Each rule of runners has a double that breaks it and nothing else. In a bubble those that hang take no time.
func TestRunners(t *testing.T) {
	have := map[string]bool{}
	for _, d := range runners() {
		have[d.Rule] = true
		t.Run(d.Rule+" "+d.Text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := d.Caught(t.Context()); err != nil {
					t.Error(err, "\n", d.Check(t.Context()))
				}
			})
		})
	}
	for _, id := range []string{"R01", "R02", "R03", "R04", "R05", "R06", "R07", "R08"} {
		if !have[id] {
			t.Errorf("no double breaks %s", id)
		}
		if !slices.ContainsFunc(envtest.Rules(), func(r envtest.Rule) bool { return r.ID == id }) {
			t.Errorf("%s is not listed", id)
		}
	}
}

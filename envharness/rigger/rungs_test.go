package rigger

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// A limit that the policy hardly meets is not proposed.
func TestBudgetRungs(t *testing.T) {
	for _, tt := range []struct {
		turns  float64
		flaw   diagnosis.ID
		want   string
		reason string
	}{
		{4, "", "[]", "5 is 1.25 times 4"},
		{4.1, "", "[5]", "5 is less than 5.125"},
		{5, "", "[6 5]", "6 is less than 6.25"},
		{6.5, "", "[8 6 5]", "8 is less than 8.125"},
		{6.5, diagnosis.OverLong, "[6 5]", "one that is slow already begins at 1.5"},
		{0, "", "[8 6 5]", "it never passed: nothing is known of its turns"},
	} {
		c := newClues(Brief{Plan: make([]envharness.Action, 4), Baseline: Snapshot{Turns: tt.turns, Limit: 12}})
		got := []int{}
		for _, raw := range c.budgetRungs(diagnosis.Flaw{ID: tt.flaw}) {
			var p components.StepBudget
			if err := json.Unmarshal(raw, &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, p.Turns)
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%v turns, %q: %v, want %s: %s", tt.turns, tt.flaw, got, tt.want, tt.reason)
		}
	}
}

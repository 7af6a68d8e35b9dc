package rigger

import (
	"encoding/json"
	"fmt"
	"slices"
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

// The table has all kinds of the catalogue but those that are said to be proposed never.
func TestNeverProposed(t *testing.T) {
	proposed := make(map[string]bool)
	for _, id := range append(diagnosis.IDs(), "") {
		for _, d := range []components.Direction{components.Harder, components.Easier} {
			for _, r := range remedies(id, d) {
				if k, ok := components.Catalogue().Kind(r.tag); !ok || k.Direction&(d|components.Neutral) == 0 {
					t.Errorf("%s %v: %s is %v", id, d, r.tag, k.Direction)
				}
				proposed[r.tag] = true
			}
		}
	}
	var never []string
	for _, k := range components.Catalogue().Kinds() {
		if !proposed[k.Tag] {
			never = append(never, k.Tag)
		}
	}
	if want := []string{"start_patch", "obs_noise", "chain"}; !slices.Equal(never, want) {
		t.Errorf("never proposed are %v, want %v", never, want)
	}
}

// A registry of the caller's own kinds alone has them proposed at once, and no other.
func TestOwnKindsAlone(t *testing.T) {
	own, _ := components.Catalogue().Kind("step_budget")
	build := own.New
	own.Tag, own.Axis, own.Ladder = "pause", envharness.AxisAction, []json.RawMessage{json.RawMessage(`{"turns":9}`)}
	own.New = func(params json.RawMessage) (envharness.Component, error) {
		c, err := build(params)
		return paused{c}, err
	}
	alone := components.NewRegistry()
	if err := alone.Add(own); err != nil {
		t.Fatal(err)
	}
	both := components.Catalogue()
	if err := both.Add(own); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		registry *components.Registry
		own      bool
		reason   string
	}{{alone, true, "there is no other"}, {both, false, "those of the catalogue come first"}} {
		plan := []envharness.Action{{Name: "a"}, {Name: "b"}}
		c, err := Rules{}.Design(t.Context(), Brief{Registry: tt.registry, Direction: components.Harder, Plan: plan})
		if err != nil || len(c.Stack) != 1 || (c.Stack[0].Tag == "pause") != tt.own {
			t.Errorf("%s: %v, %v", tt.reason, c, err)
		}
	}
}

type paused struct{ envharness.Component }

func (p paused) Spec() envharness.ComponentSpec {
	s := p.Component.Spec()
	s.Tag, s.Axis = "pause", envharness.AxisAction
	return s
}

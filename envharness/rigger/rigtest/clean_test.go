package rigtest_test

import (
	"context"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// The clean policy gets by with what a sensible caller gets by with, in as few turns as there can be.
func TestCleanBehindComponents(t *testing.T) {
	desk := tooldesk.World(&tooldesk.Options{Small: true})
	rooms := keydoor.World(&keydoor.Options{Small: true})
	house := household.World(&household.Options{Small: true})
	tests := []struct {
		world  envharness.World
		task   string
		stack  []envharness.Component
		want   int // turns
		reason string
	}{
		{desk, "small-T1-0000", nil, 5, "four actions, and a look before the submit"},
		{rooms, "small-2,2,0,0", nil, 8, "the plan"},
		{house, "small-pick_and_place_simple-7-0", nil, 6, "the plan"},
		{desk, "small-T1-0000", []envharness.Component{components.ToolFail{Nth: 2, Count: 3}}, 8, "three failures are tried again"},
		{desk, "small-T1-0000", []envharness.Component{components.ToolFail{Mode: "rate", P: new(1.0), Window: components.Window{Until: 3}}}, 8, "nothing works for three turns"},
		{desk, "small-T1-0000", []envharness.Component{components.RateLimit{Tools: []string{"get_order"}, Calls: 1, Per: 5}}, 8,
			"the second of get_order is refused two turns later, and waits two turns more"},
		{rooms, "small-2,2,0,0", []envharness.Component{components.RateLimit{Tools: []string{"right"}, Calls: 1, Per: 3}}, 10, "of four of right only the third comes too soon, and waits a turn"},
		{desk, "small-T1-0000", []envharness.Component{components.Paginate{MaxBytes: 10, Window: components.Window{Until: 1}}}, 7, "23 bytes are three pages"},
		{desk, "small-T1-0000", []envharness.Component{components.Block{Tools: []string{"cancel_order"}, Max: 1}}, 6, "what is blocked once is tried once more"},
		{desk, "small-T1-0000", []envharness.Component{components.Distractor{N: new(1), Pool: []envharness.Tool{{Name: "gossip"}}}}, 5, "a tool of no use is left alone"},
		{house, "small-pick_and_place_simple-7-0", []envharness.Component{
			envharness.Setup{Actions: []envharness.Action{
				{Name: "do", Args: []byte(`{"text":"go to microwave 1"}`)}, {Name: "do", Args: []byte(`{"text":"open microwave 1"}`)},
			}, Aid: true},
		}, 4, "what was done at the start is not done again"},
		{desk, "small-T1-0000", []envharness.Component{
			envharness.Setup{Actions: []envharness.Action{{Name: "find_customer", Args: []byte(`{"email":"finn"}`)}}},
			components.ToolFail{}, components.StepBudget{Turns: 5},
		}, 5, "all at once"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		tr := play(t, tt.world, tt.stack, envharness.Task{ID: tt.task}, rigtest.Clean(tt.world), 1)[0]
		if tr.Verdict.Status != envharness.Pass || len(tr.Turns) != tt.want {
			t.Errorf("%s: %d turns, want %d and a pass (%s): %s", tt.task, len(tr.Turns), tt.want, tt.reason, told(tr))
		}
	}
}

// A flawed policy that begins further along plays on from there, as does one whose script is on another way.
func TestFlawedTakesUp(t *testing.T) {
	w := household.World(&household.Options{Small: true})
	task := envharness.Task{ID: "small-pick_and_place_simple-7-0"}
	plan, err := yardstick.Plan(context.Background(), w, task)
	if err != nil {
		t.Fatal(err)
	}
	for _, flaw := range []diagnosis.ID{diagnosis.NoPrecondition, diagnosis.OverLong} {
		for k := range plan {
			flawed, err := rigtest.Flawed(w, flaw, &rigtest.Options{Rate: new(1.0)})
			if err != nil {
				t.Fatal(err)
			}
			tr := play(t, w, []envharness.Component{envharness.Setup{Actions: plan[:k]}}, task, flawed, 1)[0]
			if tr.Verdict.Status != envharness.Pass || flaw == diagnosis.OverLong && k > 0 && len(tr.Turns) != len(plan)-k {
				t.Errorf("%s, %d actions on: %s", flaw, k, told(tr))
			}
		}
	}
}

package mcpenv_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// Components change what the policy meets, and not what counts.
func TestComponents(t *testing.T) {
	t.Parallel()
	w := world(t, restock(stockroom(mcptest.Options{})))
	setup := envharness.Setup{Actions: solution()[:1], Aid: true}
	for _, c := range []struct {
		name       string
		components []envharness.Component
		actions    []envharness.Action
		want       envharness.Status
		ok         func(tr envharness.Trace) bool
	}{
		{"block", []envharness.Component{components.Block{Tools: []string{"delete_*"}}}, solution(), envharness.Fail,
			func(tr envharness.Trace) bool { return tr.Turns[0].Applied == nil && tr.Turns[1].Applied != nil }},
		{"tool_fail", []envharness.Component{components.ToolFail{Tools: []string{"delete_item"}}},
			[]envharness.Action{solution()[0], solution()[0], solution()[1]}, envharness.Pass,
			func(tr envharness.Trace) bool {
				return tr.Turns[0].Shown.Error != nil && tr.Turns[1].Shown.Error == nil
			}},
		{"rename", []envharness.Component{components.Rename{Tools: map[string]string{"delete_item": "drop", "update_item": "count"}}},
			[]envharness.Action{act("drop", `{"name":"nut"}`), act("count", `{"name":"bolt","count":9}`)}, envharness.Pass,
			func(tr envharness.Trace) bool { return tr.Turns[0].Applied.Name == "delete_item" }},
		{"hide_keys", []envharness.Component{components.HideKeys{Keys: []string{"/items/*/count"}}},
			append([]envharness.Action{act("list_items", "")}, solution()...), envharness.Pass, func(tr envharness.Trace) bool {
				return !strings.Contains(string(must(json.Marshal(tr.Turns[0].Shown.Observation.Data))), "count")
			}},
		{"paginate", []envharness.Component{components.Paginate{PageSize: 2}},
			append([]envharness.Action{act("list_items", ""), act("next", "")}, solution()...), envharness.Pass,
			func(tr envharness.Trace) bool {
				first, second := tr.Turns[0].Shown.Observation, tr.Turns[1].Shown.Observation
				return len(first.Data["items"].([]any)) == 2 && first.Data["has_more"] == true && len(second.Data["items"].([]any)) == 1
			}},
		{"step_budget", []envharness.Component{components.StepBudget{Turns: 1}}, solution(), envharness.Fail,
			func(tr envharness.Trace) bool { return tr.End == "budget:step_budget" && len(tr.Turns) == 1 }},
		{"setup", []envharness.Component{setup}, solution()[1:], envharness.Pass,
			func(tr envharness.Trace) bool {
				return tr.Shown.Text == "Set the bolts to 9 and remove the nuts." && tr.Log[1].Kind == envharness.LogReplay
			}},
		{"setup, block and budget", []envharness.Component{setup, components.Block{Tools: []string{"delete_*"}}, components.StepBudget{Turns: 3}},
			solution()[1:], envharness.Pass, func(tr envharness.Trace) bool { return tr.Turns[0].Left == 3 }},
		{"setup that solves", []envharness.Component{envharness.Setup{Actions: solution()}}, nil, envharness.Invalid,
			func(tr envharness.Trace) bool { return strings.Contains(tr.Cause, "not fail") }},
		{"setup that is refused", []envharness.Component{envharness.Setup{Actions: []envharness.Action{act("get_item", `{"name":"nail"}`)}}}, nil,
			envharness.Invalid, func(tr envharness.Trace) bool { return strings.Contains(tr.Cause, "setup failed") }},
	} {
		if tr := play(t, w, c.components, c.actions...); tr.Verdict.Status != c.want || !c.ok(tr) {
			t.Errorf("%s: %+v, %s: %s", c.name, tr.Verdict, tr.Cause, must(json.Marshal(tr)))
		}
	}
}

// A stack can come from a file, and the trace of its episode goes to one and back.
func TestStackOfData(t *testing.T) {
	stack, err := components.Catalogue().Stack(
		components.Entry{Tag: "block", Params: json.RawMessage(`{"tools":["move_item"]}`)},
		components.Entry{Tag: "step_budget", Params: json.RawMessage(`{"turns":4}`)},
	)
	if err != nil {
		t.Fatal(err)
	}
	actions := append([]envharness.Action{act("move_item", `{"name":"nut","shelf":"A1"}`)}, solution()...)
	tr := play(t, world(t, restock(stockroom(mcptest.Options{}))), stack, actions...)
	if tr.Verdict.Status != envharness.Pass || len(tr.Components) != 2 {
		t.Fatalf("%+v: %s", tr.Verdict, tr.Cause)
	}
	var buf bytes.Buffer
	if err := envharness.WriteTraces(&buf, []envharness.Trace{tr}); err != nil {
		t.Fatal(err)
	}
	for back, err := range envharness.ReadTraces(&buf) {
		if err != nil || string(must(json.Marshal(back))) != string(must(json.Marshal(tr))) {
			t.Errorf("%+v, %v", back, err)
		}
	}
}

// A component sees nothing of the state that is judged.
func TestStateHidden(t *testing.T) {
	var seen atomic.Value
	spy := envharness.Rules(envharness.ComponentSpec{Tag: "spy", Axis: envharness.AxisObservation}, spyHooks(&seen))
	tr := play(t, world(t, restock(stockroom(mcptest.Options{}))), []envharness.Component{spy}, solution()...)
	if got, _ := seen.Load().(string); tr.Verdict.Status != envharness.Pass || got != "{}" {
		t.Errorf("%q, %s", got, tr.Cause)
	}
}

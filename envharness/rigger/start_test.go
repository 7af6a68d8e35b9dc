package rigger

import (
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

func TestStatic(t *testing.T) {
	w := gateWorlds["tooldesk"]()
	baseline := act(`find_customer {"email":"eva"}`, `get_order {"order_id":"o1"}`, `submit {"answer":"nothing"}`)
	easierOf := func(entries ...components.Entry) Candidate {
		return Candidate{Stack: entries, Direction: components.Easier}
	}
	fail := part("tool_fail", `{"count":1}`)
	tests := []struct {
		c      Candidate
		want   string // part of the reason; empty means that it passes
		reason string
	}{
		{harder(fail), "", "sound"},
		{harder(fail, fail, fail, fail), "", "four"},
		{harder(fail, fail, fail, fail, fail), "5 components", "five"},
		{harder(), "0 components", "none"},
		{Candidate{Stack: []components.Entry{fail}}, "direction", "no direction"},
		{Candidate{Stack: []components.Entry{fail}, Direction: components.Harder | components.Easier}, "direction", "two directions"},
		{Candidate{Stack: []components.Entry{fail}, Direction: components.Neutral}, "direction", "neutral is none"},
		{easierOf(fail), "easier", "a failing tool does not help"},
		{easierOf(fail, part("start_replay", `{"actions":[{"name":"find_customer","args":{"email":"eva"}}]}`)), "order", "class order"},
		{easierOf(part("start_replay", `{"actions":[{"name":"find_customer","args":{"email":"eva"}}]}`), fail), "", "one that helps is enough"},
		{easierOf(part("rename", `{"tools":{"submit":"done"}}`)), "", "one that only makes it another task may help"},
		{harder(part("nonsense", `{}`)), "unknown tag", "tag"},
		{harder(part("tool_fail", `{"colour":1}`)), "unknown parameter", "parameter"},
		{harder(part("tool_fail", `{"count":-1}`)), "negative", "range"},
		{harder(components.Entry{Tag: "tool_fail", ID: "a"}, components.Entry{Tag: "block", ID: "a"}), "a", "ids"},
		{harder(part("step_budget", `{"turns":9}`), fail), "order", "budget inside"},
		{harder(part("chain", `{}`)), "makes other tasks", "no chain"},
		{Candidate{Stack: []components.Entry{fail}, Direction: components.Harder, Rationale: strings.Repeat("x", 1001)}, "1001 bytes",
			"rationale"},
		{Candidate{Stack: []components.Entry{fail}, Direction: components.Harder, Rationale: strings.Repeat("x", 1000)}, "", "as long as may be"},
		{harder(part("tool_fail", `{"mode":"rate","p":0}`)), "no_op", "never"},
		{harder(part("tool_down", `{"tools":["refund"]}`)), "no_op", "a tool that nobody used"},
		{harder(part("step_budget", `{"turns":12}`)), "no_op", "the limit that is there"},
		{harder(part("step_budget", `{"turns":11}`)), "", "a lower limit is seen"},
		{harder(part("block", `{"tools":["submit"],"from":50}`)), "no_op", "after the end"},
		{harder(part("hide_keys", `{"keys":["/nothing"]}`)), "no_op", "nothing to hide"},
		{harder(part("hide_keys", `{"keys":["/task"]}`)), "", "something to hide"},
		{harder(part("start_replay", `{}`)), "no_op", "no actions"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, w, "small-T2-0000", components.Catalogue(), baseline...)
		var found inspection
		s, err := in.static(t.Context(), tt.c, &found)
		if err != nil || (s.Result == Passed) != (tt.want == "") || !strings.Contains(s.Reason, tt.want) {
			t.Errorf("%s: %v, %v, want %q", tt.reason, s, err, tt.want)
		}
	}
}

// TestStaticAroundChain: the stack of a start is one that can be built, and cannot be put around a chain of worlds.
func TestStaticAroundChain(t *testing.T) {
	w, err := envharness.Link([]envharness.Leg{
		{World: gateWorlds["game24"](), Task: "1,1,1,8"}, {World: gateWorlds["keydoor"](), Task: "small-2,2,0,0"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := newTestInspector(t, w, "", components.Catalogue())
	in.searchLimit = 50
	for params, want := range map[string]string{"start_replay": "static fail", "tool_fail": "oracle fail"} { // there is no oracle of a chain
		found, err := in.inspect(t.Context(), 1, harder(part(params, `{}`)))
		if err != nil || lastStep(found) != want {
			t.Errorf("%s: %v, %v, want %s", params, found.steps, err, want)
		}
	}
}

func TestStart(t *testing.T) {
	tests := []struct {
		world, task string
		part        components.Entry
		want        string // part of the reason; empty means that it passes
		reason      string
	}{
		{"game24", "1,1,1,8", part("start_replay", `{"actions":[{"name":"combine","args":{"i":0,"j":1,"op":"add"}}],"aid":true}`), "",
			"a step on the way"},
		{"game24", "1,1,1,8", part("start_replay", `{"actions":[{"name":"stop"}]}`), "ended", "a start that is an end"},
		{"game24", "1,1,1,8", part("start_replay", `{"actions":[{"name":"combine","args":{"i":0,"j":9,"op":"add"}}]}`), "refused",
			"a call that is refused"},
		{"household", "small-pick_and_place_simple-7-0", part("start_patch", `{"set":{"/start/open/fridge 1":true}}`), "", "the fridge is open"},
		{"household", "small-pick_and_place_simple-7-0", part("start_patch", `{"set":{"/nowhere":true}}`), "start_patch",
			"a place that is not there"},
		{"household", "small-pick_and_place_simple-7-0", part("start_patch", `{"set":{"/start/objects/cup 1/in":["fridge 1"]}}`), "",
			"solved by a patch"},
		{"tooldesk", "small-T2-0000", part("rename", `{"tools":{"no_such_tool":"x"}}`), "", "nothing to rename"},
		{"tooldesk", "small-T2-0000", part("rename", `{"tools":{"submit":"refund"}}`), "rename", "two tools of one name"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, gateWorlds[tt.world](), tt.task, components.Catalogue())
		found := inspection{stack: stackOf(t, tt.part)}
		s, err := in.start(t.Context(), &found)
		if tt.reason == "solved by a patch" {
			tt.want = "start"
		}
		if err != nil || (s.Result == Passed) != (tt.want == "") || !strings.Contains(s.Reason, tt.want) {
			t.Errorf("%s: %v, %v, want %q", tt.reason, s, err, tt.want)
		}
	}
}

// TestStartOfSolvedTask refuses a task that passes as it is.
func TestStartOfSolvedTask(t *testing.T) {
	w := gateWorlds["game24"]()
	w.Verifier = envharness.VerifierFunc(passAll)
	in := newTestInspector(t, w, "1,1,1,8", components.Catalogue())
	found := inspection{stack: stackOf(t, part("tool_fail", `{}`))}
	s, err := in.start(t.Context(), &found)
	if err != nil || s.Result != Failed || !strings.Contains(s.Reason, "unmodified") {
		t.Errorf("%v, %v", s, err)
	}
}

func TestTransfer(t *testing.T) {
	w := gateWorlds["game24"]()
	first := `{"name":"combine","args":{"i":0,"j":1,"op":"add"}}`
	tests := []struct {
		entries []components.Entry
		want    Result
		reason  string
	}{
		{[]components.Entry{part("tool_fail", `{"count":2}`)}, Passed, "refused calls do not come to the base"},
		{[]components.Entry{part("start_replay", `{"actions":[`+first+`],"aid":true}`)}, Failed, "without its start a part is missing"},
		{[]components.Entry{part("block", `{}`)}, Unproven, "nothing passed"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, w, "1,1,1,8", components.Catalogue())
		in.searchLimit = 50
		stack := stackOf(t, tt.entries...)
		s, err := in.solve(t.Context(), stack)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := in.trial(t.Context(), stack, w, script(s.proof))
		if err != nil {
			t.Fatal(err)
		}
		failed, err := in.trial(t.Context(), nil, w, script(nil))
		if err != nil {
			t.Fatal(err)
		}
		got, err := in.transfer(t.Context(), []envharness.Trace{failed, trace})
		if err != nil || got.Step != StepTransfer || got.Result != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.reason, got, err, tt.want)
		}
	}
}

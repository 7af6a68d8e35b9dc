package components_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// echo shows the name of each action and ends on "stop".
type echo struct{ steps int }

func (e *echo) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return envharness.Observation{Text: "start"}, nil
}

func (e *echo) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	e.steps++
	return envharness.Transition{Observation: envharness.Observation{Text: a.Name}, Terminated: a.Name == "stop"}, nil
}

func (e *echo) Close() error { return nil }

func worldOf(e *echo) envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return e, nil },
		Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

// play runs the calls and returns one word a turn: what was shown, or how it ended.
func play(t *testing.T, h *envharness.Harness, calls string) string {
	t.Helper()
	if _, err := h.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	var out []string
	for name := range strings.FieldsSeq(calls) {
		tr, err := h.Step(t.Context(), envharness.Action{Name: name})
		if err != nil {
			return strings.Join(append(out, err.Error()), " ")
		}
		word := "ok"
		if tr.Error != nil {
			word = string(tr.Error.Class)
		}
		if tr.Truncated {
			word += "/" + tr.Reason
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestComponents(t *testing.T) {
	tests := []struct {
		name   string
		stack  []envharness.Component
		calls  string
		want   string
		steps  int
		reason string
	}{
		{"fail first", []envharness.Component{components.ToolFail{Tools: []string{"get_*"}}}, "put get_a get_a get_b", "ok transient ok ok", 3, "the first matching call only"},
		{"fail second and third", []envharness.Component{components.ToolFail{Nth: 2, Count: 2}}, "a b c d", "ok transient transient ok", 2, "calls 2 and 3"},
		{"two of a kind", []envharness.Component{components.ToolFail{}, components.ToolFail{}}, "a a a", "transient transient ok", 1,
			"the inner one never sees what the outer one answered"},
		{"huge", []envharness.Component{components.ToolFail{Nth: 2, Count: 1<<63 - 1}}, "a b c", "ok transient transient", 1, "no overflow"},
		{"block", []envharness.Component{components.Block{Tools: []string{"b"}}}, "a b a", "ok permission ok", 2, "only b"},
		{"any name", []envharness.Component{components.Block{}}, "a/b", "permission", 0, "no patterns are all tools, whatever their names"},
		{"budget", []envharness.Component{components.Block{Reason: "no"}, components.StepBudget{Turns: 3}}, "a b c d",
			"permission permission permission/budget:step_budget envharness: episode is over", 0, "worked example 15"},
	}
	for _, tt := range tests {
		env := &echo{}
		h, err := envharness.New(worldOf(env), tt.stack...)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // nothing survives a reset
			env.steps = 0
			if got := play(t, h, tt.calls); got != tt.want || env.steps != tt.steps {
				t.Errorf("%s: %q with %d steps, want %q with %d (%s)", tt.name, got, env.steps, tt.want, tt.steps, tt.reason)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]envharness.Component{
		"pattern of block":     components.Block{Tools: []string{"["}},
		"pattern of tool_fail": components.ToolFail{Tools: []string{"["}},
		"nth":                  components.ToolFail{Nth: -1},
		"count":                components.ToolFail{Count: -1},
		"turns":                components.StepBudget{Turns: 0},
	} {
		if _, err := envharness.New(worldOf(&echo{}), c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSpecs(t *testing.T) {
	all := []envharness.Component{components.Block{Tools: []string{"get_*"}}, components.ToolFail{Count: 2}, components.StepBudget{Turns: 9}}
	var got []envharness.ComponentSpec
	for _, c := range all {
		got = append(got, c.Spec())
	}
	want := []envharness.ComponentSpec{
		{Tag: "block", Axis: "A", Params: json.RawMessage(`{"tools":["get_*"],"reason":"not available"}`)},
		{Tag: "tool_fail", Axis: "T", Params: json.RawMessage(`{"nth":1,"count":2}`)},
		{Tag: "step_budget", Axis: "B", Params: json.RawMessage(`{"turns":9}`)},
	}
	var back components.ToolFail // the params are the component
	if err := json.Unmarshal(got[1].Params, &back); err != nil || back.Nth != 1 || back.Count != 2 {
		t.Errorf("read back: %+v, %v", back, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

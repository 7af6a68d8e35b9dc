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
		{"fail first", []envharness.Component{components.ToolFail([]string{"get_*"}, 1, 1)}, "put get_a get_a get_b", "ok transient ok ok", 3, "the first matching call only"},
		{"fail second and third", []envharness.Component{components.ToolFail(nil, 2, 2)}, "a b c d", "ok transient transient ok", 2, "calls 2 and 3"},
		{"two of a kind", []envharness.Component{components.ToolFail(nil, 1, 1), components.ToolFail(nil, 1, 1)}, "a a a", "transient transient ok", 1,
			"the inner one never sees what the outer one answered"},
		{"huge", []envharness.Component{components.ToolFail(nil, 2, 1<<63-1)}, "a b c", "ok transient transient", 1, "no overflow"},
		{"block", []envharness.Component{components.Block([]string{"b"}, "")}, "a b a", "ok permission ok", 2, "only b"},
		{"budget", []envharness.Component{components.Block(nil, "no"), components.StepBudget(3)}, "a b c d",
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
		"pattern of block":     components.Block([]string{"["}, ""),
		"pattern of tool_fail": components.ToolFail([]string{"["}, 1, 1),
		"n":                    components.ToolFail(nil, 0, 1),
		"count":                components.ToolFail(nil, 1, 0),
		"turns":                components.StepBudget(0),
	} {
		if _, err := envharness.New(worldOf(&echo{}), c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSpecs(t *testing.T) {
	patterns := []string{"get_*"}
	all := []envharness.Component{components.Block(patterns, ""), components.ToolFail(nil, 1, 2), components.StepBudget(9)}
	patterns[0] = "changed later"
	var got []envharness.ComponentSpec
	for _, c := range all {
		got = append(got, c.Spec())
	}
	want := []envharness.ComponentSpec{
		{Tag: "block", Axis: "A", Params: json.RawMessage(`{"tools":["get_*"],"reason":"not available"}`)},
		{Tag: "tool_fail", Axis: "T", Params: json.RawMessage(`{"tools":["*"],"mode":"nth","n":1,"count":2}`)},
		{Tag: "step_budget", Axis: "B", Params: json.RawMessage(`{"turns":9}`)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

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

// echo shows the name of each action, refuses those that begin with "bad" and ends on "stop".
type echo struct{ steps int }

func (e *echo) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return envharness.Observation{Text: "start"}, nil
}

func (e *echo) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	e.steps++
	t := envharness.Transition{Observation: envharness.Observation{Text: a.Name}, Terminated: a.Name == "stop"}
	if strings.HasPrefix(a.Name, "bad") {
		t.Error = &envharness.ActionError{Class: envharness.ClassBadArgs, Message: "bad"}
	}
	return t, nil
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

// call reads a tool's name with its arguments, if any, right behind it.
func call(s string) envharness.Action {
	if i := strings.IndexByte(s, '{'); i >= 0 {
		return envharness.Action{Name: s[:i], Args: json.RawMessage(s[i:])}
	}
	return envharness.Action{Name: s}
}

// play runs the calls and returns one word a turn: what was shown, or how it ended.
func play(t *testing.T, h *envharness.Harness, calls string) string {
	t.Helper()
	if _, err := h.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	var out []string
	for name := range strings.FieldsSeq(calls) {
		tr, err := h.Step(t.Context(), call(name))
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

func stack(components ...envharness.Component) []envharness.Component { return components }

type window = components.Window

func need(tool string) components.Match { return components.Match{Tool: tool} }

func edge(before, after string) components.Edge {
	return components.Edge{Before: need(before), After: need(after)}
}

// pretend answers a tool in place of the base, as if it had been carried out.
func pretend(tool string) envharness.Component {
	hooks := envharness.Hooks{Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if a.Name != tool {
			return envharness.PassAction(), nil
		}
		return envharness.AnswerAction("done", nil), nil
	}}
	return envharness.Rules(envharness.ComponentSpec{Tag: "pretend", Axis: envharness.AxisAction},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) { return hooks, nil })
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
		{"fail first", stack(components.ToolFail{Tools: []string{"get_*"}}),
			"put get_a get_a get_b", "ok transient ok ok", 3, "the first matching call only"},
		{"fail second and third", stack(components.ToolFail{Nth: 2, Count: 2}),
			"a b c d", "ok transient transient ok", 2, "calls 2 and 3"},
		{"two of a kind", stack(components.ToolFail{}, components.ToolFail{}),
			"a a a", "transient transient ok", 1, "the inner one never sees what the outer one answered"},
		{"huge", stack(components.ToolFail{Nth: 2, Count: 1<<63 - 1}), "a b c", "ok transient transient", 1, "no overflow"},
		{"block", stack(components.Block{Tools: []string{"b"}}), "a b a", "ok permission ok", 2, "only b"},
		{"any name", stack(components.Block{}), "a/b", "permission", 0, "no patterns are all tools, whatever their names"},
		{"budget", stack(components.Block{Reason: "no"}, components.StepBudget{Turns: 3}),
			"a b c d", "permission permission permission/budget:step_budget envharness: episode is over", 0, "worked example 15"},
		{
			"block of arguments",
			stack(components.Block{Tools: []string{"get"}, Args: map[string]any{"id": 1}}),
			`get{"id":1} get{"n":0,"id":1.0} get{"id":"1"} get put{"id":1}`, "permission permission ok ok ok", 3,
			"equal as JSON values, in one tool",
		},
		{"block twice", stack(components.Block{Max: 2}), "a a a a", "permission permission ok ok", 2, "Max refusals"},
		{"block in a window", stack(components.Block{Max: 3, Window: window{From: 1, Until: 3}}),
			"a a a a", "ok permission permission ok", 2, "turns 1 and 2, from 0"},
		{"rename around block", stack(components.Block{Tools: []string{"b"}}, components.Rename{Tools: map[string]string{"b": "c"}}),
			"a b c", "ok unknown_tool permission", 1, "the block sees present names"},
		{"block around rename", stack(components.Rename{Tools: map[string]string{"b": "c"}}, components.Block{Tools: []string{"b"}}),
			"a b c", "ok permission ok", 2, "the block sees new names"},
		{"rate 1", stack(components.ToolFail{Mode: "rate", P: new(1.0), Tools: []string{"a"}, Window: window{Until: 3}}),
			"a b a a", "transient ok transient ok", 2, "C02: every eligible call"},
		{"rate 0", stack(components.ToolFail{Mode: "rate", P: new(0.0), Count: 9}), "a b", "ok ok", 2, "C02: the identity"},
		{"tool down", stack(components.ToolDown{Tools: []string{"a"}, Window: window{From: 1}}),
			"a a b a", "ok other ok other", 2, "for good, from turn 1"},
		{
			"rate limit",
			stack(components.RateLimit{}),
			"a a a a a a a a a a a a a a",
			"ok ok ok rate_limit rate_limit rate_limit rate_limit rate_limit rate_limit rate_limit ok ok ok rate_limit",
			6, "worked example 14, twice",
		},
		{"rate limit of some", stack(components.RateLimit{Tools: []string{"a"}, Calls: 1, Per: 3}),
			"b a b a a a", "ok ok ok rate_limit ok rate_limit", 4, "turns go by with other calls too"},
		{"rate limit around block", stack(components.Block{Tools: []string{"b"}}, components.RateLimit{Calls: 1, Per: 9}),
			"b b a a", "permission permission ok rate_limit", 1, "3.6 K09: only calls that came to the base count"},
		{"permission", stack(components.Permission{Grant: need("login")}),
			"a login a b", "permission ok ok ok", 3, "the grant itself is never refused"},
		{"permission in vain", stack(components.Permission{Grant: need("badlogin")}),
			"badlogin a", "bad_args permission", 1, "a grant that was refused is none"},
		{"permission by another component", stack(pretend("login"), components.Permission{Grant: need("login")}),
			"login a", "ok permission", 0, "the base gave none"},
		{
			"permission of another",
			stack(components.Permission{Tools: []string{"a"}, Grant: components.Match{Tool: "login", Args: map[string]any{"as": "me"}}}),
			`login a b login{"as":"me"} a`, "ok permission ok ok ok", 4, "the arguments count",
		},
		{"permission expires", stack(components.Permission{Tools: []string{"a"}, Grant: need("login"), Expires: 2}),
			"login a a a login a login a a a", "ok ok ok permission ok ok ok ok ok permission", 8, "two turns after the last grant"},
		{
			"permission in a window",
			stack(components.Permission{Tools: []string{"a"}, Grant: need("login"), Window: window{From: 2}}),
			"a login a", "ok ok ok", 3, "a grant before it counts",
		},
		{"call cap", stack(components.CallCap{Tools: []string{"a"}, Max: 2}), "a b a a b", "ok ok ok permission ok", 4, "to the end"},
		{"call cap cools down", stack(components.CallCap{Max: 2, Cooldown: 2}),
			"a a a a a a a", "ok ok permission permission ok ok permission", 4, "two turns, then two calls"},
		{"call cap cools down in other calls", stack(components.CallCap{Tools: []string{"a"}, Max: 1, Cooldown: 2}),
			"a b b a a", "ok ok ok ok permission", 4, "turns count, whatever is called"},
		{"call cap default", stack(components.CallCap{}), "a a a a a a", "ok ok ok ok ok permission", 5, "five"},
		{"call cap around block", stack(components.Block{Max: 2}, components.CallCap{Max: 1}),
			"a a a a", "permission permission ok permission", 1, "what was blocked inside does not count"},
		{"submit gate", stack(components.SubmitGate{Submit: []string{"buy"}, Require: []components.Match{need("read")}}),
			"buy buy buy buy", "permission permission ok ok", 2, "worked example 16"},
		{
			"submit gate is met",
			stack(components.SubmitGate{Submit: []string{"buy"}, Require: []components.Match{need("read"), need("get")}}),
			"read buy get buy", "ok permission ok ok", 3, "both",
		},
		{"submit gate after a write", stack(components.SubmitGate{Submit: []string{"buy"}, Require: []components.Match{need("read")}}),
			"read write buy read badwrite buy", "ok ok permission ok bad_args ok", 5, "since the last write; what was refused is none"},
		{
			"submit gate and another component's write",
			stack(pretend("write"), components.SubmitGate{Submit: []string{"buy"}, Require: []components.Match{need("read")}}),
			"read write buy", "ok ok ok", 2, "the base wrote nothing",
		},
		{
			"submit gate refuses nothing",
			stack(components.SubmitGate{Submit: []string{"buy"}, Require: []components.Match{need("read")}, MaxBlocks: new(0)}),
			"buy", "ok", 1, "0 is not the default",
		},
		{"submit gate without submissions", stack(components.SubmitGate{Require: []components.Match{need("read")}}),
			"buy", "ok", 1, "no tool is declared to submit"},
		{"order lock", stack(components.OrderLock{Edges: []components.Edge{edge("a", "b"), edge("b", "c")}}),
			"c b a c b c a", "permission permission ok permission ok ok ok", 4, "a, b, c"},
		{"order lock in vain", stack(components.OrderLock{Edges: []components.Edge{edge("bad*", "b")}}),
			"bad b", "bad_args permission", 1, "before must be carried out"},
		{"order lock opened by another component", stack(pretend("a"), components.OrderLock{Edges: []components.Edge{edge("a", "b")}}),
			"a b", "ok permission", 0, "the base did nothing"},
		{
			"order lock in a window",
			stack(components.OrderLock{Edges: []components.Edge{edge("a", "b")}, Window: window{From: 1, Until: 2}}),
			"b b b", "ok permission ok", 2, "outside it nothing is refused",
		},
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

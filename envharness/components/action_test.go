package components_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// shop shows each action as it arrived. It declares its tools and lists admissible actions; "buy" ends the episode.
type shop struct{ steps int }

func (s *shop) show(text string) envharness.Observation {
	return envharness.Observation{
		Text:    text,
		Data:    map[string]any{"steps": float64(s.steps)},
		Actions: []envharness.Action{call(`get{"id":1}`), call(`set{"id":1,"value":[2, "id"]}`), call("buy")},
	}
}

func (s *shop) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	s.steps = 0
	return s.show("start"), nil
}

func (s *shop) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	s.steps++
	t := envharness.Transition{Observation: s.show(a.Name + string(a.Args)), Terminated: a.Name == "buy"}
	if !slices.Contains([]string{"get", "set", "buy"}, a.Name) {
		t.Error = &envharness.ActionError{Class: envharness.ClassUnknownTool, Message: "no tool " + a.Name}
	}
	return t, nil
}

func (s *shop) Close() error { return nil }

func (s *shop) Describe() envharness.Description {
	return envharness.Description{Name: "shop", Deterministic: true, Tools: []envharness.Tool{
		{Name: "get", ReadOnly: true, Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`)},
		{Name: "set", Schema: json.RawMessage(`{"properties":{"value":{"type":"array"},"id":{"type":"integer"}},"required":["value","id"]}`)},
		{Name: "buy", Submits: true},
	}}
}

var shopWorld = envharness.World{
	New: func(context.Context) (envharness.Environment, error) { return &shop{}, nil },
	Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
		return envharness.Verdict{Status: envharness.Fail}, nil
	}),
}

// fataler is what a test and a property have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// open resets a harness with a seed.
func open(t fataler, w envharness.World, seed uint64, stack []envharness.Component) (*envharness.Harness, envharness.Observation) {
	t.Helper()
	h, err := envharness.New(w, stack...)
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.Reset(context.Background(), envharness.ResetOptions{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	return h, o
}

// transitions plays the calls until the episode ends.
func transitions(t fataler, w envharness.World, seed uint64, stack []envharness.Component, calls []string) []envharness.Transition {
	t.Helper()
	h, _ := open(t, w, seed, stack)
	var out []envharness.Transition
	for _, c := range calls {
		tr, err := h.Step(context.Background(), call(c))
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, tr); tr.Ended() {
			break
		}
	}
	return out
}

// trajectory is all that a policy is shown, in bytes.
func trajectory(t fataler, w envharness.World, stack []envharness.Component, calls []string) string {
	t.Helper()
	h, first := open(t, w, 7, stack)
	raw, err := json.Marshal([]any{h.Tools(), first, transitions(t, w, 7, stack, calls)})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// outcomes returns one word a turn: what was shown, or the class of the refusal.
func outcomes(trs []envharness.Transition) []string {
	var out []string
	for _, tr := range trs {
		if tr.Error != nil {
			out = append(out, string(tr.Error.Class))
		} else {
			out = append(out, tr.Observation.Text)
		}
	}
	return out
}

// never opens; the episodes of these tests are shorter.
var never = window{From: 1000}

func TestIdentities(t *testing.T) {
	const huge = math.MaxInt
	calls := strings.Fields(`get{"id":1} set{"id":1} nonsense get set get{"id":1} get get buy`)
	want := trajectory(t, shopWorld, nil, calls)
	for _, tt := range []struct {
		name   string
		c      envharness.Component
		reason string
	}{
		{"block", components.Block{Tools: []string{"none"}}, "fits no tool"},
		{"block of other arguments", components.Block{Args: map[string]any{"id": 2}}, "fits no call"},
		{"block never", components.Block{Window: never}, "opens too late"},
		{"rename", components.Rename{}, "no names"},
		{"rename to the same", components.Rename{Tools: map[string]string{"get": "get"}, Args: map[string]map[string]string{"get": {"id": "id"}}},
			"names that stay"},
		{"sticky", components.Sticky{P: new(0.0), Duration: 5}, "p 0"},
		{"sticky never", components.Sticky{P: new(1.0), Window: never}, "opens too late"},
		{"tool_fail", components.ToolFail{Mode: "rate", P: new(0.0)}, "p 0"},
		{"tool_fail later", components.ToolFail{Nth: huge, Count: huge}, "no such call"},
		{"tool_fail never", components.ToolFail{Window: never}, "opens too late"},
		{"tool_down", components.ToolDown{Tools: []string{"none"}}, "fits no tool"},
		{"tool_down never", components.ToolDown{Window: never}, "opens too late"},
		{"rate_limit", components.RateLimit{Calls: huge, Per: huge}, "more calls than turns"},
		{"rate_limit of one turn", components.RateLimit{Calls: 1, Per: 1}, "there is one call a turn"},
		{"rate_limit never", components.RateLimit{Calls: 1, Window: never}, "opens too late"},
		{"permission", components.Permission{Tools: []string{"none"}, Grant: need("get")}, "fits no tool"},
		{"permission never", components.Permission{Grant: need("x"), Window: never}, "opens too late"},
		{"call_cap", components.CallCap{Max: huge, Cooldown: huge}, "more calls than turns"},
		{"call_cap never", components.CallCap{Max: 1, Window: never}, "opens too late"},
		{"submit_gate", components.SubmitGate{Require: []components.Match{need("x")}, MaxBlocks: new(0)}, "no refusals"},
		{"submit_gate is met", components.SubmitGate{Require: []components.Match{need("get")}}, "the last action before buy"},
		{"submit_gate never", components.SubmitGate{Require: []components.Match{need("x")}, Window: never}, "opens too late"},
		{"order_lock", components.OrderLock{Edges: []components.Edge{edge("get", "set"), edge("set", "buy")}}, "in order already"},
		{"order_lock never", components.OrderLock{Edges: []components.Edge{edge("x", "get")}, Window: never}, "opens too late"},
	} {
		if d := cmp.Diff(want, trajectory(t, shopWorld, stack(tt.c), calls)); d != "" {
			t.Errorf("%s is not the identity: %s (-want +got):\n%s", tt.name, tt.reason, d)
		}
	}
}

func TestRefusedParameters(t *testing.T) {
	deep := map[string]any{"x": math.NaN()}
	bad, none := []string{"["}, window{From: 2, Until: 2}
	for _, tt := range []struct {
		c    envharness.Component
		want string // in the error
	}{
		{components.Block{Max: -1}, "max -1"},
		{components.Block{Args: deep}, "NaN"},
		{components.Block{Window: none}, "until 2"},
		{components.Rename{Tools: map[string]string{"a": "x", "b": "x"}}, `tools "a" and "b" both become "x"`},
		{components.Rename{Tools: map[string]string{"a": ""}}, "empty"},
		{components.Rename{Tools: map[string]string{"": "a"}}, "empty"},
		{components.Rename{Tools: map[string]string{"a": "reset"}}, "reserved"},
		{components.Rename{Args: map[string]map[string]string{"a": {"x": "z", "y": "z"}}}, `arguments "x" and "y" both become "z"`},
		{components.Sticky{P: new(1.1)}, "p 1.1"},
		{components.Sticky{P: new(-0.1)}, "p -0.1"},
		{components.Sticky{P: new(math.NaN())}, "p NaN"},
		{components.Sticky{Duration: -1}, "duration -1"},
		{components.Sticky{Exempt: bad}, "pattern"},
		{components.Sticky{Window: none}, "until 2"},
		{components.ToolFail{Mode: "often"}, `mode "often"`},
		{components.ToolFail{P: new(0.5)}, "p 0.5 needs mode rate"},
		{components.ToolFail{Mode: "rate", Nth: 2}, "nth 2 needs mode nth"},
		{components.ToolFail{Mode: "rate", P: new(2.0)}, "p 2"},
		{components.ToolFail{Window: none}, "until 2"},
		{components.ToolDown{Tools: bad}, "pattern"},
		{components.ToolDown{Window: window{From: -1}}, "from -1"},
		{components.RateLimit{Calls: -1}, "calls -1"},
		{components.RateLimit{Per: -1}, "window -1"},
		{components.RateLimit{Tools: bad}, "pattern"},
		{components.RateLimit{Window: none}, "until 2"},
		{components.Permission{}, "grant"},
		{components.Permission{Grant: need("[")}, "pattern"},
		{components.Permission{Grant: components.Match{Tool: "a", Args: deep}}, "NaN"},
		{components.Permission{Grant: need("a"), Expires: -1}, "expires -1"},
		{components.Permission{Grant: need("a"), Tools: bad}, "pattern"},
		{components.Permission{Grant: need("a"), Window: none}, "until 2"},
		{components.StepBudget{Turns: -1}, "turns -1"},
		{components.CallCap{Max: -1}, "max -1"},
		{components.CallCap{Cooldown: -1}, "cooldown -1"},
		{components.CallCap{Tools: bad}, "pattern"},
		{components.CallCap{Window: none}, "until 2"},
		{components.SubmitGate{}, "require"},
		{components.SubmitGate{Require: []components.Match{need("a"), need("[")}}, "require 1"},
		{components.SubmitGate{Require: []components.Match{need("a")}, MaxBlocks: new(-1)}, "max_blocks -1"},
		{components.SubmitGate{Require: []components.Match{need("a")}, Submit: bad}, "pattern"},
		{components.SubmitGate{Require: []components.Match{need("a")}, Window: none}, "until 2"},
		{components.OrderLock{}, "edges"},
		{components.OrderLock{Edges: []components.Edge{edge("a", "b"), edge("", "b")}}, "edge 1: before needs a tool"},
		{components.OrderLock{Edges: []components.Edge{edge("a", "")}}, "edge 0: after needs a tool"},
		{components.OrderLock{Edges: []components.Edge{edge("a", "[")}}, "edge 0: after: tool pattern"},
		{components.OrderLock{Edges: []components.Edge{edge("a", "b")}, Window: none}, "until 2"},
		{components.OrderLock{Edges: []components.Edge{edge("a", "b"), edge("b", "a")}}, "cycle"},
	} {
		_, err := envharness.New(worldOf(&echo{}), tt.c)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want an error with %q", tt.c.Spec().Tag, tt.c.Spec().Params, err, tt.want)
		}
	}
}

// What a policy reads when it is refused.
func TestMessages(t *testing.T) {
	locks := []components.Edge{{Before: components.Match{Tool: "get", Args: map[string]any{"id": 1, "as": "me"}}, After: need("set")}}
	for _, tt := range []struct {
		c     envharness.Component
		calls string
		want  []string
	}{
		{components.RateLimit{}, "a a a a a", []string{"", "", "", "too many calls of a, retry_after 7", "too many calls of a, retry_after 6"}},
		{components.RateLimit{Calls: 1, Per: 2, Tools: []string{"b"}}, "b b", []string{"", "too many calls of b, retry_after 1"}},
		{components.ToolFail{Message: "out of order"}, "a", []string{"out of order"}},
		{components.ToolDown{}, "a", []string{"a is out of service"}},
		{components.ToolDown{Message: "gone"}, "a", []string{"gone"}},
		{components.Permission{Grant: need("login")}, "a", []string{"permission needed, first call login"}},
		{components.CallCap{Max: 1}, "a a", []string{"", "too many calls of a"}},
		{components.SubmitGate{Submit: []string{"buy"}, Require: []components.Match{need("a"), need("b"), need("c")}}, "b buy",
			[]string{"", "before buy first call a, c"}},
		{components.OrderLock{Edges: locks}, "set", []string{`before set first call get {"as":"me","id":1}`}},
		{components.OrderLock{Edges: locks, Hide: true}, "set", []string{"not available yet"}},
	} {
		var got []string
		for _, tr := range transitions(t, worldOf(&echo{}), 1, stack(tt.c), strings.Fields(tt.calls)) {
			if tr.Error == nil {
				got = append(got, "")
				continue
			}
			got = append(got, tr.Error.Message)
			if want := tr.Error.Class == envharness.ClassRateLimit || tr.Error.Class == envharness.ClassTransient; tr.Error.Retryable != want {
				t.Errorf("%s: class %s with retryable %t", tt.c.Spec().Tag, tr.Error.Class, tr.Error.Retryable)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.c.Spec().Tag, d)
		}
	}
}

func TestRenameShows(t *testing.T) {
	r := components.Rename{
		Tools: map[string]string{"get": "set", "set": "get", "buy": "purchase"},
		Args:  map[string]map[string]string{"set": {"id": "value", "value": "id"}, "get": {"id": `a"b`}},
	}
	h, first := open(t, shopWorld, 1, stack(r))
	want := []envharness.Tool{
		{Name: "set", ReadOnly: true, Schema: json.RawMessage(`{"type":"object","properties":{"a\"b":{"type":"integer"}},"required":["a\"b"]}`)},
		{Name: "get", Schema: json.RawMessage(`{"properties":{"id":{"type":"array"},"value":{"type":"integer"}},"required":["id","value"]}`)},
		{Name: "purchase", Submits: true},
	}
	if d := cmp.Diff(want, h.Tools()); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	actions := []envharness.Action{call(`set{"a\"b":1}`), call(`get{"value":1,"id":[2, "id"]}`), call("purchase")}
	if d := cmp.Diff(actions, first.Actions); d != "" {
		t.Errorf("admissible actions (-want +got):\n%s", d)
	}
}

func TestRenameCalls(t *testing.T) {
	r := components.Rename{
		Tools: map[string]string{"get": "fetch", "buy": "purchase"},
		Args:  map[string]map[string]string{"get": {"id": "key"}},
	}
	for _, tt := range []struct{ call, want, reason string }{
		{`fetch{"key":1, "x":{"key":2}}`, `get{"id":1,"x":{"key":2}}`, "names within values stay, and so do other arguments and the order"},
		{`fetch{"k\u0065y":1}`, `get{"id":1}`, "an escaped name is the same name"},
		{`fetch`, `get`, "no arguments"},
		{`fetch{"id":1}`, "bad_args", "the old argument"},
		{`fetch{"\u0069d":1}`, "bad_args", "the old argument, escaped"},
		{`fetch{"key":1}{}`, "bad_args", "something follows"},
		{`fetch{"key":`, "bad_args", "cut off"},
		{`get{"key":1}`, "unknown_tool", "the old tool"},
		{`set{"id":1}`, `set{"id":1}`, "a tool that stays"},
		{`nonsense`, "unknown_tool", "the base's own answer"},
		{`purchase{`, `buy{`, "without renamed arguments it is the base that reads them"},
	} {
		got := outcomes(transitions(t, shopWorld, 1, stack(r), []string{tt.call}))
		if d := cmp.Diff([]string{tt.want}, got); d != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.call, tt.reason, d)
		}
	}
	list := envharness.Action{Name: "fetch", Args: json.RawMessage(`["key"]`)}
	h, _ := open(t, shopWorld, 1, stack(r))
	if tr, err := h.Step(t.Context(), list); err != nil || tr.Error == nil || tr.Error.Class != envharness.ClassBadArgs {
		t.Errorf("arguments that are a list: %+v, %v", tr.Error, err)
	}
}

func TestRenameMeetsTheTools(t *testing.T) {
	for _, tt := range []struct {
		r      components.Rename
		want   string
		reason string
	}{
		{components.Rename{Tools: map[string]string{"get": "set"}}, "twice", "set is there and stays"},
		{components.Rename{Args: map[string]map[string]string{"set": {"id": "value"}}}, "two arguments", "value is there and stays"},
		{components.Rename{Args: map[string]map[string]string{"set": {"key": "id2"}}}, "rename only 0", "no such argument"},
	} {
		h, err := envharness.New(shopWorld, tt.r)
		if err == nil {
			_, err = h.Reset(t.Context(), envharness.ResetOptions{})
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", tt.reason, err, tt.want)
		}
	}
	if err := (components.Rename{Tools: map[string]string{"a": "close"}}).Check(); !errors.Is(err, envharness.ErrReservedName) {
		t.Errorf("a reserved name: %v", err)
	}
}

// Under new names an episode is the one that the old names give.
func TestRenameIsOnlyNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools, args := []string{"get", "set", "buy", "other"}, []string{"id", "value"}
		newTools := rapid.Permutation([]string{"get", "set", "buy", "t"}).Draw(t, "tools")
		newArgs := rapid.Permutation([]string{"id", "value"}).Draw(t, "args")
		r := components.Rename{Tools: map[string]string{}, Args: map[string]map[string]string{"set": {}}}
		for i := range tools {
			r.Tools[tools[i]] = newTools[i]
		}
		for i := range args {
			r.Args["set"][args[i]] = newArgs[i]
		}
		var old, renamed []string
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			tool, arg := rapid.IntRange(0, 3).Draw(t, "tool"), rapid.IntRange(0, 1).Draw(t, "arg")
			shown := args[arg]
			if tools[tool] == "set" {
				shown = newArgs[arg]
			}
			old = append(old, fmt.Sprintf(`%s{"%s":1}`, tools[tool], args[arg]))
			renamed = append(renamed, fmt.Sprintf(`%s{"%s":1}`, newTools[tool], shown))
		}
		want := outcomes(transitions(t, shopWorld, 1, nil, old))
		if d := cmp.Diff(want, outcomes(transitions(t, shopWorld, 1, stack(r), renamed))); d != "" {
			t.Fatalf("%v as %v (-old +renamed):\n%s", old, renamed, d)
		}
	})
}

func TestStickyShowsWhatItApplied(t *testing.T) {
	s := components.Sticky{P: new(1.0), Exempt: []string{"look*"}}
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for _, tt := range []struct {
		calls  string
		want   string // applied, of the last turn
		base   string
		reason string
	}{
		{`get{"id":1}`, ``, `get{"id":1}`, "nothing to repeat"},
		{`get{"id":1} set`, `{"args":{"id":1},"name":"get"}`, `get{"id":1}`, "p 1"},
		{`get set`, `{"name":"get"}`, `get`, "no arguments"},
		{`get{"id":1} get{"id":1}`, ``, `get{"id":1}`, "the same anyway"},
		{`get{"id":1} get{"id":2}`, `{"args":{"id":1},"name":"get"}`, `get{"id":1}`, "other arguments"},
		{`get{ set`, `{"args":"{","name":"get"}`, `get{`, "arguments that cannot be read"},
		{`get{"x":` + deep + `} set`, `{"args":"{\"x\":` + deep + `}","name":"get"}`, `get{"x":` + deep + `}`, "too deep for an observation"},
		{`get look`, ``, "unknown_tool", "exempt is not replaced"},
		{`look set`, ``, "set", "exempt is not repeated"},
		{`get buy`, ``, "buy", "submits: not replaced"},
	} {
		trs := transitions(t, shopWorld, 1, stack(s), strings.Fields(tt.calls))
		last := trs[len(trs)-1]
		got := ""
		if applied, ok := last.Observation.Data["applied"]; ok {
			raw, err := envharness.CanonicalJSON(applied)
			if err != nil {
				t.Fatal(err)
			}
			got = string(raw)
		}
		if base := outcomes(trs[len(trs)-1:])[0]; got != tt.want || base != tt.base {
			t.Errorf("%s: applied %s as %s, want %s as %s (%s)", tt.calls, got, base, tt.want, tt.base, tt.reason)
		}
	}
}

// The draws of sticky belong to turns: an oracle that knows them all beforehand tells what the base is asked.
func TestStickyOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, duration := rapid.SampledFrom([]float64{0.1, 0.5, 1}).Draw(t, "p"), rapid.IntRange(1, 3).Draw(t, "duration")
		w := window{From: rapid.IntRange(0, 3).Draw(t, "from")}
		w.Until = w.From + rapid.IntRange(1, 12).Draw(t, "length")
		calls := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b c keep inner fail outer")), 1, 14).Draw(t, "calls")
		seed := rapid.Uint64().Draw(t, "seed")

		draws := envharness.RandStream(seed, "c/sticky", 0)
		var want []string
		last, until := "", 0
		for turn, c := range calls {
			draw := draws.Float64()
			if c == "outer" {
				want = append(want, "permission")
				continue
			}
			sent := c
			if c != "keep" && last != "" && turn >= w.From && turn < w.Until {
				if turn >= until && draw < p {
					until = turn + duration
				}
				if turn < until {
					sent = last
				}
			}
			if sent == "inner" || sent == "fail" {
				want = append(want, map[string]string{"inner": "permission", "fail": "transient"}[sent])
				continue
			}
			want = append(want, sent)
			if c != "keep" {
				last = sent
			}
		}
		s := components.Sticky{P: &p, Duration: duration, Exempt: []string{"keep"}, Window: w}
		around := stack(
			components.Block{Tools: []string{"inner"}}, components.ToolFail{Tools: []string{"fail"}, Count: 99}, s,
			components.Block{Tools: []string{"outer"}},
		)
		if d := cmp.Diff(want, outcomes(transitions(t, worldOf(&echo{}), seed, around, calls))); d != "" {
			t.Fatalf("%v (-want +got):\n%s", calls, d)
		}
	})
}

// In mode rate each call with a draw below P begins a run of Count failures.
func TestToolFailOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, count := rapid.SampledFrom([]float64{0.2, 0.6}).Draw(t, "p"), rapid.IntRange(1, 3).Draw(t, "count")
		calls := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b outer")), 1, 14).Draw(t, "calls")
		seed := rapid.Uint64().Draw(t, "seed")

		draws := envharness.RandStream(seed, "c/tool_fail", 0)
		var want []string
		left := 0
		for _, c := range calls {
			draw := draws.Float64()
			switch {
			case c == "outer":
				want = append(want, "permission")
			case c == "b":
				want = append(want, "b")
			case left > 0:
				left--
				want = append(want, "transient")
			case draw < p:
				left = count - 1
				want = append(want, "transient")
			default:
				want = append(want, "a")
			}
		}
		fail := components.ToolFail{Tools: []string{"a", "outer"}, Mode: "rate", P: &p, Count: count}
		around := stack(fail, components.Block{Tools: []string{"outer"}})
		if d := cmp.Diff(want, outcomes(transitions(t, worldOf(&echo{}), seed, around, calls))); d != "" {
			t.Fatalf("%v (-want +got):\n%s", calls, d)
		}
	})
}

// A call is let through if fewer than Calls of those before it lie in the window that ends with its turn; retry_after is the
// least number of turns after which that would be so.
func TestRateLimitOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, per := rapid.IntRange(1, 4).Draw(t, "calls"), rapid.IntRange(1, 7).Draw(t, "window")
		calls := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b badA inner fail")), 1, 25).Draw(t, "calls made")

		var want []string
		var through []int
		free := func(turn int) bool {
			n := 0
			for _, p := range through {
				if p > turn-per {
					n++
				}
			}
			return n < limit
		}
		for turn, c := range calls {
			switch {
			case c == "b":
				want = append(want, "")
			case !free(turn):
				wait := 1
				for !free(turn + wait) {
					wait++
				}
				want = append(want, fmt.Sprintf("too many calls of %s, retry_after %d", c, wait))
			case c == "inner" || c == "fail":
				want = append(want, c)
			default:
				through = append(through, turn)
				want = append(want, strings.TrimSuffix(strings.TrimPrefix(c, "a"), "A"))
			}
		}
		var got []string
		around := stack(
			components.Block{Tools: []string{"inner"}, Reason: "inner"}, components.ToolFail{Tools: []string{"fail"}, Message: "fail", Count: 99},
			components.RateLimit{Tools: []string{"a", "badA", "inner", "fail"}, Calls: limit, Per: per},
		)
		for _, tr := range transitions(t, worldOf(&echo{}), 1, around, calls) {
			message := ""
			if tr.Error != nil {
				message = tr.Error.Message
			}
			got = append(got, message)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%v (-want +got):\n%s", calls, d)
		}
	})
}

// An action is let through if for every edge that it comes after, one that comes before was carried out.
func TestOrderLockOracle(t *testing.T) {
	letters := strings.Fields("a b c d badA")
	rapid.Check(t, func(t *rapid.T) {
		// Letters only lock later ones, so there is no cycle.
		var lock components.OrderLock
		for range rapid.IntRange(1, 6).Draw(t, "edges") {
			i := rapid.IntRange(0, 3).Draw(t, "before")
			lock.Edges = append(lock.Edges, edge(letters[i], letters[rapid.IntRange(i+1, 4).Draw(t, "after")]))
		}
		if rapid.Bool().Draw(t, "refused first") {
			lock.Edges = append(lock.Edges, edge("badA", "z"))
		}
		calls := rapid.SliceOfN(rapid.SampledFrom(append(letters, "z")), 1, 14).Draw(t, "calls")
		done := map[string]bool{}
		var want []string
		for _, c := range calls {
			locked := slices.ContainsFunc(lock.Edges, func(e components.Edge) bool { return e.After.Tool == c && !done[e.Before.Tool] })
			switch {
			case locked:
				want = append(want, "permission")
			case c == "badA":
				want = append(want, "bad_args")
			default:
				done[c] = true
				want = append(want, c)
			}
		}
		if d := cmp.Diff(want, outcomes(transitions(t, worldOf(&echo{}), 1, stack(lock), calls))); d != "" {
			t.Fatalf("%v (-want +got):\n%s", calls, d)
		}
	})
}

// Between single tools a cycle is a path that comes back.
func TestOrderLockCycles(t *testing.T) {
	letters := strings.Fields("a b c d")
	rapid.Check(t, func(t *rapid.T) {
		var lock components.OrderLock
		var path [4][4]bool
		for range rapid.IntRange(1, 6).Draw(t, "edges") {
			i, j := rapid.IntRange(0, 3).Draw(t, "before"), rapid.IntRange(0, 3).Draw(t, "after")
			lock.Edges = append(lock.Edges, edge(letters[i], letters[j]))
			path[i][j] = true
		}
		for k := range path {
			for i := range path {
				for j := range path {
					path[i][j] = path[i][j] || path[i][k] && path[k][j]
				}
			}
		}
		cyclic := path[0][0] || path[1][1] || path[2][2] || path[3][3]
		if err := lock.Check(); (err != nil) != cyclic {
			t.Fatalf("%v: %v, cyclic is %t", lock.Edges, err, cyclic)
		}
	})
}

func TestOrderLockCyclesOfPatterns(t *testing.T) {
	with := func(tool string, args map[string]any) components.Match {
		return components.Match{Tool: tool, Args: args}
	}
	one, two := map[string]any{"id": 1}, map[string]any{"id": 2}
	for _, tt := range []struct {
		edges  []components.Edge
		cyclic bool
		reason string
	}{
		{[]components.Edge{edge("get_*", "get_*")}, true, "waits for itself"},
		{[]components.Edge{edge("get_a", "*")}, true, "all wait for what waits too"},
		{[]components.Edge{edge("*", "get_a")}, false, "any other call opens it"},
		{[]components.Edge{edge("get_a", "b"), edge("b", "get_*")}, true, "get_a is among those that wait"},
		{[]components.Edge{edge("get_*", "b"), edge("b", "get_a")}, false, "get_c opens b"},
		{[]components.Edge{edge(`get_\*`, "b"), edge("b", "get_*")}, false, "of two patterns it cannot tell"},
		{[]components.Edge{{Before: with("get", one), After: with("get", two)}}, false, "another call"},
		{[]components.Edge{{Before: with("get", one), After: with("get", one)}}, true, "the same call"},
		{[]components.Edge{{Before: with("get", one), After: with("get", nil)}}, true, "get of 1 is a get"},
		{[]components.Edge{{Before: with("get", nil), After: with("get", one)}}, false, "get of 2 opens it"},
	} {
		if err := (components.OrderLock{Edges: tt.edges}).Check(); (err != nil) != tt.cyclic {
			t.Errorf("%v: %v, want cyclic %t (%s)", tt.edges, err, tt.cyclic, tt.reason)
		}
	}
}

func drawCap(t *rapid.T) components.CallCap {
	c := components.CallCap{Max: rapid.IntRange(1, 3).Draw(t, "max"), Cooldown: rapid.IntRange(0, 3).Draw(t, "cooldown")}
	c.Tools = rapid.SampledFrom([][]string{nil, {"a"}, {"b"}, {"a", "b"}}).Draw(t, "tools")
	c.From = rapid.IntRange(0, 4).Draw(t, "from")
	return c
}

// Caps commute with one another and with a limit on turns.
func TestBudgetsCommute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second, turns := drawCap(t), drawCap(t), components.StepBudget{Turns: rapid.IntRange(1, 12).Draw(t, "turns")}
		calls := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b c")), 1, 14).Draw(t, "calls")
		want := trajectory(t, worldOf(&echo{}), stack(first, second, turns), calls)
		for _, other := range [][]envharness.Component{stack(second, first, turns), stack(turns, first, second), stack(second, turns, first)} {
			if d := cmp.Diff(want, trajectory(t, worldOf(&echo{}), other, calls)); d != "" {
				t.Fatalf("%v (-want +got):\n%s", calls, d)
			}
		}
	})
}

// A cap lets through at most Max calls, or at most Max in a row without a pause of Cooldown turns.
func TestCallCapOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCap(t)
		c.Window = window{}
		c.Tools = []string{"a"}
		calls := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b")), 1, 25).Draw(t, "calls")
		var want []string
		left, pause := c.Max, 0 // pause: turns still to wait
		for _, call := range calls {
			switch {
			case call == "b":
				want = append(want, "b")
			case left == 0:
				want = append(want, "permission")
			default:
				left--
				want = append(want, "a")
				if left == 0 && c.Cooldown > 0 {
					pause = c.Cooldown + 1
				}
			}
			if pause > 0 {
				if pause--; pause == 0 {
					left = c.Max
				}
			}
		}
		if d := cmp.Diff(want, outcomes(transitions(t, worldOf(&echo{}), 1, stack(c), calls))); d != "" {
			t.Fatalf("%+v %v (-want +got):\n%s", c, calls, d)
		}
	})
}

// Blocks that fit no call in common commute.
func TestDisjointBlocksCommute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := components.Block{Tools: []string{"a*"}, Reason: "no a", Max: rapid.IntRange(0, 2).Draw(t, "max")}
		b := components.Block{Tools: []string{"b", "c"}, Args: map[string]any{"id": 1}}
		b.From = rapid.IntRange(0, 3).Draw(t, "from")
		calls := rapid.SliceOfN(rapid.SampledFrom(strings.Fields(`a ab b b{"id":1} c{"id":1} c{"id":2} d`)), 1, 12).Draw(t, "calls")
		want := trajectory(t, worldOf(&echo{}), stack(a, b), calls)
		if d := cmp.Diff(want, trajectory(t, worldOf(&echo{}), stack(b, a), calls)); d != "" {
			t.Fatalf("%v (-want +got):\n%s", calls, d)
		}
	})
}

// Declared tools decide what submits and what writes.
func TestSubmitGateReadsDeclarations(t *testing.T) {
	gate := components.SubmitGate{Require: []components.Match{{Tool: "get", Args: map[string]any{"id": 1}}}, MaxBlocks: new(1)}
	for _, tt := range []struct{ calls, want, reason string }{
		{`get{"id":1} get{"id":2} buy`, `get{"id":1} get{"id":2} buy`, "get is read only, so another one writes nothing"},
		{`get{"id":1} set buy get{"id":1} buy`, `get{"id":1} set permission get{"id":1} buy`, "set writes"},
		{`get{"id":2} buy buy`, `get{"id":2} permission buy`, "the required one is missing, once"},
	} {
		got := strings.Join(outcomes(transitions(t, shopWorld, 1, stack(gate), strings.Fields(tt.calls))), " ")
		if got != tt.want {
			t.Errorf("%s: %s, want %s (%s)", tt.calls, got, tt.want, tt.reason)
		}
	}
}

// Nothing that a component remembers comes into the next episode, of the same harness or of another that shares the component.
func TestNothingSurvives(t *testing.T) {
	calls := strings.Fields("a b login a c a b a a")
	all := stack(
		components.Sticky{P: new(0.5)}, components.ToolFail{Mode: "rate", P: new(0.5)}, components.RateLimit{Calls: 2, Per: 4},
		components.Permission{Tools: []string{"a"}, Grant: need("login"), Expires: 3},
		components.OrderLock{Edges: []components.Edge{edge("a", "b")}},
		components.SubmitGate{Submit: []string{"c"}, Require: []components.Match{need("a")}, MaxBlocks: new(1)}, components.Block{Max: 1},
		components.CallCap{Max: 4, Cooldown: 1},
	)
	h, err := envharness.New(worldOf(&echo{}), all...)
	if err != nil {
		t.Fatal(err)
	}
	want := trajectory(t, worldOf(&echo{}), all, calls)
	for range 2 {
		first, err := h.Reset(t.Context(), envharness.ResetOptions{Seed: new(uint64(7))})
		if err != nil {
			t.Fatal(err)
		}
		trs := []envharness.Transition{}
		for _, c := range calls {
			tr, err := h.Step(t.Context(), call(c))
			if err != nil {
				t.Fatal(err)
			}
			trs = append(trs, tr)
		}
		raw, err := json.Marshal([]any{h.Tools(), first, trs})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(raw, []byte(want)) {
			t.Errorf("(-want +got):\n%s", cmp.Diff(want, string(raw)))
		}
	}
}

// The params are the component: built from them it is the same, with the defaults filled in.
func TestParamsRoundTrip(t *testing.T) {
	args, w := map[string]any{"id": 1.0, "tags": []any{"x", nil}}, window{From: 1, Until: 9}
	full := components.Match{Tool: "get_*", Args: args}
	for _, c := range []envharness.Component{
		components.Block{Tools: []string{"a"}, Args: args, Reason: "no", Max: 2, Window: w},
		components.Rename{Tools: map[string]string{"a": "b"}, Args: map[string]map[string]string{"a": {"x": "y"}}},
		components.Sticky{P: new(0.0), Duration: 3, Exempt: []string{"a"}, Window: w},
		components.ToolFail{Tools: []string{"a"}, Nth: 2, Count: 3, Message: "no", Window: w},
		components.ToolFail{Mode: "rate", P: new(0.0), Count: 3},
		components.ToolDown{Tools: []string{"a"}, Message: "no", Window: w},
		components.RateLimit{Tools: []string{"a"}, Calls: 4, Per: 5, Window: w},
		components.Permission{Tools: []string{"a"}, Grant: full, Expires: 2, Window: w},
		components.StepBudget{Turns: 4},
		components.CallCap{Tools: []string{"a"}, Max: 2, Cooldown: 3, Window: w},
		components.SubmitGate{Submit: []string{"a"}, Require: []components.Match{full}, MaxBlocks: new(0), Window: w},
		components.OrderLock{Edges: []components.Edge{{Before: full, After: need("b")}}, Hide: true, Window: w},
	} {
		spec := c.Spec()
		k, ok := components.Catalogue().Kind(spec.Tag)
		if !ok {
			t.Errorf("%s is not in the catalogue", spec.Tag)
			continue
		}
		back, err := k.New(spec.Params)
		if d := cmp.Diff(c, back); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", spec.Params, err, d)
		}
	}
}

func TestDefaults(t *testing.T) {
	require := []components.Match{need("a")}
	for _, tt := range []struct {
		c            envharness.Component
		want, reason string
	}{
		{components.Block{}, `{"reason":"not available"}`, "3.6 K03; max 0 is always"},
		{components.Rename{}, `{}`, "3.6 K04"},
		{components.Sticky{}, `{"p":0.1,"duration":1}`, "3.6 K05"},
		{components.ToolFail{}, `{"nth":1,"count":1}`, "3.6 K06"},
		{components.ToolFail{Mode: "nth"}, `{"nth":1,"count":1}`, "the default has one form"},
		{components.ToolFail{Mode: "rate"}, `{"mode":"rate","p":0.2,"count":1}`, "3.6 K06"},
		{components.ToolDown{}, `{}`, "3.6 K07"},
		{components.RateLimit{}, `{"calls":3,"window":10}`, "3.6 K09"},
		{components.CallCap{}, `{"max":5}`, "3.6 K18; cooldown 0"},
		{components.Permission{Grant: need("a")}, `{"grant":{"tool":"a"}}`, "3.6 K10; expires 0 is never"},
		{components.SubmitGate{Require: require}, `{"require":[{"tool":"a"}],"max_blocks":2}`, "3.6 K19"},
	} {
		if got := string(tt.c.Spec().Params); got != tt.want {
			t.Errorf("%s: %s, want %s (%s)", tt.c.Spec().Tag, got, tt.want, tt.reason)
		}
	}
}

// A call that a component has nothing to do with costs no decoding of its arguments.
func BenchmarkAction(b *testing.B) {
	args := map[string]any{"id": 1}
	for _, c := range []envharness.Component{
		components.Block{Tools: []string{"x"}, Args: args},
		components.Rename{Tools: map[string]string{"x": "y"}},
		components.Sticky{P: new(1e-9)},
		components.ToolFail{Tools: []string{"x"}},
		components.ToolFail{Tools: []string{"x"}, Mode: "rate"},
		components.RateLimit{Tools: []string{"x"}},
		components.Permission{Tools: []string{"x"}, Grant: components.Match{Tool: "x", Args: args}},
		components.CallCap{Tools: []string{"x"}},
		components.SubmitGate{Submit: []string{"x"}, Require: []components.Match{{Tool: "x", Args: args}}},
		components.OrderLock{Edges: []components.Edge{edge("x", "y")}},
	} {
		b.Run(c.Spec().Tag, func(b *testing.B) {
			hooks, err := c.Begin(b.Context(), envharness.EpisodeInfo{Rand: envharness.RandStream(1, "c/x", 0)})
			if err != nil {
				b.Fatal(err)
			}
			a := call(`get{"id":1}`)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := hooks.Action(b.Context(), envharness.View{}, a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package envharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

func TestNewRefuses(t *testing.T) {
	hooks := eh.Hooks{}
	a, b := ruleID("a", eh.AxisAction, hooks), ruleID("b", eh.AxisBudget, hooks)
	w := worldOf(&toy{})
	tests := []struct {
		name   string
		world  eh.World
		stack  []eh.Component
		is     error
		says   string
		reason string
	}{
		{"setup around rules", w, []eh.Component{blockOp("mul"), eh.Setup{Actions: []eh.Action{stop}}}, eh.ErrOrder, `"start_replay" (axis S0) must not be around "rule" (axis A)`, "7.1 case 9"},
		{"rules around budget", w, []eh.Component{b, a}, eh.ErrOrder, `"a" (axis A) must not be around "b" (axis B)`, "class order"},
		{"same id", w, []eh.Component{a, a}, nil, `same id "a"`, "ids are unique"},
		{"nil component", w, []eh.Component{nil}, nil, "component 0 is nil", "nothing to call"},
		{"no tag", w, []eh.Component{eh.Rules(eh.ComponentSpec{Axis: "A"}, nil)}, nil, "no tag", "cannot be recorded"},
		{"reward axis", w, []eh.Component{ruleID("r", "R", hooks)}, nil, `unknown axis "R"`, "there is no reward axis"},
		{"no begin", w, []eh.Component{eh.Rules(eh.ComponentSpec{Tag: "x", Axis: "A"}, nil)}, nil, "begin function", "found before the first episode"},
		{"setup with bad JSON", w, []eh.Component{eh.Setup{Actions: []eh.Action{eh.Action{Name: "x", Args: json.RawMessage("{")}}}}, nil, "action 0 (x)", "found before the first episode"},
		{"no verifier", eh.World{New: w.New}, nil, nil, "Verifier", "nothing could be judged"},
		{"no maker", eh.World{Verifier: toyVerifier}, nil, nil, "New", "nothing could be opened"},
	}
	for _, tt := range tests {
		_, err := eh.New(tt.world, tt.stack...)
		if err == nil || !strings.Contains(err.Error(), tt.says) || (tt.is != nil && !errors.Is(err, tt.is)) {
			t.Errorf("%s: error %v, want %v saying %q (%s)", tt.name, err, tt.is, tt.says, tt.reason)
		}
	}
}

func TestComponentIDs(t *testing.T) {
	anon := eh.Rules(eh.ComponentSpec{Tag: "x", Axis: eh.AxisAction}, func(context.Context, eh.EpisodeInfo) (eh.Hooks, error) { return eh.Hooks{}, nil })
	traces, err := eh.Rollouts(t.Context(), worldOf(&toy{start: []int{1}}), []eh.Component{anon, anon, anon},
		func(int) (eh.Policy, error) { return script(), nil }, []eh.Task{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range traces[0].Components {
		ids = append(ids, c.ID)
	}
	if d := cmp.Diff([]string{"x", "x#2", "x#3"}, ids); d != "" {
		t.Error(d)
	}
}

// Rules E08, E09 and 7.1 cases 6, 7: calls in the wrong phase are refused and change nothing.
func TestPhases(t *testing.T) {
	env := &toy{start: []int{4, 6}}
	h := mustNew(t, worldOf(env))
	ctx := t.Context()
	if _, err := h.Step(ctx, stop); !errors.Is(err, eh.ErrNeedReset) {
		t.Errorf("step before reset: %v", err)
	}
	if _, err := h.Verdict(ctx); !errors.Is(err, eh.ErrNeedReset) {
		t.Errorf("verdict before reset: %v", err)
	}
	mustReset(t, h)
	mustStep(t, h, stop)
	before, steps := mustEvidence(t, h), env.calls.step
	for _, a := range []eh.Action{stop, combine(0, 1, "mul"), {Name: "nonsense"}} {
		if tr, err := h.Step(ctx, a); !errors.Is(err, eh.ErrEpisodeOver) || !reflect.ValueOf(tr).IsZero() {
			t.Errorf("%s after the end: %v %v", a.Name, tr, err)
		}
	}
	if d := cmp.Diff(before, mustEvidence(t, h)); d != "" || env.calls.step != steps {
		t.Errorf("a step after the end changed something: %s", d)
	}
	for range 2 {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if env.calls.close != 1 {
		t.Errorf("base closed %d times", env.calls.close)
	}
	_, errReset := h.Reset(ctx, eh.ResetOptions{})
	_, errStep := h.Step(ctx, stop)
	_, errVerdict := h.Verdict(ctx)
	for _, err := range []error{errReset, errStep, errVerdict} {
		if !errors.Is(err, eh.ErrClosed) {
			t.Errorf("after close: %v", err)
		}
	}
	unused := mustNew(t, worldOf(&toy{}))
	if err := unused.Close(); err != nil {
		t.Errorf("close before reset: %v", err)
	}
}

func TestBusyAndCloseDuringStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		env := &toy{start: []int{4, 6}}
		env.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) { <-release; return nil, eh.ErrClosed }
		env.onClose = func() error { close(release); return nil }
		h := mustNew(t, worldOf(env))
		mustReset(t, h)
		var stepErr error
		go func() { _, stepErr = h.Step(t.Context(), stop) }()
		synctest.Wait()
		if _, err := h.Step(t.Context(), stop); !errors.Is(err, eh.ErrBusy) {
			t.Errorf("second step: %v", err)
		}
		if _, err := h.Evidence(t.Context()); !errors.Is(err, eh.ErrBusy) {
			t.Errorf("evidence: %v", err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !errors.Is(stepErr, eh.ErrClosed) {
			t.Errorf("interrupted step: %v", stepErr)
		}
	})
}

func TestCloseWhileOpening(t *testing.T) {
	env := &toy{}
	var h *eh.Harness
	w := worldOf(env)
	w.New = func(context.Context) (eh.Environment, error) { return env, h.Close() }
	h = mustNew(t, w)
	if _, err := h.Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, eh.ErrClosed) || env.calls.close != 1 {
		t.Errorf("got %v, base closed %d times", err, env.calls.close)
	}
}

// Rule C01: a stack that does nothing gives the trajectory of the bare environment.
func TestIdentity(t *testing.T) {
	nilHooks := rule(eh.AxisObservation, eh.Hooks{})
	passing := ruleID("pass", eh.AxisObservation, eh.Hooks{
		Tools:  func(_ context.Context, ts []eh.Tool) ([]eh.Tool, error) { return ts, nil },
		Action: func(_ context.Context, _ eh.View, a eh.Action) (eh.ActionEdit, error) { return eh.PassAction(), nil },
		Transition: func(context.Context, eh.View, eh.Transition) (eh.TransitionEdit, error) {
			return eh.TransitionEdit{}, nil
		},
		Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) { return o, nil },
	})
	actions := []eh.Action{{Name: "huh", Args: json.RawMessage(`{bad`)}, combine(0, 0, "mul"), combine(0, 1, "mul"), stop}
	play := func(env eh.Environment) []byte {
		var all []any
		all = append(all, mustReset(t, env))
		for _, a := range actions {
			all = append(all, mustStep(t, env, a))
		}
		b, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := string(play(&toy{start: []int{2, 3, 4}}))
	for _, stack := range [][]eh.Component{nil, {nilHooks}, {eh.Setup{}}, {passing}, {eh.Setup{}, nilHooks, passing}} {
		for _, base := range []eh.Environment{&toy{start: []int{2, 3, 4}}, bare{&toy{start: []int{2, 3, 4}}}} {
			if d := cmp.Diff(want, string(play(mustNew(t, worldOf(base), stack...)))); d != "" {
				t.Errorf("%d components: %s", len(stack), d)
			}
		}
	}
}

// Worked example 1.
func TestSetupAndBlock(t *testing.T) {
	env := &toy{start: []int{3, 3, 7, 7}}
	h := mustNew(t, worldOf(env), eh.Setup{Actions: []eh.Action{combine(1, 2, "mul")}}, blockOp("mul"))
	obs := mustReset(t, h)
	if obs.Text != "numbers 3 7 21" {
		t.Errorf("start %q", obs.Text)
	}
	steps := env.calls.step
	tr := mustStep(t, h, combine(0, 1, "mul"))
	want := eh.Transition{
		Observation: eh.Observation{Text: "[blocked] no mul\n\nnumbers 3 7 21",
			Data: map[string]any{"blocked": true, "blocked_reason": "no mul", "numbers": []any{3.0, 7.0, 21.0}}},
		Error: &eh.ActionError{Class: eh.ClassPermission, Message: "no mul"},
	}
	if d := cmp.Diff(want, tr); d != "" {
		t.Errorf("blocked turn (-want +got):\n%s", d)
	}
	var kinds []eh.LogKind
	for _, e := range mustEvidence(t, h).Log {
		kinds = append(kinds, e.Kind)
	}
	if d := cmp.Diff([]eh.LogKind{eh.LogReset, eh.LogReplay, eh.LogRewind}, kinds); d != "" || env.calls.step != steps {
		t.Errorf("base log: %s", d)
	}
}

// Rule C14 and 7.1 cases 2, 3: a start that is illegal is refused.
func TestSetupIllegal(t *testing.T) {
	win := []eh.Action{combine(0, 1, "mul"), stop}
	tests := []struct {
		name    string
		env     eh.Environment
		actions []eh.Action
		says    string
		reason  string
	}{
		{"winning sequence", &toy{start: []int{4, 6}}, win, "action 1 (stop): it ended the episode", "case 2: solved and ended at the start"},
		{"unknown tool", &toy{start: []int{4, 6}}, []eh.Action{combine(0, 1, "add"), {Name: "look"}}, "action 1 (look): refused: unknown_tool", "case 3: accepted silently"},
		{"bad arguments", &toy{start: []int{4, 6}}, []eh.Action{combine(0, 9, "add")}, "action 0 (combine", "error observations were ignored"},
		{"limit reached", &toy{start: []int{1, 2, 3}, limit: 1}, []eh.Action{combine(0, 1, "add")}, "it ended", "an end by truncation is an end"},
		{"environment fails", &toy{start: []int{4, 6}, onStep: func(context.Context, *toy, eh.Action) (*eh.Transition, error) { return nil, errBoom }},
			win, "boom", "infrastructure"},
		{"environment panics", &toy{start: []int{4, 6}, onStep: func(context.Context, *toy, eh.Action) (*eh.Transition, error) { panic("ouch") }},
			win, "panic: ouch", "infrastructure"},
		{"solved without an end", &toy{start: []int{4, 6}, onStep: func(_ context.Context, t *toy, a eh.Action) (*eh.Transition, error) {
			t.numbers, t.stopped = []int{24}, true
			return &eh.Transition{Observation: t.observation()}, nil
		}}, win[:1], "verdict on the start is pass", "the policy would have nothing to do"},
		{"no admissible action", &toy{start: []int{4, 6}, onStep: func(_ context.Context, t *toy, a eh.Action) (*eh.Transition, error) {
			return &eh.Transition{Observation: eh.Observation{Actions: []eh.Action{}}}, nil
		}}, win[:1], "no admissible action", "a dead end"},
		{"counter that cannot be rewound", describedOnly{&toy{start: []int{4, 6, 1}, limit: 9}}, win[:1], "cannot rewind", "the replay would eat the budget"},
	}
	for _, tt := range tests {
		h := mustNew(t, worldOf(tt.env), eh.Setup{Actions: tt.actions})
		_, err := h.Reset(t.Context(), eh.ResetOptions{})
		if !errors.Is(err, eh.ErrStart) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want ErrStart saying %q (%s)", tt.name, err, tt.says, tt.reason)
		}
		if _, err := h.Step(t.Context(), stop); !errors.Is(err, eh.ErrNeedReset) {
			t.Errorf("%s: step after the failed reset: %v", tt.name, err)
		}
	}
	w := worldOf(&toy{start: []int{4, 6, 1}})
	w.Verifier = eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{}, errBoom })
	if _, err := mustNew(t, w, eh.Setup{Actions: []eh.Action{win[0]}}).Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, eh.ErrStart) {
		t.Errorf("verifier fails at the start: %v", err)
	}
}

type describedOnly struct{ *toy }

func (describedOnly) RewindCounters() {} // hides the promoted method

func TestSetupRewindsAndRepeats(t *testing.T) {
	env := &toy{start: []int{3, 3, 7, 7}, limit: 2}
	h := mustNew(t, worldOf(env), eh.Setup{Actions: []eh.Action{combine(1, 2, "mul")}}, ruleID("x", eh.AxisAction, eh.Hooks{}))
	for range 2 { // SREGym#69: once per reset
		if obs := mustReset(t, h); obs.Text != "numbers 3 7 21" {
			t.Fatalf("start %q", obs.Text)
		}
		if tr := mustStep(t, h, combine(0, 1, "add")); tr.Ended() {
			t.Error("the replayed action counted against the limit")
		}
		if tr := mustStep(t, h, combine(0, 1, "add")); !tr.Truncated || tr.Reason != "limit" {
			t.Errorf("second turn: %+v", tr)
		}
	}
	env = &toy{start: []int{4, 6}}
	mustReset(t, mustNew(t, worldOf(env), eh.Setup{}))
	if env.calls.rewind != 0 {
		t.Error("an empty setup rewound the counters")
	}
}

// Worked example 15 and 7.1 case 10; limits of several layers (Gymnasium#291: the smaller wins and says who it is).
func TestTurnLimits(t *testing.T) {
	budget := func(id string, n int) eh.Component { return ruleID(id, eh.AxisBudget, eh.Hooks{MaxTurns: n}) }
	tests := []struct {
		name   string
		own    int
		stack  []eh.Component
		turns  int
		end    eh.EndReason
		reason string
	}{
		{"blocked turns count", 0, []eh.Component{blockOp("add"), budget("step_budget", 3)}, 3, "budget:step_budget", "example 15"},
		{"inner budget below a blocking one", 0, []eh.Component{budget("b", 2), ruleID("cap", eh.AxisBudget, eh.Hooks{
			Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) { return eh.BlockAction("full"), nil }})}, 2, "budget:b", "every budget is charged"},
		{"smaller outer", 0, []eh.Component{blockOp("add"), budget("in", 4), budget("out", 2)}, 2, "budget:out", "smaller wins"},
		{"equal", 0, []eh.Component{blockOp("add"), budget("in", 2), budget("out", 2)}, 2, "budget:in", "innermost wins"},
		{"own limit, base never stepped", 3, []eh.Component{blockOp("add")}, 3, eh.EndMaxTurns, "case 10: the base counts nothing"},
	}
	for _, tt := range tests {
		env := &toy{start: []int{1, 1}, limit: tt.own}
		h := mustNew(t, worldOf(env), tt.stack...)
		mustReset(t, h)
		for turn := 1; ; turn++ {
			tr := mustStep(t, h, combine(0, 1, "add"))
			if turn < tt.turns && tr.Ended() || turn > tt.turns {
				t.Fatalf("%s: turn %d: %+v", tt.name, turn, tr)
			}
			if tr.Ended() {
				if tr.Terminated || tr.Reason != string(tt.end) {
					t.Errorf("%s: %+v (%s)", tt.name, tr, tt.reason)
				}
				break
			}
		}
		if _, err := h.Step(t.Context(), stop); !errors.Is(err, eh.ErrEpisodeOver) {
			t.Errorf("%s: step after the end: %v", tt.name, err)
		}
		e := mustEvidence(t, h)
		if env.calls.step != 0 || len(e.Log) != 1 || e.EndReason != tt.end {
			t.Errorf("%s: %d base steps, end %s", tt.name, env.calls.step, e.EndReason)
		}
		if v := mustVerdict(t, h); v.Status != eh.Fail {
			t.Errorf("%s: %v", tt.name, v)
		}
	}
}

// The order of hooks of spec 3.1, seen through a trail of marks.
func TestHookOrder(t *testing.T) {
	var trail []string
	mark := func(id string, axis eh.Axis, edit func(eh.Action) eh.ActionEdit) eh.Component {
		return ruleID(id, axis, eh.Hooks{
			Tools: func(_ context.Context, ts []eh.Tool) ([]eh.Tool, error) {
				trail = append(trail, "tools "+id)
				return append(ts, eh.Tool{Name: "t" + id}), nil
			},
			Action: func(_ context.Context, _ eh.View, a eh.Action) (eh.ActionEdit, error) {
				trail = append(trail, "action "+id)
				return edit(a), nil
			},
			Result: func(_ context.Context, _ eh.View, refusal *eh.ActionError) error {
				trail = append(trail, "result "+id)
				if refusal != nil {
					trail = append(trail, string(refusal.Class))
					refusal.Class = "spoilt" // a copy
				}
				return nil
			},
			Transition: func(_ context.Context, _ eh.View, tr eh.Transition) (eh.TransitionEdit, error) {
				trail = append(trail, "transition "+id)
				o := tr.Observation
				o.Text += " T" + id
				return eh.TransitionEdit{Observation: &o}, nil
			},
			Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) {
				trail = append(trail, "observe "+id)
				o.Text += " O" + id
				return o, nil
			},
		})
	}
	pass := func(eh.Action) eh.ActionEdit { return eh.PassAction() }
	tests := []struct {
		name   string
		middle func(eh.Action) eh.ActionEdit
		trail  string
		text   string
	}{
		{"pass", pass, "action 3,action 2,action 1,result 1,transition 1,observe 1,result 2,transition 2,observe 2,result 3,transition 3,observe 3",
			"numbers 10 T1 O1 T2 O2 T3 O3"},
		{"replace", func(eh.Action) eh.ActionEdit { return eh.ReplaceAction(combine(0, 1, "mul")) },
			"action 3,action 2,action 1,result 1,transition 1,observe 1,result 2,transition 2,observe 2,result 3,transition 3,observe 3", "numbers 24 T1 O1 T2 O2 T3 O3"},
		{"block", func(eh.Action) eh.ActionEdit { return eh.BlockAction("no") }, "action 3,action 2,observe 1,observe 2,result 3,permission,transition 3,observe 3",
			"[blocked] no\n\nnumbers 4 6 O1 O2 T3 O3"},
		{"answer", func(eh.Action) eh.ActionEdit {
			return eh.AnswerAction("later", &eh.ActionError{Class: eh.ClassRateLimit})
		},
			"action 3,action 2,observe 1,observe 2,result 3,rate_limit,transition 3,observe 3", "later T3 O3"},
		{"end", func(eh.Action) eh.ActionEdit { return eh.EndEpisode("enough") }, "action 3,action 2", "numbers 4 6"},
	}
	for _, tt := range tests {
		h := mustNew(t, worldOf(bare{&toy{start: []int{4, 6}}}), mark("1", eh.AxisAction, pass), mark("2", eh.AxisTransition, tt.middle), mark("3", eh.AxisBudget, pass))
		trail = nil
		if obs := mustReset(t, h); obs.Text != "numbers 4 6 O1 O2 O3" {
			t.Errorf("%s: first observation %q", tt.name, obs.Text)
		}
		if d := cmp.Diff("tools 1,tools 2,tools 3,observe 1,observe 2,observe 3", strings.Join(trail, ",")); d != "" {
			t.Errorf("%s: reset: %s", tt.name, d)
		}
		if ts := h.Tools(); len(ts) != 3 || ts[2].Name != "t3" {
			t.Errorf("%s: tools %v", tt.name, ts)
		}
		trail = nil
		tr := mustStep(t, h, combine(0, 1, "add"))
		if d := cmp.Diff(tt.trail, strings.Join(trail, ",")); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
		if tr.Observation.Text != tt.text {
			t.Errorf("%s: shown %q, want %q", tt.name, tr.Observation.Text, tt.text)
		}
		if tt.name == "end" && (!tr.Truncated || tr.Reason != "budget:2:enough") {
			t.Errorf("end: %+v", tr)
		}
		if tt.name == "answer" && (tr.Error == nil || tr.Error.Class != eh.ClassRateLimit || tr.Observation.Data["numbers"] == nil) {
			t.Errorf("answer: %+v", tr)
		}
	}
}

// A synthetic answer may be a success, and a refusal may be reworded but neither made nor taken away.
func TestErrorEdits(t *testing.T) {
	answer := func(err *eh.ActionError) eh.Component {
		return ruleID("answer", eh.AxisAction, eh.Hooks{Action: func(_ context.Context, _ eh.View, a eh.Action) (eh.ActionEdit, error) {
			if a.Name == "ask" {
				e := eh.AnswerAction("answered", err)
				if err != nil {
					err.Message = "changed later"
				}
				return e, nil
			}
			return eh.PassAction(), nil
		}})
	}
	truncate := ""
	reword := ruleID("reword", eh.AxisTransition, eh.Hooks{Transition: func(_ context.Context, _ eh.View, tr eh.Transition) (eh.TransitionEdit, error) {
		return eh.TransitionEdit{Error: &eh.ActionError{Class: eh.ClassOther, Message: "reworded"}, Truncate: truncate}, nil
	}})
	reworded := &eh.ActionError{Class: eh.ClassOther, Message: "reworded"}
	bad := &eh.ActionError{Class: eh.ClassBadArgs, Message: "bad combine"}
	ask := eh.Action{Name: "ask"}
	tests := []struct {
		name     string
		stack    []eh.Component
		action   eh.Action
		truncate string
		want     *eh.ActionError
		says     string
		reason   string
	}{
		{"answer", []eh.Component{answer(nil)}, ask, "", nil, "", "counts as carried out"},
		{"refusing answer", []eh.Component{answer(&eh.ActionError{Message: "no"})}, ask, "", &eh.ActionError{Message: "no"}, "", "copied when it was given"},
		{"reword", []eh.Component{reword}, combine(0, 9, "mul"), "", reworded, "", "the base's refusal"},
		{"reword an answer", []eh.Component{answer(&eh.ActionError{Message: "no"}), reword}, ask, "", reworded, "", "an inner component's refusal"},
		{"reword nothing", []eh.Component{reword}, combine(0, 1, "mul"), "", nil, `component_error: reword: transition: refusal "reworded"`, "a success stays one"},
		{"reword a success", []eh.Component{answer(nil), reword}, ask, "", nil, "component_error: reword", "a success stays one"},
		{"truncate", []eh.Component{reword}, combine(0, 9, "mul"), "tired", bad, "", "the end takes the edits back"},
		{"end by a limit", []eh.Component{reword, ruleID("b", eh.AxisBudget, eh.Hooks{MaxTurns: 1})}, combine(0, 9, "mul"), "", bad, "", "the end takes the edits back"},
	}
	for _, tt := range tests {
		truncate = tt.truncate
		h := mustNew(t, worldOf(&toy{start: []int{4, 6}}), tt.stack...)
		mustReset(t, h)
		tr, err := h.Step(t.Context(), tt.action)
		if tt.says != "" {
			if err == nil || !strings.Contains(err.Error(), tt.says) || mustVerdict(t, h).Status != eh.Invalid {
				t.Errorf("%s: %v (%s)", tt.name, err, tt.reason)
			}
			continue
		}
		if d := cmp.Diff(tt.want, tr.Error); d != "" || err != nil {
			t.Errorf("%s: %v (%s) %s", tt.name, err, tt.reason, d)
		}
		for _, e := range mustEvidence(t, h).Log {
			if e.Transition.Error != nil && *e.Transition.Error != *bad {
				t.Errorf("%s: logged %v", tt.name, e.Transition.Error)
			}
		}
	}
	truncate = ""
	traces, err := eh.Rollouts(t.Context(), worldOf(&toy{start: []int{4, 6}}), []eh.Component{reword},
		func(int) (eh.Policy, error) { return script(combine(0, 9, "mul")), nil }, []eh.Task{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]eh.Layer{{Component: "reword", ErrorIn: bad, ErrorOut: reworded}}, traces[0].Turns[0].Layers); d != "" {
		t.Errorf("trace: %s", d)
	}
}

type wrapper struct{ eh.Environment }

func (w wrapper) Unwrap() eh.Environment { return w.Environment }

func TestNestedHarness(t *testing.T) {
	env := &toy{start: []int{4, 6}}
	inner := mustNew(t, worldOf(env))
	mustReset(t, inner)
	for name, base := range map[string]eh.Environment{"is": inner, "wraps": wrapper{wrapper{inner}}} {
		h := mustNew(t, worldOf(base))
		if _, err := h.Reset(t.Context(), eh.ResetOptions{}); err == nil || !strings.Contains(err.Error(), "is or wraps a Harness") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if env.calls.close != 1 {
		t.Errorf("what World.New opened was closed %d times", env.calls.close)
	}
}

// Rule C09: a blocked turn shows the present observation anew.
func TestBlockRefreshes(t *testing.T) {
	env := &observed{toy: toy{start: []int{4, 6}}, text: "clock 0"}
	h := mustNew(t, worldOf(env), blockOp("mul"))
	if obs := mustReset(t, h); obs.Text != "clock 0" {
		t.Errorf("first observation %q", obs.Text)
	}
	env.text = "clock 1"
	if tr := mustStep(t, h, combine(0, 1, "mul")); tr.Observation.Text != "[blocked] no mul\n\nclock 1" {
		t.Errorf("shown %q", tr.Observation.Text)
	}
	env.fail = true
	_, err := h.Step(t.Context(), combine(0, 1, "mul"))
	if v := mustVerdict(t, h); err == nil || v.Status != eh.Invalid {
		t.Errorf("failing Observe: %v %v", err, v)
	}
}

type observed struct {
	toy
	text string
	fail bool
}

func (o *observed) Observe(context.Context) (eh.Observation, error) {
	if o.fail {
		panic("no picture")
	}
	return eh.Observation{Text: o.text}, nil
}

// Rules C06, C07, C08 and 7.1 cases 1, 5: hooks work on copies; reward, Terminated and verdict are the base's.
func TestHooksCannotTouchTheBase(t *testing.T) {
	vandal := func(m map[string]any) {
		if m == nil {
			return
		}
		if nums, ok := m["numbers"].([]any); ok && len(nums) > 0 {
			nums[0] = 24.0
		}
		m["success"] = true
	}
	greedy := rule(eh.AxisTransition, eh.Hooks{
		Tools: func(_ context.Context, ts []eh.Tool) ([]eh.Tool, error) {
			own := append([]eh.Tool(nil), ts...)
			if len(ts) > 0 {
				copy(ts[0].Schema, "XXXX")
				ts[0].Name = "gone"
			}
			own[0].Schema = json.RawMessage(`{}`)
			return own[:2:2], nil
		},
		Action: func(_ context.Context, v eh.View, a eh.Action) (eh.ActionEdit, error) {
			copy(a.Args, "ZZZZ")
			st, err := v.State()
			copy(st, `{"success":true}`)
			vandal(v.Shown().Data)
			return eh.PassAction(), err
		},
		Transition: func(_ context.Context, v eh.View, tr eh.Transition) (eh.TransitionEdit, error) {
			vandal(tr.Observation.Data)
			tr.Reward, tr.Terminated = 1, true
			if tr.Error != nil {
				tr.Error.Class = "hacked"
			}
			return eh.TransitionEdit{}, nil
		},
	})
	play := func(stack ...eh.Component) (eh.Evidence, eh.Verdict, []eh.Transition, string) {
		env := &toy{start: []int{1, 1, 1, 1}}
		h := mustNew(t, worldOf(env), stack...)
		mustReset(t, h)
		var trs []eh.Transition
		for _, a := range []eh.Action{combine(0, 1, "add"), combine(0, 9, "add"), stop} {
			trs = append(trs, mustStep(t, h, a))
		}
		st, err := env.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return mustEvidence(t, h), mustVerdict(t, h), trs, string(st)
	}
	e1, v1, t1, s1 := play()
	e2, v2, t2, s2 := play(greedy)
	if d := cmp.Diff(e1, e2); d != "" {
		t.Errorf("evidence differs: %s", d)
	}
	if v1.Status != eh.Fail || v2.Status != eh.Fail || s1 != s2 {
		t.Errorf("verdicts %v %v, states %s %s", v1, v2, s1, s2)
	}
	if d := cmp.Diff(t1, t2); d != "" {
		t.Errorf("shown transitions differ: %s", d)
	}
}

// What callers and hooks keep hold of is theirs: it can change neither the evidence nor what others are shown.
func TestNoAliasing(t *testing.T) {
	var kept map[string]any
	keeper := rule(eh.AxisObservation, eh.Hooks{
		Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) {
			o.Data = map[string]any{"mine": 1.0}
			kept = o.Data
			return o, nil
		},
	})
	var seen []any
	watcher := ruleID("watch", eh.AxisObservation, eh.Hooks{
		Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
			clear(v.Shown().Data)
			return eh.PassAction(), nil
		},
		Transition: func(_ context.Context, v eh.View, _ eh.Transition) (eh.TransitionEdit, error) {
			seen = append(seen, v.Shown().Data["mine"])
			return eh.TransitionEdit{}, nil
		},
	})
	for _, stack := range [][]eh.Component{nil, {keeper, watcher}} {
		h := mustNew(t, worldOf(&toy{start: []int{4, 6, 1}}), stack...)
		obs := mustReset(t, h)
		clear(obs.Data)
		a := combine(0, 1, "mul")
		tr := mustStep(t, h, a)
		clear(kept)
		copy(a.Args, "????")
		want := mustEvidence(t, h)
		for k := range tr.Observation.Data {
			tr.Observation.Data[k] = "spoilt"
		}
		clear(want.Log[1].Transition.Observation.Data)
		copy(want.Log[1].Action.Args, "????")
		got := mustEvidence(t, h)
		if s := string(got.Log[1].Action.Args); s != `{"i":0,"j":1,"op":"mul"}` {
			t.Errorf("logged arguments %s", s)
		}
		if d := cmp.Diff(map[string]any{"numbers": []any{1.0, 24.0}}, got.Log[1].Transition.Observation.Data); d != "" {
			t.Errorf("logged data: %s", d)
		}
		mustStep(t, h, stop)
	}
	if d := cmp.Diff([]any{1.0}, seen); d != "" {
		t.Errorf("View.Shown: %s", d)
	}
}

// Base and log get the arguments as they were when Step was called, whatever the caller writes into its bytes meanwhile.
func TestArgumentsAreTakenOnce(t *testing.T) {
	for _, stack := range [][]eh.Component{nil, {rule(eh.AxisAction, eh.Hooks{Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) { return eh.PassAction(), nil }})}} {
		a := combine(0, 1, "add")
		env := &toy{start: []int{4, 6}}
		var given string
		env.onStep = func(_ context.Context, _ *toy, b eh.Action) (*eh.Transition, error) {
			copy(a.Args, strings.ReplaceAll(string(a.Args), "add", "mul"))
			given = string(b.Args)
			return nil, nil
		}
		h := mustNew(t, worldOf(bare{env}), stack...)
		mustReset(t, h)
		mustStep(t, h, a)
		if logged := string(mustEvidence(t, h).Log[1].Action.Args); given != logged || !strings.Contains(given, "add") {
			t.Errorf("the base was given %s, the log has %s", given, logged)
		}
	}
}

// A verifier that writes into its evidence changes nothing (V11), and asking again gives the same.
func TestVerifierCannotTouchTheEvidence(t *testing.T) {
	w := worldOf(&toy{start: []int{4, 6}})
	w.Verifier = eh.VerifierFunc(func(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
		v, err := toyVerifier(ctx, e)
		copy(e.End, strings.Repeat("x", 99))
		for i := range e.Log {
			clear(e.Log[i].Transition.Observation.Data)
			e.Log[i] = eh.LogEntry{}
		}
		return v, err
	})
	h := mustNew(t, w)
	mustReset(t, h)
	if v := mustVerdict(t, h); v.Status != eh.Fail { // V04, V10
		t.Errorf("before the end: %v", v)
	}
	mustStep(t, h, combine(0, 1, "mul"))
	if e := mustEvidence(t, h); string(e.End) != `{"numbers":[24],"stopped":false,"success":false}` || e.EndReason != "" {
		t.Errorf("running evidence: %s %q", e.End, e.EndReason)
	}
	mustStep(t, h, stop)
	e := mustEvidence(t, h)
	for range 2 {
		if d := cmp.Diff(eh.Verdict{Status: eh.Pass, Score: 1, Unreplayed: true}, mustVerdict(t, h)); d != "" {
			t.Error(d)
		}
	}
	if d := cmp.Diff(e, mustEvidence(t, h)); d != "" {
		t.Error(d)
	}
}

// Rule C10: the turn that ends an episode shows the raw result, whoever ends it.
func TestTerminalTurnIsShownRaw(t *testing.T) {
	calls := 0
	hide := ruleID("hide", eh.AxisObservation, eh.Hooks{
		Observe: func(context.Context, eh.View, eh.Observation) (eh.Observation, error) {
			calls++
			return eh.Observation{Text: "hidden"}, nil
		},
	})
	cut := ruleID("cut", eh.AxisTransition, eh.Hooks{
		Transition: func(_ context.Context, v eh.View, tr eh.Transition) (eh.TransitionEdit, error) {
			if v.Turn == 1 {
				return eh.TransitionEdit{Observation: &eh.Observation{Text: "mine"}, Truncate: "tired"}, nil
			}
			return eh.TransitionEdit{}, nil
		},
	})
	tests := []struct {
		name    string
		limit   int
		stack   []eh.Component
		actions []eh.Action
		want    eh.Transition
	}{
		{"terminated", 0, []eh.Component{hide}, []eh.Action{combine(0, 1, "mul"), stop}, eh.Transition{Terminated: true, Reward: 1, Observation: eh.Observation{Text: "numbers 24"}}},
		{"truncated by the base", 2, []eh.Component{hide}, []eh.Action{combine(0, 1, "mul"), combine(0, 1, "mul")},
			eh.Transition{Truncated: true, Reason: "limit", Observation: eh.Observation{Text: "numbers 24"}, Error: &eh.ActionError{Class: eh.ClassBadArgs, Message: "bad combine"}}},
		{"truncated by a hook", 0, []eh.Component{hide, cut}, []eh.Action{combine(0, 1, "mul"), combine(0, 1, "mul")},
			eh.Transition{Truncated: true, Reason: "budget:cut:tired", Observation: eh.Observation{Text: "numbers 24"}, Error: &eh.ActionError{Class: eh.ClassBadArgs, Message: "bad combine"}}},
		{"limit on a blocked turn", 0, []eh.Component{hide, blockOp("mul"), ruleID("b", eh.AxisBudget, eh.Hooks{MaxTurns: 1})}, []eh.Action{combine(0, 1, "mul")},
			eh.Transition{Truncated: true, Reason: "budget:b", Observation: eh.Observation{Text: "[blocked] no mul\n\nnumbers 4 6"}, Error: &eh.ActionError{Class: eh.ClassPermission, Message: "no mul"}}},
	}
	for _, tt := range tests {
		h := mustNew(t, worldOf(&toy{start: []int{4, 6}, limit: tt.limit}), tt.stack...)
		if obs := mustReset(t, h); obs.Text != "hidden" {
			t.Fatalf("%s: first observation %q", tt.name, obs.Text)
		}
		for i, a := range tt.actions {
			tr := mustStep(t, h, a)
			if i < len(tt.actions)-1 {
				if tr.Ended() || tr.Observation.Text != "hidden" {
					t.Errorf("%s: turn %d: %+v", tt.name, i, tr)
				}
				continue
			}
			tr.Observation.Data = nil
			if d := cmp.Diff(tt.want, tr); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, d)
			}
		}
	}
}

// Rules C18, C19: a failing hook makes the episode Invalid; the harness stays resettable and closable.
func TestHookFailures(t *testing.T) {
	hooksThat := func(f func() error) map[string]eh.Hooks {
		return map[string]eh.Hooks{
			"start": {Start: func(context.Context, eh.View) ([]eh.StartEdit, error) { return nil, f() }},
			"tools": {Tools: func(_ context.Context, ts []eh.Tool) ([]eh.Tool, error) { return ts, f() }},
			"action": {Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) {
				return eh.PassAction(), f()
			}},
			"result": {Result: func(context.Context, eh.View, *eh.ActionError) error { return f() }},
			"transition": {Transition: func(context.Context, eh.View, eh.Transition) (eh.TransitionEdit, error) {
				return eh.TransitionEdit{}, f()
			}},
			"observe": {Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) { return o, f() }},
		}
	}
	faults := map[string]func() error{"error": func() error { return errBoom }, "panic": func() error { panic(errBoom) }}
	for fault, f := range faults {
		for hook, hooks := range hooksThat(f) {
			env := &toy{start: []int{4, 6}}
			h := mustNew(t, worldOf(env), rule(eh.AxisStart, hooks))
			_, err := h.Reset(t.Context(), eh.ResetOptions{})
			inStep := hook == "action" || hook == "result" || hook == "transition"
			if inStep {
				if err != nil {
					t.Fatalf("%s %s: reset: %v", hook, fault, err)
				}
				_, err = h.Step(t.Context(), combine(0, 1, "add"))
				v := mustVerdict(t, h)
				if v.Status != eh.Invalid || !strings.Contains(v.Reason, "boom") || !strings.Contains(v.Reason, "component_error") {
					t.Errorf("%s %s: verdict %+v", hook, fault, v)
				}
				if e := mustEvidence(t, h); e.EndReason != eh.EndComponentError {
					t.Errorf("%s %s: end %q", hook, fault, e.EndReason)
				}
				if _, err := h.Step(t.Context(), stop); !errors.Is(err, eh.ErrEpisodeOver) {
					t.Errorf("%s %s: step afterwards: %v", hook, fault, err)
				}
			}
			if err == nil || !strings.Contains(err.Error(), "rule: "+hook) || !strings.Contains(err.Error(), "boom") {
				t.Errorf("%s %s: error %v", hook, fault, err)
			}
			if err := h.Close(); err != nil || env.calls.close != 1 {
				t.Errorf("%s %s: close: %v", hook, fault, err)
			}
		}
	}
	begins := 0
	flaky := eh.Rules(eh.ComponentSpec{Tag: "flaky", Axis: eh.AxisAction}, func(context.Context, eh.EpisodeInfo) (eh.Hooks, error) {
		if begins++; begins == 1 {
			return eh.Hooks{}, errBoom
		}
		return eh.Hooks{}, nil
	})
	h := mustNew(t, worldOf(&toy{start: []int{4, 6}}), flaky)
	if _, err := h.Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, errBoom) {
		t.Errorf("begin: %v", err)
	}
	mustReset(t, h) // a failed reset is not the end
	mustStep(t, h, stop)
}

// An environment that breaks its contract makes the episode Invalid, not failed.
type badWrapper struct{ eh.Environment }

func (badWrapper) Unwrap() eh.Environment { panic("no inner one") }

func TestEnvironmentFailures(t *testing.T) {
	result := func(tr eh.Transition, err error) func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
		return func(context.Context, *toy, eh.Action) (*eh.Transition, error) { return &tr, err }
	}
	loop := map[string]any{}
	loop["self"] = loop
	data := func(v any) eh.Transition {
		return eh.Transition{Observation: eh.Observation{Data: map[string]any{"x": v}}}
	}
	tests := []struct {
		name string
		env  *toy
		says string
	}{
		{"error", &toy{onStep: result(eh.Transition{}, errBoom)}, "boom"},
		{"panic", &toy{onStep: func(context.Context, *toy, eh.Action) (*eh.Transition, error) { panic("ouch") }}, "panic: ouch"},
		{"infinite reward", &toy{onStep: result(eh.Transition{Reward: math.Inf(1)}, nil)}, "reward +Inf"},
		{"NaN reward", &toy{onStep: result(eh.Transition{Reward: math.NaN()}, nil)}, "reward NaN"},
		{"pointer in data", &toy{onStep: result(data(&toy{}), nil)}, "not a JSON value"},
		{"int in data", &toy{onStep: result(data(3), nil)}, "not a JSON value"},
		{"NaN in data", &toy{onStep: result(data([]any{math.NaN()}), nil)}, "not a JSON number"},
		{"cyclic data", &toy{onStep: result(data(loop), nil)}, "nested deeper"},
		{"bad info", &toy{onStep: result(eh.Transition{Info: map[string]any{"x": struct{}{}}}, nil)}, "info"},
	}
	for _, tt := range tests {
		h := mustNew(t, worldOf(tt.env))
		mustReset(t, h)
		_, err := h.Step(t.Context(), stop)
		if err == nil || !strings.Contains(err.Error(), "env_error: step 1") || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if v := mustVerdict(t, h); v.Status != eh.Invalid || v.Score != 0 {
			t.Errorf("%s: verdict %+v", tt.name, v)
		}
		tt.env.onStep = nil
		mustReset(t, h)
		mustStep(t, h, stop)
	}
	for _, f := range []func(h *eh.Harness) error{
		func(h *eh.Harness) error { _, err := h.Reset(t.Context(), eh.ResetOptions{}); return err },
		func(h *eh.Harness) error { _, err := h.Tasks(t.Context(), "train"); return err },
	} {
		if err := f(mustNew(t, worldOf(badWrapper{&toy{}}))); err == nil || !strings.Contains(err.Error(), "panic: no inner one") {
			t.Errorf("panic of Unwrap: %v", err)
		}
	}
	env := &toy{start: []int{1}, onReset: func() error { return errBoom }}
	if _, err := mustNew(t, worldOf(env)).Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, errBoom) {
		t.Errorf("reset: %v", err)
	}
	env = &toy{start: []int{1}}
	h := mustNew(t, worldOf(env))
	mustReset(t, h)
	env.onState = func() error { return errBoom }
	if _, err := h.Step(t.Context(), stop); !errors.Is(err, errBoom) {
		t.Errorf("state at the end: %v", err)
	}
	if v := mustVerdict(t, h); v.Status != eh.Invalid {
		t.Errorf("state at the end: %v", v)
	}
	w := worldOf(nil)
	if _, err := mustNew(t, w).Reset(t.Context(), eh.ResetOptions{}); err == nil {
		t.Error("a World.New that makes nothing was accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	env = &toy{onStep: func(context.Context, *toy, eh.Action) (*eh.Transition, error) { cancel(); return nil, ctx.Err() }}
	h = mustNew(t, worldOf(env))
	mustReset(t, h)
	_, err := h.Step(ctx, stop)
	if e := mustEvidence(t, h); !errors.Is(err, context.Canceled) || e.EndReason != eh.EndCanceled {
		t.Errorf("canceled: %v, end %q", err, e.EndReason)
	}
}

// Rules V06, V07 and the normal form of verdicts.
func TestVerdictNormalForm(t *testing.T) {
	tests := []struct {
		name string
		v    eh.Verdict
		err  error
		want eh.Verdict
	}{
		{"error", eh.Verdict{Status: eh.Pass, Score: 1}, errBoom, eh.Verdict{Reason: "envharness: verifier_error: boom"}},
		{"pass without score", eh.Verdict{Status: eh.Pass}, nil, eh.Verdict{Status: eh.Pass, Score: 1}},
		{"partial", eh.Verdict{Status: eh.Fail, Score: .4, Parts: map[string]float64{"db": 1}}, nil, eh.Verdict{Status: eh.Fail, Score: .4, Parts: map[string]float64{"db": 1}}},
		{"invalid with score", eh.Verdict{Score: .5, Reason: "tampered"}, nil, eh.Verdict{Reason: "tampered"}},
		{"NaN", eh.Verdict{Status: eh.Fail, Score: math.NaN()}, nil, eh.Verdict{Reason: "envharness: verifier_error: score NaN is outside [0, 1]"}},
		{"above 1", eh.Verdict{Status: eh.Pass, Score: 2}, nil, eh.Verdict{Reason: "envharness: verifier_error: score 2 is outside [0, 1]"}},
		{"bad part", eh.Verdict{Status: eh.Fail, Parts: map[string]float64{"a": -1, "b": -1}}, nil, eh.Verdict{Reason: `envharness: verifier_error: part "a" is -1, outside [0, 1]`}},
		{"unknown status", eh.Verdict{Status: 9}, nil, eh.Verdict{Reason: "envharness: verifier_error: status 9 is unknown"}},
	}
	for _, tt := range tests {
		w := worldOf(&toy{start: []int{1}})
		w.Verifier = eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) { return tt.v, tt.err })
		h := mustNew(t, w)
		mustReset(t, h)
		mustStep(t, h, stop)
		tt.want.Unreplayed = tt.want.Status != eh.Invalid
		if d := cmp.Diff(tt.want, mustVerdict(t, h)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
	w := worldOf(&toy{start: []int{1}})
	w.Verifier = eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) { panic("ouch") })
	h := mustNew(t, w)
	mustReset(t, h)
	if v := mustVerdict(t, h); v.Status != eh.Invalid || !strings.Contains(v.Reason, "panic: ouch") {
		t.Errorf("panic: %+v", v)
	}
}

// Hooks see the state before and after the step, without its graded fields, and it is read only if they ask.
func TestViewState(t *testing.T) {
	env := &toy{start: []int{4, 6}}
	var seen []string
	look := func(v eh.View) error {
		for range 2 {
			st, err := v.State()
			if err != nil {
				return err
			}
			seen = append(seen, string(st))
			clear(st) // a copy
		}
		return nil
	}
	asks := rule(eh.AxisAction, eh.Hooks{
		Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
			return eh.PassAction(), look(v)
		},
		Transition: func(_ context.Context, v eh.View, _ eh.Transition) (eh.TransitionEdit, error) {
			return eh.TransitionEdit{}, look(v)
		},
	})
	h := mustNew(t, worldOf(env), asks)
	mustReset(t, h)
	mustStep(t, h, combine(0, 1, "mul"))
	pre, post := `{"numbers":[4,6],"stopped":false}`, `{"numbers":[24],"stopped":false}`
	if d := cmp.Diff([]string{pre, pre, post, post}, seen); d != "" {
		t.Error(d)
	}
	if env.calls.state != 3 {
		t.Errorf("state read %d times, want once at the start and once on either side of the step", env.calls.state)
	}
	mustStep(t, h, combine(0, 9, "mul")) // so that the state must be read again
	env.onState = func() error { return errBoom }
	_, err := h.Step(t.Context(), stop)
	if e := mustEvidence(t, h); !errors.Is(err, errBoom) || e.EndReason != eh.EndEnvError {
		t.Errorf("state cannot be read: %v, end %q", err, e.EndReason)
	}
}

// A hook on the way out can tell the base's result from the answer of a component further inside.
func TestViewStepped(t *testing.T) {
	var seen []string
	inner := ruleID("inner", eh.AxisAction, eh.Hooks{Action: func(_ context.Context, v eh.View, a eh.Action) (eh.ActionEdit, error) {
		if v.Turn == 1 {
			return eh.AnswerAction("no", nil), nil
		}
		return eh.PassAction(), nil
	}})
	outer := ruleID("outer", eh.AxisAction, eh.Hooks{
		Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
			seen = append(seen, fmt.Sprint("in ", v.Stepped))
			return eh.PassAction(), nil
		},
		Transition: func(_ context.Context, v eh.View, _ eh.Transition) (eh.TransitionEdit, error) {
			seen = append(seen, fmt.Sprint("out ", v.Stepped))
			return eh.TransitionEdit{}, nil
		},
	})
	h := mustNew(t, worldOf(&toy{start: []int{1, 2, 3, 4}}), inner, outer)
	mustReset(t, h)
	for range 3 {
		mustStep(t, h, combine(0, 1, "add"))
	}
	if d := cmp.Diff([]string{"in false", "out true", "in false", "out false", "in false", "out true"}, seen); d != "" {
		t.Error(d)
	}
}

func TestViewTurnAndShown(t *testing.T) {
	var seen []string
	note := rule(eh.AxisObservation, eh.Hooks{
		Start: func(_ context.Context, v eh.View) ([]eh.StartEdit, error) {
			seen = append(seen, "start: "+v.Shown().Text)
			return nil, nil
		},
		Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
			seen = append(seen, string(rune('0'+v.Turn))+" action: "+v.Shown().Text)
			return eh.PassAction(), nil
		},
		Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
			seen = append(seen, string(rune('0'+v.Turn))+" observe: "+v.Shown().Text)
			o.Text += "!"
			return o, nil
		},
	})
	h := mustNew(t, worldOf(bare{&toy{start: []int{1, 2, 3}}}), note)
	mustReset(t, h)
	mustStep(t, h, combine(0, 1, "add"))
	mustStep(t, h, combine(0, 1, "add"))
	mustReset(t, h) // nothing of the last episode is left
	want := []string{"start: numbers 1 2 3", "0 observe: ", "0 action: numbers 1 2 3!", "0 observe: numbers 1 2 3!", "1 action: numbers 3 3!", "1 observe: numbers 3 3!",
		"start: numbers 1 2 3", "0 observe: "}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}

// Rule C03, and seeds: nil ones are replaced, recorded and repeatable; a component's draws are its own.
func TestSeeds(t *testing.T) {
	draws := func(extra ...eh.Component) (out []float64) {
		c := eh.Rules(eh.ComponentSpec{Tag: "noise", Axis: eh.AxisBudget}, func(_ context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
			out = append(out, e.Rand.Float64(), e.Rand.Float64())
			return eh.Hooks{}, nil
		})
		h := mustNew(t, worldOf(&toy{start: []int{1}}), append(extra, c)...)
		mustReset(t, h)
		return out
	}
	other := eh.Rules(eh.ComponentSpec{Tag: "other", Axis: eh.AxisAction}, func(_ context.Context, e eh.EpisodeInfo) (eh.Hooks, error) { e.Rand.Float64(); return eh.Hooks{}, nil })
	if d := cmp.Diff(draws(), draws(other)); d != "" {
		t.Errorf("another component shifted the draws: %s", d)
	}
	if want := eh.RandStream(7, "c/noise", 0).Float64(); draws()[0] != want {
		t.Errorf("first draw %v, want %v", draws()[0], want)
	}
	seeds := func(h *eh.Harness, given *uint64) (out []uint64) {
		for i := range 4 {
			var s *uint64
			if i == 0 {
				s = given
			}
			if _, err := h.Reset(t.Context(), eh.ResetOptions{Seed: s}); err != nil {
				t.Fatal(err)
			}
			out = append(out, mustEvidence(t, h).Seed)
		}
		return out
	}
	h := mustNew(t, worldOf(&toy{start: []int{1}}))
	first := seeds(h, nil)
	a, b := seeds(h, new(uint64(5))), seeds(h, new(uint64(5)))
	if d := cmp.Diff(a, b); d != "" || a[0] != 5 { // E03
		t.Errorf("the same seed continues differently: %s", d)
	}
	if d := cmp.Diff(first, seeds(mustNew(t, worldOf(&toy{start: []int{1}})), nil)); d != "" {
		t.Errorf("unseeded harnesses differ: %s", d)
	}
	all := map[uint64]bool{}
	for _, s := range append(first, a...) {
		all[s] = true
	}
	if len(all) != 8 {
		t.Errorf("seeds repeat: %v %v", first, a)
	}
}

func TestToolLists(t *testing.T) {
	list := func(names ...string) eh.Hooks {
		return eh.Hooks{Tools: func(context.Context, []eh.Tool) ([]eh.Tool, error) {
			var ts []eh.Tool
			for _, n := range names {
				ts = append(ts, eh.Tool{Name: n})
			}
			return ts, nil
		}}
	}
	for _, tt := range []struct {
		names []string
		says  string
	}{{[]string{"a", "a"}, "twice"}, {[]string{"verify"}, "reserved"}, {[]string{"reset"}, "reserved"}, {[]string{""}, "no name"}} {
		h := mustNew(t, worldOf(&toy{}), rule(eh.AxisAction, list(tt.names...)))
		if _, err := h.Reset(t.Context(), eh.ResetOptions{}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: %v", tt.names, err)
		}
	}
	var names []string
	renames := rule(eh.AxisAction, eh.Hooks{Tools: func(_ context.Context, ts []eh.Tool) ([]eh.Tool, error) {
		names = append(names, ts[0].Name+string(ts[0].Schema))
		ts[0].Name = "mix"
		clear(ts[0].Schema)
		return ts, nil
	}})
	h := mustNew(t, worldOf(&toy{start: []int{1}}), renames)
	mustReset(t, h)
	mustReset(t, h)
	if d := cmp.Diff([]string{`combine{"type":"object"}`, `combine{"type":"object"}`}, names); d != "" || h.Tools()[0].Name != "mix" {
		t.Errorf("a renamed tool: %s, %v", d, h.Tools())
	}
	h = mustNew(t, worldOf(&toy{start: []int{1}}))
	if ts := h.Tools(); ts != nil {
		t.Errorf("tools before the reset: %v", ts)
	}
	tasks, err := h.Tasks(t.Context(), "train")
	if err != nil || len(tasks) != 2 {
		t.Errorf("tasks %v, %v", tasks, err)
	}
	if _, err := h.Tasks(t.Context(), "nope"); err == nil {
		t.Error("unknown split accepted")
	}
	if _, err := mustNew(t, worldOf(bare{&toy{}})).Tasks(t.Context(), "train"); err == nil {
		t.Error("an environment without tasks listed some")
	}
	if _, ok := eh.As[eh.Stater](h); ok {
		t.Error("the harness lets the base's state out")
	}
	if _, ok := eh.As[eh.Describer](h); ok {
		t.Error("the harness lets the base's description out")
	}
	mustReset(t, h)
	h.Tools()[0].Name = "mine"
	if ts := h.Tools(); len(ts) != 2 || ts[0].Name != "combine" {
		t.Errorf("tools %v", ts)
	}
	var wg sync.WaitGroup
	wg.Go(func() { // any time: for the race detector
		for range 100 {
			h.Tools()
		}
	})
	mustReset(t, h)
	wg.Wait()
	if _, err := h.Reset(t.Context(), eh.ResetOptions{Task: "nonsense"}); err == nil || h.Tools() != nil {
		t.Errorf("after a failed reset: %v, tools %v", err, h.Tools())
	}
}

// Canonical leaves it to New to refuse what is no component.
func TestCanonical(t *testing.T) {
	var none *fickle
	got := eh.Canonical([]eh.Component{ruleID("b", eh.AxisBudget, eh.Hooks{}), ruleID("o", eh.AxisObservation, eh.Hooks{}), none, ruleID("a", eh.AxisAction, eh.Hooks{}), eh.Setup{}})
	if got[0] != eh.Component(none) || got[1].Spec().Axis != eh.AxisStart || got[2].Spec().ID != "o" || got[3].Spec().ID != "a" || got[4].Spec().ID != "b" {
		t.Errorf("%v", got)
	}
	if _, err := eh.New(worldOf(&toy{}), got...); err == nil {
		t.Error("a nil pointer is accepted")
	}
}

package envharness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

func tasks(n int) []eh.Task {
	ts := make([]eh.Task, n)
	for i := range ts {
		ts[i] = eh.Task{ID: fmt.Sprintf("[%d,%d]", 2+i%3, 12/(2+i%3)+i%2), Split: "train"}
	}
	return ts
}

// randomPolicy draws from the stream of its slot.
func randomPolicy(slot int) (eh.Policy, error) {
	r := eh.RandStream(11, fmt.Sprintf("policy/%d", slot), 0)
	return eh.PolicyFunc(func(_ context.Context, t eh.Turn) (eh.Action, error) {
		switch n := r.IntN(10); {
		case n < 2:
			return stop, nil
		case n < 3:
			return eh.Action{}, fmt.Errorf("%w: gibberish \xff", eh.ErrBadAction)
		case n < 4:
			return eh.Action{Name: "combine", Args: json.RawMessage("{\"<bad\xff")}, nil
		}
		return combine(r.IntN(2), r.IntN(2), []string{"mul", "add"}[r.IntN(2)]), nil
	}), nil
}

func noisy() eh.Component {
	return eh.Rules(eh.ComponentSpec{Tag: "noisy", Axis: eh.AxisObservation, Params: json.RawMessage(`{ "p": 0.5 }`)}, func(_ context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
		return eh.Hooks{
			Action: func(_ context.Context, _ eh.View, a eh.Action) (eh.ActionEdit, error) {
				switch n := e.Rand.IntN(10); {
				case n < 1:
					return eh.AnswerAction("busy", &eh.ActionError{Class: eh.ClassTransient, Retryable: true}), nil
				case n < 2:
					return eh.ReplaceAction(combine(0, 1, "add")), nil
				}
				return eh.PassAction(), nil
			},
			Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) {
				if e.Rand.IntN(2) == 0 {
					o.Text += " \xfe<noise>"
				}
				return o, nil
			},
		}, nil
	})
}

func write(t testing.TB, traces []eh.Trace) string {
	t.Helper()
	var b bytes.Buffer
	if err := eh.WriteTraces(&b, traces); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(s string) ([]eh.Trace, error) {
	var out []eh.Trace
	for tr, err := range eh.ReadTraces(strings.NewReader(s)) {
		if err != nil {
			return out, err
		}
		out = append(out, tr)
	}
	return out, nil
}

// The same seeds give the same bytes whatever the number of workers, and what is written comes back (rules R05, R06).
func TestRolloutsDeterministic(t *testing.T) {
	var open atomic.Int64
	stack := []eh.Component{noisy(), blockOp("mul"), ruleID("b", eh.AxisBudget, eh.Hooks{MaxTurns: 6})}
	var all []string
	var traces []eh.Trace
	for _, parallel := range []int{0, 1, 8} {
		var calls []int
		var err error
		traces, err = eh.Rollouts(t.Context(), toyWorld(&open, nil), stack, randomPolicy, tasks(40),
			&eh.RolloutOptions{Parallel: parallel, Seed: 3, Progress: func(done, total int) { calls = append(calls, done*1000+total) }})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range calls {
			if c != (i+1)*1000+40 {
				t.Errorf("progress %v", calls)
			}
		}
		if len(calls) != 40 || open.Load() != 0 {
			t.Errorf("%d reports of progress, %d environments open", len(calls), open.Load())
		}
		all = append(all, write(t, traces))
	}
	if all[0] != all[1] || all[1] != all[2] {
		t.Error("traces depend on Parallel")
	}
	ends := map[eh.EndReason]int{}
	for i, tr := range traces {
		ends[tr.End]++
		if tr.Slot != i || tr.Verdict.Status == eh.Invalid {
			t.Errorf("slot %d: %d %v %s", i, tr.Slot, tr.Verdict, tr.Cause)
		}
	}
	if ends[eh.EndTerminated] == 0 || ends["budget:b"] == 0 {
		t.Errorf("the test covers too little: %v", ends)
	}
	if traces[0].Seed != traces[6].Seed || traces[0].Seed == traces[1].Seed {
		t.Error("seeds must follow from the task id alone")
	}
	back, err := read(all[0])
	if err != nil {
		t.Fatal(err)
	}
	again, err := read(write(t, back))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(back, again); d != "" || len(back) != len(traces) {
		t.Errorf("round trip (-want +got):\n%s", d)
	}
	traces, err = eh.Rollouts(t.Context(), toyWorld(&open, nil), []eh.Component{blockOp("mul")},
		func(int) (eh.Policy, error) { return script(combine(0, 1, "mul"), combine(0, 1, "add"), stop), nil }, tasks(4), nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err = read(write(t, traces)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(traces, back); d != "" {
		t.Errorf("round trip of what can be written as it is (-want +got):\n%s", d)
	}
}

// Rule 7.1 case 14: a trace holds both sides of every component, and the runner's cap has a flag and a reason.
func TestTraceHoldsBothSides(t *testing.T) {
	swap := ruleID("swap", eh.AxisAction, eh.Hooks{Action: func(_ context.Context, v eh.View, a eh.Action) (eh.ActionEdit, error) {
		if v.Turn == 0 {
			return eh.ReplaceAction(combine(1, 0, "add")), nil
		}
		return eh.PassAction(), nil
	}})
	shout := ruleID("shout", eh.AxisObservation, eh.Hooks{Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) {
		o.Text = strings.ToUpper(o.Text)
		return o, nil
	}})
	env := &toy{start: []int{1, 2, 4, 6}}
	traces, err := eh.Rollouts(t.Context(), worldOf(bare{env}), []eh.Component{eh.Setup{Actions: []eh.Action{combine(2, 3, "add")}}, swap, shout, blockOp("mul")},
		func(int) (eh.Policy, error) {
			return eh.PolicyFunc(func(_ context.Context, t eh.Turn) (eh.Action, error) {
				switch t.Index {
				case 0:
					return combine(0, 1, "add"), nil
				case 1:
					return combine(0, 1, "mul"), nil
				case 2:
					return eh.Action{}, fmt.Errorf("%w: no JSON", eh.ErrBadAction)
				}
				return combine(0, 1, "add"), nil
			}), nil
		}, []eh.Task{{Seed: new(uint64(9))}}, &eh.RolloutOptions{MaxTurns: 4})
	if err != nil {
		t.Fatal(err)
	}
	got := traces[0]
	obs := func(text string, nums ...any) eh.Observation {
		return eh.Observation{Text: text, Data: map[string]any{"numbers": nums}}
	}
	act := func(i, j int, op string) *eh.Action { return new(combine(i, j, op)) }
	shouted := func(lower eh.Observation) eh.Layer {
		up := lower
		up.Text = strings.ToUpper(lower.Text)
		return eh.Layer{Component: "shout", ObservationIn: &lower, ObservationOut: &up}
	}
	raw0, raw1, raw2 := obs("numbers 1 2 10", 1.0, 2.0, 10.0), obs("numbers 10 3", 10.0, 3.0), obs("numbers 13", 13.0)
	up := func(o eh.Observation) eh.Observation { o.Text = strings.ToUpper(o.Text); return o }
	blocked := up(raw1)
	blocked.Text = "[blocked] no mul\n\n" + blocked.Text
	blocked.Data = map[string]any{"numbers": []any{10.0, 3.0}, "blocked": true, "blocked_reason": "no mul"}
	invalid := up(raw1)
	invalid.Text = "[invalid action] no JSON\n\n" + invalid.Text
	want := eh.Trace{
		Kind: eh.KindExploration, Task: eh.Task{Seed: new(uint64(9))}, Seed: 9,
		Components: []eh.ComponentSpec{
			{Tag: "start_replay", ID: "start_replay", Axis: "S0", Params: json.RawMessage(`{"actions":[{"name":"combine","args":{"i":2,"j":3,"op":"add"}}]}`)},
			{Tag: "rule", ID: "swap", Axis: "A"}, {Tag: "rule", ID: "shout", Axis: "O"}, {Tag: "rule", ID: "rule", Axis: "A"},
		},
		Log: []eh.LogEntry{
			{Kind: eh.LogReset, Transition: eh.Transition{Observation: obs("numbers 1 2 4 6", 1.0, 2.0, 4.0, 6.0)}},
			{Kind: eh.LogReplay, Action: combine(2, 3, "add"), Transition: eh.Transition{Observation: raw0}},
		},
		Layers: []eh.Layer{shouted(raw0)},
		Shown:  up(raw0),
		Turns: []eh.TurnTrace{
			{Left: 4, Proposed: act(0, 1, "add"), Applied: act(1, 0, "add"), Raw: &eh.Transition{Observation: raw1}, Shown: eh.Transition{Observation: up(raw1)},
				Layers: []eh.Layer{{Component: "swap", Edit: "replace", ActionIn: act(0, 1, "add"), ActionOut: act(1, 0, "add")}, shouted(raw1)}},
			{Left: 3, Proposed: act(0, 1, "mul"), Shown: eh.Transition{Observation: blocked, Error: &eh.ActionError{Class: eh.ClassPermission, Message: "no mul"}},
				Layers: []eh.Layer{shouted(raw1), {Component: "rule", Edit: "block", Reason: "no mul", ActionIn: act(0, 1, "mul")}}},
			{Left: 2, Shown: eh.Transition{Observation: invalid, Error: &eh.ActionError{Class: eh.ClassBadArgs, Message: "no JSON"}}, Layers: []eh.Layer{shouted(raw1)}},
			{Left: 1, Proposed: act(0, 1, "add"), Applied: act(0, 1, "add"), Raw: &eh.Transition{Observation: raw2}, Layers: []eh.Layer{shouted(raw2)},
				Shown: eh.Transition{Observation: raw2, Truncated: true, Reason: "max_turns"}},
		},
		Verdict: eh.Verdict{Status: eh.Fail, Unreplayed: true}, End: eh.EndMaxTurns,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A component with both hooks on the way out is one layer, and a truncation takes its turn's edits back.
func TestTraceOfTransitionEdits(t *testing.T) {
	text := func(s string) *eh.Observation { return &eh.Observation{Text: s} }
	both := ruleID("both", eh.AxisTransition, eh.Hooks{
		Transition: func(_ context.Context, v eh.View, _ eh.Transition) (eh.TransitionEdit, error) {
			return eh.TransitionEdit{Observation: text("T")}, nil
		},
		Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
			return eh.Observation{Text: o.Text + "O"}, nil
		},
	})
	cut := ruleID("cut", eh.AxisTransition, eh.Hooks{Transition: func(_ context.Context, v eh.View, _ eh.Transition) (eh.TransitionEdit, error) {
		if v.Turn == 1 {
			return eh.TransitionEdit{Truncate: "tired"}, nil
		}
		return eh.TransitionEdit{}, nil
	}})
	traces, err := eh.Rollouts(t.Context(), worldOf(plain{}), []eh.Component{both, cut}, func(int) (eh.Policy, error) { return script(stop, stop, stop), nil }, tasks(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	layer := eh.Layer{Component: "both", ObservationIn: text("hello"), ObservationOut: text("TO")}
	raw := &eh.Transition{Observation: *text("hello")}
	want := []eh.TurnTrace{
		{Left: 50, Proposed: &stop, Applied: &stop, Raw: raw, Layers: []eh.Layer{layer}, Shown: eh.Transition{Observation: *text("TO")}},
		{Left: 49, Proposed: &stop, Applied: &stop, Raw: raw, Layers: []eh.Layer{layer, {Component: "cut", Edit: "truncate", Reason: "tired"}},
			Shown: eh.Transition{Observation: *text("hello"), Truncated: true, Reason: "budget:cut:tired"}},
	}
	if d := cmp.Diff(want, traces[0].Turns); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The lower of the caller's cap and the environment's own counts; without either it is 50.
func TestMaxTurns(t *testing.T) {
	for _, tt := range []struct{ own, option, want int }{{3, 9, 3}, {9, 3, 3}, {3, 0, 3}, {0, 7, 7}, {0, 0, 50}} {
		w := toyWorld(nil, func(e *toy) { e.limit = tt.own })
		traces, err := eh.Rollouts(t.Context(), w, nil, func(int) (eh.Policy, error) { return failing(eh.ErrBadAction), nil }, tasks(1), &eh.RolloutOptions{MaxTurns: tt.option})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(traces[0].Turns); n != tt.want || traces[0].End != eh.EndMaxTurns {
			t.Errorf("own %d, option %d: %d turns, end %s", tt.own, tt.option, n, traces[0].End)
		}
	}
}

func TestPolicyTurns(t *testing.T) {
	var turns []eh.Turn
	p := eh.PolicyFunc(func(_ context.Context, turn eh.Turn) (eh.Action, error) {
		clear(turn.Shown.Data)
		turns = append(turns, turn)
		turn.Tools[0].Name = "mine"
		return combine(0, 9, "mul"), nil
	})
	w := toyWorld(nil, func(e *toy) { e.limit = 3 })
	traces, err := eh.Rollouts(t.Context(), w, []eh.Component{ruleID("b", eh.AxisBudget, eh.Hooks{MaxTurns: 2})}, func(int) (eh.Policy, error) { return p, nil }, tasks(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(turns) != 2 || traces[0].End != "budget:b" {
		t.Fatalf("%d turns, end %s %s", len(turns), traces[0].End, traces[0].Cause)
	}
	if turns[0].Left != 2 || turns[1].Left != 1 || turns[1].Index != 1 || turns[0].Error != nil || turns[1].Error.Class != eh.ClassBadArgs {
		t.Errorf("turns %+v", turns)
	}
	if traces[0].Turns[0].Shown.Observation.Data["numbers"] == nil {
		t.Error("a policy changed the record")
	}
}

func failing(err error) eh.Policy {
	return eh.PolicyFunc(func(context.Context, eh.Turn) (eh.Action, error) { return eh.Action{}, err })
}
func panicking() eh.Policy {
	return eh.PolicyFunc(func(context.Context, eh.Turn) (eh.Action, error) { panic("ouch") })
}
func onStep(f func(context.Context) error) func(*toy) {
	return func(e *toy) {
		e.onStep = func(ctx context.Context, _ *toy, _ eh.Action) (*eh.Transition, error) { return nil, f(ctx) }
	}
}

// Every failure stays in its slot (rule R03): the trace is Invalid with the cause, or judged where the policy is at fault.
func TestRolloutFailures(t *testing.T) {
	good := func() eh.Policy { return script(combine(0, 1, "mul"), stop) }
	tests := []struct {
		name   string
		change func(*toy)
		verify eh.Verifier
		stack  eh.Component
		policy eh.Policy
		end    eh.EndReason
		status eh.Status
		cause  string
	}{
		{"all well", nil, nil, nil, good(), eh.EndTerminated, eh.Pass, ""},
		{"policy stops", nil, nil, nil, failing(eh.ErrStop), eh.EndAgentStop, eh.Fail, ""},
		{"policy errs", nil, nil, nil, failing(errBoom), eh.EndAgentError, eh.Fail, "boom"},
		{"policy infrastructure", nil, nil, nil, failing(fmt.Errorf("%w: 503", eh.ErrInfra)), eh.EndPolicyInfra, eh.Invalid, "503"},
		{"infrastructure beats bad action", nil, nil, nil, failing(errors.Join(eh.ErrBadAction, eh.ErrInfra)), eh.EndPolicyInfra, eh.Invalid, "infrastructure"},
		{"policy panics", nil, nil, nil, panicking(), eh.EndPolicyInfra, eh.Invalid, "panic: ouch"},
		{"no policy", nil, nil, nil, nil, eh.EndPolicyInfra, eh.Invalid, "newPolicy"},
		{"newPolicy errs", nil, nil, nil, nil, eh.EndPolicyInfra, eh.Invalid, "policy: boom"},
		{"unreadable answers", nil, nil, nil, failing(eh.ErrBadAction), eh.EndMaxTurns, eh.Fail, ""},
		{"environment errs", onStep(func(context.Context) error { return errBoom }), nil, nil, good(), eh.EndEnvError, eh.Invalid, "boom"},
		{"environment panics", onStep(func(context.Context) error { panic("ouch") }), nil, nil, good(), eh.EndEnvError, eh.Invalid, "panic: ouch"},
		{"environment hangs", onStep(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }), nil, nil, good(), eh.EndTimeout, eh.Invalid, "step: no answer within 1m0s"},
		{"reset errs", func(e *toy) { e.onReset = func() error { return errBoom } }, nil, nil, good(), eh.EndEnvError, eh.Invalid, "boom"},
		{"close errs", func(e *toy) { e.onClose = func() error { return errBoom } }, nil, nil, good(), eh.EndTerminated, eh.Pass, "close: boom"},
		{"close panics", func(e *toy) { e.onClose = func() error { panic("ouch") } }, nil, nil, good(), eh.EndTerminated, eh.Pass, "close: panic: ouch"},
		{"component errs", nil, nil, rule(eh.AxisAction, eh.Hooks{Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) { return eh.PassAction(), errBoom }}),
			good(), eh.EndComponentError, eh.Invalid, "rule: action: boom"},
		{"illegal start", nil, nil, eh.Setup{Actions: []eh.Action{stop}}, good(), eh.EndComponentError, eh.Invalid, "setup failed"},
		{"verifier errs", nil, eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{Status: eh.Pass}, errBoom }),
			nil, good(), eh.EndVerifierError, eh.Invalid, "boom"},
	}
	synctest.Test(t, func(t *testing.T) { // for the deadline
		for _, tt := range tests {
			var open atomic.Int64
			w := toyWorld(&open, nil)
			mk := w.New
			made := 0
			w.New = func(ctx context.Context) (eh.Environment, error) {
				env, err := mk(ctx)
				if made++; made == 3 && tt.change != nil { // the second of three episodes, one at a time, each with its replay
					done := env.(*toy).onClose
					tt.change(env.(*toy))
					if after := env.(*toy).onClose; after != nil {
						env.(*toy).onClose = func() error { return errors.Join(done(), after()) }
					}
				}
				return env, err
			}
			base := w.Verifier
			w.Verifier = eh.VerifierFunc(func(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
				if e.Task == "[4,6]" && tt.verify != nil {
					return tt.verify.Verify(ctx, e)
				}
				return base.Verify(ctx, e)
			})
			var stack []eh.Component
			if tt.stack != nil {
				stack = append(stack, eh.Rules(tt.stack.Spec(), func(ctx context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
					if e.Task == "[4,6]" {
						return tt.stack.Begin(ctx, e)
					}
					return eh.Hooks{}, nil
				}))
			}
			newPolicy := func(slot int) (eh.Policy, error) {
				if tt.name == "newPolicy errs" && slot == 1 {
					return good(), errBoom
				}
				if slot == 1 {
					return tt.policy, nil
				}
				return good(), nil
			}
			traces, err := eh.Rollouts(t.Context(), w, stack, newPolicy, []eh.Task{{ID: "[3,8]"}, {ID: "[4,6]"}, {ID: "[2,12]"}},
				&eh.RolloutOptions{MaxTurns: 3, StepTimeout: time.Minute, Reruns: new(0)})
			if err != nil || len(traces) != 3 {
				t.Fatalf("%s: %d traces, %v", tt.name, len(traces), err)
			}
			if traces[0].Verdict.Status != eh.Pass || traces[2].Verdict.Status != eh.Pass {
				t.Errorf("%s: the other slots suffered: %+v", tt.name, traces)
			}
			got := traces[1]
			if got.End != tt.end || got.Verdict.Status != tt.status || (tt.cause == "") != (got.Cause == "") || !strings.Contains(got.Cause, tt.cause) {
				t.Errorf("%s: end %s, verdict %v, cause %q", tt.name, got.End, got.Verdict, got.Cause)
			}
			if got.End.Infra() != (got.Verdict.Status == eh.Invalid) {
				t.Errorf("%s: end %s does not fit %v", tt.name, got.End, got.Verdict.Status)
			}
			if open.Load() != 0 {
				t.Errorf("%s: %d environments left open", tt.name, open.Load())
			}
			if back, err := read(write(t, traces)); err != nil || !cmp.Equal(traces, back) {
				t.Errorf("%s: round trip: %v", tt.name, err)
			}
		}
	})
}

func TestRolloutArguments(t *testing.T) {
	ok := func(int) (eh.Policy, error) { return script(), nil }
	w := toyWorld(nil, nil)
	for name, f := range map[string]func() ([]eh.Trace, error){
		"no policy": func() ([]eh.Trace, error) { return eh.Rollouts(t.Context(), w, nil, nil, tasks(1), nil) },
		"no world":  func() ([]eh.Trace, error) { return eh.Rollouts(t.Context(), eh.World{}, nil, ok, tasks(1), nil) },
		"negative": func() ([]eh.Trace, error) {
			return eh.Rollouts(t.Context(), w, nil, ok, tasks(1), &eh.RolloutOptions{Parallel: -1})
		},
		"wrong order": func() ([]eh.Trace, error) {
			return eh.Rollouts(t.Context(), w, []eh.Component{blockOp("x"), eh.Setup{}}, ok, nil, nil)
		},
	} {
		if traces, err := f(); err == nil || traces != nil {
			t.Errorf("%s: %v, %v", name, traces, err)
		}
	}
	if traces, err := eh.Rollouts(t.Context(), w, nil, ok, nil, &eh.RolloutOptions{Parallel: 4}); err != nil || len(traces) != 0 {
		t.Errorf("no tasks: %v, %v", traces, err)
	}
}

// Cancellation stops quickly, keeps what was completed, closes everything and leaves no goroutine.
func TestRolloutsCancel(t *testing.T) {
	before := runtime.NumGoroutine()
	var open atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	slow := toyWorld(&open, func(e *toy) {
		e.onStep = func(ctx context.Context, e *toy, _ eh.Action) (*eh.Transition, error) {
			if slices.Equal(e.numbers, []int{1, 1}) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, nil
		}
	})
	ts := slices.Concat(tasks(5), slices.Repeat([]eh.Task{{ID: "[1,1]"}}, 50))
	traces, err := eh.Rollouts(ctx, slow, nil, func(int) (eh.Policy, error) { return script(combine(0, 1, "mul"), stop), nil }, ts,
		&eh.RolloutOptions{Parallel: 4, Progress: func(done, _ int) {
			if done == 5 {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) || len(traces) != 5 {
		t.Errorf("%d traces, %v", len(traces), err)
	}
	for i, tr := range traces {
		if tr.Slot != i || tr.End != eh.EndTerminated {
			t.Errorf("trace %d: slot %d, end %s", i, tr.Slot, tr.End)
		}
	}
	if open.Load() != 0 {
		t.Errorf("%d environments left open", open.Load())
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 1e6 {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		runtime.Gosched()
	}
}

// Code that ends its goroutine, as t.FailNow does, spoils its own rollout and leaves no environment open.
func TestRolloutsGoexit(t *testing.T) {
	act := func(int) (eh.Policy, error) { return script(stop), nil }
	exit := func(context.Context) error { runtime.Goexit(); return nil }
	o := &eh.RolloutOptions{Parallel: 2}
	for name, play := range map[string]func(w eh.World) ([]eh.Trace, error){
		"policy": func(w eh.World) ([]eh.Trace, error) {
			return eh.Rollouts(t.Context(), w, nil, func(int) (eh.Policy, error) { runtime.Goexit(); return nil, nil }, tasks(5), o)
		},
		"act": func(w eh.World) ([]eh.Trace, error) {
			return eh.Rollouts(t.Context(), w, nil, func(int) (eh.Policy, error) {
				return eh.PolicyFunc(func(ctx context.Context, _ eh.Turn) (eh.Action, error) { return stop, exit(ctx) }), nil
			}, tasks(5), o)
		},
		"component": func(w eh.World) ([]eh.Trace, error) {
			c := rule(eh.AxisAction, eh.Hooks{Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) {
				return eh.PassAction(), exit(t.Context())
			}})
			return eh.Rollouts(t.Context(), w, []eh.Component{c}, act, tasks(5), o)
		},
		"verifier": func(w eh.World) ([]eh.Trace, error) {
			w.Verifier = eh.VerifierFunc(func(ctx context.Context, _ eh.Evidence) (eh.Verdict, error) { return eh.Verdict{}, exit(ctx) })
			return eh.Rollouts(t.Context(), w, nil, act, tasks(5), o)
		},
	} {
		var open atomic.Int64
		traces, err := play(toyWorld(&open, nil))
		if err != nil || len(traces) != 5 {
			t.Errorf("%s: %d traces, %v", name, len(traces), err)
		}
		for _, tr := range traces {
			if tr.Verdict.Status != eh.Invalid || !strings.Contains(tr.Cause, "ended its goroutine") {
				t.Errorf("%s: %+v", name, tr)
			}
		}
		if open.Load() != 0 {
			t.Errorf("%s: %d environments left open", name, open.Load())
		}
	}
	var open atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = eh.Rollouts(t.Context(), toyWorld(&open, nil), nil, act, tasks(5), &eh.RolloutOptions{Progress: func(int, int) { runtime.Goexit() }})
	}()
	<-ended
	if open.Load() != 0 {
		t.Errorf("progress: %d environments left open", open.Load())
	}
}

// A policy that writes into all it was shown changes neither what is recorded nor what is judged, even where every environment hands
// out the same lists.
func TestPolicyCannotTouchTheRecord(t *testing.T) {
	actions := []eh.Action{combine(0, 1, "mul")}
	cached := map[string]any{"numbers": []any{4.0, 6.0}}
	step := eh.Transition{Observation: eh.Observation{Text: "cached", Data: cached, Actions: actions}, Error: &eh.ActionError{Message: "no"}, Info: cached}
	w := toyWorld(nil, func(e *toy) {
		e.onStep = func(_ context.Context, e *toy, a eh.Action) (*eh.Transition, error) {
			if a.Name == "stop" {
				return nil, nil
			}
			return &step, nil
		}
	})
	w.Verifier = eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
		b, err := json.Marshal(e.Log)
		if strings.Contains(string(b), "spoilt") {
			return eh.Verdict{Status: eh.Pass}, err
		}
		return eh.Verdict{Status: eh.Fail}, err
	})
	spoil := func(turn eh.Turn) {
		for k := range turn.Shown.Data {
			turn.Shown.Data[k].([]any)[0] = "spoilt"
			turn.Shown.Data[k] = "spoilt"
		}
		for i := range turn.Shown.Actions {
			copy(turn.Shown.Actions[i].Args, `"spoilt"`)
			turn.Shown.Actions[i].Name = "spoilt"
		}
		if turn.Error != nil {
			turn.Error.Message = "spoilt"
		}
		clear(turn.Tools)
	}
	play := func(touch func(eh.Turn), stack ...eh.Component) string {
		traces, err := eh.Rollouts(t.Context(), w, stack, func(int) (eh.Policy, error) {
			return eh.PolicyFunc(func(_ context.Context, turn eh.Turn) (eh.Action, error) {
				touch(turn)
				if turn.Index == 3 {
					return stop, nil
				}
				return combine(0, 1, "mul"), nil
			}), nil
		}, tasks(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		return write(t, traces)
	}
	for _, stack := range [][]eh.Component{nil, {ruleID("hooked", eh.AxisAction, working)}} {
		want := play(func(eh.Turn) {}, stack...)
		if d := cmp.Diff(want, play(spoil, stack...)); d != "" || strings.Contains(want, `"pass"`) {
			t.Errorf("%d components: %s", len(stack), d)
		}
	}
}

// The caller's context reaches all code, and lives as long as the episode.
func TestContexts(t *testing.T) {
	type key struct{}
	base := context.WithValue(t.Context(), key{}, "mine")
	seen := map[string]int{}
	see := func(ctx context.Context, name string) {
		if ctx.Value(key{}) != "mine" || ctx.Err() != nil {
			t.Errorf("%s: context %v", name, ctx)
		}
		seen[name]++
	}
	c := eh.Rules(eh.ComponentSpec{Tag: "x", Axis: eh.AxisStart}, func(ctx context.Context, _ eh.EpisodeInfo) (eh.Hooks, error) {
		see(ctx, "begin")
		return eh.Hooks{
			Start: func(ctx context.Context, _ eh.View) ([]eh.StartEdit, error) { see(ctx, "start"); return nil, nil },
			Tools: func(ctx context.Context, ts []eh.Tool) ([]eh.Tool, error) { see(ctx, "tools"); return ts, nil },
			Action: func(ctx context.Context, _ eh.View, _ eh.Action) (eh.ActionEdit, error) {
				see(ctx, "action")
				return eh.PassAction(), nil
			},
			Transition: func(ctx context.Context, _ eh.View, _ eh.Transition) (eh.TransitionEdit, error) {
				see(ctx, "transition")
				return eh.TransitionEdit{}, nil
			},
			Observe: func(ctx context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) {
				see(ctx, "observe")
				return o, nil
			},
		}, nil
	})
	w := toyWorld(nil, nil)
	mk := w.New
	w.New = func(ctx context.Context) (eh.Environment, error) {
		see(ctx, "open")
		env, err := mk(ctx)
		env.(*toy).onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) { return nil, ctx.Err() }
		return env, err
	}
	traces, err := eh.Rollouts(base, w, []eh.Component{c}, func(int) (eh.Policy, error) { return script(combine(0, 1, "mul"), stop), nil },
		tasks(1), &eh.RolloutOptions{StepTimeout: time.Hour})
	if err != nil || traces[0].End != eh.EndTerminated {
		t.Fatalf("%v, %v", traces, err)
	}
	want := map[string]int{"open": 2, "begin": 1, "start": 1, "tools": 1, "action": 2, "transition": 1, "observe": 2}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}

// 7.1 case 12: infrastructure failures are no failures of the policy.
func TestSuccessRate(t *testing.T) {
	with := func(ss ...eh.Status) (ts []eh.Trace) {
		for _, s := range ss {
			ts = append(ts, eh.Trace{Verdict: eh.Verdict{Status: s}})
		}
		return ts
	}
	tests := []struct {
		in     []eh.Trace
		need   int
		rate   float64
		reason string
	}{
		{with(eh.Pass, eh.Pass, eh.Fail, eh.Fail, eh.Pass), 5, .6, "worked example 7, reruns done"},
		{with(eh.Pass, eh.Pass, eh.Fail, eh.Invalid, eh.Invalid), 5, math.NaN(), "worked example 7, reruns stayed invalid"},
		{with(eh.Pass, eh.Pass, eh.Fail, eh.Invalid, eh.Invalid), 3, 2. / 3, "Pass / (Pass + Fail)"},
		{with(eh.Invalid, eh.Invalid, eh.Invalid, eh.Invalid, eh.Invalid), 0, math.NaN(), "five timeouts: no rate, and not 0.00"},
		{nil, 0, math.NaN(), "nothing played"},
	}
	for _, tt := range tests {
		rate, err := eh.SuccessRate(tt.in, tt.need)
		if rate != tt.rate && !(math.IsNaN(rate) && math.IsNaN(tt.rate)) || errors.Is(err, eh.ErrInsufficient) != math.IsNaN(tt.rate) {
			t.Errorf("got %v, %v, want %v (%s)", rate, err, tt.rate, tt.reason)
		}
	}
}

func TestReadTracesRefuses(t *testing.T) {
	good := strings.TrimSuffix(write(t, []eh.Trace{{End: eh.EndTerminated}}), "\n")
	tests := []struct{ name, in, says string }{
		{"not JSON", good + "\n\n{", "line 3"},
		{"version", strings.Replace(good, `"schema_version":1`, `"schema_version":2`, 1), "line 1: schema_version is 2"},
		{"no version", `{"slot":0}`, "schema_version is 0"},
		{"unknown field", strings.Replace(good, `"slot"`, `"slut"`, 1), "unknown field"},
		{"unknown status", strings.Replace(good, `"invalid"`, `"maybe"`, 1), "maybe"},
		{"two documents", good + good, "line 1"},
		{"score", strings.Replace(good, `"score":0`, `"score":3`, 1), "outside"},
		{"an array", `[]`, "line 1"},
	}
	for _, tt := range tests {
		if _, err := read(tt.in); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if ts, err := read("\n" + good + "\n\n" + good + "\n"); err != nil || len(ts) != 2 {
		t.Errorf("blank lines: %d, %v", len(ts), err)
	}
	for range eh.ReadTraces(strings.NewReader(good + "\n" + good)) {
		break // stopping early must be possible
	}
	if err := eh.WriteTraces(&bytes.Buffer{}, []eh.Trace{{}, {Verdict: eh.Verdict{Score: math.NaN()}}}); err == nil || !strings.Contains(err.Error(), "trace 1") {
		t.Errorf("NaN: %v", err)
	}
	var long bytes.Buffer // what is written can be read
	err := eh.WriteTraces(&long, []eh.Trace{{}, {Cause: strings.Repeat("x", 64<<20)}})
	if ts, readErr := read(long.String()); err == nil || !strings.Contains(err.Error(), "trace 1: a line of") || len(ts) != 1 || readErr != nil {
		t.Errorf("long line: error %v, %d traces read, %v", err, len(ts), readErr)
	}
	if err := eh.WriteTraces(brokenWriter{}, []eh.Trace{{}}); !errors.Is(err, errBoom) {
		t.Errorf("broken writer: %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBoom }

// What is read can be written and read again without a change.
func FuzzReadTraces(f *testing.F) {
	stack := []eh.Component{eh.Setup{Actions: []eh.Action{combine(0, 1, "add")}}, noisy(), blockOp("mul")}
	traces, err := eh.Rollouts(f.Context(), toyWorld(nil, func(t *toy) { t.start = []int{1, 2, 3, 4} }), stack, randomPolicy, []eh.Task{{}, {ID: "[1,2,3]"}, {ID: "x"}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, t := range traces {
		f.Add([]byte(write(f, []eh.Trace{t})))
	}
	f.Add([]byte("{\"schema_version\":1,\"turns\":[{\"proposed\":{\"name\":\"a\",\"args\": {\"b\" : \"<\u2028\xff\"} }}],\"log\":[],\"layers\":[]}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		first, err := read(string(in))
		if err != nil && len(first) == 0 {
			return
		}
		out := write(t, first)
		second, err := read(out)
		if err != nil {
			t.Fatalf("cannot read back %q: %v", out, err)
		}
		if d := cmp.Diff(first, second); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
		if again := write(t, second); again != out {
			t.Fatalf("%q became %q", out, again)
		}
	})
}

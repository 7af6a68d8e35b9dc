package envharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// What a component is told of the base is a copy: writing into it opens no graded field, here or for another component.
func TestComponentsCannotTouchTheDescription(t *testing.T) {
	var states []string
	vandal := eh.Rules(eh.ComponentSpec{Tag: "vandal", Axis: eh.AxisAction}, func(_ context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
		e.Base().Graded[0] = "nothing"
		e.Base().Tools[0].Name = "spoilt"
		copy(e.Base().Tools[0].Schema, "spoilt")
		return eh.Hooks{Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
			st, err := v.State()
			states = append(states, string(st))
			return eh.PassAction(), err
		}}, nil
	})
	second := eh.Rules(eh.ComponentSpec{Tag: "second", Axis: eh.AxisAction}, func(_ context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
		if e.Base().Graded[0] != "success" || e.Base().Tools[0].Name != "combine" || string(e.Base().Tools[0].Schema) != `{"type":"object"}` {
			t.Errorf("the second component is told %+v", e.Base())
		}
		return eh.Hooks{}, nil
	})
	h := mustNew(t, worldOf(&toy{start: []int{4, 6}}), vandal, second)
	for range 2 {
		mustReset(t, h)
		mustStep(t, h, combine(0, 1, "add"))
	}
	if len(states) != 2 || strings.Contains(states[0]+states[1], "success") {
		t.Errorf("states %q", states)
	}
	if tools := h.Tools(); tools[0].Name != "combine" || string(tools[0].Schema) != `{"type":"object"}` {
		t.Errorf("tools %+v", tools)
	}
}

// Edits of the start come from components of the start, whatever a component calls itself.
func TestStartEditsNeedTheAxis(t *testing.T) {
	sly := rule(eh.AxisAction, eh.Hooks{Start: func(context.Context, eh.View) ([]eh.StartEdit, error) {
		return []eh.StartEdit{{Action: combine(0, 1, "mul")}}, nil
	}})
	chain := chainOf(t, nil, toyLeg(), toyLeg())
	for _, w := range []eh.World{worldOf(&toy{start: []int{4, 6}}), chain} {
		if _, err := mustNew(t, w, sly).Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, eh.ErrOrder) {
			t.Errorf("got %v", err)
		}
	}
	// A chain stays one when its world is put together anew.
	again := eh.World{New: chain.New, Verifier: chain.Verifier}
	if _, err := mustNew(t, again, eh.Setup{}).Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, eh.ErrOrder) {
		t.Errorf("setup around a chain: %v", err)
	}
}

// A policy cannot spoil a chain with arguments that are no JSON.
func TestLinkBadArguments(t *testing.T) {
	bad := eh.Action{Name: "combine", Args: json.RawMessage(`{"i":`)}
	traces, err := eh.Rollouts(t.Context(), chainOf(t, nil, toyLeg(), toyLeg()), nil, func(int) (eh.Policy, error) { return script(bad), nil }, []eh.Task{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := traces[0]; got.Verdict.Status != eh.Fail || got.End != eh.EndAgentStop || got.Reruns != 0 {
		t.Errorf("end %s, %+v, cause %q", got.End, got.Verdict, got.Cause)
	}
}

// The hand-off of a chain inside is no submission of it.
func TestLinkNestedSubmitted(t *testing.T) {
	submitting := func() eh.Leg {
		return eh.Leg{World: toyWorld(nil, func(e *toy) {
			e.onStep = func(_ context.Context, e *toy, a eh.Action) (*eh.Transition, error) {
				if a.Name != "submit" {
					return nil, nil
				}
				e.stopped = true
				return &eh.Transition{Observation: e.observation(), Info: map[string]any{"submitted": true}}, nil
			}
		})}
	}
	inner := chainOf(t, nil, submitting(), submitting())
	good := []eh.Action{combine(0, 1, "mul"), {Name: "submit"}}
	traces, err := eh.Rollouts(t.Context(), chainOf(t, nil, eh.Leg{World: inner}, submitting()), nil,
		func(int) (eh.Policy, error) { return script(slices.Concat(good, good, good)...), nil }, []eh.Task{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := traces[0]; got.Verdict.Status != eh.Pass || len(got.Turns) != 6 {
		t.Errorf("%+v after %d turns, cause %q", got.Verdict, len(got.Turns), got.Cause)
	}
}

// The base's failure during a setup is its own, and worth another try.
func TestSetupOnAFlakyBase(t *testing.T) {
	failures := 1
	w := toyWorld(nil, func(e *toy) {
		e.start = []int{4, 3, 2}
		e.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
			if failures > 0 {
				failures--
				return nil, errBoom
			}
			return nil, nil
		}
	})
	traces, err := eh.Rollouts(t.Context(), w, []eh.Component{eh.Setup{Actions: []eh.Action{combine(1, 2, "mul")}}},
		func(int) (eh.Policy, error) { return script(combine(0, 1, "mul"), stop), nil }, []eh.Task{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := traces[0]; got.Verdict.Status != eh.Pass || got.Reruns != 1 {
		t.Errorf("%+v after %d reruns, cause %q", got.Verdict, got.Reruns, got.Cause)
	}
}

// A talker explains each answer.
type talker struct {
	eh.Policy
	said int
}

func (p *talker) Explain() (string, int) {
	p.said++
	return strings.Repeat("word ", p.said), p.said
}

// The answer with which a policy stops is kept, as one that used up no turn.
func TestLastAnswerIsKept(t *testing.T) {
	traces, err := eh.Rollouts(t.Context(), toyWorld(nil, nil), nil, func(int) (eh.Policy, error) { return &talker{Policy: script(combine(0, 1, "add"))}, nil },
		[]eh.Task{{}}, &eh.RolloutOptions{MaxTurns: 9})
	if err != nil {
		t.Fatal(err)
	}
	turns := traces[0].Turns
	if len(turns) != 2 || turns[0].Said != "word " || turns[0].Tokens != 1 || turns[0].Left != 9 {
		t.Fatalf("%+v", turns)
	}
	if d := cmp.Diff(eh.TurnTrace{Said: "word word ", Tokens: 2}, turns[1]); d != "" {
		t.Error(d)
	}
}

// A trace holds the tools that were shown, and what components made of them.
func TestTraceHoldsTools(t *testing.T) {
	hide := ruleID("hide", eh.AxisAction, eh.Hooks{Tools: func(_ context.Context, ts []eh.Tool) ([]eh.Tool, error) { return ts[1:], nil }})
	chain := chainOf(t, nil, toyLeg(), eh.Leg{World: toyWorld(nil, nil), Components: []eh.Component{hide}})
	traces, err := eh.Rollouts(t.Context(), chain, []eh.Component{hide}, func(int) (eh.Policy, error) { return script(stop, stop), nil }, []eh.Task{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := traces[0]
	names := func(ts []eh.Tool) (out string) {
		for _, tool := range ts {
			out += tool.Name + " "
		}
		return out
	}
	if names(got.Tools) != "stop " || len(got.Layers) != 1 || names(got.Layers[0].ToolsIn) != "combine stop " || names(got.Layers[0].ToolsOut) != "stop " {
		t.Errorf("at the start: tools %s, layers %+v", names(got.Tools), got.Layers)
	}
	first := got.Turns[0]
	if first.Tools == nil || len(first.Tools) != 0 || names(first.Layers[0].ToolsIn) != "stop " {
		t.Errorf("at the hand-off: %+v", first)
	}
	if got.Turns[1].Tools != nil {
		t.Errorf("at the end: %+v", got.Turns[1].Tools)
	}
	if back, err := read(write(t, traces)); err != nil || !cmp.Equal(traces, back) {
		t.Errorf("round trip: %v\n%s", err, cmp.Diff(traces, back))
	}
}

// Options of a task reach the environment, and the replay.
func TestTaskOptions(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	w := toyWorld(nil, nil)
	mk := w.New
	w.New = func(ctx context.Context) (eh.Environment, error) {
		e, err := mk(ctx)
		return optionNoter{e.(*toy), func(o string) { mu.Lock(); defer mu.Unlock(); seen = append(seen, o) }}, err
	}
	base := w.Verifier
	w.Verifier = eh.VerifierFunc(func(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
		copy(e.Options, "spoilt") // a copy
		return base.Verify(ctx, e)
	})
	traces, err := eh.Rollouts(t.Context(), w, nil, func(int) (eh.Policy, error) { return script(stop), nil },
		[]eh.Task{{Options: json.RawMessage(`{"hard":true}`)}}, nil)
	if err != nil || traces[0].Verdict.Status != eh.Fail {
		t.Fatalf("%+v, %v", traces, err)
	}
	if d := cmp.Diff([]string{`{"hard":true}`, `{"hard":true}`}, seen); d != "" {
		t.Error(d)
	}
	if back, err := read(write(t, traces)); err != nil || !cmp.Equal(traces, back) {
		t.Errorf("round trip: %v\n%s", err, cmp.Diff(traces, back))
	}
}

type optionNoter struct {
	*toy
	note func(string)
}

func (o optionNoter) Reset(ctx context.Context, r eh.ResetOptions) (eh.Observation, error) {
	o.note(string(r.Options))
	return o.toy.Reset(ctx, r)
}

// An own loop can end an episode, or charge a turn, as Rollouts does.
func TestStopAndUnreadable(t *testing.T) {
	h := mustNew(t, toyWorld(nil, nil))
	if _, err := h.Unreadable(t.Context(), "x"); !errors.Is(err, eh.ErrNeedReset) {
		t.Error(err)
	}
	if err := h.Stop(t.Context(), eh.EndAgentStop); !errors.Is(err, eh.ErrNeedReset) {
		t.Error(err)
	}
	mustReset(t, h)
	tr, err := h.Unreadable(t.Context(), "no JSON")
	if err != nil || tr.Observation.Text != "[invalid action] no JSON\n\nnumbers 4 6" || tr.Error.Class != eh.ClassBadArgs {
		t.Errorf("%+v, %v", tr, err)
	}
	if err := h.Stop(t.Context(), eh.EndTerminated); err == nil {
		t.Error("a policy cannot terminate")
	}
	if err := h.Stop(t.Context(), eh.EndTokenBudget); err != nil {
		t.Error(err)
	}
	if _, err := h.Step(t.Context(), stop); !errors.Is(err, eh.ErrEpisodeOver) {
		t.Error(err)
	}
	if err := h.Stop(t.Context(), eh.EndAgentStop); !errors.Is(err, eh.ErrEpisodeOver) {
		t.Error(err)
	}
	if v := mustVerdict(t, h); v.Status != eh.Fail || v.Unreplayed || mustEvidence(t, h).EndReason != eh.EndTokenBudget {
		t.Errorf("%+v", v)
	}
}

// Tasks may depend on what the loop knows by then, without a lock. What is finished is yielded before the next task is asked for.
func TestStreamCurriculum(t *testing.T) {
	passed := 0
	tasks := func(yield func(eh.Task) bool) {
		for i := range 40 {
			id := "[4,6]"
			if passed < 3 {
				id = "[3,8]"
			}
			if !yield(eh.Task{ID: id, Family: strings.Repeat("x", i)}) {
				return
			}
		}
	}
	seen := map[string]int{}
	for tr, err := range eh.Stream(t.Context(), toyWorld(nil, nil), nil, func(int) (eh.Policy, error) { return script(combine(0, 1, "mul"), stop), nil }, tasks,
		&eh.RolloutOptions{Parallel: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		passed++
		seen[tr.Task.ID]++
	}
	if seen["[3,8]"] < 3 || seen["[4,6]"] == 0 {
		t.Errorf("%v", seen)
	}
}

// The rollout waits for the Close that it asked for.
func TestCloseDoesNotOutlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing := make(chan struct{})
		done := false
		w := toyWorld(nil, func(e *toy) {
			e.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) { <-closing; return nil, errBoom }
			e.onClose = func() error {
				close(closing)
				time.Sleep(grace / 2)
				done = true
				return nil
			}
		})
		traces, err := eh.Rollouts(t.Context(), w, nil, func(int) (eh.Policy, error) { return script(stop), nil }, []eh.Task{{}}, &eh.RolloutOptions{Reruns: new(0)})
		if err != nil || traces[0].End != eh.EndTimeout || !done || strings.Contains(traces[0].Cause, "left behind") {
			t.Errorf("closed %v, %+v, %v", done, traces, err)
		}
	})
}

const grace = time.Second // as documented

// A hook around a leg is bounded like any other, and at fault itself.
func TestLegHookTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lazy := rule(eh.AxisAction, eh.Hooks{Action: func(ctx context.Context, _ eh.View, _ eh.Action) (eh.ActionEdit, error) {
			<-ctx.Done()
			return eh.PassAction(), ctx.Err()
		}})
		leg := toyLeg()
		leg.Components = []eh.Component{lazy}
		began := time.Now()
		traces, err := eh.Rollouts(t.Context(), chainOf(t, nil, leg, toyLeg()), nil, func(int) (eh.Policy, error) { return script(stop), nil },
			[]eh.Task{{}}, &eh.RolloutOptions{HookTimeout: time.Second, Reruns: new(0)})
		if err != nil || traces[0].End != eh.EndComponentError || time.Since(began) != time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(began), traces, err)
		}
	})
}

// A call that begins while the clock is being looked at is bounded by its own limit.
func TestShortLimitAfterALongCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := toyWorld(nil, func(e *toy) { e.onReset = func() error { time.Sleep(1500 * time.Millisecond); return nil } })
		lazy := eh.Rules(eh.ComponentSpec{Tag: "lazy", Axis: eh.AxisAction}, func(ctx context.Context, _ eh.EpisodeInfo) (eh.Hooks, error) {
			<-ctx.Done()
			return eh.Hooks{}, ctx.Err()
		})
		began := time.Now()
		traces, err := eh.Rollouts(t.Context(), w, []eh.Component{lazy}, func(int) (eh.Policy, error) { return script(stop), nil }, []eh.Task{{}},
			&eh.RolloutOptions{HookTimeout: time.Second, Reruns: new(0)})
		if err != nil || traces[0].End != eh.EndComponentError || time.Since(began) != 2500*time.Millisecond {
			t.Errorf("after %v: %+v, %v", time.Since(began), traces, err)
		}
	})
}

// A broken error panics when it is asked what it is, as a nil pointer returned as an error does.
type brokenError struct{ text string }

func (e *brokenError) Error() string { return e.text }

func brokenErr() error { var e *brokenError; return e }

type badIs struct{ error }

func (badIs) Is(error) bool { panic("is") }

// Errors of foreign code are foreign code.
func TestBrokenErrors(t *testing.T) {
	good := func() eh.Policy { return script(combine(0, 1, "mul"), stop) }
	for _, bad := range []error{brokenErr(), badIs{errBoom}} {
		for name, f := range map[string]func(w *eh.World) eh.Policy{
			"policy": func(*eh.World) eh.Policy { return failing(bad) },
			"step": func(w *eh.World) eh.Policy {
				*w = toyWorld(nil, onStep(func(context.Context) error { return bad }))
				return good()
			},
			"close": func(w *eh.World) eh.Policy {
				*w = toyWorld(nil, func(e *toy) { e.onClose = func() error { return bad } })
				return good()
			},
			"verifier": func(w *eh.World) eh.Policy {
				w.Verifier = eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{}, bad })
				return good()
			},
			"open": func(w *eh.World) eh.Policy {
				w.New = func(context.Context) (eh.Environment, error) { return nil, bad }
				return good()
			},
		} {
			w := toyWorld(nil, nil)
			p := f(&w)
			traces, err := eh.Rollouts(t.Context(), w, nil, func(int) (eh.Policy, error) { return p, nil }, []eh.Task{{}}, &eh.RolloutOptions{Reruns: new(0)})
			if err != nil || traces[0].Verdict.Status != eh.Invalid || traces[0].Cause == "" {
				t.Errorf("%s, %T: %+v, %v", name, bad, traces, err)
			}
		}
	}
}

// An environment that is only broken at the replay.
func TestReplayUnwrapPanics(t *testing.T) {
	made := 0
	w := toyWorld(nil, nil)
	mk := w.New
	w.New = func(ctx context.Context) (eh.Environment, error) {
		e, err := mk(ctx)
		if made++; made == 2 {
			return badWrapper{e}, err
		}
		return e, err
	}
	traces, err := eh.Rollouts(t.Context(), w, nil, func(int) (eh.Policy, error) { return script(stop), nil }, []eh.Task{{}}, &eh.RolloutOptions{Reruns: new(0)})
	if err != nil || traces[0].Verdict.Status != eh.Invalid || !strings.Contains(traces[0].Cause, "replay: describe: panic") {
		t.Errorf("%+v, %v", traces, err)
	}
}

// No more workers are started than there is work for.
func TestUnlimitedParallel(t *testing.T) {
	o := &eh.RolloutOptions{Parallel: math.MaxInt}
	ok := func(int) (eh.Policy, error) { return script(stop), nil }
	for _, n := range []int{0, 3} {
		traces, err := eh.Rollouts(t.Context(), toyWorld(nil, nil), nil, ok, tasks(n), o)
		if err != nil || len(traces) != n {
			t.Errorf("%d traces, %v", len(traces), err)
		}
		got := 0
		for _, err := range eh.Stream(t.Context(), toyWorld(nil, nil), nil, ok, slices.Values(tasks(n)), o) {
			if err != nil {
				t.Error(err)
			}
			got++
		}
		if got != n {
			t.Errorf("%d of %d", got, n)
		}
	}
}

// A component whose Spec is not constant, and ends its goroutine, spoils its rollout alone.
func TestSpecEndsItsGoroutine(t *testing.T) {
	asked := 0
	c := &fickle{Component: blockOp("add"), spec: func(s eh.ComponentSpec) eh.ComponentSpec {
		if asked++; asked == 2 { // the first is the check of the arguments
			runtime.Goexit()
		}
		return s
	}}
	traces, err := eh.Rollouts(t.Context(), toyWorld(nil, nil), []eh.Component{c}, func(int) (eh.Policy, error) { return script(stop), nil }, tasks(3),
		&eh.RolloutOptions{Reruns: new(0)})
	if err != nil || traces[0].Verdict.Status != eh.Invalid || traces[1].Verdict.Status != eh.Fail || traces[2].Verdict.Status != eh.Fail {
		t.Errorf("%+v, %v", traces, err)
	}
}

type fickle struct {
	eh.Component
	spec func(eh.ComponentSpec) eh.ComponentSpec
}

func (f *fickle) Spec() eh.ComponentSpec { return f.spec(f.Component.Spec()) }

// What a component sees of a chain's state does not grow with the episode.
func TestLinkPublicState(t *testing.T) {
	sizes := map[int]bool{}
	spy := rule(eh.AxisAction, eh.Hooks{Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
		st, err := v.State()
		sizes[len(st)] = true
		return eh.PassAction(), err
	}})
	leg := toyLeg()
	h := mustNew(t, chainOf(t, nil, leg, leg), spy)
	mustReset(t, h)
	for range 5 {
		mustStep(t, h, eh.Action{Name: "wait"})
	}
	if len(sizes) != 1 {
		t.Errorf("sizes %v", sizes)
	}
}

// A base that ends the goroutine of a Step leaves an episode that is over, and no entry of a step that never came back.
func TestStepEndsItsGoroutine(t *testing.T) {
	h := mustNew(t, worldOf(&toy{start: []int{4, 6}, onStep: func(context.Context, *toy, eh.Action) (*eh.Transition, error) { runtime.Goexit(); return nil, nil }}))
	mustReset(t, h)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = h.Step(t.Context(), stop)
	}()
	<-ended
	if e := mustEvidence(t, h); len(e.Log) != 1 || e.EndReason != eh.EndEnvError {
		t.Errorf("%+v", e)
	}
	if v := mustVerdict(t, h); v.Status != eh.Invalid {
		t.Errorf("%+v", v)
	}
}

package rigtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

func call(name, args string) envharness.Action {
	return envharness.Action{Name: name, Args: json.RawMessage(args)}
}

// script plays the actions, whatever comes of them, and stops.
func script(actions ...envharness.Action) rigtest.Maker {
	return func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
			if t.Index >= len(actions) {
				return envharness.Action{}, envharness.ErrStop
			}
			return actions[t.Index], nil
		}), nil
	}
}

// hostilePlay plays a script behind a hostile kind, built by a registry from its entry.
func hostilePlay(t *testing.T, tag string, actions []envharness.Action, n int) []envharness.Trace {
	t.Helper()
	w, tap := rigtest.Tap(tooldesk.World(&tooldesk.Options{Small: true}))
	registry := components.Catalogue()
	var stack []envharness.Component
	for _, h := range rigtest.Hostiles(tap) {
		if err := registry.Add(h.Kind); err != nil {
			t.Fatal(err)
		}
		if h.Kind.Tag == tag {
			var err error
			if stack, err = registry.Stack(h.Entry()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if tag != "" && stack == nil {
		t.Fatalf("no hostile kind %q", tag)
	}
	task := envharness.Task{ID: "small-T1-0000", Seed: new(uint64(3))}
	traces, err := envharness.Rollouts(context.Background(), w, stack, func(int) (envharness.Policy, error) { return script(actions...)(task, nil) },
		slices.Repeat([]envharness.Task{task}, n), &envharness.RolloutOptions{Reruns: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

// Each hostile kind does what it says.
func TestHostilesAreHostile(t *testing.T) {
	plan, err := yardstick.Plan(context.Background(), tooldesk.World(&tooldesk.Options{Small: true}), envharness.Task{ID: "small-T1-0000"})
	if err != nil {
		t.Fatal(err)
	}
	wrong := append([]envharness.Action{call("get_order", `{"order_id":"o9"}`)}, plan...)
	honest := hostilePlay(t, "", wrong, 1)[0]
	if honest.Verdict.Status != envharness.Pass || honest.Turns[0].Shown.Error == nil {
		t.Fatalf("the script does not pass by itself: %s", told(honest))
	}
	same := func(tr envharness.Trace) bool {
		return reflect.DeepEqual(tr.Verdict, honest.Verdict) && slices.EqualFunc(tr.Turns, honest.Turns, func(a, b envharness.TurnTrace) bool {
			return reflect.DeepEqual(a.Shown, b.Shown) && reflect.DeepEqual(a.Applied, b.Applied) && len(a.Layers) == 0
		}) && reflect.DeepEqual(tr.Shown, honest.Shown) && reflect.DeepEqual(tr.Tools, honest.Tools)
	}
	failsWith := func(end envharness.EndReason, cause string) func(tr envharness.Trace) bool {
		return func(tr envharness.Trace) bool {
			return tr.Verdict.Status == envharness.Invalid && tr.End == end && strings.Contains(tr.Cause, cause)
		}
	}
	prints := func(what string) func(tr envharness.Trace) bool {
		return func(tr envharness.Trace) bool {
			return strings.Contains(tr.Shown.Text, what) && !strings.Contains(honest.Shown.Text, what)
		}
	}
	tests := []struct {
		tag, step string
		is        func(tr envharness.Trace) bool
		reason    string
	}{
		{"hostile_dead", "static", same, "nothing is changed"},
		{"hostile_scribble", "static", same, "what is written into copies goes nowhere"},
		{"hostile_panic", "integrity", failsWith(envharness.EndComponentError, "hostile_panic"), "a panic is the component's"},
		{"hostile_error", "integrity", failsWith(envharness.EndComponentError, "hostile_error"), "as is an error"},
		{"hostile_false", "integrity", func(tr envharness.Trace) bool {
			write := tr.Turns[3]
			return write.Proposed.Name == "cancel_order" && write.Applied == nil && write.Shown.Error == nil && tr.Verdict.Status == envharness.Fail
		}, "the write is told to have been carried out"},
		{"hostile_swallow", "integrity", func(tr envharness.Trace) bool {
			return tr.Turns[0].Applied == nil && tr.Turns[0].Shown.Error == nil && tr.Verdict.Status == envharness.Pass
		}, "the refusal is gone, all else is as it was"},
		{"hostile_state", "integrity", prints(`{"`), "the state is JSON, the text is not"},
		{"hostile_hand", "integrity", func(tr envharness.Trace) bool {
			return tr.Verdict.Status == envharness.Invalid && tr.Turns[3].Shown.Error != nil
		}, "the log does not have the call that cancelled the order"},
		{"hostile_head", "integrity", func(tr envharness.Trace) bool {
			return tr.Verdict.Status == envharness.Invalid && tr.Turns[3].Shown.Error != nil && len(tr.Log) == 1
		}, "nor those before the first turn"},
		{"hostile_leak", "integrity", prints("orders: ["), "a table that the verifier reads"},
		{"hostile_hint", "integrity", prints(plan[0].String()), "the first action of the plan"},
		{"hostile_solve", "start", failsWith(envharness.EndComponentError, "setup failed"), "a start may not end the episode"},
		{"hostile_gift", "null", func(tr envharness.Trace) bool {
			return len(tr.Log) == len(plan)+1 // the reset, the plan without its last action, and the rewind
		}, "one action is left"},
		{"hostile_end", "oracle", func(tr envharness.Trace) bool {
			return len(tr.Turns) == 1 && tr.End == "budget:hostile_end" && tr.Verdict.Status == envharness.Fail
		}, "one turn"},
		{"hostile_cut", "oracle", func(tr envharness.Trace) bool {
			return len(tr.Turns) == 2 && strings.HasPrefix(string(tr.End), "budget:hostile_cut") && tr.Verdict.Status == envharness.Fail
		}, "the refused call goes on, the next is the last"},
		{"hostile_wall", "oracle", func(tr envharness.Trace) bool {
			return !slices.ContainsFunc(tr.Turns, func(turn envharness.TurnTrace) bool { return turn.Applied != nil })
		}, "nothing reaches the world"},
		{"hostile_pilot", "integrity", func(tr envharness.Trace) bool {
			return tr.Verdict.Status == envharness.Pass && len(tr.Turns) == len(plan) && tr.Turns[0].Applied.Name == plan[0].Name
		}, "whatever is asked for, the plan is played"},
	}
	seen := map[string]bool{"hostile_moody": true, "hostile_sleeper": true}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		seen[tt.tag] = true
		if tr := hostilePlay(t, tt.tag, wrong, 1)[0]; !tt.is(tr) {
			t.Errorf("%s (%s): %s\n  %s %s\n  %q", tt.tag, tt.reason, told(tr), tr.Cause, tr.Verdict.Reason, tr.Shown.Text)
		}
	}
	moody := hostilePlay(t, "hostile_moody", plan, 3)
	for i, tr := range moody {
		if blocked := tr.Turns[0].Applied == nil; blocked != (i%2 == 0) || tr.Turns[1].Applied == nil {
			t.Errorf("hostile_moody, episode %d: blocked %t", i, blocked)
		}
	}
	sleeper := hostilePlay(t, "hostile_sleeper", plan, 44)
	for i, tr := range sleeper {
		if i < 40 || i%2 == 1 {
			if tr.Turns[0].Applied != nil || tr.Turns[0].Shown.Error == nil || tr.Turns[1].Applied == nil {
				t.Errorf("hostile_sleeper, episode %d: it does not sleep", i)
			}
		} else if slices.ContainsFunc(tr.Turns, func(turn envharness.TurnTrace) bool { return turn.Applied != nil || turn.Shown.Error != nil }) {
			t.Errorf("hostile_sleeper, episode %d: it does not answer", i)
		}
	}
	_, tap := rigtest.Tap(tooldesk.World(nil))
	for _, h := range rigtest.Hostiles(tap) {
		for _, tt := range tests {
			if tt.tag == h.Kind.Tag && tt.step != h.Step {
				t.Errorf("%s is for step %s, want %s", tt.tag, h.Step, tt.step)
			}
		}
		if !seen[h.Kind.Tag] {
			t.Errorf("%s is not tested", h.Kind.Tag)
		}
		if h.Kind.About == "" {
			t.Errorf("%s does not say what it does", h.Kind.Tag)
		}
	}
}

// A pilot needs no policy that knows anything.
func TestPilotPassesNulls(t *testing.T) {
	if tr := hostilePlay(t, "hostile_pilot", slices.Repeat([]envharness.Action{call("noop", `{}`)}, 12), 1)[0]; tr.Verdict.Status != envharness.Pass {
		t.Error(told(tr))
	}
}

func TestHostileKinds(t *testing.T) {
	if all, some := len(tapped(t)), len(rigtest.Hostiles(nil)); all != some+7 {
		t.Errorf("%d kinds, %d of them without a tap", all, some)
	}
	order := []string{"static", "integrity", "start", "oracle", "null"}
	at := 0
	for _, h := range tapped(t) {
		i := slices.Index(order, h.Step)
		if i < at {
			t.Errorf("%s of step %q comes too late", h.Kind.Tag, h.Step)
		}
		at = i
		tests := []struct {
			params string
			want   error
			reason string
		}{
			{``, nil, "none"}, {`{}`, nil, "none"}, {` {} `, nil, "none"},
			{`{"x":1}`, components.ErrUnknownParam, "there are no parameters"},
			{`null`, components.ErrUnknownParam, "no object"},
		}
		for _, tt := range tests {
			if c, err := h.Kind.New(json.RawMessage(tt.params)); !errors.Is(err, tt.want) || err == nil && c.Spec().Tag != h.Kind.Tag {
				t.Errorf("%s: params %s: error %v, want %v (%s)", h.Kind.Tag, tt.params, err, tt.want, tt.reason)
			}
		}
		if _, err := h.Kind.New(json.RawMessage(`[`)); err == nil {
			t.Errorf("%s: params that are no JSON are no error", h.Kind.Tag)
		}
	}
}

func tapped(t *testing.T) []rigtest.Hostile {
	t.Helper()
	_, tap := rigtest.Tap(tooldesk.World(nil))
	return rigtest.Hostiles(tap)
}

// A tap changes nothing, hands out what plays an episode, and forgets what is closed.
func TestTap(t *testing.T) {
	ctx := context.Background()
	plain := tooldesk.World(&tooldesk.Options{Small: true})
	w, tap := rigtest.Tap(plain)
	task := envharness.Task{ID: "small-T1-0000", Seed: new(uint64(3))}
	if a, b := play(t, plain, nil, task, rigtest.Clean(plain), 2), play(t, w, nil, task, rigtest.Clean(w), 2); !reflect.DeepEqual(a, b) {
		t.Error("traces differ behind a tap")
	}
	if _, ok := tap.Live(task.ID, 3); ok {
		t.Error("an environment is live after all are closed")
	}
	a, err := w.New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	reset := func(env envharness.Environment, task string, seed uint64) {
		t.Helper()
		if _, err := env.Reset(ctx, envharness.ResetOptions{Task: task, Seed: &seed}); err != nil {
			t.Fatal(err)
		}
	}
	inner := func(env envharness.Environment) envharness.Environment {
		return env.(interface{ Unwrap() envharness.Environment }).Unwrap()
	}
	is := func(want envharness.Environment, task string, seed uint64, reason string) {
		t.Helper()
		if got, ok := tap.Live(task, seed); ok != (want != nil) || want != nil && got != inner(want) {
			t.Errorf("%s: not the environment that was to be handed out", reason)
		}
	}
	is(nil, "", 0, "none was reset")
	reset(a, "small-T1-0000", 1)
	reset(b, "small-T1-0000", 2)
	is(a, "small-T1-0000", 1, "the seed tells")
	is(b, "small-T1-0000", 2, "the seed tells")
	reset(b, "small-T1-0000", 1)
	is(b, "small-T1-0000", 1, "the newest")
	is(nil, "small-T1-0000", 2, "its episode is over")
	reset(a, "small-T1-0000", 1)
	is(a, "small-T1-0000", 1, "the newest, again")
	if _, err := a.Reset(ctx, envharness.ResetOptions{Task: "no such task", Seed: new(uint64(1))}); err == nil {
		t.Fatal("no error of an unknown task")
	}
	is(b, "small-T1-0000", 1, "a failed reset leaves no episode")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	is(nil, "small-T1-0000", 1, "it is closed")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

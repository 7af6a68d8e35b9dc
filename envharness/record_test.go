package envharness_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// rollOne plays one episode.
func rollOne(t testing.TB, w eh.World, p func() eh.Policy, task eh.Task, o *eh.RolloutOptions, cs ...eh.Component) eh.Trace {
	t.Helper()
	traces, err := eh.Rollouts(t.Context(), w, cs, func(int) (eh.Policy, error) { return p(), nil }, []eh.Task{task}, o)
	if err != nil {
		t.Fatal(err)
	}
	return traces[0]
}

// counting is a policy that tells nothing but its tokens.
type counting struct{ eh.Policy }

func (counting) Explain() (string, int) { return "", 3 }

// How an episode ends, and what of its last turn is recorded.
func TestLastTurnRecorded(t *testing.T) {
	refuses := func(err error) func() eh.Policy { return func() eh.Policy { return failing(err) } }
	tests := []struct {
		name   string
		change func(*toy)
		policy func() eh.Policy
		end    eh.EndReason
		turns  int
		cause  string
		reason string
	}{
		{"stop", nil, refuses(eh.ErrStop), eh.EndAgentStop, 0, "", "a policy that explains nothing leaves no turn behind"},
		{"token budget", nil, refuses(eh.ErrTokenBudget), eh.EndTokenBudget, 0, "", "a reason of its own"},
		{"tokens alone", nil, func() eh.Policy { return counting{failing(eh.ErrStop)} }, eh.EndAgentStop, 1, "", "tokens without a text count"},
		{"failed step", onStep(func(context.Context) error { return errBoom }), func() eh.Policy { return script(stop) }, eh.EndEnvError, 1,
			"boom",
			"the turn in which the base failed"},
		{"failed twice", func(t *toy) {
			t.onStep, t.onClose = onStepErr, func() error { return errors.New("close failed as well") }
		}, func() eh.Policy { return script(stop) }, eh.EndEnvError, 1, "boom", "the first cause is kept"},
		{"base limit", func(t *toy) { t.limit = 1 }, func() eh.Policy { return script(combine(0, 1, "add")) }, eh.EndTruncated, 1, "",
			"not max_turns"},
		{"both flags", func(t *toy) {
			t.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
				return &eh.Transition{Terminated: true, Truncated: true}, nil
			}
		}, func() eh.Policy { return script(stop) }, eh.EndTerminated, 1, "", "the task's end comes first"},
	}
	for _, tt := range tests {
		got := rollOne(t, toyWorld(nil, tt.change), tt.policy, eh.Task{}, &noReruns)
		if got.End != tt.end || len(got.Turns) != tt.turns || !strings.Contains(got.Cause, tt.cause) || strings.Contains(got.Cause, "close") {
			t.Errorf("%s: end %s, %d turns, cause %q (%s)", tt.name, got.End, len(got.Turns), got.Cause, tt.reason)
		}
		if tt.cause != "" && (got.Turns[0].Proposed == nil || got.Turns[0].Applied == nil || got.Turns[0].Applied.Name != "stop" ||
			got.Turns[0].Raw != nil) {
			t.Errorf("%s: turn %+v, want the action and no result", tt.name, got.Turns[0])
		}
	}
}

// What is not played again.
func TestRerunsRefused(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	made := 0
	_, err := eh.Rollouts(ctx, toyWorld(nil, nil), nil, func(int) (eh.Policy, error) {
		made++
		cancel()
		return failing(eh.ErrInfra), nil
	}, []eh.Task{{}}, nil)
	if !errors.Is(err, context.Canceled) || made != 1 {
		t.Errorf("%d policies after the end of the context, %v", made, err)
	}
	liar := toldWorld(told{})
	liar.Verifier = flipping(eh.Verdict{Status: eh.Pass}, eh.Verdict{Status: eh.Fail})
	if got := rollOne(t, liar, func() eh.Policy { return script(look, look) }, eh.Task{}, nil); got.Reruns != 0 ||
		got.Verdict.Status != eh.Invalid {
		t.Errorf("%d reruns of an episode whose replay differed, %+v", got.Reruns, got.Verdict)
	}
	asked := 0
	fickleTag := specFunc(func() eh.ComponentSpec {
		if asked++; asked > 1 {
			return eh.ComponentSpec{}
		}
		return eh.ComponentSpec{Tag: "rule", Axis: eh.AxisAction}
	})
	got := rollOne(t, toyWorld(nil, nil), func() eh.Policy { return script(stop) }, eh.Task{}, nil, fickleTag)
	if got.End != eh.EndComponentError || got.Reruns != 0 {
		t.Errorf("a spec that changes: end %s after %d reruns", got.End, got.Reruns)
	}
}

type specFunc func() eh.ComponentSpec

func (f specFunc) Spec() eh.ComponentSpec                                { return f() }
func (specFunc) Begin(context.Context, eh.EpisodeInfo) (eh.Hooks, error) { return eh.Hooks{}, nil }

// flipping is a verifier that gives its answers in turn, again and again.
func flipping(answers ...eh.Verdict) eh.Verifier {
	n := -1
	return eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) {
		n = (n + 1) % len(answers)
		return answers[n], nil
	})
}

// What the caller does with its own memory afterwards changes neither the rollouts nor their traces.
func TestRolloutsShareNothing(t *testing.T) {
	if _, err := eh.Rollouts(t.Context(), toyWorld(nil, nil), nil, randomPolicy, nil, &eh.RolloutOptions{MaxTurns: -1}); err == nil {
		t.Error("MaxTurns -1 is accepted")
	}
	seed := uint64(5)
	task := eh.Task{Options: raw(`{"a":1}`), Seed: &seed}
	cs := []eh.Component{blockOp("add")}
	buffer := []byte(combine(0, 1, "mul").Args)
	traces, err := eh.Rollouts(t.Context(), toyWorld(nil, nil), cs, func(int) (eh.Policy, error) {
		cs[0] = nil
		return eh.PolicyFunc(func(_ context.Context, turn eh.Turn) (eh.Action, error) {
			copy(buffer, combine(0, 1, "mul").Args)
			if turn.Index == 1 {
				clear(buffer)
				return stop, nil
			}
			return eh.Action{Name: "combine", Args: buffer}, nil
		}), nil
	}, []eh.Task{task, task}, nil)
	if err != nil {
		t.Fatal(err)
	}
	seed = 6
	clear(task.Options)
	for _, got := range traces {
		if got.Verdict.Status != eh.Pass || string(got.Task.Options) != `{"a":1}` || *got.Task.Seed != 5 || len(got.Components) != 1 ||
			string(got.Turns[0].Proposed.Args) != string(combine(0, 1, "mul").Args) {
			t.Errorf("%+v", got)
		}
	}
}

// Only what a component changed is in a trace, and as it was when it changed it.
func TestLayersOfNoChange(t *testing.T) {
	args := []byte(`{"i":0,"j":1,"op":"mul"}`)
	refusal := &eh.ActionError{Class: eh.ClassUnknownTool, Message: "no tool fly"}
	var data map[string]any
	cs := []eh.Component{
		ruleID("same", eh.AxisObservation, eh.Hooks{
			Tools:   func(_ context.Context, tools []eh.Tool) ([]eh.Tool, error) { return tools, nil },
			Observe: func(_ context.Context, _ eh.View, o eh.Observation) (eh.Observation, error) { return o, nil },
			Transition: func(_ context.Context, _ eh.View, tr eh.Transition) (eh.TransitionEdit, error) {
				return eh.TransitionEdit{Observation: &tr.Observation, Error: tr.Error}, nil
			},
		}),
		ruleID("reuses", eh.AxisAction, eh.Hooks{
			Action: func(_ context.Context, _ eh.View, a eh.Action) (eh.ActionEdit, error) {
				if a.Name != "combine" {
					clear(args)
					return eh.PassAction(), nil
				}
				return eh.ReplaceAction(eh.Action{Name: "combine", Args: args}), nil
			},
			Transition: func(_ context.Context, _ eh.View, tr eh.Transition) (eh.TransitionEdit, error) {
				clear(data)
				data = map[string]any{"mine": 1.0}
				tr.Observation.Data = data
				e := eh.TransitionEdit{Observation: &tr.Observation}
				if tr.Error != nil {
					refusal.Message = "refused"
					e.Error = refusal
				}
				return e, nil
			},
		}),
	}
	got := rollOne(t, toyWorld(nil, nil), func() eh.Policy {
		return script(combine(0, 1, "add"), eh.Action{Name: "fly"}, combine(0, 0, "add"), stop)
	}, eh.Task{}, &noReruns, cs...)
	refusal.Message = "spoilt"
	if got.Layers != nil || len(got.Turns) != 4 {
		t.Fatalf("layers of the start %+v, %d turns, %s", got.Layers, len(got.Turns), got.Cause)
	}
	for i, turn := range got.Turns[:3] {
		if len(turn.Layers) != 1 || turn.Layers[0].Component != "reuses" || turn.Tools != nil {
			t.Fatalf("turn %d: %+v", i, turn)
		}
		if d := cmp.Diff(map[string]any{"mine": 1.0}, turn.Layers[0].ObservationOut.Data); d != "" {
			t.Errorf("turn %d, observation of the layer: %s", i, d)
		}
	}
	if out := got.Turns[0].Layers[0].ActionOut; string(out.Args) != `{"i":0,"j":1,"op":"mul"}` ||
		string(got.Turns[0].Applied.Args) != string(out.Args) {
		t.Errorf("replaced by %s, applied %s", out, got.Turns[0].Applied)
	}
	if e := got.Turns[1].Layers[0].ErrorOut; e.Message != "refused" || got.Turns[1].Shown.Error.Message != "refused" {
		t.Errorf("refusal %+v, shown %+v", e, got.Turns[1].Shown.Error)
	}
}

// Text that is no JSON, or no UTF-8, is written in every place where a trace can hold it, and the trace itself stays as it is.
func TestWriteTracesEverywhere(t *testing.T) {
	for _, bad := range []string{"{", "{\"a\":\"\xff\"}"} {
		a := func() *eh.Action { return &eh.Action{Name: "a", Args: raw(bad)} }
		o := func() eh.Observation { return eh.Observation{Actions: []eh.Action{*a()}} }
		tools := func() []eh.Tool { return []eh.Tool{{Name: "a", Schema: raw(bad)}} }
		layers := func(l eh.Layer) []eh.Layer { return []eh.Layer{l} }
		op := func() *eh.Observation { return new(o()) }
		for i, make := range []func() eh.Trace{
			func() eh.Trace { return eh.Trace{Task: eh.Task{Options: raw(bad)}} },
			func() eh.Trace { return eh.Trace{Components: []eh.ComponentSpec{{Tag: "a", Params: raw(bad)}}} },
			func() eh.Trace { return eh.Trace{Log: []eh.LogEntry{{Action: *a()}}} },
			func() eh.Trace { return eh.Trace{Log: []eh.LogEntry{{Transition: eh.Transition{Observation: o()}}}} },
			func() eh.Trace { return eh.Trace{Shown: o()} },
			func() eh.Trace { return eh.Trace{Tools: tools()} },
			func() eh.Trace { return eh.Trace{Layers: layers(eh.Layer{ActionIn: a()})} },
			func() eh.Trace { return eh.Trace{Layers: layers(eh.Layer{ActionOut: a()})} },
			func() eh.Trace { return eh.Trace{Layers: layers(eh.Layer{ObservationIn: op()})} },
			func() eh.Trace { return eh.Trace{Layers: layers(eh.Layer{ObservationOut: op()})} },
			func() eh.Trace { return eh.Trace{Layers: layers(eh.Layer{ToolsIn: tools()})} },
			func() eh.Trace { return eh.Trace{Layers: layers(eh.Layer{ToolsOut: tools()})} },
			func() eh.Trace { return eh.Trace{Turns: []eh.TurnTrace{{Proposed: a()}}} },
			func() eh.Trace { return eh.Trace{Turns: []eh.TurnTrace{{Applied: a()}}} },
			func() eh.Trace { return eh.Trace{Turns: []eh.TurnTrace{{Layers: layers(eh.Layer{ActionIn: a()})}}} },
			func() eh.Trace { return eh.Trace{Turns: []eh.TurnTrace{{Raw: &eh.Transition{Observation: o()}}}} },
			func() eh.Trace { return eh.Trace{Turns: []eh.TurnTrace{{Shown: eh.Transition{Observation: o()}}}} },
			func() eh.Trace { return eh.Trace{Turns: []eh.TurnTrace{{Tools: tools()}}} },
		} {
			given := make()
			s := write(t, []eh.Trace{given})
			if d := cmp.Diff(make(), given); d != "" {
				t.Errorf("place %d: writing changed the trace:\n%s", i, d)
			}
			if !strings.Contains(s, "\uFFFD") && !strings.Contains(s, `"{"`) || strings.Contains(s, "\xff") {
				t.Errorf("place %d: %s", i, s)
			}
			if got, err := read(s); err != nil || len(got) != 1 {
				t.Errorf("place %d: %d traces, %v", i, len(got), err)
			}
		}
	}
}

// An error is the last thing that is read, and one trace that cannot be kept does not come back changed.
func TestReadTracesEndsAfterAnError(t *testing.T) {
	n := 0
	for range eh.ReadTraces(strings.NewReader("{}\n{}\n")) {
		n++
	}
	if n != 1 {
		t.Errorf("%d pairs, want the error alone", n)
	}
	s := strings.Replace(write(t, []eh.Trace{{}}), `"score":0`, `"score":-0.5`, 1)
	if _, err := read(s); err == nil {
		t.Error("a negative score is accepted")
	}
}

// A first observation that no environment may give is in no record.
func TestResetWithBadNumbers(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		w := eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) { return &shower{toy: &toy{}, value: x}, nil }}
		got := rollOne(t, w, func() eh.Policy { return script(stop) }, eh.Task{}, &noReruns)
		if got.End != eh.EndEnvError || len(got.Log) != 0 {
			t.Errorf("%v: end %s, log %+v", x, got.End, got.Log)
		}
		if _, err := read(write(t, []eh.Trace{got})); err != nil {
			t.Error(err)
		}
	}
}

// A shower has one value in its first observation.
type shower struct {
	*toy
	value float64
}

func (s *shower) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	obs, err := s.toy.Reset(ctx, o)
	obs.Data = map[string]any{"x": s.value}
	return obs, err
}

// What is finished comes before the next task is pulled, and a loop that is left waits for nobody who has finished.
func TestStreamFinishedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pulled, left := 0, false
		all := func(int) (eh.Policy, error) { return script(stop), nil }
		last := 0
		for tr, err := range eh.Stream(t.Context(), toyWorld(nil, nil), nil, all, counted(40, &pulled, &left), &eh.RolloutOptions{Parallel: 4}) {
			if err != nil {
				t.Fatal(err)
			}
			if tr.Slot <= last-2 && pulled > last { // it was begun: one task at most is pulled and not given
				t.Fatalf("%d tasks pulled before trace %d, %d before that", pulled, tr.Slot, last)
			}
			synctest.Wait() // all that were begun are finished
			last = pulled
			if tr.Slot == 20 {
				break
			}
		}
	})
}

// Wherever a loop is left, those who have finished and wait to be heard are let go.
func TestStreamLeavesTheFinished(t *testing.T) {
	for at := range 8 {
		synctest.Test(t, func(t *testing.T) {
			pulled, left := 0, false
			ready := func(int) (eh.Policy, error) { return script(stop), nil }
			for tr := range eh.Stream(t.Context(), toyWorld(nil, nil), nil, ready, counted(40, &pulled, &left), &eh.RolloutOptions{Parallel: 4}) {
				if synctest.Wait(); tr.Slot == at {
					break
				}
			}
			if !left {
				t.Errorf("left at %d: the tasks go on", at)
			}
		})
	}
}

// After the end of the context nothing is tried again, and what was given up does not go on when it comes back.
func TestGivenUpIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		release := make(chan struct{})
		var made atomic.Int64
		_, err := eh.Rollouts(ctx, toyWorld(nil, nil), nil, func(int) (eh.Policy, error) {
			made.Add(1)
			<-release
			return nil, errBoom
		}, []eh.Task{{}}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || made.Load() != 1 {
			t.Errorf("%d policies, %v", made.Load(), err)
		}
		close(release)
	})
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var asked, opened atomic.Int64
		hangs := specFunc(func() eh.ComponentSpec {
			if asked.Add(1) > 1 {
				<-release
			}
			return eh.ComponentSpec{Tag: "rule", Axis: eh.AxisAction}
		})
		w := toyWorld(nil, func(*toy) { opened.Add(1) })
		got := rollOne(t, w, func() eh.Policy { return script(stop) }, eh.Task{}, &noReruns, hangs)
		if !got.End.Infra() {
			t.Errorf("end %s, %s", got.End, got.Cause)
		}
		close(release)
		if synctest.Wait(); opened.Load() != 0 {
			t.Errorf("%d environments opened for an episode that was given up", opened.Load())
		}
	})
}

// A list of actions that becomes empty, or an argument in it, is a change; and what a hook keeps and writes again is not in the trace.
func TestLayersOfActions(t *testing.T) {
	shows := []eh.Action{{Name: "a", Args: raw(`{"n":1}`)}}
	for name, tt := range map[string]struct{ in, out []eh.Action }{
		"empty": {nil, []eh.Action{}}, "arguments": {shows, []eh.Action{{Name: "a", Args: raw(`{"n":2}`)}}},
	} {
		w := toyWorld(nil, func(b *toy) {
			b.onStep = func(_ context.Context, _ *toy, a eh.Action) (*eh.Transition, error) {
				return &eh.Transition{Observation: eh.Observation{Actions: tt.in, Data: map[string]any{"none": []any(nil)}},
					Terminated: a.Name == "stop"}, nil
			}
		})
		var kept map[string]any
		c := rule(eh.AxisObservation, eh.Hooks{Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
			clear(kept)
			if v.Stepped {
				o.Actions, kept = tt.out, o.Data
			}
			return o, nil
		}})
		got := rollOne(t, w, func() eh.Policy { return script(combine(0, 1, "add"), combine(0, 1, "add"), stop) }, eh.Task{}, &noReruns, c)
		if got.Cause != "" || len(got.Turns) != 3 || len(got.Turns[0].Layers) != 1 {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if d := cmp.Diff(tt.out, got.Turns[0].Shown.Observation.Actions); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(map[string]any{"none": nil}, got.Turns[0].Shown.Observation.Data); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// All that was asked for was played, so the end of the context does not matter.
func TestStreamDoneAtTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	policy := func(int) (eh.Policy, error) { return script(stop), nil }
	for tr, err := range eh.Stream(ctx, toyWorld(nil, nil), nil, policy, slices.Values(tasks(2)), nil) {
		if err != nil {
			t.Errorf("%v after everything was played", err)
		}
		if tr.Slot == 1 {
			cancel()
		}
	}
}

// The list of actions comes back as it was, nil arguments as nil, and one item cannot grow into the next.
func TestActionListsAreKept(t *testing.T) {
	list := []eh.Action{{Name: "a"}, {Name: "b", Args: raw(`{}`)}, {Name: "c", Args: raw(`{"c":1}`)}}
	w := toyWorld(nil, func(t *toy) {
		t.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
			return &eh.Transition{Observation: eh.Observation{Actions: list}}, nil
		}
	})
	h := mustNew(t, w)
	mustReset(t, h)
	tr := mustStep(t, h, stop)
	if d := cmp.Diff(list, tr.Observation.Actions); d != "" {
		t.Error(d)
	}
	_ = append(tr.Observation.Actions[1].Args, "spoilt"...)
	if d := cmp.Diff(list, tr.Observation.Actions); d != "" {
		t.Errorf("after an append: %s", d)
	}
	tools := []eh.Tool{{Name: "a", Schema: raw(`{}`)}, {Name: "b", Schema: raw(`{"b":1}`)}}
	h = mustNew(t, eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		return describer{&toy{}, eh.Description{Tools: tools}}, nil
	}})
	mustReset(t, h)
	got := h.Tools()
	_ = append(got[0].Schema, "spoilt"...)
	if d := cmp.Diff(tools, got); d != "" {
		t.Errorf("tools after an append: %s", d)
	}
	if !slices.EqualFunc(list, []eh.Action{{Name: "a"}, {Name: "b", Args: raw(`{}`)}, {Name: "c", Args: raw(`{"c":1}`)}}, func(a,
		b eh.Action) bool {
		return a.String() == b.String()
	}) {
		t.Errorf("the environment's own list is %v", list)
	}
}

// A describer is a toy with a description of the test's choice.
type describer struct {
	*toy
	desc eh.Description
}

func (d describer) Describe() eh.Description { return d.desc }

package envharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

func chainOf(t testing.TB, o *eh.LinkOptions, legs ...eh.Leg) eh.World {
	t.Helper()
	w, err := eh.Link(legs, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// toyLeg multiplies to 24 with one combine and a stop.
func toyLeg() eh.Leg { return eh.Leg{World: toyWorld(nil, nil)} }

// partly is a leg that fails with a score.
func partly(score float64) eh.Leg {
	leg := toyLeg()
	leg.World.Verifier = eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
		if e.EndReason == "" {
			return eh.Verdict{Status: eh.Fail}, nil
		}
		return eh.Verdict{Status: eh.Fail, Score: score}, nil
	})
	return leg
}

func TestLink(t *testing.T) {
	good := []eh.Action{combine(0, 1, "mul"), stop}
	bad := []eh.Action{stop}
	tests := []struct {
		name    string
		legs    []eh.Leg
		o       *eh.LinkOptions
		actions [][]eh.Action
		end     eh.EndReason
		status  eh.Status
		score   float64
		turns   int
		reason  string
	}{
		{"both pass", []eh.Leg{toyLeg(), toyLeg()}, nil, [][]eh.Action{good, good}, eh.EndTerminated, eh.Pass, 1, 4, "worked example 8"},
		{"second fails", []eh.Leg{toyLeg(), toyLeg()}, nil, [][]eh.Action{good, bad}, eh.EndTerminated, eh.Fail, .5, 3, "worked example 8"},
		{"first fails", []eh.Leg{toyLeg(), toyLeg()}, nil, [][]eh.Action{bad, good}, eh.EndTerminated, eh.Fail, .5, 3, "a failed leg does not stop the chain"},
		{"stop on fail", []eh.Leg{toyLeg(), toyLeg()}, &eh.LinkOptions{StopOnFail: true}, [][]eh.Action{bad}, eh.EndTerminated, eh.Fail, 0, 1, "unless it is asked to"},
		{"partial credit", []eh.Leg{partly(.4), toyLeg()}, &eh.LinkOptions{StopOnFail: true}, [][]eh.Action{bad}, eh.EndTerminated, eh.Fail, .2, 1,
			"worked example 8: a leg that failed with .4, and one that was not started"},
		{"budget", []eh.Leg{toyLeg(), toyLeg(), toyLeg()}, &eh.LinkOptions{MaxTurns: 3}, [][]eh.Action{good, good}, eh.EndMaxTurns, eh.Fail, 1. / 3, 3, "legs not reached count 0"},
	}
	for _, tt := range tests {
		var script []eh.Action
		for _, a := range tt.actions {
			script = append(script, a...)
		}
		traces, err := eh.Rollouts(t.Context(), chainOf(t, tt.o, tt.legs...), nil, func(int) (eh.Policy, error) { return scripted(script), nil }, []eh.Task{{}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := traces[0]
		if got.End != tt.end || got.Verdict.Status != tt.status || got.Verdict.Score != tt.score || len(got.Turns) != tt.turns || got.Verdict.Unreplayed {
			t.Errorf("%s: end %s, verdict %+v, %d turns, cause %q (%s)", tt.name, got.End, got.Verdict, len(got.Turns), got.Cause, tt.reason)
		}
	}
}

func scripted(actions []eh.Action) eh.Policy { return script(actions...) }

func TestLinkHandOff(t *testing.T) {
	first := toyLeg()
	first.Task = "[4,6]"
	second := toyLeg()
	second.Task = "[3,8]"
	h := mustNew(t, chainOf(t, &eh.LinkOptions{Carry: new(3)}, first, second))
	mustReset(t, h)
	tr := mustStep(t, h, combine(0, 1, "mul"))
	if tr.Info["leg"] != 0.0 {
		t.Errorf("leg %v", tr.Info["leg"])
	}
	tr = mustStep(t, h, stop)
	want := eh.Transition{
		Observation: eh.Observation{Text: "[switched to new task]\n\n 24\n\nnumbers 3 8", Data: map[string]any{"numbers": []any{3.0, 8.0}}},
		Info:        map[string]any{"leg": 1.0},
	}
	if d := cmp.Diff(want, tr); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	e := mustEvidence(t, h)
	var st struct {
		Leg  int
		Legs []struct {
			Verdict  *eh.Verdict
			Evidence *eh.Evidence
		}
	}
	if err := json.Unmarshal(e.End, &st); err != nil || st.Leg != 1 || st.Legs[0].Verdict.Status != eh.Pass {
		t.Errorf("%s: %v", e.End, err)
	}
}

// Worked example 11, and case 11 of 7.1: the same seed gives the same legs.
func TestLinkSeeds(t *testing.T) {
	var seeds []string
	w := toyWorld(nil, nil)
	leg := eh.Leg{World: seedRecorder(w, &seeds)}
	h := mustNew(t, chainOf(t, nil, leg, leg))
	for range 6 {
		if _, err := h.Reset(t.Context(), eh.ResetOptions{Seed: new(uint64(42))}); err != nil {
			t.Fatal(err)
		}
		mustStep(t, h, stop)
	}
	if got := strings.Join(seeds, " "); got != strings.TrimSpace(strings.Repeat(seeds[0]+" 5074170275580830939 ", 6)) {
		t.Error(got)
	}
}

// seedRecorder notes the seed of every reset.
func seedRecorder(w eh.World, seeds *[]string) eh.World {
	mk := w.New
	w.New = func(ctx context.Context) (eh.Environment, error) {
		env, err := mk(ctx)
		return &seedNoter{env.(*toy), seeds}, err
	}
	return w
}

type seedNoter struct {
	*toy
	seeds *[]string
}

func (s *seedNoter) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	*s.seeds = append(*s.seeds, fmt.Sprint(*o.Seed))
	return s.toy.Reset(ctx, o)
}

func TestLinkRefuses(t *testing.T) {
	leg := toyLeg()
	for name, f := range map[string]func() (eh.World, error){
		"one leg":  func() (eh.World, error) { return eh.Link([]eh.Leg{leg}, nil) },
		"no world": func() (eh.World, error) { return eh.Link([]eh.Leg{leg, {}}, nil) },
		"order in leg": func() (eh.World, error) {
			return eh.Link([]eh.Leg{leg, {World: leg.World, Components: []eh.Component{blockOp("x"), eh.Setup{}}}}, nil)
		},
		"negative":      func() (eh.World, error) { return eh.Link([]eh.Leg{leg, leg}, &eh.LinkOptions{MaxTurns: -1}) },
		"negative tail": func() (eh.World, error) { return eh.Link([]eh.Leg{leg, leg}, &eh.LinkOptions{Carry: new(-1)}) },
	} {
		if w, err := f(); err == nil || w.New != nil {
			t.Errorf("%s: accepted", name)
		}
	}
	w := chainOf(t, nil, leg, leg)
	if _, err := eh.New(w, eh.Setup{}); !errors.Is(err, eh.ErrOrder) {
		t.Errorf("setup around a chain: %v", err)
	}
	h := mustNew(t, w)
	for name, o := range map[string]eh.ResetOptions{
		"task is no array":   {Task: "[4"},
		"too few tasks":      {Task: `["[4,6]"]`},
		"unknown task":       {Task: `["[4,6]","four"]`},
		"unknown option":     {Options: json.RawMessage(`{"legs":[null,null],"more":1}`)},
		"too many options":   {Options: json.RawMessage(`{"legs":[null,null,null]}`)},
		"options not object": {Options: json.RawMessage(`7`)},
	} {
		_, err := h.Reset(t.Context(), o)
		if name == "unknown task" && err == nil { // found when the second leg is reset
			_, err = h.Step(t.Context(), stop)
		}
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := h.Reset(t.Context(), eh.ResetOptions{Options: json.RawMessage(`{"legs":[{"a":1},null]}`)}); err != nil {
		t.Error(err)
	}
}

// A leg that fails as infrastructure makes the chain Invalid, whatever the other legs did, and the blame stays with what failed.
func TestLinkInvalid(t *testing.T) {
	broken := func(change func(*toy)) eh.Leg { return eh.Leg{World: toyWorld(nil, change)} }
	badVerifier := toyLeg()
	badVerifier.World.Verifier = eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{}, errBoom })
	unsure := toyLeg()
	unsure.World.Verifier = eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{Reason: "no idea"}, nil })
	badHook := toyLeg()
	badHook.Components = []eh.Component{rule(eh.AxisAction, eh.Hooks{Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) { return eh.PassAction(), errBoom }})}
	badStart := toyLeg()
	badStart.Components = []eh.Component{eh.Setup{Actions: []eh.Action{stop}}}
	for _, tt := range []struct {
		name   string
		second eh.Leg
		end    eh.EndReason
		cause  string
	}{
		{"environment errs", broken(func(e *toy) {
			e.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) { return nil, errBoom }
		}), eh.EndEnvError, "leg 1"},
		{"cannot be reset", broken(func(e *toy) { e.onReset = func() error { return errBoom } }), eh.EndEnvError, "leg 1"},
		{"verifier errs", badVerifier, eh.EndVerifierError, "leg 1"},
		{"verifier is unsure", unsure, eh.EndVerifierError, "no idea"},
		{"component errs", badHook, eh.EndComponentError, "rule: action: boom"},
		{"illegal start", badStart, eh.EndComponentError, "setup failed"},
	} {
		traces, err := eh.Rollouts(t.Context(), chainOf(t, nil, toyLeg(), tt.second), nil,
			func(int) (eh.Policy, error) { return script(combine(0, 1, "mul"), stop, stop), nil }, []eh.Task{{}}, &eh.RolloutOptions{Reruns: new(0)})
		if err != nil {
			t.Fatal(err)
		}
		got := traces[0]
		if got.Verdict.Status != eh.Invalid || got.End != tt.end || !strings.Contains(got.Cause, tt.cause) {
			t.Errorf("%s: %v, end %s, cause %q", tt.name, got.Verdict.Status, got.End, got.Cause)
		}
	}
}

// Each leg shows its own tools, those of its components included, and components around the chain see them change.
func TestLinkTools(t *testing.T) {
	renamed := toyLeg()
	renamed.Components = []eh.Component{rule(eh.AxisAction, eh.Hooks{
		Tools: func(_ context.Context, ts []eh.Tool) ([]eh.Tool, error) { ts[0].Name = "merge"; return ts, nil },
		Action: func(_ context.Context, _ eh.View, a eh.Action) (eh.ActionEdit, error) {
			if a.Name == "merge" {
				a.Name = "combine"
				return eh.ReplaceAction(a), nil
			}
			return eh.PassAction(), nil
		},
	})}
	around := rule(eh.AxisAction, eh.Hooks{Tools: func(_ context.Context, ts []eh.Tool) ([]eh.Tool, error) {
		for i := range ts {
			ts[i].Name += "!"
		}
		return ts, nil
	}, Action: func(_ context.Context, _ eh.View, a eh.Action) (eh.ActionEdit, error) {
		a.Name = strings.TrimSuffix(a.Name, "!")
		return eh.ReplaceAction(a), nil
	}})
	h := mustNew(t, chainOf(t, nil, toyLeg(), renamed), around)
	names := func() string {
		var out []string
		for _, tool := range h.Tools() {
			out = append(out, tool.Name)
		}
		return strings.Join(out, " ")
	}
	mustReset(t, h)
	if got := names(); got != "combine! stop!" {
		t.Errorf("leg 0: %s", got)
	}
	mustStep(t, h, eh.Action{Name: "stop!"})
	if got := names(); got != "merge! stop!" {
		t.Errorf("leg 1: %s", got)
	}
	merge := combine(0, 1, "mul")
	merge.Name = "merge!"
	mustStep(t, h, merge)
	mustStep(t, h, eh.Action{Name: "stop!"})
	v := mustVerdict(t, h)
	want := eh.Verdict{Status: eh.Fail, Score: .5, Parts: map[string]float64{"leg0": 0, "leg1": 1}, Reason: "leg 0 failed"}
	if d := cmp.Diff(want, v); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A chain can be a leg. The hidden verdicts of its legs stay hidden.
func TestLinkNested(t *testing.T) {
	inner := chainOf(t, &eh.LinkOptions{NoContext: true}, toyLeg(), toyLeg())
	var public string
	spy := rule(eh.AxisObservation, eh.Hooks{Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
		st, err := v.State()
		public += string(st)
		return o, err
	}})
	good := []eh.Action{combine(0, 1, "mul"), stop}
	traces, err := eh.Rollouts(t.Context(), chainOf(t, nil, eh.Leg{World: inner}, toyLeg()), []eh.Component{spy},
		func(int) (eh.Policy, error) { return script(slices.Concat(good, good, good)...), nil }, []eh.Task{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := eh.Verdict{Status: eh.Pass, Score: 1, Parts: map[string]float64{"leg0": 1, "leg0.leg0": 1, "leg0.leg1": 1, "leg1": 1}}
	if d := cmp.Diff(want, traces[0].Verdict); d != "" {
		t.Errorf("%s (-want +got):\n%s", traces[0].Cause, d)
	}
	if public == "" || strings.Contains(public, "verdict") || strings.Contains(public, "success") {
		t.Errorf("public state %s", public)
	}
}

// A leg ends when its environment says that it was submitted, unless the chain waits for the end.
func TestLinkSubmitted(t *testing.T) {
	leg := eh.Leg{World: toyWorld(nil, func(e *toy) {
		e.onStep = func(_ context.Context, e *toy, a eh.Action) (*eh.Transition, error) {
			if a.Name != "submit" {
				return nil, nil
			}
			return &eh.Transition{Observation: e.observation(), Info: map[string]any{"submitted": true}}, nil
		}
	})}
	for _, tt := range []struct {
		o     *eh.LinkOptions
		want  string
		ended bool
	}{{nil, "1 1", true}, {&eh.LinkOptions{UntilEnd: true}, "0 0", false}} {
		h := mustNew(t, chainOf(t, tt.o, leg, leg))
		mustReset(t, h)
		first := mustStep(t, h, eh.Action{Name: "submit"})
		second := mustStep(t, h, eh.Action{Name: "submit"})
		if got := fmt.Sprint(first.Info["leg"], " ", second.Info["leg"]); got != tt.want || second.Terminated != tt.ended {
			t.Errorf("%+v: legs %s, terminated %v", tt.o, got, second.Terminated)
		}
	}
}

// Every leg is closed, even if closing one fails, and the errors are joined.
func TestLinkClose(t *testing.T) {
	var open atomic.Int64
	leg := func(err error) eh.Leg {
		return eh.Leg{World: toyWorld(&open, func(e *toy) {
			done := e.onClose
			e.onClose = func() error { return errors.Join(done(), err) }
		})}
	}
	h, err := eh.New(chainOf(t, nil, leg(errors.New("first")), leg(nil), leg(errors.New("third"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Reset(t.Context(), eh.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	if open.Load() != 3 {
		t.Errorf("%d open", open.Load())
	}
	err = h.Close()
	if err == nil || !strings.Contains(err.Error(), "leg 0: first") || !strings.Contains(err.Error(), "leg 2: third") || open.Load() != 0 {
		t.Errorf("%v, %d open", err, open.Load())
	}
	// A leg that cannot be opened leaves none open.
	w := chainOf(t, nil, leg(nil), eh.Leg{World: eh.World{New: func(context.Context) (eh.Environment, error) { return nil, errBoom }, Verifier: toyVerifier}})
	if _, err := w.New(t.Context()); !errors.Is(err, errBoom) || open.Load() != 0 {
		t.Errorf("%v, %d open", err, open.Load())
	}
}

// Each leg is judged once, at its end.
func TestLinkJudgesOnce(t *testing.T) {
	judged := 0
	leg := toyLeg()
	leg.World.Verifier = eh.VerifierFunc(func(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
		judged++
		return toyVerifier(ctx, e)
	})
	h := mustNew(t, chainOf(t, nil, leg, leg))
	mustReset(t, h)
	mustStep(t, h, stop)
	mustStep(t, h, stop)
	if judged != 2 {
		t.Errorf("%d verdicts for two legs", judged)
	}
	if mustVerdict(t, h); judged != 4 { // two more for the replay
		t.Errorf("%d verdicts with the replay", judged)
	}
}

// Chains nest as deep as is said, and no deeper.
func TestLinkDepth(t *testing.T) {
	w := toyWorld(nil, nil)
	for depth := 1; ; depth++ {
		next, err := eh.Link([]eh.Leg{{World: w}, toyLeg()}, nil)
		if err != nil {
			if depth != 9 || !strings.Contains(err.Error(), "more than 8 chains") {
				t.Errorf("depth %d: %v", depth, err)
			}
			return
		}
		w = next
	}
}

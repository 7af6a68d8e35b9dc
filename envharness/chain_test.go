package envharness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// describedWorld is a toy world with a description of the test's choice.
func describedWorld(d eh.Description) eh.World {
	return eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		return describer{&toy{start: []int{4, 6}},
			d}, nil
	}}
}

func openWorld(t testing.TB, w eh.World) eh.Environment {
	t.Helper()
	env, err := w.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Close() })
	return env
}

// What a chain says of itself.
func TestLinkDescribes(t *testing.T) {
	a, b := eh.Tool{Name: "a"}, eh.Tool{Name: "b"}
	tests := []struct {
		name          string
		legs          [2]eh.Description
		max           int
		limit         int
		deterministic bool
		tools         []eh.Tool
		reason        string
	}{
		{"sum", [2]eh.Description{{MaxTurns: 3, Deterministic: true}, {MaxTurns: 4, Deterministic: true}}, 0, 7, true, nil,
			"of the legs' own limits"},
		{"no sum", [2]eh.Description{{Deterministic: true}, {MaxTurns: 4}}, 0, 0, false, nil, "one leg has no limit, and one promises nothing"},
		{"no sum either", [2]eh.Description{{MaxTurns: 3}, {Deterministic: true}}, 0, 0, false, nil, "whichever it is"},
		{"own", [2]eh.Description{{MaxTurns: 3}, {MaxTurns: 4}}, 5, 5, false, nil, "the chain's own limit counts"},
		{"tools", [2]eh.Description{{Tools: []eh.Tool{a, b}}, {Tools: []eh.Tool{b}}}, 0, 0, false, []eh.Tool{a, b}, "each once"},
	}
	for _, tt := range tests {
		w := chainOf(t, &eh.LinkOptions{MaxTurns: tt.max}, eh.Leg{World: describedWorld(tt.legs[0])}, eh.Leg{World: describedWorld(tt.legs[1])})
		d, ok := eh.As[eh.Describer](openWorld(t, w))
		if !ok {
			t.Fatal("no description")
		}
		got := d.Describe()
		if got.MaxTurns != tt.limit || got.Deterministic != tt.deterministic || len(got.Graded) != 1 || got.Graded[0] != "legs" {
			t.Errorf("%s: %+v (%s)", tt.name, got, tt.reason)
		}
		if d := cmp.Diff(tt.tools, got.Tools); d != "" {
			t.Errorf("%s: tools (%s): %s", tt.name, tt.reason, d)
		}
	}
}

// What is volatile in a leg is volatile in the chain: in its state, in the evidence of the leg that goes on, in the reason of a verdict.
func TestLinkVolatileLegs(t *testing.T) {
	for legs := range 2 { // that have ended when the policy stops
		for _, place := range []string{"/state/noise", "/info"} {
			var made atomic.Int64
			leg := eh.Leg{World: eh.World{
				New: func(context.Context) (eh.Environment, error) {
					return &noisyState{toy: &toy{start: []int{4, 6}}, noise: made.Add(1), place: place}, nil
				},
				Verifier: eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
					return eh.Verdict{Status: eh.Fail, Reason: string(e.End) + fmt.Sprint(e.Log[len(e.Log)-1].Transition.Info)}, nil
				}),
			}}
			actions := []eh.Action{combine(0, 1, "add"), stop, combine(0, 1, "add")}
			got := rollOne(t, chainOf(t, nil, leg, leg), func() eh.Policy { return script(actions[:1+2*legs]...) }, eh.Task{}, &noReruns)
			if got.Verdict.Status != eh.Fail || got.Verdict.Unreplayed || got.End != eh.EndAgentStop {
				t.Errorf("%s, %d legs ended: end %s, %+v", place, legs, got.End, got.Verdict)
			}
		}
	}
}

// A noisyState is another one in each instance, at one place that it declares.
type noisyState struct {
	*toy
	noise int64
	place string
}

func (n *noisyState) Describe() eh.Description {
	d := n.toy.Describe()
	d.Volatile = []string{n.place}
	return d
}

func (n *noisyState) Step(ctx context.Context, a eh.Action) (eh.Transition, error) {
	tr, err := n.toy.Step(ctx, a)
	if n.place == "/info" {
		tr.Info = map[string]any{"noise": float64(n.noise)}
	}
	return tr, err
}

func (n *noisyState) State(ctx context.Context) (eh.State, error) {
	if n.place == "/info" {
		return n.toy.State(ctx)
	}
	return raw(fmt.Sprintf(`{"noise":%d}`, n.noise)), nil
}

// One harness plays a chain again and again, and a failed reset leaves no episode.
func TestLinkAgain(t *testing.T) {
	h := mustNew(t, chainOf(t, nil, toyLeg(), toyLeg()))
	for i := range 3 {
		mustReset(t, h)
		for _, a := range []eh.Action{combine(0, 1, "mul"), stop, combine(0, 1, "mul"), stop} {
			mustStep(t, h, a)
		}
		if v := mustVerdict(t, h); v.Status != eh.Pass {
			t.Errorf("episode %d: %+v", i, v)
		}
	}
	env := openWorld(t, chainOf(t, nil, toyLeg(), toyLeg()))
	mustReset(t, env)
	mustStep(t, env, stop)
	mustStep(t, env, stop)
	if _, err := env.Step(t.Context(), stop); !errors.Is(err, eh.ErrEpisodeOver) {
		t.Errorf("a step after the end: %v", err)
	}
	if _, err := env.Reset(t.Context(), eh.ResetOptions{Task: `["x","y"]`}); err == nil {
		t.Error("a task that does not exist is accepted")
	}
	if _, err := env.Step(t.Context(), stop); !errors.Is(err, eh.ErrNeedReset) {
		t.Errorf("a step after a failed reset: %v", err)
	}
	if o, err := env.(eh.Observer).Observe(t.Context()); !errors.Is(err, eh.ErrNeedReset) {
		t.Errorf("after a failed reset it shows %+v, %v", o, err)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if _, err := env.Reset(t.Context(), eh.ResetOptions{}); !errors.Is(err, eh.ErrClosed) {
		t.Errorf("a reset after Close: %v", err)
	}
}

// What the chain shows again is what it showed last, and nobody else's.
func TestLinkObserves(t *testing.T) {
	env := openWorld(t, chainOf(t, nil, toyLeg(), toyLeg()))
	o, ok := eh.As[eh.Observer](env)
	if !ok {
		t.Fatal("no observer")
	}
	last := mustReset(t, env)
	for i := range 4 {
		got, err := o.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(last, got); d != "" {
			t.Errorf("after %d steps: %s", i, d)
		}
		clear(got.Data)
		if again, err := o.Observe(t.Context()); err != nil || len(again.Data) == 0 {
			t.Errorf("after %d steps, a copy that was spoilt changed %+v, %v", i, again, err)
		}
		last = mustStep(t, env, []eh.Action{combine(0, 1, "add"), stop, combine(0, 1, "add"), stop}[i]).Observation
	}
}

// Each reset without a seed goes on, so that the legs get other seeds than before.
func TestLinkNextSeed(t *testing.T) {
	var seeds []string
	leg := eh.Leg{World: seedRecorder(toyWorld(nil, nil), &seeds)}
	env := openWorld(t, chainOf(t, nil, leg, leg))
	for range 2 {
		if _, err := env.Reset(t.Context(), eh.ResetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(seeds) != 2 || seeds[0] == seeds[1] {
		t.Errorf("seeds %v", seeds)
	}
}

// The hand-off: what is shown, what is kept of the turn, and in which order.
func TestLinkHandOffParts(t *testing.T) {
	refused := &eh.ActionError{Class: eh.ClassOther, Message: "too late"}
	ends := func(truncated bool) eh.Leg {
		return eh.Leg{World: toyWorld(nil, func(b *toy) {
			b.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
				return &eh.Transition{
					Observation: eh.Observation{Text: "bye €uro"}, Reward: 2, Terminated: !truncated, Truncated: truncated,
					Error: refused, Info: map[string]any{"k": "v"},
				}, nil
			}
		})}
	}
	tests := []struct {
		name string
		o    *eh.LinkOptions
		want string
	}{
		{"all", nil, "[switched to new task]\n\nbye €uro\n\nnumbers 4 6"},
		{"runes", &eh.LinkOptions{Carry: new(4)}, "[switched to new task]\n\n€uro\n\nnumbers 4 6"},
		{"nothing carried", &eh.LinkOptions{Carry: new(0)}, "[switched to new task]\n\n\n\nnumbers 4 6"},
		{"no context", &eh.LinkOptions{NoContext: true}, "numbers 4 6"},
	}
	for _, tt := range tests {
		for _, truncated := range []bool{false, true} {
			h := mustNew(t, chainOf(t, tt.o, ends(truncated), ends(truncated)))
			mustReset(t, h)
			tr := mustStep(t, h, stop)
			if tr.Observation.Text != tt.want || tr.Reward != 0 || tr.Ended() || tr.Info["k"] != "v" || tr.Error == nil || *tr.Error != *refused {
				t.Errorf("%s: %+v", tt.name, tr)
			}
			if tr = mustStep(t, h, stop); tr.Terminated == truncated || tr.Truncated != truncated || tr.Reward != 2 {
				t.Errorf("%s: the last turn is %+v, want the flags of the leg", tt.name, tr)
			}
		}
	}
	long := eh.Leg{World: toyWorld(nil, func(b *toy) {
		b.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
			return &eh.Transition{Observation: eh.Observation{Text: strings.Repeat("€", 2000)}, Terminated: true}, nil
		}
	})}
	h := mustNew(t, chainOf(t, nil, long, long))
	mustReset(t, h)
	if n := strings.Count(mustStep(t, h, stop).Observation.Text, "€"); n != 1500 {
		t.Errorf("%d runes carried by default, want 1500", n)
	}
}

// Why a leg ended is in the evidence of the leg: a submission is the task's end, and what ended by itself keeps its reason.
func TestLinkLegReasons(t *testing.T) {
	var reasons []eh.EndReason
	leg := func(submits bool) eh.Leg {
		w := toyWorld(nil, func(b *toy) {
			b.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
				return &eh.Transition{Truncated: !submits, Info: map[string]any{"submitted": submits}}, nil
			}
		})
		w.Verifier = eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
			reasons = append(reasons, e.EndReason)
			return eh.Verdict{Status: eh.Fail}, nil
		})
		return eh.Leg{World: w}
	}
	h := mustNew(t, chainOf(t, nil, leg(true), leg(false)))
	mustReset(t, h)
	mustStep(t, h, stop)
	mustStep(t, h, stop)
	if d := cmp.Diff([]eh.EndReason{eh.EndTerminated, eh.EndTruncated}, reasons); d != "" {
		t.Error(d)
	}
}

// The verdict of a chain that did not come to its end.
func TestLinkJoins(t *testing.T) {
	says := func(v eh.Verdict) eh.Leg {
		l := toyLeg()
		l.World.Verifier = flipping(v)
		return l
	}
	pass := says(eh.Verdict{Status: eh.Pass, Parts: map[string]float64{"x": .5}})
	h := mustNew(t, chainOf(t, nil, pass, pass, pass))
	mustReset(t, h)
	mustStep(t, h, stop)
	if err := h.Stop(t.Context(), eh.EndAgentStop); err != nil {
		t.Fatal(err)
	}
	want := eh.Verdict{
		Status: eh.Fail, Score: 2. / 3, Parts: map[string]float64{"leg0": 1, "leg0.x": .5, "leg1": 1, "leg1.x": .5, "leg2": 0},
		Reason: "leg 2 was not reached",
	}
	if d := cmp.Diff(want, mustVerdict(t, h)); d != "" {
		t.Errorf("the last leg was not reached: %s", d)
	}
	h = mustNew(t, chainOf(t, nil, says(eh.Verdict{Status: eh.Fail, Reason: "first"}), says(eh.Verdict{Status: eh.Fail, Reason: "second"})))
	mustReset(t, h)
	mustStep(t, h, stop)
	mustStep(t, h, stop)
	if v := mustVerdict(t, h); v.Reason != "leg 0 failed: first" {
		t.Errorf("reason %q, want the first", v.Reason)
	}
	for _, bad := range []eh.Verdict{{}, {Status: eh.Fail, Score: 2}} {
		h = mustNew(t, chainOf(t, nil, says(bad), pass))
		mustReset(t, h)
		if _, err := h.Step(t.Context(), stop); err == nil || mustEvidence(t, h).EndReason != eh.EndVerifierError {
			t.Errorf("a leg's verdict %+v: %v", bad, err)
		}
		h = mustNew(t, chainOf(t, nil, pass, says(bad)))
		mustReset(t, h)
		mustStep(t, h, stop)
		if err := h.Stop(t.Context(), eh.EndAgentStop); err != nil {
			t.Fatal(err)
		}
		if v := mustVerdict(t, h); v.Status != eh.Invalid {
			t.Errorf("a verdict %+v of the leg that goes on: %+v", bad, v)
		}
	}
	if _, err := chainOf(t, nil, pass, pass).Verifier.Verify(t.Context(), eh.Evidence{
		End: raw(`{"leg":0,"legs":[{"verdict":{"status":"pass","score":1}},{"verdict":{"status":"pass","score":1}},
			{"verdict":{"status":"fail","score":0}}]}`),
	}); err == nil {
		t.Error("a state of three legs is accepted by a chain of two")
	}
}

// A chain is replayed only if every leg can be, however deep it is.
func TestLinkUnreplayed(t *testing.T) {
	seedless := eh.Leg{World: eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		return &seedlessTask{toy: &toy{start: []int{4, 6}}}, nil
	}}, Task: "[1]"}
	inner := eh.Leg{World: chainOf(t, nil, toyLeg(), seedless)}
	for name, legs := range map[string][]eh.Leg{"first": {seedless, toyLeg()}, "last": {toyLeg(), seedless}, "nested": {inner, toyLeg()}} {
		h := mustNew(t, chainOf(t, nil, legs...))
		mustReset(t, h)
		for mustEvidence(t, h).EndReason == "" {
			mustStep(t, h, stop)
		}
		if v := mustVerdict(t, h); v.Status != eh.Fail || !v.Unreplayed {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// What the caller does with its legs afterwards is no matter, and each leg gets its own options.
func TestLinkSharesNothing(t *testing.T) {
	var got []string
	w := toyWorld(nil, nil)
	open := w.New
	w.New = func(ctx context.Context) (eh.Environment, error) {
		env, err := open(ctx)
		return &optionsSeen{env.(*toy), &got}, err
	}
	carry := 2
	legs := []eh.Leg{
		{World: w, Options: raw(`{"a":1}`), Components: []eh.Component{blockOp("mul")}},
		{World: w, Options: raw(`{"b":2}`)},
	}
	linked := chainOf(t, &eh.LinkOptions{Carry: &carry}, legs...)
	carry = 0
	legs[0].Components[0] = nil
	clear(legs[0].Options)
	legs[1] = eh.Leg{}
	h := mustNew(t, linked)
	mustReset(t, h)
	if tr := mustStep(t, h, combine(0, 1, "mul")); tr.Error == nil || tr.Error.Class != eh.ClassPermission {
		t.Errorf("the component of the leg is gone: %+v", tr)
	}
	if tr := mustStep(t, h, stop); !strings.Contains(tr.Observation.Text, "\n\n 6\n\n") {
		t.Errorf("carried: %q", tr.Observation.Text)
	}
	if _, err := h.Reset(t.Context(), eh.ResetOptions{Options: raw(`{"legs":[null,{"c":3}]}`)}); err != nil {
		t.Fatal(err)
	}
	mustStep(t, h, stop)
	if d := cmp.Diff([]string{`{"a":1}`, `{"b":2}`, `{"a":1}`, `{"c":3}`}, got); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{`{"legs":[null]}`, `{"legs":[null,null]} {}`, `{"legs":[null,null,null]}`, `{"other":1}`} {
		if _, err := h.Reset(t.Context(), eh.ResetOptions{Options: raw(bad)}); err == nil {
			t.Errorf("options %s are accepted", bad)
		}
	}
}

// optionsSeen notes the options of each reset.
type optionsSeen struct {
	*toy
	got *[]string
}

func (o *optionsSeen) Reset(ctx context.Context, r eh.ResetOptions) (eh.Observation, error) {
	*o.got = append(*o.got, string(r.Options))
	return o.toy.Reset(ctx, r)
}

// The state that a component around the chain sees names the active leg.
func TestLinkActiveLeg(t *testing.T) {
	var states []string
	sees := rule(eh.AxisObservation, eh.Hooks{Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
		st, err := v.State()
		states = append(states, string(st))
		return o, err
	}})
	h := mustNew(t, chainOf(t, nil, toyLeg(), toyLeg()), sees)
	mustReset(t, h)
	mustStep(t, h, stop)
	want := []string{`{"leg":0,"state":{"numbers":[4,6],"stopped":false}}`, `{"leg":1,"state":{"numbers":[4,6],"stopped":false}}`}
	if d := cmp.Diff(want, states); d != "" {
		t.Error(d)
	}
}

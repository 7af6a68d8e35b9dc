package envharness_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// The verifier may spoil all that it is given: the replay, the next verdict and the evidence do not notice, at the start either.
func TestVerifierSpoilsAll(t *testing.T) {
	w := toyWorld(nil, nil)
	parts := map[string]float64{"x": .5}
	w.Verifier = eh.VerifierFunc(func(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
		v, err := toyVerifier(ctx, e)
		clear(e.Start)
		clear(e.End)
		clear(e.Options)
		v.Parts, v.Unreplayed = parts, true
		return v, err
	})
	h := mustNew(t, w, eh.Setup{Actions: []eh.Action{combine(0, 1, "mul")}})
	if _, err := h.Reset(t.Context(), eh.ResetOptions{Options: raw(`{}`)}); err != nil {
		t.Fatal(err)
	}
	mustStep(t, h, stop)
	for i := range 3 {
		v := mustVerdict(t, h)
		if d := cmp.Diff(eh.Verdict{Status: eh.Pass, Score: 1, Parts: map[string]float64{"x": .5}}, v); d != "" {
			t.Errorf("verdict %d: %s", i, d)
		}
		v.Parts["x"] = 2
		e := mustEvidence(t, h)
		if string(e.Start) != `{"numbers":[24],"stopped":false,"success":false}` ||
			string(e.End) != `{"numbers":[24],"stopped":true,"success":true}` ||
			string(e.Options) != `{}` {
			t.Errorf("evidence %d: start %s, end %s, options %s", i, e.Start, e.End, e.Options)
		}
		clear(e.Start)
		clear(e.End)
		clear(e.Options)
	}
}

// The second verification is of the replay: its log and its states, with what is volatile as it came out there.
func TestReplayIsJudged(t *testing.T) {
	made := 0
	var seen []eh.Evidence
	w := eh.World{
		New: func(context.Context) (eh.Environment, error) {
			made++
			return &bufferState{toy: &toy{start: []int{4, 6}}, noise: made}, nil
		},
		Verifier: eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
			seen = append(seen, e)
			return eh.Verdict{Status: eh.Fail}, nil
		}),
	}
	h := mustNew(t, w, eh.Setup{Actions: []eh.Action{combine(0, 1, "add")}})
	mustReset(t, h)
	mustStep(t, h, stop)
	if v := mustVerdict(t, h); v.Status != eh.Fail || v.Unreplayed || len(seen) != 3 {
		t.Fatalf("%+v after %d verifications, want the start, the episode and its replay", v, len(seen))
	}
	for i, e := range seen[1:] {
		if start, end := fmt.Sprintf(`{"n":1,"x":%d}`, i+1), fmt.Sprintf(`{"n":2,"x":%d}`, i+1); string(e.Start) != start ||
			string(e.End) != end {
			t.Errorf("environment %d: start %s, end %s, want %s and %s", i+1, e.Start, e.End, start, end)
		}
		var kinds []eh.LogKind
		for _, l := range e.Log {
			kinds = append(kinds, l.Kind)
		}
		if d := cmp.Diff([]eh.LogKind{eh.LogReset, eh.LogReplay, eh.LogRewind, eh.LogStep}, kinds); d != "" {
			t.Errorf("environment %d: %s", i+1, d)
		}
		if got := e.Log[3].Transition.Info["~1"]; got != float64(i+1) {
			t.Errorf("environment %d: info %v", i+1, got)
		}
	}
}

// A bufferState writes its state, of which x is volatile, into one buffer.
type bufferState struct {
	*toy
	noise, n int
	buffer   []byte
}

func (b *bufferState) Describe() eh.Description {
	d := b.toy.Describe()
	d.Volatile = []string{"/state/x", "/info/~01", "/reason", "/error/message"}
	return d
}

func (b *bufferState) Step(ctx context.Context, a eh.Action) (eh.Transition, error) {
	b.n++
	tr, err := b.toy.Step(ctx, a)
	tr.Info, tr.Reason = map[string]any{"~1": float64(b.noise)}, fmt.Sprint("reason ", b.noise)
	if tr.Error != nil {
		tr.Error.Message = fmt.Sprint("message ", b.noise)
	}
	return tr, err
}

func (b *bufferState) State(context.Context) (eh.State, error) {
	b.buffer = fmt.Appendf(b.buffer[:0], `{"n":%d,"x":%d}`, b.n, b.noise)
	return b.buffer, nil
}

// Comparing without what is volatile takes nothing out of the record.
func TestVolatileStaysInTheRecord(t *testing.T) {
	made := 0
	h := mustNew(t, eh.World{Verifier: flipping(eh.Verdict{Status: eh.Fail}), New: func(context.Context) (eh.Environment, error) {
		made++
		return &bufferState{toy: &toy{}, noise: made}, nil
	}})
	mustReset(t, h)
	mustStep(t, h, eh.Action{Name: "fly"})
	mustStep(t, h, stop)
	before := mustEvidence(t, h)
	if v := mustVerdict(t, h); v.Status != eh.Fail || v.Unreplayed {
		t.Errorf("%+v", v)
	}
	if d := cmp.Diff(before, mustEvidence(t, h)); d != "" || before.Log[1].Transition.Error.Message != "message 1" {
		t.Errorf("%+v: %s", before.Log[1].Transition.Error, d)
	}
}

// What alone differs in a replay, or in its verdict.
func TestReplayDiffersInOne(t *testing.T) {
	pass, full := eh.Verdict{Status: eh.Pass}, eh.Verdict{Status: eh.Fail, Score: 1}
	tests := []struct {
		name     string
		verifier eh.Verifier
		change   func(tr *eh.Transition)
		reason   string
	}{
		{"status", flipping(pass, full), func(*eh.Transition) {}, "a failure with full marks is no pass"},
		{"truncated", flipping(full), func(tr *eh.Transition) { tr.Truncated = true }, "also where it is terminated in both"},
		{"reason", flipping(full), func(tr *eh.Transition) { tr.Reason = "other" }, "who ended it"},
		{"refusal", flipping(full), func(tr *eh.Transition) { tr.Error = &eh.ActionError{} }, "an empty one is one"},
	}
	for _, tt := range tests {
		got := playOnce(t, eh.World{Verifier: tt.verifier, New: toldWorld(told{tell: func(e *told) eh.Transition {
			var tr eh.Transition
			if e.steps == 2 {
				tr.Terminated = true
				if e.instance > 0 {
					tt.change(&tr)
				}
			}
			return tr
		}}).New})
		if !tampered(got) {
			t.Errorf("%s: %+v (%s)", tt.name, got.Verdict, tt.reason)
		}
	}
}

// Every environment is closed once, that of a replay as well, and a replay ends with its context.
func TestReplayCloses(t *testing.T) {
	var made []*toy
	w := eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
		made = append(made, &toy{})
		return made[len(made)-1], nil
	}}
	h := mustNew(t, w)
	mustReset(t, h)
	mustStep(t, h, stop)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := h.Verdict(ctx); err != nil || v.Status != eh.Invalid || !strings.Contains(v.Reason, context.Canceled.Error()) {
		t.Errorf("under a context that is done: %+v, %v", v, err)
	}
	mustVerdict(t, h)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	for i, b := range made {
		if b.calls.close != 1 {
			t.Errorf("environment %d of %d was closed %d times", i, len(made), b.calls.close)
		}
	}
}

// A hook of a leg is bounded as a hook, also in the replay, and in a chain that is a leg.
func TestLegHookTimeoutInside(t *testing.T) {
	for _, tt := range []struct {
		name   string
		nested bool
		begins int // episodes of the leg that are played in time
	}{{"nested", true, 0}, {"replay", false, 1}} {
		synctest.Test(t, func(t *testing.T) {
			begun := 0
			leg := toyLeg()
			leg.Components = []eh.Component{eh.Rules(eh.ComponentSpec{Tag: "lazy", Axis: eh.AxisAction}, func(context.Context,
				eh.EpisodeInfo) (eh.Hooks, error) {
				begun++
				late := begun > tt.begins
				return eh.Hooks{Action: func(ctx context.Context, _ eh.View, _ eh.Action) (eh.ActionEdit, error) {
					if late {
						<-ctx.Done()
					}
					return eh.PassAction(), ctx.Err()
				}}, nil
			})}
			w := chainOf(t, nil, leg, toyLeg())
			if tt.nested {
				w = chainOf(t, nil, eh.Leg{World: w}, toyLeg())
			}
			began := time.Now()
			got := rollOne(t, w, func() eh.Policy { return script(stop, stop) }, eh.Task{}, &eh.RolloutOptions{HookTimeout: time.Second,
				Reruns: new(0)})
			if got.End != eh.EndComponentError || time.Since(began) != time.Second {
				t.Errorf("%s: end %s after %v, %s", tt.name, got.End, time.Since(began), got.Cause)
			}
		})
	}
}

// seesNothing hides the Observer of a ledger.
type seesNothing struct {
	eh.Environment
	eh.Snapshotter
	eh.Describer
}

// Where a start fails, whose fault it is, and what was carried out all the same.
func TestStartFailures(t *testing.T) {
	sets := setting("sets", set{"/n": raw("1")})
	ledgers := func(l ledger, wrap func(*ledger) eh.Environment) eh.World {
		l.mutable = []string{"/n"}
		return eh.World{Verifier: wonVerifier, New: func(context.Context) (eh.Environment, error) { return wrap(&l), nil }}
	}
	all := func(l *ledger) eh.Environment { return l }
	unsure := toyWorld(nil, nil)
	unsure.Verifier = flipping(eh.Verdict{})
	tests := []struct {
		name   string
		w      eh.World
		c      eh.Component
		end    eh.EndReason
		says   string
		reason string
	}{
		{"no observer", ledgers(ledger{}, func(l *ledger) eh.Environment { return seesNothing{l, l, l} }), sets, eh.EndComponentError, "Observer",
			"nobody could see the values"},
		{"snapshot", ledgers(ledger{onSnapshot: func() ([]byte, error) { return nil, errBoom }}, all), sets, eh.EndEnvError, "snapshot: boom",
			"the base's fault"},
		{"rewind", eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
			return &rewinder{toy: &toy{start: []int{4, 6}}, err: errBoom}, nil
		}},
			eh.Setup{Actions: []eh.Action{combine(0, 1, "add")}}, eh.EndEnvError, "rewind: boom", "the base's fault as well"},
		{"unsure", unsure, eh.Setup{Actions: []eh.Action{combine(0, 1, "add")}}, eh.EndComponentError, "invalid, not fail",
			"a start that cannot be judged"},
	}
	for _, tt := range tests {
		got := rollOne(t, tt.w, func() eh.Policy { return script(stop) }, eh.Task{}, &noReruns, tt.c)
		if got.End != tt.end || !strings.Contains(got.Cause, tt.says) || !strings.Contains(got.Cause, eh.ErrStart.Error()) {
			t.Errorf("%s: end %s, %s (%s)", tt.name, got.End, got.Cause, tt.reason)
		}
	}
}

// A rewinder shows in its state whether it was rewound.
type rewinder struct {
	*toy
	err     error
	rewound bool
}

func (r *rewinder) RewindCounters(context.Context) error {
	r.rewound = true
	return r.err
}

func (r *rewinder) State(context.Context) (eh.State, error) {
	return raw(fmt.Sprintf(`{"rewound":%v}`, r.rewound)), nil
}

// The state that hooks see is read anew after the rewind, and the actions of a start are copies.
func TestStartIsFresh(t *testing.T) {
	args := []byte(combine(0, 1, "add").Args)
	starts := ruleID("starts", eh.AxisStart, eh.Hooks{
		Start: func(context.Context, eh.View) ([]eh.StartEdit, error) {
			return []eh.StartEdit{{Action: eh.Action{Name: "combine", Args: args}}}, nil
		},
		Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) {
			clear(args)
			return eh.PassAction(), nil
		},
	})
	var states []string
	note := func(v eh.View) error {
		st, err := v.State()
		states = append(states, string(st))
		return err
	}
	sees := ruleID("sees", eh.AxisStart, eh.Hooks{
		Start: func(_ context.Context, v eh.View) ([]eh.StartEdit, error) { return nil, note(v) },
		Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
			return o, note(v)
		},
	})
	h := mustNew(t, eh.World{Verifier: flipping(eh.Verdict{Status: eh.Fail}), New: func(context.Context) (eh.Environment, error) {
		return &rewinder{toy: &toy{start: []int{4, 6, 1}}}, nil
	}}, starts, sees)
	mustReset(t, h)
	if d := cmp.Diff([]string{`{"rewound":false}`, `{"rewound":true}`}, states); d != "" {
		t.Error(d)
	}
	mustStep(t, h, stop)
	if got := mustEvidence(t, h).Log[1].Action; got.String() != combine(0, 1, "add").String() {
		t.Errorf("logged %s", got)
	}
}

// Before a reset there is no evidence.
func TestNoEvidenceBefore(t *testing.T) {
	if _, err := mustNew(t, toyWorld(nil, nil)).Evidence(t.Context()); !errors.Is(err, eh.ErrNeedReset) {
		t.Error(err)
	}
}

// Close may come at any moment of the opening of an environment, that of a replay as well (for the race detector). None stays open.
func TestCloseAtAnyMoment(t *testing.T) {
	for i := range 40 {
		var open atomic.Int64
		opening := make(chan struct{})
		made := 0
		h := mustNew(t, eh.World{Verifier: toyVerifier, New: func(context.Context) (eh.Environment, error) {
			open.Add(1)
			if made++; made == 1+i%2 {
				close(opening)
			}
			return &closesOnce{toy: &toy{}, open: &open}, nil
		}})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, call := range []func() error{
				func() error { _, err := h.Reset(t.Context(), eh.ResetOptions{}); return err },
				func() error { _, err := h.Step(t.Context(), stop); return err },
				func() error { _, err := h.Verdict(t.Context()); return err },
			} {
				if call() != nil {
					return
				}
			}
		}()
		<-opening
		for range i {
			runtime.Gosched()
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if <-done; open.Load() != 0 {
			t.Errorf("moment %d: %d environments left open", i, open.Load())
		}
	}
}

// A closesOnce may be closed from more than one goroutine.
type closesOnce struct {
	*toy
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *closesOnce) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return nil
}

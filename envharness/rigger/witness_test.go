package rigger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A lane is a small world whose tools are letters. What was done is a word; which ones pass, and what the oracle says, is up to the test.
type lane struct {
	tools string                                // one letter each; a "w" changes nothing
	pass  func(done string) bool                // ends the episode
	plan  func(done string) (string, error)     // of the oracle; nil means there is none
	no    func(done, tool string) bool          // refused; nil means nothing is
	wrap  func(*laneEnv) envharness.Environment // with what abilities; nil means all
}

type laneEnv struct {
	*lane
	done string
	turn int
	buf  []byte // of the last state
}

func (e *laneEnv) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	e.done, e.turn = "", 0
	return e.see(), nil
}

func (e *laneEnv) see() envharness.Observation {
	o := envharness.Observation{Text: "done: " + e.done}
	for _, t := range e.tools {
		o.Actions = append(o.Actions, envharness.Action{Name: string(t)})
	}
	return o
}

func (e *laneEnv) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	e.turn++
	if len(a.Name) != 1 || !strings.Contains(e.tools, a.Name) || e.no != nil && e.no(e.done, a.Name) {
		return envharness.Transition{Observation: e.see(), Error: &envharness.ActionError{Class: envharness.ClassPrecondition, Message: "no"}}, nil
	}
	if a.Name != "w" {
		e.done += a.Name
	}
	return envharness.Transition{Observation: e.see(), Terminated: e.pass(e.done)}, nil
}

func (e *laneEnv) Close() error { return nil }

// State writes into the memory of the last one.
func (e *laneEnv) State(context.Context) (envharness.State, error) {
	e.buf = fmt.Appendf(e.buf[:0], `{"done":%q,"turn":%d}`, e.done, e.turn)
	return e.buf, nil
}

func (e *laneEnv) Describe() envharness.Description {
	d := envharness.Description{Name: "lane", MaxTurns: 100, Deterministic: true}
	for _, t := range e.tools {
		d.Tools = append(d.Tools, envharness.Tool{Name: string(t)})
	}
	return d
}

type laneSnaps struct{ e *laneEnv }

func (s laneSnaps) Snapshot(ctx context.Context) (envharness.State, error) { return s.e.State(ctx) }

func (s laneSnaps) Restore(_ context.Context, state envharness.State) error {
	var to struct {
		Done string
		Turn int
	}
	err := json.Unmarshal(state, &to)
	s.e.done, s.e.turn = to.Done, to.Turn
	return err
}

type laneRewinds struct{ e *laneEnv }

func (r laneRewinds) RewindCounters(context.Context) error {
	r.e.turn = 0
	return nil
}

type laneOracle struct{ e *laneEnv }

func (o laneOracle) Plan(context.Context) ([]envharness.Action, error) {
	plan, err := o.e.plan(o.e.done)
	if err != nil {
		return nil, err
	}
	return letters(plan), nil
}

// letters are calls of tools.
func letters(word string) []envharness.Action {
	var calls []envharness.Action
	for _, t := range word {
		calls = append(calls, envharness.Action{Name: string(t)})
	}
	return calls
}

func (l *lane) world() envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) {
			e := &laneEnv{lane: l}
			switch {
			case l.wrap != nil:
				return l.wrap(e), nil
			case l.plan == nil:
				return e, nil
			}
			return &struct {
				*laneEnv
				laneSnaps
				laneRewinds
				laneOracle
			}{e, laneSnaps{e}, laneRewinds{e}, laneOracle{e}}, nil
		},
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			var end struct{ Done string }
			if err := json.Unmarshal(e.End, &end); err != nil {
				return envharness.Verdict{}, err
			}
			if l.pass(end.Done) {
				return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

func (l *lane) inspector(t *testing.T) *inspector {
	t.Helper()
	in := newTestInspector(t, l.world(), "t", components.Catalogue())
	in.searchLimit = 0
	return in
}

// straight is a lane on which one word passes, and the oracle says how it goes on.
func straight(tools, word string) *lane {
	return &lane{tools: tools, pass: func(done string) bool { return done == word }, plan: func(done string) (string, error) {
		if rest, ok := strings.CutPrefix(word, done); ok {
			return rest, nil
		}
		return "", envharness.ErrNoPlan
	}}
}

// TestWatchBase: a witness has the abilities of its base and no others, and what it noted stays what it was.
func TestWatchBase(t *testing.T) {
	l := straight("ab", "ab")
	for _, tt := range []struct {
		base               func(e *laneEnv) envharness.Environment
		snapshots, rewinds bool
		reason             string
	}{
		{func(e *laneEnv) envharness.Environment { return e }, false, false, "neither"},
		{func(e *laneEnv) envharness.Environment {
			return &struct {
				*laneEnv
				laneSnaps
			}{e, laneSnaps{e}}
		}, true, false, "it goes back"},
		{func(e *laneEnv) envharness.Environment {
			return &struct {
				*laneEnv
				laneRewinds
			}{e, laneRewinds{e}}
		}, false, true, "it rewinds"},
		{func(e *laneEnv) envharness.Environment {
			return &struct {
				*laneEnv
				laneSnaps
				laneRewinds
			}{e, laneSnaps{e}, laneRewinds{e}}
		}, true, true, "both"},
	} {
		l.wrap = tt.base
		in := l.inspector(t)
		env, err := in.world.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d := new(deeds)
		w := watchBase(env, d)
		snapshotter, snapshots := envharness.As[envharness.Snapshotter](w)
		rewinder, rewinds := envharness.As[envharness.Rewinder](w)
		stater, states := envharness.As[envharness.Stater](w)
		if snapshots != tt.snapshots || rewinds != tt.rewinds || !states {
			t.Errorf("%s: snapshots %v, rewinds %v, states %v", tt.reason, snapshots, rewinds, states)
			continue
		}
		shadow, err := in.newShadow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		failed := func(err error) {
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
		}
		for range 2 { // an episode that is begun again
			_, err = w.Reset(t.Context(), envharness.ResetOptions{})
			failed(err)
			args := json.RawMessage(`{"x":1}`)
			_, err = w.Step(t.Context(), envharness.Action{Name: "a", Args: args})
			failed(err)
			copy(args, "[[[[[[[")
			if snapshots {
				s, err := snapshotter.Snapshot(t.Context())
				failed(err)
				s = slices.Clone(s)
				_, err = w.Step(t.Context(), envharness.Action{Name: "b"})
				failed(err)
				failed(snapshotter.Restore(t.Context(), s))
				copy(s, "[[[[[[[")
			}
			if rewinds {
				failed(rewinder.RewindCounters(t.Context()))
			}
			news, err := shadow.follow(t.Context(), d)
			failed(err)
			if got := string(news[1].action.Args); got != `{"x":1}` || news[0].kind != envharness.LogReset {
				t.Errorf("%s: begins with %s, a call with %s", tt.reason, news[0].kind, got)
			}
			want, err := stater.State(t.Context())
			failed(err)
			if got, err := shadow.stater.State(t.Context()); err != nil || string(got) != string(want) {
				t.Errorf("%s: the shadow is at %s, the base at %s, %v", tt.reason, got, want, err)
			}
		}
		failed(w.Close())
	}
}

// TestShadowFails: where a shadow fails again and again it is an error if the base fails at what was done so far without components, too.
func TestShadowFails(t *testing.T) {
	for _, down := range []bool{false, true} {
		calls, broken, policies := 0, false, 0
		w := frailWorld(straight("ab", "ab").world(), &calls, func(int) bool { return broken })
		in := newTestInspector(t, w, "t", components.Catalogue())
		d := new(deeds)
		failed := func() error {
			broken = down && policies == 1+in.reruns()
			return errDown
		}
		stack := stackOf(t, part("tool_fail", `{}`))
		trace, err := in.shadowed(t.Context(), stack, func() *deeds { return d }, failed, func() envharness.Policy {
			policies++
			return script(letters("aa"))()
		})
		if policies != 1+in.reruns() || down != errors.Is(err, envharness.ErrInfra) || len(trace.Turns) != 2 {
			t.Errorf("down is %v: %d attempts, %v", down, policies, err)
		}
	}
}

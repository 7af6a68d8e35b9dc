package envharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// A told environment says what its funcs tell it, by the number of the instance (0 plays, 1 is the first to replay) and the number of
// steps taken since the reset.
type told struct {
	instance, steps int
	tell            func(e *told) eh.Transition // the answer to the reset (steps is 0) and to each step; the second step ends the episode
	state           func(e *told) string
	volatile        []string
	options         string // of the last reset
	seed            uint64
}

func (e *told) Reset(_ context.Context, o eh.ResetOptions) (eh.Observation, error) {
	e.steps, e.options, e.seed = 0, string(o.Options), 0
	if o.Seed != nil {
		e.seed = *o.Seed
	}
	return e.answer().Observation, nil
}

func (e *told) Step(context.Context, eh.Action) (eh.Transition, error) {
	e.steps++
	return e.answer(), nil
}

func (e *told) answer() eh.Transition {
	t := eh.Transition{Observation: eh.Observation{Text: fmt.Sprint("step ", e.steps)}}
	if e.tell != nil {
		t = e.tell(e)
	}
	t.Terminated = t.Terminated || e.steps == 2 && !t.Truncated
	return t
}

func (e *told) State(context.Context) (eh.State, error) {
	if e.state == nil {
		return eh.State(fmt.Sprintf(`{"steps":%d}`, e.steps)), nil
	}
	return eh.State(e.state(e)), nil
}

func (e *told) Describe() eh.Description {
	return eh.Description{Name: "told", Deterministic: true, Volatile: e.volatile}
}

func (e *told) Close() error { return nil }

// always is a verifier that passes whatever it sees.
var always = eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{Status: eh.Pass}, nil })

// toldWorld numbers its environments.
func toldWorld(e told) eh.World {
	var made atomic.Int64
	return eh.World{Verifier: always, New: func(context.Context) (eh.Environment, error) {
		c := e
		c.instance = int(made.Add(1)) - 1
		return &c, nil
	}}
}

var (
	look     = eh.Action{Name: "look", Args: json.RawMessage(`{"at":"sky"}`)}
	noReruns = eh.RolloutOptions{Reruns: new(0)}
)

// playOnce plays one episode of two steps, without reruns.
func playOnce(t testing.TB, w eh.World, cs ...eh.Component) eh.Trace {
	t.Helper()
	traces, err := eh.Rollouts(t.Context(), w, cs, func(int) (eh.Policy, error) { return script(look, look), nil }, []eh.Task{{}}, &noReruns)
	if err != nil {
		t.Fatal(err)
	}
	return traces[0]
}

// tampered reports whether a trace is Invalid because the replay differs, with a cause that says all of these.
func tampered(tr eh.Trace, says ...string) bool {
	for _, s := range append(says, eh.ErrTamper.Error()) {
		if !strings.Contains(tr.Cause, s) || !strings.Contains(tr.Verdict.Reason, s) {
			return false
		}
	}
	return tr.Verdict.Status == eh.Invalid && tr.Verdict.Score == 0 && tr.End.Infra()
}

// What an environment does that promised to be deterministic and is not. It never counts as a failure of the policy.
func TestReplayLiars(t *testing.T) {
	counter, global := 0, rand.New(rand.NewPCG(1, 2))
	text := func(e *told, v any) eh.Transition {
		return eh.Transition{Observation: eh.Observation{Text: fmt.Sprint("step ", e.steps, " saw ", v)}}
	}
	tests := []struct {
		name   string
		env    told
		says   []string
		reason string
	}{
		{"honest", told{}, nil, "the same twice"},
		{"counter", told{tell: func(e *told) eh.Transition { counter++; return text(e, counter) }},
			[]string{"entry 0 (reset ): text", `"step 0 saw 4"`, `recorded "step 0 saw 1"`}, "OpenEnv#1102: shared between instances"},
		{"global generator", told{tell: func(e *told) eh.Transition { return text(e, global.Uint64()) }}, []string{"entry 0 (reset ): text"},
			"nle#131: the seed is not used"},
		{"global generator of steps", told{tell: func(e *told) eh.Transition {
			if e.steps == 0 {
				return text(e, 0)
			}
			return text(e, global.Uint64())
		}}, []string{"entry 1 (step look): text"}, "pc-gym#44: the reset is right and a step is not"},
		{"seed replaced", told{tell: func(e *told) eh.Transition { return text(e, e.seed+uint64(e.instance)) }},
			[]string{"entry 0 (reset ): text"},
			"gym-pybullet-drones#300: each instance has a seed of its own"},
		{"instance in the last step", told{tell: func(e *told) eh.Transition { return text(e, e.instance*(e.steps/2)) }},
			[]string{"entry 2 (step look): text", `recorded "step 2 saw 0"`}, "a port or a folder that each instance has of its own"},
		{"data", told{tell: func(e *told) eh.Transition {
			return eh.Transition{Observation: eh.Observation{Data: map[string]any{"a": []any{1.0, float64(e.instance)}}}}
		}}, []string{"entry 0 (reset ): /observation/data"}, "inside a list"},
		{"data or none", told{tell: func(e *told) eh.Transition {
			if e.instance == 0 {
				return eh.Transition{Info: map[string]any{"l": []any(nil)}}
			}
			return eh.Transition{Observation: eh.Observation{Data: map[string]any{}}, Info: map[string]any{"l": []any{}}}
		}}, nil, "what was cleared for a second use is as empty as what was never made"},
		{"admissible actions", told{tell: func(e *told) eh.Transition {
			acts := []eh.Action{look, stop}
			return eh.Transition{Observation: eh.Observation{Actions: acts[e.instance:]}}
		}}, []string{"entry 0 (reset ): admissible actions"}, "alfworld#14: another order"},
		{"reward", told{tell: func(e *told) eh.Transition { return eh.Transition{Reward: float64(e.instance * e.steps)} }},
			[]string{"entry 1 (step look): reward 1, recorded 0"}, "only a signal, but promised"},
		{"terminated", told{tell: func(e *told) eh.Transition {
			return eh.Transition{Terminated: e.steps == 1 && e.instance == 1}
		}}, []string{"entry 1 (step look): terminated true, truncated false", "recorded false, false"}, "the fresh one ends sooner"},
		{"truncated", told{tell: func(e *told) eh.Transition {
			return eh.Transition{Truncated: e.steps == 2 && e.instance == 1, Reason: []string{"", "clock"}[e.instance*(e.steps/2)]}
		}}, []string{"entry 2 (step look)", `truncated true "clock"`}, "a limit that was not there"},
		{"refusal", told{tell: func(e *told) eh.Transition {
			if e.instance*e.steps == 1 {
				return eh.Transition{Error: &eh.ActionError{Class: eh.ClassTransient}}
			}
			return eh.Transition{}
		}}, []string{"entry 1 (step look): refusal", "recorded <nil>"}, "the fresh one refuses"},
		{"class of a refusal", told{tell: func(e *told) eh.Transition {
			return eh.Transition{Error: &eh.ActionError{Class: []eh.ErrorClass{eh.ClassNotFound, eh.ClassOther}[e.instance]}}
		}}, []string{"entry 1 (step look): refusal"}, "another class"},
		{"info", told{tell: func(e *told) eh.Transition { return eh.Transition{Info: map[string]any{"id": float64(e.instance)}} }},
			[]string{"entry 1 (step look): /info/id is 1, recorded 0"}, "not shown, but promised"},
		{"end state", told{state: func(e *told) string { return fmt.Sprintf(`{"won":%v}`, e.instance == 0 && e.steps == 2) }},
			[]string{"the end state"},
			"what the verifier would have read was made up"},
		{"start state", told{state: func(e *told) string { return fmt.Sprintf(`{"lucky":%v}`, e.instance == 0 && e.steps == 0) }},
			[]string{"the start state"},
			"before the first turn"},
		{"state in another order", told{state: func(e *told) string {
			return []string{`{"a":1,"b":[1.0,2e0]}`, ` {"b":[1,2], "a":1}`}[e.instance]
		}}, nil, "the same JSON"},
		{"item of the state", told{state: func(e *told) string { return fmt.Sprintf(`{"a":[0,%d]}`, e.instance) }}, []string{"the start state"},
			"inside a list"},
		{"large number of the state", told{state: func(e *told) string { return fmt.Sprintf(`{"a":%d}`, 1<<53+e.instance) }},
			[]string{"the start state"},
			"no float64 can tell them apart"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		got := playOnce(t, toldWorld(tt.env))
		if tt.says == nil {
			if got.Verdict.Status != eh.Pass || got.Verdict.Unreplayed || got.Cause != "" {
				t.Errorf("%s: %+v, cause %q (%s)", tt.name, got.Verdict, got.Cause, tt.reason)
			}
			continue
		}
		if !tampered(got, tt.says...) || got.End != eh.EndEnvError {
			t.Errorf("%s: end %s, %+v, want %q (%s)", tt.name, got.End, got.Verdict, tt.says, tt.reason)
		}
		if len(got.Turns) != 2 {
			t.Errorf("%s: %d turns are left in the trace, want 2", tt.name, len(got.Turns))
		}
		if _, err := eh.SuccessRate([]eh.Trace{got}, 0); !errors.Is(err, eh.ErrInsufficient) {
			t.Errorf("%s: it counts: %v", tt.name, err)
		}
	}
}

// A pointer in Description.Volatile excuses what is at and below it and nothing else.
func TestReplayVolatile(t *testing.T) {
	type m = map[string]any
	data := func(f func(i float64) m) func(*told) eh.Transition {
		return func(e *told) eh.Transition {
			return eh.Transition{Observation: eh.Observation{Text: "x", Data: f(float64(e.instance))}}
		}
	}
	info := func(f func(i float64) m) func(*told) eh.Transition {
		return func(e *told) eh.Transition { return eh.Transition{Info: f(float64(e.instance))} }
	}
	textual := func(e *told) eh.Transition {
		return eh.Transition{Observation: eh.Observation{Text: fmt.Sprint(e.instance)}}
	}
	refused := func(class, message func(i int) string) func(*told) eh.Transition {
		return func(e *told) eh.Transition {
			return eh.Transition{Error: &eh.ActionError{Class: eh.ErrorClass(class(e.instance)), Message: message(e.instance)}}
		}
	}
	varies, same := func(i int) string { return fmt.Sprint(i) }, func(int) string { return "x" }
	sometimes := func(e *told) eh.Transition {
		if e.instance == 0 {
			return eh.Transition{}
		}
		return eh.Transition{Error: &eh.ActionError{Class: eh.ClassOther}}
	}
	x := func(i float64) m { return m{"x": i} }
	xy := func(i float64) m { return m{"x": 1.0, "y": i} }
	deep := func(i float64) m { return m{"a": m{"b": m{"c": i, "d": 1.0}}} }
	list := func(i float64) m { return m{"l": []any{m{"id": i, "v": 1.0}, "second"}} }
	second := func(i float64) m { return m{"l": []any{1.0, i}} }
	shorter := func(i float64) m { return m{"l": make([]any, int(i))} }
	slash := func(i float64) m { return m{"a/b": i, "m~n": i} }
	numbered := func(i float64) m { return m{"0": i} }
	maybe := func(i float64) m {
		if i == 0 {
			return m{"y": 1.0}
		}
		return m{"x": i, "y": 1.0}
	}
	state := func(format string) func(*told) string {
		return func(e *told) string { return fmt.Sprintf(format, e.instance) }
	}
	tests := []struct {
		name     string
		tell     func(*told) eh.Transition
		state    func(*told) string
		volatile string // separated by spaces
		says     string // of the difference that is left; empty: none
		reason   string
	}{
		{"text", textual, nil, "/observation/text", "", "it names the text"},
		{"text not named", textual, nil, "/observation/data /observation/actions /info", "text",
			"others name something else"},
		{"whole observation", textual, nil, "/observation", "", "at and below"},
		{"text and data", func(e *told) eh.Transition {
			return eh.Transition{Observation: eh.Observation{Text: fmt.Sprint(e.instance), Data: m{"x": float64(e.instance)}}}
		}, nil, "/observation/text", "/observation/data", "each has to be named"},
		{"field of the data", data(x), nil, "/observation/data/x", "", "it names the field"},
		{"whole data", data(deep), nil, "/observation/data", "", "at and below"},
		{"other field", data(xy), nil, "/observation/data/x", "/observation/data", "the other one differs"},
		{"prefix of a name", data(func(i float64) m { return m{"xy": i} }), nil, "/observation/data/x", "/observation/data",
			"names are whole"},
		{"nested", data(deep), nil, "/observation/data/a/b/c", "", "it names the value"},
		{"nested above", data(deep), nil, "/observation/data/a", "", "at and below"},
		{"nested beside", data(deep), nil, "/observation/data/a/b/d", "/observation/data", "the value beside differs"},
		{"nested too deep", data(deep), nil, "/observation/data/a/b/c/d", "/observation/data", "there is nothing below a number"},
		{"item", data(list), nil, "/observation/data/l/0/id", "", "inside an item"},
		{"whole item", data(second), nil, "/observation/data/l/1", "", "it names the item"},
		{"other item", data(second), nil, "/observation/data/l/0", "/observation/data", "the other one differs"},
		{"length of a list", data(shorter), nil, "/observation/data/l/0", "/observation/data", "an item more is not the item"},
		{"list", data(shorter), nil, "/observation/data/l", "", "the whole of it"},
		{"index of another form", data(second), nil, "/observation/data/l/01", "/observation/data", "RFC 6901: no leading zeros"},
		{"signed index", data(second), nil, "/observation/data/l/+1", "/observation/data", "RFC 6901: digits"},
		{"name like an index", data(numbered), nil, "/observation/data/0", "", "a field of an object"},
		{"escapes", data(slash), nil, "/observation/data/a~1b /observation/data/m~0n", "", "RFC 6901: ~1 is a slash and ~0 a tilde"},
		{"one escape", data(slash), nil, "/observation/data/a~1b", "/observation/data", "the other field differs"},
		{"there or not", data(maybe), nil, "/observation/data/x", "", "at and below: none is a difference too"},
		{"actions", func(e *told) eh.Transition {
			return eh.Transition{Observation: eh.Observation{Actions: []eh.Action{look, stop}[e.instance:]}}
		}, nil, "/observation/actions", "", "it names the list"},
		{"info", info(xy), nil, "/info/y", "", "it names the field"},
		{"other info", info(xy), nil, "/info/x", "/info/y", "the other one differs"},
		{"whole info", info(deep), nil, "/info", "", "at and below"},
		{"info is not data", info(x), nil, "/observation/data/x", "/info/x", "places are told apart"},
		{"reward", func(e *told) eh.Transition { return eh.Transition{Reward: float64(e.instance)} }, nil, "/reward", "", "it names the reward"},
		{"reward and info", func(e *told) eh.Transition {
			return eh.Transition{Reward: float64(e.instance), Info: x(float64(e.instance))}
		}, nil, "/reward", "/info/x", "each has to be named"},
		{"message", refused(same, varies), nil, "/error/message", "", "it names the message"},
		{"class is not the message", refused(varies, same), nil, "/error/message", "refusal", "the class differs"},
		{"class", refused(varies, same), nil, "/error/class", "", "it names the class"},
		{"message is not the class", refused(same, varies), nil, "/error/class", "refusal", "the message differs"},
		{"retryable", func(e *told) eh.Transition {
			return eh.Transition{Error: &eh.ActionError{Class: eh.ClassOther, Retryable: e.instance == 0}}
		}, nil, "/error/retryable", "", "it names the flag"},
		{"refused or not", sometimes, nil, "/error", "", "the whole refusal"},
		{"class of no refusal", sometimes, nil, "/error/class", "refusal", "a refusal more is not its class"},
		{"message of no refusal", sometimes, nil, "/error/message", "refusal", "a refusal more is not its message"},
		{"state", nil, state(`{"a":1,"t":%d}`), "/state/t", "", "it names the field"},
		{"other field of the state", nil, state(`{"a":%d,"t":1}`), "/state/t", "the start state", "the other one differs"},
		{"whole state", nil, state(`{"a":%d}`), "/state", "", "at and below"},
		{"nested state", nil, state(`{"a":[{"b":%d,"c":1}]}`), "/state/a/0/b", "", "inside an item"},
		{"nested state beside", nil, state(`{"a":[{"b":%d,"c":1}]}`), "/state/a/0/c", "the start state", "the value beside differs"},
		{"data is not the state", nil, state(`{"x":%d}`), "/observation/data/x /info/x", "the start state", "places are told apart"},
		{"state is not the data", data(x), nil, "/state/x", "/observation/data", "places are told apart"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			got := playOnce(t, toldWorld(told{tell: tt.tell, state: tt.state, volatile: strings.Fields(tt.volatile)}))
			switch {
			case tt.says == "" && (got.Verdict.Status != eh.Pass || got.Verdict.Unreplayed):
				t.Errorf("volatile %q: %+v, want a pass (%s)", tt.volatile, got.Verdict, tt.reason)
			case tt.says != "" && !tampered(got, tt.says):
				t.Errorf("volatile %q: %+v, want a difference in %s (%s)", tt.volatile, got.Verdict, tt.says, tt.reason)
			}
		})
	}
}

// A pointer to what is not compared is a mistake of the environment's author.
func TestVolatileRefused(t *testing.T) {
	for p, reason := range map[string]string{
		"":                            "not everything",
		"/text":                       "not a field of a transition",
		"/observation/":               "RFC 6901: the field with the empty name",
		"/observation/text/0":         "there is nothing below a text",
		"/observation/actions/0/args": "actions are compared whole",
		"/reward/x":                   "there is nothing below a number",
		"/error/code":                 "a refusal has no such field",
		"/states/x":                   "names are whole",
		"/info/a~":                    "RFC 6901: no escape",
		"info":                        "a pointer begins with a slash",
	} {
		got := playOnce(t, toldWorld(told{volatile: []string{p}}))
		if got.Verdict.Status != eh.Invalid || !strings.Contains(got.Cause, "points to nothing that is compared") {
			t.Errorf("%q: %+v, cause %q (%s)", p, got.Verdict, got.Cause, reason)
		}
	}
}

// The volatile parts are in the trace and in the evidence as they were: only the comparison leaves them out.
func TestReplayKeepsVolatile(t *testing.T) {
	w := toldWorld(told{volatile: []string{"/observation", "/state"}})
	var seen []eh.Evidence
	w.Verifier = eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
		seen = append(seen, e)
		return eh.Verdict{Status: eh.Pass}, nil
	})
	got := playOnce(t, w)
	if got.Verdict.Status != eh.Pass || len(seen) != 2 {
		t.Fatalf("%+v, %d verifications, want a pass after 2", got.Verdict, len(seen))
	}
	if d := cmp.Diff(seen[0],
		seen[1]); d != "" || seen[0].Log[2].Transition.Observation.Text != "step 2" || string(seen[0].End) != `{"steps":2}` {
		t.Errorf("evidence %+v (-played +replayed):\n%s", seen[0], d)
	}
}

// An aliaser fills one buffer again and again, and gives it away each time.
type aliaser struct {
	told
	data    map[string]any
	items   []any
	actions []eh.Action
	state   []byte
}

func (a *aliaser) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	a.items = []any{0.0}
	a.data, a.actions, a.state = map[string]any{"items": a.items}, []eh.Action{{Name: "look", Args: json.RawMessage(`{"n":0}`)}},
		[]byte(`{"n":0}`)
	t, err := a.told.Reset(ctx, o)
	t.Data, t.Actions = a.data, a.actions
	return t, err
}

func (a *aliaser) Step(ctx context.Context, act eh.Action) (eh.Transition, error) {
	t, err := a.told.Step(ctx, act)
	a.items[0] = float64(a.steps)
	copy(a.actions[0].Args, fmt.Sprintf(`{"n":%d}`, a.steps))
	copy(a.state, fmt.Sprintf(`{"n":%d}`, a.steps))
	t.Observation.Data, t.Observation.Actions, t.Info = a.data, a.actions, a.data
	return t, err
}

func (a *aliaser) State(context.Context) (eh.State, error) { return a.state, nil }

// Buffers that are used again spoil neither the record nor the verdict. The one thing handed over without a copy, for speed, is the
// state: what it was is read again from the replay, and that differs.
func TestReplayAliasedBuffers(t *testing.T) {
	w := eh.World{Verifier: always, New: func(context.Context) (eh.Environment, error) { return &aliaser{}, nil }}
	got := playOnce(t, w)
	if got.Verdict.Status == eh.Fail {
		t.Errorf("verdict %+v", got.Verdict)
	}
	for i, turn := range got.Turns {
		want := float64(i + 1)
		if d := cmp.Diff(map[string]any{"items": []any{want}}, turn.Raw.Observation.Data); d != "" {
			t.Errorf("turn %d, raw data (-want +got):\n%s", i, d)
		}
		if d := cmp.Diff(map[string]any{"items": []any{want}}, turn.Shown.Info); d != "" {
			t.Errorf("turn %d, shown info (-want +got):\n%s", i, d)
		}
		if s := string(turn.Shown.Observation.Actions[0].Args); s != fmt.Sprintf(`{"n":%d}`, i+1) {
			t.Errorf("turn %d: action shown with %s", i, s)
		}
	}
	if d := cmp.Diff(map[string]any{"items": []any{0.0}}, got.Shown.Data); d != "" {
		t.Errorf("first data (-want +got):\n%s", d)
	}
	h := mustNew(t, w)
	mustReset(t, h)
	mustStep(t, h, look)
	e := mustEvidence(t, h)
	if string(e.Start) != `{"n":0}` || string(e.End) != `{"n":1}` || string(e.Log[1].Action.Args) != string(look.Args) {
		t.Errorf("start %s, end %s, action %s", e.Start, e.End, e.Log[1].Action.Args)
	}
}

// The replay carries out what the log says: the reset with its options, the setup, the rewind, and the steps after the components.
func TestReplayWholeLog(t *testing.T) {
	type call struct{ Kind, Args string }
	var made [][]call
	w := toyWorld(nil, func(e *toy) {
		e.start, e.limit = []int{2, 2, 6}, 3
		at := len(made)
		made = append(made, nil)
		e.onReset = func() error { made[at] = append(made[at], call{Kind: "reset"}); return nil }
		e.onStep = func(_ context.Context, _ *toy, a eh.Action) (*eh.Transition, error) {
			made[at] = append(made[at], call{a.Name, string(a.Args)})
			return nil, nil
		}
	})
	swap := rule(eh.AxisAction, eh.Hooks{Action: func(_ context.Context, v eh.View, a eh.Action) (eh.ActionEdit, error) {
		switch v.Turn {
		case 0:
			return eh.ReplaceAction(combine(0, 1, "mul")), nil
		case 1:
			return eh.BlockAction("wait"), nil
		}
		return eh.PassAction(), nil
	}})
	h := mustNew(t, w, eh.Setup{Actions: []eh.Action{combine(0, 1, "mul")}}, swap)
	mustReset(t, h)
	mustStep(t, h, combine(0, 1, "add"))
	mustStep(t, h, stop)
	mustStep(t, h, stop)
	if v := mustVerdict(t, h); v.Status != eh.Pass || v.Unreplayed {
		t.Errorf("verdict %+v", v)
	}
	var kinds []eh.LogKind
	for _, e := range mustEvidence(t, h).Log {
		kinds = append(kinds, e.Kind)
	}
	if d := cmp.Diff([]eh.LogKind{eh.LogReset, eh.LogReplay, eh.LogRewind, eh.LogStep, eh.LogStep}, kinds); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
	mul := string(combine(0, 1, "mul").Args)
	want := []call{{"reset", ""}, {"combine", mul}, {"combine", mul}, {"stop", ""}}
	if d := cmp.Diff([][]call{want, want}, made); d != "" {
		t.Errorf("calls on the two bases (-want +got):\n%s", d)
	}
}

// Entries of a setup that come out otherwise are named by their kind.
func TestReplaySetupDiffers(t *testing.T) {
	n := 0
	w := toyWorld(nil, func(e *toy) {
		n++
		fresh := n > 1
		e.start = []int{2, 2, 6}
		e.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) {
			if fresh {
				return &eh.Transition{Observation: eh.Observation{Text: "other"}}, nil
			}
			return nil, nil
		}
	})
	h := mustNew(t, w, eh.Setup{Actions: []eh.Action{combine(0, 1, "mul")}})
	mustReset(t, h)
	mustStep(t, h, stop)
	if v := mustVerdict(t, h); v.Status != eh.Invalid || !strings.Contains(v.Reason,
		`entry 1 (replay combine): text "other", recorded "numbers 6 4"`) {
		t.Errorf("verdict %+v", v)
	}
}

// Options of an episode reach the replay as they were, whatever the base or the caller did to its copy.
func TestReplayOptions(t *testing.T) {
	w := toldWorld(told{tell: func(e *told) eh.Transition { return eh.Transition{Observation: eh.Observation{Text: e.options}} }})
	h := mustNew(t, w)
	given := json.RawMessage(`{"level":3}`)
	if o, err := h.Reset(t.Context(), eh.ResetOptions{Task: "t", Options: given}); err != nil || o.Text != `{"level":3}` {
		t.Fatalf("%+v, %v", o, err)
	}
	copy(given, `{"level":9}`)
	mustStep(t, h, look)
	mustStep(t, h, look)
	if v := mustVerdict(t, h); v.Status != eh.Pass || v.Unreplayed {
		t.Errorf("verdict %+v", v)
	}
}

// A seedless environment has no use for a seed.
type seedless struct{ told }

func (s *seedless) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	if o.Seed != nil {
		return eh.Observation{}, fmt.Errorf("seedless: %w", eh.ErrSeedUnsupported)
	}
	return s.told.Reset(ctx, o)
}

// describing hides all abilities but the description.
type describing struct {
	eh.Environment
	desc eh.Description
}

func (p describing) Describe() eh.Description { return p.desc }

// A verdict that no replay can check says so.
func TestUnreplayed(t *testing.T) {
	instances := 0
	tests := []struct {
		name       string
		env        func() eh.Environment
		unreplayed bool
		made       int
		reason     string
	}{
		{"deterministic", func() eh.Environment { return &told{} }, false, 2, "replayed"},
		{"no state", func() eh.Environment { return &describing{&told{}, eh.Description{Deterministic: true}} }, false, 2,
			"the log alone is compared"},
		{"no promise", func() eh.Environment { return &describing{&told{}, eh.Description{}} }, true, 1, "Deterministic is not declared"},
		{"no description", func() eh.Environment { return &bare{&told{}} }, true, 1, "nothing is declared"},
		{"no seed", func() eh.Environment { return &seedless{} }, true, 1, "its episode cannot be had again"},
	}
	for _, tt := range tests {
		instances = 0
		w := eh.World{Verifier: always, New: func(context.Context) (eh.Environment, error) { instances++; return tt.env(), nil }}
		got := playOnce(t, w)
		if got.Verdict.Status != eh.Pass || got.Verdict.Unreplayed != tt.unreplayed || instances != tt.made {
			t.Errorf("%s: %+v, %d environments, want unreplayed %v of %d (%s)", tt.name, got.Verdict, instances, tt.unreplayed, tt.made, tt.reason)
		}
	}
	h := mustNew(t, toldWorld(told{}))
	mustReset(t, h)
	mustStep(t, h, look)
	if v := mustVerdict(t, h); v.Status != eh.Pass || !v.Unreplayed {
		t.Errorf("a running episode: %+v, want a pass that is not replayed", v)
	}
}

// Whatever keeps a replay from being carried out makes the verdict Invalid, with the place in the cause.
func TestReplayImpossible(t *testing.T) {
	type env = eh.Environment
	world := func(second func() (env, error)) func() eh.World {
		return func() eh.World {
			n := 0
			return eh.World{Verifier: always, New: func(context.Context) (env, error) {
				if n++; n == 1 {
					return &told{}, nil
				}
				return second()
			}}
		}
	}
	toyThen := func(change func(*toy)) func() eh.World {
		return func() eh.World {
			n := 0
			w := toyWorld(nil, func(e *toy) {
				e.start = []int{2, 2, 6}
				if n++; n > 1 {
					change(e)
				}
			})
			w.Verifier = eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
				if e.EndReason == "" {
					return eh.Verdict{Status: eh.Fail}, nil // the start is not solved
				}
				return eh.Verdict{Status: eh.Pass}, nil
			})
			return w
		}
	}
	setup := eh.Setup{Actions: []eh.Action{combine(0, 1, "mul")}}
	verifies := func(second func() (eh.Verdict, error)) func() eh.World {
		return func() eh.World {
			w, n := toldWorld(told{}), 0
			w.Verifier = eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) {
				if n++; n == 1 {
					return eh.Verdict{Status: eh.Fail, Score: .5, Parts: map[string]float64{"a": .5}}, nil
				}
				return second()
			})
			return w
		}
	}
	tests := []struct {
		name   string
		world  func() eh.World
		stack  []eh.Component
		end    eh.EndReason
		tamper bool
		says   string
		reason string
	}{
		{"New errs", world(func() (env, error) { return nil, errBoom }), nil, eh.EndEnvError, false, "replay: open: boom",
			"no second environment"},
		{"New panics", world(func() (env, error) { panic("ouch") }), nil, eh.EndEnvError, false, "replay: open: panic: ouch", "as an error"},
		{"New gives none", world(func() (env, error) { return nil, nil }), nil, eh.EndEnvError, false,
			"replay: World.New returned no environment", "none"},
		{"New gives the same", func() eh.World {
			one := &told{}
			return eh.World{Verifier: always, New: func(context.Context) (env, error) { return one, nil }}
		}, nil, eh.EndEnvError, false, "World.New returned the environment in use, not a fresh one", "it would replay with what it remembers"},
		{"reset errs", toyThen(func(e *toy) { e.onReset = func() error { return errBoom } }), nil, eh.EndEnvError, false,
			"replay: entry 0 (reset ): boom", "the place is named"},
		{"step errs", toyThen(func(e *toy) { e.onStep = onStepErr }), nil, eh.EndEnvError, false, "replay: entry 1 (step look): boom",
			"the place is named"},
		{"step panics", toyThen(func(e *toy) {
			e.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) { panic("ouch") }
		}), nil, eh.EndEnvError, false, "replay: entry 1 (step look): panic: ouch", "as an error"},
		{"step of the setup errs", toyThen(func(e *toy) { e.onStep = onStepErr }), []eh.Component{setup}, eh.EndEnvError, false,
			"replay: entry 1 (replay combine): boom", "the kind is named"},
		{"state errs", toyThen(func(e *toy) { e.onState = func() error { return errBoom } }), nil, eh.EndEnvError, false, "boom",
			"before the first step"},
		{"close errs", toyThen(func(e *toy) { e.onClose = func() error { return errBoom } }), nil, eh.EndEnvError, false, "replay: close: boom",
			"what did it leave behind?"},
		{"cannot rewind", func() eh.World {
			w, n := toyThen(func(*toy) {})(), 0
			mk := w.New
			w.New = func(ctx context.Context) (env, error) {
				e, err := mk(ctx)
				if n++; n > 1 {
					return &describing{e, eh.Description{Deterministic: true}}, err
				}
				return e, err
			}
			return w
		}, []eh.Component{setup}, eh.EndEnvError, false, "entry 2 (rewind ): the fresh environment is no Rewinder",
			"another kind of environment"},
		{"no state any more", func() eh.World {
			w, n := toldWorld(told{}), 0
			mk := w.New
			w.New = func(ctx context.Context) (env, error) {
				e, err := mk(ctx)
				if n++; n > 1 {
					return &describing{e, eh.Description{Deterministic: true}}, err
				}
				return e, err
			}
			return w
		}, nil, eh.EndEnvError, true, "the start state", "another kind of environment"},
		{"verifier errs", verifies(func() (eh.Verdict, error) { return eh.Verdict{}, errBoom }), nil, eh.EndVerifierError, false, "boom",
			"the second time"},
		{"verifier panics", verifies(func() (eh.Verdict, error) { panic("ouch") }), nil, eh.EndVerifierError, false, "panic: ouch",
			"the second time"},
		{"another status", verifies(func() (eh.Verdict, error) { return eh.Verdict{Status: eh.Pass}, nil }), nil, eh.EndVerifierError, true,
			"verdict pass 1, of the episode itself fail 0.5", "it does not judge by the evidence alone"},
		{"invalid", verifies(func() (eh.Verdict, error) { return eh.Verdict{}, nil }), nil, eh.EndVerifierError, true,
			"verdict invalid 0, of the episode itself fail 0.5",
			"it does not judge by the evidence alone"},
		{"another score", verifies(func() (eh.Verdict, error) {
			return eh.Verdict{Status: eh.Fail, Score: .25, Parts: map[string]float64{"a": .5}}, nil
		}), nil, eh.EndVerifierError, true, "verdict fail 0.25, of the episode itself fail 0.5", "scores count"},
		{"another part", verifies(func() (eh.Verdict, error) {
			return eh.Verdict{Status: eh.Fail, Score: .5, Parts: map[string]float64{"b": .5}}, nil
		}), nil, eh.EndVerifierError, true, "verdict fail 0.5", "parts count"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		got := playOnce(t, tt.world(), tt.stack...)
		if got.Verdict.Status != eh.Invalid || got.End != tt.end || !strings.Contains(got.Cause, tt.says) || got.Verdict.Reason != got.Cause {
			t.Errorf("%s: end %s, %+v, cause %q, want %q (%s)", tt.name, got.End, got.Verdict, got.Cause, tt.says, tt.reason)
		}
		if strings.Contains(got.Cause, eh.ErrTamper.Error()) != tt.tamper {
			t.Errorf("%s: cause %q, tampering is %v (%s)", tt.name, got.Cause, tt.tamper, tt.reason)
		}
	}
	w := verifies(func() (eh.Verdict, error) {
		return eh.Verdict{Status: eh.Fail, Score: .5, Parts: map[string]float64{"a": .5}, Reason: "in other words"}, nil
	})()
	if got := playOnce(t, w); got.Verdict.Status != eh.Fail || got.Verdict.Unreplayed || got.Verdict.Reason != "" {
		t.Errorf("another reason: %+v, want the first verdict", got.Verdict)
	}
}

func onStepErr(context.Context, *toy, eh.Action) (*eh.Transition, error) { return nil, errBoom }

// An environment without anything in it is equal to every other one, and still fresh.
type stateless struct{}

func (stateless) Reset(context.Context, eh.ResetOptions) (eh.Observation, error) {
	return eh.Observation{Text: "2+2?"}, nil
}

func (stateless) Step(context.Context, eh.Action) (eh.Transition, error) {
	return eh.Transition{Terminated: true}, nil
}
func (stateless) Close() error             { return nil }
func (stateless) Describe() eh.Description { return eh.Description{Deterministic: true} }

func TestReplayStateless(t *testing.T) {
	for _, mk := range []func() eh.Environment{func() eh.Environment { return stateless{} }, func() eh.Environment { return &stateless{} }} {
		w := eh.World{Verifier: always, New: func(context.Context) (eh.Environment, error) { return mk(), nil }}
		if got := playOnce(t, w); got.Verdict.Status != eh.Pass {
			t.Errorf("%T: %+v", mk(), got.Verdict)
		}
	}
}

// Whoever asks twice gets the same answer, and every environment of a replay is closed.
func TestReplayTwice(t *testing.T) {
	var open atomic.Int64
	h := mustNew(t, toyWorld(&open, nil))
	mustReset(t, h)
	mustStep(t, h, combine(0, 1, "mul"))
	mustStep(t, h, stop)
	for range 2 {
		if v := mustVerdict(t, h); v.Status != eh.Pass || v.Unreplayed {
			t.Errorf("verdict %+v", v)
		}
	}
	if n := open.Load(); n != 1 {
		t.Errorf("%d environments are open, want the one that plays", n)
	}
}

package game24

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

var ctx = context.Background()

var splits = []string{"train", "validation", "test", "ood"}

// A game is an environment whose episode can be looked at.
type game struct {
	*sim.Env
	o       *Options
	episode *episode // that of the last reset or restore, refused ones too
}

func open(o *Options) *game {
	g := &game{o: o}
	s := simulation(o)
	start := s.Start
	s.Start = func(task string) (sim.Episode, error) {
		e, err := start(task)
		if err == nil {
			g.episode = e.(*episode)
		}
		return e, err
	}
	g.Env = s.New()
	return g
}

func reset(t testing.TB, g *game, id string) envharness.Observation {
	t.Helper()
	o, err := g.Reset(ctx, envharness.ResetOptions{Task: id})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func do(t testing.TB, g *game, a envharness.Action) envharness.Transition {
	t.Helper()
	tr, err := g.Step(ctx, a)
	if err != nil {
		t.Fatalf("%s %s: %v", a.Name, a.Args, err)
	}
	return tr
}

func state(t testing.TB, g *game) string {
	t.Helper()
	s, err := g.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(s)
}

// call writes an action as "name args", for example "stop" or `combine {"i":0}`; "0 1 mul" is a combine.
func call(s string) envharness.Action {
	if f := strings.Fields(s); len(f) == 3 && slices.Contains(operatorNames[:], f[2]) {
		return envharness.Action{Name: combineTool, Args: json.RawMessage(`{"i":` + f[0] + `,"j":` + f[1] + `,"op":"` + f[2] + `"}`)}
	}
	name, args, _ := strings.Cut(s, " ")
	a := envharness.Action{Name: name}
	if args != "" {
		a.Args = json.RawMessage(args)
	}
	return a
}

func calls(list ...string) []envharness.Action {
	var out []envharness.Action
	for _, s := range list {
		out = append(out, call(s))
	}
	return out
}

// A recorder plays a game and keeps the evidence, as a harness would.
type recorder struct {
	g  *game
	ev envharness.Evidence
}

func record(t testing.TB, o *Options, id string) *recorder {
	r := &recorder{g: open(o)}
	obs := reset(t, r.g, id)
	r.ev = envharness.Evidence{Task: id, Log: []envharness.LogEntry{
		{Kind: envharness.LogReset, Transition: envharness.Transition{Observation: obs}},
	}}
	return r
}

func (r *recorder) play(t testing.TB, actions ...envharness.Action) (last envharness.Transition) {
	t.Helper()
	for _, a := range actions {
		last = do(t, r.g, a)
		r.ev.Log = append(r.ev.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: a, Transition: last})
	}
	r.ev.End = json.RawMessage(state(t, r.g))
	return last
}

func (r *recorder) verdict(t testing.TB) envharness.Verdict {
	t.Helper()
	v, err := World(r.g.o).Verifier.Verify(ctx, r.ev)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRules(t *testing.T) {
	tests := []struct {
		name, id string
		calls    []string
		want     string // text after the last call, without "target=24, "
		class    envharness.ErrorClass
		reason   string
	}{
		{"deal", "3,3,7,7", nil, "numbers=[3, 3, 7, 7]", "", "the hand in ascending order"},
		{"append", "3,3,7,7", []string{"1 2 mul"}, "numbers=[3, 7, 21]", "", "worked example 1"},
		{"order of the positions", "1,2,3,4", []string{"3 0 sub"}, "numbers=[2, 3, 3]", "", "4-1, the rest keeps its order"},
		{"negative", "1,2,3,4", []string{"0 3 sub"}, "numbers=[2, 3, -3]", "", "1-4"},
		{"fraction", "3,3,8,8", []string{"2 0 div", "0 2 sub"}, "numbers=[8, 1/3]", "", "worked example 2: 8/3, 3-8/3"},
		{"negative fraction", "1,2,3,4", []string{"0 2 sub", "0 2 div"}, "numbers=[4, -1]", "", "1-3, 2/(1-3)"},
		{"lowest terms", "4,6,8,8", []string{"0 1 div", "0 2 div"}, "numbers=[8, 12]", "", "4/6 = 2/3; 8/(2/3)"},
		{"negative divisor", "1,2,3,4", []string{"0 1 sub", "0 2 div"}, "numbers=[4, -3]", "", "3/(1-2) has the sign in front"},
		{"down to one", "1,1,1,1", []string{"0 1 add", "0 1 add", "0 1 add"}, "numbers=[4]", "", "three combines leave one"},
		{"restart", "1,1,1,1", []string{"0 1 add", "restart"}, "numbers=[1, 1, 1, 1]", "", "the hand comes back"},
		{"restart at the start", "1,2,3,4", []string{"restart {}"}, "numbers=[1, 2, 3, 4]", "", "nothing to bring back is no refusal"},
		{"integer as a float", "1,2,3,4", []string{`combine {"i":0.0,"j":1e0,"op":"add"}`}, "numbers=[3, 4, 3]", "", "JSON has one kind of number"},
		{"spaces", "1,2,3,4", []string{"combine  { \"op\":\"add\" , \"j\":1,\"i\":0 } "}, "numbers=[3, 4, 3]", "", "the order of keys is free"},

		{"i too high", "1,2,3,4", []string{"4 0 add"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "positions are 0 to 3"},
		{"j too high later", "1,2,3,4", []string{"0 1 add", "0 3 add"}, "numbers=[3, 4, 3]", envharness.ClassBadArgs, "three numbers are left"},
		{"negative position", "1,2,3,4", []string{"-1 0 add"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "no counting from the end"},
		{"half a position", "1,2,3,4", []string{"0.5 0 add"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "not an integer"},
		{"huge position", "1,2,3,4", []string{"1e300 0 add"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "no overflow to an integer"},
		{"number out of JSON's range", "1,2,3,4", []string{"1e999 0 add"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "not a float64"},
		{"same position", "1,2,3,4", []string{"2 2 add"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "a number is used once"},
		{"one left", "1,1,1,1", []string{"0 1 add", "0 1 add", "0 1 add", "0 0 add"}, "numbers=[4]", envharness.ClassBadArgs, "nothing to combine it with"},
		{"op unknown", "1,2,3,4", []string{`combine {"i":0,"j":1,"op":"pow"}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "four operations"},
		{"op empty", "1,2,3,4", []string{`combine {"i":0,"j":1,"op":""}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "no default"},
		{"op in capitals", "1,2,3,4", []string{`combine {"i":0,"j":1,"op":"ADD"}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "exact names"},
		{"op of another type", "1,2,3,4", []string{`combine {"i":0,"j":1,"op":0}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "a string"},
		{"position as text", "1,2,3,4", []string{`combine {"i":"0","j":1,"op":"add"}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "a number"},
		{"position null", "1,2,3,4", []string{`combine {"i":null,"j":1,"op":"add"}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "null is no 0"},
		{"missing argument", "1,2,3,4", []string{`combine {"i":0}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "all three are required"},
		{"no arguments", "1,2,3,4", []string{"combine"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "nil is the empty object"},
		{"argument too many", "1,2,3,4", []string{`combine {"i":0,"j":1,"op":"add","k":2}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "additionalProperties is false"},
		{"name in capitals", "1,2,3,4", []string{`combine {"I":0,"j":1,"op":"add"}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "names are exact"},
		{"not an object", "1,2,3,4", []string{`combine [0,1,"add"]`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "a list"},
		{"null", "1,2,3,4", []string{"stop null"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "null is no object"},
		{"not JSON", "1,2,3,4", []string{"combine {"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "cut off"},
		{"too long", "1,2,3,4", []string{"stop {" + strings.Repeat(" ", 8192) + "}"}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "bounded"},
		{"stop takes nothing", "1,2,3,4", []string{`stop {"answer":24}`}, "numbers=[1, 2, 3, 4]", envharness.ClassBadArgs, "no arguments"},
		{"division by zero", "3,3,8,8", []string{"0 1 sub", "0 2 div"}, "numbers=[8, 8, 0]", envharness.ClassPrecondition, "8/(3-3)"},
		{"zero divided", "3,3,8,8", []string{"0 1 sub", "2 0 div"}, "numbers=[8, 0]", "", "0/8 is 0"},
		{"unknown tool", "1,2,3,4", []string{"nosuch"}, "numbers=[1, 2, 3, 4]", envharness.ClassUnknownTool, "three tools"},
		{"name of the reference", "1,2,3,4", []string{"reset"}, "numbers=[1, 2, 3, 4]", envharness.ClassUnknownTool, "reset is the harness's"},
		{"no name", "1,2,3,4", []string{""}, "numbers=[1, 2, 3, 4]", envharness.ClassUnknownTool, "the empty name is none"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		g := open(nil)
		o := reset(t, g, tt.id)
		var tr envharness.Transition
		for i, a := range calls(tt.calls...) {
			before := *g.episode
			tr = do(t, g, a)
			o = tr.Observation
			if refused := i == len(tt.calls)-1 && tt.class != ""; (tr.Error != nil) != refused {
				t.Errorf("%s: call %d: refusal %+v (%s)", tt.name, i, tr.Error, tt.reason)
			}
			if tr.Error != nil {
				want := strings.TrimSuffix(string(before.AppendState(nil)), "}") + `,"turn":` + strconv.Itoa(i+1) + "}"
				if d := cmp.Diff(want, state(t, g)); d != "" {
					t.Errorf("%s: the refusal changed the state (-want +got):\n%s", tt.name, d)
				}
			}
		}
		if want := "target=24, " + tt.want; o.Text != want {
			t.Errorf("%s: %q, want %q (%s)", tt.name, o.Text, want, tt.reason)
		}
		if tr.Error != nil && tr.Error.Class != tt.class {
			t.Errorf("%s: class %s, want %s (%s)", tt.name, tr.Error.Class, tt.class, tt.reason)
		}
		if tr.Error != nil && (tr.Error.Message == "" || tr.Error.Retryable) {
			t.Errorf("%s: error %+v needs a message and will not work later", tt.name, tr.Error)
		}
	}
}

func TestVerdicts(t *testing.T) {
	tests := []struct {
		name, id      string
		calls         []string
		strict, loose envharness.Status
		why           string // of the strict verdict
		reason        string
	}{
		{"three eights", "3,3,8,8", []string{"2 0 div", "0 2 sub", "0 1 div", "stop"}, envharness.Pass, envharness.Pass, "", "worked example 2"},
		{"fives", "1,5,5,5", []string{"0 1 div", "0 2 sub", "0 1 mul", "stop"}, envharness.Pass, envharness.Pass, "", "worked example 2"},
		{"fails, restarts, passes", "1,2,3,4", []string{"0 1 add", "restart", "0 1 mul", "0 2 mul", "0 1 mul", "stop"}, envharness.Pass, envharness.Pass, "", "only the end counts"},
		{"nothing", "1,2,3,4", nil, envharness.Fail, envharness.Fail, "the game was not stopped", "V04"},
		{"24 but no stop", "1,2,3,4", []string{"0 1 mul", "0 2 mul", "0 1 mul"}, envharness.Fail, envharness.Fail, "the game was not stopped", "a stop is part of it"},
		{"stop at once", "1,2,3,4", []string{"stop"}, envharness.Fail, envharness.Fail, "4 numbers are left", "null policy"},
		{"24 among several", "4,6,11,13", []string{"0 1 mul", "stop"}, envharness.Fail, envharness.Pass, "3 numbers are left", "worked example 3"},
		{"weakness 8", "4,4,6,6", []string{"0 2 mul", "stop"}, envharness.Fail, envharness.Pass, "3 numbers are left", "weakness 8: listed as easy, without a solution"},
		{"another number", "1,1,1,1", []string{"0 1 add", "0 1 add", "0 1 add", "stop"}, envharness.Fail, envharness.Fail, "the number left is 4", "4 is not 24"},
		{"minus 24", "1,2,3,4", []string{"0 1 sub", "0 1 mul", "0 1 mul", "stop"}, envharness.Fail, envharness.Fail, "the number left is -12", "-1*3*4"},
		{"refused stop", "1,2,3,4", []string{"0 1 mul", "0 2 mul", "0 1 mul", "stop []"}, envharness.Fail, envharness.Fail, "the game was not stopped", "it changed nothing"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		for _, loose := range []bool{false, true} {
			r := record(t, &Options{LooseStop: loose}, tt.id)
			last := r.play(t, calls(tt.calls...)...)
			got, want := r.verdict(t), tt.strict
			if loose {
				want = tt.loose
			} else if got.Reason != tt.why {
				t.Errorf("%s: reason %q, want %q", tt.name, got.Reason, tt.why)
			}
			score := 0.0
			if want == envharness.Pass {
				score = 1
			}
			if got.Status != want || got.Score != score || last.Reward != score {
				t.Errorf("%s, loose %v: %+v with reward %v, want %s (%s)", tt.name, loose, got, last.Reward, want, tt.reason)
			}
		}
	}
}

// Worked example 3: 24 is no number of a hand, but the rule of the stop can be asked.
func TestStopWithTargetInHand(t *testing.T) {
	h := hand{4, [4]rational{whole(24), whole(7), whole(9), whole(13)}}
	if h.won(false) || !h.won(true) {
		t.Errorf("strict %v, loose %v: the reference passes, ours fails", h.won(false), h.won(true))
	}
}

// A log that is not one of this game cannot be judged.
func TestVerifyRefuses(t *testing.T) {
	play := func() envharness.Evidence {
		r := record(t, nil, "1,2,3,4")
		r.play(t, calls("0 1 mul", "0 2 mul", "0 1 mul", "stop")...)
		return r.ev
	}
	tests := []struct {
		name   string
		edit   func(ev *envharness.Evidence)
		want   string
		reason string
	}{
		{"task", func(ev *envharness.Evidence) { ev.Task = "4,3,2,1" }, "no such task", "not a hand"},
		{"no log", func(ev *envharness.Evidence) { ev.Log = nil }, "does not begin with a reset", "nothing happened"},
		{"no reset", func(ev *envharness.Evidence) { ev.Log = ev.Log[1:] }, "does not begin with a reset", "a start is missing"},
		{"two resets", func(ev *envharness.Evidence) { ev.Log = append(ev.Log[:1:1], ev.Log...) }, "entry 1", "one episode"},
		{"after the end", func(ev *envharness.Evidence) { ev.Log = append(ev.Log, ev.Log[1]) }, "was over", "E09"},
		{"unknown kind", func(ev *envharness.Evidence) { ev.Log[2].Kind = "undo" }, "undo", "cannot be replayed"},
		{"patch", func(ev *envharness.Evidence) { ev.Log[1].Kind = envharness.LogPatch }, "not mutable", "nothing can be set"},
		{"step left out", func(ev *envharness.Evidence) { ev.Log = slices.Delete(ev.Log, 1, 2) }, "end state", "the states differ"},
		{"other end", func(ev *envharness.Evidence) {
			ev.End = json.RawMessage(strings.Replace(string(ev.End), `"24"`, `"23"`, 1))
		}, "end state", "the record was changed"},
		{"end is no JSON", func(ev *envharness.Evidence) { ev.End = json.RawMessage("{") }, "end state", "cut off"},
	}
	for _, tt := range tests {
		ev := play()
		tt.edit(&ev)
		v, err := World(nil).Verifier.Verify(ctx, ev)
		if err == nil || !strings.Contains(err.Error(), tt.want) || v.Status != envharness.Invalid {
			t.Errorf("%s: %+v, error %v, want one with %q (%s)", tt.name, v, err, tt.want, tt.reason)
		}
	}
	ev := play()
	var m map[string]any
	if err := json.Unmarshal(ev.End, &m); err != nil {
		t.Fatal(err)
	}
	ev.End, _ = json.MarshalIndent(m, "", "\t")
	ev.Log[3].Transition = envharness.Transition{Reward: math.Inf(1), Observation: envharness.Observation{Text: "numbers=[1]"}}
	for range 2 { // V01, V05
		if v, err := World(nil).Verifier.Verify(ctx, ev); err != nil || v.Status != envharness.Pass {
			t.Errorf("%+v, %v: what was shown and how the state is written have no say", v, err)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := World(nil).Verifier.Verify(canceled, ev); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// The limits of an episode: the stop on the last turn counts, a turn more does not exist, refused calls are turns.
func TestTurns(t *testing.T) {
	r := record(t, nil, "1,2,3,4")
	for i := range MaxTurns - 4 {
		if tr := r.play(t, call("nosuch")); tr.Ended() {
			t.Fatalf("ended on turn %d", i+1)
		}
	}
	last := r.play(t, calls("0 1 mul", "0 2 mul", "0 1 mul", "stop")...)
	if !last.Terminated || last.Truncated || last.Reason != "" || last.Reward != 1 || r.verdict(t).Status != envharness.Pass {
		t.Errorf("stop on turn %d: %+v, %+v", MaxTurns, last, r.verdict(t))
	}
	if last.Observation.Actions == nil || len(last.Observation.Actions) > 0 {
		t.Errorf("after the end %v are offered, want the empty list", last.Observation.Actions)
	}

	r = record(t, nil, "1,2,3,4")
	for range MaxTurns - 1 {
		r.play(t, call("restart"))
	}
	last = r.play(t, call("0 1 mul"))
	if last.Terminated || !last.Truncated || last.Reason != "max_turns" || last.Error != nil {
		t.Errorf("turn %d: %+v, want a truncation for max_turns", MaxTurns, last)
	}
	before := state(t, r.g)
	if _, err := r.g.Step(ctx, call("stop")); !errors.Is(err, envharness.ErrEpisodeOver) || state(t, r.g) != before {
		t.Errorf("after the end: %v, state %s", err, state(t, r.g))
	}
	if err := r.g.RewindCounters(ctx); !errors.Is(err, envharness.ErrEpisodeOver) {
		t.Errorf("rewind after the end: %v", err)
	}
	if _, err := r.g.Plan(ctx); !errors.Is(err, envharness.ErrEpisodeOver) {
		t.Errorf("plan after the end: %v", err)
	}
	if r.verdict(t).Status != envharness.Fail {
		t.Errorf("%+v, want fail", r.verdict(t))
	}
	reset(t, r.g, "1,2,3,4")
	if got, want := state(t, r.g), state(t, record(t, nil, "1,2,3,4").g); got != want {
		t.Errorf("after a new reset %s, want %s", got, want)
	}
}

func TestLifeCycle(t *testing.T) {
	g := open(nil)
	for name, f := range map[string]func() error{
		"step":    func() error { _, err := g.Step(ctx, call("stop")); return err },
		"observe": func() error { _, err := g.Observe(ctx); return err },
		"state":   func() error { _, err := g.State(ctx); return err },
		"plan":    func() error { _, err := g.Plan(ctx); return err },
		"rewind":  func() error { return g.RewindCounters(ctx) },
	} {
		if err := f(); !errors.Is(err, envharness.ErrNeedReset) {
			t.Errorf("%s before reset: %v", name, err)
		}
	}
	seed := uint64(7)
	for _, o := range []envharness.ResetOptions{
		{}, {Task: defaultTask, Seed: &seed}, {Options: json.RawMessage("{}")}, {Options: json.RawMessage("null")},
	} {
		if obs, err := g.Reset(ctx, o); err != nil || obs.Text != "target=24, numbers=[1, 2, 3, 4]" {
			t.Errorf("reset %+v: %q, %v", o, obs.Text, err)
		}
	}
	do(t, g, call("0 1 add"))
	before := state(t, g)
	for _, o := range []envharness.ResetOptions{
		{Task: "nosuch"}, {Options: json.RawMessage(`{"loose_stop":true}`)}, {Options: json.RawMessage("[")},
	} {
		if _, err := g.Reset(ctx, o); err == nil || state(t, g) != before {
			t.Errorf("reset %+v: error %v, want one, and the episode goes on", o, err)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := g.Step(canceled, call("stop")); !errors.Is(err, context.Canceled) || state(t, g) != before {
		t.Errorf("canceled step: %v", err)
	}
	if _, err := g.Tasks(ctx, "dev"); err == nil {
		t.Error("an unknown split was listed")
	}
	for range 2 {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, f := range map[string]func() error{
		"reset": func() error { _, err := g.Reset(ctx, envharness.ResetOptions{}); return err },
		"step":  func() error { _, err := g.Step(ctx, call("stop")); return err },
		"tasks": func() error { _, err := g.Tasks(ctx, "test"); return err },
		"state": func() error { _, err := g.State(ctx); return err },
	} {
		if err := f(); !errors.Is(err, envharness.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
}

// Close may come while a Step runs.
func TestCloseDuringStep(t *testing.T) {
	g := open(nil)
	reset(t, g, "")
	var closing sync.WaitGroup
	for n := 0; ; n++ {
		if n == 3 {
			closing.Go(func() { g.Close() })
		}
		if _, err := g.Step(ctx, call("restart")); errors.Is(err, envharness.ErrClosed) {
			break
		} else if errors.Is(err, envharness.ErrEpisodeOver) {
			g.Reset(ctx, envharness.ResetOptions{})
		} else if err != nil {
			t.Fatal(err)
		}
	}
	closing.Wait()
}

func TestDescribe(t *testing.T) {
	d := New(nil).Describe()
	if got := New(&Options{LooseStop: true}).Describe().Name; d.Name != "game24" || got != "game24_loose" {
		t.Errorf("names %q and %q: the loose game must be told apart", d.Name, got)
	}
	if d.MaxTurns != 12 || !d.Deterministic {
		t.Errorf("%+v", d)
	}
	var names []string
	for _, tool := range d.Tools {
		names = append(names, tool.Name)
		if c, err := envharness.CanonicalJSON(tool.Schema); err != nil || string(c) != string(tool.Schema) {
			t.Errorf("%s: the schema is not canonical: %v", tool.Name, err)
		}
	}
	if diff := cmp.Diff([]string{"combine", "restart", "stop"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	r := record(t, nil, "3,3,8,8")
	r.play(t, calls("2 0 div", "restart", "0 1 div")...)
	want := `{"history":["8 div 3 = 8/3","restart","3 div 3 = 1"],"numbers":["8","8","1"],"start":["3","3","8","8"],"stopped":false,"turn":3}`
	if got := state(t, r.g); got != want {
		t.Errorf("state %s\nwant  %s", got, want)
	}
	var fields map[string]any
	if err := json.Unmarshal(r.ev.End, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range d.Graded {
		if _, ok := fields[name]; !ok {
			t.Errorf("graded field %s is not in the state", name)
		}
	}
}

// The data tell the numbers and what was done, and what was told once is not changed by what is done later.
func TestData(t *testing.T) {
	g := open(nil)
	want := []map[string]any{{"target": 24.0, "numbers": []any{"3", "3", "8", "8"}, "history": []any{}}}
	seen := []map[string]any{reset(t, g, "3,3,8,8").Data}
	var history []any
	for _, tt := range []struct {
		call, line string
		numbers    []any
	}{
		{"2 0 div", "8 div 3 = 8/3", []any{"3", "8", "8/3"}},
		{"7 0 div", "", []any{"3", "8", "8/3"}},
		{"restart", "restart", []any{"3", "3", "8", "8"}},
		{"restart", "restart", []any{"3", "3", "8", "8"}},
		{"0 2 sub", "3 sub 8 = -5", []any{"3", "8", "-5"}},
	} {
		if tt.line != "" {
			history = append(slices.Clone(history), tt.line)
		}
		want = append(want, map[string]any{"target": 24.0, "numbers": tt.numbers, "history": history})
		seen = append(seen, do(t, g, call(tt.call)).Observation.Data)
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A setup moves the start, and the turns begin anew. Worked example 1, with its illegal order.
func TestSetup(t *testing.T) {
	setup := envharness.Setup{Actions: calls("1 2 mul")}
	block := blockOp("mul", "no mul")
	h, err := envharness.New(World(nil), setup, block)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range 2 {
		o, err := h.Reset(ctx, envharness.ResetOptions{Task: "3,3,7,7"})
		if err != nil || o.Text != "target=24, numbers=[3, 7, 21]" {
			t.Fatalf("%q, %v", o.Text, err)
		}
		tr, err := h.Step(ctx, call("0 1 mul"))
		if err != nil || tr.Observation.Text != "[blocked] no mul\n\ntarget=24, numbers=[3, 7, 21]" || tr.Error.Class != envharness.ClassPermission {
			t.Errorf("%+v, %v", tr, err)
		}
		ev, err := h.Evidence(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []envharness.LogKind
		for _, e := range ev.Log {
			kinds = append(kinds, e.Kind)
		}
		if !slices.Equal(kinds, []envharness.LogKind{"reset", "replay", "rewind"}) || !strings.HasSuffix(string(ev.Start), `"turn":0}`) {
			t.Errorf("log %v, start %s: the blocked call must not reach the base", kinds, ev.Start)
		}
		if _, err := h.Step(ctx, call("2 0 add")); err != nil { // 24 among two numbers
			t.Fatal(err)
		}
		if _, err := h.Step(ctx, call("stop")); err != nil {
			t.Fatal(err)
		}
		if v, err := h.Verdict(ctx); err != nil || v.Status != envharness.Fail || v.Reason != "2 numbers are left" {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if _, err := envharness.New(World(nil), block, setup); !errors.Is(err, envharness.ErrOrder) {
		t.Errorf("setup outside block: %v, want ErrOrder", err)
	}
	for _, tt := range []struct {
		name   string
		calls  []string
		reason string
	}{
		{"wins", []string{"0 1 mul", "0 2 mul", "0 1 mul", "stop"}, "weakness 2: the episode would start ended"},
		{"unknown tool", []string{"look"}, "weakness 3: accepted silently by the reference"},
		{"bad position", []string{"0 1 add", "3 0 add"}, "refused"},
		{"too long", slices.Repeat([]string{"restart"}, MaxTurns), "ends the episode"},
	} {
		h, err := envharness.New(World(nil), envharness.Setup{Actions: calls(tt.calls...)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Reset(ctx, envharness.ResetOptions{Task: "1,2,3,4"}); !errors.Is(err, envharness.ErrStart) {
			t.Errorf("%s: %v, want ErrStart (%s)", tt.name, err, tt.reason)
		}
	}
}

// blockOp refuses combines with one operation.
func blockOp(op, reason string) envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: "block_op", Axis: envharness.AxisAction},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
				var args struct {
					Op string `json:"op"`
				}
				if a.Name == combineTool && json.Unmarshal(a.Args, &args) == nil && args.Op == op {
					return envharness.BlockAction(reason), nil
				}
				return envharness.PassAction(), nil
			}}, nil
		})
}

// The splits have the sizes that the specification counts, share no task, hold solvable hands alone, and keep their order.
func TestSplits(t *testing.T) {
	want := map[string]int{"train": 436, "validation": 66, "test": 64, "ood": 796}
	seen := map[string]string{}
	for _, split := range splits {
		g := open(&Options{LooseStop: split == "test"})
		tasks, err := g.Tasks(ctx, split)
		if err != nil {
			t.Fatal(err)
		}
		if len(tasks) != want[split] {
			t.Errorf("%s has %d tasks, want %d", split, len(tasks), want[split])
		}
		again, err := New(nil).Tasks(ctx, split)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tasks, again); d != "" {
			t.Errorf("%s differs from call to call:\n%s", split, d)
		}
		last := hand{}
		for _, task := range tasks {
			if other, ok := seen[task.ID]; ok {
				t.Errorf("%s is in %s and %s", task.ID, other, split)
			}
			seen[task.ID] = split
			h, err := deal(task.ID)
			if err != nil || task.Split != split || task.Seed != nil {
				t.Errorf("%+v: %v", task, err)
			}
			if outside := slices.ContainsFunc(h.v[:], func(v rational) bool { return v.num > familiar }); outside != (split == "ood") {
				t.Errorf("%s is in %s", task.ID, split)
			}
			if !slices.IsSortedFunc([]hand{last, h}, compare) || last == h {
				t.Errorf("%s comes after %s", task.ID, last.taskID())
			}
			last = h
		}
	}
	if seen[defaultTask] != "train" {
		t.Errorf("the default task is in %q: it must not give away a task to be tested on", seen[defaultTask])
	}
}

func compare(a, b hand) int {
	return slices.CompareFunc(a.v[:], b.v[:], func(x, y rational) int { return int(x.num - y.num) })
}

func TestTaskIDs(t *testing.T) {
	n := 0
	for h := range allHands {
		if got, err := deal(h.taskID()); err != nil || got != h {
			t.Errorf("%s: %v, %v", h.taskID(), got, err)
		}
		n++
	}
	if n != 1820 {
		t.Errorf("%d hands, want 1,820: 16 over 4", n)
	}
	for id, reason := range map[string]string{
		"3,8,3,8":                    "one id a hand: ascending",
		"0,1,2,3":                    "from 1",
		"1,2,3,14":                   "to 13",
		"1,2,3":                      "four numbers",
		"1,2,3,4,5":                  "four numbers",
		"1,2,3,":                     "a number is missing",
		"01,2,3,4":                   "no leading zero",
		"+1,2,3,4":                   "no sign",
		"1, 2,3,4":                   "no space",
		"1,2,3,4\n":                  "nothing after it",
		"1,2,3,٤":                    "ASCII digits",
		"1,2,3,99999999999999999999": "no overflow",
		strings.Repeat("1,", 1<<20):  "long",
	} {
		_, err := deal(id)
		if !errors.Is(err, envharness.ErrNoTask) {
			t.Errorf("%.40q: %v, want ErrNoTask (%s)", id, err, reason)
		} else if len(err.Error()) > 400 {
			t.Errorf("%.40q: the message has %d bytes", id, len(err.Error()))
		}
	}
}

// An id is accepted exactly if it is one of the 1,820, which a slow parser knows by listing them.
func FuzzTaskID(f *testing.F) {
	known := map[string]hand{}
	for h := range allHands {
		known[h.taskID()] = h
	}
	for _, id := range []string{"3,3,8,8", "13,13,13,13", "1,1,1,1", "1,2,3,14", "4,3,2,1", "1,,2,3", " 1,2,3,4", "1,2,3,4,", "\xff,1,2,3"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		want, ok := known[id]
		got, err := deal(id)
		if (err == nil) != ok || got != want {
			t.Errorf("%q: %v, %v, want %v, %v", id, got, err, want, ok)
		}
	})
}

// Any name and any bytes as arguments: a refusal changes nothing but the turn, and what is carried out is on offer.
func FuzzStep(f *testing.F) {
	for _, a := range calls("0 1 add", "3 0 div", "restart", "stop", `combine {"i":0}`, "stop null") {
		f.Add(a.Name, []byte(a.Args))
	}
	f.Add("combine", []byte(`{"i":0,"i":1,"j":0,"op":"sub"}`))
	f.Add("\xff", []byte("\xff"))
	f.Fuzz(func(t *testing.T, name string, args []byte) {
		play := func() *episode {
			h, err := deal("3,3,8,8")
			if err != nil {
				t.Fatal(err)
			}
			e := &episode{start: h, numbers: h}
			e.Step(call("0 1 sub")) // a zero to divide by
			return e
		}
		e := play()
		before := string(e.AppendState(nil))
		if r := e.Step(envharness.Action{Name: name, Args: args}); r.Refusal != nil {
			if before != string(e.AppendState(nil)) || r.Ended || r.Reward != 0 {
				t.Fatal("a refusal changed the state")
			}
			return
		}
		for _, a := range play().Actions() {
			trial := play()
			if trial.Step(a).Refusal == nil && string(trial.AppendState(nil)) == string(e.AppendState(nil)) {
				return
			}
		}
		t.Fatalf("%q %q is carried out but not on offer", name, args)
	})
}

// Random play of any calls keeps the rules: flags, turns, observation, state, offers, verdict and reward agree.
func TestRandomPlay(t *testing.T) {
	hands := slices.Collect(allHands)
	turns := 0
	rapid.Check(t, func(rt *rapid.T) {
		h := rapid.SampledFrom(hands).Draw(rt, "hand")
		loose := rapid.Bool().Draw(rt, "loose")
		r := record(t, &Options{LooseStop: loose}, h.taskID())
		for turn := 1; ; turn++ {
			turns++
			obs, err := r.g.Observe(ctx)
			if err != nil {
				rt.Fatal(err)
			}
			a := rapid.SampledFrom(obs.Actions).Draw(rt, "offered")
			wild := rapid.IntRange(0, 3).Draw(rt, "wild") == 0
			if wild {
				a = call(strconv.Itoa(rapid.IntRange(-1, 4).Draw(rt, "i")) + " " + strconv.Itoa(rapid.IntRange(-1, 4).Draw(rt, "j")) + " " +
					rapid.SampledFrom(operatorNames[:]).Draw(rt, "op"))
			}
			offered := slices.ContainsFunc(obs.Actions, func(o envharness.Action) bool {
				return o.Name == a.Name && string(o.Args) == string(a.Args)
			})
			tr := r.play(t, a)
			if (tr.Error == nil) != offered {
				rt.Fatalf("%s %s: refusal %+v, offered %v", a.Name, a.Args, tr.Error, offered)
			}
			stopped := a.Name == stopTool
			if tr.Terminated != stopped || tr.Truncated != (!stopped && turn == MaxTurns) {
				rt.Fatalf("turn %d: %+v", turn, tr)
			}
			again, err := r.g.Observe(ctx)
			if err != nil || !cmp.Equal(tr.Observation, again) {
				rt.Fatalf("observe: %v\n%s", err, cmp.Diff(tr.Observation, again))
			}
			s := state(t, r.g)
			if c, err := envharness.CanonicalJSON(json.RawMessage(s)); err != nil || string(c) != s {
				rt.Fatalf("%s is not canonical: %v", s, err)
			}
			for _, v := range r.g.episode.numbers.v[:r.g.episode.numbers.n] {
				if v.den < 1 || max(v.num, -v.num, v.den) > 8*13*13*13*13 || reduced(v.num, v.den) != v {
					rt.Fatalf("%v is out of bounds or not in lowest terms", v)
				}
			}
			v := r.verdict(t)
			if (v.Status == envharness.Pass) != (tr.Reward == 1) || v.Status == envharness.Invalid {
				rt.Fatalf("verdict %+v, reward %v", v, tr.Reward)
			}
			if tr.Ended() {
				return
			}
		}
	})
	if turns < 500 && !testing.Short() { // few draws make few turns
		t.Errorf("only %d turns", turns)
	}
}

// Null policies fail on every listed task, and random calls seldom pass.
func TestNullPolicies(t *testing.T) {
	r := envharness.RandStream(1, "policy/0", 0)
	passed, played := 0, 0
	for _, split := range []string{"validation", "test"} {
		tasks, err := taskLists()(split)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			g := open(nil)
			for range 5 {
				for o := reset(t, g, task.ID); ; {
					tr := do(t, g, o.Actions[r.IntN(len(o.Actions))])
					if o = tr.Observation; tr.Ended() {
						passed += int(tr.Reward)
						played++
						break
					}
				}
			}
			for _, name := range []string{"stop", "nosuch", "0 1 add", "restart"} {
				reset(t, g, task.ID)
				for {
					tr := do(t, g, call(name))
					if tr.Reward != 0 {
						t.Errorf("%s: %s again and again passes", task.ID, name)
					}
					if tr.Ended() {
						break
					}
				}
			}
		}
	}
	t.Logf("random calls pass %d of %d episodes", passed, played)
	if passed*50 > played {
		t.Errorf("random calls pass %d of %d episodes", passed, played)
	}
}

func BenchmarkReset(b *testing.B) {
	b.ReportAllocs()
	g := open(nil)
	for b.Loop() {
		reset(b, g, "3,3,8,8")
	}
}

func BenchmarkStep(b *testing.B) {
	for _, bm := range []struct{ name, call string }{{"restart", "restart"}, {"refused", "7 0 div"}, {"combine", "2 0 div"}} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			g := New(nil)
			a := call(bm.call)
			for b.Loop() {
				if _, err := g.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8"}); err != nil {
					b.Fatal(err)
				}
				for range 2 { // the second combine of the same positions too
					if _, err := g.Step(ctx, a); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// An episode of four turns and its verdict inside a harness.
func BenchmarkHarness(b *testing.B) {
	b.ReportAllocs()
	h, err := envharness.New(World(nil))
	if err != nil {
		b.Fatal(err)
	}
	plan := calls("2 0 div", "0 2 sub", "0 1 div", "stop")
	for b.Loop() {
		if _, err := h.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8"}); err != nil {
			b.Fatal(err)
		}
		for _, a := range plan {
			if _, err := h.Step(ctx, a); err != nil {
				b.Fatal(err)
			}
		}
		if v, err := h.Verdict(ctx); err != nil || v.Status != envharness.Pass {
			b.Fatal(v, err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	b.ReportAllocs()
	r := record(b, nil, "3,3,8,8")
	r.play(b, calls("2 0 div", "0 2 sub", "0 1 div", "stop")...)
	for b.Loop() {
		r.verdict(b)
	}
}

func BenchmarkTasks(b *testing.B) {
	for _, bm := range []struct {
		name string
		list func(split string) ([]envharness.Task, error)
	}{
		{"first call", func(split string) ([]envharness.Task, error) { return taskLists()(split) }},
		{"later call", taskLists()},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bm.list("train"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The lists are made once for all environments of a world; what a caller does with one is not seen by the next.
func TestTasksAreTheCallers(t *testing.T) {
	lists := taskLists()
	list := func(split string) []envharness.Task {
		tasks, err := lists(split)
		if err != nil {
			t.Fatal(err)
		}
		return tasks
	}
	first := list("validation")
	want := slices.Clone(first)
	first[0].ID = "changed"
	_ = append(first[:1], first[2:]...)
	if d := cmp.Diff(want, list("validation")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if n := testing.AllocsPerRun(10, func() { list("validation") }); n > 2 {
		t.Errorf("%v allocations in a later call", n)
	}
}

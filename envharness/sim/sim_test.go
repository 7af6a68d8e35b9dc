package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envtest"
)

var ctx = context.Background()

func open(t testing.TB, s *Simulation, task string) *Env {
	t.Helper()
	e := s.New()
	if _, err := e.Reset(ctx, envharness.ResetOptions{Task: task}); err != nil {
		t.Fatal(err)
	}
	return e
}

func step(t testing.TB, e *Env, a envharness.Action) envharness.Transition {
	t.Helper()
	tr, err := e.Step(ctx, a)
	if err != nil {
		t.Fatalf("%v: %v", a, err)
	}
	return tr
}

// must is for calls that cannot fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// everything is all that an environment shows.
func everything(e *Env) string {
	o := must(json.Marshal(must(e.Observe(ctx))))
	return fmt.Sprintf("%s\n%s\n%s", o, must(e.State(ctx)), must(e.Snapshot(ctx)))
}

// The environments keep all rules of the kit, whatever their episodes can do.
func TestConformance(t *testing.T) {
	for _, tt := range []struct {
		name   string
		s      *Simulation
		reason string
	}{
		{"bare", walks(bare), "no ability"},
		{"plans", walks(plans), "a planner"},
		{"tells", tellingWalks(), "a narrator with settings and limits of 5+3, 3+3 and 12"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			envtest.Environment{New: tt.s.World().New, SeedBlind: true, Tasks: must(tt.s.Tasks("train"))}.Run(t)
		})
		if tt.name != "bare" {
			t.Run(tt.name+" verifier", func(t *testing.T) {
				envtest.Verifier{World: tt.s.World(), Tasks: must(tt.s.Tasks("train")), Chance: 0.5}.Run(t)
			})
		}
	}
}

// someAction draws an action: an admissible one, nearly one, or anything.
func someAction(rt *rapid.T, offered []envharness.Action) envharness.Action {
	a := rapid.SampledFrom(offered).Draw(rt, "offered")
	a.Args = slices.Clone(a.Args)
	switch rapid.IntRange(0, 9).Draw(rt, "kind") {
	case 0:
		name := string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(rt, "name"))
		return envharness.Action{Name: name, Args: rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(rt, "args")}
	case 1:
		a.Args = rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(rt, "args")
	case 2:
		if len(a.Args) > 0 {
			a.Args[rapid.IntRange(0, len(a.Args)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		}
	case 3:
		a.Args = json.RawMessage{}
	}
	return a
}

// A log is the evidence of an episode, as a harness keeps it, with the verdict of the episode that was played.
type played struct {
	env *Env
	ev  envharness.Evidence
}

func play(t testing.TB, s *Simulation, task string) *played {
	p := &played{env: open(t, s, task)}
	p.ev = envharness.Evidence{Task: task, Log: []envharness.LogEntry{
		{Kind: envharness.LogReset, Transition: envharness.Transition{Observation: must(p.env.Observe(ctx))}},
	}}
	return p
}

// move makes a drawn move and reports whether the episode goes on.
func (p *played) move(rt *rapid.T) bool {
	if rapid.IntRange(0, 11).Draw(rt, "rewind") == 0 {
		if err := p.env.RewindCounters(ctx); err != nil {
			rt.Fatal(err)
		}
		p.ev.Log = append(p.ev.Log, envharness.LogEntry{Kind: envharness.LogRewind})
		return true
	}
	a := someAction(rt, must(p.env.Observe(ctx)).Actions)
	tr, err := p.env.Step(ctx, a)
	if err != nil {
		rt.Fatal(err)
	}
	p.ev.Log = append(p.ev.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: a, Transition: tr})
	return !tr.Ended()
}

// From a snapshot at any point an episode goes on as it would have without it: in another environment, and in the same one after it has
// gone elsewhere. What is restored has that very snapshot.
func TestRestoresTheFuture(t *testing.T) {
	for name, s := range map[string]*Simulation{"bare": walks(bare), "tells": tellingWalks()} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				task := rapid.SampledFrom([]string{"3", "5", "9"}).Draw(rt, "task")
				p := play(t, s, task)
				goes := true
				for n := rapid.IntRange(0, 9).Draw(rt, "before"); n > 0 && goes; n-- {
					goes = p.move(rt)
				}
				snap, there := must(p.env.Snapshot(ctx)), everything(p.env)
				from := len(p.ev.Log)
				for goes && len(p.ev.Log) < 40 {
					goes = p.move(rt)
				}
				end := everything(p.env)
				other := open(t, s, task)
				step(t, other, goTo("right"))
				for _, e := range []*Env{p.env, other} {
					if err := e.Restore(ctx, snap); err != nil {
						rt.Fatalf("%v\n%s", err, snap)
					}
					if got := everything(e); got != there {
						rt.Fatalf("restored (-want +got):\n%s", cmp.Diff(there, got))
					}
					for i, l := range p.ev.Log[from:] {
						if l.Kind == envharness.LogRewind {
							if err := e.RewindCounters(ctx); err != nil {
								rt.Fatal(err)
							}
						} else if d := cmp.Diff(l.Transition, must(e.Step(ctx, l.Action))); d != "" {
							rt.Fatalf("step %d after it (-want +got):\n%s", i, d)
						}
					}
					if got := everything(e); got != end {
						rt.Fatalf("the end (-want +got):\n%s", cmp.Diff(end, got))
					}
				}
			})
		})
	}
}

// The verdict of the replay is the one of the episode that was played, in the middle of it and at the end.
func TestVerifyReplays(t *testing.T) {
	s := tellingWalks()
	rapid.Check(t, func(rt *rapid.T) {
		p := play(t, s, rapid.SampledFrom([]string{"", "3", "9"}).Draw(rt, "task"))
		for goes := true; goes && len(p.ev.Log) < 40; {
			goes = p.move(rt)
			ev := p.ev
			ev.End = must(p.env.State(ctx))
			ev.Log = slices.Clone(ev.Log) // what comes before a rewind is part of a start
			for i := range ev.Log {
				if ev.Log[i].Kind == envharness.LogRewind {
					for k := range ev.Log[:i] {
						if ev.Log[k].Kind == envharness.LogStep {
							ev.Log[k].Kind = envharness.LogReplay
						}
					}
				}
			}
			got, err := s.Verify(ctx, ev)
			if d := cmp.Diff(p.env.now.episode.Verdict(), got); err != nil || d != "" {
				rt.Fatalf("%v (-want +got):\n%s", err, d)
			}
		}
	})
}

// Turns count what was refused too, a rewind begins them anew, and the limit is the lower one.
func TestTurns(t *testing.T) {
	for _, tt := range []struct {
		name   string
		s      *Simulation
		task   string
		want   int
		reason string
	}{
		{"description", walks(bare), "9", 12, "MaxTurns"},
		{"episode", walks(tells), "5", 8, "width 5 and 3"},
		{"the lower one", walks(tells), "9", 12, "width 9 would be 12 too"},
		{"not above", func() *Simulation { s := walks(tells); s.Description.MaxTurns = 7; return s }(), "9", 7, "12 is more than MaxTurns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			e := open(t, tt.s, tt.task)
			for i, a := range []envharness.Action{goTo("left"), goTo("right"), {Name: "nosuch"}} {
				if tr := step(t, e, a); tr.Ended() || (tr.Error == nil) != (i == 1) {
					t.Fatalf("turn %d: %+v", i+1, tr)
				}
			}
			if err := e.RewindCounters(ctx); err != nil {
				t.Fatal(err)
			}
			for n := 1; ; n++ {
				tr := step(t, e, envharness.Action{Name: "nosuch"})
				if tr.Truncated != (n == tt.want) || tr.Terminated || tr.Truncated != (tr.Reason == "max_turns") {
					t.Fatalf("turn %d: %+v, want the end on turn %d (%s)", n, tr, tt.want, tt.reason)
				}
				if tr.Truncated {
					if tr.Observation.Actions == nil || len(tr.Observation.Actions) > 0 {
						t.Errorf("%v are admissible after the end, want the empty list", tr.Observation.Actions)
					}
					break
				}
			}
			if err := e.RewindCounters(ctx); !errors.Is(err, envharness.ErrEpisodeOver) {
				t.Errorf("rewind after the end: %v", err)
			}
			if _, err := e.Step(ctx, goTo("right")); !errors.Is(err, envharness.ErrEpisodeOver) {
				t.Errorf("step after the end: %v", err)
			}
			if _, err := e.Plan(ctx); !errors.Is(err, envharness.ErrEpisodeOver) {
				t.Errorf("plan after the end: %v", err)
			}
		})
	}
	e := open(t, walks(bare), "5") // terminated on the last turn is not truncated
	for range 11 {
		step(t, e, envharness.Action{Name: "nosuch"})
	}
	if tr := step(t, e, envharness.Action{Name: "stop"}); !tr.Terminated || tr.Truncated || tr.Reason != "" {
		t.Errorf("%+v", tr)
	}
}

// After a rewind a narrator's episode is told from its opening, until the next step; any other shows its text.
func TestRewindTells(t *testing.T) {
	e := open(t, tellingWalks(), "5")
	opening := must(e.Observe(ctx)).Text
	if err := e.RewindCounters(ctx); err != nil {
		t.Fatal(err)
	}
	if got := must(e.Observe(ctx)).Text; got != opening {
		t.Errorf("%q, want %q: nothing was done", got, opening)
	}
	step(t, e, goTo("right"))
	step(t, e, envharness.Action{Name: "go", Args: json.RawMessage(`{"to":1}`)})
	want := opening + "\nDone so far:\ngo right -> you go right" // and what was refused is not
	for range 2 {                                                // again it is the same
		if err := e.RewindCounters(ctx); err != nil {
			t.Fatal(err)
		}
		o := must(e.Observe(ctx))
		if o.Text != want || o.Data["at"] != 1.0 || len(o.Actions) != 3 {
			t.Errorf("%+v, want the text %q", o, want)
		}
	}
	if got := string(must(e.State(ctx))); !strings.HasSuffix(got, `"turn":0}`) {
		t.Error(got)
	}
	if tr := step(t, e, goTo("left")); tr.Observation.Text != "you go left" {
		t.Errorf("after it %q", tr.Observation.Text)
	}
	e = open(t, walks(bare), "5")
	step(t, e, goTo("right"))
	if err := e.RewindCounters(ctx); err != nil {
		t.Fatal(err)
	}
	if got := must(e.Observe(ctx)).Text; got != "you are at 1, the goal is 2 of 5" {
		t.Error(got)
	}
}

// What is set through a harness is where the episode starts, for the verifier too.
func TestStartPatch(t *testing.T) {
	for _, tt := range []struct {
		name   string
		goal   string
		setup  []envharness.Action
		moves  []string
		want   envharness.Status
		says   string
		reason string
	}{
		{"new goal", "1", nil, []string{"right"}, envharness.Pass, "", "it is 1 now"},
		{"old goal", "1", nil, []string{"right", "right"}, envharness.Fail, "", "it was 2"},
		{"after a setup", "1", []envharness.Action{goTo("right"), goTo("right")}, []string{"left"}, envharness.Pass, "",
			"the actions are carried out again with the new goal"},
		{"outside", "5", nil, nil, envharness.Invalid, "a goal must be in the corridor", "Set refuses"},
		{"no number", `"x"`, nil, nil, envharness.Invalid, "cannot unmarshal", "Set refuses"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			var stack []envharness.Component
			if tt.setup != nil {
				stack = append(stack, envharness.Setup{Actions: tt.setup})
			}
			stack = append(stack, components.StartPatch{Set: map[string]json.RawMessage{"/start/goal": json.RawMessage(tt.goal)}})
			h, err := envharness.New(tellingWalks().World(), stack...)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			_, err = h.Reset(ctx, envharness.ResetOptions{Task: "5"})
			if tt.says != "" {
				if !errors.Is(err, envharness.ErrStart) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%v, want it to say %q (%s)", err, tt.says, tt.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range tt.moves {
				must(h.Step(ctx, goTo(to)))
			}
			must(h.Step(ctx, envharness.Action{Name: "stop"}))
			if v, err := h.Verdict(ctx); err != nil || v.Status != tt.want || v.Unreplayed {
				t.Errorf("%+v, %v, want %v (%s)", v, err, tt.want, tt.reason)
			}
		})
	}
}

// Before a reset, after Close and with a context that has ended nothing is done.
func TestLifeCycle(t *testing.T) {
	s := tellingWalks()
	e := s.New()
	calls := map[string]func(ctx context.Context) error{
		"step":     func(ctx context.Context) error { _, err := e.Step(ctx, goTo("right")); return err },
		"observe":  func(ctx context.Context) error { _, err := e.Observe(ctx); return err },
		"state":    func(ctx context.Context) error { _, err := e.State(ctx); return err },
		"snapshot": func(ctx context.Context) error { _, err := e.Snapshot(ctx); return err },
		"restore":  func(ctx context.Context) error { return e.Restore(ctx, envharness.State("{}")) },
		"rewind":   func(ctx context.Context) error { return e.RewindCounters(ctx) },
		"plan":     func(ctx context.Context) error { _, err := e.Plan(ctx); return err },
	}
	for name, call := range calls {
		if err := call(ctx); !errors.Is(err, envharness.ErrNeedReset) {
			t.Errorf("%s before a reset: %v", name, err)
		}
	}
	first := must(e.Reset(ctx, envharness.ResetOptions{}))
	for _, o := range []envharness.ResetOptions{
		{Task: "5"}, {Seed: new(uint64(7))}, {Options: json.RawMessage("{}")}, {Options: json.RawMessage("null")},
	} {
		if got, err := e.Reset(ctx, o); err != nil || !cmp.Equal(got, first) {
			t.Errorf("reset %+v: %+v, %v", o, got, err)
		}
	}
	step(t, e, goTo("right"))
	before := everything(e)
	for _, tt := range []struct {
		o      envharness.ResetOptions
		want   string
		reason string
	}{
		{envharness.ResetOptions{Task: "10"}, `walks: envharness: no such task: "10", want 3 to 9`, "named"},
		{envharness.ResetOptions{Options: json.RawMessage(`{"a":1}`)}, `walks: options: want none, got {"a":1}`, "nobody would read them"},
		{envharness.ResetOptions{Options: json.RawMessage(`[`)}, "walks: options: unexpected end of JSON input", "no object"},
	} {
		if _, err := e.Reset(ctx, tt.o); err == nil || err.Error() != tt.want || everything(e) != before {
			t.Errorf("%v, want %q and the episode as it was (%s)", err, tt.want, tt.reason)
		}
	}
	calls["reset"] = func(ctx context.Context) error { _, err := e.Reset(ctx, envharness.ResetOptions{}); return err }
	calls["tasks"] = func(ctx context.Context) error { _, err := e.Tasks(ctx, "train"); return err }
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for name, call := range calls {
		if err := call(canceled); !errors.Is(err, context.Canceled) || everything(e) != before {
			t.Errorf("%s, canceled: %v", name, err)
		}
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, call := range calls {
		if err := call(ctx); !errors.Is(err, envharness.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if d := e.Describe(); d.Name != "walks" || !d.Deterministic || s.Description.Deterministic {
		t.Errorf("%+v: the description is that of the simulation, which is not changed", d)
	}
}

// Close may come while a Step runs.
func TestCloseDuringStep(t *testing.T) {
	e := open(t, walks(bare), "")
	var closing sync.WaitGroup
	for n := 0; ; n++ {
		if n == 3 {
			closing.Go(func() { e.Close() })
		}
		if _, err := e.Step(ctx, goTo("left")); errors.Is(err, envharness.ErrClosed) {
			break
		} else if errors.Is(err, envharness.ErrEpisodeOver) {
			e.Reset(ctx, envharness.ResetOptions{})
		} else if err != nil {
			t.Fatal(err)
		}
	}
	closing.Wait()
}

func TestTasksAndPlans(t *testing.T) {
	e := open(t, walks(plans), "9")
	if tasks, err := e.Tasks(ctx, "train"); err != nil || len(tasks) != 3 {
		t.Errorf("%v, %v", tasks, err)
	}
	if _, err := e.Tasks(ctx, "dev"); err == nil || err.Error() != `walks: unknown split "dev", want train` {
		t.Error(err)
	}
	s := walks(plans)
	s.Tasks = nil
	if _, err := s.New().Tasks(ctx, "train"); err == nil || !strings.Contains(err.Error(), `unknown split "train"`) {
		t.Error(err)
	}
	plan, err := e.Plan(ctx)
	if err != nil || len(plan) != 5 {
		t.Fatalf("%v, %v, want 4 moves and a stop", plan, err)
	}
	for range 7 {
		step(t, e, envharness.Action{Name: "nosuch"})
	}
	if plan, err := e.Plan(ctx); err != nil || len(plan) != 5 {
		t.Errorf("five turns are left: %v, %v", plan, err)
	}
	step(t, e, envharness.Action{Name: "nosuch"})
	if _, err := e.Plan(ctx); !errors.Is(err, envharness.ErrNoPlan) || !strings.Contains(err.Error(), "it takes 5 turns and 4 are left") {
		t.Errorf("four turns are left, and plans are the shortest: %v", err)
	}
	s.Shortest = false
	e = open(t, s, "9")
	for range 8 {
		step(t, e, envharness.Action{Name: "nosuch"})
	}
	if _, err := e.Plan(ctx); !errors.Is(err, envharness.ErrNotProven) {
		t.Errorf("a shorter one might fit: %v", err)
	}
	e = open(t, tellingWalks(), "5")
	for range 5 {
		step(t, e, envharness.Action{Name: "nosuch"})
	}
	if plan, err := e.Plan(ctx); err != nil || len(plan) != 3 {
		t.Errorf("three turns are left: %v, %v", plan, err)
	}
	step(t, e, envharness.Action{Name: "nosuch"})
	if _, err := e.Plan(ctx); !errors.Is(err, envharness.ErrNoPlan) {
		t.Errorf("two turns are left of the 8 of this task: %v", err)
	}
	if _, err := open(t, walks(bare), "9").Plan(ctx); !errors.Is(err, envharness.ErrNotProven) {
		t.Errorf("no planner: %v", err)
	}
}

// A simulation or an episode that is not as it should be is an error that says why, and none is taken for a refusal or a verdict.
func TestBrokenSimulations(t *testing.T) {
	for _, tt := range []struct {
		name   string
		edit   func(s *Simulation)
		want   string
		reason string
	}{
		{"no Start", func(s *Simulation) { s.Start = nil }, "walks: a simulation needs Start", "no episodes"},
		{"no name", func(s *Simulation) { s.Description.Name = "" }, "sim: a simulation needs Start, Description.Name", "snapshots name it"},
		{"no limit", func(s *Simulation) { s.Description.MaxTurns = 0 }, "Description.MaxTurns", "no end"},
		{"no episode", func(s *Simulation) { s.Start = func(string) (Episode, error) { return nil, nil } }, "no episode", "nil"},
		{"limit 0", func(s *Simulation) {
			s.Start = func(string) (Episode, error) { return told{planned{&walk{Width: -3}}}, nil }
		}, `task "5": a limit of 0 turns`, "no turn"},
	} {
		s := walks(bare)
		tt.edit(s)
		if _, err := s.New().Reset(ctx, envharness.ResetOptions{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want it to say %q (%s)", tt.name, err, tt.want, tt.reason)
		}
		if v, err := s.Verify(ctx, envharness.Evidence{}); err == nil || v.Status != envharness.Invalid {
			t.Errorf("%s: verdict %+v, %v", tt.name, v, err)
		}
	}
	breaks := envharness.Action{Name: "break"}
	for _, tt := range []struct {
		name   string
		fault  *Result
		want   string
		reason string
	}{
		{"NaN", &Result{Reward: math.NaN()}, `task "5", turn 2, "break": the reward is NaN`, "no training signal"},
		{"infinite", &Result{Reward: math.Inf(-1)}, "the reward is -Inf", "no training signal"},
		{"refused and rewarded", &Result{Reward: 1, Refusal: Refuse("other", "no")}, "the reward is 1", "nothing happened"},
		{"refused and ended", &Result{Ended: true, Refusal: Refuse("other", "no")}, "Ended is true", "nothing happened"},
		{"panic", nil, "panicked", "nobody knows what happened"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			s := walks(func(w *walk) Episode { w.fault = tt.fault; return w })
			e := open(t, s, "")
			step(t, e, goTo("right"))
			snap := must(e.Snapshot(ctx))
			bad := func() (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("it panicked: %v", p)
					}
				}()
				_, err = e.Step(ctx, breaks)
				return err
			}
			if err := bad(); err == nil || !strings.Contains(err.Error(), tt.want) || tt.fault != nil && !strings.HasPrefix(err.Error(), "walks: task ") {
				t.Errorf("%v, want it to say %q (%s)", err, tt.want, tt.reason)
			}
			for name, call := range map[string]func() error{
				"step":    func() error { _, err := e.Step(ctx, goTo("right")); return err },
				"observe": func() error { _, err := e.Observe(ctx); return err },
				"state":   func() error { _, err := e.State(ctx); return err },
				"restore": func() error { return e.Restore(ctx, snap) },
			} {
				if err := call(); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s of an episode that failed: %v", name, err)
				}
			}
			if _, err := e.Reset(ctx, envharness.ResetOptions{}); err != nil {
				t.Fatal(err)
			}
			if step(t, e, goTo("right")); everything(e) != everything(func() *Env { o := open(t, s, ""); step(t, o, goTo("right")); return o }()) {
				t.Error("the next episode is not like a first one")
			}
			if tt.fault == nil {
				return
			}
			ev := envharness.Evidence{Log: []envharness.LogEntry{
				{Kind: envharness.LogReset}, {Kind: envharness.LogStep, Action: goTo("right")}, {Kind: envharness.LogStep, Action: breaks},
			}}
			if v, err := s.Verify(ctx, ev); err == nil || !strings.HasPrefix(err.Error(), `walks: log entry 2: task "5", turn 2`) || v.Status != envharness.Invalid {
				t.Errorf("verdict %+v, %v", v, err)
			}
			broken := strings.Replace(string(snap), `]]`, `,{"name":"break","args":""}]]`, 1)
			if err := e.Restore(ctx, envharness.State(broken)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("restore: %v", err)
			}
		})
	}
	for _, state := range []string{"", "}", "[1]", "null", `{"a":1} `, "{"} {
		e := open(t, walks(func(w *walk) Episode { return stated{w, state} }), "")
		if s, err := e.State(ctx); err == nil || !strings.Contains(err.Error(), "no JSON object") {
			t.Errorf("state %q: %s, %v", state, s, err)
		}
	}
	if s, err := open(t, walks(func(w *walk) Episode { return stated{w, "{}"} }), "").State(ctx); err != nil || string(s) != `{"turn":0}` {
		t.Errorf("an empty state: %s, %v", s, err)
	}
}

// A stated walk has any state.
type stated struct {
	*walk
	state string
}

func (s stated) AppendState(b []byte) []byte { return append(b, s.state...) }

// A log that is not one of this world cannot be judged.
func TestVerifyRefuses(t *testing.T) {
	s := tellingWalks()
	evidence := func() envharness.Evidence {
		p := play(t, s, "5")
		for _, a := range []envharness.Action{goTo("right"), goTo("left"), goTo("right"), goTo("right"), {Name: "stop"}} {
			p.ev.Log = append(p.ev.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: a, Transition: step(t, p.env, a)})
		}
		p.ev.End = must(p.env.State(ctx))
		return p.ev
	}
	patch := func(set string) envharness.LogEntry {
		return envharness.LogEntry{Kind: envharness.LogPatch, Action: envharness.Action{Name: "patch", Args: json.RawMessage(set)}}
	}
	for _, tt := range []struct {
		name   string
		edit   func(ev *envharness.Evidence)
		want   string
		reason string
	}{
		{"task", func(ev *envharness.Evidence) { ev.Task = "x" }, "no such task", "no episode"},
		{"options", func(ev *envharness.Evidence) { ev.Options = json.RawMessage(`{"a":1}`) }, "options", "another episode"},
		{"no log", func(ev *envharness.Evidence) { ev.Log = nil }, "the log of 0 entries does not begin with a reset", "nothing happened"},
		{"no reset", func(ev *envharness.Evidence) { ev.Log = ev.Log[1:] }, "does not begin with a reset", "a start is missing"},
		{"two resets", func(ev *envharness.Evidence) { ev.Log[2].Kind = envharness.LogReset }, `log entry 2: kind "reset" after the first turn`, "one episode"},
		{"two resets at once", func(ev *envharness.Evidence) { ev.Log[1].Kind = envharness.LogReset }, `log entry 1: kind "reset" in mid-episode`,
			"one episode"},
		{"after the end", func(ev *envharness.Evidence) { ev.Log = append(ev.Log, ev.Log[1]) }, "log entry 6: the episode was over", "E09"},
		{"rewound after the end", func(ev *envharness.Evidence) {
			ev.Log = append(ev.Log, envharness.LogEntry{Kind: envharness.LogRewind})
		}, `log entry 6: kind "rewind" after the first turn`, "turns would not count"},
		{"rewound between", func(ev *envharness.Evidence) {
			ev.Log = slices.Insert(ev.Log, 3, envharness.LogEntry{Kind: envharness.LogRewind})
		}, `log entry 3: kind "rewind" after the first turn`, "turns would not count"},
		{"over before the first turn", func(ev *envharness.Evidence) {
			for i := range ev.Log[1:] {
				ev.Log[1+i].Kind = envharness.LogReplay
			}
		}, "log entry 5: an action before the first turn ends the episode", "nobody played"},
		{"unknown kind", func(ev *envharness.Evidence) { ev.Log[2].Kind = "undo" }, `kind "undo"`, "cannot be replayed"},
		{"left out", func(ev *envharness.Evidence) { ev.Log = slices.Delete(ev.Log, 1, 3) }, "recorded end state: it is not the one", "two turns less"},
		{"other end", func(ev *envharness.Evidence) {
			ev.End = bytes.Replace(ev.End, []byte(`"at":2`), []byte(`"at":3`), 1)
		}, "recorded end state: it is not the one", "the record was changed"},
		{"cut end", func(ev *envharness.Evidence) { ev.End = ev.End[:5] }, "recorded end state", "no JSON"},
		{"patch of what is done", func(ev *envharness.Evidence) { ev.Log[1] = patch(`{"/calls":[[]]}`) }, `log entry 1: "/calls" is not mutable`,
			"no harness sets it"},
		{"patch beside", func(ev *envharness.Evidence) { ev.Log[1] = patch(`{"/start/goals":1}`) }, "not mutable", "whole names"},
		{"patch below", func(ev *envharness.Evidence) { ev.Log[1] = patch(`{"/start/goal/x":1}`) }, "there is nothing below a value", "a number"},
		{"patch refused", func(ev *envharness.Evidence) { ev.Log[1] = patch(`{"/start/goal":7}`) }, "a goal must be in the corridor", "Set"},
		{"patch is no object", func(ev *envharness.Evidence) { ev.Log[1] = patch(`[]`) }, "log entry 1: json", "it names nothing"},
	} {
		ev := evidence()
		tt.edit(&ev)
		v, err := s.Verify(ctx, ev)
		if err == nil || !strings.Contains(err.Error(), tt.want) || v.Status != envharness.Invalid {
			t.Errorf("%s: %+v, %v, want an error with %q (%s)", tt.name, v, err, tt.want, tt.reason)
		}
	}
	ev := evidence()
	ev.End = must(envharness.CanonicalJSON(ev.End))
	for i := range ev.Log {
		ev.Log[i].Transition = envharness.Transition{Reward: -5}
	}
	if v, err := s.Verify(ctx, ev); err != nil || v.Status != envharness.Pass {
		t.Errorf("%+v, %v: what was shown and how the end is written have no say", v, err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Verify(canceled, ev); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Who replays has no use for what is shown, and it is not made: not at all by the verifier, and not for each call of a snapshot or each rewind,
// but for the replies that a narrator may have to tell again.
func TestReplaysMakeNoTexts(t *testing.T) {
	counts := new(shownCounts)
	s := tellingWalks()
	s.Start = func(string) (Episode, error) { return told{planned{&walk{Width: 9, Goal: 2, calls: counts}}}, nil }
	ev := envharness.Evidence{Log: []envharness.LogEntry{
		{Kind: envharness.LogReset},
		{Kind: envharness.LogReplay, Action: goTo("right")},
		{Kind: envharness.LogPatch, Action: envharness.Action{Name: "patch", Args: json.RawMessage(`{"/start/goal":3}`)}},
		{Kind: envharness.LogRewind},
	}}
	for range 11 {
		ev.Log = append(ev.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: goTo("right")})
	}
	if _, err := s.Verify(ctx, ev); err != nil || *counts != (shownCounts{}) {
		t.Errorf("%+v, %v", *counts, err)
	}
	s = walks(func(w *walk) Episode { w.calls = counts; return told{planned{w}} })
	e := open(t, s, "")
	snap := string(must(e.Snapshot(ctx)))
	const calls = 5000
	two := `[{"name":"go","args":"{\"to\":\"right\"}"}],[{"name":"go","args":"{\"to\":\"left\"}"}],`
	many := strings.Replace(snap, `[[]]`, "["+strings.Repeat(two, calls/2)+"[]]", 1)
	*counts = shownCounts{}
	if err := e.Restore(ctx, envharness.State(many)); err != nil {
		t.Fatal(err)
	}
	o := must(e.Observe(ctx))
	if n := strings.Count(o.Text, "\ngo right -> you go right\ngo left -> you go left"); n != calls/2 {
		t.Errorf("%d pairs of calls are told, want %d", n, calls/2)
	}
	if *counts != (shownCounts{text: calls, data: 1, actions: 1, opening: 1}) {
		t.Errorf("%+v, want one text a call, and the rest once", *counts)
	}
}

func TestRestoreRefuses(t *testing.T) {
	e := open(t, tellingWalks(), "5")
	for _, a := range []envharness.Action{goTo("right"), {Name: "\xff<", Args: []byte("\xfe")}} {
		step(t, e, a)
	}
	if err := e.RewindCounters(ctx); err != nil {
		t.Fatal(err)
	}
	step(t, e, envharness.Action{Name: "nosuch"})
	s := string(must(e.Snapshot(ctx)))
	want := `{"world":"walks","version":1,"task":"5","start":{"goal":2},"calls":[[{"name":"go","args":"{\"to\":\"right\"}"},` +
		`{"name":{"base64":"/zw="},"args":{"base64":"/g=="},"refused":true}],[{"name":"nosuch","args":"","refused":true}]]}`
	if s != want {
		t.Fatalf("got  %s\nwant %s", s, want)
	}
	plain := string(must(open(t, walks(bare), "5").Snapshot(ctx)))
	change := func(old, with string) string { return strings.Replace(s, old, with, 1) }
	for _, tt := range []struct{ name, snapshot, want, reason string }{
		{"other world", change("walks", "walk"), `version 1 of "walk", want version 1 of "walks"`, "its calls mean something else"},
		{"other task", change(`"task":"5"`, `"task":"7"`), `it is of task "7", and the environment was reset to "5"`, "another corridor"},
		{"default task", change(`"task":"5"`, `"task":""`), `it is of task ""`, "no snapshot writes it"},
		{"later version", change(`"version":1`, `"version":2`), "version 2 of", "E28"},
		{"no version", change(`"version":1,`, ""), "version 0 of", "E28"},
		{"fraction of a version", change(`"version":1`, `"version":1.5`), "version", "E28"},
		{"unknown field", change("{", `{"turn":0,`), "it holds what it should not", "nobody would restore it"},
		{"unknown field of a call", change(`{"name":"nosuch"`, `{"turn":1,"name":"nosuch"`), "it holds what it should not", "nobody would restore it"},
		{"unknown field of a setting", change(`"goal":2`, `"goal":2,"gold":1`), "it holds what it should not", "nobody would restore it"},
		{"field in other letters", change(`"task"`, `"TASK"`), "it holds what it should not", "encoding/json takes it"},
		{"a refused call that was not", change(`"args":"","refused":true`, `"args":""`), `"nosuch": refused is true, and was false`,
			"another start would undo what was done"},
		{"a call that was not refused", change(`"}"}`, `"}","refused":true}`), `"go": refused is false, and was true`, "as well"},
		{"a call without arguments", change(`,"args":""`, ""), "it holds what it should not", "a snapshot writes them"},
		{"arguments are no text", change(`"args":""`, `"args":[]`), "cannot unmarshal", "a snapshot writes a text"},
		{"base64 of what is UTF-8", change(`"args":""`, `"args":{"base64":""}`), "it holds what it should not", "one form for each"},
		{"no base64", change(`"/g=="`, `"%"`), "illegal base64", "no bytes"},
		{"setting refused", change(`"goal":2`, `"goal":0`), "a goal must be in the corridor", "Set"},
		{"setting missing", change(`"start":{"goal":2},`, ""), "lacks something", "a snapshot writes it"},
		{"setting null", change(`{"goal":2}`, "null"), "a goal must be in the corridor", "Set"},
		{"call after the end", change(`{"name":"nosuch"`, `{"name":"stop","args":""},{"name":"nosuch"`), "list 1, call 1: ", "it would be an error"},
		{"rewind after the end", change(`]]}`, `,{"name":"stop","args":""}],[]]}`), "rewind 2: ", "it would be an error"},
		{"no lists", s[:strings.Index(s, `"calls"`)] + `"calls":[{"name":"nosuch","args":""}]}`, "cannot unmarshal", "a list for each rewind"},
		{"calls missing", s[:strings.Index(s, `,"calls"`)] + "}", "lacks something", "a snapshot writes them"},
		{"calls null", s[:strings.Index(s, `"calls"`)] + `"calls":null}`, "lacks something", "a snapshot writes a list"},
		{"list null", change(`[{"name":"nosuch","args":"","refused":true}]`, "null"), "lacks something", "a snapshot writes a list"},
		{"cut short", s[:len(s)-1], "unexpected end", "no JSON"},
		{"two objects", s + s, "invalid character", "one JSON object"},
		{"deep", strings.Repeat(`{"start":`, 20000), "exceeded max depth", "bounded"},
		{"no object", "[]", "cannot unmarshal", "one JSON object"},
		{"nothing", "", "unexpected end", "one JSON object"},
		{"null", "null", `version 0 of ""`, "one JSON object"},
	} {
		if tt.reason == "" || tt.snapshot == s {
			t.Fatalf("%s: no reason, or not changed", tt.name)
		}
		before := everything(e)
		err := e.Restore(ctx, envharness.State(tt.snapshot))
		if err == nil || !strings.HasPrefix(err.Error(), "walks: restore: ") || strings.Count(err.Error(), "walks: ") > 1 || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want it to say %q (%s)", tt.name, err, tt.want, tt.reason)
		}
		if everything(e) != before {
			t.Errorf("%s: it changed the environment", tt.name)
		}
	}
	if err := open(t, walks(bare), "5").Restore(ctx, envharness.State(strings.Replace(plain, `"calls"`, `"start":{},"calls"`, 1))); err == nil ||
		!strings.Contains(err.Error(), "there are no settings") {
		t.Errorf("settings of an episode that has none: %v", err)
	}
	before := everything(e)
	reordered := string(must(envharness.CanonicalJSON(json.RawMessage(s))))
	if reordered == s {
		t.Fatal("the canonical form is no other")
	}
	for _, form := range []string{s, reordered, " " + strings.ReplaceAll(s, `,"`, `, "`), change("nosuch", `nosuc\u0068`)} {
		step(t, e, goTo("right"))
		if err := e.Restore(ctx, envharness.State(form)); err != nil || everything(e) != before {
			t.Errorf("%s: %v", form, err)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := tellingWalks().restore(canceled, "5", envharness.State(s), false); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What was handed in is not kept and what was handed out is not changed, when the log of one episode serves the next.
func TestLogMemory(t *testing.T) {
	e := open(t, tellingWalks(), "5")
	args := json.RawMessage(`{"to":"right"}`)
	step(t, e, envharness.Action{Name: "go", Args: args})
	clear(args)
	snap, there := must(e.Snapshot(ctx)), everything(e)
	must(e.Reset(ctx, envharness.ResetOptions{}))
	step(t, e, envharness.Action{Name: "xx", Args: []byte("0123456789abcdef")})
	if !bytes.Contains(snap, []byte(`\"right\"`)) {
		t.Errorf("%s", snap)
	}
	if err := e.Restore(ctx, snap); err != nil || everything(e) != there {
		t.Errorf("%v: %s", err, everything(e))
	}
	step(t, e, envharness.Action{Name: "go", Args: bytes.Repeat([]byte(" "), 2*keptArgs)})
	must(e.Reset(ctx, envharness.ResetOptions{}))
	if n := cap(e.now.log.args); n > keptArgs {
		t.Errorf("%d bytes are kept", n)
	}
}

// A heard walk keeps what it was given, which is against the rules, but tells what that was.
type heard struct {
	*walk
	given *[]envharness.Action
}

func (h heard) Step(a envharness.Action) Result {
	a.Args = slices.Clone(a.Args)
	*h.given = append(*h.given, a)
	return h.walk.Step(a)
}

// Whatever its bytes are, an action comes back from a snapshot, and with it the arguments, which are nil where there are none.
func TestActionsComeBack(t *testing.T) {
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	var given []envharness.Action
	s := walks(func(w *walk) Episode { given = nil; return heard{w, &given} })
	e := open(t, s, "")
	for _, name := range []string{"", `\`, `"`, `\"`, "\n", "\u2028", "<&>", "\x7f", "\xff", string(all[:128]), string(all[:])} {
		if err := e.RewindCounters(ctx); err != nil {
			t.Fatal(err)
		}
		step(t, e, envharness.Action{Name: name, Args: json.RawMessage(name)})
		step(t, e, envharness.Action{Name: name, Args: json.RawMessage{}})
	}
	want, snap := given, must(e.Snapshot(ctx))
	if !json.Valid(snap) {
		t.Fatalf("no JSON: %s", snap)
	}
	for _, form := range []envharness.State{snap, must(envharness.CanonicalJSON(snap))} {
		if err := e.Restore(ctx, form); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, given); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if want[0].Args != nil || want[1].Args != nil {
		t.Errorf("%#v, want no arguments", want[:2])
	}
}

// Any bytes are refused, with nothing changed, or are the snapshot of what they lead to.
func FuzzRestore(f *testing.F) {
	s := tellingWalks()
	e := open(f, s, "5")
	start := must(e.Snapshot(ctx))
	f.Add([]byte(start))
	for _, a := range []envharness.Action{goTo("right"), {Name: "\xff", Args: []byte("\xfe")}, goTo("up"), {Name: "stop"}} {
		step(f, e, a)
		f.Add([]byte(must(e.Snapshot(ctx))))
	}
	f.Add([]byte(`{"calls":[[{"args":"","name":"x"}],[],[]],"start":{"goal":3},"task":"5","version":1,"world":"walks"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := open(t, s, "5")
		before := everything(e)
		if err := e.Restore(ctx, b); err != nil {
			if everything(e) != before {
				t.Fatal("a refused snapshot changed the environment")
			}
			return
		}
		got, err := envharness.CanonicalJSON(json.RawMessage(b))
		if err != nil {
			t.Fatal(err)
		}
		if want := must(envharness.CanonicalJSON(must(e.Snapshot(ctx)))); !bytes.Equal(got, want) {
			t.Fatalf("restored %s, which has the snapshot %s", got, want)
		}
		if e.now.turn < 0 || e.now.turn > e.now.limit {
			t.Fatalf("turn %d of %d", e.now.turn, e.now.limit)
		}
	})
}

// A policy is shown the turns left of the limit that holds, and blocked turns are held to it, after a setup as well.
func TestTurnLimit(t *testing.T) {
	e := tellingWalks().New()
	if n := e.TurnLimit(); n != 0 {
		t.Errorf("a limit of %d turns before the first reset", n)
	}
	for _, tt := range []struct {
		task   string
		limit  int
		reason string
	}{{"5", 8, "5+3"}, {"3", 6, "3+3"}, {"9", 12, "MaxTurns is as high"}, {"", 8, "the default task"}} {
		must(e.Reset(ctx, envharness.ResetOptions{Task: tt.task}))
		step(t, e, goTo("right"))
		snap := must(e.Snapshot(ctx))
		if err := e.Restore(ctx, snap); err != nil {
			t.Fatal(err)
		}
		if err := e.RewindCounters(ctx); err != nil {
			t.Fatal(err)
		}
		if n := e.TurnLimit(); n != tt.limit {
			t.Errorf("%q: a limit of %d turns, want %d (%s)", tt.task, n, tt.limit, tt.reason)
		}
	}
	spec := envharness.ComponentSpec{Tag: "block", Axis: envharness.AxisAction}
	block := envharness.Rules(spec, func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
		return envharness.Hooks{Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
			if a.Name == "stop" {
				return envharness.BlockAction("not yet"), nil
			}
			return envharness.PassAction(), nil
		}}, nil
	})
	stack := []envharness.Component{envharness.Setup{Actions: []envharness.Action{goTo("right"), goTo("left")}}, block}
	for _, name := range []string{"stop", "fly"} {
		var left []int
		traces, err := envharness.Rollouts(ctx, tellingWalks().World(), stack, func(int) (envharness.Policy, error) {
			return envharness.PolicyFunc(func(_ context.Context, turn envharness.Turn) (envharness.Action, error) {
				left = append(left, turn.Left)
				return envharness.Action{Name: name}, nil
			}), nil
		}, []envharness.Task{{ID: "3"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(left, []int{6, 5, 4, 3, 2, 1}) {
			t.Errorf("%s: %v turns left", name, left)
		}
		got := traces[0]
		if last := got.Turns[len(got.Turns)-1].Shown; !last.Truncated || last.Reason != "max_turns" {
			t.Errorf("%s: %+v", name, last)
		}
		if got.Verdict.Status != envharness.Fail || got.Verdict.Unreplayed || got.End.Infra() {
			t.Errorf("%s: end %s, %+v, %s", name, got.End, got.Verdict, got.Cause)
		}
	}
}

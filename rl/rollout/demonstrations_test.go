package rollout

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/chain"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/rl"
)

// The oracle passes every task in words of the agent, in both ways to act, and the result does not depend on Parallel.
func TestDemonstrations(t *testing.T) {
	worlds := smallWorlds()
	short, err := chain.World(chain.UmbrellaLengthShort) // the plan depends on the seed
	if err != nil {
		t.Fatal(err)
	}
	worlds["umbrella"] = short
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			tok, err := WorldTokenizer(t.Context(), w, nil)
			if err != nil {
				t.Fatal(err)
			}
			tasks := tasksOf(t, w, 20)
			for _, candidates := range []bool{false, true} {
				a := agent(t, guess{tok.Vocab()}, tok, &AgentOptions{Candidates: candidates})
				es, err := Demonstrations(t.Context(), w, a, tasks, &Options{Parallel: 2, Seed: 5})
				if err != nil {
					t.Fatal(err)
				}
				again, err := Demonstrations(t.Context(), w, a, tasks, &Options{Seed: 5})
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(es, again) { // far quicker than cmp
					t.Error("2 and 1 at once differ")
				}
				for i, e := range es {
					task := e.Trace.Task
					if e.Trace.Verdict.Status != envharness.Pass || e.Trajectory.Task != tasks[i].ID || task.Seed == nil || *task.Seed != e.Trace.Seed {
						t.Errorf("task %s: %+v of task %+v, seed %d", tasks[i].ID, e.Trace.Verdict, task, e.Trace.Seed)
					}
				}
				if err := rl.Validate(Trajectories(es)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// coin is a world in which the seed decides which of two actions passes.
type coin struct {
	corridor
	seed uint64
}

func (c *coin) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	c.seed = 0
	if o.Seed != nil {
		c.seed = *o.Seed
	}
	return c.corridor.Reset(ctx, o)
}

func (c *coin) Plan(context.Context) ([]envharness.Action, error) {
	return actions([]string{"go", "win"}[c.seed%2]), nil
}

// The oracle plans for the episode that is played; episodes follow from Options.Seed, or the seed of the task.
func TestDemonstrationsSeeds(t *testing.T) {
	w := envharness.World{
		New: func(context.Context) (envharness.Environment, error) {
			shown := envharness.Observation{Text: "a", Actions: actions("go", "win")}
			return &coin{corridor: corridor{shown: []envharness.Observation{shown, shown}}}, nil
		},
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			if (e.Log[len(e.Log)-1].Action.Name == "win") == (e.Seed%2 == 1) {
				return envharness.Verdict{Status: envharness.Pass}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
	tok := tokenizer(t, nil, "a go win")
	var tasks []envharness.Task
	for id := range strings.FieldsSeq("a b c d e f g h") {
		tasks = append(tasks, envharness.Task{ID: id})
	}
	tasks = append(tasks, envharness.Task{ID: "i", Seed: new(uint64(4))}, envharness.Task{ID: "a"})
	seeds := map[uint64]bool{}
	for seed := range uint64(2) {
		es, err := Demonstrations(t.Context(), w, agent(t, guess{tok.Vocab()}, tok, nil), tasks, &Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range es {
			if seeds[e.Trace.Seed] = true; !*e.Trajectory.Success {
				t.Errorf("task %d, seed %d: does not pass", i, e.Trace.Seed)
			}
		}
		if es[8].Trace.Seed != 4 || es[9].Trace.Seed != es[0].Trace.Seed || tasks[0].Seed != nil {
			t.Errorf("seeds %d, want 4, and %d, want %d; the caller's task has %v", es[8].Trace.Seed, es[9].Trace.Seed, es[0].Trace.Seed, tasks[0].Seed)
		}
	}
	if len(seeds) != 2*8+1 {
		t.Errorf("%d seeds, want one for each of 8 tasks and 2 options, and one given", len(seeds))
	}
}

// Each demonstration has the notes of its task, as the agent that is given them would have them; the agent itself has none.
func TestDemonstrationsNotes(t *testing.T) {
	w := smallWorlds()["tooldesk"]
	tok, err := WorldTokenizer(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := agent(t, guess{tok.Vocab()}, tok, &AgentOptions{Candidates: true, History: new(0)})
	tasks := tasksOf(t, w, 3)
	notes := func(task envharness.Task) string { return "submit " + task.ID }
	es, err := Demonstrations(t.Context(), w, a, tasks, &Options{Notes: notes, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Demonstrations(t.Context(), w, a, tasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range es {
		noted := append([]int{Sep}, tok.Encode(nil, nil, notes(tasks[i]))...)
		for k, turn := range e.Trajectory.Turns {
			var without []rl.Token // the notes cut out again
			at := slices.IndexFunc(turn.Tokens, func(tk rl.Token) bool { return tk.ID == Sep })
			for j, id := range noted {
				if turn.Tokens[at+j].ID != id {
					t.Fatalf("task %d, turn %d: token %d of the notes is %d, want %d", i, k, j, turn.Tokens[at+j].ID, id)
				}
			}
			without = append(append(without, turn.Tokens[:at]...), turn.Tokens[at+len(noted):]...)
			if !slices.Equal(without, plain[i].Trajectory.Turns[k].Tokens) {
				t.Errorf("task %d, turn %d: the notes change other tokens", i, k)
			}
		}
		var seen []rl.Sequence
		m := hashed{vocab: tok.Vocab(), seen: func(batch []rl.Sequence, _ [][]float64) { seen = append(seen, batch[0]) }}
		if _, err := a.Given(notes(tasks[i])).Scores(t.Context(), m, e.Trace); err != nil {
			t.Fatal(err)
		}
		for k, s := range rl.Sequences(nil, []rl.Trajectory{e.Trajectory}) {
			if !slices.Equal(seen[k].Tokens[:seen[k].Start], s.Tokens[:s.Start]) {
				t.Errorf("task %d, turn %d: scored in another context", i, k)
			}
		}
	}
}

// Where names are invented, slots stand in for them, and every demonstration can still be said.
func TestDemonstrationsNames(t *testing.T) {
	w := tooldesk.World(nil)
	tasks := tasksOf(t, w, 40)
	first := agent(t, guess{999}, tokenizer(t, &TokenizerOptions{Slots: 500}, "x"), &AgentOptions{Candidates: true})
	es, err := Demonstrations(t.Context(), w, first, tasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	var traces []envharness.Trace
	for _, e := range es {
		traces = append(traces, e.Trace)
	}
	tok := tokenizer(t, &TokenizerOptions{Slots: 60}, Words(traces, 4)...)
	es, err = Demonstrations(t.Context(), w, agent(t, guess{tok.Vocab()}, tok, &AgentOptions{Candidates: true}), tasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, e := range es {
		for _, turn := range e.Trajectory.Turns {
			for _, tk := range turn.Tokens {
				if tk.Trainable && tk.ID >= 9+len(tok.Words()) {
					named++
				}
			}
		}
		if e.Trace.Verdict.Status != envharness.Pass {
			t.Errorf("task %s does not pass", e.Trace.Task.ID)
		}
	}
	if named < 40 {
		t.Errorf("%d names in the actions of 40 tasks: the test has no subject", named)
	}
}

// planned is a corridor with an oracle.
type planned struct {
	corridor
	plan []envharness.Action
	err  error
}

func (p *planned) Plan(context.Context) ([]envharness.Action, error) { return p.plan, p.err }

func (p *planned) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if o.Seed != nil {
		return envharness.Observation{}, envharness.ErrSeedUnsupported
	}
	return p.corridor.Reset(ctx, o)
}

// flaky refuses the first call of all as one that may be tried again.
type flaky struct {
	planned
	tried bool
}

func (f *flaky) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if !f.tried {
		f.tried = true
		e := &envharness.ActionError{Class: envharness.ClassTransient, Retryable: true}
		return envharness.Transition{Observation: f.shown[f.at], Error: e}, nil
	}
	return f.planned.Step(ctx, a)
}

func TestDemonstrationsErrors(t *testing.T) {
	tok := tokenizer(t, nil, "a go no win")
	a := agent(t, guess{tok.Vocab()}, tok, nil)
	of := func(env func() envharness.Environment) envharness.World {
		w := walk(nil, nil)
		w.New = func(context.Context) (envharness.Environment, error) { return env(), nil }
		return w
	}
	shown := func(n int) corridor {
		var c corridor
		for range n {
			c.shown = append(c.shown, envharness.Observation{Text: "a", Actions: actions("go", "no", "win", "zoe", "max")})
		}
		return c
	}
	world := func(n int, err error, plan ...string) envharness.World {
		return of(func() envharness.Environment { return &planned{corridor: shown(n), plan: actions(plan...), err: err} })
	}
	tests := []struct {
		name, want string
		w          envharness.World
		is         error
		reason     string
	}{
		{"passes", "", world(3, nil, "go", "win"), nil, "seeds are not supported, and not needed"},
		{"retry", "", of(func() envharness.Environment {
			return &flaky{planned: planned{corridor: shown(3), plan: actions("go", "win")}}
		}), nil,
			"a refusal that may pass is tried again"},
		{"no plan", "task 0 (x)", world(3, envharness.ErrNoPlan), envharness.ErrNoPlan, "which task, and why"},
		{"short plan", "did not end", world(3, nil, "go"), nil, "the world goes on"},
		{"refused", "planned action no was refused: not here", world(3, nil, "no"), nil, "a plan that does not work"},
		{"words", "unknown words", world(3, nil, "max"), nil, "the agent cannot say it"},
		{"no oracle", "no oracle", walk(nil, actions("go"), "a", "a"), nil, "nobody to ask"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			es, err := Demonstrations(t.Context(), tt.w, a, []envharness.Task{{ID: "x"}, {ID: "y"}}, nil)
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			if tt.want == "" {
				if err != nil || len(es) != 2 || !*es[0].Trajectory.Success {
					t.Errorf("%s: %+v, %v", tt.reason, es, err)
				}
				return
			}
			if es != nil || err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
			}
		})
	}
	if _, err := Demonstrations(t.Context(), tests[0].w, nil, nil, nil); err == nil {
		t.Error("no agent was accepted")
	}
	if _, err := Demonstrations(t.Context(), tests[0].w, a, []envharness.Task{{ID: "x"}}, &Options{GroupSize: -1}); err == nil {
		t.Error("bad options were accepted")
	}
	lost := of(func() envharness.Environment { return &planned{corridor: shown(3)} })
	n := 0
	lost.New = func(context.Context) (envharness.Environment, error) {
		if n++; n%2 == 0 { // the one to plan in
			return nil, errors.New("no more")
		}
		return &planned{corridor: shown(3)}, nil
	}
	es, err := Demonstrations(t.Context(), lost, a, []envharness.Task{{ID: "x"}}, nil)
	if err != nil || es[0].Trajectory.Excluded == "" || !strings.Contains(es[0].Trace.Cause, "no more") {
		t.Errorf("a world that cannot be opened for the plan: %+v, %v, want an excluded episode", es, err)
	}
}

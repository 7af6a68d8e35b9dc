package rollout

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
)

// counter is a world of n steps in which the action "win" passes and "bad" is refused.
type counter struct{ n, done int }

func (c *counter) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	c.done = 0
	return envharness.Observation{Text: "go"}, nil
}

func (c *counter) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	c.done++
	t := envharness.Transition{Observation: envharness.Observation{Text: "on"}, Reward: 5, Terminated: c.done == c.n}
	switch a.Name {
	case "bad":
		t.Error = &envharness.ActionError{Class: envharness.ClassBadArgs}
	case "crash":
		return t, errors.New("cable cut")
	}
	return t, nil
}

func (c *counter) Close() error { return nil }

func world(n int) envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return &counter{n: n}, nil },
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			if e.Log[len(e.Log)-1].Action.Name == "win" {
				return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

// script plays named actions; "stop", "fail" and "unreadable" are errors of the policy. It notes a value for each turn, except the last skip ones.
type script struct {
	names []string
	skip  int
	turns []rl.Turn
}

func (s *script) Act(_ context.Context, t envharness.Turn) (envharness.Action, error) {
	name := s.names[min(t.Index, len(s.names)-1)]
	switch name {
	case "stop":
		return envharness.Action{}, envharness.ErrStop
	case "fail":
		return envharness.Action{}, errors.New("lost")
	}
	s.turns = append(s.turns, rl.Turn{Value: float64(t.Index), Reward: 99, End: rl.Terminated, Tokens: []rl.Token{{ID: t.Index, Trainable: true}}})
	if name == "unreadable" {
		return envharness.Action{}, envharness.ErrBadAction
	}
	return envharness.Action{Name: name}, nil
}

func (s *script) Turns() []rl.Turn { return s.turns[:len(s.turns)-s.skip] }

func TestCollect(t *testing.T) {
	yes, no := new(true), new(false)
	turn := func(i int, reward float64, end rl.End, invalid bool) rl.Turn {
		return rl.Turn{Value: float64(i), Reward: reward, End: end, Invalid: invalid, Tokens: []rl.Token{{ID: i, Trainable: true}}}
	}
	tests := []struct {
		name    string
		actions string
		o       *Options
		want    rl.Trajectory
		reason  string
	}{
		{"passed", "a win", nil, rl.Trajectory{Success: yes, Turns: []rl.Turn{turn(0, 0, rl.Continue, false), turn(1, 10, rl.Terminated, false)}},
			"the verdict pays 10 on the last turn; the world's own reward and what the player noted count for nothing"},
		{"own reward", "a win", &Options{SuccessReward: -2},
			rl.Trajectory{Success: yes, Turns: []rl.Turn{turn(0, 0, rl.Continue, false), turn(1, -2, rl.Terminated, false)}}, "any finite number"},
		{"failed", "bad unreadable", nil, rl.Trajectory{Success: no, Turns: []rl.Turn{turn(0, 0, rl.Continue, true), turn(1, 0, rl.Truncated, true)}},
			"refused and unreadable actions are turns; an unreadable one does not reach the world, so the limit of turns ends the episode"},
		{"limit", "a a", &Options{MaxTurns: 1}, rl.Trajectory{Success: no, Turns: []rl.Turn{turn(0, 0, rl.Truncated, false)}}, "a limit is no end of the task"},
		{"gave up", "a stop", nil, rl.Trajectory{Success: no, Turns: []rl.Turn{turn(0, 0, rl.Truncated, false)}}, "an Act that ended the episode is no turn"},
		{"never played", "stop", nil, rl.Trajectory{Success: no, Excluded: "no turns"}, "nothing to train on"},
		{"crashed", "a crash", nil, rl.Trajectory{Excluded: "env_error", Turns: []rl.Turn{turn(0, 0, rl.Continue, false), turn(1, 0, rl.Truncated, false)}},
			"says nothing about the policy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			o := tt.o
			if o == nil {
				o = &Options{MaxTurns: 2}
			}
			es, err := Collect(context.Background(), world(2), nil, func(int) (Player, error) { return &script{names: strings.Fields(tt.actions)}, nil },
				[]envharness.Task{{ID: "x", Split: "train"}}, o)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.ID, tt.want.Group, tt.want.Task, tt.want.Split = "x/0", "x", "x", "train"
			got := Trajectories(es)
			if tt.name == "crashed" { // whether the step that crashed is recorded is the harness's choice
				tt.want.Turns, got[0].Turns = nil, nil
			}
			if diff := cmp.Diff(tt.want, got[0], cmpopts.IgnoreFields(rl.Turn{}, "State"), cmpopts.IgnoreFields(rl.Trajectory{}, "FinalState")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if err := rl.Validate(Trajectories(es)); err != nil {
				t.Error(err)
			}
		})
	}
}

// States are equal after equal accepted calls, whatever was refused or unreadable between them.
func TestStates(t *testing.T) {
	plays := []string{"a b win", "bad a b win", "a unreadable b bad", "b a win"}
	states := func(o *Options) [][]string {
		t.Helper()
		es, err := Collect(context.Background(), world(9), nil, func(i int) (Player, error) { return &script{names: strings.Fields(plays[i])}, nil },
			make([]envharness.Task, len(plays)), o)
		if err != nil {
			t.Fatal(err)
		}
		var out [][]string
		for _, tr := range Trajectories(es) {
			var keys []string
			for _, turn := range tr.Turns {
				keys = append(keys, turn.State)
			}
			out = append(out, append(keys, tr.FinalState))
		}
		return out
	}
	got := states(&Options{MaxTurns: 4})
	names := map[string]string{}
	for i := range got {
		for k, key := range got[i] {
			if names[key] == "" {
				names[key] = string(rune('A' + len(names)))
			}
			got[i][k] = names[key]
		}
	}
	// A: nothing done, B: a, C: a b, D: a b win, E: a b win win, F: b, G: b a, H: b a win, I: b a win win.
	want := [][]string{strings.Fields("A B C D E"), strings.Fields("A A B C D"), strings.Fields("A B B C C"), strings.Fields("A F G H I")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	own := func(tr envharness.Trace) []string { return make([]string, len(tr.Turns)+1) }
	for _, keys := range states(&Options{MaxTurns: 2, States: own}) {
		if strings.Join(keys, "") != "" {
			t.Errorf("own keys: got %q", keys)
		}
	}
	_, err := Collect(context.Background(), world(2), nil, func(int) (Player, error) { return &script{names: []string{"a"}}, nil },
		[]envharness.Task{{ID: "x"}}, &Options{States: func(envharness.Trace) []string { return []string{"one"} }})
	if err == nil || !strings.Contains(err.Error(), "1 state keys") {
		t.Errorf("too few keys: %v", err)
	}
}

func TestCollectErrors(t *testing.T) {
	play := func(skip int) func(int) (Player, error) {
		return func(int) (Player, error) { return &script{names: []string{"a", "b"}, skip: skip}, nil }
	}
	one := []envharness.Task{{ID: "x"}}
	if _, err := Collect(context.Background(), world(2), nil, play(1), one, nil); err == nil || !strings.Contains(err.Error(), "1 of 2 turns") {
		t.Errorf("a turn that was not noted: %v", err)
	}
	for _, r := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := Collect(context.Background(), world(2), nil, play(0), one, &Options{SuccessReward: r}); err == nil {
			t.Errorf("reward %v was accepted", r)
		}
	}
	es, err := Collect(context.Background(), world(2), nil, func(int) (Player, error) { return (*script)(nil), errors.New("no model") }, one, nil)
	if err != nil || es[0].Trajectory.Excluded == "" || !strings.Contains(es[0].Trace.Cause, "no model") {
		t.Errorf("a player that cannot be made: %+v, %v; want an excluded episode with the cause", es, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if es, err := Collect(ctx, world(2), nil, play(0), one, nil); es != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v, %v", es, err)
	}
	if es, err := Collect(context.Background(), world(2), nil, play(0), nil, nil); err != nil || len(es) != 0 {
		t.Errorf("no tasks: %v, %v", es, err)
	}
}

// Texts are keys of states; a turn in which the base was not stepped leaves the state as it is, whatever is shown about it.
func TestShownTexts(t *testing.T) {
	stepped := func(text string) envharness.TurnTrace {
		tr := envharness.Transition{Observation: envharness.Observation{Text: text}}
		return envharness.TurnTrace{Raw: &tr, Shown: tr}
	}
	unread := envharness.TurnTrace{Shown: envharness.Transition{Observation: envharness.Observation{Text: "[invalid action] no end\n\nred"},
		Error: &envharness.ActionError{Class: envharness.ClassBadArgs}}}
	refused := stepped("red")
	refused.Raw.Error, refused.Shown.Error = &envharness.ActionError{}, &envharness.ActionError{}
	for _, tt := range []struct {
		name   string
		turns  []envharness.TurnTrace
		want   string // one letter for each key
		reason string
	}{
		{"none", nil, "A", "the start is a state"},
		{"another", []envharness.TurnTrace{stepped("blue")}, "AB", "another text"},
		{"back", []envharness.TurnTrace{stepped("blue"), stepped("red")}, "ABA", "routes meet where they show the same"},
		{"unread", []envharness.TurnTrace{unread, unread, stepped("blue"), unread}, "AAABB", "the banner is not of the state"},
		{"refused", []envharness.TurnTrace{refused, stepped("blue")}, "AAB", "the base was asked, and shows where it is"},
	} {
		var got strings.Builder
		names := map[string]string{}
		for _, key := range ShownTexts(envharness.Trace{Shown: envharness.Observation{Text: "red"}, Turns: tt.turns}) {
			if names[key] == "" {
				names[key] = string(rune('A' + len(names)))
			}
			got.WriteString(names[key])
		}
		if got.String() != tt.want || tt.reason == "" {
			t.Errorf("%s: states %s, want %s", tt.name, got.String(), tt.want)
		}
	}
	// As the harness shows what was not read.
	es, err := Collect(context.Background(), world(9), nil, func(int) (Player, error) { return &script{names: strings.Fields("unreadable a unreadable a")}, nil },
		[]envharness.Task{{ID: "x"}}, &Options{MaxTurns: 4, States: ShownTexts})
	if err != nil {
		t.Fatal(err)
	}
	tr := es[0].Trajectory
	if s := tr.Turns; s[0].State != s[1].State || s[1].State == s[2].State || s[2].State != s[3].State || s[3].State != tr.FinalState {
		t.Errorf("states %q %q %q %q %q, want A A B B B", s[0].State, s[1].State, s[2].State, s[3].State, tr.FinalState)
	}
}

// Calls are equal if their arguments are, however these are written; a call is told from another by name and arguments.
func TestAcceptedCallsCanonical(t *testing.T) {
	key := func(name, args string) string {
		return AcceptedCalls(envharness.Trace{Turns: []envharness.TurnTrace{
			{Applied: &envharness.Action{Name: name, Args: []byte(args)}, Raw: &envharness.Transition{}}}})[1]
	}
	if key("f", `{"a":1,"b":[2, 3]}`) != key("f", `{ "b":[2,3],"a":1 }`) {
		t.Error("the order of fields and white space make another state")
	}
	seen := map[string]string{}
	for _, c := range [][2]string{{"f", `{"a":1}`}, {"f", `{"a":2}`}, {"g", `{"a":1}`}, {"f", ``}, {"f", `{"a":"1"}`}} {
		k := key(c[0], c[1])
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q lead to one state", c, other)
		}
		seen[k] = c[0] + c[1]
	}
}

// What a player noted beyond the record is left out, and a failure keeps its reason; the seed reaches the episodes.
func TestCollectEdges(t *testing.T) {
	more := func(int) (Player, error) { return &talkative{script{names: []string{"a", "win"}}}, nil }
	one := []envharness.Task{{ID: "x"}}
	es, err := Collect(context.Background(), world(2), nil, more, one, nil)
	if err != nil || len(es[0].Trajectory.Turns) != 2 {
		t.Errorf("a player that noted a turn too many: %+v, %v", es, err)
	}
	es, err = Collect(context.Background(), world(2), nil, func(int) (Player, error) { return &script{names: []string{"crash"}, skip: 1}, nil }, one, nil)
	if err != nil || es[0].Trajectory.Excluded != "env_error" {
		t.Errorf("a crash without turns: %+v, %v, want its reason", es[0].Trajectory, err)
	}
	es, err = Collect(context.Background(), world(9), nil, func(int) (Player, error) { return &script{names: []string{"a", "b", "crash"}, skip: 2}, nil }, one, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tr := es[0].Trajectory; len(tr.Turns) != 1 || tr.FinalState != AcceptedCalls(es[0].Trace)[1] || tr.FinalState == tr.Turns[0].State {
		t.Errorf("excluded, one turn noted: %+v, want the state after it at the end", tr)
	}
	seeds := map[uint64]bool{}
	for seed := range uint64(3) {
		es, err := Collect(context.Background(), world(2), nil, more, one, &Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		seeds[es[0].Trace.Seed] = true
	}
	if len(seeds) != 3 {
		t.Errorf("three seeds give the episode seeds %v", seeds)
	}
	es, err = Collect(context.Background(), world(2), nil, more, []envharness.Task{{ID: "x"}, {ID: "x"}, {ID: "y"}}, &Options{
		Group: func(slot int, t envharness.Task) string { return t.ID + string(rune('0'+slot)) }})
	if err != nil || es[0].Trajectory.Group != "x0" || es[1].Trajectory.Group != "x1" || es[2].Trajectory.Group != "y2" || es[1].Trajectory.Task != "x" {
		t.Errorf("own groups: %+v, %v", es, err)
	}
	es, err = Collect(context.Background(), world(2), nil, more, []envharness.Task{{ID: "x", Seed: new(uint64(1))}, {ID: "x", Seed: new(uint64(2))}, {ID: "x"}}, nil)
	if err != nil || es[0].Trajectory.Group != "x#1" || es[1].Trajectory.Group != "x#2" || es[2].Trajectory.Group != "x" {
		t.Errorf("tasks with seeds: %+v, %v", es, err)
	}
	keys := func(tr envharness.Trace) []string { return make([]string, len(tr.Turns)+2) }
	if _, err := Collect(context.Background(), world(2), nil, more, one, &Options{States: keys}); err == nil || !strings.Contains(err.Error(), "4 state keys") {
		t.Errorf("too many keys: %v", err)
	}
}

// talkative notes a turn more than it played.
type talkative struct{ script }

func (p *talkative) Turns() []rl.Turn { return append(p.script.Turns(), rl.Turn{Value: 77}) }

// Rewards come from the verdict or from the world, and what did not reach the world earns nothing.
func TestRewards(t *testing.T) {
	play := func(int) (Player, error) { return &script{names: []string{"a", "unreadable", "bad", "win"}}, nil }
	for _, tt := range []struct {
		o      Options
		want   []float64
		reason string
	}{
		{Options{}, []float64{0, 0, 0, 10}, "the verdict's is the default"},
		{Options{Rewards: RewardVerdict, SuccessReward: 2}, []float64{0, 0, 0, 2}, "of the size asked for"},
		{Options{Rewards: RewardWorld}, []float64{5, 0, 5, 5}, "the world gives 5 a step, and none for an answer that it did not see"},
		{Options{Rewards: RewardWorld, SuccessReward: 2}, []float64{5, 0, 5, 5}, "the verdict then pays nothing"},
	} {
		es, err := Collect(context.Background(), world(3), nil, play, []envharness.Task{{ID: "x"}}, &tt.o)
		if err != nil || tt.reason == "" {
			t.Fatal(err)
		}
		var got []float64
		for _, turn := range es[0].Trajectory.Turns {
			got = append(got, turn.Reward)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
	_, err := Collect(context.Background(), world(3), nil, play, nil, &Options{Rewards: 2})
	if err == nil || !strings.Contains(err.Error(), "Rewards(2)") {
		t.Errorf("a source without a name: %v", err)
	}
	for _, r := range []Rewards{RewardVerdict, RewardWorld} {
		text, err := r.MarshalText()
		back := Rewards(9)
		if err != nil || string(text) != r.String() || back.UnmarshalText(text) != nil || back != r {
			t.Errorf("%v becomes %s, %v, and %v", r, text, err, back)
		}
	}
	if _, err := Rewards(2).MarshalText(); err == nil {
		t.Error("a source without a name has a text")
	}
	r := RewardWorld
	if err := r.UnmarshalText([]byte("both")); err == nil || r != RewardWorld {
		t.Errorf("read %v, %v", r, err)
	}
}

func TestGroupSize(t *testing.T) {
	play := func(int) (Player, error) { return &script{names: []string{"a"}}, nil }
	one, two := new(uint64(1)), new(uint64(2))
	task := func(id string, seed *uint64, options string) envharness.Task {
		return envharness.Task{ID: id, Seed: seed, Options: []byte(options)}
	}
	x, y := task("x", nil, ""), task("y", one, "")
	tests := []struct {
		name   string
		tasks  []envharness.Task
		o      Options
		want   string // groups, or part of the error after a !
		reason string
	}{
		{"drawn twice", Repeat([]envharness.Task{x, y, x}, 2), Options{GroupSize: 2}, "x@0 x@0 y#1@1 y#1@1 x@2 x@2", "each draw is a group of its own"},
		{"zero", Repeat([]envharness.Task{x, x}, 2), Options{}, "x x x x", "all episodes of a task"},
		{"single", []envharness.Task{x, x}, Options{GroupSize: 1}, "x@0 x@1", "each alone"},
		{"seeds", []envharness.Task{y, task("y", new(uint64(1)), "")}, Options{GroupSize: 2}, "y#1@0 y#1@0", "equal seeds are equal"},
		{"negative", nil, Options{GroupSize: -1}, "!GroupSize is -1", "no count"},
		{"both", nil, Options{GroupSize: 1, Group: func(int, envharness.Task) string { return "" }}, "!both set", "one or the other"},
		{"remainder", []envharness.Task{x, x, x}, Options{GroupSize: 2}, "!3 tasks, want a multiple", "a group is left short"},
		{"tasks", []envharness.Task{x, y}, Options{GroupSize: 2}, `!slot 0 has task "x" and slot 1`, "not one task"},
		{"other seeds", []envharness.Task{y, task("y", two, "")}, Options{GroupSize: 2}, "!seed", "not one first state"},
		{"one seed", []envharness.Task{task("y", nil, ""), y}, Options{GroupSize: 2}, "!seed", "not one first state"},
		{"options", []envharness.Task{task("x", nil, "{}"), task("x", nil, `{"a":1}`)}, Options{GroupSize: 2}, "!options", "not one first state"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			es, err := Collect(context.Background(), world(1), nil, play, tt.tasks, &tt.o)
			if part, bad := strings.CutPrefix(tt.want, "!"); bad {
				if es != nil || err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %v, want %q", tt.reason, err, part)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range es {
				got = append(got, e.Trajectory.Group)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s: %q, want %q", tt.reason, s, tt.want)
			}
		})
	}
	for _, k := range []int{0, -3} {
		if got := Repeat([]envharness.Task{x}, k); len(got) != 0 {
			t.Errorf("%d times: %v", k, got)
		}
	}
}

// What a policy said when it ended its episode is no turn, though the trace has it.
func TestLastWords(t *testing.T) {
	es, err := Collect(context.Background(), world(9), nil, func(int) (Player, error) { return &explaining{script{names: []string{"a", "stop"}}}, nil },
		[]envharness.Task{{ID: "x"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tr := es[0].Trajectory
	if n := len(es[0].Trace.Turns); n != 2 || len(tr.Turns) != 1 || tr.Turns[0].End != rl.Truncated || tr.FinalState == "" {
		t.Errorf("%d turns in the trace, %+v", n, tr)
	}
}

// explaining tells what it said, also when it stops.
type explaining struct{ script }

func (*explaining) Explain() (string, int) { return "because", 1 }

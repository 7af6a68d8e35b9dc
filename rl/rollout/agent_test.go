package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/rl"
)

func agent(t testing.TB, m rl.Sampler, tok *Tokenizer, o *AgentOptions) *Agent {
	t.Helper()
	a, err := NewAgent(m, tok, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// sized is a model that tells its sizes.
type sized struct {
	guess
	maxLen int
}

func (s sized) MaxLen() int { return s.maxLen }

func TestNewAgent(t *testing.T) {
	tok := tokenizer(t, nil, "a")
	parse := func(string, envharness.Turn) (envharness.Action, error) { return envharness.Action{}, nil }
	tests := []struct {
		name   string
		m      rl.Sampler
		t      *Tokenizer
		o      *AgentOptions
		want   string // of the error, or room, MaxResponse, History and temperature
		reason string
	}{
		{"defaults", guess{10}, tok, nil, "240 16 2 1", "256 less 16"},
		{"zeros", guess{10}, tok, &AgentOptions{}, "240 16 2 1", "zero is the default"},
		{"own", guess{10}, tok, &AgentOptions{History: new(0), MaxResponse: 3, MaxLen: 7, Temperature: new(0.0)}, "4 3 0 0",
			"zero is legal through a pointer"},
		{"short model", sized{guess{10}, 40}, tok, nil, "24 16 2 1", "the model's limit is lower"},
		{"long model", sized{guess{10}, 999}, tok, nil, "240 16 2 1", "the default is lower"},
		{"long model, own", sized{guess{10}, 999}, tok, &AgentOptions{MaxLen: 500}, "484 16 2 1", "within the model's limit"},
		{"large model", guess{99}, tok, nil, "240 16 2 1", "entries that are never used"},
		{"no model", nil, tok, nil, "!model is nil", "nothing to play with"},
		{"no tokenizer", guess{10}, nil, nil, "!tokenizer is nil", "nothing to read with"},
		{"small model", guess{9}, tok, nil, "!9 tokens, want at least the 10", "an id without an entry"},
		{"history", guess{10}, tok, &AgentOptions{History: new(-1)}, "!History is -1", "no count"},
		{"response", guess{10}, tok, &AgentOptions{MaxResponse: 1}, "!MaxResponse is 1", "no room for a word and its end"},
		{"negative response", guess{10}, tok, &AgentOptions{MaxResponse: -1}, "!MaxResponse is -1", "no count"},
		{"length", guess{10}, tok, &AgentOptions{MaxResponse: 3, MaxLen: 6}, "!at most 6", "no room for a context"},
		{"short model, own", sized{guess{10}, 40}, tok, &AgentOptions{MaxLen: 41}, "!MaxLen is 41", "longer than the model takes"},
		{"temperature", guess{10}, tok, &AgentOptions{Temperature: new(-1.0)}, "!Temperature is -1", "no temperature"},
		{"NaN", guess{10}, tok, &AgentOptions{Temperature: new(math.NaN())}, "!Temperature is NaN", "no number"},
		{"infinite", guess{10}, tok, &AgentOptions{Temperature: new(math.Inf(1))}, "!Temperature is +Inf", "no finite number"},
		{"both", guess{10}, tok, &AgentOptions{Candidates: true, Parse: parse}, "!both set", "candidates are not parsed"},
		{"all", nil, nil, &AgentOptions{History: new(-2)}, "!History is -2", "all faults are told"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			a, err := NewAgent(tt.m, tt.t, tt.o)
			if part, bad := strings.CutPrefix(tt.want, "!"); bad {
				if a != nil || err == nil || !strings.Contains(err.Error(), part) {
					t.Fatalf("%s: %v, want %q", tt.reason, err, part)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(a.room, a.maxResponse, a.history, a.temperature); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
			}
		})
	}
}

// One episode in full: what the model is asked, what is noted, what the trace tells.
func TestPlay(t *testing.T) {
	tok := tokenizer(t, &TokenizerOptions{Slots: 1}, "walk at door wall go win no not found bad args")
	w := walk(map[string]any{"task": "walk"}, []envharness.Action{
		{Name: "go", Args: json.RawMessage(`{"to":"zoe"}`)}, {Name: "win"}, {Name: "no"}, {Name: "WIN"},
	}, "walk at zoe", "at door", "at wall", "end")
	m := saying(tok, "go zoe", "no", "go go", "go", "win")
	m.lines[0][1] = 9 + len(tok.Words()) // the slot of zoe
	m.lines[3] = slices.Repeat([]int{m.lines[3][0]}, 9)
	a := agent(t, m, tok, &AgentOptions{History: new(1), MaxResponse: 4, MaxLen: 20})
	es, err := Collect(t.Context(), w, nil, func(int) (Player, error) { return a.Play(nil), nil }, []envharness.Task{{ID: "x"}},
		&Options{MaxTurns: 5})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, turn := range es[0].Trajectory.Turns {
		var context, response []int
		for _, tk := range turn.Tokens {
			if tk.LogProb != 0 || turn.Allowed != nil {
				t.Errorf("noted %+v, %v", tk, turn.Allowed)
			}
			if tk.Trainable {
				response = append(response, tk.ID)
			} else if context = append(context, tk.ID); response != nil {
				t.Error("a context after a response")
			}
		}
		got = append(got, fmt.Sprintf("%s | %s | %v %v %v", tok.Decode(nil, context), tok.Decode(nil, response),
			turn.Invalid, turn.End, turn.Reward))
	}
	want := []string{
		"<bos> walk <sep> at <slot0> <act> | go <slot0> <end> | false continue 0",
		"<bos> walk <sep> at <slot0> <act> go <slot0> <end> <sep> at door <act> | no <end> | true continue 0",
		"<bos> walk <sep> at door <act> no <end> <sep> not found at door <act> | go go <end> | true continue 0",
		"<bos> walk <sep> not found at door <act> <end> <sep> bad args at door <act> | go go go go | true continue 0",
		"<bos> walk <sep> bad args at door <act> <end> <sep> bad args at door <act> | win <end> | false truncated 10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := tok.Decode(nil, es[0].Final), "<bos> walk <sep> bad args at door <act> win <end> <sep> at wall <act>"; got != want {
		t.Errorf("final %q, want %q", got, want)
	}
	var said []string
	for i, turn := range es[0].Trace.Turns {
		said = append(said, turn.Said)
		if n := len(es[0].Trajectory.Turns[i].Tokens); turn.Tokens != n {
			t.Errorf("turn %d: %d tokens, want %d", i, turn.Tokens, n)
		}
	}
	if got := strings.Join(said, ","); got != "go zoe,no,go go,go go go go,win" {
		t.Errorf("said %q", got)
	}
	if p := es[0].Trace.Turns[4].Proposed; p == nil || p.Name != "win" {
		t.Errorf("took %v, want the first of two that read alike", p)
	}
	for i, c := range m.asked {
		var noted []int
		for _, tk := range es[0].Trajectory.Turns[i].Tokens[:len(c)] {
			noted = append(noted, tk.ID)
		}
		if !slices.Equal(c, noted) {
			t.Errorf("turn %d: asked about %v, noted %v", i, c, noted)
		}
	}
}

// An episode that the world ends has no final context; nor has one that is excluded, or of a player that cannot tell.
func TestFinal(t *testing.T) {
	tok := tokenizer(t, nil, "a go win no not found")
	acts := actions("go", "win")
	unjudged := walk(nil, acts, "a", "go", "a")
	unjudged.Verifier = envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
		return envharness.Verdict{}, errors.New("cable cut")
	})
	play := func(lines ...string) func(int) (Player, error) {
		return func(int) (Player, error) { return agent(t, saying(tok, lines...), tok, nil).Play(nil), nil }
	}
	tests := []struct {
		name, want, reason string
		w                  envharness.World
		player             func(int) (Player, error)
		o                  *Options
	}{
		{"terminated", "", "no state follows", walk(nil, acts, "a", "go"), play("go"), nil},
		{"truncated", "<bos> a <sep> <act> go <end> <sep> go <act>", "a limit", walk(nil, acts, "a", "go", "a"), play("go"), &Options{MaxTurns: 1}},
		{"stopped", "<bos> a <sep> <act> go <end> <sep> go <act>", "the agent failed in the turn that follows", walk(nil, acts, "a", "go", "a"),
			func(int) (Player, error) {
				return agent(t, guess{tok.Vocab()}, tok, nil).Follow(&scripted{names: []string{"go", "stop"}}), nil
			}, nil},
		{"refused", "<bos> a <sep> <act> no <end> <sep> not found <act>", "with the refusal",
			walk(nil, actions("no"), "a", "go"), play("no"), &Options{MaxTurns: 1}},
		{"crashed", "", "excluded, as nobody can judge it", unjudged, play("go"), &Options{MaxTurns: 1}},
		{"no finisher", "", "it cannot tell", walk(nil, acts, "a", "go", "a"),
			func(int) (Player, error) { return &script{names: []string{"go"}}, nil }, &Options{MaxTurns: 1}},
		{"never played", "", "no turn", walk(nil, acts, "a", "a"),
			func(int) (Player, error) {
				return agent(t, guess{tok.Vocab()}, tok, nil).Follow(&scripted{names: []string{"stop"}}), nil
			}, nil},
	}
	for _, tt := range tests {
		es, err := Collect(t.Context(), tt.w, nil, tt.player, []envharness.Task{{ID: "x"}}, tt.o)
		if err != nil || tt.reason == "" {
			t.Fatal(tt.name, err)
		}
		if got := tok.Decode(nil, es[0].Final); got != tt.want {
			t.Errorf("%s: %q, want %q: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}

// scripted is a teacher of named actions; "stop", "bad" and "fail" are errors.
type scripted struct{ names []string }

func (s *scripted) Act(_ context.Context, t envharness.Turn) (envharness.Action, error) {
	name := s.names[min(t.Index, len(s.names)-1)]
	switch name {
	case "stop":
		return envharness.Action{}, envharness.ErrStop
	case "bad":
		return envharness.Action{}, envharness.ErrBadAction
	case "fail":
		return envharness.Action{}, errors.New("lost")
	}
	name, args, _ := strings.Cut(name, " ")
	a := envharness.Action{Name: name}
	if args != "" {
		a.Args = json.RawMessage(args)
	}
	return a, nil
}

// With candidates every response is an admissible action, at any temperature, and the lists are what could have been drawn.
func TestCandidates(t *testing.T) {
	tok := tokenizer(t, &TokenizerOptions{Slots: 2}, "at go to the door now win long")
	admissible := []envharness.Action{
		{Name: "go"}, {Name: "go", Args: json.RawMessage(`{"x":"to zoe"}`)}, {Name: "go", Args: json.RawMessage(`{"x":"to","y":"max"}`)},
		{Name: "go", Args: json.RawMessage(`{"x":"to max"}`)}, {Name: "win"}, {Name: "long", Args: json.RawMessage(`{"x":"long long long long"}`)},
	}
	w := walk(nil, admissible, "at zoe", "at", "at")
	for _, temperature := range []float64{0, 1} {
		counts := make([]int, len(admissible))
		for seed := range uint64(200) {
			a := agent(t, hashed{vocab: tok.Vocab()}, tok, &AgentOptions{Candidates: true, MaxResponse: 4, Temperature: &temperature})
			es, err := Collect(t.Context(), w, nil, playing(a, seed), []envharness.Task{{}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for k, turn := range es[0].Trajectory.Turns {
				i := slices.IndexFunc(admissible, func(b envharness.Action) bool { return same(b, *es[0].Trace.Turns[k].Proposed) })
				counts[i]++
				var response []int
				for _, tk := range turn.Tokens {
					if tk.Trainable {
						response = append(response, tk.ID)
					}
				}
				slot := 9 + len(tok.Words())
				g, to := tok.Encode(nil, nil, "go")[0], tok.Encode(nil, nil, "to")[0]
				win := tok.Encode(nil, nil, "win")[0]
				all := [][]int{{g, EndAct}, {g, to, slot, EndAct}, {g, to, slot + 1, EndAct}, {g, to, slot + 1, EndAct}, {win, EndAct}}
				if !slices.Equal(response, all[i]) {
					t.Errorf("action %d reads %v, want %v", i, response, all[i])
				}
				for j := range response {
					if want := slowNext(all, 4, response[:j]); !slices.Equal(turn.Allowed[j], want) {
						t.Errorf("token %d of %v could be %v, want %v", j, response, turn.Allowed[j], want)
					}
				}
			}
		}
		if counts[3] != 0 || counts[5] != 0 {
			t.Errorf("%v: an action that reads like another, or is too long, was taken", counts)
		}
		if temperature == 1 && slices.Min([]int{counts[0], counts[1], counts[2], counts[4]}) == 0 {
			t.Errorf("%v: some action is never taken", counts)
		}
	}
}

// What ends an episode, and what only uses up a turn.
func TestAgentFailures(t *testing.T) {
	tok := tokenizer(t, nil, "a go win")
	some := walk(nil, actions("go", "win"), "a", "a", "a")
	none := walk(nil, nil, "a", "a", "a")
	boom := errors.New("boom")
	end := []int{EndAct}
	tests := []struct {
		name   string
		w      envharness.World
		m      rl.Sampler
		o      AgentOptions
		end    envharness.EndReason
		turns  int
		cause  string
		reason string
	}{
		{"model", some, broken{err: boom}, AgentOptions{}, envharness.EndPolicyInfra, 0, "boom", "the model failed, which says nothing of the policy"},
		{"silent", some, broken{}, AgentOptions{}, envharness.EndPolicyInfra, 0, "0 tokens", "no response has no token"},
		{"talkative", some, broken{response: make([]int, 17)}, AgentOptions{}, envharness.EndPolicyInfra, 0, "17 tokens", "the limit was asked for"},
		{"not allowed", some, broken{response: end}, AgentOptions{Candidates: true}, envharness.EndPolicyInfra, 0, "not among",
			"the tokens were asked for"},
		{"unfinished", some, broken{response: []int{10}}, AgentOptions{Candidates: true}, envharness.EndPolicyInfra, 0, "not among",
			"part of a candidate"},
		{"nothing admissible", none, broken{response: end}, AgentOptions{Candidates: true}, envharness.EndAgentError, 0, "no admissible",
			"nothing to choose from"},
		{"nothing to compare", none, broken{response: end}, AgentOptions{}, envharness.EndAgentError, 0, "Parse", "nothing can be read"},
		{"too long", walk(nil, []envharness.Action{{Name: "go", Args: json.RawMessage(`{"a":"a a"}`)}}, "a", "a"), broken{response: end},
			AgentOptions{Candidates: true, MaxResponse: 3}, envharness.EndAgentError, 0, "MaxResponse", "nothing to choose from that fits"},
		{"empty", some, broken{response: end}, AgentOptions{}, envharness.EndMaxTurns, 3, "", "an action without words is none, and uses up a turn"},
		{"marks", some, broken{response: []int{BOS, Unk, 999, -4, EndAct}}, AgentOptions{}, envharness.EndMaxTurns, 3, "",
			"neither are ids without words"},
		{"no end", some, broken{response: []int{10}}, AgentOptions{}, envharness.EndMaxTurns, 3, "", "nor is a response that does not end"},
		{"parsed", none, broken{response: []int{9, EndAct}}, AgentOptions{Parse: func(s string, turn envharness.Turn) (envharness.Action, error) {
			return envharness.Action{Name: s + fmt.Sprint(turn.Index)}, nil
		}}, envharness.EndTerminated, 2, "", "an own parser needs no list"},
		{"bad", none, broken{response: []int{9, EndAct}}, AgentOptions{Parse: func(string, envharness.Turn) (envharness.Action, error) {
			return envharness.Action{}, fmt.Errorf("%w: what", envharness.ErrBadAction)
		}}, envharness.EndMaxTurns, 3, "", "the parser says that it is no action"},
		{"parser fails", none, broken{response: []int{9, EndAct}}, AgentOptions{Parse: func(string, envharness.Turn) (envharness.Action, error) {
			return envharness.Action{}, boom
		}}, envharness.EndAgentError, 0, "boom", "any other error ends the episode"},
		{"parser's service", none, broken{response: []int{9, EndAct}}, AgentOptions{Parse: func(string, envharness.Turn) (envharness.Action, error) {
			return envharness.Action{}, fmt.Errorf("%w: %w", envharness.ErrInfra, envharness.ErrBadAction)
		}}, envharness.EndPolicyInfra, 0, "", "a failure of a service first of all"},
		{"parser stops", none, broken{response: []int{9, EndAct}}, AgentOptions{Parse: func(string, envharness.Turn) (envharness.Action, error) {
			return envharness.Action{}, envharness.ErrStop
		}}, envharness.EndAgentStop, 0, "", "an agent may give up"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			a := agent(t, tt.m, tok, &tt.o)
			es, err := Collect(t.Context(), tt.w, nil, playing(a, 1), []envharness.Task{{ID: "x"}}, &Options{MaxTurns: 3})
			if err != nil {
				t.Fatal(err)
			}
			e := es[0]
			if e.Trace.End != tt.end || len(e.Trajectory.Turns) != tt.turns || !strings.Contains(e.Trace.Cause, tt.cause) {
				t.Errorf("%s: end %s after %d turns, %q; want %s after %d, %q",
					tt.reason, e.Trace.End, len(e.Trajectory.Turns), e.Trace.Cause, tt.end, tt.turns, tt.cause)
			}
			if tt.end == envharness.EndMaxTurns {
				for _, turn := range e.Trajectory.Turns {
					if !turn.Invalid || !turn.Tokens[len(turn.Tokens)-1].Trainable {
						t.Errorf("%s: turn %+v, want an invalid one with its tokens", tt.reason, turn)
					}
				}
			}
			if err := rl.Validate(Trajectories(es)); err != nil && tt.turns > 0 {
				t.Error(err)
			}
		})
	}
}

// A teacher's actions are noted where the agent could have taken them.
func TestFollow(t *testing.T) {
	tok := tokenizer(t, nil, "a go win far")
	upper := func(s string, _ envharness.Turn) (envharness.Action, error) {
		return envharness.Action{Name: strings.ToUpper(s)}, nil
	}
	admissible := []envharness.Action{
		{Name: "go", Args: json.RawMessage(`{"to":"far","n":1}`)}, {Name: "win"}, {Name: "go", Args: json.RawMessage(`{"n":"1","to":"far"}`)},
		{Name: "zoe"}, {Name: "max"}, {Name: "go", Args: json.RawMessage(`{"x":"a a a"}`)},
	}
	tests := []struct {
		name   string
		script string // actions apart by ;
		o      AgentOptions
		want   string // the responses apart by ;, or the cause after a !
		reason string
	}{
		{"follows", `go {"to":"far","n":1};win`, AgentOptions{}, "go <unk> far <end>;win <end>", "an unknown word that only one action has"},
		{"candidates", `go { "n":1, "to":"far"};win`, AgentOptions{Candidates: true}, "go <unk> far <end>;win <end>", "arguments are compared as JSON"},
		{"reads like another", `go {"to":"far","n":"1"}`, AgentOptions{}, `!is read back as go {"to":"far","n":1}`,
			"the first that reads so is another one"},
		{"unknown words", "max", AgentOptions{}, "!unknown words", "two actions read alike for want of words"},
		{"not admissible", "far", AgentOptions{}, "!is not admissible", "not in the list"},
		{"candidates, not admissible", "far", AgentOptions{Candidates: true}, "!is not admissible", "not in the list"},
		{"too long", `go {"x":"a a a"}`, AgentOptions{MaxResponse: 4}, "!takes 5 tokens", "there is no room for the end"},
		{"candidates, too long", `go {"x":"a a a"}`, AgentOptions{MaxResponse: 4, Candidates: true}, "!takes 5 tokens", "it cannot be chosen"},
		{"parser", "FAR", AgentOptions{Parse: upper}, "far <end>;far <end>", "an own parser reads it back"},
		{"parser, other", "far", AgentOptions{Parse: upper}, "!is read back as FAR", "or as another one"},
		{"parser, unknown", "ZOE", AgentOptions{Parse: upper}, "!unknown words", "or not at all"},
		{"bad", "bad", AgentOptions{}, "!the teacher", "what a teacher cannot read has no words"},
		{"fails", "fail", AgentOptions{}, "!lost", "its errors are its own"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			a := agent(t, guess{tok.Vocab()}, tok, &tt.o)
			es, err := Collect(t.Context(), walk(nil, admissible, "a", "a", "a"), nil, func(int) (Player, error) {
				return a.Follow(&scripted{strings.Split(tt.script, ";")}), nil
			}, []envharness.Task{{ID: "x"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if part, bad := strings.CutPrefix(tt.want, "!"); bad {
				if es[0].Trace.End != envharness.EndAgentError || !strings.Contains(es[0].Trace.Cause, part) {
					t.Errorf("%s: %s, %q, want %q", tt.reason, es[0].Trace.End, es[0].Trace.Cause, part)
				}
				return
			}
			var got []string
			for _, turn := range es[0].Trajectory.Turns {
				var response []int
				for _, tk := range turn.Tokens {
					if tk.Trainable {
						response = append(response, tk.ID)
					}
				}
				got = append(got, tok.Decode(nil, response))
				if tt.o.Candidates != (turn.Allowed != nil) || turn.Allowed != nil && len(turn.Allowed) != len(response) {
					t.Errorf("%d tokens, %d lists", len(response), len(turn.Allowed))
				}
			}
			if s := strings.Join(got, ";"); s != tt.want {
				t.Errorf("%s: %q, %s, want %q", tt.reason, s, es[0].Trace.Cause, tt.want)
			}
		})
	}
}

// A player who follows another of the same agent notes exactly what that one noted.
func TestFollowPlay(t *testing.T) {
	for name, w := range smallWorlds() {
		tok, err := WorldTokenizer(t.Context(), w, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, candidates := range []bool{false, true} {
			o := &AgentOptions{Candidates: candidates}
			a := agent(t, hashed{vocab: tok.Vocab()}, tok, &AgentOptions{Candidates: true})
			b := agent(t, hashed{vocab: tok.Vocab()}, tok, o)
			tasks := tasksOf(t, w, 6)
			teacher := func(slot int) envharness.Policy { return a.Play(envharness.RandStream(7, "agent", uint64(slot))) }
			played, err := Collect(t.Context(), w, nil, func(slot int) (Player, error) { return teacher(slot).(Player), nil }, tasks, nil)
			if err != nil {
				t.Fatal(err)
			}
			followed, err := Collect(t.Context(), w, nil, func(slot int) (Player, error) { return b.Follow(teacher(slot)), nil }, tasks, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range played {
				if !candidates {
					for k := range played[i].Trajectory.Turns {
						played[i].Trajectory.Turns[k].Allowed = nil
					}
				}
				if !reflect.DeepEqual(played[i].Trajectory, followed[i].Trajectory) || !slices.Equal(played[i].Final, followed[i].Final) {
					t.Fatalf("%s, episode %d (-played +followed):\n%s", name, i, cmp.Diff(played[i].Trajectory, followed[i].Trajectory))
				}
			}
		}
	}
}

// The same episodes come out whatever runs at the same time, and a player begins each episode afresh.
func TestAgentDeterminism(t *testing.T) {
	w := smallWorlds()["tooldesk"]
	tok, err := WorldTokenizer(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, candidates := range []bool{false, true} {
		a := agent(t, hashed{vocab: tok.Vocab()}, tok, &AgentOptions{Candidates: candidates})
		tasks := Repeat(tasksOf(t, w, 8), 3)
		collect := func(parallel int) []Episode {
			es, err := Collect(t.Context(), w, nil, playing(a, 3), tasks,
				&Options{Parallel: parallel, GroupSize: 3})
			if err != nil {
				t.Fatal(err)
			}
			return es
		}
		one, eight := collect(1), collect(8)
		if !reflect.DeepEqual(one, eight) { // far quicker than cmp
			t.Error("1 and 8 at once differ")
		}
		if reflect.DeepEqual(one[0].Trajectory.Turns, one[1].Trajectory.Turns) {
			t.Error("two streams of draws give the same episode")
		}
	}
}

// A player who plays again plays as a new one would, whatever was named before.
func TestPlayerAgain(t *testing.T) {
	w := tooldesk.World(nil)
	tok := tokenizer(t, &TokenizerOptions{Slots: 50}, "order customer find get refund submit e mail o c")
	a := agent(t, hashed{vocab: tok.Vocab()}, tok, &AgentOptions{Candidates: true, Temperature: new(0.0)})
	collect := func(p Player, tasks []envharness.Task) rl.Trajectory {
		es, err := Collect(t.Context(), w, nil, func(int) (Player, error) { return p, nil }, tasks, &Options{MaxTurns: 4})
		if err != nil {
			t.Fatal(err)
		}
		return es[0].Trajectory
	}
	tasks := tasksOf(t, w, 2)
	p := a.Play(nil)
	first, again, fresh := collect(p, tasks[:1]), collect(p, tasks[1:]), collect(a.Play(nil), tasks[1:])
	if !reflect.DeepEqual(again, fresh) || reflect.DeepEqual(first.Turns, again.Turns) {
		t.Errorf("the second episode is %+v, want %+v", again, fresh)
	}
	follower := agent(t, hashed{vocab: tok.Vocab()}, tok, &AgentOptions{Candidates: true}).Follow(&scripted{names: []string{"zoe"}})
	for i, shown := range []string{"max zoe", "zoe max"} {
		turn := envharness.Turn{Shown: envharness.Observation{Text: shown, Actions: actions("zoe")}}
		if _, err := follower.Act(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
		turns := follower.Turns()
		said := turns[0].Tokens[len(turns[0].Tokens)-2].ID - 9 - len(tok.Words())
		if len(turns) != 1 || said != 1-i {
			t.Errorf("%s: %d turns, zoe is slot %d, want %d", shown, len(turns), said, 1-i)
		}
	}
}

// A word that is not shown has no name yet, and has one as soon as it is; an action of the agent's own is not shown.
func TestLateNames(t *testing.T) {
	tok := tokenizer(t, &TokenizerOptions{Slots: 1}, "a")
	slot := 9 + len(tok.Words())
	m := &says{tok: tok, n: new(int), lines: [][]int{{9, EndAct}, {slot, EndAct}}}
	es, err := Collect(t.Context(), walk(nil, actions("a", "zoe"), "a", "a zoe", "a"), nil, func(int) (Player, error) {
		return agent(t, m, tok, nil).Play(nil), nil
	}, []envharness.Task{{}}, nil)
	if err != nil || len(es[0].Trace.Turns) != 2 || es[0].Trace.Turns[1].Proposed == nil || es[0].Trace.Turns[1].Proposed.Name != "zoe" {
		t.Errorf("%+v, %v, want zoe in the second turn", es, err)
	}

	own := func(string, envharness.Turn) (envharness.Action, error) { return envharness.Action{Name: "max"}, nil }
	m = &says{tok: tok, n: new(int), lines: [][]int{{9, EndAct}}}
	es, err = Collect(t.Context(), walk(nil, nil, "a", "a zoe", "a"), nil, func(int) (Player, error) {
		return agent(t, m, tok, &AgentOptions{Parse: own}).Play(nil), nil
	}, []envharness.Task{{}}, &Options{MaxTurns: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tok.Decode(nil, es[0].Final), "<bos> a <sep> <act> <unk> <end> <sep> a <slot0> <act>"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An agent may be shared by many goroutines.
func TestAgentConcurrency(t *testing.T) {
	w := smallWorlds()["keydoor"]
	tok, err := WorldTokenizer(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := agent(t, hashed{vocab: tok.Vocab()}, tok, &AgentOptions{Candidates: true})
	tasks := tasksOf(t, w, 3)
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			if _, err := Collect(t.Context(), w, nil, func(slot int) (Player, error) {
				return a.Play(envharness.RandStream(uint64(g), "agent", uint64(slot))), nil
			},
				tasks, &Options{Parallel: 2}); err != nil {
				t.Error(err)
			}
			if _, err := Demonstrations(t.Context(), w, a, tasks, &Options{Parallel: 2}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// A cancelled call returns the context's error.
func TestAgentCanceled(t *testing.T) {
	tok := tokenizer(t, nil, "a go")
	ctx, cancel := context.WithCancel(t.Context())
	m := cancels{cancel}
	es, err := Collect(ctx, walk(nil, actions("go"), "a", "a"), nil, playing(agent(t, m, tok, nil), 1), []envharness.Task{{}}, nil)
	if es != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", es, err)
	}
}

type cancels struct{ cancel func() }

func (c cancels) Sample(ctx context.Context, _, _ []int, _ rl.SampleOptions) ([]int, error) {
	c.cancel()
	<-ctx.Done()
	return nil, ctx.Err()
}

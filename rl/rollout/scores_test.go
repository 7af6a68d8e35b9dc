package rollout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/rl"
)

// The scores of a recorded episode are those of the contexts that its player noted, one call for each turn; among candidates they are a
// distribution, and that which was sampled from.
func TestScores(t *testing.T) {
	worlds := smallWorlds()
	worlds["tooldesk names"] = tooldesk.World(nil)
	for name, w := range worlds {
		tok, err := WorldTokenizer(t.Context(), w, nil)
		if err != nil {
			tok = tokenizer(t, &TokenizerOptions{Slots: 30}, "order customer find get refund submit e mail")
		}
		for _, candidates := range []bool{false, true} {
			var batches [][]rl.Sequence
			var logps [][][]float64
			m := hashed{vocab: tok.Vocab(), seen: func(batch []rl.Sequence, logp [][]float64) {
				batches, logps = append(batches, batch), append(logps, logp)
			}}
			a := agent(t, m, tok, &AgentOptions{Candidates: candidates, History: new(1), MaxResponse: 8})
			es, err := Collect(t.Context(), w, nil, playing(a, 2), tasksOf(t, w, 2),
				&Options{MaxTurns: 4})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range es {
				batches, logps = nil, nil
				scores, err := a.Scores(t.Context(), m, e.Trace)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(e.Trajectory.Turns); len(scores) != n || len(batches) != n {
					t.Fatalf("%s: scores of %d turns in %d calls, want %d", name, len(scores), len(batches), n)
				}
				for k, s := range rl.Sequences(nil, []rl.Trajectory{e.Trajectory}) {
					shown := e.Trace.Shown.Actions
					if k > 0 {
						shown = e.Trace.Turns[k-1].Shown.Observation.Actions
					}
					distinct, total := map[string]float64{}, 0.0
					for i, b := range batches[k] {
						if !slices.Equal(b.Tokens[:b.Start], s.Tokens[:s.Start]) {
							t.Fatalf("%s, turn %d: in the context %s, noted %s", name, k, tok.Decode(nil, b.Tokens[:b.Start]), tok.Decode(nil, s.Tokens[:s.Start]))
						}
						sum := 0.0
						for _, l := range logps[k][i] {
							sum += l
						}
						distinct[fmt.Sprint(b.Tokens[b.Start:])] = sum
						total += math.Exp(sum)
					}
					if len(distinct) != len(batches[k]) || len(scores[k]) != len(shown) || candidates && math.Abs(total-1) > 1e-12 {
						t.Errorf("%s, turn %d: %d of %d sequences differ, %d scores of %d actions, of probability %v",
							name, k, len(distinct), len(batches[k]), len(scores[k]), len(shown), total)
					}
					names := NewNames() // those of the slots do not matter: which action is which is told by the sequence
					for i, l := range scores[k] {
						want, ok := distinct[fmt.Sprint(append(tok.Encode(nil, names, shown[i].Text()), EndAct))]
						if tok.Vocab() == 9+len(tok.Words()) && (ok && l != want || !ok && !math.IsInf(l, -1)) {
							t.Errorf("%s, turn %d: %s has score %v, want %v", name, k, shown[i], l, want)
						}
					}
					if !candidates {
						continue
					}
					at := slices.IndexFunc(shown, func(b envharness.Action) bool { return same(b, *e.Trace.Turns[k].Proposed) })
					if want := distinct[fmt.Sprint(s.Tokens[s.Start:])]; scores[k][at] != want {
						t.Errorf("%s, turn %d: the action taken has score %v, want %v", name, k, scores[k][at], want)
					}
					i := slices.IndexFunc(batches[k], func(b rl.Sequence) bool { return slices.Equal(b.Tokens, s.Tokens) })
					if !slices.EqualFunc(batches[k][i].Allowed, s.Allowed, slices.Equal) {
						t.Errorf("%s, turn %d: among %v, noted %v", name, k, batches[k][i].Allowed, s.Allowed)
					}
				}
			}
		}
	}
}

// What reads alike scores alike, what does not fit cannot be said, and a turn without actions has no scores.
func TestScoresEdges(t *testing.T) {
	tok := tokenizer(t, nil, "a go win")
	shown := func(names ...string) envharness.Observation {
		return envharness.Observation{Text: "a", Actions: actions(names...)}
	}
	trace := envharness.Trace{Shown: shown("go", "GO", "a a a", "win"), Turns: []envharness.TurnTrace{
		{Proposed: &envharness.Action{Name: "go"}, Shown: envharness.Transition{Observation: shown()}},
		{Shown: envharness.Transition{Observation: shown("a a a"), Error: &envharness.ActionError{Class: "bad_args"}}},
		{Shown: envharness.Transition{Observation: shown("go"), Error: &envharness.ActionError{Class: "bad_args"}}},
		{Said: "I give up", Tokens: 4},
	}, Verdict: envharness.Verdict{Status: envharness.Fail}}
	for _, candidates := range []bool{false, true} {
		a := agent(t, guess{tok.Vocab()}, tok, &AgentOptions{Candidates: candidates, MaxResponse: 3})
		got, err := a.Scores(t.Context(), hashed{vocab: tok.Vocab()}, trace)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 || len(got[1]) != 0 || !math.IsInf(got[2][0], -1) {
			t.Fatalf("%v", got)
		}
		if s := got[0]; s[0] != s[1] || !math.IsInf(s[2], -1) || s[3] == s[0] || s[3] > 0 {
			t.Errorf("%v", s)
		}
	}
	a := agent(t, guess{tok.Vocab()}, tok, nil)
	if _, err := a.Scores(t.Context(), nil, trace); err == nil {
		t.Error("no model was accepted")
	}
	if _, err := a.Scores(t.Context(), lame{err: errors.New("boom")}, trace); err == nil || !strings.Contains(err.Error(), "turn 0: boom") {
		t.Errorf("a model that fails: %v", err)
	}
	if _, err := a.Scores(t.Context(), lame{}, trace); err == nil || !strings.Contains(err.Error(), "0 of 3") {
		t.Errorf("a model that gives too little: %v", err)
	}
}

// lame gives nothing.
type lame struct {
	hashed
	err error
}

func (l lame) LogProbs(context.Context, []rl.Sequence) ([][]float64, error) { return nil, l.err }

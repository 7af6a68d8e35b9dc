package envtest

import (
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// An episode is equal to itself, and any one change of what the policy or the base went through is found.
func TestEpisodesDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "turns")
		a, b := someEpisode(n), someEpisode(n)
		if err := differ(a, b); err != nil {
			t.Fatalf("equal episodes: %v", err)
		}
		i := rapid.IntRange(0, n-1).Draw(t, "turn")
		what := rapid.SampledFrom(changes).Draw(t, "change")
		what.change(&b, i)
		if differ(a, b) == nil || differ(b, a) == nil {
			t.Fatalf("%s is not found", what.name)
		}
	})
}

func someEpisode(turns int) played {
	var p played
	p.Shown = envharness.Observation{Text: "first", Data: map[string]any{"n": 0.0}}
	p.Verdict, p.End = envharness.Verdict{Status: envharness.Fail, Parts: map[string]float64{"a": 0.5}}, envharness.EndMaxTurns
	for i := range turns {
		a := envharness.Action{Name: "act", Args: json.RawMessage(fmt.Sprint(i))}
		raw := envharness.Transition{Observation: envharness.Observation{Text: "raw"}, Info: map[string]any{"i": float64(i)}}
		p.Turns = append(p.Turns, envharness.TurnTrace{Proposed: &a, Applied: new(a), Raw: &raw, Shown: raw})
		p.seen = append(p.seen, envharness.Turn{Tools: []envharness.Tool{{Name: "act"}}, Left: turns - i})
	}
	return p
}

var changes = []struct {
	name   string
	change func(p *played, i int)
}{
	{"the first text", func(p *played, _ int) { p.Shown.Text = "" }},
	{"the first data", func(p *played, _ int) { p.Shown.Data["n"] = 1.0 }},
	{"a proposed action", func(p *played, i int) { p.Turns[i].Proposed = new(envharness.Action) }},
	{"an applied action", func(p *played, i int) { p.Turns[i].Applied.Args = nil }},
	{"no applied action", func(p *played, i int) { p.Turns[i].Applied = nil }},
	{"a raw result", func(p *played, i int) { p.Turns[i].Raw.Reward = 1 }},
	{"a shown text", func(p *played, i int) { p.Turns[i].Shown.Observation.Text = "" }},
	{"a shown flag", func(p *played, i int) { p.Turns[i].Shown.Truncated = true }},
	{"a shown refusal", func(p *played, i int) { p.Turns[i].Shown.Error = new(envharness.ActionError) }},
	{"the tools", func(p *played, i int) { p.seen[i].Tools[0].Description = "new" }},
	{"the turns left", func(p *played, i int) { p.seen[i].Left++ }},
	{"the number of turns", func(p *played, i int) { p.Turns = p.Turns[:i] }},
	{"the end", func(p *played, _ int) { p.End = envharness.EndAgentStop }},
	{"the cause", func(p *played, _ int) { p.Cause = "late" }},
	{"the verdict", func(p *played, _ int) { p.Verdict.Parts["a"] = 1 }},
}

// Worked example 11 of the rule for streams.
func TestLegSeed(t *testing.T) {
	if got := legSeed(42, 1); got != 5074170275580830939 {
		t.Errorf("seed of leg 1 is %d", got)
	}
}

// What a chain may do wrong that no component and no player of episodes can bring about.
func TestChainIsSound(t *testing.T) {
	fail, pass := envharness.Verdict{Status: envharness.Fail}, envharness.Verdict{Status: envharness.Pass}
	for _, tt := range []struct {
		name   string
		change func(ep *played, legs []chainLeg)
		want   bool
		reason string
	}{
		{"sound", func(*played, []chainLeg) {}, true, "pass and fail is fail"},
		{"both pass", func(ep *played, legs []chainLeg) {
			legs[1].verdicts[0], ep.Verdict = pass, pass
		}, true, "pass and pass is pass"},
		{"any passes", func(ep *played, _ []chainLeg) { ep.Verdict = pass }, false, "one leg failed"},
		{"not reached", func(ep *played, legs []chainLeg) {
			legs[1].verdicts, legs[1].book.seeds = nil, nil
		}, true, "a leg that was not begun fails"},
		{"judged twice", func(_ *played, legs []chainLeg) { legs[0].verdicts = append(legs[0].verdicts, pass) }, false, "once is the rule"},
		{"not judged", func(_ *played, legs []chainLeg) { legs[0].verdicts = nil }, false, "the next leg was begun"},
		{"same seed", func(ep *played, legs []chainLeg) { legs[1].book.seeds = legs[0].book.seeds }, false, "each leg has its own"},
		{"reset twice", func(_ *played, legs []chainLeg) {
			legs[0].book.seeds = append(legs[0].book.seeds, legs[0].book.seeds[0])
		}, false, "a leg is begun once"},
		{"left open", func(_ *played, legs []chainLeg) { legs[1].book.closed = 0 }, false, "all legs are closed"},
	} {
		ep := played{Trace: envharness.Trace{Seed: 42, Verdict: fail}}
		legs := make([]chainLeg, 2)
		for i, v := range []envharness.Verdict{pass, fail} {
			legs[i].verdicts = []envharness.Verdict{v}
			legs[i].book = ledger{opened: 1, closed: 1, seeds: []uint64{legSeed(42, i)}}
		}
		tt.change(&ep, legs)
		if err := chainIsSound(ep, legs); (err == nil) != tt.want || tt.reason == "" {
			t.Errorf("%s: %v, want sound %v (%s)", tt.name, err, tt.want, tt.reason)
		}
	}
}

// Wherever text is cut by bytes, one of the odd observations shows it.
func TestOdditiesShowCuts(t *testing.T) {
	whole := envharness.Observation{Text: "text", Data: map[string]any{"a": []any{"b", 1.0}}}
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.IntRange(3, 1<<10).Draw(t, "cut")
		inText, inData := false, false
		for _, odd := range oddities() {
			o := whole
			odd.change(&o)
			if !readable(o) {
				t.Fatalf("%s is no observation", odd.what)
			}
			if len(o.Text) > cut {
				inText = inText || !utf8.ValidString(o.Text[:cut])
				item := o.Data["a"].([]any)[0].(string)
				inData = inData || !utf8.ValidString(item[:cut])
			}
		}
		if !inText || !inData {
			t.Fatalf("a cut after %d bytes: seen in the text %v, in the data %v", cut, inText, inData)
		}
	})
}

// Bytes that are no UTF-8 are found wherever they stand.
func TestReadable(t *testing.T) {
	bad := "\xe2\x80"
	for _, tt := range []struct {
		name string
		o    envharness.Observation
		want bool
	}{
		{"plain", envharness.Observation{Text: "–", Data: map[string]any{"–": []any{"–", 1.0, nil}}}, true},
		{"text", envharness.Observation{Text: bad}, false},
		{"key", envharness.Observation{Data: map[string]any{bad: 1.0}}, false},
		{"item", envharness.Observation{Data: map[string]any{"a": []any{"–", bad}}}, false},
		{"below", envharness.Observation{Data: map[string]any{"a": map[string]any{"b": bad}}}, false},
	} {
		if got := readable(tt.o); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

package envharness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

func chainOf(t testing.TB, o *eh.LinkOptions, legs ...eh.Leg) eh.World {
	t.Helper()
	w, err := eh.Link(legs, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// toyLeg multiplies to 24 with one combine and a stop.
func toyLeg() eh.Leg { return eh.Leg{World: toyWorld(nil, nil)} }

func TestLink(t *testing.T) {
	good := []eh.Action{combine(0, 1, "mul"), stop}
	bad := []eh.Action{stop}
	tests := []struct {
		name    string
		legs    []eh.Leg
		o       *eh.LinkOptions
		actions [][]eh.Action
		end     eh.EndReason
		status  eh.Status
		score   float64
		turns   int
		reason  string
	}{
		{"both pass", []eh.Leg{toyLeg(), toyLeg()}, nil, [][]eh.Action{good, good}, eh.EndTerminated, eh.Pass, 1, 4, "worked example 8"},
		{"second fails", []eh.Leg{toyLeg(), toyLeg()}, nil, [][]eh.Action{good, bad}, eh.EndTerminated, eh.Fail, .5, 3, "worked example 8"},
		{"first fails", []eh.Leg{toyLeg(), toyLeg()}, nil, [][]eh.Action{bad, good}, eh.EndTerminated, eh.Fail, .5, 3, "a failed leg does not stop the chain"},
		{"stop on fail", []eh.Leg{toyLeg(), toyLeg()}, &eh.LinkOptions{StopOnFail: true}, [][]eh.Action{bad}, eh.EndTerminated, eh.Fail, 0, 1, "unless it is asked to"},
		{"budget", []eh.Leg{toyLeg(), toyLeg(), toyLeg()}, &eh.LinkOptions{MaxTurns: 3}, [][]eh.Action{good, good}, eh.EndMaxTurns, eh.Fail, 1. / 3, 3, "legs not reached count 0"},
	}
	for _, tt := range tests {
		var script []eh.Action
		for _, a := range tt.actions {
			script = append(script, a...)
		}
		traces, err := eh.Rollouts(t.Context(), chainOf(t, tt.o, tt.legs...), nil, func(int) (eh.Policy, error) { return scripted(script), nil }, []eh.Task{{}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := traces[0]
		if got.End != tt.end || got.Verdict.Status != tt.status || got.Verdict.Score != tt.score || len(got.Turns) != tt.turns || got.Verdict.Unreplayed {
			t.Errorf("%s: end %s, verdict %+v, %d turns, cause %q (%s)", tt.name, got.End, got.Verdict, len(got.Turns), got.Cause, tt.reason)
		}
	}
}

func scripted(actions []eh.Action) eh.Policy { return script(actions...) }

func TestLinkHandOff(t *testing.T) {
	first := toyLeg()
	first.Task = "[4,6]"
	second := toyLeg()
	second.Task = "[3,8]"
	h := mustNew(t, chainOf(t, &eh.LinkOptions{Carry: new(3)}, first, second))
	mustReset(t, h)
	tr := mustStep(t, h, combine(0, 1, "mul"))
	if tr.Info["leg"] != 0.0 {
		t.Errorf("leg %v", tr.Info["leg"])
	}
	tr = mustStep(t, h, stop)
	want := eh.Transition{
		Observation: eh.Observation{Text: "[switched to new task]\n\n 24\n\nnumbers 3 8", Data: map[string]any{"numbers": []any{3.0, 8.0}}},
		Info:        map[string]any{"leg": 1.0},
	}
	if d := cmp.Diff(want, tr); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	e := mustEvidence(t, h)
	var st struct {
		Leg  int
		Legs []struct {
			Verdict  *eh.Verdict
			Evidence *eh.Evidence
		}
	}
	if err := json.Unmarshal(e.End, &st); err != nil || st.Leg != 1 || st.Legs[0].Verdict.Status != eh.Pass {
		t.Errorf("%s: %v", e.End, err)
	}
}

// Worked example 11, and case 11 of 7.1: the same seed gives the same legs.
func TestLinkSeeds(t *testing.T) {
	var seeds []string
	w := toyWorld(nil, nil)
	leg := eh.Leg{World: seedRecorder(w, &seeds)}
	h := mustNew(t, chainOf(t, nil, leg, leg))
	for range 6 {
		if _, err := h.Reset(t.Context(), eh.ResetOptions{Seed: new(uint64(42))}); err != nil {
			t.Fatal(err)
		}
		mustStep(t, h, stop)
	}
	if got := strings.Join(seeds, " "); got != strings.TrimSpace(strings.Repeat(seeds[0]+" 5074170275580830939 ", 6)) {
		t.Error(got)
	}
}

// seedRecorder notes the seed of every reset.
func seedRecorder(w eh.World, seeds *[]string) eh.World {
	mk := w.New
	w.New = func(ctx context.Context) (eh.Environment, error) {
		env, err := mk(ctx)
		return &seedNoter{env.(*toy), seeds}, err
	}
	return w
}

type seedNoter struct {
	*toy
	seeds *[]string
}

func (s *seedNoter) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	*s.seeds = append(*s.seeds, fmt.Sprint(*o.Seed))
	return s.toy.Reset(ctx, o)
}

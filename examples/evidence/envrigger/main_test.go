package main

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// A small run prints what it promises, and the same each time.
func TestJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("all parts, twice")
	}
	some := size{candidates: 12, truth: 40, episodes: 5, tasks: 1}
	var out [2]bytes.Buffer
	for i := range out {
		e, err := run(t.Context(), some, true, "", func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.write(&out[i], true); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
		t.Error("two runs print different numbers")
	}
	var got struct {
		Gate      map[string]any
		Hostile   []map[string]any
		Detectors map[string]any
		Presets   map[string]any
		Designers map[string]map[string]any
	}
	if err := json.Unmarshal(out[0].Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string][]string{
		"gate":      {"attempts", "accepted", "false_accept_far", "false_accept_near", "unsolvable_accepted", "verdict_changed"},
		"detectors": {"planted", "found", "false_alarms"},
		"presets":   {"paper", "gated"},
		"designers": {"none", "random", "band", "genenv", "plr", "rigged"},
	} {
		keys := map[string]map[string]any{"gate": got.Gate, "detectors": got.Detectors, "presets": got.Presets}[part]
		for _, k := range want {
			_, ok := keys[k]
			if d := got.Designers[k]; part == "designers" {
				_, accepted := d["accepted"]
				_, cost := d["cost_rollouts"]
				ok = accepted && cost
			}
			if !ok {
				t.Errorf("%s has no %s", part, k)
			}
		}
	}
	if len(got.Hostile) < 7 {
		t.Errorf("%d hostile components", len(got.Hostile))
	}
}

// The candidates are at least as many as are asked for, on both sides of every bound that the claims are about.
func TestCandidates(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of plans")
	}
	all, err := candidates(t.Context(), full.candidates)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < full.candidates || full.candidates < 200 {
		t.Fatalf("%d candidates, want %d and at least 200", len(all), full.candidates)
	}
	var hopeless, below, above, band int
	for _, c := range all {
		switch {
		case c.unsolvable:
			hopeless++
		case c.want < .05:
			below++
		case c.want > .95:
			above++
		case c.want >= .25 && c.want <= .75:
			band++
		}
	}
	if min(hopeless, below, above, band) < 10 {
		t.Errorf("%d unsolvable, %d hardly passed, %d hardly failed, %d in the band", hopeless, below, above, band)
	}
}

func TestMean(t *testing.T) {
	got, err := mean([]float64{1, 0, 1, 0, -1, 0}, []int{4, 2})
	if err != nil || math.Abs(got.Mean-1.0/6) > 1e-12 || got.Low > got.Mean || got.High < got.Mean || got.Low == got.High {
		t.Errorf("%+v, %v: want a mean of 1/6 and an interval around it", got, err)
	}
}

// What is planted or comes with it is no false alarm; all else is, and what is missing is missed.
func TestNote(t *testing.T) {
	var d detectorsResult
	d.note("here", diagnosis.Loop, []diagnosis.ID{diagnosis.Loop, diagnosis.BudgetExhausted}, []diagnosis.ID{diagnosis.BudgetExhausted,
		diagnosis.NoRetry})
	d.clean("there", []diagnosis.ID{diagnosis.OverLong})
	want := detectorsResult{
		Planted: 1, FalseAlarms: 2, Checked: 2*flaws - 2, Clean: 1, CleanAlarms: 1, Missed: []string{"here"},
		Alarms: []string{"here: F04", "there: [F07]"},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A part that there is not is an error.
func TestParts(t *testing.T) {
	if _, err := run(t.Context(), quickly, true, "magic", func(string) {}); err == nil || !strings.Contains(err.Error(), "magic") {
		t.Errorf("%v: want the part named", err)
	}
	if !slices.IsSorted(rates) {
		t.Error("the rates are in no order")
	}
}

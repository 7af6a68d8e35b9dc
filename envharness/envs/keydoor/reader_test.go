package keydoor

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

var (
	doorsTold = regexp.MustCompile(`Doors ([^.]*)\.`)
	keysTold  = regexp.MustCompile(`Keys here: ([^.]*)\.`)
)

// reader acts by nothing but the text and the names of the listed actions, and remembers nothing: it picks up the keys that fit a door (in
// the full preset all do), opens the door of the room where that is listed, and goes on to the right.
func reader(shown envharness.Observation) string {
	doors := doorsTold.FindStringSubmatch(shown.Text)
	here := keysTold.FindStringSubmatch(shown.Text)[1]
	for key := range strings.SplitSeq(here, ", ") {
		if key != "none" && (doors == nil || slices.Contains(strings.Split(doors[1], ", "), key)) {
			return "pickup"
		}
	}
	if slices.ContainsFunc(shown.Actions, func(a envharness.Action) bool { return a.Name == "use" }) {
		return "use"
	}
	return "right"
}

// The text of either preset is all that is needed: who reads nothing else passes every task, in as many turns as the oracle.
func TestTextIsEnough(t *testing.T) {
	for _, o := range presets {
		env := New(o)
		for _, split := range splits {
			for _, task := range splitOf(t, o, split) {
				shown := reset(t, env, task.ID)
				plan, err := env.Plan(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for turn := 1; ; turn++ {
					got := step(t, env, reader(shown))
					if shown = got.Observation; got.Ended() {
						if got.Reward != 1 || turn != len(plan) {
							t.Fatalf("%s, %s: ended on turn %d of %d: %+v", name(o), task.ID, turn, len(plan), got)
						}
						break
					}
				}
			}
		}
	}
}

// How many of a split's tasks begin with a state, or with a text, that a task of train begins with, in percent, as the package comment
// tells it.
func TestOverlap(t *testing.T) {
	type shares struct{ State, Text float64 }
	got := map[string]map[string]shares{}
	for _, o := range presets {
		env := New(o)
		states, texts := map[string]bool{}, map[string]bool{}
		got[name(o)] = map[string]shares{}
		for _, split := range splits {
			tasks := splitOf(t, o, split)
			var s shares
			for _, task := range tasks {
				text := reset(t, env, task.ID).Text
				state, err := env.State(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if split == "train" {
					states[string(state)], texts[text] = true, true
					continue
				}
				if states[string(state)] {
					s.State += 100 / float64(len(tasks))
				}
				if texts[text] {
					s.Text += 100 / float64(len(tasks))
				}
			}
			if split != "train" {
				got[name(o)][split] = shares{math.Round(s.State), math.Round(s.Text)}
			}
		}
	}
	want := map[string]map[string]shares{
		"keydoor":       {"validation": {93, 100}, "test": {91, 100}, "ood": {0, 100}},
		"keydoor_small": {"validation": {0, 63}, "test": {0, 63}, "ood": {0, 66}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

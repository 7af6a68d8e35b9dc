package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/skill"
)

// On the public data every claim holds, and the JSON has the keys that others read.
func TestRun(t *testing.T) {
	data := os.Getenv("THROUGHLINE_DATA")
	if data == "" {
		t.Skip("THROUGHLINE_DATA does not name a folder of public data")
	}
	if testing.Short() {
		t.Skip("reads all the data")
	}
	e, err := run(context.Background(), data, true, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Failures) > 0 {
		t.Errorf("does not hold: %q", e.Failures)
	}
	if e.Parser.Files != 24 || e.Parser.Lost != 0 || e.Induction.Leaks != 0 || e.Induction.Skills < 1000 {
		t.Errorf("parser %+v, induction %+v", e.Parser, e.Induction)
	}
	var out bytes.Buffer
	if err := e.write(&out, true); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Parser    map[string]any
		Utility   map[string]map[string]any
		Induction map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"alfworld_task", "alfworld_subtask", "webarena", "voyager"} {
		for _, key := range []string{"specificity", "abstractness", "utility", "gated", "placebo", "memory_level"} {
			if v, ok := got.Utility[set][key].(float64); !ok || v < 0 || v > 1 {
				t.Errorf("%s of %s is %v", key, set, got.Utility[set][key])
			}
		}
	}
	out.Reset()
	if err := e.write(&out, false); err != nil || strings.Count(out.String(), "true") != len(e.Figures) {
		t.Errorf("%v, table:\n%s", err, out.String())
	}
}

func TestSkips(t *testing.T) {
	e, err := run(context.Background(), "", false, func(string) {})
	var out bytes.Buffer
	if err != nil || e.write(&out, false) != nil || !strings.HasPrefix(out.String(), "skipped: no data") {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestFailureIsNamed(t *testing.T) {
	e := new(evidence)
	e.figure("pi", 3.14, 0.005, 3.2)
	e.figure("e", 2.718, 0.005, 2.72)
	if len(e.Failures) != 1 || !strings.Contains(e.Failures[0], "pi is 3.2000, want 3.1400") {
		t.Errorf("failures %q", e.Failures)
	}
}

func TestDemonstration(t *testing.T) {
	got, err := demonstration("You are in a room.\nYour task is to: put some cup on shelf.\n> think: First I need a cup.\nOK.\n> go to table 1\n" +
		"On the table 1, you see a cup 2.\n> take cup 2 from table 1\nNothing happens.\n> think: Now the shelf.\nOK.\n> go to shelf 1\nOn the shelf 1,\nyou see nothing.\n")
	want := skill.Trajectory{Task: "put some cup on shelf.", Steps: []skill.Step{
		{Name: "go to table 1", Thought: "First I need a cup.", Marker: "First I need a cup.", Observation: "On the table 1, you see a cup 2."},
		{Name: "take cup 2 from table 1", Observation: "Nothing happens.", Err: true},
		{Name: "go to shelf 1", Thought: "Now the shelf.", Marker: "Now the shelf.", Observation: "On the shelf 1, you see nothing."},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "Your task is to: nothing.\n", "> go to table 1\n"} {
		if _, err := demonstration(text); err == nil {
			t.Errorf("%q is a demonstration", text)
		}
	}
}

func TestGoalOf(t *testing.T) {
	for _, tt := range []struct{ id, want string }{
		{"pick_and_place_simple-SprayBottle-None-Toilet-1_x", "put some spraybottle on toilet."},
		{"pick_clean_then_place_in_recep-Lettuce-None-DiningTable-2_x", "clean some lettuce and put it in diningtable."},
		{"pick_heat_then_place_in_recep-Egg-None-Fridge-2_x", "heat some egg and put it in fridge."},
		{"pick_cool_then_place_in_recep-Pan-None-Shelf-2_x", "cool some pan and put it in shelf."},
		{"pick_two_obj_and_place-Pen-None-Drawer-2_x", "put two pen in drawer."},
		{"look_at_obj_in_light-Book-None-DeskLamp-2_x", "look at book under the desklamp."},
		{"odd", "odd"},
	} {
		if got := goalOf(tt.id); got != tt.want {
			t.Errorf("goalOf(%q) = %q, want %q", tt.id, got, tt.want)
		}
	}
	if got := words("mineWoodLog"); got != "mine wood log" {
		t.Errorf("words: %q", got)
	}
}

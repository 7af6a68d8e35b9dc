package skill

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMemoryScore(t *testing.T) {
	x, y := []float64{.5, .3, .1, .05}, []float64{.1, .1, .6, .2}
	for _, c := range []struct {
		sims    [][]float64
		exclude func(skill, task int) bool
		want    MemoryScore
		reason  string
	}{
		{[][]float64{x, y}, nil, MemoryScore{.4, .78125, .3125, true, []float64{.5, .3, .6, .2}, .5, 0, 0}, "worked example: two skills"},
		{[][]float64{x}, nil, MemoryScore{.2375, .592105, .140625, true, x, .25, 0, 0}, "worked example: one skill"},
		{[][]float64{x, y}, func(i, j int) bool { return i == 0 && j == 0 || i == 1 && j == 2 }, MemoryScore{.175, .75, .13125, true, []float64{.1, .3, .1, .2}, 0, 0, 2},
			"worked example: without the sources"},
		{[][]float64{x, y}, func(_, j int) bool { return j == 2 }, MemoryScore{.25, .6, .15, true, []float64{.5, .3, 0, .2}, .25, 0, 2}, "a task that no skill may serve counts as 0"},
		{[][]float64{x, y}, func(int, int) bool { return true }, MemoryScore{0, 0, 0, true, make([]float64, 4), 0, 0, 8}, "no task left for any"},
		{[][]float64{{-.5, -.1}, {-.2, .4}}, nil, MemoryScore{.2, .5, .1, true, []float64{0, .4}, .5, 0, 0}, "negative similarities count as 0"},
		{[][]float64{{0, 0}}, nil, MemoryScore{0, 0, 0, true, []float64{0, 0}, 0, 0, 0}, "no match"},
		{[][]float64{{.2, .2}}, nil, MemoryScore{.2, 1, .2, true, []float64{.2, .2}, 0, 0, 0}, "all alike"},
		{[][]float64{{.3}, {.7}}, nil, MemoryScore{.7, 1, .7, false, []float64{.7}, 1, 0, 0}, "one task"},
		{[][]float64{{-.3}}, nil, MemoryScore{0, 0, 0, false, []float64{0}, 0, 0, 0}, "one task, no match"},
	} {
		for _, kind := range kinds {
			n := len(c.sims[0])
			rep, err := ScoreMatrix(c.sims, make([]float64, n*(n-1)/2), &ScoreOptions{Kind: kind, Exclude: c.exclude})
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			if diff := gocmp.Diff(c.want, rep.Memory, cmpopts.EquateApprox(0, 5e-7)); diff != "" {
				t.Errorf("%s, beside %v (-want +got):\n%s", c.reason, kind, diff)
			}
		}
	}
	rep, err := Score(context.Background(), []Skill{}, Tasks("a task", "another"), &ScoreOptions{Kind: KindNoiseFloored})
	if diff := gocmp.Diff(MemoryScore{AbstractnessDefined: true, Best: []float64{0, 0}, Placebo: rep.Memory.Placebo}, rep.Memory); err != nil || diff != "" || rep.NoiseFloor != 0 {
		t.Errorf("empty memory: %v, floor %g (-want +got):\n%s", err, rep.NoiseFloor, diff)
	}
}

// walkthroughGoals returns the distinct goals of public household tasks as the environment would say them, made of the IDs of its games.
func walkthroughGoals(t *testing.T) []Task {
	b, err := os.ReadFile(dataDir(t, "alfworld/expert_walkthroughs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Trajectories []struct {
			ID   string `json:"id"` // type-object-other-place-scene_trial_time
			Type string `json:"task_type"`
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var tasks []Task
	for _, g := range file.Trajectories {
		part := strings.Split(strings.ToLower(strings.TrimPrefix(g.ID, g.Type+"-")), "-")
		text := map[string]string{
			"pick_two_obj_and_place":         "put two OBJECT in PLACE.",
			"pick_and_place_simple":          "put some OBJECT on PLACE.",
			"pick_clean_then_place_in_recep": "put a clean OBJECT in PLACE.",
			"pick_cool_then_place_in_recep":  "cool some OBJECT and put it in PLACE.",
			"pick_heat_then_place_in_recep":  "heat some OBJECT and put it in PLACE.",
			"look_at_obj_in_light":           "look at OBJECT under the desklamp.",
		}[g.Type]
		if text = strings.NewReplacer("OBJECT", part[0], "PLACE", part[2]).Replace(text); !seen[text] {
			seen[text] = true
			tasks = append(tasks, Task{ID: g.ID, Text: text, Group: g.Type})
		}
	}
	return tasks
}

// Public demonstrations as skills, cut at their thoughts or not: averages over skills put the whole traces first, the score of the memory,
// with the type of the task held out, the pieces. Hence averages do not compare memories of another granularity.
func TestGranularityOnPublicTasks(t *testing.T) {
	tasks := walkthroughGoals(t)
	b, err := os.ReadFile(dataDir(t, "skills/react/alfworld_3prompts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var demos map[string]string
	if err := json.Unmarshal(b, &demos); err != nil {
		t.Fatal(err)
	}
	group := map[string]string{"put": "pick_and_place_simple", "puttwo": "pick_two_obj_and_place", "clean": "pick_clean_then_place_in_recep",
		"cool": "pick_cool_then_place_in_recep", "heat": "pick_heat_then_place_in_recep", "examine": "look_at_obj_in_light"}
	var traces, pieces []*Document
	for _, name := range slices.Sorted(maps.Keys(demos)) {
		kind := strings.Split(name, "_")
		if kind[0] != "react" {
			continue
		}
		add := func(to *[]*Document, actions []string) {
			if len(actions) > 0 {
				d := documents(strings.Join(actions, " "))[0]
				*to = append(*to, withOrigins(d, Origin{Group: group[kind[1]]}))
			}
		}
		var all, piece []string
		for line := range strings.Lines(demos[name]) {
			action, ok := strings.CutPrefix(strings.TrimSpace(line), "> ")
			switch {
			case !ok:
			case strings.HasPrefix(action, "think: "):
				add(&pieces, piece)
				piece = nil
			default:
				all, piece = append(all, action), append(piece, action)
			}
		}
		add(&pieces, piece)
		add(&traces, all)
	}
	if len(tasks) != 550 || len(traces) != 18 || len(pieces) != 73 {
		t.Fatalf("%d goals, %d traces, %d pieces", len(tasks), len(traces), len(pieces))
	}
	for _, c := range []struct {
		skills                  []*Document
		median, memory, covered float64
		reason                  string
	}{
		{traces, 0.448, 0.2105, 0.376, "whole traces"},
		{pieces, 0.218, 0.344, 0.78, "pieces"},
	} {
		rep, err := Score(context.Background(), c.skills, tasks, &ScoreOptions{HoldOut: HoldOutGroup})
		if err != nil {
			t.Fatal(err)
		}
		if !near(rep.Summary.Median, c.median, 0.005) || !near(rep.Memory.Utility, c.memory, 0.005) || !near(rep.Memory.Covered, c.covered, 0.005) || !near(rep.Memory.Placebo, 0.027, 0.005) {
			t.Errorf("%s: median utility %.4f, of the memory %.4f, covered %.4f, placebo %.4f, want %g, %g, %g and 0.027", c.reason, rep.Summary.Median,
				rep.Memory.Utility, rep.Memory.Covered, rep.Memory.Placebo, c.median, c.memory, c.covered)
		}
	}
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/examples/internal/walkthrough"
	"github.com/throughline-go/throughline/skill"
)

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// taskTypes are the names that the demonstrations have for ALFWorld's types of tasks.
var taskTypes = map[string]string{
	"put":     "pick_and_place_simple",
	"clean":   "pick_clean_then_place_in_recep",
	"heat":    "pick_heat_then_place_in_recep",
	"cool":    "pick_cool_then_place_in_recep",
	"puttwo":  "pick_two_obj_and_place",
	"examine": "look_at_obj_in_light",
}

// demonstrations reads the demonstrations in ALFWorld whose name has the prefix, react_ for those with thoughts or act_ for those without. A
// thought opens a subtask, which it describes; it is not shown as a step of its own.
func demonstrations(data, prefix string) ([]skill.Trajectory, error) {
	var texts map[string]string
	if err := readJSON(filepath.Join(data, "skills", "react", "alfworld_3prompts.json"), &texts); err != nil {
		return nil, err
	}
	var out []skill.Trajectory
	for _, name := range sorted(texts) {
		kind, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		kind, _, _ = strings.Cut(kind, "_")
		traj, err := demonstration(texts[name])
		if err != nil {
			return nil, fmt.Errorf("demonstration %s: %w", name, err)
		}
		traj.ID, traj.TaskID, traj.Group, traj.Reward = name, name, taskTypes[kind], new(1.0)
		out = append(out, traj)
	}
	return out, nil
}

// demonstration reads one: a line "> action" and the lines of the observation after it.
func demonstration(text string) (skill.Trajectory, error) {
	const goal = "Your task is to: "
	var traj skill.Trajectory
	thought, thinking := "", false
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		action, isAction := strings.CutPrefix(l, "> ")
		switch think, isThought := strings.CutPrefix(action, "think: "); {
		case isAction && isThought:
			thought, thinking = think, true
		case isAction:
			traj.Steps = append(traj.Steps, skill.Step{Name: action, Thought: thought, Marker: thought})
			thought, thinking = "", false
		case strings.HasPrefix(l, goal):
			traj.Task = strings.TrimPrefix(l, goal)
		case len(traj.Steps) > 0 && !thinking && l != "":
			s := &traj.Steps[len(traj.Steps)-1]
			s.Observation = strings.TrimSpace(s.Observation + " " + l)
			s.Err = s.Observation == "Nothing happens."
		}
	}
	if traj.Task == "" || len(traj.Steps) == 0 {
		return traj, fmt.Errorf("no task or no action in %.60q", text)
	}
	return traj, nil
}

// games reads the solved training games of ALFWorld as episodes, every stride-th.
func games(data string, stride int) ([]skill.Trajectory, error) {
	all, err := walkthrough.Read(filepath.Join(data, "alfworld", "expert_walkthroughs.json"))
	if err != nil {
		return nil, err
	}
	var out []skill.Trajectory
	for i := 0; i < len(all); i += stride {
		g := all[i]
		traj := skill.Trajectory{ID: g.ID, TaskID: g.ID, Task: goalOf(g.ID), Group: string(g.Kind), Reward: new(1.0)}
		for _, a := range g.Actions {
			traj.Steps = append(traj.Steps, skill.Step{Name: a})
		}
		out = append(out, traj)
	}
	return out, nil
}

// alfworldGoals returns the different goals of the training games, in the order of the games.
func alfworldGoals(data string) ([]skill.Task, error) {
	all, err := games(data, 1)
	if err != nil {
		return nil, err
	}
	var out []skill.Task
	seen := make(map[string]bool)
	for _, g := range all {
		if !seen[g.Task] {
			seen[g.Task] = true
			out = append(out, skill.Task{ID: g.Task, Text: g.Task, Group: g.Group})
		}
	}
	return out, nil
}

// goalOf composes the goal of a game from its id, TYPE-Object-Movable-Receptacle-Scene_..., in the wording of the demonstrations.
func goalOf(id string) string {
	p := strings.SplitN(strings.ToLower(id), "-", 5)
	if len(p) < 4 {
		return id
	}
	object, receptacle := p[1], p[3]
	switch p[0] {
	case "pick_clean_then_place_in_recep":
		return "clean some " + object + " and put it in " + receptacle + "."
	case "pick_heat_then_place_in_recep":
		return "heat some " + object + " and put it in " + receptacle + "."
	case "pick_cool_then_place_in_recep":
		return "cool some " + object + " and put it in " + receptacle + "."
	case "pick_two_obj_and_place":
		return "put two " + object + " in " + receptacle + "."
	case "look_at_obj_in_light":
		return "look at " + object + " under the " + receptacle + "."
	}
	return "put some " + object + " on " + receptacle + "."
}

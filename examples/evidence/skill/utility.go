package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/throughline-go/throughline/skill"
)

type utilityResult struct {
	Skills       int     `json:"skills"`
	Tasks        int     `json:"tasks"`
	Specificity  float64 `json:"specificity"` // medians over the skills
	Abstractness float64 `json:"abstractness"`
	Utility      float64 `json:"utility"`
	Gated        float64 `json:"gated"`
	Placebo      float64 `json:"placebo"`
	Retrievable  float64 `json:"retrievable"`  // share of the skills
	MemoryLevel  float64 `json:"memory_level"` // all skills together, without those of a task's own group
	Status       string  `json:"status"`
}

// utility scores the sets.
func (e *evidence) utility(ctx context.Context, data string) error {
	goals, err := alfworldGoals(data)
	if err != nil {
		return err
	}
	demos, err := demonstrations(data, "react_")
	if err != nil {
		return err
	}
	for _, level := range []skill.Level{skill.LevelTask, skill.LevelSubtask} {
		var skills []*skill.Document
		for _, traj := range demos {
			made, err := skill.InduceAll(ctx, traj, &skill.SegmentOptions{TaskLevel: level == skill.LevelTask}, nil)
			if err != nil {
				return err
			}
			for _, o := range made {
				if o.Err == nil {
					skills = append(skills, o.Document)
				}
			}
		}
		if err := e.score(ctx, "alfworld_"+string(level), skills, goals); err != nil {
			return err
		}
	}
	web, err := skillWeaver(data)
	if err != nil {
		return err
	}
	intents, err := webArena(data)
	if err != nil {
		return err
	}
	tasks := make([]skill.Task, len(intents))
	for i, t := range intents {
		tasks[i] = t.task()
	}
	if err := e.score(ctx, "webarena", web, tasks); err != nil {
		return err
	}
	programs, names, err := voyager(data)
	if err != nil {
		return err
	}
	return e.score(ctx, "voyager", programs, names)
}

func (e *evidence) score(ctx context.Context, set string, skills []*skill.Document, tasks []skill.Task) error {
	rep, err := skill.Score(ctx, skills, tasks, &skill.ScoreOptions{HoldOut: skill.HoldOutGroup})
	if err != nil {
		return err
	}
	e.Embedder = rep.Embedder
	var spec, abst []float64
	for _, s := range rep.Skills {
		if s.Defined && !s.EmptyText {
			spec, abst = append(spec, s.Specificity), append(abst, s.Abstractness)
		}
	}
	s := rep.Summary
	e.Utility[set] = utilityResult{len(skills), len(tasks), median(spec), median(abst), s.Median, s.GatedMedian, s.Placebo, s.Retrievable,
		rep.Memory.Utility, s.Status.String()}
	e.order = append(e.order, set)
	return nil
}

// A document without a body that matters: only its description is compared.
func described(name, description, task, group string) (*skill.Document, error) {
	d := &skill.Document{Frontmatter: skill.Frontmatter{Name: name, Description: description}}
	err := d.SetRecord(skill.Record{Format: skill.FormatCode, Origins: []skill.Origin{{Task: task, Group: group, End: 1}}})
	return d, err
}

// skillWeaver returns the functions that have a docstring, described by its first sentence.
func skillWeaver(data string) ([]*skill.Document, error) {
	f, err := os.Open(filepath.Join(data, "skills", "skillweaver", "skills.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []*skill.Document
	for dec := json.NewDecoder(f); dec.More(); {
		var r struct{ Site, Name, Docstring string }
		if err := dec.Decode(&r); err != nil {
			return nil, fmt.Errorf("skillweaver: function %d: %w", len(out), err)
		}
		first, _, _ := strings.Cut(r.Docstring, "\n\n")
		if first = strings.Join(strings.Fields(first), " "); first != "" {
			d, err := described(r.Name, first, "", "")
			if err != nil {
				return nil, fmt.Errorf("skillweaver: function %d: %w", len(out), err)
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// An intent is a task of WebArena.
type intent struct {
	ID       int `json:"task_id"`
	Sites    []string
	Template int    `json:"intent_template_id"`
	Text     string `json:"intent"`
}

func (t intent) task() skill.Task {
	return skill.Task{ID: fmt.Sprint("webarena-", t.ID), Text: t.Text, Group: fmt.Sprint("template-", t.Template)}
}

func webArena(data string) ([]intent, error) {
	var out []intent
	return out, readJSON(filepath.Join(data, "skills", "webarena", "intents.json"), &out)
}

// voyager returns the programs of the three libraries, and their names as tasks.
func voyager(data string) (skills []*skill.Document, tasks []skill.Task, err error) {
	for trial := 1; trial <= 3; trial++ {
		var library map[string]struct{ Code, Description string }
		if err := readJSON(filepath.Join(data, "skills", "voyager", fmt.Sprint("trial", trial), "skills.json"), &library); err != nil {
			return nil, nil, err
		}
		for _, name := range sorted(library) {
			id := fmt.Sprintf("trial%d-%s", trial, name)
			tasks = append(tasks, skill.Task{ID: id, Text: words(name), Group: name})
			// The descriptions are comments in an empty function.
			var text []string
			for l := range strings.Lines(library[name].Description) {
				if l, ok := strings.CutPrefix(strings.TrimSpace(l), "//"); ok {
					text = append(text, strings.TrimSpace(l))
				}
			}
			d, err := described(name, strings.Join(text, " "), id, name)
			if err != nil {
				return nil, nil, fmt.Errorf("voyager: %s: %w", id, err)
			}
			skills = append(skills, d)
		}
	}
	return skills, tasks, nil
}

// words cuts a name at its capitals.
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/memory"
)

type inductionResult struct {
	Trajectories int `json:"trajectories"`
	Spans        int `json:"spans"`
	Skills       int `json:"skills"`
	Trivial      int `json:"trivial"` // spans without a skill
	Leaks        int `json:"leaks"`   // skills with a value of their episode, by the check of Induce or by the one here

	// What a memory makes of the text skills: entries, and skills that became part of one.
	Kept   int `json:"kept"`
	Merged int `json:"merged"`
}

// instance matches an object by its number, as the episodes name things: "mug 2".
var instance = regexp.MustCompile(`\b[a-z]+ [0-9]+\b`)

// induction makes skills of all episodes, and puts the text ones into a memory.
func (e *evidence) induction(ctx context.Context, data string) error {
	var episodes []skill.Trajectory
	for _, prefix := range []string{"react_", "act_"} {
		demos, err := demonstrations(data, prefix)
		if err != nil {
			return err
		}
		episodes = append(episodes, demos...)
	}
	stride := 1
	if e.Quick {
		stride = 12
	}
	played, err := games(data, stride)
	if err != nil {
		return err
	}
	episodes = append(episodes, played...)
	m, err := memory.New(ctx, nil)
	if err != nil {
		return err
	}
	defer m.Close()
	r := &e.Induction
	r.Trajectories = len(episodes)
	for _, traj := range episodes {
		for _, level := range []skill.Level{skill.LevelTask, skill.LevelSubtask} {
			for _, format := range []skill.Format{skill.FormatText, skill.FormatCode} {
				made, err := skill.InduceAll(ctx, traj, &skill.SegmentOptions{TaskLevel: level == skill.LevelTask}, &skill.InduceOptions{Format: format})
				if err != nil {
					return fmt.Errorf("%s: %w", traj.ID, err)
				}
				for _, o := range made {
					r.Spans++
					switch {
					case errors.Is(o.Err, skill.ErrTrivial):
						r.Trivial++
						continue
					case o.Err != nil:
						return fmt.Errorf("%s, steps %d to %d: %w", traj.ID, o.Span.Start, o.Span.End, o.Err)
					}
					r.Skills++
					if left := instance.FindString(o.Description() + "\n" + o.Body()); left != "" || len(o.Leaks) > 0 {
						r.Leaks++
						e.claim(false, "induction: %s, steps %d to %d: left in the skill: %q %q", traj.ID, o.Span.Start, o.Span.End, o.Leaks, left)
					}
					if format == skill.FormatText && level == skill.LevelSubtask {
						added, err := m.Add(ctx, o.Document)
						if err != nil {
							return fmt.Errorf("%s: %w", traj.ID, err)
						}
						if added.Action == memory.Merged {
							r.Merged++
						}
					}
				}
			}
		}
	}
	r.Kept = m.Len()
	e.claim(r.Trajectories > 0 && r.Skills > 0, "induction: no skill was made")
	return nil
}

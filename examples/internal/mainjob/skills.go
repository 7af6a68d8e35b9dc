package mainjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/memory"
)

// induce records the desk's own plans for the first training tasks, cuts each episode where it first changes something, makes a text skill of each
// part, and lets a memory merge what is alike. The skills are scored against the requests of the recorded tasks, except those that a skill
// was made of.
func (j *job) induce(ctx context.Context) error {
	train, _, _, _, err := j.splits(ctx)
	if err != nil {
		return err
	}
	still := time.Unix(0, 0) // equal runs write equal skills
	store, err := memory.New(ctx, &memory.Options{Now: func() time.Time { return still }})
	if err != nil {
		return err
	}
	defer store.Close()
	var tasks []skill.Task
	parts, merged := 0, 0
	for i, t := range train[:j.demos] {
		episode, err := j.record(ctx, t)
		if err != nil {
			return fmt.Errorf("record %s: %w", t.ID, err)
		}
		tasks = append(tasks, skill.Task{ID: t.ID, Text: request(episode.Task), Group: t.Family})
		made, err := skill.InduceAll(ctx, episode, nil, &skill.InduceOptions{RejectLeaks: true})
		if err != nil {
			return fmt.Errorf("induce from %s: %w", t.ID, err)
		}
		for _, o := range made {
			if errors.Is(o.Err, skill.ErrTrivial) {
				continue
			}
			if o.Err != nil {
				return fmt.Errorf("induce from %s, steps %d to %d: %w", t.ID, o.Span.Start, o.Span.End, o.Err)
			}
			added, err := store.Add(ctx, o.Document)
			if err != nil {
				return fmt.Errorf("keep the skill of %s: %w", t.ID, err)
			}
			parts++
			if added.Action == memory.Merged {
				merged++
			}
		}
		j.Progress("induce skills", i+1, j.demos)
	}
	for e := range store.All() {
		j.result.Skills = append(j.result.Skills, e.Document)
	}
	report, err := skill.Score(ctx, j.result.Skills, tasks, &skill.ScoreOptions{ExcludeSources: true})
	if err != nil {
		return err
	}
	r, sum := &j.result.Report.Skills, report.Summary
	r.Count, r.Parts = len(j.result.Skills), parts
	r.MedianUtility, r.Placebo, r.Gated, r.MemoryLevel = sum.Median, sum.Placebo, sum.GatedMedian, report.Memory.Utility
	j.row("skills", fmt.Sprintf("make text skills of the subtasks of %d recorded episodes, merge those that are alike", j.demos), "subtasks, skills",
		fmt.Sprint(parts), fmt.Sprint(r.Count))
	did := "score them without running anything"
	switch sum.Status {
	case skill.StatusUnreliable:
		did += " (unreliable here: off-topic texts score as high)"
	case skill.StatusUnretrievable:
		did += " (no request would find one)"
	}
	j.row("", did, "median utility, off-topic texts and the skills", fmt.Sprintf("%.3f", sum.Placebo), fmt.Sprintf("%.3f", sum.Median))
	j.row("", "the same of what some task would find, and of all skills together", "median gated utility, memory-level utility",
		fmt.Sprintf("%.3f", sum.GatedMedian), fmt.Sprintf("%.3f", report.Memory.Utility))
	return nil
}

// procedureTools reads from a skill which tools its procedure calls, in order: what an agent would do with its text.
func procedureTools(s skill.Skill) []string {
	var tools []string
	for _, step := range skill.ParseTextBody(s.Body()).Procedure {
		name, _, _ := strings.Cut(step, "(")
		tools = append(tools, name)
	}
	return tools
}

// record plays the desk's own solution and returns the episode in the form that skills are induced from. What it reads first is
// a subtask without a name; with the first call that writes begins that of the request.
func (j *job) record(ctx context.Context, t envharness.Task) (skill.Trajectory, error) {
	actions, err := j.desk.Plan(ctx, t)
	if err != nil {
		return skill.Trajectory{}, err
	}
	desk, err := j.desk.New(ctx)
	if err != nil {
		return skill.Trajectory{}, err
	}
	defer desk.Close()
	first, err := desk.Reset(ctx, envharness.ResetOptions{Task: t.ID})
	if err != nil {
		return skill.Trajectory{}, err
	}
	episode := skill.Trajectory{TaskID: t.ID, Task: message(first), Group: t.Family, Reward: new(1.0)}
	changed := false
	for _, a := range actions {
		var args map[string]any
		if err := json.Unmarshal(a.Args, &args); err != nil {
			return skill.Trajectory{}, err
		}
		out, err := desk.Step(ctx, a)
		if err != nil {
			return skill.Trajectory{}, err
		}
		step := skill.Step{Name: a.Name, Args: args, Observation: out.Observation.Text, Err: out.Error != nil}
		if !j.readOnly[a.Name] && !changed {
			changed = true
			step.Marker = request(episode.Task)
		}
		episode.Steps = append(episode.Steps, step)
	}
	return episode, nil
}

// customer matches the name that a message begins with, which is the address of the account as well.
var customer = regexp.MustCompile(`^(\w+): `)

// message is the customer's message in a first observation.
func message(o envharness.Observation) string {
	text, _ := o.Data["task"].(string)
	return text
}

// particular matches what is named by a number: an order, a ticket, a product, an amount.
var particular = regexp.MustCompile(`\S*\d\S*`)

// request is a message without the name of the customer and all that is numbered: a skill should not remember who asked, nor for which order.
func request(message string) string {
	return strings.Join(strings.Fields(particular.ReplaceAllString(customer.ReplaceAllString(message, ""), "")), " ")
}

// loadSkills reads the user's own skills; a folder without a single one is an error that says what was wrong.
func (j *job) loadSkills(ctx context.Context, dir string) ([]skill.Loaded, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: skills: %w", ErrInput, err)
	}
	defer root.Close()
	set, err := skill.LoadFS(ctx, []skill.Source{{Label: dir, FS: root.FS()}}, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: skills: %w", ErrInput, err)
	}
	if len(set.Skills) == 0 {
		for _, d := range set.Diagnostics {
			if d.Severity == skill.SeverityError {
				return nil, fmt.Errorf("%w: no skill loads from %s: %w", ErrInput, dir, d)
			}
		}
		return nil, fmt.Errorf("%w: no SKILL.md below %s", ErrInput, dir)
	}
	for _, d := range set.Diagnostics {
		if d.Severity != skill.SeverityInfo {
			j.Warn(d.Error())
		}
	}
	return set.Skills, nil
}

package mainjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/skill"
)

// learned is an induced skill, the task that it comes from and the tools of its procedure.
type learned struct {
	doc       *skill.Document
	source    string
	procedure []string
}

// induce records the desk's own plans for the first training tasks, makes a text skill of an episode of each distinct procedure, and scores
// the skills against the messages of the recorded tasks, except the one that a skill was made from.
func (j *job) induce(ctx context.Context) error {
	train, _, _, _, err := j.splits(ctx)
	if err != nil {
		return err
	}
	var sources, messages []string
	names := map[string]int{}
	known := map[string]bool{}
	for i, t := range train[:j.demos] {
		if err := ctx.Err(); err != nil {
			return err
		}
		episode, err := j.record(ctx, t)
		if err != nil {
			return fmt.Errorf("record %s: %w", t.ID, err)
		}
		sources, messages = append(sources, t.ID), append(messages, episode.Task)
		doc, err := skill.Induce(ctx, episode, skill.Span{End: len(episode.Steps)}, &skill.InduceOptions{Subtask: request(episode.Task)})
		j.Progress("induce skills", i+1, j.demos)
		if errors.Is(err, skill.ErrTrivial) {
			continue
		}
		if err != nil {
			return fmt.Errorf("induce from %s: %w", t.ID, err)
		}
		tools := procedureTools(doc)
		// Two skills with one description could not be told apart when one is needed.
		procedure := strings.Join(tools, " ")
		if known[procedure] || known[doc.Description()] {
			continue
		}
		known[procedure], known[doc.Description()] = true, true
		if names[doc.Name()]++; names[doc.Name()] > 1 {
			doc.Frontmatter.Name = numbered(doc.Name(), names[doc.Name()])
		}
		j.skills = append(j.skills, learned{doc.Document, t.ID, tools})
		j.result.Skills = append(j.result.Skills, doc.Document)
	}
	report, err := skill.Score(ctx, j.result.Skills, skill.Tasks(messages...), &skill.ScoreOptions{
		Exclude: func(s, task int) bool { return j.skills[s].source == sources[task] },
	})
	if err != nil {
		return err
	}
	r := &j.result.Report
	r.Skills.Count = len(j.result.Skills)
	r.Skills.MedianUtility = report.Summary.Median
	j.row("skills", fmt.Sprintf("induce text skills from %d recorded episodes", j.demos), "episodes, distinct skills",
		fmt.Sprint(j.demos), fmt.Sprint(r.Skills.Count))
	did := "score them without running anything"
	if report.Summary.Status == skill.StatusUnreliable {
		did += " (unreliable here: off-topic texts score as high)"
	}
	j.row("", did, "median utility, off-topic texts and the skills",
		fmt.Sprintf("%.3f", report.Summary.Placebo), fmt.Sprintf("%.3f", report.Summary.Median))
	return nil
}

// procedureTools reads from a skill which tools its procedure calls, in order: what an agent would do with its text.
func procedureTools(s skill.Skill) []string {
	var tools []string
	for _, step := range skill.Procedure(s.Body()) {
		name, _, _ := strings.Cut(step, "(")
		tools = append(tools, name)
	}
	return tools
}

// numbered makes the n-th use of a name differ from the others, within the limit of 64 runes.
func numbered(name string, n int) string {
	tail := fmt.Sprintf("-%d", n)
	if cut := 64 - len(tail); len(name) > cut {
		name = name[:cut]
	}
	return name + tail
}

// record plays the desk's own solution and returns the episode in the form that skills are induced from.
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
	episode := skill.Trajectory{TaskID: t.ID, Task: message(first), Group: t.Family}
	for _, a := range actions {
		var args map[string]any
		if err := json.Unmarshal(a.Args, &args); err != nil {
			return skill.Trajectory{}, err
		}
		out, err := desk.Step(ctx, a)
		if err != nil {
			return skill.Trajectory{}, err
		}
		episode.Steps = append(episode.Steps, skill.Step{
			Name: a.Name, Args: args, Observation: out.Observation.Text, Err: out.Error != nil,
		})
	}
	return episode, nil
}

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

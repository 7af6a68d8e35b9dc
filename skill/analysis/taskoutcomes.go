package analysis

import (
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/skill"
)

// A TaskOutcome is what became of one task: its score before and its success after.
type TaskOutcome struct {
	TaskID  string
	Group   string    // of tasks that are as hard, for example how often an agent without skills solves them; may be empty
	Score   TaskScore // without a score the outcome is left out and counted
	Success float64   // in [0, 1], for example 1 for solved, or the share of runs that solved it
}

// check reports why an outcome cannot be used.
func (o TaskOutcome) check() error {
	s := o.Score
	switch {
	case !(o.Success >= 0 && o.Success <= 1):
		return fmt.Errorf("the success is %g, want it in [0, 1]", o.Success)
	case s.Skills < 0:
		return fmt.Errorf("the score is over %d skills, want at least 0", s.Skills)
	case s.Skills == 0 && s != (TaskScore{}):
		return errors.New("the score has numbers but is over 0 skills, want at least 1")
	}
	return finite(s.Specificity, s.Abstractness, s.Utility)
}

// TaskOutcomes joins what [Relate] and [Bins] need of each task: its ID and group, the score that [TaskScores] makes of the names selected
// for it, and its success. Groups are those of the tasks, often templates; set Group where tasks as hard are known better.
//
// What TaskScores refuses, slices of unequal length and a success outside [0, 1] are errors. The cost is linear.
func TaskOutcomes(tasks []skill.Task, scores []skill.SkillScore, selected [][]string, success []float64) ([]TaskOutcome, error) {
	if len(selected) != len(tasks) || len(success) != len(tasks) {
		return nil, fmt.Errorf("analysis: task outcomes: %d tasks, names selected for %d and successes of %d, want equal lengths",
			len(tasks), len(selected), len(success))
	}
	of, err := TaskScores(scores, selected)
	if err != nil {
		return nil, err
	}
	out := make([]TaskOutcome, len(tasks))
	var faults []error
	for i, t := range tasks {
		out[i] = TaskOutcome{TaskID: t.ID, Group: t.Group, Score: of[i], Success: success[i]}
		if err := out[i].check(); err != nil {
			faults = append(faults, fmt.Errorf("analysis: task outcomes: task %d, %q: %w", i, t.ID, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return out, nil
}

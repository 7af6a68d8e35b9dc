package analysis

import (
	"errors"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/skill"
)

// A TaskScore is the score of a task: the means over the skills that were retrieved for it.
type TaskScore struct {
	Skills int // that the means are over; 0 means that the task has no score

	Specificity, Abstractness, Utility float64 // as in [skill.SkillScore]; 0 where there is no score
}

// TaskScores returns the score of each task from the names of the skills that were selected for it, in any order: the
// mean utility of those skills, as in arXiv:2608.20274, and the means of its factors. Scores are those of a
// [skill.Report]. Leave out skills that were not selected by similarity but are called by one that was.
//
// Ours: a name counts once for a task, however many of its subtasks select it, and a skill whose utility is not defined
// or whose text is empty counts for nothing. A task without any other skill has no score, which is not a score of 0.
//
// A name that has no score or two, and a number that is not finite, are errors. The cost is linear.
func TaskScores(scores []skill.SkillScore, selected [][]string) ([]TaskScore, error) {
	at := make(map[string]int, len(scores))
	var faults []error
	for i, s := range scores {
		if k, ok := at[s.Name]; ok {
			faults = append(faults, fmt.Errorf("analysis: task scores: scores %d and %d are both of %q, want one each", k, i, s.Name))
		}
		at[s.Name] = i
		if err := finite(s.Specificity, s.Abstractness, s.Utility); err != nil {
			faults = append(faults, fmt.Errorf("analysis: task scores: score %d of %q: %w", i, s.Name, err))
		}
	}
	out := make([]TaskScore, len(selected))
	last := make([]int, len(scores)) // the last task that selected it, plus 1
	for t, names := range selected {
		s := &out[t]
		for _, name := range names {
			i, ok := at[name]
			if !ok {
				faults = append(faults, fmt.Errorf("analysis: task scores: task %d selects %q, which has no score", t, name))
				continue
			}
			k := scores[i]
			if last[i] == t+1 || !k.Defined || k.EmptyText {
				continue
			}
			last[i] = t + 1
			s.Skills++
			s.Specificity += k.Specificity
			s.Abstractness += k.Abstractness
			s.Utility += k.Utility
		}
		if s.Skills > 0 {
			n := float64(s.Skills)
			s.Specificity /= n
			s.Abstractness /= n
			s.Utility /= n
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return out, nil
}

// finite reports the first number that is NaN or infinite.
func finite(numbers ...float64) error {
	for _, x := range numbers {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("a number is %g, want it finite", x)
		}
	}
	return nil
}

package rigger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// Bounds of what is written: nesting of arguments, and bytes of a line, as readers of trajectories have them.
const (
	pairDepth = 90
	pairLine  = 64 << 20
)

// pairEpisode is one line.
type pairEpisode struct {
	ID     string     `json:"id"`
	TaskID string     `json:"task_id"`
	Task   string     `json:"task"`
	Group  string     `json:"group,omitempty"`
	Reward float64    `json:"reward"`
	Steps  []pairStep `json:"steps"`
}

type pairStep struct {
	Thought     string         `json:"thought,omitempty"`
	Name        string         `json:"name,omitempty"`
	Args        map[string]any `json:"args,omitzero"`
	Observation string         `json:"observation,omitempty"`
	Err         bool           `json:"err,omitempty"`
}

// WritePairs writes the pairs of tasks as JSON Lines, which the reader of trajectories of package skill takes: for each task, in order, the
// shortest passed episode and then the longest failed one, as far as there are such; see [Pair]. The two lines of a task are what
// skill.ReadTrajectories reads and skill.Contrast makes a skill of.
//
// A line has the id ("<task>/<seed>/pass" or "<task>/<seed>/fail"), task_id, task (the task in words if the world has it in Data["task"], else the
// first text that was shown), group (the family of the task), reward (the score of the verdict, 1 for a pass) and steps. A step has what
// the policy said, the call it proposed, the text that came back, the message of a refusal if there is none, and whether it was refused.
// What cannot be written as a call, because the arguments are no object or nested too deep, becomes the thought. The components that were
// around an episode are not told, nor whether it is one of the unmodified task. A line of more than 64 MiB is an error.
func WritePairs(w io.Writer, tasks []TaskReport) error {
	out := bufio.NewWriter(w)
	for i := range tasks {
		for _, t := range []*envharness.Trace{tasks[i].Pair.Success, tasks[i].Pair.Failure} {
			if t == nil {
				continue
			}
			var line bytes.Buffer
			enc := json.NewEncoder(&line)
			enc.SetEscapeHTML(false)
			err := enc.Encode(pairEpisodeOf(t))
			if err == nil && line.Len() > pairLine {
				err = fmt.Errorf("a line of %d bytes is longer than %d", line.Len(), pairLine)
			}
			if err != nil {
				return fmt.Errorf("rigger: pair of task %q: %w", tasks[i].Task.ID, err)
			}
			if _, err := out.Write(line.Bytes()); err != nil {
				return fmt.Errorf("rigger: pairs: %w", err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("rigger: pairs: %w", err)
	}
	return nil
}

func pairEpisodeOf(t *envharness.Trace) pairEpisode {
	e := pairEpisode{
		ID: fmt.Sprintf("%s/%d/%s", t.Task.ID, t.Seed, t.Verdict.Status), TaskID: t.Task.ID, Task: t.Shown.Text, Group: t.Task.Family, Reward: t.Verdict.Score,
		Steps: make([]pairStep, 0, len(t.Turns)),
	}
	if task, ok := t.Shown.Data["task"].(string); ok {
		e.Task = task
	}
	for i := range t.Turns {
		e.Steps = append(e.Steps, pairStepOf(&t.Turns[i]))
	}
	return e
}

func pairStepOf(u *envharness.TurnTrace) pairStep {
	s := pairStep{Thought: u.Said, Observation: u.Shown.Observation.Text}
	if u.Shown.Error != nil {
		s.Err = true
		if s.Observation == "" {
			s.Observation = u.Shown.Error.Message
		}
	}
	if u.Proposed == nil {
		return s
	}
	args, ok := pairArgs(u.Proposed.Args)
	if !ok || strings.TrimSpace(u.Proposed.Name) == "" {
		if s.Thought != "" {
			s.Thought += "\n"
		}
		s.Thought += u.Proposed.String()
		return s
	}
	s.Name, s.Args = u.Proposed.Name, args
	return s
}

// pairArgs reads arguments; none are the empty object.
func pairArgs(raw json.RawMessage) (map[string]any, bool) {
	args := map[string]any{}
	if len(raw) == 0 {
		return args, true
	}
	if !json.Valid(raw) || depth(raw) > pairDepth {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // no digit of an identifier is lost
	if err := dec.Decode(&args); err != nil || args == nil {
		return nil, false
	}
	return args, true
}

// depth is how deep lists and objects of a JSON text are in one another.
func depth(raw []byte) int {
	now, most, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}

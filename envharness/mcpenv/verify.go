package mcpenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// verify judges an episode by its end state and the answer in its log, and by nothing else.
func (w *world) verify(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	t, err := w.task(e.Task)
	if err != nil {
		return envharness.Verdict{}, err
	}
	if len(e.Log) == 0 || e.Log[0].Kind != envharness.LogReset {
		return envharness.Verdict{}, errors.New("mcpenv: evidence: the log does not begin with a reset")
	}
	var end json.RawMessage
	if w.Read.Name != "" {
		if end, err = w.stateOf(e.End); err != nil {
			return envharness.Verdict{}, fmt.Errorf("mcpenv: evidence: end state: %w", err)
		}
	}
	answer := ""
	if w.Answer {
		at := slices.IndexFunc(e.Log, func(l envharness.LogEntry) bool { return l.Action.Name == submitTool.Name && l.Transition.Error == nil })
		if at < 0 {
			return envharness.Verdict{Status: envharness.Fail, Reason: "no answer was submitted"}, nil
		}
		if answer, err = submitted(e.Log[at].Action.Args); err != nil {
			return envharness.Verdict{}, fmt.Errorf("mcpenv: evidence: log %d: %w", at, err)
		}
	}
	if w.Judge != nil {
		task := *t
		task.Start, task.Goal = slices.Clone(t.Start), bytes.Clone(t.Goal)
		return w.Judge(task, end, answer)
	}
	goal, err := w.canonical(t.Goal)
	if err != nil {
		return envharness.Verdict{}, fmt.Errorf("mcpenv: goal of %q: %w", t.ID, err)
	}
	if !bytes.Equal(end, goal) {
		return envharness.Verdict{Status: envharness.Fail, Reason: "the end state is not the goal"}, nil
	}
	return envharness.Verdict{Status: envharness.Pass}, nil
}

package rigger

import (
	"cmp"
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// start is the step that asks whether an episode can begin behind the stack: every edit of the start is carried out, something is left to
// do, and the task is not solved yet, neither with the stack nor without. All rollouts of a task have one seed, and it is this start that
// they get.
func (in *inspector) start(ctx context.Context, found *inspection) (StepResult, error) {
	step := StepResult{Step: StepStart, Result: Failed}
	bare, err := in.unmodified(ctx, nil)
	if err != nil {
		return StepResult{}, err
	}
	if bare.Verdict.Status != envharness.Fail {
		step.Reason = fmt.Sprintf("the verdict on the unmodified start is %s, not fail", bare.Verdict.Status)
		return step, nil
	}
	t, err := in.trial(ctx, found.stack, in.world, script(nil))
	switch {
	case err != nil:
		return StepResult{}, err
	case t.End.Infra():
		step.Reason = cmp.Or(t.Cause, t.Verdict.Reason)
	case t.Verdict.Status != envharness.Fail:
		step.Reason = fmt.Sprintf("the verdict on the start is %s, not fail", t.Verdict.Status)
	case rawStart(&t).Actions != nil && len(rawStart(&t).Actions) == 0: // that they are hidden is no fault
		step.Reason = "no admissible action is left"
	default:
		step.Result = Passed
	}
	return step, nil
}

// startOnce is start, of one stack once.
func (in *inspector) startOnce(ctx context.Context, found *inspection) (StepResult, error) {
	return once(in.results, "start "+found.key, func() (StepResult, error) { return in.start(ctx, found) })
}

// rawStart returns the first observation as it came from the base, after the edits of the start.
func rawStart(t *envharness.Trace) envharness.Observation {
	for _, l := range t.Layers { // the innermost that changed it saw it
		if l.ObservationIn != nil {
			return *l.ObservationIn
		}
	}
	return t.Shown
}

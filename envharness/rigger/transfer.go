package rigger

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// transfer replays what passed behind the candidate on the unmodified base: what reached the base in the turns, without the edits of the
// start, must pass there as well.
func (in *inspector) transfer(ctx context.Context, passed []envharness.Trace) (StepResult, error) {
	step := StepResult{Step: StepTransfer, Result: Passed}
	all, pass := 0, 0
	for i := range passed {
		if passed[i].Verdict.Status != envharness.Pass {
			continue
		}
		var calls []envharness.Action
		for k := range passed[i].Turns {
			if a := passed[i].Turns[k].Applied; a != nil {
				calls = append(calls, *a)
			}
		}
		t, err := in.unmodified(ctx, calls)
		if err != nil {
			return StepResult{}, err
		}
		all++
		if t.Verdict.Status == envharness.Pass {
			pass++
		}
	}
	switch {
	case all == 0:
		step.Result, step.Reason = Unproven, "nothing passed"
	default:
		step.Reason = fmt.Sprintf("%d of %d pass on the unmodified task", pass, all)
		if pass < all {
			step.Result = Failed
		}
	}
	return step, nil
}

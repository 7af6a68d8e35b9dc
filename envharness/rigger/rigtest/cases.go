package rigtest

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A Case is a policy behind a candidate, of which it is known how often the one passes behind the other.
type Case struct {
	Name  string             // such as "patience 0.7, step_budget 9"
	New   Maker              // of policies for this task
	Stack []components.Entry // the candidate
	Base  float64            // rate of success on the task as it is
	Rate  float64            // rate of success behind the candidate, never above Base
}

// Cases returns all cases of a grid in one task, in a fixed order: policies of [Patience] behind each step_budget that leaves room for the
// plan and is below the limit of the world; policies of [Retry] behind a tool_fail that lets the first call fail one to four times, as far as
// the limit leaves room; and policies of [Coin] behind a tool_fail that lets it fail once. The parameters of the policies are from 0.1 to
// 0.95. The rates are exact. Candidates that change nothing for a policy, as the last do, are among them: so are rates of 0.1 and of 0.95.
func Cases(ctx context.Context, w envharness.World, task envharness.Task) ([]Case, error) {
	p, err := newParts(w).of(ctx, task)
	if err != nil {
		return nil, err
	}
	var all []Case
	registry := components.Catalogue()
	add := func(name string, newPolicy Maker, c envharness.Component, base, rate float64) error {
		stack, err := registry.Entries(c)
		if err == nil {
			all = append(all, Case{name, newPolicy, stack, base, rate})
		}
		return err
	}
	first := []string{p.clean[0].action.Name}
	for _, x := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95} {
		patience, err := Patience(w, x)
		if err != nil {
			return nil, err
		}
		base := PatienceRate(x, len(p.plan), p.limit)
		for turns := len(p.plan); turns < p.limit; turns++ {
			name := fmt.Sprintf("patience %g, step_budget %d", x, turns)
			if err := add(name, patience, components.StepBudget{Turns: turns}, base, PatienceRate(x, len(p.plan), turns)); err != nil {
				return nil, err
			}
		}
		retry, err := Retry(w, x)
		if err != nil {
			return nil, err
		}
		for count := 1; count <= 4 && len(p.clean)+count <= p.limit; count++ {
			name := fmt.Sprintf("retry %g, tool_fail %d", x, count)
			if err := add(name, retry, components.ToolFail{Tools: first, Count: count}, 1, RetryRate(x, count)); err != nil {
				return nil, err
			}
		}
		coin, err := Coin(w, x)
		if err != nil {
			return nil, err
		}
		if len(p.clean)+1 <= p.limit {
			if err := add(fmt.Sprintf("coin %g, tool_fail 1", x), coin, components.ToolFail{Tools: first}, x, x); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

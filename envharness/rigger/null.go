package rigger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/yardstick"
	"github.com/throughline-go/throughline/internal/stat"
)

const (
	fixedNulls = 5    // episodes of a null policy that does not draw
	baseNulls  = 5    // times as many episodes on the unmodified task
	nullLevel  = 0.95 // of the interval that a null policy is judged by
)

// null is the step that asks whether somebody passes who knows nothing of the task. Each of the null policies plays; an episode that could not
// be judged fails the candidate, as it might have been a pass, and so does any pass; but where a pass rate is to be had by chance, only a rate that is above it by more than chance, with the lower end of its Wilson
// interval. The episodes of a policy that does not draw, in a world that does not either, are all the same one.
//
// For the policy that takes admissible actions at random, chance is what it passes of the unmodified task, if that is more than the world says:
// the upper end of the Wilson interval of more episodes, which are played once. A few passes of a small world say nothing against a candidate;
// if none of so many episodes as one candidate gets passed, and that was taken for no chance at all, most candidates would fail by bad luck.
func (in *inspector) null(ctx context.Context, attempt int, found *inspection) (StepResult, error) {
	step := StepResult{Step: StepNull, Result: Passed}
	for _, n := range yardstick.Nulls() {
		newPolicy := func(_ envharness.Task, rng *rand.Rand) (envharness.Policy, error) { return n.New(rng), nil }
		episodes, chance := in.nullEpisodes, in.about.Chance
		if !n.Draws {
			episodes = fixedNulls
		}
		if n.Name == "random" {
			if in.random == nil {
				traces, err := in.play(ctx, "null/random", nil, newPolicy, 0, baseNulls*episodes)
				if err != nil {
					return StepResult{}, err
				}
				found.checked += baseNulls * episodes
				c := tally(traces)
				if c.Valid < len(traces) { // nothing of the candidate is in it
					return StepResult{}, fmt.Errorf("rigger: task %q: the unmodified task: %s", in.task.ID,
						insufficient(n.Name, c, len(traces), traces...))
				}
				in.random = &c
			}
			interval, err := stat.Wilson(in.random.Pass, in.random.Valid, nullLevel)
			if err != nil {
				return StepResult{}, fmt.Errorf("rigger: null policies: %w", err)
			}
			chance = max(chance, interval.Hi)
		}
		traces, err := in.play(ctx, fmt.Sprintf("%d/null/%s", attempt, n.Name), found.stack, newPolicy, 0, episodes)
		if err != nil {
			return StepResult{}, err
		}
		found.checked += episodes
		if step.Reason, err = in.unjudged(ctx, n.Name, traces); err != nil {
			return StepResult{}, err
		}
		if !n.Draws && in.about.Deterministic {
			traces = single(traces)
		}
		if step.Reason == "" {
			step.Reason, err = lucky(n.Name, traces, chance)
			if err != nil {
				return StepResult{}, err
			}
		}
		if step.Reason != "" {
			step.Result = Failed
			return step, nil
		}
	}
	return step, nil
}

// unjudged says why the episodes of a null policy cannot tell anything, as some could not be judged, or nothing. It is an error if that is
// the fault of the base, which it is if the base fails at the same calls without the components.
func (in *inspector) unjudged(ctx context.Context, name string, traces []envharness.Trace) (string, error) {
	for i := range traces {
		switch t := &traces[i]; {
		case t.End == envharness.EndComponentError:
			return name + " met a component that failed: " + t.Cause, nil
		case broke(t):
			if err := in.outage(ctx, t); err != nil {
				return "", err
			}
		}
	}
	if c := tally(traces); c.Valid < len(traces) {
		return insufficient(name, c, len(traces), traces...), nil
	}
	return "", nil
}

// single returns one of several episodes that must have gone alike: one that passed if there is one.
func single(traces []envharness.Trace) []envharness.Trace {
	i := max(0, slices.IndexFunc(traces, func(t envharness.Trace) bool { return t.Verdict.Status == envharness.Pass }))
	return traces[i:min(i+1, len(traces))]
}

// lucky says why a null policy must not have played like this, or nothing.
func lucky(name string, traces []envharness.Trace, chance float64) (string, error) {
	c := tally(traces)
	if c.Pass == 0 {
		return "", nil
	}
	interval, err := stat.Wilson(c.Pass, c.Valid, nullLevel)
	if err != nil {
		return "", fmt.Errorf("rigger: null policies: %w", err)
	}
	if chance > 0 && interval.Lo <= chance {
		return "", nil
	}
	return fmt.Sprintf("%s passes %d of %d episodes, where chance is %.3g", name, c.Pass, c.Valid, chance), nil
}

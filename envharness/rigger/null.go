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

// null is the step that asks whether somebody passes who knows nothing of the task. Each of the null policies plays, and any pass fails the
// candidate; but where a pass rate is to be had by chance, only a rate that is above it by more than chance, with the lower end of its Wilson
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
				in.random = new(tally(traces))
			}
			if c := in.random; c.Valid > 0 {
				interval, err := stat.Wilson(c.Pass, c.Valid, nullLevel)
				if err != nil {
					return StepResult{}, fmt.Errorf("rigger: null policies: %w", err)
				}
				chance = max(chance, interval.Hi)
			}
		}
		traces, err := in.play(ctx, fmt.Sprintf("%d/null/%s", attempt, n.Name), found.stack, newPolicy, 0, episodes)
		if err != nil {
			return StepResult{}, err
		}
		found.checked += episodes
		if !n.Draws && in.about.Deterministic {
			traces = once(traces)
		}
		if reason, err := lucky(traces, chance); err != nil || reason != "" {
			if err != nil {
				return StepResult{}, err
			}
			step.Result, step.Reason = Failed, n.Name+" "+reason
			return step, nil
		}
	}
	return step, nil
}

// once returns one of several episodes that must have gone alike: one that passed if there is one.
func once(traces []envharness.Trace) []envharness.Trace {
	i := max(0, slices.IndexFunc(traces, func(t envharness.Trace) bool { return t.Verdict.Status != envharness.Invalid }))
	if p := slices.IndexFunc(traces, func(t envharness.Trace) bool { return t.Verdict.Status == envharness.Pass }); p >= 0 {
		i = p
	}
	return traces[i:min(i+1, len(traces))]
}

// lucky says why a null policy must not have played like this, or nothing.
func lucky(traces []envharness.Trace, chance float64) (string, error) {
	for i := range traces {
		if t := &traces[i]; t.End == envharness.EndComponentError {
			return "met a component that failed: " + t.Cause, nil
		}
	}
	c := tally(traces)
	if c.Valid == 0 {
		return fmt.Sprintf("could not be judged in any of %d episodes", len(traces)), nil
	}
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
	return fmt.Sprintf("passes %d of %d episodes, where chance is %.3g", c.Pass, c.Valid, chance), nil
}

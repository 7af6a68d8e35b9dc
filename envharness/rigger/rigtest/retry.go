package rigtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
)

// Retry returns a maker of policies that play as those of [Clean] do, but that try again what failed for the moment with probability again
// each time, and else stop. Where so many calls of the plan fail, as behind a components.ToolFail with that Count, they pass at the rate that
// [RetryRate] gives. A rate limit is no such failure. Each policy draws once for each failure.
//
// Again is in [0, 1], else Retry returns an error.
func Retry(w envharness.World, again float64) (Maker, error) {
	if !(again >= 0 && again <= 1) {
		return nil, fmt.Errorf("rigtest: retry tries again with probability %v, which is outside [0, 1]", again)
	}
	known := newParts(w)
	return func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		p, err := known.of(context.Background(), task)
		if err != nil {
			return nil, err
		}
		return &player{p: p, moves: p.clean, retry: func() bool { return rng.Float64() < again }}, nil
	}, nil
}

// RetryRate returns the rate at which policies of [Retry] pass where so many of their calls fail for the moment, which is again^failures. It
// holds where the limit on turns leaves room for all of them.
func RetryRate(again float64, failures int) float64 {
	return math.Pow(again, float64(max(0, failures)))
}

package rigtest

import (
	"context"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
)

// Clean returns a maker of policies that play the world's own plan, without a flaw: they try again what failed for the moment, wait where
// a rate is limited, with calls that change nothing, read on where there are more pages, try again once what was blocked, and look at what
// they wrote before they submit it, in a world that has tools to read with and one to submit. They draw nothing.
func Clean(w envharness.World) Maker {
	known := newParts(w)
	return func(task envharness.Task, _ *rand.Rand) (envharness.Policy, error) {
		p, err := known.of(context.Background(), task)
		if err != nil {
			return nil, err
		}
		return &player{p: p, moves: p.clean}, nil
	}
}

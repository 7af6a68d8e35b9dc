package rigger

import (
	"context"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
)

// Rig works on the tasks of the problem, one after the other, and reports what was accepted.
func Rig(ctx context.Context, p Problem, o *Options) (*Report, error) { panic("to be written") }

// A maker makes the policy of one rollout.
type maker = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error)

// player plays n rollouts of a task behind components, those of the journal not again. The name says what they are for and is unique in the work
// on a task ("baseline", "3/confirm", "3/null/random"); rollout i of it draws from a stream of its own, and has Slot i. Who counts the cost is the
// caller.
type player func(ctx context.Context, name string, stack []envharness.Component, newPolicy maker, from, n int) ([]envharness.Trace, error)

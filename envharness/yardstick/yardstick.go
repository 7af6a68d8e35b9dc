// Package yardstick has policies to measure others against: some that know nothing of their task, and the oracle that sees all of it.
package yardstick

import (
	"context"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
)

// A Null is a policy that knows nothing of its task. A task that one passes teaches nothing.
type Null struct {
	Name  string
	Draws bool // it draws at random; else it plays a task in one way only
	// New returns the policy of one episode, which draws from rng.
	New func(rng *rand.Rand) envharness.Policy
}

// Nulls returns the null policies in a fixed order: "noop" calls a tool of that name, which most worlds do not know; "random" takes an
// admissible action, all equally likely; "submit" calls the first tool that may end the episode at once; "repeat" takes one admissible
// action over and over.
func Nulls() []Null { panic("to be written") }

// Plan returns the actions of the oracle from the start of a task, on an environment of its own. A world without one is an
// [envharness.ErrNotProven].
func Plan(ctx context.Context, w envharness.World, task envharness.Task) ([]envharness.Action, error) {
	panic("to be written")
}

// Oracle returns a policy that plans on an environment of its own when the episode of the task begins, and does as planned.
func Oracle(w envharness.World, task envharness.Task) envharness.Policy { panic("to be written") }

package rigger

import (
	"context"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// inspector runs the steps of the gate that need no rollout of the policy on one task. It is made once a task and keeps what does not change
// from candidate to candidate: the plan, what the base does with the scripted logs, how often a policy that acts at random passes.
type inspector struct {
	world    envharness.World
	task     envharness.Task // with its seed
	about    envharness.Description
	registry *components.Registry
	plan     []envharness.Action // of the base's oracle from the unmodified start; nil without one
	baseline []envharness.Trace  // of the policy, unmodified

	nullEpisodes  int
	searchLimit   int
	maxComponents int
	play          player
}

// inspection is what the inspector found.
type inspection struct {
	steps   []StepResult // up to the first that failed
	stack   []envharness.Component
	proven  bool // somebody passed
	least   int  // turns of the shortest pass that is known; 0 without one
	checked int  // rollouts of policies that know nothing
}

// inspect runs static, integrity, start, oracle and null. The error is one of the context or of the base, and says nothing about the candidate.
func (in *inspector) inspect(ctx context.Context, attempt int, c Candidate) (inspection, error) {
	panic("to be written")
}

// transfer replays what passed behind the candidate on the unmodified base.
func (in *inspector) transfer(ctx context.Context, passed []envharness.Trace) (StepResult, error) {
	panic("to be written")
}

// build makes the components of a candidate, innermost first.
func (in *inspector) build(c Candidate) ([]envharness.Component, error) { panic("to be written") }

package envtest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// A Component is a component to check: how to make it, and where. Only World and New are needed; the other fields let more rules apply.
//
// The rules are about [envharness.Component]; some are promises of the harness about every component, and are checked on this one with
// faults put around its hooks.
type Component struct {
	World envharness.World  // must fit the component, so that it does something there; and repeat itself, else most rules do not apply
	Tasks []envharness.Task // those without a seed are played with the seeds 1 and 2; none means the environment's default task
	// New makes the component with ordinary parameters, anew in each call.
	New func() envharness.Component
	// Identity makes it with parameters that change nothing; nil skips C01.
	Identity func() envharness.Component
	// Off and On make it with probability 0 and 1; nil skips that half of C02. Eligible says which turns On must change, those in which no
	// episode ends if it is nil.
	Off, On  func() envharness.Component
	Eligible func(t *envharness.Trace, turn int) bool
	// Commutes makes components whose order with this one does not matter; none skips that part of C11.
	Commutes []func() envharness.Component
	// Build makes the component from the params of its spec, and refuses what it does not know; nil skips C12.
	Build func(params json.RawMessage) (envharness.Component, error)
	// Idle is set where the component need not change anything on these tasks; it skips C13.
	Idle bool

	Script []envharness.Action // played first in every episode
	// Actions makes the actions that follow; nil means as [Source] says, but without those that submit in the first half of the turns.
	Actions Source
	Turns   int // the limit on the turns of an episode; zero means 10

	// Rollouts plays the episodes; nil means [envharness.Rollouts]. It is there to check another way of playing them.
	Rollouts func(
		ctx context.Context, w envharness.World, components []envharness.Component, newPolicy func(slot int) (envharness.Policy, error),
		tasks []envharness.Task, o *envharness.RolloutOptions,
	) ([]envharness.Trace, error)
}

// Check checks the rules C01 to C20 and joins a [Violation] for each that is broken, in order; nil means that none is. An error that is no
// Violation says that the component cannot be played at all, for example because a parameter is out of range or no actions can be made, or
// that ctx is done.
//
// It plays about forty episodes for each task and seed, one after the other, and waits for nothing but a millisecond for each hook.
func (c Component) Check(ctx context.Context) error {
	x, err := newComponentTrial(ctx, c)
	if err != nil {
		return err
	}
	return checkAll(ctx, x, componentTable())
}

// Run checks each rule in a subtest of its own that bears the rule's id.
func (c Component) Run(t *testing.T) {
	t.Helper()
	x, err := newComponentTrial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, x, componentTable())
}

func componentRules() []Rule { return listed(componentTable()) }

func componentTable() []rule[*componentTrial] {
	return []rule[*componentTrial]{
		{"C01", "parameters of the identity leave every episode as it is", checkIdentity},
		{"C02", "probability 0 is the identity, and probability 1 changes every turn that it can", checkProbability},
		{"C03", "adding it shifts no other random stream", checkStreams},
		{"C04", "the same seed and actions give the same valid episode", checkDeterministic},
		{"C05", "nothing survives a Reset", checkForgets},
		{"C06", "the same calls on the base get the same verdict with and without it", checkVerdict},
		{"C07", "no hook changes the base", checkHooksLeaveBase},
		{"C08", "rewards and Terminated are those of the base", checkRewards},
		{"C09", "a blocked turn leaves the base alone, counts, and shows the present observation", checkBlocked},
		{"C10", "the flags and the observation of the end are shown as they are", checkEnd},
		{"C11", "an illegal place in a stack is refused, and declared pairs commute", checkOrder},
		{"C12", "the spec makes the same component again, and an unknown parameter is refused", checkSpec},
		{"C13", "it changes something", checkChanges},
		{"C14", "a start is made without a refusal, does not end or solve the task, and leaves all turns", checkStart},
		{"C15", "no key of Info is removed or changed", checkInfo},
		{"C16", "it copes with any observation and shows valid UTF-8", checkObservations},
		{"C17", "in a chain and around one, verdicts are joined, legs graded once, seeds derived and environments closed", checkChain},
		{"C18", "an error of a hook makes the episode invalid, is recorded, and the environment is closed", checkHookError},
		{"C19", "so does a panic of a hook", checkHookPanic},
		{"C20", "so does a hook that takes too long", checkHookTimeout},
	}
}

func checkIdentity(ctx context.Context, x *componentTrial) error {
	return x.isIdentity(ctx, x.Identity, "parameters of the identity")
}

// isIdentity compares episodes with a component to those without.
func (x *componentTrial) isIdentity(ctx context.Context, build func() envharness.Component, what string) error {
	if build == nil {
		return skip("no %s are given", what)
	}
	without, err := x.bare(ctx)
	if err != nil {
		return err
	}
	with, err := x.each(ctx, build)
	if err != nil {
		return err
	}
	return differAll(without, with)
}

func checkDeterministic(ctx context.Context, x *componentTrial) error {
	_, err := x.steady(ctx)
	return err
}

// checkForgets plays all tasks with one component, leaves some episodes in the middle, and plays all again.
func checkForgets(ctx context.Context, x *componentTrial) error {
	want, err := x.steady(ctx)
	if err != nil {
		return err
	}
	n := len(x.tasks)
	s := staging{components: []envharness.Component{x.New()}}
	for range 3 {
		s.tasks = append(s.tasks, x.tasks...)
	}
	s.policy = func(slot int) envharness.Policy {
		p := x.policy(*s.tasks[slot].Seed)
		if slot/n != 1 {
			return p
		}
		return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
			if t.Index > 1 {
				return envharness.Action{}, envharness.ErrStop
			}
			return p.Act(ctx, t)
		})
	}
	got, err := x.play(ctx, s)
	if err != nil {
		return err
	}
	for _, round := range [][]played{got[:n], got[2*n:]} {
		if err := differAll(want, round); err != nil {
			return err
		}
	}
	return nil
}

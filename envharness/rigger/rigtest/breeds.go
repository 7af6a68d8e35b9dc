package rigtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// breeds are in the order of the ids of their flaws.
var breeds = []breed{
	{
		flaw: diagnosis.Loop, about: "after its first action makes one call that changes nothing for the rest of the episode",
		moves: loops,
		shows: func(_ *part, t envharness.Trace) bool { return fails(t) && ranOut(t) },
		entails: func(p *part, t envharness.Trace) []diagnosis.ID {
			also := []diagnosis.ID{diagnosis.LittleExploration} // one result for most of the turns
			call := t.Turns[len(t.Turns)-1].Proposed.Name
			if !p.inPlan(call) {
				also = append(also, diagnosis.Distracted)
			}
			if p.reads() && !p.readOnly(call) {
				also = append(also, diagnosis.RepeatedWrite)
			}
			return also
		},
	},
	{
		flaw: diagnosis.PrematureStop, about: "submits before it wrote anything, or stops after its first action",
		moves: stopsEarly,
		shows: func(p *part, t envharness.Trace) bool { return fails(t) && p.early(len(t.Turns)) && !ranOut(t) },
	},
	{
		flaw: diagnosis.IgnoredError, about: "takes a write that failed for the moment as done",
		habit: ignoresFailed, stacks: failingWrites,
		shows: func(p *part, t envharness.Trace) bool { return fails(t) && goesOn(p, t) },
		entails: func(p *part, t envharness.Trace) []diagnosis.ID {
			also := []diagnosis.ID{diagnosis.NoRetry}
			if p.reads() {
				also = append(also, diagnosis.UnverifiedWrite) // it does not look either
			}
			if refusals(t, envharness.ClassPrecondition) >= 2 {
				also = append(also, diagnosis.NoPrecondition) // what was not done is missed later
			}
			return also
		},
	},
	{
		flaw: diagnosis.NoRetry, about: "never calls again a tool that failed for the moment: does without, or gives up",
		habit: dropsFailed, stacks: failingCalls,
		shows: func(_ *part, t envharness.Trace) bool { return droppedTool(t) },
	},
	{
		flaw: diagnosis.BlindRetry, about: "repeats at once two calls that were refused for good",
		moves: retriesBlindly,
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) },
		entails: func(_ *part, t envharness.Trace) []diagnosis.ID {
			var also []diagnosis.ID
			if sameRefusals(t) >= 3 {
				also = append(also, diagnosis.Loop) // both calls are the same one
			}
			wrong := refusals(t, envharness.ClassBadArgs) + refusals(t, envharness.ClassNotFound)
			if wrong >= 2 {
				also = append(also, diagnosis.WrongArgument)
			}
			if refusals(t, envharness.ClassPrecondition) >= 2 {
				also = append(also, diagnosis.NoPrecondition)
			}
			return also
		},
	},
	{
		flaw: diagnosis.UnreadPages, about: "does not read on where there is more, and gives up before the last action",
		habit: leavesPages, stacks: pagedStart,
		shows: func(_ *part, t envharness.Trace) bool { return fails(t) && !ranOut(t) },
	},
	{
		flaw: diagnosis.OverLong, about: "takes a detour and passes",
		moves: detours,
		shows: func(p *part, t envharness.Trace) bool { return !fails(t) && p.long(len(t.Turns)) },
	},
	{
		flaw: diagnosis.BudgetExhausted, about: "wanders about until the turns are used up",
		moves: func(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
			moves, err := wander(ctx, l, p, p.limit, false)
			return moves, nil, err
		},
		shows: func(_ *part, t envharness.Trace) bool { return fails(t) && ranOut(t) },
	},
	{
		flaw: diagnosis.WrongArgument, about: "leaves the arguments of two calls out",
		moves: wrongArguments,
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) && refusals(t, envharness.ClassBadArgs) >= 2 },
	},
	{
		flaw: diagnosis.NoPrecondition, about: "makes two calls before they can be carried out",
		moves: actsTooSoon,
		shows: func(_ *part, t envharness.Trace) bool {
			return !fails(t) && refusals(t, envharness.ClassPrecondition) >= 2
		},
	},
	{
		flaw: diagnosis.UnverifiedWrite, about: "submits right after its last write",
		moves: func(_ context.Context, _ *lab, p *part) ([]move, []components.Edge, error) {
			moves := slices.DeleteFunc(slices.Clone(p.clean), func(m move) bool { return m.verify })
			if len(moves) == len(p.clean) {
				return nil, nil, fmt.Errorf("%w: nothing is looked at after the last write", ErrNoPlace)
			}
			return moves, nil, nil
		},
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) },
	},
	{
		flaw: diagnosis.UngroundedValue, about: "makes a call with a word that nobody showed it",
		moves: inventsWord,
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) },
	},
	{
		flaw: diagnosis.Unreadable, about: "gives one answer that is no action, and calls one tool that there is not",
		moves: func(_ context.Context, _ *lab, p *part) ([]move, []components.Edge, error) {
			if len(p.plan) < 2 {
				return nil, nil, fmt.Errorf("%w: the plan is too short", ErrNoPlace)
			}
			moves := inserted(p.clean, 0, move{do: garble})
			return inserted(moves, 1, move{action: envharness.Action{Name: "ponder"}}), nil, nil
		},
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) && 10*2 > len(t.Turns) },
	},
	{
		flaw: diagnosis.Distracted, about: "calls two tools that are of no use, and gives up before the last action",
		habit: chasesTools,
		stacks: func(*part) [][]envharness.Component {
			pool := []envharness.Tool{
				{Name: "read_forum", Description: "Shows what others wrote.", ReadOnly: true},
				{Name: "read_news", Description: "Shows what is new.", ReadOnly: true},
			}
			return [][]envharness.Component{{components.Distractor{N: new(2), Pool: pool}}}
		},
		shows: func(_ *part, t envharness.Trace) bool { return fails(t) && !ranOut(t) },
	},
	{
		flaw: diagnosis.LittleExploration, about: "makes different calls that show nothing new, and gives up",
		moves: staysPut,
		shows: func(p *part, t envharness.Trace) bool { return fails(t) && !p.early(len(t.Turns)) && !ranOut(t) },
		entails: func(p *part, t envharness.Trace) []diagnosis.ID {
			if !p.reads() || p.readOnly(t.Turns[len(t.Turns)-1].Proposed.Name) {
				return nil
			}
			return []diagnosis.ID{diagnosis.RepeatedWrite}
		},
	},
	{
		flaw: diagnosis.OrderViolation, about: "does two things of the plan in the other order",
		moves: swaps,
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) },
	},
	{
		flaw: diagnosis.RepeatedWrite, about: "makes a write a second time",
		moves: writesTwice,
		shows: func(p *part, t envharness.Trace) bool { return !ranOut(t) },
	},
	{
		flaw: diagnosis.Hammering, about: "calls again at once where it is told to wait",
		habit: hammers, stacks: limitedRates,
		shows: func(_ *part, t envharness.Trace) bool { return refusals(t, envharness.ClassRateLimit) == 2 },
	},
}

func fails(t envharness.Trace) bool { return t.Verdict.Status != envharness.Pass }

// refusals counts the turns that were refused with the class.
func refusals(t envharness.Trace, class envharness.ErrorClass) int {
	n := 0
	for _, turn := range t.Turns {
		if turn.Shown.Error != nil && turn.Shown.Error.Class == class {
			n++
		}
	}
	return n
}

// sameRefusals counts the turns with the call that was most often refused for good with equal words.
func sameRefusals(t envharness.Trace) int {
	most, times := 0, make(map[string]int)
	for _, turn := range t.Turns {
		if e := turn.Shown.Error; e != nil && !e.Retryable && turn.Proposed != nil {
			key := turn.Proposed.String() + "\n" + turn.Shown.Observation.Text
			times[key]++
			most = max(most, times[key])
		}
	}
	return most
}

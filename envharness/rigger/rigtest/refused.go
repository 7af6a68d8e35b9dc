package rigtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A refusal is a call that is refused for good in front of action k of the plan.
type refusal struct {
	k      int
	action envharness.Action
}

// refusedCalls finds two calls that are refused for good with the class and leave all as it is: of the plan, or listed. They differ, or
// the world shows something else in between.
func refusedCalls(ctx context.Context, l *lab, p *part, class envharness.ErrorClass) ([]refusal, error) {
	var found []refusal
	for k := range p.plan {
		v, err := l.play(ctx, p.plan[:k])
		if err != nil {
			return nil, err
		}
		before := v.now()
		candidates := slices.Clone(p.plan)
		for _, a := range before.Actions {
			if len(candidates) < 64 && !slices.ContainsFunc(candidates, func(c envharness.Action) bool { return same(a, c) }) {
				candidates = append(candidates, a)
			}
		}
		for _, a := range candidates {
			again := slices.ContainsFunc(found, func(r refusal) bool {
				return same(r.action, a) && (r.k == k || p.texts[r.k] == p.texts[k])
			})
			if again {
				continue
			}
			v, err := l.play(ctx, append(slices.Clone(p.plan[:k]), a))
			if err != nil {
				return nil, err
			}
			if e := v.last(); e != nil && !e.Retryable && e.Class == class && groundedIn(v.shown[:k+1], a) {
				if found = append(found, refusal{k, a}); len(found) == 2 {
					return found, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("%w: fewer than two calls are refused as %s", ErrNoPlace, class)
}

// groundedIn reports whether the values of the action are in one of what was shown.
func groundedIn(shown []envharness.Observation, a envharness.Action) bool {
	return slices.ContainsFunc(shown, func(o envharness.Observation) bool {
		return grounded([]envharness.Observation{o}, []envharness.Action{a})
	})
}

// retriesBlindly makes each of two calls that are refused for good twice.
func retriesBlindly(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	var errs []error
	for _, class := range []envharness.ErrorClass{
		envharness.ClassPermission, envharness.ClassOther, envharness.ClassPrecondition, envharness.ClassNotFound, envharness.ClassBadArgs,
	} {
		found, err := refusedCalls(ctx, l, p, class)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		moves := p.clean
		for i := len(found) - 1; i >= 0; i-- {
			m := move{action: found[i].action}
			moves = inserted(moves, found[i].k, m, m)
		}
		return moves, nil, nil
	}
	return nil, nil, errs[0]
}

// actsTooSoon makes two calls before what they need was done.
func actsTooSoon(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	found, err := refusedCalls(ctx, l, p, envharness.ClassPrecondition)
	if err != nil {
		return nil, nil, err
	}
	moves := p.clean
	for i := len(found) - 1; i >= 0; i-- {
		moves = inserted(moves, found[i].k, move{action: found[i].action})
	}
	return moves, nil, nil
}

// wrongArguments makes two calls of the plan without what they need, or with what they do not know.
func wrongArguments(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	if len(p.plan) < 2 {
		return nil, nil, fmt.Errorf("%w: the plan is too short", ErrNoPlace)
	}
	moves := p.clean
	for k := 1; k >= 0; k-- {
		a := envharness.Action{Name: p.plan[k].Name, Args: json.RawMessage(`{}`)}
		if len(leaves(p.plan[k])) == 0 {
			a.Args = json.RawMessage(`{"fast":true}`)
		}
		v, err := l.play(ctx, append(slices.Clone(p.plan[:k]), a))
		if err != nil {
			return nil, nil, err
		}
		if e := v.last(); e == nil || e.Class != envharness.ClassBadArgs {
			return nil, nil, fmt.Errorf("%w: %s is not refused as %s", ErrNoPlace, a, envharness.ClassBadArgs)
		}
		moves = inserted(moves, k, move{action: a})
	}
	return moves, nil, nil
}

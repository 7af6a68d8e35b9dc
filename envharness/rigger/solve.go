package rigger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// oracle is the step that asks whether anybody passes behind the whole stack within the limits. Nothing counts as a proof but an episode
// that the verifier passed. Three ways to one are tried, the cheap ones first:
//
//   - the plan of the world's oracle, made anew from where the base is, with calls put as the stack asks for, requirements met, and
//     refusals waited out;
//   - what the policy did when it passed the unmodified task, in the same manner;
//   - a search over the calls that are listed, see [inspector.search].
//
// An oracle that proves that the base cannot be solved from the start refutes the candidate, as no component can change what the base does.
// Else nothing was shown; that fails a candidate that is to be harder, and is let through for one that is to be easier.
func (in *inspector) oracle(ctx context.Context, d components.Direction, found *inspection) (StepResult, error) {
	s, err := once(in.solutions, found.key, func() (solution, error) { return in.solve(ctx, found.stack) })
	if err != nil {
		return StepResult{}, err
	}
	step := StepResult{Step: StepOracle, Result: s.result, Reason: s.reason}
	if s.result == Passed {
		found.proven = true
	} else if s.result == Unproven && d != components.Easier {
		step.Result, step.Reason = Failed, "not proven to be solvable: "+s.reason
	}
	return step, nil
}

// A solution is what is known of whether a stack can be passed.
type solution struct {
	result Result              // Passed, Failed if it was refuted, or Unproven
	reason string              // of one way that is not proven, how it ended
	proof  []envharness.Action // calls of the episode that passed, one a turn
}

// solve looks for an episode that passes.
func (in *inspector) solve(ctx context.Context, stack []envharness.Component) (solution, error) {
	s, err := in.pursue(ctx, stack, "the oracle", nil)
	if err != nil || s.result != Unproven {
		return s, err
	}
	seen := []string{"the oracle " + s.reason} // on the ways that led nowhere
	if !in.plans {
		seen[0] = "the world has no oracle"
	}
	slots := make(map[string][]int) // of the rollouts that passed, by why what they did does not
	var whys []string
	tried := make(map[string]string) // why, by calls
	for i := range in.baseline {
		t := &in.baseline[i]
		if t.Verdict.Status != envharness.Pass {
			continue
		}
		calls := carriedOut(t)
		why, known := tried[textOf(calls)]
		if !known {
			if s, err = in.pursue(ctx, stack, passedIn(t.Slot), calls); err != nil || s.result != Unproven {
				return s, err
			}
			why = s.reason
			tried[textOf(calls)] = why
		}
		if slots[why] == nil {
			whys = append(whys, why)
		}
		slots[why] = append(slots[why], t.Slot)
	}
	for _, why := range whys {
		seen = append(seen, passedIn(slots[why]...)+" "+why)
	}
	if in.searchLimit > 0 {
		if s, err = in.search(ctx, stack); err != nil || s.result != Unproven {
			return s, err
		}
		seen = append(seen, s.reason)
	}
	return solution{result: Unproven, reason: strings.Join(seen, "; ")}, nil
}

// passedIn names what the policy did in rollouts that passed.
func passedIn(slots ...int) string {
	if len(slots) == 1 {
		return fmt.Sprintf("what passed in rollout %d of the unmodified task", slots[0])
	}
	return fmt.Sprintf("what passed in rollouts %s of the unmodified task", strings.Join(strings.Fields(strings.Trim(fmt.Sprint(slots), "[]")), ", "))
}

// proposals returns the calls of a policy, one a turn.
func proposals(t *envharness.Trace) []envharness.Action {
	var calls []envharness.Action
	for i := range t.Turns {
		if p := t.Turns[i].Proposed; p != nil {
			calls = append(calls, *p)
		}
	}
	return calls
}

// proven returns the solution that an episode is.
func proven(way string, t *envharness.Trace) solution {
	calls := proposals(t)
	return solution{Passed, fmt.Sprintf("%s passes in %d turns, with %d calls on the base", way, len(calls), len(carriedOut(t))), calls}
}

// ending says how an episode that did not pass came to its end.
func ending(t *envharness.Trace) string {
	switch {
	case t.Verdict.Status == envharness.Invalid:
		return "could not be judged: " + cmp.Or(t.Cause, t.Verdict.Reason)
	case t.End == envharness.EndAgentStop:
		return fmt.Sprintf("knew no way on after %d turns", len(t.Turns))
	}
	return fmt.Sprintf("did not pass in %d turns, the end was %s", len(t.Turns), t.End)
}

// outwards returns the call that a policy has to make at the outer side of a stack so that an action comes out at its inner side.
func outwards(stack []envharness.Component, a envharness.Action) envharness.Action {
	for _, c := range stack {
		if t, ok := c.(interface {
			Outward(a envharness.Action) envharness.Action
		}); ok {
			a = t.Outward(a)
		}
	}
	return a
}

// A pursuit is the policy that follows a plan through a stack.
type pursuit struct {
	stack  []envharness.Component
	deeds  *deeds
	shadow *shadow
	fixed  bool                // the plan is a given one and is not made anew
	plan   []envharness.Action // of the base, what is still to do; nil if it is to be made

	needs    []need              // what is to be done first, the next one last
	done     []envharness.Action // that the base carried out
	asked    map[string]int      // by action, how often its requirements were looked up
	intended envharness.Action   // of the base, or of the level of the need that is served
	refuted  bool
	failed   error // of the shadow
}

// A need is a pattern of calls, as the component at a level sees them, that is to be carried out before something else.
type need struct {
	level   int
	match   components.Match
	options []envharness.Action // calls at the outer side of the level's inner neighbours that fit, the best first
	tries   int                 // of the first option
}

// Limits on how long a pursuit insists.
const (
	mostLookups = 3 // of the requirements of one action
	mostOffers  = 4 // of one option of a need
)

// pursue plays an episode in which a plan is followed. Without a fixed one it is the oracle's.
func (in *inspector) pursue(ctx context.Context, stack []envharness.Component, way string, fixed []envharness.Action) (solution, error) {
	if fixed == nil && !in.plans {
		return solution{result: Unproven}, nil
	}
	var shadows shadows
	defer shadows.close()
	var p *pursuit // of the present attempt
	trace, err := in.shadowed(ctx, stack, func() *deeds { return p.deeds }, func() error { return p.failed }, func() envharness.Policy {
		p = &pursuit{stack: stack, deeds: new(deeds), fixed: fixed != nil, plan: slices.Clone(fixed), asked: make(map[string]int)}
		p.shadow, p.failed = shadows.open(ctx, in)
		return envharness.PolicyFunc(p.act)
	})
	switch {
	case err != nil:
		return solution{}, err
	case trace.Verdict.Status == envharness.Pass:
		return proven(way, &trace), nil
	case p.refuted:
		return solution{result: Failed, reason: way + " proves that there is no solution from the start"}, nil
	case p.failed != nil:
		return solution{result: Unproven, reason: fmt.Sprintf("knew no way on: %v", p.failed)}, nil
	}
	return solution{result: Unproven, reason: ending(&trace)}, nil
}

// act makes the next call. What was refused is asked for again, as most refusals pass: a need of it that is not met is met first, if the
// component says what it is.
func (p *pursuit) act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	if p.failed != nil {
		return envharness.Action{}, envharness.ErrStop
	}
	stepped, err := p.learn(ctx)
	if err != nil {
		p.failed = err
		return envharness.Action{}, envharness.ErrStop
	}
	if t.Index > 0 && !stepped && t.Error != nil {
		p.refusal(ctx)
	}
	for len(p.needs) > 0 {
		n := &p.needs[len(p.needs)-1]
		if n.tries >= mostOffers {
			n.options, n.tries = n.options[1:], 0
		}
		if len(n.options) > 0 {
			n.tries++
			p.intended = n.options[0]
			return outwards(p.stack[n.level:], n.options[0]), nil
		}
		p.needs = p.needs[:len(p.needs)-1] // nobody knows how; perhaps it is let through after all
	}
	if len(p.plan) == 0 {
		if err := p.replan(ctx, t); err != nil {
			return envharness.Action{}, err
		}
	}
	p.intended = p.plan[0]
	return outwards(p.stack, p.intended), nil
}

// replan asks the oracle for a plan from where the base is.
func (p *pursuit) replan(ctx context.Context, t envharness.Turn) error {
	if p.fixed {
		return envharness.ErrStop
	}
	plan, err := p.shadow.plan(ctx)
	switch {
	case errors.Is(err, envharness.ErrNoPlan):
		p.refuted = t.Index == 0
		return envharness.ErrStop
	case err != nil:
		p.failed = err
		return envharness.ErrStop
	case len(plan) == 0:
		return envharness.ErrStop
	}
	p.plan = plan
	return nil
}

// learn takes in what happened on the base and reports whether it was stepped.
func (p *pursuit) learn(ctx context.Context) (stepped bool, err error) {
	news, err := p.shadow.follow(ctx, p.deeds)
	if err != nil {
		return false, err
	}
	for _, d := range news {
		if d.kind != envharness.LogStep {
			continue
		}
		stepped = true
		if d.result.Error != nil {
			p.refusedByBase()
			continue
		}
		p.done = append(p.done, d.action)
		switch {
		case p.fulfil(d.action):
			if !p.fixed {
				p.plan = nil // it may have been for another way
			}
		case len(p.plan) > 0 && sameCall(p.plan[0], d.action):
			p.plan = p.plan[1:]
		case !p.fixed:
			p.plan = nil
		}
	}
	return stepped, nil
}

// refusedByBase gives up what the base does not carry out.
func (p *pursuit) refusedByBase() {
	switch {
	case len(p.needs) > 0:
		n := &p.needs[len(p.needs)-1]
		if len(n.options) > 0 {
			n.options, n.tries = n.options[1:], 0
		}
	case p.fixed && len(p.plan) > 0:
		p.plan = p.plan[1:]
	default:
		p.plan = nil
	}
}

// fulfil drops the need at hand if an action of the base is what it asked for.
func (p *pursuit) fulfil(a envharness.Action) bool {
	if len(p.needs) == 0 {
		return false
	}
	n := p.needs[len(p.needs)-1]
	if !n.match.Fits(outwards(p.stack[:n.level], a)) {
		return false
	}
	p.needs = p.needs[:len(p.needs)-1]
	return true
}

// refusal looks up what the call that was refused needs, from the outermost component in: who refuses it first is asked first, but for those
// of whom all is done already.
func (p *pursuit) refusal(ctx context.Context) {
	from, a := 0, p.intended
	if len(p.needs) > 0 {
		from = p.needs[len(p.needs)-1].level
	}
	key := fmt.Sprint(from, a)
	if p.asked[key] >= mostLookups {
		return
	}
	p.asked[key]++
	outermost, all := -1, []components.Match(nil) // where all was done, and perhaps no longer counts
	for level := len(p.stack) - 1; level >= 0; level-- {
		r, ok := p.stack[level].(interface {
			Requires(a envharness.Action) []components.Match
		})
		if !ok {
			continue
		}
		required := r.Requires(outwards(p.stack[min(from, level):level], a)) // further in than from it may have another name, which nobody tells
		if len(required) == 0 {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(required), func(m components.Match) bool {
			return slices.ContainsFunc(p.done, func(b envharness.Action) bool { return m.Fits(outwards(p.stack[:level], b)) })
		})
		if len(missing) > 0 {
			p.require(ctx, level, missing)
			return
		}
		if outermost < 0 {
			outermost, all = level, required
		}
	}
	if outermost >= 0 {
		p.require(ctx, outermost, all)
	}
}

// require makes patterns needs, the first one to be met first.
func (p *pursuit) require(ctx context.Context, level int, missing []components.Match) {
	for _, m := range slices.Backward(missing) {
		p.needs = append(p.needs, need{level: level, match: m, options: p.options(ctx, level, m)})
	}
}

// options returns calls that fit a pattern, as the component at the level sees them: those of the plan first, then those that the base
// lists, then one that is made up from the pattern. Where the base can go back, those that leave the task solvable with fewer calls come
// first, and those that do not are left out.
func (p *pursuit) options(ctx context.Context, level int, m components.Match) []envharness.Action {
	type option struct {
		call envharness.Action
		left int
	}
	var found []option
	add := func(call envharness.Action, left int) {
		if m.Fits(call) && !slices.ContainsFunc(found, func(o option) bool { return sameCall(o.call, call) }) {
			found = append(found, option{call, left})
		}
	}
	for _, a := range slices.Concat(p.plan, p.shadow.raw.Actions) {
		call := outwards(p.stack[:level], a)
		if !m.Fits(call) {
			continue
		}
		left := 0
		if o, ok, err := p.shadow.try(ctx, a); err == nil && ok {
			if o.refused || o.dead || o.ended {
				continue
			}
			left = o.left
		}
		add(call, left)
	}
	slices.SortStableFunc(found, func(a, b option) int { return cmp.Compare(a.left, b.left) })
	if m.Tool != "" && !strings.ContainsAny(m.Tool, `*?[\`) {
		args, err := json.Marshal(m.Args)
		if len(m.Args) == 0 || err != nil {
			args = nil
		}
		add(envharness.Action{Name: m.Tool, Args: args}, 0)
	}
	calls := make([]envharness.Action, len(found))
	for i, o := range found {
		calls[i] = o.call
	}
	return calls
}

// sameCall compares two calls as the base reads them.
func sameCall(a, b envharness.Action) bool {
	if a.Name != b.Name {
		return false
	}
	if len(a.Args) == 0 || len(b.Args) == 0 {
		return noArgs(a.Args) && noArgs(b.Args)
	}
	return string(a.Args) == string(b.Args) || sameJSON(a.Args, b.Args) == nil
}

// noArgs reports whether there are none, however that is written.
func noArgs(args json.RawMessage) bool {
	return len(args) == 0 || sameJSON(args, json.RawMessage("{}")) == nil
}

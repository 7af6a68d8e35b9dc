package rigtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// ErrNoPlace is that a task has no room for a flaw.
var ErrNoPlace = errors.New("rigtest: the flaw cannot be planted in this task")

// Options adjusts [Flawed]. A nil *Options equals &Options{}.
type Options struct {
	Rate *float64 // share of the episodes that show the flaw, in [0, 1]; nil means 0.8
}

const defaultRate = 0.8

// Flawed returns a maker of policies that play as those of [Clean] do, but for one flaw, in the share of the episodes that o says; each
// policy draws once, to see whether it is one of them. The error is that of an unknown flaw, of one that cannot be planted (F13, F14), or of
// a rate out of range. The maker returns an [ErrNoPlace] for tasks that leave no room for the flaw.
//
// Some flaws show only behind a component or against rules; see [Plants].
func Flawed(w envharness.World, flaw diagnosis.ID, o *Options) (Maker, error) {
	rate := defaultRate
	if o != nil && o.Rate != nil {
		rate = *o.Rate
	}
	b, known := find(flaw)
	switch {
	case !known:
		return nil, fmt.Errorf("rigtest: flaw %q cannot be planted, want one of %v", flaw, plantable())
	case !(rate >= 0 && rate <= 1):
		return nil, fmt.Errorf("rigtest: rate %v of flaw %s is outside [0, 1]", rate, flaw)
	}
	return b.maker(newParts(w), rate), nil
}

// A Plant is a flaw in one task.
type Plant struct {
	Flaw  diagnosis.ID
	About string                 // what the policy does, in words
	Stack []envharness.Component // to put around the world so that the flaw shows, innermost first; nil if it does by itself
	Edges []components.Edge      // rules that the flaw breaks, for [diagnosis.Context]; nil for most
	// Entails are further flaws that episodes with this one have by its nature there, ascending: what loops to the end of the episode also
	// runs into a limit. A diagnosis that reports them raises no false alarm.
	Entails []diagnosis.ID
}

// Plants returns the flaws that the task has room for, in the order of their ids. Which they are depends on the tools, what they answer, and the
// limit on turns alone, not on names. Behind the Stack of each a policy of [Clean] passes, in at most one and a half times as many turns as
// the plan has, so that it shows no flaw there.
//
// Each flaw is played to make sure, with and without; that takes some hundred resets of the world.
func Plants(ctx context.Context, w envharness.World, task envharness.Task) ([]Plant, error) {
	if task.Seed == nil {
		task.Seed = new(uint64(1))
	}
	known := newParts(w)
	p, err := known.of(ctx, task)
	if err != nil {
		return nil, err
	}
	var all []Plant
	for _, b := range breeds {
		plant, err := b.plant(ctx, known, p)
		switch {
		case errors.Is(err, ErrNoPlace):
		case err != nil:
			return nil, fmt.Errorf("rigtest: flaw %s: %w", b.flaw, err)
		default:
			all = append(all, plant)
		}
	}
	return all, nil
}

// A breed is one way to be flawed.
type breed struct {
	flaw  diagnosis.ID
	about string
	habit habit
	// moves are those of a flawed episode; nil means the clean ones. Edges are set by a flaw against rules.
	moves func(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error)
	// stacks are components to try, in this order, until the flaw shows; nil means that it shows without.
	stacks func(p *part) [][]envharness.Component
	// shows reports whether a flawed episode is what it should be, as far as the world and the components have their part in it.
	shows func(p *part, t envharness.Trace) bool
	// entails are flaws that come with it, but for those that follow from the number of turns.
	entails func(p *part, t envharness.Trace) []diagnosis.ID
}

func find(flaw diagnosis.ID) (breed, bool) {
	i := slices.IndexFunc(breeds, func(b breed) bool { return b.flaw == flaw })
	if i < 0 {
		return breed{}, false
	}
	return breeds[i], true
}

func plantable() []diagnosis.ID {
	var ids []diagnosis.ID
	for _, b := range breeds {
		ids = append(ids, b.flaw)
	}
	return ids
}

// A script is how a flawed episode of a task goes.
type script struct {
	moves []move
	edges []components.Edge
}

func (b breed) script(ctx context.Context, w envharness.World, p *part) (script, error) {
	if b.moves == nil {
		return script{moves: p.clean}, nil
	}
	l, err := openLab(ctx, w, p.task)
	if err != nil {
		return script{}, err
	}
	defer l.env.Close()
	moves, edges, err := b.moves(ctx, l, p)
	return script{moves, edges}, err
}

func (b breed) maker(known *parts, rate float64) Maker {
	var scripts memo[script]
	return func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		p, err := known.of(context.Background(), task)
		if err != nil {
			return nil, err
		}
		s, err := scripts.of(task, func() (script, error) { return b.script(context.Background(), known.world, p) })
		switch {
		case err != nil:
			return nil, fmt.Errorf("rigtest: flaw %s, task %q: %w", b.flaw, task.ID, err)
		case rng.Float64() >= rate:
			return &player{p: p, moves: p.clean}, nil
		}
		return &player{p: p, moves: s.moves, habit: b.habit}, nil
	}
}

func (b breed) plant(ctx context.Context, known *parts, p *part) (Plant, error) {
	s, err := b.script(ctx, known.world, p)
	if err != nil {
		return Plant{}, err
	}
	stacks := [][]envharness.Component{nil}
	if b.stacks != nil {
		stacks = b.stacks(p)
	}
	for _, stack := range stacks {
		flawed, err := rollout(ctx, known.world, stack, p.task, &player{p: p, moves: s.moves, habit: b.habit})
		if err != nil {
			return Plant{}, err
		}
		clean, err := rollout(ctx, known.world, stack, p.task, &player{p: p, moves: p.clean})
		if err != nil {
			return Plant{}, err
		}
		if clean.Verdict.Status != envharness.Pass || p.long(len(clean.Turns)) || refusals(clean, envharness.ClassRateLimit) > 1 ||
			flawed.Verdict.Status == envharness.Invalid || !b.shows(p, flawed) {
			continue
		}
		plant := Plant{Flaw: b.flaw, About: b.about, Stack: stack, Edges: s.edges, Entails: p.follows(flawed)}
		if b.entails != nil {
			plant.Entails = append(plant.Entails, b.entails(p, flawed)...)
		}
		slices.Sort(plant.Entails)
		plant.Entails = slices.DeleteFunc(slices.Compact(plant.Entails), func(f diagnosis.ID) bool { return f == b.flaw })
		return plant, nil
	}
	return Plant{}, ErrNoPlace
}

func rollout(
	ctx context.Context, w envharness.World, stack []envharness.Component, task envharness.Task, policy envharness.Policy,
) (envharness.Trace, error) {
	traces, err := envharness.Rollouts(ctx, w, stack, func(int) (envharness.Policy, error) { return policy, nil },
		[]envharness.Task{task}, &envharness.RolloutOptions{Reruns: new(0)})
	if err != nil {
		return envharness.Trace{}, err
	}
	return traces[0], nil
}

// long reports whether so many turns are more than one and a half times those of the plan.
func (p *part) long(turns int) bool { return 2*turns > 3*len(p.plan) }

// early reports whether so many turns are at most half of the limit.
func (p *part) early(turns int) bool { return 2*turns <= p.limit }

// follows returns the flaws that follow from how long the episode took and how it ended.
func (p *part) follows(t envharness.Trace) []diagnosis.ID {
	turns, passed := len(t.Turns), t.Verdict.Status == envharness.Pass
	switch {
	case passed && p.long(turns):
		return []diagnosis.ID{diagnosis.OverLong}
	case ranOut(t):
		return []diagnosis.ID{diagnosis.BudgetExhausted}
	case !passed && p.early(turns) && p.triesLess(t):
		return []diagnosis.ID{diagnosis.PrematureStop}
	}
	return nil
}

// triesLess reports whether the episode has fewer writes than the plan, carried out or not, or fewer calls if writes cannot be told: what
// tries all and fails did not stop too soon.
func (p *part) triesLess(t envharness.Trace) bool {
	reads := slices.ContainsFunc(p.about.Tools, func(t envharness.Tool) bool { return t.ReadOnly })
	writes := slices.ContainsFunc(p.about.Tools, func(t envharness.Tool) bool { return !t.ReadOnly && !t.Submits })
	counts := func(a envharness.Action) bool {
		return !(reads && writes) || !p.readOnly(a.Name) && !p.submitting(a.Name)
	}
	left := 0
	for _, a := range p.plan {
		if counts(a) {
			left++
		}
	}
	for _, turn := range t.Turns {
		if turn.Proposed != nil && counts(*turn.Proposed) {
			left--
		}
	}
	return left > 0
}

func ranOut(t envharness.Trace) bool {
	return t.End == envharness.EndTruncated || t.End == envharness.EndMaxTurns
}

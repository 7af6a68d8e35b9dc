package rigger

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// search looks for an episode that passes by trying calls, best first: the calls so far and those of the oracle's plan from there count, as
// in A*. Of one node the best call is made at once, and then the best one from there, until the episode ends, a call does not come through
// or a situation comes up again; the others wait their turn. As components cannot go back, each begins with the calls that lead to it.
//
// A call counts as a state, so does one that is tried on the side; at most searchLimit are visited, and each costs a plan where there is an
// oracle. Without an oracle, or a base that can go back, the search is blind: it visits the shorter ways first.
//
// Where it finds nothing it proves nothing: situations are told apart by the state of the base and by what is shown, not by what components
// remember, calls that are not listed are left out, and so are those after which the oracle's plan does not fit into the turns left, though
// a shorter one might.
func (in *inspector) search(ctx context.Context, stack []envharness.Component) (solution, error) {
	s := &searcher{stack: stack, limit: in.searchLimit, known: make(map[[sha256.Size]byte]bool)}
	if err := again(ctx, in.reruns(), func() (err error) {
		s.clock, err = in.clock(ctx)
		return err
	}); err != nil {
		return solution{}, err
	}
	s.open = ways{{}}
	for len(s.open) > 0 && s.visited+len(s.open[0].calls) < s.limit {
		s.way, _ = heap.Pop(&s.open).(way)
		trace, err := s.episode(ctx, in)
		if err != nil {
			return solution{}, err
		}
		if trace.Verdict.Status == envharness.Pass {
			return proven(fmt.Sprintf("a search of %d states", s.visited), &trace), nil
		}
		if s.failed != nil {
			return solution{result: Unproven, reason: fmt.Sprintf("a search of %d states: %v", s.visited, s.failed)}, nil
		}
	}
	return solution{result: Unproven, reason: fmt.Sprintf("a search of %d states found nothing", s.visited)}, nil
}

// episode plays the present way.
func (s *searcher) episode(ctx context.Context, in *inspector) (envharness.Trace, error) {
	var shadows shadows
	defer shadows.close()
	open, visited, found := slices.Clone(s.open), s.visited, s.found
	s.fresh = nil
	return in.shadowed(ctx, s.stack, func() *deeds { return s.deeds }, func() error { return s.failed }, func() envharness.Policy {
		for _, key := range s.fresh { // of an attempt that infrastructure spoilt
			delete(s.known, key)
		}
		s.open, s.visited, s.found, s.fresh = slices.Clone(open), visited+1, found, nil
		s.deeds, s.made, s.before = new(deeds), nil, 0
		s.shadow, s.failed = shadows.open(ctx, in)
		return envharness.PolicyFunc(s.act)
	})
}

// A way is a list of calls from the start, the last one not tried yet.
type way struct {
	calls []envharness.Action
	cost  int // turns, with those of the plan from its end
	order int // of discovery
}

// ways is a heap with the best one first: the one with the least cost, of several the one found first.
type ways []way

func (w ways) Len() int           { return len(w) }
func (w ways) Less(i, j int) bool { return cmp.Or(w[i].cost-w[j].cost, w[i].order-w[j].order) < 0 }
func (w ways) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *ways) Push(x any)        { *w = append(*w, x.(way)) }
func (w *ways) Pop() any {
	last := len(*w) - 1
	x := (*w)[last]
	(*w)[last] = way{}
	*w = (*w)[:last]
	return x
}

// A searcher is the policy of a search.
type searcher struct {
	stack   []envharness.Component
	limit   int
	clock   map[string]bool // fields of the state that change without anything being done
	open    ways
	known   map[[sha256.Size]byte]bool // situations
	visited int
	found   int // ways

	way    way                 // of this episode
	fresh  [][sha256.Size]byte // situations that it was the first in
	deeds  *deeds
	shadow *shadow
	made   []envharness.Action // calls of this episode
	before int                 // deeds before the last call
	failed error
}

// act makes the calls of the way, and then the best ones.
func (s *searcher) act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	if s.failed != nil {
		return envharness.Action{}, envharness.ErrStop
	}
	if n := len(s.made); n < len(s.way.calls) {
		return s.make(s.way.calls[n]), nil
	}
	if _, err := s.shadow.follow(ctx, s.deeds); err != nil {
		s.failed = err
		return envharness.Action{}, envharness.ErrStop
	}
	if len(s.made) > 0 && s.deeds.count() == s.before {
		if t.Error == nil || !t.Error.Retryable || s.visited >= s.limit {
			return envharness.Action{}, envharness.ErrStop
		}
		return s.make(s.made[len(s.made)-1]), nil // as often as it takes
	}
	key, err := s.situation(ctx, t)
	if err == nil && !s.known[key] {
		s.known[key] = true
		s.fresh = append(s.fresh, key)
		return s.best(ctx, t)
	}
	s.failed = err
	return envharness.Action{}, envharness.ErrStop
}

func (s *searcher) make(a envharness.Action) envharness.Action {
	s.visited++
	s.before = s.deeds.count()
	s.made = append(s.made, a)
	return a
}

// best makes the best call from here and keeps the others for later.
func (s *searcher) best(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	type option struct {
		call envharness.Action
		left int
	}
	here, guided := 0, false
	plan, err := s.shadow.plan(ctx)
	if errors.Is(err, envharness.ErrNoPlan) {
		return envharness.Action{}, envharness.ErrStop
	}
	if err == nil {
		here, guided = len(plan), true
	}
	var options []option
	add := func(call envharness.Action, left int) {
		if !slices.ContainsFunc(options, func(o option) bool { return sameCall(o.call, call) }) {
			options = append(options, option{call, left})
		}
	}
	tried := make(map[string]bool)
	for _, a := range slices.Concat(plan, s.shadow.raw.Actions) {
		if text := a.String(); tried[text] {
			continue
		} else {
			tried[text] = true
		}
		call, left := outwards(s.stack, a), here
		if s.visited < s.limit {
			o, ok, err := s.shadow.try(ctx, a)
			if err != nil {
				s.failed = err
				return envharness.Action{}, envharness.ErrStop
			}
			if ok {
				s.visited++
				if o.refused || o.dead {
					continue
				}
				left = o.left
			}
		}
		add(call, left)
	}
	for _, a := range t.Shown.Actions { // what only the components offer
		if !tried[a.String()] {
			add(a, here)
		}
	}
	if guided && t.Left > 0 {
		options = slices.DeleteFunc(options, func(o option) bool { return 1+o.left > t.Left })
	}
	slices.SortStableFunc(options, func(a, b option) int { return cmp.Compare(a.left, b.left) })
	if len(options) == 0 {
		return envharness.Action{}, envharness.ErrStop
	}
	for _, o := range options[1:] {
		s.found++
		heap.Push(&s.open, way{append(slices.Clone(s.made), o.call), len(s.made) + 1 + o.left, s.found})
	}
	if s.visited >= s.limit || !guided {
		s.found++
		heap.Push(&s.open, way{append(slices.Clone(s.made), options[0].call), len(s.made) + 1 + options[0].left, s.found})
		return envharness.Action{}, envharness.ErrStop
	}
	return s.make(options[0].call), nil
}

// situation is what two ways may have in common: the state of the base, or without one the raw observation, and what is shown.
func (s *searcher) situation(ctx context.Context, t envharness.Turn) (key [sha256.Size]byte, err error) {
	var state any = s.shadow.raw
	if s.shadow.stater != nil {
		raw, err := s.shadow.stater.State(ctx)
		if err != nil {
			return key, err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return key, err
		}
		for name := range s.clock {
			delete(fields, name)
		}
		state = fields
	}
	doc, err := json.Marshal([]any{state, t.Shown}) // maps are sorted
	return sha256.Sum256(doc), err
}

// clock returns the fields of the state that change in a turn in which nothing was done: a call that no tool has is refused, which leaves
// the world as it was and uses up a turn.
func (in *inspector) clock(ctx context.Context) (map[string]bool, error) {
	s, err := in.newShadow(ctx)
	if err != nil {
		return nil, fmt.Errorf("rigger: task %q: open: %w", in.task.ID, err)
	}
	defer s.env.Close()
	if s.stater == nil {
		return nil, nil
	}
	if err := s.do(ctx, deed{kind: envharness.LogReset}); err != nil {
		return nil, fmt.Errorf("rigger: task %q: reset: %w", in.task.ID, err)
	}
	var states [2]map[string]json.RawMessage
	for i := range states {
		raw, err := s.stater.State(ctx)
		if err == nil {
			err = json.Unmarshal(raw, &states[i])
		}
		if err == nil && i == 0 {
			_, err = s.env.Step(ctx, envharness.Action{Name: "no such tool"})
		}
		if err != nil {
			return nil, fmt.Errorf("rigger: task %q: %w", in.task.ID, err)
		}
	}
	fields := make(map[string]bool)
	for name, before := range states[0] {
		if !bytes.Equal(before, states[1][name]) {
			fields[name] = true
		}
	}
	return fields, nil
}

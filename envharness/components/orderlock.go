package components

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// OrderLock blocks actions that fit After until the base carried out one that fits Before, for each of its edges. The reason names the
// first step that is missing, unless Hide is set.
//
// Tag order_lock, axis A; the params are the struct. It is sound if a solution can keep to the order. Edges that lock each other for good
// are refused by Check. Outside the range of turns nothing is refused, but actions count.
type OrderLock struct {
	Edges []Edge `json:"edges"`          // at least one
	Hide  bool   `json:"hide,omitempty"` // do not name the missing step
	Window
}

// An Edge says that an action that fits Before must have been carried out before one may that fits After. Both need a tool.
type Edge struct {
	Before Match `json:"before"`
	After  Match `json:"after"`
}

// Spec implements [envharness.Component].
func (l OrderLock) Spec() envharness.ComponentSpec {
	return spec("order_lock", envharness.AxisAction, l)
}

// Check reports that there are no edges, a side without a tool, a pattern that [path.Match] cannot read, arguments that are not JSON, an
// empty range of turns, and a cycle: edges of which each locks all that fits the Before of another, so that none can ever be opened. Where
// two patterns only overlap there is a way around, and no cycle.
func (l OrderLock) Check() error {
	var errs []error
	if len(l.Edges) == 0 {
		errs = append(errs, errors.New("edges needs at least one edge"))
	}
	for i, e := range l.Edges {
		if err := errors.Join(e.Before.checkSide("before"), e.After.checkSide("after")); err != nil {
			errs = append(errs, fmt.Errorf("edge %d: %w", i, err))
		}
	}
	if err := errors.Join(append(errs, l.check())...); err != nil {
		return err
	}
	if i, found := cycle(l.Edges); found {
		return fmt.Errorf("edge %d: %s can never be called, the edges form a cycle", i, describe(l.Edges[i].After))
	}
	return nil
}

func (m Match) checkSide(side string) error {
	if m.Tool == "" {
		return errors.New(side + " needs a tool")
	}
	if err := m.check(); err != nil {
		return fmt.Errorf("%s: %w", side, err)
	}
	return nil
}

// cycle returns an edge that can never be opened because its Before waits for it. It takes away the edges whose Before no edge that is
// left locks, until there are none to take; what is left, if anything, waits for itself.
func cycle(edges []Edge) (int, bool) {
	left := make([]int, len(edges))
	for i := range edges {
		left[i] = i
	}
	for {
		n := len(left)
		kept := slices.Clone(left)
		left = slices.DeleteFunc(left, func(i int) bool {
			return !slices.ContainsFunc(kept, func(j int) bool { return edges[j].After.covers(edges[i].Before) })
		})
		if len(left) == 0 {
			return 0, false
		}
		if len(left) == n {
			return left[0], true
		}
	}
}

// covers reports whether every action that fits o fits m too, as far as it can tell: of two different patterns of tools it cannot.
func (m Match) covers(o Match) bool {
	if m.Tool != "" && m.Tool != o.Tool {
		if strings.ContainsAny(o.Tool, `*?[\`) {
			return false
		}
		if ok, err := path.Match(m.Tool, o.Tool); !ok || err != nil {
			return false
		}
	}
	for _, k := range slices.Sorted(maps.Keys(m.Args)) {
		if v, ok := o.Args[k]; !ok || !equalJSON(m.Args[k], v) {
			return false
		}
	}
	return true
}

// String says in words what the component does with its parameters.
func (l OrderLock) String() string {
	edges := make([]string, len(l.Edges))
	for i, e := range l.Edges {
		edges[i] = e.After.words() + " is refused until " + e.Before.words() + " was carried out"
	}
	s := list("and", edges)
	if l.Hide {
		s += "; the refusal does not say what is missing"
	}
	return l.in(s)
}

// Requires returns what has to be carried out before a, which the component refused, is let through, in an order that it lets through: the
// Before of each edge that locks a, and before that what locks all actions of this Before. It is none for an action that is never refused.
// Where an edge locks some of the actions that fit a Before it is left out: choose another one, or ask again for the one that was refused.
// The range of turns is not looked at.
func (l OrderLock) Requires(a envharness.Action) []Match {
	var needed []Match
	asked := make([]bool, len(l.Edges))
	var open func(locks func(Edge) bool)
	open = func(locks func(Edge) bool) {
		for i, e := range l.Edges {
			if asked[i] || !locks(e) {
				continue
			}
			asked[i] = true
			open(func(other Edge) bool { return other.After.covers(e.Before) })
			if !slices.ContainsFunc(needed, e.Before.covers) { // else one that is needed already does for it
				needed = append(needed, e.Before)
			}
		}
	}
	open(func(e Edge) bool { return e.After.Fits(a) })
	return needed
}

// Begin implements [envharness.Component].
func (l OrderLock) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	run := &orderLockRun{OrderLock: l, done: make([]bool, len(l.Edges)), fits: make([]bool, len(l.Edges))}
	return envharness.Hooks{Action: run.action, Result: run.result}, nil
}

// An orderLockRun is one episode of an [OrderLock].
type orderLockRun struct {
	OrderLock
	done []bool // by edge: Before was carried out
	fits []bool // the edges whose Before the action of this turn fits
}

func (r *orderLockRun) action(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
	for i, e := range r.Edges {
		if r.done[i] {
			continue
		}
		if r.open(v.Turn) && e.After.Fits(a) {
			return envharness.BlockAction(r.reason(e, a.Name)), nil
		}
		r.fits[i] = e.Before.Fits(a)
	}
	return envharness.PassAction(), nil
}

func (r *orderLockRun) reason(e Edge, tool string) string {
	if r.Hide {
		return "not available yet"
	}
	return "before " + tool + " first call " + describe(e.Before)
}

func (r *orderLockRun) result(_ context.Context, v envharness.View, refusal *envharness.ActionError) error {
	for i, fits := range r.fits {
		r.done[i] = r.done[i] || fits && carriedOut(v, refusal)
	}
	return nil
}

func orderLockKind() Kind {
	edge := `{"type":"object","properties":{"before":` + matchSchema + `,"after":` + matchSchema +
		`},"required":["before","after"],"additionalProperties":false}`
	return Kind{
		Tag: "order_lock", Version: 1, Axis: envharness.AxisAction, Direction: Harder | Easier,
		About: "refuses an action until another one was carried out",
		Sound: "the edges form no cycle and a solution can keep to the order",
		Schema: objectSchema("edges", `"edges":{"type":"array","minItems":1,"items":`+edge+`}`,
			`"hide":{"type":"boolean","default":false}`, windowProperty),
		New: build[OrderLock],
	}
}

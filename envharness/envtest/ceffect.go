package envtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

func checkProbability(ctx context.Context, x *componentTrial) error {
	if x.Off == nil && x.On == nil {
		return skip("no probabilities are given")
	}
	if x.Off != nil {
		if err := x.isIdentity(ctx, x.Off, "probability 0"); err != nil {
			return fmt.Errorf("probability 0: %w", err)
		}
	}
	if x.On == nil {
		return nil
	}
	eligible := x.Eligible
	if eligible == nil {
		eligible = func(t *envharness.Trace, turn int) bool { return !t.Turns[turn].Shown.Ended() }
	}
	eps, err := x.each(ctx, x.On)
	if err != nil {
		return err
	}
	tried := 0
	for i := range eps {
		for turn := range eps[i].Turns {
			if !eligible(&eps[i].Trace, turn) {
				continue
			}
			tried++
			if !eps[i].changed(eps[i].id(0), turn) {
				return fmt.Errorf("probability 1: %s: turn %d is not changed", eps[i].name(), turn)
			}
		}
	}
	if tried == 0 {
		return errors.New("probability 1: no turn was eligible")
	}
	return nil
}

// checkChanges looks for any sign of the component: in the start, in a turn, in the tools, in the turns left.
func checkChanges(ctx context.Context, x *componentTrial) error {
	if x.Idle {
		return skip("it may change nothing on these tasks")
	}
	with, err := x.steady(ctx)
	if err != nil {
		return err
	}
	without, err := x.bare(ctx)
	if err != nil {
		return err
	}
	for i, ep := range with {
		if len(ep.Log) > len(without[i].Log) || len(ep.Layers) > 0 || differ(without[i], ep) != nil {
			return nil
		}
		for turn := range ep.Turns {
			if ep.changed(ep.id(0), turn) {
				return nil
			}
		}
	}
	return fmt.Errorf("nothing is changed in %d episodes", len(with))
}

// checkSpec builds the component from its own params.
func checkSpec(ctx context.Context, x *componentTrial) error {
	spec := x.New().Spec()
	if len(spec.Params) > 0 {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(spec.Params, &object); err != nil || object == nil {
			return fmt.Errorf("params %.80q are no JSON object", spec.Params)
		}
	}
	if x.Build == nil {
		return skip("no Build is given")
	}
	want, err := x.steady(ctx)
	if err != nil {
		return err
	}
	built, err := x.Build(spec.Params)
	if err != nil {
		return fmt.Errorf("build from params %.80q: %w", spec.Params, err)
	}
	if err := sameSpec(spec, built.Spec()); err != nil {
		return err
	}
	got, err := x.each(ctx, func() envharness.Component {
		c, err := x.Build(spec.Params)
		if err != nil {
			return nil // New refuses it
		}
		return c
	})
	if err != nil {
		return err
	}
	if err := differAll(want, got); err != nil {
		return fmt.Errorf("built from its params: %w", err)
	}
	unknown, err := withParam(spec.Params, "envtest_unknown")
	if err != nil {
		return err
	}
	if _, err := x.Build(unknown); err == nil {
		return errors.New("an unknown parameter is accepted")
	}
	return nil
}

func sameSpec(a, b envharness.ComponentSpec) error {
	p, err := envharness.CanonicalJSON(a.Params)
	if err != nil {
		return err
	}
	q, err := envharness.CanonicalJSON(b.Params)
	if err != nil {
		return err
	}
	if a.Tag != b.Tag || a.Axis != b.Axis || !bytes.Equal(p, q) {
		return fmt.Errorf("spec %s (%s) %.80q, and %s (%s) %.80q after it was built again", a.Tag, a.Axis, p, b.Tag, b.Axis, q)
	}
	return nil
}

// withParam adds a parameter.
func withParam(params json.RawMessage, name string) (json.RawMessage, error) {
	object := map[string]json.RawMessage{}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &object); err != nil {
			return nil, err
		}
	}
	object[name] = json.RawMessage("1")
	return json.Marshal(object)
}

// checkOrder tries the component in places where it must not stand, and with its partners in both orders.
func checkOrder(ctx context.Context, x *componentTrial) error {
	if _, err := x.reference(ctx); err != nil {
		return err
	}
	if x.axis != envharness.AxisStart && x.edits() {
		return fmt.Errorf("it edits the start and stands on axis %s, where the order is not that of a start", x.axis)
	}
	for _, stack := range x.misplaced() {
		_, err := x.play(ctx, staging{world: stack.world, components: stack.components, tasks: x.tasks[:1]})
		if !errors.Is(err, envharness.ErrOrder) {
			return fmt.Errorf("%s: %v, want the error %q", stack.what, err, envharness.ErrOrder)
		}
	}
	if len(x.Commutes) == 0 {
		return nil
	}
	if _, err := x.steady(ctx); err != nil {
		return err
	}
	for i, partner := range x.Commutes {
		orders := make([][]played, 2)
		for k := range orders {
			for _, task := range x.tasks {
				pair := []envharness.Component{named{x.New(), "envtest_one"}, named{partner(), "envtest_other"}}
				pair[0], pair[k] = pair[k], pair[0]
				ep, err := x.one(ctx, staging{components: pair}, task)
				if err != nil {
					return fmt.Errorf("partner %d: %w", i, err)
				}
				orders[k] = append(orders[k], ep)
			}
		}
		if err := differAll(orders[0], orders[1]); err != nil {
			return fmt.Errorf("partner %d (%s) inside and outside: %w", i, partner().Spec().Tag, err)
		}
	}
	return nil
}

// edits reports whether the component has a hook for the start.
func (x *componentTrial) edits() bool {
	found := false
	for _, ep := range x.first {
		found = found || len(ep.Log) > 1
	}
	return found || x.hooks["start"]
}

// A misplacement is a stack that has to be refused.
type misplacement struct {
	what       string
	world      envharness.World
	components []envharness.Component
}

func (x *componentTrial) misplaced() []misplacement {
	idle := func(axis envharness.Axis) envharness.Component {
		return envharness.Rules(envharness.ComponentSpec{Tag: "envtest_idle", Axis: axis},
			func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
				return envharness.Hooks{}, nil
			})
	}
	inside := func(axis envharness.Axis) misplacement {
		return misplacement{"around a component of axis " + string(axis), x.World, []envharness.Component{idle(axis), x.New()}}
	}
	outside := func(axis envharness.Axis) misplacement {
		return misplacement{"inside a component of axis " + string(axis), x.World, []envharness.Component{x.New(), idle(axis)}}
	}
	switch x.axis {
	case envharness.AxisStart:
		out := []misplacement{inside(envharness.AxisObservation), inside(envharness.AxisBudget)}
		leg := envharness.Leg{World: x.World, Task: x.tasks[0].ID}
		if w, err := envharness.Link([]envharness.Leg{leg, leg}, nil); err == nil {
			out = append(out, misplacement{"around a chain", w, []envharness.Component{x.New()}})
		}
		return out
	case envharness.AxisBudget:
		return []misplacement{outside(envharness.AxisAction), outside(envharness.AxisStart)}
	}
	return []misplacement{inside(envharness.AxisBudget), outside(envharness.AxisStart)}
}

// checkStart looks at the calls before the first turn and asks for the verdict on the start.
func checkStart(ctx context.Context, x *componentTrial) error {
	eps, err := x.reference(ctx)
	if err != nil {
		return err
	}
	if x.axis != envharness.AxisStart && !x.edits() {
		return skip("it is no start")
	}
	without, err := x.bare(ctx)
	if err != nil {
		return err
	}
	for i, ep := range eps {
		if ep.badStart() {
			return fmt.Errorf("%s: %s", ep.name(), ep.Cause)
		}
		if err := x.startIsSound(ctx, ep, without[i]); err != nil {
			return fmt.Errorf("%s: %w", ep.name(), err)
		}
	}
	return nil
}

func (x *componentTrial) startIsSound(ctx context.Context, ep, without played) error {
	edits, rewound := 0, false
	for i, e := range ep.Log {
		switch e.Kind {
		case envharness.LogReplay, envharness.LogPatch:
			edits++
			rewound = false
		case envharness.LogRewind:
			rewound = true
		}
		if t := e.Transition; t.Error != nil || t.Ended() {
			return fmt.Errorf("call %d of the start (%s) was refused or ended the episode", i, e.Action.Name)
		}
	}
	if edits == 0 {
		return nil
	}
	book := ledger{}
	stopped, err := x.one(ctx, staging{
		world: seamed(x.World, &book), components: []envharness.Component{x.New()},
		policy: func(int) envharness.Policy { return fixed(nil) },
	}, ep.Task)
	if err != nil {
		return err
	}
	if _, ok := envharness.As[envharness.Rewinder](book.env); ok && !rewound {
		return errors.New("the counters are not rewound after the last change")
	}
	if stopped.Verdict.Status != envharness.Fail {
		return fmt.Errorf("the verdict on the start is %s, want fail", stopped.Verdict.Status)
	}
	if len(ep.seen) > 0 && len(without.seen) > 0 && ep.seen[0].Left != without.seen[0].Left {
		return fmt.Errorf("%d turns are left after the start, %d without it", ep.seen[0].Left, without.seen[0].Left)
	}
	return nil
}

// checkObservations shows the component what few environments show.
func checkObservations(ctx context.Context, x *componentTrial) error {
	if _, err := x.steady(ctx); err != nil {
		return err
	}
	for _, odd := range oddities() {
		if odd.noActions && x.edits() {
			continue // a start must leave an admissible action
		}
		book := ledger{change: func(_ int, t *envharness.Transition) { odd.change(&t.Observation) }}
		ep, err := x.one(ctx, staging{
			world: seamed(x.World, &book), components: []envharness.Component{x.New()}, turns: min(x.Turns, max(4, len(x.Script))),
		}, x.tasks[0])
		if err != nil {
			return err
		}
		if ep.End.Infra() && ep.End != envharness.EndVerifierError {
			return fmt.Errorf("%s: %s", odd.what, ep.Cause)
		}
		if !readable(ep.Shown) {
			return fmt.Errorf("%s: the first observation shown is not valid UTF-8", odd.what)
		}
		for i := range ep.Turns {
			if !readable(ep.Turns[i].Shown.Observation) {
				return fmt.Errorf("%s: turn %d: the observation shown is not valid UTF-8", odd.what, i)
			}
		}
	}
	return nil
}

// An oddity changes an observation into an unusual one.
type oddity struct {
	what      string
	noActions bool
	change    func(o *envharness.Observation)
}

func oddities() []oddity {
	out := []oddity{
		{"nil observation", false, func(o *envharness.Observation) { *o = envharness.Observation{} }},
		{"empty observation", true, func(o *envharness.Observation) {
			*o = envharness.Observation{Data: map[string]any{}, Actions: []envharness.Action{}}
		}},
	}
	for shift := range 3 { // whatever the place of a cut, one of the three has it inside a rune
		big := strings.Repeat("a", shift) + strings.Repeat("–", 1<<20/3)
		part := strings.Repeat("a", shift) + strings.Repeat("–", 1<<10)
		out = append(out, oddity{fmt.Sprintf("1 MiB of text, shifted by %d bytes", shift), false, func(o *envharness.Observation) {
			o.Data, _ = stretched(o.Data, part).(map[string]any)
			o.Text = big
		}})
	}
	return out
}

// stretched returns v with every string replaced.
func stretched(v any, by string) any {
	switch v := v.(type) {
	case string:
		return by
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = stretched(e, by)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = stretched(e, by)
		}
		return out
	}
	return v
}

func readable(o envharness.Observation) bool {
	return utf8.ValidString(o.Text) && readableValue(o.Data)
}

func readableValue(v any) bool {
	switch v := v.(type) {
	case string:
		return utf8.ValidString(v)
	case []any:
		for _, e := range v {
			if !readableValue(e) {
				return false
			}
		}
	case map[string]any:
		for k, e := range v {
			if !utf8.ValidString(k) || !readableValue(e) {
				return false
			}
		}
	}
	return true
}

// checkInfo compares the Info that is shown with that of the base.
func checkInfo(ctx context.Context, x *componentTrial) error {
	return x.audit(ctx, func(ep played) error {
		for i, t := range ep.Turns {
			if t.Raw == nil {
				continue
			}
			for k, want := range t.Raw.Info {
				if got, ok := t.Shown.Info[k]; !ok || !reflect.DeepEqual(got, want) {
					return fmt.Errorf("turn %d: Info[%q] is %v, of the base %v", i, k, got, want)
				}
			}
		}
		return nil
	})
}

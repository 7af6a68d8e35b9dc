package stdio

import (
	"context"
	"errors"
	"reflect"

	"github.com/throughline-go/throughline/envharness"
)

// wrap puts a layer around the environment for each ability, where [envharness.As] finds it.
func wrap(c *conn, g *greeting) envharness.Environment {
	base := &environment{conn: c, able: g.Capabilities}
	var env envharness.Environment = base
	add := func(able bool, around func(layer) envharness.Environment) {
		if able {
			env = around(layer{env, base})
		}
	}
	d := g.description()
	a := g.Capabilities
	add(!reflect.ValueOf(d).IsZero(), func(l layer) envharness.Environment { return &describer{l, d} })
	add(a.Observe, func(l layer) envharness.Environment { return &observer{l} })
	add(a.State, func(l layer) envharness.Environment { return &stater{l} })
	add(a.Tasks, func(l layer) envharness.Environment { return &taskLister{l} })
	add(a.Rewind, func(l layer) envharness.Environment { return &rewinder{l} })
	add(a.Snapshot, func(l layer) envharness.Environment { return &snapshotter{l} })
	add(a.Plan, func(l layer) envharness.Environment { return &oracle{l} })
	add(a.Tools, func(l layer) envharness.Environment { return &toolLister{l} })
	add(a.TurnLimit, func(l layer) envharness.Environment { return &turnLimiter{l} })
	return env
}

// A layer is an environment around another, with one ability more.
type layer struct {
	envharness.Environment
	base *environment
}

// Unwrap returns the environment within.
func (l layer) Unwrap() envharness.Environment { return l.Environment }

type (
	describer struct {
		layer
		description envharness.Description
	}
	observer    struct{ layer }
	stater      struct{ layer }
	taskLister  struct{ layer }
	rewinder    struct{ layer }
	snapshotter struct{ layer }
	oracle      struct{ layer }
	toolLister  struct{ layer }
	turnLimiter struct{ layer }
)

func (d *describer) Describe() envharness.Description { return d.description }

func (o *observer) Observe(ctx context.Context) (envharness.Observation, error) {
	var r observed
	if err := o.base.call(ctx, request{Op: "observe"}, &r, func() string { return lacks("obs", r.Obs == nil) }); err != nil {
		return envharness.Observation{}, err
	}
	return *r.Obs, nil
}

func (s *stater) State(ctx context.Context) (envharness.State, error) {
	var r stated
	if err := s.base.call(ctx, request{Op: "state"}, &r, func() string { return lacks("a state", !object(r.State)) }); err != nil {
		return nil, err
	}
	return r.State, nil
}

func (t *taskLister) Tasks(ctx context.Context, split string) ([]envharness.Task, error) {
	var r listed
	if err := t.base.call(ctx, request{Op: "tasks", Split: &split}, &r, func() string { return lacks("tasks", r.Tasks == nil) }); err != nil {
		return nil, err
	}
	return *r.Tasks, nil
}

func (r *rewinder) RewindCounters(ctx context.Context) error {
	return r.base.change(ctx, request{Op: "rewind"})
}

func (s *snapshotter) Snapshot(ctx context.Context) (envharness.State, error) {
	var r snapped
	err := s.base.call(ctx, request{Op: "snapshot"}, &r, func() string { return lacks("a snapshot", !object(r.Snapshot)) })
	if err != nil {
		return nil, err
	}
	return r.Snapshot, nil
}

func (s *snapshotter) Restore(ctx context.Context, state envharness.State) error {
	if err := s.base.state(); err != nil {
		return err
	}
	if !whole(state) {
		return errors.New("stdio: restore: a snapshot is one JSON object")
	}
	return s.base.change(ctx, request{Op: "restore", Snapshot: state})
}

func (o *oracle) Plan(ctx context.Context) ([]envharness.Action, error) {
	var r planned
	if err := o.base.call(ctx, request{Op: "plan"}, &r, func() string { return lacks("actions", r.Actions == nil) }); err != nil {
		return nil, err
	}
	return *r.Actions, nil
}

func (t *toolLister) Tools() []envharness.Tool { return t.base.tools }

func (t *turnLimiter) TurnLimit() int { return t.base.limit }

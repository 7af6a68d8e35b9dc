package rigger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/throughline-go/throughline/envharness"
)

// A deed is one call that may have changed the base of an episode, as it came to it from below all components.
type deed struct {
	kind   envharness.LogKind
	action envharness.Action     // of a step
	state  envharness.State      // of a patch: the snapshot that the base was set to
	result envharness.Transition // of a reset only the observation
}

// deeds are those of one episode, in order. An episode that hangs may still write when nobody waits for it any more.
type deeds struct {
	mu  sync.Mutex
	all []deed
}

func (d *deeds) add(one deed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, one)
}

// since returns the deeds from the nth on.
func (d *deeds) since(n int) []deed {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all[min(n, len(d.all)):])
}

// count returns the number of deeds.
func (d *deeds) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all)
}

// witnessed is the world with a witness to what happens on the base of the present episode. The base that replays it adds to its deeds when
// nobody looks at them any more.
func witnessed(w envharness.World, present func() *deeds) envharness.World {
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		if err == nil && env != nil {
			env = watchBase(env, present())
		}
		return env, err
	}
	return w
}

// witness is a base that notes what changes it. It has an ability exactly if the base has it.
type witness struct {
	envharness.Environment
	deeds *deeds
}

func watchBase(env envharness.Environment, d *deeds) envharness.Environment {
	w := &witness{env, d}
	snapshotter, snapshots := envharness.As[envharness.Snapshotter](env)
	rewinder, rewinds := envharness.As[envharness.Rewinder](env)
	switch s, r := (patchWitness{snapshotter, d}), (rewindWitness{rewinder, d}); {
	case snapshots && rewinds:
		return &struct {
			*witness
			patchWitness
			rewindWitness
		}{w, s, r}
	case snapshots:
		return &struct {
			*witness
			patchWitness
		}{w, s}
	case rewinds:
		return &struct {
			*witness
			rewindWitness
		}{w, r}
	}
	return w
}

// Unwrap shows the abilities that change nothing.
func (w *witness) Unwrap() envharness.Environment { return w.Environment }

func (w *witness) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	obs, err := w.Environment.Reset(ctx, o)
	if err == nil {
		w.deeds.add(deed{kind: envharness.LogReset, result: envharness.Transition{Observation: obs}})
	}
	return obs, err
}

func (w *witness) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	a.Args = slices.Clone(a.Args) // the harness uses its memory again
	t, err := w.Environment.Step(ctx, a)
	if err == nil {
		w.deeds.add(deed{kind: envharness.LogStep, action: a, result: t})
	}
	return t, err
}

type patchWitness struct {
	base  envharness.Snapshotter
	deeds *deeds
}

func (w patchWitness) Snapshot(ctx context.Context) (envharness.State, error) {
	return w.base.Snapshot(ctx)
}

func (w patchWitness) Restore(ctx context.Context, s envharness.State) error {
	s = slices.Clone(s)
	err := w.base.Restore(ctx, s)
	if err == nil {
		w.deeds.add(deed{kind: envharness.LogPatch, state: s})
	}
	return err
}

type rewindWitness struct {
	base  envharness.Rewinder
	deeds *deeds
}

func (w rewindWitness) RewindCounters(ctx context.Context) error {
	err := w.base.RewindCounters(ctx)
	if err == nil {
		w.deeds.add(deed{kind: envharness.LogRewind})
	}
	return err
}

// A shadow is a base of its own that goes where the base of an episode went, so that one can plan there, and try.
type shadow struct {
	env      envharness.Environment
	oracle   envharness.Oracle      // nil if it cannot plan
	snaps    envharness.Snapshotter // nil if it cannot go back
	stater   envharness.Stater      // nil if it does not tell its state
	rewinder envharness.Rewinder
	options  envharness.ResetOptions

	followed int                    // deeds
	raw      envharness.Observation // the present one
}

func (in *inspector) newShadow(ctx context.Context) (*shadow, error) {
	env, err := in.world.New(ctx)
	if err != nil {
		return nil, err
	}
	s := &shadow{env: env, options: envharness.ResetOptions{Task: in.task.ID, Seed: in.task.Seed, Options: in.task.Options}}
	s.oracle, _ = envharness.As[envharness.Oracle](env)
	s.snaps, _ = envharness.As[envharness.Snapshotter](env)
	s.stater, _ = envharness.As[envharness.Stater](env)
	s.rewinder, _ = envharness.As[envharness.Rewinder](env)
	return s, nil
}

// shadowed is a trial of a policy that looks at shadows, with a witness to the present deeds. A shadow has none of the care that an episode
// gets: where one failed, which the policy then tells, the episode is played again as often as one that infrastructure spoilt, and it is an
// error if the base fails at what was done so far without components, too.
func (in *inspector) shadowed(
	ctx context.Context, stack []envharness.Component, present func() *deeds, failed func() error, newPolicy func() envharness.Policy,
) (envharness.Trace, error) {
	for more := in.reruns(); ; more-- {
		t, err := in.trial(ctx, stack, witnessed(in.world, present), newPolicy)
		if err != nil || failed() == nil || errors.Is(failed(), envharness.ErrNotProven) {
			return t, err
		}
		if more == 0 {
			return t, in.outage(ctx, &t)
		}
	}
}

// shadows are those of the attempts at one episode.
type shadows []*shadow

func (s *shadows) open(ctx context.Context, in *inspector) (*shadow, error) {
	one, err := in.newShadow(ctx)
	if err == nil {
		*s = append(*s, one)
	}
	return one, err
}

func (s *shadows) close() {
	for _, one := range *s {
		_ = one.env.Close() // it was only looked at
	}
}

// follow does what was done since the last call and returns it.
func (s *shadow) follow(ctx context.Context, d *deeds) ([]deed, error) {
	done := d.since(s.followed)
	for _, one := range done {
		if err := s.do(ctx, one); err != nil {
			return nil, fmt.Errorf("shadow: %s %s: %w", one.kind, one.action.Name, err)
		}
	}
	s.followed += len(done)
	return done, nil
}

func (s *shadow) do(ctx context.Context, d deed) error {
	switch d.kind {
	case envharness.LogReset:
		_, err := s.env.Reset(ctx, s.options)
		if errors.Is(err, envharness.ErrSeedUnsupported) {
			s.options.Seed = nil
			_, err = s.env.Reset(ctx, s.options)
		}
		s.raw = d.result.Observation
		return err
	case envharness.LogStep:
		_, err := s.env.Step(ctx, d.action)
		s.raw = d.result.Observation
		return err
	case envharness.LogPatch:
		if s.snaps == nil {
			return errors.New("it cannot be restored")
		}
		return s.snaps.Restore(ctx, d.state)
	case envharness.LogRewind:
		if s.rewinder == nil {
			return errors.New("it cannot be rewound")
		}
		return s.rewinder.RewindCounters(ctx)
	}
	return nil
}

// plan returns what the oracle would do from here; without an oracle the error is an [envharness.ErrNotProven].
func (s *shadow) plan(ctx context.Context) ([]envharness.Action, error) {
	if s.oracle == nil {
		return nil, fmt.Errorf("%w: the world has no oracle", envharness.ErrNotProven)
	}
	return s.oracle.Plan(ctx)
}

// An outlook is what trying an action shows.
type outlook struct {
	refused bool
	ended   bool
	dead    bool // proved unsolvable from there
	left    int  // length of the plan from there, 0 if there is none
}

// try carries out an action, plans from there and goes back. It is not ok where the base cannot go back.
func (s *shadow) try(ctx context.Context, a envharness.Action) (o outlook, ok bool, err error) {
	if s.snaps == nil {
		return o, false, nil
	}
	here, err := s.snaps.Snapshot(ctx)
	if err != nil {
		return o, false, err
	}
	t, err := s.env.Step(ctx, a)
	if err != nil {
		return o, false, err
	}
	o.refused, o.ended = t.Error != nil, t.Ended()
	if !o.ended && s.oracle != nil {
		plan, err := s.oracle.Plan(ctx)
		o.left, o.dead = len(plan), errors.Is(err, envharness.ErrNoPlan)
		if err != nil && !o.dead && !errors.Is(err, envharness.ErrNotProven) {
			return o, false, err
		}
	}
	return o, true, s.snaps.Restore(ctx, here)
}

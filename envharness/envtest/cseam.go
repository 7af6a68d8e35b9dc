package envtest

import (
	"context"

	"github.com/throughline-go/throughline/envharness"
)

// A ledger counts what happens at a [seam]. It is for one episode at a time.
type ledger struct {
	opened, closed  int
	steps, observes int
	seeds           []uint64
	env             envharness.Environment // the one opened last, without the seam
	closeErr        error
	change          func(n int, t *envharness.Transition) // nil changes nothing
	describe        func(envharness.Description) envharness.Description
}

// A seam stands between the harness and the base, counts the calls and changes the results, the n-th since the reset, which is the 0th.
type seam struct {
	envharness.Environment
	book *ledger
	n    int
	last envharness.Observation
}

// seamed puts a seam around the environments of w.
func seamed(w envharness.World, book *ledger) envharness.World {
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		if err != nil || env == nil {
			return nil, err
		}
		book.opened++
		book.env = env
		return &seam{Environment: env, book: book}, nil
	}
	return w
}

// Unwrap shows the abilities of the base.
func (s *seam) Unwrap() envharness.Environment { return s.Environment }

func (s *seam) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if o.Seed != nil {
		s.book.seeds = append(s.book.seeds, *o.Seed)
	}
	obs, err := s.Environment.Reset(ctx, o)
	if err != nil {
		return obs, err
	}
	s.n = 0
	return s.changed(envharness.Transition{Observation: obs}).Observation, nil
}

func (s *seam) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	s.book.steps++
	t, err := s.Environment.Step(ctx, a)
	if err != nil {
		return t, err
	}
	s.n++
	return s.changed(t), nil
}

func (s *seam) changed(t envharness.Transition) envharness.Transition {
	if s.book.change != nil {
		s.book.change(s.n, &t)
	}
	s.last = t.Observation
	return t
}

// Observe implements [envharness.Observer], also around a base that is none.
func (s *seam) Observe(ctx context.Context) (envharness.Observation, error) {
	s.book.observes++
	o, ok := envharness.As[envharness.Observer](s.Environment)
	if !ok {
		return s.last, nil
	}
	obs, err := o.Observe(ctx)
	t := envharness.Transition{Observation: obs}
	if err == nil && s.book.change != nil {
		s.book.change(s.n, &t)
	}
	return t.Observation, err
}

// Describe implements [envharness.Describer]; the zero value is what a base that is none says of itself.
func (s *seam) Describe() envharness.Description {
	var d envharness.Description
	if b, ok := envharness.As[envharness.Describer](s.Environment); ok {
		d = b.Describe()
	}
	if s.book.describe != nil {
		d = s.book.describe(d)
	}
	return d
}

func (s *seam) Close() error {
	s.book.closed++
	err := s.Environment.Close()
	if err != nil && s.book.closeErr == nil {
		s.book.closeErr = err
	}
	return err
}

// A tap goes around each call of a component. around must call what it is given, and may put an error in place of its result.
type tap struct {
	envharness.Component
	around func(ctx context.Context, hook string, call func() error) error
}

// Check passes on the component's own check.
func (p tap) Check() error { return checked(p.Component) }

func checked(c envharness.Component) error {
	if k, ok := c.(interface{ Check() error }); ok {
		return k.Check()
	}
	return nil
}

func (p tap) Begin(ctx context.Context, e envharness.EpisodeInfo) (h envharness.Hooks, err error) {
	err = p.around(ctx, "begin", func() (err error) {
		h, err = p.Component.Begin(ctx, e)
		return err
	})
	if f := h.Start; f != nil {
		h.Start = func(ctx context.Context, v envharness.View) (out []envharness.StartEdit, err error) {
			err = p.around(ctx, "start", func() (err error) { out, err = f(ctx, v); return err })
			return out, err
		}
	}
	if f := h.Tools; f != nil {
		h.Tools = func(ctx context.Context, in []envharness.Tool) (out []envharness.Tool, err error) {
			err = p.around(ctx, "tools", func() (err error) { out, err = f(ctx, in); return err })
			return out, err
		}
	}
	if f := h.Action; f != nil {
		h.Action = func(ctx context.Context, v envharness.View, a envharness.Action) (out envharness.ActionEdit, err error) {
			err = p.around(ctx, "action", func() (err error) { out, err = f(ctx, v, a); return err })
			return out, err
		}
	}
	if f := h.Result; f != nil {
		h.Result = func(ctx context.Context, v envharness.View, refusal *envharness.ActionError) error {
			return p.around(ctx, "result", func() error { return f(ctx, v, refusal) })
		}
	}
	if f := h.Transition; f != nil {
		h.Transition = func(ctx context.Context, v envharness.View, t envharness.Transition) (out envharness.TransitionEdit, err error) {
			err = p.around(ctx, "transition", func() (err error) { out, err = f(ctx, v, t); return err })
			return out, err
		}
	}
	if f := h.Observe; f != nil {
		h.Observe = func(ctx context.Context, v envharness.View, o envharness.Observation) (out envharness.Observation, err error) {
			err = p.around(ctx, "observe", func() (err error) { out, err = f(ctx, v, o); return err })
			return out, err
		}
	}
	return h, err
}

// A named component has an id that does not depend on its place.
type named struct {
	envharness.Component
	id string
}

func (n named) Check() error { return checked(n.Component) }

func (n named) Spec() envharness.ComponentSpec {
	s := n.Component.Spec()
	s.ID = n.id
	return s
}

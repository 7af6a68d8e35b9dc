package doubles

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/vector"
)

// runners are broken vector runners: each is the one of package vector behind something that spoils one promise.
func runners() []Double {
	return []Double{
		runner("R01", "shows the last observation of the old episode where the first of the new one belongs", nil, wrapped(staleStart)),
		runner("R01", "resets an ended slot unasked", nil, func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
			if o.Mode == vector.Disabled {
				o.Mode = vector.NextStep
			}
			return vector.New(w, nil, n, o)
		}),
		runner("R02", "does not mark the call that reset a slot", nil, wrapped(func(rs []vector.Result) {
			for i := range rs {
				rs[i].AutoReset = false
			}
		})),
		runner("R02", "counts the call that reset a slot as a turn of the episode", nil, countsReset),
		runner("R03", "fails as a whole when one slot has failed", nil, spreads),
		runner("R04", "waits as long as it takes", nil, func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
			o.StepTimeout = -1
			return vector.New(w, nil, n, o)
		}),
		runner("R05", "returns the slots whose episode has ended first", nil, wrapped(func(rs []vector.Result) {
			slices.SortStableFunc(rs, func(a, b vector.Result) int { return rank(a) - rank(b) })
		})),
		runner("R06", "seeds its slots by Parallel", nil, func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
			o.Seed += uint64(o.Parallel)
			return vector.New(w, nil, n, o)
		}),
		runner("R07", "resets an environment twice", nil, worldly(func(e envharness.Environment) envharness.Environment { return twice{e} })),
		runner("R07", "forgets the limit on turns", nil, worldly(func(e envharness.Environment) envharness.Environment {
			return limitless{e}
		})),
		runner("R08", "lets a second call wait", nil, func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
			v, err := vector.New(w, nil, n, o)
			return queued{v, make(chan struct{}, 1)}, err
		}),
		runner("R08", "has no word for a call after Close", nil, func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
			v, err := vector.New(w, nil, n, o)
			return brokenPipe{v}, err
		}),
	}
}

type newVector = func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error)

// patience is what a double that hangs costs in time.
const patience = 2 * time.Second

func runner(id, text string, also []string, open newVector) Double {
	return Double{Rule: id, Text: text, Also: also, Check: envtest.Runner{New: open, Patience: patience}.Check}
}

// spoilt changes the results of every step.
type spoilt struct {
	*vector.Vector
	spoil func([]vector.Result)
}

func wrapped(spoil func([]vector.Result)) newVector {
	return func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
		v, err := vector.New(w, nil, n, o)
		return spoilt{v, spoil}, err
	}
}

func (s spoilt) Step(ctx context.Context, actions []envharness.Action) ([]vector.Result, error) {
	rs, err := s.Vector.Step(ctx, actions)
	s.spoil(rs)
	return rs, err
}

func staleStart(rs []vector.Result) {
	for i := range rs {
		if rs[i].Final != nil {
			rs[i].Observation = rs[i].Final.Observation
		}
	}
}

func rank(r vector.Result) int {
	if r.Ended() {
		return 0
	}
	return 1
}

// countsReset keeps its own statistics, of all calls.
func countsReset(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
	late := make([]bool, n) // the episode began with a call that was counted
	return wrapped(func(rs []vector.Result) {
		for i := range rs {
			if e := rs[i].Episode; e != nil && late[i] {
				e.Turns++
				late[i] = false
			}
			late[i] = late[i] || rs[i].AutoReset
		}
	})(w, n, o)
}

// spreads makes the failure of a slot that of the call, unless it was late.
func spreads(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
	v, err := vector.New(w, nil, n, o)
	return spreading{v}, err
}

type spreading struct{ *vector.Vector }

func (s spreading) Step(ctx context.Context, actions []envharness.Action) ([]vector.Result, error) {
	rs, err := s.Vector.Step(ctx, actions)
	for _, r := range rs {
		if r.Err != nil && !errors.Is(r.Err, context.DeadlineExceeded) && !errors.Is(r.Err, envharness.ErrEpisodeOver) {
			return nil, r.Err
		}
	}
	return rs, err
}

// worldly puts something around the environments.
func worldly(around func(envharness.Environment) envharness.Environment) newVector {
	return func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
		open := w.New
		w.New = func(ctx context.Context) (envharness.Environment, error) {
			e, err := open(ctx)
			if err != nil {
				return nil, err
			}
			return around(e), nil
		}
		return vector.New(w, nil, n, o)
	}
}

type twice struct{ envharness.Environment }

func (t twice) Unwrap() envharness.Environment { return t.Environment }

func (t twice) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if obs, err := t.Environment.Reset(ctx, o); err != nil {
		return obs, err
	}
	return t.Environment.Reset(ctx, o)
}

// limitless has no Unwrap, so that nobody finds the description.
type limitless struct{ envharness.Environment }

type queued struct {
	*vector.Vector
	turn chan struct{} // holds one
}

func (q queued) Reset(ctx context.Context, o []envharness.ResetOptions, slots ...int) ([]vector.Result, error) {
	return q.inTurn(ctx, func() ([]vector.Result, error) { return q.Vector.Reset(ctx, o, slots...) })
}

func (q queued) Step(ctx context.Context, actions []envharness.Action) ([]vector.Result, error) {
	return q.inTurn(ctx, func() ([]vector.Result, error) { return q.Vector.Step(ctx, actions) })
}

func (q queued) inTurn(ctx context.Context, f func() ([]vector.Result, error)) ([]vector.Result, error) {
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-q.turn }()
	return f()
}

type brokenPipe struct{ *vector.Vector }

func (b brokenPipe) Step(ctx context.Context, actions []envharness.Action) ([]vector.Result, error) {
	rs, err := b.Vector.Step(ctx, actions)
	if errors.Is(err, envharness.ErrClosed) {
		err = errors.New("write: broken pipe")
	}
	return rs, err
}

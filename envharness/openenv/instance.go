package openenv

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

var (
	errLate    = errors.New("openenv: the call took too long")
	errHangs   = errors.New("openenv: the call does not return")
	errTooLong = errors.New("openenv: the answer is longer than a message may be")
)

// classes are the words for what failed; anything else is "failed". They are all that a client learns of an error.
var classes = []struct {
	err  error
	name string
	text string
}{
	{envharness.ErrNeedReset, "need_reset", "reset first"},
	{envharness.ErrEpisodeOver, "episode_over", "the episode is over"},
	{envharness.ErrNoTask, "no_task", "there is no such task"},
	{envharness.ErrSeedUnsupported, "seed_unsupported", "the environment takes no seed"},
	{errLate, "timeout", "the environment took too long"},
	{errTooLong, "too_long", "the answer is longer than a message may be"},
}

// classify says what may be told of an error: never its text, which is the environment's own.
func classify(err error) (class, text string) {
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return c.name, c.text
		}
	}
	return "failed", "the environment failed"
}

// An instance is one environment with the slot that it takes. The slot is free again when the environment is closed and no call of it
// is left, however late that is.
type instance struct {
	s     *Server
	env   envharness.Environment
	refs  atomic.Int64 // its user, and each call that runs
	hangs bool         // a call did not return in time; no other may follow
}

// newInstance opens an environment in a slot that was taken before. If that fails there is none, and nothing is left to close.
func (s *Server) newInstance(ctx context.Context) (*instance, error) {
	in := &instance{s: s}
	in.refs.Add(1)
	env, err := guarded(ctx, in, "open", func(ctx context.Context) (envharness.Environment, error) {
		env, err := s.open(ctx)
		if err == nil && env == nil {
			return nil, errors.New("no environment was made")
		}
		if err == nil && ctx.Err() != nil {
			// Nobody may be waiting any more.
			return nil, errors.Join(context.Cause(ctx), env.Close())
		}
		return env, err
	})
	if err != nil {
		in.leave()
		return nil, err
	}
	in.env = env
	s.learn(ctx, in)
	if in.hangs {
		in.close()
		return nil, errHangs
	}
	return in, nil
}

func (in *instance) leave() {
	if in.refs.Add(-1) == 0 {
		in.s.release()
	}
}

// close closes the environment and gives the slot back.
func (in *instance) close() {
	defer in.leave()
	// What was asked for is done, or cannot be waited for: the end of the caller's context is no reason to leave this out.
	_, _ = guarded(context.Background(), in, "close", func(context.Context) (struct{}, error) { return struct{}{}, in.env.Close() })
}

// guarded calls foreign code: it recovers panics and waits no longer than the step timeout and the grace after it. The context of the
// call ends with ctx or at the timeout. Code that does not heed this has its environment closed under it; if that does not help it is
// left behind with its slot. Every failure is reported.
func guarded[T any](ctx context.Context, in *instance, call string, f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	ctx, cancel := context.WithTimeoutCause(ctx, in.s.stepTimeout, errLate)
	defer cancel()
	done := make(chan outcome, 1)
	in.refs.Add(1)
	go func() {
		o := outcome{err: errors.New("the goroutine was ended")} // stands after runtime.Goexit
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			in.leave() // first: a slot that looks free to a client, once it was answered, is free
			done <- o
		}()
		o.v, o.err = f(ctx)
		_, _ = classify(o.err) // the methods of errors are foreign, too
	}()
	var o outcome
	returned := true
	select {
	case o = <-done:
	case <-ctx.Done():
		o, returned = within(done, in.s.grace)
		if !returned && in.env != nil {
			in.closeUnder()
			o, returned = within(done, in.s.grace)
		}
	}
	if !returned {
		in.hangs = true
		o.err = errHangs
	}
	if o.err == nil {
		return o.v, nil
	}
	err := o.err
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	abandoned := ctx.Err() != nil && !errors.Is(context.Cause(ctx), errLate) // by a client that left: a failure is no wonder
	if class, _ := classify(err); (class == "failed" || class == "timeout") && (!abandoned || in.hangs) {
		in.s.failed(call, err)
	}
	var zero T
	return zero, err
}

// within receives what comes soon.
func within[T any](c <-chan T, soon time.Duration) (v T, ok bool) {
	t := time.NewTimer(soon)
	defer t.Stop()
	select {
	case v = <-c:
		return v, true
	case <-t.C:
		return v, false
	}
}

// closeUnder closes the environment while a call of it runs, which is allowed, and waits for neither.
func (in *instance) closeUnder() {
	in.refs.Add(1)
	go func() {
		defer in.leave()
		defer func() { _ = recover() }()
		_ = in.env.Close()
	}()
}

package rigger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

const (
	defaultStepTimeout = time.Minute // as envharness.RolloutOptions has it
	grace              = time.Second // that code has to return after its context was cancelled, as in envharness.Rollouts
)

// stepTimeout is how long a call of the environment may take; zero means as long as it likes.
func stepTimeout(o envharness.RolloutOptions) time.Duration {
	if o.StepTimeout == 0 {
		return defaultStepTimeout
	}
	return max(o.StepTimeout, 0)
}

// errGivenUp is in the error of code that did not answer in time.
var errGivenUp = errors.New("given up")

// bounded calls foreign code on a goroutine of its own, outside of rollouts, which have bounds of their own. When ctx is done, or after the
// limit if there is one, the context of f is cancelled, and what has not returned a second later is left behind: the error says so. What f
// returns too late goes to late, which may be nil. A panic is an error.
func bounded[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error), late func(T)) (T, error) {
	type result struct {
		v   T
		err error
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan result, 1) // room for what nobody waits for
	go func() {
		r := result{err: errors.New("foreign code ended its goroutine")}
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("panic: %v", p)
			}
			results <- r
		}()
		r.v, r.err = f(inner)
	}()
	drop := func(r result) {
		defer func() { _ = recover() }() // there is a worse error
		if r.err == nil && late != nil {
			late(r.v)
		}
	}
	var timeout <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	var (
		none T
		err  error
	)
	select {
	case r := <-results:
		return r.v, r.err
	case <-ctx.Done():
		err = fmt.Errorf("%w: %w", errGivenUp, ctx.Err())
	case <-timeout:
		err = fmt.Errorf("%w: no answer within %v", errGivenUp, limit)
	}
	cancel()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case r := <-results:
		go drop(r) // it may hang as well
	case <-timer.C:
		err = fmt.Errorf("%w; it did not return and was left behind", err)
		go func() { drop(<-results) }()
	}
	return none, err
}

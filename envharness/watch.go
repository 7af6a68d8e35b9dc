package envharness

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// A watch notes which foreign code an episode is in and since when, so that whoever waits for the episode can tell what hangs. It
// costs two reads of the clock a call and no goroutine. A nil watch notes nothing.
type watch struct {
	step, hook time.Duration // longest time for a call of the environment or the verifier, and for a hook; zero for no limit

	mu    sync.Mutex
	in    site
	since time.Time
	late  *failure // set once; the episode is given up
}

// A site is a place where foreign code runs.
type site struct {
	kind siteKind
	id   string // of the component, for a hook
	call string
}

type siteKind uint8

const (
	siteNone siteKind = iota
	siteBase
	siteHook
	sitePolicy
	siteVerifier
)

// enter returns the place to come back to.
func (w *watch) enter(s site) (back site) {
	if w == nil {
		return site{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	back, w.in, w.since = w.in, s, time.Now()
	return back
}

func (w *watch) leave(back site) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in, w.since = back, time.Now() // a hook that asked for the state begins anew
}

func (w *watch) limit(s site) time.Duration {
	switch s.kind {
	case siteBase, siteVerifier:
		return w.step
	case siteHook:
		return w.hook
	}
	return 0 // a policy may think until the episode's end
}

// check gives the episode up if the present call has run for too long or the episode has ended its time, and otherwise returns how
// long there is nothing to check.
func (w *watch) check(now, end time.Time) (time.Duration, *failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := end.Sub(now)
	if end.IsZero() {
		wait = 1<<63 - 1
	} else if wait <= 0 {
		w.late = &failure{w.in.blame(), fmt.Errorf("%s: the episode took too long", w.in)}
		return 0, w.late
	}
	if limit := w.limit(w.in); limit > 0 {
		left := limit - now.Sub(w.since)
		if left <= 0 {
			w.late = &failure{w.in.blame(), fmt.Errorf("%s: no answer within %v", w.in, limit)}
			return 0, w.late
		}
		wait = min(wait, left)
	}
	for _, limit := range []time.Duration{w.step, w.hook} { // a call that starts after this one, or now
		if limit > 0 {
			wait = min(wait, limit)
		}
	}
	return wait, nil
}

// gaveUp returns why the episode was given up, nil if it was not.
func (w *watch) gaveUp() *failure {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.late
}

// blame is the reason for an end that this place is the cause of.
func (s site) blame() EndReason {
	switch s.kind {
	case siteHook:
		return EndComponentError
	case siteVerifier:
		return EndVerifierError
	}
	return EndTimeout
}

func (s site) String() string {
	switch s.kind {
	case siteNone:
		return "harness"
	case sitePolicy:
		return "policy"
	case siteVerifier:
		return "verifier"
	case siteHook:
		return s.id + ": " + s.call
	}
	return s.call
}

// A panicError is what foreign code panicked with.
type panicError struct{ value any }

func (p panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// guard calls foreign code and turns a panic into an error.
func guard[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError{p}
		}
	}()
	v, err = f()
	probe(err)
	return v, err
}

// probe calls the methods of a foreign error where a panic in them is caught: a nil pointer that was returned as an error has some, too.
func probe(err error) {
	if err == nil {
		return
	}
	_ = err.Error()
	_ = errors.Is(err, ErrInfra)
	_, _ = errors.AsType[*failure](err)
}

// watched is guard under the eyes of a watch.
func watched[T any](w *watch, s site, f func() (T, error)) (T, error) {
	back := w.enter(s)
	defer w.leave(back)
	return guard(f)
}

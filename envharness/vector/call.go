package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// errLeft is what the goroutine of a slot that was left behind gets to see when it returns after all.
var errLeft = errors.New("left behind")

// A call is one Reset or Step of a vector.
type call struct {
	v     *Vector
	ctx   context.Context
	slots []int // to serve
	serve func(l *lane)
	done  chan struct{} // closed when no lane is left

	mu      sync.Mutex // guards what follows
	next    int        // place in slots
	results []Result   // by place in slots
	lanes   []*lane    // those whose goroutines are waited for
}

// A lane is a goroutine that serves one slot after another. While it is inside foreign code it touches neither its slot nor its result, so
// that they can be read from outside.
type lane struct {
	c      *call
	ctx    context.Context
	cancel context.CancelFunc
	at     int // place of the slot in the call
	slot   *slot
	result Result

	// Guarded by the mutex of the call.
	inside   bool      // in foreign code
	stage    string    // where
	deadline time.Time // when to lose patience; zero for never
	patience patience
	late     error // why the slot was given up
}

// patience says what was done about a lane that does not return.
type patience uint8

const (
	waiting patience = iota
	cancelled
	closing
	left
)

// run serves the slots.
func (v *Vector) run(ctx context.Context, slots []int, serve func(*lane)) ([]Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("vector: %w", err)
	}
	if len(slots) == 0 { // of the zero Vector
		return nil, envharness.ErrNeedReset
	}
	c := &call{v: v, ctx: ctx, slots: slots, serve: serve, done: make(chan struct{}), results: make([]Result, len(slots))}
	c.mu.Lock()
	for range min(max(v.o.Parallel, 1), len(slots)) {
		c.start()
	}
	c.mu.Unlock()
	c.wait()
	if v.isClosed() {
		return nil, envharness.ErrClosed
	}
	if err := ctx.Err(); err != nil && slices.ContainsFunc(c.results, func(r Result) bool { return r.Err != nil }) {
		return c.results, fmt.Errorf("vector: %w", err)
	}
	return c.results, nil
}

// start adds a lane; the caller holds the mutex.
func (c *call) start() {
	l := &lane{c: c}
	c.lanes = append(c.lanes, l)
	go l.work()
}

func (l *lane) work() {
	defer l.leave()
	for l.pull() {
		l.c.serve(l)
		if !l.settle() {
			return
		}
	}
}

// pull gives the lane the next slot. Those whose turn comes after the end of the context stay as they are.
func (l *lane) pull() bool {
	c := l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for err := c.ctx.Err(); err != nil && c.next < len(c.slots); c.next++ {
		c.results[c.next].Err = fmt.Errorf("vector: slot %d: %w", c.slots[c.next], err)
	}
	if c.next == len(c.slots) {
		return false
	}
	if l.ctx == nil || l.ctx.Err() != nil { // first, or cancelled for the slot before
		if l.cancel != nil {
			l.cancel()
		}
		l.ctx, l.cancel = context.WithCancel(c.ctx)
	}
	l.at, l.slot, l.result = c.next, c.v.slots[c.slots[c.next]], Result{}
	l.stage, l.patience, l.late = stageReset, waiting, nil
	c.next++
	return true
}

// settle hands over the result, and reports whether somebody still waited for it.
func (l *lane) settle() bool {
	c := l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.patience == left {
		return false
	}
	c.results[l.at], l.slot = l.result, nil
	return true
}

// leave ends the lane. If its goroutine was ended by foreign code, another lane serves the slots that are left.
func (l *lane) leave() {
	defer l.end()
	if l.slot == nil || l.isLeft() {
		return
	}
	l.result.fail(l.slot, l.stage, errors.New("foreign code ended its goroutine"))
	l.drop()
}

func (l *lane) end() {
	c := l.c
	if l.cancel != nil {
		l.cancel()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.patience == left {
		return
	}
	if l.slot != nil {
		c.results[l.at] = l.result
		c.start()
	}
	c.remove(l)
}

func (l *lane) isLeft() bool {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	return l.patience == left
}

// remove takes a lane out; the caller holds the mutex.
func (c *call) remove(l *lane) {
	c.lanes = slices.DeleteFunc(c.lanes, func(o *lane) bool { return o == l })
	if len(c.lanes) == 0 {
		close(c.done)
	}
}

// during runs foreign code, which may take times the limit of the vector. A call that was late is an error whatever it returned.
func (l *lane) during(stage string, times int, f func() error) (err error) {
	l.goInside(stage, times)
	defer func() { // also if f ends the goroutine
		if late := l.comeBack(); late != nil {
			err = late
		}
	}()
	return f()
}

func (l *lane) goInside(stage string, times int) {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.stage, l.inside = stage, true
	if l.patience != waiting {
		return // the clock is running
	}
	l.deadline = time.Time{}
	if t := l.c.v.timeout; t > 0 {
		l.deadline = time.Now().Add(t * time.Duration(times))
	}
}

func (l *lane) comeBack() error {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.inside = false
	if l.patience == left {
		return errLeft
	}
	return l.late
}

// wait returns when all lanes have ended, and sees to those that are late.
func (c *call) wait() {
	timer := time.NewTimer(c.check(time.Now()))
	defer timer.Stop()
	canceled := c.ctx.Done()
	for {
		select {
		case <-c.done:
			return
		case <-canceled:
			canceled = nil // once is enough
		case <-timer.C:
		}
		timer.Reset(c.check(time.Now()))
	}
}

// check does what is due about lanes that have not returned, and returns how long there is nothing to do.
func (c *call) check(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := time.Duration(1<<63 - 1)
	if c.v.timeout > 0 {
		wait = c.v.timeout // of a stage that begins now
	}
	for _, l := range slices.Clone(c.lanes) { // press may replace one
		if !l.inside {
			if c.ctx.Err() != nil {
				wait = min(wait, grace) // in case it goes inside again
			}
			continue
		}
		if l.patience == waiting && c.ctx.Err() != nil {
			l.patience, l.deadline = cancelled, now.Add(grace)
		}
		if !l.deadline.IsZero() && !now.Before(l.deadline) {
			l.press(now)
		}
		if !l.deadline.IsZero() && l.patience != left {
			wait = min(wait, l.deadline.Sub(now))
		}
	}
	return wait
}

// press goes one step further against a lane that does not return; the caller holds the mutex.
func (l *lane) press(now time.Time) {
	c := l.c
	if l.late == nil {
		l.late = fmt.Errorf("no answer within %v: %w", c.v.timeout, context.DeadlineExceeded)
		if err := c.ctx.Err(); err != nil {
			l.late = fmt.Errorf("no answer within %v of the end of the context: %w", grace, err)
		}
	}
	l.patience++
	l.deadline = now.Add(grace)
	switch l.patience {
	case cancelled:
		l.cancel()
	case closing:
		if h := l.slot.h; h != nil {
			go h.Close() // may hang as well
		}
	case left:
		r := l.result
		r.fail(l.slot, l.stage, fmt.Errorf("%w; it did not return and was left behind", l.late))
		c.results[l.at] = r
		c.v.replace(l.slot)
		c.start()
		c.remove(l)
	}
}

// replace puts a slot in the place of one whose goroutine was left behind.
func (v *Vector) replace(s *slot) {
	fresh := *s
	fresh.h, fresh.phase = nil, fresh.phase.afterFailure()
	v.slots[s.index] = &fresh
	v.forget(s.index)
}

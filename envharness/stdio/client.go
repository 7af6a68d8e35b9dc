package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/throughline-go/throughline/envharness"
)

// A peer is a program as [child.Process] has it.
type peer interface {
	io.ReadWriteCloser
	Kill()
	Done() <-chan struct{}
	Err() error
}

// A conn is the connection to one program. What the program does not answer as it should breaks it for good, and kills the program: of
// an environment that is out of step nothing more can be believed.
type conn struct {
	p  peer
	in lines

	busy sync.Mutex // held by the call that runs
	id   uint64     // of the last request

	mu     sync.Mutex
	closed bool
	broken *Error
}

// call sends a request and decodes the answer into ok, of which check says what is wrong with it, if anything is.
func (c *conn) call(ctx context.Context, q request, ok any, check func() string) error {
	if !c.busy.TryLock() {
		return fmt.Errorf("stdio: %s: %w", q.Op, envharness.ErrBusy)
	}
	defer c.busy.Unlock()
	if err := c.state(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stdio: %s: %w", q.Op, context.Cause(ctx))
	}
	c.id++
	q.ID = c.id
	line, err := encode(q)
	if err != nil {
		return fmt.Errorf("stdio: %s: the request cannot be sent: %w", q.Op, err)
	}
	stop := context.AfterFunc(ctx, c.p.Kill) // there is no other way to end a call of a program that may not listen
	said, fault := c.exchange(q, line, ok, check)
	if !stop() {
		c.fail(&Error{Op: q.Op, Fault: "the program was killed, as a call was canceled before its answer", err: envharness.ErrInfra})
		return fmt.Errorf("stdio: %s: %w", q.Op, context.Cause(ctx))
	}
	if fault != nil {
		return c.fail(fault)
	}
	if said != nil {
		return said
	}
	return nil
}

// exchange returns what the program said went wrong, with which it remains in step, or what is wrong with the program.
func (c *conn) exchange(q request, line []byte, ok any, check func() string) (said, fault *Error) {
	wrong := func(fault string, why error) *Error {
		e := &Error{Op: q.Op, Fault: fault, err: envharness.ErrInfra}
		if why != nil {
			e.Message = why.Error()
		}
		return e
	}
	if c.in.in.Buffered() > 0 {
		return nil, wrong("the program wrote without being asked", nil)
	}
	_, err := c.p.Write(line)
	if err == nil {
		line, err = c.in.next()
	}
	switch {
	case errors.Is(err, errTooLong):
		return nil, wrong("the program wrote "+err.Error(), nil)
	case err != nil:
		return nil, wrong(c.end(), nil)
	}
	raw, e, what, why := parseReply(line, q.ID)
	switch {
	case what != "":
		return nil, wrong(what, why)
	case e != nil:
		err, named := errorOf(e.Code)
		said := &Error{Op: q.Op, Message: e.Message, err: err}
		if !named || errors.Is(err, envharness.ErrInfra) {
			said.Fault = "the environment failed"
		}
		return said, nil
	}
	if err := strict(raw, ok); err != nil {
		return nil, wrong("the reply is not one to this request", err)
	}
	if what := check(); what != "" {
		return nil, wrong("the reply "+what, nil)
	}
	return nil, nil
}

// end says how the program ended, and sees to it that it did, unless Close does.
func (c *conn) end() string {
	if errors.Is(c.state(), envharness.ErrClosed) {
		return ""
	}
	c.p.Kill()
	<-c.p.Done()
	if err := c.p.Err(); err != nil {
		return fmt.Sprintf("the program ended or closed its streams: %v", err)
	}
	return "the program ended"
}

// fail breaks the connection, unless that was done, and returns what calls return from now on.
func (c *conn) fail(e *Error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return fmt.Errorf("stdio: %s: %w", e.Op, envharness.ErrClosed)
	}
	if c.broken == nil {
		c.broken = e
	}
	c.p.Kill()
	return e
}

// state returns why no call can be made.
func (c *conn) state() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return fmt.Errorf("stdio: %w", envharness.ErrClosed)
	case c.broken != nil:
		return c.broken
	}
	return nil
}

// Close closes the standard input of the program, which should end by itself then, and sees it to its end.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	return c.p.Close()
}

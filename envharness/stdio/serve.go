package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// patience is how long a call may go on when the input has ended or the context is done, and how long it may take to return once it was
// told to. Both together are the grace that [Open] gives a program.
const patience = time.Second

var (
	errLeft = errors.New("stdio: the environment did not return and was left behind")
	errExit = errors.New("stdio: the environment ended its goroutine")
)

// Serve answers the requests that it reads from r on w, in order, until r ends, a request closes the environment, or ctx is done. Then it
// closes the environment, which is its own. It is the main function of a program that serves one: Serve(ctx, env, os.Stdin, os.Stdout),
// where nothing else may write to os.Stdout.
//
// A request that cannot be read, or is longer than 4 MiB, gets an error for an answer and the next one is read. An error of the
// environment is answered with the name of the error of package envharness that it is, ErrInfra if it is none, and up to 1 KiB of its text,
// which only the owner of the program gets to see; a panic is an ErrInfra of which nothing is told.
//
// When r ends during a call or before those that wait, all of that has a second; then the calls are canceled and the environment is
// closed, and what has not returned after another second is left behind, which is an error. When ctx is done it is the same without the
// first second. A Read of r or a Write to w that blocks is left behind as well, until it returns.
//
// The error is nil after the end of r and after a request to close, if closing worked; else that of ctx, of r, of w or of closing.
func Serve(ctx context.Context, env envharness.Environment, r io.Reader, w io.Writer) error {
	if env == nil || r == nil || w == nil {
		return errors.New("stdio: Serve needs an environment, a reader and a writer")
	}
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{env: env, w: w, messages: make(chan message), ended: make(chan struct{}), left: ctx.Done()}
	go s.read(newLines(r))
	done := make(chan error, 1)
	go func() {
		err := errExit // stands after runtime.Goexit
		defer func() { done <- err }()
		err = s.work(ctx, parent)
	}()
	select {
	case err := <-done:
		return err
	case <-s.ended:
		if ok, err := await(done, ctx.Done()); ok {
			return err
		}
	case <-ctx.Done():
	}
	cancel()
	if ok, err := await(done, nil); ok {
		return err
	}
	return errors.Join(parent.Err(), errLeft)
}

// await waits for a result for as long as patience lasts and c is not closed.
func await(result <-chan error, c <-chan struct{}) (ok bool, err error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-result:
		return true, err
	case <-timer.C:
	case <-c:
	}
	return false, nil
}

// A server serves one environment.
type server struct {
	env      envharness.Environment
	w        io.Writer
	messages chan message
	ended    chan struct{}   // closed when nothing more is read
	left     <-chan struct{} // closed when nobody takes messages any more
	readErr  error           // to be read after ended

	closing  sync.Once
	closeErr error

	tools []byte // the list that was sent last
}

// A message is a request or what was wrong with one.
type message struct {
	id  *uint64
	req request
	err error
}

// read reads ahead by one request, so that the end of the input is noticed during a call.
func (s *server) read(in lines) {
	defer close(s.ended)
	defer close(s.messages)
	for {
		line, err := in.next()
		var m message
		switch {
		case err == nil, errors.Is(err, io.ErrUnexpectedEOF) && line != nil:
			m.id, m.req, m.err = parse(line)
		case errors.Is(err, errTooLong):
			m.err = err
		default:
			if !errors.Is(err, io.EOF) {
				s.readErr = fmt.Errorf("stdio: read: %w", err)
			}
			return
		}
		select {
		case s.messages <- m:
		case <-s.left:
			return
		}
		switch {
		case m.err == nil && m.req.Op == "close":
			return
		case errors.Is(m.err, errTooLong):
			if err := in.skip(); err != nil {
				if !errors.Is(err, io.EOF) {
					s.readErr = fmt.Errorf("stdio: read: %w", err)
				}
				return
			}
		}
	}
}

// work answers requests and closes the environment. It stops with ctx, and the error is then that of its parent.
func (s *server) work(ctx, parent context.Context) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	stop := context.AfterFunc(ctx, func() { _ = s.close() }) // during a call, which it should end
	defer stop()
	for {
		select {
		case m, ok := <-s.messages:
			if !ok {
				return s.readErr
			}
			if err := s.write(s.answer(ctx, m)); err != nil {
				return err
			}
			if m.err == nil && m.req.Op == "close" {
				return nil
			}
		case <-ctx.Done():
			return parent.Err()
		}
	}
}

// close closes the environment, once.
func (s *server) close() error {
	s.closing.Do(func() {
		_, s.closeErr = guard(func() (any, error) { return nil, s.env.Close() })
		if s.closeErr != nil {
			s.closeErr = fmt.Errorf("stdio: close: %w", s.closeErr)
		}
	})
	return s.closeErr
}

func (s *server) write(r reply) error {
	line, err := encode(r)
	if err != nil { // of what the environment returned: no JSON, too much or too deep
		line, err = encode(reply{ID: r.ID, Error: failed(fmt.Errorf("the answer cannot be sent: %w", err))})
		if err != nil {
			return fmt.Errorf("stdio: %w", err)
		}
	}
	if _, err := s.w.Write(line); err != nil {
		return fmt.Errorf("stdio: write: %w", err)
	}
	return nil
}

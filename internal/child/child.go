package child

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const defaultGrace = 2 * time.Second

// Command says which program to run.
type Command struct {
	// Args are the program, looked up as [exec.Command] does in the PATH of this process, and its arguments. No error holds more of them
	// than the last element of the program's path.
	Args []string
	Dir  string // working folder; empty means that of the caller
	// Env are variables of the program, as "NAME=value", besides the few of this process without which programs do not run (PATH, HOME,
	// TMPDIR, ...; see [Environ]); of a name that is there twice the later counts. No other variable of this process is passed on.
	Env []string
	// Grace is how long the program may take to end by itself once its standard input is closed, before it and all that it started is
	// killed; zero means 2 seconds. A negative one is an error of [Start].
	Grace time.Duration
	// Stderr gets what the program writes there; nil discards it. It may hold secrets, so it is never part of an error. Its Write must not
	// block; one that serves several programs is called by all of them. An *os.File is handed to the program as it is.
	Stderr io.Writer
}

// A Process is a running program. All methods may be called concurrently. It must be closed.
type Process struct {
	name   string // for errors
	grace  time.Duration
	os     *os.Process
	stdin  *os.File
	stdout *os.File
	stderr *os.File // our end; nil if nothing is copied

	ended  chan struct{} // closed once the program was reaped
	err    error         // to be read after ended
	copied chan struct{} // closed once nothing copies stderr

	reading sync.Mutex // held by a Read
	closing atomic.Bool
	close   sync.Once
}

// Start runs the program.
func Start(c Command) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Process{
		name: filepath.Base(c.Args[0]), grace: c.Grace, ended: make(chan struct{}), copied: make(chan struct{}),
	}
	if p.grace == 0 {
		p.grace = defaultGrace
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append(Environ(), c.Env...)
	cmd.SysProcAttr = ownGroup()

	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	pipe := func(ours **os.File, write bool) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		their := w
		*ours = r
		if write {
			their, *ours = r, w
		}
		theirs = append(theirs, their)
		return their, nil
	}
	start := func() (err error) {
		// Pipes of our own, not those of exec: closing our end of one interrupts a call on it even if the other end stays open.
		if cmd.Stdin, err = pipe(&p.stdin, true); err != nil {
			return err
		}
		if cmd.Stdout, err = pipe(&p.stdout, false); err != nil {
			return err
		}
		if f, ok := c.Stderr.(*os.File); ok {
			cmd.Stderr = f
		} else if c.Stderr != nil { // else exec opens the null device
			if cmd.Stderr, err = pipe(&p.stderr, false); err != nil {
				return err
			}
		}
		return cmd.Start()
	}
	if err := start(); err != nil {
		p.release()
		if _, nodir := os.Stat(c.Dir); c.Dir != "" && nodir != nil { // the error may look like one of the program
			return nil, fmt.Errorf("child: start %s: working folder: %w", p.name, plain(nodir))
		}
		return nil, fmt.Errorf("child: start %s: %w", p.name, plain(err))
	}
	p.os = cmd.Process
	go p.wait()
	if p.stderr == nil {
		close(p.copied)
	} else {
		go func() {
			defer close(p.copied)
			_, _ = io.Copy(c.Stderr, p.stderr)
			_, _ = io.Copy(io.Discard, p.stderr) // a writer that failed does not hold up the program
		}()
	}
	return p, nil
}

func (c Command) check() error {
	var errs []error
	if len(c.Args) == 0 || c.Args[0] == "" {
		errs = append(errs, errors.New("child: Args name no program"))
	}
	if c.Grace < 0 {
		errs = append(errs, fmt.Errorf("child: Grace %v is negative", c.Grace))
	}
	return errors.Join(errs...)
}

// wait sees the program to its end, and what it started with it.
func (p *Process) wait() {
	state, err := reap(p.os)
	switch {
	case err != nil:
		p.err = fmt.Errorf("child: %s: %w", p.name, plain(err))
	case !state.Success():
		p.err = fmt.Errorf("child: %s: %s", p.name, state)
	}
	// Whoever left the group and holds the streams does not hold up their reader and writer: what the program wrote can be read by now.
	end := time.Now().Add(p.grace)
	_ = p.stdout.SetReadDeadline(end) // an error where the system has no deadlines for pipes
	_ = p.stdin.SetWriteDeadline(end)
	close(p.ended)
}

// Read reads from the standard output of the program. At its end, and at the latest a grace after that of the program, it returns io.EOF,
// after Close and Kill os.ErrClosed.
func (p *Process) Read(b []byte) (int, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	var n int
	err := os.ErrClosed
	if !p.closing.Load() {
		n, err = p.stdout.Read(b)
	}
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded) && p.closing.Load():
		err = os.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, io.EOF
	}
	return n, fmt.Errorf("child: read from %s: %w", p.name, plain(err))
}

// Write writes to the standard input of the program. It blocks while the program does not read, until the program has ended; after Close
// and Kill it returns os.ErrClosed.
func (p *Process) Write(b []byte) (int, error) {
	n, err := p.stdin.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.ErrClosedPipe
	}
	if err != nil {
		err = fmt.Errorf("child: write to %s: %w", p.name, plain(err))
	}
	return n, err
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.ended }

// Err says how the program ended, such as "exit status 3" or "signal: killed": nil while it runs and after an exit with status 0.
func (p *Process) Err() error {
	select {
	case <-p.ended:
		return p.err
	default:
		return nil
	}
}

// Kill kills the program and all that it started at once, and interrupts Read and Write. It does not wait; Close does.
func (p *Process) Kill() {
	kill(p.os)
	p.stdin.Close()
	p.stdout.Close()
}

// Close closes the program's standard input, waits for its end, and kills it and all that it started when that takes longer than the
// grace. What the program still writes meanwhile is read and dropped. Close interrupts Read and Write, is idempotent, waits also where
// another Close is at work, and leaves no process, goroutine or descriptor behind. Its error is always nil: how the program ended says
// [Process.Err].
func (p *Process) Close() error {
	p.close.Do(func() {
		p.closing.Store(true)
		late := time.AfterFunc(p.grace, p.Kill)
		defer late.Stop()
		p.stdin.Close()
		_ = p.stdout.SetReadDeadline(time.Unix(1, 0)) // in the past: a Read returns
		var drained sync.WaitGroup
		drained.Go(func() {
			p.reading.Lock() // that Read has returned, and no other one reads any more
			_ = p.stdout.SetReadDeadline(time.Time{})
			p.reading.Unlock()
			_, _ = io.Copy(io.Discard, p.stdout)
		})
		<-p.ended
		p.release()
		drained.Wait()
	})
	return nil
}

// release gives back all descriptors.
func (p *Process) release() {
	for _, f := range []*os.File{p.stdin, p.stdout} {
		if f != nil {
			f.Close()
		}
	}
	if p.stderr == nil {
		return
	}
	if p.os != nil {
		// What the program wrote before its end is still to come, and then the end of the pipe, unless something that left the program's
		// group holds it open, or the writer hangs.
		p.awaitCopy()
	}
	p.stderr.Close()
	if p.os != nil {
		p.awaitCopy()
	}
}

func (p *Process) awaitCopy() {
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-p.copied:
	case <-timer.C:
	}
}

// plain takes from an error what names paths and pipes.
func plain(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Package child runs a program that speaks on its standard streams, and owns it to the end: when the owner closes it, the program and
// all that it started are gone.
package child

import (
	"errors"
	"io"
	"os/exec"
	"time"
)

// Command says which program to run.
type Command struct {
	Args []string // the program, looked up as exec.Command does, and its arguments
	Dir  string   // working folder; empty means that of the caller
	// Env is the whole environment of the program. Nil means the few variables without which programs do not run (PATH, HOME, TMPDIR, ...)
	// as this process has them; see [Environ].
	Env []string
	// Grace is how long the program may take to end by itself once its standard input is closed, before it and all that it started is
	// killed; zero means 2 seconds.
	Grace  time.Duration
	Stderr io.Writer // gets what the program writes there; nil discards it. It may hold secrets, so it is never part of an error.
}

// A Process is a running program. Read and Write may be called concurrently with each other and with Close.
type Process struct{}

// Start runs the program.
func Start(c Command) (*Process, error) { return nil, errors.New("child: not implemented") }

// Read reads from the standard output of the program. At its end it returns io.EOF.
func (p *Process) Read(b []byte) (int, error) { return 0, io.EOF }

// Write writes to the standard input of the program.
func (p *Process) Write(b []byte) (int, error) { return 0, io.ErrClosedPipe }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return nil }

// Err says how the program ended: nil while it runs and after an exit with status 0.
func (p *Process) Err() error { return nil }

// Close closes the program's standard input, waits for its end, and kills it and all that it started when that takes too long. It
// unblocks Read and Write, is idempotent, and leaves no process, goroutine or descriptor behind. A program that ended by itself
// leaves no error.
func (p *Process) Close() error { return nil }

// Environ returns the variables that a program gets without any of its own: those of this process that programs need to run, and
// none that may hold a secret.
func Environ() []string { return nil }

var _ *exec.Cmd

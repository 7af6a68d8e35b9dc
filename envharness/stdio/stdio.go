// Package stdio connects environments in any language by lines of JSON on standard streams: it serves an environment, and drives the
// environment that a program serves.
package stdio

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// Serve answers requests from r on w with the environment until r ends, a request closes it, or ctx is done.
func Serve(ctx context.Context, env envharness.Environment, r io.Reader, w io.Writer) error {
	return errors.New("stdio: not implemented")
}

// Command says which program serves the environment.
type Command struct {
	Args   []string      // the program and its arguments
	Dir    string        // working folder; empty means that of the caller
	Env    []string      // whole environment; nil means the few variables without which programs do not run
	Grace  time.Duration // how long it may take to end by itself; zero means 2 seconds
	Stderr io.Writer     // gets what the program writes there; nil discards it
}

// Open starts the program and returns the environment that it serves.
func Open(ctx context.Context, c Command) (envharness.Environment, error) {
	return nil, errors.New("stdio: not implemented")
}

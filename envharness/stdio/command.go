package stdio

import (
	"context"
	"io"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// Command says which program serves the environment.
type Command struct {
	Args []string // the program, looked up in the PATH of this process, and its arguments
	Dir  string   // working folder; empty means that of the caller
	// Env are variables of the program, as "NAME=value", besides the few of this process without which programs do not run (PATH, HOME,
	// TMPDIR, ...). No other variable of this process is passed on, so that secrets go to those alone that they are given to.
	Env []string
	// Grace is how long the program may take to end by itself once its standard input is closed, before it and all that it started is
	// killed; zero means 2 seconds.
	Grace time.Duration
	// Stderr gets what the program writes there; nil discards it. It may hold secrets, so it is in no error and in no trace. Its Write must
	// not block, and is called by all programs that share it.
	Stderr io.Writer
}

// World makes a world of the environments that the program serves, one program for each environment, and of a verifier, which stays on
// this side: no verdict comes over the wire. What is wrong with the command shows when an environment is opened, as with [Open].
func World(c Command, v envharness.Verifier) envharness.World {
	return envharness.World{
		New:      func(ctx context.Context) (envharness.Environment, error) { return Open(ctx, c) },
		Verifier: v,
	}
}

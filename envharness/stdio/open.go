package stdio

import (
	"context"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/child"
)

// Open starts the program and returns the environment that it serves. The context bounds that alone.
//
// The environment has those of the optional interfaces of package envharness that the program declares, to be found with [envharness.As]:
// Observer, Stater, TaskLister, Rewinder, Snapshotter, Oracle, ToolLister, TurnLimiter, and Describer where the program says anything
// about its environment. Calls of it come from one goroutine at a time, else they return [envharness.ErrBusy]; Close may come at any time.
//
// A call that the program answers with an error returns an [*Error] with that of package envharness in it, and the next call may work. A
// program that ends, closes its streams, or answers with anything but the one reply to the request, of 4 MiB at most, is killed: that call
// and all later ones return an [*Error] with [envharness.ErrInfra] in it, so that no verdict comes of the episode. A context that ends
// during a call kills the program too: the call returns the cause of the context, later ones an ErrInfra.
//
// Close closes the standard input of the program, gives it the grace to end, and kills it with all that it started; a call that runs
// returns [envharness.ErrClosed] at once.
func Open(ctx context.Context, c Command) (envharness.Environment, error) {
	p, err := child.Start(child.Command{Args: c.Args, Dir: c.Dir, Env: c.Env, Grace: c.Grace, Stderr: c.Stderr})
	if err != nil {
		return nil, &Error{Op: "hello", Fault: err.Error(), err: envharness.ErrInfra}
	}
	env, err := open(ctx, p)
	if err != nil {
		p.Kill()
		p.Close()
		return nil, err
	}
	return env, nil
}

func open(ctx context.Context, p peer) (envharness.Environment, error) {
	c := &conn{p: p, in: newLines(p)}
	var g greeting
	err := c.call(ctx, request{Op: "hello", Protocol: protocol}, &g, func() string {
		if g.Protocol != protocol {
			return "names another protocol than 1"
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	return wrap(c, &g), nil
}

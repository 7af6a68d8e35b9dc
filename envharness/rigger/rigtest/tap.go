package rigtest

import (
	"context"
	"sync"

	"github.com/throughline-go/throughline/envharness"
)

// A Tapped is the list of the environments that a world has open. It is safe for concurrent use; the environments are not.
type Tapped struct {
	mu   sync.Mutex
	open []*tapped // in the order of their last Reset
}

// Tap returns a world like w, and the list of what it has open: what a component gets hold of that shares a process with the
// environment and cheats.
func Tap(w envharness.World) (envharness.World, *Tapped) {
	t := &Tapped{}
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return &tapped{env: env, list: t}, nil
	}
	return w, t
}

// Live returns the environment that was the last to be reset to the episode and is still open. Where the same episode is played more than
// once at a time it may be that of another rollout, and using it a data race: play such components one at a time.
func (t *Tapped) Live(task string, seed uint64) (envharness.Environment, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.open) - 1; i >= 0; i-- {
		if e := t.open[i]; e.task == task && e.seed == seed {
			return e.env, true
		}
	}
	return nil, false
}

func (t *Tapped) remove(e *tapped) {
	for i, o := range t.open {
		if o == e {
			t.open = append(t.open[:i], t.open[i+1:]...)
			return
		}
	}
}

// A tapped environment notes which episode it plays.
type tapped struct {
	env  envharness.Environment
	list *Tapped
	task string
	seed uint64
}

// Unwrap lets [envharness.As] find what the environment can do besides.
func (e *tapped) Unwrap() envharness.Environment { return e.env }

func (e *tapped) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	first, err := e.env.Reset(ctx, o)
	e.list.mu.Lock()
	defer e.list.mu.Unlock()
	e.list.remove(e)
	if err == nil {
		e.task, e.seed = o.Task, 0
		if o.Seed != nil {
			e.seed = *o.Seed
		}
		e.list.open = append(e.list.open, e)
	}
	return first, err
}

func (e *tapped) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	return e.env.Step(ctx, a)
}

func (e *tapped) Close() error {
	e.list.mu.Lock()
	e.list.remove(e)
	e.list.mu.Unlock()
	return e.env.Close()
}

package envtest

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// playable returns an error, that is no Violation, if no action can be made at the start of one of the tasks: most rules would then be
// kept for lack of anything to break them. Where the start cannot be had either, the rules say so.
func playable(tasks []envharness.Task, start func(t envharness.Task) (envharness.Observation, []envharness.Tool, error)) (err error) {
	defer func() {
		if recover() != nil {
			err = nil // the rules meet the same panic
		}
	}()
	for _, t := range tasks {
		o, tools, err := start(t)
		if err == nil && len(o.Actions) == 0 && len(tools) == 0 {
			return fmt.Errorf("envtest: task %q: no actions can be made: the environment lists none and describes no tools; set Actions", t.ID)
		}
	}
	return nil
}

func (e Environment) playable(ctx context.Context) error {
	if e.Actions != nil {
		return nil
	}
	return playable(e.tasks(), func(t envharness.Task) (o envharness.Observation, tools []envharness.Tool, err error) {
		err = e.with(ctx, func(b *bench) error {
			_, err := b.reset(ctx, t, seedOf(t, 1))
			o, tools = b.shown, b.tools()
			return err
		})
		return o, tools, err
	})
}

// playableWorld is the same for the environments of a world.
func playableWorld(ctx context.Context, w envharness.World, tasks []envharness.Task) error {
	return playable(tasks, func(t envharness.Task) (envharness.Observation, []envharness.Tool, error) {
		h, err := envharness.New(w)
		if err != nil {
			return envharness.Observation{}, nil, err
		}
		o, err := h.Reset(ctx, envharness.ResetOptions{Task: t.ID, Seed: seedOf(t, 1)})
		tools := h.Tools()
		if cerr := h.Close(); err == nil {
			err = cerr
		}
		return o, tools, err
	})
}

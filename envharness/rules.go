package envharness

import (
	"bytes"
	"context"
	"errors"
)

// Rules returns a component made of plain functions (the paper's Contract). begin is called once an episode and returns its hooks,
// with whatever state they need in their closures; it must be safe for concurrent use.
//
// The spec says how the component is recorded and where it may stand: Tag and Axis are required.
func Rules(spec ComponentSpec, begin func(context.Context, EpisodeInfo) (Hooks, error)) Component {
	spec.Params = bytes.Clone(spec.Params)
	return rules{spec, begin}
}

type rules struct {
	spec  ComponentSpec
	begin func(context.Context, EpisodeInfo) (Hooks, error)
}

func (r rules) Spec() ComponentSpec { return r.spec }

func (r rules) Check() error {
	if r.begin == nil {
		return errors.New("Rules needs a begin function")
	}
	return nil
}

func (r rules) Begin(ctx context.Context, e EpisodeInfo) (Hooks, error) { return r.begin(ctx, e) }

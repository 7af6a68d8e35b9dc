package components

import (
	"context"

	"github.com/throughline-go/throughline/envharness"
)

// Block refuses every call of the chosen tools and shows the policy the reason.
//
// Tag block, axis A; the params are the struct with its defaults filled in. It is sound if a solution without these calls exists.
type Block struct {
	Tools  []string `json:"tools,omitempty"` // patterns of tool names; none means all tools
	Reason string   `json:"reason"`          // empty means "not available"
}

func (b Block) withDefaults() Block {
	if b.Reason == "" {
		b.Reason = "not available"
	}
	return b
}

// Spec implements [envharness.Component].
func (b Block) Spec() envharness.ComponentSpec {
	return spec("block", envharness.AxisAction, b.withDefaults())
}

// Check reports a pattern that [path.Match] cannot read.
func (b Block) Check() error { return checkPatterns(b.Tools) }

// Begin implements [envharness.Component].
func (b Block) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	b = b.withDefaults()
	return envharness.Hooks{Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if match(b.Tools, a.Name) {
			return envharness.BlockAction(b.Reason), nil
		}
		return envharness.PassAction(), nil
	}}, nil
}

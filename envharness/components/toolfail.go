package components

import (
	"cmp"
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// ToolFail answers Count calls of the chosen tools, from the Nth on, with a retryable error of class [envharness.ClassTransient]; the
// base is not stepped. The calls of all chosen tools are counted together, from 1 and anew in every episode.
//
// Tag tool_fail, axis T; the params are the struct with its defaults filled in. It is sound if the limits on turns leave room for
// Count more turns than a solution needs.
type ToolFail struct {
	Tools []string `json:"tools,omitempty"` // patterns of tool names; none means all tools
	Nth   int      `json:"nth"`             // zero means 1
	Count int      `json:"count"`           // zero means 1
}

func (f ToolFail) withDefaults() ToolFail {
	f.Nth, f.Count = cmp.Or(f.Nth, 1), cmp.Or(f.Count, 1)
	return f
}

// Spec implements [envharness.Component].
func (f ToolFail) Spec() envharness.ComponentSpec {
	return spec("tool_fail", envharness.AxisTransition, f.withDefaults())
}

// Check reports a negative Nth or Count, or a pattern that [path.Match] cannot read.
func (f ToolFail) Check() error {
	if f.Nth < 0 || f.Count < 0 {
		return fmt.Errorf("nth %d and count %d must not be negative", f.Nth, f.Count)
	}
	return checkPatterns(f.Tools)
}

// Begin implements [envharness.Component].
func (f ToolFail) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	f = f.withDefaults()
	calls := 0
	return envharness.Hooks{Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if !match(f.Tools, a.Name) {
			return envharness.PassAction(), nil
		}
		calls++
		if calls < f.Nth || calls-f.Nth >= f.Count {
			return envharness.PassAction(), nil
		}
		message := a.Name + " is temporarily unavailable, try again"
		return envharness.AnswerAction("Error: "+message,
			&envharness.ActionError{Class: envharness.ClassTransient, Message: message, Retryable: true}), nil
	}}, nil
}

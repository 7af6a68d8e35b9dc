package components

import (
	"context"
	"errors"

	"github.com/throughline-go/throughline/envharness"
)

// ToolDown answers every call of the chosen tools with an error of class [envharness.ClassOther] that is not retryable; the base is not
// stepped.
//
// Tag tool_down, axis T; the params are the struct. It is sound if a solution without these tools exists, or one that uses them in turns
// outside the range.
type ToolDown struct {
	Tools   []string `json:"tools,omitempty"`   // patterns of tool names; none means all tools
	Message string   `json:"message,omitempty"` // empty means that the tool is out of service
	Window
}

// Spec implements [envharness.Component].
func (d ToolDown) Spec() envharness.ComponentSpec {
	return spec("tool_down", envharness.AxisTransition, d)
}

// Check reports a pattern that [path.Match] cannot read and an empty range of turns.
func (d ToolDown) Check() error { return errors.Join(checkPatterns(d.Tools), d.check()) }

// String says in words what the component does with its parameters.
func (d ToolDown) String() string {
	return d.in("every call of " + oneOf(d.Tools, "any tool") + " fails for good" + with(d.Message))
}

// Begin implements [envharness.Component].
func (d ToolDown) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Action: func(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if !d.open(v.Turn) || !match(d.Tools, a.Name) {
			return envharness.PassAction(), nil
		}
		message := d.Message
		if message == "" {
			message = a.Name + " is out of service"
		}
		return refuse(envharness.ClassOther, message, false), nil
	}}, nil
}

func toolDownKind() Kind {
	return Kind{
		Tag: "tool_down", Version: 1, Axis: envharness.AxisTransition, Direction: Harder,
		About:  "lets all calls of some tools fail for good",
		Sound:  "a solution without these tools exists, or one that uses them only while they work",
		Schema: objectSchema("", toolsProperty, `"message":{"type":"string"}`, windowProperty),
		New:    build[ToolDown],
	}
}

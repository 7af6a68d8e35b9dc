package components

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// Block refuses calls of the chosen tools with the given arguments and shows the policy the reason.
//
// Tag block, axis A; the params are the struct with its defaults filled in. It is sound if a solution without these calls exists, or, with
// a Max, if the limits on turns leave room for Max more turns than a solution needs.
//
// Two Blocks that fit no call in common commute. Around a [Rename] it fits the new names, inside one the present ones.
type Block struct {
	Tools  []string       `json:"tools,omitempty"` // patterns of tool names; none means all tools
	Args   map[string]any `json:"args,omitempty"`  // each must be in the call with an equal JSON value; none means any call
	Reason string         `json:"reason"`          // empty means "not available"
	Max    int            `json:"max,omitempty"`   // calls refused in an episode, after which all pass; zero means no limit
	Window
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

// Check reports a pattern that [path.Match] cannot read, arguments that are not JSON, a negative Max, and an empty range of turns.
func (b Block) Check() error {
	var err error
	if b.Max < 0 {
		err = fmt.Errorf("max %d must not be negative", b.Max)
	}
	return errors.Join(checkPatterns(b.Tools), Match{Args: b.Args}.check(), err, b.check())
}

// String says in words what the component does with its parameters.
func (b Block) String() string {
	b = b.withDefaults()
	calls := "calls of " + oneOf(b.Tools, "any tool") + withArgs(b.Args)
	refused := " are refused"
	switch {
	case b.Max == 1:
		calls, refused = "the first call of "+strings.TrimPrefix(calls, "calls of "), " is refused"
	case b.Max > 1:
		calls = fmt.Sprintf("the first %d %s", b.Max, calls)
	}
	return b.in(calls + refused + with(b.Reason))
}

// Begin implements [envharness.Component].
func (b Block) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	b = b.withDefaults()
	args, blocked := Match{Args: b.Args}, 0
	return envharness.Hooks{Action: func(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if !b.open(v.Turn) || b.Max > 0 && blocked >= b.Max || !match(b.Tools, a.Name) || !args.Fits(a) {
			return envharness.PassAction(), nil
		}
		blocked++
		return envharness.BlockAction(b.Reason), nil
	}}, nil
}

func blockKind() Kind {
	return Kind{
		Tag: "block", Version: 1, Axis: envharness.AxisAction, Direction: Harder | Easier,
		About: "refuses calls of some tools",
		Sound: "a solution without the blocked calls exists, or the limits on turns leave room for max refusals",
		Schema: objectSchema("", toolsProperty, `"args":{"type":"object"}`, `"reason":{"type":"string","default":"not available"}`,
			`"max":{"type":"integer","minimum":0,"default":0}`, windowProperty),
		Ladder: []json.RawMessage{json.RawMessage(`{"max":1}`), json.RawMessage(`{"max":2}`), json.RawMessage(`{"max":0}`)},
		New:    build[Block],
	}
}

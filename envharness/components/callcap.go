package components

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// CallCap lets through Max calls of the chosen tools and blocks further ones: to the end of the episode, or for the Cooldown turns after
// the last of them, from when Max calls are free again.
//
// The calls of all chosen tools count together. Those count that came to the base: neither what is blocked here nor what a component
// further inside blocked or answered.
//
// Tag call_cap, axis B; the params are the struct with its defaults filled in. It is sound if a solution makes no more than Max of these
// calls, or fits the limits on turns with the waits. Two of them commute.
type CallCap struct {
	Tools    []string `json:"tools,omitempty"`    // patterns of tool names; none means all tools
	Max      int      `json:"max"`                // zero means 5
	Cooldown int      `json:"cooldown,omitempty"` // turns; zero means to the end of the episode
	Window
}

func (c CallCap) withDefaults() CallCap {
	c.Max = cmp.Or(c.Max, 5)
	return c
}

// Spec implements [envharness.Component].
func (c CallCap) Spec() envharness.ComponentSpec {
	return spec("call_cap", envharness.AxisBudget, c.withDefaults())
}

// Check reports a negative Max or Cooldown, a pattern that [path.Match] cannot read, and an empty range of turns.
func (c CallCap) Check() error {
	var err error
	if c.Max < 0 || c.Cooldown < 0 {
		err = fmt.Errorf("max %d and cooldown %d must not be negative", c.Max, c.Cooldown)
	}
	return errors.Join(err, checkPatterns(c.Tools), c.check())
}

// String says in words what the component does with its parameters.
func (c CallCap) String() string {
	c = c.withDefaults()
	if c.Cooldown == 0 {
		return c.in("after " + count(c.Max, "call") + " of " + oneOf(c.Tools, "any tool") + " further ones are refused")
	}
	every := "every call"
	if c.Max != 1 {
		every = "every " + count(c.Max, "call")
	}
	return c.in("after " + every + " of " + oneOf(c.Tools, "any tool") + " further ones are refused for " + count(c.Cooldown, "turn"))
}

// Begin implements [envharness.Component].
func (c CallCap) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	run := &callCapRun{CallCap: c.withDefaults()}
	return envharness.Hooks{Action: run.action, Result: run.result}, nil
}

// A callCapRun is one episode of a [CallCap]. What it holds follows from the calls that came through, not from those it was asked
// about, so that the order of two caps makes no difference.
type callCapRun struct {
	CallCap
	calls   int  // that count, since the last cooldown
	turn    int  // of the last of them
	pending bool // the action of this turn counts if it comes through
}

func (r *callCapRun) action(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
	r.pending = r.open(v.Turn) && match(r.Tools, a.Name)
	if r.pending && r.calls >= r.Max && !r.cool(v.Turn) {
		return envharness.BlockAction("too many calls of " + a.Name), nil
	}
	return envharness.PassAction(), nil
}

func (r *callCapRun) cool(turn int) bool { return r.Cooldown > 0 && turn-r.turn > r.Cooldown }

func (r *callCapRun) result(_ context.Context, v envharness.View, _ *envharness.ActionError) error {
	if r.pending && v.Stepped {
		if r.calls >= r.Max {
			r.calls = 0 // else it had been blocked
		}
		r.calls++
		r.turn = v.Turn
	}
	return nil
}

func callCapKind() Kind {
	return Kind{
		Tag: "call_cap", Version: 1, Axis: envharness.AxisBudget, Direction: Harder | Easier,
		About: "limits the calls of some tools",
		Sound: "a solution makes no more than max of these calls, or fits the limits on turns with the waits",
		Schema: objectSchema("", toolsProperty, `"max":{"type":"integer","minimum":0,"default":5}`,
			`"cooldown":{"type":"integer","minimum":0,"default":0}`, windowProperty),
		New: build[CallCap],
	}
}

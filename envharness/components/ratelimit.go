package components

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// RateLimit lets through at most Calls calls of the chosen tools in any Per turns in a row. The next one is answered with a retryable
// error of class [envharness.ClassRateLimit], whose message says after how many turns a call will be let through again: with 3
// calls in 10 turns, all made at once, a fourth in the turn after them is told "retry_after 7". The base is not stepped.
//
// Calls of all chosen tools count together. Those count that came to the base: neither what is refused here nor what a component further
// inside blocked or answered.
//
// Tag rate_limit, axis A; the params are the struct with its defaults filled in. It is sound if a solution with the waits fits the
// limits on turns. It does not commute with [ToolFail], whose failures count if it is around the limit and not if it is inside.
type RateLimit struct {
	Tools []string `json:"tools,omitempty"` // patterns of tool names; none means all tools
	Calls int      `json:"calls"`           // zero means 3
	Per   int      `json:"window"`          // turns; zero means 10
	Window
}

func (l RateLimit) withDefaults() RateLimit {
	l.Calls, l.Per = cmp.Or(l.Calls, 3), cmp.Or(l.Per, 10)
	return l
}

// Spec implements [envharness.Component].
func (l RateLimit) Spec() envharness.ComponentSpec {
	return spec("rate_limit", envharness.AxisAction, l.withDefaults())
}

// Check reports negative Calls or Per, a pattern that [path.Match] cannot read, and an empty range of turns.
func (l RateLimit) Check() error {
	var err error
	if l.Calls < 0 || l.Per < 0 {
		err = fmt.Errorf("calls %d and window %d must not be negative", l.Calls, l.Per)
	}
	return errors.Join(err, checkPatterns(l.Tools), l.check())
}

// String says in words what the component does with its parameters.
func (l RateLimit) String() string {
	l = l.withDefaults()
	return l.in("at most " + count(l.Calls, "call") + " of " + oneOf(l.Tools, "any tool") + " can be made in any " + count(l.Per, "turn") +
		", and further ones fail until the next is due")
}

// Begin implements [envharness.Component].
func (l RateLimit) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	run := &rateLimitRun{RateLimit: l.withDefaults()}
	return envharness.Hooks{Action: run.action, Result: run.result}, nil
}

// A rateLimitRun is one episode of a [RateLimit].
type rateLimitRun struct {
	RateLimit
	turns   []int // of the calls that count, oldest first; at most Calls
	pending bool  // the action of this turn counts if it comes through
}

func (r *rateLimitRun) action(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
	r.pending = r.open(v.Turn) && match(r.Tools, a.Name)
	if !r.pending {
		return envharness.PassAction(), nil
	}
	for len(r.turns) > 0 && v.Turn-r.turns[0] >= r.Per {
		r.turns = r.turns[1:]
	}
	if len(r.turns) < r.Calls {
		return envharness.PassAction(), nil
	}
	wait := r.Per - (v.Turn - r.turns[0])
	return refuse(envharness.ClassRateLimit, fmt.Sprintf("too many calls of %s, retry_after %d", a.Name, wait), true), nil
}

func (r *rateLimitRun) result(_ context.Context, v envharness.View, _ *envharness.ActionError) error {
	if r.pending && v.Stepped {
		r.turns = append(r.turns, v.Turn)
	}
	return nil
}

func rateLimitKind() Kind {
	return Kind{
		Tag: "rate_limit", Version: 1, Axis: envharness.AxisAction, Direction: Harder,
		About: "limits the calls in a window of turns",
		Sound: "a solution that waits where it must fits the limits on turns",
		Schema: objectSchema("", toolsProperty, `"calls":{"type":"integer","minimum":0,"default":3}`,
			`"window":{"type":"integer","minimum":0,"default":10}`, windowProperty),
		Ladder: []json.RawMessage{json.RawMessage(`{"calls":5}`), json.RawMessage(`{"calls":3}`), json.RawMessage(`{"calls":2}`)},
		New:    build[RateLimit],
	}
}

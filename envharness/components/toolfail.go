package components

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// ToolFail answers some calls of the chosen tools with a retryable error of class [envharness.ClassTransient]; the base is not
// stepped. The calls of all chosen tools are counted together, from 1 and anew in every episode.
//
// In mode "nth" the calls from the Nth on fail, Count of them. In mode "rate" each call fails with probability P, and the Count-1
// calls after it fail too; every turn has one draw of its own, used or not.
//
// Tag tool_fail, axis T; the params are the struct with its defaults filled in. It is sound if the limits on turns leave room for as
// many more turns as calls fail.
type ToolFail struct {
	Tools   []string `json:"tools,omitempty"`   // patterns of tool names; none means all tools
	Mode    string   `json:"mode,omitempty"`    // "nth" or "rate"; empty means "nth"
	Nth     int      `json:"nth,omitempty"`     // in mode "nth"; zero means 1
	P       *float64 `json:"p,omitempty"`       // in mode "rate", from 0, which changes nothing, to 1; nil means 0.2
	Count   int      `json:"count"`             // zero means 1
	Message string   `json:"message,omitempty"` // empty means that the tool is temporarily unavailable
	Window
}

func (f ToolFail) withDefaults() ToolFail {
	f.Count = cmp.Or(f.Count, 1)
	if f.Mode != "rate" {
		f.Mode, f.Nth = "", cmp.Or(f.Nth, 1)
	} else if f.P == nil {
		f.P = new(0.2)
	}
	return f
}

// Spec implements [envharness.Component].
func (f ToolFail) Spec() envharness.ComponentSpec {
	return spec("tool_fail", envharness.AxisTransition, f.withDefaults())
}

// Check reports an unknown Mode, an Nth or P that belongs to the other mode, a negative Nth or Count, a P outside [0, 1], a pattern that
// [path.Match] cannot read, and an empty range of turns.
func (f ToolFail) Check() error {
	var errs []error
	switch f.Mode {
	case "", "nth":
		if f.P != nil {
			errs = append(errs, fmt.Errorf("p %v needs mode rate", *f.P))
		}
	case "rate":
		if f.Nth != 0 {
			errs = append(errs, fmt.Errorf("nth %d needs mode nth", f.Nth))
		}
	default:
		errs = append(errs, fmt.Errorf("mode %q must be nth or rate", f.Mode))
	}
	if f.Nth < 0 || f.Count < 0 {
		errs = append(errs, fmt.Errorf("nth %d and count %d must not be negative", f.Nth, f.Count))
	}
	return errors.Join(append(errs, checkChance("p", f.P), checkPatterns(f.Tools), f.check())...)
}

// String says in words what the component does with its parameters.
func (f ToolFail) String() string {
	f = f.withDefaults()
	tools := oneOf(f.Tools, "any tool")
	message, retry := with(f.Message), ", and can be retried"
	switch {
	case f.Mode == "rate" && *f.P == 0:
		return unchanged
	case f.Mode == "rate" && f.Count == 1:
		return f.in("each call of " + tools + " fails" + message + ", " + probability(*f.P) + retry)
	case f.Mode == "rate":
		after := "the call after it fails too"
		if f.Count > 2 {
			after = fmt.Sprintf("the %d calls after it fail too", f.Count-1)
		}
		return f.in("each call of " + tools + " fails" + message + ", " + probability(*f.P) + ", and " + after + "; they can be retried")
	case f.Count == 1:
		return f.in("the " + ordinal(f.Nth) + " call of " + tools + " fails once" + message + retry)
	case f.Nth == 1:
		return f.in(fmt.Sprintf("the first %d calls of %s fail%s%s", f.Count, tools, message, retry))
	}
	last := uint64(f.Nth) + uint64(f.Count) - 1 // more than an int can hold, perhaps
	return f.in(fmt.Sprintf("calls %d to %d of %s fail%s%s", f.Nth, last, tools, message, retry))
}

// Begin implements [envharness.Component].
func (f ToolFail) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	f = f.withDefaults()
	fails := f.nth()
	if f.Mode == "rate" {
		if *f.P == 0 {
			return envharness.Hooks{}, nil
		}
		fails = f.rate(e)
	}
	return envharness.Hooks{Action: func(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if !f.open(v.Turn) || !match(f.Tools, a.Name) || !fails(v.Turn) {
			return envharness.PassAction(), nil
		}
		message := f.Message
		if message == "" {
			message = a.Name + " is temporarily unavailable, try again"
		}
		return refuse(envharness.ClassTransient, message, true), nil
	}}, nil
}

// nth returns whether the next call fails.
func (f ToolFail) nth() func(turn int) bool {
	calls := 0
	return func(int) bool {
		calls++
		return calls >= f.Nth && calls-f.Nth < f.Count
	}
}

// rate returns whether the next call, of a given turn, fails.
func (f ToolFail) rate(e envharness.EpisodeInfo) func(turn int) bool {
	draws, left := chances{rand: e.Rand}, 0
	return func(turn int) bool {
		if draw := draws.at(turn); left == 0 && draw < *f.P {
			left = f.Count
		}
		if left == 0 {
			return false
		}
		left--
		return true
	}
}

// refuse answers an action with an error in place of the base.
func refuse(class envharness.ErrorClass, message string, retryable bool) envharness.ActionEdit {
	return envharness.AnswerAction("Error: "+message, &envharness.ActionError{Class: class, Message: message, Retryable: retryable})
}

func toolFailKind() Kind {
	return Kind{
		Tag: "tool_fail", Version: 1, Axis: envharness.AxisTransition, Direction: Harder,
		About: "lets some calls fail for a while, as a real API does",
		Sound: "the limits on turns leave room for a solution and as many more turns as calls fail",
		Schema: objectSchema("", toolsProperty, `"mode":{"type":"string","enum":["","nth","rate"]}`,
			`"nth":{"type":"integer","minimum":0,"default":1}`,
			`"p":`+chanceSchema, `"count":{"type":"integer","minimum":0,"default":1}`, `"message":{"type":"string"}`, windowProperty),
		Ladder: []json.RawMessage{json.RawMessage(`{"count":1}`), json.RawMessage(`{"count":2}`), json.RawMessage(`{"count":3}`)},
		New:    build[ToolFail],
	}
}

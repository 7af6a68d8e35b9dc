package components

import (
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// ToolFail returns a component that answers count calls of the chosen tools, from the nth on, with a retryable error of class
// [envharness.Transient]; the base is not stepped. The calls of all chosen tools are counted together, from 1 and anew in every
// episode. nth and count must be at least 1.
//
// Tag tool_fail, axis T, params {"tools": [...], "mode": "nth", "n": n, "count": count}. It is sound if the limits on turns leave room
// for count more turns than a solution needs.
func ToolFail(tools []string, nth, count int) envharness.Component {
	return toolFail{newSelector(tools), nth, count}
}

type toolFail struct {
	tools      selector
	nth, count int
}

func (f toolFail) Check() error {
	if f.nth < 1 || f.count < 1 {
		return fmt.Errorf("n %d and count %d must be at least 1", f.nth, f.count)
	}
	return f.tools.check()
}

func (f toolFail) Spec() envharness.ComponentSpec {
	return spec("tool_fail", envharness.AxisTransition, struct {
		Tools selector `json:"tools"`
		Mode  string   `json:"mode"`
		N     int      `json:"n"`
		Count int      `json:"count"`
	}{f.tools, "nth", f.nth, f.count})
}

func (f toolFail) Begin(envharness.EpisodeInfo) (envharness.Hooks, error) {
	calls := 0
	return envharness.Hooks{Action: func(_ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if !f.tools.match(a.Name) {
			return envharness.PassAction(), nil
		}
		calls++
		if calls < f.nth || calls-f.nth >= f.count {
			return envharness.PassAction(), nil
		}
		message := a.Name + " is temporarily unavailable, try again"
		return envharness.AnswerAction("Error: "+message,
			envharness.ActionError{Class: envharness.Transient, Message: message, Retryable: true}), nil
	}}, nil
}

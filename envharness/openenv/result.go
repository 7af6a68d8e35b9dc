package openenv

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/throughline-go/throughline/envharness"
)

// A result is what a reset or a step comes to on the wire.
type result struct {
	Observation shown    `json:"observation"`
	Reward      *float64 `json:"reward"` // null after a reset
	Done        bool     `json:"done"`
}

// A shown is the observation of a result. The wire has room for nothing else, so the parts of a transition are in it.
type shown struct {
	Text       string                  `json:"text"`
	Data       map[string]any          `json:"data"`
	Terminated bool                    `json:"terminated"`
	Truncated  bool                    `json:"truncated"`
	Reason     string                  `json:"reason"`
	Error      *envharness.ActionError `json:"error,omitempty"`
	Actions    []envharness.Action     `json:"actions,omitzero"`
	Info       map[string]any          `json:"info,omitzero"`
	Tools      []envharness.Tool       `json:"tools,omitzero"`       // of a ToolLister, when they are others than before
	TurnLimit  int                     `json:"turn_limit,omitempty"` // of a TurnLimiter, after a reset
}

func resetResult(o envharness.Observation) result {
	return result{Observation: shown{Text: o.Text, Data: o.Data, Actions: o.Actions}}
}

func stepResult(t envharness.Transition) result {
	return result{
		Observation: shown{
			Text: t.Observation.Text, Data: t.Observation.Data, Actions: t.Observation.Actions,
			Terminated: t.Terminated, Truncated: t.Truncated, Reason: t.Reason, Error: t.Error, Info: t.Info,
		},
		Reward: new(t.Reward),
		Done:   t.Ended(),
	}
}

var errMalformed = errors.New("the server's answer is malformed")

// An answer is a result as a client reads it.
type answer struct {
	transition envharness.Transition
	tools      []envharness.Tool // nil if the answer tells none
	turnLimit  int
}

// readResult reads the data of an observation message, of our server or of any other.
func readResult(raw json.RawMessage) (answer, error) {
	fields, ok := object(raw)
	if !ok {
		return answer{}, errMalformed
	}
	observation, ok := object(fields["observation"])
	if !ok {
		return answer{}, errMalformed
	}
	var done bool
	if d, ok := present(fields, "done"); ok && json.Unmarshal(d, &done) != nil {
		return answer{}, errMalformed
	}
	a, ok, err := readShown(fields["observation"], observation, done)
	if err == nil && !ok {
		a, err = readForeign(fields["observation"], observation, done)
	}
	if err != nil {
		return answer{}, err
	}
	known := false
	if a.transition.Reward, known, err = readReward(fields); err != nil {
		return answer{}, err
	}
	if !known {
		note(&a.transition, "reward_unknown")
	}
	return a, nil
}

func note(t *envharness.Transition, key string) {
	if t.Info == nil {
		t.Info = map[string]any{}
	}
	t.Info[key] = true
}

// readReward reads a number, or a truth value for 0 or 1 as the reference allows.
func readReward(fields map[string]json.RawMessage) (reward float64, known bool, err error) {
	raw, ok := present(fields, "reward")
	switch {
	case !ok:
		return 0, false, nil
	case string(raw) == "true":
		return 1, true, nil
	case string(raw) == "false":
		return 0, true, nil
	}
	if json.Unmarshal(raw, &reward) != nil || math.IsInf(reward, 0) {
		return 0, false, errMalformed
	}
	return reward, true, nil
}

// readShown reads an observation that tells terminated from truncated; ok is false if this one does not.
func readShown(raw json.RawMessage, fields map[string]json.RawMessage, done bool) (_ answer, ok bool, err error) {
	var terminated, truncated bool
	for _, f := range []struct {
		name string
		flag *bool
	}{{"terminated", &terminated}, {"truncated", &truncated}} {
		v, ok := present(fields, f.name)
		if !ok || json.Unmarshal(v, f.flag) != nil {
			return answer{}, false, nil
		}
	}
	var s shown
	if json.Unmarshal(raw, &s) != nil || done != (terminated || truncated) {
		return answer{}, true, errMalformed
	}
	return answer{
		transition: envharness.Transition{
			Observation: envharness.Observation{Text: s.Text, Data: s.Data, Actions: s.Actions},
			Terminated:  terminated, Truncated: truncated, Reason: s.Reason, Error: s.Error, Info: s.Info,
		},
		tools:     s.Tools,
		turnLimit: max(0, s.TurnLimit),
	}, true, nil
}

// readForeign reads an observation of another make: all of it is data, and its text is what it calls so, or else the whole as JSON.
func readForeign(raw json.RawMessage, fields map[string]json.RawMessage, done bool) (answer, error) {
	var t envharness.Transition
	if json.Unmarshal(raw, &t.Observation.Data) != nil {
		return answer{}, errMalformed // a number that is out of range
	}
	text, ok := t.Observation.Data["text"].(string)
	if !ok {
		b, err := envharness.CanonicalJSON(t.Observation.Data)
		if err != nil {
			return answer{}, errMalformed
		}
		text = string(b)
	}
	t.Observation.Text = text
	t.Terminated = done
	t.Error = toolError(fields)
	note(&t, "done_unknown")
	return answer{transition: t}, nil
}

// toolErrors are the words of the reference for what went wrong with a call of a tool.
var toolErrors = map[string]envharness.ErrorClass{
	"invalid_args":   envharness.ClassBadArgs,
	"tool_not_found": envharness.ClassUnknownTool,
	"timeout":        envharness.ClassTimeout,
}

// toolError reads the error of an observation of a called tool, nil if it is none or none is told.
func toolError(fields map[string]json.RawMessage) *envharness.ActionError {
	_, called := fields["tool_name"]
	raw, failed := present(fields, "error")
	if !called || !failed {
		return nil
	}
	var e struct {
		Kind    string `json:"error_type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return &envharness.ActionError{Class: envharness.ClassOther}
	}
	class, ok := toolErrors[e.Kind]
	if !ok {
		class = envharness.ClassOther
	}
	return &envharness.ActionError{Class: class, Message: e.Message}
}

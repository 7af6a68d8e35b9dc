package rules

import (
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

// UnknownTool is the refusal of an action whose name is no tool's.
func UnknownTool(name string) *envharness.ActionError {
	return sim.Refuse(envharness.ClassUnknownTool, "no tool named %q", sim.Clip(name))
}

// NoArgs returns the strict schema of a tool without arguments, in canonical JSON.
func NoArgs() json.RawMessage {
	return json.RawMessage(`{"additionalProperties":false,"properties":{},"type":"object"}`)
}

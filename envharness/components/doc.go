// Package components holds ready-made components for [envharness.New].
//
//	tag          type       axis  what it does
//	block        Block      A     refuses calls of some tools
//	tool_fail    ToolFail   T     lets some calls fail once, as a real API does
//	step_budget  StepBudget B     ends the episode after a number of turns
//
// A component is a struct, and its exported fields are the params in its record; it must not be changed once it was given to
// envharness.New. Fields may be added, so write the field names in a literal.
//
// Each is deterministic and keeps no state from one episode to the next. None can change what counts as success, but each can make a
// task unsolvable: its comment says when it is sound, which is for the caller to see to. Tools are chosen by patterns as of
// [path.Match] over tool names as seen at the component's place in the stack; no patterns mean all tools.
//
// A parameter out of range is reported by envharness.New. The catalogue follows EnvHarness (arXiv:2608.19880) in its idea; the
// components and their parameters are ours.
package components

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/throughline-go/throughline/envharness"
)

func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("tool pattern %q: %w", p, err)
		}
	}
	return nil
}

// match reports whether a pattern fits the tool; no patterns fit every tool.
func match(patterns []string, tool string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, tool); ok && err == nil {
			return true
		}
	}
	return len(patterns) == 0
}

// spec encodes the parameters of a component; params must be a plain struct.
func spec(tag string, axis envharness.Axis, params any) envharness.ComponentSpec {
	raw, _ := json.Marshal(params) // strings and ints always encode
	return envharness.ComponentSpec{Tag: tag, Axis: axis, Params: raw}
}

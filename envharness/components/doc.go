// Package components holds ready-made components for [envharness.New].
//
//	tag          function   axis  what it does
//	block        Block      A     refuses calls of some tools
//	tool_fail    ToolFail   T     lets some calls fail once, as a real API does
//	step_budget  StepBudget B     ends the episode after a number of turns
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

// A selector holds patterns of tool names.
type selector []string

// newSelector copies patterns; none means every tool.
func newSelector(patterns []string) selector {
	if len(patterns) == 0 {
		return selector{"*"}
	}
	return append(selector(nil), patterns...)
}

func (s selector) check() error {
	for _, p := range s {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("tool pattern %q: %w", p, err)
		}
	}
	return nil
}

func (s selector) match(tool string) bool {
	for _, p := range s {
		if ok, err := path.Match(p, tool); ok && err == nil {
			return true
		}
	}
	return false
}

// spec encodes the parameters of a component; params must be a plain struct.
func spec(tag string, axis envharness.Axis, params any) envharness.ComponentSpec {
	raw, _ := json.Marshal(params) // strings and ints always encode
	return envharness.ComponentSpec{Tag: tag, Axis: axis, Params: raw}
}

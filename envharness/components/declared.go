package components

import "github.com/throughline-go/throughline/envharness"

// toolsWith returns the names of the tools that have a property.
func toolsWith(tools []envharness.Tool, has func(envharness.Tool) bool) map[string]bool {
	names := make(map[string]bool)
	for _, t := range tools {
		if has(t) {
			names[t.Name] = true
		}
	}
	return names
}

func submits(t envharness.Tool) bool { return t.Submits }

func readOnly(t envharness.Tool) bool { return t.ReadOnly }

// carriedOut reports whether the action of this turn came to the base and was not refused there.
func carriedOut(v envharness.View, refusal *envharness.ActionError) bool {
	return v.Stepped && refusal == nil
}

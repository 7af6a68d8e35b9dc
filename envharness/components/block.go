package components

import "github.com/throughline-go/throughline/envharness"

// Block returns a component that refuses every call of the chosen tools. The policy is shown the reason; empty means
// "not available".
//
// Tag block, axis A, params {"tools": [...], "reason": "..."}. It is sound if a solution without these calls exists.
func Block(tools []string, reason string) envharness.Component {
	if reason == "" {
		reason = "not available"
	}
	return block{newSelector(tools), reason}
}

type block struct {
	tools  selector
	reason string
}

func (b block) Check() error { return b.tools.check() }

func (b block) Spec() envharness.ComponentSpec {
	return spec("block", envharness.AxisAction, struct {
		Tools  selector `json:"tools"`
		Reason string   `json:"reason"`
	}{b.tools, b.reason})
}

func (b block) Begin(envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Action: func(_ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if b.tools.match(a.Name) {
			return envharness.BlockAction(b.reason), nil
		}
		return envharness.PassAction(), nil
	}}, nil
}

package components

import (
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// StepBudget returns a component that truncates the episode after turns turns, at least 1; refused turns count too. The reason is
// "budget:" and the component's id.
//
// Tag step_budget, axis B, params {"turns": turns}. It is sound if a solution through the whole stack needs no more turns.
func StepBudget(turns int) envharness.Component { return stepBudget{turns} }

type stepBudget struct{ turns int }

func (b stepBudget) Check() error {
	if b.turns < 1 {
		return fmt.Errorf("turns %d must be at least 1", b.turns)
	}
	return nil
}

func (b stepBudget) Spec() envharness.ComponentSpec {
	return spec("step_budget", envharness.AxisBudget, struct {
		Turns int `json:"turns"`
	}{b.turns})
}

func (b stepBudget) Begin(envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{MaxTurns: b.turns}, nil
}

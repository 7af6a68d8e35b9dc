package components

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// StepBudget truncates the episode after a number of turns; refused turns count too. The reason is "budget:" and the component's id.
//
// Tag step_budget, axis B; the params are the struct. It is sound if a solution through the whole stack needs no more turns.
type StepBudget struct {
	Turns int `json:"turns"` // at least 1
}

// Spec implements [envharness.Component].
func (b StepBudget) Spec() envharness.ComponentSpec {
	return spec("step_budget", envharness.AxisBudget, b)
}

// Check reports Turns below 1.
func (b StepBudget) Check() error {
	if b.Turns < 1 {
		return fmt.Errorf("turns %d must be at least 1", b.Turns)
	}
	return nil
}

// String says in words what the component does with its parameters.
func (b StepBudget) String() string { return "the episode ends after " + count(b.Turns, "turn") }

// Begin implements [envharness.Component].
func (b StepBudget) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{MaxTurns: b.Turns}, nil
}

func stepBudgetKind() Kind {
	return Kind{
		Tag: "step_budget", Version: 1, Axis: envharness.AxisBudget, Direction: Harder,
		About:  "ends the episode after a number of turns",
		Sound:  "a solution through the whole stack needs no more turns",
		Schema: objectSchema("turns", `"turns":{"type":"integer","minimum":1}`),
		New:    build[StepBudget],
	}
}

package worlds

import (
	"context"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// Oracle returns the policy of [yardstick.Oracle] for a task of the world.
func (w World) Oracle(task envharness.Task) envharness.Policy { return yardstick.Oracle(w.World, task) }

// Plan returns the oracle's actions from the start of a task.
func (w World) Plan(ctx context.Context, task envharness.Task) ([]envharness.Action, error) {
	return yardstick.Plan(ctx, w.World, task)
}

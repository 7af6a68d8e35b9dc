package baseline

import (
	"context"

	"github.com/throughline-go/throughline/envharness/rigger"
)

// None is a designer that proposes nothing: the tasks stay as they are.
type None struct{}

// Design implements [rigger.Designer]. It returns a candidate without components.
func (None) Design(ctx context.Context, b rigger.Brief) (rigger.Candidate, error) {
	return rigger.Candidate{Direction: b.Direction}, ctx.Err()
}

// String names the designer.
func (None) String() string { return "none" }

package envtest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	eh "github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/vector"
)

func newVector(w eh.World, n int, o *vector.Options) (envtest.Vector, error) {
	return vector.New(w, nil, n, o)
}

// The runner of this module passes all rules, in the time of the clock and in that of a bubble, which also finds goroutines left behind.
func TestRunnerPasses(t *testing.T) {
	r := envtest.Runner{New: newVector}
	r.Run(t)
	synctest.Test(t, func(t *testing.T) {
		if err := r.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A runner of one's own is checked through a func that makes it.
func ExampleRunner() {
	r := envtest.Runner{New: func(w eh.World, n int, o *vector.Options) (envtest.Vector, error) {
		o.Mode = vector.NextStep // the fault: the caller's choice is lost
		return vector.New(w, nil, n, o)
	}}
	fmt.Println(r.Check(context.Background()))
	// Output:
	// R01: SameStep, episodes of 1 turns: call 1: the Final is given: false, want true
	// R07: SameStep: 9 calls with episodes of 3 turns in 2 slots: 4 ends, 4 episodes, 14 turns, 6 resets; want 6, 6, 18, 8
}

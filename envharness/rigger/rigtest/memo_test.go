package rigtest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
)

// A nested environment calls a function whenever it is reset to a task.
type nested struct {
	envharness.Environment
	task string
	call func()
}

func (n nested) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if o.Task == n.task {
		n.call()
	}
	return n.Environment.Reset(ctx, o)
}

func (n nested) Unwrap() envharness.Environment { return n.Environment }

// Who plans for one task keeps nobody waiting who asks for another: here it asks itself, and would wait for ever. What was planned is not
// planned again, and what failed is tried again.
func TestMakersWaitForTheirTaskOnly(t *testing.T) {
	first, second := envharness.Task{ID: "1,1,1,8"}, envharness.Task{ID: "1,1,2,6"}
	for _, tt := range []struct {
		make   func(w envharness.World) (rigtest.Maker, error)
		reason string
	}{
		{func(w envharness.World) (rigtest.Maker, error) { return rigtest.Clean(w), nil }, "clean"},
		{func(w envharness.World) (rigtest.Maker, error) {
			return rigtest.Flawed(w, diagnosis.WrongArgument, nil)
		}, "flawed"},
		{func(w envharness.World) (rigtest.Maker, error) { return rigtest.Patience(w, 0.5) }, "patience"},
		{func(w envharness.World) (rigtest.Maker, error) { return rigtest.Retry(w, 0.5) }, "retry"},
		{func(w envharness.World) (rigtest.Maker, error) { return rigtest.Coin(w, 0.5) }, "coin"},
	} {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		var maker rigtest.Maker
		resets, opened, closed := 0, 0, true
		w := game24.World(nil)
		open := w.New
		w.New = func(ctx context.Context) (envharness.Environment, error) {
			if opened++; closed {
				return nil, errors.New("closed")
			}
			env, err := open(ctx)
			return nested{env, first.ID, func() {
				resets++
				if _, err := maker(second, rand.New(rand.NewPCG(1, 1))); err != nil {
					t.Errorf("%s: %v", tt.reason, err)
				}
			}}, err
		}
		var err error
		if maker, err = tt.make(w); err != nil {
			t.Fatal(err)
		}
		if _, err := maker(first, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("%s: the world was closed, and nobody says so", tt.reason)
		}
		closed = false
		if _, err := maker(first, rand.New(rand.NewPCG(1, 1))); err != nil || resets == 0 {
			t.Errorf("%s: %v after %d resets", tt.reason, err, resets)
		}
		before := opened
		for range 3 {
			if _, err := maker(first, rand.New(rand.NewPCG(1, 1))); err != nil || opened != before {
				t.Errorf("%s: %v; the world was opened again: %d times", tt.reason, err, opened-before)
			}
		}
	}
}

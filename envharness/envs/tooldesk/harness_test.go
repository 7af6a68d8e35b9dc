package tooldesk_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
)

// The oracle passes through the harness too, where the evidence is the harness's own.
func TestThroughHarness(t *testing.T) {
	ctx := context.Background()
	oracle := tooldesk.New(nil)
	for _, split := range []string{"test", "ood"} {
		tasks, err := oracle.Tasks(ctx, split)
		if err != nil {
			t.Fatal(err)
		}
		h, err := envharness.New(tooldesk.World(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks[:12] {
			reset := envharness.ResetOptions{Task: task.ID}
			if _, err := oracle.Reset(ctx, reset); err != nil {
				t.Fatal(err)
			}
			plan, err := oracle.Plan(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Reset(ctx, reset); err != nil {
				t.Fatal(err)
			}
			for _, a := range plan {
				if _, err := h.Step(ctx, a); err != nil {
					t.Fatal(err)
				}
			}
			if v, err := h.Verdict(ctx); err != nil || v.Status != envharness.Pass {
				t.Errorf("%s: verdict %+v, error %v", task.ID, v, err)
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Close may come while a Step runs.
func TestCloseDuringStep(t *testing.T) {
	ctx := context.Background()
	d := tooldesk.New(nil)
	if _, err := d.Reset(ctx, envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	var closing sync.WaitGroup
	for n := 0; ; n++ {
		if n == 3 {
			closing.Go(func() { d.Close() })
		}
		_, err := d.Step(ctx, envharness.Action{Name: "get_order", Args: []byte(`{"order_id":"O-1"}`)})
		if errors.Is(err, envharness.ErrClosed) {
			break
		}
		if err != nil {
			if _, err := d.Reset(ctx, envharness.ResetOptions{}); err != nil && !errors.Is(err, envharness.ErrClosed) {
				t.Fatal(err)
			}
		}
	}
	closing.Wait()
}

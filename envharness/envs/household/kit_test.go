package household

import (
	"context"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// Full marks in the conformance kit, with one task of each kind.
func TestKit(t *testing.T) {
	for _, small := range []bool{false, true} {
		o := &Options{Small: small}
		all, err := New(o).Tasks(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		name := New(o).Describe().Name
		for first := 0; first < 6; first += 3 {
			tasks := all[first : first+3]
			t.Run(name, func(t *testing.T) {
				envtest.Environment{New: World(o).New, Tasks: tasks, SeedBlind: true, Steps: 200}.Run(t)
			})
			t.Run(name+" verifier", func(t *testing.T) { envtest.Verifier{World: World(o), Tasks: tasks}.Run(t) })
		}
	}
}

func TestKitFromScene(t *testing.T) {
	s := flat()
	s.Goal = Goal{PickHeat, "mug", "shelf"}
	made, err := FromScene(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	envtest.Environment{New: made.World().New, SeedBlind: true, Steps: 100}.Run(t)
	envtest.Verifier{World: made.World()}.Run(t)
}

// The oracle passes through the harness, whose verdict rests on a replay.
func TestThroughHarness(t *testing.T) {
	ctx := context.Background()
	for _, small := range []bool{false, true} {
		o := &Options{Small: small}
		oracle := New(o)
		h, err := envharness.New(World(o))
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		for _, split := range []string{"test", "ood"} {
			tasks, err := oracle.Tasks(ctx, split)
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range tasks[:14] {
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
				if v, err := h.Verdict(ctx); err != nil || v.Status != envharness.Pass || v.Score != 1 || v.Unreplayed {
					t.Errorf("%s: verdict %+v, %v", task.ID, v, err)
				}
			}
		}
	}
}

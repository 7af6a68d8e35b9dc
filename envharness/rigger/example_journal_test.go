package rigger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// A run is broken off in the middle of a task, and started anew: what was played before is not played again.
func ExampleOpenJournal() {
	dir, err := os.MkdirTemp("", "rigger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	world := keydoor.World(nil)
	played, enough := 0, func() {}
	problem := rigger.Problem{
		World:       world,
		Tasks:       []envharness.Task{{ID: "2,3,1,1"}},
		Fingerprint: "two of three",
		NewPolicy: func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			if played++; played == 7 {
				enough()
			}
			if rng.IntN(3) == 0 {
				return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
					return envharness.Action{}, envharness.ErrStop
				}), nil
			}
			return yardstick.Oracle(world, task), nil
		},
	}
	run := func(ctx context.Context) error {
		journal, err := rigger.OpenJournal(filepath.Join(dir, "journal.jsonl"))
		if err != nil {
			return err
		}
		fmt.Println("records:", journal.Len())
		played = 0
		report, err := rigger.Rig(ctx, problem, &rigger.Options{Preset: rigger.Paper, RigInBand: true, Journal: journal})
		if err == nil {
			paid := report.Cost.Baseline + report.Cost.Screen + report.Cost.Confirm
			fmt.Println("rollouts not played again:", paid-played)
		}
		return errors.Join(err, journal.Close())
	}

	ctx, cancel := context.WithCancel(context.Background())
	enough = cancel
	if err := run(ctx); errors.Is(err, context.Canceled) {
		fmt.Println("interrupted")
	}
	enough = func() {}
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// records: 0
	// interrupted
	// records: 7
	// rollouts not played again: 6
}

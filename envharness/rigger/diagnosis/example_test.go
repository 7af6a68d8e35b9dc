package diagnosis_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// hasty plays the calls of a plan one after the other, whatever is answered.
func hasty(plan []envharness.Action) envharness.Policy {
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index >= len(plan) {
			return envharness.Action{}, envharness.ErrStop
		}
		return plan[t.Index], nil
	})
}

// desktop plays a task of the service desk four times. The first write fails for the moment in every other one.
func desktop(id string) diagnosis.Case {
	ctx, world, task := context.Background(), tooldesk.World(nil), envharness.Task{ID: id, Seed: new(uint64(1))}
	plan, err := yardstick.Plan(ctx, world, task)
	if err != nil {
		log.Fatal(err)
	}
	var traces []envharness.Trace
	for slot := range 4 { // there is no second write
		failing := components.ToolFail{Tools: []string{"cancel_order", "set_address", "refund"}, Nth: 1 + slot%2}
		some, err := envharness.Rollouts(ctx, world, []envharness.Component{failing},
			func(int) (envharness.Policy, error) { return hasty(plan), nil }, []envharness.Task{task}, nil)
		if err != nil {
			log.Fatal(err)
		}
		some[0].Slot = slot
		traces = append(traces, some...)
	}
	return diagnosis.Case{Name: id, Traces: traces, Context: diagnosis.Context{World: tooldesk.New(nil).Describe(), Plan: plan}}
}

// A policy that goes on as if nothing had happened fails wherever a write fails for the moment.
func ExampleDiagnose() {
	c := desktop("T2-0007")
	flaws, err := diagnosis.Diagnose(c.Traces, c.Context, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range flaws {
		fmt.Printf("%s %s: support %.1f, lift %+.1f\n", f.ID, f.ID.Name(), f.Support, f.Lift)
		fmt.Printf("  episode %d, turns %v: %s\n", f.Found[0].Slot, f.Found[0].Turns, f.Found[0].Note)
	}
	// Output:
	// F03 ignored error: support 0.5, lift +1.0
	//   episode 0, turns [3]: set_address 143 Station Street, Granau O-8415 was refused (transient), and what follows does not deal with it
	// F04 no retry: support 0.5, lift +1.0
	//   episode 0, turns [3]: set_address 143 Station Street, Granau O-8415 failed for a while only (transient) and is not tried again
	// F11 unverified write: support 1.0, lift +0.0
	//   episode 0, turns [3 4]: set_address 143 Station Street, Granau O-8415 and then submit O-8415, with no look at what was written
}

// A report on a policy over several tasks.
func ExampleSummarize() {
	s, err := diagnosis.Summarize([]diagnosis.Case{desktop("T1-0003"), desktop("T2-0007"), desktop("T4-0001")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s)
	// Output:
	// 6 of 12 episodes passed, on 3 tasks
	// F03 ignored error: on 3 of 3 tasks, support 0.50, lift +1.00; for example T1-0003: cancel_order O-1305 ordered by mistake was refused (transient), and what follows does not deal with it
	// F04 no retry: on 3 of 3 tasks, support 0.50, lift +1.00; for example T1-0003: cancel_order O-1305 ordered by mistake failed for a while only (transient) and is not tried again
	// F11 unverified write: on 3 of 3 tasks, support 1.00, lift +0.00; for example T1-0003: cancel_order O-1305 ordered by mistake and then submit O-1305, with no look at what was written
}

// The report is plain data too.
func ExampleSummary_String() {
	s := &diagnosis.Summary{Tasks: 3, Episodes: 15, Passed: 9, Flaws: []diagnosis.CommonFlaw{{
		ID: diagnosis.Loop, Tasks: 2, Support: 0.4, Lift: 0.5, Case: "T1-0003",
		Example: diagnosis.Finding{Slot: 2, Note: "look, 4 times with the same result"},
	}}}
	fmt.Println(s.String())
	// Output:
	// 9 of 15 episodes passed, on 3 tasks
	// F01 loop: on 2 of 3 tasks, support 0.40, lift +0.50; for example T1-0003: look, 4 times with the same result
}

// All flaws that there are rules for.
func ExampleIDs() {
	ids := diagnosis.IDs()
	fmt.Println(len(ids), ids[0], ids[len(ids)-1])
	fmt.Println(slices.Contains(ids, diagnosis.IgnoredError))
	// Output:
	// 20 F01 F20
	// true
}

func ExampleID_Name() {
	fmt.Println(diagnosis.IgnoredError, diagnosis.IgnoredError.Name())
	// Output: F03 ignored error
}

func ExampleID_About() {
	fmt.Println("The policy " + diagnosis.IgnoredError.About() + ".")
	// Output: The policy goes on after a refusal as if nothing had happened, and fails.
}

package rigger_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// dawdler knows how to solve a hand of game24, and wastes up to seven turns before it does.
func dawdler(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
	plan, err := yardstick.Plan(context.Background(), game24.World(nil), task)
	if err != nil {
		return nil, err
	}
	wasted := rng.IntN(8)
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index < wasted {
			return envharness.Action{Name: "restart"}, nil
		}
		return plan[t.Index-wasted], nil
	}), nil
}

// A designer proposes ever tighter limits on the turns, until the policy passes about half of the time.
func ExampleRig() {
	tighter := rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
		turns := b.Baseline.Limit - 3 - len(b.Attempts)
		return rigger.Candidate{
			Stack:     []components.Entry{{Tag: "step_budget", Params: fmt.Appendf(nil, `{"turns":%d}`, turns)}},
			Direction: b.Direction,
		}, nil
	})
	report, err := rigger.Rig(context.Background(), rigger.Problem{
		World: game24.World(nil), Tasks: []envharness.Task{{ID: "3,3,8,8"}}, NewPolicy: dawdler, Fingerprint: "dawdler 1",
	}, &rigger.Options{Designer: tighter, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	task := report.Tasks[0]
	fmt.Println("baseline:", task.Baseline.Tally)
	for _, a := range task.Attempts {
		fmt.Printf("%s: screening %v, %s\n", a.Words[0], a.Screen, a.Decision)
	}
	for _, item := range report.Items {
		fmt.Printf("accepted on %v\n", item.Counts)
	}
	fmt.Println("rollouts:", report.Cost.Rollouts())
	// Output:
	// baseline: 5 of 5
	// the episode ends after 9 turns: screening 4 of 5, refine
	// the episode ends after 8 turns: screening 4 of 5, refine
	// the episode ends after 7 turns: screening 3 of 5, accept
	// accepted on 8 of 16
	// rollouts: 36
}

func ExampleReport_String() {
	report := &rigger.Report{Tasks: []rigger.TaskReport{{
		Task: envharness.Task{ID: "3,3,8,8"}, Outcome: rigger.Accepted, Baseline: rigger.Snapshot{Tally: rigger.Tally{Pass: 5, Valid: 5}},
		Attempts: []rigger.Attempt{
			{Number: 1, Decision: rigger.Reject, Reason: "the designer failed: no reply"},
			{Number: 2, Candidate: rigger.Candidate{Stack: []components.Entry{{Tag: "warp"}}}, Decision: rigger.Reject, Reason: "static: unknown tag"},
			{Number: 3, Words: []string{"the episode ends after 9 turns"}, Decision: rigger.Refine, Reason: "4 of 5 passed: too easy"},
			{Number: 4, Words: []string{"the episode ends after 7 turns"}, Decision: rigger.Accept, Confirm: rigger.Tally{Pass: 8, Valid: 16}},
		},
	}, {Task: envharness.Task{ID: "1,2"}, Outcome: rigger.Broken, Reason: "no such task"}}}
	fmt.Print(report)
	// Output:
	// 3,3,8,8: accepted; baseline 5 of 5
	//   1. no candidate: reject, the designer failed: no reply
	//   2. warp: reject, static: unknown tag
	//   3. the episode ends after 9 turns: refine, 4 of 5 passed: too easy
	//   4. the episode ends after 7 turns: accept, 8 of 16 passed
	// 1,2: broken, no such task
}

func ExampleRollouts() {
	p := rigger.Problem{World: game24.World(nil), NewPolicy: dawdler, Fingerprint: "dawdler 1"}
	traces, err := rigger.Rollouts(context.Background(), p, &rigger.Options{Seed: 1}, rigger.Play{
		Name: "again", Task: envharness.Task{ID: "3,3,8,8"}, N: 40,
		Stack: []components.Entry{{Tag: "step_budget", Params: []byte(`{"turns":7}`)}},
	})
	if err != nil {
		log.Fatal(err)
	}
	counts, cost := rigger.Count(traces)
	fmt.Println(counts, cost.Turns)
	// Output:
	// 20 of 40 250
}

func ExampleWritePairs() {
	go24 := envharness.Action{Name: "combine", Args: []byte(`{"i":0,"j":1,"op":"mul"}`)}
	trace := &envharness.Trace{
		Task: envharness.Task{ID: "4,6"}, Shown: envharness.Observation{Text: "numbers=[4, 6]"},
		Turns:   []envharness.TurnTrace{{Proposed: &go24, Shown: envharness.Transition{Observation: envharness.Observation{Text: "numbers=[24]"}}}},
		Verdict: envharness.Verdict{Status: envharness.Pass, Score: 1},
	}
	if err := rigger.WritePairs(os.Stdout, []rigger.TaskReport{{Pair: rigger.Pair{Success: trace}}}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"id":"4,6/0/pass","task_id":"4,6","task":"numbers=[4, 6]","reward":1,"steps":[{"name":"combine","args":{"i":0,"j":1,"op":"mul"},"observation":"numbers=[24]"}]}
}

func ExampleDifficulty() {
	m := rigger.Measure{Counts: rigger.Tally{Pass: 3, Valid: 5}}
	fmt.Println(rigger.Difficulty{}.Place(m), rigger.Difficulty{}.Score(m))
	m = rigger.Measure{Counts: rigger.Tally{Pass: 13, Valid: 16}, Confirmed: true, Level: .99}
	fmt.Println(rigger.Difficulty{}.Place(m))
	// Output:
	// within 0
	// too easy
}

func ExampleRedTeam() {
	m := rigger.Measure{Baseline: rigger.Tally{Pass: 4, Valid: 5}, Counts: rigger.Tally{Pass: 4, Valid: 16}, Confirmed: true, Level: .99}
	fmt.Println(rigger.RedTeam{}.Place(m)) // 12 of 16 fail, which may be the rate behind the 1 of 5 of the baseline
	m.Counts.Pass--
	fmt.Println(rigger.RedTeam{}.Place(m), rigger.RedTeam{}.Score(m))
	// Output:
	// too easy
	// within 0.8125
}

func ExampleLearnability() {
	m := rigger.Measure{Counts: rigger.Tally{Pass: 1, Valid: 5}}
	fmt.Println(rigger.Learnability{}.Place(m), m.Counts.Learnability())
	// Output:
	// within 0.2
}

func ExampleRegret() {
	m := rigger.Measure{Counts: rigger.Tally{Pass: 4, Valid: 16}, Reference: rigger.Tally{Pass: 15, Valid: 16}, Confirmed: true, Level: .99}
	fmt.Println(rigger.Regret{}.Place(m), rigger.Regret{}.Score(m))
	// Output:
	// within 0.6875
}

func ExampleTally_Interval() {
	interval, err := rigger.Tally{Pass: 4, Valid: 16}.Interval(.99)
	fmt.Printf("[%.4f, %.4f] %v\n", interval.Lo, interval.Hi, err)
	// Output:
	// [0.0777, 0.5689] <nil>
}

func ExampleItem_Components() {
	item := rigger.Item{Stack: []components.Entry{{Tag: "step_budget", Params: []byte(`{"turns":7}`)}}}
	stack, err := item.Components(nil)
	fmt.Println(stack, err)
	// Output:
	// [the episode ends after 7 turns] <nil>
}

func ExampleStackHash() {
	short, err := rigger.StackHash(nil, []components.Entry{{Tag: "step_budget", Params: []byte(`{"turns": 7}`)}})
	if err != nil {
		log.Fatal(err)
	}
	filled, err := rigger.StackHash(nil, []components.Entry{{Tag: "step_budget", Version: 1, ID: "step_budget", Params: []byte(`{"turns":7}`)}})
	fmt.Println(strings.HasPrefix(short, "377b54e3"), short == filled, err)
	// Output:
	// true true <nil>
}

package rigtest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// play plays n rollouts of one task behind a stack, each with a stream of its own.
func play(t testing.TB, w envharness.World, stack []envharness.Component, task envharness.Task, newPolicy rigtest.Maker, n int) []envharness.Trace {
	t.Helper()
	traces, err := envharness.Rollouts(context.Background(), w, stack, func(slot int) (envharness.Policy, error) {
		return newPolicy(task, envharness.RandStream(11, "rigtest/test", uint64(slot)))
	}, slices.Repeat([]envharness.Task{task}, n), &envharness.RolloutOptions{Reruns: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range traces {
		if tr.Verdict.Status == envharness.Invalid {
			t.Fatalf("task %s: %s: %s", task.ID, tr.End, tr.Cause+tr.Verdict.Reason)
		}
	}
	return traces
}

func describe(t testing.TB, w envharness.World) envharness.Description {
	t.Helper()
	env, err := w.New(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	d, ok := envharness.As[envharness.Describer](env)
	if !ok {
		t.Fatal("the world does not describe itself")
	}
	return d.Describe()
}

// Every flaw that can be planted is found, and nothing else is, but for what it entails. The clean policies behind the same components, and
// the one that fails by chance, have none.
func TestDiagnoseFindsPlants(t *testing.T) {
	const rollouts = 10
	each := 2 // tasks of a world
	if testing.Short() {
		each = 1
	}
	planted, found, alarms, excused, reported, declared, idle := 0, 0, 0, 0, 0, 0, 0
	where := make(map[diagnosis.ID]map[string]bool)
	var faults []string
	// ids are the flaws that a report has, all of them.
	ids := func(traces []envharness.Trace, c diagnosis.Context) []diagnosis.ID {
		flaws, err := diagnosis.Diagnose(traces, c, &diagnosis.Options{Most: -1})
		if err != nil {
			t.Fatal(err)
		}
		var all []diagnosis.ID
		for _, f := range flaws {
			all = append(all, f.ID)
		}
		return all
	}
	// report counts what was reported, and of that what was entailed and what is a false alarm.
	report := func(got []diagnosis.ID, planted diagnosis.ID, entailed []diagnosis.ID, what string) {
		for _, id := range got {
			reported++
			switch {
			case id == planted:
			case slices.Contains(entailed, id):
				excused++
			default:
				alarms++
				faults = append(faults, fmt.Sprintf("%s: false alarm %s", what, id))
			}
		}
	}
	for _, w := range worlds() {
		about := describe(t, w.world)
		for _, task := range tasks(t, w.world, each) {
			plan, err := yardstick.Plan(context.Background(), w.world, task)
			if err != nil {
				t.Fatal(err)
			}
			c := diagnosis.Context{World: about, Plan: plan}
			plants, err := rigtest.Plants(context.Background(), w.world, task)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range plants {
				c := c
				c.Edges = p.Edges
				what := fmt.Sprintf("%s %s %s", w.name, task.ID, p.Flaw)
				flawed, err := rigtest.Flawed(w.world, p.Flaw, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := ids(play(t, w.world, p.Stack, task, flawed, rollouts), c)
				planted++
				if where[p.Flaw] == nil {
					where[p.Flaw] = make(map[string]bool)
				}
				where[p.Flaw][w.name] = true
				if slices.Contains(got, p.Flaw) {
					found++
				} else {
					faults = append(faults, what+": not found")
				}
				report(got, p.Flaw, p.Entails, what)
				for _, id := range p.Entails {
					declared++
					if !slices.Contains(got, id) {
						idle++
						faults = append(faults, fmt.Sprintf("%s: entailed %s is not reported", what, id))
					}
				}
				report(ids(play(t, w.world, p.Stack, task, rigtest.Clean(w.world), 3), c), "", nil, what+", clean")
			}
			coin, err := rigtest.Coin(w.world, 0.4)
			if err != nil {
				t.Fatal(err)
			}
			report(ids(play(t, w.world, nil, task, coin, rollouts), c), "", nil, fmt.Sprintf("%s %s coin", w.name, task.ID))
		}
	}
	t.Logf("%d of %d plants found; of %d flaws reported %d were entailed and %d false alarms", found, planted, reported, excused, alarms)
	if 10*idle > declared {
		t.Errorf("%d of %d entailed flaws are not reported: what is excused is more than what comes with a flaw", idle, declared)
	}
	if len(faults) > 0 {
		t.Log(strings.Join(faults, "\n"))
	}
	wide := 0
	for _, in := range where {
		if len(in) >= 3 {
			wide++
		}
	}
	if wide < 12 {
		t.Errorf("%d flaws were planted in at least 3 worlds, want 12: %v", wide, where)
	}
	if float64(found) < 0.95*float64(planted) {
		t.Errorf("recall %d of %d is below 0.95", found, planted)
	}
	if float64(alarms) > 0.05*float64(reported) {
		t.Errorf("%d false alarms among %d reports are more than 0.05", alarms, reported)
	}
}

package tooldesk

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	eh "github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// cycler makes policies that go through the candidate calls, each with a start of its own, and never submit.
func cycler(slot int) (eh.Policy, error) {
	return eh.PolicyFunc(func(_ context.Context, t eh.Turn) (eh.Action, error) {
		calls := slices.DeleteFunc(slices.Clone(t.Shown.Actions), func(a eh.Action) bool { return a.Name == "submit" })
		return calls[(slot+7*t.Index)%len(calls)], nil
	}), nil
}

// benchStack blocks nothing that occurs, lets calls fail that do, and counts turns.
func benchStack() []eh.Component {
	return []eh.Component{
		components.Block{Tools: []string{"zz"}},
		components.ToolFail{Tools: []string{"get_*"}, Nth: 3},
		components.Block{Tools: []string{"resolve_*"}},
		components.ToolFail{Tools: []string{"list_*"}, Nth: 2},
		components.StepBudget{Turns: 10},
	}
}

// Whole episodes of at most 10 turns: recorded, judged, replayed on a fresh desk and judged again.
func BenchmarkRollouts(b *testing.B) {
	tasks, err := New(nil).Tasks(b.Context(), "train")
	if err != nil {
		b.Fatal(err)
	}
	w := World(nil)
	b.ReportAllocs()
	next, turns := 0, 0
	episodes := make([]eh.Task, 600)
	for b.Loop() {
		for i := range episodes {
			episodes[i] = tasks[next%len(tasks)]
			next++
		}
		traces, err := eh.Rollouts(b.Context(), w, benchStack(), cycler, episodes, &eh.RolloutOptions{Parallel: 2, MaxTurns: 10})
		if err != nil {
			b.Fatal(err)
		}
		for i := range traces {
			if traces[i].Verdict.Status == eh.Invalid || traces[i].Verdict.Unreplayed {
				b.Fatalf("%+v", traces[i].Verdict)
			}
			turns += len(traces[i].Turns)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(time.Millisecond)/float64(next), "ms/episode")
	b.ReportMetric(float64(turns)/float64(next), "turns/episode")
}

// Episodes in which a solution is carried out, and in which any candidates but a submit are picked until the limit, resets included.
func BenchmarkCalls(b *testing.B) {
	for _, o := range []*Options{nil, {Small: true}} {
		env, err := World(o).New(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		tasks, err := env.(eh.TaskLister).Tasks(b.Context(), "train")
		if err != nil {
			b.Fatal(err)
		}
		tasks = tasks[:60]
		plans := make([][]eh.Action, len(tasks))
		for i := range tasks {
			if _, err := env.Reset(b.Context(), eh.ResetOptions{Task: tasks[i].ID}); err != nil {
				b.Fatal(err)
			}
			if plans[i], err = env.(eh.Oracle).Plan(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		r := rand.New(rand.NewPCG(1, 2))
		for _, bb := range []struct {
			name string
			pick func(episode, turn int, shown []eh.Action) eh.Action
		}{
			{"oracle", func(episode, turn int, _ []eh.Action) eh.Action { return plans[episode][turn] }},
			{"random", func(_, _ int, shown []eh.Action) eh.Action {
				for {
					if a := shown[r.IntN(len(shown))]; a.Name != "submit" {
						return a
					}
				}
			}},
		} {
			b.Run(o.preset().name+"/"+bb.name, func(b *testing.B) {
				b.ReportAllocs()
				episode, calls := 0, 0
				for b.Loop() {
					first, err := env.Reset(b.Context(), eh.ResetOptions{Task: tasks[episode].ID})
					if err != nil {
						b.Fatal(err)
					}
					shown, turn := first.Actions, 0
					for more := true; more; turn++ {
						t, err := env.Step(b.Context(), bb.pick(episode, turn, shown))
						if err != nil {
							b.Fatal(err)
						}
						shown, more = t.Observation.Actions, !t.Ended()
					}
					episode, calls = (episode+1)%len(tasks), calls+turn
				}
				b.ReportMetric(float64(b.Elapsed())/float64(calls), "ns/call")
			})
		}
	}
}

// Resets in a world, which keeps its tasks, and of a desk alone, which makes the task anew.
func BenchmarkReset(b *testing.B) {
	for _, o := range []*Options{nil, {Small: true}} {
		kept, err := World(o).New(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for _, bb := range []struct {
			name string
			env  eh.Environment
		}{{"kept", kept}, {"made", New(o)}} {
			b.Run(o.preset().name+"/"+bb.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := bb.env.Reset(b.Context(), eh.ResetOptions{Task: o.preset().prefix + "T5-0001"}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

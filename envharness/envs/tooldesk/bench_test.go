package tooldesk

import (
	"context"
	"slices"
	"testing"
	"time"

	eh "github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// cycler makes policies that go through the candidate calls, each with a start of its own, and never submit.
func cycler(slot int) (eh.Policy, error) {
	return eh.PolicyFunc(func(_ context.Context, t eh.Turn) (eh.Action, error) {
		calls := slices.DeleteFunc(t.Shown.Actions, func(a eh.Action) bool { return a.Name == "submit" })
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
	tasks, err := New().Tasks(b.Context(), "train")
	if err != nil {
		b.Fatal(err)
	}
	w := World()
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

package shop

import (
	"sync"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

// The shops of the tests, which nobody writes to.
var (
	fullShop  = sync.OnceValue(func() *shop { return newShop(full()) })
	smallShop = sync.OnceValue(func() *shop { return newShop(small()) })
)

func shopOf(o *Options) *shop {
	if o != nil && o.Small {
		return smallShop()
	}
	return fullShop()
}

var splits = []string{"train", "validation", "test", "ood"}

func tasksOf(tb testing.TB, env *sim.Env, split string) []envharness.Task {
	tb.Helper()
	tasks, err := env.Tasks(tb.Context(), split)
	if err != nil {
		tb.Fatal(err)
	}
	return tasks
}

func allTasks(tb testing.TB, env *sim.Env) []envharness.Task {
	tb.Helper()
	var out []envharness.Task
	for _, s := range splits {
		out = append(out, tasksOf(tb, env, s)...)
	}
	return out
}

func reset(tb testing.TB, env *sim.Env, task string) envharness.Observation {
	tb.Helper()
	o, err := env.Reset(tb.Context(), envharness.ResetOptions{Task: task})
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

func step(tb testing.TB, env *sim.Env, a envharness.Action) envharness.Transition {
	tb.Helper()
	t, err := env.Step(tb.Context(), a)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func plan(tb testing.TB, env *sim.Env) []envharness.Action {
	tb.Helper()
	p, err := env.Plan(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// newEpisode begins an episode without an environment around it. No task means the first of the split train.
func newEpisode(tb testing.TB, s *shop, task string) *episode {
	tb.Helper()
	if task == "" {
		task = s.firstOf("train")
	}
	e, err := s.start(task)
	if err != nil {
		tb.Fatal(err)
	}
	return e.(*episode)
}

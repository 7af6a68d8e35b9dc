package endpointtest

import (
	"cmp"
	"context"
	"sync"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// An Oracle answers as the oracle of a world plays: it knows a task by the first message, and what to do next by the number of calls since.
type Oracle struct {
	world worlds.World
	tasks map[string]envharness.Task // by what the first turn shows

	mu    sync.Mutex
	plans map[string][]envharness.Action
}

// NewOracle returns one for the tasks, or for those of all splits of a world if there are none. Where two of them start alike it knows the
// first.
func NewOracle(ctx context.Context, w worlds.World, tasks ...envharness.Task) (*Oracle, error) {
	o := &Oracle{world: w, tasks: make(map[string]envharness.Task), plans: make(map[string][]envharness.Action)}
	env, err := w.New(ctx)
	if err != nil {
		return nil, err
	}
	defer env.Close()
	if len(tasks) == 0 {
		for _, split := range worlds.Splits() {
			more, err := w.Tasks(ctx, split)
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, more...)
		}
	}
	for _, t := range tasks {
		first, err := env.Reset(ctx, envharness.ResetOptions{Task: t.ID, Seed: t.Seed, Options: t.Options})
		if err != nil {
			return nil, err
		}
		text := openai.Show(envharness.Turn{Shown: first})
		if _, known := o.tasks[text]; !known {
			o.tasks[text] = t
		}
	}
	return o, nil
}

// Answer is a [Script].
func (o *Oracle) Answer(q openaitest.Request) openaitest.Reply {
	first := First(q)
	task, known := o.tasks[first]
	if !known {
		return openaitest.Reply{Text: "I do not know this task."}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	plan, planned := o.plans[first]
	if !planned {
		var err error
		if plan, err = o.world.Plan(context.Background(), task); err != nil {
			return openaitest.Reply{Text: "I have no plan."}
		}
		o.plans[first] = plan
	}
	n := Calls(q)
	if n >= len(plan) {
		return openaitest.Reply{Text: "That was all."}
	}
	return openaitest.Reply{Calls: []openaitest.Call{{Name: plan[n].Name, Args: cmp.Or(string(plan[n].Args), "{}")}}}
}

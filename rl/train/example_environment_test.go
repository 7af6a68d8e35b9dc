package train_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/sim"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// A lamp shows colours, one after the other, each of which is to be named, and then is off. The task is the colours.
type lamp struct{ left []string } // what is still to come, off at the end

func (l *lamp) Step(a envharness.Action) sim.Result {
	_, refusal := sim.Args(a.Args)
	switch {
	case refusal != nil:
	case a.Name == l.left[0]:
		l.left = l.left[1:]
	case a.Name == "blue" || a.Name == "green" || a.Name == "red":
		return sim.Result{Ended: true}
	default:
		refusal = sim.Refuse(envharness.ClassUnknownTool, "no colour %q", sim.Clip(a.Name))
	}
	return sim.Result{Ended: len(l.left) == 1, Refusal: refusal}
}
func (l *lamp) Text() string                { return "lamp " + l.left[0] }
func (l *lamp) Data() map[string]any        { return nil }
func (l *lamp) AppendState(b []byte) []byte { return fmt.Appendf(b, `{"left":%d}`, len(l.left)) }
func (l *lamp) Actions() []envharness.Action {
	return []envharness.Action{{Name: "blue"}, {Name: "green"}, {Name: "red"}}
}
func (l *lamp) Verdict() envharness.Verdict {
	if len(l.left) > 1 {
		return envharness.Verdict{Status: envharness.Fail}
	}
	return envharness.Verdict{Status: envharness.Pass, Score: 1}
}
func lamps() envharness.World {
	tools := []envharness.Tool{{Name: "blue"}, {Name: "green"}, {Name: "red"}}
	return (&sim.Simulation{DefaultTask: "red",
		Description: envharness.Description{Name: "lamp", Tools: tools, MaxTurns: 5, Vocabulary: []string{"blue", "green", "lamp", "off", "red"}},
		Start: func(task string) (sim.Episode, error) {
			if left := strings.Fields(task + " off"); len(left) > 1 {
				return &lamp{left}, nil
			}
			return nil, envharness.ErrNoTask
		}}).World()
}

// An environment of one's own takes 40 lines, from the type lamp to the end of the function lamps; the example trains a model in it.
func ExampleProblem_environment() {
	ctx := context.Background()
	fmt.Println("broken rules:", envtest.Environment{New: lamps().New, SeedBlind: true}.Check(ctx))

	words, err := rollout.WorldTokenizer(ctx, lamps(), nil)
	if err != nil {
		log.Fatal(err)
	}
	model, err := backbone.NewGRU(backbone.Config{Vocab: words.Vocab(), Dim: 16, Head: loss.Head{Plus: rollout.ValuePlus, Minus: rollout.ValueMinus}})
	if err != nil {
		log.Fatal(err)
	}
	grpo, err := train.Find("grpo")
	if err != nil {
		log.Fatal(err)
	}
	tasks := map[string][]envharness.Task{
		"train":      {{ID: "red blue green"}, {ID: "green green red"}, {ID: "blue red blue"}, {ID: "green blue red"}},
		"validation": {{ID: "blue green red"}, {ID: "red green blue"}, {ID: "green red green"}},
	}
	trainer, err := train.New(train.Problem{World: lamps(), Model: model, Tokenizer: words, Algorithm: grpo,
		Tasks: func(_ context.Context, split string) ([]envharness.Task, error) { return tasks[split], nil },
	}, &train.Options{Tasks: 4, Rollouts: 16, Rate: 1e-2, Epochs: 2, Iterations: 30, EvalEvery: 30,
		Agent: rollout.AgentOptions{Candidates: true, History: new(0), MaxResponse: 4}})
	if err != nil {
		log.Fatal(err)
	}
	for it, err := range trainer.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if it.Evaluation != nil {
			fmt.Printf("iteration %d: success on validation %.2f\n", it.Number, it.Evaluation.Success)
		}
	}
	// Output:
	// broken rules: <nil>
	// iteration 0: success on validation 0.33
	// iteration 30: success on validation 1.00
}

package train_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// Plan makes a lamp a sim.Planner: the colours to come.
func (l *lamp) Plan() ([]envharness.Action, error) {
	var plan []envharness.Action
	for _, colour := range l.left[:len(l.left)-1] {
		plan = append(plan, envharness.Action{Name: colour})
	}
	return plan, nil
}

// problem is to learn to name the colours of a lamp, with a new small model, and options that make it quick.
func problem(algorithm string) (train.Problem, *train.Options) {
	words, err := rollout.WorldTokenizer(context.Background(), lamps(), nil)
	if err != nil {
		log.Fatal(err)
	}
	model, err := backbone.NewGRU(backbone.Config{Vocab: words.Vocab(), Dim: 16, Head: loss.Head{Plus: rollout.ValuePlus, Minus: rollout.ValueMinus}})
	if err != nil {
		log.Fatal(err)
	}
	a, err := train.Find(algorithm)
	if err != nil {
		log.Fatal(err)
	}
	tasks := map[string][]envharness.Task{
		"train":      {{ID: "red blue green"}, {ID: "green green red"}, {ID: "blue red blue"}, {ID: "green blue red"}},
		"validation": {{ID: "blue green red"}, {ID: "red green blue"}},
		"test":       {{ID: "red red blue"}, {ID: "blue blue green"}},
	}
	p := train.Problem{World: lamps(), Model: model, Tokenizer: words, Algorithm: a,
		Tasks: func(_ context.Context, split string) ([]envharness.Task, error) { return tasks[split], nil }}
	if a.Values == train.TurnCritic || a.Values == train.TokenCritic {
		if p.Critic, err = model.NewCritic(1); err != nil {
			log.Fatal(err)
		}
	}
	return p, &train.Options{Tasks: 4, Rollouts: 8, Rate: 1e-2, Epochs: 2,
		Agent: rollout.AgentOptions{Candidates: true, History: new(0), MaxResponse: 4}}
}

// A run of SAPO: an evaluation, iterations, an evaluation, and the best model at the end.
func ExampleTrainer_Run() {
	p, o := problem("sapo")
	o.Tasks, o.Rollouts, o.Iterations, o.EvalEvery = 64, 1, 30, 15
	trainer, err := train.New(p, o)
	if err != nil {
		log.Fatal(err)
	}
	for it, err := range trainer.Run(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		if it.Done != "" {
			fmt.Printf("iteration %d: %d episodes, success %.1f, on validation %.1f\n", it.Number, it.Episodes, it.Success, it.Evaluation.Success)
			fmt.Println("done:", it.Done)
		}
	}
	if err := trainer.RestoreBest(); err != nil {
		log.Fatal(err)
	}
	test, err := trainer.Evaluate(context.Background(), "test")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d tasks, success %.1f\n", test.Split, test.Tasks, test.Success)
	// Output:
	// iteration 30: 64 episodes, success 1.0, on validation 1.0
	// done: iterations
	// test: 2 tasks, success 1.0
}

func ExampleAlgorithms() {
	for _, a := range train.Algorithms() {
		fmt.Printf("%-15s  %3d x %d  %s\n", a.Name, a.Tasks, a.Rollouts, a.About)
	}
	// Output:
	// sapo             128 x 1  turn-level GAE, V and Q read off the policy's own vocabulary (arXiv:2608.19842)
	// ppo              128 x 1  turn-level GAE with a critic apart (ours)
	// ppo-published    128 x 1  the score of the episode less a token's value, a critic apart, as in verl-agent
	// ppo-shared       128 x 1  turn-level GAE, V read off the policy's own vocabulary, no Q (ours)
	// grpo              16 x 8  scores normalised in their group (arXiv:2402.03300)
	// drgrpo            16 x 8  scores centred in their group, sums over tokens (arXiv:2503.20783)
	// rloo              16 x 8  scores less the mean of the others in the group (arXiv:2402.14740)
	// reinforce++      128 x 1  returns normalised over the batch (arXiv:2501.03262)
	// gigpo             16 x 8  groups of scores and of returns from equal states (arXiv:2505.10978)
	// graphgpo          16 x 8  distances to success in the graph of states (arXiv:2605.26684)
	// milegpo           16 x 8  milestones in the graph of states, preset ALFWorld (arXiv:2608.19803)
	// milegpo-webshop   16 x 8  the same, preset WebShop
	// gagpo             16 x 8  values of states estimated from the group, one ratio a turn (arXiv:2605.13217)
}

// An algorithm with a loss of the caller's choice.
func ExampleAlgorithm() {
	p, o := problem("rloo")
	p.Algorithm.Name = "rloo with CISPO"
	p.Algorithm.Loss = func(grad []float64, b loss.Batch) (float64, loss.Stats, error) {
		return loss.CISPO(grad, b, &loss.CISPOOptions{ClipHigh: .3})
	}
	o.Iterations, o.EvalEvery = 2, -1
	trainer, err := train.New(p, o)
	if err != nil {
		log.Fatal(err)
	}
	for it, err := range trainer.Run(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d: %s, %d steps\n", it.Number, it.Algorithm, it.Steps)
	}
	// Output:
	// 1: rloo with CISPO, 2 steps
	// 2: rloo with CISPO, 2 steps
}

// An algorithm can be changed before it is used.
func ExampleFind() {
	a, err := train.Find("grpo")
	if err != nil {
		log.Fatal(err)
	}
	a.Rollouts = 4
	fmt.Println(a.Name, a.Tasks, a.Rollouts)
	_, err = train.Find("dqn")
	fmt.Println(err)
	// Output:
	// grpo 16 4
	// train: no algorithm "dqn", want one of sapo, ppo, ppo-published, ppo-shared, grpo, drgrpo, rloo, reinforce++, gigpo, graphgpo, milegpo, milegpo-webshop, gagpo
}

// New finds everything that is wrong at once.
func ExampleNew() {
	p, o := problem("ppo")
	p.Critic = nil
	o.Epochs, o.Rate = -1, -1
	_, err := train.New(p, o)
	fmt.Println(err)
	// Output:
	// train: Options.Rate is -1, want a finite number > 0, or 0 for the default
	// train: Options.CriticRate is -1, want a finite number > 0, or 0 for the default
	// train: Options.Epochs is -1, want at least 1, or 0 for the default
	// train: algorithm "ppo" needs Problem.Critic, a critic apart, and it is nil
}

// A model that has seen the plans of the world's oracle passes before it has been rewarded once.
func ExampleTrainer_WarmStart() {
	ctx := context.Background()
	trainer, err := train.New(problem("grpo"))
	if err != nil {
		log.Fatal(err)
	}
	demonstrations, err := trainer.Demonstrate(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := trainer.WarmStart(ctx, demonstrations, &train.WarmStartOptions{Epochs: 60, Rate: 1e-2}); err != nil {
		log.Fatal(err)
	}
	e, err := trainer.Evaluate(ctx, "validation")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d demonstrations, success on validation %.1f\n", len(demonstrations), e.Success)
	// Output:
	// 4 demonstrations, success on validation 1.0
}

// Training draws from items: a task as it is, one with its first part done, and one with no turn to spare.
func ExampleItem() {
	p, o := problem("grpo")
	p.Items = []train.Item{
		{Task: envharness.Task{ID: "red blue"}},
		{Task: envharness.Task{ID: "green red blue"}, Components: []envharness.Component{
			envharness.Setup{Actions: []envharness.Action{{Name: "green"}}, Aid: true},
		}},
		{Task: envharness.Task{ID: "blue green red"}, Components: []envharness.Component{components.StepBudget{Turns: 3}}},
	}
	o.Tasks, o.Rollouts, o.Iterations, o.EvalEvery = 6, 4, 20, 20
	trainer, err := train.New(p, o)
	if err != nil {
		log.Fatal(err)
	}
	for it, err := range trainer.Run(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		if it.Number == 1 {
			played := map[string]int{}
			for _, t := range it.Traces {
				played[fmt.Sprint(t.Task.ID, ", components ", len(t.Components))]++
			}
			fmt.Println(played)
		}
		if it.Done != "" {
			fmt.Printf("iteration %d: success %.1f, on validation without components %.1f\n", it.Number, it.Success, it.Evaluation.Success)
		}
	}
	// Output:
	// map[blue green red, components 1:8 green red blue, components 1:8 red blue, components 0:8]
	// iteration 20: success 0.9, on validation without components 1.0
}

// A run that was interrupted goes on in another process as if it had not been.
func ExampleTrainer_Load() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "train")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "state")

	iterate := func(t *train.Trainer, until int) (last train.Iteration) {
		for it, err := range t.Run(ctx) {
			if err != nil {
				log.Fatal(err)
			}
			if last = it; it.Number == until {
				break
			}
		}
		return last
	}
	whole, err := train.New(problem("ppo"))
	if err != nil {
		log.Fatal(err)
	}
	want := iterate(whole, 4)

	first, err := train.New(problem("ppo"))
	if err != nil {
		log.Fatal(err)
	}
	iterate(first, 2)
	if err := first.Save(path); err != nil {
		log.Fatal(err)
	}
	second, err := train.New(problem("ppo"))
	if err != nil {
		log.Fatal(err)
	}
	if err := second.Load(path); err != nil {
		log.Fatal(err)
	}
	got := iterate(second, 4)
	fmt.Println(got.Number, got.PolicyLoss == want.PolicyLoss, got.GradNorm == want.GradNorm)
	// Output:
	// 4 true true
}

// Checkpoints in a folder, and the latest of them after a restart.
func ExampleTrainer_LoadLatest() {
	dir, err := os.MkdirTemp("", "train")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, iterations := range []int{4, 6} {
		p, o := problem("grpo")
		o.Dir, o.CheckpointEvery, o.Iterations = dir, 2, iterations
		trainer, err := train.New(p, o)
		if err != nil {
			log.Fatal(err)
		}
		n, err := trainer.LoadLatest()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print("from ", n)
		for it, err := range trainer.Run(context.Background()) {
			if err != nil {
				log.Fatal(err)
			}
			if it.Done != "" {
				fmt.Println(" to", it.Number)
			}
		}
	}
	// Output:
	// from 0 to 4
	// from 4 to 6
}

// One line for each iteration, and the time that its phases took.
func ExampleReadMetrics() {
	var lines bytes.Buffer
	p, o := problem("milegpo")
	o.Iterations, o.Metrics = 2, &lines
	o.Clock = func() func() time.Time { // time.Now, but for what is printed here
		now := time.Unix(0, 0)
		return func() time.Time { now = now.Add(time.Second); return now }
	}()
	trainer, err := train.New(p, o)
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range trainer.Run(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
	}
	for it, err := range train.ReadMetrics(&lines) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d: %d episodes, %d steps, %v s, done %q\n", it.Number, it.Episodes, it.Steps, it.Seconds.Training(), it.Done)
	}
	// Output:
	// 0: 0 episodes, 0 steps, 0 s, done ""
	// 1: 32 episodes, 2 steps, 4 s, done ""
	// 2: 32 episodes, 2 steps, 4 s, done "iterations"
}

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
}

func ExampleAlgorithms() {
	for _, a := range train.Algorithms() {
		fmt.Printf("%-15s  %3d x %d  %s\n", a.Name, a.Tasks, a.Rollouts, a.About)
	}
	// Output:
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
}

// New finds everything that is wrong at once.
func ExampleNew() {
	p, o := problem("ppo")
	p.Critic = nil
	o.Epochs, o.Rate = -1, -1
	_, err := train.New(p, o)
	fmt.Println(err)
	// Output:
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
		fmt.Println(it.Number, it.Episodes, it.Steps, it.Seconds.Training(), it.Done)
	}
	// Output:
}

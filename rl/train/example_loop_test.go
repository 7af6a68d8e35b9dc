package train_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
)

// loop trains a model without a Trainer: episodes, credit, loss, gradient, step. Any [rl.Backbone] that is an [rl.Sampler] can stand in for model.
func loop(ctx context.Context, world envharness.World, words *rollout.Tokenizer, model *backbone.Model, tasks []envharness.Task) error {
	agent, err := rollout.NewAgent(model, words, &rollout.AgentOptions{Candidates: true, History: new(0), MaxResponse: 4})
	if err != nil {
		return err
	}
	for i := range uint64(30) {
		episodes, err := rollout.Collect(ctx, world, nil, func(slot int) (rollout.Player, error) {
			return agent.Play(envharness.RandStream(i, "agent", uint64(slot))), nil
		}, rollout.Repeat(tasks, 16), &rollout.Options{GroupSize: 16})
		if err != nil {
			return err
		}
		batch := rollout.Trajectories(episodes)
		rows := rl.Sequences(nil, batch) // one for each turn
		old, err := model.LogProbs(ctx, rows)
		if err != nil {
			return err
		}
		if err := rl.SetLogProbs(batch, old); err != nil { // of the policy that sampled
			return err
		}
		credit, err := rl.RLOO(nil, batch, nil)
		if err != nil {
			return err
		}
		tokens, err := loss.NewBatch(nil, batch, credit, nil)
		if err != nil {
			return err
		}
		grad := make([]float64, len(tokens.Weight))
		for range 2 {
			weight, err := model.LogProbs(ctx, rows)
			if err != nil {
				return err
			}
			tokens.LogProb = slices.Concat(weight...) // one turn after the other
			if _, _, err := loss.PPO(grad, *tokens, nil); err != nil {
				return err
			}
			rest := grad
			for k := range weight { // the gradient in the shape of the log-probabilities
				weight[k], rest = rest[:len(weight[k])], rest[len(weight[k]):]
			}
			if err := model.AddGrad(ctx, rows, weight); err != nil {
				return err
			}
			if _, err := model.Step(ctx, 1e-2); err != nil {
				return err
			}
		}
		if d, err := credit.Diagnose(batch); err != nil {
			return err
		} else if i%29 == 0 {
			fmt.Printf("iteration %d: %d of %d episodes passed\n", i+1, d.Successes, d.Trajectories)
		}
	}
	return nil
}

// A training loop of one's own takes 60 lines: the function loop.
func ExampleTrainer_loop() {
	ctx := context.Background()
	words, err := rollout.WorldTokenizer(ctx, lamps(), nil)
	if err != nil {
		log.Fatal(err)
	}
	model, err := backbone.NewGRU(backbone.Config{Vocab: words.Vocab(), Dim: 16, Head: loss.Head{Plus: rollout.ValuePlus, Minus: rollout.ValueMinus}})
	if err != nil {
		log.Fatal(err)
	}
	if err := loop(ctx, lamps(), words, model, []envharness.Task{{ID: "red blue green"}, {ID: "green green red"}, {ID: "blue red blue"}}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// iteration 1: 0 of 48 episodes passed
	// iteration 30: 48 of 48 episodes passed
}

package rollout_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A model and its tokenizer, saved and loaded, act as they did. At a low temperature the actions are the model's own rather than chance.
func ExampleTokenizer_MarshalJSON() {
	ctx, world := context.Background(), keydoor.World(&keydoor.Options{Small: true})
	must := func(err error) {
		if err != nil {
			log.Panic(err) // not Fatal, which would leave the folder behind
		}
	}
	play := func(m *backbone.Model, t *rollout.Tokenizer) (actions []string) {
		agent, err := rollout.NewAgent(m, t, &rollout.AgentOptions{Candidates: true, Temperature: new(0.01)})
		must(err)
		episodes, err := rollout.Collect(ctx, world, nil, func(int) (rollout.Player, error) { return agent.Play(nil), nil },
			[]envharness.Task{{ID: "small-2,2,0,0"}}, nil)
		must(err)
		for _, turn := range episodes[0].Trace.Turns {
			actions = append(actions, turn.Said)
		}
		return actions
	}
	words, err := rollout.WorldTokenizer(ctx, world, nil)
	must(err)
	model, err := backbone.NewGRU(backbone.Config{Vocab: words.Vocab(), Dim: 8})
	must(err)

	dir, err := os.MkdirTemp("", "")
	must(err)
	defer os.RemoveAll(dir)
	data, err := json.Marshal(words)
	must(err)
	must(os.WriteFile(filepath.Join(dir, "tokenizer.json"), data, 0o666))
	must(model.Save(filepath.Join(dir, "model.bin")))

	loaded, err := backbone.Load(filepath.Join(dir, "model.bin"))
	must(err)
	data, err = os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	must(err)
	var read rollout.Tokenizer
	must(json.Unmarshal(data, &read))
	before, after := play(model, words), play(loaded, &read)
	fmt.Println(len(before), "actions, the same ones:", slices.Equal(before, after))
	// Output: 12 actions, the same ones: true
}

package backbone_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
)

// A model goes on from a file as if it had never left memory.
func ExampleLoad() {
	ctx := context.Background()
	m, err := backbone.NewGRU(backbone.Config{Vocab: 10, Dim: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	// One step towards the response 4 to the context 1 2 3.
	batch := []rl.Sequence{{Tokens: []int{1, 2, 3, 4}, Start: 3}}
	train := func(m *backbone.Model) error {
		if err := m.AddGrad(ctx, batch, [][]float64{{-1}}); err != nil {
			return err
		}
		_, err := m.Step(ctx, 0.01)
		return err
	}
	if err := train(m); err != nil {
		fmt.Println(err)
		return
	}

	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model")
	if err := m.Save(path); err != nil {
		fmt.Println(err)
		return
	}
	back, err := backbone.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, m := range []*backbone.Model{m, back} {
		if err := train(m); err != nil {
			fmt.Println(err)
			return
		}
	}
	want, err := m.LogProbs(ctx, batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := back.LogProbs(ctx, batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the same after another step:", got[0][0] == want[0][0])
	// Output: the same after another step: true
}

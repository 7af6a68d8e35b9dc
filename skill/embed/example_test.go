package embed_test

import (
	"context"
	"fmt"
	"os"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/embed"
)

func ExampleFitTFIDF() {
	e, err := embed.FitTFIDF([]string{"open the drawer", "open the window", "wash the mug"})
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := e.Embed(context.Background(), []string{"Open a drawer", "play the violin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.ID())
	fmt.Printf("%.3f\n", vectors[0]) // drawer, mug, open, wash, window
	fmt.Printf("%.3f\n", vectors[1])
	// Output:
	// tfidf-1/5ddf8a0846c781b0
	// [0.796 0.000 0.605 0.000 0.000]
	// [0.000 0.000 0.000 0.000 0.000]
}

func ExampleNewCache() {
	calls := 0
	service := skill.EmbedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		calls++ // here a client would ask a model server
		vectors := make([][]float64, len(texts))
		for i, s := range texts {
			vectors[i] = []float64{float64(len(s)), 1}
		}
		return vectors, nil
	})
	dir, err := os.MkdirTemp("", "vectors")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for range 2 { // the second time as a new process would
		cache, err := embed.NewCache(service, dir, &embed.CacheOptions{ID: "my-model/1"})
		if err != nil {
			fmt.Println(err)
			return
		}
		vectors, err := cache.Embed(context.Background(), []string{"open the drawer", "wash the mug", "open the drawer"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v after %d call, %+v\n", vectors, calls, cache.Stats())
	}
	// Output:
	// [[15 1] [12 1] [15 1]] after 1 call, {Memory:0 Disk:0 Embedded:2 Corrupt:0}
	// [[15 1] [12 1] [15 1]] after 1 call, {Memory:1 Disk:2 Embedded:0 Corrupt:0}
}

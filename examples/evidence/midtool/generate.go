package main

import (
	"bytes"
	"context"
	_ "embed"
	"io"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/native"
	"github.com/throughline-go/throughline/midtool/simulate"
)

const seed = 1

//go:embed tools.jsonl
var ownDefinitions []byte

// ownTools reads the tools that come with this program. Unlike the real ones they have result schemas.
func ownTools(ctx context.Context) ([]midtool.Tool, error) {
	return midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: "tools.jsonl", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(ownDefinitions)), nil
	}})
}

// generate makes about so many samples; 0 stands for what the quality of the tools is worth. The corpus has no samples where emit is given.
func generate(ctx context.Context, tools []midtool.Tool, samples int, emit func(midtool.Sample) error) (*midtool.Corpus, error) {
	return native.Generate(ctx, tools, &native.Options{Seed: seed, Samples: samples, Workers: 2, Emit: emit})
}

// generateRare makes samples in which what is rare in a corpus is frequent, so that every kind of fault finds its places: half of them
// recover from a failure, of which one in ten is final.
func generateRare(ctx context.Context, tools []midtool.Tool, samples int) (*midtool.Corpus, error) {
	shares := make(map[midtool.Family]int)
	for _, f := range families() {
		shares[f] = 7
	}
	shares[midtool.Recovery] = 49
	return native.Generate(ctx, tools, &native.Options{Seed: seed, Samples: samples, Workers: 2, Shares: shares})
}

// world is the executor that answered the calls of generated samples.
func world() midtool.Executor { return simulate.NewWorld(seed) }

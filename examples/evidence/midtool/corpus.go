package main

import (
	"context"

	"github.com/throughline-go/throughline/midtool"
)

// A corpusResult describes what was generated over the real tools, or over those of this program where there are none.
type corpusResult struct {
	Tools    int            `json:"tools"` // usable
	Samples  int            `json:"samples"`
	Tokens   int            `json:"tokens"`
	Rejected map[string]int `json:"rejected"` // tools and samples, by reason
	Dropped  []string       `json:"dropped"`  // each tool that was left out, with its place and the reason
}

// inputs are what several parts look at.
type inputs struct {
	realTools, ownTools []midtool.Tool
	samples, rare       []midtool.Sample // of a corpus, and of generateRare
}

// corpus generates the samples, and counts what they consist of.
func (e *evidence) corpus(ctx context.Context, in *inputs, s effort) error {
	tools := in.realTools
	if len(tools) == 0 {
		tools = in.ownTools
	}
	counted, err := generate(ctx, tools, s.samples, nil)
	if err != nil {
		return err
	}
	rare, err := generateRare(ctx, in.ownTools, s.rare)
	if err != nil {
		return err
	}
	in.samples, in.rare = counted.Samples, rare.Samples
	e.Corpus = corpusResult{Tools: counted.Tools, Samples: len(counted.Samples), Tokens: counted.Tokens, Rejected: counted.Reasons()}
	for _, r := range counted.Rejected {
		if r.Sample == "" {
			e.Corpus.Dropped = append(e.Corpus.Dropped, r.Error())
		}
	}
	e.count(counted.Samples)
	return nil
}

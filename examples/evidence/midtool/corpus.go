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
}

// inputs are what several parts look at.
type inputs struct {
	realTools, ownTools []midtool.Tool
	real, own           []midtool.Sample
}

// corpus generates the samples, and counts what they consist of.
func (e *evidence) corpus(ctx context.Context, in *inputs, s effort) error {
	own, err := generate(ctx, in.ownTools, s.own, nil)
	if err != nil {
		return err
	}
	in.own = own.Samples
	counted := own
	if len(in.realTools) > 0 {
		if counted, err = generate(ctx, in.realTools, s.real, nil); err != nil {
			return err
		}
		in.real = counted.Samples
	}
	e.Corpus = corpusResult{Tools: counted.Tools, Samples: len(counted.Samples), Tokens: counted.Tokens, Rejected: counted.Reasons()}
	e.count(counted.Samples)
	return nil
}

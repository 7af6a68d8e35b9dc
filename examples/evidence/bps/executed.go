package main

import (
	"context"
	"io"

	"github.com/throughline-go/throughline/examples/evidence/bps/internal/forkbench/judge"
)

// executedResult is what the executed testbed shows; see packages forkbench and judge for what it is and what it is not.
type executedResult struct {
	judge.Result // its keys are keys of the whole
}

// runExecuted judges rules for choosing documents by executions.
func runExecuted(ctx context.Context, quick bool, progress func(string)) (*executedResult, error) {
	r, err := judge.Run(ctx, quick, progress)
	if err != nil {
		return nil, err
	}
	return &executedResult{*r}, nil
}

func (r *executedResult) print(w io.Writer) error { return r.Print(w) }

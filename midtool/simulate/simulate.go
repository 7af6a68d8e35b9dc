// Package simulate answers calls of tools that cannot or must not be run: from their schemas, and from a small world of
// records that can be created, read, updated and deleted. Both are a [midtool.Executor].
package simulate

import (
	"context"
	"encoding/json"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// Schema is a [midtool.Executor] without state: it draws each answer from the tool's result schema by a hash of Seed,
// tool and arguments, so that equal calls get equal answers.
type Schema struct {
	Seed uint64
}

// Open starts a session.
func (s Schema) Open(ctx context.Context, id string, tools []midtool.Tool) (midtool.Session, error) {
	return midtool.SessionFunc(func(ctx context.Context, t midtool.Tool, arguments json.RawMessage) (midtool.Result, error) {
		args, err := jsonval.Parse(arguments)
		if err != nil {
			return midtool.Result{}, err
		}
		known := &tool{Tool: t, meaning: names.MeaningOf(t.Name)}
		if len(t.Returns) > 0 {
			known.returns, _ = schema.CompileRaw(t.Returns)
		}
		v, _ := answer(s.Seed, known, &args)
		return midtool.Result{Value: v.Bytes(jsonval.Display)}, nil
	}), nil
}

type tool struct {
	midtool.Tool
	meaning names.Meaning
	returns *schema.Schema
}

// World is a [midtool.Executor] whose sessions each hold a small table of records per kind of thing that the tools are
// about.
type World struct {
	Seed uint64
	Rows int // in each table at the start; zero means 3
}

// Open starts a session with tables of its own.
func (w World) Open(ctx context.Context, id string, tools []midtool.Tool) (midtool.Session, error) {
	return Schema{Seed: w.Seed}.Open(ctx, id, tools)
}

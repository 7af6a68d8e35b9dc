package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/midtool"
)

// A schemasResult says what became of the real tools.
type schemasResult struct {
	Tools     int      `json:"tools"`
	Compiled  int      `json:"compiled"`  // normalized, and the schema could be compiled
	Generated int      `json:"generated"` // arguments could be made
	Validated int      `json:"validated"` // the schema accepts these arguments
	Lossy     int      `json:"lossy"`     // the schema was repaired so that its meaning changed
	Dropped   []string `json:"dropped"`   // the tools that fell out on the way, each with its reason
}

// schemas takes every real tool from its definition to arguments that its schema accepts.
func (e *evidence) schemas(ctx context.Context, in *inputs) error {
	r := &e.Schemas
	r.Dropped = []string{}
	drop := func(t *midtool.Tool, what string, err error) {
		r.Dropped = append(r.Dropped, fmt.Sprintf("%s (%s, line %d): %s: %v", t.Name, t.Group, t.Origin.Line, what, err))
	}
	for _, raw := range in.realTools {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.Tools++
		t, err := midtool.Normalize(raw)
		if err != nil {
			drop(&raw, "not normalized", err)
			continue
		}
		if len(t.Lossy) > 0 {
			r.Lossy++
		}
		compiled, err := midtool.CompileSchema(t.Parameters)
		if err != nil {
			drop(&t, "not compiled", err)
			continue
		}
		r.Compiled++
		arguments, err := compiled.Instance(seed, t.Name)
		if err != nil {
			drop(&t, "no arguments made", err)
			continue
		}
		if arguments == nil {
			drop(&t, "no arguments made", errors.New("nothing came back"))
			continue
		}
		r.Generated++
		if found := compiled.Check(arguments); len(found) > 0 {
			drop(&t, "arguments refused", errors.New(found[0].String()))
			continue
		}
		r.Validated++
	}
	e.claim(r.Tools == 3404, "schemas: %d real tools, want 3404", r.Tools)
	e.claim(r.Validated+len(r.Dropped) == r.Tools, "schemas: %d tools validated and %d dropped are not all %d", r.Validated, len(r.Dropped), r.Tools)
	e.claim(1000*r.Validated >= 998*r.Tools, "schemas: arguments of %d tools are validated, want 99.8 %% of %d", r.Validated, r.Tools)
	return nil
}

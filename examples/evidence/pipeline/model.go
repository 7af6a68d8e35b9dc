package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/mainjob"
)

// modelEvidence is what a model behind an endpoint did in place of the policy that is trained.
type modelEvidence struct {
	Endpoint mainjob.Endpoint `json:"endpoint"` // of all seeds together
	Seeds    []modelRow       `json:"seeds"`
}

// modelRow is one run. Of two tallies the first is without the selected skills, the second with them.
type modelRow struct {
	Seed       uint64            `json:"seed"`
	Validation [2]endpoint.Tally `json:"validation"`
	Test       [2]endpoint.Tally `json:"test"`
	OOD        [2]endpoint.Tally `json:"ood"`
	Rigged     int               `json:"rigged_tasks"`
	Accepted   int               `json:"accepted"`
	Behind     [2]endpoint.Tally `json:"on_accepted"` // with skills: as they were, and behind their components
}

// runModel does the main job with the model for several seeds. Nothing is run twice: no two answers of a model need be equal.
func runModel(ctx context.Context, m *endpoint.Model, seeds int) (*modelEvidence, error) {
	e := &modelEvidence{}
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		r, err := mainjob.Run(ctx, mainjob.Config{Seed: seed, Quick: true, Workers: runtime.NumCPU(), Model: m})
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		m.Finished("all of seed", seed)
		did, env, used := r.Model, r.Report.Environment, r.Report.Endpoint
		e.Seeds = append(e.Seeds, modelRow{seed, did.Validation, did.Test, did.OOD, env.Tasks, env.Accepted, did.Accepted})
		e.Endpoint = mainjob.Endpoint{
			Usage: used.Usage, // counts from the start of the process
			Tasks: used.Tasks, Episodes: e.Endpoint.Episodes + used.Episodes, Invalid: e.Endpoint.Invalid + used.Invalid,
			Cause: cmp.Or(e.Endpoint.Cause, used.Cause),
		}
	}
	return e, nil
}

func (e *modelEvidence) print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "seed\tvalidation: without skills\twith\ttest: without\twith\tnew family: without\twith\t"+
		"rigged\taccepted\tthese as they were\tbehind components")
	for _, s := range e.Seeds {
		fmt.Fprintf(t, "%d\t%v\t%v\t%v\t%v\t%v\t%v\t%d\t%d\t%v\t%v\n", s.Seed, s.Validation[0], s.Validation[1], s.Test[0], s.Test[1],
			s.OOD[0], s.OOD[1], s.Rigged, s.Accepted, s.Behind[0], s.Behind[1])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nnot trained: there are no weights behind an endpoint\n%v\n", &e.Endpoint)
	return err
}

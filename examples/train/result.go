package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/throughline-go/throughline/rl/train"
)

// A result is what -json prints.
type result struct {
	World         string             `json:"world"`
	Algorithm     string             `json:"algorithm"`
	Model         string             `json:"model"`
	Params        int                `json:"params"`
	Seed          uint64             `json:"seed"`
	Iterations    int                `json:"iterations"`
	EnvSteps      int                `json:"env_steps"`
	Done          string             `json:"done"`                     // why training ended: "iterations", "env_steps" or "patience"
	BestIteration *int               `json:"best_iteration,omitempty"` // nil without evaluations: the parameters are the last ones
	Curve         []point            `json:"curve"`
	Evaluations   []train.Evaluation `json:"evaluations"` // with the best parameters
	Seconds       float64            `json:"seconds,omitempty"`

	all   []train.Iteration
	begun bool // the folder is there
}

// iterations returns how many are done.
func (r *result) iterations() int {
	if len(r.all) == 0 {
		return 0
	}
	return r.all[len(r.all)-1].Number
}

// summarise fills in what follows from the iterations.
func (r *result) summarise() {
	r.Iterations = r.iterations()
	if n := len(r.all); n > 0 {
		r.EnvSteps, r.Done = r.all[n-1].EnvSteps, r.all[n-1].Done
	}
	r.BestIteration = nil
	for _, it := range r.all {
		if it.Best {
			r.BestIteration = new(it.Number)
		}
	}
	r.Curve = curve(r.all)
}

// draw draws the curve as it is so far.
func (r *result) draw(dir string) error {
	return drawCurve(dir, fmt.Sprintf("%s on %s", r.Algorithm, r.World), r.all)
}

// left says what an interrupt has left behind.
func (r *result) left(dir string) string {
	switch {
	case r.begun && r.iterations() > 0:
		return fmt.Sprintf("-out %s -resume goes on after iteration %d", dir, r.iterations())
	case r.begun:
		return fmt.Sprintf("-out %s -resume begins anew", dir)
	default:
		return "nothing was written"
	}
}

// write prints the result as JSON.
func (r *result) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// print prints the result as tables.
func (r *result) print(w io.Writer, dir string) error {
	if err := printCurve(w, r.Curve); err != nil {
		return err
	}
	which := "the last parameters"
	if r.BestIteration != nil {
		which = fmt.Sprintf("the parameters of iteration %d", *r.BestIteration)
	}
	fmt.Fprintf(w, "\nWith %s:\n", which)
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "tasks\tnumber\tsuccess\tturns\tinvalid\t")
	for _, e := range r.Evaluations {
		fmt.Fprintf(tw, "%s\t%d\t%s\t%.1f\t%s\t\n", e.Split, e.Tasks, percent(e.Success), e.Turns, percent(e.Invalid))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%.1f s with seed %d", r.Seconds, r.Seed)
	if dir != "" {
		fmt.Fprintf(w, "; files in %s", dir)
	}
	_, err := fmt.Fprintln(w)
	return err
}

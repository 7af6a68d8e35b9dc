package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/throughline-go/throughline/midtool/build"
)

// mostWarnings is how many warnings are shown; the others are in the report.
const mostWarnings = 8

// table shows what a person asks first: what came out, of what, and what to look at.
func table(w io.Writer, r *build.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "input\tread\tleft out\tmost for\tout")
	for _, name := range slices.Sorted(maps.Keys(r.Inputs)) {
		f := r.Inputs[name]
		most, reason := 0, "-"
		for _, stage := range slices.Sorted(maps.Keys(f.Drops)) {
			for _, why := range slices.Sorted(maps.Keys(f.Drops[stage])) {
				if n := f.Drops[stage][why]; n > most {
					most, reason = n, fmt.Sprintf("%s/%s (%d)", stage, why, n)
				}
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%d\n", name, f.Read, f.Read-f.Out, reason, f.Out)
	}
	fmt.Fprintln(t, "\nsource\tavailable\ttokens\tshare\twanted")
	for _, name := range slices.Sorted(maps.Keys(r.Mix.Sources)) {
		s := r.Mix.Sources[name]
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f %%\t%.1f %%\n", name, s.Available, s.Tokens, 100*s.Got, 100*s.Want)
	}
	fmt.Fprintln(t, "\nbranch\trecords\ttokens\tshare\t")
	for _, name := range []string{"source", "context", "native"} {
		if b, ok := r.Branches[name]; ok {
			fmt.Fprintf(t, "%s\t%d\t%d\t%.1f %%\t\n", name, b.Records, b.Tokens, 100*b.Share)
		}
	}
	fmt.Fprintln(t, "\noutput\tfiles\trecords\tbytes\ttokens")
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		o := r.Outputs[name]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", name, o.Files, o.Records, o.Bytes, o.Tokens)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Warnings) > 0 {
		fmt.Fprintln(w)
	}
	for _, text := range r.Warnings[:min(len(r.Warnings), mostWarnings)] {
		fmt.Fprintln(w, "look at:", text)
	}
	if more := len(r.Warnings) - mostWarnings; more > 0 {
		fmt.Fprintf(w, "and %d more in the report\n", more)
	}
	_, err := fmt.Fprintf(w, "\n%d records, %d tokens (%s); %d exact and %d near-duplicates, %d units with items of benchmarks were left out\n",
		r.Records, r.Tokens, r.Counter, r.Duplicates.Exact, r.Duplicates.Near, r.Contamination.Dropped)
	return err
}

func writeJSON(w io.Writer, r *build.Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

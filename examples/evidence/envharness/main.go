// Command envharness checks what package envharness promises: conformance, faults that are caught, and episodes recorded elsewhere.
//
//	go run ./examples/evidence/envharness [-quick] [-json] [-data DIR]
//
// The parts, in the order of the output:
//
//	conformance  the kit of package envtest on every reference world and its verifier, every component, and the vector runner
//	doubles      things with one deliberate fault each, which the kit must find, and find nothing else
//	weaknesses   faults that the paper's code and other libraries have or had; each case has the right behaviour here
//	golden       episodes of the game of 24 recorded from the paper's code, step by step, and the solvability of all hands; needs data
//	overhead     what the harness costs; this differs between machines and runs, and fails nothing
//
// The data is found in the folder that -data or the environment variable THROUGHLINE_DATA names; golden is skipped without. All but
// overhead is the same in every run. The exit status is 1 if anything failed. With -quick fewer episodes are timed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
)

// evidence is what the parts found out.
type evidence struct {
	Quick       bool              `json:"quick"`
	Conformance conformanceResult `json:"conformance"`
	Doubles     doublesResult     `json:"doubles"`
	Weaknesses  weaknessResult    `json:"weaknesses"`
	Golden      goldenResult      `json:"golden"`
	Overhead    overheadResult    `json:"overhead"`
}

// weaknessResult counts the cases of referenceFaults and peerFaults.
type weaknessResult struct {
	Cases int       `json:"cases"`
	Held  int       `json:"held"`
	Rows  []caseRow `json:"rows"`
}

type caseRow struct {
	Source string `json:"source"`
	Fault  string `json:"fault"`
	Error  string `json:"error,omitempty"` // what is wrong here; empty if nothing is
}

func runWeaknesses(ctx context.Context) weaknessResult {
	var r weaknessResult
	for _, w := range slices.Concat(referenceFaults(), peerFaults(), vectorFaults()) {
		row := caseRow{Source: w.Source, Fault: w.Fault}
		if err := w.Check(ctx); err != nil {
			row.Error = err.Error()
		} else {
			r.Held++
		}
		r.Cases++
		r.Rows = append(r.Rows, row)
	}
	return r
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "time fewer episodes")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	data := flag.String("data", os.Getenv("THROUGHLINE_DATA"), "`folder` of public data; empty skips what needs it")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "envharness: want no arguments")
		os.Exit(2)
	}
	progress := func(string) {}
	if info, err := os.Stderr.Stat(); !*asJSON || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	e, err := run(ctx, *quick, *data, progress)
	if err == nil {
		err = e.write(os.Stdout, *asJSON)
	}
	if err == nil {
		err = e.failure()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "envharness:", err)
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

// run runs all parts.
func run(ctx context.Context, quick bool, data string, progress func(string)) (*evidence, error) {
	e := &evidence{Quick: quick}
	var err error
	progress("conformance")
	if e.Conformance, err = runConformance(ctx); err != nil {
		return nil, err
	}
	progress("doubles")
	e.Doubles = runDoubles(ctx)
	progress("weaknesses")
	e.Weaknesses = runWeaknesses(ctx)
	progress("golden episodes")
	if e.Golden, err = runGolden(ctx, data); err != nil {
		return nil, err
	}
	progress("overhead")
	if e.Overhead, err = runOverhead(ctx, quick); err != nil {
		return nil, err
	}
	return e, ctx.Err()
}

// failure returns an error that says what failed, or nil.
func (e *evidence) failure() error {
	what := func(failed bool, format string, of ...any) error {
		if failed {
			return fmt.Errorf(format, of...)
		}
		return nil
	}
	g := e.Golden
	return errors.Join(
		what(e.Conformance.Failed > 0, "%d checks of conformance failed", e.Conformance.Failed),
		what(e.Doubles.Caught < e.Doubles.Doubles, "%d of %d doubles were not caught", e.Doubles.Doubles-e.Doubles.Caught, e.Doubles.Doubles),
		what(e.Weaknesses.Held < e.Weaknesses.Cases, "%d of %d weaknesses are here", e.Weaknesses.Cases-e.Weaknesses.Held, e.Weaknesses.Cases),
		what(len(g.Failures) > 0, "%d golden episodes differ", len(g.Failures)),
		what(g.HandsDiffer > 0, "the solvability of %d hands differs", g.HandsDiffer),
	)
}

func (e *evidence) write(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, of ...any) { fmt.Fprintf(t, format+"\n", of...) } // an error of w comes back from Flush
	c := e.Conformance
	line("conformance: %d worlds, %d components, %d verifiers, %d runners, %d rules, %d checks failed", c.Envs, c.Components, c.Verifiers, c.Runners, c.Rules, c.Failed)
	for _, f := range c.Failures {
		line("FAILED %s", f)
	}
	line("\ndoubles: %d of %d caught, %d of %d rules", e.Doubles.Caught, e.Doubles.Doubles, e.Doubles.Rules, c.Rules)
	for _, f := range e.Doubles.Failures {
		line("FAILED %s", f)
	}
	line("\nweaknesses: %d of %d cases held", e.Weaknesses.Held, e.Weaknesses.Cases)
	for _, r := range e.Weaknesses.Rows {
		if r.Error == "" {
			line("ok\t%s\t%s", r.Source, r.Fault)
		} else {
			line("FAILED\t%s\t%s\t%s", r.Source, r.Fault, r.Error)
		}
	}
	e.Golden.write(line)
	o := e.Overhead
	line("\noverhead on %s", o.Machine)
	line("step without components\t%.0f ns", o.Step)
	line("with 1 component without hooks\t%.0f ns", o.OneNil)
	line("with 10\t%.0f ns\t%.2f allocations", o.TenNil, o.NilAllocations)
	line("each component without hooks\t%.1f ns", o.PerComponent)
	line("each with three hooks\t%.0f ns", o.PerWorking)
	line("turn of a rollout, recorded\t%.0f ns", o.Recorded)
	line("%d episodes of the service desk, %d turns, %d components, %d at once\t%.2f s", o.Desk.Episodes, o.Desk.Turns, o.Desk.Components, o.Desk.Parallel, o.Desk.Seconds)
	return t.Flush()
}

func (g goldenResult) write(line func(string, ...any)) {
	if g.Skipped != "" {
		line("\ngolden: skipped: %s", g.Skipped)
		return
	}
	line("\ngolden: %d episodes, %d equal, %d with documented differences, %d steps; passes: %d loosely, %d strictly",
		g.Episodes, g.Equal, g.Documented, g.Steps, g.Strict.LoosePasses, g.Strict.Passes)
	line("stack\tepisodes\tequal\torder\tend shown\tsteps\tblocked\trefused")
	for _, r := range g.Stacks {
		line("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d", r.Stack, r.Episodes, r.Equal, r.Order, r.EndShown, r.Steps, r.Blocked, r.Refused)
	}
	for _, f := range g.Failures {
		line("FAILED %s", f)
	}
	line("hands: %d, %d solvable, %d differ", g.Hands, g.Solvable, g.HandsDiffer)
}

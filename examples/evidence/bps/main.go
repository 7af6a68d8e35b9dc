// Command bps checks what package bps promises and compares it with the usual rules for choosing a set under a token budget.
//
//	go run ./examples/evidence/bps [-quick] [-json] [-data DIR] [-split FILE] [-seed N] [-only PART,PART]
//
// The parts, in the order of the output:
//
//	theorem1     Theorem 1 of arXiv:2608.19993 on every set of small random instances
//	any_penalty  the factors of levels 1 to 3 for every nondecreasing penalty, the same way
//	paper_grid   paper mode and the baselines against the optimum, on pools shaped like the paper's
//	certificate  what paper mode certifies there about its own answers
//	exact        branch and bound against every set of small random instances
//	recovery     how well package learn finds the capabilities behind synthetic logs
//	sealtools    tasks whose tools are all chosen, on Seal-Tools; with -split also on another file of tasks
//	bfcl         the same on the multi-turn tasks of BFCL
//	executed     tasks that are executed with the chosen documents
//
// The data of sealtools and bfcl is not part of the module: -data, or else the environment variable THROUGHLINE_DATA, names the folder that
// holds sealtools/ and bfcl/. Without it those two parts say so, and the others run.
//
// The output depends on the flags alone, not on the number of processors. The seed is that of the first five parts. With -quick there are
// fewer instances and everything takes about 20 s on two cores.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// evidence is what the parts found out; those that did not run are absent.
type evidence struct {
	Seed        uint64             `json:"seed"`
	Quick       bool               `json:"quick"`
	Theorem     *theoremResult     `json:"theorem1,omitempty"`
	Penalty     *penaltyResult     `json:"any_penalty,omitempty"`
	Grid        *gridResult        `json:"paper_grid,omitempty"`
	Certificate *certificateResult `json:"certificate,omitempty"`
	Exact       *exactResult       `json:"exact,omitempty"`
	Recovery    *recoveryResult    `json:"recovery,omitempty"`

	// SealTools is the tasks that are complete, by budget and method with its default setting; the rest is in Tables.
	SealTools      map[string]map[string]int `json:"sealtools,omitempty"`
	TokenRatioTopK float64                   `json:"token_ratio_vs_top_k,omitempty"`
	TokenRatioBest float64                   `json:"token_ratio_vs_best_baseline,omitempty"`
	Tables         *sealToolsResult          `json:"sealtools_tables,omitempty"`

	BFCL *bfclResult `json:"bfcl,omitempty"`
	*executedResult
}

// A part is one piece of evidence: run sets its fields, and print writes them.
type part struct {
	name  string
	run   func() error
	print func(w io.Writer) error
}

type settings struct {
	data, split string
	seed        uint64
	quick       bool
	only        []string // names of parts; empty means all
	progress    func(string)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := settings{progress: func(string) {}}
	flag.StringVar(&s.data, "data", os.Getenv("THROUGHLINE_DATA"), "`folder` with sealtools/ and bfcl/")
	flag.StringVar(&s.split, "split", "", "`file` with more tasks in the format of Seal-Tools")
	flag.Uint64Var(&s.seed, "seed", 1, "`seed` of the random instances")
	flag.BoolVar(&s.quick, "quick", false, "fewer instances, about 20 s on two cores")
	only := flag.String("only", "", "comma-separated `parts` to run instead of all")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	flag.Parse()
	if *only != "" {
		s.only = strings.Split(*only, ",")
	}
	if err := s.check(); err != nil || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bps:", cmp.Or(err, errors.New("there are no arguments")))
		os.Exit(2)
	}
	if info, err := os.Stderr.Stat(); !*asJSON || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		s.progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	e := &evidence{}
	err := e.run(ctx, s)
	if err == nil {
		err = e.print(os.Stdout, s, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bps:", err)
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

// check reports parts that do not exist.
func (s settings) check() error {
	var names []string
	for _, p := range (&evidence{}).parts(context.Background(), s) {
		names = append(names, p.name)
	}
	for _, name := range s.only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("there is no part %q, want some of %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

func (s settings) wants(name string) bool { return len(s.only) == 0 || slices.Contains(s.only, name) }

// instances is how many small instances Theorem 1 and the levels are checked on.
func (s settings) instances() int {
	if s.quick {
		return quickInstances
	}
	return manyInstances
}

// parts returns all parts in order.
func (e *evidence) parts(ctx context.Context, s settings) []part {
	var certificate *certificateResult // paper_grid and certificate are one computation
	grid := func() (*gridResult, *certificateResult, error) {
		return runGrid(ctx, s.seed, s.quick, s.progress)
	}
	return []part{
		{"theorem1", func() (err error) {
			e.Theorem, err = runTheorem(ctx, s.seed, s.instances(), s.progress)
			return err
		}, func(w io.Writer) error { return e.Theorem.print(w) }},
		{"any_penalty", func() (err error) {
			e.Penalty, err = runPenalty(ctx, s.seed, s.instances(), s.progress)
			return err
		}, func(w io.Writer) error { return e.Penalty.print(w) }},
		{"paper_grid", func() (err error) {
			e.Grid, certificate, err = grid()
			return err
		}, func(w io.Writer) error { return e.Grid.print(w) }},
		{"certificate", func() (err error) {
			if certificate == nil {
				_, certificate, err = grid()
			}
			e.Certificate = certificate
			return err
		}, func(w io.Writer) error { return e.Certificate.print(w) }},
		{"exact", func() (err error) {
			e.Exact, err = runExact(ctx, s.seed, s.quick, s.progress)
			return err
		}, func(w io.Writer) error { return e.Exact.print(w) }},
		{"recovery", func() (err error) {
			e.Recovery, err = runRecovery(ctx, s.quick, s.progress)
			return err
		}, func(w io.Writer) error { return e.Recovery.print(w) }},
		{"sealtools", func() (err error) {
			if e.Tables, err = runSealTools(ctx, s.data, s.split, s.quick, s.progress); err != nil {
				return err
			}
			e.TokenRatioTopK, e.TokenRatioBest = e.Tables.TokenRatioTopK, e.Tables.TokenRatioBest
			if e.Tables.Dev != nil {
				e.SealTools = e.Tables.Dev.Covered
			}
			return nil
		}, func(w io.Writer) error { return e.Tables.print(w) }},
		{"bfcl", func() (err error) {
			e.BFCL, err = runBFCL(ctx, s.data, s.quick, s.progress)
			return err
		}, func(w io.Writer) error { return e.BFCL.print(w) }},
		{"executed", func() (err error) {
			e.executedResult, err = runExecuted(ctx, s.quick, s.progress)
			return err
		}, func(w io.Writer) error { return e.executedResult.print(w) }},
	}
}

func (e *evidence) run(ctx context.Context, s settings) error {
	e.Seed, e.Quick = s.seed, s.quick
	for _, p := range e.parts(ctx, s) {
		if !s.wants(p.name) {
			continue
		}
		if err := p.run(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func (e *evidence) print(w io.Writer, s settings, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	if _, err := fmt.Fprintf(w, "seed %d, quick %v\n", e.Seed, e.Quick); err != nil {
		return err
	}
	for _, p := range e.parts(context.Background(), s) {
		if !s.wants(p.name) {
			continue
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := p.print(w); err != nil {
			return err
		}
	}
	return nil
}

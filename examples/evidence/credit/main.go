// Command credit checks what packages rl, rl/token and rl/loss promise: the numbers of worked examples, the laws of credit, and gradients.
//
//	go run ./examples/evidence/credit [-quick] [-json] [-seed N] [-workers N] [-timing]
//
// The parts, in the order of the output:
//
//	worked                        numbers that papers, peers and calculations by hand give, each with the digits that are printed there
//	properties                    laws of package rltest for every estimator, on random batches, and rules that no law covers
//	gradients                     the gradient of every loss against finite differences
//	graphgpo_equals_milegpo_eta0  MileGPO without its shaped return has the bits of GraphGPO
//	bounds_hold                   gains, shaped returns and returns by distance stay within their bounds
//	micro_batch_invariant         an optimiser step in one piece or in many has the same loss and gradient
//	not_here                      what is left to other parts of the library
//	timing                        with -timing, how long estimators take; this differs between machines and runs, and fails nothing
//
// The labels E1, case 1, property 1 and so on number the worked examples, the faults that frameworks had or have, and the rules; tests have
// the same. All else but timing depends on the seed alone, not on the number of workers. The exit status is 1 if anything failed. A full run takes
// two to four minutes on two cores, one with -quick 5 to 15 s.
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
	"runtime"
	"text/tabwriter"
	"time"
)

// evidence is what the parts found out.
type evidence struct {
	Seed       uint64           `json:"seed"`
	Quick      bool             `json:"quick"`
	Worked     workedResult     `json:"worked"`
	Properties propertiesResult `json:"properties"`
	Gradients  gradientResult   `json:"gradients"`

	// Each is true if no run of its checks failed.
	ZeroMix    bool `json:"graphgpo_equals_milegpo_eta0"`
	Bounds     bool `json:"bounds_hold"`
	MicroBatch bool `json:"micro_batch_invariant"`

	Checks struct {
		ZeroMix    []propertyRow `json:"graphgpo_equals_milegpo_eta0"`
		Bounds     []propertyRow `json:"bounds_hold"`
		MicroBatch []propertyRow `json:"micro_batch_invariant"`
	} `json:"checks"`
	NotHere []absent `json:"not_here"`
	Timing  *timings `json:"timing,omitempty"`
}

// propertiesResult counts the checks of laws and of other properties together.
type propertiesResult struct {
	Runs   int           `json:"runs"`
	Failed int           `json:"failed"`
	Laws   lawResult     `json:"laws"`
	Others []propertyRow `json:"others"`
}

type settings struct {
	seed          uint64
	quick, timing bool
	workers       int
	share         float64 // of the random inputs of a full run
	batches       int     // per law and estimator
	progress      func(string)

	// What is checked, so that tests can put a fault in.
	worked     []group
	estimators []promised
	gradients  []gradientCheck
}

// The sizes of full and quick runs.
const (
	fullBatches, quickBatches = 4000, 120
	quickShare                = 0.03
)

func newSettings() settings {
	return settings{
		seed: 1, workers: runtime.GOMAXPROCS(0), share: 1, batches: fullBatches, progress: func(string) {},
		worked: groups(), estimators: estimators(), gradients: gradients(),
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := newSettings()
	flag.Uint64Var(&s.seed, "seed", s.seed, "`seed` of the random inputs")
	flag.IntVar(&s.workers, "workers", s.workers, "`number` of checks at a time; no result depends on it")
	flag.BoolVar(&s.quick, "quick", false, "fewer random inputs, at most 15 s on two cores")
	flag.BoolVar(&s.timing, "timing", false, "measure how long estimators take, too")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	flag.Parse()
	if flag.NArg() > 0 || s.workers < 1 {
		fmt.Fprintln(os.Stderr, "credit: want no arguments, and -workers 1 or more")
		os.Exit(2)
	}
	if s.quick {
		s.share, s.batches = quickShare, quickBatches
	}
	if info, err := os.Stderr.Stat(); !*asJSON || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		s.progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	e, err := run(ctx, s)
	if err == nil {
		err = e.write(os.Stdout, *asJSON)
	}
	if err == nil {
		err = e.failure()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "credit:", err)
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

// run runs all parts.
func run(ctx context.Context, s settings) (*evidence, error) {
	e := &evidence{Seed: s.seed, Quick: s.quick, NotHere: notHere()}
	s.progress("worked examples")
	e.Worked = runWorked(s.worked)
	s.progress("laws of every estimator")
	var err error
	if e.Properties.Laws, err = runLaws(ctx, s, s.estimators, s.batches); err != nil {
		return nil, err
	}
	p := &e.Properties
	p.Runs, p.Failed = p.Laws.Runs, p.Laws.Failed
	lists := []struct {
		to   *[]propertyRow
		ok   *bool
		name string
		all  []property
	}{
		{&p.Others, nil, "other properties", append(properties(), graphProperties()...)},
		{&e.Checks.ZeroMix, &e.ZeroMix, "MileGPO with eta 0", zeroMix()},
		{&e.Checks.Bounds, &e.Bounds, "bounds", bounds()},
		{&e.Checks.MicroBatch, &e.MicroBatch, "micro-batches", microBatches()},
	}
	for i, l := range lists {
		s.progress(l.name)
		if *l.to, err = runProperties(ctx, s, 100*i, l.all); err != nil {
			return nil, err
		}
		failed := 0
		for _, row := range *l.to {
			failed += row.Failed
			if l.ok == nil {
				p.Runs += row.Runs
			}
		}
		if l.ok == nil {
			p.Failed += failed
		} else {
			*l.ok = failed == 0
		}
	}
	s.progress("gradients")
	if e.Gradients, err = runGradients(ctx, s, s.gradients); err != nil {
		return nil, err
	}
	if s.timing {
		s.progress("timing")
		e.Timing, err = runTimings(ctx, s)
	}
	return e, err
}

// failure returns an error that says what failed, or nil.
func (e *evidence) failure() error {
	what := func(failed bool, format string, of ...any) error {
		if failed {
			return fmt.Errorf(format, of...)
		}
		return nil
	}
	return errors.Join(
		what(e.Worked.Failed > 0, "%d of %d worked examples failed", e.Worked.Failed, e.Worked.Cases),
		what(e.Properties.Failed > 0, "%d of %d checks of properties failed", e.Properties.Failed, e.Properties.Runs),
		what(e.Gradients.Failed > 0, "%d of %d gradients failed", e.Gradients.Failed, e.Gradients.Points),
		what(!e.ZeroMix, "MileGPO with eta 0 is not GraphGPO"),
		what(!e.Bounds, "bounds do not hold"),
		what(!e.MicroBatch, "micro-batches change a loss or its gradient"),
	)
}

func (e *evidence) write(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, of ...any) { fmt.Fprintf(t, format+"\n", of...) } // an error of w comes back from Flush
	line("seed %d, quick %v", e.Seed, e.Quick)
	line("\nworked examples: %d with %d numbers, %d failed", e.Worked.Cases, e.Worked.Numbers, e.Worked.Failed)
	for _, g := range e.Worked.Groups {
		line("%s\t%d", g.Name, len(g.Cases))
	}
	for _, f := range e.Worked.Failures {
		line("FAILED %s\twant %v\tgot %v\t%s", f.ID, f.Want, f.Got, f.Error)
	}
	laws := e.Properties.Laws
	line("\nproperties: %d runs, %d failed; of these laws of estimators: %d runs, %d failed", e.Properties.Runs, e.Properties.Failed, laws.Runs, laws.Failed)
	line("estimator\toptions\truns\tfailed")
	for _, r := range laws.ByEstimator {
		line("%s\t%s\t%d\t%d", r.Method, cmp.Or(r.Options, "-"), r.Runs, r.Failed)
	}
	line("\nlaw\truns\tfailed")
	for _, r := range laws.ByLaw {
		line("%s\t%d\t%d", r.Name, r.Runs, r.Failed)
	}
	for _, f := range laws.Failures {
		line("FAILED %s %s\tlaw %s\t%d batches\t%s", f.Method, f.Options, f.Law, f.Batches, f.First)
	}
	for _, l := range []struct {
		name string
		rows []propertyRow
	}{
		{"other property", e.Properties.Others},
		{fmt.Sprintf("graphgpo_equals_milegpo_eta0: %v", e.ZeroMix), e.Checks.ZeroMix},
		{fmt.Sprintf("bounds_hold: %v", e.Bounds), e.Checks.Bounds},
		{fmt.Sprintf("micro_batch_invariant: %v", e.MicroBatch), e.Checks.MicroBatch},
	} {
		line("\n%s\truns\tfailed", l.name)
		for _, r := range l.rows {
			line("%s\t%d\t%d\t%s", r.Name, r.Runs, r.Failed, r.First)
		}
	}
	g := e.Gradients
	line("\ngradients: %d components at %d points, largest relative error %.2g, %d failed", g.Checked, g.Points, g.Worst, g.Failed)
	line("loss\tpoints\tcomponents\tlargest error\tfailed")
	for _, r := range g.Losses {
		line("%s\t%d\t%d\t%.2g\t%d\t%s", r.Name, r.Points, r.Checked, r.Worst, r.Failed, r.First)
	}
	line("\nnot here")
	for _, a := range e.NotHere {
		line("%s\t%s", a.Item, a.Reason)
	}
	if e.Timing != nil {
		line("\ntiming on this machine, now: %s, %s", e.Timing.Go, e.Timing.Machine)
		line("estimator\ttrajectories\tturns\tshortest\ttarget\trepeats\tallocations")
		for _, r := range e.Timing.Rows {
			line("%s\t%d\t%d\t%v\t%v\t%d\t%d", r.Name, r.Trajectories, r.Turns, time.Duration(r.Nanoseconds), time.Duration(r.Target), r.Repeats, r.Allocations)
		}
	}
	return t.Flush()
}

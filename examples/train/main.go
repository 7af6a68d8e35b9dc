// Command train trains a language model from scratch on a reference world, with any of the algorithms of rl/train, and shows how it learns.
//
//	go run ./examples/train [-world NAME] [-algo NAME] [-model NAME] [-dim N] [-heads N] [-layers N]
//	    [-demos N] [-warm-epochs N] [-warm-rate X] [-iterations N] [-env-steps N] [-patience N]
//	    [-tasks N] [-rollouts N] [-rate X] [-epochs N] [-batch N] [-eval-every N] [-eval-tasks N]
//	    [-history N] [-maxlen N] [-maxresponse N] [-candidates] [-seed N] [-workers N] [-out DIR] [-resume] [-times] [-json] [-list]
//
// The names that -world and -algo take are printed by -list. The model reads and writes the words of the world, one token each. It chooses among
// the admissible actions, or with -candidates=false writes what it likes, of which nearly nothing is an action unless it has seen some: with
// -demos it first imitates the world's own plans for so many training tasks. Then iterations of episodes and updates follow, and every few of
// them an evaluation on validation tasks. Training ends by -iterations, -env-steps or -patience, whatever comes first. In the end the
// parameters of the best evaluation are put back and evaluated on the validation, test and out-of-distribution tasks. The run with the
// defaults takes less than a minute on 2 cores; validation success goes from 3 to 100 %, that on the out-of-distribution tasks stays at 0.
//
// Algorithms that compare turns which begin in the same state take it, in the compact presets, to be the text shown (rollout.ShownTexts), as
// that says all there but for the bit that memory_len_short hides; elsewhere a state is what calls led to it (rollout.AcceptedCalls).
//
// A context that leaves no room for an action in -maxlen tokens loses its oldest turns first, then the beginning of what is shown. The episodes of
// the worlds' own plans fit into the defaults but in two worlds: tooldesk needs -maxlen 512, and shop -maxlen 1024 and -maxresponse 48.
//
// Standard output gets the learning curve and these evaluations as tables, with -json one JSON object instead; standard error a line for each
// iteration, and on a terminal a bar. In a row of the curve, train is the share of training episodes passed since the row before, sampled
// at temperature 1; validation is that of its tasks, at temperature 0.4.
//
// # Files
//
// With -out the run is kept in a folder, which must be absent, empty, or hold an earlier run of this command and nothing else; without -resume
// that one is replaced.
//
//	run.json         the settings
//	metrics.jsonl    a line for each iteration; train.ReadMetrics reads it
//	curve.png        the learning curve, drawn anew at each evaluation
//	checkpoints      the state after every fifth iteration and at the end or an interrupt, the last ones
//	tokenizer.json   the words of the model and their ids, at the end; json.Unmarshal reads it into a rollout.Tokenizer
//	model.bin        the best parameters, at the end; backbone.Load reads it
//	result.json      what -json prints, at the end, without the time
//
// To act with the model, give rollout.NewAgent what backbone.Load reads, the tokenizer, and AgentOptions with the History, MaxLen, MaxResponse
// and Candidates of run.json (a Temperature of 0.4 is that of the evaluations); a player of Agent.Play is an envharness.Policy. The example
// of rollout.Tokenizer.MarshalJSON shows it.
//
// The same settings and seed write the same bytes on one kind of processor with one version of Go, whatever the number of workers; only -times adds
// to the metrics what differs: the seconds that phases take.
//
// After an interrupt, a kill or a crash, -resume goes on from the latest checkpoint, to the files that the run would have written without it,
// but for one more checkpoint perhaps. It needs -out alone: settings that are not given are those of run.json, and others than those are
// refused, except how long to train (-iterations, -env-steps, -patience) and what changes no number. A run that is over can be prolonged so;
// it then has one evaluation more than a run that was as long from the start.
//
// Exit codes: 0 done, 1 failed, 2 bad flags or input, 130 interrupted.
//
// # Dependency
//
// The curve is drawn by the raster canvas of gonum.org/v1/plot, which this module of examples requires and the library does not; without
// curve.go the requirement is gone. The package plot itself is not used, as it brings a writer of SVG under CC-BY-4.0. What is compiled in
// is under BSD licences (gonum, go-latex, golang.org/x with the Go fonts) and the MIT licence (gg), but for github.com/golang/freetype, which
// is under the FreeType License, like BSD with credit: portions of this software are copyright The FreeType Project (www.freetype.org).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/throughline-go/throughline/examples/internal/study"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, terminal(os.Stderr))
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, bar bool) int {
	start := time.Now()
	s, err := parse(args, stderr)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		if !errors.Is(err, errPrinted) {
			fmt.Fprintln(stderr, "train:", err)
		}
		return 2
	}
	if s.list {
		if err := list(ctx, stdout); err != nil {
			fmt.Fprintln(stderr, "train:", err)
			return 1
		}
		return 0
	}
	p := &progress{w: stderr, bar: bar, iterations: s.study.Options.Iterations}
	s.study.Options.Progress = p.show
	r, err := do(ctx, s, p)
	p.clear()
	switch {
	case errors.Is(err, errInput):
		fmt.Fprintln(stderr, "train:", err)
		return 2
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(stderr, "train: interrupted;", r.left(s.out))
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "train:", err)
		return 1
	}
	r.Seconds = time.Since(start).Seconds()
	if s.json {
		err = r.write(stdout)
	} else {
		err = r.print(stdout, s.out)
	}
	if err != nil {
		fmt.Fprintln(stderr, "train:", err)
		return 1
	}
	return 0
}

// do trains. The result is never nil; after an error it is what there is so far.
func do(ctx context.Context, s *settings, p *progress) (*result, error) {
	r := &result{World: s.study.World, Algorithm: s.study.Algorithm, Model: s.study.Model, Seed: s.study.Options.Seed}
	if s.out != "" && !s.resume {
		if err := checkOut(s.out); err != nil {
			return r, err
		}
	}
	if s.times {
		s.study.Options.Clock = time.Now
	}
	metrics := &metricsFile{}
	if s.out != "" {
		s.study.Options.Dir = filepath.Join(s.out, checkpointsName)
		s.study.Options.Metrics = metrics
	}
	// An unknown name is told by study.New.
	if world, err := worlds.Find(s.study.World); err == nil && world.Small {
		s.study.Options.Rollout.States = rollout.ShownTexts
	}
	st, err := study.New(ctx, s.study)
	if err != nil {
		if ctx.Err() != nil {
			return r, err
		}
		return r, fmt.Errorf("%w: %w", errInput, err)
	}
	r.Params = st.Model.NumParams()
	p.say("%s on %s: %s of %d parameters, %d tokens, seed %d", r.Algorithm, r.World, r.Model, r.Params, st.Problem.Tokenizer.Vocab(), r.Seed)
	if s.out != "" {
		if s.resume {
			r.all, err = resume(s.out, st.Trainer)
		} else {
			err = begin(s.out)
		}
		if err == nil {
			err = s.save()
		}
		if err != nil {
			return r, err
		}
		r.begun = true
		if err := metrics.open(s.out); err != nil {
			return r, err
		}
		defer metrics.close()
	}
	if n := r.iterations(); n > 0 {
		p.say("going on after iteration %d", n)
		p.number = n
	} else if err := st.Prepare(ctx); err != nil {
		return r, err
	}
	p.training = true
	for it, err := range st.Run(ctx) {
		if err != nil {
			if e := r.keep(s.out, st.Trainer); e != nil {
				return r, fmt.Errorf("%v, and then: %w", err, e)
			}
			return r, err
		}
		r.all = append(r.all, it)
		p.iteration(it)
		if s.out != "" && it.Evaluation != nil {
			if err := r.draw(s.out); err != nil {
				return r, err
			}
		}
	}
	p.training = false
	if r.summarise(); r.BestIteration != nil {
		if err := st.RestoreBest(); err != nil {
			return r, err
		}
	}
	for _, split := range worlds.Splits()[1:] {
		e, err := st.Evaluate(ctx, split)
		if err != nil {
			return r, err
		}
		r.Evaluations = append(r.Evaluations, e)
	}
	if s.out != "" {
		return r, errors.Join(r.draw(s.out), saveModel(s.out, st.Model, st.Problem.Tokenizer), r.save(s.out))
	}
	return r, nil
}

// list prints the names of the algorithms and the worlds.
func list(ctx context.Context, w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "Algorithms, with the tasks and rollouts of an iteration:")
	for _, a := range train.Algorithms() {
		fmt.Fprintf(tw, "  %s\t%d x %d\t%s\n", a.Name, a.Tasks, a.Rollouts, a.About)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	fmt.Fprintln(tw, "Worlds, with the most turns of an episode:")
	for _, world := range worlds.All() {
		d, err := world.Describe(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(tw, "  %s\t%d\t%s\n", world.Name, d.MaxTurns, d.About)
	}
	return tw.Flush()
}

// terminal reports whether f shows text to a person.
func terminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

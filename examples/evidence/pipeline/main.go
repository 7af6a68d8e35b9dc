// Command pipeline runs the main job for several seeds and shows whether training helps on held-out tasks, and whether equal seeds write equal
// artifacts.
//
//	go run ./examples/evidence/pipeline [-quick] [-json] [-seeds N]
//		[-endpoint URL -model NAME [-key-env NAME] [-allow-http] [-tasks N] [-at-once N] [-stream] [-retries N] [-price IN,OUT [-max-cost N]]]
//
// Every run is the one of "go run ./examples/pipeline -quick", training by SAPO. The output is deterministic. Each success rate is over 233 tasks
// that were not trained on: test tasks in the unmodified environment, validation tasks for the warm start without skills and with them; but for those
// on the training tasks that the rigger accepted, behind their components.
// The trained parameters are those of the best evaluation on validation tasks, in the unmodified environment. A gain is that of the training
// iterations over the warm start, paired by seed, with a 95 % bootstrap interval over seeds.
//
// With -endpoint and -model a model behind an OpenAI-compatible server acts in place of the policy, as examples/pipeline has it, with one seed
// unless -seeds says more. Nothing is trained then and nothing is run twice, and the output is another: success without and with the
// selected skills, and on what the rigger accepted for this model, of -tasks tasks each, and what was used. A seed takes some 1,000 requests and
// 2 million tokens of input with the default of -tasks. One request for a single token comes first, so that a wrong address, key or name of a
// model ends the run at once; one that fails later tells on standard error what was finished and used.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"text/tabwriter"

	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/mainjob"
	"github.com/throughline-go/throughline/internal/stat"
)

type evidence struct {
	Seeds     []seedRow `json:"seeds"`
	Improved  int       `json:"improved"`               // seeds with success_after > success_before
	Helped    int       `json:"helped"`                 // seeds with success_after > success_warm_start
	Gain      *gain     `json:"gain,omitempty"`         // in the unmodified environment; absent with fewer than 5 seeds
	Wrapped   *gain     `json:"gain_wrapped,omitempty"` // on accepted tasks, behind their components
	Identical bool      `json:"identical"`              // the first seed, run again with another number of workers, wrote the same artifacts
}

type seedRow struct {
	Seed             uint64  `json:"seed"`
	SuccessBefore    float64 `json:"success_before"`
	SuccessWarmStart float64 `json:"success_warm_start"`
	SuccessAfter     float64 `json:"success_after"`
	NoSkills         float64 `json:"validation_no_skills"` // warm start without skills
	WithSkills       float64 `json:"validation_skills"`
	WrappedWarmStart float64 `json:"wrapped_warm_start"`
	WrappedAfter     float64 `json:"wrapped_after"`
}

type gain struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	seeds := flag.Int("seeds", 10, "number of `seeds`, from 1")
	quick := flag.Bool("quick", false, "seed 1 alone, which is run twice, about 50 s on two cores")
	asJSON := flag.Bool("json", false, "print JSON instead of a table")
	acting := endpoint.Register(flag.CommandLine, 10, "tasks of each split that the model plays, a fifth of them rigged "+
		"(10 take some 1,000 requests and 2 million tokens of input, for each seed)")
	flag.Parse()
	if *seeds < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "pipeline: -seeds must be at least 1, and there are no arguments")
		os.Exit(2)
	}
	model, err := acting.Open(os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pipeline:", err)
		os.Exit(2)
	}
	if *quick || model != nil && !acting.Given("seeds") {
		*seeds = 1
	}
	var e interface{ print(io.Writer, bool) error }
	if model == nil {
		e, err = run(ctx, *seeds)
	} else {
		e, err = runModel(ctx, model, *seeds)
	}
	if err == nil {
		err = e.print(os.Stdout, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pipeline:", err)
		model.Account(os.Stderr, "pipeline")
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, seeds int) (*evidence, error) {
	dir, err := os.MkdirTemp("", "pipeline")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	e := &evidence{}
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		r, err := mainjob.Run(ctx, mainjob.Config{Seed: seed, Quick: true, Workers: runtime.NumCPU()})
		if err != nil {
			return nil, err
		}
		row := seedRow{seed, r.Report.Training.SuccessBefore, r.WarmStart, r.Report.Training.SuccessAfter,
			r.NoSkills, r.Curve[0].Validation, *r.Report.Environment.SuccessWrapped, r.Wrapped}
		if row.SuccessAfter > row.SuccessBefore {
			e.Improved++
		}
		if row.SuccessAfter > row.SuccessWarmStart {
			e.Helped++
		}
		e.Seeds = append(e.Seeds, row)
		if seed > 1 {
			continue
		}
		again, err := mainjob.Run(ctx, mainjob.Config{Seed: seed, Quick: true, Workers: runtime.NumCPU() + 1})
		if err != nil {
			return nil, err
		}
		first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
		if err := errors.Join(r.Write(first), again.Write(second)); err != nil {
			return nil, err
		}
		if e.Identical, err = equal(first, second); err != nil {
			return nil, err
		}
	}
	if len(e.Seeds) < 5 {
		return e, nil
	}
	if e.Gain, err = e.gain(func(s seedRow) (before, after float64) { return s.SuccessWarmStart, s.SuccessAfter }); err != nil {
		return nil, err
	}
	e.Wrapped, err = e.gain(func(s seedRow) (before, after float64) { return s.WrappedWarmStart, s.WrappedAfter })
	return e, err
}

func (e *evidence) gain(rates func(seedRow) (before, after float64)) (*gain, error) {
	before, after := make([]float64, len(e.Seeds)), make([]float64, len(e.Seeds))
	for i, s := range e.Seeds {
		before[i], after[i] = rates(s)
	}
	d, err := stat.PairedDifference(after, before, nil)
	return &gain{d.Mean, d.Interval.Lo, d.Interval.Hi}, err
}

// equal reports whether two folders hold the same files.
func equal(a, b string) (bool, error) {
	fa, errA := contents(os.DirFS(a))
	fb, errB := contents(os.DirFS(b))
	return maps.Equal(fa, fb), errors.Join(errA, errB)
}

// contents maps the path of every file to what it holds.
func contents(dir fs.FS) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, path)
		files[path] = string(data)
		return err
	})
	return files, err
}

func (e *evidence) print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "seed\tuntrained\twarm start\ttrained\tvalidation: without skills\twith\taccepted: warm start\ttrained\t")
	for _, s := range e.Seeds {
		fmt.Fprintf(t, "%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", s.Seed, s.SuccessBefore, s.SuccessWarmStart, s.SuccessAfter, s.NoSkills,
			s.WithSkills, s.WrappedWarmStart, s.WrappedAfter)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, g := range []struct {
		where string
		*gain
	}{{"unmodified environment", e.Gain}, {"accepted tasks behind their components", e.Wrapped}} {
		if g.gain != nil {
			fmt.Fprintf(w, "\ngain of training over the warm start, %s: %.3f, 95 %% interval [%.3f, %.3f]", g.where, g.Mean, g.Low, g.High)
		}
	}
	_, err := fmt.Fprintf(w, "\n\ntrained above untrained with %d of %d seeds, above the warm start with %d; equal seeds wrote equal artifacts: %v\n",
		e.Improved, len(e.Seeds), e.Helped, e.Identical)
	return err
}

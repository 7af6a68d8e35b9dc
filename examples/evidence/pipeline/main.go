// Command pipeline runs the main job for several seeds and shows whether training helps on held-out tasks, and whether equal seeds write equal
// artifacts.
//
//	go run ./examples/evidence/pipeline [-quick] [-json] [-seeds N]
//
// Every run is the one of "go run ./examples/pipeline -quick". The output is deterministic. Each success rate is over 120 tasks: untrained and
// trained are on held-out test tasks, the two of the warm start on validation tasks.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"text/tabwriter"

	"github.com/throughline-go/throughline/examples/internal/mainjob"
)

type evidence struct {
	Seeds     []seedRow `json:"seeds"`
	Improved  int       `json:"improved"`  // seeds with success_after > success_before
	Identical bool      `json:"identical"` // the first seed, run again with another number of workers, wrote the same artifacts
}

type seedRow struct {
	Seed           uint64  `json:"seed"`
	SuccessBefore  float64 `json:"success_before"`
	SuccessAfter   float64 `json:"success_after"`
	SuccessBase    float64 `json:"success_base"`
	SuccessWrapped float64 `json:"success_wrapped"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	seeds := flag.Int("seeds", 10, "number of `seeds`, from 1")
	quick := flag.Bool("quick", false, "seed 1 alone, about 20 s on two cores")
	asJSON := flag.Bool("json", false, "print JSON instead of a table")
	flag.Parse()
	if *seeds < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "pipeline: -seeds must be at least 1, and there are no arguments")
		os.Exit(2)
	}
	if *quick {
		*seeds = 1
	}
	e, err := run(ctx, *seeds)
	if err == nil {
		err = e.print(os.Stdout, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pipeline:", err)
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
		row := seedRow{seed, r.Report.Training.SuccessBefore, r.Report.Training.SuccessAfter,
			r.Report.Environment.SuccessBase, r.Report.Environment.SuccessWrapped}
		if row.SuccessAfter > row.SuccessBefore {
			e.Improved++
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
	return e, nil
}

// equal reports whether two folders hold the same files.
func equal(a, b string) (bool, error) {
	count := func(dir string) (n int, err error) {
		err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			n++
			return err
		})
		return n, err
	}
	na, err := count(a)
	if err != nil {
		return false, err
	}
	nb, err := count(b)
	if err != nil || na != nb {
		return false, err
	}
	same := true
	err = filepath.WalkDir(a, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(a, path)
		if err != nil {
			return err
		}
		x, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		y, err := os.ReadFile(filepath.Join(b, rel))
		same = same && bytes.Equal(x, y)
		return err
	})
	return same, err
}

func (e *evidence) print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "seed\tuntrained\ttrained\twarm start, unmodified\twarm start, wrapped\t")
	for _, s := range e.Seeds {
		fmt.Fprintf(t, "%d\t%.3f\t%.3f\t%.3f\t%.3f\t\n", s.Seed, s.SuccessBefore, s.SuccessAfter, s.SuccessBase, s.SuccessWrapped)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\ntraining helped with %d of %d seeds; equal seeds wrote equal artifacts: %v\n", e.Improved, len(e.Seeds), e.Identical)
	return err
}

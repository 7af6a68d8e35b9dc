package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/build"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/native"
)

// A resumeResult is about builds that are killed.
type resumeResult struct {
	Kills     int  `json:"kills"`
	Finished  int  `json:"finished"` // corpora that were complete in the end
	Files     int  `json:"files"`    // of a corpus, with its manifests
	Identical bool `json:"identical"`
}

// A workersResult is about builds by several workers and processes.
type workersResult struct {
	Workers   []int `json:"workers"`
	World     int   `json:"world"` // ranks of a build by several processes
	Files     int   `json:"files"`
	Identical bool  `json:"identical"`
}

// An input is a source of given documents that can be read in parts.
type input []document.Document

// Documents yields them.
func (in input) Documents(context.Context, func(midtool.Rejection)) iter.Seq2[document.Document, error] {
	return func(yield func(document.Document, error) bool) {
		for _, d := range in {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Split cuts them into parts.
func (in input) Split(_ context.Context, size int) ([]document.Source, error) {
	if size < 1 {
		return nil, fmt.Errorf("size is %d, want at least 1", size)
	}
	var out []document.Source
	for part := range slices.Chunk(in, size) {
		out = append(out, part)
	}
	return out, nil
}

// Digest hashes them.
func (in input) Digest(context.Context) (string, error) {
	h := sha256.New()
	for _, d := range in {
		fmt.Fprintf(h, "%q %q %q\n", d.ID, d.Kind, d.Text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// project describes a corpus that has something for every stage to do: documents of every kind, copies, faults, and items of a
// benchmark.
func project(dir string, documents int) (*build.Options, error) {
	w := newWriter(6)
	bench := ownBenchmark(w, 30)
	inputs := make(map[document.Kind]input)
	for i := range documents {
		kind := kinds[i%len(kinds)]
		d := w.document(kind, fmt.Sprintf("%06d", i))
		switch all := inputs[kind]; {
		case i%23 == 22:
			d.Text = strings.Repeat(d.Text, 3)
		case i%29 == 28:
			d.Text += bench.Items[i%len(bench.Items)].Text + "\n"
		case i%19 == 18 && len(all) > 0:
			d.Text = all[len(all)/2].Text + w.word() + "\n"
		}
		inputs[kind] = append(inputs[kind], d)
	}
	tools, err := ownTools()
	if err != nil {
		return nil, err
	}
	o := &build.Options{Dir: dir, Seed: seed, Tools: tools, Native: native.Options{Samples: documents / 2},
		Benchmarks: []decontaminate.Benchmark{bench}, Shards: 4, ShardRecords: max(1, documents/40)}
	for _, kind := range kinds {
		o.Documents = append(o.Documents, build.Input{Name: string(kind), Source: inputs[kind]})
	}
	for _, name := range []string{"plain", "openai"} {
		o.Outputs = append(o.Outputs, build.Output{Name: name, Ext: ".jsonl", New: func(w io.Writer) (build.Sink, error) {
			return format.NewWriter(w, name, nil)
		}})
	}
	return o, nil
}

// buildLoudly builds the corpus, and writes a line to the standard output for every step, so that whoever started it can kill it anywhere.
func buildLoudly(ctx context.Context, dir string, documents int) error {
	o, err := project(dir, documents)
	if err != nil {
		return err
	}
	o.Progress = func(stage string, done, _ int) { fmt.Println(stage, done) }
	_, err = build.Run(ctx, o)
	return err
}

// resume kills builds until it has killed enough, each after some steps, and lets every corpus be completed in the end.
func (e *evidence) resume(ctx context.Context, s effort, start starter) error {
	root, err := os.MkdirTemp("", "throughline-corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	untouched := filepath.Join(root, "untouched")
	_, steps, err := stepsOf(ctx, start, untouched, s.corpus, 0)
	if err != nil {
		return err
	}
	want, err := hashes(untouched)
	if err != nil {
		return err
	}
	r := &e.Resume
	r.Files, r.Identical = len(want), true
	random := rand.New(rand.NewPCG(seed, 7))
	for number := 0; r.Kills < s.kills; number++ {
		dir := filepath.Join(root, fmt.Sprint("killed-", number))
		for {
			after := 0 // never
			if r.Kills < s.kills {
				after = 1 + random.IntN(max(1, steps/3))
			}
			killed, _, err := stepsOf(ctx, start, dir, s.corpus, after)
			if err != nil {
				return err
			}
			if !killed {
				break
			}
			r.Kills++
		}
		got, err := hashes(dir)
		if err != nil {
			return err
		}
		r.Finished++
		if other := differing(want, got); len(other) > 0 {
			r.Identical = false
			e.claim(false, "resume: after kills %d files differ, such as %s", len(other), other[0])
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if number > 10*s.kills {
			return fmt.Errorf("%d builds came to their end, and %d were killed", number, r.Kills)
		}
	}
	e.claim(r.Kills >= 10, "resume: %d kills, want at least 10", r.Kills)
	return nil
}

// stepsOf starts a process, counts its steps, and kills it after some; 0 lets it be.
func stepsOf(ctx context.Context, start starter, dir string, documents, after int) (killed bool, steps int, err error) {
	cmd, err := start(ctx, dir, documents)
	if err != nil {
		return false, 0, err
	}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, 0, err
	}
	if err := cmd.Start(); err != nil {
		return false, 0, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if steps++; steps == after {
			killed = true
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return false, 0, err
			}
		}
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return false, 0, ctx.Err()
	case err == nil:
		return false, steps, nil // it was faster
	case killed:
		return true, steps, nil
	}
	return false, 0, fmt.Errorf("a build failed: %w: %s", err, said.String())
}

// workers builds the same corpus in several ways.
func (e *evidence) workers(ctx context.Context, s effort) error {
	root, err := os.MkdirTemp("", "throughline-corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	r := &e.Workers
	*r = workersResult{Workers: []int{1, 4}, World: 3, Identical: true}
	var want map[string]string
	for _, way := range []struct {
		name           string
		workers, world int
	}{{"1 worker", 1, 1}, {"4 workers", 4, 1}, {"3 ranks", 2, 3}} {
		dir := filepath.Join(root, strings.ReplaceAll(way.name, " ", "-"))
		o, err := project(dir, s.corpus)
		if err != nil {
			return err
		}
		o.Workers, o.World = way.workers, way.world
		if err := ranks(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		got, err := hashes(dir)
		if err != nil {
			return err
		}
		if want == nil {
			want, r.Files = got, len(got)
			continue
		}
		if other := differing(want, got); len(other) > 0 {
			r.Identical = false
			e.claim(false, "workers: by %s %d files differ from those by 1 worker, such as %s", way.name, len(other), other[0])
		}
	}
	return nil
}

// ranks runs all ranks in turn until the corpus is complete.
func ranks(ctx context.Context, o *build.Options) error {
	for range 4 {
		for rank := range o.World {
			o.Rank = rank
			_, err := build.Run(ctx, o)
			if err == nil && rank == o.World-1 {
				return nil
			}
			if err != nil && !errors.Is(err, build.ErrIncomplete) {
				return err
			}
		}
	}
	return errors.New("the corpus is never complete")
}

// hashes reads a corpus: the hash of every file but locks, by name.
func hashes(dir string) (map[string]string, error) {
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || strings.Contains(filepath.ToSlash(name), "/locks/") {
			return err
		}
		data, err := os.ReadFile(path)
		out[filepath.ToSlash(name)] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	return out, err
}

// differing lists the files that only one has, or that are not the same.
func differing(a, b map[string]string) []string {
	var out []string
	for name, hash := range a {
		if b[name] != hash {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

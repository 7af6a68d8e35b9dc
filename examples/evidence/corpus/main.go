// Command corpus checks what the packages promise that make a corpus of documents and tools: dedup, decontaminate, quality, mix, format
// and build.
//
//	go run ./examples/evidence/corpus [-quick] [-json] [-data DIR]
//
// The parts, in the order of the output:
//
//	dedup            copies with some words changed, among texts that are like no other. planted_found is the share that is found of those with a
//	                 similarity of 0.9 or more, false_removed that of the other texts that is removed, largest_cluster the largest group.
//	                 by_similarity compares how often a copy and its original are candidates with the formula, and says how many are removed.
//	                 regression has figures on the definitions of real tools, beside those that were counted before by another program:
//	                 the share removed if likeness is passed on, the same if only pairs alike by 0.8 are joined, and the largest group, each
//	                 of shingles of words in the whole JSON with its keys, of words in its values alone, and of characters in the whole
//	                 JSON. By the whole JSON, which is how the other program was described, more words are removed than it counted, by
//	                 more than a point: this is listed as a difference. By the values alone the figures agree, which was found by trying, and
//	                 does not prove that it counted so. content is what package dedup makes of the same tools
//	decontamination  items of a benchmark in several disguises: planted and found, by kind; planted_found is the worst share of those that must
//	                 be found. false_hits counts hits in what has nothing to do with the benchmark, and with a function of which only the
//	                 name was changed. real_tools counts hits of the benchmark in the definitions of real tools, for which nothing is claimed
//	quality          for each kind of document: in how many sound ones a fault was planted, one each; caught, the share that is then
//	                 rejected; named, the share rejected by the rule that is meant for it; clean_rejected, the share of sound ones that are
//	mix              share_error, the largest difference between a source's share of the tokens and that which it should have; with enough of
//	                 everything, and where a source is scarce
//	writers          documents and conversations in each form, written and read again: how many were written, skipped for a reason, and
//	                 came back as something else
//	resume           a process that builds a corpus is killed, again and again; identical says whether what came of it in the end is the corpus
//	                 of a process that nobody killed, byte for byte
//	workers          whether builds by 1 and by 4 workers, and by three processes, are identical
//
// The public data is not part of the module: it is found in the folder that -data or the environment variable THROUGHLINE_DATA names. Without
// it the regression is skipped, and the benchmark is one of this program. Everything is the same in every run but where a process is killed. The
// exit status is 1 if a claim does not hold; each is named in the output. What differs from an earlier count and is known to is named there
// too, and is no failure. With -quick there is less of everything.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"text/tabwriter"
)

// evidence is what was found out.
type evidence struct {
	Quick           bool                     `json:"quick"`
	Skipped         string                   `json:"skipped,omitempty"` // which parts there is no data for
	Dedup           dedupResult              `json:"dedup"`
	Decontamination decontaminationResult    `json:"decontamination"`
	Quality         map[string]qualityResult `json:"quality"` // by kind of document
	Mix             mixResult                `json:"mix"`
	Writers         writersResult            `json:"writers"`
	Resume          resumeResult             `json:"resume"`
	Workers         workersResult            `json:"workers"`
	Differences     []string                 `json:"differences,omitempty"` // from what was counted before, in words
	Failures        []string                 `json:"failures,omitempty"`    // what does not hold, in words
}

// An effort says how much is done.
type effort struct {
	quick   bool
	texts   int // that are like no other
	copies  int // of each degree of change
	leaks   int // of each kind
	sound   int // documents of each kind for quality
	units   int // to be mixed
	samples int // of each branch to be written, about
	corpus  int // documents of a build
	kills   int
}

var (
	full    = effort{texts: 50_000, copies: 1000, leaks: 500, sound: 1000, units: 200_000, samples: 3000, corpus: 2000, kills: 30}
	quickly = effort{quick: true, texts: 8000, copies: 300, leaks: 200, sound: 200, units: 20_000, samples: 500, corpus: 500, kills: 10}
)

// seed of everything that is made here.
const seed = 1

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "do less of everything")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	data := flag.String("data", os.Getenv("THROUGHLINE_DATA"), "`folder` of public data; empty skips what needs it")
	child := flag.String("build", "", "only build a corpus in a `folder`: what the part resume kills")
	documents := flag.Int("documents", quickly.corpus, "of that corpus")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "corpus: want no arguments")
		os.Exit(2)
	}
	if *child != "" {
		exit(buildLoudly(ctx, *child, *documents))
		return
	}
	progress := func(string) {}
	if info, err := os.Stderr.Stat(); !*asJSON || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	effort := full
	if *quick {
		effort = quickly
	}
	e, err := run(ctx, *data, effort, itself, progress)
	if err == nil {
		err = e.write(os.Stdout, *asJSON)
	}
	if err == nil {
		err = e.failure()
	}
	exit(err)
}

func exit(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "corpus:", err)
	if errors.Is(err, context.Canceled) {
		os.Exit(130)
	}
	os.Exit(1)
}

// itself starts this program to build a corpus.
func itself(ctx context.Context, dir string, documents int) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, program, "-build", dir, "-documents", fmt.Sprint(documents)), nil
}

// A starter starts a process that builds a corpus of so many documents in a folder by [buildLoudly].
type starter func(ctx context.Context, dir string, documents int) (*exec.Cmd, error)

// run goes through the parts.
func run(ctx context.Context, data string, s effort, start starter, progress func(string)) (*evidence, error) {
	e := &evidence{Quick: s.quick}
	if data == "" {
		e.Skipped = "dedup.regression, decontamination of public data: no data, name its folder by -data or THROUGHLINE_DATA"
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"dedup", func() error { return e.dedup(ctx, data, s) }},
		{"decontamination", func() error { return e.decontamination(ctx, data, s) }},
		{"quality", func() error { return e.quality(ctx, s) }},
		{"mix", func() error { return e.mix(s) }},
		{"writers", func() error { return e.writers(ctx, s) }},
		{"resume", func() error { return e.resume(ctx, s, start) }},
		{"workers", func() error { return e.workers(ctx, s) }},
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress(part.name)
		if err := part.run(); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return e, nil
}

// claim notes what does not hold.
func (e *evidence) claim(holds bool, format string, of ...any) {
	if !holds {
		e.Failures = append(e.Failures, fmt.Sprintf(format, of...))
	}
}

// differs notes a known difference.
func (e *evidence) differs(format string, of ...any) {
	e.Differences = append(e.Differences, fmt.Sprintf(format, of...))
}

// failure returns an error that says how much does not hold, or nil.
func (e *evidence) failure() error {
	if len(e.Failures) == 0 {
		return nil
	}
	return fmt.Errorf("%d claims do not hold, the first: %s", len(e.Failures), e.Failures[0])
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
	if e.Skipped != "" {
		line("skipped: %s\n", e.Skipped)
	}
	e.Dedup.write(line)
	e.Decontamination.write(line)
	line("\nquality\tsound\trejected\tplanted\tcaught\tby its rule")
	for _, kind := range slices.Sorted(maps.Keys(e.Quality)) {
		q := e.Quality[kind]
		line("%s\t%d\t%.1f %%\t%d\t%.1f %%\t%.1f %%", kind, q.Sound, 100*q.CleanRejected, q.Planted, 100*q.Caught, 100*q.Named)
	}
	line("\nmix: shares off by %.4f, of a scarce source by %.4f, of tiers by %.4f", e.Mix.ShareError, e.Mix.Scaled, e.Mix.TierError)
	line("\nform\twritten\tskipped\tnot as they were")
	for _, name := range slices.Sorted(maps.Keys(e.Writers.Formats)) {
		f := e.Writers.Formats[name]
		line("%s\t%d\t%s\t%d", name, f.Written, counts(f.Skipped), f.Failed)
	}
	line("\nresume: %d kills, %d times to the end, identical %v", e.Resume.Kills, e.Resume.Finished, e.Resume.Identical)
	line("workers: %d files, identical %v", e.Workers.Files, e.Workers.Identical)
	for _, d := range e.Differences {
		line("DIFFERS %s", d)
	}
	for _, f := range e.Failures {
		line("FAILED %s", f)
	}
	return t.Flush()
}

// counts writes a map in the order of its keys.
func counts(of map[string]int) string {
	s := ""
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("%s %d", k, of[k])
	}
	if s == "" {
		return "none"
	}
	return s
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

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
	"runtime"
	"strings"

	"github.com/throughline-go/throughline/midtool/build"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/mix"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, terminal(os.Stderr))
	stop()
	os.Exit(code)
}

// settings are the flags.
type settings struct {
	tools, openapi, skills, docs, code, web, benchmarks string

	out, formats, license, shortfall            string
	seed                                        uint64
	budget, samples, rank, world, workers, size int
	own, screen, redo, json                     bool
}

// errInput is what the caller can mend.
var errInput = errors.New("input")

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, bar bool) int {
	var s settings
	flags := flag.NewFlagSet("corpus", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.tools, "tools", "", "JSONL `file` of tools, as an MCP server lists them")
	flags.StringVar(&s.openapi, "openapi", "", "OpenAPI document, or folder of them: a `path`")
	flags.StringVar(&s.skills, "skills", "", "`folder` of SKILL.md folders")
	flags.StringVar(&s.docs, "docs", "", "`folder` of documents: Markdown, HTML, plain text, PDF")
	flags.StringVar(&s.code, "code", "", "`folder` of source code")
	flags.StringVar(&s.web, "web", "", "JSONL `file` of web text")
	flags.StringVar(&s.benchmarks, "benchmarks", "", "`files` of benchmarks, separated by commas; what they hold is left out")
	flags.StringVar(&s.out, "out", "", "`folder` of the corpus; the same command goes on where it stopped. Empty: a temporary one that is removed")
	flags.StringVar(&s.formats, "format", "plain", "`names` of what is written, separated by commas: "+strings.Join(formats(), ", "))
	flags.StringVar(&s.license, "license", "", "SPDX `name` of the license of files that state none")
	flags.BoolVar(&s.own, "own", false, "files that state no license are your own")
	flags.BoolVar(&s.screen, "screen", false, "of the web text, take what speaks of tools alone")
	flags.IntVar(&s.budget, "budget", 0, "`tokens` of the corpus; 0: as many as the shares allow")
	flags.StringVar(&s.shortfall, "shortfall", "", "what to do where a source is short of its share: "+strings.Join(policies(), ", ")+"; empty: scale")
	flags.IntVar(&s.samples, "samples", 0, "planned samples of the tools, a `number`; 0: by the tools' quality and parameters")
	flags.IntVar(&s.size, "part", 0, "documents or samples of a part that is done or not, a `number`; 0: 10,000")
	flags.Uint64Var(&s.seed, "seed", 1, "random `number`; the same seed gives the same bytes")
	flags.IntVar(&s.rank, "rank", 0, "`number` of this process among those that build in -out together, from 0")
	flags.IntVar(&s.world, "world", 1, "`number` of processes that build in -out together")
	flags.IntVar(&s.workers, "workers", runtime.NumCPU(), "goroutines, a `number`; changes the speed alone")
	flags.BoolVar(&s.redo, "redo", false, "mix and write anew with other -budget, -shortfall and -format, and keep what was read and made")
	flags.BoolVar(&s.json, "json", false, "print the report as JSON instead of a table")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	p := &progress{w: stderr, bar: bar}
	fail := func(err error) int {
		p.finish()
		switch {
		case errors.Is(err, context.Canceled):
			fmt.Fprintln(stderr, "corpus: interrupted; the same command goes on from here")
			return 130
		case errors.Is(err, build.ErrIncomplete):
			fmt.Fprintln(stderr, "corpus:", strings.TrimPrefix(err.Error(), "build: "))
			return 3
		case errors.Is(err, errInput):
			_, text, _ := strings.Cut(err.Error(), errInput.Error()+": ")
			fmt.Fprintln(stderr, "corpus:", text)
			return 2
		case errors.Is(err, build.ErrConfiguration), errors.Is(err, build.ErrLocked):
			fmt.Fprintln(stderr, "corpus:", strings.TrimPrefix(err.Error(), "build: "))
			return 2
		}
		fmt.Fprintln(stderr, "corpus:", err)
		return 1
	}
	if flags.NArg() > 0 {
		return fail(fmt.Errorf("%w: unexpected argument %q", errInput, flags.Arg(0)))
	}
	kept := s.out != ""
	if !kept {
		dir, err := os.MkdirTemp("", "corpus")
		if err != nil {
			return fail(err)
		}
		defer os.RemoveAll(dir)
		s.out = filepath.Join(dir, "corpus")
	}
	o, done, err := s.options(ctx)
	if err != nil {
		return fail(err)
	}
	defer done()
	o.Progress = p.show
	report, err := build.Run(ctx, o)
	if err != nil {
		return fail(err)
	}
	p.finish()
	if s.json {
		err = writeJSON(stdout, report)
	} else if err = table(stdout, report); err == nil {
		if kept {
			_, err = fmt.Fprintf(stdout, "\nThe corpus is in %s; what was left out, and why, is in %s.\n", s.out, filepath.Join(s.out, "report.md"))
		} else {
			_, err = fmt.Fprintln(stdout, "\nNothing was kept: give -out FOLDER for that.")
		}
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

func formats() []string {
	var out []string
	for _, name := range format.Names() {
		if name != "pretokenized" { // that needs a tokenizer
			out = append(out, name)
		}
	}
	return append(out, "parquet")
}

func policies() []string {
	return []string{string(mix.Scale), string(mix.Under), string(mix.Strict), string(mix.Repeat)}
}

// terminal reports whether f shows text to a person.
func terminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

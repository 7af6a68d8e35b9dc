package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/bfcl"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// settings are the flags.
type settings struct {
	data, outputs, category string
	gold, short, dots, json bool
	failures                int
}

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("bfcl", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.data, "data", "", "`folder` of the leaderboard's files; empty: bfcl in $THROUGHLINE_DATA")
	flags.StringVar(&s.outputs, "outputs", "", "`file` of the answers of a model")
	flags.StringVar(&s.category, "category", "", "the only `category` to score; empty: all that have answers")
	flags.BoolVar(&s.gold, "gold", false, "score the gold answers instead of a model's")
	flags.BoolVar(&s.short, "short", false, "with -gold: leave out the parameters that may be")
	flags.BoolVar(&s.dots, "dots", false, "expect a_b for a function a.b")
	flags.IntVar(&s.failures, "v", 0, "show the first `N` failures")
	flags.BoolVar(&s.json, "json", false, "write the report as JSON")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	fail := func(code int, err error) int {
		fmt.Fprintln(stderr, "bfcl:", strings.TrimPrefix(err.Error(), "bfcl: "))
		return code
	}
	if s.data == "" && os.Getenv("THROUGHLINE_DATA") != "" {
		s.data = filepath.Join(os.Getenv("THROUGHLINE_DATA"), "bfcl")
	}
	switch {
	case flags.NArg() > 0:
		return fail(2, fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	case s.data == "":
		return fail(2, errors.New("-data is missing, and THROUGHLINE_DATA is not set"))
	case s.gold == (s.outputs != ""):
		return fail(2, errors.New("want one of -outputs and -gold"))
	case s.short && !s.gold:
		return fail(2, errors.New("-short is of use with -gold alone"))
	case s.failures < 0:
		return fail(2, fmt.Errorf("-v is %d, want 0 or more", s.failures))
	}
	report, err := s.report(ctx, stderr)
	if err == nil {
		err = s.write(stdout, report)
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "bfcl: interrupted")
		return 130
	case err != nil:
		return fail(1, err)
	}
	return 0
}

// report reads the files and scores the answers.
func (s *settings) report(ctx context.Context, stderr io.Writer) (*bfcl.Report, error) {
	files, err := categories(s.data)
	if err != nil {
		return nil, err
	}
	var outputs []bfcl.Output
	wanted := map[string]bool{}
	if !s.gold {
		if outputs, err = read(s.outputs, bfcl.ReadOutputs); err != nil {
			return nil, err
		}
		for _, o := range outputs {
			wanted[categoryOf(o.ID)] = true
		}
	}
	var tasks []bfcl.Task
	found := false
	for _, f := range files {
		switch {
		case s.category != "" && f.category != s.category:
			continue
		case s.category == "" && (f.executed() || s.gold && f.answers == "" || !s.gold && !wanted[f.category]):
			if f.executed() && wanted[f.category] {
				fmt.Fprintf(stderr, "bfcl: %s is scored by running code and left out\n", f.category)
			}
			continue
		}
		found = true
		list, err := f.tasks()
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, list...)
	}
	if s.category != "" && !found {
		return nil, fmt.Errorf("no file of category %q in %s", s.category, s.data)
	}
	if s.gold {
		if outputs, err = goldOutputs(ctx, tasks, s.short); err != nil {
			return nil, err
		}
	} else if s.category != "" {
		outputs = slices.DeleteFunc(outputs, func(o bfcl.Output) bool { return categoryOf(o.ID) != s.category })
	}
	return bfcl.Evaluate(ctx, tasks, outputs, &bfcl.Options{DotsToUnderscores: s.dots})
}

// goldOutputs turns gold into answers, where it can be written as calls.
func goldOutputs(ctx context.Context, tasks []bfcl.Task, short bool) ([]bfcl.Output, error) {
	var outputs []bfcl.Output
	for i := range tasks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := bfcl.NewChecker(tasks[i], nil); err != nil {
			return nil, err
		}
		calls, err := tasks[i].GoldCalls(short)
		if err != nil {
			continue // source text of a list or an object
		}
		list := make([]map[string]json.RawMessage, len(calls))
		for j, c := range calls {
			list[j] = map[string]json.RawMessage{c.Name: c.Arguments}
		}
		result, err := json.Marshal(list)
		if err != nil {
			return nil, fmt.Errorf("task %s: %w", tasks[i].ID, err)
		}
		outputs = append(outputs, bfcl.Output{ID: tasks[i].ID, Result: result})
	}
	return outputs, nil
}

func categoryOf(id string) string { return id[:max(0, strings.LastIndexByte(id, '_'))] }

// files are those of one category.
type files struct {
	category, questions string
	answers             string // empty where there is no gold
}

// executed says whether the category is scored by running code.
func (f *files) executed() bool {
	return slices.ContainsFunc([]string{"multi_turn", "memory", "web_search"}, func(word string) bool { return strings.Contains(f.category, word) })
}

// categories finds the files BFCL_vN_CATEGORY.json, in the order of their names.
func categories(dir string) ([]files, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []files
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "BFCL_v")
		_, name, versioned := strings.Cut(rest, "_")
		name, json := strings.CutSuffix(name, ".json")
		if !ok || !versioned || !json || e.IsDir() {
			continue
		}
		f := files{category: name, questions: filepath.Join(dir, e.Name())}
		answers := filepath.Join(dir, "possible_answer", e.Name())
		if _, err := os.Stat(answers); err == nil {
			f.answers = answers
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no file BFCL_v4_CATEGORY.json", dir)
	}
	return all, nil
}

func (f *files) tasks() ([]bfcl.Task, error) {
	tasks, err := read(f.questions, bfcl.ReadTasks)
	if err != nil {
		return nil, err
	}
	for i := range tasks {
		if tasks[i].Category != f.category {
			return nil, fmt.Errorf("%s: task %q is not of this category", f.questions, tasks[i].ID)
		}
	}
	if f.answers == "" {
		return tasks, nil
	}
	answers, err := read(f.answers, bfcl.ReadAnswers)
	if err != nil {
		return nil, err
	}
	return tasks, bfcl.Join(tasks, answers)
}

// read collects the rows of a file.
func read[T any](name string, rows func(io.Reader, string) iter.Seq2[T, error]) ([]T, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []T
	for row, err := range rows(f, name) {
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}

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
	"reflect"
	"strings"

	"github.com/throughline-go/throughline/examples/internal/method"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/token"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit code. It may leave a read of stdin behind.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("credit", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: credit -method NAME [flags] [FILE ...]")
		flags.PrintDefaults()
	}
	f := filter{stdout: stdout, stderr: stderr}
	flags.StringVar(&f.method, "method", "", "`name` of the estimator, see -list")
	options := flags.String("options", "", "options of the estimator, a `JSON` object, see -list")
	flags.StringVar(&f.format, "in", "", "`format` of the input, rows or trajectories; empty: the first line tells")
	flags.BoolVar(&f.batches, "batches", false, "an empty line ends a batch, which is then answered; else the whole input is one")
	flags.BoolVar(&f.diagnostics, "diagnostics", false, "describe what the credit of each batch can teach, as a line of JSON on standard error")
	flags.StringVar(&f.dot, "dot", "", "write the graphs of MileGPO to this `file`, in the language of Graphviz, anew for each batch")
	flags.BoolVar(&f.lenient, "lenient", false, "go on where no row has a column that the estimator reads: it is 0 or empty then")
	all := flags.Bool("list", false, "print the estimators with their options, a line of JSON each, or that of -method, and do nothing else")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	fail := func(code int, err error) int {
		fmt.Fprintln(stderr, "credit:", err)
		return code
	}
	if *all {
		if _, err := method.Find(f.method); f.method != "" && err != nil {
			return fail(2, err)
		}
		if err := list(stdout, f.method); err != nil {
			return fail(1, err)
		}
		return 0
	}
	switch f.format {
	case "", formatRows, formatTrajectories:
	default:
		return fail(2, fmt.Errorf("-in is %q, want rows or trajectories", f.format))
	}
	if err := f.choose(*options); err != nil {
		return fail(2, err)
	}
	switch err := f.run(ctx, flags.Args(), stdin); {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "credit: interrupted; nothing of the last batch was written")
		return 130
	case err != nil:
		return fail(1, err)
	}
	return 0
}

// choose binds the estimator.
func (f *filter) choose(options string) error {
	if f.method == "" {
		return errors.New("-method is missing, see -list")
	}
	m, err := method.Find(f.method)
	if err != nil {
		return err
	}
	var o any
	if f.estimate, o, err = m.Bind(options); err != nil {
		return err
	}
	needs, _, _ := strings.Cut(m.Reads, ";")
	if needs != "" {
		f.reads = strings.Split(needs, ", ")
	}
	switch o := o.(type) {
	case *rl.GraphGPOOptions:
		f.successAbove = o.SuccessAbove
	case *rl.MileGPOOptions:
		f.successAbove = o.SuccessAbove
	}
	if beta(o) > 0 {
		f.reads = append(f.reads, "logprobs", "ref_logprobs")
	}
	if f.dot == "" {
		return nil
	}
	var ok bool
	if f.mile, ok = o.(*rl.MileGPOOptions); !ok {
		return fmt.Errorf("-dot needs the method milegpo or milegpo-webshop: %s has no graph to write", f.method)
	}
	return nil
}

// beta returns the coefficient of the divergence in the rewards, 0 where options have none.
func beta(options any) float64 {
	switch o := options.(type) {
	case *token.GAEOptions:
		return o.KLPenalty
	case *token.ReinforcePPOptions:
		return o.KLPenalty
	}
	return 0
}

// list writes all methods, or the one of a name.
func list(w io.Writer, name string) error {
	enc := json.NewEncoder(w)
	for _, m := range method.All() {
		if name != "" && m.Name != name {
			continue
		}
		o := m.Options()
		t := reflect.TypeOf(o).Elem()
		if err := enc.Encode(struct {
			Method  string `json:"method"`
			Reads   string `json:"reads"`
			Options any    `json:"options"`
			Doc     string `json:"doc"`
		}{m.Name, m.Reads, o, t.PkgPath() + "." + t.Name()}); err != nil {
			return err
		}
	}
	return nil
}

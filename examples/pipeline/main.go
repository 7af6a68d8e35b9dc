// Command pipeline runs Throughline's main job end to end on a small world that it brings along, a service desk with an in-memory database:
// build a training corpus from the desk's tools, its handbook and recorded plans, induce skills from recorded episodes, select skills under
// a token budget, reshape the environment, train a small language model as a policy and evaluate it on held-out tasks.
//
//	go run ./examples/pipeline [-quick] [-seed N] [-budget N] [-algo NAME] [-tools FILE.jsonl] [-openapi FILE] [-docs DIR] [-skills DIR] [-out DIR]
//		[-workers N] [-json]
//		[-endpoint URL -model NAME [-key-env NAME] [-allow-http] [-tasks N] [-at-once N] [-stream] [-retries N] [-price IN,OUT [-max-cost N]]]
//
// The corpus mixes both branches of synthetic supervision: samples of all kinds that are made of tools, and documents with the questions
// and conversations that are grounded in them. What repeats itself is left out. Documents get at most half of the tokens; examples/corpus
// builds corpora that do not fit into memory.
//
// The policy is a transformer of 41,000 parameters that starts from nothing. It imitates what the mix holds, as far as it can be played:
// first the conversations with the desk's tools and the recorded plans of the compact preset of the desk together, then these plans alone.
// It is then trained by -algo, SAPO unless another is named, on tasks without plans. The best of the selected skills is part of what it
// reads. What is printed before the closing table is its learning curve: turns played, success in training, 30 % of it on tasks that the
// rigger changed for this policy, and success on validation tasks in the desk as it is. The parameters of the best evaluation on that curve
// are those that the table is about; test tasks decide nothing.
//
// With -endpoint and -model a model behind an OpenAI-compatible server acts in place of the small policy. It is measured on validation tasks,
// test tasks and the held-out family, -tasks of each, without the selected skills and with them as part of what it is told first; one training
// task for five of these is rigged for it, in at most 47 episodes, and four episodes of each are recorded and given credit, by -algo if that
// needs no critic and else by gigpo. With the default of 10 that is 68 episodes of up to 12 turns, and up to 110 for the rigger and what it
// accepts. Nothing is trained, as there are no weights behind an endpoint: the table compares without and with skills, and so do
// training.success_before and success_after of -json, on test tasks; "endpoint" in it is what was played and used. Episodes that the server
// spoils are invalid and in no rate; if it spoils all of a part, the run fails. Answers of a model differ from run to run. The key is read
// from the variable that -key-env names, and shown nowhere.
//
// What that costs is of the order of 1,000 requests and 2 million tokens of input with the default of -tasks, in proportion to it, and at most
// some three times as much. One request for a single token comes before all work, so that a wrong address, key or name of a model ends the run
// at once. A run that fails later tells on standard error which parts were finished, with their rates, and what was used. In "endpoint" of
// -json, splits has the counts behind each rate; success_base and success_wrapped are null where no task was accepted.
//
// With -tools or -openapi the corpus is made of those tools, and without the desk's handbook; the policy then imitates the desk's plans
// alone. With -docs the documents are those of the folder. With -tools, -openapi or -skills a further selection runs on those files, and
// the selection numbers of -json are that one's. What is left out of the files is told on standard error. The same seed writes the same
// artifacts. Exit codes: 0 done, 1 failed, 2 bad flags or input, 130 interrupted.
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
	"runtime"
	"strings"
	"time"

	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/mainjob"
	"github.com/throughline-go/throughline/rl/train"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, terminal(os.Stderr))
	stop()
	os.Exit(code)
}

// shown is how many of the accepted tasks are told in words.
const shown = 6

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, bar bool) int {
	start := time.Now()
	flags := flag.NewFlagSet("pipeline", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var cfg mainjob.Config
	flags.Uint64Var(&cfg.Seed, "seed", 1, "random `number`; the same seed writes the same artifacts")
	flags.BoolVar(&cfg.Quick, "quick", false, "smaller run, under 30 s on 2 cores")
	flags.StringVar(&cfg.Tools, "tools", "", "build the corpus from the tools in this JSONL `file`, and select among them")
	flags.StringVar(&cfg.OpenAPI, "openapi", "",
		"build the corpus from the operations of this OpenAPI `file`, or of those in a folder, and those of -tools")
	flags.StringVar(&cfg.Docs, "docs", "", "read the documents below this `folder` in place of the desk's handbook")
	flags.StringVar(&cfg.Skills, "skills", "", "select among the SKILL.md folders below this `folder`")
	flags.IntVar(&cfg.Budget, "budget", 0, "most `tokens` of one selection; 0 means 200, and 2000 for files of your own")
	var names []string
	for _, a := range train.Algorithms() {
		names = append(names, a.Name)
	}
	flags.StringVar(&cfg.Algorithm, "algo", "sapo", "`name` of what trains the policy, one of "+strings.Join(names, ", "))
	flags.IntVar(&cfg.Workers, "workers", runtime.NumCPU(), "`number` of episodes and of parts of a batch worked on at once; changes the speed alone")
	model := endpoint.Register(flags, 10,
		"tasks of each split that the model plays, a fifth of them rigged (10 take some 1,000 requests and 2 million tokens of input)")
	out := flags.String("out", "",
		"write corpus.jsonl, documents.jsonl, skills/, environments.json, trajectories.jsonl and metrics.json to this `folder`")
	asJSON := flags.Bool("json", false, "print one JSON object instead of the table")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	fail := func(err error) int {
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(stderr, "pipeline: interrupted; nothing was written")
			cfg.Model.Account(stderr, "pipeline")
			return 130
		}
		fmt.Fprintln(stderr, "pipeline:", err)
		cfg.Model.Account(stderr, "pipeline")
		if errors.Is(err, mainjob.ErrInput) {
			return 2
		}
		return 1
	}
	if flags.NArg() > 0 {
		return fail(fmt.Errorf("%w: unexpected argument %q", mainjob.ErrInput, flags.Arg(0)))
	}
	var err error
	if cfg.Model, err = model.Open(os.Getenv); err != nil {
		return fail(fmt.Errorf("%w: %w", mainjob.ErrInput, err))
	}
	if *out != "" {
		if err := mainjob.CheckOut(*out, cfg.Tools, cfg.OpenAPI, cfg.Docs, cfg.Skills); err != nil {
			return fail(err)
		}
	}
	p := progress{w: stderr, bar: bar}
	cfg.Progress = p.show
	cfg.Warn = p.warn
	res, err := mainjob.Run(ctx, cfg)
	p.finish()
	if err != nil {
		return fail(err)
	}
	if *out != "" {
		if err := res.Write(*out); err != nil {
			return fail(err)
		}
	}
	res.Report.Seconds = time.Since(start).Seconds()
	if *asJSON {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(res.Report); err != nil {
			return fail(err)
		}
		return 0
	}
	if cfg.Model == nil {
		err = res.LearningCurve(stdout)
	} else {
		_, err = fmt.Fprintln(stdout, res.Report.Endpoint)
	}
	if err == nil && len(res.Rigged.Items) > 0 {
		fmt.Fprintln(stdout)
		err = res.Accepted(stdout, shown)
	}
	if err == nil {
		fmt.Fprintln(stdout)
		err = res.Table(stdout)
	}
	if err != nil {
		return fail(err)
	}
	fmt.Fprintf(stdout, "\n%.1f s with seed %d", res.Report.Seconds, cfg.Seed)
	if *out != "" {
		fmt.Fprintf(stdout, "; artifacts in %s", *out)
	}
	fmt.Fprintln(stdout)
	return 0
}

// terminal reports whether f shows text to a person.
func terminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

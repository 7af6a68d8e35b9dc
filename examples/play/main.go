// Command play lets a person play a reference world in the terminal, or shows how a model plays it.
//
//	go run ./examples/play [-world NAME] [-split NAME] [-task ID | -n INDEX] [-list]
//	    [-endpoint URL -model NAME [-key-env NAME] [-allow-http] [-stream] [-retries N] [-price IN,OUT [-max-cost N]]]
//
// It shows what a policy is shown: the text, and below it the admissible actions with numbers. Answer with a number, with an action in words, or
// with anything else that the world's tools may take: a tool's name and its arguments, in the order of their names or as a JSON object. In
// a world whose one tool takes a line of text, as the household's does, the line alone is enough. A refused action takes a turn, as it
// does for a policy. Nothing but plain text is written.
//
// Further answers: "o" asks the oracle what to do next, "u" takes the last action back, "a" shows the actions again, "?" helps, "q" leaves. In
// the end the actions are played once more through a harness, and its verdict is shown.
//
// With -endpoint and -model a model behind an OpenAI-compatible server plays in place of the person. The exit code is 1 if the server fails so
// that there is no verdict.
//
// Without -world the worlds are listed, with -list the tasks of the split. Input may come from a pipe; it is then repeated in the output. Exit
// codes: 0 done, whatever the verdict, 1 failed, 2 bad flags or input, 130 interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"text/tabwriter"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

func main() {
	info, err := os.Stdin.Stat()
	piped := err != nil || info.Mode()&os.ModeCharDevice == 0
	// An interrupt ends the process as usual, but where a model plays: a read from the terminal would not hear of a context.
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, piped))
}

// run is main without the process: it returns the exit code. Echo repeats the input in the output.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, echo bool) int {
	flags := flag.NewFlagSet("play", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("world", "", "`name` of the world; empty lists the worlds")
	split := flags.String("split", "train", "`name` of the split that the task is taken from: train, validation, test or ood")
	id := flags.String("task", "", "`id` of the task")
	index := flags.Int("n", 0, "`index` of the task in the split, from 0")
	list := flags.Bool("list", false, "list the tasks of the split instead of playing")
	model := endpoint.Register(flags, 0, "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	fail := func(code int, err error) int {
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(stderr, "play: interrupted")
			return 130
		}
		fmt.Fprintln(stderr, "play:", err)
		return code
	}
	if flags.NArg() > 0 {
		return fail(2, fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	}
	plays, err := model.Open(os.Getenv)
	if err != nil {
		return fail(2, err)
	}
	if *name == "" {
		if err := listWorlds(ctx, stdout); err != nil {
			return fail(1, err)
		}
		return 0
	}
	world, err := worlds.Find(*name)
	if err != nil {
		return fail(2, err)
	}
	task := envharness.Task{ID: *id}
	if *id == "" || *list {
		tasks, err := world.Tasks(ctx, *split)
		if err != nil {
			return fail(2, err)
		}
		if *list {
			if err := listTasks(stdout, tasks); err != nil {
				return fail(1, err)
			}
			return 0
		}
		if *index < 0 || *index >= len(tasks) {
			return fail(2, fmt.Errorf("index %d is not below %d, the number of tasks in %s", *index, len(tasks), *split))
		}
		task = tasks[*index]
	}
	g := &game{world: world, task: task, in: newLines(stdin), out: stdout, echo: echo}
	play := g.play
	if plays != nil {
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
		play = func(ctx context.Context) error { return g.watch(ctx, plays) }
	}
	if err := play(ctx); err != nil {
		if errors.Is(err, envharness.ErrNoTask) {
			return fail(2, err)
		}
		return fail(1, err)
	}
	return 0
}

func listWorlds(ctx context.Context, w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WORLD\tTURNS\tTOOLS")
	for _, world := range worlds.All() {
		d, err := world.Describe(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%d\t", world.Name, d.MaxTurns)
		for i, tool := range d.Tools {
			if i > 0 {
				fmt.Fprint(t, ", ")
			}
			fmt.Fprint(t, tool.Name)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func listTasks(w io.Writer, tasks []envharness.Task) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "INDEX\tTASK\tFAMILY")
	for i, task := range tasks {
		fmt.Fprintf(t, "%d\t%s\t%s\n", i, task.ID, task.Family)
	}
	return t.Flush()
}

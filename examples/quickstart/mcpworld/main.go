// Command mcpworld makes an environment of a server of the Model Context Protocol, puts components around it, and plays an episode.
//
//	go run ./examples/quickstart/mcpworld [-memory] [-spec FILE] [-out FILE]
//
// The server is the stockroom of package mcptest, which this program itself is when it is started for that; with -memory it is npm's
// @modelcontextprotocol/server-memory, whose program mcp-server-memory must be installed. World, components and task are read from a
// specification. Two policies play: one knows the solution and tries again what failed for no lasting reason, the other goes on. The
// verdict is about what the server shows in the end, not about what it answered.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// serve is the argument that makes this program a server. The folder of the episode follows it.
const serve = "serve-stockroom"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) == 3 && os.Args[1] == serve {
		err = mcptest.Serve(ctx, &mcptest.Options{File: filepath.Join(os.Args[2], "stock.json"), Items: stock})
	} else {
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mcpworld:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	set := flag.NewFlagSet("mcpworld", flag.ContinueOnError)
	set.SetOutput(errs)
	memory := set.Bool("memory", false, "wrap npm's server-memory, which must be installed")
	file := set.String("spec", "", "`file` with another specification, of one of the two worlds")
	record := set.String("out", "", "`file` for the traces, one JSON object a line")
	if err := set.Parse(args); err != nil {
		return err
	}
	data := []byte(stockroomSpec)
	if *memory {
		data = []byte(memorySpec)
	}
	if *file != "" {
		var err error
		if data, err = os.ReadFile(*file); err != nil {
			return err
		}
	}
	registry := components.Catalogue()
	solution, err := addWorlds(registry)
	if err != nil {
		return err
	}
	spec, err := registry.Decode(data)
	if err != nil {
		return err
	}
	world, stack, task, err := registry.Build(spec)
	if err != nil {
		return err
	}
	if spec.Env.Tag == "memory" {
		if _, err := exec.LookPath(memoryServer); err != nil {
			return fmt.Errorf("%s is not installed: npm has it as @modelcontextprotocol/server-memory", memoryServer)
		}
	}
	for _, c := range stack {
		fmt.Fprintln(out, c)
	}
	tries := []bool{true, false}
	traces, err := envharness.Rollouts(ctx, world, stack, func(slot int) (envharness.Policy, error) {
		return &player{plan: solution[spec.Env.Tag], again: tries[slot]}, nil
	}, []envharness.Task{task, task}, nil)
	if err != nil {
		return err
	}
	for i, t := range traces {
		fmt.Fprintf(out, "\n%s (tries again: %v)\n", t.Shown.Text, tries[i])
		for _, turn := range t.Turns {
			answer := "done"
			if turn.Shown.Error != nil {
				answer = turn.Shown.Error.Message
			}
			fmt.Fprintf(out, "  %s: %s\n", turn.Proposed, answer)
		}
		fmt.Fprintf(out, "%s\n", strings.Join(slices.DeleteFunc([]string{t.Verdict.Status.String(), t.Verdict.Reason, t.Cause},
			func(s string) bool { return s == "" }), ": "))
	}
	if *record == "" {
		return nil
	}
	return write(*record, traces)
}

// write writes traces, one JSON object a line.
func write(name string, traces []envharness.Trace) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	for _, t := range traces {
		if err := enc.Encode(t); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// A player makes the calls of a plan.
type player struct {
	plan  []envharness.Action
	again bool // a call that failed for no lasting reason
	next  int
}

// Act implements envharness.Policy.
func (p *player) Act(_ context.Context, t envharness.Turn) (envharness.Action, error) {
	if p.again && t.Error != nil && t.Error.Retryable {
		p.next--
	}
	if p.next == len(p.plan) {
		return envharness.Action{}, envharness.ErrStop
	}
	p.next++
	return p.plan[p.next-1], nil
}

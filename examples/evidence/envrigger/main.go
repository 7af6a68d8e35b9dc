// Command envrigger shows what the rigger accepts and what it refuses: how often the gate takes a candidate that is too hard, too easy or
// lucky, whether hostile components are refused and flaws that were planted are found, what the gate costs beside other ways to choose
// components, and whether training on what was accepted helps.
//
//	go run ./examples/evidence/envrigger [-quick] [-json] [-seeds N]
//		[-endpoint URL -model NAME [-design] [-key-env NAME] [-allow-http] [-tasks N] [-at-once N] [-stream] [-retries N]
//			[-price IN,OUT [-max-cost N]]]
//
// Gate: candidates around tasks of three worlds, for scripted policies whose true success rate behind each candidate is measured with 1,000
// rollouts of its own. Far is a true rate outside [.05, .95], near one that misses [.25, .75] by more than 0.15. Attempts count that came to rollouts
// of the policy: what the checks before them refuse says nothing about the statistics. The paper's preset has the same candidates and policies.
//
// Detectors: policies of several worlds with a planted flaw, and without any.
//
// Designers: the same tasks and policies, each way to choose components with the same limits.
//
// Training, which -quick leaves out: a small transformer learns to play from a teacher with a flaw. From these parameters it is trained
// twice with equal numbers of environment steps, on the original training tasks, and on these and what the rigger accepted for the policy
// in one round. The rollouts that rigging took are steps too: a third run on the original tasks gets them on top.
//
// All of it is deterministic.
//
// With -endpoint and -model a model behind an OpenAI-compatible server is the policy that is watched and rigged, in place of all of these, whose
// policies have a known rate or flaw: what it passes of -tasks training tasks of three worlds, the flaws that its episodes show, and what the gate
// accepted for it, of the rules' candidates or, with -design, of its own. A task takes 5 episodes, and at most 68. What the server spoils is
// played again once and is no failure of the model; a task that cannot be judged ends as infra. Another run gives other answers.
//
// With the default of -tasks that takes some 1,000 requests and 2 million tokens of input, in proportion to it, and at most some five times as
// much, as where many candidates come as far as the gate. One request for a single token comes first, so that a wrong address, key or name of a model
// ends the run at once; one that fails later tells on standard error what was finished and used.
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
	"text/tabwriter"

	"github.com/throughline-go/throughline/examples/internal/endpoint"
)

// evidence is what was found out.
type evidence struct {
	Quick     bool                       `json:"quick"`
	Gate      gateResult                 `json:"gate"`
	Hostile   []hostileResult            `json:"hostile"`
	Detectors detectorsResult            `json:"detectors"`
	Presets   map[string]presetResult    `json:"presets"`
	Designers map[string]*designerResult `json:"designers"`
	Training  []trainingResult           `json:"training,omitempty"`
	Model     *modelResult               `json:"-"` // alone, if there is one
	Failures  []string                   `json:"failures,omitempty"`
}

// size is how much of everything there is.
type size struct {
	candidates int // at least
	truth      int // rollouts that measure a true rate
	episodes   int // of a policy with a planted flaw
	tasks      int // of each world for the comparison of designers
	seeds      int // of training
}

var (
	full    = size{candidates: 240, truth: 1000, episodes: 20, tasks: 12, seeds: 3}
	quickly = size{candidates: 44, truth: 200, episodes: 10, tasks: 2}
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "fewer candidates and tasks, and no training: about 15 s on two cores")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	seeds := flag.Int("seeds", full.seeds, "`number` of seeds of training, from 1")
	only := flag.String("only", "", "one `part` alone: gate, hostile, detectors, designers or training")
	model := endpoint.Register(flag.CommandLine, 2,
		"training tasks of each world that are rigged for the model (2 take some 1,000 requests and 2 million tokens of input, or up to 5 times that)")
	design := flag.Bool("design", false, "let the model propose the components too, with -endpoint")
	flag.Parse()
	if flag.NArg() > 0 || *seeds < 1 {
		fmt.Fprintln(os.Stderr, "envrigger: want no arguments, and at least one seed")
		os.Exit(2)
	}
	acting, err := open(model, *design, *only, os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "envrigger:", err)
		os.Exit(2)
	}
	s := full
	s.seeds = *seeds
	if *quick {
		s = quickly
	}
	progress := func(string) {}
	if info, err := os.Stderr.Stat(); !*asJSON || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	var e *evidence
	if acting == nil {
		e, err = run(ctx, s, *quick, *only, progress)
	} else {
		e = &evidence{Quick: *quick}
		err = e.model(ctx, *acting, progress)
	}
	if err == nil {
		err = e.write(os.Stdout, *asJSON)
	}
	if err == nil && len(e.Failures) > 0 {
		err = fmt.Errorf("%d claims do not hold, the first: %s", len(e.Failures), e.Failures[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "envrigger:", err)
		if acting != nil {
			acting.Account(os.Stderr, "envrigger")
		}
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, s size, quick bool, only string, progress func(string)) (*evidence, error) {
	e := &evidence{Quick: quick}
	parts := []struct {
		name string
		run  func(context.Context, size) error
	}{{"gate", e.gate}, {"hostile", e.hostile}, {"detectors", e.detectors}, {"designers", e.designers}, {"training", e.training}}
	known := only == ""
	for _, part := range parts {
		if only != "" && only != part.name || s.seeds == 0 && part.name == "training" {
			continue
		}
		known = true
		progress(part.name)
		if err := part.run(ctx, s); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !known {
		return nil, fmt.Errorf("no part %q", only)
	}
	return e, nil
}

// claim notes what does not hold.
func (e *evidence) claim(holds bool, format string, of ...any) {
	if !holds {
		e.Failures = append(e.Failures, fmt.Sprintf(format, of...))
	}
}

func (e *evidence) write(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if e.Model != nil {
			return enc.Encode(struct {
				Model    *modelResult `json:"model"`
				Failures []string     `json:"failures,omitempty"`
			}{e.Model, e.Failures})
		}
		return enc.Encode(e)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, of ...any) { fmt.Fprintf(t, format+"\n", of...) } // an error of w comes back from Flush
	e.writeGate(line)
	e.writeDetectors(line)
	e.writeDesigners(line)
	e.writeTraining(line)
	e.writeModel(line)
	for _, f := range e.Failures {
		line("FAILED %s", f)
	}
	return t.Flush()
}

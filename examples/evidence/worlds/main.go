// Command worlds checks the reference worlds: that each can be solved, that knowing nothing does not solve it, and how fast it is.
//
//	go run ./examples/evidence/worlds [-quick] [-json] [-data DIR]
//	    [-endpoint URL -model NAME [-key-env NAME] [-allow-http] [-worlds NAMES] [-tasks N] [-at-once N] [-stream] [-retries N]
//	        [-price IN,OUT [-max-cost N]]]
//
// For every world it reports:
//
//	tasks             how many there are in each split; no two have the same id
//	shared            how many validation, test and ood tasks start as a training task does (state and text), have a first text
//	                  that one has (shared text), or a sentence and an oracle's plan that one has (shared plan). No start is shared but in
//	                  worlds where that is inevitable: keydoor has few layouts, and in the chains episodes of a setting are alike or differ
//	                  in a few bits. How much of text and plan is shared says what a score on the test split means: where that is nearly
//	                  all, a policy is asked for what it has learned, not for something new
//	oracle            the share of the first 1,000 tasks of each split that the oracle passes, and its mean number of turns. It knows what is
//	                  hidden, so its rate is no bound that a policy can be expected to reach; but each of its actions is listed as admissible
//	                  when its turn comes, so that a policy that chooses from the list can be taught by it
//	null              the pass rates of policies that know nothing: an unknown call each turn (noop), a random admissible one (random), the
//	                  call that ends the episode (submit), one random admissible call over and over (repeat); over up to 1,000 episodes on
//	                  validation, test and ood tasks. They pass at most 2 %, or in a world with a declared chance rate so few that the lower
//	                  end of the Wilson interval at 95 % is not above it. This is the plain rule for each of some 40 pairs of world and
//	                  policy, without a correction for their number: seeds are fixed, so that it holds in every run or in none. In the
//	                  JSON, order has the rates of always the first and always the last admissible action; nothing is claimed of them. (Last passes
//	                  all of ood in the discounting chains, where the bonus is then on the last chain.)
//	shown             the longest episode, the longest text in words and the longest list of actions that oracle and random policy saw
//	model             with -endpoint, the pass rate of that model on -tasks test tasks of each world but the chains, or of those that -worlds names.
//	                  Episodes that its server spoilt are invalid and not in the rate. Nothing is claimed of it. By default that takes
//	                  some 1,000 requests and 3 million tokens of input, in proportion to -tasks. One request for a single token comes
//	                  before all work, so that a wrong address, key or name of a model ends the run at once; so does a world none of whose
//	                  episodes can be judged. What was finished and used until then is told on standard error
//	speed             steps a second of the bare environment under random admissible actions on one goroutine, its allocations, the cost of
//	                  a reset, in the fastest of five spells; this differs between machines and runs, and fails nothing
//
// All verdicts are those of a harness, which replays each episode. Below the worlds stand the walkthroughs: expert solutions of ALFWorld's
// training games, each carried out in a household made to fit it. Some need the rule that an object may be in two receptacles at once, which
// ALFWorld's domain allows; solved_in_one_place counts those that do not. They are found in the folder that -data or the environment variable
// THROUGHLINE_DATA names, and skipped without.
//
// All but the speed and the model is the same in every run. The exit status is 1 if a claim does not hold; each is named in the output. With -quick
// fewer tasks and episodes are played, and of more than 14,000 training tasks and 1,000 others a sample is compared.
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
	"os/signal"
	"slices"
	"text/tabwriter"

	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// evidence is what was found out.
type evidence struct {
	Quick        bool                    `json:"quick"`
	Worlds       map[string]*worldResult `json:"worlds"`
	Walkthroughs walkthroughResult       `json:"walkthroughs"`
	Claims       claims                  `json:"claims"`
	Endpoint     *endpoint.Usage         `json:"endpoint,omitempty"` // of the model, if there is one
	Failures     []string                `json:"failures,omitempty"` // what does not hold, in words

	order []string // of the worlds
}

// claims are what must hold. Each is false as soon as one case breaks it.
type claims struct {
	Splits       bool `json:"splits"`       // every split has tasks, and no id occurs twice
	Starts       bool `json:"starts"`       // no held-out task starts as a training task does, where that can be had
	Oracle       bool `json:"oracle"`       // passes all tasks
	Listed       bool `json:"listed"`       // the oracle's actions are among the admissible ones, each in its turn
	Null         bool `json:"null"`         // at most 2 %, or the Wilson 95 % lower bound at most the declared chance rate
	Small        bool `json:"small"`        // a compact preset has at most 12 turns, and texts of at most 40 words
	Vocabulary   bool `json:"vocabulary"`   // texts and actions are made of the declared words
	Walkthroughs bool `json:"walkthroughs"` // at least 99 % are solved; true where they are skipped
}

func allHold() claims { return claims{true, true, true, true, true, true, true, true} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "play fewer tasks and episodes")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	data := flag.String("data", os.Getenv("THROUGHLINE_DATA"), "`folder` of public data; empty skips what needs it")
	model := endpoint.Register(flag.CommandLine, 5,
		"test tasks of each world that the model plays (5 take some 1,000 requests and 3 million tokens of input)")
	names := flag.String("worlds", "", "`names` of the worlds that the model plays, separated by commas, with -endpoint; empty means all but the chains")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "worlds: want no arguments")
		os.Exit(2)
	}
	acts, err := model.Open(os.Getenv)
	var player *acting
	if err == nil {
		player, err = choose(acts, *names)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worlds:", err)
		os.Exit(2)
	}
	progress := func(string) {}
	if info, err := os.Stderr.Stat(); !*asJSON || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	effort := full
	if *quick {
		effort = quickly
	}
	effort.model = player
	if player != nil {
		err = player.Reach(ctx)
	}
	var e *evidence
	if err == nil {
		e, err = run(ctx, worlds.All(), effort, *data, progress)
	}
	if err == nil {
		err = e.write(os.Stdout, *asJSON)
	}
	if err == nil {
		err = e.failure()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worlds:", err)
		if player != nil {
			player.Account(os.Stderr, "worlds")
		}
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

// run measures the worlds, then the walkthroughs.
func run(ctx context.Context, all []worlds.World, s effort, data string, progress func(string)) (*evidence, error) {
	e := &evidence{Quick: s.quick, Worlds: make(map[string]*worldResult), Claims: allHold()}
	for _, w := range all {
		progress(w.Name)
		r, err := e.measure(ctx, w, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		e.Worlds[w.Name] = r
		e.order = append(e.order, w.Name)
	}
	if s.model != nil {
		e.Endpoint = new(s.model.Usage())
	}
	progress("walkthroughs")
	var err error
	if e.Walkthroughs, err = runWalkthroughs(ctx, data, s); err != nil {
		return nil, fmt.Errorf("walkthroughs: %w", err)
	}
	if w := e.Walkthroughs; w.Skipped == "" {
		e.claim(&e.Claims.Walkthroughs, 100*w.Solved >= 99*w.Total, "walkthroughs: %s of %d are solved, want 99 %%", w.solved(), w.Total)
	}
	return e, ctx.Err()
}

// claim notes what does not hold.
func (e *evidence) claim(which *bool, holds bool, format string, of ...any) {
	if !holds {
		*which = false
		e.Failures = append(e.Failures, fmt.Sprintf(format, of...))
	}
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
	line("world\ttrain\tvalidation\ttest\tood\toracle\tmean turns\tnoop\trandom\tsubmit\trepeat\tchance\tturns\twords\tactions")
	for _, name := range e.order {
		r := e.Worlds[name]
		n, o := r.Tasks, r.Oracle
		line("%s\t%d\t%d\t%d\t%d\t%s\t%.2f\t%s\t%s\t%s\t%s\t%.2f\t%d\t%d\t%d", name, n.Train, n.Validation, n.Test, n.OOD, percent(o.Passed), o.MeanTurns,
			percent(r.Null["noop"]), percent(r.Null["random"]), percent(r.Null["submit"]), percent(r.Null["repeat"]),
			r.Chance, r.Shown.Turns, r.Shown.Words, r.Shown.Actions)
	}
	line("\nshared with train, of validation, test and ood\tstart\t\t\ttext\t\t\tsentence and plan")
	for _, name := range e.order {
		r := e.Worlds[name]
		note := ""
		if r.Repeats {
			note = "starts may repeat"
		}
		line("%s\t%s\t%s\t%s\t%s", name, r.SharedStart, r.SharedText, r.SharedPlan, note)
	}
	line("\nspeed, on one goroutine of this machine, now\tsteps/s\tallocations a step\treset\tslowest call, mean")
	for _, name := range e.order {
		r := e.Worlds[name]
		slowest := ""
		for _, tool := range slices.Sorted(maps.Keys(r.ToolMicros)) {
			if slowest == "" || r.ToolMicros[tool] > r.ToolMicros[slowest] {
				slowest = tool
			}
		}
		line("%s\t%.0f\t%.2f\t%.1f us\t%s %.1f us", name, r.StepsPerSecond, r.Allocations, r.ResetMicros, slowest, r.ToolMicros[slowest])
	}
	e.writeModel(line)
	e.Walkthroughs.write(line)
	c := e.Claims
	walkthroughs := fmt.Sprint(c.Walkthroughs)
	if e.Walkthroughs.Skipped != "" {
		walkthroughs = "skipped"
	}
	line("\nwhat holds: splits %v, starts %v, oracle %v, listed %v, null %v, small %v, vocabulary %v, walkthroughs %s",
		c.Splits, c.Starts, c.Oracle, c.Listed, c.Null, c.Small, c.Vocabulary, walkthroughs)
	for _, f := range e.Failures {
		line("FAILED %s", f)
	}
	return t.Flush()
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

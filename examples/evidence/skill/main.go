// Command skill checks what package skill and its sub-packages promise, on public skills, tasks and episodes.
//
//	go run ./examples/evidence/skill [-quick] [-json] [-data DIR]
//
// The parts, in the order of the output:
//
//	parser     every SKILL.md file is loaded or diagnosed, and what was loaded is written and read back unchanged
//	utility    the paper's score, its guards and the score of the memory as a whole for several sets of skills and tasks under the lexical
//	           embedder: medians over the skills, except memory_level, which is one number for all. placebo is what texts score that are off
//	           topic by construction: where it is as high as utility, read gated
//	figures    numbers that were measured before with the same formulas, and what comes out now; not_here has those that cannot be compared
//	induction  skills made of public episodes, on both levels and in both formats, and whether a value of an episode is left in any of them
//
// The sets are: alfworld_task and alfworld_subtask, skills induced here from the 18 demonstrations with thoughts, a thought
// opening a subtask, against the goals of the training games, composed from their ids; webarena, the functions of SkillWeaver by their
// docstrings against the intents of WebArena; voyager, its functions by their descriptions against their names as words, the names of the
// other libraries as well. A skill does not serve a task of the group that it comes from in memory_level.
//
// The data is not part of the module: it is found in the folder that -data or the environment variable THROUGHLINE_DATA names, and everything is
// skipped without. The output is the same in every run. The exit status is 1 if a claim does not hold; each is named in the output.
// With -quick fewer episodes are read.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"text/tabwriter"
)

// evidence is what was found out.
type evidence struct {
	Quick     bool                     `json:"quick"`
	Skipped   string                   `json:"skipped,omitempty"` // why there is nothing
	Embedder  string                   `json:"embedder,omitempty"`
	Parser    parserResult             `json:"parser"`
	Utility   map[string]utilityResult `json:"utility"`
	Figures   []figure                 `json:"figures"`
	NotHere   []absent                 `json:"not_here"`
	Induction inductionResult          `json:"induction"`
	Failures  []string                 `json:"failures,omitempty"` // what does not hold, in words

	order []string // of the sets
}

// A figure is a number that was measured before.
type figure struct {
	Name      string  `json:"name"`
	Want      float64 `json:"want"`
	Tolerance float64 `json:"tolerance"`
	Got       float64 `json:"got"`
}

func (f figure) holds() bool { return math.Abs(f.Got-f.Want) <= f.Tolerance }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "read fewer episodes")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	data := flag.String("data", os.Getenv("THROUGHLINE_DATA"), "`folder` of public data; empty skips everything")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "skill: want no arguments")
		os.Exit(2)
	}
	progress := func(string) {}
	if info, err := os.Stderr.Stat(); !*asJSON || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	e, err := run(ctx, *data, *quick, progress)
	if err == nil {
		err = e.write(os.Stdout, *asJSON)
	}
	if err == nil && len(e.Failures) > 0 {
		err = fmt.Errorf("%d claims do not hold, the first: %s", len(e.Failures), e.Failures[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "skill:", err)
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, data string, quick bool, progress func(string)) (*evidence, error) {
	e := &evidence{Quick: quick, Utility: make(map[string]utilityResult)}
	if data == "" {
		e.Skipped = "no data: name its folder by -data or THROUGHLINE_DATA"
		return e, nil
	}
	for _, part := range []struct {
		name string
		run  func(context.Context, string) error
	}{{"parser", e.parser}, {"utility", e.utility}, {"figures", e.figures}, {"induction", e.induction}} {
		progress(part.name)
		if err := part.run(ctx, data); err != nil {
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

// figure notes a number that was measured before.
func (e *evidence) figure(name string, want, tolerance, got float64) {
	f := figure{name, want, tolerance, got}
	e.Figures = append(e.Figures, f)
	e.claim(f.holds(), "figures: %s is %.4f, want %.4f within %g", name, got, want, tolerance)
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
		line("skipped: %s", e.Skipped)
		return t.Flush()
	}
	p := e.Parser
	line("parser: %d files, %d loaded, %d of these quarantined, %d with a diagnostic, %d lost, %d changed by writing and reading",
		p.Files, p.Loaded, p.Quarantined, p.Diagnosed, p.Lost, p.Changed)
	line("\nset\tskills\ttasks\tspecificity\tabstractness\tutility\tplacebo\tgated\tretrievable\tmemory level\tstatus")
	for _, name := range e.order {
		u := e.Utility[name]
		line("%s\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%s", name, u.Skills, u.Tasks, u.Specificity, u.Abstractness, u.Utility, u.Placebo,
			u.Gated, u.Retrievable, u.MemoryLevel, u.Status)
	}
	line("\nmeasured before\twas\tis\twithin\tholds")
	for _, f := range e.Figures {
		line("%s\t%.4f\t%.4f\t%g\t%v", f.Name, f.Want, f.Got, f.Tolerance, f.holds())
	}
	for _, a := range e.NotHere {
		line("not here: %s: %s", a.Figure, a.Reason)
	}
	i := e.Induction
	line("\ninduction: %d episodes, %d spans, %d skills, %d trivial spans, %d leaks; in one memory %d skills, %d were merged",
		i.Trajectories, i.Spans, i.Skills, i.Trivial, i.Leaks, i.Kept, i.Merged)
	for _, f := range e.Failures {
		line("FAILED %s", f)
	}
	return t.Flush()
}

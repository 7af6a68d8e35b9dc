// Command midtool checks what package midtool and its sub-packages promise, on tools of public servers and on the tasks of a public
// leaderboard.
//
//	go run ./examples/evidence/midtool [-quick] [-json] [-data DIR]
//
// The parts, in the order of the output:
//
//	schemas      the tools of public servers: how many can be normalized and compiled, for how many arguments can be made, and how many of
//	             these the schema then accepts. Each tool that falls out is named in dropped, with the reason
//	corpus       what is generated over these tools: the usable tools, the samples, what was rejected and why; abilities, families, and
//	             evidence, the share of each class among the arguments; diversity, over the first 100,000 words of each role
//	clean        untouched samples, and how many each rule rejects. read_back was written in the OpenAI form and read again; written was made
//	             by this program, for each tool, so that no filter has chosen them; replayed is as generated, with all calls executed again
//	validation   for each kind of fault: in how many clean samples it was planted, one fault each (of the corpus, and of one over the tools of
//	             this program in which recoveries are frequent); caught, the share in which the rule that is meant for it finds something;
//	             clean_rejected, the share of untouched samples that this rule rejects, in the worst set
//	bfcl         the leaderboard's checker: gold_pass, how many gold answers pass as they stand (full) and without what may be left out (short),
//	             against counts known before; golden_verdicts, how many verdicts of the reference are given alike; gold_evidence, the gold
//	             calls as conversations, with the share of arguments that stand literally in the question, and that no rule of evidence finds
//	speed        samples a second, generated and checked, at three sizes of the corpus, and checks a second; this differs between machines
//	             and runs, and fails nothing
//	hostile      inputs that nobody sends in good faith: each is reported, or kept without loss, and the message says how
//
// Where a claim is about samples of the generator, the generator has checked them itself, with the same rules: clean_rejected of the read_back
// and replayed sets is then a promise kept rather than a measurement. That of the written set and of the gold conversations is one.
//
// The data is not part of the module: it is found in the folder that -data or the environment variable THROUGHLINE_DATA names. Without it schemas
// and bfcl are skipped, and the other parts use the tools of this program. All but the speed is the same in every run. The exit status is
// 1 if a claim does not hold; each is named in the output. With -quick fewer samples are generated, and timed at one size only.
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
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/throughline-go/throughline/midtool"
)

// evidence is what was found out.
type evidence struct {
	Quick      bool                              `json:"quick"`
	Skipped    string                            `json:"skipped,omitempty"` // which parts there is no data for
	BFCL       bfclResult                        `json:"bfcl"`
	Schemas    schemasResult                     `json:"schemas"`
	Corpus     corpusResult                      `json:"corpus"`
	Abilities  map[midtool.Ability]int           `json:"abilities"`
	Families   map[midtool.Family]int            `json:"families"`
	Evidence   map[midtool.EvidenceClass]float64 `json:"evidence"`
	Diversity  map[midtool.Role]diversityResult  `json:"diversity"`
	Clean      map[string]cleanResult            `json:"clean"`
	Validation map[string]faultResult            `json:"validation"`
	Speed      speedResult                       `json:"speed"`
	Hostile    map[string]hostileResult          `json:"hostile"`
	Failures   []string                          `json:"failures,omitempty"` // what does not hold, in words

	kinds []string // of faults, in order
}

// An effort says how much is done.
type effort struct {
	quick   bool
	samples int // of the corpus; zero: what the tools are worth
	rare    int // samples for the faults that have few places in a corpus
	sizes   []size
}

// A size of a corpus to be timed.
type size struct {
	name    string
	samples int
}

var (
	full    = effort{rare: 8000, sizes: []size{{"1x", 1000}, {"10x", 10_000}, {"100x", 100_000}}}
	quickly = effort{quick: true, samples: 4000, rare: 8000, sizes: []size{{"1x", 1000}}}
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "generate fewer samples")
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	data := flag.String("data", os.Getenv("THROUGHLINE_DATA"), "`folder` of public data; empty skips what needs it")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "midtool: want no arguments")
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
	e, err := run(ctx, *data, effort, progress)
	if err == nil {
		err = e.write(os.Stdout, *asJSON)
	}
	if err == nil {
		err = e.failure()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "midtool:", err)
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

// run goes through the parts.
func run(ctx context.Context, data string, s effort, progress func(string)) (*evidence, error) {
	e := &evidence{Quick: s.quick}
	in := new(inputs)
	var err error
	if in.ownTools, err = ownTools(ctx); err != nil {
		return nil, err
	}
	if data == "" {
		e.Skipped = "schemas and bfcl: no data, name its folder by -data or THROUGHLINE_DATA"
	} else if in.realTools, err = midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: filepath.Join(data, "mcp", "tools.jsonl")}); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name  string
		needs bool // the data
		run   func() error
	}{
		{"schemas", true, func() error { return e.schemas(ctx, in) }},
		{"corpus", false, func() error { return e.corpus(ctx, in, s) }},
		{"validation", false, func() error { return e.validation(ctx, in) }},
		{"speed", false, func() error { return e.speed(ctx, in, s) }},
		{"bfcl", true, func() error { return e.bfcl(ctx, data) }},
		{"hostile", false, func() error { return e.hostile(ctx) }},
	} {
		if part.needs && data == "" {
			continue
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
	} else {
		r := e.Schemas
		line("schemas: %d tools, %d compiled, arguments made for %d, %d of these validated; %d were repaired with a loss", r.Tools, r.Compiled,
			r.Generated, r.Validated, r.Lossy)
		for _, d := range r.Dropped {
			line("dropped: %s", d)
		}
	}
	c := e.Corpus
	line("corpus: %d tools, %d samples, %d tokens, rejected %v", c.Tools, c.Samples, c.Tokens, c.Rejected)
	for _, d := range c.Dropped {
		line("dropped: %s", d)
	}
	line("families: %s", counts(e.Families))
	line("abilities: %s", counts(e.Abilities))
	line("\nsaid by\twords\tdistinct 1\t2\t3\t4\tlargest template")
	for _, role := range slices.Sorted(maps.Keys(e.Diversity)) {
		d := e.Diversity[role]
		line("%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f %%", role, d.Words, d.Distinct[0], d.Distinct[1], d.Distinct[2], d.Distinct[3], 100*d.Template)
	}
	line("\nevidence\tshare")
	for _, class := range slices.Sorted(maps.Keys(e.Evidence)) {
		line("%s\t%.2f %%", class, 100*e.Evidence[class])
	}
	line("\nclean samples\tnumber\trejected by")
	for _, name := range slices.Sorted(maps.Keys(e.Clean)) {
		line("%s\t%d\t%s", name, e.Clean[name].Samples, counts(e.Clean[name].Rejected))
	}
	line("\nfault\trule\tplanted\tcaught\tclean rejected")
	for _, kind := range e.kinds {
		f := e.Validation[kind]
		line("%s\t%s\t%d\t%.1f %%\t%.1f %%", kind, f.Rule, f.Planted, 100*f.Caught, 100*f.Rejected)
	}
	if e.Skipped == "" {
		e.BFCL.write(line)
	}
	line("\nspeed of this machine, now")
	for _, name := range slices.Sorted(maps.Keys(e.Speed.Samples)) {
		line("samples/s at %s\t%.0f", name, e.Speed.Samples[name])
	}
	line("checks/s\t%.0f", e.Speed.Checks)
	line("\nhostile input\toutcome\tmessage")
	for _, name := range slices.Sorted(maps.Keys(e.Hostile)) {
		line("%s\t%s\t%s", name, e.Hostile[name].Outcome, e.Hostile[name].Message)
	}
	for _, f := range e.Failures {
		line("FAILED %s", f)
	}
	return t.Flush()
}

// counts writes a map in the order of its keys.
func counts[K ~string](of map[K]int) string {
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

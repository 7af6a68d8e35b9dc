package native

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/simulate"
)

// Options adjusts [Generate]. A nil *Options equals &Options{}. All defaults are ours: MidTool does not disclose its
// numbers.
type Options struct {
	Seed uint64 // of every random choice

	// Samples is how many samples are planned, shared out over the groups in proportion to their budgets; zero means the
	// budgets themselves: min(BudgetCap, round(8 q sqrt(n) (1 + p/4))) for a group of n tools with a mean of p parameters
	// and quality q, the mean of five shares: tools with a description of 20 characters or more, described parameters,
	// tools normalized without loss, tools with at most 15 parameters, and distinct descriptions among the tools.
	Samples    int
	BudgetCap  int      // largest budget of a group; zero means 64
	MinQuality *float64 // groups of a lower quality are left out; in [0, 1]; nil means 0.3

	// Shares weighs the families; nil means single 30, parallel 15, sequential 12, multi_turn 8, missing_info 15,
	// missing_function 10, irrelevance 5, recovery 5. A family that a group cannot have gives its share to single.
	Shares map[midtool.Family]int

	Licenses     []string // allow-list of SPDX identifiers; nil means [midtool.DefaultLicenses]
	Own          bool     // tools that state no license are the caller's own and pass; false rejects them
	OptionalProb *float64 // probability in [0, 1] that a call has an optional argument; nil means 0.4
	MaxTokens    int      // largest sample in [midtool.Findings] Tokens, at least 256; zero means 8192

	// Executor answers the calls; nil means a [simulate.World] under Seed. Let its sessions be a [simulate.Knower] that lends
	// arguments that exist: without, identifiers are made up, most calls that look one up fail, and fewer samples are kept.
	// The answers of package simulate are executed once more for every sample, those of a caller's own with Replay alone, for
	// its world may change. A panic in it ends the process.
	Executor midtool.Executor
	Replay   bool // the answers of Executor must be the same a second time, in a session of their own

	// Teacher rewrites the words of samples; nil leaves them to the templates. Its prompt shows the conversation, says what
	// each message has to do, and asks for {"messages": [{"index": 0, "content": "..."}]} with each message to be written, and
	// nothing around it. What it writes passes the same checks, and some of its own; what does not goes back to it with what
	// is wrong. The calls, the results and the plan stay.
	Teacher      midtool.Generator
	TeacherShare *float64 // share in [0, 1] of the samples that Teacher rewrites; nil means 1
	Attempts     int      // answers of Teacher for a sample before it is dropped, 1 to 10; zero means 3

	// Answers names a file that keeps the answers of Teacher by prompt, so that a later run gets them without asking, be it
	// with another Teacher; empty means none. Refused answers are kept too, and count as attempts; errors are not.
	Answers string

	Workers  int                        // goroutines; zero means 1. The result does not depend on it
	Emit     func(midtool.Sample) error // takes the samples one by one, in order; nil collects them in the Corpus
	Progress func(done, total int)      // called between batches of planned samples; nil means not
}

var defaultShares = map[midtool.Family]int{
	midtool.Single: 30, midtool.Parallel: 15, midtool.Sequential: 12, midtool.MultiTurn: 8,
	midtool.MissingInfo: 15, midtool.MissingFunction: 10, midtool.Irrelevance: 5, midtool.Recovery: 5,
}

// families in the order of their plans.
var families = []midtool.Family{midtool.Single, midtool.Parallel, midtool.Sequential, midtool.MultiTurn,
	midtool.MissingInfo, midtool.MissingFunction, midtool.Irrelevance, midtool.Recovery}

// maxSamples bounds a plan; a larger corpus is built in runs with seeds of their own.
const maxSamples = 50_000_000

func (o *Options) withDefaults() (Options, error) {
	var d Options
	if o != nil {
		d = *o
	}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("native: Options."+format, args...)) }
	for _, n := range []struct {
		name   string
		value  int
		lo, hi int
	}{
		{"Samples", d.Samples, 0, maxSamples}, {"BudgetCap", d.BudgetCap, 0, maxSamples}, {"Attempts", d.Attempts, 0, 10},
		{"Workers", d.Workers, 0, 1024},
	} {
		if n.value < n.lo || n.value > n.hi {
			bad("%s %d is outside [%d, %d]", n.name, n.value, n.lo, n.hi)
		}
	}
	if d.MaxTokens != 0 && d.MaxTokens < 256 {
		bad("MaxTokens %d is below 256", d.MaxTokens)
	}
	for _, p := range []struct {
		name  string
		value **float64
		or    float64
	}{
		{"MinQuality", &d.MinQuality, 0.3}, {"OptionalProb", &d.OptionalProb, 0.4}, {"TeacherShare", &d.TeacherShare, 1},
	} {
		if *p.value == nil {
			*p.value = new(p.or)
		}
		if v := **p.value; !(v >= 0 && v <= 1) {
			bad("%s %v is outside [0, 1]", p.name, v)
		}
	}
	if d.Shares == nil {
		d.Shares = defaultShares
	}
	sum := 0
	for _, f := range sortedFamilies(d.Shares) {
		w := d.Shares[f]
		switch {
		case !slices.Contains(families, f):
			bad("Shares: %q is not a family of the native branch", f)
		case w < 0 || w > 1_000_000:
			bad("Shares: %d of %s is outside [0, 1000000]", w, f)
		}
		sum += max(w, 0)
	}
	if sum == 0 {
		bad("Shares: no family has a positive share")
	}
	if d.Answers != "" && d.Teacher == nil {
		bad("Answers %q without a Teacher", d.Answers)
	}
	d.BudgetCap = cmp.Or(d.BudgetCap, 64)
	d.MaxTokens = cmp.Or(d.MaxTokens, 8192)
	d.Attempts = cmp.Or(d.Attempts, 3)
	d.Workers = cmp.Or(d.Workers, 1)
	if d.Licenses == nil {
		d.Licenses = midtool.DefaultLicenses()
	}
	if len(errs) > 0 {
		return d, errors.Join(errs...)
	}
	switch d.Executor.(type) {
	case nil:
		d.Executor, d.Replay = simulate.NewWorld(d.Seed), true
	case *simulate.World, *simulate.Schema:
		d.Replay = true
	}
	return d, nil
}

func sortedFamilies(m map[midtool.Family]int) []midtool.Family {
	out := make([]midtool.Family, 0, len(m))
	for f := range m {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

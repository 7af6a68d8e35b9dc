package build

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/dedup"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/grounded"
	"github.com/throughline-go/throughline/midtool/mix"
	"github.com/throughline-go/throughline/midtool/native"
	"github.com/throughline-go/throughline/midtool/quality"
)

// An Input is a source of documents under a name that is unique in a build. A source that is a [document.Splitter] is read in
// parts. A later run reads again what has changed, if the parts are a [document.Digester] or the source is.
type Input struct {
	Name   string // letters, digits, ".", "-" and "_"; IDs in the corpus begin with it and a slash. Not "native"
	Source document.Source
}

// An Output is one form in which the corpus is written.
type Output struct {
	Name string                          // of the folder in Dir, of the characters of Input.Name, for example "plain"; not "work"
	Ext  string                          // of the files, for example ".jsonl"
	New  func(w io.Writer) (Sink, error) // makes the Sink of a file; its bytes depend on the records alone
}

// A Sink writes the records of one file; a [format.Writer] is one. A [*format.SkipError] of Write leaves one record out. A
// file in which no record is written is not made, whatever Close says of it.
type Sink interface {
	Write(r *format.Record) error
	Close() error
	Counts() format.Counts
}

// Options describes a build. Everything but Dir, Rank, World, Workers, Redo and Progress is the configuration: it decides
// the bytes of the corpus.
type Options struct {
	Dir  string // of the corpus; made if it is not there. It belongs to one configuration
	Seed uint64 // of every random choice, those of all stages

	Documents []Input
	Tools     []midtool.Tool // need not be normalized
	Native    native.Options // of the samples that are made of Tools; Seed, Licenses, Own, Emit, Workers and Progress are set by the build

	Rules      map[document.Kind][]quality.Rule   // nil means [quality.Rules] of each kind; a kind that is not here has no rules
	Classifier func(d *document.Document) float64 // score of a document that has passed Rules, in [0, 1]; nil means none. Safe for concurrent use
	MinScore   *float64                           // documents of a lower score are left out; nil means 0.5
	Grounded   grounded.Options                   // of the samples that are made of documents; Seed and Tokens are set by the build
	Tokens     func(text string) int              // length of a text; nil means [midtool.ApproxTokens]. Safe for concurrent use
	Licenses   []string                           // SPDX identifiers that documents and tools may have; nil means [midtool.DefaultLicenses]
	Own        bool                               // documents and tools that state no license are the caller's own and pass; false leaves them out

	Benchmarks    []decontaminate.Benchmark
	Decontaminate decontaminate.Options
	Dedup         dedup.Options // Seed, TempDir, Workers and Progress are set by the build; zero Memory means 64 MiB
	Mix           mix.Options   // Seed is set by the build. The sources are web, code, pdf and native; those that Shares does not name get nothing

	Outputs      []Output // at least one
	Shards       int      // files of an output, 1 to 10,000; zero means 16
	ShardRecords int      // documents or samples of a part that is done or not; zero means 10,000

	Rank, World int // this process, of how many that build the corpus together; zero World means 1
	Workers     int // goroutines; zero means 1. The corpus does not depend on it

	// Redo lets the options of the later stages (Decontaminate.MaxRecords, MaxShare and ReportOnly, Dedup.Jaccard,
	// MaxCandidates, ClusterCap and MaxLoss, Mix, Outputs and Shards) differ from those of an earlier run in Dir: these stages
	// are then done again, and what they wrote is removed. False makes them an [ErrConfiguration] like any other.
	Redo bool

	// Names tells functions of the caller from one another, for they decide bytes and cannot be compared: whoever changes one
	// changes its name here. Needed are "classifier", "tokens", "teacher" and "executor" where the function is set; others, such
	// as "outputs", are free.
	Names map[string]string

	// Progress is told how far a stage is: "read" with the documents that were read and total 0, for it is not known;
	// "make", "compare" and "write" with samples, units and files. It is never called by two goroutines at once. Nil means not.
	Progress func(stage string, done, total int)

	// Of tests: fault fails or stops before a file is made, written or committed, and lazy leaves files to the system's cache.
	fault func(op, name string) error
	lazy  bool
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// nativeName is that of the samples made of tools, among inputs and sources.
const nativeName = "native"

// withDefaults checks everything and fills in what is zero.
func (o *Options) withDefaults() (Options, error) {
	var d Options
	if o != nil {
		d = *o
	}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("build: Options."+format, args...)) }
	if d.Dir == "" {
		bad("Dir is empty")
	}
	d.World, d.Workers = cmp.Or(d.World, 1), cmp.Or(d.Workers, 1)
	d.Shards, d.ShardRecords = cmp.Or(d.Shards, 16), cmp.Or(d.ShardRecords, 10_000)
	for _, n := range []struct {
		name          string
		value, lo, hi int
	}{
		{"World", d.World, 1, 100_000}, {"Rank", d.Rank, 0, max(d.World, 1) - 1}, {"Workers", d.Workers, 1, 1024},
		{"Shards", d.Shards, 1, 10_000}, {"ShardRecords", d.ShardRecords, 1, math.MaxInt32},
	} {
		if n.value < n.lo || n.value > n.hi {
			bad("%s %d is outside [%d, %d]", n.name, n.value, n.lo, n.hi)
		}
	}
	if len(d.Documents) == 0 && len(d.Tools) == 0 {
		bad("Documents and Tools are empty: there is nothing to build from")
	}
	d.inputs(bad)
	d.outputs(bad)
	d.functions(bad)
	if d.Rules == nil {
		d.Rules = make(map[document.Kind][]quality.Rule)
		for _, kind := range kinds {
			d.Rules[kind] = quality.Rules(kind)
		}
	}
	for _, kind := range kinds {
		if err := quality.Validate(d.Rules[kind]); err != nil {
			bad("Rules: %s: %w", kind, err)
		}
	}
	for kind := range d.Rules {
		if !slices.Contains(kinds, kind) {
			bad("Rules: %q is no kind of documents", kind)
		}
	}
	if d.MinScore == nil {
		d.MinScore = new(0.5)
	}
	if s := *d.MinScore; !(s >= 0 && s <= 1) {
		bad("MinScore %v is outside [0, 1]", s)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Mix.Shares)) {
		if !slices.Contains(sources, name) {
			bad("Mix.Shares: %q is no source, want some of %q", name, sources)
		}
	}
	if d.Licenses == nil {
		d.Licenses = midtool.DefaultLicenses()
	}
	if d.Tokens == nil {
		d.Tokens = midtool.ApproxTokens
	}
	if d.Progress == nil {
		d.Progress = func(string, int, int) {}
	}
	return d, errors.Join(errs...)
}

// kinds of documents.
var kinds = []document.Kind{document.Web, document.PDF, document.Code, document.Markdown, document.Skill}

func (o *Options) inputs(bad func(string, ...any)) {
	names := make(map[string]bool)
	for i, in := range o.Documents {
		switch {
		case !plainName.MatchString(in.Name) || in.Name == nativeName:
			bad("Documents[%d]: Name %q, want letters, digits, \".\", \"-\" and \"_\", and not %q", i, in.Name, nativeName)
		case names[in.Name]:
			bad("Documents[%d]: Name %q is given twice", i, in.Name)
		case in.Source == nil:
			bad("Documents[%d]: Source of %q is nil", i, in.Name)
		}
		names[in.Name] = true
	}
}

func (o *Options) outputs(bad func(string, ...any)) {
	if len(o.Outputs) == 0 {
		bad("Outputs is empty: want at least one")
	}
	names := make(map[string]bool)
	for i, out := range o.Outputs {
		switch {
		case !plainName.MatchString(out.Name) || out.Name == workDir:
			bad("Outputs[%d]: Name %q, want letters, digits, \".\", \"-\" and \"_\", and not %q", i, out.Name, workDir)
		case names[out.Name]:
			bad("Outputs[%d]: Name %q is given twice", i, out.Name)
		case out.Ext != "" && !plainName.MatchString("x"+out.Ext):
			bad("Outputs[%d]: Ext %q of %q, want letters, digits, \".\", \"-\" and \"_\"", i, out.Ext, out.Name)
		case out.New == nil:
			bad("Outputs[%d]: New of %q is nil", i, out.Name)
		}
		names[out.Name] = true
	}
}

// functions demands a name for each function of the caller that decides bytes.
func (o *Options) functions(bad func(string, ...any)) {
	for _, f := range []struct {
		name, field string
		set         bool
	}{
		{"classifier", "Classifier", o.Classifier != nil},
		{"tokens", "Tokens", o.Tokens != nil},
		{"teacher", "Grounded.Teacher or Native.Teacher", o.Grounded.Teacher != nil || o.Native.Teacher != nil},
		{"executor", "Grounded.Executor or Native.Executor", o.Grounded.Executor != nil || o.Native.Executor != nil},
	} {
		if f.set && o.Names[f.name] == "" {
			bad("Names has no %q, which %s needs: a later run could not tell whether it is the same", f.name, f.field)
		}
	}
}

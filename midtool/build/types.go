package build

import (
	"context"
	"io"

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

// An Input is a source of documents under a name that is unique in a build.
type Input struct {
	Name   string
	Source document.Source
}

// An Output is one form in which the corpus is written.
type Output struct {
	Name string                          // of the folder, for example "plain"
	Ext  string                          // of the files, for example ".jsonl"
	New  func(w io.Writer) (Sink, error) // one for each file
}

// A Sink writes the records of one file; a [format.Writer] is one.
type Sink interface {
	Write(r *format.Record) error
	Close() error
	Counts() format.Counts
}

// Options describes a build.
type Options struct {
	Dir  string // of the corpus; made if it is not there. It belongs to one configuration
	Seed uint64

	Documents []Input
	Tools     []midtool.Tool
	Native    native.Options // of the samples that are made of Tools; Seed, Emit, Workers, Progress are set by the build

	Rules      map[document.Kind][]quality.Rule // nil means quality.Rules
	Classifier func(*document.Document) float64
	Grounded   grounded.Options
	Licenses   []string
	Own        bool // documents and tools without a license are the caller's own

	Benchmarks    []decontaminate.Benchmark
	Decontaminate decontaminate.Options
	Dedup         dedup.Options
	Mix           mix.Options

	Outputs      []Output
	Shards       int // files of an output; zero means 16
	ShardRecords int // documents or samples of a part that is done or not; zero means 10,000

	Rank, World int // this worker, of how many; zero World means 1
	Workers     int

	// Names tells functions of the caller from one another: whoever changes one changes its name here. Keys are for example
	// "classifier", "teacher", "executor", "tokens", "outputs".
	Names map[string]string

	Progress func(stage string, done, total int)
}

// Run builds the corpus.
func Run(ctx context.Context, o *Options) (*Report, error) { return &Report{}, nil }

// A Report says what the corpus consists of.
type Report struct{}

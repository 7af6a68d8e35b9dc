package dedup

import (
	"context"
	"iter"
)

// A Record is one text to be compared.
type Record struct {
	ID      string // unique
	Source  string // what it counts for
	Content string
	Exact   [32]byte // equal for records that are the same; zero means a hash of Content with line ends and trailing blanks folded
	Zero    bool     // numbers are compared as 0
}

// A Sketch is what is kept of a record to find its likes.
type Sketch struct {
	ID, Source string
	Exact      [32]byte
	Length     int // bytes of Content
	Zero       bool
	Bands      []uint64 // one hash a band; nil for a text without words
}

// Options adjusts the search. A nil *Options equals &Options{}.
type Options struct {
	Seed          uint64
	ShingleWords  int      // zero means 5
	Bands         int      // zero means 14
	Rows          int      // zero means 8
	Jaccard       *float64 // nil means 0.8
	MaxCandidates int      // zero means 1000
	ClusterCap    int      // members that stay of a cluster; zero means 1
	MaxLoss       *float64 // nil means 0.40
	Memory        int64    // bytes before it spills to disk; zero means 256 MiB
	TempDir       string   // empty means os.TempDir
	Workers       int
	Progress      func(done int)
}

// A Sketcher makes sketches. It is safe for concurrent use.
type Sketcher struct{}

// NewSketcher returns a Sketcher for the options.
func NewSketcher(o *Options) (*Sketcher, error) { return &Sketcher{}, nil }

// Sketch returns the sketch of a record.
func (s *Sketcher) Sketch(r *Record) Sketch { return Sketch{} }

// A Removal is a record that need not stay, and why.
type Removal struct {
	Index   int // of the record, in the order given
	Witness int // index of the kept record that it repeats
	Exact   bool
	Jaccard float64 // 1 for exact copies
}

// A Result is what was found.
type Result struct {
	Records  int
	Removed  []Removal // by Index
	Exact    int
	Near     int
	Largest  int // members of the largest cluster, the kept one too
	Overflow int // candidates that were not compared
	Sources  map[string]Counts
	Warnings []string
}

// Counts of a source.
type Counts struct{ Records, Exact, Near int }

// Find finds the duplicates among sketches; content returns the content of the record with an index.
func Find(ctx context.Context, sketches iter.Seq2[Sketch, error], content func(i int) (string, error), o *Options) (*Result, error) {
	return &Result{}, nil
}

// Run sketches records and finds the duplicates.
func Run(ctx context.Context, records iter.Seq2[Record, error], o *Options) (*Result, error) {
	return &Result{}, nil
}

// Similarity is the Jaccard similarity of two texts.
func Similarity(a, b string, shingleWords int, zero bool) float64 { return 0 }

// CandidateProbability is the S-curve 1-(1-s^rows)^bands.
func CandidateProbability(s float64, bands, rows int) float64 { return 0 }

package decontaminate

import (
	"io"

	"github.com/throughline-go/throughline/midtool"
)

// A Benchmark is what must not be in a corpus.
type Benchmark struct {
	Name   string
	SHA256 string // of the file it was read from, in hex; empty if there was none
	Items  []Item
}

// An Item is one message of a user, or one function.
type Item struct {
	ID          string
	Text        string // of a message, or a function's name and description
	Function    string // name; empty for a message
	Description string
	Parameters  []string // names
}

// Read reads a benchmark: JSON Lines, or plain text with an item a line.
func Read(name string, r io.Reader) (Benchmark, error) { return Benchmark{}, nil }

// A Rule is a way to find an item.
type Rule string

// The rules.
const (
	ShortItem Rule = "short_item"
	NGram     Rule = "n_gram"
	SameTool  Rule = "same_tool"
)

// Options adjusts an [Index]. A nil *Options equals &Options{}.
type Options struct {
	N          int      // words of a gram; zero means 8
	ShortWords int      // items below are compared as a whole; zero means 13
	MaxRecords int      // of a source that may hold a gram before it is ignored there; zero means 10
	MaxShare   *float64 // the same as a share; nil means 0.001
	ReportOnly []Rule   // rules whose hits do not drop a record
}

// A Record is what is searched: n-grams never cross the border of a text.
type Record struct {
	ID       string
	Source   string
	Messages []string // of users
	Texts    []string // others
	Tools    []midtool.Tool
}

// An Index finds the items of benchmarks. It is safe for concurrent use.
type Index struct{}

// NewIndex indexes benchmarks.
func NewIndex(benchmarks []Benchmark, o *Options) (*Index, error) { return &Index{}, nil }

// A Match is a place where an item was found, before common grams are known.
type Match struct {
	Rule Rule   `json:"rule"`
	Item int    `json:"item"`           // index in the index
	Gram uint64 `json:"gram,omitempty"` // of an n-gram
	Text string `json:"text"`           // what was found, at most 200 characters
}

// Scan returns the matches of a record, in a fixed order; nil for none.
func (ix *Index) Scan(r *Record) []Match { return nil }

// A Report is the outcome for a corpus.
type Report struct {
	Hits      []Hit
	Dropped   []string // IDs of records, in order
	Counts    map[string]map[Rule]int
	Invisible map[string]float64 // share of a benchmark's items that grams cannot see
	Ignored   []string           // grams that are too common, with their source
}

// A Hit is one match that counts.
type Hit struct {
	Record, Source, Benchmark, Item string
	Rule                            Rule
	Text                            string
}

// A Tally collects the matches of a corpus. It is not safe for concurrent use.
type Tally struct{}

// Tally starts a collection.
func (ix *Index) Tally() *Tally { return &Tally{} }

// Add adds a record with its matches.
func (t *Tally) Add(id, source string, matches []Match) {}

// Report closes the collection.
func (t *Tally) Report() *Report { return &Report{} }

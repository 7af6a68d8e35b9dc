package decontaminate

import "github.com/throughline-go/throughline/midtool"

// A Benchmark is what must not be in a corpus.
type Benchmark struct {
	Name   string // unique among those of an index
	SHA256 string // of the file it was read from, in hex; empty if there was none
	Items  []Item
}

// An Item is one message of a user, or one function.
type Item struct {
	ID          string
	Text        string   // of a message, or a function's name and description
	Function    string   // name; empty for a message
	Description string   // of a function
	Parameters  []string // names, of a function
}

// A Rule is a way to find an item.
type Rule string

// The rules. See the package comment.
const (
	ShortItem Rule = "short_item" // a message says a short item
	NGram     Rule = "n_gram"     // a text has a run of words of an item
	SameTool  Rule = "same_tool"  // a tool is a function of a benchmark
)

// Rules returns all rules, in the order in which they are reported.
func Rules() []Rule { return []Rule{ShortItem, NGram, SameTool} }

// Options adjusts an [Index]. A nil *Options equals &Options{}.
type Options struct {
	N          int      // words of a run, 2 to 32; zero means 8
	ShortWords int      // items below are compared as a whole, 1 to 64; zero means 13
	MaxRecords int      // of a source that may hold a run before it is ignored there, at least 1; zero means 10
	MaxShare   *float64 // the same as a share in [0, 1]: the larger of both counts; nil means 0.001
	ReportOnly []Rule   // rules whose hits do not drop a record
}

// A Record is what is searched.
type Record struct {
	ID, Source string // for [Tally.Add]; Scan does not look at them

	Messages []string       // of users: searched for short items and runs of words
	Texts    []string       // others: searched for runs of words
	Tools    []midtool.Tool // searched for functions
}

// A Match is a place where an item was found, before it is known which runs of words are common.
type Match struct {
	Rule Rule   `json:"rule"`
	Item int    `json:"item"`           // number in the index: those of the first benchmark come first
	Gram int    `json:"gram,omitempty"` // of [NGram]: number of the run of words in the index
	Text string `json:"text"`           // what was found, as it is written there, at most 200 characters
}

// A Report is the outcome for a corpus.
type Report struct {
	Hits    []Hit    `json:"hits,omitempty"`    // by record, then in the order of the matches; one for each item and rule in a record
	Dropped []string `json:"dropped,omitempty"` // IDs of records with a hit that is more than reported, in order

	// Counts has the records with a hit, for every benchmark and every rule.
	Counts map[string]map[Rule]int `json:"counts"`

	// Invisible is the share of a benchmark's items that no run of words can find, as they are too short, mostly numbers, or common.
	Invisible map[string]float64 `json:"invisible"`

	Ignored []Ignored `json:"ignored,omitempty"` // by source, then text
}

// A Hit is an item that was found in a record.
type Hit struct {
	Record    string `json:"record"`
	Source    string `json:"source"`
	Benchmark string `json:"benchmark"`
	Item      string `json:"item"` // its ID
	Rule      Rule   `json:"rule"`
	Grams     int    `json:"grams,omitempty"` // of NGram: how many runs of words of the item were found
	Text      string `json:"text"`            // of the first match, at most 200 characters
}

// Ignored is a run of words that is too common in a source to be a sign of anything.
type Ignored struct {
	Source  string `json:"source"`
	Text    string `json:"text"` // normalized
	Records int    `json:"records"`
}

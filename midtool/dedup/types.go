package dedup

import "fmt"

// A Record is one text to be compared.
type Record struct {
	ID      string // unique in a search; decides between records of equal length
	Source  string // what it counts for, see [Result]; may be empty
	Content string // its words are compared, and its length in bytes decides which of two records stays

	// Exact is equal for records that are the same, whatever their Content: for samples that of [midtool.Sample.ContentHash],
	// for tools a hash of their ID. Zero means SHA-256 of Content after line ends became \n and blanks at the ends of lines
	// and of the text were dropped; and for a Content that is empty by then, that the record equals no other.
	Exact [32]byte

	Zero bool // numbers are compared as 0: sensible for texts of the web, not for code, tools or samples
}

// A Sketch is what is kept of a [Record] to find its likes: some 200 bytes. Sketches can be compared with one another if the
// seed, the words of a shingle, the bands and the rows of their [Options] were the same.
type Sketch struct {
	ID, Source string
	Exact      [32]byte // zero for an empty Content that had none
	Length     int      // bytes of Content
	Zero       bool
	Bands      []uint64 // one hash a band; nil for a text without words
}

// A Removal is a record that need not stay, and why.
type Removal struct {
	Index   int     // of the record, in the order given
	Witness int     // index of the kept record that it repeats
	Exact   bool    // it has the same Exact as a record with a smaller ID: Witness, or one that repeats Witness in turn
	Jaccard float64 // of the shingles of the two; of an exact copy 1, or that of the one that repeats Witness in turn
}

// A Result is what was found.
type Result struct {
	Records  int
	Removed  []Removal // by Index; nil for none
	Exact    int       // exact copies among Removed
	Near     int       // the others
	Largest  int       // members of the largest cluster: a kept record and its near-duplicates; 1 if there is none, 0 of no records
	Overflow int       // records that stay though not all candidates were compared: see Options.MaxCandidates
	Sources  map[string]Counts
	Warnings []string // in words for people: clusters that are too large, one a source; and Overflow
}

// Counts are those of a source.
type Counts struct {
	Records, Exact, Near int
	Largest              int // members of the largest cluster around a record of the source, whatever source they are of
}

// A LossError is returned, with the whole [Result], for a source that loses more of its records to near-duplicates than
// Options.MaxLoss: more often than not these are templated records that are no copies of one another. Several are joined by
// [errors.Join] in the order of the sources.
type LossError struct {
	Source        string
	Records, Near int
	MaxLoss       float64
}

// Error names the source, the numbers and the bound.
func (e *LossError) Error() string {
	return fmt.Sprintf("dedup: source %q would lose %d of %d records to near-duplicates, a share above MaxLoss %v",
		e.Source, e.Near, e.Records, e.MaxLoss)
}

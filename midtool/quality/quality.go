// Package quality says which documents are fit for a corpus: rules with thresholds by kind of document.
package quality

import "github.com/throughline-go/throughline/midtool/document"

// A Rule keeps a document whose measure lies in [Min, Max].
type Rule struct {
	Measure  Measure
	Min, Max float64 // inclusive; -Inf and +Inf are no bound
}

// A Measure is a figure of a text.
type Measure string

// Rules returns the rules of a kind of documents, in the order in which they are checked.
func Rules(kind document.Kind) []Rule { return nil }

// A Failure is the first rule that a document breaks.
type Failure struct {
	Rule  Rule
	Value float64
}

// Check returns the first of the rules that the document breaks, nil if it breaks none.
func Check(d *document.Document, rules []Rule) *Failure { return nil }

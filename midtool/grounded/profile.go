package grounded

import (
	"math"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// A Feature is one thing that a document can show about the use of tools.
type Feature string

// The features.
const (
	Endpoint Feature = "endpoint" // an HTTP verb followed by a path or a URL
	Command  Feature = "command"  // a command line in a fenced block
	Callable Feature = "callable" // the signature of a function with its parameter list
	Param    Feature = "param"    // a name with a description or a type; a flag with a description
	Step     Feature = "step"     // an item of a numbered list, "Step n", a sentence that starts with First, Then, Next or Finally
	Value    Feature = "value"    // a number with a unit, a date, a quoted text, a path, a URL, an identifier
	ErrorRef Feature = "error"    // a line that says what goes wrong, or how that shows
)

// features with their weights and the counts from which more of them add nothing (ours).
var features = [...]struct {
	name   Feature
	weight float64
	most   float64
}{
	{Endpoint, 0.6, 3}, {Command, 0.5, 5}, {Callable, 0.5, 5}, {Param, 0.4, 6}, {Step, 0.4, 5}, {Value, 0.2, 10}, {ErrorRef, 0.2, 3},
}

// A Span is a range of bytes of a document's text, [Start, End).
type Span struct{ Start, End int }

func (s Span) of(text string) string { return text[s.Start:s.End] }
func (s Span) empty() bool           { return s.Start >= s.End }
func (s Span) has(o Span) bool       { return s.Start <= o.Start && o.End <= s.End }

// union is the shortest span with both; an empty one adds nothing.
func (s Span) union(o Span) Span {
	switch {
	case s.empty():
		return o
	case o.empty():
		return s
	}
	return Span{min(s.Start, o.Start), max(s.End, o.End)}
}

// A Profile says how much a document shows about the use of tools. One made by [Read] also knows where, which [Plan] and
// [Generator.Generate] look at; one made by hand has the figures alone.
type Profile struct {
	Counts map[Feature]int // different texts of each feature, as far as counted: up to 65,536; features without any are left out
	Score  int             // 10,000 (1 - prod(1 - w min(1, n/c))), rounded, in [0, 10000]
	Tools  []midtool.Tool  // endpoints, commands and callables as tools, normalized, in order, at most 256
	Steps  []Span          // in order, at most 4,096, as are the next two
	Values []Span
	Errors []Span // lines

	read *reading
}

// Bounds of what is looked at and kept (ours). What is beyond is passed over: a profile says what a document shows, and
// four thousand steps show no more than five.
const (
	maxText    = 64 << 20 // bytes of a document
	maxLine    = 16 << 10 // bytes of a line
	maxCounted = 1 << 16  // texts of a feature
	maxSpans   = 4096
	maxTools   = 256
	maxParams  = 48 // of a tool
)

// Read profiles a document: it counts the texts of each [Feature], each different text once, and reads endpoints, commands
// and signatures as tools with their parameters. The document may be Markdown, as package document makes it of HTML too,
// plain text, or source code of the languages that declare functions with func, def, function or fn. Only code is read by
// its Kind; the rest is told apart by fences.
//
// It takes time linear in the length of the text, of which it reads 64 MiB at most, and 16 KiB of each line. Any text is
// accepted; the result depends on the document alone.
func Read(d *document.Document) *Profile {
	r := newReading(d)
	r.scan()
	return r.profile()
}

// score is 10,000 times the share of what a document could show at best.
func score(counts map[Feature]int) int {
	rest := 1.0
	for _, f := range features {
		rest *= 1 - f.weight*min(1, float64(counts[f.name])/f.most)
	}
	return int(math.Floor(10000*(1-rest) + 0.5))
}

package grounded

import (
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// A reading is what is found in a document on one way through it, line by line.
type reading struct {
	doc  *document.Document
	text string

	counts map[Feature]int
	seen   map[Feature]map[uint64]struct{} // texts by hash: two different ones in 65,536 are equal with a probability below 1e-9
	values []Span
	faults []Span // lines that tell of errors

	sections   []section
	steps      []step
	list       int // number of the list that the last step is of
	params     []param
	candidates []candidate
	byName     map[string]int // candidates
	current    int            // candidate that parameters belong to; -1 for none
	troubles   []trouble
	outputs    []output

	code       bool   // the whole text is code
	fence      string // the mark that closes the block at hand; empty outside
	lead       lead   // of the block
	lang       string // of the block
	shell      bool   // the block may hold commands
	prose      Span   // last line of prose, which may say what the next command does
	comment    Span   // comment above a declaration, its marks included
	table      *table
	pendingDoc []parameter // described in the comment at hand
	until      int         // where the command line at hand ends
	added      *candidate  // as it was read last
	examples   []shownCall

	tools []midtool.Tool // of candidates that make one
	owner []int          // candidate of each
	told  []int          // candidates of which it is said what they do
}

// A section is what stands under a heading; the first has none.
type section struct {
	heading Span // its text
	start   int
	command string // the first one in it
	several bool   // there are others
}

// A lead is the line above a block. It says what a command does if that is the only one in the block.
type lead struct {
	prose   Span
	command string // the first one in the block
	tells   int    // candidate that has its words, counted from 1
}

// A step is one of a procedure.
type step struct {
	text    Span
	list    int // of steps that belong together
	section int
}

// A param is a name with what is said of it.
type param struct {
	name, typ, about, def Span
	example               Span
	required              bool
	apart                 bool // nothing says that it is a parameter of what stands above
	owner                 int  // candidate; -1 for none
	section               int
}

// A trouble says when something goes wrong, or what an error means.
type trouble struct {
	code  Span // such as 404 or KeyError; may be empty
	about Span // what it means, or when it happens
	when  bool // about is the condition
	line  Span
	owner int // candidate; -1 for none
}

// An output says what a candidate gives back.
type output struct {
	owner int
	about Span
	line  Span
}

func newReading(d *document.Document) *reading {
	text := d.Text
	if len(text) > maxText {
		text = text[:maxText]
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			text = text[:i+1]
		}
	}
	return &reading{doc: d, text: text, counts: make(map[Feature]int), seen: make(map[Feature]map[uint64]struct{}),
		sections: []section{{}}, byName: make(map[string]int), current: -1,
		code: d.Kind == document.Code && d.Syntax != "markdown" && d.Syntax != "md" && d.Syntax != "rst" && d.Syntax != "text"}
}

func (r *reading) profile() *Profile {
	r.makeTools()
	p := &Profile{Counts: r.counts, Score: score(r.counts), Tools: r.tools, Values: r.values, Errors: r.faults, read: r}
	for _, s := range r.steps {
		p.Steps = append(p.Steps, s.text)
	}
	return p
}

// note counts a text of a feature and says whether it is a new one.
func (r *reading) note(f Feature, text string) bool {
	seen := r.seen[f]
	if seen == nil {
		seen = make(map[uint64]struct{})
		r.seen[f] = seen
	}
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	if _, known := seen[h]; known || len(seen) == maxCounted {
		return false
	}
	seen[h] = struct{}{}
	r.counts[f]++
	return true
}

// sectionAt is the section that a place is in.
func (r *reading) sectionAt(at int) int {
	lo, hi := 0, len(r.sections)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; r.sections[mid].start <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// sectionSpan is the range of a section, heading included.
func (r *reading) sectionSpan(i int) Span {
	end := len(r.text)
	if i+1 < len(r.sections) {
		end = r.sections[i+1].start
	}
	return Span{r.sections[i].start, end}
}

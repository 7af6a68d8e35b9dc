package format

import (
	"fmt"

	"github.com/throughline-go/throughline/midtool"
)

// A Record is one entry of a corpus: a document, which is a text, or a conversation, which is a sample. It is never
// changed here.
type Record struct {
	ID       string            // empty means that of Sample
	Source   string            // the share that it counts for, for example "web"; empty means that of Sample
	Text     string            // of a document, in UTF-8; empty for a conversation
	Licenses []string          // of the document and the tools; empty means those of the tools of Sample alone, sorted
	Sample   *midtool.Sample   // nil for a document
	Meta     map[string]string // what else is known, for example "title" and "url" of a document
}

// A Span is a range of bytes of a text, [Start, End).
type Span struct{ Start, End int }

// A Rendering is a record as text, with what is learned of it.
type Rendering struct {
	Text string
	Loss []Span // sorted, disjoint, not touching, none empty, inside Text, on the borders of code points
}

// trained counts the bytes that are learned.
func (r *Rendering) trained() int {
	n := 0
	for _, s := range r.Loss {
		n += s.End - s.Start
	}
	return n
}

// addSpan appends a span behind all others.
func addSpan(spans []Span, start, end int) []Span {
	switch last := len(spans) - 1; {
	case start == end:
		return spans
	case last >= 0 && spans[last].End == start:
		spans[last].End = end
		return spans
	}
	return append(spans, Span{start, end})
}

// A SkipError says why a form has no place for a record. The reasons are
//
//   - document: a form of conversations, and the record is a text;
//   - empty: neither text nor messages; text_and_sample: both;
//   - invalid_utf8: of any text in it; bad_json: arguments or a schema are no JSON object, or nested deeper than 64 levels;
//   - role: a message of an unknown role, or calls of one that is no assistant; tool_name: the name of a tool is empty or
//     has a line break;
//   - results: the results after an assistant's calls are not one for each, under its id and name; at the end of a
//     conversation all of them may be missing;
//   - offer: a message offers tools and its content is not [midtool.OfferText] of them;
//   - marker: a text holds a control marker of the form (hermes, qwen);
//   - alternation: requests or results do not alternate with answers, or an answer is missing at the end (sharegpt,
//     llamafactory); system: a system message that is empty, not the first or not the only one (the same);
//   - text_with_calls: an assistant speaks and calls in one turn (sharegpt);
//   - untrained_turn: a message is not to be learned, and the form cannot say so (trl, llamafactory, sharegpt);
//   - untrained: nothing in it is to be learned (all but plain); window: more than MaxTokens (pretokenized);
//   - too_long: the line has more than 64 MiB.
type SkipError struct {
	Format string // name of the form
	Record string // its ID
	Reason string // one of the words above
	Detail string // the part and the value; may be empty
}

// Error names the form, the record, the reason and the detail.
func (e *SkipError) Error() string {
	text := fmt.Sprintf("format: %s: record %q: %s", e.Format, e.Record, e.Reason)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

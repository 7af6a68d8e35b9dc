package format

import (
	"io"
	"iter"

	"github.com/throughline-go/throughline/midtool"
)

// A Record is one entry of a corpus: a text, or a conversation.
type Record struct {
	ID       string
	Source   string            // share that it counts for, for example "web"
	Text     string            // of a document; empty for a conversation
	Licenses []string          // of the document and of the tools
	Sample   *midtool.Sample   // nil for a document
	Meta     map[string]string // of a document: title, url and the like
}

// A Span is a range of bytes of a text, [Start, End).
type Span struct{ Start, End int }

// A Rendering is a record as text, with what is learned of it.
type Rendering struct {
	Text string
	Loss []Span // sorted, disjoint, on the borders of characters
}

// Plain renders a record as plain text with headers.
func Plain(r *Record) (Rendering, error) { return Rendering{}, nil }

// Options adjusts a [Writer]. A nil *Options equals &Options{}.
type Options struct {
	Tokens                 func(text string) int // nil means [midtool.ApproxTokens]
	Tokenizer              Tokenizer             // of the pre-tokenized format
	MaxTokens              int                   // zero means 8192
	Thinking               bool                  // of qwen: empty thinking blocks after the last request
	Preamble, Instructions string                // of qwen and hermes: the sentences around the tools; empty means ours
}

// A Tokenizer cuts text into tokens.
type Tokenizer interface {
	Name() string
	// Encode returns the tokens of text and the offset in bytes where each ends.
	Encode(text string) (ids []uint32, ends []int)
	EndOfText() uint32
}

// Names returns the names of the formats.
func Names() []string { return nil }

// A Writer writes records in one format. It is not safe for concurrent use.
type Writer struct{}

// NewWriter returns a Writer of a format.
func NewWriter(w io.Writer, name string, o *Options) (*Writer, error) { return &Writer{}, nil }

// Write writes a record, or returns a *SkipError that says why the format has no place for it.
func (w *Writer) Write(r *Record) error { return nil }

// A SkipError says why a record is not written.
type SkipError struct{ Format, Record, Reason, Detail string }

func (e *SkipError) Error() string { return e.Reason }

// Close flushes. It is an error if records were given and none was written.
func (w *Writer) Close() error { return nil }

// Counts of a Writer.
type Counts struct {
	Written int
	Bytes   int64
	Tokens  int
	Trained int // tokens or bytes that are learned
	Skipped map[string]int
}

// Counts returns what was written so far.
func (w *Writer) Counts() Counts { return Counts{} }

// Read reads records back.
func Read(r io.Reader, name, locator string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {}
}

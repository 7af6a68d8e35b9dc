package document

import (
	"context"
	"iter"

	"github.com/throughline-go/throughline/midtool"
)

// A Document is one text with what is known about it.
type Document struct {
	ID    string `json:"id"` // unique in a source; see the sources for how it is made
	Kind  Kind   `json:"kind"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text"` // UTF-8, lines end in \n

	Syntax        string         `json:"syntax,omitempty"`         // of code: the language by the name of the file, such as "go"; empty if unknown
	URL           string         `json:"url,omitempty"`            // of web text, as given
	Date          string         `json:"date,omitempty"`           // as given
	Language      string         `json:"language,omitempty"`       // as given, for example "en"
	LanguageScore *float64       `json:"language_score,omitempty"` // how sure that is, in [0, 1]; nil if not given
	License       string         `json:"license,omitempty"`        // SPDX identifier where the text is a usual spelling of one; else the text
	LicenseFrom   string         `json:"license_from,omitempty"`   // what states it, for example "file LICENSE"; empty if unknown
	Origin        midtool.Origin `json:"origin,omitzero"`
	Secrets       int            `json:"secrets,omitempty"` // pieces of the text that were replaced; see [Redact]
}

// Kind is the type of a document; it decides which filters apply and what share of a corpus it counts for.
type Kind string

// The kinds.
const (
	Web      Kind = "web"
	PDF      Kind = "pdf"
	Code     Kind = "code"
	Markdown Kind = "md"
	Skill    Kind = "skill"
)

// A Source yields documents in a fixed order. What is left out is told to reject, in order with the documents; nil is
// not told. After a non-nil error the sequence ends; stopping early releases everything. It can be ranged over more than
// once, and two sequences of one Source may run at the same time.
type Source interface {
	Documents(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[Document, error]
}

// SourceFunc lets an ordinary function serve as a [Source].
type SourceFunc func(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[Document, error]

// Documents calls f.
func (f SourceFunc) Documents(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[Document, error] {
	return f(ctx, reject)
}

// A Splitter is a [Source] that can be read in parts.
type Splitter interface {
	// Split returns sources that yield together, one after the other, what it yields. Each reads at most size records; where
	// the parts begin depends on the content and size alone. A size below 1 is an error.
	Split(ctx context.Context, size int) ([]Source, error)
}

// A Digester is a [Source] whose content can be told without its documents.
type Digester interface {
	// Digest returns a hash, in hex, of everything that Documents depends on but for the code.
	Digest(ctx context.Context) (string, error)
}

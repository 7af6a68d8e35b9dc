// Package traces filters conversations that agents had into samples: they pass the same checks as made ones.
package traces

import (
	"context"
	"iter"

	"github.com/throughline-go/throughline/midtool"
)

// Options adjusts [Import]. A nil *Options equals &Options{}.
type Options struct {
	Source    string                     // tag of the samples; empty means "import"
	License   string                     // SPDX identifier of the conversations; see Licenses
	Licenses  []string                   // allow-list; nil means [midtool.DefaultLicenses]
	Own       bool                       // conversations and tools that state no license are the caller's own and pass
	Skip      []string                   // rules that are not checked; nil means none
	MaxTokens int                        // window, at least 256; zero means 8192
	Emit      func(midtool.Sample) error // takes the samples one by one; nil collects them in the Corpus
}

// Import checks conversations as [midtool.ReadMessages] yields them, tags them and finds their evidence.
func Import(ctx context.Context, samples iter.Seq2[midtool.Sample, error], o *Options) (*midtool.Corpus, error) {
	return &midtool.Corpus{}, nil
}

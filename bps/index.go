package bps

import (
	"context"
	"errors"

	"github.com/throughline-go/throughline/internal/text"
)

// An Index holds what [FromTexts] reads from texts, for many queries. Any number of goroutines may use it at a time.
type Index struct {
	scores text.BM25
	names  []name
	tokens []int
}

// NewIndex reads and counts all texts, each once. Function count returns the tokens of a text, as [Text.String] prints it; nil means
// [EstimateTokens]. A negative count is [ErrTokens]. The index keeps the words of the texts, and nothing that can be changed from
// outside.
func NewIndex(texts []Text, count func(s string) int) (*Index, error) {
	if count == nil {
		count = EstimateTokens
	}
	x := &Index{}
	for i, t := range texts {
		n, err := counted(count, texts, i)
		if err != nil {
			return nil, err
		}
		x.tokens = append(x.tokens, n)
		x.names = append(x.names, newName(t.Name))
		read(&x.scores, t)
	}
	return x, nil
}

// Select returns what [FromTexts] returns for the texts of the index and their counts, in a fraction of the time. TextOptions.Count
// must be nil. Most of the time goes into the certificate, if Options.Certify of the search does not switch it off.
func (x *Index) Select(ctx context.Context, query string, budget int, o *TextOptions) (*Selection, error) {
	if o == nil {
		o = &TextOptions{}
	}
	if o.Count != nil {
		return nil, errors.New("bps: TextOptions.Count is set, but the index has counted its texts already")
	}
	return fromWords(ctx, query, &x.scores, budget, o,
		func(i int) name { return x.names[i] },
		func(i int) (int, error) { return x.tokens[i], nil })
}

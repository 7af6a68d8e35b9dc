package skill

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/internal/text"
	"github.com/throughline-go/throughline/skill/internal/vector"
)

// Numbers of dimensions of a [HashEmbedder].
const (
	defaultDim = 4096
	minDim     = 64
)

// HashEmbedder is the default [Embedder]: words, pairs of neighbouring words and character trigrams, hashed into a vector
// of fixed size. It needs no model, no corpus and no state, so a vector never changes and unseen words are no special
// case. The texts are split at word, camelCase and script borders and lower-cased; 55 English stop words and single ASCII
// letters count for nothing. Entries are never negative, so cosines lie in [0, 1]; a text without words has the zero
// vector, every other one unit length. It compares words, not meanings: "buy" and "purchase" are strangers. Ours; not the
// embedder of the paper.
type HashEmbedder struct {
	Dim int // number of dimensions, at least 64; zero means 4096
}

// Embed returns one vector per text. It fails only if ctx is done or Dim is out of range.
func (h HashEmbedder) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	dim := h.dim()
	if dim < minDim {
		return nil, fmt.Errorf("skill: hash embedder: Dim is %d, want 0 or at least %d", h.Dim, minDim)
	}
	out := make([][]float64, len(texts))
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = text.Hash(make([]float64, dim), s)
	}
	return out, nil
}

// vectors returns what [vector.Embed] makes of Embed, without holding 32 KB a text.
func (h HashEmbedder) vectors(ctx context.Context, texts []string) ([]vector.Vector, error) {
	out := make([]vector.Vector, len(texts))
	buf := make([]float64, h.dim())
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: embed: %w", err)
		}
		out[i] = vector.Unit(text.Hash(buf, s))
	}
	return out, nil
}

// ID names the method and its size, for example "hash-ngrams-1/4096".
func (h HashEmbedder) ID() string { return fmt.Sprintf("hash-ngrams-1/%d", h.dim()) }

func (h HashEmbedder) dim() int {
	if h.Dim == 0 {
		return defaultDim
	}
	return h.Dim
}

// embedderID returns the name that reports give an embedder.
func embedderID(e Embedder) string {
	if n, ok := e.(interface{ ID() string }); ok {
		return n.ID()
	}
	return ""
}

// A VectorError reports an answer of an [Embedder] that cannot be used.
type VectorError struct {
	Embedder string // its ID, empty if it has none
	Index    int    // position of the text; -1 for the answer as a whole
	Reason   string
}

// Error names the embedder, the text and the rule.
func (e *VectorError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("skill: embedder %q: %s", e.Embedder, e.Reason)
	}
	return fmt.Sprintf("skill: embedder %q: vector of text %d %s", e.Embedder, e.Index, e.Reason)
}

// embed returns unit (or zero) vectors of the texts after checking what the embedder returned.
func embed(ctx context.Context, e Embedder, texts []string) ([]vector.Vector, error) {
	if h, ok := e.(HashEmbedder); ok && h.dim() >= minDim {
		return h.vectors(ctx, texts)
	}
	return vector.Embed(ctx, e, texts, func(index int, reason string) error {
		return &VectorError{embedderID(e), index, reason}
	})
}

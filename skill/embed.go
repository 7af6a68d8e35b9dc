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
	maxDim     = 1 << 20 // 8 MiB a text
)

// HashEmbedder is the default [Embedder]: words, pairs of neighbouring words and character trigrams, hashed into a vector
// of fixed size. It needs no model, no corpus and no state, so a vector never changes and unseen words are no special
// case. The texts are split at word, camelCase and script borders and lower-cased; 55 English stop words and single ASCII
// letters count for nothing. Entries are never negative, so cosines lie in [0, 1]; a text without words has the zero
// vector, every other one unit length. It compares words, not meanings: "buy" and "purchase" are strangers. Ours; not the
// embedder of the paper.
type HashEmbedder struct {
	Dim int // number of dimensions, 64 to 1,048,576; zero means 4096
}

// Embed returns one vector per text. It fails only if ctx is done or Dim is out of range.
func (h HashEmbedder) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	dim := h.dim()
	if !h.valid() {
		return nil, fmt.Errorf("skill: hash embedder: Dim is %d, want 0 or %d to %d", h.Dim, minDim, maxDim)
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
			return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
		}
		out[i] = vector.Unit(text.Hash(buf, s))
	}
	return out, nil
}

// ID names the method and its size, for example "hash-ngrams-1/4096".
func (h HashEmbedder) ID() string { return fmt.Sprintf("hash-ngrams-1/%d", h.dim()) }

func (h HashEmbedder) valid() bool { return h.dim() >= minDim && h.dim() <= maxDim }

func (h HashEmbedder) dim() int {
	if h.Dim == 0 {
		return defaultDim
	}
	return h.Dim
}

// A VectorError reports an answer of an [Embedder] that cannot be used: another number of vectors than of texts, no entries or a
// number of them that differs, or an entry that is not finite. Embedder is the ID, empty if there is none. Index is the position of the
// text among the Texts asked for, or -1 for the answer as a whole; the error around it says what the texts are. Reason is the rule.
type VectorError = vector.Error

// embed returns unit (or zero) vectors of the texts after checking what the embedder returned. Its errors have no prefix: the caller says
// what the texts are.
func embed(ctx context.Context, e Embedder, texts []string) ([]vector.Vector, error) {
	if h, ok := e.(HashEmbedder); ok && h.valid() {
		return h.vectors(ctx, texts)
	}
	return vector.Embed(ctx, e, texts)
}

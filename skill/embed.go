package skill

import (
	"context"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/internal/text"
)

// defaultDim is the number of dimensions of a zero [HashEmbedder].
const defaultDim = 4096

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
	if dim < 64 {
		return nil, fmt.Errorf("skill: hash embedder: Dim is %d, want 0 or at least 64", h.Dim)
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

// maxBatch is the most texts in one call of an embedder: services limit the size of a request.
const maxBatch = 256

// embed returns unit (or zero) vectors of the texts after checking what the embedder returned.
func embed(ctx context.Context, e Embedder, texts []string) ([]vector, error) {
	out := make([]vector, 0, len(texts))
	dim := 0
	for len(out) < len(texts) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: embed: %w", err)
		}
		start := len(out)
		batch := texts[start:min(start+maxBatch, len(texts))]
		vs, err := e.Embed(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("skill: embed: %w", err)
		}
		fault := func(i int, format string, args ...any) error {
			return &VectorError{embedderID(e), i, fmt.Sprintf(format, args...)}
		}
		if len(vs) != len(batch) {
			return nil, fault(-1, "%d vectors for %d texts", len(vs), len(batch))
		}
		for i, v := range vs {
			if dim == 0 {
				dim = len(v)
			}
			if len(v) == 0 || len(v) != dim {
				return nil, fault(start+i, "has %d entries, want %d and not 0", len(v), dim)
			}
			for j, x := range v {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return nil, fault(start+i, "has entry %d = %g, want a finite number", j, x)
				}
			}
			out = append(out, unit(v))
		}
	}
	return out, nil
}

// A vector holds the entries of a vector of unit length, or of the zero vector, that are not 0, in the order of their
// indices. Hashed vectors have about one in a hundred.
type vector struct {
	dim int
	at  []int32
	val []float64
}

func unit(v []float64) vector {
	u := vector{dim: len(v)}
	var largest float64
	n := 0
	for _, x := range v {
		if x != 0 {
			n++
			largest = max(largest, math.Abs(x))
		}
	}
	if n == 0 {
		return u
	}
	u.at, u.val = make([]int32, 0, n), make([]float64, 0, n)
	var sum float64
	for i, x := range v {
		if x != 0 {
			x /= largest // keeps the squares in range
			sum += x * x
			u.at, u.val = append(u.at, int32(i)), append(u.val, x)
		}
	}
	norm := math.Sqrt(sum)
	for i := range u.val {
		u.val[i] /= norm
	}
	return u
}

// cosines writes the cosines of u with every vector of vs into dst. buf holds u.dim zeros, before and after.
func (u vector) cosines(dst []float64, vs []vector, buf []float64) {
	for i, at := range u.at {
		buf[at] = u.val[i]
	}
	for j, v := range vs {
		var sum float64
		for i, at := range v.at {
			sum += v.val[i] * buf[at]
		}
		dst[j] = max(-1, min(1, sum))
	}
	for _, at := range u.at {
		buf[at] = 0
	}
}

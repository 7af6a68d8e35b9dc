// Package vector embeds texts as unit vectors, checks what an embedder returns, and computes cosines.
package vector

import (
	"context"
	"fmt"
	"math"
)

// maxBatch is the most texts in one call of an embedder: services limit the size of a request.
const maxBatch = 256

// An Embedder is a skill.Embedder.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float64, error)
}

// An Error is a skill.VectorError.
type Error struct {
	Embedder string // its ID, empty if it has none
	Index    int    // position of the text among those asked for; -1 for the answer as a whole
	Texts    int    // how many were asked for; 0 if unknown
	Reason   string
}

// Error names the embedder, the text and the rule.
func (e *Error) Error() string {
	switch {
	case e.Index < 0:
		return fmt.Sprintf("embedder %q: %s", e.Embedder, e.Reason)
	case e.Texts == 0:
		return fmt.Sprintf("embedder %q: vector of text %d %s", e.Embedder, e.Index, e.Reason)
	}
	return fmt.Sprintf("embedder %q: vector of text %d of %d %s", e.Embedder, e.Index, e.Texts, e.Reason)
}

// ID returns the name that an embedder gives itself; empty if it has none.
func ID(e Embedder) string {
	if n, ok := e.(interface{ ID() string }); ok {
		return n.ID()
	}
	return ""
}

// Embed returns unit (or zero) vectors of the texts. An answer that cannot be used is an [*Error]. Errors have no prefix of a package:
// that of the caller says what the texts are for.
func Embed(ctx context.Context, e Embedder, texts []string) ([]Vector, error) {
	out := make([]Vector, 0, len(texts))
	fault := func(index int, format string, args ...any) error {
		return &Error{ID(e), index, len(texts), fmt.Sprintf(format, args...)}
	}
	dim := 0
	for len(out) < len(texts) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
		}
		start := len(out)
		end := min(start+maxBatch, len(texts))
		batch := texts[start:end:end] // an embedder that appends to its argument must not reach the next batch
		vs, err := e.Embed(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("embed %d texts from text %d of %d: %w", len(batch), start, len(texts), err)
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
			u, bad := unit(v)
			if bad >= 0 {
				return nil, fault(start+i, "has entry %d = %g, want a finite number", bad, v[bad])
			}
			out = append(out, u)
		}
	}
	return out, nil
}

// A Vector holds the entries of a vector of unit length, or of the zero vector, that are not 0, in the order of their
// indices. Hashed vectors have about one in a hundred.
type Vector struct {
	Dim int
	At  []int32
	Val []float64
}

// Unit returns v, of finite entries, divided by its length; the zero vector stays.
func Unit(v []float64) Vector {
	u, _ := unit(v)
	return u
}

// unit returns what Unit does, and the index of the first entry that is not finite, -1 if there is none.
func unit(v []float64) (u Vector, bad int) {
	u.Dim = len(v)
	var largest float64
	n := 0
	for i, x := range v {
		if x != 0 {
			if x-x != 0 { // NaN for NaN and infinities
				return u, i
			}
			n++
			largest = max(largest, math.Abs(x))
		}
	}
	if n == 0 {
		return u, -1
	}
	u.At, u.Val = make([]int32, 0, n), make([]float64, 0, n)
	var sum float64
	for i, x := range v {
		if x != 0 {
			x /= largest // keeps the squares in range
			sum += x * x
			u.At, u.Val = append(u.At, int32(i)), append(u.Val, x)
		}
	}
	norm := math.Sqrt(sum)
	for i := range u.Val {
		u.Val[i] /= norm
	}
	return u, -1
}

// Zero says whether v is the zero vector: its text has no content.
func (u Vector) Zero() bool { return len(u.At) == 0 }

// Cosines writes the cosines of u with every vector of vs into dst. buf holds u.Dim zeros, before and after.
func (u Vector) Cosines(dst []float64, vs []Vector, buf []float64) {
	for i, at := range u.At {
		buf[at] = u.Val[i]
	}
	for j, v := range vs {
		var sum float64
		for i, at := range v.At {
			sum += v.Val[i] * buf[at]
		}
		dst[j] = max(-1, min(1, sum))
	}
	for _, at := range u.At {
		buf[at] = 0
	}
}

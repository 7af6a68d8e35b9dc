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

// Embed returns unit (or zero) vectors of the texts. An answer that cannot be used is the error that fault makes of the position of the
// text, -1 for the answer as a whole, and the reason.
func Embed(ctx context.Context, e Embedder, texts []string, fault func(index int, reason string) error) ([]Vector, error) {
	out := make([]Vector, 0, len(texts))
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
		if len(vs) != len(batch) {
			return nil, fault(-1, fmt.Sprintf("%d vectors for %d texts", len(vs), len(batch)))
		}
		for i, v := range vs {
			if dim == 0 {
				dim = len(v)
			}
			if len(v) == 0 || len(v) != dim {
				return nil, fault(start+i, fmt.Sprintf("has %d entries, want %d and not 0", len(v), dim))
			}
			for j, x := range v {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return nil, fault(start+i, fmt.Sprintf("has entry %d = %g, want a finite number", j, x))
				}
			}
			out = append(out, Unit(v))
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

// Unit returns v divided by its length; the zero vector stays.
func Unit(v []float64) Vector {
	u := Vector{Dim: len(v)}
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
	return u
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

package bps

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// FromVectors is [FromTexts] for callers with embeddings: relevance is the cosine of vectors instead of the words of texts. It returns
// positions in items.
//
// The first vector of query stands for the whole query, and each further one for a clause of it, for example a sentence or a subtask;
// without further ones, the whole query is the one clause. All vectors have one length; they need not be of unit length, and a zero
// vector is like nothing. A cosine below 1e-9 counts as 0: it is negative, or may be rounding alone. Item i costs tokens[i].
//
// The rest is as in FromTexts: the candidates are the TextOptions.Keep items that fit and are the most like the whole query; cosines
// are divided by their maximum over all items, for the query and for each clause; [NewClauses] makes the benefit, and [Select] does
// the rest. Relevance is relative, as there, and so are cosines: take the mean off vectors that all point into about the same direction,
// as those of many models do. An item whose cosine with the whole query is not positive is dropped with [DropNoMatch].
//
// A missing query, vectors of several lengths and entries that are not finite are [ErrBenefit]; a negative token count, or another
// number of them than items, is [ErrTokens]. TextOptions.Count and PinNamed must not be set. The time is that of one
// multiplication for each entry of an item and each vector of the query, and of the search.
func FromVectors(ctx context.Context, query, items [][]float64, tokens []int, budget int, o *TextOptions) (*Selection, error) {
	if o == nil {
		o = &TextOptions{}
	}
	switch {
	case o.Count != nil:
		return nil, errors.New("bps: TextOptions.Count is set, but vectors cannot be counted")
	case o.PinNamed:
		return nil, errors.New("bps: TextOptions.PinNamed is set, but vectors have no names")
	case len(query) == 0:
		return nil, fmt.Errorf("%w: no query vector", ErrBenefit)
	case len(tokens) != len(items):
		return nil, fmt.Errorf("%w: %d token counts for %d items", ErrTokens, len(tokens), len(items))
	}
	directions := make([][]float64, len(query))
	for k, v := range query {
		if err := checkVector(v, len(query[0])); err != nil {
			return nil, fmt.Errorf("%w: query vector %d %w", ErrBenefit, k, err)
		}
		directions[k] = direction(v)
	}
	for i, v := range items {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("bps: stopped after %d of %d items: %w", i, len(items), err)
		}
		if err := checkVector(v, len(query[0])); err != nil {
			return nil, fmt.Errorf("%w: item %d %w", ErrBenefit, i, err)
		}
		if tokens[i] < 0 {
			return nil, fmt.Errorf("%w: item %d has %d tokens, want >= 0", ErrTokens, i, tokens[i])
		}
	}

	cosines := func(k int) []float64 {
		out := make([]float64, len(items))
		for i, v := range items {
			out[i] = cosine(directions[k], v)
		}
		return out
	}
	r := &relevance{
		what:    "item",
		nothing: "no item is like the query",
		whole:   cosines(0),
		tokens:  func(i int) (int, error) { return tokens[i], nil },
	}
	if len(query) == 1 {
		r.clauses = []string{wholeQuery}
		r.clause = func(int) []float64 { return r.whole }
	} else {
		for k := range query[1:] {
			r.clauses = append(r.clauses, fmt.Sprintf("query vector %d", k+1))
		}
		r.clause = func(k int) []float64 { return cosines(k + 1) }
	}
	return r.choose(ctx, budget, o)
}

// checkVector reports another length and entries that are not finite.
func checkVector(v []float64, length int) error {
	if len(v) != length {
		return fmt.Errorf("has %d entries, want %d", len(v), length)
	}
	for j, x := range v {
		if !finite(x) {
			return fmt.Errorf("has entry %d = %v, want a finite number", j, x)
		}
	}
	return nil
}

// direction returns the vector of unit length in the direction of v, or the zero vector.
func direction(v []float64) []float64 {
	out := make([]float64, len(v))
	size := largest(v)
	if size == 0 {
		return out
	}
	sum := 0.0
	for j, x := range v {
		out[j] = x / size // squares of huge and tiny entries are no numbers
		sum += out[j] * out[j]
	}
	norm := math.Sqrt(sum)
	for j := range out {
		out[j] /= norm
	}
	return out
}

// leastCosine is more than rounding makes of a cosine of 0, which as the largest of all would count as full relevance.
const leastCosine = 1e-9

// cosine returns the cosine of v and a vector of unit length, or 0 if it is below leastCosine or v is zero.
func cosine(unit, v []float64) float64 {
	size := largest(v)
	if size == 0 {
		return 0
	}
	dot, sum := 0.0, 0.0
	for j, x := range v {
		x /= size
		dot += x * unit[j]
		sum += x * x
	}
	if cos := dot / math.Sqrt(sum); cos >= leastCosine {
		return cos
	}
	return 0
}

// largest returns the largest absolute value of v.
func largest(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}

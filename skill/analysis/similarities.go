package analysis

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/internal/vector"
)

// Similarities returns the cosine of a[i] and b[i] for every i under the embedder e, nil meaning skill.HashEmbedder{}: for
// example of descriptions and the texts that the skills come from. A text without content has similarity 0. Slices of
// unequal length, what the embedder fails with, an unusable answer ([*skill.VectorError], its index counting the texts of b after
// those of a) and a done ctx are errors. Memory holds the entries of all vectors that are not 0.
func Similarities(ctx context.Context, e skill.Embedder, a, b []string) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("analysis: similarities: %d texts of a but %d of b, want equal lengths", len(a), len(b))
	}
	if e == nil {
		e = skill.HashEmbedder{}
	}
	texts := make([]string, 0, 2*len(a))
	texts = append(append(texts, a...), b...)
	vs, err := vector.Embed(ctx, e, texts)
	if err != nil {
		return nil, fmt.Errorf("analysis: similarities: %w", err)
	}
	out := make([]float64, len(a))
	if len(a) == 0 {
		return out, nil
	}
	buf := make([]float64, vs[0].Dim)
	for i := range out {
		vs[i].Cosines(out[i:i+1], vs[len(a)+i:len(a)+i+1], buf)
	}
	return out, nil
}

package baseline

import "math"

// Cosine returns the cosine similarity of vectors, one a candidate: embeddings, or the supplies given to [bps.NewCapability]. It is
// 0 with a vector of zeros, also for that vector and itself. All vectors need one length and finite entries; otherwise the error is
// [ErrScore]. The vectors are copied. One call costs a multiplication an entry. For a candidate without a vector the similarity is NaN,
// which every rule refuses.
func Cosine(vectors [][]float64) (Similarity, error) {
	unit := make([][]float64, len(vectors))
	for i, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, invalid("Cosine", "vector %d has %d entries, want %d", i, len(v), len(vectors[0]))
		}
		// Dividing by the largest entry first keeps squares of huge or tiny entries in range.
		most := 0.0
		for k, x := range v {
			if !finite(x) {
				return nil, invalid("Cosine", "entry %d of vector %d is %v, want a finite number", k, i, x)
			}
			most = max(most, math.Abs(x))
		}
		unit[i] = make([]float64, len(v))
		if most == 0 {
			continue
		}
		sum := 0.0
		for k, x := range v {
			unit[i][k] = x / most
			sum += unit[i][k] * unit[i][k]
		}
		for k := range v {
			unit[i][k] /= math.Sqrt(sum)
		}
	}
	return func(i, j int) float64 {
		if min(i, j) < 0 || max(i, j) >= len(unit) {
			return math.NaN()
		}
		dot := 0.0
		for k, x := range unit[i] {
			dot += x * unit[j][k]
		}
		return dot
	}, nil
}

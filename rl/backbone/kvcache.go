package backbone

import "slices"

// transformerState is the state of a transformer: the keys and values of all tokens so far, by block.
type transformerState struct {
	*transformer
	n    int
	rows [][]float64
	// Scratch, a row for each token that is read at once: one block after the other goes over all of them, while its weights are in the cache.
	x, query, read, up []float64
	norm               normPass
	prob               []float64
}

func (t *transformer) newState() state {
	return &transformerState{transformer: t, rows: make([][]float64, t.layers), prob: make([]float64, t.attention.heads*t.maxLen)}
}

func (s *transformerState) clone() state {
	c := s.newState().(*transformerState)
	c.n = s.n
	for l, rows := range s.rows {
		c.rows[l] = slices.Clone(rows)
	}
	return c
}

func (s *transformerState) reset() {
	s.n = 0
	for l := range s.rows {
		s.rows[l] = s.rows[l][:0]
	}
}

func (s *transformerState) append(ids []int, out []float64) {
	d := s.dim
	x := grow(s.x, len(ids)*d)
	s.x = x
	for k, id := range ids {
		s.embed(x[k*d:][:d], id, s.n+k)
	}
	first := s.n // position of the first row of x
	s.n += len(ids)
	for l := range s.rows {
		s.norm.forward(x, s.block(l, norm1Scale), s.block(l, norm1Bias))
		have := len(s.rows[l])
		s.rows[l] = slices.Grow(s.rows[l], len(x)*2)[:s.n*2*d]
		multiply(s.rows[l][have:], s.norm.y, s.block(l, keyValueWeight), d, 2*d, 0)
		y := s.norm.y
		if l == s.layers-1 { // only the last row is wanted
			x, y, first = x[len(x)-d:], y[len(y)-d:], s.n-1
		}
		s.query, s.read, s.up = grow(s.query, len(x)), grow(s.read, len(x)), grow(s.up, hidden*len(x))
		multiply(s.query, y, s.block(l, queryWeight), d, d, 0)
		for k := range len(x) / d {
			s.attention.forward(s.read[k*d:][:d], s.prob, s.query[k*d:], s.rows[l], first+k+1)
		}
		multiply(x, s.read, s.block(l, outWeight), d, d, 1)
		s.norm.forward(x, s.block(l, norm2Scale), s.block(l, norm2Bias))
		repeat(s.up, s.block(l, upBias))
		multiply(s.up, s.norm.y, s.block(l, upWeight), d, hidden*d, 1)
		for i, v := range s.up {
			s.up[i] = gelu(v)
		}
		addToRows(x, s.block(l, downBias))
		multiply(x, s.up, s.block(l, downWeight), hidden*d, d, 1)
	}
	s.norm.forward(x, s.all[s.after(normScale)].W, s.all[s.after(normBias)].W)
	copy(out, s.norm.y)
}

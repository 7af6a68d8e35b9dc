package learn

import "math"

const (
	maxNumber = 1e9 // largest entry of a supply, a demand or a map, so that all sums are finite
	maxLog    = 20  // largest logarithm of a weight of a map
)

// side holds the rows of the skills, which are supplies, or those of the queries, which are demands. Rows have dim entries. A row is
// softplus(param) where each name has its own, else the sum over its features j of amount[j]*exp(param[j]).
type side struct {
	dim, n int
	*features
	param []float64 // a row a name, or a row a feature
	row   []float64 // a row a name: the result
	inner []float64 // derivative of softplus, or exp(param)
	outer []float64 // derivative of the loss by exp(param)
}

func newSide(dim, n int, f *features) side {
	s := side{dim: dim, n: n, features: f, row: make([]float64, n*dim)}
	s.inner = make([]float64, s.size())
	if f != nil {
		s.outer = make([]float64, s.size())
	}
	return s
}

// size is the number of parameters.
func (s *side) size() int {
	if s.features != nil {
		return len(s.scale) * s.dim
	}
	return s.n * s.dim
}

// forward computes row from param.
func (s *side) forward() {
	if s.features == nil {
		for i, x := range s.param {
			s.row[i], s.inner[i] = softplus(x)
		}
		return
	}
	for j, x := range s.param {
		s.inner[j] = math.Exp(min(x, maxLog))
	}
	clear(s.row)
	for i := range s.n {
		row := s.row[i*s.dim:][:s.dim]
		for e := s.start[i]; e < s.start[i+1]; e++ {
			a := s.amount[e]
			for k, x := range s.inner[int(s.column[e])*s.dim:][:len(row)] {
				row[k] += a * x
			}
		}
	}
}

// backward writes the derivatives by param to dst, given those by row and the weight of the sum of all rows or of the map.
func (s *side) backward(dst, row []float64, l1 float64) {
	if s.features == nil {
		for i, d := range row {
			dst[i] = (d + l1) * s.inner[i]
		}
		return
	}
	for j := range s.outer {
		s.outer[j] = l1 * s.unit
	}
	for i := range s.n {
		r := row[i*s.dim:][:s.dim]
		for e := s.start[i]; e < s.start[i+1]; e++ {
			a := s.amount[e]
			outer := s.outer[int(s.column[e])*s.dim:][:len(r)]
			for k, d := range r {
				outer[k] += a * d
			}
		}
	}
	for j, d := range s.outer {
		dst[j] = d * s.inner[j]
		if s.param[j] > maxLog {
			dst[j] = 0
		}
	}
}

// l1 returns the sum of what backward gives a weight to.
func (s *side) l1() float64 {
	sum := 0.0
	if s.features == nil {
		for _, v := range s.row {
			sum += v
		}
		return sum
	}
	for _, v := range s.inner {
		sum += v
	}
	return sum * s.unit
}

// softplus returns ln(1+e^x) and its derivative.
func softplus(x float64) (value, slope float64) {
	if x > 0 {
		e := math.Exp(-x)
		return x + math.Log1p(e), 1 / (1 + e)
	}
	e := math.Exp(x)
	return math.Log1p(e), e / (1 + e)
}

package benefit

import (
	"reflect"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

type mixture struct {
	weights []float64
	parts   []bps.Benefit
}

// sizedMixture is a mixture for a known number of candidates.
type sizedMixture struct {
	*mixture
	n int
}

// NewMixture returns the sum of other benefits of the same candidates:
//
//	G(S) = sum over parts j of weights[j] * parts[j](S)
//
// A part without the fast path costs a call of its Value for every gain; the others keep theirs. A part of weight 0 is never asked.
//
// There is one weight a part, finite and not negative; otherwise, and if a part is missing or two are known to be for different numbers
// of candidates, the error is [bps.ErrBenefit]. The slices are copied, the parts kept. The mixture is monotone and submodular if its
// parts are.
func NewMixture(parts []bps.Benefit, weights []float64) (bps.Incremental, error) {
	if len(weights) != len(parts) {
		return nil, invalid("%d weights for %d parts", len(weights), len(parts))
	}
	if err := checkWeights(weights); err != nil {
		return nil, err
	}
	n, from := 0, -1
	for j, b := range parts {
		if missing(b) {
			return nil, invalid("parts[%d] is nil", j)
		}
		if b, ok := b.(interface{ Len() int }); ok {
			if from >= 0 && b.Len() != n {
				return nil, invalid("parts[%d] is for %d candidates, parts[%d] for %d", from, n, j, b.Len())
			}
			n, from = b.Len(), j
		}
	}
	m := &mixture{weights: slices.Clone(weights), parts: slices.Clone(parts)}
	if from >= 0 {
		return sizedMixture{m, n}, nil
	}
	return m, nil
}

// missing also finds a nil function or pointer inside the interface.
func missing(b bps.Benefit) bool {
	v := reflect.ValueOf(b)
	return b == nil || (v.Kind() == reflect.Func || v.Kind() == reflect.Pointer) && v.IsNil()
}

// Len returns the number of candidates, which Select checks.
func (m sizedMixture) Len() int { return m.n }

func (m *mixture) part(set []int, j int) float64 {
	if m.weights[j] == 0 {
		return 0
	}
	return m.weights[j] * m.parts[j].Value(set)
}

func (m *mixture) Value(set []int) float64 {
	value := 0.0
	for j := range m.parts {
		value += m.part(set, j)
	}
	return value
}

// Parts returns the weighted value of every part.
func (m *mixture) Parts(set []int) []float64 {
	values := make([]float64, len(m.parts))
	for j := range values {
		values[j] = m.part(set, j)
	}
	return values
}

func (m *mixture) Start() bps.Gains {
	g := &mixtureGains{}
	for j, b := range m.parts {
		if m.weights[j] > 0 {
			g.weights = append(g.weights, m.weights[j])
			g.parts = append(g.parts, bps.Start(b))
		}
	}
	return g
}

type mixtureGains struct {
	weights []float64 // shared by clones, never written
	parts   []bps.Gains
}

func (g *mixtureGains) Gain(i int) float64 {
	gain := 0.0
	for j, w := range g.weights {
		gain += w * g.parts[j].Gain(i)
	}
	return gain
}

func (g *mixtureGains) Add(i int) {
	for _, p := range g.parts {
		p.Add(i)
	}
}

func (g *mixtureGains) Value() float64 {
	value := 0.0
	for j, w := range g.weights {
		value += w * g.parts[j].Value()
	}
	return value
}

func (g *mixtureGains) Clone() bps.Gains {
	c := &mixtureGains{weights: g.weights, parts: make([]bps.Gains, len(g.parts))}
	for j, p := range g.parts {
		c.parts[j] = p.Clone()
	}
	return c
}

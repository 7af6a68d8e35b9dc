package benefit

import (
	"slices"

	"github.com/throughline-go/throughline/bps"
)

type modular []float64

// NewModular returns the benefit that adds up one value a candidate, whatever else is chosen:
//
//	G(S) = sum over i in S of values[i]
//
// Within a [NewMixture] it is a bonus for each candidate. Values must be finite and not negative, with a finite sum; otherwise the error is
// [bps.ErrBenefit]. The slice is copied.
func NewModular(values []float64) (bps.Incremental, error) {
	all := 0.0
	for i, v := range values {
		if err := notNegative(v, "values[%d]", i); err != nil {
			return nil, err
		}
		all += v
	}
	if !finite(all) {
		return nil, invalid("the values add up to %v, want a finite number", all)
	}
	return modular(slices.Clone(values)), nil
}

// Len returns the number of candidates, which Select checks.
func (m modular) Len() int { return len(m) }

func (m modular) Value(set []int) float64 {
	value := 0.0
	for _, i := range set {
		value += m[i]
	}
	return value
}

func (m modular) Start() bps.Gains { return &modularGains{values: m} }

type modularGains struct {
	values modular // shared, never written
	value  float64
}

func (g *modularGains) Gain(i int) float64 { return g.values[i] }
func (g *modularGains) Add(i int)          { g.value += g.values[i] }
func (g *modularGains) Value() float64     { return g.value }
func (g *modularGains) Clone() bps.Gains   { return &modularGains{g.values, g.value} }

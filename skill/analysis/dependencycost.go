package analysis

import (
	"errors"
	"fmt"
)

// A Call is one call of a language model.
type Call struct {
	Input, Output int // tokens read and written, at least 0
}

// A Dependency is the result of [DependencyCost].
type Dependency struct {
	TokensSquared        float64
	BillionTokensSquared float64 // the same in 1e9 tokens², the unit of the paper
}

// DependencyCost adds up how many earlier tokens the tokens of all calls depend on: with p tokens in and o tokens out a
// call costs (2p + o)·o/2, the area under its growing context (appendix D.2 of arXiv:2608.20274, after the cost of
// MEM1). No calls cost 0. The sum is exact below 2^52. A negative count is an error.
func DependencyCost(calls []Call) (Dependency, error) {
	var d Dependency
	var faults []error
	for i, c := range calls {
		if c.Input < 0 || c.Output < 0 {
			faults = append(faults, fmt.Errorf("analysis: dependency cost: call %d has %d tokens in and %d out, want at least 0",
				i, c.Input, c.Output))
		}
		p, o := float64(c.Input), float64(c.Output)
		d.TokensSquared += (2*p + o) * o / 2
	}
	if err := errors.Join(faults...); err != nil {
		return Dependency{}, err
	}
	d.BillionTokensSquared = d.TokensSquared / 1e9
	return d, nil
}

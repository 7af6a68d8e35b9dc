package token

import (
	"fmt"
	"math"

	"github.com/throughline-go/throughline/rl"
)

// orDefault reads an option whose nil means def.
func orDefault(p *float64, def float64) float64 {
	if p == nil {
		return def
	}
	return *p
}

// checkRange returns an error unless the option has lo <= x <= hi and x is finite.
func checkRange(option string, x, lo, hi float64) error {
	switch {
	case x-x == 0 && x >= lo && x <= hi:
		return nil
	case math.IsInf(hi, 1):
		return fmt.Errorf("token: %s is %v, want a finite number >= %v", option, x, lo)
	default:
		return fmt.Errorf("token: %s is %v, want a number in [%v, %v]", option, x, lo, hi)
	}
}

// whiteningEps is that of verl, under the root; never changed.
var whiteningEps = 1e-8

// whitening returns the norm of all policy tokens of a batch, with the defaults of this package.
func whitening(option string, n rl.Norm) (rl.Norm, error) {
	if n.Std == rl.StdDefault {
		n.Std = rl.StdSample
	}
	if n.Eps == nil {
		n.Eps = &whiteningEps
	}
	if n.EpsPlace == rl.EpsDefault {
		n.EpsPlace = rl.EpsInsideSqrt
	}
	if _, err := n.Apply(nil); err != nil { // checks the options alone
		return n, fmt.Errorf("token: %s: %w", option, err)
	}
	return n, nil
}

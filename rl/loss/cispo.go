package loss

import (
	"errors"
	"math"
)

// CISPOOptions adjusts [CISPO]. A nil *CISPOOptions equals &CISPOOptions{}.
type CISPOOptions struct {
	ClipHigh   float64 // the ratio, as a weight, is at most 1+ClipHigh, > 0; zero means 0.2
	RatioClamp float64 // bound on the magnitude of the log-ratio before it is exponentiated, in (0, 300]; zero means 20
}

// CISPO returns the policy loss with a clipped importance weight (arXiv:2506.13585, equation 4, without a lower bound),
// summed with the weights of b, and its gradient with respect to LogProb. With ratio = exp(clamp(LogProb - OldLogProb))
// and advantage A each position adds Weight times
//
//	-min(ratio, 1+ClipHigh) * A * LogProb
//
// and to the gradient Weight times -min(ratio, 1+ClipHigh)*A: the ratio is a constant, so no token loses its gradient to
// the clip, nor to the clamp. The gradient is therefore not the derivative of the value. The band of the statistics is [0,
// 1+ClipHigh].
//
// Errors, cost and determinism are those of [PPO].
func CISPO(grad []float64, b Batch, o *CISPOOptions) (loss float64, stats Stats, err error) {
	if o == nil {
		o = &CISPOOptions{}
	}
	high, err := orPositive("CISPOOptions", "ClipHigh", o.ClipHigh, 0.2, math.Inf(1))
	clamp, errClamp := orPositive("CISPOOptions", "RatioClamp", o.RatioClamp, 20, maxClamp)
	if err := errors.Join(err, errClamp); err != nil {
		return 0, Stats{}, err
	}
	return sum(grad, b, clamp, cispo{1 + high})
}

type cispo struct{ most float64 }

func (c cispo) token(logProb, ratio, _, advantage float64) (loss, grad float64, outside bool) {
	g := -min(ratio, c.most) * advantage
	return g * logProb, g, ratio > c.most
}

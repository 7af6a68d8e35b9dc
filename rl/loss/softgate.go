package loss

import (
	"errors"
	"math"
)

// SoftGateOptions adjusts [SoftGate]. A nil *SoftGateOptions equals &SoftGateOptions{}.
type SoftGateOptions struct {
	TauPositive float64 // steepness of the gate where the advantage is above 0, > 0; zero means 1 (verl, TRL)
	TauNegative float64 // and elsewhere, > 0; zero means 1.05 (verl, TRL)
	RatioClamp  float64 // bound on the magnitude of the log-ratio before it is exponentiated, in (0, 300]; zero means 20
}

// SoftGate returns the policy loss whose clip is a smooth gate (arXiv:2511.20347), summed with the weights of b, and its
// gradient with respect to LogProb. With ratio = exp(clamp(LogProb - OldLogProb)), advantage A, tau by the sign of A and s =
// 1/(1 + exp(-tau*(ratio-1))) each position adds Weight times
//
//	-4/tau * s * A
//
// and to the gradient Weight times -4*s*(1-s)*ratio*A, or 0 where the clamp binds.
//
// That paper calls its method Soft Adaptive Policy Optimization, and verl and TRL have this loss under the name "sapo".
// It has nothing to do with [SAPO], which is that of arXiv:2608.19842, nor with arXiv:2603.10069, whose name has the same
// letters.
//
// Errors, cost and determinism are those of [PPO]. Statistics have no clip fraction.
func SoftGate(grad []float64, b Batch, o *SoftGateOptions) (loss float64, stats Stats, err error) {
	if o == nil {
		o = &SoftGateOptions{}
	}
	var t gate
	var errs [3]error
	t.positive, errs[0] = orPositive("SoftGateOptions", "TauPositive", o.TauPositive, 1, math.Inf(1))
	t.negative, errs[1] = orPositive("SoftGateOptions", "TauNegative", o.TauNegative, 1.05, math.Inf(1))
	clamp, err := orPositive("SoftGateOptions", "RatioClamp", o.RatioClamp, 20, maxClamp)
	errs[2] = err
	if err := errors.Join(errs[:]...); err != nil {
		return 0, Stats{}, err
	}
	return sum(grad, b, clamp, t)
}

type gate struct{ positive, negative float64 }

func (t gate) token(_, ratio, slope, advantage float64) (loss, grad float64, outside bool) {
	tau := t.negative
	if advantage > 0 {
		tau = t.positive
	}
	x := tau * (ratio - 1)
	e := math.Exp(-math.Abs(x)) // of the smaller of s and 1-s, so that neither is lost
	small := e / (1 + e)
	large := 1 / (1 + e)
	s := large
	if x < 0 {
		s = small
	}
	return -4 / tau * s * advantage, -4 * small * large * slope * advantage, false
}

package loss

import (
	"fmt"
	"math"
)

// KLKind names an estimate of the divergence from a reference policy by one sampled token.
type KLKind uint8

// The estimates (http://joschu.net/blog/kl-approx.html; names and clamps of verl), with d the log-probability under the
// reference minus that under the policy. Those with Plus have the value that their name says and the gradient of KL2, whose
// expectation over the tokens of the policy is that of KL(policy||reference); the expectation of KL1's is 0, and KL3's is that
// of KL(reference||policy).
const (
	KL3       KLKind = iota // e^d - 1 - d, at most 10; gradient 1 - e^d, or 0 where the bound holds, and d is clamped to ±20 before
	KL1                     // -d; gradient 1
	KLAbs                   // |d|; gradient -sign(d)
	KL2                     // d²/2; gradient -d
	KL3Plus                 // value of KL3, gradient -d
	KL1Plus                 // value of KL1, gradient -d
	KLAbsPlus               // value of KLAbs, gradient -d
)

// check returns an error for a kind without a name.
func (k KLKind) check(option string) error {
	if int(k) < len(klNames) {
		return nil
	}
	return fmt.Errorf("loss: %s is %d, want a named value below %d", option, k, len(klNames))
}

// The bounds of verl.
const (
	klClamp = 20 // on the magnitude of d before it is exponentiated
	klMost  = 10 // on the value of KL3: d > 2.6109 or d < -10.99998
)

// token returns the estimate and its derivative with respect to the log-probability under the policy.
func (k KLKind) token(d float64) (value, grad float64) {
	switch k {
	case KL1, KL1Plus:
		value, grad = -d, 1
	case KLAbs, KLAbsPlus:
		value = math.Abs(d)
		switch {
		case d > 0:
			grad = -1
		case d < 0:
			grad = 1
		}
	case KL2:
		value, grad = d*d/2, -d
	default:
		c := max(-klClamp, min(klClamp, d))
		exp := math.Exp(c)
		value, grad = k3(c, exp), 1-exp
		if value > klMost { // as it is wherever the clamp binds
			value, grad = klMost, 0
		}
	}
	if k >= KL3Plus {
		grad = -d
	}
	return value, grad
}

// KL returns the estimate of the divergence from a reference policy, by the tokens that were sampled, summed with the
// weights of b, and its gradient with respect to LogProb. It reads LogProb, RefLogProb and Weight. The loss of a trainer is
// beta times that; with weights of 1/N, such as those of TokenMean, the value is the mean that [KLController] takes.
//
// At d = 0 the gradient of KLAbs is 0; at the bound of KL3 it passes. What becomes of grad, errors, cost and determinism are
// those of [PPO]. [Head.KL] has the exact divergence.
func KL(grad []float64, b Batch, kind KLKind) (float64, error) {
	if err := kind.check("KLKind"); err != nil {
		return 0, err
	}
	if err := b.check(grad, readRef); err != nil {
		return 0, err
	}
	clear(grad)
	var total float64
	each := 1 / float64(len(b.LogProb))
	for j := range b.LogProb {
		w := each
		if b.Weight != nil {
			w = b.Weight[j]
		}
		if w == 0 {
			continue
		}
		v, g := kind.token(b.RefLogProb[j] - b.LogProb[j])
		total += w * v
		if grad != nil && g != 0 {
			grad[j] = w * g
			if !finite(grad[j]) {
				return 0, nonFinite(at("the gradient at LogProb", j), grad[j])
			}
		}
	}
	if !finite(total) {
		return 0, nonFinite("the loss", total)
	}
	return total, nil
}

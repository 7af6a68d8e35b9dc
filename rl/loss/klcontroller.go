package loss

import (
	"errors"
	"fmt"
	"math"
)

// A KLController holds the coefficient of the divergence from the reference policy. The zero value is the fixed coefficient
// 0. All of its state is in Beta.
type KLController struct {
	Beta     float64 // the coefficient in force, >= 0; the paper of SAPO and of MileGPO have 0.01. An adaptive one that is 0 stays 0
	Adaptive bool    // whether Update moves Beta towards Target; false means that Beta is fixed
	Target   float64 // the divergence aimed at, in nats, > 0; zero means 0.1 (verl)
	Horizon  float64 // trajectories in which Beta moves by at most a fifth, > 0; zero means 10000 (verl)
}

// Update changes Beta after an iteration over n trajectories whose mean divergence per token was kl (arXiv:1909.08593,
// section 2.2, as in verl): an adaptive Beta is multiplied by
//
//	1 + clip(kl/Target - 1, -0.2, 0.2) * n/Horizon
//
// and a fixed one stays. Errors are kl that is not finite, n < 0, n >= 5*Horizon, at which Beta could reach 0 and never
// leave it, and fields out of range; Beta is then unchanged. kl may be negative, as estimates can be.
func (c *KLController) Update(kl float64, n int) error {
	target, errTarget := orPositive("KLController", "Target", c.Target, 0.1, math.Inf(1))
	horizon, errHorizon := orPositive("KLController", "Horizon", c.Horizon, 10000, math.Inf(1))
	if err := errors.Join(notNegative("KLController.Beta", c.Beta), errTarget, errHorizon); err != nil {
		return err
	}
	if !finite(kl) {
		return nonFinite("kl", kl)
	}
	if n < 0 || float64(n) >= 5*horizon {
		return wrong("n", n, fmt.Sprintf("0 or more trajectories, below 5 times the horizon of %v", horizon), nil)
	}
	if !c.Adaptive {
		return nil
	}
	beta := c.Beta * (1 + max(-0.2, min(0.2, kl/target-1))*float64(n)/horizon)
	if !finite(beta) {
		return nonFinite("Beta after the update", beta)
	}
	c.Beta = beta
	return nil
}

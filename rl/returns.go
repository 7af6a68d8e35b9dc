package rl

// Bootstrap returns the value of what follows the last turn: 0 after [Terminated] and under [TruncationTerminal], else
// FinalValue, or [ErrNoFinalValue] if that is nil. TruncationDrop asks for nothing else, since dropping is up to the caller.
func (t *Trajectory) Bootstrap(tr Truncation) (float64, error) {
	if len(t.Turns) == 0 || t.Turns[len(t.Turns)-1].End != Truncated || tr == TruncationTerminal {
		return 0, nil
	}
	if t.FinalValue == nil {
		return 0, ErrNoFinalValue
	}
	return *t.FinalValue, nil
}

// The three targets below are building blocks for estimators of one's own, over one trajectory. They write one number per
// turn over dst, which grows if need be and comes back; after is the value of what follows the last turn, as
// [Trajectory.Bootstrap] gives it; excluded turns are part of the sweep. Nothing is checked: numbers that are not finite
// make results that are not.

// MonteCarlo computes the discounted return of each turn, G_t = r_t + gamma*G_{t+1} with after for the last G.
func (t *Trajectory) MonteCarlo(dst []float64, gamma, after float64) []float64 {
	dst = resize(dst, len(t.Turns))
	for k := len(t.Turns) - 1; k >= 0; k-- {
		after = t.Turns[k].Reward + gamma*after
		dst[k] = after
	}
	return dst
}

// LambdaReturns computes the lambda-return of each turn, the target of V:
//
//	y_t = r_t + gamma*((1-lambda)*V_{t+1} + lambda*y_{t+1})
//
// with after for the last V and y. It is MonteCarlo with lambda 1, and y_t - V_t is the advantage of GAE.
func (t *Trajectory) LambdaReturns(dst []float64, gamma, lambda, after float64) []float64 {
	dst = resize(dst, len(t.Turns))
	next, y := after, after
	for k := len(t.Turns) - 1; k >= 0; k-- {
		y = t.Turns[k].Reward + gamma*((1-lambda)*next+lambda*y)
		next = t.Turns[k].Value
		dst[k] = y
	}
	return dst
}

// SARSATargets computes the one-step target of Q of each turn, r_t + gamma*Q_{t+1}, with after for the last Q: no action
// exists after a cut, so V stands in (ours).
func (t *Trajectory) SARSATargets(dst []float64, gamma, after float64) []float64 {
	dst = resize(dst, len(t.Turns))
	for k := len(t.Turns) - 1; k >= 0; k-- {
		dst[k] = t.Turns[k].Reward + gamma*after
		after = t.Turns[k].QValue
	}
	return dst
}

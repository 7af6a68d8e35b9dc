package rl

import "math"

// Diagnostics describes what a [Credit] can teach. Shares are in [0, 1], and 0 where there is nothing to take a share of.
type Diagnostics struct {
	Trajectories int
	Voters       int            // trajectories with a vote
	Successes    int            // voters whose verdict is a success; without a verdict, whose score is above 0
	NoVote       map[string]int // trajectories without one, by reason
	Turns        int            // of all trajectories
	VotingTurns  int

	// Of groups, where the estimator compared any.
	Groups            int     // of two voters or more
	Singletons        int     // of one voter
	ZeroVarianceShare float64 // of Groups, those whose scores do not differ

	// Of voting turns.
	SingletonShare float64 // share that is alone with its Group and State, so that state groups say nothing about it
	EffectiveShare float64 // share with an advantage beyond 1e-8 in magnitude
	LargeShare     float64 // share with an advantage beyond 1 in magnitude
	Mean, Std      float64 // of advantages, Std over n
	Min, Max       float64

	// Share of the variance of the targets that the critic's values at collection time explain, at most 1, negative for a
	// critic worse than a constant; nil where the estimator gives no targets or they do not vary.
	ExplainedV, ExplainedQ *float64
}

// Diagnose describes c, the credit of batch. The error is a [*FieldError] around [ErrShape] if c does not fit batch.
// O(turns) time.
func (c *Credit) Diagnose(batch []Trajectory) (Diagnostics, error) {
	if !c.Fits(batch) {
		return Diagnostics{}, &FieldError{-1, -1, "the credit", "of another batch", "the credit of this one", ErrShape}
	}
	d := Diagnostics{
		Trajectories: len(batch), NoVote: map[string]int{}, Turns: len(c.Advantage),
		Groups: c.Groups, Singletons: c.Singletons, ZeroVarianceShare: share(c.ZeroVariance, c.Groups),
		Min: math.Inf(1), Max: math.Inf(-1),
	}
	type state struct{ group, state string }
	visits := map[state]int{}
	var advantages, targetV, valueV, targetQ, valueQ []float64
	effective, large, alone := 0, 0, 0
	for i := range batch {
		t := &batch[i]
		switch reason := c.NoVote[i]; reason {
		case "":
			d.Voters++
			if t.Success != nil && *t.Success || t.Success == nil && t.Score() > 0 {
				d.Successes++
			}
		case reasonNoTrainable:
			d.NoVote[reason]++
		default:
			d.NoVote[reason]++
			continue
		}
		for k := range t.Turns {
			turn, at := &t.Turns[k], c.Start[i]+k
			if turn.Excluded {
				continue
			}
			if c.ValueTarget != nil {
				targetV, valueV = append(targetV, c.ValueTarget[at]), append(valueV, turn.Value)
			}
			if c.QTarget != nil {
				targetQ, valueQ = append(targetQ, c.QTarget[at]), append(valueQ, turn.QValue)
			}
			if !c.Vote[at] {
				continue
			}
			a := c.Advantage[at]
			advantages = append(advantages, a)
			d.Min, d.Max = min(d.Min, a), max(d.Max, a)
			if math.Abs(a) > 1e-8 {
				effective++
			}
			if math.Abs(a) > 1 {
				large++
			}
			if turn.State == "" {
				alone++
				continue
			}
			s := state{t.Group, turn.State}
			visits[s]++
			switch visits[s] {
			case 1:
				alone++
			case 2:
				alone--
			}
		}
	}
	d.VotingTurns = len(advantages)
	d.SingletonShare = share(alone, d.VotingTurns)
	d.EffectiveShare = share(effective, d.VotingTurns)
	d.LargeShare = share(large, d.VotingTurns)
	d.ExplainedV = explained(targetV, valueV)
	d.ExplainedQ = explained(targetQ, valueQ)
	if d.VotingTurns == 0 {
		d.Min, d.Max = 0, 0
		return d, nil
	}
	s := measure(advantages, nil, StdPopulation)
	d.Mean, d.Std = s.mean*s.scale, s.sigma*s.scale
	return d, nil
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func explained(target, prediction []float64) *float64 {
	if x, ok := ExplainedVariance(target, prediction); ok {
		return &x
	}
	return nil
}

// ExplainedVariance returns 1 - Var(target - prediction)/Var(target): 1 for a perfect critic, 0 for one as good as a
// constant, negative for a worse one; a constant added to all predictions changes nothing. ok is false if it is not
// defined: the lengths differ, a number is not finite, or the targets vary no more than rounding makes them. O(n) time and memory.
func ExplainedVariance(target, prediction []float64) (explained float64, ok bool) {
	if len(target) != len(prediction) || len(target) == 0 {
		return 0, false
	}
	residual := make([]float64, len(target))
	for i, y := range target {
		residual[i] = y - prediction[i]
		if !finite(residual[i]) {
			return 0, false
		}
	}
	y, r := measure(target, nil, StdPopulation), measure(residual, nil, StdPopulation)
	if y.sigma <= 1e-8*max(1, y.largest) {
		return 0, false
	}
	ratio := r.sigma * r.scale / (y.sigma * y.scale)
	explained = 1 - ratio*ratio
	return explained, finite(explained)
}

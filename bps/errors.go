package bps

import "errors"

// Errors that callers may tell apart with [errors.Is]. The wrapping text names the candidate, the value and the broken rule. An
// option outside its range is another error, which names the field.
var (
	// ErrTokens reports a negative token count of a candidate or of the overhead.
	ErrTokens = errors.New("bps: invalid token count")
	// ErrBudget reports a budget that is negative, or too small for the pinned candidates.
	ErrBudget = errors.New("bps: invalid budget")
	// ErrPenalty reports a penalty that is negative, not finite, falling, or given twice.
	ErrPenalty = errors.New("bps: invalid penalty")
	// ErrIndex reports a pinned or excluded candidate that does not exist, or is listed twice.
	ErrIndex = errors.New("bps: invalid candidate")
	// ErrBenefit reports a missing benefit, one made for another number of candidates, input that no benefit can be made of, a
	// value or gain that is not finite, or gains that disagree with values.
	ErrBenefit = errors.New("bps: invalid benefit")
	// ErrNotMonotone reports a candidate that lowered the benefit of a set it was added to.
	ErrNotMonotone = errors.New("bps: benefit is not monotone")
	// ErrNotSubmodular reports a candidate that added more to a set than to a part of that set.
	ErrNotSubmodular = errors.New("bps: benefit is not submodular")
)

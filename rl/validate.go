package rl

import "fmt"

// Validate checks everything of a batch that an estimator or a loss may read: each trajectory has a turn, ends on its
// last turn and on no other, every reward, value and log-probability is finite, and no log-probability is above 0 by more
// than rounding, 1e-3, as a probability given by mistake is; FinalValue is read after a truncation only, and tokens only
// where they are trainable. A trajectory that is excluded as a whole is never read, so it may be empty, open or full of
// NaN. The error is nil or the first fault as a [*FieldError], which wraps [ErrOpenTrajectory] or [ErrNonFinite] where
// they apply.
//
// Estimators check what they read on their own; call Validate where a batch enters the program. O(turns + tokens).
func Validate(batch []Trajectory) error {
	for i := range batch {
		if err := validate(i, &batch[i]); err != nil {
			return err
		}
	}
	return nil
}

func validate(i int, t *Trajectory) error {
	if t.Excluded != "" {
		return nil
	}
	if err := checkEnds(i, t); err != nil {
		return err
	}
	return checkFinite(i, t, readValue|readFinal|readQ|readTokens)
}

// checkEnds checks that trajectory i has turns and ends on the last of them only.
func checkEnds(i int, t *Trajectory) error {
	if len(t.Turns) == 0 {
		return &FieldError{i, -1, "Turns", "empty", "at least one turn", nil}
	}
	last := len(t.Turns) - 1
	for k := range t.Turns {
		switch e := t.Turns[k].End; {
		case e > Truncated:
			return &FieldError{i, k, "End", e.String(), "Continue, Terminated or Truncated", nil}
		case k < last && e != Continue:
			return &FieldError{i, k, "End", e.String(), "continue on every turn but the last", ErrOpenTrajectory}
		case k == last && e == Continue:
			return &FieldError{i, k, "End", e.String(), "terminated or truncated on the last turn", ErrOpenTrajectory}
		}
	}
	return nil
}

// reads is the set of fields, rewards apart, that a computation reads.
type reads uint8

const (
	readValue  reads = 1 << iota // Value
	readFinal                    // FinalValue after a truncation
	readQ                        // QValue
	readTokens                   // log-probabilities and values of trainable tokens
)

// maxLogProb is what rounding in the low precision of models may make of log-probability 0.
const maxLogProb = 1e-3

func notLogProb(trajectory, turn int, field string, x float64) error {
	return &FieldError{trajectory, turn, field, fmt.Sprint(x), "a log-probability, at most 0", nil}
}

// checkFinite returns an error for the first number of trajectory i that is read and is not finite.
func checkFinite(i int, t *Trajectory, r reads) error {
	for k := range t.Turns {
		turn := &t.Turns[k]
		switch {
		case !finite(turn.Reward):
			return nonFinite(i, k, "Reward", turn.Reward)
		case r&readValue != 0 && !finite(turn.Value):
			return nonFinite(i, k, "Value", turn.Value)
		case r&readQ != 0 && !finite(turn.QValue):
			return nonFinite(i, k, "QValue", turn.QValue)
		case r&readFinal != 0 && turn.End == Truncated && t.FinalValue != nil && !finite(*t.FinalValue):
			return nonFinite(i, -1, "FinalValue", *t.FinalValue)
		}
		if r&readTokens == 0 || turn.Excluded {
			continue
		}
		for j := range turn.Tokens {
			switch tok := &turn.Tokens[j]; {
			case !tok.Trainable:
			case !finite(tok.LogProb):
				return nonFinite(i, k, fmt.Sprintf("Tokens[%d].LogProb", j), tok.LogProb)
			case !finite(tok.RefLogProb):
				return nonFinite(i, k, fmt.Sprintf("Tokens[%d].RefLogProb", j), tok.RefLogProb)
			case tok.LogProb > maxLogProb:
				return notLogProb(i, k, fmt.Sprintf("Tokens[%d].LogProb", j), tok.LogProb)
			case tok.RefLogProb > maxLogProb:
				return notLogProb(i, k, fmt.Sprintf("Tokens[%d].RefLogProb", j), tok.RefLogProb)
			case !finite(tok.Value):
				return nonFinite(i, k, fmt.Sprintf("Tokens[%d].Value", j), tok.Value)
			}
		}
	}
	return nil
}

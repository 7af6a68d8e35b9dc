package loss

import (
	"errors"
	"fmt"
	"math"
)

// PPOOptions adjusts [PPO]. A nil *PPOOptions equals &PPOOptions{}.
type PPOOptions struct {
	ClipLow  float64 // the ratio is clipped below at 1-ClipLow, in (0, 1); zero means 0.2
	ClipHigh float64 // and above at 1+ClipHigh, > 0; zero means 0.2
	// DualClip bounds the loss of a position with negative advantage A by -DualClip*A, > 1; nil means 3 (verl), 0 turns
	// it off.
	DualClip   *float64
	RatioClamp float64 // bound on the magnitude of the log-ratio before it is exponentiated, in (0, 300]; zero means 20 (verl)
}

// PPO returns the clipped policy loss (arXiv:1707.06347, equation 7, with the dual clip of arXiv:1912.09729), summed with
// the weights of b, and its gradient with respect to LogProb. With ratio = exp(clamp(LogProb - OldLogProb)) and advantage
// A each position adds Weight times
//
//	max(-A*ratio, -A*clip(ratio, 1-ClipLow, 1+ClipHigh)), at most -A*DualClip if A < 0
//
// and to the gradient Weight times -A*ratio where the unclipped term is the active one, ties included, and 0
// elsewhere: where A > 0 and ratio > 1+ClipHigh, or A < 0 and ratio < 1-ClipLow or > DualClip, or the clamp binds, or A
// = 0. Without a position of weight above 0 the loss is 0. The band of the statistics is [1-ClipLow, 1+ClipHigh].
//
// The gradient overwrites grad, which must be as long as the batch and must not overlap it, or nil if none is wanted; it
// is exactly 0 at positions of weight 0. Errors, all but those about options in a [*rl.FieldError]: [rl.ErrShape] for
// lengths that differ, [rl.ErrNonFinite] for a number that is read and is not finite or a log-ratio, gradient or loss
// that overflows, a log-probability that is read and is above 1e-3, a negative weight, and options out of range. After an
// error the content of grad is of no use. O(length) time, no allocation, deterministic.
func PPO(grad []float64, b Batch, o *PPOOptions) (loss float64, stats Stats, err error) {
	if o == nil {
		o = &PPOOptions{}
	}
	c, err := newClip("PPOOptions", o)
	if err != nil {
		return 0, Stats{}, err
	}
	return sum(grad, b, c.clamp, c)
}

// clip is the loss of one ratio with its options read.
type clip struct{ low, high, dual, clamp float64 }

func newClip(options string, o *PPOOptions) (clip, error) {
	c := clip{low: o.ClipLow, dual: orDefault(o.DualClip, 3)}
	var errLow, errDual error
	if c.low == 0 {
		c.low = 0.2
	}
	if !(c.low > 0 && c.low < 1) {
		errLow = fmt.Errorf("loss: %s.ClipLow is %v, want a number in (0, 1)", options, o.ClipLow)
	}
	high, errHigh := orPositive(options, "ClipHigh", o.ClipHigh, 0.2, math.Inf(1))
	if !(c.dual == 0 || c.dual > 1 && finite(c.dual)) {
		errDual = fmt.Errorf("loss: %s.DualClip is %v, want 0 or a finite number > 1", options, c.dual)
	}
	clamp, errClamp := orPositive(options, "RatioClamp", o.RatioClamp, 20, maxClamp)
	c.high, c.clamp = high, clamp
	return c, errors.Join(errLow, errHigh, errDual, errClamp)
}

func (c clip) token(_, ratio, slope, advantage float64) (loss, grad float64, outside bool) {
	outside = ratio < 1-c.low || ratio > 1+c.high
	switch {
	case advantage > 0 && ratio > 1+c.high:
		return -(1 + c.high) * advantage, 0, outside
	case advantage < 0 && ratio < 1-c.low:
		return -(1 - c.low) * advantage, 0, outside
	case advantage < 0 && c.dual > 0 && ratio > c.dual:
		return -c.dual * advantage, 0, outside
	}
	return -ratio * advantage, -slope * advantage, outside
}

package rl

import (
	"fmt"
	"math"
)

// A LossBatch holds the positions that a loss runs over, in parallel slices of equal length. Log-probabilities are in
// nats.
type LossBatch struct {
	LogProb    []float64 // under the policy being trained
	OldLogProb []float64 // under the policy that sampled the tokens, at the same temperature
	Advantage  []float64 // constants: no gradient flows into them
	// Weight is the factor of each position in the loss, finite and >= 0. A position of weight 0 is never read, and its
	// gradient is exactly 0. nil means 1/len(LogProb) each: the mean over tokens.
	//
	// For the mean over the N tokens that count in a batch with others give these 1/N and the others 0. Where a step of
	// the optimiser is split into micro-batches, N is the number of tokens that count in the whole step: losses and
	// gradients of the parts then add up to those of the whole, however it is cut. The mean of the means of sequences has
	// 1/(sequences * tokens that count in this one).
	Weight []float64
}

// PPOOptions adjusts [PPOLoss]. A nil *PPOOptions equals &PPOOptions{}.
type PPOOptions struct {
	ClipLow  float64 // the ratio is clipped below at 1-ClipLow, in (0, 1); zero means 0.2
	ClipHigh float64 // and above at 1+ClipHigh, > 0; zero means 0.2
	// DualClip bounds the loss of a position with negative advantage A by -DualClip*A, > 1; nil means 3 (verl), 0 turns
	// it off.
	DualClip   *float64
	RatioClamp float64 // bound on the magnitude of the log-ratio before it is exponentiated, in (0, 700]; zero means 20 (verl)
}

// PPOStats describes the positions of weight above 0 in one [PPOLoss]. Shares and means are over these positions, each
// counted once whatever its weight, and 0 if there are none.
type PPOStats struct {
	Tokens       int     // positions of weight above 0
	ClipFraction float64 // share with a ratio outside [1-ClipLow, 1+ClipHigh]
	ZeroGradient float64 // share with gradient 0
	MeanKL       float64 // mean of -D, D the log-ratio: estimate k1 of KL(old||new)
	ApproxKL     float64 // mean of e^D - 1 - D, with D clamped as in the loss: estimate k3 of the same, never negative
}

// PPOLoss returns the clipped policy loss (arXiv:1707.06347, equation 7, with the dual clip of arXiv:1912.09729),
// summed with the weights of b, and its gradient with respect to LogProb. With ratio = exp(clamp(LogProb - OldLogProb))
// and advantage A each position adds Weight times
//
//	max(-A*ratio, -A*clip(ratio, 1-ClipLow, 1+ClipHigh)), at most -A*DualClip if A < 0
//
// and to the gradient Weight times -A*ratio where the unclipped term is the active one, ties included, and 0
// elsewhere: where A > 0 and ratio > 1+ClipHigh, or A < 0 and ratio < 1-ClipLow or > DualClip, or the clamp binds, or A
// = 0. Without a position of weight above 0 the loss is 0.
//
// The gradient overwrites grad, which must be as long as the batch and must not overlap it, or nil if none is wanted;
// it is exactly 0 at positions of weight 0. Errors, all but those about options in a [*FieldError]: [ErrShape] for lengths
// that differ, [ErrNonFinite] for a number that is read and is not finite or a log-ratio or loss that overflows, a
// negative weight, and options out of range.
// After an error the content of grad is of no use. O(length) time, no allocation.
func PPOLoss(grad []float64, b LossBatch, o *PPOOptions) (loss float64, stats PPOStats, err error) {
	if o == nil {
		o = &PPOOptions{}
	}
	p, err := newClip(o)
	if err != nil {
		return 0, PPOStats{}, err
	}
	n, err := b.check(grad)
	if err != nil {
		return 0, PPOStats{}, err
	}
	clear(grad)
	if n == 0 {
		return 0, PPOStats{}, nil
	}
	stats.Tokens = n
	each := 1 / float64(len(b.LogProb))
	var outside, still int
	for j := range b.LogProb {
		w := each
		if b.Weight != nil {
			w = b.Weight[j]
		}
		if w == 0 {
			continue
		}
		d := b.LogProb[j] - b.OldLogProb[j]
		if !finite(d) {
			return 0, PPOStats{}, nonFinite(-1, -1, fmt.Sprintf("LogProb[%d] - OldLogProb[%d]", j, j), d)
		}
		clamped := max(-p.clamp, min(p.clamp, d))
		ratio := math.Exp(clamped)
		l, g := p.token(ratio, b.Advantage[j])
		if math.Abs(d) >= p.clamp {
			g = 0
		}
		loss += w * l
		if grad != nil {
			grad[j] = w * g // g is l or 0: where this overflows, so does the loss
		}
		if g == 0 {
			still++
		}
		if ratio < 1-p.low || ratio > 1+p.high {
			outside++
		}
		stats.MeanKL -= d
		stats.ApproxKL += math.Expm1(clamped) - clamped
	}
	if !finite(loss) {
		return 0, PPOStats{}, nonFinite(-1, -1, "the loss", loss)
	}
	total := float64(n)
	stats.ClipFraction = float64(outside) / total
	stats.ZeroGradient = float64(still) / total
	stats.MeanKL /= total
	stats.ApproxKL /= total
	return loss, stats, nil
}

// clip is the loss of one token with its options read.
type clip struct{ low, high, dual, clamp float64 }

func newClip(o *PPOOptions) (clip, error) {
	c := clip{o.ClipLow, o.ClipHigh, orDefault(o.DualClip, 3), o.RatioClamp}
	if c.low == 0 {
		c.low = 0.2
	}
	if c.high == 0 {
		c.high = 0.2
	}
	if c.clamp == 0 {
		c.clamp = 20
	}
	switch {
	case !(c.low > 0 && c.low < 1):
		return clip{}, fmt.Errorf("rl: PPOOptions.ClipLow is %v, want a number in (0, 1)", o.ClipLow)
	case !(c.high > 0 && finite(c.high)):
		return clip{}, fmt.Errorf("rl: PPOOptions.ClipHigh is %v, want a finite number > 0", o.ClipHigh)
	case !(c.dual == 0 || c.dual > 1 && finite(c.dual)):
		return clip{}, fmt.Errorf("rl: PPOOptions.DualClip is %v, want 0 or a finite number > 1", c.dual)
	case !(c.clamp > 0 && c.clamp <= 700): // exp(709.8) overflows
		return clip{}, fmt.Errorf("rl: PPOOptions.RatioClamp is %v, want a number in (0, 700]", o.RatioClamp)
	}
	return c, nil
}

// token returns the loss and the derivative with respect to the log of ratio.
func (c clip) token(ratio, advantage float64) (loss, grad float64) {
	switch {
	case advantage > 0 && ratio > 1+c.high:
		return -(1 + c.high) * advantage, 0
	case advantage < 0 && ratio < 1-c.low:
		return -(1 - c.low) * advantage, 0
	case advantage < 0 && c.dual > 0 && ratio > c.dual:
		return -c.dual * advantage, 0
	case advantage == 0:
		return 0, 0 // not -0*ratio, whose sign would show
	}
	return -ratio * advantage, -ratio * advantage
}

// check checks lengths, weights and the numbers that are read, and returns the number of positions of weight above 0.
func (b *LossBatch) check(grad []float64) (n int, err error) {
	size := len(b.LogProb)
	length := func(field string, got int) error {
		if got == size {
			return nil
		}
		return &FieldError{-1, -1, field, fmt.Sprintf("of length %d", got), fmt.Sprintf("length %d of LogProb", size), ErrShape}
	}
	if err := length("OldLogProb", len(b.OldLogProb)); err != nil {
		return 0, err
	}
	if err := length("Advantage", len(b.Advantage)); err != nil {
		return 0, err
	}
	if b.Weight != nil {
		if err := length("Weight", len(b.Weight)); err != nil {
			return 0, err
		}
	}
	if grad != nil {
		if err := length("grad", len(grad)); err != nil {
			return 0, err
		}
	}
	for j := range b.LogProb {
		if b.Weight != nil {
			switch w := b.Weight[j]; {
			case !finite(w):
				return 0, nonFinite(-1, -1, fmt.Sprintf("Weight[%d]", j), w)
			case w < 0:
				return 0, &FieldError{-1, -1, fmt.Sprintf("Weight[%d]", j), fmt.Sprint(w), "a number >= 0", nil}
			case w == 0:
				continue
			}
		}
		n++
		switch {
		case !finite(b.LogProb[j]):
			return 0, nonFinite(-1, -1, fmt.Sprintf("LogProb[%d]", j), b.LogProb[j])
		case !finite(b.OldLogProb[j]):
			return 0, nonFinite(-1, -1, fmt.Sprintf("OldLogProb[%d]", j), b.OldLogProb[j])
		case !finite(b.Advantage[j]):
			return 0, nonFinite(-1, -1, fmt.Sprintf("Advantage[%d]", j), b.Advantage[j])
		}
	}
	return n, nil
}

package loss

import (
	"fmt"
	"math"

	"github.com/throughline-go/throughline/rl"
)

// TurnRatioOptions adjusts [TurnRatio]. A nil *TurnRatioOptions equals &TurnRatioOptions{}.
type TurnRatioOptions struct {
	ClipLow    float64 // the ratio is clipped below at 1-ClipLow, in (0, 1); zero means 0.2
	ClipHigh   float64 // and above at 1+ClipHigh, > 0; zero means 0.2
	RatioClamp float64 // bound on the magnitude of the mean log-ratio before it is exponentiated, in (0, 300]; zero means 20
}

// TurnRatio returns the clipped loss with one ratio per turn, as in GAGPO (arXiv:2605.13217; GSPO, arXiv:2507.18071, has one
// per response), summed with the weights of b, and its gradient with respect to LogProb. A turn with M tokens of weight
// above 0, which have the advantage A and weights that sum to W, adds
//
//	W * max(-A*ratio, -A*clip(ratio, 1-ClipLow, 1+ClipHigh)), ratio = exp(clamp(mean of LogProb - OldLogProb))
//
// and to the gradient at each of these tokens W * -A*ratio/M where the unclipped term is the active one, ties included;
// elsewhere, and where the clamp binds, 0. It is [PPO] on that ratio without the bound on the loss where A < 0, DualClip. GSPO
// and GAGPO weigh turns alike, whatever their lengths: use the weights of TurnMeanTokenMean, where [Weights] has those of
// tokens by default. GSPO's own band is much narrower, 3e-4 and 4e-4.
//
// turn gives each position its turn, as [Turns] does: positions with equal numbers, one after another, are one turn.
// Positions of weight 0 are not read, nor is their turn, and are not in M; do not cut a turn in two micro-batches. All
// tokens of a turn that are read must have the same advantage.
//
// Errors, cost and determinism are those of [PPO], and an error for advantages that differ within a turn. Shares and
// means of the statistics are over tokens: those of a long turn count more.
func TurnRatio(grad []float64, b Batch, turn []int, o *TurnRatioOptions) (loss float64, stats Stats, err error) {
	if o == nil {
		o = &TurnRatioOptions{}
	}
	c, err := newClip("TurnRatioOptions", &PPOOptions{ClipLow: o.ClipLow, ClipHigh: o.ClipHigh, RatioClamp: o.RatioClamp})
	if err != nil {
		return 0, Stats{}, err
	}
	c.dual = 0
	if err := b.check(grad, readOld|readAdvantage); err != nil {
		return 0, Stats{}, err
	}
	if err := length("turn", len(turn), "LogProb", len(b.LogProb)); err != nil {
		return 0, Stats{}, err
	}
	clear(grad)
	var count tally
	for from := 0; from < len(turn); {
		t, err := b.turn(turn, from)
		if err != nil {
			return 0, Stats{}, err
		}
		if t.tokens > 0 {
			loss += c.turn(grad, b, from, t, &count)
		}
		from = t.to
	}
	if !finite(loss) { // where a gradient overflows, so does the loss
		return 0, Stats{}, nonFinite("the loss", loss)
	}
	if err := count.check(); err != nil {
		return 0, Stats{}, err
	}
	return loss, count.stats(), nil
}

// oneTurn is a run of positions of one turn.
type oneTurn struct {
	to                          int // the position after it
	tokens                      int // of weight above 0
	logRatio, weight, advantage float64
}

// turn returns the turn that begins at position from, and what it is made of.
func (b *Batch) turn(turn []int, from int) (t oneTurn, err error) {
	each, first := 1/float64(len(turn)), 0
	for t.to = from; t.to < len(turn); t.to++ {
		j, w := t.to, each
		if b.Weight != nil {
			w = b.Weight[j]
		}
		switch {
		case w == 0:
			continue
		case t.tokens == 0:
			t.advantage, first = b.Advantage[j], j
		case turn[j] != turn[first]:
			t.logRatio /= float64(t.tokens)
			return t, nil
		case b.Advantage[j] != t.advantage:
			return t, wrong(at("Advantage", j), b.Advantage[j], fmt.Sprintf("%v as at position %d of the same turn", t.advantage, first), nil)
		}
		d := b.LogProb[j] - b.OldLogProb[j]
		t.logRatio += d
		if !finite(t.logRatio) {
			return t, nonFinite(fmt.Sprintf("the sum of LogProb - OldLogProb in the turn up to position %d", j), t.logRatio)
		}
		t.tokens++
		t.weight += w
	}
	t.logRatio /= float64(max(1, t.tokens))
	return t, nil
}

// turn returns the loss of a turn, and writes its gradient.
func (c clip) turn(grad []float64, b Batch, from int, t oneTurn, count *tally) float64 {
	ratio := math.Exp(max(-c.clamp, min(c.clamp, t.logRatio)))
	slope := ratio
	if math.Abs(t.logRatio) >= c.clamp {
		slope = 0
	}
	l, g, outside := c.token(0, ratio, slope, t.advantage)
	for j := from; j < t.to; j++ {
		if b.Weight != nil && b.Weight[j] == 0 {
			continue
		}
		if grad != nil && g != 0 {
			grad[j] = t.weight * g / float64(t.tokens)
		}
		d := b.LogProb[j] - b.OldLogProb[j]
		clamped := max(-c.clamp, min(c.clamp, d))
		count.add(d, clamped, math.Exp(clamped), ratio, outside, g)
	}
	return t.weight * l
}

// Turns returns, for each token of batch that has Trainable set, in the order of trajectories, turns and tokens, the
// position of its turn among all turns of the batch: the walk of [rl.Credit.TokenAdvantages] and [Weights], for
// [TurnRatio]. It is written over dst, which grows if need be. O(tokens) time.
func Turns(dst []int, batch []rl.Trajectory) []int {
	dst = dst[:0]
	turn := 0
	for i := range batch {
		for k := range batch[i].Turns {
			for j := range batch[i].Turns[k].Tokens {
				if batch[i].Turns[k].Tokens[j].Trainable {
					dst = append(dst, turn)
				}
			}
			turn++
		}
	}
	return dst
}

package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// A part is what one turn, or one mini-batch, has of a loss: terms that add up, and statistics to be averaged.
type part struct {
	policy, value, q, kl, entropy float64
	stats                         loss.Stats
	v, qv                         loss.ReadoutStats
}

// sum adds parts up in their order.
func sum(parts []part) part {
	var s part
	var weight, values, qvalues float64
	for i := range parts {
		p := &parts[i]
		s.policy += p.policy
		s.value += p.value
		s.q += p.q
		s.kl += p.kl
		s.entropy += p.entropy
		n := float64(p.stats.Tokens)
		s.stats.Tokens += p.stats.Tokens
		s.stats.ClipFraction += n * p.stats.ClipFraction
		s.stats.ZeroGradient += n * p.stats.ZeroGradient
		s.stats.MeanKL += n * p.stats.MeanKL
		s.stats.ApproxKL += n * p.stats.ApproxKL
		s.stats.ESS += n * p.stats.ESS
		weight += n
		values += readouts(&s.v, &p.v)
		qvalues += readouts(&s.qv, &p.qv)
	}
	if weight > 0 {
		s.stats.ClipFraction /= weight
		s.stats.ZeroGradient /= weight
		s.stats.MeanKL /= weight
		s.stats.ApproxKL /= weight
		s.stats.ESS /= weight
	}
	if values > 0 {
		s.v.Saturated /= values
		s.v.Clipped /= values
	}
	if qvalues > 0 {
		s.qv.Saturated /= qvalues
		s.qv.Clipped /= qvalues
	}
	return s
}

// readouts adds p to s, shares weighted by the number of values, which it returns.
func readouts(s, p *loss.ReadoutStats) float64 {
	n := float64(p.Values)
	s.Values += p.Values
	s.Clipped += n * p.Clipped
	s.Saturated += n * p.Saturated
	s.OutOfRange += p.OutOfRange
	return n
}

// weights returns how tokens are weighed.
func (t *Trainer) weights() *loss.WeightOptions {
	return &loss.WeightOptions{Aggregation: t.algorithm.Aggregation, TurnSequences: true, Length: t.s.maxResponse, SkipFlat: t.s.SkipFlat}
}

// update runs the epochs of one iteration over a batch with its credit, and notes what became of them.
func (t *Trainer) update(ctx context.Context, b *batch, c *rl.Credit, it *Iteration) error {
	tokens, err := loss.NewBatch(nil, b.trajectories, c, t.weights())
	if err != nil {
		return err
	}
	var shared []loss.SAPOTurn
	if t.algorithm.Values == SharedValues {
		if shared, err = loss.SAPOTurns(nil, b.trajectories, c); err != nil {
			return err
		}
	}
	targets, err := t.criticTargets(b, c, tokens.Weight)
	if err != nil {
		return err
	}
	at := t.counted(b, c, tokens, shared, targets)
	size := t.s.MiniBatch
	if size == 0 || size > len(at) {
		size = len(at)
	}
	var parts []part
	rng := rand.New(rand.NewPCG(t.stream("shuffle", uint64(it.Number)), 1))
	steps := 0
	for range t.s.Epochs {
		if size < len(at) {
			rng.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
		}
		for lo := 0; lo < len(at); lo += size {
			if err := ctx.Err(); err != nil {
				return err
			}
			p, err := t.step(ctx, b, at[lo:min(lo+size, len(at))], tokens, shared, targets, it)
			if err != nil {
				return err
			}
			parts = append(parts, p)
			steps++
			t.progress("update", steps, t.s.Epochs*((len(at)+size-1)/size))
			if t.s.TargetKL > 0 && p.stats.ApproxKL > 1.5*t.s.TargetKL {
				it.StoppedEarly = true
				it.note(parts)
				return nil
			}
		}
	}
	it.note(parts)
	return nil
}

// sums sets the weights of a mini-batch under an aggregation that adds up the tokens of a sequence: the mean is over the sequences of the
// mini-batch, and a constant stays, where Batch.Take, which keeps the sum of the weights, would let long sequences make all others lighter.
func (t *Trainer) sums(b *batch, at []int, all []float64, mb *loss.Batch, positions []int) {
	factor := 1.0
	switch t.algorithm.Aggregation {
	case loss.SeqSumNorm:
	case loss.SeqMeanTokenSum, loss.SeqMeanTokenSumNorm:
		counts := func(i int) bool { return weighty(all[b.offset[i]:b.offset[i+1]]) }
		whole, part := 0, 0
		for i := range b.rows {
			if counts(i) {
				whole++
			}
		}
		for _, i := range at {
			if counts(i) {
				part++
			}
		}
		factor = float64(whole) / float64(max(1, part))
	default:
		return
	}
	for k, j := range positions {
		mb.Weight[k] = factor * all[j]
	}
}

// weighty reports whether any weight is above 0.
func weighty(weights []float64) bool {
	return slices.ContainsFunc(weights, func(w float64) bool { return w > 0 })
}

// counted returns the rows that something is learnt from.
func (t *Trainer) counted(b *batch, c *rl.Credit, tokens *loss.Batch, shared []loss.SAPOTurn, targets *loss.ValueBatch) []int {
	var at []int
	for _, i := range b.readable() {
		counts := c.Vote[i] && b.offset[i] < b.offset[i+1]
		if shared == nil { // a trajectory that is skipped has votes, and weights of 0
			counts = weighty(tokens.Weight[b.offset[i]:b.offset[i+1]])
		}
		if shared != nil {
			counts = counts || !shared[i].NoV || !shared[i].NoQ
		}
		if targets != nil && t.algorithm.Values == TurnCritic {
			counts = counts || targets.Weight[i] > 0
		}
		if counts {
			at = append(at, i)
		}
	}
	return at
}

// step is one optimiser step, on the rows at.
func (t *Trainer) step(ctx context.Context, b *batch, at []int, tokens *loss.Batch, shared []loss.SAPOTurn, targets *loss.ValueBatch, it *Iteration) (part, error) {
	var p part
	var err error
	if shared != nil {
		p, err = t.sharedLoss(ctx, b, at, shared)
	} else {
		var positions []int
		for _, i := range at {
			for j := b.offset[i]; j < b.offset[i+1]; j++ {
				positions = append(positions, j)
			}
		}
		var mb *loss.Batch
		if mb, err = tokens.Take(nil, positions); err == nil {
			t.sums(b, at, tokens.Weight, mb, positions)
			p, err = t.policyLoss(ctx, b, at, mb)
		}
	}
	if err != nil {
		return p, err
	}
	factor := t.s.schedule.Factor(t.steps + 1)
	it.Rate = t.s.Rate * factor
	norm, err := t.model.Step(ctx, it.Rate)
	skipped, err := nonFinite(err)
	if err != nil {
		return p, err
	}
	if !skipped { // a norm that is not finite has no place in metrics
		it.GradNorm = max(it.GradNorm, norm)
	}
	if targets != nil {
		v, err := t.criticLoss(ctx, b, at, targets)
		if err != nil {
			return p, err
		}
		p.value, p.v = v.value, v.v
		norm, err := t.critic.Step(ctx, t.s.CriticRate*factor)
		critic, err := nonFinite(err)
		if err != nil {
			return p, err
		}
		if !critic {
			it.CriticGradNorm = max(it.CriticGradNorm, norm)
		}
		skipped = skipped || critic
	}
	t.steps++
	if !skipped {
		t.skipped = 0
		return p, nil
	}
	it.Skipped++
	if t.skipped++; t.skipped >= 3 { // up to two in a row pass
		return p, fmt.Errorf("train: the gradient was not finite %d times in a row: %w", t.skipped, rl.ErrNonFinite)
	}
	return p, nil
}

// nonFinite tells a step that was skipped because its gradient was not finite from other errors.
func nonFinite(err error) (skipped bool, _ error) {
	if errors.Is(err, rl.ErrNonFinite) {
		return true, nil
	}
	return false, err
}

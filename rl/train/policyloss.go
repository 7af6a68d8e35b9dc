package train

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// policyLoss is the loss of the policy for one mini-batch: with w the weights of the aggregation, summed over tokens,
//
//	w * (L_pol + KLWeight*L_KL - EntropyWeight*H)
//
// It returns its gradient to the model. at are the rows of the mini-batch, mb their trainable tokens, in that order.
func (t *Trainer) policyLoss(ctx context.Context, b *batch, at []int, mb *loss.Batch) (part, error) {
	rows := take(b.rows, at)
	parts := make([]part, len(at))
	from := make([]int, len(at)+1) // of each row in mb
	for k, i := range at {
		from[k+1] = from[k] + len(b.places(i))
	}
	grad := make([]float64, from[len(at)])
	if model, ok := t.model.(rl.LogitModel); ok {
		err := model.ForwardBackward(ctx, rows, func(k int, dz, out [][]float64) error {
			i, lo, hi := at[k], from[k], from[k+1]
			for n, j := range b.places(i) {
				v := look(t.s.Head, &rows[k], j, out[j], nil)
				var err error
				if mb.LogProb[lo+n], err = v.head.LogProb(nil, v.z, v.action, 0); err != nil {
					return err
				}
			}
			if err := t.tokenLoss(&parts[k], grad[lo:hi], mb, lo, hi); err != nil {
				return err
			}
			for n, j := range b.places(i) {
				w := mb.Weight[lo+n]
				if w == 0 {
					continue
				}
				v := look(t.s.Head, &rows[k], j, out[j], dz[j])
				if _, err := v.head.LogProb(v.dz, v.z, v.action, grad[lo+n]); err != nil {
					return err
				}
				h, err := v.head.Entropy(v.dz, v.z, -t.s.entropyWeight*w)
				if err != nil {
					return err
				}
				parts[k].entropy += w * h
				v.scatter(dz[j])
			}
			return nil
		})
		return mean(sum(parts), mb.Weight), err
	}
	logp, err := t.model.LogProbs(ctx, rows)
	if err != nil {
		return part{}, err
	}
	if err := shape("log-probabilities", logp, rows); err != nil {
		return part{}, err
	}
	weight := make([][]float64, len(at))
	for k, i := range at {
		lo, hi := from[k], from[k+1]
		for n, j := range b.places(i) {
			mb.LogProb[lo+n] = logp[k][j]
		}
		if err := t.tokenLoss(&parts[k], grad[lo:hi], mb, lo, hi); err != nil {
			return part{}, err
		}
		weight[k] = make([]float64, len(logp[k]))
		for n, j := range b.places(i) {
			weight[k][j] = grad[lo+n]
		}
	}
	return mean(sum(parts), mb.Weight), t.model.AddGrad(ctx, rows, weight)
}

// mean turns the weighted sums of divergence and entropy into means, for the report and the controller of the divergence.
func mean(p part, weights []float64) part {
	var total float64
	for _, w := range weights {
		total += w
	}
	if total > 0 {
		p.kl /= total
		p.entropy /= total
	}
	return p
}

// tokenLoss adds up the losses of the tokens lo to hi of mb, those of one turn, and sets grad to their gradient by log-probability.
func (t *Trainer) tokenLoss(p *part, grad []float64, mb *loss.Batch, lo, hi int) error {
	b := loss.Batch{LogProb: mb.LogProb[lo:hi], OldLogProb: mb.OldLogProb[lo:hi], Advantage: mb.Advantage[lo:hi], Weight: mb.Weight[lo:hi]}
	var err error
	switch {
	case t.algorithm.Loss != nil:
		if p.policy, p.stats, err = t.algorithm.Loss(grad, b); err != nil {
			return fmt.Errorf("train: Algorithm.Loss: %w", err)
		}
		for j, g := range grad {
			if g-g != 0 || p.policy-p.policy != 0 {
				return fmt.Errorf("train: Algorithm.Loss: the loss is %v, and its gradient %v at token %d of a turn: %w", p.policy, g, j, rl.ErrNonFinite)
			}
		}
	case t.algorithm.TurnLoss:
		p.policy, p.stats, err = loss.TurnRatio(grad, b, make([]int, hi-lo), &t.s.TurnRatio)
	default:
		p.policy, p.stats, err = loss.PPO(grad, b, &t.s.PPO)
	}
	if err != nil || t.kl.Beta == 0 || len(mb.RefLogProb) == 0 {
		return err
	}
	b.RefLogProb = mb.RefLogProb[lo:hi]
	dkl := make([]float64, hi-lo)
	if p.kl, err = loss.KL(dkl, b, t.s.KL); err != nil {
		return err
	}
	for n, g := range dkl {
		grad[n] += t.kl.Beta * g
	}
	return nil
}

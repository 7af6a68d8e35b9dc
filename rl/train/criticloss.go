package train

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// criticTargets returns the values that a critic apart learns, one per turn or one per trainable token of the batch; nil without such a
// critic.
func (t *Trainer) criticTargets(b *batch, c *rl.Credit, tokenWeights []float64) (*loss.ValueBatch, error) {
	switch t.algorithm.Values {
	case TurnCritic:
		return loss.NewValueBatch(nil, b.trajectories, c)
	case TokenCritic:
		if len(c.TokenTarget) != len(b.place) {
			return nil, fmt.Errorf("train: algorithm %q has a critic of tokens, and its Credit gives %d targets for %d tokens: %w",
				t.algorithm.Name, len(c.TokenTarget), len(b.place), rl.ErrShape)
		}
		v := &loss.ValueBatch{Target: c.TokenTarget, Weight: tokenWeights}
		for i := range b.rows {
			for n := range b.places(i) {
				v.Old = append(v.Old, b.token(i, n).Value)
			}
		}
		v.Value = append(v.Value, v.Old...)
		return v, nil
	}
	return nil, nil
}

// criticLoss is the loss of a critic apart for one mini-batch, the mean over what counts in it, and returns its gradient to the critic.
func (t *Trainer) criticLoss(ctx context.Context, b *batch, at []int, all *loss.ValueBatch) (part, error) {
	turns := t.algorithm.Values == TurnCritic
	rows := take(b.rows, at)
	if turns {
		rows = contexts(rows)
	}
	// The value of turn i is number i of all, those of its tokens are the numbers offset[i] to offset[i+1].
	span := func(i int) (lo, hi int) {
		if turns {
			return i, i + 1
		}
		return b.offset[i], b.offset[i+1]
	}
	counted := 0
	for _, i := range at {
		for lo, hi := span(i); lo < hi; lo++ {
			if all.Weight[lo] > 0 {
				counted++
			}
		}
	}
	if counted == 0 {
		return part{}, nil
	}
	parts := make([]part, len(at))
	o := &loss.ValueOptions{Clip: &t.s.valueClip}
	err := t.critic.ForwardBackward(ctx, rows, func(k int, grad, out [][]float64) error {
		if err := scalars(out, len(rows[k].Tokens)-rows[k].Start); err != nil {
			return err
		}
		lo, hi := span(at[k])
		v := loss.ValueBatch{Old: all.Old[lo:hi], Target: all.Target[lo:hi], Value: make([]float64, hi-lo), Weight: make([]float64, hi-lo)}
		place := []int{0}
		if !turns {
			place = b.places(at[k])
		}
		for n, j := range place {
			v.Value[n] = out[j][0]
			if all.Weight[lo+n] > 0 {
				v.Weight[n] = 1 / float64(counted)
			}
		}
		dv := make([]float64, hi-lo)
		var err error
		if parts[k].value, parts[k].v.ValueStats, err = loss.Value(dv, v, o); err != nil {
			return err
		}
		for n, j := range place {
			grad[j][0] = dv[n]
		}
		return nil
	})
	return sum(parts), err
}

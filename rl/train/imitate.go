package train

import (
	"context"

	"github.com/throughline-go/throughline/rl"
)

// imitate adds the gradient of the mean negative log-probability of the trainable tokens of the rows at, and returns the sum and the number
// of tokens.
func (t *Trainer) imitate(ctx context.Context, b *batch, at []int) (total float64, n int, err error) {
	rows := take(b.rows, at)
	for _, i := range at {
		n += len(b.places(i))
	}
	sums := make([]float64, len(at))
	if model, ok := t.model.(rl.LogitModel); ok {
		err = model.ForwardBackward(ctx, rows, func(k int, dz, out [][]float64) error {
			for _, j := range b.places(at[k]) {
				v := look(t.s.Head, &rows[k], j, out[j], dz[j])
				l, err := v.head.LogProb(v.dz, v.z, v.action, -1/float64(n))
				if err != nil {
					return err
				}
				v.scatter(dz[j])
				sums[k] -= l
			}
			return nil
		})
	} else {
		var logp [][]float64
		if logp, err = t.model.LogProbs(ctx, rows); err != nil {
			return 0, n, err
		}
		if err := shape("log-probabilities", logp, rows); err != nil {
			return 0, n, err
		}
		weight := make([][]float64, len(at))
		for k, i := range at {
			weight[k] = make([]float64, len(logp[k]))
			for _, j := range b.places(i) {
				weight[k][j] = -1 / float64(n)
				sums[k] -= logp[k][j]
			}
		}
		err = t.model.AddGrad(ctx, rows, weight)
	}
	for _, s := range sums {
		total += s
	}
	return total, n, err
}

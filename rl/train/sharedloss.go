package train

import (
	"context"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// sharedLoss is the joint loss of SAPO for one mini-batch, turn by turn with the totals of the mini-batch, and returns its gradient to the
// model. at are the rows of the mini-batch, turns those of the whole batch.
func (t *Trainer) sharedLoss(ctx context.Context, b *batch, at []int, turns []loss.SAPOTurn) (part, error) {
	rows := take(b.rows, at)
	mine := make([]loss.SAPOTurn, len(at))
	for k, i := range at {
		mine[k] = turns[i]
		if rows[k].Start == len(rows[k].Tokens) { // no response: V is read at its end, and there is no action for Q
			mine[k].NoPolicy, mine[k].NoQ = true, true
		}
	}
	o := t.s.sapo(t.kl.Beta, t.algorithm.NoQ)
	o.Total = loss.CountSAPO(mine)
	parts := make([]part, len(at))
	err := t.model.(rl.LogitModel).ForwardBackward(ctx, rows, func(k int, dz, out [][]float64) error {
		turn, o := mine[k], *o
		n := len(out) - 1 // tokens of the response
		g := loss.SAPOGrad{Logits: dz[:n], After: dz[n]}
		turn.Logits, turn.After = out[:n], out[n]
		var views []view
		if len(rows[k].Allowed) > 0 { // the head is one for all positions: put its entries first everywhere
			views = make([]view, n+1)
			turn.Logits, g.Logits = make([][]float64, n), make([][]float64, n)
			turn.Actions = make([]int, n)
			for j := range views {
				views[j] = look(t.s.Head, &rows[k], j, out[j], dz[j])
				views[j].all(dz[j])
				if j < n {
					turn.Logits[j], g.Logits[j], turn.Actions[j] = views[j].z, views[j].dz, views[j].action
				}
			}
			turn.After, g.After = views[n].z, views[n].dz
			o.Head.Plus, o.Head.Minus = 0, 1
		}
		if n == 0 {
			turn.Logits, g.Logits = [][]float64{turn.After}, [][]float64{g.After}
			g.After = nil
		}
		_, stats, err := loss.SAPO([]loss.SAPOGrad{g}, []loss.SAPOTurn{turn}, &o)
		if err != nil {
			return err
		}
		parts[k] = part{policy: stats.PolicyLoss, value: stats.ValueLoss, q: stats.QLoss, kl: stats.KL, entropy: stats.Entropy, stats: stats.Policy,
			v: stats.V, qv: stats.Q}
		for j := range views {
			views[j].scatter(dz[j])
		}
		return nil
	})
	return sum(parts), err
}

// sapo returns the options of the joint loss.
func (s *settings) sapo(beta float64, noQ bool) *loss.SAPOOptions {
	q := s.qWeight
	if noQ {
		q = 0
	}
	return &loss.SAPOOptions{
		Head: s.Head, PPO: s.PPO, ValueClip: &s.valueClip, QClip: &s.valueClip, RMax: s.RMax,
		ValueWeight: &s.valueWeight, QWeight: &q, KLWeight: &beta, KL: s.KL, EntropyWeight: &s.entropyWeight,
	}
}

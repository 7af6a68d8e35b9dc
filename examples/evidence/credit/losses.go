package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/linear"
	"github.com/throughline-go/throughline/rl/loss"
)

// A policyLoss is a loss over tokens with its options bound.
type policyLoss func(grad []float64, b loss.Batch) (float64, error)

func ppo(o *loss.PPOOptions) policyLoss {
	return func(grad []float64, b loss.Batch) (float64, error) {
		l, _, err := loss.PPO(grad, b, o)
		return l, err
	}
}

// withGradient calculates a loss and then its gradient.
func withGradient(f policyLoss, b loss.Batch) calculation {
	return func() ([]float64, error) {
		grad := make([]float64, len(b.LogProb))
		for j := range grad {
			grad[j] = math.NaN() // so that what is not written is seen
		}
		l, err := f(grad, b)
		return append([]float64{l}, grad...), err
	}
}

// tokensOf returns tokens of log-ratios D <= 4 and one advantage.
func tokensOf(a float64, d ...float64) loss.Batch {
	var b loss.Batch
	for _, d := range d {
		b.LogProb, b.OldLogProb, b.Advantage = append(b.LogProb, d-4), append(b.OldLogProb, -4), append(b.Advantage, a)
	}
	return b
}

// ratio is the loss and the gradient of one token.
func ratio(f policyLoss, a, rho float64) calculation {
	return withGradient(f, tokensOf(a, math.Log(rho)))
}

// turnRatio is the loss of one turn of weight 1, and the gradient at each of its tokens.
func turnRatio(a float64, d ...float64) calculation {
	return withGradient(func(grad []float64, b loss.Batch) (float64, error) {
		l, _, err := loss.TurnRatio(grad, b, make([]int, len(d)), nil)
		return l, err
	}, tokensOf(a, d...))
}

// divergence is the value of one token with d = ref - l, and its gradient by l.
func divergence(kind loss.KLKind, d float64) calculation {
	return withGradient(func(grad []float64, b loss.Batch) (float64, error) {
		return loss.KL(grad, b, kind)
	}, loss.Batch{LogProb: []float64{-1024}, RefLogProb: []float64{d - 1024}})
}

// value is the value loss of one prediction, and its gradient.
func value(o *loss.ValueOptions, old, q, y float64) calculation {
	return func() ([]float64, error) {
		grad := []float64{math.NaN()}
		l, _, err := loss.Value(grad, loss.ValueBatch{Value: []float64{q}, Old: []float64{old}, Target: []float64{y}}, o)
		return []float64{l, grad[0]}, err
	}
}

// e17 has the logits of E17, with w+ and w- as the last two.
var e17 = []float64{1, 0, 0, -1, 1.2, .4}

var e17Head = loss.Head{Plus: 4, Minus: 5, Tau: 2}

// joint is the loss of E18, with another logit of w+ and another advantage, and its gradient.
func joint(plus, a float64, inward bool) calculation {
	return func() ([]float64, error) {
		z := append([]float64(nil), e17...)
		l, err := e17Head.LogProb(nil, z, 0, 0)
		if err != nil {
			return nil, err
		}
		z[4] = plus
		turns := []loss.SAPOTurn{{Logits: [][]float64{z}, Actions: []int{0}, OldLogProb: []float64{l}, Advantage: a, OldV: 4, TargetV: 8, NoQ: true}}
		grad := loss.NewSAPOGrad(turns)
		head := e17Head
		head.Inward = inward
		total, _, err := loss.SAPO(grad, turns, &loss.SAPOOptions{Head: head, KLWeight: new(0.0)})
		return append([]float64{total}, grad[0].Logits[0]...), err
	}
}

// aggregated is the loss of the two sequences of E19.
func aggregated(o *loss.WeightOptions) calculation { return aggregatedTurns(o, 8) }

// aggregatedTurns is that with the second sequence in turns of so many tokens.
func aggregatedTurns(o *loss.WeightOptions, turns ...int) calculation {
	return func() ([]float64, error) {
		batch, b := e19()
		batch[1] = rewarded("", rl.Terminated, make([]float64, len(turns))...)
		for k, n := range turns {
			batch[1].Turns[k].Tokens = trained(make([]float64, n)...)
		}
		w, err := weigh(batch, o)
		if err != nil {
			return nil, err
		}
		b.Weight = w
		l, err := loss.Reinforce(nil, b)
		return []float64{l}, err
	}
}

// e19 returns a sequence of 2 tokens of loss 1 and one of 8 tokens of loss 2, with the loss of [loss.Reinforce].
func e19() ([]rl.Trajectory, loss.Batch) {
	batch := scored("", 0, 0)
	batch[0].Turns[0].Tokens, batch[1].Turns[0].Tokens = trained(make([]float64, 2)...), trained(make([]float64, 8)...)
	var b loss.Batch
	for j := range 10 {
		b.LogProb = append(b.LogProb, -1)
		b.Advantage = append(b.Advantage, 1)
		if j >= 2 {
			b.Advantage[j] = 2
		}
	}
	return batch, b
}

// weigh returns the weights of the tokens of a batch that all vote.
func weigh(batch []rl.Trajectory, o *loss.WeightOptions) ([]float64, error) {
	c, err := rl.NewCredit(nil, batch)
	if err != nil {
		return nil, err
	}
	return loss.Weights(nil, batch, c, o)
}

// adaptive is what one iteration of 128 trajectories makes of the coefficient .01.
func adaptive(kl float64) calculation {
	return func() ([]float64, error) {
		c := loss.KLController{Beta: .01, Adaptive: true, Target: .01, Horizon: 10000}
		err := c.Update(kl, 128)
		return []float64{c.Beta}, err
	}
}

// adamW is a weight of 1 after one and after two steps of gradient .5. Policies start at 0, so this one is loaded as saved: after
// a step with the same gradient, which gives m .05 and v .00025, and leaves no trace in the bias-corrected .5 and .25.
func adamW() ([]float64, error) {
	feature := []linear.Feature{{Index: 0, Value: 1}}
	p, err := linear.New(1)
	if err != nil {
		return nil, err
	}
	data := binary.LittleEndian.AppendUint32([]byte("TLlinear"), 1) // the format of linear.Policy.Save
	for _, x := range []uint32{1, 0, 1, 0, 1} {                     // dimension; no action weight; one value weight, its index, its steps
		data = binary.LittleEndian.AppendUint32(data, x)
	}
	for _, x := range []float64{1, .05, .00025} {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	}
	sum := sha256.Sum256(data)
	if err := p.Load(bytes.NewReader(append(data, sum[:]...))); err != nil {
		return nil, err
	}
	var weights []float64
	for range 2 {
		if err := p.AddValueGrad(feature, .5); err != nil {
			return nil, err
		}
		if _, err := p.Step(&linear.AdamW{LearningRate: .1}); err != nil {
			return nil, err
		}
		weights = append(weights, p.Value(feature))
	}
	return weights, nil
}

// clipped is the norm of the gradient [3, 4], and what is left of it under a norm of 1. Without memory and with eps 1 a step from 0 to w
// has the gradient w/(1+w), with the sign turned.
func clipped() ([]float64, error) {
	p, err := linear.New(2)
	if err != nil {
		return nil, err
	}
	features := [][]linear.Feature{{{Index: 0, Value: 1}}, {{Index: 1, Value: 1}}}
	for i, g := range []float64{3, 4} {
		if err := p.AddValueGrad(features[i], g); err != nil {
			return nil, err
		}
	}
	norm, err := p.Step(&linear.AdamW{LearningRate: 1, Beta1: new(0.0), Beta2: new(0.0), Eps: 1, WeightDecay: new(0.0), MaxGradNorm: new(1.0)})
	x := []float64{norm}
	for _, f := range features {
		w := p.Value(f)
		x = append(x, -w/(1+w))
	}
	return x, err
}

// lossCases are about losses and what trains with them: E14 to E20, and what section 3.11 says of edges.
func lossCases() []worked {
	dual, single := ppo(nil), ppo(&loss.PPOOptions{DualClip: new(0.0)})
	gate := func(grad []float64, b loss.Batch) (float64, error) {
		l, _, err := loss.SoftGate(grad, b, nil)
		return l, err
	}
	logits := func(f func(dz []float64) (float64, error)) calculation {
		return func() ([]float64, error) {
			dz := make([]float64, len(e17))
			x, err := f(dz)
			return append([]float64{x}, dz...), err
		}
	}
	logProb := func(action int) calculation {
		return logits(func(dz []float64) (float64, error) { return e17Head.LogProb(dz, e17, action, 1) })
	}
	reserved := func(action int) calculation {
		return refused(logProb(action), func(err error) bool { return errors.Is(err, loss.ErrReservedToken) })
	}
	readOut := func(h loss.Head, plus, scale float64) calculation {
		return func() ([]float64, error) {
			z, dz := []float64{0, plus, 0}, make([]float64, 3)
			h.Plus, h.Minus = 1, 2
			p, saturated, err := h.Value(dz, z, scale)
			return []float64{p, yes(saturated), dz[1], dz[2]}, err
		}
	}
	d := .25 // with these clips 1+eps and 1-eps are the ratios themselves, bit by bit
	above, below := math.Exp(d), math.Exp(-d)
	edge := ppo(&loss.PPOOptions{ClipLow: 1 - below, ClipHigh: above - 1, DualClip: new(above)})
	edgeLow := ppo(&loss.PPOOptions{ClipLow: 1 - below})
	return []worked{
		{"E14 A 1, rho 1.1", []float64{-1.1, -1.1}, exact, ratio(dual, 1, 1.1)},
		{"E14 A 1, rho 1.3", []float64{-1.2, 0}, exact, ratio(dual, 1, 1.3)},
		{"E14 A 1, rho .5", []float64{-.5, -.5}, exact, ratio(dual, 1, .5)},
		{"E14 A -1, rho 1.1", []float64{1.1, 1.1}, exact, ratio(dual, -1, 1.1)},
		{"E14 A -1, rho .7", []float64{.8, 0}, exact, ratio(dual, -1, .7)},
		{"E14 A -1, rho 2.5", []float64{2.5, 2.5}, exact, ratio(dual, -1, 2.5)},
		{"E14 A -1, rho 10", []float64{3, 0}, exact, ratio(dual, -1, 10)},
		{"E14 A 0, rho 1.5", []float64{0, 0}, exact, ratio(dual, 0, 1.5)},
		{"E14 turn ratio, D .1 and .2", []float64{-2.323668, -1.161834, -1.161834}, 6, turnRatio(2, .1, .2)},
		{"E14 turn ratio, D .1 and .3", []float64{-2.4, 0, 0}, exact, turnRatio(2, .1, .3)},
		{"E15 k3, d .5", []float64{.148721, -.648721}, 6, divergence(loss.KL3, .5)},
		{"E15 k3, d -.5", []float64{.106531, .393469}, 6, divergence(loss.KL3, -.5)},
		{"E15 soft gate", []float64{-2.489837, -1.410022}, 6, ratio(gate, 1, 1.5)},
		{"E16 q .5, y .8", []float64{.125, 0}, exact, value(nil, .1, .5, .8)},
		{"E16 q .5, y .2", []float64{.045, .3}, exact, value(nil, .1, .5, .2)},
		{"E16 q .15, y .8", []float64{.21125, -.65}, exact, value(nil, .1, .15, .8)},
		{"E16 q -.4, y .8", []float64{.72, -1.2}, exact, value(nil, .1, -.4, .8)},
		{"E17 log-probabilities", []float64{-.626523, -1.626523, -1.626523, -2.626523}, 6,
			join(pick(logProb(0), 0), pick(logProb(1), 0), pick(logProb(2), 0), pick(logProb(3), 0))},
		{"E17 dl(0)/dz", []float64{.465553, -.196612, -.196612, -.072329, 0, 0}, 6, pick(logProb(0), 1, 2, 3, 4, 5, 6)},
		{"E17 H and dH/dz", []float64{1.164406, -.287470, .090858, .090858, .105754, 0, 0}, 6,
			logits(func(dz []float64) (float64, error) { return e17Head.Entropy(dz, e17, 1) })},
		{"E17 read-out", []float64{.4, 4}, exact, func() ([]float64, error) {
			p, _, err := e17Head.Value(nil, e17, 0)
			return []float64{p, 10 * p}, err
		}},
		{"E17 reserved entries are no actions", []float64{1, 1}, exact, join(reserved(4), reserved(5))},
		{"E18", []float64{-.961164, -.465266, .196521, .196521, .072224, -.1, .1}, 6, joint(1.2, 1, false)},
		{"E18 saturated", []float64{-.465266, .196521, .196521, .072224, 0, 0}, 6, pick(joint(3.4, 1, false), 1, 2, 3, 4, 5, 6)},
		{"E18 saturated, exactly 0", []float64{0, 0}, exact, pick(joint(3.4, 1, false), 5, 6)},
		{"E18 saturated, Inward", []float64{.05, -.05}, exact, pick(joint(3.4, 1, true), 5, 6)}, // p is 1 and the target .8: .5*(1-.8)/2
		{"E19 token-mean", []float64{1.8}, exact, aggregated(nil)},
		{"E19 seq-mean-token-sum", []float64{9}, exact, aggregated(&loss.WeightOptions{Aggregation: loss.SeqMeanTokenSum})},
		{"E19 seq-mean-token-mean", []float64{1.5}, exact, aggregated(&loss.WeightOptions{Aggregation: loss.SeqMeanTokenMean})},
		{"E19 seq-sum-norm", []float64{2.25}, exact, aggregated(&loss.WeightOptions{Aggregation: loss.SeqSumNorm, Length: 8})},
		{"E19 seq-mean-token-sum-norm", []float64{1.125}, exact, aggregated(&loss.WeightOptions{Aggregation: loss.SeqMeanTokenSumNorm, Length: 8})},
		{"3.10 turn-mean-token-mean", []float64{5. / 3}, exact, aggregatedTurns(&loss.WeightOptions{Aggregation: loss.TurnMeanTokenMean}, 2, 6)},
		{"3.10 SeqUnit Row, three rows", []float64{6, 5. / 3, 2.25, .75}, exact, join( // 18 of three rows; means 1, 2, 2; 18 of K 8; 18 of three and 8
			aggregatedTurns(&loss.WeightOptions{Aggregation: loss.SeqMeanTokenSum, TurnSequences: true}, 2, 6),
			aggregatedTurns(&loss.WeightOptions{Aggregation: loss.SeqMeanTokenMean, TurnSequences: true}, 2, 6),
			aggregatedTurns(&loss.WeightOptions{Aggregation: loss.SeqSumNorm, Length: 8, TurnSequences: true}, 2, 6),
			aggregatedTurns(&loss.WeightOptions{Aggregation: loss.SeqMeanTokenSumNorm, Length: 8, TurnSequences: true}, 2, 6))},
		{"E20 AdamW", []float64{.899000002, .798101004}, 9, adamW},
		{"E20 clip", []float64{5, .6, .8}, exact, clipped},
		{"E20 adaptive KL .03", []float64{.0100256}, exact, adaptive(.03)},
		{"E20 adaptive KL .009", []float64{.0099872}, exact, adaptive(.009)},

		{"3.11 PPO at 1+eps_hi: the gradient passes", []float64{-above, -above}, exact, withGradient(edge, tokensOf(1, d))},
		{"3.11 PPO at 1-eps_lo: the gradient passes", []float64{below, below}, exact, withGradient(edgeLow, tokensOf(-1, -d))},
		{"3.11 dual clip at c: the gradient passes", []float64{above, above}, exact, withGradient(edge, tokensOf(-1, d))},
		{"3.11 ratio clamp at C: gradient 0", []float64{math.Exp(2), 0}, exact,
			withGradient(ppo(&loss.PPOOptions{RatioClamp: 2, DualClip: new(0.0)}), tokensOf(-1, 2))},
		{"3.11 no dual clip", []float64{10, 10}, exact, ratio(single, -1, 10)},
		{"3.11 value loss where both squares are equal: the gradient passes", []float64{.125, .5}, exact,
			value(&loss.ValueOptions{Clip: new(1.0)}, 1, 3, 2.5)}, // q_c is 2
		{"3.11 value loss at the clip: the gradient passes", []float64{.5, 1}, exact, value(&loss.ValueOptions{Clip: new(.5)}, 1.5, 2, 1)},
		{"3.11 read-out at x 1: exactly 0", []float64{1, 1, 0, 0}, exact, readOut(loss.Head{Tau: 2}, 2, 1)},
		{"3.11 read-out at x -1: exactly 0", []float64{-1, 1, 0, 0}, exact, readOut(loss.Head{Tau: 2}, -2, -1)},
		{"3.11 read-out below x 1", []float64{.5, 0, .5, -.5}, exact, readOut(loss.Head{Tau: 2}, 1, 1)},
		{"3.11 Inward passes a step towards 0", []float64{1, 1, .5, -.5}, exact, readOut(loss.Head{Tau: 2, Inward: true}, 3, 1)},
		{"3.11 Inward stops a step away from 0", []float64{1, 1, 0, 0}, exact, readOut(loss.Head{Tau: 2, Inward: true}, 3, -1)},
		{"3.11 k3 at the cap: value 10, gradient 0", []float64{10, 0, 10, 0}, exact,
			join(divergence(loss.KL3, 2.6110), divergence(loss.KL3, -10.99999))},
		{"3.11 k1, abs and k2 of d .5", []float64{-.5, 1, .5, -1, .125, -.5}, exact,
			join(divergence(loss.KL1, .5), divergence(loss.KLAbs, .5), divergence(loss.KL2, .5))},
		{"3.11 k3+, k1+ and abs+ of d .5", []float64{.148721, -.5, -.5, -.5, .5, -.5}, 6,
			join(divergence(loss.KL3Plus, .5), divergence(loss.KL1Plus, .5), divergence(loss.KLAbsPlus, .5))},
	}
}

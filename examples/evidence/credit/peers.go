package main

import (
	"errors"
	"math"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/peers"
	"github.com/throughline-go/throughline/rl/token"
)

// peerCases are the faults of peers in section 7 of the specification, each with what is right.
func peerCases() []worked {
	none := rl.Norm{Std: rl.StdNone}
	raw := rl.Norm{Std: rl.StdOff}
	dr := &rl.GRPOOptions{Norm: none}
	mask := []int{1, 1, 0, 0, 1, 1}
	tokens := &token.GAEOptions{Lambda: new(.95), Norm: rl.Norm{Std: rl.StdOff}}
	ragen := []rl.Trajectory{{Turns: []rl.Turn{{Tokens: trained(.2, .4)}, {Reward: 1, Tokens: trained(.6, .8), End: rl.Terminated}}}}

	case10 := scored("", 1, math.NaN(), math.NaN(), math.NaN())
	case11 := scored("", 100, 1)
	case11[0].Turns[0].Tokens, case11[1].Turns[0].Tokens = nil, trained(0, 0)
	case12 := scored("", 1, 2, 3, 7, 7)
	case12[3].Turns[0].Tokens = nil
	case12[4].Turns[0].Tokens[0].Trainable = false
	case15 := valued(rl.Truncated, []float64{0, 0, 0}, []float64{.5, .5, .5})
	case15.FinalValue = new(.9)
	case20 := []rl.Trajectory{long("", 2, 1), long("", 6, 0)}
	case21 := append(scored("a", 1, 1), scored("b", 0, 0)...)

	case24 := tokensOf(1, 0, 0)
	case24.OldLogProb[1], case24.Weight = -200, []float64{1, 0}
	gone := tokensOf(1, math.NaN(), math.Inf(1))
	gone.Weight = make([]float64, 2)
	products := tokensOf(1, math.Log(1.1), 0, math.Log(.9))
	products.Advantage, products.Weight = []float64{1, 2, 3}, []float64{1, 1, 1}
	short := products
	short.Advantage = []float64{1}
	shape := func(err error) bool { return errors.Is(err, rl.ErrShape) }
	return []worked{
		{"case 1", []float64{.456725, .3755, .29, .2}, 6, estimate(token.GAE, masked(1, mask, .5, .6, 9, 9, .7, .8), tokens, tokenAdvantage)},
		{"case 2", []float64{.95, 1}, exact, estimate(token.GAE, masked(1, []int{1, 1, 0}, 0, 0, 100), tokens, tokenAdvantage)},
		{"case 3", []float64{1, 1, 1, 1}, exact,
			estimate(token.ReinforcePP, masked(1, mask, 0, 0, 0, 0, 0, 0), &token.ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdOff}}, tokenAdvantage)},
		{"case 4", []float64{.5, .5, 1, 1}, exact, estimate(token.GAE, ragen, &token.GAEOptions{TurnGamma: new(.5)}, tokenTarget)},
		{"case 5, Zero", []float64{0, 0, 0, 0, 0, 0, 0, 0}, exact, alone(rl.SingletonZero)},
		{"case 5, Raw", []float64{1, 1, 1, 1, 1, 1, 1, 1}, exact, alone(rl.SingletonRaw)},
		{"case 5, presets of verl", []float64{1, 1}, exact,
			join(estimate(rl.GRPO, scored("", 1), peers.VerlGRPO(), advantage), estimate(rl.RLOO, scored("", 1), peers.VerlRLOO(), advantage))},
		{"case 6", []float64{-.7071, .7071, 0}, 4, estimate(rl.GRPO, append(scored("a", 1, 3), scored("b", 5)...), nil, advantage)},
		{"case 7", []float64{0, 0, 0}, exact, func() ([]float64, error) {
			batch := append(append(scored("a", 1, 2, 3, 4), scored("b", 10, 12)...), scored("c", 5, 6, 7)...)
			c, err := rl.GRPO(nil, batch, dr)
			if err != nil {
				return nil, err
			}
			return []float64{mean(c.Advantage[:4]), mean(c.Advantage[4:6]), mean(c.Advantage[6:])}, nil
		}},
		{"case 8", []float64{-.95}, exact,
			pick(estimate(rl.RLOO, scored("", 0, .95, .95, .95, .95, .95, .95, .95), &rl.RLOOOptions{OthersStd: true}, advantage), 0)},
		{"case 9", []float64{0, 0, 0}, exact, estimate(rl.GRPO, scored("", .1, .1, .1), nil, advantage)},
		{"case 9, variance", []float64{1}, exact, func() ([]float64, error) {
			c, err := rl.GRPO(nil, scored("", .1, .1, .1), nil)
			if err != nil {
				return nil, err
			}
			return []float64{float64(c.ZeroVariance)}, nil
		}},
		{"case 10", []float64{0, 0, 0, 0, 3}, exact, func() ([]float64, error) {
			c, err := rl.GRPO(nil, case10, &rl.GRPOOptions{ExcludeNonFinite: true})
			if err != nil {
				return nil, err
			}
			d, err := c.Diagnose(case10)
			return append(append([]float64(nil), c.Advantage...), float64(d.NoVote["non-finite"])), err
		}},
		{"case 10, Error", []float64{1}, exact, refused(estimate(rl.GRPO, case10, nil, advantage), func(err error) bool { return errors.Is(err, rl.ErrNonFinite) })},
		{"case 11", []float64{0, 0}, exact, estimate(rl.GRPO, case11, dr, advantage)},
		{"case 12", []float64{-1.2247, 0, 1.2247, 0, 0}, 4, estimate(rl.TurnGAE, case12, nil, advantage)},
		{"case 12, tokens", []float64{-1.2247, 0, 1.2247}, 4,
			estimate(token.ReinforcePP, case12, &token.ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdPopulation}}, tokenAdvantage)},
		{"case 13", []float64{0}, exact, func() ([]float64, error) {
			x := []float64{.7}
			_, err := rl.Norm{Std: rl.StdSample}.Apply(x)
			return x, err
		}},
		{"case 14", []float64{-1}, exact, pick(estimate(rl.TurnGAE, []rl.Trajectory{valued(rl.Terminated, []float64{1, 1, 1}, []float64{2, 2, 2})},
			&rl.TurnGAEOptions{Gamma: new(.99), Norm: raw}, advantage), 2)},
		{"case 15", []float64{.3362, .3627, .391}, 4, estimate(rl.TurnGAE, []rl.Trajectory{case15},
			&rl.TurnGAEOptions{Gamma: new(.99), Norm: raw}, advantage)},
		{"case 15, terminal", []float64{-.452, -.4753, -.5}, 4, estimate(rl.TurnGAE, []rl.Trajectory{case15},
			&rl.TurnGAEOptions{Gamma: new(.99), Norm: raw, Truncation: rl.TruncationTerminal}, advantage)},
		{"case 16", []float64{0, 1.5}, exact, join( // the only advantage of the batch becomes 0, its target does not
			estimate(rl.TurnGAE, []rl.Trajectory{valued(rl.Terminated, []float64{1.5}, []float64{1})}, nil, advantage),
			estimate(rl.TurnGAE, []rl.Trajectory{valued(rl.Terminated, []float64{1.5}, []float64{1})}, nil, valueTarget))},
		{"case 17", []float64{-1.1, -1.1}, exact, ratio(ppo(nil), 1, 1.1)}, // the loss knows one advantage, the normalised one
		{"case 18, lengths", []float64{1}, exact, refused(withGradient(ppo(nil), short), shape)},
		{"case 18, products", []float64{-5.8, -1.1, -2, -2.7}, exact, withGradient(ppo(nil), products)},
		{"case 19", []float64{2, 1}, exact, join( // the loss holds the .5; a coefficient of .5 comes on top
			weightedValue(2, 1), weightedValue(2, .5))},
		{"case 20", []float64{.5, -.5}, exact, pick(estimate(rl.GRPO, case20, dr, advantage), 0, 2)},
		{"case 20, as the peer", []float64{.75, -.25}, exact, pick(estimate(rl.GRPO, case20, &rl.GRPOOptions{Norm: none, PerTurn: true}, advantage), 0, 2)},
		{"case 21", []float64{0, 0, 0, 0}, exact, estimate(rl.GRPO, case21, nil, advantage)},
		{"case 22", []float64{0, 0, .5, .25, .25, .25, .25}, exact, stillMoves},
		{"case 23", []float64{10, 0}, exact, divergence(loss.KL3, 710)},
		{"case 24", []float64{-1, -1, 0}, exact, withGradient(ppo(nil), case24)},
		{"case 25", []float64{0, 0, 0}, exact, withGradient(ppo(nil), gone)},
		{"case 26", []float64{1.8}, exact, inParts(2)},
		{"case 27, 1 and 4 rows", []float64{.4375, .4375}, exact, join(dropped(1), dropped(4))},
		{"case 28", []float64{3, 0}, exact, ratio(ppo(nil), -1, 10)},
		{"case 30", []float64{-.1, .1, -.1, .1}, 6, join( // whatever the advantage, the same gradient of the critic
			pick(joint(1.2, 1, false), 5, 6), pick(joint(1.2, -7, false), 5, 6))},
	}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// alone is the advantage of the only voter of a group, of score 1, on all paths.
func alone(s rl.Singleton) calculation {
	batch := scored("", 1)
	n := rl.Norm{Singleton: s}
	dr := n
	dr.Std = rl.StdNone
	graph := rl.GraphGPOOptions{StepWeight: new(0.0), Norm: n}
	return join(
		estimate(rl.GRPO, batch, &rl.GRPOOptions{Norm: n}, advantage),
		estimate(rl.GRPO, batch, &rl.GRPOOptions{Norm: dr}, advantage),
		estimate(rl.RLOO, batch, &rl.RLOOOptions{Singleton: s}, advantage),
		estimate(rl.RLOO, batch, &rl.RLOOOptions{Singleton: s, OthersStd: true}, advantage),
		estimate(rl.GiGPO, batch, &rl.GiGPOOptions{StepWeight: new(0.0), Norm: n}, advantage),
		estimate(rl.GraphGPO, batch, &graph, advantage),
		estimate(rl.MileGPO, batch, &rl.MileGPOOptions{GraphGPOOptions: graph}, advantage),
		estimate(token.ReinforcePP, batch, &token.ReinforcePPOptions{GroupBaseline: true, Singleton: s, Norm: rl.Norm{Std: rl.StdOff}}, advantage),
	)
}

// weightedValue is the value loss of an error, unclipped.
func weightedValue(e, weight float64) calculation {
	return func() ([]float64, error) {
		l, _, err := loss.Value(nil, loss.ValueBatch{Value: []float64{e}, Target: []float64{0}, Weight: []float64{weight}}, &loss.ValueOptions{Clip: new(0.0)})
		return []float64{l}, err
	}
}

// stillMoves is about a group of equal scores and one that differs: the advantages of the former, the gradient of k1 with the mask, and
// that without.
func stillMoves() ([]float64, error) {
	batch := append(scored("a", 1, 1), scored("b", 0, 1)...)
	c, err := rl.GRPO(nil, batch, nil)
	if err != nil {
		return nil, err
	}
	l := make([]float64, len(batch))
	grads := make([][]float64, 2)
	for i, skip := range []bool{true, false} {
		w, err := loss.Weights(nil, batch, c, &loss.WeightOptions{SkipFlat: skip})
		if err != nil {
			return nil, err
		}
		grads[i] = make([]float64, len(batch))
		if _, err := loss.KL(grads[i], loss.Batch{LogProb: l, RefLogProb: l, Weight: w}, loss.KL1); err != nil {
			return nil, err
		}
	}
	masked := grads[0][0] + grads[0][1] + math.Abs(c.Advantage[0]) + math.Abs(c.Advantage[1])
	return append([]float64{masked, grads[0][0], grads[0][2] + grads[0][3]}, grads[1]...), nil
}

// inParts is the loss of E19, cut into micro-batches of one sequence each.
func inParts(sequences int) calculation {
	return func() ([]float64, error) {
		batch, b := e19()
		w, err := weigh(batch[:sequences], nil)
		if err != nil {
			return nil, err
		}
		return sumOf(b, w, 2, 10)
	}
}

// dropped is a loss of Dr.GRPO with K 8 over rows of 1, 2, 3 and 8 tokens of loss 1, so many rows in a micro-batch: 14/(4*8).
func dropped(rows int) calculation {
	return func() ([]float64, error) {
		batch := scored("", 0, 0, 0, 0)
		var cuts []int
		n := 0
		for i, tokens := range []int{1, 2, 3, 8} {
			batch[i].Turns[0].Tokens = trained(make([]float64, tokens)...)
			n += tokens
			if (i+1)%rows == 0 {
				cuts = append(cuts, n)
			}
		}
		w, err := weigh(batch, &loss.WeightOptions{Aggregation: loss.SeqMeanTokenSumNorm, Length: 8})
		if err != nil {
			return nil, err
		}
		b := loss.Batch{LogProb: make([]float64, n), Advantage: make([]float64, n)}
		for j := range n {
			b.LogProb[j], b.Advantage[j] = -1, 1
		}
		return sumOf(b, w, cuts...)
	}
}

// sumOf is the sum of the losses of micro-batches that end at the cuts.
func sumOf(b loss.Batch, weight []float64, cuts ...int) ([]float64, error) {
	total, from := 0.0, 0
	for _, to := range cuts {
		l, err := loss.Reinforce(nil, loss.Batch{LogProb: b.LogProb[from:to], Advantage: b.Advantage[from:to], Weight: weight[from:to]})
		if err != nil {
			return nil, err
		}
		total += l
		from = to
	}
	return []float64{total}, nil
}

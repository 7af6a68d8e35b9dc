package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rltest"
)

// microBatches are what micro_batch_invariant stands for.
func microBatches() []property {
	return []property{
		{"12 losses over tokens, every aggregation, any cut", 30_000, splitTokens},
		{"12 turn ratios, every aggregation, any cut between turns", 30_000, splitTurns},
		{"12 joint loss of SAPO with the totals of the step", 30_000, splitSAPO},
	}
}

// cuts draws the ends of up to 6 micro-batches of n rows, empty ones among them.
func cuts(rng *rand.Rand, n int) []int {
	ends := []int{n}
	for range rng.IntN(6) {
		ends = append(ends, rng.IntN(n+1))
	}
	slices.Sort(ends)
	return ends
}

// A step is an optimiser step: tokens with their losses, and the turn of each.
type step struct {
	loss.Batch
	turn []int
	ref  []float64
}

// drawStep draws a batch, its credit by GRPO, and log-probabilities.
func drawStep(rng *rand.Rand) (batch []rl.Trajectory, c *rl.Credit, s step, err error) {
	batch = rltest.RandomBatch(rng)
	if c, err = rl.GRPO(nil, batch, nil); err != nil {
		return nil, nil, step{}, err
	}
	s.turn = loss.Turns(nil, batch)
	s.Advantage = c.TokenAdvantages(nil, batch)
	for range s.Advantage {
		old := -3 - 4*rng.Float64()
		s.OldLogProb = append(s.OldLogProb, old)
		s.LogProb = append(s.LogProb, old+.3*rng.NormFloat64())
		s.ref = append(s.ref, -4*rng.Float64())
	}
	return batch, c, s, nil
}

// split compares a loss over all tokens with the sum over micro-batches.
func (s step) split(ends []int, f func(grad []float64, part step) (float64, error)) error {
	n := len(s.LogProb)
	whole, parts := make([]float64, n), make([]float64, n)
	want, err := f(whole, s)
	if err != nil {
		return err
	}
	got, from := 0.0, 0
	for _, to := range ends {
		part := step{loss.Batch{LogProb: s.LogProb[from:to], OldLogProb: s.OldLogProb[from:to], Advantage: s.Advantage[from:to],
			Weight: s.Weight[from:to]}, s.turn[from:to], s.ref[from:to]}
		l, err := f(parts[from:to], part)
		if err != nil {
			return err
		}
		got += l
		from = to
	}
	return errors.Join(differ("loss", []float64{got}, []float64{want}, 1e-12), differ("gradient", parts, whole, 1e-12))
}

// aggregations calls f with the weights of every aggregation.
func aggregations(rng *rand.Rand, batch []rl.Trajectory, c *rl.Credit, f func(weight []float64) error) error {
	for a := loss.TokenMean; a <= loss.SeqMeanTokenSumNorm; a++ {
		o := &loss.WeightOptions{Aggregation: a, TurnSequences: rng.IntN(2) == 0, Length: 1 + rng.IntN(20), SkipFlat: rng.IntN(2) == 0}
		w, err := loss.Weights(nil, batch, c, o)
		if err == nil {
			err = f(w)
		}
		if err != nil {
			return fmt.Errorf("aggregation %d, TurnSequences %v: %w", a, o.TurnSequences, err)
		}
	}
	return nil
}

func splitTokens(rng *rand.Rand) error {
	batch, c, s, err := drawStep(rng)
	if err != nil {
		return err
	}
	losses := []struct {
		name string
		f    func(grad []float64, p step) (float64, error)
	}{
		{"PPO", func(grad []float64, p step) (float64, error) {
			l, _, err := loss.PPO(grad, p.Batch, nil)
			return l, err
		}},
		{"CISPO", func(grad []float64, p step) (float64, error) {
			l, _, err := loss.CISPO(grad, p.Batch, nil)
			return l, err
		}},
		{"SoftGate", func(grad []float64, p step) (float64, error) {
			l, _, err := loss.SoftGate(grad, p.Batch, nil)
			return l, err
		}},
		{"Reinforce", func(grad []float64, p step) (float64, error) { return loss.Reinforce(grad, p.Batch) }},
		{"KL", func(grad []float64, p step) (float64, error) {
			p.RefLogProb = p.ref
			return loss.KL(grad, p.Batch, loss.KL3)
		}},
		{"Value", func(grad []float64, p step) (float64, error) {
			l, _, err := loss.Value(grad, loss.ValueBatch{Value: p.LogProb, Old: p.OldLogProb, Target: p.ref, Weight: p.Weight}, nil)
			return l, err
		}},
	}
	return aggregations(rng, batch, c, func(w []float64) error {
		s.Weight = w
		for _, x := range losses {
			if err := s.split(cuts(rng, len(w)), x.f); err != nil {
				return fmt.Errorf("%s: %w", x.name, err)
			}
		}
		return nil
	})
}

func splitTurns(rng *rand.Rand) error {
	batch, c, s, err := drawStep(rng)
	if err != nil {
		return err
	}
	return aggregations(rng, batch, c, func(w []float64) error {
		s.Weight = w
		ends := cuts(rng, len(w))
		for i, end := range ends {
			for end > 0 && end < len(w) && s.turn[end] == s.turn[end-1] {
				end++
			}
			ends[i] = end
		}
		return s.split(ends, func(grad []float64, p step) (float64, error) {
			l, _, err := loss.TurnRatio(grad, p.Batch, p.turn, nil)
			return l, err
		})
	})
}

func splitSAPO(rng *rand.Rand) error {
	h := loss.Head{Plus: 4, Minus: 1, Tau: 2, Inward: rng.IntN(2) == 0}
	var turns []loss.SAPOTurn
	for range rng.IntN(4) {
		turns = append(turns, drawTurns(rng, h, 5, 10)...)
	}
	o := &loss.SAPOOptions{Head: h}
	whole, all := gradientOf(turns)
	want, _, err := loss.SAPO(whole, turns, o)
	if err != nil {
		return err
	}
	o.Total = loss.CountSAPO(turns)
	parts, inParts := gradientOf(turns)
	got, from := 0.0, 0
	for _, to := range cuts(rng, len(turns)) {
		if from == to && o.Total == (loss.SAPOTotal{}) {
			continue
		}
		l, _, err := loss.SAPO(parts[from:to], turns[from:to], o)
		if err != nil {
			return err
		}
		got += l
		from = to
	}
	return errors.Join(differ("loss", []float64{got}, []float64{want}, 1e-12),
		differ("gradient", slices.Concat(inParts...), slices.Concat(all...), 1e-12))
}

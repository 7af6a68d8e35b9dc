package main

import (
	"errors"
	"math"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// turnCases are about turns with a critic: E1 to E3, and the diagnostics of E21.
func turnCases() []worked {
	e1 := valued(rl.Terminated, []float64{0, 0, 0, 10}, []float64{2, 3, 5, 8})
	for k, q := range []float64{2.5, 4, 6, 9} {
		e1.Turns[k].QValue = q
	}
	e2 := []rl.Trajectory{e1}
	e2[0].Turns = append([]rl.Turn(nil), e1.Turns...)
	e2[0].Turns[1].Invalid = true
	e3 := []rl.Trajectory{e1}
	e3[0].Turns = append([]rl.Turn(nil), e1.Turns...)
	e3[0].Turns[3].Reward, e3[0].Turns[3].End = 0, rl.Truncated
	e3[0].FinalValue = new(7.0)
	unknown := []rl.Trajectory{e3[0]}
	unknown[0].FinalValue = nil
	batch := []rl.Trajectory{e1}

	off := rl.Norm{Std: rl.StdOff}
	raw := &rl.TurnGAEOptions{Norm: off}
	sample := &rl.TurnGAEOptions{Norm: rl.Norm{Std: rl.StdSample}}
	bootstrap := &rl.TurnGAEOptions{Norm: off, Truncation: rl.TruncationBootstrap}
	terminal := &rl.TurnGAEOptions{Norm: off, Truncation: rl.TruncationTerminal}
	a := []float64{6.017275, 5.725512, 4.405, 2}
	yV := []float64{8.017275, 8.725512, 9.405, 10}
	yQ := []float64{3.8, 5.7, 8.55, 10}
	return []worked{
		{"E1 A", a, 6, estimate(rl.TurnGAE, batch, raw, advantage)},
		{"E1 A of SAPO", a, 6, estimate(rl.SAPO, batch, raw, advantage)},
		{"E1 y^V", yV, 6, estimate(rl.SAPO, batch, nil, valueTarget)},
		{"E1 y^V as lambda-returns", yV, 6, func() ([]float64, error) { return e1.LambdaReturns(nil, .95, .95, 0), nil }},
		{"E1 y^Q", yQ, exact, estimate(rl.SAPO, batch, nil, qTarget)},
		{"E1 y^Q as SARSA targets", yQ, exact, func() ([]float64, error) { return e1.SARSATargets(nil, .95, 0), nil }},
		{"E1 batch norm, population", []float64{.933558, .749560, -.083211, -1.599907}, 6, estimate(rl.SAPO, batch, nil, advantage)},
		{"E1 batch norm, sample", []float64{.808485, .649138, -.072063, -1.385560}, 6, estimate(rl.SAPO, batch, sample, advantage)},
		{"E2 A~", []float64{6.017275, 5.625512, 4.405, 2}, 6, estimate(rl.SAPO, e2, raw, advantage)},
		{"E2 batch norm, population", []float64{.960379, .710440, -.068231, -1.602589}, 6, estimate(rl.SAPO, e2, nil, advantage)},
		{"E2 y^V", yV, 6, estimate(rl.SAPO, e2, nil, valueTarget)},
		{"E2 y^Q", yQ, exact, estimate(rl.SAPO, e2, nil, qTarget)},
		{"E3 Bootstrap A", []float64{3.554717, 2.996917, 1.381625, -1.35}, 6, estimate(rl.TurnGAE, e3, raw, advantage)},
		{"E3 Bootstrap y^Q", []float64{6.65}, exact, pick(estimate(rl.SAPO, e3, bootstrap, qTarget), 3)},
		{"E3 Bootstrap without FinalValue", []float64{1}, exact, refused(estimate(rl.TurnGAE, unknown, raw, advantage),
			func(err error) bool { return errors.Is(err, rl.ErrNoFinalValue) })},
		{"E3 Terminal A", []float64{-1.333644, -2.41955, -4.62, -8}, 6, estimate(rl.TurnGAE, e3, terminal, advantage)},
		{"E3 Terminal A of SAPO", []float64{-1.333644, -2.41955, -4.62, -8}, 6, estimate(rl.SAPO, e3, raw, advantage)},
		{"E3 Terminal y^Q", []float64{0}, exact, pick(estimate(rl.SAPO, e3, nil, qTarget), 3)},
		{"E21 explained variance", []float64{.6}, exact, explained},
		{"E21 effective sample share", []float64{.81}, 2, effective},
		{"E21 zero-variance share", []float64{.702, .449, .201, .040}, 3, func() ([]float64, error) {
			return zeroVariance(.1819, 2, 4, 8, 16)
		}},
	}
}

func explained() ([]float64, error) {
	share, ok := rl.ExplainedVariance([]float64{1, 2, 3, 4}, []float64{1, 2, 2, 5})
	if !ok {
		return nil, errors.New("it is said not to be defined")
	}
	return []float64{share}, nil
}

func effective() ([]float64, error) {
	_, stats, err := loss.PPO(nil, tokensOf(0, 0, 0, math.Log(2), math.Log(.5)), nil) // of ratios 1, 1, 2 and .5
	return []float64{stats.ESS}, err
}

// zeroVariance returns the share of groups, by their size, in which nobody learns, if each trajectory succeeds with probability p:
// the expectation over the number of successes.
func zeroVariance(p float64, sizes ...int) ([]float64, error) {
	var shares []float64
	for _, n := range sizes {
		share, ways := 0.0, 1.0
		for k := range n + 1 {
			scores := make([]float64, n)
			for i := range k {
				scores[i] = 1
			}
			c, err := rl.GRPO(nil, scored("", scores...), nil)
			if err != nil {
				return nil, err
			}
			share += ways * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k)) * float64(c.ZeroVariance) / float64(c.Groups)
			ways *= float64(n-k) / float64(k+1)
		}
		shares = append(shares, share)
	}
	return shares, nil
}

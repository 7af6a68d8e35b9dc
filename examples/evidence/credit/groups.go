package main

import (
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/peers"
)

// groupCases are about groups and the states that their trajectories share: E6, E7, E10 and E13.
func groupCases() []worked {
	e6, e7 := scored("", 1, 1, 1, 0, 0, 0, 0, 0), scored("", 1, 0)
	some := func(win, lose float64) []float64 { return []float64{win, win, win, lose, lose, lose, lose, lose} }
	with := func(n rl.Norm) *rl.GRPOOptions { return &rl.GRPOOptions{Norm: n} }
	eps := func(x float64) *rl.GRPOOptions { return with(rl.Norm{Eps: new(x)}) }
	none := rl.Norm{Std: rl.StdNone}

	e10 := []rl.Trajectory{rewarded("", rl.Terminated, 0, 0, 10), rewarded("", rl.Truncated, 0, 0, 0)}
	for k, s := range []string{"s0", "s1", "s2"} {
		e10[0].Turns[k].State = s
	}
	for k, s := range []string{"s0", "s1", "s1"} {
		e10[1].Turns[k].State = s
	}
	returns := func() ([]float64, error) {
		return append(e10[0].MonteCarlo(nil, .95, 0), e10[1].MonteCarlo(nil, .95, 0)...), nil
	}
	uneven := []rl.Trajectory{long("", 2, 10), long("", 8, 0)}
	episode := func(o rl.GiGPOOptions) *rl.GiGPOOptions {
		o.StepWeight = new(0.0)
		return &o
	}
	firstOfEach := []int{0, 2} // turns of uneven

	e13 := []rl.Trajectory{rewarded("", rl.Terminated, 0, 10), rewarded("", rl.Terminated, 0, 0)}
	e13[0].Turns[0].State, e13[0].Turns[1].State = "s0", "s1"
	e13[1].Turns[0].State, e13[1].Turns[1].State = "s0", "s2"
	off := rl.Norm{Std: rl.StdOff}
	return []worked{
		{"E6 GRPO, sample", some(1.2076, -.7246), 4, estimate(rl.GRPO, e6, nil, advantage)},
		{"E6 GRPO, population", some(1.2910, -.7746), 4, estimate(rl.GRPO, e6, with(rl.Norm{Std: rl.StdPopulation}), advantage)},
		{"E6 Std None (Dr.GRPO)", some(.625, -.375), exact, estimate(rl.GRPO, e6, with(none), advantage)},
		{"E6 RLOO", some(.7143, -.4286), 4, estimate(rl.RLOO, e6, nil, advantage)},
		{"E7 eps 1e-4", []float64{.7070068, -.7070068}, 7, estimate(rl.GRPO, e7, eps(1e-4), advantage)},
		{"E7 eps 1e-6", []float64{.70710578, -.70710578}, 8, estimate(rl.GRPO, e7, eps(1e-6), advantage)},
		{"E7 eps 1e-8", []float64{.70710677, -.70710677}, 8, estimate(rl.GRPO, e7, eps(1e-8), advantage)},
		{"E7 eps of verl", []float64{.70710578, -.70710578}, 8, estimate(rl.GRPO, e7, peers.VerlGRPO(), advantage)},
		{"E7 eps of TRL", []float64{.7070068, -.7070068}, 7, estimate(rl.GRPO, e7, peers.TRLGRPO(), advantage)},
		{"E7 RLOO", []float64{.5, .5, -1}, exact, estimate(rl.RLOO, scored("", 1, 1, 0), nil, advantage)},
		{"E7 RLOO, alone", []float64{0}, exact, estimate(rl.RLOO, scored("", 4), nil, advantage)},
		{"E10 G", []float64{9.025, 9.5, 10, 0, 0, 0}, exact, returns},
		{"E10 with std", []float64{1.414213, 1.861807, .707107, -1.414213, -1.284457, -1.284457}, 6, estimate(rl.GiGPO, e10, nil, advantage)},
		{"E10 w/o std", []float64{9.5125, 11.333333, 5, -9.5125, -8.166667, -8.166667}, 6,
			estimate(rl.GiGPO, e10, &rl.GiGPOOptions{Norm: none}, advantage)},
		{"E10 PerTurn, centred", []float64{8, -2}, exact,
			pick(estimate(rl.GiGPO, uneven, episode(rl.GiGPOOptions{Norm: none, PerTurn: true}), advantage), firstOfEach...)},
		{"E10 PerTurn, with std", []float64{1.897366, -.474342}, 6,
			pick(estimate(rl.GiGPO, uneven, episode(rl.GiGPOOptions{PerTurn: true}), advantage), firstOfEach...)},
		{"E10 PerTurn, verl-agent", []float64{1.897366, -.474342}, 6,
			pick(estimate(rl.GRPO, uneven, peers.VerlAgentGRPO(), advantage), firstOfEach...)},
		{"E10 PerTrajectory", []float64{5, -5}, exact,
			pick(estimate(rl.GiGPO, uneven, episode(rl.GiGPOOptions{Norm: none}), advantage), firstOfEach...)},
		{"E13 V^ of s0, s1, s2", []float64{4.75, 10, 0}, exact, func() ([]float64, error) {
			c, err := rl.GAGPO(nil, e13, &rl.GAGPOOptions{Lambda: new(1.0), Norm: off}) // A = G - V^(s_t)
			if err != nil {
				return nil, err
			}
			g := append(e13[0].MonteCarlo(nil, .95, 0), e13[1].MonteCarlo(nil, .95, 0)...)
			return []float64{g[0] - c.Advantage[0], g[1] - c.Advantage[1], g[3] - c.Advantage[3]}, nil
		}},
		{"E13 deltas", []float64{4.75, 0, -4.75, 0}, exact,
			estimate(rl.GAGPO, e13, &rl.GAGPOOptions{Lambda: new(0.0), Norm: off}, advantage)},
	}
}

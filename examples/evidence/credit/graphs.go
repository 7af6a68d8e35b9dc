package main

import (
	"fmt"

	"github.com/throughline-go/throughline/rl"
)

// graphCases are about graphs of states: E11 and E12, and the cycle of property 20.
func graphCases() []worked {
	e11 := []rl.Trajectory{
		walk("", 10, "s0", "a", "m", "g"),
		walk("", 10, "s0", "b", "m", "g"),
		walk("", 0, "s0", "a", "y", "y"),
		walk("", 0, "s0", "b", "x"),
		walk("", 0, "s0", "b", "x"),
	}
	failing := []rl.Trajectory{walk("", 0, "s0", "a", "a"), walk("", 0, "s0", "b")}
	winning := []rl.Trajectory{walk("", 10, "s0", "a", "g"), walk("", 10, "s0", "g")}
	cycle := []rl.Trajectory{walk("", 10, "s0", "m", "n", "m", "n", "m", "g"), walk("", 0, "s0", "n")}

	web := rl.MileGPOWebShop()
	stage := func(s rl.Stage) *rl.MileGPOOptions { return &rl.MileGPOOptions{Stage: s} }
	// step is the part of the steps alone, by distances or with all of the shaped return.
	step := func(o *rl.MileGPOOptions, mix float64) *rl.MileGPOOptions {
		c := rl.MileGPOOptions{}
		if o != nil {
			c = *o
		}
		c.EpisodeWeight, c.Mix = new(0.0), new(mix)
		return &c
	}

	scores := func(n rl.MileNode) []float64 {
		return []float64{n.Lift, n.Support, n.Connectivity, n.MilestoneScore, n.Branch, n.Progress, n.Evidence, n.CalibratedScore}
	}
	first := func(n rl.MileNode) []float64 { return []float64{n.MilestoneScore} }
	calibrated := func(n rl.MileNode) []float64 { return []float64{n.CalibratedScore} }
	trap := func(n rl.MileNode) []float64 {
		return []float64{yes(n.Trap), n.FailureLift, n.FailureSupport, n.Loop, n.TrapScore}
	}
	milestone := func(n rl.MileNode) []float64 { return []float64{n.MilestonePotential} }
	trapped := func(n rl.MileNode) []float64 { return []float64{n.TrapPotential} }
	progress := func(e rl.MileEdge) float64 { return e.Progress }
	contrast := func(e rl.MileEdge) float64 { return e.BranchContrast }
	byDistance := func(e rl.MileEdge) float64 { return e.GoalReturn }
	shaped := func(e rl.MileEdge) float64 { return e.MilestoneReturn }
	gain := func(e rl.MileEdge) float64 { return e.MilestoneGain }
	states := []string{"s0", "a", "b", "m", "g", "x", "y"}

	// Turns are in the order of the batch: T1 s0->a, a->m, m->g; T2 s0->b, b->m, m->g; T3 s0->a, a->y, y->y; T4 and T5 s0->b, b->x.
	return []worked{
		{"E11 node s0", []float64{0, 1, .666667, 1.166667, 0, 0, 0, 0}, 6, nodes(e11, nil, scores, "s0")},
		{"E11 node s0, WebShop", []float64{1.166667}, 6, nodes(e11, web, calibrated, "s0")},
		{"E11 node a", []float64{.1, .5, 1, .85, .166667, .6875, .854167, 1.576042}, 6, nodes(e11, nil, scores, "a")},
		{"E11 node b", []float64{0, .5, 1, .75, 0, .479167, .479167, 1.109375}, 6, nodes(e11, nil, scores, "b")},
		{"E11 node m", []float64{.6, 1, 1, 1.85, 1, 1, 2, 5.55}, 6, nodes(e11, nil, scores, "m")},
		{"E11 nodes a, b, m, WebShop", []float64{1.576042, 1.109375, 5.55}, 6, nodes(e11, web, calibrated, "a", "b", "m")},
		{"E11 trap y", []float64{1, .4, .333333, 1, .483333}, 6, nodes(e11, nil, trap, "y")},
		{"E11 trap x", []float64{1, .4, .666667, 0, .4}, 6, nodes(e11, nil, trap, "x")},
		{"E11 psi", []float64{1.1, .766667, 1.6, 1.6, 1.6}, 6, edges(e11, nil, progress, "s0", "a", "s0", "b", "a", "m", "b", "m", "m", "g")},
		{"E11 c_bcc", []float64{.166667, -.166667, 1, 1, -1, -1, 0, 0}, 6,
			edges(e11, nil, contrast, "s0", "a", "s0", "b", "a", "m", "b", "m", "a", "y", "b", "x", "m", "g", "y", "y")},
		{"E11 Phi+ RCS", []float64{.630631, .459459, .405405, 1, 0, 0, 0}, 6, nodes(e11, stage(rl.StageRCS), milestone, states...)},
		{"E11 Phi+ PCC ALFWorld", []float64{.056794, .283971, .2, 1, 0, 0, 0}, 6, nodes(e11, nil, milestone, states...)},
		{"E11 Phi+ PCC WebShop", []float64{.210210, .283971, .2, 1, 0, 0, 0}, 6, nodes(e11, web, milestone, states...)},
		{"E11 Phi+ MD", []float64{1, 1, 1, 1, 0, 0, 0}, exact, nodes(e11, stage(rl.StageMD), milestone, states...)},
		{"E11 Phi-", []float64{.04, .2, .165517, 0, 0, .827586, 1}, 6, nodes(e11, nil, trapped, states...)},
		{"E11 Phi- WebShop", []float64{.04, .2, .165517, 0, 0, .827586, 1}, 6, nodes(e11, web, trapped, states...)},
		{"E11 Phi- MD", []float64{.04, .2, .2, 0, 0, 1, 1}, exact, nodes(e11, stage(rl.StageMD), trapped, states...)},
		{"E11 r^G", []float64{.4, 2, 10, .4, 2, 10, .4, 0, 0, .4, 0, .4, 0}, exact, perTurn(e11, nil, byDistance)},
		{"E11 ALFWorld r^M", []float64{.867943, 3.790071, 10, .679566, 4, 10, .867943, -.5, 0, .679566, -.413793, .679566, -.413793}, 6,
			perTurn(e11, nil, shaped)},
		{"E11 ALFWorld A^G", []float64{0, .707106, 0, 0, 1.154700, 0, 0, -.707106, 0, 0, -.577350, 0, -.577350}, 6,
			estimate(rl.MileGPO, e11, step(nil, 0), advantage)},
		{"E11 ALFWorld A^mix", []float64{1.095434, .707107, 0, -.730290, 1.154700, 0, 1.095434, -.707107, 0, -.730290, -.577350, -.730290, -.577350}, 6,
			estimate(rl.MileGPO, e11, step(nil, 1), advantage)},
		{"E11 ALFWorld A", []float64{1.314532, 1.802551, 1.095445, .949387, 2.250145, 1.095445, -.511210, -1.437403, -.730297,
			-.876355, -1.307646, -.876355, -1.307646}, 6, estimate(rl.MileGPO, e11, nil, advantage)},
		{"E11 WebShop r^M", []float64{.484403, 3.790071, 10, .321552, 4, 10, .484403, -.5, 0, .321552, -.413793, .321552, -.413793}, 6,
			perTurn(e11, web, shaped)},
		{"E11 WebShop A^G", []float64{0, 1, 0, 0, 1.333333, 0, 0, -1, 0, 0, -.666667, 0, -.666667}, 6,
			estimate(rl.MileGPO, e11, step(web, 0), advantage)},
		{"E11 WebShop A^mix", []float64{.097711, 2.145036, 0, -.065141, 2.942529, 0, .097711, -2.145036, 0, -.065141, -1.471264, -.065141, -1.471264}, 6,
			estimate(rl.MileGPO, e11, step(web, 1), advantage)},
		{"E11 WebShop A", []float64{6.097711, 8.145036, 6, 5.934859, 8.942529, 6, -3.902289, -6.145036, -4,
			-4.065141, -5.471264, -4.065141, -5.471264}, 6, estimate(rl.MileGPO, e11, web, advantage)},
		{"E12 no success, S-", []float64{1, 0, .5, 1, .125}, exact, nodes(failing, nil, trap, "a")},
		{"E12 no success, s0 and b are no traps", []float64{0, 0}, exact,
			nodes(failing, nil, func(n rl.MileNode) []float64 { return []float64{yes(n.Trap)} }, "s0", "b")},
		{"E12 no success, r^M", []float64{-.5, 0, 0}, exact, perTurn(failing, nil, shaped)},
		{"E12 no success, A", []float64{-.141421, 0, .141421}, 6, estimate(rl.MileGPO, failing, nil, advantage)},
		{"E12 all success, S0+", []float64{1.25, .75}, exact, nodes(winning, nil, first, "s0", "a")},
		{"E12 all success, psi and Phi+", []float64{0, 0, 0, 0}, exact,
			nodes(winning, nil, func(n rl.MileNode) []float64 { return []float64{n.Progress, n.MilestonePotential} }, "s0", "a")},
		{"E12 all success, A", []float64{-.707107, 0, .707107}, 6, estimate(rl.MileGPO, winning, nil, advantage)},
		{"property 20 dlt+ of a cycle", []float64{.8, .8}, exact, pick(perTurn(cycle, nil, gain), 2, 4)},
	}
}

// graphOf returns the graph of a batch with one group.
func graphOf(batch []rl.Trajectory, o *rl.MileGPOOptions) (*rl.MileGraph, error) {
	graphs, err := rl.MileGraphs(batch, o)
	if err == nil && len(graphs) != 1 {
		err = fmt.Errorf("%d graphs, want 1", len(graphs))
	}
	if err != nil {
		return nil, err
	}
	return &graphs[0], nil
}

// nodes calculates numbers of states.
func nodes(batch []rl.Trajectory, o *rl.MileGPOOptions, of func(rl.MileNode) []float64, states ...string) calculation {
	return func() ([]float64, error) {
		g, err := graphOf(batch, o)
		if err != nil {
			return nil, err
		}
		var x []float64
		for _, s := range states {
			for _, n := range g.Nodes {
				if n.State == s {
					x = append(x, of(n)...)
				}
			}
		}
		return x, nil
	}
}

// edges calculates a number of edges, given as pairs of states.
func edges(batch []rl.Trajectory, o *rl.MileGPOOptions, of func(rl.MileEdge) float64, pairs ...string) calculation {
	return func() ([]float64, error) {
		g, err := graphOf(batch, o)
		if err != nil {
			return nil, err
		}
		var x []float64
		for i := 0; i+1 < len(pairs); i += 2 {
			for _, e := range g.Edges {
				if g.Nodes[e.From].State == pairs[i] && g.Nodes[e.To].State == pairs[i+1] {
					x = append(x, of(e))
				}
			}
		}
		return x, nil
	}
}

// perTurn calculates a number of the edge that each turn took.
func perTurn(batch []rl.Trajectory, o *rl.MileGPOOptions, of func(rl.MileEdge) float64) calculation {
	var pairs []string
	for i := range batch {
		t := &batch[i]
		for k := range t.Turns {
			next := t.FinalState
			if k+1 < len(t.Turns) {
				next = t.Turns[k+1].State
			}
			pairs = append(pairs, t.Turns[k].State, next)
		}
	}
	return edges(batch, o, of, pairs...)
}

package rl

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func mustMileGPO(t interface{ Fatal(...any) }, batch []Trajectory, o *MileGPOOptions) *Credit {
	c, err := MileGPO(nil, batch, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// at returns the node of a state.
func (g *MileGraph) at(state string) MileNode {
	for _, n := range g.Nodes {
		if n.State == state {
			return n
		}
	}
	return MileNode{Distance: -99}
}

// edge returns the edge between two states.
func (g *MileGraph) edge(from, to string) MileEdge {
	for _, e := range g.Edges {
		if g.Nodes[e.From].State == from && g.Nodes[e.To].State == to {
			return e
		}
	}
	return MileEdge{From: -99}
}

// E11, discovery and calibration.
func TestMileGPONodes(t *testing.T) {
	want := map[string]MileNode{
		"s0": {State: "s0", Distance: 3, Visits: 5, Successes: 2, Failures: 3, Milestone: true,
			Support: 1, Connectivity: .666667, MilestoneScore: 1.166667, MilestonePotential: .056794, TrapPotential: .04},
		"a": {State: "a", Distance: 2, Visits: 2, Successes: 1, Failures: 1, Milestone: true,
			Lift: .1, Support: .5, Connectivity: 1, MilestoneScore: .85, Branch: .166667, Progress: .6875, Evidence: .854167, Kept: true,
			CalibratedScore: 1.576042, MilestoneWeight: .283971, MilestonePotential: .283971, TrapPotential: .2},
		"b": {State: "b", Distance: 2, Visits: 3, Successes: 1, Failures: 2, Milestone: true,
			Support: .5, Connectivity: 1, MilestoneScore: .75, Progress: .479167, Evidence: .479167, Kept: true,
			CalibratedScore: 1.109375, MilestoneWeight: .199887, MilestonePotential: .2, TrapPotential: .165517},
		"m": {State: "m", Distance: 1, Visits: 2, Successes: 2, Milestone: true,
			Lift: .6, Support: 1, Connectivity: 1, MilestoneScore: 1.85, Branch: 1, Progress: 1, Evidence: 2, Kept: true,
			CalibratedScore: 5.55, MilestoneWeight: 1, MilestonePotential: 1},
		"g": {State: "g", Goal: true, Visits: 2, Successes: 2},
		"y": {State: "y", Distance: -1, Visits: 2, Revisits: 1, Failures: 1, Trap: true,
			FailureLift: .4, FailureSupport: .333333, Loop: 1, TrapScore: .483333, TrapWeight: 1, TrapPotential: 1},
		"x": {State: "x", Distance: -1, Visits: 2, Failures: 2, Trap: true,
			FailureLift: .4, FailureSupport: .666667, TrapScore: .4, TrapWeight: .827586, TrapPotential: .827586},
	}
	g := mustMileGraphs(t, e11(), nil)
	if len(g) != 1 || len(g[0].Nodes) != 7 || g[0].Successes != 2 || g[0].Failures != 3 || g[0].Group != "q" {
		t.Fatalf("graphs %+v", g)
	}
	for state, node := range want {
		if diff := cmp.Diff(node, g[0].at(state), digits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
	// WebShop differs only in s0, which its support keeps.
	s0 := want["s0"]
	s0.Kept, s0.CalibratedScore, s0.MilestoneWeight, s0.MilestonePotential = true, 1.166667, .210210, .210210
	want["s0"] = s0
	web := mustMileGraphs(t, e11(), MileGPOWebShop())[0]
	for state, node := range want {
		if diff := cmp.Diff(node, web.at(state), digits); diff != "" {
			t.Errorf("WebShop, %s (-want +got):\n%s", state, diff)
		}
	}
}

// E11, edges.
func TestMileGPOEdges(t *testing.T) {
	g := mustMileGraphs(t, e11(), nil)[0]
	tests := []struct {
		from, to           string
		turns              int
		success, failure   int
		contrast, progress float64
		reason             string
	}{
		{"s0", "a", 2, 1, 1, .166667, 1.1, "one step, .5 against .4"},
		{"s0", "b", 3, 1, 2, -.166667, .766667, "one step, 1/3 - .4, less failure 2/3 against 1/2"},
		{"a", "m", 1, 1, 0, 1, 1.6, "one step and 1 - .4"},
		{"b", "m", 1, 1, 0, 1, 1.6, "one step and 1 - .4"},
		{"m", "g", 2, 2, 0, 0, 1.6, "one step and 1 - .4, no sibling"},
		{"a", "y", 1, 0, 1, -1, -1.4, "distance unknown: 0 - .4, less failure 1 against 0"},
		{"b", "x", 2, 0, 2, -1, -1.4, "likewise"},
		{"y", "y", 1, 0, 1, 0, -.8, "no sibling: -.4, less failure 1 against .6"},
	}
	if len(g.Edges) != len(tests) {
		t.Errorf("%d edges", len(g.Edges))
	}
	for _, tt := range tests {
		e := g.edge(tt.from, tt.to)
		got := []float64{float64(e.Turns), float64(e.Successes), float64(e.Failures), e.SuccessShare, e.BranchContrast, e.Progress}
		want := []float64{float64(tt.turns), float64(tt.success), float64(tt.failure),
			float64(tt.success) / float64(tt.success+tt.failure), tt.contrast, tt.progress}
		if diff := cmp.Diff(want, got, digits); diff != "" {
			t.Errorf("%s -> %s, %s (-want +got):\n%s", tt.from, tt.to, tt.reason, diff)
		}
	}
	// Pairs: s0 2*3 all tied, a 1*1 not, b 1*2 not.
	if g.Pairs != 9 || g.Ties != 6 {
		t.Errorf("%d of %d pairs tied, want 6 of 9", g.Ties, g.Pairs)
	}
}

// E11, potentials of each stage.
func TestMileGPOStages(t *testing.T) {
	tests := []struct {
		name      string
		o         *MileGPOOptions
		milestone map[string]float64
		trap      map[string]float64
		reason    string
	}{
		{"PCC", nil, map[string]float64{"s0": .056794, "a": .283971, "b": .2, "m": 1},
			map[string]float64{"s0": .04, "a": .2, "b": .165517, "x": .827586, "y": 1}, "E11"},
		{"RCS", &MileGPOOptions{Stage: StageRCS}, map[string]float64{"s0": .630631, "a": .459459, "b": .405405, "m": 1},
			map[string]float64{"s0": .04, "a": .2, "b": .165517, "x": .827586, "y": 1}, "E11"},
		{"MD", &MileGPOOptions{Stage: StageMD}, map[string]float64{"s0": 1, "a": 1, "b": 1, "m": 1},
			map[string]float64{"s0": .04, "a": .2, "b": .2, "x": 1, "y": 1}, "E11"},
		{"PCC uniform", &MileGPOOptions{Stage: StagePCCUniform, DropFactor: .4}, map[string]float64{"s0": .4, "a": 1, "b": 1, "m": 1},
			map[string]float64{"s0": .04, "a": .2, "b": .165517, "x": .827586, "y": 1}, "3.8: 1 where z, else rho; traps are not calibrated"},
		{"PCC uniform, dropped", &MileGPOOptions{Stage: StagePCCUniform}, map[string]float64{"s0": .2, "a": 1, "b": 1, "m": 1},
			map[string]float64{"s0": .04, "a": .2, "b": .165517, "x": .827586, "y": 1}, "3.8: rho 0; s0 is one step from a"},
		{"nothing kept", &MileGPOOptions{Stage: StagePCCUniform, DropFactor: .4, DistanceWeight: new(0.0), SuccessWeight: new(0.0)},
			map[string]float64{"s0": .4, "a": .4, "b": .4, "m": .4}, map[string]float64{"s0": .04, "a": .2, "b": .165517, "x": .827586, "y": 1},
			"3.8: no progress, rho as it is"},
		{"WebShop", MileGPOWebShop(), map[string]float64{"s0": .210210, "a": .283971, "b": .2, "m": 1},
			map[string]float64{"s0": .04, "a": .2, "b": .165517, "x": .827586, "y": 1}, "E11"},
		{"no weights", &MileGPOOptions{Stage: StageRCS, LiftWeight: new(0.0), SupportWeight: new(0.0), ConnectivityWeight: new(0.0),
			FailureWeight: new(0.0), LoopWeight: new(0.0)}, nil, nil, "3.8: largest score 0, all 0; no trap reaches .1"},
		{"far", &MileGPOOptions{Stage: StageRCS, PotentialDecay: new(.9), LiftWeight: new(0.0), SupportWeight: new(1.0), ConnectivityWeight: new(0.0)},
			map[string]float64{"s0": 1, "a": .9, "b": .9, "m": 1}, map[string]float64{"s0": .81, "a": .9, "b": .744828, "x": .827586, "y": 1},
			"supports 1, .5, .5, 1, and m one step from a and b"},
		{"fewer traps", &MileGPOOptions{TrapScore: new(.41)}, map[string]float64{"s0": .056794, "a": .283971, "b": .2, "m": 1},
			map[string]float64{"s0": .04, "a": .2, "y": 1}, "x has .4"},
		{"visits", &MileGPOOptions{TrapVisits: 3}, map[string]float64{"s0": .056794, "a": .283971, "b": .2, "m": 1},
			map[string]float64{"s0": .04, "a": .2, "y": 1}, "two visit x; y is revisited"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			milestone, trap := make(map[string]float64), make(map[string]float64)
			for _, n := range mustMileGraphs(t, e11(), tt.o)[0].Nodes {
				if n.MilestonePotential != 0 {
					milestone[n.State] = n.MilestonePotential
				}
				if n.TrapPotential != 0 {
					trap[n.State] = n.TrapPotential
				}
			}
			if diff := cmp.Diff(tt.milestone, milestone, digits, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: milestones (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.trap, trap, digits, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: traps (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestMileGPO(t *testing.T) {
	// only gives the step part with the shaped returns alone, under a norm.
	only := func(o *MileGPOOptions, norm Std) *MileGPOOptions {
		o.EpisodeWeight, o.Norm, o.Mix = new(0.0), Norm{Std: norm}, new(1.0)
		return o
	}
	alfShaped := []float64{.867943, 3.790071, 10, .679566, 4, 10, .867943, -.5, 0, .679566, -.413793, .679566, -.413793}
	webShaped := []float64{.484403, 3.790071, 10, .321552, 4, 10, .484403, -.5, 0, .321552, -.413793, .321552, -.413793}
	loop := []Trajectory{walk("q", 10, "s0", "m", "n", "m", "n", "m", "g"), walk("q", 0, "s0", "n")}
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *MileGPOOptions
		want   []float64
		reason string
	}{
		{"ALFWorld, r^M", e11(), only(&MileGPOOptions{}, StdOff), alfShaped, "E11"},
		{"ALFWorld, A^mix", e11(), only(&MileGPOOptions{}, StdSample),
			[]float64{1.095434, .707107, 0, -.730290, 1.154700, 0, 1.095434, -.707107, 0, -.730290, -.577350, -.730290, -.577350}, "E11"},
		{"ALFWorld", e11(), nil,
			[]float64{1.314532, 1.802551, 1.095445, .949387, 2.250145, 1.095445, -.511210, -1.437403, -.730297, -.876355, -1.307646, -.876355, -1.307646},
			"E11"},
		{"WebShop, r^M", e11(), only(MileGPOWebShop(), StdOff), webShaped, "E11"},
		{"WebShop, A^mix", e11(), only(MileGPOWebShop(), StdNone),
			[]float64{.097711, 2.145036, 0, -.065141, 2.942529, 0, .097711, -2.145036, 0, -.065141, -1.471264, -.065141, -1.471264}, "E11"},
		{"WebShop", e11(), MileGPOWebShop(),
			[]float64{6.097711, 8.145036, 6, 5.934859, 8.942529, 6, -3.902289, -6.145036, -4, -4.065141, -5.471264, -4.065141, -5.471264}, "E11"},
		{"no success", []Trajectory{walk("q", 0, "s0", "a", "a"), walk("q", 0, "s0", "b")}, nil, []float64{-.141421, 0, .141421}, "E12"},
		{"no success, r^M", []Trajectory{walk("q", 0, "s0", "a", "a"), walk("q", 0, "s0", "b")}, only(&MileGPOOptions{}, StdOff), []float64{-.5, 0, 0},
			"E12"},
		{"all success", []Trajectory{walk("q", 10, "s0", "a", "g"), walk("q", 10, "s0", "g")}, nil, []float64{-.707107, 0, .707107},
			"E12"},
		{"single trajectory", []Trajectory{walk("q", 10, "s", "a", "g")}, nil, []float64{0, 0}, "3.8: every norm 0"},
		{"single trajectory, revisited", []Trajectory{walk("q", 10, "s", "a", "s", "g")}, only(&MileGPOOptions{}, StdOff), []float64{.4, 4, 10},
			"r^G .4, 2, 10; a->s is the only progress, so s has weight 1, a potential .2, and a->s gains .8"},
		{"single turn", []Trajectory{walk("q", 10, "s", "g")}, nil, []float64{0}, "nothing to compare with"},
		{"raw singletons", []Trajectory{walk("q", 1, "s", "g")}, &MileGPOOptions{GraphGPOOptions: GraphGPOOptions{Norm: Norm{Singleton: SingletonRaw}}},
			[]float64{11}, "as GiGPO"},
		{"cycle", loop, only(&MileGPOOptions{}, StdOff), []float64{4, .4, 4, .4, 4, 10, .4},
			"6.20: only m has progress; potentials m 1, n and s0 .2, so each step into m earns 2 + 2.5*.8"},
		{"discounted potential", e11(), only(&MileGPOOptions{PotentialGamma: new(0.0)}, StdOff),
			[]float64{.4, 2, 10, .4, 2, 10, .4, 0, 0, .4, 0, .4, 0}, "gamma_Phi 0 leaves no gain"},
		{"no shaping", e11(), only(&MileGPOOptions{ShapingWeight: new(0.0)}, StdOff),
			[]float64{.4, 2, 10, .4, 2, 10, .4, 0, 0, .4, 0, .4, 0}, "lambda_s 0"},
		{"no milestones", e11(), only(&MileGPOOptions{PositiveWeight: new(0.0)}, StdOff),
			[]float64{.4 - .1, 2, 10, .4 - .078448, 2, 10, .4 - .1, -.5, 0, .4 - .078448, -.413793, .4 - .078448, -.413793},
			"traps alone: 2.5 * .25 * (.2 - .04) = .1 at s0->a, .25 * (.165517 - .04) at s0->b"},
		{"no traps", e11(), only(&MileGPOOptions{NegativeWeight: new(0.0)}, StdOff),
			[]float64{.967943, 3.790071, 10, .758014, 4, 10, .967943, 0, 0, .758014, 0, .758014, 0}, "2.5 * (.283971 - .056794) = .567943"},
		{"larger return", e11(), only(&MileGPOOptions{GraphGPOOptions: GraphGPOOptions{GoalReturn: new(20.0)}}, StdOff), doubled(alfShaped),
			"c scales both parts"},
		{"threshold of a trap", append([]Trajectory{walk("q", 10, "s", "g"), walk("q", 0, "s", "x"), walk("q", 0, "s", "x")}, repeated(walk("q", 0, "s", "z", "w"), 7)...),
			only(&MileGPOOptions{NegativeWeight: new(1.0)}, StdOff),
			append([]float64{10, -2, -2}, many(14, -2, 0)...),
			"l- of x, z and w is 1 - 9/10 = .1, the least score, though 1-.9 < .1 in floating point; s has potential .2"},
		{"empty batch", nil, nil, []float64{}, "nothing to do"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			before := copyBatch(tt.batch)
			c := mustMileGPO(t, tt.batch, tt.o)
			if diff := cmp.Diff(tt.want, c.Advantage, cmpopts.EquateApprox(0, 1.1e-6)); diff != "" { // six decimals, times 2.5
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(before, tt.batch); diff != "" {
				t.Errorf("the batch changed (-want +got):\n%s", diff)
			}
		})
	}
}

func doubled(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = 2 * x[i]
	}
	return out
}

func repeated(t Trajectory, n int) []Trajectory {
	out := make([]Trajectory, n)
	for i := range out {
		out[i] = t
	}
	return out
}

// many repeats x up to length n.
func many(n int, x ...float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x[i%len(x)]
	}
	return out
}

// Definitions that E11 does not tell from their neighbours.
func TestMileGPODefinitions(t *testing.T) {
	hub := []Trajectory{walk("q", 10, "s", "s", "a", "g"), walk("q", 0, "s", "h", "x"), walk("q", 0, "h", "y"), walk("q", 0, "h", "z"), walk("q", 0, "h", "w")}
	loop := []Trajectory{walk("q", 10, "s", "s", "g"), walk("q", 0, "r", "x")}
	loopBranch := []Trajectory{walk("q", 10, "s", "s", "g"), walk("q", 0, "s", "h")}
	failed := []Trajectory{walk("q", 10, "m", "g"), walk("q", 0, "r", "m", "x")}
	halves := []Trajectory{walk("q", 10, "s", "g"), walk("q", 10, "r", "g")}
	again := []Trajectory{walk("q", 10, "s", "a", "s", "a", "g"), walk("q", 0, "s", "a")}
	stuck := []Trajectory{walk("q", 0, "s", "y", "y", "y"), walk("q", 0, "s", "y")}
	tests := []struct {
		name   string
		batch  []Trajectory
		got    func(g *MileGraph) float64
		want   float64
		reason string
	}{
		{"hub of failures", hub, func(g *MileGraph) float64 { return g.at("a").Connectivity }, 1, "largest degree of a state with a success is 2, that of h 5"},
		{"self-loop is no neighbour", hub, func(g *MileGraph) float64 { return g.at("s").Connectivity }, 1, "s has a and h, and not itself twice"},
		{"self-loop is no progress", loop, func(g *MileGraph) float64 { return g.at("s").Progress }, 0, "psi(s->s) = 1 - .5, but s is entered by itself only"},
		{"self-loop is a sibling", loopBranch, func(g *MileGraph) float64 { return g.edge("s", "h").BranchContrast }, -1, "0 less 1, the largest"},
		{"self-loop has contrast", loopBranch, func(g *MileGraph) float64 { return g.edge("s", "s").BranchContrast }, .5, "1 less .5, relative to 1"},
		{"self-loop is no branch", loopBranch, func(g *MileGraph) float64 { return g.at("s").Branch }, 0, "entered by itself only"},
		{"progress of a failure", failed, func(g *MileGraph) float64 { return g.edge("r", "m").Progress }, 1, "one step, no lift"},
		{"progress without success", failed, func(g *MileGraph) float64 { return g.at("m").Progress }, 0, "|T+(r->m)| = 0"},
		{"support at the threshold", halves, func(g *MileGraph) float64 { return g.at("s").CalibratedScore }, .625, "kept by m = .5: .5 + .25*.5, E 0; the goal counts in the largest degree, 2"},
		{"each trajectory once", again, func(g *MileGraph) float64 { return g.edge("s", "a").SuccessShare }, .5, "one success, if twice, and one failure"},
		{"visits", again, func(g *MileGraph) float64 { return float64(g.at("a").Visits) }, 3, "twice and once"},
		{"loops per visitor", stuck, func(g *MileGraph) float64 { return g.at("y").Loop }, 1, "2 revisits, 2 visitors"},
		{"trap without success", stuck, func(g *MileGraph) float64 { return g.at("y").TrapScore }, .25, "3.8: l- = 0, w_l f- L"},
		{"final state is a trap", stuck, func(g *MileGraph) float64 { return g.at("y").TrapWeight }, 1, "3.8"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		if got := tt.got(&mustMileGraphs(t, tt.batch, MileGPOWebShop())[0]); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %v, want %v: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}

// Equal shares in other words, thirds and sixths, leave rounding that must not decide: neither a contrast of 0 nor progress
// of 0 may become something.
func TestMileGPORounding(t *testing.T) {
	// Every edge out of s succeeds in 1 of 10, which summed 9 times is not .9.
	var contrast []Trajectory
	for _, branch := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		contrast = append(contrast, walk("q", 1, "s", branch, "goal"))
		contrast = append(contrast, repeated(walk("q", 0, "s", branch, "end "+branch), 9)...)
	}
	g := mustMileGraphs(t, contrast, &MileGPOOptions{DistanceWeight: new(0.0)})[0]
	for _, e := range g.Edges {
		if g.Nodes[e.From].State == "s" && (e.BranchContrast != 0 || e.Progress != 0) {
			t.Errorf("%s: contrast %v, progress %v, want 0", g.Nodes[e.To].State, e.BranchContrast, e.Progress)
		}
	}
	// a: lift 2/3-1/2, failure 1/3 above the sibling's 1/6, so that a_s*lift - a_f*l- is exactly 0.
	progress := func(batch []Trajectory) {
		t.Helper()
		g := mustMileGraphs(t, batch, &MileGPOOptions{DistanceWeight: new(0.0)})[0]
		if e := g.edge("s", "a"); e.Progress != 0 || g.at("a").Kept {
			t.Errorf("progress %v, kept %v, want 0 and false", e.Progress, g.at("a").Kept)
		}
	}
	one := []Trajectory{walk("q", 1, "s", "a", "g"), walk("q", 1, "s", "a", "g"), walk("q", 0, "s", "a", "x")}
	two := append(repeated(walk("q", 1, "s", "b", "g"), 5), walk("q", 0, "s", "b", "x"))
	rest := repeated(walk("q", 0, "r", "r"), 5) // 7 of 14 succeed
	progress(append(append(append([]Trajectory{}, one...), two...), rest...))
	progress(append(append(append([]Trajectory{}, rest...), two...), one...))
}

func TestMileGPOErrors(t *testing.T) {
	fields := reflect.TypeFor[MileGPOOptions]()
	for _, f := range reflect.VisibleFields(fields) {
		if f.Type != reflect.TypeFor[*float64]() {
			continue
		}
		for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
			o := new(MileGPOOptions)
			reflect.ValueOf(o).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(&bad))
			for name, call := range map[string]func() error{
				"MileGPO":    func() error { _, err := MileGPO(nil, e11(), o); return err },
				"MileGraphs": func() error { _, err := MileGraphs(e11(), o); return err },
			} {
				if err := call(); err == nil || !strings.HasPrefix(err.Error(), "rl: MileGPOOptions."+f.Name+" is ") {
					t.Errorf("%s with %s %v: %v", name, f.Name, bad, err)
				}
			}
		}
	}
	for want, o := range map[string]*MileGPOOptions{
		"Stage is 4":          {Stage: 4},
		"PotentialDecay is 1": {PotentialDecay: new(1.0)},
		"PotentialDecay is 0": {PotentialDecay: new(0.0)},
		"PotentialGamma is 2": {PotentialGamma: new(2.0)},
		"TrapVisits is -1":    {TrapVisits: -1},
		"DropFactor is 1.5":   {DropFactor: 1.5},
		"DropFactor is NaN":   {DropFactor: math.NaN()},
		"Mix is 1.5":          {Mix: new(1.5)},
		"GoalDecay is 1":      {GraphGPOOptions: GraphGPOOptions{GoalDecay: new(1.0)}},
		"Norm.Std is 9":       {GraphGPOOptions: GraphGPOOptions{Norm: Norm{Std: 9}}},
	} {
		if c, err := MileGPO(nil, e11(), o); c != nil || err == nil || !strings.HasPrefix(err.Error(), "rl: MileGPOOptions."+want+", want") {
			t.Errorf("%s: %v", want, err)
		}
	}
	open := e11()
	open[1].Turns[2].End = Continue
	nan := e11()
	nan[1].Turns[2].Reward = math.NaN()
	for name, batch := range map[string][]Trajectory{"open": open, "NaN": nan} {
		_, err := MileGPO(nil, batch, nil)
		_, err2 := MileGraphs(batch, nil)
		if err == nil || err2 == nil || err.Error() != err2.Error() {
			t.Errorf("%s: %v, %v", name, err, err2)
		}
	}
	// The heaviest weights all at once overflow nothing.
	heavy := new(MileGPOOptions)
	for _, f := range reflect.VisibleFields(fields) {
		if f.Type == reflect.TypeFor[*float64]() && !strings.HasSuffix(f.Name, "Decay") && !strings.HasSuffix(f.Name, "Gamma") && f.Name != "Mix" {
			reflect.ValueOf(heavy).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(new(1e100)))
		}
	}
	heavy.InvalidPenalty, heavy.TrapScore, heavy.KeepSupport = nil, nil, nil
	for _, g := range mustMileGraphs(t, e11(), heavy) {
		for _, e := range g.Edges {
			if !finite(e.MilestoneReturn) || !finite(e.Progress) {
				t.Errorf("%+v", e)
			}
		}
		for _, n := range g.Nodes {
			if !finite(n.CalibratedScore) || !finite(n.MilestonePotential) || !finite(n.TrapPotential) {
				t.Errorf("%+v", n)
			}
		}
	}
	if _, err := MileGPO(nil, e11(), heavy); err != nil {
		t.Errorf("heaviest: %v", err)
	}
}

// anyMile draws options.
func anyMile(t *rapid.T) *MileGPOOptions {
	weight := func(name string) *float64 {
		return rapid.SampledFrom([]*float64{nil, new(0.0), new(.5), new(2.0)}).Draw(t, name)
	}
	o := &MileGPOOptions{
		Stage:          Stage(rapid.IntRange(0, 3).Draw(t, "stage")),
		PotentialDecay: rapid.SampledFrom([]*float64{nil, new(.5), new(.9)}).Draw(t, "decay"),
		PotentialGamma: rapid.SampledFrom([]*float64{nil, new(.5), new(0.0)}).Draw(t, "gamma"),
		PositiveWeight: weight("w+"), NegativeWeight: weight("w-"), ShapingWeight: weight("lambda"),
		LiftWeight: weight("lift"), SupportWeight: weight("support"), ConnectivityWeight: weight("connectivity"),
		FailureWeight: weight("failure score"), LoopWeight: weight("loop"),
		DistanceWeight: weight("distance"), SuccessWeight: weight("success"), FailureLiftWeight: weight("failure"),
		BranchWeight: weight("branch"), ProgressWeight: weight("progress"), CalibrationWeight: weight("calibration"),
		TrapScore: weight("trap"), TrapVisits: rapid.IntRange(0, 3).Draw(t, "visits"),
		KeepSupport: weight("keep"), KeepBranch: rapid.Bool().Draw(t, "branch keeps"),
		DropFactor: rapid.SampledFrom([]float64{0, .5, 1}).Draw(t, "drop"),
	}
	o.Norm.Std = rapid.SampledFrom([]Std{StdDefault, StdNone, StdPopulation}).Draw(t, "std")
	return o
}

// Mix 0 equals GraphGPO bit for bit, and the step part is linear in Mix (property 17).
func TestMileGPOMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch, o := anyWalks(t, false), anyMile(t)
		o.Mix = new(0.0)
		graph, err := GraphGPO(nil, batch, &o.GraphGPOOptions)
		if err != nil {
			t.Fatal(err)
		}
		for k, a := range mustMileGPO(t, batch, o).Advantage {
			if math.Float64bits(a) != math.Float64bits(graph.Advantage[k]) {
				t.Fatalf("turn %d: %v, GraphGPO %v", k, a, graph.Advantage[k])
			}
		}
		o.EpisodeWeight = new(0.0)
		step := func(mix float64) []float64 {
			o.Mix = &mix
			return mustMileGPO(t, batch, o).Advantage
		}
		eta := rapid.Float64Range(0, 1).Draw(t, "mix")
		none, all := step(0), step(1)
		for k, got := range step(eta) {
			if want := (1-eta)*none[k] + eta*all[k]; math.Abs(got-want) > 1e-12 {
				t.Fatalf("turn %d, mix %v: %v, want %v", k, eta, got, want)
			}
		}
	})
}

// Gains are in [0, w], and so shaped returns within c*lambda_s*w of those by distance, below by the weight of traps, above by
// that of milestones; a self-loop gains nothing; weights and potentials are in [0, 1] (property 17).
func TestMileGPOBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch, o := anyWalks(t, false), anyMile(t)
		plus, minus, lambda := orDefault(o.PositiveWeight, 1), orDefault(o.NegativeWeight, .25), orDefault(o.ShapingWeight, .25)
		for _, g := range mustMileGraphs(t, batch, o) {
			for _, e := range g.Edges {
				added := e.MilestoneReturn - e.GoalReturn
				switch {
				case e.MilestoneGain < 0 || e.MilestoneGain > plus || e.TrapGain < 0 || e.TrapGain > minus,
					added > 10*lambda*plus+1e-12 || added < -10*lambda*minus-1e-12,
					e.From == e.To && added != 0,
					e.BranchContrast > 1 || e.BranchContrast < -1:
					t.Fatalf("edge %+v", e)
				}
			}
			for _, n := range g.Nodes {
				for _, x := range []float64{n.MilestoneWeight, n.TrapWeight, n.MilestonePotential, n.TrapPotential, n.Lift, n.Support, n.Connectivity,
					n.Branch, n.Progress, n.FailureLift, n.FailureSupport} {
					if !(x >= 0 && x <= 1) {
						t.Fatalf("node %+v", n)
					}
				}
				if n.Milestone && n.Trap || n.Goal && (n.Milestone || n.Trap) || n.Kept && !n.Milestone {
					t.Fatalf("node %+v", n)
				}
			}
		}
	})
}

// Potentials equal the maximum over all pairs (property 19).
func TestMileGPOPotentials(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch, o := anyWalks(t, false), anyMile(t)
		omega := orDefault(o.PotentialDecay, .2)
		for _, g := range mustMileGraphs(t, batch, o) {
			d := distances(&g)
			for u, node := range g.Nodes {
				var milestone, trap float64
				for v := range g.Nodes {
					milestone = max(milestone, g.Nodes[v].MilestoneWeight*math.Pow(omega, d[u][v]))
					trap = max(trap, g.Nodes[v].TrapWeight*math.Pow(omega, d[u][v]))
				}
				if math.Abs(milestone-node.MilestonePotential) > 1e-12 || math.Abs(trap-node.TrapPotential) > 1e-12 {
					t.Fatalf("node %d: %v and %v, by all pairs %v and %v", u, node.MilestonePotential, node.TrapPotential, milestone, trap)
				}
			}
		}
	})
}

// The queue in place of a heap finds the largest products for any weights, not only for those of small groups, and takes each
// node once.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		var from, to []int
		x := MileGraph{Nodes: make([]MileNode, n)}
		for range rapid.IntRange(0, 30).Draw(t, "edges") {
			e := MileEdge{From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(0, n-1).Draw(t, "to")}
			from, to, x.Edges = append(from, e.From), append(to, e.To), append(x.Edges, e)
		}
		g := stateGraph{nodes: n, from: from, to: to}
		g.in, g.inEdge = bucket(nil, nil, to, n)
		g.mile.weight = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, .01, .04, .2, .25, .5, 1, 3}), n, n).Draw(t, "weights")
		omega := rapid.SampledFrom([]float64{.1, .2, .5, .99}).Draw(t, "omega")
		g.spread(omega)
		taken := slices.Clone(g.queue)
		slices.Sort(taken)
		if len(slices.Compact(taken)) < len(g.queue) {
			t.Fatalf("queue %v", g.queue)
		}
		d := distances(&x)
		for u := range n {
			want := 0.0
			for v := range n {
				want = max(want, g.mile.weight[v]*math.Pow(omega, d[u][v]))
			}
			if math.Abs(want-g.mile.potential[u]) > 1e-12 {
				t.Fatalf("node %d has %v, want %v", u, g.mile.potential[u], want)
			}
		}
	})
}

// The order of trajectories changes no number of the graph, whatever the options (property 19).
func TestMileGraphOrder(t *testing.T) {
	type key struct{ group, from, to string }
	rapid.Check(t, func(t *rapid.T) {
		batch, o := anyWalks(t, true), anyMile(t)
		parts := func(batch []Trajectory) (map[key]MileNode, map[key]MileEdge) {
			nodes, edges := make(map[key]MileNode), make(map[key]MileEdge)
			for _, g := range mustMileGraphs(t, batch, o) {
				for _, n := range g.Nodes {
					nodes[key{g.Group, n.State, ""}] = n
				}
				for _, e := range g.Edges {
					k := key{g.Group, g.Nodes[e.From].State, g.Nodes[e.To].State}
					e.From, e.To = 0, 0
					edges[k] = e
				}
			}
			return nodes, edges
		}
		nodes, edges := parts(batch)
		nodes2, edges2 := parts(rapid.Permutation(batch).Draw(t, "order"))
		if diff := cmp.Diff(nodes, nodes2, near); diff != "" {
			t.Fatalf("nodes (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(edges, edges2, near); diff != "" {
			t.Fatalf("edges (-want +got):\n%s", diff)
		}
	})
}

// A cycle that leaves a milestone and comes back gains each time: the shaping is one-sided, which is reported and not
// forbidden (property 20).
func TestMileGPOCycle(t *testing.T) {
	g := mustMileGraphs(t, []Trajectory{walk("q", 10, "s0", "m", "n", "m", "n", "m", "g"), walk("q", 0, "s0", "n")}, nil)[0]
	e := g.edge("n", "m")
	if e.Turns != 2 || math.Abs(e.MilestoneGain-.8) > 1e-12 {
		t.Errorf("%d turns n->m gain %v each, want 2 with .8", e.Turns, e.MilestoneGain)
	}
	if back := g.edge("m", "n"); back.MilestoneGain != 0 || back.TrapGain != 0 {
		t.Errorf("m->n gains %v and %v, want 0: nothing is taken back", back.MilestoneGain, back.TrapGain)
	}
}

// A nil *MileGPOOptions equals the zero options and the defaults written out.
func TestMileGPODefaults(t *testing.T) {
	full := &MileGPOOptions{
		GraphGPOOptions: GraphGPOOptions{GoalReturn: new(10.0), GoalDecay: new(.2), StepWeight: new(1.0), EpisodeWeight: new(1.0),
			InvalidPenalty: new(.1), Norm: Norm{Std: StdSample, Eps: new(1e-6), EpsPlace: EpsAdded}},
		PotentialDecay: new(.2), PotentialGamma: new(1.0), ShapingWeight: new(.25), PositiveWeight: new(1.0), NegativeWeight: new(.25),
		LiftWeight: new(1.0), SupportWeight: new(1.0), ConnectivityWeight: new(.25), FailureWeight: new(1.0), LoopWeight: new(.25),
		DistanceWeight: new(1.0), SuccessWeight: new(1.0), FailureLiftWeight: new(1.0), BranchWeight: new(1.0), ProgressWeight: new(1.0),
		CalibrationWeight: new(1.0), TrapScore: new(.1), TrapVisits: 2, KeepSupport: new(1.1), Mix: new(.2),
	}
	batch := gridWalks(16, 20, 8)
	want := mustMileGPO(t, batch, full).Advantage
	for name, o := range map[string]*MileGPOOptions{"nil": nil, "zero": {}} {
		if diff := cmp.Diff(want, mustMileGPO(t, batch, o).Advantage); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if web := MileGPOWebShop(); web == MileGPOWebShop() || *web.KeepSupport != .5 || !web.KeepBranch || web.DropFactor != .5 || *web.Mix != 1 ||
		web.Norm.Std != StdNone || web.Stage != StagePCC {
		t.Errorf("WebShop %+v", web)
	}
}

func BenchmarkMileGPO(b *testing.B) {
	benchmarkGraph(b, graphEstimators["ALFWorld"])
}

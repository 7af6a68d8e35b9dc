package rl

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// e10 is the batch of E10.
func e10() []Trajectory {
	return []Trajectory{
		inGroup("g", episode(Terminated, []float64{0, 0, 10}, nil), "s0", "s1", "s2"),
		inGroup("g", episode(Truncated, []float64{0, 0, 0}, nil), "s0", "s1", "s1"),
	}
}

func TestGiGPO(t *testing.T) {
	root := math.Sqrt
	centred := func(o GiGPOOptions) *GiGPOOptions { o.Norm.Std = StdNone; return &o }
	change := func(f func(b []Trajectory)) []Trajectory { b := e10(); f(b); return b }
	long := []Trajectory{inGroup("g", episode(Terminated, []float64{0, 10}, nil)), inGroup("g", episode(Terminated, make([]float64, 8), nil))}
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *GiGPOOptions
		want   []float64
		stats  [3]int
		reason string
	}{
		{"E10", e10(), nil, []float64{1.414213, 1.861807, .707107, -1.414213, -1.284457, -1.284457}, [3]int{1, 0, 0}, "E10"},
		{"E10, w/o std", e10(), centred(GiGPOOptions{}), []float64{9.5125, 34.0 / 3, 5, -9.5125, -5 - 9.5/3, -5 - 9.5/3}, [3]int{1, 0, 0},
			"E10"},
		{"E10, weight", long, centred(GiGPOOptions{}), []float64{5, 5, -5, -5, -5, -5, -5, -5, -5, -5}, [3]int{1, 0, 0}, "E10: states unknown, so only scores are compared"},
		{"E10, weight per turn", long, centred(GiGPOOptions{PerTurn: true}), []float64{8, 8, -2, -2, -2, -2, -2, -2, -2, -2}, [3]int{1, 0, 0}, "E10"},
		{"E10, weight per turn, std", long, &GiGPOOptions{PerTurn: true}, append(repeat(2, 1.897366), repeat(8, -.474342)...), [3]int{1, 0, 0}, "E10"},
		{"omega 0", e10(), centred(GiGPOOptions{StepWeight: new(0.0)}), []float64{5, 5, 5, -5, -5, -5}, [3]int{1, 0, 0}, "the centred scores"},
		{"omega 2", e10(), centred(GiGPOOptions{StepWeight: new(2.0)}), []float64{14.025, 5 + 2*19.0/3, 5, -14.025, -5 - 19.0/3, -5 - 19.0/3}, [3]int{1, 0, 0},
			"G at s0 9.025 and 0, at s1 9.5, 0, 0"},
		{"gamma 0", e10(), centred(GiGPOOptions{Gamma: new(0.0)}), []float64{5, 5, 5, -5, -5, -5}, [3]int{1, 0, 0}, "no reward at s0 or s1"},
		{"gamma 1", e10(), centred(GiGPOOptions{Gamma: new(1.0)}), []float64{10, 5 + 20.0/3, 5, -10, -5 - 10.0/3, -5 - 10.0/3}, [3]int{1, 0, 0}, "G 10 and 0"},
		{"first visit", e10(), centred(GiGPOOptions{FirstVisit: true}), []float64{9.5125, 9.75, 5, -9.5125, -9.75, -5}, [3]int{1, 0, 0},
			"s1 compares 9.5 and 0; the second visit of B gets nothing from it"},
		{"first visit votes", change(func(b []Trajectory) { b[1].Turns[1].Excluded = true }), centred(GiGPOOptions{FirstVisit: true}),
			[]float64{9.5125, 9.75, 5, -9.5125, 0, -9.75}, [3]int{1, 0, 0}, "an excluded visit is none"},
		{"invalid", change(func(b []Trajectory) { b[1].Turns[2].Invalid = true }), centred(GiGPOOptions{}),
			[]float64{5.05 + (9.025+.1*.9025)/2, 5.05 + 9.5 - (9.5-.095-.1)/3, 5.05, -5.05 - (9.025+.1*.9025)/2, -5.05 - .095 - (9.5-.095-.1)/3, -5.05 - .1 - (9.5-.095-.1)/3},
			[3]int{1, 0, 0}, "Z 10 and -.1, G_B -.09025, -.095, -.1"},
		{"no penalty", change(func(b []Trajectory) { b[1].Turns[2].Invalid = true }), centred(GiGPOOptions{InvalidPenalty: new(0.0)}),
			[]float64{9.5125, 34.0 / 3, 5, -9.5125, -5 - 9.5/3, -5 - 9.5/3}, [3]int{1, 0, 0}, "as E10"},
		{"excluded invalid", change(func(b []Trajectory) { b[1].Turns[2].Invalid, b[1].Turns[2].Excluded = true, true }), centred(GiGPOOptions{}),
			[]float64{9.5125, 9.75, 5, -9.5125, -9.75, 0}, [3]int{1, 0, 0}, "no penalty, no vote in s1"},
		{"excluded turn keeps its reward", change(func(b []Trajectory) { b[0].Turns[2].Excluded = true }), centred(GiGPOOptions{}),
			[]float64{9.5125, 34.0 / 3, 0, -9.5125, -5 - 9.5/3, -5 - 9.5/3}, [3]int{1, 0, 0}, "2: stays in the sweep"},
		{"other group", append(e10(), inGroup("h", scored("", 3), "s0"), inGroup("h", scored("", 5), "s0")), centred(GiGPOOptions{}),
			[]float64{9.5125, 34.0 / 3, 5, -9.5125, -5 - 9.5/3, -5 - 9.5/3, -2, 2}, [3]int{2, 0, 0}, "states are shared within a group only"},
		{"unknown states", change(func(b []Trajectory) {
			for i := range b {
				for k := range b[i].Turns {
					b[i].Turns[k].State = ""
				}
			}
		}), centred(GiGPOOptions{}), []float64{5, 5, 5, -5, -5, -5}, [3]int{1, 0, 0}, "2: each alone"},
		{"unknown states, raw", change(func(b []Trajectory) { b[0].Turns[0].State, b[1].Turns[0].State = "", "" }),
			&GiGPOOptions{Norm: Norm{Std: StdNone, Singleton: SingletonRaw}}, []float64{14.025, 34.0 / 3, 15, -5, -5 - 9.5/3, -5 - 9.5/3}, [3]int{1, 0, 0},
			"G itself in states of one turn"},
		{"unknown states, raw episodes", change(func(b []Trajectory) { b[0].Turns[0].State, b[1].Group = "", "h" }),
			&GiGPOOptions{Norm: Norm{Std: StdNone, Singleton: SingletonRaw}, StepSingleton: new(SingletonZero)}, []float64{10, 10, 10, 0, 0, 0}, [3]int{0, 0, 2},
			"section 8, verl-agent: raw score, no step advantage"},
		{"off", e10(), &GiGPOOptions{Norm: Norm{Std: StdOff}}, []float64{19.025, 19.5, 20, 0, 0, 0}, [3]int{1, 0, 0}, "score and return as they are"},
		{"error policy", e10(), &GiGPOOptions{Norm: Norm{Std: StdNone, Singleton: SingletonError}}, []float64{9.5125, 34.0 / 3, 5, -9.5125, -5 - 9.5/3, -5 - 9.5/3},
			[3]int{1, 0, 0}, "s2 is seen once, which is ordinary"},
		{"one trajectory", e10()[1:], nil, []float64{0, 0, 0}, [3]int{0, 0, 1}, "nothing differs"},
		{"one trajectory, loop", []Trajectory{inGroup("g", episode(Terminated, []float64{0, 0, 1}, nil), "s", "s", "s")}, &GiGPOOptions{Gamma: new(0.0), Norm: Norm{Eps: new(0.0)}},
			[]float64{-1 / root(3), -1 / root(3), 2 / root(3)}, [3]int{0, 0, 1}, "3.6: a loop fills its own state; -1/3 over root(1/3)"},
		{"one trajectory, loop, first", []Trajectory{inGroup("g", episode(Terminated, []float64{0, 0, 1}, nil), "s", "s", "s")}, &GiGPOOptions{FirstVisit: true},
			[]float64{0, 0, 0}, [3]int{0, 0, 1}, "alone"},
		{"equal scores", []Trajectory{inGroup("g", episode(Terminated, []float64{1}, nil), "s"), inGroup("g", episode(Terminated, []float64{0, 1}, nil), "s", "t")},
			centred(GiGPOOptions{}), []float64{.025, -.025, 0}, [3]int{1, 1, 0}, "flat scores, yet the shorter way is better: G 1 and .95"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			c, err := GiGPO(nil, tt.batch, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.Advantage, cmpopts.EquateApprox(1e-12, 6e-7)); diff != "" { // six digits given
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if got := [3]int{c.Groups, c.ZeroVariance, c.Singletons}; got != tt.stats {
				t.Errorf("%s: groups, zero variance, singletons %v, want %v", tt.reason, got, tt.stats)
			}
		})
	}
}

// literalReturn sums up the discounted rewards from turn k on, penalties included.
func literalReturn(b Trajectory, k int, gamma, penalty float64) (g float64) {
	for j := k; j < len(b.Turns); j++ {
		r := b.Turns[j].Reward
		if b.Turns[j].Invalid && !b.Turns[j].Excluded {
			r -= penalty
		}
		g += math.Pow(gamma, float64(j-k)) * r
	}
	return g
}

// visits returns the voting turns of a group in a state, those with an unknown state being none of them.
func visits(batch []Trajectory, group, state string, first bool) (out [][2]int) {
	for _, i := range voters(batch, &group) {
		for k, u := range batch[i].Turns {
			if state == "" || u.State != state || !trainsTurn(u) {
				continue
			}
			if first && slices.ContainsFunc(out, func(v [2]int) bool { return v[0] == i }) {
				continue
			}
			out = append(out, [2]int{i, k})
		}
	}
	return out
}

// GiGPO equals its definition with every combination of options.
func TestGiGPOLiteral(t *testing.T) {
	var reused *Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyGroups(t)
		o := &GiGPOOptions{
			Gamma:          new(rapid.SampledFrom([]float64{0, .95, 1}).Draw(t, "gamma")),
			StepWeight:     new(rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(t, "omega")),
			InvalidPenalty: new(rapid.SampledFrom([]float64{0, .1, 2}).Draw(t, "penalty")),
			Norm:           anyNorm(t),
			PerTurn:        rapid.Bool().Draw(t, "per turn"),
			FirstVisit:     rapid.Bool().Draw(t, "first visit"),
		}
		c, err := GiGPO(reused, batch, o)
		if err != nil {
			t.Fatal(err)
		}
		reused = c
		episodes, flat, stats := literalCompare(batch, *o.InvalidPenalty, o.Norm, ScopeGroup, o.PerTurn)
		want := spreadTurns(batch, episodes)
		for _, i := range voters(batch, nil) {
			for k, u := range batch[i].Turns {
				if !trainsTurn(u) {
					continue
				}
				members := visits(batch, batch[i].Group, u.State, o.FirstVisit)
				if u.State == "" {
					members = [][2]int{{i, k}}
				}
				var g []float64
				for _, m := range members {
					g = append(g, literalReturn(batch[m[0]], m[1], *o.Gamma, *o.InvalidPenalty))
				}
				if at := slices.Index(members, [2]int{i, k}); at >= 0 {
					step, _ := literalNorm(g, g, len(g), o.Norm)
					want[c.Start[i]+k] += *o.StepWeight * step[at]
				}
			}
		}
		if diff := cmp.Diff(want, c.Advantage, cmpopts.EquateApprox(1e-10, 1e-11)); diff != "" { // deviations down to .01
			t.Fatalf("(-want +got):\n%s", diff)
		}
		checkCounts(t, c, flat, stats)
	})
}

// Without the step term, and where every state is unknown, GiGPO is GRPO.
func TestGiGPOWithoutSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyGroups(t)
		perTurn := rapid.Bool().Draw(t, "per turn")
		want, err := GRPO(nil, batch, &GRPOOptions{PerTurn: perTurn})
		if err != nil {
			t.Fatal(err)
		}
		got, err := GiGPO(nil, batch, &GiGPOOptions{PerTurn: perTurn, StepWeight: new(0.0)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameCredit); diff != "" {
			t.Fatalf("omega 0 (-GRPO +GiGPO):\n%s", diff)
		}
		for i := range batch {
			for k := range batch[i].Turns {
				batch[i].Turns[k].State = ""
			}
		}
		got, err = GiGPO(nil, batch, &GiGPOOptions{PerTurn: perTurn})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameCredit); diff != "" {
			t.Fatalf("unknown states (-GRPO +GiGPO):\n%s", diff)
		}
	})
}

func BenchmarkGiGPO(b *testing.B) {
	benchGroup(b, func(dst *Credit, batch []Trajectory) (*Credit, error) { return GiGPO(dst, batch, nil) })
}

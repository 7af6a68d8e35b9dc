package rl

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func e13() []Trajectory {
	return []Trajectory{
		inGroup("g", episode(Terminated, []float64{0, 10}, nil), "s0", "s1"),
		inGroup("g", episode(Terminated, []float64{0, 0}, nil), "s0", "s2"),
	}
}

func TestGAGPO(t *testing.T) {
	root := math.Sqrt
	off := func(o GAGPOOptions) *GAGPOOptions { o.Norm.Std = StdOff; return &o }
	change := func(f func(b []Trajectory)) []Trajectory { b := e13(); f(b); return b }
	s := root(4.75 * 4.75 * 2 / 3)
	loop := []Trajectory{inGroup("g", episode(Terminated, []float64{0, 1}, nil), "s", "s")}
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *GAGPOOptions
		want   []float64
		stats  [3]int
		flat   bool // of trajectory 0
		reason string
	}{
		{"E13", e13(), off(GAGPOOptions{}), []float64{4.75, 0, -4.75, 0}, [3]int{1, 0, 0}, false, "E13, before the norm"},
		{"E13, norm", e13(), &GAGPOOptions{Norm: Norm{Eps: new(0.0)}}, []float64{4.75 / s, 0, -4.75 / s, 0}, [3]int{1, 0, 0}, false, "squares 2*4.75² over 3"},
		{"E13, eps", e13(), nil, []float64{4.75 / (s + 1e-6), 0, -4.75 / (s + 1e-6), 0}, [3]int{1, 0, 0}, false, "3.9"},
		{"trace", []Trajectory{
			inGroup("g", episode(Terminated, []float64{0, 0, 10}, nil), "a", "b", "c"),
			inGroup("g", episode(Terminated, []float64{0, 0}, nil), "a", "b"),
		}, off(GAGPOOptions{Gamma: new(.5), Lambda: new(.5)}), []float64{.25 * 2.5, 2.5, 0, .25 * -2.5, -2.5}, [3]int{1, 0, 0}, false,
			"G 2.5, 5, 10 and 0, 0, so V 1.25, 2.5, 10; deltas 0, 2.5, 0 and 0, -2.5, trace .25"},
		{"lambda 0", e13(), off(GAGPOOptions{Lambda: new(0.0), Gamma: new(1.0)}), []float64{5, 0, -5, 0}, [3]int{1, 0, 0}, false, "V(s0) 5, V(s1) 10, V(s2) 0"},
		{"truncated", change(func(b []Trajectory) { b[0].Turns[1].End = Truncated; b[0].FinalValue = new(99.0) }), off(GAGPOOptions{}),
			[]float64{4.75, 0, -4.75, 0}, [3]int{1, 0, 0}, false, "3.9: the final state is worth 0"},
		{"final state is a state", change(func(b []Trajectory) { b[1].FinalState = "s1" }), off(GAGPOOptions{}), []float64{4.75, 0, -4.75, 0}, [3]int{1, 0, 0}, false,
			"3.9: V(s_T) = 0, whoever else was there"},
		{"unknown", change(func(b []Trajectory) { b[0].Turns[0].State = "" }), off(GAGPOOptions{}), []float64{0, 0, 0, 0}, [3]int{1, 0, 0}, false,
			"each s0 is alone, and its own return is its value"},
		{"unknown, flat", change(func(b []Trajectory) { b[0].Turns[0].State = "" }), nil, []float64{0, 0, 0, 0}, [3]int{1, 1, 0}, true, "nobody learns"},
		{"unknown twice", change(func(b []Trajectory) { b[0].Turns[0].State, b[1].Turns[0].State = "", "" }), off(GAGPOOptions{}), []float64{0, 0, 0, 0}, [3]int{1, 0, 0},
			false, "two unknown states are two states"},
		{"invalid", change(func(b []Trajectory) { b[1].Turns[1].Invalid = true }), off(GAGPOOptions{InvalidPenalty: new(2.0)}), []float64{9.5 - 3.8, 0, -1.9 - 3.8, 0},
			[3]int{1, 0, 0}, false, "G_B -1.9, -2; V(s0) = (9.5 - 1.9)/2, V(s2) = -2"},
		{"excluded invalid", change(func(b []Trajectory) { b[1].Turns[1].Invalid, b[1].Turns[1].Excluded = true, true }), off(GAGPOOptions{InvalidPenalty: new(2.0)}),
			[]float64{4.75, 0, -4.75, 0}, [3]int{1, 0, 0}, false, "not penalised; its state has no voter, so its own return is its value"},
		{"excluded turn in a known state", []Trajectory{
			inGroup("g", episode(Terminated, []float64{0, 10}, nil), "s0", "s1"),
			inGroup("g", episode(Terminated, []float64{0, 4}, nil), "s2", "s1"),
		}, off(GAGPOOptions{Gamma: new(1.0), Lambda: new(0.0)}), []float64{7 - 10, 10 - 7, 7 - 4, 4 - 7}, [3]int{1, 0, 0}, false, "V(s1) = 7 while both vote"},
		{"excluded turn has no part in the value", func() []Trajectory {
			b := []Trajectory{
				inGroup("g", episode(Terminated, []float64{0, 10}, nil), "s0", "s1"),
				inGroup("g", episode(Terminated, []float64{0, 4}, nil), "s2", "s1"),
			}
			b[0].Turns[1].Excluded = true
			return b
		}(), off(GAGPOOptions{Gamma: new(1.0), Lambda: new(0.0)}), []float64{4 - 10, 0, 0, 0}, [3]int{1, 0, 0}, false, "V(s1) = 4 of the voter, and the other reads it"},
		{"groups apart", append(e13(), inGroup("h", scored("", 6), "s0"), inGroup("h", scored("", 2), "s0")), off(GAGPOOptions{}), []float64{4.75, 0, -4.75, 0, 2, -2},
			[3]int{2, 0, 0}, false, "V(s0) is 4 in h"},
		{"groups apart, centred", append(e13(), inGroup("h", scored("", 6), "s0"), inGroup("h", episode(Terminated, []float64{2, 3}, nil), "s0", "s1")),
			&GAGPOOptions{Gamma: new(0.0), Norm: Norm{Std: StdNone}}, []float64{0, 0, 0, 0, 2, -2, 0}, [3]int{2, 1, 0}, true, "each group has its norm; none of g has a reward to itself"},
		{"one trajectory", e13()[:1], nil, []float64{0, 0}, [3]int{0, 0, 1}, false, "each state is worth what came of it"},
		{"one trajectory, loop", loop, &GAGPOOptions{Gamma: new(0.0), Norm: Norm{Eps: new(0.0)}}, []float64{-root(.5), root(.5)}, [3]int{0, 0, 1}, false,
			"compared with itself, as in GiGPO; V(s) = .5"},
		{"one trajectory, raw", loop, &GAGPOOptions{Gamma: new(0.0), Norm: Norm{Std: StdNone, Singleton: SingletonRaw}}, []float64{-.5, .5}, [3]int{0, 0, 1}, false,
			"two turns are not one"},
		{"error policy, off", loop, off(GAGPOOptions{Gamma: new(0.0), Norm: Norm{Singleton: SingletonError}}), []float64{-.5, .5}, [3]int{0, 0, 1}, false, "nothing is compared"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			c, err := GAGPO(nil, tt.batch, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.Advantage, near); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if got := [3]int{c.Groups, c.ZeroVariance, c.Singletons}; got != tt.stats || c.Flat[0] != tt.flat {
				t.Errorf("%s: groups, zero variance, singletons %v, want %v; flat %v, want %v", tt.reason, got, tt.stats, c.Flat[0], tt.flat)
			}
		})
	}
}

// GAGPO equals its definition with every combination of options; with lambda 1 and no norm the advantage is the return less
// the value of the state.
func TestGAGPOLiteral(t *testing.T) {
	var reused *Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyGroups(t)
		o := &GAGPOOptions{
			Gamma:          new(rapid.SampledFrom([]float64{0, .95, 1}).Draw(t, "gamma")),
			Lambda:         new(rapid.SampledFrom([]float64{0, .5, 1}).Draw(t, "lambda")),
			InvalidPenalty: new(rapid.SampledFrom([]float64{0, .1, 2}).Draw(t, "penalty")),
			Norm:           anyNorm(t),
		}
		c, err := GAGPO(reused, batch, o)
		if err != nil {
			t.Fatal(err)
		}
		reused = c
		value := func(i, k int) float64 {
			if k == len(batch[i].Turns) {
				return 0
			}
			var g []float64
			for _, m := range visits(batch, batch[i].Group, batch[i].Turns[k].State, false) {
				g = append(g, literalReturn(batch[m[0]], m[1], *o.Gamma, *o.InvalidPenalty))
			}
			if len(g) == 0 {
				return literalReturn(batch[i], k, *o.Gamma, *o.InvalidPenalty)
			}
			return mean(g)
		}
		raw := make([]float64, len(c.Advantage))
		for _, i := range voters(batch, nil) {
			for k := range batch[i].Turns {
				if !trainsTurn(batch[i].Turns[k]) {
					continue
				}
				for j := k; j < len(batch[i].Turns); j++ {
					r := literalReturn(Trajectory{Turns: batch[i].Turns[j : j+1]}, 0, 1, *o.InvalidPenalty)
					delta := r + *o.Gamma*value(i, j+1) - value(i, j)
					raw[c.Start[i]+k] += math.Pow(*o.Gamma**o.Lambda, float64(j-k)) * delta
				}
				if g := literalReturn(batch[i], k, *o.Gamma, *o.InvalidPenalty) - value(i, k); *o.Lambda == 1 && math.Abs(g-raw[c.Start[i]+k]) > 1e-12 {
					t.Fatalf("with lambda 1 the advantage is %v, return less value %v", raw[c.Start[i]+k], g)
				}
			}
		}
		want, flat, stats := make([]float64, len(raw)), make([]bool, len(batch)), [3]int{}
		for _, key := range []string{"", "a", "b"} {
			var at []int
			var x []float64
			members := voters(batch, &key)
			for _, i := range members {
				for k, u := range batch[i].Turns {
					if trainsTurn(u) {
						at, x = append(at, c.Start[i]+k), append(x, raw[c.Start[i]+k])
					}
				}
			}
			if len(members) == 0 {
				continue
			}
			a, f := literalNorm(x, x, len(x), o.Norm)
			for n, at := range at {
				want[at] = a[n]
			}
			if m := mean(a); len(x) > 1 && o.Norm.Std != StdOff && math.Abs(m) > 1e-11 {
				t.Fatalf("group %q has mean %v", key, m)
			}
			switch {
			case len(members) == 1:
				stats[2]++
				continue
			case f:
				stats[1]++
			}
			stats[0]++
			for _, i := range members {
				flat[i] = f
			}
		}
		if diff := cmp.Diff(want, c.Advantage, cmpopts.EquateApprox(1e-10, 1e-11)); diff != "" { // deviations down to .01
			t.Fatalf("(-want +got):\n%s", diff)
		}
		checkCounts(t, c, flat, stats)
	})
}

func BenchmarkGAGPO(b *testing.B) {
	benchGroup(b, func(dst *Credit, batch []Trajectory) (*Credit, error) { return GAGPO(dst, batch, nil) })
}

package rl

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestRLOO(t *testing.T) {
	scaled, root := &RLOOOptions{OthersStd: true}, math.Sqrt
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *RLOOOptions
		want   []float64
		stats  [3]int // Groups, ZeroVariance, Singletons
		reason string
	}{
		{"E6", scoredGroup("g", 1, 1, 1, 0, 0, 0, 0, 0), nil, []float64{5.0 / 7, 5.0 / 7, 5.0 / 7, -3.0 / 7, -3.0 / 7, -3.0 / 7, -3.0 / 7, -3.0 / 7},
			[3]int{1, 0, 0}, "E6: .7143 and -.4286"},
		{"E7", scoredGroup("g", 1, 1, 0), nil, []float64{.5, .5, -1}, [3]int{1, 0, 0}, "E7"},
		{"E7, one", scoredGroup("g", 4), nil, []float64{0}, [3]int{0, 0, 1}, "E7"},
		{"two", scoredGroup("g", 4, 1), nil, []float64{3, -3}, [3]int{1, 0, 0}, "the other is the mean"},
		{"two, scaled", scoredGroup("g", 4, 1), scaled, []float64{3, -3}, [3]int{1, 0, 0}, "one other has no deviation"},
		{"case 5", scoredGroup("g", 1), nil, []float64{0}, [3]int{0, 0, 1}, "case 5: one policy on all paths"},
		{"case 5, scaled", scoredGroup("g", 1), scaled, []float64{0}, [3]int{0, 0, 1}, "case 5"},
		{"case 5, raw", scoredGroup("g", 1), &RLOOOptions{Singleton: SingletonRaw}, []float64{1}, [3]int{0, 0, 1}, "case 5"},
		{"case 5, scaled, raw", scoredGroup("g", 1), &RLOOOptions{Singleton: SingletonRaw, OthersStd: true}, []float64{1}, [3]int{0, 0, 1}, "case 5"},
		{"case 7", append(append(scoredGroup("a", 1, 2, 3, 4), scoredGroup("b", 10, 12)...), scoredGroup("c", 5, 6, 7)...), nil,
			[]float64{-2, -2.0 / 3, 2.0 / 3, 2, -2, 2, -1.5, 0, 1.5}, [3]int{3, 0, 0}, "case 7: group means 0"},
		{"case 8", scoredGroup("g", 0, .95, .95, .95, .95, .95, .95, .95), scaled, append([]float64{-.95}, repeat(7, .95/7/(.95*root(6.0/7/6)))...),
			[3]int{1, 0, 0}, "case 8: residue; the others of the rest are 0 and six times .95, mean .95*6/7, squares .95²*6/7 over 6"},
		{"case 8, last", scoredGroup("g", .95, .95, .95, .95, .95, .95, .95, 0), scaled, append(repeat(7, .95/7/(.95*root(6.0/7/6))), -.95),
			[3]int{1, 0, 0}, "case 8 at the end of the group"},
		{"case 8, no floor", scoredGroup("g", 0, .95, .95, .95, .95, .95, .95, .95), &RLOOOptions{OthersStd: true, StdFloor: new(0.0)},
			append([]float64{-.95}, repeat(7, .95/7/(.95*root(6.0/7/6)))...), [3]int{1, 0, 0}, "equal others have deviation 0 exactly"},
		{"case 8, large", scoredGroup("g", 0, 95e6, 95e6, 95e6, 95e6+1e-6), scaled, append([]float64{-95e6}, repeat(4, 95e6/4/(95e6*root(.25)))...), [3]int{1, 0, 0},
			"deviation 5e-7 of the others is above 1e-8, but below 1e-8*95e6; a fourth of 95e6 over its half for the rest"},
		{"others differ", scoredGroup("g", 0, 1, 3), scaled, []float64{-2 / root(2), -.5 / root(4.5), 2.5 / root(.5)}, [3]int{1, 0, 0},
			"others 1, 3 and 0, 3 and 0, 1"},
		{"floor", scoredGroup("g", 0, 1, 3), &RLOOOptions{OthersStd: true, StdFloor: new(.5)}, []float64{-2, -.5 / root(4.5), 2.5 / root(.5)}, [3]int{1, 0, 0},
			"deviation 1.414 of 1, 3 against 1.5, 2.12 of 0, 3 against 1.5, .7071 of 0, 1 against .5; 1.528 of all against 1.5"},
		{"floor, largest of the others", scoredGroup("g", 10, -9, 9, -9, 5), &RLOOOptions{OthersStd: true, StdFloor: new(1.1)}, []float64{11, -12.75, 9.75, -12.75, 4.75},
			[3]int{1, 1, 0}, "deviations root(264/3) = 9.38 against 9.9 for the first, and 8.77, 9.74, 10.69 against 11"},
		{"floor, huge", scoredGroup("g", 1e300, -.9e300, .9e300, -.9e300, .5e300), &RLOOOptions{OthersStd: true, StdFloor: new(1.0)},
			[]float64{1.1 / root(2.64/3), -1.275e300, .975e300, -1.275e300, .475 / root(3.4275/3)}, [3]int{1, 1, 0},
			".938 against .9, .877 and .974 against 1, 1.069 against 1, all e300"},
		{"flat by the floor", scoredGroup("g", 0, 1, 3), &RLOOOptions{StdFloor: new(.51)}, []float64{-2, -.5, 2.5}, [3]int{1, 1, 0},
			"1.528 against 1.53: counted as flat, centred all the same"},
		{"case 9", scoredGroup("g", .1, .1, .1), scaled, []float64{0, 0, 0}, [3]int{1, 1, 0}, "case 9"},
		{"case 20", longShort(1, 2, 6), nil, []float64{1, -1}, [3]int{1, 0, 0}, "case 20: each trajectory once"},
		{"huge", scoredGroup("g", -1e300, 1e300, 1e300), nil, []float64{-2e300, 1e300, 1e300}, [3]int{1, 0, 0}, "sums in range of what squares are not"},
		{"huge, scaled", scoredGroup("g", -1e300, 1e300, 0), scaled, []float64{-1.5 / root(.5), 1.5 / root(.5), 0}, [3]int{1, 0, 0}, "others 1e300 and 0, -1e300 and 0, and both"},
		{"huge one, scaled", scoredGroup("g", 1e200, 3, 5), scaled, []float64{1e200 / root(2), -root(.5), -root(.5)}, [3]int{1, 0, 0},
			"over the deviation root 2 of 3 and 5, which squares beside 1e200 would lose; half of 1e200 over root(.5)*1e200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			c, err := RLOO(nil, tt.batch, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, firstTurns(c), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if got := [3]int{c.Groups, c.ZeroVariance, c.Singletons}; got != tt.stats {
				t.Errorf("%s: groups, zero variance, singletons %v, want %v", tt.reason, got, tt.stats)
			}
		})
	}
}

func repeat(n int, x float64) (out []float64) {
	for range n {
		out = append(out, x)
	}
	return out
}

// literalRLOO leaves one out at a time.
func literalRLOO(batch []Trajectory, penalty float64, scaled bool, floor float64, singleton Singleton) []float64 {
	a := make([]float64, len(batch))
	for _, i := range voters(batch, nil) {
		var others []float64
		for _, j := range voters(batch, &batch[i].Group) {
			if j != i {
				others = append(others, literalScore(batch[j], penalty))
			}
		}
		switch a[i] = literalScore(batch[i], penalty); {
		case len(others) > 0:
			a[i] -= mean(others)
		case singleton == SingletonZero:
			a[i] = 0
		}
		if len(others) > 1 && scaled {
			sq, top := 0.0, 1.0
			for _, v := range others {
				sq += (v - mean(others)) * (v - mean(others))
				top = math.Max(top, math.Abs(v))
			}
			if sigma := math.Sqrt(sq / float64(len(others)-1)); sigma > floor*top {
				a[i] /= sigma
			}
		}
	}
	return spreadTurns(batch, a)
}

// RLOO equals its definition, one left out at a time, and n/(n-1) times the advantage of Dr.GRPO (property 7).
func TestRLOOLiteral(t *testing.T) {
	var reused *Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		if rapid.IntRange(0, 3).Draw(t, "large") == 0 {
			for i := range batch {
				batch[i].Turns[0].Reward += 1e3
			}
		}
		o := &RLOOOptions{
			InvalidPenalty: new(rapid.SampledFrom([]float64{0, .1, 2}).Draw(t, "penalty")),
			OthersStd:      rapid.Bool().Draw(t, "others std"),
			StdFloor:       new(rapid.SampledFrom([]float64{1e-8, .3137}).Draw(t, "floor")), // never a tie
			Singleton:      rapid.SampledFrom([]Singleton{SingletonZero, SingletonRaw}).Draw(t, "singleton"),
		}
		c, err := RLOO(reused, batch, o)
		if err != nil {
			t.Fatal(err)
		}
		reused = c
		want := literalRLOO(batch, *o.InvalidPenalty, o.OthersStd, *o.StdFloor, o.Singleton)
		// 1e3 has 13 digits behind the point, and a deviation may be .05.
		if diff := cmp.Diff(want, c.Advantage, cmpopts.EquateApprox(1e-10, 1e-11)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		_, flat, stats := literalCompare(batch, *o.InvalidPenalty, Norm{Std: StdNone, StdFloor: o.StdFloor}, ScopeGroup, false)
		checkCounts(t, c, flat, stats)
		if o.OthersStd {
			return
		}
		centred, err := GRPO(nil, batch, &GRPOOptions{Norm: Norm{Std: StdNone, Singleton: o.Singleton}, InvalidPenalty: o.InvalidPenalty})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"", "a", "b"} {
			members := voters(batch, &key)
			n := float64(len(members))
			factor, sum := n/(n-1), 0.0
			if n == 1 {
				factor = 1
			}
			for _, i := range members {
				for at := c.Start[i]; at < c.Start[i+1]; at++ {
					if c.Vote[at] {
						if math.Abs(c.Advantage[at]-factor*centred.Advantage[at]) > 1e-12 {
							t.Fatalf("%v of group %q is not %v times %v", c.Advantage[at], key, factor, centred.Advantage[at])
						}
						sum += c.Advantage[at]
						break
					}
				}
			}
			if n > 1 && math.Abs(sum) > 1e-10 {
				t.Fatalf("group %q sums to %v", key, sum)
			}
		}
	})
}

// However large the group and wherever the one that differs, the deviation of the others is that of a second pass.
func TestRLOOOutlier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 40).Draw(t, "n")
		scale := math.Pow(10, float64(rapid.IntRange(-3, 12).Draw(t, "exponent")))
		far := rapid.IntRange(0, n-1).Draw(t, "far")
		var batch []Trajectory
		for i := range n {
			s := anyFloat(1).Draw(t, "score")
			if i == far {
				s = scale
			}
			batch = append(batch, scored("g", s))
		}
		c, err := RLOO(nil, batch, &RLOOOptions{OthersStd: true})
		if err != nil {
			t.Fatal(err)
		}
		want := literalRLOO(batch, .1, true, 1e-8, SingletonZero)
		if diff := cmp.Diff(want[far], c.Advantage[far], cmpopts.EquateApprox(1e-11, 1e-12)); diff != "" {
			t.Fatalf("%v: the one that differs (-want +got):\n%s", scale, diff)
		}
		// Of numbers around scale/n the last digits are rounding.
		if diff := cmp.Diff(want, c.Advantage, cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", scale, diff)
		}
	})
}

func BenchmarkRLOO(b *testing.B) {
	benchGroup(b, func(dst *Credit, batch []Trajectory) (*Credit, error) { return RLOO(dst, batch, nil) })
}

// One group, so that leaving out one at a time would take the square of the time.
func BenchmarkRLOOOthersStd(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var batch []Trajectory
			for i := range n {
				batch = append(batch, scored("g", float64(i%7)))
			}
			c := new(Credit)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := RLOO(c, batch, &RLOOOptions{OthersStd: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

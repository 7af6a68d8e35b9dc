package rl

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// scoredGroup returns a trajectory of one voting turn for each score.
func scoredGroup(key string, scores ...float64) (out []Trajectory) {
	for _, s := range scores {
		out = append(out, scored(key, s))
	}
	return out
}

// inGroup returns t in a group, its turns in the states.
func inGroup(group string, t Trajectory, states ...string) Trajectory {
	t.Group = group
	for k, s := range states {
		t.Turns[k].State = s
	}
	return t
}

// longShort is the example of E10 and case 20: score 10 in 2 turns, score 0 in 8 turns.
func longShort(score float64, short, long int) []Trajectory {
	a, b := make([]float64, short), make([]float64, long)
	a[short-1] = score
	return []Trajectory{inGroup("g", episode(Terminated, a, nil)), inGroup("g", episode(Terminated, b, nil))}
}

// firstTurns returns the advantage of the first turn of each trajectory.
func firstTurns(c *Credit) (out []float64) {
	for i := range len(c.Start) - 1 {
		out = append(out, c.Advantage[c.Start[i]])
	}
	return out
}

func TestGRPOScopeAndWeight(t *testing.T) {
	const r2 = math.Sqrt2 / 2
	root := math.Sqrt
	exact := func(o GRPOOptions) *GRPOOptions { o.Norm.Eps = new(0.0); return &o }
	twoGroups := append(scoredGroup("a", 1, 3), scoredGroup("b", 5, 9)...)
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *GRPOOptions
		want   []float64 // of the first turn of each trajectory
		stats  [3]int    // Groups, ZeroVariance, Singletons
		flat   []bool    // nil means nowhere
		reason string
	}{
		{"group", twoGroups, exact(GRPOOptions{}), []float64{-r2, r2, -r2, r2}, [3]int{2, 0, 0}, nil,
			"deviations root 2 and root 8"},
		{"batch", twoGroups, exact(GRPOOptions{Scope: ScopeBatch}),
			[]float64{-3.5 / root(35.0/3), -1.5 / root(35.0/3), .5 / root(35.0/3), 4.5 / root(35.0/3)}, [3]int{1, 0, 0}, nil,
			"mean 4.5, squares 12.25 + 2.25 + .25 + 20.25 = 35 over 3"},
		{"batch std", twoGroups, exact(GRPOOptions{Scope: ScopeGroupMeanBatchStd}),
			[]float64{-1 / root(35.0/3), 1 / root(35.0/3), -2 / root(35.0/3), 2 / root(35.0/3)}, [3]int{2, 0, 0}, nil,
			"means 2 and 7, the deviation of the batch"},
		{"batch std, population", twoGroups, exact(GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{Std: StdPopulation}}),
			[]float64{-1 / root(35.0/4), 1 / root(35.0/4), -2 / root(35.0/4), 2 / root(35.0/4)}, [3]int{2, 0, 0}, nil, "35 over 4"},
		{"batch std, eps inside", twoGroups, &GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{Std: StdPopulation, EpsPlace: EpsInsideSqrt, Eps: new(.25)}},
			[]float64{-1.0 / 3, 1.0 / 3, -2.0 / 3, 2.0 / 3}, [3]int{2, 0, 0}, nil, "root of 8.75 + .25"},
		{"batch std, none", twoGroups, &GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{Std: StdNone}}, []float64{-1, 1, -2, 2},
			[3]int{2, 0, 0}, nil, "no deviation is left to take from the batch"},
		{"batch std, off", twoGroups, &GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{Std: StdOff}}, []float64{1, 3, 5, 9},
			[3]int{2, 0, 0}, nil, "scores as they are"},
		{"batch, none", twoGroups, &GRPOOptions{Scope: ScopeBatch, Norm: Norm{Std: StdNone}}, []float64{-3.5, -1.5, .5, 4.5},
			[3]int{1, 0, 0}, nil, "mean 4.5"},
		{"case 6, group", append(scoredGroup("a", 1, 3), scored("b", 5)), exact(GRPOOptions{}), []float64{-r2, r2, 0}, [3]int{1, 0, 1},
			nil, "case 6"},
		{"case 6, batch", append(scoredGroup("a", 1, 3), scored("b", 5)), exact(GRPOOptions{Scope: ScopeBatch}), []float64{-1, 0, 1},
			[3]int{1, 0, 0}, nil, "case 6: what comes out where the whole batch is asked for"},
		{"case 6, batch std", append(scoredGroup("a", 1, 3), scored("b", 5)), exact(GRPOOptions{Scope: ScopeGroupMeanBatchStd}),
			[]float64{-.5, .5, 0}, [3]int{1, 0, 1}, nil, "deviation 2 of 1, 3, 5; one voter has none to compare with"},
		{"case 21, group", append(scoredGroup("a", 1, 1), scoredGroup("b", 0, 0)...), nil, []float64{0, 0, 0, 0}, [3]int{2, 2, 0},
			[]bool{true, true, true, true}, "case 21"},
		{"case 21, batch", append(scoredGroup("a", 1, 1), scoredGroup("b", 0, 0)...), &GRPOOptions{Scope: ScopeBatch, Norm: Norm{Std: StdNone}},
			[]float64{.5, .5, -.5, -.5}, [3]int{1, 0, 0}, nil, "case 21: wrong only where groups were meant"},
		{"case 22", append(scoredGroup("a", 1, 1), scoredGroup("b", 0, 2)...), exact(GRPOOptions{Scope: ScopeGroupMeanBatchStd}),
			[]float64{0, 0, -1 / root(2.0/3), 1 / root(2.0/3)}, [3]int{2, 1, 0}, []bool{true, true, false, false},
			"case 22: flat by the group's own deviation, not by that of the batch; squares 0 + 0 + 1 + 1 over 3"},
		{"batch std, residue in a group", append(scoredGroup("a", .3, math.Nextafter(.3, 1)), scoredGroup("b", 0, 2)...), exact(GRPOOptions{Scope: ScopeGroupMeanBatchStd}),
			[]float64{0, 0, -1 / root((2*.35*.35+.65*.65+1.35*1.35)/3), 1 / root((2*.35*.35+.65*.65+1.35*1.35)/3)}, [3]int{2, 1, 0},
			[]bool{true, true, false, false}, "case 8 within a group: residue stays residue over the deviation of .3, .3, 0, 2 from .65"},
		{"batch std, floor", append(scoredGroup("a", 1, 3), scoredGroup("b", 5, 9)...), &GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{StdFloor: new(.39)}},
			[]float64{-1, 1, -2, 2}, [3]int{2, 1, 0}, []bool{false, false, true, true},
			"deviation 3.416 of the batch is below .39*9 = 3.51: centred only; those of the groups are 1.41 above 1.17 and 2.83 below 3.51"},
		{"batch std, above the floor", append(scoredGroup("a", 1, 3), scoredGroup("b", 5, 9)...), exact(GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{StdFloor: new(.37)}}),
			[]float64{-1 / root(35.0/3), 1 / root(35.0/3), -2 / root(35.0/3), 2 / root(35.0/3)}, [3]int{2, 1, 0},
			[]bool{false, false, true, true}, ".37*9 = 3.33 is below 3.416, though above the deviation 2.83 of the second group"},
		{"batch, floor", twoGroups, &GRPOOptions{Scope: ScopeBatch, Norm: Norm{StdFloor: new(.39)}}, []float64{-3.5, -1.5, .5, 4.5},
			[3]int{1, 1, 0}, []bool{true, true, true, true}, "3.416 is below 3.51"},
		{"batch std, all equal", append(scoredGroup("a", .1, .1, .1), scoredGroup("b", .1, .1)...), &GRPOOptions{Scope: ScopeGroupMeanBatchStd},
			[]float64{0, 0, 0, 0, 0}, [3]int{2, 2, 0}, []bool{true, true, true, true, true}, "case 9"},
		{"batch, all equal", append(scoredGroup("a", .1, .1, .1), scored("b", .1)), &GRPOOptions{Scope: ScopeBatch}, []float64{0, 0, 0, 0},
			[3]int{1, 1, 0}, []bool{true, true, true, true}, "case 9"},
		{"one, batch", scoredGroup("a", 4), &GRPOOptions{Scope: ScopeBatch}, []float64{0}, [3]int{0, 0, 1}, nil, "case 13"},
		{"one, batch, raw", scoredGroup("a", 4), &GRPOOptions{Scope: ScopeBatch, Norm: Norm{Singleton: SingletonRaw}}, []float64{4}, [3]int{0, 0, 1}, nil,
			"property 7"},
		{"one, batch std, raw", append(scoredGroup("a", 4), scoredGroup("b", 0, 2)...), exact(GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{Singleton: SingletonRaw}}),
			[]float64{4, -.5, .5}, [3]int{1, 0, 1}, nil, "property 7: 4 itself; it counts in the deviation 2 of 4, 0, 2"},
		{"two, batch", append(scoredGroup("a", 4), scored("b", 6)), exact(GRPOOptions{Scope: ScopeBatch, Norm: Norm{Singleton: SingletonError}}),
			[]float64{-r2, r2}, [3]int{1, 0, 0}, nil, "groups of one do not matter where the batch is one group"},
		{"E10, per trajectory", longShort(10, 2, 8), &GRPOOptions{Norm: Norm{Std: StdNone}}, []float64{5, -5}, [3]int{1, 0, 0}, nil, "E10"},
		{"E10, per turn", longShort(10, 2, 8), &GRPOOptions{PerTurn: true, Norm: Norm{Std: StdNone}}, []float64{8, -2}, [3]int{1, 0, 0}, nil,
			"E10: mean 2"},
		{"E10, per turn, std", longShort(10, 2, 8), exact(GRPOOptions{PerTurn: true}), []float64{8 / root(160.0/9), -2 / root(160.0/9)}, [3]int{1, 0, 0}, nil,
			"E10: 1.897366 and -.474342; squares 2*64 + 8*4 = 160 over 9"},
		{"case 20", longShort(1, 2, 6), &GRPOOptions{Norm: Norm{Std: StdNone}}, []float64{.5, -.5}, [3]int{1, 0, 0}, nil, "case 20"},
		{"case 20, per turn", longShort(1, 2, 6), &GRPOOptions{PerTurn: true, Norm: Norm{Std: StdNone}}, []float64{.75, -.25}, [3]int{1, 0, 0}, nil,
			"case 20: what comes out where it is asked for"},
		{"per turn, batch", longShort(10, 2, 8), &GRPOOptions{PerTurn: true, Scope: ScopeBatch, Norm: Norm{Std: StdNone}}, []float64{8, -2}, [3]int{1, 0, 0}, nil,
			"one group: the same as E10"},
		{"per turn, batch std", longShort(10, 2, 8), exact(GRPOOptions{PerTurn: true, Scope: ScopeGroupMeanBatchStd}), []float64{8 / root(160.0/9), -2 / root(160.0/9)}, [3]int{1, 0, 0}, nil,
			"one group: the same as E10"},
		{"per turn, one voter", longShort(10, 3, 1)[:1], &GRPOOptions{PerTurn: true, Norm: Norm{Singleton: SingletonRaw}}, []float64{10}, [3]int{0, 0, 1}, nil,
			"three rows, but one voter: property 7"},
		{"empty, batch", nil, &GRPOOptions{Scope: ScopeBatch, PerTurn: true}, nil, [3]int{}, nil, "nothing to do"},
		{"empty, batch std", nil, &GRPOOptions{Scope: ScopeGroupMeanBatchStd, PerTurn: true}, nil, [3]int{}, nil, "nothing to do"},
		{"nobody votes", []Trajectory{{Excluded: "x", Turns: []Turn{{}}}}, &GRPOOptions{Scope: ScopeGroupMeanBatchStd}, []float64{0}, [3]int{}, nil,
			"no deviation of nothing"},
		{"huge", append(scoredGroup("a", -1e300, 1e300), scoredGroup("b", 3, 5)...), exact(GRPOOptions{Scope: ScopeGroupMeanBatchStd}),
			[]float64{-root(1.5), root(1.5), -root(1.5) * 1e-300, root(1.5) * 1e-300}, [3]int{2, 0, 0}, nil,
			"squares overflow; deviation 1e300*root(2/3), and the small group keeps its digits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			before := copyBatch(tt.batch)
			c := mustGRPO(t, tt.batch, tt.o)
			if diff := cmp.Diff(tt.want, firstTurns(c), near); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if got := [3]int{c.Groups, c.ZeroVariance, c.Singletons}; got != tt.stats {
				t.Errorf("%s: groups, zero variance, singletons %v, want %v", tt.reason, got, tt.stats)
			}
			flat := tt.flat
			if flat == nil {
				flat = make([]bool, len(tt.batch))
			}
			if diff := cmp.Diff(flat, c.Flat); diff != "" {
				t.Errorf("%s: flat (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(before, tt.batch); diff != "" {
				t.Errorf("the batch changed (-want +got):\n%s", diff)
			}
		})
	}
}

// anyGroups draws a batch as anyBatch does, in few states, some of them unknown.
func anyGroups(t *rapid.T) []Trajectory {
	batch := anyBatch(t)
	state := rapid.SampledFrom([]string{"", "p", "q", "r"})
	for i := range batch {
		for k := range batch[i].Turns {
			batch[i].Turns[k].State = state.Draw(t, "state")
		}
		batch[i].FinalState = state.Draw(t, "final state")
	}
	return batch
}

// anyNorm draws a norm without defaults.
func anyNorm(t *rapid.T) Norm {
	return Norm{
		Std:       rapid.SampledFrom([]Std{StdSample, StdPopulation, StdNone, StdOff}).Draw(t, "std"),
		Eps:       new(rapid.SampledFrom([]float64{0, 1e-6, .5}).Draw(t, "eps")),
		EpsPlace:  rapid.SampledFrom([]EpsPlace{EpsAdded, EpsInsideSqrt}).Draw(t, "place"),
		StdFloor:  new(rapid.SampledFrom([]float64{1e-8, .3137}).Draw(t, "floor")), // never a tie
		Singleton: rapid.SampledFrom([]Singleton{SingletonZero, SingletonRaw}).Draw(t, "singleton"),
	}
}

// literalNorm is Norm of section 2, number by number, with the deviation of another list than the one that is centred. One
// voter, however many rows it has, follows the singleton policy.
func literalNorm(x, deviationOf []float64, voters int, o Norm) (out []float64, flat bool) {
	out = slices.Clone(x)
	if o.Std == StdOff {
		return out, false
	}
	if voters < 2 {
		if o.Singleton != SingletonRaw {
			clear(out)
		}
		return out, true
	}
	deviation := func(x []float64) (sigma float64, flat bool) {
		m, sq, top := mean(x), 0.0, 1.0
		for _, v := range x {
			sq += (v - m) * (v - m)
			top = math.Max(top, math.Abs(v))
		}
		n := float64(len(x))
		if o.Std != StdPopulation {
			n--
		}
		sigma = math.Sqrt(sq / n)
		return sigma, sigma <= *o.StdFloor*top
	}
	sigma, small := deviation(deviationOf)
	_, flat = deviation(x)
	m := mean(x)
	for i := range x {
		switch out[i] = x[i] - m; {
		case o.Std == StdNone || small:
		case o.EpsPlace == EpsInsideSqrt:
			out[i] /= math.Sqrt(sigma*sigma + *o.Eps)
		default:
			out[i] /= sigma + *o.Eps
		}
	}
	return out, flat
}

// voters returns the trajectories of a group that vote; all groups are one where key is nil.
func voters(batch []Trajectory, key *string) (members []int) {
	for i, b := range batch {
		if (key == nil || b.Group == *key) && b.Excluded == "" && slices.ContainsFunc(b.Turns, trainsTurn) {
			members = append(members, i)
		}
	}
	return members
}

func literalScore(b Trajectory, penalty float64) float64 {
	z := b.Score()
	for _, u := range b.Turns {
		if u.Invalid && !u.Excluded {
			z -= penalty
		}
	}
	return z
}

// literalCompare returns what a trajectory gets from comparing scores, whether it is flat, and the three counts.
func literalCompare(batch []Trajectory, penalty float64, o Norm, scope Scope, perTurn bool) (advantage []float64, flat []bool, stats [3]int) {
	advantage, flat = make([]float64, len(batch)), make([]bool, len(batch))
	rowsOf := func(members []int) (rows []float64, first []int) {
		for _, i := range members {
			first = append(first, len(rows))
			for _, u := range batch[i].Turns {
				if trainsTurn(u) {
					rows = append(rows, literalScore(batch[i], penalty))
					if !perTurn {
						break
					}
				}
			}
		}
		return rows, first
	}
	keys := []*string{new(""), new("a"), new("b")}
	if scope == ScopeBatch {
		keys = []*string{nil}
	}
	all, _ := rowsOf(voters(batch, nil))
	for _, key := range keys {
		members := voters(batch, key)
		rows, first := rowsOf(members)
		if len(members) == 0 {
			continue
		}
		deviationOf := rows
		if scope == ScopeGroupMeanBatchStd {
			deviationOf = all
		}
		a, f := literalNorm(rows, deviationOf, len(members), o)
		for n, i := range members {
			advantage[i], flat[i] = a[first[n]], f && len(members) > 1
		}
		switch {
		case len(members) == 1:
			stats[2]++
		case f:
			stats[1]++
			fallthrough
		default:
			stats[0]++
		}
	}
	return advantage, flat, stats
}

// spreadTurns gives each voting turn the number of its trajectory.
func spreadTurns(batch []Trajectory, x []float64) []float64 {
	out := []float64{}
	for i, b := range batch {
		for _, u := range b.Turns {
			if b.Excluded == "" && trainsTurn(u) {
				out = append(out, x[i])
			} else {
				out = append(out, 0)
			}
		}
	}
	return out
}

// checkCounts compares what c says about groups.
func checkCounts(t *rapid.T, c *Credit, flat []bool, stats [3]int) {
	if diff := cmp.Diff(flat, c.Flat); diff != "" {
		t.Fatalf("flat (-want +got):\n%s", diff)
	}
	if got := [3]int{c.Groups, c.ZeroVariance, c.Singletons}; got != stats {
		t.Fatalf("groups, zero variance, singletons are %v, want %v", got, stats)
	}
}

// GRPO equals its definition with every combination of options.
func TestGRPOLiteral(t *testing.T) {
	var reused *Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		o := &GRPOOptions{
			Norm:           anyNorm(t),
			Scope:          rapid.SampledFrom([]Scope{ScopeGroup, ScopeBatch, ScopeGroupMeanBatchStd}).Draw(t, "scope"),
			PerTurn:        rapid.Bool().Draw(t, "per turn"),
			InvalidPenalty: new(rapid.SampledFrom([]float64{0, .1, 2}).Draw(t, "penalty")),
		}
		c, err := GRPO(reused, batch, o)
		if err != nil {
			t.Fatal(err)
		}
		reused = c
		a, flat, stats := literalCompare(batch, *o.InvalidPenalty, o.Norm, o.Scope, o.PerTurn)
		if diff := cmp.Diff(spreadTurns(batch, a), c.Advantage, cmpopts.EquateApprox(1e-11, 1e-12)); diff != "" { // 1/deviation of 1e-2
			t.Fatalf("(-want +got):\n%s", diff)
		}
		checkCounts(t, c, flat, stats)
	})
}

// Where the batch is one group the three scopes are the same, and where all trajectories have as many turns, so are the two
// ways to count them, but for the sample deviation.
func TestGRPOScopesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.IntRange(1, 3).Draw(t, "turns")
		var batch []Trajectory
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			batch = append(batch, episode(Terminated, rapid.SliceOfN(anyFloat(3), turns, turns).Draw(t, "reward"), nil))
		}
		o := GRPOOptions{Norm: anyNorm(t)}
		switch o.Norm.Std {
		case StdSample:
			o.Norm.Std = StdPopulation
		case StdNone:
			o.Norm.StdFloor = nil // which is held against the sample deviation
		}
		want, err := GRPO(nil, batch, &o)
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range []Scope{ScopeGroup, ScopeBatch, ScopeGroupMeanBatchStd} {
			for _, perTurn := range []bool{false, true} {
				o.Scope, o.PerTurn = scope, perTurn
				got, err := GRPO(nil, batch, &o)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, near, cmpopts.IgnoreUnexported(Credit{})); diff != "" {
					t.Fatalf("scope %d, per turn %v (-want +got):\n%s", scope, perTurn, diff)
				}
			}
		}
	})
}

// A groupEstimator is an estimator of this file's neighbours with options, for the laws that all of them keep.
type groupEstimator struct {
	name     string
	estimate Estimator
	separate bool // groups do not influence each other
	scores   bool // it compares scores, one number for all turns of a trajectory
	linear   bool // advantages are in units of reward
}

// groupEstimators returns each estimator with several options; singleton is their policy for a group of one.
func groupEstimators(singleton Singleton, exclude bool) (out []groupEstimator) {
	n := func(std Std) Norm { return Norm{Std: std, Singleton: singleton} }
	for _, std := range []Std{StdSample, StdPopulation, StdNone} {
		for scope := range Scope(3) {
			for _, perTurn := range []bool{false, true} {
				o := &GRPOOptions{Norm: n(std), Scope: scope, PerTurn: perTurn, ExcludeNonFinite: exclude}
				out = append(out, groupEstimator{fmt.Sprintf("GRPO std %d scope %d per turn %v", std, scope, perTurn),
					func(dst *Credit, b []Trajectory) (*Credit, error) { return GRPO(dst, b, o) }, scope == ScopeGroup, true, std == StdNone})
			}
		}
		for _, alternative := range []bool{false, true} {
			o := &GiGPOOptions{Norm: n(std), PerTurn: alternative, FirstVisit: alternative, ExcludeNonFinite: exclude}
			out = append(out, groupEstimator{fmt.Sprintf("GiGPO std %d alternative %v", std, alternative),
				func(dst *Credit, b []Trajectory) (*Credit, error) { return GiGPO(dst, b, o) }, true, false, std == StdNone})
		}
		o := &GAGPOOptions{Norm: n(std), ExcludeNonFinite: exclude}
		out = append(out, groupEstimator{fmt.Sprintf("GAGPO std %d", std),
			func(dst *Credit, b []Trajectory) (*Credit, error) { return GAGPO(dst, b, o) }, true, false, std == StdNone})
	}
	for _, scaled := range []bool{false, true} {
		o := &RLOOOptions{OthersStd: scaled, Singleton: singleton, ExcludeNonFinite: exclude}
		out = append(out, groupEstimator{fmt.Sprintf("RLOO scaled %v", scaled),
			func(dst *Credit, b []Trajectory) (*Credit, error) { return RLOO(dst, b, o) }, true, true, !scaled})
	}
	return out
}

// sameCredit ignores the memory that is reused.
var sameCredit = cmpopts.IgnoreUnexported(Credit{})

// What every estimator here keeps: the batch is not changed; reused memory changes nothing; turns without a vote get 0;
// non-voters, masked tokens and further tokens have no effect (properties 2, 8, 11); permuting trajectories permutes the
// result (3); renaming groups and states changes nothing; other groups have no effect where groups are apart (3).
func TestGroupLaws(t *testing.T) {
	estimators := groupEstimators(SingletonZero, false)
	reused := make([]*Credit, len(estimators))
	rapid.Check(t, func(t *rapid.T) {
		batch := anyGroups(t)
		before := copyBatch(batch)

		loud := copyBatch(batch) // non-voters shout, and there are more tokens
		for i := range loud {
			silent := !slices.Contains(voters(batch, nil), i)
			for k := range loud[i].Turns {
				u := &loud[i].Turns[k]
				if silent {
					u.Reward, u.Invalid = 1e6, !u.Invalid
				}
				u.Tokens = slices.Insert(u.Tokens, 0, Token{ID: -1, LogProb: math.NaN(), Value: math.Inf(1)})
				if u.Tokens[1].Trainable {
					u.Tokens = append(u.Tokens, u.Tokens[1])
				}
			}
		}
		renamed := copyBatch(batch)
		for i := range renamed {
			renamed[i].Group = "x" + renamed[i].Group
			for k := range renamed[i].Turns {
				if s := &renamed[i].Turns[k].State; *s != "" {
					*s = strings.Repeat(*s, 3)
				}
			}
		}
		order := rapid.Permutation(indices(len(batch))).Draw(t, "order")
		shuffled := make([]Trajectory, len(batch))
		for to, from := range order {
			shuffled[to] = batch[from]
		}
		var alone []Trajectory
		for _, b := range batch {
			if b.Group == "a" {
				alone = append(alone, b)
			}
		}
		for n, e := range estimators {
			want, err := e.estimate(nil, batch)
			if err != nil {
				t.Fatal(e.name, err)
			}
			get := func(b []Trajectory) *Credit {
				c, err := e.estimate(reused[n], b)
				if err != nil {
					t.Fatal(e.name, err)
				}
				reused[n] = c
				return c
			}
			if diff := cmp.Diff(want, get(batch), sameCredit); diff != "" {
				t.Fatalf("%s: in reused memory (-new +reused):\n%s", e.name, diff)
			}
			for at, v := range want.Vote {
				if !v && want.Advantage[at] != 0 || !finite(want.Advantage[at]) {
					t.Fatalf("%s: vote %v, advantage %v", e.name, v, want.Advantage[at])
				}
			}
			if diff := cmp.Diff(want, get(loud), sameCredit); diff != "" {
				t.Fatalf("%s: non-voters or tokens matter (-want +got):\n%s", e.name, diff)
			}
			if diff := cmp.Diff(want, get(renamed), sameCredit); diff != "" {
				t.Fatalf("%s: names matter (-want +got):\n%s", e.name, diff)
			}
			got := get(shuffled)
			for to, from := range order {
				a, b := want.Advantage[want.Start[from]:want.Start[from+1]], got.Advantage[got.Start[to]:got.Start[to+1]]
				if diff := cmp.Diff(a, b, near); diff != "" || want.Flat[from] != got.Flat[to] {
					t.Fatalf("%s: order matters to trajectory %d, flat %v and %v (-want +got):\n%s", e.name, from, want.Flat[from], got.Flat[to], diff)
				}
			}
			if !e.separate {
				continue
			}
			got = get(alone)
			next := 0
			for i, b := range batch {
				if b.Group == "a" {
					a, b := want.Advantage[want.Start[i]:want.Start[i+1]], got.Advantage[got.Start[next]:got.Start[next+1]]
					if diff := cmp.Diff(a, b); diff != "" {
						t.Fatalf("%s: other groups matter (-with +without):\n%s", e.name, diff)
					}
					next++
				}
			}
		}
		if diff := cmp.Diff(before, batch); diff != "" {
			t.Fatalf("the batch changed (-want +got):\n%s", diff)
		}
	})
}

// Scores of one turn each: adding a constant changes nothing, and scaling scales what is not divided by a deviation
// (property 5). Advantages of a group sum to 0 unless each has a deviation of its own, and they are 0 if scores are equal
// (properties 6, 9).
func TestGroupShiftScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(anyFloat(4), 2, 8).Draw(t, "scores")
		shift, k := rapid.Float64Range(-1e3, 1e3).Draw(t, "shift"), rapid.Float64Range(.5, 100).Draw(t, "k")
		for _, e := range groupEstimators(SingletonZero, false) {
			get := func(f func(float64) float64) []float64 {
				var batch []Trajectory
				for _, s := range scores {
					batch = append(batch, inGroup("g", scored("", f(s)), "s"))
				}
				c, err := e.estimate(nil, batch)
				if err != nil {
					t.Fatal(e.name, err)
				}
				return c.Advantage
			}
			base := get(func(s float64) float64 { return s })
			if diff := cmp.Diff(base, get(func(s float64) float64 { return s + shift }), cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
				t.Fatalf("%s: shift (-want +got):\n%s", e.name, diff)
			}
			if m := mean(base); math.Abs(m) > 1e-12 && e.name != "RLOO scaled true" {
				t.Fatalf("%s: mean %v of %v", e.name, m, base)
			}
			if slices.Max(scores) == slices.Min(scores) && slices.ContainsFunc(base, func(v float64) bool { return v != 0 }) {
				t.Fatalf("%s: equal scores give %v", e.name, base)
			}
			scaled := get(func(s float64) float64 { return s * k })
			if e.linear {
				for i := range base {
					base[i] *= k
				}
			} else if e.name == "RLOO scaled true" {
				continue // one whose others are equal scales, the rest do not
			}
			if diff := cmp.Diff(base, scaled, cmpopts.EquateApprox(2e-5, 1e-9)); diff != "" { // eps over the smallest deviation, .16
				t.Fatalf("%s: scale (-want +got):\n%s", e.name, diff)
			}
		}
	})
}

// A group of one voter follows the declared policy in every estimator (property 7), with one turn or more; case 13.
func TestGroupOfOne(t *testing.T) {
	one := inGroup("g", scored("", .7), "s")
	two := inGroup("g", episode(Terminated, []float64{.5, .2}, nil), "s", "t")
	pair := []Trajectory{scored("pair", 1), scored("pair", 1)} // others do not matter
	for _, batch := range [][]Trajectory{{one}, {two}, append([]Trajectory{two}, pair...)} {
		for singleton := range Singleton(3) {
			for _, e := range groupEstimators(singleton, false) {
				if strings.Contains(e.name, "scope 1") && len(batch) > 1 {
					continue // the batch is one group then
				}
				c, err := e.estimate(nil, batch)
				if singleton == SingletonError {
					var fault *FieldError
					if !errors.As(err, &fault) || c != nil || !strings.Contains(err.Error(), "one voter") {
						t.Errorf("%s: credit %v, error %v, want one about one voter", e.name, c, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(e.name, err)
				}
				want := make([]float64, len(batch[0].Turns))
				if singleton == SingletonRaw {
					switch {
					case e.scores:
						for k := range want {
							want[k] = .7
						}
					case strings.HasPrefix(e.name, "GiGPO"): // the score and the step return, each alone
						for k, g := range batch[0].MonteCarlo(nil, .95, 0) {
							want[k] = .7 + g
						}
					}
				}
				if diff := cmp.Diff(want, c.Advantage[:len(want)], near); diff != "" || c.Singletons != 1 || c.Flat[0] {
					t.Errorf("%s: singletons %d, flat %v (-want +got):\n%s", e.name, c.Singletons, c.Flat, diff)
				}
			}
		}
	}
}

// Non-voters, numbers that are not finite and equal numbers in every estimator.
func TestGroupCases(t *testing.T) {
	nan := math.NaN()
	bare := scored("g", 100)
	bare.Turns[0].Tokens = []Token{{}, {}}
	longer := scored("g", 1)
	longer.Turns[0].Tokens = []Token{{Trainable: true}, {Trainable: true}}
	lastInf := inGroup("g", episode(Terminated, []float64{0, math.Inf(-1)}, nil), "s", "t")
	tests := []struct {
		name   string
		batch  []Trajectory
		want   []float64
		vote   []string
		reason string
	}{
		{"case 9", scoredGroup("g", .1, .1, .1), []float64{0, 0, 0}, []string{"", "", ""}, "equal scores give exact zeros"},
		{"case 10", scoredGroup("g", 1, nan, nan, nan), []float64{0, 0, 0, 0}, []string{"", "non-finite", "non-finite", "non-finite"}, "case 10"},
		{"case 10, Inf", scoredGroup("g", 1, math.Inf(1)), []float64{0, 0}, []string{"", "non-finite"}, "as case 10"},
		{"case 10, last turn", []Trajectory{lastInf, scored("g", 1)}, []float64{0, 0, 0}, []string{"non-finite", ""}, "all turns lose their vote"},
		{"case 11", []Trajectory{bare, longer}, []float64{0, 0}, []string{"no trainable token", ""}, "case 11"},
		{"excluded", []Trajectory{{Excluded: "crashed", Turns: []Turn{{Reward: nan}}}, longer}, []float64{0, 0}, []string{"crashed", ""}, "never read"},
		{"empty", nil, []float64{}, []string{}, "nothing to do"},
	}
	for _, tt := range tests {
		for _, e := range groupEstimators(SingletonZero, true) {
			for i := range tt.batch {
				for k := range tt.batch[i].Turns {
					tt.batch[i].Turns[k].State = "s" // all turns compared
				}
			}
			c, err := e.estimate(nil, tt.batch)
			if err != nil || tt.reason == "" {
				t.Fatalf("%s, %s (%s): %v", tt.name, e.name, tt.reason, err)
			}
			if diff := cmp.Diff(tt.want, c.Advantage); diff != "" {
				t.Errorf("%s, %s: %s (-want +got):\n%s", tt.name, e.name, tt.reason, diff)
			}
			if diff := cmp.Diff(tt.vote, c.NoVote); diff != "" {
				t.Errorf("%s, %s: %s: votes (-want +got):\n%s", tt.name, e.name, tt.reason, diff)
			}
		}
	}
}

func TestGroupErrors(t *testing.T) {
	huge := []Trajectory{inGroup("g", scored("", -1.7e308), "s"), inGroup("g", scored("", -1.7e308), "s"), inGroup("g", scored("", 1.7e308), "s")}
	second := scored("g", 0)
	second.Turns[0].Reward = math.NaN()
	empty := Trajectory{Group: "g"}
	// Finite in the order of the score, too large backwards.
	back := inGroup("g", episode(Terminated, []float64{-1.7e308, 1.7e308, 1.7e308}, nil), "s", "s", "s")
	type row struct {
		name   string
		err    error
		is     error
		text   string
		reason string
	}
	var tests []row
	for _, e := range groupEstimators(SingletonZero, false) {
		for _, c := range []struct {
			name  string
			batch []Trajectory
			is    error
			text  string
		}{
			{"NaN", []Trajectory{scored("g", 1), second}, ErrNonFinite, "trajectory 1, turn 0: Reward is NaN"},
			{"Inf", scoredGroup("g", 1, math.Inf(-1)), ErrNonFinite, "trajectory 1, turn 0: Reward is -Inf"},
			{"sum", []Trajectory{scored("g", 1), episode(Terminated, []float64{1.7e308, 1.7e308}, nil)}, ErrNonFinite, "trajectory 1"},
			{"open", []Trajectory{scored("g", 1), episode(Continue, []float64{1}, nil)}, ErrOpenTrajectory, "trajectory 1, turn 0: End"},
			{"no turns", []Trajectory{scored("g", 1), empty}, nil, "trajectory 1: Turns is empty"},
		} {
			if c.name == "sum" && strings.HasPrefix(e.name, "GAGPO") {
				continue // .95 of one and all of the other do overflow, but see below
			}
			_, err := e.estimate(nil, c.batch)
			tests = append(tests, row{c.name + ", " + e.name, err, c.is, c.text, "2"})
		}
	}
	grpo := func(b []Trajectory, o *GRPOOptions) error { _, err := GRPO(nil, b, o); return err }
	rloo := func(b []Trajectory, o *RLOOOptions) error { _, err := RLOO(nil, b, o); return err }
	gigpo := func(b []Trajectory, o *GiGPOOptions) error { _, err := GiGPO(nil, b, o); return err }
	gagpo := func(b []Trajectory, o *GAGPOOptions) error { _, err := GAGPO(nil, b, o); return err }
	tests = append(tests, []row{
		{"scope", grpo(nil, &GRPOOptions{Scope: 3}), nil, "GRPOOptions.Scope is 3", "three values"},
		{"batch of one", grpo(scoredGroup("g", 1), &GRPOOptions{Scope: ScopeBatch, Norm: Norm{Singleton: SingletonError}}), nil,
			"rl: the batch is one voter, want two or more", "property 7"},
		{"group of one", grpo(append(scoredGroup("a", 1, 2), scored("b", 2)), &GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{Singleton: SingletonError}}), nil,
			`trajectory 2: Group is "b" with one voter`, "property 7"},
		{"centred, batch", grpo(huge, &GRPOOptions{Scope: ScopeBatch, Norm: Norm{Std: StdNone}}), ErrNonFinite, "trajectory 2: the centred score is +Inf", "a mean of -.57e308"},
		{"centred, batch std", grpo(huge, &GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{Std: StdNone}}), ErrNonFinite, "trajectory 2: the centred score", "as above"},
		{"centred, floor", grpo(huge, &GRPOOptions{Scope: ScopeGroupMeanBatchStd, Norm: Norm{StdFloor: new(9.0)}}), ErrNonFinite, "trajectory 2: the centred score", "as above"},
		{"penalty", rloo(nil, &RLOOOptions{InvalidPenalty: new(-1.0)}), nil, "RLOOOptions.InvalidPenalty is -1", "4"},
		{"floor", rloo(nil, &RLOOOptions{StdFloor: new(math.NaN())}), nil, "RLOOOptions.StdFloor is NaN", "4"},
		{"singleton", rloo(nil, &RLOOOptions{Singleton: 3}), nil, "RLOOOptions.Singleton is 3", "three values"},
		{"group of one", rloo(append(scoredGroup("a", 1, 2), scored("b", 2)), &RLOOOptions{Singleton: SingletonError}), nil, `trajectory 2: Group is "b" with one voter`, "property 7"},
		{"centred", rloo(huge, nil), ErrNonFinite, "trajectory 2: the centred score is +Inf", "2*1.7e308"},
		{"scaled", rloo(append(scoredGroup("g", 0, 1e-3), scored("g", 1.7e308)), &RLOOOptions{OthersStd: true}), ErrNonFinite, "trajectory 2: the centred score is +Inf", "1.7e308 over 7e-4"},
		{"gamma", gigpo(nil, &GiGPOOptions{Gamma: new(1.1)}), nil, "GiGPOOptions.Gamma is 1.1", "4"},
		{"gamma NaN", gigpo(nil, &GiGPOOptions{Gamma: new(math.NaN())}), nil, "GiGPOOptions.Gamma is NaN", "4"},
		{"weight", gigpo(nil, &GiGPOOptions{StepWeight: new(-.1)}), nil, "GiGPOOptions.StepWeight is -0.1", "4"},
		{"weight Inf", gigpo(nil, &GiGPOOptions{StepWeight: new(math.Inf(1))}), nil, "GiGPOOptions.StepWeight is +Inf", "4"},
		{"penalty", gigpo(nil, &GiGPOOptions{InvalidPenalty: new(-1.0)}), nil, "GiGPOOptions.InvalidPenalty is -1", "4"},
		{"norm", gigpo(nil, &GiGPOOptions{Norm: Norm{Std: 9}}), nil, "GiGPOOptions.Norm.Std is 9", "4"},
		{"group of one", gigpo(append(scoredGroup("a", 1, 2), scored("b", 2)), &GiGPOOptions{Norm: Norm{Singleton: SingletonError}}), nil, `trajectory 2: Group is "b" with one voter`, "property 7"},
		{"return", gigpo([]Trajectory{scored("g", 0), back}, &GiGPOOptions{Gamma: new(1.0)}), ErrNonFinite, "trajectory 1, turn 1: the step return is +Inf", "3.4e308"},
		{"centred score", gigpo(huge, &GiGPOOptions{Norm: Norm{Std: StdNone}}), ErrNonFinite, "trajectory 2: the centred score", "as in GRPO"},
		{"centred return", gigpo([]Trajectory{inGroup("a", scored("", 1), "t"), inGroup("g", episode(Terminated, []float64{-1.2e308, 1.7e308}, nil), "s", "s")},
			&GiGPOOptions{Gamma: new(0.0), Norm: Norm{Std: StdNone}}), nil, "", "-1.2e308 and 1.7e308 around .25e308 are in range"},
		{"centred return", gigpo([]Trajectory{inGroup("a", scored("", 1), "t"), inGroup("g", episode(Terminated, []float64{-1.7e308, 0, 1.7e308, -1.7e308}, nil), "s", "t", "s", "s")},
			&GiGPOOptions{Gamma: new(0.0), Norm: Norm{Std: StdNone}}), ErrNonFinite, "trajectory 1, turn 2: the centred step return is +Inf", "a mean of -.57e308"},
		{"centred return, first turn", gigpo([]Trajectory{inGroup("a", scored("", 1), "t"), inGroup("g", episode(Terminated, []float64{1.7e308, 0, -1.7e308, -1.7e308}, nil), "s", "t", "s", "s")},
			&GiGPOOptions{Gamma: new(0.0), Norm: Norm{Std: StdNone}}), ErrNonFinite, "trajectory 1, turn 0: the centred step return is +Inf", "as above"},
		{"advantage", gigpo([]Trajectory{inGroup("g", scored("", -1e308), "s"), inGroup("g", scored("", 1e308), "s")}, &GiGPOOptions{Norm: Norm{Std: StdNone}}), ErrNonFinite,
			"trajectory 0, turn 0: the advantage is -Inf", "-1e308 twice"},
		{"gamma", gagpo(nil, &GAGPOOptions{Gamma: new(-.1)}), nil, "GAGPOOptions.Gamma is -0.1", "4"},
		{"lambda", gagpo(nil, &GAGPOOptions{Lambda: new(2.0)}), nil, "GAGPOOptions.Lambda is 2", "4"},
		{"penalty", gagpo(nil, &GAGPOOptions{InvalidPenalty: new(math.Inf(1))}), nil, "GAGPOOptions.InvalidPenalty is +Inf", "4"},
		{"norm", gagpo(nil, &GAGPOOptions{Norm: Norm{Eps: new(-1.0)}}), nil, "GAGPOOptions.Norm.Eps is -1", "4"},
		{"group of one", gagpo(append(scoredGroup("a", 1, 2), scored("b", 2)), &GAGPOOptions{Norm: Norm{Singleton: SingletonError}}), nil, `trajectory 2: Group is "b" with one voter`, "property 7"},
		{"return", gagpo([]Trajectory{scored("g", 0), back}, &GAGPOOptions{Gamma: new(1.0)}), ErrNonFinite, "trajectory 1, turn 1: the step return is +Inf", "3.4e308"},
		{"value", gagpo([]Trajectory{scored("g", 0), inGroup("g", scored("", -1.7e308), "s"), inGroup("g", scored("", 1.7e308), "s")}, nil), ErrNonFinite,
			"trajectory 1, turn 0: the advantage is", "the distance of the two overflows"},
		{"value of a loop", gagpo([]Trajectory{scored("g", 0), inGroup("g", episode(Terminated, []float64{1.2e308, 1, -1.2e308}, nil), "s", "t", "s")},
			&GAGPOOptions{Gamma: new(0.0)}), ErrNonFinite, "trajectory 1, turn 2: the advantage is", "as above"},
	}...)
	for _, tt := range tests {
		if tt.text == "" {
			if tt.err != nil {
				t.Errorf("%s (%s): %v", tt.name, tt.reason, tt.err)
			}
			continue
		}
		if tt.err == nil || tt.reason == "" || !strings.Contains(tt.err.Error(), tt.text) || !strings.HasPrefix(tt.err.Error(), "rl: ") || tt.is != nil && !errors.Is(tt.err, tt.is) {
			t.Errorf("%s (%s): got %v, want %q", tt.name, tt.reason, tt.err, tt.text)
		}
	}
	// A return that overflows costs the vote where that is asked for, though the score is finite.
	for _, estimate := range []Estimator{
		func(dst *Credit, b []Trajectory) (*Credit, error) {
			return GiGPO(dst, b, &GiGPOOptions{Gamma: new(1.0), ExcludeNonFinite: true})
		},
		func(dst *Credit, b []Trajectory) (*Credit, error) {
			return GAGPO(dst, b, &GAGPOOptions{Gamma: new(1.0), ExcludeNonFinite: true})
		},
	} {
		c, err := estimate(nil, []Trajectory{scored("g", 0), back})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"", "non-finite"}, c.NoVote); diff != "" || c.Singletons != 1 {
			t.Errorf("singletons %d, votes (-want +got):\n%s", c.Singletons, diff)
		}
	}
}

// groupBench returns trajectories of 8 turns in groups of 8 with keys of 20 bytes; 3 turns in 10 are in one of 16 states
// that the group shares, the others in states of their own.
func groupBench(turns int) []Trajectory {
	rng := rand.New(rand.NewPCG(1, 2))
	batch := benchBatch(turns/8, 8)
	for i := range batch {
		for k := range batch[i].Turns {
			state := fmt.Sprintf("room %15d", i*8+k)
			if rng.IntN(10) < 3 {
				state = fmt.Sprintf("hall %15d", rng.IntN(16))
			}
			batch[i].Turns[k].State = state
		}
	}
	return batch
}

// A result that is passed in again costs no memory, with many groups and states, too.
func TestGroupNoAllocation(t *testing.T) {
	batch := groupBench(40_000)
	for _, e := range groupEstimators(SingletonZero, true) {
		c, err := e.estimate(nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(2, func() {
			if _, err := e.estimate(c, batch); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", e.name, n)
		}
	}
}

func benchGroup(b *testing.B, estimate Estimator) {
	for _, turns := range []int{10_000, 100_000, 400_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			batch := groupBench(turns)
			c, err := estimate(nil, batch)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := estimate(c, batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(turns), "ns/turn")
		})
	}
}

func BenchmarkGRPOTurns(b *testing.B) {
	benchGroup(b, func(dst *Credit, batch []Trajectory) (*Credit, error) { return GRPO(dst, batch, nil) })
}

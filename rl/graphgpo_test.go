package rl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// walk returns a trajectory through the given states whose last turn has the reward.
func walk(group string, score float64, states ...string) Trajectory {
	t := Trajectory{Group: group, FinalState: states[len(states)-1]}
	for _, s := range states[:len(states)-1] {
		u := turn(0, 0)
		u.State = s
		t.Turns = append(t.Turns, u)
	}
	last := &t.Turns[len(t.Turns)-1]
	last.Reward, last.End = score, Terminated
	return t
}

// verdict returns t with a verdict.
func verdict(t Trajectory, success bool) Trajectory { t.Success = &success; return t }

// e11 is the batch of worked example E11.
func e11() []Trajectory {
	return []Trajectory{
		walk("q", 10, "s0", "a", "m", "g"),
		walk("q", 10, "s0", "b", "m", "g"),
		walk("q", 0, "s0", "a", "y", "y"),
		walk("q", 0, "s0", "b", "x"),
		walk("q", 0, "s0", "b", "x"),
	}
}

// anyWalks draws trajectories of two groups over few states, so that they meet often. All states have keys if known is set.
func anyWalks(t *rapid.T, known bool) []Trajectory {
	states := []string{"s", "a", "b", "c", "d", "e", "f"}
	if !known {
		states = append(states, "")
	}
	state := rapid.SampledFrom(states)
	batch := make([]Trajectory, rapid.IntRange(0, 8).Draw(t, "trajectories"))
	for i := range batch {
		path := append([]string{"s"}, rapid.SliceOfN(state, 1, 7).Draw(t, "path")...)
		if rapid.IntRange(0, 5).Draw(t, "start elsewhere") == 0 {
			path = path[1:]
			path = append(path, state.Draw(t, "end"))
		}
		b := walk(rapid.SampledFrom([]string{"p", "p", "q"}).Draw(t, "group"), rapid.SampledFrom([]float64{0, 0, 1, 10, -1}).Draw(t, "score"), path...)
		b.ID = fmt.Sprint(i)
		switch rapid.IntRange(0, 5).Draw(t, "verdict") {
		case 0:
			b = verdict(b, true)
		case 1:
			b = verdict(b, false)
		}
		for k := range b.Turns {
			u := &b.Turns[k]
			u.Invalid = rapid.IntRange(0, 6).Draw(t, "invalid") == 0
			u.Excluded = rapid.IntRange(0, 8).Draw(t, "excluded") == 0
			u.Tokens[0].Trainable = rapid.IntRange(0, 8).Draw(t, "untrained") != 0
		}
		if rapid.IntRange(0, 8).Draw(t, "out") == 0 {
			b.Excluded = "test"
		}
		batch[i] = b
	}
	return batch
}

func mustGraphGPO(t testing.TB, batch []Trajectory, o *GraphGPOOptions) *Credit {
	t.Helper()
	c, err := GraphGPO(nil, batch, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// returns makes the step part the return by distance itself.
var returns = &GraphGPOOptions{EpisodeWeight: new(0.0), Norm: Norm{Std: StdOff}}

func TestGraphGPO(t *testing.T) {
	half := math.Sqrt(.5)
	voteless := e11()
	for _, kind := range []func(*Trajectory){
		func(b *Trajectory) { b.Excluded = "crashed" },
		func(b *Trajectory) { b.Turns[0].Tokens = nil; b.Turns[1].Tokens[0].Trainable = false },
	} {
		short := walk("q", 10, "s0", "x", "g") // a way from x to the goal that does not count
		kind(&short)
		voteless = append([]Trajectory{short}, voteless...)
	}
	silent := e11()
	silent[0].Turns[1].Excluded = true
	silent[3].Turns[1].Tokens = nil
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *GraphGPOOptions
		want   []float64
		reason string
	}{
		{"returns", e11(), returns, []float64{.4, 2, 10, .4, 2, 10, .4, 0, 0, .4, 0, .4, 0}, "E11, column r^G"},
		{"mean and deviation", e11(), &GraphGPOOptions{EpisodeWeight: new(0.0)},
			[]float64{0, .707106, 0, 0, 1.154700, 0, 0, -.707106, 0, 0, -.577350, 0, -.577350}, "E11, column A^G of ALFWorld"},
		{"mean only", e11(), &GraphGPOOptions{EpisodeWeight: new(0.0), Norm: Norm{Std: StdNone}},
			[]float64{0, 1, 0, 0, 4. / 3, 0, 0, -1, 0, 0, -2. / 3, 0, -2. / 3}, "E11, column A^G of WebShop"},
		{"episode", e11(), &GraphGPOOptions{StepWeight: new(0.0), Norm: Norm{Std: StdNone}},
			[]float64{6, 6, 6, 6, 6, 6, -4, -4, -4, -4, -4, -4, -4}, "E11: scores 10,10,0,0,0 have mean 4"},
		{"sum", e11(), &GraphGPOOptions{StepWeight: new(3.0), EpisodeWeight: new(.5), Norm: Norm{Std: StdNone}},
			[]float64{3, 6, 3, 3, 7, 3, -2, -5, -2, -2, -4, -2, -4}, "3 times the step, half the episode part"},
		{"goal return and decay", e11(), &GraphGPOOptions{EpisodeWeight: new(0.0), GoalReturn: new(8.0), GoalDecay: new(.5), Norm: Norm{Std: StdOff}},
			[]float64{2, 4, 8, 2, 4, 8, 2, 0, 0, 2, 0, 2, 0}, "8 * .5^d"},
		{"no success", []Trajectory{walk("q", 0, "s", "a"), walk("q", 0, "s", "b")}, nil, []float64{0, 0},
			"3.8: no goal, every return 0"},
		{"all success", []Trajectory{walk("q", 10, "s0", "a", "g"), walk("q", 10, "s0", "g")}, &GraphGPOOptions{Norm: Norm{Std: StdNone}},
			[]float64{-4, 0, 4}, "returns 2 and 10 from s0; scores are equal"},
		{"unreachable goal", []Trajectory{walk("q", 1, "s", "g"), walk("q", 0, "t", "u", "t")}, returns, []float64{10, 0, 0},
			"no way from t to g: every decay term is 0"},
		{"against the edge", []Trajectory{walk("q", 1, "a", "g"), walk("q", 0, "g", "b", "b")}, returns, []float64{10, 0, 0},
			"the way from b to g would need the edge from g to b"},
		{"self-loop", []Trajectory{walk("q", 1, "s", "s", "s", "g")}, returns, []float64{2, 2, 10}, "one step from s, loops or not"},
		{"self-loop at the goal", []Trajectory{walk("q", 1, "s", "g", "g")}, returns, []float64{10, 10}, "goal at 0"},
		{"single turn", []Trajectory{walk("q", 1, "s", "g")}, nil, []float64{0}, "nothing to compare with"},
		{"single trajectory", []Trajectory{walk("q", 1, "s", "a", "s", "g")}, &GraphGPOOptions{Norm: Norm{Std: StdNone}}, []float64{-4.8, 0, 4.8},
			"3.8: only a state visited twice compares: s->a .4, s->g 10"},
		{"goal on the way", []Trajectory{walk("q", 1, "s", "g"), walk("q", 0, "s", "a", "g", "x")}, returns, []float64{10, 2, 10, 0},
			"3.8: still a goal for distances"},
		{"duplicate edges", append(e11(), e11()[0], e11()[4]), returns,
			[]float64{.4, 2, 10, .4, 2, 10, .4, 0, 0, .4, 0, .4, 0, .4, 2, 10, .4, 0}, "3.7: distinct pairs"},
		{"shortcut by another", []Trajectory{walk("q", 1, "s", "a", "b", "g"), walk("q", 0, "b", "x"), walk("q", 0, "a", "g")}, returns,
			[]float64{2, 2, 10, 0, 10}, "a is one step from g by the third"},
		{"several goals", []Trajectory{walk("q", 1, "s", "a", "b", "g"), walk("q", 1, "s", "b", "h"), walk("q", 0, "h", "c")}, returns,
			[]float64{.4, 2, 10, 2, 10, 0}, "the nearest of g and h"},
		{"empty keys", []Trajectory{walk("q", 1, "", "", "g"), walk("q", 0, "", "x")}, &GraphGPOOptions{Norm: Norm{Std: StdNone}},
			[]float64{.5, .5, -.5}, "2: unknown states are alone, and no edge joins the trajectories"},
		{"unknown on the way", []Trajectory{walk("q", 1, "s", "", "g"), walk("q", 0, "s", "", "x")}, returns, []float64{2, 10, 0, 0},
			"the unknown states differ"},
		{"unknown end", []Trajectory{walk("q", 1, "s", "a", ""), walk("q", 0, "s", "")}, returns, []float64{2, 10, 0}, "a goal of its own"},
		{"two groups", append(e11(), walk("r", 1, "s0", "x"), walk("r", 0, "x", "g")), returns,
			[]float64{.4, 2, 10, .4, 2, 10, .4, 0, 0, .4, 0, .4, 0, 10, 0}, "same keys, other graph"},
		{"groups mixed", []Trajectory{walk("q", 1, "s", "g"), walk("r", 1, "g", "s"), walk("q", 0, "s", "x"), walk("r", 0, "g", "g")},
			&GraphGPOOptions{EpisodeWeight: new(0.0)}, []float64{half, half, -half, -half}, "each against its own, 10 against 0 and 2"},
		{"verdict against score", []Trajectory{verdict(walk("q", 10, "s", "g"), false), verdict(walk("q", -3, "s", "h"), true)}, returns,
			[]float64{0, 10}, "2: the verifier's word"},
		{"threshold", []Trajectory{walk("q", .5, "s", "g"), walk("q", .6, "s", "h")}, &GraphGPOOptions{SuccessAbove: .5, EpisodeWeight: new(0.0), Norm: Norm{Std: StdOff}},
			[]float64{0, 10}, "2: above, not at"},
		{"penalty does not decide", []Trajectory{invalid(walk("q", .05, "s", "g")), walk("q", 0, "s", "h")}, &GraphGPOOptions{Norm: Norm{Std: StdNone}},
			[]float64{5 - .025, -5 + .025}, "3.7: success by R .05, comparison by Z -.05"},
		{"penalty of its own", []Trajectory{invalid(walk("q", 0, "s", "g")), walk("q", 0, "t", "h")}, &GraphGPOOptions{InvalidPenalty: new(2.0), Norm: Norm{Std: StdNone}},
			[]float64{-1, 1}, "-2 against 0"},
		{"voteless trajectories", voteless, returns, []float64{0, 0, 0, 0, .4, 2, 10, .4, 2, 10, .4, 0, 0, .4, 0, .4, 0},
			"property 8: no part of the graph, and x stays a dead end"},
		{"voteless turns", silent, &GraphGPOOptions{EpisodeWeight: new(0.0), Norm: Norm{Std: StdNone}},
			[]float64{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, -1}, "edges stay: at a the turn to y is left alone, at b 2 meets one 0"},
		{"raw singletons", []Trajectory{walk("q", 1, "s", "g")}, &GraphGPOOptions{Norm: Norm{Singleton: SingletonRaw}}, []float64{11},
			"as GiGPO: score 1 and return 10 as they are"},
		{"a state of its own is no error", []Trajectory{walk("q", 1, "s", "g"), walk("q", 0, "t", "g")},
			&GraphGPOOptions{Norm: Norm{Singleton: SingletonError, Std: StdNone}}, []float64{.5, -.5}, "states visited once are ordinary"},
		{"empty batch", nil, nil, []float64{}, "nothing to do"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			before := copyBatch(tt.batch)
			c := mustGraphGPO(t, tt.batch, tt.o)
			if diff := cmp.Diff(tt.want, c.Advantage, cmpopts.EquateApprox(0, 1.1e-6)); diff != "" { // six decimals, eps 1e-6
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(before, tt.batch); diff != "" {
				t.Errorf("the batch changed (-want +got):\n%s", diff)
			}
		})
	}
}

// invalid returns t with its last turn invalid.
func invalid(t Trajectory) Trajectory { t.Turns[len(t.Turns)-1].Invalid = true; return t }

func TestGraphGPOResult(t *testing.T) {
	batch := append(e11(), walk("r", 1, "s", "g"), walk("z", 0, "s", "g"), walk("z", 0, "s", "h"))
	batch = append(batch, Trajectory{Group: "r", Excluded: "crashed"})
	c := mustGraphGPO(t, batch, nil)
	if c.Groups != 2 || c.ZeroVariance != 1 || c.Singletons != 1 {
		t.Errorf("%d groups, %d without variance, %d of one; want 2, 1, 1", c.Groups, c.ZeroVariance, c.Singletons)
	}
	if diff := cmp.Diff([]bool{false, false, false, false, false, false, true, true, false}, c.Flat); diff != "" {
		t.Errorf("flat (-want +got):\n%s", diff)
	}
	if !c.Fits(batch) || c.ValueTarget != nil || c.TokenAdvantage != nil || c.NoVote[8] != "crashed" {
		t.Errorf("result %+v", c)
	}
}

func TestGraphGPOErrors(t *testing.T) {
	nan := math.NaN()
	bad := func(change func(b *Trajectory)) []Trajectory {
		batch := e11()
		change(&batch[2])
		return batch
	}
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *GraphGPOOptions
		want   string
		is     error
		reason string
	}{
		{"goal return", nil, &GraphGPOOptions{GoalReturn: new(-1.0)}, "rl: GraphGPOOptions.GoalReturn is -1, want a number in [0, 1e+100]", nil, "4"},
		{"goal decay 0", nil, &GraphGPOOptions{GoalDecay: new(0.0)}, "rl: GraphGPOOptions.GoalDecay is 0, want a number in (0, 1), the ends not included", nil, "4"},
		{"goal decay 1", nil, &GraphGPOOptions{GoalDecay: new(1.0)}, "rl: GraphGPOOptions.GoalDecay is 1, want", nil, "4"},
		{"goal decay NaN", nil, &GraphGPOOptions{GoalDecay: &nan}, "rl: GraphGPOOptions.GoalDecay is NaN, want", nil, "4"},
		{"step weight", nil, &GraphGPOOptions{StepWeight: &nan}, "rl: GraphGPOOptions.StepWeight is NaN, want", nil, "4"},
		{"episode weight", nil, &GraphGPOOptions{EpisodeWeight: new(2e100)}, "rl: GraphGPOOptions.EpisodeWeight is 2e+100, want", nil, "no product overflows"},
		{"threshold", nil, &GraphGPOOptions{SuccessAbove: math.Inf(-1)}, "rl: GraphGPOOptions.SuccessAbove is -Inf, want", nil, "4"},
		{"penalty", nil, &GraphGPOOptions{InvalidPenalty: new(-.1)}, "rl: GraphGPOOptions.InvalidPenalty is -0.1, want", nil, "4"},
		{"norm", nil, &GraphGPOOptions{Norm: Norm{Std: 9}}, "rl: GraphGPOOptions.Norm.Std is 9, want", nil, "enumeration"},
		{"no turns", bad(func(b *Trajectory) { b.Turns = nil }), nil, "rl: trajectory 2: Turns is empty", nil, "2"},
		{"open", bad(func(b *Trajectory) { b.Turns[2].End = Continue }), nil, "rl: trajectory 2, turn 2: End is continue", ErrOpenTrajectory, "2"},
		{"reward", bad(func(b *Trajectory) { b.Turns[1].Reward = nan }), nil, "rl: trajectory 2, turn 1: Reward is NaN", ErrNonFinite, "2"},
		{"group of one", bad(func(b *Trajectory) { b.Group = "alone" }), &GraphGPOOptions{Norm: Norm{Singleton: SingletonError}},
			`rl: trajectory 2: Group is "alone" with one voter`, nil, "1"},
		{"overflow", []Trajectory{walk("q", 1e300, "s", "g"), walk("q", 0, "s", "h")}, &GraphGPOOptions{EpisodeWeight: new(1e100), Norm: Norm{Std: StdNone}},
			"rl: trajectory 0, turn 0: the advantage is +Inf", ErrNonFinite, "finite numbers that overflow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := GraphGPO(nil, tt.batch, tt.o)
			if err == nil || c != nil || !strings.HasPrefix(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%s: got %v, %v, want %q", tt.reason, c, err, tt.want)
			}
		})
	}
	c, err := GraphGPO(nil, bad(func(b *Trajectory) { b.Turns[1].Reward = nan }), &GraphGPOOptions{ExcludeNonFinite: true})
	if err != nil || c.NoVote[2] != "non-finite" || c.Vote[6] {
		t.Errorf("ExcludeNonFinite: %v, %v", c, err)
	}
}

// distances is the distance between all pairs of nodes by the algorithm of Floyd and Warshall; a self-loop is no way.
func distances(g *MileGraph) [][]float64 {
	d := make([][]float64, len(g.Nodes))
	for u := range d {
		d[u] = make([]float64, len(g.Nodes))
		for v := range d[u] {
			if u != v {
				d[u][v] = math.Inf(1)
			}
		}
	}
	for _, e := range g.Edges {
		if e.From != e.To {
			d[e.From][e.To] = 1
		}
	}
	for m := range d {
		for u := range d {
			for v := range d {
				d[u][v] = min(d[u][v], d[u][m]+d[m][v])
			}
		}
	}
	return d
}

func mustMileGraphs(t interface{ Fatal(...any) }, batch []Trajectory, o *MileGPOOptions) []MileGraph {
	graphs, err := MileGraphs(batch, o)
	if err != nil {
		t.Fatal(err)
	}
	return graphs
}

// Distances are the shortest over all pairs, and returns follow from them: in [0, c], and c exactly on steps into a goal
// (property 18).
func TestGraphDistances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyWalks(t, false)
		for _, g := range mustMileGraphs(t, batch, nil) {
			d := distances(&g)
			for u, node := range g.Nodes {
				want := math.Inf(1)
				for v := range g.Nodes {
					if g.Nodes[v].Goal {
						want = min(want, d[u][v])
					}
				}
				if math.IsInf(want, 1) {
					want = -1
				}
				if float64(node.Distance) != want {
					t.Fatalf("node %d is %d from a goal, by all pairs %v", u, node.Distance, want)
				}
			}
			for _, e := range g.Edges {
				want := 0.0
				if far := g.Nodes[e.To].Distance; far >= 0 {
					want = 10 * math.Pow(.2, float64(far))
				}
				if math.Abs(e.GoalReturn-want) > 1e-12 || (e.GoalReturn == 10) != g.Nodes[e.To].Goal {
					t.Fatalf("return %v of %+v, want %v", e.GoalReturn, e, want)
				}
			}
		}
	})
}

// Another trajectory of the group lengthens no distance, and a copy of one changes none (properties 18 and 19).
func TestGraphGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyWalks(t, true)
		distance := func(batch []Trajectory) map[[2]string]int {
			d := make(map[[2]string]int)
			for _, g := range mustMileGraphs(t, batch, nil) {
				for _, node := range g.Nodes {
					d[[2]string{g.Group, node.State}] = node.Distance
				}
			}
			return d
		}
		all := distance(batch)
		if len(batch) == 0 {
			return
		}
		i := rapid.IntRange(0, len(batch)-1).Draw(t, "left out")
		for state, d := range distance(slices.Delete(slices.Clone(batch), i, i+1)) {
			if d >= 0 && (all[state] > d || all[state] < 0) {
				t.Fatalf("%q: %d without trajectory %d, %d with it", state, d, i, all[state])
			}
		}
		if diff := cmp.Diff(all, distance(append(slices.Clone(batch), batch[i]))); diff != "" {
			t.Fatalf("copy of %d (-without +with):\n%s", i, diff)
		}
	})
}

// graphEstimators are the estimators of graphs, with options that differ.
var graphEstimators = map[string]Estimator{
	"GraphGPO": func(dst *Credit, batch []Trajectory) (*Credit, error) { return GraphGPO(dst, batch, nil) },
	"ALFWorld": func(dst *Credit, batch []Trajectory) (*Credit, error) { return MileGPO(dst, batch, nil) },
	"WebShop":  func(dst *Credit, batch []Trajectory) (*Credit, error) { return MileGPO(dst, batch, webShop) },
	"MD":       func(dst *Credit, batch []Trajectory) (*Credit, error) { return MileGPO(dst, batch, halfMD) },
}

var (
	webShop = MileGPOWebShop()
	halfMD  = &MileGPOOptions{Stage: StageMD, Mix: new(.5)}
)

// perTrajectory returns the advantages by ID of the trajectory.
func perTrajectory(t *rapid.T, f Estimator, batch []Trajectory) map[string][]float64 {
	c, err := f(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]float64)
	for i := range batch {
		out[batch[i].ID] = slices.Clone(c.Advantage[c.Start[i]:c.Start[i+1]])
	}
	return out
}

// The order of trajectories and the names of states do not matter; what a voteless trajectory or another group holds does
// not either; and a reused result equals a new one (properties 8 and 19). The margin is wider than 1e-12 since a group whose
// returns differ little is divided by a small deviation, and rounding with it.
func TestGraphCreditSymmetry(t *testing.T) {
	margin := cmpopts.EquateApprox(1e-9, 1e-9)
	for name, f := range graphEstimators {
		t.Run(name, func(t *testing.T) {
			var reused *Credit
			rapid.Check(t, func(t *rapid.T) {
				batch := anyWalks(t, false)
				want := perTrajectory(t, f, batch)
				if diff := cmp.Diff(want, perTrajectory(t, f, rapid.Permutation(batch).Draw(t, "order")), margin); diff != "" {
					t.Fatalf("another order (-want +got):\n%s", diff)
				}
				name := func(s string) string {
					if s == "" {
						return ""
					}
					return "state " + string('z'-s[0]+'a')
				}
				renamed := copyBatch(batch)
				for i := range renamed {
					renamed[i].FinalState = name(renamed[i].FinalState)
					for k := range renamed[i].Turns {
						renamed[i].Turns[k].State = name(renamed[i].Turns[k].State)
					}
				}
				if diff := cmp.Diff(want, perTrajectory(t, f, renamed)); diff != "" {
					t.Fatalf("other names (-want +got):\n%s", diff)
				}
				changed := copyBatch(batch)
				c, err := f(reused, changed)
				if err != nil {
					t.Fatal(err)
				}
				for i := range batch {
					if diff := cmp.Diff(want[batch[i].ID], c.Advantage[c.Start[i]:c.Start[i+1]], cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("reused result (-want +got):\n%s", diff)
					}
				}
				for i := range changed {
					if c.NoVote[i] != "" {
						other := walk(changed[i].Group, 55, "s", "a", "e", "f")
						other.ID, other.Excluded = changed[i].ID, "test"
						changed[i] = other
						delete(want, other.ID)
					}
				}
				got := perTrajectory(t, f, append(changed, walk("other group", 7, "s", "a"), walk("other group", 0, "s", "b")))
				for i := range changed {
					if c.NoVote[i] != "" {
						delete(got, changed[i].ID)
					}
				}
				delete(got, "")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("other voteless trajectories and another group (-want +got):\n%s", diff)
				}
				reused = c
			})
		})
	}
}

// A chain of 100,000 turns neither recurses nor takes quadratic time; potentials and returns far from their source vanish.
func TestGraphLongChain(t *testing.T) {
	states := make([]string, 100001)
	for i := range states {
		states[i] = fmt.Sprint(i)
	}
	long := walk("q", 1, states...)
	batch := []Trajectory{long, walk("q", 0, states[50000], states[0]), walk("q", 0, states[99999], states[50000])}
	for name, f := range graphEstimators {
		c, err := f(nil, batch)
		if err != nil {
			t.Fatal(name, err)
		}
		for k, a := range c.Advantage {
			if !finite(a) {
				t.Fatalf("%s: turn %d has %v", name, k, a)
			}
		}
	}
	g := mustMileGraphs(t, batch, nil)[0]
	if d := g.Nodes[0].Distance; d != 100000 {
		t.Errorf("the start is %d from the goal", d)
	}
	if r := g.Edges[99999].GoalReturn; math.Abs(r-2) > 1e-12 { // state 50000 has two edges
		t.Errorf("the last step but one earns %v", r)
	}
	if len(g.Nodes) != 100001 || len(g.Edges) != 100002 {
		t.Errorf("%d nodes, %d edges", len(g.Nodes), len(g.Edges))
	}
}

// gridWalks returns trajectories of the given number of turns in groups of 8, through states of which most are shared.
func gridWalks(trajectories, turns, size int) []Trajectory {
	batch := make([]Trajectory, trajectories)
	for i := range batch {
		path := make([]string, turns+1)
		x := i % size
		for k := range path {
			path[k] = fmt.Sprintf("step %d, place %d of a room with a desk", k/2, x*x%7)
			x = (x*31 + k + 7) % 1009
		}
		path[0] = "start"
		score := 0.0
		if i%3 == 0 {
			score, path[turns] = 10, "goal"
		}
		batch[i] = walk(fmt.Sprint("task ", i/size), score, path...)
	}
	return batch
}

func TestGraphCreditAllocates(t *testing.T) {
	batch := gridWalks(16, 20, 8)
	for name, f := range graphEstimators {
		c, err := f(nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(5, func() { c, err = f(c, batch) }); n > 0 {
			t.Errorf("%s: %v allocations with a reused result", name, n)
		}
	}
}

func benchmarkGraph(b *testing.B, f Estimator) {
	run := func(name string, batch []Trajectory) {
		b.Run(name, func(b *testing.B) {
			c, err := f(nil, batch)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if c, err = f(c, batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.Vote)), "ns/turn")
		})
	}
	for _, n := range []int{32, 128, 512, 2048} {
		run(fmt.Sprintf("groups=%d/turns=%d", n/8, n*50), gridWalks(n, 50, 8))
	}
	for _, n := range []int{32, 512, 2048} {
		run(fmt.Sprintf("groups=1/turns=%d", n*50), gridWalks(n, 50, n))
	}
}

func BenchmarkGraphGPO(b *testing.B) { benchmarkGraph(b, graphEstimators["GraphGPO"]) }

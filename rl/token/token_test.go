package token

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

	"github.com/throughline-go/throughline/rl"
)

var (
	near   = cmpopts.EquateApprox(1e-12, 1e-12)
	digits = cmpopts.EquateApprox(0, 5.1e-7) // worked examples are rounded to six decimals
	sqrt   = math.Sqrt
	nan    = math.NaN()
)

// row returns a row with one turn for each run of ones in mask. Values has one number for each token.
func row(mask string, values []float64, rewards ...float64) Row {
	r := Row{Values: values, Rewards: rewards}
	for _, m := range mask {
		r.Mask = append(r.Mask, m == '1')
	}
	return r
}

// turns splits r at the given turn of each token.
func turns(r Row, turns ...int) Row {
	r.Turns = turns
	return r
}

func mustBatch(t testing.TB, rows ...Row) []rl.Trajectory {
	t.Helper()
	batch, err := FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func gae(o GAEOptions) rl.Estimator {
	return func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return GAE(dst, b, &o) }
}

func reinforce(o ReinforcePPOptions) rl.Estimator {
	return func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return ReinforcePP(dst, b, &o) }
}

func published(o PPOPublishedOptions) rl.Estimator {
	return func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return PPOPublished(dst, b, &o) }
}

// The worked examples and the faults of peers of the specification, on rows, as trainers hold them.
func TestWorked(t *testing.T) {
	raw := func(gamma, lambda float64) rl.Estimator {
		return gae(GAEOptions{Gamma: &gamma, Lambda: &lambda, Norm: rl.Norm{Std: rl.StdOff}})
	}
	e9 := turns(Row{Mask: []bool{true, true, true, true}, Values: []float64{2, 4, 6, 8}, TurnRewards: []float64{0, 10}, Invalid: []bool{false, true}}, 0, 0, 1, 1)
	e9b := row("11", []float64{1, 3})
	group := func(g string, r Row) Row { r.Group = g; return r }
	truncated := func(r Row, final float64) Row { r.End, r.FinalValue = rl.Truncated, &final; return r }
	case4 := turns(Row{Mask: []bool{true, true, true, true}, Values: []float64{.2, .4, .6, .8}, TurnRewards: []float64{0, 1}}, 0, 0, 1, 1)
	tests := []struct {
		name       string
		rows       []Row
		estimator  rl.Estimator
		advantages [][]float64
		returns    [][]float64 // nil where they are not asked for
		reason     string
	}{
		{"E4", []Row{row("110011", []float64{.5, .6, 9, 9, .7, .8}, 0, 0, 0, 0, 0, 1)}, raw(1, .95),
			[][]float64{{.456725, .3755, 0, 0, .29, .2}}, [][]float64{{.956725, .9755, 0, 0, .99, 1}}, "E4; case 1 is what peers made of it"},
		{"E4, NaN where nobody reads", []Row{row("110011", []float64{.5, .6, nan, math.Inf(1), .7, .8}, 0, 0, 0, 0, 0, 1)}, raw(1, .95),
			[][]float64{{.456725, .3755, 0, 0, .29, .2}}, nil, "case 1: masked values are not read"},
		{"E5", []Row{{Mask: []bool{true, true, true, true}, Values: []float64{.1, .2, .3, .4}, Turns: []int{0, 0, 1, 1}, TurnRewards: []float64{.5, 1}}},
			raw(.9, .9), [][]float64{{.899931, 1.01226, .546, .6}}, nil, "E5"},
		{"E8", []Row{row("11", nil, 0, 1), row("111", nil)}, reinforce(ReinforcePPOptions{}),
			[][]float64{{1.095445, 1.095445}, {-.730297, -.730297, -.730297}}, nil, "E8"},
		{"E8, population", []Row{row("11", nil, 0, 1), row("111", nil)}, reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdPopulation}}),
			[][]float64{{1.224745, 1.224745}, {-.816497, -.816497, -.816497}}, nil, "E8"},
		{"E8, baseline", []Row{group("a", row("1", nil, 1)), group("b", row("1", nil, 5)), group("a", row("1", nil, 3)), group("b", row("1", nil, 5))},
			reinforce(ReinforcePPOptions{GroupBaseline: true}), [][]float64{{-1.224745}, {0}, {1.224745}, {0}}, nil, "E8"},
		{"E9, raw", []Row{e9, e9b}, published(PPOPublishedOptions{Norm: rl.Norm{Std: rl.StdOff}}),
			[][]float64{{8, 6, 3.9, 1.9}, {-1, -3}}, [][]float64{{10, 10, 9.9, 9.9}, {0, 0}}, "E9"},
		{"E9", []Row{e9, e9b}, published(PPOPublishedOptions{}),
			[][]float64{{1.284985, .806109, .303288, -.175588}, {-.869959, -1.348836}}, [][]float64{{10, 10, 9.9, 9.9}, {0, 0}}, "E9"},
		{"case 2", []Row{row("110", []float64{0, 0, 100}, 0, 1, 0)}, raw(1, .95), [][]float64{{.95, 1, 0}}, nil,
			"case 2: the value of a masked token is not what follows"},
		{"case 3", []Row{row("110011", nil, 0, 0, 0, 0, 0, 1)}, reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdOff}}),
			[][]float64{{1, 1, 0, 0, 1, 1}}, nil, "case 3: observations do not end a return"},
		{"case 4", []Row{case4}, gae(GAEOptions{TurnGamma: new(.5), Norm: rl.Norm{Std: rl.StdOff}}),
			[][]float64{{.3, .1, .4, .2}}, [][]float64{{.5, .5, 1, 1}}, "case 4: the first turn ends though its reward is 0"},
		{"case 11", []Row{row("00", nil, 0, 100), row("11", nil, 0, 1)}, reinforce(ReinforcePPOptions{GroupBaseline: true, Norm: rl.Norm{Std: rl.StdOff}}),
			[][]float64{{0, 0}, {0, 0}}, nil, "case 11: a row without trainable tokens does not vote; peers gave -49.5"},
		{"case 11, no group", []Row{row("00", nil, 0, 100), row("11", nil, 0, 1)}, reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdNone}}),
			[][]float64{{0, 0}, {0, 0}}, nil, "case 11"},
		{"case 12", []Row{row("100", nil, 1, 0, 0), row("100", nil, 2, 0, 0), row("1", nil, 3)},
			reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdPopulation, Eps: new(0.0)}}),
			[][]float64{{-sqrt(1.5), 0, 0}, {0, 0, 0}, {sqrt(1.5)}}, nil, "case 12: pads are in no mean"},
		{"case 16", []Row{row("1", []float64{1}, 1.5)}, gae(GAEOptions{}), [][]float64{{0}}, [][]float64{{1.5}},
			"case 16: A .5 and V 1 give 1.5, though whitening makes 0 of A"},
		{"truncated", []Row{truncated(row("11", []float64{1, 2}, 0, 1), 4)}, raw(.5, 1), [][]float64{{.5*3 - 1, 1 + .5*4 - 2}}, nil,
			"1 + .5*4 = 3 at the second token, half of it at the first"},
		{"terminated", []Row{{Mask: []bool{true}, End: rl.Terminated, FinalValue: new(nan)}}, raw(1, 1), [][]float64{{0}}, nil,
			"6.4: Terminated ignores the final value"},
		{"terminal", []Row{truncated(row("11", []float64{1, 2}, 0, 1), nan)}, gae(GAEOptions{Truncation: rl.TruncationTerminal, Norm: rl.Norm{Std: rl.StdOff}}),
			[][]float64{{0, -1}}, nil, "1 - V"},
		{"dropped", []Row{truncated(row("11", nil, 0, 1), 0), row("1", nil, 7)}, gae(GAEOptions{Truncation: rl.TruncationDrop, Norm: rl.Norm{Std: rl.StdOff}}),
			[][]float64{{0, 0}, {7}}, [][]float64{{0, 0}, {7}}, "3.1"},
		{"per turn", []Row{truncated(turns(Row{Mask: []bool{true, true, true}, Values: []float64{1, 2, 3}, TurnRewards: []float64{5, 7}}, 0, 0, 1), nan)},
			gae(GAEOptions{TurnRows: true, Norm: rl.Norm{Std: rl.StdOff}}), [][]float64{{4, 3, 4}}, [][]float64{{5, 5, 7}}, "each turn's reward less V, nothing after it"},
		{"reward before", []Row{turns(Row{Mask: []bool{true, true, false, true}, TurnRewards: []float64{1, 2, 4}}, 0, 0, 1, 2)},
			raw(.5, 1), [][]float64{{.5*3 + .25*4, 3 + .5*4, 0, 4}}, nil, "3.2: turn 1 has no tokens, its 2 goes to turn 0"},
		{"reward after", []Row{turns(Row{Mask: []bool{false, false, true, true}, TurnRewards: []float64{1, 2, 4, 0}}, 0, 1, 2, 3)},
			raw(.5, 1), [][]float64{{0, 0, 7, 0}}, nil, "3.2: nothing before turns 0 and 1, so turn 2 has all"},
		{"excluded turn", []Row{turns(Row{Mask: []bool{true, true, true}, Values: []float64{0, nan, 0}, TurnRewards: []float64{1, 2, 4}, Excluded: []bool{false, true, false}}, 0, 1, 2)},
			raw(.5, 1), [][]float64{{5, 0, 4}}, [][]float64{{5, 0, 4}}, "2: its tokens are masked, no step; its reward stays"},
		{"penalty", []Row{turns(Row{Mask: []bool{true, true, false}, TurnRewards: []float64{0, 0, 0}, Invalid: []bool{true, true, true}, Excluded: []bool{false, true, false}}, 0, 1, 2)},
			gae(GAEOptions{InvalidPenalty: new(.25), Norm: rl.Norm{Std: rl.StdOff}}), [][]float64{{-.5, 0, 0}}, [][]float64{{-.5, 0, 0}},
			"two invalid turns, one of them without tokens; excluded ones are not penalised"},
		{"no penalty", []Row{turns(Row{Mask: []bool{true}, Invalid: []bool{true}}, 0)}, raw(1, 1), [][]float64{{0}}, nil, "3.2 has none"},
		{"penalty of the return", []Row{turns(Row{Mask: []bool{true, true}, TurnRewards: []float64{1, 1}, Invalid: []bool{true, false}}, 0, 1)},
			reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdOff}}), [][]float64{{1.9, 1}}, nil, "3.4: Z, with c_inv .1"},
		{"penalty of the score", []Row{group("a", turns(Row{Mask: []bool{true, true}, TurnRewards: []float64{1, 1}, Invalid: []bool{true, false}}, 0, 1)), group("a", row("1", nil, 1))},
			reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdOff}, GroupBaseline: true}), [][]float64{{.45, .45}, {-.45}}, nil, "3.4: Z = 1.9 against 1"},
		{"raw singleton", []Row{group("a", row("11", nil, 0, 3)), group("b", row("1", nil, 1)), group("b", row("1", nil, 2))},
			reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdOff}, GroupBaseline: true, Singleton: rl.SingletonRaw}), [][]float64{{3, 3}, {-.5}, {.5}}, nil, "verl"},
		{"KL", []Row{{Mask: []bool{true, false, true}, LogProbs: []float64{-1, nan, -2}, RefLogProbs: []float64{-1.5, nan, -1}, Rewards: []float64{0, 0, 3}}},
			gae(GAEOptions{KLPenalty: .5, Norm: rl.Norm{Std: rl.StdOff}}), [][]float64{{3.25, 0, 3.5}}, nil, "-.5*.5 and -.5*-1"},
		{"KL of the return", []Row{{Mask: []bool{true, false, true}, LogProbs: []float64{-1, nan, -2}, RefLogProbs: []float64{-1.5, nan, -1}, Rewards: []float64{0, 0, 3}}},
			reinforce(ReinforcePPOptions{KLPenalty: .5, Norm: rl.Norm{Std: rl.StdOff}}), [][]float64{{3.25, 0, 3.5}}, nil, "-.5*.5 and -.5*-1"},
		{"no KL", []Row{{Mask: []bool{true}, LogProbs: []float64{nan}, RefLogProbs: []float64{nan}}}, gae(GAEOptions{}), [][]float64{{0}}, nil,
			"off by default, and then not read"},
		{"return, no values", []Row{row("11", []float64{nan, nan}, 0, 2)}, reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdOff}, Gamma: new(.5)}),
			[][]float64{{1, 2}}, nil, "no critic"},
		{"off", []Row{row("11", nil, 0, 2)}, reinforce(ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdOff}}), [][]float64{{2, 2}}, nil, "not whitened"},
		{"non-finite", []Row{row("11", []float64{1, nan}, 0, 2), row("1", nil, 3)}, gae(GAEOptions{ExcludeNonFinite: true, Norm: rl.Norm{Std: rl.StdOff}}),
			[][]float64{{0, 0}, {3}}, [][]float64{{0, 0}, {3}}, "2: excluded with a reason"},
		{"non-finite score", []Row{row("11", nil, 0, nan), row("1", nil, 3), row("1", nil, 5)}, reinforce(ReinforcePPOptions{ExcludeNonFinite: true, Norm: rl.Norm{Std: rl.StdOff}, GroupBaseline: true}),
			[][]float64{{0, 0}, {-1}, {1}}, nil, "2: it does not count in the mean"},
		{"empty", nil, gae(GAEOptions{}), nil, nil, "nothing to do"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			batch := mustBatch(t, tt.rows...)
			c, err := tt.estimator(nil, batch)
			if err != nil {
				t.Fatal(err)
			}
			if c.TokenAdvantage == nil {
				t.Error("TokenAdvantage is nil")
			}
			rows := slices.Clone(tt.rows)
			if err := SetCredit(rows, batch, c); err != nil {
				t.Fatal(err)
			}
			var advantages, returns [][]float64
			for _, r := range rows {
				advantages, returns = append(advantages, r.Advantages), append(returns, r.Returns)
			}
			if diff := cmp.Diff(tt.advantages, advantages, digits); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.returns, returns, digits); tt.returns != nil && diff != "" {
				t.Errorf("returns: %s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestNoVote(t *testing.T) {
	final := 1.0
	batch := mustBatch(t, row("0", nil, 5), Row{Mask: []bool{true}, End: rl.Truncated, FinalValue: &final}, row("1", []float64{nan}), row("1", nil), Row{Mask: []bool{true}, Drop: "bad"})
	c, err := GAE(nil, batch, &GAEOptions{Truncation: rl.TruncationDrop, ExcludeNonFinite: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"no trainable token", "truncated", "non-finite", "", "bad"}
	if diff := cmp.Diff(want, c.NoVote); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{false, false, false, true, false}, c.Vote); diff != "" {
		t.Errorf("votes (-want +got):\n%s", diff)
	}
	for _, e := range []rl.Estimator{reinforce(ReinforcePPOptions{GroupBaseline: true}), published(PPOPublishedOptions{})} {
		c, err := e(c, mustBatch(t, row("0", nil, nan), row("1", nil, 2), row("1", nil, 4)))
		if err != nil || c.NoVote[0] != "no trainable token" {
			t.Errorf("got %v, %v: a non-voter is not read", c, err)
		}
	}
}

// Credit per turn is the mean over its tokens, and the groups of a baseline are counted.
func TestTurns(t *testing.T) {
	batch := mustBatch(t, turns(Row{Mask: []bool{true, true, false, true}, Values: []float64{1, 4, nan, 2}, TurnRewards: []float64{1, 2, 4}}, 0, 0, 1, 2))
	c, err := GAE(nil, batch, &GAEOptions{Norm: rl.Norm{Std: rl.StdOff}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{4.5, 0, 2}, c.Advantage, near); diff != "" {
		t.Errorf("mean of 6 and 3, none, 2 (-want +got):\n%s", diff)
	}
	if c.ValueTarget != nil || c.QTarget != nil || c.Groups != 0 {
		t.Errorf("targets %v and %v per turn, %d groups, want none", c.ValueTarget, c.QTarget, c.Groups)
	}
	c, err = ReinforcePP(c, mustBatch(t, row("1", nil, 1), row("1", nil, 2), Row{Group: "b", Mask: []bool{true}}), &ReinforcePPOptions{GroupBaseline: true})
	if err != nil || c.Groups != 1 || c.Singletons != 1 || c.TokenTarget != nil || len(c.Flat) != 3 {
		t.Errorf("got %+v, %v, want a group, a singleton and no targets", c, err)
	}
}

func TestErrors(t *testing.T) {
	good, long := row("11", nil, 0, 1), 1e308
	cut := row("1", nil, 1)
	cut.End = rl.Truncated
	nanFinal := cut
	nanFinal.FinalValue = new(nan)
	inf := math.Inf(1)
	tests := []struct {
		name      string
		estimator rl.Estimator
		rows      []Row
		text      string
		is        error
	}{
		{"gamma", gae(GAEOptions{Gamma: new(1.5)}), nil, "token: GAEOptions.Gamma is 1.5, want a number in [0, 1]", nil},
		{"lambda", gae(GAEOptions{Lambda: new(-1.)}), nil, "GAEOptions.Lambda is -1", nil},
		{"turn gamma", gae(GAEOptions{TurnGamma: new(nan)}), nil, "GAEOptions.TurnGamma is NaN", nil},
		{"penalty", gae(GAEOptions{InvalidPenalty: &inf}), nil, "GAEOptions.InvalidPenalty is +Inf, want a finite number >= 0", nil},
		{"KL", gae(GAEOptions{KLPenalty: -1}), nil, "GAEOptions.KLPenalty is -1", nil},
		{"truncation", gae(GAEOptions{Truncation: 9}), nil, "GAEOptions.Truncation is 9", nil},
		{"norm", gae(GAEOptions{Norm: rl.Norm{Eps: new(-1.)}}), nil, "token: GAEOptions.Norm: rl: Norm.Eps is -1", nil},
		{"gamma", reinforce(ReinforcePPOptions{Gamma: new(2.)}), nil, "ReinforcePPOptions.Gamma is 2", nil},
		{"penalty", reinforce(ReinforcePPOptions{InvalidPenalty: new(-2.)}), nil, "ReinforcePPOptions.InvalidPenalty is -2", nil},
		{"KL", reinforce(ReinforcePPOptions{KLPenalty: nan}), nil, "ReinforcePPOptions.KLPenalty is NaN", nil},
		{"norm", reinforce(ReinforcePPOptions{Norm: rl.Norm{StdFloor: new(-1.)}}), nil, "ReinforcePPOptions.Norm: rl: Norm.StdFloor", nil},
		{"singleton", reinforce(ReinforcePPOptions{Singleton: 5}), nil, "ReinforcePPOptions.Singleton is 5", nil},
		{"gamma of a baseline", reinforce(ReinforcePPOptions{GroupBaseline: true, Gamma: new(.5)}), nil, "Gamma is 0.5, want 1 with GroupBaseline", nil},
		{"KL of a baseline", reinforce(ReinforcePPOptions{GroupBaseline: true, KLPenalty: .5}), nil, "KLPenalty is 0.5, want 0 with GroupBaseline", nil},
		{"penalty", published(PPOPublishedOptions{InvalidPenalty: new(-.5)}), nil, "PPOPublishedOptions.InvalidPenalty is -0.5", nil},
		{"norm", published(PPOPublishedOptions{Norm: rl.Norm{EpsPlace: 9}}), nil, "PPOPublishedOptions.Norm: rl: Norm.EpsPlace", nil},

		{"reward", gae(GAEOptions{}), []Row{good, row("11", nil, 0, nan)}, "trajectory 1, turn 0: Reward is NaN", rl.ErrNonFinite},
		{"value", gae(GAEOptions{}), []Row{good, row("011", []float64{0, 0, inf})}, "trajectory 1, turn 0: Tokens[2].Value is +Inf", rl.ErrNonFinite},
		{"value, others unread", gae(GAEOptions{}), []Row{turns(Row{Mask: []bool{true, true, true}, LogProbs: []float64{nan, nan, nan}, Values: []float64{nan, 0, inf}, Excluded: []bool{true, false}}, 0, 1, 1)},
			"trajectory 0, turn 1: Tokens[1].Value is +Inf", rl.ErrNonFinite},
		{"log-prob", gae(GAEOptions{KLPenalty: 1}), []Row{good, {Mask: []bool{true}, LogProbs: []float64{nan}}}, "trajectory 1, turn 0: Tokens[0].LogProb is NaN", rl.ErrNonFinite},
		{"reference", reinforce(ReinforcePPOptions{KLPenalty: 1}), []Row{good, {Mask: []bool{true}, RefLogProbs: []float64{nan}}}, "Tokens[0].RefLogProb is NaN", rl.ErrNonFinite},
		{"final value", gae(GAEOptions{}), []Row{good, nanFinal}, "trajectory 1: FinalValue is NaN", rl.ErrNonFinite},
		{"no final value", gae(GAEOptions{}), []Row{good, cut}, "trajectory 1: FinalValue is nil", rl.ErrNoFinalValue},
		{"return", reinforce(ReinforcePPOptions{}), []Row{row("1", nil, inf)}, "trajectory 0, turn 0: Reward is +Inf", rl.ErrNonFinite},
		{"score", reinforce(ReinforcePPOptions{GroupBaseline: true}), []Row{row("1", nil, inf)}, "Reward is +Inf", rl.ErrNonFinite},
		{"published", published(PPOPublishedOptions{}), []Row{row("1", []float64{nan}, 1)}, "Tokens[0].Value is NaN", rl.ErrNonFinite},
		{"overflow", gae(GAEOptions{}), []Row{row("11", []float64{-long, -long}, 0, long)}, "the advantage of trainable token 0 is +Inf", rl.ErrNonFinite},
		{"overflow of a sum", reinforce(ReinforcePPOptions{}), []Row{row("0101", nil, long, long, 0, 0)}, "Reward is +Inf", rl.ErrNonFinite},
		{"probability", gae(GAEOptions{KLPenalty: .1}), []Row{good, {Mask: []bool{false, true}, LogProbs: []float64{7, .5}, RefLogProbs: []float64{7, -1}}},
			"trajectory 1, turn 0: Tokens[1].LogProb is 0.5, want a log-probability, at most 0", nil},
		{"probability, reference", reinforce(ReinforcePPOptions{KLPenalty: .1}), []Row{good, {Mask: []bool{true}, LogProbs: []float64{-1}, RefLogProbs: []float64{.5}}},
			"trajectory 1, turn 0: Tokens[0].RefLogProb is 0.5, want a log-probability, at most 0", nil},
		{"overflow of a mean", published(PPOPublishedOptions{Norm: rl.Norm{Std: rl.StdOff}}), []Row{good, row("1111", []float64{1.6 * long, -1.6 * long, -1.6 * long, -1.6 * long})}, "trajectory 1, turn 0: the mean of its advantages is", rl.ErrNonFinite},
		{"overflow of a centre", published(PPOPublishedOptions{Norm: rl.Norm{Std: rl.StdNone}}), []Row{row("11", []float64{1.6 * long, 1.6 * long}), row("1", []float64{-1.6 * long})}, "a centred advantage is +Inf", rl.ErrNonFinite},
		{"one token", gae(GAEOptions{Norm: rl.Norm{Singleton: rl.SingletonError}}), []Row{row("10", nil)}, "the batch is one token of the policy", nil},
		{"group of one", reinforce(ReinforcePPOptions{GroupBaseline: true, Singleton: rl.SingletonError}), []Row{good}, "want two voters or more", nil},
	}
	for _, tt := range tests {
		c, err := tt.estimator(nil, mustBatch(t, tt.rows...))
		if err == nil || c != nil || !strings.Contains(err.Error(), tt.text) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v and %v, want %q", tt.name, c, err, tt.text)
		}
	}
	open := []rl.Trajectory{{Turns: []rl.Turn{{}}}}
	for _, e := range []rl.Estimator{gae(GAEOptions{}), reinforce(ReinforcePPOptions{}), reinforce(ReinforcePPOptions{GroupBaseline: true}), published(PPOPublishedOptions{})} {
		if c, err := e(nil, open); !errors.Is(err, rl.ErrOpenTrajectory) || c != nil {
			t.Errorf("open trajectory: %v, %v", c, err)
		}
	}
}

// eighths draws numbers with few distinct values, so that ties are common.
func eighths(t *rapid.T, name string) float64 {
	return float64(rapid.IntRange(-16, 16).Draw(t, name)) / 8
}

// anyBatch draws trajectories of up to four turns of up to three tokens, with masked tokens full of NaN, and with excluded and
// invalid turns.
func anyBatch(t *rapid.T) []rl.Trajectory {
	batch := make([]rl.Trajectory, rapid.IntRange(0, 5).Draw(t, "trajectories"))
	for i := range batch {
		b := &batch[i]
		b.ID = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "id")
		b.Group = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "group")
		n := rapid.IntRange(1, 4).Draw(t, "turns")
		for range n {
			u := rl.Turn{Reward: eighths(t, "reward")}
			u.Invalid = rapid.IntRange(0, 3).Draw(t, "invalid") == 0
			u.Excluded = rapid.IntRange(0, 4).Draw(t, "excluded") == 0
			for range rapid.IntRange(0, 3).Draw(t, "tokens") {
				tok := rl.Token{ID: rapid.IntRange(0, 9).Draw(t, "token"), Trainable: rapid.IntRange(0, 3).Draw(t, "trainable") > 0}
				if tok.Trainable && !u.Excluded {
					tok.LogProb, tok.RefLogProb, tok.Value = 0-math.Abs(eighths(t, "logprob")), 0-math.Abs(eighths(t, "reference")), eighths(t, "value")
				} else {
					tok.LogProb, tok.RefLogProb, tok.Value = nan, nan, nan
				}
				u.Tokens = append(u.Tokens, tok)
			}
			b.Turns = append(b.Turns, u)
		}
		b.Turns[n-1].End = rapid.SampledFrom([]rl.End{rl.Terminated, rl.Truncated}).Draw(t, "end")
		b.FinalValue = new(eighths(t, "final"))
		if rapid.IntRange(0, 5).Draw(t, "out") == 0 {
			b.Excluded = "test"
		}
	}
	return batch
}

// step is a policy token of the oracle.
type step struct {
	trajectory, turn int // turn within the batch
	at               int // position among all trainable tokens
	last             bool
	reward, value    float64
}

// steps lists the policy tokens of each trajectory with their rewards, as section 3.2 of the specification has them.
func steps(batch []rl.Trajectory, penalty, beta float64) (all [][]step, tokens, turns int) {
	for i, b := range batch {
		var list []step
		var carried []float64 // rewards with the number of steps before them
		var after []int
		for _, u := range b.Turns {
			r := u.Reward
			if u.Invalid && !u.Excluded {
				r -= penalty
			}
			for _, tok := range u.Tokens {
				if !tok.Trainable {
					continue
				}
				if !u.Excluded && b.Excluded == "" {
					list = append(list, step{i, turns, tokens, false, -beta * (tok.LogProb - tok.RefLogProb), tok.Value})
				}
				tokens++
			}
			carried, after = append(carried, r), append(after, len(list))
			turns++
		}
		for j := range list {
			list[j].last = j == len(list)-1 || list[j+1].turn != list[j].turn
		}
		for k, r := range carried {
			if len(list) == 0 {
				break
			}
			at := after[k] - 1 // the last step so far
			if at < 0 {        // none: the last step of the first turn that has some
				at = slices.IndexFunc(list, func(s step) bool { return s.last })
			}
			list[at].reward += r
		}
		all = append(all, list)
	}
	return all, tokens, turns
}

// slowGAE sums the deltas of all later steps with their weights, O(n²), without any recursion.
func slowGAE(list []step, final float64, o GAEOptions) (advantage []float64) {
	gamma, lambda := *o.Gamma, *o.Lambda
	discount := func(j int) float64 { // from step j to the next
		if list[j].last && !o.TurnRows {
			return *o.TurnGamma
		}
		return gamma
	}
	for j := range list {
		var a float64
		weight := 1.0
		for l := j; l < len(list); l++ {
			next := final
			if l+1 < len(list) {
				next = list[l+1].value
			}
			if o.TurnRows && list[l].last {
				next = 0
			}
			a += weight * (list[l].reward + discount(l)*next - list[l].value)
			weight *= discount(l) * lambda
			if o.TurnRows && list[l].last {
				break
			}
		}
		advantage = append(advantage, a)
	}
	return advantage
}

// slowWhiten is the definition of section 3.2.
func slowWhiten(x []float64) []float64 {
	if len(x) < 2 || slices.Max(x) == slices.Min(x) {
		return make([]float64, len(x))
	}
	var m, sq float64
	for _, v := range x {
		m += v / float64(len(x))
	}
	for _, v := range x {
		sq += (v - m) * (v - m)
	}
	out := make([]float64, len(x))
	for j, v := range x {
		out[j] = (v - m) / sqrt(sq/float64(len(x)-1)+1e-8)
	}
	return out
}

// compare checks c against numbers for the policy tokens of all trajectories, one after another.
func compare(t *rapid.T, c *rl.Credit, all [][]step, tokens, turns int, advantage, target []float64) {
	t.Helper()
	wantA, wantT, wantTurn, count := make([]float64, tokens), make([]float64, tokens), make([]float64, turns), make([]float64, turns)
	next := 0
	for _, list := range all {
		for _, s := range list {
			wantA[s.at] = advantage[next]
			wantTurn[s.turn] += advantage[next]
			count[s.turn]++
			if target != nil {
				wantT[s.at] = target[next]
			}
			next++
		}
	}
	vote := make([]bool, turns)
	for k, n := range count {
		if n > 0 {
			wantTurn[k] /= n
			vote[k] = true
		}
	}
	if target == nil {
		wantT = nil
	}
	want := rl.Credit{TokenAdvantage: wantA, TokenTarget: wantT, Advantage: wantTurn, Vote: vote}
	got := rl.Credit{TokenAdvantage: c.TokenAdvantage, TokenTarget: c.TokenTarget, Advantage: c.Advantage, Vote: c.Vote}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(rl.Credit{}), cmpopts.EquateApprox(1e-9, 1e-11)); diff != "" {
		// 1e-9: a small deviation magnifies rounding
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

// GAE is the weighted sum of later deltas over policy tokens, whitened; its target is V + A from before that, and V enters
// from policy tokens alone (a masked one has NaN). Reusing a result changes nothing.
func TestGAEOracle(t *testing.T) {
	var dst *rl.Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		unit := func(name string) *float64 { return new(float64(rapid.IntRange(0, 4).Draw(t, name)) / 4) }
		o := GAEOptions{
			Gamma: unit("gamma"), Lambda: unit("lambda"), TurnGamma: unit("turn gamma"),
			Truncation:     rapid.SampledFrom([]rl.Truncation{rl.TruncationDefault, rl.TruncationBootstrap, rl.TruncationTerminal}).Draw(t, "truncation"),
			InvalidPenalty: unit("penalty"),
			KLPenalty:      *unit("beta"),
			TurnRows:       rapid.Bool().Draw(t, "per turn"),
			Norm:           rl.Norm{Std: rapid.SampledFrom([]rl.Std{rl.StdDefault, rl.StdOff}).Draw(t, "std")},
		}
		all, tokens, turns := steps(batch, *o.InvalidPenalty, o.KLPenalty)
		var advantage, target []float64
		for i, list := range all {
			final := 0.0
			if b := batch[i]; b.Turns[len(b.Turns)-1].End == rl.Truncated && o.Truncation != rl.TruncationTerminal {
				final = *b.FinalValue
			}
			a := slowGAE(list, final, o)
			for j, s := range list {
				advantage, target = append(advantage, a[j]), append(target, a[j]+s.value)
			}
		}
		if target == nil {
			target = []float64{}
		}
		if o.Norm.Std != rl.StdOff {
			advantage = slowWhiten(advantage)
		}
		c, err := GAE(dst, batch, &o)
		if err != nil {
			t.Fatal(err)
		}
		dst = c
		compare(t, c, all, tokens, turns, advantage, target)
	})
}

// The return is the sum of later rewards, discounted by the number of policy tokens between; with a baseline it is the score
// less the mean score of the group.
func TestReinforceOracle(t *testing.T) {
	var dst *rl.Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		o := ReinforcePPOptions{GroupBaseline: rapid.Bool().Draw(t, "baseline"), Norm: rl.Norm{Std: rapid.SampledFrom([]rl.Std{rl.StdDefault, rl.StdOff}).Draw(t, "std")}}
		gamma := 1.0
		if !o.GroupBaseline {
			gamma = float64(rapid.IntRange(0, 4).Draw(t, "gamma")) / 4
			o.KLPenalty = float64(rapid.IntRange(0, 2).Draw(t, "beta")) / 4
			o.Gamma = &gamma
		}
		all, tokens, turns := steps(batch, .1, o.KLPenalty)
		score := func(list []step) (s float64) {
			for _, x := range list {
				s += x.reward
			}
			return s
		}
		var advantage []float64
		for i, list := range all {
			for j := range list {
				var a float64
				if o.GroupBaseline {
					sum, n := 0.0, 0.0
					for l := range all {
						if len(all[l]) > 0 && batch[l].Group == batch[i].Group {
							sum += score(all[l])
							n++
						}
					}
					if n > 1 {
						a = score(list) - sum/n
					}
				} else {
					for l := j; l < len(list); l++ {
						a += math.Pow(gamma, float64(l-j)) * list[l].reward
					}
				}
				advantage = append(advantage, a)
			}
		}
		if o.Norm.Std != rl.StdOff {
			if n := len(advantage); n > 1 { // differences that are rounding only are none, see rl.Norm
				if slices.Max(advantage)-slices.Min(advantage) < 1e-10 {
					return
				}
			}
			advantage = slowWhiten(advantage)
		}
		c, err := ReinforcePP(dst, batch, &o)
		if err != nil {
			t.Fatal(err)
		}
		dst = c
		compare(t, c, all, tokens, turns, advantage, nil)
	})
}

// The published layout is the GAE of rows with the whole score, here run as such.
func TestPublishedOracle(t *testing.T) {
	var dst *rl.Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		o := PPOPublishedOptions{Norm: rl.Norm{Std: rapid.SampledFrom([]rl.Std{rl.StdDefault, rl.StdOff}).Draw(t, "std")}}
		all, tokens, turns := steps(batch, 0, 0)
		var advantage, target []float64 = nil, []float64{}
		for i, list := range all {
			start := 0
			if len(list) > 0 {
				start = list[0].turn
				for k := 0; batch[i].Turns[k].Excluded || trainable(batch[i].Turns[k].Tokens) == 0; k++ {
					start--
				}
			}
			for j := range list {
				list[j].reward = 0
				if list[j].last {
					list[j].reward = batch[i].Score()
					if batch[i].Turns[list[j].turn-start].Invalid {
						list[j].reward -= .1
					}
				}
			}
			a := slowGAE(list, 77, GAEOptions{Gamma: new(1.), Lambda: new(1.), TurnRows: true})
			for j, s := range list {
				advantage, target = append(advantage, a[j]), append(target, a[j]+s.value)
			}
		}
		if o.Norm.Std != rl.StdOff {
			advantage = slowWhiten(advantage)
		}
		c, err := PPOPublished(dst, batch, &o)
		if err != nil {
			t.Fatal(err)
		}
		dst = c
		compare(t, c, all, tokens, turns, advantage, target)
	})
}

// With lambda 1 and no values GAE is the discounted reward-to-go; with lambda 0 it is the TD error; the target is the lambda
// return (property 1). For one token a turn, it is the GAE over turns.
func TestGAELaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		gamma, lambda := new(float64(rapid.IntRange(0, 4).Draw(t, "gamma"))/4), new(float64(rapid.IntRange(0, 4).Draw(t, "lambda"))/4)
		for i := range batch {
			for k := range batch[i].Turns {
				u := &batch[i].Turns[k]
				u.Excluded, u.Value = false, eighths(t, "value")
				u.Tokens = []rl.Token{{Trainable: true, Value: u.Value}}
			}
		}
		c, err := GAE(nil, batch, &GAEOptions{Gamma: gamma, Lambda: lambda, InvalidPenalty: new(0.), Norm: rl.Norm{Std: rl.StdOff}})
		want, err2 := rl.TurnGAE(nil, batch, &rl.TurnGAEOptions{Gamma: gamma, Lambda: lambda, InvalidPenalty: new(0.), Norm: rl.Norm{Std: rl.StdOff}})
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if diff := cmp.Diff(want.Advantage, c.TokenAdvantage, near); diff != "" {
			t.Fatalf("GAE over turns (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.ValueTarget, c.TokenTarget, near, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("targets (-want +got):\n%s", diff)
		}
		var y []float64
		for i := range batch {
			after, _ := batch[i].Bootstrap(rl.TruncationBootstrap)
			x := batch[i].LambdaReturns(nil, *gamma, *lambda, after)
			if batch[i].Excluded != "" {
				clear(x)
			}
			y = append(y, x...)
			for k := range batch[i].Turns {
				batch[i].Turns[k].Tokens[0].Value = 0
				batch[i].Turns[k].End = min(batch[i].Turns[k].End, rl.Terminated)
			}
		}
		if diff := cmp.Diff(y, c.TokenTarget, near, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("lambda returns (-want +got):\n%s", diff)
		}
		c, err = GAE(c, batch, &GAEOptions{Gamma: gamma, Norm: rl.Norm{Std: rl.StdOff}})
		g, err2 := ReinforcePP(nil, batch, &ReinforcePPOptions{Gamma: gamma, InvalidPenalty: new(0.), Norm: rl.Norm{Std: rl.StdOff}})
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if diff := cmp.Diff(g.TokenAdvantage, c.TokenAdvantage, near); diff != "" {
			t.Fatalf("reward-to-go (-want +got):\n%s", diff)
		}
	})
}

// estimators are those that the laws below are checked for.
func estimators() map[string]rl.Estimator {
	return map[string]rl.Estimator{
		"GAE":           gae(GAEOptions{Gamma: new(.75), Lambda: new(.5), KLPenalty: .5, Norm: rl.Norm{Std: rl.StdOff}}),
		"GAE per turn":  gae(GAEOptions{Gamma: new(.75), Lambda: new(.5), TurnRows: true, Norm: rl.Norm{Std: rl.StdOff}}),
		"GAE, white":    gae(GAEOptions{Gamma: new(.75), Lambda: new(.5), TurnGamma: new(.25)}),
		"REINFORCE++":   reinforce(ReinforcePPOptions{Gamma: new(.75)}),
		"baseline":      reinforce(ReinforcePPOptions{GroupBaseline: true}),
		"PPO published": published(PPOPublishedOptions{}),
	}
}

func mustCredit(t *rapid.T, e rl.Estimator, batch []rl.Trajectory) *rl.Credit {
	t.Helper()
	c, err := e(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Masked tokens, turns of masked tokens without a reward, and their contents change nothing, to the bit (property 2).
func TestPadding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		padded := slices.Clone(batch)
		for i := range padded {
			padded[i].Turns = slices.Clone(padded[i].Turns)
			for k := range padded[i].Turns {
				u := &padded[i].Turns[k]
				var tokens []rl.Token
				pad := func() {
					for range rapid.IntRange(0, 2).Draw(t, "pads") {
						tokens = append(tokens, rl.Token{ID: -7, LogProb: math.Inf(1), RefLogProb: nan, Value: nan})
					}
				}
				pad()
				for _, tok := range u.Tokens {
					tokens = append(tokens, tok)
					pad()
				}
				u.Tokens = tokens
			}
		}
		for name, e := range estimators() {
			want, got := mustCredit(t, e, batch), mustCredit(t, e, padded)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(rl.Credit{})); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// part returns the token advantages of trajectory i.
func part(c *rl.Credit, batch []rl.Trajectory, i int) []float64 {
	from := 0
	for _, b := range batch[:i] {
		from += trainableOf(&b)
	}
	return c.TokenAdvantage[from:][:trainableOf(&batch[i])]
}

// Other trajectories change no advantage that is not normalised; the order of trajectories changes none at all (property 3).
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		order := rapid.Permutation(seq(len(batch))).Draw(t, "order")
		var shuffled []rl.Trajectory
		for _, i := range order {
			shuffled = append(shuffled, batch[i])
		}
		for name, e := range estimators() {
			want, got := mustCredit(t, e, batch), mustCredit(t, e, shuffled)
			for j, i := range order {
				if diff := cmp.Diff(part(want, batch, i), part(got, shuffled, j), cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
					t.Fatalf("%s, trajectory %d (-want +got):\n%s", name, i, diff)
				}
				if name != "GAE" && name != "GAE per turn" {
					continue
				}
				alone := mustCredit(t, e, batch[i:i+1])
				if diff := cmp.Diff(part(want, batch, i), alone.TokenAdvantage); diff != "" {
					t.Fatalf("%s, trajectory %d alone (-want +got):\n%s", name, i, diff)
				}
			}
		}
	})
}

func seq(n int) []int {
	var s []int
	for i := range n {
		s = append(s, i)
	}
	return s
}

// Bootstrapping from 0 is the end; a terminated trajectory ignores its final value (property 4).
func TestTruncation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		zero, other := slices.Clone(batch), slices.Clone(batch)
		for i := range batch {
			zero[i].FinalValue = new(0.)
			if batch[i].Turns[len(batch[i].Turns)-1].End == rl.Terminated {
				other[i].FinalValue = new(nan)
			}
		}
		want := mustCredit(t, gae(GAEOptions{Truncation: rl.TruncationTerminal}), batch)
		if diff := cmp.Diff(want, mustCredit(t, gae(GAEOptions{}), zero), cmpopts.IgnoreUnexported(rl.Credit{})); diff != "" {
			t.Fatalf("final value 0 (-want +got):\n%s", diff)
		}
		want = mustCredit(t, gae(GAEOptions{}), batch)
		if diff := cmp.Diff(want, mustCredit(t, gae(GAEOptions{}), other), cmpopts.IgnoreUnexported(rl.Credit{})); diff != "" {
			t.Fatalf("ignored final value (-want +got):\n%s", diff)
		}
	})
}

// What does not vote has no effect on any other advantage (property 8).
func TestNonVoters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		changed := slices.Clone(batch)
		for i := range changed {
			voter := false
			for _, u := range batch[i].Turns {
				voter = voter || !u.Excluded && trainable(u.Tokens) > 0
			}
			if voter && batch[i].Excluded == "" {
				continue
			}
			changed[i].Turns = slices.Clone(changed[i].Turns)
			for k := range changed[i].Turns {
				changed[i].Turns[k].Reward = nan
			}
		}
		for name, e := range estimators() {
			if diff := cmp.Diff(mustCredit(t, e, batch), mustCredit(t, e, changed), cmpopts.IgnoreUnexported(rl.Credit{})); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// With gamma and lambda 1 and no values, the first policy token has the whole score: no reward is lost. All tokens of a turn
// share the score under a baseline, and repeating them changes it for no turn (property 11).
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		repeated := slices.Clone(batch)
		for i := range batch {
			repeated[i].Turns = slices.Clone(batch[i].Turns)
			for k := range batch[i].Turns {
				for j := range batch[i].Turns[k].Tokens {
					batch[i].Turns[k].Tokens[j].Value = 0
				}
				repeated[i].Turns[k].Tokens = slices.Repeat(batch[i].Turns[k].Tokens, rapid.IntRange(1, 3).Draw(t, "copies"))
			}
		}
		c := mustCredit(t, gae(GAEOptions{Norm: rl.Norm{Std: rl.StdOff}, Truncation: rl.TruncationTerminal}), batch)
		all, _, _ := steps(batch, 0, 0)
		for i, list := range all {
			if len(list) > 0 && math.Abs(c.TokenAdvantage[list[0].at]-batch[i].Score()) > 1e-12 {
				t.Fatalf("trajectory %d: first advantage %v, want the score %v", i, c.TokenAdvantage[list[0].at], batch[i].Score())
			}
		}
		e := reinforce(ReinforcePPOptions{GroupBaseline: true, Norm: rl.Norm{Std: rl.StdOff}})
		want, got := mustCredit(t, e, batch), mustCredit(t, e, repeated)
		if diff := cmp.Diff(want.Advantage, got.Advantage, near); diff != "" {
			t.Fatalf("repeated tokens (-want +got):\n%s", diff)
		}
		for _, list := range all {
			for _, s := range list {
				if want.TokenAdvantage[s.at] != want.Advantage[s.turn] {
					t.Fatalf("token %d has %v, its turn %v", s.at, want.TokenAdvantage[s.at], want.Advantage[s.turn])
				}
			}
		}
	})
}

// Nil options are the zero options, and the input stays as it was.
func TestDefaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		before := fmt.Sprint(batch)
		for name, pair := range map[string][2]rl.Estimator{
			"GAE": {func(d *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return GAE(d, b, nil) },
				gae(GAEOptions{Gamma: new(1.), Lambda: new(1.), TurnGamma: new(1.), Truncation: rl.TruncationBootstrap, InvalidPenalty: new(0.)})},
			"REINFORCE++": {func(d *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return ReinforcePP(d, b, nil) },
				reinforce(ReinforcePPOptions{Gamma: new(1.), InvalidPenalty: new(.1), Norm: rl.Norm{Std: rl.StdSample, Eps: new(1e-8), EpsPlace: rl.EpsInsideSqrt}})},
			"PPO published": {func(d *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return PPOPublished(d, b, nil) },
				published(PPOPublishedOptions{InvalidPenalty: new(.1), Norm: rl.Norm{Std: rl.StdSample, Eps: new(1e-8), EpsPlace: rl.EpsInsideSqrt}})},
		} {
			if diff := cmp.Diff(mustCredit(t, pair[0], batch), mustCredit(t, pair[1], batch), cmpopts.IgnoreUnexported(rl.Credit{})); diff != "" {
				t.Fatalf("%s (-nil +defaults):\n%s", name, diff)
			}
		}
		if after := fmt.Sprint(batch); after != before {
			t.Fatalf("the batch became %s, was %s", after, before)
		}
	})
}

// A reused result needs no memory.
func TestAllocations(t *testing.T) {
	batch := benchBatch(1000)
	batch[1].Turns[0].Excluded = true
	for name, e := range estimators() {
		c, err := e(nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() { c, err = e(c, batch) }); n != 0 || err != nil {
			t.Errorf("%s allocates %v times with a reused result, error %v", name, n, err)
		}
	}
}

// benchBatch returns trajectories of 10 turns of 20 tokens, half of them trainable.
func benchBatch(tokens int) []rl.Trajectory {
	batch := make([]rl.Trajectory, max(1, tokens/200))
	for i := range batch {
		batch[i].Turns = make([]rl.Turn, 10)
		for k := range batch[i].Turns {
			u := &batch[i].Turns[k]
			u.Reward = float64((i+k)%3) / 2
			u.Tokens = make([]rl.Token, 20)
			for j := range u.Tokens {
				u.Tokens[j] = rl.Token{ID: j, Trainable: j >= 10, Value: float64((i+j)%7) / 7}
			}
		}
		batch[i].Turns[9].End = rl.Terminated
	}
	return batch
}

func benchmark(b *testing.B, e rl.Estimator) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("tokens=%d", n), func(b *testing.B) {
			batch := benchBatch(n)
			c, err := e(nil, batch)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if c, err = e(c, batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/token")
		})
	}
}

func BenchmarkGAE(b *testing.B)          { benchmark(b, gae(GAEOptions{Gamma: new(.99), Lambda: new(.95)})) }
func BenchmarkReinforcePP(b *testing.B)  { benchmark(b, reinforce(ReinforcePPOptions{})) }
func BenchmarkPPOPublished(b *testing.B) { benchmark(b, published(PPOPublishedOptions{})) }

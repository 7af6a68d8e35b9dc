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

var (
	near   = cmpopts.EquateApprox(1e-12, 1e-12)
	digits = cmpopts.EquateApprox(0, 5.1e-7) // worked examples are rounded to six decimals
)

// turn returns a voting turn.
func turn(reward, value float64) Turn {
	return Turn{Tokens: []Token{{Trainable: true}}, Reward: reward, Value: value}
}

// episode returns a trajectory of voting turns. A nil value is all zeros.
func episode(end End, reward, value []float64) Trajectory {
	t := Trajectory{}
	for k, r := range reward {
		v := 0.0
		if value != nil {
			v = value[k]
		}
		t.Turns = append(t.Turns, turn(r, v))
	}
	t.Turns[len(t.Turns)-1].End = end
	return t
}

// scored returns a trajectory of one group with one voting turn.
func scored(group string, score float64) Trajectory {
	t := episode(Terminated, []float64{score}, nil)
	t.Group = group
	return t
}

func noFinal(t Trajectory) Trajectory { t.FinalValue = nil; return t }

func withFinal(t Trajectory, v float64) Trajectory { t.FinalValue = &v; return t }

func copyBatch(batch []Trajectory) []Trajectory {
	out := slices.Clone(batch)
	for i := range out {
		out[i].Turns = slices.Clone(out[i].Turns)
		for k := range out[i].Turns {
			out[i].Turns[k].Tokens = slices.Clone(out[i].Turns[k].Tokens)
		}
	}
	return out
}

func mean(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v / float64(len(x))
	}
	return s
}

// slowNorm is the definition, term by term.
func slowNorm(x []float64, std Std, eps float64) []float64 {
	out := make([]float64, len(x))
	if len(x) < 2 || slices.Max(x) == slices.Min(x) {
		return out
	}
	m := mean(x)
	var sq, top float64
	for _, v := range x {
		sq += (v - m) * (v - m)
		top = math.Max(top, math.Abs(v))
	}
	sigma := math.Sqrt(sq / float64(len(x)-1))
	if std == StdPopulation {
		sigma = math.Sqrt(sq / float64(len(x)))
	}
	for i, v := range x {
		out[i] = v - m
		if std != StdNone && sigma > 1e-8*math.Max(1, top) {
			out[i] /= sigma + eps
		}
	}
	return out
}

// anyFloat draws numbers with few distinct values, so that ties are common.
func anyFloat(scale float64) *rapid.Generator[float64] {
	return rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-8, 8).Draw(t, "eighths")) / 8 * scale })
}

// anyBatch draws trajectories of up to five turns with excluded and invalid turns, tokens that are not trained on, and
// exclusions.
func anyBatch(t *rapid.T) []Trajectory {
	batch := make([]Trajectory, rapid.IntRange(0, 9).Draw(t, "trajectories"))
	for i := range batch {
		b := &batch[i]
		b.ID = fmt.Sprint(i)
		b.Group = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "group")
		n := rapid.IntRange(1, 5).Draw(t, "turns")
		for range n {
			u := turn(anyFloat(2).Draw(t, "reward"), anyFloat(2).Draw(t, "value"))
			u.Invalid = rapid.IntRange(0, 4).Draw(t, "invalid") == 0
			u.Excluded = rapid.IntRange(0, 6).Draw(t, "excluded") == 0
			if rapid.IntRange(0, 6).Draw(t, "untrained") == 0 {
				u.Tokens[0].Trainable = false
			}
			b.Turns = append(b.Turns, u)
		}
		b.Turns[n-1].End = rapid.SampledFrom([]End{Terminated, Truncated}).Draw(t, "end")
		v := anyFloat(2).Draw(t, "final")
		b.FinalValue = &v
		if rapid.IntRange(0, 6).Draw(t, "out") == 0 {
			b.Excluded = "test"
		}
	}
	return batch
}

func mustTurnGAE(t testing.TB, batch []Trajectory, o *TurnGAEOptions) *Credit {
	t.Helper()
	c, err := TurnGAE(nil, batch, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustGRPO(t testing.TB, batch []Trajectory, o *GRPOOptions) *Credit {
	t.Helper()
	c, err := GRPO(nil, batch, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sameErr compares the sentinel in a FieldError by identity.
var sameErr = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Err" }, cmp.Comparer(func(a, b error) bool { return a == b }))

func TestValidate(t *testing.T) {
	good := func() Trajectory { return episode(Terminated, []float64{0, 1, 2}, nil) }
	tests := []struct {
		name   string
		change func(*Trajectory)
		want   *FieldError // of trajectory 1; nil means that the batch is valid
		reason string
	}{
		{"good", func(*Trajectory) {}, nil, "nothing is wrong"},
		{"no turns", func(b *Trajectory) { b.Turns = nil }, &FieldError{1, -1, "Turns", "empty", "at least one turn", nil},
			"2"},
		{"open", func(b *Trajectory) { b.Turns[2].End = Continue },
			&FieldError{1, 2, "End", "continue", "terminated or truncated on the last turn", ErrOpenTrajectory},
			"2: the last turn ends"},
		{"early end", func(b *Trajectory) { b.Turns[0].End = Truncated },
			&FieldError{1, 0, "End", "truncated", "continue on every turn but the last", ErrOpenTrajectory},
			"2: no other turn ends"},
		{"unknown end", func(b *Trajectory) { b.Turns[1].End = 9 },
			&FieldError{1, 1, "End", "End(9)", "Continue, Terminated or Truncated", nil}, "three ends exist"},
		{"NaN reward", func(b *Trajectory) { b.Turns[1].Reward = math.NaN() },
			&FieldError{1, 1, "Reward", "NaN", "a finite number", ErrNonFinite}, "2: never poisoned silently"},
		{"Inf value", func(b *Trajectory) { b.Turns[0].Value = math.Inf(1) },
			&FieldError{1, 0, "Value", "+Inf", "a finite number", ErrNonFinite}, "2"},
		{"NaN Q", func(b *Trajectory) { b.Turns[0].QValue = math.NaN() },
			&FieldError{1, 0, "QValue", "NaN", "a finite number", ErrNonFinite}, "2"},
		{"NaN log-prob", func(b *Trajectory) { b.Turns[0].Tokens[0].LogProb = math.NaN() },
			&FieldError{1, 0, "Tokens[0].LogProb", "NaN", "a finite number", ErrNonFinite}, "2"},
		{"NaN ref", func(b *Trajectory) { b.Turns[0].Tokens[0].RefLogProb = math.NaN() },
			&FieldError{1, 0, "Tokens[0].RefLogProb", "NaN", "a finite number", ErrNonFinite}, "2"},
		{"NaN token value", func(b *Trajectory) { b.Turns[0].Tokens[0].Value = math.NaN() },
			&FieldError{1, 0, "Tokens[0].Value", "NaN", "a finite number", ErrNonFinite}, "2"},
		{"probability", func(b *Trajectory) { b.Turns[0].Tokens[0].LogProb = .5 },
			&FieldError{1, 0, "Tokens[0].LogProb", "0.5", "a log-probability, at most 0", nil}, "a probability by mistake"},
		{"probability, ref", func(b *Trajectory) { b.Turns[2].Tokens[0].RefLogProb = 2e-3 },
			&FieldError{1, 2, "Tokens[0].RefLogProb", "0.002", "a log-probability, at most 0", nil}, "more than rounding"},
		{"rounding", func(b *Trajectory) { b.Turns[0].Tokens[0].LogProb = 1e-3 }, nil, "low precision"},
		{"NaN in a masked token", func(b *Trajectory) { b.Turns[0].Tokens[0] = Token{LogProb: math.NaN(), Value: math.Inf(-1)} }, nil,
			"2: masked contents are never read"},
		{"NaN token of an excluded turn", func(b *Trajectory) {
			b.Turns[0].Excluded = true
			b.Turns[0].Tokens[0].LogProb = math.NaN()
		}, nil, "2: an excluded turn is masked"},
		{"NaN final value after the end", func(b *Trajectory) { *b = withFinal(*b, math.NaN()) }, nil,
			"6.4: Terminated ignores it"},
		{"NaN final value after a cut", func(b *Trajectory) {
			*b = withFinal(*b, math.NaN())
			b.Turns[2].End = Truncated
		}, &FieldError{1, -1, "FinalValue", "NaN", "a finite number", ErrNonFinite}, "2"},
		{"no final value", func(b *Trajectory) { b.Turns[2].End = Truncated }, nil, "only bootstrapping needs it"},
		{"excluded", func(b *Trajectory) {
			*b = Trajectory{Excluded: "environment failed", Turns: []Turn{{Reward: math.NaN()}}}
		}, nil,
			"an excluded trajectory is not read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			batch := []Trajectory{good(), good()}
			tt.change(&batch[1])
			err := Validate(batch)
			var got *FieldError
			if err != nil && !errors.As(err, &got) {
				t.Fatalf("got %v, want a *FieldError", err)
			}
			if diff := cmp.Diff(tt.want, got, sameErr); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if tt.want != nil && tt.want.Err != nil && !errors.Is(err, tt.want.Err) {
				t.Errorf("%v does not wrap %v", err, tt.want.Err)
			}
		})
	}
	if err := Validate(nil); err != nil {
		t.Errorf("empty batch: %v", err)
	}
	err := &FieldError{3, 2, "Reward", "NaN", "a finite number", ErrNonFinite}
	if got, want := err.Error(), "rl: trajectory 3, turn 2: Reward is NaN, want a finite number"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNorm(t *testing.T) {
	tests := []struct {
		name   string
		x      []float64
		norm   norm
		want   []float64
		flat   bool
		reason string
	}{
		{"empty", nil, norm{std: StdSample}, nil, true, "n = 0"},
		{"one, zero", []float64{.7}, norm{std: StdSample}, []float64{0}, true, "case 13"},
		{"one, raw", []float64{.7}, norm{std: StdSample, singleton: SingletonRaw}, []float64{.7}, true, "case 5"},
		{"equal", []float64{.1, .1, .1}, norm{std: StdSample}, []float64{0, 0, 0}, true,
			"case 9: one pass gives variance -1.7e-18"},
		{"pads left out", []float64{1, 2, 3}, norm{std: StdPopulation}, []float64{-math.Sqrt(1.5), 0, math.Sqrt(1.5)}, false,
			"case 12"},
		{"population", []float64{1, 2, 3, 4}, norm{std: StdPopulation, eps: 1},
			[]float64{-1.5 / (math.Sqrt(1.25) + 1), -.5 / (math.Sqrt(1.25) + 1), .5 / (math.Sqrt(1.25) + 1), 1.5 / (math.Sqrt(1.25) + 1)}, false,
			"squared sum 5 over 4"},
		{"none", []float64{1, 2, 6}, norm{std: StdNone}, []float64{-2, -1, 3}, false, "centred"},
		{"off", []float64{1, 2, 6}, norm{std: StdOff}, []float64{1, 2, 6}, false, "as they are"},
		{"off, equal", []float64{2, 2}, norm{std: StdOff}, []float64{2, 2}, false, "equal numbers are not a centre"},
		{"off, one", []float64{.7}, norm{std: StdOff}, []float64{.7}, false, "compared with none"},
		{"residue", []float64{.95, .95, math.Nextafter(.95, 1)}, norm{std: StdSample, floor: 1e-8},
			[]float64{0, 0, math.Nextafter(.95, 1) - .95}, true,
			"case 8: a deviation of 6e-17 is rounding, and dividing by it gives 1"},
		{"no floor", []float64{0, 2e-200}, norm{std: StdSample}, []float64{-1e-200, 1e-200}, true,
			"squares underflow: sigma 0 never divides"},
		{"huge", []float64{-1e300, 1e300}, norm{std: StdSample, eps: 1e-6}, []float64{-math.Sqrt(.5), math.Sqrt(.5)}, false,
			"squares of these overflow"},
		{"huge mean", []float64{1.7e308, 1.7e308, 1.6e308}, norm{std: StdSample}, []float64{1 / math.Sqrt(3), 1 / math.Sqrt(3), -2 / math.Sqrt(3)},
			false, "the sum of these overflows"},
		{"huge difference", []float64{-1.7e308, -1.7e308, -1.7e308, 1.7e308}, norm{std: StdPopulation},
			[]float64{-1 / math.Sqrt(3), -1 / math.Sqrt(3), -1 / math.Sqrt(3), math.Sqrt(3)}, false, "a distance from the mean overflows"},
		{"huge deviation", []float64{-1.7e308, 1.7e308}, norm{std: StdSample}, []float64{-math.Sqrt(.5), math.Sqrt(.5)},
			false, "the deviation overflows"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := slices.Clone(tt.x)
			flat := tt.norm.apply(got, nil)
			tol := near
			if tt.name == "residue" {
				tol = cmpopts.EquateApprox(0, 1.2e-16) // one unit in the last place of .95
			}
			if diff := cmp.Diff(tt.want, got, tol); diff != "" || flat != tt.flat {
				t.Errorf("%s: flat %v, want %v (-want +got):\n%s", tt.reason, flat, tt.flat, diff)
			}
		})
	}
}

// Norm has mean 0 and, unless the deviation is below the floor, standard deviation sigma/(sigma+eps); equal input gives
// exact zeros; the result is finite for input of magnitude up to 1e100 (property 6).
func TestNormProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := math.Pow(10, float64(rapid.IntRange(-12, 100).Draw(t, "exponent")))
		x := rapid.SliceOfN(anyFloat(scale), 2, 12).Draw(t, "x")
		o := norm{std: rapid.SampledFrom([]Std{StdSample, StdPopulation, StdNone}).Draw(t, "std"), eps: 1e-6, floor: 1e-8}
		got := slices.Clone(x)
		flat := o.apply(got, nil)
		margin := 1e-12
		if flat || o.std == StdNone { // in units of x
			margin = 1e-14 * scale
		}
		if diff := cmp.Diff(slowNorm(x, o.std, o.eps), got, cmpopts.EquateApprox(1e-9, margin)); diff != "" {
			t.Fatalf("(-definition +got):\n%s", diff)
		}
		if slices.Max(x) == slices.Min(x) {
			if slices.ContainsFunc(got, func(v float64) bool { return v != 0 || math.Signbit(v) }) || !flat {
				t.Fatalf("equal input gives %v, flat %v", got, flat)
			}
			return
		}
		if slices.ContainsFunc(got, func(v float64) bool { return !finite(v) }) {
			t.Fatalf("not finite: %v", got)
		}
		if m := mean(got); math.Abs(m) > margin {
			t.Fatalf("mean %v of %v", m, got)
		}
	})
}

func TestTurnGAE(t *testing.T) {
	e1 := episode(Terminated, []float64{0, 0, 0, 10}, []float64{2, 3, 5, 8})
	e2 := copyBatch([]Trajectory{e1})[0]
	e2.Turns[1].Invalid = true
	e3 := withFinal(episode(Truncated, []float64{0, 0, 0, 0}, []float64{2, 3, 5, 8}), 7)
	target := []float64{8.017275, 8.725512, 9.405, 10}
	masked := copyBatch([]Trajectory{e1})[0]
	masked.Turns[2].Excluded = true
	untrained := copyBatch([]Trajectory{e1})[0]
	untrained.Turns[2].Tokens = []Token{{ID: 4, LogProb: math.NaN()}}
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *TurnGAEOptions
		want   []float64
		target []float64
		reason string
	}{
		{"raw", []Trajectory{e1}, &TurnGAEOptions{Norm: Norm{Std: StdOff}}, []float64{6.017275, 5.725512, 4.405, 2}, target, "E1"},
		{"default", []Trajectory{e1}, nil, []float64{.933558, .749560, -.083211, -1.599907}, target, "E1, population"},
		{"sample", []Trajectory{e1}, &TurnGAEOptions{Norm: Norm{Std: StdSample}}, []float64{.808485, .649138, -.072063, -1.385560}, target,
			"E1, sample"},
		{"centred", []Trajectory{e1}, &TurnGAEOptions{Norm: Norm{Std: StdNone}}, []float64{1.480328, 1.188566, -.131947, -2.536947}, target,
			"E1 less its mean 4.536947"},
		{"invalid", []Trajectory{e2}, nil, []float64{.960379, .710440, -.068231, -1.602589}, target, "E2"},
		{"invalid, raw", []Trajectory{e2}, &TurnGAEOptions{Norm: Norm{Std: StdOff}}, []float64{6.017275, 5.625512, 4.405, 2}, target,
			"E2"},
		{"bootstrap", []Trajectory{e3}, &TurnGAEOptions{Norm: Norm{Std: StdOff}}, []float64{3.554717, 2.996917, 1.381625, -1.35}, nil,
			"E3"},
		{"terminal", []Trajectory{noFinal(e3)}, &TurnGAEOptions{Norm: Norm{Std: StdOff}, Truncation: TruncationTerminal}, []float64{-1.333644, -2.41955, -4.62, -8}, nil,
			"E3"},
		{"drop", []Trajectory{noFinal(e3), e1}, &TurnGAEOptions{Norm: Norm{Std: StdOff}, Truncation: TruncationDrop},
			[]float64{0, 0, 0, 0, 6.017275, 5.725512, 4.405, 2}, append([]float64{0, 0, 0, 0}, target...),
			"3.1: the trajectory is excluded"},
		{"terminal value unused", []Trajectory{withFinal(episode(Terminated, []float64{1, 1, 1}, []float64{2, 2, 2}), 50)},
			&TurnGAEOptions{Gamma: new(.99), Lambda: new(0.0), Norm: Norm{Std: StdOff}}, []float64{.98, .98, -1}, nil,
			"case 14: the last A is r - V = -1"},
		{"truncation is no end", []Trajectory{withFinal(episode(Truncated, []float64{0, 0, 0}, []float64{.5, .5, .5}), .9)},
			&TurnGAEOptions{Gamma: new(.99), Norm: Norm{Std: StdOff}}, []float64{.336153, .362736, .391}, nil, "case 15"},
		{"returns before zeroing", []Trajectory{episode(Terminated, []float64{1.5}, []float64{1})}, nil, []float64{0}, []float64{1.5},
			"case 16: A .5 and V 1 give 1.5, whatever the norm does to A"},
		{"excluded turn", []Trajectory{masked}, &TurnGAEOptions{Norm: Norm{Std: StdOff}}, []float64{6.017275, 5.725512, 0, 2}, target,
			"2: stays in the sweep, weight 0"},
		{"turn without trainable token", []Trajectory{untrained}, &TurnGAEOptions{Norm: Norm{Std: StdOff}}, []float64{6.017275, 5.725512, 0, 2}, target,
			"2: has no vote"},
		{"norm over voters", []Trajectory{masked}, nil, []float64{.785371, .625840, 0, -1.411211}, target,
			"mean 4.580929, population deviation 1.828875 of three"},
		{"one turn", []Trajectory{scored("", 3)}, nil, []float64{0}, []float64{3}, "norm 1"},
		{"one turn, raw", []Trajectory{scored("", 3)}, &TurnGAEOptions{Norm: Norm{Singleton: SingletonRaw}}, []float64{3}, nil,
			"norm 1"},
		{"one turn, off", []Trajectory{scored("", 3)}, &TurnGAEOptions{Norm: Norm{Std: StdOff, Singleton: SingletonError}},
			[]float64{3}, nil, "nothing is compared"},
		{"empty batch", nil, nil, []float64{}, []float64{}, "nothing to do"},
		{"residue bootstraps from outside", []Trajectory{{Excluded: "x", Turns: []Turn{{Value: 100}}}, e1}, &TurnGAEOptions{Norm: Norm{Std: StdOff}},
			[]float64{0, 6.017275, 5.725512, 4.405, 2}, append([]float64{0}, target...),
			"case 2 for turns: an excluded neighbour is never read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := copyBatch(tt.batch)
			c := mustTurnGAE(t, tt.batch, tt.o)
			if diff := cmp.Diff(tt.want, c.Advantage, digits); diff != "" {
				t.Errorf("%s: advantage (-want +got):\n%s", tt.reason, diff)
			}
			if tt.target != nil {
				if diff := cmp.Diff(tt.target, c.ValueTarget, digits); diff != "" {
					t.Errorf("%s: target (-want +got):\n%s", tt.reason, diff)
				}
			}
			if diff := cmp.Diff(before, tt.batch, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("the batch changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoVote(t *testing.T) {
	bare := episode(Terminated, []float64{100}, nil)
	bare.Turns[0].Tokens = nil
	nan := episode(Terminated, []float64{math.NaN()}, nil)
	batch := []Trajectory{episode(Terminated, []float64{1}, nil), bare, nan, {Excluded: "crashed"}, episode(Truncated, []float64{2}, nil)}
	c := mustTurnGAE(t, batch, &TurnGAEOptions{Truncation: TruncationDrop, ExcludeNonFinite: true})
	if diff := cmp.Diff([]string{"", "no trainable token", "non-finite", "crashed", "truncated"}, c.NoVote); diff != "" {
		t.Errorf("TurnGAE (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{1, 100, 0, 0}, c.ValueTarget); diff != "" {
		t.Errorf("a turn without trainable tokens still has a value to learn (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, false, false, false}, c.Vote); diff != "" {
		t.Errorf("votes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 3, 4}, c.Start); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
	c = mustGRPO(t, batch, &GRPOOptions{ExcludeNonFinite: true, Norm: Norm{Std: StdNone}})
	if diff := cmp.Diff([]string{"", "no trainable token", "non-finite", "crashed", ""}, c.NoVote); diff != "" {
		t.Errorf("GRPO (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{-.5, 0, 0, .5}, c.Advantage); diff != "" || c.ValueTarget != nil {
		t.Errorf("GRPO: targets %v (-want +got):\n%s", c.ValueTarget, diff)
	}
}

// TokenAdvantages follows a plain walk over the trainable tokens, whoever votes.
func TestTokenAdvantages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		for i := range batch {
			for k := range batch[i].Turns {
				for range rapid.IntRange(0, 2).Draw(t, "more") {
					tok := Token{Trainable: rapid.Bool().Draw(t, "trainable")}
					batch[i].Turns[k].Tokens = append(batch[i].Turns[k].Tokens, tok)
				}
			}
		}
		c, err := TurnGAE(nil, batch, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{}
		for i, b := range batch {
			for k, u := range b.Turns {
				trainable := 0
				for _, tok := range u.Tokens {
					if tok.Trainable {
						want = append(want, c.Advantage[c.Start[i]+k])
						trainable++
					}
				}
				if votes := trainable > 0 && !u.Excluded && b.Excluded == ""; votes != c.Vote[c.Start[i]+k] {
					t.Fatalf("trajectory %d, turn %d: vote %v", i, k, !votes)
				}
				if !c.Vote[c.Start[i]+k] && c.Advantage[c.Start[i]+k] != 0 {
					t.Fatalf("trajectory %d, turn %d has no vote and advantage %v", i, k, c.Advantage[c.Start[i]+k])
				}
			}
		}
		if diff := cmp.Diff(want, append([]float64{}, c.TokenAdvantages([]float64{7, 7}, batch)...)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestTokenAdvantagesOfAnotherBatch(t *testing.T) {
	two, three := episode(Terminated, []float64{1, 2}, nil), episode(Terminated, []float64{1, 2, 3}, nil)
	c := mustTurnGAE(t, []Trajectory{two, three}, nil)
	short := &Credit{Start: c.Start, Advantage: c.Advantage[:4]}
	for _, tt := range []struct {
		name   string
		c      *Credit
		batch  []Trajectory
		reason string
	}{
		{"fewer", c, []Trajectory{two}, "a trajectory less"},
		{"more", c, []Trajectory{two, three, two}, "a trajectory more"},
		{"swapped", c, []Trajectory{three, two}, "as many turns, other places"},
		{"longer", c, []Trajectory{two, two}, "a turn less"},
		{"nil", nil, []Trajectory{two}, "no credit"},
		{"zero", &Credit{}, []Trajectory{two}, "no credit"},
		{"short", short, []Trajectory{two, three}, "made by hand"},
	} {
		got := tt.c.TokenAdvantages(nil, tt.batch)
		if len(got) < 2 || slices.ContainsFunc(got, finite) {
			t.Errorf("%s (%s): got %v, want NaN for each token", tt.name, tt.reason, got)
		}
	}
}

func TestEstimatorErrors(t *testing.T) {
	good := episode(Terminated, []float64{1, 2}, []float64{3, 4})
	cut := episode(Truncated, []float64{1, 2}, []float64{3, 4})
	open := episode(Continue, []float64{1}, nil)
	bad := copyBatch([]Trajectory{good})[0]
	bad.Turns[1].Value = math.Inf(-1)
	nan := copyBatch([]Trajectory{good})[0]
	nan.Turns[1].Reward = math.NaN()
	big := episode(Terminated, []float64{1.7e308, 1.7e308}, nil)
	low := episode(Terminated, []float64{-1e308}, nil)
	low.Turns[0].Invalid = true
	far := episode(Terminated, []float64{1.7e308, 1e308}, []float64{1e308, 0})
	apart := []Trajectory{scored("g", -1.7e308), scored("g", -1.7e308), scored("g", -1.7e308), scored("g", 1.7e308)}
	tests := []struct {
		name   string
		err    func() error
		is     error
		text   string
		reason string
	}{
		{"no final value", gaeError([]Trajectory{good, cut}, nil), ErrNoFinalValue, "trajectory 1: FinalValue is nil",
			"3.1"},
		{"open", gaeError([]Trajectory{good, open}, nil), ErrOpenTrajectory, "trajectory 1, turn 0: End is continue", "2"},
		{"open", grpoError([]Trajectory{open}, nil), ErrOpenTrajectory, "trajectory 0, turn 0", "2"},
		{"value", gaeError([]Trajectory{bad}, nil), ErrNonFinite, "trajectory 0, turn 1: Value is -Inf", "2"},
		{"value, gamma 0", gaeError([]Trajectory{bad}, &TurnGAEOptions{Gamma: new(0.0)}), ErrNonFinite, "turn 1: Value",
			"0*Inf must not hide it"},
		{"final value", gaeError([]Trajectory{withFinal(cut, math.NaN())}, nil), ErrNonFinite, "trajectory 0: FinalValue is NaN",
			"2"},
		{"reward", grpoError([]Trajectory{good, nan}, nil), ErrNonFinite, "trajectory 1, turn 1: Reward is NaN", "2"},
		{"overflow", grpoError([]Trajectory{big}, nil), ErrNonFinite, "the score is +Inf",
			"finite rewards whose sum is not"},
		{"overflow", gaeError([]Trajectory{big}, &TurnGAEOptions{Gamma: new(1.0)}), ErrNonFinite, "turn 0: the advantage",
			"as above"},
		{"penalty overflow", gaeError([]Trajectory{low, good}, &TurnGAEOptions{InvalidPenalty: new(1e308)}), ErrNonFinite,
			"trajectory 0, turn 0: the advantage is -Inf", "a finite advantage less a finite penalty"},
		{"target overflow", gaeError([]Trajectory{far}, &TurnGAEOptions{Gamma: new(1.0), Lambda: new(1.0)}), ErrNonFinite, "turn 0: the value target is", "V + A"},
		{"centred overflow", gaeError(apart, &TurnGAEOptions{Norm: Norm{Std: StdNone}}), ErrNonFinite, "a centred advantage is +Inf", "a mean of -8.5e307"},
		{"centred overflow", grpoError(apart, &GRPOOptions{Norm: Norm{Std: StdNone}}), ErrNonFinite, "trajectory 3: the centred score is +Inf", "as above"},
		{"singleton", grpoError([]Trajectory{good}, &GRPOOptions{Norm: Norm{Singleton: SingletonError}}), nil, `trajectory 0: Group is "" with one voter`,
			"norm 1"},
		{"gamma", gaeError(nil, &TurnGAEOptions{Gamma: new(1.1)}), nil, "TurnGAEOptions.Gamma is 1.1", "4"},
		{"gamma NaN", gaeError(nil, &TurnGAEOptions{Gamma: new(math.NaN())}), nil, "TurnGAEOptions.Gamma is NaN", "4"},
		{"lambda", gaeError(nil, &TurnGAEOptions{Lambda: new(-.1)}), nil, "TurnGAEOptions.Lambda is -0.1", "4"},
		{"penalty", gaeError(nil, &TurnGAEOptions{InvalidPenalty: new(-1.0)}), nil, "TurnGAEOptions.InvalidPenalty", "4"},
		{"truncation", gaeError(nil, &TurnGAEOptions{Truncation: 4}), nil, "TurnGAEOptions.Truncation is 4", "three values"},
		{"std", gaeError(nil, &TurnGAEOptions{Norm: Norm{Std: 5}}), nil, "TurnGAEOptions.Norm.Std is 5", "five values"},
		{"eps", gaeError(nil, &TurnGAEOptions{Norm: Norm{Eps: new(-1.0)}}), nil, "TurnGAEOptions.Norm.Eps", ">= 0"},
		{"penalty", grpoError(nil, &GRPOOptions{InvalidPenalty: new(math.Inf(1))}), nil, "GRPOOptions.InvalidPenalty", "4"},
		{"floor", grpoError(nil, &GRPOOptions{Norm: Norm{StdFloor: new(-1.0)}}), nil, "GRPOOptions.Norm.StdFloor", "4"},
		{"one turn", gaeError([]Trajectory{scored("", 1)}, &TurnGAEOptions{Norm: Norm{Singleton: SingletonError}}), nil,
			"rl: the batch is one voting turn, want two or more", "norm 1"},
		{"singleton", gaeError(nil, &TurnGAEOptions{Norm: Norm{Singleton: 3}}), nil, "TurnGAEOptions.Norm.Singleton is 3",
			"three values"},
		{"singleton", grpoError(nil, &GRPOOptions{Norm: Norm{Singleton: 3}}), nil, "GRPOOptions.Norm.Singleton is 3", "three values"},
	}
	for _, tt := range tests {
		err := tt.err()
		if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.HasPrefix(err.Error(), "rl: ") || (tt.is != nil && !errors.Is(err, tt.is)) {
			t.Errorf("%s (%s): got %v, want %q", tt.name, tt.reason, err, tt.text)
		}
	}
}

func gaeError(batch []Trajectory, o *TurnGAEOptions) func() error {
	return func() error { _, err := TurnGAE(nil, batch, o); return err }
}

func grpoError(batch []Trajectory, o *GRPOOptions) func() error {
	return func() error { _, err := GRPO(nil, batch, o); return err }
}

// slowGAE is the sum of discounted errors, turn by turn, with all options but those of the norm.
func slowGAE(b *Trajectory, gamma, lambda, penalty float64, mode Truncation) (advantage, target []float64) {
	n := len(b.Turns)
	advantage, target = make([]float64, n), make([]float64, n)
	if b.Excluded != "" || mode == TruncationDrop && b.Turns[n-1].End == Truncated {
		return advantage, target
	}
	after := func(k int) float64 {
		switch {
		case k+1 < n:
			return b.Turns[k+1].Value
		case b.Turns[k].End == Truncated && mode == TruncationBootstrap:
			return *b.FinalValue
		}
		return 0
	}
	for k := range n {
		for j := k; j < n; j++ {
			advantage[k] += math.Pow(gamma*lambda, float64(j-k)) * (b.Turns[j].Reward + gamma*after(j) - b.Turns[j].Value)
		}
		target[k] = b.Turns[k].Value + advantage[k]
		if u := b.Turns[k]; u.Excluded || !u.Tokens[0].Trainable {
			advantage[k] = 0
		} else if u.Invalid {
			advantage[k] -= penalty
		}
	}
	return advantage, target
}

// TurnGAE equals the sum of discounted errors; a batch gives what its trajectories give alone, in any order (properties 1,
// 3, 4).
func TestTurnGAEAgainstSum(t *testing.T) {
	var reused *Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		unit := rapid.SampledFrom([]float64{0, .3, .95, 1})
		gamma, lambda := unit.Draw(t, "gamma"), unit.Draw(t, "lambda")
		mode := rapid.SampledFrom([]Truncation{TruncationBootstrap, TruncationTerminal, TruncationDrop}).Draw(t, "truncation")
		o := &TurnGAEOptions{Gamma: &gamma, Lambda: &lambda, Truncation: mode, Norm: Norm{Std: StdOff}}
		c, err := TurnGAE(reused, batch, o)
		if err != nil {
			t.Fatal(err)
		}
		reused = c
		var packed []float64
		for i := range batch {
			advantage, target := slowGAE(&batch[i], gamma, lambda, .1, mode)
			from, to := c.Start[i], c.Start[i+1]
			if diff := cmp.Diff(advantage, c.Advantage[from:to], near); diff != "" {
				t.Fatalf("advantage of trajectory %d (-want +got):\n%s", i, diff)
			}
			if diff := cmp.Diff(target, c.ValueTarget[from:to], near); diff != "" {
				t.Fatalf("target of trajectory %d (-want +got):\n%s", i, diff)
			}
			for k, u := range batch[i].Turns {
				if c.NoVote[i] == "" && !u.Excluded && u.Tokens[0].Trainable {
					packed = append(packed, advantage[k])
				}
			}
		}
		raw := slices.Clone(c.Advantage)
		o.Norm = Norm{}
		c = mustTurnGAE(&testing.T{}, batch, o)
		packed = slowNorm(packed, StdPopulation, 1e-8)
		for i := range batch {
			for k, u := range batch[i].Turns {
				want := 0.0
				if c.NoVote[i] == "" && !u.Excluded && u.Tokens[0].Trainable {
					want, packed = packed[0], packed[1:]
				}
				if got := c.Advantage[c.Start[i]+k]; math.Abs(got-want) > 1e-9 {
					t.Fatalf("normalised: trajectory %d turn %d: got %v, want %v (raw %v)", i, k, got, want, raw)
				}
			}
		}
	})
}

// With lambda 1 and no critic the advantage is the discounted reward-to-go, with lambda 0 the one-step error; the
// target is the lambda-return r + gamma*((1-lambda)*next + lambda*target of the next turn) (property 1).
func TestLambda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reward := rapid.SliceOfN(anyFloat(3), 1, 8).Draw(t, "reward")
		value := rapid.SliceOfN(anyFloat(3), len(reward), len(reward)).Draw(t, "value")
		gamma, lambda := rapid.Float64Range(0, 1).Draw(t, "gamma"), rapid.Float64Range(0, 1).Draw(t, "lambda")
		final := anyFloat(3).Draw(t, "final")
		get := func(lambda float64, b Trajectory) *Credit {
			c, err := TurnGAE(nil, []Trajectory{b}, &TurnGAEOptions{Gamma: &gamma, Lambda: &lambda, Norm: Norm{Std: StdOff}})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		togo := get(1, episode(Terminated, reward, nil)).Advantage
		step := get(0, episode(Terminated, reward, value)).Advantage
		target := get(lambda, withFinal(episode(Truncated, reward, value), final)).ValueTarget
		sum, next, ahead := 0.0, 0.0, final
		lambdaReturn := final
		for k := len(reward) - 1; k >= 0; k-- {
			sum = reward[k] + gamma*sum
			lambdaReturn = reward[k] + gamma*((1-lambda)*ahead+lambda*lambdaReturn)
			want := []float64{sum, reward[k] + gamma*next - value[k], lambdaReturn}
			if diff := cmp.Diff(want, []float64{togo[k], step[k], target[k]}, near); diff != "" {
				t.Fatalf("turn %d: reward-to-go, error, lambda-return (-want +got):\n%s", k, diff)
			}
			next, ahead = value[k], value[k]
		}
	})
}

// Bootstrap from 0 equals Terminal, and Terminated ignores FinalValue (property 4).
func TestBootstrapZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		for i := range batch {
			batch[i].FinalValue = new(0.0)
		}
		a, err := TurnGAE(nil, batch, &TurnGAEOptions{Truncation: TruncationBootstrap})
		b, err2 := TurnGAE(nil, batch, &TurnGAEOptions{Truncation: TruncationTerminal})
		for i := range batch {
			u := &batch[i].Turns[len(batch[i].Turns)-1]
			if u.End == Truncated {
				u.End = Terminated
			}
			batch[i].FinalValue = new(1e9)
		}
		c, err3 := TurnGAE(nil, batch, nil)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]float64{a.Advantage, a.Advantage}, [][]float64{b.Advantage, c.Advantage}); diff != "" {
			t.Fatalf("(-bootstrap from 0 +terminal, terminated):\n%s", diff)
		}
	})
}

// Tokens that are not trained on, whatever they hold, and further trainable tokens of a turn that votes change nothing
// (properties 2, 11).
func TestTokensDoNotCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		more := copyBatch(batch)
		for i := range more {
			for k := range more[i].Turns {
				u := &more[i].Turns[k]
				noise := Token{ID: -1, LogProb: math.NaN(), Value: math.Inf(1)}
				u.Tokens = slices.Insert(u.Tokens, rapid.IntRange(0, len(u.Tokens)).Draw(t, "at"), noise)
				if u.Tokens[0].Trainable {
					u.Tokens = append(u.Tokens, u.Tokens[0])
				}
			}
		}
		for _, estimate := range []func([]Trajectory) (*Credit, error){
			func(b []Trajectory) (*Credit, error) { return TurnGAE(nil, b, nil) },
			func(b []Trajectory) (*Credit, error) { return GRPO(nil, b, nil) },
		} {
			want, err := estimate(batch)
			got, err2 := estimate(more)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Credit{})); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}

// Permuting trajectories permutes the results (property 3).
func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		order := rapid.Permutation(indices(len(batch))).Draw(t, "order")
		shuffled := make([]Trajectory, len(batch))
		for to, from := range order {
			shuffled[to] = batch[from]
		}
		for _, estimate := range []func([]Trajectory) (*Credit, error){
			func(b []Trajectory) (*Credit, error) { return TurnGAE(nil, b, nil) },
			func(b []Trajectory) (*Credit, error) { return GRPO(nil, b, nil) },
		} {
			want, err := estimate(batch)
			got, err2 := estimate(shuffled)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			for to, from := range order {
				a, b := want.Advantage[want.Start[from]:want.Start[from+1]], got.Advantage[got.Start[to]:got.Start[to+1]]
				if diff := cmp.Diff(a, b, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
					t.Fatalf("trajectory %d (-want +got):\n%s", from, diff)
				}
			}
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestGRPO(t *testing.T) {
	group := func(key string, scores ...float64) (out []Trajectory) {
		for _, s := range scores {
			out = append(out, scored(key, s))
		}
		return out
	}
	bare := scored("g", 100)
	bare.Turns[0].Tokens = []Token{{}, {}}
	invalid := scored("g", 1)
	invalid.Turns[0].Invalid = true
	excludedInvalid := episode(Terminated, []float64{0, 1}, nil)
	excludedInvalid.Group = "g"
	excludedInvalid.Turns[0].Invalid, excludedInvalid.Turns[0].Excluded = true, true
	long := episode(Terminated, []float64{0, 0, 0, 0, 0, 0}, nil)
	long.Group = "g"
	short := episode(Terminated, []float64{0, 1}, nil)
	short.Group = "g"
	tests := []struct {
		name   string
		batch  []Trajectory
		o      *GRPOOptions
		want   []float64
		stats  [3]int // Groups, ZeroVariance, Singletons
		reason string
	}{
		{"sample", group("g", 1, 1, 1, 0, 0, 0, 0, 0), nil, []float64{1.207612, 1.207612, 1.207612, -.724567, -.724567, -.724567, -.724567, -.724567},
			[3]int{1, 0, 0}, "E6"},
		{"population", group("g", 1, 1, 1, 0, 0, 0, 0, 0), &GRPOOptions{Norm: Norm{Std: StdPopulation, Eps: new(0.0)}},
			[]float64{1.290994, 1.290994, 1.290994, -.774597, -.774597, -.774597, -.774597, -.774597}, [3]int{1, 0, 0},
			"E6"},
		{"none", group("g", 1, 1, 1, 0, 0, 0, 0, 0), &GRPOOptions{Norm: Norm{Std: StdNone}}, []float64{.625, .625, .625, -.375, -.375, -.375, -.375, -.375},
			[3]int{1, 0, 0}, "E6"},
		{"eps 1e-4", group("g", 1, 0), &GRPOOptions{Norm: Norm{Eps: new(1e-4)}}, []float64{.707006795, -.707006795}, [3]int{1, 0, 0},
			"E7"},
		{"eps 1e-6", group("g", 1, 0), nil, []float64{.707105781, -.707105781}, [3]int{1, 0, 0}, "E7"},
		{"eps 1e-8", group("g", 1, 0), &GRPOOptions{Norm: Norm{Eps: new(1e-8)}}, []float64{.707106771, -.707106771}, [3]int{1, 0, 0},
			"E7"},
		{"one", group("g", 4), nil, []float64{0}, [3]int{0, 0, 1}, "E7, case 5"},
		{"one, raw", group("g", 4), &GRPOOptions{Norm: Norm{Singleton: SingletonRaw}}, []float64{4}, [3]int{0, 0, 1}, "case 5"},
		{"off", append(group("a", 1, 3), group("b", 5, 5)...), &GRPOOptions{Norm: Norm{Std: StdOff}}, []float64{1, 3, 5, 5},
			[3]int{2, 0, 0}, "scores as they are: equal ones teach too"},
		{"one, off", group("g", 4), &GRPOOptions{Norm: Norm{Std: StdOff, Singleton: SingletonError}}, []float64{4}, [3]int{0, 0, 1},
			"nothing is compared"},
		{"unequal groups", append(group("a", 1, 3), group("b", 5)...), nil, []float64{-.707106, .707106, 0}, [3]int{1, 0, 1},
			"case 6"},
		{"three groups", slices.Concat(group("a", 1, 2, 3, 4), group("b", 10, 12), group("c", 5, 6, 7)), &GRPOOptions{Norm: Norm{Std: StdNone}},
			[]float64{-1.5, -.5, .5, 1.5, -1, 1, -1, 0, 1}, [3]int{3, 0, 0}, "case 7: group means 0"},
		{"scattered", []Trajectory{scored("a", 1), scored("b", 10), scored("a", 3), scored("", 7), scored("b", 12)}, &GRPOOptions{Norm: Norm{Std: StdNone}},
			[]float64{-1, -1, 1, 0, 1}, [3]int{2, 0, 1}, "groups by key, not by position"},
		{"residue", group("g", 0.30000000000000004, .3, .3, .3), nil, []float64{0, 0, 0, 0}, [3]int{1, 1, 0},
			"case 8: rounding residue"},
		{"equal", group("g", .1, .1, .1), nil, []float64{0, 0, 0}, [3]int{1, 1, 0}, "case 9"},
		{"NaN excluded", group("g", 1, math.NaN(), math.NaN(), math.NaN()), &GRPOOptions{ExcludeNonFinite: true}, []float64{0, 0, 0, 0},
			[3]int{0, 0, 1}, "case 10"},
		{"no trainable token", []Trajectory{bare, scored("g", 1)}, &GRPOOptions{Norm: Norm{Std: StdNone}}, []float64{0, 0}, [3]int{0, 0, 1},
			"case 11"},
		{"per trajectory", []Trajectory{short, long}, &GRPOOptions{Norm: Norm{Std: StdNone}}, []float64{.5, .5, -.5, -.5, -.5, -.5, -.5, -.5}, [3]int{1, 0, 0},
			"case 20: weighing turns gives .75 and -.25"},
		{"prompts", append(group("a", 1, 1), group("b", 0, 0)...), nil, []float64{0, 0, 0, 0}, [3]int{2, 2, 0}, "case 21"},
		{"penalty", []Trajectory{invalid, scored("g", 1)}, &GRPOOptions{Norm: Norm{Std: StdNone}}, []float64{-.05, .05}, [3]int{1, 0, 0},
			"Z = 1 - .1 against 1"},
		{"no penalty", []Trajectory{invalid, scored("g", 1)}, &GRPOOptions{InvalidPenalty: new(0.0)}, []float64{0, 0}, [3]int{1, 1, 0},
			"equal scores"},
		{"excluded turn", []Trajectory{excludedInvalid, scored("g", 0)}, &GRPOOptions{Norm: Norm{Std: StdNone}}, []float64{0, .5, -.5}, [3]int{1, 0, 0},
			"its reward counts, its penalty does not, and it gets 0"},
		{"empty", nil, nil, []float64{}, [3]int{}, "nothing to do"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mustGRPO(t, tt.batch, tt.o)
			if diff := cmp.Diff(tt.want, c.Advantage, digits); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if got := [3]int{c.Groups, c.ZeroVariance, c.Singletons}; got != tt.stats {
				t.Errorf("%s: groups, zero variance, singletons %v, want %v", tt.reason, got, tt.stats)
			}
		})
	}
}

// GRPO equals its definition group by group, with scores of non-voters without effect (property 8), and with StdNone
// and by the standard deviation the advantages of voters sum to 0 in each group (property 9).
func TestGRPOAgainstDefinition(t *testing.T) {
	var reused *Credit
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		std := rapid.SampledFrom([]Std{StdSample, StdPopulation, StdNone}).Draw(t, "std")
		c, err := GRPO(reused, batch, &GRPOOptions{Norm: Norm{Std: std}})
		if err != nil {
			t.Fatal(err)
		}
		reused = c
		want := make([]float64, len(c.Advantage))
		for _, key := range []string{"", "a", "b"} {
			var members []int
			var scores []float64
			for i := range batch {
				if batch[i].Group != key || batch[i].Excluded != "" || !slices.ContainsFunc(batch[i].Turns, trainsTurn) {
					continue
				}
				z := batch[i].Score()
				for _, u := range batch[i].Turns {
					if u.Invalid && !u.Excluded {
						z -= .1
					}
				}
				members, scores = append(members, i), append(scores, z)
			}
			a := slowNorm(scores, std, 1e-6)
			if m := mean(a); math.Abs(m) > 1e-9 {
				t.Fatalf("group %q sums to %v", key, m)
			}
			for n, i := range members {
				for k, u := range batch[i].Turns {
					if trainsTurn(u) {
						want[c.Start[i]+k] = a[n]
					}
				}
			}
		}
		if diff := cmp.Diff(want, c.Advantage, cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		got := slices.Clone(c.Advantage)
		for i := range batch {
			if c.NoVote[i] != "" {
				batch[i].Turns[0].Reward = 1e6
			}
		}
		again, err := GRPO(nil, batch, &GRPOOptions{Norm: Norm{Std: std}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again.Advantage); diff != "" {
			t.Fatalf("scores of non-voters matter (-want +got):\n%s", diff)
		}
		if a, b := [3]int{c.Groups, c.ZeroVariance, c.Singletons}, [3]int{again.Groups, again.ZeroVariance, again.Singletons}; a != b {
			t.Fatalf("groups, zero variance, singletons are %v in reused memory, else %v", a, b)
		}
	})
}

func trainsTurn(u Turn) bool { return !u.Excluded && u.Tokens[0].Trainable }

// Adding a constant to the scores of a group changes nothing; scaling by k > 0 scales StdNone by k and leaves the
// others within the effect of eps (property 5).
func TestGRPOShiftScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(anyFloat(4), 2, 8).Draw(t, "scores")
		shift, k := rapid.Float64Range(-1e3, 1e3).Draw(t, "shift"), rapid.Float64Range(.5, 100).Draw(t, "k")
		std := rapid.SampledFrom([]Std{StdSample, StdPopulation, StdNone}).Draw(t, "std")
		get := func(f func(float64) float64) []float64 {
			var batch []Trajectory
			for _, s := range scores {
				batch = append(batch, scored("g", f(s)))
			}
			c, err := GRPO(nil, batch, &GRPOOptions{Norm: Norm{Std: std}})
			if err != nil {
				t.Fatal(err)
			}
			return c.Advantage
		}
		base := get(func(s float64) float64 { return s })
		shifted := get(func(s float64) float64 { return s + shift })
		if diff := cmp.Diff(base, shifted, cmpopts.EquateApprox(1e-9, 1e-12*1e3)); diff != "" {
			t.Fatalf("shift (-want +got):\n%s", diff)
		}
		scaled := get(func(s float64) float64 { return s * k })
		if std == StdNone {
			for i := range base {
				base[i] *= k
			}
		}
		if diff := cmp.Diff(base, scaled, cmpopts.EquateApprox(2e-5, 1e-9)); diff != "" { // eps over the smallest deviation, .16
			t.Fatalf("scale (-want +got):\n%s", diff)
		}
	})
}

func benchBatch(trajectories, turns int) []Trajectory {
	rng := rand.New(rand.NewPCG(1, 2))
	batch := make([]Trajectory, trajectories)
	for i := range batch {
		reward, value := make([]float64, turns), make([]float64, turns)
		for k := range reward {
			reward[k], value[k] = rng.Float64(), rng.Float64()
		}
		batch[i] = withFinal(episode(Truncated, reward, value), .5)
		batch[i].Group = fmt.Sprint("group ", i/8)
	}
	return batch
}

// A result that is passed in again costs no memory.
func TestNoAllocation(t *testing.T) {
	batch := benchBatch(64, 10)
	gae, grpo := mustTurnGAE(t, batch, nil), mustGRPO(t, batch, nil)
	sapo, err := SAPO(nil, batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(20, func() {
		if _, err := SAPO(sapo, batch, nil); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("SAPO allocates %v times", n)
	}
	if n := testing.AllocsPerRun(20, func() {
		if _, err := TurnGAE(gae, batch, nil); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("TurnGAE allocates %v times", n)
	}
	if n := testing.AllocsPerRun(20, func() {
		if _, err := GRPO(grpo, batch, nil); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("GRPO allocates %v times", n)
	}
}

func BenchmarkTurnGAE(b *testing.B) {
	for _, turns := range []int{6_400, 1_000_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			batch := benchBatch(turns/50, 50)
			c := mustTurnGAE(b, batch, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := TurnGAE(c, batch, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGRPO(b *testing.B) {
	batch := benchBatch(100_000/50, 50)
	c := mustGRPO(b, batch, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := GRPO(c, batch, nil); err != nil {
			b.Fatal(err)
		}
	}
}

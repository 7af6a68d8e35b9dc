package rl

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// An estimator of one's own has the votes, the reasons and the errors of those of the package.
func TestNewCredit(t *testing.T) {
	batch := []Trajectory{episode(Terminated, []float64{1, 2}, nil), episode(Terminated, []float64{1}, nil), {Excluded: "no server"}}
	batch[0].Turns[1].Excluded = true
	batch[1].Turns[0].Tokens[0].Trainable = false
	c, err := NewCredit(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	type view struct {
		Start              []int
		Advantage          []float64
		Vote               []bool
		NoVote             []string
		Value, Q, Tok, Tgt []float64
		Flat               []bool
	}
	of := func(c *Credit) view {
		return view{c.Start, c.Advantage, c.Vote, c.NoVote, c.ValueTarget, c.QTarget, c.TokenAdvantage, c.TokenTarget, c.Flat}
	}
	want := view{Start: []int{0, 2, 3, 3}, Advantage: []float64{0, 0, 0}, Vote: []bool{true, false, false},
		NoVote: []string{"", "no trainable token", "no server"}}
	if diff := cmp.Diff(want, of(c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Nothing of an earlier use is left.
	c.ValueTarget, c.QTarget, c.TokenAdvantage, c.TokenTarget = []float64{1}, []float64{1}, []float64{1}, []float64{1}
	c.Flat, c.Groups, c.ZeroVariance, c.Singletons = []bool{true}, 1, 2, 3
	c.Advantage[0] = 9
	if c, err = NewCredit(c, batch); err != nil || !cmp.Equal(want, of(c)) || c.Groups+c.ZeroVariance+c.Singletons != 0 {
		t.Errorf("used again: %+v, %v", c, err)
	}
	batch[1].Turns[0].End = Continue
	if _, err := NewCredit(c, batch); !errors.Is(err, ErrOpenTrajectory) {
		t.Errorf("open trajectory: %v", err)
	}
	batch[1].Turns = nil
	if _, err := NewCredit(c, batch); err == nil || !strings.Contains(err.Error(), "trajectory 1: Turns is empty") {
		t.Errorf("no turns: %v", err)
	}
}

func TestExclude(t *testing.T) {
	batch := []Trajectory{episode(Terminated, []float64{1, 2}, nil), episode(Terminated, []float64{3, 4}, nil)}
	c, err := SAPO(nil, batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.Clone(c.Advantage[:2])
	c.Exclude(2, "no such trajectory")
	c.Exclude(-1, "no such trajectory")
	c.Exclude(1, "")
	if c.NoVote[1] != "excluded" {
		t.Errorf("without a reason: %q", c.NoVote[1])
	}
	c.Exclude(1, "too long")
	if c.NoVote[1] != "too long" || !slices.Equal(c.Vote, []bool{true, true, false, false}) ||
		!slices.Equal(c.Advantage, append(kept, 0, 0)) || c.ValueTarget[3] != 0 || c.QTarget[3] != 0 || c.ValueTarget[1] == 0 {
		t.Errorf("%+v", c)
	}
}

// Normalize is the last step of TurnGAE, with the same defaults.
func TestNormalize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		n := Norm{Std: rapid.SampledFrom([]Std{StdDefault, StdSample, StdNone, StdOff}).Draw(t, "std")}
		c, err := TurnGAE(nil, batch, &TurnGAEOptions{Norm: Norm{Std: StdOff}})
		if err != nil {
			t.Fatal(err)
		}
		want, err := TurnGAE(nil, batch, &TurnGAEOptions{Norm: n})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Normalize(n); err != nil || !cmp.Equal(want.Advantage, c.Advantage) {
			t.Fatalf("got %v, %v, want %v", c.Advantage, err, want.Advantage)
		}
	})
	c, err := NewCredit(nil, []Trajectory{episode(Terminated, []float64{1}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Normalize(Norm{Singleton: SingletonError}); err == nil {
		t.Error("one turn is accepted under SingletonError")
	}
	c.Advantage[0] = math.NaN()
	if err := c.Normalize(Norm{}); !errors.Is(err, ErrNonFinite) {
		t.Errorf("NaN: %v", err)
	}
	if err := c.Normalize(Norm{Std: 9}); err == nil {
		t.Error("no error for an unknown deviation")
	}
	if c, err = NewCredit(nil, nil); err != nil || c.Normalize(Norm{Singleton: SingletonError}) != nil {
		t.Errorf("empty batch: %v", err)
	}
}

func TestApply(t *testing.T) {
	tests := []struct {
		name   string
		norm   Norm
		x      []float64
		want   []float64
		flat   bool
		err    string
		reason string
	}{
		{"E7, 1e-4", Norm{Eps: new(1e-4)}, []float64{1, 0}, []float64{.7070068, -.7070068}, false, "", "TRL"},
		{"E7, 1e-6", Norm{}, []float64{1, 0}, []float64{.70710578, -.70710578}, false, "", "default: verl"},
		{"E7, 1e-8", Norm{Eps: new(1e-8)}, []float64{1, 0}, []float64{.70710677, -.70710677}, false, "", "Stable-Baselines3"},
		{"inside", Norm{Eps: new(.5), EpsPlace: EpsInsideSqrt}, []float64{1, 0}, []float64{.5, -.5}, false, "", "sqrt(.5 + .5)"},
		{"added", Norm{Eps: new(.5), EpsPlace: EpsAdded, Std: StdPopulation}, []float64{1, 0}, []float64{.5, -.5}, false, "", ".5 + .5"},
		{"inside, huge", Norm{EpsPlace: EpsInsideSqrt}, []float64{1e300, -1e300}, []float64{math.Sqrt(.5), -math.Sqrt(.5)}, false, "",
			"squares overflow"},
		{"equal", Norm{}, []float64{3, 3}, []float64{0, 0}, true, "", "2"},
		{"one", Norm{}, []float64{3}, []float64{0}, true, "", "2"},
		{"one, raw", Norm{Singleton: SingletonRaw}, []float64{3}, []float64{3}, true, "", "2"},
		{"one, error", Norm{Singleton: SingletonError}, []float64{3}, []float64{3}, false, "x is one number", "2"},
		{"none", Norm{}, nil, nil, true, "", "empty"},
		{"below the floor", Norm{Eps: new(0.0)}, []float64{0, 5e-9}, []float64{-2.5e-9, 2.5e-9}, true, "", "a deviation of 3.5e-9 is below 1e-8"},
		{"above the floor", Norm{Eps: new(0.0)}, []float64{0, 2e-8}, []float64{-math.Sqrt(.5), math.Sqrt(.5)}, false, "", "one of 1.4e-8 is above"},
		{"NaN", Norm{}, []float64{1, math.NaN()}, nil, false, "x[1] is NaN", "never poisoned"},
		{"option", Norm{Eps: new(-1.0)}, []float64{1, 2}, []float64{1, 2}, false, "Norm.Eps is -1", "range"},
		{"place", Norm{EpsPlace: 3}, []float64{1, 2}, []float64{1, 2}, false, "Norm.EpsPlace is 3", "three values"},
	}
	for _, tt := range tests {
		x := slices.Clone(tt.x)
		flat, err := tt.norm.Apply(x)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		}
		margin := 5.1e-8
		if tt.name == "below the floor" {
			margin = 1e-20
		}
		if diff := cmp.Diff(tt.want, x, cmpApprox(margin)); diff != "" || flat != tt.flat {
			t.Errorf("%s: %s, flat %v (-want +got):\n%s", tt.name, tt.reason, flat, diff)
		}
	}
}

// A norm with rows is the norm of the numbers repeated.
func TestApplyRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(anyFloat(math.Pow(10, float64(rapid.IntRange(0, 200).Draw(t, "exponent")))), 1, 6).Draw(t, "x")
		rows := make([]float64, len(x))
		var repeated []float64
		for i, v := range x {
			n := rapid.IntRange(1, 4).Draw(t, "rows")
			rows[i] = float64(n)
			repeated = append(repeated, slices.Repeat([]float64{v}, n)...)
		}
		o := norm{std: rapid.SampledFrom([]Std{StdSample, StdPopulation, StdNone}).Draw(t, "std"), eps: 1e-6, floor: 1e-8,
			inside: rapid.Bool().Draw(t, "inside")}
		got, want := slices.Clone(x), repeated
		flat, wantFlat := o.apply(got, rows), o.apply(want, nil)
		if flat != wantFlat {
			t.Fatalf("flat %v, want %v", flat, wantFlat)
		}
		at := 0
		for i := range got {
			tol := 1e-12
			if o.std == StdNone {
				tol *= slices.Max(x) - slices.Min(x)
			}
			if math.Abs(got[i]-want[at]) > tol {
				t.Fatalf("x[%d]: got %v, want %v", i, got[i], want[at])
			}
			at += int(rows[i])
		}
	})
}

// Credit per token is given out where there is a vote; where its length is wrong nothing is.
func TestTokenAdvantagesOfTokens(t *testing.T) {
	batch := []Trajectory{episode(Terminated, []float64{1, 2}, nil), episode(Terminated, []float64{3}, nil)}
	batch[0].Turns[0].Tokens = []Token{{Trainable: true}, {}, {Trainable: true}}
	c, err := NewCredit(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	c.TokenAdvantage = []float64{1, 2, 3, 4}
	if got := c.TokenAdvantages(nil, batch); !slices.Equal(got, []float64{1, 2, 3, 4}) {
		t.Errorf("got %v", got)
	}
	if err := c.Normalize(Norm{}); err == nil || !strings.Contains(err.Error(), "TokenAdvantage is set") {
		t.Errorf("Normalize of credit per token: %v", err)
	}
	c.Exclude(1, "late")
	if got := c.TokenAdvantages(c.TokenAdvantage, batch); !slices.Equal(got, []float64{1, 2, 3, 0}) {
		t.Errorf("over its own memory, one trajectory excluded: got %v", got)
	}
	c.TokenAdvantage = c.TokenAdvantage[:2]
	if got := c.TokenAdvantages(nil, batch); len(got) != 4 || got[0] == got[0] || got[3] == got[3] {
		t.Errorf("of another length: got %v, want NaN", got)
	}
}

// A credit fits a batch if all that it has is of its shape.
func TestFits(t *testing.T) {
	batch := []Trajectory{episode(Terminated, []float64{1, 2}, nil), episode(Terminated, []float64{3}, nil)}
	for name, change := range map[string]func(*Credit){
		"no reasons":       func(c *Credit) { c.NoVote = nil },
		"no votes":         func(c *Credit) { c.Vote = nil },
		"starts":           func(c *Credit) { c.Start[1] = 1 },
		"flat":             func(c *Credit) { c.Flat = []bool{} },
		"advantages":       func(c *Credit) { c.Advantage = c.Advantage[:2] },
		"value targets":    func(c *Credit) { c.ValueTarget = []float64{} },
		"Q targets":        func(c *Credit) { c.QTarget = []float64{1} },
		"token advantages": func(c *Credit) { c.TokenAdvantage = []float64{1, 2} },
		"token targets":    func(c *Credit) { c.TokenTarget = []float64{1, 2, 3, 4} },
	} {
		c, err := NewCredit(nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Fits(batch) || c.Fits(batch[:1]) {
			t.Fatal("a new credit fits its batch and no other")
		}
		change(c)
		if _, err := c.Diagnose(batch); c.Fits(batch) || !errors.Is(err, ErrShape) {
			t.Errorf("%s: fits, or Diagnose gives %v", name, err)
		}
	}
	if (*Credit)(nil).Fits(nil) {
		t.Error("no credit fits")
	}
}

func cmpApprox(margin float64) cmp.Option { return cmpopts.EquateApprox(0, margin) }

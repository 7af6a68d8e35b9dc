package rigger_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

func tallyOf(pass, valid int) rigger.Tally { return rigger.Tally{Pass: pass, Valid: valid} }

func TestIntervals(t *testing.T) {
	for _, tt := range []struct {
		pass, valid int
		level       float64
		lo, hi      float64
		reason      string
	}{
		{2, 5, .95, .1176, .7693, "worked example: z is 1.95996"},
		{5, 10, .95, .2366, .7634, "worked example"},
		{16, 32, .95, .3363, .6637, "worked example"},
		{0, 5, .95, 0, .4345, "worked example: none passed"},
		{5, 5, .95, .5655, 1, "worked example: all passed"},
		{3, 16, .99, .0488, .5094, "worked example: z is 2.57583, below 0.05"},
		{4, 16, .99, .0777, .5689, "worked example"},
		{12, 16, .99, .4311, .9223, "worked example"},
		{13, 16, .99, .4906, .9512, "worked example: above 0.95"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		got, err := tallyOf(tt.pass, tt.valid).Interval(tt.level)
		if err != nil || math.Abs(got.Lo-tt.lo) > 5.1e-5 || math.Abs(got.Hi-tt.hi) > 5.1e-5 {
			t.Errorf("%d of %d at %v: %v %v, want [%v, %v] (%s)", tt.pass, tt.valid, tt.level, got, err, tt.lo, tt.hi, tt.reason)
		}
	}
	for _, c := range []rigger.Tally{{}, {Pass: 2, Valid: 1}, {Pass: -1, Valid: 3}} {
		if _, err := c.Interval(.95); err == nil || !strings.HasPrefix(err.Error(), "rigger: ") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// The interval contains the rate, is mirrored when passes and failures change places, and shrinks when there are twice as many rollouts of the
// same rate.
func TestIntervalLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		x := rapid.IntRange(0, n).Draw(t, "x")
		level := float64(rapid.IntRange(500, 999).Draw(t, "level")) / 1000
		a, err := tallyOf(x, n).Interval(level)
		b, err2 := tallyOf(n-x, n).Interval(level)
		c, err3 := tallyOf(2*x, 2*n).Interval(level)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		rate := tallyOf(x, n).Rate()
		if !(a.Lo <= rate && rate <= a.Hi) || math.Abs(a.Lo-(1-b.Hi)) > 1e-12 || math.Abs(a.Hi-(1-b.Lo)) > 1e-12 {
			t.Fatalf("%d of %d: %v and %v", x, n, a, b)
		}
		if !(c.Hi-c.Lo < a.Hi-a.Lo) {
			t.Fatalf("%d of %d: %v, with twice as many %v", x, n, a, c)
		}
	})
}

func TestRates(t *testing.T) {
	if r := (rigger.Tally{}).Rate(); !math.IsNaN(r) {
		t.Errorf("no rollouts: %v", r)
	}
	for _, tt := range []struct {
		pass, valid     int
		plugIn, learned float64
		reason          string
	}{
		{2, 5, .24, .3, "worked example: 2*3/20"},
		{1, 5, .16, .2, "1*4/20"},
		{0, 5, 0, 0, "none passed"},
		{5, 5, 0, 0, "all passed"},
		{1, 1, 0, 0, "one says nothing of a variance"},
		{1, 2, .25, .5, "1*1/2"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		c := tallyOf(tt.pass, tt.valid)
		if d := cmp.Diff([]float64{tt.plugIn, tt.learned}, []float64{c.Rate() * (1 - c.Rate()), c.Learnability()},
			cmpopts.EquateApprox(1e-12, 1e-12)); d != "" {
			t.Errorf("%v (%s)\n%s", c, tt.reason, d)
		}
	}
}

// The estimate of p(1-p) has no bias: its mean over all outcomes of n rollouts with rate p is p(1-p).
func TestLearnabilityUnbiased(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		p := float64(rapid.IntRange(0, 100).Draw(t, "percent")) / 100
		mean := 0.0
		for x := range n + 1 {
			mean += binomial(n, x, p) * tallyOf(x, n).Learnability()
		}
		if math.Abs(mean-p*(1-p)) > 1e-12 {
			t.Fatalf("n %d, p %v: %v, want %v", n, p, mean, p*(1-p))
		}
	})
}

// binomial is the probability of x successes out of n.
func binomial(n, x int, p float64) float64 {
	q := 1.0
	for i := range x {
		q *= float64(n-i) / float64(i+1)
	}
	return q * math.Pow(p, float64(x)) * math.Pow(1-p, float64(n-x))
}

// places writes a placement for each count of n as a letter: h too hard, w within, e too easy.
func places(o rigger.Objective, m rigger.Measure, n int) string {
	var b strings.Builder
	for x := range n + 1 {
		m.Counts = tallyOf(x, n)
		b.WriteByte("hwe"[o.Place(m)+1])
	}
	return b.String()
}

func TestPlaces(t *testing.T) {
	harder := func(confirmed bool, pass, valid int) rigger.Measure {
		return rigger.Measure{Confirmed: confirmed, Level: .99, Direction: components.Harder, Baseline: tallyOf(pass, valid)}
	}
	reference := func(confirmed bool, pass, valid int) rigger.Measure {
		m := harder(confirmed, 5, 5)
		m.Reference = tallyOf(pass, valid)
		return m
	}
	for _, tt := range []struct {
		objective rigger.Objective
		m         rigger.Measure
		n         int
		want      string
		reason    string
	}{
		{rigger.Difficulty{}, harder(false, 5, 5), 5, "hhwwee", "worked example: 2 and 3 of 5 are in [0.4, 0.6]"},
		{rigger.Difficulty{}, harder(true, 5, 5), 16, "hhhhwwwwwwwwweeee", "worked example: 4 to 12 of 16"},
		{rigger.Difficulty{Screen: rigger.Band{Lo: .3, Hi: .7}}, harder(false, 5, 5), 10, "hhhwwwwweee", "bounds are included"},
		{rigger.Difficulty{Confirm: rigger.Band{Lo: 0, Hi: 1}}, harder(true, 5, 5), 16, "hhhhwwwwwwwwweeee",
			"worked example: 3 and 13 fail by their intervals alone"},
		{rigger.Difficulty{Inside: rigger.Band{Lo: 0, Hi: 1}, Confirm: rigger.Band{Lo: .1, Hi: .9}}, harder(true, 5, 5), 16, "hhwwwwwwwwwwwwwee",
			"without the rule for the interval the band alone counts: 1.6 to 14.4"},
		{rigger.Difficulty{Inside: rigger.Band{Lo: .4, Hi: .6}}, harder(true, 5, 5), 8, "hhhhhee" + "ee", "an interval that sticks out at both ends"},
		{rigger.RedTeam{}, harder(false, 5, 5), 5, "wwweee", "3 of 5 must fail for a half"},
		{rigger.RedTeam{}, harder(true, 5, 5), 16, "wwwwwweeeeeeeeeee", "11 of 16 must fail: 5 of 5 that passed say no more than a rate of 0.43"},
		{rigger.RedTeam{}, harder(true, 4, 5), 16, "wwwweeeeeeeeeeeee", "13 of 16 must fail"},
		{rigger.RedTeam{}, harder(true, 3, 5), 16, "wweeeeeeeeeeeeeee", "15 of 16 must fail"},
		{rigger.RedTeam{}, harder(true, 16, 16), 16, "wwwwwwwwweeeeeeee", "after a longer baseline 8 of 16 are enough"},
		{rigger.RedTeam{Least: new(1.)}, harder(true, 5, 5), 16, "weeeeeeeeeeeeeeee", "all must fail"},
		{rigger.Learnability{}, harder(false, 5, 5), 5, "hwwwwe", "worked example: 0.16 is met by 1 of 5"},
		{rigger.Learnability{}, harder(true, 5, 5), 16, "hhhhwwwwwwwwweeee", "3/16*13/16 is 0.152, 4/16*12/16 is 0.1875"},
		{rigger.Learnability{Tau: new(.25)}, harder(false, 5, 5), 4, "hhwee", "one half alone has 0.25"},
		{rigger.Regret{}, reference(false, 4, 5), 5, "wwwwee", "0.8 less 0.2 is 3 of 5"},
		{rigger.Regret{}, reference(false, 1, 5), 5, "whhhhh", "a reference that fails as well: too hard"},
		{rigger.Regret{}, harder(false, 5, 5), 2, "hhh", "without a reference nothing is known"},
		{rigger.Regret{}, reference(true, 16, 16), 16, "wwwwwwwwwwweeeeee", "16 of 16 is more than 10 of 16 at 0.99, and not than 11"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		if got := places(tt.objective, tt.m, tt.n); got != tt.want {
			t.Errorf("%v of %d:\n got %s\nwant %s (%s)", tt.objective, tt.n, got, tt.want, tt.reason)
		}
	}
	for _, o := range []rigger.Objective{rigger.Difficulty{}, rigger.RedTeam{}, rigger.Learnability{}, rigger.Regret{}} {
		for _, confirmed := range []bool{false, true} {
			if got := o.Place(rigger.Measure{Confirmed: confirmed}); got == rigger.Within {
				t.Errorf("%v is met without a rollout", o)
			}
			if got := o.Score(rigger.Measure{Confirmed: confirmed}); got != 0 {
				t.Errorf("%v has a score of %v without a rollout", o, got)
			}
		}
	}
}

func TestScores(t *testing.T) {
	band := rigger.Difficulty{Screen: rigger.Band{Lo: .3, Hi: .7}}
	for _, tt := range []struct {
		objective  rigger.Objective
		pass, of   int
		want       float64
		reason     string
		referenced rigger.Tally
	}{
		{band, 4, 10, .5, "worked example: a quarter of the width from the centre", rigger.Tally{}},
		{band, 7, 10, 0, "worked example: at the bound", rigger.Tally{}},
		{band, 5, 10, 1, "worked example: the centre", rigger.Tally{}},
		{band, 10, 10, 0, "beyond the band", rigger.Tally{}},
		{rigger.Difficulty{Screen: rigger.Band{Lo: .5, Hi: .5}}, 1, 2, 1, "a band of one rate", rigger.Tally{}},
		{rigger.Difficulty{Screen: rigger.Band{Lo: .5, Hi: .5}}, 1, 3, 0, "off a band of one rate", rigger.Tally{}},
		{rigger.RedTeam{}, 3, 16, .8125, "13 of 16 fail", rigger.Tally{}},
		{rigger.Learnability{}, 2, 5, .3, "worked example", rigger.Tally{}},
		{rigger.Regret{}, 2, 8, .5, "6 of 8 less 2 of 8", tallyOf(6, 8)},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		got := tt.objective.Score(rigger.Measure{Counts: tallyOf(tt.pass, tt.of), Reference: tt.referenced})
		if math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v, %d of %d: %v, want %v (%s)", tt.objective, tt.pass, tt.of, got, tt.want, tt.reason)
		}
	}
}

func TestObjectiveChecks(t *testing.T) {
	for _, tt := range []struct {
		objective interface{ Check() error }
		want      string
		reason    string
	}{
		{rigger.Difficulty{}, "", "defaults"},
		{rigger.Difficulty{Screen: rigger.Band{Lo: .6, Hi: .4}}, "Difficulty.Screen", "crossed"},
		{rigger.Difficulty{Confirm: rigger.Band{Lo: -1, Hi: .4}}, "Difficulty.Confirm", "negative"},
		{rigger.Difficulty{Inside: rigger.Band{Lo: .1, Hi: math.NaN()}}, "Difficulty.Inside", "no number"},
		{rigger.RedTeam{Least: new(0.)}, "RedTeam.Least is 0", "everything would be a failure"},
		{rigger.RedTeam{Least: new(1.1)}, "RedTeam.Least is 1.1", "above 1"},
		{rigger.Learnability{Tau: new(0.)}, "Learnability.Tau is 0", "everything would be learnable"},
		{rigger.Learnability{Tau: new(.26)}, "Learnability.Tau is 0.26", "p(1-p) is 0.25 at most"},
		{rigger.Regret{Least: new(-.1)}, "Regret.Least is -0.1", "negative"},
		{rigger.Regret{Least: new(1.)}, "", "the largest"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		err := tt.objective.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), "rigger: "+tt.want) {
			t.Errorf("%v: %v, want %q (%s)", tt.objective, err, tt.want, tt.reason)
		}
	}
}

func TestPlacementNames(t *testing.T) {
	got := fmt.Sprint(rigger.TooHard, rigger.Within, rigger.TooEasy, rigger.Placement(7))
	if want := "too hard within too easy placement 7"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package train

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestScheduleFactor(t *testing.T) {
	cosine := Schedule{Kind: Cosine, Steps: 100}
	for _, tt := range []struct {
		name   string
		s      Schedule
		step   int
		want   float64
		reason string
	}{
		{"first step", cosine, 1, .1, "worked number: W=10"},
		{"half the warm-up", cosine, 5, .5, "worked number"},
		{"end of the warm-up", cosine, 10, 1, "worked number"},
		{"half the cosine", cosine, 55, .55, "worked number: .1 + .9/2"},
		{"last step", cosine, 100, .1, "worked number"},
		{"after the last step", cosine, 1000, .1, "it stays at the floor"},
		{"a third of the cosine", cosine, 40, .775, "cos(pi/3) = 1/2: .1 + .9*.75"},
		{"half the line", Schedule{Kind: Linear, Steps: 100}, 55, .55, "a line and half a cosine cross in the middle"},
		{"a third of the line", Schedule{Kind: Linear, Steps: 100}, 40, .7, ".1 + .9*2/3"},
		{"end of the line", Schedule{Kind: Linear, Steps: 100}, 100, .1, "the floor"},
		{"floor 0", Schedule{Kind: Linear, Steps: 100, Floor: new(0.0)}, 100, 0, "zero is a floor of its own, not the default"},
		{"no warm-up", Schedule{Kind: Linear, Warmup: new(0), Steps: 10, Floor: new(0.0)}, 1, .9, "the fall begins at once: (10-1)/10"},
		{"no warm-up, constant", Schedule{Warmup: new(0)}, 1, 1, "nothing changes the rate"},
		{"constant", Schedule{}, 11, 1, "after the warm-up"},
		{"constant, warm-up", Schedule{}, 3, .3, "all kinds warm up"},
		{"constant, Steps and Floor", Schedule{Steps: 5, Floor: new(0.5)}, 1000, 1, "it reads neither"},
		{"step 0", Schedule{}, 0, .1, "steps count from 1"},
		{"least step", Schedule{}, math.MinInt, .1, "the same"},
		{"greatest step", Schedule{Kind: Cosine, Steps: math.MaxInt}, math.MaxInt, .1, "nothing overflows"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			if err := tt.s.check(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tt.s.Factor(tt.step), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("factor (-want +got):\n%s", diff)
			}
		})
	}
}

// The factor rises up to the end of the warm-up, where it is 1, and does not rise again; it stays between the floor and 1 from there on.
func TestScheduleShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schedule{
			Kind:   rapid.SampledFrom([]ScheduleKind{Constant, Linear, Cosine}).Draw(t, "kind"),
			Warmup: new(rapid.IntRange(0, 30).Draw(t, "warmup")),
			Floor:  new(rapid.Float64Range(0, 1).Draw(t, "floor")),
		}
		s.Steps = *s.Warmup + rapid.IntRange(1, 100).Draw(t, "fall")
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		before := 0.0
		for step := 1; step <= s.Steps+3; step++ {
			f := s.Factor(step)
			switch {
			case !(f >= 0 && f <= 1):
				t.Fatalf("factor %v at step %d, want one in [0, 1]", f, step)
			case step <= *s.Warmup && f <= before:
				t.Fatalf("factor %v at step %d of the warm-up, %v before it", f, step, before)
			case step == *s.Warmup && f != 1:
				t.Fatalf("factor %v at the end of the warm-up, want 1", f)
			case step > *s.Warmup+1 && f > before:
				t.Fatalf("factor %v at step %d, %v before it", f, step, before)
			case s.Kind != Constant && step > *s.Warmup && f < *s.Floor-1e-12:
				t.Fatalf("factor %v at step %d, below the floor %v", f, step, *s.Floor)
			case s.Kind != Constant && step >= s.Steps && f != *s.Floor:
				t.Fatalf("factor %v at step %d, want the floor %v", f, step, *s.Floor)
			}
			before = f
		}
	})
}

func TestScheduleCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		s      Schedule
		want   []string // parts of the error; none where there is no error
		reason string
	}{
		{"zero", Schedule{}, nil, "the default"},
		{"no steps", Schedule{Kind: Cosine}, []string{"Steps is 0", "Warmup, 10"}, "the end of the fall has no default"},
		{"no fall", Schedule{Kind: Linear, Steps: 10}, []string{"Steps is 10"}, "the warm-up takes all steps"},
		{"shortest fall", Schedule{Kind: Linear, Steps: 11}, nil, "one step is a fall"},
		{"negative warm-up", Schedule{Warmup: new(-1)}, []string{"Warmup is -1"}, "no number of steps"},
		{"unknown kind", Schedule{Kind: 7, Steps: 20}, []string{"Kind is 7"}, "no such name"},
		{"floor above 1", Schedule{Kind: Linear, Steps: 20, Floor: new(1.5)}, []string{"Floor is 1.5"}, "the rate would rise"},
		{"floor below 0", Schedule{Kind: Linear, Steps: 20, Floor: new(-.1)}, []string{"Floor is -0.1"}, "the model would unlearn"},
		{"NaN", Schedule{Kind: Linear, Steps: 20, Floor: new(math.NaN())}, []string{"Floor is NaN"}, "no number"},
		{"two faults", Schedule{Kind: Cosine, Warmup: new(-2), Steps: -3}, []string{"Warmup is -2", "Steps is -3"}, "all faults at once"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			for _, step := range []int{math.MinInt, 0, 1, 15, math.MaxInt} {
				tt.s.Factor(step) // no panic, whatever the fields
			}
			err := tt.s.check()
			if (err != nil) != (len(tt.want) > 0) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), "train: Schedule.") || !strings.Contains(err.Error(), part) {
					t.Errorf("error %q, want one with %q", err, part)
				}
			}
		})
	}
}

// Every kind has a name that comes back as the kind, and no other text does.
func TestScheduleKindText(t *testing.T) {
	for k := Constant; k <= Cosine; k++ {
		text, err := k.MarshalText()
		var back ScheduleKind
		if err2 := back.UnmarshalText(text); err != nil || err2 != nil || back != k || string(text) != k.String() {
			t.Errorf("kind %d: %q, %v, back %v, %v", k, text, err, back, err2)
		}
	}
	if _, err := ScheduleKind(3).MarshalText(); err == nil || fmt.Sprint(ScheduleKind(3)) != "ScheduleKind(3)" {
		t.Errorf("kind 3 has text, or the string %v", ScheduleKind(3))
	}
	for _, bad := range []string{"", "Cosine", "1", strings.Repeat("x", 1000)} {
		if err := new(ScheduleKind).UnmarshalText([]byte(bad)); err == nil || len(err.Error()) > 200 {
			t.Errorf("%.10q: error %v", bad, err)
		}
	}
}

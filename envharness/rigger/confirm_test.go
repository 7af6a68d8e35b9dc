package rigger

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// defaults are the settings without a problem.
func defaults(o Options) *settings {
	s := &settings{Options: o, alpha: defaultAlpha, axisCap: defaultAxisCap}
	for _, f := range []struct {
		value *int
		want  int
	}{
		{&s.Baseline, defaultBaseline}, {&s.Screen, defaultScreen}, {&s.Confirm, defaultConfirm}, {&s.Attempts, defaultAttempts},
	} {
		if *f.value == 0 {
			*f.value = f.want
		}
	}
	if s.Objective == nil {
		s.Objective = Difficulty{}
	}
	return s
}

// outcomes makes traces of outcomes.
func outcomes(of []envharness.Status) []envharness.Trace {
	traces := make([]envharness.Trace, len(of))
	for i, s := range of {
		traces[i] = envharness.Trace{Slot: i, Verdict: envharness.Verdict{Status: s}}
	}
	return traces
}

// Stopping early never changes a decision, never plays one rollout more than stopping after each one would, and what is accepted was played in
// full. An outcome that could not be judged is never accepted.
func TestConfirmStopsEarly(t *testing.T) {
	objectives := []Objective{
		Difficulty{}, RedTeam{}, Learnability{}, Regret{}, Difficulty{Confirm: Band{.5, .6}, Inside: Band{0, 1}}, // the last is soon lost
	}
	rapid.Check(t, func(t *rapid.T) {
		s := defaults(Options{Objective: rapid.SampledFrom(objectives).Draw(t, "objective"), Confirm: rapid.IntRange(8, 24).Draw(t, "K2")})
		invalid := rapid.IntRange(0, 9).Draw(t, "invalid")
		percent := rapid.IntRange(0, 100).Draw(t, "percent")
		draws := rapid.SliceOfN(rapid.IntRange(0, 99), s.Confirm, s.Confirm).Draw(t, "draws")
		of := make([]envharness.Status, s.Confirm)
		for i, d := range draws {
			of[i] = envharness.Fail
			if d < percent {
				of[i] = envharness.Pass
			}
			if invalid == 0 && d%10 == 0 {
				of[i] = envharness.Invalid
			}
		}
		m := s.measure(true, components.Harder, Tally{rapid.IntRange(0, 5).Draw(t, "baseline"), 5})
		reference := Tally{rapid.IntRange(0, s.Confirm).Draw(t, "reference"), s.Confirm}
		played := 0
		got, err := s.confirm(t.Context(), m, true, func(_ context.Context, from, n int) ([]envharness.Trace, error) {
			if from != played || n < 1 || from+n > s.Confirm {
				t.Fatalf("%d from slot %d after %d of %d", n, from, played, s.Confirm)
			}
			played += n
			return outcomes(of[from : from+n]), nil
		}, func(context.Context, int) ([]envharness.Trace, error) {
			of := make([]envharness.Status, reference.Valid)
			for i := range of {
				if of[i] = envharness.Fail; i < reference.Pass {
					of[i] = envharness.Pass
				}
			}
			return outcomes(of), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m.Reference, m.Counts = reference, tally(outcomes(of))
		want := m.Counts.Valid == s.Confirm && s.accepts(m)
		if got.accepted != want {
			t.Fatalf("accepted %v on %v (%s), want %v on %v", got.accepted, got.counts, got.reason, want, m.Counts)
		}
		if got.accepted && (got.counts != m.Counts || got.interval == nil || len(got.passed) != m.Counts.Pass) || !got.accepted && got.reason == "" {
			t.Fatalf("%+v", got)
		}
		if tally(outcomes(of[:played])).Valid < played {
			return
		}
		// The oracle looks after each rollout.
		least := s.Confirm
		for n := range s.Confirm {
			could := false
			x := tally(outcomes(of[:n])).Pass
			for more := range s.Confirm - n + 1 {
				m.Counts = Tally{x + more, s.Confirm}
				could = could || s.accepts(m)
			}
			if !could {
				least = n
				break
			}
		}
		if played != max(least, 1) && least > 0 {
			t.Fatalf("%d rollouts were played where %d do", played, least)
		}
	})
}

// The order of the outcomes of a group changes nothing.
func TestConfirmOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := defaults(Options{})
		m := s.measure(true, components.Harder, Tally{5, 5})
		x := rapid.IntRange(0, s.Confirm).Draw(t, "passes")
		of := make([]envharness.Status, s.Confirm)
		for i := range of {
			of[i] = envharness.Fail
			if i < x {
				of[i] = envharness.Pass
			}
		}
		of = rapid.Permutation(of).Draw(t, "order")
		got, err := s.confirm(t.Context(), m, false, func(_ context.Context, from, n int) ([]envharness.Trace, error) {
			return outcomes(of[from : from+n]), nil
		}, nil)
		if err != nil || got.accepted != (x >= 4 && x <= 12) {
			t.Fatalf("%d of 16: %+v %v", x, got, err)
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

// acceptance is the probability that one attempt with a candidate of success rate p is accepted: by its screening, and by both.
func acceptance(s *settings, p float64) (screened, both float64) {
	baseline := Tally{s.Baseline, s.Baseline}
	for x := range s.Screen + 1 {
		m := s.measure(false, components.Harder, baseline)
		m.Counts = Tally{x, s.Screen}
		if s.rule(m, nil, true).decision == Accept {
			screened += binomial(s.Screen, x, p)
		}
	}
	confirmed := 0.0
	for x := range s.Confirm + 1 {
		m := s.measure(true, components.Harder, baseline)
		m.Counts = Tally{x, s.Confirm}
		if s.accepts(m) {
			confirmed += binomial(s.Confirm, x, p)
		}
	}
	return screened, screened * confirmed
}

// Worked example: how often a policy of a known success rate is accepted.
func TestAcceptance(t *testing.T) {
	for _, tt := range []struct {
		screen int
		p      float64
		want   float64
	}{
		{5, .05, .023}, {5, .1, .081}, {5, .2, .256}, {5, .3, .441}, {5, .4, .576}, {5, .5, .625}, {5, .8, .256},
		{10, .05, .001}, {10, .1, .013}, {10, .2, .120}, {10, .3, .340}, {10, .4, .563}, {10, .5, .656}, {10, .8, .120},
		{16, .05, 0}, {16, .1, .001}, {16, .2, .026}, {16, .3, .168}, {16, .4, .415}, {16, .5, .546}, {16, .8, .026},
		{32, .05, 0}, {32, .1, 0}, {32, .2, .006}, {32, .3, .132}, {32, .4, .530}, {32, .5, .785}, {32, .8, .006},
	} {
		if got, _ := acceptance(defaults(Options{Screen: tt.screen}), tt.p); math.Abs(got-tt.want) > 5.1e-4 {
			t.Errorf("a screening of %d at rate %v: %.4f, want %.3f", tt.screen, tt.p, got, tt.want)
		}
	}
	for _, tt := range []struct{ p, one, screened, both float64 }{
		{.05, -1, .108, .0008}, {.1, .0055, .344, .027}, {.2, .1029, .772, .419}, {.3, .3326, -1, -1}, {.4, .5379, -1, -1}, {.5, .6117, .993, .991},
		{.6, .5379, -1, -1}, {.7, .3326, -1, -1}, {.8, .1029, -1, -1}, {.9, .0055, -1, -1},
	} {
		screened, both := acceptance(defaults(Options{}), tt.p)
		fifth := func(p float64) float64 { return 1 - math.Pow(1-p, 5) }
		for _, c := range []struct {
			what               string
			got, want, rounded float64
		}{
			{"one attempt", both, tt.one, 5.1e-5}, {"five screenings", fifth(screened), tt.screened, 5.1e-4},
			{"five attempts", fifth(both), tt.both, min(5.1e-4, tt.both/10)},
		} {
			if c.want >= 0 && math.Abs(c.got-c.want) > c.rounded {
				t.Errorf("%s at rate %v: %.5f, want %v", c.what, tt.p, c.got, c.want)
			}
		}
	}
}

// The same by simulation: a policy that passes at a known rate is accepted as often as the exact sum says, within 3 standard errors.
func TestAcceptanceSimulated(t *testing.T) {
	const tasks = 2000
	s := defaults(Options{})
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range []float64{.1, .2, .3, .4, .5, .7} {
		play := func(_ context.Context, _, n int) ([]envharness.Trace, error) {
			of := make([]envharness.Status, n)
			for i := range of {
				of[i] = envharness.Fail
				if rng.Float64() < p {
					of[i] = envharness.Pass
				}
			}
			return outcomes(of), nil
		}
		accepted := 0
		for range tasks {
			m := s.measure(false, components.Harder, Tally{5, 5})
			traces, _ := play(nil, 0, s.Screen)
			m.Counts = tally(traces)
			if s.rule(m, traces, true).decision != Accept {
				continue
			}
			got, err := s.confirm(t.Context(), s.measure(true, components.Harder, Tally{5, 5}), false, play, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.accepted {
				accepted++
			}
		}
		_, want := acceptance(s, p)
		if got, off := float64(accepted)/tasks, 3*math.Sqrt(want*(1-want)/tasks); math.Abs(got-want) > off {
			t.Errorf("rate %v: %v of the attempts were accepted, want %.4f within %.4f", p, got, want, off)
		}
	}
}

// A pair is the shortest success and the longest failure, of equal ones the first.
func TestPairOf(t *testing.T) {
	made := func(slot, turns int, s envharness.Status) envharness.Trace {
		trace := envharness.Trace{Slot: slot, Verdict: envharness.Verdict{Status: s}}
		for range turns {
			trace.Turns = append(trace.Turns, envharness.TurnTrace{Proposed: &envharness.Action{Name: "go"}})
		}
		trace.Turns = append(trace.Turns, envharness.TurnTrace{Said: "Done."}) // no turn
		return trace
	}
	p := pairOf([]envharness.Trace{
		made(0, 5, envharness.Pass), made(1, 3, envharness.Pass), made(2, 4, envharness.Fail), made(3, 9, envharness.Invalid),
		made(4, 3, envharness.Pass), made(5, 4, envharness.Fail), made(6, 3, envharness.Fail), made(7, 4, envharness.Pass),
	})
	if p.Success.Slot != 1 || p.Failure.Slot != 2 || turnsOf(p.Success) != 3 {
		t.Errorf("slots %d and %d, want 1 and 2", p.Success.Slot, p.Failure.Slot)
	}
}

// What was wanted is told in passes, and in failures where these are sought.
func TestConfirmTellsWhatWasWanted(t *testing.T) {
	for _, tt := range []struct {
		objective Objective
		status    envharness.Status
		want      string
	}{
		{Difficulty{}, envharness.Pass, "13 of 13 passed, where 4 to 12 passes of 16 are wanted: no outcome of the other 3 would be accepted"},
		{RedTeam{}, envharness.Pass, "6 of 6 passed, where 11 to 16 failures of 16 are wanted: no outcome of the other 10 would be accepted"},
	} {
		s := defaults(Options{Objective: tt.objective})
		got, err := s.confirm(t.Context(), s.measure(true, components.Harder, Tally{5, 5}), false, func(_ context.Context, _, n int) ([]envharness.Trace, error) {
			return outcomes(slices.Repeat([]envharness.Status{tt.status}, n)), nil
		}, nil)
		if err != nil || got.reason != tt.want {
			t.Errorf("%q, want %q: %v", got.reason, tt.want, err)
		}
	}
	if got := defaults(Options{}).wanted(make([]bool, 5)); got != "none of the outcomes would do" {
		t.Error(got)
	}
}

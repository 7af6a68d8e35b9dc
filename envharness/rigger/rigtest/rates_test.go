package rigtest_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

func passed(traces []envharness.Trace) int {
	n := 0
	for _, tr := range traces {
		if tr.Verdict.Status == envharness.Pass {
			n++
		}
	}
	return n
}

// slots is how many rollouts a rate is checked on. Few will do: of each it is known whether it passes.
const slots = 24

// Each episode of patience passes exactly if the turns that its stream wastes leave room for the plan, and so the rate is the exact one.
func TestPatienceRate(t *testing.T) {
	for _, w := range worlds() {
		task := tasks(t, w.world, 1)[0]
		plan, err := yardstick.Plan(context.Background(), w.world, task)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			stay  float64
			slack int // turns of the budget above the plan
		}{{0, 0}, {0.5, 0}, {0.5, 1}, {0.8, 2}} {
			patience, err := rigtest.Patience(w.world, tt.stay)
			if err != nil {
				t.Fatal(err)
			}
			turns := len(plan) + tt.slack
			traces := play(t, w.world, []envharness.Component{components.StepBudget{Turns: turns}}, task, patience, slots)
			for slot, tr := range traces {
				rng := envharness.RandStream(11, "rigtest/test", uint64(slot))
				waste := 0
				for rng.Float64() < tt.stay {
					waste++
				}
				if got := tr.Verdict.Status == envharness.Pass; got != (waste <= tt.slack) || got && len(tr.Turns) != waste+len(plan) {
					t.Fatalf("%s, stay %g, budget %d: %d turns wasted: %s", w.name, tt.stay, turns, waste, told(tr))
				}
			}
			within(t, w.name+" patience", passed(traces), len(traces), rigtest.PatienceRate(tt.stay, len(plan), turns))
		}
	}
}

// What patience wastes its turns with is carried out where the world has something of the kind, and changes nothing.
func TestPatienceIsHarmless(t *testing.T) {
	carried := map[string]bool{"household_small": true, "keydoor_small": true}
	for _, w := range worlds() {
		task := tasks(t, w.world, 1)[0]
		patience, err := rigtest.Patience(w.world, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range play(t, w.world, nil, task, patience, 10) {
			for i, turn := range tr.Turns {
				if turn.Shown.Observation.Text != tr.Shown.Text {
					break
				}
				if carried[w.name] && turn.Shown.Error != nil {
					t.Errorf("%s: turn %d is refused: %s", w.name, i, told(tr))
				}
			}
		}
	}
}

func TestPatienceRateValues(t *testing.T) {
	tests := []struct {
		stay        float64
		plan, turns int
		want        float64
		reason      string
	}{
		{0.5, 4, 3, 0, "the plan does not fit"},
		{0.5, 4, 4, 0.5, "no turn may be wasted"},
		{0.5, 4, 5, 0.75, "one may"},
		{0, 4, 4, 1, "none is wasted"},
		{0.9, 4, 12, 1 - math.Pow(0.9, 9), "eight may"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		if got := rigtest.PatienceRate(tt.stay, tt.plan, tt.turns); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", tt.reason, got, tt.want)
		}
	}
	for _, tt := range []struct {
		failures int
		want     float64
		reason   string
	}{{0, 1, "nothing fails"}, {1, 0.5, "one"}, {3, 0.125, "three, each by itself"}, {-1, 1, "none"}} {
		if got := rigtest.RetryRate(0.5, tt.failures); got != tt.want {
			t.Errorf("%s: %g, want %g", tt.reason, got, tt.want)
		}
	}
}

// Each episode of retry passes exactly if its stream says so for every failure.
func TestRetryRate(t *testing.T) {
	for _, w := range worlds() {
		task := tasks(t, w.world, 1)[0]
		for _, tt := range []struct {
			again float64
			count int
			all   bool // tools, the second call
		}{{0.5, 1, false}, {0.8, 2, false}, {0.7, 2, true}, {1, 2, false}, {0, 1, false}} {
			retry, err := rigtest.Retry(w.world, tt.again)
			if err != nil {
				t.Fatal(err)
			}
			fail := components.ToolFail{Count: tt.count}
			if tt.all {
				fail.Nth = 2
			}
			traces := play(t, w.world, []envharness.Component{fail}, task, retry, slots)
			for slot, tr := range traces {
				rng := envharness.RandStream(11, "rigtest/test", uint64(slot))
				ok := true
				for range tt.count {
					ok = ok && rng.Float64() < tt.again
				}
				if got := tr.Verdict.Status == envharness.Pass; got != ok || !got && tr.End != envharness.EndAgentStop {
					t.Fatalf("%s, again %g, count %d: want pass %t: %s", w.name, tt.again, tt.count, ok, told(tr))
				}
			}
			within(t, w.name+" retry", passed(traces), len(traces), rigtest.RetryRate(tt.again, tt.count))
		}
	}
}

// Each episode of coin passes exactly if its first draw says so, and else gives up late where the world has places to look at.
func TestCoinRate(t *testing.T) {
	early := map[string]bool{}
	for _, w := range worlds() {
		task := tasks(t, w.world, 1)[0]
		for _, p := range []float64{0, 0.3, 0.9, 1} {
			coin, err := rigtest.Coin(w.world, p)
			if err != nil {
				t.Fatal(err)
			}
			traces := play(t, w.world, []envharness.Component{components.ToolFail{Nth: 2}}, task, coin, slots)
			for slot, tr := range traces {
				ok := envharness.RandStream(11, "rigtest/test", uint64(slot)).Float64() < p
				if got := tr.Verdict.Status == envharness.Pass; got != ok || !got && tr.End != envharness.EndAgentStop {
					t.Fatalf("%s, coin %g: want pass %t: %s", w.name, p, ok, told(tr))
				}
				if !ok && 2*len(tr.Turns) <= tr.Turns[0].Left {
					early[w.name] = true
				}
			}
			within(t, w.name+" coin", passed(traces), len(traces), p)
		}
	}
	// The full desk has 30 turns, and few things that a policy which reads nothing new can look at.
	if delete(early, "tooldesk"); len(early) > 0 {
		t.Errorf("gives up early in %v", early)
	}
}

func TestRateErrors(t *testing.T) {
	w := worlds()[0].world
	tests := []struct {
		make   func(w envharness.World, p float64) (rigtest.Maker, error)
		p      float64
		want   string
		reason string
	}{
		{rigtest.Patience, 1, "rigtest: patience stays with probability 1, which is outside [0, 1)", "it would never begin"},
		{rigtest.Patience, -0.1, "rigtest: patience stays with probability -0.1", "negative"},
		{rigtest.Patience, math.NaN(), "rigtest: patience stays with probability NaN", "no number"},
		{rigtest.Retry, 1.1, "rigtest: retry tries again with probability 1.1, which is outside [0, 1]", "too high"},
		{rigtest.Retry, math.NaN(), "rigtest: retry tries again with probability NaN", "no number"},
		{rigtest.Coin, -1, "rigtest: coin plays the plan with probability -1, which is outside [0, 1]", "negative"},
		{rigtest.Coin, math.NaN(), "rigtest: coin plays the plan with probability NaN", "no number"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		if _, err := tt.make(w, tt.p); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.reason, err, tt.want)
		}
	}
}

// Coin has none of the flaws in its failures, so that a diagnosis of it is a false alarm.
func TestCoinHasNoFlaw(t *testing.T) {
	for _, w := range worlds() {
		about := describe(t, w.world)
		for _, task := range tasks(t, w.world, 3) {
			plan, err := yardstick.Plan(context.Background(), w.world, task)
			if err != nil {
				t.Fatal(err)
			}
			coin, err := rigtest.Coin(w.world, 0)
			if err != nil {
				t.Fatal(err)
			}
			e := exam{about, plan, nil, play(t, w.world, nil, task, coin, 1)[0]}
			for flaw, defined := range definitions {
				switch {
				case flaw == diagnosis.RepeatedWrite && w.name != "tooldesk_small" && w.name != "tooldesk":
					// Without tools that read a write cannot be told: the next call of the same kind may be a step.
				case flaw == diagnosis.PrematureStop && w.name == "tooldesk":
					// Half of the limit is more than four times the plan; all writes are made, and it was not the submit that came too soon.
				case defined(e):
					t.Errorf("%s, task %s: coin shows %s: %s", w.name, task.ID, flaw, told(e.Trace))
				}
			}
		}
	}
}

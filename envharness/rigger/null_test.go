package rigger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/chain"
)

// fakePlayer returns rollouts that pass as often as is told, and notes what was asked for.
func fakePlayer(passes map[string]int, asked *[]string) player {
	return func(_ context.Context, name string, _ []envharness.Component, newPolicy maker, from, n int) ([]envharness.Trace, error) {
		*asked = append(*asked, fmt.Sprintf("%s %d", name, n))
		traces := make([]envharness.Trace, n)
		for i := range traces {
			if traces[i].Verdict.Status = envharness.Fail; i < passes[name] {
				traces[i].Verdict.Status = envharness.Pass
			}
		}
		return traces, nil
	}
}

func TestNull(t *testing.T) {
	tests := []struct {
		passes map[string]int
		chance float64
		want   Result
		reason string
	}{
		{nil, 0, Passed, "nobody passes"},
		{map[string]int{"1/null/noop": 1}, 0, Failed, "one pass of one that does nothing"},
		{map[string]int{"1/null/submit": 1}, 0, Failed, "or submits"},
		{map[string]int{"1/null/repeat": 1}, 0, Failed, "or repeats"},
		{map[string]int{"1/null/random": 2}, 0, Passed, "2 of 20 are [.028, .301], 0 of 100 are [0, .037]"},
		{map[string]int{"1/null/random": 3}, 0, Failed, "3 of 20 are [.052, .360]"},
		{map[string]int{"1/null/random": 9, "null/random": 20}, 0, Passed, "9 of 20 are [.258, .658], 20 of 100 are [.133, .289]"},
		{map[string]int{"1/null/random": 10, "null/random": 20}, 0, Failed, "10 of 20 are [.299, .701]"},
		{map[string]int{"1/null/random": 20, "null/random": 100}, 0, Passed, "that the unmodified task is no task is not the candidate's fault"},
		{map[string]int{"1/null/noop": 2, "1/null/repeat": 10}, 0.5, Passed, "chance as the world declares it"},
		{map[string]int{"1/null/repeat": 17}, 0.5, Failed, "17 of 20 are [.640, .948]"},
		{map[string]int{"1/null/noop": 5}, 0.5, Passed, "5 equal ones are 1 of 1, [.207, 1]"},
		{map[string]int{"1/null/noop": 5}, 0.1, Failed, "which is more than a tenth"},
	}
	w := gateWorlds["game24"]()
	for _, tt := range tests {
		in := newTestInspector(t, w, gateTasks["game24"], components.Catalogue())
		in.about.Chance = tt.chance
		var asked []string
		in.play = fakePlayer(tt.passes, &asked)
		var found inspection
		s, err := in.null(t.Context(), 1, &found)
		if err != nil || s.Result != tt.want || (s.Reason == "") != (tt.want == Passed) {
			t.Errorf("%s: %v, %v", tt.reason, s, err)
		}
		if tt.want == Passed {
			want := "1/null/noop 5, null/random 100, 1/null/random 20, 1/null/submit 5, 1/null/repeat 20"
			if got := strings.Join(asked, ", "); got != want || found.checked != 150 {
				t.Errorf("%s: played %s, %d counted (want %s)", tt.reason, got, found.checked, want)
			}
			found.checked, asked = 0, nil
			_, err := in.null(t.Context(), 2, &found)
			if err != nil || found.checked != 50 || slices.Contains(asked, "null/random 100") {
				t.Errorf("the unmodified task is played again: %v (%v)", asked, err)
			}
		}
	}
}

// TestNullUnjudged: an episode that could not be judged may have been a pass.
func TestNullUnjudged(t *testing.T) {
	tests := []struct {
		name   string
		slots  []int // that are spoilt
		end    envharness.EndReason
		want   string // part of the reason of the step; empty means an error
		reason string
	}{
		{"1/null/random", []int{0}, envharness.EndEnvError, "19 of 20 rollouts of random could be judged", "one is too many"},
		{"1/null/random", []int{3, 19}, envharness.EndTimeout, "18 of 20", "two"},
		{"1/null/noop", []int{4}, envharness.EndEnvError, "4 of 5 rollouts of noop", "though all must go alike"},
		{"1/null/submit", []int{1}, envharness.EndComponentError, "submit met a component that failed", "the component's own"},
		{"null/random", []int{99}, envharness.EndEnvError, "", "no candidate is in it"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, gateWorlds["game24"](), gateTasks["game24"], components.Catalogue())
		inner := fakePlayer(nil, new([]string))
		in.play = func(ctx context.Context, name string, s []envharness.Component, p maker, from, n int) ([]envharness.Trace, error) {
			traces, err := inner(ctx, name, s, p, from, n)
			for _, i := range tt.slots {
				if name == tt.name {
					traces[i] = envharness.Trace{End: tt.end, Cause: "down"}
				}
			}
			return traces, err
		}
		var found inspection
		s, err := in.null(t.Context(), 1, &found)
		if (err != nil) != (tt.want == "") || tt.want != "" && (s.Result != Failed || !strings.Contains(s.Reason, tt.want)) {
			t.Errorf("%s: %v, %v, want %q", tt.reason, s, err, tt.want)
		}
		if err != nil && (in.random != nil || !strings.Contains(err.Error(), "99 of 100")) {
			t.Errorf("%s: %v, and %v is kept", tt.reason, err, in.random)
		}
	}
}

// TestNullByChance plays the umbrella, in which half of all drawn episodes pass.
func TestNullByChance(t *testing.T) {
	for seed := range 5 {
		w, err := chain.World(chain.UmbrellaLengthShort)
		if err != nil {
			t.Fatal(err)
		}
		in := newTestInspector(t, w, fmt.Sprintf("3-%d", seed), components.Catalogue())
		found, err := in.inspect(t.Context(), 1, harder(part("tool_fail", `{"count":1}`)))
		if err != nil || lastStep(found) != "null pass" {
			t.Errorf("%v, %v", found.steps, err)
		}
	}
}

// TestNullPasses refuses a candidate that gives the task away.
func TestNullPasses(t *testing.T) {
	w := gateWorlds["keydoor"]()
	bare := newTestInspector(t, w, gateTasks["keydoor"], components.Catalogue())
	pilot := kindOf("pilot", envharness.AxisAction, func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
		turn := 0
		return envharness.Hooks{Action: func(context.Context, view, envharness.Action) (envharness.ActionEdit, error) {
			turn++
			return envharness.ReplaceAction(bare.plan[min(turn, len(bare.plan))-1]), nil
		}, Observe: func(_ context.Context, v view, o envharness.Observation) (envharness.Observation, error) {
			if turn > 0 {
				o.Data["applied"] = bare.plan[min(turn, len(bare.plan))-1].Name
			}
			return o, nil
		}}, nil
	})
	in := newTestInspector(t, w, gateTasks["keydoor"], registryWith(t, pilot), act("noop")...)
	found, err := in.inspect(t.Context(), 1, Candidate{Stack: []components.Entry{part("pilot", `{}`)}, Direction: components.Easier})
	if err != nil || lastStep(found) != "null fail" {
		t.Errorf("%v, %v", found.steps, err)
	}
}

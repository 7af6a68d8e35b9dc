package rigger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// refuses is a component that refuses a tool n times, with an error that says whether the same call may succeed later; a negative n means
// always.
func refuses(tool string, n int, retryable bool) envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: "refuses", Axis: envharness.AxisAction},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			left := n
			return envharness.Hooks{Action: func(_ context.Context, _ view, a action) (envharness.ActionEdit, error) {
				if a.Name != tool || left == 0 {
					return envharness.PassAction(), nil
				}
				left--
				return envharness.AnswerAction("no", &envharness.ActionError{Class: envharness.ClassPermission, Message: "no", Retryable: retryable}), nil
			}}, nil
		})
}

// offers is a component that lists one more call, which it sends as another one.
func offers(tool, sends string) envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: "offers", Axis: envharness.AxisObservation}, hooks(envharness.Hooks{
		Tools: func(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
			return append(tools, envharness.Tool{Name: tool}), nil
		},
		Observe: func(_ context.Context, _ view, o envharness.Observation) (envharness.Observation, error) {
			o.Actions = append(slices.Clone(o.Actions), envharness.Action{Name: tool})
			return o, nil
		},
		Action: func(_ context.Context, _ view, a action) (envharness.ActionEdit, error) {
			if a.Name == tool {
				return envharness.ReplaceAction(envharness.Action{Name: sends}), nil
			}
			return envharness.PassAction(), nil
		},
	}))
}

// states returns how many of them a search visited.
func states(t *testing.T, s solution) int {
	t.Helper()
	n := 0
	_, after, _ := strings.Cut(s.reason, "a search of ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Errorf("%q: %v", s.reason, err)
	}
	return n
}

func TestSearch(t *testing.T) {
	either := straight("abw", "ab") // "bab" passes as well, which the oracle does not plan unless it is on the way
	either.pass = func(done string) bool { return done == "ab" || done == "bab" }
	either.plan = func(done string) (string, error) {
		switch done {
		case "", "b":
			return "ab", nil
		case "a", "ba":
			return "b", nil
		}
		return "", envharness.ErrNoPlan
	}
	blind := straight("abw", "aab")
	blind.plan = nil
	tests := []struct {
		lane   *lane
		stack  []envharness.Component
		limit  int
		want   Result
		proof  string // empty means any
		most   int    // states
		reason string
	}{
		{straight("abw", "ab"), nil, 100, Passed, "ab", 9, "best first"},
		{straight("abw", "ab"), []envharness.Component{refuses("a", -1, false)}, 100, Unproven, "", 8,
			"a wait leads to the same situation, as the clock does not count"},
		{straight("ab", "ab"), []envharness.Component{refuses("a", 3, true)}, 100, Passed, "aaaab", 12, "as often as it takes"},
		{straight("ab", "ab"), []envharness.Component{refuses("a", 3, false)}, 100, Unproven, "", 8, "what may not succeed later is given up"},
		{straight("ab", "ab"), []envharness.Component{refuses("a", -1, true)}, 50, Unproven, "", 50, "but not for ever"},
		{straight("ab", "ab"), []envharness.Component{offers("z", "a"), refuses("a", -1, false)}, 100, Passed, "zb", 20,
			"a call that only a component offers"},
		{either, []envharness.Component{stepLimit(t, 2)}, 100, Passed, "ab", 10, "the plan just fits"},
		{either, []envharness.Component{stepLimit(t, 1)}, 100, Unproven, "", 6, "no plan fits"},
		{blind, nil, 500, Passed, "aab", 500, "without an oracle the shorter ways are visited first"},
		{blind, nil, 5, Unproven, "", 5, "the limit is kept"},
	}
	for _, tt := range tests {
		in := tt.lane.inspector(t)
		in.searchLimit = tt.limit
		s, err := in.search(t.Context(), tt.stack)
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		var proof strings.Builder
		for _, a := range s.proof {
			proof.WriteString(a.Name)
		}
		if s.result != tt.want || tt.proof != "" && proof.String() != tt.proof || states(t, s) > tt.most {
			t.Errorf("%s: %s with %q (%s), want %s with %q and at most %d states", tt.reason, s.result, proof.String(), s.reason, tt.want, tt.proof, tt.most)
		}
	}
}

func stepLimit(t *testing.T, n int) envharness.Component {
	t.Helper()
	return stackOf(t, part("step_budget", fmt.Sprintf(`{"turns":%d}`, n)))[0]
}

// TestClock: only what changes by itself is the clock, and a base that fails now and then is asked again.
func TestClock(t *testing.T) {
	in := straight("ab", "ab").inspector(t)
	fields, err := in.clock(t.Context())
	if err != nil || !maps.Equal(fields, map[string]bool{"turn": true}) {
		t.Errorf("%v, %v", fields, err)
	}
	for at := 1; at <= 2; at++ { // the reset and the step of the clock
		calls := 0
		in.world = frailWorld(straight("ab", "ab").world(), &calls, func(n int) bool { return n == at })
		in.searchLimit = 100
		if s, err := in.search(t.Context(), nil); err != nil || s.result != Passed {
			t.Errorf("down at call %d: %v, %v", at, s, err)
		}
	}
}

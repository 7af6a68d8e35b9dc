package envharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// A varied is a toy whose limit is the number of its numbers, and one more. One can be added, which is mutable.
type varied struct {
	*toy
	most  int             // MaxTurns
	tells func(n int) int // changes the answer, unless it is nil
}

func variedWorld(change func(v *varied)) eh.World {
	return eh.World{
		New: func(context.Context) (eh.Environment, error) {
			v := &varied{toy: &toy{start: []int{4, 6}}, most: 9}
			if change != nil {
				change(v)
			}
			return v, nil
		},
		Verifier: toyVerifier,
	}
}

func (v *varied) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	obs, err := v.toy.Reset(ctx, o)
	v.limit = len(v.numbers) + 1
	return obs, err
}

func (v *varied) TurnLimit() int {
	if v.tells != nil {
		return v.tells(v.limit)
	}
	return v.limit
}

func (v *varied) Describe() eh.Description {
	d := v.toy.Describe()
	d.MaxTurns, d.Mutable = v.most, []string{"/limit"}
	return d
}

func (v *varied) Observe(context.Context) (eh.Observation, error) { return v.observation(), nil }

func (v *varied) Snapshot(context.Context) (eh.State, error) {
	return json.Marshal(map[string]any{"limit": v.limit, "numbers": v.numbers, "steps": v.steps})
}

func (v *varied) Restore(_ context.Context, s eh.State) error {
	var to struct {
		Limit, Steps int
		Numbers      []int
	}
	if err := json.Unmarshal(s, &to); err != nil {
		return err
	}
	v.limit, v.steps, v.numbers = to.Limit, to.Steps, to.Numbers
	return nil
}

// The limit of the episode is what counts and what is shown, whoever takes the turns, unless another one is lower.
func TestTurnLimiter(t *testing.T) {
	budget := func(n int) eh.Component { return ruleID("b", eh.AxisBudget, eh.Hooks{MaxTurns: n}) }
	patch := func(limit int) eh.Component {
		return ruleID("patch", eh.AxisStart, eh.Hooks{Start: func(context.Context, eh.View) ([]eh.StartEdit, error) {
			return []eh.StartEdit{{Set: map[string]json.RawMessage{"/limit": fmt.Append(nil, limit)}}}, nil
		}})
	}
	plus := func(by int) func(*varied) {
		return func(v *varied) { v.tells = func(n int) int { return n + by } }
	}
	refused := eh.Action{Name: "fly"}
	tests := []struct {
		name    string
		change  func(*varied)
		stack   []eh.Component
		o       eh.RolloutOptions
		task    string
		action  eh.Action
		turns   int
		end     eh.EndReason
		blocked bool // no action reaches the base
		reason  string
	}{
		{"two", nil, nil, eh.RolloutOptions{}, "[4,6]", refused, 3, eh.EndTruncated, false, "the base truncates"},
		{"five", nil, nil, eh.RolloutOptions{}, "[1,1,1,1,1]", refused, 6, eh.EndTruncated, false, "another task, another limit"},
		{"blocked", nil, []eh.Component{blockOp("add")}, eh.RolloutOptions{}, "[1,1,1]", combine(0, 1, "add"), 4, eh.EndMaxTurns, true,
			"turns of which the base hears nothing count"},
		{"lower budget", nil, []eh.Component{budget(2)}, eh.RolloutOptions{}, "[4,6]", refused, 2, "budget:b", false, "the lowest counts"},
		{"higher budget", nil, []eh.Component{blockOp("add"), budget(5)}, eh.RolloutOptions{}, "[4,6]", combine(0, 1, "add"), 3, eh.EndMaxTurns,
			true, "the lowest counts"},
		{"lower cap", nil, nil, eh.RolloutOptions{MaxTurns: 2}, "[4,6]", refused, 2, eh.EndMaxTurns, false, "the lowest counts"},
		{"higher cap", nil, []eh.Component{blockOp("add")}, eh.RolloutOptions{MaxTurns: 5}, "[4,6]", combine(0, 1, "add"), 3, eh.EndMaxTurns, true,
			"the lowest counts"},
		{"no other", func(v *varied) { v.most = 0 }, []eh.Component{blockOp("add")}, eh.RolloutOptions{}, "[" + strings.Repeat("1,", 69) + "1]",
			combine(0, 1, "add"), 71, eh.EndMaxTurns, true, "a limit is known, and 50 is for where none is"},
		{"above MaxTurns", func(v *varied) { v.most = 4; plus(5)(v) }, []eh.Component{blockOp("add")}, eh.RolloutOptions{}, "[4,6]",
			combine(0, 1, "add"), 4, eh.EndMaxTurns, true, "MaxTurns is the highest"},
		{"none", plus(-3), []eh.Component{blockOp("add")}, eh.RolloutOptions{}, "[4,6]", combine(0, 1, "add"), 9, eh.EndMaxTurns, true,
			"0 leaves MaxTurns"},
		{"negative", plus(-9), []eh.Component{blockOp("add")}, eh.RolloutOptions{}, "[4,6]", combine(0, 1, "add"), 9, eh.EndMaxTurns, true,
			"so does less"},
		{"none at all", func(v *varied) { v.most = 0; plus(-3)(v) }, []eh.Component{blockOp("add")}, eh.RolloutOptions{}, "[4,6]",
			combine(0, 1, "add"), 50, eh.EndMaxTurns, true, "50 is for that"},
		{"less than none", func(v *varied) { v.most = 0; plus(-9)(v) }, []eh.Component{blockOp("add")}, eh.RolloutOptions{}, "[4,6]",
			combine(0, 1, "add"), 50, eh.EndMaxTurns, true, "so is less"},
		{"setup", nil, []eh.Component{eh.Setup{Actions: []eh.Action{combine(0, 1, "add")}}}, eh.RolloutOptions{}, "[1,1,1,1]", refused, 5,
			eh.EndTruncated, false, "its turns do not count"},
		{"setup, blocked", nil, []eh.Component{eh.Setup{Actions: []eh.Action{combine(0, 1, "mul")}}, blockOp("add")}, eh.RolloutOptions{}, "[1,1,1]",
			combine(0, 1, "add"), 4, eh.EndMaxTurns, true, "its turns do not count"},
		{"patch", nil, []eh.Component{patch(7)}, eh.RolloutOptions{}, "[4,6]", refused, 7, eh.EndTruncated, false, "the limit was set at the start"},
		{"patch, blocked", nil, []eh.Component{patch(2), blockOp("add")}, eh.RolloutOptions{}, "[4,6]", combine(0, 1, "add"), 2, eh.EndMaxTurns, true,
			"the limit was set at the start"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			var left []int
			p := eh.PolicyFunc(func(_ context.Context, turn eh.Turn) (eh.Action, error) {
				left = append(left, turn.Left)
				return tt.action, nil
			})
			traces, err := eh.Rollouts(t.Context(), variedWorld(tt.change), tt.stack, func(int) (eh.Policy, error) { return p, nil },
				[]eh.Task{{ID: tt.task}}, &tt.o)
			if err != nil {
				t.Fatal(err)
			}
			var want []int
			for n := tt.turns; n > 0; n-- {
				want = append(want, n)
			}
			if d := cmp.Diff(want, left); d != "" {
				t.Errorf("turns left (-want +got, %s):\n%s", tt.reason, d)
			}
			got := traces[0]
			steps := slices.ContainsFunc(got.Turns, func(u eh.TurnTrace) bool { return u.Raw != nil })
			if got.End != tt.end || got.Verdict.Status != eh.Fail || got.Verdict.Unreplayed || steps == tt.blocked {
				t.Errorf("end %s, %+v, the base was stepped %v, cause %q (%s)", got.End, got.Verdict, steps, got.Cause, tt.reason)
			}
		})
	}
}

// One harness plays one task after the other, and hooks are shown the same as policies.
func TestTurnLimiterHooks(t *testing.T) {
	var left []int
	note := ruleID("note", eh.AxisObservation, eh.Hooks{Observe: func(_ context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
		left = append(left, v.Left)
		return o, nil
	}})
	h := mustNew(t, variedWorld(nil), note)
	for _, task := range []string{"[1,1,1]", "[4,6]", "[1,1,1,1]"} {
		if _, err := h.Reset(t.Context(), eh.ResetOptions{Task: task}); err != nil {
			t.Fatal(err)
		}
		mustStep(t, h, combine(0, 1, "add"))
	}
	if want := []int{4, 4, 3, 3, 5, 5}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

// A noCounter hides RewindCounters behind a method of another form.
type noCounter struct{ *varied }

func (noCounter) RewindCounters() {}

func TestTurnLimiterFaults(t *testing.T) {
	change := func(most int, tells func(made int) func(int) int) eh.World {
		made := 0
		return variedWorld(func(v *varied) { v.most, v.tells = most, tells(made); made++ })
	}
	blocked := []eh.Component{blockOp("add")}
	for _, tt := range []struct {
		name   string
		world  eh.World
		stack  []eh.Component
		end    eh.EndReason
		says   string
		want   error
		reason string
	}{
		{"panic", change(9, func(int) func(int) int { return func(int) int { panic("no limit") } }), blocked, eh.EndEnvError, "turn limit: panic", nil,
			"of the environment"},
		{"another in the replay", change(9, func(made int) func(int) int { return func(n int) int { return n - made } }), blocked,
			eh.EndEnvError, "the limit is 2 turns, and was 3", eh.ErrTamper, "the blocked turns would have ended at another one"},
		{"panic in the replay", change(9, func(made int) func(int) int {
			return func(n int) int { return n / (1 - made) }
		}), blocked, eh.EndEnvError, "replay: turn limit: panic", nil, "of the environment"},
		{"no rewinder", eh.World{New: func(context.Context) (eh.Environment, error) {
			return noCounter{&varied{toy: &toy{start: []int{1, 1, 1}}}}, nil
		}, Verifier: toyVerifier}, []eh.Component{eh.Setup{Actions: []eh.Action{combine(0, 1, "add")}}}, eh.EndComponentError, "cannot rewind", eh.ErrStart,
			"the turns of the setup would count, although there is no MaxTurns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			traces, err := eh.Rollouts(t.Context(), tt.world, tt.stack, func(int) (eh.Policy, error) { return script(repeated(combine(0, 1, "add"), 9)...), nil },
				[]eh.Task{{}}, &noReruns)
			if err != nil {
				t.Fatal(err)
			}
			got := traces[0]
			if got.Verdict.Status != eh.Invalid || got.End != tt.end || !strings.Contains(got.Cause, tt.says) {
				t.Errorf("end %s, %+v, cause %q (%s)", got.End, got.Verdict, got.Cause, tt.reason)
			}
			if tt.want != nil && !strings.Contains(got.Cause, tt.want.Error()) {
				t.Errorf("cause %q, want it to say %q (%s)", got.Cause, tt.want, tt.reason)
			}
		})
	}
}

func repeated(a eh.Action, n int) []eh.Action {
	var out []eh.Action
	for range n {
		out = append(out, a)
	}
	return out
}

// A chain has the limits of its legs: those that have begun are known, the others as their descriptions say.
func TestLinkTurnLimiters(t *testing.T) {
	leg := func(task string) eh.Leg { return eh.Leg{World: variedWorld(nil), Task: task} }
	open := eh.Leg{World: toyWorld(nil, nil)}                                         // no limit at all
	told := eh.Leg{World: variedWorld(func(v *varied) { v.most = 0 }), Task: "[4,6]"} // none declared
	fixed := eh.Leg{World: toyWorld(nil, func(e *toy) { e.limit = 4 })}               // no TurnLimiter
	nested := eh.Leg{World: chainOf(t, nil, leg("[4,6]"), leg("[1,1,1]"))}            // 3 + 4 of 18
	budget := leg("[1,1,1,1]")                                                        // 5, and a component that ends it after 2
	budget.Components = []eh.Component{ruleID("b", eh.AxisBudget, eh.Hooks{MaxTurns: 2})}
	for _, tt := range []struct {
		name   string
		legs   []eh.Leg
		o      *eh.LinkOptions
		want   []int // turns left
		reason string
	}{
		{"two", []eh.Leg{leg("[4,6]"), leg("[1,1,1]")}, nil, []int{12, 11, 10, 4, 3, 2, 1}, "3 + 9, then 3 + 4"},
		{"one is fixed", []eh.Leg{fixed, leg("[4,6]")}, nil, []int{13, 12, 11, 10, 3, 2, 1}, "4 + 9, then 4 + 3"},
		{"a chain in a chain", []eh.Leg{nested, leg("[4,6]")}, nil, []int{21, 20, 19, 13, 12, 11, 10, 3, 2, 1},
			"12 + 9 turns, then 7 + 9, then 7 + 3"},
		{"a chain of its own limit", []eh.Leg{leg("[4,6]"), leg("[4,6]")}, &eh.LinkOptions{MaxTurns: 4}, []int{4, 3, 2, 1}, "it is the caller's"},
		{"a chain of a higher limit", []eh.Leg{leg("[4,6]"), leg("[4,6]")}, &eh.LinkOptions{MaxTurns: 20}, []int{20, 19, 18, 17, 16, 15},
			"it is the caller's, whatever the legs have"},
		{"no limit", []eh.Leg{leg("[4,6]"), open}, &eh.LinkOptions{}, []int{50, 49, 48, 47}, "a leg has none; 50 is for that"},
		{"none declared", []eh.Leg{told, told}, nil, []int{50, 49, 48, 47, 46, 45}, "what is not declared is not known before the leg begins"},
		{"a budget in a leg", []eh.Leg{budget, leg("[4,6]")}, nil, []int{14, 13, 6, 5, 4}, "5 + 9, then 5 + 3: the leg's own limits count"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var left []int
			p := eh.PolicyFunc(func(_ context.Context, turn eh.Turn) (eh.Action, error) {
				left = append(left, turn.Left)
				if len(left) == len(tt.want) && turn.Left > 1 {
					return eh.Action{}, eh.ErrStop
				}
				return eh.Action{Name: "fly"}, nil
			})
			traces, err := eh.Rollouts(t.Context(), chainOf(t, tt.o, tt.legs...), nil, func(int) (eh.Policy, error) { return p, nil }, []eh.Task{{}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, left); d != "" {
				t.Errorf("turns left (-want +got, %s):\n%s", tt.reason, d)
			}
			if got := traces[0]; got.Verdict.Status != eh.Fail || got.Verdict.Unreplayed {
				t.Errorf("end %s, %+v, cause %q", got.End, got.Verdict, got.Cause)
			}
		})
	}
}

// Blocked turns around a chain are held to what is left when a leg begins.
func TestLinkBlockedTurns(t *testing.T) {
	leg := func(task string) eh.Leg { return eh.Leg{World: variedWorld(nil), Task: task} }
	h := mustNew(t, chainOf(t, nil, leg("[4,6]"), leg("[4,6]")), blockOp("add"))
	mustReset(t, h)
	for n := 1; ; n++ {
		a := combine(0, 1, "add") // blocked
		if n > 2 && n < 6 {
			a = eh.Action{Name: "fly"}
		}
		tr := mustStep(t, h, a)
		if tr.Ended() {
			if n != 6 || tr.Reason != string(eh.EndMaxTurns) {
				t.Errorf("turn %d: %q, want the sixth, of 3 + 3", n, tr.Reason)
			}
			break
		}
	}
	if v := mustVerdict(t, h); v.Status != eh.Fail || v.Unreplayed {
		t.Errorf("%+v", v)
	}
	// The second leg begins after more turns than both have.
	mustReset(t, h)
	for n := 1; ; n++ {
		a := combine(0, 1, "add")
		if n > 5 {
			a = eh.Action{Name: "fly"}
		}
		if tr := mustStep(t, h, a); tr.Ended() {
			if n != 8 || tr.Reason != string(eh.EndMaxTurns) {
				t.Errorf("turn %d: %q, want the eighth, which begins the second leg", n, tr.Reason)
			}
			break
		}
	}
	if _, err := h.Step(t.Context(), stop); !errors.Is(err, eh.ErrEpisodeOver) {
		t.Error(err)
	}
}

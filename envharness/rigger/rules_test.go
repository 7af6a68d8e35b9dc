package rigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

func design(t testing.TB, b rigger.Brief) rigger.Candidate {
	t.Helper()
	c, err := rigger.Rules{}.Design(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkCandidate(b, c); err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	return c
}

// all returns the candidates that follow on one another if each is rejected.
func all(t testing.TB, b rigger.Brief) []rigger.Candidate {
	t.Helper()
	var out []rigger.Candidate
	for range 100 {
		c := design(t, b)
		if len(c.Stack) == 0 {
			return out
		}
		out = append(out, c)
		b = attempt(b, c, rigger.Reject)
	}
	t.Fatal("100 candidates, and no end")
	return nil
}

func TestRulesRemedies(t *testing.T) {
	desk, room := newBrief(t, tooldesk.World(nil), 0), newBrief(t, household.World(nil), 0)
	for _, tt := range []struct {
		flaw           diagnosis.ID
		turns          []int
		harder, easier string // of tooldesk, for the flaw itself
		harderRoom     string // of household
		easierRoom     string
		reason         string
	}{
		{"F01", []int{0}, "step_budget block", "order_lock", "step_budget block", "", "the looping call of the success is on the way, so it is never refused for good"},
		{"F02", nil, "submit_gate", "submit_gate start_replay", "", "start_replay", "one tool that reads and submits cannot be gated"},
		{"F03", []int{1}, "tool_fail", "order_lock start_replay", "tool_fail", "start_replay", "the order of one tool is nothing to lock with a reason"},
		{"F04", []int{1}, "tool_fail", "start_replay", "tool_fail", "start_replay", "table of flaws"},
		{"F05", []int{1}, "permission", "", "", "", "nothing to take out of service; the find_customer before grants"},
		{"F06", nil, "paginate", "start_replay", "paginate", "start_replay", "start_patch has no values to set"},
		{"F07", nil, "step_budget", "start_replay", "step_budget", "start_replay", "table of flaws"},
		{"F08", nil, "", "start_replay", "", "start_replay", "who runs into limits gets no lower ones"},
		{"F09", nil, "schema_drift rename", "start_replay", "schema_drift rename", "start_replay", "table of flaws"},
		{"F10", []int{2}, "order_lock permission", "order_lock", "order_lock", "", "calls of one tool are locked without a reason"},
		{"F11", nil, "submit_gate tool_fail", "submit_gate", "tool_fail", "", "table of flaws"},
		{"F12", nil, "hide_keys distractor", "", "hide_keys distractor", "", "start_patch has no values to set"},
		{"F13", nil, "stale_read obs_delay", "start_replay", "obs_delay", "start_replay", "household has no tool that reads"},
		{"F14", nil, "corrupt_read", "", "", "", "household has no tool that reads"},
		{"F15", nil, "schema_drift", "", "schema_drift", "", "no call of an unknown tool was pointed at"},
		{"F16", nil, "distractor", "", "distractor", "", "no detour was pointed at"},
		{"F17", nil, "hide_keys", "start_replay", "hide_keys", "start_replay", "table of flaws"},
		{"F18", nil, "order_lock", "order_lock", "order_lock", "", "no declared edges: those of the plan"},
		{"F19", []int{2}, "sticky tool_fail", "call_cap", "tool_fail", "call_cap", "household's one tool submits, which sticky leaves alone"},
		{"F20", []int{1}, "rate_limit", "call_cap", "rate_limit", "call_cap", "table of flaws"},
	} {
		t.Run(string(tt.flaw), func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			for _, row := range []struct {
				b         rigger.Brief
				direction components.Direction
				want      string
			}{
				{desk, components.Harder, tt.harder}, {desk, components.Easier, tt.easier},
				{room, components.Harder, tt.harderRoom}, {room, components.Easier, tt.easierRoom},
			} {
				b := row.b
				b.Failure = nil // the random one would add what it happened to do
				b.Direction = row.direction
				b.Flaws = []diagnosis.Flaw{flaw(b, tt.flaw, tt.turns...)}
				var got []string
				for c := design(t, b); c.Flaw == tt.flaw && len(c.Stack) == 1; c = design(t, b) {
					got = append(got, c.Stack[0].Tag)
					if k, _ := components.Catalogue().Kind(c.Stack[0].Tag); k.Direction&row.direction == 0 {
						t.Errorf("%s is %v, which the gate refuses where the task is to become %v", k.Tag, k.Direction, row.direction)
					}
					b = attempt(b, c, rigger.Reject)
				}
				if got := strings.Join(got, " "); got != row.want {
					t.Errorf("%s %v: %q, want %q (%s)", b.World.Name, row.direction, got, row.want, tt.reason)
				}
			}
		})
	}
}

func TestRulesDefaultOrder(t *testing.T) {
	for _, tt := range []struct {
		world  envharness.World
		d      components.Direction
		want   string
		reason string
	}{
		{tooldesk.World(nil), components.Harder, "step_budget tool_fail hide_keys paginate obs_delay distractor order_lock step_budget+tool_fail", "F00, all can be made"},
		{household.World(nil), components.Harder, "step_budget tool_fail hide_keys paginate obs_delay distractor order_lock tool_fail+step_budget", "F00"},
		{tooldesk.World(nil), components.Easier, "start_replay", "F00, and nothing to pair it with"},
	} {
		b := newBrief(t, tt.world, 0)
		b.Direction = tt.d
		var got []string
		for _, c := range all(t, b) {
			got = append(got, strings.Join(tags(c), "+"))
		}
		want := strings.ReplaceAll(tt.want, "step_budget+tool_fail", "tool_fail+step_budget") // budgets stand outside
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q, want %q (%s)", got, want, tt.reason)
		}
	}
}

// rungs returns the parameters from the mildest to the strongest of what the rules propose first for a flaw.
func rungs(t *testing.T, b rigger.Brief) []string {
	t.Helper()
	var out []string
	for first := ""; ; {
		c := design(t, b)
		if len(c.Stack) != 1 || first != "" && c.Stack[0].Tag != first || len(out) > 9 {
			return out
		}
		first = c.Stack[0].Tag
		out = append(out, string(c.Stack[0].Params))
		b = attempt(b, c, rigger.Refine)
		b.Refine = &rigger.Refinement{Harder: b.Direction == components.Harder}
	}
}

func TestRulesLadders(t *testing.T) {
	door, game := newBrief(t, keydoor.World(nil), 0), newBrief(t, game24.World(nil), 0)
	desk, room := newBrief(t, tooldesk.World(nil), 0), newBrief(t, household.World(nil), 0)
	with := func(b rigger.Brief, d components.Direction, f diagnosis.ID, turns ...int) rigger.Brief {
		b.Direction = d
		if f != "" {
			b.Flaws = []diagnosis.Flaw{flaw(b, f, turns...)}
		}
		return b
	}
	limited := with(room, components.Harder, "")
	limited.Baseline.Limit = 9
	noPlan := with(desk, components.Harder, "")
	noPlan.Plan = nil
	noFailure := with(desk, components.Harder, "F10", 2)
	noFailure.Failure = nil
	declared := with(desk, components.Harder, "F18")
	declared.Edges = []components.Edge{{Before: components.Match{Tool: "get_order"}, After: components.Match{Tool: "submit"}}}
	for _, tt := range []struct {
		name   string
		b      rigger.Brief
		want   []string
		reason string
	}{
		{"budget", with(door, components.Harder, ""), []string{`{"turns":28}`, `{"turns":21}`, `{"turns":17}`}, "14 turns: 2, 1.5 and 1.2 times, 16.8 rounded up"},
		{"budget of a success", noPlan, []string{`{"turns":8}`, `{"turns":6}`, `{"turns":5}`}, "4 turns, 4.8 rounded up"},
		{"budget under a limit", limited, []string{`{"turns":8}`}, "6 turns: 12 and 9 are no less than there are; 7.2 rounded up"},
		{"slow", with(door, components.Harder, "F07"), []string{`{"turns":21}`, `{"turns":17}`}, "begins at 1.5"},
		{"aid of 14", aidOf(door), setups(door, 3, 7, 10), "3.5, 7 and 10.5 rounded down"},
		{"aid of 4", aidOf(game), setups(game, 1, 2, 3), "1, 2, 3"},
		{"aid of 2", aidOf(cutPlan(game, 2)), setups(game, 1), "at least one, never all"},
		{"no aid of 1", aidOf(cutPlan(game, 1)), nil, "one action would be all"},
		{"failures", with(desk, components.Harder, "F04", 1), []string{
			`{"count":1,"nth":1,"tools":["get_order"]}`, `{"count":2,"nth":1,"tools":["get_order"]}`,
			`{"count":3,"nth":1,"tools":["get_order"]}`,
		}, "the tool that was pointed at, the ladder of the catalogue"},
		{"orders", noFailure, []string{
			`{"edges":[{"after":{"tool":"cancel_order"},"before":{"tool":"get_order"}}],"hide":true}`,
			`{"edges":[{"after":{"tool":"cancel_order"},"before":{"tool":"get_order"}},{"after":{"tool":"get_order"},"before":{"tool":"find_customer"}}],"hide":true}`,
			`{"edges":[{"after":{"tool":"cancel_order"},"before":{"tool":"get_order"}},{"after":{"tool":"get_order"},"before":{"tool":"find_customer"}},` +
				`{"after":{"tool":"submit"},"before":{"tool":"cancel_order"}}],"hide":true}`,
		}, "the one before the tool at fault first"},
		{"declared orders", declared, []string{`{"edges":[{"after":{"tool":"submit"},"before":{"tool":"get_order"}}],"hide":true}`}, "those that the world asks for"},
		{"calls of one tool", with(room, components.Harder, "F18"), []string{
			`{"edges":[{"after":{"args":{"text":"move tissuebox 1 to cabinet 1"},"tool":"do"},"before":{"args":{"text":"open cabinet 1"},"tool":"do"}}],"hide":true}`,
			`{"edges":[{"after":{"args":{"text":"move tissuebox 1 to cabinet 1"},"tool":"do"},"before":{"args":{"text":"open cabinet 1"},"tool":"do"}},` +
				`{"after":{"args":{"text":"open cabinet 1"},"tool":"do"},"before":{"args":{"text":"go to cabinet 1"},"tool":"do"}}],"hide":true}`,
			`{"edges":[{"after":{"args":{"text":"move tissuebox 1 to cabinet 1"},"tool":"do"},"before":{"args":{"text":"open cabinet 1"},"tool":"do"}},` +
				`{"after":{"args":{"text":"open cabinet 1"},"tool":"do"},"before":{"args":{"text":"go to cabinet 1"},"tool":"do"}},` +
				`{"after":{"args":{"text":"go to cabinet 1"},"tool":"do"},"before":{"args":{"text":"take tissuebox 1 from drawer 2"},"tool":"do"}},` +
				`{"after":{"args":{"text":"take tissuebox 1 from drawer 2"},"tool":"do"},"before":{"args":{"text":"open drawer 2"},"tool":"do"}}],"hide":true}`,
		}, "by their arguments, from the end, without a word"},
		{"permission", with(desk, components.Harder, "F05", 2), []string{
			`{"grant":{"tool":"find_customer"},"tools":["cancel_order"]}`,
			`{"expires":8,"grant":{"tool":"find_customer"},"tools":["cancel_order"]}`,
			`{"expires":4,"grant":{"tool":"find_customer"},"tools":["cancel_order"]}`,
		}, "a reading tool of the plan grants"},
		{"gate", with(desk, components.Harder, "F02"), []string{
			`{"max_blocks":2,"require":[{"tool":"get_order"}]}`, `{"max_blocks":4,"require":[{"tool":"get_order"}]}`,
		}, "what the plan read last"},
		{"random failures", afterFirst(t, with(desk, components.Harder, "F11")), []string{
			`{"count":1,"mode":"rate","p":0.2,"tools":["cancel_order"]}`, `{"count":1,"mode":"rate","p":0.4,"tools":["cancel_order"]}`,
			`{"count":1,"mode":"rate","p":0.6,"tools":["cancel_order"]}`,
		}, "the writes of the plan"},
		{"hidden actions", with(desk, components.Harder, "F17"), []string{`{"actions":true,"until":2}`, `{"actions":true}`}, "half of 4 turns, then all"},
		{"one write", with(desk, components.Easier, "F19", 2), []string{`{"max":1,"tools":["cancel_order"]}`}, "as often as the plan makes it"},
		{"cooldown", with(desk, components.Easier, "F20", 1), []string{
			`{"cooldown":2,"max":3,"tools":["get_order"]}`, `{"cooldown":3,"max":2,"tools":["get_order"]}`, `{"cooldown":4,"max":1,"tools":["get_order"]}`,
		}, "the tool that was hammered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			b := tt.b
			if slices.Contains([]string{"failures", "permission", "one write", "cooldown"}, tt.name) {
				b.Failure = nil
				b.Flaws = []diagnosis.Flaw{flaw(b, b.Flaws[0].ID, b.Flaws[0].Found[0].Turns...)}
			}
			if diff := cmp.Diff(tt.want, rungs(t, b)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.reason, diff)
			}
		})
	}
}

// afterFirst is the brief after the first candidate was rejected.
func afterFirst(t *testing.T, b rigger.Brief) rigger.Brief {
	return attempt(b, design(t, b), rigger.Reject)
}

func aidOf(b rigger.Brief) rigger.Brief {
	b.Direction = components.Easier
	b.Attempts, b.Flaws = nil, nil
	return b
}

func cutPlan(b rigger.Brief, n int) rigger.Brief {
	b.Plan = b.Plan[:n]
	return b
}

func setups(b rigger.Brief, lengths ...int) []string {
	var out []string
	for _, n := range lengths {
		raw, err := envharness.CanonicalJSON(envharness.Setup{Actions: b.Plan[:n], Aid: true})
		if err != nil {
			panic(err)
		}
		out = append(out, string(raw))
	}
	return out
}

// A loop is refused by what it calls, also where all calls are of one tool.
func TestRulesBlockLoops(t *testing.T) {
	loop := envharness.Action{Name: "do", Args: json.RawMessage(`{"text":"look"}`)}
	b := newBrief(t, household.World(nil), 0)
	b.Failure = &envharness.Trace{Slot: 4}
	for range 4 {
		b.Failure.Turns = append(b.Failure.Turns, envharness.TurnTrace{Proposed: &loop})
	}
	for _, tt := range []struct {
		flaw   diagnosis.Flaw
		d      components.Direction
		want   []string
		reason string
	}{
		{diagnosis.Flaw{ID: "F01", Found: []diagnosis.Finding{{Slot: 4, Turns: []int{1, 2, 3}}}}, components.Easier,
			[]string{`{"args":{"text":"look"},"reason":"nothing new comes of this call","tools":["do"]}`}, "pointed at, and not on the way"},
		{diagnosis.Flaw{ID: "F05"}, components.Easier,
			[]string{`{"args":{"text":"look"},"reason":"nothing new comes of this call","tools":["do"]}`}, "made four times"},
		{diagnosis.Flaw{ID: "F16", Found: []diagnosis.Finding{{Slot: 4, Turns: []int{0}}}}, components.Easier, setups(b, 1, 3, 4), "the tool is on the way"},
	} {
		b := b
		b.Direction, b.Flaws = tt.d, []diagnosis.Flaw{tt.flaw}
		if diff := cmp.Diff(tt.want, rungs(t, b)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.reason, diff)
		}
	}
	b.Flaws = []diagnosis.Flaw{{ID: "F01"}}
	c := design(t, attempt(b, design(t, b), rigger.Reject)) // after step_budget
	if want := `{"args":{"text":"look"},"max":1,"reason":"not available","tools":["do"]}`; string(c.Stack[0].Params) != want {
		t.Errorf("%s, want %s", c.Stack[0].Params, want)
	}
}

// A call that a known solution makes is never refused for good.
func TestRulesKeepTheWay(t *testing.T) {
	b := newBrief(t, tooldesk.World(nil), 0)
	b.Failure = nil
	b.Flaws = []diagnosis.Flaw{flaw(b, "F01", 0)}
	b = attempt(b, design(t, b), rigger.Reject)
	got := rungs(t, b)
	if len(got) != 2 || !strings.Contains(got[0], `"max":1`) || !strings.Contains(got[1], `"max":2`) {
		t.Errorf("%q: want one and two refusals", got)
	}
}

func TestRulesProcedure(t *testing.T) {
	b := newBrief(t, tooldesk.World(nil), 0)
	first := design(t, b)
	refine := func(b rigger.Brief, harder, relax bool) rigger.Brief {
		b.Attempts = slices.Clone(b.Attempts)
		b.Attempts[len(b.Attempts)-1].Decision = rigger.Refine
		b.Refine = &rigger.Refinement{Harder: harder, RelaxBudgets: relax}
		return b
	}
	params := func(c rigger.Candidate) string { return strings.Join(tags(c), "+") + string(c.Stack[0].Params) }
	once := attempt(b, first, rigger.Reject)
	second := design(t, refine(once, true, false))
	twice := attempt(once, second, rigger.Reject)
	noop := rigger.StepResult{Step: rigger.StepStatic, Result: rigger.Failed, Reason: "no-op"}
	other := rigger.Candidate{Stack: []components.Entry{{Tag: "sticky"}}, Direction: components.Harder}
	aid := newBrief(t, tooldesk.World(nil), 0)
	aid.Direction = components.Easier
	aided := attempt(aid, design(t, aid), rigger.Reject)
	aided2 := attempt(aided, design(t, refine(aided, false, false)), rigger.Reject)
	limits := newBrief(t, tooldesk.World(nil), 0)
	limits.Flaws = []diagnosis.Flaw{{ID: diagnosis.BudgetExhausted}, {ID: diagnosis.Loop}}
	for _, tt := range []struct {
		name   string
		b      rigger.Brief
		want   string
		reason string
	}{
		{"first", b, `step_budget{"turns":8}`, "the mildest"},
		{"stronger", refine(once, true, false), `step_budget{"turns":6}`, "the next rung"},
		{"strongest", refine(twice, true, false), `step_budget{"turns":5}`, "the next rung"},
		{"milder than the mildest", refine(once, false, false), "tool_fail", "no rung, the next candidate"},
		{"milder was tried", refine(twice, false, false), "tool_fail", "never again"},
		{"rejected", once, "tool_fail", "the next candidate"},
		{"rejected, and stronger rejected", twice, "tool_fail", "the next candidate"},
		{"no-op", attempt(b, first, rigger.Reject, noop), `step_budget{"turns":6}`, "what changes nothing is too mild"},
		{"not ours", attempt(b, other, rigger.Reject), `step_budget{"turns":8}`, "of another designer"},
		{"refine what is not ours", refine(attempt(b, other, rigger.Reject), true, false), `step_budget{"turns":8}`, "nothing to refine"},
		{"more aid", refine(aided, false, false), "start_replay" + setups(aid, 2)[0], "an easier task needs more of it"},
		{"less aid", refine(aided2, true, false), "", "it was tried"},
		{"aid that leaves more turns", refine(aided, false, true), "start_replay" + setups(aid, 2)[0], "the way is shorter"},
		{"limits", limits, "block", "F08: no lower limits, F01 has a block left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := design(t, tt.b)
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			if tt.want == "" {
				if len(c.Stack) > 0 {
					t.Errorf("%v, want none (%s)", c, tt.reason)
				}
				return
			}
			if len(c.Stack) == 0 || !strings.HasPrefix(params(c), tt.want) {
				t.Errorf("%v, want %s (%s)", c, tt.want, tt.reason)
			}
		})
	}

	// Less of a budget leaves more turns, less to see does not.
	b.Flaws = []diagnosis.Flaw{{ID: diagnosis.LittleExploration}}
	hidden := attempt(b, design(t, b), rigger.Reject)
	hidden2 := attempt(b, design(t, refine(hidden, true, false)), rigger.Reject)
	if c := design(t, refine(hidden2, false, false)); c.Stack[0].Tag != "hide_keys" {
		t.Errorf("%v, want the milder hide_keys", c)
	}
	if c := design(t, refine(hidden2, false, true)); c.Stack[0].Tag != "step_budget" {
		t.Errorf("%v, want the next candidate", c)
	}
}

// What a screening liked and a confirmation did not is taken up again after all other singles, with the rungs that are left, and before the
// pair.
func TestRulesNearMiss(t *testing.T) {
	b := newBrief(t, tooldesk.World(nil), 0)
	liked := rigger.StepResult{Step: rigger.StepScreen, Result: rigger.Passed}
	b = attempt(b, design(t, b), rigger.Reject, liked)
	var got []string
	for _, c := range all(t, b) {
		got = append(got, strings.Join(tags(c), "+")+string(c.Stack[0].Params))
	}
	if n := len(got); n < 3 || got[n-3] != `step_budget{"turns":6}` || got[n-2] != `step_budget{"turns":5}` ||
		!strings.HasPrefix(got[n-1], "tool_fail+step_budget") {
		t.Errorf("%q", got)
	}
}

// A pair is of one flaw, and grows rung by rung.
func TestRulesPair(t *testing.T) {
	b := newBrief(t, tooldesk.World(nil), 0)
	b.Flaws = []diagnosis.Flaw{flaw(b, "F04"), flaw(b, "F06")} // one component each
	for c := design(t, b); len(c.Stack) > 0; c = design(t, b) {
		b = attempt(b, c, rigger.Reject)
	}
	pair := b.Attempts[len(b.Attempts)-1].Candidate
	if got := strings.Join(tags(pair), "+"); got != "hide_keys+step_budget" || pair.Flaw != "" {
		t.Errorf("%s for %q, want the first two of F00, the budget outside", got, pair.Flaw)
	}
	b.Refine = &rigger.Refinement{Harder: true}
	stronger := design(t, b)
	if len(stronger.Stack) != 2 || string(stronger.Stack[0].Params) != `{"actions":true}` || string(stronger.Stack[1].Params) != `{"turns":6}` {
		t.Errorf("%v, want the second rung of both", stronger)
	}
}

// The components of a caller's own follow on those of the catalogue, as far as they have a ladder and work in the direction.
func TestRulesOwnComponents(t *testing.T) {
	b := newBrief(t, tooldesk.World(nil), 0)
	add := func(tag string, d components.Direction, ladder ...json.RawMessage) {
		err := b.Registry.Add(components.Kind{Tag: tag, Version: 3, Axis: envharness.AxisObservation, Direction: d, Ladder: ladder,
			New: func(params json.RawMessage) (envharness.Component, error) {
				if string(params) == `{"n":-1}` {
					return nil, errors.New("out of range")
				}
				return envharness.Rules(envharness.ComponentSpec{Tag: tag, Axis: envharness.AxisObservation, Params: params},
					func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
						return envharness.Hooks{}, nil
					}), nil
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
	add("fog", components.Harder, json.RawMessage(`{"n": -1}`), json.RawMessage(`{"n": 1}`))
	add("sun", components.Easier, json.RawMessage(`{}`))
	add("rain", components.Harder)
	candidates := all(t, b)
	last := candidates[len(candidates)-2] // before the pair
	if e := last.Stack[0]; e.Tag != "fog" || e.Version != 3 || string(e.Params) != `{"n":1}` {
		t.Errorf("%v, want the rung of fog that can be built", last)
	}
	for _, c := range candidates {
		if slices.Contains(tags(c), "sun") || slices.Contains(tags(c), "rain") {
			t.Errorf("%v", c)
		}
	}
	b.Registry = components.NewRegistry()
	if c := design(t, b); len(c.Stack) > 0 {
		t.Errorf("%v of an empty registry", c)
	}
}

// A world of one's own may have names that are patterns, schemas that say more than names, and no oracle.
func TestRulesOwnWorld(t *testing.T) {
	did := func(name string, refusal *envharness.ActionError) envharness.TurnTrace {
		a := &envharness.Action{Name: name}
		tr := envharness.Transition{Observation: envharness.Observation{Text: name}, Error: refusal}
		return envharness.TurnTrace{Proposed: a, Applied: a, Raw: &tr, Shown: tr}
	}
	refused := &envharness.ActionError{Class: envharness.ClassPrecondition, Message: "not yet"}
	b := rigger.Brief{
		World: envharness.Description{Tools: []envharness.Tool{
			{Name: "a*[b]", Schema: json.RawMessage(`{"type":"object","properties":{"x":{}},"required":["x","y"]}`)},
			{Name: "c", Schema: json.RawMessage(`{"type":"object","properties":{"z":{}},"required":["z"]}`)},
		}},
		Success: &envharness.Trace{Slot: 2, Verdict: envharness.Verdict{Status: envharness.Pass},
			Turns: []envharness.TurnTrace{did("c", refused), did("a*[b]", nil), did("a*[b]", nil), did("c", nil)}},
	}
	for _, tt := range []struct {
		d      components.Direction
		flaw   diagnosis.Flaw
		want   string
		reason string
	}{
		{components.Easier, diagnosis.Flaw{}, `{"actions":[{"name":"a*[b]"}],"aid":true}`, "what was refused is no part of a start"},
		{components.Harder, diagnosis.Flaw{ID: "F04", Found: []diagnosis.Finding{{Slot: 2, Turns: []int{1}}}},
			`{"count":1,"nth":1,"tools":["a\\*\\[b]"]}`, "a name is no pattern"},
		{components.Harder, diagnosis.Flaw{ID: "F04", Found: []diagnosis.Finding{{Slot: 3, Turns: []int{1}}}},
			`{"count":1,"nth":1,"tools":["a\\*\\[b]","c"]}`, "the finding is of a rollout that the brief does not have"},
		{components.Harder, diagnosis.Flaw{ID: "F09"}, `{"tools":{"c":{"rename":{"z":"z_v2"},"version":"v2"}}}`, "y is required and nowhere: that schema cannot be rewritten"},
		{components.Harder, diagnosis.Flaw{ID: "F07"}, `{"turns":6}`, "1.5 times 4 turns: the refused one counts"},
	} {
		b := b
		if b.Direction = tt.d; tt.flaw.ID != "" {
			b.Flaws = []diagnosis.Flaw{tt.flaw}
		}
		if c := design(t, b); tt.reason == "" || len(c.Stack) != 1 || string(c.Stack[0].Params) != tt.want {
			t.Errorf("%s: %v, want %s (%s)", tt.flaw.ID, c.Stack, tt.want, tt.reason)
		}
	}
}

func TestRulesFaults(t *testing.T) {
	for _, d := range []components.Direction{0, components.Neutral, components.Harder | components.Easier, 200} {
		if _, err := (rigger.Rules{}).Design(context.Background(), rigger.Brief{Direction: d}); err == nil || !strings.HasPrefix(err.Error(), "rigger: rules: direction") {
			t.Errorf("direction %d: %v", d, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (rigger.Rules{}).Design(ctx, rigger.Brief{Direction: components.Harder}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Law: whatever the world, the flaws, the direction and the attempts before, a candidate can be built, was not tried, has one component until
// the pair, is the same for an equal brief, and leaves the brief as it was.
func TestRulesLaws(t *testing.T) {
	worlds := referenceWorlds(t)
	briefs := make(map[string][]rigger.Brief)
	for name, w := range worlds {
		for n := range 2 {
			b := newBrief(t, w, n*7)
			briefs[name] = append(briefs[name], b)
			bare := b
			bare.World, bare.Plan = envharness.Description{}, nil
			briefs[name] = append(briefs[name], bare, rigger.Brief{World: b.World, Text: b.Text, Task: b.Task}, rigger.Brief{})
		}
	}
	names := slices.Sorted(maps.Keys(worlds))
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom(briefs[rapid.SampledFrom(names).Draw(t, "world")]).Draw(t, "brief")
		b.Direction = rapid.SampledFrom([]components.Direction{components.Harder, components.Easier}).Draw(t, "direction")
		for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(flawIDs()), 0, 3, rapid.ID).Draw(t, "flaws") {
			b.Flaws = append(b.Flaws, flaw(b, id, rapid.SliceOfN(rapid.IntRange(-1, 60), 0, 4).Draw(t, "turns")...))
		}
		if rapid.Bool().Draw(t, "no success") {
			b.Success = nil
		}
		tried := make(map[string]bool)
		for n := range rapid.IntRange(1, 8).Draw(t, "attempts") {
			before := ""
			if n == 0 {
				before = fmt.Sprintf("%+v", b)
			}
			c, err := rigger.Rules{}.Design(context.Background(), b)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkCandidate(b, c); err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			b.Rand = rand.New(rand.NewPCG(uint64(n), 1)) // not looked at
			again, err := (&rigger.Rules{}).Design(context.Background(), b)
			if diff := cmp.Diff(c, again); diff != "" || err != nil {
				t.Fatalf("an equal brief: %v\n%s", err, diff)
			}
			b.Rand = nil
			if n == 0 && fmt.Sprintf("%+v", b) != before {
				t.Fatal("the brief was changed")
			}
			if len(c.Stack) == 0 {
				return
			}
			if key := fmt.Sprint(c.Stack); tried[key] {
				t.Fatalf("again: %v", c)
			} else {
				tried[key] = true
			}
			if len(c.Stack) > 2 {
				t.Fatalf("%v", c)
			}
			var steps []rigger.StepResult
			if rapid.Bool().Draw(t, "screened") {
				steps = append(steps, rigger.StepResult{Step: rigger.StepScreen, Result: rigger.Passed})
			}
			b = attempt(b, c, rapid.SampledFrom([]rigger.Decision{rigger.Reject, rigger.Accept, rigger.Refine}).Draw(t, "decision"), steps...)
			if b.Attempts[n].Decision == rigger.Refine {
				b.Refine = &rigger.Refinement{Harder: rapid.Bool().Draw(t, "harder"), RelaxBudgets: rapid.Bool().Draw(t, "relax")}
			}
		}
	})
}

// Law: behind every candidate for a reference world, and every stronger rung of it, an episode begins: no parameter names what is not there.
func TestRulesBegin(t *testing.T) {
	worlds := referenceWorlds(t)
	names, flaws, stride, least := slices.Sorted(maps.Keys(worlds)), append(flawIDs(), ""), 1, 20
	if testing.Short() { // one world, every fourth flaw
		names, stride, least = []string{"tooldesk"}, 4, 10
	}
	for _, name := range names {
		b := newBrief(t, worlds[name], 11)
		seen := make(map[string]bool)
		for _, d := range []components.Direction{components.Harder, components.Easier} {
			for i := 0; i < len(flaws); i += stride {
				b, id := b, flaws[i]
				if b.Direction = d; id != "" {
					b.Flaws = []diagnosis.Flaw{flaw(b, id, 0, 1, 2)}
				}
				c := design(t, b)
				for c.Flaw == id && len(c.Stack) > 0 {
					if key := fmt.Sprint(c.Stack); !seen[key] {
						seen[key] = true
						begin(t, worlds[name], b, c)
					}
					b = attempt(b, c, rigger.Refine)
					b.Refine = &rigger.Refinement{Harder: d == components.Harder}
					c = design(t, b) // the next rung, or else the next component
				}
			}
		}
		if len(seen) < least {
			t.Errorf("%s: only %d candidates", name, len(seen))
		}
		t.Logf("%s: %d candidates", name, len(seen))
	}
}

// begin begins an episode behind a candidate.
func begin(t *testing.T, w envharness.World, b rigger.Brief, c rigger.Candidate) {
	t.Helper()
	stack, err := b.Registry.Stack(c.Stack...)
	if err != nil {
		t.Fatal(err)
	}
	h, err := envharness.New(w, stack...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Reset(context.Background(), envharness.ResetOptions{Task: b.Task.ID, Seed: b.Task.Seed}); err != nil {
		t.Errorf("%s %s: %v %s: %v", b.World.Name, b.Task.ID, tags(c), c.Stack[0].Params, err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func BenchmarkRules(b *testing.B) {
	brief := newBrief(b, tooldesk.World(nil), 0)
	brief.Flaws = []diagnosis.Flaw{flaw(brief, "F01"), flaw(brief, "F03", 1), flaw(brief, "F11", 2)}
	for range 3 {
		brief = attempt(brief, design(b, brief), rigger.Reject)
	}
	b.ReportAllocs()
	for b.Loop() {
		design(b, brief)
	}
}

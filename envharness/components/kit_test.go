package components_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// deskTask has two orders to look at and to change.
const deskTask = "T6-0000"

// A shelf is a small world whose state can be patched: things are taken from it until it is empty.
type shelf struct {
	Count int `json:"count"`
	Takes int `json:"takes"` // since the start
}

func (s *shelf) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	*s = shelf{Count: 4}
	return s.show(), nil
}

func (s *shelf) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	t := envharness.Transition{}
	s.Takes++
	switch a.Name {
	case "take":
		s.Count--
	default:
		t.Error = &envharness.ActionError{Class: envharness.ClassUnknownTool, Message: "no such tool"}
	}
	t.Terminated = s.Count == 0
	if t.Terminated {
		t.Reward = 1
	}
	t.Observation = s.show()
	return t, nil
}

func (s *shelf) Close() error { return nil }

func (s *shelf) show() envharness.Observation {
	return envharness.Observation{Text: fmt.Sprintf("%d on the shelf", s.Count), Data: map[string]any{"count": float64(s.Count)}}
}

func (s *shelf) Observe(context.Context) (envharness.Observation, error) { return s.show(), nil }

func (s *shelf) State(context.Context) (envharness.State, error) { return json.Marshal(s) }

func (s *shelf) Snapshot(ctx context.Context) (envharness.State, error) { return s.State(ctx) }

func (s *shelf) Restore(_ context.Context, st envharness.State) error { return json.Unmarshal(st, s) }

func (s *shelf) RewindCounters(context.Context) error {
	s.Takes = 0
	return nil
}

func (s *shelf) Describe() envharness.Description {
	return envharness.Description{
		Name: "shelf", Tools: []envharness.Tool{{Name: "take"}, {Name: "wait"}}, Mutable: []string{"/count"}, MaxTurns: 9, Deterministic: true,
	}
}

func shelfWorld() envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return new(shelf), nil },
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			var s shelf
			if err := json.Unmarshal(e.End, &s); err != nil {
				return envharness.Verdict{}, err
			}
			if s.Count == 0 {
				return envharness.Verdict{Status: envharness.Pass}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

// linkedWorld plays the desk after a hand of the 24 game.
func linkedWorld(t *testing.T) envharness.World {
	t.Helper()
	w, err := envharness.Link([]envharness.Leg{
		{World: game24.World(nil), Task: "3,3,8,8"},
		{World: tooldesk.World(nil), Task: deskTask},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// solution is a plan for the desk's task.
func solution(t *testing.T) []envharness.Action {
	t.Helper()
	d := tooldesk.New(nil)
	defer d.Close()
	if _, err := d.Reset(t.Context(), envharness.ResetOptions{Task: deskTask}); err != nil {
		t.Fatal(err)
	}
	plan, err := d.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// A kitCase says with which parameters and where a kind is checked.
type kitCase struct {
	tag, params       string
	identity, off, on string // parameters; empty means that there are none
	eligible          func(t *envharness.Trace, turn int) bool
	commutes          []envharness.Component
	world             envharness.World // the desk if it has no New
	task              string
	script            []envharness.Action // without Submits and then drawn
	reason            string
}

// calls reports whether the turn is a call of the tool that was carried out and did not end the episode.
func calls(tool string) func(*envharness.Trace, int) bool {
	return func(t *envharness.Trace, turn int) bool {
		u := t.Turns[turn]
		return u.Applied != nil && u.Applied.Name == tool && u.Raw != nil && u.Raw.Error == nil && !u.Shown.Ended()
	}
}

// asked reports whether another action was asked for than was carried out before, by tools that do not submit.
func asked(t *envharness.Trace, turn int) bool {
	if turn == 0 || t.Turns[turn].Shown.Ended() || t.Turns[turn-1].Applied == nil {
		return false
	}
	before, now := t.Turns[turn-1].Applied, t.Turns[turn].Proposed
	return now.Name != "submit" && before.Name != "submit" && (before.Name != now.Name || string(before.Args) != string(now.Args))
}

func kitCases(t *testing.T) []kitCase {
	plan := solution(t)
	reads := []envharness.Action{plan[0], plan[1], plan[2], plan[1], plan[1], plan[3], plan[4], plan[3]}
	setup, err := json.Marshal(envharness.Setup{Actions: plan[:2], Aid: true})
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int, a envharness.Action) []envharness.Action { return slices.Insert(slices.Clone(plan), i, a) }
	submit := plan[len(plan)-1]
	hand := game24.World(nil)
	return []kitCase{
		{tag: "start_replay", params: string(setup), identity: `{}`, script: plan[2:], reason: "the rest of the plan follows"},
		{tag: "start_patch", params: `{"set":{"/count":2}}`, identity: `{"set":{}}`, world: shelfWorld(), reason: "half of the shelf is left"},
		{tag: "block", params: `{"tools":["get_*"],"reason":"closed","max":2}`, identity: `{"tools":["no_such_tool"]}`, script: plan,
			commutes: []envharness.Component{components.Block{Tools: []string{"set_address"}}}, reason: "the plan reads two orders"},
		{tag: "block", params: `{"args":{"op":"div"}}`, world: hand, task: "3,3,8,8", reason: "a world that lists its actions"},
		{tag: "rename", params: `{"tools":{"get_order":"show_order"},"args":{"get_order":{"order_id":"id"}}}`, identity: `{}`,
			reason: "the desk lists its actions"},
		{tag: "sticky", params: `{"p":0.5,"duration":2}`, off: `{"p":0}`, on: `{"p":1}`, eligible: asked, reason: "any action sticks"},
		{tag: "sticky", params: `{"p":0.5}`, world: hand, task: "3,3,8,8", reason: "numbers are used up"},
		{tag: "tool_fail", params: `{"nth":2,"count":2}`, identity: `{"tools":["no_such_tool"]}`, script: plan,
			reason: "the plan has more calls"},
		{tag: "tool_fail", params: `{"mode":"rate","p":0.5}`, off: `{"mode":"rate","p":0}`, on: `{"mode":"rate","p":1}`,
			reason: "every call fails"},
		{tag: "tool_down", params: `{"tools":["get_order"]}`, identity: `{"tools":["no_such_tool"]}`, script: plan, reason: "the plan calls it"},
		{tag: "corrupt_read", params: `{"field":"/status","p":0.5}`, off: `{"field":"/status","p":0}`, on: `{"field":"/status","p":1}`,
			eligible: calls("get_order"), script: reads, reason: "an order has a status"},
		{tag: "corrupt_read", params: `{"field":"/paid_cents","kind":"offset","p":1}`, identity: `{"field":"/no_such_field","p":1}`,
			script: reads, reason: "an order has been paid"},
		{tag: "rate_limit", params: `{"calls":2,"window":4}`, identity: `{"calls":99}`, reason: "each turn calls"},
		{tag: "permission", params: `{"tools":["set_address"],"grant":{"tool":"get_product"}}`, script: at(3, plan[2]),
			reason: "nothing was granted"},
		{tag: "permission", params: `{"tools":["cancel_order"],"grant":{"tool":"set_address"},"expires":1}`, script: plan,
			reason: "the grant expires before the call"},
		{tag: "stale_read", params: `{}`, script: reads, reason: "an order is read again after a write"},
		{tag: "paginate", params: `{"max_bytes":60}`, script: at(2, envharness.Action{Name: "next"}),
			reason: "an order is longer, and one continuation is asked for"},
		{tag: "paginate", params: `{"page_size":2,"list":"/numbers"}`, world: hand, task: "3,3,8,8", reason: "a list in Data"},
		{tag: "obs_noise", params: `{"fields":["text"],"p":0.5}`, off: `{"fields":["text"],"p":0}`, on: `{"fields":["text"],"p":1}`,
			reason: "there is always text"},
		{tag: "obs_noise", params: `{"fields":["/paid_cents"],"kind":"gauss","sigma":9}`,
			identity: `{"fields":["/paid_cents"],"kind":"gauss","sigma":0}`, script: reads,
			commutes: []envharness.Component{components.ObsNoise{Fields: []string{"/task"}}}, reason: "an order has been paid"},
		{tag: "obs_delay", params: `{"delay":2}`, identity: `{"delay":0}`, reason: "each turn shows something else"},
		{tag: "hide_keys", params: `{"keys":["/task"],"lines":["^Rules"]}`, identity: `{}`,
			commutes: []envharness.Component{components.HideKeys{Actions: true}}, reason: "both are in the first observation"},
		{tag: "distractor", params: `{"n":1,"pool":[{"name":"get_weather"},{"name":"get_news"}]}`,
			identity: `{"n":0,"pool":[{"name":"get_news"}]}`, script: at(1, envharness.Action{Name: "get_weather"}),
			reason: "one more tool, which is called where it is the one"},
		{tag: "step_budget", params: `{"turns":4}`, commutes: []envharness.Component{components.StepBudget{Turns: 3}},
			reason: "the lower one counts"},
		{tag: "call_cap", params: `{"tools":["get_*"],"max":1}`, identity: `{"max":99}`, script: plan, reason: "the plan reads two orders"},
		{tag: "submit_gate", params: `{"require":[{"tool":"get_product"}]}`, identity: `{"require":[{"tool":"get_product"}],"max_blocks":0}`,
			script: []envharness.Action{plan[0], submit, submit, submit}, reason: "the third one passes"},
		{tag: "order_lock", params: `{"edges":[{"before":{"tool":"get_product"},"after":{"tool":"get_order"}}]}`, script: plan,
			reason: "no product was read"},
		{tag: "schema_drift", params: `{"tools":{"get_order":{"rename":{"order_id":"id"},"version":"2"}}}`, identity: `{"tools":{}}`,
			reason: "tools and actions change together"},
		{tag: "chain", world: linkedWorld(t), reason: "a component around a world that is a chain, see also C17 of the others"},
	}
}

// check turns the case into a check of the kit.
func (k kitCase) check(kind components.Kind) (envtest.Component, error) {
	var errs []error
	maker := func(params string) func() envharness.Component {
		if params == "" {
			return nil
		}
		if _, err := kind.New(json.RawMessage(params)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", params, err))
		}
		return func() envharness.Component {
			c, _ := kind.New(json.RawMessage(params)) // as above
			return c
		}
	}
	out := envtest.Component{
		World: k.world, New: maker(k.params), Identity: maker(k.identity), Off: maker(k.off), On: maker(k.on), Eligible: k.eligible,
		Build: kind.New, Script: k.script, Turns: 9,
	}
	if out.World.New == nil {
		out.World, k.task = tooldesk.World(nil), deskTask
	}
	out.Tasks = []envharness.Task{{ID: k.task}}
	for _, c := range k.commutes {
		out.Commutes = append(out.Commutes, func() envharness.Component { return c })
	}
	if k.tag == "chain" {
		out.New, out.Build = func() envharness.Component { return components.ObsDelay{} }, nil
	}
	return out, errors.Join(errs...)
}

// Every kind of the catalogue keeps all rules of the kit.
func TestCatalogueKeepsTheRules(t *testing.T) {
	cases := kitCases(t)
	for _, kind := range components.Catalogue().Kinds() {
		n := 0
		for _, k := range cases {
			if k.tag != kind.Tag {
				continue
			}
			n++
			t.Run(fmt.Sprintf("%s %d", k.tag, n), func(t *testing.T) {
				if k.reason == "" {
					t.Error("no reason")
				}
				check, err := k.check(kind)
				if err != nil {
					t.Fatal(err)
				}
				if err := check.Check(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		if n == 0 {
			t.Errorf("%s: no case", kind.Tag)
		}
	}
}

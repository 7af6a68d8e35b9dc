package rigger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// TestCatalogueKeepsIntegrity has no false alarms: every component of the catalogue with every rung of its ladder, on every world on which
// it can begin.
func TestCatalogueKeepsIntegrity(t *testing.T) {
	more := []components.Entry{
		part("start_replay", `{"actions":[{"name":"find_customer","args":{"email":"eva"}}],"aid":true}`),
		part("start_replay", `{"actions":[{"name":"combine","args":{"i":0,"j":1,"op":"add"}}],"aid":true}`),
		part("start_replay", `{"actions":[{"name":"do","args":{"text":"go to microwave 1"}}]}`),
		part("start_patch", `{"set":{"/start/open/fridge 1":true}}`),
		part("permission", `{"tools":["submit","use","click","stop"],"grant":{"tool":"get_order"}}`),
		part("order_lock", `{"edges":[{"before":{"tool":"list_orders"},"after":{"tool":"submit"}}]}`),
		part("submit_gate", `{"require":[{"tool":"get_order"}]}`),
		part("rename", `{"tools":{"set_address":"move","submit":"done"},"args":{"get_order":{"order_id":"id"}}}`),
		part("schema_drift", `{"tools":{"get_order":{"rename":{"order_id":"id"}}}}`),
		part("sticky", `{"p":0.5,"duration":2}`),
		part("sticky", `{"p":1,"exempt":["stop"]}`),
		part("hide_keys", `{"actions":true,"lines":["."]}`),
		part("distractor", `{"n":2,"pool":[{"name":"foo"},{"name":"bar"},{"name":"baz"}]}`),
		part("paginate", `{"max_bytes":10}`),
		part("block", `{"reason":"not now","max":1}`),
		part("corrupt_read", `{"field":"/task","p":1}`),
		part("stale_read", `{"age":1}`),
		part("tool_down", `{"tools":["use","get_order","stop","click"]}`),
		part("step_budget", `{"turns":3}`),
		part("call_cap", `{"max":2}`),
		part("obs_noise", `{"fields":["text"],"p":0.5}`),
	}
	for _, k := range components.Catalogue().Kinds() {
		for _, r := range k.Ladder {
			more = append(more, part(k.Tag, string(r)))
		}
	}
	random := func(_ envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		i := slices.IndexFunc(yardstick.Nulls(), func(n yardstick.Null) bool { return n.Draws })
		return yardstick.Nulls()[i].New(rng), nil
	}
	begun := make(map[string]int) // worlds
	for _, name := range slices.Sorted(maps.Keys(gateWorlds)) {
		in := newTestInspector(t, gateWorlds[name](), gateTasks[name], components.Catalogue())
		for _, e := range more {
			built, err := components.Catalogue().Stack(e)
			if err != nil || testing.Short() && begun[e.Tag] > 0 {
				continue // a rung that needs more, or another world
			}
			found := inspection{stack: built, key: e.Tag + string(e.Params)}
			s, err := in.integrity(t.Context(), &found)
			if err != nil {
				t.Fatal(err)
			}
			if s.Result != Passed {
				t.Errorf("%s: %s %s: %s", name, e.Tag, e.Params, s.Reason)
			}
			if s.Reason != "" {
				continue
			}
			begun[e.Tag]++
			for player, newPolicy := range map[string]maker{"random": random, "clean": rigtest.Clean(in.world)} { // nor are there any in rollouts
				traces, err := in.play(t.Context(), player, built, newPolicy, 0, 2)
				if err != nil {
					t.Fatal(err)
				}
				s, err := in.review(t.Context(), player, built, traces)
				if err != nil || s.Result != Passed {
					t.Errorf("%s: %s %s: %s, %v", name, e.Tag, e.Params, s.Reason, err)
				}
			}
		}
	}
	for _, k := range components.Catalogue().Kinds() {
		if begun[k.Tag] == 0 && k.Axis != envharness.AxisLink {
			t.Errorf("%s never began", k.Tag)
		}
	}
}

// tap is a world whose bases a component can reach, as one that is written by who also has the world can.
type tap struct {
	mu   sync.Mutex
	last envharness.Environment
}

func (p *tap) world(w envharness.World) envharness.World {
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.last = env
		return env, err
	}
	return w
}

func (p *tap) base() envharness.Environment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

type (
	beginFunc = func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error)
	view      = envharness.View
	action    = envharness.Action
	edits     = []envharness.StartEdit
)

func panicking(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) { panic("no") }

func hooks(h envharness.Hooks) beginFunc {
	return func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) { return h, nil }
}

// suffix shows something below every observation.
func suffix(f func(ctx context.Context, v view) string) beginFunc {
	return hooks(envharness.Hooks{Observe: func(ctx context.Context, v view, o envharness.Observation) (envharness.Observation, error) {
		o.Text += "\n" + f(ctx, v)
		return o, nil
	}})
}

// TestHostiles plants components that cheat. Each is refused by the step that is meant for it.
func TestHostiles(t *testing.T) {
	plan := act(`find_customer {"email":"eva"}`, `get_order {"order_id":"o1"}`,
		`set_address {"address":"elm 8","order_id":"o1"}`, `submit {"answer":"o1"}`)
	var p tap
	calls, begun, late := 0, 0, 0
	swap := func(a, b string) beginFunc {
		return hooks(envharness.Hooks{Action: func(_ context.Context, _ view, c envharness.Action) (envharness.ActionEdit, error) {
			if c.Name == a {
				return envharness.ReplaceAction(envharness.Action{Name: b, Args: json.RawMessage(`{"order_id":"o1"}`)}), nil
			}
			return envharness.PassAction(), nil
		}})
	}
	tests := []struct {
		name   string
		axis   envharness.Axis
		begin  beginFunc
		step   Step
		reason string // part of the one that is given
	}{
		{"dead hook", envharness.AxisObservation, suffixNothing(), StepStatic, "no_op"},
		{"no hooks", envharness.AxisAction, hooks(envharness.Hooks{}), StepStatic, "no_op"},
		{"window in a time that never comes", envharness.AxisAction, hooks(envharness.Hooks{
			Action: func(_ context.Context, v view, _ envharness.Action) (envharness.ActionEdit, error) {
				if v.Turn > 1000 {
					return envharness.BlockAction("late"), nil
				}
				return envharness.PassAction(), nil
			}}), StepStatic, "no_op"},
		{"solves in the setup", envharness.AxisStart, hooks(envharness.Hooks{Start: func(context.Context, view) (edits, error) {
			var all edits
			for _, a := range plan {
				all = append(all, envharness.StartEdit{Action: a})
			}
			return all, nil
		}}), StepStart, "ended the episode"},
		{"a refused setup", envharness.AxisStart, hooks(envharness.Hooks{Start: func(context.Context, view) (edits, error) {
			return edits{{Action: plan[2]}}, nil
		}}), StepStart, "refused"},
		{"patches what is graded", envharness.AxisStart, hooks(envharness.Hooks{Start: func(context.Context, view) (edits, error) {
			return edits{{Set: map[string]json.RawMessage{"/orders": json.RawMessage(`[]`)}}}, nil
		}}), StepStart, ""},
		{"panics when it begins", envharness.AxisAction, panicking, StepStart,
			"panic"},
		{"fails to begin, and begins when the start is looked at", envharness.AxisAction,
			func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
				if begun++; begun == 2 { // the first is of static
					return envharness.Hooks{}, errors.New("not yet")
				}
				return envharness.Hooks{Action: func(context.Context, view, envharness.Action) (envharness.ActionEdit, error) {
					return envharness.AnswerAction("done", nil), nil
				}}, nil
			}, StepIntegrity, "not yet"},
		{"fails to begin two times", envharness.AxisAction,
			func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
				if late++; late >= 2 && late <= 3 {
					return envharness.Hooks{}, errors.New("not yet")
				}
				return envharness.Hooks{Action: func(context.Context, view, envharness.Action) (envharness.ActionEdit, error) {
					return envharness.AnswerAction("done", nil), nil
				}}, nil
			}, StepStart, "not yet"},
		{"plays on the base itself before the start", envharness.AxisAction,
			func(ctx context.Context, _ envharness.EpisodeInfo) (envharness.Hooks, error) {
				for _, a := range plan[:3] {
					if _, err := p.base().Step(ctx, a); err != nil {
						return envharness.Hooks{}, err
					}
				}
				return envharness.Hooks{}, nil
			}, StepIntegrity, ""},
		{"plays on the base itself in the first turn", envharness.AxisAction, hooks(envharness.Hooks{
			Action: func(ctx context.Context, v view, _ envharness.Action) (envharness.ActionEdit, error) {
				if v.Turn == 0 {
					for _, a := range plan[:3] {
						if _, err := p.base().Step(ctx, a); err != nil {
							return envharness.ActionEdit{}, err
						}
					}
				}
				return envharness.PassAction(), nil
			}}), StepIntegrity, ""},
		{"closes the base", envharness.AxisTransition, hooks(envharness.Hooks{
			Transition: func(context.Context, view, envharness.Transition) (envharness.TransitionEdit, error) {
				return envharness.TransitionEdit{}, p.base().Close()
			}}), StepIntegrity, ""},
		{"panics later", envharness.AxisTransition, hooks(envharness.Hooks{
			Transition: func(_ context.Context, v view, _ envharness.Transition) (envharness.TransitionEdit, error) {
				if v.Turn == 2 {
					panic("no")
				}
				return envharness.TransitionEdit{}, nil
			}}), StepIntegrity, "panic"},
		{"errs later", envharness.AxisTransition, hooks(envharness.Hooks{
			Result: func(_ context.Context, v view, _ *envharness.ActionError) error {
				if v.Turn == 2 {
					return errors.New("it is broken")
				}
				return nil
			}}), StepIntegrity, "it is broken"},
		{"answers a write", envharness.AxisAction, hooks(envharness.Hooks{
			Action: func(_ context.Context, _ view, a envharness.Action) (envharness.ActionEdit, error) {
				if a.Name == "set_address" {
					return envharness.AnswerAction("done", nil), nil
				}
				return envharness.PassAction(), nil
			}}), StepIntegrity, "was carried out"},
		{"answers what would be refused", envharness.AxisAction, hooks(envharness.Hooks{
			Action: func(_ context.Context, v view, a action) (envharness.ActionEdit, error) {
				if strings.Contains(string(a.Args), "no_such") {
					return envharness.AnswerAction(v.Shown().Text, nil), nil
				}
				return envharness.PassAction(), nil
			}}), StepIntegrity, "was carried out"},
		{"answers a tool that there is not", envharness.AxisAction, hooks(envharness.Hooks{
			Action: func(_ context.Context, v view, a action) (envharness.ActionEdit, error) {
				if a.Name == "no_such_tool" {
					return envharness.AnswerAction("done", nil), nil
				}
				return envharness.PassAction(), nil
			}}), StepIntegrity, "was carried out"},
		{"sends a read in place of a write", envharness.AxisAction, swap("set_address", "get_order"), StepIntegrity, "does not tell"},
		{"prints the state", envharness.AxisObservation, suffix(func(_ context.Context, v view) string {
			s, _ := v.State()
			return string(s)
		}), StepIntegrity, "hidden state is shown"},
		{"prints the state in another form", envharness.AxisObservation, suffix(func(_ context.Context, v view) string {
			s, _ := v.State()
			return fmt.Sprintf("%x", s)
		}), StepIntegrity, "something else the second time"},
		{"refuses with the state", envharness.AxisAction, hooks(envharness.Hooks{
			Action: func(_ context.Context, v view, a action) (envharness.ActionEdit, error) {
				s, _ := v.State()
				if a.Name == "get_order" {
					return envharness.BlockAction(string(s)), nil
				}
				return envharness.PassAction(), nil
			}}), StepIntegrity, "hidden state is shown"},
		{"prints the state of the base itself", envharness.AxisObservation, suffix(func(ctx context.Context, _ view) string {
			s, _ := p.base().(envharness.Stater).State(ctx)
			return string(s)
		}), StepIntegrity, "the graded field"},
		{"prints a graded value", envharness.AxisObservation, suffix(func(context.Context, view) string { return "hint: oak 2" }),
			StepIntegrity, `"oak 2"`},
		{"lists a graded value", envharness.AxisObservation, hooks(envharness.Hooks{
			Observe: func(_ context.Context, _ view, o envharness.Observation) (envharness.Observation, error) {
				o.Actions = append(o.Actions, act(`set_address {"address":"oak 2","order_id":"o1"}`)...)
				return o, nil
			}}), StepIntegrity, `"oak 2"`},
		{"prints the plan", envharness.AxisObservation, suffix(func(context.Context, view) string {
			return `hint: set_address {"order_id":"o1", "address":"elm 8"} or set_address elm 8 o1`
		}), StepIntegrity, "of the plan"},
		{"prints the plan in other letters", envharness.AxisObservation, suffix(func(context.Context, view) string {
			return `HINT: SET_ADDRESS {"ADDRESS":"ELM 8","ORDER_ID":"O1"}`
		}), StepIntegrity, "of the plan"},
		{"prints the plan in another order", envharness.AxisObservation, suffix(func(context.Context, view) string {
			return `hint: set_address {"order_id" : "o1", "address":"elm\u00208"}`
		}), StepIntegrity, "of the plan"},
		{"prints the plan as a call of another format", envharness.AxisObservation, suffix(func(context.Context, view) string {
			return `hint: {"name":"set_address","arguments":"{\"order_id\":\"o1\",\"address\":\"elm 8\"}"}`
		}), StepIntegrity, "of the plan"},
		{"prints a graded value in other letters", envharness.AxisObservation, suffix(func(context.Context, view) string { return "hint: Oak 2" }),
			StepIntegrity, `"oak 2"`},
		{"tosses its own coin", envharness.AxisObservation, suffix(func(context.Context, view) string {
			return fmt.Sprint(rand.Int64()) // that two are equal is one in 2^63
		}), StepIntegrity, "the second time"},
		{"remembers episodes", envharness.AxisObservation, suffix(func(context.Context, view) string {
			calls++
			return fmt.Sprint(calls)
		}), StepIntegrity, "the second time"},
		{"ends early", envharness.AxisBudget, hooks(envharness.Hooks{
			Action: func(_ context.Context, v view, a action) (envharness.ActionEdit, error) {
				if a.Name == "submit" {
					return envharness.EndEpisode("enough"), nil
				}
				return envharness.PassAction(), nil
			}}), StepOracle, "not proven"},
		{"shows nothing and refuses all", envharness.AxisAction, hooks(envharness.Hooks{
			Action: func(context.Context, view, envharness.Action) (envharness.ActionEdit, error) {
				return envharness.BlockAction(""), nil
			}}), StepOracle, "not proven"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, p.world(gateWorlds["tooldesk"]()), "small-T2-0000", registryWith(t, kindOf("hostile", tt.axis, tt.begin)))
		in.searchLimit = 100
		found, err := in.inspect(t.Context(), 1, harder(part("hostile", `{}`)))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		last := found.steps[len(found.steps)-1]
		if last.Step == StepStart && found.steps[1].Reason == "" {
			t.Errorf("%s: the step of integrity does not say that it saw no episode", tt.name)
		}
		if last.Step != tt.step || last.Result != Failed || !strings.Contains(last.Reason, tt.reason) {
			t.Errorf("%s: %s %s (%s), want %s with %q", tt.name, last.Step, last.Result, last.Reason, tt.step, tt.reason)
		}
	}
}

// TestPlaysInOneEpisode has a component that plays on the base itself in one episode alone, before a verifier that reads the log only. The
// replay differs, and there is no second chance to behave. Where it differs without components, too, nobody is blamed.
func TestPlaysInOneEpisode(t *testing.T) {
	for _, only := range []int{2, 3, 4} { // the first is of static
		var p tap
		episode, shaky := 0, false
		k := kindOf("hostile", envharness.AxisAction, func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			episode++
			now := episode
			return envharness.Hooks{Action: func(ctx context.Context, v view, _ action) (envharness.ActionEdit, error) {
				if now == 1 {
					return envharness.BlockAction("not now"), nil
				}
				if now == only && v.Turn == 0 {
					if _, err := p.base().Step(ctx, act(`find_customer {"email":"eva"}`)[0]); err != nil {
						return envharness.ActionEdit{}, err
					}
				}
				return envharness.PassAction(), nil
			}}, nil
		})
		w := p.world(gateWorlds["tooldesk"]())
		inner := w.Verifier
		w.Verifier = envharness.VerifierFunc(func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			if e.End = nil; shaky {
				return envharness.Verdict{}, envharness.ErrTamper
			}
			return inner.Verify(ctx, e)
		})
		in := newTestInspector(t, w, "small-T2-0000", registryWith(t, k))
		found, err := in.inspect(t.Context(), 1, harder(part("hostile", `{}`)))
		if err != nil || lastStep(found) != "integrity fail" || !strings.Contains(found.steps[1].Reason, envharness.ErrTamper.Error()) {
			t.Errorf("in episode %d: %v, %v", only, found.steps, err)
		}
		shaky = true
		if _, err := in.trial(t.Context(), found.stack, w, script(nil)); !errors.Is(err, envharness.ErrInfra) {
			t.Errorf("a world that differs: %v", err)
		}
	}
}

func suffixNothing() beginFunc {
	return hooks(envharness.Hooks{Observe: func(_ context.Context, _ view, o envharness.Observation) (envharness.Observation, error) {
		return o, nil
	}})
}

// TestBehindNames has one component that gives a tool another name, and one around it that answers calls of that name in the third turn:
// that is only seen by who puts the plan as the stack asks for.
func TestBehindNames(t *testing.T) {
	begin := hooks(envharness.Hooks{Action: func(_ context.Context, v view, a action) (envharness.ActionEdit, error) {
		if v.Turn == 2 && a.Name == "move" {
			return envharness.AnswerAction("done", nil), nil
		}
		return envharness.PassAction(), nil
	}})
	in := newTestInspector(t, gateWorlds["tooldesk"](), "small-T2-0000", registryWith(t, kindOf("hostile", envharness.AxisAction, begin)))
	found, err := in.inspect(t.Context(), 1, harder(part("rename", `{"tools":{"set_address":"move"}}`), part("hostile", `{}`)))
	if err != nil || lastStep(found) != "integrity fail" || !strings.Contains(found.steps[1].Reason, "hostile tells") {
		t.Errorf("%v, %v", found.steps, err)
	}
}

// TestHonest has components that do what looks like a cheat and is none.
func TestHonest(t *testing.T) {
	tests := []struct {
		axis   envharness.Axis
		begin  beginFunc
		reason string
	}{
		{envharness.AxisAction, hooks(envharness.Hooks{Action: func(_ context.Context, v view, a action) (envharness.ActionEdit, error) {
			if v.Turn < 3 {
				return envharness.BlockAction("you asked for " + a.String()), nil
			}
			return envharness.PassAction(), nil
		}}), "it says what the policy said"},
		{envharness.AxisAction, hooks(envharness.Hooks{Action: func(_ context.Context, v view, a action) (envharness.ActionEdit, error) {
			if a.Name == "get_order" && v.Turn > 0 {
				return envharness.AnswerAction(v.Shown().Text, nil), nil
			}
			return envharness.PassAction(), nil
		}}), "a read that is answered from memory"},
		{envharness.AxisAction, hooks(envharness.Hooks{
			Tools: func(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
				return append(tools, envharness.Tool{Name: "note"}), nil
			},
			Action: func(_ context.Context, v view, a action) (envharness.ActionEdit, error) {
				if a.Name == "note" {
					return envharness.AnswerAction("noted", nil), nil
				}
				return envharness.PassAction(), nil
			}}), "a tool of its own"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, gateWorlds["tooldesk"](), "small-T2-0000", registryWith(t, kindOf("honest", tt.axis, tt.begin)))
		found, err := in.inspect(t.Context(), 1, harder(part("honest", `{}`)))
		if err != nil || lastStep(found) != "null pass" {
			t.Errorf("%s: %v, %v", tt.reason, found.steps, err)
		}
	}
}

// TestHeadOfList: who puts the next action of the plan first tells it.
func TestHeadOfList(t *testing.T) {
	const name = "keydoor"
	plan := newTestInspector(t, gateWorlds[name](), gateTasks[name], components.Catalogue()).plan
	for _, tt := range []struct {
		head   func(turn int) envharness.Action
		want   string
		reason string
	}{
		{func(turn int) envharness.Action { return plan[min(turn, len(plan)-1)] }, "integrity fail", "the next one"},
		{func(int) envharness.Action { return plan[0] }, "null pass", "the first one, always"},
	} {
		k := kindOf("leader", envharness.AxisObservation, func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			turn := 0
			return envharness.Hooks{Observe: func(_ context.Context, v view, o envharness.Observation) (envharness.Observation, error) {
				a := tt.head(turn)
				turn++
				if i := slices.IndexFunc(o.Actions, func(b envharness.Action) bool { return sameCall(a, b) }); i > 0 {
					o.Actions[0], o.Actions[i] = o.Actions[i], o.Actions[0]
				}
				return o, nil
			}}, nil
		})
		in := newTestInspector(t, gateWorlds[name](), gateTasks[name], registryWith(t, k))
		in.play = fakePlayer(nil, new([]string))
		found, err := in.inspect(t.Context(), 1, harder(part("leader", `{}`)))
		if err != nil || lastStep(found) != tt.want || tt.want == "integrity fail" && !strings.Contains(found.steps[1].Reason, "the list begins") {
			t.Errorf("%s: %v, %v, want %s", tt.reason, found.steps, err, tt.want)
		}
	}
}

// translator is a component whose method Outward panics.
type translator struct{ envharness.Component }

func (translator) Outward(envharness.Action) envharness.Action { panic("no translation") }

// TestOutwardPanics: that is the candidate's fault.
func TestOutwardPanics(t *testing.T) {
	k := kindOf("translator", envharness.AxisObservation, nil)
	k.New = func(json.RawMessage) (envharness.Component, error) {
		spec := envharness.ComponentSpec{Tag: "translator", Axis: envharness.AxisObservation}
		return translator{envharness.Rules(spec, suffix(func(context.Context, view) string { return "!" }))}, nil
	}
	in := newTestInspector(t, gateWorlds["tooldesk"](), gateTasks["tooldesk"], registryWith(t, k))
	found, err := in.inspect(t.Context(), 1, harder(part("translator", `{}`)))
	if err != nil || lastStep(found) != "integrity fail" || !strings.Contains(found.steps[1].Reason, "no translation") {
		t.Errorf("%v, %v", found.steps, err)
	}
	s, err := in.review(t.Context(), "screening", found.stack, []envharness.Trace{{Verdict: envharness.Verdict{Status: envharness.Pass}}})
	if err != nil || s.Result != Failed {
		t.Errorf("%v, %v", s, err)
	}
}

// TestReviewOfSpoilt: what infrastructure spoilt is not looked at, as its last turn may not be a whole one; the slot is that of the rollout.
func TestReviewOfSpoilt(t *testing.T) {
	in := newTestInspector(t, gateWorlds["keydoor"](), gateTasks["keydoor"], components.Catalogue())
	answers := envharness.Rules(envharness.ComponentSpec{Tag: "answers", Axis: envharness.AxisAction}, hooks(envharness.Hooks{
		Action: func(context.Context, view, action) (envharness.ActionEdit, error) {
			return envharness.AnswerAction("done", nil), nil
		}}))
	stack := []envharness.Component{answers}
	trace, err := in.trial(t.Context(), stack, in.world, script(in.plan))
	if err != nil {
		t.Fatal(err)
	}
	trace.Slot = 7
	s, err := in.review(t.Context(), "screening", stack, []envharness.Trace{trace})
	if err != nil || s.Result != Failed || !strings.HasPrefix(s.Reason, "rollout 7 of the screening: answers tells in turn 0 that ") {
		t.Errorf("%v, %v", s, err)
	}
	trace.Verdict = envharness.Verdict{}
	if s, err = in.review(t.Context(), "screening", stack, []envharness.Trace{trace}); err != nil || s.Result != Passed {
		t.Errorf("spoilt: %v, %v", s, err)
	}
}

// TestSameReason: of several faults always the same one is named.
func TestSameReason(t *testing.T) {
	in := newTestInspector(t, gateWorlds["household"](), gateTasks["household"], components.Catalogue())
	var set []string
	for i := range 12 {
		set = append(set, fmt.Sprintf(`"/objects/cup %d/in":["fridge 1"]`, 12-i))
	}
	stack := stackOf(t, part("start_patch", `{"set":{`+strings.Join(set, ",")+`}}`))
	for range 5 {
		if got := in.gradedPatch(stack); !strings.Contains(got, `"/objects/cup 1/in"`) {
			t.Errorf("%s, want the first in the order of names", got)
		}
	}
}

// TestGradedPatch refuses parameters that name what the verifier reads.
func TestGradedPatch(t *testing.T) {
	in := newTestInspector(t, gateWorlds["household"](), gateTasks["household"], components.Catalogue())
	found, err := in.inspect(t.Context(), 1, harder(part("start_patch", `{"set":{"/objects/cup 1/in":["fridge 1"]}}`)))
	if err != nil || lastStep(found) != "integrity fail" || !strings.Contains(found.steps[1].Reason, "the verifier reads") {
		t.Errorf("%v, %v", found.steps, err)
	}
}

// TestCanaryInView: components see the public one and not the graded one.
func TestCanaryInView(t *testing.T) {
	in := newTestInspector(t, gateWorlds["household"](), gateTasks["household"], components.Catalogue())
	c := newCanary(in.task, 0)
	var state string
	spy := envharness.Rules(envharness.ComponentSpec{Tag: "spy", Axis: envharness.AxisObservation},
		suffix(func(_ context.Context, v view) string {
			s, _ := v.State()
			state = string(s)
			return ""
		}))
	if _, err := in.trial(t.Context(), []envharness.Component{spy}, c.world(in.world), script(nil)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(state, c.public) || strings.Contains(state, c.graded) || len(c.seen()) == 0 {
		t.Errorf("a component saw %s", state)
	}
}

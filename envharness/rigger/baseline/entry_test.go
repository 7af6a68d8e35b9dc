package baseline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// Whatever is drawn for whatever world can be built, and an episode begins with it, however little the brief tells.
func TestDrawnEntriesBegin(t *testing.T) {
	tasks, draws := 2, 12
	if testing.Short() {
		tasks, draws = 1, 8
	}
	seen := make(map[string]bool)
	for _, r := range references(t) {
		t.Run(r.name, func(t *testing.T) {
			for i := range tasks {
				for _, d := range []components.Direction{components.Harder, components.Easier} {
					full := brief(t, r.world, r.tasks[i], d, uint64(i))
					for _, b := range less(full) {
						for range draws {
							e, ok := RandomEntry(b)
							if !ok {
								break
							}
							if k, _ := b.Registry.Kind(e.Tag); k.Direction&d == 0 {
								t.Fatalf("%s works %v, not %v", e.Tag, k.Direction, d)
							}
							seen[e.Tag] = true
							begins(t, r.world, full.Task, []components.Entry{e})
						}
					}
				}
			}
		})
	}
	if testing.Short() {
		return
	}
	for _, k := range components.Catalogue().Kinds() {
		if never := k.Tag == "chain" || k.Tag == "start_patch"; seen[k.Tag] == never {
			t.Errorf("%s: drawn %v, want %v", k.Tag, seen[k.Tag], !never)
		}
	}
}

// less returns the brief and poorer ones.
func less(b rigger.Brief) []rigger.Brief {
	blind, noPlan, bare := b, b, b
	blind.Success, blind.Failure = nil, nil
	noPlan.Plan, noPlan.Success = nil, nil
	bare.Plan, bare.Success, bare.Failure, bare.World = nil, nil, nil, envharness.Description{}
	return []rigger.Brief{b, blind, noPlan, bare}
}

// The kinds that apply are equally likely: each draw of a kind has one number of the generator, whose range they share evenly.
func TestKindsAreEquallyLikely(t *testing.T) {
	r := references(t)[5]
	b := brief(t, r.world, r.tasks[0], components.Harder, 1)
	kinds := newPalette(b).kinds
	if len(kinds) < 15 {
		t.Fatalf("only %d kinds apply to the desk", len(kinds))
	}
	counts := make(map[string]int)
	const each = 8
	for i := range each * len(kinds) {
		// IntN takes the high half of its first number, or where there are a power of two of kinds the low one.
		high := uint64((float64(i) + 0.5) / float64(each*len(kinds)) * (1 << 32))
		b.Rand = rand.New(&script{first: high<<32 | uint64(i/each), rest: rand.NewPCG(1, uint64(i))})
		e, ok := RandomEntry(b)
		if !ok {
			t.Fatal("nothing was drawn")
		}
		counts[e.Tag]++
	}
	for _, k := range kinds {
		if counts[k.Tag] != each {
			t.Errorf("%s: %d of %d, want %d", k.Tag, counts[k.Tag], each*len(kinds), each)
		}
	}
}

// A script is a source that begins with a number of one's choice.
type script struct {
	first uint64
	done  bool
	rest  rand.Source
}

func (s *script) Uint64() uint64 {
	if !s.done {
		s.done = true
		return s.first
	}
	return s.rest.Uint64()
}

func TestRandomEntryIsRepeatable(t *testing.T) {
	for _, r := range references(t) {
		b := brief(t, r.world, r.tasks[0], components.Harder, 1)
		draw := func(seed uint64) []components.Entry {
			b.Rand = rand.New(rand.NewPCG(seed, 3))
			var out []components.Entry
			for range 10 {
				e, ok := RandomEntry(b)
				if !ok {
					t.Fatalf("%s: nothing to draw", r.name)
				}
				out = append(out, e)
			}
			return out
		}
		if a, again := draw(1), draw(1); !reflect.DeepEqual(a, again) {
			t.Errorf("%s: one seed gives %s and %s", r.name, words(a), words(again))
		}
		if a, other := draw(1), draw(2); reflect.DeepEqual(a, other) {
			t.Errorf("%s: two seeds give %s", r.name, words(a))
		}
	}
}

func TestRandomEntryOfOwnKinds(t *testing.T) {
	for _, tt := range []struct {
		kind   components.Kind
		want   string
		reason string
	}{
		{own("plain", components.Harder, ""), `{}`, "a kind that needs no parameters"},
		{own("ladder", components.Harder, "", `{"x":1}`), `{"x":1}`, "a rung of the ladder"},
		{own("needs", components.Harder, "x", `{"x":1}`), `{"x":1}`, "what it needs is in the ladder"},
		{own("needy", components.Harder, "x"), ``, "what it needs nobody knows"},
		{own("scaffold", components.Easier, ""), ``, "it works in the other direction"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		registry := components.NewRegistry()
		if err := registry.Add(tt.kind); err != nil {
			t.Fatal(err)
		}
		e, ok := RandomEntry(rigger.Brief{Registry: registry, Direction: components.Harder})
		if ok != (tt.want != "") || string(e.Params) != tt.want {
			t.Errorf("%s: got %v %s, want %s", tt.reason, ok, e.Params, tt.want)
		}
	}
}

// own is a kind of one's own that refuses to be built without a parameter.
func own(tag string, d components.Direction, needs string, rungs ...string) components.Kind {
	k := components.Kind{
		Tag: tag, Version: 1, Axis: envharness.AxisAction, Direction: d,
		New: func(params json.RawMessage) (envharness.Component, error) {
			var given map[string]any
			if err := json.Unmarshal(params, &given); err != nil {
				return nil, err
			}
			if _, ok := given[needs]; needs != "" && !ok {
				return nil, fmt.Errorf("no %s", needs)
			}
			return components.StepBudget{Turns: 5}, nil
		},
	}
	for _, rung := range rungs {
		k.Ladder = append(k.Ladder, json.RawMessage(rung))
	}
	return k
}

func TestMaterialKeepsTheGoal(t *testing.T) {
	trace := &envharness.Trace{Shown: envharness.Observation{
		Text: `{"city":"Ulm","list":[{"n":1},{"n":2}]}`,
		Data: map[string]any{"task": "go", "a/b": true, "deep": map[string]any{"x": 1.0}, "none": nil},
	}}
	m := newMaterial(rigger.Brief{Failure: trace})
	if want := []string{"/a~1b", "/deep/x", "/city", "/list/*/n"}; !slices.Equal(m.fields, want) {
		t.Errorf("fields %q, want %q: the task in words stays, a null is nothing, lists are one place", m.fields, want)
	}
	if want := []string{"/deep/x", "/list/*/n"}; !slices.Equal(m.numbers, want) {
		t.Errorf("numbers %q, want %q", m.numbers, want)
	}
}

// What the parameters say about the task holds.
func TestParameters(t *testing.T) {
	r := references(t)[1] // tools combine, restart and stop, which submits; a plan of four calls
	harder, easier := brief(t, r.world, r.tasks[0], components.Harder, 3), brief(t, r.world, r.tasks[0], components.Easier, 3)
	var params struct {
		Actions []envharness.Action
		Aid     bool
		Tools   json.RawMessage
		Grant   components.Match
		Require []components.Match
		Edges   []components.Edge
		Turns   int
	}
	draw := func(b rigger.Brief, tag string, check func() bool) {
		t.Helper()
		p := newPalette(b)
		k, _ := b.Registry.Kind(tag)
		for i := range 60 {
			e, ok := p.entry(k, rand.New(rand.NewPCG(uint64(i), 4)))
			if !ok {
				t.Fatalf("%s: nothing to make it of", tag)
			}
			params.Actions, params.Aid, params.Tools, params.Require, params.Edges = nil, false, nil, nil, nil
			if err := json.Unmarshal(e.Params, &params); err != nil {
				t.Fatal(err)
			}
			if !check() {
				t.Fatalf("%s: %s", tag, e.Params)
			}
		}
	}
	plan := harder.Plan
	equal := func(a, b envharness.Action) bool {
		return a.String() == b.String() || a.Name == b.Name && len(a.Args) == 0 && len(b.Args) == 0
	}
	wrong := newMaterial(harder).wrong
	if len(wrong) < 5 {
		t.Fatalf("the failed rollout has only %d calls", len(wrong))
	}
	draw(harder, "start_replay", func() bool {
		n := len(params.Actions)
		return n >= 1 && n <= 4 && !params.Aid && slices.EqualFunc(params.Actions, wrong[:n], equal)
	})
	draw(easier, "start_replay", func() bool {
		n := len(params.Actions)
		return n >= 1 && n < len(plan) && params.Aid && slices.EqualFunc(params.Actions, plan[:n], equal)
	})
	draw(harder, "rename", func() bool {
		var names map[string]string
		return json.Unmarshal(params.Tools, &names) == nil && len(names) > 0 && !slices.ContainsFunc(harder.World.Tools, func(tool envharness.Tool) bool {
			for _, name := range names {
				if name == tool.Name {
					return true
				}
			}
			return false
		})
	})
	draw(harder, "permission", func() bool {
		return params.Grant.Tool == "combine" && string(params.Tools) != `["combine"]` // the only tool of the plan that does not submit
	})
	draw(harder, "submit_gate", func() bool { return len(params.Require) == 1 && params.Require[0].Tool == "combine" })
	draw(harder, "step_budget", func() bool { return params.Turns >= len(plan) && params.Turns <= 2*len(plan) })
	draw(harder, "order_lock", func() bool {
		at := func(m components.Match) int {
			return slices.IndexFunc(plan, func(a envharness.Action) bool { return a.Name == m.Tool && reflect.DeepEqual(decoded(a), m.Args) })
		}
		return len(params.Edges) == 1 && at(params.Edges[0].Before) >= 0 && at(params.Edges[0].Before) < at(params.Edges[0].After) ||
			params.Edges[0].After.Tool == "stop"
	})
}

// A call does not wait for one that waits for itself.
func TestOrderLockNeverLocksForGood(t *testing.T) {
	call := func(name, args string) envharness.Action {
		return envharness.Action{Name: name, Args: json.RawMessage(args)}
	}
	for _, tt := range []struct {
		calls  []envharness.Action
		want   int // pairs
		reason string
	}{
		{[]envharness.Action{call("go", `{"to":"a"}`), call("go", `{}`)}, 0, "any go fits the second, the first too"},
		{[]envharness.Action{call("go", `{}`), call("go", `{"to":"a"}`)}, 1, "the first does not fit the second"},
		{[]envharness.Action{call("go", `{"to":"a"}`), call("go", `{"to":"b"}`)}, 1, "other arguments"},
		{[]envharness.Action{call("go", `{}`), call("look", `{}`)}, 1, "other tools"},
		{[]envharness.Action{call("go", `{}`)}, 0, "a single call"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		m := material{calls: tt.calls}
		params, ok := m.orderLock(rand.New(rand.NewPCG(1, 2)))
		if ok != (tt.want > 0) {
			t.Errorf("%s: %v %v", tt.reason, ok, params)
		}
		if !ok {
			continue
		}
		raw, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := components.Catalogue().Stack(components.Entry{Tag: "order_lock", Params: raw}); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

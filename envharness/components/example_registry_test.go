package components_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
)

// catalogue has the components of this package and the 24 game.
func catalogue() *components.Registry {
	r := components.Catalogue()
	err := r.AddWorld("game24", 1, func(params json.RawMessage) (envharness.World, error) {
		o, err := components.DecodeParams[game24.Options](params)
		return game24.World(&o), err
	})
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// The catalogue is a table of what there is.
func ExampleCatalogue() {
	for _, k := range components.Catalogue().Kinds() {
		if k.Axis == envharness.AxisBudget {
			fmt.Println(k.Tag, k.Axis, k.Direction&components.Harder != 0)
		}
	}
	// Output:
	// step_budget B true
	// call_cap B true
}

// A kind says what parameters a component takes, and builds it.
func ExampleKind() {
	k, _ := components.Catalogue().Kind("step_budget")
	fmt.Printf("%s\n", k.Schema)
	c, err := k.New(json.RawMessage(`{"turns":8}`))
	fmt.Println(c, err)
	_, err = k.New(json.RawMessage(`{"steps":8}`))
	fmt.Println(errors.Is(err, components.ErrUnknownParam), err)
	// Output:
	// {"type":"object","properties":{"turns":{"type":"integer","minimum":1}},"required":["turns"],"additionalProperties":false}
	// the episode ends after 8 turns <nil>
	// true /steps: components: unknown parameter
}

// A registry of one's own has what was added to it, and nothing else.
func ExampleNewRegistry() {
	r := components.NewRegistry()
	budget, _ := components.Catalogue().Kind("step_budget")
	fmt.Println(r.Add(budget))
	fmt.Println(r.Add(budget))
	fmt.Println(len(r.Kinds()))
	// Output:
	// <nil>
	// components: add kind "step_budget": the tag is in use
	// 1
}

// politeness is a component of a user's own, and its parameters.
type politeness struct {
	Greeting string `json:"greeting"`
}

func (p politeness) Spec() envharness.ComponentSpec {
	params, _ := json.Marshal(p)
	return envharness.ComponentSpec{Tag: "politeness", Axis: envharness.AxisObservation, Params: params}
}

func (p politeness) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
		o.Text = p.Greeting + " " + o.Text
		return o, nil
	}}, nil
}

// A component of one's own is written and read once its tag is known.
func ExampleRegistry_Add() {
	r := components.Catalogue()
	_, err := r.Entries(politeness{"Hello!"})
	fmt.Println(err)
	err = r.Add(components.Kind{
		Tag: "politeness", Version: 1, Axis: envharness.AxisObservation, Direction: components.Neutral, Sound: "always",
		New: func(params json.RawMessage) (envharness.Component, error) {
			return components.DecodeParams[politeness](params) // json.Unmarshal would let a typo pass
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	entries, err := r.Entries(politeness{"Hello!"})
	fmt.Printf("%s %v\n", entries[0].Params, err)
	_, err = r.Stack(components.Entry{Tag: "politeness", Params: json.RawMessage(`{"greting":"Hello!"}`)})
	fmt.Println(err)
	// Output:
	// components: not in the registry: component 0: tag "politeness" is unknown
	// {"greeting":"Hello!"} <nil>
	// components: stack: /0/params/greting: components: unknown parameter
}

// A parameter that is misspelt, given twice or null is none.
func ExampleDecodeParams() {
	for _, params := range []string{``, `{"greeting":"Hi!"}`, `{"Greeting":"Hi!"}`, `{"greeting":"Hi!","greeting":"Ho!"}`, `{"greeting":null}`} {
		p, err := components.DecodeParams[politeness](json.RawMessage(params))
		fmt.Printf("%q %v\n", p.Greeting, err)
	}
	// Output:
	// "" <nil>
	// "Hi!" <nil>
	// "" /Greeting: components: unknown parameter
	// "" /greeting: the key is given twice
	// "" /greeting: null is no value
}

// A world is added with the function that opens it.
func ExampleRegistry_AddWorld() {
	r := components.NewRegistry()
	err := r.AddWorld("game24", 1, func(params json.RawMessage) (envharness.World, error) { return game24.World(nil), nil })
	fmt.Println(err)
	fmt.Println(r.AddWorld("chain", 1, func(json.RawMessage) (envharness.World, error) { return envharness.World{}, nil }))
	// Output:
	// <nil>
	// components: add world "chain": the tag is that of linked worlds
}

// A specification is read, built and played.
func ExampleRegistry_Build() {
	ctx := context.Background()
	r := catalogue()
	spec, err := r.Decode([]byte(`{"schema_version":1,
		"env":{"tag":"game24","version":1,"params":{}},
		"task":{"id":"3,3,7,7","seed":7},
		"stack":[{"tag":"block","version":1,"id":"block","params":{"tools":["combine"],"reason":"no arithmetic today"}}]}`))
	if err != nil {
		log.Fatal(err)
	}
	w, stack, task, err := r.Build(spec)
	if err != nil {
		log.Fatal(err)
	}
	h, err := envharness.New(w, stack...)
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{Task: task.ID, Seed: task.Seed}); err != nil {
		log.Fatal(err)
	}
	t, err := h.Step(ctx, envharness.Action{Name: "combine", Args: []byte(`{"i":0,"j":1,"op":"mul"}`)})
	fmt.Println(t.Observation.Text, err)
	// Output:
	// [blocked] no arithmetic today
	//
	// target=24, numbers=[3, 3, 7, 7] <nil>
}

// What is not known is refused, and the error says where it stands.
func ExampleRegistry_Decode() {
	r := catalogue()
	for _, stack := range []string{
		`[{"tag":"blok","version":1,"id":"b","params":{}}]`,
		`[{"tag":"block","version":1,"id":"b","params":{"tool":"stop"}}]`,
		`[{"tag":"step_budget","version":1,"id":"s","params":{"turns":0}}]`,
		`[{"tag":"block","version":1,"id":"b","params":{}},{"tag":"start_replay","version":1,"id":"s","params":{}}]`,
	} {
		_, err := r.Decode([]byte(`{"schema_version":1,"env":{"tag":"game24","version":1,"params":{}},"task":{"id":""},"stack":` + stack + `}`))
		fmt.Println(err)
	}
	// Output:
	// components: specification: /stack/0/tag: components: unknown tag "blok"
	// components: specification: /stack/0/params/tool: components: unknown parameter
	// components: specification: /stack/0/params: turns 0 must be at least 1
	// components: specification: /stack: envharness: component order: "s" (axis S0) must not be around "b" (axis A)
}

// The components of a stack become data.
func ExampleRegistry_Entries() {
	entries, err := components.Catalogue().Entries(
		envharness.Setup{Actions: []envharness.Action{{Name: "look"}}},
		components.Block{Tools: []string{"delete_*"}},
		components.Block{Tools: []string{"write_*"}},
		components.StepBudget{Turns: 9},
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Printf("%s %s\n", e.ID, e.Params)
	}
	// Output:
	// start_replay {"actions":[{"name":"look"}]}
	// block {"reason":"not available","tools":["delete_*"]}
	// block#2 {"reason":"not available","tools":["write_*"]}
	// step_budget {"turns":9}
}

// A specification in Go is written with all that it leaves to its defaults.
func ExampleSpec_Encode() {
	s := components.Spec{
		Env:   components.EnvSpec{Tag: "game24"},
		Task:  envharness.Task{ID: "3,3,8,8", Seed: new(uint64(7))},
		Stack: []components.Entry{{Tag: "step_budget", Params: json.RawMessage(`{"turns": 9}`)}},
	}
	raw, err := s.Encode()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.ReplaceAll(string(raw), `,"s`, ",\n\"s"))
	// Output:
	// {"env":{"params":{},"tag":"game24","version":1},
	// "schema_version":1,
	// "stack":[{"id":"step_budget","params":{"turns":9},"tag":"step_budget","version":1}],"task":{"id":"3,3,8,8",
	// "seed":7}}
}

// Two games in one episode, with one budget around both.
func ExampleSpec() {
	game := func(hand string) components.Spec {
		return components.Spec{Env: components.EnvSpec{Tag: "game24"}, Task: envharness.Task{ID: hand}}
	}
	legs := []components.Spec{game("1,5,5,5"), game("3,3,8,8")}
	s := components.Spec{
		Env:   components.EnvSpec{Tag: "chain", Params: json.RawMessage(`{"carry":0}`), Legs: legs},
		Stack: []components.Entry{{Tag: "step_budget", Params: json.RawMessage(`{"turns":2}`)}},
	}
	w, stack, task, err := catalogue().Build(s)
	if err != nil {
		log.Fatal(err)
	}
	traces, err := envharness.Rollouts(context.Background(), w, stack, func(int) (envharness.Policy, error) {
		return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
			return envharness.Action{Name: "stop"}, nil
		}), nil
	}, []envharness.Task{task}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range traces[0].Turns {
		fmt.Printf("%q\n", t.Shown.Observation.Text)
	}
	fmt.Println(traces[0].Verdict.Status, traces[0].Verdict.Reason)
	// Output:
	// "[switched to new task]\n\n\n\ntarget=24, numbers=[3, 3, 8, 8]"
	// "target=24, numbers=[3, 3, 8, 8]"
	// fail leg 0 failed: 4 numbers are left
}

// Equal specifications have equal hashes, however they are written.
func ExampleSpec_Hash() {
	s := components.Spec{Env: components.EnvSpec{Tag: "game24"}, Task: envharness.Task{ID: "3,3,8,8"}}
	a, _ := s.Hash()
	s.SchemaVersion, s.Env.Params = 1, json.RawMessage(" { } ")
	b, _ := s.Hash()
	fmt.Println(len(a), a == b)
	// Output:
	// 64 true
}

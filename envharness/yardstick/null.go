package yardstick

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// A Null is a policy that knows nothing of its task. A task that one passes teaches nothing.
type Null struct {
	Name  string
	Draws bool // it draws at random; else it plays a task in one way only
	// New returns the policy of one episode, which draws from rng; nil means a fixed seed.
	New func(rng *rand.Rand) envharness.Policy
}

// Nulls returns the null policies in a fixed order: "noop" calls a tool of that name, which most worlds do not know; "random" takes an
// admissible action, all equally likely; "submit" calls the first tool that may end the episode ([envharness.Tool].Submits) in every
// turn, with the first admissible arguments, or else with the least that its schema allows; "repeat" takes one admissible action over and
// over.
//
// They look at the list of tools and at the admissible actions, and at nothing else. Where no action is listed, "random" and "repeat" do as
// "noop" does. Where no tool may end the episode, "submit" calls a tool of that name.
func Nulls() []Null {
	return []Null{
		{Name: "noop", New: each(func(*rand.Rand, envharness.Turn) envharness.Action { return noop() })},
		{Name: "random", Draws: true, New: each(draw)},
		{Name: "submit", New: each(func(_ *rand.Rand, t envharness.Turn) envharness.Action { return submit(t) })},
		{Name: "repeat", Draws: true, New: repeat},
	}
}

// each returns the New of a policy that remembers nothing.
func each(act func(rng *rand.Rand, t envharness.Turn) envharness.Action) func(rng *rand.Rand) envharness.Policy {
	return func(rng *rand.Rand) envharness.Policy {
		rng = orFixed(rng)
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) { return act(rng, t), nil })
	}
}

func repeat(rng *rand.Rand) envharness.Policy {
	rng = orFixed(rng)
	var taken *envharness.Action
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if taken == nil {
			taken = new(draw(rng, t))
		}
		return *taken, nil
	})
}

func orFixed(rng *rand.Rand) *rand.Rand {
	if rng == nil {
		return rand.New(rand.NewPCG(1, 2))
	}
	return rng
}

func noop() envharness.Action { return envharness.Action{Name: "noop"} }

func draw(rng *rand.Rand, t envharness.Turn) envharness.Action {
	if len(t.Shown.Actions) == 0 {
		return noop()
	}
	return t.Shown.Actions[rng.IntN(len(t.Shown.Actions))]
}

func submit(t envharness.Turn) envharness.Action {
	i := slices.IndexFunc(t.Tools, func(tool envharness.Tool) bool { return tool.Submits })
	if i < 0 {
		return envharness.Action{Name: "submit"}
	}
	tool := t.Tools[i]
	if k := slices.IndexFunc(t.Shown.Actions, func(a envharness.Action) bool { return a.Name == tool.Name }); k >= 0 {
		return t.Shown.Actions[k]
	}
	return envharness.Action{Name: tool.Name, Args: leastArgs(tool.Schema)}
}

// leastArgs makes up arguments with the least values that a flat schema allows.
func leastArgs(raw json.RawMessage) json.RawMessage {
	var schema struct {
		Properties map[string]struct {
			Type    string   `json:"type"`
			Enum    []any    `json:"enum"`
			Minimum *float64 `json:"minimum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	args := make(map[string]any)
	if len(raw) > 0 && json.Unmarshal(raw, &schema) == nil {
		for _, name := range schema.Required {
			p := schema.Properties[name]
			switch {
			case len(p.Enum) > 0:
				args[name] = p.Enum[0]
			case p.Type == "integer" || p.Type == "number":
				args[name] = 0.0
				if p.Minimum != nil {
					args[name] = *p.Minimum
				}
			default:
				args[name] = ""
			}
		}
	}
	b, err := json.Marshal(args)
	if err != nil { // a schema of unheard-of values
		return nil
	}
	return b
}

package worlds

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// A Null is a policy that knows nothing of its task. A world in which one passes teaches nothing.
type Null struct {
	Name  string
	Draws bool // false: a task has one episode only
	act   func(rng *rand.Rand, t envharness.Turn, last *envharness.Action) envharness.Action
}

// Nulls returns the null policies in a fixed order: "noop" calls the tool of that name, which most worlds do not know; "random" takes an
// admissible action, all equally likely; "submit" calls the first tool that may end the episode at once, and in a shop buys the first
// product that it sees; "repeat" takes one admissible action over and over.
func (w World) Nulls() []Null {
	return []Null{
		{"noop", false, func(*rand.Rand, envharness.Turn, *envharness.Action) envharness.Action { return noop() }},
		{"random", true, func(rng *rand.Rand, t envharness.Turn, _ *envharness.Action) envharness.Action {
			return draw(rng, t.Shown.Actions)
		}},
		{"submit", false, func(_ *rand.Rand, t envharness.Turn, _ *envharness.Action) envharness.Action {
			if w.hasty != nil && len(t.Shown.Actions) > 0 {
				return w.hasty(t.Shown.Actions)
			}
			return submit(t)
		}},
		{"repeat", true, func(rng *rand.Rand, t envharness.Turn, last *envharness.Action) envharness.Action {
			if last == nil {
				return draw(rng, t.Shown.Actions)
			}
			return *last
		}},
	}
}

// Orders returns two more that no claim is about: "first" and "last" take the first and the last admissible action of each turn. They pass
// where the order of the list tells what is to be done.
func (w World) Orders() []Null {
	at := func(index func(n int) int) func(*rand.Rand, envharness.Turn, *envharness.Action) envharness.Action {
		return func(_ *rand.Rand, t envharness.Turn, _ *envharness.Action) envharness.Action {
			if len(t.Shown.Actions) == 0 {
				return noop()
			}
			return t.Shown.Actions[index(len(t.Shown.Actions))]
		}
	}
	return []Null{
		{"first", false, at(func(int) int { return 0 })},
		{"last", false, at(func(n int) int { return n - 1 })},
	}
}

// New returns the policy of one episode, which draws from rng.
func (n Null) New(rng *rand.Rand) envharness.Policy {
	var last *envharness.Action
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		a := n.act(rng, t, last)
		last = &a
		return a, nil
	})
}

func noop() envharness.Action { return envharness.Action{Name: "noop"} }

func draw(rng *rand.Rand, actions []envharness.Action) envharness.Action {
	if len(actions) == 0 {
		return noop()
	}
	return actions[rng.IntN(len(actions))]
}

// submit takes the first admissible call of the first tool that may end the episode, or makes one up from its schema.
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

// buyFirst takes the first search, then the first product, and buys it.
func buyFirst(actions []envharness.Action) envharness.Action {
	var first *envharness.Action
	for i, a := range actions {
		switch a.Text() {
		case "click buy now":
			return a
		case "click back to search", "click < prev", "click next >":
		default:
			if first == nil {
				first = &actions[i]
			}
		}
	}
	if first == nil {
		return actions[0]
	}
	return *first
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

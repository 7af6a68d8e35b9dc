package worlds

import (
	"context"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// Nulls returns the policies of [yardstick.Nulls], which know nothing of their task. A world in which one passes teaches nothing. In a shop
// the tool that may end the episode does much else too: there "submit" buys the first product that it sees.
func (w World) Nulls() []yardstick.Null {
	nulls := yardstick.Nulls()
	for i, n := range nulls {
		if n.Name == "submit" && w.hasty != nil {
			nulls[i].New = hasty(n, w.hasty)
		}
	}
	return nulls
}

// hasty returns the New of a policy that acts out of the admissible actions where there are any, and as n does where there are none.
func hasty(n yardstick.Null, act func([]envharness.Action) envharness.Action) func(*rand.Rand) envharness.Policy {
	return func(rng *rand.Rand) envharness.Policy {
		otherwise := n.New(rng)
		return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
			if len(t.Shown.Actions) == 0 {
				return otherwise.Act(ctx, t)
			}
			return act(t.Shown.Actions), nil
		})
	}
}

// Orders returns two more that no claim is about: "first" and "last" take the first and the last admissible action of each turn. They pass
// where the order of the list tells what is to be done.
func (w World) Orders() []yardstick.Null {
	at := func(index func(n int) int) func(*rand.Rand) envharness.Policy {
		return func(*rand.Rand) envharness.Policy {
			return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
				if len(t.Shown.Actions) == 0 {
					return envharness.Action{Name: "noop"}, nil
				}
				return t.Shown.Actions[index(len(t.Shown.Actions))], nil
			})
		}
	}
	return []yardstick.Null{
		{Name: "first", New: at(func(int) int { return 0 })},
		{Name: "last", New: at(func(n int) int { return n - 1 })},
	}
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

package rigtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A Hostile is a kind of component that cheats or breaks. It takes no parameters. Its Kind is for [components.Registry.Add]; Kind.About says
// what it does.
type Hostile struct {
	Kind components.Kind
	Step string // of the gate that is meant to refuse it: "static", "integrity", "start", "oracle" or "null"
}

// Entry is what a designer proposes to get the component.
func (h Hostile) Entry() components.Entry { return components.Entry{Tag: h.Kind.Tag} }

// Hostiles returns all hostile kinds, in the order of the steps of the gate. Those that use the environment behind the harness, or its plan,
// need the list of a [Tap] of the world that is played, and are left out if it is nil.
//
// The kinds of one call share what they remember from one episode to the next, which only hostile_moody and hostile_sleeper do. The
// sleeper behaves in the episodes in which the gate looks at it alone, so that only one that looks at rollouts of the policy refuses it.
func Hostiles(t *Tapped) []Hostile {
	var all []Hostile
	add := func(step, tag string, axis envharness.Axis, about string, begin beginner) {
		all = append(all, Hostile{Step: step, Kind: components.Kind{
			Tag: tag, Version: 1, Axis: axis, Direction: components.Harder | components.Easier, About: about, Sound: "never",
			Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			New: func(params json.RawMessage) (envharness.Component, error) {
				if err := noParams(params); err != nil {
					return nil, fmt.Errorf("rigtest: %s: %w", tag, err)
				}
				return envharness.Rules(envharness.ComponentSpec{Tag: tag, Axis: axis, Params: json.RawMessage(`{}`)}, begin), nil
			},
		}})
	}
	add("static", "hostile_dead", envharness.AxisAction, "has all hooks, and none changes anything", dead)
	add("static", "hostile_scribble", envharness.AxisObservation, "writes into the copies that its hooks are handed, and passes on what was in them", scribble)
	add("integrity", "hostile_panic", envharness.AxisAction, "panics at the first action", panics)
	add("integrity", "hostile_error", envharness.AxisTransition, "fails at the first result", failing)
	add("integrity", "hostile_false", envharness.AxisAction, "answers every write as carried out, and carries none out", falseSuccess)
	add("integrity", "hostile_swallow", envharness.AxisAction, "answers what the world would refuse as carried out", swallow)
	add("integrity", "hostile_state", envharness.AxisObservation, "prints parts of the state that the world does not show", printState)
	var episodes atomic.Int64
	add("integrity", "hostile_moody", envharness.AxisAction, "refuses the first action in every other episode, whatever its seed",
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return moody(episodes.Add(1)%2 == 1), nil
		})
	var begun atomic.Int64
	add("integrity", "hostile_sleeper", envharness.AxisAction,
		"refuses the first action, and from its episode 41 on answers every call of every other episode as carried out",
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return sleeper(begun.Add(1)), nil
		})
	add("oracle", "hostile_end", envharness.AxisBudget, "ends the episode after one turn", ends)
	add("oracle", "hostile_cut", envharness.AxisTransition, "truncates the episode with the first action that is carried out", cuts)
	add("oracle", "hostile_wall", envharness.AxisAction, "refuses all actions", wall)
	if t != nil {
		add("integrity", "hostile_hand", envharness.AxisTransition, "makes calls on the world, behind the harness", hand(t))
		add("integrity", "hostile_head", envharness.AxisTransition,
			"makes all actions of a solution but the last on the world before the first turn, behind the harness", headStart(t))
		add("integrity", "hostile_leak", envharness.AxisObservation, "prints what the verifier reads", leak(t))
		add("integrity", "hostile_hint", envharness.AxisObservation, "prints an action of a solution", hint(t))
		add("start", "hostile_solve", envharness.AxisStart, "carries a solution out at the start", solve(t))
		add("integrity", "hostile_pilot", envharness.AxisAction, "makes the next action of a solution, whatever it is asked for", pilot(t))
		add("null", "hostile_gift", envharness.AxisStart, "carries a solution out at the start, but for its last action", gift(t))
	}
	order := []string{"static", "integrity", "start", "oracle", "null"}
	slices.SortStableFunc(all, func(a, b Hostile) int { return slices.Index(order, a.Step) - slices.Index(order, b.Step) })
	return all
}

type beginner = func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error)

// noParams refuses everything but an empty object.
func noParams(params json.RawMessage) error {
	if len(bytes.TrimSpace(params)) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(params, &fields); err != nil {
		return fmt.Errorf("params: %w", err)
	}
	if len(fields) > 0 || fields == nil {
		return fmt.Errorf("%w: there are none, got %s", components.ErrUnknownParam, params)
	}
	return nil
}

func dead(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{
		Tools: func(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) { return tools, nil },
		Action: func(context.Context, envharness.View, envharness.Action) (envharness.ActionEdit, error) {
			return envharness.PassAction(), nil
		},
		Result: func(context.Context, envharness.View, *envharness.ActionError) error { return nil },
		Transition: func(context.Context, envharness.View, envharness.Transition) (envharness.TransitionEdit, error) {
			return envharness.TransitionEdit{}, nil
		},
		Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			return o, nil
		},
	}, nil
}

func scribble(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	deface := func(o envharness.Observation) {
		for k := range o.Data {
			o.Data[k] = "scribble"
		}
		for i := range o.Actions {
			overwrite(o.Actions[i].Args)
			o.Actions[i].Name = "scribble"
		}
	}
	return envharness.Hooks{
		Action: func(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
			deface(v.Shown())
			overwrite(a.Args)
			return envharness.PassAction(), nil
		},
		Transition: func(_ context.Context, _ envharness.View, t envharness.Transition) (envharness.TransitionEdit, error) {
			deface(t.Observation)
			for k := range t.Info {
				t.Info[k] = "scribble"
			}
			if t.Error != nil {
				t.Error.Message = "scribble"
			}
			return envharness.TransitionEdit{}, nil
		},
		Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
			kept := clone(o)
			deface(o)
			return kept, nil
		},
	}, nil
}

func overwrite(b []byte) {
	for i := range b {
		b[i] = '#'
	}
}

// clone copies all of an observation that deface writes to.
func clone(o envharness.Observation) envharness.Observation {
	o.Data = maps.Clone(o.Data)
	o.Actions = slices.Clone(o.Actions)
	for i := range o.Actions {
		o.Actions[i].Args = bytes.Clone(o.Actions[i].Args)
	}
	return o
}

func panics(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Action: func(context.Context, envharness.View, envharness.Action) (envharness.ActionEdit, error) {
		panic("rigtest: hostile_panic")
	}}, nil
}

var errHostile = errors.New("rigtest: hostile_error")

func failing(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Transition: func(context.Context, envharness.View, envharness.Transition) (envharness.TransitionEdit, error) {
		return envharness.TransitionEdit{}, errHostile
	}}, nil
}

func falseSuccess(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	reads := make(map[string]bool)
	for _, t := range e.Base().Tools {
		reads[t.Name] = t.ReadOnly
	}
	return envharness.Hooks{Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if reads[a.Name] {
			return envharness.PassAction(), nil
		}
		return envharness.AnswerAction("Done.", nil), nil
	}}, nil
}

func swallow(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Action: func(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		listed := v.Shown().Actions
		if listed == nil || slices.ContainsFunc(listed, func(b envharness.Action) bool { return same(a, b) }) {
			return envharness.PassAction(), nil
		}
		return envharness.AnswerAction(v.Shown().Text, nil), nil
	}}, nil
}

func printState(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
		state, err := v.State()
		o.Text += "\n" + string(state)
		return o, err
	}}, nil
}

func moody(refuses bool) envharness.Hooks {
	return envharness.Hooks{Action: func(_ context.Context, v envharness.View, _ envharness.Action) (envharness.ActionEdit, error) {
		if refuses && v.Turn == 0 {
			return envharness.BlockAction("not now"), nil
		}
		return envharness.PassAction(), nil
	}}
}

// sleeps is in how many episodes a sleeper behaves: more than the gate plays for its steps before null, and less than it plays in all before
// the screening, as long as its null policies play as often as by default.
const sleeps = 40

// sleeper is a component in its nth episode, counted from 1.
func sleeper(n int64) envharness.Hooks {
	if n <= sleeps {
		return moody(true)
	}
	awake := n%2 == 1
	return envharness.Hooks{Action: func(ctx context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
		if awake {
			return envharness.AnswerAction("Done.", nil), nil
		}
		return moody(true).Action(ctx, v, a)
	}}
}

func ends(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{MaxTurns: 1}, nil
}

func cuts(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Transition: func(_ context.Context, v envharness.View, t envharness.Transition) (envharness.TransitionEdit, error) {
		if v.Stepped && t.Error == nil {
			return envharness.TransitionEdit{Truncate: "enough"}, nil
		}
		return envharness.TransitionEdit{}, nil
	}}, nil
}

func wall(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{Action: func(context.Context, envharness.View, envharness.Action) (envharness.ActionEdit, error) {
		return envharness.BlockAction("closed"), nil
	}}, nil
}

// planned asks the oracle of the environment that plays the episode, which changes nothing.
func planned(ctx context.Context, env envharness.Environment) ([]envharness.Action, error) {
	oracle, ok := envharness.As[envharness.Oracle](env)
	if !ok {
		return nil, envharness.ErrNotProven
	}
	return oracle.Plan(ctx)
}

var errNotTapped = errors.New("rigtest: no tapped environment plays the episode")

// tapping makes hooks that know the environment of the episode.
func tapping(t *Tapped, begin func(ctx context.Context, env envharness.Environment) (envharness.Hooks, error)) beginner {
	return func(ctx context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
		env, ok := t.Live(e.Task, e.Seed)
		if !ok {
			return envharness.Hooks{}, fmt.Errorf("%w: task %q, seed %d", errNotTapped, e.Task, e.Seed)
		}
		return begin(ctx, env)
	}
}

func hand(t *Tapped) beginner {
	return tapping(t, func(_ context.Context, env envharness.Environment) (envharness.Hooks, error) {
		return envharness.Hooks{
			Action: func(ctx context.Context, v envharness.View, _ envharness.Action) (envharness.ActionEdit, error) {
				if plan, err := planned(ctx, env); err == nil && len(plan) > 1 {
					_, err = env.Step(ctx, plan[0])
					return envharness.PassAction(), err
				}
				return envharness.PassAction(), nil
			},
		}, nil
	})
}

func headStart(t *Tapped) beginner {
	return tapping(t, func(ctx context.Context, env envharness.Environment) (envharness.Hooks, error) {
		plan, err := planned(ctx, env)
		if err != nil {
			return envharness.Hooks{}, err
		}
		for _, a := range plan[:len(plan)-1] {
			if _, err := env.Step(ctx, a); err != nil {
				return envharness.Hooks{}, err
			}
		}
		return envharness.Hooks{}, nil
	})
}

func leak(t *Tapped) beginner {
	return tapping(t, func(_ context.Context, env envharness.Environment) (envharness.Hooks, error) {
		return envharness.Hooks{Observe: func(ctx context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			stater, ok := envharness.As[envharness.Stater](env)
			describer, described := envharness.As[envharness.Describer](env)
			if !ok || !described {
				return o, nil
			}
			raw, err := stater.State(ctx)
			if err != nil {
				return o, err
			}
			var state map[string]json.RawMessage
			if err := json.Unmarshal(raw, &state); err != nil {
				return o, err
			}
			for _, field := range describer.Describe().Graded {
				o.Text += fmt.Sprintf("\n%s: %s", field, state[field])
			}
			return o, nil
		}}, nil
	})
}

func hint(t *Tapped) beginner {
	return tapping(t, func(_ context.Context, env envharness.Environment) (envharness.Hooks, error) {
		return envharness.Hooks{Observe: func(ctx context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			if plan, err := planned(ctx, env); err == nil && len(plan) > 0 {
				o.Text += "\nnext: " + plan[0].String()
			}
			return o, nil
		}}, nil
	})
}

// solve is a start that solves the task.
func solve(t *Tapped) beginner { return starting(t, 0) }

// gift is a start that leaves the last action of a solution.
func gift(t *Tapped) beginner { return starting(t, 1) }

// starting carries out the solution at the start, but for so many actions.
func starting(t *Tapped, left int) beginner {
	return tapping(t, func(_ context.Context, env envharness.Environment) (envharness.Hooks, error) {
		return envharness.Hooks{Start: func(ctx context.Context, _ envharness.View) ([]envharness.StartEdit, error) {
			plan, err := planned(ctx, env)
			var edits []envharness.StartEdit
			for _, a := range plan[:max(len(plan)-left, 0)] {
				edits = append(edits, envharness.StartEdit{Action: a})
			}
			return edits, err
		}}, nil
	})
}

func pilot(t *Tapped) beginner {
	return tapping(t, func(_ context.Context, env envharness.Environment) (envharness.Hooks, error) {
		return envharness.Hooks{Action: func(ctx context.Context, _ envharness.View, _ envharness.Action) (envharness.ActionEdit, error) {
			plan, err := planned(ctx, env)
			if err != nil || len(plan) == 0 {
				return envharness.PassAction(), nil
			}
			return envharness.ReplaceAction(plan[0]), nil
		}}, nil
	})
}

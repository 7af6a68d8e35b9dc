package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// A corridor is a small world whose every part the cases below can count or break: walk to cell 3 and say "done". Its seed decides
// where the walk begins.
type corridor struct {
	cell, turns, start int
	done, ready        bool
	closed             bool
	calls              *calls
	fault              func(ctx context.Context, c *corridor) error // before each step
}

// calls counts what reaches the environments of a world.
type calls struct{ opened, reset, step, closed, rewound int }

func (c *corridor) Reset(_ context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if c.closed {
		return envharness.Observation{}, envharness.ErrClosed
	}
	c.calls.reset++
	c.start = 0
	if o.Seed != nil {
		c.start = envharness.RandStream(*o.Seed, "env", 0).IntN(3)
	}
	c.cell, c.turns, c.done, c.ready = c.start, 0, false, true
	return c.observation(), nil
}

func (c *corridor) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	switch {
	case c.closed:
		return envharness.Transition{}, envharness.ErrClosed
	case !c.ready:
		return envharness.Transition{}, envharness.ErrNeedReset
	case c.done:
		return envharness.Transition{}, envharness.ErrEpisodeOver
	}
	if c.fault != nil {
		if err := c.fault(ctx, c); err != nil {
			return envharness.Transition{}, err
		}
	}
	c.calls.step++
	c.turns++
	var t envharness.Transition
	switch a.Name {
	case "right":
		c.cell++
	case "left":
		c.cell--
	case "look":
	case "done":
		c.done, t.Terminated = true, true
		if c.cell == 3 {
			t.Reward = 1
		}
	default:
		t.Error = &envharness.ActionError{Class: envharness.ClassUnknownTool, Message: "no tool named " + a.Name}
	}
	t.Observation = c.observation()
	return t, nil
}

func (c *corridor) observation() envharness.Observation {
	return envharness.Observation{
		Text: fmt.Sprintf("cell %d after %d turns", c.cell, c.turns),
		Data: map[string]any{"cell": float64(c.cell), "turns": float64(c.turns)},
	}
}

func (c *corridor) State(context.Context) (envharness.State, error) {
	return json.Marshal(map[string]any{"cell": c.cell, "turns": c.turns, "done": c.done, "success": c.done && c.cell == 3})
}

// Snapshot implements [envharness.Snapshotter] for the catalogue's start_patch.
func (c *corridor) Snapshot(context.Context) (envharness.State, error) {
	return json.Marshal(map[string]any{"cell": c.cell, "turns": c.turns, "done": c.done})
}

func (c *corridor) Restore(_ context.Context, st envharness.State) error {
	var s struct {
		Cell, Turns int
		Done        bool
	}
	if err := json.Unmarshal(st, &s); err != nil {
		return err
	}
	c.cell, c.turns, c.done = s.Cell, s.Turns, s.Done
	return nil
}

func (c *corridor) RewindCounters(context.Context) error {
	c.calls.rewound++
	c.turns = 0
	return nil
}

func (c *corridor) Observe(context.Context) (envharness.Observation, error) {
	return c.observation(), nil
}

func (c *corridor) Close() error {
	if !c.closed {
		c.calls.closed++
	}
	c.closed = true
	return nil
}

func (c *corridor) Describe() envharness.Description {
	return envharness.Description{
		Name: "corridor", Graded: []string{"success", "done"}, Mutable: []string{"/cell"}, Deterministic: true,
		Tools: []envharness.Tool{{Name: "right"}, {Name: "left"}, {Name: "look", ReadOnly: true}, {Name: "done", Submits: true}},
	}
}

// corridors is a world of corridors.
func corridors(n *calls, fault func(context.Context, *corridor) error) envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) {
			n.opened++
			return &corridor{calls: n, fault: fault}, nil
		},
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			var st struct{ Success bool }
			if err := json.Unmarshal(e.End, &st); err != nil {
				return envharness.Verdict{}, err
			}
			if st.Success {
				return envharness.Verdict{Status: envharness.Pass}, nil
			}
			return envharness.Verdict{Status: envharness.Fail, Reason: "not in cell 3 at the end"}, nil
		}),
	}
}

// walk resets h with a seed and plays the named actions until one fails or the episode ends. It returns the last result.
func walk(ctx context.Context, h envharness.Environment, seed uint64, names string) (envharness.Transition, error) {
	if _, err := h.Reset(ctx, envharness.ResetOptions{Seed: &seed}); err != nil {
		return envharness.Transition{}, err
	}
	return goOn(ctx, h, names)
}

func goOn(ctx context.Context, h envharness.Environment, names string) (t envharness.Transition, err error) {
	for name := range strings.FieldsSeq(names) {
		if t, err = h.Step(ctx, envharness.Action{Name: name}); err != nil {
			return t, err
		}
	}
	return t, nil
}

// rule is a component of plain hooks.
func rule(id string, axis envharness.Axis, hooks envharness.Hooks) envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: id, Axis: axis},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) { return hooks, nil })
}

// scripted plays actions in order and then stops.
func scripted(names string) func(int) (envharness.Policy, error) {
	list := strings.Fields(names)
	return func(int) (envharness.Policy, error) {
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
			if t.Index >= len(list) {
				return envharness.Action{}, envharness.ErrStop
			}
			return envharness.Action{Name: list[t.Index]}, nil
		}), nil
	}
}

// want turns a comparison into an error.
func want[T comparable](what string, got, wanted T) error {
	if got != wanted {
		return fmt.Errorf("%s: got %v, want %v", what, got, wanted)
	}
	return nil
}

// wantErr checks for an error that wraps target.
func wantErr(what string, err, target error) error {
	if !errors.Is(err, target) {
		return fmt.Errorf("%s: got error %v, want %v", what, err, target)
	}
	return nil
}

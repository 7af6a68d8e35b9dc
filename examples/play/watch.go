package main

import (
	"context"
	"errors"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
)

// watch shows how a model plays the game, turn by turn.
func (g *game) watch(ctx context.Context, m *endpoint.Model) error {
	d, err := g.world.Describe(ctx)
	if err != nil {
		return err
	}
	g.about = d
	if err := g.exists(ctx); err != nil {
		return err
	}
	g.say("%s, task %s, played by %s", g.world.Name, g.task.ID, m.Name)
	o := m.Rollouts()
	o.Reruns = new(0) // it would be shown twice
	traces, err := envharness.Rollouts(ctx, g.world.World, nil, func(int) (envharness.Policy, error) {
		return &watched{g, m.Policy(d, "")}, nil
	}, []envharness.Task{g.task}, &o)
	if err != nil {
		return err
	}
	t := traces[0]
	if n := len(t.Turns); n > 0 {
		last := t.Turns[n-1]
		if last.Proposed == nil && last.Said != "" {
			g.say("said: %s", last.Said)
		}
		g.say("\n%s", last.Shown.Observation.Text)
	}
	g.say("\n%v", m.Usage())
	if err := endpoint.Count(traces).Err(); err != nil {
		return err
	}
	g.say("verdict after %d turns: %s, score %.2f%s", len(t.Turns), t.Verdict.Status, t.Verdict.Score, reason(t.Verdict))
	return g.err
}

// exists returns why the task cannot be played, if it cannot: a model should not be blamed.
func (g *game) exists(ctx context.Context) error {
	env, err := g.world.New(ctx)
	if err != nil {
		return err
	}
	defer env.Close()
	_, err = env.Reset(ctx, envharness.ResetOptions{Task: g.task.ID, Seed: g.task.Seed, Options: g.task.Options})
	return err
}

// watched shows what the policy is shown, and what it does.
type watched struct {
	game *game
	envharness.Policy
}

func (w *watched) Act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	if t.Error != nil && !strings.Contains(t.Shown.Text, t.Error.Message) { // most worlds tell it
		w.game.say("refused (%s): %s", t.Error.Class, t.Error.Message)
	}
	w.game.say("\n%s\n", t.Shown.Text)
	a, err := w.Policy.Act(ctx, t)
	switch {
	case err == nil:
		w.game.say("turn %d> %s", t.Index+1, shown(a, w.game.about.Tools))
	case errors.Is(err, envharness.ErrBadAction): // the next turn tells why
		w.game.say("turn %d> an answer that is no action", t.Index+1)
	default:
		w.game.say("turn %d> %v", t.Index+1, err)
	}
	return a, err
}

// Explain implements [envharness.Explainer], as the model's policy does.
func (w *watched) Explain() (string, int) {
	if e, ok := w.Policy.(envharness.Explainer); ok {
		return e.Explain()
	}
	return "", 0
}

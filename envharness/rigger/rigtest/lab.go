package rigtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// A lab is an environment to try actions on, from the start of one task.
type lab struct {
	env   envharness.Environment
	about envharness.Description
	reset envharness.ResetOptions
	limit int // on turns
}

// unlimited is the limit on turns of a world without one, as of envharness.Rollouts.
const unlimited = 50

func openLab(ctx context.Context, w envharness.World, task envharness.Task) (*lab, error) {
	if w.New == nil {
		return nil, fmt.Errorf("rigtest: task %q: the world has no New", task.ID)
	}
	env, err := w.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("rigtest: task %q: open the world: %w", task.ID, err)
	}
	l := &lab{env: env, reset: envharness.ResetOptions{Task: task.ID, Seed: task.Seed, Options: task.Options}, limit: unlimited}
	if l.reset.Seed == nil {
		l.reset.Seed = new(uint64(1)) // what a world that takes seeds makes of it is not the episode played; see the package comment
	}
	if d, ok := envharness.As[envharness.Describer](env); ok {
		l.about = d.Describe()
	}
	if l.about.MaxTurns > 0 {
		l.limit = l.about.MaxTurns
	}
	if _, err := l.play(ctx, nil); err != nil {
		return nil, errors.Join(err, env.Close())
	}
	if t, ok := envharness.As[envharness.TurnLimiter](env); ok && t.TurnLimit() > 0 {
		l.limit = t.TurnLimit()
	}
	return l, nil
}

// A visit is what came of actions from the start.
type visit struct {
	shown   []envharness.Observation  // first, and after each action
	refused []*envharness.ActionError // of each action, nil if it was carried out
	end     *envharness.Transition    // with which the episode ended; nil if it goes on
}

func (v visit) now() envharness.Observation { return v.shown[len(v.shown)-1] }

// last is the refusal of the last action.
func (v visit) last() *envharness.ActionError { return v.refused[len(v.refused)-1] }

// play carries the actions out from the start, up to the end of the episode.
func (l *lab) play(ctx context.Context, actions []envharness.Action) (visit, error) {
	o := l.reset
	first, err := l.env.Reset(ctx, o)
	if errors.Is(err, envharness.ErrSeedUnsupported) {
		o.Seed = nil
		first, err = l.env.Reset(ctx, o)
	}
	if err != nil {
		return visit{}, fmt.Errorf("rigtest: task %q: reset: %w", l.reset.Task, err)
	}
	v := visit{shown: []envharness.Observation{first}}
	for i, a := range actions {
		tr, err := l.env.Step(ctx, a)
		if err != nil {
			return v, fmt.Errorf("rigtest: task %q: action %d, %s: %w", l.reset.Task, i, a, err)
		}
		v.shown, v.refused = append(v.shown, tr.Observation), append(v.refused, tr.Error)
		if tr.Ended() {
			v.end = &tr
			break
		}
	}
	return v, nil
}

// plan asks the oracle for a solution from where the last play ended.
func (l *lab) plan(ctx context.Context) ([]envharness.Action, error) {
	oracle, ok := envharness.As[envharness.Oracle](l.env)
	if !ok {
		return nil, fmt.Errorf("rigtest: task %q: %w: the world has no oracle", l.reset.Task, envharness.ErrNotProven)
	}
	plan, err := oracle.Plan(ctx)
	if err == nil && len(plan) == 0 {
		err = envharness.ErrNotProven
	}
	if err != nil {
		return nil, fmt.Errorf("rigtest: task %q: plan: %w", l.reset.Task, err)
	}
	return plan, nil
}

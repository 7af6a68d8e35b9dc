package stdio

import (
	"context"
	"errors"

	"github.com/throughline-go/throughline/envharness"
)

// An environment is one that a program serves.
type environment struct {
	*conn
	able  abilities
	tools []envharness.Tool // of the present or last episode; nil before the first
	limit int
}

// Reset implements [envharness.Environment].
func (e *environment) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	q := request{Op: "reset", Task: o.Task, Seed: o.Seed}
	if len(o.Options) > 0 && string(o.Options) != "null" {
		if err := e.state(); err != nil {
			return envharness.Observation{}, err
		}
		if !whole(o.Options) {
			return envharness.Observation{}, errors.New("stdio: reset: options must be one JSON object")
		}
		q.Options = o.Options
	}
	var r started
	err := e.call(ctx, q, &r, func() string {
		switch {
		case r.Obs == nil:
			return "lacks obs"
		case r.Seed != nil && o.Seed != nil && *r.Seed != *o.Seed:
			return "tells of another seed than was asked for"
		case e.able.Tools && r.Tools == nil:
			return "lacks tools"
		}
		return e.misplaced(r.situation, true)
	})
	if err != nil {
		return envharness.Observation{}, err
	}
	e.note(r.situation)
	return *r.Obs, nil
}

// Step implements [envharness.Environment].
func (e *environment) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	var r stepped
	err := e.call(ctx, request{Op: "step", Action: outward(a)}, &r, func() string {
		switch {
		case r.Obs == nil || r.Reward == nil || r.Terminated == nil || r.Truncated == nil:
			return "lacks one of obs, reward, terminated and truncated"
		case r.TurnLimit != nil:
			return "has a turn_limit, which a step does not change"
		}
		return e.misplaced(r.situation, false)
	})
	if err != nil {
		return envharness.Transition{}, err
	}
	e.note(r.situation)
	return envharness.Transition{
		Observation: *r.Obs, Reward: *r.Reward, Terminated: *r.Terminated, Truncated: *r.Truncated, Reason: r.Reason, Error: r.Error, Info: r.Info,
	}, nil
}

// change makes a call of which nothing comes back but the situation.
func (e *environment) change(ctx context.Context, q request) error {
	var now situation
	if err := e.call(ctx, q, &now, func() string { return e.misplaced(now, true) }); err != nil {
		return err
	}
	e.note(now)
	return nil
}

// misplaced says what a situation has that was not declared, or lacks.
func (e *environment) misplaced(now situation, limit bool) string {
	switch {
	case now.Tools != nil && !e.able.Tools:
		return "has tools, which the program did not declare to change"
	case now.TurnLimit != nil && !e.able.TurnLimit:
		return "has a turn_limit, which the program did not declare"
	case now.TurnLimit == nil && e.able.TurnLimit && limit:
		return "lacks turn_limit"
	case now.TurnLimit != nil && *now.TurnLimit < 0:
		return "has a turn_limit below zero"
	}
	return ""
}

func (e *environment) note(now situation) {
	if now.Tools != nil {
		e.tools = *now.Tools
	}
	if now.TurnLimit != nil {
		e.limit = *now.TurnLimit
	}
}

// lacks says that what is missing, if it is.
func lacks(what string, missing bool) string {
	if missing {
		return "lacks " + what
	}
	return ""
}

package envtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

func episodeRepeats(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		tr, err := b.play(ctx, t, seedOf(t, 1), e.short())
		if err != nil {
			return err
		}
		if err := b.repeatable(); err != nil {
			return err
		}
		err = b.replay(ctx, t, seedOf(t, 1), tr)
		if d, ok := differed(err); ok {
			if d.turn == 0 && !b.seedless {
				return blame("E03", "task %q, the second reset with the same seed: %w", t.ID, d)
			}
			return fmt.Errorf("task %q, the second episode with the same seed: %w", t.ID, d)
		}
		return err
	})
}

// The instances play episode after episode, each as long as it takes.
func instancesAgree(ctx context.Context, e Environment) error {
	return e.with(ctx, func(a *bench) error {
		return e.with(ctx, func(b *bench) error {
			left := e.steps()
			for i := uint64(0); left > 0; i++ {
				t := e.tasks()[i%uint64(len(e.tasks()))]
				seed := seedOf(t, i+1)
				tr, err := a.play(ctx, t, seed, left)
				if err != nil {
					return err
				}
				if err := a.repeatable(); err != nil {
					return err
				}
				if err := b.replay(ctx, t, seed, tr); err != nil {
					if d, ok := differed(err); ok {
						return fmt.Errorf("task %q, seed %d: %w", t.ID, *seed, d)
					}
					return err
				}
				left -= len(tr)
			}
			return nil
		})
	})
}

// everyTurn calls f for every turn of three episodes of each task, that of the reset included.
func (e Environment) everyTurn(ctx context.Context, f func(b *bench, u turn) error) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		for n := range uint64(3) {
			tr, err := b.play(ctx, t, seedOf(t, n+1), e.short())
			if err != nil {
				return err
			}
			for i, u := range tr {
				if err := f(b, u); err != nil {
					return fmt.Errorf("task %q, turn %d: %w", t.ID, i, err)
				}
			}
		}
		return nil
	})
}

func firstTurnCounts(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		return b.eachFirst(ctx, t, func(u turn) error {
			if b.limit() == 1 {
				return skip("the limit is 1")
			}
			if u.got.Truncated {
				return fmt.Errorf("task %q: truncated on the first turn, %s: %q", t.ID, describe(u.action), u.got.Reason)
			}
			return nil
		})
	})
}

// most is the number of first actions that are tried.
const most = 64

// eachFirst calls f with the results of the first actions that an episode can begin with: the admissible ones, and some that are drawn.
// Each is tried in a new instance, so that it is the first in every respect.
func (b *bench) eachFirst(ctx context.Context, t envharness.Task, f func(u turn) error) error {
	if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
		return err
	}
	var actions []envharness.Action
	r := generator()
	for _, i := range r.Perm(len(b.shown.Actions)) {
		a := b.shown.Actions[i]
		actions = append(actions, envharness.Action{Name: a.Name, Args: bytes.Clone(a.Args)})
	}
	actions = actions[:min(len(actions), most)]
	for range 8 {
		actions = append(actions, b.c.Actions.draw(r, b.shown, b.tools()))
	}
	for _, a := range actions {
		err := b.c.with(ctx, func(b *bench) error {
			if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
				return err
			}
			u, err := b.step(ctx, a)
			if err == nil {
				err = f(u)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func returnIsSum(ctx context.Context, e Environment) error {
	reported, sum := false, 0.0
	err := e.everyTurn(ctx, func(_ *bench, u turn) error {
		if u.reset {
			sum = 0
			return nil
		}
		sum += u.got.Reward
		got, ok := u.got.Info["return"].(float64)
		reported = reported || ok
		// A sum in another order may be rounded otherwise.
		if ok && math.Abs(got-sum) > max(e.Tolerance, 1e-9*max(1, math.Abs(sum))) {
			return fmt.Errorf("the return in Info is %v, the rewards add up to %v", got, sum)
		}
		return nil
	})
	if err == nil && !reported {
		return skip("no transition has a number in Info[\"return\"]")
	}
	return err
}

func rewardsFinite(ctx context.Context, e Environment) error {
	return e.everyTurn(ctx, func(_ *bench, u turn) error {
		if r := u.got.Reward; math.IsNaN(r) || math.IsInf(r, 0) {
			return fmt.Errorf("%s: the reward is %v", describe(u.action), r)
		}
		return nil
	})
}

func resultsAreJSON(ctx context.Context, e Environment) error {
	return e.everyTurn(ctx, func(_ *bench, u turn) error { return checkJSON(u.got) })
}

// checkJSON reports what cannot be written as JSON and read again. The reward is another rule's.
func checkJSON(t envharness.Transition) error {
	o := t.Observation
	if !utf8.ValidString(o.Text) {
		return fmt.Errorf("the text is not UTF-8: %.60q", o.Text)
	}
	if o.Data != nil {
		if err := jsonValue("data", o.Data); err != nil {
			return err
		}
	}
	if t.Info != nil {
		if err := jsonValue("info", t.Info); err != nil {
			return err
		}
	}
	if t.Error != nil && !utf8.ValidString(t.Error.Message) {
		return fmt.Errorf("the message of the refusal is not UTF-8: %.60q", t.Error.Message)
	}
	for i, a := range o.Actions {
		var args map[string]any
		if len(a.Args) > 0 && (json.Unmarshal(a.Args, &args) != nil || args == nil) {
			return fmt.Errorf("admissible action %d: %s are not a JSON object", i, describe(a))
		}
	}
	return nil
}

// jsonValue reports where a value is none of nil, bool, float64, string, []any and map[string]any.
func jsonValue(at string, v any) error {
	switch v := v.(type) {
	case nil, bool:
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s is %v, which JSON cannot say", at, v)
		}
	case string:
		if !utf8.ValidString(v) {
			return fmt.Errorf("%s is not UTF-8: %.60q", at, v)
		}
	case []any:
		for i, x := range v {
			if err := jsonValue(fmt.Sprintf("%s/%d", at, i), x); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err := jsonValue(at+"/"+k, v[k]); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%s has the type %T, which does not come back from JSON", at, v)
	}
	return nil
}

// Observe is called after each turn of one episode and never in the one that it is compared with.
func observePure(ctx context.Context, e Environment) error {
	for _, t := range e.tasks() {
		want, err := e.reference(ctx, t, e.short())
		if err != nil {
			return err
		}
		if err := e.with(ctx, func(b *bench) error { return b.observed(ctx, t, want) }); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) observed(ctx context.Context, t envharness.Task, want trace) error {
	ob, ok := envharness.As[envharness.Observer](b.env)
	if !ok {
		return skip("the environment is no Observer")
	}
	look := func() error {
		before, err := b.readState(ctx)
		if err != nil {
			return err
		}
		for range 2 {
			o, err := ob.Observe(ctx)
			if err != nil {
				return fmt.Errorf("observe: %w", err)
			}
			d := b.diff(envharness.Transition{Observation: b.shown}, envharness.Transition{Observation: o})
			if d != "" {
				return fmt.Errorf("observe after turn %d: %s", b.turn, d)
			}
		}
		after, err := b.readState(ctx)
		if err != nil {
			return err
		}
		return b.unchanged(before, after, nil, "observe after turn %d changed the state", b.turn)
	}
	if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
		return err
	}
	for i, w := range want[1:] {
		if err := look(); err != nil {
			return fmt.Errorf("task %q: %w", t.ID, err)
		}
		if err := b.followOne(ctx, i+1, w); err != nil {
			if d, ok := differed(err); ok {
				return fmt.Errorf("task %q, after calls of Observe: %w", t.ID, d)
			}
			return err
		}
	}
	return look()
}

// Refused actions use up turns like others, and cannot end an episode in any other way.
func limitExact(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
			return err
		}
		if b.limits != nil {
			if n, most := b.limits.TurnLimit(), b.maxTurns(); n < 0 || most > 0 && n > most {
				return fmt.Errorf("task %q: TurnLimit is %d, want 0 or more and no more than MaxTurns, %d", t.ID, n, most)
			}
		}
		limit := b.limit()
		if limit == 0 {
			return skip("no limit is known")
		}
		if err := b.refuseUntil(ctx, t, limit, false); err != nil {
			return err
		}
		// Nor does an episode of other actions last any longer.
		if err := b.finish(ctx, t, seedOf(t, 1), e.Actions); err != nil {
			return err
		}
		return b.rewoundLimit(ctx, t, limit)
	})
}

// rewoundLimit looks whether there are as many turns again after RewindCounters.
func (b *bench) rewoundLimit(ctx context.Context, t envharness.Task, limit int) error {
	w, ok := envharness.As[envharness.Rewinder](b.env)
	if !ok || limit == 1 {
		return nil
	}
	if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
		return err
	}
	if _, err := b.step(ctx, noTool); err != nil || b.stage == ended {
		return err
	}
	if err := w.RewindCounters(ctx); err != nil {
		return fmt.Errorf("task %q: RewindCounters: %w", t.ID, err)
	}
	if err := b.refuseUntil(ctx, t, limit, true); err != nil {
		return fmt.Errorf("after RewindCounters: %w", err)
	}
	return nil
}

// refuseUntil takes turns that no tool takes, of which the last must be the one of the limit.
func (b *bench) refuseUntil(ctx context.Context, t envharness.Task, limit int, rewound bool) error {
	for n := 1; n <= limit; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		u, err := b.step(ctx, noTool)
		switch now := b.limit(); {
		case err != nil:
			return err
		case n == 1 && limit > 1 && u.got.Truncated && !rewound:
			return blame("E10", "task %q: truncated on the first turn: %q", t.ID, u.got.Reason)
		case u.got.Ended() && n < limit:
			return fmt.Errorf("task %q: ended after %d turns of actions that no tool takes, want %d", t.ID, n, limit)
		case !u.got.Ended() && n == limit:
			return fmt.Errorf("task %q: has not ended after %d turns", t.ID, limit)
		case now != limit:
			return fmt.Errorf("task %q: TurnLimit was %d, and is %d after turn %d", t.ID, limit, now, n)
		}
	}
	return nil
}

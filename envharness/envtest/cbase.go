package envtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// calls returns the actions of an episode that reached the base, without those of the start.
func (p played) calls() []envharness.Action {
	var out []envharness.Action
	for _, t := range p.Turns {
		if t.Applied != nil && t.Raw != nil {
			out = append(out, *t.Applied)
		}
	}
	return out
}

// rerun makes the calls of an episode on the base once more, without the component.
func (x *componentTrial) rerun(ctx context.Context, ep played) (played, error) {
	s := staging{turns: max(len(ep.calls()), 1), policy: func(int) envharness.Policy { return fixed(ep.calls()) }}
	if start := sameStart(ep.Log); start != nil {
		s.components = []envharness.Component{start}
	}
	return x.one(ctx, s, ep.Task)
}

// sameStart makes the changes before the first turn that a log has, or returns nil if there are none.
func sameStart(log []envharness.LogEntry) envharness.Component {
	var edits []envharness.StartEdit
	for _, e := range log {
		switch e.Kind {
		case envharness.LogReplay:
			edits = append(edits, envharness.StartEdit{Action: e.Action})
		case envharness.LogPatch:
			var set map[string]json.RawMessage
			if json.Unmarshal(e.Action.Args, &set) == nil {
				edits = append(edits, envharness.StartEdit{Set: set})
			}
		}
	}
	if edits == nil {
		return nil
	}
	return envharness.Rules(envharness.ComponentSpec{Tag: "envtest_start", Axis: envharness.AxisStart},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Start: func(context.Context, envharness.View) ([]envharness.StartEdit, error) { return edits, nil }}, nil
		})
}

// checkVerdict compares verdicts where the base went through the same.
func checkVerdict(ctx context.Context, x *componentTrial) error {
	eps, err := x.reference(ctx)
	if err != nil {
		return err
	}
	for _, ep := range eps {
		if ep.Verdict.Status == envharness.Invalid {
			continue // says nothing
		}
		again, err := x.rerun(ctx, ep)
		if err != nil {
			return err
		}
		v, w := ep.Verdict, again.Verdict
		if v.Status != w.Status || v.Score != w.Score || !maps.Equal(v.Parts, w.Parts) {
			return fmt.Errorf("%s: the verdict is %s %v, without the component %s %v", ep.name(), v.Status, v.Score, w.Status, w.Score)
		}
	}
	return nil
}

// checkStreams compares the draws of two components inside and outside, and the results of the base for the same calls.
func checkStreams(ctx context.Context, x *componentTrial) error {
	for _, task := range x.tasks {
		var draws [2][2][]uint64
		for k, c := range []envharness.Component{nil, x.New()} {
			s := staging{components: []envharness.Component{x.drawer("envtest_inner", &draws[k][0])}}
			if c != nil {
				s.components = append(s.components, c)
			}
			s.components = append(s.components, x.drawer("envtest_outer", &draws[k][1]))
			if _, err := x.one(ctx, s, task); err != nil {
				return err
			}
		}
		for i, place := range []string{"inside", "around"} {
			a, b := draws[0][i], draws[1][i]
			if n := min(len(a), len(b)); !reflect.DeepEqual(a[:n], b[:n]) {
				return fmt.Errorf("task %q, seed %d: a component %s it draws other numbers", task.ID, *task.Seed, place)
			}
		}
	}
	eps, err := x.reference(ctx)
	if err != nil {
		return err
	}
	for _, ep := range eps {
		if err := x.baseIsUndisturbed(ctx, ep); err != nil {
			return fmt.Errorf("%s: %w", ep.name(), err)
		}
	}
	return nil
}

// drawer is a component that draws a number in every call, and changes nothing.
func (x *componentTrial) drawer(tag string, draws *[]uint64) envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: tag, Axis: x.axis},
		func(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
			draw := func(r *rand.Rand) { *draws = append(*draws, r.Uint64()) }
			draw(e.Rand)
			return envharness.Hooks{Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
				draw(e.Rand)
				return o, nil
			}}, nil
		})
}

// baseIsUndisturbed compares the results of the base with those that it gives without the component, if it gives the same twice.
func (x *componentTrial) baseIsUndisturbed(ctx context.Context, ep played) error {
	if ep.Verdict.Status == envharness.Invalid {
		return nil
	}
	first, err := x.rerun(ctx, ep)
	if err != nil {
		return err
	}
	second, err := x.rerun(ctx, ep)
	if err != nil {
		return err
	}
	if rawDiffers(first, second) == "" {
		if d := rawDiffers(ep, first); d != "" {
			return fmt.Errorf("the base draws other numbers: without the component, for the same calls: %s", d)
		}
	}
	return nil
}

// rawDiffers compares the results of the base.
func rawDiffers(a, b played) string {
	s, t := a.raw(), b.raw()
	for i := range min(len(s), len(t)) {
		if d := difference("", document(s[i]), document(t[i]), 0); d != "" {
			return fmt.Sprintf("call %d: %s", i, d)
		}
	}
	if len(s) != len(t) {
		return fmt.Sprintf("%d calls, %d before", len(t), len(s))
	}
	return ""
}

func (p played) raw() []envharness.Transition {
	var out []envharness.Transition
	for _, e := range p.Log {
		out = append(out, e.Transition)
	}
	for _, t := range p.Turns {
		if t.Raw != nil {
			out = append(out, *t.Raw)
		}
	}
	return out
}

// checkHooksLeaveBase looks at the base before and after every hook.
func checkHooksLeaveBase(ctx context.Context, x *componentTrial) error {
	for _, task := range x.tasks {
		var book ledger
		var found error
		watched := tap{x.New(), func(ctx context.Context, hook string, call func() error) error {
			before, err := stateOf(ctx, book.env)
			if err != nil {
				return err
			}
			hookErr := call()
			after, err := stateOf(ctx, book.env)
			if err == nil && found == nil && !bytes.Equal(before, after) {
				found = fmt.Errorf("task %q, seed %d: the state is another after the hook %s", task.ID, *task.Seed, hook)
			}
			return hookErr
		}}
		if _, err := x.one(ctx, staging{world: seamed(x.World, &book), components: []envharness.Component{watched}}, task); err != nil {
			return err
		}
		if found != nil {
			return found
		}
		if book.env != nil && !visible(book.env) {
			return skip("the environment shows neither its state nor an observation outside of a step")
		}
	}
	return nil
}

func visible(env envharness.Environment) bool {
	_, state := envharness.As[envharness.Stater](env)
	_, observe := envharness.As[envharness.Observer](env)
	return state || observe
}

// stateOf returns what can be seen of an environment from outside: its state, else its observation.
func stateOf(ctx context.Context, env envharness.Environment) ([]byte, error) {
	if s, ok := envharness.As[envharness.Stater](env); ok {
		return s.State(ctx)
	}
	if o, ok := envharness.As[envharness.Observer](env); ok {
		obs, err := o.Observe(ctx)
		if err != nil {
			return nil, err
		}
		return envharness.CanonicalJSON(obs)
	}
	return nil, nil
}

// audit looks at the ordinary episodes, at others whose base gives a reward and an Info in every turn and ends after the third, and at
// some that are cut short after two turns.
func (x *componentTrial) audit(ctx context.Context, look func(ep played) error) error {
	eps, err := x.reference(ctx)
	if err != nil {
		return err
	}
	for i, task := range x.tasks {
		first := eps[i].replays()
		book := ledger{change: func(n int, t *envharness.Transition) {
			if n <= first {
				return
			}
			t.Reward = float64(n) / 4
			t.Info = maps.Clone(t.Info)
			if t.Info == nil {
				t.Info = make(map[string]any)
			}
			t.Info["envtest"] = map[string]any{"n": float64(n)}
			if n-first >= 3 {
				t.Terminated, t.Truncated, t.Reason = true, false, ""
				t.Observation.Text = "envtest: the end"
			}
		}}
		for _, s := range []staging{{world: seamed(x.World, &book)}, {turns: 2}} {
			s.components = []envharness.Component{x.New()}
			ep, err := x.one(ctx, s, task)
			if err != nil {
				return err
			}
			eps = append(eps[:len(eps):len(eps)], ep)
		}
	}
	for _, ep := range eps {
		if n := len(ep.Turns); n > 0 && ep.End.Infra() {
			ep.Turns = ep.Turns[:n-1] // nothing was shown in the turn that failed
		}
		if err := look(ep); err != nil {
			return fmt.Errorf("%s: %w", ep.name(), err)
		}
	}
	return nil
}

func checkRewards(ctx context.Context, x *componentTrial) error {
	return x.audit(ctx, func(ep played) error {
		for i, t := range ep.Turns {
			var raw envharness.Transition
			if t.Raw != nil {
				raw = *t.Raw
			}
			if t.Shown.Reward != raw.Reward || t.Shown.Terminated != raw.Terminated {
				return fmt.Errorf("turn %d: reward %v and terminated %v, of the base %v and %v",
					i, t.Shown.Reward, t.Shown.Terminated, raw.Reward, raw.Terminated)
			}
		}
		return nil
	})
}

func checkEnd(ctx context.Context, x *componentTrial) error {
	return x.audit(ctx, func(ep played) error {
		for i, t := range ep.Turns {
			last := i == len(ep.Turns)-1
			switch {
			case t.Shown.Ended() && !last:
				return fmt.Errorf("turn %d: a turn follows the end", i)
			case t.Raw != nil && t.Raw.Ended():
				if d := difference("", document(*t.Raw), document(t.Shown), 0); d != "" {
					return fmt.Errorf("turn %d: the end is not shown as it is: %s", i, d)
				}
			case last && cutShort(ep.End):
				if err := ep.isCutShort(); err != nil {
					return fmt.Errorf("turn %d: %w", i, err)
				}
			}
		}
		return nil
	})
}

// cutShort reports whether a limit of the harness or of a component ended the episode.
func cutShort(r envharness.EndReason) bool {
	return r == envharness.EndMaxTurns || strings.HasPrefix(string(r), "budget:")
}

// isCutShort checks the last turn of an episode that a limit ended: flags, reason, and the observation of the base.
func (p played) isCutShort() error {
	t := p.Turns[len(p.Turns)-1]
	if !t.Shown.Truncated || t.Shown.Terminated || t.Shown.Reason != string(p.End) {
		return fmt.Errorf("truncated %v with reason %q, want the reason %q", t.Shown.Truncated, t.Shown.Reason, p.End)
	}
	if t.Raw == nil {
		return nil
	}
	want := *t.Raw
	want.Truncated, want.Reason = true, string(p.End)
	if d := difference("", document(want), document(t.Shown), 0); d != "" {
		return fmt.Errorf("the end is not shown as it is: %s", d)
	}
	return nil
}

const blockReason = "envtest: not now"

// checkBlocked blocks every turn, outside and inside of the component.
func checkBlocked(ctx context.Context, x *componentTrial) error {
	if _, err := x.steady(ctx); err != nil {
		return err
	}
	for _, outside := range []bool{true, false} {
		var book ledger
		stack := []envharness.Component{x.blocker(), x.New()}
		if outside {
			stack[0], stack[1] = stack[1], stack[0]
		}
		world := seamed(x.World, &book)
		book.describe = func(d envharness.Description) envharness.Description {
			d.Deterministic = false // a replay would be counted as well
			return d
		}
		const turns = 4
		ep, err := x.one(ctx, staging{world: world, components: stack, turns: turns}, x.tasks[0])
		if err != nil {
			return err
		}
		if err := ep.isBlocked(&book, turns, outside); err != nil {
			return fmt.Errorf("blocked outside of it: %v: %w", outside, err)
		}
	}
	return nil
}

func (x *componentTrial) blocker() envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: "envtest_block", Axis: x.axis},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Action: func(context.Context, envharness.View, envharness.Action) (envharness.ActionEdit, error) {
				return envharness.BlockAction(blockReason), nil
			}}, nil
		})
}

// isBlocked checks an episode of which no turn reached the base.
func (p played) isBlocked(book *ledger, turns int, outside bool) error {
	switch {
	case book.steps != p.replays():
		return fmt.Errorf("the base was stepped %d times", book.steps-p.replays())
	case len(p.Turns) != turns && p.End == envharness.EndMaxTurns, len(p.Turns) < turns && !cutShort(p.End):
		return fmt.Errorf("%d turns, then %q, want %d", len(p.Turns), p.End, turns)
	case book.observes < len(p.Turns):
		return fmt.Errorf("the observation was read anew %d times in %d turns", book.observes, len(p.Turns))
	}
	for i, t := range p.Turns {
		o := t.Shown.Observation
		switch {
		case t.Applied != nil || t.Raw != nil:
			return fmt.Errorf("turn %d reached the base", i)
		case t.Shown.Reward != 0 || t.Shown.Terminated || t.Shown.Truncated != (i == len(p.Turns)-1):
			return fmt.Errorf("turn %d: reward %v, terminated %v, truncated %v", i, t.Shown.Reward, t.Shown.Terminated, t.Shown.Truncated)
		case p.seen[i].Left != p.seen[0].Left-i:
			return fmt.Errorf("turn %d: %d turns left, %d at first", i, p.seen[i].Left, p.seen[0].Left)
		case !outside || t.Shown.Ended():
		case !strings.HasPrefix(o.Text, "[blocked] "+blockReason+"\n\n") || o.Data["blocked"] != true || o.Data["blocked_reason"] != blockReason:
			return fmt.Errorf("turn %d: the block is not shown: %.80q", i, o.Text)
		}
	}
	return nil
}

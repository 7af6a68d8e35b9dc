package envtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// A componentTrial is a [Component] with its defaults, and what the checks have in common.
type componentTrial struct {
	Component
	axis  envharness.Axis
	tasks []envharness.Task // each with a seed

	first, second []played        // New() on each task, made anew each time
	without       []played        // the same without a component
	moody         error           // how they differ when they are played again
	hooks         map[string]bool // that were called in first
}

// newComponentTrial fills in the defaults and reports what cannot be played at all.
func newComponentTrial(ctx context.Context, c Component) (*componentTrial, error) {
	x := &componentTrial{Component: c, hooks: make(map[string]bool)}
	if c.New == nil {
		return nil, errors.New("envtest: component: New is nil")
	}
	if x.Rollouts == nil {
		x.Rollouts = envharness.Rollouts
	}
	if x.Turns <= 0 {
		x.Turns = 10
	}
	for _, t := range c.Tasks {
		x.seed(t)
	}
	if len(c.Tasks) == 0 {
		x.seed(envharness.Task{})
	}
	var errs []error
	for _, made := range []struct {
		name  string
		build func() envharness.Component
	}{{"New", c.New}, {"Identity", c.Identity}, {"Off", c.Off}, {"On", c.On}} {
		if made.build == nil {
			continue
		}
		if _, err := envharness.New(c.World, made.build()); err != nil {
			errs = append(errs, fmt.Errorf("envtest: component: %s: %w", made.name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if c.Actions == nil && len(c.Script) == 0 {
		if err := playableWorld(ctx, c.World, x.tasks); err != nil {
			return nil, err
		}
	}
	x.axis = c.New().Spec().Axis
	return x, nil
}

// seed adds a task, twice if it leaves the seed open.
func (x *componentTrial) seed(t envharness.Task) {
	if t.Seed != nil {
		x.tasks = append(x.tasks, t)
		return
	}
	for _, s := range []uint64{1, 2} {
		t.Seed = new(s)
		x.tasks = append(x.tasks, t)
	}
}

// A staging says how episodes are played. The zero value of a field but tasks means the usual.
type staging struct {
	world      envharness.World
	components []envharness.Component
	tasks      []envharness.Task
	policy     func(slot int) envharness.Policy
	turns      int
	hook       time.Duration // longest time for a hook
}

// A played is an episode and what its policy was shown.
type played struct {
	envharness.Trace
	seen []envharness.Turn
}

func (x *componentTrial) play(ctx context.Context, s staging) ([]played, error) {
	if s.world.New == nil {
		s.world = x.World
	}
	if s.policy == nil {
		s.policy = func(slot int) envharness.Policy { return x.policy(*s.tasks[slot].Seed) }
	}
	if s.turns == 0 {
		s.turns = x.Turns
	}
	out := make([]played, len(s.tasks))
	traces, err := x.Rollouts(ctx, s.world, s.components, func(slot int) (envharness.Policy, error) {
		p := s.policy(slot)
		return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
			out[slot].seen = append(out[slot].seen, t)
			return p.Act(ctx, t)
		}), nil
	}, s.tasks, &envharness.RolloutOptions{MaxTurns: s.turns, Reruns: new(0), HookTimeout: s.hook})
	if err != nil {
		return nil, err
	}
	if len(traces) != len(out) {
		return nil, fmt.Errorf("%d traces of %d episodes", len(traces), len(out))
	}
	for i := range out {
		out[i].Trace = traces[i]
	}
	return out, nil
}

// one plays a single episode.
func (x *componentTrial) one(ctx context.Context, s staging, task envharness.Task) (played, error) {
	s.tasks = []envharness.Task{task}
	eps, err := x.play(ctx, s)
	if err != nil {
		return played{}, err
	}
	return eps[0], nil
}

// each plays every task with a component made anew; nil means none.
func (x *componentTrial) each(ctx context.Context, build func() envharness.Component) ([]played, error) {
	out := make([]played, len(x.tasks))
	for i, t := range x.tasks {
		var s staging
		if build != nil {
			s.components = []envharness.Component{build()}
		}
		var err error
		if out[i], err = x.one(ctx, s, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// policy plays the script and then draws its actions.
func (x *componentTrial) policy(seed uint64) envharness.Policy {
	r := envharness.RandStream(seed, "policy/0", 0)
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index < len(x.Script) {
			return x.Script[t.Index], nil
		}
		if x.Actions == nil && t.Index < x.Turns/2 {
			t = withoutSubmits(t)
		}
		return x.Actions.draw(r, t.Shown, t.Tools), nil
	})
}

// withoutSubmits takes away the actions that may end the episode, unless there are no others, so that it lasts for some turns.
func withoutSubmits(t envharness.Turn) envharness.Turn {
	submits := make(map[string]bool)
	for _, tool := range t.Tools {
		submits[tool.Name] = tool.Submits
	}
	actions := slices.DeleteFunc(slices.Clone(t.Shown.Actions), func(a envharness.Action) bool { return submits[a.Name] })
	tools := slices.DeleteFunc(slices.Clone(t.Tools), func(tool envharness.Tool) bool { return tool.Submits })
	if len(actions) > 0 {
		t.Shown.Actions = actions
	}
	if len(tools) > 0 {
		t.Tools = tools
	}
	return t
}

// fixed plays the actions and then stops.
func fixed(actions []envharness.Action) envharness.Policy {
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index >= len(actions) {
			return envharness.Action{}, envharness.ErrStop
		}
		return actions[t.Index], nil
	})
}

// reference returns an ordinary episode of each task.
func (x *componentTrial) reference(ctx context.Context) ([]played, error) {
	if x.first != nil {
		return x.first, nil
	}
	eps, err := x.each(ctx, func() envharness.Component {
		return tap{x.New(), func(_ context.Context, hook string, call func() error) error {
			x.hooks[hook] = true
			return call()
		}}
	})
	if err != nil {
		return nil, err
	}
	x.first = eps
	return eps, nil
}

// again returns the same episodes played once more.
func (x *componentTrial) again(ctx context.Context) ([]played, error) {
	if x.second == nil {
		eps, err := x.each(ctx, x.New)
		if err != nil {
			return nil, err
		}
		x.second = eps
	}
	return x.second, nil
}

// bare returns the episodes without the component, if the world gives the same ones again.
func (x *componentTrial) bare(ctx context.Context) ([]played, error) {
	if x.without == nil {
		eps, err := x.each(ctx, nil)
		if err != nil {
			return nil, err
		}
		again, err := x.each(ctx, nil)
		if err != nil {
			return nil, err
		}
		x.without, x.moody = eps, differAll(eps, again)
	}
	if x.moody != nil {
		return nil, skip("the world does not repeat itself: %v", x.moody)
	}
	return x.without, nil
}

// steady returns the ordinary episodes, if they are such that others can be compared with them.
func (x *componentTrial) steady(ctx context.Context) ([]played, error) {
	if _, err := x.bare(ctx); err != nil {
		return nil, err
	}
	first, err := x.reference(ctx)
	if err != nil {
		return nil, err
	}
	second, err := x.again(ctx)
	if err != nil {
		return nil, err
	}
	for i := range first {
		if first[i].badStart() {
			return nil, blame("C14", "%s: %s", first[i].name(), first[i].Cause)
		}
		if first[i].Verdict.Status == envharness.Invalid && strings.Contains(first[i].Cause, envharness.ErrOrder.Error()) {
			return nil, blame("C11", "%s: %s", first[i].name(), first[i].Cause)
		}
		if first[i].Verdict.Status == envharness.Invalid {
			return nil, blame("C04", "%s: the episode is invalid: %s", first[i].name(), first[i].Cause)
		}
	}
	if err := differAll(first, second); err != nil {
		return nil, blame("C04", "%w", err)
	}
	return first, nil
}

// badStart reports whether an episode never began because of an illegal start.
func (p played) badStart() bool {
	return p.Verdict.Status == envharness.Invalid && strings.Contains(p.Cause, envharness.ErrStart.Error())
}

// id is the name of the component at a place in the stack.
func (p played) id(i int) string {
	if i < len(p.Components) {
		return p.Components[i].ID
	}
	return ""
}

// changed reports whether the component did anything in a turn.
func (p played) changed(id string, turn int) bool {
	for _, l := range p.Turns[turn].Layers {
		if l.Component == id {
			return true
		}
	}
	return false
}

// replays counts the actions of the start.
func (p played) replays() int {
	n := 0
	for _, e := range p.Log {
		if e.Kind == envharness.LogReplay {
			n++
		}
	}
	return n
}

// name says which episode an error is about.
func (p played) name() string { return fmt.Sprintf("task %q, seed %d", p.Task.ID, p.Seed) }

// differ names the first thing in which two episodes are not the same to the policy or to the base.
func differ(a, b played) error {
	for i := range min(len(a.seen), len(b.seen)) {
		switch {
		case !reflect.DeepEqual(a.seen[i].Tools, b.seen[i].Tools):
			return fmt.Errorf("turn %d: other tools are shown", i)
		case a.seen[i].Left != b.seen[i].Left:
			return fmt.Errorf("turn %d: %d turns left and %d", i, a.seen[i].Left, b.seen[i].Left)
		}
	}
	if !reflect.DeepEqual(a.Shown, b.Shown) {
		return fmt.Errorf("first observation: %.80q and %.80q", a.Shown.Text, b.Shown.Text)
	}
	for i := range min(len(a.Turns), len(b.Turns)) {
		if d := turnDiffers(&a.Turns[i], &b.Turns[i]); d != "" {
			return fmt.Errorf("turn %d: %s", i, d)
		}
	}
	switch {
	case len(a.Turns) != len(b.Turns):
		return fmt.Errorf("%d turns and %d", len(a.Turns), len(b.Turns))
	case a.End != b.End:
		return fmt.Errorf("end %q and %q", a.End, b.End)
	case a.Cause != b.Cause:
		return fmt.Errorf("cause %q and %q", a.Cause, b.Cause)
	case !reflect.DeepEqual(a.Verdict, b.Verdict):
		return fmt.Errorf("verdict %v and %v", a.Verdict, b.Verdict)
	}
	return nil
}

func turnDiffers(a, b *envharness.TurnTrace) string {
	switch {
	case !reflect.DeepEqual(a.Proposed, b.Proposed):
		return "another action was proposed"
	case !reflect.DeepEqual(a.Applied, b.Applied):
		return "another action reached the base"
	case !reflect.DeepEqual(a.Raw, b.Raw):
		return "another result of the base"
	case !reflect.DeepEqual(a.Shown, b.Shown):
		return "result shown: " + difference("", document(a.Shown), document(b.Shown), 0)
	}
	return ""
}

// differAll compares episodes one by one.
func differAll(a, b []played) error {
	for i := range a {
		if err := differ(a[i], b[i]); err != nil {
			return fmt.Errorf("%s: %w", a[i].name(), err)
		}
	}
	return nil
}

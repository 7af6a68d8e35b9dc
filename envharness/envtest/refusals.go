package envtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

func needsReset(ctx context.Context, e Environment) error {
	return e.with(ctx, func(b *bench) error {
		for _, a := range []envharness.Action{noTool, e.Actions.draw(generator(), envharness.Observation{}, b.desc.Tools)} {
			if _, err := b.env.Step(ctx, a); !errors.Is(err, envharness.ErrNeedReset) {
				return fmt.Errorf("step %s before Reset: %v, want %w", describe(a), err, envharness.ErrNeedReset)
			}
		}
		return nil
	})
}

// ways are the ways to the end of an episode: by drawn actions, and by refused ones where there is a limit.
func (b *bench) ways() []Source {
	if b.limit() > 0 {
		return []Source{b.c.Actions, refuseAll}
	}
	return []Source{b.c.Actions}
}

func overIsOver(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		for _, way := range b.ways() {
			if err := b.finish(ctx, t, seedOf(t, 1), way); err != nil {
				return err
			}
			before, err := b.readState(ctx)
			if err != nil {
				return err
			}
			a := e.Actions.draw(generator(), b.shown, b.tools())
			if _, err := b.env.Step(ctx, a); !errors.Is(err, envharness.ErrEpisodeOver) {
				return fmt.Errorf("task %q: Step %s after the end: %v, want %w", t.ID, describe(a), err, envharness.ErrEpisodeOver)
			}
			after, err := b.readState(ctx)
			if err == nil {
				err = b.unchanged(before, after, nil, "task %q: Step after the end changed the state", t.ID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func endsOnce(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		for _, way := range b.ways() {
			if err := b.finish(ctx, t, seedOf(t, 1), way); err != nil {
				return err
			}
			if b.unreasoned {
				return fmt.Errorf("task %q: truncated without a reason", t.ID)
			}
			if err := b.staysOver(ctx); err != nil {
				return fmt.Errorf("task %q: %w", t.ID, err)
			}
		}
		return nil
	})
}

// staysOver tries further steps after one that was ErrEpisodeOver, as rule E09 demands.
func (b *bench) staysOver(ctx context.Context) error {
	r := generator()
	for i := range 6 {
		a := noTool
		if i%2 == 0 {
			a = b.c.Actions.draw(r, b.shown, b.tools())
		}
		_, err := b.env.Step(ctx, a)
		switch {
		case i == 0 && !errors.Is(err, envharness.ErrEpisodeOver):
			return nil // rule E09 reports it
		case err == nil:
			return fmt.Errorf("call %d of Step after the end, %s, is carried out", i+1, describe(a))
		}
	}
	return nil
}

var classes = []envharness.ErrorClass{
	envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassNotFound, envharness.ClassPrecondition, envharness.ClassPermission,
	envharness.ClassRateLimit, envharness.ClassTimeout, envharness.ClassTransient, envharness.ClassOther,
}

// classed reports a refusal without one of the classes.
func classed(u turn) error {
	if u.got.Error != nil && !slices.Contains(classes, u.got.Error.Class) {
		return fmt.Errorf("%s: refused with the class %q, want one of %q", describe(u.action), u.got.Error.Class, classes)
	}
	return nil
}

func actionsAnswered(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		if err := b.admissibleCarriedOut(ctx, t); err != nil {
			return err
		}
		if _, err := b.play(ctx, t, seedOf(t, 1), 2); err != nil {
			return err
		}
		err := b.refuses(ctx, t, noTool, envharness.Action{Name: "envtest no such tool", Args: []byte(`{"a":1}`)}, envharness.Action{})
		if err != nil {
			return err
		}
		return b.drawnAnswered(ctx, t)
	})
}

// admissibleCarriedOut tries all that the first observation lists and what is drawn from the following ones.
func (b *bench) admissibleCarriedOut(ctx context.Context, t envharness.Task) error {
	check := func(u turn) error {
		if err := classed(u); err != nil {
			return err
		}
		if r := u.got.Error; u.listed && r != nil && !slices.Contains(b.c.Refusals, r.Class) {
			return fmt.Errorf("task %q: the admissible action %s is refused: %s: %s", t.ID, describe(u.action), r.Class, r.Message)
		}
		return nil
	}
	if err := b.eachFirst(ctx, t, check); err != nil {
		return err
	}
	if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
		return err
	}
	r := generator()
	for range b.c.short() {
		if b.stage == ended || len(b.shown.Actions) == 0 {
			break
		}
		u, err := b.step(ctx, b.shown.Actions[r.IntN(len(b.shown.Actions))])
		if err == nil {
			err = check(u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuses tries actions that have to be refused with a class and leave the world as it was.
func (b *bench) refuses(ctx context.Context, t envharness.Task, actions ...envharness.Action) error {
	for _, a := range actions {
		if b.stage != midEpisode {
			if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
				return err
			}
		}
		if err := b.refusesOne(ctx, a); err != nil {
			return fmt.Errorf("task %q: %w", t.ID, err)
		}
	}
	return nil
}

func (b *bench) refusesOne(ctx context.Context, a envharness.Action) error {
	u, err := b.answer(ctx, a)
	if err == nil && u.got.Error == nil {
		err = fmt.Errorf("%s is carried out", describe(a))
	}
	return err
}

// answer tries an action in mid-episode. If it is refused, it must be with a class and leave the world as it was.
func (b *bench) answer(ctx context.Context, a envharness.Action) (turn, error) {
	before, err := b.world(ctx)
	if err != nil {
		return turn{}, err
	}
	got, err := b.env.Step(ctx, envharness.Action{Name: a.Name, Args: slices.Clone(a.Args)})
	switch {
	case errors.Is(err, envharness.ErrEpisodeOver):
		return turn{}, b.endedUnsaid(err)
	case err != nil:
		return turn{}, fmt.Errorf("%s: the error %w in place of a transition", describe(a), err)
	}
	list := b.shown.Actions
	b.turn++
	b.shown = got.Observation
	if got.Ended() {
		b.stage = ended // by the limit, if it was refused; see rule E21
	}
	u := turn{action: a, got: got}
	if err := classed(u); err != nil || got.Error == nil || got.Ended() {
		return u, err
	}
	if len(list) > 0 && len(got.Observation.Actions) != len(list) {
		return u, fmt.Errorf("%s was refused and %d actions are admissible, before %d", describe(a), len(got.Observation.Actions), len(list))
	}
	after, err := b.world(ctx)
	if err != nil {
		return u, err
	}
	return u, b.unchanged(before, after, b.c.Counters, "%s was refused and changed the state, beyond RewindCounters and Counters", describe(a))
}

// drawnAnswered calls every tool with arguments drawn from its schema, at the start and at states of random play. Such calls are well
// formed, so that some of those refused are refused for the state of the world alone.
func (b *bench) drawnAnswered(ctx context.Context, t envharness.Task) error {
	const states, apart, times = 4, 3, 3
	r := generator()
	for n := range states {
		if _, err := b.play(ctx, t, seedOf(t, uint64(n+1)), n*apart); err != nil {
			return err
		}
		for i := 0; i < times*len(b.tools()); i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if b.stage == ended {
				if _, err := b.play(ctx, t, seedOf(t, uint64(n+1)), n*apart); err != nil {
					return err
				}
			}
			tools := b.tools() // they may change
			if b.stage == ended || len(tools) == 0 {
				break
			}
			if _, err := b.answer(ctx, call(r, tools[i%len(tools)])); err != nil {
				return fmt.Errorf("task %q: %w", t.ID, err)
			}
		}
	}
	return nil
}

func malformedRefused(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
			return err
		}
		var bad []envharness.Action
		for _, tool := range b.callable() {
			bad = append(bad, malformed(tool)...)
		}
		if len(bad) == 0 {
			return skip("the environment lists neither tools nor admissible actions")
		}
		return b.refuses(ctx, t, bad...)
	})
}

// callable returns the tools, or those that can be told from the admissible actions.
func (b *bench) callable() []envharness.Tool {
	tools := b.tools()
	if len(tools) > 0 {
		return tools
	}
	for _, a := range b.shown.Actions {
		if !slices.ContainsFunc(tools, func(t envharness.Tool) bool { return t.Name == a.Name }) {
			tools = append(tools, envharness.Tool{Name: a.Name})
		}
	}
	return tools
}

// malformed returns calls of a tool whose arguments are no JSON object, or break the types and the required names of its schema.
func malformed(t envharness.Tool) []envharness.Action {
	var out []envharness.Action
	add := func(args string) { out = append(out, envharness.Action{Name: t.Name, Args: []byte(args)}) }
	for _, args := range []string{"{", "[1]", `"text"`, "7"} {
		add(args)
	}
	var s schema
	if t.Schema == nil || json.Unmarshal(t.Schema, &s) != nil {
		return out
	}
	good := schema{Type: s.Type, Properties: s.Properties, Required: slices.Collect(maps.Keys(s.Properties))}.object(generator(), 0)
	for _, name := range slices.Sorted(maps.Keys(good)) {
		with := maps.Clone(good)
		if slices.Contains(s.Required, name) {
			delete(with, name)
			add(marshal(with))
		}
		if wrong, ok := otherType(s.Properties[name]); ok {
			with[name] = wrong
			add(marshal(with))
		}
	}
	return out
}

// otherType returns a value of a type that a schema does not allow.
func otherType(s schema) (any, bool) {
	if len(s.Type) == 0 {
		return nil, false
	}
	for _, other := range []struct {
		kind  string
		value any
	}{{"object", map[string]any{"a": 1.0}}, {"array", []any{true}}, {"boolean", true}} {
		if !slices.Contains(s.Type, other.kind) {
			return other.value, true
		}
	}
	return nil, false
}

func marshal(v any) string {
	b, _ := json.Marshal(v) // JSON values
	return string(b)
}

func toolsListed(ctx context.Context, e Environment) error {
	return e.with(ctx, func(b *bench) error {
		d, described := envharness.As[envharness.Describer](b.env)
		if !described && b.lists == nil {
			return skip("the environment is neither a Describer nor a ToolLister")
		}
		if b.lists != nil && b.lists.Tools() != nil {
			return errors.New("the list of tools before the first Reset is not nil")
		}
		if err := checkTools(b.desc.Tools); err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		if c := b.desc.Chance; !(c >= 0 && c <= 1) { // nor NaN
			return fmt.Errorf("describe: Chance is %v, want it in [0, 1]", c)
		}
		before := marshal(b.desc)
		t := e.tasks()[0]
		if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
			return err
		}
		if len(b.tools()) == 0 {
			return errors.New("there is no tool after Reset")
		}
		r := generator()
		for range e.short() {
			if err := checkTools(b.tools()); err != nil {
				return fmt.Errorf("after turn %d: %w", b.turn, err)
			}
			if b.stage == ended {
				break
			}
			if _, err := b.step(ctx, e.Actions.draw(r, b.shown, b.tools())); err != nil {
				return err
			}
		}
		if described && marshal(d.Describe()) != before {
			return errors.New("the description is not what it was before the episode")
		}
		return nil
	})
}

func checkTools(tools []envharness.Tool) error {
	seen := make(map[string]bool, len(tools))
	for i, t := range tools {
		switch {
		case t.Name == "":
			return fmt.Errorf("tool %d has no name", i)
		case seen[t.Name]:
			return fmt.Errorf("two tools are named %q", t.Name)
		case envharness.ReservedTool(t.Name):
			return fmt.Errorf("tool %d: %w %q", i, envharness.ErrReservedName, t.Name)
		}
		seen[t.Name] = true
		if t.Schema == nil {
			continue
		}
		var s schema
		if err := json.Unmarshal(t.Schema, &s); err != nil {
			return fmt.Errorf("tool %q: schema: %w", t.Name, err)
		}
		if !slices.Equal(s.Type, oneOrMore{"object"}) {
			return fmt.Errorf("tool %q: the schema has the type %q, want object", t.Name, s.Type)
		}
	}
	return nil
}

// A call of a tool that exists, with random arguments, is mixed in with names that are random too.
func survivesBytes(ctx context.Context, e Environment) error {
	return e.with(ctx, func(b *bench) error {
		r := generator()
		t := e.tasks()[0]
		for i := range uint64(1000) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if b.stage != midEpisode {
				if _, err := b.reset(ctx, t, seedOf(t, i)); err != nil {
					return err
				}
			}
			if err := b.stepBytes(ctx, randomAction(r, b.callable())); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bench) stepBytes(ctx context.Context, a envharness.Action) error {
	got, err := b.env.Step(ctx, a)
	if errors.Is(err, envharness.ErrEpisodeOver) {
		return b.endedUnsaid(err)
	}
	if err != nil {
		return fmt.Errorf("turn %d: %s: the error %w in place of a refusal", b.turn+1, describe(a), err)
	}
	if err := checkJSON(got); err != nil {
		return blame("E14", "turn %d: %s: %w", b.turn+1, describe(a), err)
	}
	b.turn++
	b.shown = got.Observation
	if !got.Ended() {
		return nil
	}
	b.stage = ended
	if _, err := b.env.Step(ctx, a); !errors.Is(err, envharness.ErrEpisodeOver) {
		return blame("E09", "step %s after the end: %v, want %w", describe(a), err, envharness.ErrEpisodeOver)
	}
	return nil
}

func randomAction(r *rand.Rand, tools []envharness.Tool) envharness.Action {
	a := envharness.Action{Name: randomBytes(r), Args: []byte(randomBytes(r))}
	if len(tools) > 0 && r.IntN(2) == 0 {
		t := tools[r.IntN(len(tools))]
		a.Name = t.Name
		if r.IntN(3) == 0 { // nearly right
			a.Args = call(r, t).Args
			if n := len(a.Args); n > 0 {
				a.Args[r.IntN(n)] = byte(r.Uint32())
			}
		}
	}
	return a
}

func randomBytes(r *rand.Rand) string {
	var s strings.Builder
	for range r.IntN(24) {
		s.WriteByte(byte(r.Uint32()))
	}
	return s.String()
}

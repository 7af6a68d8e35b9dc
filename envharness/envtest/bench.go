package envtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// A bench is one environment being checked, and what is known about its episode.
type bench struct {
	c      Environment
	env    envharness.Environment
	desc   envharness.Description // zero without a Describer
	lists  envharness.ToolLister
	state  envharness.Stater
	limits envharness.TurnLimiter

	seedless bool // the environment has no use for a seed
	stage    stage
	plays    uint64 // episodes drawn so far
	turn     int
	raw      envharness.Transition  // what was returned last, not a copy
	shown    envharness.Observation // likewise

	unreasoned bool // the episode was truncated without a reason
}

// A stage says where in its life an environment is.
type stage uint8

const (
	fresh stage = iota
	midEpisode
	ended
)

// resetRule is the rule that a Reset breaks that fails at a stage.
func (s stage) resetRule() string { return [...]string{"E02", "E19", "E20"}[s] }

// with opens an environment, calls f and closes it.
func (e Environment) with(ctx context.Context, f func(b *bench) error) error {
	b, err := e.open(ctx)
	if err != nil {
		return err
	}
	return b.closing(func() error { return f(b) })
}

func (e Environment) open(ctx context.Context) (*bench, error) {
	if e.New == nil {
		return nil, blame("E01", "there is no function New")
	}
	env, err := e.New(ctx)
	if err != nil {
		return nil, blame("E01", "new: %w", err)
	}
	if env == nil {
		return nil, blame("E01", "new: it returned no environment")
	}
	b := &bench{c: e, env: env}
	if d, ok := envharness.As[envharness.Describer](env); ok {
		b.desc = d.Describe()
	}
	b.lists, _ = envharness.As[envharness.ToolLister](env)
	b.state, _ = envharness.As[envharness.Stater](env)
	b.limits, _ = envharness.As[envharness.TurnLimiter](env)
	return b, nil
}

// closing calls f and closes the environment, also after a panic. What f found comes first.
func (b *bench) closing(f func() error) (err error) {
	defer func() {
		if cerr := b.env.Close(); cerr != nil && err == nil {
			err = blame("E22", "close: %w", cerr)
		}
	}()
	return f()
}

// reset starts an episode of a task, without a seed where the environment can do nothing with one.
func (b *bench) reset(ctx context.Context, t envharness.Task, seed *uint64) (turn, error) {
	o := envharness.ResetOptions{Task: t.ID, Seed: seed}
	obs, err := b.env.Reset(ctx, o)
	if seed != nil && errors.Is(err, envharness.ErrSeedUnsupported) {
		b.seedless, o.Seed = true, nil
		obs, err = b.env.Reset(ctx, o)
	}
	if err != nil {
		return turn{}, blame(b.stage.resetRule(), "reset of task %q %s: %w", t.ID, b.stage, err)
	}
	b.stage, b.turn, b.raw, b.shown = midEpisode, 0, envharness.Transition{Observation: obs}, obs
	return turn{reset: true, got: copyTransition(envharness.Transition{Observation: obs})}, nil
}

// String is for error messages.
func (s stage) String() string {
	return [...]string{"of a new environment", "in mid-episode", "after the end of an episode"}[s]
}

// step performs an action in mid-episode.
func (b *bench) step(ctx context.Context, a envharness.Action) (turn, error) {
	given := envharness.Action{Name: a.Name, Args: slices.Clone(a.Args)}
	t, err := b.env.Step(ctx, given)
	switch {
	case errors.Is(err, envharness.ErrEpisodeOver):
		return turn{}, b.endedUnsaid(err)
	case err != nil:
		return turn{}, blame("E17", "turn %d: Step %s: %w", b.turn+1, describe(a), err)
	}
	b.turn++
	listed := slices.ContainsFunc(b.shown.Actions, func(o envharness.Action) bool { return o.Name == a.Name && bytes.Equal(o.Args, a.Args) })
	b.raw, b.shown = t, t.Observation
	if t.Ended() {
		b.stage, b.unreasoned = ended, t.Truncated && t.Reason == ""
	}
	return turn{action: a, listed: listed, got: copyTransition(t)}, nil
}

// endedUnsaid says that an episode under way turned out to be over.
func (b *bench) endedUnsaid(err error) error {
	return blame("E11", "turn %d: %w, and no transition before had Terminated or Truncated", b.turn+1, err)
}

// describe names an action in an error.
func describe(a envharness.Action) string {
	return fmt.Sprintf("%.40q with arguments %.80q", a.Name, string(a.Args))
}

// tools returns the tools at present.
func (b *bench) tools() []envharness.Tool {
	if b.lists != nil {
		return b.lists.Tools()
	}
	return b.desc.Tools
}

// limit returns the number of turns after which the present episode ends, or 0; before the first Reset what is said of all.
func (b *bench) limit() int {
	if b.limits != nil && b.stage != fresh {
		if n := b.limits.TurnLimit(); n > 0 {
			return n
		}
	}
	return b.maxTurns()
}

// maxTurns returns the number of turns after which every episode has ended, or 0.
func (b *bench) maxTurns() int {
	if b.c.MaxTurns > 0 {
		return b.c.MaxTurns
	}
	return max(b.desc.MaxTurns, 0)
}

// repeatable says, by an error that is not nil, why episodes cannot be compared. It is known after a reset with a seed.
func (b *bench) repeatable() error {
	if b.seedless && !b.desc.Deterministic {
		return skip("the environment has no use for a seed and does not claim to be deterministic")
	}
	return nil
}

// A turn is an action with its result. That of a reset has a zero action and an observation alone. The result is a copy.
type turn struct {
	action envharness.Action
	reset  bool
	listed bool // the action was among the admissible ones
	got    envharness.Transition
}

// A trace is the turns of an episode, the reset first.
type trace []turn

// play resets and draws up to n actions until the episode ends.
func (b *bench) play(ctx context.Context, t envharness.Task, seed *uint64, n int) (trace, error) {
	first, err := b.reset(ctx, t, seed)
	if err != nil {
		return nil, err
	}
	r := envharness.RandStream(b.plays, "envtest/"+t.ID, 0) // so that each episode of an instance is another one
	b.plays++
	return b.goOn(ctx, trace{first}, r, n)
}

// generator returns the stream that checks draw from, anew.
func generator() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// goOn draws up to n further actions until the episode ends.
func (b *bench) goOn(ctx context.Context, tr trace, r *rand.Rand, n int) (trace, error) {
	for range n {
		if b.stage == ended {
			break
		}
		if err := ctx.Err(); err != nil {
			return tr, err
		}
		u, err := b.step(ctx, b.draw(r))
		if err != nil {
			return tr, err
		}
		tr = append(tr, u)
	}
	return tr, nil
}

// draw returns the next action. One that may end the episode is mostly passed over, so that episodes are not all short.
func (b *bench) draw(r *rand.Rand) envharness.Action {
	tools := b.tools()
	for {
		a := b.c.Actions.draw(r, b.shown, tools)
		submits := slices.ContainsFunc(tools, func(t envharness.Tool) bool { return t.Submits && t.Name == a.Name })
		if !submits || b.c.Actions != nil || r.IntN(8) == 0 {
			return a
		}
	}
}

// replay resets and performs the actions of a trace. It returns a difference as an error of type differs.
func (b *bench) replay(ctx context.Context, t envharness.Task, seed *uint64, want trace) error {
	first, err := b.reset(ctx, t, seed)
	if err != nil {
		return err
	}
	if d := b.diff(want[0].got, first.got); d != "" {
		return differs{0, d}
	}
	return b.follow(ctx, want[1:])
}

// follow performs the actions of turns from the present position.
func (b *bench) follow(ctx context.Context, want trace) error {
	for i, w := range want {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.followOne(ctx, i+1, w); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) followOne(ctx context.Context, number int, want turn) error {
	if b.stage == ended {
		return differs{number, "the episode is over, and was not the first time"}
	}
	got, err := b.step(ctx, want.action)
	if err != nil {
		return err
	}
	if d := b.diff(want.got, got.got); d != "" {
		return differs{number, d}
	}
	return nil
}

// differs is the first difference between two episodes that should be equal; turn 0 is the reset.
type differs struct {
	turn int
	what string
}

func (d differs) Error() string { return fmt.Sprintf("turn %d: %s", d.turn, d.what) }

// differed reports whether err is a difference.
func differed(err error) (differs, bool) { return errors.AsType[differs](err) }

// reference plays an episode on one new environment and again on another one. What is compared with it later is thereby known not to
// differ merely from one instance to the next.
func (e Environment) reference(ctx context.Context, t envharness.Task, n int) (trace, error) {
	var tr trace
	err := e.with(ctx, func(b *bench) (err error) {
		if tr, err = b.play(ctx, t, seedOf(t, 1), n); err == nil {
			err = b.repeatable()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = e.with(ctx, func(b *bench) error { return b.replay(ctx, t, seedOf(t, 1), tr) })
	if d, ok := differed(err); ok {
		return nil, blame("E06", "two instances, same seed: %w", d)
	}
	return tr, err
}

// seedOf returns the seed of a task, or n where it has none.
func seedOf(t envharness.Task, n uint64) *uint64 {
	if t.Seed != nil {
		return t.Seed
	}
	return &n
}

// world returns the state after the counters are rewound, where that is possible: what a refused action must leave as it was.
func (b *bench) world(ctx context.Context) (envharness.State, error) {
	if b.state == nil {
		return nil, nil
	}
	if w, ok := envharness.As[envharness.Rewinder](b.env); ok {
		switch err := w.RewindCounters(ctx); {
		case errors.Is(err, envharness.ErrEpisodeOver):
			return nil, b.endedUnsaid(err)
		case err != nil:
			return nil, fmt.Errorf("RewindCounters: %w", err)
		}
	}
	return b.readState(ctx)
}

// readState returns the state, nil without a Stater.
func (b *bench) readState(ctx context.Context) (envharness.State, error) {
	if b.state == nil {
		return nil, nil
	}
	s, err := b.state.State(ctx)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return s, nil
}

// sameState compares two states without what is volatile and what the pointers point to.
func (b *bench) sameState(x, y envharness.State, without []string) (bool, error) {
	if bytes.Equal(x, y) { // nearly always
		return true, nil
	}
	without = slices.Concat(without, b.volatileState())
	var canon [2][]byte
	for i, s := range []envharness.State{x, y} {
		var doc any
		dec := json.NewDecoder(bytes.NewReader(s))
		dec.UseNumber() // integers beyond 2^53 must survive
		err := dec.Decode(&doc)
		for _, p := range without {
			doc = remove(doc, p)
		}
		if err == nil {
			canon[i], err = envharness.CanonicalJSON(doc)
		}
		if err != nil {
			return false, fmt.Errorf("state: %w", err)
		}
	}
	return bytes.Equal(canon[0], canon[1]), nil
}

// unchanged reports as an error that the state is another one now than it was.
func (b *bench) unchanged(before, now envharness.State, without []string, format string, args ...any) error {
	same, err := b.sameState(before, now, without)
	if err == nil && !same {
		err = fmt.Errorf(format, args...)
	}
	return err
}

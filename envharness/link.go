package envharness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/throughline-go/throughline/internal/jsonpointer"
)

// handOff stands above the first observation of a leg that is not the first.
const handOff = "[switched to new task]"

// maxChains bounds how deep chains are nested: the state of each has that of the leg at its start and at present.
const maxChains = 8

const defaultCarry = 1500 // runes of the observation before a hand-off, as in the reference

// A Leg is one part of a chain: a world, the components around it, and which of its episodes is played.
type Leg struct {
	World      World
	Components []Component
	Task       string
	Options    json.RawMessage
}

// LinkOptions adjusts [Link]. A nil *LinkOptions equals &LinkOptions{}.
type LinkOptions struct {
	// UntilEnd makes a leg go on until its environment ends the episode. Otherwise it ends also when Info["submitted"] of a transition is
	// true, as in the reference.
	UntilEnd bool
	// StopOnFail ends the chain after a leg that did not pass. Otherwise the next one follows all the same.
	StopOnFail bool
	// Carry is how many runes of what was shown last are shown again after a hand-off, counted from the end; nil means 1500. NoContext
	// leaves out these and the banner "[switched to new task]" above them.
	Carry     *int
	NoContext bool
	// MaxTurns is the limit on the turns of the whole chain; zero means the sum of the legs' own limits, none if a leg has none. The limit
	// of a leg is that of its [Description] until the leg begins, and what its [TurnLimiter] says from then on.
	MaxTurns int
}

// Link makes a world of two or more legs, played one after the other in one episode (the paper's Chain). Its verdict is the
// conjunction: [Pass] if every leg passes. The score is the mean of the legs' scores, those not reached counting 0; Parts hold them as
// "leg0", "leg1", ..., with the parts of a leg's own verdict as "leg0.name".
//
// Leg i is reset when the one before it has ended, with a seed of its own that follows from that of the chain and i. A leg has its own
// components, turn limits and verifier, which is asked once, when the leg ends. The flags of a leg that is not the last are not shown:
// the turn that ends it has reward 0 and shows the first observation of the next leg. Info["leg"] is the index of the leg that the
// observation belongs to, and the tools are those of this leg; a policy, which is not shown Info, knows by them and by the banner.
//
// The task of the chain is a JSON array with one task id a leg, or empty for those of the legs. Its Options are {"legs":[...]}, with the
// options of one leg each, null for those of the leg. The result is an ordinary world, so components may be around the chain and a
// chain may be a leg, up to 8 within one another; a [Setup] may be around a leg only. Each environment opens those of all legs at once.
// What the components of a leg change is not in a [Trace], whose Raw is what the chain shows.
func Link(legs []Leg, o *LinkOptions) (World, error) {
	if o == nil {
		o = &LinkOptions{}
	}
	var errs []error
	if len(legs) < 2 {
		errs = append(errs, fmt.Errorf("envharness: link: %d legs, at least 2 are needed", len(legs)))
	}
	if o.MaxTurns < 0 || o.Carry != nil && *o.Carry < 0 {
		errs = append(errs, errors.New("envharness: link: MaxTurns and Carry must not be negative"))
	}
	legs = slices.Clone(legs)
	depth := 0
	for i := range legs {
		depth = max(depth, legs[i].World.chains)
		legs[i].Components, legs[i].Options = slices.Clone(legs[i].Components), bytes.Clone(legs[i].Options)
		if _, err := New(legs[i].World, legs[i].Components...); err != nil {
			errs = append(errs, fmt.Errorf("envharness: link: leg %d: %w", i, err))
		}
	}
	if depth >= maxChains {
		errs = append(errs, fmt.Errorf("envharness: link: more than %d chains within one another", maxChains))
	}
	if err := errors.Join(errs...); err != nil {
		return World{}, err
	}
	opts := *o
	opts.Carry = new(defaultCarry)
	if o.Carry != nil {
		opts.Carry = new(*o.Carry)
	}
	return World{
		New:      func(ctx context.Context) (Environment, error) { return openChain(ctx, legs, opts) },
		Verifier: chainVerifier(legs),
		chains:   depth + 1,
	}, nil
}

// A chain is the environment of a linked world.
type chain struct {
	o       LinkOptions
	legs    []Leg
	harness []*Harness // one a leg
	desc    Description
	closed  atomic.Bool

	ready    bool
	seed     uint64
	tasks    []string
	options  []json.RawMessage
	active   int
	over     bool
	shown    Observation
	verdicts []Verdict // of the legs that have ended
}

func openChain(ctx context.Context, legs []Leg, o LinkOptions) (_ Environment, err error) {
	c := &chain{o: o, legs: legs}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	for i, l := range legs {
		h, err := New(l.World, l.Components...)
		if err == nil {
			c.harness = append(c.harness, h)
			err = h.open(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("envharness: leg %d: %w", i, err)
		}
	}
	c.describe()
	return c, nil
}

// describe joins what the legs say of themselves.
func (c *chain) describe() {
	c.desc = Description{Name: "chain", Graded: []string{"legs"}, Deterministic: true}
	limited := true
	for i, h := range c.harness {
		d := h.desc
		c.desc.Deterministic = c.desc.Deterministic && d.Deterministic
		c.desc.MaxTurns += d.MaxTurns
		limited = limited && d.MaxTurns > 0
		for _, t := range d.Tools {
			if !slices.ContainsFunc(c.desc.Tools, func(u Tool) bool { return u.Name == t.Name }) {
				c.desc.Tools = append(c.desc.Tools, t)
			}
		}
		for _, p := range d.Volatile {
			if rest, ok := jsonpointer.Cut(p, "/state"); ok {
				p = "/state/state" + rest
				for _, state := range []string{"start", "end"} {
					c.desc.Volatile = append(c.desc.Volatile, fmt.Sprintf("/state/legs/%d/evidence/%s%s", i, state, rest))
				}
			}
			c.desc.Volatile = append(c.desc.Volatile, p)
		}
		c.desc.Volatile = append(c.desc.Volatile, fmt.Sprintf("/state/legs/%d/verdict/reason", i)) // it may quote what is volatile
		if len(d.Volatile) > 0 {                                                                   // the log has them as well
			c.desc.Volatile = append(c.desc.Volatile, fmt.Sprintf("/state/legs/%d/evidence/log", i))
		}
	}
	if !limited {
		c.desc.MaxTurns = 0
	}
	if c.o.MaxTurns > 0 {
		c.desc.MaxTurns = c.o.MaxTurns
	}
}

// watch puts the legs under the eyes that watch the chain.
func (c *chain) watch(w *watch) {
	for _, h := range c.harness {
		h.watch = w
		if h.chain != nil {
			h.chain.watch(w)
		}
	}
}

// unseedable reports whether a leg had no use for its seed.
func (c *chain) unseedable() bool {
	return slices.ContainsFunc(c.harness, func(h *Harness) bool {
		return h.unseedable || h.chain != nil && h.chain.unseedable()
	})
}

// Describe implements [Describer]. The tools are those of all legs, before their components.
func (c *chain) Describe() Description { return c.desc }

// Tools implements [ToolLister].
func (c *chain) Tools() []Tool {
	if !c.ready {
		return nil
	}
	return c.harness[c.active].Tools()
}

// TurnLimit implements [TurnLimiter]. It is the sum of what is known: the limits of the legs that have begun are those of their episodes.
func (c *chain) TurnLimit() int {
	if c.o.MaxTurns > 0 || c.desc.MaxTurns == 0 {
		return 0
	}
	sum := 0
	for i, h := range c.harness {
		if i <= c.active {
			sum += h.ownLimit()
		} else {
			sum += h.maxTurns
		}
	}
	return sum
}

// Reset implements [Environment].
func (c *chain) Reset(ctx context.Context, o ResetOptions) (Observation, error) {
	if c.closed.Load() {
		return Observation{}, ErrClosed
	}
	tasks, options, err := c.episode(o)
	if err != nil {
		return Observation{}, err
	}
	if o.Seed != nil {
		c.seed = *o.Seed
	} else {
		c.seed = deriveSeed(c.seed, "seed/next", 0)
	}
	c.ready, c.over, c.active, c.verdicts = false, false, 0, nil
	c.tasks, c.options = tasks, options
	obs, err := c.resetLeg(ctx)
	if err != nil {
		return Observation{}, err
	}
	c.ready, c.shown = true, obs
	return obs, nil
}

// episode returns the task and the options of each leg.
func (c *chain) episode(o ResetOptions) ([]string, []json.RawMessage, error) {
	tasks, options := make([]string, len(c.legs)), make([]json.RawMessage, len(c.legs))
	for i, l := range c.legs {
		tasks[i], options[i] = l.Task, l.Options
	}
	if o.Task != "" {
		var ids []string
		if err := json.Unmarshal([]byte(o.Task), &ids); err != nil || len(ids) != len(tasks) {
			return nil, nil, fmt.Errorf("%w: %.80q is not a JSON array of %d task ids", ErrNoTask, o.Task, len(tasks))
		}
		copy(tasks, ids)
	}
	if len(o.Options) > 0 {
		var own struct {
			Legs []json.RawMessage `json:"legs"`
		}
		dec := json.NewDecoder(bytes.NewReader(o.Options))
		dec.DisallowUnknownFields()
		err := dec.Decode(&own)
		if err == nil && !json.Valid(o.Options) {
			err = errors.New("there is more after the JSON value")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("envharness: options of a chain: %w", err)
		}
		if len(own.Legs) != 0 && len(own.Legs) != len(options) {
			return nil, nil, fmt.Errorf("envharness: options of a chain: %d legs, want %d", len(own.Legs), len(options))
		}
		for i, l := range own.Legs {
			if !bytes.Equal(l, []byte("null")) {
				options[i] = l
			}
		}
	}
	return tasks, options, nil
}

// resetLeg starts the active leg.
func (c *chain) resetLeg(ctx context.Context) (Observation, error) {
	i := c.active
	obs, err := c.harness[i].Reset(ctx, ResetOptions{
		Task: c.tasks[i], Seed: new(deriveSeed(c.seed, fmt.Sprintf("seed/leg/%d", i), 0)), Options: c.options[i],
	})
	if err != nil {
		return Observation{}, fmt.Errorf("leg %d: %w", i, err)
	}
	return obs, nil
}

// Step implements [Environment].
func (c *chain) Step(ctx context.Context, a Action) (Transition, error) {
	switch {
	case c.closed.Load():
		return Transition{}, ErrClosed
	case !c.ready:
		return Transition{}, ErrNeedReset
	case c.over:
		return Transition{}, ErrEpisodeOver
	}
	h := c.harness[c.active]
	t, err := h.Step(ctx, a)
	if err != nil {
		return Transition{}, fmt.Errorf("leg %d: %w", c.active, err)
	}
	submitted := false
	if !c.o.UntilEnd {
		submitted, _ = t.Info["submitted"].(bool)
	}
	if t.Ended() || submitted {
		if t, err = c.endLeg(ctx, t); err != nil {
			return Transition{}, err
		}
	}
	if t.Info == nil {
		t.Info = make(map[string]any, 1)
	}
	t.Info["leg"] = float64(c.active)
	c.shown = t.Observation
	return t, nil
}

// endLeg judges the active leg, whose last result is t, and hands over to the next one.
func (c *chain) endLeg(ctx context.Context, t Transition) (Transition, error) {
	h := c.harness[c.active]
	if h.phase == running {
		if err := h.stop(ctx, EndTerminated); err != nil {
			return Transition{}, fmt.Errorf("leg %d: %w", c.active, err)
		}
	}
	v, err := h.ask(ctx, h.evidence())
	if err == nil && v.Status == Invalid {
		err = &failure{EndVerifierError, fmt.Errorf("the verdict is invalid: %s", v.Reason)}
	}
	if err != nil { // the chain is invalid, whatever comes next
		return Transition{}, fmt.Errorf("leg %d: %w", c.active, err)
	}
	c.verdicts = append(c.verdicts, v)
	if c.active == len(c.legs)-1 || c.o.StopOnFail && v.Status != Pass {
		c.over = true
		t.Terminated = t.Terminated || !t.Truncated
		return t, nil
	}
	c.active++
	first, err := c.resetLeg(ctx)
	if err != nil {
		return Transition{}, err
	}
	delete(t.Info, "submitted") // of the leg, not of the chain
	if !c.o.NoContext {
		first.Text = handOff + "\n\n" + tail(t.Observation.Text, *c.o.Carry) + "\n\n" + first.Text
	}
	return Transition{Observation: first, Error: t.Error, Info: t.Info}, nil
}

// tail returns the last n runes of s.
func tail(s string, n int) string {
	runes := []rune(s)
	return string(runes[max(len(runes)-n, 0):])
}

// Observe implements [Observer].
func (c *chain) Observe(context.Context) (Observation, error) {
	switch {
	case c.closed.Load():
		return Observation{}, ErrClosed
	case !c.ready:
		return Observation{}, ErrNeedReset
	}
	return copyObservation(c.shown)
}

// A chainState is the state of a chain. Legs is graded.
type chainState struct {
	Leg   int        `json:"leg"`             // the active one
	State State      `json:"state,omitempty"` // its state, without the graded fields
	Legs  []legState `json:"legs,omitempty"`  // those that were begun
}

// A legState has the verdict of a leg that has ended, or the evidence of the one that goes on.
type legState struct {
	Verdict  *Verdict  `json:"verdict,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`
}

// State implements [Stater].
func (c *chain) State(ctx context.Context) (State, error) {
	switch {
	case c.closed.Load():
		return nil, ErrClosed
	case !c.ready:
		return nil, ErrNeedReset
	}
	s, err := c.public(ctx)
	if err != nil {
		return nil, err
	}
	s.Legs = make([]legState, 0, len(c.harness))
	for i := range c.verdicts {
		s.Legs = append(s.Legs, legState{Verdict: &c.verdicts[i]})
	}
	if len(c.verdicts) == c.active {
		e, err := c.harness[c.active].Evidence(ctx)
		if err != nil {
			return nil, fmt.Errorf("leg %d: %w", c.active, err)
		}
		for i := range e.Log { // a policy may have sent what is no JSON
			e.Log[i].Action, e.Log[i].Transition = *writableAction(&e.Log[i].Action), *writableTransition(&e.Log[i].Transition)
		}
		s.Legs = append(s.Legs, legState{Evidence: &e})
	}
	return json.Marshal(s)
}

// public returns the state without what is graded, which grows with every turn.
func (c *chain) public(ctx context.Context) (s chainState, err error) {
	s.Leg = c.active
	h := c.harness[c.active]
	if h.chain != nil {
		inner, err := h.chain.public(ctx)
		if err != nil {
			return s, fmt.Errorf("leg %d: %w", c.active, err)
		}
		s.State, err = json.Marshal(inner)
		return s, err
	}
	st, err := h.readState(ctx)
	if err == nil && st != nil {
		st, err = withoutFields(st, h.desc.Graded)
	}
	if err != nil {
		return s, fmt.Errorf("leg %d: %w", c.active, err)
	}
	s.State = st
	return s, nil
}

// Close implements [Environment]. It closes every leg, even if one fails.
func (c *chain) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	var errs []error
	for i, h := range c.harness {
		if err := h.Close(); err != nil {
			errs = append(errs, fmt.Errorf("leg %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// chainVerifier joins the verdicts of the legs. The state of the chain holds those of the legs that have ended; the one that did not end
// is judged on its evidence.
func chainVerifier(legs []Leg) VerifierFunc {
	return func(ctx context.Context, e Evidence) (Verdict, error) {
		var s chainState
		if err := json.Unmarshal(e.End, &s); err != nil {
			return Verdict{}, fmt.Errorf("state of the chain: %w", err)
		}
		if len(s.Legs) > len(legs) {
			return Verdict{}, fmt.Errorf("%d legs in the state of a chain of %d", len(s.Legs), len(legs))
		}
		joined := Verdict{Status: Pass, Parts: make(map[string]float64)}
		for i, l := range legs {
			part := fmt.Sprintf("leg%d", i)
			joined.Parts[part] = 0
			if i >= len(s.Legs) {
				joined.fail(fmt.Sprintf("leg %d was not reached", i))
				continue
			}
			v, err := s.Legs[i].verdict(ctx, l.World.Verifier)
			if err != nil {
				return Verdict{}, fmt.Errorf("leg %d: %w", i, err)
			}
			if v.Status != Pass {
				joined.fail(strings.TrimSuffix(fmt.Sprintf("leg %d failed: %s", i, v.Reason), ": "))
			}
			joined.Score += v.Score
			joined.Parts[part] = v.Score
			for name, x := range v.Parts {
				joined.Parts[part+"."+name] = x
			}
		}
		joined.Score = math.Min(joined.Score/float64(len(legs)), 1)
		return joined, nil
	}
}

// verdict returns the leg's verdict, which is not [Invalid].
func (l legState) verdict(ctx context.Context, verifier Verifier) (Verdict, error) {
	var v Verdict
	switch {
	case l.Verdict != nil:
		v = *l.Verdict
	case l.Evidence != nil:
		var err error
		if v, err = verifier.Verify(ctx, *l.Evidence); err != nil {
			return Verdict{}, err
		}
	default:
		return Verdict{}, errors.New("neither a verdict nor evidence")
	}
	v, err := normalise(v)
	if err == nil && v.Status == Invalid {
		err = fmt.Errorf("the verdict is invalid: %s", v.Reason)
	}
	return v, err
}

// fail makes v a failure for the first reason given.
func (v *Verdict) fail(reason string) {
	if v.Status == Pass {
		v.Status, v.Reason = Fail, reason
	}
}

package envharness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// A Harness is a base environment inside a stack of components. It is itself an [Environment] and a [TaskLister], and judges its
// episodes with the verifier of its [World]. One inside another is refused when it is opened.
//
// The base, the evidence and the verifier are sealed in: the harness has no Unwrap, components get copies, and what a caller does with
// the copies that it was handed changes none of them. Reset, Step, Evidence, Verdict and Tasks come from one goroutine at a time, else
// they return [ErrBusy]; Tools and Close may come at any time.
type Harness struct {
	world  World
	levels []level // innermost first

	mu     sync.Mutex // guards base against a Close while it is being opened, and tools against a call of Tools
	base   Environment
	closed atomic.Bool
	busy   atomic.Bool

	// Found in the base once it is open.
	desc     Description
	observer Observer
	stater   Stater
	rewinder Rewinder
	maxTurns int // highest number of turns, 0 for none

	root      uint64 // last seed that a caller gave
	unseeded  uint64 // resets without a seed since then
	recording bool   // keep what the components change, for a Trace

	// The episode.
	phase    phase
	task     string
	seed     uint64
	options  []byte
	turn     int // turns used
	log      []LogEntry
	args     []byte // holds the arguments in log; see take
	start    State
	endState State
	end      EndReason
	cause    error
	tools    []Tool
	hooked   bool        // some component has a hook that is called in a turn
	shown    Observation // what was shown last; kept only if hooked
	public   State       // state without graded fields since the last step; nil if not read yet
	stateErr error       // first failure to read the state for a hook
	changes  []*Layer    // by level, what changed in the running turn; nil unless recording
	applied  *Action
	raw      *Transition
}

type level struct {
	spec  ComponentSpec
	comp  Component
	hooks Hooks
}

type phase uint8

const (
	idle phase = iota // no episode: before the first Reset or after a failed one
	running
	over
)

// A failure is an error that ends the episode as [Invalid].
type failure struct {
	reason EndReason
	err    error
}

func (f *failure) Error() string { return "envharness: " + string(f.reason) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// New puts components, innermost first, around the environments of w. They must be ordered by class: start (S0), then action,
// transition and observation (A, T, O) in any order, then budget (B); else the error is an [ErrOrder] that names the two at fault.
// Ids must be unique; an empty one becomes the tag, or tag#2, tag#3, ... for the second and later use of a tag.
//
// Nothing is opened before the first Reset or Tasks. A later Reset uses the same base environment again.
func New(w World, components ...Component) (*Harness, error) {
	if w.New == nil || w.Verifier == nil {
		return nil, errors.New("envharness: a World needs both New and Verifier")
	}
	levels, err := stack(components)
	if err != nil {
		return nil, err
	}
	return &Harness{world: w, levels: levels, root: 1}, nil
}

// enter admits one call at a time.
func (h *Harness) enter() error {
	if h.closed.Load() {
		return ErrClosed
	}
	if !h.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	return nil
}

func (h *Harness) leave() { h.busy.Store(false) }

// open makes the base on first use.
func (h *Harness) open(ctx context.Context) error {
	if h.base != nil {
		return nil
	}
	base, err := guard(func() (Environment, error) { return h.world.New(ctx) })
	if err == nil && base == nil {
		err = errors.New("World.New returned no environment")
	}
	if err != nil {
		return err
	}
	if _, err := guard(func() (struct{}, error) { return struct{}{}, h.discover(base) }); err != nil {
		return errors.Join(err, closeBase(base))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed.Load() { // meanwhile: nobody else will close this base
		return errors.Join(ErrClosed, closeBase(base))
	}
	h.base = base
	return nil
}

// discover finds what the base can do beyond the contract.
func (h *Harness) discover(base Environment) error {
	if _, ok := As[*Harness](base); ok {
		return errors.New("the environment is or wraps a Harness: give all components to one New")
	}
	if d, ok := As[Describer](base); ok {
		desc := d.Describe()
		if err := checkTools(desc.Tools); err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		desc.Tools, desc.Graded = cloneTools(desc.Tools), slices.Clone(desc.Graded)
		h.desc, h.maxTurns = desc, max(desc.MaxTurns, 0)
	}
	h.observer, _ = As[Observer](base)
	h.stater, _ = As[Stater](base)
	h.rewinder, _ = As[Rewinder](base)
	return nil
}

func closeBase(base Environment) error {
	_, err := guard(func() (struct{}, error) { return struct{}{}, base.Close() })
	return err
}

// Reset starts an episode: the base is reset, every component begins, the setups are replayed, and the first observation passes
// through the components. A nil seed is replaced by one that follows from the last seed given and the number of resets since (from
// seed 1 if there was none); the [Evidence] records it, so that every episode can be repeated.
//
// A failed Reset leaves no episode, and another one may be tried. A start that the setups made illegal is an [ErrStart].
func (h *Harness) Reset(ctx context.Context, o ResetOptions) (Observation, error) {
	if err := h.enter(); err != nil {
		return Observation{}, err
	}
	defer h.leave()
	obs, err := h.reset(ctx, o)
	if err != nil {
		h.phase = idle
		h.dropHooks()
		return Observation{}, err
	}
	return obs, nil
}

func (h *Harness) reset(ctx context.Context, o ResetOptions) (Observation, error) {
	h.phase = idle
	h.dropHooks()
	h.turn, h.end, h.cause, h.start, h.endState, h.public, h.stateErr = 0, "", nil, nil, nil, nil, nil
	h.log, h.args, h.shown = h.log[:0], h.args[:0], Observation{}
	h.clearTurn()
	h.hooked = false
	h.setTools(nil)
	if err := h.open(ctx); err != nil {
		if errors.Is(err, ErrClosed) {
			return Observation{}, err
		}
		return Observation{}, h.fault(ctx, EndEnvError, "open", err)
	}
	h.task, h.seed, h.options = o.Task, 0, bytes.Clone(o.Options)
	if o.Seed != nil {
		h.root, h.unseeded, h.seed = *o.Seed, 0, *o.Seed
	} else {
		h.unseeded++
		h.seed = deriveSeed(h.root, "seed/next", h.unseeded)
	}
	seed := h.seed
	obs, err := guard(func() (Observation, error) {
		return h.base.Reset(ctx, ResetOptions{Task: o.Task, Seed: &seed, Options: bytes.Clone(o.Options)})
	})
	if err == nil {
		err = h.record(LogReset, Action{}, Transition{Observation: obs})
	}
	if err != nil {
		return Observation{}, h.fault(ctx, EndEnvError, "reset", err)
	}
	for i := range h.levels {
		l := &h.levels[i]
		info := EpisodeInfo{Task: h.task, Seed: h.seed, Rand: RandStream(h.seed, "c/"+l.spec.ID, 0)}
		if l.hooks, err = guard(func() (Hooks, error) { return l.comp.Begin(ctx, info) }); err != nil {
			return Observation{}, h.fault(ctx, EndComponentError, l.spec.ID+": begin", err)
		}
		h.hooked = h.hooked || l.hooks.Action != nil || l.hooks.Transition != nil || l.hooks.Observe != nil
	}
	if err := h.setup(ctx); err != nil {
		return Observation{}, err
	}
	tools, err := h.foldTools(ctx)
	if err != nil {
		return Observation{}, err
	}
	if obs, err = h.observe(ctx); err != nil {
		return Observation{}, err
	}
	if obs, err = h.show(ctx, obs); err != nil {
		return Observation{}, err
	}
	h.setTools(tools)
	h.phase = running
	return obs, nil
}

// foldTools passes the base's tools through the Tools hooks.
func (h *Harness) foldTools(ctx context.Context) ([]Tool, error) {
	tools := h.desc.Tools
	for i := range h.levels {
		l := &h.levels[i]
		if l.hooks.Tools == nil {
			continue
		}
		out, err := guard(func() ([]Tool, error) { return l.hooks.Tools(ctx, cloneTools(tools)) })
		if err == nil {
			err = checkTools(out)
		}
		if err != nil {
			return nil, h.fault(ctx, EndComponentError, l.spec.ID+": tools", err)
		}
		tools = cloneTools(out)
	}
	return tools, nil
}

func (h *Harness) setTools(tools []Tool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tools = tools
}

// Step passes the action inwards through the components, steps the base unless one of them stopped it, and passes the result
// outwards. Every call uses up a turn. An error means that the base or a component failed; the episode is then over and [Invalid].
func (h *Harness) Step(ctx context.Context, a Action) (Transition, error) {
	if err := h.enter(); err != nil {
		return Transition{}, err
	}
	defer h.leave()
	switch h.phase {
	case idle:
		return Transition{}, ErrNeedReset
	case over:
		return Transition{}, ErrEpisodeOver
	}
	return h.step(ctx, a)
}

func (h *Harness) step(ctx context.Context, a Action) (Transition, error) {
	h.turn++
	h.clearTurn()
	a = h.take(a)
	stop, edit := -1, ActionEdit{}
	for i := len(h.levels) - 1; i >= 0 && stop < 0; i-- {
		if h.levels[i].hooks.Action == nil {
			continue
		}
		e, err := h.decide(ctx, i, a)
		if err != nil {
			return Transition{}, err
		}
		switch e.kind {
		case editPass:
		case editReplace:
			a = cloner{}.action(e.action)
		default:
			stop, edit = i, e
		}
	}
	if stop >= 0 {
		return h.finishStopped(ctx, stop, edit)
	}
	if h.recording {
		a := cloner{record: true}.action(a)
		h.applied = &a
	}
	t, err := h.stepBase(ctx, a)
	if err == nil {
		err = h.record(LogStep, a, t)
	}
	if err != nil {
		return Transition{}, h.fault(ctx, EndEnvError, fmt.Sprintf("step %d", h.turn), err)
	}
	if h.recording {
		raw, _ := cloner{record: true}.transition(t)
		h.raw = &raw
	}
	t, _ = cloner{}.transition(t) // checked when it was logged; what the base hands out is read-only, what a policy gets is its own
	if t.Terminated {
		return h.finish(ctx, t, EndTerminated)
	}
	if t.Truncated {
		return h.finish(ctx, t, EndTruncated)
	}
	return h.outward(ctx, t, t, 0)
}

// invalid charges a turn for an answer that was no action. It never entered the stack, so all of it sees the unchanged observation.
func (h *Harness) invalid(ctx context.Context, message string) (Transition, error) {
	h.turn++
	h.clearTurn()
	return h.finishStopped(ctx, len(h.levels)-1, ActionEdit{kind: editInvalid, reason: message})
}

// finishStopped gives the result of a turn in which level stop, counted from inside, kept the action from the base.
func (h *Harness) finishStopped(ctx context.Context, stop int, e ActionEdit) (Transition, error) {
	raw, err := h.observe(ctx)
	if err != nil {
		return Transition{}, err
	}
	if e.kind == editEnd {
		reason := budgetReason(h.levels[stop].spec.ID, e.reason)
		return h.truncate(ctx, Transition{Observation: raw}, reason)
	}
	rawResult, err := e.result(raw)
	if err != nil {
		return Transition{}, h.fault(ctx, EndComponentError, h.levels[stop].spec.ID+": action", err)
	}
	obs := raw
	for j := 0; j <= stop; j++ {
		if obs, err = h.observeHook(ctx, j, obs); err != nil {
			return Transition{}, err
		}
	}
	t, err := e.result(obs)
	if err != nil {
		return Transition{}, h.fault(ctx, EndComponentError, h.levels[stop].spec.ID+": action", err)
	}
	return h.outward(ctx, t, rawResult, stop+1)
}

// result turns the present observation into what the stopping level answers.
func (e ActionEdit) result(obs Observation) (Transition, error) {
	obs, err := cloner{}.observation(obs)
	if err != nil {
		return Transition{}, err
	}
	t := Transition{Observation: obs}
	switch e.kind {
	case editBlock:
		t.Observation.Text = "[blocked] " + e.reason + "\n\n" + obs.Text
		if obs.Data == nil {
			t.Observation.Data = make(map[string]any, 2)
		}
		t.Observation.Data["blocked"] = true
		t.Observation.Data["blocked_reason"] = e.reason
		t.Error = &ActionError{Class: ClassPermission, Message: e.reason}
	case editAnswer:
		t.Observation.Text, t.Error = e.text, cloner{}.actionError(e.err)
	case editInvalid:
		t.Observation.Text = "[invalid action] " + e.reason + "\n\n" + obs.Text
		t.Error = &ActionError{Class: ClassBadArgs, Message: e.reason}
	}
	return t, nil
}

// outward passes a result that did not end the episode through levels from..n-1 and evaluates the limits. raw is the result to
// show if the episode ends here.
func (h *Harness) outward(ctx context.Context, t, raw Transition, from int) (Transition, error) {
	for j := from; j < len(h.levels); j++ {
		hooks := &h.levels[j].hooks
		if hooks.Transition != nil {
			truncate, err := h.transitionHook(ctx, j, &t)
			if err != nil {
				return Transition{}, err
			}
			if truncate != "" {
				return h.truncate(ctx, raw, budgetReason(h.levels[j].spec.ID, truncate))
			}
		}
		if hooks.Observe != nil {
			var err error
			if t.Observation, err = h.observeHook(ctx, j, t.Observation); err != nil {
				return Transition{}, err
			}
		}
	}
	if reason := h.limitReached(); reason != "" {
		return h.truncate(ctx, raw, reason)
	}
	return h.keepShown(t), nil
}

// truncate ends the episode with the result of its last turn.
func (h *Harness) truncate(ctx context.Context, t Transition, reason EndReason) (Transition, error) {
	t.Truncated, t.Reason = true, string(reason)
	return h.finish(ctx, t, reason)
}

// budgetReason names the component that ended an episode.
func budgetReason(id, reason string) EndReason {
	if reason == "" {
		return EndReason("budget:" + id)
	}
	return EndReason("budget:" + id + ":" + reason)
}

// limitReached returns the reason of the innermost limit on turns that has been used up.
func (h *Harness) limitReached() EndReason {
	for i := range h.levels {
		if m := h.levels[i].hooks.MaxTurns; m > 0 && h.turn >= m {
			return budgetReason(h.levels[i].spec.ID, "")
		}
	}
	if h.maxTurns > 0 && h.turn >= h.maxTurns {
		return EndMaxTurns
	}
	return ""
}

// left returns the number of turns left, 0 if no limit is known.
func (h *Harness) left() int {
	limit := h.maxTurns
	for i := range h.levels {
		if m := h.levels[i].hooks.MaxTurns; m > 0 && (limit == 0 || m < limit) {
			limit = m
		}
	}
	if limit == 0 {
		return 0
	}
	return limit - h.turn
}

// keepShown remembers what the policy is shown, in case a hook asks.
func (h *Harness) keepShown(t Transition) Transition {
	if h.hooked {
		h.shown = t.Observation
		t.Observation, _ = cloner{}.observation(t.Observation) // checked where it came from
	}
	return t
}

// show passes the first observation through all Observe hooks.
func (h *Harness) show(ctx context.Context, obs Observation) (Observation, error) {
	var err error
	for j := range h.levels {
		if obs, err = h.observeHook(ctx, j, obs); err != nil {
			return Observation{}, err
		}
	}
	return h.keepShown(Transition{Observation: obs}).Observation, nil
}

// finish ends the episode in good order.
func (h *Harness) finish(ctx context.Context, t Transition, reason EndReason) (Transition, error) {
	st, err := h.readState(ctx)
	if err != nil {
		return Transition{}, h.fault(ctx, EndEnvError, "state", err)
	}
	h.endState = st
	h.endEpisode(reason, nil)
	return t, nil
}

// stop ends the episode on behalf of the caller.
func (h *Harness) stop(ctx context.Context, reason EndReason) error {
	h.clearTurn()
	_, err := h.finish(ctx, Transition{}, reason)
	return err
}

// fault ends the episode because something below the policy failed.
func (h *Harness) fault(ctx context.Context, reason EndReason, what string, err error) error {
	switch ctx.Err() {
	case context.DeadlineExceeded:
		reason = EndTimeout
	case context.Canceled:
		reason = EndCanceled
	}
	f := &failure{reason, fmt.Errorf("%s: %w", what, err)}
	h.endEpisode(reason, f)
	return f
}

func (h *Harness) endEpisode(reason EndReason, cause error) {
	h.phase, h.end, h.cause = over, reason, cause
	h.dropHooks()
}

func (h *Harness) dropHooks() {
	for i := range h.levels {
		h.levels[i].hooks = Hooks{}
	}
}

func (h *Harness) clearTurn() { h.changes, h.applied, h.raw = nil, nil, nil }

// Close closes the base. It is idempotent and may come while a Step runs.
func (h *Harness) Close() error {
	if h.closed.Swap(true) {
		return nil
	}
	h.mu.Lock()
	base := h.base
	h.mu.Unlock()
	if base == nil {
		return nil
	}
	return closeBase(base)
}

// Tools returns a copy of the tools that a policy is shown in the present or last episode. Before the first Reset, during one and after
// a failed one it is nil.
func (h *Harness) Tools() []Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return cloneTools(h.tools)
}

// Tasks lists the base's tasks; see [TaskLister].
func (h *Harness) Tasks(ctx context.Context, split string) ([]Task, error) {
	if err := h.enter(); err != nil {
		return nil, err
	}
	defer h.leave()
	if err := h.open(ctx); err != nil {
		return nil, err
	}
	return guard(func() ([]Task, error) {
		l, ok := As[TaskLister](h.base)
		if !ok {
			return nil, errors.New("envharness: the environment lists no tasks")
		}
		tasks, err := l.Tasks(ctx, split)
		tasks = slices.Clone(tasks)
		for i := range tasks {
			tasks[i] = cloner{}.task(tasks[i])
		}
		return tasks, err
	})
}

// A panicError is what foreign code panicked with.
type panicError struct{ value any }

func (p panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// guard calls foreign code and turns a panic into an error.
func guard[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError{p}
		}
	}()
	return f()
}

// stepBase is guard without its closure: the hot path.
func (h *Harness) stepBase(ctx context.Context, a Action) (t Transition, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError{p}
		}
	}()
	h.public = nil
	return h.base.Step(ctx, a)
}

// reservedTools are names that a tool must not have, because they are calls of the harness and not of the policy.
var reservedTools = []string{"reset", "step", "state", "close", "verify", "evaluate", "grade"}

func checkTools(tools []Tool) error {
	seen := make(map[string]bool, len(tools))
	for i, t := range tools {
		switch {
		case t.Name == "":
			return fmt.Errorf("tool %d has no name", i)
		case seen[t.Name]:
			return fmt.Errorf("tool name %q is used twice", t.Name)
		case slices.Contains(reservedTools, t.Name):
			return fmt.Errorf("tool name %q is reserved", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

func sameObservation(a, b Observation) bool {
	return a.Text == b.Text && reflect.DeepEqual(a.Data, b.Data) && reflect.DeepEqual(a.Actions, b.Actions)
}

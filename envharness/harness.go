package envharness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
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
	fresh  Environment // on which a replay runs; guarded by mu
	closed atomic.Bool
	busy   atomic.Bool

	// Found in the base once it is open.
	desc        Description
	volatile    volatile
	observer    Observer
	stater      Stater
	snapshotter Snapshotter
	rewinder    Rewinder
	toolLister  ToolLister
	turnLimiter TurnLimiter
	chain       *chain
	maxTurns    int // highest number of turns in any episode, 0 for none
	fallback    int // the limit where there is no other, 0 for none
	watch       *watch

	root      uint64 // last seed that a caller gave
	unseeded  uint64 // resets without a seed since then
	recording bool   // keep what the components change, for a Trace

	// The episode.
	phase phase
	task  string
	seed  uint64
	// unseedable is set when the base had no use for the seed, so that its episode cannot be played again.
	unseedable bool
	options    []byte
	turn       int // turns used
	log        []LogEntry
	args       []byte // holds the arguments in log; see take
	start      State
	endState   State
	end        EndReason
	cause      error
	listed     []Tool      // the base's tools
	tools      []Tool      // after the components
	turnLimit  int         // what the TurnLimiter says, 0 for none
	limit      int         // the lowest limit on turns, 0 for none
	hooked     bool        // some component has a hook that is called in a turn
	shown      Observation // what was shown last; kept up to date only if hooked
	public     State       // state without graded fields since the last step; nil if not read yet
	stateErr   error       // first failure to read the state for a hook
	stepped    bool        // the action of the running turn reached the base
	changes    []*Layer    // by level, what changed in the running turn; nil unless recording
	applied    *Action
	raw        *Transition
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
	levels, err := stack(components, w.chains > 0)
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

// enterRunning admits one call at a time into a running episode.
func (h *Harness) enterRunning() error {
	if err := h.enter(); err != nil {
		return err
	}
	switch h.phase {
	case idle:
		h.leave()
		return ErrNeedReset
	case over:
		h.leave()
		return ErrEpisodeOver
	}
	return nil
}

func (h *Harness) leave() { h.busy.Store(false) }

// open makes the base on first use.
func (h *Harness) open(ctx context.Context) error {
	if h.base != nil {
		return nil
	}
	base, err := watched(h.watch, site{kind: siteBase, call: "open"}, func() (Environment, error) { return h.world.New(ctx) })
	if err == nil && base == nil {
		err = errors.New("World.New returned no environment")
	}
	if err != nil {
		return err
	}
	describe := site{kind: siteBase, call: "describe"}
	if _, err := watched(h.watch, describe, func() (struct{}, error) { return struct{}{}, h.discover(base) }); err != nil {
		return errors.Join(err, closeBase(h.watch, base))
	}
	if !h.hold(&h.base, base) {
		return errors.Join(ErrClosed, closeBase(h.watch, base))
	}
	return nil
}

// hold puts an environment where Close finds it. It reports whether the harness is open; else nobody will close the environment.
func (h *Harness) hold(at *Environment, env Environment) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed.Load() {
		return false
	}
	*at = env
	return true
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
		vol, err := newVolatile(desc)
		if err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		h.desc, h.maxTurns, h.volatile = copyDescription(desc), max(desc.MaxTurns, 0), vol
	}
	h.abilities(base)
	if h.chain == nil {
		return nil
	}
	if l := h.levels; len(l) > 0 && l[0].spec.Axis == AxisStart { // as New, for a World that was put together anew
		return aroundChain(l[0].spec)
	}
	h.chain.watch(h.watch)
	return nil
}

func (h *Harness) abilities(base Environment) {
	h.observer, _ = As[Observer](base)
	h.stater, _ = As[Stater](base)
	h.snapshotter, _ = As[Snapshotter](base)
	h.rewinder, _ = As[Rewinder](base)
	h.toolLister, _ = As[ToolLister](base)
	h.turnLimiter, _ = As[TurnLimiter](base)
	h.chain, _ = As[*chain](base)
}

func closeBase(w *watch, base Environment) error {
	_, err := watched(w, site{kind: siteBase, call: "close"}, func() (struct{}, error) { return struct{}{}, base.Close() })
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
	obs, err := h.startEpisode(ctx, o)
	if err != nil {
		return Observation{}, err
	}
	return copyObservation(obs)
}

// startEpisode resets, and leaves no episode behind if that fails. The observation is not to be changed.
func (h *Harness) startEpisode(ctx context.Context, o ResetOptions) (Observation, error) {
	obs, err := h.reset(ctx, o)
	if err != nil {
		h.phase = idle
		h.dropHooks()
		h.setTools(nil)
	}
	return obs, err
}

func (h *Harness) reset(ctx context.Context, o ResetOptions) (Observation, error) {
	h.phase = idle
	h.dropHooks()
	h.turn, h.end, h.cause, h.start, h.endState, h.public, h.stateErr = 0, "", nil, nil, nil, nil, nil
	h.log, h.args, h.shown, h.unseedable = h.log[:0], h.args[:0], Observation{}, false
	h.clearTurn()
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
	obs, err := h.resetBase(ctx, h.task, h.seed, h.options)
	if err == nil {
		_, err = h.record(LogReset, Action{}, Transition{Observation: obs})
	}
	if err != nil {
		return Observation{}, h.fault(ctx, EndEnvError, "reset", err)
	}
	if err := h.begin(ctx); err != nil {
		return Observation{}, err
	}
	if err := h.setup(ctx); err != nil {
		return Observation{}, err
	}
	if err := h.refreshLimit(ctx); err != nil { // a setup may have set what it follows from
		return Observation{}, err
	}
	tools, err := h.refold(ctx)
	if err != nil {
		return Observation{}, err
	}
	if obs, err = h.observe(ctx); err != nil {
		return Observation{}, err
	}
	for j := range h.levels {
		if obs, err = h.observeHook(ctx, j, obs); err != nil {
			return Observation{}, err
		}
	}
	h.shown = obs
	h.setTools(tools)
	h.phase = running
	return obs, nil
}

// resetBase resets the base, without the seed if it has no use for one.
func (h *Harness) resetBase(ctx context.Context, task string, seed uint64, options []byte) (Observation, error) {
	reset := func(seed *uint64) (Observation, error) {
		return watched(h.watch, site{kind: siteBase, call: "reset"}, func() (Observation, error) {
			return h.base.Reset(ctx, ResetOptions{Task: task, Seed: seed, Options: bytes.Clone(options)})
		})
	}
	obs, err := reset(&seed)
	if errors.Is(err, ErrSeedUnsupported) {
		h.unseedable = true
		return reset(nil)
	}
	return obs, err
}

// begin gives every component its hooks, innermost first, and passes the base's tools outwards on the way.
func (h *Harness) begin(ctx context.Context) error {
	tools, err := h.listTools()
	if err != nil {
		return h.fault(ctx, EndEnvError, "tools", err)
	}
	h.listed, h.hooked = copyTools(tools), false
	for i := range h.levels {
		l := &h.levels[i]
		info := EpisodeInfo{Task: h.task, Seed: h.seed, Rand: RandStream(h.seed, "c/"+l.spec.ID, 0), base: h.desc, tools: tools}
		l.hooks, err = watched(h.watch, site{siteHook, l.spec.ID, "begin"}, func() (Hooks, error) { return l.comp.Begin(ctx, info) })
		if err != nil {
			return h.fault(ctx, EndComponentError, l.spec.ID+": begin", err)
		}
		h.hooked = h.hooked || l.hooks.Action != nil || l.hooks.Result != nil || l.hooks.Transition != nil || l.hooks.Observe != nil
		if tools, err = h.toolsHook(ctx, i, tools); err != nil {
			return err
		}
	}
	h.setTools(tools)
	return h.refreshLimit(ctx)
}

// listTools returns the base's tools at present.
func (h *Harness) listTools() ([]Tool, error) {
	if h.toolLister == nil {
		return h.desc.Tools, nil
	}
	tools, err := watched(h.watch, site{kind: siteBase, call: "tools"}, func() ([]Tool, error) { return h.toolLister.Tools(), nil })
	if err != nil {
		return nil, err
	}
	return tools, checkTools(tools)
}

// refold returns the tools to show: those of before, unless the base has changed its own.
func (h *Harness) refold(ctx context.Context) ([]Tool, error) {
	tools, err := h.listTools()
	if err != nil {
		return nil, h.fault(ctx, EndEnvError, "tools", err)
	}
	if h.toolLister == nil || slices.EqualFunc(tools, h.listed, sameTool) {
		return h.tools, nil
	}
	tools = copyTools(tools)
	h.listed = tools
	for i := range h.levels {
		if tools, err = h.toolsHook(ctx, i, tools); err != nil {
			return nil, err
		}
	}
	return tools, nil
}

// toolsHook passes tools through the Tools hook of level i, if it has one.
func (h *Harness) toolsHook(ctx context.Context, i int, tools []Tool) ([]Tool, error) {
	l := &h.levels[i]
	if l.hooks.Tools == nil {
		return tools, nil
	}
	out, err := watched(h.watch, site{siteHook, l.spec.ID, "tools"}, func() ([]Tool, error) { return l.hooks.Tools(ctx, copyTools(tools)) })
	if err == nil {
		err = checkTools(out)
	}
	if err != nil {
		return nil, h.fault(ctx, EndComponentError, l.spec.ID+": tools", err)
	}
	out = copyTools(out)
	if h.recording && !slices.EqualFunc(tools, out, sameTool) {
		c := h.change(i)
		c.ToolsIn, c.ToolsOut = tools, out
	}
	return out, nil
}

func (h *Harness) setTools(tools []Tool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tools = tools
}

// Step passes the action inwards through the components, steps the base unless one of them stopped it, and passes the result
// outwards. Every call uses up a turn. An error means that the base or a component failed; the episode is then over and [Invalid].
func (h *Harness) Step(ctx context.Context, a Action) (Transition, error) {
	if err := h.enterRunning(); err != nil {
		return Transition{}, err
	}
	defer h.leave()
	t, err := h.step(ctx, a)
	if err != nil {
		return Transition{}, err
	}
	return copyTransition(*t)
}

// step returns a result that is not to be changed, and good until the next step.
func (h *Harness) step(ctx context.Context, a Action) (*Transition, error) {
	h.turn++
	h.clearTurn()
	a = h.take(a)
	stop, edit := -1, ActionEdit{}
	for i := len(h.levels) - 1; h.hooked && i >= 0 && stop < 0; i-- {
		if h.levels[i].hooks.Action == nil {
			continue
		}
		e, err := h.decide(ctx, i, a)
		if err != nil {
			return nil, err
		}
		switch e.kind {
		case editPass:
		case editReplace:
			a = copyAction(e.action)
		default:
			stop, edit = i, e
		}
	}
	if stop >= 0 {
		return h.finishStopped(ctx, stop, edit)
	}
	h.stepped = true
	t, err := h.stepLogged(ctx, LogStep, a)
	if err != nil {
		if h.recording {
			h.applied = new(a)
		}
		return nil, h.fault(ctx, EndEnvError, fmt.Sprintf("step %d", h.turn), err)
	}
	if h.recording {
		e := &h.log[len(h.log)-1]
		h.applied, h.raw = &e.Action, &e.Transition
	}
	if t.Terminated {
		return t, h.finish(ctx, EndTerminated)
	}
	if t.Truncated {
		return t, h.finish(ctx, EndTruncated)
	}
	if h.toolLister != nil {
		tools, err := h.refold(ctx)
		if err != nil {
			return nil, err
		}
		h.setTools(tools)
	}
	if h.chain != nil { // a leg may have begun
		if err := h.refreshLimit(ctx); err != nil {
			return nil, err
		}
	}
	return h.outward(ctx, t, t, 0)
}

// stepLogged steps the base and returns what it logged.
func (h *Harness) stepLogged(ctx context.Context, kind LogKind, a Action) (*Transition, error) {
	h.log = append(h.log, LogEntry{Kind: kind, Action: a})
	t := &h.log[len(h.log)-1].Transition
	err := h.stepBase(ctx, a, t)
	if err == nil {
		err = ownTransition(t)
	}
	if err != nil {
		h.unlog()
		return nil, err
	}
	return t, nil
}

// invalid charges a turn for an answer that was no action. It never entered the stack, so all of it sees the unchanged observation.
func (h *Harness) invalid(ctx context.Context, message string) (*Transition, error) {
	h.turn++
	h.clearTurn()
	return h.finishStopped(ctx, len(h.levels)-1, ActionEdit{kind: editInvalid, reason: message})
}

// Stop ends the running episode on behalf of the policy, for one of the reasons [EndAgentStop], [EndAgentError] and [EndTokenBudget];
// [Rollouts] does so itself. The errors are those of Step.
func (h *Harness) Stop(ctx context.Context, reason EndReason) error {
	if reason != EndAgentStop && reason != EndAgentError && reason != EndTokenBudget {
		return fmt.Errorf("envharness: %q is no reason for which a policy ends an episode", reason)
	}
	if err := h.enterRunning(); err != nil {
		return err
	}
	defer h.leave()
	return h.stop(ctx, reason)
}

// Unreadable uses up a turn for an answer of the policy that could not be read as an action, as [Rollouts] does for [ErrBadAction]: the
// base is not stepped, and the policy is shown the message above the present observation. The errors are those of Step.
func (h *Harness) Unreadable(ctx context.Context, message string) (Transition, error) {
	if err := h.enterRunning(); err != nil {
		return Transition{}, err
	}
	defer h.leave()
	t, err := h.invalid(ctx, message)
	if err != nil {
		return Transition{}, err
	}
	return copyTransition(*t)
}

// finishStopped gives the result of a turn in which level stop, counted from inside, kept the action from the base.
func (h *Harness) finishStopped(ctx context.Context, stop int, e ActionEdit) (*Transition, error) {
	raw, err := h.observe(ctx)
	if err != nil {
		return nil, err
	}
	if e.kind == editEnd {
		reason := budgetReason(h.levels[stop].spec.ID, e.reason)
		return h.truncate(ctx, &Transition{Observation: raw}, reason)
	}
	obs := raw
	for j := 0; j <= stop; j++ {
		if obs, err = h.observeHook(ctx, j, obs); err != nil {
			return nil, err
		}
	}
	return h.outward(ctx, e.result(obs), e.result(raw), stop+1)
}

// result turns the present observation into what the stopping level answers.
func (e ActionEdit) result(obs Observation) *Transition {
	t := &Transition{Observation: obs}
	switch e.kind {
	case editBlock:
		t.Observation.Text = "[blocked] " + e.reason + "\n\n" + obs.Text
		data := make(map[string]any, len(obs.Data)+2)
		maps.Copy(data, obs.Data)
		data["blocked"], data["blocked_reason"] = true, e.reason
		t.Observation.Data = data
		t.Error = &ActionError{Class: ClassPermission, Message: e.reason}
	case editAnswer:
		t.Observation.Text, t.Error = e.text, e.err
	case editInvalid:
		t.Observation.Text = "[invalid action] " + e.reason + "\n\n" + obs.Text
		t.Error = &ActionError{Class: ClassBadArgs, Message: e.reason}
	}
	return t
}

// outward passes a result that did not end the episode through levels from..n-1 and evaluates the limits. raw is the result to
// show if the episode ends here. Neither is changed.
func (h *Harness) outward(ctx context.Context, t, raw *Transition, from int) (*Transition, error) {
	if h.hooked {
		t = new(*t)
	}
	for j := from; h.hooked && j < len(h.levels); j++ {
		hooks := &h.levels[j].hooks
		if hooks.Result != nil {
			if err := h.resultHook(ctx, j, t.Error); err != nil {
				return nil, err
			}
		}
		if hooks.Transition != nil {
			truncate, err := h.transitionHook(ctx, j, t)
			if err != nil {
				return nil, err
			}
			if truncate != "" {
				return h.truncate(ctx, raw, budgetReason(h.levels[j].spec.ID, truncate))
			}
		}
		if hooks.Observe != nil {
			var err error
			if t.Observation, err = h.observeHook(ctx, j, t.Observation); err != nil {
				return nil, err
			}
		}
	}
	if reason := h.limitReached(); reason != "" {
		return h.truncate(ctx, raw, reason)
	}
	if h.hooked {
		h.shown = t.Observation
	}
	return t, nil
}

// truncate ends the episode with the result of its last turn.
func (h *Harness) truncate(ctx context.Context, raw *Transition, reason EndReason) (*Transition, error) {
	t := new(*raw)
	t.Truncated, t.Reason = true, string(reason)
	return t, h.finish(ctx, reason)
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
	if h.limit == 0 || h.turn < h.limit {
		return ""
	}
	for i := range h.levels {
		if m := h.levels[i].hooks.MaxTurns; m > 0 && h.turn >= m {
			return budgetReason(h.levels[i].spec.ID, "")
		}
	}
	if m := h.ownLimit(); m > 0 && h.turn >= m {
		return EndMaxTurns
	}
	return ""
}

// refreshLimit asks the base for its limit on the turns of this episode and finds the lowest limit of all.
func (h *Harness) refreshLimit(ctx context.Context) error {
	h.turnLimit = 0
	if h.turnLimiter != nil {
		n, err := h.askTurnLimit("turn limit")
		if err != nil {
			return h.fault(ctx, EndEnvError, "turn limit", err)
		}
		h.turnLimit = n
	}
	h.limit = h.ownLimit()
	for i := range h.levels {
		h.limit = lowerLimit(h.limit, h.levels[i].hooks.MaxTurns)
	}
	return nil
}

// askTurnLimit returns the limit that the base tells, which must be a [TurnLimiter].
func (h *Harness) askTurnLimit(call string) (int, error) {
	return watched(h.watch, site{kind: siteBase, call: call}, func() (int, error) { return max(h.turnLimiter.TurnLimit(), 0), nil })
}

// ownLimit returns the limit on the turns of this episode without those of the components, 0 for none.
func (h *Harness) ownLimit() int {
	if m := lowerLimit(h.maxTurns, h.turnLimit); m > 0 {
		return m
	}
	return h.fallback
}

// lowerLimit returns the lower one of two limits on turns, of which 0 is none.
func lowerLimit(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// left returns the number of turns left after so many, 0 if no limit is known.
func (h *Harness) left(used int) int {
	if h.limit == 0 {
		return 0
	}
	return h.limit - used
}

// finish ends the episode in good order.
func (h *Harness) finish(ctx context.Context, reason EndReason) error {
	st, err := h.readState(ctx)
	if err != nil {
		return h.fault(ctx, EndEnvError, "state", err)
	}
	h.endState = st
	h.endEpisode(reason, nil)
	return nil
}

// stop ends the episode on behalf of the caller.
func (h *Harness) stop(ctx context.Context, reason EndReason) error {
	h.clearTurn()
	return h.finish(ctx, reason)
}

// fault ends the episode because something below the policy failed.
func (h *Harness) fault(ctx context.Context, reason EndReason, what string, err error) error {
	f := blame(ctx, reason, fmt.Errorf("%s: %w", what, err))
	h.endEpisode(f.reason, f)
	return f
}

// blame says what an infrastructure failure is put down to: the reason given, unless the context was done or the failure comes from
// a harness inside, that of a leg.
func blame(ctx context.Context, reason EndReason, err error) *failure {
	if f, ok := err.(*failure); ok {
		return f
	}
	if inner, ok := errors.AsType[*failure](err); ok {
		return &failure{inner.reason, err}
	}
	if late, ok := errors.AsType[*failure](context.Cause(ctx)); ok {
		return late
	}
	switch ctx.Err() {
	case context.DeadlineExceeded:
		if reason != EndComponentError { // a hook that takes too long is at fault itself
			reason = EndTimeout
		}
	case context.Canceled:
		reason = EndCanceled
	}
	return &failure{reason, err}
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

func (h *Harness) clearTurn() { h.stepped, h.changes, h.applied, h.raw = false, nil, nil, nil }

// Close closes the base. It is idempotent and may come while a Step runs.
func (h *Harness) Close() error { return h.close(h.watch) }

func (h *Harness) close(w *watch) error {
	if h.closed.Swap(true) {
		return nil
	}
	h.mu.Lock()
	base := h.base
	h.mu.Unlock()
	var errs []error
	for _, env := range []Environment{h.takeFresh(), base} {
		if env != nil {
			errs = append(errs, closeBase(w, env))
		}
	}
	return errors.Join(errs...)
}

// Tools returns a copy of the tools that a policy is shown in the present or last episode. Before the first Reset, during one and after
// a failed one it is nil.
func (h *Harness) Tools() []Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return copyTools(h.tools)
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
			tasks[i] = copyTask(tasks[i])
		}
		return tasks, err
	})
}

// callBase calls the base under guard and watch.
func (h *Harness) callBase(call string, f func() error) error {
	_, err := watched(h.watch, site{kind: siteBase, call: call}, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// stepBase is callBase for a step, without its closure: the hot path.
func (h *Harness) stepBase(ctx context.Context, a Action, t *Transition) (err error) {
	if h.watch != nil {
		defer h.watch.leave(h.watch.enter(site{kind: siteBase, call: "step"}))
	}
	returned := false
	defer func() {
		if p := recover(); p != nil {
			err = panicError{p}
		} else if !returned { // the goroutine ends here; a later call must find the episode over
			h.unlog()
			h.endEpisode(EndEnvError, &failure{EndEnvError, errors.New("step: foreign code ended its goroutine")})
		}
	}()
	h.public = nil
	*t, err = h.base.Step(ctx, a)
	probe(err)
	returned = true
	return err
}

// ReservedTool reports whether no tool may have the name, because it is that of a call which is not the policy's to make: reset, step, state,
// close, verify, evaluate and grade.
func ReservedTool(name string) bool {
	switch name {
	case "reset", "step", "state", "close", "verify", "evaluate", "grade":
		return true
	}
	return false
}

func checkTools(tools []Tool) error {
	seen := make(map[string]bool, len(tools))
	for i, t := range tools {
		switch {
		case t.Name == "":
			return fmt.Errorf("tool %d has no name", i)
		case seen[t.Name]:
			return fmt.Errorf("tool name %q is used twice", t.Name)
		case ReservedTool(t.Name):
			return fmt.Errorf("%w %q", ErrReservedName, t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

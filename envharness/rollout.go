package envharness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// defaultMaxTurns caps a rollout where neither the caller nor the environment does (ALFWorld's limit).
const defaultMaxTurns = 50

// RolloutOptions adjusts [Rollouts]. A nil *RolloutOptions equals &RolloutOptions{}.
type RolloutOptions struct {
	Parallel int // rollouts at once; zero means 1
	// MaxTurns caps each rollout; zero means the environment's own limit, or 50 if it declares none. The lower of both counts.
	MaxTurns int
	// Seed fixes the episodes of tasks without a seed of their own: each gets one that depends on Seed and the task's id alone, so
	// that equal ids get equal episodes.
	Seed uint64
	// StepTimeout is the deadline of each Reset and each Step, hooks included, and of the verifier, but not of World.New; zero means
	// none. It is passed on as a context.
	StepTimeout time.Duration
	// Progress is told after each rollout how many are done; calls come one at a time, from any goroutine. Nil means nobody asks.
	Progress func(done, total int)
}

// Rollouts lets policies play: one rollout for each entry of tasks, so a task listed K times is played K times. Every rollout gets a
// fresh environment of w, fresh hooks of the components (innermost first, as in [New]) and the policy newPolicy(slot), where slot
// is the index in tasks; newPolicy must be safe for concurrent use. The traces come back in the order of tasks, and do not depend
// on Parallel as long as each policy depends on its slot alone ([RandStream] with "policy/<slot>" gives it a stream of its own).
//
// A failure or panic of an environment, a component, a verifier, newPolicy or the service behind a policy makes the trace [Invalid],
// with the cause in it, and the others go on. Everything opened is closed and no goroutine outlives the call.
//
// When ctx is done Rollouts stops, and returns the traces that were completed (Slot tells which) with an error that wraps
// ctx.Err(). Code that ends its goroutine with [runtime.Goexit], as [testing.T.FailNow] does, takes a worker away; with none left for
// the tasks to come, the completed traces come with an error too. Any other error is a fault in the arguments, found before the start.
func Rollouts(
	ctx context.Context, w World, components []Component, newPolicy func(slot int) (Policy, error), tasks []Task, o *RolloutOptions,
) ([]Trace, error) {
	if o == nil {
		o = &RolloutOptions{}
	}
	var errs []error
	if newPolicy == nil {
		errs = append(errs, errors.New("envharness: rollouts: newPolicy is nil"))
	}
	if o.Parallel < 0 || o.MaxTurns < 0 || o.StepTimeout < 0 {
		errs = append(errs, fmt.Errorf("envharness: rollouts: Parallel %d, MaxTurns %d and StepTimeout %v must not be negative",
			o.Parallel, o.MaxTurns, o.StepTimeout))
	}
	if _, err := New(w, components...); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}

	traces := make([]*Trace, len(tasks))
	var (
		next atomic.Int64
		mu   sync.Mutex // held while Progress runs
		done int
		wg   sync.WaitGroup
	)
	progress := func() {
		if o.Progress != nil {
			mu.Lock()
			defer mu.Unlock() // also if Progress ends its goroutine
			done++
			o.Progress(done, len(tasks))
		}
	}
	for range min(max(o.Parallel, 1), len(tasks)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				slot := int(next.Add(1)) - 1
				if slot >= len(tasks) {
					return
				}
				t := rollout(ctx, w, components, newPolicy, tasks[slot], slot, o)
				if ctx.Err() != nil {
					return // what was cut short says nothing
				}
				traces[slot] = &t
				progress()
			}
		})
	}
	wg.Wait()

	completed := make([]Trace, 0, len(tasks))
	for _, t := range traces {
		if t != nil {
			completed = append(completed, *t)
		}
	}
	if len(completed) < len(tasks) {
		err := ctx.Err()
		if err == nil {
			err = errors.New("foreign code ended its goroutine")
		}
		return completed, fmt.Errorf("envharness: rollouts: %d of %d completed: %w", len(completed), len(tasks), err)
	}
	return completed, nil
}

// rollout plays one episode and judges it.
func rollout(
	ctx context.Context, w World, components []Component, newPolicy func(int) (Policy, error), task Task, slot int, o *RolloutOptions,
) Trace {
	rec := cloner{record: true}
	t := Trace{Slot: slot, Task: rec.task(task)}
	if task.Seed != nil {
		t.Seed = *task.Seed
	} else {
		t.Seed = deriveSeed(o.Seed, "seed/task/"+task.ID, 0)
	}
	h, err := New(w, components...)
	if err != nil { // it passed before, so a component's Spec or Check is not constant
		t.fail(rec, &failure{EndComponentError, err})
		return t
	}
	defer h.Close() // for foreign code that ends its goroutine; closing again does nothing
	h.recording = true
	for _, l := range h.levels {
		s := l.spec
		t.Components = append(t.Components, ComponentSpec{Tag: rec.text(s.Tag), ID: rec.text(s.ID), Axis: s.Axis, Params: rec.raw(s.Params)})
	}
	r := runner{h: h, trace: &t, rec: rec, timeout: o.StepTimeout, maxTurns: o.MaxTurns}
	if err := r.play(ctx, newPolicy, task.ID); err != nil {
		t.fail(rec, err)
	} else {
		r.judge(ctx)
	}
	if err := h.Close(); err != nil && t.Cause == "" {
		t.Cause = rec.text("close: " + err.Error())
	}
	return t
}

// fail makes the trace Invalid.
func (t *Trace) fail(rec cloner, err error) {
	t.End = EndEnvError
	if f, ok := errors.AsType[*failure](err); ok {
		t.End = f.reason
	}
	t.Cause = rec.text(err.Error())
	t.Verdict = Verdict{Reason: t.Cause}
}

func (c cloner) task(t Task) Task {
	t.ID, t.Split, t.Family = c.text(t.ID), c.text(t.Split), c.text(t.Family)
	if t.Seed != nil {
		t.Seed = new(*t.Seed)
	}
	return t
}

// A runner plays one episode and keeps its trace.
type runner struct {
	h        *Harness
	trace    *Trace
	rec      cloner
	timeout  time.Duration
	maxTurns int
}

func (r *runner) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.timeout > 0 {
		return context.WithTimeout(ctx, r.timeout)
	}
	return ctx, func() {}
}

// play runs the episode to its end. An error makes it Invalid.
func (r *runner) play(ctx context.Context, newPolicy func(int) (Policy, error), task string) error {
	h := r.h
	policy, err := guard(func() (Policy, error) { return newPolicy(r.trace.Slot) })
	if err == nil && policy == nil {
		err = errors.New("newPolicy returned none")
	}
	if err != nil {
		return h.fault(ctx, EndPolicyInfra, "policy", err)
	}
	obs, err := r.reset(ctx, task)
	if err != nil {
		return err
	}
	turn := Turn{Shown: obs}
	for h.phase == running {
		if ctx.Err() != nil {
			return h.fault(ctx, EndCanceled, "policy", ctx.Err())
		}
		turn.Index, turn.Tools, turn.Left = h.turn, slices.Clone(h.tools), h.left()
		a, err := guard(func() (Action, error) { return policy.Act(ctx, turn) })
		var t Transition
		switch {
		case err == nil:
			t, err = r.step(ctx, a)
		case ctx.Err() == nil && errors.Is(err, ErrBadAction) && !errors.Is(err, ErrInfra):
			t, err = r.invalid(ctx, err)
		default:
			return r.policyEnds(ctx, err)
		}
		if err != nil {
			return err
		}
		turn.Shown, turn.Error = t.Observation, t.Error
	}
	return nil
}

func (r *runner) reset(ctx context.Context, task string) (Observation, error) {
	h := r.h
	if err := h.open(ctx); err != nil { // before the Reset, whose deadline is no bound for the life of the environment
		return Observation{}, h.fault(ctx, EndEnvError, "open", err)
	}
	ctx, cancel := r.deadline(ctx)
	defer cancel()
	seed := r.trace.Seed
	obs, err := h.Reset(ctx, ResetOptions{Task: task, Seed: &seed})
	for i := range h.log {
		r.trace.Log = append(r.trace.Log, r.rec.entry(h.log[i]))
	}
	r.trace.Layers = h.takeLayers()
	if err != nil {
		return Observation{}, err
	}
	if r.maxTurns > 0 && (h.maxTurns == 0 || r.maxTurns < h.maxTurns) {
		h.maxTurns = r.maxTurns
	} else if h.maxTurns == 0 {
		h.maxTurns = defaultMaxTurns
	}
	r.trace.Shown, _ = r.rec.observation(obs)
	return obs, nil
}

func (r *runner) step(ctx context.Context, a Action) (Transition, error) {
	ctx, cancel := r.deadline(ctx)
	defer cancel()
	proposed := r.rec.action(a)
	t, err := r.h.Step(ctx, a)
	r.keep(&proposed, t)
	return t, err
}

func (r *runner) invalid(ctx context.Context, cause error) (Transition, error) {
	ctx, cancel := r.deadline(ctx)
	defer cancel()
	message := strings.TrimPrefix(cause.Error(), ErrBadAction.Error()+": ")
	t, err := r.h.invalid(ctx, message)
	r.keep(nil, t)
	return t, err
}

func (r *runner) keep(proposed *Action, t Transition) {
	shown, _ := r.rec.transition(t)
	r.trace.Turns = append(r.trace.Turns,
		TurnTrace{Proposed: proposed, Layers: r.h.takeLayers(), Applied: r.h.applied, Raw: r.h.raw, Shown: shown})
}

// policyEnds ends the episode with an error of the policy.
func (r *runner) policyEnds(ctx context.Context, err error) error {
	_, panicked := errors.AsType[panicError](err)
	if ctx.Err() != nil || panicked || errors.Is(err, ErrInfra) {
		return r.h.fault(ctx, EndPolicyInfra, "policy", err)
	}
	reason := EndAgentStop
	if !errors.Is(err, ErrStop) {
		reason = EndAgentError
		r.trace.Cause = r.rec.text(err.Error())
	}
	ctx, cancel := r.deadline(ctx)
	defer cancel()
	return r.h.stop(ctx, reason)
}

// judge fills in the verdict of an episode that came to its end.
func (r *runner) judge(ctx context.Context) {
	ctx, cancel := r.deadline(ctx)
	defer cancel()
	t := r.trace
	t.End = r.h.end
	v, err := r.h.judge(ctx, r.h.evidence())
	if err != nil {
		t.fail(r.rec, err)
		return
	}
	t.Verdict = Verdict{Status: v.Status, Score: v.Score, Reason: r.rec.text(v.Reason)}
	if v.Parts != nil {
		t.Verdict.Parts = make(map[string]float64, len(v.Parts))
		for _, name := range slices.Sorted(maps.Keys(v.Parts)) { // sorted, in case two names become one
			t.Verdict.Parts[r.rec.text(name)] = v.Parts[name]
		}
	}
}

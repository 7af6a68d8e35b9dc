package envharness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// defaultMaxTurns caps a rollout where neither the caller nor the environment does (ALFWorld's limit).
	defaultMaxTurns = 50

	defaultStepTimeout    = time.Minute
	defaultHookTimeout    = 10 * time.Second // long enough for a machine that is overloaded
	defaultEpisodeTimeout = 10 * time.Minute // the reference's

	defaultReruns = 2

	// grace is how long foreign code has to return after its context was cancelled, and once more after Close.
	grace = time.Second
)

// KindExploration is the kind of a trace whose caller gave it no other.
const KindExploration = "exploration"

// RolloutOptions adjusts [Rollouts] and [Stream]. A nil *RolloutOptions equals &RolloutOptions{}.
type RolloutOptions struct {
	Parallel int // rollouts at once; zero means 1
	// MaxTurns caps each rollout; zero means the environment's own limit, or 50 if it has none. The lower of both counts.
	MaxTurns int
	// Seed fixes the episodes of tasks without a seed of their own: each gets one that depends on Seed and the task's id alone, so
	// that equal ids get equal episodes.
	Seed uint64
	// StepTimeout bounds each call of the environment and of the verifier, zero means a minute; HookTimeout each call of a hook, zero
	// means ten seconds; EpisodeTimeout a whole rollout with the policy's time in it, zero means ten minutes. Negative means no bound.
	StepTimeout, HookTimeout, EpisodeTimeout time.Duration
	// Reruns is how often a rollout that infrastructure spoilt is played again from its beginning, with a new policy; nil means 2. What
	// would only fail again (a component, the setup) is not, unless it was late, and neither is one whose replay differed.
	Reruns *int
	// Kind goes into the traces; empty means [KindExploration].
	Kind string
	// Progress is told after each rollout how many are done, and of how many, 0 if that is not known, on the goroutine of the caller. Nil
	// means nobody asks.
	Progress func(done, total int)
}

// A batch is what the rollouts of one call have in common.
type batch struct {
	world      World
	components []Component
	newPolicy  func(slot int) (Policy, error)
	o          RolloutOptions
	reruns     int

	complete bool // all tasks were played
}

func newBatch(w World, components []Component, newPolicy func(slot int) (Policy, error), o *RolloutOptions) (*batch, error) {
	if o == nil {
		o = &RolloutOptions{}
	}
	b := &batch{world: w, components: slices.Clone(components), newPolicy: newPolicy, o: *o, reruns: defaultReruns}
	if o.Reruns != nil {
		b.reruns = *o.Reruns
	}
	if b.o.Kind == "" {
		b.o.Kind = KindExploration
	}
	for _, t := range []struct {
		d        *time.Duration
		fallback time.Duration
	}{{&b.o.StepTimeout, defaultStepTimeout}, {&b.o.HookTimeout, defaultHookTimeout}, {&b.o.EpisodeTimeout, defaultEpisodeTimeout}} {
		switch {
		case *t.d == 0:
			*t.d = t.fallback
		case *t.d < 0:
			*t.d = 0
		}
	}
	var errs []error
	if newPolicy == nil {
		errs = append(errs, errors.New("envharness: rollouts: newPolicy is nil"))
	}
	if o.Parallel < 0 || o.MaxTurns < 0 || b.reruns < 0 {
		errs = append(errs, fmt.Errorf("envharness: rollouts: Parallel %d, MaxTurns %d and Reruns %d must not be negative",
			o.Parallel, o.MaxTurns, b.reruns))
	}
	if _, err := New(w, components...); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return b, nil
}

// Rollouts lets policies play: one rollout for each entry of tasks, so a task listed K times is played K times. Every rollout gets a
// fresh environment of w, fresh hooks of the components (innermost first, as in [New]) and the policy newPolicy(slot), where slot
// is the index in tasks; newPolicy must be safe for concurrent use. The traces come back in the order of tasks, and do not depend
// on Parallel as long as each policy depends on its slot alone ([RandStream] with "policy/<slot>" gives it a stream of its own).
//
// An error of an environment, a component, a verifier or newPolicy, an [ErrInfra] of a policy, and a panic or a call that takes too long in
// any of them make the trace [Invalid], with the cause in it, and the others go on. Everything opened is closed. Code that hangs has its
// context cancelled, and its environment closed a second later; if it has not returned after another second, its goroutine is left behind,
// and the Cause says so. Else no goroutine outlives the call.
//
// When ctx is done Rollouts stops, and returns the traces that were completed (Slot tells which) with an error that wraps
// ctx.Err(). Any other error is a fault in the arguments, found before the start.
func Rollouts(
	ctx context.Context, w World, components []Component, newPolicy func(slot int) (Policy, error), tasks []Task, o *RolloutOptions,
) ([]Trace, error) {
	b, err := newBatch(w, components, newPolicy, o)
	if err != nil {
		return nil, err
	}
	traces := make([]*Trace, len(tasks))
	for slot, t := range b.play(ctx, slices.Values(tasks), len(tasks), len(tasks)) {
		traces[slot] = &t
	}
	completed := make([]Trace, 0, len(tasks))
	for _, t := range traces {
		if t != nil {
			completed = append(completed, *t)
		}
	}
	if len(completed) < len(tasks) {
		return completed, fmt.Errorf("envharness: rollouts: %d of %d completed: %w", len(completed), len(tasks), ctx.Err())
	}
	return completed, nil
}

// Stream is [Rollouts] for tasks that come one by one, or are too many to keep all traces: it plays them as they are pulled, and yields
// the traces in the order of the tasks, holding at most four for each of o.Parallel that wait for an earlier one. Leaving the loop stops
// and closes everything, and so does ctx, whose error is then the last thing yielded. The sequence can be ranged over again if tasks can.
//
// Loop and tasks take turns, so that tasks may depend on what the loop has noted of the traces so far, as a curriculum does; but they must
// not wait for a trace, and while they take their time nothing is yielded and ctx is not looked at.
func Stream(
	ctx context.Context, w World, components []Component, newPolicy func(slot int) (Policy, error), tasks iter.Seq[Task], o *RolloutOptions,
) iter.Seq2[Trace, error] {
	return func(yield func(Trace, error) bool) {
		b, err := newBatch(w, components, newPolicy, o)
		if err == nil && tasks == nil {
			err = errors.New("envharness: rollouts: tasks is nil")
		}
		if err != nil {
			yield(Trace{}, err)
			return
		}
		ahead := make(map[int]Trace)
		next := 0
		for slot, t := range b.play(ctx, tasks, 0, 4*min(max(b.o.Parallel, 1), 1<<20)) {
			ahead[slot] = t
			for t, ok := ahead[next]; ok; t, ok = ahead[next] {
				delete(ahead, next)
				next++
				if !yield(t, nil) {
					return
				}
			}
		}
		if !b.complete {
			yield(Trace{}, fmt.Errorf("envharness: rollouts: stopped after %d: %w", next, ctx.Err()))
		}
	}
}

// play yields the traces by slot as they are completed. No slot is begun that is window or more ahead of the first one that was not
// yielded. A total of 0 is unknown.
func (b *batch) play(ctx context.Context, tasks iter.Seq[Task], total, window int) iter.Seq2[int, Trace] {
	type job struct {
		slot int
		task Task
	}
	type played struct {
		slot  int
		trace Trace
	}
	return func(yield func(int, Trace) bool) {
		ctx, cancel := context.WithCancel(ctx)
		jobs, out := make(chan job), make(chan played)
		var workers sync.WaitGroup
		defer workers.Wait()
		defer close(jobs)
		defer cancel()
		pull, stop := iter.Pull(tasks)
		defer stop()
		work := func() {
			for j := range jobs {
				t := b.rollout(ctx, j.task, j.slot)
				if ctx.Err() != nil {
					return // what was cut short says nothing
				}
				select {
				case out <- played{j.slot, t}:
				case <-ctx.Done(): // the loop was left
					return
				}
			}
		}
		var (
			next    job // to be given to a worker, if it is ready
			ready   bool
			ended   bool             // no more tasks will come
			slots   int              // pulled so far
			first   int              // the first slot that was not yielded
			ahead   = map[int]bool{} // those after it that were
			done    int
			started int // workers
			busy    int // of them
		)
		took := func(p played) bool {
			busy--
			done++
			for ahead[p.slot] = true; ahead[first]; first++ {
				delete(ahead, first)
			}
			if b.o.Progress != nil {
				b.o.Progress(done, total)
			}
			return yield(p.slot, p.trace)
		}
		for {
			select { // what is finished first, as pulling a task may take long, or depend on it
			case p := <-out:
				if !took(p) {
					return
				}
				continue
			default:
			}
			if !ended && !ready && slots-first < max(window, 1) {
				task, ok := pull()
				if ended = !ok; ok {
					next, ready = job{slots, task}, true
					slots++
				}
			}
			if ended && !ready && done == slots {
				b.complete = true
				return
			}
			var give chan job
			if ready {
				give = jobs
				if busy == started && started < max(b.o.Parallel, 1) {
					workers.Go(work)
					started++
				}
			}
			select {
			case give <- next:
				ready = false
				busy++
			case p := <-out:
				if !took(p) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// rollout plays one slot, again if infrastructure spoilt it.
func (b *batch) rollout(ctx context.Context, task Task, slot int) Trace {
	for again := 0; ; again++ {
		t, hopeless := b.attempt(ctx, task, slot)
		t.Reruns = again
		if again == b.reruns || ctx.Err() != nil || hopeless {
			return t
		}
	}
}

// rerun reports whether another attempt may turn out otherwise. A verifier may be a service.
func (r EndReason) rerun() bool {
	return r == EndEnvError || r == EndTimeout || r == EndPolicyInfra || r == EndVerifierError
}

// attempt plays one episode on a goroutine of its own and gives it up if it is late. It is hopeless to play it again if it is valid, or if
// it would only fail again.
func (b *batch) attempt(ctx context.Context, task Task, slot int) (t Trace, hopeless bool) {
	t = Trace{Slot: slot, Kind: b.o.Kind, Task: copyTask(task)}
	if task.Seed != nil {
		t.Seed = *task.Seed
	} else {
		t.Seed = deriveSeed(b.o.Seed, "seed/task/"+task.ID, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &runner{
		batch: b, trace: t, watch: &watch{step: b.o.StepTimeout, hook: b.o.HookTimeout, since: time.Now()},
	}
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		r.run(ctx, t.Task)
	}()
	if b.wait(ctx, cancel, r, returned) {
		late := r.watch.gaveUp() != nil // and may have made it all the same
		return r.trace, r.tampered || !r.trace.End.rerun() && !(late && r.trace.End.Infra())
	}
	return r.abandon(ctx), false
}

// wait waits for an episode to return, cancels it when it takes too long, and reports whether it returned in the end.
func (b *batch) wait(ctx context.Context, cancel context.CancelCauseFunc, r *runner, returned <-chan struct{}) bool {
	var end time.Time
	now := time.Now()
	if b.o.EpisodeTimeout > 0 {
		end = now.Add(b.o.EpisodeTimeout)
	}
	left, _ := r.watch.check(now, end)
	timer := time.NewTimer(left)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-returned:
			return true
		case <-ctx.Done():
		case <-timer.C:
			left, late := r.watch.check(time.Now(), end)
			if late != nil {
				cancel(late)
			}
			timer.Reset(left)
		}
	}
	timer.Reset(grace)
	select {
	case <-returned:
		return true
	case <-timer.C:
	}
	closed := make(chan struct{})
	go func() { // Close may hang as well, and is not what the episode hangs in
		defer close(closed)
		r.close()
	}()
	timer.Reset(grace)
	for returned != nil || closed != nil {
		select {
		case <-returned:
			returned = nil
		case <-closed:
			closed = nil
		case <-timer.C:
			return false
		}
	}
	return true
}

// fail makes the trace Invalid.
func (t *Trace) fail(err error) {
	t.End = EndEnvError
	if f, ok := errors.AsType[*failure](err); ok {
		t.End = f.reason
	}
	t.Cause = err.Error()
	t.Verdict = Verdict{Reason: t.Cause}
}

// A runner plays one episode and keeps its trace.
type runner struct {
	*batch
	watch    *watch
	tampered bool // the replay differed

	mu        sync.Mutex // guards what follows against abandon and close
	h         *Harness
	trace     Trace
	abandoned bool
}

// close closes the environments of an episode that hangs.
func (r *runner) close() {
	r.mu.Lock()
	h := r.h
	r.mu.Unlock()
	if h != nil {
		_ = h.close(nil) // there is a worse error
	}
}

// note changes the trace, unless nobody waits for it any more.
func (r *runner) note(f func(t *Trace)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.abandoned {
		f(&r.trace)
	}
}

// abandon returns what there is of the trace of an episode that does not return.
func (r *runner) abandon(ctx context.Context) Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.abandoned = true
	t := r.trace
	t.fail(fmt.Errorf("%w; it did not return and was left behind", blame(ctx, EndTimeout, context.Cause(ctx))))
	return t
}

// run plays the episode, judges it and closes the harness, whatever foreign code does.
func (r *runner) run(ctx context.Context, task Task) {
	finished := false
	defer func() {
		switch p := recover(); {
		case p != nil: // there is foreign code in errors and in what they wrap
			r.note(func(t *Trace) { t.fail(&failure{EndEnvError, panicError{p}}) })
		case !finished:
			r.note(func(t *Trace) { t.fail(&failure{EndEnvError, errors.New("foreign code ended its goroutine")}) })
		}
		var err error
		if r.h != nil {
			err = r.h.Close()
		}
		r.note(func(t *Trace) {
			if f := r.watch.gaveUp(); f != nil { // whatever it returned afterwards
				t.fail(f)
			} else if err != nil && t.Cause == "" {
				t.Cause = "close: " + err.Error()
			}
		})
	}()
	if err := r.open(); err != nil {
		r.note(func(t *Trace) { t.fail(err) })
	} else if err := r.play(ctx, task); err != nil {
		r.note(func(t *Trace) { t.fail(err) })
	} else {
		r.judge(ctx)
	}
	finished = true
}

// open makes the harness.
func (r *runner) open() error {
	h, err := watched(r.watch, site{kind: siteBase, call: "components"}, func() (*Harness, error) { return New(r.world, r.components...) })
	if err != nil { // it passed before, so a component's Spec or Check is not constant
		return &failure{EndComponentError, err}
	}
	h.recording, h.watch = true, r.watch
	r.note(func(t *Trace) {
		r.h = h
		for _, l := range h.levels {
			t.Components = append(t.Components, l.spec)
		}
	})
	if r.h == nil {
		return errors.New("nobody waits")
	}
	return nil
}

// play runs the episode to its end. An error makes it Invalid.
func (r *runner) play(ctx context.Context, task Task) error {
	h := r.h
	policy, err := watched(h.watch, site{kind: sitePolicy}, func() (Policy, error) { return r.newPolicy(r.trace.Slot) })
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
	explainer, _ := policy.(Explainer)
	turn := Turn{}
	for h.phase == running {
		if ctx.Err() != nil {
			return h.fault(ctx, EndCanceled, "policy", ctx.Err())
		}
		turn.Shown, _ = copyObservation(obs) // checked where it came from
		turn.Index, turn.Tools, turn.Left = h.turn, slices.Clone(h.tools), h.left(h.turn)
		tt := TurnTrace{Left: turn.Left}
		tools := h.tools
		a, err := watched(h.watch, site{kind: sitePolicy}, func() (Action, error) {
			a, err := policy.Act(ctx, turn)
			if explainer != nil {
				tt.Said, tt.Tokens = explainer.Explain()
			}
			return a, err
		})
		var t *Transition
		switch {
		case err == nil:
			tt.Proposed = new(copyAction(a))
			t, err = h.step(ctx, a)
		case ctx.Err() == nil && errors.Is(err, ErrBadAction) && !errors.Is(err, ErrInfra):
			t, err = h.invalid(ctx, strings.TrimPrefix(err.Error(), ErrBadAction.Error()+": "))
		default:
			if tt.Said != "" || tt.Tokens != 0 {
				r.note(func(trace *Trace) { trace.Turns = append(trace.Turns, TurnTrace{Said: tt.Said, Tokens: tt.Tokens}) })
			}
			return r.policyEnds(ctx, err)
		}
		tt.Applied, tt.Raw, tt.Layers = h.applied, h.raw, h.takeLayers()
		if err == nil {
			tt.Shown = *t
			if !slices.EqualFunc(tools, h.tools, sameTool) {
				tt.Tools = h.tools
			}
		}
		r.note(func(trace *Trace) { trace.Turns = append(trace.Turns, tt) })
		if err != nil {
			return err
		}
		obs, turn.Error = t.Observation, copyError(t.Error)
	}
	return nil
}

func (r *runner) reset(ctx context.Context, task Task) (Observation, error) {
	h := r.h
	if err := h.open(ctx); err != nil { // to know the environment's limit
		return Observation{}, h.fault(ctx, EndEnvError, "open", err)
	}
	if m := r.o.MaxTurns; m > 0 && (h.maxTurns == 0 || m < h.maxTurns) {
		h.maxTurns = m
	}
	h.fallback = defaultMaxTurns
	obs, err := h.startEpisode(ctx, ResetOptions{Task: task.ID, Seed: new(r.trace.Seed), Options: task.Options})
	r.note(func(t *Trace) {
		t.Log, t.Layers, t.Shown, t.Tools = slices.Clone(h.log), h.takeLayers(), obs, h.tools
	})
	return obs, err
}

// policyEnds ends the episode with an error of the policy.
func (r *runner) policyEnds(ctx context.Context, err error) error {
	_, panicked := errors.AsType[panicError](err)
	if ctx.Err() != nil || panicked || errors.Is(err, ErrInfra) {
		return r.h.fault(ctx, EndPolicyInfra, "policy", err)
	}
	switch {
	case errors.Is(err, ErrStop):
		return r.h.stop(ctx, EndAgentStop)
	case errors.Is(err, ErrTokenBudget):
		return r.h.stop(ctx, EndTokenBudget)
	}
	r.note(func(t *Trace) { t.Cause = err.Error() })
	return r.h.stop(ctx, EndAgentError)
}

// judge fills in the verdict of an episode that came to its end.
func (r *runner) judge(ctx context.Context) {
	v, err := r.h.judge(ctx)
	r.tampered = errors.Is(err, ErrTamper)
	r.note(func(t *Trace) {
		t.End, t.Verdict = r.h.end, v
		switch {
		case err != nil:
			t.fail(err)
		case v.Status == Invalid: // the verifier's own word
			t.End, t.Cause = EndVerifierError, "envharness: verifier_error: "+v.Reason
		}
	})
}

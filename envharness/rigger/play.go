package rigger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A fatalError ends the run and not only the work on a task: the journal cannot be trusted any more.
type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// A maker makes the policy of one rollout.
type maker = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error)

// player plays n rollouts of a task behind components, those of the journal not again, and returns them in the order of their slots. The
// name says what they are for and is unique in the work on a task ("baseline", "3/confirm", "3/null/random"); rollout i of it, counted
// from from, draws from a stream of its own, and has Slot i and the name as its Kind. Who counts the cost is the caller. What goes wrong
// in a rollout makes it Invalid; the error is one of the context or of the journal.
type player func(ctx context.Context, name string, stack []envharness.Component, newPolicy maker, from, n int) ([]envharness.Trace, error)

// A Play is a group of rollouts of the policy on one task; see [Rollouts].
type Play struct {
	Name  string             // what they are for: it names the policy's streams, and is part of the key in the journal; not empty
	Kind  string             // of the traces; empty means envharness.KindExploration
	Task  envharness.Task    // a nil Seed is replaced as in [Problem]
	Stack []components.Entry // innermost first; nil means the unmodified task
	N     int                // how many, 1 to 10000
	// Reference plays the reference policy in place of the policy.
	Reference bool
}

// Rollouts plays rollouts as [Rig] does, to measure accepted items again or tasks that were held out: with the same seeds and streams, as
// many at once, and those of the journal not again. Of the options it takes Seed, Rollout and Journal, and of the problem all but Tasks
// and Edges. The traces come back in the order of their slots, from 0 to N-1, and do not depend on Rollout.Parallel; those that
// infrastructure spoilt are Invalid.
//
// Two rollouts with equal world, task, seeds, stack, Fingerprint, Name and slot are one in a journal, so that an empty Fingerprint with a
// Journal is a fault. Faults of the arguments are joined; any other error is one of the context or of the journal.
func Rollouts(ctx context.Context, p Problem, o *Options, g Play) ([]envharness.Trace, error) {
	if o == nil {
		o = &Options{}
	}
	var faults []error
	newPolicy := p.NewPolicy
	if g.Reference {
		newPolicy = p.NewReference
	}
	if newPolicy == nil {
		faults = append(faults, errors.New("rigger: rollouts: there is no policy"))
	}
	if g.Name == "" {
		faults = append(faults, errors.New("rigger: rollouts: Name is empty"))
	}
	switch {
	case g.N < 1:
		faults = append(faults, fmt.Errorf("rigger: rollouts: N is %d, want at least 1", g.N))
	case g.N > mostPlayed:
		faults = append(faults, fmt.Errorf("rigger: rollouts: N is %d, want at most %d", g.N, mostPlayed))
	}
	faults = append(faults, p.journalled(o.Journal))
	registry := p.Registry
	if registry == nil {
		registry = components.Catalogue()
	}
	stack, err := registry.Stack(g.Stack...)
	faults = append(faults, err, checkRollout(o.Rollout), checkTask(g.Task), checkWorld(p.World))
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	about, err := aboutWorld(ctx, p.World, o.Rollout)
	if err != nil {
		return nil, err
	}
	key, err := aboutKey(about)
	if err != nil {
		return nil, err
	}
	t := &table{
		world: p.World, about: key, registry: registry, task: seeded(g.Task, o.Seed), fingerprint: p.Fingerprint, seed: o.Seed,
		kind: cmp.Or(g.Kind, envharness.KindExploration), options: o.Rollout, journal: o.Journal,
	}
	name := "play/" + g.Name // apart from those of Rig
	if g.Reference {
		name = "reference/" + name
	}
	return t.play(ctx, name, stack, newPolicy, 0, g.N)
}

// A table is where the rollouts of one task are played.
type table struct {
	world       envharness.World
	about       string // hash of the description of the world
	registry    *components.Registry
	task        envharness.Task // with its seed
	fingerprint string
	seed        uint64 // of the run
	kind        string // of the traces; empty means the name of the rollouts
	options     envharness.RolloutOptions
	journal     *Journal
	progress    func(name string, done, total int) // on the goroutine of the caller; nil means nobody asks
}

// play is a [player].
func (t *table) play(
	ctx context.Context, name string, stack []envharness.Component, newPolicy maker, from, n int,
) ([]envharness.Trace, error) {
	if n <= 0 {
		return nil, ctx.Err()
	}
	type result struct {
		slot  int
		trace envharness.Trace
		err   error
	}
	var (
		next    atomic.Int64 // the slot to take
		workers = min(max(t.options.Parallel, 1), n)
		results = make(chan result, n+workers) // room for all: nobody waits for a reader that is gone, as after a panic in progress
	)
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for range workers {
		go func() {
			defer func() { results <- result{slot: -1} }() // also if foreign code ends the goroutine
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				trace, err := t.rollout(ctx, name, stack, newPolicy, from+i)
				results <- result{i, trace, err}
			}
		}()
	}
	traces := make([]envharness.Trace, n)
	done := 0
	for workers > 0 {
		switch r := <-results; {
		case r.slot < 0:
			workers--
		case r.err != nil:
			cancel(&fatalError{r.err}) // the first cause stays
		default:
			traces[r.slot] = r.trace
			if done++; t.progress != nil && ctx.Err() == nil {
				t.progress(name, done, n)
			}
		}
	}
	if done == n {
		return traces, nil
	}
	err := context.Cause(ctx)
	switch canceled := outer.Err(); {
	case err == nil:
		err = errors.New("foreign code ended its goroutine")
	case canceled != nil && !errors.Is(err, canceled): // a cause of the caller's own
		err = fmt.Errorf("%w: %w", canceled, err)
	}
	return nil, fmt.Errorf("rigger: task %q: %s: %d of %d rollouts: %w", t.task.ID, name, done, n, err)
}

// rollout plays one rollout, or finds it in the journal. What comes back has gone through the form of a journal in both cases, so that a run
// that is resumed sees the same bytes.
func (t *table) rollout(
	ctx context.Context, name string, stack []envharness.Component, newPolicy maker, slot int,
) (envharness.Trace, error) {
	key, err := t.key(name, stack, slot)
	if err != nil {
		return t.spoilt(name, slot, err), nil
	}
	trace, found, err := t.journal.lookupTrace(key)
	if err != nil || found {
		trace.Kind = t.kindOf(name) // not in the key
		return trace, err
	}
	trace, err = t.once(ctx, name, stack, newPolicy, slot)
	if ctx.Err() != nil && (err != nil || trace.Verdict.Status == envharness.Invalid) {
		return envharness.Trace{}, context.Cause(ctx) // what was cut short says nothing
	}
	if err != nil {
		return t.spoilt(name, slot, err), nil
	}
	trace.Slot = slot
	journal := t.journal
	if trace.Verdict.Status == envharness.Invalid {
		journal = nil // what infrastructure spoilt is played again when the run is resumed
	}
	return journal.recordTrace(key, trace)
}

// once plays the rollout, whatever foreign code does before it begins.
func (t *table) once(
	ctx context.Context, name string, stack []envharness.Component, newPolicy maker, slot int,
) (trace envharness.Trace, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("rigger: panic: %v", p)
		}
	}()
	o := t.options
	o.Parallel, o.Kind, o.Progress = 1, t.kindOf(name), nil
	path := streamPath(t.task, name)
	policy := func(int) (envharness.Policy, error) {
		return newPolicy(cloneTask(t.task), envharness.RandStream(t.seed, path, uint64(slot)))
	}
	traces, err := envharness.Rollouts(ctx, t.world, stack, policy, []envharness.Task{t.task}, &o)
	if err != nil {
		return envharness.Trace{}, err
	}
	return traces[0], nil
}

// key returns the key of a rollout: all that it depends on. Limits on time are not in it, as they say nothing about what is to be expected.
func (t *table) key(name string, stack []envharness.Component, slot int) (key string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("rigger: panic in Spec: %v", p)
		}
	}()
	entries, err := t.registry.Entries(stack...) // with the versions of their kinds
	if err != nil {
		return "", fmt.Errorf("rigger: %w", err)
	}
	return journalKey("rollout", t.about, t.task, entries, t.fingerprint, name, slot, t.seed, t.options.MaxTurns)
}

// kindOf returns the kind of the traces.
func (t *table) kindOf(name string) string { return cmp.Or(t.kind, name) }

// spoilt returns the trace of a rollout that did not come about.
func (t *table) spoilt(name string, slot int, cause error) envharness.Trace {
	return envharness.Trace{
		Slot: slot, Kind: t.kindOf(name), Task: t.task, Seed: *t.task.Seed, End: envharness.EndComponentError, Cause: cause.Error(),
		Verdict: envharness.Verdict{Reason: cause.Error()},
	}
}

// streamPath is the path of the random streams of rollouts.
func streamPath(task envharness.Task, name string) string {
	return fmt.Sprintf("rigger/%s/%d/%s", task.ID, *task.Seed, name)
}

// Count counts rollouts that could be judged, and the turns and tokens that all of them took, without those of attempts that were spoilt and
// played again, which no trace has; the other fields of the cost are 0.
func Count(traces []envharness.Trace) (Tally, Cost) {
	var (
		t Tally
		c Cost
	)
	for i := range traces {
		switch traces[i].Verdict.Status {
		case envharness.Pass:
			t.Pass++
			t.Valid++
		case envharness.Fail:
			t.Valid++
		}
		c.Turns += turnsOf(&traces[i])
		for _, u := range traces[i].Turns {
			c.Tokens += u.Tokens
		}
	}
	return t, c
}

// paid is how many rollouts were played for the traces: those that were spoilt and played again were paid for as well.
func paid(traces []envharness.Trace) int {
	n := len(traces)
	for i := range traces {
		n += traces[i].Reruns
	}
	return n
}

// tally is Count without the cost.
func tally(traces []envharness.Trace) Tally {
	t, _ := Count(traces)
	return t
}

// turnsOf counts the turns of an episode. An answer with which the policy ended it is none.
func turnsOf(t *envharness.Trace) int {
	n := 0
	for i := range t.Turns {
		if u := &t.Turns[i]; u.Proposed != nil || u.Shown.Error != nil || u.Shown.Ended() {
			n++
		}
	}
	return n
}

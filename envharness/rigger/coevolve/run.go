package coevolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/plr"
)

// Run alternates rigging and training, and yields each round when it is done: first round 0, the policy as it comes, and then one round
// after the other until Rounds are done, the held-out success rate fell twice in a row, or the loop is left. The error is one of the
// problem, the options, the context, the journal, a world that fails, or Train; the sequence ends after it. Each use of the sequence is a
// run from the beginning.
func Run(ctx context.Context, p Problem, o *Options) iter.Seq2[Round, error] {
	return func(yield func(Round, error) bool) {
		l, err := newLoop(p, o)
		if err != nil {
			yield(Round{}, err)
			return
		}
		for number := 0; number <= l.Rounds; number++ {
			r, err := l.round(ctx, number)
			if err != nil {
				yield(Round{}, fmt.Errorf("coevolve: round %d: %w", number, err))
				return
			}
			if !yield(r, nil) || r.Stop != "" {
				return
			}
		}
	}
}

// A loop is one run.
type loop struct {
	settings
	problem  Problem
	registry *components.Registry
	tasks    []envharness.Task // with seeds
	heldOut  []envharness.Task // likewise

	policy Policy
	used   map[string]int // rounds by the fingerprints of their policies
	items  []*entry       // in the pool, in the order in which they were accepted
	replay *plr.Buffer[string]
	turn   int     // index of the task that is rigged next
	rate   float64 // held-out, of the round before
	falls  int     // in a row
}

// An entry is an item in the pool.
type entry struct {
	item   rigger.Item
	key    string       // of the replay
	counts rigger.Tally // of the latest measurement
	misses int
}

func newLoop(p Problem, o *Options) (*loop, error) {
	s, err := o.settings()
	if problem := p.check(); problem != nil || err != nil {
		return nil, errors.Join(problem, err)
	}
	if err := s.rig.Check(p.Rig); err != nil { // else they would come up after the held-out rollouts of round 0
		return nil, fmt.Errorf("coevolve: Options.Rig: %w", err)
	}
	l := &loop{settings: s, problem: p, registry: p.Rig.Registry}
	if l.registry == nil {
		l.registry = components.Catalogue()
	}
	if l.replay, err = plr.New[string](s.Replay); err != nil {
		return nil, err
	}
	l.tasks, l.heldOut = l.seeded(p.Rig.Tasks), l.seeded(p.HeldOut)
	l.policy = Policy{New: p.Rig.NewPolicy, Fingerprint: p.Rig.Fingerprint}
	l.used = map[string]int{l.policy.Fingerprint: 0}
	return l, nil
}

// seeded gives tasks their seeds, which stay while the seed of the rigging changes from round to round.
func (l *loop) seeded(tasks []envharness.Task) []envharness.Task {
	out := slices.Clone(tasks)
	for i, t := range out {
		if t.Seed == nil {
			out[i].Seed = new(envharness.RandStream(l.rig.Seed, "coevolve/task/"+t.ID, 0).Uint64())
		}
	}
	return out
}

// round does one round; number 0 only evaluates.
func (l *loop) round(ctx context.Context, number int) (Round, error) {
	r := Round{Number: number}
	if number > 0 {
		for _, step := range []func(context.Context, *Round) error{l.measure, l.rigging, l.train} {
			if err := step(ctx, &r); err != nil {
				return r, err
			}
		}
	}
	r.Policy, r.Fingerprint = l.policy, l.policy.Fingerprint
	if err := l.evaluate(ctx, &r); err != nil {
		return r, err
	}
	return r, nil
}

// play plays rollouts with the present policy, whose random streams belong to the round, what they are for, and the task.
func (l *loop) play(
	ctx context.Context, r *Round, what, kind string, task envharness.Task, stack []components.Entry, n int, count *int,
) ([]envharness.Trace, rigger.Tally, error) {
	traces, err := rigger.Rollouts(ctx, l.present(nil), &l.rig, rigger.Play{
		Name: fmt.Sprintf("coevolve/%d/%s", r.Number, what), Kind: kind, Task: task, Stack: stack, N: n,
	})
	if err != nil {
		return nil, rigger.Tally{}, err
	}
	counts, cost := rigger.Count(traces)
	*count += len(traces)
	r.Cost.Turns += cost.Turns
	r.Cost.Tokens += cost.Tokens
	return traces, counts, nil
}

// present is the problem of the rigger with the present policy.
func (l *loop) present(tasks []envharness.Task) rigger.Problem {
	p := l.problem.Rig
	p.Tasks, p.NewPolicy, p.Fingerprint, p.Registry = tasks, l.policy.New, l.policy.Fingerprint, l.registry
	return p
}

// measure plays the items again, and retires those that are no longer of use.
func (l *loop) measure(ctx context.Context, r *Round) error {
	kept := make([]*entry, 0, len(l.items))
	for i, e := range l.items {
		_, counts, err := l.play(ctx, r, "measure/"+e.item.Hash, "measure", e.item.Task, e.item.Stack, l.Measure, &r.Cost.Measure)
		if err != nil {
			return err
		}
		if counts.Valid == l.Measure { // else it says too little, and nothing changes
			e.counts = counts
			e.misses++
			if rate := counts.Rate(); rate >= l.Keep.Lo-tolerance && rate <= l.Keep.Hi+tolerance {
				e.misses = 0
			}
		}
		r.Measured = append(r.Measured, Measurement{Task: e.item.Task.ID, Hash: e.item.Hash, Counts: counts, Misses: e.misses})
		if e.misses >= retireAfter {
			l.replay.Remove(e.key)
			r.Retired = append(r.Retired, e.item)
		} else {
			kept = append(kept, e)
		}
		l.tell(r.Number, "measure", i+1, len(l.items))
	}
	l.items = kept
	return l.weigh()
}

// tolerance keeps bounds like 0.1 from excluding 1 of 10 by rounding.
const tolerance = 1e-9

// weigh gives the replay the scores of the items.
func (l *loop) weigh() error {
	for _, e := range l.items {
		p := e.counts.Rate()
		if _, err := l.replay.Put(e.key, p*(1-p)+leastWeight); err != nil {
			return err
		}
	}
	return nil
}

// rigging looks for new items.
func (l *loop) rigging(ctx context.Context, r *Round) error {
	tasks := l.selected()
	l.tell(r.Number, "rig", 0, len(tasks))
	if len(tasks) > 0 {
		o := l.rig
		o.Seed = envharness.RandStream(l.rig.Seed, "coevolve/rig", uint64(r.Number)).Uint64() // else a drawing designer proposes the same again
		report, err := rigger.Rig(ctx, l.present(tasks), &o)
		if err != nil {
			return err
		}
		r.Report, r.Cost.Rigging = report, report.Cost
		for _, item := range report.Items {
			l.accept(item)
		}
	}
	l.tell(r.Number, "rig", len(tasks), len(tasks))
	for _, e := range l.items {
		r.Items = append(r.Items, e.item)
	}
	return l.weigh()
}

// accept puts an item into the pool, unless it is in there or has no rate.
func (l *loop) accept(item rigger.Item) {
	key := item.Task.ID + "/" + item.Hash
	known := slices.ContainsFunc(l.items, func(e *entry) bool { return e.key == key })
	if known || item.RedTeam && !l.RedTeam {
		return
	}
	e := &entry{item: item, key: key, counts: item.Counts}
	if e.counts.Valid < 1 { // accepted without a rollout: all that is known is nothing
		e.counts = rigger.Tally{Pass: 1, Valid: 2}
	}
	l.items = append(l.items, e)
}

// selected returns the tasks to rig, in turn.
func (l *loop) selected() []envharness.Task {
	most := cmp.Or(l.Tasks, len(l.tasks))
	var out []envharness.Task
	for range l.tasks {
		t := l.tasks[l.turn]
		if len(out) == most {
			break
		}
		l.turn = (l.turn + 1) % len(l.tasks)
		n := 0
		for _, e := range l.items {
			if e.item.Task.ID == t.ID {
				n++
			}
		}
		if n < cmp.Or(l.rig.Accept, 1) {
			out = append(out, t)
		}
	}
	return out
}

// train draws from the pool and calls Train.
func (l *loop) train(ctx context.Context, r *Round) error {
	b := Batch{
		Round:  r.Number,
		Seed:   envharness.RandStream(l.rig.Seed, "coevolve/train", uint64(r.Number)).Uint64(),
		Policy: l.policy,
	}
	pool, draws, err := l.draw(r.Number)
	if err != nil {
		return err
	}
	b.Pool = pool
	for _, i := range draws {
		b.Draws = append(b.Draws, pool[i])
		switch m := pool[i]; {
		case m.Unmodified():
			r.Drawn.Unmodified++
		case m.Aid:
			r.Drawn.Aided++
		default:
			r.Drawn.Items++
		}
	}
	if l.Play {
		if b.Traces, err = l.explore(ctx, r, pool, draws); err != nil {
			return err
		}
	}
	l.tell(r.Number, "train", 0, 0)
	next, err := l.problem.Train(ctx, b)
	switch {
	case err != nil:
		return fmt.Errorf("train: %w", err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case next.New == nil:
		return errors.New("train returned a policy without New")
	case next.Fingerprint == "":
		return fmt.Errorf("%w: it is empty", ErrFingerprint)
	}
	if earlier, ok := l.used[next.Fingerprint]; ok && next.Fingerprint != l.policy.Fingerprint {
		return fmt.Errorf("%w: %q is that of round %d", ErrFingerprint, next.Fingerprint, earlier)
	}
	l.used[next.Fingerprint] = r.Number
	l.policy = next
	return nil
}

// explore plays an episode of each draw.
func (l *loop) explore(ctx context.Context, r *Round, pool []Member, draws []int) ([]envharness.Trace, error) {
	traces := make([]envharness.Trace, len(draws))
	var e Explored
	done := 0
	for i, m := range pool {
		var places []int
		for at, drawn := range draws {
			if drawn == i {
				places = append(places, at)
			}
		}
		if len(places) == 0 {
			continue
		}
		played, counts, err := l.play(ctx, r, "explore/"+m.Hash, envharness.KindExploration, m.Task, m.Stack, len(places), &r.Cost.Explore)
		if err != nil {
			return nil, err
		}
		for n, at := range places {
			traces[at] = played[n]
			traces[at].Slot = at
		}
		into := &e.Items
		switch {
		case m.Unmodified():
			into = &e.Unmodified
		case m.Aid:
			into = &e.Aided
		}
		into.Pass += counts.Pass
		into.Valid += counts.Valid
		done += len(places)
		l.tell(r.Number, "explore", done, len(draws))
	}
	r.Explored = &e
	return traces, nil
}

// evaluate plays the held-out tasks.
func (l *loop) evaluate(ctx context.Context, r *Round) error {
	for i, t := range l.heldOut {
		_, counts, err := l.play(ctx, r, "held-out", "held-out", t, nil, l.Evaluate, &r.Cost.HeldOut)
		if err != nil {
			return err
		}
		r.HeldOut.Pass += counts.Pass
		r.HeldOut.Valid += counts.Valid
		l.tell(r.Number, "evaluate", i+1, len(l.heldOut))
	}
	if r.HeldOut.Valid == 0 {
		return fmt.Errorf("%w: none of %d on held-out tasks", envharness.ErrInsufficient, r.Cost.HeldOut)
	}
	interval, err := r.HeldOut.Interval(level)
	if err != nil {
		return err
	}
	rate := r.HeldOut.Rate()
	r.HalfWidth = (interval.Hi - interval.Lo) / 2
	r.Fell = r.Number > 0 && l.rate-rate > r.HalfWidth+tolerance
	l.rate = rate
	if !r.Fell {
		l.falls = 0
		return nil
	}
	if l.falls++; l.falls >= stopAfter {
		r.Stop = "held-out success fell in " + strconv.Itoa(stopAfter) + " rounds in a row"
	}
	return nil
}

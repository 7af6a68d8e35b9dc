package rigger

import (
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// Rig works on the tasks of the problem, one after the other, and reports what was accepted; see the package comment for the steps.
//
// Whatever goes wrong with one task, in foreign code too, ends the work on that task alone, and its report says how. The error is one of the
// problem and the options, all of whose faults are joined and found before a rollout is paid ([ErrBandUnreachable] among them); of a world
// that cannot be opened, does not describe itself well or does not answer within Rollout.StepTimeout; of the journal; or of the context. What
// was paid until then is in the journal.
func Rig(ctx context.Context, p Problem, o *Options) (*Report, error) {
	s, err := settle(p, o)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("rigger: %w", err)
	}
	var about envharness.Description
	if err := again(ctx, s.reruns(), func() (err error) {
		about, err = aboutWorld(ctx, p.World, s.Rollout)
		return err
	}); err != nil {
		return nil, err
	}
	world, err := aboutKey(about)
	if err != nil {
		return nil, err
	}
	registry, err := registryKey(s.registry)
	if err != nil {
		return nil, err
	}
	r := &run{
		settings: s, problem: p, about: about, world: world, kinds: registry, archive: archive{axes: make(map[envharness.Axis]int)},
		at: Progress{Tasks: len(p.Tasks)},
	}
	report := &Report{Items: []Item{}}
	for i, task := range p.Tasks {
		r.at = Progress{Task: i, Tasks: len(p.Tasks), ID: task.ID}
		t, items, err := r.work(ctx, seeded(task, s.Seed))
		if err != nil {
			return nil, err
		}
		report.Tasks = append(report.Tasks, t)
		report.Items = append(report.Items, items...)
		report.Cost = report.Cost.plus(t.Cost)
	}
	r.at = Progress{Task: len(p.Tasks), Tasks: len(p.Tasks)}
	r.tell()
	return report, nil
}

// again calls f until it returns no error, at most once more than given.
func again(ctx context.Context, more int, f func() error) error {
	for {
		err := f()
		if err == nil || more == 0 || ctx.Err() != nil {
			return err
		}
		more--
	}
}

// A run is one call of Rig.
type run struct {
	*settings
	problem Problem
	about   envharness.Description
	world   string // hash of about
	kinds   string // hash of what the registry says of its kinds
	archive archive
	at      Progress
	before  int // rollouts of the phase that earlier calls of a player have done
	total   int // rollouts of the phase, where a player plays a part of them
	telling bool
}

// phase tells that a phase begins.
func (r *run) phase(attempt int, name string, total int) {
	r.at.Attempt, r.at.Phase, r.at.Done, r.at.Total = attempt, name, 0, total
	r.before, r.total = 0, total
	r.tell()
}

func (r *run) tell() {
	if r.Progress != nil {
		r.telling = true
		r.Progress(r.at)
		r.telling = false
	}
}

// fatal reports whether an error ends the run and not only the work on a task.
func fatal(ctx context.Context, err error) bool {
	_, journal := errors.AsType[*fatalError](err)
	return journal || ctx.Err() != nil
}

// work does all that is to be done with one task. The error ends the run.
func (r *run) work(ctx context.Context, task envharness.Task) (TaskReport, []Item, error) {
	j := &job{run: r, report: TaskReport{Task: task}}
	j.table = &table{
		world: r.problem.World, about: r.world, registry: r.registry, task: task, fingerprint: r.problem.Fingerprint, seed: r.Seed, options: r.Rollout,
		journal: r.Journal, progress: func(_ string, done, total int) {
			r.at.Done, r.at.Total = r.before+done, max(total, r.total)
			r.tell()
		},
	}
	err := r.isolate(func() error { return j.do(ctx) })
	if err != nil && fatal(ctx, err) {
		if canceled := ctx.Err(); canceled != nil && !errors.Is(err, canceled) {
			err = fmt.Errorf("%w: %w", canceled, err)
		}
		return j.report, nil, err
	}
	if err != nil {
		j.end(Broken, err.Error())
	}
	if len(j.items) > 0 {
		j.report.Outcome = Accepted
	}
	for i := range j.report.Attempts {
		a := &j.report.Attempts[i]
		a.Traces = nil // those of all tasks would be too many
	}
	return j.report, j.items, nil
}

// isolate makes an error of a panic of foreign code, such as an objective, but not of one in Progress, which is the caller's own.
func (r *run) isolate(f func() error) (err error) {
	defer func() {
		if r.telling {
			return
		}
		if p := recover(); p != nil {
			err = fmt.Errorf("rigger: panic: %v", p)
		}
	}()
	return f()
}

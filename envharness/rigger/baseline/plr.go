package baseline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/plr"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// PLR is Prioritized Level Replay (arXiv:2010.03934) over random components. A level is a task with components as [Random] draws them.
// Again and again either a new level is made, of one task after the other, or one is drawn from the buffer (package plr); it is played, and
// what there is to learn on it is its new score. In the end the best levels of the buffer are accepted.
//
// In the paper the agent learns from the levels as they are played; here the policy stays what it is (ours), as for the other procedures. A
// new level with a score of 0 does not come into the buffer (ours): few levels are played here, and one of them again would teach nothing.
type PLR struct {
	// Score says by its Score how much there is to learn on a level, negative ones counting as 0. Nil means [rigger.Learnability], p(1-p);
	// another one is [rigger.Regret].
	Score      rigger.Objective
	Replay     *float64 // probability to play a level of the buffer, if it has any, in [0, 1]; nil means 0.5
	Components int      // in a level, at most 8; zero means 1
	// Buffer adjusts the replay; nil means rank, with Beta and Rho as in the paper, and no limit on the levels.
	Buffer *plr.Options
}

// Run has the signature of [rigger.Rig]. Of the options it takes
//
//   - Seed, Rollout, Journal, and Progress, which is told the number of the task at hand, its attempt and phase; no task is done before the end
//   - Baseline, for the direction in which components are drawn, and RigInBand
//   - Screen, the rollouts of a level each time that it is played
//   - Attempts and Budget, which all tasks have in common here, so many for each
//   - Accept, the most items of a task
//   - Objective, to find out which tasks are left alone and which are too hard
//
// and all others are of no use to it. As in Rig the reference policy plays whatever the policy plays, if
// Score or Objective says by a method UsesReference() bool that it looks at that.
//
// An attempt of the report is one level played once, with the decision Accept if the level is an item; a level that was played more than
// once is several attempts. Counts of an item are those of the last time. Levels with a score of 0 are not accepted.
func (d PLR) Run(ctx context.Context, p rigger.Problem, o *rigger.Options) (*rigger.Report, error) {
	r, err := d.newRun(p, o)
	if err != nil {
		return nil, err
	}
	for i := range r.tasks {
		if err := r.begin(ctx, i); err != nil {
			return nil, err
		}
	}
	rng := envharness.RandStream(r.o.Seed, "baseline/plr", 0)
	next := 0
	for range r.o.Attempts * len(r.tasks) {
		if !r.fits() {
			r.over = true
			break
		}
		var at *level
		if r.buffer.Len() > 0 && rng.Float64() < r.replay {
			at = r.again(rng)
		} else if at, next, err = r.fresh(ctx, next); err != nil {
			return nil, err
		}
		if at == nil {
			at = r.again(rng)
		}
		if at == nil {
			break // nothing can be drawn for any task
		}
		if err := r.play(ctx, at); err != nil {
			return nil, err
		}
	}
	return r.report(), nil
}

// again draws a level from the buffer; nil if it is empty.
func (r *plrRun) again(rng *rand.Rand) *level {
	key, _ := r.buffer.Draw(rng)
	return r.levels[key]
}

// A plrRun is one run of [PLR].
type plrRun struct {
	designer Random
	replay   float64
	p        rigger.Problem
	o        rigger.Options
	score    rigger.Objective // of levels
	place    rigger.Objective // of unmodified tasks
	buffer   *plr.Buffer[string]
	levels   map[string]*level
	tasks    []plrTask
	cost     rigger.Cost
	over     bool // the budget

	reference bool // the reference policy plays too
}

// A plrTask is a task with what its levels are drawn from.
type plrTask struct {
	rigger.TaskReport
	brief rigger.Brief
	open  bool // levels may be drawn for it
	drawn int
}

// A level is a task with components.
type level struct {
	task   int
	c      rigger.Candidate
	key    string
	hash   string
	words  []string
	counts rigger.Tally
	score  float64
	plays  int
}

func (d PLR) newRun(p rigger.Problem, o *rigger.Options) (*plrRun, error) {
	r := &plrRun{designer: Random{Components: d.Components}, replay: 0.5, p: p, levels: make(map[string]*level)}
	if o != nil {
		r.o = *o
	}
	var errs []error
	number := func(name string, n *int, fallback int) {
		if *n < 0 {
			errs = append(errs, fmt.Errorf("baseline: PLR: %s %d, want >= 0", name, *n))
		}
		*n = cmp.Or(*n, fallback)
	}
	number("Baseline", &r.o.Baseline, 5)
	number("Screen", &r.o.Screen, 5)
	number("Attempts", &r.o.Attempts, 5)
	number("Accept", &r.o.Accept, 1)
	number("Budget.Rollouts", &r.o.Budget.Rollouts, 200)
	number("Budget.Turns", &r.o.Budget.Turns, 0)
	number("Budget.Tokens", &r.o.Budget.Tokens, 0)
	if d.Replay != nil {
		r.replay = *d.Replay
	}
	if !(r.replay >= 0 && r.replay <= 1) {
		errs = append(errs, fmt.Errorf("baseline: PLR: Replay %v, want 0 to 1", r.replay))
	}
	if d.Components < 0 || d.Components > maxComponents {
		errs = append(errs, fmt.Errorf("baseline: PLR: %d components, want 0 to %d", d.Components, maxComponents))
	}
	r.score, r.place = d.Score, r.o.Objective
	if r.score == nil {
		r.score = rigger.Learnability{}
	}
	if r.place == nil {
		r.place = rigger.Difficulty{}
	}
	for _, o := range []rigger.Objective{r.score, r.place} {
		if c, ok := o.(interface{ Check() error }); ok {
			errs = append(errs, c.Check())
		}
		if u, ok := o.(interface{ UsesReference() bool }); ok && u.UsesReference() {
			if r.reference = true; p.NewReference == nil {
				errs = append(errs, fmt.Errorf("baseline: PLR: NewReference is nil, and an objective uses it: %v", o))
			}
		}
	}
	if p.NewPolicy == nil {
		errs = append(errs, errors.New("baseline: PLR: no NewPolicy"))
	}
	if p.World.New == nil {
		errs = append(errs, errors.New("baseline: PLR: no world"))
	}
	if len(p.Tasks) == 0 {
		errs = append(errs, errors.New("baseline: PLR: no tasks"))
	}
	if r.o.Journal != nil && p.Fingerprint == "" {
		errs = append(errs, errors.New("baseline: PLR: no Fingerprint, by which a journal tells policies apart"))
	}
	if r.p.Registry == nil {
		r.p.Registry = components.Catalogue()
	}
	var err error
	r.buffer, err = plr.New[string](d.Buffer)
	r.tasks = make([]plrTask, len(p.Tasks))
	return r, errors.Join(append(errs, err)...)
}

// begin plays the unmodified task and writes the brief of its levels.
func (r *plrRun) begin(ctx context.Context, i int) error {
	t := &r.tasks[i]
	t.Task = r.p.Tasks[i]
	r.tell(i, 0, "baseline")
	traces, counts, reference, cost, err := r.measure(ctx, t.Task, "baseline", "baseline", nil, r.o.Baseline)
	if err != nil {
		return err
	}
	cost.Baseline = len(traces)
	r.pay(i, cost)
	t.Task.Seed = new(traces[0].Seed)
	t.Baseline.Tally = counts
	if counts.Valid < r.o.Baseline {
		t.Outcome, t.Reason = rigger.Infra, fmt.Sprintf("%d of %d rollouts of the baseline could be judged", counts.Valid, r.o.Baseline)
		return nil
	}
	placement := r.place.Place(rigger.Measure{Baseline: counts, Counts: counts, Reference: reference})
	if placement == rigger.Within && !r.o.RigInBand {
		t.Outcome = rigger.InBand
		return nil
	}
	t.open = true
	t.brief = rigger.Brief{
		Task: t.Task, Text: traces[0].Shown.Text, Registry: r.p.Registry, Direction: components.Harder, Objective: r.score.String(),
		Baseline: t.Baseline,
	}
	if placement == rigger.TooHard || placement == rigger.Within && counts.Rate() < 0.5 {
		t.brief.Direction = components.Easier
	}
	for n := range traces {
		trace := &traces[n]
		switch trace.Verdict.Status {
		case envharness.Pass:
			if s := t.brief.Success; s == nil || len(trace.Turns) < len(s.Turns) {
				t.brief.Success = trace
			}
		case envharness.Fail:
			if f := t.brief.Failure; f == nil || len(trace.Turns) > len(f.Turns) {
				t.brief.Failure = trace
			}
		}
	}
	if t.brief.World, err = describe(ctx, r.p.World); err != nil {
		return err
	}
	if plan, err := yardstick.Plan(ctx, r.p.World, t.Task); err == nil {
		t.brief.Plan = plan
	}
	return ctx.Err()
}

func describe(ctx context.Context, w envharness.World) (envharness.Description, error) {
	env, err := w.New(ctx)
	if err != nil {
		return envharness.Description{}, fmt.Errorf("baseline: PLR: %w", err)
	}
	defer env.Close()
	if d, ok := envharness.As[envharness.Describer](env); ok {
		return d.Describe(), nil
	}
	return envharness.Description{}, nil
}

// fits reports whether one more level can be played.
func (r *plrRun) fits() bool {
	n := len(r.tasks)
	price := r.o.Screen
	if r.reference {
		price *= 2
	}
	b := r.o.Budget
	return r.cost.Rollouts()+price <= b.Rollouts*n &&
		(b.Turns == 0 || r.cost.Turns < b.Turns*n) && (b.Tokens == 0 || r.cost.Tokens < b.Tokens*n)
}

// fresh makes a new level of the next task that there is something to draw for, or returns nil. One that is there already is drawn again.
func (r *plrRun) fresh(ctx context.Context, next int) (*level, int, error) {
	const redraws = 20
	for range r.tasks {
		i := next
		next = (next + 1) % len(r.tasks)
		t := &r.tasks[i]
		for range redraws {
			if !t.open {
				break
			}
			b := t.brief
			t.drawn++
			b.Rand = envharness.RandStream(r.o.Seed, "baseline/plr/"+strconv.Itoa(i), uint64(t.drawn))
			c, err := r.designer.Design(ctx, b)
			if err != nil {
				return nil, next, err
			}
			t.Cost.Designs++
			r.cost.Designs++
			if len(c.Stack) == 0 {
				t.open = false
				break
			}
			l, err := r.level(i, c)
			if err != nil {
				return nil, next, err
			}
			if _, known := r.levels[l.key]; !known {
				r.levels[l.key] = l
				return l, next, nil
			}
		}
	}
	return nil, next, nil
}

func (r *plrRun) level(task int, c rigger.Candidate) (*level, error) {
	stack, err := r.p.Registry.Stack(c.Stack...)
	if err != nil {
		return nil, fmt.Errorf("baseline: PLR: task %q: %w", r.tasks[task].Task.ID, err)
	}
	if c.Stack, err = r.p.Registry.Entries(stack...); err != nil { // with ids
		return nil, fmt.Errorf("baseline: PLR: task %q: %w", r.tasks[task].Task.ID, err)
	}
	hash, err := rigger.StackHash(r.p.Registry, c.Stack)
	if err != nil {
		return nil, fmt.Errorf("baseline: PLR: task %q: %w", r.tasks[task].Task.ID, err)
	}
	l := &level{task: task, c: c, hash: hash}
	l.key = strconv.Itoa(task) + "/" + l.hash
	for _, e := range c.Stack {
		l.words = append(l.words, r.p.Registry.Words(e))
	}
	return l, nil
}

// measure plays rollouts of a task, and as many of the reference if an objective uses it.
func (r *plrRun) measure(
	ctx context.Context, task envharness.Task, name, kind string, stack []components.Entry, n int,
) (traces []envharness.Trace, counts, reference rigger.Tally, cost rigger.Cost, err error) {
	play := rigger.Play{Name: "plr/" + name, Kind: kind, Task: task, Stack: stack, N: n}
	if traces, err = rigger.Rollouts(ctx, r.p, &r.o, play); err != nil {
		return traces, counts, reference, cost, err
	}
	counts, cost = rigger.Count(traces)
	if r.reference {
		play.Reference = true
		others, err := rigger.Rollouts(ctx, r.p, &r.o, play)
		if err != nil {
			return traces, counts, reference, cost, err
		}
		var more rigger.Cost
		reference, more = rigger.Count(others)
		cost.Reference = len(others)
		cost.Turns += more.Turns
		cost.Tokens += more.Tokens
	}
	return traces, counts, reference, cost, nil
}

// play plays a level and gives it a new score.
func (r *plrRun) play(ctx context.Context, l *level) error {
	t := &r.tasks[l.task]
	l.plays++
	r.tell(l.task, len(t.Attempts)+1, "screen")
	name := strconv.Itoa(len(t.Attempts) + 1) // so that the policy draws anew
	_, counts, reference, cost, err := r.measure(ctx, t.Task, name, "screen", l.c.Stack, r.o.Screen)
	if err != nil {
		return err
	}
	cost.Screen = r.o.Screen
	m := rigger.Measure{Direction: l.c.Direction, Baseline: t.Baseline.Tally, Counts: counts, Reference: reference}
	r.pay(l.task, cost)
	a := rigger.Attempt{
		Number: len(t.Attempts) + 1, Candidate: l.c, Words: l.words, Hash: l.hash, Screen: counts, Decision: rigger.Reject, Cost: cost,
	}
	if l.plays > 1 {
		a.Reason = fmt.Sprintf("played for the %d. time", l.plays)
	}
	if counts.Valid < r.o.Screen {
		a.Reason = fmt.Sprintf("%d of %d rollouts could be judged", counts.Valid, r.o.Screen)
	} else { // too few say too little, and the score stays
		l.counts, l.score = counts, max(r.score.Score(m), 0)
		if _, known := r.buffer.Score(l.key); known || l.score > 0 {
			if _, err := r.buffer.Put(l.key, l.score); err != nil {
				return err
			}
		}
	}
	t.Attempts = append(t.Attempts, a)
	return nil
}

func (r *plrRun) pay(task int, c rigger.Cost) {
	for _, into := range []*rigger.Cost{&r.cost, &r.tasks[task].Cost} {
		into.Baseline += c.Baseline
		into.Screen += c.Screen
		into.Reference += c.Reference
		into.Turns += c.Turns
		into.Tokens += c.Tokens
	}
}

func (r *plrRun) tell(task, attempt int, phase string) {
	if r.o.Progress != nil {
		r.o.Progress(rigger.Progress{Task: task, Tasks: len(r.tasks), ID: r.p.Tasks[task].ID, Attempt: attempt, Phase: phase})
	}
}

// report accepts the best of the buffer, those that came first of equal ones.
func (r *plrRun) report() *rigger.Report {
	report := &rigger.Report{Cost: r.cost}
	levels := make([][]*level, len(r.tasks)) // by task
	for key, score := range r.buffer.All() {
		if l := r.levels[key]; score > 0 {
			levels[l.task] = append(levels[l.task], l)
		}
	}
	for i, ls := range levels {
		t := &r.tasks[i]
		slices.SortStableFunc(ls, func(a, b *level) int { return cmp.Compare(b.score, a.score) })
		for _, l := range ls[:min(len(ls), r.o.Accept)] {
			t.Outcome = rigger.Accepted
			for n := range t.Attempts {
				if t.Attempts[n].Hash == l.hash {
					t.Attempts[n].Decision = rigger.Accept
				}
			}
			report.Items = append(report.Items, rigger.Item{
				Task: t.Task, Stack: l.c.Stack, Words: l.words, Direction: l.c.Direction, Objective: r.score.String(),
				Baseline: t.Baseline.Tally, Counts: l.counts, Score: l.score, Hash: l.hash, Aid: r.aid(l.c),
			})
		}
	}
	for i := range r.tasks {
		t := &r.tasks[i]
		switch {
		case t.Outcome != "":
		case !t.open:
			t.Outcome = rigger.NoCandidate
		case r.over:
			t.Outcome = rigger.OutOfBudget
		default:
			t.Outcome = rigger.Exhausted
		}
		report.Tasks = append(report.Tasks, t.TaskReport)
	}
	return report
}

// aid reports whether the start is part of a solution.
func (r *plrRun) aid(c rigger.Candidate) bool {
	return c.Direction == components.Easier && slices.ContainsFunc(c.Stack, func(e components.Entry) bool {
		k, _ := r.p.Registry.Kind(e.Tag)
		return k.Axis == envharness.AxisStart
	})
}

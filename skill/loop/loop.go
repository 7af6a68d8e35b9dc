package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/memory"
)

// Limits of the paper, and ours on stalling.
const (
	defaultSteps    = 50
	defaultSubtasks = 15
	defaultStall    = 3
)

// noProgress is the summary before the first subtask.
const noProgress = "No progress yet."

// ErrBudget is the error of [Run] for an executor that returned more steps than it was allowed.
var ErrBudget = errors.New("loop: more steps than the budget")

// Progress is what a planner and a summarizer know.
type Progress struct {
	Task    skill.Task
	Summary string // of what was done so far; "No progress yet." before the first subtask
	Number  int    // of the subtask, from 1
}

// A Planner names the next subtask. It is asked anew each time and keeps no state of its own between calls.
type Planner interface {
	// Plan returns the text of the next subtask, which is not blank, or done.
	Plan(ctx context.Context, p Progress) (subtask string, done bool, err error)
}

// PlannerFunc lets an ordinary function serve as a [Planner].
type PlannerFunc func(ctx context.Context, p Progress) (subtask string, done bool, err error)

// Plan calls f.
func (f PlannerFunc) Plan(ctx context.Context, p Progress) (string, bool, error) { return f(ctx, p) }

// An Assignment is one subtask for an executor.
type Assignment struct {
	Progress
	Subtask string
	Skills  []memory.Entry // those that fit, in the order to show them in; see [skill.Render]
	Left    int            // most steps to take
}

// An Executor acts on one subtask.
type Executor interface {
	// Execute returns the steps that it took, at most a.Left. With an error it may return the steps taken before.
	Execute(ctx context.Context, a Assignment) ([]skill.Step, error)
}

// ExecutorFunc lets an ordinary function serve as an [Executor].
type ExecutorFunc func(ctx context.Context, a Assignment) ([]skill.Step, error)

// Execute calls f.
func (f ExecutorFunc) Execute(ctx context.Context, a Assignment) ([]skill.Step, error) {
	return f(ctx, a)
}

// A Summarizer takes the steps of a subtask into the running summary.
type Summarizer interface {
	// Summarize returns the summary that replaces p.Summary.
	Summarize(ctx context.Context, p Progress, subtask string, steps []skill.Step) (string, error)
}

// SummarizerFunc lets an ordinary function serve as a [Summarizer].
type SummarizerFunc func(ctx context.Context, p Progress, subtask string, steps []skill.Step) (string, error)

// Summarize calls f.
func (f SummarizerFunc) Summarize(ctx context.Context, p Progress, subtask string, steps []skill.Step) (string, error) {
	return f(ctx, p, subtask, steps)
}

// An Agent is the roles that work on a task, each usually a language model with a prompt.
type Agent struct {
	Planner  Planner  // nil makes the agent of the task level: one subtask, which is the task
	Executor Executor // must not be nil
	// Summarizer compresses; nil lists the subtasks that were worked on and the number of their steps.
	Summarizer Summarizer
}

// Options adjusts [Run]. A nil *Options equals &Options{}.
type Options struct {
	Steps    int // most steps of all subtasks together; zero means 50, as in the paper
	Subtasks int // most subtasks; zero means 15, as in the paper
	Stall    int // so many equal subtasks without a step in a row end the run; zero means 3

	// Induce adjusts how skills are made. Run sets its Subtask, Level and Known, which are the skills that m may show, and
	// its Format to that of m, so it is zero or that. With a Gate all skills wait for the end of the task, where Judge has
	// spoken: then Gate is asked once, about the whole trajectory, and if it refuses, no skill is made.
	Induce *skill.InduceOptions
	By     memory.QueryBy // what skills are looked for by

	// Judge returns the reward of the whole trajectory, in [0, 1]; nil means that it stays unknown.
	Judge func(ctx context.Context, t skill.Trajectory) (reward *float64, err error)

	// Episode names the run in the trajectory and in the use counters of the memory, unique among its runs; if it is empty
	// no use is recorded. A skill was used if it was selected for a subtask and shown, whatever the executor made of it;
	// functions that were pulled in do not count. A reward of 1 is a success, any other a failure, none unknown.
	Episode string

	// Frozen leaves the memory as it is: no skill is made and no use recorded.
	Frozen bool
}

// A Stop says why a run ended.
type Stop int

const (
	Failed       Stop = iota // a role or the memory returned an error
	Done                     // the planner said so, or the one subtask of the task level is over
	StepLimit                // no step was left
	SubtaskLimit             // no subtask was left
	Stalled                  // the planner repeated itself and the executor did nothing
	Canceled                 // ctx ended
)

// String returns the name of the reason.
func (s Stop) String() string {
	switch s {
	case Failed:
		return "failed"
	case Done:
		return "done"
	case StepLimit:
		return "step limit"
	case SubtaskLimit:
		return "subtask limit"
	case Stalled:
		return "stalled"
	case Canceled:
		return "canceled"
	}
	return fmt.Sprintf("Stop(%d)", int(s))
}

// A Subtask is what happened in one subtask.
type Subtask struct {
	Text      string
	Span      skill.Span        // of the trajectory; empty if no step was taken
	Retrieved *memory.Retrieval // skills that were shown
	Added     *memory.Added     // the skill made of it; nil if none
	NoSkill   error             // why none was made, for example skill.ErrTrivial or what Gate said; nil if one was, or nothing was tried
}

// A Result is a finished run.
type Result struct {
	Stop       Stop
	Trajectory skill.Trajectory // every step; the first of each subtask has its text as Marker
	Subtasks   []Subtask
	Summary    string
}

// Run works on one task with the skills of m and adds what it learns to m, after the subtask-level agent of arXiv:2608.20274:
//
//  1. The planner names the next subtask from the task and the running summary.
//  2. The skills that fit the subtask are retrieved from m.
//  3. The executor acts, at most the steps that are left of the budget of the whole task.
//  4. One skill is made of the steps and added to m at once, so that the next subtask can use it, whether the subtask
//     succeeded or not. Its origin has the hash of the trajectory as it was then and no reward; with a Gate, which makes
//     all skills wait for the end, those of the finished one.
//  5. The summarizer takes the steps into the summary.
//
// The run ends, in the order of the checks, when ctx is done, no step is left, no subtask is left, or the planner is
// done; and when Options.Stall equal subtasks in a row took no step (ours). Without a Planner there is one subtask, the
// task, and the skill is one of the task level. With a nil m, which is allowed, nothing is retrieved or learned.
//
// An error of a role or of the memory, ctx, a blank subtask and [ErrBudget] end the run; the result then holds what was
// done until there, also steps beyond the budget, and skills that were added stay. Only faults of the arguments give no result. That no skill can be made
// of a subtask is not an error: see Subtask.NoSkill. Run starts no goroutine.
func Run(ctx context.Context, task skill.Task, a Agent, m *memory.Memory, o *Options) (*Result, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if err := errors.Join(check(ctx, task, a, opts), checkFormat(m, opts.Induce)); err != nil {
		return nil, err
	}
	if opts.Steps == 0 {
		opts.Steps = defaultSteps
	}
	if opts.Subtasks == 0 {
		opts.Subtasks = defaultSubtasks
	}
	if opts.Stall == 0 {
		opts.Stall = defaultStall
	}
	r := &run{task: task, agent: a, memory: m, o: opts, result: &Result{
		Trajectory: skill.Trajectory{ID: opts.Episode, TaskID: task.ID, Task: task.Text, Group: task.Group},
		Summary:    noProgress,
	}}
	err := r.subtasks(ctx)
	if err == nil {
		err = r.end(ctx)
	}
	if err != nil {
		r.result.Stop = Failed
		if ctx.Err() != nil {
			r.result.Stop = Canceled
		}
		return r.result, fmt.Errorf("loop: task %q: %w", task.ID, err)
	}
	return r.result, nil
}

func check(ctx context.Context, task skill.Task, a Agent, o Options) error {
	var errs []error
	if strings.TrimSpace(task.Text) == "" {
		errs = append(errs, fmt.Errorf("loop: task %q has no text", task.ID))
	}
	if a.Executor == nil {
		errs = append(errs, errors.New("loop: Agent.Executor is nil"))
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"Steps", o.Steps}, {"Subtasks", o.Subtasks}, {"Stall", o.Stall}} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("loop: Options.%s is %d, want at least 1, or 0 for the default", f.name, f.value))
		}
	}
	if o.By < memory.BySubtask || o.By > memory.ByBoth {
		errs = append(errs, fmt.Errorf("loop: Options.By is %d, want BySubtask, ByTask or ByBoth", o.By))
	}
	if !utf8.ValidString(o.Episode) {
		errs = append(errs, fmt.Errorf("loop: Options.Episode %.80q is not UTF-8", o.Episode))
	}
	// Of no steps nothing can be induced; what Induce says before it notices is about the options.
	_, err := skill.Induce(context.WithoutCancel(ctx), skill.Trajectory{}, skill.Span{}, o.Induce)
	if span := (*skill.SegmentError)(nil); !errors.As(err, &span) {
		errs = append(errs, fmt.Errorf("loop: Options.Induce: %w", err))
	}
	return errors.Join(errs...)
}

// checkFormat says whether skills that are made can be added to m.
func checkFormat(m *memory.Memory, o *skill.InduceOptions) error {
	if m == nil || o == nil || o.Format == 0 || o.Format == m.Format() {
		return nil
	}
	return fmt.Errorf("loop: Options.Induce.Format is %v, want nothing or %v as the memory", o.Format, m.Format())
}

type run struct {
	task   skill.Task
	agent  Agent
	memory *memory.Memory
	o      Options
	result *Result
}

// subtasks runs until one of the reasons to stop; an error is one of a role.
func (r *run) subtasks(ctx context.Context) error {
	res := r.result
	idle := 0 // equal subtasks without a step, in a row
	for {
		left := r.o.Steps - len(res.Trajectory.Steps)
		number := len(res.Subtasks) + 1
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case left == 0:
			res.Stop = StepLimit
			return nil
		case number > r.o.Subtasks:
			res.Stop = SubtaskLimit
			return nil
		}
		p := Progress{r.task, res.Summary, number}
		text, done, err := r.plan(ctx, p)
		if err != nil {
			return fmt.Errorf("planner, subtask %d: %w", number, err)
		}
		if done {
			res.Stop = Done
			return nil
		}
		if n := len(res.Subtasks); n == 0 || res.Subtasks[n-1].Text != text {
			idle = 0
		}
		n, err := r.subtask(ctx, p, text, left)
		if err != nil {
			return fmt.Errorf("subtask %d %q: %w", number, text, err)
		}
		if n > 0 {
			idle = 0
			continue
		}
		if idle++; idle == r.o.Stall {
			res.Stop = Stalled
			return nil
		}
	}
}

func (r *run) plan(ctx context.Context, p Progress) (text string, done bool, err error) {
	if r.agent.Planner == nil {
		return r.task.Text, p.Number > 1, nil
	}
	text, done, err = r.agent.Planner.Plan(ctx, p)
	if err == nil && !done && strings.TrimSpace(text) == "" {
		err = errors.New("neither a subtask nor done")
	}
	return text, done, err
}

// subtask works on one subtask and returns the number of its steps.
func (r *run) subtask(ctx context.Context, p Progress, text string, left int) (int, error) {
	res := r.result
	sub := Subtask{Text: text}
	a := Assignment{Progress: p, Subtask: text, Left: left}
	if r.memory != nil {
		var err error
		if sub.Retrieved, err = r.memory.Retrieve(ctx, memory.Query{Task: r.task.Text, Subtask: text, By: r.o.By}); err != nil {
			return 0, err
		}
		a.Skills = sub.Retrieved.Skills()
	}
	steps, roleErr := r.agent.Executor.Execute(ctx, a)
	if n := len(steps); n > left {
		roleErr = errors.Join(fmt.Errorf("%w: %d steps, %d were left", ErrBudget, n, left), roleErr)
	}
	start := len(res.Trajectory.Steps)
	res.Trajectory.Steps = append(res.Trajectory.Steps, steps...) // the caller's slice is not kept
	if len(steps) > 0 {
		res.Trajectory.Steps[start].Marker = text
		sub.Span = skill.Span{Start: start, End: start + len(steps)}
	}
	res.Subtasks = append(res.Subtasks, sub)
	if roleErr != nil {
		return 0, fmt.Errorf("executor: %w", roleErr)
	}
	if r.learns() && r.gate() == nil {
		if err := r.learn(ctx, len(res.Subtasks)-1); err != nil {
			return 0, err
		}
	}
	summary, err := r.summarize(ctx, p, text, steps)
	if err != nil {
		return 0, fmt.Errorf("summarizer: %w", err)
	}
	res.Summary = summary
	return len(steps), nil
}

func (r *run) summarize(ctx context.Context, p Progress, subtask string, steps []skill.Step) (string, error) {
	if r.agent.Summarizer != nil {
		return r.agent.Summarizer.Summarize(ctx, p, subtask, steps)
	}
	line := fmt.Sprintf("%d. %s (%d steps)", p.Number, strings.Join(strings.Fields(subtask), " "), len(steps))
	if p.Number == 1 {
		return line, nil
	}
	return p.Summary + "\n" + line, nil
}

func (r *run) learns() bool { return r.memory != nil && !r.o.Frozen }

// gate is what decides at the end whether anything is learned; nil if nothing does.
func (r *run) gate() func(context.Context, skill.Trajectory) error {
	if r.o.Induce == nil {
		return nil
	}
	return r.o.Induce.Gate
}

// trajectory returns a copy, so that who is asked about the steps cannot change those of the result.
func (r *run) trajectory() skill.Trajectory {
	t := r.result.Trajectory
	t.Steps = slices.Clone(t.Steps)
	return t
}

// learn makes a skill of the k-th subtask and adds it to the memory. Only an error of the memory, or ctx, ends the run.
func (r *run) learn(ctx context.Context, k int) error {
	sub := &r.result.Subtasks[k]
	if sub.Span.Start == sub.Span.End {
		return nil
	}
	var opts skill.InduceOptions
	if r.o.Induce != nil {
		opts = *r.o.Induce
	}
	opts.Subtask, opts.Level, opts.Format, opts.Gate = sub.Text, skill.LevelSubtask, r.memory.Format(), nil
	if r.agent.Planner == nil {
		opts.Level = skill.LevelTask
	}
	if opts.Generate != nil {
		opts.Known = nil
		for e := range r.memory.All() {
			opts.Known = append(opts.Known, e)
		}
	}
	induced, err := skill.Induce(ctx, r.result.Trajectory, sub.Span, &opts)
	if err == nil {
		var added memory.Added
		if added, err = r.memory.Add(ctx, induced.Document); err == nil {
			sub.Added = &added
			return nil
		}
		if !errors.Is(err, memory.ErrUnsafe) {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	sub.NoSkill = err
	return nil
}

// end asks the judge, adds the skills that waited for the verdict and records what was used.
func (r *run) end(ctx context.Context) error {
	res := r.result
	if r.o.Judge != nil {
		reward, err := r.o.Judge(ctx, r.trajectory())
		if err != nil {
			return fmt.Errorf("judge: %w", err)
		}
		if reward != nil && !(*reward >= 0 && *reward <= 1) {
			return fmt.Errorf("judge: reward is %g, want it in [0, 1]", *reward)
		}
		res.Trajectory.Reward = reward
	}
	if !r.learns() {
		return nil
	}
	if gate := r.gate(); gate != nil && len(res.Trajectory.Steps) > 0 {
		refused := gate(ctx, r.trajectory())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for k := range res.Subtasks {
			if refused == nil {
				if err := r.learn(ctx, k); err != nil {
					return err
				}
			} else if sub := &res.Subtasks[k]; sub.Span.Start < sub.Span.End {
				sub.NoSkill = refused
			}
		}
	}
	if r.o.Episode == "" {
		return nil
	}
	var success *bool
	if res.Trajectory.Reward != nil {
		success = new(*res.Trajectory.Reward >= 1)
	}
	var uses []memory.Use // a skill that was shown twice is one use to the memory
	for _, sub := range res.Subtasks {
		for _, h := range sub.Retrieved.Selected {
			uses = append(uses, memory.Use{Skill: h.Name(), Version: h.Record.Version, Episode: r.o.Episode, Success: success})
		}
	}
	if err := r.memory.RecordUse(ctx, uses...); err != nil {
		return err
	}
	return nil
}

package rigger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// A job is the work on one task.
type job struct {
	*run
	table     *table
	report    TaskReport
	items     []Item
	inspector *inspector
	text      string // of the first observation
	direction components.Direction

	accepted      []string    // hashes and signatures
	deterministic atomic.Bool // a policy said so of itself
	failures      int         // errors of the designer in a row
	refine        *Refinement
}

// errDeterministic reports a policy of which all rollouts of a task are the same one.
var errDeterministic = errors.New("rigger: the policy is deterministic, and so is the world: its success rates are 0 or 1")

// end notes how the work ended. The first word stays.
func (j *job) end(o Outcome, reason string) {
	if j.report.Outcome == "" {
		j.report.Outcome, j.report.Reason = o, reason
	}
}

// do works on the task to its end. An error that does not end the run makes the task Broken.
func (j *job) do(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("rigger: task %q: %w", j.table.task.ID, err)
	}
	if err := j.look(ctx); err != nil {
		return err
	}
	nulls := *j.table // what costs the world alone is not kept
	nulls.journal = nil
	if err := again(ctx, j.reruns(), func() error {
		return j.isolate(func() (err error) {
			j.inspector, err = newInspector(ctx, j.problem.World, j.table.task, j.registry, nil, checks{
				nullEpisodes: j.NullEpisodes, searchLimit: j.searchLimit, maxComponents: j.MaxComponents, rollout: j.Rollout,
			}, nulls.play)
			return err
		})
	}); err != nil {
		return err
	}
	j.inspector.between = j.between
	j.direction = components.Harder
	if j.Preset != Unchecked {
		if err := j.baseline(ctx); err != nil || j.report.Outcome != "" {
			return err
		}
	}
	for n := 1; n <= j.Attempts && len(j.items) < j.Accept && j.report.Outcome == ""; n++ {
		if reason := j.overBudget(); reason != "" {
			j.end(OutOfBudget, reason)
			break
		}
		if err := j.attempt(ctx, n); err != nil {
			return err
		}
	}
	if len(j.items) < j.Accept {
		j.end(Exhausted, fmt.Sprintf("%d attempts", j.Attempts))
	} else {
		j.end(Accepted, "")
	}
	return nil
}

// look begins an episode to see that the task is there, and what it shows. That costs the world alone.
func (j *job) look(ctx context.Context) error {
	stop := envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
		return envharness.Action{}, envharness.ErrStop
	})
	trace, err := j.table.once(ctx, "look", nil, func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
		return stop, nil
	}, 0)
	if err != nil {
		return err
	}
	if trace.Verdict.Status == envharness.Invalid {
		return fmt.Errorf("rigger: task %q: %s", j.table.task.ID, trace.Cause)
	}
	j.text = trace.Shown.Text
	return nil
}

// baseline plays the unmodified task and finds the direction.
func (j *job) baseline(ctx context.Context) error {
	j.phase(0, "baseline", j.Baseline)
	traces, err := j.table.play(ctx, "baseline", nil, j.policy(), 0, j.Baseline)
	if err != nil {
		return err
	}
	if j.deterministic.Load() {
		return &fatalError{errDeterministic}
	}
	counts, cost := Count(traces)
	cost.Baseline = paid(traces)
	j.report.Cost = cost
	j.report.Baseline = j.snapshot(counts, traces)
	j.report.Pair = pairOf(traces)
	j.inspector.baseline = traces
	if counts.Valid < j.Baseline {
		j.end(Infra, insufficient("the policy", counts, j.Baseline, traces...))
		return nil
	}
	m := j.measure(false, 0, counts)
	m.Counts = counts
	if j.reference {
		if traces, m.Reference, err = j.playReference(ctx, "reference/baseline", nil, j.Baseline, &j.report.Cost); err != nil {
			return err
		}
		if m.Reference.Valid < j.Baseline {
			j.end(Infra, insufficient("the reference", m.Reference, j.Baseline, traces...))
			return nil
		}
	}
	j.report.Flaws, err = diagnosis.Diagnose(j.inspector.baseline, diagnosis.Context{World: j.about, Plan: j.inspector.plan, Edges: j.problem.Edges}, nil)
	if err != nil {
		return fmt.Errorf("rigger: task %q: %w", j.table.task.ID, err)
	}
	directions := []components.Direction{components.Harder}
	switch j.Objective.Place(m) {
	case TooHard:
		directions[0] = components.Easier
	case Within:
		if !j.RigInBand {
			j.end(InBand, fmt.Sprintf("the baseline is %v", counts))
			return nil
		}
		if directions = append(directions, components.Easier); counts.Rate() < .5 {
			slices.Reverse(directions)
		}
	}
	for _, j.direction = range directions {
		if screen, confirm := j.reaches(j.direction, counts); screen && confirm {
			return nil
		}
	}
	j.end(Unreachable, fmt.Sprintf("no outcome of an attempt would be accepted, as the baseline is %v", counts))
	return nil
}

func (j *job) snapshot(counts Tally, traces []envharness.Trace) Snapshot {
	s := Snapshot{Tally: counts, Optimal: len(j.inspector.plan)}
	for i := range traces {
		if traces[i].Verdict.Status == envharness.Pass {
			s.Turns += float64(turnsOf(&traces[i])) / float64(counts.Pass)
		}
		if s.Limit == 0 && len(traces[i].Turns) > 0 {
			s.Limit = traces[i].Turns[0].Left
		}
	}
	return s
}

// overBudget says why another attempt does not begin; it is empty if one may.
func (j *job) overBudget() string {
	b, c := j.Budget, j.report.Cost
	switch {
	case c.Rollouts()+j.reserved() > b.Rollouts:
		return fmt.Sprintf("%d of %d rollouts are left, an attempt may take %d", max(0, b.Rollouts-c.Rollouts()), b.Rollouts, j.reserved())
	case b.Turns > 0 && c.Turns >= b.Turns:
		return fmt.Sprintf("%d of %d turns were taken", c.Turns, b.Turns)
	case b.Tokens > 0 && c.Tokens >= b.Tokens:
		return fmt.Sprintf("%d of %d tokens were taken", c.Tokens, b.Tokens)
	}
	return ""
}

// attempt makes one attempt. The error is as for do.
func (j *job) attempt(ctx context.Context, n int) error {
	a := Attempt{Number: n, Cost: Cost{Designs: 1}}
	brief, told := j.brief(n), j.brief(n) // a designer may do with its own what it likes
	j.refine = nil
	j.phase(n, "design", 0)
	c, fault, err := j.design(ctx, n, told)
	switch {
	case err != nil:
		return err
	case fault != "":
		a.Decision, a.Reason = Reject, "the designer failed: "+fault
		if j.failures++; j.failures == 2 {
			j.end(DesignerError, a.Reason)
		}
		j.note(a)
		return nil
	case len(c.Stack) == 0:
		j.report.Cost.Designs++
		reason := "the designer proposes nothing"
		if j.direction == components.Easier && j.report.Baseline.Pass == 0 && len(j.inspector.plan) == 0 {
			reason += ": a scaffold needs a plan or a passed rollout, and there is neither (an environment with envharness.Oracle has plans)"
		}
		j.end(NoCandidate, reason)
		return nil
	}
	j.failures = 0
	if c.Direction == 0 {
		c.Direction = j.direction
	}
	a.Candidate = c
	defer func() {
		if a.Decision == "" { // an error that ends the task, or a panic
			a.Decision, a.Reason = Reject, "the work on the task failed"
		}
		j.note(a)
	}()
	made, err := j.check(ctx, &a)
	if err != nil {
		return err
	}
	r := ruling{decision: Reject}
	switch {
	case made == nil:
		last := a.Steps[len(a.Steps)-1]
		r.reason = fmt.Sprintf("%s: %s", last.Step, last.Reason)
	case j.Preset == Unchecked:
		r.decision = Accept
		j.accept(&a, made, Measure{Direction: c.Direction})
	default:
		if r, err = j.try(ctx, &a, brief, made); err != nil {
			return err
		}
	}
	a.Decision, a.Reason = r.decision, r.reason
	j.refine = r.refine
	return nil
}

// note keeps an attempt and adds up its cost.
func (j *job) note(a Attempt) {
	j.report.Cost = j.report.Cost.plus(a.Cost)
	j.report.Attempts = append(j.report.Attempts, a)
}

// A checked candidate passed the steps that need no rollout of the policy.
type checked struct {
	stack   []envharness.Component
	entries []components.Entry // the same as data, with all filled in
	proven  bool               // somebody is known to pass it
}

// check runs the steps of the gate that need no rollout of the policy; outside the gate a candidate must only be one that can be built. It
// returns nil for one that failed.
func (j *job) check(ctx context.Context, a *Attempt) (*checked, error) {
	j.phase(a.Number, "check", 0)
	c := &checked{}
	fault := j.isolate(func() (err error) {
		if c.stack, err = j.inspector.build(a.Candidate); err == nil {
			c.entries, a.Hash, err = canonical(j.registry, c.stack)
		}
		if err == nil {
			a.Words = j.words(c.entries)
		}
		return err
	})
	if fault != nil {
		var err error // the hash tells it from others in a brief
		if a.Hash, err = journalKey("stack", a.Candidate.Stack); err != nil {
			return nil, err
		}
	} else if a.Candidate.Direction != j.direction {
		fault = fmt.Errorf("the candidate is to be %v, and %v was asked for", a.Candidate.Direction, j.direction)
	}
	if fault != nil {
		a.Steps = []StepResult{{StepStatic, Failed, fault.Error()}}
		return nil, nil
	}
	if j.Preset != Gated {
		a.Steps = []StepResult{{StepStatic, Passed, ""}}
		return c, nil
	}
	found, err := j.inspector.inspect(ctx, a.Number, a.Candidate)
	a.Steps, a.Cost.Checks = found.steps, found.checked
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(found.steps, func(s StepResult) bool { return s.Result == Failed }) {
		return nil, nil
	}
	c.stack, c.proven = found.stack, found.proven
	return c, nil
}

// between are the steps that cost nothing.
func (j *job) between(c Candidate) []StepResult {
	hash, err := StackHash(j.registry, c.Stack)
	if err != nil {
		return []StepResult{{StepNovelty, Failed, err.Error()}}
	}
	novel := j.archive.novel(j.registry, c, hash, j.accepted, j.axisCap)
	if novel.Result == Failed {
		return []StepResult{novel}
	}
	return []StepResult{novel, {StepBand, Passed, ""}} // found out when the direction was
}

// try plays the screening of a candidate and, behind the gate, what follows.
func (j *job) try(ctx context.Context, a *Attempt, brief Brief, made *checked) (ruling, error) {
	c, stack := a.Candidate, made.stack
	step := func(s Step, ok bool, reason string) {
		result := Passed
		if !ok {
			result = Failed
		}
		a.Steps = append(a.Steps, StepResult{s, result, reason})
	}
	m := j.measure(false, c.Direction, j.report.Baseline.Tally)
	j.phase(a.Number, "screen", j.Screen)
	traces, err := j.table.play(ctx, fmt.Sprintf("%d/screen", a.Number), stack, j.policy(), 0, j.Screen)
	if err != nil {
		return ruling{}, err
	}
	counts, cost := Count(traces)
	cost.Screen = paid(traces)
	a.Screen, a.Traces, a.Cost = counts, traces, a.Cost.plus(cost)
	m.Counts = counts
	broken, err := j.review(ctx, "screening", stack, traces)
	if err != nil {
		return ruling{}, err
	}
	if broken.Result == Failed {
		a.Steps = append(a.Steps, broken)
		return ruling{Reject, nil, "integrity: " + broken.Reason}, nil
	}
	if pair := pairOf(traces); pair.complete() && !j.report.Pair.complete() {
		j.report.Pair = pair
	}
	if counts.Valid < j.Screen {
		reason := insufficient("the policy", counts, j.Screen, traces...)
		step(StepScreen, false, reason)
		return ruling{Reject, nil, reason}, nil
	}
	if j.reference {
		var played []envharness.Trace
		if played, m.Reference, err = j.playReference(ctx, fmt.Sprintf("reference/%d/screen", a.Number), stack, j.Screen, &a.Cost); err != nil {
			return ruling{}, err
		}
		if m.Reference.Valid < j.Screen {
			reason := insufficient("the reference", m.Reference, j.Screen, played...)
			step(StepScreen, false, reason)
			return ruling{Reject, nil, reason}, nil
		}
	}
	r := j.rule(m, traces, made.proven)
	if decider, ok := j.Designer.(Decider); ok && j.Preset != PaperALFWorld && (j.Preset == Paper || r.decision != Reject) {
		a.Cost.Designs++
		// A stream of its own: where the design is in a journal nothing was drawn for it.
		brief.Rand = envharness.RandStream(j.Seed, streamPath(j.report.Task, "decide"), uint64(a.Number))
		decided, fault, err := j.decide(ctx, decider, brief, cloneAttempt(*a))
		switch {
		case err != nil:
			return ruling{}, err
		case fault != "":
			r = ruling{Reject, nil, "the designer failed to decide: " + fault}
		default:
			r = j.heed(r, decided, m)
		}
	}
	if r.decision == Accept && j.Preset != Gated {
		if reason := j.unscored(m); reason != "" {
			r = ruling{Reject, nil, reason}
		}
	}
	step(StepScreen, r.decision == Accept, r.reason)
	if r.decision != Accept || j.Preset != Gated {
		if r.decision == Accept {
			j.accept(a, made, m)
		}
		return r, nil
	}
	m = j.measure(true, c.Direction, m.Baseline)
	j.phase(a.Number, "confirm", j.Confirm)
	var reference func(context.Context, int) ([]envharness.Trace, error)
	if j.reference {
		reference = func(ctx context.Context, n int) ([]envharness.Trace, error) {
			traces, _, err := j.playReference(ctx, fmt.Sprintf("reference/%d/confirm", a.Number), stack, n, &a.Cost)
			return traces, err
		}
	}
	passed := slices.DeleteFunc(slices.Clone(traces), func(t envharness.Trace) bool { return t.Verdict.Status != envharness.Pass })
	confirmed, err := j.confirm(ctx, m, j.Transfer, func(ctx context.Context, from, n int) ([]envharness.Trace, error) {
		j.before, j.total = from, j.Confirm
		traces, err := j.table.play(ctx, fmt.Sprintf("%d/confirm", a.Number), stack, j.policy(), from, n)
		_, cost := Count(traces)
		cost.Confirm = paid(traces)
		a.Cost = a.Cost.plus(cost)
		if err == nil {
			broken, err = j.review(ctx, "confirmation", stack, traces)
		}
		if err == nil && broken.Result == Failed {
			err = errBroken // no more are played
		}
		return traces, err
	}, reference)
	if errors.Is(err, errBroken) {
		a.Steps = append(a.Steps, broken)
		return ruling{Reject, nil, "integrity: " + broken.Reason}, nil
	}
	if err != nil {
		return ruling{}, err
	}
	a.Confirm, a.Interval = confirmed.counts, confirmed.interval
	m.Counts, m.Reference = confirmed.counts, confirmed.reference
	if confirmed.accepted {
		confirmed.reason = j.unscored(m)
		confirmed.accepted = confirmed.reason == ""
	}
	step(StepConfirm, confirmed.accepted, confirmed.reason)
	if !confirmed.accepted {
		return ruling{Reject, nil, "the confirmation: " + confirmed.reason}, nil
	}
	if j.Transfer {
		result, err := j.inspector.transfer(ctx, append(passed, confirmed.passed...))
		if err != nil {
			return ruling{}, err
		}
		a.Steps = append(a.Steps, result)
		if result.Result != Passed {
			return ruling{Reject, nil, "the transfer: " + result.Reason}, nil
		}
	}
	j.accept(a, made, m)
	return r, nil
}

// unscored says that the objective has no score that could order an item among others, or be written as JSON; it is empty if there is one.
func (j *job) unscored(m Measure) string {
	if score := j.Objective.Score(m); math.IsNaN(score) || math.IsInf(score, 0) {
		return fmt.Sprintf("the score of the objective is %v, want a finite one", score)
	}
	return ""
}

// errBroken ends a confirmation in which components did what the step of integrity refuses.
var errBroken = errors.New("rigger: the components do not keep integrity")

// review is the step of integrity on rollouts of the policy; outside the gate there is none.
func (j *job) review(ctx context.Context, name string, stack []envharness.Component, traces []envharness.Trace) (StepResult, error) {
	if j.Preset != Gated {
		return StepResult{}, nil
	}
	return j.inspector.review(ctx, name, stack, traces)
}

// accept makes an item.
func (j *job) accept(a *Attempt, made *checked, m Measure) {
	c, stack := a.Candidate, made.entries
	item := Item{
		Task: j.report.Task, Stack: stack, Words: a.Words, Direction: c.Direction, Flaw: c.Flaw,
		Baseline: j.report.Baseline.Tally, Counts: m.Counts, Interval: a.Interval, Hash: a.Hash,
		Aid:     c.Direction == components.Easier && slices.Contains(axesOf(j.registry, stack), envharness.AxisStart),
		RedTeam: seeksFailures(j.Objective), Unproven: j.Preset == Gated && !made.proven,
	}
	if j.Preset != Unchecked {
		item.Objective, item.Score = j.Objective.String(), j.Objective.Score(m)
	}
	j.items = append(j.items, item)
	j.accepted = append(j.accepted, a.Hash, signature(j.registry, c))
	j.archive.add(j.registry, stack)
}

// policy makes the policy that is worked for.
func (j *job) policy() maker {
	if !j.about.Deterministic {
		return j.problem.NewPolicy
	}
	return func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		p, err := j.problem.NewPolicy(task, rng)
		if d, ok := p.(interface{ Deterministic() bool }); ok && err == nil && d.Deterministic() {
			j.deterministic.Store(true)
			return nil, errDeterministic
		}
		return p, err
	}
}

// playReference plays the reference policy, and adds to the cost.
func (j *job) playReference(
	ctx context.Context, name string, stack []envharness.Component, n int, to *Cost,
) ([]envharness.Trace, Tally, error) {
	traces, err := j.table.play(ctx, name, stack, j.problem.NewReference, 0, n)
	counts, cost := Count(traces)
	cost.Reference = paid(traces)
	*to = to.plus(cost)
	return traces, counts, err
}

// words says what each component of a stack does.
func (j *job) words(entries []components.Entry) []string {
	words := make([]string, len(entries))
	for i, e := range entries {
		words[i] = j.registry.Words(e)
	}
	return words
}

// brief is what the designer is told. It shares traces with the run, which are read-only everywhere, and nothing else that could be written to.
func (j *job) brief(n int) Brief {
	b := Brief{
		World: cloneDescription(j.about), Task: cloneTask(j.report.Task), Text: j.text, Registry: j.registry, Direction: j.direction,
		Objective: j.Objective.String(), Baseline: j.report.Baseline, Flaws: cloneFlaws(j.report.Flaws), Plan: cloneActions(j.inspector.plan),
		Edges: cloneEdges(j.problem.Edges),
		Axes:  weights(j.archive.axes), MaxComponents: j.MaxComponents,
		Rand: envharness.RandStream(j.Seed, streamPath(j.report.Task, "design"), uint64(n)),
	}
	if j.refine != nil {
		b.Refine = new(*j.refine)
	}
	pair := pairOf(j.inspector.baseline)
	b.Success, b.Failure = pair.Success, pair.Failure
	for _, a := range j.report.Attempts {
		b.Attempts = append(b.Attempts, shown(a))
	}
	return b
}

// shown is an attempt as a designer may see it: without what the confirmation counted, and what it showed.
func shown(a Attempt) Attempt {
	a = cloneAttempt(a)
	a.Confirm, a.Interval, a.Cost = Tally{}, nil, Cost{}
	screened := false
	for i := range a.Steps {
		s := &a.Steps[i]
		if screened {
			if s.Reason = ""; s.Result == Failed {
				a.Reason = string(s.Step) + " failed"
			}
		}
		screened = screened || s.Step == StepScreen
	}
	return a
}

// A designed is what a journal keeps of a call of the designer.
type designed struct {
	Candidate Candidate `json:"candidate"`
	Decision  Decision  `json:"decision,omitempty"`
	Fault     string    `json:"fault,omitempty"`
}

// callKey is the key of a call of the designer: all that its brief depends on, and its name. Rollouts and what was found in them follow from
// the rest.
func (j *job) callKey(what string, n int, b Brief, now *Attempt) (string, error) {
	name := ""
	if s, ok := j.Designer.(fmt.Stringer); ok { // as settle asks for
		name = s.String()
	}
	attempts := slices.Clone(b.Attempts)
	if now != nil {
		attempts = append(attempts, *now)
	}
	axes := make(map[string]float64)
	for a, w := range b.Axes {
		axes[string(a)] = w
	}
	return journalKey(what, name, j.world, b.Task, j.problem.Fingerprint, j.Seed, j.Rollout.MaxTurns, n, b.Direction, b.Objective,
		b.Baseline, b.Refine, axes, attempts, b.Edges, b.MaxComponents, j.kinds)
}

// design calls the designer, or finds its answer in the journal. A fault is one of the designer.
func (j *job) design(ctx context.Context, n int, b Brief) (c Candidate, fault string, err error) {
	got, err := j.call(ctx, "design", n, b, nil, func(d *designed) (err error) {
		if d.Candidate, err = j.Designer.Design(ctx, b); err != nil {
			return err
		}
		d.Candidate.Stack = slices.Clone(d.Candidate.Stack)
		for i := range d.Candidate.Stack {
			e := &d.Candidate.Stack[i]
			if len(e.Params) == 0 {
				continue
			}
			if !json.Valid(e.Params) {
				return fmt.Errorf("params of component %d are not JSON", i)
			}
			if e.Params, err = envharness.CanonicalJSON(e.Params); err != nil {
				return fmt.Errorf("params of component %d: %w", i, err)
			}
		}
		return nil
	})
	return got.Candidate, got.Fault, err
}

// decide asks the designer what becomes of its candidate, or finds its answer in the journal.
func (j *job) decide(ctx context.Context, d Decider, b Brief, a Attempt) (Decision, string, error) {
	got, err := j.call(ctx, "decide", a.Number, b, &a, func(to *designed) (err error) {
		to.Decision, err = d.Decide(ctx, b, a)
		return err
	})
	return got.Decision, got.Fault, err
}

// call is a call of the designer, whatever it does. A service that failed is asked again when the run is resumed, so that is not kept.
func (j *job) call(ctx context.Context, what string, n int, b Brief, now *Attempt, ask func(*designed) error) (designed, error) {
	var got designed
	key := ""
	if j.Journal != nil {
		var err error
		if key, err = j.callKey(what, n, b, now); err != nil {
			return got, err
		}
	}
	if found, err := j.Journal.lookup(key, &got); err != nil {
		return got, &fatalError{err}
	} else if found {
		got.restore()
		return got, nil
	}
	fault := j.isolate(func() error { return ask(&got) })
	if err := ctx.Err(); err != nil {
		return got, fmt.Errorf("rigger: task %q: attempt %d: %w", j.table.task.ID, n, err)
	}
	if fault != nil {
		got = designed{Fault: faultText(fault)}
	}
	doc, err := json.Marshal(got)
	if err != nil {
		got = designed{Fault: faultText(err)}
		doc, err = json.Marshal(got)
	}
	if err != nil {
		return got, err
	}
	got = designed{}
	if err := json.Unmarshal(doc, &got); err != nil { // as a run that is resumed will read it
		return got, err
	}
	got.restore()
	if !errors.Is(fault, envharness.ErrInfra) && !errors.Is(fault, context.DeadlineExceeded) {
		if err := j.Journal.record(key, got); err != nil {
			return got, &fatalError{err}
		}
	}
	return got, nil
}

// restore makes nil again of parameters that JSON wrote as null.
func (d *designed) restore() {
	for i, e := range d.Candidate.Stack {
		if string(e.Params) == "null" {
			d.Candidate.Stack[i].Params = nil
		}
	}
}

// faultText is what is kept of an error of the designer.
func faultText(err error) string {
	const most = 1000 // bytes
	s := err.Error()
	return strings.ToValidUTF8(s[:min(len(s), most)], "\uFFFD")
}

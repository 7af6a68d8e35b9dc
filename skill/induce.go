package skill

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/skill/internal/calls"
	"github.com/throughline-go/throughline/skill/scan"
)

// Reasons for which [Induce], and for ErrNoPair [Contrast], makes no skill.
var (
	ErrTrivial   = errors.New("skill: the span is trivial")                      // there is nothing to learn from it
	ErrUnsafe    = errors.New("skill: the text tries to steer an agent")         // the scan has a finding of severity scan.High
	ErrNotSolved = errors.New("skill: the trajectory is not known to be solved") // from [Solved]
	ErrLeak      = errors.New("skill: a value of the episode is left in the skill")
	ErrNoPair    = errors.New("skill: there is no success and failure of the task")
	ErrReply     = errors.New("skill: no reply of the model can be used")
)

// rulesName is the inducer without a model in records. Its number grows when equal episodes give other skills.
const rulesName = "rules-1"

// maxNote is the length in runes up to which an error message is short enough to be a note.
const maxNote = 160

// InduceOptions adjusts [Induce]. A nil *InduceOptions equals &InduceOptions{}.
type InduceOptions struct {
	Subtask    string // text of the subtask, for the description; blank means the marker of the span, or what Induce finds
	MinActions int    // fewer useful actions make a trivial span; zero means 2

	// Keep exempts a literal from abstraction, for example one that is the same in every task. Kind is url, email, text,
	// id, date, time, path or n, for an argument of a structured action its name, and value the text, for such an
	// argument its JSON. Nil exempts none.
	Keep func(kind, value string) bool

	Format Format // of the skill; the zero value is text
	Level  Level  // in the record; empty means LevelTask for a span of the whole trajectory, else LevelSubtask

	// Gate refuses a trajectory by an error, for example [Solved]. Nil refuses none, as in the paper.
	Gate func(ctx context.Context, traj Trajectory) error

	// Generate asks a language model for the skill: it gets a prompt of less than 160,000 bytes, which says all of what follows, and
	// returns the reply. Nil makes the skill by rule. The reply is one JSON object, for a text skill with exactly one bullet
	// "Procedure: ..." in its content, each further bullet a note:
	//
	//	{"description": "Refund an order", "content": "- Procedure: find_customer(email) → refund(order_id)\n- Works only after delivery."}
	//
	// and for a code skill with the Python source of exactly one function, beside it imports and comments alone:
	//
	//	{"functions": [{"name": "refund_order", "description": "Refund an order", "implementation": "def refund_order(order_id):\n    ..."}]}
	//
	// {"description": "", "content": "none"} and {"functions": []} say that there is nothing to learn: the error is ErrTrivial then, as
	// for a trivial span, about which the model is not asked. One code fence around the object is passed over. Unknown keys are noted in
	// Induced.Refused. Anything else, such as words around the object, a missing key, a description of two lines or text that steers an
	// agent, is refused, and the model is asked again with what was wrong. An error of Generate ends the calls and is passed on.
	Generate func(ctx context.Context, prompt string) (string, error)
	Model    string // names the model in the record, without white space around it; empty means "generator"
	Retries  *int   // how often a reply that cannot be used is asked for again, with what was wrong; nil means 1

	// Known are skills that there are: the prompt shows them, of more than 20 the most similar 20, so that the reply does not repeat
	// one. Nil shows none, a nil skill is an error. Above 20 their descriptions are embedded once in a call of Induce, InduceAll or
	// Contrast, before its first prompt, and one text more for each prompt; at most 20 embed nothing.
	Known    []Skill
	Embedder Embedder // finds the most similar; nil means HashEmbedder{}

	// RejectLeaks refuses a skill in which a value of the episode is left: by rule that is ErrLeak, a reply of Generate is asked for
	// again. False takes it and lists the values in Induced.Leaks; set it where skills leave the hands that may see the episode.
	RejectLeaks bool
}

// An Induced is a skill that was made of an episode. Its document satisfies [Marshal], its [Record] says what it was made of.
type Induced struct {
	*Document

	// Leaks are values of the span that stand as whole words in the description or the body: sorted, each once. Values are
	//
	//   - URLs, e-mail addresses and identifiers anywhere in the span
	//   - what the agent was told or did, in the task, the subtask, markers and actions: dates and times; numbers of at
	//     least 4 digits, shorter ones together with the word before them or the name of their argument, but no argument 0,
	//     1 or -1; quotations, paths and texts in arguments that have at least 4 digits or stand in the task, the subtask or
	//     a marker; arguments named like a password, secret, token or key
	//
	// Words of the language are none: a text of fewer than 4 words with neither a digit nor a capital letter, one word in
	// capitals alone, fewer than 3 runes, and what is part of the name of a tool or argument. Nor is what Keep exempts. Of a
	// text the first 8 words count. In code the keywords of Python, with None, True and False, are none either. Names in a script without capitals are not recognized. Ours.
	Leaks []string

	Findings []scan.Finding // doubts about the text of the span, in its order; with one of severity Medium the origin is tainted
	Refused  []error        // what was wrong with replies of Generate, in order
}

// An Outcome is what [InduceAll] made of one span.
type Outcome struct {
	Span     Span
	*Induced       // nil if there is no skill
	Err      error // why there is none; nil if there is one
}

// Induce makes one skill of one span of a finished episode. Without a model it follows rules:
//
//  1. Refused actions, repetitions without effect (the action and the observation of the step before) and thoughts are
//     dropped.
//  2. Each action becomes a template. In a free text, URLs, e-mail addresses, quotations, identifiers, dates, times,
//     paths and numbers become <url>, <email>, <text>, <id>, <date>, <time>, <path> and <n>; a second value of a kind
//     becomes <n_2>, the same value the same placeholder. A structured action becomes name(arguments) in bytewise order,
//     each text, number, list or object under the name of its argument ("order_id", for a second value "order_id_2");
//     true, false and null stay.
//  3. The templates, equal neighbours merged and marked "(repeat)", joined by "→", are the procedure: the first bullet of
//     the body, which [ParseTextBody] reads.
//  4. A refused action followed by an accepted one of the same kind leaves a note with the first line of its message.
//  5. The description is the subtask, else the marker of the span, for a span with the whole trajectory the task, else
//     the first and the last action, if they read the same once; blank ones are none. Literals, what is joined to one by "-", "#" or "/", arguments and punctuation of
//     names are removed. The name is made of its ASCII words.
//  6. What [Induced] calls a leak becomes <text> in templates and notes and is removed from the description.
//
// With FormatCode the body is a block with one Python function instead, read by [Code]: the templates are its lines, the
// notes comments, the placeholders parameters in the order of first use. A tool is called by its name, a free text as
// act("..."), and so is a tool whose name is none in Python. The function is called like the skill, with "_" for "-", and
// "f_" before it where that name is not allowed or is that of a tool. It is never run.
//
// With Generate a model writes the skill; the rules do not apply, the checks do. A reply that is no skill of the format, or
// that leaks under RejectLeaks, is asked for again, and after the last the error is [ErrReply], which names each fault. That the
// model finds nothing to learn is [ErrTrivial].
//
// The outcome of the episode does not matter unless Gate says so, as in arXiv:2608.20274, where most skills come from
// unsolved tasks; the rules and the checks are ours. All texts of the span are scanned first, so that nothing of a poisoned
// episode reaches a prompt or a skill: a finding of severity High is [ErrUnsafe], Medium taints the origin.
//
// Equal arguments give an equal document. Its origin has the [Origin].SHA256 of the trajectory as it was given, all of it and as
// json.Marshal writes it, whatever the span. The error is [ErrTrivial] for a span with fewer than MinActions useful actions or
// without words for a description, a [*SegmentError] for an empty span or one outside the trajectory, that of Gate, and
// another for an option, a reward that is not in [0, 1], an ID that is not UTF-8, an argument that is no JSON value or a skill
// that is too large for a file. ctx is checked at the start and once a step. The time is linear in the text of the trajectory,
// which is scanned once.
func Induce(ctx context.Context, traj Trajectory, span Span, o *InduceOptions) (*Induced, error) {
	in, err := newInduction(ctx, traj, o)
	if err != nil {
		return nil, err
	}
	if err := checkSpans([]Span{span}, len(traj.Steps)); err != nil {
		return nil, err
	}
	if err := in.gate(ctx); err != nil {
		return nil, err
	}
	level := LevelSubtask
	if span.End-span.Start == len(traj.Steps) {
		level = LevelTask
	}
	return in.induce(ctx, span, level)
}

// InduceAll cuts a trajectory by [Segment] and makes a skill of each span by [Induce], in order. A span without one has the
// reason in its outcome, for example [ErrTrivial] or [ErrUnsafe], and the others go on. Without a Level the skills are of
// LevelSubtask, also one of the whole trajectory, and of LevelTask under TaskLevel where the span has every step. Gate is
// asked once, before all else, then the trajectory is cut. Skills of one call can have equal names: a memory tells them apart.
//
// What contradicts the cut is an error before anything is asked: a Subtask, which is the text of one span, without TaskLevel or exactly
// one of Spans, and a Level other than LevelTask under TaskLevel or LevelSubtask without.
//
// The error is that of ctx, of an option, of the reward, of Gate or of Segment. Of a canceled context it comes with the
// outcomes so far. A model or embedder that is down while skills are made is no error of InduceAll: each span asks anew, and its
// outcome has the error. The time is that of Segment and of Induce for each span; of Known only the first prompt embeds the descriptions.
func InduceAll(ctx context.Context, traj Trajectory, s *SegmentOptions, o *InduceOptions) ([]Outcome, error) {
	in, err := newInduction(ctx, traj, o)
	if err := errors.Join(err, checkCut(s, o)); err != nil {
		return nil, err
	}
	if err := in.gate(ctx); err != nil {
		return nil, err
	}
	spans, err := Segment(ctx, traj, s)
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for _, span := range spans {
		level := LevelSubtask
		if s != nil && s.TaskLevel && span.End-span.Start == len(traj.Steps) {
			level = LevelTask
		}
		made, err := in.induce(ctx, span, level)
		if ctx.Err() != nil && err != nil {
			return out, err
		}
		out = append(out, Outcome{span, made, err})
	}
	return out, nil
}

// checkCut says where what is asked of the skills contradicts how the trajectory is cut.
func checkCut(s *SegmentOptions, o *InduceOptions) error {
	if o == nil {
		return nil
	}
	if s == nil {
		s = &SegmentOptions{}
	}
	var faults []error
	if one := len(s.Spans) == 1 || s.TaskLevel && len(s.Spans) == 0; !one && !blank(o.Subtask) {
		faults = append(faults, fmt.Errorf("skill: induce all: Subtask is %.80q, but there can be more than one span: want TaskLevel, one of Spans, or no Subtask",
			o.Subtask))
	}
	level := LevelSubtask
	if s.TaskLevel {
		level = LevelTask
	}
	if told := o.Level == LevelTask || o.Level == LevelSubtask; told && o.Level != level {
		faults = append(faults, fmt.Errorf("skill: induce all: Level is %q, but TaskLevel is %t: want %q or nothing", o.Level, s.TaskLevel, level))
	}
	return errors.Join(faults...)
}

// Solved is a gate of [InduceOptions] that passes trajectories with a reward of 1. The error wraps [ErrNotSolved].
func Solved(ctx context.Context, traj Trajectory) error {
	switch {
	case traj.Reward == nil:
		return fmt.Errorf("%w: %q has no reward", ErrNotSolved, traj.ID)
	case !(*traj.Reward >= 1):
		return fmt.Errorf("%w: the reward of %q is %v", ErrNotSolved, traj.ID, *traj.Reward)
	}
	return nil
}

// An induction is what the skills of one trajectory have in common.
type induction struct {
	o        *InduceOptions
	traj     Trajectory
	sha      string
	known    *knownList
	place    string         // before the steps in findings and errors: "success " or "failure ", else empty
	findings []scan.Finding // about the task and the subtask
	unsafe   error
}

// newInduction checks all but the steps.
func newInduction(ctx context.Context, traj Trajectory, o *InduceOptions) (*induction, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("skill: induce: %w", err)
	}
	var opts InduceOptions
	if o != nil {
		opts = *o
	}
	o = &opts
	if blank(o.Subtask) {
		o.Subtask = ""
	}
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("skill: induce: "+format, args...))
	}
	if o.MinActions < 0 {
		fault("MinActions is %d, want at least 1, or 0 for the default", o.MinActions)
	}
	if o.Format != FormatText && o.Format != FormatCode {
		fault("Format is %v, want FormatText or FormatCode", o.Format)
	}
	if o.Level != "" && o.Level != LevelTask && o.Level != LevelSubtask {
		fault("Level is %.80q, want %q, %q or nothing", o.Level, LevelTask, LevelSubtask)
	}
	if o.Retries != nil && *o.Retries < 0 {
		fault("Retries is %d, want at least 0", *o.Retries)
	}
	if o.Model != strings.TrimSpace(o.Model) || !utf8.ValidString(o.Model) {
		fault("Model is %.80q, want UTF-8 without white space around it", o.Model)
	}
	for i, s := range o.Known {
		if missing(s) {
			fault("Known: skill %d is nil", i)
		}
	}
	if r := traj.Reward; r != nil && !(*r >= 0 && *r <= 1) {
		fault("the reward of trajectory %.80q is %v, want 0 to 1", traj.ID, *r)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	in := &induction{o: o, traj: traj, sha: digest(traj), known: &knownList{skills: o.Known, embedder: o.Embedder}}
	in.unsafe = in.scan(&in.findings, "task", traj.Task)
	if err := in.scan(&in.findings, "subtask", o.Subtask); in.unsafe == nil {
		in.unsafe = err
	}
	return in, nil
}

func (in *induction) gate(ctx context.Context) error {
	if in.o.Gate == nil {
		return nil
	}
	return in.o.Gate(ctx, in.traj)
}

// scan adds the findings in a text and returns an error for the first of severity High.
func (in *induction) scan(findings *[]scan.Finding, field, text string) error {
	if text == "" {
		return nil
	}
	found := scan.Text(field, text)
	*findings = append(*findings, found...)
	for _, f := range found {
		if f.Severity >= scan.High {
			return fmt.Errorf("%w: rule %s, %s, line %d", ErrUnsafe, f.Rule, f.Field, f.Line)
		}
	}
	return nil
}

// A part is a span that is fit for induction.
type part struct {
	traj     Trajectory
	span     Span
	steps    []Step
	args     [][]arg
	kept     []int // the useful actions
	findings []scan.Finding
}

// part checks and scans the steps of a span.
func (in *induction) part(ctx context.Context, span Span) (*part, error) {
	if in.unsafe != nil {
		return nil, in.unsafe
	}
	p := &part{traj: in.traj, span: span, steps: in.traj.Steps[span.Start:span.End], findings: slices.Clone(in.findings)}
	p.args = make([][]arg, len(p.steps))
	for i, s := range p.steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: induce: %sstep %d: %w", in.place, span.Start+i, err)
		}
		var err error
		if p.args[i], err = sortedArgs(s.Args); err != nil {
			return nil, fmt.Errorf("skill: induce: %sstep %d: arguments of %.80q: %w", in.place, span.Start+i, s.Name, err)
		}
		eachText(s, p.args[i], func(field, text string) {
			if err == nil {
				err = in.scan(&p.findings, fmt.Sprintf("%sstep %d %s", in.place, span.Start+i, field), text)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	p.kept = usefulSteps(p.steps, p.args)
	return p, nil
}

// eachText calls f for every text of a step, also the names in its arguments.
func eachText(s Step, args []arg, f func(field, text string)) {
	f("marker", s.Marker)
	f("thought", s.Thought)
	f("action", s.Name)
	for _, a := range args {
		f("argument", a.name)
		a.each(func(text string, number bool) {
			if !number {
				f("argument", text)
			}
		})
	}
	f("observation", s.Observation)
}

// trivial returns ErrTrivial if the part has too few useful actions.
func (p *part) trivial(o *InduceOptions) error {
	if n, want := len(p.kept), cmp.Or(o.MinActions, defaultMinActions); n < want {
		return fmt.Errorf("%w: [%d, %d) has %d useful actions, want %d", ErrTrivial, p.span.Start, p.span.End, n, want)
	}
	return nil
}

func (in *induction) induce(ctx context.Context, span Span, level Level) (*Induced, error) {
	p, err := in.part(ctx, span)
	if err != nil {
		return nil, err
	}
	if err := p.trivial(in.o); err != nil {
		return nil, err
	}
	v := newValues(in.o.Keep, in.o.Subtask, p)
	if in.o.Generate == nil {
		d, err := induceByRule(ctx, in.o, p, v)
		if err != nil {
			return nil, err
		}
		return finish(in.o, d, nil, v, p.findings, in.origin(p, level))
	}
	d, refused, err := in.generate(ctx, span, leakCheck(in.o, v))
	if err != nil {
		return nil, err
	}
	return finish(in.o, d, refused, v, p.findings, in.origin(p, level))
}

// leakCheck returns what refuses a reply.
func leakCheck(o *InduceOptions, v *values) func(*Document) error {
	return func(d *Document) error {
		if o.RejectLeaks {
			return leakError(v.leaksOf(d.Description(), d.Body(), o.Format))
		}
		return nil
	}
}

func leakError(leaks []string) error {
	if len(leaks) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %.80q", ErrLeak, leaks[0])
}

func (in *induction) origin(p *part, level Level) Origin {
	return Origin{
		Trajectory: in.traj.ID, Task: in.traj.TaskID, Group: in.traj.Group, Start: p.span.Start, End: p.span.End,
		Level: cmp.Or(in.o.Level, level), Reward: in.traj.Reward, Inducer: inducerName(in.o),
		Tainted: slices.ContainsFunc(p.findings, func(f scan.Finding) bool { return f.Severity >= scan.Medium }),
		SHA256:  in.sha,
	}
}

func inducerName(o *InduceOptions) string {
	if o.Generate == nil {
		return rulesName
	}
	return cmp.Or(o.Model, "generator")
}

// finish checks a document for leaks and writes its record.
func finish(o *InduceOptions, d *Document, refused []error, v *values, findings []scan.Finding, origins ...Origin) (*Induced, error) {
	leaks := v.leaksOf(d.Description(), d.Body(), o.Format)
	if err := leakError(leaks); o.RejectLeaks && err != nil {
		return nil, err
	}
	r := Record{Level: origins[0].Level, Format: o.Format, Inducer: inducerName(o), Origins: origins}
	if o.Format == FormatCode {
		lang, source, _ := Code(d.Body())
		var err error
		if r.Function, err = pythonFunction(source); err != nil {
			return nil, fmt.Errorf("skill: induce: the code %w", err)
		}
		r.Calls = calls.Of(lang, source)
	}
	if err := d.SetRecord(r); err != nil {
		return nil, err
	}
	if len(d.Content) > maxFile/2 { // else all that is kept to limits fits
		if _, err := Marshal(d); err != nil {
			return nil, err
		}
	}
	return &Induced{Document: d, Leaks: leaks, Findings: findings, Refused: refused}, nil
}

// induceByRule makes a skill without a model.
func induceByRule(ctx context.Context, o *InduceOptions, p *part, v *values) (*Document, error) {
	a := newAbstracter(o.Keep, v)
	actions, err := a.actions(ctx, p)
	if err != nil {
		return nil, err
	}
	notes, err := a.notes(ctx, p)
	if err != nil {
		return nil, err
	}
	description := p.describe(o, v)
	if description == "" {
		return nil, fmt.Errorf("%w: [%d, %d) has no words for a description", ErrTrivial, p.span.Start, p.span.End)
	}
	d := &Document{Frontmatter: Frontmatter{Name: slug(description), Description: description}}
	if o.Format == FormatCode {
		function, source := pythonSource(d.Name(), actions, notes)
		d.Frontmatter.Name = slug(function)
		d.Content = pythonBody(source)
		return d, nil
	}
	d.Content = TextBody{procedure(actions), notes}.String()
	return d, nil
}

// procedure returns the templates, equal neighbours once.
func procedure(actions []action) []string {
	var steps []string
	for i := 0; i < len(actions); {
		n := repeats(actions[i:])
		t := actions[i].template
		if n > 1 {
			t += " (repeat)"
		}
		steps = append(steps, t)
		i += n
	}
	return steps
}

// repeats returns how many leading actions have one template.
func repeats(actions []action) int {
	n := 1
	for n < len(actions) && actions[n].template == actions[0].template {
		n++
	}
	return n
}

// describe returns the description of a skill of the part; empty if nothing has words for it.
func (p *part) describe(o *InduceOptions, v *values) string {
	if about := cmp.Or(o.Subtask, spanMarker(p.traj, p.span)); about != "" {
		return v.cut(describe(about, o.Keep))
	}
	first, last := p.steps[p.kept[0]].Name, p.steps[p.kept[len(p.kept)-1]].Name
	from, to := v.cut(describe(first, o.Keep)), v.cut(describe(last, o.Keep))
	if from == "" || to == "" || from == to {
		return cmp.Or(from, to)
	}
	return v.cut(describe(first+" then "+last, o.Keep))
}

// spanMarker returns the text that says what a span is for; empty if nothing does. Several markers in one span name only
// parts of it.
func spanMarker(traj Trajectory, span Span) string {
	var markers []string
	for _, s := range traj.Steps[span.Start:span.End] {
		if !blank(s.Marker) {
			markers = append(markers, s.Marker)
		}
	}
	whole := span.End-span.Start == len(traj.Steps)
	switch {
	case len(markers) > 0 && !(whole && len(markers) > 1 && !blank(traj.Task)):
		return markers[0]
	case whole && !blank(traj.Task):
		return traj.Task
	}
	return ""
}

// An arg is one argument of a structured action.
type arg struct {
	name, json string
	constant   bool // true, false or null
}

func sortedArgs(args map[string]any) ([]arg, error) {
	var out []arg
	for _, k := range slices.Sorted(maps.Keys(args)) {
		b, err := json.Marshal(args[k])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", k, err)
		}
		v := string(b)
		out = append(out, arg{k, v, v == "true" || v == "false" || v == "null"})
	}
	return out, nil
}

// usefulSteps returns the indices of the actions that had an effect.
func usefulSteps(steps []Step, args [][]arg) []int {
	var kept []int
	for i, s := range steps {
		if s.Err || !isAction(s) {
			continue
		}
		if n := len(kept); n > 0 {
			k := kept[n-1]
			p := steps[k]
			same := p.Name == s.Name && (p.Args == nil) == (s.Args == nil) && slices.Equal(args[k], args[i])
			if same && p.Observation == s.Observation {
				continue
			}
		}
		kept = append(kept, i)
	}
	return kept
}

// An action is one with its literals replaced.
type action struct {
	template string  // as text, on one line and without an arrow
	tool     string  // of a structured action; empty for a free text
	pieces   []piece // of a free text
	args     []param // of a structured action
}

// A param is an argument of a structured action: a placeholder by its name or, where that is empty, a constant.
type param struct {
	arg, json, name string
}

// An abstracter names the literals of free texts and the arguments of structured actions, each kind by itself.
type abstracter struct {
	literals, params *abstraction
}

func newAbstracter(keep func(kind, value string) bool, v *values) abstracter {
	return abstracter{newAbstraction(keep, v), newAbstraction(keep, nil)}
}

// actions returns the useful actions of a part.
func (a abstracter) actions(ctx context.Context, p *part) ([]action, error) {
	out := make([]action, len(p.kept))
	for k, i := range p.kept {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: induce: step %d: %w", p.span.Start+i, err)
		}
		out[k] = a.action(p.steps[i], p.args[i])
	}
	return out, nil
}

// notes returns what is to be known about refused actions that were followed by an accepted one of the same kind.
func (a abstracter) notes(ctx context.Context, p *part) ([]string, error) {
	lastOf := make(map[string]int) // the last kept step by kind of action
	for _, i := range p.kept {
		lastOf[actionKey(p.steps[i])] = i
	}
	var notes []string
	noted := make(map[string]bool)
	for i, s := range p.steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: induce: step %d: %w", p.span.Start+i, err)
		}
		if !s.Err || !isAction(s) || lastOf[actionKey(s)] <= i { // a kind without a kept step has 0
			continue
		}
		message := a.message(s)
		if message == "" {
			continue
		}
		note := a.action(s, p.args[i]).template + " can fail: " + message
		if !noted[note] {
			noted[note] = true
			notes = append(notes, note)
		}
	}
	return notes, nil
}

// message returns the first line of an observation with its literals replaced; empty if it is longer than a note may be.
func (a abstracter) message(s Step) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s.Observation), "\n")
	line = oneLine(a.literals.text(printable(line)))
	if utf8.RuneCountInString(line) > maxNote {
		return ""
	}
	return line
}

// action replaces the literals of a step.
func (a abstracter) action(s Step, args []arg) action {
	if s.Args == nil {
		out := action{pieces: a.literals.pieces(printable(s.Name))}
		out.template = oneLine(join(out.pieces))
		return out
	}
	out := action{tool: s.Name, args: make([]param, len(args))}
	parts := make([]string, len(args))
	for i, g := range args {
		out.args[i] = param{arg: g.name, json: g.json}
		if keep := a.params.keep; g.constant || keep != nil && keep(g.name, g.json) {
			parts[i] = g.name + "=" + g.json
		} else {
			parts[i] = a.params.name(snake(g.name), g.json)
			out.args[i].name = parts[i]
		}
	}
	out.template = oneLine(printable(s.Name + "(" + strings.Join(parts, ", ") + ")"))
	return out
}

var (
	// With what is joined to it: without its number nothing is left of "HEA-22" or "#7" that helps to find a skill.
	anyPlaceholder   = regexp.MustCompile(`([\pL\pN_]*[-#/])*<(url|email|text|id|date|time|path|n)(_[0-9]+)?>`)
	loosePunctuation = regexp.MustCompile(`\s+([,;:!?])`)
	argumentList     = regexp.MustCompile(`([\pL\pN_])\([^()]*\)`)
	nameSeparator    = strings.NewReplacer("_", " ", ".", " ")
)

// describe turns a text into a description: whole words without literals, placeholders and arguments.
func describe(s string, keep func(kind, value string) bool) string {
	s = newAbstraction(keep, nil).text(printable(s))
	s = anyPlaceholder.ReplaceAllString(s, " ")
	s = argumentList.ReplaceAllString(s, "$1")
	s = loosePunctuation.ReplaceAllString(nameSeparator.Replace(s), "$1")
	return firstParts(strings.Fields(oneLine(s)), " ", maxDescription)
}

// slug makes the name of a skill from its description.
func slug(description string) string {
	other := func(r rune) bool { return r >= utf8.RuneSelf || !isAlnum(byte(r)) }
	words := strings.FieldsFunc(strings.ToLower(description), other)
	name := firstParts(words, "-", maxName)
	if name == "" || unsafeName(name) != "" {
		return "skill"
	}
	return name
}

// firstParts joins the leading parts whose joined length is at most limit runes.
func firstParts(parts []string, sep string, limit int) string {
	n := -len(sep)
	for i, p := range parts {
		if n += len(sep) + utf8.RuneCountInString(p); n > limit {
			return strings.Join(parts[:i], sep)
		}
	}
	return strings.Join(parts, sep)
}

// snake returns a name in snake case: orderId and order-id become order_id.
func snake(name string) string {
	var b strings.Builder
	var prev rune
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '_'
		case unicode.IsUpper(r) && unicode.IsLower(prev):
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		prev = r
	}
	if s := strings.Trim(b.String(), "_"); s != "" {
		return s
	}
	return "arg"
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// printable returns valid UTF-8 without the control characters that are no white space.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, valid(s))
}

var otherArrow = strings.NewReplacer("->", "=>", "→", "=>")

// oneLine collapses white space and replaces arrows, so that a printable text is one line and no part of a procedure.
func oneLine(s string) string { return strings.Join(strings.Fields(otherArrow.Replace(s)), " ") }

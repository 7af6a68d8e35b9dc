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

	"github.com/throughline-go/throughline/skill/scan"
)

// Reasons for which [Induce] makes no skill.
var (
	ErrTrivial   = errors.New("skill: the span is trivial")                      // there is nothing to learn from it
	ErrUnsafe    = errors.New("skill: the text tries to steer an agent")         // the scan has a finding of severity scan.High
	ErrNotSolved = errors.New("skill: the trajectory is not known to be solved") // from [Solved]
	ErrLeak      = errors.New("skill: a value of the episode is left in the skill")
	ErrReply     = errors.New("skill: no reply of the model can be used")
)

// maxNote is the length in runes up to which an error message is short enough to be a note.
const maxNote = 160

// InduceOptions adjusts [Induce]. A nil *InduceOptions equals &InduceOptions{}.
type InduceOptions struct {
	Subtask    string // text of the subtask, for the description; empty means the marker of the span, or what Induce finds
	MinActions int    // fewer useful actions make a trivial span; zero means 2

	// Keep exempts a literal from abstraction, for example one that is the same in every task. Kind is url, email, text,
	// id, date, time, path or n, for an argument of a structured action its name, and value the text, for such an
	// argument its JSON. Nil exempts none.
	Keep func(kind, value string) bool

	Format Format // of the skill; the zero value is text
	Level  Level  // noted in the origin; empty means LevelTask for a span of the whole trajectory, else LevelSubtask

	// Gate refuses a trajectory by an error, for example [Solved]. Nil refuses none, as in the paper.
	Gate func(ctx context.Context, traj Trajectory) error

	// Generate asks a language model for the skill: it gets a prompt and returns the reply. Nil makes the skill by rule.
	Generate func(ctx context.Context, prompt string) (string, error)
	Model    string   // names the model in the record; empty means "generator"
	Retries  *int     // how often a reply that cannot be used is asked for again, with what was wrong; nil means 1
	Known    []Skill  // skills that there are: the prompt shows the 20 most similar, so that the reply does not repeat them
	Embedder Embedder // finds them; nil means HashEmbedder{}

	RejectLeaks bool // a value of the episode left in the skill is an error; false notes it in Induced.Leaks
}

// An Induced is a skill that was made of an episode.
type Induced struct {
	*Document
	Leaks    []string       // values of the span that stand in the description or the body, sorted
	Findings []scan.Finding // doubts about the text of the span; with any of severity Medium the origin is tainted
	Refused  []error        // why replies of Generate could not be used, in order
}

// An Outcome is what [InduceAll] made of one span.
type Outcome struct {
	Span     Span
	*Induced       // nil if there is no skill
	Err      error // why there is none; nil if there is one
}

// Induce makes one text skill of one span of a finished episode, without a model:
//
//  1. Refused actions, repetitions without effect (the action and the observation of the step before) and thoughts are
//     dropped.
//  2. Each action becomes a template. In a free text, URLs, e-mail addresses, quotations, identifiers, dates, times,
//     paths and numbers become <url>, <email>, <text>, <id>, <date>, <time>, <path> and <n>; a second value of a kind
//     becomes <n_2>, the same value the same placeholder. A structured action becomes name(arguments) in bytewise order,
//     each text, number, list or object under the name of its argument ("order_id", for a second value "order_id_2");
//     true, false and null stay.
//  3. The templates, equal neighbours merged and marked "(repeat)", joined by "→", are the procedure: the first bullet of
//     the body, which [Procedure] reads.
//  4. A refused action followed by an accepted one of the same kind leaves a note with the first line of its message.
//  5. The description is the subtask, else the marker of the span, for a span with the whole trajectory the task, else
//     the first and the last template; literals, what is joined to one by "-", "#" or "/", arguments and punctuation of
//     names are removed. The name is made of its ASCII words.
//
// The outcome of the episode does not matter, as in arXiv:2608.20274, where most skills come from unsolved tasks; the
// inducer itself is ours. Equal arguments give an equal document, which satisfies [Marshal]. The error is [ErrTrivial]
// for a span with fewer than MinActions useful actions or without words for a description, a [*SegmentError] for an empty
// span or one outside the trajectory, and another for an argument that is no JSON value. ctx is checked at the start and
// once a step.
func Induce(ctx context.Context, traj Trajectory, span Span, o *InduceOptions) (*Induced, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("skill: induce: %w", err)
	}
	var opts InduceOptions
	if o != nil {
		opts = *o
	}
	if opts.MinActions < 0 {
		return nil, fmt.Errorf("skill: induce: MinActions is %d, want at least 1", opts.MinActions)
	}
	if err := checkSpans([]Span{span}, len(traj.Steps)); err != nil {
		return nil, err
	}
	steps := traj.Steps[span.Start:span.End]
	args := make([][]arg, len(steps))
	for i, s := range steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: induce: step %d: %w", span.Start+i, err)
		}
		var err error
		if args[i], err = sortedArgs(s.Args); err != nil {
			return nil, fmt.Errorf("skill: induce: step %d: arguments of %q: %w", span.Start+i, s.Name, err)
		}
	}
	kept := usefulSteps(steps, args)
	if len(kept) < cmp.Or(opts.MinActions, defaultMinActions) {
		return nil, ErrTrivial
	}

	a := abstracter{newAbstraction(opts.Keep), newAbstraction(opts.Keep)}
	templates := make([]string, len(kept))
	for k, i := range kept {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: induce: step %d: %w", span.Start+i, err)
		}
		templates[k] = a.template(steps[i], args[i])
	}
	var procedure []string
	for k := 0; k < len(templates); {
		n := 1
		for k+n < len(templates) && templates[k+n] == templates[k] {
			n++
		}
		t := templates[k]
		if n > 1 {
			t += " (repeat)"
		}
		procedure = append(procedure, t)
		k += n
	}
	lastOf := make(map[string]int) // the last kept step by kind of action
	for _, i := range kept {
		lastOf[actionKey(steps[i])] = i
	}
	var notes []string
	noted := make(map[string]bool)
	for i, s := range steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: induce: step %d: %w", span.Start+i, err)
		}
		if !s.Err || !isAction(s) || lastOf[actionKey(s)] <= i { // a kind without a kept step has 0
			continue
		}
		line, _, _ := strings.Cut(strings.TrimSpace(s.Observation), "\n")
		line = oneLine(a.literals.text(valid(line)))
		if n := utf8.RuneCountInString(line); n == 0 || n > maxNote {
			continue
		}
		note := a.template(s, args[i]) + " can fail: " + line
		if !noted[note] {
			noted[note] = true
			notes = append(notes, note)
		}
	}

	first, last := kept[0], kept[len(kept)-1]
	about := cmp.Or(opts.Subtask, spanMarker(traj, span), steps[first].Name+" then "+steps[last].Name)
	description := describe(about, opts.Keep)
	if description == "" {
		return nil, ErrTrivial
	}
	return &Induced{Document: &Document{
		Frontmatter: Frontmatter{Name: slug(description), Description: description},
		Content:     textBody(procedure, notes),
	}}, nil
}

// spanMarker returns the text that says what a span is for; empty if nothing does. Several markers in one span name only
// parts of it.
func spanMarker(traj Trajectory, span Span) string {
	var markers []string
	for _, s := range traj.Steps[span.Start:span.End] {
		if s.Marker != "" {
			markers = append(markers, s.Marker)
		}
	}
	whole := span.End-span.Start == len(traj.Steps)
	switch {
	case len(markers) > 0 && !(whole && len(markers) > 1 && traj.Task != ""):
		return markers[0]
	case whole:
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

// An abstracter names the literals of free texts and the arguments of structured actions, each kind by itself.
type abstracter struct {
	literals, params *abstraction
}

// template returns an action with its literals replaced, on one line and without an arrow.
func (a abstracter) template(s Step, args []arg) string {
	if s.Args == nil {
		return oneLine(a.literals.text(valid(s.Name)))
	}
	parts := make([]string, len(args))
	for i, g := range args {
		if keep := a.params.keep; g.constant || keep != nil && keep(g.name, g.json) {
			parts[i] = g.name + "=" + g.json
		} else {
			parts[i] = a.params.name(snake(g.name), g.json)
		}
	}
	return oneLine(valid(s.Name + "(" + strings.Join(parts, ", ") + ")"))
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
	s = newAbstraction(keep).text(valid(s))
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

var otherArrow = strings.NewReplacer("->", "=>", "→", "=>")

// oneLine collapses white space and removes what would not survive in a bullet or would split a procedure.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(otherArrow.Replace(s)), " ") // only now: a control character can part an arrow
}

// Solved is a gate of [InduceOptions] that passes trajectories with a reward of 1.
func Solved(ctx context.Context, traj Trajectory) error {
	if traj.Reward == nil || !(*traj.Reward >= 1) {
		return ErrNotSolved
	}
	return nil
}

// InduceAll cuts a trajectory by [Segment] and makes a skill of each span by [Induce].
func InduceAll(ctx context.Context, traj Trajectory, s *SegmentOptions, o *InduceOptions) ([]Outcome, error) {
	return nil, errors.New("skill: todo")
}

// Contrast makes a text skill of what the longest failure of a task did and its shortest success did not.
func Contrast(ctx context.Context, trajs []Trajectory, o *InduceOptions) (*Induced, error) {
	return nil, errors.New("skill: todo")
}

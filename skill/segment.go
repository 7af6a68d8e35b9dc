package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Defaults of the size of a span, in actions. Agent Workflow Memory (arXiv:2409.07429) asks for at least 2.
const (
	defaultMinActions = 2
	defaultMaxActions = 12
)

// SegmentOptions adjusts [Segment]. A nil *SegmentOptions equals &SegmentOptions{}.
type SegmentOptions struct {
	Spans      []Span // known spans, for example of a planner: checked and returned; empty means none are known
	TaskLevel  bool   // one span with everything, unless Spans are given; false cuts the trajectory into subtasks
	MinActions int    // fewer actions do not make a span of their own; zero means 2, or MaxActions if that is smaller
	MaxActions int    // most actions of a span cut by rule, at least MinActions; zero means 12, or MinActions if that is larger

	// Generate asks a language model where subtasks start: it gets a prompt and returns the reply. Nil asks none.
	Generate func(ctx context.Context, prompt string) (string, error)
	Retries  *int // how often a reply that cannot be used is asked for again, with what was wrong; nil means 1

	// NoFallback makes it an error that no reply of Generate can be used, or that the trajectory cannot be shown to it; false
	// cuts as without Generate then and tells Warn why.
	NoFallback bool
	Warn       func(error) // is told why Generate did not decide, and which steps Spans leave out; nil means that nobody is told
}

// A SegmentError reports a span that cannot be used.
type SegmentError struct {
	Index      int // position of the span in its list; -1 for the list as a whole
	Start, End int // of the span; for the list as a whole, of the trajectory
	Reason     string
}

// Error names the span and the rule.
func (e *SegmentError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("skill: spans of [%d, %d): %s", e.Start, e.End, e.Reason)
	}
	return fmt.Sprintf("skill: span %d [%d, %d) %s", e.Index, e.Start, e.End, e.Reason)
}

// Segment cuts a trajectory into the spans of its subtasks. The first rule that applies decides:
//
//  1. Spans of the options must be sorted, disjoint, not empty and within the steps, else the error is a [*SegmentError].
//     They may leave gaps, of which Warn is told.
//  2. With TaskLevel there is one span.
//  3. With Generate a model returns the first steps of the spans, as a JSON list: 0, then strictly increasing, all below
//     the number of steps. Its spans stay as they are, however short. A list that breaks this is a [*SegmentError] and
//     never mended: the model is asked again with what was wrong, and after Retries the next rules decide, or with
//     NoFallback the error, which wraps [ErrReply].
//  4. A step with a Marker that is not blank opens a span; steps before the first marker make one too.
//  5. Otherwise a span ends, once it has MinActions actions, where the kind of action changes (of a tool "app.call" the
//     app, else the whole name; of a free text the first word) and either both are tools with an app or the new action
//     shares no literal with the span; and at MaxActions actions.
//
// After rules 4 and 5 a span with fewer than MinActions actions joins the next one, the last joins the one before; the
// first marker of a span, read by [Induce], is the one that counts. Steps that are thoughts alone count for no size; under
// rule 5 they belong to the next action, and those after the last action to the last span. Except under rule 1 the spans
// cover every step, each once. No steps give no spans.
//
// Under rule 3 the prompt shows the task and every step, long texts cut in the middle, in less than 160,000 bytes; the same
// trajectory gives the same bytes. The model is not asked about a sole step. Nor about a trajectory that is too long for
// this, or whose text has a finding of severity [scan.High] ([ErrUnsafe]): then the next rules decide, or with NoFallback
// the error. An error of Generate itself is always one of Segment.
//
// The rules are ours. Rule 5 is weak: against the thoughts of 18 demonstrations in a household world its precision is
// 0.53 and its recall 0.53; markers or known spans are better. An argument that is no JSON value is an error under the
// rules that read it, 3 and 5. ctx is checked at the start, once a step and before each call of Generate. Without a model
// the time is linear in the text.
func Segment(ctx context.Context, traj Trajectory, o *SegmentOptions) ([]Span, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("skill: segment: %w", err)
	}
	var opts SegmentOptions
	if o != nil {
		opts = *o
	}
	var faults []error
	if opts.MinActions < 0 || opts.MaxActions < 0 || opts.MaxActions != 0 && opts.MaxActions < max(opts.MinActions, 1) {
		faults = append(faults, fmt.Errorf("skill: segment: MinActions %d, MaxActions %d: want 1 <= MinActions <= MaxActions",
			opts.MinActions, opts.MaxActions))
	}
	if opts.Retries != nil && *opts.Retries < 0 {
		faults = append(faults, fmt.Errorf("skill: segment: Retries is %d, want at least 0", *opts.Retries))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if opts.MinActions == 0 {
		opts.MinActions = defaultMinActions
		if opts.MaxActions != 0 {
			opts.MinActions = min(opts.MinActions, opts.MaxActions)
		}
	}
	if opts.MaxActions == 0 {
		opts.MaxActions = max(defaultMaxActions, opts.MinActions)
	}
	warn := opts.Warn
	if warn == nil {
		warn = func(error) {}
	}
	n := len(traj.Steps)
	switch {
	case len(opts.Spans) > 0:
		if err := checkSpans(opts.Spans, n); err != nil {
			return nil, err
		}
		if gaps := spanGaps(opts.Spans, n); len(gaps) > 0 {
			warn(fmt.Errorf("skill: segment: steps %s are in no span", strings.Join(gaps, ", ")))
		}
		return slices.Clone(opts.Spans), nil
	case n == 0:
		return nil, nil
	case opts.TaskLevel || opts.Generate != nil && n == 1:
		return []Span{{0, n}}, nil
	case opts.Generate != nil:
		spans, unused, err := generateSpans(ctx, traj, opts.Generate, opts.Retries)
		switch {
		case err != nil:
			return nil, err
		case unused == nil:
			return spans, nil
		case opts.NoFallback:
			return nil, unused
		}
		warn(unused)
	}
	starts := markerStarts(traj.Steps)
	if len(starts) == 0 {
		var err error
		if starts, err = ruleStarts(ctx, traj.Steps, opts.MinActions, opts.MaxActions); err != nil {
			return nil, err
		}
	}
	return mergeShort(traj.Steps, starts, opts.MinActions), nil
}

// spanGaps returns the ranges of steps that no span has, as text.
func spanGaps(spans []Span, steps int) []string {
	var gaps []string
	end := 0
	for _, s := range append(slices.Clone(spans), Span{steps, steps}) {
		if s.Start > end {
			gaps = append(gaps, fmt.Sprintf("[%d, %d)", end, s.Start))
		}
		end = s.End
	}
	return gaps
}

const segmentInstructions = `You cut what an agent did into subtasks: stretches of steps that serve one purpose, such as finding a thing or
sending a message. Below is one episode, a step a line with its number under "step". Say at which steps a new subtask starts. A subtask that another
task could need as well is better than one that fits this task alone; a single step is seldom one.
`

// generateSpans asks a model for the spans of a trajectory. unused says why it gives none, err that nothing else should be tried.
func generateSpans(ctx context.Context, traj Trajectory, model func(context.Context, string) (string, error),
	retries *int) (spans []Span, unused, err error) {
	n := len(traj.Steps)
	if err := unsafeEpisode(ctx, traj); err != nil {
		if errors.Is(err, ErrUnsafe) {
			return nil, err, nil
		}
		return nil, nil, err
	}
	prompt, err := segmentPrompt(traj)
	if err != nil {
		var long *SegmentError
		if errors.As(err, &long) {
			return nil, err, nil
		}
		return nil, nil, err
	}
	_, err = ask(ctx, model, prompt, retries, func(reply string) (bool, error) {
		starts, err := startsReply(reply, n)
		if err != nil {
			return false, err
		}
		for i, s := range starts {
			spans = append(spans, Span{s, n})
			if i > 0 {
				spans[i-1].End = s
			}
		}
		return false, nil
	})
	if errors.Is(err, ErrReply) {
		return nil, err, nil
	}
	return spans, nil, err
}

// unsafeEpisode returns ErrUnsafe if anything of an episode tries to steer a model, also what a prompt would cut.
func unsafeEpisode(ctx context.Context, traj Trajectory) error {
	if found := steers("task", traj.Task); found != "" {
		return fmt.Errorf("%w: %s", ErrUnsafe, found)
	}
	for i, s := range traj.Steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("skill: segment: step %d: %w", i, err)
		}
		args, err := sortedArgs(s.Args)
		if err != nil {
			return fmt.Errorf("skill: segment: step %d: arguments of %.80q: %w", i, s.Name, err)
		}
		found := ""
		eachText(s, args, func(field, text string) {
			if found == "" {
				found = steers(field, text)
			}
		})
		if found != "" {
			return fmt.Errorf("%w: step %d, %s", ErrUnsafe, i, found)
		}
	}
	return nil
}

// segmentPrompt writes the prompt for the starts of the spans. It is a *SegmentError if not every step can be shown.
func segmentPrompt(traj Trajectory) (string, error) {
	n := len(traj.Steps)
	episode, all, err := promptEpisode(traj, Span{0, n}, "", maxEpisodeData)
	if err != nil {
		return "", err
	}
	if !all {
		return "", &SegmentError{-1, 0, n, fmt.Sprintf("the steps do not fit into the %d bytes of a prompt", maxEpisodeData)}
	}
	format := fmt.Sprintf("Reply with one JSON list of step numbers and nothing else, for example [0, 4, 9]. It starts with 0, each number is\n"+
		"larger than the one before, and none is larger than %d.\n", n-1)
	return writePrompt(segmentInstructions, []promptPart{{"EPISODE", episode}}, format), nil
}

// startsReply reads a reply with the first steps of the spans of n steps. Whatever is wrong is a *SegmentError.
func startsReply(reply string, n int) ([]int, error) {
	whole := func(format string, args ...any) error {
		return &SegmentError{-1, 0, n, fmt.Sprintf(format, args...)}
	}
	v, err := decodeReply(reply)
	if err != nil {
		return nil, whole("the reply %v", err)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, whole("the reply is %s, want a list of step numbers", jsonKind(v))
	}
	starts := make([]int, len(list))
	for i, e := range list {
		number, ok := e.(json.Number)
		if !ok {
			return nil, whole("number %d of the list is %s, want a step number", i, jsonKind(e))
		}
		if starts[i], err = strconv.Atoi(number.String()); err != nil {
			return nil, whole("number %d of the list is %.40s, want a step number", i, number)
		}
	}
	return starts, checkStarts(starts, n)
}

// checkStarts returns a *SegmentError unless starts are the first steps of spans that cover n steps.
func checkStarts(starts []int, n int) error {
	if len(starts) == 0 {
		return &SegmentError{-1, 0, n, "the list is empty, want at least step 0"}
	}
	for i, s := range starts {
		reason := ""
		switch {
		case s < 0 || s >= n:
			reason = fmt.Sprintf("starts outside the steps 0 to %d", n-1)
		case i == 0 && s != 0:
			reason = "does not start at step 0"
		case i > 0 && s <= starts[i-1]:
			reason = fmt.Sprintf("does not start after step %d, where the one before starts", starts[i-1])
		}
		if reason != "" {
			end := n
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			return &SegmentError{i, s, end, reason}
		}
	}
	return nil
}

func checkSpans(spans []Span, steps int) error {
	end := 0
	for i, s := range spans {
		reason := ""
		switch {
		case s.Start < 0 || s.End > steps:
			reason = fmt.Sprintf("is out of range for %d steps", steps)
		case s.Start >= s.End:
			reason = "is empty"
		case s.Start < end:
			reason = "is out of order or overlaps the one before"
		}
		if reason != "" {
			return &SegmentError{i, s.Start, s.End, reason}
		}
		end = s.End
	}
	return nil
}

func markerStarts(steps []Step) []int {
	var starts []int
	for i, s := range steps {
		if !blank(s.Marker) {
			starts = append(starts, i)
		}
	}
	if len(starts) > 0 && starts[0] > 0 {
		starts = slices.Insert(starts, 0, 0)
	}
	return starts
}

func ruleStarts(ctx context.Context, steps []Step, minActions, maxActions int) ([]int, error) {
	starts := []int{0}
	var prev Step
	size := 0
	open := make(map[string]bool) // literals of the open span
	next := 0                     // where a span would start: after the last action
	for i, s := range steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: segment: step %d: %w", i, err)
		}
		if !isAction(s) {
			continue
		}
		lits, err := stepLiterals(s)
		if err != nil {
			return nil, fmt.Errorf("skill: segment: step %d: %w", i, err)
		}
		change := size >= minActions && actionKey(s) != actionKey(prev) &&
			(hasApp(s) && hasApp(prev) || !slices.ContainsFunc(lits, func(l string) bool { return open[l] }))
		if change || size == maxActions {
			starts = append(starts, next)
			size = 0
			clear(open)
		}
		size++
		for _, l := range lits {
			open[l] = true
		}
		prev, next = s, i+1
	}
	return starts, nil
}

// mergeShort returns the spans that begin at starts, the short ones merged.
func mergeShort(steps []Step, starts []int, minActions int) []Span {
	var spans []Span
	begin, size := 0, 0
	for k, start := range starts {
		end := len(steps)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		for _, s := range steps[start:end] {
			if isAction(s) {
				size++
			}
		}
		if size < minActions && end < len(steps) {
			continue
		}
		if size < minActions && len(spans) > 0 {
			spans[len(spans)-1].End = end
			continue
		}
		spans = append(spans, Span{begin, end})
		begin, size = end, 0
	}
	return spans
}

// isAction tells a step with an action from a thought alone.
func isAction(s Step) bool {
	return !blank(s.Name)
}

// blank tells whether a text has nothing but white space and control characters.
func blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsControl(r) })
}

// actionKey returns the kind of an action.
func actionKey(s Step) string {
	if s.Args == nil {
		return strings.ToLower(strings.Fields(s.Name)[0])
	}
	if i := strings.LastIndexByte(s.Name, '.'); i >= 0 {
		return s.Name[:i]
	}
	return s.Name
}

func hasApp(s Step) bool { return s.Args != nil && strings.Contains(s.Name, ".") }

// stepLiterals returns what identifies the things an action is about: the texts and numbers among the arguments of a
// structured action, the literals of a free text.
func stepLiterals(s Step) ([]string, error) {
	var out []string
	if s.Args == nil {
		for _, l := range findLiterals(s.Name) {
			out = append(out, l.kind+" "+l.id)
		}
		return out, nil
	}
	// A value that contains itself must not reach the walk, and the library finds it.
	if _, err := json.Marshal(s.Args); err != nil {
		return nil, fmt.Errorf("arguments of %q: %w", s.Name, err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case nil, bool:
		case string:
			if v != "" {
				out = append(out, v)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		default:
			b, _ := json.Marshal(v) // a part of what has just been marshalled
			out = append(out, string(b))
		}
	}
	walk(s.Args)
	return out, nil
}

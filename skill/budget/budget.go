// Package budget chooses skills for a task under a token budget: it joins the packages skill and bps.
//
// [Select] turns loaded skills into texts, scores them against the task by their words, and returns the set that [bps.FromTexts] chooses,
// with its guarantee. [Render] writes the chosen skills as they are shown to a model, and that is what is counted, so that the rendered
// text stays within the budget. Neither needs a model or a network.
//
//	set, err := skill.LoadFS(ctx, sources, nil)
//	...
//	chosen, sel, err := budget.Select(ctx, task, set.Skills, 4000, nil)
//	...
//	prompt += budget.Render(chosen)
//
// # Cost and determinism
//
// Time goes into reading the skills, once a call. The result depends on nothing but the arguments.
package budget

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/skill"
)

// Select returns the skills to show to a model for a task, best first, and how they were chosen; positions in the selection are those
// of skills. Name, description and body count for relevance and for the budget.
//
// Options are those of [bps.FromTexts]; o.Count counts what [Render] writes. If o.Search has no Recheck, the chosen skills are counted
// again as one rendered text, o.Overhead added, and the selection shrinks if that is more than the budget: counters of most models
// do not add up exactly. To have a skill that the task names, set o.PinNamed.
//
// The text that is counted again has the skills in the order of the argument, not best first: a counter should not depend on their order.
//
// Errors are those of FromTexts; a nil skill, or a nil pointer as one, is an error too. Both results are nil then, except when ctx ends
// in the search: then they are the best so far.
func Select[S skill.Skill](ctx context.Context, task string, skills []S, budget int, o *bps.TextOptions) ([]S, *bps.Selection, error) {
	texts := make([]bps.Text, len(skills))
	for i, s := range skills {
		if missing(s) {
			return nil, nil, fmt.Errorf("budget: skill %d is nil", i)
		}
		texts[i] = text(s)
	}
	var options bps.TextOptions
	if o != nil {
		options = *o
	}
	var search bps.Options
	if options.Search != nil {
		search = *options.Search
	}
	if search.Recheck == nil {
		count := options.Count
		if count == nil {
			count = bps.EstimateTokens
		}
		search.Recheck = func(set []int) int {
			var b strings.Builder
			for _, i := range set {
				b.WriteString(texts[i].String())
			}
			n := count(b.String())
			if n < 0 {
				return n
			}
			return n + options.Overhead
		}
		options.Search = &search
	}
	sel, err := bps.FromTexts(ctx, task, texts, budget, &options)
	if sel == nil {
		return nil, nil, err
	}
	var chosen []S
	for _, i := range sel.Items {
		chosen = append(chosen, skills[i])
	}
	return chosen, sel, err
}

// missing also finds a nil pointer inside the interface.
func missing(s skill.Skill) bool {
	v := reflect.ValueOf(s)
	return s == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// Render writes skills one after another, each as its name, its description and its body without newlines around it, every part that
// is not empty followed by a newline.
func Render[S skill.Skill](skills []S) string {
	var b strings.Builder
	for _, s := range skills {
		b.WriteString(text(s).String())
	}
	return b.String()
}

func text(s skill.Skill) bps.Text {
	return bps.Text{Name: s.Name(), Description: s.Description(), Body: strings.Trim(s.Body(), "\n")}
}

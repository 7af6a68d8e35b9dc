package bfcl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Report is the result of [Evaluate].
type Report struct {
	Scores   []Score   `json:"scores"`             // one per category, in the order in which tasks first have it
	Failures []Failure `json:"failures,omitempty"` // answered tasks whose verdict is not valid, in the order of the tasks
	Missing  []string  `json:"missing,omitempty"`  // IDs of tasks without an output, in their order
	Unknown  []string  `json:"unknown,omitempty"`  // IDs of outputs without a task, in their order
	Repeated []string  `json:"repeated,omitempty"` // IDs of outputs after the first of that ID, which counts
}

// A Score counts the verdicts of one category.
type Score struct {
	Category string  `json:"category"`
	Rows     int     `json:"rows"`     // tasks
	Answered int     `json:"answered"` // those with an output
	Correct  int     `json:"correct"`
	Blank    int     `json:"blank"`            // neither a call nor silence, where that is the question: verdict blank_call, not correct
	Accuracy float64 `json:"accuracy"`         // Correct / Rows, in [0, 1]; a task without an output is not correct
	Errors   []Count `json:"errors,omitempty"` // kinds of fault, the most frequent first, then by name
}

// A Count says how often a kind of fault occurred.
type Count struct {
	Error string `json:"error"`
	Count int    `json:"count"`
}

// A Failure is a task with a verdict that is not valid.
type Failure struct {
	ID       string  `json:"id"`
	Category string  `json:"category"`
	Verdict  Verdict `json:"verdict"`
}

// Evaluate checks the output of each task. ctx is looked at before each. Two tasks with one ID, and a task that
// [NewChecker] refuses, are errors. The same tasks and outputs give the same report.
func Evaluate(ctx context.Context, tasks []Task, outputs []Output, o *Options) (*Report, error) {
	r := &Report{}
	known := make(map[string]bool, len(tasks))
	for i := range tasks {
		if known[tasks[i].ID] {
			return nil, fmt.Errorf("bfcl: two tasks have the id %q", brief(tasks[i].ID))
		}
		known[tasks[i].ID] = true
	}
	byID := make(map[string]*Output, len(outputs))
	for i := range outputs {
		switch id := outputs[i].ID; {
		case !known[id]:
			r.Unknown = append(r.Unknown, id)
		case byID[id] != nil:
			r.Repeated = append(r.Repeated, id)
		default:
			byID[id] = &outputs[i]
		}
	}
	at := map[string]int{}
	var errors []map[string]int // of each category
	for i := range tasks {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("bfcl: evaluate: task %d: %w", i, err)
		}
		t := &tasks[i]
		n, ok := at[t.Category]
		if !ok {
			n = len(r.Scores)
			at[t.Category] = n
			r.Scores = append(r.Scores, Score{Category: t.Category})
			errors = append(errors, map[string]int{})
		}
		s := &r.Scores[n]
		s.Rows++
		c, err := NewChecker(*t, o)
		if err != nil {
			return nil, err
		}
		out := byID[t.ID]
		if out == nil || out.Result == nil {
			r.Missing = append(r.Missing, t.ID)
			continue
		}
		s.Answered++
		v := c.CheckOutput(out.Result)
		if v.Valid {
			s.Correct++
			continue
		}
		if v.Error == "blank_call" {
			s.Blank++
		}
		errors[n][v.Error]++
		r.Failures = append(r.Failures, Failure{t.ID, t.Category, v})
	}
	for n := range r.Scores {
		s := &r.Scores[n]
		s.Accuracy = float64(s.Correct) / float64(s.Rows)
		for kind, count := range errors[n] {
			s.Errors = append(s.Errors, Count{kind, count})
		}
		slices.SortFunc(s.Errors, func(a, b Count) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Error, b.Error))
		})
	}
	return r, nil
}

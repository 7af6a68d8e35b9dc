// Package wording puts the turns of a conversation about tools into words: what a user asks for, what the assistant asks
// back, and what it makes of the results. Calls are made first; the words follow them.
//
// All tables and templates are ours. Every choice is drawn from the keys of a [draw.Draws], so that the same sample
// gets the same words wherever it is made.
package wording

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A Tool is what is said about a tool: nothing but its name and its description. It is made once for a tool and is
// safe for concurrent use.
type Tool struct {
	Meaning names.Meaning
	verb    names.VerbClass // of the description's first clause, with what it is done to; object is empty if there is none
	object  string
}

// About reads a tool's original name and description.
func About(name, description string) *Tool {
	t := &Tool{Meaning: names.MeaningOf(name)}
	t.verb, t.object = describe(description)
	return t
}

// A Writer writes the turns of one sample.
type Writer struct {
	Draws *draw.Draws
	Avoid [][]string // word sequences that must not occur in what a user says: names of tools and groups
}

// A Text is something said and the template it follows: the same text with {request}, {name}, {value} and {fact} in
// place of the words that come from the tool, the call and the result. Texts with the same template differ in those
// alone.
type Text struct{ Text, Template string }

// A Task is one call that the user wants, in the order of the calls.
type Task struct {
	Tool  *Tool
	Slots []Slot // scalars of its arguments
}

// A Slot is one scalar argument and how it is said. Saying it fills Text of the leaf with the words that carry the
// value, empty where it is not said.
type Slot struct {
	schema.Leaf
	Hidden bool   // not said: the assistant has to ask for it
	From   int    // 1-based number of the task of the same request, or of an earlier turn, whose result has the value; 0 means said verbatim
	Field  string // with From: name of the field of that result
}

// Request is what the user says to get the tasks done, in order; follow marks a later turn of a conversation.
func (w *Writer) Request(tasks []Task, follow bool) Text {
	var b strings.Builder
	for i := range tasks {
		if i > 0 {
			b.WriteString(" ")
		}
		var leaves []schema.Leaf
		var at []int
		for j, s := range tasks[i].Slots {
			if !s.Hidden && s.From == 0 {
				leaves = append(leaves, s.Leaf)
				at = append(at, j)
			}
		}
		b.WriteString(w.compose(tasks[i].Tool, leaves))
		for k, j := range at {
			tasks[i].Slots[j].Text = leaves[k].Text
		}
	}
	return Text{b.String(), "{request}"}
}

// Question is how the assistant asks for the hidden slots of a task, by the description of the parameter.
func (w *Writer) Question(task *Task) Text {
	return Text{"What value should I use for it?", "question"}
}

// Supply is how the user gives the hidden slots of a task, in answer to the question; it fills their Text.
func (w *Writer) Supply(task *Task) Text {
	var b strings.Builder
	for i := range task.Slots {
		if s := &task.Slots[i]; s.Hidden {
			w.slot(&b, &s.Leaf, names.KeyPhrase(s.Keys, false), false)
		}
	}
	return Text{b.String(), "{value}"}
}

// Cannot is how the assistant says that none of its tools does what the task needs. With code it shows, in a fenced
// JSON block of prose, what such a request could look like, without making a call.
func (w *Writer) Cannot(task *Task, code bool) Text {
	return Text{"I have no tool for that.", "cannot"}
}

// Answer restates at least one scalar of the last result verbatim; results are those of the tasks of the turn.
func (w *Writer) Answer(tasks []Task, results []*jsonval.Value) Text {
	return Text{conclude(w.Draws, results[len(results)-1]), "{fact}"}
}

// Failed is how the assistant reports that a task could not be done, with the error's message verbatim, and stops.
func (w *Writer) Failed(task *Task, message string) Text {
	return Text{"That did not work: " + message, "failed"}
}

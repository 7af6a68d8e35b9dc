// Package wording puts the turns of a conversation about tools into words: what a user asks for, what the assistant asks
// back, and what it makes of the results. Calls are made first; the words follow them.
//
// A text is drawn from a grammar: a lead, an opening, what is wanted, the arguments inside the sentence or after it, a
// closing. What is wanted is read from the tool's description or, where that says nothing in plain English, from its
// name. Each argument that is said is said once, in words that name the value as it is, as a number word, as a long date
// or with the blanks of an enum member; a value that is not to be told occurs in no word of the grammar.
//
// All tables and templates are ours. Every choice is drawn from the keys of a [draw.Draws], so that the same sample
// gets the same words wherever it is made. The time is linear in the length of the text.
package wording

import (
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A Writer writes the turns of one sample. It is not safe for concurrent use.
type Writer struct {
	Draws *draw.Draws
	Avoid [][]string // word sequences that must not occur in what is said: names of tools and groups

	bits, room uint64            // of the draw in use, and how much of it is left; see pick
	untold     [][]string        // word sequences of values that the text at hand must not tell
	marks      []string          // those of them that are numbers, or no words: they can hide in a word
	said       names.Spoken      // words of the text looked at last
	phrases    map[string]string // of keys of results
	page       page
}

// Begin starts another sample, in the room of the one before.
func (w *Writer) Begin(d *draw.Draws) {
	*w = Writer{Draws: d, Avoid: w.Avoid[:0], untold: w.untold[:0], marks: w.marks[:0], said: w.said, phrases: w.phrases, page: w.page}
}

// A Text is something said and the template it follows: the same text with {request}, {name}, {value} and {fact} (and
// {item}, {count}) in place of the words that come from the tool, the call and the result. Texts with the same template
// differ in those alone.
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
	First  bool   // with From: the result has several such values, of which the first is meant
	Same   bool   // with From: the value is not of the result but an argument of that task, which stays the same

	called string // its name in the question asked for it
}

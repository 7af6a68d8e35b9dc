package forkbench

import (
	"slices"
	"strings"

	"github.com/throughline-go/throughline/internal/text"
)

// Features describes documents and tasks by their words, for package learn. A word is known if a document or task to learn from has it;
// it is cut to its first letters, so that forms of one word are one. A feature of a task is a word. A feature of a document is a word of
// its name or description together with the office that the text says it was issued by: a map with weights that are not negative cannot
// take away what a word promises, so who says it has to be part of the feature. A document of an unknown office has no feature but zeros
// and supplies nothing.
type Features struct {
	words, offices []string
	documents      map[string]Document // by name
}

// stem is how many letters of a word count.
const stem = 5

// NewFeatures takes words and offices from what the bench has to learn from, and texts from both libraries.
func NewFeatures(b *Bench) *Features {
	f := &Features{documents: map[string]Document{}}
	for _, t := range b.TrainTasks {
		f.words = append(f.words, stems(t.Text)...)
	}
	for _, d := range b.Train.Documents {
		f.words = append(f.words, stems(d.Name+" "+d.Description)...)
		f.offices = append(f.offices, office(d.Body))
	}
	slices.Sort(f.words)
	slices.Sort(f.offices)
	f.words, f.offices = slices.Compact(f.words), slices.Compact(f.offices)
	for _, d := range slices.Concat(b.Train.Documents, b.Unseen.Documents) {
		f.documents[d.Name] = d
	}
	return f
}

// Task returns 1 for every known word of a text.
func (f *Features) Task(text string) []float64 {
	x := make([]float64, len(f.words))
	f.mark(x, text)
	return x
}

// Document returns 1 for every known word of a document with its office, and nil for a name that is in neither library.
func (f *Features) Document(name string) []float64 {
	d, ok := f.documents[name]
	if !ok {
		return nil
	}
	x := make([]float64, len(f.words)*len(f.offices))
	if at, ok := slices.BinarySearch(f.offices, office(d.Body)); ok {
		f.mark(x[at*len(f.words):][:len(f.words)], d.Name+" "+d.Description)
	}
	return x
}

func (f *Features) mark(x []float64, s string) {
	for _, w := range stems(s) {
		if at, ok := slices.BinarySearch(f.words, w); ok {
			x[at] = 1
		}
	}
}

func stems(s string) []string {
	words := text.Tokens(s)
	for i, w := range words {
		words[i] = w[:min(stem, len(w))]
	}
	return words
}

// office reads who issued a document.
func office(body string) string {
	_, after, _ := strings.Cut(body, issuedBy+" ")
	name, _, _ := strings.Cut(after, ".")
	return name
}

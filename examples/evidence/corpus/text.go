package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/throughline-go/throughline/midtool/document"
)

// A writer makes texts of words that no other text has. They read as prose, manuals or code to whoever counts, and mean nothing.
type writer struct {
	r     *rand.Rand
	words []string
}

func newWriter(stream uint64) *writer {
	w := &writer{r: rand.New(rand.NewPCG(seed, stream))}
	seen := make(map[string]bool)
	for len(w.words) < 4000 {
		if word := w.coin(); !seen[word] {
			seen[word] = true
			w.words = append(w.words, word)
		}
	}
	return w
}

func (w *writer) coin() string {
	var b strings.Builder
	for range 2 + w.r.IntN(2) {
		b.WriteByte("bdfgklmnprstvz"[w.r.IntN(14)])
		b.WriteByte("aeiou"[w.r.IntN(5)])
	}
	b.WriteByte("dklmnrst"[w.r.IntN(8)])
	return b.String()
}

func (w *writer) word() string { return w.words[w.r.IntN(len(w.words))] }

// list makes n words.
func (w *writer) list(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = w.word()
	}
	return out
}

var sentences = []string{
	"The # # have to be kept with a # of #.",
	"Whoever wants to # the # looks at the # and then at its #.",
	"A # that was # in the # is # by the # #.",
	"When the # is #, # and # may # at once.",
	"Some # # are # to the #, but that does not # them.",
	"With # # the # can be # in # ways.",
	"It was the # that # the # of every #.",
	"To # a #, open the # and # it slowly.",
	"Not all # are #; most of them # after the #.",
	"Our # have # since the # became #.",
}

// fill puts a word in every place.
func (w *writer) fill(pattern string) string {
	parts := strings.Split(pattern, "#")
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(w.word())
		}
		b.WriteString(p)
	}
	return b.String()
}

// prose makes a text of so many lines, of three sentences each.
func (w *writer) prose(lines int) string {
	var b strings.Builder
	for range lines {
		for i := range 3 {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(w.fill(sentences[w.r.IntN(len(sentences))]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// manual makes the description of an interface in Markdown.
func (w *writer) manual() string {
	noun, other := w.word(), w.word()
	var b strings.Builder
	line := func(format string, of ...any) { fmt.Fprintf(&b, format+"\n", of...) }
	line("# The %s service\n\n%s", noun, w.prose(2))
	for _, m := range []struct{ verb, path, what string }{
		{"GET", "/v1/" + noun + "s", "Lists the " + noun + "s."}, {"POST", "/v1/" + noun + "s", "Creates a " + noun + "."},
		{"DELETE", "/v1/" + noun + "s/{" + noun + "_id}", "Removes a " + noun + "."},
	} {
		line("## %s\n\n`%s %s`\n", m.what, m.verb, m.path)
		line("%s\n", w.fill("It answers with the # of the # and the #."))
		line("- `%s_name` (string, required): The name of the %s, for example `%s`.", noun, w.word(), w.word())
		line("- `limit` (integer): Most %s to return, %d at the most.", w.word(), 10+w.r.IntN(90))
		line("- `%s` (string): The %s that it belongs to.\n", other, w.word())
	}
	line("## How to begin\n")
	for i := range 4 {
		line("%d. %s", i+1, w.fill("Open the # and # the #."))
	}
	line("\nIf the %s is missing, the service returns 404 and says `%s_not_found`. Wait %d seconds and try it again.", noun, noun, 5+w.r.IntN(50))
	return b.String()
}

// source makes a file of Go.
func (w *writer) source() string {
	var b strings.Builder
	line := func(format string, of ...any) { fmt.Fprintf(&b, format+"\n", of...) }
	line("// Package %s %s\npackage %s\n", w.word(), w.fill("keeps the # of every #."), w.word())
	for range 4 + w.r.IntN(4) {
		name, a, v := w.word(), w.word(), w.word()
		line("// %s%s %s", strings.ToUpper(name[:1]), name[1:], w.fill("returns the # that belongs to a #."))
		line("func %s%s(%s string, %s int) (string, error) {", strings.ToUpper(name[:1]), name[1:], a, v)
		line("\tif %s == \"\" {\n\t\treturn \"\", errors.New(%q)\n\t}", a, w.fill("no # was given"))
		line("\tfor %s := range %s {\n\t\t%s += strings.Repeat(%q, %s)\n\t}", w.word(), v, a, w.word(), w.word())
		line("\treturn %s, nil\n}\n", a)
	}
	return b.String()
}

// document makes a document of a kind that the filters keep.
func (w *writer) document(kind document.Kind, id string) document.Document {
	d := document.Document{ID: id, Kind: kind, License: "MIT", Language: "en", LanguageScore: new(0.97)}
	switch kind {
	case document.Code:
		d.Text, d.Syntax, d.Language, d.LanguageScore = w.source(), "go", "", nil
	case document.Markdown, document.Skill:
		d.Text = w.manual()
	case document.PDF:
		d.Text = w.prose(8)
	default:
		d.Text = w.prose(5)
	}
	return d
}

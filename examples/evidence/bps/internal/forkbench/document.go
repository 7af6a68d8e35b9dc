package forkbench

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/throughline-go/throughline/bps"
)

// A Document is a skill as an agent would be given it.
type Document struct {
	Name, Description, Body string
	Tokens                  int // by [bps.EstimateTokens], of all three parts

	// What the testbed knows about it and the rules for choosing must not look at.
	Defines   Set    // kinds it has a definition of, right or wrong
	LookAlike bool   // its definition is wrong
	Office    string // who issued it; the text says so too
}

// Text returns the parts as package bps takes them.
func (d Document) Text() bps.Text {
	return bps.Text{Name: d.Name, Description: d.Description, Body: d.Body}
}

// A style is how much a document says besides its rule.
type style struct{ notes, remarks, examples int }

// shortStyle and longStyle draw the lengths of single-capability documents, bothStyle those of handbooks, for each of the two.
func shortStyle(r *rand.Rand) style { return style{notes: 1 + r.IntN(2), examples: r.IntN(2)} }
func longStyle(r *rand.Rand) style {
	return style{notes: 4 + r.IntN(3), remarks: 3 + r.IntN(6), examples: 2 + r.IntN(4)}
}
func bothStyle(r *rand.Rand) style { return style{notes: r.IntN(3), examples: r.IntN(2)} }

// writer writes the documents of one library.
type writer struct {
	r        *rand.Rand
	set      int // which of the two lists of words
	wordings [kinds]wording
}

// document writes one about some kinds with the rules given. Names and descriptions are those of the given places in their lists.
func (w writer) document(office string, s rules, st style, about []int, members ...Kind) Document {
	d := Document{Office: office, Defines: setOf(members...)}
	var titles, abouts []string
	for i, k := range members {
		titles = append(titles, w.wordings[k].title)
		abouts = append(abouts, w.wordings[k].abouts[w.set][about[i]])
	}
	d.Description = strings.Join(abouts, " ")
	d.Name = w.wordings[members[0]].names[w.set][about[0]]
	if len(members) > 1 {
		d.Name = strings.ReplaceAll([...]string{"handbook-", "guide-to-"}[w.set]+strings.Join(titles, "-and-"), " ", "-")
	}

	var b strings.Builder
	w.head(&b, strings.Join(titles, " and "), office)
	for _, k := range members {
		definition, examples := s.describe(k, w.r, st.examples)
		if len(members) > 1 {
			fmt.Fprintf(&b, "## %s\n", titleCase(w.wordings[k].title))
		}
		w.list(&b, w.wordings[k].notes[w.set], st.notes)
		b.WriteString(definition)
		for _, e := range examples {
			fmt.Fprintf(&b, "- Example: %s.\n", e)
		}
	}
	w.list(&b, remarks()[w.set], st.remarks)
	d.Body = b.String()
	d.Tokens = bps.EstimateTokens(d.Text().String())
	return d
}

// aside writes a document about something else.
func (w writer) aside(office string, a aside, remarkCount int) Document {
	d := Document{Name: a.name, Description: a.about, Office: office}
	var b strings.Builder
	w.head(&b, strings.ReplaceAll(a.name, "-", " "), office)
	w.list(&b, a.notes, len(a.notes))
	w.list(&b, remarks()[w.set], remarkCount)
	d.Body = b.String()
	d.Tokens = bps.EstimateTokens(d.Text().String())
	return d
}

func (w writer) head(b *strings.Builder, title, office string) {
	fmt.Fprintf(b, "# %s\n%s %s.\n", titleCase(title), issuedBy, office)
}

// list writes n of the sentences, in their order.
func (w writer) list(b *strings.Builder, sentences []string, n int) {
	keep := make([]bool, len(sentences))
	for _, i := range w.r.Perm(len(sentences))[:min(n, len(sentences))] {
		keep[i] = true
	}
	for i, s := range sentences {
		if keep[i] {
			fmt.Fprintf(b, "- %s\n", s)
		}
	}
}

// issuedBy stands before the office in a document.
const issuedBy = "Issued by the office at"

func titleCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

package forkbench

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A templateRule is a language of placeholders: open, perhaps a mark, the name of a column, close.
type templateRule struct {
	open, close           string
	upper, reverse, first string // marks: capital letters, back to front, first letter alone
}

// standardTemplate is the common one with double braces.
func standardTemplate() templateRule {
	return templateRule{open: "{{", close: "}}", upper: "^", reverse: "~", first: "."}
}

func drawTemplate(r *rand.Rand) templateRule {
	brackets := [...][2]string{{"<:", ":>"}, {"[%", "%]"}, {"(=", "=)"}, {"<<", ">>"}, {"[(", ")]"}, {"%<", ">%"}}
	marks := [...]string{"!", "&", "*", "+", "@", "?"}
	b, m := brackets[r.IntN(len(brackets))], r.Perm(len(marks))
	return templateRule{open: b[0], close: b[1], upper: marks[m[0]], reverse: marks[m[1]], first: marks[m[2]]}
}

func readTemplate(f *fields) templateRule {
	m := f.marks("open", "close", "upper", "reverse", "first")
	return templateRule{open: m[0], close: m[1], upper: m[2], reverse: m[3], first: m[4]}
}

func (t templateRule) block() string {
	return block(Template, "open", t.open, "close", t.close, "upper", t.upper, "reverse", t.reverse, "first", t.first)
}

func (t templateRule) example(r *rand.Rand) string {
	form, row := t.drawForm(r), drawRows(r, 1)[0]
	return fmt.Sprintf("with id %s, town %s, state %s and weight %d, the form %q gives %q",
		row.id, row.town, row.state, row.weight, form, t.render(form, row.field))
}

// drawForm writes a form with two marked columns and the date, in this language.
func (t templateRule) drawForm(r *rand.Rand) string {
	columns := [...]string{"id", "town", "state", "weight"}
	marks := [...]string{t.upper, t.reverse, t.first}
	joints := [...]string{" to ", " from ", ", ", " / ", " is "}
	c, m := r.Perm(len(columns)), r.Perm(len(marks))
	hole := func(mark, column string) string { return t.open + mark + column + t.close }
	return hole(marks[m[0]], columns[c[0]]) + joints[r.IntN(len(joints))] + hole(marks[m[1]], columns[c[1]]) +
		joints[r.IntN(len(joints))] + hole("", "date")
}

// render fills a form. What opens and does not close stays as it is, and so does a name that is not made of letters.
func (t templateRule) render(form string, value func(column string) string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(form, t.open)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		inner, after, ok := strings.Cut(rest, t.close)
		if !ok {
			b.WriteString(t.open + rest)
			return b.String()
		}
		form = after
		switch {
		case strings.HasPrefix(inner, t.upper):
			b.WriteString(strings.ToUpper(value(inner[len(t.upper):])))
		case strings.HasPrefix(inner, t.reverse):
			b.WriteString(reversed(value(inner[len(t.reverse):])))
		case strings.HasPrefix(inner, t.first):
			v := value(inner[len(t.first):])
			b.WriteString(v[:min(1, len(v))])
		default:
			b.WriteString(value(inner))
		}
	}
}

// reversed turns an ASCII text around.
func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

func templateWording() wording {
	return wording{
		title: "form lines",
		names: [2][]string{
			{"form-lines", "letter-template", "placeholder-pattern", "fill-the-form"},
			{"template-lines", "form-placeholders", "pattern-filling", "line-template"},
		},
		abouts: [2][]string{
			{
				"Fills a form line: the placeholders of the template are replaced by the values of a row.",
				"How to render an entry with a template, and what the marks in its placeholders mean.",
				"The pattern language of letter forms. Use it when lines are laid out by a supplied template.",
				"Placeholders of form lines and their marks, for each value that is put into a pattern.",
			},
			{
				"Which placeholders a form line may have, and how a template is rendered.",
				"Expand a template for each row; defines the brackets and the marks of the pattern.",
				"Form language for printed lines: values of a record are put into the placeholders of the template.",
				"Rendering records through a form, one line each, with the marks that change a value.",
			},
		},
		notes: [2][]string{
			{
				"A placeholder is the opening bracket, at most one mark, the name of a column and the closing bracket, without blanks.",
				"The mark for capital letters changes letters only; digits stay as they are.",
				"The reverse mark turns the value back to front, and the first mark keeps the first letter alone.",
				"Text outside the brackets is copied, blanks included.",
				"A column that the table does not have gives nothing.",
				"Each row gives one line, in the order of the table.",
			},
			{
				"Brackets enclose the name of a column; a mark may stand right behind the opening bracket.",
				"There is never more than one mark to a placeholder.",
				"What is not inside brackets goes to the output as it is.",
				"An opening bracket that is never closed is plain text.",
				"Render the rows one after another and put a line end between them.",
				"Dates enter a form as they are stated elsewhere in the task.",
			},
		},
		asks: [2][]string{
			{"fill the form line for every row", "render each entry with the given template",
				"put the values into the placeholders of the letter form", "lay out each line by the supplied pattern"},
			{"expand the template for each row", "replace the placeholders of the pattern", "print every record through the form"},
		},
	}
}

package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prelude opens the text of [Render]: it says what a model should take the skills for.
const Prelude = "The skills below come from earlier tasks. They are hints for the current subtask only: use what fits it, " +
	"leave the rest, and trust what you observe over them.\n"

// Render writes skills as the part of a prompt that shows them: [Prelude], then one block per skill, in order, from a line
// <skill name="..."> to a line </skill>, with the description, a blank line and the body, without white space around them;
// the first line of a body keeps its indentation. An empty description or body is left out. Without skills the result is
// empty; nil ones, and such as embed a nil *Document, are skipped.
//
// No text of a skill can end its block. In name and description the characters & < > " ' and a full-width < are escaped as
// in XML, and the name has blanks for line breaks and tabs. In a body, "</skill" becomes "<\/skill", in any case, with
// white space or invisible characters inside or in full-width forms; these go, the letters stay. Control characters but \n
// and \t are dropped, and bytes that are no UTF-8 become U+FFFD. All else stays, also text that tries to steer the model:
// see [Document.Scan].
//
// The text is additive, so that blocks can be counted one by one: Render of several skills is Prelude followed by what
// Render of each alone writes after Prelude.
//
// Hints for the current subtask only are how arXiv:2608.20274 shows skills; the wording and the format are ours.
func Render[S Skill](skills []S) string {
	var b strings.Builder
	for _, s := range skills {
		if missing(s) {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(Prelude)
		}
		b.WriteString(`<skill name="` + escape(s.Name(), true) + "\">\n")
		description, body := escape(s.Description(), false), renderBody(s.Body())
		if description != "" {
			b.WriteString(description + "\n")
		}
		if description != "" && body != "" {
			b.WriteByte('\n')
		}
		if body != "" {
			b.WriteString(body + "\n")
		}
		b.WriteString("</skill>\n")
	}
	return b.String()
}

// escape returns s as the text of an XML element, without control characters but \n and \t, or as that of an attribute on
// one line, and without white space around it.
func escape(s string, line bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '\uff1c': // reads as <
			b.WriteString("&#65308;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&quot;")
		case '\'':
			b.WriteString("&#39;")
		case '\n', '\t':
			if line {
				r = ' '
			}
			b.WriteRune(r)
		default:
			if !unicode.IsControl(r) {
				b.WriteRune(r)
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// renderBody returns a body without control characters but \n and \t, with every "</skill" broken up, and without empty
// lines before and white space after it.
func renderBody(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if reads(r) == '<' {
			if word, n := closer(s[i+size:]); n > 0 {
				b.WriteString(`<\/`)
				b.WriteString(word)
				i += size + n
				continue
			}
		}
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			b.WriteRune(r)
		}
		i += size
	}
	return strings.TrimRightFunc(strings.TrimLeft(b.String(), "\n"), unicode.IsSpace)
}

// closer returns the word of "/skill" and how many bytes it takes if s starts with it, 0 if not. White space before and
// after the slash and runes that do not show are passed over.
func closer(s string) (word string, n int) {
	const want = "/skill"
	k := 0
	var letters []rune
	for i, r := range s {
		switch {
		case hidden(r), k < 2 && unicode.IsSpace(r):
		case reads(r) == rune(want[k]):
			if k > 0 {
				letters = append(letters, r)
			}
			if k++; k == len(want) {
				return string(letters), i + utf8.RuneLen(r)
			}
		default:
			return "", 0
		}
	}
	return "", 0
}

// reads returns what a rune reads as: its lower case, in ASCII for full-width forms and a long s.
func reads(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		r -= 0xfee0
	case r == '\u017f':
		return 's'
	}
	return unicode.ToLower(r)
}

// hidden reports whether a rune does not show and is no white space.
func hidden(r rune) bool {
	return !unicode.IsSpace(r) && (unicode.IsControl(r) ||
		r >= utf8.RuneSelf && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point))
}

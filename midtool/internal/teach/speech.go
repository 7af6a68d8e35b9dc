package teach

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/throughline-go/throughline/midtool"
)

// denials are the words by which a refusal is told, beside all that end in n't (ours).
var denials = []string{"no", "not", "none", "nothing", "nobody", "neither", "nor", "never", "cannot", "without", "unable", "lack", "lacks",
	"lacking", "missing", "absent", "unavailable", "unsupported", "impossible"}

// courtesies have a word of denials and deny nothing.
var courtesies = strings.NewReplacer("no problem", "", "no worries", "", "no doubt", "", "not a problem", "", "why not", "", "not only", "")

// unspoken finds a question that asks nothing and a refusal that denies nothing, the texts on which a sample rests that
// has no call there to show what is meant.
func unspoken(s *midtool.Sample, texts []int) []midtool.Violation {
	d := dutiesOf(s)
	var out []midtool.Violation
	for _, i := range texts {
		m := &s.Messages[i]
		path := "/messages/" + strconv.Itoa(i) + "/content"
		switch {
		case m.Role != midtool.RoleAssistant:
		case d.asks(i):
			if !strings.ContainsAny(m.Content, "?\uFF1F") {
				out = append(out, midtool.Violation{Rule: "no_question", Path: path, Detail: "asks for " + d.asked + " without a question mark"})
			}
		case d.refuses(i):
			if !denies(m.Content) {
				detail := "does not say that no tool does this: no word such as no, not, none, cannot"
				out = append(out, midtool.Violation{Rule: "no_refusal", Path: path, Detail: detail})
			}
		}
	}
	return out
}

// denies says whether an English text has a word that denies. What is denied it cannot tell.
func denies(text string) bool {
	text = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(text), "\u2019", "'")), " ")
	word := func(r rune) bool { return r == '\'' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for w := range strings.FieldsFuncSeq(courtesies.Replace(text), func(r rune) bool { return !word(r) }) {
		if w = strings.Trim(w, "'"); slices.Contains(denials, w) || strings.HasSuffix(w, "n't") {
			return true
		}
	}
	return false
}

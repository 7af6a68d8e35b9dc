package skill

import (
	"errors"
	"regexp"
	"strings"
)

// arrow separates the steps of a procedure.
const arrow = " → "

var (
	bullet        = regexp.MustCompile(`^ {0,3}[-*•] (.*)$`)
	procedureText = regexp.MustCompile(`(?is)^procedure:(.*)$`)
)

var errTwoProcedures = errors.New("skill: the body has two procedures, want one")

// A TextBody is the body of a text skill in parts. [ParseTextBody] reads it and [TextBody.String] writes it.
type TextBody struct {
	Procedure []string // the steps, in order, one that was taken several times in a row with " (repeat)" at its end; empty means that there is none
	Notes     []string // what else is worth knowing, in order
}

// ParseTextBody reads the body of a text skill; any text is one. A bullet begins with "- ", "* " or "• " after at most three
// spaces and goes on to the next one; line breaks in it count as a space, empty lines for nothing. Text before the first
// bullet counts as a bullet too. The first one that starts with "procedure:" in any case and has steps is the procedure: the
// parts between "→" or "->". All others that are not empty are notes, further procedures as they stand. The format is that of
// arXiv:2608.20274, the grammar ours. The time is linear.
func ParseTextBody(body string) TextBody {
	b, _ := readTextBody(body)
	return b
}

// String returns the body in canonical form: a bullet with the procedure if there is one, then one for each note. It reads
// back as b if b came from [ParseTextBody]; otherwise line breaks and empty texts are gone and an arrow in a step is "=>". Without a Procedure
// the first note that starts with "procedure:" and has steps reads back as one.
func (b TextBody) String() string {
	var s strings.Builder
	steps := make([]string, 0, len(b.Procedure))
	for _, p := range b.Procedure {
		if p = otherArrow.Replace(fold(p)); p != "" {
			steps = append(steps, p)
		}
	}
	if len(steps) > 0 {
		s.WriteString("- Procedure: " + strings.Join(steps, arrow) + "\n")
	}
	for _, n := range b.Notes {
		if n = fold(n); n != "" {
			s.WriteString("- " + n + "\n")
		}
	}
	return s.String()
}

// readTextBody is ParseTextBody with errTwoProcedures for what induction does not accept. The body is read all the same.
func readTextBody(body string) (TextBody, error) {
	var b TextBody
	var err error
	for _, text := range bullets(body) {
		steps, ok := procedureSteps(text)
		switch {
		case !ok:
			b.Notes = append(b.Notes, text)
		case len(steps) == 0: // a heading without content
		case b.Procedure == nil:
			b.Procedure = steps
		default:
			b.Notes = append(b.Notes, text)
			err = errTwoProcedures
		}
	}
	return b, err
}

// procedureSteps returns the steps of a bullet that is a procedure.
func procedureSteps(text string) (steps []string, ok bool) {
	m := procedureText.FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	for s := range strings.SplitSeq(strings.ReplaceAll(m[1], "->", "→"), "→") {
		if s = strings.TrimSpace(s); s != "" {
			steps = append(steps, s)
		}
	}
	return steps, true
}

// bullets returns the texts of the bullets of a body that are not empty.
func bullets(body string) []string {
	var out, parts []string // parts are those of the open bullet
	end := func() {
		if s := strings.TrimSpace(strings.Join(parts, " ")); s != "" {
			out = append(out, s)
		}
		parts = nil
	}
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if m := bullet.FindStringSubmatch(line); m != nil {
			end()
			parts = append(parts, strings.TrimSpace(m[1]))
		} else if text := strings.TrimSpace(line); text != "" {
			parts = append(parts, text)
		}
	}
	end()
	return out
}

// fold joins the lines of a text by spaces, as a bullet is read.
func fold(s string) string {
	if !strings.Contains(s, "\n") {
		return strings.TrimSpace(s)
	}
	var parts []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}

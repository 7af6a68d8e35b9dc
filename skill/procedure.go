package skill

import (
	"regexp"
	"strings"
)

// arrow separates the steps of a procedure.
const arrow = " → "

var (
	bullet        = regexp.MustCompile(`^ {0,3}[-*•] (.*)$`)
	procedureText = regexp.MustCompile(`(?is)^procedure:(.*)$`)
)

// Procedure returns the steps of a text skill, read from its body: the parts between "→" or "->" of the first bullet that
// starts with "procedure:" in any case. Nil means that there is none. A bullet begins with "- ", "* " or "• " after at most
// three spaces and goes on to the next one; line breaks in it count as a space, empty lines for nothing. A step that was
// taken several times in a row ends in " (repeat)".
func Procedure(body string) []string {
	for _, b := range bullets(body) {
		m := procedureText.FindStringSubmatch(b)
		if m == nil {
			continue
		}
		var steps []string
		for s := range strings.SplitSeq(strings.ReplaceAll(m[1], "->", "→"), "→") {
			if s = strings.TrimSpace(s); s != "" {
				steps = append(steps, s)
			}
		}
		return steps
	}
	return nil
}

// bullets returns the texts of the bullets of a body. What stands before the first is left out.
func bullets(body string) []string {
	var out, parts []string // parts are those of the open bullet
	end := func() {
		if len(parts) > 0 {
			out = append(out, strings.Join(parts, " "))
		}
		parts = nil
	}
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if m := bullet.FindStringSubmatch(line); m != nil {
			end()
			parts = []string{strings.TrimSpace(m[1])}
		} else if text := strings.TrimSpace(line); text != "" && len(parts) > 0 {
			parts = append(parts, text)
		}
	}
	end()
	return out
}

// textBody writes a body in canonical form: the procedure, then the notes in order. No text holds a line break or an arrow.
func textBody(steps, notes []string) string {
	var b strings.Builder
	b.WriteString("- Procedure: " + strings.Join(steps, arrow) + "\n")
	for _, n := range notes {
		b.WriteString("- " + n + "\n")
	}
	return b.String()
}

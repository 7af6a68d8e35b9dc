package budget

import (
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// maxWords is how many words of what a turn shows count: those of a sentence or two, as most tasks have.
const maxWords = 64

// follow takes over the task of a turn, and returns the query.
func (c *Chooser) follow(t envharness.Turn) string {
	stated, _ := t.Shown.Data["task"].(string)
	if !c.started || t.Index == 0 || stated != "" && stated != c.stated {
		if c.task = t.Shown.Text; !strings.Contains(c.task, stated) {
			c.task += "\n" + stated
		}
		if t.Index == 0 {
			c.called, c.before = nil, nil
		}
		c.stated = stated
	}
	c.started = true
	latest := t.Shown.Text
	if t.Error != nil {
		latest = t.Error.Message + " " + latest
	}
	if strings.Contains(c.task, latest) {
		return c.task
	}
	return c.task + "\n" + clause(latest)
}

// clause makes a text one clause, as bps.SplitClauses cuts queries.
func clause(text string) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n.!?;,。！？；，、", r) }) {
		if lower := strings.ToLower(word); lower == "and" || lower == "then" {
			continue
		}
		if n++; n > maxWords {
			break
		}
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String()
}

package budget

import (
	"strings"

	"github.com/throughline-go/throughline/bps"
)

// heading is the first line of the instructions.
const heading = "The skills below may help with the task. Use what fits, leave the rest, and trust what you observe over them.\n"

// instructions writes the skills of a set, ascending.
func (c *Chooser) instructions(set []int) string {
	if len(set) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(heading)
	for _, k := range set {
		b.WriteString(c.rendered[k])
	}
	return b.String()
}

// writeSkill returns a skill between tags, for a body may have headings of its own.
func writeSkill(s bps.Text) string {
	return "<skill name=\"" + strings.ReplaceAll(s.Name, `"`, "'") + "\">\n" +
		strings.TrimRight(bps.Text{Description: s.Description, Body: s.Body}.String(), "\n") + "\n</skill>\n"
}

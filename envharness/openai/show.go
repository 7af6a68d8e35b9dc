package openai

import (
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// maxActions is how many admissible actions are listed.
const maxActions = 20

// Show is what a [Policy] tells the model of a turn where [PolicyOptions].Show is nil: the text; the rest as JSON only where there is no
// text, for else it says the same once more, but for Data["task"], the task in words, which the first turn tells before the text if that
// does not; and the admissible actions where there are 1 to 20 of them.
func Show(t envharness.Turn) string {
	var parts []string
	text := t.Shown.Text
	if task, ok := t.Shown.Data["task"].(string); ok && t.Index == 0 && task != "" && text != "" && !strings.Contains(text, task) {
		parts = append(parts, "Task: "+task)
	}
	if text != "" {
		parts = append(parts, text)
	} else if len(t.Shown.Data) > 0 {
		if data, err := envharness.CanonicalJSON(t.Shown.Data); err == nil {
			parts = append(parts, string(data))
		}
	}
	if n := len(t.Shown.Actions); n > 0 && n <= maxActions {
		lines := make([]string, 0, n+1)
		lines = append(lines, "Possible calls:")
		for _, a := range t.Shown.Actions {
			lines = append(lines, "- "+a.String())
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	if len(parts) == 0 {
		return "(nothing is shown)"
	}
	return strings.Join(parts, "\n\n")
}

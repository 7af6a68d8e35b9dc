package skill

import "strings"

// Render writes skills as the part of a prompt that shows them.
func Render[S Skill](skills []S) string {
	var b strings.Builder
	for _, s := range skills {
		b.WriteString(s.Name() + "\n" + s.Description() + "\n" + s.Body())
	}
	return b.String()
}

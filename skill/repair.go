package skill

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A fix is one repair of a line of the frontmatter, counted from 0.
type fix struct {
	line             int
	code, field, msg string
}

var (
	topKey    = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):[ \t]+(.*)$`)
	nestedKey = regexp.MustCompile(`^[ \t]+[A-Za-z][A-Za-z0-9_-]*:([ \t]|$)`)
)

// repair returns the lines of a malformed frontmatter with the two faults mended that people make most: tabs that indent,
// and values at column 0 that YAML does not take without quotes. The number of lines stays, so that line numbers do.
func repair(lines []string) ([]string, []fix) {
	out := make([]string, len(lines))
	var fixes []fix
	for i, l := range lines {
		rest := strings.TrimLeft(l, " \t")
		indent := l[:len(l)-len(rest)]
		out[i] = strings.ReplaceAll(indent, "\t", "  ") + rest
		if out[i] != l && rest != "" {
			fixes = append(fixes, fix{i, "repaired-tab", "", "indented by a tab, want spaces"})
		}
	}
	lists := 0
	for i := 0; i < len(out) && len(fixes) <= maxRepairs && lists <= maxYAMLNodes; i++ { // so many are refused anyway
		m := topKey.FindStringSubmatch(out[i])
		if m == nil {
			continue
		}
		key, value := m[1], []string{strings.TrimRight(m[2], " \t")} // and the lines that continue it
		at := i
		for ; i+1 < len(out); i++ {
			next := out[i+1]
			if !strings.HasPrefix(next, " ") || strings.TrimSpace(next) == "" || nestedKey.MatchString(next) {
				break
			}
			value = append(value, strings.TrimSpace(next))
		}
		if strings.HasPrefix(value[0], "[") || strings.HasPrefix(value[0], "{") {
			lists++
		}
		if !needsQuotes(value) {
			continue
		}
		clear(out[at+1 : i+1])
		out[at] = key + ": " + quote(strings.Join(value, " "))
		fixes = append(fixes, fix{at, "repaired-unquoted", key, fmt.Sprintf("value of %.80s needs quotes", key)})
	}
	slices.SortStableFunc(fixes, func(a, b fix) int { return cmp.Compare(a.line, b.line) })
	return out, fixes
}

// moreBreaks are the runes that end a line for the YAML library and for no editor.
const moreBreaks = "\u0085\u2028\u2029"

// quote returns s as a YAML text on one line.
func quote(s string) string {
	if strings.ContainsAny(s, moreBreaks) {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\u0085", `\N`, "\u2028", `\L`, "\u2029", `\P`).Replace(s) + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func needsQuotes(value []string) bool {
	first := value[0]
	if first == "" || strings.ContainsRune(`"'|>`, rune(first[0])) {
		return false
	}
	if strings.ContainsRune("[{", rune(first[0])) {
		_, err := decodeYAML(strings.Join(value, "\n"))
		return err != nil
	}
	return strings.ContainsAny(first, moreBreaks) || strings.Contains(first, ": ") || strings.HasSuffix(first, ":") || strings.ContainsRune("@`%&*!]},?", rune(first[0]))
}

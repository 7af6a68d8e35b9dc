package skill

import (
	"fmt"
	"regexp"
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
	for i := 0; i < len(out); i++ {
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
		if !needsQuotes(value) {
			continue
		}
		clear(out[at+1 : i+1])
		out[at] = fmt.Sprintf("%s: '%s'", key, strings.ReplaceAll(strings.Join(value, " "), "'", "''"))
		fixes = append(fixes, fix{at, "repaired-unquoted", key, fmt.Sprintf("value of %s needs quotes", key)})
	}
	return out, fixes
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
	return strings.Contains(first, ": ") || strings.HasSuffix(first, ":") || strings.ContainsRune("@`%&*!]},?", rune(first[0]))
}

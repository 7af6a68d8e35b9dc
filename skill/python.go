package skill

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var (
	pythonDef    = regexp.MustCompile(`^(?:async[ \t]+)?def[ \t]+([A-Za-z_][A-Za-z0-9_]*)[ \t]*[(\[]`)
	pythonImport = regexp.MustCompile(`^(import|from)[ \t]`)
)

// pythonFunction returns the name of the only function at the top level of a Python source. Beside it there may be comments and
// imports, and decorators of it. The source is split into statements, not parsed, and never run; other errors of syntax stay unseen.
func pythonFunction(src string) (string, error) {
	for _, r := range src {
		if unicode.IsControl(r) && r != '\n' && r != '\t' { // a form feed, for one, hides that a line is not indented
			return "", fmt.Errorf("holds the control character %U", r)
		}
	}
	statements, err := pythonStatements(src)
	if err != nil {
		return "", err
	}
	name, decorated, body := "", false, false
	for _, s := range statements {
		m := pythonDef.FindStringSubmatch(s)
		switch {
		case s[0] == ' ' || s[0] == '\t':
			if name == "" || decorated {
				return "", fmt.Errorf("has the indented line %.60q outside the function", strings.TrimSpace(s))
			}
			body = true
		case m != nil && name != "":
			return "", fmt.Errorf("has the functions %.60q and %.60q at the top level, want one: %w", name, m[1], errManySkills)
		case m != nil && pythonWords[m[1]]:
			return "", fmt.Errorf("has the function %q, whose name is a keyword", m[1])
		case m != nil:
			name, decorated = m[1], false
			body = !strings.HasSuffix(strings.TrimRight(s, " \t"), ":")
		case s[0] == '@' && name == "":
			decorated = true
		case pythonImport.MatchString(s) && !strings.Contains(s, ";") && !decorated && (name == "" || body):
		default:
			return "", fmt.Errorf("has %.60q at the top level, want one function and imports alone", s)
		}
	}
	switch {
	case name == "":
		return "", errors.New("has no function at the top level")
	case !body:
		return "", fmt.Errorf("has a function %.60q without a body", name)
	}
	return name, nil
}

// pythonStatements returns the logical lines of a source, comments removed, each with its indentation. Line breaks inside brackets and
// texts, and after a backslash, end no line.
func pythonStatements(src string) ([]string, error) {
	var out []string
	var b strings.Builder
	depth := 0
	end := func() {
		if s := b.String(); strings.TrimSpace(s) != "" {
			out = append(out, s)
		}
		b.Reset()
	}
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '#':
			n := strings.IndexByte(src[i:], '\n')
			if n < 0 {
				n = len(src) - i
			}
			i += n
			continue
		case c == '\\' && i+1 < len(src) && src[i+1] == '\n':
			b.WriteByte(' ')
			i += 2
			continue
		case c == '"' || c == '\'':
			n := pythonText(src[i:])
			if n == 0 {
				return nil, fmt.Errorf("has a text that is not closed: %.40q", src[i:])
			}
			b.WriteString(`""`) // its content says nothing about the statements
			i += n
			continue
		case c == '\n' && depth == 0:
			end()
			i++
			continue
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth < 0 {
				return nil, fmt.Errorf("has a %q that closes nothing", c)
			}
		}
		b.WriteByte(src[i])
		i++
	}
	end()
	if depth > 0 {
		return nil, errors.New("has a bracket that is not closed")
	}
	return out, nil
}

// pythonText returns the length of the text that src starts with; 0 if it is not closed.
func pythonText(src string) int {
	quote := src[:1]
	if strings.HasPrefix(src, strings.Repeat(quote, 3)) {
		quote = src[:3]
	}
	for i := len(quote); i < len(src); i++ {
		switch {
		case src[i] == '\\':
			i++
		case strings.HasPrefix(src[i:], quote):
			return i + len(quote)
		case src[i] == '\n' && len(quote) == 1:
			return 0
		}
	}
	return 0
}

// pythonBody writes a function as the body of a code skill: a block whose fence is longer than any in the source.
func pythonBody(src string) string {
	longest, run := 0, 0
	for _, r := range src {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + "python\n" + strings.TrimRight(src, "\n") + "\n" + fence + "\n"
}

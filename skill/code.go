package skill

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// textAction is the function that a code skill calls for a free-text action, and for a tool whose name is no Python name.
const textAction = "act"

// Code returns the code of a code skill, read from its body: the content of the first fenced block with a language tag, as it
// stands, and that tag. ok tells whether there is one. A fence is a line of at least three backticks or tildes after at most
// three spaces; the block ends at a fence of the same sign that is at least as long, or with the body. Blocks without a tag
// are passed over. The time is linear.
func Code(body string) (lang, code string, ok bool) {
	var b strings.Builder
	fence, indent, tagged := "", 0, false
	for line := range strings.Lines(body) {
		text := strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(text, " ")
		blanks := len(text) - len(bare)
		run := fenceRun(bare)
		rest := strings.TrimSpace(bare[len(run):])
		switch {
		case fence == "":
			if run == "" || blanks > 3 || run[0] == '`' && strings.Contains(rest, "`") {
				continue
			}
			fence, indent = run, blanks
			if tagged = rest != ""; tagged {
				lang = strings.Fields(rest)[0]
			}
		case blanks <= 3 && rest == "" && strings.HasPrefix(run, fence):
			if tagged {
				return lang, b.String(), true
			}
			fence = ""
		case tagged:
			b.WriteString(line[min(indent, blanks):])
		}
	}
	return lang, b.String(), tagged && fence != ""
}

// fenceRun returns the backticks or tildes that s starts with if there are at least three.
func fenceRun(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	if n := len(s) - len(strings.TrimLeft(s, s[:1])); n >= 3 {
		return s[:n]
	}
	return ""
}

// pythonWords are the keywords, and the one name that cannot be assigned.
var pythonWords = map[string]bool{
	"False": true, "None": true, "True": true, "__debug__": true, "and": true, "as": true, "assert": true, "async": true, "await": true,
	"break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true, "else": true, "except": true, "finally": true,
	"for": true, "from": true, "global": true, "if": true, "import": true, "in": true, "is": true, "lambda": true, "nonlocal": true,
	"not": true, "or": true, "pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true, "yield": true,
}

var pythonName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func isPythonName(s string) bool { return pythonName.MatchString(s) && !pythonWords[s] }

// pythonSource writes actions as one Python function: its parameters are the placeholders in the order of first use, its lines
// the calls, equal neighbours once, after the notes as comments. The name is made of that of the skill.
func pythonSource(skill string, actions []action, notes []string) (function, source string) {
	reserved := map[string]bool{textAction: true}
	for _, a := range actions {
		if isPythonPath(a.tool) {
			root, _, _ := strings.Cut(a.tool, ".")
			reserved[root] = true
		}
	}
	function = functionName(skill, reserved)
	reserved[function] = true
	w := pythonWriter{used: reserved, count: make(map[string]int), names: make(map[[2]string]string)}
	var lines []string
	for i := 0; i < len(actions); {
		n := repeats(actions[i:])
		line := "    " + w.call(actions[i])
		if n > 1 {
			line += "  # repeat"
		}
		lines = append(lines, line)
		i += n
	}
	var b strings.Builder
	b.WriteString("def " + function + "(" + strings.Join(w.params, ", ") + "):\n")
	for _, n := range notes {
		b.WriteString("    # " + n + "\n")
	}
	b.WriteString(strings.Join(lines, "\n") + "\n")
	return function, b.String()
}

// functionName makes a Python name that is not taken, of at most maxName signs.
func functionName(skill string, taken map[string]bool) string {
	base := strings.ReplaceAll(skill, "-", "_")
	name := base
	for n := 1; !isPythonName(name) || taken[name]; n++ {
		tail := ""
		if n > 1 {
			tail = "_" + strconv.Itoa(n)
		}
		name = "f_" + strings.Trim(base[:min(len(base), maxName-len("f_"+tail))], "_") + tail
	}
	return name
}

// isPythonPath tells whether a tool can be called by its name, also as "app.call".
func isPythonPath(tool string) bool {
	for s := range strings.SplitSeq(tool, ".") {
		if !isPythonName(s) {
			return false
		}
	}
	return true
}

type pythonWriter struct {
	params []string
	used   map[string]bool
	count  map[string]int       // the last number tried by name
	names  map[[2]string]string // of parameters, by what they stand for
}

// call writes an action.
func (w *pythonWriter) call(a action) string {
	if a.tool == "" {
		return textAction + "(" + w.text(a.pieces) + ")"
	}
	var parts, other []string // other: names that are no Python names
	name := a.tool
	if !isPythonPath(a.tool) {
		name = textAction
		parts = append(parts, pythonString(a.tool))
	}
	for _, g := range a.args {
		v, ok := "", false
		if g.name == "" {
			v, ok = pythonValue(g.json)
		}
		if !ok {
			v = w.param("arg", g.name, snake(g.arg))
		}
		if isPythonName(g.arg) {
			parts = append(parts, g.arg+"="+v)
		} else {
			other = append(other, pythonString(g.arg)+": "+v)
		}
	}
	if len(other) > 0 {
		parts = append(parts, "**{"+strings.Join(other, ", ")+"}")
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// text writes a free text, with placeholders as a formatted one.
func (w *pythonWriter) text(pieces []piece) string {
	formatted := slices.ContainsFunc(pieces, func(p piece) bool { return p.name != "" })
	var b strings.Builder
	for _, p := range pieces {
		if p.name != "" {
			b.WriteString("{" + w.param("text", p.name, "") + "}")
			continue
		}
		s := pythonString(p.text)
		s = s[1 : len(s)-1]
		if formatted {
			s = strings.NewReplacer("{", "{{", "}", "}}").Replace(s)
		}
		b.WriteString(s)
	}
	if formatted {
		return `f"` + b.String() + `"`
	}
	return `"` + b.String() + `"`
}

// param returns the parameter for a placeholder of one kind, free text or argument, and adds it at its first use. A constant that
// Python may refuse has no placeholder and gets a parameter of its own, named like its argument.
func (w *pythonWriter) param(kind, placeholder, arg string) string {
	key := [2]string{kind, placeholder}
	if n, ok := w.names[key]; ok && placeholder != "" {
		return n
	}
	base := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (isAlnum(byte(r)) || r == '_') {
			return r
		}
		return '_'
	}, cmp.Or(placeholder, arg))
	switch {
	case strings.Trim(base, "_") == "":
		base = "arg"
	case '0' <= base[0] && base[0] <= '9':
		base = "arg_" + base
	case pythonWords[base]:
		base += "_"
	}
	name := base
	for w.count[base]++; ; w.count[base]++ {
		if c := w.count[base]; c > 1 {
			name = fmt.Sprintf("%s_%d", base, c)
		}
		if !w.used[name] {
			break
		}
	}
	w.used[name] = true
	w.names[key] = name
	w.params = append(w.params, name)
	return name
}

// pythonString quotes a text. The escapes of Go are those of Python too, for valid UTF-8.
func pythonString(s string) string { return strconv.Quote(valid(s)) }

// pythonValue writes a JSON value in Python; ok is false for one that Python may refuse: deep or with a very long number.
func pythonValue(text string) (s string, ok bool) {
	const maxDepth, maxDigits = 50, 1000
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var b strings.Builder
	var open []json.Delim // brackets
	var items []int       // tokens so far in each
	for {
		t, err := d.Token()
		if err != nil {
			break
		}
		if c, isDelim := t.(json.Delim); isDelim && (c == ']' || c == '}') {
			b.WriteByte(byte(c))
			open, items = open[:len(open)-1], items[:len(items)-1]
			continue
		}
		if n := len(open); n > 0 {
			if k := items[n-1]; k > 0 {
				sep := ", "
				if open[n-1] == '{' && k%2 == 1 {
					sep = ": "
				}
				b.WriteString(sep)
			}
			items[n-1]++
		}
		switch t := t.(type) {
		case json.Delim:
			b.WriteByte(byte(t))
			if open, items = append(open, t), append(items, 0); len(open) > maxDepth {
				return "", false
			}
		case string:
			b.WriteString(pythonString(t))
		case json.Number:
			if len(t) > maxDigits {
				return "", false
			}
			b.WriteString(t.String())
		case bool:
			b.WriteString(map[bool]string{true: "True", false: "False"}[t])
		default:
			b.WriteString("None")
		}
	}
	return b.String(), b.Len() > 0
}

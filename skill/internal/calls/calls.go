// Package calls finds the functions that a program calls.
package calls

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of returns the functions that source calls, sorted, without those that it defines itself: names followed by "(", outside comments
// and string literals, but not those after a dot, which belong to an object. What a string literal evaluates ("{}" in an f-string of
// Python, "${}" in a template of JavaScript) is code. It knows JavaScript and TypeScript by the name of the language and reads all
// else as Python. Any text will do; the time is linear.
func Of(language, source string) []string {
	l := lexer{src: source}
	switch strings.ToLower(language) {
	case "javascript", "js", "jsx", "mjs", "cjs", "node", "typescript", "ts", "tsx":
		l.js = true
	}
	l.run()
	slices.Sort(l.defined)
	slices.Sort(l.called)
	var calls []string
	for _, name := range slices.Compact(l.called) {
		if _, ok := slices.BinarySearch(l.defined, name); !ok {
			calls = append(calls, name)
		}
	}
	return calls
}

// A lexer reads just enough of a program to tell code from comments and strings.
type lexer struct {
	src string
	js  bool
	at  int

	noRegexp int // up to here no regular expression ends: one search a line is enough

	called, defined []string

	// What came before the present token: the last rune that is neither blank nor in a comment, a string counting as ')', and the
	// word if it was one.
	last rune
	dots int // how many of them ended it
	word string

	// The strings that the present code stands in, the innermost last.
	open []literal
}

// A literal is a string that holds code.
type literal struct {
	quote string
	raw   bool // a backslash has no meaning
	depth int  // braces that are open in the code within
}

func (l *lexer) run() {
	for l.at < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.at:])
		switch {
		case l.js && l.has("//") || !l.js && r == '#':
			l.line()
		case l.js && l.has("/*"):
			l.past("*/")
		case l.js && r == '/' && l.regexp():
		case r == '"' || r == '\'' || l.js && r == '`':
			l.str("")
		case r == '_' || l.js && r == '$' || unicode.IsLetter(r):
			l.name()
		case unicode.IsDigit(r): // a letter in a number starts no name
			l.at += size
			for l.at < len(l.src) && isWord(l.rune(), l.js) {
				l.at += utf8.RuneLen(l.rune())
			}
			l.after('0', "")
		case strings.ContainsRune(" \t\r\n\\", r) || r == '#' || r == '*' && l.word == "function":
			l.at += size // '#' makes a name of JavaScript private, '\\' goes on in the next line
		default:
			l.at += size
			if l.brace(r) {
				continue
			}
			l.after(r, "")
		}
	}
}

func (l *lexer) has(s string) bool { return strings.HasPrefix(l.src[l.at:], s) }

func (l *lexer) rune() rune {
	r, size := utf8.DecodeRuneInString(l.src[l.at:])
	if r == utf8.RuneError && size == 1 {
		return ' ' // of no word, and its length is right
	}
	return r
}

func (l *lexer) after(r rune, word string) {
	if r == '.' && l.last == '.' {
		l.dots++
	} else {
		l.dots = 1
	}
	l.last, l.word = r, word
}

func isWord(r rune, js bool) bool {
	return r == '_' || js && r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// line skips the rest of the line.
func (l *lexer) line() {
	if i := strings.IndexByte(l.src[l.at:], '\n'); i >= 0 {
		l.at += i
		return
	}
	l.at = len(l.src)
}

// past skips what ends with s.
func (l *lexer) past(s string) {
	if i := strings.Index(l.src[l.at+2:], s); i >= 0 {
		l.at += 2 + i + len(s)
		return
	}
	l.at = len(l.src)
}

// name reads a word: a prefix of a string, a keyword, a definition, a call or none of these.
func (l *lexer) name() {
	start := l.at
	for l.at < len(l.src) && isWord(l.rune(), l.js) {
		l.at += utf8.RuneLen(l.rune())
	}
	word := l.src[start:l.at]
	if !l.js && l.at < len(l.src) && (l.src[l.at] == '"' || l.src[l.at] == '\'') && isPrefix(word) {
		l.str(strings.ToLower(word))
		return
	}
	attribute := l.last == '.' && l.dots != 3 // three dots spread what follows
	defines := !attribute && (l.word == "def" || l.word == "class" || l.word == "function" ||
		l.js && (l.word == "const" || l.word == "let" || l.word == "var"))
	switch {
	case defines:
		l.defined = append(l.defined, word)
	case attribute, isKeyword(word, l.js):
	default:
		i := l.at
		for i < len(l.src) && (l.src[i] == ' ' || l.src[i] == '\t') {
			i++
		}
		if i < len(l.src) && l.src[i] == '(' {
			l.called = append(l.called, word)
		}
	}
	l.after('a', word)
}

// isPrefix says whether a word in front of a quote says how Python reads the string.
func isPrefix(word string) bool {
	return len(word) <= 2 && strings.Trim(strings.ToLower(word), "bfrtu") == ""
}

// str skips a string that starts here, up to code in it. Prefix is that of Python.
func (l *lexer) str(prefix string) {
	quote := l.src[l.at : l.at+1]
	for _, triple := range [...]string{`"""`, "'''"} {
		if !l.js && l.has(triple) {
			quote = triple
		}
	}
	l.at += len(quote)
	s := literal{quote: quote, raw: strings.Contains(prefix, "r")}
	l.rest(s, quote == "`" || strings.ContainsAny(prefix, "ft"))
}

// rest skips a string from within, up to its end or to code in it if it may hold some.
func (l *lexer) rest(s literal, holdsCode bool) {
	oneLine := len(s.quote) == 1 && s.quote != "`"
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case l.has(s.quote):
			l.at += len(s.quote)
			l.after(')', "")
			return
		case c == '\\':
			// Python takes a backslash before a quote as part of a raw string and does not end there, so raw makes no difference.
			l.at = min(l.at+2, len(l.src))
		case c == '\n' && oneLine: // an error of the program: it must not hide the rest
			l.after(')', "")
			return
		case holdsCode && s.quote == "`" && l.has("${"):
			l.at += 2
			l.open = append(l.open, s)
			l.after('(', "")
			return
		case holdsCode && s.quote != "`" && l.has("{{"):
			l.at += 2
		case holdsCode && s.quote != "`" && c == '{':
			l.at++
			l.open = append(l.open, s)
			l.after('(', "")
			return
		default:
			l.at++
		}
	}
}

// brace counts the braces of code in a string and goes on with the string after the last one.
func (l *lexer) brace(r rune) bool {
	n := len(l.open)
	if n == 0 {
		return false
	}
	s := &l.open[n-1]
	switch {
	case r == '{':
		s.depth++
	case r == '}' && s.depth > 0:
		s.depth--
	case r == '}':
		outer := *s
		l.open = l.open[:n-1]
		l.rest(outer, true)
		return true
	}
	return false
}

// regexp skips a regular expression of JavaScript if the slash here can start one: not after a value, and closed on its line.
func (l *lexer) regexp() bool {
	switch {
	case l.last == 'a' && (!isKeyword(l.word, true) || l.word == "this" || l.word == "super"), l.last == '0', l.last == ')', l.last == ']',
		l.at < l.noRegexp:
		return false
	}
	class := false
	i := l.at + 1
	for ; i < len(l.src) && l.src[i] != '\n'; i++ {
		switch c := l.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.at = i + 1
			for l.at < len(l.src) && isWord(l.rune(), true) { // its flags
				l.at += utf8.RuneLen(l.rune())
			}
			l.after(')', "")
			return true
		}
	}
	l.noRegexp = i
	return false
}

// isKeyword says whether a word before "(" is part of the language and no function.
func isKeyword(word string, js bool) bool {
	if js {
		switch word {
		case "if", "for", "while", "switch", "catch", "function", "return", "typeof", "instanceof", "in", "of", "new", "delete", "void",
			"throw", "case", "do", "else", "await", "async", "yield", "with", "super", "import", "export", "default", "class", "extends",
			"let", "const", "var", "this", "finally", "try":
			return true
		}
		return false
	}
	switch word {
	case "if", "elif", "else", "for", "while", "return", "and", "or", "not", "in", "is", "lambda", "assert", "del", "raise", "except",
		"with", "as", "await", "async", "yield", "from", "import", "global", "nonlocal", "def", "class", "pass", "try", "finally",
		"break", "continue", "None", "True", "False":
		return true
	}
	return false
}

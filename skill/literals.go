package skill

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A literal is a part of a text that belongs to one task: s[start:end].
type literal struct {
	start, end int
	kind       string // url, email, text, id, date, time, path or n
	id         string // equal for two literals of one kind that mean the same
}

var (
	placeholder = regexp.MustCompile(`^<(url|email|text|id|date|time|path|n)(_[0-9]+)?>`)
	emailAt     = regexp.MustCompile(`^@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`)
	uuidAt      = regexp.MustCompile(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`)
	dateAt      = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}`)
	dateTimeAt  = regexp.MustCompile(`^[T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?`)
	timeAt      = regexp.MustCompile(`^[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?`)
	numberAt    = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?`)
	pathAt      = regexp.MustCompile(`^(~|\.\.?)?/[\pL\pM\pN_./-]*`)
)

// findLiterals scans s from left to right and takes at each position the first kind that matches. Placeholders are passed
// over and count as letters for what touches them, so that a text whose literals were replaced has none. The time is linear
// in len(s).
func findLiterals(s string) []literal {
	var out []literal
	sc := scanner{s: s, afterPlaceholder: -1}
	for i := 0; i < len(s); {
		if end := sc.placeholderEnd(i); end > 0 {
			i = end
			sc.afterPlaceholder = end
			continue
		}
		if kind, end := sc.match(i); kind != "" {
			lit := literal{i, end, kind, s[i:end]}
			switch kind {
			case "n": // "mug 2" and "shelf 2" are different things
				lit.id = strings.ToLower(precedingWord(s[:i])) + " " + lit.id
			case "text": // "a" and 'a' are not
				lit.id = s[i+1 : end-1]
			}
			out = append(out, lit)
			i = end
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return out
}

type scanner struct {
	s                string
	afterPlaceholder int    // offset after the last placeholder; -1 if there was none
	noEmail          int    // no e-mail starts before this offset
	noPath           int    // no path starts before this offset
	noClose          [2]int // no quotation of this kind starts before these offsets: " and '
}

func (sc *scanner) placeholderEnd(i int) int {
	if sc.s[i] != '<' {
		return 0
	}
	if m := placeholder.FindStringIndex(sc.s[i:]); m != nil {
		return i + m[1]
	}
	return 0
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// freeLeft tells whether offset i touches neither a word nor a placeholder on its left.
func (sc *scanner) freeLeft(i int) bool {
	r, n := utf8.DecodeLastRuneInString(sc.s[:i])
	return n == 0 || i != sc.afterPlaceholder && !isWord(r)
}

// freeRight is freeLeft for the right of offset i.
func (sc *scanner) freeRight(i int) bool {
	if i == len(sc.s) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(sc.s[i:])
	return !isWord(r) && sc.placeholderEnd(i) == 0
}

// match returns the kind and the end of the literal at offset i; an empty kind means that there is none.
func (sc *scanner) match(i int) (kind string, end int) {
	rest := sc.s[i:]
	c := rest[0]
	if c == 'h' || c == 'H' {
		if end := sc.url(i); end > 0 {
			return "url", end
		}
	}
	if end := sc.email(i); end > 0 {
		return "email", end
	}
	if c == '"' || c == '\'' {
		if end := sc.quoted(i); end > 0 {
			return "text", end
		}
		return "", 0
	}
	if c == '/' || c == '.' || c == '~' {
		if end := sc.path(i); end > 0 {
			return "path", end
		}
		return "", 0
	}
	if !isHex(c) && c != '+' && c != '-' {
		return "", 0
	}
	if len(rest) > 8 && rest[8] == '-' {
		if m := uuidAt.FindString(rest); m != "" {
			return "id", i + len(m)
		}
	}
	if !sc.freeLeft(i) {
		return "", 0
	}
	if end := sc.hex(i); end > 0 {
		return "id", end
	}
	if len(rest) > 4 && rest[4] == '-' && dateAt.MatchString(rest) {
		end := i + len("2006-01-02")
		if t := dateTimeAt.FindString(sc.s[end:]); t != "" && sc.freeRight(end+len(t)) {
			return "date", end + len(t)
		}
		if sc.freeRight(end) {
			return "date", end
		}
	}
	if len(rest) > 2 && (rest[1] == ':' || rest[2] == ':') {
		if m := timeAt.FindString(rest); m != "" && sc.freeRight(i+len(m)) {
			return "time", i + len(m)
		}
	}
	if m := numberAt.FindString(rest); m != "" && !strings.HasSuffix(sc.s[:i], ".") {
		whole, _, _ := strings.Cut(m, ".") // of "1.5x" the 1 is still a number
		for _, m := range []string{m, whole} {
			if sc.freeRight(i + len(m)) {
				return "n", i + len(m)
			}
		}
	}
	return "", 0
}

func (sc *scanner) url(i int) int {
	rest := sc.s[i:]
	for _, scheme := range []string{"https://", "http://"} {
		if len(rest) < len(scheme) || !strings.EqualFold(rest[:len(scheme)], scheme) {
			continue
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'<>`, r) })
		if n < 0 {
			n = len(rest)
		}
		if n > len(scheme) {
			return i + n
		}
	}
	return 0
}

func (sc *scanner) email(i int) int {
	if i < sc.noEmail {
		return 0
	}
	j := i
	for j < len(sc.s) && (isAlnum(sc.s[j]) || strings.IndexByte("._%+-", sc.s[j]) >= 0) {
		j++
	}
	if j > i && j < len(sc.s) && sc.s[j] == '@' {
		if m := emailAt.FindString(sc.s[j:]); m != "" {
			return j + len(m)
		}
	}
	sc.noEmail = j
	return 0
}

// path matches separators with at least one word among them.
func (sc *scanner) path(i int) int {
	if i < sc.noPath || !sc.freeLeft(i) {
		return 0
	}
	m := pathAt.FindString(sc.s[i:])
	if strings.ContainsFunc(m, isWord) {
		return i + len(m)
	}
	sc.noPath = i + len(m)
	return 0
}

// quoted matches "..." and '...' on one line. A ' inside a word is an apostrophe.
func (sc *scanner) quoted(i int) int {
	q := sc.s[i]
	k := strings.IndexByte(`"'`, q)
	if i < sc.noClose[k] || q == '\'' && !sc.freeLeft(i) {
		return 0
	}
	for j := i + 1; ; j++ {
		if j == len(sc.s) || sc.s[j] == '\n' || sc.s[j] == '\r' {
			sc.noClose[k] = j
			return 0
		}
		if sc.s[j] == q && (q == '"' || sc.freeRight(j+1)) {
			return j + 1
		}
	}
}

// hex matches at least 8 hexadecimal digits of both kinds: a word or a number is no identifier.
func (sc *scanner) hex(i int) int {
	j, digit, letter := i, false, false
	for j < len(sc.s) && isHex(sc.s[j]) {
		if sc.s[j] <= '9' {
			digit = true
		} else {
			letter = true
		}
		j++
	}
	if j-i < 8 || !digit || !letter || !sc.freeRight(j) {
		return 0
	}
	return j
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func precedingWord(s string) string {
	end := strings.LastIndexFunc(s, isWord)
	if end < 0 {
		return ""
	}
	_, n := utf8.DecodeRuneInString(s[end:])
	start := strings.LastIndexFunc(s[:end], func(r rune) bool { return !isWord(r) })
	if start < 0 {
		return s[:end+n]
	}
	_, m := utf8.DecodeRuneInString(s[start:])
	return s[start+m : end+n]
}

// An abstraction replaces literals by placeholders, consistently over all texts of one skill: equal literals of a kind get
// the same one, the first of a kind "<kind>", later ones "<kind_2>", "<kind_3>" and so on.
type abstraction struct {
	keep   func(kind, value string) bool // exempts literals; nil exempts none
	values *values                       // texts to replace beside literals; nil means none
	flat   bool                          // no numbers: all literals of a kind are one
	names  map[[2]string]string          // by kind and identity
	count  map[string]int                // the last number tried by kind
	used   map[string]bool
}

func newAbstraction(keep func(kind, value string) bool, v *values) *abstraction {
	return &abstraction{keep: keep, values: v, names: make(map[[2]string]string), count: make(map[string]int), used: make(map[string]bool)}
}

// A piece is a part of an abstracted text: a placeholder by its name or, where that is empty, text.
type piece struct {
	text, name string
}

// pieces returns s with its literals replaced.
func (a *abstraction) pieces(s string) []piece {
	var out []piece
	add := func(text string) {
		if text != "" {
			out = append(out, piece{text: text})
		}
	}
	between := func(text string) { // holds no literal
		at := 0
		for _, m := range a.values.replaceable(text) {
			add(text[at:m.start])
			out = append(out, piece{name: a.name("text", m.value)})
			at = m.end
		}
		add(text[at:])
	}
	at := 0
	for _, l := range findLiterals(s) {
		if a.keep != nil && a.keep(l.kind, s[l.start:l.end]) {
			continue
		}
		between(s[at:l.start])
		out = append(out, piece{name: a.name(l.kind, l.id)})
		at = l.end
	}
	between(s[at:])
	return out
}

// text returns s with its literals replaced.
func (a *abstraction) text(s string) string { return join(a.pieces(s)) }

func join(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.name != "" {
			b.WriteString("<" + p.name + ">")
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// name returns the kind for its first identity, later "kind_2" and so on; never the name of another kind.
func (a *abstraction) name(kind, id string) string {
	if a.flat {
		return kind
	}
	key := [2]string{kind, id}
	if n, ok := a.names[key]; ok {
		return n
	}
	n := kind
	for a.count[kind]++; ; a.count[kind]++ {
		if c := a.count[kind]; c > 1 {
			n = fmt.Sprintf("%s_%d", kind, c)
		}
		if !a.used[n] {
			break
		}
	}
	a.used[n] = true
	a.names[key] = n
	return n
}

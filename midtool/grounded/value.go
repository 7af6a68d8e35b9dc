package grounded

import "strings"

// units that make a value of the number before them (ours).
var units = wordSet(`% ms s sec secs second seconds min mins minute minutes h hour hours day days week weeks month months year years
	b kb mb gb tb kib mib gib tib byte bytes bit bits kbps mbps gbps hz khz mhz ghz px pt em rem kg g mg lb lbs m cm mm km ft mi
	usd eur gbp dollars euros cents percent degrees c f v w kw kwh rpm tokens rows items requests characters chars lines
	retries attempts times`)

func wordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// Bits of what a token has.
const (
	hasDigit = 1 << iota
	hasLower
	hasUpper
	hasSlash
	hasJoin // _ or -
	hasQuote
	hasColon
)

var byteMarks = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = hasDigit
		case c >= 'a' && c <= 'z':
			t[c] = hasLower
		case c >= 'A' && c <= 'Z':
			t[c] = hasUpper
		case c == '/':
			t[c] = hasSlash
		case c == '_' || c == '-':
			t[c] = hasJoin
		case c == '"':
			t[c] = hasQuote
		case c == ':':
			t[c] = hasColon
		}
	}
	return t
}()

// scanValues finds the values of a line, outside the span taken by an endpoint.
func (r *reading) scanValues(line, taken Span) {
	end := line.End
	number := Span{} // the token before, if it is a plain number
	for i := line.Start; i < end; {
		c := r.text[i]
		if c == ' ' || c == '\t' {
			i++
			continue
		}
		start, marks := i, uint8(0)
		for i < end && r.text[i] != ' ' && r.text[i] != '\t' {
			marks |= byteMarks[r.text[i]]
			i++
		}
		if marks&(hasDigit|hasSlash|hasQuote|hasJoin) == 0 && number.empty() {
			continue
		}
		token := Span{start, i}
		if start < taken.End && taken.Start < i {
			number = Span{}
			continue
		}
		if marks&hasQuote != 0 {
			if q := r.quotedAt(token, end); !q.empty() {
				r.value(q)
				i = max(i, min(q.End+1, end))
				number = Span{}
				continue
			}
		}
		token = r.bare(token)
		if token.empty() {
			number = Span{}
			continue
		}
		s := token.of(r.text)
		if !number.empty() && marks&hasDigit == 0 {
			if units[strings.ToLower(s)] {
				r.value(Span{number.Start, token.End})
			}
			number = Span{}
			continue
		}
		number = Span{}
		switch {
		case marks&hasDigit != 0 && isNumber(s):
			number = token
		case marks&hasDigit != 0 && (hasUnit(s) || isDate(s)):
			r.value(token)
		case marks&hasSlash != 0 && isPath(s):
			r.value(token)
		case marks&hasDigit != 0 && marks&(hasLower|hasUpper) != 0 && marks&hasSlash == 0 && isIdentifier(s):
			r.value(token)
		}
	}
}

func (r *reading) value(s Span) {
	if r.note(Value, s.of(r.text)) && len(r.values) < maxSpans {
		r.values = append(r.values, s)
	}
}

// quotedAt finds a quoted text of 2 to 60 bytes that begins in a token.
func (r *reading) quotedAt(token Span, end int) Span {
	open := strings.IndexByte(r.text[token.Start:token.End], '"') + token.Start
	if open > token.Start && byteMarks[r.text[open-1]]&(hasLower|hasUpper|hasDigit|hasQuote) != 0 {
		return Span{} // inches, or the end of something
	}
	limit := min(end, open+62)
	length := strings.IndexByte(r.text[min(open+1, limit):limit], '"')
	if length < 2 || strings.ContainsAny(r.text[open+1:open+2], " ,;:)") {
		return Span{}
	}
	return Span{open + 1, open + 1 + length}
}

// bare takes off what stands around a token: marks of Markdown, brackets, punctuation.
func (r *reading) bare(s Span) Span {
	for s.Start < s.End && strings.IndexByte("`*(['\"<,;", r.text[s.Start]) >= 0 {
		s.Start++
	}
	for s.Start < s.End && strings.IndexByte("`*)]'\">,;.:!?", r.text[s.End-1]) >= 0 {
		s.End--
	}
	return s
}

func isNumber(s string) bool {
	digits, points := 0, 0
	for i := range len(s) {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			digits++
		case s[i] == '.' || s[i] == ',':
			points++
		case i == 0 && s[i] == '-':
		default:
			return false
		}
	}
	return digits > 0 && points <= digits && digits < 16
}

// hasUnit holds for 30s, 5GB and 20%.
func hasUnit(s string) bool {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == ',') {
		i++
	}
	return i > 0 && i < len(s) && s[i-1] != '.' && units[strings.ToLower(s[i:])]
}

// isDate holds for 2027-03-03, with or without a time.
func isDate(s string) bool {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' || len(s) > 10 && s[10] != 'T' {
		return false
	}
	for _, i := range [...]int{0, 1, 2, 3, 5, 6, 8, 9} {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// isPath holds for URLs and for paths of files.
func isPath(s string) bool {
	if len(s) > 300 {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "http"); ok && (strings.HasPrefix(rest, "://") || strings.HasPrefix(rest, "s://")) {
		return len(rest) > 5
	}
	rest := s
	for _, prefix := range []string{"/", "./", "../", "~/"} {
		if cut, ok := strings.CutPrefix(s, prefix); ok {
			rest = cut
			break
		}
	}
	if rest == "" || rest[0] == '/' {
		return false
	}
	letters, slashes := 0, 0
	for i := range len(rest) {
		switch m := byteMarks[rest[i]]; {
		case m&(hasLower|hasUpper) != 0:
			letters++
		case rest[i] == '/':
			slashes++
		case m&(hasDigit|hasJoin) == 0 && rest[i] != '.':
			return false
		}
	}
	// "and/or" is no path; "docs/index.md" is one.
	return letters > 1 && (len(rest) < len(s) || slashes > 1 || slashes == 1 && strings.IndexByte(rest, '.') > 0)
}

// isIdentifier holds for user_0001, A-1042 and 3f2a9c1e-...: letters and digits joined.
func isIdentifier(s string) bool {
	if len(s) < 4 || len(s) > 64 {
		return false
	}
	letters, digits, joins := 0, 0, 0
	for i := range len(s) {
		switch m := byteMarks[s[i]]; {
		case m&(hasLower|hasUpper) != 0:
			letters++
		case m&hasDigit != 0:
			digits++
		case m&hasJoin != 0 && i > 0 && i+1 < len(s):
			joins++
		default:
			return false
		}
	}
	return digits > 1 && (joins > 0 || letters+digits > 7)
}

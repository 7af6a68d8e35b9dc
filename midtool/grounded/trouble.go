package grounded

import "strings"

// fault counts a line that tells of an error.
func (r *reading) fault(line Span) {
	line = r.trim(line)
	if r.note(ErrorRef, line.of(r.text)) && len(r.faults) < maxSpans {
		r.faults = append(r.faults, line)
	}
}

// isErrorName holds for KeyError, ErrNotFound, ERR_TIMEOUT and ENOENT.
func isErrorName(s string) bool {
	if len(s) < 5 || s == "Error" || s == "Exception" || len(s) > 60 || strings.ContainsAny(s, " /=:\"") {
		return false
	}
	rest := ""
	switch {
	case strings.HasSuffix(s, "Error"), strings.HasSuffix(s, "Exception"):
		return byteMarks[s[0]]&hasUpper != 0 && !strings.HasPrefix(s, "Test")
	case strings.HasPrefix(s, "ERR_"), strings.HasPrefix(s, "Err"):
		return byteMarks[s[3]]&hasUpper != 0 || s[3] == '_'
	case s[0] == 'E':
		rest = s[1:]
	default:
		return false
	}
	for i := range len(rest) {
		if byteMarks[rest[i]]&hasUpper == 0 {
			return false
		}
	}
	return errnos[s]
}

var errnos = wordSet(`ENOENT EACCES EEXIST EINVAL EPERM EAGAIN EBUSY EPIPE ENOMEM ENOSPC ETIMEDOUT ECONNREFUSED ECONNRESET EADDRINUSE
	ENOTFOUND EISDIR ENOTDIR EMFILE EINTR`)

// isStatus holds for the codes by which HTTP tells of errors.
func isStatus(s string) bool {
	return len(s) == 3 && (s[0] == '4' || s[0] == '5') && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '9'
}

// codeAt is the error code at the start of a text, empty for none.
func (r *reading) codeAt(s Span) Span {
	for !s.empty() && strings.IndexByte("`*( ", r.text[s.Start]) >= 0 {
		s.Start++
	}
	if strings.HasPrefix(s.of(r.text), "HTTP ") {
		s.Start += 5
	}
	end := s.Start
	for end < s.End && (byteMarks[r.text[end]]&(hasLower|hasUpper|hasDigit) != 0 || r.text[end] == '_' || r.text[end] == '.') {
		end++
	}
	for end > s.Start && r.text[end-1] == '.' {
		end--
	}
	code := Span{s.Start, end}
	if text := code.of(r.text); !isStatus(text) && !isErrorName(text[strings.LastIndexByte(text, '.')+1:]) {
		return Span{}
	}
	return code
}

// failing are the verbs that tell of an error, without their first letter, whose case varies.
var failing = [...]struct {
	verb  string
	coded bool // only with an error code after it
}{
	{"ails ", false}, {"aises ", false}, {"hrows ", false}, {"anics ", false}, {"eturns ", true}, {"esponds with ", true},
}

// told are the passives of the same: the code stands before them.
var toldOf = [...]string{" is returned ", " is raised ", " is thrown ", " occurs "}

// troubleIn finds what a line says about errors.
func (r *reading) troubleIn(line, body Span) {
	text := body.of(r.text)
	if code := r.codeAt(body); !code.empty() { // "`404`: There is no such user."
		rest := Span{code.End, body.End}
		for !rest.empty() && strings.IndexByte("`*)", r.text[rest.Start]) >= 0 {
			rest.Start++
		}
		after := strings.TrimLeft(rest.of(r.text), " ")
		if len(after) > 2 && (strings.IndexByte(":-|=", after[0]) >= 0 || after[0] >= 0x80 ||
			isStatus(code.of(r.text)) && byteMarks[after[0]]&hasUpper != 0) {
			r.fault(line)
			if about := r.aside(rest); !about.empty() && r.troubled() {
				r.troubles = append(r.troubles, trouble{code: code, about: about, line: line, owner: r.current})
				return
			}
		}
	}
	for _, f := range failing {
		i := strings.Index(text, f.verb)
		if i <= 0 || i > 1 && byteMarks[text[i-2]]&(hasLower|hasUpper|hasDigit|hasJoin) != 0 {
			continue
		}
		rest := r.sentenceAt(Span{body.Start + i + len(f.verb), body.End})
		t := trouble{line: line, when: true, owner: r.current}
		after := rest.of(r.text)
		for _, article := range [...]string{"a ", "an ", "the "} {
			if s, ok := strings.CutPrefix(after, article); ok {
				rest.Start, after = rest.End-len(s), s
			}
		}
		t.code = r.codeAt(rest)
		if f.coded && t.code.empty() {
			continue
		}
		t.about = r.condition(rest)
		if t.code.empty() && t.about.empty() {
			continue
		}
		r.fault(line)
		if !t.about.empty() && r.troubled() {
			r.troubles = append(r.troubles, t)
		}
		return
	}
	for _, passive := range toldOf {
		i := strings.Index(text, passive)
		if i <= 0 {
			continue
		}
		from := strings.LastIndexAny(text[:i], " (") + 1
		code := r.codeAt(Span{body.Start + from, body.Start + i})
		if code.empty() {
			continue
		}
		r.fault(line)
		about := r.condition(r.sentenceAt(Span{body.Start + i + len(passive) - 1, body.End}))
		if !about.empty() && r.troubled() {
			r.troubles = append(r.troubles, trouble{code: code, about: about, when: true, line: line, owner: r.current})
		}
		return
	}
	if strings.Contains(text, "rror") && r.namesError(body) {
		r.fault(line)
	}
}

func (r *reading) troubled() bool { return len(r.troubles) < maxSpans }

// condition is what follows the first "if" or "when".
func (r *reading) condition(s Span) Span {
	text := " " + s.of(r.text)
	for _, w := range [...]string{" if ", " when "} {
		if i := strings.Index(text, w); i >= 0 {
			c := r.trim(Span{s.Start + i + len(w) - 1, s.End})
			if isPhrase(c.of(r.text)) {
				return c
			}
		}
	}
	return Span{}
}

// namesError says whether a word of a line is an error code.
func (r *reading) namesError(s Span) bool {
	for w := range strings.FieldsSeq(s.of(r.text)) {
		if w = strings.Trim(w, "`*().,:;\"'[]"); isStatus(w) || isErrorName(w) {
			return true
		}
	}
	return false
}

// outputIn finds what a line says that the current candidate gives back.
func (r *reading) outputIn(line, body Span) {
	if r.current < 0 || len(r.outputs) >= maxSpans {
		return
	}
	text := body.of(r.text)
	i := strings.Index(text, "eturns ")
	if i < 1 || i > 1 && text[i-2] != ' ' {
		return
	}
	about := r.sentenceAt(Span{body.Start + i + len("eturns "), body.End})
	if isPhrase(about.of(r.text)) && r.codeAt(about).empty() {
		r.outputs = append(r.outputs, output{r.current, about, line})
	}
}

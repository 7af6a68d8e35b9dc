package grounded

import (
	"strings"
	"unicode/utf8"
)

// scan reads all lines.
func (r *reading) scan() {
	for at := 0; at < len(r.text); {
		end := len(r.text)
		if i := strings.IndexByte(r.text[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := Span{at, end}
		if line.End-line.Start > maxLine {
			line.End = line.Start + maxLine
			for line.End > line.Start && !utf8.RuneStart(r.text[line.End]) {
				line.End--
			}
		}
		r.line(line)
		at = end + 1
	}
}

func (r *reading) line(line Span) {
	s := r.trim(line)
	if s.empty() {
		r.table, r.comment = nil, Span{}
		return
	}
	text := s.of(r.text)
	switch {
	case r.fence != "":
		if strings.HasPrefix(text, r.fence) && strings.Trim(text, r.fence[:1]) == "" {
			r.fence, r.lang, r.shell = "", "", false
			break
		}
		r.codeLine(line, s)
	case r.code:
		r.codeLine(line, s)
	case strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"):
		info := strings.TrimLeft(text, text[:1])
		r.fence = text[:len(text)-len(info)]
		r.lang, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(info)), " ")
		r.shell = r.lang == "" || shells[r.lang]
		r.comment = Span{}
		r.lead = lead{prose: r.prose}
	default:
		r.proseLine(line, s)
	}
}

// shells are the words after a fence that say that the block has commands.
var shells = wordSet("sh bash shell zsh console terminal shell-session shellsession text txt plaintext powershell cmd")

// trim takes the blanks around a span off.
func (r *reading) trim(s Span) Span {
	for s.Start < s.End && isBlank(r.text[s.Start]) {
		s.Start++
	}
	for s.Start < s.End && isBlank(r.text[s.End-1]) {
		s.End--
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// proseLine reads a line outside code; s is the line without the blanks around it.
func (r *reading) proseLine(line, s Span) {
	text := s.of(r.text)
	if level := headingLevel(text); level > 0 {
		r.heading(line, r.trim(Span{s.Start + level, s.End}))
		return
	}
	taken := r.scanEndpoints(line, false)
	r.scanValues(line, taken)
	if strings.HasPrefix(text, "|") || strings.Contains(text, " | ") {
		r.tableRow(line, s)
		return
	}
	r.table = nil
	body := s
	switch mark, ordered := listMark(text); {
	case mark > 0 && ordered:
		body.Start += mark
		if text[:2] == "1." || text[:2] == "1)" {
			r.list++
		}
		r.addStep(body)
		r.prose = body
	case mark > 0:
		body.Start += mark
		if !r.paramLine(line, body) {
			r.prose = body
			if taken.empty() && r.text[body.Start] == '`' {
				r.ticked(line, body)
			}
		}
		r.troubleIn(line, body)
		return
	case strings.HasPrefix(text, "-"):
		if r.flagLine(body) {
			return
		}
		fallthrough
	default:
		if stepLabel(text) > 0 {
			r.addStep(body)
		} else {
			r.sentences(body)
		}
		r.describe(body)
		r.prose = body
	}
	r.troubleIn(line, body)
	r.outputIn(line, body)
}

// describe gives the text to a candidate whose own line says nothing.
func (r *reading) describe(body Span) {
	if r.current < 0 {
		return
	}
	c := &r.candidates[r.current]
	if c.about.empty() && c.feature != Command && c.line.End < body.Start && r.sectionAt(c.line.Start) == len(r.sections)-1 {
		c.about = r.sentence(body)
	}
}

func headingLevel(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n == len(s) || s[n] != ' ' {
		return 0
	}
	return n
}

func (r *reading) heading(line, s Span) {
	for !s.empty() && r.text[s.End-1] == '#' {
		s.End--
	}
	s = r.trim(s)
	if len(r.sections) < maxSpans {
		r.sections = append(r.sections, section{heading: s, start: line.Start})
	}
	r.current, r.table = -1, nil
	r.list++
	r.prose = Span{}
	taken := r.scanEndpoints(line, false)
	r.scanValues(line, taken)
	text := s.of(r.text)
	if n := stepLabel(text); n > 0 {
		r.addStep(r.trim(Span{s.Start + n, s.End}))
		r.list++ // what stands below is a list of its own
	} else if taken.empty() {
		r.ticked(line, s)
	}
}

// listMark is the length of the mark of a list item with the blanks after it, 0 for none.
func listMark(s string) (n int, ordered bool) {
	if s[0] == '-' || s[0] == '*' || s[0] == '+' {
		n = 1
	} else {
		for n < len(s) && s[n] >= '0' && s[n] <= '9' && n < 4 {
			n++
		}
		if n == 0 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0, false
		}
		n++
		ordered = true
	}
	if n >= len(s) || s[n] != ' ' && s[n] != '\t' {
		return 0, false
	}
	for n < len(s) && isBlank(s[n]) {
		n++
	}
	if strings.HasPrefix(s[n:], "[ ] ") || strings.HasPrefix(s[n:], "[x] ") {
		n += 4
	}
	if n == len(s) {
		return 0, false
	}
	return n, ordered
}

// stepLabel is the length of "Step 3:" at the start of a text, with marks of emphasis and what follows it; 0 for none.
func stepLabel(s string) int {
	i := 0
	for i < len(s) && s[i] == '*' {
		i++
	}
	if len(s) < i+6 || !strings.EqualFold(s[i:i+5], "step ") {
		return 0
	}
	j := i + 5
	for j < len(s) && s[j] >= '0' && s[j] <= '9' {
		j++
	}
	if j == i+5 || j-i > 9 {
		return 0
	}
	for j < len(s) && strings.IndexByte(" :.-)*", s[j]) >= 0 {
		j++
	}
	return j
}

// addStep adds one that stands by itself on its line.
func (r *reading) addStep(s Span) {
	s = r.unmarked(s)
	if s.End-s.Start < 3 {
		return
	}
	if !r.note(Step, s.of(r.text)) || len(r.steps) >= maxSpans {
		return
	}
	// A list goes on until a heading, or until another one begins at 1.
	r.steps = append(r.steps, step{s, r.list, len(r.sections) - 1})
}

// unmarked takes the marks of emphasis off that are around all of a text, and the colon at its end.
func (r *reading) unmarked(s Span) Span {
	s = r.trim(s)
	for s.End-s.Start > 4 && r.text[s.Start] == '*' && r.text[s.End-1] == '*' &&
		strings.Count(s.of(r.text), "*") == 2*len(leading(s.of(r.text), '*')) {
		s = Span{s.Start + 1, s.End - 1}
	}
	for !s.empty() && r.text[s.End-1] == ':' {
		s.End--
	}
	return s
}

func leading(s string, c byte) string {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return s[:n]
}

// sequenceWords start a sentence that is a step.
var sequenceWords = [...]string{"First", "Then", "Next", "Finally", "Second", "Third", "Lastly"}

// sentences finds those that are steps.
func (r *reading) sentences(s Span) {
	for at := s.Start; at < s.End; {
		one := r.sentenceAt(Span{at, s.End})
		text := one.of(r.text)
		for _, w := range sequenceWords {
			if rest, ok := strings.CutPrefix(text, w); ok && len(rest) > 8 && (rest[0] == ',' || rest[0] == ' ') {
				if w == "First" {
					r.list++
				}
				body := r.trim(Span{one.Start + len(w) + 1, one.End})
				if r.note(Step, body.of(r.text)) && len(r.steps) < maxSpans {
					r.steps = append(r.steps, step{body, r.list, len(r.sections) - 1})
				}
				break
			}
		}
		at = one.End + 1
		for at < s.End && isBlank(r.text[at]) {
			at++
		}
	}
}

// sentenceAt is the first sentence of a text, without the point at its end.
func (r *reading) sentenceAt(s Span) Span {
	for i := s.Start; i < s.End; i++ {
		switch r.text[i] {
		case '.', '!', '?':
			if i+1 == s.End || isBlank(r.text[i+1]) && !abbreviated(r.text[s.Start:i]) {
				return Span{s.Start, i}
			}
		}
	}
	return s
}

// abbreviated holds for a text before a point that ends no sentence.
func abbreviated(s string) bool {
	word := s[strings.LastIndexAny(s, " (\t")+1:]
	switch word {
	case "e.g", "i.e", "etc", "vs", "cf", "Dr", "Mr", "Mrs", "No", "approx", "incl":
		return true
	}
	return len(word) == 1 && word[0] >= '0' && word[0] <= '9' // "1. Open the door"
}

// complete says whether a sentence ends where a span ends, and does not go on in the next line.
func (r *reading) complete(s Span) bool {
	i := s.End
	for i < len(r.text) && strings.IndexByte("`*\") \t\r", r.text[i]) >= 0 {
		i++
	}
	if i == len(r.text) || r.text[i] != '\n' {
		return true
	}
	i++
	own := r.trim(Span{strings.LastIndexByte(r.text[:s.Start], '\n') + 1, s.End})
	next := r.trim(Span{i, min(len(r.text), i+maxPiece)})
	if next.empty() || isComment(own.of(r.text)) != isComment(next.of(r.text)) {
		return true // a comment ends
	}
	for i < len(r.text) && strings.IndexByte("/#* \t", r.text[i]) >= 0 {
		i++
	}
	return i == len(r.text) || byteMarks[r.text[i]]&hasLower == 0
}

// sentence is the first sentence of a text, without emphasis around it.
func (r *reading) sentence(s Span) Span { return r.unmarked(r.sentenceAt(r.trim(s))) }

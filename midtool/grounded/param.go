package grounded

import (
	"slices"
	"strings"
)

// A table is one of Markdown, by what its columns hold; -1 for a column that is not there.
type table struct {
	name, typ, about, need, def, example int
	code                                 int // of errors
	headed                               bool
}

// Words of the heads of columns.
var (
	nameHeads = wordSet(`name parameter param field option argument arg flag key property setting variable column input
		attribute header parameters`)
	typeHeads = wordSet("type types datatype format kind")
	textHeads = wordSet("description meaning details detail notes purpose explanation what effect summary about usage message cause reason")
	needHeads = wordSet("required mandatory optional necessity")
	baseHeads = wordSet("default defaults")
	likeHeads = wordSet("example examples sample")
	codeHeads = wordSet("code status error exception errors http")
)

// tableRow reads a row of a table.
func (r *reading) tableRow(line, s Span) {
	cells := r.cells(s)
	if len(cells) < 2 {
		return
	}
	if strings.Trim(s.of(r.text), "|-: \t") == "" {
		return
	}
	if r.table == nil {
		r.table = r.head(cells)
		if r.table.headed {
			return
		}
	}
	t := r.table
	at := func(i int) Span {
		if i < 0 || i >= len(cells) {
			return Span{}
		}
		return cells[i]
	}
	if t.code >= 0 {
		code := r.codeAt(at(t.code))
		if about := r.sentence(at(t.about)); !code.empty() && !about.empty() {
			r.fault(line)
			r.troubles = append(r.troubles, trouble{code: code, about: about, line: line, owner: r.current})
		}
		return
	}
	name := at(t.name)
	inner := r.bare(name)
	doubtful := !t.headed && (name.empty() || r.text[name.Start] != '`' || slices.Contains(verbs[:], inner.of(r.text)))
	if doubtful || inner.empty() || !isParamName(inner.of(r.text)) {
		return
	}
	p := param{name: inner, typ: r.bare(at(t.typ)), about: r.sentence(at(t.about)),
		def: r.cellValue(at(t.def)), example: r.cellValue(at(t.example))}
	need := strings.ToLower(r.bare(at(t.need)).of(r.text))
	p.required = need == "yes" || need == "required" || need == "true" || need == "✓" || need == "✅" || need == "y"
	if !isTypeWord(p.typ.of(r.text)) {
		p.typ = Span{}
	}
	if p.apart = !t.headed; p.apart {
		for _, c := range cells[1:] { // the longest says most
			if c = r.sentence(c); c.End-c.Start > p.about.End-p.about.Start {
				p.about = c
			}
		}
		if !isPhrase(p.about.of(r.text)) {
			return
		}
	}
	r.param(p)
}

// cellValue is the one value in a cell, or the first of several in code; a flag before it is taken off.
func (r *reading) cellValue(s Span) Span {
	if text := s.of(r.text); strings.HasPrefix(text, "`") {
		if n := strings.IndexByte(text[1:], '`'); n >= 0 {
			s = Span{s.Start + 1, s.Start + 1 + n}
		}
	}
	s = r.bare(s)
	if text := s.of(r.text); isFlag(text) {
		i := strings.IndexAny(text, " =")
		if i < 0 || strings.Contains(text[i:], " -") {
			return Span{}
		}
		s = r.bare(r.trim(Span{s.Start + i + 1, s.End}))
	}
	return s
}

// cells cuts a row.
func (r *reading) cells(s Span) []Span {
	if r.text[s.Start] == '|' {
		s.Start++
	}
	if s.Start < s.End && r.text[s.End-1] == '|' {
		s.End--
	}
	var out []Span
	for at := s.Start; len(out) < 16; {
		i := strings.IndexByte(r.text[at:s.End], '|')
		if i < 0 {
			return append(out, r.trim(Span{at, s.End}))
		}
		out = append(out, r.trim(Span{at, at + i}))
		at += i + 1
	}
	return out
}

// head reads the first row of a table.
func (r *reading) head(cells []Span) *table {
	t := &table{name: -1, typ: -1, about: -1, need: -1, def: -1, example: -1, code: -1}
	for i, c := range cells {
		for w := range strings.FieldsSeq(strings.ToLower(strings.Trim(c.of(r.text), "*`"))) {
			set := func(at *int, words map[string]bool) bool {
				if words[w] && *at < 0 {
					*at = i
				}
				return words[w]
			}
			if set(&t.typ, typeHeads) || set(&t.need, needHeads) || set(&t.def, baseHeads) || set(&t.example, likeHeads) ||
				set(&t.code, codeHeads) || set(&t.name, nameHeads) || set(&t.about, textHeads) {
				break
			}
		}
	}
	if t.name >= 0 && (t.typ >= 0 || t.about >= 0) {
		t.headed, t.code = true, -1
		return t
	}
	if t.code >= 0 && t.about >= 0 {
		t.headed = true
		return t
	}
	// A first row that is no head: the name comes first, and what is said of it last.
	*t = table{name: 0, typ: -1, about: len(cells) - 1, need: -1, def: -1, example: -1, code: -1}
	return t
}

func isParamName(s string) bool {
	s = strings.TrimLeft(s, "-")
	if len(s) < 1 || len(s) > 48 || byteMarks[s[0]]&(hasLower|hasUpper) == 0 && s[0] != '_' {
		return false
	}
	for i := range len(s) {
		if byteMarks[s[i]]&(hasLower|hasUpper|hasDigit|hasJoin) == 0 && s[i] != '.' {
			return false
		}
	}
	return !isErrorName(s)
}

func isTypeWord(s string) bool {
	t := typeOf(s)
	return len(s) < 40 && (t.Get("type") != nil || strings.EqualFold(s, "object") || strings.EqualFold(s, "dict") || strings.EqualFold(s, "map"))
}

// param keeps a parameter, with its default where the description tells it, and gives it to the current candidate.
func (r *reading) param(p param) {
	name := p.name.of(r.text)
	if p.about.empty() && p.typ.empty() || !r.note(Param, name+"\x00"+p.about.of(r.text)+"\x00"+p.typ.of(r.text)) || len(r.params) >= maxSpans {
		return
	}
	if p.def.empty() {
		p.def = r.defaultIn(p.about)
	}
	switch d := p.def.of(r.text); {
	case isPlaceholder(d), len(d) > 40, strings.ContainsRune(d, ' '), d == "-", strings.EqualFold(d, "none"), d == "null",
		d == "varies", d == "depends":
		p.def = Span{}
	}
	bare := strings.TrimLeft(name, "-")
	flag := name[:len(name)-len(bare)]
	one := parameter{name: bare, at: p.name, typ: p.typ.of(r.text), about: flat(p.about.of(r.text)), example: p.example, def: p.def.of(r.text),
		required: p.required, valued: !p.example.empty()}
	if flag != "" {
		one.flag, one.name = name, identifier(bare)
	}
	p.owner, p.section = -1, len(r.sections)-1
	if identifier(bare) == one.name && one.name != "" && !p.apart {
		p.owner = r.attach(one)
	}
	r.params = append(r.params, p)
}

// defaultIn finds the value after "Default:", "Defaults to" and the like.
func (r *reading) defaultIn(s Span) Span {
	text := s.of(r.text)
	for _, lead := range [...]string{"efaults to ", "efault: ", "efault is ", "efault `", "efault = "} {
		i := strings.Index(text, lead)
		if i < 0 {
			continue
		}
		from := s.Start + i + len(lead)
		if strings.HasSuffix(lead, "`") {
			from--
		}
		end := from
		for end < s.End && !isBlank(r.text[end]) {
			end++
		}
		return r.bare(Span{from, end})
	}
	return Span{}
}

// paramLine reads a list item such as "`limit` (integer, required): How many there are."
func (r *reading) paramLine(line, body Span) bool {
	at := body.Start
	marks := 0
	for at < body.End && (r.text[at] == '`' || r.text[at] == '*') {
		at++
		marks++
	}
	start := at
	for at < body.End && (byteMarks[r.text[at]]&(hasLower|hasUpper|hasDigit|hasJoin) != 0 || r.text[at] == '.' && at > start) {
		at++
	}
	name := Span{start, at}
	if name.empty() {
		return false
	}
	text := name.of(r.text)
	if strings.HasPrefix(text, "-") {
		return r.flagLine(Span{start, body.End})
	}
	if !isParamName(text) || marks > 0 && at < body.End && r.text[at] != '`' && r.text[at] != '*' && r.text[at] != ':' {
		return false
	}
	ticked := marks > 0 && r.text[start-1] == '`'
	for at < body.End && (r.text[at] == '`' || r.text[at] == '*') {
		at++
	}
	if !ticked && (byteMarks[text[0]]&hasUpper != 0 || marks == 0 && !strings.Contains(text, "_") &&
		!(at+1 < body.End && r.text[at] == ' ' && r.text[at+1] == '(') && !(at < body.End && r.text[at] == ':')) {
		return false // "Note: ...", "the ..."
	}
	p := param{name: name}
	rest := r.trim(Span{at, body.End})
	if !rest.empty() && r.text[rest.Start] == '(' {
		if i := strings.IndexByte(rest.of(r.text), ')'); i > 0 && i < 60 {
			inside := Span{rest.Start + 1, rest.Start + i}
			first := inside
			if k := strings.IndexByte(inside.of(r.text), ','); k >= 0 {
				first.End = first.Start + k
			}
			if first = r.bare(first); isTypeWord(first.of(r.text)) {
				p.typ = first
			}
			low := strings.ToLower(inside.of(r.text))
			p.required = strings.Contains(low, "required") && !strings.Contains(low, "not required")
			rest = r.trim(Span{rest.Start + i + 1, rest.End})
		}
	}
	sep := false
	for !rest.empty() && (strings.IndexByte(":-*= ", r.text[rest.Start]) >= 0 || dashed(rest.of(r.text))) {
		sep = sep || r.text[rest.Start] != ' '
		if r.text[rest.Start] >= 0x80 {
			rest.Start += 2
		}
		rest.Start++
	}
	if !sep && p.typ.empty() {
		return false
	}
	if p.about = r.sentence(rest); !isPhrase(p.about.of(r.text)) {
		p.about = Span{}
	}
	if p.about.empty() && p.typ.empty() {
		return false
	}
	if d := r.defaultIn(rest); !d.empty() {
		p.def = d
	}
	p.required = p.required || strings.HasPrefix(p.about.of(r.text), "Required")
	r.param(p)
	return true
}

// dashed holds for a text that begins with a long dash.
func dashed(s string) bool { return strings.HasPrefix(s, "–") || strings.HasPrefix(s, "—") }

// flagLine reads "-n, --name VALUE   What it does".
func (r *reading) flagLine(body Span) bool {
	text := body.of(r.text)
	var name Span
	at, valued := 0, false
	for at < len(text) && text[at] == '-' {
		end := at
		for end < len(text) && byteMarks[text[end]]&(hasLower|hasUpper|hasDigit|hasJoin) != 0 {
			end++
		}
		if !isFlag(text[at:end]) || end-at > 40 {
			return false
		}
		name = Span{body.Start + at, body.Start + end}
		for end < len(text) && strings.IndexByte("`*,/", text[end]) >= 0 {
			end++
		}
		if end < len(text) && text[end] == '=' {
			for valued = true; end < len(text) && !isBlank(text[end]); end++ {
			}
		}
		at = end
		if end+1 < len(text) && text[end] == ' ' && (text[end+1] == '-' && end+2 < len(text) && text[end+2] != ' ' || text[end+1] == '`') {
			at++
			for at < len(text) && text[at] == '`' {
				at++
			}
		}
	}
	if name.empty() {
		return false
	}
	rest := text[at:]
	gap := strings.Index(rest, "  ")
	if i := strings.IndexByte(rest, '\t'); i >= 0 && (gap < 0 || i < gap) {
		gap = i
	}
	if i := strings.Index(rest, ": "); gap < 0 || i >= 0 && i < gap {
		gap = i
	}
	for _, dash := range [...]string{" - ", " – ", " — "} {
		if i := strings.Index(rest, dash); i >= 0 && gap < 0 {
			gap = i
		}
	}
	if gap < 0 || gap > 40 {
		return false
	}
	valued = valued || strings.Trim(rest[:gap], " `*|:") != ""
	about := r.aside(Span{body.Start + at + gap, body.End})
	if about.empty() || strings.Contains(about.of(r.text), "   ") { // of three columns
		return false
	}
	whole := name.of(r.text)
	if r.note(Param, whole+"\x00"+about.of(r.text)) && len(r.params) < maxSpans {
		bare := strings.TrimLeft(whole, "-")
		def := r.defaultIn(Span{about.Start, body.End})
		if d := def.of(r.text); isPlaceholder(d) || len(d) > 40 {
			def = Span{}
		}
		one := parameter{name: identifier(bare), at: name, flag: whole, about: flat(about.of(r.text)), valued: valued, def: def.of(r.text)}
		r.params = append(r.params, param{name: name, about: about, def: def, owner: r.attach(one), section: len(r.sections) - 1})
	}
	return true
}

// property reads a property of a JSON Schema, shown in a block: "name": {"type": ... or "description": ...
func (r *reading) property(line, s Span) bool {
	text := s.of(r.text)
	if text[0] != '"' {
		return false
	}
	name, rest, ok := strings.Cut(text[1:], `"`)
	if !ok || !isParamName(name) || !strings.HasPrefix(strings.TrimLeft(rest, " "), ":") || !strings.Contains(rest, "{") {
		return false
	}
	window := r.text[s.Start:min(len(r.text), s.Start+300)]
	if i := strings.IndexByte(window, '}'); i >= 0 {
		window = window[:i]
	}
	p := param{name: Span{s.Start + 1, s.Start + 1 + len(name)}}
	member := func(key string) Span {
		i := strings.Index(window, `"`+key+`":`)
		if i < 0 {
			return Span{}
		}
		from := i + len(key) + 3
		for from < len(window) && isBlank(window[from]) {
			from++
		}
		if from >= len(window) || window[from] != '"' {
			return Span{}
		}
		n := strings.IndexByte(window[from+1:], '"')
		if n <= 0 {
			return Span{}
		}
		return Span{s.Start + from + 1, s.Start + from + 1 + n}
	}
	p.typ, p.about = member("type"), member("description")
	if p.typ.empty() && p.about.empty() {
		return false
	}
	r.param(p)
	return true
}

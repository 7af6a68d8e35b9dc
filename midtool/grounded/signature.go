package grounded

import "strings"

// A declaration is the way a language declares functions.
type declaration struct {
	lead string
	form paramForm
}

type paramForm int

const (
	typeAfter paramForm = iota // Go: a, b string
	colon                      // Python, TypeScript, Rust: a: str = "x"
)

var declarations = [...]declaration{
	{"func ", typeAfter}, {"def ", colon}, {"async def ", colon}, {"function ", colon}, {"async function ", colon},
	{"export function ", colon}, {"export async function ", colon}, {"export default function ", colon}, {"fn ", colon},
	{"pub fn ", colon}, {"pub async fn ", colon},
}

// typeNames are words for types that name no parameter.
var typeNames = wordSet("bool boolean int integer string str float double")

// maxSignature bounds a signature over several lines.
const maxSignature = 2048

// signature reads a declaration, if the line begins one.
func (r *reading) signature(line, s Span) bool {
	text := s.of(r.text)
	for _, d := range declarations {
		rest, ok := strings.CutPrefix(text, d.lead)
		if !ok {
			continue
		}
		at := s.End - len(rest)
		poor, method := false, false
		if d.form == typeAfter && strings.HasPrefix(rest, "(") { // a receiver
			method = true
			i := strings.IndexByte(rest, ')')
			if i < 0 {
				return false
			}
			for at += i + 1; at < s.End && r.text[at] == ' '; at++ {
			}
		}
		start := at
		for at < s.End && byteMarks[r.text[at]]&(hasLower|hasUpper|hasDigit) != 0 || at < s.End && r.text[at] == '_' {
			at++
		}
		name := Span{start, at}
		if at < s.End && (r.text[at] == '[' || r.text[at] == '<') { // type parameters
			poor = true
			i := strings.IndexByte(r.text[at:s.End], '(')
			if i < 0 {
				return false
			}
			at += i
		}
		if name.empty() || at >= s.End || r.text[at] != '(' {
			return false
		}
		end := r.closing(at)
		if end < 0 {
			return false
		}
		r.until = max(r.until, end)
		r.callable(line, name, Span{at + 1, end}, d, poor, method)
		return true
	}
	return false
}

// closing is the place of the bracket that closes the one at a place, -1 for none nearby.
func (r *reading) closing(at int) int {
	depth, quote := 0, byte(0)
	for i := at; i < min(len(r.text), at+maxSignature); i++ {
		c := r.text[i]
		switch {
		case quote != 0:
			if c == quote || c == '\n' {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// callable counts a signature and makes a candidate of it; method says that a receiver stands before its name.
func (r *reading) callable(line, name, inside Span, d declaration, poor, method bool) {
	text := name.of(r.text)
	r.note(Callable, text+"("+inside.of(r.text)+")")
	c := candidate{feature: Callable, name: text, surface: name, line: Span{line.Start, max(line.End, inside.End+1)},
		closed: true, poor: poor, inCode: true}
	if len(text) < 3 || text[0] == '_' || strings.HasPrefix(text, "Test") || strings.HasPrefix(text, "test_") ||
		strings.HasPrefix(text, "Benchmark") || strings.HasPrefix(text, "Example") || strings.HasPrefix(text, "Fuzz") ||
		text == "main" || text == "init" || d.form == typeAfter && byteMarks[text[0]]&hasUpper == 0 {
		c.poor = true
	}
	if !c.poor {
		var ok bool
		c.params, ok = r.parameters(inside, d.form)
		c.poor = !ok
		args := inside.of(r.text)
		method = method || strings.HasPrefix(args, "self") || strings.HasPrefix(args, "&self") || strings.HasPrefix(args, "&mut self")
		// A method without arguments tells about an object that no call can give.
		c.partial = method && len(c.params) == 0 ||
			d.form == typeAfter && !strings.Contains(args, "context.Context") && !r.givesData(inside.End+1)
	}
	if !c.poor {
		c.about, c.prose = r.docAbove(text)
		if c.prose == "" {
			c.about, c.prose = r.docBelow(inside.End)
		}
	}
	for i := range r.pendingDoc {
		for j := range c.params {
			if p := &r.pendingDoc[i]; c.params[j].name == p.name {
				if c.params[j].about = p.about; c.params[j].typ == "" {
					c.params[j].typ = p.typ
				}
			}
		}
	}
	r.pendingDoc = r.pendingDoc[:0]
	r.add(c)
}

// givesData says whether the results of a Go function, which begin at a place, are data: nothing, errors, scalars and lists of them.
func (r *reading) givesData(at int) bool {
	s := r.text[at:min(len(r.text), at+maxPiece)]
	s, _, _ = strings.Cut(s, "\n")
	s, _, _ = strings.Cut(s, "//")
	s, _, _ = strings.Cut(s, "{")
	s = strings.TrimSpace(s)
	list, several := strings.CutPrefix(s, "(")
	if list = strings.TrimSuffix(list, ")"); !several {
		return isData(s)
	}
	named := strings.Contains(strings.ReplaceAll(list, ", ", ","), " ")
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		_, typ, ok := strings.Cut(part, " ")
		if !named {
			typ = part
		} else if !ok {
			continue // a name; its type comes later
		}
		if !isData(typ) {
			return false
		}
	}
	return true
}

func isData(typ string) bool {
	if typ == "" || typ == "error" || typ == "[]byte" {
		return true
	}
	s := typeOf(typ)
	return s.Get("type") != nil
}

// parameters reads a parameter list; false if one of them is nothing that JSON can give.
func (r *reading) parameters(s Span, form paramForm) ([]parameter, bool) {
	var parts []Span
	depth, quote, from := 0, byte(0), s.Start
	for i := s.Start; i < s.End; i++ {
		c := r.text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0:
			depth--
		case c == ',' && depth <= 0:
			parts = append(parts, r.trim(Span{from, i}))
			from = i + 1
		}
	}
	if last := r.trim(Span{from, s.End}); !last.empty() {
		parts = append(parts, last)
	}
	if len(parts) > 16 {
		return nil, false
	}
	var out []parameter
	typ := ""
	for i := len(parts) - 1; i >= 0; i-- {
		text := parts[i].of(r.text)
		p := parameter{required: true}
		if form == typeAfter {
			name, word, ok := strings.Cut(text, " ")
			if ok {
				typ = strings.TrimSpace(word)
			} else if typ == "" {
				return nil, false // types alone
			}
			if p.name, p.typ = name, typ; typ == "context.Context" {
				continue
			}
			if rest, ok := strings.CutPrefix(typ, "..."); ok {
				p.typ, p.required = "[]"+rest, false
			}
		} else {
			if text == "self" || text == "cls" || text == "*" || text == "/" || strings.Contains(text, "self") && strings.HasPrefix(text, "&") {
				continue
			}
			head, def, has := strings.Cut(text, "=")
			name, word, _ := strings.Cut(head, ":")
			name = strings.TrimSpace(name)
			if has || strings.HasSuffix(name, "?") || strings.Contains(word, "Optional[") || strings.Contains(word, "None") {
				p.required = false
			}
			p.name, p.typ = strings.TrimSuffix(name, "?"), strings.TrimSpace(word)
			p.typ, _, _ = strings.Cut(p.typ, " |")
			if def = strings.TrimSpace(def); has && def != "None" && def != "null" && def != "undefined" {
				if inner := strings.Trim(def, `"'`); inner != def && len(inner)+2 == len(def) || isNumber(def) {
					p.def = inner
				} else if def == "True" || def == "False" || def == "true" || def == "false" {
					p.def = strings.ToLower(def)
					if p.typ == "" {
						p.typ = "bool"
					}
				}
			}
		}
		if p.name == "" || identifier(p.name) != p.name || p.name[0] >= '0' && p.name[0] <= '9' {
			return nil, false
		}
		if s := typeOf(p.typ); p.typ != "" && s.Get("type") == nil {
			if p.required {
				return nil, false
			}
			continue
		}
		k := strings.Index(text, p.name)
		p.at = Span{parts[i].Start + k, parts[i].Start + k + len(p.name)}
		out = append(out, p)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out, true
}

// docAbove is what the comment above a declaration says first, and its span where it is on one line.
func (r *reading) docAbove(name string) (Span, string) {
	if r.comment.empty() {
		return Span{}, ""
	}
	return r.docIn(r.comment, name)
}

// docBelow is the same for a docstring.
func (r *reading) docBelow(at int) (Span, string) {
	end := min(len(r.text), at+1024)
	i := strings.IndexByte(r.text[at:end], '\n')
	if i < 0 || !strings.HasSuffix(strings.TrimRight(r.text[at:at+i], " \r"), ":") {
		return Span{}, ""
	}
	s := r.trim(Span{at + i, end})
	for _, quotes := range [...]string{`"""`, "'''", `r"""`} {
		if rest, ok := strings.CutPrefix(s.of(r.text), quotes); ok {
			n := strings.Index(rest, quotes[len(quotes)-3:])
			if n < 0 {
				n = len(rest)
			}
			from := s.Start + len(quotes)
			return r.docIn(Span{from, from + n}, "")
		}
	}
	return Span{}, ""
}

// docIn is the first sentence of a comment.
func (r *reading) docIn(s Span, name string) (Span, string) {
	var said strings.Builder
	var first Span
	lines := 0
	for at := s.Start; at < s.End && said.Len() < 240; {
		end := s.End
		if i := strings.IndexByte(r.text[at:s.End], '\n'); i >= 0 {
			end = at + i
		}
		l := Span{at, end}
		at = end + 1
		if isDirective(strings.TrimLeft(l.of(r.text), " \t")) {
			continue
		}
		for !l.empty() && strings.IndexByte("/*# \t\r!", r.text[l.Start]) >= 0 {
			l.Start++
		}
		for !l.empty() && strings.IndexByte("/* \t\r", r.text[l.End-1]) >= 0 {
			l.End--
		}
		if l.empty() || r.text[l.Start] == '@' || r.text[l.Start] == ':' {
			if said.Len() > 0 {
				break
			}
			continue
		}
		lines++
		one := r.sentenceAt(l)
		if said.Len() == 0 {
			if rest, ok := strings.CutPrefix(one.of(r.text), name+" "); ok && name != "" {
				one.Start = one.End - len(rest)
			}
			first = one
		} else {
			said.WriteByte(' ')
		}
		said.WriteString(one.of(r.text))
		if one.End < l.End {
			break
		}
	}
	text := said.String()
	if !isPhrase(text) {
		return Span{}, ""
	}
	if lines > 1 {
		first = Span{}
	}
	return first, flat(text)
}

// documented reads a line of a comment that describes a parameter: @param {string} name - text, name (str): text,
// :param str name: text.
func (r *reading) documented(line, s Span) {
	for !s.empty() && strings.IndexByte("/*# ", r.text[s.Start]) >= 0 {
		s.Start++
	}
	text := s.of(r.text)
	if rest, ok := strings.CutPrefix(text, "@param "); ok {
		p := parameter{}
		if inner, after, ok := strings.Cut(strings.TrimPrefix(rest, "{"), "} "); ok && rest[0] == '{' {
			p.typ, rest = inner, after
		}
		name, about, _ := strings.Cut(rest, " ")
		p.name, p.about = strings.Trim(name, "[]"), strings.TrimLeft(about, "- ")
		if identifier(p.name) == p.name && p.name != "" && r.note(Param, p.name+"\x00"+p.about) && len(r.pendingDoc) < maxParams {
			p.about = flat(p.about)
			r.pendingDoc = append(r.pendingDoc, p)
		}
		return
	}
	if rest, ok := strings.CutPrefix(text, ":param "); ok {
		head, about, ok := strings.Cut(rest, ":")
		if !ok {
			return
		}
		p := parameter{about: strings.TrimSpace(about)}
		if typ, name, two := strings.Cut(head, " "); two {
			p.typ, p.name = typ, name
		} else {
			p.name = head
		}
		r.say(p)
		return
	}
	if i := strings.IndexByte(text, ':'); i > 0 && i < 60 && r.current >= 0 && r.candidates[r.current].feature == Callable {
		head, typ, _ := strings.Cut(text[:i], " (")
		p := parameter{name: head, typ: strings.TrimSuffix(typ, ")"), about: strings.TrimSpace(text[i+1:])}
		for _, q := range r.candidates[r.current].params {
			if q.name == p.name && isPhrase(p.about) {
				r.say(p)
				return
			}
		}
	}
	if strings.HasPrefix(text, "Raises") || strings.Contains(text, "rror") {
		r.troubleIn(line, s)
	}
}

// say counts a parameter that a comment describes and gives it to the current candidate.
func (r *reading) say(p parameter) {
	if identifier(p.name) != p.name || p.name == "" || p.about == "" || !r.note(Param, p.name+"\x00"+p.about) {
		return
	}
	p.typ, _, _ = strings.Cut(p.typ, ",")
	p.about = flat(p.about)
	r.attach(p)
}

// ticked reads a signature in code marks, or in a heading: name(a, b=1).
func (r *reading) ticked(line, s Span) {
	for !s.empty() && r.text[s.Start] == '`' {
		s.Start++
	}
	at := s.Start
	for at < s.End && (byteMarks[r.text[at]]&(hasLower|hasUpper|hasDigit) != 0 || r.text[at] == '_' || r.text[at] == '.' && at > s.Start) {
		at++
	}
	if at == s.Start || at >= s.End || r.text[at] != '(' {
		return
	}
	end := r.closing(at)
	if end < 0 || end > s.End {
		return
	}
	surface := Span{s.Start, at}
	r.note(Callable, r.text[s.Start:end+1])
	c := candidate{feature: Callable, name: identifier(surface.of(r.text)), surface: surface, line: line, closed: true}
	var ok bool
	if c.params, ok = r.parameters(Span{at + 1, end}, colon); !ok || len(c.name) < 3 {
		return
	}
	c.partial = len(c.params) == 0 && strings.Contains(surface.of(r.text), ".") // of an object
	for i := range c.params {
		c.partial = c.partial || typeNames[c.params[i].name] // a list of types
	}
	c.about = r.aside(Span{end + 1, s.End})
	r.add(c)
}

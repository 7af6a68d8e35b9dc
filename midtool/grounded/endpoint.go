package grounded

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/names"
)

// verbs of HTTP.
var verbs = [...]string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// verbBefore is the verb that ends a text, with quotes and marks between taken off; its span in the text. Empty for none.
func verbBefore(s string) (start, end int) {
	end = len(s)
	for end > 0 && strings.IndexByte(" `*\"'\t|[", s[end-1]) >= 0 {
		end--
	}
	if end == len(s) || len(s)-end > 6 {
		return 0, 0
	}
	for _, v := range verbs {
		if strings.HasSuffix(s[:end], v) {
			if start = end - len(v); start == 0 || byteMarks[s[start-1]]&(hasLower|hasUpper|hasDigit|hasJoin) == 0 {
				return start, end
			}
		}
	}
	return 0, 0
}

// scanEndpoints finds verbs followed by a path or a URL, makes candidates of them and returns the span with all of them.
func (r *reading) scanEndpoints(line Span, inCode bool) Span {
	var taken Span
	var body, known bool // of the whole line
	for at := line.Start; at < line.End; {
		i := strings.IndexByte(r.text[at:line.End], '/')
		if i < 0 {
			break
		}
		at += i
		start := at // of the path or the URL
		if at >= line.Start+5 && r.text[at-1] == ':' {
			if start = at - 5; r.text[at-2] == 's' {
				start--
			}
			if start < line.Start || !strings.HasPrefix(r.text[start:], "http") {
				at++
				continue
			}
		}
		at++
		vs, ve := verbBefore(r.text[line.Start:start])
		if ve == 0 {
			continue
		}
		end := start
		for end < line.End && strings.IndexByte(" \t\r`\"'|,)]\\", r.text[end]) < 0 && r.text[end] != '*' {
			end++
		}
		for end > start+1 && strings.IndexByte(".:;?", r.text[end-1]) >= 0 {
			end--
		}
		at = max(at, end)
		surface := Span{line.Start + vs, end}
		path := Span{start, end}
		if strings.ContainsAny(surface.of(r.text), "|\"'") {
			surface = path // they stand in two cells, or a quote begins between
		}
		taken = taken.union(surface)
		verb := r.text[line.Start+vs : line.Start+ve]
		r.note(Endpoint, verb+" "+path.of(r.text))
		if inCode && !known {
			body, known = r.sendsBody(line), true
		}
		r.endpoint(line, surface, path, verb, inCode, body)
	}
	return taken
}

// endpoint makes a candidate; body says that its command sends one.
func (r *reading) endpoint(line, surface, path Span, verb string, inCode, body bool) {
	text := path.of(r.text)
	if i := strings.Index(text, "://"); i >= 0 {
		host := strings.IndexByte(text[i+3:], '/')
		if host < 0 {
			return
		}
		path.Start += i + 3 + host
		text = path.of(r.text)
	}
	route, query, _ := strings.Cut(text, "?")
	var params []parameter
	var words []string // of the name
	listed := false    // the last of them is a plural, and nothing tells one from the others
	at := path.Start
	for part := range strings.SplitSeq(route, "/") {
		if v := pathVariable(part); v != "" {
			begin := at + strings.Index(part, v)
			params = append(params, parameter{name: v, at: Span{begin, begin + len(v)}, required: true})
			if listed {
				words[len(words)-1] = names.Singular(words[len(words)-1]) // /notes/{id} is about a note
				listed = false
			}
		} else if strings.Contains(part, "xxx") {
			return
		} else if w := identifier(part); w != "" && w != "api" && !isVersion(w) {
			words = append(words, w)
			listed = names.Singular(w) != w
		}
		at += len(part) + 1
	}
	name := strings.ToLower(verb)
	if listed && verb == "GET" {
		name = "list"
	}
	name += "_" + strings.Join(words, "_")
	if len(words) == 0 || len(name) > 60 || strings.ContainsAny(route, "=&$%") {
		return
	}
	at = path.Start + len(route) + 1
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if k := identifier(key); k != "" && k == key && len(key) < 40 {
			p := parameter{name: key, at: Span{at, at + len(key)}}
			if value != "" && !isPlaceholder(value) {
				p.example = Span{at + len(key) + 1, at + len(pair)}
			}
			params = append(params, p)
		}
		at += len(pair) + 1
	}
	c := candidate{feature: Endpoint, name: name, surface: surface, line: line, params: params, inCode: inCode,
		reads: verb == "GET" || verb == "HEAD", partial: body}
	switch {
	case !inCode:
		if c.about = r.aside(Span{surface.End, line.End}); c.about.empty() {
			c.about = r.purposeBefore(Span{line.Start, surface.Start})
		}
	case r.code:
		c.about, c.prose = r.docAbove("")
	default:
		c.about = r.purpose(r.prose)
	}
	r.add(c)
	if query != "" {
		r.example(r.current, surface)
	}
}

// sendsBody says whether a command line sends a body, which the path does not tell of.
func (r *reading) sendsBody(line Span) bool {
	for rest := r.text[line.Start:min(len(r.text), line.Start+2048)]; rest != ""; {
		one, after, _ := strings.Cut(rest, "\n")
		one = " " + strings.TrimSpace(one)
		for _, flag := range [...]string{" -d ", " --data", " --json", " -F ", " --form"} {
			if strings.Contains(one, flag) {
				return true
			}
		}
		if !strings.HasSuffix(one, "\\") {
			break
		}
		rest = after
	}
	return false
}

// pathVariable is the name in {id}, :id or <id>.
func pathVariable(part string) string {
	n := len(part)
	switch {
	case n > 2 && (part[0] == '{' && part[n-1] == '}' || part[0] == '<' && part[n-1] == '>'):
		part = part[1 : n-1]
	case n > 1 && part[0] == ':':
		part = part[1:]
	default:
		return ""
	}
	if identifier(part) != part {
		return ""
	}
	return part
}

// identifier makes a name of a text: letters and digits, joined by underscores.
func identifier(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		switch {
		case byteMarks[c]&(hasLower|hasUpper|hasDigit) != 0:
			b = append(b, c)
		case len(b) > 0 && b[len(b)-1] != '_':
			b = append(b, '_')
		case c == '_' && len(b) == 0:
			b = append(b, '_')
		}
	}
	return strings.TrimSuffix(string(b), "_")
}

func isVersion(s string) bool {
	return len(s) > 1 && len(s) < 5 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9'
}

// isPlaceholder holds for what stands for a value: <name>, {name}, $NAME, YOUR_KEY, ...
func isPlaceholder(s string) bool {
	if s == "" || strings.ContainsAny(s, "<>{}$[]") || strings.Contains(s, "...") || strings.Contains(s, "…") ||
		strings.Contains(s, "xxx") || strings.HasPrefix(s, "your") {
		return true
	}
	for i := range len(s) {
		if byteMarks[s[i]]&(hasUpper|hasJoin) == 0 {
			return false
		}
	}
	return len(s) > 2
}

// aside is what a line says after a name: behind marks, a dash or a colon.
func (r *reading) aside(s Span) Span {
	for !s.empty() && strings.IndexByte(" \t`*|:,-\"'])", r.text[s.Start]) >= 0 || dashed(s.of(r.text)) {
		if r.text[s.Start] >= 0x80 {
			s.Start += 2
		}
		s.Start++
	}
	s.End = min(s.End, s.Start+2*maxPiece) // no phrase is as long, and a line may have many names
	if i := strings.Index(s.of(r.text), "|"); i >= 0 {
		s.End = s.Start + i
	}
	s = r.sentence(s)
	if !isPhrase(s.of(r.text)) {
		return Span{}
	}
	return s
}

// isPhrase holds for a text of two words or more that begins with a letter.
func isPhrase(s string) bool {
	return len(s) > 5 && byteMarks[s[0]]&(hasLower|hasUpper) != 0 && strings.IndexByte(s, ' ') > 0 && len(s) <= 240
}

// purposeBefore is "create a user" in "To create a user, send".
func (r *reading) purposeBefore(s Span) Span {
	if s = r.trim(s); s.empty() {
		return s
	}
	if n, _ := listMark(s.of(r.text)); n > 0 {
		s.Start += n
	}
	if !strings.HasPrefix(s.of(r.text), "To ") {
		return Span{}
	}
	return r.purpose(s)
}

// purpose is what a sentence with "To ...," or "... by" says that is done.
func (r *reading) purpose(s Span) Span {
	s = r.sentence(s)
	text := s.of(r.text)
	if rest, ok := strings.CutPrefix(text, "To "); ok {
		s.Start += 3
		if i := strings.IndexAny(rest, ",:"); i > 0 {
			s.End = s.Start + i
		}
		s = r.trim(s)
	} else if i := strings.LastIndex(text, " with"); i > 0 && i+5 == len(text) {
		s.End = s.Start + i // "List the jobs with:"
	}
	if !isPhrase(s.of(r.text)) {
		return Span{}
	}
	return s
}

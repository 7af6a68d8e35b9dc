package scan

import "bytes"

// window is the number of runes within which the three words of a rule stand.
const window = 60

// A term is a word of a rule; a blank in it is any white space.
type term struct {
	text string
	rule rule
	part int // 0 to 2: its place in a sequence
}

// sequences are the rules of three parts in order.
var sequences = map[rule][3][]string{
	override: {
		{"ignore", "disregard", "forget"},
		{"previous", "prior", "above", "all"},
		{"instruction", "instructions", "rule", "rules", "prompt", "prompts"},
	},
	conceal: {
		{"do not", "don't", "dont", "never"},
		{"tell", "mention", "reveal", "inform"},
		{"user", "users"},
	},
	judge: {
		{"rate", "score", "grade"},
		{"this", "the"},
		{"highest", "maximum", "10/10", "100"},
	},
	pipeShell: { // the second part is |
		{"curl", "wget", "base64 -d", "base64 -di", "base64 --decode"},
		{},
		{"sh", "bash", "zsh", "python", "python2", "python3"},
	},
	secretRead: {{"curl", "wget", "nc", "post", "upload"}},
	roleLine:   {{"system", "assistant"}},
}

// terms holds the terms of all sequences under their first byte.
var terms = func() (t [128][]term) {
	for r := range numRules {
		for part, words := range sequences[r] {
			for _, w := range words {
				t[w[0]] = append(t[w[0]], term{w, r, part})
			}
		}
	}
	return t
}()

// markers are what frames a role in the formats of chat models, with optional white space where they have a blank.
var markers = []string{
	"< | im_start | >", "< | im_end | >", "< system >", "< / system >", "< / skill",
	"[ inst ]", "[ / inst ]",
}

// A partial is how much of a sequence has been seen: where the latest first part starts, and where the one starts that a
// second part has followed. Later starts make shorter matches, so no other need be kept.
type partial struct {
	first, second mark
}

// A mark is a place in the folded view and its line; the zero mark is none.
type mark struct{ at, line int }

// matcher applies the rules of words to a folded view.
type matcher struct {
	f       []byte
	line    int // from 1; a run of line breaks is one
	partial [numRules]partial
	env     mark // where the line first names a file .env
	send    bool // the line names a way to send
	hits    hitList
}

// matchWords returns the hits of the rules of words in a folded view.
func matchWords(f []byte) []hit {
	m := matcher{f: f, line: 1}
	start := true // of a word
	for i, c := range f {
		switch {
		case wordByte(c):
			if start {
				m.word(i, c)
			}
			start = false
			continue
		case c == '\n':
			m.newline(i)
		case c == '<', c == '[', c == '.', c == '/', c == '|':
			m.symbol(i, c)
		}
		if c < '@' && m.sentenceEnd(i, c) {
			m.partial[conceal].first = mark{} // "never guess; tell the user" conceals nothing
		}
		start = true
	}
	return m.hits.list
}

// newline ends the line for the rules of lines, unless a backslash continues the command.
func (m *matcher) newline(i int) {
	m.line++
	if i > 0 && m.f[i-1] == '\\' {
		return
	}
	m.partial[pipeShell] = partial{}
	m.env, m.send = mark{}, false
}

func (m *matcher) hit(r rule, start, end, line int) {
	m.hits.add(hit{rule: r, start: start, end: end}, line)
}

// symbol tries what does not start with a letter or digit.
func (m *matcher) symbol(i int, c byte) {
	try := func(r rule, pattern string) {
		if end := m.eat(i, pattern, false); end > 0 {
			m.hit(r, i, end, m.line)
		}
	}
	switch c {
	case '<', '[':
		for _, p := range markers {
			if p[0] != c {
				continue
			}
			if end := m.eat(i, p, true); end > 0 {
				m.hit(roleMarker, i, end, m.line)
			}
		}
		if c == '<' {
			try(htmlComment, "<!--")
		}
	case '/':
		if end := m.eat(i, "/etc/shadow", false); end > 0 && !m.inWord(end) {
			m.hit(secretRead, i, end, m.line)
		}
	case '.':
		try(secretRead, ".ssh/id_")
		try(secretRead, ".aws/credentials")
		end := m.eat(i, ".env", false)
		if end > 0 && m.env.line == 0 && !wordByte(m.before(i)) && !m.extended(end) {
			m.env = mark{i, m.line}
			m.sent()
		}
	case '|':
		if m.before(i) == '|' || i+1 < len(m.f) && m.f[i+1] == '|' {
			return // or
		}
		if p := &m.partial[pipeShell]; p.first.line > 0 {
			p.second = p.first
		}
	}
}

// sent notes a hit when the line has both a file .env and a way to send it.
func (m *matcher) sent() {
	if m.send && m.env.line > 0 {
		m.hit(secretRead, m.env.at, m.eat(m.env.at, ".env", false), m.env.line)
	}
}

// word tries the terms that start with c at i, where a word or the rest of one after a gap starts.
func (m *matcher) word(i int, c byte) {
	next := byte(' ')
	if i+1 < len(m.f) {
		next = m.f[i+1]
	}
	for _, t := range terms[c] {
		if next != t.text[1] && next != gap {
			continue
		}
		if end := m.eat(i, t.text, false); end > 0 && !m.inWord(end) {
			m.term(t, i, end)
		}
	}
}

// term handles a term that stands as a whole word from i to end.
func (m *matcher) term(t term, i, end int) {
	switch t.rule {
	case secretRead:
		m.send = true
		m.sent()
		return
	case roleLine:
		if at := m.eat(end, " :", true); at > 0 && m.lineStart(i) {
			m.hit(roleLine, i, at, m.line)
		}
		return
	case conceal:
		if t.part == 0 && m.reminder(end) {
			return
		}
	case pipeShell:
		if t.part == 2 && !m.command(i, end) {
			return
		}
	}
	p := &m.partial[t.rule]
	switch t.part {
	case 0:
		p.first = mark{i, m.line}
	case 1:
		p.second = p.first
	case 2:
		if p.second.line == 0 || t.rule != pipeShell && !m.within(p.second.at, end) {
			return
		}
		m.hit(t.rule, p.second.at, end, p.second.line)
	}
}

// within reports whether f[start:end] has at most window runes; gaps are none.
func (m *matcher) within(start, end int) bool {
	if end-start > 2*window { // there are no two gaps in a row
		return false
	}
	part := m.f[start:end]
	return len(part)-bytes.Count(part, []byte{gap}) <= window
}

// reminder reports whether a negation that ends here is that of "do not forget to tell".
func (m *matcher) reminder(end int) bool {
	for _, verb := range []string{" forget to ", " hesitate to ", " fail to "} {
		at := m.eat(end, verb, false)
		if at < 0 {
			continue
		}
		for _, w := range sequences[conceal][1] {
			if m.eat(at, w, false) > 0 {
				return true
			}
		}
	}
	return false
}

// command reports whether the name of a shell from i to end can be a command that reads a program: no part of the name
// of a file, host or package, and not python as a printer of JSON.
func (m *matcher) command(i, end int) bool {
	switch m.before(i) {
	case '.', '_', '-':
		return false
	}
	for end+1 < len(m.f) && m.f[end] == '.' && '0' <= m.f[end+1] && m.f[end+1] <= '9' { // of a version
		for end++; m.inWord(end); end++ {
		}
	}
	return !m.extended(end) && m.eat(end, " -m json.tool", false) < 0
}

// extended reports whether the name that ends here goes on: as in sh_history, python-dateutil, .env.example.
func (m *matcher) extended(end int) bool {
	if end == len(m.f) {
		return false
	}
	switch m.f[end] {
	case '.', '-':
		return m.inWord(end + 1)
	case '_':
		return true
	}
	return m.inWord(end)
}

// before returns the byte before i, a line break at the start.
func (m *matcher) before(i int) byte {
	if i == 0 {
		return '\n'
	}
	return m.f[i-1]
}

// lineStart reports whether nothing but blanks stands between the start of the line and i.
func (m *matcher) lineStart(i int) bool {
	c := m.before(i)
	return c == '\n' || c == soft || c == ' ' && i == 1
}

// eat returns where the pattern that starts at i ends, negative if it is not there. Gaps inside it are passed over. A
// blank in the pattern is white space or a gap, and nothing at all if optional is set.
func (m *matcher) eat(i int, pattern string, optional bool) int {
	f := m.f
	for k := range len(pattern) {
		c, skipped := pattern[k], false
		if i < len(f) && f[i] == gap && (k > 0 || c == ' ') {
			i++
			skipped = true
		}
		switch {
		case c == ' ' && i < len(f) && blank(f[i]):
			i++
		case c == ' ' && (skipped || optional):
		case i < len(f) && f[i] == c && c != ' ':
			i++
		default:
			return -1
		}
	}
	return i
}

// sentenceEnd reports whether a sentence or an item of a list ends at i. Dots of an ellipsis end none.
func (m *matcher) sentenceEnd(i int, c byte) bool {
	next := byte('\n')
	if i+1 < len(m.f) {
		next = m.f[i+1]
	}
	switch c {
	case '.':
		return blank(next) && m.before(i) != '.'
	case '!', '?', ';':
		return blank(next)
	case '\n':
		return next == '-' || next == '*' || next == '+'
	}
	return false
}

// inWord reports whether the word before end goes on there.
func (m *matcher) inWord(end int) bool { return end < len(m.f) && wordByte(m.f[end]) }

func wordByte(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

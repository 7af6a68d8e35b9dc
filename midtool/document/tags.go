package document

import (
	"html"
	"strings"
)

// A tagReader cuts HTML into text and tags in linear time, whatever is broken. It differs from the standard's tokenizer where that
// would lose the rest of a page: an unclosed comment ends at the next '>', and so does a tag whose quotes are not closed; from
// then on quotes mean nothing.
type tagReader struct {
	s   string
	pos int

	noQuotes   bool // a tag with an open quote was seen
	noComments bool // "-->" occurs no more
	noCDATA    bool // "]]>" occurs no more
	noEnd      map[string]bool
}

// A markup is a piece of text or a tag.
type markup struct {
	text  string // of a text: with entities replaced unless raw
	name  string // of a tag: in lower case; empty for a text
	end   bool   // of a tag: </name>
	empty bool   // of a tag: <name/>
	attrs string // of a start tag: the attributes as they stand
}

// next returns the next piece, and false at the end.
func (t *tagReader) next() (markup, bool) {
	for t.pos < len(t.s) {
		at := strings.IndexByte(t.s[t.pos:], '<')
		if at < 0 {
			at = len(t.s) - t.pos
		}
		if at > 0 {
			text := t.s[t.pos : t.pos+at]
			t.pos += at
			return markup{text: html.UnescapeString(text)}, true
		}
		rest := t.s[t.pos:]
		switch {
		case strings.HasPrefix(rest, "<!--"):
			t.comment()
		case strings.HasPrefix(rest, "<![CDATA["):
			if text, ok := t.cdata(); ok {
				return markup{text: text}, true
			}
		case len(rest) > 1 && (rest[1] == '!' || rest[1] == '?'), len(rest) > 2 && rest[1] == '/' && !letter(rest[2]):
			t.skipTo(t.pos + 2)
		case len(rest) > 2 && rest[1] == '/':
			if m, ok := t.tag(t.pos+2, true); ok {
				return m, true
			}
		case len(rest) > 1 && letter(rest[1]):
			if m, ok := t.tag(t.pos+1, false); ok {
				return m, true
			}
		default:
			t.pos++
			return markup{text: "<"}, true
		}
	}
	return markup{}, false
}

// skipTo goes on after the next '>' from a place, or to the end.
func (t *tagReader) skipTo(from int) {
	t.pos = min(indexFrom(t.s, ">", from)+1, len(t.s))
}

func (t *tagReader) comment() {
	from := t.pos + len("<!--")
	for _, short := range []string{">", "->"} {
		if strings.HasPrefix(t.s[from:], short) {
			t.pos = from + len(short)
			return
		}
	}
	if !t.noComments {
		if end := indexFrom(t.s, "-->", from); end < len(t.s) {
			t.pos = end + len("-->")
			return
		}
		t.noComments = true
	}
	t.skipTo(from)
}

func (t *tagReader) cdata() (string, bool) {
	from := t.pos + len("<![CDATA[")
	if !t.noCDATA {
		if end := indexFrom(t.s, "]]>", from); end < len(t.s) {
			t.pos = end + len("]]>")
			return t.s[from:end], true
		}
		t.noCDATA = true
	}
	t.skipTo(from)
	return "", false
}

// tag reads a tag whose name starts at from. One that never ends is passed over with the rest: the page was cut there.
func (t *tagReader) tag(from int, end bool) (markup, bool) {
	i := from
	for i < len(t.s) && !space(t.s[i]) && t.s[i] != '/' && t.s[i] != '>' {
		i++
	}
	m := markup{name: strings.ToLower(t.s[from:min(i, from+maxName)]), end: end}
	close := -1
	if !t.noQuotes {
		if close = endOfTag(t.s, i); close < 0 {
			t.noQuotes = true
		}
	}
	if close < 0 {
		if close = indexFrom(t.s, ">", i); close == len(t.s) {
			t.pos = close
			return m, false
		}
	}
	m.attrs = t.s[i:close]
	m.empty = emptyTag(m.attrs)
	t.pos = close + 1
	return m, true
}

// maxName is more than the longest name of an element that means anything here.
const maxName = 16

// endOfTag returns the place of the '>' that ends a tag, outside of quotes that follow a '=', or -1.
func endOfTag(s string, i int) int {
	value := false // a '=' stands before
	for i < len(s) {
		switch c := s[i]; {
		case c == '>':
			return i
		case value && (c == '"' || c == '\''):
			n := strings.IndexByte(s[i+1:], c)
			if n < 0 {
				return -1
			}
			i += n + 1
			value = false
		case c == '=':
			value = true
		case !space(c):
			value = false
		}
		i++
	}
	return -1
}

// emptyTag says whether attributes end in a '/' that is no part of a value.
func emptyTag(attrs string) bool {
	before, ok := strings.CutSuffix(attrs, "/")
	if !ok {
		return false
	}
	i := strings.LastIndexAny(before, " \t\n\f\r=\"'")
	return i < 0 || before[i] != '=' && strings.IndexByte(before[i:], '=') < 0
}

// raw passes over the content of an element that is no markup, and its end tag, and returns the content. Without an end tag it
// returns false and stays where it is.
func (t *tagReader) raw(name string) (string, bool) {
	if t.noEnd[name] {
		return "", false
	}
	for i := t.pos; ; {
		i = indexFrom(t.s, "</", i)
		if i == len(t.s) {
			break
		}
		after := i + 2 + len(name)
		if after <= len(t.s) && strings.EqualFold(t.s[i+2:after], name) && endsName(t.s[after:]) {
			text := t.s[t.pos:i]
			t.skipTo(i)
			return text, true
		}
		i += 2
	}
	if t.noEnd == nil {
		t.noEnd = make(map[string]bool)
	}
	t.noEnd[name] = true
	return "", false
}

// endsName says whether the name of a tag ends before rest.
func endsName(rest string) bool {
	return rest == "" || space(rest[0]) || rest[0] == '/' || rest[0] == '>'
}

// attribute returns the value of an attribute among those of a tag, "" if it is not there.
func attribute(attrs, name string) string {
	for i := 0; i < len(attrs); {
		for i < len(attrs) && (space(attrs[i]) || attrs[i] == '/') {
			i++
		}
		start := i
		for i < len(attrs) && !space(attrs[i]) && attrs[i] != '/' && (attrs[i] != '=' || i == start) {
			i++
		}
		key := attrs[start:i]
		for i < len(attrs) && space(attrs[i]) {
			i++
		}
		value := ""
		if i < len(attrs) && attrs[i] == '=' {
			for i++; i < len(attrs) && space(attrs[i]); i++ {
			}
			start, stop := i, 0
			if i < len(attrs) && (attrs[i] == '"' || attrs[i] == '\'') {
				start++
				stop = indexFrom(attrs, attrs[i:i+1], start)
				i = min(stop+1, len(attrs))
			} else {
				for i < len(attrs) && !space(attrs[i]) {
					i++
				}
				stop = i
			}
			value = attrs[start:stop]
		}
		if strings.EqualFold(key, name) {
			return html.UnescapeString(value)
		}
	}
	return ""
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

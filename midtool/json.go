package midtool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read: deeper or longer JSON is an error. A line of a file may nest deeper by what it wraps around
// a schema or the arguments of a call.
const (
	maxDepth  = 64
	lineDepth = maxDepth + 8
	maxBytes  = 64 << 20
)

type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	listKind
	objectKind
)

var kindNames = [...]string{"null", "boolean", "number", "string", "list", "object"}

func (k kind) String() string { return kindNames[k] }

// A node is one JSON value that keeps what encoding/json loses: the order of keys and the exact form of numbers.
type node struct {
	kind    kind
	text    string // of a string its content, of a number its canonical literal, of a boolean "true" or "false"
	list    []node
	members []member
}

type member struct {
	key   string
	value node
}

func stringNode(s string) node          { return node{kind: stringKind, text: s} }
func listNode(list ...node) node        { return node{kind: listKind, list: list} }
func objectNode(members ...member) node { return node{kind: objectKind, members: members} }

func boolNode(b bool) node { return node{kind: boolKind, text: strconv.FormatBool(b)} }

// get returns the value of a key of an object, nil if there is none.
func (n *node) get(key string) *node {
	if n.kind != objectKind {
		return nil
	}
	for i := range n.members {
		if n.members[i].key == key {
			return &n.members[i].value
		}
	}
	return nil
}

// lookup returns a get for many questions: linear for few of them, by an index for a product that hostile input could
// make large.
func (n *node) lookup(questions int) func(key string) *node {
	if questions*len(n.members) < 1024 {
		return n.get
	}
	index := make(map[string]*node, len(n.members))
	for i := range n.members {
		index[n.members[i].key] = &n.members[i].value
	}
	return func(key string) *node { return index[key] }
}

// set replaces or appends a key of an object.
func (n *node) set(key string, v node) {
	if old := n.get(key); old != nil {
		*old = v
		return
	}
	n.members = append(n.members, member{key, v})
}

func (n *node) remove(key string) {
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return m.key == key })
}

// clone copies n so that no part is shared.
func (n node) clone() node {
	n.list = slices.Clone(n.list)
	for i := range n.list {
		n.list[i] = n.list[i].clone()
	}
	n.members = slices.Clone(n.members)
	for i := range n.members {
		n.members[i].value = n.members[i].value.clone()
	}
	return n
}

func (n *node) depth() int {
	d := 0
	for i := range n.list {
		d = max(d, n.list[i].depth())
	}
	for i := range n.members {
		d = max(d, n.members[i].value.depth())
	}
	if n.kind == listKind || n.kind == objectKind {
		d++
	}
	return d
}

// A jsonError is a broken rule of JSON, or of ours, at a byte offset.
type jsonError struct {
	offset int
	rule   string
}

func (e *jsonError) Error() string { return fmt.Sprintf("offset %d: %s", e.offset, e.rule) }

// parseJSON reads exactly one value. It rejects invalid UTF-8, lone surrogate escapes, numbers beyond float64,
// nesting beyond maxDepth and text after the value. Of equal keys the last value counts, at the place of the first.
func parseJSON(data []byte) (node, error) { return parseNested(data, maxDepth) }

func parseNested(data []byte, most int) (node, error) {
	if len(data) > maxBytes {
		return node{}, &jsonError{maxBytes, "more than 64 MiB"}
	}
	p := parser{data: data, most: most}
	if !utf8.Valid(data) {
		return node{}, &jsonError{invalidUTF8(data), "invalid UTF-8"}
	}
	n, err := p.value(0)
	if err != nil {
		return node{}, err
	}
	p.space()
	if p.i < len(data) {
		return node{}, p.fail("text after the value")
	}
	return n, nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

type parser struct {
	data []byte
	i    int
	most int // levels of nesting
}

func (p *parser) fail(rule string) error { return &jsonError{p.i, rule} }

func (p *parser) space() {
	for p.i < len(p.data) {
		switch p.data[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// peek skips space and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.i == len(p.data) {
		return 0
	}
	return p.data[p.i]
}

func (p *parser) value(depth int) (node, error) {
	switch c := p.peek(); {
	case p.i == len(p.data):
		return node{}, p.fail("unexpected end")
	case c == '{' || c == '[':
		if depth == p.most {
			return node{}, p.fail("nested deeper than " + strconv.Itoa(p.most))
		}
		if c == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return stringNode(s), err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	default:
		for _, lit := range []struct {
			word string
			n    node
		}{{"true", boolNode(true)}, {"false", boolNode(false)}, {"null", node{}}} {
			if strings.HasPrefix(string(p.data[p.i:min(len(p.data), p.i+5)]), lit.word) {
				p.i += len(lit.word)
				return lit.n, nil
			}
		}
		return node{}, p.fail("expected a value")
	}
}

func (p *parser) object(depth int) (node, error) {
	p.i++ // {
	n := node{kind: objectKind}
	if p.peek() == '}' {
		p.i++
		return n, nil
	}
	var index map[string]int // of large objects, so that hostile input stays linear
	for {
		if p.peek() != '"' {
			return node{}, p.fail("expected a key")
		}
		key, err := p.str()
		if err != nil {
			return node{}, err
		}
		if p.peek() != ':' {
			return node{}, p.fail("expected ':' after a key")
		}
		p.i++
		v, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		switch {
		case index != nil:
			if at, ok := index[key]; ok {
				n.members[at].value = v
			} else {
				index[key] = len(n.members)
				n.members = append(n.members, member{key, v})
			}
		default:
			n.set(key, v)
			if len(n.members) == 32 {
				index = make(map[string]int)
				for i, m := range n.members {
					index[m.key] = i
				}
			}
		}
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			return n, nil
		default:
			return node{}, p.fail("expected ',' or '}'")
		}
	}
}

func (p *parser) array(depth int) (node, error) {
	p.i++ // [
	n := node{kind: listKind}
	if p.peek() == ']' {
		p.i++
		return n, nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		n.list = append(n.list, v)
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			return n, nil
		default:
			return node{}, p.fail("expected ',' or ']'")
		}
	}
}

func (p *parser) str() (string, error) {
	p.i++ // "
	start := p.i
	for p.i < len(p.data) && p.data[p.i] != '"' && p.data[p.i] != '\\' && p.data[p.i] >= 0x20 {
		p.i++
	}
	if p.i < len(p.data) && p.data[p.i] == '"' {
		p.i++
		return string(p.data[start : p.i-1]), nil
	}
	out := append([]byte(nil), p.data[start:p.i]...)
	for p.i < len(p.data) {
		c := p.data[p.i]
		switch {
		case c == '"':
			p.i++
			return string(out), nil
		case c < 0x20:
			return "", p.fail("control character in a string")
		case c != '\\':
			out = append(out, c)
			p.i++
		default:
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return "", p.fail("unexpected end in a string")
}

func (p *parser) escape() (rune, error) {
	if p.i+1 == len(p.data) {
		return 0, p.fail("unexpected end in a string")
	}
	c := p.data[p.i+1]
	if at := strings.IndexByte(`"\/bfnrt`, c); at >= 0 {
		p.i += 2
		return rune("\"\\/\b\f\n\r\t"[at]), nil
	}
	if c != 'u' {
		return 0, p.fail("unknown escape")
	}
	r, ok := p.hex(p.i + 2)
	if !ok {
		return 0, p.fail("bad \\u escape")
	}
	if r < 0xd800 || r > 0xdfff {
		p.i += 6
		return r, nil
	}
	if r <= 0xdbff && p.i+7 < len(p.data) && p.data[p.i+6] == '\\' && p.data[p.i+7] == 'u' {
		if low, ok := p.hex(p.i + 8); ok && low >= 0xdc00 && low <= 0xdfff {
			p.i += 12
			return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), nil
		}
	}
	return 0, p.fail("lone surrogate escape")
}

func (p *parser) hex(at int) (rune, bool) {
	if at+4 > len(p.data) {
		return 0, false
	}
	var r rune
	for _, c := range p.data[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func (p *parser) number() (node, error) {
	start := p.i
	digits := func() bool {
		from := p.i
		for p.i < len(p.data) && p.data[p.i] >= '0' && p.data[p.i] <= '9' {
			p.i++
		}
		return p.i > from
	}
	at := func(set string) bool { return p.i < len(p.data) && strings.IndexByte(set, p.data[p.i]) >= 0 }
	if at("-") {
		p.i++
	}
	if at("0") {
		p.i++
	} else if !digits() {
		return node{}, p.fail("bad number")
	}
	if at(".") {
		p.i++
		if !digits() {
			return node{}, p.fail("bad number")
		}
	}
	if at("eE") {
		p.i++
		if at("+-") {
			p.i++
		}
		if !digits() {
			return node{}, p.fail("bad number")
		}
	}
	text, ok := canonicalNumber(string(p.data[start:p.i]))
	if !ok {
		p.i = start
		return node{}, p.fail("number out of range")
	}
	return node{kind: numberKind, text: text}, nil
}

// canonicalNumber keeps integer literals exact and gives any other literal as a float64 that always looks like one,
// so that 5 and 5.0 differ. It returns false for a number beyond float64.
func canonicalNumber(lit string) (string, bool) {
	f, err := strconv.ParseFloat(lit, 64)
	switch {
	case err != nil:
		return "", false
	case strings.ContainsAny(lit, ".eE"):
		return floatText(f), true
	case lit == "-0":
		return "0", true
	}
	return lit, true
}

// floatText writes a finite float64 in the shortest form that reads back, in plain digits between 1e-6 and 1e21 as
// ECMAScript does.
func floatText(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// A form is a way to write JSON. None escapes more than JSON demands.
type form uint8

const (
	compactForm   form = iota // keys as they came, no spaces
	displayForm               // keys as they came, ", " and ": ": inside training text
	canonicalForm             // keys sorted by their UTF-8 bytes, no spaces: hashed and compared
)

func (n *node) bytes(f form) []byte { return n.append(nil, f) }

func (n *node) string(f form) string { return string(n.append(nil, f)) }

func (n *node) append(dst []byte, f form) []byte {
	comma, colon := ",", ":"
	if f == displayForm {
		comma, colon = ", ", ": "
	}
	switch n.kind {
	case nullKind:
		return append(dst, "null"...)
	case stringKind:
		return appendString(dst, n.text)
	case listKind:
		dst = append(dst, '[')
		for i := range n.list {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = n.list[i].append(dst, f)
		}
		return append(dst, ']')
	case objectKind:
		members := n.members
		if f == canonicalForm {
			members = slices.Clone(members)
			slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
		}
		dst = append(dst, '{')
		for i := range members {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = appendString(dst, members[i].key)
			dst = append(dst, colon...)
			dst = members[i].value.append(dst, f)
		}
		return append(dst, '}')
	default:
		return append(dst, n.text...)
	}
}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if at := strings.IndexByte("\"\\\b\f\n\r\t", c); at >= 0 {
			dst = append(dst, '\\', `"\bfnrt`[at])
		} else {
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

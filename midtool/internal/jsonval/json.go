package jsonval

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
	MaxDepth  = 64
	LineDepth = MaxDepth + 8
	MaxBytes  = 64 << 20
)

type Kind uint8

const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

var kindNames = [...]string{"null", "boolean", "number", "string", "list", "object"}

func (k Kind) String() string { return kindNames[k] }

// A node is one JSON value that keeps what encoding/json loses: the order of keys and the exact form of numbers.
type Value struct {
	Kind    Kind
	Text    string // of a string its content, of a number its canonical literal, of a boolean "true" or "false"
	List    []Value
	Members []Member
}

type Member struct {
	Key   string
	Value Value
}

func NewString(s string) Value { return Value{Kind: String, Text: s} }

func NewList(list ...Value) Value { return Value{Kind: List, List: list} }

func NewObject(members ...Member) Value { return Value{Kind: Object, Members: members} }

func NewBool(b bool) Value { return Value{Kind: Bool, Text: strconv.FormatBool(b)} }

// get returns the value of a key of an object, nil if there is none.
func (n *Value) Get(key string) *Value {
	if n.Kind != Object {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return &n.Members[i].Value
		}
	}
	return nil
}

// lookup returns a get for many questions: linear for few of them, by an index for a product that hostile input could
// make large.
func (n *Value) Lookup(questions int) func(key string) *Value {
	if questions*len(n.Members) < 1024 {
		return n.Get
	}
	index := make(map[string]*Value, len(n.Members))
	for i := range n.Members {
		index[n.Members[i].Key] = &n.Members[i].Value
	}
	return func(key string) *Value { return index[key] }
}

// set replaces or appends a key of an object.
func (n *Value) Set(key string, v Value) {
	if old := n.Get(key); old != nil {
		*old = v
		return
	}
	n.Members = append(n.Members, Member{key, v})
}

func (n *Value) Remove(key string) {
	n.Members = slices.DeleteFunc(n.Members, func(m Member) bool { return m.Key == key })
}

// clone copies n so that no part is shared.
func (n Value) Clone() Value {
	n.List = slices.Clone(n.List)
	for i := range n.List {
		n.List[i] = n.List[i].Clone()
	}
	n.Members = slices.Clone(n.Members)
	for i := range n.Members {
		n.Members[i].Value = n.Members[i].Value.Clone()
	}
	return n
}

func (n *Value) Depth() int {
	d := 0
	for i := range n.List {
		d = max(d, n.List[i].Depth())
	}
	for i := range n.Members {
		d = max(d, n.Members[i].Value.Depth())
	}
	if n.Kind == List || n.Kind == Object {
		d++
	}
	return d
}

// A jsonError is a broken rule of JSON, or of ours, at a byte offset.
type Error struct {
	Offset int
	Rule   string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Rule) }

// parseJSON reads exactly one value. It rejects invalid UTF-8, lone surrogate escapes, numbers beyond float64,
// nesting beyond maxDepth and text after the value. Of equal keys the last value counts, at the place of the first.
func Parse(data []byte) (Value, error) { return ParseNested(data, MaxDepth) }

func ParseNested(data []byte, most int) (Value, error) {
	if len(data) > MaxBytes {
		return Value{}, &Error{MaxBytes, "more than 64 MiB"}
	}
	p := parser{data: data, most: most}
	if !utf8.Valid(data) {
		return Value{}, &Error{invalidUTF8(data), "invalid UTF-8"}
	}
	n, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.i < len(data) {
		return Value{}, p.fail("text after the value")
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

func (p *parser) fail(rule string) error { return &Error{p.i, rule} }

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

func (p *parser) value(depth int) (Value, error) {
	switch c := p.peek(); {
	case p.i == len(p.data):
		return Value{}, p.fail("unexpected end")
	case c == '{' || c == '[':
		if depth == p.most {
			return Value{}, p.fail("nested deeper than " + strconv.Itoa(p.most))
		}
		if c == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return NewString(s), err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	default:
		for _, lit := range []struct {
			word string
			n    Value
		}{{"true", NewBool(true)}, {"false", NewBool(false)}, {"null", Value{}}} {
			if strings.HasPrefix(string(p.data[p.i:min(len(p.data), p.i+5)]), lit.word) {
				p.i += len(lit.word)
				return lit.n, nil
			}
		}
		return Value{}, p.fail("expected a value")
	}
}

func (p *parser) object(depth int) (Value, error) {
	p.i++ // {
	n := Value{Kind: Object}
	if p.peek() == '}' {
		p.i++
		return n, nil
	}
	var index map[string]int // of large objects, so that hostile input stays linear
	for {
		if p.peek() != '"' {
			return Value{}, p.fail("expected a key")
		}
		key, err := p.str()
		if err != nil {
			return Value{}, err
		}
		if p.peek() != ':' {
			return Value{}, p.fail("expected ':' after a key")
		}
		p.i++
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		switch {
		case index != nil:
			if at, ok := index[key]; ok {
				n.Members[at].Value = v
			} else {
				index[key] = len(n.Members)
				n.Members = append(n.Members, Member{key, v})
			}
		default:
			n.Set(key, v)
			if len(n.Members) == 32 {
				index = make(map[string]int)
				for i, m := range n.Members {
					index[m.Key] = i
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
			return Value{}, p.fail("expected ',' or '}'")
		}
	}
}

func (p *parser) array(depth int) (Value, error) {
	p.i++ // [
	n := Value{Kind: List}
	if p.peek() == ']' {
		p.i++
		return n, nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		n.List = append(n.List, v)
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			return n, nil
		default:
			return Value{}, p.fail("expected ',' or ']'")
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

func (p *parser) number() (Value, error) {
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
		return Value{}, p.fail("bad number")
	}
	if at(".") {
		p.i++
		if !digits() {
			return Value{}, p.fail("bad number")
		}
	}
	if at("eE") {
		p.i++
		if at("+-") {
			p.i++
		}
		if !digits() {
			return Value{}, p.fail("bad number")
		}
	}
	text, ok := canonicalNumber(string(p.data[start:p.i]))
	if !ok {
		p.i = start
		return Value{}, p.fail("number out of range")
	}
	return Value{Kind: Number, Text: text}, nil
}

// canonicalNumber keeps integer literals exact and gives any other literal as a float64 that always looks like one,
// so that 5 and 5.0 differ. It returns false for a number beyond float64.
func canonicalNumber(lit string) (string, bool) {
	f, err := strconv.ParseFloat(lit, 64)
	switch {
	case err != nil:
		return "", false
	case strings.ContainsAny(lit, ".eE"):
		return FloatText(f), true
	case lit == "-0":
		return "0", true
	}
	return lit, true
}

// floatText writes a finite float64 in the shortest form that reads back, in plain digits between 1e-6 and 1e21 as
// ECMAScript does.
func FloatText(f float64) string {
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
type Form uint8

const (
	Compact   Form = iota // keys as they came, no spaces
	Display               // keys as they came, ", " and ": ": inside training text
	Canonical             // keys sorted by their UTF-8 bytes, no spaces: hashed and compared
)

func (n *Value) Bytes(f Form) []byte { return n.Append(nil, f) }

func (n *Value) Encode(f Form) string { return string(n.Append(nil, f)) }

func (n *Value) Append(dst []byte, f Form) []byte {
	comma, colon := ",", ":"
	if f == Display {
		comma, colon = ", ", ": "
	}
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case String:
		return AppendString(dst, n.Text)
	case List:
		dst = append(dst, '[')
		for i := range n.List {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = n.List[i].Append(dst, f)
		}
		return append(dst, ']')
	case Object:
		members := n.Members
		if f == Canonical {
			members = slices.Clone(members)
			slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.Key, b.Key) })
		}
		dst = append(dst, '{')
		for i := range members {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = AppendString(dst, members[i].Key)
			dst = append(dst, colon...)
			dst = members[i].Value.Append(dst, f)
		}
		return append(dst, '}')
	default:
		return append(dst, n.Text...)
	}
}

func AppendString(dst []byte, s string) []byte {
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

func StringOf(n *Value) string {
	if n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

func Sign(text string) int { return Rational(text).Sign() }

// count reads a length: an integer from 0.
func Count(text string) (int, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > 1<<31 || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

func PointerEscape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// isError says, by structure and never by words, whether a result reports a failure.
func ReportsError(v *Value) bool {
	if e := v.Get("error"); e != nil {
		return e.Kind != Null && e.Text != "" && e.Text != "false" || len(e.List) > 0 || len(e.Members) > 0
	}
	for _, key := range []string{"status", "status_code", "statusCode"} {
		if s := v.Get(key); s != nil && s.Kind == Number {
			if n, ok := Count(s.Text); ok && n >= 400 && n < 600 {
				return true
			}
		}
	}
	return false
}

// Pair is a member of an object.
func Pair(key string, value Value) Member { return Member{key, value} }

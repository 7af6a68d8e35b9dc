// Package jsonval reads and writes JSON values that keep what encoding/json loses: the order of keys and the exact form of
// numbers.
package jsonval

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of what is read: deeper or longer JSON is an error. A line of a file may nest deeper by what it wraps around
// a schema or the arguments of a call.
const (
	MaxDepth  = 64
	LineDepth = MaxDepth + 8
	MaxBytes  = 64 << 20
)

// A Kind is the kind of a [Value].
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

var kindNames = [...]string{"null", "boolean", "number", "string", "list", "object"}

// String returns the name used in messages: "null", "boolean", "number", "string", "list" or "object".
func (k Kind) String() string { return kindNames[k] }

// A Value is one JSON value that keeps what encoding/json loses: the order of keys and the exact form of numbers.
type Value struct {
	Kind    Kind
	Text    string // of a string its content, of a number its canonical literal, of a boolean "true" or "false"
	List    []Value
	Members []Member
}

// A Member is a key of an object with its value.
type Member struct {
	Key   string
	Value Value
}

// NewString returns a string.
func NewString(s string) Value { return Value{Kind: String, Text: s} }

// NewList returns a list, which keeps the slice.
func NewList(list ...Value) Value { return Value{Kind: List, List: list} }

// NewObject returns an object, which keeps the slice; its keys must differ.
func NewObject(members ...Member) Value { return Value{Kind: Object, Members: members} }

// NewBool returns true or false.
func NewBool(b bool) Value { return Value{Kind: Bool, Text: strconv.FormatBool(b)} }

// Get returns the value of a key of an object, nil if there is none.
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

// Lookup returns a [Value.Get] for many questions: linear for few of them, by an index for a product that hostile input could
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

// Set replaces or appends a key of an object.
func (n *Value) Set(key string, v Value) {
	if old := n.Get(key); old != nil {
		*old = v
		return
	}
	n.Members = append(n.Members, Member{key, v})
}

// Remove takes a key out of an object, if it is there. The slice of members is changed in place.
func (n *Value) Remove(key string) {
	n.Members = slices.DeleteFunc(n.Members, func(m Member) bool { return m.Key == key })
}

// Clone copies n so that no part is shared.
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

// Depth is 0 for a scalar and else one more than that of the deepest entry.
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

// An Error is a broken rule of JSON, or of ours, at a byte offset.
type Error struct {
	Offset int // 0-based byte where reading stopped
	Rule   string
}

// Error gives the offset and the rule.
func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Rule) }

// Parse reads exactly one value of at most [MaxBytes] and [MaxDepth]. It rejects invalid UTF-8, lone surrogate escapes,
// numbers beyond float64 and text after the value. Of equal keys the last value counts, at the place of the first. The
// value shares one copy of data. The error is an [*Error].
func Parse(data []byte) (Value, error) { return ParseNested(data, MaxDepth) }

// ParseNested is [Parse] with another bound on the nesting.
func ParseNested(data []byte, most int) (Value, error) {
	if len(data) > MaxBytes {
		return Value{}, &Error{MaxBytes, "more than 64 MiB"}
	}
	return parse(string(data), most)
}

// ParseText is [Parse] for a string, whose memory the value shares.
func ParseText(text string) (Value, error) {
	if len(text) > MaxBytes {
		return Value{}, &Error{MaxBytes, "more than 64 MiB"}
	}
	return parse(text, MaxDepth)
}

func parse(text string, most int) (Value, error) {
	if !utf8.ValidString(text) {
		return Value{}, &Error{invalidUTF8(text), "invalid UTF-8"}
	}
	p := parsers.Get().(*parser)
	defer p.release()
	p.text, p.i, p.most = text, 0, most
	n, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.i < len(p.text) {
		return Value{}, p.fail("text after the value")
	}
	return n, nil
}

func invalidUTF8(text string) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// A parser keeps the entries of all open lists and objects on two stacks, so that each list and object is allocated
// once, at its final size.
type parser struct {
	text    string
	i       int
	most    int // levels of nesting
	values  []Value
	members []Member
}

// parsers keeps the stacks of small texts from one parse to the next.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// release forgets what was parsed, and stacks that grew large.
func (p *parser) release() {
	const most = 32
	if cap(p.values) > most || cap(p.members) > most {
		return
	}
	clear(p.values[:cap(p.values)])
	clear(p.members[:cap(p.members)])
	p.text, p.values, p.members = "", p.values[:0], p.members[:0]
	parsers.Put(p)
}

func (p *parser) fail(rule string) error { return &Error{p.i, rule} }

func (p *parser) space() {
	for p.i < len(p.text) {
		switch p.text[p.i] {
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
	if p.i == len(p.text) {
		return 0
	}
	return p.text[p.i]
}

func (p *parser) value(depth int) (Value, error) {
	switch c := p.peek(); {
	case p.i == len(p.text):
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
	}
	for _, lit := range [...]struct {
		word string
		kind Kind
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if strings.HasPrefix(p.text[p.i:], lit.word) {
			p.i += len(lit.word)
			if lit.kind == Null {
				return Value{}, nil
			}
			return Value{Kind: Bool, Text: lit.word}, nil
		}
	}
	return Value{}, p.fail("expected a value")
}

// Objects with more members than this are read with an index of their keys.
const indexedFrom = 32

func (p *parser) object(depth int) (Value, error) {
	p.i++ // {
	if p.peek() == '}' {
		p.i++
		return Value{Kind: Object}, nil
	}
	base := len(p.members)
	var index map[string]int // of large objects, counted from base, so that hostile input stays linear
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
		at := -1
		if index != nil {
			if i, ok := index[key]; ok {
				at = i
			}
		} else {
			at = slices.IndexFunc(p.members[base:], func(m Member) bool { return m.Key == key })
		}
		if at >= 0 {
			p.members[base+at].Value = v
		} else {
			if p.members == nil {
				p.members = make([]Member, 0, 8)
			}
			p.members = append(p.members, Member{key, v})
			switch size := len(p.members) - base; {
			case index != nil:
				index[key] = size - 1
			case size == indexedFrom:
				index = make(map[string]int)
				for i, m := range p.members[base:] {
					index[m.Key] = i
				}
			}
		}
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			n := Value{Kind: Object, Members: slices.Clone(p.members[base:])}
			p.members = p.members[:base]
			return n, nil
		default:
			return Value{}, p.fail("expected ',' or '}'")
		}
	}
}

func (p *parser) array(depth int) (Value, error) {
	p.i++ // [
	if p.peek() == ']' {
		p.i++
		return Value{Kind: List}, nil
	}
	base := len(p.values)
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		if p.values == nil {
			p.values = make([]Value, 0, 8)
		}
		p.values = append(p.values, v)
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			n := Value{Kind: List, List: slices.Clone(p.values[base:])}
			p.values = p.values[:base]
			return n, nil
		default:
			return Value{}, p.fail("expected ',' or ']'")
		}
	}
}

func (p *parser) str() (string, error) {
	p.i++ // "
	start := p.i
	for p.i < len(p.text) && p.text[p.i] != '"' && p.text[p.i] != '\\' && p.text[p.i] >= 0x20 {
		p.i++
	}
	if p.i < len(p.text) && p.text[p.i] == '"' {
		p.i++
		return p.text[start : p.i-1], nil
	}
	out := []byte(p.text[start:p.i])
	for p.i < len(p.text) {
		c := p.text[p.i]
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
	if p.i+1 == len(p.text) {
		return 0, p.fail("unexpected end in a string")
	}
	c := p.text[p.i+1]
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
	if r <= 0xdbff && p.i+7 < len(p.text) && p.text[p.i+6] == '\\' && p.text[p.i+7] == 'u' {
		if low, ok := p.hex(p.i + 8); ok && low >= 0xdc00 && low <= 0xdfff {
			p.i += 12
			return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), nil
		}
	}
	return 0, p.fail("lone surrogate escape")
}

func (p *parser) hex(at int) (rune, bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.text[at : at+4]) {
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
	p.skip('-', '-')
	if !p.skip('0', '0') && !p.digits() {
		return Value{}, p.fail("bad number")
	}
	if p.skip('.', '.') && !p.digits() {
		return Value{}, p.fail("bad number")
	}
	if p.skip('e', 'E') {
		p.skip('+', '-')
		if !p.digits() {
			return Value{}, p.fail("bad number")
		}
	}
	text, ok := canonicalNumber(p.text[start:p.i])
	if !ok {
		p.i = start
		return Value{}, p.fail("number out of range")
	}
	return Value{Kind: Number, Text: text}, nil
}

// skip passes over one of two bytes, if it is next.
func (p *parser) skip(a, b byte) bool {
	if p.i < len(p.text) && (p.text[p.i] == a || p.text[p.i] == b) {
		p.i++
		return true
	}
	return false
}

func (p *parser) digits() bool {
	from := p.i
	for p.i < len(p.text) && p.text[p.i] >= '0' && p.text[p.i] <= '9' {
		p.i++
	}
	return p.i > from
}

// canonicalNumber keeps integer literals exact and gives any other literal as a float64 that always looks like one,
// so that 5 and 5.0 differ. It returns false for a number beyond float64.
func canonicalNumber(lit string) (string, bool) {
	if len(lit) < 18 && !strings.ContainsAny(lit, ".eE") && lit != "-0" {
		return lit, true
	}
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

// FloatText writes a finite float64 in the shortest form that reads back, in plain digits between 1e-6 and 1e21 as
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

// A Form is a way to write JSON. None escapes more than JSON demands.
type Form uint8

// The forms.
const (
	Compact   Form = iota // keys as they came, no spaces
	Display               // keys as they came, ", " and ": ": inside training text
	Canonical             // keys sorted by their UTF-8 bytes, no spaces: hashed and compared
)

// Bytes writes n.
func (n *Value) Bytes(f Form) []byte { return write(n, f, bytes.Clone) }

// Encode writes n as a string.
func (n *Value) Encode(f Form) string {
	return write(n, f, func(b []byte) string { return string(b) })
}

// buffers keeps what small values were written into, so that each is copied once, in its own size.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func write[T any](n *Value, f Form, copied func([]byte) T) T {
	b := buffers.Get().(*[]byte)
	*b = n.Append((*b)[:0], f)
	out := copied(*b)
	if cap(*b) <= 16<<10 {
		buffers.Put(b)
	}
	return out
}

// Append writes n after dst.
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
		byKey := func(a, b Member) int { return cmp.Compare(a.Key, b.Key) }
		if f == Canonical && !slices.IsSortedFunc(n.Members, byKey) {
			return n.appendSorted(dst)
		}
		dst = append(dst, '{')
		for i := range n.Members {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = AppendString(dst, n.Members[i].Key)
			dst = append(dst, colon...)
			dst = n.Members[i].Value.Append(dst, f)
		}
		return append(dst, '}')
	default:
		return append(dst, n.Text...)
	}
}

// appendSorted writes an object in the canonical form.
func (n *Value) appendSorted(dst []byte) []byte {
	var room [16]int
	order := room[:0]
	for i := range n.Members {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(n.Members[a].Key, n.Members[b].Key) })
	dst = append(dst, '{')
	for i, at := range order {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, n.Members[at].Key), ':')
		dst = n.Members[at].Value.Append(dst, Canonical)
	}
	return append(dst, '}')
}

// AppendString writes a JSON string after dst.
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

// StringOf returns the content of a string, and "" for anything else.
func StringOf(n *Value) string {
	if n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

// Sign is -1, 0 or 1 like the number.
func Sign(text string) int { return Rational(text).Sign() }

// Count reads a length: an integer from 0.
func Count(text string) (int, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > 1<<31 || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

// PointerEscape writes a key as a part of a JSON Pointer.
func PointerEscape(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// ReportsError says, by structure and never by words, whether a result reports a failure: in "error", as MCP does in
// "isError", or in a status of HTTP.
func ReportsError(v *Value) bool {
	if e := v.Get("isError"); e != nil && e.Kind == Bool && e.Text == "true" {
		return true
	}
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

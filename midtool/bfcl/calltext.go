package bfcl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A textParser reads Python call text.
type textParser struct {
	s    string
	i    int
	base int // bytes cut off before s
}

func parseCalls(text string) ([]call, error) {
	if len(text) > jsonval.MaxBytes {
		return nil, &jsonval.Error{Offset: jsonval.MaxBytes, Rule: "more than 64 MiB"}
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, &jsonval.Error{Offset: i, Rule: "invalid UTF-8"}
		}
		i += size
	}
	const around = "` \t\r\n"
	s := strings.TrimLeft(text, around)
	p := &textParser{s: strings.TrimRight(s, around), base: len(text) - len(s)}
	return p.calls()
}

func (p *textParser) fail(format string, args ...any) error {
	return &jsonval.Error{Offset: p.base + p.i, Rule: fmt.Sprintf(format, args...)}
}

func (p *textParser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

// at skips space and says whether a byte comes next.
func (p *textParser) at(c byte) bool {
	p.space()
	return p.i < len(p.s) && p.s[p.i] == c
}

func (p *textParser) eat(c byte) bool {
	if !p.at(c) {
		return false
	}
	p.i++
	return true
}

func (p *textParser) calls() ([]call, error) {
	list := p.eat('[')
	if list && p.eat(']') {
		return nil, p.end()
	}
	var calls []call
	for {
		c, err := p.call()
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
		more := p.eat(',')
		if list && p.eat(']') || !list && p.i == len(p.s) {
			return calls, p.end()
		}
		if !more {
			return nil, p.fail("expected ',' or the end of the list of calls")
		}
	}
}

func (p *textParser) end() error {
	if p.space(); p.i < len(p.s) {
		return p.fail("text after the calls")
	}
	return nil
}

func (p *textParser) call() (call, error) {
	c := call{args: jsonval.NewObject()}
	p.space()
	start := p.i
	for {
		if p.identifier() == "" {
			return c, p.fail("expected the name of a function")
		}
		if p.i == len(p.s) || p.s[p.i] != '.' {
			break
		}
		p.i++
	}
	c.name = p.s[start:p.i]
	if !p.eat('(') {
		return c, p.fail("expected '(' after %q", brief(c.name))
	}
	named := map[string]bool{}
	for !p.eat(')') {
		if key := p.keyword(); key != "" {
			if named[key] {
				return c, p.fail("repeated argument %q", brief(key))
			}
			named[key] = true
			v, err := p.value(0)
			if err != nil {
				return c, err
			}
			c.args.Members = append(c.args.Members, jsonval.Pair(key, v))
		} else {
			if len(named) > 0 {
				return c, p.fail("expected a named argument")
			}
			v, err := p.value(0)
			if err != nil {
				return c, err
			}
			c.positional = append(c.positional, v)
		}
		if !p.eat(',') && !p.at(')') {
			return c, p.fail("expected ',' or ')' after an argument")
		}
	}
	return c, nil
}

// identifier reads a name, "" if there is none.
func (p *textParser) identifier() string {
	start := p.i
	for p.i < len(p.s) {
		r, size := utf8.DecodeRuneInString(p.s[p.i:])
		if r != '_' && !unicode.IsLetter(r) && (p.i == start || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc)) {
			break
		}
		p.i += size
	}
	return p.s[start:p.i]
}

// keyword reads a name and the = after it, or nothing.
func (p *textParser) keyword() string {
	p.space()
	start := p.i
	if name := p.identifier(); name != "" && p.eat('=') && !strings.HasPrefix(p.s[p.i:], "=") {
		return name
	}
	p.i = start
	return ""
}

func (p *textParser) value(depth int) (jsonval.Value, error) {
	p.space()
	if p.i == len(p.s) {
		return jsonval.Value{}, p.fail("unexpected end")
	}
	switch c := p.s[p.i]; {
	case strings.IndexByte("[({", c) >= 0:
		if depth == jsonval.MaxDepth-1 { // the arguments are an object around it
			return jsonval.Value{}, p.fail("nested deeper than %d levels", jsonval.MaxDepth)
		}
		p.i++
		switch c {
		case '[':
			v, _, err := p.list(']', depth)
			return v, err
		case '(':
			v, comma, err := p.list(')', depth)
			if err == nil && len(v.List) == 1 && !comma {
				return v.List[0], nil
			}
			return v, err
		default:
			return p.dict(depth)
		}
	case c == '"' || c == '\'':
		var b strings.Builder
		for p.at('"') || p.at('\'') {
			if err := p.str(&b); err != nil {
				return jsonval.Value{}, err
			}
		}
		return jsonval.NewString(b.String()), nil
	case c == '-' || c == '.' || c >= '0' && c <= '9':
		return p.number()
	default:
		return p.word()
	}
}

// list reads elements up to an end that is consumed; comma says whether there was one.
func (p *textParser) list(end byte, depth int) (v jsonval.Value, comma bool, err error) {
	v = jsonval.NewList()
	for !p.eat(end) {
		e, err := p.value(depth + 1)
		if err != nil {
			return v, comma, err
		}
		v.List = append(v.List, e)
		if p.eat(',') {
			comma = true
		} else if !p.at(end) {
			return v, comma, p.fail("expected ',' or '%c'", end)
		}
	}
	return v, comma, nil
}

func (p *textParser) dict(depth int) (jsonval.Value, error) {
	v := jsonval.NewObject()
	index := map[string]int{}
	for !p.eat('}') {
		if !p.at('"') && !p.at('\'') {
			return v, p.fail("expected a string as key")
		}
		var b strings.Builder
		if err := p.str(&b); err != nil {
			return v, err
		}
		key := b.String()
		if !p.eat(':') {
			return v, p.fail("expected ':' after a key")
		}
		e, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		if at, known := index[key]; known {
			v.Members[at].Value = e
		} else {
			index[key] = len(v.Members)
			v.Members = append(v.Members, jsonval.Pair(key, e))
		}
		if !p.eat(',') && !p.at('}') {
			return v, p.fail("expected ',' or '}'")
		}
	}
	return v, nil
}

func (p *textParser) word() (jsonval.Value, error) {
	name := p.identifier()
	if name == "" {
		return jsonval.Value{}, p.fail("expected a value")
	}
	if p.i < len(p.s) && strings.IndexByte(`"'`, p.s[p.i]) >= 0 {
		return jsonval.Value{}, p.fail("a string with a prefix is not read")
	}
	switch name {
	case "True":
		return jsonval.NewBool(true), nil
	case "False":
		return jsonval.NewBool(false), nil
	case "None":
		return jsonval.Value{}, nil
	}
	return jsonval.NewString(name), nil // what may follow a name, such as '(' or '.', ends no value and fails there
}

func (p *textParser) number() (jsonval.Value, error) {
	start := p.i
	if p.s[p.i] == '-' {
		p.i++
		p.space()
	}
	from := p.i
	digits := func() bool {
		first := p.i
		for p.i < len(p.s) && (p.s[p.i] >= '0' && p.s[p.i] <= '9' ||
			p.s[p.i] == '_' && p.i > first && p.s[p.i-1] != '_' && p.i+1 < len(p.s) && p.s[p.i+1] >= '0' && p.s[p.i+1] <= '9') {
			p.i++
		}
		return p.i > first
	}
	bad := func(rule string) (jsonval.Value, error) {
		p.i = start
		return jsonval.Value{}, p.fail("%s", rule)
	}
	whole, fraction, float := digits(), false, false
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		fraction, float = digits(), true
	}
	if !whole && !fraction {
		return bad("bad number")
	}
	if p.i < len(p.s) && (p.s[p.i] == 'e' || p.s[p.i] == 'E') {
		p.i++
		float = true
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if !digits() {
			return bad("bad number")
		}
	}
	end := p.i
	if p.identifier() != "" {
		return bad("bad number")
	}
	text := strings.ReplaceAll(p.s[from:end], "_", "")
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return bad("number out of range")
	}
	if float {
		if from > start {
			f = math.Copysign(f, -1)
		}
		return jsonval.Value{Kind: jsonval.Number, Text: jsonval.FloatText(f)}, nil
	}
	if len(text) > 1 && text[0] == '0' {
		return bad("integer with a leading zero")
	}
	if from > start && text != "0" {
		text = "-" + text
	}
	return jsonval.Value{Kind: jsonval.Number, Text: text}, nil
}

// str appends one string literal in single, double or triple quotes.
func (p *textParser) str(b *strings.Builder) error {
	start := p.i
	quote := p.s[p.i : p.i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.s[p.i:], triple) {
		quote = triple
	}
	p.i += len(quote)
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == quote[0] && strings.HasPrefix(p.s[p.i:], quote):
			p.i += len(quote)
			return nil
		case c == '\n' && len(quote) == 1:
			return p.fail("line break in a string")
		case c != '\\':
			b.WriteByte(c)
			p.i++
		default:
			if err := p.escape(b); err != nil {
				return err
			}
		}
	}
	p.i = start
	return p.fail("string without an end")
}

// escape reads what follows a backslash. What Python does not know keeps the backslash.
func (p *textParser) escape(b *strings.Builder) error {
	if p.i+1 == len(p.s) {
		return p.fail("unexpected end in a string")
	}
	c := p.s[p.i+1]
	if at := strings.IndexByte("abfnrtv\\'\"", c); at >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v\\'\""[at])
		p.i += 2
		return nil
	}
	numeral := func(from, most, base int) (rune, int) {
		n := 0
		for n < most && from+n < len(p.s) && strings.IndexByte("0123456789abcdefABCDEF", p.s[from+n]) >= 0 {
			if base == 8 && p.s[from+n] > '7' {
				break
			}
			n++
		}
		v, err := strconv.ParseUint(p.s[from:from+n], base, 32)
		if err != nil || v > unicode.MaxRune {
			return -1, n
		}
		return rune(v), n
	}
	var r rune
	var n int
	switch c {
	case '\n':
		p.i += 2
		return nil
	case 'x', 'u', 'U':
		want := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if r, n = numeral(p.i+2, want, 16); n < want {
			return p.fail("bad \\%c escape", c)
		}
		n += 2
	case 'N':
		return p.fail("named characters are not read")
	case '0', '1', '2', '3', '4', '5', '6', '7':
		r, n = numeral(p.i+1, 3, 8)
		n++
	default:
		b.WriteByte('\\')
		p.i++
		return nil
	}
	if !utf8.ValidRune(r) {
		return p.fail("escape of no character")
	}
	b.WriteRune(r)
	p.i += n
	return nil
}

package bfcl

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A pyType is the type that a JSON value has in Python. The zero value is none of them.
type pyType uint8

const (
	pyNone pyType = iota + 1
	pyBool
	pyInt
	pyFloat
	pyStr
	pyList
	pyDict
)

var pyNames = [...]string{"undefined", "null", "boolean", "integer", "float", "string", "list", "dict"}

func (t pyType) String() string { return pyNames[t] }

func typeOf(v *jsonval.Value) pyType {
	switch v.Kind {
	case jsonval.Bool:
		return pyBool
	case jsonval.Number:
		if isFloat(v.Text) {
			return pyFloat
		}
		return pyInt
	case jsonval.String:
		return pyStr
	case jsonval.List:
		return pyList
	case jsonval.Object:
		return pyDict
	default:
		return pyNone
	}
}

func isFloat(literal string) bool { return strings.ContainsAny(literal, ".eE") }

// equal is the == of Python: 1, 1.0 and true are equal, the order of keys does not count, that of lists does.
func equal(a, b *jsonval.Value) bool {
	if number(a) && number(b) {
		return equalNumbers(literal(a), literal(b))
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case jsonval.String:
		return a.Text == b.Text
	case jsonval.List:
		if len(a.List) != len(b.List) {
			return false
		}
		for i := range a.List {
			if !equal(&a.List[i], &b.List[i]) {
				return false
			}
		}
	case jsonval.Object:
		if len(a.Members) != len(b.Members) {
			return false
		}
		get := b.Lookup(len(a.Members))
		for i := range a.Members {
			v := get(a.Members[i].Key)
			if v == nil || !equal(&a.Members[i].Value, v) {
				return false
			}
		}
	}
	return true
}

func number(v *jsonval.Value) bool { return v.Kind == jsonval.Number || v.Kind == jsonval.Bool }

// literal returns the number that a value counts as.
func literal(v *jsonval.Value) string {
	switch {
	case v.Kind == jsonval.Number:
		return v.Text
	case v.Text == "true":
		return "1"
	default:
		return "0"
	}
}

// equalNumbers compares without rounding: integers have any number of digits, and 2^53+1 is no float.
func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	switch floatA, floatB := isFloat(a), isFloat(b); {
	case floatA && floatB:
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return x == y
	case floatB:
		a, b = b, a
	case !floatA:
		return false // integers have one form
	}
	x, _ := strconv.ParseFloat(a, 64)
	if x != math.Trunc(x) || math.IsInf(x, 0) {
		return false
	}
	whole, _ := new(big.Float).SetFloat64(x).Int(nil)
	return whole.String() == b
}

// contains says whether a value equals one of a list.
func contains(list []jsonval.Value, v *jsonval.Value) bool {
	for i := range list {
		if equal(&list[i], v) {
			return true
		}
	}
	return false
}

// fold is the form in which strings are compared: without spaces and , . / - _ * ^, in lower case, with double quotes.
func fold(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9'
	}
	if plain {
		return s
	}
	return strings.ReplaceAll(lower(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" ,./-_*^", r) {
			return -1
		}
		return r
	}, s)), "'", `"`)
}

// lower is the lower() of Python, which maps two characters unlike strings.ToLower: I with a dot keeps the dot as a
// combining character, and a sigma at the end of a word has a form of its own.
func lower(s string) string {
	if !strings.ContainsAny(s, "\u0130\u03a3") {
		return strings.ToLower(s)
	}
	runes := []rune(s)
	// Whether a character with case stands before each one, and after it, beyond what has no say in it. Both are
	// carried along, so that a long run of such characters is passed once.
	before, after := make([]bool, len(runes)), make([]bool, len(runes))
	cased := func(last bool, r rune) bool {
		if caseIgnorable(r) {
			return last
		}
		return hasCase(r)
	}
	for i := 1; i < len(runes); i++ {
		before[i] = cased(before[i-1], runes[i-1])
	}
	for i := len(runes) - 2; i >= 0; i-- {
		after[i] = cased(after[i+1], runes[i+1])
	}
	var b strings.Builder
	for i, r := range runes {
		switch {
		case r == '\u0130':
			b.WriteString("i\u0307")
		case r == '\u03a3' && before[i] && !after[i]:
			b.WriteRune('\u03c2')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func hasCase(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// caseIgnorable is the property of Unicode: marks, modifiers, formats, and the punctuation that stands inside words.
func caseIgnorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) ||
		strings.ContainsRune("'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", r)
}

// foldValue folds a string and leaves other values as they are.
func foldValue(v *jsonval.Value) jsonval.Value {
	if v.Kind == jsonval.String {
		return jsonval.NewString(fold(v.Text))
	}
	return *v
}

// characters are what Python sees when it walks through a string.
func characters(s string) []jsonval.Value {
	var list []jsonval.Value
	for _, r := range s {
		list = append(list, jsonval.NewString(string(r)))
	}
	return list
}

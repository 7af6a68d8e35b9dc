package jsonval

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Set holds values that JSON Schema tells apart.
type Set map[string]bool

// Add adds v and reports whether v is new.
func (s Set) Add(v Value) bool {
	form := EqualForm(&v)
	known := s[form]
	s[form] = true
	return !known
}

// Integral holds for 1 and for 1.0, as JSON Schema says.
func Integral(text string) bool {
	if !strings.ContainsAny(text, ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f)
}

// Rational reads a number without rounding; what is none counts as 0.
func Rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// EqualForm is equal for values that JSON Schema calls equal: the canonical form with 1.0 written as 1.
func EqualForm(n *Value) string {
	var room [128]byte
	return string(AppendEqualForm(room[:0], n))
}

// AppendEqualForm writes the [EqualForm] of n after dst.
func AppendEqualForm(dst []byte, n *Value) []byte {
	if !hasFloat(n) {
		return n.Append(dst, Canonical)
	}
	c := n.Clone()
	foldFloats(&c)
	return c.Append(dst, Canonical)
}

// AddForms adds the forms of values to a set, made when nil.
func AddForms(set map[string]bool, values ...Value) map[string]bool {
	if set == nil {
		set = make(map[string]bool, len(values))
	}
	for i := range values {
		set[EqualForm(&values[i])] = true
	}
	return set
}

func hasFloat(n *Value) bool {
	if n.Kind == Number {
		return strings.ContainsAny(n.Text, ".eE")
	}
	for i := range n.List {
		if hasFloat(&n.List[i]) {
			return true
		}
	}
	for i := range n.Members {
		if hasFloat(&n.Members[i].Value) {
			return true
		}
	}
	return false
}

func foldFloats(n *Value) {
	if n.Kind == Number && Integral(n.Text) {
		n.Text = Rational(n.Text).RatString()
	}
	for i := range n.List {
		foldFloats(&n.List[i])
	}
	for i := range n.Members {
		foldFloats(&n.Members[i].Value)
	}
}

// Contains says whether v is in the list, compared as JSON Schema does: 1 equals 1.0.
func Contains(list []Value, v Value) bool {
	want := EqualForm(&v)
	for i := range list {
		if EqualForm(&list[i]) == want {
			return true
		}
	}
	return false
}

package game24

import "strconv"

// A rational is a fraction in lowest terms with a positive denominator, so equal values are equal structs. The bound in the
// package comment keeps every intermediate result far inside 64 bits.
type rational struct{ num, den int64 }

func whole(n int64) rational { return rational{n, 1} }

func reduced(num, den int64) rational {
	a, b := num, den
	for b != 0 {
		a, b = b, a%b
	}
	if (a < 0) != (den < 0) {
		a = -a // the divisor takes the sign of the denominator
	}
	return rational{num / a, den / a}
}

// An operator is one of the four operations of the game.
type operator uint8

// The operators, in the order in which the solver tries them.
const (
	add operator = iota
	sub
	mul
	div
)

var operatorNames = [...]string{"add", "sub", "mul", "div"}

func (o operator) String() string { return operatorNames[o] }

// apply returns a o b; it is not ok for a division by zero.
func (o operator) apply(a, b rational) (r rational, ok bool) {
	switch o {
	case add:
		return reduced(a.num*b.den+b.num*a.den, a.den*b.den), true
	case sub:
		return reduced(a.num*b.den-b.num*a.den, a.den*b.den), true
	case mul:
		return reduced(a.num*b.num, a.den*b.den), true
	}
	if b.num == 0 {
		return rational{}, false
	}
	return reduced(a.num*b.den, a.den*b.num), true
}

func (a rational) less(b rational) bool { return a.num*b.den < b.num*a.den }

// String returns "8" or "-8/3".
func (a rational) String() string {
	if a.den == 1 {
		return strconv.FormatInt(a.num, 10) // which makes no new string of a small number
	}
	return string(a.append(nil))
}

// append appends what String returns.
func (a rational) append(b []byte) []byte {
	b = strconv.AppendInt(b, a.num, 10)
	if a.den != 1 {
		b = strconv.AppendInt(append(b, '/'), a.den, 10)
	}
	return b
}

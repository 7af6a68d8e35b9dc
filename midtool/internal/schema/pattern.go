package schema

import (
	"regexp/syntax"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// fromPattern makes a string that follows a regular expression: literals, classes, groups, alternation and
// repetition, at most 8 times more than the least. Assertions are passed over, so the caller checks the result. It
// returns false for a pattern out of bounds.
func fromPattern(d *draw.Draws, pattern string) (string, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	x := expansion{d: d}
	ok := x.expand(re)
	return x.String(), ok
}

type expansion struct {
	strings.Builder
	d     *draw.Draws
	steps int // nested repetitions of nothing take many and write nothing
}

func (x *expansion) expand(re *syntax.Regexp) bool {
	const maxLen, maxSteps = 256, 4096
	if x.steps++; x.Len() > maxLen || x.steps > maxSteps {
		return false
	}
	switch re.Op {
	case syntax.OpLiteral:
		x.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		r, ok := fromClass(x.d, re.Rune)
		if !ok {
			return false
		}
		x.WriteRune(r)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		x.WriteByte(byte('a' + x.d.Pick(26)))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			if !x.expand(sub) {
				return false
			}
		}
	case syntax.OpAlternate:
		return x.expand(draw.One(x.d, re.Sub))
	case syntax.OpStar:
		return x.repeat(re.Sub[0], x.d.Between(0, 8))
	case syntax.OpPlus:
		return x.repeat(re.Sub[0], x.d.Between(1, 8))
	case syntax.OpQuest:
		return x.repeat(re.Sub[0], x.d.Between(0, 1))
	case syntax.OpRepeat:
		most := re.Min + 8
		if re.Max >= 0 {
			most = min(most, re.Max)
		}
		return x.repeat(re.Sub[0], x.d.Between(re.Min, most))
	case syntax.OpNoMatch:
		return false
	}
	return true
}

func (x *expansion) repeat(re *syntax.Regexp, times int) bool {
	for range times {
		if !x.expand(re) {
			return false
		}
	}
	return true
}

// fromClass picks from the printable ASCII part of a class if it has one, letters and digits first.
func fromClass(d *draw.Draws, ranges []rune) (rune, bool) {
	var plain, ascii []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= min(ranges[i+1], '~'); r++ {
			ascii = append(ascii, r)
			if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				plain = append(plain, r)
			}
		}
	}
	switch {
	case len(plain) > 0:
		return draw.One(d, plain), true
	case len(ascii) > 0:
		return draw.One(d, ascii), true
	case len(ranges) > 0:
		return ranges[0], true
	}
	return 0, false
}

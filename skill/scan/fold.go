package scan

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// Bytes of a folded view that stand for more than themselves.
const (
	gap   = 0x01 // a run of dropped runes: part of a word, and an end of one
	other = 0x02 // a rune outside ASCII
	soft  = '\r' // white space with a line break that is not \n
)

// ascii folds the bytes of ASCII; it is 0 for the others.
var ascii = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case 'A' <= c && c <= 'Z':
			t[c] = c + 'a' - 'A'
		case c > ' ' && c < 0x7f, c == ' ', c == '\n':
			t[c] = c
		case c == '\t':
			t[c] = ' '
		case c == '\r', c == '\v', c == '\f':
			t[c] = soft
		default:
			t[c] = gap
		}
	}
	return t
}()

// fold returns the view of the text that the rules of words see: one byte per rune, in lower case, with dropped runes
// marked and each run of white space as one of ' ', soft and '\n'. For the offsets at of the view, ascending, it sets raw
// to where the runes of these bytes start in the text.
func fold(text string, at, raw []int) []byte {
	f := make([]byte, len(text))
	n := 0
	last := byte(' ') // the start needs no gap
	for i := 0; i < len(text); {
		c, size := ascii[text[i]], 1
		if c == 0 {
			c, size = foldRune(text[i:])
		}
		switch {
		case c > ' ' || c == other:
			if len(at) > 0 && at[0] == n {
				raw[0] = i
				at, raw = at[1:], raw[1:]
			}
			f[n] = c
			n++
			last = c
		case c == gap:
			if last != gap && !blank(last) {
				f[n] = gap
				n++
				last = gap
			}
		case n > 0 && blank(last):
			last = min(last, c) // '\n' < soft < ' '
			f[n-1] = last
		default:
			if last != gap { // else it takes the place of the gap
				n++
			}
			f[n-1] = c
			last = c
		}
		i += size
	}
	return f[:n]
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == soft }

// foldRune folds the first rune of s, which is not ASCII, and returns its size.
func foldRune(s string) (byte, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r >= 0x3400 && r < 0xfe00 { // most of the text of East Asia: nothing there needs a closer look
		return other, size
	}
	switch {
	case r == utf8.RuneError && size == 1:
		return other, 1
	case r == '\u2019' || r == '\u02bc':
		return '\'', size
	case r == '\u017f': // its lower case is itself, but it reads as s
		return 's', size
	case r >= 0xff01 && r <= 0xff5e: // full-width forms
		return ascii[r-0xfee0], size
	case r == '\u0085' || r == '\u2028' || r == '\u2029':
		return soft, size
	case unicode.IsSpace(r):
		return ' ', size
	case dropped(r):
		return gap, size
	}
	if l := unicode.ToLower(r); l < utf8.RuneSelf {
		return byte(l), size
	}
	return other, size
}

// dropped reports whether a rune outside ASCII does not show.
func dropped(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// unfold turns hits in the folded view of a text into hits in the text.
func unfold(text string, hits []hit) []hit {
	if len(hits) == 0 {
		return nil
	}
	at := make([]int, 0, 2*len(hits))
	for _, h := range hits {
		at = append(at, h.start, h.end-1)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	raw := make([]int, len(at))
	fold(text, at, raw)
	locate := func(offset int) int {
		i, _ := slices.BinarySearch(at, offset)
		return raw[i]
	}
	out := make([]hit, len(hits))
	for i, h := range hits {
		h.start, h.end = locate(h.start), locate(h.end-1)
		_, size := utf8.DecodeRuneInString(text[h.end:])
		h.end += size
		out[i] = h
	}
	return out
}

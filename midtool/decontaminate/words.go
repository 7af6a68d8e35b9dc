package decontaminate

import (
	"unicode"
	"unicode/utf8"
)

// Normalize returns the words of a text, with a blank between them: in lower case; a number, with what follows a first "." or "," in it, is 0;
// and everything but letters, digits and blanks separates words, "_" too. Digits are those of any script. Time is linear.
func Normalize(text string) string {
	return string(appendNormalized(make([]byte, 0, len(text)), text))
}

// appendNormalized appends the words of a text to dst.
func appendNormalized(dst []byte, text string) []byte {
	w := words{text: text, keep: true, out: dst}
	for w.next() {
		w.out = append(w.out, ' ')
	}
	if len(w.out) > len(dst) {
		w.out = w.out[:len(w.out)-1]
	}
	return w.out
}

// words are read one after the other.
type words struct {
	text       string
	at         int    // where reading goes on
	start, end int    // of the word, as it is written
	hash       uint64 // of the word, normalized
	keep       bool   // append the normalized word to out
	out        []byte
}

// FNV-1a in 64 bits.
const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

// Classes of a byte.
const (
	separator = iota
	letter
	digit
	beyond // of ASCII
)

var classes = func() (c [256]uint8) {
	for b := range c {
		switch {
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
			c[b] = letter
		case b >= '0' && b <= '9':
			c[b] = digit
		case b >= utf8.RuneSelf:
			c[b] = beyond
		}
	}
	return c
}()

// next reads a word; false at the end of the text.
func (w *words) next() bool {
	text, i := w.text, w.at
	hash, in := uint64(fnvOffset), false
	for i < len(text) {
		class, size, c := classes[text[i]], 1, text[i]
		var r rune
		if class == beyond {
			r, size = utf8.DecodeRuneInString(text[i:])
			switch {
			case unicode.IsLetter(r):
				r = unicode.ToLower(r)
			case unicode.IsDigit(r):
				class = digit
			default:
				class = separator
			}
		}
		if class == separator {
			if in {
				break
			}
			i += size
			continue
		}
		if !in {
			in, w.start = true, i
		}
		switch class {
		case letter:
			if c |= 0x20; w.keep {
				w.out = append(w.out, c)
			}
			hash = (hash ^ uint64(c)) * fnvPrime
			i++
		case digit:
			if w.keep {
				w.out = append(w.out, '0')
			}
			hash = (hash ^ '0') * fnvPrime
			i = number(text, i+size)
		case beyond:
			var buf [utf8.UTFMax]byte
			for _, c := range utf8.AppendRune(buf[:0], r) {
				if w.keep {
					w.out = append(w.out, c)
				}
				hash = (hash ^ uint64(c)) * fnvPrime
			}
			i += size
		}
	}
	w.at, w.end = i, i
	// FNV leaves the high bits of short words alike; what is made of several hashes needs all of them.
	hash ^= hash >> 32
	hash *= 0xd6e8feb86659fd93
	w.hash = hash ^ hash>>32
	return in
}

// number returns where a number ends of which one digit was read.
func number(text string, i int) int {
	i = digits(text, i)
	if i < len(text) && (text[i] == '.' || text[i] == ',') {
		if end := digits(text, i+1); end > i+1 {
			return end
		}
	}
	return i
}

// digits returns where a run of digits ends, of any length.
func digits(text string, i int) int {
	for i < len(text) {
		switch classes[text[i]] {
		case digit:
			i++
			continue
		case beyond:
			if r, size := utf8.DecodeRuneInString(text[i:]); unicode.IsDigit(r) {
				i += size
				continue
			}
		}
		break
	}
	return i
}

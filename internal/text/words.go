package text

import (
	"strings"
	"unicode"
)

// Words splits s as a word tokenizer does: maximal runs of letters and decimal digits, in lower case, and every other character that is
// not white space as a word of its own. Nothing is dropped but white space.
func Words(s string) []string {
	var out []string
	start := -1 // of the run so far
	flush := func(end int) {
		if start >= 0 {
			out = append(out, strings.ToLower(s[start:end]))
			start = -1
		}
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if start < 0 {
				start = i
			}
		case unicode.IsSpace(r):
			flush(i)
		default:
			flush(i)
			out = append(out, string(r))
		}
	}
	flush(len(s))
	return out
}

// Package text splits, weighs and compares short technical texts without a model: tokens, BM25 and hashed n-grams.
// Everything is deterministic and needs no corpus unless it says so.
package text

import (
	"unicode"
	"unicode/utf8"
)

// Tokens splits s into lower-case tokens: runs of letters, marks and decimal digits, cut where a lower-case letter is
// followed by an upper-case one, and where a run enters or leaves a script written without spaces. A run of such a script
// gives its overlapping rune pairs (a single rune gives itself). Tokens of one ASCII rune and stop words are dropped.
func Tokens(s string) []string {
	var out []string
	Scan(s, func(tok string, dense bool) {
		out = append(out, tok)
	})
	return out
}

// Scan calls emit for every token of s as [Tokens] returns them; dense marks pairs of a script without spaces.
func Scan(s string, emit func(tok string, dense bool)) {
	scan(s, func(tok []byte, dense bool) { emit(string(tok), dense) })
}

// scan is Scan without an allocation for each token: the bytes of tok are good until emit returns.
func scan(s string, emit func(tok []byte, dense bool)) {
	var space [64]byte
	run := space[:0] // the run so far, in lower case
	var dense, lower bool
	flush := func() {
		emitRun(run, dense, emit)
		run, lower = run[:0], false
	}
	for i := 0; i < len(s); {
		if !dense || len(run) == 0 {
			// Most texts are ASCII, for which a table is enough.
			dense = false
			for i < len(s) {
				start, kind := i, ascii[s[i]]
				if kind == beyond {
					break
				}
				for i++; i < len(s) && ascii[s[i]] == kind; i++ {
				}
				switch kind {
				case separator:
					if len(run) > 0 {
						flush()
					}
				case upperCase:
					if lower {
						flush()
					}
					for _, c := range []byte(s[start:i]) {
						run = append(run, c+('a'-'A'))
					}
				default:
					run = append(run, s[start:i]...)
					lower = kind == lowerCase
				}
			}
			if i == len(s) {
				break
			}
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		mark := unicode.IsMark(r)
		if !mark && !unicode.IsLetter(r) && !unicode.Is(unicode.Nd, r) {
			flush()
			continue
		}
		d := isDense(r)
		if mark && len(run) > 0 {
			d = dense // a mark belongs to the letter before it
		}
		if len(run) > 0 && (d != dense || lower && unicode.IsUpper(r)) {
			flush()
		}
		dense = d
		run = utf8.AppendRune(run, unicode.ToLower(r))
		lower = unicode.IsLower(r)
	}
	flush()
}

// Kinds of bytes.
const (
	separator = iota
	lowerCase
	upperCase
	digit
	beyond // of a rune that is not ASCII
)

var ascii = func() (kind [256]byte) {
	for c := range kind {
		switch {
		case c >= utf8.RuneSelf:
			kind[c] = beyond
		case 'a' <= c && c <= 'z':
			kind[c] = lowerCase
		case 'A' <= c && c <= 'Z':
			kind[c] = upperCase
		case '0' <= c && c <= '9':
			kind[c] = digit
		}
	}
	return kind
}()

func emitRun(run []byte, dense bool, emit func([]byte, bool)) {
	switch {
	case len(run) == 0:
	case dense:
		_, first := utf8.DecodeRune(run)
		if first == len(run) {
			emit(run, true)
		}
		for first < len(run) {
			_, second := utf8.DecodeRune(run[first:])
			emit(run[:first+second], true)
			run, first = run[first:], second
		}
	case len(run) == 1: // one ASCII rune
	case len(run) <= longestStop && stop[string(run)]:
	default:
		emit(run, false)
	}
}

// isDense tells whether r is of a script written without spaces. The long-vowel marks have no script of their own, but
// their script extensions are Hiragana and Katakana.
func isDense(r rune) bool {
	if r < 0x0E00 { // before Thai, the first of them
		return false
	}
	return r == 'ー' || r == 'ｰ' || unicode.In(r,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

const longestStop = 5 // bytes

// The 55 stop words of the lexical embedder.
var stop = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range []string{
		"a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how", "i", "if", "in",
		"into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "so", "such", "that", "the", "their", "them",
		"then", "there", "these", "they", "this", "those", "to", "was", "we", "what", "when", "where", "which", "who", "will",
		"with", "you", "your",
	} {
		m[w] = true
	}
	return m
}()

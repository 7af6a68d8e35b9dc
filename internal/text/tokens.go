// Package text splits, weighs and compares short technical texts without a model: tokens, BM25 and hashed n-grams.
// Everything is deterministic and needs no corpus unless it says so.
package text

import "unicode"

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
	var run []rune
	var runDense bool
	flush := func() {
		emitRun(run, runDense, emit)
		run = run[:0]
	}
	var prev rune
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Nd, r) {
			flush()
			prev = 0
			continue
		}
		d := isDense(r)
		if unicode.IsMark(r) && len(run) > 0 {
			d = runDense // a mark belongs to the letter before it
		}
		if len(run) > 0 && (d != runDense || unicode.IsLower(prev) && unicode.IsUpper(r)) {
			flush()
		}
		runDense = d
		run = append(run, unicode.ToLower(r))
		prev = r
	}
	flush()
}

func emitRun(run []rune, dense bool, emit func(string, bool)) {
	switch {
	case len(run) == 0:
	case dense && len(run) == 1:
		emit(string(run), true)
	case dense:
		for i := 0; i+1 < len(run); i++ {
			emit(string(run[i:i+2]), true)
		}
	case len(run) == 1 && run[0] <= unicode.MaxASCII:
	default:
		if t := string(run); !stop[t] {
			emit(t, false)
		}
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

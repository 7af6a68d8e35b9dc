// Package names reads what a name says: its words, the verb and the noun of a tool's name, and how a person would say a
// key. Nothing here looks at a language model or a dictionary; the tables are ours.
package names

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words splits a name or a text at everything that is no letter or digit, and before an upper-case letter that
// follows a lower-case one. The result is in lower case and, unlike that of internal/text, keeps stop words: a name
// is compared as a whole.
func Words(s string) []string { return AppendWords(nil, s) }

// AppendWords appends the [Words] of s to dst. A word that has no upper-case letter shares the memory of s.
func AppendWords(dst []string, s string) []string {
	start := -1
	var prev byte // class of the byte before
	upper := false
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			// A word that has begun is read again: a letter further on may belong to it.
			if start < 0 {
				start = i
			}
			return appendRunes(dst, s[start:])
		}
		class := asciiClass[s[i]]
		if start >= 0 && (class == asciiOther || class == asciiUpper && prev == asciiLower) {
			dst = append(dst, lower(s[start:i], upper))
			start = -1
		}
		if class != asciiOther {
			if start < 0 {
				start, upper = i, false
			}
			upper = upper || class == asciiUpper
		}
		prev = class
	}
	if start >= 0 {
		dst = append(dst, lower(s[start:], upper))
	}
	return dst
}

func lower(s string, change bool) string {
	if change {
		return strings.ToLower(s)
	}
	return s
}

// Classes of ASCII characters; everything else is asciiOther.
const (
	asciiOther = iota
	asciiDigit
	asciiLower
	asciiUpper
)

var asciiClass = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = asciiDigit
		case c >= 'a' && c <= 'z':
			t[c] = asciiLower
		case c >= 'A' && c <= 'Z':
			t[c] = asciiUpper
		}
	}
	return t
}()

// appendRunes is AppendWords for any text, one code point at a time.
func appendRunes(dst []string, s string) []string {
	start, prev := -1, rune(0)
	flush := func(end int) {
		if start >= 0 {
			dst = append(dst, strings.ToLower(s[start:end]))
		}
		start = -1
	}
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush(i)
		} else {
			if unicode.IsLower(prev) && unicode.IsUpper(r) {
				flush(i)
			}
			if start < 0 {
				start = i
			}
		}
		prev = r
	}
	flush(len(s))
	return dst
}

// SequenceIn says whether seq occurs in text without a gap; the empty sequence occurs everywhere.
func SequenceIn(text, seq []string) bool {
	if len(seq) == 0 {
		return true
	}
	first, rest := seq[0], seq[1:]
	for i := 0; i+len(rest) < len(text); i++ {
		if text[i] == first && slices.Equal(text[i+1:i+1+len(rest)], rest) {
			return true
		}
	}
	return false
}

// A Spoken is the words of a text, ready to be searched for many sequences.
type Spoken struct {
	Words []string
	marks uint64 // those of the words
}

// mark is one of 64 bits, equal for equal words.
func mark(w string) uint64 { return 1 << ((uint(w[0])*5 + uint(w[len(w)-1])*3 + uint(len(w))) % 64) }

// Read takes the words of another text, in the room of those before.
func (s *Spoken) Read(text string) {
	s.Words, s.marks = AppendWords(s.Words[:0], text), 0
	for _, w := range s.Words {
		s.marks |= mark(w)
	}
}

// Has is [SequenceIn] for the words of the text. Most sequences begin with a word that no text has: those cost next to
// nothing.
func (s *Spoken) Has(seq []string) bool {
	return len(seq) == 0 || s.marks&mark(seq[0]) != 0 && SequenceIn(s.Words, seq)
}

// GivenAway lists the names, as word sequences, that a request must not contain: those of two words or more.
func GivenAway(names ...string) [][]string {
	var out [][]string
	for _, name := range names {
		if w := Words(name); len(w) > 1 {
			out = append(out, w)
		}
	}
	return out
}

// Singular takes the plural ending off an English noun, by its letters alone.
func Singular(w string) string {
	switch {
	case !strings.HasSuffix(w, "s"):
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case HasAnySuffix(w, "sses", "xes", "zes", "ches", "shes"):
		return w[:len(w)-2]
	case HasAnySuffix(w, "ss", "us", "is"):
		return w
	}
	return w[:len(w)-1]
}

// HasAnySuffix says whether s ends in one of the suffixes.
func HasAnySuffix(s string, suffixes ...string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

// WordSet makes a set of the words of a text that blanks separate.
func WordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// Exportable says whether trainers and model APIs take a name: 1 to 64 of ASCII letters, digits, '_' and '-'.
func Exportable(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool { return exported(r) != r }) < 0
}

// ExportName replaces each other character by '_' and cuts after 64. Two names may become equal.
func ExportName(name string) string {
	out := strings.Map(exported, name)
	return out[:min(64, len(out))]
}

func exported(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
		return r
	}
	return '_'
}

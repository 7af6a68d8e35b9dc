package bps

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/internal/text"
)

// A name is that of a text, as a query may have it.
type name struct {
	words string // between spaces, with one on either side; empty if there are none
	plain string // the name as it is, without space around it; used if there are no words
}

func newName(s string) name {
	if words := text.Tokens(s); len(words) > 0 {
		return name{words: " " + strings.Join(words, " ") + " "}
	}
	return name{plain: strings.TrimSpace(s)}
}

// A mention is a place in the query where a name is.
type mention struct{ start, end, name int }

// named returns the texts 0..n-1 whose names a query has, longer names first. See TextOptions.PinNamed.
func named(query string, n int, nameOf func(i int) name) []int {
	words := " " + strings.Join(text.Tokens(query), " ") + " "
	var inWords, inQuery []mention
	known := map[name]int{} // numbers of the names that the query has: many texts may share one
	var texts [][]int       // by number
	length := map[int]int{} // of the name, by text
	for i := range n {
		nm := nameOf(i)
		size := max(len(nm.words)-2, len(nm.plain))
		if k, ok := known[nm]; ok {
			texts[k] = append(texts[k], i)
			length[i] = size
			continue
		}
		k, before := len(texts), len(inWords)+len(inQuery)
		switch {
		case nm.words != "":
			for at := range occurrences(words, nm.words) {
				inWords = append(inWords, mention{at, at + len(nm.words), k})
			}
		case nm.plain != "":
			for at := range occurrences(query, nm.plain) {
				if !touched(query, at, at+len(nm.plain)) {
					inQuery = append(inQuery, mention{at, at + len(nm.plain), k})
				}
			}
		}
		if len(inWords)+len(inQuery) > before {
			known[nm] = k
			texts = append(texts, []int{i})
			length[i] = size
		}
	}
	numbers := append(longest(inWords), longest(inQuery)...)
	slices.Sort(numbers)
	var found []int
	for _, k := range slices.Compact(numbers) {
		found = append(found, texts[k]...)
	}
	slices.SortFunc(found, func(i, j int) int { return cmp.Or(cmp.Compare(length[j], length[i]), cmp.Compare(i, j)) })
	return found
}

// occurrences yields the places of part in s, also those that overlap.
func occurrences(s, part string) func(yield func(at int) bool) {
	return func(yield func(at int) bool) {
		for from := 0; ; {
			at := strings.Index(s[from:], part)
			if at < 0 || !yield(from+at) {
				return
			}
			from += at + 1
		}
	}
}

// touched reports whether a letter, mark or digit stands next to s[start:end], or is cut by it.
func touched(s string, start, end int) bool {
	if !utf8.RuneStart(s[start]) || end < len(s) && !utf8.RuneStart(s[end]) {
		return true // the name is not valid UTF-8
	}
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return unicode.In(before, unicode.Letter, unicode.Mark, unicode.Nd) || unicode.In(after, unicode.Letter, unicode.Mark, unicode.Nd)
}

// longest returns the names of the mentions that are not within longer ones.
func longest(mentions []mention) []int {
	slices.SortFunc(mentions, func(a, b mention) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var names []int
	reach := -1 // of the longer ones so far
	for _, m := range mentions {
		if m.end > reach {
			names = append(names, m.name)
			reach = m.end
		}
	}
	return names
}

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
type mention struct{ start, end, text int }

// named returns the texts 0..n-1 whose names a query has, longer names first. See TextOptions.PinNamed.
func named(query string, n int, nameOf func(i int) name) []int {
	words := " " + strings.Join(text.Tokens(query), " ") + " "
	var inWords, inQuery []mention
	length := map[int]int{}
	for i := range n {
		nm := nameOf(i)
		switch {
		case nm.words != "":
			length[i] = len(nm.words) - 2
			for at := range occurrences(words, nm.words) {
				inWords = append(inWords, mention{at, at + len(nm.words), i})
			}
		case nm.plain != "":
			length[i] = len(nm.plain)
			for at := range occurrences(query, nm.plain) {
				if !touched(query, at, at+len(nm.plain)) {
					inQuery = append(inQuery, mention{at, at + len(nm.plain), i})
				}
			}
		}
	}
	found := append(longest(inWords), longest(inQuery)...)
	slices.Sort(found)
	found = slices.Compact(found)
	slices.SortStableFunc(found, func(i, j int) int { return cmp.Compare(length[j], length[i]) })
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

// touched reports whether a letter, mark or digit stands next to s[start:end].
func touched(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return unicode.In(before, unicode.Letter, unicode.Mark, unicode.Nd) || unicode.In(after, unicode.Letter, unicode.Mark, unicode.Nd)
}

// longest returns the texts of the mentions that are not within longer ones.
func longest(mentions []mention) []int {
	slices.SortFunc(mentions, func(a, b mention) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var texts []int
	reach := -1 // of the longer ones so far
	for j := 0; j < len(mentions); {
		m := mentions[j]
		if m.end > reach {
			for ; j < len(mentions) && mentions[j].start == m.start && mentions[j].end == m.end; j++ {
				texts = append(texts, mentions[j].text)
			}
			reach = m.end
			continue
		}
		j++
	}
	return texts
}

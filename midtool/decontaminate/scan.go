package decontaminate

import (
	"strings"
	"unicode/utf8"
)

const maxText = 200 // characters of a match

// Scan returns the matches of a record: those of its messages, then of its texts, then of its tools, each in order of place, rule and item; an
// item comes once for each of its runs of words. It is nil for none.
func (ix *Index) Scan(r *Record) []Match {
	s := scan{ix: ix}
	for _, m := range r.Messages {
		s.read(m, true)
	}
	for _, t := range r.Texts {
		s.read(t, false)
	}
	for i := range r.Tools {
		s.tool(&r.Tools[i])
	}
	return s.matches
}

// A scan looks at one record.
type scan struct {
	ix      *Index
	matches []Match
	seen    map[found]bool
	scratch []byte
}

// A found place is told once.
type found struct {
	rule       Rule
	item, gram int
}

// read looks at a text. The hash of the last k words is that of all words less that of all but k, times a power: so the last hashes of
// beginnings are kept, with the places where the words after them begin.
func (s *scan) read(text string, message bool) {
	const ring = maxShort // a power of two, and at least the longest run
	var (
		before [ring]uint64 // hash of all words before the word
		starts [ring]int    // where the word begins
		hash   uint64
		ix     = s.ix
		n      = ix.n
	)
	message = message && len(ix.shorts.runs) > 0
	if !message && len(ix.grams.runs) == 0 {
		return
	}
	count, end := 0, 0
	w := words{text: text}
	for ; w.next(); count++ {
		before[count%ring], starts[count%ring] = hash, w.start
		end = w.end
		hash = hash*base + w.hash
		if message {
			for _, l := range ix.inside {
				if count+1 >= l.words {
					at := (count + 1 - l.words) % ring
					if h := hash - before[at]*l.power; ix.shorts.may(h) {
						s.short(h, text[starts[at]:end])
					}
				}
			}
		}
		if count+1 >= n {
			at := (count + 1 - n) % ring
			if h := hash - before[at]*ix.power; ix.grams.may(h) {
				s.gram(h, text[starts[at]:end])
			}
		}
	}
	if message && count > 0 && count < len(ix.whole) && ix.whole[count] {
		s.short(hash, text[starts[0]:end])
	}
}

// short appends the short items that read as the text.
func (s *scan) short(hash uint64, text string) {
	if i := s.ix.shorts.find(hash, text, &s.scratch); i >= 0 {
		for _, item := range s.ix.shorts.itemsOf(i) {
			s.match(ShortItem, int(item), 0, text)
		}
	}
}

// gram appends the items that have the text as a run of words.
func (s *scan) gram(hash uint64, text string) {
	if i := s.ix.grams.find(hash, text, &s.scratch); i >= 0 {
		for _, item := range s.ix.grams.itemsOf(i) {
			s.match(NGram, int(item), i, text)
		}
	}
}

func (s *scan) match(rule Rule, item, gram int, text string) {
	f := found{rule, item, gram}
	if s.seen[f] {
		return
	}
	if s.seen == nil {
		s.seen = make(map[found]bool)
	}
	s.seen[f] = true
	s.matches = append(s.matches, Match{rule, item, gram, brief(text)})
}

// brief is the beginning of a text, whole characters of UTF-8, that does not keep the text alive.
func brief(text string) string {
	end, n := 0, 0
	for end < len(text) && n < maxText {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
		n++
	}
	return strings.ToValidUTF8(strings.Clone(text[:end]), string(utf8.RuneError))
}

package teach

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// longFact is the length in bytes from which nobody repeats a value word for word.
const longFact = 80

// unfounded finds assistants' texts that repeat nothing of the results before them, or that have numbers which nothing
// before them has. Numbers are what a model gets wrong without anybody noticing.
func unfounded(s *midtool.Sample, texts []int) []midtool.Violation {
	var out []midtool.Violation
	var facts []string // of the results since the user spoke
	answers := false   // there is such a result
	known := make(map[string]bool)
	for i, m := range s.Messages {
		path := "/messages/" + strconv.Itoa(i) + "/content"
		switch {
		case m.Role == midtool.RoleUser:
			facts, answers = nil, false
		case m.Role == midtool.RoleTool:
			answers = true
			v, err := jsonval.Parse([]byte(m.Content))
			if err != nil {
				v = jsonval.NewString(m.Content)
			}
			facts = appendFacts(facts, &v, known)
		case m.Role == midtool.RoleAssistant && slices.Contains(texts, i):
			for n := range numbers(m.Content) {
				if !isKnown(known, n) {
					out = append(out, midtool.Violation{Rule: "new_number", Path: path, Detail: n + " is in no message before"})
				}
			}
			if answers && len(m.Calls) == 0 && len(facts) > 0 && !says(m.Content, facts) {
				out = append(out, midtool.Violation{Rule: "no_fact", Path: path, Detail: "repeats no value of the results word for word"})
			}
		}
		learn(known, m.Content)
		for _, c := range m.Calls {
			learn(known, string(c.Arguments))
		}
	}
	return out
}

// appendFacts adds the scalars that can be repeated, and to known how many entries lists have: a text may count them.
func appendFacts(dst []string, v *jsonval.Value, known map[string]bool) []string {
	switch v.Kind {
	case jsonval.String, jsonval.Number:
		if text := strings.TrimSpace(v.Text); strings.ContainsFunc(text, isWord) && len(text) < longFact {
			dst = append(dst, text)
		}
	case jsonval.List:
		known[strconv.Itoa(len(v.List))] = true
		for i := range v.List {
			dst = appendFacts(dst, &v.List[i], known)
		}
	case jsonval.Object:
		for i := range v.Members {
			dst = appendFacts(dst, &v.Members[i].Value, known)
		}
	}
	return dst
}

func says(text string, facts []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(facts, func(f string) bool { return containsWhole(text, strings.ToLower(f)) })
}

// containsWhole finds a fact that is no part of a longer word or number: "ok" is not in "broken", nor 7.5 in 17.5 or 7.51.
func containsWhole(text, fact string) bool {
	for at := 0; at < len(text); {
		k := strings.Index(text[at:], fact)
		if k < 0 {
			return false
		}
		at += k
		if !joinedBefore(text[:at], fact) && !joinedAfter(text[at+len(fact):], fact) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return false
}

// joinedBefore says whether what stands before a fact makes it the end of something longer.
func joinedBefore(before, fact string) bool {
	first, _ := utf8.DecodeRuneInString(fact)
	r, size := utf8.DecodeLastRuneInString(before)
	if unicode.IsDigit(first) && isSeparator(r) {
		r, _ = utf8.DecodeLastRuneInString(before[:len(before)-size])
		return unicode.IsDigit(r)
	}
	return joins(first, r)
}

// joinedAfter says whether what stands after a fact makes it the start of something longer.
func joinedAfter(after, fact string) bool {
	last, _ := utf8.DecodeLastRuneInString(fact)
	r, size := utf8.DecodeRuneInString(after)
	if unicode.IsDigit(last) && isSeparator(r) {
		r, _ = utf8.DecodeRuneInString(after[size:])
		return unicode.IsDigit(r)
	}
	return joins(last, r)
}

// joins says whether the edge of a fact and what stands next to it are of one word or one number. A unit may follow a
// number (7km), and some scripts put no spaces between words.
func joins(edge, next rune) bool {
	switch {
	case !isWord(edge) || !isWord(next) || isUnspaced(edge) || isUnspaced(next):
		return false
	case unicode.IsDigit(edge):
		return unicode.IsDigit(next)
	}
	return true
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// learn adds the numbers of a text.
func learn(known map[string]bool, text string) {
	for n := range numbers(text) {
		plain := plainNumber(n)
		known[plain] = true
		if f, err := strconv.ParseFloat(plain, 64); err == nil && f > 0 && f < 1 {
			known[plainNumber(strconv.FormatFloat(f*100, 'f', 6, 64))] = true // percent
		}
		for part := range parts(n) {
			known[part] = true
		}
	}
}

func isKnown(known map[string]bool, number string) bool {
	if known[plainNumber(number)] {
		return true
	}
	some := false
	for part := range parts(number) {
		if some = true; !known[part] {
			return false
		}
	}
	return some
}

// parts yields the numbers in what may be several, such as 1,2,3 or 10.3.1, and nothing for one number.
func parts(n string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !strings.Contains(n, ",") && strings.Count(n, ".") < 2 {
			return
		}
		for part := range strings.FieldsFuncSeq(n, isSeparator) {
			if !yield(plainNumber(part)) {
				return
			}
		}
	}
}

func isSeparator(r rune) bool { return r == '.' || r == ',' }

// numbers yields the runs of digits in a text, with points and commas between them.
func numbers(text string) iter.Seq[string] {
	digit := func(i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }
	return func(yield func(string) bool) {
		for i := 0; i < len(text); i++ {
			if !digit(i) {
				continue
			}
			start := i
			for digit(i) || i < len(text) && isSeparator(rune(text[i])) && digit(i+1) {
				i++
			}
			if !yield(text[start:i]) {
				return
			}
		}
	}
}

// plainNumber is the same for 7, 07, 7.0 and for 1,200 and 1200.
func plainNumber(n string) string {
	n = strings.ReplaceAll(n, ",", "")
	if f, err := strconv.ParseFloat(n, 64); err == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return n
}

// unsaid finds arguments that words carried and that now stand on their schema alone.
func unsaid(old, s *midtool.Sample) []midtool.Violation {
	type place struct{ call, path string }
	carried := make(map[place]string)
	for _, e := range old.Evidence {
		switch e.Class {
		case midtool.EvidenceLiteral, midtool.EvidenceNormalized, midtool.EvidenceDerived:
			carried[place{e.CallID, e.Path}] = e.Text
		}
	}
	paths := callPaths(s)
	var out []midtool.Violation
	for _, e := range s.Evidence {
		if text, was := carried[place{e.CallID, e.Path}]; was && e.Class == midtool.EvidenceEnumDefault {
			detail := strconv.Quote(text) + " was said before and is not said any more"
			out = append(out, midtool.Violation{Rule: "unsaid", Path: paths[e.CallID] + "/arguments" + e.Path, Detail: detail})
		}
	}
	return out
}

// callPaths gives the places of the calls by their IDs.
func callPaths(s *midtool.Sample) map[string]string {
	out := make(map[string]string)
	for i, m := range s.Messages {
		for j, c := range m.Calls {
			out[c.ID] = "/messages/" + strconv.Itoa(i) + "/calls/" + strconv.Itoa(j)
		}
	}
	return out
}

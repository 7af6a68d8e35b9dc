package names

import (
	"slices"
	"strings"
	"unicode"
)

// words splits a name or a text at everything that is no letter or digit, and before an upper-case letter that
// follows a lower-case one. The result is in lower case and, unlike that of internal/text, keeps stop words: a name
// is compared as a whole.
func Words(s string) []string {
	var out []string
	start, prev := -1, rune(0)
	flush := func(end int) {
		if start >= 0 {
			out = append(out, strings.ToLower(s[start:end]))
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
	return out
}

// A verbClass groups verbs that do the same to a noun.
type VerbClass string

const (
	GetVerb    VerbClass = "get"
	ListVerb   VerbClass = "list"
	SearchVerb VerbClass = "search"
	CreateVerb VerbClass = "create"
	UpdateVerb VerbClass = "update"
	DeleteVerb VerbClass = "delete"
	OtherVerb  VerbClass = ""
)

var verbClasses = map[string]VerbClass{
	"get": GetVerb, "fetch": GetVerb, "read": GetVerb, "show": GetVerb, "describe": GetVerb, "retrieve": GetVerb,
	"list":   ListVerb,
	"search": SearchVerb, "find": SearchVerb, "query": SearchVerb, "lookup": SearchVerb,
	"create": CreateVerb, "add": CreateVerb, "new": CreateVerb, "insert": CreateVerb, "post": CreateVerb,
	"update": UpdateVerb, "edit": UpdateVerb, "set": UpdateVerb, "modify": UpdateVerb, "patch": UpdateVerb, "put": UpdateVerb,
	"delete": DeleteVerb, "remove": DeleteVerb, "destroy": DeleteVerb,
}

// A meaning is what a tool's name says it does: the class of its first known verb and the noun left over.
type Meaning struct {
	Class VerbClass
	Verb  string   // the verb itself, empty if unknown
	Noun  []string // as written
	Stem  string   // noun without fillers, last word in the singular
}

func MeaningOf(name string) Meaning {
	tokens := Words(name)
	var m Meaning
	for i, t := range tokens {
		if c, ok := verbClasses[t]; ok {
			m.Class, m.Verb = c, t
			tokens = slices.Delete(slices.Clone(tokens), i, i+1)
			break
		}
	}
	m.Noun = tokens
	var stem []string
	for _, t := range tokens {
		if t != "by" && t != "id" && t != "all" && t != "the" {
			stem = append(stem, t)
		}
	}
	if n := len(stem); n > 0 {
		stem[n-1] = Singular(stem[n-1])
	}
	m.Stem = strings.Join(stem, " ")
	return m
}

// rivals says whether a request for one tool could as well be answered with the other.
func (m Meaning) Rivals(o Meaning) bool { return m.Class == o.Class && m.Stem == o.Stem }

func Singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case HasAnySuffix(w, "sses", "xes", "zes", "ches", "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !HasAnySuffix(w, "ss", "us", "is"):
		return w[:len(w)-1]
	}
	return w
}

func HasAnySuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}

// exportable is the lint that trainers and model APIs set: 1 to 64 of ASCII letters, digits, '_' and '-'.
func Exportable(name string) bool { return name != "" && len(name) <= 64 && ExportName(name) == name }

func ExportName(name string) string {
	out := []byte(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name))
	return string(out[:min(64, len(out))])
}

// sequenceIn says whether seq occurs in text without a gap.
func SequenceIn(text, seq []string) bool {
	for i := 0; i+len(seq) <= len(text); i++ {
		if slices.Equal(text[i:i+len(seq)], seq) {
			return true
		}
	}
	return false
}

func WordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
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

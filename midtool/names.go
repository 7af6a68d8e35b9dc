package midtool

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// words splits a name or a text at everything that is no letter or digit, and before an upper-case letter that
// follows a lower-case one. The result is in lower case and, unlike that of internal/text, keeps stop words: a name
// is compared as a whole.
func words(s string) []string {
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
type verbClass string

const (
	getVerb    verbClass = "get"
	listVerb   verbClass = "list"
	searchVerb verbClass = "search"
	createVerb verbClass = "create"
	updateVerb verbClass = "update"
	deleteVerb verbClass = "delete"
	otherVerb  verbClass = ""
)

var verbClasses = map[string]verbClass{
	"get": getVerb, "fetch": getVerb, "read": getVerb, "show": getVerb, "describe": getVerb, "retrieve": getVerb,
	"list":   listVerb,
	"search": searchVerb, "find": searchVerb, "query": searchVerb, "lookup": searchVerb,
	"create": createVerb, "add": createVerb, "new": createVerb, "insert": createVerb, "post": createVerb,
	"update": updateVerb, "edit": updateVerb, "set": updateVerb, "modify": updateVerb, "patch": updateVerb, "put": updateVerb,
	"delete": deleteVerb, "remove": deleteVerb, "destroy": deleteVerb,
}

// A meaning is what a tool's name says it does: the class of its first known verb and the noun left over.
type meaning struct {
	class verbClass
	verb  string   // the verb itself, empty if unknown
	noun  []string // as written
	stem  string   // noun without fillers, last word in the singular
}

func meaningOf(name string) meaning {
	tokens := words(name)
	var m meaning
	for i, t := range tokens {
		if c, ok := verbClasses[t]; ok {
			m.class, m.verb = c, t
			tokens = slices.Delete(slices.Clone(tokens), i, i+1)
			break
		}
	}
	m.noun = tokens
	var stem []string
	for _, t := range tokens {
		if t != "by" && t != "id" && t != "all" && t != "the" {
			stem = append(stem, t)
		}
	}
	if n := len(stem); n > 0 {
		stem[n-1] = singular(stem[n-1])
	}
	m.stem = strings.Join(stem, " ")
	return m
}

// rivals says whether a request for one tool could as well be answered with the other.
func (m meaning) rivals(o meaning) bool { return m.class == o.class && m.stem == o.stem }

func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case hasAnySuffix(w, "sses", "xes", "zes", "ches", "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !hasAnySuffix(w, "ss", "us", "is"):
		return w[:len(w)-1]
	}
	return w
}

func hasAnySuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}

// exportable is the lint that trainers and model APIs set: 1 to 64 of ASCII letters, digits, '_' and '-'.
func exportable(name string) bool { return name != "" && len(name) <= 64 && exportName(name) == name }

func exportName(name string) string {
	out := []byte(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name))
	return string(out[:min(64, len(out))])
}

// exportNames renames the tools of one offered set so that all names are exportable and differ. Of equal names the
// smallest ID keeps it, the others get _2, _3, ... in ID order; an untouched name is never taken by a renamed tool.
func exportNames(tools []Tool) {
	order := make([]int, len(tools))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(tools[a].ID, tools[b].ID) })
	used := make(map[string]bool)
	claim := func(i int, name string) {
		used[name] = true
		if name != tools[i].Name {
			tools[i].Original, tools[i].Name = tools[i].Name, name
		}
	}
	var clash []int
	for _, i := range order { // names that need no change come first
		if n := tools[i].Name; exportable(n) && !used[n] {
			claim(i, n)
		} else {
			clash = append(clash, i)
		}
	}
	for _, i := range clash {
		base := exportName(tools[i].Name)
		name := base
		for k := 2; used[name]; k++ {
			suffix := "_" + strconv.Itoa(k)
			name = base[:min(len(base), 64-len(suffix))] + suffix
		}
		claim(i, name)
	}
}

// sequenceIn says whether seq occurs in text without a gap.
func sequenceIn(text, seq []string) bool {
	for i := 0; i+len(seq) <= len(text); i++ {
		if slices.Equal(text[i:i+len(seq)], seq) {
			return true
		}
	}
	return false
}

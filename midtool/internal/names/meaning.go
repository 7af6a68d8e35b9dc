package names

import (
	"slices"
	"strings"
)

// A VerbClass groups verbs that do the same to a noun.
type VerbClass string

// The classes; OtherVerb is that of verbs outside the table.
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

// A Meaning is what a tool's name says it does: the class of its first known verb and the noun left over.
type Meaning struct {
	Class VerbClass
	Verb  string   // the verb itself, empty if unknown
	Noun  []string // as written
	Stem  string   // noun without fillers, last word in the singular
}

// MeaningOf reads a tool's name.
func MeaningOf(name string) Meaning {
	var m Meaning
	m.Noun = Words(name)
	for i, w := range m.Noun {
		if c, ok := verbClasses[w]; ok {
			m.Class, m.Verb = c, w
			m.Noun = slices.Delete(m.Noun, i, i+1)
			break
		}
	}
	stem := make([]string, 0, len(m.Noun))
	for _, w := range m.Noun {
		if w != "by" && w != "id" && w != "all" && w != "the" {
			stem = append(stem, w)
		}
	}
	if n := len(stem); n > 0 {
		stem[n-1] = Singular(stem[n-1])
	}
	m.Stem = strings.Join(stem, " ")
	return m
}

// Rivals says whether a request for one tool could as well be answered with the other.
func (m Meaning) Rivals(o Meaning) bool { return m.Class == o.Class && m.Stem == o.Stem }

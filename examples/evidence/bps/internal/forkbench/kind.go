package forkbench

import "strings"

// A Kind is one of the five operations, in the order in which a task applies them.
type Kind int

// The operations.
const (
	Query Kind = iota
	Calendar
	Template
	Checksum
	Encoding
	kinds // how many there are
)

// String returns the word that opens a definition of the kind.
func (k Kind) String() string {
	return [...]string{"query", "calendar", "template", "checksum", "encoding"}[k]
}

// parseKind is the inverse of String.
func parseKind(s string) (Kind, bool) {
	for k := range kinds {
		if k.String() == s {
			return k, true
		}
	}
	return 0, false
}

// A Set is a set of kinds; the zero value is empty.
type Set uint8

// setOf returns the set of some kinds.
func setOf(members ...Kind) Set {
	var s Set
	for _, k := range members {
		s |= 1 << k
	}
	return s
}

// Has reports whether k is in s.
func (s Set) Has(k Kind) bool { return s&(1<<k) != 0 }

// members lists the kinds of s in order.
func (s Set) members() []Kind {
	var list []Kind
	for k := range kinds {
		if s.Has(k) {
			list = append(list, k)
		}
	}
	return list
}

// String joins the names of the kinds with a plus sign.
func (s Set) String() string {
	var names []string
	for _, k := range s.members() {
		names = append(names, k.String())
	}
	return strings.Join(names, "+")
}

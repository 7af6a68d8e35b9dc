package spdx

import (
	"maps"
	"slices"
	"strings"
)

// names maps usual spellings, as [Name] folds them, to SPDX identifiers. Names that stand for several versions, such
// as "Apache", "BSD" or "GPL-3.0", are not here: only their author can say which one is meant.
var names = map[string]string{
	"mit": "MIT", "expat": "MIT", "mit expat": "MIT",
	"apache 2.0": "Apache-2.0", "apache 2": "Apache-2.0", "apache2": "Apache-2.0", "apache2.0": "Apache-2.0", "asl 2.0": "Apache-2.0",
	"apache software 2.0": "Apache-2.0",
	"bsd 3 clause":        "BSD-3-Clause", "3 clause bsd": "BSD-3-Clause", "bsd3": "BSD-3-Clause", "new bsd": "BSD-3-Clause",
	"modified bsd": "BSD-3-Clause", "bsd 3 clause new or revised": "BSD-3-Clause",
	"bsd 2 clause": "BSD-2-Clause", "2 clause bsd": "BSD-2-Clause", "bsd2": "BSD-2-Clause", "simplified bsd": "BSD-2-Clause",
	"bsd 2 clause simplified": "BSD-2-Clause",
	"isc":                     "ISC", "0bsd": "0BSD", "zlib": "Zlib", "unlicense": "Unlicense", "bsl 1.0": "BSL-1.0", "boost software 1.0": "BSL-1.0",
	"cc0": "CC0-1.0", "cc0 1.0": "CC0-1.0", "cc0 1.0 universal": "CC0-1.0", "cc by 4.0": "CC-BY-4.0", "cc by sa 4.0": "CC-BY-SA-4.0",
	"mpl 2.0": "MPL-2.0", "mozilla public 2.0": "MPL-2.0",
}

// Identifiers returns those that [Name] knows, sorted.
func Identifiers() []string { return slices.Compact(slices.Sorted(maps.Values(names))) }

// Known says whether [Name] knows an identifier.
func Known(id string) bool { return id != "" && slices.Contains(identifiers, id) }

var identifiers = Identifiers()

// Name returns the SPDX identifier that a text is a usual spelling of, and else the text without the space around it.
// It compares words, without case and without "the", "license" and "version". It is idempotent.
func Name(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 64 {
		return text // a whole license or a sentence about it
	}
	var words []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t\r\n-_,()\"'", r) }) {
		switch w {
		case "the", "license", "licence", "version":
			continue
		}
		if len(w) > 1 && w[0] == 'v' && w[1] >= '0' && w[1] <= '9' {
			w = w[1:]
		}
		words = append(words, w)
	}
	if id, ok := names[strings.Join(words, " ")]; ok {
		return id
	}
	return text
}

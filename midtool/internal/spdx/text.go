package spdx

import (
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Unknown stands for a license whose text is there and is not one of those that [Text] knows.
const Unknown = "unknown"

// maxText bounds what is read of a license; the longest known one has 17 KiB.
const maxText = 64 << 10

// A form tells one license by sentences that it must and must not have, in the folding of [fold], and by its length: a text
// with many more words holds something else besides, maybe a further condition.
type form struct {
	id       string
	has, not []string
	words    int // most, with names of holders and years
}

const (
	bsdGrant  = "redistribution and use in source and binary forms with or without modification are permitted"
	bsdSource = "redistributions of source code must retain the"
	bsdBinary = "redistributions in binary form must reproduce the"
	bsdNames  = "to endorse or promote products derived from this software without"
	mitGrant  = "permission is hereby granted free of charge to any person obtaining a copy of this software"
	iscGrant  = "use copy modify and or distribute this software for any purpose with or without fee is hereby granted"
)

var forms = []form{
	{"MIT", []string{mitGrant, "this permission notice shall be included in all copies or substantial portions of the software"},
		[]string{"shall not be used in advertising", "for good not evil", "commons clause"}, 220},
	{"Apache-2.0", []string{"apache license version 2 0 january 2004", "terms and conditions for use reproduction and distribution",
		"grant of patent license"}, []string{"commons clause", "llvm exceptions"}, 1850},
	{"BSD-3-Clause", []string{bsdGrant, bsdSource, bsdBinary, bsdNames},
		[]string{"advertising materials", "nuclear", "express or implied licenses to any party s patent rights"}, 280},
	{"BSD-2-Clause", []string{bsdGrant, bsdSource, bsdBinary},
		[]string{bsdNames, "advertising materials", "patent", "the views and conclusions contained", "may not be used"}, 240},
	{"ISC", []string{iscGrant, "provided that the above copyright notice and this permission notice appear in all copies"}, nil, 170},
	{"ISC", []string{"use copy modify and distribute this software for any purpose with or without fee is hereby granted",
		"provided that the above copyright notice and this permission notice appear in all copies"}, nil, 170},
	{"CC0-1.0", []string{"cc0 1 0 universal", "statement of purpose", "public license fallback"}, nil, 1250},
	{"MPL-2.0", []string{"mozilla public license version 2 0", "exhibit b incompatible with secondary licenses notice"}, nil, 2700},
}

// Text returns the identifier of the license that a text consists of, apart from a title, names and years, and "" if it is none of
// MIT, Apache-2.0, BSD-2-Clause, BSD-3-Clause, ISC, CC0-1.0 and MPL-2.0, or holds much besides. Only the words count. The cost
// is linear in the text, of which the first 64 KiB are looked at; a longer one is none.
func Text(text string) string {
	if len(text) > maxText {
		return ""
	}
	folded, n := fold(text)
	found := ""
	for _, f := range forms {
		if !all(f.has, folded) || slices.ContainsFunc(f.not, func(s string) bool { return strings.Contains(folded, s) }) {
			continue
		}
		if n > f.words || found != "" && found != f.id {
			return "" // several licenses, or one and more
		}
		found = f.id
	}
	return found
}

func all(sentences []string, text string) bool {
	return !slices.ContainsFunc(sentences, func(s string) bool { return !strings.Contains(text, s) })
}

// fold returns the words of a text in lower case with a blank between, and their number.
func fold(text string) (string, int) {
	var b strings.Builder
	n := 0
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if n++; n > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String(), n
}

// IsFile says whether a file of this name usually holds a license.
func IsFile(name string) bool {
	stem := strings.ToLower(name)
	for _, ext := range []string{".md", ".txt", ".rst"} {
		stem = strings.TrimSuffix(stem, ext)
	}
	switch stem {
	case "license", "licence", "copying", "unlicense":
		return true
	}
	return strings.HasPrefix(stem, "license-") || strings.HasPrefix(stem, "licence-")
}

// Folder returns the license of a folder by those of its files, given by name, that [IsFile] holds for, and what states it, such as
// "file LICENSE". Both are empty if there is none. It is [Unknown] if one of them cannot be read or is not known to [Text]. Several
// different ones are joined, sorted, by " OR " if each names its license as "LICENSE-MIT" does, which is the custom where there
// is a choice, and else by " AND ". No link is followed if fsys follows none.
func Folder(fsys fs.FS, dir string, files []string) (id, from string) {
	var ids, seen []string
	choice := true
	for _, name := range files {
		if !IsFile(name) {
			continue
		}
		one := Unknown
		if text, err := read(fsys, path.Join(dir, name)); err == nil {
			one = cmp.Or(Text(text), Unknown)
		}
		ids, seen = append(ids, one), append(seen, name)
		choice = choice && strings.Contains(name, "-")
	}
	if len(ids) == 0 {
		return "", ""
	}
	from = "file " + strings.Join(seen, ", ")
	if slices.Contains(ids, Unknown) {
		return Unknown, from
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if choice {
		return strings.Join(ids, " OR "), from
	}
	return strings.Join(ids, " AND "), from
}

func read(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	return string(b), err
}

const tag = "SPDX-License-Identifier:"

// maxHead is how far a license tag may stand from the start of a file.
const maxHead = 4 << 10

// Head returns the license that a line "SPDX-License-Identifier: X" in the first 4 KiB of a file states, spelled by [Name], and ""
// if there is none. Before the tag there may be nothing but the sign of a comment.
func Head(text string) string {
	text = text[:min(len(text), maxHead)]
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, tag)
		if !ok || strings.ContainsFunc(before, prose) {
			continue
		}
		after = strings.TrimSpace(after)
		for _, end := range []string{"*/", "-->", "#}", "*)"} {
			after = strings.TrimSpace(strings.TrimSuffix(after, end))
		}
		if after != "" && len(after) <= 128 {
			return Name(after)
		}
	}
	return ""
}

// prose says whether a character before a tag makes it a part of a sentence or a quotation.
func prose(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("`\"'", r)
}

package pdfsource

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinPages makes one text of the texts of pages; see [Reader.Read].
func joinPages(texts []string) string {
	var pages [][]string // the lines of those that have any
	for _, text := range texts {
		if lines := pageLines(text); len(lines) > 0 {
			pages = append(pages, lines)
		}
	}
	dropRepeated(pages)
	var b strings.Builder
	for _, lines := range pages {
		if page := strings.TrimSpace(joinLines(lines)); page != "" {
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			b.WriteString(page)
		}
	}
	return b.String()
}

// cleanPage takes out what is no text: control characters, and marks that the byte order of a text leaves behind. PDFium has
// U+0002, and used to have U+FFFE, for a hyphen and the end of a line, where it takes a word to be broken.
func cleanPage(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.NewReplacer("\x02\n", "-\n", "\x02", "-\n", "\ufffe\n", "-\n", "\ufffe", "-\n").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || r == '\ufeff' || r == '\uffff':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// pageLines returns the lines of a page without white space at their ends; nil if none has text.
func pageLines(text string) []string {
	text = strings.Trim(cleanPage(text), "\n")
	var lines []string
	some := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		some = some || line != ""
		lines = append(lines, line)
	}
	if !some {
		return nil
	}
	return lines
}

const (
	fewestPages = 4 // on fewer pages a repeated line can be chance
	edgeLines   = 2 // at the top and at the bottom of a page, where headers and footers stand
)

// dropRepeated takes out the lines that stand on at least half of the pages.
func dropRepeated(pages [][]string) {
	if len(pages) < fewestPages {
		return
	}
	on := make(map[string]int)
	for _, lines := range pages {
		seen := make(map[string]bool)
		note := func(key string) {
			if !seen[key] {
				seen[key] = true
				on[key]++
			}
		}
		edges := edgesOf(lines)
		for i, line := range lines {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			note(line)
			if edges[i] {
				note(edgeKey(line))
			}
		}
	}
	for p, lines := range pages {
		kept := lines[:0]
		edges := edgesOf(lines)
		for i, line := range lines {
			trimmed := strings.TrimSpace(line)
			often := func(key string) bool { return 2*on[key] >= len(pages) }
			if trimmed != "" && (often(trimmed) || edges[i] && often(edgeKey(trimmed))) {
				continue
			}
			kept = append(kept, line)
		}
		pages[p] = kept
	}
}

// edgesOf tells which lines are among the first or the last ones with text.
func edgesOf(lines []string) map[int]bool {
	edges := make(map[int]bool)
	for i, n := 0, 0; i < len(lines) && n < edgeLines; i++ {
		if lines[i] != "" {
			edges[i] = true
			n++
		}
	}
	for i, n := len(lines)-1, 0; i >= 0 && n < edgeLines; i-- {
		if lines[i] != "" {
			edges[i] = true
			n++
		}
	}
	return edges
}

// edgeKey is a line with each number replaced by one sign that no line has, and so is no line itself.
func edgeKey(line string) string {
	var b strings.Builder
	b.WriteByte(0)
	number := false
	for _, r := range line {
		if unicode.IsDigit(r) {
			if !number {
				b.WriteByte(0)
			}
			number = true
			continue
		}
		number = false
		b.WriteRune(r)
	}
	return b.String()
}

// joinLines puts lines together, with words that were broken at an end of a line whole again and no more than one blank line.
func joinLines(lines []string) string {
	var b strings.Builder
	blank := 0
	for i, line := range lines {
		if line == "" {
			if blank++; blank > 1 {
				continue
			}
		} else {
			blank = 0
		}
		if i+1 < len(lines) && broken(line, lines[i+1]) {
			_, size := utf8.DecodeLastRuneInString(line)
			line = line[:len(line)-size]
			b.WriteString(line)
			// The next line goes on where this one ends, without the space that indents it.
			lines[i+1] = strings.TrimLeftFunc(lines[i+1], unicode.IsSpace)
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// broken tells if a word goes on from one line to the next: a letter and a hyphen, then a lower-case letter.
func broken(line, next string) bool {
	hyphen, size := utf8.DecodeLastRuneInString(line)
	if !strings.ContainsRune("-\u2010\u00ad", hyphen) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(line[:len(line)-size])
	after, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(next, unicode.IsSpace))
	return unicode.IsLetter(before) && unicode.IsLower(after)
}

package skill

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longNumber = 4 // digits from which a number or a text tells of one thing by itself
	longPhrase = 4 // words from which lower-case words do
	maxPhrase  = 8 // words by which a text is known
	minValue   = 3 // runes of a text that can be a value
)

var codePlaceholder = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)

// pythonConstant is one that an argument has, as [Induce] writes it.
var pythonConstant = regexp.MustCompile(`(=|": )(None|True|False)\b`)

var secretName = regexp.MustCompile(`(^|_)(password|passwd|passphrase|secret|token|api_?key|access_?key|credentials?)($|_)`)

// values holds what belongs to one episode and must not stand in a skill. There are two kinds: literals, compared by their form and
// identity, and phrases, the words of texts. A nil *values holds nothing.
type values struct {
	keep     func(kind, value string) bool
	literals map[[2]string]*value // by kind and identity
	words    map[string]int32     // in lower case, numbered from 1
	phrases  map[phrase]*value
	longest  int // words of the longest phrase
}

// A phrase is up to maxPhrase words by number, the rest 0.
type phrase [maxPhrase]int32

type value struct {
	text    string
	upper   bool // stands where the words have a capital letter
	counts  bool // is a value, wherever it was found
	vocable bool // is part of a name of the environment
}

// A match is a value in a text: s[start:end].
type match struct {
	start, end int
	value      string
}

// newValues collects the values of parts of episodes of one task:
//
//   - everywhere: URLs, e-mail addresses and identifiers
//   - in the task, the subtask, markers and actions with their arguments: dates and times; numbers of at least 4 digits by
//     themselves, shorter ones after the word before them ("mug 2", for an argument its name), but not arguments 0, 1 and -1;
//     quotations, paths and the texts in arguments if they have at least 4 digits, or if they stand in the task, the subtask or
//     a marker, or if the argument is named like a secret
//
// The words of a language are none: fewer than 4 words without a digit and without a capital letter, or one word in capitals
// alone. Nor is what is part of the name of a tool or of an argument, or shorter than 3 runes, or exempted by keep.
func newValues(keep func(kind, value string) bool, subtask string, parts ...*part) *values {
	v := &values{keep: keep, literals: make(map[[2]string]*value), words: make(map[string]int32), phrases: make(map[phrase]*value)}
	asked := []string{valid(subtask)}
	const told = true
	var names []string
	flat := newAbstracter(keep, nil)
	flat.params.flat = true
	v.addLiterals(asked[0], told, true)
	for _, p := range parts {
		task := valid(p.traj.Task)
		asked = append(asked, task)
		v.addLiterals(task, told, true)
		for i, s := range p.steps {
			if s.Marker != "" {
				asked = append(asked, valid(s.Marker))
				v.addLiterals(valid(s.Marker), told, true)
			}
			v.addLiterals(valid(s.Thought), !told, false)
			v.addLiterals(valid(s.Observation), !told, false)
			if s.Args == nil {
				v.addLiterals(valid(s.Name), told, true)
				continue
			}
			var name strings.Builder
			name.WriteString(valid(s.Name)) // as the tool has it, and as templates have it
			for _, a := range p.args[i] {
				name.WriteString(" " + valid(a.name))
				if a.constant || keep != nil && keep(a.name, a.json) {
					continue
				}
				secret := secretName.MatchString(snake(a.name))
				a.each(func(text string, number bool) {
					if number {
						if n := strings.TrimPrefix(text, "-"); n != "0" && n != "1" {
							v.addNumber(a.name, text)
						}
						return
					}
					v.addText(text, secret)
					v.addLiterals(text, told, false)
				})
			}
			names = append(names, name.String(), flat.action(s, p.args[i]).template)
		}
	}
	for _, s := range asked {
		v.visit(s, func(_ match, x *value) { x.counts = true })
	}
	for _, s := range names {
		v.visit(s, func(_ match, x *value) { x.vocable = true })
	}
	return v
}

// addLiterals adds the values in a text that the agent was told or wrote, or else read or thought. With counting also short numbers.
func (v *values) addLiterals(s string, told, counting bool) {
	eachLiteral(s, func(_ match, l literal, text string) bool {
		if v.keep != nil && v.keep(l.kind, text) {
			return false
		}
		kind, id, _ := literalKey(l, text)
		switch {
		case kind == "url" || kind == "email" || kind == "id":
			v.literals[[2]string{kind, id}] = &value{text: text, counts: true}
		case !told:
		case kind == "n":
			word := ""
			if counting {
				word, _, _ = strings.Cut(l.id, " ")
			}
			v.addNumber(word, text)
		case kind == "text":
			v.addText(text[1:len(text)-1], false)
		case v.literals[[2]string{kind, id}] == nil: // date, time, path
			v.literals[[2]string{kind, id}] = &value{text: text, counts: kind != "path" || digits(text) >= longNumber}
		}
		return true
	})
}

func (v *values) addNumber(word, number string) {
	n := strings.TrimLeft(number, "+-")
	if digits(n) >= longNumber {
		v.literals[[2]string{"n", n}] = &value{text: number, counts: true}
		return
	}
	if word == "" {
		return
	}
	for _, w := range []string{strings.ToLower(word), snake(word)} {
		v.literals[[2]string{"n", w + " " + n}] = &value{text: w + " " + n, counts: true}
	}
}

// addText adds a text as a phrase.
func (v *values) addText(s string, secret bool) {
	s = strings.TrimSpace(s)
	var key phrase
	n, end, upper, lower, number := 0, 0, false, false, 0
	eachWord(s, func(start, stop int) bool {
		if n == maxPhrase || stop < 0 {
			return false
		}
		w := strings.ToLower(s[start:stop])
		id := v.words[w]
		if id == 0 {
			id = int32(len(v.words) + 1)
			v.words[w] = id
		}
		key[n] = id
		n++
		for _, r := range s[start:stop] {
			upper = upper || unicode.IsUpper(r)
			lower = lower || unicode.IsLower(r)
		}
		number += digits(s[start:stop])
		end = stop
		return true
	})
	name := upper && (lower || n > 1)
	switch {
	case n == 0 || utf8.RuneCountInString(s[:end]) < minValue:
		return
	case !secret && number == 0 && !name && n < longPhrase:
		return
	}
	v.longest = max(v.longest, n)
	x := v.phrases[key]
	if x == nil {
		x = &value{text: s, upper: true}
		v.phrases[key] = x
	}
	x.upper = x.upper && number == 0 && name && !secret
	x.counts = x.counts || secret || number >= longNumber
}

// find returns the values in a text by their start. Some can overlap.
func (v *values) find(s string) []match {
	var out []match
	v.visit(s, func(m match, x *value) {
		if x.counts && !x.vocable {
			m.value = x.text
			out = append(out, m)
		}
	})
	slices.SortFunc(out, func(a, b match) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	return out
}

// replaceable returns the phrases in a text, longest first from left to right, that do not overlap.
func (v *values) replaceable(s string) []match {
	if v == nil {
		return nil
	}
	var out []match
	v.visitPhrases(s, func(m match, x *value) bool {
		if !x.counts || x.vocable || len(out) > 0 && m.start < out[len(out)-1].end {
			return false
		}
		m.value = x.text
		out = append(out, m)
		return true
	})
	return out
}

func (v *values) visit(s string, f func(match, *value)) {
	if v == nil {
		return
	}
	eachLiteral(s, func(m match, l literal, text string) bool {
		kind, id, word := literalKey(l, text)
		if x := v.literals[[2]string{kind, id}]; x != nil {
			f(m, x)
		}
		if x := v.literals[[2]string{kind, word}]; kind == "n" && x != nil {
			f(m, x)
		}
		return true
	})
	v.visitPhrases(s, func(m match, x *value) bool {
		f(m, x)
		return false
	})
}

// visitPhrases calls f for the phrases in s by their start, the longer ones first, the next ones of a start until f returns true. A
// placeholder ends a phrase. The time is linear: a phrase has at most maxPhrase words.
func (v *values) visitPhrases(s string, f func(match, *value) bool) {
	if v.longest == 0 {
		return
	}
	type word struct {
		start, end int
		id         int32
		upper      bool
	}
	var window []word // the words from the open start on
	flush := func(all bool) {
		for len(window) > 0 && (all || len(window) >= v.longest) {
			var key phrase
			n, upper := 0, maxPhrase // the first word with a capital letter
			for n < len(window) && n < v.longest && window[n].id != 0 {
				key[n] = window[n].id
				if window[n].upper {
					upper = min(upper, n)
				}
				n++
			}
			for ; n > 0; n-- {
				x := v.phrases[key]
				if x != nil && (!x.upper || upper < n) && f(match{start: window[0].start, end: window[n-1].end}, x) {
					break
				}
				key[n-1] = 0
			}
			window = window[1:]
		}
	}
	var buffer []byte
	eachWord(s, func(start, end int) bool {
		if end < 0 { // a placeholder
			flush(true)
			return true
		}
		buffer = buffer[:0]
		upper := false
		for _, r := range s[start:end] {
			upper = upper || unicode.IsUpper(r)
			buffer = utf8.AppendRune(buffer, unicode.ToLower(r))
		}
		window = append(window, word{start, end, v.words[string(buffer)], upper})
		flush(false)
		return true
	})
	flush(true)
}

// leaksOf returns the values in the description and the body of a skill, each once, sorted.
func (v *values) leaksOf(description, body string, format Format) []string {
	texts := []string{description}
	if format == FormatCode { // what touches a placeholder is no value, as in a text
		body = pythonConstant.ReplaceAllString(codePlaceholder.ReplaceAllString(body, "<text>"), "=<text>")
		texts = append(texts, strings.Split(body, "\n")...)
	} else {
		b := ParseTextBody(body)
		texts = slices.Concat(texts, b.Procedure, b.Notes)
	}
	var out []string
	for i, s := range texts {
		for _, m := range v.find(s) {
			if i > 0 && format == FormatCode && pythonWords[s[m.start:m.end]] { // None is of the language, whoever says it
				continue
			}
			out = append(out, m.value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// cut removes the values from a text of at most some 1,000 runes: what is joined anew can hold one again.
func (v *values) cut(s string) string {
	for ms := v.find(s); len(ms) > 0; ms = v.find(s) {
		var b strings.Builder
		at := 0
		for _, m := range ms {
			if m.start >= at {
				b.WriteString(s[at:m.start])
			}
			at = max(at, m.end)
		}
		rest := strings.TrimPrefix(s[at:], "'s")
		s = strings.Join(strings.Fields(b.String()+" "+rest), " ")
		s = loosePunctuation.ReplaceAllString(s, "$1")
	}
	return s
}

// eachLiteral calls f for the literals in a text, then, if f returns true, for those inside a quotation.
func eachLiteral(s string, f func(m match, l literal, text string) bool) {
	var walk func(s string, at int)
	walk = func(s string, at int) {
		for _, l := range findLiterals(s) {
			text := s[l.start:l.end]
			if f(match{start: at + l.start, end: at + l.end}, l, text) && l.kind == "text" {
				walk(text[1:len(text)-1], at+l.start+1) // at most twice: a quotation holds no quotation mark of its own kind
			}
		}
	}
	walk(s, 0)
}

// literalKey returns by what a literal is compared. For a number that is its numeral, and word the same after the word before it.
func literalKey(l literal, text string) (kind, id, word string) {
	switch l.kind {
	case "email":
		return l.kind, strings.ToLower(text), ""
	case "id":
		return l.kind, strings.ToLower(text), ""
	case "url":
		return l.kind, strings.TrimRight(text, ".,;:!?)]}"), ""
	case "n":
		n := strings.TrimLeft(text, "+-")
		before, _, _ := strings.Cut(l.id, " ")
		return l.kind, n, before + " " + n
	}
	return l.kind, text, ""
}

// eachWord calls f for the words of s until it returns false: start and end, or an end of -1 for a placeholder.
func eachWord(s string, f func(start, end int) bool) {
	start := -1
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		word := isWord(r)
		if start >= 0 && !word {
			if !f(start, i) {
				return
			}
			start = -1
		}
		if r == '<' {
			if m := placeholder.FindStringIndex(s[i:]); m != nil {
				if !f(i, -1) {
					return
				}
				n = m[1]
			}
		}
		if word && start < 0 {
			start = i
		}
		i += n
	}
	if start >= 0 {
		f(start, len(s))
	}
}

func digits(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// each calls f for the texts, also the names in objects, and the numbers of an argument.
func (a arg) each(f func(text string, number bool)) {
	d := json.NewDecoder(strings.NewReader(a.json))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil { // the end: json.Marshal wrote it
			return
		}
		switch t := t.(type) {
		case string:
			f(t, false)
		case json.Number:
			f(t.String(), true)
		}
	}
}

package forkbench

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of what is read from one document, far above what a document of the testbed has.
const (
	maxBlocks = 8  // definitions in a document
	maxFields = 16 // lines of a definition
	maxValue  = 64 // bytes of a value
)

// A definition is one block that gives the rule of an operation.
//
//	```rule checksum
//	poly = 0x8bb7
//	...
//	```
type definition struct {
	kind Kind
	rule any // a queryRule, calendarRule, ...
}

// definitions reads the blocks of a text, in order. Blocks that are not well formed are left out and described by the error: an unknown
// kind, a line that is not "key = value", a key that is missing, unknown or there twice, a value outside its range, no closing fence.
func definitions(text string) ([]definition, error) {
	var found []definition
	var faults []error
	var open *fields
	blocks := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch name, starts := strings.CutPrefix(line, "```rule "); {
		case starts:
			if open != nil {
				faults = append(faults, fmt.Errorf("forkbench: rule %s has no end", open.name))
			}
			if blocks++; blocks > maxBlocks {
				return found, errors.Join(append(faults, fmt.Errorf("forkbench: more than %d rules in a document", maxBlocks))...)
			}
			open = &fields{name: strings.TrimSpace(name), values: map[string]string{}}
		case open == nil:
		case line == "```":
			if d, err := open.definition(); err != nil {
				faults = append(faults, fmt.Errorf("forkbench: rule %.20q: %w", open.name, err))
			} else {
				found = append(found, d)
			}
			open = nil
		default:
			open.add(line)
		}
	}
	if open != nil {
		faults = append(faults, fmt.Errorf("forkbench: rule %.20q has no end", open.name))
	}
	return found, errors.Join(faults...)
}

// fields are the lines of a block. Its readers note the first fault and return zero values after it.
type fields struct {
	name   string
	values map[string]string
	lines  int
	err    error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

func (f *fields) add(line string) {
	key, value, ok := strings.Cut(line, " = ")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	f.lines++
	switch _, twice := f.values[key]; {
	case !ok || key == "" || value == "":
		f.fail("line %.40q, want key = value", line)
	case twice:
		f.fail("%.20q is there twice", key)
	case f.lines > maxFields:
		f.fail("more than %d lines", maxFields)
	case len(value) > maxValue:
		f.fail("%.20q has a value of %d bytes, want at most %d", key, len(value), maxValue)
	default:
		f.values[key] = value
	}
}

// text takes the value of a key, which must be there.
func (f *fields) text(key string) string {
	value, ok := f.values[key]
	if !ok {
		f.fail("%q is missing", key)
	}
	delete(f.values, key)
	return value
}

// number takes an integer, decimal or after 0x hexadecimal, between lo and hi.
func (f *fields) number(key string, lo, hi uint64) uint64 {
	text := f.text(key)
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil || n < lo || n > hi {
		f.fail("%s is %.20q, want a number from %d to %d", key, text, lo, hi)
		return lo
	}
	return n
}

// choice takes one of some words.
func (f *fields) choice(key string, words ...string) string {
	text := f.text(key)
	if !slices.Contains(words, text) {
		f.fail("%s is %.20q, want one of %s", key, text, strings.Join(words, ", "))
		return words[0]
	}
	return text
}

// marks takes printable ASCII marks that differ from one another, none of them a letter or digit, as one key each.
func (f *fields) marks(keys ...string) []string {
	var seen []string
	for _, key := range keys {
		mark := f.text(key)
		if strings.ContainsFunc(mark, func(r rune) bool { return r <= ' ' || r > '~' || letterOrDigit(r) }) || slices.Contains(seen, mark) {
			f.fail("%s is %.20q, want a mark of its own without letters and digits", key, mark)
		}
		seen = append(seen, mark)
	}
	return seen
}

func letterOrDigit(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// definition makes a rule of the lines.
func (f *fields) definition() (definition, error) {
	kind, ok := parseKind(f.name)
	if !ok {
		return definition{}, errors.New("there is no such operation")
	}
	d := definition{kind: kind}
	switch kind {
	case Query:
		d.rule = readQuery(f)
	case Calendar:
		d.rule = readCalendar(f)
	case Template:
		d.rule = readTemplate(f)
	case Checksum:
		d.rule = readChecksum(f)
	case Encoding:
		d.rule = readEncoding(f)
	}
	if len(f.values) > 0 {
		f.fail("%d keys that the operation does not have", len(f.values))
	}
	return d, f.err
}

// block writes a definition; pairs are keys and values in turn.
func block(kind Kind, pairs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "```rule %s\n", kind)
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s = %s\n", pairs[i], pairs[i+1])
	}
	b.WriteString("```\n")
	return b.String()
}

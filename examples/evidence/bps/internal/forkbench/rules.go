package forkbench

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// rules says how each operation is done.
type rules struct {
	query    queryRule
	calendar calendarRule
	template templateRule
	checksum checksumRule
	encoding encodingRule
}

// standardRules are the ones that everybody knows, which the executor falls back to.
func standardRules() rules {
	return rules{standardQuery(), standardCalendar(), standardTemplate(), standardChecksum(), standardEncoding()}
}

// drawRules draws a variant of every operation.
func drawRules(r *rand.Rand) rules {
	return rules{drawQuery(r), drawCalendar(r), drawTemplate(r), drawChecksum(r), drawEncoding(r)}
}

// set puts one rule in place.
func (s *rules) set(rule any) {
	switch rule := rule.(type) {
	case queryRule:
		s.query = rule
	case calendarRule:
		s.calendar = rule
	case templateRule:
		s.template = rule
	case checksumRule:
		s.checksum = rule
	case encodingRule:
		s.encoding = rule
	}
}

// get returns the rule of one kind.
func (s rules) get(k Kind) any {
	return [...]any{s.query, s.calendar, s.template, s.checksum, s.encoding}[k]
}

// describe returns the definition of one kind as a block, and n worked examples of it.
func (s rules) describe(k Kind, r *rand.Rand, n int) (definition string, examples []string) {
	describers := [...]interface {
		block() string
		example(r *rand.Rand) string
	}{s.query, s.calendar, s.template, s.checksum, s.encoding}
	for range n {
		examples = append(examples, describers[k].example(r))
	}
	return describers[k].block(), examples
}

// resolve returns the rules in force for documents in the given order: the first definition of a kind counts.
func resolve(documents ...[]definition) rules {
	s := standardRules()
	var known Set
	for _, defs := range documents {
		for _, d := range defs {
			if !known.Has(d.kind) {
				known |= setOf(d.kind)
				s.set(d.rule)
			}
		}
	}
	return s
}

// run does what a task needs with one input. An operation that cannot read its input is an error.
func (s rules) run(need Set, in input) (string, error) {
	rows := in.rows
	if need.Has(Query) {
		var err error
		if rows, err = s.query.pick(in.query, rows); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		date := row.date.Format("2006-01-02")
		if need.Has(Calendar) {
			date = s.calendar.book(row.date)
		}
		if need.Has(Template) {
			b.WriteString(s.template.render(in.form, func(name string) string {
				if name == "date" {
					return date
				}
				return row.field(name)
			}))
		} else {
			fmt.Fprintf(&b, "%s %s %s", row.id, row.town, date)
		}
	}
	text := b.String()
	if need.Has(Checksum) {
		text += "/" + s.checksum.code(text)
	}
	if need.Has(Encoding) {
		text = s.encoding.encode(text)
	}
	return text, nil
}

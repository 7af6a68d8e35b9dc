package bps

import (
	"slices"
	"strings"

	"github.com/throughline-go/throughline/internal/text"
)

// SplitClauses returns the clauses of a query as [FromTexts] cuts it, for example to embed each of them for [FromVectors]. It is nil if
// there is but one, the whole query.
func SplitClauses(query string) []string {
	var parts []string
	for _, c := range clauses(query) {
		parts = append(parts, c.text)
	}
	if len(parts) == 1 && parts[0] == wholeQuery {
		return nil
	}
	return parts
}

// A clause is a part of a query, or all of it.
type clause struct {
	text  string
	words []string // without stop words, each once
}

const maxClauses = 64 // a gain costs a multiplication each

// clauses returns the clauses of a query; at least one.
func clauses(query string) []clause {
	type piece struct{ written, words []string }
	var all []clause
	var part, sentence piece
	parts := 0 // of the sentence
	add := func(p *piece, word string) {
		p.written = append(p.written, word)
		p.words = append(p.words, text.Tokens(word)...)
	}
	end := func(p *piece, use bool) {
		if words := distinct(p.words); use && len(words) >= 2 && len(all) < maxClauses {
			all = append(all, clause{strings.TrimRight(strings.Join(p.written, " "), marks), words})
		}
		*p = piece{}
	}
	endPart := func() {
		if len(part.words) > 0 {
			parts++
		}
		end(&part, true)
	}
	endSentence := func() {
		endPart()
		end(&sentence, parts >= 2)
		parts = 0
	}
	for line := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '\n' || strings.ContainsRune("。！？；", r) }) {
		for chunk := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune("，、", r) }) {
			for word := range strings.FieldsSeq(chunk) {
				add(&sentence, word)
				bare := strings.TrimRight(word, marks)
				if joint := strings.ToLower(bare); joint == "and" || joint == "then" {
					endPart()
				} else {
					add(&part, word)
				}
				if strings.ContainsAny(word[len(bare):], ".!?;") {
					endSentence()
				} else if bare != word {
					endPart()
				}
			}
			endPart()
		}
		endSentence()
	}
	if len(all) == 0 {
		return []clause{{wholeQuery, distinct(text.Tokens(query))}}
	}
	return all
}

const (
	marks      = ".!?;,"
	wholeQuery = "the whole query"
)

// distinct removes all but the first of equal words, in place.
func distinct(words []string) []string {
	seen := make(map[string]bool, len(words))
	return slices.DeleteFunc(words, func(w string) bool {
		again := seen[w]
		seen[w] = true
		return again
	})
}

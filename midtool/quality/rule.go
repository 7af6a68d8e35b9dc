package quality

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/midtool/document"
)

// A Rule keeps a document whose measure lies in [Min, Max]. A document that has no such figure passes.
type Rule struct {
	Measure  Measure
	Min, Max float64 // inclusive; -Inf and +Inf are no bound
}

// Rules returns the rules of a kind of documents, in the order in which they are checked; nil for a kind that is not known.
// The slice is the caller's own.
func Rules(kind document.Kind) []Rule {
	column := slices.Index([]document.Kind{document.Web, document.PDF, document.Code, document.Markdown}, kind)
	if kind == document.Skill {
		column = markdownColumn
	}
	if column < 0 {
		return nil
	}
	var rules []Rule
	for _, row := range table {
		if b := row.bounds[column]; b != off {
			rules = append(rules, Rule{row.measure, b.min, b.max})
		}
	}
	return rules
}

// Validate reports every rule that no document can be checked against: one of an unknown measure, one whose bound is not
// a number, and one that nothing can satisfy.
func Validate(rules []Rule) error {
	var faults []error
	for i, r := range rules {
		switch {
		case !slices.ContainsFunc(table, func(row row) bool { return row.measure == r.Measure }):
			faults = append(faults, fmt.Errorf("quality: rule %d: measure %q is unknown", i, r.Measure))
		case math.IsNaN(r.Min) || math.IsNaN(r.Max):
			faults = append(faults, fmt.Errorf("quality: rule %d (%s): a bound is not a number", i, r.Measure))
		case r.Min > r.Max:
			faults = append(faults, fmt.Errorf("quality: rule %d (%s): minimum %v is above maximum %v", i, r.Measure, r.Min, r.Max))
		}
	}
	return errors.Join(faults...)
}

// A row is a measure with its bounds for web, pdf, code and md.
type row struct {
	measure Measure
	bounds  [4]bounds
}

const markdownColumn = 3

type bounds struct{ min, max float64 }

// off is no rule at all: no figure is asked for.
var off = bounds{math.Inf(-1), math.Inf(1)}

func atLeast(x float64) bounds { return bounds{x, math.Inf(1)} }

func atMost(x float64) bounds { return bounds{math.Inf(-1), x} }

// prose is a bound for text alone, not for code and Markdown.
func prose(b bounds) [4]bounds { return [4]bounds{b, b, off, off} }

// table has every measure once.
var table = []row{
	{Words, [4]bounds{{50, 100_000}, {100, 100_000}, {20, 100_000}, {20, 100_000}}},
	{MeanWordLength, [4]bounds{{3, 10}, {3, 10}, {2, 12}, {2, 12}}},
	{Lines, [4]bounds{atLeast(3), atLeast(5), {5, 20_000}, atLeast(1)}},
	{LongestLine, [4]bounds{off, off, atMost(1000), off}},
	{MeanLineLength, [4]bounds{off, off, atMost(100), off}},
	{LanguageScore, [4]bounds{atLeast(0.65), atLeast(0.65), off, atLeast(0.50)}},
	{LetterShare, [4]bounds{atLeast(0.50), atLeast(0.50), atLeast(0.25), atLeast(0.40)}},
	{WordsWithLetter, [4]bounds{atLeast(0.80), atLeast(0.70), off, off}},
	{StopWords, prose(atLeast(2))},
	{HashesPerWord, prose(atMost(0.1))},
	{EllipsesPerWord, prose(atMost(0.1))},
	{BulletLines, prose(atMost(0.90))},
	{EllipsisLines, prose(atMost(0.30))},
	{DigitShare, [4]bounds{atMost(0.20), atMost(0.25), atMost(0.40), atMost(0.40)}},
	{DuplicateLines, [4]bounds{atMost(0.30), atMost(0.30), atMost(0.50), atMost(0.50)}},
	{DuplicateLineChars, [4]bounds{atMost(0.20), atMost(0.20), atMost(0.50), atMost(0.50)}},
	{Top2Gram, prose(atMost(0.20))},
	{Top3Gram, prose(atMost(0.18))},
	{Top4Gram, prose(atMost(0.16))},
	{Duplicate5Grams, prose(atMost(0.15))},
	{Duplicate6Grams, prose(atMost(0.14))},
	{Duplicate7Grams, prose(atMost(0.13))},
	{Duplicate8Grams, prose(atMost(0.12))},
	{Duplicate9Grams, prose(atMost(0.11))},
	{Duplicate10Grams, prose(atMost(0.10))},
	{ReplacementChars, [4]bounds{atMost(0.001), atMost(0.001), atMost(0.001), atMost(0.001)}},
	{SingleLetterWords, [4]bounds{off, atMost(0.20), off, off}},
	{URLChars, prose(atMost(0.20))},
	{CommentLines, [4]bounds{off, off, {0.001, 0.85}, off}},
	{CharsPerToken, [4]bounds{off, off, atLeast(2), off}},
}

package quality

import (
	"fmt"
	"math"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// A Failure is the first rule that a document breaks.
type Failure struct {
	Rule  Rule
	Value float64 // of the document
}

// Reason returns the name of the measure.
func (f *Failure) Reason() string { return string(f.Rule.Measure) }

// String gives the measure, the value and the bound that it is beyond.
func (f *Failure) String() string {
	switch {
	case f.Value < f.Rule.Min:
		return fmt.Sprintf("%s %.6g is below %.6g", f.Rule.Measure, f.Value, f.Rule.Min)
	case f.Value > f.Rule.Max:
		return fmt.Sprintf("%s %.6g is above %.6g", f.Rule.Measure, f.Value, f.Rule.Max)
	}
	return fmt.Sprintf("%s %v is not within %.6g and %.6g", f.Rule.Measure, f.Value, f.Rule.Min, f.Rule.Max)
}

// Check returns the first of the rules that the document breaks, nil if it breaks none. A rule of an unknown measure is
// never broken; see [Validate]. Whoever checks many documents saves memory with a [Checker].
func Check(d *document.Document, rules []Rule) *Failure { return new(Checker).Check(d, rules) }

// Values returns every figure that the document has.
func Values(d *document.Document) map[Measure]float64 { return new(Checker).Values(d) }

// A Checker checks one document after the other and keeps its memory in between. The zero value is ready. It is not safe for
// concurrent use: each worker has its own.
type Checker struct {
	d *document.Document

	counts  counts
	counted bool
	lines   lineCounts
	lined   bool
	grams   grams
	seen    table64
}

// Check does what the function [Check] does.
func (c *Checker) Check(d *document.Document, rules []Rule) *Failure {
	c.start(d)
	defer c.end()
	for _, r := range rules {
		if v, ok := c.value(r.Measure); ok && !(v >= r.Min && v <= r.Max) { // so that a score that is not a number fails
			return &Failure{r, v}
		}
	}
	return nil
}

// Values does what the function [Values] does.
func (c *Checker) Values(d *document.Document) map[Measure]float64 {
	c.start(d)
	defer c.end()
	values := make(map[Measure]float64)
	for _, row := range table {
		if v, ok := c.value(row.measure); ok {
			values[row.measure] = v
		}
	}
	return values
}

func (c *Checker) start(d *document.Document) {
	c.d, c.counted, c.lined = d, false, false
	c.grams.reset()
}

func (c *Checker) end() {
	c.d = nil
	c.grams.trim()
	c.seen.trim()
}

// value returns a figure of the document, false if it has none. What it is made of is found once.
func (c *Checker) value(m Measure) (float64, bool) {
	switch m {
	case LanguageScore:
		return languageScore(c.d)
	case CommentLines:
		return commentLines(c.d)
	}
	if !c.counted {
		c.counts, c.counted = count(c.d.Text), true
	}
	n := &c.counts
	if !c.lined && (m == DuplicateLines || m == DuplicateLineChars) {
		c.lines, c.lined = countLines(c.d.Text, n.lines, &c.seen), true
	}
	switch m {
	case Words:
		return float64(n.words), true
	case MeanWordLength:
		return ratio(n.letters+n.digits, n.words), true
	case Lines:
		return float64(n.lines), true
	case LongestLine:
		return float64(n.longest), true
	case MeanLineLength:
		return ratio(n.lineChars, n.lines), true
	case LetterShare:
		return ratio(n.letters, n.solid), true
	case WordsWithLetter:
		return ratio(n.lettered, n.words), true
	case StopWords:
		return float64(n.stops.size()), true
	case HashesPerWord:
		return ratio(n.hashes, n.words), true
	case EllipsesPerWord:
		return ratio(n.ellipses, n.words), true
	case BulletLines:
		return ratio(n.bullets, n.lines), true
	case EllipsisLines:
		return ratio(n.trailing, n.lines), true
	case DigitShare:
		return ratio(n.digits, n.solid), true
	case DuplicateLines:
		return ratio(c.lines.repeated, n.lines), true
	case DuplicateLineChars:
		return ratio(c.lines.chars, n.chars), true
	case Top2Gram:
		return ratio(c.grams.top(c.d.Text, n.words, &c.seen, 2), n.chars), true
	case Top3Gram:
		return ratio(c.grams.top(c.d.Text, n.words, &c.seen, 3), n.chars), true
	case Top4Gram:
		return ratio(c.grams.top(c.d.Text, n.words, &c.seen, 4), n.chars), true
	case Duplicate5Grams:
		return ratio(c.grams.repeated(c.d.Text, n.words, &c.seen, 5), n.chars), true
	case Duplicate6Grams:
		return ratio(c.grams.repeated(c.d.Text, n.words, &c.seen, 6), n.chars), true
	case Duplicate7Grams:
		return ratio(c.grams.repeated(c.d.Text, n.words, &c.seen, 7), n.chars), true
	case Duplicate8Grams:
		return ratio(c.grams.repeated(c.d.Text, n.words, &c.seen, 8), n.chars), true
	case Duplicate9Grams:
		return ratio(c.grams.repeated(c.d.Text, n.words, &c.seen, 9), n.chars), true
	case Duplicate10Grams:
		return ratio(c.grams.repeated(c.d.Text, n.words, &c.seen, 10), n.chars), true
	case ReplacementChars:
		return ratio(n.replaced, n.chars), true
	case SingleLetterWords:
		return ratio(n.single, n.words), true
	case URLChars:
		return ratio(n.address, n.chars), true
	case CharsPerToken:
		return ratio(n.chars, midtool.ApproxTokens(c.d.Text)), true
	}
	return 0, false
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func languageScore(d *document.Document) (float64, bool) {
	if d.Language != "" && !english(d.Language) {
		return 0, true
	}
	if d.LanguageScore == nil {
		return math.NaN(), false
	}
	return *d.LanguageScore, true
}

// english tells the usual names of English: "en", "eng" and "English", alone or before a region or a script.
func english(language string) bool {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	language, _, _ = strings.Cut(language, "_")
	return language == "en" || language == "eng" || language == "english"
}

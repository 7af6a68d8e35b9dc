package quality

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// oracle takes every measure but the comments in the plainest way: a map for each figure, a loop for each rule.
func oracle(d *document.Document) map[Measure]float64 {
	text := strings.ToValidUTF8(d.Text, "")
	invalid := 0
	for i, r := range d.Text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(d.Text[i:]); size == 1 {
				invalid++
			}
		}
	}
	if invalid > 0 {
		text = string([]rune(d.Text))
	}
	chars := []rune(text)
	n := func(in func(rune) bool) (count float64) {
		for _, r := range chars {
			if in(r) {
				count++
			}
		}
		return count
	}
	div := func(a, b float64) float64 {
		if b == 0 {
			return 0
		}
		return a / b
	}
	all := float64(len(chars))
	letters, digits, spaces := n(unicode.IsLetter), n(unicode.IsDigit), n(unicode.IsSpace)

	words := regexp.MustCompile(`[\p{L}\p{Nd}][\p{L}\p{Nd}\p{M}]*`).FindAllString(text, -1)
	length := func(word string) int { return len(slices.DeleteFunc([]rune(word), unicode.IsMark)) }
	lettered, single := 0.0, 0.0
	stops := make(map[string]bool)
	for _, w := range words {
		if strings.ContainsFunc(w, unicode.IsLetter) {
			lettered++
			if length(w) == 1 {
				single++
			}
		}
		for _, stop := range []string{"the", "be", "to", "of", "and", "that", "have", "with"} {
			if strings.ToLower(w) == stop {
				stops[stop] = true
			}
		}
	}

	var lines []string
	longest, lineChars, bullets, trailing, duplicates, duplicateChars := 0, 0, 0.0, 0.0, 0.0, 0.0
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		longest = max(longest, utf8.RuneCountInString(line))
		lineChars += utf8.RuneCountInString(line)
		if regexp.MustCompile(`^([•‣◦▪●○]|[-*+][ \t])`).MatchString(trimmed) {
			bullets++
		}
		if regexp.MustCompile(`(…|\.\.\.)$`).MatchString(trimmed) {
			trailing++
		}
		if slices.Contains(lines, trimmed) {
			duplicates++
			duplicateChars += float64(utf8.RuneCountInString(trimmed))
		}
		lines = append(lines, trimmed)
	}

	address := 0
	for i := 0; i < len(chars); i++ {
		if i > 0 && (unicode.IsLetter(chars[i-1]) || unicode.IsDigit(chars[i-1])) {
			continue
		}
		if i > 0 && unicode.IsMark(chars[i-1]) { // of a word?
			j := i - 1
			for j > 0 && unicode.IsMark(chars[j]) {
				j--
			}
			if unicode.IsLetter(chars[j]) || unicode.IsDigit(chars[j]) {
				continue
			}
		}
		if found := regexp.MustCompile(`^(?i:https?://|www\.)[^\s\p{Z}\x{85}\v<>"` + "`" + `)\]}]*`).FindString(string(chars[i:])); found != "" &&
			chars[i] < utf8.RuneSelf {
			address += utf8.RuneCountInString(found)
			i += utf8.RuneCountInString(found) - 1
		}
	}

	top := func(n int) float64 {
		counts := make(map[string]int)
		for i := range len(words) - n + 1 {
			counts[strings.Join(words[i:i+n], " ")]++
		}
		most, chars := 1, 0
		for gram, count := range counts {
			size := n - 1
			for w := range strings.SplitSeq(gram, " ") {
				size += length(w)
			}
			if count > most || count == most && count > 1 && size > chars {
				most, chars = count, size
			}
		}
		return div(float64(most*chars), all)
	}
	repeated := func(n int) float64 {
		seen := make(map[string]bool)
		chars := 0
		for i := 0; i+n <= len(words); {
			gram := strings.Join(words[i:i+n], " ")
			if !seen[gram] {
				seen[gram] = true
				i++
				continue
			}
			for _, w := range words[i : i+n] {
				chars += length(w)
			}
			i += n
		}
		return div(float64(chars), all)
	}

	values := map[Measure]float64{
		Words: float64(len(words)), MeanWordLength: div(letters+digits, float64(len(words))),
		Lines: float64(len(lines)), LongestLine: float64(longest), MeanLineLength: div(float64(lineChars), float64(len(lines))),
		LetterShare: div(letters, all-spaces), DigitShare: div(digits, all-spaces),
		WordsWithLetter: div(lettered, float64(len(words))), SingleLetterWords: div(single, float64(len(words))),
		StopWords: float64(len(stops)), HashesPerWord: div(float64(strings.Count(text, "#")), float64(len(words))),
		EllipsesPerWord: div(float64(strings.Count(text, "...")+strings.Count(text, "…")), float64(len(words))),
		BulletLines:     div(bullets, float64(len(lines))), EllipsisLines: div(trailing, float64(len(lines))),
		DuplicateLines: div(duplicates, float64(len(lines))), DuplicateLineChars: div(duplicateChars, all),
		Top2Gram: top(2), Top3Gram: top(3), Top4Gram: top(4),
		Duplicate5Grams: repeated(5), Duplicate6Grams: repeated(6), Duplicate7Grams: repeated(7),
		Duplicate8Grams: repeated(8), Duplicate9Grams: repeated(9), Duplicate10Grams: repeated(10),
		ReplacementChars: div(n(func(r rune) bool { return r == utf8.RuneError }), all), URLChars: div(float64(address), all),
		CharsPerToken: div(all, float64(midtool.ApproxTokens(d.Text))),
	}
	if d.LanguageScore != nil {
		values[LanguageScore] = *d.LanguageScore
	}
	return values
}

// documents draws texts that are made of what the measures look at.
func documents() *rapid.Generator[*document.Document] {
	pieces := []string{" ", " ", " ", "\n", "\n\n", "  \n", "\t", "the", "The", "of", "with", "word", "a", "b", "x1", "42", "é",
		"e\u0301", "\u0301", "日本",
		"a b c d e f g h i j k l\n", "it is the same line\n", "- ", "-5", "* ", "•", "...", "..", "…", "#", "##", ".", ", ", "(", ")",
		"\ufffd", "\xff",
		"http://a.b/c", "HTTPS://x", "www.", "xwww.y", "\u00a0", "\u2028", "\u0085", "١٢", "\v", "—", "😀", "ſ", "toK", "0", "that",
		"have", "and", "be", "to"}
	return rapid.Custom(func(t *rapid.T) *document.Document {
		vocabulary := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "vocabulary")
		d := &document.Document{Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 120).Draw(t, "text"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))}
		if rapid.Bool().Draw(t, "scored") {
			d.LanguageScore = new(rapid.Float64Range(0, 1).Draw(t, "score"))
		}
		return d
	})
}

// Every figure is that of the plain definition, also where a Checker has seen other texts before.
func TestValuesEqualDefinition(t *testing.T) {
	c := new(Checker)
	rapid.Check(t, func(t *rapid.T) {
		d := documents().Draw(t, "document")
		if diff := cmp.Diff(oracle(d), c.Values(d), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", d.Text, diff)
		}
	})
}

// Check reports the first rule in order that the figures break, whichever rules there are and in whatever order.
func TestCheckFindsFirstBrokenRule(t *testing.T) {
	c := new(Checker)
	rapid.Check(t, func(t *rapid.T) {
		d := documents().Draw(t, "document")
		values := Values(d)
		var rules []Rule
		for _, row := range rapid.Permutation(table).Draw(t, "order")[:rapid.IntRange(0, len(table)).Draw(t, "rules")] {
			low := rapid.Float64Range(-0.1, 1).Draw(t, "low")
			rules = append(rules, Rule{row.measure, low, low + rapid.Float64Range(0, 100).Draw(t, "width")})
		}
		var want *Failure
		for _, r := range rules {
			if v, ok := values[r.Measure]; ok && (v < r.Min || v > r.Max) {
				want = &Failure{r, v}
				break
			}
		}
		if diff := cmp.Diff(want, c.Check(d, rules)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// An emptied table forgets what it held, also when the number of its epoch starts anew, and it grows.
func TestTableCountsAsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := table64{slots: make([]slot64, 64), epoch: math.MaxUint32 - 2}
		for i := range table.slots {
			table.slots[i] = slot64{key: uint64(i), epoch: 1 + uint32(i%3), count: 7} // as they were filled in the first epochs
		}
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			keys := rapid.SliceOfN(rapid.Uint64Range(0, 40), 0, 60).Draw(t, "keys")
			table.reset(rapid.IntRange(0, len(keys)).Draw(t, "room"))
			counts := make(map[uint64]uint32)
			for _, k := range keys {
				counts[k]++
				if got := table.add(k); got != counts[k] {
					t.Fatalf("key %d: counted %d times, want %d", k, got, counts[k])
				}
			}
		}
	})
}

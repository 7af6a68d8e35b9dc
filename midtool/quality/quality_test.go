package quality

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/midtool/document"
)

// essay is a text that breaks no rule of any kind: n sentences out of a small grammar, each of them different.
func essay(n int) string {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(3, 4))
	pick := func(words string) string {
		list := strings.Fields(words)
		return list[rng.IntN(len(list))]
	}
	name := func() string {
		syllables := "ka lo mi ter san dor vel qui pra lim bes tor nau rec sil"
		return pick(syllables) + pick(syllables) + pick(syllables)
	}
	for range n {
		fmt.Fprintf(&b, "%s %s %s that %s can %s %s with %s %s, and %s %s.\n", pick("The Each One Every"), name(),
			pick("states shows says believes"), name(), name(), name(), pick("a the its"), name(), name(), pick("waits stops ends"))
	}
	return b.String()
}

func TestRulesKeepOrdinaryTexts(t *testing.T) {
	for _, kind := range []document.Kind{document.Web, document.PDF, document.Code, document.Markdown, document.Skill} {
		text := essay(40)
		if kind == document.Code {
			text = strings.ReplaceAll(text, "The ", "// The ")
		}
		d := &document.Document{Kind: kind, Text: text, Syntax: "go", Language: "en", LanguageScore: new(0.9)}
		if f := Check(d, Rules(kind)); f != nil {
			t.Errorf("%s: %v", kind, f)
		}
		if err := Validate(Rules(kind)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// The bounds of every kind, each row one measure: web, pdf, code, md and skill; "-" is off.
func TestRulesTable(t *testing.T) {
	const want = `
words 50..100000 100..100000 20..100000 20..100000
mean_word_length 3..10 3..10 2..12 2..12
lines 3..+Inf 5..+Inf 5..20000 1..+Inf
longest_line - - -Inf..1000 -
mean_line_length - - -Inf..100 -
language_score 0.65..+Inf 0.65..+Inf - 0.5..+Inf
letter_share 0.5..+Inf 0.5..+Inf 0.25..+Inf 0.4..+Inf
words_with_letter 0.8..+Inf 0.7..+Inf - -
stop_words 2..+Inf 2..+Inf - -
hashes_per_word -Inf..0.1 -Inf..0.1 - -
ellipses_per_word -Inf..0.1 -Inf..0.1 - -
bullet_lines -Inf..0.9 -Inf..0.9 - -
ellipsis_lines -Inf..0.3 -Inf..0.3 - -
digit_share -Inf..0.2 -Inf..0.25 -Inf..0.4 -Inf..0.4
duplicate_lines -Inf..0.3 -Inf..0.3 -Inf..0.5 -Inf..0.5
duplicate_line_chars -Inf..0.2 -Inf..0.2 -Inf..0.5 -Inf..0.5
top_2gram -Inf..0.2 -Inf..0.2 - -
top_3gram -Inf..0.18 -Inf..0.18 - -
top_4gram -Inf..0.16 -Inf..0.16 - -
duplicate_5grams -Inf..0.15 -Inf..0.15 - -
duplicate_6grams -Inf..0.14 -Inf..0.14 - -
duplicate_7grams -Inf..0.13 -Inf..0.13 - -
duplicate_8grams -Inf..0.12 -Inf..0.12 - -
duplicate_9grams -Inf..0.11 -Inf..0.11 - -
duplicate_10grams -Inf..0.1 -Inf..0.1 - -
replacement_chars -Inf..0.001 -Inf..0.001 -Inf..0.001 -Inf..0.001
single_letter_words - -Inf..0.2 - -
url_chars -Inf..0.2 -Inf..0.2 - -
comment_lines - - 0.001..0.85 -
chars_per_token - - 2..+Inf -
`
	var got strings.Builder
	got.WriteByte('\n')
	for _, row := range table {
		got.WriteString(string(row.measure))
		for _, kind := range []document.Kind{document.Web, document.PDF, document.Code, document.Markdown} {
			cell := "-"
			for _, r := range Rules(kind) {
				if r.Measure == row.measure {
					cell = fmt.Sprintf("%v..%v", r.Min, r.Max)
				}
			}
			got.WriteString(" " + cell)
		}
		got.WriteByte('\n')
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Rules(document.Markdown), Rules(document.Skill)); diff != "" {
		t.Errorf("md and skill differ (-want +got):\n%s", diff)
	}
	if Rules("video") != nil {
		t.Error("an unknown kind has rules")
	}
}

// One fault each, by the reason that it is left out for.
func TestCheckNamesTheFault(t *testing.T) {
	base := essay(60)
	lines := strings.Split(strings.TrimSuffix(base, "\n"), "\n")
	everyLine := func(f func(i int, line string) string) string {
		var b strings.Builder
		for i, line := range lines {
			b.WriteString(f(i, line) + "\n")
		}
		return b.String()
	}
	code := everyLine(func(i int, line string) string { return fmt.Sprintf("\tcall(%q)", line[:30]) })
	letters := func(n int) string {
		return string("bcdfghjklm"[n%10]) + string("aeiou"[n/10%5]) + string("npqrstvwxz"[n/50%10])
	}
	cases := []struct {
		name   string
		doc    document.Document
		want   Measure
		reason string
	}{
		{"short", document.Document{Kind: document.Web, Text: "The cat sat with the dog.\nIt slept.\nIt woke.\n"}, Words, "10 words"},
		{"long", document.Document{Kind: document.Markdown, Text: strings.Repeat("word ", 100_001)}, Words, "100,001 words"},
		{"letters apart", document.Document{Kind: document.PDF, Text: everyLine(func(_ int,
			l string) string {
			return strings.Join(strings.Split(l, ""), " ")
		})},
			MeanWordLength, "one character a word"},
		{"one line", document.Document{Kind: document.Web, Text: strings.ReplaceAll(base, "\n", " ")}, Lines, "1 line"},
		{"minified", document.Document{Kind: document.Code, Text: code + "x = [" + strings.Repeat("one, ", 300) + "]\n"}, LongestLine,
			"1,506 characters"},
		{"wide", document.Document{Kind: document.Code, Text: everyLine(func(_ int, l string) string { return l + l })},
			MeanLineLength, "about 150"},
		{"not sure", document.Document{Kind: document.Web, Text: base, LanguageScore: new(0.5)}, LanguageScore, "0.5 of 0.65"},
		{"German", document.Document{Kind: document.Web, Text: base, Language: "de", LanguageScore: new(0.99)}, LanguageScore,
			"sure, but not English"},
		{"no number", document.Document{Kind: document.Web, Text: base, LanguageScore: new(math.NaN())}, LanguageScore, "a score must compare"},
		{"signs", document.Document{Kind: document.Markdown, Text: strings.ReplaceAll(base, " ", " |=-=|*+~~~^^^ ")}, LetterShare,
			"more signs than letters"},
		{"numbers", document.Document{Kind: document.Web, Text: everyLine(func(i int, l string) string { return l + " 1 2 3 4 5" })},
			WordsWithLetter, "5 of 20 words"},
		{"keywords", document.Document{Kind: document.Web, Text: strings.NewReplacer("that", "this", "with", "for", "and", "or", "The",
			"A", "the", "a").Replace(base)},
			StopWords, "none is left"},
		{"hash tags", document.Document{Kind: document.Web, Text: strings.ReplaceAll(base, " can", " #can #tag #more")}, HashesPerWord,
			"3 of 17 words"},
		{"ellipses", document.Document{Kind: document.Web, Text: strings.ReplaceAll(base, " can", "... can… so... ")}, EllipsesPerWord,
			"3 a line"},
		{"list", document.Document{Kind: document.Web, Text: everyLine(func(_ int, l string) string { return "  - " + l })},
			BulletLines, "all lines"},
		{"teasers", document.Document{Kind: document.Web, Text: everyLine(func(i int, l string) string { return l + []string{"..", ""}[i%2] })},
			EllipsisLines, "every second line"},
		{"log", document.Document{Kind: document.Markdown, Text: everyLine(func(i int,
			l string) string {
			return l[:24] + " 0123456789 0123456789"
		})},
			DigitShare, "20 of about 40"},
		{"menu", document.Document{Kind: document.Web, Text: base + strings.Repeat("Home\n", 30)}, DuplicateLines, "29 of 90"},
		{"notice", document.Document{Kind: document.Web, Text: base + strings.Repeat(strings.Repeat("No part of this may be copied ",
			5)+"\n", 14)},
			DuplicateLineChars, "13 of 74 lines, a quarter of the text"},
		{"chorus of 2", document.Document{Kind: document.Web, Text: everyLine(func(_ int,
			l string) string {
			return strings.ReplaceAll(l, "can", "extraordinary performances")
		})},
			Top2Gram, "26 of about 105"},
		{"chorus of 3", document.Document{Kind: document.Web, Text: everyLine(func(i int, l string) string {
			if i%4 > 0 {
				return strings.ReplaceAll(l, "can", "many nice new")
			}
			return l
		})}, Top3Gram, "found by a table of bounds below"},
		{"chorus of 4", document.Document{Kind: document.Web, Text: everyLine(func(_ int,
			l string) string {
			return strings.ReplaceAll(l, "can", "so it may do")
		})},
			Top4Gram, "found by a table of bounds below"},
		{"paste of 5", document.Document{Kind: document.Web, Text: base + strings.ReplaceAll(strings.Join(lines[:20], " "), "\n", " ")},
			Duplicate5Grams, "a third of the text twice"},
		{"damaged", document.Document{Kind: document.Markdown, Text: strings.ReplaceAll(base, "can", "c\ufffdn")}, ReplacementChars,
			"60 of 5,000"},
		{"scan", document.Document{Kind: document.PDF, Text: everyLine(func(i int, l string) string {
			return l + " " + strings.Join(strings.Split(letters(i)+letters(i + 7)[:1], ""), " ")
		})}, SingleLetterWords, "4 of 17"},
		{"links", document.Document{Kind: document.Web, Text: everyLine(func(i int,
			l string) string {
			return l + " https://" + letters(i) + ".example.org/" + letters(i)
		})},
			URLChars, "27 of 100"},
		{"no comment", document.Document{Kind: document.Code, Syntax: "go", Text: code}, CommentLines, "none"},
		{"all comment", document.Document{Kind: document.Code, Syntax: "go", Text: "/*\n" + base + "*/\n"}, CommentLines, "all"},
		{"dense", document.Document{Kind: document.Code, Text: everyLine(func(i int, l string) string {
			return fmt.Sprintf("a%d 日本語日本語日本語日本語", i)
		})}, CharsPerToken, "a token a character"},
	}
	loose := map[Measure]bool{Top3Gram: true, Top4Gram: true} // those whose shorter runs are bounded nearly as tightly
	for _, tt := range cases {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		rules := Rules(tt.doc.Kind)
		if loose[tt.want] {
			rules = slices.DeleteFunc(rules, func(r Rule) bool { return strings.HasPrefix(string(r.Measure), "top_") && r.Measure != tt.want })
			for i := range rules {
				if rules[i].Measure == tt.want {
					rules[i].Max = 0.08
				}
			}
		}
		f := Check(&tt.doc, rules)
		if f == nil {
			t.Errorf("%s (%s): kept, want %s; has %v", tt.name, tt.reason, tt.want, Values(&tt.doc)[tt.want])
		} else if f.Rule.Measure != tt.want || f.Reason() != string(tt.want) {
			t.Errorf("%s (%s): %v, want %s", tt.name, tt.reason, f, tt.want)
		}
	}
}

func TestValuesByHand(t *testing.T) {
	cases := []struct {
		name, text string
		measure    Measure
		want       float64
		reason     string
	}{
		{"tie of runs", "ab cd x abc def y ab cd z abc def", Top2Gram, 14. / 33, "two pairs occur twice; the longer one has 7 characters of 33"},
		{"overlap", "a a a a", Top2Gram, 9. / 7, "3 pairs of 3 characters"},
		{"nothing twice", "one two three four", Top2Gram, 0, "a pair that occurs once is no repetition"},
		{"paste", "a b c d e f a b c d e f", Duplicate5Grams, 5. / 23, "the second a to e; what follows is too short"},
		{"case", "One two one Two", Top2Gram, 0, "pairs differ in case"},
		{"mark before a word", "ab cd \u0301ab cd", Top2Gram, 10. / 12, "the mark belongs to no word"},
		{"mark of a word", "1\u0301 e\u0301", MeanWordLength, 1, "a letter and a digit"},
		{"mark within an address", "x www.a\u0301b y", URLChars, 7. / 11, "7 characters of 11"},
		{"address within an address", "see http://a.b/?u=https://c.d)", URLChars, 25. / 30, "counted once, without the bracket"},
		{"address within a word", "xhttp://a", URLChars, 0, "a word goes on"},
		{"not UTF-8", "ab\xff\xfe", ReplacementChars, 0.5, "2 bytes of 4 characters"},
		{"two ellipses", "a......", EllipsesPerWord, 2, "6 full stops"},
		{"two full stops", "a..", EllipsesPerWord, 0, "no ellipsis"},
		{"negative number", "-5\n- 5\n-\n•x", BulletLines, 0.5, "a hyphen needs a blank"},
		{"indented copies", "a b\n  a b\t\n\n \n", DuplicateLineChars, 3. / 14, "the 3 characters of the second"},
		{"wide line", " \u00e9\u3000x", LongestLine, 4, "characters, not bytes"},
		{"initials", "I am 5 x1 é", SingleLetterWords, 0.4, "I and é"},
	}
	for _, tt := range cases {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		if got := Values(&document.Document{Text: tt.text})[tt.measure]; math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %s of %q is %v, want %v (%s)", tt.name, tt.measure, tt.text, got, tt.want, tt.reason)
		}
	}
}

// A figure does not depend on those that were asked for before.
func TestValuesInAnyOrder(t *testing.T) {
	d := &document.Document{Text: "one two three one two four"}
	below := func(m Measure) Rule { return Rule{m, math.Inf(-1), 0} }
	want := &Failure{below(Top2Gram), 14. / 26}
	if diff := cmp.Diff(want, Check(d, []Rule{below(Duplicate5Grams), below(Top3Gram), below(Top2Gram)})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCommentLines(t *testing.T) {
	cases := []struct {
		name, syntax, text string
		want               float64 // -1: no figure
		reason             string
	}{
		{"line signs", "go", "// a\nx := 1 // b\n\n  // c\ny", 0.5, "2 of 4; one behind code does not count"},
		{"block", "C", "/* a\nb\n c */ int x;\nint y;", 0.75, "3 of 4; the line that ends a block is one of it"},
		{"block of one line", "rust", "/* a */\nlet x = 1;", 0.5, "1 of 2"},
		{"never ended", "java", "/* a\nb\nc", 1, "all"},
		{"text of Python", "python", "def f():\n    \"\"\"What\n    it does.\"\"\"\n    return 1\n", 0.5, "2 of 4"},
		{"string of Python", "python", "s = \"\"\"What\nit does.\"\"\"\n", 0, "does not begin the line"},
		{"Lua block", "lua", "--[[ a\nb ]]\n-- c\nprint(1)", 0.75, "3 of 4"},
		{"no text", "go", "", 0, "0 of 0"},
		{"data", "json", "// a", -1, "JSON has no comments"},
		{"unknown", "", "// a", -1, "no language"},
	}
	for _, tt := range cases {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		got, ok := Values(&document.Document{Text: tt.text, Syntax: tt.syntax})[CommentLines]
		if !ok {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %v (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

func TestValidate(t *testing.T) {
	err := Validate([]Rule{{Words, 1, 2}, {"beauty", 0, 1}, {Lines, 2, 1}, {Words, math.NaN(), 1}, {DigitShare, math.Inf(-1), math.Inf(1)}})
	const want = `quality: rule 1: measure "beauty" is unknown
quality: rule 2 (lines): minimum 2 is above maximum 1
quality: rule 3 (words): a bound is not a number`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want\n%s", err, want)
	}
	if f := Check(&document.Document{}, []Rule{{"beauty", 1, 2}}); f != nil {
		t.Errorf("an unknown measure is broken: %v", f)
	}
}

// A Checker gives back what a very long text needed.
func TestCheckerDropsLargeMemory(t *testing.T) {
	c := new(Checker)
	var numbers strings.Builder
	for i := range keep {
		fmt.Fprintln(&numbers, i)
	}
	c.Values(&document.Document{Text: numbers.String()})
	if c.seen.slots != nil || c.grams.prefix != nil || c.grams.chars != nil || c.d != nil {
		t.Error("the memory of a long text is kept")
	}
	d := &document.Document{Text: essay(200)}
	rules := Rules(document.PDF)
	c.Check(d, rules)
	if n := testing.AllocsPerRun(10, func() { c.Check(d, rules) }); n > 0 {
		t.Errorf("%v allocations for a document that is kept", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, kind := range []document.Kind{document.Web, document.Code} {
		for _, sentences := range []int{10, 100, 1000} {
			text := essay(sentences)
			if kind == document.Code {
				text = strings.ReplaceAll(text, "The ", "// The ")
			}
			run(b, fmt.Sprintf("%s/%d", kind, len(text)), text, kind)
		}
	}
	for _, n := range []int{1 << 16, 1 << 20, 1 << 24} {
		for name, piece := range map[string]string{"one word": "a ", "one run": "a", "line breaks": "\n", "marks": "\u0301",
			"full stops": ".", "addresses": "www."} {
			run(b, fmt.Sprintf("%s/%d", name, n), strings.Repeat(piece, n/len(piece)), "")
		}
	}
}

// run checks one text against all rules of its kind, or takes all its figures.
func run(b *testing.B, name, text string, kind document.Kind) {
	b.Run(name, func(b *testing.B) {
		c := new(Checker)
		d := &document.Document{Text: text, Kind: kind, Syntax: "go"}
		rules := Rules(kind)
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if kind == "" {
				c.Values(d)
			} else if f := c.Check(d, rules); f != nil {
				b.Fatal(f)
			}
		}
	})
}

package pdfsource

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestJoinPages(t *testing.T) {
	cases := []struct {
		name   string
		pages  []string
		want   string
		reason string
	}{
		{"nothing", nil, "", "no page"},
		{"blank pages", []string{" \r\n", "\x00"}, "", "no text"},
		{"two pages", []string{"one\r\ntwo  \r\n", "", "three"}, "one\ntwo\n\nthree", "a blank line between those with text"},
		{"hyphen", []string{"exam-\nple"}, "example", "lower case goes on"},
		{"hyphen of PDFium", []string{"exam\x02ple of\x02\r\nten and post\ufffeCold"}, "example often and post-\nCold",
			"its marks are a hyphen and an end of a line"},
		{"soft hyphen", []string{"exam\u00ad\n  ple"}, "example", "indentation goes with it"},
		{"hyphens in a row", []string{"a-\nb-\nc"}, "abc", "each line goes on in the next"},
		{"upper case", []string{"non-\nGreek"}, "non-\nGreek", "no lower case"},
		{"number", []string{"7-\nbit"}, "7-\nbit", "no letter before"},
		{"dash", []string{"so -\nit is"}, "so -\nit is", "a space before"},
		{"blank line", []string{"exam-\n\nple"}, "exam-\n\nple", "a paragraph ends"},
		{"next page", []string{"exam-", "ple"}, "exam-\n\nple", "words are joined within a page"},
		{"blank lines", []string{"a\n\n \n\t\nb"}, "a\n\nb", "one is left"},
		{"three pages", []string{"H\na", "H\nb", "H\nc"}, "H\na\n\nH\nb\n\nH\nc", "too few to tell"},
		{"four pages", []string{"H\na", "H\nb", "c", "d"}, "a\n\nb\n\nc\n\nd", "half of them"},
		{"less than half", []string{"H\na", "H\nb", "c", "d", "e"}, "H\na\n\nH\nb\n\nc\n\nd\n\ne", "2 of 5"},
		{"twice on a page", []string{"H\nH\na", "b", "c", "d"}, "H\nH\na\n\nb\n\nc\n\nd", "one page"},
		{"within", []string{"a\nb\nc\n  H\nd\ne\nf", "g\nh\ni\nH\nj\nk\nl", "m", "n"},
			"a\nb\nc\nd\ne\nf\n\ng\nh\ni\nj\nk\nl\n\nm\n\nn", "wherever it stands"},
		{"page numbers", []string{"a\n- 9 -", "b\n- 10 -", "c\n- 11 -", "d\n- 12 -"}, "a\n\nb\n\nc\n\nd", "equal but for the number"},
		{"two lines of numbers", []string{"a\n1\nb\nc\n2\nd", "e\n3\nf\ng\n4\nh", "i\n5\nj\nk\n6\nl", "m\n7\nn\no\n8\np"},
			"a\nb\nc\nd\n\ne\nf\ng\nh\n\ni\nj\nk\nl\n\nm\nn\no\np", "the second from above and from below"},
		{"numbers within", []string{"a\nb\n1\nc\nd", "e\nf\n2\ng\nh", "i\nj\n3\nk\nl", "m\nn\n4\no\np"},
			"a\nb\n1\nc\nd\n\ne\nf\n2\ng\nh\n\ni\nj\n3\nk\nl\n\nm\nn\n4\no\np", "only at the edges"},
		{"nothing else", []string{"H", "H", "H", "H"}, "", "all of it is header"},
		{"not UTF-8", []string{"a\xffb"}, "a\ufffdb", "replaced"},
	}
	for _, tt := range cases {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		if got := joinPages(tt.pages); got != tt.want {
			t.Errorf("%s: %q, want %q (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

// plainJoin does what joinPages does, a line and a page at a time.
func plainJoin(texts []string) string {
	var pages [][]string
	for _, text := range texts {
		text = regexp.MustCompile("\r\n|\r").ReplaceAllString(text, "\n")
		text = regexp.MustCompile("[\x02\ufffe]\n?").ReplaceAllString(text, "-\n")
		text = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}]`).ReplaceAllString(text, "")
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, strings.TrimRightFunc(line, unicode.IsSpace))
		}
		if strings.Join(lines, "") != "" {
			pages = append(pages, lines)
		}
	}
	edge := func(lines []string, i int) bool {
		above, below := 0, 0
		for j, line := range lines {
			if line != "" && j < i {
				above++
			} else if line != "" && j > i {
				below++
			}
		}
		return above < edgeLines || below < edgeLines
	}
	digits := regexp.MustCompile(`\p{Nd}+`)
	same := func(a []string, i int, b []string, j int) bool {
		x, y := strings.TrimSpace(a[i]), strings.TrimSpace(b[j])
		return x == y || edge(a, i) && edge(b, j) && digits.ReplaceAllString(x, "\x00") == digits.ReplaceAllString(y, "\x00")
	}
	var texts2 []string
	for _, a := range pages {
		var kept []string
		for i := range a {
			exact, folded := 0, 0
			for _, b := range pages {
				if slices.ContainsFunc(b, func(line string) bool { return strings.TrimSpace(line) == strings.TrimSpace(a[i]) }) {
					exact++
				}
				for j := range b {
					if edge(a, i) && edge(b, j) && b[j] != "" && same(a, i, b, j) {
						folded++
						break
					}
				}
			}
			if a[i] == "" || len(pages) < 4 || 2*max(exact, folded) < len(pages) {
				kept = append(kept, a[i])
			}
		}
		text := strings.Join(kept, "\n")
		for last := ""; last != text; {
			last = text
			text = regexp.MustCompile(`(\p{L})[-‐\x{ad}]\n[\t \x{a0}]*(\p{Ll})`).ReplaceAllString(text, "$1$2")
		}
		text = regexp.MustCompile(`\n{3,}`).ReplaceAllString(text, "\n\n")
		if text = strings.TrimSpace(text); text != "" {
			texts2 = append(texts2, text)
		}
	}
	return strings.Join(texts2, "\n\n")
}

// The text is that of the plain definition.
func TestJoinPagesEqualsDefinition(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "b", "É", "é", "word", "-", "‐", "\u00ad", "\x02", "\n", "\n", "\n", "\r\n", "\n\n", " ",
		"\t", "\u00a0",
		"Page ", "1", "23", "4", "٤", "Header\n", "\n7", "\x00", "\ufffe", "x-\ny"})
	rapid.Check(t, func(t *rapid.T) {
		pages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(pieces, 0, 14).Draw(t, "page"), "")
		}), 0, 7).Draw(t, "pages")
		want, got := plainJoin(pages), joinPages(pages)
		if want != got {
			t.Fatalf("%q\nwant %q\ngot  %q", pages, want, got)
		}
		checkText(t, got)
	})
}

func BenchmarkJoinPages(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		pages := make([]string, n)
		size := 0
		for i := range pages {
			for j := range 40 {
				pages[i] += fmt.Sprintf("Line %d of page %d says how the pump is opened, cleaned and closed again.\n", j, i)
			}
			size += len(pages[i])
		}
		b.Run(fmt.Sprintf("pages=%d", n), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				joinPages(pages)
			}
		})
	}
}

package text

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		s      string
		want   []string
		reason string
	}{
		{"", nil, "nothing"},
		{" \t\n\u00a0\u2003", nil, "white space alone, also that of other scripts"},
		{"You see a desk 1.", []string{"you", "see", "a", "desk", "1", "."}, "lower case, the full stop by itself"},
		{"desk1", []string{"desk1"}, "letters and digits make one run"},
		{"1.50", []string{"1", ".", "50"}, "a point is no digit"},
		{"-1", []string{"-", "1"}, "nor is a sign"},
		{"a->b", []string{"a", "-", ">", "b"}, "each of two signs"},
		{"snake_case", []string{"snake", "_", "case"}, "an underscore is no letter"},
		{"don't", []string{"don", "'", "t"}, "nor is an apostrophe"},
		{"ÉTÉ Straße", []string{"été", "straße"}, "letters of all scripts"},
		{"東京2", []string{"東京2"}, "letters without a case"},
		{"٣ ½ ²", []string{"٣", "½", "²"}, "a fraction and an exponent are no decimal digits, and stand alone"},
		{"½½", []string{"½", "½"}, "each alone"},
		{"e\u0301", []string{"e", "\u0301"}, "a mark is no letter"},
		{"🙂🙂", []string{"🙂", "🙂"}, "each by itself"},
		{"a\xffb\xfe", []string{"a", "\uFFFD", "b", "\uFFFD"}, "a byte that is no UTF-8 is U+FFFD"},
		{"\x00a", []string{"\x00", "a"}, "a control character that is no space"},
		{"\u2160", []string{"\u2160"}, "the numeral I is no letter, and what is none is left as it is"},
		{"[sep]", []string{"[", "sep", "]"}, "brackets"},
	} {
		if tt.reason == "" {
			t.Errorf("%q: case without a reason", tt.s)
		}
		if d := cmp.Diff(tt.want, Words(tt.s)); d != "" {
			t.Errorf("%q (%s, -want +got):\n%s", tt.s, tt.reason, d)
		}
	}
}

// slowWords puts letters and digits in lower case, any other character between spaces, and splits at white space.
func slowWords(s string) []string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteString(" " + string(r) + " ")
		}
	}
	return strings.Fields(b.String())
}

// Words agrees with the slow splitter, nothing but white space is lost, and a text of words with spaces between them has those words.
func checkWords(t interface {
	Errorf(string, ...any)
}, s string) {
	got := Words(s)
	if want := slowWords(s); !slices.Equal(got, want) {
		t.Errorf("%q: %q, want %q", s, got, want)
	}
	for _, w := range got {
		if w == "" || !utf8.ValidString(w) {
			t.Errorf("%q: the word %q", s, w)
		}
	}
	if kept := strings.Join(strings.Fields(strings.ToLower(s)), ""); utf8.ValidString(s) && strings.ToLower(strings.Join(got, "")) != kept {
		t.Errorf("%q: %q lacks something of %q", s, got, kept)
	}
	if again := Words(strings.Join(got, " ")); !slices.Equal(again, got) {
		t.Errorf("%q: %q, and with spaces between them %q", s, got, again)
	}
}

func TestWordsProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkWords(rt, rapid.String().Draw(rt, "s")) })
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "You see a desk 1.", "a\xff", "İI", "ǅ", "e\u0301", "\u2028x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkWords(t, s) })
}

func BenchmarkWords(b *testing.B) {
	s := strings.Repeat("On the desk 1, you see a bowl 2, and a pen 3. ", 10)
	b.ReportAllocs()
	for b.Loop() {
		Words(s)
	}
}

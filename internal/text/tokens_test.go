package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		in     string
		want   []string
		reason string
	}{
		{"", nil, "no text"},
		{"Place an Order", []string{"place", "order"}, "lower-cased, stop word dropped"},
		{"showCart", []string{"show", "cart"}, "cut between a lower-case and an upper-case letter"},
		{"HTTPServer", []string{"httpserver"}, "upper-case neighbours are not cut"},
		{"v2Beta", []string{"v2beta"}, "a digit is not a lower-case letter"},
		{"show_cart-now", []string{"show", "cart", "now"}, "punctuation separates"},
		{"a b 7 7a é", []string{"7a", "é"}, "one ASCII rune is dropped, one other rune is not"},
		{"cafe\u0301 noir", []string{"cafe\u0301", "noir"}, "a combining mark stays with its letter, nothing is normalised"},
		{"邮件", []string{"邮件"}, "two dense runes are one pair"},
		{"下载邮件", []string{"下载", "载邮", "邮件"}, "overlapping pairs of a dense run"},
		{"件", []string{"件"}, "a dense run of one rune gives itself"},
		{"打开inbox邮件", []string{"打开", "inbox", "邮件"}, "cut where a run enters or leaves the dense scripts"},
		{"か\u3099き", []string{"か\u3099", "\u3099き"}, "a mark of no script belongs to the run it is in"},
		{"サーバー", []string{"サー", "ーバ", "バー"}, "the long-vowel mark is Katakana by its script extensions"},
		{"x\xffy order\x80s", []string{"order"}, "invalid bytes separate; x, y and s are single runes"},
		{"٣٤ ½", []string{"٣٤"}, "decimal digits of any script, but not fractions"},
	} {
		if diff := cmp.Diff(c.want, Tokens(c.in)); diff != "" {
			t.Errorf("Tokens(%q) (%s) (-want +got):\n%s", c.in, c.reason, diff)
		}
	}
}

func TestStopWords(t *testing.T) {
	if len(stop) != 55 || !stop["their"] || stop["order"] {
		t.Errorf("%d stop words, want the 55 of the lexical embedder", len(stop))
	}
}

// Tokens are never empty, hold only letters, marks and digits, are lower-case, and do not depend on what separates them.
func TestTokensProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		toks := Tokens(s)
		for _, tok := range toks {
			if tok == "" || stop[tok] || utf8.RuneCountInString(tok) == 1 && tok[0] < utf8.RuneSelf {
				t.Fatalf("token %q of %q", tok, s)
			}
			for _, r := range tok {
				if !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd) || unicode.ToLower(r) != r {
					t.Fatalf("rune %q in token %q of %q", r, tok, s)
				}
			}
		}
		u := rapid.String().Draw(t, "u")
		if diff := cmp.Diff(append(toks, Tokens(u)...), Tokens(strings.Join([]string{s, u}, " . "))); diff != "" {
			t.Fatalf("tokens of the whole are not those of the parts (-parts +whole):\n%s", diff)
		}
	})
}

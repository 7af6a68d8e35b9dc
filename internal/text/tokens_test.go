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
	longest := 0
	for w := range stop {
		longest = max(longest, len(w))
	}
	if longest != longestStop {
		t.Errorf("the longest stop word has %d bytes, want %d", longest, longestStop)
	}
}

// A token and what [Scan] says of it.
type scanned struct {
	Tok   string
	Dense bool
}

// slowScan is [Scan] said again with runes and strings, a rune at a time.
func slowScan(s string) (all []scanned) {
	var run []rune
	var runDense bool
	flush := func() {
		switch {
		case len(run) == 0:
		case runDense && len(run) == 1:
			all = append(all, scanned{string(run), true})
		case runDense:
			for i := 0; i+1 < len(run); i++ {
				all = append(all, scanned{string(run[i : i+2]), true})
			}
		case len(run) == 1 && run[0] <= unicode.MaxASCII:
		case !stop[string(run)]:
			all = append(all, scanned{string(run), false})
		}
		run = nil
	}
	var prev rune
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Nd, r) {
			flush()
			prev = 0
			continue
		}
		d := isDense(r)
		if unicode.IsMark(r) && len(run) > 0 {
			d = runDense
		}
		if len(run) > 0 && (d != runDense || unicode.IsLower(prev) && unicode.IsUpper(r)) {
			flush()
		}
		runDense = d
		run = append(run, unicode.ToLower(r))
		prev = r
	}
	flush()
	return all
}

func sameScan(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, s string) {
	t.Helper()
	var got []scanned
	Scan(s, func(tok string, dense bool) { got = append(got, scanned{tok, dense}) })
	if want := slowScan(s); !slices.Equal(got, want) {
		t.Fatalf("Scan(%q) gives %v, want %v", s, got, want)
	}
}

// The scanner with its table for ASCII gives what a scan by runes gives.
func TestScanOracle(t *testing.T) {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"order", "showCart", "HTTPServer", "v2Beta", "邮件", "件", "é", "É",
		"cafe\u0301", "\u0301",
		"か\u3099き", "サーバー", "ーx", "٣٤", "ǅ", "İ", "K", "\xff", "\xe4\xbb", "the", "their", "theirs", "a", "x9", " ", "_", "\n",
		strings.Repeat("long", 40)}))
	rapid.Check(t, func(t *rapid.T) {
		sameScan(t, strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), ""))
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"", "Place an Order", "showCart v2Beta", "打开inbox邮件ー", "cafe\u0301 \xff\xfeА٣ǅz", "か\u3099\u0301A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { sameScan(t, s) })
}

func BenchmarkScan(b *testing.B) {
	for name, s := range map[string]string{
		"ascii": strings.Repeat("Retrieve the open orders of a customer and refund the damaged item. ", 16),
		"mixed": strings.Repeat("Récupérer la commande, 打开邮件附件 and refund the damaged item. ", 16),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				scan(s, func([]byte, bool) {})
			}
		})
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

package shop

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ratio(a, b string) float64 { return tokenSetRatio(tokens(a), tokens(b)) }

func TestTokenSetRatio(t *testing.T) {
	repeat := strings.Repeat
	for _, c := range []struct {
		a, b   string
		want   float64
		reason string
	}{
		{"x-large", "large", 100, "worked number 18: I = large, nothing is left of the second"},
		{"long sleeve", "long sleeves", 200.0 * 11 / 23, "worked number 18: (A, B) = (long sleeve, long sleeves) have 11 of 11 + 12 bytes in common"},
		{"red", "bread", 75, "worked number 18: I is empty, red is in b-red-ad as r, e, d: 2 * 3 / (3 + 5)"},
		{"medium", "small", 200.0 / 11, "worked number 18: m is all they share: 2 * 1 / (6 + 5)"},
		{"", "", 0, "an empty side"},
		{"", "red", 0, "an empty side"},
		{"-- !", "red", 0, "no token, so an empty side"},
		{"red", "red", 100, "equal"},
		{"Red", "rED", 100, "lower case first"},
		{"red red red", "red", 100, "sets: repeats do not count"},
		{"red dark", "dark red", 100, "sets: order does not count"},
		{"dark-red", "dark_red", 100, "- and _ both part tokens"},
		{"abc", "xyz", 0, "no byte in common"},
		{"ab", "ba", 50, "in common a or b, in order: 2 * 1 / 4"},
		{"x-large", "xx-large", 200.0 * 7 / 15, "I = large; (large x, large xx): 7 of 7 + 8"},
		{"small", "x-small", 100, "as x-large and large"},
		{"large b", "large c", 200.0 * 6 / 14, "I = large: (I, A) 2*5/(5+7) = 83.3, (A, B) 2*6/(7+7) = 85.7"},
		{"large bbbbbbb", "large c", 200.0 * 5 / 12, "(I, B) is the largest: 2*5/(5+7); (I, A) 2*5/18; (A, B) 2*6/20"},
		{"large c", "large bbbbbbb", 200.0 * 5 / 12, "the same the other way round"},
		{"a b", "a c", 200.0 * 2 / 6, "I = a: (a, a b) 2*1/4 = 50; (a b, a c) have a and the space: 2*2/6 = 66.7"},
		{"a c e", "b c d", 60, "I = c: (c, c a e) 2*1/6 = 33.3; (c a e, c b d) have c and two spaces: 2*3/10"},
		{"long warm a", "long warm b", 200.0 * 10 / 22, "I = long warm, whose space counts: (A, B) have 9 and a space of 11 + 11"},
		{"size 6", "size 7", 200.0 * 5 / 12, "I = size; with digits before letters, (size 6, size 7) have size and the space: 83.3; digits differ"},
		{"a b", "a9c", 200.0 * 1 / 6, "I is empty; a space is no digit: a alone"},
		{"ab cd", "abxcd", 80, "I is empty; a space is no letter: a, b, c, d of 5 + 5"},
		{"naïve", "nave", 100, "what is not ASCII is left out, and parts no token"},
		{"é", "e", 0, "nothing is left of the first"},
		{repeat("a", 64), repeat("a", 64) + "b", 200.0 * 64 / 129, "one row of bits, full"},
		{repeat("a", 65), repeat("a", 65) + "b", 200.0 * 65 / 131, "two words of bits, one bit in the second"},
		{repeat("ab", 64), repeat("ba", 64), 200.0 * 127 / 256, "all but the first byte of one and the last of the other"},
		{repeat("a", 200), repeat("b", 200), 0, "four words of bits and nothing in common"},
	} {
		if got := ratio(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("ratio(%q, %q) = %v, want %v: %s", c.a, c.b, got, c.want, c.reason)
		}
		if slow := slowRatio(c.a, c.b); math.Abs(slow-c.want) > 1e-12 {
			t.Errorf("oracle: ratio(%q, %q) = %v, want %v: %s", c.a, c.b, slow, c.want, c.reason)
		}
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   []string
		reason string
	}{
		{"", nil, "nothing"},
		{" -,. ", nil, "no letter or digit"},
		{"one", []string{"one"}, "a word, up to the end"},
		{"b a", []string{"a", "b"}, "ascending"},
		{"b a b", []string{"a", "b"}, "distinct"},
		{"X-Large (2 Pack)", []string{"2", "large", "pack", "x"}, "lower case; other characters part words"},
		{"@[`{/:", nil, "the neighbours of letters and digits in ASCII"},
		{"Café-Crème", []string{"caf", "crme"}, "left out within a word"},
		{"a\u2014b", []string{"ab"}, "a dash beyond ASCII is left out as well"},
		{"a\xffb", []string{"ab"}, "a broken character too"},
	} {
		if diff := cmp.Diff(c.want, tokens(c.text)); diff != "" {
			t.Errorf("tokens(%q), %s (-want +got):\n%s", c.text, c.reason, diff)
		}
	}
}

// text draws texts that share words, letters or nothing, some of them longer than 64 bytes.
func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`(long|sleeve|sleeves|x|large|red|bread|a|b)([ -](long|sleeve|sleeves|x|large|red|bread|a|b)){0,4}`),
		rapid.StringMatching(`[ab019x]{1,2}( [ab019x]{1,2}){0,5}`),
		rapid.StringMatching(`[ab019x]{1,2}( [ab019x]{1,2}){0,5}`),
		rapid.StringMatching(`[ab ]{0,12}`),
		rapid.StringMatching(`[a-c0-9A-C é_-]{0,160}`),
		rapid.StringMatching(`[ab]{60,70}`),
		rapid.String(),
	)
}

// The ratio is the oracle's, is in [0, 100], does not depend on the order of the sides, of the words or on repeats, and is 100
// against itself.
func TestTokenSetRatioLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(text(), 2, 8).Draw(t, "texts")
		for i, a := range texts {
			for _, b := range texts[i:] {
				checkRatio(t, a, b)
			}
		}
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

func checkRatio(t failer, a, b string) {
	got := ratio(a, b)
	if want := slowRatio(a, b); got != want {
		t.Fatalf("ratio(%q, %q) = %v, the oracle says %v", a, b, got, want)
	}
	if !(got >= 0 && got <= 100) {
		t.Fatalf("ratio(%q, %q) = %v, want one in [0, 100]", a, b, got)
	}
	if back := ratio(b, a); back != got {
		t.Fatalf("ratio(%q, %q) = %v, the other way round %v", a, b, got, back)
	}
	turned := words(a)
	slices.Reverse(turned)
	if again := ratio(strings.Join(append(turned, turned...), "-"), b); again != got {
		t.Fatalf("ratio(%q, %q) = %v, with the words of the first twice and from the end %v", a, b, got, again)
	}
	if self := ratio(a, a); len(turned) > 0 && self != 100 || len(turned) == 0 && self != 0 {
		t.Fatalf("ratio(%q, %q) = %v against itself", a, a, self)
	}
}

func FuzzTokenSetRatio(f *testing.F) {
	for _, s := range [][2]string{
		{"x-large", "large"}, {"long sleeve", "long sleeves"}, {"", "red"}, {"naïve\xff", "NAVE"},
		{strings.Repeat("ab ", 40), strings.Repeat("ba", 64)},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 400 || len(b) > 400 {
			return // the oracle's tables
		}
		checkRatio(t, a, b)
	})
}

// An item is an entry of WebShop's list of 1,000 products.
type item struct {
	Attributes  []string `json:"attributes"`
	Instruction string   `json:"instruction"`
	Wanted      []string `json:"instruction_attributes"`
}

func readShopData(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set: no WebShop data to read")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "webshop", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no %s in THROUGHLINE_DATA", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
